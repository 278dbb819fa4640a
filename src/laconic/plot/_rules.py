"""The rules as bars, with their weights and their coverage.

How far rules speak about the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from laconic._util.types import Floats
from laconic.models import RuleModel
from laconic.plot._common import (
    Display,
    bars_size,
    colour,
    label,
    label_bars,
    write_column,
)
from laconic.terms.formatting import format_percent, format_weight
from laconic.terms.rules import RuleEnsemble

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.image import AxesImage


class RuleWeightDisplay(Display):
    """The rules of a model as bars: as long as their weights, and labelled with their coverage.

    Parameters
    ----------
    ensemble : RuleEnsemble
        The model.
    shares : sequence of float or None, default=None
        Share of the rows that each rule covers, if it is known.
    meaning : str, default="weight"
        Label of the horizontal axis.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        One bar per rule, from top to bottom; the intercept comes first if there is one.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> from laconic.plot import RuleWeightDisplay
    >>> model = RuleBoostingRegressor(n_rules=2, l2_regularization=0.1)
    >>> model = model.fit([[1], [2], [3], [4]], [5, 6, 1, 1])
    >>> RuleWeightDisplay.from_estimator(model).shares
    [0.5, 0.25]
    """

    bars_: BarContainer

    def __init__(
        self,
        ensemble: RuleEnsemble,
        *,
        shares: Sequence[float] | None = None,
        meaning: str = "weight",
    ) -> None:
        self.ensemble = ensemble
        self.shares = shares
        self.meaning = meaning

    @classmethod
    def from_estimator(cls, estimator: RuleModel, X: Any = None, *, ax: Axes | None = None) -> Self:
        """Draw the rules of a fitted model.

        Parameters
        ----------
        estimator : RuleModel
            A fitted classifier or regressor.
        X : table-like of shape (n_rows, n_features), default=None
            Rows to take the coverage from; None takes that of the training rows, if the model
            knows it.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : RuleWeightDisplay
        """
        check_is_fitted(estimator)
        if X is not None:
            shares = estimator.predictions_for(X).covered.mean(axis=0).tolist()
        else:
            shares = [rule.share for rule in getattr(estimator, "rule_coverages_", [])]
        if len(shares) != len(estimator.ensemble_):
            shares = None
        meaning = f"weight, adds to the {estimator.task_.sum_words}"
        if estimator.ensemble_.outputs:
            meaning = "weight, adds to the score of its class"
        return cls(estimator.ensemble_, shares=shares, meaning=meaning).plot(ax)

    @property
    def _labels(self) -> list[str]:
        return [*map(label, self.ensemble.lines)]

    @property
    def _figure_size(self) -> tuple[float, float]:
        return bars_size(self._labels)

    def _draw(self) -> None:
        labels, weights = self._labels, [line.weight for line in self.ensemble.lines]
        colours = [*map(colour, weights)]
        self.bars_ = self.ax_.barh(range(len(weights)), weights, height=0.6, color=colours)
        label_bars(self.ax_, labels, self.meaning)
        texts = [*map(format_weight, weights)]
        write_column(self.ax_, texts, start=0, right=52, name="weight")
        if self.shares is not None:
            texts = [format_percent(share) for share in self.shares]
            first = len(labels) - len(texts)
            write_column(self.ax_, texts, start=first, right=90, name="rows")


class RuleOverlapDisplay(Display):
    """Share of the rows of each rule that each other rule covers as well.

    Parameters
    ----------
    ensemble : RuleEnsemble
        The model.
    overlaps : ndarray of shape (n_rules, n_rules)
        Of the rows that the rule of the row of the matrix covers, the share that the rule of the
        column covers; NaN for rules that cover nothing.

    Attributes
    ----------
    image_ : matplotlib AxesImage
        The matrix.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> from laconic.plot import RuleOverlapDisplay
    >>> X = [[1], [2], [3], [4]]
    >>> model = RuleBoostingRegressor(n_rules=2, l2_regularization=0.1).fit(X, [5, 6, 1, 1])
    >>> RuleOverlapDisplay.from_estimator(model, X).overlaps
    array([[1. , 0.5],
           [1. , 1. ]])
    """

    image_: AxesImage

    def __init__(self, ensemble: RuleEnsemble, overlaps: Floats) -> None:
        self.ensemble = ensemble
        self.overlaps = overlaps

    @classmethod
    def from_estimator(cls, estimator: RuleModel, X: Any, *, ax: Axes | None = None) -> Self:
        """Compare the rules of a fitted model on some rows, and draw the matrix.

        Parameters
        ----------
        estimator : RuleModel
            A fitted classifier or regressor.
        X : table-like of shape (n_rows, n_features)
            The rows.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : RuleOverlapDisplay
        """
        covered = estimator.predictions_for(X).covered.astype(np.float64)
        n_both = covered.T @ covered
        n_covered = np.diag(n_both)[:, None]
        overlaps = np.divide(
            n_both, n_covered, out=np.full_like(n_both, np.nan), where=n_covered > 0
        )
        return cls(estimator.ensemble_, overlaps).plot(ax)

    @property
    def _labels(self) -> list[str]:
        return [label(line) for line in self.ensemble.lines if line.rule]

    @property
    def _figure_size(self) -> tuple[float, float]:
        return bars_size(self._labels, width=4.0 + 0.55 * len(self.ensemble))

    def _draw(self) -> None:
        n_rules = len(self.ensemble)
        # Without rules there is nothing to see, but still an image.
        shown = self.overlaps if n_rules > 0 else np.full((1, 1), np.nan)
        self.image_ = self.ax_.imshow(shown, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for (row, column), share in np.ndenumerate(self.overlaps):
            self.ax_.text(
                column,
                row,
                "–" if np.isnan(share) else format_percent(share),
                ha="center",
                va="center",
                fontsize="small",
                color="white" if share > 0.6 else "black",
            )
        self.ax_.set_xticks(range(n_rules), [str(number) for number in range(1, n_rules + 1)])
        self.ax_.set_yticks(range(n_rules), self._labels)
        self.ax_.tick_params(length=0)
        self.ax_.set(xlabel="also covered by rule", title="Share of the rows of each rule")
        self.ax_.spines[:].set_visible(False)
