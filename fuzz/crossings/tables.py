"""Small tables for all values of the factors: plain cells, and the same as tables of libraries."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

import laconic
from fuzz.crossings.factors import CLASSES, IN_PARTS

N_ROWS = 40
NAMES = ("x0", "x1", "x2")
COLOURS = ("blue", "green", "red", "yellow")
# In the order of the alphabet, so that tables without ordered categories know it, too.
GRADES = ("a low", "b mid", "c high", "d top")
ROWS_PER_PART = 16

Cells = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Rows:
    """Cells by column, None where there is none, with what belongs to each row."""

    cells: Cells
    y: np.ndarray
    sample_weight: np.ndarray | None
    exposure: np.ndarray | None

    def __len__(self) -> int:
        return len(self.y)

    def repeated(self) -> Rows:
        """Write rows of weight two twice, and leave out those without weight."""
        weights = self.sample_weight
        assert weights is not None
        times = np.repeat(np.arange(len(self)), weights.astype(int))
        return Rows(
            {name: [cells[row] for row in times] for name, cells in self.cells.items()},
            self.y[times],
            None,
            None if self.exposure is None else self.exposure[times],
        )


def make_rows(
    columns: str, loss: str, rows: str, seed: int, n_rows: int = N_ROWS, noise: float = 0.35
) -> Rows:
    """Make the rows of a problem; the target has something to do with all columns."""
    rng = np.random.default_rng([seed, 17])
    codes = [rng.integers(0, n, n_rows) for n in (5, 4, 4)]
    cells = {
        name: [cell(int(code)) for code in column]
        for name, cell, column in zip(NAMES, _CELLS[columns], codes, strict=True)
    }
    if columns in ("missing values", "categories", "dates"):
        for row in np.flatnonzero(rng.random(n_rows) < 0.15).tolist():
            cells["x2"][row] = None
    if columns == "missing values":
        for row in np.flatnonzero(rng.random(n_rows) < 0.1).tolist():
            cells["x0"][row] = None
    score = 0.25 * codes[0] + 0.5 * ((codes[1] > 1) & (codes[2] > 1)) - 0.3 * (codes[2] == 1)
    score = (score + noise * rng.normal(size=n_rows)).round(2)
    exposure = None
    if "exposure" in rows:
        exposure = rng.choice([0.5, 1.0, 1.5, 4.0], n_rows)
    weights = None
    if "sample_weight" in rows:
        weights = rng.choice([0.0, 1.0, 2.0, 3.0], n_rows)
        weights[:6] = 1.0  # among which is every class
    return Rows(cells, _target(loss, score, rng, exposure), weights, exposure)


def _target(
    loss: str, score: np.ndarray, rng: np.random.Generator, exposure: np.ndarray | None
) -> np.ndarray:
    amount = 1.0 if exposure is None else exposure
    if loss == "poisson":
        return rng.poisson(np.exp(score + 0.3) * amount).astype(float)
    if loss in ("gamma", "tweedie"):
        y = (np.exp(score) * rng.gamma(2.0, 0.5, len(score)) * amount).round(3) + 0.01
        return np.where(rng.random(len(score)) < 0.3, 0.0, y) if loss == "tweedie" else y
    if loss == "huber":
        return score + np.where(rng.random(len(score)) < 0.1, 7.0, 0.0)
    if loss not in CLASSES:
        return score
    names = np.array(["a", "b", "c"] if loss == "three classes" else ["no", "yes"])
    cuts = np.quantile(score, np.arange(1, len(names)) / len(names))
    y = np.searchsorted(cuts, score)
    y[: 2 * len(names)] = np.tile(np.arange(len(names)), 2)
    return names[y]


def _number(*values: float) -> Callable[[int], float]:
    return lambda code: values[code]


def _moment(code: int) -> datetime:
    # Saturdays and others, mornings and evenings.
    return datetime(2024, 3, 1) + timedelta(days=(0, 1, 8, 11)[code], hours=(7, 18, 7, 18)[code])


_PLAIN = _number(0.5, 1.5, 2.5, 3.5, 4.5), _number(-1.2, 0.3, 0.7, 2.4)
_CELLS: dict[str, tuple[Callable[[int], Any], ...]] = {
    "numbers": (*_PLAIN, _number(10.25, 11.5, 12.75, 20.0)),
    "missing values": (*_PLAIN, _number(10.25, 11.5, 12.75, 20.0)),
    "categories": (*_PLAIN, COLOURS.__getitem__),
    "categories='sets'": (*_PLAIN, COLOURS.__getitem__),
    "ordered categories": (*_PLAIN, GRADES.__getitem__),
    "dates": (*_PLAIN, lambda code: datetime(2024, 3, 1) + timedelta(days=3 * code)),
    "date_parts": (*_PLAIN, _moment),
    "sparse matrix": (
        _number(0.0, 0.0, 0.0, 1.5, 2.5),
        _number(0.0, 0.0, 0.0, 2.4),
        _number(0.0, 0.0, 3.0, 4.0),
    ),
    "conditions": (*_PLAIN, COLOURS.__getitem__),
    "integers and booleans": (int, lambda code: 10 * code, lambda code: code > 1),
}


def pandas_frame(cells: Cells) -> Any:
    """Make a data frame of pandas."""
    import pandas as pd

    columns = {}
    for name, values in cells.items():
        if GRADES[0] in values:
            columns[name] = pd.Categorical(values, GRADES, ordered=True)
        elif any(isinstance(value, datetime) for value in values):
            columns[name] = pd.to_datetime(pd.Series(values))
        else:
            columns[name] = pd.Series(values)
    return pd.DataFrame(columns)


def polars_frame(cells: Cells) -> Any:
    """Make a data frame of polars."""
    import polars as pl

    frame = pl.DataFrame({name: pl.Series(values) for name, values in cells.items()})
    grades = [name for name, values in cells.items() if GRADES[0] in values]
    return frame.with_columns(pl.col(name).cast(pl.Enum(GRADES)) for name in grades)


def array(cells: Cells) -> Any:
    """Make an array of numbers, or of objects where there are others."""
    columns = list(cells.values())
    if all(isinstance(cell, float | None) for column in columns for cell in column):
        return np.array(columns, dtype=float).T
    made = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        made[:, place] = column
    return made


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows as an estimator gets them."""

    X: Any
    y: Any
    sample_weight: Any
    exposure: Any

    def fit_arguments(self) -> dict[str, Any]:
        """List the arguments of `fit`, those that are given only."""
        given = {"sample_weight": self.sample_weight, "exposure": self.exposure}
        return {"X": self.X, "y": self.y} | {k: v for k, v in given.items() if v is not None}


