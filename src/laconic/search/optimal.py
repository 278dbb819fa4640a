"""Exact search in the compiled core."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from laconic import _core
from laconic._checks import is_whole, require
from laconic.search.budget import choose_branching, resolve_node_limit
from laconic.search.core import capped, n_workers, run
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.results import Callback, SearchResult
from laconic.search.starts import search_from_starts

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
    beam_width: int | None = None,
    memory_limit: int = 2**28,
    without: Collection[str] = (),
    instruction_set: str | None = None,
) -> SearchResult:
    """Find the best query of all within the limits, by best-bound-first branch-and-bound.

    Of several best queries the result is the one with the fewest propositions, and of several of
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
        How a node is divided. ``"conditions"`` adds one proposition after the other.
        ``"tables"`` looks at all queries of up to four propositions, in tables of sums, at a cost
        that hardly depends on the gradients.
        ``"ranges"`` divides ranges of thresholds, which pays where features have many of them.
        ``"paper"`` adds propositions in the order of the paper, with its bound. ``"auto"`` takes
        conditions, tables or ranges, see :func:`~laconic.search.budget.choose_branching`. The query
        is the same with each of them, the work is not.
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

    Notes
    -----
    ``"auto"`` takes conditions if something is asked for that ranges do not have: an instruction
    set, a beam of some width, or to leave out an ingredient.
    """
    left_out = [name for name in without if name != "beam"]
    _check_options(branching, beam_width, memory_limit, left_out, instruction_set)
    if branching == "auto":
        is_decided = instruction_set is not None or bool(beam_width) or bool(left_out)
        chosen = choose_branching(problem.extents, limits.max_conditions, problem.n_components)
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
                ),
            )
        branching = "conditions" if is_decided and problem.n_components == 0 else chosen
    node_limit = resolve_node_limit(limits, problem.extents, branching)
    result = run(
        _core.optimal,
        problem,
        limits,
        callback,
        approximation_factor=limits.approximation_factor,
        node_limit=capped(node_limit),
        branching=branching,
        beam_width=0 if "beam" in without else beam_width,
        n_workers=n_workers(n_jobs),
        memory_limit=capped(memory_limit),
        instruction_set=instruction_set,
        without=left_out,
    )
    return dataclasses.replace(result, branching=branching, node_limit=node_limit)


def _check_options(
    branching: str,
    beam_width: int | None,
    memory_limit: int,
    left_out: list[str],
    instruction_set: str | None,
) -> None:
    """Refuse options that make no sense; the core refuses those that a branching lacks."""
    require(branching in BRANCHINGS, "branching", f"one of {', '.join(BRANCHINGS)}", branching)
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
