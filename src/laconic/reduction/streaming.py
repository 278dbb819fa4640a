"""One part of a table after the other, twice: a look at its columns, and then its rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from laconic.data.sources import TableSource
from laconic.reduction.conditions import open_ranges
from laconic.reduction.planning import Conditions, Reduction, make_plan
from laconic.reduction.roles import Roles, partition_weights
from laconic.reduction.rows import Collector, reduce_partition
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

    @property
    def rows_per_second(self) -> float:
        """How fast the rows were read."""
        return self.n_rows / self.seconds if self.seconds > 0 else 0.0


def describe_reading(progress: ReadProgress) -> str:
    """Say how reading a table gets on.

    Examples
    --------
    >>> describe_reading(ReadProgress("rows", 3_000_000, 1.5, 1200, True))
    'read rows: 3,000,000 rows, 1,200 distinct, 1.5 s, 2,000,000 rows/s'
    """
    verb = "read" if progress.is_done else "reading"
    number = "" if progress.n_distinct is None else f" {progress.n_distinct:,} distinct,"
    return (
        f"{verb} {progress.step}: {progress.n_rows:,} rows,{number} "
        f"{format_seconds(progress.seconds)}, {progress.rows_per_second:,.0f} rows/s"
    )


class _Reading:
    """Parts of a source, and those who want to hear how reading them gets on."""

    def __init__(self, source: TableSource, callback: Callable[[ReadProgress], Any] | None) -> None:
        self.source, self.callback = source, callback

    def parts(
        self, step: str, columns: Sequence[str], n_distinct: Callable[[], int] | None = None
    ) -> Iterator[Any]:
        """Yield one part after the other, and tell how that gets on."""
        start, n_rows = time.perf_counter(), 0

        def tell(is_done: bool) -> None:
            if self.callback is not None:
                seconds = time.perf_counter() - start
                number = None if n_distinct is None else n_distinct()
                self.callback(ReadProgress(step, n_rows, seconds, number, is_done))

        for part in self.source.parts(columns):
            yield part
            n_rows += len(part)
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
    looks = (partition_summary(part, roles) for part in reading.parts("values", roles.columns))
    summary = reduce(TableSummary.merge, looks, TableSummary.of_nothing())
    summary = refined(summary.checked(), roles, conditions, reading)
    plan, propositions, kinds = make_plan(summary, roles, conditions)
    collector = Collector()
    for part in reading.parts("rows", roles.columns, lambda: len(collector)):
        collector.add(reduce_partition(part, plan))
    return Reduction(collector.total(), propositions, kinds, plan.labels, summary.targets)


def with_weight_units(roles: Roles, reading: _Reading) -> Roles:
    """Look at the weights, where there are any."""
    if roles.weight is None:
        return roles
    found = [partition_weights(part, roles) for part in reading.parts("weights", [roles.weight])]
    largest = max((largest for largest, _ in found), default=0.0)
    n_rows = sum(n_rows for _, n_rows in found)
    return replace(roles, weight_units=Units.for_terms(largest, n_rows))


def refined(
    summary: TableSummary, roles: Roles, conditions: Conditions, reading: _Reading
) -> TableSummary:
    """Look into ranges of numbers until all thresholds are exact."""
    if conditions.given is not None:
        return summary
    while ranges := open_ranges(summary, roles, conditions.max_thresholds):
        columns = [*([] if roles.weight is None else [roles.weight]), *ranges]
        looks = (
            partition_refinement(part, roles, ranges)
            for part in reading.parts("thresholds", columns)
        )
        summary = summary.replaced(reduce(merge_refinements, looks))
    return summary
