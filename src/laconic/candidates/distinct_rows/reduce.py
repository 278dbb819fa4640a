"""One part of a table after the other, twice: a look at its columns, and then its rows.

A long table in memory, reduced to the same rows as if it had been read in parts.
"""

from __future__ import annotations

import operator
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from typing import Any

import numpy as np

from laconic._util.types import Floats
from laconic.candidates.candidates import column_candidates
from laconic.candidates.distinct_rows.bins import (
    FeatureCells,
    TableCells,
    feature_cells,
    open_ranges,
)
from laconic.candidates.distinct_rows.column_roles import (
    Kept,
    Roles,
    merge_weights,
    partition_labels,
    partition_weights,
)
from laconic.candidates.distinct_rows.exact_sums import Units, added_up
from laconic.candidates.distinct_rows.plan import (
    ConditionOptions,
    Reduction,
    check_given,
    make_plan,
)
from laconic.candidates.distinct_rows.rows import Collector, Plan, ReducedRows, reduce_partition
from laconic.candidates.distinct_rows.summary import (
    TableSummary,
    keys_of,
    merge_refinements,
    partition_refinement,
    partition_summary,
)
from laconic.search.results import format_seconds
from laconic.tables.columns import (
    CategoricalColumn,
    Category,
    FeatureKind,
    TimeColumn,
    feature_kind,
)
from laconic.tables.sources.sources import TableSource
from laconic.tables.tables import Table
from laconic.terms.conditions import Condition, by_feature


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
    options: ConditionOptions,
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
    summary = refined(summary, roles, options, reading)
    plan, conditions, kinds = make_plan(summary, roles, options)
    rows = _reduced_in_parts(reading, plan)
    return Reduction(rows, conditions, kinds, plan.labels, summary.targets, summary)


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
    summary: TableSummary, roles: Roles, options: ConditionOptions, reading: _Reading
) -> TableSummary:
    """Look into ranges of numbers until all thresholds are exact."""
    if options.given is not None:
        return summary
    while ranges := open_ranges(summary, roles, options.max_thresholds):
        columns = [*roles.weight_columns, *ranges]
        look = partial(partition_refinement, roles=roles, ranges=ranges)
        looks = reading.looks("thresholds", columns, look, merge_refinements)
        summary = summary.replaced(reduce(merge_refinements, looks))
    return summary


def reduce_table(
    table: Table, target: Floats, weights: Floats | None, kept: Kept, options: ConditionOptions
) -> Reduction:
    """Reduce a table to the rows that its conditions tell apart.

    The target is numbers, one for each class where classes are kept.
    """
    units = None
    if weights is not None:
        units = Units.for_terms(float(weights.max()), len(weights))
        is_counted = weights > 0
        target, weights = target[is_counted], weights[is_counted]
    roles = Roles("", table.feature_names, kept=kept, weight_units=units)
    known = by_feature(options.known)
    given = None if options.given is None else check_given(options.given, table.feature_names)
    conditions: list[Condition] = []
    kinds: dict[str, FeatureKind | None] = {}
    features: list[FeatureCells] = []
    codes = []
    for name in table.feature_names:
        column = table.pop_column(name)
        if weights is not None and not is_counted.all():
            column = column.take(is_counted)
        if given is None:
            own = list(
                column_candidates(column, weights, options.max_thresholds, options.categories)
            )
            conditions += own
        else:
            own = given.get(name, [])
        kinds[name] = feature_kind(column) if given is None or own else None
        categories = column.categories if isinstance(column, CategoricalColumn) else None
        time_kind = column.kind if isinstance(column, TimeColumn) else None
        cells = feature_cells(name, categories, [*own, *known.get(name, ())], time_kind)
        features.append(cells)
        small = np.min_scalar_type(len(cells))
        codes.append(cells.codes(column).astype(small) if cells.is_used else None)
    rows = _reduced_rows(roles, tuple(features), codes, target, weights)
    return Reduction(
        rows,
        tuple(conditions if options.given is None else options.given),
        {name: kind for name, kind in kinds.items() if kind is not None},
        tuple(rows.plan.labels),
    )


def _reduced_rows(
    roles: Roles,
    features: tuple[FeatureCells, ...],
    codes: list[np.ndarray | None],
    target: Floats,
    weights: Floats | None,
) -> ReducedRows:
    amounts = [roles.weight_amounts(weights, len(target))]
    if roles.kept == "classes":
        labels, numbers = np.unique(target, return_inverse=True)
        plan = Plan(roles, TableCells(features, len(labels)), tuple(labels.tolist()))
        keys = plan.cells.keys(chain(codes, [numbers]), len(target))
    else:
        units = None
        cells = TableCells(features)
        keys = cells.keys(chain(codes, [None]), len(target))
        if roles.kept == "means":
            weighted = target if weights is None else target * weights
            units = Units.for_terms(float(np.abs(weighted).max()), len(target))
            amounts.append(units.count(weighted))
        else:
            keys = np.hstack([keys, keys_of(target)[:, None]])
        plan = Plan(roles, cells, target_units=units)
    return ReducedRows(plan, *added_up(keys, np.hstack(amounts)), len(target))
