"""Checks of parameters and of entries of files."""

from __future__ import annotations

import math
import reprlib
from numbers import Integral, Real
from typing import Any


def is_whole(value: Any, min_value: float = -math.inf) -> bool:
    """Return whether a value is a whole number of at least `min_value`, and not a boolean.

    Examples
    --------
    >>> is_whole(3, 1), is_whole(0, 1), is_whole(3.0), is_whole(True)
    (True, False, False, False)
    """
    return not isinstance(value, bool) and isinstance(value, Integral) and int(value) >= min_value


def is_finite_number(value: Any) -> bool:
    """Return whether a value is a finite number that a float can hold, and not a boolean.

    Examples
    --------
    >>> is_finite_number(0.5), is_finite_number(math.nan), is_finite_number("1")
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def require(is_met: bool, name: str, requirement: str, value: Any) -> None:
    """Raise a ValueError that states the requirement of a parameter or entry, unless it is met."""
    if not is_met:
        raise ValueError(f"{name} must be {requirement}. Got {shown(value)}.")


def shown(value: Any) -> str:
    """Return a short text for any value, whatever a file may hold."""
    try:
        return reprlib.repr(value)
    except ValueError:
        return "an integer of thousands of digits"
