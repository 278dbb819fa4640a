"""Functions for intervals and sets, which programs have if the model was calibrated."""

from __future__ import annotations

import math
from typing import Any

from laconic.export.program.standalone import MODEL, predict


def predict_interval(row: Any) -> tuple[float, float]:
    """Return the ends of an interval that contains a share MODEL["intervals"]["level"] of targets.

    They are infinite where too few rows are known.
    """
    prediction, intervals = predict(row)["prediction"], MODEL["intervals"]
    place = sum(edge < prediction for edge in intervals["edges"])
    half_width = intervals["half_widths"][place]
    if half_width is None:
        half_width = math.inf
    lower, lowest = prediction - half_width, intervals["lowest"]
    return lower if lowest is None else max(lower, lowest), prediction + half_width


def predict_set(row: Any) -> list[Any]:
    """Return a set of classes, which a share MODEL["intervals"]["level"] of each class has.

    An empty one says that the row is unlike the rows seen.
    """
    shares, least = predict(row)["probabilities"], MODEL["intervals"]["least_probabilities"]
    return [
        label
        for label, share, each in zip(MODEL["classes"], shares, least, strict=True)
        if share >= each
    ]
