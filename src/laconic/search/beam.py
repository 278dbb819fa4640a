"""Heuristic searches in the compiled core: beam, and greedy as its narrow form."""

from __future__ import annotations

from collections.abc import Sequence

from laconic import _core
from laconic._util.checks import is_whole, require
from laconic.search.core import call, run
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchResult


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
    """List all queries that a beam search keeps, size by size, no two with the same extent in one.

    It starts from given queries, which are of one size.

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
