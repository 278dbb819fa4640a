"""What commands show on a terminal and in a pipe."""

import re
import time

import numpy as np
import polars as pl
import pytest
from commands import fit_client, pretend_terminal

from estimators import STAGEWISE
from laconic import RuleBoostingClassifier, RuleBoostingRegressor, save_model
from laconic.cli import progress
from laconic.cli.training import Source


def test_counts_and_objectives_read_well(run, tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("x,cost\n" + "".join(f"{x},{200 * (x > 4)}\n" for x in range(8)))
    options = ("--task", "regression", "--n-terms", "1", "--l2-regularization", "0")
    code, out, _ = run("fit", path, "--target", "cost", *options)
    assert code == 0
    assert re.search(r" \d,\d{3} +proven optimal", out)


def test_names_from_tables_cannot_command_the_terminal(run, tmp_path):
    names = ["[bold]a[/nope]", "\x1b[31mred", ":smile:"]
    X = pl.DataFrame(np.eye(3)[[0, 1, 2] * 4], schema=names)
    model = RuleBoostingRegressor(6, **STAGEWISE).fit(X, [1.0, 4.0, 9.0] * 4)
    save_model(model, tmp_path / "model.json")
    code, out, _ = run("show", tmp_path / "model.json")
    assert code == 0
    assert all(name in out for name in ("[bold]a[/nope]", "\\x1b[31mred", ":smile:"))
    assert "\x1b" not in out


def test_rules_are_shown_once_on_a_terminal(run, table, monkeypatch):
    pretend_terminal(monkeypatch)
    code, out, _ = run(*fit_client(table, "--n-terms", 3))
    assert code == 0
    lines = [re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", line).strip() for line in out.splitlines()]
    assert sum(" if " in line for line in lines) == 0
    # What was shown during the search is wiped out by the codes in front of this.
    shown = lines[next(n for n, line in enumerate(lines) if "Classification model" in line) :]
    assert sum(line.endswith("proven optimal") for line in shown) == 3


def test_a_terminal_shows_that_a_table_is_read(run, table, monkeypatch):
    pretend_terminal(monkeypatch)
    read = Source.read

    def slow(source, *given, **options):
        time.sleep(0.3)  # the screen is drawn again
        return read(source, *given, **options)

    monkeypatch.setattr(Source, "read", slow)
    for command in ("fit", "cv"):
        _, out, _ = run(command, *fit_client(table, "--n-terms", 1)[1:])
        shown = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", out)
        assert "reading, " in shown.splitlines()[0]


@pytest.mark.parametrize("command", ["fit", "cv"])
def test_long_runs_in_a_pipe_write_lines_to_the_standard_error(run, table, command, monkeypatch):
    arguments = command, *fit_client(table, "--n-terms", 2)[1:]
    _, expected, nothing = run(*arguments)
    assert nothing == ""
    monkeypatch.setattr(progress, "INTERVAL", 1e-4)
    code, out, err = run(*arguments)
    assert code == 0
    assert re.sub(r"[\d.]+ s\b", "", out) == re.sub(r"[\d.]+ s\b", "", expected)
    lines = err.splitlines()
    assert all(
        re.fullmatch(r"(reading|preparing|term|validation|fold) ?.*, \d+ s", x) for x in lines
    )
    assert lines[0].startswith("reading")
    assert lines[-1].startswith("fold ")


@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_quiet_commands_stay_quiet(run, table, option, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    assert run(*fit_client(table, "--n-terms", 1, option))[2] == ""


def test_lines_break_between_conditions(run, tmp_path, monkeypatch):
    pretend_terminal(monkeypatch, n_columns=80)
    names = [f"column_with_a_rather_long_name_{number}" for number in range(3)]
    bits = np.array([[row >> bit & 1 for bit in range(3)] for row in range(8)] * 4, dtype=float)
    model = tmp_path / "model.json"
    X = pl.DataFrame(bits, schema=names)
    save_model(RuleBoostingRegressor(1).fit(X, bits.all(axis=1) * 9.0), model)
    _, out, _ = run("show", model)
    lines = out.partition("Features")[0].splitlines()
    for start, name in zip(("", "& ", "& "), names, strict=True):
        assert sum(f"{start}{name}" in line for line in lines) == 1
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
