"""Tables that are read in parts, as often as needed, without ever being in memory as a whole.

`scan` makes a `TableSource` of files, of queries that polars, DuckDB or other databases run, and of
tables in memory.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from laconic._util.optional import import_extra
from laconic._util.releases import polars_batches
from laconic._util.words import listed_names
from laconic.tables.tables import as_table, unknown_column_message
from laconic.tables.times import DAY

ROWS_PER_PART = 500_000
"""Rows that are in memory at a time."""

# The layout of intervals in Arrow.
_INTERVAL = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])

_NAME = r'(?:[\w$]+|"[^"]+"|`[^`]+`)'
_TABLE = re.compile(rf"{_NAME}(?:\.{_NAME})*")
DATABASES = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")


class TableSource(ABC):
    """A table that is read in parts."""

    column_names: tuple[str, ...]
    """Names of all columns."""
    rows_per_part: int = ROWS_PER_PART
    mixed: Collection[str] = ()
    """Columns of a database that hold numbers beside texts, as far as rows have been read."""
    on_progress: Callable[[Any], Any] | None = None
    """Called with a `ReadProgress` after every part that a fit has read."""

    @abstractmethod
    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts, each an eager frame of the given columns; the same every time.

        Parts may have any size, also no rows.
        """

    def looks(
        self,
        columns: Sequence[str],
        look: Callable[[Any], Any],
        merge: Callable[[Any, Any], Any],
    ) -> Iterator[tuple[int, Any]]:
        """Apply a function to all parts: yield numbers of rows, and its results for them.

        Where parts are on other machines, it is applied there, and some results may be merged.
        """
        for part in self.parts(columns):
            yield len(part), look(part)

    def joined(self, column: Any, role: str) -> tuple[TableSource, Any]:
        """Return a source with a column of the same library added, and its name.

        Anything else is returned as it is.
        """
        return self, column

    @abstractmethod
    def is_integer(self, column: str) -> bool:
        """Return whether a column has an integer type."""

    def count_rows(self) -> int:
        """Count the rows; a database does so without sending them."""
        return sum(len(part) for part in self.parts(self.column_names[:1]))

    def narrowed(self, columns: Sequence[str], known: str) -> TableSource:
        """Leave out all other columns, and the rows where the `known` one is missing or NaN."""
        return CleanedSource(self, columns, known=known)

    def converted(self, convert: Callable[[Any], Any]) -> TableSource:
        """Apply a function to every part, which returns a frame with the same columns."""
        return CleanedSource(self, self.column_names, convert=convert)

    def __repr__(self) -> str:
        n_columns = len(self.column_names)
        return f"<{type(self).__name__}: {n_columns} columns ({listed_names(self.column_names)})>"

    def require(self, column: str, role: str) -> str:
        """Return the name of a column that must exist."""
        if column in self.column_names:
            return column
        message = unknown_column_message(column, self.column_names)
        raise ValueError(f"The {role} must be the name of a column. {message}")


class CleanedSource(TableSource):
    """Some columns of another source, converted by a function, without some of its rows.

    Rows are left out where a column that must be `known` is missing.
    """

    def __init__(
        self,
        source: TableSource,
        columns: Sequence[str],
        *,
        convert: Callable[[Any], Any] | None = None,
        known: str | None = None,
    ) -> None:
        self.source, self.column_names = source, tuple(columns)
        self.rows_per_part = source.rows_per_part
        self.convert, self.known = convert, known

    def is_integer(self, column: str) -> bool:
        """Return whether a column has an integer type."""
        return self.source.is_integer(column)

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts."""
        needed = [*columns]
        if self.known is not None and self.known not in columns:
            needed.append(self.known)
        for part in self.source.parts(needed):
            part = part if self.convert is None else self.convert(part)
            frame = self._with_known(nw.from_native(part, eager_only=True))
            yield frame.select(*columns).to_native()

    def _with_known(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        if self.known is None:
            return frame
        frame = frame.drop_nulls(self.known)
        is_float = frame.schema[self.known].is_float()
        return frame.filter(~nw.col(self.known).is_nan()) if is_float else frame


class PolarsSource(TableSource):
    """A lazy frame of polars, which its streaming engine runs."""

    def __init__(self, frame: Any, rows_per_part: int = ROWS_PER_PART) -> None:
        self.frame, self.rows_per_part = frame, rows_per_part
        self._schema = frame.collect_schema()
        self.column_names = tuple(self._schema.names())

    def is_integer(self, column: str) -> bool:
        """Return whether a column has an integer type."""
        return bool(self._schema[column].is_integer())

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts."""
        yield from polars_batches(self.frame.select(columns), self.rows_per_part)


