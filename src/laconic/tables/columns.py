"""Columns of numbers, times and categories, and conversions between them.

A column is a `NumericColumn`, a `TimeColumn` of microseconds, or a `CategoricalColumn`. Missing
values are marked in one way, whether they were None, NaN, NaT, null or NA.
`laconic.tables.to_columns` makes columns of cells.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from decimal import Decimal
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic._util.checks import shown
from laconic._util.types import Bools, Floats, Indices
from laconic._util.words import listed
from laconic.tables.times import (
    DAY,
    NAMES_OF_PARTS,
    Moment,
    TimeKind,
    from_microseconds,
    is_comparable,
    is_in_range,
    iso_counts,
    part_codes,
)

Category: TypeAlias = str | bool | int | float
FeatureKind: TypeAlias = Literal["integer", "boolean"] | tuple[Category, ...] | frozenset[Category]
"""What is known about the values of a feature: a tuple has them all in their order, a set
those that are not among the others."""
Rows: TypeAlias = slice | Bools | Indices

LARGEST_EXACT = 2**53
"""Up to here, float64 holds all whole numbers."""
TYPES_WITH_NAN = (float, np.floating, Decimal)
_TRUTHS = ["false", "true"]
# Texts that show whether a column of texts holds only numbers.
_N_FIRST = 20


@dataclass(frozen=True, slots=True, eq=False)
class NumericColumn:
    """Column of numbers."""

    is_numeric: ClassVar[bool] = True
    is_text: ClassVar[bool] = False

    name: str
    values: Floats
    """The numbers as float64, NaN where missing."""
    is_rounded: bool = field(default=False, kw_only=True)
    """Whether some of them are whole numbers that float64 does not hold."""

    @property
    def missing(self) -> Bools:
        """Mask of shape (n_rows,) of the rows without a value."""
        return np.isnan(self.values)

    def take(self, rows: Rows) -> Self:
        """Return some of the rows."""
        return replace(self, values=self.values[rows])

    def cell(self, row: int) -> float | Moment | None:
        """Return the value of a row; None if it is missing."""
        number = float(self.values[row])
        return None if np.isnan(number) else number


@dataclass(frozen=True, slots=True, eq=False)
class TimeColumn(NumericColumn):
    """Column of dates, times or durations, in microseconds."""

    kind: TimeKind

    def cell(self, row: int) -> Moment | None:
        """Return the value of a row; None if it is missing."""
        number = float(self.values[row])
        return None if np.isnan(number) else from_microseconds(number, self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class CategoricalColumn:
    """Column of strings or booleans, or of numbers declared to be categories."""

    is_numeric: ClassVar[bool] = False

    name: str
    codes: NDArray[np.int32]
    """Position of each row's value in `categories`, -1 where missing."""
    categories: tuple[Category, ...]
    """The distinct values, ascending. Booleans always have (False, True), other columns the values
    that occur."""
    is_declared: bool = False
    """Whether the type of the column is categorical, and not merely text."""
    order: tuple[Category, ...] = ()
    """All values in an order of their own, if the table has one."""
    is_ordered: bool = False
    """Whether the categories are ordered, and not merely listed in this order."""

    @property
    def is_text(self) -> bool:
        """Whether the categories are strings."""
        return isinstance(next(iter(self.categories), None), str)

    @property
    def missing(self) -> Bools:
        """Mask of shape (n_rows,) of the rows without a value."""
        return self.codes < 0

    def take(self, rows: Rows) -> Self:
        """Return some of the rows, with the categories of all."""
        return replace(self, codes=self.codes[rows])

    def cell(self, row: int) -> Category | None:
        """Return the value of a row; None if it is missing."""
        code = int(self.codes[row])
        return None if code < 0 else self.categories[code]


Column: TypeAlias = NumericColumn | CategoricalColumn


