"""Tables that are read in parts, as often as needed, without ever being in memory as a whole.

`scan` makes a `TableSource` of files, of queries that polars, DuckDB or other databases run, and of
tables in memory.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from laconic._util.optional import import_extra
from laconic._util.words import listed_names
from laconic.tables.tables import as_table, unknown_column_message
from laconic.tables.times import DAY

ROWS_PER_PART = 500_000
"""Rows that are in memory at a time."""

# How Arrow keeps them.
_INTERVAL = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])

_NAME = r'(?:[\w$]+|"[^"]+"|`[^`]+`)'
_TABLE = re.compile(rf"{_NAME}(?:\.{_NAME})*")
DATABASES = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")


class TableSource(ABC):
    """A table that is read in parts."""

    rows_per_part: int = ROWS_PER_PART
    on_progress: Callable[[Any], Any] | None = None
    """Called with a `ReadProgress` after every part that a fit has read."""

    @property
    @abstractmethod
    def column_names(self) -> tuple[str, ...]:
        """Names of all columns."""

    @abstractmethod
    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts, each an eager frame of the given columns; the same every time.

        Parts may be of any size, also without any rows.
        """

    def looks(
        self,
        columns: Sequence[str],
        look: Callable[[Any], Any],
        merge: Callable[[Any, Any], Any],
    ) -> Iterator[tuple[int, Any]]:
        """Look at all parts: yield numbers of rows, and what was seen in them.

        Where parts are elsewhere, they are looked at there, and several looks may be merged.
        """
        for part in self.parts(columns):
            yield len(part), look(part)

    def joined(self, column: Any, role: str) -> tuple[TableSource, Any]:
        """Take in a column that is none of the table's, if it can be; else nothing changes."""
        return self, column

    @abstractmethod
    def is_integer(self, column: str) -> bool:
        """Tell whether the type of a column is that of whole numbers."""

    def narrowed(self, columns: Sequence[str], known: str) -> TableSource:
        """Leave out all other columns, and the rows where one of these is missing or NaN."""
        raise NotImplementedError

    def with_missing(self, texts: Sequence[str], columns: Sequence[str]) -> TableSource:
        """Take some texts for missing values in columns of texts, with or without blanks around."""
        raise NotImplementedError

    def __repr__(self) -> str:
        n_columns = len(self.column_names)
        return f"<{type(self).__name__}: {n_columns} columns ({listed_names(self.column_names)})>"

    def require(self, column: str, role: str) -> str:
        """Return the name of a column, or say which ones there are."""
        if column in self.column_names:
            return column
        message = unknown_column_message(column, self.column_names)
        raise ValueError(f"The {role} must be the name of a column. {message}")


class PolarsSource(TableSource):
    """A lazy frame of polars, which its streaming engine runs."""

    def __init__(self, frame: Any, rows_per_part: int = ROWS_PER_PART) -> None:
        self.frame, self.rows_per_part = frame, rows_per_part
        self._schema = frame.collect_schema()

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self._schema.names())

    def is_integer(self, column: str) -> bool:
        """Tell whether the type of a column is that of whole numbers."""
        return bool(self._schema[column].is_integer())

    def narrowed(self, columns: Sequence[str], known: str) -> TableSource:
        """Leave out all other columns, and the rows where one of these has no value."""
        frame = self.frame.select(columns).drop_nulls(known)
        if self._schema[known].is_float():
            frame = frame.drop_nans(known)
        return PolarsSource(frame, self.rows_per_part)

    def with_missing(self, texts: Sequence[str], columns: Sequence[str]) -> TableSource:
        """Take some texts for missing values in columns of texts."""
        import polars as pl

        cells = [pl.col(name) for name in columns if self._schema[name] == pl.String]
        known = [pl.when(~cell.str.strip_chars().is_in(list(texts))).then(cell) for cell in cells]
        return PolarsSource(self.frame.with_columns(known), self.rows_per_part)

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts."""
        yield from self.frame.select(columns).collect_batches(
            chunk_size=self.rows_per_part, maintain_order=True, engine="streaming"
        )


class DuckDBSource(TableSource):
    """A relation of DuckDB: a table, a query, files, or a table of a database that is attached."""

    def __init__(self, relation: Any, rows_per_part: int = ROWS_PER_PART) -> None:
        self._arrow = import_extra("pyarrow", "large", "Reading from DuckDB in parts")
        self.relation, self.rows_per_part = relation, rows_per_part
        self.types = dict(zip(relation.columns, map(str, relation.types), strict=True))

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(self.types)

    def is_integer(self, column: str) -> bool:
        """Tell whether the type of a column is that of whole numbers."""
        return bool(self.types[column].endswith(("INT", "INTEGER")))

    def narrowed(self, columns: Sequence[str], known: str) -> TableSource:
        """Leave out all other columns, and the rows where one of these has no value."""
        query = self.relation.project(", ".join(map(quoted_name, columns)))
        query = query.filter(f"{quoted_name(known)} IS NOT NULL")
        if self.types[known] in ("DOUBLE", "FLOAT"):
            # It takes isnan for false where the statistics of a Parquet file do not tell of NaN.
            value = quoted_name(known)
            query = query.filter(f"isfinite({value}) OR abs({value}) = 'infinity'")
        return DuckDBSource(query, self.rows_per_part)

    def with_missing(self, texts: Sequence[str], columns: Sequence[str]) -> TableSource:
        """Take some texts for missing values in columns of texts."""
        listed = ", ".join(map(quoted_text, texts))
        chosen = [name for name in columns if self.types[name] == "VARCHAR"]
        values = {name: quoted_name(name) for name in self.types}
        for name in chosen:
            value = values[name]
            values[name] = f"CASE WHEN trim({value}) NOT IN ({listed}) THEN {value} END AS {value}"
        return DuckDBSource(self.relation.project(", ".join(values.values())), self.rows_per_part)

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts."""
        names = ", ".join(map(quoted_name, columns))
        query = self.relation.project(names)
        # Before DuckDB 1.4, the method had another name.
        read = getattr(query, "to_arrow_reader", None) or query.fetch_arrow_reader
        # Those of a file may be no longer than its row groups.
        yield from joined_batches(read(self.rows_per_part), self.rows_per_part, self._arrow)


