"""The cost of searches: the choice of branching at its limits, and the nodes that "auto" allows."""

from functools import partial

import numpy as np
import pytest
from problems import thresholds_problem

from laconic.search import Extents, SearchLimits, SearchProblem, SearchStatus, search
from laconic.search.budget import affordable_nodes, choose_branching, resolve_node_limit
from laconic.search.optimal import search_optimal


def thresholds_of(n_features, n_thresholds, n_rows):
    """Conditions ``<=`` and ``>`` of features without structure, at equally many places each."""
    generator = np.random.default_rng(0)
    X = np.array([generator.permutation(n_rows) for _ in range(n_features)])
    cuts = np.linspace(0, n_rows, n_thresholds + 1, endpoint=False)[1:].astype(int)
    extents = [x < cut for x in X for cut in cuts]
    return Extents(np.array(extents + [~extent for extent in extents]))


@pytest.mark.parametrize(
    ("n_features", "n_thresholds", "n_rows", "max_conditions", "expected"),
    [
        (3, 31, 200, None, "conditions"),
        (3, 32, 200, None, "ranges"),
        (3, 32, 200, 6, "ranges"),
        (3, 32, 200, 5, "ranges"),
        (3, 32, 200, 4, "tables"),
        (3, 32, 200, 2, "tables"),
        (49, 10, 100, None, "conditions"),
        (50, 10, 100, None, "ranges"),
        (60, 9, 100, None, "conditions"),
    ],
)
def test_ranges_are_taken_where_chains_are_long(
    n_features, n_thresholds, n_rows, max_conditions, expected
):
    extents = thresholds_of(n_features, n_thresholds, n_rows)
    assert choose_branching(extents, max_conditions) == expected


def test_tables_are_taken_where_all_queries_can_be_looked_at(monkeypatch):
    extents = thresholds_of(n_features=3, n_thresholds=10, n_rows=200)
    work = [extents.table_work(n) for n in (1, 2, 3, 4, 5)]
    assert work == sorted(work)
    assert extents.table_work(6) == np.inf
    # At least all pairs of conditions.
    assert work[1] > 60 * 59 / 2
    assert choose_branching(extents, 3) == "tables"
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK_IN_TABLES", work[2] - 1)
    assert choose_branching(extents, 3) == "conditions"
    assert choose_branching(extents, 2) == "tables"
    # Who sets no limit on nodes wants a proof, and tables come to an end.
    assert choose_branching(extents, 3, is_limited=False) == "tables"
    assert choose_branching(extents, 5, is_limited=False) == "conditions"
    assert choose_branching(extents, None) == "conditions"
    assert affordable_nodes(extents, "tables") is None


def test_tables_of_many_categories_are_divided():
    rng = np.random.default_rng(0)
    few, many = (
        Extents(
            np.array([x == value for x in rng.integers(n, size=(4, 3000)) for value in range(n)])
        )
        for n in (20, 120)
    )
    assert choose_branching(few, 4) == "tables"
    assert many.table_work(3) < many.table_work(4) < np.inf
    assert choose_branching(many, 4) == choose_branching(many, 2) == "tables"
    # So are those of the joint objective.
    assert choose_branching(many, 4, is_joint=True) == "tables"
    gradients = rng.normal(size=3000)
    problem = SearchProblem(many, gradients, np.ones(3000), 1.0)
    result = search(problem, max_conditions=4, node_limit="auto")
    assert (result.branching, result.is_optimal) == ("tables", True)
    assert result.query == search(problem, max_conditions=4, branching="conditions").query


def test_ranges_are_not_taken_with_many_rows(monkeypatch):
    extents = thresholds_of(n_features=3, n_thresholds=40, n_rows=500)
    assert choose_branching(extents, None) == "ranges"
    monkeypatch.setattr("laconic.search.budget.MAX_DISTINCT_ROWS", extents.n_distinct_rows)
    assert choose_branching(extents, None) == "ranges"
    monkeypatch.setattr("laconic.search.budget.MAX_DISTINCT_ROWS", extents.n_distinct_rows - 1)
    assert choose_branching(extents, None) == "conditions"


@pytest.mark.parametrize("covered", [np.zeros((0, 5), bool), np.ones((3, 5), bool)])
def test_without_a_column_there_is_nothing_to_range_over(covered):
    extents = Extents(covered)
    assert extents.n_chains == 0
    assert choose_branching(extents, None) == "conditions"
    assert affordable_nodes(extents, "conditions") == 20_000


