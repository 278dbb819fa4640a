"""Short thresholds, and the values of a column to put them between.

`find_gaps` chooses neighbouring values at quantiles, and `shortest_separators` the thresholds with
the fewest digits between them.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats, Indices, Integers
from laconic.tables.columns import read_only

# Doubles range from 5e-324 to 1.8e308 and print with at most 17 digits, so the
# sum of two of them, as printed, has fewer than 700 digits.
EXACT = Context(prec=700)
MAX_DIGITS = 17
ROUNDINGS = tuple(
    (Context(prec=n_digits, rounding=ROUND_FLOOR), Context(prec=n_digits, rounding=ROUND_CEILING))
    for n_digits in range(1, MAX_DIGITS + 1)
)
# Powers of ten that are doubles themselves.
POWERS = np.array([float(10**power) for power in range(23)])
# With up to 8 digits, doubles are off their exact values by less than 1e-7 of the last digit.
SAFE_DIGITS, SAFE_DISTANCE = 8, 1e-6
# Whole numbers up to this, and sums of two of them, are exact.
LARGEST_WHOLE = 2.0**51


def shortest_separator(low: float, high: float) -> float:
    """Return the threshold between two numbers that has the fewest digits.

    Of all decimals that read as a number t with low <= t < high, one with the fewest
    significant digits (0 has none); of these the nearest to the midpoint of the two
    numbers as printed; of two equally near the lower.

    Examples
    --------
    >>> [shortest_separator(*gap) for gap in ((29, 31), (18, 67), (29, 30), (-5, 100))]
    [30.0, 40.0, 29.0, 0.0]
    """
    low, high = float(low), float(high)
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"'low' and 'high' must be finite with low < high. Got {low}, {high}.")
    if low <= 0.0 < high:
        return 0.0
    return _by_decimals(low, high)


def shortest_separators(lows: Floats, highs: Floats) -> Floats:
    """Find the same thresholds as `shortest_separator`, for many pairs of numbers at once.

    Examples
    --------
    >>> shortest_separators(np.array([29.0, 18.0, -5.0]), np.array([31.0, 67.0, 100.0]))
    array([30., 40.,  0.])
    """
    separators = np.full(len(lows), np.nan)
    separators[(lows <= 0.0) & (highs > 0.0)] = 0.0
    for find in (_all_by_doubles, _all_whole):
        left = np.flatnonzero(np.isnan(separators))
        if len(left):
            # Results that overflow are not used.
            with np.errstate(all="ignore"):
                separators[left] = find(lows[left], highs[left])
    for i in np.flatnonzero(np.isnan(separators)).tolist():
        separators[i] = shortest_separator(lows[i], highs[i])
    return separators


def _all_by_doubles(lows: Floats, highs: Floats) -> Floats:
    """Find separators with doubles; NaN where these are not exact enough."""
    separators = np.full(len(lows), np.nan)
    midpoints = 0.5 * lows + 0.5 * highs
    left = np.flatnonzero((np.abs(midpoints) > 1e-14) & (np.abs(midpoints) < 1e22))
    powers = _powers_of_ten(np.abs(midpoints))
    for n_digits in range(SAFE_DIGITS):
        left = left[n_digits - powers[left] < len(POWERS)]
        if not len(left):
            break
        low, high, midpoint = lows[left], highs[left], midpoints[left]
        n_decimals = n_digits - powers[left]
        scale, has_decimals = POWERS[np.abs(n_decimals)], n_decimals > 0
        scaled = np.where(has_decimals, midpoint * scale, midpoint / scale)
        below = np.floor(scaled)
        rest = scaled - below
        # Too close to decide which decimals are next to the midpoint, or which of them is nearer.
        distance = np.abs(rest - 0.5)
        is_safe = ~((distance > 0.5 - SAFE_DISTANCE) | (distance < SAFE_DISTANCE))
        is_found = np.zeros(len(left), dtype=bool)
        for digits in (below + (rest > 0.5), below + (rest <= 0.5)):
            # Both operands are exact, so that the result is rounded as if it was parsed.
            threshold = np.where(has_decimals, digits / scale, digits * scale)
            fits = is_safe & ~is_found & (low <= threshold) & (threshold < high)
            separators[left[fits]] = threshold[fits]
            is_found |= fits
        left = left[is_safe & ~is_found]
    return separators


def _powers_of_ten(numbers: Floats) -> Integers:
    """Find the largest powers of ten that are not larger than numbers, as `math.log10` does."""
    logarithms = np.log10(numbers)
    # Next to a power of ten, the last bit decides.
    for i in np.flatnonzero(np.abs(logarithms - np.rint(logarithms)) < 1e-9).tolist():
        logarithms[i] = math.log10(numbers[i])
    logarithms[~np.isfinite(logarithms)] = 0.0
    return np.floor(logarithms).astype(np.int64)


def _all_whole(lows: Floats, highs: Floats) -> Floats:
    """Find separators of whole numbers, such as counts; NaN where numbers are not whole."""
    separators = np.full(len(lows), np.nan)
    is_whole = (lows == np.floor(lows)) & (highs == np.floor(highs))
    # Midpoints between -1 and 1 are excluded: some are halves.
    is_whole &= (np.abs(lows) < LARGEST_WHOLE) & (np.abs(highs) < LARGEST_WHOLE)
    left = np.flatnonzero(is_whole & (np.abs(lows + highs) >= 2.0))
    low, high = lows[left].astype(np.int64), highs[left].astype(np.int64)
    doubled = low + high  # the midpoint, twice
    n_zeros = np.searchsorted(2 * 10 ** np.arange(17), np.abs(doubled), side="right") - 1
    while len(left):
        step = 10 ** np.maximum(n_zeros, 0)
        below = doubled // (2 * step) * step
        is_above_nearer = 2 * (below + step) - doubled < doubled - 2 * below
        first = np.where(is_above_nearer, below + step, below)
        second = np.where(is_above_nearer, below, below + step)
        for threshold in (second, first):
            fits = (low <= threshold) & (threshold < high)
            separators[left[fits]] = threshold[fits]
        rest = np.isnan(separators[left])
        left, low, high, doubled = left[rest], low[rest], high[rest], doubled[rest]
        n_zeros = n_zeros[rest] - 1
    return separators


# Columns of counts or of prices have many gaps in common.
@lru_cache(maxsize=2**14)
def _by_decimals(low: float, high: float) -> float:
    midpoint = _printed_midpoint(low, high)
    candidates = (
        candidate
        for floor, ceiling in ROUNDINGS
        for candidate in _neighbours(midpoint, floor.plus(midpoint), ceiling.plus(midpoint))
    )
    # Ends, for `low` itself has at most 17 digits.
    return next(t for t in map(float, candidates) if low <= t < high)


def _printed_midpoint(low: float, high: float) -> Decimal:
    # As printed: between 0.1 and 0.4 the middle is 0.25, though not quite so
    # between the nearest doubles.
    total = EXACT.add(Decimal(repr(low)), Decimal(repr(high)))
    # A decimal beyond the last double below `high` may read back as `high`.
    last = Decimal(repr(math.nextafter(high, -math.inf)))
    return min(EXACT.divide(total, Decimal(2)), last)


def _neighbours(number: Decimal, below: Decimal, above: Decimal) -> tuple[Decimal, Decimal]:
    """Return the decimals below and above a number, the nearest first."""
    is_above_nearer = EXACT.subtract(above, number) < EXACT.subtract(number, below)
    return (above, below) if is_above_nearer else (below, above)


Gaps: TypeAlias = tuple[Floats, Floats]
"""The values below and those above."""

# Thresholds on dates may differ a little from their quantile, so that they are round.
TIME_PLAY = 0.33


def find_gaps(
    values: Floats,
    weights: Floats | None,
    max_thresholds: int | None,
    *,
    has_play: bool = False,
) -> Gaps:
    """Find values to put thresholds between: neighbours, unless there is some tolerance."""
    if weights is None:
        return gaps_of(np.sort(values), None, max_thresholds, has_play=has_play)
    order = np.argsort(values)
    return gaps_of(values[order], weights[order], max_thresholds, has_play=has_play)


def gaps_of(
    ordered: Floats,
    weights: Floats | None,
    max_thresholds: int | None,
    *,
    has_play: bool = False,
) -> Gaps:
    """Do the same as `find_gaps` for values in ascending order."""
    gaps = np.flatnonzero(ordered[1:] != ordered[:-1])  # between this position and the next
    first = last = gaps
    if max_thresholds is not None and len(gaps) > max_thresholds:
        if weights is None:
            cumulative, total = (gaps + 1).astype(np.float64), float(len(ordered))
        else:
            sums = np.cumsum(weights)
            cumulative, total = sums[gaps], float(sums[-1])
        if weights is None and len(gaps) == len(ordered) - 1:
            chosen = _even_positions(len(gaps), max_thresholds)
        else:
            chosen = quantile_positions(cumulative, total, max_thresholds)
        first = last = gaps[chosen]
        if has_play:
            lowest, highest = with_play(cumulative, chosen, total, max_thresholds)
            first, last = gaps[lowest], gaps[highest]
    return ordered[first], ordered[last + 1]


def with_play(
    cumulative: Floats, chosen: Indices, total: float, n_quantiles: int
) -> tuple[Indices, Indices]:
    """Return the first and last positions that are near enough to those of quantiles.

    A threshold may differ from its quantile by a fraction of the distance between two quantiles.
    """
    width = TIME_PLAY * total / (n_quantiles + 1) * (1 - 1e-9)
    lowest = np.searchsorted(cumulative, cumulative[chosen] - width)
    highest = np.searchsorted(cumulative, cumulative[chosen] + width, side="right") - 1
    return lowest, np.maximum(highest, chosen)


@lru_cache(maxsize=16)
def _even_positions(n_gaps: int, n_quantiles: int) -> Indices:
    """Return the positions of quantiles if all values differ, as measurements do."""
    cumulative = np.arange(1.0, n_gaps + 1.0)
    return read_only(quantile_positions(cumulative, n_gaps + 1.0, n_quantiles))


def quantile_positions(cumulative: NDArray[Any], total: float, n_quantiles: int) -> Indices:
    """Return the positions at which cumulative weights reach quantiles of the total weight."""
    # A little less than k / (n_quantiles + 1) of the total: where a cumulative weight
    # meets that exactly, rounding must not decide, so that weights and repeated rows,
    # and weights of any scale, cut alike.
    steps = np.arange(1, n_quantiles + 1) / (n_quantiles + 1)
    positions = np.searchsorted(cumulative, steps * (total * (1 - 1e-9)))
    is_new = np.diff(positions, prepend=-1) > 0
    return positions[is_new & (positions < len(cumulative))]
