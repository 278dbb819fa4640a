"""The way from the intercept to the prediction for one row, rule by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from laconic.models import RowExplanation, RuleModel
from laconic.plot._common import (
    Display,
    bars_size,
    colour,
    label,
    label_bars,
    wrapped,
    write_column,
)
from laconic.terms.formatting import format_weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class ContributionDisplay(Display):
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
    >>> model = RuleBoostingRegressor(n_rules=2, l2_regularization=0.1).fit(X, [5, 6, 1, 1])
    >>> display = ContributionDisplay.from_estimator(model, X, row=1)
    >>> len(display.bars_), display.explanation.rules
    (4, {1: <Rule: +3.771 if x0 <= 2>, 2: <Rule: +1.081 if 1 < x0 <= 2>})
    """

    bars_: BarContainer

    def __init__(self, explanation: RowExplanation) -> None:
        self.explanation = explanation

    @classmethod
    def from_estimator(
        cls, estimator: RuleModel, X: Any, *, row: int = 0, ax: Axes | None = None
    ) -> Self:
        """Explain the prediction for one row, and draw the bars; of many classes, one is drawn.

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
        told = estimator.explain(X)[row]
        return cls(told.of_class() if told.outputs else told).plot(ax)

    @property
    def _labels(self) -> list[str]:
        return [*map(label, self.explanation.lines), "sum"]

    @property
    def _figure_size(self) -> tuple[float, float]:
        return bars_size(self._labels)

    def _draw(self) -> None:
        told = self.explanation
        steps = [line.weight for line in told.lines]
        ends = np.cumsum(steps)
        starts = [0.0, *ends[:-1]] if steps else []
        if isinstance(told.raw_prediction, tuple):
            raise ValueError(
                "Bars add up to one sum, and a row has one for each of three or more classes. Pass "
                "the explanation of one class: explanation[row].of_class()."
            )
        labels, widths = self._labels, [*steps, told.raw_prediction]
        # Bars that begin where others end leave room left and right, as other bars do.
        self.ax_.use_sticky_edges = False
        self.bars_ = self.ax_.barh(
            range(len(labels)),
            widths,
            left=[*starts, 0.0],
            height=0.6,
            color=[*map(colour, steps), "dimgray"],
        )
        texts = [format_weight(width) for width in widths]
        write_column(self.ax_, texts, start=0, right=52)
        for position, end in enumerate(ends):
            # Hands the sum on to the next bar.
            self.ax_.plot([end, end], [position - 0.3, position + 1.3], color="gray", linewidth=0.8)
        label_bars(self.ax_, labels, told.meaning)
        # Ends with the bars, as the labels leave room on the left and nothing does on the right.
        self.ax_.set_title(wrapped(f"Row {told.row}: {told.predicted}"), loc="right")
