"""The losses: what a raw prediction costs, and the derivatives of that cost.

SciPy is imported by the methods that need it: a model is shown without it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from laconic._util.types import Floats
from laconic._util.words import parameter

_EPSILON = float(np.finfo(np.float64).eps)
# Gradients at the mean must not be rounding errors of those at a raw prediction of 0.
_LEAST_GRADIENT = 1e-14
# The quantile of the distances to the median that is the default threshold of the Huber loss, as in
# scikit-learn's gradient boosting.
_HUBER_QUANTILE = 0.9


@runtime_checkable
class Loss(Protocol):
    """Methods that boosting needs of a loss.

    Every method takes and returns arrays of shape (n_rows,). A loss must be convex in the raw
    prediction. Hessians are its second derivatives or an upper bound of them: the curvature of a
    parabola that touches the loss and lies above it. They are never negative. `MultinomialLoss` has
    a raw prediction for each class, and arrays of shape (n_rows, n_classes) for these.

    Examples
    --------
    A loss that grows exponentially on one side, for a stock that must not run out:

    >>> class LinexLoss:
    ...     def value(self, y, raw_predictions):
    ...         return np.exp(y - raw_predictions) - (y - raw_predictions) - 1
    ...     def gradients(self, y, raw_predictions):
    ...         return 1 - np.exp(y - raw_predictions)
    ...     def hessians(self, y, raw_predictions):
    ...         return np.exp(y - raw_predictions)
    ...     def inverse_link(self, raw_predictions):
    ...         return raw_predictions
    >>> isinstance(LinexLoss(), Loss)
    True
    """

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row."""
        ...

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss with respect to its raw prediction."""
        ...

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss with respect to its raw prediction."""
        ...

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Raw predictions on the target's scale: a mean or the positive class's probability."""
        ...


@dataclass(frozen=True)
class SquaredLoss:
    """Squared error ``(y - f)**2``, for real targets.

    This is the paper's loss. scikit-learn's squared error is half of it, so the same
    ``l2_regularization`` shrinks weights twice as much there.

    Examples
    --------
    >>> loss = SquaredLoss()
    >>> y, raw_predictions = np.array([3.0, 1.0]), np.array([1.0, 1.0])
    >>> loss.value(y, raw_predictions)
    array([4., 0.])
    >>> loss.gradients(y, raw_predictions)
    array([-4.,  0.])
    >>> loss.hessians(y, raw_predictions)
    array([2., 2.])
    """

    name: ClassVar[str] = "squared"
    link: ClassVar[str] = "identity"
    takes_means: ClassVar[bool] = True
    """Whether rows with the same raw prediction may be replaced by their mean target: sums of
    gradients and hessians stay the same, and the loss changes by a constant."""

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row: ``(y - f)**2``."""
        return np.square(y - raw_predictions)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss: ``-2 (y - f)``."""
        return 2.0 * (raw_predictions - y)

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss: 2 everywhere."""
        return np.full(np.shape(raw_predictions), 2.0)

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Raw predictions as they are: they estimate the mean."""
        return raw_predictions


@dataclass(frozen=True)
class HuberLoss:
    """Huber loss: squared error up to a distance delta and linear beyond, robust to outliers.

    ``(y - f)**2`` where that distance is at most delta, ``2 delta |y - f| - delta**2`` beyond.
    Its second derivative is 0 beyond delta, which would give outliers no weight; the hessians are
    those of the parabola that touches the loss on both sides of the target, ``2 delta / |y - f|``.
    It lies above the loss, so that a step by these hessians never increases the loss.

    Parameters
    ----------
    delta : float or None, default=None
        None: the 0.9 quantile of the distances of the training targets to their median.

    Examples
    --------
    >>> loss = HuberLoss(delta=1.0)
    >>> y, raw_predictions = np.array([0.5, 4.0]), np.array([0.0, 0.0])
    >>> loss.value(y, raw_predictions)
    array([0.25, 7.  ])
    >>> loss.gradients(y, raw_predictions)
    array([-1., -2.])
    >>> loss.hessians(y, raw_predictions)
    array([2. , 0.5])
    """

    delta: float | None = None

    name: ClassVar[str] = "huber"
    link: ClassVar[str] = "identity"

    def __post_init__(self) -> None:
        if self.delta is not None and not 0.0 < self.delta < np.inf:
            raise ValueError(
                "The 'delta' of a HuberLoss must be a positive number or None. Got "
                f"{self.delta!r} instead."
            )

    def for_target(self, y: Floats, sample_weight: Floats | None) -> Self:
        """Return the loss with a delta estimated from the targets, where none is given."""
        if self.delta is not None:
            return self
        distances = np.abs(y - _quantile(y, 0.5, sample_weight))
        delta = _quantile(distances, _HUBER_QUANTILE, sample_weight) or float(distances.max())
        return type(self)(delta or 1.0)

    @property
    def _delta(self) -> float:
        return 1.0 if self.delta is None else self.delta

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row."""
        distances, delta = np.abs(y - raw_predictions), self._delta
        near = np.minimum(distances, delta)
        return near * (2.0 * distances - near)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss, never beyond 2 delta."""
        return 2.0 * np.clip(raw_predictions - y, -self._delta, self._delta)

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Curvature of the parabola above each row's loss: ``2 delta / max(delta, |y - f|)``."""
        delta = self._delta
        return 2.0 * delta / np.maximum(delta, np.abs(y - raw_predictions))

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Raw predictions as they are: they estimate the centre of the target."""
        return raw_predictions


def _quantile(values: Floats, share: float, weights: Floats | None) -> float:
    """Return the smallest value that at least a share of the rows do not exceed."""
    order = np.argsort(values, kind="stable")
    counts = np.ones(len(values)) if weights is None else weights[order]
    reached = np.cumsum(counts)
    place = int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12)))
    return float(values[order][min(place, len(values) - 1)])


class LogLinkLoss:
    """Base class of the losses with a logarithmic link.

    They are half the deviance of a distribution whose variance is proportional to mean**p, up to a
    constant. They are linear in the target, so that rows with the same raw prediction may be
    replaced by their mean.
    """

    name: ClassVar[str]
    link: ClassVar[str] = "log"
    takes_means: ClassVar[bool] = True

    @property
    def variance_power(self) -> float:
        """The p of a variance that grows like mean**p."""
        raise NotImplementedError

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss: ``exp((2 - p) f) - y exp((1 - p) f)``."""
        falling, rising = self._parts(y, raw_predictions)
        return rising - falling

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss."""
        falling, rising = self._parts(y, raw_predictions)
        return (self.variance_power - 1.0) * falling + (2.0 - self.variance_power) * rising

    def _parts(self, y: Floats, raw_predictions: Floats) -> tuple[Floats, Floats]:
        return (
            y * np.exp((1.0 - self.variance_power) * raw_predictions),
            np.exp((2.0 - self.variance_power) * raw_predictions),
        )

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Mean of the target: ``exp(f)``."""
        means: Floats = np.exp(raw_predictions)
        return means

    def constants(self, y: Floats, n_outputs: int, sample_weight: Floats | None = None) -> Floats:
        """Best raw prediction for all rows: the logarithm of the mean."""
        mean = float(np.average(y, weights=sample_weight))
        # Where all targets are 0, the loss decreases without end, but hardly any more.
        return np.array([math.log(mean if mean > 0.0 else _EPSILON)])

    def check_target(self, y: Floats) -> None:
        """Check that the loss has a minimum for a target."""
        needs_positive = self.variance_power >= 2
        is_wrong = y <= 0 if needs_positive else y < 0
        if is_wrong.any():
            row = int(is_wrong.argmax())
            required = "be positive" if needs_positive else "not be negative"
            hint = f"Use {parameter('loss', 'squared')} for numbers of both signs"
            if needs_positive:
                other = parameter("loss", "tweedie")
                hint = f"Leave out rows without an amount, or use {other}"
            raise ValueError(
                f"The target y must {required} with {parameter('loss', self.name)}. Got "
                f"{float(y[row])!r} at row {row}. {hint}."
            )
        if not y.any():
            raise ValueError(
                f"The target y must have a positive sum with {parameter('loss', self.name)}. Got "
                "nothing but zeros. Add rows where something was counted."
            )
        mean = float(np.mean(y))
        if mean ** (2.0 - self.variance_power) < _LEAST_GRADIENT * max(1.0, mean):
            wanted, remedy = ("larger", "Multiply") if mean < 1.0 else ("smaller", "Divide")
            raise ValueError(
                f"The target y must have a {wanted} mean with {parameter('loss', self.name)}. Got "
                f"{mean:g}, too far from 1 for weights to be fitted. {remedy} y by a constant "
                "number: predictions follow."
            )