@pytest.mark.parametrize(
    ("n_features", "n_thresholds", "n_rows", "branching", "expected"),
    [
        (2, 7, 1_000, "conditions", 20_000),
        (2, 7, 2_000, "conditions", 600_000_000 // (28 * 2_000)),
        (5, 20, 3_000, "conditions", 600_000_000 // (200 * 3_000)),
        (5, 20, 3_000, "paper", 600_000_000 // (200 * 3_000)),
        (40, 50, 10_000, "conditions", 20),
        (2, 40, 1_000, "ranges", 20_000),
        (2, 40, 4_000, "ranges", 10**11 // (4 * 4_000**2)),
        (3, 32, 30_000, "ranges", 20),
    ],
)
def test_few_seconds_allow_for_fewer_nodes_the_larger_the_problem(
    n_features, n_thresholds, n_rows, branching, expected
):
    extents = thresholds_of(n_features, n_thresholds, n_rows)
    assert extents.n_candidates == 2 * n_features * n_thresholds
    if branching == "ranges":
        assert extents.n_chains == 2 * n_features
    assert affordable_nodes(extents, branching) == expected


def test_constant_and_equal_conditions_are_paid_for_too():
    """The number follows from the conditions of a table, however alike they are."""
    extents = Extents(np.ones((100, 3_000), bool))
    assert affordable_nodes(extents, "conditions") == 600_000_000 // (100 * 3_000)


@pytest.mark.parametrize("node_limit", [None, 1, 7, 10**9])
def test_limits_other_than_auto_stay(node_limit):
    extents = Extents(np.ones((1, 1), bool))
    assert resolve_node_limit(SearchLimits(node_limit=node_limit), extents) == node_limit


@pytest.mark.parametrize(("max_conditions", "branching"), [(2, "conditions"), (3, "ranges")])
def test_auto_follows_the_choice_of_branching(max_conditions, branching):
    extents = thresholds_of(n_features=2, n_thresholds=40, n_rows=4_000)
    limits = SearchLimits(max_conditions=max_conditions, node_limit="auto")
    expected = {"conditions": 600_000_000 // (160 * 4_000), "ranges": 10**11 // (4 * 4_000**2)}
    assert resolve_node_limit(limits, extents) == expected[branching]
    assert resolve_node_limit(limits, extents, "tables") is None
    assert resolve_node_limit(limits, extents, "paper") == expected["conditions"]


@pytest.mark.parametrize(
    ("options", "branching"),
    [
        ({}, "ranges"),
        ({"max_conditions": 2, "beam_width": 3}, "conditions"),
        ({"branching": "conditions"}, "conditions"),
        ({"branching": "ranges"}, "ranges"),
        ({"branching": "paper"}, "paper"),
        ({"beam_width": 0}, "ranges"),
        ({"leaves": False}, "conditions"),
        ({"instruction_set": "scalar"}, "conditions"),
    ],
)
def test_search_says_how_it_branched_and_what_it_could_afford(options, branching, monkeypatch):
    monkeypatch.setattr("laconic.search.budget.MIN_NODES", 2)
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK", 5 * 60 * 236)
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK_OVER_RANGES", 3 * 4 * 60**2)
    problem = thresholds_problem(60)
    assert (problem.n_candidates, problem.extents.n_chains) == (236, 4)
    result = search(problem, node_limit="auto", **options)
    assert result.branching == branching
    assert result.node_limit == (3 if branching == "ranges" else 5)
    assert result.counters["nodes"] <= result.node_limit


@pytest.mark.parametrize("method", ["optimal", "reference"])
def test_searches_stop_at_the_automatic_limit(method, monkeypatch):
    rng = np.random.default_rng(0)
    extents = rng.random((150, 500)) < 0.5
    problem = SearchProblem(extents, rng.normal(size=500), np.ones(500), 0.1)
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK", 21 * 150 * 500)
    automatic, given = (search(problem, method, node_limit=limit) for limit in ("auto", 21))
    assert automatic.status is SearchStatus.NODE_LIMIT
    assert automatic.node_limit == given.node_limit == automatic.counters["nodes"] == 21
    assert automatic.counters == given.counters
    assert (automatic.query, automatic.bound) == (given.query, given.bound)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_auto_has_no_effect_where_no_nodes_are_counted(method):
    result = search(thresholds_problem(10), method, node_limit="auto")
    assert (result.node_limit, result.branching) == (None, None)


@pytest.mark.parametrize(
    "method", ["reference", partial(search_optimal, branching="conditions")], ids=["name", "own"]
)
def test_searches_without_tables_keep_the_automatic_limit(method):
    problem = thresholds_problem(10)
    assert choose_branching(problem.extents, 3) == "tables"
    assert search(problem, node_limit="auto", max_conditions=3).node_limit is None
    result = search(problem, method, node_limit="auto", max_conditions=3)
    assert result.node_limit == affordable_nodes(problem.extents, "conditions")
