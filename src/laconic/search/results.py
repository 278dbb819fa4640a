"""The result of a search, its progress while it runs, and both in words.

A :class:`SearchResult` is a query with the certificate of how good it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from laconic.terms.formatting import format_count, format_number


class SearchStatus(StrEnum):
    """How a search ended."""

    OPTIMAL = "optimal"
    """The query's objective is proven to be the largest within the limits."""
    APPROXIMATE = "approximate"
    """Proven to reach the fraction of the best objective that was asked for."""
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
    """The progress of a running search."""

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
        """Fraction of the best possible objective that is proven to be reached so far."""
        return _ratio(self.objective_value, self.bound)


Callback = Callable[[SearchProgress], Any]


@dataclass(frozen=True)
class SearchResult:
    """The best query found, with its certificate."""

    query: tuple[int, ...]
    """Condition indices, ascending; () is the query that is always true."""
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
        """Fraction of the best possible objective that is proven to be reached."""
        return _ratio(self.objective_value, self.bound)


def rank(query: tuple[int, ...], value: float) -> tuple[float, int, tuple[int, ...]]:
    """Return a sort key that puts the best query first: by value, number of conditions, and order.

    Examples
    --------
    >>> rank((0, 5), 2.0) < rank((1, 2), 2.0) < rank((0, 1, 2), 2.0) < rank((), 1.0)
    True
    """
    return -value, len(query), query


def _ratio(objective_value: float, bound: float) -> float:
    return 1.0 if bound == 0.0 else objective_value / bound


def describe_certificate(result: SearchResult) -> str:
    """Describe in a few words what is proven about a result.

    Examples
    --------
    >>> describe_certificate(SearchResult((0,), 0.5, 0.5, SearchStatus.OPTIMAL))
    'proven optimal'
    >>> describe_certificate(SearchResult((0,), 0.45, 0.5, SearchStatus.NODE_LIMIT))
    'at least 90% of the best possible'
    """
    words = _describe_proof(result)
    if result.n_halvings > 0:
        words = f"{words}, step halved {format_count(result.n_halvings, 'time')}"
    return words


def _describe_proof(result: SearchResult) -> str:
    if result.is_optimal:
        return "proven optimal"
    if result.status is SearchStatus.HEURISTIC:
        return "heuristic, no proof"
    if result.status is SearchStatus.GIVEN:
        ratio = result.approximation_ratio
        return f"given, {'as good as the best' if ratio >= 1.0 else describe_ratio(ratio)}"
    return describe_ratio(result.approximation_ratio)


def describe_ratio(ratio: float) -> str:
    """Describe the proven fraction of the best possible objective.

    Examples
    --------
    >>> describe_ratio(0.905)
    'at least 90% of the best possible'
    """
    return f"at least {proven_percent(ratio)}% of the best possible"


def proven_percent(ratio: float) -> int:
    """Round an approximation ratio down to whole per cent, so that it stays proven.

    Examples
    --------
    >>> proven_percent(0.29), proven_percent(0.2899)
    (29, 28)
    """
    # Rounding errors must not count: 100 * 0.29 is a little less than 29, and a search for an
    # approximation factor of 0.9 may end with a ratio of 0.8999999999999999.
    return math.floor(100 * ratio + 1e-9)


def describe_search(search: SearchProgress) -> str:
    """Describe the progress of a search.

    Examples
    --------
    >>> describe_search(SearchProgress(0.45, 0.5, n_nodes=12000, n_open=340, seconds=4.0))
    'best so far 0.45, at least 90% of the best possible'
    """
    best = format_number(search.objective_value)
    words = f"best so far {best}, {_describe_progress(search.approximation_ratio)}"
    return f"{words}, slower as memory is short" if search.is_depth_first else words


def _describe_progress(ratio: float) -> str:
    percent = proven_percent(ratio)
    if percent == 0:
        return "nothing proven yet"
    return "proven optimal" if percent == 100 else describe_ratio(ratio)


def format_seconds(seconds: float, *, whole: bool = False) -> str:
    """Format a time with two digits, or in whole seconds.

    Examples
    --------
    >>> format_seconds(0.0123), format_seconds(4.26), format_seconds(0.4, whole=True)
    ('0.012 s', '4.3 s', '0 s')
    >>> format_seconds(75.2), format_seconds(7260)
    ('1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s" if whole else f"{format_number(seconds, 2)} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
