"""Tables of databases that are read in parts."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import duckdb
import numpy as np
import polars as pl
import psycopg
import pytest
import sqlalchemy
from postgres import find_server, running_server

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, scan
from laconic.estimators import read_training_data
from laconic.tables.sources import databases
from laconic.tables.tables import as_table

COLUMNS = ["number", "few", "text", 'odd "name", 100% it\'s :here', "gaps"]


def make_rows(n_rows=2000, seed=0):
    rng = np.random.default_rng(seed)
    number, few = rng.normal(size=n_rows).round(3), rng.integers(0, 4, n_rows)
    text = rng.choice(["a", "b", "c é"], n_rows)
    odd = rng.integers(0, 9, n_rows)
    # Nothing at first, so that a first part does not tell the type.
    gaps = np.where(np.arange(n_rows) < 600, None, rng.exponential(size=n_rows).round(2))
    target = (
        2.0 * ((number > 0.2) & (text == "a")) + (odd > 5) * (few > 1) + rng.normal(size=n_rows)
    )
    cells = [number, few, text, odd, pl.Series(gaps.tolist(), dtype=pl.Float64)]
    others = {"target": target, "class": np.where(target > 1, "yes", "no")}
    return pl.DataFrame(dict(zip(COLUMNS, cells, strict=True)) | others)


def fill(connection, frame, placeholder, real):
    """Make a table "big rows" of a frame."""
    kinds = {pl.Float64: real, pl.Int64: "INTEGER", pl.String: "TEXT"}
    names = [f"{databases.quoted_name(name)} {kinds[kind]}" for name, kind in frame.schema.items()]
    cursor = connection.cursor()
    cursor.execute(f'CREATE TABLE "big rows" ({", ".join(names)})')
    values = ", ".join([placeholder] * frame.width)
    cursor.executemany(f'INSERT INTO "big rows" VALUES ({values})', frame.rows())
    connection.commit()
    cursor.close()


@pytest.fixture(scope="module")
def frame():
    return make_rows()


@pytest.fixture(scope="module")
def sqlite_file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("databases") / "it's a shop.db"
    with closing(sqlite3.connect(path)) as connection:
        fill(connection, frame, "?", "REAL")
    return path


@pytest.fixture(scope="module")
def postgres_folder(frame):
    programs = find_server()
    if programs is None:
        pytest.skip("needs a PostgreSQL server: install the package postgresql")
    with running_server(programs) as how:
        with closing(psycopg.connect(how)) as connection:
            fill(connection, frame, "%s", "DOUBLE PRECISION")
        yield how.split()[0].removeprefix("host=")


@contextmanager
def alchemy(url, *, connects=False):
    engine = sqlalchemy.create_engine(url)
    try:
        if connects:
            with engine.connect() as connection:
                yield connection
        else:
            yield engine
    finally:
        engine.dispose()


@contextmanager
def same(table):
    yield table


SQLITE = {
    "sqlite, file": same,
    "sqlite, address": lambda path: same(f"sqlite:///{path}"),
    "sqlite, driver": lambda path: closing(sqlite3.connect(path)),
    "sqlite, ADBC": lambda path: adbc_driver_sqlite.dbapi.connect(str(path)),
    "sqlite, engine": lambda path: alchemy(f"sqlite:///{path}"),
    "sqlite, SQLAlchemy": lambda path: alchemy(f"sqlite:///{path}", connects=True),
}
POSTGRES = {
    "postgres, address": lambda folder: same(f"postgresql://tester@/postgres?host={folder}"),
    "postgres, driver": lambda folder: psycopg.connect(
        f"host={folder} user=tester dbname=postgres"
    ),
    "postgres, autocommit": lambda folder: psycopg.connect(
        f"host={folder} user=tester dbname=postgres", autocommit=True
    ),
    "postgres, ADBC": lambda folder: adbc_driver_postgresql.dbapi.connect(
        f"postgresql://tester@/postgres?host={folder}"
    ),
    "postgres, engine": lambda folder: alchemy(
        f"postgresql+psycopg://tester@/postgres?host={folder}"
    ),
}


@pytest.fixture(params=[*SQLITE, *POSTGRES])
def database(request):
    place = "sqlite_file" if request.param in SQLITE else "postgres_folder"
    with (SQLITE | POSTGRES)[request.param](request.getfixturevalue(place)) as table:
        yield table


@pytest.mark.parametrize("target", ["class", "target"])
def test_the_model_is_that_of_the_table_in_memory(database, frame, target, monkeypatch):
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 0)
    make = {"class": RuleBoostingClassifier, "target": RuleBoostingRegressor}[target]
    known = make(n_terms=3, slopes=False).fit(frame.select(COLUMNS), frame[target].to_numpy())
    other = "target" if target == "class" else "class"
    # The driver of SQLite for ADBC takes the types of a column from its first part.
    source = scan(database, query='"big rows"', rows_per_part=700)
    assert source.column_names == (*COLUMNS, "target", "class")
    source = source.narrowed([*COLUMNS, target], target)
    assert other not in source.column_names
    sizes = [len(part) for part in source.parts(["few"])]
    assert sum(sizes) == 2000
    # Batches of PostgreSQL are as large as its driver makes them.
    assert sizes in ([700, 700, 600], [2000, 0], [1400, 600], [2000])
    found = make(n_terms=3, slopes=False).fit(source, target)
    assert found.ensemble_ == known.ensemble_
    assert found.rule_coverages_ == known.rule_coverages_


def test_queries_names_and_the_only_table(database, frame):
    query = """SELECT few, 'like "%s" :it' AS text, number > 0 AS sign -- a comment
               FROM "big rows" WHERE few > 1;"""
    source = scan(database, query=query)
    assert source.column_names == ("few", "text", "sign")
    parts = [pl.DataFrame(part) for part in source.parts(["few", "text"])]
    rows = pl.concat(part for part in parts if part.height)
    assert rows["few"].to_list() == frame["few"].filter(frame["few"] > 1).to_list()
    assert rows["text"].unique().to_list() == ['like "%s" :it']
    assert source.is_integer("few")
    assert not source.is_integer("text")
    # As often as needed, and after a look at the first rows only.
    assert sum(len(part) for part in source.parts(["few"])) == rows.height
    with pytest.raises(TypeError, match=r"A query must be SQL in a str\. Got int"):
        scan(database, query=3)


def test_an_empty_result_has_columns(database):
    source = scan(database, query='SELECT few FROM "big rows" WHERE few > 100')
    assert source.column_names == ("few",)
    assert sum(len(part) for part in source.parts(["few"])) == 0


@pytest.mark.parametrize("kind", ["sqlite, file", "sqlite, driver", "sqlite, engine"])
def test_the_only_table_needs_no_query(kind, sqlite_file):
    with SQLITE[kind](sqlite_file) as table:
        assert scan(table).column_names[0] == "number"


def test_a_query_is_asked_for_where_there_are_several_tables(tmp_path):
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.execute("CREATE TABLE one (a INTEGER PRIMARY KEY AUTOINCREMENT)")
        connection.execute("CREATE TABLE two (a)")
        connection.commit()
    with pytest.raises(ValueError, match=r"must say what to read .* tables 'one' and 'two'"):
        scan(tmp_path / "shop.sqlite")
    with (
        closing(adbc_driver_sqlite.dbapi.connect()) as connection,
        pytest.raises(ValueError, match="must say what to read from a database"),
    ):
        scan(connection)


def test_a_query_of_sqlalchemy(sqlite_file, frame):
    with alchemy(f"sqlite:///{sqlite_file}") as engine:
        table = sqlalchemy.table("big rows", sqlalchemy.column("few"))
        source = scan(engine, query=sqlalchemy.select(table).where(table.c.few == 3))
        assert sum(len(part) for part in source.parts(["few"])) == (frame["few"] == 3).sum()


def test_a_connection_of_duckdb(frame):
    with duckdb.connect() as connection:
        connection.sql("CREATE TABLE here AS SELECT * FROM frame")
        assert scan(connection).column_names == scan(connection, query="here").column_names
        assert scan(connection, query="SELECT few FROM here").column_names == ("few",)


def test_types_of_postgres(postgres_folder):
    query = """SELECT i AS n, (i % 7)::numeric / 10 AS price, i % 2 = 0 AS flag, i::smallint AS s,
               CASE WHEN i > 3 THEN 'yes' ELSE 'no' END AS y FROM generate_series(1, 200) i"""
    models = []
    for kind in ("postgres, ADBC", "postgres, driver", "postgres, engine"):
        with POSTGRES[kind](postgres_folder) as connection:
            model = RuleBoostingClassifier(n_terms=3, slopes=False, max_thresholds=3)
            models.append(model.fit(scan(connection, query=query), "y"))
            assert models[-1].ensemble_.feature_kinds["flag"] == "boolean"
            [part] = scan(connection, query=query).parts(["price"])
            first = as_table(part).column("price").values[:3]
            np.testing.assert_array_equal(first, [0.1, 0.2, 0.3])
    assert models[0].ensemble_ == models[1].ensemble_ == models[2].ensemble_


def test_no_transaction_of_psycopg_is_left_open(postgres_folder):
    how = f"host={postgres_folder} user=tester dbname=postgres"
    idle, open_ = psycopg.pq.TransactionStatus.IDLE, psycopg.pq.TransactionStatus.INTRANS
    with closing(psycopg.connect(how)) as connection:
        source = scan(connection, query='SELECT few, "class" FROM "big rows"')
        RuleBoostingClassifier(n_terms=1, slopes=False).fit(source, "class")
        assert connection.info.transaction_status == idle
        # What is not committed stays, and is read.
        connection.execute("CREATE TEMPORARY TABLE mine AS SELECT 1 AS x, 2 AS y")
        assert scan(connection, query="mine").column_names == ("x", "y")
        assert connection.info.transaction_status == open_
        assert connection.execute("SELECT x FROM mine").fetchone() == (1,)
        connection.rollback()
        # All readings see the same rows where the caller wants that.
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        scan(connection, query='"big rows"')
        assert connection.info.transaction_status == open_


def test_values_of_several_kinds_are_texts_or_told():
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (a, b, y)")
        rows = [(1, b"x", 0), ("x", 2, 1), (2.5, None, 0), (None, 1, 1)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        (part,) = scan(connection).parts(["a"])
        assert part["a"].to_pylist() == ["1", "x", "2.5", None]
        with pytest.raises(TypeError, match=r"Column 'b' must hold .* Got 'bytes' and 'int' from"):
            RuleBoostingClassifier(slopes=False).fit(scan(connection), "y")


def test_files_that_are_not_there_and_passwords_are_not_told(tmp_path):
    for table in (tmp_path / "shop.db", f"sqlite:///{tmp_path}/shop.db"):
        with pytest.raises(FileNotFoundError, match="There is no file"):
            scan(table)
    with pytest.raises(Exception, match=r"mysql|dialect|module") as error:
        scan("mysqlx://me:secret@host/shop", query="t")
    assert "secret" not in str(error.value)


def test_a_driver_that_is_not_installed_is_told(monkeypatch):
    def refuse(module, extra, purpose):
        raise ModuleNotFoundError(f"{purpose} needs {module}: laconic[{extra}]")

    monkeypatch.setattr(databases, "import_extra", refuse)
    with pytest.raises(ModuleNotFoundError, match=r"laconic\[databases\]"):
        scan("mysql://host/shop", query="t")
