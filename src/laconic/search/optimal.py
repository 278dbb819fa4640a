"""Exact search in the compiled core."""

from __future__ import annotations

from collections.abc import Collection

from laconic import _core
from laconic.search.core import capped, n_workers, should_stop, to_result
from laconic.search.problem import (
    Callback,
    SearchLimits,
    SearchProblem,
    SearchResult,
    is_whole,
)

BOUNDS = ("row_classes", "ranges", "paper")

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
"""What the search can do without, to see what it is worth."""


def search_optimal(
    problem: SearchProblem,
    limits: SearchLimits,
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
    bound: str = "row_classes",
    beam_width: int = 6,
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
    bound : {"row_classes", "paper"}, default="row_classes"
        Bounding theorem applied to classes of rows that the remaining propositions cannot tell
        apart, or to single rows.
    beam_width : int, default=6
        Width of the beam search for a first incumbent; 0 starts from the query that is always true.
    memory_limit : int, default=2**28
        Bytes that open nodes may take. Beyond that the search goes on depth-first, with a bound
        that is as true but falls more slowly; the result says so (`SearchResult.was_depth_first`).
    without : collection of str, default=()
        Ingredients to leave out, of ``INGREDIENTS``. The result stays the same, the work does not.
    instruction_set : str or None, default=None
        Instructions to use, of those the processor has; None means the best ones. The result and
        the work stay the same, the time does not.
    """
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {', '.join(BOUNDS)}. Got {bound!r}.")
    if not is_whole(beam_width, 0):
        raise ValueError(
            f"beam_width must be a whole number in the range [0, inf). Got {beam_width!r}."
        )
    if not is_whole(memory_limit, 0):
        raise ValueError(
            f"memory_limit must be a whole number of bytes in the range [0, inf). "
            f"Got {memory_limit!r}."
        )
    unknown = sorted(set(without) - set(INGREDIENTS))
    if unknown:
        raise ValueError(f"without must name some of {', '.join(INGREDIENTS)}. Got {unknown[0]!r}.")
    available = _core.instruction_sets()
    if instruction_set is not None and instruction_set not in available:
        raise ValueError(
            f"instruction_set must be one that this processor has, of {', '.join(available)}, or "
            f"None. Got {instruction_set!r}."
        )
    result = _core.optimal(
        problem.propositions,
        problem.gradients,
        problem.hessians,
        problem.coverage,
        problem.l2_regularization,
        max_conditions=capped(limits.max_conditions),
        min_coverage=limits.required_coverage,
        approximation_factor=limits.approximation_factor,
        node_limit=capped(limits.node_limit),
        time_limit=limits.time_limit,
        should_stop=should_stop(problem, callback),
        bound=bound,
        beam_width=0 if "beam" in without else beam_width,
        n_workers=n_workers(n_jobs),
        memory_limit=min(memory_limit, 2**62),
        instruction_set=instruction_set or available[-1],
        without=[name for name in without if name != "beam"],
    )
    return to_result(problem, result)
