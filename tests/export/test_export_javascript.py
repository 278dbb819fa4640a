"""JavaScript exports, run by Node.js."""

import json
import shutil
import subprocess
from datetime import date, time, timedelta

import numpy as np
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

from laconic import Condition
from laconic.export import to_javascript
from laconic.export.edge_rows import Outputs, check_outputs

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node.js: install the package nodejs")

NAN = {"isNaN": True}
RUNNER = """
const { predict } = require("./model.js");
const text = require("fs").readFileSync("rows.json", "utf8");
const rows = JSON.parse(text, (key, value) => (value?.isNaN ? NaN : value));
process.stdout.write(JSON.stringify(rows.map((row) => predict(row))));
"""


def run_node(script, folder):
    done = subprocess.run(
        [NODE, "-e", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def outputs_of_node(model, rows, folder):
    (folder / "model.js").write_text(to_javascript(model), "utf-8")
    # JSON has no NaN.
    cells = [{name: cell if cell == cell else NAN for name, cell in row.items()} for row in rows]
    (folder / "rows.json").write_text(json.dumps(cells, allow_nan=False), "utf-8")
    results = json.loads(run_node(RUNNER, folder))
    n_classes = len(model.classes_) if hasattr(model, "classes_") else 0
    probabilities = np.array([result["probabilities"] for result in results])
    return Outputs(
        np.array([result["rawPrediction"] for result in results]),
        np.array([result["prediction"] for result in results]),
        {0: None, 2: probabilities.T[-1]}.get(n_classes, probabilities),
        np.array([result["covered"] for result in results], dtype=bool).reshape(len(rows), -1),
    )


def as_script(cell):
    """Return a cell as scripts take it: times as text, durations as seconds."""
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    return str(cell) if isinstance(cell, date | time) else cell


@needs_node
@pytest.mark.parametrize("name", MODELS)
def test_node_predicts_the_same(name, tmp_path):
    model = MODELS[name]
    rows, expected = rows_and_outputs(model)
    check_outputs("JavaScript", rows, expected, outputs_of_node(model, rows, tmp_path))


@needs_node
@pytest.mark.parametrize(
    "model", [dated_model(), dated_slopes(), duration_slopes(), many_classes(*CLASS_SLOPES)]
)
def test_dates_and_many_classes(model, tmp_path):
    rows, expected = rows_and_outputs(model)
    texts = [{name: as_script(cell) for name, cell in row.items()} for row in rows]
    check_outputs("JavaScript", rows, expected, outputs_of_node(model, texts, tmp_path))


@needs_node
@pytest.mark.parametrize("text", ["2024-02-30", "2024-13-01", "2024-03-01 24:00", "soon"])
def test_texts_that_are_no_dates_are_refused(text, tmp_path):
    (tmp_path / "model.js").write_text(to_javascript(dated_model()), "utf-8")
    script = f"""
    const {{ predict }} = require("./model.js");
    const row = {{ day: null, seen: "{text}", clock: null }};
    try {{ predict(row); }} catch (error) {{ console.log(String(error)); }}
    """
    assert f'Column "seen" must hold dates. Got "{text}"' in run_node(script, tmp_path)


@needs_node
def test_cells_of_every_type(tmp_path):
    (tmp_path / "model.js").write_text(to_javascript(classifier()), "utf-8")
    script = """
    const { predict } = require("./model.js");
    const row = { age: 70, mark: "x", flag: true, grade: 3, size: 1, seen: "here" };
    const raw = (cells) => predict({ ...row, ...cells }).rawPrediction;
    const same = (a, b) => console.log(Object.is(raw(a), raw(b)));
    const differ = (a, b) => console.log(!Object.is(raw(a), raw(b)));
    same({ age: NaN }, { age: null });
    same({ age: undefined }, { age: null });
    same({ mark: NaN }, { mark: null });
    same({ flag: 1 }, { flag: true });
    same({ flag: 0n }, { flag: false });
    same({ size: -0 }, { size: 0 });
    same({ size: 9007199254740993n }, { size: 9007199254740992 });
    same({ seen: 5 }, { seen: "" });
    same({ seen: new Date() }, { seen: "" });
    same({ seen: new Date("no date") }, { seen: null });
    differ({ seen: NaN }, { seen: "" });
    differ({ mark: null }, { mark: "unseen" });
    """
    assert run_node(script, tmp_path).split() == ["true"] * 12


@needs_node
@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ("{ age: Infinity }", 'RangeError: Column "age" contains infinity'),
        ('{ age: "70" }', 'TypeError: Column "age" must hold numbers or booleans. Got a value of'),
        ("{ mark: 3 }", 'TypeError: Column "mark" must hold text. Got a value of type number'),
        ("{ seen: [1] }", 'TypeError: Column "seen" must hold text, numbers or dates. Got'),
        ("{ age: 10n ** 400n }", 'RangeError: Column "age" contains infinity'),
    ],
)
def test_wrong_cells_are_refused(cells, message, tmp_path):
    (tmp_path / "model.js").write_text(to_javascript(classifier()), "utf-8")
    script = f"""
    const {{ predict }} = require("./model.js");
    const row = {{ age: 70, mark: "x", flag: true, grade: 3, size: 1, seen: 1 }};
    try {{ predict({{ ...row, ...{cells} }}); }} catch (error) {{ console.log(String(error)); }}
    """
    assert message in run_node(script, tmp_path)


@needs_node
def test_missing_columns_are_refused_also_where_objects_have_such_a_property(tmp_path):
    model = make_model([((Condition("constructor", "is missing"),), 1.0)])
    (tmp_path / "model.js").write_text(to_javascript(model), "utf-8")
    script = """
    const { predict } = require("./model.js");
    try { predict({}); } catch (error) { console.log(String(error)); }
    """
    assert 'The row must have the column "constructor"' in run_node(script, tmp_path)


@needs_node
def test_the_model_is_data_for_pages(tmp_path):
    (tmp_path / "model.js").write_text(to_javascript(classifier()), "utf-8")
    script = "process.stdout.write(JSON.stringify(require('./model.js').predict.model))"
    data = json.loads(run_node(script, tmp_path))
    assert data["classes"] == ["no", "yes"]
    assert data["features"][0] == {"name": "age", "kind": "number"}
    assert data["terms"][1]["text"] == "age > 65 & mark == x"


def test_no_text_of_the_model_can_end_a_script():
    source = to_javascript(MODELS["hostile"])
    data = next(line for line in source.splitlines() if line.startswith("  const model = "))
    assert source.isascii()
    assert not set("<>&") & set(data)


def test_classes_beyond_the_integers_of_javascript_are_refused():
    with pytest.raises(ValueError, match=r"up to 2\*\*53 - 1 only. Got the class 9007199254740993"):
        to_javascript(classifier((0, 2**53 + 1)))