def in_memory(rows: Rows, table: str, columns: str) -> Placed:
    """Put rows into a table in memory."""
    if columns == "sparse matrix":
        from scipy.sparse import csr_array

        X: Any = csr_array(array(rows.cells))
    else:
        X = {"pandas": pandas_frame, "polars": polars_frame, "NumPy": array}[table](rows.cells)
    return Placed(X, rows.y, rows.sample_weight, rows.exposure)


def in_parts(rows: Rows, table: str, folder: Path) -> tuple[Placed, Placed]:
    """Put rows where they are read in parts, and what is read there into memory."""
    roles = {"y": rows.y, "w": rows.sample_weight, "e": rows.exposure}
    given = {
        name: list(map(_plain, values)) for name, values in roles.items() if values is not None
    }
    source, frame = _SOURCES[table](rows.cells | given, folder)
    names = [name if name in given else None for name in ("y", "w", "e")]
    whole = Placed(
        frame[list(rows.cells)], *(None if name is None else _array(frame[name]) for name in names)
    )
    return Placed(source, *names), whole


def _plain(cell: Any) -> Any:
    return cell.item() if hasattr(cell, "item") else cell


def _array(column: Any) -> np.ndarray:
    values = column.to_numpy()
    return values.astype(str) if values.dtype.kind in ("O", "T") else values


def _files(cells: Cells, folder: Path, kind: str) -> tuple[Any, Any]:
    import polars as pl

    frame = polars_frame(cells)
    middle = len(frame) // 2
    paths = []
    for number, part in enumerate((frame[:middle], frame[middle:])):
        paths.append(folder / f"{number}.{kind}")
        getattr(part, f"write_{kind}")(paths[-1])
    return (
        laconic.scan(paths, rows_per_part=ROWS_PER_PART),
        pl.concat([getattr(pl, f"read_{kind}")(path) for path in paths]),
    )


def _duckdb(cells: Cells, folder: Path) -> tuple[Any, Any]:
    import duckdb

    # Old releases close a connection that nothing refers to, which the module itself does.
    relation = duckdb.from_arrow(polars_frame(cells).to_arrow())
    return relation, relation.pl()


def _dask(cells: Cells, folder: Path) -> tuple[Any, Any]:
    import dask
    import dask.dataframe as dd

    # One thread: others would outlive the case.
    dask.config.set(scheduler="synchronous")
    frame = dd.from_pandas(pandas_frame(cells), npartitions=2)
    return frame, frame.compute()


def _sqlite(cells: Cells, folder: Path) -> tuple[Any, Any]:
    import pandas as pd

    frame = pandas_frame(cells)
    for name, values in cells.items():
        if any(isinstance(value, datetime) for value in values):
            frame[name] = pd.Series([None if v is None else str(v) for v in values], dtype=object)
    path = folder / "rows.sqlite"
    connection = sqlite3.connect(path)
    try:
        frame.to_sql("rows", connection, index=False)
        read = pd.read_sql("SELECT * FROM rows", connection)
    finally:
        connection.close()
    return laconic.scan(path, rows_per_part=ROWS_PER_PART), read


_SOURCES: dict[str, Callable[[Cells, Path], tuple[Any, Any]]] = {
    "Parquet files": lambda cells, folder: _files(cells, folder, "parquet"),
    "CSV files": lambda cells, folder: _files(cells, folder, "csv"),
    "LazyFrame": lambda cells, _: (polars_frame(cells).lazy(), polars_frame(cells)),
    "DuckDB": _duckdb,
    "Dask": _dask,
    "SQLite": _sqlite,
}
assert set(_SOURCES) == set(IN_PARTS)


def other_cells(columns: str, seed: int, n_rows: int = 24) -> Cells:
    """Make rows that no model has seen, with values that are missing, unknown or far off."""
    cells = make_rows(columns, "squared", "plain", seed + 1000, n_rows).cells
    if columns == "sparse matrix":
        return cells
    rng = np.random.default_rng(seed)
    for name, values in cells.items():
        for row in np.flatnonzero(rng.random(n_rows) < 0.15).tolist():
            values[row] = None
        odd = _odd_cells(columns, name)
        for row, cell in zip(rng.permutation(n_rows).tolist(), odd, strict=False):
            values[row] = cell
    return cells


def _odd_cells(columns: str, name: str) -> Sequence[Any]:
    if columns == "integers and booleans":
        return () if name == "x2" else (-100, 7, 100)
    if name != "x2" or columns in ("numbers", "missing values"):
        return -100.0, 1.0, 100.0
    if columns in ("dates", "date_parts"):
        hours = 7 if columns == "date_parts" else 0
        return tuple(datetime(2024, 3, 1) + timedelta(days=day, hours=hours) for day in range(7))
    return () if columns == "ordered categories" else ("violet",)
