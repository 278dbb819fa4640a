"""The queries that a rule may have, where not all conjunctions are allowed.

A :class:`Family` is a set of conditions, all conjunctions of which are allowed, with the sign
that the weights of its rules have. Constraints on what may be combined come down to families: a
query is allowed if some family holds all of its conditions. The best query is then the best of all
families, each searched separately, and no query is worth more than the largest of their bounds.

Groups of conditions may have a cost that a query pays once if it has any of them. What counts is
the objective less the costs. A search that ignores costs bounds that from above; if its query
has to pay for a group, either all queries pay for it, or none has it: two narrower searches, of
which the first is already known.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

from laconic._core import Extents, ExtentsBuilder
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import SearchResult, SearchStatus, rank

Search = Callable[[SearchProblem, SearchLimits], SearchResult]
Groups: TypeAlias = frozenset[frozenset[int]]

_STOPS = (SearchStatus.INTERRUPTED, SearchStatus.TIME_LIMIT, SearchStatus.NODE_LIMIT)

# A bound that is the cutoff may exceed it by so much.
_ROUNDING = 1e-10

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
    costs: Mapping[frozenset[int], float] = field(default_factory=dict)
    """What a query pays, in units of the objective, if it has any of these conditions."""

    def cost(self, query: Sequence[int]) -> float:
        """Compute the total cost of a query."""
        return sum(cost for group, cost in self.costs.items() if not group.isdisjoint(query))


def search_families(
    problem: SearchProblem,
    families: QueryFamilies,
    limits: SearchLimits,
    search: Search,
) -> SearchResult:
    """Find the best query of all families.

    Of several best ones the result is the one with the fewest conditions, and of several of those
    the lexicographically first, if that is what the search gives for each family.

    Parameters
    ----------
    problem : SearchProblem
        With all conditions.
    families : QueryFamilies
    limits : SearchLimits
        A time limit, or a number of nodes, holds for all families together; "auto" for each. What
        is not above the cutoff before costs is not above it after them.
    search : callable
        Searches a problem within limits.

    Returns
    -------
    SearchResult
        Objective and bound are those after costs.

    Examples
    --------
    Two conditions that may not be combined:

    >>> from laconic.search.reference import search_reference
    >>> extents = [[True, True, False, False], [False, True, True, False]]
    >>> problem = SearchProblem(extents, [1, -3, 1, 0], [1, 1, 1, 1], l2_regularization=1.0)
    >>> apart = QueryFamilies((Family((0,)), Family((1,))))
    >>> search_families(problem, apart, SearchLimits(), search_reference).query
    (0,)
    """
    if families.costs:
        # A fraction of the objective says nothing about what costs leave of it.
        limits = replace(limits, approximation_factor=1.0)
    run = _Run(problem, families, limits, search)
    n_families = len(families.families)
    for number, family in enumerate(families.families):
        run.look_at(family, n_left=n_families - number)
        if (run.is_interrupted or run.is_enough) and number + 1 < n_families:
            run.bound = math.inf  # the other families were not searched
            break
    run.branch()
    return run.result()


@dataclass(frozen=True)
class _Node:
    """Queries of a family; all of them pay for some groups, and they have none of some others."""

    family: Family
    absent: Groups
    paid: Groups
    query: tuple[int, ...]
    """The best one by its search, which ignores costs."""
    bound: float
    """Before costs."""


class _Run:
    """All searches of one problem together."""

    def __init__(
        self, problem: SearchProblem, families: QueryFamilies, limits: SearchLimits, search: Search
    ) -> None:
        self.problem, self.families, self.limits, self.search = problem, families, limits, search
        self.deadline = limits.deadline()
        self.cutoff = -math.inf if limits.cutoff is None else limits.cutoff
        self.best = rank((), -math.inf)
        self.open: list[tuple[float, int, _Node]] = []
        self.number = itertools.count()
        self.bound = -math.inf
        self.results: list[SearchResult] = []
        self.counters: Counter[str] = Counter()

    @property
    def value(self) -> float:
        """Objective of the best query so far, after costs."""
        return -self.best[0]

    @property
    def stop(self) -> SearchStatus | None:
        """Why some search was stopped; None if none was."""
        statuses = {result.status for result in self.results}
        return next((stop for stop in _STOPS if stop in statuses), None)

    @property
    def is_interrupted(self) -> bool:
        return self.stop is SearchStatus.INTERRUPTED

    @property
    def is_enough(self) -> bool:
        """Whether a query above the cutoff was all that was wanted, and there is one."""
        return self.limits.stop_above_cutoff and self.value > self.cutoff

    @property
    def is_heuristic(self) -> bool:
        return any(result.status is SearchStatus.HEURISTIC for result in self.results)

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
        limits = self.limits.until(self.deadline, n_left)
        if self.families.costs:  # a gain above the cutoff says nothing about what costs leave of it
            limits = replace(limits, stop_above_cutoff=False)
        if isinstance(limits.node_limit, int):
            n_nodes = limits.node_limit - self.counters["nodes"]
            limits = replace(limits, node_limit=max(n_nodes // n_left, 1))
        result = self.search(part, limits)
        self.results.append(result)
        self.counters.update(result.counters)
        query = tuple(conditions[p] for p in result.query)
        value = result.objective_value - self.families.cost(query)
        self.best = min(self.best, rank(query, value))
        self._open(_Node(family, absent, paid, query, result.bound))

    def _open(self, node: _Node) -> None:
        """Keep a node whose query pays for more than all of its queries do."""
        # In the order in which the cost of a query is added up.
        costs = self.families.costs.items()
        bound = node.bound - sum(p for group, p in costs if group in node.paid)
        if self._unpaid(node) is None:
            self.bound = max(self.bound, bound)
        else:
            heapq.heappush(self.open, (-bound, next(self.number), node))

    def _unpaid(self, node: _Node) -> frozenset[int] | None:
        """Find the dearest group that the query of a node has, and the node does not pay for."""
        unpaid = [
            (cost, group)
            for group, cost in self.families.costs.items()
            if cost > 0.0 and group not in node.paid and not group.isdisjoint(node.query)
        ]
        return max(unpaid, key=lambda entry: (entry[0], -min(entry[1])))[1] if unpaid else None

    def branch(self) -> None:
        """Divide families by what their queries pay for, until the best one is known.

        A heuristic search, whose bounds hardly ever rule a part out, divides once per cost.
        """
        n_left = len(self.families.costs) if self.is_heuristic else math.inf
        while self.open and not self.stop and not self.is_enough and n_left > 0:
            if -self.open[0][0] < self.value or -self.open[0][0] <= self.cutoff:
                break
            n_left -= 1
            _, _, node = heapq.heappop(self.open)
            group = self._unpaid(node)
            assert group is not None  # or it would not be open
            self._open(replace(node, paid=node.paid | {group}))
            self.look_at(node.family, node.absent | {group}, node.paid)

    def result(self) -> SearchResult:
        """Combine the results of all searches."""
        bound = max(self.bound, self.value, *(-bound for bound, _, _ in self.open))
        branchings = {result.branching for result in self.results}
        node_limits = [result.node_limit for result in self.results]
        return SearchResult(
            query=self.best[-1],
            objective_value=self.value,
            bound=bound,
            status=self._status(bound),
            counters=dict(self.counters),
            branching=branchings.pop() if len(branchings) == 1 else None,
            node_limit=None if None in node_limits else sum(filter(None, node_limits)),
        )

    def _status(self, bound: float) -> SearchStatus:
        if self.is_heuristic and not self.stop:
            return SearchStatus.HEURISTIC
        if bound <= self.value and not self.is_interrupted:
            return SearchStatus.OPTIMAL
        is_cut = self.is_enough or bound <= self.cutoff * (1.0 + _ROUNDING)
        return self.stop or (SearchStatus.CUTOFF if is_cut else SearchStatus.APPROXIMATE)


def part_of(extents: Extents, conditions: tuple[int, ...]) -> Extents:
    """Return the extents of some conditions; asked again, the same object."""
    if len(conditions) == extents.n_candidates:
        return extents
    known = _KNOWN_PARTS.setdefault(extents, {})
    if conditions not in known:
        builder = ExtentsBuilder(extents.n_rows)
        for condition in conditions:
            builder.add(extents.covered([condition]))
        known[conditions] = builder.build()
    return known[conditions]
