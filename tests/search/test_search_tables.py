"""Tables of sums: short queries, whatever the gradients."""

from math import comb

import numpy as np
import pytest
from brute_force import search_brute_force

from laconic import _core
from laconic.search import RefittedTerms, SearchProblem, SearchStatus, search


def mixed_problem(n_rows=150, seed=0, l2_regularization=1.0):
    """Thresholds, categories with negations, missing values, and columns that follow nothing."""
    rng = np.random.default_rng(seed)
    extents = []
    for _ in range(3):
        x = rng.normal(size=n_rows)
        x[rng.random(n_rows) < 0.1] = np.nan
        for cut in (-0.8, -0.2, 0.3, 1.0):
            extents += [x <= cut, x > cut]
        extents += [np.isnan(x), ~np.isnan(x)]
    category = rng.integers(5, size=n_rows)
    for value in range(5):
        extents += [category == value, category != value]
    extents += list(rng.random((6, n_rows)) < 0.4)
    weights = rng.integers(0, 4, n_rows) / 2
    gradients = np.round(rng.normal(size=n_rows), 1)
    hessians = rng.integers(1, 5, n_rows) / 4
    return SearchProblem(np.array(extents), gradients, hessians, l2_regularization, weights)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_conditions", [2, 3, 4, 5])
@pytest.mark.parametrize("limits", [{}, {"min_coverage": 20}])
def test_the_same_query_as_by_branching(seed, max_conditions, limits):
    problem = mixed_problem(seed=seed, l2_regularization=[0.0, 0.1, 1.0, 10.0][seed % 4])
    limits = {"max_conditions": max_conditions, **limits}
    tables = search(problem, branching="tables", **limits)
    branched = search(problem, branching="conditions", **limits)
    assert tables.is_optimal
    assert tables.query == branched.query
    assert tables.objective_value == branched.objective_value
    assert tables.counters["tables"] > 0


@pytest.mark.parametrize(
    "options",
    [
        {"max_conditions": 3},
        {"max_conditions": 4, "node_limit": 5},
        {"max_conditions": 5},
        {"max_conditions": 5, "node_limit": 30},
        {"max_conditions": 5, "memory_limit": 0},
    ],
)
def test_the_same_work_for_any_number_of_threads_and_instruction_set(options):
    problem = mixed_problem(300)
    expected = search(problem, branching="tables", beam_width=0, **options)
    for more in [{"n_jobs": 2}, {"n_jobs": 3}] + [
        {"instruction_set": name} for name in _core.instruction_sets()
    ]:
        result = search(problem, branching="tables", beam_width=0, **options, **more)
        assert (result.query, result.bound) == (expected.query, expected.bound)
        assert result.counters == expected.counters


def test_coverage_is_looked_at_before_values():
    # Few rows are worth much more than many: most sets are wanted until coverage is asked for.
    rng = np.random.default_rng(0)
    extents = rng.random((60, 300)) < 0.3
    problem = SearchProblem(extents, rng.normal(size=300), np.full(300, 0.01), 0.01)
    result = search(problem, branching="tables", max_conditions=3, min_coverage=60)
    assert result.is_optimal
    assert result.counters["evaluations"] < 1000


