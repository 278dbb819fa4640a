"""The ceiling holds for every set of rows, and so for every query."""

import itertools
import math

import numpy as np
import pytest
from rounds import fit_weights

from laconic.losses import LogisticLoss, SquaredLoss
from laconic.search import RefittedTerms, SearchProblem, SearchResult, SearchStatus, search
from laconic.search.joint_bound import joint_bound


def random_problem(seed, *, penalty=None):
    """All sets of rows are queries: a condition leaves out a row."""
    rng = np.random.default_rng(seed)
    n_rows, n_terms = int(rng.integers(2, 10)), int(rng.integers(0, 5))
    penalty = float(rng.choice([0.01, 0.3, 3.0, 100.0])) if penalty is None else penalty
    covered = rng.random((n_terms, n_rows)) < 0.5
    if seed % 3 == 2 and n_terms > 0:  # the last term is a slope
        covered = np.vstack([covered[1:], rng.normal(size=(1, n_rows)).round(seed % 2)])
    fit_intercept = n_terms == 0 or rng.random() < 0.7
    is_squared = rng.random() < 0.5
    loss = SquaredLoss() if is_squared else LogisticLoss()
    y = rng.normal(size=n_rows) * 5 if is_squared else np.resize([1.0, -1.0, 1.0], n_rows)
    weight = rng.choice([1.0, 0.3, 4.0], n_rows) if rng.random() < 0.5 else None
    options = {"penalty": penalty, "fit_intercept": fit_intercept, "sample_weight": weight}
    weights = fit_weights(covered, y, loss, **options)
    penalties = np.full(n_terms, penalty)
    if fit_intercept:
        covered = np.vstack([covered, np.ones((1, n_rows), dtype=covered.dtype)])
        penalties = np.append(penalties, 0.0)
    raw, refitted = weights @ covered, RefittedTerms(covered, penalties)
    gradients, hessians = loss.gradients(y, raw), loss.hessians(y, raw)
    without_a_row = ~np.eye(n_rows, dtype=bool)
    return SearchProblem(without_a_row, gradients, hessians, penalty, weight, refitted)


def best_value(problem):
    rows = itertools.product([False, True], repeat=problem.n_rows)
    return max(problem.value(np.array(covered)) for covered in rows) / problem.normalizer


@pytest.mark.parametrize("chunk", range(10))
def test_no_set_of_rows_is_above_the_ceiling(chunk):
    for seed in range(40 * chunk, 40 * (chunk + 1)):
        problem = random_problem(seed)
        best = best_value(problem)
        for share in (0.01, 0.5, 1.0):
            if best > 0.0:
                assert joint_bound(problem, share * best) >= best


@pytest.mark.parametrize(("of_gradients", "of_hessians"), [(300, 0), (-300, 0), (-400, -500)])
def test_extreme_scales_change_nothing(of_gradients, of_hessians):
    n_rows, penalty = 8, 3.0
    intercept = RefittedTerms(np.ones((1, n_rows), dtype=bool), np.zeros(1))
    for seed in range(10):
        gradients = np.random.default_rng(seed).normal(size=n_rows)
        gradients -= gradients.mean()
        plain, scaled = (
            SearchProblem(
                ~np.eye(n_rows, dtype=bool),
                np.ldexp(gradients, first),
                np.full(n_rows, np.ldexp(2.0, second)),
                np.ldexp(penalty, second),
                refitted=intercept,
            )
            for first, second in [(0, 0), (of_gradients, of_hessians)]
        )
        factor = 2 * of_gradients - of_hessians
        expected = search(plain, "greedy", max_conditions=2)
        result = search(scaled, "greedy", max_conditions=2)
        assert result.query == expected.query
        assert result.bound == pytest.approx(np.ldexp(expected.bound, factor), rel=1e-9)


def test_beside_an_intercept_the_ceiling_is_the_best_set_of_rows():
    for seed in range(40):
        n_rows = 8
        gradients = np.random.default_rng(seed).normal(size=n_rows)
        intercept = RefittedTerms(np.ones((1, n_rows), dtype=bool), np.zeros(1))
        problem = SearchProblem(
            ~np.eye(n_rows, dtype=bool),
            gradients - gradients.mean(),
            np.full(n_rows, 2.0),
            l2_regularization=3.0,
            refitted=intercept,
        )
        best = best_value(problem)
        assert best <= joint_bound(problem, 0.5 * best) <= 1.001 * best


@pytest.mark.parametrize("chunk", range(4))
def test_without_a_penalty_no_set_is_above_the_best_fit(chunk):
    for seed in range(20 * chunk, 20 * (chunk + 1)):
        problem = random_problem(seed, penalty=0.0)
        best = best_value(problem)
        if best > 0.0:
            assert joint_bound(problem, best) >= best


def test_beside_a_slope_no_set_gains_more_than_a_term_that_fits_every_row():
    rng = np.random.default_rng(0)
    slope = rng.normal(size=50)
    values = np.array([np.ones(50), slope])
    gradients = rng.normal(size=50)
    gradients -= values.T @ np.linalg.lstsq(values.T, gradients, rcond=None)[0]
    terms = RefittedTerms(values, np.array([0.0, 1e-6]))
    problem = SearchProblem(rng.random((9, 50)) < 0.5, gradients, np.ones(50), 1e-6, refitted=terms)
    fit = gradients @ gradients / problem.normalizer
    assert joint_bound(problem, 1e-3 * fit) == pytest.approx(fit, rel=0.02)


def test_nothing_is_known_of_what_gains_nothing():
    assert joint_bound(random_problem(3), 0.0) == math.inf
    assert joint_bound(random_problem(3).stagewise(), 1.0) == math.inf


@pytest.mark.parametrize("method", ["greedy", "beam", "optimal"])
def test_unproven_results_have_it_as_a_bound(method):
    for seed in range(40):
        problem = random_problem(seed)
        result = search(problem, method, node_limit=1)
        if result.objective_value > 0.0 and not result.is_optimal:
            assert result.bound <= joint_bound(problem, result.objective_value)
        assert result.bound >= best_value(problem)


def test_what_a_search_of_ones_own_says_is_left_alone():
    def own(problem, limits, **options):
        return SearchResult((), 0.5, 1e9, SearchStatus.TIME_LIMIT)

    assert search(random_problem(0), own).bound == 1e9
