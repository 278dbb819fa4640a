"""One search distributed over many workers, with the same result as on one.

The search begins where it was called: an easy one ends there. The nodes that are then still open
are dealt to the workers as pieces. A worker searches its piece for a short time, starting from the
best query known by then, and hands back what it has found and the nodes that are left. These are
dealt again, so that no worker runs out of work as long as there is some, and better queries get
around. Open nodes travel as bytes, in parts.

A piece depends on nothing but its description and can be done anywhere and in any order, again
where a worker is lost. Of all queries found the best one, by :func:`~laconic.search.results.rank`,
is the one that a single search would have found.
"""

from __future__ import annotations

import itertools
import math
import queue
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from laconic import _core
from laconic._core import Extents
from laconic._util.checks import require
from laconic._util.optional import import_extra
from laconic.search.core import call
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchProgress, SearchResult, SearchStatus, rank

# Seconds of the search before it is distributed.
SECONDS_ALONE = 0.3
# A piece takes this share of the time so far, within limits: long enough for its description not to
# count, short enough for better queries to get around.
SHARE_OF_TIME = 0.3
MIN_SECONDS = 0.25
MAX_SECONDS = 30.0
# The nodes that a piece leaves open are divided into this many parts for each worker.
PARTS_PER_SLOT = 2
MIN_PARTS = 8
# Fewer nodes are not worth a piece of their own.
MIN_NODES = 64
# Seconds to wait for a piece, and for those that a time limit has ended.
PATIENCE = 0.05
GRACE = 1.0
_NO_TIME = 1e-9
# A piece that is lost again and again makes its workers fail.
MAX_LOSSES = 10
# Seconds to wait for the result of a piece that is done.
MAX_WAIT = 30.0
# Seconds between two counts of the workers, which may come and go.
SECONDS_BETWEEN_COUNTS = 1.0

_CLIENT: ContextVar[Any] = ContextVar("client", default=None)
# Extents that all workers of a client have, as they are the same for all rules of a model.
_SENT: WeakKeyDictionary[Extents, tuple[Any, Any]] = WeakKeyDictionary()


@contextmanager
def spread_over(client: Any) -> Iterator[None]:
    """Distribute the optimal searches of a ``with`` block over the workers of a Dask cluster.

    Models are the same as without it. A search that takes less than a third of a second stays where
    it is; longer ones are divided into pieces, one for each thread of a worker. A worker that is
    lost costs no more than its piece. Branching over ranges of thresholds stays on one machine.

    Parameters
    ----------
    client : distributed.Client

    Notes
    -----
    Write ``with spread_over(client): model.fit(X, y)``. With ``node_limit=None``, searches go on
    until the optimum is proven.
    """
    token = _CLIENT.set(checked_client(client))
    try:
        with client.as_current():
            yield
    finally:
        _CLIENT.reset(token)


def current_client() -> Any:
    """Return the client of the surrounding ``with`` block; None if there is none."""
    return _CLIENT.get()


def checked_client(client: Any) -> Any:
    """Raise an error for anything but a client that can be used."""
    distributed = import_extra("distributed", "dask", "Distributing a search")
    require(isinstance(client, distributed.Client), "client", "a distributed.Client", client)
    require(not client.asynchronous, "client", "one that is not asynchronous", client)
    return client


def run_distributed(
    client: Any,
    problem: SearchProblem,
    limits: SearchLimits,
    callback: Callback | None,
    *,
    start: tuple[int, ...],
    n_workers: int,
    beam_width: int | None,
    node_limit: int | None,
    table_limit: int | None,
    **options: Any,
) -> SearchResult:
    """Run a search of the core on a cluster, as `run` does on one machine."""
    search = DistributedSearch(
        problem, limits, options, callback, node_limit=node_limit, table_limit=table_limit
    )
    search.begin(start, n_workers, beam_width, _n_slots(client))
    if search.is_open():
        options.update(n_workers=1, beam_width=0)
        search.share(DaskWorkers(client, problem, limits, options))
    return search.result()


