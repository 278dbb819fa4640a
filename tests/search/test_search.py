"""The interface of a search: methods by name, limits, callbacks, counters and complaints."""

import pickle
import threading
from functools import cache

import numpy as np
import pytest
from problems import random_problem, thresholds_problem

from laconic import _core
from laconic.search import METHODS, Extents, SearchProblem, SearchStatus, search

COUNTERS = [
    "bound_immediate",
    "bound_propagated",
    "equivalence_immediate",
    "equivalence_propagated",
    "evaluations",
    "nodes",
]


@pytest.fixture(scope="module")
def hard_problem():
    """A search that takes hours: noise, many conditions, hardly any regularisation."""
    rng = np.random.default_rng(0)
    extents = rng.random((150, 2000)) < 0.5
    return SearchProblem(extents, rng.normal(size=2000), np.ones(2000), l2_regularization=0.1)


@pytest.fixture(scope="module")
def medium_problem():
    """A search of a few hundred nodes; nested extents make queries equivalent now and then."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(4, 1, 150))
    below = (x <= np.linspace(-1, 1, 3)[:, np.newaxis]).reshape(-1, 150)
    extents = np.concatenate([below, ~below])
    return SearchProblem(extents, rng.normal(size=150), np.ones(150), l2_regularization=2.0)


@pytest.mark.parametrize("method", METHODS)
def test_two_conditions_by_hand(method):
    extents = [[True, True, False, False], [False, True, True, False]]
    problem = SearchProblem(extents, [1, -3, 1, 0], [1, 1, 1, 1], l2_regularization=1.0)
    result = search(problem, method)
    assert result.query == (0, 1)
    assert result.objective_value == 9 / 2 / 8
    assert result.seconds > 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "extents", [np.zeros((0, 3), bool), np.ones((2, 3), bool), np.zeros((2, 3), bool)]
)
def test_nothing_to_choose_from(method, extents):
    problem = SearchProblem(extents, [1.0, 1.0, 1.0], np.ones(3))
    result = search(problem, method)
    assert (result.query, result.objective_value) == ((), 0.5)


@pytest.mark.parametrize("method", METHODS)
def test_no_gradient_no_rule(method):
    problem = SearchProblem([[True, False, True]], np.zeros(3), np.ones(3))
    result = search(problem, method)
    assert (result.query, result.objective_value) == ((), 0.0)
    assert result.approximation_ratio == 1.0


def test_ties_go_to_the_shortest_then_first_query():
    """Conditions 1 and 2 together, 3 alone, and 4 alone cover the same rows."""
    extents = np.array(
        [[0, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 0, 0]], dtype=bool
    )
    problem = SearchProblem(extents, [1, 1, -1, -1], np.ones(4), l2_regularization=1.0)
    # Rows 0, 1 and rows 2, 3 tie: condition 0 comes before condition 3.
    assert search(problem).query == (0,)
    problem = SearchProblem(extents[1:], [1, 1, -1, -1], np.ones(4), l2_regularization=1.0)
    assert search(problem).query == (2,)


def test_greedy_misses_what_optimal_finds():
    """Exclusive or: no single condition has any gain, a pair of them has."""
    a = np.array([0, 0, 1, 1], dtype=bool)
    b = np.array([0, 1, 0, 1], dtype=bool)
    problem = SearchProblem([a, ~a, b, ~b], [1, -1, -1, 1], np.ones(4))
    assert search(problem, "greedy").query == ()
    assert search(problem).query == (0, 2)


def test_beam_of_width_one_is_greedy():
    for seed in range(200):
        case = random_problem(seed)
        greedy = search(case.problem, "greedy", **case.limits)
        beam = search(case.problem, "beam", width=1, **case.limits)
        assert (greedy.query, greedy.bound) == (beam.query, beam.bound)


def test_heuristics_say_so(medium_problem):
    result = search(medium_problem, "greedy")
    assert result.status is SearchStatus.HEURISTIC
    assert not result.is_optimal
    assert 0 < result.approximation_ratio < 1


@pytest.mark.parametrize("method", ["optimal", "reference"])
def test_counters(method, medium_problem):
    counters = dict(search(medium_problem, method).counters)
    if method == "optimal":
        assert counters.pop("leaves") > 0
        assert counters.pop("depth_first") == 0
        assert 0 <= counters.pop("dropped_conditions") <= counters["bound_immediate"]
        assert [counters.pop(name) for name in ("tables", "table_rows", "table_sets")] == [0, 0, 0]
    assert sorted(counters) == COUNTERS
    assert 1 < counters["nodes"] <= counters["evaluations"]


def test_each_pruning_rule_saves_work(medium_problem):
    @cache
    def work(**options):
        return search(medium_problem, "reference", **options).counters

    full = work()
    for name in ("bounding", "core_queries", "opus"):
        assert full["evaluations"] < work(**{name: False})["evaluations"], name
    assert full["evaluations"] <= work(propagation=False)["evaluations"]
    assert work(propagation=False)["equivalence_propagated"] == 0
    assert work(core_queries=False)["equivalence_propagated"] == 0
    no_bound = work(bounding=False)
    assert no_bound["bound_immediate"] == no_bound["bound_propagated"] == 0


def test_bound_over_conditions_is_tighter_than_the_papers(medium_problem):
    conditions = search(medium_problem, "optimal").counters["nodes"]
    assert conditions < search(medium_problem, "optimal", branching="paper").counters["nodes"]


@pytest.mark.parametrize("options", [{}, {"node_limit": 100}, {"approximation_factor": 0.8}])
def test_same_result_and_work_for_any_number_of_threads(options, medium_problem):
    results = [search(medium_problem, n_jobs=n_jobs, **options) for n_jobs in (1, 2, 3, -1, None)]
    for result in results[1:]:
        assert result.query == results[0].query
        assert result.bound == results[0].bound
        assert result.counters == results[0].counters


@pytest.mark.parametrize("how", [{}, {"leaves": False}, {"leaves": False, "beam_width": 0}])
@pytest.mark.parametrize("options", [{}, {"min_coverage": 9}, {"max_conditions": 3}])
def test_same_result_and_work_with_any_instruction_set(how, options, hard_problem):
    names = _core.instruction_sets()
    assert names[0] == "scalar"
    results = [
        search(hard_problem, node_limit=30, instruction_set=name, **how, **options)
        for name in names
    ]
    for result in results[1:]:
        assert result.query == results[0].query
        assert result.bound == results[0].bound
        assert result.counters == results[0].counters


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_depth_first_when_memory_is_short(n_jobs, hard_problem, medium_problem):
    seen = []
    options = {"memory_limit": 200_000, "n_jobs": n_jobs, "leaves": False}
    result = search(hard_problem, node_limit=300, callback=seen.append, **options)
    assert 0 < result.counters["depth_first"] < result.counters["nodes"] == 300
    assert result.was_depth_first
    assert result.status is SearchStatus.NODE_LIMIT
    assert seen[-1].is_depth_first
    assert seen[-1].nodes_per_second > 0
    bounds = [progress.bound for progress in seen]
    assert bounds == sorted(bounds, reverse=True)
    assert max(progress.n_open for progress in seen) < 20_000

    result = search(medium_problem, **options | {"memory_limit": 0})
    expected = search(medium_problem)
    assert (result.query, result.bound) == (expected.query, expected.bound)
    assert result.was_depth_first
    assert not expected.was_depth_first


def test_leaves_and_the_beam_save_work_and_change_nothing_else():
    """Not on every problem, but on this one."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(6, 1, 300))
    below = (x <= np.linspace(-1, 1, 5)[:, np.newaxis]).reshape(-1, 300)
    gradients = rng.normal(size=300) + ((x[0, 0] > 0.3) & (x[1, 0] <= 0.5))
    problem = SearchProblem(np.concatenate([below, ~below]), gradients, np.ones(300), 10.0)
    full = search(problem)
    for options in ({"leaves": False}, {"beam_width": 0}):
        result = search(problem, **options)
        assert result.query == full.query, options
        assert result.bound == full.bound, options
        assert full.counters["nodes"] < result.counters["nodes"], options


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_node_limit(n_jobs, hard_problem):
    result = search(hard_problem, node_limit=50, n_jobs=n_jobs)
    assert result.status is SearchStatus.NODE_LIMIT
    assert result.counters["nodes"] == 50
    assert result.objective_value < result.bound


