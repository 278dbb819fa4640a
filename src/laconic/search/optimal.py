"""Exact search in the compiled core, by the way of branching that suits a problem.

The bounds of the joint objective say little about long queries (see
:mod:`laconic.search.joint_objective`), so what a search finds among them depends on where it
begins. Two exact searches of easier problems are good warm starts: the best query of a few
conditions, and the best query of the stagewise objective.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from laconic import _core
from laconic._util.checks import is_whole, require
from laconic._util.parallel import n_workers
from laconic.search.budget import (
    choose_branching,
    longest_affordable_queries,
    nodes_of_first_try,
    resolve_node_limit,
    resolve_table_limit,
)
from laconic.search.core import MAX_WORKERS, capped, run
from laconic.search.distributed import checked_client, current_client, run_distributed
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchResult, SearchStatus

BRANCHINGS = ("auto", "conditions", "tables", "ranges", "paper")
# Of the core, for a first incumbent.
_DEFAULT_BEAM_WIDTH = 6
# Of the time limit, for warm starts: the last search gives the bound, and on wide tables it takes
# seconds to begin.
_SHARE_OF_STARTS = 0.5


def search_optimal(
    problem: SearchProblem,
    limits: SearchLimits,
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
    branching: str = "auto",
    n_best: int = 1,
    beam_width: int | None = None,
    memory_limit: int = 2**28,
    leaves: bool = True,
    instruction_set: str | None = None,
    client: Any = None,
) -> SearchResult:
    """Find the best query of all within the limits, by best-bound-first branch-and-bound.

    Of several best queries the result is the one with the fewest conditions, and of several of
    those the lexicographically first.

    Parameters
    ----------
    problem : SearchProblem
    limits : SearchLimits
    n_jobs : int or None, default=1
        Number of threads; -1 means all processors. The result is the same for any number.
    callback : callable, default=None
        Called with a :class:`SearchProgress` up to twenty times a second; a true return value ends
        the search.
    branching : {"auto", "conditions", "tables", "ranges", "paper"}, default="auto"
        How a node is divided. ``"conditions"`` adds one condition after the other.
        ``"tables"`` looks at all queries of up to four conditions, in tables of sums, at a cost
        that hardly depends on the gradients; those of five it divides by their first ones.
        ``"ranges"`` divides ranges of thresholds, which pays where features have many of them.
        ``"paper"`` adds conditions in the order of the paper, with its bound. ``"auto"`` chooses
        conditions, tables or ranges, see :func:`~laconic.search.budget.choose_branching`; before
        tables for five conditions, it spends a few nodes over conditions, which is enough for easy
        problems. The query is the same with each of them, the work is not.
    n_best : int, default=1
        How many queries to find: the best ones with different extents, in
        `SearchResult.queries`. Over ranges, and for long queries of the joint objective, there is
        one.
    beam_width : int or None, default=None
        Width of the beam search for a first incumbent, 6 if it is None; 0 starts from the query
        that is always true. Ranges start from a local search instead, unless it is 0, and accept no
        other number.
    memory_limit : int, default=2**28
        Bytes that open nodes may take. Beyond that the search goes on depth-first, with a bound
        that is as true but falls more slowly; the result says so (`SearchResult.was_depth_first`).
    leaves : bool, default=True
        Over conditions: whether a few remaining conditions are solved at once, by superset sums.
        Switched off, small problems are branched too, which tests need.
    instruction_set : str or None, default=None
        Instructions to use, of those the processor has; None means the best ones. The result and
        the work stay the same, the time does not. Not available over ranges.
    client : distributed.Client, default=None
        A Dask cluster whose workers share the search; None takes that of
        :func:`~laconic.search.spread_over`, if any. Searches over ranges, for several queries, or
        for any query above a cutoff stay on one machine; others have no use of a cutoff there.

    Notes
    -----
    ``"auto"`` chooses conditions where an option is given that ranges do not have: an instruction
    set, a beam of some width, or no leaves.
    """
    _check_options(branching, n_best, beam_width, memory_limit, instruction_set)
    n_tried = None
    if branching == "auto" and limits.max_conditions == 0 and n_best == 1:
        return _empty_query(problem, limits)
    if branching == "auto":
        is_decided = instruction_set is not None or bool(beam_width) or not leaves
        chosen = choose_branching(
            problem.extents,
            limits.max_conditions,
            is_joint=problem.n_components > 0,
            is_limited=limits.node_limit is not None,
        )
        if problem.n_components > 0 and chosen != "tables":
            options = {"n_jobs": n_jobs, "memory_limit": memory_limit, "client": client}
            return search_from_starts(
                problem, limits, partial(search_optimal, callback=callback, **options)
            )
        branching = "conditions" if is_decided and problem.n_components == 0 else chosen
        if branching == "tables" and problem.n_components == 0:
            n_tried = nodes_of_first_try(problem.extents, limits.max_conditions)
    node_limit = resolve_node_limit(limits, problem.extents, branching)
    client = current_client() if client is None else checked_client(client)
    is_shared = client is not None and branching != "ranges" and n_best == 1
    if is_shared and not limits.stop_above_cutoff:
        limits = replace(limits, cutoff=None)  # the parts of a search know no cutoff
    cutoff = None
    if limits.cutoff is not None:  # rounding must not lose a query above it
        cutoff = math.nextafter(problem.value_of(limits.cutoff), 0.0)
    is_shared = is_shared and cutoff is None
    find = partial(run_distributed, client) if is_shared else partial(run, _core.optimal)
    call = partial(
        find,
        problem,
        callback=callback,
        approximation_factor=limits.approximation_factor,
        n_workers=min(n_workers(n_jobs), MAX_WORKERS),
        memory_limit=capped(memory_limit),
        instruction_set=instruction_set,
        leaves=leaves,
        start=(),
        table_limit=resolve_table_limit(limits) if branching == "tables" else None,
        n_best=1 if branching == "ranges" else n_best,
        cutoff=cutoff,
        stops_above_cutoff=limits.stop_above_cutoff,
    )
    if beam_width is None:
        beam_width = _beam_width(n_best, branching, limits)
    if n_tried is None:
        result = call(
            limits, node_limit=capped(node_limit), branching=branching, beam_width=beam_width
        )
    else:
        result = _try_conditions_first(call, limits, node_limit, n_tried, beam_width)
        branching = result.branching or branching
    if limits.cutoff is not None:
        above = (each for each in result.queries if problem.objective(each) > limits.cutoff)
        result = replace(result, queries=tuple(above))
    if node_limit is None and result.status is SearchStatus.NODE_LIMIT:
        node_limit = result.counters["nodes"]  # as many as the work in tables allowed for
    return replace(result, branching=branching, node_limit=node_limit)


def _beam_width(n_best: int, branching: str, limits: SearchLimits) -> int | None:
    """Choose the width of the beam; None for the usual one."""
    if n_best > _DEFAULT_BEAM_WIDTH and branching != "ranges":
        return n_best
    is_limited = isinstance(limits.node_limit, int) or limits.time_limit is not None
    is_short = limits.max_conditions is not None and limits.max_conditions < 3
    # To look at all short queries takes less time.
    return 0 if branching == "tables" and is_short and not is_limited else None


def _empty_query(problem: SearchProblem, limits: SearchLimits) -> SearchResult:
    """Return the result of the only query without conditions."""
    value, cutoff = problem.objective(()), limits.cutoff or 0.0
    is_cut = limits.cutoff is not None and value <= cutoff
    return SearchResult(
        query=(),
        objective_value=value,
        bound=max(value, cutoff) if is_cut else value,
        status=SearchStatus.CUTOFF if is_cut else SearchStatus.OPTIMAL,
        counters={"nodes": 0},
        branching="tables",
    )


def _try_conditions_first(
    call: Callable[..., SearchResult],
    limits: SearchLimits,
    node_limit: int | None,
    n_tried: int,
    beam_width: int | None,
) -> SearchResult:
    """Spend a few nodes over conditions, then go on in tables from the best query so far."""
    deadline = limits.deadline()
    n_first = n_tried if node_limit is None else min(n_tried, node_limit)
    first = call(limits, node_limit=n_first, branching="conditions", beam_width=beam_width)
    first = replace(first, branching="conditions")
    if first.status is not SearchStatus.NODE_LIMIT or n_first == node_limit:
        return first
    n_left = None if node_limit is None else capped(node_limit - n_first)
    second = call(
        limits.until(deadline),
        node_limit=n_left,
        branching="tables",
        beam_width=0,
        start=first.query,
    )
    bound = min(first.bound, second.bound)
    is_proven = bound <= second.objective_value
    return replace(
        second,
        bound=bound,
        status=SearchStatus.OPTIMAL if is_proven else second.status,
        counters={name: n + first.counters[name] for name, n in second.counters.items()},
        branching="tables",
        queries=max(second.queries, first.queries, key=len),
    )


def search_from_starts(
    problem: SearchProblem, limits: SearchLimits, search: Callable[..., SearchResult]
) -> SearchResult:
    """Search for the best query of the joint objective, after easier searches as warm starts.

    Parameters
    ----------
    problem : SearchProblem
        With refitted terms.
    limits : SearchLimits
        Those on nodes and time hold for all searches together.
    search : callable
        Searches a problem within limits by a way of branching, its keyword ``branching``.

    Returns
    -------
    SearchResult
        That of the search for the best query, with its bound, and the best of all queries found.
    """
    n_left = node_limit = resolve_node_limit(limits, problem.extents)
    limits = replace(limits, node_limit=n_left)
    deadline = until_starts = limits.deadline()
    if deadline is not None and limits.time_limit is not None:
        until_starts = deadline - (1 - _SHARE_OF_STARTS) * limits.time_limit
    # Stagewise objectives are larger than joint ones, so that a cutoff means nothing.
    stagewise_limits = replace(limits, cutoff=None, stop_above_cutoff=False)
    easier = [(problem.stagewise(), stagewise_limits, "auto")]
    n_conditions = longest_affordable_queries(problem, limits)
    if n_conditions > 0:
        short_limits = replace(limits, max_conditions=n_conditions, node_limit=None)
        easier.append((problem, short_limits, "tables"))
    found = []
    is_interrupted = False
    for start, start_limits, branching in easier:
        result = search(start, start_limits.until(until_starts), branching=branching)
        found.append(result.query)
        if branching == "auto" and n_left is not None:
            n_left = max(n_left - result.counters["nodes"], 1)
            limits = replace(limits, node_limit=n_left)
        is_interrupted = result.status is SearchStatus.INTERRUPTED
        if is_interrupted:
            limits = replace(limits, node_limit=1)  # for the bound
            break
    # The bounds of branching over conditions need some penalty.
    branching = "conditions" if problem.l2_regularization > 0.0 else "paper"
    result = search(problem, limits.until(deadline), branching=branching)
    # The limit on all searches, not what was left for the last one.
    result = replace(result, node_limit=node_limit)
    if is_interrupted and not result.is_optimal:
        result = replace(result, status=SearchStatus.INTERRUPTED)
    best = max(found, key=problem.objective)
    value = problem.objective(best)
    if value <= result.objective_value:
        return result
    return replace(result, query=best, objective_value=value, bound=max(result.bound, value))


def _check_options(
    branching: str,
    n_best: int,
    beam_width: int | None,
    memory_limit: int,
    instruction_set: str | None,
) -> None:
    """Raise an error for impossible options; the core refuses those that a branching lacks."""
    require(branching in BRANCHINGS, "branching", f"one of {', '.join(BRANCHINGS)}", branching)
    require(is_whole(n_best, 1), "n_best", "a whole number in the range [1, inf)", n_best)
    counts = "a whole number in the range [0, inf)"
    is_width = beam_width is None or is_whole(beam_width, 0)
    require(is_width, "beam_width", f"{counts} or None", beam_width)
    require(is_whole(memory_limit, 0), "memory_limit", counts, memory_limit)
    available = _core.instruction_sets()
    require(
        instruction_set is None or instruction_set in available,
        "instruction_set",
        f"one that this processor has, of {', '.join(available)}, or None",
        instruction_set,
    )