@dataclass(frozen=True)
class OpenPart:
    """Open nodes of a search."""

    bound: float
    """No query in it has a larger value, which is an objective without its factor 1/(2n)."""
    n_nodes: int
    nodes: bytes


@dataclass(frozen=True)
class Outcome:
    """The outcome of a piece of a search."""

    query: tuple[int, ...]
    value: float
    closed_bound: float
    """No query that was pruned has a larger value."""
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
    """Number of parts that the nodes left open are divided into."""
    seconds: float | None = None
    """From then on no further node is expanded, but for the first."""
    time_limit: float | None = None
    """The same, and the node in hand is left open too."""
    node_limit: int | None = None

    @property
    def bound(self) -> float:
        """No query in it has a larger value."""
        return max((part.bound for part in self.parts or ()), default=0.0)

    @property
    def n_nodes(self) -> int:
        """Number of its open nodes."""
        return sum(part.n_nodes for part in self.parts or ())


class DistributedSearch:
    """A search in pieces, and its progress.

    Parameters
    ----------
    problem : SearchProblem
    limits : SearchLimits
        Those on nodes and work are passed separately.
    node_limit, table_limit : int or None
        For all pieces together.
    options : mapping
        Options of the core that all pieces have in common.
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
        """Check whether something is left to do, and may be done.

        Sets: status.
        """
        if self.open and self.status is None:
            self.watch()
        return bool(self.open) and self.status is None

    def share(self, workers: DaskWorkers) -> None:
        """Let workers do the rest, within the limits."""
        try:
            while self.open or self.running:
                self.watch()
                if self.status is not None:
                    break
                self.hand_out(workers)
                self.gather(workers)
            if self.status is SearchStatus.TIME_LIMIT:
                deadline = time.perf_counter() + GRACE
                while self.running and time.perf_counter() < deadline:
                    self.gather(workers)
        finally:
            workers.dismiss()

    def watch(self) -> None:
        """Check whether a limit is reached, or the callback stops the search.

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
        """Return the progress of the search."""
        return SearchProgress(
            self.problem.objective_of(self.value),
            self.problem.objective_of(self.bound()),
            self.counters["nodes"],
            sum(part.n_nodes for part in self._left()),
            time.perf_counter() - self.started,
        )

    def bound(self) -> float:
        """Return a bound on the values of all queries: found, pruned or open."""
        return max(self.value, self.closed_bound, *(part.bound for part in self._left()))

    def hand_out(self, workers: DaskWorkers) -> None:
        """Give a piece to every worker that has none, as long as there are some.

        Sets: open, running.
        """
        n_slots = workers.n_slots()
        while self.open and len(self.running) < n_slots:
            node_limit = self._node_share(n_slots)
            if node_limit == 0:
                return
            # Some of the best and some of the others for each.
            self.open.sort(key=lambda part: -part.bound)
            stride = min(len(self.open), n_slots)
            parts = self.open[::stride]
            del self.open[::stride]
            piece = Piece(
                parts,
                self.query,
                self._n_parts(n_slots),
                self._seconds(is_scarce=len(self.open) < n_slots),
                self._time_left(),
                node_limit,
            )
            self.running.append(piece)
            workers.submit(piece)

    def gather(self, workers: DaskWorkers) -> None:
        """Collect the pieces that were done in the meantime.

        Sets: running, and what `take` sets.
        """
        for piece, outcome in workers.finished(PATIENCE):
            self.running = [other for other in self.running if other is not piece]
            if outcome is None:
                self.open.extend(piece.parts or ())
            else:
                self.take(outcome)

    def take(self, outcome: Outcome) -> None:
        """Add the outcome of a piece: what was found, and what is left.

        Sets: query, value, closed_bound, open, counters.
        """
        if rank(outcome.query, outcome.value) < rank(self.query, self.value):
            self.query, self.value = outcome.query, outcome.value
        self.closed_bound = max(self.closed_bound, outcome.closed_bound)
        self.open.extend(outcome.open)
        self.counters.update(outcome.counters)

    def result(self) -> SearchResult:
        """Return the result of all pieces."""
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
        """Return what is not done yet."""
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
        """Return the number of nodes that the next piece may expand."""
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
        replace(limits, time_limit=piece.time_limit),
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


