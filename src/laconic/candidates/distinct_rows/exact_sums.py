"""Sums that are exact in any order.

A number is represented by two whole numbers: the multiple of a coarse unit, and the multiple of a
fine unit for the rest. Whole numbers add up exactly, so that a table gives the same sums however it
is divided into parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from laconic._util.types import Floats, Integers

_MAX_BITS = 62


@dataclass(frozen=True)
class Units:
    """A coarse and a fine unit, such that a sum of `n_terms` multiples fits into 64 bits.

    With 20 million terms, a number is rounded to a multiple of 2**-74 times the `largest`
    magnitude: the error is smaller than that of storing the number.

    Examples
    --------
    >>> units = Units.for_terms(largest=5.0, n_terms=1000)
    >>> print(units.total(units.count(np.array([0.1, 0.2, 5.0])).sum(axis=0)))
    5.3
    """

    coarse: int
    """Exponent of two of the coarse unit."""
    fine: int

    @classmethod
    def for_terms(cls, largest: float, n_terms: int) -> Units:
        """Choose the units for so many terms."""
        bits = _MAX_BITS - max(n_terms, 1).bit_length()
        # No term is larger than 2**exponent.
        exponent = math.frexp(largest)[1] if largest > 0 else 0
        coarse = exponent - bits
        return cls(coarse, coarse - bits)

    def count(self, terms: Floats) -> Integers:
        """Count the units of each term, as an array of shape (n_terms, 2)."""
        counts = np.empty((len(terms), 2), dtype=np.int64)
        # Both differences are exact: the subtracted number has no digit below those of the term.
        coarse = np.rint(np.ldexp(terms, -self.coarse))
        counts[:, 0] = coarse
        counts[:, 1] = np.rint(np.ldexp(terms - np.ldexp(coarse, self.coarse), -self.fine))
        return counts

    def total(self, counts: Any) -> Any:
        """Convert sums of counts to numbers, rounding them once."""
        coarse, fine = np.asarray(counts, dtype=np.int64).T
        # Whole numbers of 62 bits do not fit into a float: lower halves are added separately.
        low = np.fmod(coarse, 2**31)
        high = coarse - low
        total = np.ldexp(high.astype(np.float64), self.coarse)
        rest = np.ldexp(low.astype(np.float64), self.coarse)
        return total + (rest + np.ldexp(fine.astype(np.float64), self.fine))


def added_up(keys: Integers, amounts: Integers) -> tuple[Integers, Integers]:
    """Add up the amounts of equal keys; both have a row per item, and keys one or more columns.

    The keys come back ascending, each of them once.

    Examples
    --------
    >>> keys, sums = added_up(np.array([[3], [1], [3]]), np.array([[1], [1], [5]]))
    >>> keys.ravel(), sums.ravel()
    (array([1, 3]), array([1, 6]))
    """
    if len(keys) == 0:
        return keys, amounts
    if keys.shape[1] == amounts.shape[1] == 1 and amounts.min() == amounts.max() == 1:
        # Sorting is faster than computing the order.
        ordered = np.sort(keys[:, 0])
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        return ordered[starts, None], np.diff(starts, append=len(ordered))[:, None]
    order = np.argsort(keys[:, 0]) if keys.shape[1] == 1 else np.lexsort(keys.T[::-1])
    ordered = keys[order]
    is_first = np.ones(len(ordered), dtype=bool)
    np.any(ordered[1:] != ordered[:-1], axis=1, out=is_first[1:])
    starts = np.flatnonzero(is_first)
    return ordered[starts], np.add.reduceat(amounts[order], starts, axis=0)