@pytest.mark.parametrize("method", ["optimal", "reference", "beam"])
def test_time_limit(method, hard_problem):
    result = search(hard_problem, method, time_limit=0.05)
    if method != "beam":  # which may be done by then
        assert result.status is SearchStatus.TIME_LIMIT
    assert result.objective_value < result.bound


@pytest.mark.parametrize("method", ["optimal", "reference"])
def test_callback_sees_the_gap_shrink_and_can_stop(method, hard_problem):
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) >= 5 and progress.n_nodes > seen[0].n_nodes

    result = search(hard_problem, method, callback=callback)
    assert result.status is SearchStatus.INTERRUPTED
    assert len(seen) >= 5
    ratios = [progress.approximation_ratio for progress in seen]
    assert ratios == sorted(ratios)
    assert seen[0].n_nodes < seen[-1].n_nodes <= result.counters["nodes"]
    assert all(progress.n_open > 0 for progress in seen)


def test_what_a_callback_raises_comes_through(hard_problem):
    def callback(progress):
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        search(hard_problem, callback=callback, n_jobs=2)


def test_other_threads_run_during_a_search(hard_problem):
    """The GIL is released: a second thread works while the search does."""
    n_steps = 0
    done = threading.Event()

    def count():
        nonlocal n_steps
        while not done.is_set():
            n_steps += 1

    thread = threading.Thread(target=count)
    thread.start()
    search(hard_problem, time_limit=0.3)
    done.set()
    thread.join()
    assert n_steps > 1000


