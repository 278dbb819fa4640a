"""The loss of a table as a sum over its rows, and what duality says about its smallest value.

A convex loss l lies above its tangents: l(f) ≥ θf − l*(θ) for every slope θ, where l* is its
conjugate. Summed over rows of weights c, with *forces* v = cθ, and an ensemble f = b + Σ_q w_q 1_q,

    loss ≥ D(v) + b Σv + Σ_q w_q Σ_{i∈q} v_i,    D(v) = −Σ c l*(v/c).

Where Σv = 0, the intercept does not matter; and no rule does more than its weight times the largest
sum of forces over any conjunction. `TrainingRisk` knows D for the losses that have a name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from laconic import _core
from laconic.losses import Floats, LogisticLoss, NamedLoss, SquaredLoss, optimal_constant

# What doubles may get wrong about a term of a sum, times a generous number of operations.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class TrainingRisk:
    """Target, weights and loss of some rows; none of them has the weight 0.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The target, as the loss expects it.
    loss : LogisticLoss or SquaredLoss
    sample_weight : ndarray of shape (n_rows,), default=None
    fit_intercept : bool, default=True
        Whether ensembles have an intercept; without one, their raw predictions start from 0.

    Examples
    --------
    >>> risk = TrainingRisk(np.array([1.0, 3.0, 8.0]), SquaredLoss())
    >>> risk.constant, risk.value_at_constant
    (4.0, 26.0)
    >>> forces = risk.forces(np.array([2.0, 2.0, 8.0]))
    >>> forces, float(forces.sum())
    (array([ 2., -2.,  0.]), 0.0)
    >>> round(risk.dual_value(forces), 6)
    2.0
    """

    y: Floats
    loss: NamedLoss
    sample_weight: Floats | None = None
    fit_intercept: bool = True

    @cached_property
    def weights(self) -> Floats:
        """Weights of all rows."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight

    @cached_property
    def constant(self) -> float:
        """The raw prediction of an ensemble without rules."""
        if not self.fit_intercept:
            return 0.0
        return optimal_constant(self.loss, self.y, self.sample_weight)

    @cached_property
    def value_at_constant(self) -> float:
        """The loss of an ensemble without rules."""
        return self.value(np.full(len(self.y), self.constant))

    def value(self, raw_predictions: Floats) -> float:
        """Sum the loss of raw predictions over all rows."""
        return math.fsum(self.weights * self.loss.value(self.y, raw_predictions))

    def forces(self, raw_predictions: Floats) -> Floats:
        """Slopes of the loss times weights, changed a little so that they suit `dual_value`.

        They are `exact`, and with an intercept they add up to 0.
        """
        forces = self.weights * self.loss.gradients(self.y, raw_predictions)
        return self.exact(self._balanced(forces) if self.fit_intercept else forces)

    def exact(self, forces: Floats) -> Floats:
        """Round forces so that all partial sums are exact in double precision.

        Those that add up to 0, as they do where there is an intercept, do so exactly then.
        """
        forces, _ = _core.exactly_summable(np.ascontiguousarray(forces), None)
        if self.fit_intercept:
            excess = float(forces.sum())
            # A row that can bear it: it has the same sign, and is the largest one.
            bearer = int(np.argmax(forces if excess > 0.0 else -forces))
            forces[bearer] -= excess
        return forces

    def _balanced(self, forces: Floats) -> Floats:
        """Make them add up to 0, but for rounding."""
        if isinstance(self.loss, SquaredLoss):
            return np.asarray(forces - self.weights * (forces.sum() / self.weights.sum()))
        # Slopes of the logistic loss are between 0 and 1 with the sign of the other class: those
        # of the heavier class are scaled down.
        upwards, downwards = forces[forces > 0].sum(), -forces[forces < 0].sum()
        lighter = min(upwards, downwards)
        if lighter == 0.0:
            return np.zeros(len(forces))
        return np.asarray(forces * np.where(forces > 0, lighter / upwards, lighter / downwards))

    @cached_property
    def centred(self) -> Floats:
        """Targets less the constant; where forces add up to 0, D takes any number off them."""
        return np.asarray(self.y - self.constant)

    def largest_scale(self, forces: Floats) -> float:
        """By how much forces may be multiplied for `dual_value`."""
        if isinstance(self.loss, SquaredLoss):
            return math.inf
        steepest = float((np.abs(forces) / self.weights).max(initial=0.0))
        return math.inf if steepest == 0.0 else (1.0 - _ROUNDING) / steepest

    def dual_value(self, forces: Floats) -> float:
        """D of forces, less what rounding may add to it."""
        if isinstance(self.loss, LogisticLoss):
            terms = self.weights * _entropy(np.abs(forces) / self.weights)
            return math.fsum(terms) - _ROUNDING * math.fsum(self.weights)
        linear, square = -forces * self.centred, forces * (forces / (4.0 * self.weights))
        error = _ROUNDING * math.fsum(np.abs(linear) + square)
        return math.fsum(linear) - math.fsum(square) - error

    def approximate_dual_value(self, forces: Floats, scale: float) -> float:
        """D of scaled forces, not quite, but fast."""
        if isinstance(self.loss, LogisticLoss):
            shares = np.minimum(scale * np.abs(forces) / self.weights, 1.0)
            return float(self.weights @ _entropy(shares))
        square = forces @ (forces / self.weights) / 4.0
        return float(-scale * (forces @ self.centred) - scale**2 * square)


def _entropy(shares: Floats) -> Floats:
    """−p log p − (1 − p) log(1 − p), 0 at both ends."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -shares * np.log(shares) - (1.0 - shares) * np.log1p(-shares)
    return np.where((shares > 0.0) & (shares < 1.0), entropy, 0.0)
