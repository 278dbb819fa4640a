"""The options that 'laconic fit' and 'laconic cv' share."""

import dataclasses
import inspect
from typing import get_args, get_type_hints

import polars as pl
import pytest
from commands import people

from laconic import RuleBoostingClassifier, load_model
from laconic.cli.options import Format
from laconic.cli.terminal import CommandError
from laconic.cli.training import Learning, Source
from laconic.estimators.files import ESTIMATORS
from laconic.models.tasks import TASKS


def test_defaults_are_those_of_the_estimators():
    ours = Learning().parameters
    theirs = inspect.signature(RuleBoostingClassifier).parameters
    left_out = {"conditions", "warm_start", "on_interrupt", "callback", "verbose"}
    assert {*ours} == {*theirs} - left_out
    # Commands use all processors.
    assert ours == {name: theirs[name].default for name in ours} | {"n_jobs": -1}


def test_words_are_read_as_parameters():
    found = Learning(
        class_weight=("yes=5", "no=0.5"),
        categorical_features=("zip", "size=ordered", "a=b"),
        excluded_terms=("age > 65",),
        interactions=("age,sex", "plan"),
        cost=("mri=0.01", "sex=inf"),
        max_thresholds="all",
    ).parameters
    expected = {
        "class_weight": {"yes": 5.0, "no": 0.5},
        "categorical_features": {"zip": "nominal", "size": "ordered", "a=b": "nominal"},
        "excluded_terms": ["age > 65"],
        "interaction_cst": [["age", "sex"], ["plan"]],
        "feature_costs": {"mri": 0.01, "sex": float("inf")},
        "max_thresholds": None,
    }
    assert found.items() >= expected.items()
    assert Learning(class_weight=("balanced",)).parameters["class_weight"] == "balanced"
    with pytest.raises(CommandError, match=r"--class-weight takes a class and a number"):
        _ = Learning(class_weight=("yes",)).parameters


def test_class_weights_name_the_classes_of_the_target(run, table, tmp_path):
    frame = people().with_columns(client=pl.col("client") == "yes", level=pl.col("weight") - 1)
    frame.write_csv(table)
    saved = tmp_path / "model.json"
    weights = ["--class-weight", "true=5", "--output", saved, "--no-validation"]
    assert run("fit", table, "--target", "client", *weights)[0] == 0
    assert load_model(saved).settings_.class_weight == {True: 5.0}
    weights = ["--class-weight", "0=5", "2=1", "--task", "classification", "--output", saved]
    assert run("fit", table, "--target", "level", *weights, "--no-validation")[0] == 0
    assert load_model(saved).settings_.class_weight == {0: 5.0, 2: 1.0}
    code, _, err = run("fit", table, "--target", "spent", "--class-weight", "balanced")
    assert (code, "needs a target of classes" in err) == (1, True)


def test_every_task_can_be_chosen_and_fitted():
    choices = get_type_hints(Source)["task"]
    assert get_args(choices) == ("auto", *TASKS)
    assert [*ESTIMATORS] == [*TASKS]


@pytest.mark.parametrize("command", ["fit", "cv"])
def test_every_option_is_explained(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "500")
    code, out, _ = run(command, "--help")
    assert code == 0
    lines = out.splitlines()
    for field in [
        field
        for kind in (Source, Format, Learning)
        for field in dataclasses.fields(kind)
        if field.type != "options.Format"
    ]:
        option = f"--{field.name.replace('_', '-')} "
        [line] = [line for line in lines if option in line and "Usage" not in line]
        assert ". " in line.partition(option)[2]


@pytest.mark.parametrize("command", ["fit", "cv"])
def test_the_readable_search_is_not_offered(run, table, command):
    code, _, err = run(command, table, "--target", "client", "--search", "reference")
    assert code == 2
    assert "It must be 'optimal', 'greedy' or 'beam'." in err
