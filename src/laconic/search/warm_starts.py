"""Queries to start from where rules are judged together with others and may have many conditions.

Bounds say little about such queries (see :mod:`laconic.search.joint_objective`), so that what is
found depends on where the search begins. Two exact searches of easier problems are good starts: the
best query of a few conditions, and the best query if all other weights stayed as they are.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from laconic.search.budget import longest_affordable_queries, resolve_node_limit
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import SearchResult, SearchStatus

# The last search gives the bound, and on wide tables it takes seconds to begin.
SHARE_OF_STARTS = 0.5

Search = Callable[[SearchProblem, SearchLimits, str], SearchResult]


def search_from_starts(
    problem: SearchProblem, limits: SearchLimits, search: Search
) -> SearchResult:
    """Search for the best query, and for easier ones that may turn out to be better.

    Parameters
    ----------
    problem : SearchProblem
        With others.
    limits : SearchLimits
        Those on nodes and time hold for all searches together.
    search : callable
        Searches a problem, with others or without, within limits, by a way of branching.

    Returns
    -------
    SearchResult
        That of the search for the best query, with its bound, and the best of all queries found.
    """
    n_left = node_limit = resolve_node_limit(limits, problem.extents)
    limits = dataclasses.replace(limits, node_limit=n_left)
    deadline = until_starts = None
    if limits.time_limit is not None:
        deadline = time.perf_counter() + limits.time_limit
        until_starts = deadline - (1 - SHARE_OF_STARTS) * limits.time_limit
    # Without others, objectives are larger ones.
    free = dataclasses.replace(limits, cutoff=None, stop_above_cutoff=False)
    easier = [(problem.without_others(), free, "auto")]
    n_conditions = longest_affordable_queries(problem, limits)
    if n_conditions > 0:
        short = dataclasses.replace(limits, max_conditions=n_conditions, node_limit=None)
        easier.append((problem, short, "tables"))
    found = []
    is_interrupted = False
    for start, start_limits, branching in easier:
        result = search(start, _until(until_starts, start_limits), branching)
        found.append(result.query)
        if branching == "auto" and n_left is not None:
            n_left = max(n_left - result.counters["nodes"], 1)
            limits = dataclasses.replace(limits, node_limit=n_left)
        is_interrupted = result.status is SearchStatus.INTERRUPTED
        if is_interrupted:
            limits = dataclasses.replace(limits, node_limit=1)  # for the bound
            break
    # Bounds at a discount need some penalty.
    branching = "conditions" if problem.l2_regularization > 0.0 else "paper"
    result = search(problem, _until(deadline, limits), branching)
    # Not what the other searches have left of it.
    result = dataclasses.replace(result, node_limit=node_limit)
    if is_interrupted and not result.is_optimal:
        result = dataclasses.replace(result, status=SearchStatus.INTERRUPTED)
    best = max(found, key=problem.objective)
    value = problem.objective(best)
    if value <= result.objective_value:
        return result
    return dataclasses.replace(
        result, query=best, objective_value=value, bound=max(result.bound, value)
    )


def _until(deadline: float | None, limits: SearchLimits) -> SearchLimits:
    """Shorten the time limit to what is left."""
    if deadline is None:
        return limits
    # A search needs some time, if only to look at the clock.
    return dataclasses.replace(limits, time_limit=max(deadline - time.perf_counter(), 1e-3))
