"""The rules as bars, with their weights and their coverage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from laconic.model.formatting import format_weight
from laconic.model.rules import RuleEnsemble
from laconic.plot._common import (
    bars_size,
    colour,
    hide_frame,
    make_axes,
    wrapped,
    wrapped_query,
    write_column,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

    from laconic.plot._common import Estimator


class RuleWeightDisplay:
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
    >>> model = RuleBoostingRegressor(n_rules=2).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> RuleWeightDisplay.from_estimator(model).shares
    [0.5, 1.0]
    """

    bars_: BarContainer
    ax_: Axes
    figure_: Figure

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
    def from_estimator(cls, estimator: Estimator, X: Any = None, *, ax: Axes | None = None) -> Self:
        """Draw the rules of a fitted model.

        Parameters
        ----------
        estimator : RuleBoostingClassifier or RuleBoostingRegressor
            Fitted.
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
            shares = estimator.explain(X).covered.mean(axis=0).tolist()
        else:
            shares = [rule.share for rule in getattr(estimator, "rule_coverages_", [])]
        if len(shares) != len(estimator.ensemble_):
            shares = None
        meaning = f"weight, adds to the {estimator.task_.sum_words}"
        return cls(estimator.ensemble_, shares=shares, meaning=meaning).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the bars.

        Sets: bars_, ax_, figure_.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure that is as high as the rules need.

        Returns
        -------
        display : RuleWeightDisplay
        """
        labels = [wrapped_query(rule.query) for rule in self.ensemble]
        weights = [rule.weight for rule in self.ensemble]
        if self.ensemble.shows_intercept:
            labels, weights = ["intercept", *labels], [self.ensemble.intercept, *weights]
        self.figure_, self.ax_ = make_axes(ax, bars_size(labels))
        colours = [colour(weight) for weight in weights]
        self.bars_ = self.ax_.barh(range(len(weights)), weights, height=0.6, color=colours)
        self.ax_.set_yticks(range(len(labels)), labels)
        self.ax_.invert_yaxis()
        self.ax_.axvline(0, color="black", linewidth=0.8)
        self.ax_.set_xlabel(wrapped(self.meaning))
        texts = [*map(format_weight, weights)]
        write_column(self.ax_, texts, start=0, right=52, name="weight")
        if self.shares is not None:
            texts = [f"{share:.0%}" for share in self.shares]
            first = len(labels) - len(texts)
            write_column(self.ax_, texts, start=first, right=90, name="rows")
        hide_frame(self.ax_, "left")
        return self
