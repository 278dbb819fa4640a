"""How the number of rules was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from laconic.plot._common import CURVE_COLOURS, Display, hide_frame, write_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D


class CrossValidationDisplay(Display):
    """Loss on rows that were held out against the number of rules, and which number was chosen.

    Bars reach one standard error of the difference to the smallest loss up and down. The chosen
    number is the first whose bar reaches the line at the smallest loss.

    Parameters
    ----------
    results : dict of str to ndarray
        The attribute ``cv_results_`` of a fitted estimator.
    n_rules : int
        The number that was chosen.

    Attributes
    ----------
    curve_ : matplotlib ErrorbarContainer
        The losses.
    chosen_ : matplotlib Line2D
        The mark of the chosen number.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressorCV
    >>> from laconic.plot import CrossValidationDisplay
    >>> X, y = [[1], [2], [3], [4]] * 5, [5, 6, 1, 2] * 5
    >>> model = RuleBoostingRegressorCV(n_rules=4).fit(X, y)
    >>> CrossValidationDisplay.from_estimator(model).n_rules == model.n_rules_
    True
    """

    _figure_size = (5.5, 3.5)

    curve_: ErrorbarContainer
    chosen_: Line2D

    def __init__(self, results: Mapping[str, Any], n_rules: int) -> None:
        self.results = results
        self.n_rules = n_rules

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw how an estimator chose its number of rules.

        Parameters
        ----------
        estimator : RuleBoostingClassifierCV or RuleBoostingRegressorCV
            Fitted.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : CrossValidationDisplay
        """
        if not hasattr(estimator, "cv_results_") or not hasattr(estimator, "n_rules_"):
            raise TypeError(
                "The estimator must be one that has chosen its number of rules. Got "
                f"{type(estimator).__name__}, without 'n_rules_'. Fit a RuleBoostingClassifierCV "
                "or a RuleBoostingRegressorCV; a model from a file does not know how it was made."
            )
        return cls(estimator.cv_results_, estimator.n_rules_).plot(ax)

    def _draw(self) -> None:
        from matplotlib.ticker import MaxNLocator

        sizes, losses = self.results["n_rules"], self.results["mean_loss"]
        curve, mark, *_ = CURVE_COLOURS
        self.ax_.axhline(losses.min(), color="gray", linewidth=0.8, linestyle="--")
        self.curve_ = self.ax_.errorbar(
            sizes,
            losses,
            yerr=self.results["standard_error"],
            color=curve,
            marker="o",
            markersize=4,
            capsize=3,
            elinewidth=1,
        )
        [self.chosen_] = self.ax_.plot(
            [self.n_rules],
            [losses[self.n_rules]],
            color=mark,
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgewidth=1.5,
            linestyle="none",
            label=f"chosen: {self.n_rules}",
        )
        self.ax_.set(xlabel="number of rules", ylabel="loss on rows held out")
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        write_numbers(self.ax_.yaxis)
        self.ax_.legend(frameon=False)
        hide_frame(self.ax_)
