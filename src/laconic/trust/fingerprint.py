"""A fingerprint of training rows: it tells whether other rows are the same, and holds none of them.

Each row has a hash of its cells and its target. Kept are the number of rows, the sum of all hashes,
and the smallest hashes, which are a random sample of the distinct rows. The order of the rows, and
whether a number is an integer, a float or a text, make no difference.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats
from laconic.boosting import TrainingData
from laconic.tables.columns import CategoricalColumn, Category, TimeColumn, with_dates
from laconic.tables.tables import Table
from laconic.terms.formatting import format_percent

N_SMALLEST = 256
"""Number of hashes that are kept."""
# Shares of known rows that nobody needs to be warned of, and standard errors that are no chance.
_SMALL_SHARE = 0.1
_MANY_ERRORS = 4.0
# Rows that are hashed at a time: their hashes stay in the cache of a processor.
_BLOCK_SIZE = 16_384

Hashes = NDArray[np.uint64]

_RANGE = 2.0**64
# Those of the generator SplitMix64, whose last steps mix the bits of a number.
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
# What stands for a missing value.
_MISSING = np.uint64(0x7FF8_0000_0000_0000)


@dataclass(frozen=True)
class Fingerprint:
    """What is kept of the rows that a model was fitted to.

    Examples
    --------
    >>> few = Fingerprint(3, 12, (1, 4, 7), (1, 1, 1))
    >>> few.is_same(Fingerprint(3, 12, (1, 4, 7), (1, 1, 1)))
    True
    """

    n_rows: int
    """Number of rows of positive weight."""
    total: int
    """Sum of the hashes of all rows, modulo 2**64."""
    smallest: tuple[int, ...]
    """The smallest distinct hashes of rows, ascending."""
    counts: tuple[int, ...]
    """How many rows have each of them: 1, 2, or 3 for three or more."""

    def is_same(self, other: Fingerprint) -> bool:
        """Check whether both are of the same rows, in any order."""
        return (self.n_rows, self.total) == (other.n_rows, other.total)

    @property
    def sampled_range(self) -> int:
        """The hashes up to this one are known."""
        return self.smallest[-1] if len(self.smallest) >= N_SMALLEST else 2**64 - 1

    def known_share(self, hashes: Hashes) -> float:
        """Estimate what share of other rows are among these; 0 where it may be chance.

        Of rows that occur twice in both tables together, at most half are divided between the
        tables by chance, whatever the populations are: two independent numbers of Poisson that add
        up to 2 are 1 and 1 with a probability of at most a half. So rows that coincide in tables of
        few distinct rows are no evidence, and rows that are in both tables are.
        """
        others, counts = np.unique(
            hashes[hashes <= np.uint64(self.sampled_range)], return_counts=True
        )
        known = dict(zip(self.smallest, self.counts, strict=True))
        here = dict(zip(others.tolist(), counts.tolist(), strict=True))
        pairs = [(known.get(each, 0), here.get(each, 0)) for each in known.keys() | here.keys()]
        n_once = sum(count == 1 for count in here.values())
        n_shared, n_twice = pairs.count((1, 1)), pairs.count((2, 0)) + pairs.count((0, 2))
        excess = n_shared - n_twice
        if excess < _MANY_ERRORS * math.sqrt(n_shared + n_twice) or excess < _SMALL_SHARE * n_once:
            return 0.0
        return excess / n_once if n_once else 0.0


def fingerprint(hashes: Hashes) -> Fingerprint:
    """Make the fingerprint of rows, given their hashes.

    Examples
    --------
    >>> fingerprint(np.array([7, 1, 4, 1], dtype=np.uint64))
    Fingerprint(n_rows=4, total=13, smallest=(1, 4, 7), counts=(2, 1, 1))
    """
    n_read, n_rows = 4 * N_SMALLEST, len(hashes)
    while True:
        low = hashes
        if n_read < n_rows:
            low = hashes[hashes <= np.partition(hashes, n_read - 1)[n_read - 1]]
        smallest, counts = np.unique(low, return_counts=True)
        if len(smallest) >= N_SMALLEST or n_read >= n_rows:
            break
        n_read *= 8
    total = int(np.add.reduce(hashes, dtype=np.uint64))
    return Fingerprint(
        n_rows,
        total,
        tuple(smallest[:N_SMALLEST].tolist()),
        tuple(np.minimum(counts[:N_SMALLEST], 3).tolist()),
    )


def fingerprint_of(data: TrainingData) -> Fingerprint:
    """Make the fingerprint of the rows that count, before they were reduced to distinct ones."""
    return fingerprint(hash_rows(data if data.whole is None else data.whole))


def warn_of_others(known: Fingerprint | None, data: TrainingData, stacklevel: int) -> None:
    """Warn of other rows than those of the fit: answers would be about these."""
    if known is not None and not fingerprint(hash_rows(data)).is_same(known):
        warnings.warn(
            "These rows are not those that the model was fitted to, which the answer needs. Pass "
            "the training table, with the target and the weights of the fit.",
            UserWarning,
            stacklevel,
        )


def check_unseen(
    known: Fingerprint | None, data: TrainingData, texts: tuple[str, str, str], stacklevel: int
) -> None:
    """Refuse training rows, and warn of tables in which many of the rows are.

    The texts say what needs other rows, what intervals would be wrong in, and what to do.
    """
    if known is None:
        return
    hashes, (what, wrong, advice) = hash_rows(data), texts
    needed = f"{what} rows that the model was not fitted to"
    if fingerprint(hashes).is_same(known):
        raise ValueError(
            f"{needed}. Got the training rows, for which its terms were chosen: intervals would be "
            f"{wrong}. Pass other rows, or {advice}."
        )
    if (share := known.known_share(hashes)) > 0.0:
        warnings.warn(
            f"{needed}. About {format_percent(share)} of these seem to be training rows, so that "
            f"intervals are {wrong}. Leave those rows out.",
            UserWarning,
            stacklevel,
        )


def hash_rows(data: TrainingData) -> Hashes:
    """Compute a hash of each row that counts: of its cells and its target.

    Numbers are compared as float32, as which tables are often stored, and dates to the microsecond.
    """
    table = data.table
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    for position, name in enumerate(table.feature_names):
        _add_column(hashes, table, name, _salt(position))
    _add_numbers(hashes, data.target, _salt(-1))
    return _mixed(hashes[data.counted])


def _salt(position: int) -> np.uint64:
    """Return a number for each column, so that columns cannot be exchanged."""
    return np.uint64((position + 2) * int(_STEP) % 2**64)


def _add_column(hashes: Hashes, table: Table, name: str, salt: np.uint64) -> None:
    """Add the hashes of the cells of a column."""
    stored = table.stored_cells(name)
    if stored is not None:
        part = np.zeros(len(stored.rows), dtype=np.uint64)
        _add_numbers(part, stored.values, salt)
        hashes[stored.rows] += part
        return
    column = with_dates(table.column(name))
    if table.column(name).is_numeric:
        # Numbers are quickly read again.
        table.pop_column(name)
    if isinstance(column, CategoricalColumn):
        of_categories = _of_categories(column.categories, salt)
        hashes += of_categories[column.codes]
    else:
        _add_numbers(hashes, column.values, salt, is_time=isinstance(column, TimeColumn))


def _of_categories(categories: tuple[Category, ...], salt: np.uint64) -> Hashes:
    """Hash the categories of a column; the last entry is that of missing values."""
    bits = np.array([*map(_bits, categories), int(_MISSING)], dtype=np.uint64)
    return _of_bits(bits, salt)


def _bits(category: Category) -> int:
    """Return a number for a category: of texts that are numbers, that of the number."""
    text = str(category).strip().lower()
    try:
        number = float({"true": 1.0, "false": 0.0}.get(text, text))
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return int(_number_bits(np.array([number]))[0])
    digest = hashlib.blake2b(str(category).encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def _add_numbers(
    hashes: Hashes, numbers: Floats, salt: np.uint64, *, is_time: bool = False
) -> None:
    """Add the hashes of numbers."""
    for start in range(0, len(numbers), _BLOCK_SIZE):
        block = numbers[start : start + _BLOCK_SIZE]
        bits = _number_bits(block, is_time=is_time)
        hashes[start : start + _BLOCK_SIZE] += _of_bits(bits, salt)


def _number_bits(numbers: Floats, *, is_time: bool = False) -> Hashes:
    """Return the bits of numbers; zero has none, and all missing values have the same."""
    exact = np.asarray(numbers, dtype=np.float64)
    if not is_time:
        with np.errstate(over="ignore"):
            exact = exact.astype(np.float32).astype(np.float64)
    bits: Hashes = (exact + 0.0).view(np.uint64)  # and not -0
    missing = np.isnan(exact)
    if missing.any():
        bits[missing] = _MISSING
    return bits


def _of_bits(bits: Hashes, salt: np.uint64) -> Hashes:
    """Hash the bits of cells; zeros have the hash 0, as in tables that do not store them."""
    zero = _mixed(np.array([salt], dtype=np.uint64))
    hashes: Hashes = _mixed(bits + salt) - zero
    return hashes


def _mixed(hashes: Hashes) -> Hashes:
    """Spread every bit of some numbers over all bits."""
    found = hashes + _STEP
    for shift, factor in zip(_SHIFTS[:2], _FACTORS, strict=True):
        found ^= found >> shift
        found *= factor
    found ^= found >> _SHIFTS[2]
    return found
