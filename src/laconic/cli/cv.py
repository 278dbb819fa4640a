"""The command that scores models of every size by cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._util.types import Floats
from laconic.cli import options, table_file, terminal, validation
from laconic.cli.progress import READING, FitScreen
from laconic.cli.training import DEFAULT_LEARNING, Learning, Source
from laconic.estimators.parameters import N_TERMS
from laconic.terms.formatting import format_count, format_estimate

if TYPE_CHECKING:
    from rich.table import Table

    from laconic.estimators.choose_size import Choice


def cv(
    table: options.Place,
    /,
    *,
    source: Source,
    folds: options.Folds = validation.DEFAULT_FOLDS,
    seed: int = 0,
    learning: Learning = DEFAULT_LEARNING,
    json: options.Flag = False,
) -> None:
    """Score models of 0, 1, 2, ... terms by cross-validation, to choose their number.

    Each part of the rows is scored by models fitted to the other parts.

    Parameters
    ----------
    table : Path
        File as for 'laconic fit'.
    folds : int
        Number of parts (folds).
    seed : int
        Random seed for the division into parts.
    json : bool
        Write JSON: an object with a list of scores per size.
    """
    console = terminal.make_console(quiet=json)
    progress = FitScreen(console)
    with progress.show(READING):
        rows = source.read(table, quiet=json)
    is_number = isinstance(learning.n_terms, int)
    model = learning.make(rows, n_terms=learning.n_terms if is_number else N_TERMS.default)
    parts = validation.splits(rows, folds, seed)
    with table_file.short_warnings(), progress.show("validation"):
        found = validation.score_folds(model, rows, parts, progress.check, refits=True)
    found = [fold.padded(model.n_terms + 1) for fold in found]
    choice, task = validation.choose_size(found, rows, parts), found[-1].task
    # By the name of the metric, of shape (n_folds, n_terms + 1).
    scores = {
        name: np.array([[size.values[name] for size in fold.sizes] for fold in found])
        for name in task.deciding_metrics
    }
    constants = {name: np.array([f.scores.constants[name] for f in found]) for name in scores}
    if json:
        terminal.write_json(_as_dict(scores, constants, choice))
        return
    labels = {metric.name: metric.label for metric in task.metrics}
    console.print(_table(labels, scores, constants, choice), "", sep="\n")
    console.print(
        f"Mean and standard error over {folds} folds of {format_count(len(rows.y), 'row')}. "
        f"{_advice(choice, model.n_terms)}"
    )


def _advice(choice: Choice, n_terms: int) -> str:
    """Describe which number of terms to choose, of those up to a limit."""
    from laconic.estimators.choose_size import describe_limit

    words = f"The mean loss is smallest with {format_count(choice.best, 'term')}"
    if choice.n_terms < choice.best:
        words += f", and within one standard error of that with {choice.n_terms}"
    if choice.n_terms == 0:
        return f"{words}. These columns do not predict the target: a constant is as good."
    if choice.best == n_terms:
        words += f". {describe_limit(n_terms)} Try --n-terms {2 * n_terms}"
    return f"{words}. Set the number with laconic fit --n-terms."


def _as_dict(
    scores: dict[str, Floats], constants: dict[str, Floats], choice: Choice
) -> dict[str, Any]:
    sizes = [
        {"n_terms": size}
        | {
            name: [None if np.isnan(value) else value for value in values[:, size].tolist()]
            for name, values in scores.items()
        }
        for size in range(next(iter(scores.values())).shape[1])
    ]
    return {
        "sizes": sizes,
        "no_model": {name: values.tolist() for name, values in constants.items()},
        "best": choice.best,
        "within_one_standard_error": choice.n_terms,
    }


def _table(
    labels: dict[str, str],
    scores: dict[str, Floats],
    constants: dict[str, Floats],
    choice: Choice,
) -> Table:
    table = terminal.make_table()
    table.add_column("terms", justify="right")
    for name in scores:
        table.add_column(labels[name], justify="right", no_wrap=True)
    table.add_column("")
    notes = {choice.n_terms: "within one standard error", choice.best: "best"}
    # With class weights, even a model without terms is something else than none.
    if all(np.allclose(scores[name][:, 0], constants[name]) for name in scores):
        notes = {0: "no model"} | notes
    else:
        table.add_row("none", *map(_estimate, constants.values()), "no model")
    for size in range(next(iter(scores.values())).shape[1]):
        cells = [_estimate(values[:, size]) for values in scores.values()]
        is_chosen = size in (choice.n_terms, choice.best)
        table.add_row(str(size), *cells, notes.get(size, ""), style="bold" if is_chosen else "")
    return table


def _estimate(values: Floats) -> str:
    return format_estimate(float(values.mean()), float(validation.standard_errors(values)))
