"""Files that commands read and write, and those they refuse."""

import gzip
import io
import os
import sys

import polars as pl
import pyarrow as pa
import pytest
from commands import fit_client, people, refused

from laconic import load_model
from laconic.tables.text_files import formats


def content(suffix):
    """Bytes of a table in a file of some kind."""
    frame, buffer = people(), io.BytesIO()
    match suffix.lower():
        case ".parquet" | ".pq":
            frame.write_parquet(buffer)
        case ".feather" | ".arrow" | ".ipc":
            frame.write_ipc(buffer)
        case ".jsonl" | ".ndjson":
            frame.write_ndjson(buffer)
        case ".json":
            frame.write_json(buffer)
        case ".tsv" | ".txt":
            frame.write_csv(buffer, separator="\t")
        case ".csv":
            frame.write_csv(buffer)
    return buffer.getvalue()


KINDS = [*formats.KINDS]
KINDS.remove(".xlsx")


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("suffix", [*KINDS, ".CSV"])
def test_all_kinds_of_tables_give_the_same_model(run, model, tmp_path, suffix, packed):
    path = tmp_path / f"other[1]{suffix}{packed}"
    unpacked = content(suffix)
    match packed:
        case ".gz":
            path.write_bytes(gzip.compress(unpacked))
        case ".zst":
            path.write_bytes(pa.compress(unpacked, codec="zstd", asbytes=True))
        case _:
            path.write_bytes(unpacked)
    result = run(*fit_client(path, "--output", tmp_path / "other.json", "--quiet"))
    if packed == ".zst" and formats.KINDS[suffix.lower()] in ("parquet", "ipc"):
        assert refused(result, "Decompress it with: zstd -d")
    else:
        assert result == (0, "", "")
        assert load_model(tmp_path / "other.json").ensemble_ == load_model(model).ensemble_


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".json", ".parquet", ".feather"])
def test_standard_input_tells_its_kind_by_itself(run, model, table, monkeypatch, suffix):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content(suffix))))
    assert run("predict", model, "-") == run("predict", model, table)


def test_hyphen_is_a_text_after_missing(run, model, tmp_path, monkeypatch):
    text = content(".csv").decode().replace(",plus,", ",-,")
    (tmp_path / "other.csv").write_text(text)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    given = run("predict", model, "-", "--missing=-")
    assert given[0] == 0
    assert given == run("predict", model, tmp_path / "other.csv", "--missing=-")
    assert run("predict", model, tmp_path / "no.csv", "--missing", "-")[0] != 0


def test_broken_standard_input_is_named(run, model, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert refused(run("predict", model, "-"), "Cannot read the table of the standard input.")


def test_excel_files_need_an_extra(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    path = tmp_path / "table.xlsx"
    path.write_bytes(b"PK\x03\x04")
    assert refused(run("fit", path, "--target", "y"), 'pip install "laconic[excel]"')


def test_excel_files_are_read(run, model, tmp_path):
    pytest.importorskip("fastexcel")
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (people().columns, *people().rows()):
        book.active.append(row)
    book.save(tmp_path / "people.xlsx")
    options = ["--output", tmp_path / "other.json", "--quiet"]
    assert run(*fit_client(tmp_path / "people.xlsx", *options)) == (0, "", "")
    # Excel rounds numbers to 16 digits, on which the weights of slopes depend.
    assert str(load_model(tmp_path / "other.json").ensemble_) == str(load_model(model).ensemble_)


def test_input_files_are_not_overwritten(run, table, model, tmp_path):
    before = table.read_bytes(), model.read_bytes()
    link = tmp_path / "link.json"
    link.hardlink_to(table)
    assert refused(run(*fit_client(table, "--output", table)), "would overwrite")
    assert refused(run(*fit_client(table, "--output", link)), "would overwrite")
    assert refused(run(*fit_client(table, "--output", tmp_path / "m.parquet")), "ends with .json")
    assert refused(run("predict", model, table, "--output", table), "would overwrite")
    assert refused(run("predict", model, table, "--output", model), "would overwrite")
    assert (table.read_bytes(), model.read_bytes()) == before
    assert run(*fit_client(table, "--quiet", "--output", tmp_path / "clients"))[0] == 0
    assert load_model(tmp_path / "clients").ensemble_ == load_model(model).ensemble_


def test_files_and_columns_that_are_not_there(run, table, model, tmp_path):
    assert refused(run("fit", tmp_path / "no.csv", "--target", "y"), "There is no file")
    message = "There is no file", "no.json", "path of the model"
    assert refused(run("show", tmp_path / "no.json"), *message)
    assert refused(run("predict", tmp_path / "no.json", table), *message)
    (tmp_path / "empty").mkdir()
    assert refused(run("fit", tmp_path / "empty", "--target", "y"), "A folder must hold a table")
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
    assert refused(run(*fit_client(table, "--output", missing_folder)), "existing folder")
    assert refused(run(*fit_client(table, "--output", os.devnull)), "regular file")
    assert refused(run("predict", model, table, "--output", tmp_path), "Cannot write")
    assert refused(run(*fit_client(table, "-o", "-")), "takes the name of a file")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("table.doc", b"a,y\n1,2\n", "must end with .csv, "),
        ("table.csv", b"", "It is empty"),
        ("table.csv", b" \n\n", "It is empty"),
        ("table.csv", b"a,y\n", "at least one row"),
        ("table.csv", b"a,y\n1,2\n1,2,3,4\n", "Line 3 has 4 cells, but there are 2 names"),
        ("table.csv", b"1.5,2\n2.5,3\n", "must hold the names of the columns. Got numbers: '1.5'"),
        ("table.csv", b"\x89PNG\x00\x01\x00", "contains bytes that are not valid text"),
        ("table.csv", b"a,y,a\n1,2,3\n", "Got 'a' more than once"),
        ("table.csv.gz", b"\x1f\x8b\x08broken", "Cannot read the table"),
        ("table.csv.zst", b"(\xb5/\xfdbroken", "Cannot read the table"),
        ("table.parquet", b"PAR1broken", "Cannot read the table"),
        ("table.feather", b"ARROW1broken", "Cannot read the table"),
        ("table.json", b'{"y": [1, 2]}', "'y'"),
        ("table.json", b'{\n"a": 1\n}', "one JSON object per line"),
        ("table.jsonl", b'{"a": 1', "one JSON object per line"),
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
    run("fit", table, "--target", "spent", "--output", tmp_path / "spent.json")
    result = run("predict", tmp_path / "spent.json", table, "--probabilities")
    assert refused(result, "--probabilities needs a model with classes")
    assert refused(run("predict", model, table, "--output", tmp_path / "out.txt"), ".parquet")
    people().with_columns(prediction=1).write_csv(tmp_path / "taken.csv")
    result = run("predict", model, tmp_path / "taken.csv", "--keep-columns")
    assert refused(result, "'prediction' already")
