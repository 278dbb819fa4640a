"""The columns of a table: what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.data.columns import CategoricalColumn, Column, NumericColumn, TimeColumn
from laconic.data.times import from_microseconds, time_text
from laconic.model.formatting import plain_text, value_text

N_BINS = 20
MAX_CATEGORIES_SHOWN = 5
# Histograms leave out the tails, which would take most of their width.
INNER_QUANTILES = (0.01, 0.99)


def feature_kind(column: Column) -> str:
    """Tell "number", "integer", "boolean", "category" and all kinds of times apart."""
    if isinstance(column, TimeColumn):
        return column.kind
    if isinstance(column, NumericColumn):
        known = known_numbers(column)
        return "integer" if len(known) and bool((known == np.round(known)).all()) else "number"
    return "boolean" if _holds_booleans(column) else "category"


def _holds_booleans(column: CategoricalColumn) -> bool:
    return isinstance(next(iter(column.categories), None), bool)


def known_numbers(column: NumericColumn) -> NDArray[np.float64]:
    """Numbers of a column that are not missing."""
    return column.values[~column.missing]


def summarize_feature(column: Column, rule_numbers: Sequence[int]) -> dict[str, Any]:
    """Describe a column: quantiles and a histogram of numbers, or the most frequent categories.

    The rules that use it are counted from 1.
    """
    summary: dict[str, Any] = {
        "name": column.name,
        "label": plain_text(column.name),
        "kind": feature_kind(column),
        "rules": list(rule_numbers),
        "n_missing": int(column.missing.sum()),
    }
    if isinstance(column, TimeColumn):
        return summary | {"numbers": _summarize_times(column)}
    if isinstance(column, NumericColumn):
        return summary | {"numbers": _summarize_numbers(known_numbers(column))}
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


def _summarize_times(column: TimeColumn) -> dict[str, Any] | None:
    numbers = _summarize_numbers(known_numbers(column))
    if numbers is None:
        return None
    texts = {
        name: time_text(from_microseconds(round(number), column.kind))
        for name, number in numbers.items()
        if name != "histogram"
    }
    return numbers | texts


def histogram(known: NDArray[np.float64]) -> dict[str, Any]:
    """Count numbers in bins of equal width; what lies far out counts in the first or last bin."""
    low, high = np.quantile(known, INNER_QUANTILES).tolist()
    if not high > low:
        low, high = float(known.min()), float(known.max())
    if not high > low:
        width = max(0.5, 1e-6 * abs(low))
        low, high = low - width, high + width
    counts, edges = np.histogram(known.clip(low, high), bins=N_BINS, range=(low, high))
    return {"edges": edges.tolist(), "counts": counts.tolist()}


def _summarize_categories(column: CategoricalColumn) -> dict[str, Any]:
    counts = category_counts(column)
    order = frequency_order(counts)[:MAX_CATEGORIES_SHOWN]
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


def category_counts(column: CategoricalColumn) -> NDArray[np.intp]:
    """Count the rows of each category."""
    return np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))


def frequency_order(counts: NDArray[np.intp]) -> list[int]:
    """Order categories from the most to the least frequent."""
    order: list[int] = np.argsort(-counts, kind="stable").tolist()
    return order
