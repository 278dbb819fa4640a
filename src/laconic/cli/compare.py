"""The command that tells two models apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import laconic
from laconic.cli import columns, files, inputs, options, screen
from laconic.model.comparison import Kind, RuleChange, compare_rules
from laconic.model.formatting import format_weight

if TYPE_CHECKING:
    from rich.table import Table

    Estimator: TypeAlias = laconic.RuleBoostingClassifier | laconic.RuleBoostingRegressor

__all__ = ["compare"]

EXIT_DIFFERENT = 3

_SIGNS: dict[Kind, str] = {"same": "", "changed": "~", "dropped": "-", "added": "+"}
_STYLES: dict[Kind, str] = {"same": "dim", "changed": "yellow", "dropped": "red", "added": "green"}


def compare(
    model_a: Path,
    model_b: Path,
    table: Path | None = None,
    /,
    *,
    json: options.Flag = False,
    exit_code: options.Flag = False,
    missing: options.Texts = columns.DEFAULT_MISSING,
) -> int:
    """Show which rules were added, dropped or changed from one model to another.

    Parameters
    ----------
    model_a : Path
        Saved model to start from.
    model_b : Path
        Saved model to compare it with.
    table : Path
        CSV, TSV or Parquet file with rows for which to compare the predictions.
    json : bool
        Write JSON: an object with the changes and, if there is a table, the agreement.
    exit_code : bool
        End with exit code 3 if there is any difference, as scripts may want to know.
    missing : tuple of str
        Texts that mean a missing cell in CSV and TSV files, besides no text at all.
    """
    old, new = files.load_model(model_a), files.load_model(model_b)
    _check_same_task(old, new)
    changes = compare_rules(old.ensemble_, new.ensemble_)
    intercepts = (old.ensemble_.intercept, new.ensemble_.intercept)
    agreement = None if table is None else _agreement(old, new, table, missing)
    if json:
        found: dict[str, Any] = {"intercepts": intercepts, "rules": [_as_dict(c) for c in changes]}
        screen.write_json(found if agreement is None else found | {"agreement": agreement})
    else:
        _show(changes, intercepts, agreement)
    is_different = intercepts[0] != intercepts[1] or any(c.kind != "same" for c in changes)
    return EXIT_DIFFERENT if exit_code and is_different else 0


def _check_same_task(old: Estimator, new: Estimator) -> None:
    classes = [getattr(estimator, "classes_", np.array([])).tolist() for estimator in (old, new)]
    if classes[0] != classes[1]:
        kinds = [f"one with the classes {names}" if names else "a regression" for names in classes]
        raise files.CommandError(
            f"The two models must predict the same. Got {kinds[0]} and {kinds[1]}. Choose models "
            "of the same target."
        )


def _agreement(
    old: Estimator, new: Estimator, table: Path, missing: options.Texts
) -> dict[str, float]:
    """Compare the predictions for the rows of a table."""
    with inputs.columns_by_name():
        first, second = (
            estimator.explain(inputs.read_features(table, estimator, missing)[1])
            for estimator in (old, new)
        )
    is_same = first.predictions == second.predictions
    difference = np.abs(first.raw_predictions - second.raw_predictions)
    return {
        "n_rows": len(is_same),
        "n_same": int(is_same.sum()),
        "mean_difference": float(difference.mean()),
        "largest_difference": float(difference.max()),
        "row_of_largest_difference": int(difference.argmax()),
    }


def _as_dict(change: RuleChange) -> dict[str, Any]:
    old, new = (
        None if rule is None else {"query": str(rule.query), "weight": rule.weight}
        for rule in (change.old, change.new)
    )
    return {"kind": change.kind, "old": old, "new": new}


def _show(
    changes: list[RuleChange], intercepts: tuple[float, float], agreement: dict[str, float] | None
) -> None:
    console = screen.make_console()
    kinds = [change.kind for change in changes]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in _SIGNS)
    screen.print_text(console, f"Rules: {counts}\n")
    console.print(_table(changes, intercepts), "", sep="\n")
    if agreement is not None:
        share = agreement["n_same"] / agreement["n_rows"]
        screen.print_text(
            console,
            f"Same prediction for {agreement['n_same']} of {agreement['n_rows']} rows "
            f"({share:.1%}). Raw predictions differ by {agreement['mean_difference']:.4g} on "
            f"average and by up to {agreement['largest_difference']:.4g}, in row "
            f"{agreement['row_of_largest_difference']}.",
        )


def _table(changes: list[RuleChange], intercepts: tuple[float, float]) -> Table:
    table = screen.make_table()
    table.add_column("")
    table.add_column("weight a", justify="right", no_wrap=True)
    table.add_column("weight b", justify="right", no_wrap=True)
    table.add_column("rule", overflow="fold")
    if intercepts != (0.0, 0.0):
        kind: Kind = "same" if intercepts[0] == intercepts[1] else "changed"
        weights = [*map(format_weight, intercepts)]
        table.add_row(_SIGNS[kind], *weights, "always (intercept)", style=_STYLES[kind])
    for change in changes:
        rules = (change.old, change.new)
        weights = ["" if rule is None else format_weight(rule.weight) for rule in rules]
        queries = dict.fromkeys(str(rule.query) for rule in rules if rule is not None)
        cell = screen.QueryCell("  ->  ".join(queries))
        table.add_row(_SIGNS[change.kind], *weights, cell, style=_STYLES[change.kind])
    return table
