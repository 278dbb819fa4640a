"""The comparison of exports with the model: its rows are the hard ones, and it does fail."""

import math

import numpy as np
import pytest
from exports import MODELS, classifier, make_model, regressor

from laconic import Condition
from laconic.export import to_onnx, to_python, to_sql
from laconic.export.edge_rows import Outputs, check_outputs, edge_rows, expected_outputs
from laconic.export.onnx import model as onnx_model
from laconic.export.portable import portable_model
from laconic.export.program import functions
from laconic.export.sql import terms


def rows_and_expected(model):
    rows = edge_rows(portable_model(model))
    return rows, expected_outputs(model, rows)


def test_rows_meet_every_threshold_from_both_sides():
    model = make_model([((Condition("x", ">", 0.1),), 1.0)])
    cells = [row["x"] for row in edge_rows(portable_model(model))]
    below, above = math.nextafter(0.1, 0), math.nextafter(0.1, 1)
    assert {0.1, below, above, 5e-324, 2**53 + 1, None} <= set(cells)
    assert any(cell != cell for cell in cells)
    assert any(cell == 0 and math.copysign(1, cell) < 0 for cell in cells if cell is not None)


@pytest.mark.parametrize("name", MODELS)
def test_every_term_covers_some_rows_and_spares_others(name):
    model = MODELS[name]
    _, expected = rows_and_expected(model)
    is_always = [term.n_conditions == 0 for term in model.ensemble_]
    assert expected.covered.any(axis=0).all()
    assert (expected.covered.all(axis=0) == is_always).all()


def test_outputs_are_those_of_the_estimators():
    for model in (classifier(), regressor()):
        rows, expected = rows_and_expected(model)
        X = [[row.get(name) for name in model.ensemble_.feature_names] for row in rows]
        X = np.array(X, dtype=object)
        del model.feature_names_in_
        assert expected.predictions.tolist() == model.predict(X).tolist()
        if hasattr(model, "classes_"):
            assert expected.raw_predictions.tolist() == model.decision_function(X).tolist()
            assert expected.probabilities.tolist() == model.predict_proba(X)[:, 1].tolist()


CHANGES = {
    "raw_predictions": ("raw prediction", lambda number: np.nextafter(number, 9)),
    "predictions": ("class", lambda name: "yes" if name == "no" else "no"),
    "probabilities": ("probability", lambda number: number * (1 + 1e-11)),
    "covered": ("coverage", np.logical_not),
}


@pytest.mark.parametrize("part", CHANGES)
def test_a_single_difference_is_an_error(part):
    rows, expected = rows_and_expected(classifier())
    parts = {name: each.copy() for name, each in vars(expected).items() if each is not None}
    check_outputs("nothing", rows, expected, Outputs(**parts))
    word, change = CHANGES[part]
    parts[part][3] = change(parts[part][3])
    with pytest.raises(RuntimeError, match=rf"not for the row .* the {word} must be .* report"):
        check_outputs("nothing", rows, expected, Outputs(**parts))


def test_numbers_are_compared_too():
    rows, expected = rows_and_expected(regressor())
    actual = Outputs(expected.raw_predictions, expected.predictions * (1 + 1e-11))
    with pytest.raises(RuntimeError, match="must predict what the model predicts"):
        check_outputs("nothing", rows, expected, actual)


def test_exports_with_a_defect_are_not_handed_out(monkeypatch):
    model = classifier()
    with monkeypatch.context() as patch:
        # NaN is larger than all numbers then.
        patch.setattr(terms, "_WITHOUT_NAN", {"sqlite", "duckdb"})
        to_sql(model, "postgres")
        with pytest.raises(RuntimeError, match="run in DuckDB"):
            to_sql(model, "duckdb")
    with monkeypatch.context() as patch:
        patch.setattr(onnx_model, "MISSING_CODE", -2)
        with pytest.raises(RuntimeError, match="export to ONNX"):
            to_onnx(model)
    with monkeypatch.context() as patch:
        data = functions.program_data
        patch.setattr(functions, "program_data", lambda model: {**data(model), "intercept": 0.0})
        with pytest.raises(RuntimeError, match="export to Python"):
            to_python(model)
