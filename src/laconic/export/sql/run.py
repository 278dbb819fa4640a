"""Exports to SQL, run on rows in the databases that Python brings along."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from laconic._optional import import_extra
from laconic.data.times import MOMENTS
from laconic.export.edge_rows import Outputs
from laconic.export.portable import PortableModel

TABLE = "edge"
KEY = "number"

_DUCKDB_TYPES = {
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "text": "VARCHAR",
    "date": "TIMESTAMP",
    "time": "TIME",
    "any": "DOUBLE",
}


def column_names(portable: PortableModel) -> dict[str, str]:
    """Name the columns of the table of rows; a database may not tell names by their case."""
    return {name: f"column {position}" for position, name in enumerate(portable.kinds)}


def run_sqlite(portable: PortableModel, select: str, rows: Sequence[dict[str, Any]]) -> Outputs:
    """Run a SELECT with the key and a column per rule in SQLite."""
    names = column_names(portable)
    declared = ", ".join([KEY, *(f'"{name}"' for name in names.values())])
    marks = ", ".join("?" * (len(names) + 1))
    cells = [
        [number, *(_sqlite_cell(row[name]) for name in names)] for number, row in enumerate(rows)
    ]
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE {TABLE} ({declared})")
        connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", cells)
        return select_outputs(portable, connection.execute(f"{select} ORDER BY 1"))
    finally:
        connection.close()


def _sqlite_cell(cell: Any) -> Any:
    return str(cell) if isinstance(cell, MOMENTS) else cell


def run_duckdb(portable: PortableModel, select: str, rows: Sequence[dict[str, Any]]) -> Outputs:
    """Run a SELECT with the key and a column per rule in DuckDB."""
    types = {name: _DUCKDB_TYPES[kind] for name, kind in portable.kinds.items()}
    names = column_names(portable)
    declared = ", ".join(f'"{names[name]}" {types[name]}' for name in names)
    lists = [list(range(len(rows))), *([row[name] for row in rows] for name in names)]
    marks = ", ".join(f"unnest(?::{kind}[])" for kind in ("INTEGER", *types.values()))
    with import_extra("duckdb", "sql", "To run SQL in DuckDB").connect() as connection:
        connection.execute(f"CREATE TABLE {TABLE} ({KEY} INTEGER, {declared})")
        connection.execute(f"INSERT INTO {TABLE} SELECT {marks}", lists)
        return select_outputs(portable, connection.execute(f"{select} ORDER BY 1").fetchall())


def select_outputs(portable: PortableModel, fetched: Iterable[Sequence[Any]]) -> Outputs:
    """Arrange rows that end in raw predictions, rules, probabilities and the prediction."""
    n_classes, n_rules = len(portable.ensemble.outputs), portable.ensemble.n_rules
    n_shares, results = n_classes or int(portable.classes is not None), list(fetched)

    def numbers(n: int, n_after: int) -> Any:
        found = [row[-n_after - n : -n_after] for row in results]
        return np.array(found, dtype=float).reshape(len(results), n)

    raw = numbers(n_classes or 1, n_rules + n_shares + 1)
    shares = numbers(n_shares, 1)
    return Outputs(
        raw if n_classes else raw[:, 0],
        np.array([row[-1] for row in results]),
        None if not n_shares else shares if n_classes else shares[:, 0],
        numbers(n_rules, n_shares + 1).astype(bool),
    )
