"""Targets and tasks on the command line."""

import polars as pl
import pytest

from cli.commands import refused


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


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["a", None, "b", "a"], [], "missing in 1 of 4 rows"),
        ([1.0, None, float("nan"), 2.5], [], "missing in 2 of 4 rows"),
        (["a", "b", "c", "a"], [], "Only two classes are supported"),
        ([1, 2, 3, 4], ["--task", "classification"], "--task regression"),
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
    assert refused(run("fit", path, "--target", "x"), "'day'", "leave the column out")
