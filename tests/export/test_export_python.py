"""Python exports, run by themselves."""

import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from exports import (
    CLASS_SLOPES,
    MODELS,
    classifier,
    dated_model,
    dated_slopes,
    duration_slopes,
    make_model,
    many_classes,
    rows_and_outputs,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

from laconic import Condition, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.export import to_python
from laconic.export.edge_rows import check_outputs
from laconic.export.program.functions import run_python

ROW = {"age": 70, "mark": "x", "flag": True, "grade": 3, "size": 1.0, "seen": 1}
MOMENTS = (
    *(date(1968, 2, 29), datetime(2024, 3, 1, tzinfo=UTC), time(12, 30), timedelta(-1)),
    *(np.datetime64("2024-03-01"), np.timedelta64(0, "s"), pd.Timestamp(0), pd.Timedelta(0)),
)
NO_MOMENTS = (pd.NaT, np.datetime64("NaT", "s"), np.timedelta64("NaT", "s"))


def predictor(model):
    module = {}
    exec(to_python(model), module)
    return module["predict"]


@pytest.mark.parametrize("name", MODELS)
def test_the_function_predicts_the_same(name):
    model = MODELS[name]
    rows, expected = rows_and_outputs(model)
    check_outputs("Python", rows, expected, run_python(to_python(model), rows))


@pytest.mark.parametrize(
    "model", [dated_model(), dated_slopes(), duration_slopes(), many_classes(*CLASS_SLOPES)]
)
def test_dates_and_many_classes(model):
    rows, expected = rows_and_outputs(model)
    check_outputs("Python", rows, expected, run_python(to_python(model), rows))


def test_contributions_add_up():
    model = MODELS["regressor with slopes"]
    rows, _ = rows_and_outputs(model, 3)
    values = model.ensemble_.values(
        [[row.get(n) for n in model.ensemble_.feature_names] for row in rows]
    )
    weights = [term.weight for term in model.ensemble_]
    results = [predictor(model)(row) for row in rows]
    assert [result["contributions"] for result in results] == (values * weights).tolist()


@pytest.mark.parametrize("relation", ["is missing", "is present"])
@pytest.mark.parametrize("moment", MOMENTS, ids=repr)
def test_times_of_which_rules_only_ask_whether_they_are_there(moment, relation):
    """Such a column was once refused: it holds neither text nor numbers."""
    X = pd.DataFrame({"day": [None if n % 3 else moment for n in range(12)]})
    model = make_model([((Condition("day", relation),), 1.0)])
    predict = predictor(model)
    assert [predict({"day": cell})["prediction"] for cell in X["day"]] == model.predict(X).tolist()


def test_the_module_needs_nothing_but_python(tmp_path):
    (tmp_path / "model.py").write_text(to_python(MODELS["hostile"]), "utf-8")
    script = (
        "import sys, model\n"
        "row = {feature['name']: None for feature in model.MODEL['features']}\n"
        "print(model.predict(row)['prediction'])\n"
        "print('numpy' in sys.modules or 'laconic' in sys.modules)\n"
    )
    # -S leaves out the installed packages.
    command = [sys.executable, "-S", "-c", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == 'it\'s a "no"; --\nFalse\n'


@pytest.mark.parametrize(
    ("cells", "same"),
    [
        ({"age": float("nan")}, {"age": None}),
        ({"age": np.float32("nan")}, {"age": None}),
        ({"age": pd.NA}, {"age": None}),
        ({"mark": float("nan")}, {"mark": None}),
        ({"age": Decimal("NaN")}, {"age": None}),
        ({"flag": np.True_}, {"flag": True}),
        ({"flag": 0}, {"flag": False}),
        ({"grade": np.int64(3)}, {"grade": 3.0}),
        ({"size": Decimal("0.1")}, {"size": 0.1}),
        ({"size": Fraction(1, 3)}, {"size": 1 / 3}),
        ({"size": 2**53 + 1}, {"size": 2.0**53}),
        ({"mark": np.str_("x")}, {"mark": "x"}),
        ({"seen": "text"}, {"seen": 1}),
        *(({"seen": moment}, {"seen": 1}) for moment in MOMENTS),
        *(({"seen": moment}, {"seen": None}) for moment in NO_MOMENTS),
    ],
)
def test_cells_of_every_type(cells, same):
    predict = predictor(classifier())
    assert predict(ROW | cells) == predict(ROW | same)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_rows_of_frames_and_their_categoricals(frame):
    X = frame({"unused": ["a", "b"]} | {name: [value, None] for name, value in ROW.items()})
    if frame is pd.DataFrame:
        X = X.astype({"mark": "category", "flag": "boolean", "grade": "Int64"})
        rows = [row for _, row in X.iterrows()]
    else:
        X = X.with_columns(pl.col("mark").cast(pl.Categorical))
        rows = X.to_dicts()
    model = classifier()
    predict = predictor(model)
    assert [predict(row)["prediction"] for row in rows] == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("cells", "error", "message"),
    [
        ({"age": float("inf")}, ValueError, "Column 'age' contains infinity"),
        ({"age": "70"}, TypeError, "Column 'age' must hold numbers or booleans. Got .* type str"),
        ({"mark": 3}, TypeError, "Column 'mark' must hold text. Got a value of type int"),
        ({"seen": [1]}, TypeError, "Column 'seen' must hold text, numbers or times"),
    ],
)
def test_wrong_cells_are_refused(cells, error, message):
    with pytest.raises(error, match=message):
        predictor(classifier())(ROW | cells)


def test_missing_columns_are_refused():
    with pytest.raises(KeyError, match="must have the column 'age'"):
        predictor(classifier())({})


def test_only_fitted_rule_models_with_a_named_loss_are_exported():
    with pytest.raises(TypeError, match=r"Got Pipeline\. .*pipeline\[-1\]"):
        to_python(make_pipeline(classifier()))
    with pytest.raises(ValueError, match="must have one of the losses 'logistic', 'multinomial', "):
        to_python(classifier(loss=object()))
    both = [((Condition("x", "==", "a"),), 1.0), ((Condition("x", ">", 1),), 1.0)]
    with pytest.raises(ValueError, match="Those of 'x' do both"):
        to_python(make_model(both))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.floats(-1e9, 1e9),
            st.booleans(),
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_any_threshold_and_weight(rules):
    model = make_model(
        [((Condition("x", "<=" if low else ">", t),), weight) for t, weight, low in rules]
    )
    to_python(model)  # compares at every threshold and next to it


def test_texts_of_numpy_are_written_as_texts():
    name, relation, value = np.array(["x", "==", "a"])
    source = to_python(make_model([((Condition(name, relation, value),), 1.0)]))
    assert "np." not in source


def test_a_fitted_model():
    X = [[1, "a"], [2, "a"], [3, "b"], [4, None]]
    model = RuleBoostingRegressor(n_terms=3).fit(X, [5, 5, 1, 2])
    predict = predictor(model)
    rows = [dict(zip(("x0", "x1"), row, strict=True)) for row in X]
    assert [predict(row)["prediction"] for row in rows] == model.predict(X).tolist()


def test_classes_that_end_with_zero_characters():
    labels = np.array(["a\x00", "b"] * 10, dtype=object)
    model = RuleBoostingClassifier(n_terms=1).fit([[0], [1]] * 10, labels)
    assert predictor(model)({"x0": 0})["prediction"] == "a\x00"
