"""Tables and queries of databases, read in parts through a connection of any driver.

ADBC drivers return record batches of Arrow. SQLAlchemy and other drivers return rows of objects,
which are fetched a few at a time, with a cursor on the server if the driver would fetch all of
them otherwise.
"""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from laconic._util.optional import import_extra
from laconic._util.words import listed_names
from laconic.tables.sources.sources import (
    ROWS_PER_PART,
    TableSource,
    as_query,
    joined_batches,
    quoted_name,
)

# Rows of objects take several times the memory of columns.
OBJECT_ROWS = 50_000

_URL = re.compile(r"([A-Za-z][A-Za-z0-9]*)(\+\w+)?://")


class Database(ABC):
    """A database that runs queries, with the connection of the caller or one for each query."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Any]]) -> None:
        self.opened = opened
        self.arrow = import_extra("pyarrow", "databases", "Reading from a database")
        self.mixed: set[str] = set()

    @abstractmethod
    def batches(self, query: str, n_rows: int) -> Generator[Any]:
        """Yield the result of a query as one or more Arrow tables, of about so many rows."""

    def quoted(self, name: str) -> str:
        """Return the name of a column in SQL."""
        return quoted_name(name)

    def tables(self) -> list[str]:
        """Return the names of the tables, if the driver supports it."""
        return []

    def as_query(self, query: Any) -> str:
        """Return the SQL of a query or of the name of a table; None is the only table."""
        if query is None:
            tables = self.tables()
            if len(tables) != 1:
                known = f" It has the tables {listed_names(tables)}." if tables else ""
                raise ValueError(f"A query must say what to read from a database.{known}")
            return f"SELECT * FROM {self.quoted(tables[0])}"
        return as_query(query)

    def _as_table(self, names: Sequence[str], rows: Sequence[Any]) -> Any:
        columns = zip(*rows, strict=True) if rows else ([] for _ in names)
        arrays = [self._as_array(*column) for column in zip(names, columns, strict=True)]
        return self.arrow.Table.from_arrays(arrays, names=list(names))

    def _as_array(self, name: str, values: Sequence[Any]) -> Any:
        if any(isinstance(value, Decimal) for value in values):
            values = [None if value is None else float(value) for value in values]
        if any(isinstance(value, str) for value in values):
            # SQLite allows numbers beside texts.
            if any(isinstance(value, int | float) for value in values):
                self.mixed.add(name)
            values = [str(value) if isinstance(value, int | float) else value for value in values]
        try:
            return self.arrow.array(values)
        except (self.arrow.ArrowInvalid, self.arrow.ArrowTypeError) as error:
            kinds = sorted({type(value).__name__ for value in values if value is not None})
            raise TypeError(
                f"Column {name!r} must hold numbers, texts, booleans or dates, and one kind of "
                f"them. Got {listed_names(kinds)} from the database. CAST it in the query, or "
                "leave it out."
            ) from error


class ArrowDatabase(Database):
    """A connection of ADBC."""

    def batches(self, query: str, n_rows: int) -> Generator[Any]:
        """Yield the result of a query as Arrow tables."""
        with self.opened() as connection, connection.cursor() as cursor:
            if "SQLite" in str(connection.adbc_get_info().get("driver_name")):
                # The first batch decides the types of all.
                cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": n_rows})
            cursor.execute(query)
            with cursor.fetch_record_batch() as reader:
                yield from map(self._plain, joined_batches(reader, n_rows, self.arrow))

    def _plain(self, table: Any) -> Any:
        """Convert decimals, which the driver for PostgreSQL returns as texts."""
        for position, field in enumerate(table.schema):
            if (field.metadata or {}).get(b"ADBC:postgresql:typname") == b"numeric":
                # Releases of pyarrow before 18 have no type for what is not a type of Arrow.
                chunks = [
                    getattr(chunk, "storage", chunk) for chunk in table.column(position).chunks
                ]
                texts = self.arrow.chunked_array(chunks, self.arrow.string())
                numbers = texts.cast(self.arrow.float64())
                table = table.set_column(position, field.name, numbers)
        return table


class AlchemyDatabase(Database):
    """An engine or a connection of SQLAlchemy."""

    def __init__(self, table: Any) -> None:
        is_engine = not hasattr(table, "exec_driver_sql")
        super().__init__(table.connect if is_engine else lambda: nullcontext(table))
        self.dialect = table.dialect

    def batches(self, query: str, n_rows: int) -> Generator[Any]:
        """Yield the result of a query as Arrow tables."""
        # Percent signs and colons of the query have no special meaning.
        size = min(n_rows, OBJECT_ROWS)
        options = {"yield_per": size, "no_parameters": True}
        with (
            self.opened() as connection,
            connection.exec_driver_sql(query, execution_options=options) as result,
        ):
            names, is_empty = list(result.keys()), True
            for rows in result.partitions(size):
                is_empty = False
                yield self._as_table(names, rows)
            if is_empty:
                yield self._as_table(names, [])

    def quoted(self, name: str) -> str:
        """Return the name of a column in the SQL of this database."""
        signs = self.dialect.identifier_preparer
        first, last = signs.initial_quote, signs.final_quote
        return f"{first}{name.replace(last, 2 * last)}{last}"

    def tables(self) -> list[str]:
        """Return the names of the tables."""
        inspect = import_extra("sqlalchemy", "databases", "Reading from this database").inspect
        with self.opened() as connection:
            return list(inspect(connection).get_table_names())

    def as_query(self, query: Any) -> str:
        """Return the SQL of a query, also of SQLAlchemy, or of the name of a table."""
        if hasattr(query, "compile"):
            options = {"literal_binds": True}
            text = str(query.compile(dialect=self.dialect, compile_kwargs=options))
            has_percents = self.dialect.paramstyle in ("format", "pyformat")
            return text.replace("%%", "%") if has_percents else text
        return super().as_query(query)


class DriverDatabase(Database):
    """A connection of any driver that follows Python's DB-API."""

    def batches(self, query: str, n_rows: int) -> Generator[Any]:
        """Yield the result of a query as Arrow tables."""
        with (
            self.opened() as connection,
            _transaction(connection),
            closing(_cursor(connection)) as cursor,
        ):
            cursor.execute(query)
            rows = cursor.fetchmany(min(n_rows, OBJECT_ROWS))
            names = [column[0] for column in cursor.description]
            yield self._as_table(names, rows)
            while rows := cursor.fetchmany(min(n_rows, OBJECT_ROWS)):
                yield self._as_table(names, rows)

    def tables(self) -> list[str]:
        """Return the names of the tables of SQLite."""
        with self.opened() as connection:
            if not isinstance(connection, sqlite3.Connection):
                return []
            query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            names = [name for (name,) in connection.execute(query)]
        return [name for name in names if not name.startswith("sqlite_")]


