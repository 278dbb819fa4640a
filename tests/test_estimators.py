import _thread
import inspect
import pickle
import re
import signal
import threading
import time
import warnings
from dataclasses import asdict

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import AdaBoostRegressor
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from laconic import FitProgress, Proposition, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.datasets import noisy_parity, tic_tac_toe
from laconic.losses import LogisticLoss, SquaredLoss, optimal_constant
from laconic.propositions import candidate_propositions
from laconic.search import METHODS, SearchLimits, SearchResult, SearchStatus
from problems import PoissonLoss, random_table

ESTIMATORS = {"classifier": RuleBoostingClassifier, "regressor": RuleBoostingRegressor}

both = pytest.mark.parametrize("task", ESTIMATORS)


def numeric_problem(task, n_rows=80, n_features=3, seed=0):
    """Numbers whose first column tells most of the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    signal_and_noise = X[:, 0] + 0.5 * rng.normal(size=n_rows)
    return X, np.where(signal_and_noise > 0, 1, 0) if task == "classifier" else signal_and_noise


def mixed_columns(n_rows=120, seed=0):
    """Columns of all kinds, with and without missing values, and a score that depends on them."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n_rows)
    income = rng.normal(50, 10, n_rows).round(1)
    city = rng.choice(["Bonn", "Köln", "São Paulo"], n_rows)
    member = rng.random(n_rows) < 0.4
    score = (age > 40) + 2.0 * (city == "Bonn") - member + 0.3 * rng.normal(size=n_rows)
    columns = {
        "age": age.tolist(),
        "income": [None if rng.random() < 0.2 else value for value in income.tolist()],
        "city": [None if rng.random() < 0.1 else value for value in city.tolist()],
        "member": member.tolist(),
    }
    return columns, score


def object_array(columns):
    return np.array(list(zip(*columns.values(), strict=True)), dtype=object)


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas category": lambda columns: pd.DataFrame(columns).astype({"city": "category"}),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


