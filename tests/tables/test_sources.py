"""Tables that are read in parts."""

from __future__ import annotations

import sqlite3

import duckdb
import pandas as pd
import polars as pl
import pytest

from laconic import RuleBoostingClassifier, TableSource, scan
from laconic.tables.sources.sources import is_source
from laconic.tables.text_files.text_format import ColumnReader, Reading

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], 'odd "name", here': [0.5, 1.5, None]})


def rows_of(source, columns):
    parts = [pl.DataFrame(part) for part in source.parts(columns)]
    return pl.concat(part for part in parts if part.height).rows()


@pytest.mark.parametrize("kind", ["polars", "duckdb", "pandas", "arrow", "frame"])
def test_columns_come_by_name_in_the_order_asked_for(kind):
    made = {
        "polars": FRAME.lazy,
        "duckdb": lambda: duckdb.sql("SELECT * FROM FRAME"),
        "pandas": lambda: FRAME.to_pandas(),
        "arrow": FRAME.to_arrow,
        "frame": lambda: FRAME,
    }
    table = made[kind]()
    source = scan(table, rows_per_part=2)
    assert isinstance(source, TableSource)
    assert is_source(table) == (kind in ("polars", "duckdb"))
    assert source.column_names == tuple(FRAME.columns)
    columns = ['odd "name", here', "a"]
    expected = FRAME.select(columns).rows()
    assert rows_of(source, columns)[:2] == expected[:2]
    assert source.is_integer("a")
    assert not source.is_integer("b")
    assert scan(source) is source
    # As often as needed.
    assert len(rows_of(source, ["a"])) == 3 == len(rows_of(source, ["a"]))


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv", ".jsonl", ".feather"])
def test_files_folders_and_patterns(tmp_path, suffix):
    writers = {
        ".parquet": pl.DataFrame.write_parquet,
        ".csv": pl.DataFrame.write_csv,
        ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
        ".jsonl": pl.DataFrame.write_ndjson,
        ".feather": pl.DataFrame.write_ipc,
    }
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, part in enumerate(FRAME.iter_slices(2)):
        writers[suffix](part, folder / f"part-{number}{suffix}")
    (folder / "_SUCCESS").touch()
    everything = [folder, str(folder / "*"), [*map(str, folder.glob("part-*"))]]
    for table in everything[: 3 if suffix == ".parquet" else 1]:
        if table == str(folder / "*"):
            table = f"{table}{suffix}"
        assert sorted(rows_of(scan(table), ["a"])) == [(1,), (2,), (3,)]
    assert rows_of(scan(folder / f"part-1{suffix}"), ["a"]) == [(3,)]


def test_options_go_to_the_reader(tmp_path):
    FRAME.select("a", "b").write_csv(tmp_path / "table.csv", separator=";")
    assert scan(tmp_path / "table.csv", separator=";").column_names == ("a", "b")


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ("nothing-*.parquet", FileNotFoundError, "There is no file 'nothing-"),
        (3, TypeError, "Got int instead"),
        ([1, 2], TypeError, "Got list instead"),
    ],
)
def test_what_cannot_be_scanned_is_told(table, error, message):
    with pytest.raises(error, match=message):
        scan(table)


def test_files_of_several_kinds_are_told(tmp_path):
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="All files of a table must be of one kind"):
        scan(tmp_path)


def test_a_table_of_another_database_that_duckdb_attaches(tmp_path):
    with sqlite3.connect(tmp_path / "shop.sqlite") as database:
        pd.DataFrame({"age": [20, 30, 40, 50], "buys": ["no", "no", "yes", "yes"]}).to_sql(
            "customers", database, index=False
        )
    database.close()
    connection = duckdb.connect()
    try:
        connection.sql(f"ATTACH '{tmp_path / 'shop.sqlite'}' AS shop (TYPE sqlite)")
    except duckdb.Error as error:
        pytest.skip(f"the extension of DuckDB for SQLite is not there: {error}")
    model = RuleBoostingClassifier(n_terms=1, slopes=False).fit(
        connection.table("shop.customers"), "buys"
    )
    assert model.predict([[20], [50]]).tolist() == ["no", "yes"]


@pytest.mark.parametrize("kind", ["polars", "duckdb", "pandas", "arrow"])
def test_texts_and_rows_without_a_value_are_left_out(kind):
    frame = pl.DataFrame(
        {
            "text": ["x", " NA ", "NA", "", None, "z"],
            "other": ["NA"] * 6,
            "number": [1.0, 2.0, 3.0, float("nan"), 5.0, None],
        }
    )
    made = {
        "polars": frame.lazy,
        "duckdb": lambda: duckdb.from_arrow(frame.to_arrow()),
        "pandas": lambda: frame.to_pandas(),
        "arrow": frame.to_arrow,
    }
    reader = ColumnReader(reading=Reading(missing=("NA",)), is_part=True)
    source = scan(made[kind](), rows_per_part=4)
    source = source.converted(lambda part: reader.read(pl.DataFrame(part)))
    rows = rows_of(source, ["text", "other"])
    assert rows == [(text, None) for text in ["x", None, None, None, None, "z"]]
    source = source.narrowed(["number", "text"], "number")
    assert source.column_names == ("number", "text")
    assert rows_of(source, ["text"]) == [("x",), (None,), (None,), (None,)]
    assert not source.is_integer("number")
