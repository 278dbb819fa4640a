"""Candidate propositions of a table, and which rows each of them covers.

`candidate_propositions` lists the conditions a rule may be made of: thresholds
of numeric features, values of categorical ones, and whether a value is missing.
`shortest_separator` chooses the threshold that a person reads most easily among
all those that separate the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic.rules import Proposition
from laconic.tables import Category, Column, NumericColumn, as_table

__all__ = [
    "DEFAULT_MAX_THRESHOLDS",
    "CandidatePropositions",
    "candidate_propositions",
    "shortest_separator",
]

# Odd, so that the median is among the quantiles.
DEFAULT_MAX_THRESHOLDS = 7

# Doubles range from 5e-324 to 1.8e308 and print with at most 17 digits, so the
# sum of two of them, as printed, has fewer than 700 digits.
EXACT = Context(prec=700)
MAX_DIGITS = 17


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePropositions:
    """Propositions with the rows they cover.

    Parameters
    ----------
    propositions : tuple of Proposition
        The conditions, feature by feature.
    extents : ndarray of shape (n_propositions, n_rows), dtype bool
        C-contiguous; row i is the coverage of ``propositions[i]``.
    """

    propositions: tuple[Proposition, ...]
    extents: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.propositions)


def candidate_propositions(
    X: Any,
    *,
    max_thresholds: int | None = DEFAULT_MAX_THRESHOLDS,
    negated_categories: bool = True,
    sample_weight: ArrayLike | None = None,
) -> CandidatePropositions:
    """List the conditions that rules for a table may be made of.

    A numeric feature gives ``x <= t`` and ``x > t`` for ascending thresholds t,
    a categorical one ``x == v`` for every category, then ``x != v`` for every
    category. A feature with missing values adds ``x is missing`` and
    ``x is present``. Where ties go to the earlier proposition, they go to the
    affirmative one. Conditions that hold for all rows or for none are left out.

    Parameters
    ----------
    X : table-like of shape (n_rows, n_features)
        Any table `as_table` accepts.
    max_thresholds : int or None, default=7
        Largest number of thresholds per numeric feature, placed at weighted
        quantiles. None places one between all neighbouring values.
    negated_categories : bool, default=True
        Whether features with more than two categories give ``x != v`` too.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Non-negative weights; None weighs all rows alike. Rows of weight zero
        are covered or not like all others, but choose no condition. An
        integer weight counts like that many copies of the row.

    Returns
    -------
    candidates : CandidatePropositions
        The conditions and their extents.

    Examples
    --------
    >>> X = [[18, "x"], [67, "o"], [70, "x"], [70, None]]
    >>> candidates = candidate_propositions(X)
    >>> for proposition, extent in zip(candidates.propositions, candidates.extents):
    ...     print(f"{str(proposition):13}", extent.astype(int))
    x0 <= 40      [1 0 0 0]
    x0 > 40       [0 1 1 1]
    x0 <= 68      [1 1 0 0]
    x0 > 68       [0 0 1 1]
    x1 == o       [0 1 0 0]
    x1 == x       [1 0 1 0]
    x1 is missing [0 0 0 1]
    x1 is present [1 1 1 0]
    """
    _check_max_thresholds(max_thresholds)
    table = as_table(X)
    weights = _checked_weights(sample_weight, table.n_rows)
    propositions = tuple(
        proposition
        for name in table.feature_names
        for proposition in _column_propositions(
            table.column(name), weights, max_thresholds, negated_categories
        )
    )
    extents = np.empty((len(propositions), table.n_rows), dtype=bool)
    for extent, proposition in zip(extents, propositions, strict=True):
        extent[:] = proposition.covered(table)
    return CandidatePropositions(propositions, extents)


def shortest_separator(low: float, high: float) -> float:
    """Threshold between two numbers that takes the fewest digits to write.

    Parameters
    ----------
    low, high : float
        Finite numbers, low < high.

    Returns
    -------
    threshold : float
        Of all decimals that read as a number t with low <= t < high, one with
        the fewest significant digits (0 has none); of these the nearest to the
        midpoint of the two numbers as printed; of two equally near the lower.

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
    midpoint = _printed_midpoint(low, high)
    candidates = (
        candidate
        for n_digits in range(1, MAX_DIGITS + 1)
        for candidate in _neighbours(midpoint, n_digits)
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


def _neighbours(number: Decimal, n_digits: int) -> list[Decimal]:
    """Decimals of n_digits just below and above a number, nearest first."""
    below = Context(prec=n_digits, rounding=ROUND_FLOOR).plus(number)
    above = Context(prec=n_digits, rounding=ROUND_CEILING).plus(number)
    is_above_nearer = EXACT.subtract(above, number) < EXACT.subtract(number, below)
    return [above, below] if is_above_nearer else [below, above]


def _column_propositions(
    column: Column,
    weights: NDArray[np.float64],
    max_thresholds: int | None,
    negated_categories: bool,
) -> Iterator[Proposition]:
    missing = column.missing
    counted = (weights > 0) & ~missing
    if not counted.any():
        return
    has_missing = bool(np.any((weights > 0) & missing))
    if isinstance(column, NumericColumn):
        thresholds = _thresholds(column.values[counted], weights[counted], max_thresholds)
        yield from _numeric_propositions(column.name, thresholds)
    else:
        categories = [column.categories[code] for code in np.unique(column.codes[counted])]
        if len(categories) > 1 or has_missing:
            yield from _categorical_propositions(column.name, categories, negated_categories)
    if has_missing:
        yield Proposition(column.name, "is missing")
        yield Proposition(column.name, "is present")


def _numeric_propositions(name: str, thresholds: Iterable[float]) -> Iterator[Proposition]:
    for threshold in thresholds:
        yield Proposition(name, "<=", threshold)
        yield Proposition(name, ">", threshold)


def _categorical_propositions(
    name: str, categories: Sequence[Category], negated_categories: bool
) -> Iterator[Proposition]:
    for category in categories:
        yield Proposition(name, "==", category)
    # Of two categories, each is the negation of the other.
    if negated_categories and len(categories) > 2:
        for category in categories:
            yield Proposition(name, "!=", category)


def _thresholds(
    values: NDArray[np.float64], weights: NDArray[np.float64], max_thresholds: int | None
) -> list[float]:
    distinct, inverse = np.unique(values, return_inverse=True)
    n_gaps = len(distinct) - 1
    if max_thresholds is None or n_gaps <= max_thresholds:
        gaps = np.arange(n_gaps)
    else:
        gaps = _quantile_gaps(np.bincount(inverse, weights=weights), max_thresholds)
    return [shortest_separator(distinct[gap], distinct[gap + 1]) for gap in gaps]


def _quantile_gaps(weights: NDArray[Any], n_quantiles: int) -> NDArray[np.intp]:
    """Positions of the values after which to cut, given the weight of each value."""
    cumulative = np.cumsum(weights)
    # A little less than k / (n_quantiles + 1) of the total: where a cumulative weight
    # meets that exactly, rounding must not decide, so that weights and repeated rows,
    # and weights of any scale, cut alike.
    quantiles = np.arange(1, n_quantiles + 1) * (cumulative[-1] * (1 - 1e-9))
    gaps = np.unique(np.searchsorted(cumulative * (n_quantiles + 1), quantiles))
    return gaps[gaps < len(weights) - 1]


def _check_max_thresholds(max_thresholds: Any) -> None:
    required = "The 'max_thresholds' parameter must be an int in the range [1, inf) or None."
    if max_thresholds is None:
        return
    if isinstance(max_thresholds, bool) or not isinstance(max_thresholds, Integral):
        raise TypeError(f"{required} Got {max_thresholds!r} instead.")
    if max_thresholds < 1:
        raise ValueError(f"{required} Got {max_thresholds!r} instead.")


def _checked_weights(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64]:
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"The 'sample_weight' must have one entry per row, shape ({n_rows},). "
            f"Got shape {weights.shape} instead."
        )
    if not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(
            "The 'sample_weight' must be finite and not negative. Got another value. "
            "Give rows to be ignored the weight 0."
        )
    return weights
