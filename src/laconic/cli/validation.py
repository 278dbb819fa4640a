"""Scores of a model: on training rows, on test rows, and by cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cyclopts
import numpy as np

from laconic._util.types import Floats, Indices
from laconic.cli import table_file
from laconic.cli.training import Source, TrainingRows
from laconic.terms.record import RowScores

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting
    from laconic.models import Predictions
    from laconic.models.tasks import Task

DEFAULT_FOLDS = 5


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Validation:
    """How to score a model on rows that it was not fitted to.

    Parameters
    ----------
    test : Path
        Table with the target to score the model on, instead of cross-validation.
    validation : bool
        Score by 5-fold cross-validation: each fifth of the rows by a model fitted to the others.
        The model itself is fitted to all rows.
    """

    test: Path | None = None
    validation: bool = True

    def read_test(self, source: Source) -> table_file.TableFile | None:
        """Read the test rows, if any: before the fit, so that errors are found early."""
        if self.test is None:
            return None
        table = table_file.TableFile(self.test, source.format)
        table_file.check_columns(table.cells, source.roles)
        return table


DEFAULT_VALIDATION = Validation()


def training_scores(predictions: Predictions, rows: TrainingRows) -> RowScores:
    """Score a model on the rows that it was fitted to."""
    return _scores("training", predictions, rows.y, rows.sample_weight)


def test_scores(model: RuleBoosting, table: table_file.TableFile, source: Source) -> RowScores:
    """Score a model on the rows of another table."""
    found = table.fit_arguments(model, source.target, source.weight, source.exposure)
    weights, exposure = found.get("sample_weight"), found.get("exposure")
    rows = TrainingRows(type(model), found["X"], found["y"], weights, exposure)
    with table_file.columns_by_name():
        return _scores("test", model.predictions_for(rows.X), rows.y, rows.sample_weight)


def _scores(kind: str, predictions: Predictions, y: Any, weights: Floats | None) -> RowScores:
    numbers = predictions.task.numbers(y, predictions.n_rows)
    values = scores_of(predictions.task, numbers, predictions.raw, weights)
    return RowScores(kind, predictions.n_rows, values)


def scores_of(task: Task, numbers: Floats, raw: Floats, weights: Floats | None) -> dict[str, float]:
    """Compute the scores of all metrics that apply to a target, by name."""
    return {
        metric.name: task.score(metric, numbers, raw, weights)
        for metric in task.metrics_for(numbers)
    }


def splits(rows: TrainingRows, folds: int, seed: int = 0) -> list[tuple[Indices, Indices]]:
    """Divide the rows for cross-validation, as the estimators do."""
    from laconic.estimators.choose_size import make_splits

    holds_classes, weights = rows.estimator.task.holds_classes, rows.sample_weight
    return make_splits(folds, rows.y, holds_classes=holds_classes, weights=weights, seed=seed)


def affordable_folds(rows: TrainingRows) -> int:
    """Return the number of folds that there are enough rows for: at most five, or none.

    Every training part needs both classes, every held-out part two rows.
    """
    weights = rows.sample_weight
    y = rows.y if weights is None else rows.y[weights > 0]
    n_each = len(y) // 2
    if rows.estimator.task.holds_classes:
        n_each = min(n_each, np.unique(y, return_counts=True)[1].min(initial=len(y)))
    return min(DEFAULT_FOLDS, int(n_each)) if n_each >= 2 else 0


def cross_validation_scores(
    model: RuleBoosting, rows: TrainingRows, folds: int, announce: Callable[[str], None]
) -> RowScores:
    """Score models with the same parameters on each part of the rows, fitted to the others."""
    scores = []
    for number, (training, test) in enumerate(splits(rows, folds), start=1):
        announce(f"scoring on held-out rows, fold {number} of {folds}")
        weights = rows.sample_weight
        rows.fit(model, training)
        raw = model.predictions_for(rows.X[test]).raw
        numbers = model.task_.numbers(rows.y[test], len(test))
        scores.append(
            scores_of(model.task_, numbers, raw, None if weights is None else weights[test])
        )
    # A metric may not apply to all parts.
    names = [name for name in scores[0] if all(name in each for each in scores)]
    by_name = {name: np.array([each[name] for each in scores]) for name in names}
    return RowScores(
        "cross-validation",
        len(rows.y),
        {name: float(values.mean()) for name, values in by_name.items()},
        {name: float(standard_errors(values)) for name, values in by_name.items()},
    )


def standard_errors(scores: Floats) -> Any:
    """Compute standard errors of means over folds, which are the first axis."""
    return scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
