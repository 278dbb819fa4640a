"""What can be done with a model, each with its judge.

An operation takes a model and its case, and returns what came out as plain values: the same for a
model that was saved and loaded, or copied.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.crossings import tables
from fuzz.crossings.factors import CLASSES, IN_PARTS
from fuzz.crossings.judges import (
    Terms,
    check,
    check_same_model,
    form_of,
    is_close,
    judge_predictions,
    place_of,
    raw_of,
    values_of,
)
from fuzz.crossings.problem import N_TERMS, Problem
from fuzz.crossings.tables import Cells, Placed
from fuzz.crossings.terms import Key
from laconic import Rule, Slope
from laconic.export import to_javascript, to_json, to_onnx, to_pmml, to_python, to_scorecard, to_sql

NODE = shutil.which("node")
# Tables in memory that are most like those that are read in parts.
_LIKE = {"Dask": "pandas", "SQLite": "pandas"} | dict.fromkeys(
    ("Parquet files", "CSV files", "LazyFrame", "DuckDB"), "polars"
)


@dataclass(frozen=True, eq=False)
class Case:
    """A problem with its rows, in a folder of its own."""

    problem: Problem
    folder: Path
    placed: Placed
    """As the estimator gets them."""
    whole: Placed
    """In memory."""

    @property
    def table(self) -> Any:
        """The training table, in memory."""
        return self.whole.X

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """What the estimator is fitted to; with groups, where it has a use for them."""
        has_use = self.problem["operation"] == "CV estimator"
        return self.placed.fit_arguments() | (self.problem.belonging if has_use else {})

    @property
    def arguments(self) -> dict[str, Any]:
        """Rows with target, weights and exposure, as all that looks at training rows takes them."""
        return self.whole.fit_arguments()

    @cached_property
    def cells(self) -> Cells:
        """Cells of the training rows and of some others."""
        others = tables.other_cells(self.problem["columns"], self.problem.seed)
        known = self.problem.rows.cells
        return {name: [*known[name], *others[name]] for name in known}

    @cached_property
    def other_table(self) -> Any:
        """These as a table in memory."""
        table = self.problem["table"]
        rows = tables.Rows(self.cells, np.zeros(0), None, None)
        return tables.in_memory(rows, _LIKE.get(table, table), self.problem["columns"]).X

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The same as one record per row."""
        rows = zip(*self.cells.values(), strict=True)
        return [dict(zip(self.cells, row, strict=True)) for row in rows]


Operation = Callable[[Any, Case], Any]


def check_in_parts(case: Case, act: Callable[[dict[str, Any]], Any], expected: Any) -> None:
    """Check that rows that are read in parts give the same, or are refused in words."""
    if case.problem["table"] not in IN_PARTS:
        return
    try:
        found = act(case.placed.fit_arguments())
    except (TypeError, ValueError) as error:
        check("in parts" in str(error), "Refused in other words", error)
    else:
        check(found == expected, "Another result in parts", found, expected)


def fit(model: Any, case: Case) -> Any:
    """Predict for rows that the model has not seen."""
    judge_predictions(model, case.other_table, case.cells, case.problem)
    return [model.predict(case.other_table).tolist(), str(model)]


def cross_validate(model: Any, case: Case) -> Any:
    """Check that the model is that of as many terms as were chosen."""
    if hasattr(model, "n_terms_"):
        check(len(model.cv_results_["n_terms"]) > model.n_terms_ >= 0, "No such size")
        check(len(model.ensemble_) <= model.n_terms_, "More terms than were chosen")
        if model.n_terms_ > 0:
            row = case.problem.row | {"operation": "fit"}
            estimator = Problem(row, case.problem.seed).estimator(n_terms=model.n_terms_)
            plain = estimator.fit(**case.arguments)
            check_same_model(model, plain, "Cross-validated and plain")
    return model.predict(case.table).tolist()


def warm_start(model: Any, case: Case) -> Any:
    """Check that some terms and then more are as all at once."""
    problem = case.problem
    n_terms = "auto" if problem.beats_chance else N_TERMS
    model.set_params(n_terms=n_terms, warm_start=True)  # files do not say so
    model.fit(**case.placed.fit_arguments())
    if problem.is_polished or problem.beats_chance:
        # Other terms may be best among more, or without chance.
        check(len(model.ensemble_) <= max(problem.n_terms, 1), "Too many terms")
    else:
        at_once = problem.estimator().fit(**case.placed.fit_arguments())
        check_same_model(model, at_once, "One by one and at once", 1e-9)
    return model.predict(case.table).tolist()


