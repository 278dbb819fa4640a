"""Queries that are made shorter: what is left out, and what stays proven."""

import numpy as np
import pytest
from brute_force import search_brute_force
from problems import random_problem, random_problem_with_others

from laconic.search import SearchResult, SearchStatus, search
from laconic.search.simplify import simplified


@pytest.mark.parametrize("make", [random_problem, random_problem_with_others])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_shorter_queries_keep_their_share(make, share):
    n_shorter = 0
    for seed in range(300):
        case = make(seed)
        found = search(case.problem, search_brute_force, **case.limits)
        result = search(case.problem, search_brute_force, simplify=share, **case.limits)
        assert set(result.query) <= set(found.query)
        assert result.objective_value == case.problem.objective(result.query)
        assert result.objective_value >= (1 - share) * found.objective_value
        assert result.bound == found.bound
        coverage = case.problem.coverage[case.problem.covered(result.query)].sum()
        assert coverage >= case.limits.get("min_coverage", 0)
        if result.query == found.query:
            assert result.n_conditions_found is None
            assert result.status is SearchStatus.OPTIMAL
            continue
        n_shorter += 1
        assert result.n_conditions_found == len(found.query)
        assert result.is_optimal == (result.objective_value == found.bound)
        # Nothing more can be left out.
        for place in range(len(result.query)):
            shorter = result.query[:place] + result.query[place + 1 :]
            assert case.problem.objective(shorter) < (1 - share) * found.objective_value
    assert n_shorter > 0


def test_nothing_is_left_out_by_default():
    for seed in range(50):
        case = random_problem(seed)
        assert search(case.problem, **case.limits).n_conditions_found is None


@pytest.mark.parametrize(
    "status", [SearchStatus.HEURISTIC, SearchStatus.NODE_LIMIT, SearchStatus.APPROXIMATE]
)
def test_other_statuses_stay(status):
    rng = np.random.default_rng(0)
    problem = random_problem(int(rng.integers(100))).problem
    query = tuple(range(problem.n_candidates))
    result = SearchResult(query, problem.objective(query), np.inf, status)
    assert simplified(problem, result, 0.99).status is status


@pytest.mark.parametrize("share", [-0.1, 1.0, np.nan])
def test_wrong_shares(share):
    with pytest.raises(ValueError, match=r"simplify must be a number in the range \[0, 1\)"):
        search(random_problem(0).problem, simplify=share)
