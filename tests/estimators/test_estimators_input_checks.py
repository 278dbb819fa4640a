"""The estimators: what they refuse, and how."""

import re
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from estimators import ESTIMATORS, both, numeric_problem
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.losses import SquaredLoss


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
        ([[np.inf], [1]], [0, 1], ValueError, "'x0' contains infinity"),
        ([[1], ["a"]], [0, 1], TypeError, "'x0' must hold either strings or numbers"),
        (np.array([[1j], [2]]), [0, 1], ValueError, "Complex data not supported"),
        (
            pl.DataFrame({"days": [[1], [2]]}),
            [0, 1],
            TypeError,
            "'days' must hold numbers, booleans, strings, dates or times. Got dtype List",
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
        ([[1], [2]], np.ma.array([0, 1], mask=[0, 1]), ValueError, "Got a masked one at row 1"),
        (
            [[1], [2]],
            np.array([1j, 1]),
            ValueError,
            "the target y must hold real numbers or classes",
        ),
        ([[10**400], [2]], [0, 1], ValueError, "Column 'x0' must hold numbers below 1.8e308"),
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
        ([0.5, 1.5, 2.5], "Unknown label type: continuous.* Use RuleBoostingRegressor"),
        (["a", "b", None], "Input y contains None at row 2, but every row needs a class"),
        ([None, "b", "a"], "Input y contains None at row 0"),
        (pl.Series(["a", None, "b"]), "Input y contains None at row 1"),
        (pd.Series(["a", None, "b"]), "Input y contains (NaN|None) at row 1, but every row needs"),
        (pd.Series(["a", None, "b"], dtype="category"), "Input y contains NaN at row 1"),
        (pd.Series(["a", "b", None], dtype="string"), "Input y contains NaN at row 2"),
        (np.array(["a", np.nan, "b"], dtype=object), "Input y contains NaN at row 1"),
        (["a", "a", np.nan], "Input y contains NaN at row 2"),
        (("a", np.nan, "a"), "Input y contains NaN at row 1"),
        (pd.Series([1, None, 0], dtype="Int64"), "Input y contains NaN"),
        (np.array([1, "a", 1], dtype=object), "of one type. Got 1 as well as the text 'a'"),
        (np.array([True, 2, 2], dtype=object), "must be texts, .* all of one type. Got True"),
        ([2**70, 2**70 + 1, 0], "must be texts, .* of 64 bits, .* Got 1180591620717411303424"),
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
        "Use RuleBoostingClassifier for classes"
    )
    with pytest.raises(ValueError, match=match):
        RuleBoostingRegressor().fit([[1], [2]], as_target(["sick", "well"]))


@pytest.mark.parametrize(
    ("y", "error", "match"),
    [
        ([date(2024, 1, 1), date(2024, 1, 2)], TypeError, "must hold numbers. Got date. Convert"),
        (np.array(["2024-01-01", "2024-01-02"], "M8[D]"), TypeError, "Got datetime64. Convert"),
        (pd.Series([pd.Timedelta("1h")] * 2), TypeError, "Got timedelta64. Convert"),
        ([10**400, 1], ValueError, "must hold numbers. Got a number larger than 1.8e308"),
    ],
)
def test_target_of_a_regressor_without_numbers(y, error, match):
    with pytest.raises(error, match=match):
        RuleBoostingRegressor().fit([[1], [2]], y)


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
        (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), "'sample_weight'.* a masked one at row 1"),
    ],
)
def test_bad_weights(task, weights, match):
    with pytest.raises(ValueError, match=match):
        ESTIMATORS[task]().fit([[1], [2], [3]], [0, 1, 1], weights)


def test_weights_that_leave_one_class():
    with pytest.raises(
        ValueError, match=r"Got 1 class: \[1\]. Add rows of another class; those of weight 0"
    ):
        RuleBoostingClassifier().fit([[1], [2], [3]], [0, 1, 1], [0, 1, 1])


@both
@pytest.mark.parametrize(
    ("name", "value", "requirement"),
    [
        ("n_terms", 0, "an int in the range [1, inf) or 'auto'"),
        ("n_terms", 2.0, "an int in the range [1, inf) or 'auto'"),
        ("n_terms", True, "an int in the range [1, inf) or 'auto'"),
        ("n_terms", "many", "an int in the range [1, inf) or 'auto'"),
        ("n_terms", None, "an int in the range [1, inf) or 'auto'"),
        ("slopes", "yes", "a bool"),
        ("slopes", 1, "a bool"),
        ("brevity", -0.5, "a float in the range [0, inf)"),
        ("brevity", "auto", "a float in the range [0, inf)"),
        ("brevity", float("nan"), "a float in the range [0, inf)"),
        ("loss", "Huber", "or an object with the methods of laconic.losses.Loss"),
        ("strategy", "Joint", "a str among {'joint', 'stagewise', 'polished', 'global'}"),
        ("strategy", None, "a str among {'joint', 'stagewise', 'polished', 'global'}"),
        ("l2_regularization", -1, "a float in the range [0, inf) or 'auto'"),
        ("l2_regularization", "Auto", "a float in the range [0, inf) or 'auto'"),
        ("l2_regularization", float("nan"), "a float in the range [0, inf) or 'auto'"),
        ("l2_regularization", float("inf"), "a float in the range [0, inf) or 'auto'"),
        ("l2_regularization", "1", "a float in the range [0, inf) or 'auto'"),
        ("search", "fast", "a str among {'optimal', 'greedy', 'beam', 'reference'}"),
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
        ("categories", "set", "a str among {'values', 'equal', 'sets'}"),
        ("categorical_features", {"x": "sorted"}, "'nominal' or 'ordered', or None"),
        ("categorical_features", {"x": ["ordered"]}, "'nominal' or 'ordered', or None"),
        ("categorical_features", 0, "'nominal' or 'ordered', or None"),
        ("date_parts", [["year"]], "'hour'} or None"),
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


@pytest.mark.parametrize("limit", [2**62, 2**63, 10**20])
def test_limits_on_conditions_may_be_any_whole_number(limit):
    X, y = [[1], [2], [3], [4]], [0, 0, 1, 1]
    expected = RuleBoostingClassifier(max_conditions=4).fit(X, y)
    assert RuleBoostingClassifier(max_conditions=limit).fit(X, y).ensemble_ == expected.ensemble_


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
