"""Commands with databases that fit into memory."""

import json
import sqlite3
from contextlib import closing

import duckdb
import polars as pl
import pytest
from commands import people, refused

from laconic import Slope, load_model

FIT = ["--target", "client", "--drop", "spent", "weight", "--n-terms", 3]


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    """Folder with a table as a file, and in databases of SQLite and DuckDB, among others."""
    folder = tmp_path_factory.mktemp("databases")
    frame = people(300)
    frame.write_parquet(folder / "people.parquet")
    with closing(sqlite3.connect(folder / "shop.db")) as connection:
        frame.to_pandas().to_sql("people", connection, index=False)
        connection.execute("CREATE TABLE other (x)")
        connection.execute("CREATE TABLE mixed (y, x)")
        rows = [(n % 7, n if n < 15_000 else f"{n} or so") for n in range(20_000)]
        connection.executemany("INSERT INTO mixed VALUES (?, ?)", rows)
        connection.commit()
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.sql("CREATE TABLE people AS SELECT * FROM frame")
    return folder


@pytest.fixture(scope="module")
def places(databases):
    return [
        (databases / "shop.db", "--query", "people"),
        (f"sqlite:///{databases}/shop.db", "--query", "SELECT * FROM people"),
        (databases / "shop.duckdb",),
    ]


def test_models_are_those_of_a_file(run, databases, places, tmp_path):
    """Databases of any size were read in parts, without slopes and cross-validation."""
    run("fit", databases / "people.parquet", *FIT, "--output", tmp_path / "known.json")
    known = load_model(tmp_path / "known.json")
    assert any(isinstance(term, Slope) for term in known.ensemble_)
    for place in places:
        code, out, err = run("fit", *place, *FIT, "--output", tmp_path / "model.json")
        assert (code, err) == (0, "")
        assert "cross-validation" in out
        model = load_model(tmp_path / "model.json")
        assert model.ensemble_ == known.ensemble_
        assert model.record_.scores == known.record_.scores


def test_other_commands_take_databases(run, databases, places, tmp_path):
    model, page = tmp_path / "model.json", tmp_path / "page.html"
    run("fit", databases / "people.parquet", *FIT, "--output", model)
    for command, *options in [
        ("predict", "--probabilities"),
        ("explain", "--row", 3),
        ("alternatives", "--term", 1, "--json"),
        ("edit", "--drop", 1),
        ("report", "--json"),
    ]:
        known = run(command, model, databases / "people.parquet", *options)
        assert known[0] == 0
        for place in places:
            assert run(command, model, *place, *options) == known
    code, _, _ = run("report", model, *places[0], "--output", page)
    assert (code, page.exists()) == (0, True)


@pytest.mark.parametrize("n_before", [0, 50_000])
def test_numbers_beside_texts_are_read_as_in_text_files(run, tmp_path, n_before):
    """SQLite stores both in one column, here in one part or in several."""
    place = tmp_path / "shop.db"
    rows = range(n_before + 60)
    values = [(*3 * (float(n % 7),), str(n % 7), n * 37 % 101 / 2) for n in rows]
    values[-2:] = [("?", "2.5", "odd", "1", 1.0), ("2", "7", 3.0, "2", 2.0)]
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("CREATE TABLE t (a, b, c, text, y)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", values)
        connection.commit()
    fit = ["fit", place, "--target", "y", "--n-terms", 1, "--no-validation", "--search", "greedy"]
    fit += ["--keep", "a", "b", "text", "--output", tmp_path / "model.json"]
    code, _, err = run(*fit)
    assert code == 0
    assert err.splitlines() == [
        f"warning: column 'c' is read as text because of 'odd' (1 of {len(values):,} cells). Read "
        "these cells as missing values with --numeric c."
    ]
    known = load_model(tmp_path / "model.json").reading_.types
    assert [known[name] for name in ("a", "b", "c", "text")] == ["number"] * 2 + ["text"] * 2
    assert "are read as missing" in run(*fit, "--numeric", "c")[2]
    assert run(*fit, "--drop", "c")[2] == ""


def test_test_rows_may_be_in_a_file(run, databases, places):
    code, out, _ = run("fit", *places[0], *FIT, "--test", databases / "people.parquet")
    assert code == 0
    assert "test rows" in out
    code, out, _ = run(
        "fit", databases / "people.parquet", *FIT, "--test", databases / "shop.duckdb"
    )
    assert code == 0
    assert "test rows" in out


def test_columns_of_numbers_and_texts(run, databases, tmp_path):
    """SQLite has columns whose first rows are numbers, and later ones are texts."""
    mixed = [databases / "shop.db", "--query", "mixed", "--target", "y", "--task", "regression"]
    code, _, err = run("fit", *mixed, "--numeric", "x", "--no-validation", "--n-terms", 1)
    assert code == 0
    assert "has 5,000 of 20,000 cells that are not numbers" in err


def test_what_cannot_be_read(run, databases, tmp_path):
    place = databases / "shop.db"
    message = "A query must say what to read from a database. It has the tables 'people', 'other'"
    refused(run("fit", place, *FIT), message)
    refused(run("fit", place, "--query", "other", "--target", "x"), "at least one row. Got none.")
    refused(run("cv", databases / "people.parquet", *FIT, "--query", "people"), "needs a database")
    refused(run("fit", f"sqlite:///{tmp_path}/no.db", *FIT), "There is no file")


def test_predictions_are_a_table(run, databases, places, tmp_path):
    model, output = tmp_path / "model.json", tmp_path / "out.csv"
    run("fit", *places[0], *FIT, "--output", model, "--no-validation")
    code, out, err = run("predict", model, *places[0], "--output", output)
    assert (code, err) == (0, "")
    assert out == f"300 rows written to {output}\n"
    X = people(300).drop("client", "spent", "weight")
    assert pl.read_csv(output)["prediction"].to_list() == load_model(model).predict(X).tolist()
    code, out, _ = run("predict", model, *places[0], "--json")
    assert len(json.loads(out)) == 300