def long_problem(seed, n_terms=0):
    """More rows than are rounded to the units of a table; each is a cell of its own."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(8**5)[:20_000]
    codes = [rows // 8**place % 8 for place in range(5)]
    extents = np.array([code <= cut for code in codes for cut in range(7)])
    extents = np.concatenate([extents, ~extents])
    gradients = rng.normal(size=len(rows))
    if seed % 3 == 1:  # a few of them make up most of the sum
        gradients *= rng.random(len(rows)) ** -1.5
    if seed % 3 == 2:  # sets of equal values
        gradients = np.round(gradients)
    hessians = rng.integers(1, 5, len(rows)) / 4
    covered = np.vstack([np.ones(len(rows), dtype=bool), extents[rng.integers(70, size=n_terms)]])
    beside = RefittedTerms(covered, np.append(0.0, np.ones(n_terms))) if n_terms else None
    return SearchProblem(extents, gradients, hessians, [0.1, 1.0, 10.0][seed % 3], refitted=beside)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_terms", [0, 3])
@pytest.mark.parametrize("limits", [{}, {"min_coverage": 3_000}])
def test_many_rows_are_rounded_in_cells(seed, n_terms, limits):
    problem = long_problem(seed, n_terms)
    limits = {"max_conditions": 2 + seed % 2, **limits}
    tables = search(problem, branching="tables", **limits)
    branched = search(problem, branching="conditions", **limits)
    assert tables.is_optimal
    assert tables.query == branched.query
    assert tables.objective_value == branched.objective_value


def sloped_problem(seed, n_terms, l2_regularization=3.0):
    """Thresholds beside an intercept, rules, and slopes of the same features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 8))
    cuts = (-1.0, -0.3, 0.2, 0.9)
    extents = np.array([x <= cut for x in X.T for cut in cuts])
    extents = np.concatenate([extents, ~extents])
    rules = [extents[rng.integers(len(extents), size=2)].all(axis=0) for _ in range(n_terms // 2)]
    slopes = [X[:, k % 8].clip(-1.0, 1.0) for k in range(n_terms - n_terms // 2)]
    values = np.array([np.ones(300), *rules, *slopes])
    gradients = rng.normal(size=300) + 2.0 * (X[:, 0] > 0.9) * (X[:, 1] <= 0.2)
    # As after a refit: what the terms can imitate is gone.
    gradients -= values.T @ np.linalg.lstsq(values.T, gradients, rcond=None)[0]
    penalties = np.append(0.0, np.full(len(values) - 1, l2_regularization))
    terms = RefittedTerms(values, penalties)
    weights = rng.integers(1, 4, 300) / 2 if seed % 2 else None
    return SearchProblem(
        extents, gradients, np.ones(300), l2_regularization, weights, refitted=terms
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_terms", [1, 5, 16])
@pytest.mark.parametrize("limits", [{}, {"min_coverage": 25}, {"n_best": 4}])
def test_sets_that_terms_imitate_in_part_are_not_missed(seed, n_terms, limits):
    # Beside one term, columns tell how much of a set it imitates at the most; beside many, what
    # they imitate has to be added up.
    problem = sloped_problem(seed, n_terms)
    limits = {"max_conditions": 3, **limits}
    tables = search(problem, branching="tables", **limits)
    branched = search(problem, branching="conditions", **limits)
    assert tables.is_optimal
    assert (tables.query, tables.objective_value) == (branched.query, branched.objective_value)
    values = [problem.objective(query) for query in tables.queries]
    assert values == [problem.objective(query) for query in branched.queries]
    # A cutoff just below the best value leaves it, one above leaves nothing.
    for factor, is_found in ((0.999, True), (1.001, False)):
        cutoff = factor * tables.objective_value
        cut = search(problem, branching="tables", cutoff=cutoff, **limits)
        assert (cut.objective_value == tables.objective_value) or not is_found
        assert cut.status is (SearchStatus.OPTIMAL if is_found else SearchStatus.CUTOFF)
        assert cut.bound >= cut.objective_value


@pytest.mark.parametrize("n_terms", [1, 16])
@pytest.mark.parametrize("max_conditions", [3, 4])
def test_the_same_work_beside_slopes(n_terms, max_conditions):
    problem = sloped_problem(0, n_terms)
    options = {"branching": "tables", "max_conditions": max_conditions}
    expected = search(problem, **options)
    for more in [{"n_jobs": 2}] + [{"instruction_set": s} for s in _core.instruction_sets()]:
        result = search(problem, **options, **more)
        assert (result.query, result.bound) == (expected.query, expected.bound)
        assert result.counters == expected.counters


def wide_table_problem(seed, n_rows, n_terms=0):
    """Many rows and small features: a table over four of them has far fewer cells than rows."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(5**7)[:n_rows]
    codes = [rows // 5**place % 5 for place in range(7)]
    extents = np.array([code <= cut for code in codes for cut in range(4)])
    extents = np.concatenate([extents, ~extents])
    covered = np.vstack([np.ones(n_rows, dtype=bool), extents[rng.integers(56, size=n_terms)]])
    beside = RefittedTerms(covered, np.append(0.0, np.ones(n_terms))) if n_terms else None
    gradients = rng.normal(size=n_rows) + (codes[0] > 2) * (codes[3] < 2) * (codes[6] > 0) * 0.3
    return SearchProblem(extents, gradients, np.ones(n_rows), 1.0, refitted=beside)


@pytest.mark.parametrize("n_terms", [0, 2])
@pytest.mark.parametrize("max_conditions", [1, 2, 3])
def test_sums_over_cells_of_wide_tables_are_those_of_rows(n_terms, max_conditions):
    problem = wide_table_problem(n_terms, 20_000, n_terms)
    tables = search(problem, branching="tables", max_conditions=max_conditions)
    branched = search(problem, branching="conditions", max_conditions=max_conditions)
    assert tables.is_optimal
    assert tables.query == branched.query
    assert tables.objective_value == branched.objective_value
    for more in [{"n_jobs": 2}, *({"instruction_set": name} for name in _core.instruction_sets())]:
        again = search(problem, branching="tables", max_conditions=max_conditions, **more)
        assert (again.query, again.bound) == (tables.query, tables.bound)
        assert again.counters == tables.counters


@pytest.mark.parametrize("n_terms", [0, 2])
def test_threads_share_packed_rows(n_terms):
    # Without a start, values grow during the search, for which rows are packed again.
    problem = wide_table_problem(n_terms, 20_000, n_terms)
    options = {"branching": "tables", "max_conditions": 3, "beam_width": 0}
    expected = search(problem, **options)
    for n_jobs in (2, 3, 4, 8):
        result = search(problem, n_jobs=n_jobs, **options)
        assert (result.query, result.bound) == (expected.query, expected.bound)
        assert result.counters == expected.counters


@pytest.mark.parametrize("options", [{}, {"min_coverage": 30_000}, {"n_best": 3}])
def test_a_sample_of_the_rows_chooses_the_start_and_not_the_result(options):
    problem = wide_table_problem(0, 70_000, n_terms=1)
    options = {"branching": "tables", "max_conditions": 3, **options}
    result = search(problem, **options)
    assert result.is_optimal
    # Where the number of nodes is limited, the start may be the result: all rows choose it.
    for more in [{"beam_width": 0}, {"node_limit": 10**6}]:
        other = search(problem, **options, **more)
        assert (result.query, result.objective_value) == (other.query, other.objective_value)
        assert result.queries == other.queries
    assert problem.objective(result.query) == result.objective_value


@pytest.mark.parametrize("max_conditions", [None, 6])
def test_longer_queries_are_refused(max_conditions):
    with pytest.raises(ValueError, match="at most five conditions"):
        search(mixed_problem(), branching="tables", max_conditions=max_conditions)


def test_a_stopped_search_has_a_true_bound():
    problem = mixed_problem(300)
    optimum = search(problem, branching="tables", max_conditions=3).objective_value
    stopped = search(problem, branching="tables", max_conditions=3, beam_width=0, node_limit=1)
    assert stopped.status is SearchStatus.NODE_LIMIT
    assert stopped.objective_value <= optimum <= stopped.bound
    called = search(problem, branching="tables", max_conditions=4, time_limit=1e-9, beam_width=0)
    assert called.status is SearchStatus.TIME_LIMIT
    assert called.bound >= optimum


def test_bounds_fall_while_first_conditions_are_gone_through():
    problem = mixed_problem(300, l2_regularization=0.1)
    optimum = search(problem, branching="tables", max_conditions=5)
    n_nodes = optimum.counters["nodes"]
    bounds = [
        search(problem, branching="tables", max_conditions=5, node_limit=n).bound
        for n in (1, n_nodes - 20, n_nodes - 5, n_nodes)
    ]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[1] >= optimum.objective_value == bounds[-1]


@pytest.mark.parametrize("options", [{}, {"min_coverage": 20}, {"approximation_factor": 0.9}])
@pytest.mark.parametrize("max_conditions", [2, 3])
def test_bounds_of_short_queries_fall_as_features_are_done(max_conditions, options):
    problem = mixed_problem(300, l2_regularization=0.1)
    limits = {"branching": "tables", "max_conditions": max_conditions}
    optimum = search(problem, **limits, **(options | {"approximation_factor": 1.0}))
    of_all_rows = search(problem, "greedy", max_conditions=max_conditions).bound
    n_nodes = optimum.counters["nodes"]
    stopped = [search(problem, **limits, **options, node_limit=n) for n in range(1, n_nodes)]
    bounds = [result.bound for result in stopped]
    assert bounds == sorted(bounds, reverse=True)
    assert of_all_rows > bounds[0] > bounds[-1]
    for result in stopped:
        assert result.objective_value <= optimum.objective_value <= result.bound


def test_joint_bounds_fall_as_features_are_done():
    rng = np.random.default_rng(0)
    extents = rng.random((60, 200)) < 0.3
    refitted = RefittedTerms(np.array([extents[0] & extents[1]]), np.array([1.0]))
    problem = SearchProblem(extents, rng.normal(size=200), np.ones(200), 1.0, refitted=refitted)
    limits = {"branching": "tables", "max_conditions": 4}
    optimum = search(problem, **limits)
    n_nodes = optimum.counters["nodes"]
    bounds = [search(problem, **limits, node_limit=n).bound for n in (1, n_nodes // 2, n_nodes)]
    assert bounds[0] > bounds[1] > bounds[2] == optimum.objective_value


def test_what_was_done_is_counted():
    problem = mixed_problem(300)
    for max_conditions in (1, 2, 3, 4):
        counters = search(problem, branching="tables", max_conditions=max_conditions).counters
        # Every table is made of all rows; for four conditions, those of costs too.
        assert counters["table_rows"] <= counters["tables"] * problem.extents.n_distinct_rows
        assert counters["table_sets"] >= comb(problem.extents.n_columns // 2, max_conditions)
        work = problem.extents.table_work(max_conditions)
        assert counters["table_rows"] <= work
    assert search(problem, branching="conditions").counters["table_sets"] == 0


def test_a_search_that_takes_more_than_estimated_is_stopped(monkeypatch):
    problem = mixed_problem(300, l2_regularization=0.1)
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK_IN_TABLES", 30_000)
    options = {"branching": "tables", "max_conditions": 5}
    full = search(problem, **options)
    assert full.is_optimal
    assert full.node_limit is None
    stopped = search(problem, node_limit="auto", **options)
    assert stopped.status is SearchStatus.NODE_LIMIT
    assert 0 < stopped.node_limit == stopped.counters["nodes"] < full.counters["nodes"]
    assert stopped.counters["table_rows"] + stopped.counters["table_sets"] >= 90_000
    assert stopped.objective_value <= full.objective_value <= stopped.bound
    assert search(problem, node_limit=full.counters["nodes"], **options).is_optimal
    # Up to three conditions the work is known beforehand.
    assert search(problem, node_limit="auto", branching="tables", max_conditions=3).is_optimal


def test_a_factor_is_enough():
    problem = mixed_problem(300, l2_regularization=0.1)
    optimum = search(problem, branching="tables", max_conditions=5)
    options = {"max_conditions": 5, "approximation_factor": 0.5}
    result = search(problem, branching="tables", **options)
    assert result.objective_value <= optimum.objective_value <= result.bound
    assert result.approximation_ratio >= 0.5
    assert result.counters["nodes"] < optimum.counters["nodes"]


def test_five_conditions_are_first_tried_without_tables(monkeypatch):
    problem = mixed_problem(300, l2_regularization=0.1)
    easy = search(problem, max_conditions=5)
    assert (easy.branching, easy.counters["tables"]) == ("conditions", 0)
    monkeypatch.setattr("laconic.search.budget.MIN_NODES", 1)
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK", 1)
    hard = search(problem, max_conditions=5, node_limit="auto", time_limit=1000.0)
    assert (hard.branching, hard.node_limit) == ("tables", None)
    assert hard.counters["tables"] > 0
    assert hard.is_optimal
    assert (hard.query, hard.bound) == (easy.query, easy.bound)
    # Limits are about both together.
    for node_limit in (1, 2, 10):
        stopped = search(problem, max_conditions=5, node_limit=node_limit)
        assert stopped.status is SearchStatus.NODE_LIMIT
        assert stopped.counters["nodes"] == stopped.node_limit == node_limit
        assert stopped.branching == ("conditions" if node_limit == 1 else "tables")
        assert stopped.objective_value <= easy.objective_value <= stopped.bound


def test_searches_start_from_a_given_query():
    problem = mixed_problem()
    options = {
        "max_conditions": 5,
        "min_coverage": 0.0,
        "approximation_factor": 1.0,
        "node_limit": 0,
        "time_limit": None,
        "should_stop": None,
        "beam_width": 0,
        "n_workers": 1,
        "memory_limit": 2**28,
        "instruction_set": None,
    }
    best = search(problem, max_conditions=5)
    for branching in ("tables", "conditions", "ranges", "paper"):
        result = _core.optimal(problem.posed(), branching=branching, start=best.query, **options)
        assert tuple(result.query) == best.query
    with pytest.raises(IndexError):
        _core.optimal(problem.posed(), branching="tables", start=(10**6,), **options)


@pytest.mark.parametrize("max_conditions", [4, 5])
def test_a_callback_ends_a_search_between_tables(max_conditions):
    rng = np.random.default_rng(0)
    problem = SearchProblem(rng.random((400, 3000)) < 0.5, rng.normal(size=3000), np.ones(3000))
    told = []

    def stop(progress):
        told.append(progress)
        return True

    result = search(problem, branching="tables", max_conditions=max_conditions, callback=stop)
    assert result.status is SearchStatus.INTERRUPTED
    assert len(told) == 1
    assert result.bound >= result.objective_value > 0


@pytest.mark.parametrize("gradients", [np.zeros(6), np.array([1.0, -1, 0, 0, 0, 0])])
@pytest.mark.parametrize("hessians", [np.ones(6), np.zeros(6)])
def test_nothing_to_gain_and_nothing_to_divide_by(gradients, hessians):
    extents = np.eye(6, dtype=bool)[:4]
    for l2_regularization in (0.0, 1.0):
        if not hessians.any() and l2_regularization == 0.0:
            continue
        problem = SearchProblem(extents, gradients, hessians, l2_regularization)
        for max_conditions in (1, 4, 5):
            limits = {"max_conditions": max_conditions}
            expected = search(problem, search_brute_force, **limits)
            result = search(problem, branching="tables", **limits)
            assert (result.query, result.objective_value) == (
                expected.query,
                expected.objective_value,
            )
