"""Scores that mean something: on rows that a model has not seen, beside those on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import cyclopts
import numpy as np

from laconic._util.types import Floats, Indices
from laconic.cli import table_file, targets
from laconic.cli.training import Source, TrainingRows
from laconic.terms.record import RowScores

if TYPE_CHECKING:
    from laconic.estimators import RuleBoosting
    from laconic.models import Predictions
    from laconic.models.tasks import Task

Split: TypeAlias = tuple[Indices, Indices]

DEFAULT_FOLDS = 5


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Validation:
    """How to score a model on rows that it has not seen.

    Parameters
    ----------
    test : Path
        Table to score the model on, instead of cross-validation: with the target, and rows that it
        is not fitted to.
    validation : bool
        Whether to score by cross-validation: each fifth of the rows by a model of the others. The
        model itself is fitted to all rows.
    """

    test: Path | None = None
    validation: bool = True

    def read_test(self, source: Source) -> table_file.TableFile | None:
        """Read the test rows, if there are any, before the work and not after it."""
        if self.test is None:
            return None
        table = table_file.TableFile(self.test, source.format)
        weight = [] if source.weight is None else [source.weight]
        table_file.check_columns(table.cells, [source.target, *weight])
        return table


DEFAULT_VALIDATION = Validation()


def training_scores(predictions: Predictions, rows: TrainingRows) -> RowScores:
    """Score a model on the rows that it was fitted to."""
    return _scores("training", predictions, rows.y, rows.sample_weight)


def test_scores(model: RuleBoosting, table: table_file.TableFile, source: Source) -> RowScores:
    """Score a model on the rows of another table."""
    X, y = table.rows(model, source.target)
    weights = None
    if source.weight is not None:
        weights = targets.read_weights(table.numbers(model, source.target, source.weight))
    if source.exposure is not None:
        amounts = table.numbers(model, source.target, source.exposure)
        exposure = targets.read_exposure(amounts, model.task_)
        y, weights = y / exposure, exposure if weights is None else weights * exposure
    with table_file.columns_by_name():
        return _scores("test", model.predictions_for(X), y, weights)


def _scores(kind: str, predictions: Predictions, y: Any, weights: Floats | None) -> RowScores:
    numbers = predictions.task.numbers(y, predictions.n_rows)
    values = scores_of(predictions.task, numbers, predictions.raw, weights)
    return RowScores(kind, predictions.n_rows, values)


def scores_of(task: Task, numbers: Floats, raw: Floats, weights: Floats | None) -> dict[str, float]:
    """Compute all scores that a target has, by name."""
    return {
        metric.name: task.score(metric, numbers, raw, weights)
        for metric in task.metrics_for(numbers)
    }


def splits(rows: TrainingRows, folds: int, seed: int = 0) -> list[Split]:
    """Divide the rows, with the same shares of the classes in each part.

    Rows without weight are in none.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    weights = rows.sample_weight
    there = np.arange(len(rows.y)) if weights is None else np.flatnonzero(weights)
    kind = StratifiedKFold if rows.estimator.task.holds_classes else KFold
    parts = kind(folds, shuffle=True, random_state=seed).split(there, rows.y[there])
    return [(there[training], there[test]) for training, test in parts]


def affordable_folds(rows: TrainingRows) -> int:
    """Count the folds that rows are enough for: five, or fewer, or none at all.

    Every part to learn from needs both classes, every part to judge by two rows.
    """
    weights = rows.sample_weight
    y = rows.y if weights is None else rows.y[weights > 0]
    n_each = len(y) // 2
    if rows.estimator.task.holds_classes:
        n_each = min(n_each, np.unique(y, return_counts=True)[1].min(initial=len(y)))
    return min(DEFAULT_FOLDS, int(n_each)) if n_each >= 2 else 0


def cross_validation_scores(
    model: RuleBoosting, rows: TrainingRows, folds: int, tell: Callable[[str], None]
) -> RowScores:
    """Score a model like this one on each part of the rows, made from the others.

    Each fold is told of before it begins.
    """
    scores = []
    for number, (training, test) in enumerate(splits(rows, folds), start=1):
        tell(f"scoring on unseen rows, fold {number} of {folds}")
        weights = rows.sample_weight
        rows.fit(model, training)
        raw = model.predictions_for(rows.X[test]).raw
        numbers = model.task_.numbers(rows.y[test], len(test))
        scores.append(
            scores_of(model.task_, numbers, raw, None if weights is None else weights[test])
        )
    # A part may lack what a metric needs.
    names = [name for name in scores[0] if all(name in each for each in scores)]
    by_name = {name: np.array([each[name] for each in scores]) for name in names}
    return RowScores(
        "cross-validation",
        len(rows.y),
        {name: float(values.mean()) for name, values in by_name.items()},
        {name: standard_error(values) for name, values in by_name.items()},
    )


def standard_error(scores: Floats) -> float:
    """Compute the standard error of the mean over folds."""
    return float(scores.std(ddof=1) / np.sqrt(len(scores)))
