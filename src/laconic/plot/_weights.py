"""The rules as bars, with their weights and their coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from laconic.explain import RuleModel
from laconic.model.formatting import format_percent, format_weight
from laconic.model.rules import RuleEnsemble
from laconic.plot._common import (
    Display,
    bars_size,
    colour,
    label_bars,
    named_weights,
    write_column,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


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
    def _bars(self) -> tuple[list[str], list[float]]:
        return named_weights(self.ensemble, has_start=self.ensemble.shows_intercept)

    @property
    def _figure_size(self) -> tuple[float, float]:
        return bars_size(self._bars[0])

    def _draw(self) -> None:
        labels, weights = self._bars
        colours = [*map(colour, weights)]
        self.bars_ = self.ax_.barh(range(len(weights)), weights, height=0.6, color=colours)
        label_bars(self.ax_, labels, self.meaning)
        texts = [*map(format_weight, weights)]
        write_column(self.ax_, texts, start=0, right=52, name="weight")
        if self.shares is not None:
            texts = [format_percent(share) for share in self.shares]
            first = len(labels) - len(texts)
            write_column(self.ax_, texts, start=first, right=90, name="rows")
