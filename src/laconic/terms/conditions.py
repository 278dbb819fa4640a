"""Conditions as plain values: `Condition` and `Query`.

A condition is a test of one feature, a query a conjunction of conditions. Both are immutable,
hashable and equal by value; they evaluate themselves on any table and print as a person would write
them. Checks that they share with rules are here as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from laconic._util.types import Bools, Floats
from laconic._util.words import listed
from laconic.tables.columns import (
    Category,
    Column,
    NumericColumn,
    TimeColumn,
    column_words,
    example_of_text,
    loses_zeros,
    with_dates,
)
from laconic.tables.tables import as_table
from laconic.tables.times import MOMENTS, Moment, is_comparable, kind_of, microseconds, plain_moment
from laconic.terms.formatting import format_condition, format_conditions

THRESHOLD_RELATIONS = ("<=", ">")
VALUE_RELATIONS = ("==", "!=")
SET_RELATIONS = ("in", "not in")
MISSING_RELATIONS = ("is missing", "is present")
RELATIONS = THRESHOLD_RELATIONS + VALUE_RELATIONS + SET_RELATIONS + MISSING_RELATIONS

Value: TypeAlias = Category | Moment | tuple[Category, ...]

# A float is a Real, but the check for float is ten times faster.
NUMBERS = (float, Real)


@dataclass(frozen=True, slots=True, repr=False)
class Condition:
    """One condition on one feature.

    Parameters
    ----------
    feature : str
        Name of the column.
    relation : {"<=", ">", "==", "!=", "in", "not in", "is missing", "is present"}
        The first two compare with a threshold, the next two with a value, "in" and "not in" with a
        set of values; the last two need no value.
    value : float, int, str, bool, date, datetime, time, timedelta, tuple or None, default=None
        Threshold, value or values to compare with.

    Notes
    -----
    A missing value satisfies no comparison, not even ``!=`` or ``not in``; ``is missing`` and
    ``is present`` test for missing values. A value that did not occur in training is in no set, so
    that it satisfies ``!=`` and ``not in``.

    Strings compare with strings, numbers with numbers, and booleans are the numbers
    0 and 1, as in Python: a condition learned from a boolean column holds for
    the same rows after they were saved as 0 and 1. Dates compare with dates, and with strings such
    as 2024-03-01; a date stands for midnight at its start when it is compared with a date and time.
    Comparing a string with a number is an error, except in a column without any value, which fits
    every condition and satisfies no comparison. Models convert columns before they compare them:
    numbers in texts such as "35" to numbers, and numbers to texts.

    Examples
    --------
    >>> from datetime import date
    >>> X = [[35], [None], [20], [28]]
    >>> Condition("x0", "<=", 30).covered(X)
    array([False, False,  True,  True])
    >>> Condition("x0", "<=", 30)
    <Condition: x0 <= 30>
    >>> print(Condition("x0", "!=", "São Paulo"))
    x0 != 'São Paulo'
    >>> print(Condition("x0", ">", date(2024, 3, 1)))
    x0 > 2024-03-01
    >>> print(Condition("x0", "in", ("b", "a")))
    x0 in {a, b}
    """

    feature: str
    relation: str
    value: Value | None = None

    def __post_init__(self) -> None:
        if (
            type(self.value) is float
            and self.relation in THRESHOLD_RELATIONS
            and type(self.feature) is str
            and 0.0 < abs(self.value) < math.inf
        ):
            return  # the most frequent kind, of which there may be a million
        if not isinstance(self.feature, str):
            raise TypeError(
                "The 'feature' of a Condition must be a str. "
                f"Got {self.feature!r} instead. Pass the name of a column."
            )
        if self.relation not in RELATIONS:
            allowed = ", ".join(map(repr, RELATIONS))
            raise ValueError(
                f"The 'relation' of a Condition must be one of {allowed}. "
                f"Got {self.relation!r} instead."
            )
        object.__setattr__(self, "value", _checked_value(self.relation, self.value))

    def covered(self, X: Any) -> Bools:
        """Mask of the rows that satisfy the condition.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Any table `as_table` accepts, with a column for `feature`; an array
            has the columns x0, x1, ...

        Returns
        -------
        covered : ndarray of shape (n_rows,), dtype bool
            True where the condition holds.
        """
        return self.covered_in(as_table(X).column(self.feature))

    def covered_in(self, column: Column) -> Bools:
        """Mask of the rows of a column that satisfy the condition.

        Parameters
        ----------
        column : NumericColumn or CategoricalColumn
            The column of `feature`.

        Returns
        -------
        covered : ndarray of shape (n_rows,), dtype bool
            True where the condition holds.
        """
        if self.relation == "is missing":
            return column.missing
        if self.relation == "is present":
            return ~column.missing
        if type(self.value) is float and type(column) is NumericColumn:
            if self.relation == "<=":
                return column.values <= self.value
            if self.relation == ">":
                return column.values > self.value
        if not _fits(column, self.value):
            column = with_dates(column) if kind_of(self.value) else column
            if not _fits(column, self.value):
                return self._covered_in_other_kind(column)
        if self.relation in THRESHOLD_RELATIONS:
            numbers, threshold = _numbers(column), _number(self.value)
            return numbers <= threshold if self.relation == "<=" else numbers > threshold
        values = self.value if isinstance(self.value, tuple) else (self.value,)
        covered = _equal(column, values)
        return covered if self.relation in ("==", "in") else ~covered & ~column.missing

    def _covered_in_other_kind(self, column: Column) -> Bools:
        missing = column.missing
        if not missing.all():
            needed = _kind_of_value(self.value)
            advice = f"Convert the column to {needed}."
            if needed == "strings" and column_words(column) == "numbers":
                values = self.value if isinstance(self.value, tuple) else (self.value,)
                if lossy := [value for value in values if loses_zeros(str(value))]:
                    advice = f"Read it as text: numbers do not keep the zeros of {lossy[0]!r}."
            raise TypeError(
                f"The condition '{self}' needs a column of {needed}. Column {self.feature!r} "
                f"holds {column_words(column)}{example_of_text(column)}. {advice}"
            )
        return np.zeros(len(missing), dtype=bool)

    def __str__(self) -> str:
        return format_condition(self)

    def __repr__(self) -> str:
        return f"<Condition: {self}>"


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """Conjunction of conditions; ``Query()`` is always true.

    Parameters
    ----------
    conditions : tuple of Condition, default=()
        The conditions, all of which must hold.

    Examples
    --------
    >>> query = Query((Condition("PS", ">", 100), Condition("PS", "<=", 180)))
    >>> print(query)
    100 < PS <= 180
    >>> print(Query())
    always
    """

    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        set_checked_tuple(self, "conditions", Condition)

    def covered(self, X: Any) -> Bools:
        """Mask of the rows that satisfy every condition.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            As for `Condition.covered`.

        Returns
        -------
        covered : ndarray of shape (n_rows,), dtype bool
            True where all conditions hold.
        """
        table = as_table(X)
        return all_of((each.covered(table) for each in self.conditions), table.n_rows)

    def __len__(self) -> int:
        return len(self.conditions)

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.conditions)

    def __str__(self) -> str:
        return " & ".join(format_conditions(self.conditions)) or "always"

    def __repr__(self) -> str:
        return f"<Query: {self}>"


def by_feature(conditions: Iterable[Condition]) -> dict[str, list[Condition]]:
    """Group conditions by feature."""
    grouped: dict[str, list[Condition]] = {}
    for condition in conditions:
        grouped.setdefault(condition.feature, []).append(condition)
    return grouped


def all_of(masks: Iterable[Bools], n_rows: int) -> Bools:
    """Return the mask of the rows that are in all masks."""
    return reduce(np.logical_and, masks, np.ones(n_rows, dtype=bool))


def finite_float(name: str, owner: str, number: Any) -> float:
    """Check that an attribute is a finite number, and convert it to float."""
    if isinstance(number, bool) or not isinstance(number, NUMBERS):
        raise TypeError(f"The {name!r} of a {owner} must be a number. Got {number!r} instead.")
    if not math.isfinite(number):
        raise ValueError(
            f"The {name!r} of a {owner} must be a finite number. Got {number!r} instead."
        )
    # Adding 0 turns -0.0 into 0.0, so that equal values print alike.
    return float(number) + 0.0


def set_checked_tuple(owner: object, name: str, *types: type) -> None:
    """Convert an attribute to a tuple, and check the types of its items."""
    items = tuple(getattr(owner, name))
    for item in items:
        if not isinstance(item, types):
            allowed = listed([each.__name__ for each in types], word="or")
            raise TypeError(
                f"The {name!r} of a {type(owner).__name__} must be {allowed} objects. "
                f"Got {item!r} among them."
            )
    object.__setattr__(owner, name, items)


def _checked_value(relation: str, value: Any) -> Value | None:
    if relation in MISSING_RELATIONS:
        if value is not None:
            raise ValueError(
                f"The 'value' of a Condition with relation {relation!r} must be None. "
                f"Got {value!r} instead."
            )
        return None
    if relation in SET_RELATIONS:
        return _checked_set(relation, value)
    if isinstance(value, MOMENTS):
        return plain_moment(value)
    if relation in VALUE_RELATIONS:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, Integral):
            return int(value)
    kinds = "a number" if relation in THRESHOLD_RELATIONS else "a str, a bool, a number"
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        raise TypeError(
            f"The 'value' of a Condition with relation {relation!r} must be {kinds}, a date or "
            f"a time. Got {value!r} instead. For missing values, use 'is missing' or 'is present'."
        )
    return finite_float("value", "Condition", value)


def _checked_set(relation: str, values: Any) -> tuple[Category, ...]:
    """Convert values to a sorted tuple without duplicates."""
    is_collection = isinstance(values, Iterable) and not isinstance(values, str)
    checked: set[Any] = {_checked_value("==", v) for v in values} if is_collection else set()
    are_texts = {isinstance(value, str) for value in checked}
    if len(are_texts) != 1 or any(isinstance(value, MOMENTS) for value in checked):
        raise ValueError(
            f"The 'value' of a Condition with relation {relation!r} must be a tuple of strings, "
            f"or of numbers. Got {values!r} instead."
        )
    # Booleans are numbers.
    return tuple(sorted(checked))


def _fits(column: Column, value: Value | None) -> bool:
    """Check whether the values of a column can be compared with a value."""
    kind = kind_of(value)
    if kind is not None or isinstance(column, TimeColumn):
        return isinstance(column, TimeColumn) and is_comparable(kind, column.kind)
    return column.is_text == _is_text(value)


def _is_text(value: Value | None) -> bool:
    return isinstance(value[0] if isinstance(value, tuple) else value, str)


def _number(value: Any) -> float:
    return microseconds(value) if kind_of(value) else float(value)


def _numbers(column: Column) -> Floats:
    if isinstance(column, NumericColumn):
        return column.values
    # Code -1 means missing and picks the last entry.
    return np.array((*column.categories, np.nan), dtype=np.float64)[column.codes]


def _equal(column: Column, values: tuple[Any, ...]) -> Bools:
    if isinstance(column, NumericColumn):
        numbers = [*map(_number, values)]
        if len(numbers) == 1:
            equal: Bools = column.values == numbers[0]
            return equal
        return np.isin(column.values, numbers)
    codes = [code for code, category in enumerate(column.categories) if category in values]
    # The last entry is for code -1.
    is_equal = np.zeros(len(column.categories) + 1, dtype=bool)
    is_equal[codes] = True
    return is_equal[column.codes]


def _kind_of_value(value: Value | None) -> str:
    kind = kind_of(value)
    if kind is not None:
        return {"time": "times of day", "duration": "durations"}.get(kind, "dates")
    if _is_text(value):
        return "strings"
    return "booleans" if isinstance(value, bool) else "numbers"
