"""Column generation: the best ensemble of all conjunctions, found through a few of them.

`relaxation.restricted` solves a problem over some conjunctions. Over all of them, it has a solution
with few rules, too. Solve it over the columns so far; its forces then say which conjunctions are
missing, namely those with a larger sum of forces than the price of a weight. A beam search finds
such columns, and an exact search proves that there are none, or how large sums can be: every one
of these proofs is a bound for `relaxation.rivals`, whatever the columns are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.losses import Floats
from laconic.relaxation.restricted import RestrictedProblem
from laconic.relaxation.risk import TrainingRisk
from laconic.relaxation.rivals import Bound, Rivals, SameRules, lower_bound
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
# Without need, but a proof that is stopped then has something to show.
ROUNDS_PER_SEARCH = 8
# A proof that leaves no more than this share of the best possible improvement open is good enough.
GAP = 1e-3
# Sums that exceed the price by no more than this share are no reason for a further round.
_TOLERANCE = 1e-4
_MAX_ROUNDS = 400
# For values of searches, which are rounded, and compared with a slack of 1e-11 at most.
_SEARCH_ROUNDING = 1e-10


@dataclass(frozen=True)
class RelaxationProgress:
    """A look at a running proof."""

    bound: float
    """No rival has a smaller penalised loss."""
    n_rounds: int
    n_columns: int
    """Conjunctions in use."""
    n_nodes: int
    """Nodes of all searches so far."""
    seconds: float


@dataclass(frozen=True, eq=False)
class Proof:
    """A bound, and what it took to find it."""

    bound: Bound
    status: SearchStatus
    """``optimal`` where no other forces prove much more."""
    n_searches: int
    n_nodes: int
    seconds: float


def prove(
    extents: Extents,
    risk: TrainingRisk,
    rivals: Rivals,
    *,
    max_conditions: int | None,
    start: Iterable[NDArray[np.bool_]] = (),
    node_limit: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = 1,
    callback: Callable[[RelaxationProgress], Any] | None = None,
) -> Proof:
    """Find forces with a large bound on the penalised loss of all rivals.

    Parameters
    ----------
    extents : Extents
        Rows of all conditions.
    risk : TrainingRisk
    rivals : SameWeight or SameRules
    max_conditions : int or None
        Rules of rivals have no more conditions than that.
    start : iterable of bool arrays of shape (n_rows,), default=()
        Rows that some good rules cover.
    node_limit : int or None, default=None
        How many nodes all searches may take together.
    time_limit : float or None, default=None
        After how many seconds to stop.
    n_jobs : int or None, default=1
        Threads of the searches. The proof is the same for any number.
    callback : callable, default=None
        Called with a :class:`RelaxationProgress`; a true return value ends the proof.

    Returns
    -------
    proof : Proof
        True however it ended: also after Ctrl-C, which ends it as a callback does.
    """
    run = _Run(extents, risk, rivals, max_conditions, node_limit, time_limit, n_jobs, callback)
    try:
        run.start(start)
        run.ask()
        while run.status is None:
            run.go_on()
            run.ask()
    except KeyboardInterrupt:
        run.status = SearchStatus.INTERRUPTED
    return run.proof()


class _Run:
    """A proof while it is being found."""

    def __init__(
        self,
        extents: Extents,
        risk: TrainingRisk,
        rivals: Rivals,
        max_conditions: int | None,
        node_limit: int | None,
        time_limit: float | None,
        n_jobs: int | None,
        callback: Callable[[RelaxationProgress], Any] | None,
    ) -> None:
        self.extents, self.risk, self.rivals = extents, risk, rivals
        self.max_conditions, self.node_limit, self.time_limit = (
            max_conditions,
            node_limit,
            time_limit,
        )
        self.n_jobs, self.callback = n_jobs, callback
        self.began = time.perf_counter()
        self.restricted = RestrictedProblem(risk)
        # Sets of rows, in the order of the columns.
        self.known: dict[bytes, None] = {}
        self.price = 0.0
        self.status: SearchStatus | None = None
        self.n_rounds = self.n_searches = self.n_nodes = 0
        n_rows = len(risk.y)
        zeros = np.zeros(n_rows)
        self.best = Bound(0.0, zeros, 0.0)
        self.problem = SearchProblem(extents, zeros, zeros, 1.0)
        self.exponent, self.rounding = 0, 0.0

    def start(self, columns: Iterable[NDArray[np.bool_]]) -> None:
        """Prove what follows from the forces of a constant."""
        forces = self._pose(self.restricted.raw_predictions)
        self._add(columns)
        queries = beam_queries(self.problem, self.max_conditions, BEAM_WIDTH)
        self._add(map(self.problem.covered, queries))
        result = self._search(forces)
        if isinstance(self.rivals, SameRules):
            if self.rivals.n_rules == 0 or self.rivals.l2_regularization == 0.0:
                self.status = self.status or SearchStatus.OPTIMAL
            else:
                self.price = self.rivals.l2_regularization / self.rivals.n_rules
        elif self.rivals.total_weight == 0.0:
            self.status = self.status or SearchStatus.OPTIMAL
        else:
            self.price = self._largest_sum(result) / self.rivals.total_weight / 4.0
        if not forces.any():
            self.status = self.status or SearchStatus.OPTIMAL

    def go_on(self) -> None:
        """Solve the problem over the columns so far, and look for further ones."""
        self.n_rounds += 1
        self._solve()
        self._forget()
        forces = self._pose(self.restricted.raw_predictions)
        limit = self.price * self.restricted.total_weight
        new = self._steeper(limit, None)
        if not new or self.n_rounds % ROUNDS_PER_SEARCH == 0:
            result = self._search(forces)
            if self.status is not None:
                return
            if self._is_closed():
                self.status = SearchStatus.OPTIMAL
                return
            new = new or self._steeper(limit, result.query)
        if not new or self.n_rounds >= _MAX_ROUNDS:
            self.status = SearchStatus.APPROXIMATE
            return
        self._add(new)

    def proof(self) -> Proof:
        """Sum up."""
        return Proof(
            self.best,
            self.status or SearchStatus.INTERRUPTED,
            self.n_searches,
            self.n_nodes,
            self._seconds,
        )

    def _solve(self) -> None:
        """Find the best weights of the columns; for rivals of a total weight, at its price."""
        if isinstance(self.rivals, SameRules):
            self.restricted.solve(self.price)
            return
        wanted = self.rivals.total_weight
        below, above = 0.0, math.inf  # prices with too much weight, and with too little
        for _ in range(12):
            self.restricted.solve(self.price)
            total = self.restricted.total_weight
            if abs(total - wanted) <= 1e-3 * wanted:
                return
            if total > wanted:
                below = self.price
            else:
                above = self.price
            self.price = self._next_price(total / wanted, below, above)

    def _next_price(self, excess: float, below: float, above: float) -> float:
        """Guess the price at which weights have the wanted sum, given their excess."""
        # Were it not for the loss, which resists, the product of price and weight would stay.
        price = self.price * max(excess, 0.1) ** 2
        if below < price < above:
            return price
        if above == math.inf:
            return 2.0 * below
        return above / 4.0 if below == 0.0 else math.sqrt(below * above)

    def _forget(self) -> None:
        """Drop the flattest columns without weight, where there are many."""
        restricted = self.restricted
        if len(restricted.weights) <= MAX_COLUMNS:
            return
        forces = self.risk.forces(restricted.raw_predictions)
        steepness = np.abs(restricted.columns @ forces)
        steepness[restricted.weights != 0.0] = np.inf
        kept = steepness >= np.sort(steepness)[-MAX_COLUMNS // 2]
        restricted.keep(kept)
        self.known = dict.fromkeys(compress(self.known, kept.tolist()))

    def _pose(self, raw_predictions: Floats) -> Floats:
        """Pose the search for the largest sum of forces."""
        forces = self.risk.forces(raw_predictions)
        # With a largest force of about 1, whatever the scale of the target.
        self.exponent = math.frexp(float(np.abs(forces).max()))[1]
        scaled = np.ldexp(forces, -self.exponent)
        self.problem = self.problem.with_statistics(scaled, np.zeros(len(forces)))
        self.rounding = math.fsum(np.abs(scaled - self.problem.gradients))
        return forces

    def _largest_sum(self, result: SearchResult) -> float:
        """Tell the absolute sum of forces that no query exceeds, according to a search."""
        largest = math.sqrt(result.bound * self.problem.normalizer)
        return math.ldexp(largest * (1.0 + _SEARCH_ROUNDING) + self.rounding, self.exponent)

    def _search(self, forces: Floats) -> SearchResult:
        """Bound the sums of forces, and with them the rivals."""
        left = None if self.node_limit is None else max(self.node_limit - self.n_nodes, 1)
        seconds = None
        if self.time_limit is not None:
            seconds = max(self.time_limit - self._seconds, 1e-3)
        result = search(
            self.problem,
            max_conditions=self.max_conditions,
            node_limit=left if left is not None else "auto",
            time_limit=seconds,
            n_jobs=self.n_jobs,
            callback=None if self.callback is None else self._tell,
        )
        self.n_searches += 1
        self.n_nodes += result.counters.get("nodes", 0)
        bound = lower_bound(self.risk, self.rivals, forces, self._largest_sum(result))
        if bound.value > self.best.value:
            self.best = bound
        if result.status is SearchStatus.INTERRUPTED:
            self.status = result.status
        self._check_limits()
        return result

    def _check_limits(self) -> None:
        if self.node_limit is not None and self.n_nodes >= self.node_limit:
            self.status = self.status or SearchStatus.NODE_LIMIT
        if self.time_limit is not None and self._seconds >= self.time_limit:
            self.status = self.status or SearchStatus.TIME_LIMIT

    def _is_closed(self) -> bool:
        """Tell whether other forces could prove hardly more."""
        reached = self.risk.value(self.restricted.raw_predictions)
        if isinstance(self.rivals, SameRules):
            reached += self.price / 2.0 * self.restricted.total_weight**2
        return reached - self.best.value <= GAP * (self.risk.value_at_constant - self.best.value)

    def _steeper(self, limit: float, best: tuple[int, ...] | None) -> list[NDArray[np.bool_]]:
        """Find columns whose sum of forces is above the price of a weight.

        They are those of a beam search or, where the best query is known, itself and its
        neighbours, in which one condition is another one.
        """
        starts = [()] if best is None else _all_but_one(best)
        queries = beam_queries(self.problem, self.max_conditions, BEAM_WIDTH, starts)
        if best is not None:
            queries.append(best)
        found: list[tuple[float, NDArray[np.bool_]]] = []
        for query in queries:
            covered = self.problem.covered(query)
            size = math.ldexp(abs(float(self.problem.gradients[covered].sum())), self.exponent)
            if size > limit * (1.0 + _TOLERANCE) and self._key(covered) not in self.known:
                found.append((size, covered))
        found.sort(key=lambda entry: -entry[0])
        return [covered for _, covered in found[:MAX_NEW_COLUMNS]]

    @staticmethod
    def _key(covered: NDArray[np.bool_]) -> bytes:
        return np.packbits(covered).tobytes()

    def _add(self, new: Iterable[NDArray[np.bool_]]) -> None:
        """Take columns into the restricted problem, each set of rows once."""
        columns = []
        for covered in new:
            key = self._key(covered)
            if key not in self.known:
                self.known[key] = None
                columns.append(covered)
        if columns:
            self.restricted.add(np.array(columns))

    def ask(self) -> None:
        """Let the caller see how far the proof has come, and look at the clock."""
        if self.callback is not None and self.callback(self._progress()):
            self.status = self.status or SearchStatus.INTERRUPTED
        self._check_limits()

    def _tell(self, search: SearchProgress) -> Any:
        assert self.callback is not None
        return self.callback(self._progress(search.n_nodes))

    def _progress(self, n_nodes: int = 0) -> RelaxationProgress:
        n_used = int((self.restricted.weights != 0.0).sum())
        return RelaxationProgress(
            self.best.value, self.n_rounds, n_used, self.n_nodes + n_nodes, self._seconds
        )

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self.began


def _all_but_one(query: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List a query without each of its conditions."""
    return [query[:place] + query[place + 1 :] for place in range(len(query))] or [()]
