"""Predictions for single rows, without arrays, which cost more than they save there.

A `RowPlan` has the terms of an ensemble as functions of plain values. It takes rows that need no
conversion, warning or error; all others are read by columns. The operations are those of columns,
in the same order, so that predictions are the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from laconic._util.types import Floats
from laconic.tables.columns import LARGEST_EXACT, kind_of_text
from laconic.tables.tables import Table
from laconic.tables.times import kind_of, microseconds
from laconic.terms.conditions import Condition, Query
from laconic.terms.slopes import Slope

if TYPE_CHECKING:
    from laconic.terms.rules import RuleEnsemble, Term

Cell: TypeAlias = float | str
"""A number, the microseconds of a date, a text, or NaN if it is missing."""
Cells: TypeAlias = Sequence[Any]
"""One `Cell` per feature."""

# Of these, nothing but their value matters.
_NUMBERS = {float, int, bool, np.float64, np.int64, np.bool_}


class RowPlan:
    """Terms as functions of the cells of a row."""

    def __init__(self, ensemble: RuleEnsemble) -> None:
        compared = ensemble.compared_values
        self._features = [*dict.fromkeys(name for term in ensemble for name in term.features)]
        self._readers = [_reader(compared.get(name, ())) for name in self._features]
        places = {name: place for place, name in enumerate(self._features)}
        self._terms = [
            (term.output, term.weight, _value_function(term, places)) for term in ensemble
        ]
        self._intercepts = ensemble.intercepts
        self._has_outputs = bool(ensemble.outputs)

    def read(self, table: Table) -> list[Cell] | None:
        """Return the cells of a table of one row; None if it has to be read by columns."""
        row = table.row(self._features)
        if row is None:
            return None
        cells: list[Cell] = []
        for cell, read in zip(row, self._readers, strict=True):
            plain = read(cell)
            if plain is None:
                return None
            cells.append(plain)
        return cells

    def raw_predictions(self, table: Table) -> Floats | None:
        """Return the raw predictions of a table of one row; None if it is read by columns."""
        cells = self.read(table)
        if cells is None:
            return None
        sums = [*self._intercepts]
        for output, weight, value in self._terms:
            sums[output] += weight * value(cells)
        return np.array([sums] if self._has_outputs else sums)


def _reader(compared: Collection[Any]) -> Callable[[Any], Cell | None]:
    """Return a function of a cell; it returns None for cells that have to be read by columns.

    That depends on what the cells are compared with.
    """
    if not compared:
        return _read_any
    if all(isinstance(value, str) for value in compared):
        return partial(_read_text, {"texts", *map(kind_of_text, compared)})
    if all(isinstance(value, float | int) and abs(value) < LARGEST_EXACT for value in compared):
        return _read_number
    if all(kind_of(value) in ("date", "datetime") for value in compared):
        return _read_date
    # Other times, and numbers that float64 may round.
    return lambda cell: None


def _read_number(cell: Any) -> float | None:
    if type(cell) in _NUMBERS:
        if -LARGEST_EXACT < cell < LARGEST_EXACT:
            return float(cell)
        return math.nan if cell != cell else None
    return math.nan if cell is None else None


def _read_date(cell: Any) -> float | None:
    # pandas.NaT is a date to Python.
    if _is_missing(cell) or type(cell).__name__ == "NaTType":
        return math.nan
    # Time zones, and nanoseconds of pandas, are for columns.
    is_plain = getattr(cell, "tzinfo", None) is None and not getattr(cell, "nanosecond", 0)
    return _read_number(microseconds(cell)) if is_plain and isinstance(cell, date) else None


def _read_text(kinds: Collection[str], cell: Any) -> Cell | None:
    if type(cell) is str:
        # There is a warning about others.
        return cell if kind_of_text(cell) in kinds else None
    return math.nan if _is_missing(cell) else None


def _is_missing(cell: Any) -> bool:
    return cell is None or (type(cell) is float and cell != cell)


def _read_any(cell: Any) -> Cell | None:
    return cell if type(cell) is str else _read_number(cell)


def _value_function(term: Term, places: Mapping[str, int]) -> Callable[[Cells], float]:
    """Return a function that computes the value of a term; see `RuleEnsemble.values`."""
    if isinstance(term, Slope):
        return _slope_function(term, places[term.feature])
    return _query_function(term.query, places)


def _query_function(query: Query, places: Mapping[str, int]) -> Callable[[Cells], float]:
    tests = [(places[each.feature], _test(each)) for each in query]

    def value(cells: Cells) -> float:
        for place, test in tests:
            if not test(cells[place]):
                return 0.0
        return 1.0

    return value


def _test(condition: Condition) -> Callable[[Any], bool]:
    """Return a function that checks whether a cell satisfies a condition."""
    compared: Any = condition.value
    if kind_of(compared):
        compared = microseconds(compared)
    values = frozenset(compared if isinstance(compared, tuple) else (compared,))
    match condition.relation:
        case "<=":
            return lambda cell: cell <= compared
        case ">":
            return lambda cell: cell > compared
        case "==" | "in":
            return values.__contains__
        case "!=" | "not in":
            # NaN is not equal to itself.
            return lambda cell: cell == cell and cell not in values
        case "is missing":
            return lambda cell: cell != cell
    return lambda cell: cell == cell


def _slope_function(slope: Slope, place: int) -> Callable[[Cells], float]:
    lower, upper = slope.ends
    unit, missing = slope.unit, slope.missing_number

    def value(cells: Cells) -> float:
        number = cells[place]
        if number != number:
            number = missing
        return float((min(max(number, lower), upper) - lower) / unit)

    return value