@dataclass(frozen=True)
class PoissonLoss(LogLinkLoss):
    """Poisson loss ``exp(f) - y f``, for counts and rates.

    Examples
    --------
    >>> loss = PoissonLoss()
    >>> y, raw_predictions = np.array([3.0, 1.0]), np.array([0.0, 0.0])
    >>> loss.gradients(y, raw_predictions)
    array([-2.,  0.])
    >>> loss.hessians(y, raw_predictions)
    array([1., 1.])
    """

    name: ClassVar[str] = "poisson"
    variance_power: ClassVar[float] = 1.0

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row: ``exp(f) - y f``."""
        return np.exp(raw_predictions) - y * raw_predictions


@dataclass(frozen=True)
class GammaLoss(LogLinkLoss):
    """Gamma loss ``y exp(-f) + f``, for positive amounts whose spread grows with their mean.

    Examples
    --------
    >>> loss = GammaLoss()
    >>> y, raw_predictions = np.array([3.0, 1.0]), np.array([0.0, 0.0])
    >>> loss.gradients(y, raw_predictions)
    array([-2.,  0.])
    >>> loss.hessians(y, raw_predictions)
    array([3., 1.])
    """

    name: ClassVar[str] = "gamma"
    variance_power: ClassVar[float] = 2.0

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row: ``y exp(-f) + f``."""
        return y * np.exp(-raw_predictions) + raw_predictions


