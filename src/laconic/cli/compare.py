"""The command that tells two models apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic.cli import files, model_comparison, options, table_file, terminal
from laconic.cli.terminal import EXIT_DIFFERENT, CommandError
from laconic.terms.comparison import Kind, RuleChange, compare_rules
from laconic.terms.formatting import INTERCEPT, format_number, format_percent, format_weight

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from laconic.models.rule_model import RuleModel
    from laconic.models.tasks import Task
    from laconic.terms.rules import Rule, RuleEnsemble

_SIGNS: dict[Kind, str] = {"same": "", "changed": "~", "dropped": "-", "added": "+"}
_STYLES: dict[Kind, str] = {"same": "dim", "changed": "yellow", "dropped": "red", "added": "green"}


def compare(
    model_a: Path,
    model_b: Path,
    table: Path | None = None,
    /,
    *,
    target: str | None = None,
    json: options.Flag = False,
    exit_code: options.Flag = False,
    format: options.Format = options.DEFAULT_FORMAT,
) -> int:
    """Show how two models differ, and which one predicts better.

    Parameters
    ----------
    model_a : Path
        Saved model to start from.
    model_b : Path
        Saved model to compare it with.
    table : Path
        File with rows for which to compare the predictions.
    target : str
        Column of the table that the models predict, to tell which of them does it better: on rows
        that neither has seen. Without this option it is the one that both were fitted to, if the
        table has it.
    json : bool
        Write JSON: an object with the changes and, if there is a table, the agreement and scores.
    exit_code : bool
        End with exit code 3 if there is any difference, as scripts may want to know.
    """
    old, new = files.load_model(model_a), files.load_model(model_b)
    _check_same_task(old.task_, new.task_)
    changes = compare_rules(old.ensemble_, new.ensemble_)
    intercepts = (old.ensemble_.intercept, new.ensemble_.intercept)
    if target is not None and table is None:
        raise CommandError(
            "--target is a column of a table. Got none. Name a table after the two models."
        )
    rows = None if table is None else table_file.TableFile(table, format)
    agreement = None if rows is None else _agreement(old, new, rows)
    contest = None if rows is None else model_comparison.hold((old, new), rows, target)
    if json:
        found: dict[str, Any] = {"intercepts": intercepts, "rules": [_as_dict(c) for c in changes]}
        found |= {} if agreement is None else {"agreement": agreement}
        terminal.write_json(found if contest is None else found | {"scores": contest.as_dict()})
    else:
        console = terminal.make_console()
        _show(console, changes, (old, new), agreement)
        if contest is not None:
            contest.show(console)
    is_different = intercepts[0] != intercepts[1] or any(c.kind != "same" for c in changes)
    return EXIT_DIFFERENT if exit_code and is_different else 0


def _check_same_task(old: Task, new: Task) -> None:
    if (old.name, old.labels) != (new.name, new.labels):
        raise CommandError(
            f"The two models must predict the same. Got {_kind(old)} and {_kind(new)}. Choose "
            "models of the same target."
        )


def _kind(task: Task) -> str:
    return f"a {task.name}" if task.labels is None else f"one with the classes {task.labels}"


def _agreement(old: RuleModel, new: RuleModel, rows: table_file.TableFile) -> dict[str, float]:
    """Compare the predictions for the rows of a table."""
    first, second = (table_file.predictions_for(model, rows) for model in (old, new))
    is_same = first.values == second.values
    # Of three or more classes, that with the largest one.
    difference = np.abs(first.raw - second.raw).reshape(len(is_same), -1).max(axis=1)
    return {
        "n_rows": len(is_same),
        "n_same": int(is_same.sum()),
        "mean_difference": float(difference.mean()),
        "largest_difference": float(difference.max()),
        "row_of_largest_difference": int(difference.argmax()),
    }


def _as_dict(change: RuleChange) -> dict[str, Any]:
    old, new = (
        None
        if rule is None
        else {
            "query": str(rule.query),
            "weight": rule.weight,
            **({"output": rule.output} if rule.output else {}),
        }
        for rule in (change.old, change.new)
    )
    return {"kind": change.kind, "old": old, "new": new}


def _show(
    console: Console,
    changes: list[RuleChange],
    models: tuple[RuleModel, RuleModel],
    agreement: dict[str, float] | None,
) -> None:
    kinds = [change.kind for change in changes]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in _SIGNS)
    terminal.print_text(console, f"Rules: {counts}\n")
    ensembles = models[0].ensemble_, models[1].ensemble_
    console.print(_table(changes, ensembles), "", sep="\n")
    if agreement is not None:
        share = agreement["n_same"] / agreement["n_rows"]
        terminal.print_text(
            console,
            f"Same prediction for {agreement['n_same']:,} of {agreement['n_rows']:,} rows "
            f"({format_percent(share)}). Difference in the {models[0].task_.sum_words}: "
            f"{format_number(agreement['mean_difference'])} on average, up to "
            f"{format_number(agreement['largest_difference'])}, in row "
            f"{agreement['row_of_largest_difference']}.",
        )


def _table(changes: list[RuleChange], ensembles: tuple[RuleEnsemble, RuleEnsemble]) -> Table:
    table = terminal.make_table()
    table.add_column("")
    table.add_column("weight a", justify="right", no_wrap=True)
    table.add_column("weight b", justify="right", no_wrap=True)
    table.add_column("rule", overflow="fold")
    for name, intercepts in _intercepts(ensembles):
        kind: Kind = "same" if intercepts[0] == intercepts[1] else "changed"
        weights = [*map(format_weight, intercepts)]
        table.add_row(_SIGNS[kind], *weights, terminal.QueryCell(name), style=_STYLES[kind])
    for change in changes:
        rules = (change.old, change.new)
        weights = ["" if rule is None else format_weight(rule.weight) for rule in rules]
        pairs = zip(ensembles, rules, strict=True)
        queries = dict.fromkeys(_text(each, rule) for each, rule in pairs if rule is not None)
        cell = terminal.QueryCell("  ->  ".join(queries))
        table.add_row(_SIGNS[change.kind], *weights, cell, style=_STYLES[change.kind])
    return table


def _intercepts(ensembles: tuple[RuleEnsemble, RuleEnsemble]) -> list[tuple[str, list[float]]]:
    """List what both models start from, with words, where that is worth a line."""
    if ensembles[0].outputs:
        pairs = zip(ensembles[0].outputs, ensembles[1].outputs, strict=True)
        return [(f"for {a.name} {INTERCEPT}", [a.intercept, b.intercept]) for a, b in pairs]
    intercepts = [ensemble.intercept for ensemble in ensembles]
    return [] if intercepts == [0.0, 0.0] else [(INTERCEPT, intercepts)]


def _text(ensemble: RuleEnsemble, rule: Rule) -> str:
    name = ensemble.output_of(rule)
    return f"for {name}: {ensemble.text(rule.query)}" if name else ensemble.text(rule.query)
