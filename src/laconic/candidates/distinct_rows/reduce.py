"""Reduce a table to distinct rows: in memory, or one part after the other.

A table in parts is read at least twice: for a summary of its columns, which gives the conditions,
and then for its rows. `reduce_partition` reduces one part, and `merge_rows` merges parts in any
order: sums are exact, and rows are sorted by their keys.
"""

from __future__ import annotations

import operator
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import chain
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic._core import ExtentsBuilder
from laconic._util.types import Floats, Integers
from laconic.candidates.candidates import CandidateConditions, check_conditions, column_candidates
from laconic.candidates.categories import CategoryOptions
from laconic.candidates.distinct_rows.bins import (
    CHANGED,
    FeatureBins,
    TableBins,
    feature_bins,
    open_ranges,
    summary_conditions,
)
from laconic.candidates.distinct_rows.column_roles import (
    NO_TARGETS,
    CountedRows,
    Kept,
    Range,
    Roles,
    merge_weights,
    partition_labels,
    partition_weights,
)
from laconic.candidates.distinct_rows.exact_sums import Units, added_up
from laconic.candidates.distinct_rows.summary import (
    TableSummary,
    keys_of,
    merge_refinements,
    numbers_of,
    partition_refinement,
    partition_summary,
)
from laconic.search.results import format_seconds
from laconic.tables.columns import (
    CategoricalColumn,
    Category,
    Column,
    FeatureKind,
    TimeColumn,
    feature_kind,
)
from laconic.tables.sources.sources import TableSource
from laconic.tables.tables import Table, as_table, unknown_column_message
from laconic.terms.conditions import Condition, by_feature
from laconic.terms.parsing import Feature

Codes: TypeAlias = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class ConditionOptions:
    """What the conditions of a table are made from."""

    max_thresholds: int | None
    given: Sequence[Condition] | None = None
    """Conditions to use instead of those of the table."""
    known: Sequence[Condition] = ()
    """Further conditions that rows are distinguished by, such as those of a warm start."""
    wanted: Callable[[Sequence[str], Callable[[str], Feature]], Sequence[Condition]] | None = None
    """Reads the conditions of rules that are written as texts, given the features."""
    categories: CategoryOptions = field(default_factory=CategoryOptions)
    """Which conditions categories give."""


@dataclass(frozen=True)
class Plan:
    """How rows are reduced: the same for all parts of a table."""

    roles: Roles
    bins: TableBins
    labels: tuple[Category, ...] = ()
    """The classes, ascending, where these are kept."""
    target_units: Units | None = None
    """Units of the sums of targets, where means are kept."""