# Edits


def edit_drop(model: Any, case: Case) -> Any:
    """Leave the first term out."""
    return _edited(model, case, drop=[1])


def edit_force(model: Any, case: Case) -> Any:
    """Ask for another rule and another slope."""
    force = [_new_rule(model, case.problem)]
    if case.problem.has_slopes:
        force.append(case.problem.slope(case.problem.good_slope(3)).text())
    return _edited(model, case, force=force)


def edit_replace(model: Any, case: Case) -> Any:
    """Exchange the first term for a rule."""
    return _edited(model, case, replace={1: _new_rule(model, case.problem)})


def edit_lock(model: Any, case: Case) -> Any:
    """Keep the last term, and search for others."""
    return _edited(model, case, lock=[len(model.ensemble_)])


def _new_rule(model: Any, problem: Problem) -> str:
    """Write a good rule that a model does not have, if there is one."""
    known = Terms(problem, model.ensemble_).keys
    for number in range(3, len(problem.good_rules)):
        if _key(problem, problem.good_rules[number]) not in known:
            return problem.written(number)
    return problem.written(0)


def _edited(model: Any, case: Case, **changes: Any) -> Any:
    problem = case.problem
    if len(model.ensemble_) == 0:
        return None

    def edit(rows: dict[str, Any]) -> Any:
        return model.edit(**rows, **problem.belonging, **changes, cv=3)

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = edit(case.arguments)
    check_in_parts(case, lambda rows: str(edit(rows)), str(result))
    said = " ".join(str(warning.message) for warning in heard)
    before, after = model.ensemble_, result.ensemble_
    old, new = Terms(problem, before), Terms(problem, after)
    for n in _wanted(before, changes):
        is_there = old.keys[n] in new.keys
        words = "A term that should stay is not there"
        check(is_there or before.text(form_of(before[n])) in said, words, before[n], after)
    for n in (number - 1 for number in changes.get("drop", ())):
        pairs = zip(new.keys, new.outputs, strict=True)
        is_there = (old.keys[n], old.outputs[n]) in list(pairs)
        check(not is_there, "A term that should go is there", before[n], after)
    for text in [*changes.get("force", ()), *changes.get("replace", {}).values()]:
        is_there = _written_key(problem, text) in new.keys
        check(is_there or said, "A term that was asked for is not there", text, after)
    edits = list(result.edits_)
    for entry, ensemble in ((edits[0], before), (edits[-1], after)):
        unique = ensemble.with_terms({(form_of(t), t.output): t for t in ensemble}.values())
        risk = Terms(problem, unique).refitted_risk()
        check(entry.n_terms == len(unique), "Another number of terms", entry, unique)
        check(is_close(entry.risk, risk, 1e-6), "Another risk", entry.words, entry.risk, risk)
    return [str(after), str(result.edits_)]


def _wanted(before: Any, changes: dict[str, Any]) -> list[int]:
    """List the positions of terms that stay."""
    if "lock" in changes:
        return [number - 1 for number in changes["lock"]]
    gone = {*changes.get("drop", ()), *changes.get("replace", ())}
    out = {form_of(before[number - 1]) for number in gone}
    return [n for n, term in enumerate(before) if form_of(term) not in out]


def _written_key(problem: Problem, text: str) -> Key:
    """Find what distinguishes a term that is written as people do."""
    rules = {problem.text(atoms): atoms for atoms in problem.good_rules}
    if text in rules:
        return _key(problem, rules[text])
    [key] = {line.key for line in problem.lines if problem.slope(line).text() == text}
    return key


def _key(problem: Problem, atoms: Sequence[Any]) -> Key:
    return np.logical_and.reduce([atom.covered for atom in atoms])[problem.counted].tobytes()


