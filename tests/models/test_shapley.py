"""Shapley values in closed form, against the definition and against the library shap."""

import sys
import warnings
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sloped import sloped_classes, sloped_regressor

from laconic import (
    Condition,
    Query,
    Rule,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleEnsemble,
)
from laconic.models.shapley import feature_importances, shapley_values
from laconic.terms.slopes import Slope

N_FEATURES = 4


def by_definition(ensemble, X, background):
    """Sum over all sets of features of how much a further one changes the mean prediction."""

    def game(row, features):
        mixed = background.copy()
        mixed[:, features] = row[list(features)]
        return ensemble.raw_predictions(mixed).mean()

    n_features = X.shape[1]
    values = np.zeros(X.shape)
    for i, row in enumerate(X):
        for j in range(n_features):
            others = [k for k in range(n_features) if k != j]
            for size in range(n_features):
                share = factorial(size) * factorial(n_features - 1 - size) / factorial(n_features)
                for features in combinations(others, size):
                    gain = game(row, (*features, j)) - game(row, features)
                    values[i, j] += share * gain
    return values


@st.composite
def conditions(draw):
    feature = f"x{draw(st.integers(0, N_FEATURES - 1))}"
    relation = draw(st.sampled_from(["<=", ">", "==", "!=", "is missing", "is present"]))
    value = None if relation.startswith("is") else float(draw(st.integers(0, 2)))
    return Condition(feature, relation, value)


rules = st.builds(
    lambda conditions, weight: Rule(Query(tuple(conditions)), weight),
    st.lists(conditions(), max_size=5),
    st.floats(-3, 3),
)


@st.composite
def slopes(draw):
    lower = draw(st.sampled_from([-1.0, 0.0, 0.5, 1.0]))
    upper = lower + draw(st.sampled_from([0.25, 1.0, 3.0]))
    missing = draw(st.sampled_from([None, lower, upper]))
    feature = f"x{draw(st.integers(0, N_FEATURES - 1))}"
    return Slope(feature, lower, upper, draw(st.floats(-3, 3)), missing=missing)


terms = st.lists(rules | slopes(), max_size=5).map(tuple)
ensembles = st.builds(RuleEnsemble, terms, st.floats(-1, 1))
CELLS = st.sampled_from([0.0, 1.0, 2.0, np.nan])


def tables(n_rows):
    rows = st.lists(CELLS, min_size=N_FEATURES, max_size=N_FEATURES)
    return st.lists(rows, min_size=1, max_size=n_rows).map(np.array)


@settings(max_examples=60)
@given(ensembles, tables(2), tables(4))
def test_definition(ensemble, X, background):
    shares = shapley_values(ensemble, X, background)
    assert_allclose(shares.values, by_definition(ensemble, X, background), atol=1e-12)
    assert_allclose(
        shares.base_value + shares.values.sum(axis=1), ensemble.raw_predictions(X), atol=1e-12
    )


