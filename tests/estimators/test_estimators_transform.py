"""The estimators: rules as columns for other models."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from estimators import ESTIMATORS, both, mixed_columns, numeric_problem
from laconic import (
    Condition,
    Query,
    Rule,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
)


def mixed_model(library=pd, **parameters):
    columns, score = mixed_columns()
    table = library.DataFrame(columns)
    return RuleBoostingRegressor(4, **parameters).fit(table, score), table, score


@both
def test_columns_are_the_values_of_terms(task):
    X, y = numeric_problem(task)
    model = ESTIMATORS[task](3)
    columns = model.fit_transform(X, y)
    assert columns.dtype == np.float64
    assert columns.shape == (80, 3)
    assert_array_equal(columns, model.ensemble_.values(X))
    assert_array_equal(columns, model.transform(X))
    # They carry the whole model.
    weights = [rule.weight for rule in model.ensemble_]
    raw = model.ensemble_.raw_predictions(X)
    np.testing.assert_allclose(model.ensemble_.intercept + columns @ weights, raw)
    assert is_classifier(model) == (task == "classifier")
    assert is_regressor(model) == (task == "regressor")


@pytest.mark.parametrize("library", [pd, pl])
def test_names_are_conditions(library):
    model, table, _ = mixed_model(library)
    names = model.get_feature_names_out()
    assert names.dtype == object
    assert names.tolist() == [model.ensemble_.text(rule.query) for rule in model.ensemble_]
    assert len(set(names)) == len(model.ensemble_) == 4
    assert_array_equal(model.get_feature_names_out(list(table.columns)), names)
    with pytest.raises(ValueError, match="not equal to feature_names_in_"):
        model.get_feature_names_out(["a", "b", "c", "d"])
    with pytest.raises(NotFittedError):
        RuleBoostingRegressor().get_feature_names_out()


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_columns_of_a_frame(library, output):
    model, table, _ = mixed_model(library)
    expected = model.transform(table)
    frame = model.set_output(transform=output).transform(table)
    assert isinstance(frame, pd.DataFrame if output == "pandas" else pl.DataFrame)
    assert list(frame.columns) == model.get_feature_names_out().tolist()
    assert_array_equal(frame.to_numpy(), expected)


def test_frames_keep_the_index():
    model, table, _ = mixed_model()
    table.index = [f"row {number}" for number in range(len(table))]
    frame = model.set_output(transform="pandas").transform(table)
    assert frame.index.equals(table.index)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_no_columns_without_rules(output):
    X = np.arange(4.0).reshape(-1, 1)
    model = RuleBoostingRegressor().set_output(transform=output).fit(X, [3, 3, 3, 3])
    # Frames without columns had no rows in polars before 1.36.
    assert model.transform(X).shape in ([(0, 0), (4, 0)] if output == "polars" else [(4, 0)])
    assert model.get_feature_names_out().tolist() == []


def test_sparse_tables():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.3, size=(90, 5)).astype(float)
    y = dense[:, 1] - 2 * dense[:, 3]
    model = RuleBoostingRegressor(3).fit(sparse.csr_matrix(dense), y)
    columns = model.transform(sparse.csr_matrix(dense))
    assert isinstance(columns, np.ndarray)
    assert_array_equal(columns, model.transform(dense))
    assert columns.any(axis=0).all()


def test_many_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RuleBoostingClassifier(5).fit(X, y)
    frame = model.set_output(transform="pandas").transform(X)
    assert frame.shape == (150, 5)
    assert frame.columns.is_unique
    assert_array_equal(frame, model.ensemble_.values(X))


def test_names_of_equal_conditions():
    X, y = load_iris(return_X_y=True)
    model = RuleBoostingClassifier(1).fit(X, y)
    query = Query((Condition("x0", ">", 5),))
    rules = [Rule(query, 1.0, output) for output in (0, 2, 2)]
    model.ensemble_ = model.ensemble_.with_terms([*rules, Rule(Query(), 1.0, 1)])
    assert model.get_feature_names_out().tolist() == [
        "x0 > 5 for class 0",
        "x0 > 5 for class 2",
        "x0 > 5 for class 2 (2)",
        "always",
    ]
    assert model.set_output(transform="polars").transform(X).shape == (150, 4)


def test_numbers_leave_names_of_features_alone():
    X, y = pd.DataFrame({"a": [0.0, 1.0], "b (2)": [True, False]}), [0.0, 1.0]
    model = RuleBoostingRegressor(1).fit(X, y)
    plain, numbered = (Query((Condition(name, "==", "x"),)) for name in ("a", "b (2)"))
    rules = [Rule(plain, 1.0), Rule(plain, 2.0), Rule(numbered, 1.0), Rule(plain, 2.0)]
    model.ensemble_ = model.ensemble_.with_terms(rules)
    names = model.get_feature_names_out().tolist()
    assert names == ["a == x", "a == x (2)", "b (2) == x", "a == x (3)"]


def test_names_come_through_a_pipeline():
    columns, score = mixed_columns()
    table = pd.DataFrame(columns)[["age", "member"]].astype(float)
    pipeline = make_pipeline(StandardScaler(), RuleBoostingRegressor(3)).fit(table, score)
    names = pipeline.get_feature_names_out()
    own = pipeline[-1].get_feature_names_out()
    assert all("x0" in name or "x1" in name for name in own)
    expected = [name.replace("x0", "age").replace("x1", "member") for name in own]
    assert names.tolist() == expected
    with pytest.raises(ValueError, match="number of features"):
        pipeline[-1].get_feature_names_out(["age"])


def test_names_of_parts_of_dates():
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=day) for day in range(60)]
    X = np.array(days, dtype="datetime64[s]").reshape(-1, 1)
    y = [float(day.weekday() >= 5) for day in days]
    model = RuleBoostingRegressor(1, date_parts=["weekday"]).fit(X, y)
    (own,), (name,) = model.get_feature_names_out(), model.get_feature_names_out(["day"])
    assert "weekday of x0" in own
    assert name == own.replace("x0", "day")


def test_rules_feed_a_linear_model():
    model, table, score = mixed_model()
    linear = make_pipeline(model, LinearRegression()).fit(table, score)
    assert linear.score(table, score) >= model.score(table, score) - 1e-12
    X, y = numeric_problem("classifier")
    logistic = make_pipeline(RuleBoostingClassifier(3), LogisticRegression()).fit(X, y)
    assert logistic.score(X, y) > 0.7


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_beside_other_columns(output):
    columns, score = mixed_columns()
    table = (pd if output == "pandas" else pl).DataFrame(columns)
    together = ColumnTransformer(
        [
            ("rules", RuleBoostingRegressor(2), ["age", "city"]),
            ("kept", "passthrough", ["member"]),
        ]
    ).set_output(transform=output)
    frame = together.fit_transform(table, score)
    rules = together.named_transformers_["rules"].get_feature_names_out()
    expected = [*(f"rules__{name}" for name in rules), "kept__member"]
    assert list(frame.columns) == expected
    # Releases of scikit-learn before 1.7 join frames of polars only if their names differ.
    only_age = ColumnTransformer([("age", "passthrough", ["age"])], verbose_feature_names_out=False)
    few = make_pipeline(only_age, RuleBoostingRegressor(1))
    union = FeatureUnion([("few", few), ("cv", RuleBoostingRegressorCV(3))])
    union.set_output(transform=output)
    frame = union.fit_transform(table, score)
    assert list(frame.columns) == union.get_feature_names_out().tolist()
    assert frame.shape[1] == 1 + union.transformer_list[1][1].n_terms_


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_behind_a_column_transformer(output):
    columns, score = mixed_columns()
    table = (pd if output == "pandas" else pl).DataFrame(columns)
    before = ColumnTransformer(
        [
            ("city", OrdinalEncoder(), ["city"]),
            ("numbers", StandardScaler(), ["age", "income"]),
        ],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform=output)
    pipeline = make_pipeline(before, RuleBoostingRegressor(4)).fit(table, score)
    rules = pipeline[-1]
    assert rules.feature_names_in_.tolist() == ["city", "age", "income", "member"]
    assert set(rules.ensemble_.used_features) <= {"city", "age", "income", "member"}
    assert "member" in " ".join(pipeline.get_feature_names_out())
    assert pipeline.score(table, score) > 0.5
    assert pipeline.transform(table).shape == (120, 4)


def test_chosen_columns_of_mixed_frames():
    _, table, score = mixed_model()
    numbers = make_column_selector(dtype_include="number")
    together = ColumnTransformer([("rules", RuleBoostingRegressor(2), numbers)])
    assert together.fit_transform(table, score).shape == (120, 2)
