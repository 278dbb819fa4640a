"""The estimators: what they say about rules that are not proven."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from estimators import RULES_BY_GAIN, STAGEWISE, numeric_problem
from laconic import RuleBoostingClassifier, RuleBoostingRegressor, RuleBoostingRegressorCV
from laconic.estimators.convergence import describe_unproven
from laconic.search import SearchResult, SearchStatus

HARD = STAGEWISE | {"l2_regularization": 0.1}


def test_node_limit_warns_with_a_true_ratio():
    X, y = numeric_problem("classifier", n_rows=200, n_features=6)
    proven = RuleBoostingClassifier(1, **HARD).fit(X, y).search_results_[0]
    model = RuleBoostingClassifier(1, **HARD, node_limit=1)
    message = (
        r".*\bterm 1\b.*\bnode_limit=1\b.*\bobjective ([\d.]+)\b.*\bbound ([\d.]+)\b"
        r".*\bratio (0\.\d+)\b.*\bnot proven optimal\b"
    )
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    result = model.search_results_[0]
    assert result.status is SearchStatus.NODE_LIMIT
    assert result.counters["nodes"] == 1
    assert not result.is_optimal
    assert result.objective_value <= proven.objective_value <= result.bound
    objective, bound, ratio = map(float, re.match(message, str(caught[0].message)).groups())
    assert_allclose([objective, bound], [result.objective_value, result.bound], rtol=1e-3)
    assert ratio <= result.approximation_ratio <= ratio + 0.01
    assert result.approximation_ratio == result.objective_value / result.bound


@pytest.mark.parametrize(
    ("parameters", "changes"),
    [
        ({"max_conditions": None, "node_limit": 1}, {"max_conditions": 3}),
        ({"max_conditions": 3, "node_limit": 1}, {"node_limit": "auto"}),
    ],
)
@pytest.mark.parametrize("strategy", ["joint", "stagewise"])
def test_advice_of_the_warning_is_good(strategy, parameters, changes):
    X, y = np.split(np.random.default_rng(0).normal(size=(200, 9)), [8], axis=1)
    y = y[:, 0]
    model = RuleBoostingRegressor(2, strategy=strategy, **parameters)
    words = " or ".join(f"{name}={value!r}" for name, value in changes.items())
    with pytest.warns(ConvergenceWarning, match=f"With {words} every term would be proven"):
        model.fit(X, y)
    assert model.provable_with_ == changes
    model.set_params(**{"node_limit": "auto"} | changes).fit(X, y)
    assert all(result.is_optimal for result in model.search_results_)
    assert model.provable_with_ == {}


def test_fewer_thresholds_are_advised_where_they_make_tables_affordable(monkeypatch):
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK_IN_TABLES", 60_000)
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK", 0)
    monkeypatch.setattr("laconic.search.budget.MIN_NODES", 1)
    X, y = numeric_problem("classifier", n_rows=200, n_features=6)
    model = RuleBoostingClassifier(1, max_conditions=2, max_thresholds=40, l2_regularization=0.1)
    with pytest.warns(ConvergenceWarning, match=r"max_thresholds=\d+ every term would be proven"):
        model.fit(X, y)
    fewer = model.provable_with_["max_thresholds"]
    assert model.set_params(max_thresholds=fewer).fit(X, y).search_results_[0].is_optimal


def scripted_search(*endings):
    """Search whose results end as told, one (status, approximation ratio) after the other."""
    rest = iter(endings)

    def search(problem, limits, **options):
        status, ratio = next(rest)
        return SearchResult((0,), ratio, 1.0, status)

    return search


OPTIMAL = (SearchStatus.OPTIMAL, 1.0)


# One search for each rule.
Regressor = partial(RuleBoostingRegressor, **RULES_BY_GAIN)


def fit_warnings(model, n_features=3):
    X, y = numeric_problem("regressor", n_features=n_features)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}
    return [str(warning.message) for warning in caught]


def test_one_warning_for_all_unproven_rules():
    endings = [OPTIMAL] * 10
    for number, ratio in ((4, 0.8), (5, 0.469), (9, 0.995)):
        endings[number - 1] = (SearchStatus.NODE_LIMIT, ratio)
    model = Regressor(10, search=scripted_search(*endings), node_limit=20000)
    [message] = fit_warnings(model)
    for part in (
        *("3 of 10 terms are not proven optimal", "terms 4, 5 and 9", "node_limit=20000"),
        *("46% of the best possible", "search_results_"),
        "Raise 'node_limit', or lower 'max_conditions' or 'max_thresholds'.",
    ):
        assert part in message


def test_warning_about_one_rule_names_its_objective():
    endings = [OPTIMAL, OPTIMAL, (SearchStatus.TIME_LIMIT, 0.915), OPTIMAL]
    model = Regressor(4, search=scripted_search(*endings), time_limit=60)
    [message] = fit_warnings(model)
    for part in (
        *("term 3", "time_limit=60", "objective 0.915", "bound 1 ", "ratio 0.91"),
        *("not proven optimal", "Raise 'time_limit'"),
    ):
        assert part in message


@pytest.mark.parametrize("estimator", [RuleBoostingRegressor, RuleBoostingRegressorCV])
def test_search_that_is_stopped_before_its_first_rule(estimator):
    model = estimator(time_limit=1e-9, slopes=False)
    [message] = fit_warnings(model)
    assert "term 1 stopped at time_limit=1e-09 before it found a term" in message
    assert "With time_limit=None every term would be proven" in message
    assert len(model.ensemble_) == 0
    assert model.unfinished_search_.status is SearchStatus.TIME_LIMIT


def test_search_that_is_stopped_before_a_further_rule():
    search = scripted_search(OPTIMAL, (SearchStatus.NODE_LIMIT, 0.0))
    model = Regressor(3, search=search, node_limit=7)
    [message] = fit_warnings(model)
    assert "term 2 stopped at node_limit" in message
    assert "there may be more than the 1 found. Raise 'node_limit'" in message
    assert len(model.search_results_) == 1


def test_search_that_proves_that_there_is_no_rule_is_not_unfinished():
    model = Regressor().fit([[1], [2], [3]], [5, 5, 5])
    assert len(model.ensemble_) == 0
    assert model.unfinished_search_ is None


def test_warning_over_all_thresholds_advises_fewer():
    ending = (SearchStatus.NODE_LIMIT, 0.9)
    model = Regressor(1, search=scripted_search(ending), max_thresholds=None)
    [warning] = fit_warnings(model)
    assert "max_thresholds" in warning


def test_warning_about_both_limits():
    endings = [(SearchStatus.TIME_LIMIT, 0.5), (SearchStatus.NODE_LIMIT, 0.001)]
    search = scripted_search(*endings)
    model = Regressor(2, search=search, node_limit=7, time_limit=0.5)
    [message] = fit_warnings(model)
    assert "node_limit=7 or time_limit=0.5" in message
    assert "terms 1 and 2" in message
    assert "0% of the best possible" in message
    assert "Raise 'node_limit' or 'time_limit'" in message


def test_warning_about_many_rules_stays_short():
    search = scripted_search(*[(SearchStatus.NODE_LIMIT, 0.5)] * 30)
    [message] = fit_warnings(Regressor(30, search=search))
    assert "terms 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 20 more" in message


def test_warm_start_warns_about_new_rules_only():
    search = scripted_search(*[(SearchStatus.NODE_LIMIT, 0.5)] * 4, OPTIMAL, OPTIMAL)
    model = Regressor(2, search=search, warm_start=True)
    assert fit_warnings(model)[0].startswith("2 of 2 terms are")
    [message] = fit_warnings(model.set_params(n_terms=5))
    assert message.startswith("2 of 3 new terms are")
    assert "terms 3 and 4" in message
    model.set_params(n_terms=6).fit(*numeric_problem("regressor"))


def test_interrupted_fit_warns_about_unproven_rules_too():
    def interrupt(progress):
        if len(progress.terms) == 2:
            raise KeyboardInterrupt

    search = scripted_search(*[(SearchStatus.NODE_LIMIT, 0.5)] * 2)
    model = Regressor(5, search=search, callback=interrupt, on_interrupt="keep")
    interrupted, unproven = fit_warnings(model)
    assert interrupted.startswith("Interrupted")
    assert unproven.startswith("2 of 2 terms are")


def test_warnings_as_errors_leave_the_model():
    X, y = numeric_problem("regressor")
    model = Regressor(2, search=scripted_search(OPTIMAL, (SearchStatus.NODE_LIMIT, 0.5)))
    with warnings.catch_warnings(action="error"), pytest.raises(ConvergenceWarning):
        model.fit(X, y)
    assert len(model.ensemble_) == len(model.search_results_) == 2


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_heuristics_do_not_warn(search):
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(3, search=search, node_limit=1).fit(X, y)
    assert {r.status for r in model.search_results_} == {SearchStatus.HEURISTIC}


def test_warning_tells_what_the_automatic_limit_was(monkeypatch):
    monkeypatch.setattr("laconic.search.budget.AFFORDABLE_WORK", 0)
    monkeypatch.setattr("laconic.search.budget.MIN_NODES", 1)
    model = Regressor(1, l2_regularization=0.01, max_conditions=None)
    [warning] = fit_warnings(model, n_features=6)
    assert warning.startswith("Search for term 1 stopped at node_limit=1 with objective ")


def test_the_largest_of_several_node_limits_is_named():
    stops = [(SearchStatus.TIME_LIMIT, None), (SearchStatus.NODE_LIMIT, 12)]
    results = [
        SearchResult((0,), 0.5, 1.0, status, node_limit=limit)
        for status, limit in [*stops, (SearchStatus.NODE_LIMIT, 40)]
    ]
    message = describe_unproven(results, 0, time_limit=1.5, changes={})
    assert "their searches stopped at node_limit=40 or time_limit=1.5 (terms 1, 2 and 3;" in message