@dataclass(frozen=True)
class TweedieLoss(LogLinkLoss):
    """Tweedie loss, for amounts that are often exactly zero, such as the claims of a policy.

    ``y exp((1 - p) f) / (p - 1) + exp((2 - p) f) / (2 - p)`` with the power p: near 1 it resembles
    the Poisson loss, near 2 the gamma loss.

    Parameters
    ----------
    power : float in (1, 2), default=1.5
        The variance grows like the mean to that power.

    Examples
    --------
    >>> loss = TweedieLoss(power=1.5)
    >>> y, raw_predictions = np.array([3.0, 0.0]), np.array([0.0, 0.0])
    >>> loss.gradients(y, raw_predictions)
    array([-2.,  1.])
    >>> loss.hessians(y, raw_predictions)
    array([2. , 0.5])
    """

    power: float = 1.5

    name: ClassVar[str] = "tweedie"

    def __post_init__(self) -> None:
        if not 1.0 < self.power < 2.0:
            raise ValueError(
                "The 'power' of a TweedieLoss must be a number between 1 and 2. Got "
                f"{self.power!r} instead. Use PoissonLoss for 1 and GammaLoss for 2."
            )

    @property
    def variance_power(self) -> float:
        """The power itself."""
        return self.power

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row."""
        falling, rising = self._parts(y, raw_predictions)
        return falling / (self.power - 1.0) + rising / (2.0 - self.power)


@dataclass(frozen=True)
class LogisticLoss:
    """Logistic loss ``log(1 + exp(-y f))``, for targets -1 and 1.

    Raw predictions are log odds of the class 1. Neither value nor derivatives overflow: for large
    ``|f|`` the loss grows like ``|f|`` and the derivatives underflow to 0.

    Examples
    --------
    >>> loss = LogisticLoss()
    >>> y, raw_predictions = np.array([1, -1]), np.array([0.0, 0.0])
    >>> loss.value(y, raw_predictions).round(3)
    array([0.693, 0.693])
    >>> loss.gradients(y, raw_predictions)
    array([-0.5,  0.5])
    >>> loss.hessians(y, raw_predictions)
    array([0.25, 0.25])
    >>> loss.inverse_link(raw_predictions)
    array([0.5, 0.5])
    """

    name: ClassVar[str] = "logistic"
    link: ClassVar[str] = "logistic"

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row: ``log(1 + exp(-y f))``."""
        return np.logaddexp(0.0, -y * raw_predictions)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivative of each row's loss: ``-y sigma(-y f)``."""
        from scipy.special import expit

        gradients: Floats = expit(-(y * raw_predictions))
        gradients *= y
        return -gradients

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss: ``sigma(f) sigma(-f)``."""
        # Not sigma(f) (1 - sigma(f)): that is 0 from f = 37 on, where the true value is still 1e-16
        # and, without regularization, determines the weight of a rule. It is even in f, and
        # e / (1 + e)^2 with e = exp(-|f|) needs a single exponential.
        hessians = np.exp(-np.abs(raw_predictions))
        divisors = 1.0 + hessians
        divisors *= divisors
        hessians /= divisors
        return hessians

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Probability of the class 1: ``sigma(f)``."""
        from scipy.special import expit

        probabilities: Floats = expit(raw_predictions)
        return probabilities


