"""A cutoff below which nothing is wanted, and several best queries: exact, against brute force."""

from itertools import combinations

import numpy as np
import pytest

from laconic.search import RefittedTerms, SearchProblem, SearchStatus, search

BRANCHINGS = ("conditions", "tables", "ranges", "paper")


def draw(seed, *, zero_hessians=False, is_joint=False):
    rng = np.random.default_rng(seed)
    n_rows, n_conditions = int(rng.integers(4, 30)), int(rng.integers(2, 8))
    cuts = rng.integers(0, 5, size=(n_conditions // 2 + 1, n_rows))
    extents = np.array([row > cut for row in cuts for cut in (0, 2)])[:n_conditions]
    gradients = rng.integers(-4, 5, n_rows) if seed % 2 else rng.normal(size=n_rows)
    hessians = np.zeros(n_rows) if zero_hessians else rng.random(n_rows) + 0.1
    refitted = None
    if is_joint:
        covered = rng.random((2, n_rows)) < 0.5
        refitted = RefittedTerms(
            np.vstack([covered, np.ones((1, n_rows), bool)]), np.array([1.0, 1, 0])
        )
    return SearchProblem(extents, gradients, hessians, 1.0, refitted=refitted)


def objectives(problem, max_conditions, min_coverage=0.0):
    """The objective of every different extent, the largest first."""
    found = {}
    for size in range(max_conditions + 1):
        for query in combinations(range(problem.n_candidates), size):
            covered = problem.covered(query)
            if problem.coverage[covered].sum() >= min_coverage:
                found[covered.tobytes()] = problem.objective(query)
    return sorted(found.values(), reverse=True)


@pytest.mark.parametrize("branching", BRANCHINGS)
@pytest.mark.parametrize("seed", range(12))
def test_cutoff_is_proven_or_passed(branching, seed):
    problem = draw(seed, zero_hessians=seed % 3 == 0)
    best = objectives(problem, 3)[0]
    for share in (0.3, 0.999, 1.0, 1.001, 3.0):
        cutoff = share * best
        result = search(problem, max_conditions=3, branching=branching, cutoff=cutoff)
        assert result.bound >= best * (1 - 1e-12)
        if share < 1.0:
            assert result.status is SearchStatus.OPTIMAL
            assert result.objective_value == best
        elif share > 1.0 and best > 0.0:
            assert result.status is SearchStatus.CUTOFF
            assert result.bound == pytest.approx(cutoff, rel=1e-10)
            assert result.objective_value <= best


@pytest.mark.parametrize("branching", BRANCHINGS)
@pytest.mark.parametrize("seed", range(8))
def test_first_query_above_the_cutoff_ends_the_search(branching, seed):
    problem = draw(seed)
    values = objectives(problem, 3)
    cutoff = 0.5 * values[0]
    result = search(
        problem, max_conditions=3, branching=branching, cutoff=cutoff, stop_above_cutoff=True
    )
    whole = search(problem, max_conditions=3, branching=branching)
    assert result.status in (SearchStatus.CUTOFF, SearchStatus.OPTIMAL)
    assert cutoff < result.objective_value <= values[0]
    assert result.bound >= values[0] * (1 - 1e-12)
    assert result.counters["nodes"] <= whole.counters["nodes"]


@pytest.mark.parametrize("branching", ["conditions", "tables"])
@pytest.mark.parametrize("max_conditions", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("seed", range(10))
def test_best_queries_are_the_best(branching, max_conditions, seed):
    if branching == "tables" and max_conditions > 5:
        return
    problem = draw(seed, zero_hessians=seed % 3 == 0, is_joint=seed % 5 == 4)
    if problem.projections is not None and max_conditions > 4:
        return
    min_coverage = 3.0 if seed % 4 == 1 else 0.0
    min_coverage = min(min_coverage, problem.n_rows)
    length = min(max_conditions, problem.n_candidates)
    values = [value for value in objectives(problem, length, min_coverage) if value > 0.0]
    for n_best in (2, 5, 1000):
        for beam_width in (None, 0):
            result = search(
                problem,
                max_conditions=max_conditions,
                min_coverage=min_coverage,
                branching=branching,
                n_best=n_best,
                beam_width=beam_width,
            )
            found = [problem.objective(query) for query in result.queries]
            assert found == values[: len(found)]
            assert len(found) == min(n_best, len(values))
            extents = {problem.covered(query).tobytes() for query in result.queries}
            assert len(extents) == len(found)
            assert result.objective_value == max([*values, 0.0])
            assert result.status is SearchStatus.OPTIMAL


@pytest.mark.parametrize("branching", ["conditions", "tables"])
@pytest.mark.parametrize("seed", range(8))
def test_all_queries_above_a_cutoff(branching, seed):
    problem = draw(seed)
    values = objectives(problem, 3)
    cutoff = values[min(4, len(values) - 1)]
    result = search(problem, max_conditions=3, branching=branching, cutoff=cutoff, n_best=1000)
    found = [problem.objective(query) for query in result.queries]
    assert found == [value for value in values if value > cutoff]


@pytest.mark.parametrize("branching", ["conditions", "tables"])
def test_threads_change_nothing(branching):
    for seed in range(6):
        problem = draw(seed)
        results = [
            search(problem, max_conditions=3, branching=branching, n_best=4, n_jobs=n_jobs)
            for n_jobs in (1, 3)
        ]
        assert results[0].queries == results[1].queries
        assert results[0] == results[1] or results[0].query == results[1].query


def test_long_queries_are_tried_over_conditions_first():
    rng = np.random.default_rng(0)
    problem = SearchProblem(rng.random((12, 200)) < 0.6, rng.normal(size=200), np.ones(200), 1.0)
    values = [value for value in objectives(problem, 5) if value > 0.0]
    result = search(problem, max_conditions=5, n_best=5)
    assert [problem.objective(query) for query in result.queries] == values[:5]


def test_ranges_know_one_query():
    problem = draw(2)
    assert search(problem, branching="ranges", n_best=5).queries == ()


@pytest.mark.parametrize("cutoff", [-1.0, np.inf, np.nan])
def test_cutoffs_are_checked(cutoff):
    with pytest.raises(ValueError, match="cutoff must be a finite number"):
        search(draw(1), cutoff=cutoff)


def test_options_are_checked():
    with pytest.raises(ValueError, match="stop_above_cutoff must be False without a cutoff"):
        search(draw(1), stop_above_cutoff=True)
    with pytest.raises(ValueError, match="n_best must be a whole number"):
        search(draw(1), n_best=0)
