"""The command line: what it prints and writes, and how it refuses."""

import gzip
import inspect
import json
import os
import re
import signal
import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest

import laconic
from laconic import (
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    __version__,
    cli,
    load_model,
    save_model,
)
from laconic.export import model_from_dict

PROGRAM = [sys.executable, "-c", "import sys; from laconic.cli import main; sys.exit(main())"]


def refused(result, *parts):
    """Check that a command failed with a message and nothing else."""
    code, out, err = result
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    for part in parts:
        assert part in err
    return True


def pretend_terminal(monkeypatch, n_columns=60):
    """Let commands believe that the standard output is a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(n_columns))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def people(n_rows=80, seed=0):
    generator = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": generator.integers(18, 90, size=n_rows),
            "[red]plan": generator.choice(["basic", "plus", None], size=n_rows).tolist(),
            "income": generator.normal(50, 10, size=n_rows),
            "weight": generator.integers(1, 4, size=n_rows),
        }
    )
    is_client = (frame["age"] > 40) & (frame["income"] > 45)
    return frame.with_columns(
        client=pl.Series(np.where(is_client, "yes", "no")),
        spent=pl.Series(np.where(is_client, 10.0, 1.0) + generator.normal(size=n_rows)),
    )


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "people.csv"
    people().write_csv(path)
    return path


@pytest.fixture
def model(table, tmp_path, run):
    path = tmp_path / "model.json"
    code, *_ = run(*fit_client(table, "--model", path, "--quiet"))
    assert code == 0
    return path


def fit_client(table, *options):
    return ["fit", table, "--target", "client", "--drop", "spent", "weight", *options]


def test_version_and_help(run):
    assert run("--version") == (0, f"{__version__}\n", "")
    code, out, _ = run("--help")
    assert code == 0
    assert all(command in out for command in ("demo", "fit", "show", "predict"))
    code, out, _ = run("fit", "--help")
    assert "--approximation-factor" in out


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["fly"], "fly"),
        (["fit"], "TABLE"),
        (["fit", "table.csv"], "--target"),
        (["fit", "table.csv", "--target", "y", "--n-rules", "many"], "many"),
        (["fit", "table.csv", "--target", "y", "--search", "lucky"], "lucky"),
        (["show", "a.json", "--colour"], "--colour"),
        (["fit", "table.csv"], "--target is required, but missing."),
        (["fit", "table.csv", "--target"], "--target requires an argument"),
        (
            ["fit", "--target", "y", "--drop", "x", "table.csv"],
            "missing. Put it before the options",
        ),
        (["fit", "table.csv", "--target", "y", "--n-rules", "0"], "--n-rules"),
        (["fit", "table.csv", "--target", "y", "--max-thresholds", "0"], "--max-thresholds"),
        (["fit", "table.csv", "--target", "y", "--l2-regularization=nan"], "--l2-regularization"),
        (["fit", "table.csv", "--target", "y", "--min-coverage=-1"], "--min-coverage"),
        (["fit", "table.csv", "--target", "y", "--approximation-factor=2"], "a number above 0"),
        (["fit", "table.csv", "--target", "y", "--time-limit=inf"], "--time-limit"),
        (["fit", "table.csv", "--target", "y", "--n-jobs=0"], "other than 0"),
    ],
)
def test_wrong_calls_are_told_from_errors(run, tokens, message):
    code, out, err = run(*tokens)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message.lower() in err.lower()


def test_defaults_are_those_of_the_estimators():
    ours = inspect.signature(cli.fit).parameters
    theirs = inspect.signature(RuleBoostingClassifier).parameters
    shared = ours.keys() & theirs.keys()
    assert len(shared) == 12
    assert {name: ours[name].default for name in shared} == {
        name: theirs[name].default for name in shared
    }


def test_counts_and_objectives_read_well(run, tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("x,cost\n" + "".join(f"{x},{100 * (x > 4)}\n" for x in range(8)))
    code, out, _ = run("fit", path, "--target", "cost", "--task", "regression", "--n-rules", "1")
    assert code == 0
    assert re.search(r"\b1 node,", out)
    assert re.search(r" \d{4} +proven optimal", out)


def test_demo_tells_its_story():
    process = subprocess.run([*PROGRAM, "demo"], capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stderr) == (0, "")
    out = process.stdout
    assert "\x1b" not in out
    greedy, optimal, comparison = re.split(r"Optimal search: |on all boards", out)
    assert "Greedy search: heuristic, no proof" in greedy
    assert optimal.startswith("proven optimal")
    for start in ("top-lft == x & top-mid == x & top-rgt == x", "bot-lft == o & bot-mid == o"):
        assert start in optimal
    assert re.search(r" 2 +\+\d.\d+ +top-lft == x & mid-mid == b ", greedy)
    assert re.search(r"proven optimal +0 of 10 +10 of 10", comparison)
    accuracy = re.search(r"accuracy +(0\.\d+) +(0\.\d+)", comparison)
    assert float(accuracy[1]) < 0.9 < 0.99 < float(accuracy[2])


def test_demo_fits_on_a_screen(monkeypatch, run):
    for n_columns, n_headers in ((80, 2), (140, 1)):
        pretend_terminal(monkeypatch, n_columns)
        _, out, _ = run("demo")
        lines = re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()
        assert max(map(len, lines)) <= n_columns
        assert sum("objective" in line for line in lines) == n_headers


def test_fit_shows_and_saves_the_model_of_the_api(run, table, tmp_path):
    path = tmp_path / "model.json"
    code, out, err = run(*fit_client(table, "--n-rules", 3, "--model", path))
    assert (code, err) == (0, "")
    X = people().drop("client", "spent", "weight")
    expected = RuleBoostingClassifier(3).fit(X, people()["client"].to_numpy())
    loaded = load_model(path)
    assert loaded.ensemble_ == expected.ensemble_
    assert loaded.classes_.tolist() == ["no", "yes"]
    n_covered = expected.ensemble_.covered(X).sum(axis=0)
    for rule, n_rows in zip(expected.ensemble_, n_covered, strict=True):
        assert out.count(str(rule.query)) == 2
        assert re.search(rf"{re.escape(str(rule.query))} +{n_rows} ", out)
    assert "rule 1/3: " in out
    assert "proven optimal" in out
    assert f"accuracy {expected.score(X, people()['client'].to_numpy()):.4g}" in out
    assert "Positive weights speak for yes, negative ones for no." in out
    assert f"Saved to {path}" in out


def test_fit_passes_every_option_on(run, table, tmp_path, monkeypatch):
    given = {}

    class Spy(RuleBoostingRegressor):
        def fit(self, X, y, sample_weight=None):
            given.update(self.get_params(), sample_weight=sample_weight, columns=X.columns)
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr(laconic, "RuleBoostingRegressor", Spy)
    options = {
        "n_rules": 2,
        "l2_regularization": 0.5,
        "search": "beam",
        "max_conditions": 2,
        "min_coverage": 2.5,
        "approximation_factor": 0.9,
        "node_limit": 77,
        "time_limit": 9.5,
        "max_thresholds": 3,
        "n_jobs": 2,
    }
    tokens = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    more = ["--fit-intercept", "--no-negated-categories", "--weight", "weight", "--drop=client"]
    code, out, _ = run("fit", table, "--target", "spent", *tokens, *more)
    assert code == 0
    assert "R² " in out
    flags = {"fit_intercept": True, "negated_categories": False}
    assert given.items() >= (options | flags).items()
    assert given["columns"] == ["age", "[red]plan", "income"]
    assert given["sample_weight"].tolist() == people()["weight"].to_list()


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ("node_limit", "none"),
        ("max_conditions", "none"),
        ("max_thresholds", "none"),
        ("max_thresholds", "all"),
    ],
)
def test_limits_can_be_lifted(run, table, monkeypatch, option, word):
    given = {}

    class Spy(RuleBoostingClassifier):
        def fit(self, X, y, sample_weight=None):
            given.update(self.get_params())
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr(laconic, "RuleBoostingClassifier", Spy)
    flag = f"--{option.replace('_', '-')}"
    code, *_ = run(*fit_client(table, flag, word, "--n-rules", 1, "--search", "greedy"))
    assert code == 0
    assert given[option] is None


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"], "Classification"),
        ([True, False], "Classification"),
        ([0, 1], "Classification"),
        ([3.0, 7.0], "Classification"),
        ([0.25, 0.5], "Regression"),
        ([1, 2, 3], "Regression"),
        ([1.5, 2.5, 3.5], "Regression"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_task_follows_from_the_target(run, tmp_path, values, task, suffix):
    y = (values * 6)[:12]
    frame = pl.DataFrame({"x": range(12), "y": y})
    path = tmp_path / f"table{suffix}"
    frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
    code, out, _ = run("fit", path, "--target", "y", "--n-rules", 1)
    assert code == 0
    assert f"{task} model: 1 rule" in out


def test_task_can_be_chosen(run, tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"x": range(8), "y": [0, 1] * 4}).write_csv(path)
    assert "Regression" in run("fit", path, "--target", "y", "--task", "regression")[1]


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


def test_unproven_rules_take_one_short_line_each(run, tmp_path):
    generator = np.random.default_rng(0)
    path = tmp_path / "noise.csv"
    pl.DataFrame(generator.normal(size=(200, 8))).write_csv(path)
    options = ["--target", "column_7", "--n-rules", 2, "--node-limit", 3]
    code, out, err = run("fit", path, *options)
    assert (code, err) == (0, "")
    assert len(re.findall(r"rule ./2: .* at least .* best possible \(stopped at --node", out)) == 2
    assert "Proven optimal over up to 7 thresholds per number: 0 of 2 rules" in out
    assert "2 searches stopped early. Raise --node-limit" in out
    assert "Warning" not in out


def test_proofs_over_all_thresholds_say_so(run, table):
    code, out, _ = run(*fit_client(table, "--max-thresholds", "all"))
    assert code == 0
    assert "Proven optimal over all thresholds: " in out


def test_quiet_fit_is_quiet(run, table):
    assert run(*fit_client(table, "--quiet")) == (0, "", "")


def test_table_without_structure_gives_no_rules(run, tmp_path):
    path = tmp_path / "constant.csv"
    pl.DataFrame({"x": [1, 2, 3], "y": [0.0, 0.0, 0.0]}).write_csv(path)
    code, out, _ = run("fit", path, "--target", "y", "--model", tmp_path / "model.json")
    assert code == 0
    assert "0 rules" in out
    code, out, _ = run("predict", tmp_path / "model.json", path)
    assert (code, out.split()) == (0, ["prediction", "0.0", "0.0", "0.0"])
    assert len(load_model(tmp_path / "model.json").ensemble_) == 0


def test_show_tells_all_about_a_model(run, model):
    code, out, err = run("show", model)
    assert (code, err) == (0, "")
    for rule in load_model(model).ensemble_:
        assert str(rule.query) in out
    assert "proven optimal" in out
    assert "\x1b" not in out
    assert re.search(r"Features in use \(\d of 3\): ", out)


def test_names_from_tables_cannot_command_the_terminal(run, tmp_path):
    names = ["[bold]a[/nope]", "\x1b[31mred", ":smile:"]
    X = pl.DataFrame(np.eye(3)[[0, 1, 2] * 4], schema=names)
    save_model(RuleBoostingRegressor(6).fit(X, [1.0, 4.0, 9.0] * 4), tmp_path / "model.json")
    code, out, _ = run("show", tmp_path / "model.json")
    assert code == 0
    assert all(name in out for name in ("[bold]a[/nope]", "\\x1b[31mred", ":smile:"))
    assert "\x1b" not in out


def test_predictions_are_those_of_the_api(run, model, tmp_path):
    other = people(50, seed=1).select("income", "spent", "[red]plan", "age")
    other.write_csv(tmp_path / "other.csv")
    code, out, err = run("predict", model, tmp_path / "other.csv", "--probabilities")
    assert (code, err) == (0, "")
    estimator = load_model(model)
    X = other.select(estimator.feature_names_in_.tolist())
    written = pl.read_csv(out.encode())
    assert written.columns == ["prediction", "probability_no", "probability_yes"]
    assert written["prediction"].to_list() == estimator.predict(X).tolist()
    probabilities = written.select(written.columns[1:]).to_numpy()
    np.testing.assert_array_equal(probabilities, estimator.predict_proba(X))


def test_models_as_json(run, model, table):
    saved = model.read_text(encoding="utf-8")
    assert run("show", model, "--json") == (0, saved, "")
    code, out, _ = run("fit", table, "--target", "spent", "--drop", "client", "--json")
    assert code == 0
    assert len(model_from_dict(json.loads(out)).ensemble_) == 10


def test_predictions_as_json(run, model, table):
    code, out, err = run("predict", model, table, "--json", "--probabilities")
    assert (code, err) == (0, "")
    _, csv, _ = run("predict", model, table, "--probabilities")
    assert json.loads(out) == pl.read_csv(csv.encode()).to_dicts()
    _, out, _ = run("predict", model, table, "--json", "--keep-columns")
    assert [*json.loads(out)[0]] == [*people().columns, "prediction"]


def test_json_goes_to_the_standard_output(run, model, table, tmp_path):
    refused(run("predict", model, table, "--json", "--output", tmp_path / "x.csv"), "Leave one of")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_predictions_go_to_a_file(run, table, tmp_path, suffix):
    model, output = tmp_path / "model.json", tmp_path / f"out{suffix}"
    run("fit", table, "--target", "spent", "--drop", "client", "--model", model)
    assert run("predict", model, table, "--output", output, "--keep-columns") == (0, "", "")
    if suffix == ".parquet":
        written = pl.read_parquet(output)
    else:
        written = pl.read_csv(output, separator="\t" if suffix == ".tsv" else ",")
    assert written.columns == [*people().columns, "prediction"]
    estimator = load_model(model)
    X = people().select(estimator.feature_names_in_.tolist())
    assert written["prediction"].to_list() == estimator.predict(X).tolist()


def test_text_that_looks_like_numbers_stays_text(run, tmp_path):
    """A column of text may hold only digits in the table to predict for."""
    codes = ["01", "2", "x"] * 5
    pl.DataFrame({"code": codes, "y": [5.0, 1.0, 2.0] * 5}).write_csv(tmp_path / "table.csv")
    model = tmp_path / "model.json"
    run("fit", tmp_path / "table.csv", "--target", "y", "--model", model)
    (tmp_path / "new.csv").write_text("code\n01\n2\n")
    code, out, err = run("predict", model, tmp_path / "new.csv")
    assert (code, err) == (0, "")
    expected = load_model(model).predict(pl.DataFrame({"code": ["01", "2"]}))
    assert out.split() == ["prediction", *map(str, expected.tolist())]


def test_one_odd_cell_does_not_pass_unnoticed(run, tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    a = [*map(str, range(40)), "?", "NA"]
    pl.DataFrame({"a": a, "b": ["x", "y", "1"] * 14, "y": range(42)}).write_csv(path)
    fit = ["fit", path, "--target", "y", "--model", model, "--n-rules", 1, "--search", "greedy"]
    code, _, err = run(*fit)
    assert code == 0
    assert err == (
        "warning: column 'a' is read as text because of '?' (1 of 42 cells). If these cells are "
        "missing values, add --missing '?' NA.\n"
    )
    assert run(*fit, "--missing", "?", "NA")[2] == ""
    assert load_model(model).ensemble_[0].query.propositions[0].relation in ("<=", ">")
    code, out, err = run("predict", model, path, "--missing", "?", "NA")
    assert (code, err) == (0, "")
    frame = pl.DataFrame({"a": [*range(40), None, None], "b": "x"})
    assert out.split()[1:] == [str(value) for value in load_model(model).predict(frame)]
    code, _, err = run("predict", model, path)
    assert code == 1
    assert re.match(r"warning: column 'a' .*\nerror: The condition .* needs a column of numb", err)


def test_all_usual_texts_for_missing_cells_are_known(run, tmp_path):
    path = tmp_path / "table.csv"
    gaps = ["", " ", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", '""', " NA"]
    numbers = [f"{number},1" for number in range(11)]
    path.write_text("\n".join(["a,y", *numbers, *(f"{gap},0" for gap in gaps)]))
    code, out, err = run("fit", path, "--target", "y", "--n-rules", 1)
    assert (code, err) == (0, "")
    assert re.search(r"a is missing +11 ", out)


def test_texts_that_start_with_a_hyphen_can_be_missing(run, tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"a": ["1", "2", "3", "-"], "y": [1, 2, 3, 4]}).write_csv(path)
    _, _, err = run("fit", path, "--target", "y")
    advice = err.split()[-1].removesuffix(".")
    assert advice == "--missing=-"
    assert run("fit", path, "--target", "y", advice)[2] == ""


def test_column_that_names_rows_is_pointed_out(run, tmp_path):
    path = tmp_path / "table.csv"
    visits = [f"v{number}" for number in range(60)]
    days = [f"day {number % 30}" for number in range(60)]
    frame = pl.DataFrame({"the visit": visits, "day": days, "x": range(60), "y": range(60)})
    frame.write_csv(path)
    fit = ["fit", path, "--target", "y", "--search", "greedy", "--quiet"]
    code, _, err = run(*fit)
    assert code == 0
    assert err == (
        "warning: column 'the visit' has 60 different values in 60 rows; rules about single "
        "values will not carry over. Leave it out with --drop 'the visit'.\n"
    )
    assert run(*fit, "--drop", "the visit") == (0, "", "")


def test_codes_stay_text_and_kept_cells_stay_as_they_are(run, tmp_path):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    lines = ["zip,flag,x,note", "01234,TRUE,1.50,NA", "99999,FALSE,2,", "01234,True,+3,a b"]
    path.write_text(
        "\n".join([lines[0] + ",y", *(f"{line},{len(line)}" for line in lines[1:] * 4)])
    )
    options = ["--target", "y", "--l2-regularization", "0.1", "--model", model, "--drop", "note"]
    code, out, err = run("fit", path, *options)
    assert (code, err) == (0, "")
    assert "zip == '01234'" in out or "zip == '99999'" in out
    (tmp_path / "new.csv").write_text("\n".join(lines))
    code, out, err = run("predict", model, tmp_path / "new.csv", "--keep-columns")
    assert (code, err) == (0, "")
    assert [line.rpartition(",")[0] for line in out.splitlines()] == lines


def test_numbers_with_zeros_in_front_are_numbers_to_a_model_of_numbers(run, tmp_path):
    model = tmp_path / "model.json"
    X = pl.DataFrame({"a": range(10)})
    save_model(RuleBoostingRegressor(1).fit(X, [0] * 5 + [1] * 5), model)
    (tmp_path / "new.csv").write_text("a\n007\n001\n")
    code, out, err = run("predict", model, tmp_path / "new.csv")
    assert (code, err) == (0, "")
    expected = load_model(model).predict(pl.DataFrame({"a": [7, 1]}))
    assert out.split()[1:] == [str(value) for value in expected]


def test_columns_that_no_rule_uses_need_not_be_there(run, tmp_path):
    X = pl.DataFrame({"a": range(10), "b": [0.0] * 10, "c": ["u"] * 10})
    model = tmp_path / "model.json"
    estimator = RuleBoostingRegressor(1).fit(X, [0] * 5 + [1] * 5)
    save_model(estimator, model)
    X.select("a").write_csv(tmp_path / "new.csv")
    code, out, err = run("predict", model, tmp_path / "new.csv")
    assert (code, err) == (0, "")
    assert out.split()[1:] == [str(value) for value in estimator.predict(X)]


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


def test_module_is_a_program(model):
    command = [sys.executable, "-m", "laconic", "show", str(model)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stderr) == (0, "")
    assert "Classification model" in process.stdout


def test_rules_are_shown_once_on_a_terminal(run, table, monkeypatch):
    pretend_terminal(monkeypatch)
    code, out, _ = run(*fit_client(table, "--n-rules", 3))
    assert code == 0
    lines = [re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", line).strip() for line in out.splitlines()]
    assert sum(" if " in line for line in lines) == 0
    assert sum("proven optimal" in line for line in lines) == 3


def test_lines_break_between_conditions(run, tmp_path, monkeypatch):
    pretend_terminal(monkeypatch, n_columns=80)
    names = [f"column_with_a_long_name_{number}" for number in range(3)]
    bits = np.array([[row >> bit & 1 for bit in range(3)] for row in range(8)] * 4, dtype=float)
    model = tmp_path / "model.json"
    X = pl.DataFrame(bits, schema=names)
    save_model(RuleBoostingRegressor(1).fit(X, bits.all(axis=1) * 9.0), model)
    _, out, _ = run("show", model)
    lines = out.splitlines()
    for start, name in zip(("", "& ", "& "), names, strict=True):
        assert sum(f"{start}{name} > 0" in line for line in lines) == 1
    assert not any(" > 0 & " in line for line in lines)


def test_classes_cannot_command_the_terminal(run, tmp_path, monkeypatch):
    pretend_terminal(monkeypatch)
    model, path = tmp_path / "model.json", tmp_path / "table.csv"
    X = pl.DataFrame({"x": range(8)})
    save_model(RuleBoostingClassifier(1).fit(X, ["\x1b[31mred"] * 4 + ["yes"] * 4), model)
    X.write_csv(path)
    code, out, _ = run("predict", model, path, "--probabilities")
    assert code == 0
    assert "\x1b" not in out
    assert "\\x1b[31mred" in out
    assert len(out.splitlines()) == 9


def test_model_without_feature_names_predicts_by_number(run, tmp_path):
    rows = np.arange(12.0).reshape(6, 2)
    save_model(RuleBoostingRegressor(2).fit(rows, [1, 1, 1, 2, 2, 2]), tmp_path / "model.json")
    pl.DataFrame(rows, schema=["x0", "x1"]).write_csv(tmp_path / "table.csv")
    code, out, err = run("predict", tmp_path / "model.json", tmp_path / "table.csv")
    assert (code, err) == (0, "")
    assert len(out.split()) == 7


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
    assert refused(run(*fit_client(table, "--drop", "x1", "x2")), "columns 'x1', 'x2'")
    wide = pl.DataFrame({f"c{number}": [1] for number in range(40)})
    wide.write_csv(tmp_path / "wide.csv")
    assert refused(run("fit", tmp_path / "wide.csv", "--target", "y"), "'c9' and 30 more")
    people().drop("age", "income").write_csv(tmp_path / "less.csv")
    assert refused(run("predict", model, tmp_path / "less.csv"), "columns 'age', 'income'")
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


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["a", None, "b", "a"], [], "missing in 1 of 4 rows"),
        ([1.0, None, float("nan"), 2.5], [], "missing in 2 of 4 rows"),
        (["a", "b", "c", "a"], [], "Only two classes are supported"),
        ([1, 2, 3, 4], ["--task", "classification"], "--task regression"),
        (["a", "b", "a", "b"], ["--task", "regression"], "holds text"),
        (["a", "a", "a", "a"], [], "two classes"),
        ([1, 2, 3, 4], ["--weight", "t"], "Weights must be numbers"),
        ([1, 2, 3, 4], ["--drop", "y"], "--drop must not name the target"),
    ],
)
def test_targets_that_do_not_fit(run, tmp_path, y, options, message):
    path = tmp_path / "table.parquet"
    pl.DataFrame({"x": [1, 2, 3, 4], "t": list("abcd"), "y": y}).write_parquet(path)
    assert refused(run("fit", path, "--target", "y", *options), message)


def test_dates_cannot_be_targets(run, tmp_path):
    path = tmp_path / "table.parquet"
    dates = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 4), eager=True)
    pl.DataFrame({"x": [1, 2, 3, 4], "day": dates}).write_parquet(path)
    assert refused(run("fit", path, "--target", "day"), "has the type Date")
    assert refused(run("fit", path, "--target", "x"), "'day'", "leave the column out")


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


@pytest.mark.parametrize("package", ["cyclopts", "rich", "polars"])
def test_missing_extras_are_named(package, table):
    program = f"import sys; sys.modules[{package!r}] = None; {PROGRAM[-1]}"
    command = [sys.executable, "-c", program, *map(str, fit_client(table))]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr == (
        'The command line needs extra packages. Install them with: pip install "laconic[cli]"\n'
    )


def test_reader_that_stops_early_causes_no_noise(model, table):
    command = [*PROGRAM, "predict", str(model), str(table)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


def hard_table(path):
    """Write a table with one good rule; proofs for the noise that is left take hours."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1500, 16))
    y = (X[:, 0] > 0.3) | (generator.random(1500) < 0.4)
    pl.DataFrame(X).with_columns(y=pl.Series(y)).write_parquet(path)


