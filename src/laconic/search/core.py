"""Between the problem and the compiled core: units, names and threads."""

from __future__ import annotations

import os
from collections.abc import Callable

from laconic import _core
from laconic.search.problem import (
    Callback,
    SearchProblem,
    SearchProgress,
    SearchResult,
    SearchStatus,
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
) -> Callable[[float, float, int, int], bool] | None:
    """Make the function that the core asks now and then from the caller's callback."""
    if callback is None:
        return None

    def ask(value: float, bound: float, n_nodes: int, n_open: int) -> bool:
        scale = problem.normalizer
        return bool(callback(SearchProgress(value / scale, bound / scale, n_nodes, n_open)))

    return ask


def n_workers(n_jobs: int | None) -> int:
    """Count threads by scikit-learn's convention for n_jobs."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0. Use 1 for one thread or -1 for all processors.")
    n_processors = os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, n_processors + 1 + n_jobs)
