"""Loss functions: what a raw prediction costs, and how that cost bends.

A loss compares targets with raw predictions, row by row. Boosting needs its first and second
derivatives with respect to the raw prediction (``gradients``, ``hessians``) and nothing else, so
any twice differentiable convex loss will do: pass an object that has the four methods of `Loss`.

This module knows targets and raw predictions. It knows nothing about rules.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats: TypeAlias = NDArray[np.float64]

_METHODS = ("value", "gradients", "hessians", "inverse_link")

_EPSILON = float(np.finfo(np.float64).eps)

# Newton's method needs fewer than ten steps near the minimum and about 37 to follow a single class
# to where its gradients vanish. The rest is for losses that are flat at their minimum, such as
# (y - f)^4, where each step only takes off a third of the distance, and for targets of any size:
# doubling gets from 1 to the largest float in 1,024 steps.
_MAX_STEPS = 1_200


@runtime_checkable
class Loss(Protocol):
    """What boosting asks of a loss.

    Every method takes and returns arrays of shape (n_samples,). A loss must be convex and twice
    differentiable in the raw prediction: its hessians are never negative.

    Examples
    --------
    A loss for counts, whose raw prediction is the logarithm of the mean:

    >>> class PoissonLoss:
    ...     def value(self, y, raw_predictions):
    ...         return np.exp(raw_predictions) - y * raw_predictions
    ...     def gradients(self, y, raw_predictions):
    ...         return np.exp(raw_predictions) - y
    ...     def hessians(self, y, raw_predictions):
    ...         return np.exp(raw_predictions)
    ...     def inverse_link(self, raw_predictions):
    ...         return np.exp(raw_predictions)
    >>> isinstance(PoissonLoss(), Loss)
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
    """The mean of the targets of rows with the same raw prediction is all there is to know of them:
    it changes neither gradients nor hessians, and the loss by a constant."""

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
class LogisticLoss:
    """Logistic loss ``log(1 + exp(-y f))``, for targets -1 and 1.

    Raw predictions are log odds of the class 1. Neither value nor derivatives overflow: far out
    the loss grows like ``|f|`` and the derivatives underflow to 0.

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
        gradients = _sigmoid(-(y * raw_predictions))
        gradients *= y
        return -gradients

    def hessians(self, y: Floats, raw_predictions: Floats) -> Floats:
        """Second derivative of each row's loss: ``sigma(f) sigma(-f)``."""
        # Not sigma(f) (1 - sigma(f)): that is 0 from f = 37 on, when the true value is still 1e-16
        # and, with no regularization, decides the weight of a rule. It is even in f, and as
        # e / (1 + e)^2 with e = exp(-|f|) a single exponential serves both factors.
        hessians = np.exp(-np.abs(raw_predictions))
        divisors = 1.0 + hessians
        divisors *= divisors
        hessians /= divisors
        return hessians

    def inverse_link(self, raw_predictions: Floats) -> Floats:
        """Probability of the class 1: ``sigma(f)``."""
        return _sigmoid(raw_predictions)


def _sigmoid(raw_predictions: Floats) -> Floats:
    probabilities: Floats = expit(raw_predictions)
    return probabilities


NamedLoss: TypeAlias = LogisticLoss | SquaredLoss

NAMED_LOSSES: dict[str, NamedLoss] = {loss.name: loss for loss in (LogisticLoss(), SquaredLoss())}
"""The losses that files, other programs and texts know: each has a ``name`` and a ``link``."""


def known_loss(loss: Loss) -> NamedLoss | None:
    """Recognise one of the named losses; None for any other.

    Examples
    --------
    >>> known_loss(SquaredLoss()).link
    'identity'
    """
    # A subclass may override any method, so only the classes themselves are known.
    return next((named for named in NAMED_LOSSES.values() if type(named) is type(loss)), None)


def takes_means(loss: Loss) -> bool:
    """Tell whether rows with the same raw prediction may be given the mean of their targets.

    That is what the attribute ``takes_means`` of a loss says; a loss without it is not asked to.

    Examples
    --------
    >>> takes_means(SquaredLoss()), takes_means(LogisticLoss())
    (True, False)
    """
    return getattr(loss, "takes_means", False) is True


