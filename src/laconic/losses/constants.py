"""The best raw prediction for all rows, and how the loss bends there."""

from __future__ import annotations

import math

import numpy as np

from laconic._util.types import Floats
from laconic.losses.base import Loss
from laconic.losses.multinomial import MultinomialLoss
from laconic.losses.named import known_loss, takes_means
from laconic.losses.positive import LogLinkLoss
from laconic.losses.squared_logistic import LogisticLoss

_EPSILON = float(np.finfo(np.float64).eps)

# Newton's method needs fewer than ten steps near the minimum and about 37 to follow a single class
# to where its gradients vanish. The rest is for losses that are flat at their minimum, such as
# (y - f)^4, where each step only takes off a third of the distance, and for targets of any size:
# doubling gets from 1 to the largest float in 1,024 steps.
_MAX_STEPS = 1_200


def optimal_constant(loss: Loss, y: Floats, sample_weight: Floats | None = None) -> float:
    """Find the one raw prediction that, given to all rows, minimises the total loss.

    Newton's method from 0. A step never goes further than doubling the constant (plus 1), which
    keeps exponentials finite, and is replaced by bisection when it would leave the interval that
    the signs of the gradients so far confine the minimum to.

    Where the loss falls for ever, as the logistic loss does when there is only one class, the
    result is a finite constant at which the gradients have all but vanished.

    Examples
    --------
    >>> from laconic.losses import LogisticLoss, SquaredLoss
    >>> round(optimal_constant(SquaredLoss(), np.array([1.0, 2.0, 6.0])), 9)
    3.0

    Three rows against one: the log odds are ``log(3)``.

    >>> round(optimal_constant(LogisticLoss(), np.array([1, 1, -1, 1])), 4)
    1.0986
    """
    known = known_loss(loss)
    if isinstance(known, LogLinkLoss):
        return known.constant(y, sample_weight)
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
    >>> from laconic.losses import LogisticLoss, SquaredLoss
    >>> mean_hessian(SquaredLoss(), 0.0, np.array([1.0, 2.0, 6.0]))
    2.0
    >>> mean_hessian(LogisticLoss(), 0.0, np.array([1, -1, 1]))
    0.25
    """
    _, sum_hessians, _ = _sums_at(loss, constant, y, sample_weight)
    return sum_hessians / (len(y) if sample_weight is None else float(sample_weight.sum()))


def ranking_values(
    loss: Loss | MultinomialLoss,
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
    # not tell the two apart, either.
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
