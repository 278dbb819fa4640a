"""The record of a fit: training data, settings and scores of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Setting = str | float | bool | None

KINDS_OF_ROWS = ("training", "cross-validation", "test")


@dataclass(frozen=True)
class RowScores:
    """Scores on some rows."""

    rows: str
    """One of `KINDS_OF_ROWS`: the rows that the model was fitted to; all of them, each scored by a
    model of other folds; or those of another table."""
    n_rows: int
    values: Mapping[str, float]
    """Scores by the name of the metric; means over the folds of a cross-validation."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Standard errors of these means."""


@dataclass(frozen=True)
class FitRecord:
    """Information about the fit in a model file; no prediction depends on it."""

    target: str | None = None
    """The column that is predicted."""
    n_rows: int | None = None
    """Number of training rows."""
    date: str | None = None
    """Date of the fit in ISO 8601."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    """Parameters of the estimator as they were given, "auto" among them."""
    scores: tuple[RowScores, ...] = ()
