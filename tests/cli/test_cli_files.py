"""Files that commands read and write, and those they refuse."""

import gzip
import os

import polars as pl
import pytest

from cli.commands import fit_client, people, refused
from laconic import load_model


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".parquet", ".pq", ".CSV"])
def test_all_kinds_of_tables_give_the_same_model(run, model, tmp_path, suffix):
    path = tmp_path / f"other[1]{suffix}"
    if suffix in (".parquet", ".pq"):
        people().write_parquet(path)
    elif suffix == ".csv.gz":
        path.write_bytes(gzip.compress(people().write_csv().encode()))
    else:
        people().write_csv(path, separator="\t" if suffix == ".tsv" else ",")
    code, *_ = run(*fit_client(path, "--model", tmp_path / "other.json"))
    assert code == 0
    assert load_model(tmp_path / "other.json").ensemble_ == load_model(model).ensemble_


def test_input_files_are_not_overwritten(run, table, model, tmp_path):
    before = table.read_bytes(), model.read_bytes()
    link = tmp_path / "link.json"
    link.hardlink_to(table)
    assert refused(run(*fit_client(table, "--model", table)), "would overwrite")
    assert refused(run(*fit_client(table, "--model", link)), "would overwrite")
    assert refused(run(*fit_client(table, "--model", tmp_path / "m.parquet")), "end with .json")
    assert refused(run("predict", model, table, "--output", table), "would overwrite")
    assert refused(run("predict", model, table, "--output", model), "would overwrite")
    assert (table.read_bytes(), model.read_bytes()) == before
    assert run(*fit_client(table, "--quiet", "--model", tmp_path / "clients"))[0] == 0
    assert load_model(tmp_path / "clients").ensemble_ == load_model(model).ensemble_


def test_files_and_columns_that_are_not_there(run, table, model, tmp_path):
    assert refused(run("fit", tmp_path / "no.csv", "--target", "y"), "There is no file")
    message = "There is no file", "no.json", "path of the model"
    assert refused(run("show", tmp_path / "no.json"), *message)
    assert refused(run("predict", tmp_path / "no.json", table), *message)
    assert refused(run("fit", tmp_path, "--target", "y"), "The table must be a file", "folder")
    assert refused(run("show", tmp_path), "The model must be a file", "folder")
    assert refused(run("predict", table, model), "The model comes first", "MODEL TABLE")
    assert refused(run("fit", table, "--target", "clint"), "'clint'. Did you mean 'client'?")
    assert refused(run(*fit_client(table, "--weight", "heft")), "'heft'")
    assert refused(run(*fit_client(table, "--drop", "x1", "x2")), "columns 'x1' and 'x2'")
    wide = pl.DataFrame({f"c{number}": [1] for number in range(40)})
    wide.write_csv(tmp_path / "wide.csv")
    assert refused(run("fit", tmp_path / "wide.csv", "--target", "y"), "'c9' and 30 more")
    people().drop("age", "income").write_csv(tmp_path / "less.csv")
    assert refused(run("predict", model, tmp_path / "less.csv"), "columns 'age' and 'income'")
    everything = ["--drop", *people().drop("client").columns]
    assert refused(run("fit", table, "--target", "client", *everything), "at least one column")
    missing_folder = tmp_path / "no" / "model.json"
    assert refused(run(*fit_client(table, "--model", missing_folder)), "existing folder")
    assert refused(run(*fit_client(table, "--model", os.devnull)), "regular file")
    assert refused(run("predict", model, table, "--output", tmp_path), "Cannot write")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("table.xlsx", b"a,y\n1,2\n", "must end with .csv, "),
        ("table.csv", b"", "Cannot read the table"),
        ("table.csv", b"a,y\n", "at least one row"),
        ("table.csv", b"a,y\n1,2\n1,2,3,4\n", "Cannot read the table"),
        ("table.csv", b"a,y\nb,1\n\xe9,2\n", "line 3 is not. Convert it, for example with: iconv"),
        ("table.csv", b"\xe9,y\n1,2\n", "iconv -f latin1 -t utf8 table.csv > utf8_table.csv"),
        ("table.csv", "a,y\n1,2\n".encode("utf-16"), "iconv -f utf16"),
        ("table.csv", b"a,y,a\n1,2,3\n", "Got 'a' more than once"),
        ("table.csv", b"a;y\n1,5;2\n", "Semicolons seem to separate"),
        ("table.csv", b"a\ty\n1\t2\n", "rename it to .tsv"),
        ("table.csv.gz", b"\x1f\x8b\x08broken", "Cannot read the table"),
        ("table.parquet", b"PAR1broken", "Cannot read the table"),
    ],
)
def test_unreadable_tables(run, tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    assert refused(run("fit", path, "--target", "y"), message)


def test_models_that_do_not_fit(run, table, model, tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text(model.read_text()[:100])
    assert refused(run("show", broken), "may be incomplete", "broken.json")
    assert refused(run("predict", broken, table), "may be incomplete")
    newer = tmp_path / "newer.json"
    newer.write_text(model.read_text().replace('"version": 1', '"version": 2'))
    assert refused(run("show", newer), "newer laconic. Upgrade")
    assert "save the model again" not in run("show", newer)[2]
    run("fit", table, "--target", "spent", "--model", tmp_path / "spent.json")
    result = run("predict", tmp_path / "spent.json", table, "--probabilities")
    assert refused(result, "--probabilities needs a model with classes")
    assert refused(run("predict", model, table, "--output", tmp_path / "out.txt"), ".parquet")
    people().with_columns(prediction=1).write_csv(tmp_path / "taken.csv")
    result = run("predict", model, tmp_path / "taken.csv", "--keep-columns")
    assert refused(result, "'prediction' already")
