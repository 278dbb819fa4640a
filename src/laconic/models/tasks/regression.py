"""Numbers: weights add up to the prediction, or to its logarithm."""

from __future__ import annotations

import math
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic._util.types import Floats
from laconic.boosting.training_data import FitTask
from laconic.losses import (
    GammaLoss,
    HuberLoss,
    LogLinkLoss,
    Loss,
    PoissonLoss,
    SquaredLoss,
    TweedieLoss,
    known_loss,
)
from laconic.models.tasks.base import Metric, Task, as_1d, varies
from laconic.tables.columns import Rows
from laconic.terms.formatting import format_factor, format_number


# Metrics are functions of modules or `partial` objects of these, so that fitted models can be
# pickled.
def _mae(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    from sklearn.metrics import mean_absolute_error

    return float(mean_absolute_error(numbers, means, sample_weight=weights))


def _r2(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    from sklearn.metrics import r2_score

    numbers, means, _ = _without_scale(numbers, means)
    return float(r2_score(numbers, means, sample_weight=weights))


def _rmse(numbers: Floats, raw: Floats, means: Floats, weights: Floats | None) -> float:
    from sklearn.metrics import root_mean_squared_error

    numbers, means, exponent = _without_scale(numbers, means)
    return math.ldexp(root_mean_squared_error(numbers, means, sample_weight=weights), exponent)


def _without_scale(numbers: Floats, means: Floats) -> tuple[Floats, Floats, int]:
    """Divide by a power of two, so that squares are neither 0 nor infinite."""
    exponent = math.frexp(max(np.abs(each).max(initial=0.0) for each in (numbers, means)))[1]
    return np.ldexp(numbers, -exponent), np.ldexp(means, -exponent), exponent


def _of_positive_mean(
    name: str,
    power: float,
    numbers: Floats,
    raw: Floats,
    means: Floats,
    weights: Floats | None,
) -> float:
    """Compute a score of scikit-learn with a `power` parameter, for positive means."""
    from sklearn import metrics

    least = np.finfo(np.float64).tiny
    score = getattr(metrics, name)
    return float(score(numbers, means.clip(least), sample_weight=weights, power=power))


def _has_deviance(power: float, numbers: Floats, weights: Floats | None) -> bool:
    return bool(numbers.min() > 0 if power >= 2 else numbers.min() >= 0)


def _has_share(power: float, numbers: Floats, weights: Floats | None) -> bool:
    return _has_deviance(power, numbers, weights) and varies(numbers, weights)


def _deviance_metrics(power: float) -> tuple[Metric, ...]:
    """Return the metrics for a variance that grows like mean**power."""
    share = partial(_of_positive_mean, "d2_tweedie_score", power)
    deviance = partial(_of_positive_mean, "mean_tweedie_deviance", power)
    is_defined = partial(_has_deviance, power)
    return (
        Metric("d2", "D²", "D²", True, share, partial(_has_share, power)),
        Metric("deviance", "mean deviance", "Mean deviance", False, deviance, is_defined),
        Metric("mae", "MAE", "Mean absolute error", False, _mae),
    )


def _not_numbers(cells: NDArray[Any], owner: str) -> Exception:
    """Make the error for a value of the target that is not a finite double."""
    must = f"The target y of {owner} must hold numbers."
    for cell in cells.tolist() if cells.dtype.kind not in "mM" else cells:
        if isinstance(cell, str | bytes):
            return ValueError(
                f"{must} Got text, such as {cell!r}. Use RuleBoostingClassifier for classes, or "
                "convert y to numbers: 0, 1, 2, ... for grades in an order."
            )
        try:
            float(cell)
        except OverflowError:
            return ValueError(f"{must} Got a number larger than 1.8e308. Rescale y.")
        except (TypeError, ValueError):
            break
    kind = type(cell).__name__
    return TypeError(f"{must} Got {kind}. Convert y to numbers, such as days since a fixed date.")


_MEANS = {
    PoissonLoss.name: "expected count",
    GammaLoss.name: "expected amount",
    TweedieLoss.name: "expected amount",
}
"""Words for predictions, by the name of a loss with a logarithmic link."""


class Regression(Task):
    """A target of numbers.

    Examples
    --------
    >>> task = Regression(SquaredLoss())
    >>> task.sum_words, task.effect(-1.5)
    ('prediction', 'subtracts 1.5 from the prediction')
    >>> task = Regression(PoissonLoss())
    >>> task.sum_words, task.effect(np.log(1.5))
    ('logarithm of the expected count', 'multiplies the expected count by 1.5')
    """

    name = "regression"
    default_loss = SquaredLoss.name
    losses = (
        SquaredLoss.name,
        PoissonLoss.name,
        GammaLoss.name,
        TweedieLoss.name,
        HuberLoss.name,
    )
    holds_classes = False
    metrics: tuple[Metric, ...] = (
        Metric("r2", "R²", "R²", True, _r2, varies),
        Metric("rmse", "RMSE", "Root mean squared error", False, _rmse),
        Metric("mae", "MAE", "Mean absolute error", False, _mae),
    )
    deciding_metrics: tuple[str, ...] = ("rmse", "r2")
    aim = "predict a number"
    mean_words = "mean target"

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        known = known_loss(loss)
        if isinstance(known, LogLinkLoss):
            self.metrics = _deviance_metrics(known.variance_power)
            self.deciding_metrics = ("deviance", "d2")
        elif isinstance(known, HuberLoss):
            # The squares in the other two are sensitive to outliers.
            self.deciding_metrics = ("mae", "r2")

    @cached_property
    def _mean_name(self) -> str | None:
        """Words for predictions, where weights multiply them."""
        known = known_loss(self.loss)
        return None if known is None else _MEANS.get(known.name)

    @classmethod
    def read(
        cls,
        y: ArrayLike,
        loss: Loss,
        *,
        n_rows: int,
        counted: Rows,
        owner: str,
        positive: Any = None,
    ) -> tuple[Self, Floats]:
        """Check that the target holds numbers."""
        from sklearn.utils.validation import assert_all_finite, check_consistent_length

        cells = as_1d(y)
        try:
            if cells.dtype.kind in "mM":
                raise TypeError
            target = np.asarray(cells, dtype=np.float64)
        except (OverflowError, TypeError, ValueError):
            raise _not_numbers(cells, owner) from None
        if np.isnan(target).any():
            raise ValueError(
                f"Input y contains NaN at row {int(np.isnan(target).argmax())} "
                f"({int(np.isnan(target).sum())} of {len(target)} rows), but every row needs a "
                "number. Leave out rows without one, with the mask ~numpy.isnan(y)."
            )
        assert_all_finite(target, input_name="y")
        check_consistent_length(target, np.empty(n_rows))
        return cls(loss), target

    def check_same(self, other: FitTask) -> None:
        """Check that raw predictions have the same scale."""
        links = [known and known.link for known in map(known_loss, (self.loss, other.loss))]
        if links[0] != links[1]:
            raise ValueError(
                "With warm_start=True the scale of the raw predictions must stay the same. Got "
                f"{other.loss!r} after {self.loss!r}. Set warm_start=False to start over."
            )

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
        """Return the numbers as they are."""
        return numbers

    def predictions(self, raw_predictions: Floats) -> Floats:
        """Return the means of the raw predictions."""
        return self.means(raw_predictions)

    @property
    def sum_words(self) -> str:
        """The prediction itself, unless the loss has a link."""
        if self._mean_name is not None:
            return f"logarithm of the {self._mean_name}"
        known = known_loss(self.loss)
        return "prediction" if known and known.link == "identity" else "raw prediction"

    @property
    def weights_sentence(self) -> str:
        """A sentence on the sum of the weights."""
        if self._mean_name is None:
            return "Weights add up to the prediction."
        return f"Weights add up to the logarithm of the {self._mean_name}."

    def effect(self, weight: float, output: int = 0) -> str:
        """Describe the effect of a weight, which multiplies where the link is a logarithm."""
        if self._mean_name is None:
            return super().effect(weight)
        verb = "multiplies" if weight >= 0 else "divides"
        return f"{verb} the {self._mean_name} by {format_factor(abs(weight))}"

    def format_mean(self, mean: float) -> str:
        """Write a mean with four digits."""
        return format_number(mean)

    @property
    def _effect_scale(self) -> str:
        return f"the {self.sum_words}"
