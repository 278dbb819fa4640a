"""Exact search in the compiled core."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from laconic import _core
from laconic._util.checks import is_whole, require
from laconic.search.budget import (
    choose_branching,
    nodes_of_first_try,
    resolve_node_limit,
    resolve_table_limit,
)
from laconic.search.core import capped, n_workers, run
from laconic.search.dask_cluster import checked_client, current_client, run_spread
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchResult, SearchStatus
from laconic.search.warm_starts import search_from_starts

# Of the core, for a first incumbent.
_DEFAULT_BEAM_WIDTH = 6

BRANCHINGS = ("auto", "conditions", "tables", "ranges", "paper")

INGREDIENTS = (
    "beam",
    "canonicity",
    "closure",
    "intersection",
    "leaves",
    "reordering",
    "row_classes",
    "tangents",
)
"""What branching over conditions can do without, to see what it is worth."""


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
    without: Collection[str] = (),
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
        ``"paper"`` adds conditions in the order of the paper, with its bound. ``"auto"`` takes
        conditions, tables or ranges, see :func:`~laconic.search.budget.choose_branching`. The query
        is the same with each of them, the work is not. Before tables for five conditions, it
        spends a few nodes over conditions, which is enough for easy problems.
    n_best : int, default=1
        How many queries to find: the best ones with different extents, in
        `SearchResult.queries`. Over ranges, and where rules are judged together with others in long
        queries, there is one.
    beam_width : int or None, default=None
        Width of the beam search for a first incumbent, 6 if it is None; 0 starts from the query
        that is always true. Ranges start from a local search instead, unless it is 0, and accept no
        other number.
    memory_limit : int, default=2**28
        Bytes that open nodes may take. Beyond that the search goes on depth-first, with a bound
        that is as true but falls more slowly; the result says so (`SearchResult.was_depth_first`).
    without : collection of str, default=()
        Ingredients to leave out, of ``INGREDIENTS``. The result stays the same, the work does not.
        Every way of branching can do without the beam. The others are those of ``"conditions"``.
    instruction_set : str or None, default=None
        Instructions to use, of those the processor has; None means the best ones. The result and
        the work stay the same, the time does not. Ranges have no choice.
    client : distributed.Client, default=None
        A Dask cluster whose workers share the search; None takes that of
        :func:`~laconic.search.spread_over`, if any. Searches over ranges, with a cutoff or for
        several queries stay on one machine.

    Notes
    -----
    ``"auto"`` takes conditions if something is asked for that ranges do not have: an instruction
    set, a beam of some width, or to leave out an ingredient.
    """
    left_out = [name for name in without if name != "beam"]
    _check_options(branching, n_best, beam_width, memory_limit, left_out, instruction_set)
    n_tried = None
    if branching == "auto":
        is_decided = instruction_set is not None or bool(beam_width) or bool(left_out)
        chosen = choose_branching(
            problem.extents,
            limits.max_conditions,
            problem.n_components,
            is_limited=limits.node_limit is not None,
        )
        if problem.n_components > 0 and chosen != "tables":
            return search_from_starts(
                problem,
                limits,
                lambda start, within, way: search_optimal(
                    start,
                    within,
                    n_jobs=n_jobs,
                    callback=callback,
                    branching=way,
                    memory_limit=memory_limit,
                    client=client,
                ),
            )
        branching = "conditions" if is_decided and problem.n_components == 0 else chosen
        if branching == "tables":
            n_tried = nodes_of_first_try(problem.extents, limits.max_conditions)
    node_limit = resolve_node_limit(limits, problem.extents, branching)
    call = partial(
        _runner(client, is_spread=branching != "ranges" and limits.cutoff is None and n_best == 1),
        problem,
        callback=callback,
        approximation_factor=limits.approximation_factor,
        n_workers=n_workers(n_jobs),
        memory_limit=capped(memory_limit),
        instruction_set=instruction_set,
        without=left_out,
        start=(),
        table_limit=resolve_table_limit(limits) if branching == "tables" else None,
        n_best=1 if branching == "ranges" else n_best,
        cutoff=None if limits.cutoff is None else _value_below(problem, limits.cutoff),
        stops_above_cutoff=limits.stop_above_cutoff,
    )
    width = 0 if "beam" in without else beam_width
    if width is None and n_best > _DEFAULT_BEAM_WIDTH and branching != "ranges":
        width = n_best
    if n_tried is None:
        result = call(limits, node_limit=capped(node_limit), branching=branching, beam_width=width)
    else:
        result = _try_conditions_first(call, limits, node_limit, n_tried, width)
        branching = result.branching or branching
    if limits.cutoff is not None:
        above = (each for each in result.queries if problem.objective(each) > limits.cutoff)
        result = dataclasses.replace(result, queries=tuple(above))
    if node_limit is None and result.status is SearchStatus.NODE_LIMIT:
        node_limit = result.counters["nodes"]  # as many as the work in tables allowed for
    return dataclasses.replace(result, branching=branching, node_limit=node_limit)