class DaskWorkers:
    """The workers of a Dask cluster, which have the problem and do pieces of its search."""

    def __init__(
        self,
        client: Any,
        problem: SearchProblem,
        limits: SearchLimits,
        options: Mapping[str, Any],
    ) -> None:
        self.client, self.problem = client, problem
        self.limits, self.options = limits, options
        distributed = import_extra("distributed", "dask", "Distributing a search")
        self.config = import_extra("dask", "dask", "Distributing a search").config
        self.lost = distributed.KilledWorker, distributed.CancelledError, TimeoutError
        self.pieces: dict[str, tuple[Piece, Any]] = {}  # by key
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.keys = (f"laconic-search-{uuid.uuid4().hex}-{number}" for number in itertools.count())
        self.n_losses = 0
        self.counted = (0, -SECONDS_BETWEEN_COUNTS)
        self.send()

    def send(self, *, again: bool = False) -> None:
        """Send the problem to every worker.

        Sets: extents, statistics.
        """
        owner, self.extents = _SENT.get(self.problem.extents, (None, None))
        if again or owner is not self.client or self.extents.status != "finished":
            self.extents = self._broadcast(self.problem.extents)
            _SENT[self.problem.extents] = self.client, self.extents
        self.statistics = self._broadcast((self.problem.detached(), self.limits, self.options))

    def _broadcast(self, value: Any) -> Any:
        return self.client.scatter([value], broadcast=True, hash=False)[0]

    def n_slots(self) -> int:
        """Count the pieces that can be done at once: a thread for each."""
        n_slots, when = self.counted
        if time.perf_counter() - when >= SECONDS_BETWEEN_COUNTS:
            n_slots = _n_slots(self.client)
            self.counted = n_slots, time.perf_counter()
        return n_slots

    def submit(self, piece: Piece) -> None:
        """Start a piece."""
        key = next(self.keys)
        # What is left of a search may be large, and is needed once only.
        with self.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
            future = self.client.submit(
                _search_piece, self.extents, self.statistics, piece, key=key, pure=False
            )
        self.pieces[key] = piece, future
        future.add_done_callback(self.done.put)

    def finished(self, patience: float) -> list[tuple[Piece, Outcome | None]]:
        """Return pieces that were done, after some seconds at most; None for those lost."""
        found = []
        try:
            found.append(self.done.get(timeout=patience))
            while True:
                found.append(self.done.get_nowait())
        except queue.Empty:
            pass
        return [
            (self.pieces.pop(future.key)[0], self._outcome(future))
            for future in found
            if future.key in self.pieces
        ]

    def _outcome(self, future: Any) -> Outcome | None:
        """Read the outcome of a piece; None if it was lost, or the data it needs."""
        try:
            # If the worker is lost before the result is read, Dask repeats the piece.
            outcome: Outcome = future.result(timeout=MAX_WAIT)
            return outcome
        except self.lost as loss:
            error = loss
        self.client.cancel([future])
        self.n_losses += 1
        if self.n_losses > MAX_LOSSES:
            raise RuntimeError(
                f"The cluster has lost pieces of a search {self.n_losses} times. See the logs of "
                "its workers; they may lack memory."
            ) from error
        self.send(again=True)
        return None

    def dismiss(self) -> None:
        """Cancel what is not done yet."""
        futures = [future for _, future in self.pieces.values()]
        self.pieces.clear()
        if futures:
            self.client.cancel(futures)


def _n_slots(client: Any) -> int:
    return sum(client.nthreads().values())


def _search_piece(
    extents: Extents,
    shared: tuple[SearchProblem, SearchLimits, Mapping[str, Any]],
    piece: Piece,
) -> Outcome:
    """Do a piece of a search on a worker."""
    problem, limits, options = shared
    return search_piece(problem.restricted(extents, problem.sign), limits, piece, options)
