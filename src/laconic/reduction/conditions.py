"""The conditions of a table that comes in parts: the same as if it were in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from laconic.candidates import (
    categorical_propositions,
    missing_propositions,
    numeric_propositions,
)
from laconic.categories import CategoryOptions, ordered_propositions
from laconic.data.gaps import find_gaps, quantile_positions, with_play
from laconic.data.separators import shortest_separators
from laconic.data.times import Moment, round_separator
from laconic.model.conditions import Proposition
from laconic.reduction.roles import Roles
from laconic.reduction.summary import ColumnSummary, TableSummary
from laconic.reduction.sums import Integers
from laconic.reduction.values import MAX_RANGES, numbers_of


def open_ranges(
    summary: TableSummary, roles: Roles, max_thresholds: int | None
) -> dict[str, Integers]:
    """Tell which ranges of keys have to be looked into, by column, for thresholds to be exact."""
    found = {}
    for name, column in summary.columns.items():
        if column.values is None or column.values.is_exact:
            continue
        values, positions = column.values, _cuts(column, roles, max_thresholds).exact
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
        thresholds = _thresholds(column, _cuts(column, roles, max_thresholds))
        return numeric_propositions(column.name, thresholds, has_missing)
    categories = sorted(value for value, amount in column.categories.items() if amount.any())
    amounts = np.array([column.categories[each] for each in categories], dtype=np.int64)
    sizes = roles.total_weight(amounts) if categories else np.empty(0)
    if column.order:
        ranks = np.array([*map(column.order.index, categories)], dtype=np.float64)
        cuts = find_gaps(ranks, sizes, max_thresholds)[0].astype(int).tolist()
        ordered = ordered_propositions(column.name, column.order, cuts)
        return chain(ordered, missing_propositions(column.name, has_missing))
    return categorical_propositions(column.name, categories, sizes, has_missing, options)


@dataclass(frozen=True)
class _Cuts:
    """Between which values, or ranges of them, thresholds may be."""

    below: NDArray[np.intp]
    above: NDArray[np.intp]
    """Positions before the first values that are above a threshold."""
    exact: NDArray[np.intp]
    """Positions of what has to be a single value."""


def _cuts(column: ColumnSummary, roles: Roles, max_thresholds: int | None) -> _Cuts:
    values = column.values
    assert values is not None
    n_gaps = len(values.first) - 1
    if max_thresholds is None and not values.is_exact:
        raise ValueError(
            f"Column {column.name!r} has more than {MAX_RANGES:,} different values, too many for "
            "a threshold between all of them. Set max_thresholds to a number."
        )
    if max_thresholds is None or n_gaps <= max_thresholds:
        chosen = np.arange(max(n_gaps, 0))
        return _Cuts(chosen, chosen, chosen)
    cumulative = roles.total_weight(np.cumsum(values.amounts, axis=0))
    total = float(cumulative[-1])
    # The last range may hold the last threshold unless it is a single value.
    cumulative = cumulative[: n_gaps if values.first[-1] == values.last[-1] else n_gaps + 1]
    chosen = quantile_positions(cumulative, total, max_thresholds)
    if column.time_kind is None:
        return _Cuts(chosen, chosen, chosen)
    lowest, highest = with_play(cumulative, chosen, total, max_thresholds)
    return _Cuts(
        lowest,
        highest,
        np.unique(np.concatenate([chosen, lowest, np.minimum(highest + 1, n_gaps)])),
    )


def _thresholds(column: ColumnSummary, cuts: _Cuts) -> list[float | Moment]:
    values = column.values
    assert values is not None
    lows, highs = numbers_of(values.last[cuts.below]), numbers_of(values.first[cuts.above + 1])
    if column.time_kind is None:
        return [*shortest_separators(lows, highs).tolist()]
    kind = column.time_kind
    gaps = zip(lows.tolist(), highs.tolist(), strict=True)
    return list(dict.fromkeys(round_separator(low, high, kind) for low, high in gaps))
