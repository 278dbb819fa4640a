"""All conjunctions of a small problem: a search that is too simple to be wrong."""

from __future__ import annotations

import numpy as np

from laconic.search.problem import SearchLimits, SearchProblem
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
