"""How a reader changes a row: a slider, a switch or a menu per feature, and where they start."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from laconic.data.columns import CategoricalColumn, Category, Column, NumericColumn
from laconic.model.conditions import Proposition
from laconic.model.formatting import plain_text, value_text
from laconic.report.features import (
    INNER_QUANTILES,
    category_counts,
    feature_kind,
    frequency_order,
    known_numbers,
)

# A menu that is longer is not read to its end.
MAX_MENU = 60
# Stops of a slider: fine enough to reach any place, few enough for the arrow keys.
N_STOPS = 100


def typical_value(column: Column) -> Category | None:
    """Find the median of numbers, rounded to what people read, or the most frequent category."""
    if isinstance(column, CategoricalColumn):
        counts = category_counts(column)
        return column.categories[int(counts.argmax())] if counts.any() else None
    known = known_numbers(column)
    if not len(known):
        return None
    if feature_kind(column) == "integer":
        return float(np.quantile(known, 0.5, method="lower"))
    return float(f"{np.median(known):.4g}")


def control(
    column: Column, propositions: Collection[Proposition], occurring: Collection[Category | None]
) -> dict[str, Any]:
    """Describe how a reader changes a feature.

    The thresholds of all conditions on it lie within a slider, of which there are ``low``, ``high``
    and ``step``. A menu has the values of these conditions and those that occur as ``options``, and
    an ``other`` value that is none of them.
    """
    values = [p.value for p in propositions if p.value is not None]
    kind = _control_kind(column, values)
    described = {"name": column.name, "label": plain_text(column.name), "kind": kind}
    if kind in ("number", "integer"):
        thresholds = [float(value) for value in values]
        return described | _slider(column, thresholds, is_integer=kind == "integer")
    return described | _menu(column, values, occurring) if kind == "category" else described


def _control_kind(column: Column, values: Sequence[Category]) -> str:
    """Tell what a column holds, from conditions where the column itself has no values."""
    is_empty = isinstance(column, CategoricalColumn) and not column.categories
    if is_empty and values and not any(isinstance(value, str) for value in values):
        return "number"
    return feature_kind(column)


def _slider(column: Column, thresholds: list[float], *, is_integer: bool) -> dict[str, Any]:
    known = known_numbers(column) if isinstance(column, NumericColumn) else np.empty(0)
    ends = np.quantile(known, INNER_QUANTILES).tolist() if len(known) else []
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
        frequent = [column.categories[c] for c in frequency_order(category_counts(column))]
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
