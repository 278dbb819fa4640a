"""Scores against the number of terms, and the choice of that number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from laconic._util.types import Floats
from laconic.models.curves import Scoring, rule_model, score_curve
from laconic.plot._common import CURVE_COLOURS, Display, hide_frame, write_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D


_FIGURE_SIZE = (5.5, 3.5)


class SizeScoreDisplay(Display):
    """Score of the model of the first terms against their number.

    Parameters
    ----------
    scores : ndarray of shape (n_terms + 1,)
        Score of the first 0, 1, ... terms.
    score_name : str, default="score"
        Label of the vertical axis.
    name : str or None, default=None
        Label of the curve.
    train_scores : ndarray of shape (n_terms + 1,) or None, default=None
        The same for the training rows, drawn as a second curve.
    n_terms : int or None, default=None
        The number of terms that was chosen, which is marked.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    train_line_ : matplotlib Line2D
        The curve of the training rows, if there is one.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> from laconic.plot import SizeScoreDisplay
    >>> X, y = [[1], [2], [3], [4]], [5, 6, 1, 1]
    >>> model = RuleBoostingRegressor(n_terms=2, l2_regularization=0).fit(X, y)
    >>> display = SizeScoreDisplay.from_estimator(model, X, y, name="training rows")
    >>> display.scores.round(2)
    array([0.  , 0.98, 1.  ])
    """

    line_: Line2D
    train_line_: Line2D

    def __init__(
        self,
        scores: Floats,
        *,
        score_name: str = "score",
        name: str | None = None,
        train_scores: Floats | None = None,
        n_terms: int | None = None,
    ) -> None:
        self.scores = scores
        self.score_name = score_name
        self.name = name
        self.train_scores = train_scores
        self.n_terms = n_terms

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        X_train: Any = None,
        y_train: ArrayLike | None = None,
        scoring: Scoring = None,
        name: str | None = None,
        ax: Axes | None = None,
        **line_options: Any,
    ) -> Self:
        """Score the first terms of a fitted model, and draw the curve.

        Parameters
        ----------
        estimator : estimator
            A fitted rule ensemble, a pipeline that ends with one, or a search over such.
        X : table-like of shape (n_rows, n_features)
            Rows to score with.
        y : array-like of shape (n_rows,)
            Their target.
        X_train : table-like of shape (n_train, n_features), default=None
            Training rows, for a second curve beside that of other rows.
        y_train : array-like of shape (n_train,), default=None
            Their target.
        scoring : str, callable or None, default=None
            As scikit-learn takes it; None is the method ``score``: accuracy or R².
        name : str or None, default=None
            Label of the curve; None is "other rows" where training rows are given.
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
        if (X_train is None) != (y_train is None):
            absent = "X_train" if X_train is None else "y_train"
            raise ValueError(f"X_train and y_train belong together. Got no {absent}. Pass both.")
        train_scores = None
        if y_train is not None:
            train_scores = score_curve(estimator, X_train, y_train, scoring=scoring)
        display = cls(
            scores,
            score_name=_score_name(estimator, scoring),
            name="other rows" if name is None and train_scores is not None else name,
            train_scores=train_scores,
            n_terms=getattr(rule_model(estimator), "n_terms_", None),
        )
        return display.plot(ax, **line_options)

    def plot(self, ax: Axes | None = None, **line_options: Any) -> Self:
        """Draw the curve.

        Sets: `line_`, `train_line_`, `ax_`, `figure_`.

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
        self._set_axes(ax, _FIGURE_SIZE)
        options: dict[str, Any] = {"marker": "o", "markersize": 4, "label": self.name}
        [self.line_] = self.ax_.plot(range(len(self.scores)), self.scores, **options | line_options)
        if self.train_scores is not None:
            train: dict[str, Any] = {"color": "gray", "linestyle": "--", "marker": "."}
            sizes = range(len(self.train_scores))
            [self.train_line_] = self.ax_.plot(
                sizes, self.train_scores, label="training rows", **train
            )
        if self.n_terms is not None:
            self.ax_.axvline(
                self.n_terms, color="gray", linewidth=0.8, label=f"chosen: {self.n_terms}"
            )
        _finish_axes(self.ax_, self.score_name)
        return self


def _finish_axes(ax: Axes, score_name: str) -> None:
    """Label the axes of a curve over numbers of terms, with a legend if something has a label."""
    from matplotlib.ticker import MaxNLocator

    ax.set(xlabel="number of terms", ylabel=score_name)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    write_numbers(ax.yaxis)
    hide_frame(ax)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False)


def _score_name(estimator: Any, scoring: Scoring) -> str:
    if scoring is None:
        return rule_model(estimator).task_.metrics[0].label
    return scoring.replace("_", " ") if isinstance(scoring, str) else "score"


class CrossValidationDisplay(Display):
    """Loss on held-out rows against the number of terms, and the number that was chosen.

    Error bars show one standard error of the difference to the smallest loss. The chosen number is
    the first whose error bar reaches the line at the smallest loss.

    Parameters
    ----------
    results : dict of str to ndarray
        The attribute ``cv_results_`` of a fitted estimator.
    n_terms : int
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
    >>> model = RuleBoostingRegressorCV(n_terms=4).fit(X, y)
    >>> CrossValidationDisplay.from_estimator(model).n_terms == model.n_terms_
    True
    """

    _figure_size = _FIGURE_SIZE

    curve_: ErrorbarContainer
    chosen_: Line2D

    def __init__(self, results: Mapping[str, Any], n_terms: int) -> None:
        self.results = results
        self.n_terms = n_terms

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the choice of the number of terms.

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
        if not hasattr(estimator, "cv_results_") or not hasattr(estimator, "n_terms_"):
            raise TypeError(
                "The estimator must have chosen its number of terms. Got "
                f"{type(estimator).__name__}, without 'n_terms_'. Fit a RuleBoostingClassifierCV "
                "or a RuleBoostingRegressorCV; a model from a file holds no results of folds."
            )
        return cls(estimator.cv_results_, estimator.n_terms_).plot(ax)

    def _draw(self) -> None:
        sizes, losses = self.results["n_terms"], self.results["mean_loss"]
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
            [self.n_terms],
            [losses[self.n_terms]],
            color=mark,
            marker="o",
            markersize=11,
            markerfacecolor="none",
            markeredgewidth=1.5,
            linestyle="none",
            label=f"chosen: {self.n_terms}",
        )
        _finish_axes(self.ax_, "loss on held-out rows")
