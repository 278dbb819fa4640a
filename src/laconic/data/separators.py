"""Thresholds that people read most easily, among all those that separate the same rows."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from functools import lru_cache

# Doubles range from 5e-324 to 1.8e308 and print with at most 17 digits, so the
# sum of two of them, as printed, has fewer than 700 digits.
EXACT = Context(prec=700)
MAX_DIGITS = 17
ROUNDINGS = tuple(
    (Context(prec=n_digits, rounding=ROUND_FLOOR), Context(prec=n_digits, rounding=ROUND_CEILING))
    for n_digits in range(1, MAX_DIGITS + 1)
)
# Powers of ten that are doubles themselves.
POWERS = tuple(float(10**power) for power in range(23))
# With up to 8 digits, doubles are off their exact values by less than 1e-7 of the last digit.
SAFE_DIGITS, SAFE_DISTANCE = 8, 1e-6


def shortest_separator(low: float, high: float) -> float:
    """Threshold between two numbers that takes the fewest digits to write.

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
    separator = _by_doubles(low, high)
    return _by_decimals(low, high) if separator is None else separator


def _by_doubles(low: float, high: float) -> float | None:
    """Separator that doubles are exact enough to find; None where they are not."""
    midpoint = 0.5 * low + 0.5 * high
    if not 1e-14 < abs(midpoint) < 1e22:
        return None
    power = math.floor(math.log10(abs(midpoint)))
    for n_decimals in range(-power, min(SAFE_DIGITS - power, len(POWERS))):
        scale = POWERS[abs(n_decimals)]
        scaled = midpoint * scale if n_decimals > 0 else midpoint / scale
        below = math.floor(scaled)
        rest = scaled - below
        # Too close to tell which decimals are next to the midpoint, or which of them is nearer.
        if abs(rest - 0.5) > 0.5 - SAFE_DISTANCE or abs(rest - 0.5) < SAFE_DISTANCE:
            return None
        for digits in (below + 1, below) if rest > 0.5 else (below, below + 1):
            # Both are exact: what is rounded is the result, as if it was read.
            threshold = digits / scale if n_decimals > 0 else digits * scale
            if low <= threshold < high:
                return threshold
    return None


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
    """Decimals below and above a number, nearest first."""
    is_above_nearer = EXACT.subtract(above, number) < EXACT.subtract(number, below)
    return (above, below) if is_above_nearer else (below, above)
