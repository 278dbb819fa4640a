"""Attacks on exports: hostile names and texts, run by the programs that exports are made for."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import numpy as np

from fuzz.searches import check
from laconic import Condition, Query, Rule, RuleBoostingClassifier, RuleEnsemble
from laconic.export import to_javascript, to_onnx, to_pmml, to_python, to_sql
from laconic.export.edge_rows import expected_outputs
from laconic.losses import LogisticLoss
from laconic.models.tasks import Classification

PIECES = (
    *("'", '"', "`", "\\", "--", "/*", "*/", ";", "//", "${x}", "{{x}}", "%s", "?", ":x", "$1"),
    *("\n", "\r\n", "\t", "\x00", "\x1b[2J", "\x7f", "\u2028", "\u202e", "\ufeff", "\U0001f600"),
    *("\u00e9", "e\u0301", "\u0130", "\u00df", "</script>", "<!--", "]]>", "&amp;", "__proto__"),
    *("constructor", "toString", "NULL", "true", "1e5", "NaN", " ", "", "x", "SELECT", "import os"),
    *("DROP TABLE rows", "[0]", "(", ")", "=", "a" * 300),
)

NODE = shutil.which("node")


def random_text(random: Random) -> str:
    """Make a text of a few pieces that mean something to some reader."""
    return "".join(random.choice(PIECES) for _ in range(random.randint(1, 4)))


def random_model(random: Random) -> RuleBoostingClassifier:
    """Make a model of texts with hostile names, values and classes."""
    names = tuple(dict.fromkeys(random_text(random) or "x" for _ in range(random.randint(1, 4))))
    rules = tuple(
        Rule(
            Query((_condition(random, names),)),
            random.choice((-2.0, -0.5, 1.0, 3.0)) + n / 16,
        )
        for n in range(random.randint(1, 5))
    )
    classes = random_text(random), random_text(random) + "z"
    model = RuleBoostingClassifier()
    model.ensemble_ = RuleEnsemble(rules, 0.25, names)
    model.search_results_ = []
    model.task_ = Classification(LogisticLoss(), np.array(classes, dtype=object))
    model.n_features_in_ = len(names)
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _condition(random: Random, names: tuple[str, ...]) -> Condition:
    return Condition(random.choice(names), random.choice(("==", "!=")), random_text(random))


def hostile_names(number: int, counts: Counter[str]) -> None:
    """Export a model with hostile names, and let the readers predict."""
    random = Random(number)
    model = random_model(random)
    texts = [p.value for rule in model.ensemble_ for p in rule.query] + ["unseen"]
    used = model.ensemble_.used_features
    rows = [{name: random.choice(texts) for name in used} for _ in range(20)]
    expected = expected_outputs(model, rows)
    truth = list(zip(expected.raw_predictions.tolist(), expected.predictions, strict=True))
    for name, run in READERS.items():
        try:
            predictions = run(model, rows)
        except ValueError as error:
            # An export may refuse a model in a few words; it may not write a wrong one.
            check(len(str(error)) < 2000, "a long message", name, str(error)[:300])
            counts[f"models refused by {name}"] += 1
            continue
        if predictions is None:
            continue
        counts[f"models run by {name}"] += 1
        check(list(map(tuple, predictions)) == truth, f"{name} predicts otherwise", number, truth)


# Of each row the raw prediction and the class; None where there is no such reader.
Predicted: TypeAlias = Iterable[tuple[float, str]] | None


def _python(model: Any, rows: list[dict[str, Any]]) -> Predicted:
    """Run the program in an interpreter of its own."""
    script = (
        "import json, model\nrows = json.load(open('rows.json', encoding='utf-8'))\n"
        "found = map(model.predict, rows)\n"
        "print(json.dumps([[each['raw_prediction'], each['prediction']] for each in found]))"
    )
    return _in_folder({"model.py": to_python(model)}, rows, [sys.executable, "-c", script])


def _javascript(model: Any, rows: list[dict[str, Any]]) -> Predicted:
    if NODE is None:
        return None
    script = (
        'const { predict } = require("./model.js");'
        'const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf8"));'
        "const found = rows.map(predict).map((each) => [each.rawPrediction, each.prediction]);"
        "console.log(JSON.stringify(found));"
    )
    return _in_folder({"model.js": to_javascript(model)}, rows, [NODE, "-e", script])


def _in_folder(files: dict[str, str], rows: list[dict[str, Any]], command: list[str]) -> Predicted:
    with TemporaryDirectory() as folder:
        for name, text in {**files, "rows.json": json.dumps(rows)}.items():
            (Path(folder) / name).write_text(text, "utf-8", newline="")
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    check(done.returncode == 0, "the program fails", done.stderr[-1000:])
    found: list[tuple[float, str]] = json.loads(done.stdout)
    return found


def quoted(name: str) -> str:
    """Quote the name of a column, as standard SQL does."""
    return '"' + name.replace('"', '""') + '"'


def _statements(model: Any, rows: list[dict[str, Any]], dialect: str, mark: str) -> Any:
    """Write what makes a table of the rows, its cells, and the statement that predicts."""
    names = list(rows[0])
    select = to_sql(model, dialect, table="t", keep=["id"])
    columns = ", ".join(f"{quoted(name)} VARCHAR(2000)" for name in names)
    marks = ", ".join([mark] * (len(names) + 1))
    cells = [[n, *row.values()] for n, row in enumerate(rows)]
    create, insert = f"CREATE TABLE t (id INTEGER, {columns})", f"INSERT INTO t VALUES ({marks})"
    return create, insert, cells, f"{select} ORDER BY 1"


def _is_possible(names: list[str]) -> bool:
    """Return whether a database may have such columns: names are the same in any case."""
    lower = {"id", *(name.lower() for name in names)}
    is_short = all(0 < len(name.encode()) <= 63 and "\x00" not in name for name in names)
    return len(lower) == len(names) + 1 and is_short


def _sqlite(model: Any, rows: list[dict[str, Any]]) -> Predicted:
    create, insert, cells, select = _statements(model, rows, "sqlite", "?")
    if not _is_possible(list(rows[0])):
        return None
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(create)
        connection.executemany(insert, cells)
        return [(row[1], row[3]) for row in connection.execute(select)]
    finally:
        connection.close()


def _duckdb(model: Any, rows: list[dict[str, Any]]) -> Predicted:
    import duckdb

    create, insert, cells, select = _statements(model, rows, "duckdb", "?")
    if not _is_possible(list(rows[0])):
        return None
    with duckdb.connect() as connection:
        connection.execute(create)
        connection.executemany(insert, cells)
        return [(row[1], row[3]) for row in connection.execute(select).fetchall()]


@cache
def _postgres_connection() -> Any:
    """Start a server that ends with this program; None where there is none."""
    import atexit
    from contextlib import ExitStack

    sys.path.append(str(Path(__file__).parents[1] / "tests" / "helpers"))
    from postgres import find_server, running_server

    programs = find_server()
    if programs is None:
        return None
    import psycopg

    stack = ExitStack()
    atexit.register(stack.close)
    address = stack.enter_context(running_server(programs))
    return stack.enter_context(psycopg.connect(address))


def _postgres(model: Any, rows: list[dict[str, Any]]) -> Predicted:
    create, insert, cells, select = _statements(model, rows, "postgres", "%s")
    connection = _postgres_connection()
    if connection is None or not _is_possible(list(rows[0])):
        return None
    with connection.transaction(force_rollback=True), connection.cursor() as cursor:
        cursor.execute(create.encode())
        cursor.executemany(insert, cells)
        cursor.execute(select.encode())
        return [(row[1], row[3]) for row in cursor.fetchall()]


def _onnx(model: Any, rows: list[dict[str, Any]]) -> Predicted:
    import onnxruntime

    made = to_onnx(model, missing_text="(missing)").SerializeToString()
    session = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    taken = {
        each.name: np.array([[row.get(each.name, "")] for row in rows], dtype=object)
        for each in session.get_inputs()
    }
    raw, classes = session.run(["raw_prediction", "prediction"], taken)
    return zip(raw.tolist(), classes, strict=True)


def _pmml(model: Any, rows: list[dict[str, Any]]) -> None:
    """Parse the document; tests run it in Java."""
    from xml.etree import ElementTree

    ElementTree.fromstring(to_pmml(model))


READERS: dict[str, Callable[..., Any]] = {
    "Python": _python,
    "Node.js": _javascript,
    "SQLite": _sqlite,
    "DuckDB": _duckdb,
    "PostgreSQL": _postgres,
    "ONNX": _onnx,
    "PMML": _pmml,
}