def alternatives(model: Any, case: Case) -> Any:
    """Check that every term that is nearly as good is found, the best first."""
    problem = case.problem
    if len(model.ensemble_) == 0:
        return None
    number, tolerance = len(model.ensemble_), 0.3

    def find(rows: dict[str, Any]) -> Any:
        return model.alternatives(number, **rows, tolerance=tolerance, max_found=6)

    found = find(case.arguments)
    check_in_parts(case, lambda rows: str(find(rows)), str(found))
    shares = [each.share for each in found]
    check(shares == sorted(shares, reverse=True), "Not the best first", shares)
    check(all(1 - tolerance - 1e-9 <= share <= 1 + 1e-9 for share in shares), "Shares", shares)
    check(found.share <= 1 + 1e-9, "A share of more than the best", found.share)
    _judge_found(problem, model, number, found)
    _judge_shares(problem, model, number, found, tolerance)
    return [str(found)]


def _judge_found(problem: Problem, model: Any, number: int, found: Any) -> None:
    """Check that alternatives are allowed, and no two of them the same."""
    ensemble = model.ensemble_
    terms = [_as_term(each, model) for each in found]
    rules = Terms(problem, ensemble.with_terms([ensemble[number - 1], *terms]))
    known: set[tuple[int, Key]] = set()
    for n, (key, output) in enumerate(zip(rules.keys, rules.outputs.tolist(), strict=True)):
        check((output, key) not in known, "The same twice", rules.ensemble[n])
        known |= {(output, each) for each in _twins(key, problem)}
        if n == 0:
            continue
        each = found[n - 1]
        check(rules.allowed(n), "An alternative that constraints forbid", each.text)
        check(key not in problem.barred, "An excluded term", each.text)
        weights, (own, other) = problem.truth.weights, rules.columns[[0, n]] != 0.0
        overlap = weights[own & other].sum() / weights[own | other].sum()
        check(is_close(each.overlap, overlap, 1e-9), "Another overlap", each.overlap, overlap)


def _as_term(alternative: Any, model: Any) -> Rule | Slope:
    """Read an alternative; the raw prediction that it would add to has a name."""
    names = [output.name for output in model.ensemble_.outputs]
    output = names.index(alternative.output) if names else 0
    form = alternative.form
    if isinstance(form, Slope):
        return replace(form, output=output)
    return Rule(form, 0.0, output)


def _twins(key: Key, problem: Problem) -> set[Key]:
    """List a term, and the rule that says the same beside an intercept."""
    if isinstance(key, tuple) or not (problem.is_joint and problem.fit_intercept):
        return {key}
    return {key, (~np.frombuffer(key, dtype=bool)).tobytes()}


def _judge_shares(problem: Problem, model: Any, number: int, found: Any, tolerance: float) -> None:
    """Compare with all terms, in the place of the one."""
    rules, sets = Terms(problem, model.ensemble_), problem.sets
    place = place_of(problem, model, number - 1)
    own_key, own_output = rules.keys[number - 1], int(rules.outputs[number - 1])
    own_value = place.value(rules, number - 1)
    values = place.values()
    best = max(float(values.max(initial=0.0)), own_value)
    if best <= 0.0 or problem["limits"] == "node_limit":
        return
    share = own_value / best
    check(is_close(found.share, share, 1e-5, 1.0), "Another share", found.share, share)
    best_of: dict[tuple[int, frozenset[Key]], float] = {}
    for output, place_number in np.argwhere(values >= (1 - tolerance) * best).tolist():
        value, twins = float(values[output, place_number]), _twins(sets.keys[place_number], problem)
        if value > 0.0 and not (output == own_output and own_key in twins):
            key = output, frozenset(twins)
            best_of[key] = max(value, best_of.get(key, 0.0))
    expected = sorted((value / best for value in best_of.values()), reverse=True)[:6]
    shares = [each.share for each in found]
    n = min(len(expected), len(shares))
    check(np.allclose(shares[:n], expected[:n], rtol=1e-5), "Other shares", shares, expected)
    longer = max(shares, expected, key=len)
    is_edge = all(is_close(each, 1 - tolerance, 1e-5) for each in longer[n:])
    check(is_edge, "Not all alternatives", shares, expected)


