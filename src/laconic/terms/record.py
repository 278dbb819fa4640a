"""Where a model comes from: what it was learned from, with which settings, and how well it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Setting = str | float | bool | None

KINDS_OF_ROWS = ("training", "cross-validation", "test")


@dataclass(frozen=True)
class RowScores:
    """Scores on some rows."""

    rows: str
    """Which ones, of `KINDS_OF_ROWS`: those that the model was fitted to; all of them, each scored
    by a model that had not seen it; or those of another table."""
    n_rows: int
    values: Mapping[str, float]
    """Scores by the name of the metric; means over the folds of a cross-validation."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Standard errors of these means."""


@dataclass(frozen=True)
class FitRecord:
    """What a model file tells about the fit, for people; no prediction depends on it."""

    target: str | None = None
    """The column that is predicted."""
    n_rows: int | None = None
    """How many rows the model was fitted to."""
    date: str | None = None
    """When, as ISO 8601 has it."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    """Parameters of the estimator as they were given, "auto" among them."""
    scores: tuple[RowScores, ...] = ()
