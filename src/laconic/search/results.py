"""What a search gives back, and what can be seen of it while it runs.

A :class:`SearchResult` is a query with the certificate of how good it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class SearchStatus(StrEnum):
    """How a search ended."""

    OPTIMAL = "optimal"
    """The query's objective is proven to be the largest within the limits."""
    APPROXIMATE = "approximate"
    """Proven to reach at least the share of the best objective that was asked for."""
    HEURISTIC = "heuristic"
    """The method gives no proof; the bound holds for all queries nevertheless."""
    NODE_LIMIT = "node_limit"
    TIME_LIMIT = "time_limit"
    GIVEN = "given"
    """The query was not searched for; the bound holds for all queries in its place."""
    INTERRUPTED = "interrupted"
    """A callback asked to stop."""
    CUTOFF = "cutoff"
    """The cutoff was enough: no query is above it, or one that is ended the search."""


@dataclass(frozen=True)
class SearchProgress:
    """A look at a running search."""

    objective_value: float
    """Of the best query so far."""
    bound: float
    """No query has a larger objective."""
    n_nodes: int
    """Nodes expanded so far."""
    n_open: int
    """Nodes waiting."""
    seconds: float = 0.0
    """Time spent so far."""
    is_depth_first: bool = False
    """Whether open nodes have used up their memory, so that the search goes down one path at a time
    instead of taking the node with the largest bound. The bound then falls more slowly."""

    @property
    def nodes_per_second(self) -> float:
        """Speed so far; 0 before there is one."""
        return self.n_nodes / self.seconds if self.seconds > 0 else 0.0

    @property
    def approximation_ratio(self) -> float:
        """What share of the best possible objective is reached for certain."""
        return _ratio(self.objective_value, self.bound)


Callback = Callable[[SearchProgress], Any]


@dataclass(frozen=True)
class SearchResult:
    """The best query found, with its certificate."""

    query: tuple[int, ...]
    """Proposition indices, ascending; () is the query that is always true."""
    objective_value: float
    bound: float
    """No query within the limits on conditions and coverage has a larger objective."""
    status: SearchStatus
    counters: Mapping[str, int] = field(default_factory=dict)
    """How much work was done: expanded ``nodes``, of them ``depth_first`` ones, ``leaves`` solved
    without a node, ``tables`` of sums, with ``table_rows`` added to them and ``table_sets`` of rows
    looked at, ``evaluations``, ``dropped_conditions`` that by their own bounds can be part of no
    longer query that is good enough, and how often each pruning rule applied (bound or equivalence,
    immediate or propagated)."""
    seconds: float = 0.0
    n_conditions_found: int | None = None
    """Number of propositions of the best query found, where the search gives a shorter one that is
    nearly as good; None where it gives that query itself."""
    n_halvings: int = 0
    """How often the step to the new weights was halved, because the loss itself, of which the
    objective knows slope and curvature only, would have become larger."""
    queries: tuple[tuple[int, ...], ...] = field(default=(), compare=False)
    """Where several were asked for: the best queries with different extents, the best first. Those
    above the cutoff, if there is one."""
    # How the search was run, not what it found: model files and comparisons leave it out.
    branching: str | None = field(default=None, compare=False)
    """How the optimal search branched: over ``conditions``, in ``tables`` of sums, over ``ranges``
    of thresholds or as in the ``paper``. None for other searches."""
    node_limit: int | None = field(default=None, compare=False)
    """After how many nodes the search had to stop, also where that was left to "auto"; None if it
    had no such limit."""

    @property
    def was_depth_first(self) -> bool:
        """Whether open nodes used up their memory, so that the search went on depth-first."""
        return self.counters.get("depth_first", 0) > 0

    @property
    def is_optimal(self) -> bool:
        """Whether the query is proven to be the best one."""
        return self.status is SearchStatus.OPTIMAL

    @property
    def approximation_ratio(self) -> float:
        """What share of the best possible objective is reached for certain."""
        return _ratio(self.objective_value, self.bound)


def _ratio(objective_value: float, bound: float) -> float:
    return 1.0 if bound == 0.0 else objective_value / bound
