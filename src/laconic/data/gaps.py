"""Neighbouring values of a column that thresholds are put between."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic.data.columns import read_only

Floats: TypeAlias = NDArray[np.float64]
Gaps: TypeAlias = tuple[Floats, Floats]
"""The values below and those above."""

# Dates are round if they may be a little off their quantile.
TIME_PLAY = 0.33


def find_gaps(
    values: Floats,
    weights: Floats | None,
    max_thresholds: int | None,
    *,
    has_play: bool = False,
) -> Gaps:
    """Find values to put thresholds between: neighbours, unless there is play."""
    order = None if weights is None else np.argsort(values)
    ordered = np.sort(values) if order is None else values[order]
    gaps = np.flatnonzero(ordered[1:] != ordered[:-1])  # between this position and the next
    first = last = gaps
    if max_thresholds is not None and len(gaps) > max_thresholds:
        if weights is None or order is None:
            cumulative, total = (gaps + 1).astype(np.float64), float(len(values))
        else:
            sums = np.cumsum(weights[order])
            cumulative, total = sums[gaps], float(sums[-1])
        if weights is None and len(gaps) == len(values) - 1:
            chosen = _even_positions(len(gaps), max_thresholds)
        else:
            chosen = quantile_positions(cumulative, total, max_thresholds)
        first = last = gaps[chosen]
        if has_play:
            lowest, highest = with_play(cumulative, chosen, total, max_thresholds)
            first, last = gaps[lowest], gaps[highest]
    return ordered[first], ordered[last + 1]


def with_play(
    cumulative: Floats, chosen: NDArray[np.intp], total: float, n_quantiles: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and last positions that are near enough to those of quantiles.

    A threshold may be off its quantile by some share of the distance between two of them, to either
    side.
    """
    width = TIME_PLAY * total / (n_quantiles + 1) * (1 - 1e-9)
    lowest = np.searchsorted(cumulative, cumulative[chosen] - width)
    highest = np.searchsorted(cumulative, cumulative[chosen] + width, side="right") - 1
    return lowest, np.maximum(highest, chosen)


@lru_cache(maxsize=16)
def _even_positions(n_gaps: int, n_quantiles: int) -> NDArray[np.intp]:
    """Positions of quantiles where all values differ, as in all columns of measurements."""
    cumulative = np.arange(1.0, n_gaps + 1.0)
    return read_only(quantile_positions(cumulative, n_gaps + 1.0, n_quantiles))


def quantile_positions(
    cumulative: NDArray[Any], total: float, n_quantiles: int
) -> NDArray[np.intp]:
    """Positions at which cumulative weights reach quantiles of the total weight."""
    # A little less than k / (n_quantiles + 1) of the total: where a cumulative weight
    # meets that exactly, rounding must not decide, so that weights and repeated rows,
    # and weights of any scale, cut alike.
    steps = np.arange(1, n_quantiles + 1) / (n_quantiles + 1)
    positions = np.searchsorted(cumulative, steps * (total * (1 - 1e-9)))
    is_new = np.diff(positions, prepend=-1) > 0
    return positions[is_new & (positions < len(cumulative))]
