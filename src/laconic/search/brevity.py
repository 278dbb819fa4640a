"""Brevity: queries judged by what they gain for their length.

The value of a query of k conditions is (gain − c_k) / (1 + k)^β: the gain less what the best of all
queries of that length would gain by chance, per unit of size to some power. Both prices depend on
the length alone, and neither falls with it. So the best value is the largest, over all lengths k,
of that of the best gain with at most k conditions: a query that is shorter than k is worth more at
its own length. Each of these is an ordinary search. What is known by then is a cutoff for it: to be
better than a value v, a query of k conditions must gain more than v (1 + k)^β + c_k.

The lengths end by themselves. If no query at all gains more than U, the value of longer ones is at
most (U − c_k) / (1 + k)^β, which falls until it is not above the best one found.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from laconic._util.checks import require
from laconic.search.budget import MAX_CONDITIONS_IN_A_TABLE, choose_branching
from laconic.search.joint_bound import joint_bound
from laconic.search.joint_objective import IMITATED
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.reference import descending_ratios, objective_bound
from laconic.search.results import Callback, SearchProgress, SearchResult, SearchStatus, rank

Search = Callable[[SearchProblem, SearchLimits], SearchResult]

# Gains of the joint objective are rounded to 30 binary digits: those of two lengths may be apart by
# this share although they are worth the same.
_ROUNDING = 2.0**-29
# Up to this length, a search for each is cheap, compared with one for all of them.
_CHEAP_CONDITIONS = 3

_STOPS = (SearchStatus.INTERRUPTED, SearchStatus.TIME_LIMIT, SearchStatus.NODE_LIMIT)


@dataclass(frozen=True)
class Pricing:
    """The price of a query's length.

    Parameters
    ----------
    brevity : float, default=0.0
        The power β of the size, which is 1 + the number of conditions.
    noise : float, default=0.0
        What chance is worth, in units of the gain: k conditions cost this times log C(n_candidates,
        k), but at least times log 2, as a single query gains something by chance, too. From half of
        the candidates on the cost stays the same, so that a longer query never costs less.
    n_candidates : int, default=0
        How many conditions there are to choose from.

    Examples
    --------
    >>> pricing = Pricing(brevity=1.0)
    >>> pricing.value(0.75, 2), pricing.gain(0.25, 3)
    (0.25, 1.0)
    """

    brevity: float = 0.0
    noise: float = 0.0
    n_candidates: int = 0

    def __post_init__(self) -> None:
        for name in ("brevity", "noise"):
            price = getattr(self, name)
            is_price = math.isfinite(price) and price >= 0
            require(is_price, name, "a finite number in the range [0, inf)", price)

    @property
    def is_free(self) -> bool:
        """Whether a value is the gain itself."""
        return self.brevity == 0.0 and self.noise == 0.0

    def value(self, gain: float, n_conditions: int) -> float:
        """Return the value of a gain at a length; never negative."""
        size = self._size(n_conditions)
        return 0.0 if math.isinf(size) else max(gain - self._cost(n_conditions), 0.0) / size

    def gain(self, value: float, n_conditions: int) -> float:
        """Return the gain that a value needs at a length."""
        needed = value * self._size(n_conditions) if value > 0.0 else 0.0
        return needed + self._cost(n_conditions)

    def _size(self, n_conditions: int) -> float:
        try:
            return float((1.0 + n_conditions) ** self.brevity)
        except OverflowError:
            return math.inf

    def _cost(self, n_conditions: int) -> float:
        n = self.n_candidates
        k = min(n_conditions, n // 2)
        n_queries = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        return self.noise * max(n_queries, math.log(2.0))


def search_lengths(
    problem: SearchProblem,
    limits: SearchLimits,
    pricing: Pricing,
    make_search: Callable[[Callback | None], Search],
    *,
    callback: Callback | None = None,
    n_best: int = 1,
    has_cutoffs: bool = True,
) -> SearchResult:
    """Find the query of the largest value, length by length.

    Of several best queries the result is the one with the fewest conditions, and of several of
    those the one that the search gives. A longer query must be better by more than rounding errors.

    Parameters
    ----------
    problem : SearchProblem
    limits : SearchLimits
        A time limit, or a number of nodes, holds for all lengths together; "auto" for each. The
        cutoff is a value.
    pricing : Pricing
    make_search : callable
        Makes a search for the largest gain, which calls a callback.
    callback : callable, default=None
        Is told values, of all lengths together.
    n_best : int, default=1
        How many queries the search lists.
    has_cutoffs : bool, default=True
        Whether the search takes cutoffs.

    Returns
    -------
    SearchResult
        Objective and bound are values.

    Examples
    --------
    The second condition adds a little to what the first one gains, but not half of it.

    >>> from laconic.search.reference import search_reference
    >>> extents = [[True, True, True, False, False], [True, True, False, True, False]]
    >>> problem = SearchProblem(extents, [-3, -3, 0, 1, 5], np.ones(5), l2_regularization=1.0)
    >>> search_reference(problem, SearchLimits()).query
    (0, 1)
    >>> search_lengths(
    ...     problem, SearchLimits(), Pricing(brevity=1.0), lambda callback: search_reference
    ... ).query
    (0,)
    """
    if pricing.noise > 0.0:
        # A fraction of the gain says nothing about what chance leaves of it.
        limits = replace(limits, approximation_factor=1.0)
    run = _Run(problem, limits, pricing, n_best, has_cutoffs, callback)
    run.go_through_lengths(make_search(None if callback is None else run.tell))
    return run.result()


@dataclass(frozen=True)
class _Found:
    """A query with its gain and its value."""

    query: tuple[int, ...] = ()
    gain: float = 0.0
    value: float = 0.0


class _Run:
    """The searches for all lengths together."""

    def __init__(
        self,
        problem: SearchProblem,
        limits: SearchLimits,
        pricing: Pricing,
        n_best: int,
        has_cutoffs: bool,
        callback: Callback | None,
    ) -> None:
        self.problem, self.limits, self.pricing = problem, limits, pricing
        self.n_best, self.has_cutoffs, self.callback = n_best, has_cutoffs, callback
        self.longest = problem.n_candidates
        if limits.max_conditions is not None:
            self.longest = min(self.longest, limits.max_conditions)
        self.started, self.deadline = time.perf_counter(), limits.deadline()
        self.length = 0  # the first one that is open
        self.best = _Found()
        self.closed: list[tuple[int, float]] = []  # lengths, and the most that they gain
        self.rest: SearchResult | None = None  # of one search for all lengths that were open then
        self.reserve = _Found()  # its query
        self.most = math.inf  # that any query gains
        self.reached = 0.0  # the largest gain so far
        self.listed: dict[bytes, _Found] = {}  # by extents, if several are wanted
        self.is_listing = n_best > 1
        self.results: list[SearchResult] = []
        self.counters: Counter[str] = Counter()
        self.stop: SearchStatus | None = None

    def go_through_lengths(self, search: Search) -> None:
        """Search all lengths that can matter, as far as the limits allow.

        Sets: all but what was given.
        """
        n_cheap = self._n_cheap()
        last: tuple[int, ...] | None = None
        while self.length <= self.longest and not self._is_settled() and not self._is_over():
            if n_cheap < self.length < self.longest and self.rest is None:
                self.most = self._ceiling()
                if not self._is_settled():
                    self.rest = self._take(search, self.limits.max_conditions)
                    self.reserve = self._found(self.rest.query, self.rest.objective_value)
                    self.most = min(self.most, self.rest.bound)
                continue
            result = self._take(search, self.length)
            found = self._found(result.query, result.objective_value)
            self.best = self._better(found)
            self.closed.append((self.length, result.bound))
            self.length += 1
            if result.status is SearchStatus.HEURISTIC:
                if result.query == last:
                    return
                n_cheap = self.longest  # to search all lengths at once would prove nothing
            elif result.status is SearchStatus.NODE_LIMIT:
                n_cheap = 0  # the others are too much as well: all at once
            last = result.query

    def tell(self, progress: SearchProgress) -> object:
        """Call the callback with the progress of all searches together."""
        assert self.callback is not None
        self.reached = max(self.reached, progress.objective_value)
        bound = max(self._bound(), self.pricing.value(progress.bound, self.length))
        if self.length < self.longest:
            bound = max(bound, self.pricing.value(self._ceiling(), self.length + 1))
        return self.callback(
            replace(
                progress,
                objective_value=self._better(self.reserve).value,
                bound=bound,
                n_nodes=self.counters["nodes"] + progress.n_nodes,
                seconds=time.perf_counter() - self.started,
            )
        )

    def result(self) -> SearchResult:
        """Combine the results of all searches."""
        self.best = self._better(self.reserve)
        if self.length <= self.longest:
            self.closed.append((self.length, self.most))
        bound = self._bound()
        if bound > max(self.best.value, self.limits.cutoff or 0.0):
            self.most = self._ceiling()
            bound = self._bound()
        node_limits = [result.node_limit for result in self.results]
        # Lengths that are looked at in tables have none.
        node_limit = sum(filter(None, node_limits)) or None
        return SearchResult(
            query=self.best.query,
            objective_value=self.best.value,
            bound=bound,
            status=self._status(bound),
            counters=dict(self.counters),
            queries=self._queries(),
            branching=self.results[-1].branching,
            node_limit=node_limit if self.limits.node_limit == "auto" else self.limits.node_limit,
        )

    def _n_cheap(self) -> int:
        """Return the length up to which a search for each is cheap, compared with one for all."""
        n, problem = MAX_CONDITIONS_IN_A_TABLE, self.problem
        if problem.n_components > 0 and self.longest > n:
            is_limited = self.limits.node_limit is not None
            branching = choose_branching(problem.extents, n, is_joint=True, is_limited=is_limited)
            return n if branching == "tables" else _CHEAP_CONDITIONS
        return _CHEAP_CONDITIONS

    def _is_settled(self) -> bool:
        """Check whether no query of an open length can matter."""
        known = self._known() / self.limits.approximation_factor
        least = max(known, self.limits.cutoff or 0.0)
        needed = self.pricing.gain(least, self.length)
        return math.isinf(needed) or self.most <= needed * (1.0 + 2.0 * _ROUNDING)

    def _is_over(self) -> bool:
        """Check whether a limit ends the search.

        Sets: stop.
        """
        status = self.results[-1].status if self.results else None
        limit, is_shared = self.limits.node_limit, self.limits.node_limit != "auto"
        if status in (SearchStatus.INTERRUPTED, SearchStatus.TIME_LIMIT) or (
            status is SearchStatus.NODE_LIMIT and (is_shared or self.rest is not None)
        ):
            self.stop = status
        elif isinstance(limit, int) and self.counters["nodes"] >= limit:
            self.stop = SearchStatus.NODE_LIMIT
        elif self.deadline is not None and self.results and time.perf_counter() > self.deadline:
            self.stop = SearchStatus.TIME_LIMIT
        is_found = self._better(self.reserve).value > (self.limits.cutoff or 0.0)
        return self.stop is not None or (self.limits.stop_above_cutoff and is_found)

    def _take(self, search: Search, max_conditions: int | None) -> SearchResult:
        """Search the queries of some lengths for gains that matter from the first open length on.

        Sets: results, counters, reached, listed, is_listing.
        """
        limits = replace(
            self.limits.until(self.deadline),
            max_conditions=max_conditions,
            cutoff=None,
            stop_above_cutoff=False,
        )
        if isinstance(limits.node_limit, int):
            n_left = limits.node_limit - self.counters["nodes"]
            limits = replace(limits, node_limit=n_left)
        needed = self._needed()
        if self.has_cutoffs and needed > 0.0:
            limits = replace(limits, cutoff=needed, stop_above_cutoff=self.limits.stop_above_cutoff)
        result = search(self.problem, limits)
        self.results.append(result)
        self.counters.update(result.counters)
        self.reached = max(self.reached, result.objective_value)
        if self.is_listing:
            for query in result.queries:
                found = self._found(query, self.problem.objective(query))
                self.listed.setdefault(np.packbits(self.problem.covered(query)).tobytes(), found)
            # Some searches know one query.
            self.is_listing = bool(result.queries) or result.objective_value <= needed
        return result

    def _needed(self) -> float:
        """Return what a query must gain to matter from the first open length on."""
        gain = self.pricing.gain
        # What is about as good as a longer query, or as others on a list, matters too.
        needed = max(
            gain(self.limits.cutoff or 0.0, self.length),
            gain(self._known(), self.length) * (1.0 - 4.0 * _ROUNDING),
        )
        if not self.is_listing:
            needed = max(needed, gain(self.best.value, self.length) * (1.0 + _ROUNDING))
        return needed

    def _known(self) -> float:
        """Return the value that others must exceed, but for rounding."""
        if not self.is_listing:
            return self._better(self.reserve).value
        values = sorted((found.value for found in self.listed.values()), reverse=True)
        return values[self.n_best - 1] if len(values) >= self.n_best else 0.0

    def _found(self, query: tuple[int, ...], gain: float) -> _Found:
        return _Found(query, gain, self.pricing.value(gain, len(query)))

    def _better(self, found: _Found) -> _Found:
        """Return a query if it is better than the best one by more than rounding, else that one."""
        needed = self.pricing.gain(self.best.value, len(found.query))
        return found if found.gain > needed * (1.0 + _ROUNDING) else self.best

    def _ceiling(self) -> float:
        """Bound the gain of all queries from the rows alone.

        Sets: most, once some gain is reached.
        """
        if math.isfinite(self.most):
            return self.most
        problem, hessians = self.problem, self.problem.hessians
        if problem.projections is not None:
            hessians = IMITATED * hessians
        order = descending_ratios(problem.gradients, hessians)
        value = objective_bound(
            problem.gradients[order], hessians[order], problem.l2_regularization, 0.5
        )
        bound = problem.objective_of(value * (1.0 + _ROUNDING))
        if self.reached > 0.0:
            self.most = bound = min(bound, joint_bound(problem, self.reached))
        return bound

    def _bound(self) -> float:
        """Bound the values of all queries of closed lengths."""
        bound = self.best.value
        for length, gain in self.closed:
            value = self.pricing.value(min(gain, self.most), length)
            for known in (self.best.value, self.limits.cutoff or 0.0):
                if gain <= self.pricing.gain(known, length) * (1.0 + 2.0 * _ROUNDING):
                    value = known
                    break
            bound = max(bound, value)
        return bound

    def _status(self, bound: float) -> SearchStatus:
        statuses = {result.status for result in self.results}
        stop = self.stop or next((stop for stop in _STOPS if stop in statuses), None)
        is_limited = stop not in (None, SearchStatus.NODE_LIMIT)
        if SearchStatus.HEURISTIC in statuses and not is_limited:
            # Limits on nodes have no effect on heuristics.
            return SearchStatus.HEURISTIC
        if bound <= self.best.value:
            return SearchStatus.OPTIMAL
        if stop is not None:
            return stop
        cutoff = self.limits.cutoff
        is_cut = cutoff is not None and (self.limits.stop_above_cutoff or bound <= cutoff)
        return SearchStatus.CUTOFF if is_cut else SearchStatus.APPROXIMATE

    def _queries(self) -> tuple[tuple[int, ...], ...]:
        """List the best queries, if several are wanted and known."""
        if not self.is_listing:
            return ()
        least = max(self.limits.cutoff or 0.0, 0.0)
        found = [each for each in self.listed.values() if each.value > least]
        found.sort(key=lambda each: (each.query != self.best.query, *rank(each.query, each.value)))
        return tuple(each.query for each in found[: self.n_best])