@dataclass(frozen=True, eq=False)
class ReducedRows:
    """Rows that differ in their bins, or in what is kept of their targets."""

    plan: Plan
    keys: Integers
    """Bins, and classes or targets, as whole numbers: one row each, ascending."""
    amounts: Integers
    """Weights, and sums of targets, as whole numbers that add up exactly."""
    n_rows: int
    """Number of rows before the reduction."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def n_bytes(self) -> int:
        """Memory that the rows take."""
        return self.keys.nbytes + self.amounts.nbytes

    def table(self) -> Table:
        """Make a table with a value of its bin for each row and feature."""
        features = self.plan.bins.features

        def extract(position: int, name: str) -> Column:
            return features[position].column(self.codes(position))

        return Table([feature.name for feature in features], len(self), extract)

    def codes(self, position: int) -> Codes:
        """Return the bin of each row, for one of the features."""
        return self.plan.bins.codes(self.keys, position)

    def weights(self) -> Floats:
        """Return the weight of each row."""
        roles = self.plan.roles
        return roles.total_weight(self.amounts[:, : roles.n_weight_amounts])

    def target(self) -> NDArray[Any]:
        """Return the target of each row: the position of its class in the labels, or a number."""
        roles, bins = self.plan.roles, self.plan.bins
        if roles.kept == "classes":
            return bins.codes(self.keys, len(bins.features)).astype(np.intp)
        if self.plan.target_units is None:
            return numbers_of(np.ascontiguousarray(self.keys[:, -1]))
        sums = self.plan.target_units.total(self.amounts[:, roles.n_weight_amounts :])
        return np.asarray(sums / self.weights(), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Reduction:
    """A table reduced to the rows that its conditions distinguish."""

    rows: ReducedRows
    conditions: tuple[Condition, ...]
    kinds: dict[str, FeatureKind]
    targets: Range = NO_TARGETS
    """Range of the targets, where these are numbers."""
    summary: TableSummary | None = None
    """Summary of the columns of a table in parts."""

    @property
    def labels(self) -> tuple[Category, ...]:
        """The classes, ascending, where these are kept."""
        return self.rows.plan.labels

    def candidates(self) -> CandidateConditions:
        """Return the conditions with the rows that they cover: those whose bins they cover."""
        features = self.rows.plan.bins.features
        position_of = {feature.name: position for position, feature in enumerate(features)}
        builder = ExtentsBuilder(len(self.rows))
        last, codes = None, self.rows.codes(0)
        for condition in self.conditions:
            position = position_of[condition.feature]
            if position != last:
                last, codes = position, self.rows.codes(position)
            builder.add(condition.covered_in(features[position].each)[codes])
        return CandidateConditions(self.conditions, builder.build(), self.kinds)


@dataclass(frozen=True)
class ReadProgress:
    """Progress of reading a table, for callbacks."""

    step: str
    """What the table is read for, such as "values"."""
    n_rows: int
    """Rows read so far in this step."""
    seconds: float
    """Since the step began."""
    n_distinct: int | None = None
    """Number of distinct rows so far, where these are counted."""
    is_done: bool = False
    n_bytes: int | None = None
    """Memory of the distinct rows, once all are known."""

    @property
    def rows_per_second(self) -> float:
        """Number of rows that were read per second."""
        return self.n_rows / self.seconds if self.seconds > 0 else 0.0


def describe_reading(progress: ReadProgress) -> str:
    """Describe the progress of reading a table.

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


def reduce_source(
    source: TableSource,
    roles: Roles,
    options: ConditionOptions,
    callback: Callable[[ReadProgress], Any] | None = None,
) -> Reduction:
    """Reduce a table in parts to the rows that its conditions distinguish.

    Memory is bounded by a few times the reduced rows, and a part.
    """
    read = partial(_read, source, callback)
    if roles.weight_columns:
        of_weights = partial(partition_weights, roles=roles)
        seen = read("weights", roles.weight_columns, of_weights, merge_weights)
        largest, n_rows = reduce(merge_weights, seen, (0.0, 0))
        roles = replace(roles, weight_units=Units.for_terms(largest, n_rows))
    of_values = partial(partition_summary, roles=roles)
    seen = read("values", roles.columns, of_values, TableSummary.merge)
    summary = reduce(TableSummary.merge, seen, TableSummary.of_nothing()).checked().with_dates()
    # Thresholds are exact once there are no open ranges.
    while options.given is None and (ranges := open_ranges(summary, roles, options.max_thresholds)):
        finer = partial(partition_refinement, roles=roles, ranges=ranges)
        seen = read("thresholds", [*roles.weight_columns, *ranges], finer, merge_refinements)
        summary = summary.replaced(reduce(merge_refinements, seen))
    plan, conditions, kinds = make_plan(summary, roles, options)
    collector = Collector()
    of_rows = partial(reduce_partition, plan=plan)
    for part in read("rows", roles.columns, of_rows, merge_rows, collector):
        collector.add(part)
    return Reduction(collector.total(), conditions, kinds, summary.targets, summary)


def count_labels(source: TableSource, roles: Roles) -> dict[Category, int]:
    """Count the rows of each class, of those that have a weight."""
    columns = [roles.target, *roles.weight_columns]
    looks = source.looks(columns, partial(partition_labels, roles=roles), operator.add)
    return dict(reduce(operator.add, (seen for _, seen in looks), Counter()))


