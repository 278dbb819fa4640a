"""Pieces of a search, which can be done anywhere and in any order.

A search that is stopped hands back its open nodes as bytes, in parts. Whoever has the same problem
can take them up, and hands back the best query found and what is left open. Of all queries found
the best one, by :func:`rank`, is the one that a single search would have found.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laconic import _core
from laconic._core import Extents
from laconic.search.core import call
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback


@dataclass(frozen=True)
class OpenPart:
    """Open nodes of a search."""

    bound: float
    """No query in it has a larger value, which is an objective without its factor 1/(2n)."""
    n_nodes: int
    nodes: bytes


@dataclass(frozen=True)
class Outcome:
    """What a piece of a search has come to."""

    query: tuple[int, ...]
    value: float
    closed_bound: float
    """No query that was given up has a larger value."""
    open: tuple[OpenPart, ...]
    status: str
    counters: Mapping[str, int]


@dataclass(frozen=True)
class Piece:
    """A piece of a search: where it begins, and where it ends."""

    parts: Sequence[OpenPart] | None
    """None for all of the search."""
    start: tuple[int, ...] = ()
    """The best query so far."""
    n_parts: int = 1
    """Into how many parts that is divided which is left open."""
    seconds: float | None = None
    """After this time, all but one node at least are left open."""
    time_limit: float | None = None
    """The same, in the middle of a node."""
    node_limit: int | None = None

    @property
    def bound(self) -> float:
        """No query in it has a larger value."""
        return max((part.bound for part in self.parts or ()), default=0.0)

    @property
    def n_nodes(self) -> int:
        """Number of its open nodes."""
        return sum(part.n_nodes for part in self.parts or ())


def rank(query: tuple[int, ...], value: float) -> tuple[float, int, tuple[int, ...]]:
    """Rank queries, the best one first: by value, number of propositions, and order.

    Examples
    --------
    >>> rank((0, 5), 2.0) < rank((1, 2), 2.0) < rank((0, 1, 2), 2.0) < rank((), 1.0)
    True
    """
    return -value, len(query), query


def detached(problem: SearchProblem) -> SearchProblem:
    """Take the extents off a problem, which many problems share."""
    problem = copy.copy(problem)
    problem.__dict__.update(extents=None, _weights=None)
    return problem


def attached(problem: SearchProblem, extents: Extents) -> SearchProblem:
    """Give a problem its extents back."""
    problem = copy.copy(problem)
    problem.extents = extents
    return problem


def search_piece(
    problem: SearchProblem,
    limits: SearchLimits,
    piece: Piece,
    options: Mapping[str, Any],
    callback: Callback | None = None,
) -> Outcome:
    """Do a piece of a search, with options of the core that all pieces have in common."""
    result = call(
        _core.optimal,
        problem,
        dataclasses.replace(limits, time_limit=piece.time_limit),
        callback,
        **options,
        start=piece.start,
        node_limit=piece.node_limit,
        parts=None if piece.parts is None else [part.nodes for part in piece.parts],
        n_parts=piece.n_parts,
        seconds=piece.seconds,
    )
    return Outcome(
        tuple(result.query),
        result.value,
        result.closed_bound,
        tuple(OpenPart(*part) for part in result.open),
        result.status,
        result.counters,
    )