@contextmanager
def _transaction(connection: Any) -> Iterator[None]:
    """End the transaction that psycopg begins with a query, but not one of the caller.

    If the caller has chosen an isolation level, all reads may have to see the same rows.
    """
    is_begun = (
        _is_psycopg(connection)
        and connection.info.transaction_status == 0
        and not connection.autocommit
        and connection.isolation_level is None
    )
    try:
        yield
    finally:
        if is_begun:
            connection.rollback()


def _is_psycopg(connection: Any) -> bool:
    return type(connection).__module__.split(".")[0] in ("psycopg", "psycopg2")


def _cursor(connection: Any) -> Any:
    if _is_psycopg(connection):
        # Without a name, all rows would be fetched at once.
        return connection.cursor("laconic", withhold=bool(connection.autocommit))
    return connection.cursor()


class DatabaseSource(TableSource):
    """A table or a query of a database."""

    def __init__(
        self, database: Database, query: Any = None, rows_per_part: int = ROWS_PER_PART
    ) -> None:
        self.database, self.rows_per_part = database, rows_per_part
        self.query, self.mixed = database.as_query(query), database.mixed
        no_rows = f"SELECT * FROM (\n{self.query}\n) here WHERE 1 = 0"
        self.column_names = tuple(self._first(no_rows).column_names)

    def is_integer(self, column: str) -> bool:
        """Return whether the first rows of a column are integers."""
        return bool(
            self.database.arrow.types.is_integer(self._first(self._select([column])).schema[0].type)
        )

    def count_rows(self) -> int:
        """Count the rows in the database."""
        counted = self._first(f"SELECT COUNT(*) AS n_rows FROM (\n{self.query}\n) here")
        return int(counted["n_rows"][0].as_py())

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts."""
        yield from self.database.batches(self._select(columns), self.rows_per_part)

    def _select(self, columns: Sequence[str]) -> str:
        names = ", ".join(map(self.database.quoted, columns))
        return f"SELECT {names} FROM (\n{self.query}\n) here"

    def _first(self, query: str) -> Any:
        with closing(self.database.batches(query, OBJECT_ROWS)) as batches:
            return next(batches)


def is_url(table: Any) -> bool:
    """Return whether a text is the address of a database, such as "sqlite:///shop.db".

    Examples
    --------
    >>> is_url("postgresql://db.example.org/shop"), is_url("C:/shop.csv")
    (True, False)
    """
    return isinstance(table, str) and _URL.match(table) is not None


def find_database(table: Any) -> Database | None:
    """Return the database of a connection, an engine or an address; None for other objects."""
    if is_url(table):
        return _open_url(table)
    module = type(table).__module__.split(".")[0]
    if module == "sqlalchemy" and hasattr(table, "dialect"):
        return AlchemyDatabase(table)
    if hasattr(table, "adbc_get_info"):
        return ArrowDatabase(lambda: nullcontext(table))
    if callable(getattr(table, "cursor", None)) and hasattr(table, "commit"):
        return DriverDatabase(lambda: nullcontext(table))
    return None


def _open_url(url: str) -> Database:
    # Errors do not repeat the address, which may hold a password.
    match = _URL.match(url)
    assert match is not None
    kind, driver = match.groups()
    rest = url[match.end() :]
    if kind == "sqlite" and driver is None and rest.startswith("/") and "?" not in rest:
        return open_sqlite(rest[1:])
    if (
        kind in ("postgresql", "postgres")
        and driver is None
        and find_spec("adbc_driver_postgresql")
    ):
        dbapi = import_extra("adbc_driver_postgresql.dbapi", "databases", "Reading PostgreSQL")
        return ArrowDatabase(lambda: closing(dbapi.connect(url)))
    alchemy = import_extra("sqlalchemy", "databases", "Reading from this database")
    return AlchemyDatabase(alchemy.create_engine(url))


def open_sqlite(path: str) -> Database:
    """Prepare to read a file of SQLite."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no file {path!r}. Check the path.")
    address = f"file:{quote(str(Path(path).absolute()))}?mode=ro"
    return DriverDatabase(lambda: closing(sqlite3.connect(address, uri=True)))


def is_sqlite(path: str) -> bool:
    """Return whether a file is a database of SQLite."""
    with open(path, "rb") as file:
        return file.read(16) == b"SQLite format 3\0"