def get_loss(loss: str | Loss) -> Loss:
    """Loss for a name, or the given loss once it is known to be an instance with all methods.

    Examples
    --------
    >>> get_loss("squared")
    SquaredLoss()
    >>> get_loss(LogisticLoss())
    LogisticLoss()
    """
    required = (
        f"'loss' must be one of {', '.join(map(repr, NAMED_LOSSES))} "
        f"or an object with the methods {', '.join(_METHODS)}."
    )
    if isinstance(loss, str):
        if loss not in NAMED_LOSSES:
            raise ValueError(f"{required} Got {loss!r} instead. Check the spelling.")
        return NAMED_LOSSES[loss]
    if isinstance(loss, type):
        name = loss.__name__
        raise TypeError(f"{required} Got the class {name} instead. Pass an instance: {name}().")
    missing = [method for method in _METHODS if not callable(getattr(loss, method, None))]
    if missing:
        raise TypeError(
            f"{required} Got {loss!r}, which lacks {', '.join(missing)}. Add what is missing."
        )
    return loss


def optimal_constant(loss: Loss, y: Floats, sample_weight: Floats | None = None) -> float:
    """Find the one raw prediction that, given to all rows, minimises the total loss.

    Newton's method from 0. A step never goes further than doubling the constant (plus 1), which
    keeps exponentials finite, and is replaced by bisection when it would leave the interval that
    the signs of the gradients so far confine the minimum to.

    Where the loss falls for ever, as the logistic loss does when there is only one class, the
    result is a finite constant at which the gradients have all but vanished.

    Examples
    --------
    >>> round(optimal_constant(SquaredLoss(), np.array([1.0, 2.0, 6.0])), 9)
    3.0

    Three rows against one: the log odds are ``log(3)``.

    >>> round(optimal_constant(LogisticLoss(), np.array([1, 1, -1, 1])), 4)
    1.0986
    """
    constant, lower, upper = 0.0, -math.inf, math.inf
    *_, pull = _sums_at(loss, constant, y, sample_weight)
    # A class whose share is below the rounding error of 1 counts as absent.
    negligible_pull = _EPSILON * pull
    for _ in range(_MAX_STEPS):
        sum_gradients, sum_hessians, pull = _sums_at(loss, constant, y, sample_weight)
        # The error to expect in a sum of gradients, from adding up and from rounding the constant.
        rounding = 4 * _EPSILON * (pull + abs(constant) * sum_hessians)
        if pull <= negligible_pull or abs(sum_gradients) <= rounding:
            break
        if sum_gradients < 0:
            lower = constant
        else:
            upper = constant
        step = _damped_step(constant, sum_gradients, sum_hessians)
        if constant + step == constant:
            break
        if lower < constant + step < upper:
            constant += step
        elif upper - lower <= 4 * _EPSILON * abs(constant):
            break
        else:
            constant = (lower + upper) / 2
    return constant


def mean_hessian(
    loss: Loss, constant: float, y: Floats, sample_weight: Floats | None = None
) -> float:
    """Average how the loss bends, over all rows, where all have the same raw prediction.

    A penalty of so many times that counts as much as so many rows.

    Examples
    --------
    >>> mean_hessian(SquaredLoss(), 0.0, np.array([1.0, 2.0, 6.0]))
    2.0
    >>> mean_hessian(LogisticLoss(), 0.0, np.array([1, -1, 1]))
    0.25
    """
    _, sum_hessians, _ = _sums_at(loss, constant, y, sample_weight)
    return sum_hessians / (len(y) if sample_weight is None else float(sample_weight.sum()))


def _sums_at(
    loss: Loss, constant: float, y: Floats, sample_weight: Floats | None
) -> tuple[float, float, float]:
    """Weighted sums of gradients, hessians and absolute gradients (the pull) at a constant."""
    raw_predictions = np.full(np.shape(y), constant)
    gradients = loss.gradients(y, raw_predictions)
    hessians = loss.hessians(y, raw_predictions)
    if sample_weight is not None:
        gradients, hessians = sample_weight * gradients, sample_weight * hessians
    sums = float(np.sum(gradients)), float(np.sum(hessians)), float(np.sum(np.abs(gradients)))
    if not all(map(math.isfinite, sums)):
        raise ValueError(
            "The gradients and hessians of a loss must be finite for every target. Got sums "
            f"{sums[0]} and {sums[1]} from {loss!r} at the raw prediction {constant}. Check that "
            "the targets, and weights if any, are finite and suit the loss."
        )
    return sums


def _damped_step(constant: float, sum_gradients: float, sum_hessians: float) -> float:
    """Newton step towards the minimum, no longer than ``1 + abs(constant)``."""
    longest = 1.0 + abs(constant)
    # Compared as a product: the quotient overflows where the loss is all but linear.
    if abs(sum_gradients) < longest * sum_hessians:
        return -sum_gradients / sum_hessians
    return -math.copysign(longest, sum_gradients)
