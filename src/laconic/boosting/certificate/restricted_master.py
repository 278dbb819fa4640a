"""The best ensemble of given terms when the square of its total weight is penalised.

That is the minimum of loss + (μ/2) (Σ|w|)² over the weights w of given columns, and the
intercepts: a convex problem whose solutions have few weights other than 0. An inexact solution
makes a bound less tight, but not wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from laconic._util.types import Bools, Floats, Indices, Values
from laconic.boosting.certificate.risk import TrainingRisk
from laconic.losses import SquaredLoss

Curvature: TypeAlias = Callable[[int, int], Floats]

# Slopes may exceed the price of a weight by this fraction of it.
_TOLERANCE = 1e-6
_MAX_NEWTON_STEPS = 30
_MAX_HALVINGS = 30
# A step that gains less than this fraction of the loss is the last one.
_LEAST_GAIN = 1e-8
# Columns that may get a weight in one step.
_MAX_NEW = 32
# Added to the diagonal, as a fraction of it: columns may be linearly dependent.
_RIDGE = 1e-10
# Updates of an inverse before it is computed again.
_MAX_UPDATES = 100


class RestrictedProblem:
    """The relaxed problem over some columns, and the best weights so far.

    Parameters
    ----------
    risk : TrainingRisk

    Attributes
    ----------
    columns : ndarray of shape (n_columns, n_rows)
        Values of the terms: zeros and ones for rules, and numbers for slopes, on their scale.
    outputs : int array of shape (n_columns,)
        The output of each column.
    weights : ndarray of shape (n_columns,)
    intercepts : ndarray of shape (n_outputs,)
    """

    def __init__(self, risk: TrainingRisk) -> None:
        self.risk = risk
        self.columns = np.empty((0, len(risk.y)))
        self.outputs = np.empty(0, dtype=np.intp)
        self.weights = np.empty(0)
        self.intercepts = risk.constants
        self._gram = np.empty((0, 0))

    def add(self, columns: Values, outputs: Sequence[int] | Indices | None = None) -> None:
        """Add columns, of shape (n_new, n_rows), of the first output unless others are given."""
        new = columns.astype(np.float64)
        if self._is_squared:
            weighted = new * (2.0 * self.risk.weights)
            beside, among = weighted @ self.columns.T, weighted @ new.T
            self._gram = np.block([[self._gram, beside.T], [beside, among]])
        self.columns = np.vstack([self.columns, new])
        self.outputs = np.append(
            self.outputs, np.zeros(len(new), np.intp) if outputs is None else outputs
        )
        self.weights = np.append(self.weights, np.zeros(len(new)))

    def keep(self, kept: Bools) -> None:
        """Drop all other columns."""
        self.columns, self.outputs = self.columns[kept], self.outputs[kept]
        self.weights = self.weights[kept]
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
        """Raw predictions of the ensemble."""
        used = np.flatnonzero(self.weights)
        weights = np.zeros((self.risk.n_outputs, len(used)))
        weights[self.outputs[used], np.arange(len(used))] = self.weights[used]
        raw_predictions = self.intercepts[:, np.newaxis] + weights @ self.columns[used]
        return np.asarray(raw_predictions.T.reshape(self.risk.shape))

    def sums(self, values: Floats) -> Floats:
        """Add up gradients or forces, those of its output, over the rows of each column."""
        sums = self.columns @ self.risk.by_output(values)
        return np.asarray(sums[np.arange(len(sums)), self.outputs])

    def value(self, price: float) -> float:
        """Add up the loss and μ/2 times the square of the total weight."""
        total = self.total_weight
        return self.risk.value(self.raw_predictions) + price / 2.0 * total**2

    def solve(self, price: float) -> None:
        """Find the best weights for a price μ, by Newton's method from the current ones.

        Sets: weights, intercepts.
        """
        value = self.value(price)
        for _ in range(_MAX_NEWTON_STEPS):
            before = value
            value = self._go(*self._newton_step(price), price, value)
            if before - value <= _LEAST_GAIN * abs(value):
                return

    def _go(self, weights: Floats, intercepts: Floats, price: float, value: float) -> float:
        """Step towards new weights, halving until the value falls; returns the value there."""
        old_weights, old_intercepts, fraction = self.weights, self.intercepts, 1.0
        for _ in range(_MAX_HALVINGS):
            self.weights = old_weights + fraction * (weights - old_weights)
            self.intercepts = old_intercepts + fraction * (intercepts - old_intercepts)
            new_value = self.value(price)
            if new_value <= value:
                return new_value
            fraction /= 2.0
        self.weights, self.intercepts = old_weights, old_intercepts
        return value

    def _newton_step(self, price: float) -> tuple[Floats, Floats]:
        """Minimise the second-order approximation at the current weights."""
        risk, raw_predictions = self.risk, self.raw_predictions
        gradients, curvature = risk.gradients(raw_predictions), risk.curvature(raw_predictions)
        slopes = self.sums(gradients)
        working = self._working_set(slopes, price * self.total_weight)
        columns, blocks = self.columns[working], self._blocks(working)
        if self._is_squared:
            gram = self._gram[np.ix_(working, working)]
        else:
            gram = _gram(columns, blocks, curvature)
        followers = _Intercepts(columns, blocks, curvature, self._n_free)
        gram, slopes = followers.eliminate(gram, slopes[working], risk.by_output(gradients))
        old = self.weights[working]
        found = minimise_quadratic(gram, gram @ old - slopes, price, old)
        weights = np.zeros(len(self.weights))
        weights[working] = found
        return weights, self.intercepts + followers.step(found - old, risk.n_outputs)

    @property
    def _n_free(self) -> int:
        """Number of intercepts to fit: of several, all but one, as only differences matter."""
        if not self.risk.fit_intercept:
            return 0
        return max(1, self.risk.n_outputs - 1)

    def _working_set(self, slopes: Floats, limit: float) -> Indices:
        """Choose the columns that may get a weight, output by output."""
        used = self.weights != 0.0
        steep = ~used & (np.abs(slopes) > limit)
        # Those with the largest slopes: others may follow in the next step.
        if steep.sum() > _MAX_NEW:
            steep &= np.abs(slopes) >= np.partition(np.abs(slopes[steep]), -_MAX_NEW)[-_MAX_NEW]
        chosen = np.flatnonzero(used | steep)
        return chosen[np.argsort(self.outputs[chosen], kind="stable")]

    def _blocks(self, working: Indices) -> list[slice]:
        """Find the columns of each output in a working set."""
        ends = np.searchsorted(self.outputs[working], np.arange(self.risk.n_outputs + 1)).tolist()
        return [slice(*pair) for pair in pairwise(ends)]


def _gram(columns: Floats, blocks: Sequence[slice], curvature: Curvature) -> Floats:
    """Compute the second derivatives of the loss in the weights of columns."""
    gram = np.empty((len(columns), len(columns)))
    for first, rows in enumerate(blocks):
        for second, others in enumerate(blocks[: first + 1]):
            block = (columns[rows] * curvature(first, second)) @ columns[others].T
            gram[rows, others] = block
            if second < first:
                gram[others, rows] = block.T
    return gram


class _Intercepts:
    """Intercepts, eliminated one after the other: their best values follow from the weights.

    Parameters
    ----------
    columns, blocks, curvature
        Columns of the working set, those of each output, and second derivatives of the loss.
    n_free : int
        Number of intercepts, from the first output on.
    """

    def __init__(
        self, columns: Floats, blocks: Sequence[slice], curvature: Curvature, n_free: int
    ) -> None:
        # Second derivatives in an intercept and the weights, and in two intercepts.
        self.beside = np.empty((n_free, len(columns)))
        self.among = np.empty((n_free, n_free))
        for output in range(n_free):
            for other, block in enumerate(blocks):
                values = curvature(output, other)
                self.beside[output, block] = columns[block] @ values
                if other < n_free:
                    self.among[output, other] = values.sum()
        self.pivots = np.zeros(n_free)

    def eliminate(self, gram: Floats, slopes: Floats, gradients: Floats) -> tuple[Floats, Floats]:
        """Compute the second-order approximation in the weights with the best intercepts.

        Sets: slopes, pivots, beside, among.
        """
        self.slopes = gradients.sum(axis=0)[: len(self.pivots)]
        least = _RIDGE * np.diag(self.among)
        for position in range(len(self.pivots)):
            pivot = self.among[position, position]
            # One that is determined by the others stays as it is.
            if not pivot > least[position]:
                continue
            self.pivots[position] = pivot
            beside, slope = self.beside[position], self.slopes[position]
            gram = gram - np.outer(beside, beside / pivot)
            slopes = slopes - beside * (slope / pivot)
            later = slice(position + 1, None)
            shares = self.among[later, position] / pivot
            self.beside[later] -= np.outer(shares, beside)
            self.slopes[later] -= shares * slope
            self.among[later, later] -= np.outer(shares, self.among[position, later])
        return gram, slopes

    def step(self, change: Floats, n_outputs: int) -> Floats:
        """Compute the change of intercepts, given the change of the weights."""
        steps = np.zeros(n_outputs)
        for position in reversed(np.flatnonzero(self.pivots)):
            slope = self.slopes[position] + float(self.beside[position] @ change)
            later = slice(position + 1, len(self.pivots))
            slope += float(self.among[position, later] @ steps[later])
            steps[position] = -slope / self.pivots[position]
        return steps


def minimise_quadratic(matrix: Floats, pull: Floats, price: float, start: Floats) -> Floats:
    """Minimise ½ wᵀAw − pᵀw + (μ/2)(Σ|w|)² over w, by an active-set method.

    Given which weights are not 0, and their signs, the minimum solves linear equations.

    Examples
    --------
    >>> minimise_quadratic(np.eye(2), np.array([3.0, -1.0]), 1.0, np.zeros(2))
    array([1.5, 0. ])
    """
    ridge = _RIDGE * np.diag(matrix)
    matrix = matrix + np.diag(ridge + ridge.max(initial=0.0))
    support = _Support(matrix, price, start)
    weights = start.copy()
    is_refused = np.zeros(len(pull), dtype=bool)
    least = 1e-3 * _TOLERANCE * np.abs(pull).max(initial=0.0)
    newest = -1
    for _ in range(20 * len(pull) + 20):
        gone = support.settle(pull, weights)
        if len(gone) > 0:
            # In exact arithmetic, the newest weight never leaves at once.
            is_refused[gone] |= gone == newest
            newest = -1
            continue
        slopes = pull - matrix[:, support.members] @ weights[support.members]
        limit = price * float(np.abs(weights).sum())
        excess = np.where((weights == 0.0) & ~is_refused, np.abs(slopes) - limit, -np.inf)
        newest = int(np.argmax(excess)) if len(excess) > 0 else -1
        if newest < 0 or excess[newest] <= max(_TOLERANCE * limit, least):
            break
        if not support.add(newest, float(np.sign(slopes[newest]))):
            is_refused[newest] = True
    return weights


class _Support:
    """The weights that are not 0: their signs, and the inverse of their system of equations."""

    def __init__(self, matrix: Floats, price: float, weights: Floats) -> None:
        self.matrix, self.price = matrix, price
        self.members = np.flatnonzero(weights)
        self.signs = np.sign(weights[self.members])
        self._refresh()

    def _refresh(self) -> None:
        """Compute the inverse again, as updates accumulate rounding errors."""
        system = self.matrix[np.ix_(self.members, self.members)]
        system = system + self.price * np.outer(self.signs, self.signs)
        try:
            self.inverse = np.linalg.inv(system)
        except np.linalg.LinAlgError:
            self.inverse = np.linalg.pinv(system, hermitian=True)
        self.n_updates = 0

    def add(self, member: int, sign: float) -> bool:
        """Add a weight; returns False if its column is a linear combination of others."""
        beside = self.matrix[self.members, member] + self.price * sign * self.signs
        diagonal = self.matrix[member, member] + self.price
        parts = self.inverse @ beside
        own = diagonal - float(beside @ parts)
        if own <= 1e-12 * diagonal:
            return False
        inverse = np.empty((len(self.members) + 1,) * 2)
        inverse[:-1, :-1] = self.inverse + np.outer(parts, parts / own)
        inverse[-1, :-1] = inverse[:-1, -1] = -parts / own
        inverse[-1, -1] = 1.0 / own
        self.inverse = inverse
        self.members, self.signs = np.append(self.members, member), np.append(self.signs, sign)
        self._count_update()
        return True

    def _drop(self, place: int) -> None:
        column = self.inverse[:, place]
        left = self.inverse - np.outer(column, column / column[place])
        self.inverse = np.delete(np.delete(left, place, axis=0), place, axis=1)
        self.members, self.signs = np.delete(self.members, place), np.delete(self.signs, place)
        self._count_update()

    def _count_update(self) -> None:
        self.n_updates += 1
        if self.n_updates >= _MAX_UPDATES:
            self._refresh()

    def settle(self, pull: Floats, weights: Floats) -> Indices:
        """Go to the best weights of these signs, or until the first weight becomes 0.

        Sets: weights. Returns the weights that have become 0; they leave.
        """
        old, goal = weights[self.members], self.inverse @ pull[self.members]
        leaves = goal * self.signs <= 0.0
        if not leaves.any():
            weights[self.members] = goal
            return self.members[:0]
        shares = np.where(leaves, old / np.where(leaves, old - goal, 1.0), np.inf)
        shares[leaves & (old == goal)] = 0.0
        share = min(float(shares.min()), 1.0)
        weights[self.members] = old + share * (goal - old)
        places = np.flatnonzero(shares <= share)
        gone = self.members[places]
        weights[gone] = 0.0
        for place in places[::-1]:
            self._drop(int(place))
        return gone