def joined_batches(reader: Any, rows_per_part: int, arrow: Any) -> Iterator[Any]:
    """Put record batches together to tables of so many rows; the last one may have none."""
    batches, n_rows = [], 0
    for batch in reader:
        batches.append(batch)
        n_rows += len(batch)
        if n_rows >= rows_per_part:
            yield _with_durations(arrow.Table.from_batches(batches), arrow)
            batches, n_rows = [], 0
    yield _with_durations(arrow.Table.from_batches(batches, schema=reader.schema), arrow)


def _with_durations(table: Any, arrow: Any) -> Any:
    """Make durations of intervals, which databases have in their place."""
    for position, field in enumerate(table.schema):
        if field.type == arrow.month_day_nano_interval():
            chunks = [_durations(field.name, chunk, arrow) for chunk in table[position].chunks]
            durations = arrow.chunked_array(chunks, arrow.duration("us"))
            table = table.set_column(position, field.name, durations)
    return table


def _durations(name: str, intervals: Any, arrow: Any) -> Any:
    cells = np.frombuffer(intervals.buffers()[1], _INTERVAL)
    cells = cells[intervals.offset : intervals.offset + len(intervals)]
    missing = intervals.is_null().to_numpy(zero_copy_only=False)
    if cells["months"][~missing].any():
        raise ValueError(
            f"Column {name!r} must hold durations in days and less. Got one in months or years, "
            "which are not all equally long. Let the query count days."
        )
    # What is finer than microseconds is rounded up, as in tables in memory.
    counts = cells["days"] * np.int64(DAY) - (-cells["nanoseconds"] // 1000)
    return arrow.array(counts, arrow.duration("us"), mask=missing)


class FrameSource(TableSource):
    """A table in memory, read in parts all the same."""

    def __init__(self, frame: Any, rows_per_part: int = ROWS_PER_PART) -> None:
        self.frame = nw.from_native(frame, eager_only=True)
        self.rows_per_part = rows_per_part

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return as_table(self.frame.to_native()).feature_names

    def is_integer(self, column: str) -> bool:
        """Tell whether the type of a column is that of whole numbers."""
        return bool(self.frame.schema[column].is_integer())

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts."""
        frame = self.frame.select(*columns)
        for start in range(0, max(len(frame), 1), self.rows_per_part):
            yield frame[start : start + self.rows_per_part].to_native()


def scan(
    table: Any,
    *,
    query: Any = None,
    rows_per_part: int = ROWS_PER_PART,
    **options: Any,
) -> TableSource:
    """Prepare to learn from a table of any length, in parts.

    Parameters
    ----------
    table : str, path, sequence of them, query, connection or frame
        A file, a folder of files, a pattern such as ``"data/*.parquet"``; a query that polars or
        DuckDB have prepared (polars.LazyFrame, duckdb.DuckDBPyRelation); a database: a file of
        DuckDB or SQLite (``.duckdb``, ``.sqlite``, ``.db``), an address such as
        ``"postgresql://host/name"``, a connection of ADBC, an engine or a connection of SQLAlchemy,
        or a connection of any other driver; a data frame of Dask, or a table in memory. It must
        give the same rows each time it is read.
    query : str or None, default=None
        What to read from a database: a query in SQL, or the name of a table; None takes the only
        table.
    rows_per_part : int, default=500_000
        Rows that are in memory at a time; a data frame of Dask has parts of its own.
    **options
        For the function of polars that scans the files, such as ``separator=";"``.

    Returns
    -------
    source : TableSource
        To be passed to ``fit`` with the names of the target and of the weights, if any.

    Examples
    --------
    >>> import pandas as pd
    >>> source = scan(pd.DataFrame({"age": [20, 50], "ill": ["no", "yes"]}))
    >>> source
    <FrameSource: 2 columns ('age' and 'ill')>
    """
    from laconic.tables.sources.files import scan_files

    if is_source(table):
        return as_source(table, rows_per_part)
    source = _scan_database(table, query, rows_per_part)
    if source is not None:
        return source
    if query is not None:
        raise ValueError(
            f"A query needs a database: a connection, an address, or a file that ends with "
            f"{' or '.join(DATABASES)}. Got {table!r}. Pass duckdb.sql(query) for other tables."
        )
    if isinstance(table, str | os.PathLike):
        return scan_files([os.fspath(table)], rows_per_part, options)
    if isinstance(table, Sequence) and all(isinstance(path, str | os.PathLike) for path in table):
        return scan_files(list(map(os.fspath, table)), rows_per_part, options)
    if nw.dependencies.is_into_dataframe(table):
        return FrameSource(table, rows_per_part)
    raise TypeError(
        "A table to scan must be a path, a polars LazyFrame, a DuckDB relation, a database or a "
        "DataFrame. "
        f"Got {type(table).__name__} instead."
    )


def is_source(X: Any) -> bool:
    """Tell whether a table is one that is read in parts."""
    return isinstance(X, TableSource) or _kind(X) in _KINDS


def as_source(X: Any, rows_per_part: int = ROWS_PER_PART) -> TableSource:
    """Wrap a lazy frame or relation; a `TableSource` passes through."""
    if isinstance(X, TableSource):
        return X
    return _KINDS[_kind(X)](X, rows_per_part)


def _kind(X: Any) -> tuple[str, str]:
    # By name: neither of the packages is imported unless the caller has done so.
    return type(X).__module__.split(".")[0].removeprefix("_"), type(X).__name__


def _dask_source(frame: Any, rows_per_part: int) -> TableSource:
    from laconic.tables.sources.dask_frames import DaskSource

    return DaskSource(frame, rows_per_part)


_KINDS: dict[tuple[str, str], Callable[[Any, int], TableSource]] = {
    ("dask", "DataFrame"): _dask_source,
    ("polars", "LazyFrame"): PolarsSource,
    ("duckdb", "DuckDBPyRelation"): DuckDBSource,
}


def _scan_database(table: Any, query: Any, rows_per_part: int) -> TableSource | None:
    """Prepare to read from a database; None for what is none."""
    from laconic.tables.sources.databases import (
        DatabaseSource,
        find_database,
        is_sqlite,
        open_sqlite,
    )

    if _kind(table) == ("duckdb", "DuckDBPyConnection"):
        return _scan_duckdb(table, query, rows_per_part)
    database = find_database(table)
    if database is None and isinstance(table, str | os.PathLike):
        path = os.fspath(table)
        if Path(path).suffix.lower() not in DATABASES:
            return None
        if not Path(path).is_file():
            raise FileNotFoundError(f"There is no file {path!r}. Check the path.")
        if not is_sqlite(path):
            duckdb = import_extra("duckdb", "large", "Reading from a database")
            return _scan_duckdb(duckdb.connect(path, read_only=True), query, rows_per_part)
        database = open_sqlite(path)
    return None if database is None else DatabaseSource(database, query, rows_per_part)


def _scan_duckdb(connection: Any, query: str | None, rows_per_part: int) -> TableSource:
    if query is None:
        tables = [name for (name,) in connection.sql("SHOW TABLES").fetchall()]
        if len(tables) != 1:
            raise ValueError(
                "A query must say what to read from a database. It has the tables "
                f"{listed_names(tables)}."
            )
        return DuckDBSource(connection.table(quoted_name(tables[0])), rows_per_part)
    return DuckDBSource(connection.query(as_query(query)), rows_per_part)


def as_query(query: str) -> str:
    """Write the SQL of a query, or of all rows of a table that is named.

    Examples
    --------
    >>> as_query('shop."big orders"')
    'SELECT * FROM shop."big orders"'
    """
    if not isinstance(query, str):
        raise TypeError(f"A query must be SQL in a str. Got {type(query).__name__} instead.")
    query = query.strip().rstrip(";").rstrip()
    return f"SELECT * FROM {query}" if _TABLE.fullmatch(query) else query


def quoted_text(text: str) -> str:
    """Write a text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """Write the name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'
