"""The paper's Algorithm 1 in NumPy, in the paper's order and words.

Boley, Teshuva, Le Bodic and Webb: Better Short than Greedy: Interpretable Models through Optimal
Rule Boosting, SDM 2021. This module is for reading and for checking other searches against; each
mechanism can be switched off without changing the objective value of the result.

The joint objective, where other terms are refitted with the new rule, is not in the paper. It uses
less than the hessians: see :mod:`laconic.search.joint_objective` and `discounted_hessians`.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from laconic._util.types import Bools, Floats, Indices
from laconic.search.budget import resolve_node_limit
from laconic.search.joint_objective import IMITATED, remaining_hessians, rounded
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchProgress, SearchResult, SearchStatus

Extent = Indices

# How much of the discounted hessians is given up for being positive and for rounding errors.
_SLACK = 1e-3


def objective(
    gradients: Floats,
    hessians: Floats,
    l2_regularization: float,
    n_samples: float,
    projections: Floats | None = None,
) -> float:
    """Objective value of a query that covers the given rows.

    Parameters
    ----------
    gradients, hessians : ndarray of shape (n_covered,)
        Statistics of the covered rows.
    l2_regularization : float
    n_samples : float
        Number of all rows, or their total weight.
    projections : ndarray of shape (n_components, n_covered), default=None
        Parts of the covered rows in what refitted terms imitate.

    Examples
    --------
    >>> objective(np.array([1.0, 2.0]), np.ones(2), l2_regularization=1.0, n_samples=3)
    0.5
    """
    sum_gradients = gradients.sum()
    if sum_gradients == 0.0:
        return 0.0
    sum_hessians = float(hessians.sum())
    if projections is not None:
        sum_hessians = remaining_hessians(sum_hessians, projections.sum(axis=1))
    # Paper: the penalty is λ/(2n), as in the expansion of the risk; λ/n in its definition.
    value = float(sum_gradients * sum_gradients / (l2_regularization + sum_hessians))
    return (value if projections is None else rounded(value)) / (2.0 * n_samples)


def value_of_gain(
    gain: float, n_conditions: int, n_candidates: int, brevity: float = 0.0, noise: float = 0.0
) -> float:
    """Value of a query, where length has a price: not in the paper.

    The gain is the objective. Chance gives the best of N useless queries a gain of about
    noise · log N; there are N = C(n_candidates, n_conditions) of a length.

    Examples
    --------
    >>> value_of_gain(0.75, n_conditions=2, n_candidates=10, brevity=1.0)
    0.25
    """
    n_queries = max(math.comb(n_candidates, min(n_conditions, n_candidates // 2)), 2)
    by_chance = noise * math.log(n_queries)
    return float(max(gain - by_chance, 0.0) / (1 + n_conditions) ** brevity)


def objective_bound(
    gradients: Floats, hessians: Floats, l2_regularization: float, n_samples: float
) -> float:
    """Largest objective that any subset of the given rows can reach.

    Bounding theorem (3.1): with rows in descending g/h order, some best subset is a prefix of rows
    with g > 0 or a suffix of rows with g < 0, so two cumulative sums suffice.

    Parameters
    ----------
    gradients, hessians : ndarray of shape (n_covered,)
        Statistics of the covered rows, in descending g/h order.
    l2_regularization : float
    n_samples : float
        Number of all rows, or their total weight.

    Examples
    --------
    >>> g, h = np.array([3.0, 1.0, -2.0]), np.ones(3)
    >>> round(objective_bound(g, h, l2_regularization=1.0, n_samples=3), 3)
    0.889
    """
    # Paper: the inequality between bnd and the objectives of refinements is printed reversed.
    prefix = gradients > 0.0
    suffix = gradients[::-1] < 0.0
    bound = 0.0
    for g, h in (
        (gradients[prefix], hessians[prefix]),
        (gradients[::-1][suffix], hessians[::-1][suffix]),
    ):
        if g.size:
            values = np.cumsum(g) ** 2 / (l2_regularization + np.cumsum(h))
            bound = max(bound, float(values.max()))
    return bound / (2.0 * n_samples)


def discounted_hessians(
    hessians: Floats, cells: npt.NDArray[np.int32], cell_hessians: Floats
) -> Floats:
    """Hessians of the given rows R with which `objective_bound` holds for the joint objective.

    Within a cell, a set of rows that the same refitted terms cover, these are constant. So they
    imitate a set S ⊆ R no better than one free number per cell does, which leaves
    D(S) ≥ Σ_c h(S_c) (1 − h(S_c)/h_c) ≥ Σ_S h_i (1 − h(R_c)/h_c).

    Parameters
    ----------
    hessians, cells : ndarray of shape (n_covered,)
        Of the given rows.
    cell_hessians : ndarray of shape (n_cells,)
        Sums of hessians over whole cells, h_c.

    Examples
    --------
    Two of three rows of one cell; the terms could imitate two thirds of them.

    >>> discounted_hessians(np.ones(2), np.zeros(2, np.int32), np.array([3.0])).round(2)
    array([0.33, 0.33])
    """
    covered = np.bincount(cells, hessians, len(cell_hessians))
    shares = covered / np.maximum(cell_hessians, np.finfo(float).tiny)
    # D is at least A, and at least B by definition: so it is at least (1 - t) A + t B.
    factors = (1.0 - _SLACK) * (1.0 - shares) + _SLACK * IMITATED
    discounted: Floats = hessians * factors[cells]
    return discounted


def descending_ratios(gradients: Floats, hessians: Floats) -> Indices:
    """Order of rows by descending g/h."""
    # Paper: g/h needs a rule where h is 0; its sign decides then.
    with np.errstate(over="ignore"):
        ratios = gradients / np.maximum(hessians, np.finfo(float).tiny)
    return np.argsort(-ratios, kind="stable")


def implies(extents: Bools, extent: Extent) -> Bools:
    """Which conditions hold on all rows of an extent (q → p).

    Examples
    --------
    >>> extents = np.array([[True, True, False], [True, False, True]])
    >>> implies(extents, np.array([0, 1]))
    array([ True, False])
    """
    holds: Bools = np.all(extents[:, extent], axis=1)
    return holds


def critical_index(newly_implied: Bools) -> int:
    """Smallest index that an augmented query implies and the query itself does not (crit).

    Equals the index of the augmentation exactly when the augmented query is core.
    """
    return int(newly_implied.argmax())


def shorten_query(extents: Bools, extent: Extent) -> tuple[int, ...]:
    """Approximately shortest query with the given extent, by greedy set cover.

    Each condition that holds on the extent excludes some of the other rows. The one that excludes
    most of those left comes next, until none is left; then superfluous ones go.

    Examples
    --------
    >>> extents = np.array([[True, True, False, False], [True, False, True, False],
    ...                     [True, False, False, False]])
    >>> shorten_query(extents, np.array([0]))
    (2,)
    """
    outside = np.ones(extents.shape[1], dtype=bool)
    outside[extent] = False
    exclusions = ~extents & outside & implies(extents, extent)[:, np.newaxis]
    query: list[int] = []
    left = outside.copy()
    while left.any():
        query.append(int((exclusions & left).sum(axis=1).argmax()))
        left &= ~exclusions[query[-1]]
    for p in sorted(query, reverse=True):
        others = [other for other in query if other != p]
        if np.any(exclusions[others], axis=0)[outside].all():
            query = others
    return tuple(sorted(query))


@dataclass(frozen=True, slots=True)
class Augmentation:
    """A condition that may still be added, with what is known about the augmented query."""

    index: int
    bound: float
    critical_index: int


@dataclass(frozen=True)
class Node:
    """An element of the boundary: a query still to be augmented."""

    query: tuple[int, ...]
    extent: Extent
    augmentations: Sequence[Augmentation]

    @property
    def tail_index(self) -> int:
        """Largest index in the query; -1 for the query that is always true."""
        return self.query[-1] if self.query else -1


@dataclass(frozen=True, kw_only=True)
class Mechanisms:
    """The mechanisms of the algorithm; each can be switched off."""

    bounding: bool = True
    """Prune by the bounding theorem (3.1)."""
    core_queries: bool = True
    """Augment only one query per extent, the core query. Equivalent queries may differ in length,
    so this is off under a limit on the number of conditions."""
    propagation: bool = True
    """Hand critical indices down (Theorem 3.2)."""
    opus: bool = True
    """Hand down the list of augmentations that survived, instead of a full one."""
    best_first: bool = True
    """Take the node with the largest bound from the boundary, not the oldest one."""
    shortening: bool = True
    """Return an approximately shortest equivalent of the best query."""


class BranchAndBound:
    """Algorithm 1: the data in g/h order, the boundary and the incumbent q*."""

    def __init__(
        self, problem: SearchProblem, limits: SearchLimits, mechanisms: Mechanisms
    ) -> None:
        self.limits, self.mechanisms = limits, mechanisms
        self.node_limit = resolve_node_limit(limits, problem.extents)
        self.l2_regularization, self.n_samples = problem.l2_regularization, problem.normalizer / 2
        self.sign = problem.sign

        order = descending_ratios(problem.gradients, problem.hessians)
        self.gradients, self.hessians = problem.gradients[order], problem.hessians[order]
        self.coverage = problem.coverage[order]
        self.projections = None
        self.excluded: set[bytes] = set()
        if not (problem.projections is None or problem.cells is None or problem.excluded is None):
            self.projections, self.cells = problem.projections[:, order], problem.cells[order]
            self.cell_hessians = np.bincount(self.cells, self.hessians).astype(np.float64)
            rows = np.unpackbits(problem.excluded, axis=1, count=problem.n_rows, bitorder="little")
            self.excluded = {each[order].tobytes() for each in rows.astype(bool)}
            self.cell_hessians[0] = np.inf  # no term covers these rows, so none imitates them
        self.extents = np.stack(
            [problem.covered((p,))[order] for p in range(problem.n_candidates)]
            or [np.empty(problem.n_rows, dtype=bool)]
        )[: problem.n_candidates]

        self.boundary: list[tuple[float, int, float, Node]] = []
        self.pushed = count()
        self.counters = Counter(
            nodes=0,
            evaluations=0,
            bound_immediate=0,
            bound_propagated=0,
            equivalence_immediate=0,
            equivalence_propagated=0,
        )
        self.largest_pruned = 0.0

        everything = np.arange(problem.n_rows)
        self.incumbent: tuple[int, ...] = ()
        self.incumbent_extent: Extent = everything
        self.incumbent_value = self.objective(everything)
        if limits.max_conditions != 0:
            root_bound = self.largest_objective(everything)
            self.push(Node((), everything, self.all_augmentations()), root_bound)

    def objective(self, extent: Extent) -> float:
        """Objective value of an extent; 0 if a rule covers it already."""
        if self.excluded:
            covered = np.zeros(len(self.gradients), dtype=bool)
            covered[extent] = True
            if covered.tobytes() in self.excluded:
                return 0.0
        if self.sign != 0 and self.sign * float(self.gradients[extent].sum()) > 0.0:
            return 0.0
        return objective(
            self.gradients[extent],
            self.hessians[extent],
            self.l2_regularization,
            self.n_samples,
            None if self.projections is None else self.projections[:, extent],
        )

    def bound(self, extent: Extent) -> float:
        """Bound on the objective of all refinements of an extent, if there is to be one."""
        return self.largest_objective(extent) if self.mechanisms.bounding else math.inf

    def largest_objective(self, extent: Extent) -> float:
        """Bound on the objective of all subsets of an extent."""
        gradients, hessians = self.gradients[extent], self.hessians[extent]
        if self.projections is not None:
            hessians = discounted_hessians(hessians, self.cells[extent], self.cell_hessians)
            order = descending_ratios(gradients, hessians)
            gradients, hessians = gradients[order], hessians[order]
        return objective_bound(gradients, hessians, self.l2_regularization, self.n_samples)

    def all_augmentations(self) -> list[Augmentation]:
        """List every condition, with nothing known about it."""
        return [Augmentation(a, math.inf, a) for a in range(len(self.extents))]

    def push(self, node: Node, bound: float) -> None:
        """Put a node on the boundary."""
        key = -bound if self.mechanisms.best_first else 0.0
        heapq.heappush(self.boundary, (key, next(self.pushed), bound, node))

    def can_prune(self, bound: float) -> bool:
        """Check whether nothing under a bound is better than q*, by a factor 1/α."""
        if self.limits.approximation_factor * bound > self.incumbent_value:
            return False
        self.largest_pruned = max(self.largest_pruned, bound)
        return True

    def run(self, callback: Callback | None) -> SearchResult:
        """Take nodes from the boundary until it is empty or a limit is reached."""
        started = time.perf_counter()
        status = None
        while self.boundary and status is None:
            if self.counters["nodes"] == self.node_limit:
                status = SearchStatus.NODE_LIMIT
            elif time.perf_counter() - started > (self.limits.time_limit or math.inf):
                status = SearchStatus.TIME_LIMIT
            elif callback is not None and callback(self.progress()):
                status = SearchStatus.INTERRUPTED
            else:
                _, _, _, node = heapq.heappop(self.boundary)
                self.expand(node)
        bound = self.upper_bound()
        if status is None:
            is_proven = bound == self.incumbent_value
            status = SearchStatus.OPTIMAL if is_proven else SearchStatus.APPROXIMATE
        return SearchResult(
            self.result_query(),
            self.incumbent_value,
            bound,
            status,
            dict(self.counters),
            node_limit=self.node_limit,
        )

    def upper_bound(self) -> float:
        """No query within the limits has a larger objective."""
        open_bounds = (bound for _, _, bound, _ in self.boundary)
        return max(self.incumbent_value, self.largest_pruned, *open_bounds, 0.0)

    def progress(self) -> SearchProgress:
        """Describe the current state for a callback."""
        return SearchProgress(
            self.incumbent_value,
            self.upper_bound(),
            self.counters["nodes"],
            len(self.boundary),
        )

    def expand(self, node: Node) -> None:
        """Evaluate the augmentations of a query and push those that are core."""
        self.counters["nodes"] += 1
        implied = implies(self.extents, node.extent)
        survivors = []  # A'
        extents = {}
        for augmentation in node.augmentations:
            a, b, c = augmentation.index, augmentation.bound, augmentation.critical_index
            if a <= node.tail_index:
                continue
            if implied[a]:
                self.counters["equivalence_immediate"] += 1
            elif self.can_prune(b):
                self.counters["bound_propagated"] += 1
            elif self.mechanisms.propagation and c < node.tail_index:
                self.counters["equivalence_propagated"] += 1
            else:
                extent = node.extent[self.extents[a, node.extent]]
                self.counters["evaluations"] += 1
                if self.coverage[extent].sum() < self.limits.required_coverage:
                    continue
                self.offer((*node.query, a), extent)
                bound = self.bound(extent)
                survivors.append(Augmentation(a, bound, self.crit(extent, a, c, implied)))
                extents[a] = extent
        self.branch(node, survivors, extents)

    def offer(self, query: tuple[int, ...], extent: Extent) -> None:
        """q* = argmax {obj(qp), obj(q*)}."""
        value = self.objective(extent)
        if value > self.incumbent_value:
            self.incumbent, self.incumbent_extent, self.incumbent_value = query, extent, value

    def crit(self, extent: Extent, a: int, c: int, implied: Bools) -> int:
        """Critical index of an augmented query, or an older one that shows it is not core (3.7)."""
        if not self.mechanisms.core_queries or self.limits.max_conditions is not None:
            return a
        if self.mechanisms.propagation and c < a and not implied[c]:
            return c
        return critical_index(implies(self.extents, extent) & ~implied)

    def branch(self, node: Node, survivors: list[Augmentation], extents: dict[int, Extent]) -> None:
        """Push the augmented queries that are core and promising."""
        if len(node.query) + 1 == self.limits.max_conditions:
            return
        handed_down = survivors if self.mechanisms.opus else self.all_augmentations()
        for augmentation in survivors:
            a, b = augmentation.index, augmentation.bound
            if self.can_prune(b):
                self.counters["bound_immediate"] += 1
            elif augmentation.critical_index < a:
                self.counters["equivalence_immediate"] += 1
            else:
                self.push(Node((*node.query, a), extents[a], handed_down), b)

    def result_query(self) -> tuple[int, ...]:
        """q*, or an approximately shortest equivalent."""
        if not self.mechanisms.shortening:
            return self.incumbent
        shorter = shorten_query(self.extents, self.incumbent_extent)
        return shorter if len(shorter) <= len(self.incumbent) else self.incumbent


def search_reference(
    problem: SearchProblem,
    limits: SearchLimits,
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
    **mechanisms: bool,
) -> SearchResult:
    """Find the best query of all within the limits, by Algorithm 1 of the paper.

    Parameters
    ----------
    problem : SearchProblem
    limits : SearchLimits
        A node limit of "auto" is the same number as for the optimal search.
    n_jobs : int or None, default=1
        No effect: one thread is enough.
    callback : callable, default=None
        Called with a :class:`SearchProgress` at every node; a true return value ends the search.
    **mechanisms
        Which :class:`Mechanisms` are on; all of them by default.
    """
    return BranchAndBound(problem, limits, Mechanisms(**mechanisms)).run(callback)
