"""Searches on a Dask cluster: which one, and how pieces of a search get there and back."""

from __future__ import annotations

import itertools
import queue
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

from laconic._core import Extents
from laconic._util.checks import require
from laconic._util.optional import import_extra
from laconic.search.distributed import (
    Outcome,
    Piece,
    SpreadSearch,
    attached,
    detached,
    search_piece,
)
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchResult

# A piece that is lost again and again takes its workers with it.
MAX_LOSSES = 10
# Seconds to wait for what is said to be done.
MAX_WAIT = 30.0
# Seconds between two counts of the workers, which may come and go.
PATIENCE = 1.0

_CLIENT: ContextVar[Any] = ContextVar("client", default=None)
# Extents that all workers of a client have, as they are the same for all rules of a model.
_SENT: WeakKeyDictionary[Extents, tuple[Any, Any]] = WeakKeyDictionary()


@contextmanager
def spread_over(client: Any) -> Iterator[None]:
    """Spread the optimal searches of a ``with`` block over the workers of a Dask cluster.

    Models are the same as without. A search that takes less than a third of a second stays where it
    is; of longer ones, all workers prove parts, each of their threads one. A worker that is lost
    costs no more than the part it had. Branching over ranges of thresholds stays on one machine.

    Parameters
    ----------
    client : distributed.Client

    Notes
    -----
    To be written ``with spread_over(client): model.fit(X, y)``. With ``node_limit=None``, searches
    go on until all is proven.
    """
    token = _CLIENT.set(checked_client(client))
    try:
        with client.as_current():
            yield
    finally:
        _CLIENT.reset(token)


def current_client() -> Any:
    """Find the client of the ``with`` block around; None if there is none."""
    return _CLIENT.get()


def checked_client(client: Any) -> Any:
    """Refuse what cannot be asked for work."""
    distributed = import_extra("distributed", "dask", "Spreading a search")
    require(isinstance(client, distributed.Client), "client", "a distributed.Client", client)
    require(not client.asynchronous, "client", "one that is not asynchronous", client)
    return client


def run_spread(
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
    spread = SpreadSearch(
        problem, limits, options, callback, node_limit=node_limit, table_limit=table_limit
    )
    spread.begin(start, n_workers, beam_width, _n_slots(client))
    if spread.is_open():
        options.update(n_workers=1, beam_width=0)
        spread.share(DaskCrew(client, problem, limits, options))
    return spread.result()


class DaskCrew:
    """The workers of a Dask cluster, who have the problem and do pieces of its search."""

    def __init__(
        self,
        client: Any,
        problem: SearchProblem,
        limits: SearchLimits,
        options: Mapping[str, Any],
    ) -> None:
        self.client, self.problem = client, problem
        self.limits, self.options = limits, options
        distributed = import_extra("distributed", "dask", "Spreading a search")
        self.config = import_extra("dask", "dask", "Spreading a search").config
        self.lost = distributed.KilledWorker, distributed.CancelledError, TimeoutError
        self.pieces: dict[str, tuple[Piece, Any]] = {}  # by key
        self.done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.keys = (f"laconic-search-{uuid.uuid4().hex}-{number}" for number in itertools.count())
        self.n_losses = 0
        self.counted = (0, -PATIENCE)
        self.send()

    def send(self, *, again: bool = False) -> None:
        """Give every worker the problem.

        Sets: extents, statistics.
        """
        owner, self.extents = _SENT.get(self.problem.extents, (None, None))
        if again or owner is not self.client or self.extents.status != "finished":
            self.extents = self._broadcast(self.problem.extents)
            _SENT[self.problem.extents] = self.client, self.extents
        self.statistics = self._broadcast((detached(self.problem), self.limits, self.options))

    def _broadcast(self, value: Any) -> Any:
        return self.client.scatter([value], broadcast=True, hash=False)[0]

    def n_slots(self) -> int:
        """Count the pieces that can be done at once: a thread for each."""
        n_slots, when = self.counted
        if time.perf_counter() - when >= PATIENCE:
            n_slots = _n_slots(self.client)
            self.counted = n_slots, time.perf_counter()
        return n_slots

    def submit(self, piece: Piece) -> None:
        """Have a piece done."""
        key = next(self.keys)
        # What is left of a search may be large, and is needed once only.
        with self.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
            future = self.client.submit(
                _search_piece, self.extents, self.statistics, piece, key=key, pure=False
            )
        self.pieces[key] = piece, future
        future.add_done_callback(self.done.put)

    def finished(self, patience: float) -> list[tuple[Piece, Outcome | None]]:
        """Hand over pieces that were done, after some seconds at most; None for those lost."""
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
        """Read what a piece has come to; None if it was lost, or what it needs."""
        try:
            # Where a worker is lost with what it had done, that is done once more.
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
        """Leave undone what is not done yet."""
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
    return search_piece(attached(problem, extents), limits, piece, options)
