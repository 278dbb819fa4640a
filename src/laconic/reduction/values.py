"""Which numbers a column holds and how often, in bounded memory: few exactly, many in ranges.

Numbers are counted by keys: whole numbers in the same order. Where there are too many different
ones, neighbours share a range, of twice as many keys each time. How wide the ranges are in the end
depends on the numbers alone, and not on the order in which they were seen or merged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laconic.reduction.sums import Floats, Integers, added_up

MAX_RANGES = 2**16
_KEY_BITS = 63


def keys_of(numbers: Floats) -> Integers:
    """Whole numbers in the order of finite ones.

    Examples
    --------
    >>> keys_of(np.array([-1.0, 0.0, 1.5])).argsort()
    array([0, 1, 2])
    """
    # Adding 0 turns -0.0, whose bits are others, into 0.0.
    bits = (np.asarray(numbers, dtype=np.float64) + 0.0).view(np.int64)
    return np.asarray(bits ^ ((bits >> 63) & np.int64(2**63 - 1)))


def numbers_of(keys: Integers) -> Floats:
    """Undo `keys_of`."""
    return np.asarray(keys ^ ((keys >> 63) & np.int64(2**63 - 1))).view(np.float64)


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Ranges of keys, ascending, and what their rows amount to.

    A range that holds a single value has the same `first` and `last` key.
    """

    shift: int
    """Keys that are the same without so many bits share a range."""
    first: Integers
    """Smallest key that was seen in a range."""
    last: Integers
    amounts: Integers
    """What the rows of a range amount to, one row each."""

    @property
    def is_exact(self) -> bool:
        """Whether every range is a single value."""
        return self.shift == 0

    @classmethod
    def of(cls, keys: Integers, amounts: Integers, max_ranges: int = MAX_RANGES) -> ValueCounts:
        """Count keys, one row each."""
        distinct, sums = added_up(keys[:, None], amounts)
        return cls(0, distinct[:, 0], distinct[:, 0], sums).within(max_ranges)

    def merge(self, other: ValueCounts, max_ranges: int = MAX_RANGES) -> ValueCounts:
        """Count the rows of both."""
        shift = max(self.shift, other.shift)
        first = np.concatenate([self.first, other.first])
        order = np.argsort(first, kind="stable")
        both = ValueCounts(
            shift,
            first[order],
            np.concatenate([self.last, other.last])[order],
            np.concatenate([self.amounts, other.amounts])[order],
        )
        return both.coarsened(shift).within(max_ranges)

    def within(self, max_ranges: int) -> ValueCounts:
        """Widen ranges until there are no more than so many."""
        if self._n_ranges(self.shift) <= max_ranges:
            return self
        too_narrow, shift = self.shift, _KEY_BITS
        while shift - too_narrow > 1:
            middle = (too_narrow + shift) // 2
            if self._n_ranges(middle) > max_ranges:
                too_narrow = middle
            else:
                shift = middle
        return self.coarsened(shift)

    def _n_ranges(self, shift: int) -> int:
        if len(self.first) == 0:
            return 0
        ranges = self.first >> shift
        return 1 + int(np.count_nonzero(ranges[1:] != ranges[:-1]))

    def coarsened(self, shift: int) -> ValueCounts:
        """Put ranges together that agree but for the last bits."""
        if len(self.first) == 0:
            return ValueCounts(shift, self.first, self.last, self.amounts)
        ranges = self.first >> shift
        starts = np.flatnonzero(np.append(True, ranges[1:] != ranges[:-1]))
        return ValueCounts(
            shift,
            np.minimum.reduceat(self.first, starts),
            np.maximum.reduceat(self.last, starts),
            np.add.reduceat(self.amounts, starts, axis=0),
        )

    def replaced(self, finer: ValueCounts) -> ValueCounts:
        """Put finer ranges in the place of those that they are in."""
        place = np.searchsorted(self.first, finer.first, side="right") - 1
        keeps = np.ones(len(self.first), dtype=bool)
        keeps[place] = False
        first = np.concatenate([self.first[keeps], finer.first])
        order = np.argsort(first)
        return ValueCounts(
            self.shift,
            first[order],
            np.concatenate([self.last[keeps], finer.last])[order],
            np.concatenate([self.amounts[keeps], finer.amounts])[order],
        )
