"""All conjunctions of a small problem: a search that is too simple to be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from laconic.search import Family, QueryFamilies
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.reference import value_of_gain
from laconic.search.results import Callback, SearchResult, SearchStatus


def search_brute_force(
    problem: SearchProblem,
    limits: SearchLimits,
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
) -> SearchResult:
    """Look at every query of a small problem, shorter ones first, in lexicographic order.

    Of queries with the same extent only the first one is taken further: exchanging a part of a
    query for an equivalent one that is shorter, or as short and lexicographically smaller, does
    the same to the whole. So the result is the best query, of several the shortest, and of several
    of those the first.

    Of the limits, only those on conditions and coverage count; `n_jobs` and `callback` have no
    effect.
    """
    extents = [problem.covered((p,)) for p in range(problem.n_candidates)]
    max_conditions = len(extents) if limits.max_conditions is None else limits.max_conditions
    everything = problem.covered(())
    level: list[tuple[tuple[int, ...], np.ndarray]] = [((), everything)]
    known = {everything.tobytes()}
    best_query: tuple[int, ...] = ()
    best_value = problem.value(everything)
    for _ in range(max_conditions):
        longer = []
        for query, covered in level:
            for p in range(query[-1] + 1 if query else 0, len(extents)):
                augmented = covered & extents[p]
                if augmented.tobytes() in known:
                    continue
                known.add(augmented.tobytes())
                longer.append(((*query, p), augmented))
        for query, covered in longer:
            value = problem.value(covered)
            if value > best_value and problem.coverage[covered].sum() >= limits.required_coverage:
                best_query, best_value = query, value
        level = longer
    return SearchResult(
        query=best_query,
        objective_value=problem.objective_of(best_value),
        bound=problem.objective_of(best_value),
        status=SearchStatus.OPTIMAL,
        counters={"evaluations": len(known)},
    )


def all_values(
    problem: SearchProblem,
    max_conditions: int | None = None,
    min_coverage: float = 0.0,
    families: QueryFamilies | None = None,
    **prices: float,
) -> list[list[tuple[float, float, tuple[int, ...]]]]:
    """Value, gain and wording of every allowed query of a small problem, by length.

    The largest gain of a length comes first, and of several the lexicographically first query.
    """
    n = problem.n_candidates
    if families is None:
        families = QueryFamilies((Family(tuple(range(n))),))
    longest = n if max_conditions is None else min(max_conditions, n)
    gains: dict[tuple[int, ...], float] = {}
    known: dict[tuple[bytes, int], float | None] = {}
    for family in families.families:
        signed = problem.restricted(problem.extents, family.sign)
        for length in range(min(longest, len(family.conditions)) + 1):
            for query in combinations(family.conditions, length):
                covered = problem.covered(query)
                key = covered.tobytes(), family.sign
                if key not in known:
                    is_large = problem.coverage[covered].sum() >= min_coverage * (1 - 1e-12)
                    known[key] = signed.objective(query) if is_large or not query else None
                gain = known[key]
                if gain is not None:
                    gain -= families.cost(query)
                    gains[query] = max(gains.get(query, gain), gain)
    values: list[list[tuple[float, float, tuple[int, ...]]]] = [[] for _ in range(longest + 1)]
    for query, gain in gains.items():
        values[len(query)].append((value_of_gain(gain, len(query), n, **prices), gain, query))
    return [sorted(of_length, key=lambda each: (-each[1], each[2])) for of_length in values]


def best_value(
    values: Sequence[Sequence[tuple[float, float, tuple[int, ...]]]], brevity: float = 0.0
) -> tuple[tuple[int, ...], float]:
    """The query of the largest value; a longer one must gain more by more than rounding."""
    best: tuple[tuple[int, ...], float] = (), 0.0
    for of_length in values:
        for value, gain, query in of_length[:1]:
            gained = (value - best[1]) * (1 + len(query)) ** brevity
            if value > best[1] and gained > 2.0**-29 * (gain - gained):
                best = query, value
    return best
