"""Which conjunctions are missing: those whose rows have a larger sum of forces than their price.

A beam search finds some of them, and an exact search proves that there are none, or how large sums
can be.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.losses import Floats
from laconic.relaxation.restricted import RestrictedProblem
from laconic.relaxation.risk import TrainingRisk
from laconic.search import (
    Extents,
    SearchProblem,
    SearchProgress,
    SearchResult,
    SearchStatus,
    search,
)
from laconic.search.beam import beam_queries

BEAM_WIDTH = 16
MAX_NEW_COLUMNS = 32
MAX_COLUMNS = 1_000
# Sums that exceed the price by no more than this share are no reason for a further round.
TOLERANCE = 1e-4
# For values of searches, which are rounded, and compared with a slack of 1e-11 at most.
_SEARCH_ROUNDING = 1e-10


class Column(NamedTuple):
    """A conjunction as the relaxed problem sees it."""

    covered: NDArray[np.bool_]
    """The rows that it covers."""
    query: tuple[int, ...] | None = None
    """Its conditions, where they are known."""
    weight: float = 0.0
    output: int = 0


class Pricing:
    """A relaxed problem over some columns, and the search for those that it lacks.

    Parameters
    ----------
    extents : Extents
    risk : TrainingRisk
    scope : dict
        Limits of queries, as searches take them: ``max_conditions`` and ``min_coverage``.
    node_limit, time_limit, n_jobs
        For all searches together; None is no limit.
    """

    def __init__(
        self,
        extents: Extents,
        risk: TrainingRisk,
        scope: dict[str, Any],
        *,
        node_limit: int | None,
        time_limit: float | None,
        n_jobs: int | None,
    ) -> None:
        self.extents, self.risk, self.scope = extents, risk, scope
        self.node_limit, self.time_limit, self.n_jobs = node_limit, time_limit, n_jobs
        self.began = time.perf_counter()
        self.restricted = RestrictedProblem(risk)
        # Sets of rows, in the order of the columns, and what covers them.
        self.known: dict[bytes, tuple[int, ...] | None] = {}
        self.status: SearchStatus | None = None
        self.n_searches = self.n_nodes = 0
        zeros = np.zeros(len(risk.y))
        # Weights matter for what rules cover only: forces have them already.
        self.divisors = risk.sample_weight if scope["min_coverage"] > 0.0 else None
        self.problem = SearchProblem(extents, zeros, zeros, 1.0, self.divisors)
        self.exponent, self.rounding = 0, 0.0

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return time.perf_counter() - self.began

    def pose(self) -> Floats:
        """Pose the search for the largest sum of forces at the current weights; returns these."""
        forces = self.risk.forces(self.restricted.raw_predictions)
        # With a largest force of about 1, whatever the scale of the target.
        self.exponent = math.frexp(float(np.abs(forces).max()))[1]
        scaled = np.ldexp(forces, -self.exponent)
        gradients = scaled if self.divisors is None else scaled / self.divisors
        self.problem = self.problem.with_statistics(gradients, np.zeros(len(forces)))
        self.rounding = math.fsum(np.abs(scaled - self.problem.gradients))
        return forces

    def largest_sum(self, result: SearchResult) -> float:
        """Tell the absolute sum of forces that no query exceeds, according to a search."""
        largest = math.sqrt(result.bound * self.problem.normalizer)
        return math.ldexp(largest * (1.0 + _SEARCH_ROUNDING) + self.rounding, self.exponent)

    def _objective_of(self, size: float) -> float:
        """Tell the objective of the search that a sum of forces has."""
        return math.ldexp(size, -self.exponent) ** 2 / self.problem.normalizer

    def search(
        self, cutoff: float = 0.0, callback: Callable[[SearchProgress], Any] | None = None
    ) -> SearchResult:
        """Find the largest sums of forces; those up to the cutoff do not matter.

        Sets: status, if the search was stopped or limits are reached; n_searches, n_nodes.
        """
        n_left = None if self.node_limit is None else max(self.node_limit - self.n_nodes, 1)
        seconds = None
        if self.time_limit is not None:
            seconds = max(self.time_limit - self.seconds, 1e-3)
        result = search(
            self.problem,
            **self.scope,
            node_limit="auto" if n_left is None else n_left,
            time_limit=seconds,
            n_jobs=self.n_jobs,
            callback=callback,
            cutoff=self._objective_of(cutoff),
            n_best=MAX_NEW_COLUMNS,
        )
        self.n_searches += 1
        self.n_nodes += result.counters.get("nodes", 0)
        if result.status is SearchStatus.INTERRUPTED:
            self.status = result.status
        self.check_limits()
        return result

    def check_limits(self) -> None:
        """Look at the clock, and at the nodes.

        Sets: status, if one is reached.
        """
        if self.node_limit is not None and self.n_nodes >= self.node_limit:
            self.status = self.status or SearchStatus.NODE_LIMIT
        if self.time_limit is not None and self.seconds >= self.time_limit:
            self.status = self.status or SearchStatus.TIME_LIMIT

    def beam(self, limit: float) -> list[Column]:
        """Find columns whose sum of forces is above the price of a weight, by a beam search."""
        return self._steeper(limit, beam_queries(self.problem, BEAM_WIDTH, **self.scope))

    def found(self, limit: float, result: SearchResult) -> list[Column]:
        """List the columns above the price of a weight that an exact search has found.

        Where it finds one only, its neighbours come with it, in which one condition is another one.
        """
        queries = list(result.queries)
        if not queries:
            starts = _all_but_one(result.query)
            queries = beam_queries(self.problem, BEAM_WIDTH, starts, **self.scope)
            queries.append(result.query)
        return self._steeper(limit, queries)

    def _steeper(self, limit: float, queries: Iterable[tuple[int, ...]]) -> list[Column]:
        found: list[tuple[float, Column]] = []
        for query in queries:
            covered = self.problem.covered(query)
            size = math.ldexp(abs(float(self.problem.gradients[covered].sum())), self.exponent)
            if size > limit * (1.0 + TOLERANCE) and _key(covered) not in self.known:
                found.append((size, Column(covered, query)))
        found.sort(key=lambda entry: -entry[0])
        return [column for _, column in found[:MAX_NEW_COLUMNS]]

    def add(self, new: Iterable[Column]) -> None:
        """Take columns into the restricted problem, each set of rows once."""
        columns = []
        for column in new:
            key = _key(column.covered)
            if key not in self.known:
                self.known[key] = column.query
                columns.append(column.covered)
        if columns:
            self.restricted.add(np.array(columns))

    def forget(self) -> None:
        """Drop the flattest columns without weight, where there are many."""
        restricted = self.restricted
        if len(restricted.weights) <= MAX_COLUMNS:
            return
        forces = self.risk.forces(restricted.raw_predictions)
        steepness = np.abs(restricted.columns @ forces)
        steepness[restricted.weights != 0.0] = np.inf
        kept = steepness >= np.sort(steepness)[-MAX_COLUMNS // 2]
        restricted.keep(kept)
        self.known = dict(compress(self.known.items(), kept.tolist()))

    def used_columns(self) -> Iterator[Column]:
        """List the columns that have a weight."""
        restricted, queries = self.restricted, [*self.known.values()]
        for position in np.flatnonzero(restricted.weights).tolist():
            covered, weight = restricted.columns[position] > 0.0, restricted.weights[position]
            yield Column(covered, queries[position], float(weight))


def _key(covered: NDArray[np.bool_]) -> bytes:
    return np.packbits(covered).tobytes()


def _all_but_one(query: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List a query without each of its conditions."""
    return [query[:place] + query[place + 1 :] for place in range(len(query))] or [()]
