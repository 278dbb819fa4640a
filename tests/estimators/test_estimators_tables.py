"""The estimators: tables of all kinds, with and without names, and at the edge."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from estimators import ESTIMATORS, STAGEWISE, both, forms, mixed_columns, numeric_problem
from laconic import (
    Condition,
    Query,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
)
from laconic.terms.slopes import Slope


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


def renamed(term, names):
    if isinstance(term, Slope):
        return replace(term, feature=names[term.feature])
    conditions = (replace(each, feature=names[each.feature]) for each in term.query)
    return replace(term, query=Query(tuple(conditions)))


@both
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_give_the_same_model_as_arrays(task, kind):
    columns, score = mixed_columns()
    y = score > 1 if task == "classifier" else score
    from_array = ESTIMATORS[task](5).fit(object_array(columns), y)
    frame = FRAMES[kind](columns)
    model = ESTIMATORS[task](5).fit(frame, y)
    names = {f"x{position}": name for position, name in enumerate(columns)}
    assert model.ensemble_.terms == tuple(renamed(term, names) for term in from_array.ensemble_)
    assert len(model.ensemble_) == 5
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
    unknown = model.ensemble_.intercept
    assert_array_equal(model.predict([[None], [np.nan], [1]]), [unknown, unknown, 5.0])
    model = RuleBoostingRegressor(2, **STAGEWISE | {"l2_regularization": 0})
    model.fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    assert_array_equal(model.predict([[None], [np.nan], [1]]), [0.0, 0.0, 5.0])


def test_unseen_category_at_predict():
    X = [["a"], ["a"], ["b"], ["b"], ["c"], ["c"]]
    model = RuleBoostingRegressor(1, l2_regularization=0, fit_intercept=False, brevity=0.0)
    model.fit(X, [0, 0, 3, 3, 3, 3])
    assert str(model.ensemble_) == "+3.000 if x0 != a"
    assert_array_equal(model.predict([["d"], ["a"], [None]]), [3.0, 0.0, 0.0])


def test_an_intercept_of_zero_is_none():
    X = [["a"], ["a"], ["b"], ["b"], ["c"], ["c"]]
    model = RuleBoostingRegressor(l2_regularization=0, conditions=[Condition("x0", "!=", "a")])
    assert str(model.fit(X, [0, 0, 3, 3, 3, 3]).ensemble_) == "+3.000 if x0 != a"


def test_unused_categories_have_no_effect():
    values = ["a", "b", "a", "c", "b", "c"]
    y = [1.0, 2.0, 1.0, 5.0, 2.0, 5.0]
    few = pd.DataFrame({"x": pd.Categorical(values)})
    many = pd.DataFrame({"x": pd.Categorical(values, categories=["z", "c", "b", "a", "q"])})
    models = [RuleBoostingRegressor(4).fit(frame, y) for frame in (few, many)]
    assert models[0].ensemble_ == models[1].ensemble_
    assert_array_equal(models[0].predict(many), models[1].predict(few))


# Tables at the edge


def test_one_row():
    model = RuleBoostingRegressor().fit([[1, "a"]], [3.0])
    assert str(model.ensemble_) == "+3.000 (intercept)"
    assert_array_equal(model.predict([[2, "b"]]), [3.0])


@pytest.mark.parametrize(
    "X", [np.ones((4, 3)), np.full((4, 2), np.nan), [["a"]] * 4, [[None, True]] * 4, [[None]] * 4]
)
def test_columns_that_say_nothing(X):
    model = RuleBoostingRegressor().fit(X, [1.0, 2.0, 3.0, 6.0])
    assert str(model.ensemble_) == "+3.000 (intercept)"
    assert_array_equal(model.predict(X), 3.0)
    model = RuleBoostingRegressor(fit_intercept=False, l2_regularization=0)
    model.fit(X, [1.0, 2.0, 3.0, 6.0])
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
    assert model.ensemble_.terms == RuleBoostingRegressor(4).fit(X, y).ensemble_.terms


def test_three_hundred_categories():
    rng = np.random.default_rng(0)
    X = rng.permutation(np.repeat([f"c{i:03}" for i in range(300)], 3))[:, None]
    y = np.where(X[:, 0] == "c123", 50.0, 1.0)
    model = RuleBoostingRegressor(3, l2_regularization=0, max_categories=None).fit(X, y)
    assert {str(rule.query) for rule in model.ensemble_} <= {"x0 == c123", "x0 != c123"}
    assert_allclose(model.predict(X), y)


@pytest.mark.parametrize(
    "values",
    [
        [-1e300, -1e-300, 1e-300, 1e300],
        [-1.7e308, 0.0, 5e-324, 1.7e308],
        [2**60, 2**60 + 2**10, 2**61, 2**62],
        pytest.param(
            [-(2**63), -1, 0, 2**63 - 1],
            marks=pytest.mark.filterwarnings("ignore:Column 'x0' holds whole numbers beyond"),
        ),
    ],
)
def test_extreme_features(values):
    X = np.array(values)[:, None]
    y = np.array([1.0, 5.0, 2.0, 7.0])
    model = RuleBoostingRegressor(100, l2_regularization=0).fit(X, y)
    assert_allclose(model.predict(X), y, rtol=1e-6)
    for form in forms(model):
        if isinstance(form, Slope):
            assert np.isfinite([form.lower, form.upper]).all()
        else:
            assert all(isinstance(p, Condition) and np.isfinite(p.value) for p in form)


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e30, 1e140])
def test_scale_of_the_target_only_scales_the_weights(scale):
    X, y = numeric_problem("regressor")
    plain = RuleBoostingRegressor(5).fit(X, y)
    scaled = RuleBoostingRegressor(5).fit(X, scale * y)
    assert_allclose(scaled.predict(X), scale * plain.predict(X), rtol=1e-9)
    # With an intercept, it is up to rounding which of a rule and its opposite is found.
    plain = RuleBoostingRegressor(5, **STAGEWISE).fit(X, y)
    scaled = RuleBoostingRegressor(5, **STAGEWISE).fit(X, scale * y)
    assert forms(scaled) == forms(plain)
    assert_allclose(scaled.predict(X), scale * plain.predict(X), rtol=1e-9)


def test_target_too_large_for_its_square():
    with pytest.raises(ValueError, match=r"must be finite. Got values that overflow; scale the"):
        RuleBoostingRegressor().fit([[1], [2]], [1e300, 0.0])


SMALL_AND_LARGE = [5e-324 * 2**60, 1e-300, 1e-170, 1e-100, 1e150]


@pytest.mark.parametrize("scale", SMALL_AND_LARGE)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"strategy": "polished"},
        {"strategy": "stagewise", "approximation_factor": 0.9},
        {"search": "beam", "fit_intercept": False},
    ],
)
def test_rules_do_not_depend_on_the_unit_of_the_target(scale, options):
    """Squares of 1e-170 are 0, and so were the objectives of all rules."""
    generator = np.random.default_rng(0)
    X = generator.integers(0, 5, (80, 3))
    y = 4.0 * ((X[:, 0] > 2) & (X[:, 1] > 1)) + 2 * (X[:, 2] > 1) + generator.normal(size=80)
    usual = RuleBoostingRegressor(5, **options).fit(X, y)
    model = RuleBoostingRegressor(5, **options).fit(X, scale * y)
    assert forms(model) == forms(usual)
    weights, expected = (
        np.array([rule.weight for rule in each.ensemble_]) for each in (model, usual)
    )
    assert_allclose(weights / scale, expected, rtol=1e-10)
    assert [r.status for r in model.search_results_] == [r.status for r in usual.search_results_]
    # More rules for the same target go on from these.
    model.set_params(warm_start=True, n_terms=6).fit(X, scale * y)
    usual.set_params(warm_start=True, n_terms=6).fit(X, y)
    assert forms(model) == forms(usual)


@pytest.mark.parametrize("scale", [1e-290, 1e-170, 1e150])
@pytest.mark.parametrize("task", ["number", "two classes", "three classes"])
def test_rules_do_not_depend_on_the_unit_of_the_weights(task, scale):
    generator = np.random.default_rng(0)
    X = generator.integers(0, 5, (80, 3))
    y = 4.0 * ((X[:, 0] > 2) & (X[:, 1] > 1)) + 2 * (X[:, 2] > 1) + generator.normal(size=80)
    weights = generator.integers(1, 4, 80).astype(float)
    make = RuleBoostingRegressor if task == "number" else RuleBoostingClassifier
    target = {"number": y, "two classes": y > 1, "three classes": np.digitize(y, [1, 3])}[task]
    usual = make(4, l2_regularization=2.0).fit(X, target, weights)
    model = make(4, l2_regularization=2.0 * scale).fit(X, target, scale * weights)
    assert forms(model) == forms(usual)
    weights, expected = ([rule.weight for rule in each.ensemble_] for each in (model, usual))
    assert_allclose(weights, expected, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e100])
def test_number_of_rules_does_not_depend_on_the_unit_of_the_target(scale):
    generator = np.random.default_rng(0)
    X = generator.integers(0, 5, size=(200, 4))
    y = 4 * ((X[:, 0] > 2) & (X[:, 1] > 1)) + 2 * generator.normal(size=200)
    usual = RuleBoostingRegressorCV().fit(X, y)
    model = RuleBoostingRegressorCV().fit(X, scale * y)
    assert model.n_terms_ == usual.n_terms_ == 1
    expected = usual.cv_results_["mean_loss"] * scale * scale
    assert_allclose(model.cv_results_["mean_loss"], expected, rtol=1e-9)


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
