"""One part of a table after the other, twice: a look at its columns, and then its rows."""

from __future__ import annotations

import operator
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

from laconic.data.columns import Category
from laconic.data.sources import TableSource
from laconic.reduction.conditions import open_ranges
from laconic.reduction.planning import Conditions, Reduction, make_plan
from laconic.reduction.roles import (
    Roles,
    merge_weights,
    partition_labels,
    partition_weights,
)
from laconic.reduction.rows import Collector, Plan, ReducedRows, reduce_partition
from laconic.reduction.summary import (
    TableSummary,
    merge_refinements,
    partition_refinement,
    partition_summary,
)
from laconic.reduction.sums import Units
from laconic.search.certificates import format_seconds


@dataclass(frozen=True)
class ReadProgress:
    """A look at a table that is being read, for callbacks."""

    step: str
    """What the table is read for, such as "values"."""
    n_rows: int
    """Rows read so far in this step."""
    seconds: float
    """Since the step began."""
    n_distinct: int | None = None
    """How many different rows these are so far, where that is what it is read for."""
    is_done: bool = False
    n_bytes: int | None = None
    """Memory of the different rows, once they are all known."""

    @property
    def rows_per_second(self) -> float:
        """How fast the rows were read."""
        return self.n_rows / self.seconds if self.seconds > 0 else 0.0


def describe_reading(progress: ReadProgress) -> str:
    """Say how reading a table gets on.

    Examples
    --------
    >>> describe_reading(ReadProgress("rows", 3_000_000, 1.5, 1200, True, 19_200))
    'read rows: 3,000,000 rows, 1,200 distinct in 0.019 MB, 1.5 s, 2,000,000 rows/s'
    """
    verb = "read" if progress.is_done else "reading"
    megabytes = (progress.n_bytes or 0) / 1e6
    size = f"{megabytes:,.0f}" if megabytes >= 10 else f"{megabytes:.2g}"
    memory = "" if progress.n_bytes is None else f" in {size} MB"
    number = "" if progress.n_distinct is None else f" {progress.n_distinct:,} distinct{memory},"
    return (
        f"{verb} {progress.step}: {progress.n_rows:,} rows,{number} "
        f"{format_seconds(progress.seconds)}, {progress.rows_per_second:,.0f} rows/s"
    )


class _Reading:
    """Parts of a source, and those who want to hear how reading them gets on."""

    def __init__(self, source: TableSource, callback: Callable[[ReadProgress], Any] | None) -> None:
        self.source, self.callback = source, callback

    def looks(
        self,
        step: str,
        columns: Sequence[str],
        look: Callable[[Any], Any],
        merge: Callable[[Any, Any], Any],
        collector: Collector | None = None,
    ) -> Iterator[Any]:
        """Yield looks at one part after the other, or at several, and tell how that gets on."""
        start, n_rows = time.perf_counter(), 0

        def tell(is_done: bool) -> None:
            if self.callback is not None:
                seconds = time.perf_counter() - start
                found: Collector | ReducedRows | None = collector
                if collector is not None and is_done:
                    found = collector.total()
                number = None if found is None else len(found)
                n_bytes = found.n_bytes if isinstance(found, ReducedRows) else None
                self.callback(ReadProgress(step, n_rows, seconds, number, is_done, n_bytes))

        for n_seen, seen in self.source.looks(columns, look, merge):
            yield seen
            n_rows += n_seen
            tell(False)
        tell(True)


def reduce_source(
    source: TableSource,
    roles: Roles,
    conditions: Conditions,
    callback: Callable[[ReadProgress], Any] | None = None,
) -> Reduction:
    """Reduce a table to the rows that its conditions tell apart.

    Memory is bounded by a few times the reduced rows, and a part.
    """
    reading = _Reading(source, callback)
    roles = with_weight_units(roles, reading)
    looks = reading.looks(
        "values", roles.columns, partial(partition_summary, roles=roles), TableSummary.merge
    )
    summary = reduce(TableSummary.merge, looks, TableSummary.of_nothing()).checked().with_dates()
    summary = refined(summary, roles, conditions, reading)
    plan, propositions, kinds = make_plan(summary, roles, conditions)
    rows = _reduced_in_parts(reading, plan)
    return Reduction(rows, propositions, kinds, plan.labels, summary.targets, summary)


def count_labels(source: TableSource, roles: Roles) -> dict[Category, int]:
    """Count the rows of each class, of those that have a weight."""
    columns = [roles.target, *roles.weight_columns]
    looks = source.looks(columns, partial(partition_labels, roles=roles), operator.add)
    return dict(reduce(operator.add, (seen for _, seen in looks), Counter()))


def _reduced_in_parts(reading: _Reading, plan: Plan) -> ReducedRows:
    collector, roles = Collector(), plan.roles
    parts = reading.looks(
        *("rows", roles.columns, partial(reduce_partition, plan=plan), ReducedRows.merge),
        collector=collector,
    )
    for part in parts:
        collector.add(part)
    return collector.total()


def with_weight_units(roles: Roles, reading: _Reading) -> Roles:
    """Look at the weights, where there are any."""
    if not roles.weight_columns:
        return roles
    look = partial(partition_weights, roles=roles)
    looks = reading.looks("weights", roles.weight_columns, look, merge_weights)
    largest, n_rows = reduce(merge_weights, looks, (0.0, 0))
    return replace(roles, weight_units=Units.for_terms(largest, n_rows))


def refined(
    summary: TableSummary, roles: Roles, conditions: Conditions, reading: _Reading
) -> TableSummary:
    """Look into ranges of numbers until all thresholds are exact."""
    if conditions.given is not None:
        return summary
    while ranges := open_ranges(summary, roles, conditions.max_thresholds):
        columns = [*roles.weight_columns, *ranges]
        look = partial(partition_refinement, roles=roles, ranges=ranges)
        looks = reading.looks("thresholds", columns, look, merge_refinements)
        summary = summary.replaced(reduce(merge_refinements, looks))
    return summary