def _value_below(problem: SearchProblem, objective: float) -> float:
    """Tell what the core is to exceed, so that rounding loses no query above an objective."""
    return math.nextafter(problem.value_of(objective), 0.0)


def _runner(client: Any, *, is_spread: bool) -> Callable[..., SearchResult]:
    """Choose where a search is run: here, or on a cluster."""
    client = current_client() if client is None else checked_client(client)
    if client is None or not is_spread:
        return partial(run, _core.optimal)
    return partial(run_spread, client)


def _try_conditions_first(
    call: Callable[..., SearchResult],
    limits: SearchLimits,
    node_limit: int | None,
    n_tried: int,
    beam_width: int | None,
) -> SearchResult:
    """Spend a few nodes over conditions, then go on in tables from the best query so far."""
    started = time.perf_counter()
    n_first = n_tried if node_limit is None else min(n_tried, node_limit)
    first = call(limits, node_limit=n_first, branching="conditions", beam_width=beam_width)
    first = dataclasses.replace(first, branching="conditions")
    if first.status is not SearchStatus.NODE_LIMIT or n_first == node_limit:
        return first
    if limits.time_limit is not None:
        left = max(limits.time_limit - (time.perf_counter() - started), 1e-9)
        limits = dataclasses.replace(limits, time_limit=left)
    n_left = None if node_limit is None else capped(node_limit - n_first)
    second = call(limits, node_limit=n_left, branching="tables", beam_width=0, start=first.query)
    bound = min(first.bound, second.bound)
    queries = second.queries if len(second.queries) >= len(first.queries) else first.queries
    is_proven = bound <= second.objective_value
    return dataclasses.replace(
        second,
        bound=bound,
        status=SearchStatus.OPTIMAL if is_proven else second.status,
        counters={name: n + first.counters[name] for name, n in second.counters.items()},
        branching="tables",
        queries=queries,
    )


def _check_options(
    branching: str,
    n_best: int,
    beam_width: int | None,
    memory_limit: int,
    left_out: list[str],
    instruction_set: str | None,
) -> None:
    """Refuse options that make no sense; the core refuses those that a branching lacks."""
    require(branching in BRANCHINGS, "branching", f"one of {', '.join(BRANCHINGS)}", branching)
    require(is_whole(n_best, 1), "n_best", "a whole number in the range [1, inf)", n_best)
    counts = "a whole number in the range [0, inf)"
    is_width = beam_width is None or is_whole(beam_width, 0)
    require(is_width, "beam_width", f"{counts} or None", beam_width)
    require(is_whole(memory_limit, 0), "memory_limit", counts, memory_limit)
    for name in left_out:
        require(name in INGREDIENTS, "without", f"some of {', '.join(INGREDIENTS)}", name)
    available = _core.instruction_sets()
    require(
        instruction_set is None or instruction_set in available,
        "instruction_set",
        f"one that this processor has, of {', '.join(available)}, or None",
        instruction_set,
    )
