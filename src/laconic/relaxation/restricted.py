"""The best ensemble of some given rules when the square of its total weight is penalised.

That is the minimum of loss + (μ/2) (Σ|w|)² over the weights w of given columns of zeros and ones,
and the intercept: a convex problem whose solutions have few weights other than 0. What is not quite
solved costs tightness of a bound, never its truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from laconic.losses import Floats, SquaredLoss
from laconic.relaxation.risk import TrainingRisk

# Slopes may exceed the price of a weight by this share of it.
_TOLERANCE = 1e-6
_MAX_NEWTON_STEPS = 30
_MAX_HALVINGS = 30
# Added to the diagonal, as a share of it: columns may be sums of each other.
_RIDGE = 1e-10


@dataclass
class RestrictedProblem:
    """Columns, and the best weights so far.

    Parameters
    ----------
    risk : TrainingRisk
    """

    risk: TrainingRisk
    columns: Floats = field(init=False)
    """Which rows each rule covers, of shape (n_columns, n_rows)."""
    weights: Floats = field(init=False)
    intercept: float = field(init=False)

    def __post_init__(self) -> None:
        self.columns = np.empty((0, len(self.risk.y)))
        self.weights = np.empty(0)
        self.intercept = self.risk.constant
        self._gram = np.empty((0, 0))

    def add(self, covered: NDArray[np.bool_]) -> None:
        """Add columns, of shape (n_new, n_rows)."""
        new = covered.astype(np.float64)
        if self._is_squared:
            weighted = new * (2.0 * self.risk.weights)
            beside, among = weighted @ self.columns.T, weighted @ new.T
            self._gram = np.block([[self._gram, beside.T], [beside, among]])
        self.columns = np.vstack([self.columns, new])
        self.weights = np.append(self.weights, np.zeros(len(new)))

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Forget all other columns."""
        self.columns, self.weights = self.columns[kept], self.weights[kept]
        if self._is_squared:
            self._gram = self._gram[np.ix_(kept, kept)]

    @property
    def _is_squared(self) -> bool:
        return isinstance(self.risk.loss, SquaredLoss)

    @property
    def total_weight(self) -> float:
        """Sum of the absolute weights."""
        return math.fsum(np.abs(self.weights))

    @property
    def raw_predictions(self) -> Floats:
        """Of the ensemble."""
        used = np.flatnonzero(self.weights)
        return np.asarray(self.intercept + self.weights[used] @ self.columns[used])

    def value(self, price: float) -> float:
        """Add up the loss and μ/2 times the square of the total weight."""
        return self.risk.value(self.raw_predictions) + price / 2.0 * self.total_weight**2

    def solve(self, price: float) -> None:
        """Find the best weights for a μ, by Newton's method from those that there are.

        Sets: weights, intercept.
        """
        value = math.inf if self._is_squared else self.value(price)
        for _ in range(1 if self._is_squared else _MAX_NEWTON_STEPS):
            step_weights, step_intercept = self._newton_step(price)
            if self._is_squared:
                self.weights, self.intercept = step_weights, step_intercept
                return
            before = value
            value = self._go(step_weights, step_intercept, price, value)
            if before - value <= 1e-9 * abs(value):
                return

    def _go(self, weights: Floats, intercept: float, price: float, value: float) -> float:
        """Go towards new weights, halfway, ... until the value falls; returns the value there."""
        old_weights, old_intercept, share = self.weights, self.intercept, 1.0
        for _ in range(_MAX_HALVINGS):
            self.weights = old_weights + share * (weights - old_weights)
            self.intercept = old_intercept + share * (intercept - old_intercept)
            new_value = self.value(price)
            if new_value <= value:
                return new_value
            share /= 2.0
        self.weights, self.intercept = old_weights, old_intercept
        return value

    def _newton_step(self, price: float) -> tuple[Floats, float]:
        """Minimise the second-order approximation at the current weights."""
        risk, raw_predictions = self.risk, self.raw_predictions
        gradients = risk.weights * risk.loss.gradients(risk.y, raw_predictions)
        hessians = risk.weights * risk.loss.hessians(risk.y, raw_predictions)
        slopes = self.columns @ gradients
        working = self._working_set(slopes, price)
        columns = self.columns[working]
        if self._is_squared:
            gram = self._gram[np.ix_(working, working)]
        else:
            gram = (columns * hessians) @ columns.T
        slopes = slopes[working]
        shared = columns @ hessians
        total_gradient, total_hessian = float(gradients.sum()), float(hessians.sum())
        if risk.fit_intercept and total_hessian > 0.0:
            # The intercept follows the weights.
            gram = gram - np.outer(shared, shared / total_hessian)
            slopes = slopes - shared * (total_gradient / total_hessian)
        old = self.weights[working]
        found = minimise_quadratic(gram, gram @ old - slopes, price, old)
        weights = np.zeros(len(self.weights))
        weights[working] = found
        intercept = self.intercept
        if risk.fit_intercept and total_hessian > 0.0:
            intercept -= (total_gradient + float(shared @ (found - old))) / total_hessian
        return weights, intercept

    def _working_set(self, slopes: Floats, price: float) -> NDArray[np.intp]:
        """Choose the columns that may get a weight."""
        used = self.weights != 0.0
        if self._is_squared:
            return np.arange(len(self.weights))
        limit = price * self.total_weight
        steep = np.abs(slopes) > limit
        # The steepest ones: others may come with the next step.
        n_most = 24
        if steep.sum() > n_most:
            steep &= np.abs(slopes) >= np.partition(np.abs(slopes[steep]), -n_most)[-n_most]
        return np.flatnonzero(used | steep)


