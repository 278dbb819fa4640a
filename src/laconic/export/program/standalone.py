"""A model without dependencies: predict(row), for a row with the columns that terms use."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

MODEL: dict[str, Any] = {}

_NUMPY_TIMES = ("datetime64", "timedelta64")


def predict(row: Any) -> dict[str, Any]:
    """Predict for one row.

    Parameters
    ----------
    row : dict or other mapping
        Numbers and booleans (which count as 0 and 1), or text, by column. Dates and times are those
        of datetime, or text such as 2024-03-01 12:30; durations are timedelta, or seconds. None and
        NaN are missing values.

    Returns
    -------
    result : dict
        "raw_prediction", the intercept plus what the terms add to the row, or a list of such sums,
        one for each of three or more classes;
        "prediction", the class or the number; "probabilities" of the classes, in the order of
        MODEL["classes"], None for a regression; "contributions", what each term adds; and
        "covered", for each rule whether it covers the row, and for each slope whether the row is
        above its lower end.
    """
    cells: dict[str, Any] = {}
    for feature in MODEL["features"]:
        name = feature["name"]
        if "part" in feature:
            cells[name] = _part(cells[feature["of"]], feature["part"])
        else:
            cells[name] = _read_cell(row, name, feature["kind"])
    values = [_value(term, cells) for term in MODEL["terms"]]
    contributions = [
        term["weight"] * value if value else 0.0
        for term, value in zip(MODEL["terms"], values, strict=True)
    ]
    explained = {"contributions": contributions, "covered": [value > 0.0 for value in values]}
    if MODEL["link"] == "softmax":
        return _predict_classes(contributions) | explained
    raw_prediction = MODEL["intercept"]
    for added in contributions:
        raw_prediction += added
    mean = _mean(raw_prediction, MODEL["link"])
    is_classifier = MODEL["classes"] is not None
    return {
        "raw_prediction": raw_prediction,
        "prediction": MODEL["classes"][raw_prediction > 0] if is_classifier else mean,
        "probabilities": [1.0 - mean, mean] if is_classifier else None,
        **explained,
    }


def _predict_classes(contributions: list[float]) -> dict[str, Any]:
    """Predict one of three or more classes, each of which has a raw prediction."""
    raw_prediction = list(MODEL["intercept"])
    for term, added in zip(MODEL["terms"], contributions, strict=True):
        raw_prediction[term["output"]] += added
    largest = max(raw_prediction)
    exponentials = [math.exp(each - largest) for each in raw_prediction]
    total = sum(exponentials)
    return {
        "raw_prediction": raw_prediction,
        "prediction": MODEL["classes"][raw_prediction.index(largest)],
        "probabilities": [each / total for each in exponentials],
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
    is_time = isinstance(value, date | time | timedelta) or type(value).__name__ in _NUMPY_TIMES
    # NaN, and NaT of NumPy and pandas, are not equal to themselves.
    if (is_time or isinstance(value, Real | Decimal)) and value != value:
        return None
    if kind in ("date", "time", "duration"):
        return _read_time(value, name, kind)
    if is_time and kind == "any":
        return str(value)
    is_text = isinstance(value, str)
    # The booleans of NumPy are not instances of Real; they are recognised by their name.
    is_number = isinstance(value, Real | Decimal) or type(value).__name__ in ("bool", "bool_")
    if not {"any": is_text or is_number, "text": is_text}.get(kind, is_number):
        needed = {"any": "text, numbers or times", "text": "text"}.get(kind, "numbers or booleans")
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


def _read_time(value: Any, name: str, kind: str) -> float | None:
    """Return microseconds since 1970, since midnight, or of a duration."""
    if type(value).__name__ in _NUMPY_TIMES:
        value = value.astype(f"{value.dtype.kind}8[us]").item()
    if isinstance(value, str) and kind != "duration":
        value = (datetime if kind == "date" else time).fromisoformat(value)
    if isinstance(value, Real | Decimal) and kind == "duration":
        value = timedelta(seconds=float(value))
    if kind == "date" and isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if value is None:
        return None
    needed: Any = {"date": datetime, "time": time, "duration": timedelta}[kind]
    if not isinstance(value, needed):
        raise TypeError(
            f"Column {name!r} must hold {kind}s. Got a value of type {type(value).__name__}. "
            "Convert it, or set it to None where it is missing."
        )
    if kind == "date":
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        value = value - datetime(1970, 1, 1)
    elif kind == "time":
        value = datetime.combine(date(1970, 1, 1), value.replace(tzinfo=None)) - datetime(
            1970, 1, 1
        )
    return float(value // timedelta(microseconds=1))


def _part(microseconds: float | None, part: str) -> Any:
    """Return the year, month, day, weekday or hour of a date."""
    if microseconds is None:
        return None
    moment = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    if part == "weekday":
        return ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[moment.weekday()]
    if part == "month":
        months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
        return months.split()[moment.month - 1]
    return float(getattr(moment, part))


def _value(term: dict[str, Any], cells: dict[str, Any]) -> float:
    """Return what a term adds if its weight is 1."""
    if "conditions" in term:
        return float(
            all(
                _holds(cells[condition["feature"]], condition["relation"], condition["value"])
                for condition in term["conditions"]
            )
        )
    cell, lower = cells[term["feature"]], term["lower"]
    number = term["missing"] if cell is None else min(max(cell, lower), term["upper"])
    return float((number - lower) / term["unit"])


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
    if relation in ("in", "not in"):
        return (cell in value) == (relation == "in")
    return bool((cell == value) == (relation == "=="))


def _mean(raw_prediction: float, link: str) -> float:
    if link == "log":
        return math.exp(raw_prediction)
    return _sigmoid(raw_prediction) if link == "logistic" else raw_prediction


def _sigmoid(number: float) -> float:
    # math.exp raises an error for large numbers, so its argument is never positive.
    exponential = math.exp(-abs(number))
    return (1.0 if number >= 0 else exponential) / (1.0 + exponential)
