"""One row of values: fitted, judged, kept in some way, and put to use."""

from __future__ import annotations

import copy
import pickle
import re
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import laconic
from fuzz.crossings.covering import Row
from fuzz.crossings.factors import IN_PARTS
from fuzz.crossings.judges import WrongError, check, check_same_model, judge_model
from fuzz.crossings.operations import OPERATIONS, Case
from fuzz.crossings.problem import Problem
from fuzz.crossings.questions import QUESTIONS
from fuzz.crossings.tables import in_memory

PACKAGE = str(Path(laconic.__file__).parent)


class RefusedError(Exception):
    """A combination that the package refuses in words."""


@dataclass(frozen=True)
class Outcome:
    """What became of a row."""

    row: Row
    seed: int
    refused: str = ""
    """The sentences, if it was refused."""
    wrong: str = ""
    """What is wrong, and where."""


def run(row: Row, seed: int = 0, *, is_judged: bool = True) -> Outcome:
    """Fit, judge and use a model."""
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (ConvergenceWarning, laconic.ColumnWarning):
            warnings.simplefilter("ignore", kind)
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        # Of old releases of Dask, where another test has left a client.
        warnings.filterwarnings("ignore", "Running on a single-machine scheduler")
        try:
            _run(Problem(row, seed), Path(folder), is_judged)
        except (ValueError, TypeError) as error:
            if is_refusal(error):
                return Outcome(row, seed, refused=str(error))
            return Outcome(row, seed, wrong=traceback.format_exc())
        except WrongError as error:
            where = traceback.extract_tb(error.__traceback__)[-2]
            return Outcome(row, seed, wrong=f"{error} [{where.name}]")
        except Exception:
            return Outcome(row, seed, wrong=traceback.format_exc())
    return Outcome(row, seed)


def is_refusal(error: Exception) -> bool:
    """Return whether the package has refused something: what is wrong, and what to do."""
    *_, last = traceback.extract_tb(error.__traceback__)
    is_own = last.filename.startswith(PACKAGE)
    # What is required or was got, and what to do: two sentences at least.
    sentences = [each for each in re.split(r"(?<=[.!?])\s+", str(error).strip()) if each]
    return is_own and len(sentences) >= 2


def normalised(words: str) -> str:
    """Leave out of a refusal what differs from table to table."""
    words = words.split("\n")[0] if "\n  " in words else words
    words = re.sub(r"\[.*\]|\{.*\}", "...", words)
    words = re.sub(r"<[\w.]+ object at 0x[0-9a-f]+>|\b\w+Loss(\([^)]*\))?", "...", words)
    words = re.sub(r"'x\d'", "'x'", words)
    words = re.sub(r"RuleBoosting(Classifier|Regressor)(CV)?", "the estimator", words)
    return re.sub(r"\b\d+(\.\d+)?(e-?\d+)?\b", "N", words)


def _run(problem: Problem, folder: Path, is_judged: bool) -> None:
    case = Case(problem, folder, *problem.placed(folder))
    model = _fitted(problem, case, is_judged)
    kept = _kept(model, problem, case)
    operation = (OPERATIONS | QUESTIONS)[problem["operation"]]
    result = operation(model, case)
    if kept is not model:
        again = operation(kept, case)
        words = f"A model that was {problem['model']} gives another result"
        check(_is_same(again, result), words, again, result)


def _is_same(again: Any, result: Any) -> bool:
    """Compare results; numbers but for the order of sums, which is another one from the start."""
    if isinstance(again, list) and isinstance(result, list) and len(again) == len(result):
        return all(map(_is_same, again, result))
    if isinstance(again, float) and isinstance(result, float):
        return bool(np.isclose(again, result, rtol=1e-12, atol=0.0, equal_nan=True))
    return bool(again == result)


def _fitted(problem: Problem, case: Case, is_judged: bool) -> Any:
    changes = {}
    if problem["operation"] == "warm_start":
        changes = {"n_terms": 1, "warm_start": True}
    model = problem.estimator(**changes).fit(**case.fit_arguments)
    if not is_judged:
        return model
    if problem["table"] in IN_PARTS:
        in_memory = problem.estimator(**changes).fit(**case.arguments)
        check_same_model(model, in_memory, "In parts and in memory")
    if problem["operation"] != "warm_start":
        judge_model(model, problem, case.whole)
    _judge_rows(model, problem, case, changes)
    return model


def _judge_rows(model: Any, problem: Problem, case: Case, changes: dict[str, Any]) -> None:
    """Compare weights, exposures and weights of classes with what they stand for."""
    if problem["table"] in IN_PARTS or problem["operation"] == "CV estimator":
        return
    rows, kind = problem.rows, (problem["table"], problem["columns"])
    estimator = problem.estimator(**changes)
    if problem["rows"].startswith("class_weight"):
        estimator.set_params(class_weight=None)
        other = estimator.fit(case.table, rows.y, sample_weight=problem.all_weights)
        check_same_model(model, other, "Weights of classes and of rows", 1e-9)
    elif rows.exposure is not None:
        other = estimator.fit(case.table, problem.target, sample_weight=problem.all_weights)
        check_same_model(model, other, "Exposure and rates", 1e-9)
    elif rows.sample_weight is not None:
        repeated = in_memory(rows.repeated(), *kind)
        other = estimator.fit(**repeated.fit_arguments())
        check_same_model(model, other, "Weights and repeated rows", 1e-9)


def _kept(model: Any, problem: Problem, case: Case) -> Any:
    """Take a model through a file, a pickle or a copy."""
    way = problem["model"]
    if way == "loaded":
        path = case.folder / "model.json"
        laconic.save_model(model, path)
        return laconic.load_model(path)
    if way == "pickled":
        return pickle.loads(pickle.dumps(model))
    if way == "cloned":
        other = clone(model).fit(**case.fit_arguments)
        check_same_model(model, other, "Fitted and fitted again")
        return other
    return copy.deepcopy(model) if way == "copied" else model
