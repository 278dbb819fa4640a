"""Summaries of the columns of a table, and of the rows that terms cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from laconic._util.types import Bools, Floats, Indices
from laconic.models.shapley import distinct_patterns
from laconic.tables.columns import CategoricalColumn, Column, NumericColumn, TimeColumn
from laconic.tables.times import from_microseconds, time_text
from laconic.terms.formatting import plain_text, value_text

N_BINS = 20
MAX_CATEGORIES_SHOWN = 5
# Histograms end at these quantiles, as tails would take most of their width.
INNER_QUANTILES = (0.01, 0.99)


def column_kind(column: Column) -> str:
    """Return "number", "integer", "boolean", "category" or the kind of times of a column."""
    if isinstance(column, TimeColumn):
        return column.kind
    if isinstance(column, NumericColumn):
        known = known_numbers(column)
        return "integer" if len(known) and bool((known == np.round(known)).all()) else "number"
    return "boolean" if _holds_booleans(column) else "category"


def _holds_booleans(column: CategoricalColumn) -> bool:
    return isinstance(next(iter(column.categories), None), bool)


def known_numbers(column: NumericColumn) -> Floats:
    """Return the numbers of a column that are not missing."""
    return column.values[~column.missing]


def summarize_feature(column: Column, terms: Sequence[int]) -> dict[str, Any]:
    """Describe a column: quantiles and a histogram of numbers, or the most frequent categories.

    The terms that use it are counted from 1.
    """
    summary: dict[str, Any] = {
        "name": column.name,
        "label": plain_text(column.name),
        "kind": column_kind(column),
        "terms": list(terms),
        "n_missing": int(column.missing.sum()),
    }
    if isinstance(column, TimeColumn):
        return summary | {"numbers": _summarize_times(column)}
    if isinstance(column, NumericColumn):
        return summary | {"numbers": _summarize_numbers(known_numbers(column))}
    return summary | {"categories": _summarize_categories(column)}


def _summarize_numbers(known: Floats) -> dict[str, Any] | None:
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


def histogram(known: Floats) -> dict[str, Any]:
    """Count numbers in bins of equal width; outliers count in the first or last bin."""
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


def category_counts(column: CategoricalColumn) -> Indices:
    """Count the rows of each category."""
    return np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))


def frequency_order(counts: Indices) -> list[int]:
    """Order categories from the most to the least frequent."""
    order: list[int] = np.argsort(-counts, kind="stable").tolist()
    return order


# A table of more terms does not fit a page.
MAX_TERMS_IN_OVERLAP = 20
# More groups of rows would make a page large.
MAX_GROUPS = 1000


def summarize_coverage(
    covered: Bools,
    target: Floats,
    targets: Sequence[Floats] | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Count the rows of each term, of each pair of terms, and of each number of terms.

    There is a dict per term, with None for the mean target of no rows. In the dict of the overlap,
    ``n_rows_by_n_terms[k]`` rows are covered by exactly k terms, and ``pairs[i][j]`` rows by both
    of two terms, for the first terms only. `targets` has one for each term, where they are not all
    the same.
    """
    n_covering = covered.sum(axis=1)
    targets = [target] * covered.shape[1] if targets is None else targets
    pairs = zip(covered.T, targets, strict=True)
    terms = [_summarize_term(mask, n_covering, each) for mask, each in pairs]
    first = covered[:, :MAX_TERMS_IN_OVERLAP]
    overlap = {
        "n_rows_by_n_terms": np.bincount(n_covering).tolist(),
        "mean_target": float(target.mean()),
        "pairs": [first[mask].sum(axis=0).tolist() for mask in first.T],
    }
    return terms, overlap


def _summarize_term(mask: Bools, n_covering: Indices, target: Floats) -> dict[str, Any]:
    n_covered = int(mask.sum())
    return {
        "n_covered": n_covered,
        "share_covered": n_covered / len(mask),
        "n_covered_alone": int((n_covering[mask] == 1).sum()),
        "mean_target": float(target[mask].mean()) if n_covered else None,
        "mean_target_elsewhere": float(target[~mask].mean()) if n_covered < len(mask) else None,
    }


def group_rows(
    patterns: Bools,
    target: Floats,
    *,
    min_rows: int = 1,
    n_classes: int = 0,
) -> dict[str, Any]:
    """Group the rows with the same pattern of terms, the largest groups first.

    Groups of fewer rows than asked for, and those beyond `MAX_GROUPS`, are left out:
    ``max_rows_left_out`` is the largest number of rows of one of them, 0 if there are none. Of
    three or more classes, groups have the ``counts``.
    """
    patterns, numbers, counts = distinct_patterns(patterns)
    means = np.bincount(numbers, weights=target, minlength=len(counts)) / counts
    by_class = np.zeros((len(counts), n_classes), dtype=np.intp)
    if n_classes:
        np.add.at(by_class, (numbers, target.astype(np.intp)), 1)
    order = np.argsort(-counts, kind="stable")
    is_listed = (counts[order] >= min_rows) & (np.arange(len(order)) < MAX_GROUPS)
    return {
        "groups": [
            {
                "terms": (np.flatnonzero(patterns[group]) + 1).tolist(),
                "n_rows": int(counts[group]),
                "mean_target": float(means[group]),
                **({"counts": by_class[group].tolist()} if n_classes else {}),
            }
            for group in order[is_listed].tolist()
        ],
        "max_rows_left_out": int(counts[order][~is_listed].max(initial=0)),
    }
