"""Conditions as plain values: `Proposition` and `Query`.

A proposition is one condition on one feature, a query a conjunction of
propositions. Both are immutable, hashable and equal by value; they evaluate
themselves on any table and print as a person would write them. Here are also the
checks that they share with the rules made of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from laconic.data.columns import CategoricalColumn, Category, Column, NumericColumn
from laconic.data.tables import as_table
from laconic.model.formatting import format_conditions, format_name, format_value

THRESHOLD_RELATIONS = ("<=", ">")
VALUE_RELATIONS = ("==", "!=")
MISSING_RELATIONS = ("is missing", "is present")
RELATIONS = THRESHOLD_RELATIONS + VALUE_RELATIONS + MISSING_RELATIONS

# A float is a Real, but to ask for it first is ten times faster.
NUMBERS = (float, Real)


@dataclass(frozen=True, slots=True, repr=False)
class Proposition:
    """One condition on one feature.

    Parameters
    ----------
    feature : str
        Name of the column.
    relation : {"<=", ">", "==", "!=", "is missing", "is present"}
        The first two compare with a threshold, the next two with a value, the
        last two need neither.
    value : float, int, str, bool or None, default=None
        Threshold or value to compare with.

    Notes
    -----
    A missing value fulfils no comparison, not even ``!=``; ``is missing`` and
    ``is present`` are the conditions about that.

    Strings compare with strings, numbers with numbers, and booleans are the numbers
    0 and 1, as in Python: a condition learned from a boolean column holds for
    the same rows after they were saved as 0 and 1. Comparing a string with a
    number is an error, except in a column without any value, which fits every
    condition and fulfils no comparison.

    Examples
    --------
    >>> X = [[35], [None], [20], [28]]
    >>> Proposition("x0", "<=", 30).covered(X)
    array([False, False,  True,  True])
    >>> Proposition("x0", "<=", 30)
    <Proposition: x0 <= 30>
    >>> print(Proposition("x0", "!=", "São Paulo"))
    x0 != 'São Paulo'
    """

    feature: str
    relation: str
    value: Category | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.feature, str):
            raise TypeError(
                "The 'feature' of a Proposition must be a str. "
                f"Got {self.feature!r} instead. Pass the name of a column."
            )
        if self.relation not in RELATIONS:
            allowed = ", ".join(map(repr, RELATIONS))
            raise ValueError(
                f"The 'relation' of a Proposition must be one of {allowed}. "
                f"Got {self.relation!r} instead."
            )
        object.__setattr__(self, "value", _checked_value(self.relation, self.value))

    def covered(self, X: Any) -> NDArray[np.bool_]:
        """Mask of the rows that fulfil the condition.

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

    def covered_in(self, column: Column) -> NDArray[np.bool_]:
        """Mask of the rows of a column that fulfil the condition.

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
        if column.is_text != isinstance(self.value, str):
            return self._covered_in_other_kind(column)
        if self.relation in THRESHOLD_RELATIONS:
            numbers, threshold = _numbers(column), cast(float, self.value)
            return numbers <= threshold if self.relation == "<=" else numbers > threshold
        equal = _equal(column, self.value)
        return equal if self.relation == "==" else ~equal & ~column.missing

    def _covered_in_other_kind(self, column: Column) -> NDArray[np.bool_]:
        missing = column.missing
        if not missing.all():
            needed, got = _kind_of_value(self.value), _kind_of_column(column)
            raise TypeError(
                f"The condition '{self}' needs a column of {needed}. Column {self.feature!r} "
                f"holds {got}. Convert the column to {needed}."
            )
        return np.zeros(len(missing), dtype=bool)

    def __str__(self) -> str:
        name = format_name(self.feature)
        if self.value is None:
            return f"{name} {self.relation}"
        return f"{name} {self.relation} {format_value(self.value)}"

    def __repr__(self) -> str:
        return f"<Proposition: {self}>"


@dataclass(frozen=True, slots=True, repr=False)
class Query:
    """Conjunction of propositions; ``Query()`` is always true.

    Parameters
    ----------
    propositions : tuple of Proposition, default=()
        The conditions, all of which must hold.

    Examples
    --------
    >>> query = Query((Proposition("PS", ">", 100), Proposition("PS", "<=", 180)))
    >>> print(query)
    100 < PS <= 180
    >>> print(Query())
    always
    """

    propositions: tuple[Proposition, ...] = ()

    def __post_init__(self) -> None:
        set_checked_tuple(self, "propositions", Proposition)

    def covered(self, X: Any) -> NDArray[np.bool_]:
        """Mask of the rows that fulfil every condition.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            As for `Proposition.covered`.

        Returns
        -------
        covered : ndarray of shape (n_rows,), dtype bool
            True where all conditions hold.
        """
        table = as_table(X)
        return all_of((p.covered(table) for p in self.propositions), table.n_rows)

    def __len__(self) -> int:
        return len(self.propositions)

    def __iter__(self) -> Iterator[Proposition]:
        return iter(self.propositions)

    def __str__(self) -> str:
        return " & ".join(format_conditions(self.propositions)) or "always"

    def __repr__(self) -> str:
        return f"<Query: {self}>"


def by_feature(propositions: Iterable[Proposition]) -> dict[str, list[Proposition]]:
    """Group conditions by the feature that they are about."""
    grouped: dict[str, list[Proposition]] = {}
    for proposition in propositions:
        grouped.setdefault(proposition.feature, []).append(proposition)
    return grouped


def all_of(masks: Iterable[NDArray[np.bool_]], n_rows: int) -> NDArray[np.bool_]:
    """Mask of the rows that all masks have in common."""
    return reduce(np.logical_and, masks, np.ones(n_rows, dtype=bool))


def finite_float(name: str, owner: str, number: Any) -> float:
    """Check a number of a plain value, and make a float of it."""
    if isinstance(number, bool) or not isinstance(number, NUMBERS):
        raise TypeError(f"The {name!r} of a {owner} must be a number. Got {number!r} instead.")
    if not math.isfinite(number):
        raise ValueError(
            f"The {name!r} of a {owner} must be a finite number. Got {number!r} instead."
        )
    # Adding 0 turns -0.0 into 0.0, so that equal values print alike.
    return float(number) + 0.0


def set_checked_tuple(owner: object, name: str, item_type: type) -> None:
    """Make a tuple of the items of a plain value, all of one type."""
    items = tuple(getattr(owner, name))
    for item in items:
        if not isinstance(item, item_type):
            raise TypeError(
                f"The {name!r} of a {type(owner).__name__} must be {item_type.__name__} objects. "
                f"Got {item!r} among them."
            )
    object.__setattr__(owner, name, items)


def _checked_value(relation: str, value: Any) -> Category | None:
    if relation in MISSING_RELATIONS:
        if value is not None:
            raise ValueError(
                f"The 'value' of a Proposition with relation {relation!r} must be None. "
                f"Got {value!r} instead."
            )
        return None
    if relation in VALUE_RELATIONS:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, Integral):
            return int(value)
    required = "a number" if relation in THRESHOLD_RELATIONS else "a str, a bool or a number"
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        raise TypeError(
            f"The 'value' of a Proposition with relation {relation!r} must be {required}. "
            f"Got {value!r} instead. For missing values, use 'is missing' or 'is present'."
        )
    return finite_float("value", "Proposition", value)


def _numbers(column: Column) -> NDArray[np.float64]:
    if isinstance(column, NumericColumn):
        return column.values
    # Code -1 means missing and picks the last entry.
    return np.array((*column.categories, np.nan), dtype=np.float64)[column.codes]


def _equal(column: Column, value: Any) -> NDArray[np.bool_]:
    equal: NDArray[np.bool_]
    if isinstance(column, NumericColumn):
        equal = column.values == float(value)
    elif value in column.categories:
        equal = column.codes == column.categories.index(value)
    else:
        equal = np.zeros(len(column.codes), dtype=bool)
    return equal


def _kind_of_value(value: Category | None) -> str:
    if isinstance(value, str):
        return "strings"
    return "booleans" if isinstance(value, bool) else "numbers"


def _kind_of_column(column: Column) -> str:
    if isinstance(column, CategoricalColumn):
        return _kind_of_value(next(iter(column.categories), None))
    return "numbers"
