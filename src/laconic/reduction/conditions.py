"""The conditions of a table that comes in parts: the same as if it were in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from laconic.candidates import (
    categorical_propositions,
    numeric_propositions,
    quantile_positions,
)
from laconic.categories import CategoryOptions
from laconic.data.separators import shortest_separator
from laconic.model.conditions import Proposition
from laconic.reduction.roles import Roles
from laconic.reduction.summary import ColumnSummary, TableSummary
from laconic.reduction.sums import Integers
from laconic.reduction.values import MAX_RANGES, ValueCounts, numbers_of


def open_ranges(
    summary: TableSummary, roles: Roles, max_thresholds: int | None
) -> dict[str, Integers]:
    """Tell which ranges of keys have to be looked into, by column, for thresholds to be exact."""
    found = {}
    for name, column in summary.columns.items():
        if column.values is None or column.values.is_exact:
            continue
        values, positions = column.values, _positions(column, roles, max_thresholds)
        wide = positions[values.first[positions] != values.last[positions]]
        if len(wide):
            found[name] = np.column_stack([values.first[wide], values.last[wide]])
    return found


def summary_propositions(
    summary: TableSummary,
    roles: Roles,
    *,
    max_thresholds: int | None,
    categories: CategoryOptions,
) -> tuple[Proposition, ...]:
    """List the conditions that rules may be made of; there must be no open ranges."""
    return tuple(
        proposition
        for column in summary.columns.values()
        for proposition in _propositions(column, roles, max_thresholds, categories)
    )


def _propositions(
    column: ColumnSummary, roles: Roles, max_thresholds: int | None, options: CategoryOptions
) -> Iterator[Proposition]:
    has_missing = column.n_missing > 0
    if column.n_missing == column.n_rows:
        return iter(())
    if column.values is not None:
        thresholds = _thresholds(column.values, _positions(column, roles, max_thresholds))
        return numeric_propositions(column.name, thresholds, has_missing)
    categories = sorted(value for value, amount in column.categories.items() if amount.any())
    amounts = np.array([column.categories[each] for each in categories], dtype=np.int64)
    sizes = roles.total_weight(amounts) if categories else np.empty(0)
    return categorical_propositions(column.name, categories, sizes, has_missing, options)


def _positions(column: ColumnSummary, roles: Roles, max_thresholds: int | None) -> NDArray[np.intp]:
    """Positions of the values, or ranges, after which there is a threshold."""
    values = column.values
    assert values is not None
    n_gaps = len(values.first) - 1
    if max_thresholds is None and not values.is_exact:
        raise ValueError(
            f"Column {column.name!r} has more than {MAX_RANGES:,} different numbers, too many for "
            "a threshold between all of them. Set max_thresholds to a number."
        )
    if max_thresholds is None or n_gaps <= max_thresholds:
        return np.arange(max(n_gaps, 0))
    cumulative = roles.total_weight(np.cumsum(values.amounts, axis=0))
    # The last range may hold the last threshold unless it is a single value.
    n_candidates = n_gaps if values.first[-1] == values.last[-1] else n_gaps + 1
    return quantile_positions(cumulative[:n_candidates], float(cumulative[-1]), max_thresholds)


def _thresholds(values: ValueCounts, positions: NDArray[np.intp]) -> list[float]:
    lows, highs = numbers_of(values.last[positions]), numbers_of(values.first[positions + 1])
    return list(map(shortest_separator, lows.tolist(), highs.tolist()))
