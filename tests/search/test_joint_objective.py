"""Rules judged by what a refit of all weights gains, against dense algebra and brute force."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from brute_force import search_brute_force
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import RandomJointProblem, n_drawn, random_joint_problem, refitted_weights

from laconic.losses import SquaredLoss
from laconic.search import RefittedTerms, SearchProblem, SearchStatus, search
from laconic.search.joint_objective import IMITATED, remaining_hessians
from laconic.search.optimal import search_from_starts
from laconic.search.problem import SearchLimits
from laconic.search.reference import descending_ratios, discounted_hessians, objective_bound

SEEDS = range(n_drawn(600))


def some_masks(problem, rng):
    yield from (problem.covered((p,)) for p in range(problem.n_candidates))
    yield from (rng.random((5, problem.n_rows)) < rng.random((5, 1)))


def gain_of_refit(case, mask):
    """Decrease of the quadratic model when the mask is a further column and all weights are free.

    The gain is in units of the value: twice the risk, summed over rows.
    """
    problem, refitted = case.problem, case.refitted
    columns = np.vstack([*refitted.values, mask]).astype(float)
    penalties = np.append(refitted.penalties, problem.l2_regularization)
    weights = np.append(case.weights, 0.0)
    slope = columns @ problem.gradients + penalties * weights
    matrix = (columns * problem.hessians) @ columns.T + np.diag(penalties)
    step = -np.linalg.lstsq(matrix, slope, rcond=1e-13)[0]
    return -2 * (slope @ step + step @ matrix @ step / 2)


@pytest.mark.parametrize("chunk", range(6))
def test_value_is_what_a_refit_gains(chunk):
    n_compared = 0
    for seed in SEEDS[chunk::6]:
        case = random_joint_problem(seed)
        problem, rng = case.problem, np.random.default_rng(seed)
        for mask in some_masks(problem, rng):
            total = problem.hessians[mask].sum()
            sums = problem.projections if problem.projections is not None else np.empty((0, 1))
            sums = sums[:, mask].sum(axis=1) if len(sums) else np.zeros(0)
            if problem.is_excluded(mask):
                assert problem.value(mask) == 0.0
                continue
            remaining = remaining_hessians(total, sums)
            if remaining < 1e-6 * total:
                continue  # the refit itself has no digits there
            n_compared += 1
            expected = gain_of_refit(case, mask)
            scale = (problem.gradients**2).sum() / (problem.l2_regularization + total or 1.0)
            assert problem.value(mask) == pytest.approx(expected, rel=1e-6, abs=1e-9 * scale), seed
    assert n_compared > 5 * len(SEEDS[chunk::6])


def test_remaining_hessians_are_those_of_the_formula():
    for seed in SEEDS:
        case = random_joint_problem(seed)
        problem, refitted = case.problem, case.refitted
        if problem.projections is None:
            assert len(refitted.values) == 0
            continue
        columns = np.array(refitted.values, dtype=float)
        matrix = (columns * problem.hessians) @ columns.T + np.diag(refitted.penalties)
        for mask in some_masks(problem, np.random.default_rng(seed)):
            total = problem.hessians[mask].sum()
            v = (columns * problem.hessians)[:, mask].sum(axis=1)
            expected = max(total - v @ np.linalg.pinv(matrix, rcond=1e-12, hermitian=True) @ v, 0)
            found = remaining_hessians(total, problem.projections[:, mask].sum(axis=1))
            assert found == pytest.approx(expected, rel=1e-9, abs=2 * IMITATED * total)


def test_a_rule_that_is_there_already_gains_nothing():
    extents = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    refitted = RefittedTerms(np.vstack([np.ones(4, bool), extents[:1]]), np.zeros(2))
    y = np.array([3.0, 1.0, 5.0, 0.0])
    means = np.array([2.0, 2.0, 2.5, 2.5])
    problem = SearchProblem(extents, 2 * (means - y), np.full(4, 2.0), 0.0, refitted=refitted)
    # Its complement, all rows and what it covers are unions of cells.
    for mask in ([1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]):
        assert problem.value(np.array(mask, dtype=bool)) == 0.0
    # Rows 0 and 2: half of each cell, of which the refitted terms imitate half.
    assert problem.value(np.array([1, 0, 1, 0], dtype=bool)) == pytest.approx(7**2 / (4 - 2))
    assert problem.weight((1,)) == pytest.approx(7 / 2)
    assert problem.objective((1,)) == pytest.approx(7**2 / 2 / 8)
    assert search(problem, search_brute_force).query == (1,)


@pytest.mark.parametrize("method", ["optimal", "beam", "greedy", "reference", search_brute_force])
@pytest.mark.parametrize("has_intercept", [False, True])
def test_no_rule_is_found_twice(method, has_intercept):
    """A second half of a weight would be penalised less; the complement is as good."""
    extents = np.array([[1, 1, 1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 1, 0, 1, 0]], dtype=bool)
    extents = np.vstack([extents, ~extents])
    y = np.array([5.0, 5.0, 5.0, 5.0, -5.0, -5.0, -5.0, -5.2])
    covered = np.vstack([extents[:1], np.ones((int(has_intercept), 8), dtype=bool)])
    refitted = RefittedTerms(covered, np.array([50.0, 0.0])[: len(covered)])
    case = RandomJointProblem(None, refitted=refitted)
    weights = refitted_weights(SquaredLoss(), y, case.refitted, np.ones(8))
    gradients = 2 * (weights @ covered - y)
    problem = SearchProblem(extents, gradients, np.full(8, 2.0), 50.0, refitted=refitted)
    plain = problem.stagewise()
    assert search(plain, search_brute_force, max_conditions=1).query in [(0,), (2,)]
    result = search(problem, method, max_conditions=1)
    assert result.query not in [(), (0,)]
    assert (result.query == (2,)) is not has_intercept


def test_cells_are_rows_that_the_same_terms_cover():
    covered = np.array([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1]], dtype=bool)
    cells = RefittedTerms(covered, np.zeros(3)).cells(5)
    assert cells.dtype == np.int32
    assert cells.tolist() == [4, 3, 2, 1, 4]
    # Nobody covers the cell 0.
    assert RefittedTerms(covered[:1], np.zeros(1)).cells(5).tolist() == [1, 1, 0, 0, 1]


def test_beside_slopes_each_row_is_a_cell():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n_rows = int(rng.integers(1, 30))
        values = np.vstack(
            [
                rng.random((rng.integers(0, 3), n_rows)) < 0.5,
                rng.uniform(1.5, 9.0, size=(rng.integers(1, 4), n_rows)).round(rng.integers(0, 2)),
            ]
        )
        values = np.ascontiguousarray(rng.permutation(values))
        cells = RefittedTerms(values, np.zeros(len(values))).cells(n_rows)
        assert cells.dtype == np.int32
        # The cell 0 is that of no term, of which bounds know more.
        assert cells.tolist() == [*range(1, n_rows + 1)]


def test_nothing_is_known_of_what_slopes_leave():
    """A cell of one row may be imitated altogether: only the penalty is left in bounds."""
    rng = np.random.default_rng(0)
    slope = rng.normal(size=(1, 40))
    extents = ~np.eye(40, dtype=bool)
    gradients = rng.normal(size=40)
    refitted = RefittedTerms(slope, np.array([3.0]))
    problem = SearchProblem(extents, gradients, np.ones(40), 3.0, refitted=refitted)
    assert len(set(problem.cells.tolist())) == 40
    largest = max(gradients[gradients > 0].sum(), -gradients[gradients < 0].sum()) ** 2 / 3.0
    bounds = problem.posed()
    assert bounds.of_all_rows() == pytest.approx(largest, rel=1e-8)
    for p in range(5):
        rows = problem.gradients[problem.covered((p,))]
        largest = max(rows[rows > 0].sum(), -rows[rows < 0].sum()) ** 2 / 3.0
        assert bounds.of_query([p]) == pytest.approx(largest, rel=1e-8)
    assert (discounted_hessians(np.ones(2), np.arange(2), np.ones(2)) <= 1e-11).all()


def test_no_terms_are_as_good_as_none():
    arguments = ([[True, False]], [1.0, 2.0], [1.0, 1.0])
    none = RefittedTerms(np.empty((0, 2), dtype=bool), np.empty(0))
    problem = SearchProblem(*arguments, refitted=none)
    assert problem.projections is None
    assert problem.cells is None
    assert problem.value([True, True]) == SearchProblem(*arguments).value([True, True])


def test_refitted_terms_are_left_behind_with_their_statistics():
    refitted = RefittedTerms(np.array([[True, True]]), np.zeros(1))
    problem = SearchProblem([[True, False]], [1.0, -1.0], [1.0, 1.0], refitted=refitted)
    assert problem.projections.shape == (1, 2)
    assert problem.with_statistics([1.0, -1.0], [1.0, 1.0]).projections is None
    again = problem.with_statistics([1.0, -1.0], [1.0, 1.0], refitted)
    assert again.objective((0,)) == problem.objective((0,))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_projections_add_up_exactly(sign):
    for seed in range(100):
        problem = random_joint_problem(seed).problem
        if problem.projections is None:
            continue
        assert problem.projections.flags.c_contiguous
        for component in sign * problem.projections:
            forward = backward = 0.0
            for value in component.tolist():
                forward += value
            for value in reversed(component.tolist()):
                backward += value
            assert forward == backward


@pytest.mark.parametrize(
    ("values", "penalties", "message"),
    [
        (np.ones((1, 2), int), np.zeros(1), "values must be arrays of booleans or floats.*int64"),
        (np.ones(2, bool), np.zeros(1), r"values must be.*shape \(\)"),
        (np.ones((1, 2), bool), np.zeros(2), "penalties must be"),
        (np.ones((1, 2), bool), np.array([-1.0]), "penalties must be"),
        (np.ones((1, 2), bool), np.array([np.nan]), "penalties must be"),
    ],
)
def test_wrong_refitted_terms(values, penalties, message):
    with pytest.raises(ValueError, match=message):
        RefittedTerms(values, penalties)


def test_refitted_terms_on_other_rows():
    refitted = RefittedTerms(np.ones((1, 3), dtype=bool), np.zeros(1))
    with pytest.raises(ValueError, match=r"refitted must cover the rows of the extents, 2\. Got 3"):
        SearchProblem([[True, False]], [1.0, 2.0], [1.0, 1.0], refitted=refitted)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.05, 1.0), st.randoms(use_true_random=False))
def test_discounted_bound_holds_for_all_subsets(seed, density, random):
    problem = random_joint_problem(seed % 5000).problem
    if problem.projections is None:
        return
    node = np.array([random.random() < density for _ in range(problem.n_rows)])
    rows = np.flatnonzero(node)
    hessians = discounted_hessians(
        problem.hessians[rows],
        problem.cells[rows],
        np.bincount(problem.cells, problem.hessians),
    )
    order = descending_ratios(problem.gradients[rows], hessians)
    bound = objective_bound(
        problem.gradients[rows][order], hessians[order], problem.l2_regularization, 0.5
    )
    small = rows[:7]
    subsets = [
        *itertools.chain.from_iterable(itertools.combinations(small, k) for k in range(1, 8)),
        *([row for row in rows if random.random() < share] for share in (0.2, 0.5, 0.8, 0.9, 1.0)),
    ]
    for subset in subsets:
        mask = np.zeros(problem.n_rows, dtype=bool)
        mask[list(subset)] = True
        assert problem.value(mask) <= bound * (1 + 1e-12)


@pytest.mark.parametrize("chunk", range(6))
def test_reference_agrees_with_brute_force(chunk):
    for seed in SEEDS[chunk::6]:
        case = random_joint_problem(seed)
        expected = search(case.problem, search_brute_force, **case.limits)
        assert case.problem.objective(expected.query) == expected.objective_value
        for options in ({}, {"bounding": False}, {"best_first": False}):
            result = search(case.problem, "reference", **case.limits, **options)
            assert result.objective_value == pytest.approx(
                expected.objective_value, rel=1e-9, abs=0
            ), (seed, case, options)
            assert case.problem.objective(result.query) == result.objective_value
            assert result.bound == result.objective_value
            assert result.status is SearchStatus.OPTIMAL


def test_stopped_reference_keeps_a_true_bound():
    for seed in SEEDS:
        case = random_joint_problem(seed)
        optimum = search(case.problem, search_brute_force, **case.limits).objective_value
        result = search(case.problem, "reference", **case.limits, node_limit=1)
        assert result.objective_value <= optimum <= result.bound


WAYS = [
    {"branching": "tables"},
    {"branching": "tables", "beam_width": 0, "n_jobs": 2},
    {"branching": "tables", "instruction_set": "scalar"},
    {"branching": "paper"},
    {"branching": "paper", "beam_width": 0, "n_jobs": 2},
    {"branching": "conditions"},
    {"branching": "conditions", "beam_width": 0, "n_jobs": 2},
    {"branching": "conditions", "instruction_set": "scalar", "beam_width": 0},
]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("max_conditions", [1, 2, 3, 4, 5])
def test_core_agrees_with_brute_force(max_conditions, way):
    for seed in SEEDS:
        case = random_joint_problem(seed)
        limits = {**case.limits, "max_conditions": max_conditions}
        expected = search(case.problem, search_brute_force, **limits)
        if case.problem.projections is None and way["branching"] == "paper":
            continue  # compared elsewhere, up to rounding
        if case.problem.l2_regularization == 0.0 and way["branching"] == "conditions":
            continue
        result = search(case.problem, "optimal", **limits, **way)
        assert result.query == expected.query, (seed, case)
        assert result.objective_value == result.bound == expected.objective_value, (seed, case)


def test_core_agrees_with_brute_force_without_a_limit():
    for seed in SEEDS:
        case = random_joint_problem(seed)
        if case.problem.projections is None:
            continue
        expected = search(case.problem, search_brute_force, min_coverage=0)
        result = search(case.problem, "optimal")
        assert result.branching == ("conditions" if case.problem.l2_regularization else "paper")
        assert result.objective_value == result.bound == expected.objective_value, (seed, case)
        assert case.problem.objective(result.query) == result.objective_value


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_heuristics_tell_the_value_of_their_query(method):
    n_optimal = 0
    for seed in SEEDS:
        case = random_joint_problem(seed)
        optimum = search(case.problem, search_brute_force, **case.limits).objective_value
        result = search(case.problem, method, **case.limits)
        assert result.objective_value == case.problem.objective(result.query)
        assert result.objective_value <= optimum <= result.bound
        n_optimal += result.objective_value == optimum
    assert n_optimal > len(SEEDS) / 2


def test_stopped_core_keeps_a_true_bound():
    for seed in SEEDS:
        case = random_joint_problem(seed)
        if case.problem.projections is None:
            continue
        optimum = search(case.problem, search_brute_force, **case.limits).objective_value
        for branching in ("tables", "conditions" if case.problem.l2_regularization else "paper"):
            limits = {"max_conditions": 4} | case.limits
            result = search(case.problem, **limits, branching=branching, node_limit=1, beam_width=0)
            if limits == case.limits:
                assert result.objective_value <= optimum
            assert optimum <= result.bound


def columns_of(problem):
    """Return the rows of conditions that are not constant and not equal to an earlier one."""
    extents = [problem.covered((p,)) for p in range(problem.n_candidates)]
    return list({rows.tobytes(): rows for rows in extents if 0 < rows.sum() < len(rows)}.values())


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6))
def test_any_set_of_a_columns_rows_keeps_its_share_of_hessians(seed):
    problem, rng = random_joint_problem(seed % 5000).problem, np.random.default_rng(seed)
    if problem.projections is None or problem.extents.n_columns == 0:
        return
    distinct = columns_of(problem)
    shares = problem.posed().column_shares(1, 1.0)
    # Rows that no column tells apart are one.
    _, row_of = np.unique(distinct, axis=1, return_inverse=True)
    subsets = (rng.random((10, row_of.max() + 1)) < 0.5)[:, row_of]
    for (share, _), rows in zip(shares, distinct, strict=True):
        assert 0.0 <= share < 1.0
        for subset in (rows, *(rows & subsets)):
            total = problem.hessians[subset].sum()
            left = remaining_hessians(total, problem.projections[:, subset].sum(axis=1))
            assert left >= share * total * (1 - 1e-9)


def test_shares_are_what_an_intercept_leaves():
    n_rows = 640
    extents = np.arange(n_rows) < np.array([[64], [320], [600]])
    intercept = RefittedTerms(np.ones((1, n_rows), dtype=bool), np.zeros(1))
    problem = SearchProblem(extents, np.ones(n_rows), np.ones(n_rows), 1.0, refitted=intercept)
    shares = [share for share, _ in problem.posed().column_shares(1, 1.0)]
    # Of a tenth of the rows, a tenth is imitated, rounded up to a 64th.
    assert shares == [57 / 64, 31 / 64, 3 / 64]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0.3, 0.8, 1.0]))
def test_no_good_query_is_above_the_bounds_of_its_columns(seed, n_conditions, share_of_best):
    problem = random_joint_problem(seed % 5000).problem
    if problem.projections is None or problem.extents.n_columns == 0:
        return
    distinct = columns_of(problem)
    n_conditions = min(n_conditions, len(distinct))
    queries = list(itertools.combinations(range(len(distinct)), n_conditions))
    values = [problem.value(np.all([distinct[c] for c in query], axis=0)) for query in queries]
    wanted = share_of_best * max(values)
    bounds = [bound for _, bound in problem.posed().column_shares(n_conditions, wanted)]
    for query, value in zip(queries, values, strict=True):
        if value >= wanted > 0.0:
            assert all(bounds[column] * (1 + 1e-9) >= value for column in query)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_bound_of_the_core_holds_for_all_subsets(seed, random):
    problem = random_joint_problem(seed % 5000).problem
    if problem.projections is None or problem.extents.n_columns == 0:
        return
    bounds, distinct = problem.posed(), columns_of(problem)
    column, other = random.randrange(len(distinct)), random.randrange(len(distinct))
    for bound, rows in (
        (bounds.of_all_rows(), problem.covered(())),
        (bounds.of_query([column]), distinct[column]),
        (bounds.of_query([column, other]), distinct[column] & distinct[other]),
    ):
        for refinement in [rows, *(rows & other for other in distinct)]:
            for last in distinct:
                assert problem.value(refinement & last) <= bound * (1 + 1e-12)


def test_some_branchings_have_no_joint_objective():
    refitted = RefittedTerms(np.array([[True, True]]), np.zeros(1))
    problem = SearchProblem([[True, False]], [1.0, -1.0], [1.0, 1.0], refitted=refitted)
    with pytest.raises(ValueError, match="tables' or 'conditions'"):
        search(problem, branching="ranges")
    with pytest.raises(ValueError, match=r"needs l2_regularization.*'tables' or 'paper'"):
        search(problem, branching="conditions")
    with pytest.raises(ValueError, match="at most five conditions"):
        search(problem, branching="tables", max_conditions=6)


@pytest.mark.parametrize("max_conditions", [4, 5])
@pytest.mark.parametrize("share", [0.0, 0.9, 1.1])
def test_queries_divided_by_their_first_condition(max_conditions, share):
    """Tables of all of them would be too many; bounds of pairs rule most of them out."""
    rng = np.random.default_rng(0)
    cuts = rng.normal(size=(9, 400))
    extents = np.concatenate([cuts > cut for cut in (-0.6, 0.0, 0.6)])
    extents = np.concatenate([extents, ~extents])
    target = 4.0 * (extents[0] & extents[10] & extents[20] & extents[30]) + rng.normal(size=400)
    refitted = RefittedTerms(
        np.vstack([np.ones((1, 400), dtype=bool), extents[:1]]), np.array([0.0, 20.0])
    )
    columns = np.array(refitted.values, dtype=float)
    weights = np.linalg.solve(columns @ columns.T + np.diag([0.0, 20.0]), columns @ target)
    problem = SearchProblem(extents, weights @ columns - target, np.ones(400), 20.0, None, refitted)
    shorter = search(problem, branching="tables", max_conditions=3)
    limits = {"max_conditions": max_conditions, "branching": "tables"}
    best = search(problem, **limits)
    assert best.status is SearchStatus.OPTIMAL
    assert best.objective_value > shorter.objective_value
    assert best == replace(search(problem, **limits, n_jobs=3), seconds=best.seconds)
    result = search(problem, **limits, cutoff=share * best.objective_value)
    if share < 1.0:
        assert (result.query, result.bound) == (best.query, best.bound)
    else:
        assert result.status is SearchStatus.CUTOFF
    assert result.counters["table_sets"] <= best.counters["table_sets"]
    stopped = search(problem, **limits, node_limit=3)
    assert stopped.objective_value <= best.objective_value <= stopped.bound


def test_long_rules_start_from_what_is_easier():
    """Six columns matter only together: no beam finds them, the stagewise optimum does."""
    rng = np.random.default_rng(0)
    bits = rng.random((6, 400)) < 0.5
    extents = np.concatenate([bits, ~bits])
    target = np.where(bits.sum(axis=0) % 2 == 0, 1.0, -1.0)
    refitted = RefittedTerms(np.ones((1, 400), dtype=bool), np.zeros(1))
    gradients = target.mean() - target
    problem = SearchProblem(extents, gradients, np.ones(400), 1.0, refitted=refitted)
    optimum = search(problem, search_brute_force).objective_value
    result = search(problem, node_limit=40)
    assert result.node_limit == 40
    assert problem.objective(result.query) == result.objective_value
    assert result.objective_value > 1.3 * search(problem, "beam").objective_value
    assert result.objective_value <= optimum <= result.bound


def test_interrupted_search_for_long_rules():
    case = next(
        case
        for case in map(random_joint_problem, SEEDS)
        if case.problem.projections is not None and case.problem.n_candidates > 6
    )
    optimum = search(case.problem, search_brute_force).objective_value
    result = search(case.problem, time_limit=1e-9)
    assert result.objective_value <= optimum <= result.bound


@pytest.mark.parametrize("ratio", [1.0, 1e9, 1e13, 1e14])
def test_small_hessians_are_imitated_as_well(ratio):
    """A rule on rows of little weight is as much of a rule as one on rows of great weight."""
    hessians = np.array([ratio, ratio, 1.0, 1.0, 1.0, 1.0])
    refitted = RefittedTerms(
        np.array([[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 1]], dtype=bool), np.zeros(2)
    )
    half = np.array([[0, 0, 1, 1, 0, 0]], dtype=bool)
    problem = SearchProblem(half, [0.0, 0.0, 1.0, 1.0, -1.0, -1.0], hessians, refitted=refitted)
    # Two of four rows, of which the rule for all four imitates half.
    assert problem.value(half[0]) == pytest.approx(2.0**2 / (2.0 - 1.0), rel=1e-6)


def test_starts_leave_time_for_the_bound(monkeypatch):
    monkeypatch.setattr("time.perf_counter", lambda: 100.0)
    case = random_joint_problem(0)
    limits = []

    def record(problem, within, branching):
        limits.append((problem.n_components > 0, within.time_limit))
        return search(problem, max_conditions=1)

    search_from_starts(case.problem, SearchLimits(time_limit=20.0), record)
    assert limits[0] == (False, pytest.approx(10.0))
    assert limits[-1] == (True, pytest.approx(20.0))


def test_projections_beside_slopes_take_the_place_of_what_they_are_made_of():
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(size=200), rng.random((2, 200)) < 0.5, np.ones(200)])
    terms, hessians = RefittedTerms(values, np.array([1.0, 1.0, 1.0, 0.0])), rng.random(200)
    cells = terms.cells(200)
    # The first cell has no rows.
    columns = values[:, np.append(0, np.arange(200))]
    np.testing.assert_array_equal(terms.columns(cells), columns)
    matrix = columns * np.append(0.0, hessians) @ columns.T + np.diag(terms.penalties)
    sums = values * hessians
    found = terms.projections(hessians, cells)
    np.testing.assert_allclose(found.T @ found, sums.T @ np.linalg.solve(matrix, sums), atol=1e-9)
