"""The record of a fit: training data, settings and scores of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laconic.tables.columns import Category

Setting = str | float | bool | None

KINDS_OF_ROWS = {
    "training": "training rows",
    "cross-validation": "held-out rows",
    "test": "test rows",
}
"""Kinds of rows that models are scored on, in words."""


@dataclass(frozen=True)
class ClassCounts:
    """Numbers of rows of a class and of predictions of it; sums of weights, where rows have some.

    Examples
    --------
    >>> ill = ClassCounts("ill", n_rows=10, n_predicted=4, n_correct=3)
    >>> ill.precision, ill.recall
    (0.75, 0.3)
    """

    label: Category
    n_rows: float
    n_predicted: float
    n_correct: float
    """Rows of the class that are predicted to be."""

    @property
    def precision(self) -> float | None:
        """Share of the class among the rows it is predicted for; None if it never is."""
        return self.n_correct / self.n_predicted if self.n_predicted > 0 else None

    @property
    def recall(self) -> float | None:
        """Share of the rows of the class that are predicted to be; None if there are none."""
        return self.n_correct / self.n_rows if self.n_rows > 0 else None


@dataclass(frozen=True)
class FewerTerms:
    """A smaller number of terms that is as good, as far as a cross-validation can tell."""

    n_terms: int
    """The fewest whose loss is within a standard error of that of the best number."""
    value: float
    """Their score, by the first metric that decides on a size."""


@dataclass(frozen=True)
class RowScores:
    """Scores on some rows."""

    rows: str
    """A key of `KINDS_OF_ROWS`: the rows that the model was fitted to; all of them, each scored by
    a model of other folds; or those of another table."""
    n_rows: int
    values: Mapping[str, float]
    """Scores by the name of the metric; means over the folds of a cross-validation."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Standard errors of these means."""
    constants: Mapping[str, float] = field(default_factory=dict)
    """Scores without a model, on the same rows: of the best constant for the training rows."""
    classes: tuple[ClassCounts, ...] = ()
    """Where the target has classes; those of all folds together."""
    fewer: FewerTerms | None = None
    """Of a cross-validation, unless it takes all terms."""

    @property
    def rows_words(self) -> str:
        """Words for the rows; those of no kind are given in words."""
        return KINDS_OF_ROWS.get(self.rows, self.rows)


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

    @property
    def unseen(self) -> RowScores | None:
        """The scores on rows that the model was not fitted to, if there are any."""
        return next((each for each in reversed(self.scores) if each.rows != "training"), None)
