"""The columns of a table: what they hold, and how a reader may change them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.report.words import plain_text, value_text
from laconic.rules import Proposition
from laconic.tables import CategoricalColumn, Category, Column, NumericColumn

__all__ = ["cell", "control", "feature_kind", "summarize_feature", "typical_value"]

N_BINS = 20
MAX_CATEGORIES_SHOWN = 5
# A menu that is longer is not read to its end.
MAX_MENU = 60
# Sliders leave out the tails, in which nothing would move for most of their way.
SLIDER_QUANTILES = (0.01, 0.99)
# Stops of a slider: fine enough to reach any place, few enough for the arrow keys.
N_STOPS = 100


def feature_kind(column: Column) -> str:
    """Tell "number", "integer", "boolean" and "category" columns apart."""
    if isinstance(column, NumericColumn):
        known = _known(column)
        return "integer" if len(known) and bool((known == np.round(known)).all()) else "number"
    return "boolean" if _holds_booleans(column) else "category"


def _holds_booleans(column: CategoricalColumn) -> bool:
    return isinstance(next(iter(column.categories), None), bool)


def _known(column: NumericColumn) -> NDArray[np.float64]:
    return column.values[~column.missing]


def summarize_feature(column: Column, rule_numbers: Sequence[int]) -> dict[str, Any]:
    """Describe the values of a column.

    Parameters
    ----------
    column : NumericColumn or CategoricalColumn
        The column.
    rule_numbers : sequence of int
        The rules that use it, counted from 1.

    Returns
    -------
    summary : dict
        Quantiles and a histogram of numbers, or the most frequent categories.
    """
    summary: dict[str, Any] = {
        "name": column.name,
        "label": plain_text(column.name),
        "kind": feature_kind(column),
        "rules": list(rule_numbers),
        "n_missing": int(column.missing.sum()),
    }
    if isinstance(column, NumericColumn):
        return summary | {"numbers": _summarize_numbers(_known(column))}
    return summary | {"categories": _summarize_categories(column)}


def _summarize_numbers(known: NDArray[np.float64]) -> dict[str, Any] | None:
    if not len(known):
        return None
    names = ("min", "first_quartile", "median", "third_quartile", "max")
    quantiles = np.quantile(known, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return {
        **dict(zip(names, quantiles, strict=True)),
        "mean": float(known.mean()),
        "histogram": histogram(known),
    }


def histogram(known: NDArray[np.float64]) -> dict[str, Any]:
    """Count numbers in bins of equal width; what lies far out counts in the first or last bin."""
    low, high = np.quantile(known, SLIDER_QUANTILES).tolist()
    if not high > low:
        low, high = float(known.min()), float(known.max())
    if not high > low:
        low, high = low - 0.5, high + 0.5
    counts, edges = np.histogram(known.clip(low, high), bins=N_BINS, range=(low, high))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _summarize_categories(column: CategoricalColumn) -> dict[str, Any]:
    counts = _category_counts(column)
    order = _most_frequent(counts)[:MAX_CATEGORIES_SHOWN]
    most_frequent = [
        {
            "value": column.categories[code],
            "label": value_text(column.categories[code]),
            "count": int(counts[code]),
        }
        for code in order
    ]
    return {
        "n_categories": len(column.categories),
        "most_frequent": most_frequent,
        "n_others": int(counts.sum() - counts[order].sum()),
    }


def _category_counts(column: CategoricalColumn) -> NDArray[np.intp]:
    return np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))


def _most_frequent(counts: NDArray[np.intp]) -> list[int]:
    order: list[int] = np.argsort(-counts, kind="stable").tolist()
    return order


def cell(column: Column, row: int) -> Category | None:
    """Read the value of a row; None where it is missing."""
    if isinstance(column, NumericColumn):
        number = float(column.values[row])
        return None if math.isnan(number) else number
    code = int(column.codes[row])
    return None if code < 0 else column.categories[code]


def typical_value(column: Column) -> Category | None:
    """Find the median of numbers, rounded to what people read, or the most frequent category."""
    if isinstance(column, CategoricalColumn):
        counts = _category_counts(column)
        return column.categories[int(counts.argmax())] if counts.any() else None
    known = _known(column)
    if not len(known):
        return None
    if feature_kind(column) == "integer":
        return float(np.quantile(known, 0.5, method="lower"))
    return float(f"{np.median(known):.4g}")


def control(
    column: Column, propositions: Collection[Proposition], occurring: Collection[Category | None]
) -> dict[str, Any]:
    """Describe how a reader changes a feature.

    Parameters
    ----------
    column : NumericColumn or CategoricalColumn
        What it holds in the table of the report.
    propositions : collection of Proposition
        All conditions of the model on this feature: their thresholds lie within the slider, their
        values are on the menu.
    occurring : collection of str, bool, int, float or None
        Values that must be on the menu, too.

    Returns
    -------
    control : dict
        Its kind decides what else there is: ``low``, ``high`` and ``step`` of a slider, or the
        ``options`` of a menu and an ``other`` value that is none of them.
    """
    # Conditions know better than a table whose column happens to be empty.
    values = [p.value for p in propositions if p.value is not None]
    kind = feature_kind(column)
    if isinstance(column, NumericColumn) or (values and _are_numbers(values, column)):
        kind = kind if isinstance(column, NumericColumn) else "number"
        slider = _slider(column, [float(value) for value in values], kind == "integer")
        return {"name": column.name, "label": plain_text(column.name), "kind": kind} | slider
    described = {"name": column.name, "label": plain_text(column.name), "kind": kind}
    return described if kind == "boolean" else described | _menu(column, values, occurring)


def _are_numbers(values: Sequence[Category], column: CategoricalColumn) -> bool:
    return not column.categories and not any(isinstance(value, str) for value in values)


def _slider(column: Column, thresholds: list[float], is_integer: bool) -> dict[str, Any]:
    known = _known(column) if isinstance(column, NumericColumn) else np.empty(0)
    ends = np.quantile(known, SLIDER_QUANTILES).tolist() if len(known) else []
    low, high = min([*ends, *thresholds], default=0.0), max([*ends, *thresholds], default=1.0)
    step = _nice_step((high - low) or abs(high) or 1.0)
    if is_integer:
        step = max(1.0, step)
    low, high = math.floor(low / step) * step, math.ceil(high / step) * step
    # A threshold itself is on its lower side; the upper one must be within reach, too.
    if thresholds and high <= max(thresholds):
        high += step
    return {"low": _trimmed(low), "high": _trimmed(high), "step": _trimmed(step)}


def _nice_step(width: float) -> float:
    """Round a hundredth of a range to 1, 2 or 5 times a power of ten."""
    # Within what a double holds with all its digits.
    raw = min(max(width / N_STOPS, 1e-300), 1e300)
    power = 10.0 ** math.floor(math.log10(raw))
    return power * next(factor for factor in (1, 2, 5, 10) if raw <= factor * power * (1 + 1e-9))


def _trimmed(number: float) -> float:
    """Take off what multiplying by a power of ten adds behind the digits."""
    return float(f"{number:.12g}")


def _menu(
    column: Column, values: Sequence[Category], occurring: Collection[Category | None]
) -> dict[str, Any]:
    frequent: list[Category] = []
    if isinstance(column, CategoricalColumn):
        frequent = [column.categories[c] for c in _most_frequent(_category_counts(column))]
    wanted = [*values, *(value for value in occurring if value is not None), *frequent[:MAX_MENU]]
    options = sorted(dict.fromkeys(wanted), key=lambda value: (str(type(value)), value))
    return {
        "options": [{"value": value, "label": value_text(value)} for value in options],
        "other": _other_value(options),
    }


def _other_value(options: Sequence[Category]) -> Category:
    """Make up a value that is not on the menu, of the same kind."""
    numbers = [value for value in options if not isinstance(value, str)]
    if numbers:
        return float(max(numbers)) + 1
    other = "other"
    while other in options:
        other += "*"
    return other
