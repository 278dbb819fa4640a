"""Models as JavaScript functions without dependencies."""

from __future__ import annotations

import json
from importlib.resources import files

from laconic.explain import RuleModel
from laconic.export.portable import PortableModel, portable_model
from laconic.export.program.data import program_data

# JavaScript has no integers beyond this one, only the nearest doubles.
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
        A script that defines ``predict``, for browsers and for Node.js (``require``). The model is
        in it as data, written so that it can stand in a script element of a page.

    Notes
    -----
    ``predict(row)`` takes an object with a property for each column that rules use, and returns
    ``rawPrediction``, ``prediction``, ``probabilities`` (null for a regression) and ``covered``,
    for each rule whether it covers the row. ``predict.model`` is the model as data. As `predict`
    does here, it refuses infinities and columns of the wrong kind.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(n_rules=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> "const predict = " in to_javascript(model)
    True
    """
    portable = portable_model(model)
    _check_classes(portable)
    template = (files("laconic.export.program") / "predict.js").read_text("utf-8")
    return template.replace("__MODEL__", _embedded_json(program_data(portable)))


def _check_classes(portable: PortableModel) -> None:
    for name in portable.classes or ():
        if type(name) is int and abs(name) > _MAX_SAFE_INTEGER:
            raise ValueError(
                "JavaScript holds whole numbers up to 2**53 - 1 only. Got the class "
                f"{name}. Fit the model with text as classes: y.astype(str)."
            )


def _embedded_json(data: object) -> str:
    """Write JSON that is also JavaScript, and that no page takes for the end of a script."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=True)
    # These characters occur in texts only, where their codes mean the same.
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