def feature_kind(column: Column) -> FeatureKind | None:
    """Return "boolean" for zeros and ones, "integer" for whole numbers, and None for others.

    Examples
    --------
    >>> [feature_kind(NumericColumn("x", np.array(x))) for x in ([0, 1], [0, 2], [0, 0.5])]
    ['boolean', 'integer', None]
    """
    if isinstance(column, CategoricalColumn):
        return "boolean" if {*column.categories} == {False, True} else None
    if isinstance(column, TimeColumn):
        return None
    known = column.values
    first = float(known[0]) if len(known) else math.nan
    if first == first and not first.is_integer():
        return None  # as most columns of measurements
    if not (known == np.rint(known)).all():
        known = known[~column.missing]
        if not (known == np.rint(known)).all():
            return None
    if not len(known):
        return None
    return "boolean" if ((known == 0) | (known == 1)).all() else "integer"


def time_column(name: str, counts: Floats, kind: TimeKind) -> TimeColumn:
    """Make a column of dates, times or durations from their microseconds."""
    if kind in ("date", "datetime"):
        if not is_in_range(counts):
            raise ValueError(
                f"Column {name!r} must hold dates of the years 1 to 9999. Got another year. "
                "Replace such dates, for example by None (missing)."
            )
        # Times that are all at midnight are dates.
        known = counts[~np.isnan(counts)]
        kind = "date" if not (known % DAY).any() else "datetime"
    return TimeColumn(name, read_only(counts), kind)


def with_dates(column: Column) -> Column:
    """Convert texts to dates if all of them are written as 2024-03-01 or 2024-03-01 12:30.

    Examples
    --------
    >>> with_dates(CategoricalColumn("day", np.array([0, 1]), ("2024-03-01", "2024-03-02"))).kind
    'date'
    """
    if not isinstance(column, CategoricalColumn) or not column.is_text or column.is_declared:
        return column
    counts = iso_counts([*map(str, column.categories)])
    if counts is None:
        return column
    # Code -1 means missing and picks the last entry.
    return time_column(column.name, np.append(counts, np.nan)[column.codes], "datetime")


def as_categories(column: Column) -> Column:
    """Convert numbers to categories; other columns stay as they are.

    Examples
    --------
    >>> as_categories(NumericColumn("zip", np.array([8001, np.nan, 8005]))).categories
    (8001, 8005)
    """
    if isinstance(column, CategoricalColumn | TimeColumn):
        return column
    distinct, codes = np.unique(column.values[~column.missing], return_inverse=True)
    all_codes = np.full(len(column.values), -1, dtype=np.int32)
    all_codes[~column.missing] = codes
    categories = tuple(plain_number(column.name, number) for number in distinct.tolist())
    return CategoricalColumn(column.name, all_codes, categories, is_declared=True)


def as_numbers(column: Column) -> Column:
    """Convert texts to numbers or booleans if all of them are written as such.

    Examples
    --------
    >>> as_numbers(CategoricalColumn("age", np.array([1, 0, -1]), ("35", "8.5"))).values
    array([ 8.5, 35. ,  nan])
    """
    if not isinstance(column, CategoricalColumn) or not column.is_text:
        return column
    texts = [str(text).strip() for text in column.categories]
    if all(text.lower() in _TRUTHS for text in texts):
        codes = np.array([*(_TRUTHS.index(text.lower()) for text in texts), -1], dtype=np.int32)
        return CategoricalColumn(column.name, codes[column.codes], (False, True))
    if not all(map(_is_number, texts)):
        return column
    # Code -1 means missing and picks the last entry.
    return NumericColumn(column.name, np.array([*map(float, texts), np.nan])[column.codes])


def as_texts(column: Column, known: Collection[str]) -> Column:
    """Convert numbers and booleans to texts, written as the known ones.

    Numbers stay as they are where a known text is a number with leading or trailing zeros, which
    numbers have lost.

    Examples
    --------
    >>> zips = NumericColumn("zip", np.array([8001, np.nan, 8005]))
    >>> as_texts(zips, ["8001", "CH-8005"]).categories, as_texts(zips, ["08001"]).is_text
    (('8001', '8005'), False)
    """
    if isinstance(column, TimeColumn) or column.missing.all():
        return column
    _warn_about_others(column, known)
    if column.is_text or any(map(loses_zeros, known)):
        return column
    categories = as_categories(column)
    assert isinstance(categories, CategoricalColumn)
    writing = {text.lower(): text for text in known}
    texts = [writing.get(str(each).lower(), str(each)) for each in categories.categories]
    ordered = sorted(texts)
    rank_of = {text: rank for rank, text in enumerate(ordered)}
    ranks = np.array([*map(rank_of.__getitem__, texts), -1], dtype=np.int32)
    return replace(categories, codes=ranks[categories.codes], categories=tuple(ordered))


