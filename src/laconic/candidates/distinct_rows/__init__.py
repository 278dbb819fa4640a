"""Tables in parts, reduced to the rows that rules can tell apart.

No rule tells rows apart that fulfil the same conditions. They stay one row through all of boosting,
with the sum of their weights, for each class, or with the mean of their targets: a fit to these is
the same as a fit to all of them. What this takes is made part by part, and put together in any
order to the same bits:

1. `partition_weights`, merged by `merge_weights`, where rows have weights;
2. `partition_summary`, merged by `TableSummary.merge`;
3. as long as there are `open_ranges`: `partition_refinement`, merged by `merge_refinements`, and
   put in by `TableSummary.replaced`;
4. `make_plan`, from the summary;
5. `reduce_partition`, merged by `ReducedRows.merge`.

`reduce_source` does that for a `TableSource`, one part after the other; `reduce_table` reduces a
table in memory to the same rows.
"""

from laconic.candidates.distinct_rows.column_roles import Roles
from laconic.candidates.distinct_rows.plan import ConditionOptions
from laconic.candidates.distinct_rows.reduce import (
    ReadProgress,
    count_labels,
    describe_reading,
    reduce_source,
    reduce_table,
)

__all__ = [
    "ConditionOptions",
    "ReadProgress",
    "Roles",
    "count_labels",
    "describe_reading",
    "reduce_source",
    "reduce_table",
]
