"""Questions to a model that its proof does not answer, each with its judge."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

from fuzz.crossings.factors import CLASSES
from fuzz.crossings.judges import check
from fuzz.crossings.operations import Case
from laconic import Slope
from laconic.export import to_json
from laconic.export.json.files import read_dict


def _check_kept(model: Any, name: str, answer: Any) -> None:
    """Check that the model has the answer, also in a file, where it can be saved."""
    check(getattr(model.own_trust, name) is answer, "The answer is not kept", name)
    try:
        text = to_json(model)
    except (TypeError, ValueError):
        return  # a loss or a search of one's own
    saved = read_dict(json.loads(text)).trust
    check(getattr(saved, name) == answer, "Another answer in the file", name)


def chance(model: Any, case: Case) -> Any:
    """Check the numbers of shuffled copies."""
    answer = model.chance(**case.arguments, **case.problem.belonging, n_permutations=7)
    check(len(answer) == len(model.ensemble_), "Not one answer per term", len(answer))
    for term in answer:
        if term.p is not None:
            check(1 / 8 <= term.p <= 1, "An impossible p-value", term)
            check(term.n_exceeding <= term.n_draws <= 7, "Impossible numbers of copies", term)
    _check_kept(model, "chance", answer)
    return [(term.text, term.method, term.n_draws, term.n_exceeding) for term in answer]


def effects(model: Any, case: Case) -> Any:
    """Check estimates against least squares; training rows are refused."""
    rows = case.arguments | case.problem.belonging
    known = {name: value for name, value in rows.items() if name not in ("X", "y")}
    try:
        model.effects(rows["X"], rows["y"], **known)
    except ValueError as error:
        if "Got the training rows" not in str(error):
            raise
    else:
        check(model.fingerprint_ is None, "Training rows were not recognised")
    target = np.asarray(rows["y"])[::-1]
    with warnings.catch_warnings():
        # Rows whose class is the same the other way round are training rows.
        warnings.filterwarnings("ignore", "Effects need rows that", UserWarning)
        answer = model.effects(rows["X"], target, **known)
    check(len(answer.terms) == len(model.ensemble_), "Not one answer per term")
    for each in answer.effects:
        if each.estimate is not None:
            check(each.lower <= each.estimate <= each.upper, "An impossible interval", each)
    plain = case.problem["loss"] == "squared" and case.problem["rows"] == "plain"
    if plain and all(each.estimate is not None for each in answer.effects):
        columns = [term.values(rows["X"]) for term in model.ensemble_]
        if case.problem["fit_intercept"] == "True":
            columns = [np.ones(len(target)), *columns]
        best, *_ = np.linalg.lstsq(np.array(columns, dtype=float).T, target, rcond=None)
        steps = [1.0] * (len(columns) - len(model.ensemble_))
        steps += [t.step.size if isinstance(t, Slope) else 1.0 for t in model.ensemble_]
        found = [each.estimate for each in answer.effects]
        check(np.allclose(found, best * steps, rtol=1e-6, atol=1e-8), "Other effects", found, best)
    _check_kept(model, "effects", answer)
    return [(each.estimate, each.lower, each.upper, each.reason) for each in answer.effects]


def stability(model: Any, case: Case) -> Any:
    """Check the numbers of resampled copies."""
    answer = model.stability(**case.arguments, **case.problem.belonging, n_resamples=2)
    check(len(answer.terms) == len(model.ensemble_), "Not one answer per term")
    check(len(answer.sizes) == answer.n_done == 2, "Not all copies", answer.sizes)
    check(all(0 <= each.n_returned <= 2 for each in answer.terms), "Impossible numbers")
    _check_kept(model, "stability", answer)
    return [(each.text, each.n_returned, each.nearest) for each in answer.terms]


def conformalize(model: Any, case: Case) -> Any:
    """Check that predictions are in their intervals, and that sets grow with the level."""
    rows = case.arguments | case.problem.belonging
    answer = model.conformalize(**rows, cv=3, level=0.8)
    _check_kept(model, "intervals", answer)
    if case.problem["loss"] in CLASSES:
        sets = model.predict_set(case.table)
        check(sets.shape == (len(case.problem.rows), len(model.classes_)), "Other sets")
        model.conformalize(**rows, cv=3, level=0.9)
        check((model.predict_set(case.table) >= sets).all(), "Smaller sets at a higher level")
        return sets.tolist()
    lower, upper = model.predict_interval(case.table).T
    predictions = model.predict(case.table)
    is_within = (lower <= predictions) & (predictions <= upper)
    check(is_within.all(), "A prediction outside of its interval", lower, predictions, upper)
    return [lower.tolist(), upper.tolist()]


QUESTIONS = {
    "chance": chance,
    "effects": effects,
    "stability": stability,
    "conformalize": conformalize,
}