def _warn_about_others(column: Column, known: Collection[str]) -> None:
    """Warn of a column of numbers or booleans that no known text can be equal to."""
    kinds = {"numbers"}
    if isinstance(column, CategoricalColumn):
        kinds = {*map(kind_of_text, map(str, itertools.islice(column.categories, _N_FIRST)))}
    if "texts" in kinds or any(kind_of_text(text) in kinds for text in known):
        return
    warnings.warn(
        f"Column {column.name!r} holds only {listed(sorted(kinds))}, but the model compares it "
        f"with {shown(min(known))}: no cell is equal to that. Convert the column to texts of the "
        "training table.",
        stacklevel=2,
    )


def kind_of_text(text: str) -> str:
    """Return a word for what a text is read as."""
    return "booleans" if text.lower() in _TRUTHS else "numbers" if _is_number(text) else "texts"


def loses_zeros(text: str) -> bool:
    """Return whether a text is a number that is written in another way than numbers are."""
    return _is_number(text) and str(plain_number("", float(text))) != text


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def date_part(name: str, column: Column, part: str) -> Column:
    """Return the years, months, days, weekdays or hours of a column of dates."""
    column = with_dates(column)
    if not isinstance(column, TimeColumn) or not is_comparable(column.kind, "date"):
        if column.missing.all():
            return NumericColumn(name, np.full(len(column.missing), np.nan))
        raise TypeError(
            f"Column {column.name!r} must hold dates to have {part}s. Got {column_words(column)}. "
            "Convert it to dates."
        )
    parts = part_codes(column.values, part)
    if part not in NAMES_OF_PARTS:
        return NumericColumn(name, parts)
    codes = np.where(np.isnan(parts), -1, parts).astype(np.int32)
    names = NAMES_OF_PARTS[part]
    categories = tuple(sorted(names))
    ranks = np.array([*map(categories.index, names), -1], dtype=np.int32)
    return CategoricalColumn(
        name, ranks[codes], categories, order=names, is_ordered=part == "month"
    )


def column_words(column: Column) -> str:
    """Return a word for the values of a column."""
    if isinstance(column, TimeColumn):
        return {"time": "times of day", "duration": "durations"}.get(column.kind, "dates")
    if column.is_text:
        return "strings"
    is_boolean = isinstance(column, CategoricalColumn) and feature_kind(column) == "boolean"
    return "booleans" if is_boolean else "numbers"


def example_of_text(column: Column) -> str:
    """Return words with a text that is no number, if the column has one, and rather no date."""
    texts = column.categories if isinstance(column, CategoricalColumn) else ()
    odd = [each for each in texts if isinstance(each, str) and not _is_number(each)]
    odd.sort(key=lambda each: iso_counts([each]) is not None)
    return f", such as {odd[0]!r}" if odd else ""


def is_present(cell: Any) -> bool:
    """Return whether a cell has a value: it is not None, NaN or NA."""
    if cell is None:
        return False
    if isinstance(cell, TYPES_WITH_NAN):
        return bool(cell == cell)
    if isinstance(cell, np.datetime64 | np.timedelta64):
        return not np.isnat(cell)
    # pandas.NA and pandas.NaT, recognised without importing pandas.
    return type(cell).__name__ not in ("NAType", "NaTType")


def plain_number(name: str, cell: Any) -> int | float:
    """Return a number that is a category as an int if it is whole."""
    # Integers that share a column with missing values arrive as floats; both
    # spellings are the same category.
    if isinstance(cell, Integral):
        return int(cell)
    number = float(cell)
    if np.isinf(number):
        raise ValueError(infinity_message(name))
    return int(number) if number.is_integer() else number


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written to."""
    # A view, so that the user's own array stays writeable.
    array = array.view()
    array.flags.writeable = False
    return array


def infinity_message(name: str) -> str:
    """Return the message for infinite numbers."""
    return (
        f"Column {name!r} contains infinity, but numbers must be finite. "
        "Replace it by a finite value or by NaN (missing)."
    )