class DuckDBSource(TableSource):
    """A relation of DuckDB: a table, a query, files, or a table of an attached database.

    A `connection` that nobody else has is kept open, as relations of DuckDB 1.1 do not do that.
    """

    def __init__(
        self, relation: Any, rows_per_part: int = ROWS_PER_PART, connection: Any = None
    ) -> None:
        self._connection = connection
        self._arrow = import_extra("pyarrow", "large", "Reading from DuckDB in parts")
        self.relation, self.rows_per_part = relation, rows_per_part
        self._types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        self.column_names = tuple(self._types)

    def is_integer(self, column: str) -> bool:
        """Return whether a column has an integer type."""
        return bool(self._types[column].endswith(("INT", "INTEGER")))

    def count_rows(self) -> int:
        """Count the rows in the database."""
        return int(self.relation.count("*").fetchall()[0][0])

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts."""
        query = self.relation.project(", ".join(map(quoted_name, columns)))
        # Before DuckDB 1.4, the method had another name.
        read = getattr(query, "to_arrow_reader", None) or query.fetch_arrow_reader
        # Batches of a file may be no longer than its row groups.
        yield from joined_batches(read(self.rows_per_part), self.rows_per_part, self._arrow)


def joined_batches(reader: Any, rows_per_part: int, arrow: Any) -> Iterator[Any]:
    """Join record batches to tables of so many rows; the last one may have none."""
    batches, n_rows = [], 0
    for batch in reader:
        batches.append(batch)
        n_rows += len(batch)
        if n_rows >= rows_per_part:
            yield _with_durations(arrow.Table.from_batches(batches), arrow)
            batches, n_rows = [], 0
    yield _with_durations(arrow.Table.from_batches(batches, schema=reader.schema), arrow)


def _with_durations(table: Any, arrow: Any) -> Any:
    """Convert intervals, which databases have in place of durations."""
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
            "which are not all equally long. Count days in the query."
        )
    # Fractions of microseconds are rounded up, as in tables in memory.
    counts = cells["days"] * np.int64(DAY) - (-cells["nanoseconds"] // 1000)
    return arrow.array(counts, arrow.duration("us"), mask=missing)


class FrameSource(TableSource):
    """A table in memory that is read in parts."""

    def __init__(self, frame: Any, rows_per_part: int = ROWS_PER_PART) -> None:
        self.frame = nw.from_native(frame, eager_only=True)
        self.rows_per_part = rows_per_part
        self.column_names = as_table(frame).feature_names

    def is_integer(self, column: str) -> bool:
        """Return whether a column has an integer type."""
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
        f"DataFrame. Got {type(table).__name__} instead."
    )


def is_source(X: Any) -> bool:
    """Return whether a table is one that is read in parts."""
    return isinstance(X, TableSource) or _kind(X) in _KINDS


def as_source(X: Any, rows_per_part: int = ROWS_PER_PART) -> TableSource:
    """Wrap a lazy frame or relation; a `TableSource` passes through."""
    if isinstance(X, TableSource):
        return X
    return _KINDS[_kind(X)](X, rows_per_part)


def _kind(X: Any) -> tuple[str, str]:
    # By name, so that none of the packages is imported here.
    return type(X).__module__.split(".")[0].removeprefix("_"), type(X).__name__


def _dask_source(frame: Any, rows_per_part: int) -> TableSource:
    from laconic.tables.sources.dask_frames import DaskSource

    return DaskSource(frame, rows_per_part)


_KINDS: dict[tuple[str, str], Callable[[Any, int], TableSource]] = {
    ("dask", "DataFrame"): _dask_source,
    ("polars", "LazyFrame"): PolarsSource,
    ("duckdb", "DuckDBPyRelation"): DuckDBSource,
}


def is_database(table: Path | str) -> bool:
    """Return whether a path is that of a database, or a text its address."""
    return isinstance(table, str) or table.suffix.lower() in DATABASES


def _scan_database(table: Any, query: Any, rows_per_part: int) -> TableSource | None:
    """Prepare to read from a database; None for other tables."""
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
        return DuckDBSource(connection.table(quoted_name(tables[0])), rows_per_part, connection)
    return DuckDBSource(connection.query(as_query(query)), rows_per_part, connection)


def as_query(query: str) -> str:
    """Return the SQL of a query, or of all rows of a table that is named.

    Examples
    --------
    >>> as_query('shop."big orders"')
    'SELECT * FROM shop."big orders"'
    """
    if not isinstance(query, str):
        raise TypeError(f"A query must be SQL in a str. Got {type(query).__name__} instead.")
    query = query.strip().rstrip(";").rstrip()
    return f"SELECT * FROM {query}" if _TABLE.fullmatch(query) else query


def quoted_name(name: str) -> str:
    """Return the name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'
