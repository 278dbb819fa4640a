"""Scores over size, beside those of no model and of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.explain import Predictions, RuleModel
from laconic.losses import MultinomialLoss, optimal_constant
from laconic.tasks import Metric

Floats = NDArray[np.float64]

_BASELINES = {"greedy": "greedy search", "beam": "beam search"}


def describe_path(
    predictions: Predictions, target: Floats, baseline: RuleModel | None, X: Any
) -> dict[str, Any]:
    """Score the first 0, 1, 2, ... rules.

    Each metric has the ``values`` of all sizes, that of the best ``constant`` for these very rows,
    and those of the ``baseline`` up to as many rules, None without one.
    """
    task = predictions.task
    n_conditions = [0, *(len(rule.query) for rule in predictions.ensemble)]
    metrics = task.metrics_for(target)
    scores = _staged_scores(predictions, target, metrics)
    y = task.for_loss(target)
    if isinstance(task.loss, MultinomialLoss):
        constant = np.tile(task.loss.constants(y, len(task.outputs)), (len(y), 1))
    else:
        constant = np.full(len(y), optimal_constant(task.loss, y))
    others = None
    if baseline is not None:
        others = _staged_scores(baseline.predictions_for(X), target, metrics)
    return {
        "sizes": list(range(len(n_conditions))),
        "n_conditions": np.cumsum(n_conditions).tolist(),
        "baseline": None if baseline is None else _baseline_words(baseline),
        "metrics": [
            {
                "name": metric.name,
                "label": metric.title,
                "is_higher_better": metric.is_higher_better,
                "values": scores[metric.name],
                "constant": task.score(metric, target, constant),
                "baseline": others and others[metric.name][: len(n_conditions)],
            }
            for metric in metrics
        ],
    }


def _staged_scores(
    predictions: Predictions, target: Floats, metrics: Sequence[Metric]
) -> dict[str, list[float]]:
    """Score the first 0, 1, 2, ... rules by metrics of a task, from one reading of the rows.

    The target is given as the task of the model reads it. The scores are listed by the name of the
    metric, one per size from 0 on.
    """
    scores: dict[str, list[float]] = {metric.name: [] for metric in metrics}
    # Size by size: the predictions of all sizes at once may not fit into memory.
    for raw in predictions.staged_raw():
        for metric in metrics:
            scores[metric.name].append(predictions.task.score(metric, target, raw))
    return scores


def _baseline_words(baseline: RuleModel) -> str:
    search = baseline.settings_.search
    return _BASELINES.get(search if isinstance(search, str) else "", "another model")
