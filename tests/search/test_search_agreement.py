"""Every method on every problem, against brute force.

Sums are exact, so most comparisons are for equality and not for closeness.
"""

import numpy as np
import pytest
from brute_force import search_brute_force
from problems import n_drawn, random_problem

from laconic.search import SearchProblem, SearchStatus, search

N_PROBLEMS = n_drawn(6_000)
N_CHUNKS = 12

OPTIMAL_VARIANTS = [
    {},
    {"branching": "paper"},
    {"beam_width": 0},
    {"n_jobs": 2},
    # Small problems are solved as leaves; without these, everything else has to prove itself.
    {"leaves": False},
    {"leaves": False, "beam_width": 0, "instruction_set": "scalar"},
    {"leaves": False, "n_jobs": 2},
    {"leaves": False, "beam_width": 0, "memory_limit": 0},
    {"branching": "ranges"},
    {"branching": "ranges", "beam_width": 0},
    {"branching": "ranges", "n_jobs": 2},
    {"branching": "ranges", "beam_width": 0, "memory_limit": 0},
]
REFERENCE_VARIANTS = [
    {},
    {"bounding": False},
    {"core_queries": False},
    {"propagation": False},
    {"opus": False},
    {"best_first": False},
    {"shortening": False},
]


def chunk(number):
    return range(number * N_PROBLEMS // N_CHUNKS, (number + 1) * N_PROBLEMS // N_CHUNKS)


def in_turn(variants, seed):
    """The first variant of what is slow on all problems, each of the others on some."""
    first, *others = variants
    return [first, others[seed % len(others)]]


def check_certificate(case, result):
    """The result is what it says it is, and within the limits."""
    assert case.problem.objective(result.query) == result.objective_value
    assert list(result.query) == sorted(set(result.query))
    assert len(result.query) <= case.limits.get("max_conditions", np.inf)
    coverage = case.problem.coverage[case.problem.covered(result.query)].sum()
    assert coverage >= case.limits.get("min_coverage", 0)
    assert result.bound >= result.objective_value


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_exact_methods_agree_with_brute_force(number):
    for seed in chunk(number):
        case = random_problem(seed)
        expected = search(case.problem, search_brute_force, **case.limits)
        check_certificate(case, expected)
        for options in OPTIMAL_VARIANTS:
            result = search(case.problem, "optimal", **case.limits, **options)
            # Ties included: the fewest conditions, then the first ones.
            assert result.query == expected.query, (seed, case, options)
            assert result.objective_value == expected.objective_value
            assert result.bound == result.objective_value
            assert result.status is SearchStatus.OPTIMAL
        for options in in_turn(REFERENCE_VARIANTS, seed):
            result = search(case.problem, "reference", **case.limits, **options)
            check_certificate(case, result)
            assert result.objective_value == pytest.approx(
                expected.objective_value, rel=1e-9, abs=0
            ), (seed, case, options)
            assert result.bound == result.objective_value
            assert result.status is SearchStatus.OPTIMAL


TABLE_VARIANTS = [
    {},
    {"beam_width": 0},
    {"n_jobs": 2, "instruction_set": "scalar"},
    {"beam_width": 0, "memory_limit": 0},
]


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_tables_agree_with_brute_force(number):
    for seed in chunk(number):
        case = random_problem(seed)
        limits = case.limits | {"max_conditions": 1 + seed % 5}
        expected = search(case.problem, search_brute_force, **limits)
        for options in TABLE_VARIANTS:
            result = search(case.problem, branching="tables", **limits, **options)
            assert result.query == expected.query, (seed, case, options)
            assert result.objective_value == expected.objective_value
            assert result.status is SearchStatus.OPTIMAL


STOPPED_REFERENCES = [
    {"node_limit": 2},
    {"node_limit": 2, "best_first": False},
    {"approximation_factor": 0.7},
]


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_stopped_searches_keep_true_bounds(number):
    for seed in chunk(number):
        case = random_problem(seed)
        optimum = search(case.problem, search_brute_force, **case.limits).objective_value
        is_short = case.limits.get("max_conditions", 6) <= 5
        tables = [
            ("optimal", {"branching": "tables", "beam_width": 0, **options})
            for options in ({"node_limit": 1}, {"node_limit": 4}, {"approximation_factor": 0.7})
            if is_short
        ]
        for method, options in [
            ("optimal", {"beam_width": 0, "node_limit": 1}),
            ("optimal", {"beam_width": 0, "node_limit": 3}),
            ("optimal", {"branching": "paper", "node_limit": 2}),
            *tables,
            ("optimal", {"approximation_factor": 0.7}),
            ("optimal", {"approximation_factor": 0.7, "leaves": False, "beam_width": 0}),
            ("optimal", {"node_limit": 3, "leaves": False, "beam_width": 0}),
            ("optimal", {"branching": "ranges", "node_limit": 1}),
            ("optimal", {"branching": "ranges", "node_limit": 3, "beam_width": 0}),
            ("optimal", {"branching": "ranges", "approximation_factor": 0.7}),
            ("optimal", {"branching": "ranges", "approximation_factor": 0.7, "beam_width": 0}),
            ("reference", STOPPED_REFERENCES[seed % len(STOPPED_REFERENCES)]),
            ("greedy", {}),
            ("beam", {"width": 3}),
        ]:
            result = search(case.problem, method, **case.limits, **options)
            check_certificate(case, result)
            assert result.objective_value <= optimum * (1 + 1e-12), (seed, case, method, options)
            assert result.bound >= optimum * (1 - 1e-12), (seed, case, method, options)
            alpha = options.get("approximation_factor", 0)
            assert result.approximation_ratio >= alpha * (1 - 1e-12)
            if result.status is SearchStatus.OPTIMAL:
                assert result.bound == result.objective_value


def test_both_limits_matter_in_the_problems():
    """Guards the tests above: limits must change some answers, ties and missing rows occur."""
    changed = 0
    for seed in range(300):
        case = random_problem(seed)
        free = search(case.problem, search_brute_force)
        changed += search(case.problem, search_brute_force, **case.limits).query != free.query
    assert changed > 30


@pytest.mark.parametrize("seed", range(40))
def test_larger_problems_agree_with_the_reference(seed):
    """Too large for brute force: many columns, more than one word of them, and of rows."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(60, 200))
    x = rng.normal(size=(4, n_rows))
    thresholds = np.quantile(x, np.linspace(0.1, 0.9, 9), axis=1).T
    below = x[:, None, :] <= thresholds[:, :, None]
    extents = np.concatenate([below, ~below], axis=1).reshape(-1, n_rows)
    gradients = rng.normal(size=n_rows) + 2.0 * (x[0] * x[1] > 0)
    problem = SearchProblem(extents, gradients, np.full(n_rows, 2.0), l2_regularization=5.0)
    expected = search(problem, "reference")
    for options in OPTIMAL_VARIANTS:
        result = search(problem, "optimal", **options)
        assert result.objective_value == pytest.approx(expected.objective_value, rel=1e-12)
        assert result.bound == result.objective_value
    for limit in (1, 2, 3):
        expected = search(problem, "reference", max_conditions=limit, min_coverage=7)
        for options in OPTIMAL_VARIANTS:
            result = search(problem, "optimal", max_conditions=limit, min_coverage=7, **options)
            assert len(result.query) <= limit
            assert result.objective_value == pytest.approx(expected.objective_value, rel=1e-12)


@pytest.mark.parametrize("n_thresholds", [10, 20, 40, 80])
def test_many_columns_agree_with_the_papers_bound(n_thresholds):
    """Keys of two, four and eight words, and more candidates than any key has bits."""
    rng = np.random.default_rng(n_thresholds)
    x = rng.normal(size=(5, 1, 400))
    below = (x <= np.linspace(-2, 2, n_thresholds)[:, np.newaxis]).reshape(-1, 400)
    gradients = rng.normal(size=400) + 2.0 * ((x[0, 0] > 0.3) & (x[1, 0] <= 0.5))
    problem = SearchProblem(np.concatenate([below, ~below]), gradients, np.ones(400), 5.0)
    assert problem.extents.n_columns > 8 * n_thresholds
    for limits in ({"max_conditions": 2}, {"max_conditions": 3}):
        expected = search(problem, "optimal", branching="paper", **limits)
        result = search(problem, "optimal", beam_width=0, **limits)
        assert (result.query, result.bound) == (expected.query, expected.bound)
        assert result.is_optimal


@pytest.mark.parametrize("seed", range(4))
def test_many_rows_agree_with_ranges(seed):
    """Hundreds of rows at a node, with equal and nearly equal ratios of gradient and hessian."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, 1, 900))
    below = (x <= np.linspace(-1, 1, 5)[:, np.newaxis]).reshape(-1, 900)
    gradients = np.where(rng.random(900) < 0.3 + 0.4 * ((x[0, 0] > 0) ^ (x[1, 0] > 0)), -0.5, 0.5)
    weights = rng.random(900) if seed % 2 else None
    extents = np.concatenate([below, ~below])
    problem = SearchProblem(extents, gradients, np.full(900, 0.25), 5.0, weights)
    expected = search(problem, "optimal", branching="ranges")
    for options in OPTIMAL_VARIANTS:
        result = search(problem, "optimal", **options)
        assert (result.query, result.bound) == (expected.query, expected.bound)
        assert result.is_optimal


@pytest.mark.parametrize(
    ("of_gradients", "of_hessians"),
    [(-565, 0), (498, 0), (-565, -565), (0, -600), (300, 600), (-1000, -1000), (600, 600)],
)
def test_extreme_scales_change_nothing(of_gradients, of_hessians):
    """Powers of two for gradients, and for hessians and the penalty, as of targets and weights."""
    for seed in range(60):
        plain = random_problem(seed).problem
        scaled = SearchProblem(
            plain.extents,
            np.ldexp(plain.gradients, of_gradients),
            np.ldexp(plain.hessians, of_hessians),
            np.ldexp(plain.l2_regularization, of_hessians),
        )
        plain = SearchProblem(
            plain.extents, plain.gradients, plain.hessians, plain.l2_regularization
        )
        limits = {"max_conditions": 1 + seed % 4}
        expected = search(plain, search_brute_force, **limits)
        factor = 2 * of_gradients - of_hessians
        weight = np.ldexp(plain.weight(expected.query), of_gradients - of_hessians)
        assert scaled.weight(expected.query) == weight
        for method, options in [
            (search_brute_force, {}),
            ("optimal", {"branching": "conditions"}),
            ("optimal", {"branching": "tables"}),
            ("optimal", {"branching": "ranges"}),
            ("optimal", {"branching": "paper"}),
            ("reference", {}),
        ]:
            result = search(scaled, method, **limits, **options)
            assert result.status in (SearchStatus.OPTIMAL, SearchStatus.HEURISTIC)
            if method == "reference":
                assert result.objective_value == pytest.approx(
                    np.ldexp(expected.objective_value, factor), rel=1e-9, abs=1e-320
                )
                continue
            assert result.query == expected.query, (seed, method, options)
            assert result.objective_value == np.ldexp(expected.objective_value, factor)


@pytest.mark.parametrize("branching", ["conditions", "tables", "ranges", "paper"])
def test_steep_slopes_end_at_a_limit(branching):
    """Slopes whose product is beyond the range of doubles."""
    extents = np.array([[0, 0, 1], [1, 0, 1], [1, 0, 1], [1, 1, 0], [0, 1, 0]], dtype=bool)
    for hessians, l2_regularization in [
        (np.array([3e-200, 1e-200, 2e-200]), 0.0),
        (np.zeros(3), 1e-300),
        (np.array([0.0, 1.0, 0.0]), 1e-290),
    ]:
        problem = SearchProblem(extents, [-2, 1, 2], hessians, l2_regularization)
        limits = {"max_conditions": 1, "min_coverage": 2}
        expected = search(problem, search_brute_force, **limits)
        result = search(problem, branching=branching, **limits)
        assert (result.query, result.is_optimal) == (expected.query, True)
        stopped = search(problem, branching=branching, node_limit=1, **limits)
        assert stopped.counters["nodes"] <= 1
        assert stopped.objective_value <= expected.objective_value <= stopped.bound
