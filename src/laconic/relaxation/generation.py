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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from laconic.losses import Floats
from laconic.model.formatting import format_count, format_number
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
# Multiples of forces that are tried before it is known for how many rules they serve.
_SCALES = (0.25, 0.5, 0.75, 1.0)
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


def describe_proof(proof: RelaxationProgress) -> str:
    """Say how far a proof has come.

    Examples
    --------
    >>> describe_proof(RelaxationProgress(324.4, 12, 60, 35, seconds=2.0))
    'no rules get below 324.4, from 60 rules at once'
    """
    n_rules = format_count(proof.n_columns, "rule")
    return f"no rules get below {format_number(proof.bound)}, from {n_rules} at once"


class Column(NamedTuple):
    """A conjunction as the relaxed problem sees it."""

    covered: NDArray[np.bool_]
    """The rows that it covers."""
    query: tuple[int, ...] | None = None
    """Its conditions, where they are known."""
    weight: float = 0.0


@dataclass(frozen=True, eq=False)
class Proof:
    """A bound, and what it took to find it."""

    bound: Bound
    status: SearchStatus
    """``optimal`` where no other forces prove much more."""
    n_searches: int
    n_nodes: int
    seconds: float
    columns: tuple[Column, ...]
    """The conjunctions that have a weight in the best relaxed ensemble so far."""
    bounds_by_size: tuple[float, ...]
    """No ensemble of 0, 1, 2, ... rules has a smaller penalised loss; empty for rivals of a total
    weight."""


