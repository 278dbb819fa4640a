"""A bound on the joint objective of any set of rows, whatever the conditions.

Let a cell be the rows that the same refitted terms cover. These imitate no more of a set S than one
free number per cell would (see :mod:`laconic.search.joint_objective`), so that

    D(S) >= Σ_c φ_c(H_c),  φ_c(H) = H (1 − H/h_c),

where H_c are the hessians of S within the cell c, and h_c those of the whole cell. The value
G²/(λ + D) is the largest ρ (2G − ρ (λ + D)) of all slopes ρ. At a given slope the bound on that is
a sum over cells. Within a cell, with H fixed, the largest G are those of rows first in the order of
g/h; as −φ is convex, the best set consists of the first rows. So P(ρ), the most that 2G − ρD can
be, follows from cumulated sums. It is convex in ρ: between two slopes it lies below its chord.

Beside slopes, every row is a cell of its own, and this says nothing. Then let x be the indicator
of S, and A = diag(h) − BᵀB with the projections B, so that D(S) = xᵀAx. By the inequality of Cauchy
and Schwarz, G² = (gᵀx)² <= R D(S) with R = gᵀA⁻¹g: no set gains more than a term that fits every
row.
"""

from __future__ import annotations

import heapq
import itertools
import math

import numpy as np
import numpy.typing as npt

from laconic._util.types import Floats
from laconic.search.joint_objective import IMITATED
from laconic.search.problem import SearchProblem

_N_SLOPES = 16
_N_SPLITS = 48
# Values of queries are rounded to 30 binary digits.
_ROUNDING = 2e-9
# How much of the hessians that sets keep anyway counts, where the terms imitate all of a direction.
_SHARE_OF_LEAST = 0.01


def joint_bound(problem: SearchProblem, at_least: float) -> float:
    """Bound the objective of all queries, from the rows alone.

    Parameters
    ----------
    problem : SearchProblem
        With refitted terms.
    at_least : float
        An objective that is reached; the bound is not smaller.

    Returns
    -------
    bound : float
        Infinite where no objective is reached.

    Examples
    --------
    Beside an intercept, the best set is one of the two rows whose gradients have the same sign, or
    the other. Both halves gain the same.

    >>> from laconic.search.joint_objective import RefittedTerms
    >>> intercept = RefittedTerms(np.ones((1, 4), dtype=bool), np.zeros(1))
    >>> problem = SearchProblem(
    ...     [[True, False, True, True]], [-3, -1, 1, 3], [1, 1, 1, 1], 1.0, refitted=intercept
    ... )
    >>> round(joint_bound(problem, at_least=0.1), 6)
    1.0
    """
    cells, penalty = problem.cells, problem.l2_regularization
    value = problem.value_of(at_least)
    if cells is None or value <= 0.0:
        return math.inf
    most = _best_fit(problem)
    if penalty <= 0.0:
        return _objective(problem, max(value, most), at_least)
    for sign in (1.0, -1.0):
        if sign == problem.sign:
            continue  # weights are of the opposite sign of the gradients
        prices = _Prices(sign * problem.gradients, problem.hessians, cells)
        value = max(value, _highest(prices, penalty, value))
    # What is left of hessians is a difference of theirs.
    value *= 1.0 + 1e-15 * float(problem.hessians.sum()) / penalty
    return _objective(problem, min(value, most), at_least)


def _objective(problem: SearchProblem, value: float, at_least: float) -> float:
    return max(problem.objective_of((1.0 + _ROUNDING) * value), at_least)


