"""Between the problem and the compiled core: units, names and threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from laconic import _core
from laconic._util.checks import is_whole, require
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchProgress, SearchResult, SearchStatus

# Nodes are expanded in batches of this many: more threads have nothing to do.
MAX_WORKERS = 64


def run(
    function: Callable[..., _core.Result],
    problem: SearchProblem,
    limits: SearchLimits,
    callback: Callback | None,
    **options: Any,
) -> SearchResult:
    """Call a search of the core, and scale its result to the objective."""
    result = call(function, problem, limits, callback, **options)
    return SearchResult(
        query=tuple(result.query),
        objective_value=problem.objective_of(result.value),
        bound=problem.objective_of(result.bound),
        status=SearchStatus(result.status),
        counters=result.counters,
        queries=tuple(map(tuple, result.kept)) if options.get("n_best", 1) > 1 else (),
    )


def call(
    function: Callable[..., _core.Result],
    problem: SearchProblem,
    limits: SearchLimits,
    callback: Callback | None,
    **options: Any,
) -> _core.Result:
    """Call a search of the core, with options of its own."""
    if problem.projections is not None:
        options["others"] = problem.projections, problem.cells, problem.taken
    if problem.sign != 0:
        options["sign"] = problem.sign
    return function(
        problem.extents,
        problem.gradients,
        problem.hessians,
        problem.coverage,
        problem.l2_regularization,
        max_conditions=capped(limits.max_conditions),
        min_coverage=limits.required_coverage,
        time_limit=limits.time_limit,
        should_stop=None if callback is None else _should_stop(problem, callback),
        **options,
    )


def _should_stop(
    problem: SearchProblem, callback: Callback
) -> Callable[[float, float, int, int, bool], bool]:
    """Turn the caller's callback into the function that the core asks."""
    started = time.perf_counter()

    def ask(value: float, bound: float, n_nodes: int, n_open: int, is_depth_first: bool) -> bool:
        progress = SearchProgress(
            problem.objective_of(value),
            problem.objective_of(bound),
            n_nodes,
            n_open,
            time.perf_counter() - started,
            is_depth_first,
        )
        return bool(callback(progress))

    return ask


def capped(limit: int | None) -> int | None:
    """Bring a limit into the range of the core's integers."""
    return None if limit is None else min(int(limit), 2**62)


def n_workers(n_jobs: int | None) -> int:
    """Count threads by scikit-learn's convention for n_jobs."""
    if n_jobs is None:
        return 1
    require(
        is_whole(n_jobs) and n_jobs != 0,
        "n_jobs",
        "a whole number other than 0, where -1 is all processors, or None",
        n_jobs,
    )
    n_wanted = n_jobs if n_jobs > 0 else max(1, _n_processors() + 1 + n_jobs)
    return min(n_wanted, MAX_WORKERS)


def _n_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
