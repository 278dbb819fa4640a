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

BRANCHINGS = ("auto", "conditions", "ranges", "paper")

# Measured on nine tables with 20 thresholds per feature, on five with 40 and 8, and on fifteen with
# all of them. Branching over conditions gets slow with many columns, and from 40 thresholds per
# feature on even where features are few; ranges get slow with many rows. Where queries are short,
# there are too few of them for ranges to pay.
_LEAST_CHAIN_LENGTH = 32
_LEAST_CHAIN_LENGTH_OF_MANY = 10
_MANY_COLUMNS = 1_000
_LEAST_CONDITIONS = 3
_MOST_ROWS = 40_000

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
    branching : {"auto", "conditions", "ranges", "paper"}, default="auto"
        What to branch over: one more condition, or ranges of thresholds. ``"paper"`` adds
        conditions in the order and with the bound of the paper. ``"auto"`` takes
        ranges where nested propositions are many, on average 32 in a chain, or 10 if there are
        1,000 of them, unless ``max_conditions`` is below 3 or there are more than 40,000 distinct
        rows. The query is the same with each of them, the work is not.
    beam_width : int or None, default=None
        Width of the beam search for a first incumbent, 6 if it is None; 0 starts from the query
        that is always true. Ranges start from a local search instead and accept no other number.
    memory_limit : int, default=2**28
        Bytes that open nodes may take. Beyond that the search goes on depth-first, with a bound
        that is as true but falls more slowly; the result says so (`SearchResult.was_depth_first`).
    without : collection of str, default=()
        Ingredients to leave out, of ``INGREDIENTS``. The result stays the same, the work does not.
        Only ``"conditions"`` has others than the beam.
    instruction_set : str or None, default=None
        Instructions to use, of those the processor has; None means the best ones. The result and
        the work stay the same, the time does not. Ranges have no choice.
    """
    if branching not in BRANCHINGS:
        raise ValueError(f"branching must be one of {', '.join(BRANCHINGS)}. Got {branching!r}.")
    if beam_width is not None and not is_whole(beam_width, 0):
        raise ValueError(
            f"beam_width must be a whole number in the range [0, inf) or None. Got {beam_width!r}."
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
    ingredients = [name for name in without if name != "beam"]
    if branching == "auto":
        # What only one of them has decides; else what is faster.
        is_conditions = instruction_set is not None or bool(beam_width) or bool(ingredients)
        branching = "conditions" if is_conditions else _chosen(problem, limits)
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
        branching=branching,
        beam_width=0 if "beam" in without else beam_width,
        n_workers=n_workers(n_jobs),
        memory_limit=min(memory_limit, 2**62),
        instruction_set=instruction_set,
        without=ingredients,
    )
    return to_result(problem, result)


def has_long_chains(propositions: _core.Extents, max_conditions: int | None) -> bool:
    """Tell whether a search over ranges of thresholds is the faster one.

    Parameters
    ----------
    propositions : Extents
    max_conditions : int or None
        Largest number of conditions in a query; None sets no limit.

    Returns
    -------
    bool
        The same for the same arguments, on every machine.
    """
    is_short = max_conditions is not None and max_conditions < _LEAST_CONDITIONS
    if is_short or propositions.n_distinct_rows > _MOST_ROWS:
        return False
    n_columns, n_chains = propositions.n_columns, propositions.n_chains
    is_wide = n_columns >= max(_MANY_COLUMNS, _LEAST_CHAIN_LENGTH_OF_MANY * n_chains)
    return is_wide or n_columns >= _LEAST_CHAIN_LENGTH * n_chains > 0


def _chosen(problem: SearchProblem, limits: SearchLimits) -> str:
    is_long = has_long_chains(problem.propositions, limits.max_conditions)
    return "ranges" if is_long else "conditions"
