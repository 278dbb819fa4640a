"""The command that scores models of every size by cross-validation."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic.cli import inputs, options, screen
from laconic.cli.training import DEFAULT_LEARNING, Learning, Source, TrainingRows
from laconic.model.formatting import format_count

if TYPE_CHECKING:
    from rich.status import Status
    from rich.table import Table

    from laconic.estimators import RuleBoosting
    from laconic.tasks import Metric

Floats: TypeAlias = NDArray[np.float64]


def cv(
    table: Path,
    /,
    *,
    source: Source,
    folds: options.Folds = 5,
    seed: int = 0,
    learning: Learning = DEFAULT_LEARNING,
    json: options.Flag = False,
) -> None:
    """Find out by cross-validation how many rules a table is good for.

    Each part of the rows in turn is predicted by models from the other parts. The scores of their
    first rules tell what a model of each size is worth for new rows.

    Parameters
    ----------
    table : Path
        CSV, TSV or Parquet file, as for 'laconic fit'.
    folds : int
        Number of parts.
    seed : int
        Seed of the random division into parts.
    json : bool
        Write JSON: an object with a list of scores per size.
    """
    rows = source.read(table)
    model = rows.estimator(**learning.parameters)
    by_name = {metric.name: metric for metric in model.task.metrics}
    metrics = [by_name[name] for name in model.task.deciding_metrics]
    console = screen.make_console()
    is_watched = console.is_terminal and not json
    with inputs.short_warnings(), console.status("") if is_watched else nullcontext() as status:
        scores = _fold_scores(model, rows, _splits(rows, folds, seed), metrics, status)
    decider = metrics[0]
    best, simplest = _sizes_of_choice(scores[decider.name])
    if json:
        screen.write_json(_as_dict(scores, best, simplest))
        return
    labelled = {metric.label: scores[metric.name] for metric in metrics}
    console.print(_table(labelled, best, simplest), "", sep="\n")
    screen.print_text(
        console,
        f"Mean and standard error in {folds} folds of {format_count(len(rows.y), 'row')}. The "
        f"{decider.label} is smallest with {format_count(best, 'rule')}; with {simplest} it is "
        "within one standard error of that. Fit the model of your choice with --n-rules.",
    )


def _splits(rows: TrainingRows, folds: int, seed: int) -> list[tuple[Any, Any]]:
    """Divide the rows, with the same shares of the classes in each part."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if rows.estimator.task.holds_classes else KFold
    return list(kind(folds, shuffle=True, random_state=seed).split(rows.y, rows.y))


def _fold_scores(
    model: RuleBoosting,
    rows: TrainingRows,
    splits: list[tuple[Any, Any]],
    metrics: list[Metric],
    status: Status | None,
) -> dict[str, Floats]:
    """Score the first 0, 1, ... rules in each fold: by name, of shape (n_folds, n_rules + 1)."""
    from laconic.curves import staged_scores

    X, y = rows.X, rows.y
    weights = np.ones(len(y)) if rows.sample_weight is None else rows.sample_weight
    scores: dict[str, list[list[float]]] = {metric.name: [] for metric in metrics}
    for fold, (training, test) in enumerate(splits, start=1):
        if status is not None:
            status.update(f"fold {fold}/{len(splits)}")
        model.fit(X[training], y[training], weights[training])
        predictions = model.predictions_for(X[test])
        numbers = model.task_.numbers(y[test], len(test))
        for name, values in staged_scores(predictions, numbers, metrics, weights[test]).items():
            # A model that needs fewer rules stays as good as it is.
            scores[name].append(values + values[-1:] * (model.n_rules + 1 - len(values)))
    return {name: np.array(values) for name, values in scores.items()}


def _sizes_of_choice(losses: Floats) -> tuple[int, int]:
    """Find the size with the smallest mean loss, and the smallest within one standard error."""
    means, errors = losses.mean(axis=0), _standard_errors(losses)
    best = int(means.argmin())
    return best, int(np.flatnonzero(means <= means[best] + errors[best])[0])


def _standard_errors(scores: Floats) -> Floats:
    errors: Floats = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    return errors


def _as_dict(scores: dict[str, Floats], best: int, simplest: int) -> dict[str, Any]:
    sizes = [
        {"n_rules": size}
        | {
            name: [None if np.isnan(value) else value for value in values[:, size].tolist()]
            for name, values in scores.items()
        }
        for size in range(next(iter(scores.values())).shape[1])
    ]
    return {"sizes": sizes, "best": best, "within_one_standard_error": simplest}


def _table(scores: dict[str, Floats], best: int, simplest: int) -> Table:
    table = screen.make_table()
    table.add_column("rules", justify="right")
    for name in scores:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    notes = {simplest: "within one standard error", best: "best"}
    for size in range(next(iter(scores.values())).shape[1]):
        cells = [
            f"{values.mean(axis=0)[size]:.4g} ± {_standard_errors(values)[size]:.2g}"
            for values in scores.values()
        ]
        table.add_row(str(size), *cells, notes.get(size, ""), style="bold" if size in notes else "")
    return table
