"""Targets and tasks on the command line."""

import json

import polars as pl
import pytest
from commands import refused

from laconic import load_model
from laconic.estimators.files import ESTIMATORS


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
    code, out, _ = run("fit", path, "--target", "y", "--n-terms", 1)
    assert code == 0
    assert f"{task} model: 1 " in out


def test_task_can_be_chosen(run, tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"x": range(8), "y": [0, 1] * 4}).write_csv(path)
    assert "Regression" in run("fit", path, "--target", "y", "--task", "regression")[1]


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([None, None, float("nan"), None], [], "'y' is empty"),
        ([1, 2, 3, 4], ["--exposure", "t"], "The exposure must be a positive number"),
        (["a", "b", "a", "b"], ["--exposure", "x", "--task", "classification"], "--exposure needs"),
        (["a", "b", "a", "b"], ["--task", "regression"], "holds text"),
        (["a", "a", "a", "a"], [], "There is nothing to learn"),
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


@pytest.mark.parametrize("missing", ["", "NaN"])
@pytest.mark.parametrize("y", [["a", None, "b", "a"], [1.5, None, 3.5, 4.5]])
def test_rows_without_a_target_are_left_out(run, tmp_path, y, missing):
    path, model = tmp_path / "table.csv", tmp_path / "model.json"
    frame = pl.DataFrame({"x": [1, 2, 3, 4] * 5, "w": [1, 9, 1, 1] * 5, "y": y * 5})
    frame.write_csv(path, null_value=missing)
    told = "warning: 5 of 20 rows have no target, 'y', and are left out.\n"
    fit = ["fit", path, "--target", "y", "--weight", "w", "--output", model, "--quiet"]
    assert run(*fit) == (0, "", told)
    known = frame.drop_nulls()
    estimator = ESTIMATORS["regression" if isinstance(y[0], float) else "classification"]
    expected = estimator().fit(known[["x"]], known["y"].to_numpy(), known["w"].to_numpy())
    assert load_model(model).ensemble_ == expected.ensemble_
    report = ["report", model, path, "--target", "y", "--json"]
    code, out, err = run(*report)
    assert (code, err) == (0, told)
    assert json.loads(out)["data"]["n_rows"] == 15
    assert run("cv", path, "--target", "y", "--n-terms", 1, "--folds", 2)[2] == told
    assert len(run("predict", model, path)[1].splitlines()) == 21


def test_three_classes_are_fitted(run, tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"x": range(30), "y": ["low"] * 10 + ["mid"] * 10 + ["top"] * 10}).write_csv(path)
    told = run("fit", path, "--target", "y", "--n-terms", "2")[1]
    assert "Classification model" in told
    assert "class" in told


def test_a_few_whole_numbers_are_told_of(run, tmp_path):
    path = tmp_path / "table.csv"
    pl.DataFrame({"x": range(30), "y": [0, 1, 2] * 10}).write_csv(path)
    _, told, notes = run("fit", path, "--target", "y", "--n-terms", "1")
    assert "Regression model" in told
    assert "If they are classes, use --task classification" in notes
    told = run("fit", path, "--target", "y", "--task", "classification", "--n-terms", "1")[1]
    assert "Classification model" in told


def test_too_many_classes_are_refused(run, tmp_path):
    path = tmp_path / "table.csv"
    names = [f"name {number}" for number in range(300)]
    pl.DataFrame({"x": range(300), "y": names}).write_csv(path)
    assert refused(run("fit", path, "--target", "y"), "too many for classes")


def test_counts_over_an_exposure(run, tmp_path):
    path = tmp_path / "table.csv"
    rows = {"x": [0, 1] * 20, "years": [1.0, 2.0] * 20, "y": [1, 8] * 19 + [0, 7]}
    pl.DataFrame(rows).write_csv(path)
    told = run("fit", path, "--target", "y", "--loss", "poisson", "--exposure", "years")[1]
    assert "Weights add up to the logarithm of the expected count" in told
    assert "mean deviance" in told


@pytest.mark.parametrize(("text", "advice"), [("id", "choose another column"), ("", "--task reg")])
def test_a_class_for_each_row_is_refused(run, tmp_path, text, advice):
    """Two hundred rows with an identifier as the target gave a model of two hundred classes."""
    path = tmp_path / "table.csv"
    rows = "".join(f"{x % 7},{text}{x}\n" for x in range(60))
    path.write_text(f"x,y\n{rows}", encoding="utf-8")
    result = run("fit", path, "--target", "y", "--task", "classification")
    assert refused(result, "60 different values, too many for classes", advice)
