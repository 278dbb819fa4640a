"""PMML exports, run by JPMML, the evaluator of reference, in Java."""

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from xml.etree import ElementTree

import numpy as np
import pytest
from exports import MODELS, make_model, rows_and_outputs

from laconic import Condition
from laconic.export import to_pmml
from laconic.export.edge_rows import Outputs, check_outputs
from laconic.export.portable import portable_model

CELL_TYPES = {"number": float, "boolean": bool, "text": str, "any": str}

# In a process of its own, as it starts another one and leaves it to the system to tidy up.
EVALUATE = """
import json, sys
import pandas as pd
from jpmml_evaluator import make_evaluator
from jpmml_evaluator.py4j import Py4JBackend

backend, results = Py4JBackend(), {}
for name, (path, columns) in json.load(open("jobs.json", encoding="utf-8")).items():
    evaluator = make_evaluator(path, backend=backend).verify()
    if columns:
        frame = evaluator.evaluateAll(pd.DataFrame(columns, dtype=object))
        results[name] = {label: frame[label].tolist() for label in frame.columns if label}
    else:
        row = evaluator.evaluate({})
        results[name] = {label: [value] for label, value in row.items() if label}
json.dump(results, open("results.json", "w", encoding="utf-8"))
Py4JBackend.destroyGateway()
"""

CHARACTERS = ["\r", "\n", "\t", " ", "", "\r\n", "a  b ", "]]>", "&amp;", "\ufffd"]
CHARACTER_MODEL = make_model(
    [((Condition("x", "==", text),), 2.0**n) for n, text in enumerate(CHARACTERS)]
)
# Of the others, some: rows take long to get to Java and back.
MODELS_WITH_ALL_ROWS = ("classifier", "regressor")


def as_columns(model, rows):
    """Cells as the evaluator takes them, None where missing."""
    return {
        name: [
            None if row[name] is None or row[name] != row[name] else CELL_TYPES[kind](row[name])
            for row in rows
        ]
        for name, kind in portable_model(model).kinds.items()
    }


def rows_of(name):
    if name == "characters":
        return [{"x": text} for text in CHARACTERS], None
    model = MODELS[name]
    if not portable_model(model).kinds:
        return rows_and_outputs(model, 1)
    return rows_and_outputs(model, *([] if name in MODELS_WITH_ALL_ROWS else [1000]))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return what the evaluator makes of all models."""
    if shutil.which("java") is None:
        pytest.skip("needs Java: install the package default-jre-headless")
    if find_spec("jpmml_evaluator") is None:
        pytest.skip('needs JPMML, under the AGPL: pip install ".[pmml-test]"')
    folder = tmp_path_factory.mktemp("pmml")
    jobs = {}
    for number, (name, model) in enumerate({**MODELS, "characters": CHARACTER_MODEL}.items()):
        path = folder / f"{number}.pmml"
        path.write_bytes(to_pmml(model).encode())
        jobs[name] = [str(path), as_columns(model, rows_of(name)[0])]
    (folder / "jobs.json").write_text(json.dumps(jobs), "utf-8")
    subprocess.run([sys.executable, "-c", EVALUATE], cwd=folder, check=True)
    return json.loads((folder / "results.json").read_text("utf-8"))


@pytest.mark.parametrize("name", MODELS)
def test_the_evaluator_predicts_the_same(name, results):
    rows, expected = rows_of(name)
    given = {label: np.array(values) for label, values in results[name].items()}
    actual = Outputs(given["raw_prediction"], given["prediction"], given.get("probability"))
    check_outputs("PMML", rows, expected, actual)


def test_every_character_of_xml_survives(results):
    assert results["characters"]["prediction"] == [2.0**n for n in range(len(CHARACTERS))]


def test_sums_have_names_that_no_column_has():
    root = ElementTree.fromstring(to_pmml(MODELS["our names"]))
    names = [
        field.get("name")
        for kind in ("DataField", "DerivedField", "OutputField")
        for field in root.iter(f"{{http://www.dmg.org/PMML-4_4}}{kind}")
    ]
    assert len({*names}) == len(names)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x", "a\x01b", r"XML cannot contain all characters of 'a\\x01b'"),
        ("x\0", "a", "XML cannot contain all characters"),
        ("prediction", "a", "Got 'prediction'"),
        ("raw_prediction", "a", "Got 'raw_prediction'"),
    ],
)
def test_what_a_document_cannot_hold_is_refused(name, text, message):
    with pytest.raises(ValueError, match=message):
        to_pmml(make_model([((Condition(name, "==", text),), 1.0)]))
