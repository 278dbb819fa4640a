"""Exports to ONNX, checked by onnx and run by onnxruntime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from exports import (
    CLASS_SLOPES,
    MODELS,
    classifier,
    dated_slopes,
    make_model,
    many_classes,
    regressor,
    rows_and_outputs,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic import Condition, RuleBoostingClassifier
from laconic.export import to_onnx
from laconic.export.edge_rows import check_outputs, expected_outputs
from laconic.export.onnx.model import as_single, run_onnx
from laconic.export.portable import portable_model
from laconic.terms.slopes import Slope

NUMERIC_RULES = [
    ((Condition("a", ">", 0.1), Condition("b", "<=", 1 / 3)), 1.25),
    ((Condition("a", "is missing"),), 0.1),
    ((Condition("b", "!=", 2),), -1 / 3),
    ((Condition("flag", "==", True),), 0.7),
    ((Condition("flag", "is present"), Condition("c", "is present")), 0.01),
]
NUMERIC_NAMES = ("a", "unused", "b", "flag", "c")


NUMERIC_SLOPES = [
    Slope("a", -0.1, 1 / 3, 1.7, missing=0.1),
    Slope("b", 0, 1e-300, 1e299),
    Slope("c", -1, 3, 1 + 1e-9, missing=2),
    Slope("c", 1e-300, 2, -0.1),
]


def numeric_model(**settings):
    return make_model([*NUMERIC_RULES, *NUMERIC_SLOPES], feature_names=NUMERIC_NAMES, **settings)


ONNX_MODELS = {**MODELS, "many classes with slopes": many_classes(*CLASS_SLOPES)}


@pytest.mark.parametrize("name", ONNX_MODELS)
def test_the_runtime_predicts_the_same(name):
    model = ONNX_MODELS[name]
    rows, expected = rows_and_outputs(model)
    # A text of the model stands for a missing value by default.
    made = to_onnx(model, term_columns=True, missing_text="(missing)")
    onnx.checker.check_model(made, full_check=True)
    actual = run_onnx(portable_model(model), made, rows, "(missing)")
    check_outputs("ONNX", rows, expected, actual)


@pytest.mark.parametrize("name", MODELS)
def test_the_graph_has_nothing_that_is_not_used(name):
    graph = to_onnx(MODELS[name], missing_text="(missing)").graph
    used = {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
    assert {constant.name for constant in graph.initializer} <= used
    assert {name for node in graph.node for name in node.output} <= used


@pytest.mark.parametrize("classes", [None, (0, 1), ("a", "b"), (0.5, 1.5), (False, True)])
@pytest.mark.parametrize("numbers", ["double", "float"])
@pytest.mark.parametrize("inputs", ["tensor", "columns"])
def test_tensors_of_either_precision(inputs, numbers, classes):
    model = numeric_model(classes=classes)
    rows, _ = rows_and_outputs(model)
    if numbers == "float":
        rows = [{name: as_single(cell) for name, cell in row.items()} for row in rows]
    made = to_onnx(model, inputs=inputs, numbers=numbers)
    actual = run_onnx(portable_model(model), made, rows)
    check_outputs("ONNX", rows, expected_outputs(model, rows), actual)
    assert actual.predictions.dtype == (
        object
        if classes == ("a", "b")
        else np.dtype(float if classes is None else type(classes[0]))
    )


def test_inputs_have_the_names_of_columns():
    made = to_onnx(classifier())
    session = onnxruntime.InferenceSession(made.SerializeToString())
    types = {given.name: given.type for given in session.get_inputs()}
    number = "tensor(double)"
    assert types == dict.fromkeys(["age", "flag", "grade", "size", "seen"], number) | {
        "mark": "tensor(string)"
    }
    outputs = {given.name: (given.type, given.shape) for given in session.get_outputs()}
    assert outputs == {
        "raw_prediction": ("tensor(double)", ["n_rows"]),
        "prediction": ("tensor(string)", ["n_rows"]),
        "probabilities": ("tensor(double)", ["n_rows", 2]),
    }


def test_numbers_come_as_one_tensor_of_the_training_columns():
    made = to_onnx(numeric_model())
    session = onnxruntime.InferenceSession(made.SerializeToString())
    [given] = session.get_inputs()
    assert (given.name, given.type, given.shape) == ("X", "tensor(double)", ["n_rows", 5])
    X = np.array([[1.0, 2.0, 0.3, 1.0, np.nan], [np.nan, 1.0, 2.0, 0.0, 1.0]])
    [prediction] = session.run(["prediction"], {"X": X})
    model = numeric_model()
    assert prediction.tolist() == model.ensemble_.raw_predictions(X).tolist()


def test_a_slope_is_flat_up_to_infinity():
    made = to_onnx(make_model([Slope("x", 1, 3, 0.5, missing=2)]))
    session = onnxruntime.InferenceSession(made.SerializeToString())
    [prediction] = session.run(["prediction"], {"X": np.array([[np.inf], [-np.inf], [np.nan]])})
    assert prediction.tolist() == [1.0, 0.0, 0.5]


def test_slopes_of_times_are_refused():
    with pytest.raises(ValueError, match="Got terms that use dates in 'day'"):
        to_onnx(dated_slopes())


def test_infinities_compare_as_numbers():
    made = to_onnx(make_model([((Condition("x", ">", 3),), 1.0)]))
    session = onnxruntime.InferenceSession(made.SerializeToString())
    [prediction] = session.run(["prediction"], {"X": np.array([[np.inf], [-np.inf], [np.nan]])})
    assert prediction.tolist() == [1.0, 0.0, 0.0]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.floats(-1e9, 1e9),
            st.sampled_from(["<=", ">", "==", "!="]),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["double", "float"]),
)
def test_any_threshold_and_weight(rules, numbers):
    model = make_model([((Condition("x", r, t),), weight) for t, weight, r in rules])
    to_onnx(model, numbers=numbers)  # compares at every threshold and next to it


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        (classifier(), {"inputs": "tensor"}, "terms that use text in 'mark'"),
        (classifier(), {"inputs": "rows"}, "must be 'auto', 'columns' or 'tensor'"),
        (classifier(), {"numbers": "half"}, "must be 'double' or 'float'"),
        (classifier(), {"missing_text": "x"}, "Got 'x', which 'mark == x' does"),
        (
            make_model([((Condition("prediction", "==", "a"),), 1.0)]),
            {},
            "Got a column 'prediction'",
        ),
    ],
)
def test_wrong_calls_are_refused(model, settings, message):
    with pytest.raises(ValueError, match=message):
        to_onnx(model, **settings)


def test_missing_text_is_text():
    with pytest.raises(TypeError, match="'missing_text' must be a str"):
        to_onnx(regressor(), missing_text=None)


def test_classes_that_end_with_zero_characters():
    labels = np.array(["a\x00", "b"] * 10, dtype=object)
    model = RuleBoostingClassifier(n_terms=1).fit([[0], [1]] * 10, labels)
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    (found,) = session.run(["prediction"], {"X": np.array([[0.0], [1.0]])})
    assert found.tolist() == ["a\x00", "b"]