def prove(
    extents: Extents,
    risk: TrainingRisk,
    rivals: Rivals,
    *,
    max_conditions: int | None,
    min_coverage: float = 0.0,
    start: Iterable[Column] = (),
    by_size: bool = False,
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
    min_coverage : float, default=0.0
        They cover no less than so many rows, or so much weight.
    start : iterable of Column, default=()
        Some good rules.
    by_size : bool, default=False
        Whether fewer rules are worth proofs of their own.
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
    scope = {"max_conditions": max_conditions, "min_coverage": min_coverage}
    run = _Run(extents, risk, rivals, scope, node_limit, time_limit, n_jobs, callback)
    try:
        run.start(start)
        run.ask()
        while run.status is None:
            run.go_on()
            run.ask()
        if by_size:
            run.prove_fewer()
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
        scope: dict[str, Any],
        node_limit: int | None,
        time_limit: float | None,
        n_jobs: int | None,
        callback: Callable[[RelaxationProgress], Any] | None,
    ) -> None:
        self.extents, self.risk, self.rivals = extents, risk, rivals
        self.scope, self.node_limit, self.time_limit = scope, node_limit, time_limit
        self.n_jobs, self.callback = n_jobs, callback
        self.began = time.perf_counter()
        self.restricted = RestrictedProblem(risk)
        # Sets of rows, in the order of the columns, and what covers them.
        self.known: dict[bytes, tuple[int, ...] | None] = {}
        self.price = 0.0
        self.status: SearchStatus | None = None
        self.n_rounds = self.n_searches = self.n_nodes = 0
        n_rows = len(risk.y)
        zeros = np.zeros(n_rows)
        self.best = Bound(0.0, zeros, 0.0)
        # For each number of rules: what is proven, about, by which forces, and their largest sum.
        n_sizes = rivals.n_rules if isinstance(rivals, SameRules) else 0
        self.by_size = [(0.0, zeros, 0.0)] * n_sizes
        # Weights matter for what rules cover only: forces have them already.
        self.divisors = risk.sample_weight if scope["min_coverage"] > 0.0 else None
        self.problem = SearchProblem(extents, zeros, zeros, 1.0, self.divisors)
        self.exponent, self.rounding = 0, 0.0

    def start(self, columns: Iterable[Column]) -> None:
        """Prove what follows from the forces of a constant."""
        forces = self._pose(self.restricted.raw_predictions)
        self._add(columns)
        queries = beam_queries(self.problem, BEAM_WIDTH, **self.scope)
        self._add(Column(self.problem.covered(query), query) for query in queries)
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

    def prove_fewer(self) -> None:
        """Spend a search on each smaller number of rules, with the columns that there are.

        Unlike others, these searches do not decide how the proof has ended.
        """
        status = self.status
        is_open = status in (SearchStatus.OPTIMAL, SearchStatus.APPROXIMATE)
        if not isinstance(self.rivals, SameRules) or not is_open or self.price == 0.0:
            return
        weights, intercept = self.restricted.weights, self.restricted.intercept
        for n_rules in range(self.rivals.n_rules - 1, 0, -1):
            self.status = None
            self.restricted.solve(self.rivals.l2_regularization / n_rules)
            self._search(self._pose(self.restricted.raw_predictions))
            if self._is_stopped():
                break
        self.status = status
        self.restricted.weights, self.restricted.intercept = weights, intercept

    def _note_sizes(self, forces: Floats, largest_sum: float) -> None:
        """Remember forces that prove more than others of some numbers of rules."""
        if not isinstance(self.rivals, SameRules) or self.rivals.l2_regularization == 0.0:
            return
        largest = self.risk.largest_scale(forces)
        scales = [scale for scale in _SCALES if scale <= largest]
        duals = [self.risk.approximate_dual_value(forces, scale) for scale in scales]
        penalty = self.rivals.l2_regularization
        for n_rules, (best, _, _) in enumerate(self.by_size):
            rivals = SameRules(n_rules, penalty)
            help_of_rules = [rivals.largest_help(scale * largest_sum) for scale in scales]
            value = max(map(float.__sub__, duals, help_of_rules), default=0.0)
            if value > best:
                self.by_size[n_rules] = value, forces, largest_sum

    def _bounds_by_size(self) -> tuple[float, ...]:
        if not isinstance(self.rivals, SameRules):
            return ()
        bounds = [self.best.value]
        for n_rules, (_, forces, largest_sum) in reversed([*enumerate(self.by_size)]):
            rivals = SameRules(n_rules, self.rivals.l2_regularization)
            value = lower_bound(self.risk, rivals, forces, largest_sum).value
            # What holds for more rules holds for fewer.
            bounds.append(max(value, bounds[-1]))
        return tuple(reversed(bounds))

    def proof(self) -> Proof:
        """Sum up."""
        return Proof(
            self.best,
            self.status or SearchStatus.INTERRUPTED,
            self.n_searches,
            self.n_nodes,
            self._seconds,
            tuple(self._used_columns()),
            self._bounds_by_size(),
        )

    def _used_columns(self) -> Iterator[Column]:
        restricted, queries = self.restricted, [*self.known.values()]
        for position in np.flatnonzero(restricted.weights).tolist():
            covered, weight = restricted.columns[position] > 0.0, restricted.weights[position]
            yield Column(covered, queries[position], float(weight))

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
        self.known = dict(compress(self.known.items(), kept.tolist()))

    def _pose(self, raw_predictions: Floats) -> Floats:
        """Pose the search for the largest sum of forces."""
        forces = self.risk.forces(raw_predictions)
        # With a largest force of about 1, whatever the scale of the target.
        self.exponent = math.frexp(float(np.abs(forces).max()))[1]
        scaled = np.ldexp(forces, -self.exponent)
        gradients = scaled if self.divisors is None else scaled / self.divisors
        self.problem = self.problem.with_statistics(gradients, np.zeros(len(forces)))
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
            **self.scope,
            node_limit=left if left is not None else "auto",
            time_limit=seconds,
            n_jobs=self.n_jobs,
            callback=None if self.callback is None else self._tell,
        )
        self.n_searches += 1
        self.n_nodes += result.counters.get("nodes", 0)
        largest_sum = self._largest_sum(result)
        self._note_sizes(forces, largest_sum)
        bound = lower_bound(self.risk, self.rivals, forces, largest_sum)
        if bound.value > self.best.value:
            self.best = bound
        if result.status is SearchStatus.INTERRUPTED:
            self.status = result.status
        self._check_limits()
        return result

    def _is_stopped(self) -> bool:
        return self.status is not None

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

    def _steeper(self, limit: float, best: tuple[int, ...] | None) -> list[Column]:
        """Find columns whose sum of forces is above the price of a weight.

        They are those of a beam search or, where the best query is known, itself and its
        neighbours, in which one condition is another one.
        """
        starts = [()] if best is None else _all_but_one(best)
        queries = beam_queries(self.problem, BEAM_WIDTH, starts, **self.scope)
        if best is not None:
            queries.append(best)
        found: list[tuple[float, Column]] = []
        for query in queries:
            covered = self.problem.covered(query)
            size = math.ldexp(abs(float(self.problem.gradients[covered].sum())), self.exponent)
            if size > limit * (1.0 + _TOLERANCE) and self._key(covered) not in self.known:
                found.append((size, Column(covered, query)))
        found.sort(key=lambda entry: -entry[0])
        return [column for _, column in found[:MAX_NEW_COLUMNS]]

    @staticmethod
    def _key(covered: NDArray[np.bool_]) -> bytes:
        return np.packbits(covered).tobytes()

    def _add(self, new: Iterable[Column]) -> None:
        """Take columns into the restricted problem, each set of rows once."""
        columns = []
        for column in new:
            key = self._key(column.covered)
            if key not in self.known:
                self.known[key] = column.query
                columns.append(column.covered)
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
