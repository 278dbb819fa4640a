"""Binary exponents of statistics that are extremely small or large."""

from __future__ import annotations

import math

# Sums of statistics beyond 2**±256 are scaled, so that squares and quotients of them stay far from
# where doubles end.
MAX_EXPONENT = 256
# A penalty that is further below the hessians cannot be told beside them.
MAX_EXPONENT_GAP = 980


def extreme_exponent(total: float) -> int:
    """Binary exponent of a sum that is extremely small or large; 0 for others."""
    exponent = math.frexp(total)[1]
    return exponent if abs(exponent) > MAX_EXPONENT else 0


def exponent_gap(larger: float, smaller: float) -> int:
    """Tell by how many binary digits one number is above another; 0 if one of them is 0."""
    if larger == 0.0 or smaller == 0.0:
        return 0
    return math.frexp(larger)[1] - math.frexp(smaller)[1]


def shifted(number: float, exponent: int) -> float:
    """Multiply by a power of two; 0 or infinity beyond the range of numbers."""
    try:
        return math.ldexp(number, exponent)
    except OverflowError:
        return math.inf