def _read(
    source: TableSource,
    callback: Callable[[ReadProgress], Any] | None,
    step: str,
    columns: Sequence[str],
    look: Callable[[Any], Any],
    merge: Callable[[Any, Any], Any],
    collector: Collector | None = None,
) -> Iterator[Any]:
    """Yield the result of `look` for one part after the other, or several, and report progress."""
    start, n_rows = time.perf_counter(), 0

    def report(is_done: bool) -> None:
        if callback is not None:
            seconds = time.perf_counter() - start
            found: Collector | ReducedRows | None = collector
            if collector is not None and is_done:
                found = collector.total()
            number = None if found is None else len(found)
            n_bytes = found.n_bytes if isinstance(found, ReducedRows) else None
            callback(ReadProgress(step, n_rows, seconds, number, is_done, n_bytes))

    for n_seen, seen in source.looks(columns, look, merge):
        yield seen
        n_rows += n_seen
        report(False)
    report(True)


def make_plan(
    summary: TableSummary, roles: Roles, options: ConditionOptions
) -> tuple[Plan, tuple[Condition, ...], dict[str, FeatureKind]]:
    """Find the conditions of a table, and the bins of its features that they distinguish."""
    kinds = summary.kinds
    if options.given is None:
        conditions = summary_conditions(summary, roles, options.max_thresholds, options.categories)
    else:
        conditions = tuple(options.given)
        named = _grouped(conditions, summary.columns)
        kinds = {name: kind for name, kind in kinds.items() if name in named}
    known = [*conditions, *options.known]
    if options.wanted is not None:
        known += options.wanted(tuple(summary.columns), summary.feature)
    for each in known:
        summary.feature(each.feature)
    grouped, times = by_feature(known), summary.times
    features = tuple(
        feature_bins(name, categories, grouped.get(name, ()), times.get(name))
        for name, categories in summary.categories.items()
    )
    labels = tuple(sorted(summary.labels))
    units = None
    if roles.kept == "means":
        units = Units.for_terms(summary.targets.largest, summary.n_counted)
    n_targets = len(labels) if roles.kept == "classes" else 1
    return Plan(roles, TableBins(features, n_targets), labels, units), conditions, kinds


def _grouped(conditions: Sequence[Condition], names: Iterable[str]) -> dict[str, list[Condition]]:
    """Group given conditions by feature, and refuse unknown features."""
    check_conditions(conditions)
    grouped, known = by_feature(conditions), tuple(names)
    for name in grouped:
        if name not in known:
            raise ValueError(unknown_column_message(name, known))
    return grouped


def reduce_partition(part: Any, plan: Plan) -> ReducedRows:
    """Reduce a part of a table, a frame with all columns that have a role."""
    table, roles = as_table(part), plan.roles
    rows = roles.counted(table)
    if roles.kept != "classes":
        target: NDArray[Any] = roles.numbers(table, rows)
    else:
        labels, numbers = roles.labels(table, rows)
        code_of = {label: code for code, label in enumerate(plan.labels)}
        target = np.array([code_of.get(label, -1) for label in labels], dtype=np.int64)[numbers]
        if (target < 0).any():
            raise ValueError(CHANGED.format(roles.target))
    return _distinct_rows(plan, _codes(table, rows, plan), target, rows.weights, table.n_rows)


def _codes(table: Table, rows: CountedRows, plan: Plan) -> Iterator[Codes | None]:
    """Yield the bins of one feature after the other; None for features without conditions."""
    for feature in plan.bins.features:
        if not feature.is_used:
            yield None
            continue
        column = table.pop_column(feature.name)
        yield feature.codes(column if rows.is_counted is None else column.take(rows.is_counted))