def minimise_quadratic(matrix: Floats, pull: Floats, price: float, start: Floats) -> Floats:
    """Minimise ½ wᵀAw − pᵀw + (μ/2)(Σ|w|)² over w, exactly, one weight coming or going at a time.

    Given which weights are not 0, and their signs, the rest is a system of linear equations.

    Examples
    --------
    >>> minimise_quadratic(np.eye(2), np.array([3.0, -1.0]), 1.0, np.zeros(2))
    array([1.5, 0. ])
    """
    ridge = _RIDGE * np.diag(matrix)
    matrix = matrix + np.diag(ridge + ridge.max(initial=0.0))
    weights, signs = start.copy(), np.sign(start)
    is_refused = np.zeros(len(pull), dtype=bool)
    least = 1e-3 * _TOLERANCE * np.abs(pull).max(initial=0.0)
    newest = -1
    for _ in range(20 * len(pull) + 20):
        gone = _settle(matrix, pull, price, weights, signs)
        if len(gone) > 0:
            # In exact arithmetic, what has just come never goes at once.
            is_refused[gone] |= gone == newest
            newest = -1
            continue
        slopes = pull - matrix @ weights
        limit = price * float(np.abs(weights).sum())
        excess = np.where((signs == 0.0) & ~is_refused, np.abs(slopes) - limit, -np.inf)
        newest = int(np.argmax(excess)) if len(excess) > 0 else -1
        if newest < 0 or excess[newest] <= max(_TOLERANCE * limit, least):
            break
        signs[newest] = np.sign(slopes[newest])
    return weights


def _settle(
    matrix: Floats, pull: Floats, price: float, weights: Floats, signs: Floats
) -> NDArray[np.intp]:
    """Go to the best weights of given signs, or as far as the first of them that would change.

    Sets: weights, signs. Returns which weights have become 0.
    """
    support = np.flatnonzero(signs)
    if len(support) == 0:
        return support
    sides, old = signs[support], weights[support]
    system = matrix[np.ix_(support, support)] + price * np.outer(sides, sides)
    try:
        goal = np.linalg.solve(system, pull[support])
    except np.linalg.LinAlgError:
        goal = np.linalg.lstsq(system, pull[support], rcond=None)[0]
    leaves = goal * sides <= 0.0
    if not leaves.any():
        weights[support] = goal
        return support[:0]
    shares = np.where(leaves, old / np.where(leaves, old - goal, 1.0), np.inf)
    shares[leaves & (old == goal)] = 0.0
    share = min(float(shares.min()), 1.0)
    weights[support] = old + share * (goal - old)
    gone = support[shares <= share]
    weights[gone] = signs[gone] = 0.0
    return gone
