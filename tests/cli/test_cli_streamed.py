"""laconic fit and predict with tables that are read in parts"""

import sqlite3
from contextlib import closing

import duckdb
import polars as pl
import pytest
from commands import people, refused

from laconic import load_model
from laconic.cli import streamed, table_file
from laconic.cli.options import DEFAULT_FORMAT


@pytest.fixture
def parts(tmp_path):
    """Pattern of the files of a table."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, part in enumerate(people(300).iter_slices(70)):
        part.write_parquet(folder / f"part-{number}.parquet")
    return folder / "*.parquet"


FIT = ["--target", "client", "--drop", "spent", "weight"]


def test_a_pattern_is_read_in_parts(run, parts, tmp_path):
    model = tmp_path / "model.json"
    code, out, err = run("fit", parts, *FIT, "--n-terms", 2, "--output", model)
    assert code == 0
    assert "read values: 300 rows" in out
    assert "rows/s" in out
    assert "Fitted to 300 rows to predict client" in out
    assert "training rows" in out
    assert "Saved to" in out
    assert err == (
        "note: only rules are learned from a table that is read in parts, and no slopes.\n"
        "note: a table that is read in parts is not cross-validated. Name a table with --test.\n"
    )
    whole = tmp_path / "whole.parquet"
    people(300).write_parquet(whole)
    options = ["--n-terms", 2, "--no-slopes", "--no-validation"]
    run("fit", whole, *FIT, *options, "--output", tmp_path / "whole.json")
    one, other = load_model(model), load_model(tmp_path / "whole.json")
    assert [rule.query for rule in one.ensemble_] == [rule.query for rule in other.ensemble_]
    assert one.record_.n_rows == 300


def test_folders_databases_and_large_files(run, parts, tmp_path, monkeypatch):
    frame = people(300)
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.sql("CREATE TABLE people AS SELECT * FROM frame")
        connection.sql("CREATE TABLE other AS SELECT 1 AS x")
    frame.write_csv(tmp_path / "large.csv")
    monkeypatch.setattr(streamed, "MAX_BYTES_TO_LOAD", 10)
    outputs = []
    for path, *how in [
        (parts.parent,),
        (tmp_path / "shop.duckdb", "--query", "SELECT * FROM people"),
        (tmp_path / "large.csv",),
    ]:
        code, out, _ = run("fit", path, *how, *FIT, "--n-terms", 1, "--json")
        assert code == 0
        outputs.append(out[: out.index('"record"')] if '"record"' in out else out)
    assert len({text[text.index('"terms"') : text.index('"weight"')] for text in outputs}) == 1
    refused(run("fit", tmp_path / "shop.duckdb", *FIT), "A query must say what to read from")


def test_files_and_addresses_of_large_databases(run, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "MAX_BYTES_TO_LOAD", 10)
    with closing(sqlite3.connect(tmp_path / "shop.db")) as connection:
        people(300).to_pandas().to_sql("people", connection, index=False)
        connection.execute("CREATE TABLE other (x)")
        connection.commit()
    refused(run("fit", tmp_path / "shop.db", *FIT), "It has the tables 'people' and 'other'.")
    run("fit", parts, *FIT, "--n-terms", 2, "--output", tmp_path / "known.json")
    known = load_model(tmp_path / "known.json")
    model, output = tmp_path / "model.json", tmp_path / "out.parquet"
    for place in (tmp_path / "shop.db", f"sqlite:///{tmp_path}/shop.db"):
        code, out, _ = run(
            "fit", place, "--query", "people", *FIT, "--n-terms", 2, "--output", model
        )
        assert code == 0
        assert "read rows: 300 rows" in out
        assert load_model(model).ensemble_.terms == known.ensemble_.terms
        code, out, _ = run("predict", model, place, "--query", "people", "--output", output)
        assert (code, "300 rows written" in out) == (0, True)
        assert pl.read_parquet(output)["prediction"].to_list() == (
            known.predict(people(300).drop("client", "spent", "weight")).tolist()
        )
    refused(run("fit", f"sqlite:///{tmp_path}/no.db", *FIT), "There is no file")


def test_regression_weights_and_test_rows(run, parts, tmp_path):
    test = tmp_path / "test.csv"
    people(50, seed=1).write_csv(test)
    code, out, err = run(
        *("fit", parts, "--target", "spent", "--weight", "weight", "--drop", "client"),
        *("--n-terms", 2, "--no-slopes", "--test", test),
    )
    assert (code, err) == (0, "")
    assert "test rows" in out
    assert "R²" in out


def test_rows_without_a_target_and_useless_columns_are_left_out(run, tmp_path):
    frame = people(100).with_columns(
        client=pl.when(pl.col("age") > 80).then(None).otherwise(pl.col("client"))
    )
    frame = frame.with_row_index("row")
    frame.write_parquet(tmp_path / "part-1.parquet")
    code, out, err = run("fit", tmp_path / "part-*.parquet", *FIT, "--n-terms", 1)
    assert code == 0
    assert "rows have no target, 'client', and are left out" in err
    assert "column 'row' counts the rows. It is left out." in err
    n_known = frame["client"].drop_nulls().len()
    assert f"Fitted to {n_known} rows" in out


@pytest.mark.parametrize("has_durations", [True, False])
def test_rows_whose_target_is_no_number_are_left_out(run, tmp_path, has_durations):
    spent = pl.when(pl.col("age") > 80).then(float("nan")).otherwise(pl.col("spent"))
    frame = people(100).with_columns(spent=spent)
    if has_durations:  # which polars reads, and not DuckDB
        frame = frame.with_columns(since=pl.duration(hours=pl.col("age")))
    frame.write_parquet(tmp_path / "part-1.parquet")
    code, out, err = run("fit", tmp_path / "part-*.parquet", "--target", "spent", "--n-terms", 1)
    assert code == 0
    assert "rows have no target, 'spent', and are left out" in err
    assert f"Fitted to {frame['spent'].is_not_nan().sum()} rows" in out


def test_predictions_are_written_in_parts(run, parts, tmp_path):
    model, output = tmp_path / "model.json", tmp_path / "out.parquet"
    run("fit", parts, *FIT, "--n-terms", 2, "--output", model, "--quiet")
    code, out, err = run(
        "predict", model, parts, "--output", output, "--probabilities", "--keep-columns"
    )
    assert (code, err) == (0, "")
    assert "300 rows written to" in out
    found = pl.read_parquet(output)
    assert found.columns == [
        *people().columns,
        *("prediction", "probability_no", "probability_yes"),
    ]
    X = people(300).select(load_model(model).feature_names_in_.tolist())
    assert found["prediction"].to_list() == load_model(model).predict(X).tolist()
    refused(run("predict", model, parts), "go to a Parquet file")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "clint"], "Did you mean 'client'?"),
        (
            ["--target", "client", "--drop", "spent", "--n-terms", "cv"],
            "--n-terms cv needs a table",
        ),
        (
            ["--target", "spent", "--exposure", "[red]plan"],
            "The exposure must be a positive number",
        ),
        (["--target", "client", "--query", "SELECT 1"], "A query needs a database"),
    ],
)
def test_what_cannot_be_done_is_reported(run, parts, options, message):
    refused(run("fit", parts, *options), message)


@pytest.fixture
def fit_both(run, tmp_path, monkeypatch):
    """Fit to a text in memory and in parts, and tell the models and what was said in parts."""

    def fit(text, *options, name="table.csv"):
        (tmp_path / name).write_text(text)
        models = []
        for limit in (2**31, 10):
            monkeypatch.setattr(streamed, "MAX_BYTES_TO_LOAD", limit)
            how = (*options, "--n-terms", 1, "--output", tmp_path / "model.json", "--no-validation")
            code, _, err = run("fit", tmp_path / name, "--target", "y", *how, "--quiet")
            assert code == 0
            models.append(load_model(tmp_path / "model.json"))
        return *models, err

    return fit


@pytest.mark.parametrize(
    ("make", "separator", "name"),
    [
        (lambda number: f"{number:03}", ",", "table.csv"),
        (lambda number: f"{number / 8}", ";", "table.csv"),
        (lambda number: f"{number / 8}".replace(".", ","), ";", "table.csv"),
        (lambda number: "NA" if number == 5 else f"{number}", "|", "table.txt"),
        (lambda number: f"{2**53 + number}", ",", "table.csv"),
    ],
    ids=["codes", "semicolons", "decimal commas", "missing texts", "large numbers"],
)
def test_texts_are_read_in_parts_as_in_memory(run, fit_both, tmp_path, make, separator, name):
    rows = [("x", "other", "y")]
    rows += [(make(n % 20), str(n % 3), "no" if n % 20 < 13 else "yes") for n in range(200)]
    text = "".join(f"{separator.join(row)}\n" for row in rows)
    known, found, _ = fit_both(text, name=name)
    assert found.ensemble_[0].query == known.ensemble_[0].query
    assert found.reading_ == known.reading_
    # Still in parts.
    output = tmp_path / "out.parquet"
    assert run("predict", tmp_path / "model.json", tmp_path / name, "--output", output)[0] == 0
    in_memory = known.predict(table_file.TableFile(tmp_path / name, DEFAULT_FORMAT).features(known))
    assert pl.read_parquet(output)["prediction"].to_list() == in_memory.tolist()


@pytest.mark.parametrize("cell", ["{}.03.2024", "${}.00", "{}%", " {} "])
def test_texts_that_are_not_read_in_parts_as_in_memory_are_reported(fit_both, cell):
    rows = [f"{cell.format(10 + n % 19)},{'yes' if n % 2 else 'no'}\n" for n in range(100)]
    *_, err = fit_both("".join(["x,y\n", *rows]))
    assert "column 'x' is read as text, such as" in err
    *_, err = fit_both("".join(["x,y\n", *rows]), "--keep", "x")
    assert err == ""


@pytest.mark.parametrize("kind", ["parquet", "durations", "sqlite", "duckdb"])
def test_missing_texts_are_missing_wherever_they_stand(run, tmp_path, monkeypatch, kind):
    frame = pl.DataFrame(
        {
            "x": ["", " NA ", "a", "b", None] * 40,
            "n": [1, 2, 3] * 66 + [1, 2],
            "y": ["no", "no", "yes", "yes", "no", "no", "no", "yes", "no", "no"] * 20,
        }
    )
    if kind == "durations":  # which polars reads, and not DuckDB
        frame = frame.with_columns(span=pl.duration(days=pl.col("n")))
    table, how = tmp_path / "table.parquet", ("--target", "y", "--n-terms", 1, "--no-validation")
    frame.write_parquet(table)
    assert run("fit", table, *how, "--output", tmp_path / "known.json")[0] == 0
    run("predict", tmp_path / "known.json", table, "--output", tmp_path / "known.parquet")
    if kind == "sqlite":
        table = tmp_path / "table.db"
        with closing(sqlite3.connect(table)) as connection:
            frame.to_pandas().to_sql("t", connection, index=False)
    elif kind == "duckdb":
        table = tmp_path / "table.duckdb"
        with duckdb.connect(str(table)) as connection:
            connection.sql("CREATE TABLE t AS SELECT * FROM frame")
    monkeypatch.setattr(streamed, "MAX_BYTES_TO_LOAD", 10)
    assert run("fit", table, *how, "--output", tmp_path / "found.json")[0] == 0
    known, found = (load_model(tmp_path / f"{name}.json") for name in ("known", "found"))
    assert "x is missing" in str(known.ensemble_)
    assert found.ensemble_[0].query == known.ensemble_[0].query
    run("predict", tmp_path / "known.json", table, "--output", tmp_path / "found.parquet")
    read = [pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("known", "found")]
    assert read[0].equals(read[1])


def test_a_folder_of_texts_is_read_like_one_of_them(run, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "0.csv").write_text("x;y\n")
    (folder / "1.csv").write_text("x;y\n" + "NA;no\n0,5;no\n" * 20)
    (folder / "2.csv").write_text("x;y\n" + "2,5;yes\n3;yes\n" * 20)
    code, out, err = run("fit", folder, "--target", "y", "--n-terms", 1)
    assert code == 0
    assert "x > " in out
    assert "column" not in err


def test_counts_over_an_exposure(run, parts, tmp_path):
    models = []
    people(300).write_parquet(tmp_path / "whole.parquet")
    for number, table in enumerate((parts, tmp_path / "whole.parquet")):
        model = tmp_path / f"{number}.json"
        how = ("--target", "age", "--exposure", "weight", "--loss", "poisson", "--n-terms", 1)
        code, _, _ = run("fit", table, *how, "--output", model, "--no-validation")
        assert code == 0
        models.append(load_model(model))
    assert models[0].ensemble_.intercept == pytest.approx(models[1].ensemble_.intercept)
    assert models[0].ensemble_[0].query == models[1].ensemble_[0].query
    assert "weight" not in models[0].ensemble_.feature_names


def test_an_exposure_needs_a_loss_for_counts_however_a_table_is_read(run, parts, tmp_path):
    people(300).write_parquet(tmp_path / "whole.parquet")
    how = ("--target", "age", "--exposure", "weight", "--no-slopes")
    tables = [
        ("fit", parts),
        ("fit", tmp_path / "whole.parquet"),
        ("cv", tmp_path / "whole.parquet"),
    ]
    results = [run(command, table, *how) for command, table in tables]
    assert all(refused(result, "needs a loss with a logarithmic link") for result in results)
    assert len({err for _, _, err in results}) == 1


def test_a_pattern_without_files_is_reported(run, tmp_path):
    refused(run("fit", tmp_path / "no-*.parquet", "--target", "y"), "There is no file")


def test_bad_cells_of_parts_are_missing_values(run, tmp_path):
    """A cell of a later part may not be of the type that the first parts show."""
    model, output = tmp_path / "model.json", tmp_path / "out.parquet"
    cells = [*map(str, range(40)), "unk"]
    days = [f"{1 + n % 12:02}/{1 + n % 7:02}/2024" for n in range(40)] + ["soon"]
    table = pl.DataFrame({"age": cells, "day": days, "y": ["u"] * 20 + ["v"] * 21})
    for number, part in enumerate(table.iter_slices(20)):
        part.write_csv(tmp_path / f"part-{number}.csv")
    parts = tmp_path / "part-*.csv"
    fit = ["fit", parts, "--target", "y", "--n-terms", 2, "--output", model]
    code, _, err = run(*fit, "--numeric", "age", "--date", "day=%d/%m/%Y")
    assert code == 0
    messages = [
        "warning: column 'age' has 1 of 41 cells that are not numbers ('unk'): they are read as "
        "missing.",
        "warning: column 'day' has 1 of 41 cells that are not dates ('soon'): they are read as "
        "missing.",
    ]
    fitted = load_model(model)
    assert err.splitlines()[:2] == messages
    assert fitted.reading_.dates == {"day": "%d/%m/%Y"}
    code, _, err = run("predict", model, parts, "--output", output)
    used = fitted.ensemble_.used_features
    assert (code, err.splitlines()) == (
        0,
        [each for each in messages if each.split("'")[1] in used],
    )
    X = pl.DataFrame(
        {"age": [*range(40), None], "day": table["day"].str.to_date("%d/%m/%Y", strict=False)}
    )
    assert pl.read_parquet(output)["prediction"].to_list() == fitted.predict(X).tolist()


@pytest.mark.parametrize("target", ["client", "spent"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_all_rows_are_scored_however_a_table_is_read(
    run, parts, tmp_path, monkeypatch, target, weight
):
    monkeypatch.setattr(streamed, "FIRST_ROWS", 50)
    whole = tmp_path / "whole.parquet"
    people(300).write_parquet(whole)
    others = [name for name in ("client", "spent", "weight") if name not in (target, weight)]
    options = ["--target", target, "--drop", *others, "--n-terms", 2, "--no-slopes"]
    if weight is not None:
        options += ["--weight", weight]
    records = []
    for train, test in ((parts, whole), (whole, parts)):
        code, _, _ = run("fit", train, *options, "--test", test, "-o", tmp_path / "model.json")
        assert code == 0
        records.append(load_model(tmp_path / "model.json").record_)
    for training, test in (record.scores for record in records):
        assert (training.n_rows, test.n_rows) == (300, 300)
        assert training.values == pytest.approx(test.values)
        assert training.constants == pytest.approx(test.constants)
        assert training.classes == test.classes
    assert records[0].scores[0].values == pytest.approx(records[1].scores[0].values)


def test_rows_of_other_types_are_scored_in_parts(run, tmp_path):
    codes = pl.DataFrame({"k": ["80", "B", "C", "80"] * 20, "y": ["a", "b", "b", "a"] * 20})
    codes.write_csv(tmp_path / "train.csv")
    test = codes.filter(pl.col("k") == "80").with_columns(pl.col("k").cast(pl.Int64))
    folder = tmp_path / "parts"
    folder.mkdir()
    test.write_parquet(folder / "one.parquet")
    scores = []
    for path in (folder / "one.parquet", folder):
        options = ("--target", "y", "--n-terms", 1, "--test", path, "-o", tmp_path / "model.json")
        assert run("fit", tmp_path / "train.csv", *options)[0] == 0
        scores.append(load_model(tmp_path / "model.json").record_.scores[-1].values)
    assert scores[0] == scores[1]
    assert scores[0]["accuracy"] == 1.0
