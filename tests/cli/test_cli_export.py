"""The export command: what it writes, and how it refuses."""

import json
import sqlite3
import subprocess
import sys

import onnxruntime
import polars as pl
import pytest

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model, save_model
from laconic.cli import main
from laconic.export import to_javascript, to_pmml, to_python, to_scorecard, to_sql

TABLE = pl.DataFrame(
    {
        "age": [34, 71, 66, 58, 80, 45, 69, 30],
        "plan": ["basic", "plus", "plus", "basic", None, "plus", "basic", "plus"],
        "client": ["no", "yes", "yes", "no", "yes", "no", "no", "no"],
    }
)


@pytest.fixture
def run(capfdbinary):
    """Run a command in this process: exit code, standard output, standard error."""

    def run(*tokens):
        code = main([str(token) for token in tokens])
        out, err = capfdbinary.readouterr()
        return code, out, err.decode()

    return run


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.json"
    estimator = RuleBoostingClassifier(n_terms=3).fit(TABLE.drop("client"), TABLE["client"])
    save_model(estimator, path)
    return path


@pytest.mark.parametrize(
    ("options", "write"),
    [
        (["python"], to_python),
        (["javascript"], to_javascript),
        (["pmml"], to_pmml),
        (["scorecard"], lambda model: f"{to_scorecard(model)}\n"),
        (["scorecard", "--max-points", 3], lambda m: f"{to_scorecard(m, max_points=3)}\n"),
        (["sql", "--dialect", "duckdb"], lambda model: f"{to_sql(model, 'duckdb')}\n"),
        (
            ["sql", "--dialect", "postgres", "--table", "t", "--keep", "id", "--term-columns"],
            lambda m: to_sql(m, "postgres", table="t", keep=["id"], term_columns=True) + "\n",
        ),
    ],
)
def test_it_writes_what_the_library_writes(run, model, tmp_path, options, write):
    expected = write(load_model(model)).encode()
    assert run("export", model, "--to", *options) == (0, expected, "")
    output = tmp_path / "output"
    assert run("export", model, "--to", *options, "--output", output) == (0, b"", "")
    assert output.read_bytes() == expected


def test_json_is_the_saved_model(run, model):
    assert run("export", model, "--to", "json") == (0, model.read_bytes(), "")


def test_onnx_goes_to_a_file_or_a_pipe_but_not_to_a_terminal(run, model, tmp_path, monkeypatch):
    code, out, _ = run("export", model, "--to", "onnx")
    assert code == 0
    assert onnxruntime.InferenceSession(out).get_outputs()[0].name == "raw_prediction"
    run("export", model, "--to", "onnx", "--output", tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run("export", model, "--to", "onnx") == (
        *(2, b""),
        "error: ONNX is a binary format. Name a file to write with --output.\n",
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_scorecard_on_data(run, model, tmp_path, suffix):
    data = tmp_path / f"data{suffix}"
    (TABLE.write_csv if suffix == ".csv" else TABLE.write_parquet)(data)
    options = ["--to", "scorecard", "--data", data, "--target", "client"]
    code, out, _ = run("export", model, *options, "--json")
    expected = to_scorecard(load_model(model), X=TABLE.drop("client"), y=TABLE["client"].to_numpy())
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    assert run("export", model, *options)[1].decode() == f"{expected}\n"


def test_scorecard_on_data_with_the_target_of_the_fit(run, tmp_path):
    TABLE.write_csv(tmp_path / "data.csv")
    fitted = tmp_path / "model.json"
    assert run("fit", tmp_path / "data.csv", "--target", "client", "-o", fitted)[0] == 0
    options = ("export", fitted, "--to", "scorecard", "--data", tmp_path / "data.csv")
    assert run(*options) == run(*options, "--target", "client")
    assert run(*options)[0] == 0


def test_scorecard_of_a_regression_and_of_numbers_as_classes(run, tmp_path):
    data, path = tmp_path / "data.csv", tmp_path / "model.json"
    table = TABLE.select("age", y=(pl.col("client") == "yes").cast(int))
    table.write_csv(data)
    X, y = table.select("age"), table["y"].to_numpy()
    for estimator in (RuleBoostingRegressor(n_terms=2), RuleBoostingClassifier(n_terms=2)):
        save_model(estimator.fit(X, y), path)
        code, out, _ = run(*("export", path, "--to", "scorecard", "--data", data, "--target", "y"))
        assert (code, out.decode()) == (0, f"{to_scorecard(estimator, X=X, y=y)}\n")


def test_sql_runs(run, model):
    _, out, _ = run("export", model, "--to", "sql", "--dialect", "sqlite", "--table", "people")
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (age, plan)")
    connection.executemany("INSERT INTO people VALUES (?, ?)", TABLE.drop("client").rows())
    predictions = [row[-1] for row in connection.execute(out.decode())]
    connection.close()
    assert predictions == load_model(model).predict(TABLE.drop("client")).tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["sql"], "--to sql needs --dialect"),
        (["python", "--dialect", "sqlite"], "--dialect needs --to sql. Got --to python"),
        (["sql", "--dialect", "sqlite", "--json"], "--json needs --to scorecard"),
        (["sql", "--dialect", "sqlite", "--keep", "id"], "--keep needs --table"),
        (["scorecard", "--target", "client"], "--target needs --data"),
        (["excel"], "excel"),
    ],
)
def test_wrong_calls(run, model, options, message):
    code, out, err = run("export", model, "--to", *options)
    assert (code, out) == (2, b"")
    assert message in err


def test_errors(run, model, tmp_path):
    for options, message in {
        ("--to", "sql", "--dialect", "klingon"): "must be one of athena",
        ("--to", "python", "--output", model): "would overwrite a file that the command reads",
        ("--to", "python", "--output", tmp_path / "no" / "x"): "Create the folder",
    }.items():
        code, out, err = run("export", model, *options)
        assert (code, out) == (1, b"")
        assert message in err
    code, _, err = run("export", tmp_path / "none.json", "--to", "python")
    assert code == 1
    assert "There is no file" in err


@pytest.mark.parametrize(("package", "form"), [("sqlglot", "sql"), ("onnx", "onnx")])
def test_missing_extras_are_named(run, model, monkeypatch, package, form):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    options = ["--dialect", "sqlite"] if form == "sql" else []
    code, _, err = run("export", model, "--to", form, *options)
    assert code == 1
    assert f'pip install "laconic[{form}]"' in err


def test_extras_are_imported_only_when_needed():
    script = "import sys, laconic.export; print({'sqlglot', 'onnx', 'duckdb'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