def certificate(model: Any, case: Case) -> Any:
    """Check that the bound holds for models that can be found, and the proof."""
    problem = case.problem
    made = model.certificate(**case.arguments)
    check_in_parts(case, lambda rows: model.certificate(**rows).bound, made.bound)
    truth, rules = problem.truth, Terms(problem, model.ensemble_)
    own = truth.risk(rules.raw, rules.weights)
    check(is_close(made.objective, own, 1e-9), "Another objective", made.objective, own)
    check(made.bound <= own * (1 + 1e-9), "The model is below the bound", made.bound, own)
    start = truth.risk(truth.start, np.zeros(0))
    check(is_close(made.start, start, 1e-9), "Another start", made.start, start)
    check(made.verify(case.table), "The proof does not hold")
    best = _good_risk(problem, len(model.ensemble_))
    check(made.bound <= best * (1 + 1e-9), "A model is below the bound", made.bound, best)
    return [made.objective, made.bound, made.summary]


def _good_risk(problem: Problem, n_terms: int) -> float:
    """Compute the risk of the best of some models of good terms with their best weights."""
    truth, sets = problem.truth, problem.sets
    order = np.argsort(-problem.first_gains(sets), kind="stable").tolist()
    rules = [n for n in order if not sets.is_slope[n] and sets.atoms[n]][:6]
    slopes = [n for n in order if sets.is_slope[n]][:6]
    found = []
    for places in (rules, slopes, [*slopes[:1], *rules], [*rules[:1], *slopes]):
        chosen = sets.values[places[: max(n_terms, 1)]]
        if len(chosen) > 0 and n_terms > 0:
            parts = truth.refit(chosen)
            raw = truth.raw(chosen, np.zeros(len(chosen), dtype=int), parts)
            found.append(truth.risk(raw, parts[0]))
    return min(found, default=np.inf)


def report(model: Any, case: Case) -> Any:
    """Make the page, and look at its content."""
    made = model.report(case.table, case.whole.y)
    content = json.loads(made.to_json())
    check(len(made.to_html()) > 1000, "An empty page")
    return _without_seconds(content)


def _without_seconds(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_seconds(v) for k, v in value.items() if "seconds" not in k}
    return [_without_seconds(each) for each in value] if isinstance(value, list) else value


# Exports


def _check_outputs(model: Any, case: Case, predictions: Any, raw: Any, what: str) -> None:
    """Compare what a reader of an export has made of rows with the model."""
    expected_raw = raw_of(model.ensemble_, case.cells)
    found = np.asarray(raw, dtype=float).reshape(len(expected_raw), -1)
    is_same = np.allclose(found, expected_raw, rtol=1e-12, atol=1e-14)
    check(is_same, f"{what}: raw predictions differ")
    expected = model.predict(case.other_table)
    if case.problem["loss"] in CLASSES:
        check(list(map(str, predictions)) == list(map(str, expected)), f"{what}: other classes")
    else:
        is_same = np.allclose(np.asarray(predictions, dtype=float), expected, rtol=1e-11)
        check(is_same, f"{what}: predictions differ")


def json_text(model: Any, case: Case) -> Any:
    """Read the text as JSON."""
    content = json.loads(to_json(model))
    check(len(content["terms"]) == len(model.ensemble_), "Not all terms", content)
    return _without_seconds(content)


_SQL_TYPES = {float: "DOUBLE", int: "BIGINT", bool: "BOOLEAN"}
_SQL_TYPES |= {str: "VARCHAR", datetime: "TIMESTAMP"}


def sql(model: Any, case: Case) -> Any:
    """Let DuckDB and SQLite predict."""
    select = to_sql(model, "duckdb", table="rows", keep=["n"])
    _check_select(model, case, _in_duckdb(case, f"{select} ORDER BY 1"), "DuckDB")
    other = to_sql(model, "sqlite", table="rows", keep=["n"])
    _check_select(model, case, _in_sqlite(case, f"{other} ORDER BY 1"), "SQLite")
    return [select, other]


def _check_select(model: Any, case: Case, found: Sequence[Sequence[Any]], what: str) -> None:
    n_outputs = len(model.ensemble_.outputs) or 1
    raw = [row[1 : 1 + n_outputs] for row in found]
    _check_outputs(model, case, [row[-1] for row in found], raw, what)


def _in_duckdb(case: Case, select: str) -> Any:
    import duckdb

    types = {
        name: _SQL_TYPES[type(next(cell for cell in cells if cell is not None))]
        for name, cells in case.cells.items()
    }
    declared = ", ".join(["n BIGINT", *(f"{name} {kind}" for name, kind in types.items())])
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE rows ({declared})")
        cells = [[n, *record.values()] for n, record in enumerate(case.records)]
        connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(cells[0]))})", cells)
        return connection.execute(select).fetchall()