def hard_fit(tmp_path):
    hard_table(tmp_path / "hard.parquet")
    options = ["--node-limit", "none", "--l2-regularization", "0.1"]
    return ["fit", tmp_path / "hard.parquet", "--target", "y", *options]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
def test_interrupted_fit_keeps_its_rules(tmp_path):
    model = tmp_path / "model.json"
    command = [*PROGRAM, *map(str, hard_fit(tmp_path)), "--model", str(model)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            first_line = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert re.fullmatch(r"Interrupted: the model has \d of 10 rules\.\n", err)
    ensemble = load_model(model).ensemble_
    assert 1 <= ensemble.n_rules < 10
    assert first_line.startswith(f"rule 1/10: {ensemble[0]}  proven optimal")
    assert str(ensemble[0].query) in out
    assert f"Saved to {model}" in out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
def test_fit_interrupted_before_the_first_rule_saves_nothing(run, tmp_path):
    model = tmp_path / "model.json"
    hard_first_rule = ["--drop", "column_0", "--max-thresholds", 30]
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    code, out, err = run(*hard_fit(tmp_path), *hard_first_rule, "--model", model)
    timer.join()
    assert (code, out) == (130, "")
    assert err == "Interrupted before the first rule was found. Nothing is saved.\n"
    assert not model.exists()
