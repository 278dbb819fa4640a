"""Messages about wrong calls and wrong tables are in the words of the command line."""

import re

import numpy as np
import polars as pl
import pytest

from laconic import RuleBoostingClassifier
from laconic.cli import main

PYTHON = re.compile(
    r"Errno|Traceback|\w+Error\b|\bNone\b|\bint\b|\bfloat\b|\bstr\b|\bdtype\b|Literal|parameter"
    r"|RuleBoosting|\b\w+_cst\b|\b(n|max|min)_[a-z]+\b|[a-z]='|\bdate_parts\b|, inf\)|object at 0x"
)
WRONG_FITS = {
    "--n-terms many": "must be a whole number, 'auto' or 'cv'.",
    "--n-terms -3": "must be a whole number of at least 1 or 'auto'.",
    "--n-terms 2.5": "It must be a whole number. Got 2.5.",
    "--brevity big": "must be a number.",
    "--brevity -1": "must be a number of at least 0.",
    "--max-conditions 0": "must be a whole number of at least 1 or none.",
    "--node-limit -1": "must be a whole number of at least 1, none or 'auto'.",
    "--time-limit soon": "must be a number.",
    "--loss squared": "--loss must be 'auto' or 'logistic'",
    "--loss quadratic": "It must be 'auto', 'logistic',",
    "--positive maybe": "--positive must name classes of the target, 'no' and 'yes'",
    "--drop zz": "It has 'n', 'x', 'c' and 'y'.",
    "--class-weight high": "such as yes=5",
    "--numeric c": "Column 'c' must hold numbers.",
    "--date c": "must hold dates in a known format.",
    "--monotonic c=1": "--monotonic must name features that have an order.",
    "--monotonic x=sideways": "such as age=+1 or price=-1",
    "--interactions x,zz": "--interactions names 'zz', which is not a column.",
    "--date-parts century": "It must be some of 'year', 'month', 'day'",
    "--weight c": "'c'",
    "--output folder": "Cannot write 'folder'",
    "--output none/model.json": "Cannot write 'none/model.json'",
    "--output model.csv": "ends with .json",
    "--test none.csv": "There is no file 'none.csv'.",
    "--folds 1": "Unknown option: --folds.",
    "--query t": "--query needs a database",
    "half": "Unexpected 'half'.",
}
WRONG_CALLS = {
    "fit": "laconic fit needs TABLE",
    "fit table.csv": "laconic fit needs --target",
    "fit none.csv --target y": "There is no file 'none.csv'.",
    "fit folder --target y": "Got the folder 'folder' without any.",
    "fit counts.csv --target y --loss poisson": "must not be negative with --loss poisson",
    "fit names.csv --target y": "too many for classes",
    "fit constant.csv --target z": "It has 'x' and 'y'.",
    "show none.json": "There is no file 'none.json'.",
    "show table.csv": "It must be JSON",
    "show folder": "Got the folder 'folder'.",
    "predict model.json none.csv": "There is no file 'none.csv'.",
    "predict model.json names.csv": "must have the column",
    "predict table.csv model.json": "The model comes first",
    "predict model.json table.csv -o folder": "Cannot write 'folder'",
    "explain model.json table.csv --row 5000": "--row must be less than the number of rows",
    "explain model.json table.csv --row first": "must be a whole number.",
    "explain model.json table.csv --row 1.5": "It must be a whole number.",
    "report model.json table.csv -o folder": "Cannot write 'folder'",
    "export model.json --to excel": "It must be 'json', 'sql',",
    "export model.json --to sql --dialect foo": "The 'dialect' must be one of",
    "export model.json --to python --table t": "--table needs --to sql.",
    "edit model.json table.csv --drop 99": "--drop must name terms by their numbers",
    "edit model.json table.csv --drop x": "must be a whole number.",
    "edit model.json table.csv --drop 1.5": "It must be a whole number.",
    "edit model.json table.csv --replace one": "such as '2: income > 40'",
    "certify model.json names.csv": "must have the column",
    "compare model.json none.json": "There is no file 'none.json'.",
    "alternatives model.json table.csv --term 44": "from 1 to",
    "cv none.csv --target y": "There is no file 'none.csv'.",
    "learn": 'Unknown command "learn".',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("messages")
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = np.where(x + rng.normal(size=80) > 0, "yes", "no")
    table = pl.DataFrame({"n": range(80), "x": x, "c": rng.choice([*"abc"], 80), "y": y})
    table.write_csv(path / "table.csv")
    pl.DataFrame({"z": x, "y": range(0, -80, -1)}).write_csv(path / "counts.csv")
    pl.DataFrame({"z": x, "y": [f"k{n}" for n in range(80)]}).write_csv(path / "names.csv")
    pl.DataFrame({"x": x, "y": 80 * [1]}).write_csv(path / "constant.csv")
    (path / "folder").mkdir()
    call = ["fit", path / "table.csv", "--target", "y", "--output", path / "model.json"]
    assert main([*map(str, call)]) == 0
    return path


def complaint(call, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    capsys.readouterr()
    assert main(call.split()) in (1, 2)
    errors = capsys.readouterr().err
    assert "error: " in errors
    assert not PYTHON.findall(errors), errors
    return " ".join(errors.split())


@pytest.mark.parametrize("option", WRONG_FITS)
def test_wrong_options_of_fit(option, folder, monkeypatch, capsys):
    message = complaint(f"fit table.csv --target y {option}", folder, monkeypatch, capsys)
    assert WRONG_FITS[option] in message


@pytest.mark.parametrize("call", WRONG_CALLS)
def test_wrong_calls(call, folder, monkeypatch, capsys):
    assert WRONG_CALLS[call] in complaint(call, folder, monkeypatch, capsys)


@pytest.mark.parametrize(
    "name", ["class_weight", "loss", "positive", "n_terms", "a float", "--drop", "strategy"]
)
def test_names_of_columns_stay_as_they_are(name, tmp_path, capsys):
    x = np.arange(80)
    path = tmp_path / "n_terms" / "max_thresholds.csv"
    path.parent.mkdir()
    colors = [*"ab"] * 40
    pl.DataFrame({name: colors, "x": x, "y": x > 40}).write_csv(path)
    call = ["fit", str(path), "--target", "y"]
    assert main([*call, f"--initial-terms={name!r} == zzz"]) == 1
    words, _, term = capsys.readouterr().err.partition(" has no category 'zzz'")
    assert words.removeprefix("error: ").strip("'") == name
    assert f"\n  {name!r} == zzz\n" in term
    assert main([*call, f"--initial-terms={name} = {{a, None}}"]) == 1
    assert "{a, None}" in capsys.readouterr().err
    assert main(["fit", str(path), "--target", "zz"]) == 1
    assert f"It has {name!r}, 'x' and 'y'." in capsys.readouterr().err
    assert main(["fit", str(path.with_name("n_terms.csv")), "--target", "y"]) == 1
    assert str(path.with_name("n_terms.csv")) in capsys.readouterr().err


def test_parameters_are_options_in_commands_alone(folder, capsys):
    table = str(folder / "table.csv")
    call = ["fit", table, "--target", "y", "--strategy", "global", "--monotonic", "x=1"]
    assert main(call) == 1
    errors = capsys.readouterr().err
    assert "--monotonic cannot be combined with --strategy global, which" in errors
    assert "Leave it out, or set --strategy joint." in errors
    model = RuleBoostingClassifier(strategy="global", monotonic_cst={"x": 1})
    with pytest.raises(ValueError, match="'monotonic_cst' cannot be combined with strategy='gl"):
        model.fit([[0.0], [1.0]], [0, 1])
