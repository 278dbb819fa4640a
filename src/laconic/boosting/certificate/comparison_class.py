"""The ensembles that a model is compared with, and the bound on the best of them.

With forces v whose sums over conjunctions and slopes are at most U, and any factor s (see `risk`):

- ensembles whose absolute weights add up to R or less have a loss of at least D(sv) − R s U;
- ensembles of K terms or fewer, with the penalty (λ/2) Σw², have at least D(sv) − K (sU)² / (2λ):
  K numbers of sum t have Σw² ≥ t²/K, and (λ/2K) t² − t s U is smallest at t = K s U / λ.

Weights and values of slopes are those on the scale of rules.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from laconic._util.types import Floats
from laconic.boosting.certificate.conjugates import SquaredConjugate
from laconic.boosting.certificate.risk import TrainingRisk

_ROUNDING = 1e-13
# Near the smallest doubles, rounding errors are no longer relative to a number.
_SMALLEST = 1e-303


@dataclass(frozen=True)
class EnsemblesOfWeight:
    """All ensembles whose absolute weights have at most some sum; nothing is penalised."""

    total_weight: float

    @property
    def is_constant(self) -> bool:
        """Whether none of them has a term with a weight."""
        return self.total_weight == 0.0

    def penalty(self, weights: Floats) -> float:
        """Compute the penalty that is added to the loss."""
        return 0.0

    def largest_gain(self, largest_sum: float) -> float:
        """Compute how far terms can bring a loss below D, given the largest sum of forces."""
        return self.total_weight * largest_sum


@dataclass(frozen=True)
class EnsemblesOfSize:
    """All ensembles of at most so many terms, penalised as the model is."""

    n_terms: int
    l2_regularization: float

    @property
    def is_constant(self) -> bool:
        """Whether none of them has a term."""
        return self.n_terms == 0

    def penalty(self, weights: Floats) -> float:
        """Compute the penalty that is added to the loss."""
        return self.l2_regularization / 2.0 * math.fsum(np.square(weights))

    def largest_gain(self, largest_sum: float) -> float:
        """Compute how far terms can bring a loss below D, given the largest sum of forces."""
        if largest_sum == 0.0 or self.n_terms == 0:
            return 0.0
        if self.l2_regularization == 0.0:
            return math.inf
        return self.n_terms * largest_sum * (largest_sum / (2.0 * self.l2_regularization))


ComparisonClass = EnsemblesOfWeight | EnsemblesOfSize


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound on the penalised loss of compared ensembles, and the forces that prove it."""

    value: float
    forces: Floats
    largest_sum: float
    """Upper bound on the absolute sum of forces over a conjunction, or times the values of a slope
    on the scale of rules, of any output."""


def lower_bound(
    risk: TrainingRisk,
    compared: ComparisonClass,
    forces: Floats,
    largest_sum: float,
    reach: float = 1.0,
) -> Bound:
    """Bound the penalised loss of all compared ensembles, by the best multiple of given forces.

    No value of a term, on the scale of rules, is above `reach`.

    Examples
    --------
    >>> from laconic.losses import SquaredLoss
    >>> risk = TrainingRisk(np.array([0.0, 0.0, 1.0, 1.0]), SquaredLoss())
    >>> forces = risk.forces(np.full(4, 0.5))
    >>> forces
    array([ 1.,  1., -1., -1.])
    >>> bound = lower_bound(risk, EnsemblesOfWeight(0.5), forces, largest_sum=2.0)
    >>> round(bound.value, 9), bound.forces
    (0.25, array([ 0.5,  0.5, -0.5, -0.5]))

    Indeed 0.25 + 0.5 where the target is 1 has the loss 4 · 0.25².
    """
    scale = _best_scale(risk, compared, forces, largest_sum) if forces.any() else 0.0
    scaled = risk.conjugate.exact(scale * forces)
    # Over all outputs, which is an upper bound for each of them.
    rounding = reach * math.fsum(np.abs(scaled - scale * forces).ravel())
    largest_sum = (scale * largest_sum + rounding) * (1.0 + _ROUNDING)
    value = risk.conjugate.value(scaled) - compared.largest_gain(largest_sum) * (1.0 + _ROUNDING)
    if value > _SMALLEST:
        return Bound(value, scaled, largest_sum)
    return Bound(0.0, np.zeros(forces.shape), 0.0)


def _best_scale(
    risk: TrainingRisk, compared: ComparisonClass, forces: Floats, largest_sum: float
) -> float:
    conjugate = risk.conjugate
    if isinstance(conjugate, SquaredConjugate):
        linear, square = conjugate.parabola(forces)
        gain_of_one = compared.largest_gain(largest_sum)
        if isinstance(compared, EnsemblesOfWeight):
            linear -= gain_of_one
        else:
            square += gain_of_one
        return max(linear / (2.0 * square), 0.0)
    largest = min(conjugate.largest_scale(forces), 1e6)

    def height(scale: float) -> float:
        gain = compared.largest_gain(scale * largest_sum)
        return gain - conjugate.approximate_value(forces, scale)

    scale = _lowest(height, 0.0, largest)
    # Usually the forces are best as they are.
    return min((scale, min(1.0, largest)), key=height)


def _lowest(height: Callable[[float], float], low: float, high: float) -> float:
    """Find the minimum of a convex function, by golden-section search."""
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    heights = height(left), height(right)
    while high - low > 1e-6 * high:
        if heights[0] <= heights[1]:
            high, right = right, left
            left = high - ratio * (high - low)
            heights = height(left), heights[0]
        else:
            low, left = left, right
            right = low + ratio * (high - low)
            heights = heights[1], height(right)
    return (low + high) / 2.0
