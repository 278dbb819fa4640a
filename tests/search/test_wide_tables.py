"""Tables of thousands of columns: what is not done before a limit can act."""

import numpy as np
import pytest
from brute_force import search_brute_force

from laconic import RuleBoostingRegressor
from laconic.boosting import Settings
from laconic.candidates.candidates import candidate_conditions
from laconic.search import Extents, SearchLimits, SearchProblem, budget, search


def wide(n_rows=20, n_features=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, (X[:, 0] > 0) * 1.0 + 0.1 * rng.normal(size=n_rows)


def wide_problem(n_rows=30, n_columns=2000, seed=0):
    rng = np.random.default_rng(seed)
    extents = rng.random((n_columns, n_rows)) < 0.8
    return SearchProblem(extents, rng.normal(size=n_rows), np.ones(n_rows), 1.0)


def test_advice_makes_no_candidates_to_throw_away(monkeypatch):
    def watched(settings, data, made=Settings.candidates, **changes):
        assert not changes, "candidates were made for an advice that there cannot be"
        return made(settings, data)

    monkeypatch.setattr(Settings, "candidates", watched)
    X, y = wide(60, n_features=6000)
    model = RuleBoostingRegressor(2, max_thresholds=3, node_limit=1)
    with pytest.warns(UserWarning, match="not proven"):
        model.fit(X, y)
    assert "max_thresholds" not in model.provable_with_


def test_work_in_tables_is_not_counted_where_there_is_too_much(monkeypatch):
    def refuse(*_):
        raise AssertionError("counted")

    monkeypatch.setattr(budget, "_table_work", refuse)
    rng = np.random.default_rng(0)
    extents = Extents(rng.random((9000, 20)) < 0.5)
    assert budget.choose_branching(extents, 3) == "conditions"
    problem = SearchProblem(extents, rng.normal(size=20), np.ones(20), 1.0)
    # Of two conditions there are too many, and single ones are where every search begins.
    limits = SearchLimits(max_conditions=3)
    monkeypatch.setattr(budget, "AFFORDABLE_WORK_IN_TABLES", 10_000_000)
    assert budget.longest_affordable_queries(problem, limits) == 0


def test_chains_of_thresholds_are_found_among_many_features():
    X, _ = wide(40, 1500)
    extents = candidate_conditions(X, max_thresholds=3).extents
    assert extents.n_chains == 2 * 1500
    assert extents.n_columns == 6 * 1500


@pytest.mark.parametrize("seed", range(5))
def test_conditions_that_cannot_be_of_use_are_dropped_and_counted(seed):
    rng = np.random.default_rng(seed)
    extents = rng.random((400, 60)) < 0.5
    gradients = rng.normal(size=60) - 4.0 * (extents[7] & extents[300])
    problem = SearchProblem(extents, gradients, np.ones(60), 1.0)
    result = search(problem, branching="conditions", max_conditions=2)
    assert result.is_optimal
    # Of a condition, the sums of gradients of one sign say what it can be worth at the most.
    dropped = 0
    for covered in extents:
        of_rows = gradients[covered]
        best = 0.0
        for sign in (1, -1):
            sums = np.cumsum(np.sort(sign * of_rows)[::-1])
            best = max(best, (np.maximum(sums, 0) ** 2 / (1 + np.arange(1, len(sums) + 1))).max())
        dropped += best / problem.normalizer < result.objective_value
    assert result.counters["dropped_conditions"] > 0
    assert result.counters["dropped_conditions"] >= dropped > 0


@pytest.mark.parametrize("max_conditions", [2, None])
def test_a_short_query_is_found_among_thousands(max_conditions):
    for seed in range(3):
        problem = wide_problem(seed=seed)
        result = search(problem, node_limit=3, max_conditions=max_conditions)
        assert result.bound >= result.objective_value == problem.objective(result.query)
        assert result.counters["nodes"] <= 3


def test_each_node_is_told():
    told = []
    problem = wide_problem(60, 20_000)
    result = search(problem, node_limit=4, max_conditions=3, callback=told.append)
    assert result.counters["nodes"] <= 4
    assert all(progress.bound >= result.objective_value for progress in told)


def test_a_search_that_is_stopped_at_once_has_a_true_bound():
    problem = wide_problem(12, 3000)
    best = search(problem, search_brute_force, max_conditions=1).objective_value
    result = search(problem, max_conditions=3, time_limit=1e-9)
    assert result.bound >= best
    result = search(problem, max_conditions=3, callback=lambda _: True)
    assert result.bound >= best
