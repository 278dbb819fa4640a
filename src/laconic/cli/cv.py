"""The command that scores models of every size by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

import laconic
from laconic.cli import columns, inputs, options, screen
from laconic.cli import target as targets
from laconic.model.formatting import format_count

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table

    Estimator: TypeAlias = laconic.RuleBoostingClassifier | laconic.RuleBoostingRegressor

__all__ = ["cv"]

Floats: TypeAlias = NDArray[np.float64]


def cv(
    table: Path,
    /,
    *,
    target: str,
    task: Literal["auto", "classification", "regression"] = "auto",
    folds: options.Folds = 5,
    seed: int = 0,
    n_rules: options.Count = 10,
    l2_regularization: options.Amount = 1.0,
    search: Literal["optimal", "greedy", "beam"] = "optimal",
    max_conditions: options.CountOrNone = 5,
    max_thresholds: options.CountOrAll = 7,
    fit_intercept: options.Flag = False,
    n_jobs: options.Jobs = None,
    weight: str | None = None,
    drop: options.Names = (),
    json: options.Flag = False,
    missing: options.Texts = columns.DEFAULT_MISSING,
) -> None:
    """Find out by cross-validation how many rules a table is good for.

    Each part of the rows in turn is predicted by models from the other parts. The scores of their
    first rules tell what a model of each size is worth for new rows.

    Parameters
    ----------
    table : Path
        CSV, TSV or Parquet file, as for 'laconic fit'.
    target : str
        Column to predict.
    task : str
        As for 'laconic fit'.
    folds : int
        Number of parts.
    seed : int
        Which division into parts to take.
    n_rules : int
        Largest number of rules.
    l2_regularization : float
        Penalty on squared weights; more of it favours rules that cover many rows.
    search : str
        How to find a rule; "optimal" proves that there is no better one.
    max_conditions : int
        Largest number of conditions in a rule; "none" for no limit.
    max_thresholds : int
        Largest number of thresholds per numeric column; "all" or "none" for all values.
    fit_intercept : bool
        Start from the best constant instead of 0.
    n_jobs : int
        Threads of the optimal search; -1 for all processors.
    weight : str
        Column with the weights of the rows.
    drop : tuple of str
        Columns to leave out.
    json : bool
        Write JSON: an object with a list of scores per size.
    missing : tuple of str
        Texts that mean a missing cell in CSV and TSV files, besides no text at all.
    """
    X, goal, weights = inputs.read_training_table(table, target, weight, drop, missing)
    if task == "auto":
        task = targets.detect_task(goal)
    y = targets.read_target(goal, task)
    sample_weight = np.ones(len(y)) if weights is None else targets.read_weights(weights)
    estimator = targets.estimator_class(task)(
        n_rules,
        l2_regularization=l2_regularization,
        search=search,
        max_conditions=max_conditions,
        max_thresholds=None if max_thresholds == "all" else max_thresholds,
        fit_intercept=fit_intercept,
        n_jobs=n_jobs,
    )
    console = screen.make_console()
    is_watched = console.is_terminal and not json
    with inputs.short_warnings(), console.status("") if is_watched else nullcontext() as status:
        scores = _fold_scores(
            estimator,
            X,
            y,
            sample_weight,
            _splits(y, task, folds, seed),
            lambda fold: status.update(f"fold {fold}/{folds}") if status else None,
        )
    best, simplest = _sizes_of_choice(next(iter(scores.values())))
    if json:
        screen.write_json(_as_dict(scores, best, simplest))
        return
    console.print(_table(scores, best, simplest), "", sep="\n")
    name = next(iter(scores))
    screen.print_text(
        console,
        f"Mean and standard error in {folds} folds of {len(y)} rows. The {name} is smallest with "
        f"{format_count(best, 'rule')}; with {simplest} it is within one standard error of that. "
        "Fit the model of your choice with --n-rules.",
    )


def _splits(y: NDArray[Any], task: str, folds: int, seed: int) -> list[tuple[Any, Any]]:
    """Divide the rows, with the same shares of the classes in each part."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if task == "classification" else KFold
    return list(kind(folds, shuffle=True, random_state=seed).split(y, y))


def _fold_scores(
    estimator: Estimator,
    X: pl.DataFrame,
    y: NDArray[Any],
    sample_weight: Floats,
    splits: list[tuple[Any, Any]],
    tell: Callable[[int], None],
) -> dict[str, Floats]:
    """Score the first 0, 1, ... rules in each fold: by name, of shape (n_folds, n_rules + 1)."""
    scores: dict[str, list[list[float]]] = {}
    for fold, (training, test) in enumerate(splits, start=1):
        tell(fold)
        estimator.fit(X[training], y[training], sample_weight[training])
        start = np.full(len(test), estimator.ensemble_.intercept)
        raw_predictions = [start, *estimator.ensemble_.staged_raw_predictions(X[test])]
        stages = [estimator.loss_.inverse_link(raw) for raw in raw_predictions]
        # A model that needs fewer rules stays as good as it is.
        stages += stages[-1:] * (estimator.n_rules + 1 - len(stages))
        classes = getattr(estimator, "classes_", None)
        truth = y[test] if classes is None else y[test] == classes[1]
        for name, score in _score_functions(is_classifier=classes is not None).items():
            values = [
                float(score(truth, stage, sample_weight=sample_weight[test])) for stage in stages
            ]
            scores.setdefault(name, []).append(values)
    return {name: np.array(values) for name, values in scores.items()}


def _score_functions(*, is_classifier: bool) -> dict[str, Callable[..., Any]]:
    """Scores of predictions, of probabilities for classes; the first one decides."""
    from sklearn import metrics

    if not is_classifier:
        return {"RMSE": metrics.root_mean_squared_error, "R²": metrics.r2_score}

    def accuracy(truth: Any, positive: Floats, sample_weight: Floats) -> Any:
        return metrics.accuracy_score(truth, positive > 0.5, sample_weight=sample_weight)

    def log_loss(truth: Any, positive: Floats, sample_weight: Floats) -> Any:
        return metrics.log_loss(truth, positive, sample_weight=sample_weight, labels=[False, True])

    return {"log loss": log_loss, "accuracy": accuracy, "AUC": metrics.roc_auc_score}


def _sizes_of_choice(losses: Floats) -> tuple[int, int]:
    """Find the size with the smallest mean loss, and the smallest within one standard error."""
    means, errors = losses.mean(axis=0), _standard_errors(losses)
    best = int(means.argmin())
    return best, int(np.flatnonzero(means <= means[best] + errors[best])[0])


def _standard_errors(scores: Floats) -> Floats:
    errors: Floats = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    return errors


def _as_dict(scores: dict[str, Floats], best: int, simplest: int) -> dict[str, Any]:
    names = [name.lower().replace(" ", "_").replace("²", "2") for name in scores]
    sizes = [
        {"n_rules": size}
        | {
            name: [None if np.isnan(value) else value for value in values[:, size].tolist()]
            for name, values in zip(names, scores.values(), strict=True)
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
