"""Models as functions in Python and JavaScript without dependencies.

Both contain the model as the same plain data.
"""

from __future__ import annotations

import json
import math
from importlib.resources import files
from pprint import pformat
from typing import Any

import numpy as np

from laconic.export.edge_rows import Outputs, check_outputs, edge_rows, expected_outputs
from laconic.export.portable import PortableModel, portable_model
from laconic.models import RuleModel
from laconic.tables.times import kind_of, microseconds
from laconic.terms.conditions import Condition
from laconic.terms.rules import Rule, Term

_BEFORE_FUNCTIONS = "\n\n\ndef "
_PLACE_OF_MODEL = "MODEL: dict[str, Any] = {}"


def to_python(model: RuleModel) -> str:
    """Write a fitted model as a Python function.

    The function is run on edge rows and compared with the model before it is returned.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.

    Returns
    -------
    source : str
        A module that defines ``predict``, imports the standard library only, and contains the
        model as a literal.

    Notes
    -----
    ``predict(row)`` takes a dict, or another mapping from names of columns to cells, and returns
    a dict with "raw_prediction", "prediction", "probabilities" (None for a regression),
    "contributions", what each term adds to the raw prediction, and "covered", for each rule whether
    it covers the row, and for each slope whether the row is above its lower end. It refuses
    infinities and cells of the wrong kind, as `predict` does here. If the model was calibrated by
    `conformalize`, there is ``predict_interval(row)``, which returns the lower and the upper end,
    or for classes ``predict_set(row)``, which returns a list.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(l2_regularization=0).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> module = {}
    >>> exec(to_python(model), module)
    >>> result = module["predict"]({"x0": 2})
    >>> result["prediction"], result["covered"]
    (5.0, [True])
    """
    portable = portable_model(model)
    literal = pformat(program_data(portable), width=100, sort_dicts=False)
    template = (files("laconic.export.program") / "standalone.py").read_text("utf-8")
    source = template.replace(_PLACE_OF_MODEL, f"MODEL: dict[str, Any] = {literal}")
    source += _interval_functions(portable, "intervals.py", _BEFORE_FUNCTIONS)
    rows = edge_rows(portable)
    check_outputs("Python", rows, expected_outputs(model, rows), run_python(source, rows))
    return source


def run_python(source: str, rows: list[dict[str, Any]]) -> Outputs:
    """Run an exported module on rows."""
    module: dict[str, Any] = {"__name__": "laconic_export"}
    exec(compile(source, "<laconic export>", "exec"), module)
    results = [module["predict"](row) for row in rows]
    has_classes = module["MODEL"]["classes"] is not None
    return Outputs(
        np.array([result["raw_prediction"] for result in results]),
        # As objects: an array of texts would drop zero characters at their ends.
        np.array([result["prediction"] for result in results], object if has_classes else None),
        np.array([_known(result["probabilities"]) for result in results]) if has_classes else None,
        np.array([result["covered"] for result in results]).reshape(len(rows), -1),
        _run_intervals(module, rows),
    )


def _run_intervals(module: dict[str, Any], rows: list[dict[str, Any]]) -> Any:
    """Return limits, or which classes are in the sets; None if the module has no functions."""
    if "predict_interval" in module:
        return np.array([module["predict_interval"](row) for row in rows])
    if "predict_set" in module:
        classes = module["MODEL"]["classes"]
        sets = [module["predict_set"](row) for row in rows]
        return np.array([[label in each for label in classes] for each in sets])
    return None


def _interval_functions(portable: PortableModel, name: str, before: str) -> str:
    """Return the function of a file that a calibrated model has: for numbers, or for classes."""
    if portable.intervals is None:
        return ""
    text = (files("laconic.export.program") / name).read_text("utf-8")
    of_numbers, of_classes = (before + each.rstrip() for each in text.split(before)[-2:])
    return f"{of_numbers if portable.classes is None else of_classes}\n"


def _known(probabilities: list[float]) -> Any:
    """Return the probability of the second of two classes, or those of three or more."""
    return probabilities[1] if len(probabilities) == 2 else probabilities


# Beyond it, JavaScript represents integers by the nearest doubles.
_MAX_SAFE_INTEGER = 2**53 - 1