def test_extents_can_be_shared():
    extents = np.array([[True, False, True], [False, True, True]])
    shared = Extents(extents)
    a = SearchProblem(extents, [1, 2, -3], np.ones(3))
    b = SearchProblem(shared, [1, 2, -3], np.ones(3))
    assert search(a).query == search(b).query


def test_weights_count_like_repeated_rows():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        extents = rng.random((5, 12)) < 0.5
        gradients, hessians = rng.integers(-4, 5, 12), np.full(12, 2.0)
        weights = rng.integers(1, 4, 12)
        weighted = SearchProblem(extents, gradients, hessians, 1.0, weights)
        repeated = SearchProblem(
            np.repeat(extents, weights, axis=1),
            np.repeat(gradients, weights),
            np.repeat(hessians, weights),
            1.0,
        )
        for limits in ({}, {"min_coverage": 8, "max_conditions": 2}):
            a, b = search(weighted, **limits), search(repeated, **limits)
            assert (a.query, a.objective_value) == (b.query, b.objective_value)


def test_results_can_be_pickled(medium_problem):
    result = search(medium_problem)
    assert pickle.loads(pickle.dumps(result)) == result


def test_a_method_can_be_given_as_a_function(medium_problem):
    assert search(medium_problem, METHODS["greedy"]) is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "method must be one of optimal, greedy.*Got 'magic'"),
        ({"max_conditions": -1}, r"max_conditions must be a whole number.*Got -1"),
        ({"max_conditions": 1.5}, r"max_conditions must be a whole number.*Got 1.5"),
        ({"min_coverage": -1}, r"min_coverage must be a finite number.*Got -1"),
        ({"min_coverage": np.nan}, r"min_coverage must be a finite number.*Got nan"),
        ({"min_coverage": 151}, r"min_coverage must not exceed.*150. Got 151"),
        ({"approximation_factor": 0}, r"approximation_factor must be a number.*\(0, 1\]. Got 0"),
        ({"approximation_factor": 1.1}, r"approximation_factor must be a number.*Got 1.1"),
        ({"node_limit": 0}, r"node_limit must be a whole number.*Got 0"),
        ({"time_limit": 0}, r"time_limit must be a number of seconds.*Got 0"),
        ({"n_jobs": 0}, r"n_jobs must be a whole number other than 0"),
        ({"method": "beam", "width": 0}, r"width must be a whole number.*Got 0"),
        ({"memory_limit": -1}, r"memory_limit must be a whole number in the range.*Got -1"),
        ({"instruction_set": "magic"}, r"instruction_set must be one that .*scalar.*Got 'magic'"),
        ({"branching": "loose"}, r"branching must be one of auto, conditions, .*Got 'loose'"),
    ],
)
def test_bad_arguments(arguments, message, medium_problem):
    with pytest.raises(ValueError, match=message):
        search(medium_problem, **arguments)


def test_many_thresholds_are_searched_by_ranges():
    problem = thresholds_problem()
    assert problem.extents.n_chains == 4
    ranges = search(problem, branching="ranges")
    assert ranges.is_optimal
    assert search(problem).counters == ranges.counters
    assert search(problem).branching == ranges.branching == "ranges"
    conditions = search(problem, branching="conditions")
    assert (ranges.query, ranges.objective_value) == (conditions.query, conditions.objective_value)
    assert search(problem, max_conditions=2).counters != ranges.counters


@pytest.mark.parametrize("options", [{}, {"node_limit": 10}, {"approximation_factor": 0.8}])
def test_ranges_are_the_same_for_any_number_of_threads(options):
    results = [
        search(thresholds_problem(), branching="ranges", n_jobs=n_jobs, beam_width=0, **options)
        for n_jobs in (1, 2, 3)
    ]
    for result in results[1:]:
        assert (result.query, result.bound) == (results[0].query, results[0].bound)
        assert result.counters == results[0].counters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"branching": "ranges", "instruction_set": "scalar"}, "a single instruction set"),
        ({"branching": "ranges", "beam_width": 4}, "start from a local search, not from a beam"),
    ],
)
def test_what_a_way_of_branching_does_not_have(options, message):
    with pytest.raises(ValueError, match=message):
        search(thresholds_problem(), **options)


@pytest.mark.parametrize(
    "options", [{"leaves": False}, {"instruction_set": "scalar"}, {"beam_width": 2}]
)
def test_auto_takes_the_way_of_branching_that_has_what_is_named(options):
    problem = thresholds_problem()
    expected = search(problem, branching="conditions", **options)
    assert search(problem, **options).counters == expected.counters
    assert search(problem).counters == search(problem, branching="ranges").counters


@pytest.mark.parametrize("limits", [{}, {"max_conditions": 2}, {"min_coverage": 30}])
def test_ranges_agree_with_conditions(limits):
    problem = thresholds_problem(60)
    ranges = search(problem, branching="ranges", **limits)
    conditions = search(problem, branching="conditions", **limits)
    assert (ranges.query, ranges.bound) == (conditions.query, conditions.bound)
