"""The options that 'laconic fit' and 'laconic cv' share."""

import dataclasses
import inspect
from typing import get_args, get_type_hints

import pytest

from laconic import RuleBoostingClassifier
from laconic.cli.options import Format
from laconic.cli.training import Learning, Source
from laconic.estimators import ESTIMATORS
from laconic.models.tasks import TASKS


def test_defaults_are_those_of_the_estimators():
    ours = Learning().parameters
    theirs = inspect.signature(RuleBoostingClassifier).parameters
    assert len(ours) == 27
    assert ours == {name: theirs[name].default for name in ours}


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
    assert '"optimal", "greedy", "beam".' in err
