"""Shorter queries that are nearly as good as one that was found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from laconic.search.problem import SearchProblem
from laconic.search.results import SearchResult, SearchStatus


def simplified(
    problem: SearchProblem,
    result: SearchResult,
    share: float,
    price: Callable[[tuple[int, ...]], float] = lambda query: 0.0,
) -> SearchResult:
    """Leave out conditions that hardly matter, one at a time, the one that costs least first.

    All of them together may cost up to the given share of the objective, which is that after the
    price of a query. The certificate stays true: a bound on all queries is one on the shorter
    query, too.

    Examples
    --------
    The second condition excludes a row without gradient.

    >>> from laconic.search.problem import SearchLimits
    >>> from laconic.search.reference import search_reference
    >>> extents = [[True, True, True, False], [True, True, False, True]]
    >>> problem = SearchProblem(extents, [-9, -9, 0, 5], [1, 1, 1, 1], l2_regularization=10)
    >>> found = search_reference(problem, SearchLimits())
    >>> found.query, simplified(problem, found, 0.1).query
    ((0, 1), (0,))
    """

    def objective(query: tuple[int, ...]) -> float:
        return problem.objective(query) - price(query)

    query, value = result.query, result.objective_value
    lowest = (1.0 - share) * result.objective_value
    while query:
        shorter = [query[:place] + query[place + 1 :] for place in range(len(query))]
        # Of several that cost the same, the first one.
        best = max(shorter, key=objective)
        if objective(best) < lowest:
            break
        query, value = best, objective(best)
    if query == result.query:
        return result
    is_still_best = value >= result.bound
    is_proof = result.status is SearchStatus.OPTIMAL and not is_still_best
    return dataclasses.replace(
        result,
        query=query,
        objective_value=value,
        status=SearchStatus.APPROXIMATE if is_proof else result.status,
        n_conditions_found=len(result.query),
    )
