"""Tables reduced to the distinct rows that rules can distinguish, also part by part.

Rows that satisfy the same conditions are covered by the same rules. They become one row with the
sum of their weights, for each class, or with the mean of their targets: a fit to the reduced rows
is the same as a fit to all of them. The steps work on one part at a time, and their results are
merged in any order to the same bits:

1. `partition_weights`, merged by `merge_weights`, where rows have weights;
2. `partition_summary`, merged by `TableSummary.merge`;
3. as long as there are `open_ranges`: `partition_refinement`, merged by `merge_refinements`, and
   inserted by `TableSummary.replaced`;
4. `make_plan`, from the summary;
5. `reduce_partition`, merged by `merge_rows`.

`reduce_source` does that for a `TableSource`, one part after the other; `reduce_table` reduces a
table in memory to the same rows.
"""

from laconic.candidates.distinct_rows.column_roles import Roles
from laconic.candidates.distinct_rows.reduce import (
    ConditionOptions,
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
