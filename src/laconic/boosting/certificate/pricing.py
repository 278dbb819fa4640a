"""Which conjunctions are missing: those whose rows have a larger sum of forces than their price.

A beam search finds some of them, and an exact search proves that there are none, or how large sums
can be: one of each for every output, as a rule adds its weight to one of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import compress, zip_longest
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from laconic._util.types import Bools, Floats
from laconic.boosting.certificate.restricted_master import RestrictedProblem
from laconic.boosting.certificate.risk import TrainingRisk
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

    covered: Bools
    """The rows that it covers."""
    query: tuple[int, ...] | None = None
    """Its conditions, where they are known."""
    weight: float = 0.0
    output: int = 0
    """Which raw prediction the weight is added to, where a row has several."""

    @property
    def key(self) -> tuple[int, bytes]:
        """The same for columns of the same rows and output."""
        return self.output, np.packbits(self.covered).tobytes()


class SumSearch(NamedTuple):
    """The search for the largest sum of the forces of one output."""

    output: int
    problem: SearchProblem
    """Its gradients are the forces, divided by a power of two and rounded."""
    exponent: int
    """Of this power of two."""
    rounding: float
    """What rounding may change sums of gradients by."""

    @classmethod
    def of(
        cls, output: int, problem: SearchProblem, forces: Floats, divisors: Floats | None
    ) -> Self:
        """Pose the search for given forces, on the rows of another problem."""
        # With a largest force of about 1, whatever the scale of the target.
        exponent = math.frexp(float(np.abs(forces).max()))[1]
        scaled = np.ldexp(forces, -exponent)
        gradients = scaled if divisors is None else scaled / divisors
        problem = problem.with_statistics(gradients, np.zeros(len(forces)))
        rounding = math.fsum(np.abs(scaled - problem.gradients))
        return cls(output, problem, exponent, rounding)

    def sum_of(self, covered: Bools) -> float:
        """Return the absolute sum of forces over some rows."""
        return math.ldexp(abs(float(self.problem.gradients[covered].sum())), self.exponent)

    def largest_sum(self, result: SearchResult | None) -> float:
        """Return an absolute sum of forces that no query exceeds, according to a search.

        None is a search that was not begun: all forces of one sign are no less than any sum.
        """
        if result is None:
            gradients = self.problem.gradients
            largest = max(math.fsum(np.maximum(sign * gradients, 0.0)) for sign in (1.0, -1.0))
        else:
            largest = math.sqrt(result.bound * self.problem.normalizer)
        return math.ldexp(largest * (1.0 + _SEARCH_ROUNDING) + self.rounding, self.exponent)

    def objective_of(self, size: float) -> float:
        """Return the objective of the search that a sum of forces has.

        One that is larger than all forces together, as those of another output may be, has the
        objective of these.
        """
        with np.errstate(over="ignore"):
            largest = float(np.ldexp(size, -self.exponent))
        return min(largest, float(len(self.problem.gradients))) ** 2 / self.problem.normalizer


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
        self.risk, self.scope = risk, scope
        self.node_limit, self.time_limit, self.n_jobs = node_limit, time_limit, n_jobs
        self.began = time.perf_counter()
        self.restricted = RestrictedProblem(risk)
        # Outputs and sets of rows, in the order of the columns, and what covers them.
        self.known: dict[tuple[int, bytes], tuple[int, ...] | None] = {}
        self.status: SearchStatus | None = None
        self.n_searches = self.n_nodes = 0
        zeros = np.zeros(len(risk.y))
        # Weights matter for what rules cover only: forces have them already.
        self.divisors = risk.sample_weight if scope["min_coverage"] > 0.0 else None
        self.problem = SearchProblem(extents, zeros, zeros, 1.0, self.divisors)
        self.searches: list[SumSearch] = []

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return time.perf_counter() - self.began

    def pose(self) -> Floats:
        """Pose the searches for the largest sum of forces at the current weights.

        Returns the forces. Sets: searches, one for each output.
        """
        forces = self.risk.forces(self.restricted.raw_predictions)
        self.searches = [
            SumSearch.of(output, self.problem, of_output, self.divisors)
            for output, of_output in enumerate(self.risk.by_output(forces).T)
        ]
        return forces

    def largest_sum(self, results: Sequence[SearchResult]) -> float:
        """Return an absolute sum of forces that no query exceeds, of any output."""
        pairs = zip_longest(self.searches, results)
        return max(search.largest_sum(result) for search, result in pairs)

    def search(
        self, cutoff: float = 0.0, callback: Callable[[SearchProgress], Any] | None = None
    ) -> list[SearchResult]:
        """Find the largest sums of forces of each output; those up to the cutoff do not matter.

        Outputs share what is left of the limits. Those whose turn had not come when the search was
        interrupted have no result.

        Sets: status, if a search was stopped or limits are reached; n_searches, n_nodes.
        """
        results: list[SearchResult] = []
        for position, each in enumerate(self.searches):
            n_waiting = len(self.searches) - position
            results.append(self._result(each, n_waiting, cutoff, callback))
            if results[-1].status is SearchStatus.INTERRUPTED:
                self.status = SearchStatus.INTERRUPTED
                break
        self.check_limits()
        return results

    def _result(
        self,
        posed: SumSearch,
        n_waiting: int,
        cutoff: float,
        callback: Callable[[SearchProgress], Any] | None,
    ) -> SearchResult:
        """Search one output, with its share of the limits of those that wait."""
        node_limit: int | Literal["auto"] = "auto"
        if self.node_limit is not None:
            node_limit = max((self.node_limit - self.n_nodes) // n_waiting, 1)
        seconds = None
        if self.time_limit is not None:
            seconds = max((self.time_limit - self.seconds) / n_waiting, 1e-3)
        result = search(
            posed.problem,
            **self.scope,
            node_limit=node_limit,
            time_limit=seconds,
            n_jobs=self.n_jobs,
            callback=callback,
            cutoff=posed.objective_of(cutoff),
            n_best=MAX_NEW_COLUMNS,
        )
        self.n_searches += 1
        self.n_nodes += result.counters.get("nodes", 0)
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
        return self._steeper(
            limit, (beam_queries(each.problem, BEAM_WIDTH, **self.scope) for each in self.searches)
        )

    def found(self, limit: float, results: Sequence[SearchResult]) -> list[Column]:
        """List the columns above the price of a weight that exact searches have found."""
        return self._steeper(limit, map(self._queries, self.searches, results))

    def _queries(self, posed: SumSearch, result: SearchResult) -> list[tuple[int, ...]]:
        """List the best queries of a search.

        Where it finds one only, its neighbours come with it, in which one condition is another one.
        """
        if result.queries:
            return list(result.queries)
        starts = _all_but_one(result.query)
        return [*beam_queries(posed.problem, BEAM_WIDTH, starts, **self.scope), result.query]

    def _steeper(
        self, limit: float, by_output: Iterable[Iterable[tuple[int, ...]]]
    ) -> list[Column]:
        """Choose, of the queries of each output, the steepest that are above a limit, and new."""
        found: list[tuple[float, Column]] = []
        for posed, queries in zip(self.searches, by_output, strict=False):
            for query in queries:
                column = Column(posed.problem.covered(query), query, output=posed.output)
                size = posed.sum_of(column.covered)
                if size > limit * (1.0 + TOLERANCE) and column.key not in self.known:
                    found.append((size, column))
        found.sort(key=lambda entry: -entry[0])
        return [column for _, column in found[:MAX_NEW_COLUMNS]]

    def add(self, new: Iterable[Column]) -> None:
        """Take columns into the restricted problem, each set of rows once for an output."""
        columns = []
        for column in new:
            if column.key not in self.known:
                self.known[column.key] = column.query
                columns.append(column)
        if columns:
            covered = np.array([column.covered for column in columns])
            self.restricted.add(covered, [column.output for column in columns])

    def forget(self) -> None:
        """Drop the flattest columns without weight, where there are many."""
        restricted = self.restricted
        if len(restricted.weights) <= MAX_COLUMNS:
            return
        forces = self.risk.forces(restricted.raw_predictions)
        steepness = np.abs(restricted.sums(forces))
        steepness[restricted.weights != 0.0] = np.inf
        kept = steepness >= np.sort(steepness)[-MAX_COLUMNS // 2]
        restricted.keep(kept)
        self.known = dict(compress(self.known.items(), kept.tolist()))

    def used_columns(self) -> Iterator[Column]:
        """List the columns that have a weight."""
        restricted, queries = self.restricted, [*self.known.values()]
        for position in np.flatnonzero(restricted.weights).tolist():
            covered, weight = restricted.columns[position] > 0.0, restricted.weights[position]
            output = int(restricted.outputs[position])
            yield Column(covered, queries[position], float(weight), output)


def _all_but_one(query: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List a query without each of its conditions."""
    return [query[:place] + query[place + 1 :] for place in range(len(query))] or [()]
