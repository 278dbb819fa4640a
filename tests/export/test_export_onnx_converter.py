"""Pipelines with rule ensembles, converted by skl2onnx and run by onnxruntime."""

import subprocess
import sys

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skl2onnx
from exports import classifier, make_model, random_rows, regressor
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)
from skl2onnx.common.exceptions import MissingShapeCalculator
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from laconic import Condition, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.export import register_onnx_converters
from laconic.export.edge_rows import expected_outputs
from laconic.terms.slopes import Slope


@pytest.fixture(autouse=True, scope="module")
def _registered():
    register_onnx_converters()


def numeric_table(n_rows=10_000):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, 4))
    X[generator.random(X.shape) < 0.1] = np.nan
    X[:, 3] = np.round(X[:, 3], 1)
    y = np.nan_to_num(X[:, 0]) * 2 - (np.nan_to_num(X[:, 3]) > 0.3)
    return X, y


def run(made, feed):
    session = onnxruntime.InferenceSession(made.SerializeToString())
    return session.run(None, feed)


def test_classifier_in_a_pipeline():
    X, y = numeric_table()
    model = RuleBoostingClassifier(n_terms=5)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y > 0)
    made = skl2onnx.to_onnx(pipeline, X[:1], options={"zipmap": False})
    labels, probabilities = run(made, {"X": X})
    assert labels.tolist() == pipeline.predict(X).astype(int).tolist()
    np.testing.assert_allclose(probabilities, pipeline.predict_proba(X), rtol=1e-12)


def test_pipeline_in_single_precision():
    X, y = numeric_table()
    X = X.astype(np.float32)
    pipeline = make_pipeline(SimpleImputer(), RuleBoostingRegressor(n_terms=5)).fit(X, y)
    [predictions] = run(skl2onnx.to_onnx(pipeline, X[:1]), {"X": X})
    np.testing.assert_allclose(predictions.ravel(), pipeline.predict(X), rtol=1e-6)


def test_probabilities_by_class():
    X, y = numeric_table(100)
    model = RuleBoostingClassifier(n_terms=3).fit(X, np.where(y > 0, "high", "low"))
    made = skl2onnx.to_onnx(model, X[:1].astype(np.float32))
    X = X.astype(np.float32)
    labels, by_class = run(made, {"X": X})
    assert labels.tolist() == model.predict(X).tolist()
    expected = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose([row["low"] for row in by_class], expected, rtol=1e-6)


def test_classes_that_end_with_zero_characters():
    X, y = numeric_table(100)
    model = RuleBoostingClassifier(n_terms=1).fit(
        X, np.where(y > 0, "a", "b").astype(object) + "\0"
    )
    labels, _ = run(skl2onnx.to_onnx(model, X[:1], options={"zipmap": False}), {"X": X})
    assert labels.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_regressor_at_the_precision_of_its_input(dtype):
    X, y = numeric_table()
    model = RuleBoostingRegressor(n_terms=8, max_thresholds=None, time_limit=5, search="greedy")
    model.fit(X[:500], y[:500])
    X = X.astype(dtype)
    [predictions] = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})
    expected = model.predict(X)
    assert predictions.shape == (len(X), 1)
    # The rules are those of the model at any precision; single precision rounds their sum.
    assert predictions.ravel().tolist() == expected.astype(dtype).tolist()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slopes_in_a_pipeline(dtype):
    X, y = numeric_table()
    model = RuleBoostingRegressor(n_terms=3).fit(X, y)
    slopes = (Slope("x0", -1, 0.7, 1.9, missing=0.1), Slope("x3", 1e-300, 2, 1 + 1e-9))
    model.ensemble_ = model.ensemble_.with_terms((*model.ensemble_, *slopes))
    X = X.astype(dtype)
    [predictions] = run(skl2onnx.to_onnx(model, X[:1]), {"X": X})
    expected = model.ensemble_.raw_predictions(X)
    assert predictions.ravel().tolist() == expected.astype(dtype).tolist()


def test_columns_of_their_own_types():
    model = classifier()
    types = [
        ("unused", FloatTensorType([None, 1])),
        ("age", DoubleTensorType([None, 1])),
        ("mark", StringTensorType([None, 1])),
        ("flag", BooleanTensorType([None, 1])),
        ("grade", Int64TensorType([None, 1])),
        ("size", DoubleTensorType([None, 1])),
        ("seen", StringTensorType([None, 1])),
    ]
    rows = [
        row | {"flag": bool(row["flag"]), "grade": 3 if row["flag"] else 2, "seen": mark}
        for row, mark in zip(random_rows(model), ["", "a"] * 5_000, strict=True)
    ]
    frame = pd.DataFrame(rows).assign(unused=1.0)
    feed = {
        "unused": frame[["unused"]].to_numpy(np.float32),
        "age": frame[["age"]].to_numpy(float),
        "mark": frame[["mark"]].fillna("").to_numpy(object),
        "flag": frame[["flag"]].to_numpy(bool),
        "grade": frame[["grade"]].to_numpy(np.int64),
        "size": frame[["size"]].to_numpy(float),
        "seen": frame[["seen"]].to_numpy(object),
    }
    # Text that is "" is missing there.
    rows = [row | {name: row[name] or None for name in ("mark", "seen")} for row in rows]
    made = skl2onnx.convert_sklearn(model, initial_types=types, options={"zipmap": False})
    labels, probabilities = run(made, feed)
    expected = expected_outputs(model, rows)
    assert labels.tolist() == expected.predictions.tolist()
    np.testing.assert_allclose(probabilities[:, 1], expected.probabilities, rtol=1e-6)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ([("X", DoubleTensorType([None, 3]))], "the 7 columns .* Got 3"),
        ([("X", DoubleTensorType([None, 7]))], "'mark' must be a tensor of strings"),
        ([("X", StringTensorType([None, 7]))], "'age' must be a tensor of numbers"),
    ],
)
def test_columns_that_do_not_fit_are_refused(types, message):
    with pytest.raises(ValueError, match=message):
        skl2onnx.convert_sklearn(regressor(), initial_types=types)


def test_classes_between_whole_numbers_are_refused():
    model = make_model([((Condition("x", ">", 1.0),), 1.0)], classes=(0.5, 1.5))
    types = [("X", DoubleTensorType([None, 1]))]
    with pytest.raises(ValueError, match=r"Got the class 0\.5"):
        skl2onnx.convert_sklearn(model, initial_types=types, options={id(model): {"zipmap": False}})


def test_text_that_stands_for_missing_values_is_no_category():
    model = make_model([((Condition("x", "==", ""),), 1.0)])
    with pytest.raises(ValueError, match="'missing_text' must be a text that no condition"):
        skl2onnx.convert_sklearn(model, initial_types=[("X", StringTensorType([None, 1]))])


def test_estimators_that_are_imported_later_are_converted_too():
    script = """
import sys
from laconic.export import register_onnx_converters
register_onnx_converters()
assert "laconic.estimators" not in sys.modules
import numpy as np
import skl2onnx
from laconic import RuleBoostingRegressor
X = np.array([[1.0], [2.0]])
made = skl2onnx.to_onnx(RuleBoostingRegressor(1).fit(X, [1, 2]), X)
print(made.graph.output[0].name)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "variable\n", done.stderr


def test_subclasses_need_a_converter_of_their_own():
    class Doubled(RuleBoostingRegressor):
        def predict(self, X):
            return 2 * super().predict(X)

    model = Doubled(n_terms=1).fit([[1.0], [2.0]], [1, 2])
    with pytest.raises(MissingShapeCalculator):
        skl2onnx.to_onnx(model, np.array([[1.0]]))
