"""The estimators: targets, predictions and weights, and what optimal rules are for."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_table
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score, r2_score

from estimators import ESTIMATORS, STAGEWISE, both, forms, numeric_problem
from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
)
from laconic.datasets import noisy_parity, tic_tac_toe
from losses import PoissonLoss

# Classes


@pytest.mark.parametrize(
    "estimator",
    [
        RuleBoostingClassifier,
        RuleBoostingClassifierCV,
        RuleBoostingRegressor,
        RuleBoostingRegressorCV,
    ],
)
def test_an_estimator_is_made_of_few_classes(estimator):
    """A fitted model, how sure it is, the base, the task, and how the size is chosen."""
    own = [each for each in estimator.__mro__ if each.__module__.startswith("laconic.")]
    # Where scikit-learn has no callbacks, a class of ours stands in for its own.
    own = [each.__name__ for each in own if each.__name__ != "NoCallbacks"]
    assert own[-3:] == ["RuleBoosting", "TrustMixin", "RuleModel"]
    assert len(own) <= 5


# Targets


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["no", "yes"], ["no", "yes"]),
        (["yes", "no"], ["no", "yes"]),
        ([False, True], [False, True]),
        ([1, 0], [0, 1]),
        ([1, -1], [-1, 1]),
        ([2.0, 1.0], [1.0, 2.0]),
        ([10**12, 5], [5, 10**12]),
    ],
)
def test_labels_of_any_kind(labels, classes):
    X = [[1], [2], [3], [4]]
    y = np.array(labels)[[0, 0, 1, 1]]
    model = RuleBoostingClassifier(2).fit(X, y)
    assert model.classes_.tolist() == classes
    assert model.classes_.dtype == y.dtype
    assert_array_equal(model.predict(X), y)
    assert model.predict(X).dtype == y.dtype
    assert_array_equal(model.decision_function(X) > 0, y == model.classes_[1])


@pytest.mark.parametrize(
    "as_target",
    [
        list,
        pd.Series,
        lambda labels: pd.Series(labels, dtype="category"),
        lambda labels: np.array(labels, dtype=object),
        pl.Series,
        pa.array,
        lambda labels: pa.chunked_array([labels]),
    ],
)
def test_targets_in_any_container(as_target):
    X = [[1], [2], [3], [4]]
    model = RuleBoostingClassifier(2).fit(X, as_target(["no", "no", "yes", "yes"]))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict(X).tolist() == ["no", "no", "yes", "yes"]


def test_column_vector_target_warns():
    X, y = numeric_problem("regressor")
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = RuleBoostingRegressor(2).fit(X, y[:, None])
    assert model.ensemble_ == RuleBoostingRegressor(2).fit(X, y).ensemble_


def test_boolean_target_of_a_regressor():
    model = RuleBoostingRegressor(2, l2_regularization=0).fit([[1], [2]], np.array([True, False]))
    assert_allclose(model.predict([[1], [2]]), [1.0, 0.0], atol=1e-15)


def test_probabilities():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(5).fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (80, 2)
    assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-15)
    assert_array_equal(probabilities[:, 1], expit(model.decision_function(X)))
    assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])


def test_a_row_without_evidence_gets_the_first_class():
    model = RuleBoostingClassifier(1, fit_intercept=False)
    model.fit([[1], [2], [3], [4]], [1, 1, 0, 0])
    assert model.predict([[None]]).tolist() == [0]
    assert model.predict_proba([[None]]).tolist() == [[0.5, 0.5]]


def test_staged_decision_function():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(5).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == len(model.ensemble_) == 5
    assert_array_equal(stages[-1], model.decision_function(X))
    for n_terms, stage in enumerate(stages, start=1):
        shorter = RuleBoostingClassifier(n_terms).fit(X, y)
        assert_array_equal(stage, shorter.decision_function(X))


def test_staged_predict():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(5).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.ensemble_) == 5
    assert_array_equal(stages[-1], model.predict(X))
    assert_array_equal(stages[1], RuleBoostingRegressor(2).fit(X, y).predict(X))


def test_score():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(5).fit(X, y)
    assert model.score(X, y) == accuracy_score(y, model.predict(X)) > 0.7
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(5).fit(X, y)
    assert model.score(X, y) == r2_score(y, model.predict(X)) > 0.5


def test_rare_class():
    x = np.arange(1000.0)
    y = ((x >= 400) & (x < 403)).astype(int)
    X = np.column_stack([x // 100, x % 100])
    model = RuleBoostingClassifier(8, max_thresholds=100)
    model.set_params(l2_regularization=0.01).fit(X, y)
    assert_allclose(model.stages_[0].intercept, np.log(3 / 997), rtol=1e-9)
    assert model.predict_proba(X)[:, 1].sum() == pytest.approx(3)
    assert_array_equal(model.predict(X), y)


def test_custom_loss_predicts_on_the_scale_of_the_target():
    x, y = np.repeat([[0.0], [1.0]], 40, axis=0), np.repeat([1.0, 8.0], 40)
    model = RuleBoostingRegressor(30, loss=PoissonLoss(), l2_regularization=0).fit(x, y)
    assert_allclose(model.predict(x), y, rtol=1e-6)
    assert_array_equal(list(model.staged_predict(x))[-1], model.predict(x))


# Weights


@both
@pytest.mark.parametrize("seed", range(12))
def test_weights_count_rows(task, seed):
    rng = np.random.default_rng(seed)
    X = random_table(rng, 40)
    y = rng.choice([0, 1], 40) if task == "classifier" else rng.normal(size=40)
    counts = rng.integers(0, 4, 40)
    parameters = {"n_terms": 5, "max_thresholds": 3, "min_coverage": 2}
    repeated = ESTIMATORS[task](**parameters).fit(np.repeat(X, counts, axis=0), y.repeat(counts))
    weighted = ESTIMATORS[task](**parameters).fit(X, y, sample_weight=counts)
    assert forms(weighted) == forms(repeated)
    assert_allclose(
        [rule.weight for rule in weighted.ensemble_],
        [rule.weight for rule in repeated.ensemble_],
        rtol=1e-9,
    )


@both
def test_rows_without_weight_are_not_there(task):
    X, y = numeric_problem(task)
    weights = np.ones(80)
    weights[:30] = 0
    weighted = ESTIMATORS[task](5).fit(X, y, weights)
    shorter = ESTIMATORS[task](5).fit(X[30:], y[30:])
    assert weighted.ensemble_ == shorter.ensemble_


def test_class_without_weight_is_not_there():
    y, weights = ["a", "b", "c", "a", "b"], [1, 1, 0, 1, 1]
    model = RuleBoostingClassifier(2).fit([[1], [2], [3], [4], [5]], y, weights)
    assert model.classes_.tolist() == ["a", "b"]


@both
@pytest.mark.parametrize("settings", [STAGEWISE, {"l2_regularization": 1.0}])
def test_equal_weights_that_sum_to_one(task, settings):
    X, y = numeric_problem(task)
    X = X[:, :1].round(1)
    weights = np.full(80, 1 / 80)
    plain = ESTIMATORS[task](4, max_thresholds=None, **settings).fit(X, y)
    weighted = clone(plain).set_params(l2_regularization=1 / 80).fit(X, y, weights)
    if settings is STAGEWISE:  # with an intercept, a rule and its opposite differ in rounding
        queries = [forms(model) for model in (plain, weighted)]
        assert queries[0] == queries[1]
    assert_allclose(weighted.predict(X), plain.predict(X), rtol=1e-9)


def test_scalar_weight():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(X, y, sample_weight=2.0)
    assert model.ensemble_ == RuleBoostingRegressor(3).fit(X, y, np.full(80, 2.0)).ensemble_


# What optimal rules are for


@pytest.mark.parametrize(
    ("n_features", "n_rows", "max_thresholds", "seed"), [(3, 600, 31, 3), (4, 1000, 7, 1)]
)
def test_noisy_parity_is_solved_by_its_orthants(n_features, n_rows, max_thresholds, seed):
    train = noisy_parity(n_rows, n_features, noise=0.2, random_state=seed)
    test = noisy_parity(4000, n_features, noise=0.2, random_state=100 + seed)
    parameters = STAGEWISE | {"n_terms": 2**n_features, "max_thresholds": max_thresholds}
    model = RuleBoostingClassifier(**parameters).fit(train.data, train.target)
    assert all(result.is_optimal for result in model.search_results_)
    orthants = set()
    for rule in model.ensemble_:
        signs = {p.feature: 1 if p.relation == ">" else -1 for p in rule.query}
        assert len(signs) == len(rule.query) == n_features
        assert all(abs(p.value) < 1 for p in rule.query)
        assert np.sign(rule.weight) == np.prod(list(signs.values()))
        orthants.add(tuple(signs[f"x{j}"] for j in range(n_features)))
    assert len(orthants) == 2**n_features
    assert model.score(test.data, test.target) > 0.95
    greedy = RuleBoostingClassifier(search="greedy", **parameters).fit(train.data, train.target)
    assert greedy.score(test.data, test.target) < 0.75


def test_tic_tac_toe_is_won_by_lines():
    dataset = tic_tac_toe(backend="pandas")
    model = RuleBoostingClassifier(8, brevity=0.0).fit(dataset.data, dataset.target)
    assert all(result.is_optimal for result in model.search_results_)
    assert model.score(dataset.data, dataset.target) > 0.9


# Weights of classes


def three_classes(n_rows=150, seed=0):
    X, score = numeric_problem("regressor", n_rows, seed=seed)
    return X, np.array(["low", "mid", "top"])[np.digitize(score, [-0.5, 0.7])]


@pytest.mark.parametrize("labels", [["low", "top"], ["low", "mid", "top"]])
@pytest.mark.parametrize("class_weight", [{"low": 3.0}, {"low": 1e3, "top": 1e-4}, "balanced"])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"strategy": "stagewise"}, {"strategy": "polished", "l2_regularization": 0.5}],
)
def test_weights_of_classes_are_weights_of_rows(labels, class_weight, is_weighted, parameters):
    X, y = three_classes()
    y = y if "mid" in labels else np.where(y == "low", "low", "top")
    weights = np.linspace(0.5, 2.0, len(y)) if is_weighted else np.ones(len(y))
    factors = class_weight
    if class_weight == "balanced":
        factors = {label: len(y) / len(labels) / (y == label).sum() for label in labels}
    of_rows = weights * np.array([factors.get(label, 1.0) for label in y])
    given = weights if is_weighted else None
    model = RuleBoostingClassifier(3, class_weight=class_weight, **parameters).fit(X, y, given)
    other = RuleBoostingClassifier(3, **parameters).fit(X, y, of_rows)
    assert model.l2_regularization_ == pytest.approx(other.l2_regularization_)
    assert forms(model) == forms(other)
    assert_allclose(model.decision_function(X), other.decision_function(X), rtol=1e-7, atol=1e-9)