def _distinct_rows(
    plan: Plan,
    codes: Iterable[Codes | None],
    target: NDArray[Any],
    weights: Floats | None,
    n_rows: int,
) -> ReducedRows:
    """Add up the rows that have the same bins, and the same class or target if these are kept."""
    kept, units = plan.roles.kept, plan.target_units
    keys = plan.bins.keys(chain(codes, [target if kept == "classes" else None]), len(target))
    amounts = [plan.roles.weight_amounts(weights, len(target))]
    if units is not None:
        amounts.append(units.count(target if weights is None else target * weights))
    elif kept == "values":
        keys = np.hstack([keys, keys_of(target)[:, None]])
    return ReducedRows(plan, *added_up(keys, np.hstack(amounts)), n_rows)


def merge_rows(*parts: ReducedRows) -> ReducedRows:
    """Merge any number of parts at once."""
    keys = np.concatenate([part.keys for part in parts])
    amounts = np.concatenate([part.amounts for part in parts])
    n_rows = sum(part.n_rows for part in parts)
    return ReducedRows(parts[0].plan, *added_up(keys, amounts), n_rows)


class Collector:
    """Merges parts as they come, in time proportional to their rows times a logarithm."""

    def __init__(self) -> None:
        self._parts: list[ReducedRows] = []

    def add(self, part: ReducedRows) -> Self:
        """Add a part."""
        self._parts.append(part)
        # Parts of about the same size are merged, as in a merge sort.
        while len(self._parts) > 1 and len(self._parts[-2]) <= 2 * len(self._parts[-1]):
            last, before = self._parts.pop(), self._parts.pop()
            self._parts.append(merge_rows(before, last))
        return self

    def __len__(self) -> int:
        # Some rows of two parts may be the same until they are merged.
        return sum(map(len, self._parts))

    def total(self) -> ReducedRows:
        """Merge all parts."""
        if len(self._parts) > 1:
            self._parts = [merge_rows(*self._parts)]
        return self._parts[0]


def reduce_table(
    table: Table, target: Floats, weights: Floats | None, kept: Kept, options: ConditionOptions
) -> Reduction:
    """Reduce a table in memory to the rows that its conditions distinguish.

    The target is numbers, one for each class where classes are kept.
    """
    units = None
    if weights is not None:
        units = Units.for_terms(float(weights.max()), len(weights))
        is_counted = weights > 0
        target, weights = target[is_counted], weights[is_counted]
    roles = Roles("", table.feature_names, kept=kept, weight_units=units)
    known = by_feature(options.known)
    given = None if options.given is None else _grouped(options.given, table.feature_names)
    conditions: list[Condition] = []
    kinds: dict[str, FeatureKind] = {}
    features: list[FeatureBins] = []
    codes: list[Codes | None] = []
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
        kind = feature_kind(column) if given is None or own else None
        if kind is not None:
            kinds[name] = kind
        categories = column.categories if isinstance(column, CategoricalColumn) else None
        time_kind = column.kind if isinstance(column, TimeColumn) else None
        bins = feature_bins(name, categories, [*own, *known.get(name, ())], time_kind)
        features.append(bins)
        small = np.min_scalar_type(len(bins))
        codes.append(bins.codes(column).astype(small) if bins.is_used else None)
    plan, positions = _plan_of(roles, tuple(features), target, weights)
    rows = _distinct_rows(plan, codes, positions, weights, len(target))
    return Reduction(rows, tuple(conditions if given is None else options.given or ()), kinds)


def _plan_of(
    roles: Roles, features: tuple[FeatureBins, ...], target: Floats, weights: Floats | None
) -> tuple[Plan, NDArray[Any]]:
    """Make the plan of a table in memory; returns also the target, as positions of classes."""
    if roles.kept == "classes":
        labels, numbers = np.unique(target, return_inverse=True)
        return Plan(roles, TableBins(features, len(labels)), tuple(labels.tolist())), numbers
    units = None
    if roles.kept == "means":
        weighted = target if weights is None else target * weights
        units = Units.for_terms(float(np.abs(weighted).max()), len(target))
    return Plan(roles, TableBins(features), target_units=units), target
