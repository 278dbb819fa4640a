"""Numbers: raw predictions add up to what is predicted, or to what the loss makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from sklearn.utils.validation import assert_all_finite, check_consistent_length

from laconic.data.columns import Rows
from laconic.losses import Loss, SquaredLoss
from laconic.model.formatting import format_number
from laconic.tasks.base import Floats, Metric, Task, as_1d


def _of_mean(score: Callable[..., float]) -> Callable[..., float]:
    """Make a score of means from one of scikit-learn."""
    return lambda numbers, raw, means, weights: score(numbers, means, sample_weight=weights)


class Regression(Task):
    """A target of numbers.

    Examples
    --------
    >>> task = Regression(SquaredLoss())
    >>> task.sum_words, task.effect(-1.5)
    ('prediction', 'takes 1.5 off the prediction')
    """

    name = "regression"
    default_loss = SquaredLoss.name
    holds_classes = False
    metrics = (
        Metric("r2", "R²", "R²", True, _of_mean(r2_score), lambda numbers: len(numbers) > 1),
        Metric("rmse", "RMSE", "Root mean squared error", False, _of_mean(root_mean_squared_error)),
        Metric("mae", "MAE", "Mean absolute error", False, _of_mean(mean_absolute_error)),
    )
    deciding_metrics = ("rmse", "r2")
    title = "Rules that predict a number"
    mean_words = "mean target"
    weights_sentence = "Weights add up to the prediction."

    @classmethod
    def read(
        cls, y: ArrayLike, loss: Loss, *, n_rows: int, counted: Rows, owner: str
    ) -> tuple[Self, Floats]:
        """Check that the target holds numbers."""
        cells = as_1d(y)
        try:
            target = np.asarray(cells, dtype=np.float64)
        except ValueError:
            text = next((cell for cell in cells.tolist() if isinstance(cell, str | bytes)), None)
            if text is None:
                raise
            raise ValueError(
                f"The target y of {owner} must hold numbers. Got text, such as {text!r}. Use "
                "RuleBoostingClassifier for two classes, or convert y to numbers."
            ) from None
        if np.isnan(target).any():
            raise ValueError(
                f"Input y contains NaN at row {int(np.isnan(target).argmax())} "
                f"({int(np.isnan(target).sum())} of {len(target)} rows), but every row needs a "
                "number. Leave rows without one out, with the mask ~numpy.isnan(y)."
            )
        assert_all_finite(target, input_name="y")
        check_consistent_length(target, np.empty(n_rows))
        return cls(loss), target

    def check_same(self, other: Task) -> None:
        """Accept any other target of numbers."""

    def _numbers(self, cells: NDArray[Any]) -> Floats:
        numbers = np.asarray(cells, dtype=np.float64)
        if not np.isfinite(numbers).all():
            row = int(np.isfinite(numbers).argmin())
            raise ValueError(
                f"The target y must hold finite numbers. Got {numbers[row]} at row {row}. Leave "
                "out rows without a target."
            )
        return numbers

    def for_loss(self, numbers: Floats) -> Floats:
        """Leave the numbers as they are."""
        return numbers

    def predictions(self, raw_predictions: Floats) -> Floats:
        """Predict the mean that the raw prediction stands for."""
        return self.means(raw_predictions)

    @property
    def sum_words(self) -> str:
        """The prediction itself, unless the loss has a link."""
        return "prediction" if self._has_default_loss else "raw prediction"

    def format_mean(self, mean: float) -> str:
        """Write a mean with four digits."""
        return format_number(mean)

    @property
    def _effect_scale(self) -> str:
        return f"the {self.sum_words}"