def _in_sqlite(case: Case, select: str) -> Any:
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE TABLE rows (n, {', '.join(case.cells)})")
        cells = [[n, *map(_plain, record.values())] for n, record in enumerate(case.records)]
        connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(cells[0]))})", cells)
        return connection.execute(select).fetchall()
    finally:
        connection.close()


def _plain(cell: Any) -> Any:
    return str(cell) if isinstance(cell, datetime) else cell


def python(model: Any, case: Case) -> Any:
    """Let the function predict."""
    text = to_python(model)
    module: dict[str, Any] = {}
    exec(text, module)
    found = [module["predict"](record) for record in case.records]
    raw = [each["raw_prediction"] for each in found]
    _check_outputs(model, case, [each["prediction"] for each in found], raw, "Python")
    return text


_SCRIPT = """
const { predict } = require("./model.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf8"));
process.stdout.write(JSON.stringify(rows.map((row) => predict(row))));
"""


def javascript(model: Any, case: Case) -> Any:
    """Let Node.js predict."""
    text = to_javascript(model)
    if NODE is not None:
        (case.folder / "model.js").write_text(text, "utf-8")
        rows = [{k: _plain(v) for k, v in record.items()} for record in case.records]
        (case.folder / "rows.json").write_text(json.dumps(rows), "utf-8")
        done = subprocess.run(
            [NODE, "-e", _SCRIPT], cwd=case.folder, capture_output=True, text=True, check=False
        )
        check(done.returncode == 0, "Node.js complains", done.stderr)
        found = json.loads(done.stdout)
        raw = [each["rawPrediction"] for each in found]
        _check_outputs(model, case, [each["prediction"] for each in found], raw, "Node.js")
    return text


def onnx(model: Any, case: Case) -> Any:
    """Let the runtime predict."""
    made = to_onnx(model)
    import onnxruntime

    session = onnxruntime.InferenceSession(made.SerializeToString())
    feeds = {}
    for given in session.get_inputs():
        if given.name == "X":
            columns = [_numbers(cells) for cells in case.cells.values()]
            feeds["X"] = np.stack(columns, axis=1)
        elif given.type == "tensor(string)":
            texts = ["" if cell is None else cell for cell in case.cells[given.name]]
            feeds[given.name] = np.array(texts, dtype=object)[:, np.newaxis]
        else:
            feeds[given.name] = _numbers(case.cells[given.name])[:, np.newaxis]
    raw, predictions = session.run(["raw_prediction", "prediction"], feeds)
    _check_outputs(model, case, predictions, raw, "ONNX")
    return str(made.graph.name)


def _numbers(cells: Sequence[Any]) -> np.ndarray:
    # Columns that no term uses may have anything.
    is_number = all(cell is None or isinstance(cell, int | float) for cell in cells)
    return np.array([float(cell) if is_number and cell is not None else np.nan for cell in cells])


def pmml(model: Any, case: Case) -> Any:
    """Check that the document names all columns of the terms."""
    text = to_pmml(model)
    for name in model.ensemble_.used_features:
        check(name in text, "A column is missing", name)
    return text


def scorecard(model: Any, case: Case) -> Any:
    """Check that the points are the weights, but for rounding."""
    made = to_scorecard(model, X=case.table, y=case.whole.y, sample_weight=case.whole.sample_weight)
    raw = raw_of(model.ensemble_, case.problem.rows.cells)[:, 0]
    points = made.total_points(case.table) * made.unit
    check((np.abs(points - raw) <= made.max_deviation + 1e-9).all(), "Points are far off")
    return str(made)


# Looks at a model


def explain(model: Any, case: Case) -> Any:
    """Check that what is said adds up to the prediction."""
    explanation = model.explain(case.other_table)
    raw = raw_of(model.ensemble_, case.cells)
    for row, each in enumerate(explanation):
        found = np.atleast_1d(np.asarray(each.raw_prediction, dtype=float))
        check(np.allclose(found, raw[row], rtol=1e-12), "Another raw prediction", found, raw[row])
        if len(found) == 1:
            total = model.ensemble_.intercept + sum(each.contributions)
            check(is_close(total, raw[row, 0], 1e-9, 1.0), "It does not add up", total, raw[row])
    return [str(explanation[0]), str(explanation.to_frame())]


