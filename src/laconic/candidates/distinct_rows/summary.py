"""A summary of the columns of a table in parts: their values, and the weight of each.

`partition_summary` summarises a part, and `TableSummary.merge` merges two summaries, in any order.
A part is any eager table that `as_table` takes.

Numbers are counted by keys, whole numbers in the same order, in bounded memory. Where there are too
many different numbers, neighbours share a range, of twice as many keys each time. The final width
of the ranges depends on the numbers alone, not on the order in which they were seen or merged.
`bins.open_ranges` finds the ranges that have to be refined, with `partition_refinement`, before
thresholds are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from laconic._util.types import Bools, Floats, Integers
from laconic._util.words import listed_names
from laconic.candidates.distinct_rows.column_roles import NO_TARGETS, Range, Roles
from laconic.candidates.distinct_rows.exact_sums import added_up
from laconic.tables.columns import (
    CategoricalColumn,
    Category,
    Column,
    FeatureKind,
    TimeColumn,
    feature_kind,
    time_column,
    with_dates,
)
from laconic.tables.tables import as_table
from laconic.tables.times import TimeKind, is_comparable, iso_counts
from laconic.terms.parsing import Feature

MAX_RANGES = 2**16
_KEY_BITS = 63


def keys_of(numbers: Floats) -> Integers:
    """Return whole numbers in the order of given finite numbers.

    Examples
    --------
    >>> keys_of(np.array([-1.0, 0.0, 1.5])).argsort()
    array([0, 1, 2])
    """
    # Adding 0 turns -0.0, whose bits are others, into 0.0.
    bits = (np.asarray(numbers, dtype=np.float64) + 0.0).view(np.int64)
    return np.asarray(bits ^ ((bits >> 63) & np.int64(2**63 - 1)))


def numbers_of(keys: Integers) -> Floats:
    """Invert `keys_of`."""
    return np.asarray(keys ^ ((keys >> 63) & np.int64(2**63 - 1))).view(np.float64)


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Ranges of keys, ascending, and the amounts of their rows.

    A range that holds a single value has the same `first` and `last` key.
    """

    shift: int
    """Keys that are equal without this number of last bits share a range."""
    first: Integers
    """Smallest key of each range."""
    last: Integers
    amounts: Integers
    """Amounts of the rows of each range."""

    @property
    def is_exact(self) -> bool:
        """Whether every range is a single value."""
        return self.shift == 0

    @classmethod
    def of(cls, keys: Integers, amounts: Integers, max_ranges: int = MAX_RANGES) -> ValueCounts:
        """Add up the amounts of keys, one row each."""
        distinct, sums = added_up(keys[:, None], amounts)
        return cls(0, distinct[:, 0], distinct[:, 0], sums).within(max_ranges)

    def merge(self, other: ValueCounts, max_ranges: int = MAX_RANGES) -> ValueCounts:
        """Add up the amounts of both."""
        shift = max(self.shift, other.shift)
        return self._joined(other, shift).coarsened(shift).within(max_ranges)

    def _joined(self, other: ValueCounts, shift: int) -> ValueCounts:
        """List the ranges of both, ascending."""
        first = np.concatenate([self.first, other.first])
        order = np.argsort(first, kind="stable")
        return ValueCounts(
            shift,
            first[order],
            np.concatenate([self.last, other.last])[order],
            np.concatenate([self.amounts, other.amounts])[order],
        )

    def within(self, max_ranges: int) -> ValueCounts:
        """Widen ranges until there are at most `max_ranges`."""
        if self._n_ranges(self.shift) <= max_ranges:
            return self
        too_narrow, shift = self.shift, _KEY_BITS
        while shift - too_narrow > 1:
            middle = (too_narrow + shift) // 2
            if self._n_ranges(middle) > max_ranges:
                too_narrow = middle
            else:
                shift = middle
        return self.coarsened(shift)

    def _n_ranges(self, shift: int) -> int:
        if len(self.first) == 0:
            return 0
        ranges = self.first >> shift
        return 1 + int(np.count_nonzero(ranges[1:] != ranges[:-1]))

    def coarsened(self, shift: int) -> ValueCounts:
        """Merge ranges that agree but for the last bits."""
        if len(self.first) == 0:
            return ValueCounts(shift, self.first, self.last, self.amounts)
        ranges = self.first >> shift
        starts = np.flatnonzero(np.append(True, ranges[1:] != ranges[:-1]))
        return ValueCounts(
            shift,
            np.minimum.reduceat(self.first, starts),
            np.maximum.reduceat(self.last, starts),
            np.add.reduceat(self.amounts, starts, axis=0),
        )

    def replaced(self, finer: ValueCounts) -> ValueCounts:
        """Replace ranges by finer ones within them."""
        place = np.searchsorted(self.first, finer.first, side="right") - 1
        kept = np.ones(len(self.first), dtype=bool)
        kept[place] = False
        others = replace(
            self, first=self.first[kept], last=self.last[kept], amounts=self.amounts[kept]
        )
        return others._joined(finer, self.shift)


