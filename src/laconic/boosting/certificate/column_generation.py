"""Column generation: bound the best ensemble of all terms through a few of them.

`restricted_master` solves the relaxed problem over some terms, the *columns*. Its optimum over all
terms uses few of them as well. So the problem is solved over the columns so far; terms with a
larger sum of forces than the price of a weight are missing. Slopes are enumerated. Of rules, a beam
search finds such columns, and an exact search proves that there are none, or how large sums can be.
Each of these proofs is a bound (see `comparison_class`), whatever the columns are. There is one
search for each output, as a term adds its weight to one of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, zip_longest
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from laconic._util.types import Bools, Floats, Values
from laconic.boosting.certificate.comparison_class import (
    Bound,
    ComparisonClass,
    EnsemblesOfSize,
    lower_bound,
)
from laconic.boosting.certificate.restricted_master import RestrictedProblem
from laconic.boosting.certificate.risk import TrainingRisk, scale_of_values
from laconic.boosting.certificate.slope_columns import SlopeColumns
from laconic.candidates.slopes import SlopeCandidates
from laconic.search import (
    Extents,
    SearchProblem,
    SearchProgress,
    SearchResult,
    SearchStatus,
    search,
)
from laconic.search.core import beam_queries
from laconic.terms.formatting import format_count, format_number
from laconic.terms.slopes import Slope

BEAM_WIDTH = 16
MAX_NEW_COLUMNS = 32
MAX_COLUMNS = 1_000
# An exact search after so many rounds is not needed, but a proof that is stopped has a bound then.
ROUNDS_PER_SEARCH = 8
# A proof is closed when it leaves no more than this fraction of the possible improvement open.
GAP = 1e-3
# Sums that exceed the price by no more than this fraction are no reason for a further round.
TOLERANCE = 1e-4
_MAX_ROUNDS = 400
# Multiples of forces that are tried before it is known for how many rules they are best.
_MULTIPLES = (0.25, 0.5, 0.75, 1.0)
# For values of searches, which are rounded, and compared with a slack of 1e-11 at most.
_SEARCH_ROUNDING = 1e-10


@dataclass(frozen=True)
class ProofProgress:
    """Progress of a proof."""

    bound: float
    """Lower bound on the penalised loss of all compared ensembles."""
    n_rounds: int
    n_columns: int
    """Terms in use."""
    n_nodes: int
    """Nodes of all searches so far."""
    seconds: float


def describe_proof_progress(proof: ProofProgress) -> str:
    """Describe the progress of a proof in a few words.

    Examples
    --------
    >>> describe_proof_progress(ProofProgress(324.4, 12, 60, 35, seconds=2.0))
    'lower bound 324.4, from 60 terms at once'
    """
    n_terms = format_count(proof.n_columns, "term")
    return f"lower bound {format_number(proof.bound)}, from {n_terms} at once"


class TermColumn(NamedTuple):
    """A term in the relaxed problem."""

    values: Values
    """The rows that a rule covers, or the values of a slope, in the units of its feature."""
    query: tuple[int, ...] | None = None
    """The conditions of a rule, where they are known."""
    weight: float = 0.0
    """What the values are multiplied by."""
    output: int = 0
    """Which raw prediction the weight is added to, where a row has several."""
    slope: Slope | None = None
    """The slope, without its weight; None for a rule."""

    @property
    def key(self) -> tuple[int, bytes | Slope]:
        """The same for rules of the same rows and output, and for the same slope of an output."""
        if self.slope is not None:
            return self.output, self.slope
        return self.output, np.packbits(self.values.astype(bool)).tobytes()


@dataclass(frozen=True, eq=False)
class Proof:
    """A bound, what it holds for, and the work that it took."""

    bound: Bound
    risk: TrainingRisk
    compared: ComparisonClass
    max_conditions: int | None
    min_coverage: float
    status: SearchStatus
    """``optimal`` where other forces cannot prove much more."""
    n_searches: int
    n_nodes: int
    seconds: float
    columns: tuple[TermColumn, ...]
    """The terms that have a weight in the best relaxed ensemble so far."""
    bounds_by_size: tuple[float, ...]
    """Lower bounds on the penalised loss of ensembles of 0, 1, 2, ... terms; empty where ensembles
    of a total weight are compared."""
    slopes: tuple[Slope, ...] = ()
    """The slopes that terms may be, besides rules."""
    reach: float = 1.0
    """Largest value of any term on the scale of rules."""

    def for_ensembles(self, compared: ComparisonClass) -> Proof:
        """Bound other ensembles, such as those of another total weight, by the same forces."""
        bound = lower_bound(
            self.risk, compared, self.bound.forces, self.bound.largest_sum, self.reach
        )
        return replace(self, bound=bound, compared=compared, bounds_by_size=())


def prove(
    extents: Extents,
    risk: TrainingRisk,
    compared: ComparisonClass,
    *,
    max_conditions: int | None,
    min_coverage: float = 0.0,
    slopes: SlopeCandidates | None = None,
    start: Iterable[TermColumn] = (),
    by_size: bool = False,
    node_limit: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = 1,
    callback: Callable[[ProofProgress], Any] | None = None,
) -> Proof:
    """Find forces that give a large lower bound on the penalised loss of all compared ensembles.

    Parameters
    ----------
    extents : Extents
        Rows that each condition covers.
    risk : TrainingRisk
    compared : EnsemblesOfWeight or EnsemblesOfSize
    max_conditions : int or None
        Largest number of conditions of their rules.
    min_coverage : float, default=0.0
        Fewest rows, or least weight, that their rules cover.
    slopes : SlopeCandidates or None, default=None
        The slopes that their terms may be, on the rows of the risk; None for rules only.
    start : iterable of TermColumn, default=()
        Terms to start from. Slopes among them are compared as well.
    by_size : bool, default=False
        Whether to spend a search on each smaller number of terms.
    node_limit : int or None, default=None
        Largest number of nodes of all searches together.
    time_limit : float or None, default=None
        Seconds after which to stop.
    n_jobs : int or None, default=1
        Threads of the searches. The proof is the same for any number.
    callback : callable, default=None
        Called with a :class:`ProofProgress`; a true return value ends the proof.

    Returns
    -------
    proof : Proof
        Valid however it ended, also after Ctrl-C, which ends it as a callback does.
    """
    scope = {"max_conditions": max_conditions, "min_coverage": min_coverage}
    limits = {"node_limit": node_limit, "time_limit": time_limit, "n_jobs": n_jobs}
    columns = [*start]
    own = [
        (each.slope, each.values.astype(np.float64, copy=False))
        for each in columns
        if each.slope is not None
    ]
    terms = SlopeColumns(risk, slopes, own)
    run = _Run(extents, terms, risk, compared, scope, callback, **limits)
    try:
        run.start(columns)
        run.report()
        while run.status is None:
            run.go_on()
            run.report()
        if by_size:
            run.prove_fewer()
    except KeyboardInterrupt:
        run.status = SearchStatus.INTERRUPTED
    return run.proof()


class SumSearch(NamedTuple):
    """The search for the largest sum of the forces of one output."""

    output: int
    problem: SearchProblem
    """Its gradients are the forces, divided by a power of two and rounded."""
    exponent: int
    """Of this power of two."""
    rounding: float
    """Largest change of sums of gradients by rounding."""

    @classmethod
    def of(
        cls, output: int, problem: SearchProblem, forces: Floats, divisors: Floats | None
    ) -> Self:
        """Make the search for given forces, on the rows of another problem."""
        # With a largest force of about 1: those of one output may be far below those of others.
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
        """Return an upper bound on the absolute sums of forces, according to a search.

        None is a search that was not started: no sum is larger than all forces of one sign.
        """
        if result is None:
            gradients = self.problem.gradients
            largest = max(math.fsum(np.maximum(sign * gradients, 0.0)) for sign in (1.0, -1.0))
        else:
            largest = math.sqrt(result.bound * self.problem.normalizer)
        return math.ldexp(largest * (1.0 + _SEARCH_ROUNDING) + self.rounding, self.exponent)

    def objective_of(self, size: float) -> float:
        """Return the objective of a sum of forces.

        Sums of another output may be larger than all forces of this one: the objective is then that
        of all forces.
        """
        with np.errstate(over="ignore"):
            largest = float(np.ldexp(size, -self.exponent))
        return min(largest, float(len(self.problem.gradients))) ** 2 / self.problem.normalizer


class Pricing:
    """A relaxed problem over some columns, and the search for missing ones.

    Parameters
    ----------
    extents : Extents
    slopes : SlopeColumns
    risk : TrainingRisk
    scope : dict
        Limits of queries, as searches take them: ``max_conditions`` and ``min_coverage``.
    node_limit, time_limit, n_jobs
        For all searches together; None is no limit.
    """

    def __init__(
        self,
        extents: Extents,
        slopes: SlopeColumns,
        risk: TrainingRisk,
        scope: dict[str, Any],
        *,
        node_limit: int | None,
        time_limit: float | None,
        n_jobs: int | None,
    ) -> None:
        self.slopes, self.risk, self.scope = slopes, risk, scope
        self.node_limit, self.time_limit, self.n_jobs = node_limit, time_limit, n_jobs
        self.began = time.perf_counter()
        self.restricted = RestrictedProblem(risk)
        # In the order of the restricted problem, each with its scale.
        self.known: dict[tuple[int, bytes | Slope], tuple[TermColumn, float]] = {}
        self.status: SearchStatus | None = None
        self.n_searches = self.n_nodes = 0
        zeros = np.zeros(len(risk.y))
        # Weights are needed for the coverage only: forces include them already.
        self.divisors = risk.sample_weight if scope["min_coverage"] > 0.0 else None
        self.problem = SearchProblem(extents, zeros, zeros, 1.0, self.divisors)
        self.searches: list[SumSearch] = []
        self.forces = np.zeros(risk.shape)
        self.largest_of_slopes = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.began

    def pose(self) -> Floats:
        """Make the searches for the largest sum of forces at the current weights.

        Returns the forces. Sets: forces; searches, one for each output; largest_of_slopes.
        """
        self.forces = forces = self.risk.forces(self.restricted.raw_predictions)
        self.largest_of_slopes = self.slopes.largest_sum(forces)
        self.searches = [
            SumSearch.of(output, self.problem, of_output, self.divisors)
            for output, of_output in enumerate(self.risk.by_output(forces).T)
        ]
        return forces

    def largest_sum(self, results: Sequence[SearchResult]) -> float:
        """Return an upper bound on the absolute sums of forces of all outputs and terms."""
        pairs = zip_longest(self.searches, results)
        return max(self.largest_of_slopes, *(each.largest_sum(result) for each, result in pairs))

    def search(
        self, cutoff: float = 0.0, callback: Callable[[SearchProgress], Any] | None = None
    ) -> list[SearchResult]:
        """Find the largest sum of forces of each output, if it is above the cutoff.

        Sums of rules that are not above that of a slope do not matter. Outputs share what is left
        of the limits. After an interrupt, the remaining outputs have no
        result.

        Sets: status, if a search was stopped or a limit is reached; n_searches, n_nodes.
        """
        results: list[SearchResult] = []
        cutoff = max(cutoff, self.largest_of_slopes)
        for position, each in enumerate(self.searches):
            n_left = len(self.searches) - position
            results.append(self._result(each, n_left, cutoff, callback))
            if results[-1].status is SearchStatus.INTERRUPTED:
                self.status = SearchStatus.INTERRUPTED
                break
        self.check_limits()
        return results

    def _result(
        self,
        posed: SumSearch,
        n_left: int,
        cutoff: float,
        callback: Callable[[SearchProgress], Any] | None,
    ) -> SearchResult:
        """Search one output, with an equal part of the limits for each output that is left."""
        node_limit: int | Literal["auto"] = "auto"
        if self.node_limit is not None:
            node_limit = max((self.node_limit - self.n_nodes) // n_left, 1)
        seconds = None
        if self.time_limit is not None:
            seconds = max((self.time_limit - self.seconds) / n_left, 1e-3)
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
        """Check the limits of time and nodes.

        Sets: status, if one is reached.
        """
        if self.node_limit is not None and self.n_nodes >= self.node_limit:
            self.status = self.status or SearchStatus.NODE_LIMIT
        if self.time_limit is not None and self.seconds >= self.time_limit:
            self.status = self.status or SearchStatus.TIME_LIMIT

    def promising(self, limit: float) -> list[TermColumn]:
        """Find columns whose sum of forces is above a limit: slopes, and rules by a beam search."""
        rules = self._largest_new(
            limit, (beam_queries(each.problem, BEAM_WIDTH, **self.scope) for each in self.searches)
        )
        return [*rules, *self._steep_slopes(limit)]

    def _steep_slopes(self, limit: float) -> list[TermColumn]:
        """Choose the slope with the largest sum of each feature and output, above a limit."""
        sizes = np.abs(self.slopes.sums(self.forces)[0])
        found: list[TermColumn] = []
        seen: set[tuple[int, int]] = set()
        for place in np.argsort(-sizes, axis=None, kind="stable").tolist():
            number, output = divmod(place, self.risk.n_outputs)
            if not sizes[number, output] > limit * (1.0 + TOLERANCE):
                break
            slope, feature = self.slopes.slopes[number], int(self.slopes.features[number])
            if (feature, output) in seen or (output, slope) in self.known:
                continue
            seen.add((feature, output))
            found.append(TermColumn(self.slopes.values(slope), output=output, slope=slope))
            if len(found) == MAX_NEW_COLUMNS:
                break
        return found

    def found(self, limit: float, results: Sequence[SearchResult]) -> list[TermColumn]:
        """List the columns above a limit that exact searches have found."""
        return self._largest_new(limit, map(self._queries, self.searches, results))

    def _queries(self, posed: SumSearch, result: SearchResult) -> list[tuple[int, ...]]:
        """List the best queries of a search.

        Where there is only one, add its neighbours, which differ in one condition.
        """
        if result.queries:
            return list(result.queries)
        starts = _all_but_one(result.query)
        return [*beam_queries(posed.problem, BEAM_WIDTH, starts, **self.scope), result.query]

    def _largest_new(
        self, limit: float, by_output: Iterable[Iterable[tuple[int, ...]]]
    ) -> list[TermColumn]:
        """Choose the queries with the largest sums that are above a limit and not known yet."""
        found: list[tuple[float, TermColumn]] = []
        for posed, queries in zip(self.searches, by_output, strict=False):
            for query in queries:
                rows = posed.problem.covered(query)
                column = TermColumn(rows, query, output=posed.output)
                size = posed.sum_of(rows)
                if size > limit * (1.0 + TOLERANCE) and column.key not in self.known:
                    found.append((size, column))
        found.sort(key=lambda entry: -entry[0])
        return [column for _, column in found[:MAX_NEW_COLUMNS]]

    def add(self, new: Iterable[TermColumn]) -> None:
        """Add columns to the restricted problem, each set of rows once for an output."""
        columns, outputs = [], []
        for column in new:
            if column.key not in self.known:
                scale = scale_of_values(column.values, self.risk.sample_weight)
                self.known[column.key] = column, scale
                columns.append(column.values / scale)
                outputs.append(column.output)
        if columns:
            self.restricted.add(np.array(columns), outputs)

    def forget(self) -> None:
        """Drop the columns without weight that have the smallest sums, where there are many."""
        restricted = self.restricted
        if len(restricted.weights) <= MAX_COLUMNS:
            return
        forces = self.risk.forces(restricted.raw_predictions)
        sizes = np.abs(restricted.sums(forces))
        sizes[restricted.weights != 0.0] = np.inf
        kept = sizes >= np.sort(sizes)[-MAX_COLUMNS // 2]
        restricted.keep(kept)
        self.known = dict(compress(self.known.items(), kept.tolist()))

    def used_columns(self) -> Iterator[TermColumn]:
        """List the columns that have a weight."""
        weights = self.restricted.weights.tolist()
        for (column, scale), weight in zip(self.known.values(), weights, strict=True):
            if weight != 0.0:
                yield column._replace(weight=weight / scale)


class _Run(Pricing):
    """A proof while it is being found."""

    def __init__(
        self,
        extents: Extents,
        slopes: SlopeColumns,
        risk: TrainingRisk,
        compared: ComparisonClass,
        scope: dict[str, Any],
        callback: Callable[[ProofProgress], Any] | None,
        **limits: Any,
    ) -> None:
        super().__init__(extents, slopes, risk, scope, **limits)
        self.compared, self.callback = compared, callback
        self.price = 0.0
        self.n_rounds = 0
        zeros = np.zeros(risk.shape)
        self.best = Bound(0.0, zeros, 0.0)
        # For each number of rules: the approximate bound, the forces, and their largest sum.
        n_sizes = compared.n_terms if isinstance(compared, EnsemblesOfSize) else 0
        self.by_size = [(0.0, zeros, 0.0)] * n_sizes

    def start(self, columns: Iterable[TermColumn]) -> None:
        """Prove the bound that follows from the forces of a constant."""
        forces = self.pose()
        self.add(columns)
        self.add(self.promising(0.0))
        results = self._bound(forces)
        if isinstance(self.compared, EnsemblesOfSize):
            if self.compared.n_terms == 0 or self.compared.l2_regularization == 0.0:
                self.status = self.status or SearchStatus.OPTIMAL
            else:
                self.price = self.compared.l2_regularization / self.compared.n_terms
        elif self.compared.total_weight == 0.0:
            self.status = self.status or SearchStatus.OPTIMAL
        else:
            self.price = self.largest_sum(results) / self.compared.total_weight / 4.0
        if not forces.any():
            self.status = self.status or SearchStatus.OPTIMAL

    def go_on(self) -> None:
        """Solve the problem over the columns so far, and search for further ones."""
        self.n_rounds += 1
        self._solve()
        self.forget()
        forces = self.pose()
        limit = self.price * self.restricted.total_weight
        new = self.promising(limit)
        if not new or self.n_rounds % ROUNDS_PER_SEARCH == 0:
            results = self._bound(forces, self._good_enough(limit))
            if self.status is not None:
                return
            if self._is_closed():
                self.status = SearchStatus.OPTIMAL
                return
            new += self.found(limit, results)
        if not new or self.n_rounds >= _MAX_ROUNDS:
            self.status = SearchStatus.APPROXIMATE
            return
        self.add(new)

    def _good_enough(self, limit: float) -> float:
        """Return a largest sum of forces, a little above the limit, that would close the proof.

        A sum that is larger by a fraction δ lowers the bound by δ times the limit times the weight.
        """
        spent = limit * self.restricted.total_weight
        if spent == 0.0:
            return limit
        room = self.risk.value_at_constant - self.risk.value(self.restricted.raw_predictions)
        return limit * (1.0 + max(0.25 * GAP * room / spent, 0.0))

    def prove_fewer(self) -> None:
        """Spend a search on each smaller number of rules, with the columns that there are.

        These searches do not change the status of the proof.
        """
        status = self.status
        is_open = status in (SearchStatus.OPTIMAL, SearchStatus.APPROXIMATE)
        if not isinstance(self.compared, EnsemblesOfSize) or not is_open or self.price == 0.0:
            return
        restricted = self.restricted
        weights, intercepts = restricted.weights, restricted.intercepts
        for n_terms in range(self.compared.n_terms - 1, 0, -1):
            self.status = None
            restricted.solve(self.compared.l2_regularization / n_terms)
            self._bound(self.pose())
            if self._is_stopped():
                break
        self.status = status
        restricted.weights, restricted.intercepts = weights, intercepts

    def _note_sizes(self, forces: Floats, largest_sum: float) -> None:
        """Keep forces that prove more than earlier ones for some numbers of rules."""
        if not isinstance(self.compared, EnsemblesOfSize) or self.compared.l2_regularization == 0.0:
            return
        conjugate = self.risk.conjugate
        largest = conjugate.largest_scale(forces)
        scales = [scale for scale in _MULTIPLES if scale <= largest]
        duals = [conjugate.approximate_value(forces, scale) for scale in scales]
        penalty = self.compared.l2_regularization
        for n_terms, (best, _, _) in enumerate(self.by_size):
            compared = EnsemblesOfSize(n_terms, penalty)
            gains = [compared.largest_gain(scale * largest_sum) for scale in scales]
            value = max(map(float.__sub__, duals, gains), default=0.0)
            if value > best:
                self.by_size[n_terms] = value, forces, largest_sum

    def _bounds_by_size(self) -> tuple[float, ...]:
        if not isinstance(self.compared, EnsemblesOfSize):
            return ()
        bounds = [self.best.value]
        for n_terms, (_, forces, largest_sum) in reversed([*enumerate(self.by_size)]):
            compared = EnsemblesOfSize(n_terms, self.compared.l2_regularization)
            value = lower_bound(self.risk, compared, forces, largest_sum, self.slopes.reach).value
            # A bound for more rules holds for fewer as well.
            bounds.append(max(value, bounds[-1]))
        return tuple(reversed(bounds))

    def proof(self) -> Proof:
        """Return the proof so far."""
        return Proof(
            bound=self.best,
            risk=self.risk,
            compared=self.compared,
            **self.scope,
            status=self.status or SearchStatus.INTERRUPTED,
            n_searches=self.n_searches,
            n_nodes=self.n_nodes,
            seconds=self.seconds,
            columns=tuple(self.used_columns()),
            bounds_by_size=self._bounds_by_size(),
            slopes=self.slopes.slopes,
            reach=self.slopes.reach,
        )

    def _solve(self) -> None:
        """Find the best weights of the columns, and the price at which they have a given sum."""
        if isinstance(self.compared, EnsemblesOfSize):
            self.restricted.solve(self.price)
            return
        if len(self.restricted.weights) == 0:
            return  # no price would change that
        wanted = self.compared.total_weight
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
        """Guess the price at which weights have the required sum, given their excess."""
        # If the loss did not depend on the weights, price times weight would stay the same.
        price = self.price * max(excess, 0.1) ** 2
        if below < price < above:
            return price
        if above == math.inf:
            return 2.0 * below
        return above / 4.0 if below == 0.0 else math.sqrt(below * above)

    def _bound(self, forces: Floats, cutoff: float = 0.0) -> list[SearchResult]:
        """Bound the sums of forces, and with them the compared ensembles."""
        results = self.search(cutoff, None if self.callback is None else self._report_search)
        largest_sum = self.largest_sum(results)
        self._note_sizes(forces, largest_sum)
        bound = lower_bound(self.risk, self.compared, forces, largest_sum, self.slopes.reach)
        if bound.value > self.best.value:
            self.best = bound
        return results

    def _is_stopped(self) -> bool:
        return self.status is not None

    def _is_closed(self) -> bool:
        """Check whether other forces could prove much more."""
        reached = self.risk.value(self.restricted.raw_predictions)
        if isinstance(self.compared, EnsemblesOfSize):
            reached += self.price / 2.0 * self.restricted.total_weight**2
        return reached - self.best.value <= GAP * (self.risk.value_at_constant - self.best.value)

    def report(self) -> None:
        """Call the callback, and check the limits."""
        if self.callback is not None and self.callback(self._progress()):
            self.status = self.status or SearchStatus.INTERRUPTED
        self.check_limits()

    def _report_search(self, search: SearchProgress) -> Any:
        assert self.callback is not None
        return self.callback(self._progress(search.n_nodes))

    def _progress(self, n_nodes: int = 0) -> ProofProgress:
        n_used = int((self.restricted.weights != 0.0).sum())
        return ProofProgress(
            self.best.value, self.n_rounds, n_used, self.n_nodes + n_nodes, self.seconds
        )


def _all_but_one(query: tuple[int, ...]) -> list[tuple[int, ...]]:
    """List a query without each of its conditions."""
    return [query[:place] + query[place + 1 :] for place in range(len(query))] or [()]
