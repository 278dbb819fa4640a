"""How good a model of the first one, two, ... rules is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from laconic.curves import Scoring, rule_model, score_curve
from laconic.plot._common import Display, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


class SizeScoreDisplay(Display):
    """Score against size: how good the model of the first rules is, for every number of rules.

    Parameters
    ----------
    scores : ndarray of shape (n_rules + 1,)
        Score of the first 0, 1, ... rules.
    score_name : str, default="score"
        Label of the vertical axis.
    name : str or None, default=None
        Label of the curve.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> from laconic.plot import SizeScoreDisplay
    >>> X, y = [[1], [2], [3], [4]], [5, 6, 1, 1]
    >>> model = RuleBoostingRegressor(n_rules=2, l2_regularization=0).fit(X, y)
    >>> display = SizeScoreDisplay.from_estimator(model, X, y, name="training rows")
    >>> display.scores.round(2)
    array([0.  , 0.98, 1.  ])
    """

    line_: Line2D

    def __init__(
        self, scores: NDArray[np.float64], *, score_name: str = "score", name: str | None = None
    ) -> None:
        self.scores = scores
        self.score_name = score_name
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        scoring: Scoring = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Score the first rules of a fitted model, and draw the curve.

        Parameters
        ----------
        estimator : estimator
            A fitted rule ensemble, a pipeline that ends with one, or a search over such.
        X : table-like of shape (n_rows, n_features)
            Rows to score with.
        y : array-like of shape (n_rows,)
            Their target.
        scoring : str, callable or None, default=None
            As scikit-learn takes it; None is the method ``score``: accuracy or R².
        name : str or None, default=None
            Label of the curve.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **line_options : dict
            For matplotlib's ``plot``.

        Returns
        -------
        display : SizeScoreDisplay
        """
        check_is_fitted(estimator)
        scores = score_curve(estimator, X, y, scoring=scoring)
        display = cls(scores, score_name=_score_name(estimator, scoring), name=name)
        return display.plot(ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw the curve.

        Sets: line_, ax_, figure_.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **line_options : dict
            For matplotlib's ``plot``.

        Returns
        -------
        display : SizeScoreDisplay
        """
        self._set_axes(ax, (5.5, 3.5))
        from matplotlib.ticker import MaxNLocator

        options: dict[str, Any] = {"marker": "o", "markersize": 4, "label": self.name}
        [self.line_] = self.ax_.plot(range(len(self.scores)), self.scores, **options | line_options)
        self.ax_.set(xlabel="number of rules", ylabel=self.score_name)
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        hide_frame(self.ax_)
        if self.name is not None:
            self.ax_.legend(frameon=False)
        return self


def _score_name(estimator: Any, scoring: Scoring) -> str:
    if scoring is None:
        return rule_model(estimator).task_.metrics[0].label
    return scoring.replace("_", " ") if isinstance(scoring, str) else "score"