def to_javascript(model: RuleModel) -> str:
    """Write a fitted model as a JavaScript function.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.

    Returns
    -------
    source : str
        A script that defines ``predict``, for browsers and for Node.js (``require``). It contains
        the model as data, escaped so that it can be in a script element of a page.

    Notes
    -----
    ``predict(row)`` takes an object with a property for each column that terms use, and returns
    ``rawPrediction``, ``prediction``, ``probabilities`` (null for a regression), ``contributions``,
    what each term adds to the raw prediction, and ``covered``, for each rule whether it covers the
    row, and for each slope whether the row is above its lower end. ``predict.model`` is the model
    as data. As `predict` does here, it refuses infinities and columns of the wrong kind. If the
    model was calibrated by `conformalize`, there is ``predict.interval(row)``, an array of the
    lower and the upper end, or for classes ``predict.set(row)``, an array of classes.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(n_terms=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> "const predict = " in to_javascript(model)
    True
    """
    portable = portable_model(model)
    _check_classes(portable)
    template = (files("laconic.export.program") / "predict.js").read_text("utf-8")
    source = template.replace("__MODEL__", _embedded_json(program_data(portable)))
    return source + _interval_functions(portable, "intervals.js", "\n// predict.")


def _check_classes(portable: PortableModel) -> None:
    for name in portable.classes or ():
        if type(name) is int and abs(name) > _MAX_SAFE_INTEGER:
            raise ValueError(
                "JavaScript has whole numbers up to 2**53 - 1 only. Got the class "
                f"{name}. Fit the model with text as classes: y.astype(str)."
            )


def _embedded_json(data: object) -> str:
    """Write JSON that is also JavaScript, and contains no end of a script."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=True)
    # These characters occur in texts only, where their codes mean the same.
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def program_data(portable: PortableModel) -> dict[str, Any]:
    """Return the data by which a program predicts and shows which terms apply.

    Booleans in conditions are numbers, and so are times: their microseconds. A term has conditions,
    or the ends of a slope.
    """
    outputs = portable.ensemble.outputs
    return {
        "classes": None if portable.classes is None else list(portable.classes),
        "link": portable.link,
        "intercept": [each.intercept for each in outputs] or portable.ensemble.intercept,
        "features": [
            *({"name": name, "kind": kind} for name, kind in portable.kinds.items()),
            *(
                {"name": name, "kind": portable.part_kind(name), "part": part, "of": column}
                for name, (part, column) in portable.parts.items()
            ),
        ],
        "terms": [
            {
                "weight": term.weight,
                **({"output": term.output} if outputs else {}),
                "text": portable.ensemble.text(term),
                **_what_it_covers(term),
            }
            for term in portable.ensemble
        ],
        **({} if portable.intervals is None else {"intervals": _interval_data(portable)}),
    }


def _interval_data(portable: PortableModel) -> dict[str, Any]:
    """Return the table of intervals; None is a half-width without bound."""
    intervals = portable.intervals
    assert intervals is not None
    if intervals.has_classes:
        return {
            "level": intervals.level,
            "least_probabilities": list(intervals.least_probabilities),
        }
    widths = [None if math.isinf(each) else each for each in intervals.half_widths]
    return {
        "level": intervals.level,
        "edges": list(intervals.edges),
        "half_widths": widths,
        "lowest": portable.lowest,
    }


def _what_it_covers(term: Term) -> dict[str, Any]:
    if isinstance(term, Rule):
        return {"conditions": [_condition(condition) for condition in term.query]}
    lower, upper = term.ends
    return {
        "feature": term.feature,
        "lower": lower,
        "upper": upper,
        "missing": term.missing_number,
        "unit": term.unit,
    }


def _condition(condition: Condition) -> dict[str, Any]:
    value: Any = condition.value
    if isinstance(value, tuple):
        value = list(map(_plain, value))
    return {
        "feature": condition.feature,
        "relation": condition.relation,
        "value": _plain(value),
    }


def _plain(value: Any) -> Any:
    if kind_of(value) is not None:
        return microseconds(value)
    return float(value) if isinstance(value, bool) else value
