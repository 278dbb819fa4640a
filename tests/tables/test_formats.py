"""Text files as people have them: separators, decimal signs, encodings, headers."""

import polars as pl
import pytest
from commands import fit_client, people, refused, write_with_commas

from laconic import load_model
from laconic.tables.text_files.formats import read_cells


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_and_decimal_signs_are_found_out(
    run, model, tmp_path, suffix, separator, decimal
):
    path = tmp_path / f"other{suffix}"
    write = write_with_commas if decimal == "," else pl.DataFrame.write_csv
    write(people(), path, separator=separator)
    assert run(*fit_client(path, "--output", tmp_path / "other.json", "--quiet")) == (0, "", "")
    loaded = load_model(tmp_path / "other.json")
    assert loaded.ensemble_ == load_model(model).ensemble_
    assert loaded.reading_.decimal == decimal
    code, out, err = run("predict", tmp_path / "other.json", path)
    assert (code, err) == (0, "")
    assert out == run("predict", model, path)[1]


def test_what_was_found_out_is_told(run, tmp_path):
    path = tmp_path / "other.csv"
    write_with_commas(people(), path, ";")
    err = run(*fit_client(path))[2]
    assert err == (
        f"note: the table {str(path)!r} has cells separated by semicolons. --separator decides "
        "otherwise.\n"
        "note: commas in numbers are decimal signs. --decimal . decides otherwise.\n"
    )
    assert run(*fit_client(path, "--json"))[2] == ""


@pytest.mark.parametrize("separator", ["tab", "\\t", "\t"])
def test_separator_can_be_named(run, tmp_path, separator):
    """Each line has the same number of commas, too."""
    path = tmp_path / "table.csv"
    path.write_text("a, b\tc, d\n" + "1,5\t2,5\n3,5\t4,5\n" * 3)
    assert refused(run("fit", path, "--target", "c, d"), "column 'c, d'")
    code, out, err = run("fit", path, "--target", "c, d", "--separator", separator, "--json")
    assert (code, err) == (0, "")
    assert '"feature": "a, b"' in out
    assert run("fit", path, "--target", "y", "--separator", ";;")[0] == 2
    assert run("fit", path, "--target", "y", "--decimal", ";")[0] == 2


def test_one_row_is_read_as_the_training_file_was(run, tmp_path):
    """By itself, 1,234 is a number of thousands in one file and a fraction in another."""
    for decimal, number in ((".", "1,234.5"), (",", "1234,5")):
        path, model = tmp_path / "table.csv", tmp_path / "model.json"
        rows = [f"{number};1", "1;0", "2;0", "1999;1"] * 5
        path.write_text("\n".join(["a;y", *rows]))
        fit = ["fit", path, "--target", "y", "--n-terms", 1, "--output", model, "--quiet"]
        assert run(*fit) == (0, "", "")
        (tmp_path / "new.csv").write_text("a;b\n1,234;x\n")
        _, out, _ = run("predict", model, tmp_path / "new.csv")
        assert out.split() == ["prediction", "1" if decimal == "." else "0"]
        _, out, _ = run("predict", model, tmp_path / "new.csv", "--decimal", ".")
        assert out.split() == ["prediction", "1"]


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_other_commands_take_the_options(run, model, tmp_path, command):
    write_with_commas(people(), tmp_path / "other.csv", ";")
    people().write_csv(tmp_path / "same.csv")
    given = run(command, model, tmp_path / "other.csv", "--separator", ";", "--decimal", ",")
    assert given == run(command, model, tmp_path / "same.csv")
    assert run(command, model, tmp_path / "other.csv", "--separator", ",")[0] == 1


def cells(text, **options):
    content = text if isinstance(text, bytes) else text.encode()
    return read_cells(content, options.get("suffix", ".csv"), options.get("separator"))


def test_headers():
    assert cells('"say ""hi""",b\n1,"x ""y"""\n').frame.to_dicts() == [
        {'say "hi"': "1", "b": 'x "y"'}
    ]
    assert cells(" a , b\n1,2\n").frame.columns == ["a", "b"]
    assert cells(",a,,b\n1,2,3,4\n").frame.columns == ["Unnamed: 0", "a", "Unnamed: 2", "b"]
    assert cells("0,1,2\n5,6,7\n").frame.columns == ["0", "1", "2"]
    assert cells("\ufeffa,b\n1,2\n").frame.columns == ["a", "b"]
    assert cells("sep=|\r\na|b\r\n1,5|2\r\n").frame.to_dicts() == [{"a": "1,5", "b": "2"}]


def test_row_names_of_r_have_no_header():
    read = cells('"a" "b"\n"1" 2.5 "x"\n"2" 3.5 "y"\n', suffix=".txt")
    assert read.separator == " "
    assert read.frame.rows() == [("1", "2.5", "x"), ("2", "3.5", "y")]
    assert read.frame.columns == ["Unnamed: 0", "a", "b"]


def test_cells_may_hold_separators_and_ends_of_lines():
    read = cells('a,b\n"1;2;3","x\ny"\n"4;5;6",z\n')
    assert read.separator == ","
    assert read.frame.rows() == [("1;2;3", "x\ny"), ("4;5;6", "z")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_encodings(encoding):
    read = cells("größe,y\nvoilà,1\n".encode(encoding))
    assert read.frame.rows(named=True) == [{"größe": "voilà", "y": "1"}]
    assert len(read.doubts) == (encoding in ("latin-1", "cp1252"))


def test_doubts_about_a_file_are_warnings(run, tmp_path):
    path = tmp_path / "table.csv"
    rows = [f"{number},é,{number % 2}" for number in range(20)]
    path.write_bytes("\n".join(["a,b,y", *rows, "3,é", "4"]).encode("latin-1"))
    code, _, err = run("fit", path, "--target", "y", "--quiet")
    assert code == 0
    first, second, third = err.splitlines()
    assert "is not in UTF-8 (line 2), and read as Latin-1. If letters are wrong" in first
    assert "has lines that end before the last column, 2 of them, first line 22." in second
    assert third == "warning: 2 of 22 rows have no target, 'y', and are left out."


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            ["Store report", "a,b,c", "1,2,3", "4,5,6"],
            "It has 1 of them, but most other lines have 3",
        ),
        (["a,b", "1,2", "3,4,5"], "Line 3 has 3 cells, but there are 2 names"),
        (["a,a ", "1,2"], "Got 'a' more than once, without the blanks around it"),
        (["a,a", "1,2"], "Got 'a' more than once. Rename"),
    ],
)
def test_first_lines_that_are_no_header_are_refused(run, tmp_path, lines, words):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    assert refused(run("fit", path, "--target", "a"), words)


def test_empty_lines_and_cells_are_missing_values():
    frame = cells("a,b\n1,\n\n,2\n").frame
    assert frame.rows() == [("1", None), (None, None), (None, "2")]


def test_lists_and_lines_of_json_are_the_same():
    lines = '{"a": 1, "b": "x"}\n{"a": 2.5, "b": null, "c": true}\n'
    expected = pl.DataFrame({"a": [1.0, 2.5], "b": ["x", None], "c": [None, True]})
    assert cells(lines, suffix=".json").frame.equals(expected)
    listed = f"[{','.join(lines.splitlines())}]"
    assert cells(listed, suffix=".jsonl").frame.equals(expected)
