"""Candidate conditions of a table, and the rows that each of them covers.

`candidate_conditions` lists the conditions a rule may be made of: thresholds
of numeric features, values of categorical ones, and whether a value is missing.
`given_candidates` takes the conditions from the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, groupby
from operator import attrgetter
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from laconic._core import Extents, ExtentsBuilder
from laconic._util.checks import is_whole, require
from laconic._util.types import Bools, Floats
from laconic._util.words import parameter
from laconic.candidates.categories import (
    DEFAULT_MAX_CATEGORIES,
    CategoryOptions,
    GroupMeans,
    Way,
    category_conditions,
    ordered_conditions,
)
from laconic.tables.columns import (
    CategoricalColumn,
    Category,
    Column,
    FeatureKind,
    NumericColumn,
    TimeColumn,
    as_categories,
    date_part,
    feature_kind,
)
from laconic.tables.sparse import StoredCells
from laconic.tables.tables import Table, as_table
from laconic.tables.thresholds import Gaps, find_gaps, shortest_separators
from laconic.tables.times import Moment, round_separator
from laconic.terms.conditions import Condition

# Odd, so that the median is among the quantiles.
DEFAULT_MAX_THRESHOLDS = 7

# A search keeps the extents twice, by condition and by row, a bit each.
MAX_BYTES = 2**31


# Thresholds of many short columns are found together.
CELLS_AT_ONCE, COLUMNS_AT_ONCE = 2**17, 256


@dataclass(frozen=True, slots=True, eq=False)
class CandidateConditions:
    """Conditions with the rows they cover.

    Parameters
    ----------
    conditions : tuple of Condition
        The conditions, feature by feature.
    extents : Extents
        Which rows each of them covers, packed as the search needs it.
    feature_kinds : dict of str to FeatureKind
        Which of the features hold zeros and ones, or integers, only, or categories in an order or
        with a group of others.
    """

    conditions: tuple[Condition, ...]
    extents: Extents
    feature_kinds: dict[str, FeatureKind] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.conditions)

    def covered(self) -> Bools:
        """Unpack the extents: a mask of the rows for each condition, one below the other."""
        covered = np.empty((len(self), self.extents.n_rows), dtype=bool)
        for position in range(len(self)):
            covered[position] = self.extents.covered([position])
        return covered


def candidate_conditions(
    X: Any,
    *,
    max_thresholds: int | None = DEFAULT_MAX_THRESHOLDS,
    categories: Way = "values",
    max_categories: int | None = DEFAULT_MAX_CATEGORIES,
    categorical_features: Mapping[str, str] | None = None,
    date_parts: Sequence[str] = (),
    sample_weight: ArrayLike | None = None,
    orders: Sequence[tuple[ArrayLike, ArrayLike | None]] = (),
) -> CandidateConditions:
    """List the conditions that rules for a table may be made of.

    A numeric feature gives ``x <= t`` and ``x > t`` for ascending thresholds t, as do dates, times
    and durations, and ordered categories as sets; a categorical one ``x == v`` for every category,
    then ``x != v`` for every category. A feature with missing values adds ``x is missing`` and
    ``x is present``. Affirmative conditions come first, so that ties between conditions go to them.
    Conditions that hold for all rows or for none are left out.

    There are at most `max_thresholds` per feature, at weighted quantiles; None places one between
    all neighbouring values. Features with more than two categories give ``x != v`` unless
    `categories` is "equal". The `categories`, their largest number and the `orders` are those of
    `category_conditions`: orders are pairs of values and weights of the rows, such as
    `losses.ranking_values` returns, and categories are ordered by the weighted means of the values.
    Numbers of `categorical_features` are categories; "ordered" ones have thresholds, "nominal" ones
    have none, whatever their type is. Dates give each of the `date_parts` as well. Rows of weight
    zero are left out, also from the extents; an integer weight counts like that many copies of the
    row.

    Examples
    --------
    >>> X = [[18, "x"], [67, "o"], [70, "x"], [70, None]]
    >>> candidates = candidate_conditions(X)
    >>> for condition, covered in zip(candidates.conditions, candidates.covered()):
    ...     print(f"{str(condition):13}", covered.astype(int))
    x0 <= 40      [1 0 0 0]
    x0 > 40       [0 1 1 1]
    x0 <= 68      [1 1 0 0]
    x0 > 68       [0 0 1 1]
    x1 == o       [0 1 0 0]
    x1 == x       [1 0 1 0]
    x1 is missing [0 0 0 1]
    x1 is present [1 1 1 0]
    """
    require(
        max_thresholds is None or is_whole(max_thresholds, 1),
        parameter("max_thresholds"),
        "an int in the range [1, inf) or None",
        max_thresholds,
    )
    table = as_table(X)
    table = table.reading_dates(table.feature_names)
    counted = _CountedRows(sample_weight, table.n_rows)
    builder = ExtentsBuilder(counted.n_rows)
    maker = _Maker(
        counted.weights,
        CategoryOptions(categories, max_categories),
        max_thresholds,
        categorical_features or {},
        [(counted.take_array(values), counted.take_array(weights)) for values, weights in orders],
    )
    conditions: list[Condition] = []
    kinds: dict[str, FeatureKind | None] = {}
    for name, column, cuts in _columns(table, counted, maker, date_parts):
        kinds[name] = maker.kind(name, column)
        if isinstance(column, StoredCells):
            found = list(numeric_conditions(name, cuts.tolist(), has_missing=False))
        else:
            found = list(maker.conditions(column, cuts))
        conditions += found
        _check_size(len(conditions), counted.n_rows)
        _add_extents(builder, column, found, cuts)
    return CandidateConditions(tuple(conditions), builder.build(), _known(kinds))


def _columns(
    table: Table, counted: _CountedRows, maker: _Maker, date_parts: Sequence[str]
) -> Iterator[tuple[str, Column | StoredCells, Floats]]:
    """Yield names, columns and thresholds of features, and of parts of dates."""

    def read(name: str) -> Iterator[tuple[str, Column | StoredCells]]:
        stored = None if name in maker.declared else table.stored_cells(name)
        if stored is not None:
            yield name, counted.take(stored)
            return
        column = counted.take(table.pop_column(name))
        yield name, as_categories(column) if name in maker.declared else column
        if isinstance(column, TimeColumn) and column.kind in ("date", "datetime"):
            for part in date_parts:
                # Dates have no hours, and a column may have the name of a part.
                is_part = part != "hour" or column.kind == "datetime"
                if is_part and f"{part} of {name}" not in names:
                    yield f"{part} of {name}", date_part(f"{part} of {name}", column, part)

    names = table.feature_names
    n_at_once = COLUMNS_AT_ONCE
    if table.cells is None:
        n_at_once = min(n_at_once, 1 + CELLS_AT_ONCE // max(table.n_rows, 1))
    for begin in range(0, len(names), n_at_once):
        columns = [each for name in names[begin : begin + n_at_once] for each in read(name)]
        all_cuts = maker.cuts([column for _, column in columns])
        for (name, column), cuts in zip(columns, all_cuts, strict=True):
            yield name, column, cuts


def _add_extents(
    builder: ExtentsBuilder,
    column: Column | StoredCells,
    conditions: Sequence[Condition],
    cuts: Floats,
) -> None:
    """Add the rows that conditions cover; stored cells have conditions for thresholds only."""
    if isinstance(column, StoredCells):
        below = np.empty(column.n_rows, dtype=bool)
        for cut in cuts.tolist():
            builder.add(column.at_most(cut, below))
            builder.add(~below)
        return
    for condition in conditions:
        builder.add(condition.covered_in(column))


def _check_size(n_candidates: int, n_rows: int) -> None:
    most = 8 * MAX_BYTES // max(n_rows, 1)
    if n_candidates <= most:
        return
    raise ValueError(
        f"The extents of all conditions must fit into {MAX_BYTES / 2**30:.3g} GiB. Got more than "
        f"{most:,} conditions on {n_rows:,} rows. Set {parameter('max_thresholds')} to a number, "
        f"like the default of {DEFAULT_MAX_THRESHOLDS}, leave out features that identify single "
        "rows, or learn from fewer rows."
    )


def given_candidates(
    X: Any, conditions: Sequence[Condition], *, sample_weight: ArrayLike | None = None
) -> CandidateConditions:
    """Find the rows that given conditions cover; rows of weight zero are left out.

    Conditions on the same feature should stand together: their column is then read once.

    Examples
    --------
    >>> candidates = given_candidates([[18], [67], [70]], [Condition("x0", ">", 65)])
    >>> candidates.covered()
    array([[False,  True,  True]])
    """
    check_conditions(conditions)
    table = as_table(X)
    counted = _CountedRows(sample_weight, table.n_rows)
    builder = ExtentsBuilder(counted.n_rows)
    kinds: dict[str, FeatureKind | None] = {}
    for name, group in groupby(conditions, key=attrgetter("feature")):
        column = counted.take(table.pop_column(name))
        kinds[name] = feature_kind(column)
        for condition in group:
            builder.add(condition.covered_in(column))
    return CandidateConditions(tuple(conditions), builder.build(), _known(kinds))


def _known(kinds: dict[str, FeatureKind | None]) -> dict[str, FeatureKind]:
    return {name: kind for name, kind in kinds.items() if kind is not None}


class _CountedRows:
    """The rows of positive weight: their number, and their weights; None if there are none."""

    def __init__(self, sample_weight: ArrayLike | None, n_rows: int) -> None:
        self.n_rows = n_rows
        self.weights: Floats | None = None
        self._is_counted: Bools | None = None
        if sample_weight is not None:
            self.weights = _checked_weights(sample_weight, n_rows)
            is_counted = self.weights > 0
            if not is_counted.all():
                self._is_counted, self.weights = is_counted, self.weights[is_counted]
                self.n_rows = len(self.weights)

    @overload
    def take(self, column: Column) -> Column: ...
    @overload
    def take(self, column: StoredCells) -> StoredCells: ...
    def take(self, column: Column | StoredCells) -> Column | StoredCells:
        """Select these rows of a column."""
        return column if self._is_counted is None else column.take(self._is_counted)

    @overload
    def take_array(self, values: None) -> None: ...
    @overload
    def take_array(self, values: ArrayLike) -> Floats: ...
    def take_array(self, values: ArrayLike | None) -> Floats | None:
        """Select the values of these rows, unless that was done before."""
        if values is None:
            return None
        array = np.asarray(values, dtype=np.float64)
        is_whole = self._is_counted is None or len(array) == self.n_rows
        return array if is_whole else array[self._is_counted]


def numeric_conditions(
    name: str, thresholds: Iterable[float | Moment], has_missing: bool
) -> Iterator[Condition]:
    """List the conditions on a feature of numbers or times."""
    for threshold in thresholds:
        yield Condition(name, "<=", threshold)
        yield Condition(name, ">", threshold)
    yield from missing_conditions(name, has_missing)


def categorical_conditions(
    name: str,
    categories: Sequence[Category],
    sizes: Floats,
    has_missing: bool,
    options: CategoryOptions,
    orders: Sequence[GroupMeans] = (),
) -> Iterator[Condition]:
    """List the conditions on a feature, given its categories and their total weights."""
    if len(categories) > 1 or (has_missing and len(categories) > 0):
        yield from category_conditions(name, categories, sizes, options, orders)
    yield from missing_conditions(name, has_missing)


def missing_conditions(name: str, has_missing: bool) -> Iterator[Condition]:
    """List the conditions about missing values, where a feature has any."""
    if has_missing:
        yield Condition(name, "is missing")
        yield Condition(name, "is present")


def column_candidates(
    column: Column,
    weights: Floats | None,
    max_thresholds: int | None,
    options: CategoryOptions,
) -> Iterator[Condition]:
    """List the conditions that rules may have on a column of counted rows."""
    maker = _Maker(weights, options, max_thresholds)
    return maker.conditions(column, *maker.cuts([column]))


@dataclass(frozen=True)
class _Maker:
    """Makes the conditions of one column after the other."""

    weights: Floats | None
    options: CategoryOptions
    max_thresholds: int | None
    declared: Mapping[str, str] = field(default_factory=dict)
    """Columns that are "nominal" or "ordered" categories by request."""
    orders: Sequence[tuple[Floats, Floats | None]] = ()

    def kind(self, name: str, column: Column | StoredCells) -> FeatureKind | None:
        """Return the kind of the values of a column, for texts."""
        if isinstance(column, StoredCells):
            values = np.append(column.values, 0.0) if column.n_zeros else column.values
            return feature_kind(NumericColumn(name, values))
        return self._order(column) or feature_kind(column)

    def _order(self, column: Column) -> tuple[Category, ...]:
        """Return the values of a column in their order, if it has one."""
        if not isinstance(column, CategoricalColumn):
            return ()
        if self.declared.get(column.name, "ordered" if column.is_ordered else "") == "ordered":
            return column.order or column.categories
        return ()

    def cuts(self, columns: Sequence[Column | StoredCells]) -> list[Floats]:
        """Find the thresholds of columns that hold numbers; there are none for others."""
        all_gaps = [self._gaps(column) for column in columns]
        separators = shortest_separators(*map(np.concatenate, zip(*all_gaps, strict=True)))
        return np.split(separators, np.cumsum([len(lows) for lows, _ in all_gaps])[:-1])

    def _gaps(self, column: Column | StoredCells) -> Gaps:
        """Find the neighbouring values to place thresholds between, of a column of numbers."""
        if isinstance(column, StoredCells):
            return find_gaps(*column.grouped(self.weights), self.max_thresholds)
        if isinstance(column, CategoricalColumn | TimeColumn):
            return np.empty(0), np.empty(0)
        return find_gaps(*self._known(column.values), self.max_thresholds)

    def _known(self, values: Floats) -> tuple[Floats, Floats | None]:
        """Select values that are not missing, and their weights."""
        missing, weights = np.isnan(values), self.weights
        if not missing.any():
            return values, weights
        return values[~missing], None if weights is None else weights[~missing]

    def conditions(self, column: Column, cuts: Floats) -> Iterator[Condition]:
        """List conditions of a column that has values; thresholds of numbers are given."""
        missing, name = column.missing, column.name
        if missing.all():
            return
        has_missing, order = bool(missing.any()), self._order(column)
        if isinstance(column, TimeColumn):
            gaps = find_gaps(*self._known(column.values), self.max_thresholds, has_play=True)
            pairs = zip(*(each.tolist() for each in gaps), strict=True)
            moments = [round_separator(low, high, column.kind) for low, high in pairs]
            yield from numeric_conditions(name, dict.fromkeys(moments), has_missing)
        elif isinstance(column, NumericColumn):
            yield from numeric_conditions(name, cuts.tolist(), has_missing)
        elif order:
            # Code -1 means missing and picks the last entry.
            ranks = np.array([*map(order.index, column.categories), np.nan])[column.codes]
            lows, _ = find_gaps(*self._known(ranks), self.max_thresholds)
            yield from ordered_conditions(name, order, lows.astype(int).tolist())
            yield from missing_conditions(name, has_missing)
        else:
            yield from categorical_conditions(
                name, *self._groups(column), has_missing, self.options, self._means(column)
            )

    def _groups(self, column: CategoricalColumn) -> tuple[list[Category], Floats]:
        """Return the categories that occur, and their total weights."""
        n_rows = _totals(column)
        occurring = list(compress(column.categories, n_rows))
        return occurring, _totals(column, self.weights)[n_rows > 0]

    def _means(self, column: CategoricalColumn) -> list[GroupMeans]:
        """Compute the means that categories are ordered by, and their weights."""
        occurs, found = _totals(column) > 0, []
        for values, weights in self.orders:
            sums = _totals(column, values if weights is None else values * weights)[occurs]
            sizes = _totals(column, weights)[occurs]
            found.append((sums / sizes, sizes))
        return found


def _totals(column: CategoricalColumn, values: Floats | None = None) -> Floats:
    """Add up values of the rows of each category; None counts them."""
    # The first group, of code -1, is of missing values.
    totals = np.bincount(column.codes + 1, values, len(column.categories) + 1)[1:]
    return totals.astype(np.float64)


def check_conditions(conditions: Any) -> None:
    """Refuse what is not a list or tuple of conditions."""
    required = "The 'conditions' must be a list or tuple of Condition objects."
    if not isinstance(conditions, list | tuple):
        raise TypeError(f"{required} Got {conditions!r} instead.")
    for condition in conditions:
        if not isinstance(condition, Condition):
            raise TypeError(
                f"{required} Got {condition!r} among them. Write a condition as "
                "Condition('age', '>', 65)."
            )
    if not conditions:
        raise ValueError(
            f"{required} Got none at all. Pass None to have conditions made from the table."
        )


def _checked_weights(sample_weight: ArrayLike, n_rows: int) -> Floats:
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"The 'sample_weight' must have one entry per row, shape ({n_rows},). "
            f"Got shape {weights.shape} instead."
        )
    if not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(
            "The 'sample_weight' must be finite and not negative. Got another value. "
            "Give rows to be ignored the weight 0."
        )
    return weights