def shapley_values(model: Any, case: Case) -> Any:
    """Play the game here once more, and compare."""
    found = model.shapley_values(case.table[:6], case.table)
    cells = case.problem.rows.cells
    values = np.asarray(found.values).reshape(6, len(cells), -1)
    expected = _played(model.ensemble_, cells, 6)
    check(np.allclose(values, expected, atol=1e-10), "Other shares")
    return [values.tolist(), list(found.feature_names)]


def _played(ensemble: Any, cells: Cells, n_explained: int) -> np.ndarray:
    """Let features join one by one, in every order, and the others be as in the background."""
    names, n_rows = list(cells), len(cells["x0"])
    shares = np.zeros((n_explained, len(names), raw_of(ensemble, cells).shape[1]))
    orders = list(permutations(range(len(names))))
    for row in range(n_explained):
        means = {}
        for chosen in {frozenset(o[:n]) for o in orders for n in range(len(names) + 1)}:
            mixed = {
                name: [values[row]] * n_rows if place in chosen else values
                for place, (name, values) in enumerate(cells.items())
            }
            means[chosen] = raw_of(ensemble, mixed).mean(axis=0)
        for order in orders:
            for n, place in enumerate(order):
                before, after = frozenset(order[:n]), frozenset(order[: n + 1])
                shares[row, place] += (means[after] - means[before]) / len(orders)
    return shares


def transform(model: Any, case: Case) -> Any:
    """Check that the columns are the values of the terms."""
    found = np.asarray(model.transform(case.other_table), dtype=float)
    for column, term in zip(found.T, model.ensemble_, strict=True):
        values = values_of(term, case.cells)
        check(np.allclose(values, column, rtol=1e-12, atol=1e-12), "Other values", term)
    names = model.get_feature_names_out()
    check(len({*names}) == len(model.ensemble_), "Not a name per term", names)
    return [found.tolist(), names.tolist()]


def plot(model: Any, case: Case) -> Any:
    """Draw all pictures."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from laconic.plot import (
        ContributionDisplay,
        RuleBoxDisplay,
        RuleOverlapDisplay,
        RuleWeightDisplay,
        SizeScoreDisplay,
    )

    X, y = case.table, case.whole.y
    try:
        RuleWeightDisplay.from_estimator(model)
        RuleWeightDisplay.from_estimator(model, X)
        if len(model.ensemble_) > 0:
            RuleOverlapDisplay.from_estimator(model, X)
            ContributionDisplay.from_estimator(model, X, row=1)
        SizeScoreDisplay.from_estimator(model, X, y)
        # Boxes are of one raw prediction.
        used = [] if model.ensemble_.outputs else model.ensemble_.used_features
        if used:
            RuleBoxDisplay.from_estimator(model, X, features=used[0])
        if len(used) > 1:
            RuleBoxDisplay.from_estimator(model, X, y, features=used[:2])
    finally:
        plt.close("all")
    return None


def save_predictions(model: Any, case: Case) -> Any:
    """Check that the file holds what the model predicts."""
    import pyarrow.parquet as pq

    path = case.folder / "predictions.parquet"
    is_read = case.problem["table"] in IN_PARTS
    n_rows = model.save_predictions(case.placed.X if is_read else case.table, path)
    found = pq.read_table(path)["prediction"].to_pylist()
    check(n_rows == len(found) == len(case.problem.rows), "Not all rows", n_rows, len(found))
    expected = model.predict(case.table).tolist()
    check(found == expected, "Other predictions", found[:3], expected[:3])
    return found


OPERATIONS: dict[str, Operation] = {
    "fit": fit,
    "CV estimator": cross_validate,
    "warm_start": warm_start,
    "edit(drop)": edit_drop,
    "edit(force)": edit_force,
    "edit(replace)": edit_replace,
    "edit(lock)": edit_lock,
    "alternatives": alternatives,
    "certificate": certificate,
    "report": report,
    "to_json": json_text,
    "to_sql": sql,
    "to_python": python,
    "to_javascript": javascript,
    "to_onnx": onnx,
    "to_pmml": pmml,
    "to_scorecard": scorecard,
    "explain": explain,
    "shapley_values": shapley_values,
    "transform": transform,
    "plot": plot,
    "save_predictions": save_predictions,
}
