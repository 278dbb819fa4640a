"""Scores by number of terms, calibration of probabilities, and residuals of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import brier_score_loss, confusion_matrix

from laconic._util.types import Bools, Floats, Indices
from laconic.models import Predictions, RuleModel
from laconic.models.scores import ScoredRows, headline, training_constant
from laconic.models.tasks import Metric
from laconic.report.features import histogram
from laconic.terms.formatting import format_like, format_number

_BASELINES = {"greedy": "greedy search", "beam": "beam search"}


def score_path(
    model: RuleModel,
    predictions: Predictions,
    rows: ScoredRows,
    baseline: RuleModel | None,
    X: Any,
) -> dict[str, Any]:
    """Score the first 0, 1, 2, ... terms.

    Each metric has the ``values`` of all sizes, that of the best ``constant`` prediction for the
    training rows, or for these rows if that is not known, and those of the ``baseline`` up to as
    many terms, None without one.
    """
    task, target, known = rows.task, rows.numbers, training_constant(model)
    n_conditions = [0, *(term.n_conditions for term in predictions.ensemble)]
    metrics = task.metrics_for(target)
    scores = _staged_scores(predictions, target, metrics)
    constants = rows.without_model(rows.constant_for(model)).by_metric()
    others = None
    if baseline is not None:
        others = _staged_scores(baseline.predictions_for(X), target, metrics)
    first = headline(metrics, scores)
    value = format_number(scores[first.name][-1])
    return {
        "headline": f"{first.title} on the rows of this report: {value} (no model: "
        f"{format_like(constants[first.name], value)}).",
        "constant_for": "these rows" if known is None else "the training rows",
        "sizes": list(range(len(n_conditions))),
        "n_conditions": np.cumsum(n_conditions).tolist(),
        "baseline": None if baseline is None else _baseline_words(baseline),
        "metrics": [
            {
                "name": metric.name,
                "label": metric.title,
                "is_higher_better": metric.is_higher_better,
                "values": scores[metric.name],
                "constant": constants[metric.name],
                "baseline": others and others[metric.name][: len(n_conditions)],
            }
            for metric in metrics
        ],
    }


def _staged_scores(
    predictions: Predictions, target: Floats, metrics: Sequence[Metric]
) -> dict[str, list[float]]:
    """Score the first 0, 1, 2, ... terms by metrics of a task, reading the rows once.

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


MAX_CALIBRATION_BINS = 10
# Two-sided 95 % of a normal distribution.
Z_95 = 1.96


def calibration_or_residuals(
    predictions: Predictions, target: Floats, sample: Indices
) -> dict[str, Any]:
    """Summarize the calibration of probabilities, or the residuals of predicted numbers.

    Of the rows of the sample, there are single residuals.
    """
    probabilities = predictions.task.probabilities(predictions.raw)
    if probabilities is None:
        residuals = summarize_residuals(target, predictions.means, sample)
        return {"calibration": None, "residuals": residuals}
    if predictions.ensemble.outputs:
        labels = range(probabilities.shape[1])
        confusion = confusion_matrix(target, predictions.raw.argmax(axis=1), labels=labels)
        return {"calibration": None, "residuals": None, "confusion": confusion.tolist()}
    # The mean of a user-defined loss need not be in [0, 1].
    positive = probabilities[:, 1].clip(0, 1)
    calibration = summarize_calibration(target > 0, predictions.raw, positive)
    return {"calibration": calibration, "residuals": None}


def summarize_calibration(
    is_positive: Bools, raw_predictions: Floats, probabilities: Floats
) -> dict[str, Any]:
    """Compare probabilities of the second class with its frequency.

    Return ``bins`` by ascending probability, with a 95 % interval of each frequency; the Brier
    score and the mean calibration error; and the ``confusion`` matrix, with a row per true class.
    The second class is predicted where raw predictions are positive.
    """
    position = _bin_positions(probabilities)
    bins = [
        _calibration_bin(is_positive[position == number], probabilities[position == number])
        for number in np.unique(position).tolist()
    ]
    distance = sum(abs(b["predicted"] - b["observed"]) * b["n_rows"] for b in bins)
    confusion = confusion_matrix(is_positive, raw_predictions > 0, labels=[False, True])
    return {
        "bins": bins,
        "brier_score": float(brier_score_loss(is_positive, probabilities, pos_label=True)),
        "calibration_error": distance / len(probabilities),
        "confusion": confusion.tolist(),
    }


def _bin_positions(probabilities: Floats) -> Indices:
    """Assign rows to bins: one per value if there are few values, else of equally many rows."""
    distinct, position = np.unique(probabilities, return_inverse=True)
    if len(distinct) <= MAX_CALIBRATION_BINS:
        return position
    inner = np.linspace(0, 1, MAX_CALIBRATION_BINS + 1)[1:-1]
    edges = np.unique(np.quantile(probabilities, inner, method="lower"))
    return np.searchsorted(edges, probabilities, side="left")


def _calibration_bin(is_positive: Bools, probabilities: Floats) -> dict[str, Any]:
    low, high = _wilson_interval(int(is_positive.sum()), len(is_positive))
    return {
        "n_rows": len(is_positive),
        "predicted": float(probabilities.mean()),
        "observed": float(is_positive.mean()),
        "low": low,
        "high": high,
    }


def _wilson_interval(n_positive: int, n_rows: int) -> tuple[float, float]:
    share = n_positive / n_rows
    center = (share + Z_95**2 / (2 * n_rows)) / (1 + Z_95**2 / n_rows)
    spread = np.sqrt(share * (1 - share) / n_rows + Z_95**2 / (4 * n_rows**2))
    half = float(Z_95 * spread / (1 + Z_95**2 / n_rows))
    return max(0.0, center - half), min(1.0, center + half)


def summarize_residuals(y: Floats, predictions: Floats, sample: Indices) -> dict[str, Any]:
    """Summarize the residuals: the target minus the prediction.

    The rows of the sample are ``points`` of prediction and residual.
    """
    residuals = y - predictions
    mean, deviation = float(residuals.mean()), float(residuals.std())
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    quantiles = np.quantile(residuals, shares).tolist()
    return {
        # A mean of zero, but for rounding, is zero.
        "mean": mean if abs(mean) > 1e-12 * deviation else 0.0,
        "standard_deviation": deviation,
        "quantiles": dict(zip(map(str, shares), quantiles, strict=True)),
        "histogram": histogram(residuals),
        "points": np.column_stack([predictions, residuals])[sample].tolist(),
    }
