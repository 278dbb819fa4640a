"""Intervals and sets in SQL, Python and JavaScript are those of the model, on edge rows."""

import copy
import json
import math
import re
import sqlite3

import numpy as np
import pytest
from exports import (
    CLASS_SLOPES,
    MODELS,
    fitted_classifier,
    fitted_regressor,
    many_classes,
    mixed_table,
    rows_and_outputs,
)
from test_export_javascript import NAN, needs_node, run_node

from laconic import RuleBoostingRegressor
from laconic.export import to_javascript, to_onnx, to_python, to_sql
from laconic.export.edge_rows import check_outputs, edge_rows, expected_outputs
from laconic.export.portable import portable_model
from laconic.export.program.functions import run_python
from laconic.export.sql.statement import run_duckdb, run_sqlite, select_for_checks
from laconic.trust import Intervals, Trust

LEVEL = 0.9


def calibrated(model, *, is_bounded=True):
    """Give a model that was put together intervals for its own range of predictions."""
    model = copy.copy(model)
    classes = model.task_.labels
    _, outputs = rows_and_outputs(model, 200)
    if classes is not None:
        least = [0.0, 0.125, 1 / 3][: len(classes)] if is_bounded else [0.0] * len(classes)
        least = [each + 0.01 * place for place, each in enumerate(least)] if is_bounded else least
        counts = (40,) * len(classes)
        intervals = Intervals(
            *(LEVEL, "cv", 40 * len(classes)),
            least_probabilities=tuple(least),
            counts=counts,
            classes=tuple(classes),
        )
    else:
        values = np.unique(outputs.predictions[np.abs(outputs.predictions) < 1e300])
        middles = values[1:] / 2 + values[:-1] / 2
        edges = np.unique(middles[:: max(1, len(middles) // 4)]) if is_bounded else []
        widths = [0.1 * (place + 1) / 3 for place in range(len(edges))] + [math.inf]
        intervals = Intervals(
            *(LEVEL, "split", 40 * len(widths)),
            tuple(map(float, edges)),
            tuple(widths),
            counts=(40,) * len(widths),
        )
    model.trust_ = Trust(model.ensemble_, intervals=intervals)
    return model


def has_intervals(name):
    # Squares estimate no probabilities, and numbers with log odds have no intervals.
    return name not in ("classifier by squares", "logistic regressor")


CALIBRATED = {name: calibrated(MODELS[name]) for name in MODELS if has_intervals(name)} | {
    "many classes": calibrated(many_classes(*CLASS_SLOPES)),
    "without bounds": calibrated(MODELS["counts"], is_bounded=False),
    "classes without bounds": calibrated(MODELS["classifier"], is_bounded=False),
}
EACH = pytest.mark.parametrize("name", CALIBRATED)


@EACH
def test_python_has_the_same(name):
    model = CALIBRATED[name]
    rows, expected = rows_and_outputs(model, 2000)
    actual = run_python(to_python(model), rows)
    assert actual.intervals is not None
    check_outputs("Python", rows, expected, actual)


@EACH
@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
def test_databases_have_the_same(name, run):
    compare_in_database(name, run, keeps_all=False)


@pytest.mark.parametrize("name", ["regressor with slopes", "counts", "classifier", "many classes"])
@pytest.mark.parametrize("run", [run_sqlite, run_duckdb])
def test_databases_have_the_same_beside_all_columns(name, run):
    compare_in_database(name, run, keeps_all=True)


def compare_in_database(name, run, *, keeps_all):
    model = CALIBRATED[name]
    rows, expected = rows_and_outputs(model, 500)
    portable = portable_model(model)
    select = select_for_checks(portable, run.__name__.removeprefix("run_"), keeps_all=keeps_all)
    actual = run(portable, select, rows)
    assert actual.intervals is not None
    check_outputs("SQL", rows, expected, actual)


RUNNER = """
const { predict } = require("./model.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf8"),
                        (key, value) => (value?.isNaN ? NaN : value));
const ends = (row) => predict.interval(row).map(String);
const { classes } = predict.model;
const set = (row) => classes.map((label) => predict.set(row).includes(label));
process.stdout.write(JSON.stringify(rows.map(predict.interval ? ends : set)));
"""


@needs_node
@EACH
def test_node_has_the_same(name, tmp_path):
    model = CALIBRATED[name]
    rows, expected = rows_and_outputs(model, 2000)
    cells = [{key: cell if cell == cell else NAN for key, cell in row.items()} for row in rows]
    (tmp_path / "rows.json").write_text(json.dumps(cells), "utf-8")
    (tmp_path / "model.js").write_text(to_javascript(model), "utf-8")
    found = json.loads(run_node(RUNNER, tmp_path))
    if model.task_.labels is not None:
        np.testing.assert_array_equal(found, expected.intervals)
        return
    limits = np.array([[float(each.replace("Infinity", "inf")) for each in ends] for ends in found])
    np.testing.assert_allclose(limits, expected.intervals, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("change", ["half_widths", "least_probabilities"])
def test_a_difference_is_noticed(change):
    name = "regressor" if change == "half_widths" else "classifier"
    model = CALIBRATED[name]
    rows = edge_rows(portable_model(model))
    source = to_python(model)
    words = re.search(rf"'{change}': \[", source)
    place = words.end()
    wrong = f"{source[:place]}0.2 + {source[place:]}"
    with pytest.raises(RuntimeError, match="the interval must be"):
        check_outputs("Python", rows, expected_outputs(model, rows), run_python(wrong, rows))


def test_models_without_intervals_are_written_as_before():
    model = fitted_regressor()
    for write in (to_python, to_javascript, lambda model: to_sql(model, "duckdb", table="t")):
        before = write(model)
        assert "interval" not in before.lower() or write is to_python
        other = copy.copy(model)
        other.trust_ = Trust(model.ensemble_.with_terms(()), intervals=_single())
        # Those of another ensemble do not count.
        assert write(other) == before
        other.trust_ = Trust(model.ensemble_, intervals=_single())
        assert write(other) != before
    assert "predict_interval" not in to_python(model)
    assert to_onnx(other) == to_onnx(model)


def _single():
    return Intervals(LEVEL, "cv", 20, half_widths=(1.5,), counts=(20,))


def test_sql_of_a_fitted_model():
    X = mixed_table()
    y = X["count"].to_numpy() / 3 + X["flag"].to_numpy()
    model = fitted_regressor()
    model.conformalize(X, y, cv=3)
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE t ("size [cm]" REAL, "grün" TEXT, "flag" INT, "count" INT)')
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", X.rows())
    sql = to_sql(model, "sqlite", table="t", keep=["count"])
    cursor = connection.execute(sql)
    names = [each[0] for each in cursor.description]
    assert names == ["count", "raw_prediction", "prediction", "lower", "upper"]
    limits = np.array([row[-2:] for row in cursor.fetchall()])
    np.testing.assert_array_equal(limits, model.predict_interval(X))
    for place, end in enumerate(("lower", "upper")):
        expression = to_sql(model, "sqlite", output=end)
        found = connection.execute(f"SELECT {expression} FROM t").fetchall()
        np.testing.assert_array_equal(np.array(found)[:, 0], limits[:, place])
    with pytest.raises(ValueError, match="'output' of this model must be one of"):
        to_sql(fitted_regressor(), "sqlite", output="lower")


def test_sql_of_classes():
    X = mixed_table()
    y = np.array(["no", "yes"])[
        ((X["count"].to_numpy() > 2) ^ (X["grün"].to_numpy() == "ja")).astype(int)
    ]
    model = fitted_classifier()
    model.conformalize(X, y, cv=3)
    sql = to_sql(model, "duckdb", table="t")
    assert [*re.findall(r'AS "(in_set_\d)"', sql)] == ["in_set_1", "in_set_2"]


def test_rates_are_not_below_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = rng.poisson(np.exp(X[:, 0] > 0))
    model = RuleBoostingRegressor(2, loss="poisson").fit(X, y)
    model.conformalize(X, y, cv=3)
    module = {}
    exec(to_python(model), module)
    for row, limits in zip(X[:20], model.predict_interval(X[:20]), strict=True):
        found = module["predict_interval"](dict(zip(["x0", "x1"], row.tolist(), strict=True)))
        np.testing.assert_allclose(found, limits, rtol=1e-12)
