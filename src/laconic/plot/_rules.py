"""The terms of a model: their effects, their overlaps, and their contributions to a prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from laconic._util.types import Floats
from laconic.models import RowExplanation, RuleModel
from laconic.plot._common import LinesDisplay, colour, wrapped
from laconic.terms.formatting import format_percent
from laconic.terms.rules import Line, RuleEnsemble
from laconic.terms.slopes import Slope

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.image import AxesImage


class RuleWeightDisplay(LinesDisplay):
    """The terms of a model as bars: as long as their effects, and labelled with their coverage.

    The effect of a rule is its weight, and that of a slope what it adds at its upper end.

    Parameters
    ----------
    ensemble : RuleEnsemble
        The model.
    shares : sequence of float or None, default=None
        Share of the rows that each term covers, if it is known: of a slope, those above its lower
        end.
    meaning : str, default="effect"
        Label of the horizontal axis.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        One bar per term, from top to bottom; the intercept comes first if there is one.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> from laconic.plot import RuleWeightDisplay
    >>> model = RuleBoostingRegressor(n_terms=2, l2_regularization=0.1)
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
        meaning: str = "effect",
    ) -> None:
        self.ensemble = ensemble
        self.shares = shares
        self.meaning = meaning

    @classmethod
    def from_estimator(cls, estimator: RuleModel, X: Any = None, *, ax: Axes | None = None) -> Self:
        """Draw the terms of a fitted model.

        Parameters
        ----------
        estimator : RuleModel
            A fitted classifier or regressor.
        X : table-like of shape (n_rows, n_features), default=None
            Rows to compute the coverage from; None takes that of the training rows, if the model
            holds it.
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
            shares = [each.share for each in getattr(estimator, "rule_coverages_", [])]
        if len(shares) != len(estimator.ensemble_):
            shares = None
        meaning = f"adds to the {estimator.task_.sum_words}"
        if estimator.ensemble_.outputs:
            meaning = "adds to the score of its class"
        if estimator.ensemble_.slopes:
            meaning += "; a slope: from its lower to its upper end"
        return cls(estimator.ensemble_, shares=shares, meaning=meaning).plot(ax)

    @property
    def _lines(self) -> list[Line]:
        return [
            line._replace(conditions=[str(line.term)]) if isinstance(line.term, Slope) else line
            for line in self.ensemble.lines
        ]

    def _draw(self) -> None:
        effects = [line.effect if line.term else line.weight for line in self._lines]
        colours = [*map(colour, effects)]
        self.bars_ = self._draw_bars(effects, self.meaning, name="effect", color=colours)
        if self.shares is not None:
            self._write_column([*map(format_percent, self.shares)], right=90, name="rows")


class RuleOverlapDisplay(LinesDisplay):
    """Share of the rows of each term that each other term covers as well.

    A slope covers the rows above its lower end.

    Parameters
    ----------
    ensemble : RuleEnsemble
        The model.
    overlaps : ndarray of shape (n_terms, n_terms)
        Of the rows that the term of the row of the matrix covers, the share that the term of the
        column covers; NaN for terms that cover nothing.

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
    >>> model = RuleBoostingRegressor(n_terms=2, l2_regularization=0.1).fit(X, [5, 6, 1, 1])
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
        """Compare the terms of a fitted model on some rows, and draw the matrix.

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
    def _lines(self) -> list[Line]:
        return [
            line._replace(conditions=[line.term.text()]) if isinstance(line.term, Slope) else line
            for line in self.ensemble.lines
            if line.term
        ]

    @property
    def _figure_size(self) -> tuple[float, float]:
        return 4.0 + 0.55 * len(self.ensemble), super()._figure_size[1]

    def _draw(self) -> None:
        n_terms = len(self.ensemble)
        # An empty image where there are no terms.
        shown = self.overlaps if n_terms > 0 else np.full((1, 1), np.nan)
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
        self.ax_.set_xticks(range(n_terms), [str(number) for number in range(1, n_terms + 1)])
        self.ax_.set_yticks(range(n_terms), self._labels)
        self.ax_.tick_params(length=0)
        self.ax_.set(xlabel="also covered by term", title="Share of the rows of each term")
        self.ax_.spines[:].set_visible(False)


class ContributionDisplay(LinesDisplay):
    """What each term adds to the prediction of a row, from the intercept to the sum.

    Parameters
    ----------
    explanation : RowExplanation
        An entry of what ``explain`` returns.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        From top to bottom: the intercept if there is one, the terms that cover the row, the sum.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> from laconic.plot import ContributionDisplay
    >>> X = [[1], [2], [3], [4]]
    >>> model = RuleBoostingRegressor(n_terms=2, l2_regularization=0.1).fit(X, [5, 6, 1, 1])
    >>> display = ContributionDisplay.from_estimator(model, X, row=1)
    >>> len(display.bars_), display.explanation.terms
    (4, {1: <Rule: +3.771 if x0 <= 2>, 2: <Rule: +1.081 if 1 < x0 <= 2>})
    """

    bars_: BarContainer

    def __init__(self, explanation: RowExplanation) -> None:
        self.explanation = explanation

    @classmethod
    def from_estimator(
        cls, estimator: RuleModel, X: Any, *, row: int = 0, ax: Axes | None = None
    ) -> Self:
        """Explain the prediction for one row, and draw the bars.

        Of three or more classes, the score of the predicted one is explained.

        Parameters
        ----------
        estimator : RuleModel
            A fitted classifier or regressor.
        X : table-like of shape (n_rows, n_features)
            The rows.
        row : int, default=0
            Position of the row to explain.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : ContributionDisplay
        """
        return cls(estimator.explain(X)[row].of_class()).plot(ax)

    @property
    def _lines(self) -> list[Line]:
        return self.explanation.lines

    @property
    def _labels(self) -> list[str]:
        return [*super()._labels, "sum"]

    def _draw(self) -> None:
        shown = self.explanation
        if isinstance(shown.raw_prediction, tuple):
            raise ValueError(
                "Bars add up to one sum, and a row has one for each of three or more classes. Pass "
                "the explanation of one class: explanation[row].of_class()."
            )
        steps = [line.weight for line in self._lines]
        ends = np.cumsum(steps).tolist()
        # Bars that begin where others end leave room left and right, as other bars do.
        self.ax_.use_sticky_edges = False
        self.bars_ = self._draw_bars(
            [*steps, shown.raw_prediction],
            shown.meaning,
            starts=[*[0.0, *ends][: len(steps)], 0.0],
            color=[*map(colour, steps), "dimgray"],
        )
        for position, end in enumerate(ends):
            # Connects the end of a bar with the start of the next one.
            self.ax_.plot([end, end], [position - 0.3, position + 1.3], color="gray", linewidth=0.8)
        # Aligned with the right end of the bars: the labels leave room on the left only.
        self.ax_.set_title(wrapped(f"Row {shown.row}: {shown.predicted}"), loc="right")
