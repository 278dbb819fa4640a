"""Calls of the compiled core, and the heuristic searches, which are such a call each.

Values of the core lack the factor 1/(2n) of objectives.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from laconic import _core
from laconic._util.checks import is_whole, require
from laconic._util.parallel import check_interrupt, is_worker
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
    """Call a search of the core, and convert its result to objectives."""
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
    """Call a search of the core, with its own options."""
    return function(
        problem.posed(),
        max_conditions=capped(limits.max_conditions),
        min_coverage=limits.required_coverage,
        time_limit=limits.time_limit,
        should_stop=_should_stop(problem, callback),
        **options,
    )


def _should_stop(
    problem: SearchProblem, callback: Callback | None
) -> Callable[[float, float, int, int, bool], bool] | None:
    """Convert a callback to the function that the core calls, if it has to call any.

    The core notices Ctrl-C itself, but only in the main thread.
    """
    if callback is None and not is_worker():
        return None
    started = time.perf_counter()

    def ask(value: float, bound: float, n_nodes: int, n_open: int, is_depth_first: bool) -> bool:
        check_interrupt()
        if callback is None:
            return False
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


def search_beam(
    problem: SearchProblem,
    limits: SearchLimits,
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
    width: int = 8,
) -> SearchResult:
    """Add one condition at a time to the ``width`` best queries, until the best does not improve.

    Parameters
    ----------
    problem : SearchProblem
    limits : SearchLimits
        The approximation factor and the node limit have no effect.
    n_jobs : int or None, default=1
        No effect: one thread is enough.
    callback : callable, default=None
        As for the optimal search.
    width : int, default=8
        Number of queries kept of each size.
    """
    require(is_whole(width, 1), "width", "a whole number in the range [1, inf)", width)
    return run(_core.beam, problem, limits, callback, width=width, starts=[()])


def beam_queries(
    problem: SearchProblem,
    width: int,
    starts: Sequence[Sequence[int]] = ((),),
    *,
    max_conditions: int | None = None,
    min_coverage: float = 0.0,
) -> list[tuple[int, ...]]:
    """Return all queries that a beam search keeps, size by size.

    It starts from given queries of one size. No two queries of a size have the same extent.

    Examples
    --------
    >>> extents = [[True, True, False, False], [False, True, True, False]]
    >>> problem = SearchProblem(extents, [1, -3, 1, 0], [0, 0, 0, 0], l2_regularization=1.0)
    >>> beam_queries(problem, width=2, max_conditions=2)
    [(0,), (1,), (0, 1)]
    """
    limits = SearchLimits(max_conditions, min_coverage)
    result = call(_core.beam, problem, limits, None, width=width, starts=starts)
    return [tuple(query) for query in result.kept]


def search_greedy(
    problem: SearchProblem,
    limits: SearchLimits,
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
) -> SearchResult:
    """Add one condition at a time, the best first, until nothing improves.

    The parameters are those of :func:`search_beam`, whose width is 1 here.
    """
    return search_beam(problem, limits, n_jobs=n_jobs, callback=callback, width=1)
