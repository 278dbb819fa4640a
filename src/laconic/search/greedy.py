"""Heuristic searches in the compiled core: greedy, and beam as its wider form."""

from __future__ import annotations

from laconic import _core
from laconic.search.core import capped, should_stop, to_result
from laconic.search.problem import (
    Callback,
    SearchLimits,
    SearchProblem,
    SearchResult,
    is_whole,
)


def search_greedy(
    problem: SearchProblem,
    limits: SearchLimits,
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
) -> SearchResult:
    """Add one proposition at a time, the best first, until nothing improves.

    Parameters
    ----------
    problem : SearchProblem
    limits : SearchLimits
        The approximation factor and the node limit have no effect.
    n_jobs : int or None, default=1
        No effect: one thread does.
    callback : callable, default=None
        As for the optimal search.
    """
    return search_beam(problem, limits, n_jobs=n_jobs, callback=callback, width=1)


def search_beam(
    problem: SearchProblem,
    limits: SearchLimits,
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
    width: int = 8,
) -> SearchResult:
    """Add one proposition at a time to the ``width`` best queries, until the best stays.

    Parameters
    ----------
    width : int, default=8
        Number of queries kept of each size. The other parameters are those of
        :func:`search_greedy`.
    """
    if not is_whole(width, 1):
        raise ValueError(f"width must be a whole number in the range [1, inf). Got {width!r}.")
    result = _core.beam(
        problem.propositions,
        problem.gradients,
        problem.hessians,
        problem.coverage,
        problem.l2_regularization,
        max_conditions=capped(limits.max_conditions),
        min_coverage=limits.required_coverage,
        time_limit=limits.time_limit,
        should_stop=should_stop(problem, callback),
        width=width,
    )
    return to_result(problem, result)