def hard_problem(signal=100.0):
    """Noise, which takes far more than any test's time to prove anything about.

    With a signal the first rule is easy: it is about the first column only.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))
    X[:, 0] = rng.choice([0, 1], 400)
    return X, signal * X[:, 0] + rng.choice([-1.0, 1.0], 400)


# Were interrupts ignored, the time limit would end the search, far later than the tests allow.
HARD = {
    "l2_regularization": 0.0,
    "max_conditions": None,
    "node_limit": None,
    "time_limit": 120.0,
}
PATIENCE = 60.0


def rules_and_scores(model, X):
    scores = model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)
    return model.ensemble_, scores


# Tables


@both
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_give_the_same_model_as_arrays(task, kind):
    columns, score = mixed_columns()
    y = score > 1 if task == "classifier" else score
    from_array = ESTIMATORS[task](5).fit(object_array(columns), y)
    frame = FRAMES[kind](columns)
    model = ESTIMATORS[task](5).fit(frame, y)
    names = {f"x{position}": name for position, name in enumerate(columns)}
    renamed = [
        (rule.weight, [(names[p.feature], p.relation, p.value) for p in rule.query])
        for rule in from_array.ensemble_
    ]
    rules = [
        (rule.weight, [(p.feature, p.relation, p.value) for p in rule.query])
        for rule in model.ensemble_
    ]
    assert rules == renamed
    assert len(rules) == 5
    assert_array_equal(model.predict(frame), from_array.predict(object_array(columns)))


@both
@pytest.mark.parametrize("trained_on", FRAMES)
@pytest.mark.parametrize("predicted_on", ["pandas", "polars", "pyarrow"])
def test_predicts_for_other_frames_than_it_was_trained_on(task, trained_on, predicted_on):
    columns, score = mixed_columns()
    y = score > 1 if task == "classifier" else score
    frame = FRAMES[trained_on](columns)
    model = ESTIMATORS[task](5).fit(frame, y)
    assert_array_equal(model.predict(FRAMES[predicted_on](columns)), model.predict(frame))


@pytest.mark.parametrize("kind", FRAMES)
def test_feature_names_are_kept(kind):
    columns, score = mixed_columns()
    model = RuleBoostingRegressor(3).fit(FRAMES[kind](columns), score)
    assert model.feature_names_in_.tolist() == list(columns)
    assert model.ensemble_.feature_names == tuple(columns)
    assert model.n_features_in_ == 4


def test_arrays_have_numbered_features():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.ensemble_.feature_names == ("x0", "x1", "x2")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("select", "match"),
    [
        (["income", "age", "city", "member"], "must be in the same order as they were in fit"),
        (["age", "income", "city"], "Feature names seen at fit time, yet now missing:\n- member"),
    ],
)
def test_other_columns_at_predict(kind, select, match):
    columns, score = mixed_columns()
    model = RuleBoostingRegressor(2).fit(FRAMES[kind](columns), score)
    with pytest.raises(ValueError, match=match):
        model.predict(FRAMES[kind]({name: columns[name] for name in select}))


def test_one_column_too_many_at_predict():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(2).fit(X, y)
    with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 3 features"):
        model.predict(np.zeros((2, 4)))


def test_array_for_a_model_with_names_goes_by_position():
    X, y = numeric_problem("regressor")
    frame = pd.DataFrame(X, columns=["x2", "x1", "x0"])
    model = RuleBoostingRegressor(3).fit(frame, y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        predictions = model.predict(X)
    assert_array_equal(predictions, model.predict(frame))


def test_frame_for_a_model_without_names_goes_by_position():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(X, y)
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        predictions = model.predict(pd.DataFrame(X, columns=list("abc")))
    assert_array_equal(predictions, model.predict(X))


def test_frame_with_numbers_for_names():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(pd.DataFrame(X, columns=[10, 11, 12]), y)
    assert_array_equal(model.predict(pd.DataFrame(X, columns=[10, 11, 12])), model.predict(X))


def test_boolean_column_saved_as_numbers_between_fit_and_predict():
    flag = np.array([True, False] * 10)
    frame = pd.DataFrame({"flag": flag})
    model = RuleBoostingRegressor(2, l2_regularization=0).fit(frame, np.where(flag, 3.0, 1.0))
    assert_array_equal(model.predict(frame.astype(int)), model.predict(frame))
    assert_allclose(model.predict(pd.DataFrame({"flag": [1, 0]})), [3.0, 1.0])


def test_missing_at_predict_where_none_was_in_training():
    model = RuleBoostingRegressor(2, l2_regularization=0).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    assert_array_equal(model.predict([[None], [np.nan], [1]]), [0.0, 0.0, 5.0])


def test_unseen_category_at_predict():
    X = [["a"], ["a"], ["b"], ["b"], ["c"], ["c"]]
    model = RuleBoostingRegressor(1, l2_regularization=0).fit(X, [0, 0, 3, 3, 3, 3])
    assert str(model.ensemble_) == "+3.000 if x0 != a"
    assert_array_equal(model.predict([["d"], ["a"], [None]]), [3.0, 0.0, 0.0])


def test_unused_categories_have_no_effect():
    values = ["a", "b", "a", "c", "b", "c"]
    y = [1.0, 2.0, 1.0, 5.0, 2.0, 5.0]
    few = pd.DataFrame({"x": pd.Categorical(values)})
    many = pd.DataFrame({"x": pd.Categorical(values, categories=["z", "c", "b", "a", "q"])})
    models = [RuleBoostingRegressor(4).fit(frame, y) for frame in (few, many)]
    assert models[0].ensemble_ == models[1].ensemble_
    assert_array_equal(models[0].predict(many), models[1].predict(few))


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
    assert_array_equal(model.predict([[1], [2]]), [1.0, 0.0])


def test_probabilities():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(5).fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (80, 2)
    assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-15)
    assert_array_equal(probabilities[:, 1], expit(model.decision_function(X)))
    assert_array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])


def test_a_row_without_evidence_gets_the_first_class():
    model = RuleBoostingClassifier(1).fit([[1], [2], [3], [4]], [1, 1, 0, 0])
    assert model.predict([[None]]).tolist() == [0]
    assert model.predict_proba([[None]]).tolist() == [[0.5, 0.5]]


def test_staged_decision_function():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(5).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == len(model.ensemble_) == 5
    assert_array_equal(stages[-1], model.decision_function(X))
    for n_rules, stage in enumerate(stages, start=1):
        shorter = RuleBoostingClassifier(n_rules).fit(X, y)
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
    model = RuleBoostingClassifier(8, max_thresholds=100, fit_intercept=True)
    model.set_params(l2_regularization=0.01).fit(X, y)
    assert_allclose(model.ensemble_.intercept, np.log(3 / 997), rtol=1e-9)
    assert_array_equal(model.predict(X), y)


def test_custom_loss_predicts_on_the_scale_of_the_target():
    x, y = np.repeat([[0.0], [1.0]], 50, axis=0), np.repeat([1.0, 8.0], 50)
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
    parameters = {"n_rules": 5, "max_thresholds": 3, "min_coverage": 2}
    repeated = ESTIMATORS[task](**parameters).fit(np.repeat(X, counts, axis=0), y.repeat(counts))
    weighted = ESTIMATORS[task](**parameters).fit(X, y, sample_weight=counts)
    assert [rule.query for rule in weighted.ensemble_] == [r.query for r in repeated.ensemble_]
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
def test_equal_weights_that_sum_to_one(task):
    X, y = numeric_problem(task)
    X = X[:, :1].round(1)
    weights = np.full(80, 1 / 80)
    weighted = ESTIMATORS[task](4, l2_regularization=1 / 80, max_thresholds=None).fit(X, y, weights)
    plain = ESTIMATORS[task](4, max_thresholds=None).fit(X, y)
    assert [rule.query for rule in weighted.ensemble_] == [rule.query for rule in plain.ensemble_]
    assert_allclose(weighted.predict(X), plain.predict(X), rtol=1e-9)


def test_scalar_weight():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(X, y, sample_weight=2.0)
    assert model.ensemble_ == RuleBoostingRegressor(3).fit(X, y, np.full(80, 2.0)).ensemble_


# Parameters


@both
def test_fit_intercept_starts_from_the_best_constant(task):
    X, y = numeric_problem(task)
    weights = np.linspace(0.5, 2.0, 80)
    model = ESTIMATORS[task](3, fit_intercept=True).fit(X, y, weights)
    loss = LogisticLoss() if task == "classifier" else SquaredLoss()
    target = np.where(y == 1, 1.0, -1.0) if task == "classifier" else y
    assert model.ensemble_.intercept == optimal_constant(loss, target, weights) != 0.0
    assert ESTIMATORS[task](3).fit(X, y, weights).ensemble_.intercept == 0.0


def test_constant_target_needs_no_rule_besides_the_intercept():
    X, _ = numeric_problem("regressor")
    model = RuleBoostingRegressor(fit_intercept=True, l2_regularization=0).fit(X, np.full(80, 0.1))
    assert len(model.ensemble_) == 0
    assert_allclose(model.predict(X), 0.1, rtol=1e-15)
    assert list(model.staged_predict(X)) == []


@both
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_warm_start_goes_on_where_it_stopped(task, fit_intercept):
    columns, score = mixed_columns()
    frame = pd.DataFrame(columns)
    y = score > 1 if task == "classifier" else score
    at_once = ESTIMATORS[task](10, fit_intercept=fit_intercept).fit(frame, y)
    model = ESTIMATORS[task](5, fit_intercept=fit_intercept, warm_start=True).fit(frame, y)
    model.set_params(n_rules=10).fit(frame, y)
    assert len(model.ensemble_) == 10
    assert model.ensemble_ == at_once.ensemble_
    assert len(model.search_results_) == 10
    assert_array_equal(model.predict(frame), at_once.predict(frame))


def test_warm_start_after_an_exact_fit_adds_nothing():
    X, y = [[1], [2], [3]], [0.1, 0.7, -0.3]
    model = RuleBoostingRegressor(50, l2_regularization=0, warm_start=True).fit(X, y)
    n_rules = len(model.ensemble_)
    assert n_rules < 50
    assert len(model.set_params(n_rules=100).fit(X, y).ensemble_) == n_rules


def test_warm_start_with_fewer_rules():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="n_rules=2 must not be smaller than the 3 rules"):
        model.set_params(n_rules=2).fit(X, y)
    assert len(model.ensemble_) == 3


@pytest.mark.parametrize("labels", [["no", "yes"], [1, 2], [False, True]])
def test_warm_start_with_other_classes(labels):
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(3, warm_start=True).fit(X, np.array(["a", "b"])[y])
    with pytest.raises(ValueError, match=r"classes must stay the same, \['a', 'b'\]. Got"):
        model.set_params(n_rules=5).fit(X, np.array(labels)[y])


def test_warm_start_with_other_columns():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3, warm_start=True).fit(pd.DataFrame(X, columns=list("abc")), y)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- z"):
        model.fit(pd.DataFrame(X, columns=list("abz")), y)
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="X has 2 features"),
    ):
        model.fit(X[:, :2], y)
    assert model.feature_names_in_.tolist() == list("abc")


def test_warm_start_without_the_names():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(2, warm_start=True).fit(pd.DataFrame(X, columns=list("abc")), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.set_params(n_rules=4).fit(X, y)
    at_once = RuleBoostingRegressor(4).fit(pd.DataFrame(X, columns=list("abc")), y)
    assert model.ensemble_ == at_once.ensemble_


def test_without_warm_start_fit_starts_over():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(X, y)
    model.set_params(n_rules=2).fit(X[:, :1], -y)
    assert model.ensemble_ == RuleBoostingRegressor(2).fit(X[:, :1], -y).ensemble_
    assert model.n_features_in_ == 1


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
    model = RuleBoostingRegressor(1, search=record, n_jobs=3, **asdict(limits))
    model.fit([[1], [2], [3]], [0.0, 1.0, 2.0])
    [(seen_limits, n_jobs)] = seen
    # The search allows for rounding in min_coverage.
    assert asdict(seen_limits) == pytest.approx(asdict(limits), rel=1e-11)
    assert n_jobs == 3


@pytest.mark.parametrize("search", ["optimal", "greedy", "beam", "reference"])
def test_limits_hold_for_every_rule(search):
    X, y = numeric_problem("regressor")
    parameters = {"search": search, "max_thresholds": 3, "l2_regularization": 0.01}
    free = RuleBoostingRegressor(6, **parameters).fit(X, y)
    assert max(len(rule.query) for rule in free.ensemble_) > 2
    assert min(rule.query.covered(X).sum() for rule in free.ensemble_) < 15
    model = RuleBoostingRegressor(6, max_conditions=2, min_coverage=15, **parameters).fit(X, y)
    assert len(model.ensemble_) == 6
    assert max(len(rule.query) for rule in model.ensemble_) <= 2
    assert min(rule.query.covered(X).sum() for rule in model.ensemble_) >= 15


def test_min_coverage_is_about_weights_where_there_are_weights():
    X, y = numeric_problem("regressor")
    weights = np.full(80, 0.1)
    model = RuleBoostingRegressor(6, min_coverage=1.5, l2_regularization=0).fit(X, y, weights)
    assert min(rule.query.covered(X).sum() for rule in model.ensemble_) >= 15


def test_max_thresholds_and_negated_categories():
    columns, score = mixed_columns()
    frame = pd.DataFrame(columns)
    model = RuleBoostingRegressor(20, max_thresholds=1, negated_categories=False)
    model.fit(frame, score)
    propositions = {p for rule in model.ensemble_ for p in rule.query}
    assert len({p.value for p in propositions if p.feature == "age"}) == 1
    assert "!=" not in {p.relation for p in propositions}


@pytest.mark.parametrize("factor", [0.5, 0.9])
def test_approximation_factor_is_a_promise(factor):
    X, y = numeric_problem("classifier", n_rows=200, n_features=6)
    parameters = {"n_rules": 4, "l2_regularization": 0.1}
    model = RuleBoostingClassifier(approximation_factor=factor, **parameters).fit(X, y)
    exact = RuleBoostingClassifier(**parameters).fit(X, y)
    assert all(r.approximation_ratio >= factor for r in model.search_results_)
    assert model.search_results_[0].objective_value >= factor * exact.search_results_[0].bound
    nodes = [m.search_results_[0].counters["nodes"] for m in (model, exact)]
    assert nodes[0] <= nodes[1]


def test_automatic_node_limit_depends_on_the_size_alone():
    seen = []

    def spy(problem, limits, **options):
        seen.append(limits.node_limit)
        return METHODS["greedy"](problem, limits, **options)

    rng = np.random.default_rng(0)
    for n_rows in (20, 20_000):
        X = rng.normal(size=(n_rows, 2))
        RuleBoostingRegressor(1, search=spy).fit(X, X[:, 0])
    # 2 columns with 7 thresholds of 2 conditions each.
    assert seen == [20_000, 600_000_000 // (20_000 * 28)]


def test_node_limit_warns_with_a_true_ratio():
    X, y = numeric_problem("classifier", n_rows=200, n_features=6)
    proven = RuleBoostingClassifier(1, l2_regularization=0.1).fit(X, y).search_results_[0]
    model = RuleBoostingClassifier(1, l2_regularization=0.1, node_limit=1)
    message = (
        r"Search for rule 1 stopped at node_limit=1 with objective ([\d.]+) and bound ([\d.]+) "
        r"\(ratio (0\.\d+)\): best found, not proven optimal\. Raise node_limit, or ease the "
        r"proof with max_conditions or more l2_regularization, or accept this with "
        r"approximation_factor=(0\.\d+)\. search_results_ has the details\."
    )
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    result = model.search_results_[0]
    assert result.status is SearchStatus.NODE_LIMIT
    assert result.counters["nodes"] == 1
    assert not result.is_optimal
    assert result.objective_value <= proven.objective_value <= result.bound
    objective, bound, ratio, factor = map(float, re.match(message, str(caught[0].message)).groups())
    assert_allclose([objective, bound], [result.objective_value, result.bound], rtol=1e-3)
    assert ratio == factor <= result.approximation_ratio <= ratio + 0.01
    assert result.approximation_ratio == result.objective_value / result.bound


def test_advice_of_the_warning_is_good():
    X, y = numeric_problem("classifier", n_rows=200, n_features=6)
    model = RuleBoostingClassifier(1, l2_regularization=0.1, node_limit=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    factor = float(re.search(r"approximation_factor=(\d\.\d+)", str(caught[0].message))[1])
    model.set_params(approximation_factor=factor).fit(X, y)
    assert model.search_results_[0].approximation_ratio >= factor


def test_warning_does_not_advise_a_factor_of_zero():
    def hopeless(problem, limits, **options):
        return SearchResult((), 1e-9, 1.0, SearchStatus.TIME_LIMIT)

    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(1, search=hopeless, time_limit=0.5)
    with pytest.warns(ConvergenceWarning, match=r"stopped at time_limit=0\.5 .*ratio 0\.0") as got:
        model.fit(X, y)
    assert "approximation_factor" not in str(got[0].message)


def scripted_search(*endings):
    """Search whose results end as told, one (status, approximation ratio) after the other."""
    rest = iter(endings)

    def search(problem, limits, **options):
        status, ratio = next(rest)
        return SearchResult((0,), ratio, 1.0, status)

    return search


OPTIMAL = (SearchStatus.OPTIMAL, 1.0)


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
    model = RuleBoostingRegressor(10, search=scripted_search(*endings), node_limit=20000)
    assert fit_warnings(model) == [
        "3 of 10 rules are not proven optimal: their searches stopped at node_limit=20000 (rules "
        "4, 5 and 9; the least certain reaches at least 46 % of the best possible). Raise "
        "node_limit, or ease the proof with max_conditions or more l2_regularization, or accept "
        "this with approximation_factor=0.46. search_results_ has the details."
    ]


def test_warning_about_one_rule_names_its_objective():
    endings = [OPTIMAL, OPTIMAL, (SearchStatus.TIME_LIMIT, 0.915), OPTIMAL]
    model = RuleBoostingRegressor(4, search=scripted_search(*endings), time_limit=60)
    assert fit_warnings(model) == [
        "Search for rule 3 stopped at time_limit=60 with objective 0.915 and bound 1 (ratio 0.91): "
        "best found, not proven optimal. Raise time_limit, or ease the proof with max_conditions "
        "or more l2_regularization, or accept this with approximation_factor=0.91. "
        "search_results_ has the details."
    ]


def test_warning_over_all_thresholds_advises_fewer():
    ending = (SearchStatus.NODE_LIMIT, 0.9)
    model = RuleBoostingRegressor(1, search=scripted_search(ending), max_thresholds=None)
    [warning] = fit_warnings(model)
    assert "ease the proof with fewer thresholds (max_thresholds), max_conditions or" in warning


def test_node_limit_over_all_thresholds_follows_chains_and_rows():
    limits = {}

    def searched(problem, search_limits, **_):
        limits[problem.propositions.n_rows] = search_limits.node_limit
        return SearchResult((0,), 1.0, 1.0, SearchStatus.OPTIMAL)

    for n_rows in (100, 1000, 4000):
        x = np.arange(float(n_rows))
        model = RuleBoostingRegressor(1, search=searched, max_thresholds=None)
        model.fit(np.column_stack([x, -(x**2)]), x)
    # 10^11 over the chains, two per feature that differ, times the square of the rows.
    assert limits == {100: 20_000, 1000: 20_000, 4000: 10**11 // (2 * 4000**2)}


def test_warning_about_both_limits():
    endings = [(SearchStatus.TIME_LIMIT, 0.5), (SearchStatus.NODE_LIMIT, 0.001)]
    search = scripted_search(*endings)
    model = RuleBoostingRegressor(2, search=search, node_limit=7, time_limit=0.5)
    [message] = fit_warnings(model)
    assert "stopped at node_limit=7 or time_limit=0.5 (rules 1 and 2; " in message
    assert "at least 0 % of the best possible). Raise node_limit or time_limit, or" in message
    assert "approximation_factor" not in message


def test_warning_about_many_rules_stays_short():
    search = scripted_search(*[(SearchStatus.NODE_LIMIT, 0.5)] * 30)
    [message] = fit_warnings(RuleBoostingRegressor(30, search=search))
    assert "(rules 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 20 more; " in message


def test_warm_start_warns_about_new_rules_only():
    search = scripted_search(*[(SearchStatus.NODE_LIMIT, 0.5)] * 4, OPTIMAL, OPTIMAL)
    model = RuleBoostingRegressor(2, search=search, warm_start=True)
    assert fit_warnings(model)[0].startswith("2 of 2 rules are")
    [message] = fit_warnings(model.set_params(n_rules=5))
    assert message.startswith("2 of 3 new rules are")
    assert "(rules 3 and 4; " in message
    model.set_params(n_rules=6).fit(*numeric_problem("regressor"))


def test_interrupted_fit_warns_about_unproven_rules_too():
    def interrupt(progress):
        if len(progress.rules) == 2:
            raise KeyboardInterrupt

    search = scripted_search(*[(SearchStatus.NODE_LIMIT, 0.5)] * 2)
    model = RuleBoostingRegressor(5, search=search, callback=interrupt, on_interrupt="keep")
    messages = fit_warnings(model)
    assert [message[:19] for message in messages] == ["Interrupted: the mo", "2 of 2 rules are no"]


def test_warnings_as_errors_leave_the_model():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(
        2, search=scripted_search(OPTIMAL, (SearchStatus.NODE_LIMIT, 0.5))
    )
    with warnings.catch_warnings(action="error"), pytest.raises(ConvergenceWarning):
        model.fit(X, y)
    assert len(model.ensemble_) == len(model.search_results_) == 2


@pytest.mark.parametrize("search", ["greedy", "beam"])
def test_heuristics_do_not_warn(search):
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(3, search=search, node_limit=1).fit(X, y)
    assert {r.status for r in model.search_results_} == {SearchStatus.HEURISTIC}


def test_searches_that_prove_agree():
    X, y = numeric_problem("regressor", n_rows=40, n_features=2)
    models = [
        RuleBoostingRegressor(3, search=search, max_thresholds=3).fit(X, y)
        for search in ("optimal", "reference", "brute_force")
    ]
    for model in models[1:]:
        assert_allclose(model.predict(X), models[0].predict(X), rtol=1e-9)


# Around a running fit


def test_verbose_prints_rules(capsys):
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    found = [line for line in lines if "proven optimal" in line]
    assert len(found) == 3
    for number, (line, rule) in enumerate(zip(found, model.ensemble_, strict=True), start=1):
        assert line.startswith(f"rule {number}/3: {rule} [objective ")


def test_silent_by_default(capsys):
    X, y = numeric_problem("regressor")
    RuleBoostingRegressor(3).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_callback_sees_every_rule():
    def remember(progress):
        if progress.search is None:
            seen.append(progress)

    seen = []
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3, callback=remember).fit(X, y)
    assert all(isinstance(progress, FitProgress) for progress in seen)
    assert [len(progress.rules) for progress in seen] == [1, 2, 3]
    assert seen[-1].rules == model.ensemble_.rules
    assert list(seen[-1].search_results) == model.search_results_
    assert {progress.n_rules for progress in seen} == {3}


def test_callback_ends_the_fit_after_a_rule():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(callback=lambda progress: len(progress.rules) == 2).fit(X, y)
    assert model.ensemble_ == RuleBoostingRegressor(2).fit(X, y).ensemble_
    assert len(model.search_results_) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callback_ends_the_fit_during_a_search(n_jobs):
    def stop(progress):
        if progress.search is None:
            return False
        seen.append(progress.search)
        return len(progress.rules) == 1 and progress.search.n_nodes > 0

    seen = []
    X, y = hard_problem()
    model = RuleBoostingRegressor(5, callback=stop, n_jobs=n_jobs, **HARD).fit(X, y)
    assert len(model.ensemble_) == len(model.search_results_) == 1
    assert seen[-1].objective_value < seen[-1].bound
    assert 0 < seen[-1].approximation_ratio < 1


def test_callback_may_stop_before_the_first_rule():
    X, y = hard_problem(signal=0.0)
    model = RuleBoostingRegressor(5, callback=lambda progress: True, **HARD).fit(X, y)
    assert len(model.ensemble_) == 0
    assert_array_equal(model.predict(X), 0.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("during_search", [False, True])
def test_error_in_callback_reaches_the_caller(n_jobs, during_search):
    def fail(progress):
        if (progress.search is not None) == during_search:
            raise RuntimeError("the dashboard is gone")

    X, y = hard_problem()
    model = RuleBoostingRegressor(5, callback=fail, n_jobs=n_jobs, **HARD)
    with pytest.raises(RuntimeError, match="the dashboard is gone"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


class PressCtrlC:
    """Callback that has Ctrl-C arrive a moment after the first rule, from another thread."""

    def __init__(self):
        self.timer = threading.Timer(0.3, _thread.interrupt_main)

    def __call__(self, progress):
        if progress.search is None and len(progress.rules) == 1:
            self.timer.start()


@pytest.fixture
def press_ctrl_c():
    callback = PressCtrlC()
    yield callback
    callback.timer.cancel()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_raises_by_default(press_ctrl_c, n_jobs):
    X, y = hard_problem()
    model = RuleBoostingRegressor(5, callback=press_ctrl_c, n_jobs=n_jobs, **HARD)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - started < PATIENCE
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_can_keep_rules(press_ctrl_c, n_jobs):
    X, y = hard_problem()
    model = RuleBoostingRegressor(
        5, callback=press_ctrl_c, n_jobs=n_jobs, on_interrupt="keep", **HARD
    )
    started = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="Interrupted: the model has 1 of 5 rules"):
        model.fit(X, y)
    assert time.monotonic() - started < PATIENCE
    assert model.ensemble_ == RuleBoostingRegressor(1, **HARD).fit(X, y).ensemble_
    assert len(model.search_results_) == 1


def test_ctrl_c_without_callback():
    X, y = hard_problem()
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            RuleBoostingRegressor(5, on_interrupt="raise", **HARD).fit(X, y)
    finally:
        timer.cancel()
    assert time.monotonic() - started < PATIENCE


def test_ctrl_c_before_the_first_rule_always_raises():
    def interrupt(progress):
        signal.raise_signal(signal.SIGINT)

    X, y = hard_problem(signal=0.0)
    model = RuleBoostingRegressor(5, callback=interrupt, on_interrupt="keep", **HARD)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)


def test_interrupted_fit_can_go_on(press_ctrl_c):
    X, y = hard_problem()
    model = RuleBoostingRegressor(
        3, callback=press_ctrl_c, on_interrupt="keep", warm_start=True, **HARD
    )
    with pytest.warns(ConvergenceWarning, match="Fit again with warm_start=True"):
        model.fit(X, y)
    model.set_params(callback=None, max_conditions=1).fit(X, y)
    assert len(model.ensemble_) == 3


def test_failed_fit_forgets_the_model_before():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(2).fit(X, y)
    with pytest.raises(ValueError, match="min_coverage"):
        model.set_params(min_coverage=81).fit(X[:, :2], np.array(["a", "b"])[y])
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


# With scikit-learn


@both
def test_pickle_and_clone(task):
    X, y = numeric_problem(task)
    model = ESTIMATORS[task](3, l2_regularization=0.5).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.ensemble_ == model.ensemble_
    assert loaded.search_results_ == model.search_results_
    assert_array_equal(loaded.predict(X), model.predict(X))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "ensemble_")


@both
def test_grid_search_in_a_pipeline(task):
    X, y = numeric_problem(task)
    pipeline = Pipeline([("scale", StandardScaler()), ("rules", ESTIMATORS[task]())])
    grid = {"rules__l2_regularization": [0.1, 10.0], "rules__n_rules": [1, 3]}
    found = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(found.cv_results_["mean_test_score"]) == 4
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    rules = found.best_estimator_.named_steps["rules"]
    assert rules.n_rules == found.best_params_["rules__n_rules"] == len(rules.ensemble_)


def test_cross_validation_in_processes():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(3)
    scores = [cross_val_score(model, X, y, cv=4, n_jobs=n_jobs) for n_jobs in (None, 2)]
    assert_array_equal(*scores)
    assert scores[0].mean() > 0.6


def test_three_classes_by_one_vs_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = OneVsRestClassifier(RuleBoostingClassifier(4)).fit(X, y)
    assert model.score(X, y) > 0.9


def test_ensembles_that_normalize_weights():
    X, y = numeric_problem("regressor")
    model = AdaBoostRegressor(RuleBoostingRegressor(3), n_estimators=3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.5


@both
def test_weights_are_routed(task):
    X, y = numeric_problem(task)
    weights = np.linspace(0.1, 3.0, 80)
    direct = ESTIMATORS[task](3).fit(X, y, weights)
    with config_context(enable_metadata_routing=True):
        rules = ESTIMATORS[task](3).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(rules).fit(X, y, sample_weight=weights)
    assert pipeline[-1].ensemble_ == direct.ensemble_
    assert direct.ensemble_ != ESTIMATORS[task](3).fit(X, y).ensemble_


@both
def test_fit_leaves_parameters_and_data_alone(task):
    X, y = numeric_problem(task)
    weights = np.linspace(0.0, 1.0, 80)
    copies = X.copy(), y.copy(), weights.copy()
    model = ESTIMATORS[task](3)
    parameters = model.get_params()
    model.fit(X, y, weights)
    assert model.get_params() == parameters
    for array, copy in zip((X, y, weights), copies, strict=True):
        assert_array_equal(array, copy)


@both
def test_help_is_aligned(task):
    doc = inspect.getdoc(ESTIMATORS[task])
    headings = ["Parameters", "Attributes", "See Also", "Examples"]
    assert all(f"\n\n{heading}\n{'-' * len(heading)}\n" in doc for heading in headings)
    names = [*inspect.signature(ESTIMATORS[task]).parameters, "ensemble_", "feature_names_in_"]
    assert all(re.search(rf"\n{name} : .*\n    \S", doc) for name in names)
    assert "{" not in doc.replace('{"', "")


# Bad input


@both
@pytest.mark.parametrize(
    ("X", "y", "error", "match"),
    [
        (np.empty((0, 2)), [], ValueError, r"0 sample\(s\) \(shape=\(0, 2\)\) while a minimum of"),
        (np.empty((4, 0)), [0, 1, 0, 1], ValueError, r"0 feature\(s\) \(shape=\(4, 0\)\)"),
        (pd.DataFrame(index=range(2)), [0, 1], ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        ([], [], ValueError, "Expected 2D array, got 1D array"),
        ([1, 2], [0, 1], ValueError, "Expected 2D array, got 1D array"),
        ([[1], [2, 3]], [0, 1], ValueError, "rows of X must have the same length"),
        (csr_array(np.eye(2)), [0, 1], TypeError, r"Sparse data was passed.*\.toarray\(\)"),
        ([[np.inf], [1]], [0, 1], ValueError, "'x0' contains infinity"),
        ([[1], ["a"]], [0, 1], TypeError, "'x0' must hold either strings or numbers"),
        (np.array([[1j], [2]]), [0, 1], ValueError, "Complex data not supported"),
        (
            pd.DataFrame({"day": pd.date_range("2024", periods=2)}),
            [0, 1],
            TypeError,
            "'day' must hold numbers, booleans or strings. Got dtype Datetime",
        ),
        (
            pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
            [0, 1],
            ValueError,
            "names must be unique. Got 'a' more than once",
        ),
        (pl.LazyFrame({"a": [1, 2]}), [0, 1], TypeError, r"Call '\.collect\(\)'"),
        ([[1], [2]], [0, 1, 1], ValueError, r"inconsistent numbers of samples: \[3, 2\]"),
        ([[1], [2]], [0], ValueError, r"inconsistent numbers of samples: \[1, 2\]"),
        ([[1], [2]], None, ValueError, "requires y to be passed"),
        ([[1], [2]], [np.nan, 1.0], ValueError, "Input y contains NaN"),
        ([[1], [2]], [np.inf, 1.0], ValueError, "Input y contains infinity"),
        ([[1], [2]], [[0, 1], [1, 0]], ValueError, "y should be a 1d array"),
    ],
)
def test_bad_tables_and_targets(task, X, y, error, match):
    with pytest.raises(error, match=match):
        ESTIMATORS[task]().fit(X, y)


@pytest.mark.parametrize(
    ("y", "match"),
    [
        ([1, 1, 1], r"needs rows of two classes. Got 1 class: \[1\]"),
        ([0, 1, 2], "Only binary classification .* with 3 classes. Use .*OneVsRestClassifier"),
        ([0.5, 1.5, 2.5], "Unknown label type: continuous.* Use RuleBoostingRegressor"),
        (["a", "b", None], "Input y contains None at row 2, but every row needs a class"),
        ([None, "b", "a"], "Input y contains None at row 0"),
        (pl.Series(["a", None, "b"]), "Input y contains None at row 1"),
        (pd.Series(["a", None, "b"]), "Input y contains NaN at row 1, but every row needs"),
        (pd.Series(["a", None, "b"], dtype="category"), "Input y contains NaN at row 1"),
        (pd.Series(["a", "b", None], dtype="string"), "Input y contains NaN at row 2"),
        (np.array(["a", np.nan, "b"], dtype=object), "Input y contains NaN at row 1"),
        (["a", "a", np.nan], "Input y contains NaN at row 2"),
        (("a", np.nan, "a"), "Input y contains NaN at row 1"),
        (pd.Series([1, None, 0], dtype="Int64"), "Input y contains NaN"),
    ],
)
def test_bad_classes(y, match):
    with pytest.raises(ValueError, match=match):
        RuleBoostingClassifier().fit([[1], [2], [3]], y)


@pytest.mark.parametrize(
    "as_target",
    [list, np.array, pd.Series, lambda y: pd.Series(y, dtype="category"), pl.Series, pa.array],
)
def test_text_target_of_a_regressor(as_target):
    match = (
        "The target y of RuleBoostingRegressor must hold numbers. Got text, such as 'sick'. "
        "Use RuleBoostingClassifier for two classes"
    )
    with pytest.raises(ValueError, match=match):
        RuleBoostingRegressor().fit([[1], [2]], as_target(["sick", "well"]))


def test_target_of_a_regressor_in_digits():
    model = RuleBoostingRegressor(1, l2_regularization=0).fit([[1], [2]], ["2.5", "2.5"])
    assert_array_equal(model.predict([[1]]), [2.5])


@both
@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1.0, -1.0, 1.0], "Negative values in data passed to `sample_weight`"),
        ([1.0, np.nan, 1.0], "Input sample_weight contains NaN"),
        ([1.0, np.inf, 1.0], "Input sample_weight contains infinity"),
        ([1.0, 1.0], r"sample_weight.shape == \(2,\), expected \(3,\)"),
        (np.ones((3, 1)), "Sample weights must be 1D"),
        ([0.0, 0.0, 0.0], "Sample weights must contain at least one non-zero number"),
    ],
)
def test_bad_weights(task, weights, match):
    with pytest.raises(ValueError, match=match):
        ESTIMATORS[task]().fit([[1], [2], [3]], [0, 1, 1], weights)


def test_weights_that_leave_one_class():
    with pytest.raises(ValueError, match=r"Got 1 class: \[1\]. Check the target and the sample"):
        RuleBoostingClassifier().fit([[1], [2], [3]], [0, 1, 1], [0, 1, 1])


@both
@pytest.mark.parametrize(
    ("name", "value", "requirement"),
    [
        ("n_rules", 0, "an int in the range [1, inf)"),
        ("n_rules", 2.0, "an int in the range [1, inf)"),
        ("n_rules", True, "an int in the range [1, inf)"),
        ("loss", "huber", "or an object with the methods of laconic.losses.Loss"),
        ("l2_regularization", -1, "a float in the range [0, inf)"),
        ("l2_regularization", float("nan"), "a float in the range [0, inf)"),
        ("l2_regularization", float("inf"), "a float in the range [0, inf)"),
        ("l2_regularization", "1", "a float in the range [0, inf)"),
        ("search", "fast", "a str among {'optimal', 'greedy', 'beam', 'reference', 'brute_force'}"),
        ("search", None, "a str among"),
        ("max_conditions", 0, "an int in the range [1, inf) or None"),
        ("min_coverage", -1, "a float in the range [0, inf)"),
        ("approximation_factor", 0, "a float in the range (0, 1]"),
        ("approximation_factor", 2, "a float in the range (0, 1]"),
        ("approximation_factor", float("nan"), "a float in the range (0, 1]"),
        ("node_limit", 0, "an int in the range [1, inf), None or 'auto'"),
        ("time_limit", 0, "a float in the range (0, inf) or None"),
        ("max_thresholds", 0, "an int in the range [1, inf) or None"),
        ("max_thresholds", 2.5, "an int in the range [1, inf) or None"),
        ("negated_categories", "no", "a bool"),
        ("fit_intercept", None, "a bool"),
        ("warm_start", 1, "a bool"),
        ("on_interrupt", "ignore", "a str among {'raise', 'keep'}"),
        ("callback", 3, "a callable or None"),
        ("n_jobs", 0, "an int other than 0 or None"),
        ("n_jobs", 1.5, "an int other than 0 or None"),
        ("n_jobs", "all", "an int other than 0 or None"),
    ],
)
def test_bad_parameters(task, name, value, requirement):
    model = ESTIMATORS[task](**{name: value})
    owner = type(model).__name__
    start = f"The {name!r} parameter of {owner} must be "
    message = f"{re.escape(start)}.*{re.escape(f'{requirement}. Got {value!r} instead.')}"
    if value is None or name == "search":
        message = re.escape(start + requirement)
    with pytest.raises(ValueError, match=message):
        model.fit([[1], [2]], [0, 1])


@pytest.mark.parametrize(
    ("estimator", "loss"),
    [(RuleBoostingClassifier, "squared"), (RuleBoostingRegressor, "logistic")],
)
def test_loss_of_the_other_task(estimator, loss):
    with pytest.raises(ValueError, match=f"must be 'auto', '.*' or .* Got '{loss}' instead"):
        estimator(loss=loss).fit([[1], [2]], [-1, 1])


@both
def test_loss_class_instead_of_instance(task):
    with pytest.raises(TypeError, match=r"Got the class SquaredLoss .* instance: SquaredLoss\(\)"):
        ESTIMATORS[task](loss=SquaredLoss).fit([[1], [2]], [0, 1])


@both
def test_loss_without_a_method(task):
    with pytest.raises(TypeError, match="which lacks value, gradients, hessians, inverse_link"):
        ESTIMATORS[task](loss=42).fit([[1], [2]], [0, 1])


@both
def test_min_coverage_larger_than_the_table(task):
    with pytest.raises(ValueError, match=r"must not exceed the coverage of all rows, 2. Got 3"):
        ESTIMATORS[task](min_coverage=3).fit([[1], [2]], [0, 1])


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (RuleBoostingClassifier, "predict"),
        (RuleBoostingClassifier, "predict_proba"),
        (RuleBoostingClassifier, "decision_function"),
        (RuleBoostingClassifier, "staged_decision_function"),
        (RuleBoostingRegressor, "predict"),
        (RuleBoostingRegressor, "staged_predict"),
    ],
)
def test_not_fitted(estimator, method):
    with pytest.raises(NotFittedError, match=f"This {estimator.__name__} instance is not fitted"):
        list(getattr(estimator(), method)([[1]]))


@both
def test_bad_tables_at_predict(task):
    X, y = numeric_problem(task)
    model = ESTIMATORS[task](2).fit(X, y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        model.predict(X[0])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.predict(X[:0])
    with pytest.raises(TypeError, match=r"Got dict instead. Make a DataFrame of it") as caught:
        model.predict({"x0": [1], "x1": [2], "x2": [3]})
    assert "collect" not in str(caught.value)
    with pytest.raises(TypeError, match=r"needs a column of numbers. Column 'x0' holds strings"):
        model.predict([["a", "b", "c"]])


# Tables at the edge


def test_one_row():
    model = RuleBoostingRegressor(l2_regularization=0).fit([[1, "a"]], [3.0])
    assert str(model.ensemble_) == "+3.000 always"
    assert_array_equal(model.predict([[2, "b"]]), [3.0])


@pytest.mark.parametrize(
    "X", [np.ones((4, 3)), np.full((4, 2), np.nan), [["a"]] * 4, [[None, True]] * 4, [[None]] * 4]
)
def test_columns_that_say_nothing(X):
    model = RuleBoostingRegressor(l2_regularization=0).fit(X, [1.0, 2.0, 3.0, 6.0])
    assert str(model.ensemble_) == "+3.000 always"
    assert_array_equal(model.predict(X), 3.0)
    balanced = RuleBoostingClassifier().fit(X, [0, 1, 0, 1])
    assert len(balanced.ensemble_) == 0
    assert_array_equal(balanced.predict_proba(X), 0.5)


def test_column_that_is_missing_in_training_only():
    X = [[None, 1], [None, 2], [None, 3], [None, 4]]
    model = RuleBoostingRegressor(2, l2_regularization=0).fit(X, [5, 5, 1, 1])
    assert_array_equal(model.predict([["text", 1], [7, 4]][:1]), [5.0])
    assert_array_equal(model.predict([[7, 4]]), [1.0])


def test_duplicate_columns_use_the_first():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(4).fit(np.column_stack([X, X]), y)
    assert model.ensemble_.rules == RuleBoostingRegressor(4).fit(X, y).ensemble_.rules


def test_three_hundred_categories():
    rng = np.random.default_rng(0)
    X = rng.permutation(np.repeat([f"c{i:03}" for i in range(300)], 3))[:, None]
    y = np.where(X[:, 0] == "c123", 50.0, 1.0)
    model = RuleBoostingRegressor(3, l2_regularization=0).fit(X, y)
    assert {str(rule.query) for rule in model.ensemble_} <= {"x0 == c123", "x0 != c123"}
    assert_allclose(model.predict(X), y)


@pytest.mark.parametrize(
    "values",
    [
        [-1e300, -1e-300, 1e-300, 1e300],
        [-1.7e308, 0.0, 5e-324, 1.7e308],
        [2**60, 2**60 + 2**10, 2**61, 2**62],
        [-(2**63), -1, 0, 2**63 - 1],
    ],
)
def test_extreme_features(values):
    X = np.array(values)[:, None]
    y = np.array([1.0, 5.0, 2.0, 7.0])
    model = RuleBoostingRegressor(100, l2_regularization=0).fit(X, y)
    assert_allclose(model.predict(X), y, rtol=1e-6)
    assert all(
        isinstance(p, Proposition) and np.isfinite(p.value)
        for rule in model.ensemble_
        for p in rule.query
    )


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e30, 1e140])
def test_scale_of_the_target_only_scales_the_weights(scale):
    X, y = numeric_problem("regressor")
    plain = RuleBoostingRegressor(5).fit(X, y)
    scaled = RuleBoostingRegressor(5).fit(X, scale * y)
    assert [rule.query for rule in scaled.ensemble_] == [rule.query for rule in plain.ensemble_]
    assert_allclose(scaled.predict(X), scale * plain.predict(X), rtol=1e-9)


def test_target_too_large_for_its_square():
    with pytest.raises(ValueError, match=r"must be finite. Got values that overflow; scale the"):
        RuleBoostingRegressor().fit([[1], [2]], [1e300, 0.0])


def test_target_too_small_for_its_square_is_zero():
    model = RuleBoostingRegressor().fit([[1], [2]], [1e-300, 0.0])
    assert len(model.ensemble_) == 0


def test_boolean_array():
    X = np.array([[True, False], [True, True], [False, True], [False, False]])
    y = X[:, 0] & X[:, 1]
    model = RuleBoostingClassifier(5, l2_regularization=0.1).fit(X, y)
    assert model.classes_.dtype == bool
    assert_array_equal(model.predict(X), y)


def test_no_warnings_for_hopeless_fits():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 3)), rng.choice([0, 1], 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RuleBoostingClassifier(200, l2_regularization=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


# What optimal rules are for


@pytest.mark.parametrize(
    ("n_features", "n_rows", "max_thresholds", "seed"), [(3, 600, 31, 3), (4, 1000, 7, 1)]
)
def test_noisy_parity_is_solved_by_its_orthants(n_features, n_rows, max_thresholds, seed):
    train = noisy_parity(n_rows, n_features, noise=0.2, random_state=seed)
    test = noisy_parity(4000, n_features, noise=0.2, random_state=100 + seed)
    parameters = {"n_rules": 2**n_features, "max_thresholds": max_thresholds}
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
    model = RuleBoostingClassifier(8).fit(dataset.data, dataset.target)
    assert all(result.is_optimal for result in model.search_results_)
    assert model.score(dataset.data, dataset.target) > 0.9


CUTOFFS = [Proposition("age", ">", 65), Proposition("age", ">", 40), Proposition("sex", "==", "f")]


def patients(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(20, 90, n_rows), "sex": rng.choice(["f", "m"], n_rows)})
    y = (X["age"] > 65) * 3.0 + (X["sex"] == "f") + rng.normal(size=n_rows)
    return X, y


def ages_above(X):
    return [Proposition("age", ">", age) for age in X["age"].quantile([0.25, 0.5, 0.75])]


class TestGivenPropositions:
    def test_rules_are_made_of_them(self):
        model = RuleBoostingRegressor(propositions=CUTOFFS).fit(*patients())
        used = {proposition for rule in model.ensemble_ for proposition in rule.query}
        assert used <= set(CUTOFFS)
        assert all(result.is_optimal for result in model.search_results_)

    @pytest.mark.parametrize("task", [RuleBoostingClassifier, RuleBoostingRegressor])
    def test_conditions_of_the_table_give_the_default_model(self, task):
        X, y = patients()
        y = y > 2 if task is RuleBoostingClassifier else y
        weights = np.random.default_rng(0).integers(0, 3, len(y))
        expected = task(max_thresholds=3).fit(X, y, weights)
        conditions = candidate_propositions(X, max_thresholds=3, sample_weight=weights).propositions
        model = task(propositions=conditions, max_thresholds=1).fit(X, y, weights)
        assert model.ensemble_ == expected.ensemble_

    def test_callable_sees_the_table_as_it_was_passed(self):
        X, y = patients()
        seen = []

        def conditions(table):
            seen.append(table)
            return tuple(CUTOFFS)

        RuleBoostingRegressor(propositions=conditions).fit(X, y)
        assert len(seen) == 1
        assert seen[0] is X

    def test_arrays_have_numbered_features(self):
        above = Proposition("x1", ">", np.nextafter(3.0, -np.inf))  # x1 >= 3
        X = [[0, 1], [0, 2], [0, 3], [0, 4]]
        model = RuleBoostingRegressor(2, propositions=[above]).fit(X, [0, 0, 5, 5])
        assert model.ensemble_[0].query.propositions == (above,)
        assert model.predict(X)[2] == model.predict(X)[3]

    def test_constant_conditions_are_harmless(self):
        X, y = patients()
        constant = [Proposition("age", ">", -1), Proposition("sex", "is missing")]
        expected = RuleBoostingRegressor(propositions=CUTOFFS).fit(X, y)
        model = RuleBoostingRegressor(propositions=constant + CUTOFFS).fit(X, y)
        assert model.ensemble_ == expected.ensemble_
        assert RuleBoostingRegressor(propositions=constant).fit(X, y).ensemble_.n_conditions == 0

    def test_contract(self):
        X, y = patients()
        model = clone(RuleBoostingRegressor(2, propositions=CUTOFFS)).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert again.propositions == CUTOFFS
        assert_array_equal(again.predict(X), model.predict(X))
        search = GridSearchCV(model, {"propositions": [CUTOFFS, CUTOFFS[:1], ages_above, None]})
        assert search.fit(X, y).best_estimator_.predict(X).shape == y.shape

    def test_warm_start(self):
        X, y = patients()
        model = RuleBoostingRegressor(1, propositions=CUTOFFS, warm_start=True).fit(X, y)
        model.set_params(n_rules=4).fit(X, y)
        expected = RuleBoostingRegressor(4, propositions=CUTOFFS).fit(X, y)
        assert model.ensemble_ == expected.ensemble_

    @pytest.mark.parametrize(
        ("propositions", "error", "match"),
        [
            ("age > 65", ValueError, "'propositions' parameter of .* must be a list or tuple"),
            ([], ValueError, "Got none at all"),
            (["age > 65"], TypeError, "Got 'age > 65' among them"),
            (lambda X: None, TypeError, "Got None instead"),
            ([Proposition("Age", ">", 65)], ValueError, "no column 'Age'. Did you mean 'age'"),
            ([Proposition("age", "==", "old")], TypeError, "needs a column of strings"),
        ],
    )
    def test_checks(self, propositions, error, match):
        with pytest.raises(error, match=match):
            RuleBoostingRegressor(propositions=propositions).fit(*patients())
