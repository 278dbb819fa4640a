"""What DuckDB does itself: count the values of columns, and group rows by their cells.

The SQL says the same as `FeatureCells.codes` and `Units.count`, so that keys and amounts are the
same whole numbers. Columns of other types than plain numbers, texts and booleans, and those with
very many values, are left to be read in parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.data.cells import array_column
from laconic.data.columns import CategoricalColumn, Column
from laconic.data.sources import DuckDBSource, TableSource, quoted_name, quoted_text
from laconic.reduction.cells import CHANGED, FeatureCells
from laconic.reduction.roles import Roles
from laconic.reduction.rows import Plan, ReducedRows
from laconic.reduction.summary import MAX_CATEGORIES, ColumnSummary, column_summary
from laconic.reduction.sums import Integers, Units, added_up
from laconic.reduction.values import MAX_RANGES

NUMBERS = {
    *("DOUBLE", "FLOAT", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
}
# Longer lists of cases take longer than reading.
MAX_CASES = 64
# Powers of two beyond are no numbers of their own.
_MAX_EXPONENT = 1000


class Pushed:
    """Queries of a relation of DuckDB."""

    def __init__(self, source: DuckDBSource, roles: Roles) -> None:
        self.roles, self.types = roles, source.types
        self.relation = source.relation
        self.weight = " * ".join(map(self._value, reversed(roles.weight_columns))) or None
        if self.weight is not None:
            self.relation = self.relation.filter(f"{self.weight} > 0")

    @classmethod
    def of(cls, source: TableSource, roles: Roles) -> Pushed | None:
        """Tell what does the work, where anything does."""
        if not isinstance(source, DuckDBSource) or roles.class_factors is not None:
            return None
        if any(source.types[name] not in NUMBERS for name in roles.weight_columns):
            return None
        units = roles.weight_units
        return None if units is not None and not _has_powers(units) else cls(source, roles)

    def _weights(self) -> str:
        """Write SQL for what rows count."""
        if self.weight is None or self.roles.weight_units is None:
            return "count(*)"
        return _unit_sums(f"({self.weight})", self.roles.weight_units)

    def columns(self) -> dict[str, ColumnSummary]:
        """Look at columns, as far as they have few values."""
        known = [name for name in self.roles.features if self._is_plain(name)]
        if not known:
            return {}
        numbers = ", ".join(f"approx_count_distinct({quoted_name(name)})" for name in known)
        [counts] = self.relation.aggregate(numbers).fetchall()
        # The numbers are approximate.
        few = {name for name, count in zip(known, counts, strict=True) if count < MAX_RANGES // 2}
        return {name: self._column(name) for name in known if name in few}

    def _is_plain(self, name: str) -> bool:
        return self.types[name] in {*NUMBERS, "VARCHAR", "BOOLEAN"}

    def _column(self, name: str) -> ColumnSummary:
        value = quoted_name(name)
        if self.types[name] in NUMBERS:
            value = f"CAST({value} AS DOUBLE)"
        found = _rows(self.relation.aggregate(f"{value}, count(*), {self._weights()}", value))
        values, n_rows = [row[0] for row in found], np.array([row[1] for row in found])
        amounts = np.array([row[2:] for row in found], dtype=np.int64)
        column = self._make_column(name, values)
        amounts = amounts.reshape(len(found), self.roles.n_weight_amounts)
        summary = column_summary(column, None, amounts)
        n_missing = int(n_rows[column.missing].sum())
        return replace(summary, n_missing=n_missing, n_rows=int(n_rows.sum()))

    def _make_column(self, name: str, values: list[Any]) -> Column:
        if self.types[name] in NUMBERS:
            return array_column(name, np.array(values, dtype=np.float64))
        if self.types[name] == "BOOLEAN":
            codes = np.array([-1 if value is None else int(value) for value in values])
            return CategoricalColumn(name, codes.astype(np.int32), (False, True))
        categories = tuple(sorted(value for value in values if value is not None))
        code_of = {category: code for code, category in enumerate(categories)}
        codes = np.array([code_of.get(value, -1) for value in values], dtype=np.int32)
        return CategoricalColumn(name, codes, categories)

    def reduced_rows(self, plan: Plan, n_rows: int) -> ReducedRows | None:
        """Group rows by their cells; None where that is left to be done in parts."""
        roles = plan.roles
        codes = [*map(self._codes, plan.cells.features)]
        if roles.kept == "classes":
            labels = tuple(plan.labels)
            codes.append(_cases(self._value(roles.target), labels, None, len(labels)))
            if not self._is_plain(roles.target):
                return None
        else:
            codes.append("0")
        amounts = [self._weights()]
        if roles.kept == "means":
            weighted = f"CAST({quoted_name(roles.target)} AS DOUBLE)"
            if roles.exposure is not None:
                weighted = f"{weighted} / {self._value(roles.exposure)}"
            if self.weight is not None:
                weighted = f"({weighted}) * ({self.weight})"
            if plan.target_units is None or not _has_powers(plan.target_units):
                return None
            amounts.append(_unit_sums(weighted, plan.target_units))
        if roles.kept == "values" or None in codes:
            return None
        keys = [*_key_terms(plan, codes)]
        names = [f"key{number}" for number in range(len(keys))]
        projected = ", ".join(f"{key} AS {name}" for key, name in zip(keys, names, strict=True))
        query = f"SELECT {', '.join([*names, *amounts])} FROM (SELECT *, {projected} FROM here)"
        grouped = self.relation.query("here", f"{query} GROUP BY {', '.join(names)}")
        return _as_rows(plan, grouped, len(keys), n_rows)

    def _value(self, name: str) -> str:
        is_number = self.types[name] in NUMBERS
        return f"CAST({quoted_name(name)} AS DOUBLE)" if is_number else quoted_name(name)

    def _codes(self, cells: FeatureCells) -> str | None:
        """Write SQL for the cell of a row; None where there are too many."""
        if not cells.is_used:
            return "0"
        if not self._is_plain(cells.name) or len(cells) > MAX_CASES or cells.time_kind is not None:
            return None
        value, missing = self._value(cells.name), len(cells) - 1
        if cells.categories is not None:
            return _cases(value, cells.categories, missing, missing)
        if self.types[cells.name] not in NUMBERS:
            return None
        # The statistics of Parquet files know of no NaN, and DuckDB takes isnan for false by them.
        above = [f"CAST({value} > {_number(each)} AS BIGINT)" for each in cells.thresholds]
        return (
            f"CASE WHEN {value} IS NULL OR NOT isfinite({value}) THEN {missing} "
            f"ELSE {' + '.join(above) or '0'} END"
        )


def _key_terms(plan: Plan, codes: list[str | None]) -> Iterator[str]:
    """Write SQL for the numbers of a key, as `TableCells.keys` writes them."""
    sizes = plan.cells.sizes
    for word in plan.cells.words:
        term = "CAST(0 AS BIGINT)"
        for position in word:
            term = f"({term} * {sizes[position]} + ({codes[position]}))"
        yield term


def _cases(value: str, values: tuple[Any, ...], missing: int | None, n_most: int) -> str | None:
    """Write SQL for the position of a value; NULL for others than those that are known."""
    if n_most > MAX_CASES:
        return None
    known = " ".join(
        f"WHEN {value} = {_literal(each)} THEN {position}" for position, each in enumerate(values)
    )
    if missing is not None:
        known = f"WHEN {value} IS NULL THEN {missing} {known}"
    return f"CASE {known} ELSE NULL END" if known else None


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return quoted_text(value)
    return _number(float(value))


def _number(value: float) -> str:
    return f"CAST('{value!r}' AS DOUBLE)"


def _has_powers(units: Units) -> bool:
    return units.fine > -_MAX_EXPONENT and units.coarse < _MAX_EXPONENT


def _unit_sums(term: str, units: Units) -> str:
    """Write SQL for `Units.count`, added up."""
    coarse = f"round_even({term} * {_number(2.0**-units.coarse)}, 0)"
    rest = f"({term} - {coarse} * {_number(2.0**units.coarse)}) * {_number(2.0**-units.fine)}"
    return ", ".join(
        f"CAST(sum(CAST({each} AS BIGINT)) AS BIGINT)"
        for each in (coarse, f"round_even({rest}, 0)")
    )


def _rows(relation: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = relation.limit(MAX_RANGES + MAX_CATEGORIES).fetchall()
    return rows


def _as_rows(plan: Plan, grouped: Any, n_keys: int, n_rows: int) -> ReducedRows:
    columns: list[NDArray[Any]] = [*grouped.fetchnumpy().values()]
    if any(np.ma.is_masked(column) for column in columns):
        raise ValueError(CHANGED.format(plan.roles.target))
    numbers: Integers = np.column_stack([np.asarray(each, dtype=np.int64) for each in columns])
    keys, amounts = np.ascontiguousarray(numbers[:, :n_keys]), numbers[:, n_keys:]
    return ReducedRows(plan, *added_up(keys, amounts), n_rows)
