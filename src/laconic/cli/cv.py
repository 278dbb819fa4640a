"""The command that scores models of every size by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._util.types import Floats
from laconic.cli import options, table_file, terminal, validation
from laconic.cli.training import DEFAULT_LEARNING, Learning, Source, TrainingRows
from laconic.estimators.parameters import N_TERMS
from laconic.terms.formatting import format_count, format_estimate

if TYPE_CHECKING:
    from rich.status import Status
    from rich.table import Table

    from laconic.estimators.base import RuleBoosting
    from laconic.estimators.choose_size import Choice
    from laconic.models.tasks import Metric


def cv(
    table: Path,
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
    rows = source.read(table, quiet=json)
    is_number = isinstance(learning.n_terms, int)
    model = learning.make(rows, n_terms=learning.n_terms if is_number else N_TERMS.default)
    task = rows.task(learning.loss)
    by_name = {metric.name: metric for metric in task.metrics}
    metrics = [by_name[name] for name in task.deciding_metrics]
    console = terminal.make_console()
    is_watched = console.is_terminal and not json
    splits = validation.splits(rows, folds, seed)
    with table_file.short_warnings(), console.status("") if is_watched else nullcontext() as status:
        scores, choice = _judge(model, rows, splits, metrics, status)
    if json:
        terminal.write_json(_as_dict(scores, choice))
        return
    labelled = {metric.label: scores[metric.name] for metric in metrics}
    console.print(_table(labelled, choice), "", sep="\n")
    console.print(
        f"Mean and standard error over {folds} folds of {format_count(len(rows.y), 'row')}. "
        f"{_advice(choice)}"
    )


def _advice(choice: Choice) -> str:
    """Describe which number of terms to choose."""
    words = f"The mean loss is smallest with {format_count(choice.best, 'term')}"
    if choice.n_terms < choice.best:
        words += f", and within one standard error of that with {choice.n_terms}"
    if choice.n_terms == 0:
        return f"{words}. These columns do not predict the target: a constant is as good."
    return f"{words}. Set the number with laconic fit --n-terms."


def _judge(
    model: RuleBoosting,
    rows: TrainingRows,
    splits: list[tuple[Any, Any]],
    metrics: list[Metric],
    status: Status | None,
) -> tuple[dict[str, Floats], Choice]:
    """Score models of 0, 1, ... terms in each fold, and choose a size as the estimators do.

    The scores, by the name of the metric, are of shape (n_folds, n_terms + 1).
    """
    from laconic.estimators.choose_size import Size, choose

    weights = np.ones(len(rows.y)) if rows.sample_weight is None else rows.sample_weight
    scores: dict[str, list[list[float]]] = {metric.name: [] for metric in metrics}
    losses: list[list[Floats]] = []
    n_conditions: list[list[int]] = []
    for fold, (training, test) in enumerate(splits, start=1):
        if status is not None:
            status.update(f"fold {fold} of {len(splits)}")
        X = rows.X[test]
        models = _models(model, partial(rows.fit, rows=training), X)
        task, numbers = model.task_, model.task_.numbers(rows.y[test], len(test))
        raw = [each.predictions_for(X).raw for each in models]
        for metric in metrics:
            scores[metric.name].append([task.score(metric, numbers, r, weights[test]) for r in raw])
        losses.append([task.loss.value(task.for_loss(numbers), r) for r in raw])
        n_conditions.append([each.ensemble_.n_conditions for each in models])
    sizes = [
        Size(float(np.mean([counts[n] for counts in n_conditions])), [fold[n] for fold in losses])
        for n in range(model.n_terms + 1)
    ]
    choice = choose(sizes, [test for _, test in splits], weights)
    return {name: np.array(values) for name, values in scores.items()}, choice


def _models(
    model: RuleBoosting, fit: Callable[[RuleBoosting], RuleBoosting], X: Any
) -> list[RuleBoosting]:
    """Fit models of 0, 1, ... terms, for predictions of the rows of X."""
    from sklearn.base import clone

    from laconic.models import first_terms

    models = list(first_terms(fit(model), X))
    if model.settings_.is_polished:
        # The model is polished, and those that led to it are not.
        models[1:-1] = [fit(clone(model).set_params(n_terms=n)) for n in range(1, len(models) - 1)]
    # A model with fewer terms stands for the larger sizes too.
    return models + models[-1:] * (model.n_terms + 1 - len(models))


def _as_dict(scores: dict[str, Floats], choice: Choice) -> dict[str, Any]:
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
        "best": choice.best,
        "within_one_standard_error": choice.n_terms,
    }


def _table(scores: dict[str, Floats], choice: Choice) -> Table:
    table = terminal.make_table()
    table.add_column("terms", justify="right")
    for name in scores:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    notes = {choice.n_terms: "within one standard error", choice.best: "best"}
    columns = [(values, validation.standard_errors(values)) for values in scores.values()]
    for size in range(columns[0][0].shape[1]):
        cells = [
            format_estimate(values.mean(axis=0)[size], errors[size]) for values, errors in columns
        ]
        table.add_row(str(size), *cells, notes.get(size, ""), style="bold" if size in notes else "")
    return table
