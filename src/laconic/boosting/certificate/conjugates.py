"""Conjugates of losses: which forces are slopes of a loss, and the bound D that follows from them.

Forces have the shape of raw predictions: a number per row, or a number per row and output. `risk`
explains how they bound a loss.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from laconic import _core
from laconic._util.types import Floats, Indices
from laconic.losses import LogisticLoss, MultinomialLoss, NamedLoss, SquaredLoss

# Relative rounding error of a term of a sum, times a generous number of operations.
_ROUNDING = 64 * float(np.finfo(np.float64).eps)


class Conjugate(ABC):
    """The dual of the loss of given rows.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The target, as the loss expects it.
    weights : ndarray of shape (n_rows,)
        Positive weights of the rows.
    constants : ndarray of shape (n_outputs,)
        Raw predictions of an ensemble without rules.
    has_intercept : bool
        Whether forces have to add up to 0 in each output.
    """

    def __init__(
        self, y: Floats, weights: Floats, constants: Floats, *, has_intercept: bool
    ) -> None:
        self.y, self.weights, self.constants = y, weights, constants
        self.has_intercept = has_intercept

    @abstractmethod
    def balanced(self, forces: Floats) -> Floats:
        """Return forces like the given ones that add up to 0 in each output, but for rounding."""

    @abstractmethod
    def exact(self, forces: Floats) -> Floats:
        """Round forces so that all partial sums are exact in double precision.

        Where there is an intercept, they add up to 0 exactly. The result are slopes of the loss
        times weights, or zeros if no such forces are close to the given ones.
        """

    @abstractmethod
    def value(self, forces: Floats) -> float:
        """Compute D of exact forces, less an upper bound on its rounding error."""

    @abstractmethod
    def approximate_value(self, forces: Floats, scale: float) -> float:
        """Compute D of scaled forces, fast and approximately."""

    def largest_scale(self, forces: Floats) -> float:
        """Compute the largest factor with which forces are still slopes times weights."""
        # Slopes of the losses for classes are at most 1.
        steepest = float((np.abs(forces).T / self.weights).max(initial=0.0))
        return math.inf if steepest == 0.0 else (1.0 - _ROUNDING) / steepest


class SquaredConjugate(Conjugate):
    """The squared loss has every number as a slope: l*(θ) = θy + θ²/4."""

    def balanced(self, forces: Floats) -> Floats:
        """Subtract the same slope from all rows."""
        return np.asarray(forces - self.weights * (forces.sum() / self.weights.sum()))

    def exact(self, forces: Floats) -> Floats:
        """Round forces; the largest one absorbs the difference from a sum of 0."""
        rounded = _summable(forces)
        return _settled(rounded) if self.has_intercept else rounded

    def largest_scale(self, forces: Floats) -> float:
        """Return infinity."""
        return math.inf

    def value(self, forces: Floats) -> float:
        """Compute D, less an upper bound on its rounding error."""
        linear, square = -forces * self._centred, forces * (forces / (4.0 * self.weights))
        error = _ROUNDING * math.fsum(np.abs(linear) + square)
        return math.fsum(linear) - math.fsum(square) - error

    def approximate_value(self, forces: Floats, scale: float) -> float:
        """Compute D of scaled forces."""
        linear, square = self.parabola(forces)
        return scale * linear - scale**2 * square

    def parabola(self, forces: Floats) -> tuple[float, float]:
        """Compute the coefficients a and b of D = as − bs² for forces times s."""
        linear = -float(forces @ self._centred)
        return linear, float(forces @ (forces / self.weights)) / 4.0

    @cached_property
    def _centred(self) -> Floats:
        """Targets less the constant; where forces add up to 0, this does not change D."""
        return np.asarray(self.y - self.constants[0])


class LogisticConjugate(Conjugate):
    """Slopes are between 0 and 1, with the sign of the other class; −l* is the entropy of |θ|."""

    def balanced(self, forces: Floats) -> Floats:
        """Scale the forces of the heavier class down."""
        upwards, downwards = forces[forces > 0].sum(), -forces[forces < 0].sum()
        lighter = min(upwards, downwards)
        if lighter == 0.0:
            return np.zeros(len(forces))
        return np.asarray(forces * np.where(forces > 0, lighter / upwards, lighter / downwards))

    def exact(self, forces: Floats) -> Floats:
        """Round forces; the largest one absorbs the difference from 0, if it keeps its sign."""
        rounded = _summable(_limited(forces, np.abs(forces), self.weights))
        if not self.has_intercept:
            return rounded
        settled = _settled(rounded)
        return settled if (settled * self.y <= 0.0).all() else np.zeros(len(forces))

    def value(self, forces: Floats) -> float:
        """Compute D, less an upper bound on its rounding error."""
        terms = self.weights * _entropy(np.abs(forces) / self.weights)
        return math.fsum(terms) - _ROUNDING * math.fsum(self.weights)

    def approximate_value(self, forces: Floats, scale: float) -> float:
        """Compute D of scaled forces, fast and approximately."""
        probabilities = np.minimum(scale * np.abs(forces) / self.weights, 1.0)
        return float(self.weights @ _entropy(probabilities))


class MultinomialConjugate(Conjugate):
    """Slopes are probabilities of the classes, less 1 for the true one; −l* is their entropy.

    So those of a row add up to 0. Masses are probabilities times weights.
    """

    @cached_property
    def _own(self) -> tuple[Indices, Indices]:
        """Positions of the forces of the true classes."""
        return np.arange(len(self.y)), self.y.astype(np.intp)

    def balanced(self, forces: Floats) -> Floats:
        """Move mass, within rows, from classes with more mass than the weight of their rows."""
        masses = forces.copy()
        masses[self._own] += self.weights
        sums, n_outputs = masses.sum(axis=0), len(self.constants)
        totals = np.bincount(self.y.astype(np.intp), self.weights, n_outputs)
        missing = np.maximum(totals - sums, 0.0)
        if not missing.any():
            return forces
        kept = masses * np.divide(totals, sums, where=sums > totals, out=np.ones(n_outputs))
        freed = (masses - kept).sum(axis=1)
        balanced = kept + np.outer(freed, missing / missing.sum())
        balanced[self._own] -= self.weights
        return np.asarray(balanced)

    def exact(self, forces: Floats) -> Floats:
        """Round the forces of the other classes; that of the true class follows from them."""
        forces = self._with_own(np.maximum(forces, 0.0))
        limited = _limited(forces, -forces[self._own], self.weights)
        rounded = self._with_own(_summable(limited))
        return self._settled(rounded) if self.has_intercept else rounded

    def _with_own(self, forces: Floats) -> Floats:
        """Set the forces of the true classes so that rows add up to 0, in place."""
        forces[self._own] = 0.0
        forces[self._own] = 0.0 - forces.sum(axis=1)
        return forces

    def _settled(self, forces: Floats) -> Floats:
        """Make each output add up to 0, by moving mass in the row with the most of it."""
        excess = forces.sum(axis=0)
        while excess.any():
            giver, taker = int(np.argmax(excess)), int(np.argmin(excess))
            amount = min(excess[giver], -excess[taker])
            masses = forces[:, giver] + self.weights * (self.y == giver)
            row = int(np.argmax(masses))
            if masses[row] < 2.0 * amount:
                return np.zeros(forces.shape)
            for values in (forces[row], excess):
                values[giver] -= amount
                values[taker] += amount
        return forces

    def value(self, forces: Floats) -> float:
        """Compute D, less an upper bound on its rounding error."""
        error = _ROUNDING * len(self.constants) * math.fsum(self.weights)
        return math.fsum(self.weights * self._entropies(forces)) - error

    def approximate_value(self, forces: Floats, scale: float) -> float:
        """Compute D of scaled forces, fast and approximately."""
        return float(self.weights @ self._entropies(scale * forces))

    def _entropies(self, forces: Floats) -> Floats:
        from scipy.special import entr

        probabilities = forces / self.weights[:, np.newaxis]
        probabilities[self._own] += 1.0
        return np.asarray(entr(np.clip(probabilities, 0.0, 1.0)).sum(axis=1))


CONJUGATES: dict[type[NamedLoss], type[Conjugate]] = {
    LogisticLoss: LogisticConjugate,
    MultinomialLoss: MultinomialConjugate,
    SquaredLoss: SquaredConjugate,
}
"""The conjugates of losses. A subclass of a loss may have any other one."""


def _summable(forces: Floats) -> Floats:
    """Round to multiples of one power of two, so that all partial sums are exact."""
    rounded, _ = _core.exactly_summable(np.ascontiguousarray(forces).ravel(), None)
    return rounded.reshape(forces.shape)


def _settled(forces: Floats) -> Floats:
    """Make forces add up to 0, in place."""
    excess = float(forces.sum())
    # The largest force of the same sign keeps its sign.
    row = int(np.argmax(forces if excess > 0.0 else -forces))
    forces[row] -= excess
    return forces


def _limited(forces: Floats, sizes: Floats, weights: Floats) -> Floats:
    """Scale rows down that might have a slope above 1 once they are rounded.

    The sizes are those of the forces of the true classes.
    """
    # At least the power of two that forces are rounded to multiples of.
    _, exponent = math.frexp(float(np.abs(forces).sum()))
    largest = np.maximum(weights - forces[0].size * math.ldexp(1.0, exponent - 51), 0.0)
    if (sizes <= largest).all():
        return forces
    factors = np.divide(largest, sizes, where=sizes > largest, out=np.ones(len(sizes)))
    return np.asarray((forces.T * factors).T)


def _entropy(p: Floats) -> Floats:
    """Compute −p log p − (1 − p) log(1 − p), 0 at both ends."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -p * np.log(p) - (1.0 - p) * np.log1p(-p)
    return np.where((p > 0.0) & (p < 1.0), entropy, 0.0)
