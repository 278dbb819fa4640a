"""Column generation: the best ensemble of all conjunctions, found through a few of them.

`relaxation.restricted` solves a problem over some conjunctions. Over all of them, it has a solution
with few rules, too. Solve it over the columns so far; its forces then say which conjunctions are
missing, namely those with a larger sum of forces than the price of a weight. A beam search finds
such columns, and an exact search proves that there are none, or how large sums can be: every one
of these proofs is a bound for `relaxation.rivals`, whatever the columns are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from laconic._util.types import Floats
from laconic.boosting.certificate.comparison_class import (
    Bound,
    ComparisonClass,
    EnsemblesOfSize,
    lower_bound,
)
from laconic.boosting.certificate.pricing import Column, Pricing
from laconic.boosting.certificate.risk import TrainingRisk
from laconic.search import Extents, SearchProgress, SearchResult, SearchStatus
from laconic.terms.formatting import format_count, format_number

# Without need, but a proof that is stopped then has something to show.
ROUNDS_PER_SEARCH = 8
# A proof that leaves no more than this share of the best possible improvement open is good enough.
GAP = 1e-3
_MAX_ROUNDS = 400
# Multiples of forces that are tried before it is known for how many rules they serve.
_SCALES = (0.25, 0.5, 0.75, 1.0)


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

    def for_rivals(self, risk: TrainingRisk, rivals: ComparisonClass) -> Proof:
        """Bound other rivals, such as those of another total weight, by the same forces."""
        bound = lower_bound(risk, rivals, self.bound.forces, self.bound.largest_sum)
        return replace(self, bound=bound, bounds_by_size=())


def prove(
    extents: Extents,
    risk: TrainingRisk,
    rivals: ComparisonClass,
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
    rivals : EnsemblesOfWeight or EnsemblesOfSize
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
    limits = {"node_limit": node_limit, "time_limit": time_limit, "n_jobs": n_jobs}
    run = _Run(extents, risk, rivals, scope, callback, **limits)
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


class _Run(Pricing):
    """A proof while it is being found."""

    def __init__(
        self,
        extents: Extents,
        risk: TrainingRisk,
        rivals: ComparisonClass,
        scope: dict[str, Any],
        callback: Callable[[RelaxationProgress], Any] | None,
        **limits: Any,
    ) -> None:
        super().__init__(extents, risk, scope, **limits)
        self.rivals, self.callback = rivals, callback
        self.price = 0.0
        self.n_rounds = 0
        zeros = np.zeros(risk.shape)
        self.best = Bound(0.0, zeros, 0.0)
        # For each number of rules: what is proven, about, by which forces, and their largest sum.
        n_sizes = rivals.n_rules if isinstance(rivals, EnsemblesOfSize) else 0
        self.by_size = [(0.0, zeros, 0.0)] * n_sizes

    def start(self, columns: Iterable[Column]) -> None:
        """Prove what follows from the forces of a constant."""
        forces = self.pose()
        self.add(columns)
        self.add(self.beam(0.0))
        results = self._bound(forces)
        if isinstance(self.rivals, EnsemblesOfSize):
            if self.rivals.n_rules == 0 or self.rivals.l2_regularization == 0.0:
                self.status = self.status or SearchStatus.OPTIMAL
            else:
                self.price = self.rivals.l2_regularization / self.rivals.n_rules
        elif self.rivals.total_weight == 0.0:
            self.status = self.status or SearchStatus.OPTIMAL
        else:
            self.price = self.largest_sum(results) / self.rivals.total_weight / 4.0
        if not forces.any():
            self.status = self.status or SearchStatus.OPTIMAL

    def go_on(self) -> None:
        """Solve the problem over the columns so far, and look for further ones."""
        self.n_rounds += 1
        self._solve()
        self.forget()
        forces = self.pose()
        limit = self.price * self.restricted.total_weight
        new = self.beam(limit)
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
        """Tell a largest sum of forces that would close the proof, a little above the price.

        Were it larger by a share δ, the bound would fall by δ times the price times the weight.
        """
        spent = limit * self.restricted.total_weight
        if spent == 0.0:
            return limit
        room = self.risk.value_at_constant - self.risk.value(self.restricted.raw_predictions)
        return limit * (1.0 + max(0.25 * GAP * room / spent, 0.0))

    def prove_fewer(self) -> None:
        """Spend a search on each smaller number of rules, with the columns that there are.

        Unlike others, these searches do not decide how the proof has ended.
        """
        status = self.status
        is_open = status in (SearchStatus.OPTIMAL, SearchStatus.APPROXIMATE)
        if not isinstance(self.rivals, EnsemblesOfSize) or not is_open or self.price == 0.0:
            return
        restricted = self.restricted
        weights, intercepts = restricted.weights, restricted.intercepts
        for n_rules in range(self.rivals.n_rules - 1, 0, -1):
            self.status = None
            restricted.solve(self.rivals.l2_regularization / n_rules)
            self._bound(self.pose())
            if self._is_stopped():
                break
        self.status = status
        restricted.weights, restricted.intercepts = weights, intercepts

    def _note_sizes(self, forces: Floats, largest_sum: float) -> None:
        """Remember forces that prove more than others of some numbers of rules."""
        if not isinstance(self.rivals, EnsemblesOfSize) or self.rivals.l2_regularization == 0.0:
            return
        conjugate = self.risk.conjugate
        largest = conjugate.largest_scale(forces)
        scales = [scale for scale in _SCALES if scale <= largest]
        duals = [conjugate.approximate_value(forces, scale) for scale in scales]
        penalty = self.rivals.l2_regularization
        for n_rules, (best, _, _) in enumerate(self.by_size):
            rivals = EnsemblesOfSize(n_rules, penalty)
            help_of_rules = [rivals.largest_help(scale * largest_sum) for scale in scales]
            value = max(map(float.__sub__, duals, help_of_rules), default=0.0)
            if value > best:
                self.by_size[n_rules] = value, forces, largest_sum

    def _bounds_by_size(self) -> tuple[float, ...]:
        if not isinstance(self.rivals, EnsemblesOfSize):
            return ()
        bounds = [self.best.value]
        for n_rules, (_, forces, largest_sum) in reversed([*enumerate(self.by_size)]):
            rivals = EnsemblesOfSize(n_rules, self.rivals.l2_regularization)
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
            self.seconds,
            tuple(self.used_columns()),
            self._bounds_by_size(),
        )

    def _solve(self) -> None:
        """Find the best weights of the columns; for rivals of a total weight, at its price."""
        if isinstance(self.rivals, EnsemblesOfSize):
            self.restricted.solve(self.price)
            return
        if len(self.restricted.weights) == 0:
            return  # which no price would change
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

    def _bound(self, forces: Floats, cutoff: float = 0.0) -> list[SearchResult]:
        """Bound the sums of forces, and with them the rivals."""
        results = self.search(cutoff, None if self.callback is None else self._tell)
        largest_sum = self.largest_sum(results)
        self._note_sizes(forces, largest_sum)
        bound = lower_bound(self.risk, self.rivals, forces, largest_sum)
        if bound.value > self.best.value:
            self.best = bound
        return results

    def _is_stopped(self) -> bool:
        return self.status is not None

    def _is_closed(self) -> bool:
        """Tell whether other forces could prove hardly more."""
        reached = self.risk.value(self.restricted.raw_predictions)
        if isinstance(self.rivals, EnsemblesOfSize):
            reached += self.price / 2.0 * self.restricted.total_weight**2
        return reached - self.best.value <= GAP * (self.risk.value_at_constant - self.best.value)

    def ask(self) -> None:
        """Let the caller see how far the proof has come, and look at the clock."""
        if self.callback is not None and self.callback(self._progress()):
            self.status = self.status or SearchStatus.INTERRUPTED
        self.check_limits()

    def _tell(self, search: SearchProgress) -> Any:
        assert self.callback is not None
        return self.callback(self._progress(search.n_nodes))

    def _progress(self, n_nodes: int = 0) -> RelaxationProgress:
        n_used = int((self.restricted.weights != 0.0).sum())
        return RelaxationProgress(
            self.best.value, self.n_rounds, n_used, self.n_nodes + n_nodes, self.seconds
        )
