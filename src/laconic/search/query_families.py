"""The queries that a rule may have, where not all conjunctions are allowed.

A :class:`Family` is a set of conditions, all conjunctions of which are allowed, with the sign
that the weights of its rules have. Limits on what goes together come down to families: a query is
allowed if some family holds all of its conditions. The best query is then the best of all
families, each searched by itself, and no query is worth more than the largest of their bounds.

Groups of conditions may have a price that a query pays once if it has any of them. What counts is
the objective less the prices. A search without regard to prices bounds that from above; if its
query has to pay for a group, either all queries pay for it, or none has it: two narrower searches,
of which the first is already known.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias
from weakref import WeakKeyDictionary

from laconic._core import Extents, ExtentsBuilder
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import SearchResult, SearchStatus

Search = Callable[[SearchProblem, SearchLimits], SearchResult]
Groups: TypeAlias = frozenset[frozenset[int]]

_STOPS = (SearchStatus.INTERRUPTED, SearchStatus.TIME_LIMIT, SearchStatus.NODE_LIMIT)

_KNOWN_PARTS: WeakKeyDictionary[Extents, dict[tuple[int, ...], Extents]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Family:
    """Conditions of which all conjunctions are allowed."""

    conditions: tuple[int, ...]
    """Their indices, ascending."""
    sign: int = 0
    """Sign of the weights of these rules; 0 for either."""


@dataclass(frozen=True)
class QueryFamilies:
    """The queries that a rule may have, and what they cost."""

    families: tuple[Family, ...]
    prices: Mapping[frozenset[int], float] = field(default_factory=dict)
    """What a query pays, in units of the objective, if it has any of these conditions."""

    def price(self, query: Sequence[int]) -> float:
        """Add up what a query pays."""
        return sum(price for group, price in self.prices.items() if not group.isdisjoint(query))


def search_allowed(
    problem: SearchProblem,
    allowed: QueryFamilies,
    limits: SearchLimits,
    search: Search,
) -> SearchResult:
    """Find the best query of all that are allowed.

    Of several best ones the result is the one with the fewest conditions, and of several of those
    the lexicographically first, if that is what the search gives for each family.

    Parameters
    ----------
    problem : SearchProblem
        With all conditions.
    allowed : QueryFamilies
    limits : SearchLimits
        A time limit, or a number of nodes, holds for all families together; "auto" for each.
    search : callable
        Searches a problem within limits.

    Returns
    -------
    SearchResult
        Objective and bound are those after prices.

    Examples
    --------
    Two conditions that may not stand together:

    >>> from laconic.search.reference import search_reference
    >>> extents = [[True, True, False, False], [False, True, True, False]]
    >>> problem = SearchProblem(extents, [1, -3, 1, 0], [1, 1, 1, 1], l2_regularization=1.0)
    >>> apart = QueryFamilies((Family((0,)), Family((1,))))
    >>> search_allowed(problem, apart, SearchLimits(), search_reference).query
    (0,)
    """
    if allowed.prices:
        # A share of the objective says nothing about what prices leave of it.
        limits = dataclasses.replace(limits, approximation_factor=1.0)
    run = _Run(problem, allowed, limits, search)
    for number, family in enumerate(allowed.families):
        run.look_at(family, n_left=len(allowed.families) - number)
        if run.is_interrupted and number + 1 < len(allowed.families):
            run.bound = math.inf  # nobody has looked at the others
            break
    run.branch()
    return run.result()


@dataclass(frozen=True)
class _Found:
    """The best query of a family, as its own search gives it."""

    problem: SearchProblem
    conditions: tuple[int, ...]
    result: SearchResult

    @property
    def query(self) -> tuple[int, ...]:
        return self.in_problem(self.result.query)

    def in_problem(self, query: Iterable[int]) -> tuple[int, ...]:
        """Take a query of the family in the conditions of the whole problem."""
        return tuple(self.conditions[p] for p in query)


@dataclass(frozen=True)
class _Node:
    """Queries of a family; all of them pay for some groups, and they have none of some others."""

    family: Family
    absent: Groups
    paid: Groups
    found: _Found


class _Run:
    """All searches of one problem together."""

    def __init__(
        self, problem: SearchProblem, allowed: QueryFamilies, limits: SearchLimits, search: Search
    ) -> None:
        self.problem, self.allowed, self.limits, self.search = problem, allowed, limits, search
        self.deadline = (
            None if limits.time_limit is None else time.perf_counter() + limits.time_limit
        )
        self.best: _Found | None = None
        self.best_key: tuple[float, int, tuple[int, ...]] = (math.inf, 0, ())
        self.open: list[tuple[float, int, _Node]] = []
        self.number = itertools.count()
        self.bound = -math.inf
        self.counters: Counter[str] = Counter()
        self.stops: set[SearchStatus] = set()
        self.is_heuristic = False
        self.branchings: list[str | None] = []
        self.node_limit: int | None = 0

    @property
    def value(self) -> float:
        """Objective of the best query so far, after prices."""
        return -self.best_key[0]

    @property
    def is_interrupted(self) -> bool:
        return SearchStatus.INTERRUPTED in self.stops

    def look_at(
        self,
        family: Family,
        absent: Groups = frozenset(),
        paid: Groups = frozenset(),
        n_left: int = 1,
    ) -> None:
        """Search among the queries of a family that have none of some groups."""
        without = frozenset().union(*absent)
        conditions = tuple(p for p in family.conditions if p not in without)
        part = self.problem
        if len(conditions) < self.problem.n_candidates or family.sign != 0:
            extents = part_of(self.problem.extents, conditions)
            part = self.problem.restricted(extents, family.sign)
        result = self.search(part, self._limits(n_left))
        self.counters.update(result.counters)
        self.branchings.append(result.branching)
        if self.node_limit is not None:
            limit = result.node_limit
            self.node_limit = None if limit is None else self.node_limit + limit
        if result.status in _STOPS:
            self.stops.add(result.status)
        self.is_heuristic |= result.status is SearchStatus.HEURISTIC
        found = _Found(part, conditions, result)
        self._offer(found)
        self._open(_Node(family, absent, paid, found))

    def _limits(self, n_left: int) -> SearchLimits:
        """Give a search its share of what is left."""
        limits = self.limits
        if isinstance(limits.node_limit, int):
            n_nodes = limits.node_limit - self.counters["nodes"]
            limits = dataclasses.replace(limits, node_limit=max(n_nodes // n_left, 1))
        if self.deadline is not None:
            # A search needs some time, if only to look at the clock.
            seconds = max((self.deadline - time.perf_counter()) / n_left, 1e-3)
            limits = dataclasses.replace(limits, time_limit=seconds)
        return limits

    def _offer(self, found: _Found) -> None:
        query = found.query
        value = found.result.objective_value - self.allowed.price(query)
        key = (-value, len(query), query)
        if self.best is None or key < self.best_key:
            self.best, self.best_key = found, key

    def _open(self, node: _Node) -> None:
        """Keep a node whose query pays for more than all of its queries do."""
        # In the order in which the price of a query is added up.
        prices = self.allowed.prices.items()
        bound = node.found.result.bound - sum(p for group, p in prices if group in node.paid)
        if self._unpaid(node) is None:
            self.bound = max(self.bound, bound)
        else:
            heapq.heappush(self.open, (-bound, next(self.number), node))

    def _unpaid(self, node: _Node) -> frozenset[int] | None:
        """Find the dearest group that the query of a node has, and the node does not pay for."""
        unpaid = [
            (price, group)
            for group, price in self.allowed.prices.items()
            if price > 0.0 and group not in node.paid and not group.isdisjoint(node.found.query)
        ]
        return max(unpaid, key=lambda entry: (entry[0], -min(entry[1])))[1] if unpaid else None

    def branch(self) -> None:
        """Divide families by what their queries pay for, until the best one is known.

        A heuristic search, whose bounds hardly ever rule a part out, divides once per price.
        """
        n_left = len(self.allowed.prices) if self.is_heuristic else math.inf
        while self.open and -self.open[0][0] >= self.value and not self.stops and n_left > 0:
            n_left -= 1
            _, _, node = heapq.heappop(self.open)
            group = self._unpaid(node)
            assert group is not None  # or it would not be open
            self._open(dataclasses.replace(node, paid=node.paid | {group}))
            self.look_at(node.family, node.absent | {group}, node.paid)

    def result(self) -> SearchResult:
        """Sum up what all searches have shown."""
        assert self.best is not None  # there is a family at least
        query, value = self.best.in_problem(self.best.result.query), self.value
        bound = max(self.bound, *(-bound for bound, _, _ in self.open), value)
        return SearchResult(
            query=query,
            objective_value=value,
            bound=bound,
            status=self._status(value, bound),
            counters=dict(self.counters),
            branching=self.branchings[0] if len(set(self.branchings)) == 1 else None,
            node_limit=self.node_limit,
        )

    def _status(self, value: float, bound: float) -> SearchStatus:
        if self.is_heuristic and not self.stops:
            return SearchStatus.HEURISTIC
        if bound <= value and not self.is_interrupted:
            return SearchStatus.OPTIMAL
        return next((stop for stop in _STOPS if stop in self.stops), SearchStatus.APPROXIMATE)


def part_of(extents: Extents, conditions: tuple[int, ...]) -> Extents:
    """Take some conditions; asked again, the answer is the same object."""
    if len(conditions) == extents.n_candidates:
        return extents
    known = _KNOWN_PARTS.setdefault(extents, {})
    if conditions not in known:
        builder = ExtentsBuilder(extents.n_rows)
        for condition in conditions:
            builder.add(extents.covered([condition]))
        known[conditions] = builder.build()
    return known[conditions]
