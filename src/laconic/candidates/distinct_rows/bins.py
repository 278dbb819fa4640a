"""Bins of features: values that the conditions on a feature do not distinguish share a bin.

Rows whose values share a bin in every feature are covered by the same rules. The conditions of a
table in parts are the same as if it were in memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Indices, Integers
from laconic._util.words import parameter
from laconic.candidates.candidates import (
    categorical_conditions,
    missing_conditions,
    numeric_conditions,
)
from laconic.candidates.categories import CategoryOptions, ordered_conditions
from laconic.candidates.distinct_rows.column_roles import Roles
from laconic.candidates.distinct_rows.summary import (
    MAX_RANGES,
    ColumnSummary,
    TableSummary,
    numbers_of,
)
from laconic.tables.columns import (
    CategoricalColumn,
    Category,
    Column,
    NumericColumn,
    TimeColumn,
    with_dates,
)
from laconic.tables.thresholds import find_gaps, quantile_positions, shortest_separators, with_play
from laconic.tables.times import Moment, TimeKind, kind_of, microseconds, round_separator
from laconic.terms.conditions import THRESHOLD_RELATIONS, Condition

CHANGED = (
    "The table must stay the same while it is read twice. Got values of column {!r} that were not "
    "there before. Read a copy, or a query that gives the same rows each time."
)

# Keys are below 2**62.
_MAX_KEY = 2**62


@dataclass(frozen=True)
class FeatureBins:
    """The bins of a feature: ranges between thresholds or categories, then missing values."""

    name: str
    thresholds: tuple[float, ...] = ()
    categories: tuple[Category, ...] | None = None
    """None for numbers."""
    is_used: bool = True
    """Whether there is a condition on it; without, there is one bin."""
    time_kind: TimeKind | None = None
    """The kind of times, where thresholds are microseconds."""

    def __len__(self) -> int:
        if not self.is_used:
            return 1
        if self.categories is not None:
            return len(self.categories) + 1
        return len(self.thresholds) + 2

    def codes(self, column: Column) -> Integers:
        """Return the bin of each row."""
        if self.time_kind is not None:
            column = with_dates(column)
            if not isinstance(column, TimeColumn) and not column.missing.all():
                raise ValueError(CHANGED.format(self.name))
        if isinstance(column, NumericColumn):
            if self.categories:
                return self._codes_of_categories(column)
            codes = np.searchsorted(self.thresholds, column.values)
            codes[np.isnan(column.values)] = len(self) - 1
            return codes
        if self.categories is None and column.categories:
            # Booleans or numbered categories with conditions on thresholds.
            numbers = np.array((*column.categories, np.nan), dtype=np.float64)
            return self.codes(NumericColumn(self.name, numbers))[column.codes]
        return self._codes_of_categories(column)

    def _codes_of_categories(self, column: Column) -> Integers:
        code_of = {category: code for code, category in enumerate(self.categories or ())}
        missing = len(self) - 1
        if isinstance(column, NumericColumn):
            values, numbers = np.unique(column.values, return_inverse=True)
            known = [code_of.get(value, missing) for value in values.tolist()]
            return np.array(known, dtype=np.int64)[numbers]
        known = [code_of.get(category, -1) for category in column.categories]
        # The last entry is for code -1.
        codes = np.array([*known, missing], dtype=np.int64)[column.codes]
        if -1 in known and (codes < 0).any():
            raise ValueError(CHANGED.format(self.name))
        return codes

    def column(self, codes: NDArray[np.integer]) -> Column:
        """Make a column of values that satisfy the same conditions as all values of their bins."""
        if self.categories is not None or not self.is_used:
            categories = self.categories or ()
            known = np.append(np.arange(len(self) - 1), -1).astype(np.int32)
            return CategoricalColumn(self.name, known[codes], categories if self.is_used else ())
        last = math.nextafter(self.thresholds[-1], math.inf) if self.thresholds else 0.0
        values = np.array([*self.thresholds, last, math.nan])[codes]
        if self.time_kind is not None:
            return TimeColumn(self.name, values, self.time_kind)
        return NumericColumn(self.name, values)

    @property
    def each(self) -> Column:
        """A column with one row per bin."""
        return self.column(np.arange(len(self)))


def feature_bins(
    name: str,
    categories: tuple[Category, ...] | None,
    conditions: Sequence[Condition],
    time_kind: TimeKind | None = None,
) -> FeatureBins:
    """Find the bins of a feature, given the conditions on it; categories are None for numbers.

    Examples
    --------
    >>> bins = feature_bins("x", None, [Condition("x", "<=", 2), Condition("x", ">", 5)])
    >>> bins.codes(NumericColumn("x", np.array([1.0, 2.0, 3.0, 9.0, np.nan])))
    array([0, 0, 1, 2, 3])
    """
    if categories is not None:
        return FeatureBins(name, (), categories, bool(conditions))
    thresholds: set[float] = set()
    for condition in conditions:
        value = condition.value
        for number in map(_number, value if isinstance(value, tuple) else (value,)):
            if number is None:
                continue
            thresholds.add(number)
            if condition.relation not in THRESHOLD_RELATIONS:
                thresholds.add(math.nextafter(number, -math.inf))
    return FeatureBins(name, tuple(sorted(thresholds)), None, bool(conditions), time_kind)


def _number(value: Any) -> float | None:
    if kind_of(value) is not None:
        return microseconds(value)
    return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True)
class TableBins:
    """The bins of all features, and how those of a row are encoded as a key of a few numbers."""

    features: tuple[FeatureBins, ...]
    n_targets: int = 1
    """Number of classes, which are the last digit of a key; 1 without classes."""

    @cached_property
    def sizes(self) -> list[int]:
        """Number of bins of each feature, and of classes."""
        return [*map(len, self.features), self.n_targets]

    @cached_property
    def words(self) -> list[list[int]]:
        """Positions in `sizes` of the digits of each number of a key."""
        words: list[list[int]] = [[]]
        product = 1
        for position, size in enumerate(self.sizes):
            if size == 1:
                continue
            product *= size
            if product > _MAX_KEY:
                words.append([])
                product = size
            words[-1].append(position)
        return words

    @cached_property
    def _word_of(self) -> dict[int, int]:
        """The number of a key that has the digit of each position in `sizes`."""
        return {position: number for number, word in enumerate(self.words) for position in word}

    def keys(self, codes: Iterable[NDArray[np.integer] | None], n_rows: int) -> Integers:
        """Encode codes, in the order of `sizes`, as keys of shape (n_rows, n_words).

        Codes are read one after the other; they may be None where there is only one bin.
        """
        word_of = self._word_of
        keys = np.zeros((n_rows, len(self.words)), dtype=np.int64)
        for position, (size, digits) in enumerate(zip(self.sizes, codes, strict=True)):
            if position in word_of and digits is not None:
                keys[:, word_of[position]] *= size
                keys[:, word_of[position]] += digits
        return keys

    def codes(self, keys: Integers, position: int) -> NDArray[np.integer]:
        """Read the codes at a position of `sizes` from keys."""
        sizes = self.sizes
        number = self._word_of.get(position)
        if number is None:
            return np.zeros(len(keys), dtype=np.uint8)
        word = self.words[number]
        after = word[word.index(position) + 1 :]
        codes = keys[:, number] // math.prod(sizes[other] for other in after)
        codes %= sizes[position]
        return codes.astype(np.min_scalar_type(sizes[position]))


def open_ranges(
    summary: TableSummary, roles: Roles, max_thresholds: int | None
) -> dict[str, Integers]:
    """Find the ranges of keys, by column, that have to be refined for exact thresholds."""
    found = {}
    for name, column in summary.columns.items():
        if column.values is None or column.values.is_exact:
            continue
        values, positions = column.values, _cuts(column, roles, max_thresholds).exact
        wide = positions[values.first[positions] != values.last[positions]]
        if len(wide):
            found[name] = np.column_stack([values.first[wide], values.last[wide]])
    return found


def summary_conditions(
    summary: TableSummary, roles: Roles, max_thresholds: int | None, categories: CategoryOptions
) -> tuple[Condition, ...]:
    """List the conditions that rules may be made of; there must be no open ranges."""
    return tuple(
        condition
        for column in summary.columns.values()
        for condition in _conditions(column, roles, max_thresholds, categories)
    )


def _conditions(
    column: ColumnSummary, roles: Roles, max_thresholds: int | None, options: CategoryOptions
) -> Iterator[Condition]:
    has_missing = column.n_missing > 0
    if column.n_missing == column.n_rows:
        return iter(())
    if column.values is not None:
        thresholds = _thresholds(column, _cuts(column, roles, max_thresholds))
        return numeric_conditions(column.name, thresholds, has_missing)
    categories = sorted(value for value, amount in column.categories.items() if amount.any())
    amounts = np.array([column.categories[each] for each in categories], dtype=np.int64)
    sizes = roles.total_weight(amounts) if categories else np.empty(0)
    if column.order:
        ranks = np.array([*map(column.order.index, categories)], dtype=np.float64)
        cuts = find_gaps(ranks, sizes, max_thresholds)[0].astype(int).tolist()
        ordered = ordered_conditions(column.name, column.order, cuts)
        return chain(ordered, missing_conditions(column.name, has_missing))
    return categorical_conditions(column.name, categories, sizes, has_missing, options)


@dataclass(frozen=True)
class _Cuts:
    """Positions of the values, or ranges of values, on both sides of thresholds."""

    below: Indices
    above: Indices
    """Positions before the first values above a threshold."""
    exact: Indices
    """Positions of ranges that have to be refined to a single value."""


def _cuts(column: ColumnSummary, roles: Roles, max_thresholds: int | None) -> _Cuts:
    values = column.values
    assert values is not None
    n_gaps = len(values.first) - 1
    if max_thresholds is None and not values.is_exact:
        raise ValueError(
            f"Column {column.name!r} has more than {MAX_RANGES:,} different values, too many for "
            f"a threshold between all of them. Set {parameter('max_thresholds')} to a number."
        )
    if max_thresholds is None or n_gaps <= max_thresholds:
        chosen = np.arange(max(n_gaps, 0))
        return _Cuts(chosen, chosen, chosen)
    cumulative = roles.total_weight(np.cumsum(values.amounts, axis=0))
    total = float(cumulative[-1])
    # The last range may hold the last threshold unless it is a single value.
    cumulative = cumulative[: n_gaps if values.first[-1] == values.last[-1] else n_gaps + 1]
    chosen = quantile_positions(cumulative, total, max_thresholds)
    if column.time_kind is None:
        return _Cuts(chosen, chosen, chosen)
    lowest, highest = with_play(cumulative, chosen, total, max_thresholds)
    return _Cuts(
        lowest,
        highest,
        np.unique(np.concatenate([chosen, lowest, np.minimum(highest + 1, n_gaps)])),
    )


def _thresholds(column: ColumnSummary, cuts: _Cuts) -> list[float | Moment]:
    values = column.values
    assert values is not None
    lows, highs = numbers_of(values.last[cuts.below]), numbers_of(values.first[cuts.above + 1])
    if column.time_kind is None:
        return [*shortest_separators(lows, highs).tolist()]
    kind = column.time_kind
    gaps = zip(lows.tolist(), highs.tolist(), strict=True)
    return list(dict.fromkeys(round_separator(low, high, kind) for low, high in gaps))