def _best_fit(problem: SearchProblem) -> float:
    """Bound the value of all sets by that of a term with a number for every row."""
    gradients, hessians, projections = problem.gradients, problem.hessians, problem.projections
    counts = hessians > 0.0
    if projections is None or gradients[~counts].any():
        return math.inf
    # D(S) is at least IMITATED times the hessians, hence any mean of both.
    share = 1.0 - _SHARE_OF_LEAST
    kept = share + _SHARE_OF_LEAST * IMITATED
    gradients, scaled = gradients[counts], projections[:, counts] / hessians[counts]
    imitated, directions = np.linalg.eigh(scaled @ projections[:, counts].T)
    left = kept / share - imitated
    if left.min(initial=1.0) < _SHARE_OF_LEAST * IMITATED / 2.0:
        return math.inf  # by rounding errors
    of_terms = (directions.T @ (scaled @ gradients)) ** 2 / left
    fit = (float(gradients**2 @ (1.0 / hessians[counts])) + float(of_terms.sum())) / kept
    gain = max(float(gradients.clip(min=0.0).sum()), -float(gradients.clip(max=0.0).sum()))
    if fit <= 0.0 or gain <= 0.0:
        return 0.0
    return (1.0 + _ROUNDING) / (problem.l2_regularization / gain**2 + 1.0 / fit)


class _Prices:
    """Sums of gradients, and what is left of hessians, of the first rows of every cell."""

    def __init__(self, gradients: Floats, hessians: Floats, cells: npt.NDArray[np.int32]) -> None:
        # Rows without hessian come first if their gradient helps, and last if it does not.
        slopes = np.divide(
            gradients, hessians, where=hessians > 0.0, out=np.copysign(np.inf, gradients)
        )
        order = np.lexsort((-slopes, cells))
        cells = cells[order]
        self.starts = np.flatnonzero(np.diff(cells, prepend=-1))
        self.sizes = np.diff(np.append(self.starts, len(cells)))
        self.gradients = self._cumulated(gradients[order])
        ordered = hessians[order]
        parts = self._cumulated(ordered)
        wholes = np.repeat(np.add.reduceat(ordered, self.starts), self.sizes)
        shares = np.divide(parts, wholes, where=wholes > 0.0, out=np.ones(len(parts)))
        self.remaining = np.maximum(parts * (1.0 - shares), 0.0)

    def _cumulated(self, values: Floats) -> Floats:
        """Compute cumulative sums within each cell."""
        sums = np.cumsum(values)
        before = np.where(self.starts > 0, sums[self.starts - 1], 0.0)
        return np.asarray(sums - np.repeat(before, self.sizes), dtype=np.float64)

    def at(self, slope: float) -> float:
        """Compute the largest possible 2G − slope · D."""
        prices = 2.0 * self.gradients - slope * self.remaining
        return float(np.maximum(np.maximum.reduceat(prices, self.starts), 0.0).sum())


def _highest(prices: _Prices, penalty: float, value: float) -> float:
    """Bound slope · (price − slope · penalty) over all slopes, as far as it is above a value."""
    most = prices.at(0.0)
    # Outside these slopes, it is below the value, or below 0.
    lowest, highest = (value / most, most / penalty) if most > 0.0 else (1.0, 0.0)
    if lowest >= highest:
        return value
    slopes = np.geomspace(lowest, highest, _N_SLOPES + 1).tolist()
    points = [(slope, prices.at(slope)) for slope in slopes]
    spans = [(-_below_chord(*ends, penalty), *ends) for ends in itertools.pairwise(points)]
    heapq.heapify(spans)
    for _ in range(_N_SPLITS):
        bound, left, right = spans[0]
        if -bound <= value:
            break
        middle = math.sqrt(left[0] * right[0])
        point = (middle, prices.at(middle))
        heapq.heapreplace(spans, (-_below_chord(left, point, penalty), left, point))
        heapq.heappush(spans, (-_below_chord(point, right, penalty), point, right))
    return max(-spans[0][0], value)


def _below_chord(left: tuple[float, float], right: tuple[float, float], penalty: float) -> float:
    """Bound slope · (price − slope · penalty) between two slopes."""
    (low, high_price), (high, low_price) = left, right
    if high <= low:
        return low * (high_price - low * penalty)
    fall = (high_price - low_price) / (high - low)
    start = high_price + fall * low
    slope = min(max(start / (2.0 * (fall + penalty)), low), high)
    return slope * (start - slope * (fall + penalty))
