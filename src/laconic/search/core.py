"""Between the problem and the compiled core: units, names and threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from laconic import _core
from laconic.search.problem import (
    Callback,
    SearchProblem,
    SearchProgress,
    SearchResult,
    SearchStatus,
    is_whole,
)


def to_result(problem: SearchProblem, result: _core.Result) -> SearchResult:
    """Bring a result of the core to the objective's scale."""
    return SearchResult(
        query=tuple(result.query),
        objective_value=result.value / problem.normalizer,
        bound=result.bound / problem.normalizer,
        status=SearchStatus(result.status),
        counters=result.counters,
    )


def should_stop(
    problem: SearchProblem, callback: Callback | None
) -> Callable[[float, float, int, int, bool], bool] | None:
    """Make the function that the core asks now and then from the caller's callback."""
    if callback is None:
        return None

    started = time.perf_counter()

    def ask(value: float, bound: float, n_nodes: int, n_open: int, is_depth_first: bool) -> bool:
        scale, seconds = problem.normalizer, time.perf_counter() - started
        return bool(
            callback(
                SearchProgress(
                    value / scale, bound / scale, n_nodes, n_open, seconds, is_depth_first
                )
            )
        )

    return ask


def capped(limit: int | None) -> int | None:
    """Bring a limit into the range of the core's integers."""
    return None if limit is None else min(int(limit), 2**62)


# Nodes are expanded in batches of this many: more threads have nothing to do.
MOST_WORKERS = 64


def n_workers(n_jobs: int | None) -> int:
    """Count threads by scikit-learn's convention for n_jobs."""
    if n_jobs is None:
        return 1
    if n_jobs == 0 or not is_whole(n_jobs):
        raise ValueError(
            "n_jobs must be a whole number other than 0 or None. Use 1 for one thread or -1 for "
            f"all processors. Got {n_jobs!r}."
        )
    n_wanted = n_jobs if n_jobs > 0 else max(1, _n_processors() + 1 + n_jobs)
    return min(n_wanted, MOST_WORKERS)


def _n_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
