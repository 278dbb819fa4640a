"""The estimators: what their parameters do."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from brute_force import search_brute_force
from numpy.testing import assert_allclose

from estimators import (
    ESTIMATORS,
    RULES_BY_GAIN,
    STAGEWISE,
    both,
    forms,
    mixed_columns,
    numeric_problem,
)
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.estimators.parameters import PSEUDO_ROWS
from laconic.losses import LogisticLoss, SquaredLoss, optimal_constant
from laconic.search import METHODS, SearchLimits, SearchResult, SearchStatus


@both
def test_fit_intercept_starts_from_the_best_constant(task):
    X, y = numeric_problem(task)
    weights = np.linspace(0.5, 2.0, 80)
    model = ESTIMATORS[task](3, strategy="stagewise").fit(X, y, weights)
    loss = LogisticLoss() if task == "classifier" else SquaredLoss()
    target = np.where(y == 1, 1.0, -1.0) if task == "classifier" else y
    assert model.ensemble_.intercept == optimal_constant(loss, target, weights) != 0.0
    assert ESTIMATORS[task](3).fit(X, y, weights).stages_[0] == model.stages_[0]
    without = ESTIMATORS[task](3, fit_intercept=False).fit(X, y, weights)
    assert {stage.intercept for stage in without.stages_} == {0.0}


@both
def test_refitted_intercept_leaves_no_gradient(task):
    X, y = numeric_problem(task)
    weights = np.linspace(0.5, 2.0, 80)
    model = ESTIMATORS[task](3).fit(X, y, weights)
    loss = LogisticLoss() if task == "classifier" else SquaredLoss()
    target = np.where(y == 1, 1.0, -1.0) if task == "classifier" else y
    gradients = weights * loss.gradients(target, model.ensemble_.raw_predictions(X))
    assert abs(gradients.sum()) <= 1e-12 * np.abs(gradients).sum()
    assert model.ensemble_.intercept != optimal_constant(loss, target, weights)
    without = model.set_params(fit_intercept=False).fit(X, y, weights)
    assert without.ensemble_.intercept == 0.0


@both
def test_joint_rules_fit_at_least_as_well(task):
    X, y = numeric_problem(task, n_rows=300)
    stagewise = ESTIMATORS[task](5, strategy="stagewise").fit(X, y)
    given = list(dict.fromkeys(forms(stagewise)))
    joint = ESTIMATORS[task](5, initial_terms=given).fit(X, y)
    assert forms(joint)[: len(given)] == given
    numbers = joint.task_.for_loss(np.asarray(y, dtype=float))

    def risk(model):
        # Slopes are penalised as rules are that vary as much: their weights by their scales.
        values = [term.values(X).astype(float) for term in model.ensemble_]
        scales = [v.std() / 0.4 if len({*v}) > 2 else 1.0 for v in values]
        weights = [term.weight for term in model.ensemble_] * np.array(scales)
        losses = joint.loss_.value(numbers, model.ensemble_.raw_predictions(X))
        return losses.sum() + model.l2_regularization_ * weights @ weights / 2

    assert risk(joint) < risk(stagewise)


def test_constant_target_needs_no_rule_besides_the_intercept():
    X, _ = numeric_problem("regressor")
    model = RuleBoostingRegressor(fit_intercept=True, l2_regularization=0).fit(X, np.full(80, 0.1))
    assert len(model.ensemble_) == 0
    assert_allclose(model.predict(X), 0.1, rtol=1e-15)
    assert list(model.staged_predict(X)) == []


@both
def test_number_of_threads_changes_nothing(task):
    X, y = numeric_problem(task, n_rows=150, n_features=5)
    models = [ESTIMATORS[task](4, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 1, 2, -1)]
    for model in models[1:]:
        assert model.ensemble_ == models[0].ensemble_
        assert [(r.query, r.objective_value, r.bound) for r in model.search_results_] == [
            (r.query, r.objective_value, r.bound) for r in models[0].search_results_
        ]


def test_parameters_reach_the_search():
    def record(problem, limits, *, n_jobs, callback):
        seen.append((limits, n_jobs))
        return SearchResult((), 1.0, 1.0, SearchStatus.OPTIMAL)

    seen = []
    limits = SearchLimits(2, 3.0, 0.5, 7, 11.0)
    parameters = {name: value for name, value in asdict(limits).items() if "cutoff" not in name}
    model = RuleBoostingRegressor(1, search=record, n_jobs=3, brevity=0.0, **parameters)
    model.fit([[1], [2], [3]], [0.0, 1.0, 2.0])
    [(seen_limits, n_jobs)] = seen
    # The search allows for rounding in min_coverage.
    seen_values = {name: getattr(seen_limits, name) for name in parameters}
    assert seen_values == pytest.approx(parameters, rel=1e-11)
    assert seen_limits.cutoff is None
    assert n_jobs == 3


@pytest.mark.parametrize("search", ["optimal", "greedy", "beam", "reference"])
def test_limits_hold_for_every_rule(search):
    X, y = numeric_problem("regressor")
    parameters = STAGEWISE | {"search": search, "max_thresholds": 3, "l2_regularization": 0.01}
    free = RuleBoostingRegressor(6, **parameters).fit(X, y)
    assert max(len(rule.query) for rule in free.ensemble_) > 2
    assert min(rule.query.covered(X).sum() for rule in free.ensemble_) < 15
    parameters |= {"max_conditions": 2, "min_coverage": 15}
    model = RuleBoostingRegressor(6, **parameters).fit(X, y)
    assert len(model.ensemble_) == 6
    assert max(len(rule.query) for rule in model.ensemble_) <= 2
    assert min(rule.query.covered(X).sum() for rule in model.ensemble_) >= 15


def test_min_coverage_is_about_weights_where_there_are_weights():
    X, y = numeric_problem("regressor")
    weights = np.full(80, 0.1)
    options = {"min_coverage": 1.5, "l2_regularization": 0, "slopes": False}
    model = RuleBoostingRegressor(6, **options).fit(X, y, weights)
    assert min(rule.query.covered(X).sum() for rule in model.ensemble_) >= 15


def test_max_thresholds_and_categories_without_negation():
    columns, score = mixed_columns()
    frame = pd.DataFrame(columns)
    model = RuleBoostingRegressor(20, max_thresholds=1, categories="equal", slopes=False)
    model.fit(frame, score)
    conditions = {p for rule in model.ensemble_ for p in rule.query}
    assert len({p.value for p in conditions if p.feature == "age"}) == 1
    assert "!=" not in {p.relation for p in conditions}


@pytest.mark.parametrize("factor", [0.5, 0.9])
def test_approximation_factor_is_a_promise(factor):
    X, y = numeric_problem("classifier", n_rows=200, n_features=6)
    parameters = {"n_terms": 4, "l2_regularization": 0.1}
    model = RuleBoostingClassifier(approximation_factor=factor, **parameters).fit(X, y)
    exact = RuleBoostingClassifier(**parameters).fit(X, y)
    # To within the rounding of a quotient.
    assert all(r.approximation_ratio >= factor * (1 - 1e-15) for r in model.search_results_)
    assert model.search_results_[0].objective_value >= factor * exact.search_results_[0].bound
    nodes = [m.search_results_[0].counters["nodes"] for m in (model, exact)]
    assert nodes[0] <= nodes[1]


def test_automatic_node_limit_depends_on_the_size_alone():
    seen, told = [], []

    def spy(problem, limits, **options):
        seen.append(limits.node_limit)
        return METHODS["greedy"](problem, limits, **options)

    rng = np.random.default_rng(0)
    for n_rows in (20, 5_000):
        X = rng.normal(size=(n_rows, 2))
        for search in (spy, "optimal"):
            # In tables, where queries are short, every node is affordable.
            options = RULES_BY_GAIN | {"search": search, "max_conditions": None}
            model = RuleBoostingRegressor(1, **options).fit(X, np.abs(X[:, 0]))
            told += [result.node_limit for result in model.search_results_]
    # 2 columns with 7 thresholds of 2 conditions each.
    assert seen == told[::2] == told[1::2] == [20_000, 600_000_000 // (5_000 * 28)]


def test_node_limit_over_all_thresholds_follows_chains_and_rows():
    limits = {}

    def searched(problem, search_limits, **_):
        limits[problem.n_rows] = search_limits.node_limit
        return SearchResult((0,), 1.0, 1.0, SearchStatus.OPTIMAL)

    for n_rows in (100, 1000, 4000):
        x = np.arange(float(n_rows))
        model = RuleBoostingRegressor(1, search=searched, max_thresholds=None)
        model.fit(np.column_stack([x, -(x**2)]), x % 7)
    # 10^11 over the chains, two per feature that differ, times the square of the rows.
    assert limits == {100: 20_000, 1000: 20_000, 4000: 10**11 // (2 * 4000**2)}


def test_searches_that_prove_agree():
    X, y = numeric_problem("regressor", n_rows=40, n_features=2)
    models = [
        RuleBoostingRegressor(3, search=search, max_thresholds=3).fit(X, y)
        for search in ("optimal", "reference", search_brute_force)
    ]
    for model in models[1:]:
        assert_allclose(model.predict(X), models[0].predict(X), rtol=1e-9)


@both
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_automatic_penalty_counts_as_so_many_rows(task, fit_intercept, is_weighted):
    X, y = numeric_problem(task)
    y = np.where(X[:, 1] > 1, 1, 0) if task == "classifier" else y
    weights = np.linspace(0.5, 2.0, 80) if is_weighted else None
    shared = {"fit_intercept": fit_intercept, "n_terms": 3}
    model = ESTIMATORS[task](l2_regularization="auto", **shared).fit(X, y, weights)
    if task == "regressor":
        expected = PSEUDO_ROWS * 2.0
    else:
        share = np.average(y, weights=weights) if fit_intercept else 0.5
        expected = PSEUDO_ROWS * share * (1 - share)
    assert model.l2_regularization_ == pytest.approx(expected)
    assert model.l2_regularization == "auto"
    number = ESTIMATORS[task](l2_regularization=model.l2_regularization_, **shared)
    assert number.fit(X, y, weights).ensemble_ == model.ensemble_
    assert number.l2_regularization_ == number.l2_regularization


def test_automatic_penalty_stays_the_same_in_a_warm_start():
    X, y = numeric_problem("classifier")
    options = {"l2_regularization": "auto", "fit_intercept": True, "strategy": "joint"}
    model = RuleBoostingClassifier(2, warm_start=True, max_conditions=2, **options).fit(X, y)
    before = model.l2_regularization_
    model.set_params(n_terms=4).fit(X, y)
    assert model.l2_regularization_ == before