# More texts are names of rows, and rules about single ones do not generalize.
MAX_CATEGORIES = 20_000

MIXED = "Column {!r} must hold either {}. Got both. Give all parts of the table the same types."


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """Summary of the values of a feature, in the rows of positive weight."""

    name: str
    values: ValueCounts | None
    """The numbers; None for categories."""
    categories: Mapping[Category, Integers]
    """Amounts of the rows of each category; 0 if all of them have the weight 0."""
    kind: FeatureKind | None
    has_values: bool
    """Whether any row, also one of weight 0, has a value."""
    n_missing: int
    n_rows: int
    time_kind: TimeKind | None = None
    """The kind of times, where the numbers are microseconds."""
    is_declared: bool = False
    """Whether the column has a categorical type, and does not merely hold texts."""
    order: tuple[Category, ...] = ()
    """All categories in their order, if the column has one."""

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers, or times."""
        return self.values is not None

    @property
    def feature(self) -> Feature:
        """What it takes to read a rule about the column."""
        if self.time_kind is not None:
            return Feature(self.name, is_text=False, time_kind=self.time_kind)
        if self.is_numeric:
            return Feature(self.name, False, None, self.kind)
        categories = tuple(sorted(self.categories))
        is_text = isinstance(next(iter(categories), None), str)
        return Feature(self.name, is_text, categories, self.kind, order=self.order)

    def with_dates(self) -> ColumnSummary:
        """Read texts as dates, if all of them are written as dates."""
        is_text = isinstance(next(iter(self.categories), None), str)
        if not is_text or self.is_declared:
            return self
        counts = iso_counts([*map(str, self.categories)])
        if counts is None:
            return self
        kind = time_column(self.name, counts, "datetime").kind
        amounts = np.array([*self.categories.values()], dtype=np.int64)
        counted = amounts.any(axis=1)
        values = ValueCounts.of(keys_of(counts[counted]), amounts[counted])
        return replace(self, values=values, categories={}, time_kind=kind)

    def checked(self) -> ColumnSummary:
        """Refuse texts that name rows; very many dates are converted from texts."""
        if len({isinstance(category, str) for category in self.categories}) > 1:
            raise TypeError(MIXED.format(self.name, "strings or numbers"))
        if len(self.categories) <= MAX_CATEGORIES:
            return self
        dated = self.with_dates()
        if not dated.is_numeric:
            raise ValueError(
                f"Column {self.name!r} has more than {MAX_CATEGORIES:,} different texts, as names "
                "of rows have; rules about single ones do not generalize. Leave the column out."
            )
        return dated

    def merge(self, other: ColumnSummary) -> ColumnSummary:
        """Merge the summaries of two parts of a column."""
        n_missing, n_rows = self.n_missing + other.n_missing, self.n_rows + other.n_rows
        if not (self.has_values and other.has_values):
            known = self if self.has_values else other
            return replace(known, n_missing=n_missing, n_rows=n_rows)
        if self.is_numeric != other.is_numeric:
            # Very many dates were converted from texts.
            one, dated = self.with_dates(), other.with_dates()
            if one.time_kind is None or dated.time_kind is None:
                raise TypeError(MIXED.format(self.name, "strings or numbers"))
            return one.merge(dated)
        kind = _common_kind(self, other)
        facts = (kind, True, n_missing, n_rows)
        if self.values is not None and other.values is not None:
            values = self.values.merge(other.values)
            return ColumnSummary(self.name, values, {}, *facts, _common_time(self, other))
        categories = dict(self.categories)
        for category, amount in other.categories.items():
            categories[category] = categories.get(category, 0) + amount
        if {*categories} != {False, True}:
            facts = (None, *facts[1:])
        if self.order != other.order:
            raise TypeError(
                f"Column {self.name!r} must have its categories in one order, or in none. Got "
                "others in other parts of the table. Give all parts the same type."
            )
        is_declared = self.is_declared or other.is_declared
        declared = (None, is_declared, self.order)
        return ColumnSummary(self.name, None, categories, *facts, *declared).checked()


def _common_kind(one: ColumnSummary, other: ColumnSummary) -> FeatureKind | None:
    # Rows of weight 0 do not matter.
    if one.n_missing == one.n_rows:
        return other.kind
    if other.n_missing == other.n_rows or one.kind == other.kind:
        return one.kind
    return None if one.kind is None or other.kind is None else "integer"


def _common_time(one: ColumnSummary, other: ColumnSummary) -> TimeKind | None:
    if one.time_kind == other.time_kind:
        return one.time_kind
    if not is_comparable(one.time_kind, other.time_kind):
        raise TypeError(MIXED.format(one.name, "numbers or one kind of times"))
    return "datetime"


@dataclass(frozen=True, eq=False)
class TableSummary:
    """Summary of the columns of a table, or of a part of it."""

    columns: dict[str, ColumnSummary]
    labels: Mapping[Category, int]
    """Number of counted rows of each class; empty where the target is a number."""
    targets: Range
    """Range of the targets, where these are numbers."""
    n_rows: int
    n_counted: int
    """Rows of positive weight."""

    def merge(self, other: TableSummary) -> TableSummary:
        """Merge the summaries of two parts; one without rows changes nothing."""
        if self.n_rows == 0 or other.n_rows == 0:
            return self if other.n_rows == 0 else other
        if [*self.columns] != [*other.columns]:
            different = sorted({*self.columns} ^ {*other.columns}) or [*self.columns]
            raise ValueError(
                "All parts of a table must have the same columns in the same order. Got others "
                f"for {listed_names(different)}."
            )
        labels = Counter(self.labels) + Counter(other.labels)
        Roles.check_labels(labels)
        return TableSummary(
            {name: column.merge(other.columns[name]) for name, column in self.columns.items()},
            labels,
            self.targets.merge(other.targets),
            self.n_rows + other.n_rows,
            self.n_counted + other.n_counted,
        )

    @classmethod
    def of_nothing(cls) -> TableSummary:
        """Return the summary of no rows."""
        return cls({}, {}, NO_TARGETS, 0, 0)

    def checked(self) -> TableSummary:
        """Refuse a table without rows."""
        if self.n_counted == 0:
            raise ValueError(
                f"The table has no row that counts. Got {self.n_rows:,} rows, of positive weight "
                "none. Check the query, or the weights."
            )
        return self

    def with_dates(self) -> TableSummary:
        """Read columns of texts as dates, where all their texts are dates."""
        columns = {name: column.with_dates() for name, column in self.columns.items()}
        return replace(self, columns=columns)

    @property
    def categories(self) -> dict[str, tuple[Category, ...] | None]:
        """The categories of each feature, ascending; None for numbers."""
        return {
            name: None if column.is_numeric else tuple(sorted(column.categories))
            for name, column in self.columns.items()
        }

    def feature(self, name: str) -> Feature:
        """Return what it takes to read a rule about a column."""
        if name not in self.columns:
            raise ValueError(
                f"Conditions on parts of dates need a table in memory. Got one on {name!r} for a "
                "table that is read in parts. Add a column with the part in the query."
            )
        return self.columns[name].feature

    @property
    def times(self) -> dict[str, TimeKind]:
        """Which features are dates, times or durations."""
        known = ((name, column.time_kind) for name, column in self.columns.items())
        return {name: kind for name, kind in known if kind is not None}

    @property
    def kinds(self) -> dict[str, FeatureKind]:
        """Which features are integers, booleans, or categories in an order."""
        found = {name: column.order or column.kind for name, column in self.columns.items()}
        return {name: kind for name, kind in found.items() if kind}

    def replaced(self, finer: dict[str, ValueCounts]) -> TableSummary:
        """Insert the refinement of some ranges."""
        columns = dict(self.columns)
        for name, values in finer.items():
            known = columns[name].values
            if known is not None:
                columns[name] = replace(columns[name], values=known.replaced(values))
        return replace(self, columns=columns)


def partition_summary(part: Any, roles: Roles) -> TableSummary:
    """Summarise a part of a table, a frame with all columns that have a role."""
    table = as_table(part)
    rows = roles.counted(table)
    amounts = roles.weight_amounts(rows.weights, rows.n_rows)
    labels, targets = roles.target_summary(table, rows)
    columns = {
        name: column_summary(table.pop_column(name), rows.is_counted, amounts)
        for name in roles.features
    }
    return TableSummary(columns, labels, targets, table.n_rows, rows.n_rows)


def column_summary(column: Column, is_counted: Bools | None, amounts: Integers) -> ColumnSummary:
    """Summarise a column, given which rows count and their amounts."""
    has_values = not bool(column.missing.all())
    counted = column if is_counted is None else column.take(is_counted)
    missing = counted.missing
    facts = (feature_kind(counted), has_values, int(missing.sum()), len(missing))
    if isinstance(counted, CategoricalColumn):
        n_categories = len(counted.categories)
        sums = np.zeros((n_categories, amounts.shape[1]), dtype=np.int64)
        codes, found = added_up(counted.codes[~missing, None].astype(np.int64), amounts[~missing])
        sums[codes[:, 0]] = found
        categories = dict(zip(counted.categories, sums, strict=True))
        declared = (None, counted.is_declared, counted.order if counted.is_ordered else ())
        return ColumnSummary(column.name, None, categories, *facts, *declared).checked()
    known = ~missing if missing.any() else slice(None)
    values = ValueCounts.of(keys_of(counted.values[known]), amounts[known])
    kind = column.kind if isinstance(column, TimeColumn) else None
    return ColumnSummary(column.name, values, {}, *facts, kind)


Refinement = dict[str, ValueCounts]


def partition_refinement(part: Any, roles: Roles, ranges: Mapping[str, Integers]) -> Refinement:
    """Count the numbers within ranges of keys, by column: arrays of shape (n_ranges, 2), ascending.

    The part needs only these columns and those of the weights.
    """
    table = as_table(part)
    rows = roles.counted(table)
    amounts = roles.weight_amounts(rows.weights, rows.n_rows)
    found = {}
    for name, wanted in ranges.items():
        column = with_dates(table.pop_column(name))
        if isinstance(column, CategoricalColumn):  # without any value
            column_values = np.empty(0)
            of_rows = amounts[:0]
        else:
            counted = column if rows.is_counted is None else column.take(rows.is_counted)
            column_values, of_rows = counted.values, amounts
        keys = keys_of(column_values)
        place = np.searchsorted(wanted[:, 0], keys, side="right") - 1
        inside = (place >= 0) & (keys <= wanted[place, 1]) & ~np.isnan(column_values)
        found[name] = ValueCounts.of(keys[inside], of_rows[inside])
    return found


def merge_refinements(one: Refinement, other: Refinement) -> Refinement:
    """Merge the refinements of two parts."""
    return {name: values.merge(other[name]) for name, values in one.items()}
