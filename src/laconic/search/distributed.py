"""One search spread over many workers, with the same result as on one.

The search begins where it was asked for: an easy one ends there. What is then still open is dealt
to the workers, each of which searches its share for a short time, from the best query known by
then. It hands back what it has found and what is left, which is dealt anew: nobody runs out of work
as long as there is some, and better queries get around. A piece of work depends on nothing but its
description, so that it can be done once more where a worker is lost.

Pieces of a search, which can be done anywhere and in any order.

A search that is stopped hands back its open nodes as bytes, in parts. Whoever has the same problem
can take them up, and hands back the best query found and what is left open. Of all queries found
the best one, by :func:`rank`, is the one that a single search would have found.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from laconic import _core
from laconic._core import Extents
from laconic.search.core import call
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchProgress, SearchResult, SearchStatus

# Before others are asked for help.
SECONDS_ALONE = 0.3
# A piece takes this share of the time so far, within limits: long enough for its description not to
# count, short enough for better queries to get around.
SHARE_OF_TIME = 0.3
MIN_SECONDS = 0.25
MAX_SECONDS = 30.0
# What a piece leaves open is divided into this many parts for each worker.
PARTS_PER_SLOT = 2
MIN_PARTS = 8
# Fewer nodes are not worth a piece of their own.
MIN_NODES = 64
# Seconds to wait for something to happen, and for pieces that a time limit has ended.
PATIENCE = 0.05
GRACE = 1.0
_NO_TIME = 1e-9


class Crew(Protocol):
    """Workers who do pieces of one search."""

    def n_slots(self) -> int:
        """Count the pieces that can be done at once."""

    def submit(self, piece: Piece) -> None:
        """Have a piece done."""

    def finished(self, patience: float) -> Iterable[tuple[Piece, Outcome | None]]:
        """Hand over pieces that were done, after some seconds at most; None for those lost."""

    def dismiss(self) -> None:
        """Leave undone what is not done yet."""


class SpreadSearch:
    """A search, and how far it has come.

    Parameters
    ----------
    problem : SearchProblem
    limits : SearchLimits
        But for the number of nodes.
    node_limit, table_limit : int or None
        On all pieces together.
    options : mapping
        Of the core, which all pieces have in common.
    callback : callable or None
    """

    def __init__(
        self,
        problem: SearchProblem,
        limits: SearchLimits,
        options: Mapping[str, Any],
        callback: Callback | None,
        *,
        node_limit: int | None,
        table_limit: int | None,
    ) -> None:
        self.problem, self.limits, self.options = problem, limits, options
        self.callback = callback
        self.node_limit, self.table_limit = node_limit, table_limit
        self.started = time.perf_counter()
        self.query: tuple[int, ...] = ()
        self.value = -math.inf
        self.closed_bound = 0.0
        self.open: list[OpenPart] = []
        self.running: list[Piece] = []
        self.counters: Counter[str] = Counter()
        self.status: SearchStatus | None = None
        """Why it was stopped; None while it runs."""

    def begin(
        self, start: tuple[int, ...], n_workers: int, beam_width: int | None, n_slots: int
    ) -> None:
        """Search alone for a short time."""
        piece = Piece(
            None,
            start,
            n_parts=self._n_parts(n_slots),
            seconds=SECONDS_ALONE,
            time_limit=self._time_left(),
            node_limit=self.node_limit,
        )
        options = {**self.options, "n_workers": n_workers, "beam_width": beam_width}
        outcome = search_piece(self.problem, self.limits, piece, options, self.callback)
        self.take(outcome)
        if outcome.status == SearchStatus.INTERRUPTED:
            self.status = SearchStatus.INTERRUPTED

    def is_open(self) -> bool:
        """Tell whether something is left to do, and may be done.

        Sets: status.
        """
        if self.open and self.status is None:
            self.watch()
        return bool(self.open) and self.status is None

    def share(self, crew: Crew) -> None:
        """Have the rest done by others, within the limits."""
        try:
            while self.open or self.running:
                self.watch()
                if self.status is not None:
                    break
                self.hand_out(crew)
                self.gather(crew, PATIENCE)
            if self.status is SearchStatus.TIME_LIMIT:
                deadline = time.perf_counter() + GRACE
                while self.running and time.perf_counter() < deadline:
                    self.gather(crew, PATIENCE)
        finally:
            crew.dismiss()

    def watch(self) -> None:
        """See whether a limit is reached, or the caller wants to stop.

        Sets: status.
        """
        time_left = self._time_left()
        if time_left is not None and time_left <= _NO_TIME:
            self.status = SearchStatus.TIME_LIMIT
        elif self._is_spent() and not self.running:
            self.status = SearchStatus.NODE_LIMIT
        elif self.callback is not None and self.callback(self.progress()):
            self.status = SearchStatus.INTERRUPTED

    def progress(self) -> SearchProgress:
        """Tell how far it has come."""
        return SearchProgress(
            self.problem.objective_of(self.value),
            self.problem.objective_of(self.bound()),
            self.counters["nodes"],
            sum(part.n_nodes for part in self._left()),
            time.perf_counter() - self.started,
        )

    def bound(self) -> float:
        """No query has a larger value: not the one found, and none that is given up or open."""
        return max(self.value, self.closed_bound, *(part.bound for part in self._left()))

    def hand_out(self, crew: Crew) -> None:
        """Give every worker who has none something to do, if there is enough.

        Sets: open, running.
        """
        n_slots = crew.n_slots()
        while self.open and len(self.running) < n_slots:
            node_limit = self._node_share(n_slots)
            if node_limit == 0:
                return
            # Some of the best and some of the others, as they are dealt.
            self.open.sort(key=lambda part: -part.bound)
            stride = min(len(self.open), n_slots)
            parts, self.open = self.open[::stride], _others(self.open, stride)
            piece = Piece(
                parts,
                self.query,
                self._n_parts(n_slots),
                self._seconds(is_scarce=len(self.open) < n_slots),
                self._time_left(),
                node_limit,
            )
            self.running.append(piece)
            crew.submit(piece)

    def gather(self, crew: Crew, patience: float) -> None:
        """Take what was done in the meantime.

        Sets: running, and what `take` does.
        """
        for piece, outcome in crew.finished(patience):
            self.running = [other for other in self.running if other is not piece]
            if outcome is None:
                self.open.extend(piece.parts or ())
            else:
                self.take(outcome)

    def take(self, outcome: Outcome) -> None:
        """Take what was found and what is left.

        Sets: query, value, closed_bound, open, counters.
        """
        if rank(outcome.query, outcome.value) < rank(self.query, self.value):
            self.query, self.value = outcome.query, outcome.value
        self.closed_bound = max(self.closed_bound, outcome.closed_bound)
        self.open.extend(outcome.open)
        self.counters.update(outcome.counters)

    def result(self) -> SearchResult:
        """Tell what was found."""
        bound = self.bound()
        if bound <= self.value:
            status = SearchStatus.OPTIMAL
        else:
            status = self.status or SearchStatus.APPROXIMATE
        return SearchResult(
            query=self.query,
            objective_value=self.problem.objective_of(self.value),
            bound=self.problem.objective_of(bound),
            status=status,
            counters=dict(self.counters),
        )

    def _left(self) -> list[OpenPart | Piece]:
        """List what is not done yet."""
        return [*self.open, *self.running]

    def _time_left(self) -> float | None:
        if self.limits.time_limit is None:
            return None
        # A search needs some time, if only to look at the clock.
        return max(self.limits.time_limit - (time.perf_counter() - self.started), _NO_TIME)

    def _is_spent(self) -> bool:
        work = self.counters["table_rows"] + self.counters["table_sets"]
        is_worked_off = self.table_limit is not None and work >= self.table_limit
        return is_worked_off or (
            self.node_limit is not None and self.counters["nodes"] >= self.node_limit
        )

    def _node_share(self, n_slots: int) -> int | None:
        """Count the nodes that the next piece may expand."""
        if self._is_spent():
            return 0
        if self.node_limit is None:
            return None
        n_promised = sum(piece.node_limit or 0 for piece in self.running)
        n_left = max(self.node_limit - self.counters["nodes"] - n_promised, 0)
        return min(n_left, max(n_left // (2 * n_slots), MIN_NODES))

    def _seconds(self, *, is_scarce: bool) -> float:
        if is_scarce:
            return MIN_SECONDS  # so that others get something to do
        so_far = time.perf_counter() - self.started
        return min(max(SHARE_OF_TIME * so_far, MIN_SECONDS), MAX_SECONDS)

    @staticmethod
    def _n_parts(n_slots: int) -> int:
        return max(PARTS_PER_SLOT * n_slots, MIN_PARTS)


def _others(parts: list[OpenPart], stride: int) -> list[OpenPart]:
    """List all parts but every so many."""
    return [part for number, part in enumerate(parts) if number % stride != 0]


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
    """Rank queries, the best one first: by value, number of conditions, and order.

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
