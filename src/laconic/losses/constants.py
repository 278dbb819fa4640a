"""The best constant raw prediction for all rows, and the curvature of the loss there."""

from __future__ import annotations

import math

import numpy as np

from laconic._util.types import Floats
from laconic.losses.functions import LogisticLoss, LogLinkLoss, Loss, MultinomialLoss
from laconic.losses.named import known_loss, takes_means

_EPSILON = float(np.finfo(np.float64).eps)

# Newton's method needs fewer than ten steps near the minimum and about 37 to follow a single class
# to where its gradients vanish. The rest is for losses that are flat at their minimum, such as
# (y - f)^4, where each step reduces the distance by a third only, and for targets of any size:
# doubling gets from 1 to the largest float in 1,024 steps.
_MAX_STEPS = 1_200


def optimal_constants(
    loss: Loss, y: Floats, n_outputs: int = 1, sample_weight: Floats | None = None
) -> Floats:
    """Find the raw predictions, one per output, that minimise the total loss if all rows have them.

    Examples
    --------
    >>> optimal_constants(MultinomialLoss(), np.array([0.0, 1.0, 1.0]), n_outputs=2).round(3)
    array([-0.347,  0.347])
    """
    known = known_loss(loss)
    if isinstance(known, LogLinkLoss | MultinomialLoss):
        return known.constants(y, n_outputs, sample_weight)
    return np.array([_newton_constant(loss, y, sample_weight)])


def optimal_constant(loss: Loss, y: Floats, sample_weight: Floats | None = None) -> float:
    """Find the raw prediction that minimises the total loss if all rows have it.

    Where the loss decreases without end, as the logistic loss does when there is only one class,
    the result is a finite constant at which the gradients are negligible.

    Examples
    --------
    >>> from laconic.losses import LogisticLoss, SquaredLoss
    >>> round(optimal_constant(SquaredLoss(), np.array([1.0, 2.0, 6.0])), 9)
    3.0

    Three rows against one: the log odds are ``log(3)``.

    >>> round(optimal_constant(LogisticLoss(), np.array([1, 1, -1, 1])), 4)
    1.0986
    """
    return float(optimal_constants(loss, y, 1, sample_weight)[0])


def _newton_constant(loss: Loss, y: Floats, sample_weight: Floats | None) -> float:
    """Find the optimal constant by Newton's method from 0.

    A step is never longer than the constant itself plus 1, which keeps exponentials finite, and is
    replaced by bisection when it would leave the interval in which the signs of the gradients so
    far locate the minimum.
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
    """Compute the mean hessian of all rows, where all have the same raw prediction.

    A penalty of n times that counts as much as n rows.

    Examples
    --------
    >>> from laconic.losses import LogisticLoss, SquaredLoss
    >>> mean_hessian(SquaredLoss(), 0.0, np.array([1.0, 2.0, 6.0]))
    2.0
    >>> mean_hessian(LogisticLoss(), 0.0, np.array([1, -1, 1]))
    0.25
    """
    _, sum_hessians, _ = _sums_at(loss, constant, y, sample_weight)
    return sum_hessians / (len(y) if sample_weight is None else float(sample_weight.sum()))


def ranking_values(
    loss: Loss,
    y: Floats,
    constants: float | Floats,
    sample_weight: Floats | None = None,
) -> list[tuple[Floats, Floats | None]]:
    """Return values and weights of rows whose weighted means rank groups of rows by g/h.

    Here g and h are the sums of gradients and hessians over a group where all rows have the same
    raw predictions, the `constants`: one, or one for each class of a multinomial loss. There is a
    pair of values and weights for each of them. Most losses rank groups by the mean target, and
    classes by the share of each class, whatever the constant is.

    Examples
    --------
    >>> from laconic.losses import HuberLoss, SquaredLoss
    >>> y = np.array([0.0, 1.0, 9.0])
    >>> ranking_values(SquaredLoss(), y, 2.0)
    [(array([0., 1., 9.]), None)]
    >>> ranking_values(HuberLoss(delta=2.0), y, -1.0)
    [(array([ 1.,  2., 10.]), array([2. , 2. , 0.4]))]
    >>> [shares.tolist() for shares, _ in ranking_values(MultinomialLoss(), y % 3, np.zeros(3))]
    [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    """
    if isinstance(loss, MultinomialLoss):
        classes = range(np.size(constants))
        return [((y == label).astype(np.float64), sample_weight) for label in classes]
    if isinstance(known_loss(loss), LogisticLoss):
        return [((y > 0).astype(np.float64), sample_weight)]
    if takes_means(loss):
        return [(y, sample_weight)]
    raw_predictions = np.full(np.shape(y), constants)
    hessians = loss.hessians(y, raw_predictions)
    # Rows without curvature go to the ends of the order, as those with hardly any do; a search does
    # not distinguish the two, either.
    hessians = np.maximum(hessians, _EPSILON * float(np.max(hessians)) or 1.0)
    weights = hessians if sample_weight is None else hessians * sample_weight
    return [(-loss.gradients(y, raw_predictions) / hessians, weights)]


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
