"""Independent computations side by side, in threads.

Threads are enough where most of the time is spent in compiled code that releases the GIL, as in
searches, and all of them see the same tables.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Self, TypeVar

from laconic._util.checks import is_whole, require

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

# Seconds after which a waiting thread looks whether it is to stop: on Windows, Ctrl-C ends no wait.
_POLL = 0.1


def n_workers(n_jobs: int | None) -> int:
    """Count threads by scikit-learn's convention for n_jobs.

    None is 1, or what `joblib.parallel_config` says. In a worker, there are no more than its share.

    Examples
    --------
    >>> n_workers(None), n_workers(3)
    (1, 3)
    """
    if n_jobs is None:
        joblib = sys.modules.get("joblib")  # without it, nobody has configured anything
        n_wanted = 1 if joblib is None else min(joblib.effective_n_jobs(None), _n_processors())
    else:
        require(
            is_whole(n_jobs) and n_jobs != 0,
            "n_jobs",
            "a whole number other than 0, where -1 is all processors, or None",
            n_jobs,
        )
        n_wanted = n_jobs if n_jobs > 0 else max(1, _n_processors() + 1 + n_jobs)
    worker = _worker.get()
    return n_wanted if worker is None else min(n_wanted, worker.team.share)


def _n_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_in_parallel(
    function: Callable[[_Item], _Result], items: Iterable[_Item], *, n_jobs: int | None = None
) -> list[_Result]:
    """Return the results of a function for each item, in the order of the items.

    With one worker, this is a plain loop. Otherwise every worker is a thread, which may use a share
    of the threads itself (see `n_workers`): an equal one of those that no other worker needs. The
    caller notices no difference:

    - The exception of the first item that fails is raised.
    - Warnings are shown in the order of the items.
    - What workers call by `call_outside` runs in the thread of the caller.
    - Ctrl-C stops all workers at their next `check_interrupt`.

    Parameters
    ----------
    function : callable
        Must not use `warnings.catch_warnings`, which changes the warnings of all threads.
    items : iterable
    n_jobs : int or None, default=None
        Number of threads, by scikit-learn's convention.

    Examples
    --------
    >>> map_in_parallel(abs, [-3, 2, -1], n_jobs=2)
    [3, 2, 1]
    """
    given = list(items)
    n_threads = n_workers(n_jobs)
    n_parallel = min(n_threads, len(given))
    if n_parallel <= 1:
        return [function(item) for item in given]
    with _Team(n_threads, n_parallel, len(given)) as team:
        workers = [team.start(function, item) for item in given]
        return [team.result_of(worker) for worker in workers]


def call_outside(function: Callable[..., _Result], *arguments: Any) -> _Result:
    """Call a function in the thread that waits for the workers, one call at a time.

    This is for callbacks, which need not know of threads then. Outside of workers, it is a plain
    call.
    """
    worker = _worker.get()
    if worker is None:
        return function(*arguments)
    reply: Future[_Result] = Future()
    worker.team.calls.put((function, arguments, reply))
    while not reply.done():
        wait([reply], _POLL)
        check_interrupt()
    return reply.result()


def is_worker() -> bool:
    """Return whether this is a worker, whose long computations have to call `check_interrupt`."""
    return _worker.get() is not None


def check_interrupt() -> None:
    """Raise KeyboardInterrupt in a worker that has to stop."""
    worker = _worker.get()
    if worker is not None and worker.team.is_stopped.is_set():
        raise KeyboardInterrupt


@dataclass(eq=False)
class _Worker:
    """The computation for one item, and the warnings that it has caused."""

    team: _Team
    warnings: list[tuple[Any, ...]] = field(default_factory=list)
    future: Future[Any] = field(default_factory=Future)

    def run(self, function: Callable[[Any], Any], item: Any) -> Any:
        _worker.set(self)
        if self.team.has_failed:
            raise CancelledError  # which nobody sees: an earlier item has failed
        try:
            return function(item)
        except BaseException:
            self.team.has_failed = True
            raise
        finally:
            self.team.end_one()


class _Team:
    """Workers that run side by side, for one call of `map_in_parallel`."""

    def __init__(self, n_threads: int, n_parallel: int, n_items: int) -> None:
        self.n_threads, self.n_parallel, self.n_left = n_threads, n_parallel, n_items
        self.has_failed = False
        self._lock = threading.Lock()
        self.is_stopped = threading.Event()
        # What workers ask to be called, and None where one of them has ended.
        self.calls: SimpleQueue[Any] = SimpleQueue()
        self._executor = ThreadPoolExecutor(n_parallel)

    @property
    def share(self) -> int:
        """The number of threads for each worker: more when there are fewer of them at the end."""
        return self.n_threads // max(1, min(self.n_parallel, self.n_left))

    def end_one(self) -> None:
        """Count a worker that has ended."""
        with self._lock:
            self.n_left -= 1

    def __enter__(self) -> Self:
        _hook.add()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.is_stopped.set()
            self._executor.shutdown(cancel_futures=True)
        finally:
            _hook.remove()

    def start(self, function: Callable[[Any], Any], item: Any) -> _Worker:
        """Start the computation for an item as soon as there is a thread."""
        worker = _Worker(self)
        worker.future = self._executor.submit(copy_context().run, worker.run, function, item)
        worker.future.add_done_callback(lambda _: self.calls.put(None))
        return worker

    def result_of(self, worker: _Worker) -> Any:
        """Wait for a worker, meanwhile make the calls of all, and show its warnings."""
        while not worker.future.done():
            check_interrupt()  # this may be a worker of another team
            try:
                call = self.calls.get(timeout=_POLL)
            except Empty:
                continue
            if call is not None:
                _answer(*call)
        for warning in worker.warnings:
            warnings.showwarning(*warning)
        return worker.future.result()


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...], reply: Future[Any]) -> None:
    try:
        reply.set_result(call_outside(function, *arguments))
    except Exception as error:  # Ctrl-C is for the caller
        reply.set_exception(error)


class _WarningHook:
    """Keeps the warnings of workers with them, as long as there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_teams = 0
        self._show: Callable[..., Any] = warnings.showwarning

    def add(self) -> None:
        with self._lock:
            if self._n_teams == 0:
                self._show, warnings.showwarning = warnings.showwarning, self.show  # type: ignore[assignment]
            self._n_teams += 1

    def remove(self) -> None:
        with self._lock:
            self._n_teams -= 1
            if self._n_teams == 0:
                warnings.showwarning = self._show

    def show(self, *warning: Any) -> None:
        """Do this instead of `warnings.showwarning`."""
        worker = _worker.get()
        if worker is None:
            self._show(*warning)
        else:
            worker.warnings.append(warning)


_hook = _WarningHook()
_worker: ContextVar[_Worker | None] = ContextVar("worker", default=None)