@pytest.fixture
def shap(monkeypatch):
    """The library, which needs NumPy 2."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # compiling takes longer than computing
    with warnings.catch_warnings(action="ignore"):  # of what matplotlib will change
        return pytest.importorskip("shap")


def test_exact_explainer_of_shap(shap):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 5))
    y = X[:, 0] * (X[:, 1] > 0) + X[:, 2]
    model = RuleBoostingRegressor(8).fit(X, y)
    background = X[:30]
    slopes = (Slope("x0", -1, 1, 0.5), Slope("x3", -0.5, 2, -0.25))
    model.ensemble_ = model.ensemble_.with_terms([*model.ensemble_, *slopes])
    masker = shap.maskers.Independent(background, max_samples=len(background))
    theirs = shap.explainers.Exact(model.predict, masker)(X[:6])
    ours = model.shapley_values(X[:6], background).to_shap()
    assert_allclose(ours.values, theirs.values, atol=1e-10)
    assert_allclose(ours.base_values, theirs.base_values, atol=1e-10)
    assert_array_equal(ours.data, theirs.data)


@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_mixed_columns(convert):
    X = pd.DataFrame(
        {
            "age": [20.0, 40.0, None, 60.0, 70.0, 30.0],
            "plan": pd.Categorical(["a", "b", "a", None, "b", "a"]),
            "member": [True, False, True, True, False, False],
        }
    )
    y = ["no", "yes", "no", "yes", "yes", "no"]
    model = RuleBoostingClassifier(4).fit(X, y)
    shares = model.shapley_values(convert(X), convert(X))
    assert shares.feature_names == ("age", "plan", "member")
    assert_allclose(shares.base_value + shares.values.sum(axis=1), model.decision_function(X))
    assert repr(shares) == "<ShapleyValues: 6 rows, 3 features>"
    assert_array_equal(shares.to_frame("pandas").to_numpy(), shares.values)


def test_data_of_mixed_columns(shap):
    X = pd.DataFrame({"age": [20.0, None], "plan": ["a", None], "member": [True, False]})
    model = RuleBoostingClassifier(1).fit(X, [0, 1])
    explanation = model.shapley_values(X, X).to_shap()
    assert isinstance(explanation, shap.Explanation)
    assert explanation.data[0].tolist() == [20.0, "a", True]
    assert explanation.data[1, 1] is None
    assert explanation.feature_names == ["age", "plan", "member"]


def test_unused_features_have_no_share():
    ensemble = RuleEnsemble((Rule(Query((Condition("x1", ">", 0),)), 1.0),))
    shares = shapley_values(ensemble, np.eye(3), np.zeros((2, 3)))
    assert_array_equal(shares.values, [[0, 0, 0], [0, 1, 0], [0, 0, 0]])


def test_many_rows_and_features_are_cheap():
    """Patterns of rows are compared, not rows: twenty conditions and 1e5 x 1e5 rows."""
    generator = np.random.default_rng(0)
    X = generator.integers(0, 2, size=(100_000, 20)).astype(float)
    X[:, 3:] = 1.0
    query = Query(tuple(Condition(f"x{j}", ">", 0.5) for j in range(20)))
    shares = shapley_values(RuleEnsemble((Rule(query, 2.0),)), X, X)
    assert_allclose(shares.values[:, 3:], 0.0)
    sums = 2.0 * query.covered(X) - 2.0 * query.covered(X).mean()
    assert_allclose(shares.values.sum(axis=1), sums, atol=1e-12)


def test_more_features_than_bits_of_a_word():
    X = np.ones((3, 70))
    X[1, 69] = X[2, 0] = 0.0
    query = Query(tuple(Condition(f"x{j}", ">", 0.5) for j in range(70)))
    values = shapley_values(RuleEnsemble((Rule(query, 6.0),)), X, X).values
    expected = np.zeros((3, 70))
    expected[:, 0], expected[:, 69] = [2, 1, -3], [2, -3, 1]
    assert_allclose(values, expected)


def test_empty_background_is_refused():
    ensemble = RuleEnsemble((Rule(Query((Condition("x0", ">", 0),)), 1.0),))
    with pytest.raises(ValueError, match="at least one row"):
        shapley_values(ensemble, [[1.0]], np.empty((0, 1)))


def test_shap_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    shares = shapley_values(RuleEnsemble(), [[1.0]], [[1.0]])
    with pytest.raises(ImportError, match=r"pip install \"laconic\[shap\]\""):
        shares.to_shap()


@given(ensembles, tables(6))
@settings(max_examples=30, deadline=None)
def test_importances_are_shares_of_the_mean_absolute_values(ensemble, X):
    means = np.abs(shapley_values(ensemble, X, X).values).mean(axis=0)
    importances = feature_importances(ensemble, X)
    assert_allclose(importances * means.sum(), means, atol=1e-12)
    assert importances.sum() == pytest.approx(1.0 if means.any() else 0.0)


def test_a_model_without_rules_gives_no_feature_a_share():
    assert feature_importances(RuleEnsemble(intercept=2.0), [[1, 2], [3, 4]]).tolist() == [0, 0]


@given(ensembles, tables(6), st.lists(st.integers(0, 3), min_size=6, max_size=6))
@settings(max_examples=30, deadline=None)
def test_weights_count_like_copies_of_rows(ensemble, X, weights):
    weights = [weights[0] + 1, *weights[1:]][: len(X)]
    copies = feature_importances(ensemble, np.repeat(X, weights, axis=0))
    weighted = feature_importances(ensemble, X, np.array(weights, dtype=float))
    assert_allclose(weighted, copies, atol=1e-12)


def test_a_slope_belongs_to_its_feature_alone():
    ensemble = RuleEnsemble((Slope("x1", 0, 10, 2.0, missing=4),))
    background = np.array([[7.0, 0.0], [8.0, 30.0]])
    shares = shapley_values(ensemble, [[0.0, 3.0], [9.0, np.nan], [9.0, -5.0]], background)
    assert shares.base_value == 10.0
    assert_array_equal(shares.values, [[0, -4], [0, -2], [0, -10]])


def test_dates_and_classes_with_slopes():
    model, X, _ = sloped_classes()
    shares = model.shapley_values(X, X.head(50))
    raw = model.decision_function(X)
    assert_allclose(shares.base_value, raw[:50].mean(axis=0))
    assert_allclose(shares.base_value + shares.values.sum(axis=1), raw, atol=1e-12)
    at = model.ensemble_.feature_names.index("admitted")
    slope = model.ensemble_[3]
    added = slope.raw_predictions(X)
    assert_allclose(shares.values[:, at, slope.output], added - added[:50].mean(), atol=1e-12)


def test_importances_of_slopes_are_mean_absolute_deviations():
    model, X, _ = sloped_regressor(terms=(Slope("age", 25, 68, 0.5), Slope("dose", 40, 200, -0.1)))
    added = np.array([term.raw_predictions(X) for term in model.ensemble_])
    means = np.abs(added - added.mean(axis=1, keepdims=True)).mean(axis=1)
    expected = dict.fromkeys(X, 0.0) | {
        "age": means[0] / means.sum(),
        "dose": means[1] / means.sum(),
    }
    assert_allclose(feature_importances(model.ensemble_, X), list(expected.values()))
