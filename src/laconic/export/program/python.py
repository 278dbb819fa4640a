"""Models as Python functions without dependencies."""

from __future__ import annotations

from importlib.resources import files
from pprint import pformat
from typing import Any

import numpy as np

from laconic.explain import RuleModel
from laconic.export.edge_rows import Outputs, check_outputs, edge_rows, expected_outputs
from laconic.export.portable import portable_model
from laconic.export.program.data import program_data

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
        A module that defines ``predict`` and imports the standard library only. The model is in it
        as a literal.

    Notes
    -----
    ``predict(row)`` takes a dict, or anything that gives a cell for the name of a column, and
    returns a dict with "raw_prediction", "prediction", "probabilities" (None for a regression) and
    "covered", for each rule whether it covers the row. It refuses infinities and cells of the wrong
    kind, as `predict` does here.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(l2_regularization=0).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> module = {}
    >>> exec(to_python(model), module)
    >>> module["predict"]({"x0": 2})
    {'raw_prediction': 5.0, 'prediction': 5.0, 'probabilities': None, 'covered': [True]}
    """
    portable = portable_model(model)
    literal = pformat(program_data(portable), width=100, sort_dicts=False)
    template = (files("laconic.export.program") / "standalone.py").read_text("utf-8")
    source = template.replace(_PLACE_OF_MODEL, f"MODEL: dict[str, Any] = {literal}")
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
    )


def _known(probabilities: list[float]) -> Any:
    """Take the probability of the second class of two, and all of more."""
    return probabilities[1] if len(probabilities) == 2 else probabilities