@dataclass(frozen=True)
class MultinomialLoss:
    """Multinomial loss, minus the logarithm of the probability of the true class.

    Targets are the positions of classes, counted from 0, and raw predictions have a column for each
    class: probabilities are their exponentials, divided by the sum.

    Examples
    --------
    >>> loss = MultinomialLoss()
    >>> y, raw_predictions = np.array([0.0, 2.0]), np.zeros((2, 3))
    >>> loss.value(y, raw_predictions).round(3)
    array([1.099, 1.099])
    >>> loss.gradients(y, raw_predictions).round(3)
    array([[-0.667,  0.333,  0.333],
           [ 0.333,  0.333, -0.667]])
    """

    name: ClassVar[str] = "multinomial"
    link: ClassVar[str] = "softmax"

    def value(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Loss of each row."""
        from scipy.special import log_softmax

        logarithms = log_softmax(raw_predictions, axis=1)
        return np.asarray(-logarithms[np.arange(len(y)), y.astype(np.intp)], dtype=np.float64)

    def gradients(self, y: Floats, raw_predictions: Floats) -> Floats:
        """First derivatives with respect to each raw prediction, of shape (n_rows, n_classes)."""
        gradients = self.inverse_link(raw_predictions)
        gradients[np.arange(len(y)), y.astype(np.intp)] -= 1.0
        return gradients

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivatives with respect to each raw prediction: ``p (1 - p)``."""
        probabilities = self.inverse_link(raw_predictions)
        return probabilities * (1.0 - probabilities)

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Probabilities of the classes, of shape (n_rows, n_classes)."""
        from scipy.special import softmax

        return np.asarray(softmax(raw_predictions, axis=1), dtype=np.float64)

    def constants(self, y: Floats, n_outputs: int, sample_weight: Floats | None = None) -> Floats:
        """Best raw predictions for all rows: logarithms of the shares, minus their mean."""
        counts = np.bincount(y.astype(np.intp), sample_weight, n_outputs)
        # A class without rows has a finite logarithm, too.
        logarithms = np.log(np.maximum(counts / counts.sum(), _EPSILON))
        return np.asarray(logarithms - logarithms.mean(), dtype=np.float64)
