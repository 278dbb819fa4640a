"""The way from the intercept to the prediction for one row, rule by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from laconic.explain.explanation import RowExplanation
from laconic.model.formatting import format_weight
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


class ContributionDisplay:
    """What each rule that covers a row adds to its prediction.

    Parameters
    ----------
    explanation : RowExplanation
        An entry of what ``explain`` returns.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        From top to bottom: the intercept if there is one, the rules, the sum.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> from laconic.plot import ContributionDisplay
    >>> X = [[1], [2], [3], [4]]
    >>> model = RuleBoostingRegressor(n_rules=2).fit(X, [5, 5, 1, 1])
    >>> display = ContributionDisplay.from_estimator(model, X, row=3)
    >>> len(display.bars_), display.explanation.rules
    (2, {2: <Rule: +0.8889 always>})
    """

    bars_: BarContainer
    ax_: Axes
    figure_: Figure

    def __init__(self, explanation: RowExplanation) -> None:
        self.explanation = explanation

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: Any, *, row: int = 0, ax: Axes | None = None
    ) -> Self:
        """Explain the prediction for one row, and draw the bars.

        Parameters
        ----------
        estimator : RuleBoostingClassifier or RuleBoostingRegressor
            Fitted.
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
        return cls(estimator.explain(X)[row]).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the bars.

        Sets: bars_, ax_, figure_.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure that is as high as the rules need.

        Returns
        -------
        display : ContributionDisplay
        """
        told = self.explanation
        labels = [wrapped_query(rule.query) for rule in told.rules.values()]
        steps = [rule.weight for rule in told.rules.values()]
        if told.intercept != 0.0:
            labels, steps = ["intercept", *labels], [told.intercept, *steps]
        ends = np.cumsum(steps)
        starts = [0.0, *ends[:-1]] if steps else []
        labels, widths = [*labels, "sum"], [*steps, told.raw_prediction]
        self.figure_, self.ax_ = make_axes(ax, bars_size(labels))
        # Bars that begin where others end leave room at the sides, as others do.
        self.ax_.use_sticky_edges = False
        self.bars_ = self.ax_.barh(
            range(len(labels)),
            widths,
            left=[*starts, 0.0],
            height=0.6,
            color=[*map(colour, steps), "dimgray"],
        )
        texts = [*map(format_weight, widths)]
        write_column(self.ax_, texts, start=0, right=52)
        for position, end in enumerate(ends):
            # Hands the sum on to the next bar.
            self.ax_.plot([end, end], [position - 0.3, position + 1.3], color="gray", linewidth=0.8)
        self.ax_.set_yticks(range(len(labels)), labels)
        self.ax_.invert_yaxis()
        self.ax_.axvline(0, color="black", linewidth=0.8)
        self.ax_.set_xlabel(wrapped(told.meaning))
        self.ax_.set_title(wrapped(f"Row {told.row}: {told.predicted}"))
        hide_frame(self.ax_, "left")
        return self
