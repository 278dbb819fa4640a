"""A model without dependencies: predict(row), from a row with the columns that rules use."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Real
from typing import Any

MODEL: dict[str, Any] = {}


def predict(row: Any) -> dict[str, Any]:
    """Predict for one row.

    Parameters
    ----------
    row : dict or other mapping
        Numbers and booleans (which count as 0 and 1), or text, by column. None and NaN are missing
        values.

    Returns
    -------
    result : dict
        "raw_prediction", the intercept plus the weights of the rules that cover the row;
        "prediction", the class or the number; "probabilities" of the classes in ascending order,
        None for a regression; and "covered", for each rule whether it covers the row.
    """
    cells = {
        feature["name"]: _read_cell(row, feature["name"], feature["kind"])
        for feature in MODEL["features"]
    }
    covered = [
        all(
            _holds(cells[condition["feature"]], condition["relation"], condition["value"])
            for condition in rule["conditions"]
        )
        for rule in MODEL["rules"]
    ]
    raw_prediction = MODEL["intercept"]
    for rule, is_covered in zip(MODEL["rules"], covered, strict=True):
        if is_covered:
            raw_prediction += rule["weight"]
    mean = _mean(raw_prediction, MODEL["link"])
    is_classifier = MODEL["classes"] is not None
    return {
        "raw_prediction": raw_prediction,
        "prediction": MODEL["classes"][raw_prediction > 0] if is_classifier else mean,
        "probabilities": [1.0 - mean, mean] if is_classifier else None,
        "covered": covered,
    }


def _read_cell(row: Any, name: str, kind: str) -> Any:
    """Return a float, a text, or None where the value is missing."""
    try:
        value = row[name]
    except (KeyError, IndexError):
        raise KeyError(
            f"The row must have the column {name!r}. Set it to None where it is missing."
        ) from None
    if value is None or type(value).__name__ == "NAType":
        return None
    if isinstance(value, Real | Decimal) and value != value:
        return None
    is_text = isinstance(value, str)
    # The booleans of NumPy are no numbers, but have this name too.
    is_number = isinstance(value, Real | Decimal) or type(value).__name__ in ("bool", "bool_")
    if not {"any": is_text or is_number, "text": is_text}.get(kind, is_number):
        needed = {"any": "text or numbers", "text": "text"}.get(kind, "numbers or booleans")
        raise TypeError(
            f"Column {name!r} must hold {needed}. Got a value of type {type(value).__name__}. "
            "Convert it, or set it to None where it is missing."
        )
    if is_text:
        return str(value)
    number = float(value)
    if math.isinf(number):
        raise ValueError(
            f"Column {name!r} contains infinity, but numbers must be finite. Replace it by a "
            "finite value or by None (missing)."
        )
    return number


def _holds(cell: Any, relation: str, value: Any) -> bool:
    if relation == "is missing":
        return cell is None
    if cell is None:
        return False
    if relation == "is present":
        return True
    if relation == "<=":
        return bool(cell <= value)
    if relation == ">":
        return bool(cell > value)
    return bool((cell == value) == (relation == "=="))


def _mean(raw_prediction: float, link: str) -> float:
    if link == "log":
        return math.exp(raw_prediction)
    return _sigmoid(raw_prediction) if link == "logistic" else raw_prediction


def _sigmoid(number: float) -> float:
    # The exponential of a large number is an error in Python, so it is taken of a negative one.
    exponential = math.exp(-abs(number))
    return (1.0 if number >= 0 else exponential) / (1.0 + exponential)
