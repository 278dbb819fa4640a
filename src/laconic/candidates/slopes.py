"""The slopes that a model may have, and the best of them.

A feature has a few knots: its thresholds, and outside of them its 2.5 % and 97.5 % quantiles. Every
pair of knots is a slope. With bins between the knots, what a slope needs is linear in sums over the
bins: of v, and of v times the feature, for gradients, hessians and projections v (and of hessians
times the squared feature). One pass over the rows gives the sums of all features, and these the
objectives of all slopes.

A slope is penalised as if its values had the standard deviation of a typical rule, so that its
objective does not depend on the unit of its feature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from laconic import _core
from laconic._util.types import Bools, Floats, Integers
from laconic.search import SearchProblem
from laconic.search.joint_objective import IMITATED
from laconic.tables.columns import NumericColumn, TimeColumn
from laconic.tables.sparse import StoredCells
from laconic.tables.tables import Table, as_table
from laconic.tables.thresholds import gaps_of, shortest_separators
from laconic.tables.times import TimeKind, microseconds, round_separator
from laconic.terms.slopes import Slope, moment_of

# More inner knots than thresholds of the default do not make better models.
MAX_INNER_KNOTS = 7
# Rows outside of these quantiles count as if they were there.
OUTER_QUANTILES = (0.025, 0.975)
# The outermost knots are rounded by up to this share of their distance.
_ROUNDING = 0.01
# The standard deviation of a rule that covers a fifth, or four fifths, of the rows.
TYPICAL_DEVIATION = 0.4
# Squares of the width of other columns are not ordinary numbers.
_WIDTHS = (1e-140, 1e140)
# Slopes this close to the best one are compared by sums over the rows themselves.
_CLOSE = 1e-9


def standardised(values: Floats, weights: Floats | None) -> tuple[Floats, float]:
    """Divide the values of a slope by a scale, so that they vary as those of a typical rule.

    Returns also the scale; it is 1 for values that do not vary.

    Examples
    --------
    >>> standardised(np.array([0.0, 8.0]), None)
    (array([0. , 0.8]), 10.0)
    """
    mean = np.average(values, weights=weights)
    deviation = float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))
    # The mean of equal values is rounded.
    scale = deviation / TYPICAL_DEVIATION if deviation > 0.0 and np.ptp(values) > 0.0 else 1.0
    return values / scale, scale


@dataclass(frozen=True, eq=False)
class _Feature:
    """The knots of a feature, and the numbers of its rows."""

    name: str
    kind: TimeKind | None
    knots: Floats
    """Ascending, as numbers of the column."""
    above: Floats
    """For each knot, the smallest number of a row above it; infinite if there is none."""
    numbers: Floats
    """Of the rows, or of those that are stored; NaN where missing."""
    rows: Integers | None = None
    """Positions of the stored rows; all others are 0. None if all are stored."""

    @property
    def width(self) -> float:
        return float(self.knots[-1] - self.knots[0])

    @property
    def levels(self) -> Floats:
        """The knots, on a scale from 0 to 1."""
        return np.asarray((self.knots - self.knots[0]) / self.width, dtype=np.float64)

    def placed(self, numbers: Floats) -> tuple[Integers, Floats]:
        """Return the bin of each number, -1 if it is missing, and its level."""
        is_missing = np.isnan(numbers)
        levels = (np.clip(numbers, self.knots[0], self.knots[-1]) - self.knots[0]) / self.width
        bins = np.searchsorted(self.knots, numbers, side="left") - 1
        bins = np.where(is_missing, -1, np.clip(bins, 0, len(self.knots) - 2))
        return bins, np.where(is_missing, 0.0, levels)


@dataclass(frozen=True, eq=False)
class FoundSlope:
    """A slope, without its weight, and what it is worth."""

    slope: Slope
    value: float
    """What it is worth, as rules are judged."""


class SlopeCandidates:
    """All slopes of some features, on the rows of a table that count.

    Made by `candidate_slopes`.
    """

    def __init__(self, features: Sequence[_Feature], n_rows: int, weights: Floats | None) -> None:
        self.features, self.n_rows, self.weights = tuple(features), n_rows, weights
        n_knots = max((len(each.knots) for each in features), default=2)
        self.n_bins = n_knots - 1
        pairs = [(i, j) for i in range(n_knots) for j in range(i + 1, n_knots)]
        # Of equal ones the longest line is found: all of the feature first.
        self.pairs = sorted(pairs, key=lambda pair: (pair[0] - pair[1], pair))

    def __len__(self) -> int:
        """Count the slopes."""
        return int(self._is_slope.sum())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features, in their order."""
        return tuple(each.name for each in self.features)

    @cached_property
    def _binned_rows(self) -> list[tuple[Any, Floats, Any, float, float]]:
        """What the core adds up, for each feature: bins, numbers, stored rows, and the range."""
        found = []
        for each in self.features:
            bins, _ = each.placed(each.numbers)
            # The last bin is of missing rows.
            small = (bins % (self.n_bins + 1)).astype(np.uint8)
            rows = None if each.rows is None else np.ascontiguousarray(each.rows, dtype=np.int32)
            ends = float(each.knots[0]), float(each.knots[-1])
            found.append((small, each.numbers, rows, *ends))
        return found

    def _binned(self, columns: Sequence[Floats], n_powers: int, n_jobs: int = 1) -> Floats:
        """Add up columns, times the powers 0, 1, ... of the levels, over the bins of every feature.

        Returns an array of shape (n_powers, n_features, n_bins + 1, n_columns).
        """
        n_bins, n_rows = self.n_bins + 1, self.n_rows
        flat = _core.sum_bins(self._binned_rows, columns, n_rows, n_powers, n_bins, n_jobs)
        sums = flat.reshape(len(self.features), n_powers, n_bins, len(columns))
        sums = np.ascontiguousarray(np.swapaxes(sums, 0, 1))
        if all(each.rows is None for each in self.features):
            return sums
        totals = np.stack(columns, axis=1).sum(axis=0)
        for position, each in enumerate(self.features):
            if each.rows is None:
                continue
            [place], [level] = each.placed(np.zeros(1))
            unstored = totals - sums[0, position].sum(axis=0)
            for power in range(n_powers):
                sums[power, position, place] += level**power * unstored
        return sums

    @cached_property
    def _levels(self) -> Floats:
        """The levels of the knots of each feature; 1 where it has no more knots."""
        levels = np.ones((len(self.features), self.n_bins + 1))
        for position, each in enumerate(self.features):
            levels[position, : len(each.knots)] = each.levels
        return levels

    @cached_property
    def _n_knots(self) -> Integers:
        return np.array([len(each.knots) for each in self.features], dtype=np.int64)

    def _of_pairs(self, sums: Floats, firsts: Floats, seconds: Floats | None = None) -> Floats:
        """Add up v u of all slopes, or v u² if sums of v t² are given, from sums over bins.

        With u = clip(t, a_i, a_j) − a_i at level t, and without missing rows:
        Σ v u = Σ_{i ≤ bin < j} (Σ v t − a_i Σ v) + (a_j − a_i) Σ_{bin ≥ j} Σ v.

        Sums have the shape (n_features, n_bins + 1, n_columns); the last bin is of missing rows.
        Returns an array of shape (n_features, n_pairs, n_columns).
        """
        begins, ends = np.array(self.pairs).T
        low = self._levels[:, begins, np.newaxis]
        height = self._levels[:, ends, np.newaxis] - low
        sums, firsts = _cumulated(sums), _cumulated(firsts)
        above = sums[:, -1:] - sums[:, ends]
        inside, first = sums[:, ends] - sums[:, begins], firsts[:, ends] - firsts[:, begins]
        if seconds is None:
            return np.asarray(first - low * inside + height * above, dtype=np.float64)
        seconds = _cumulated(seconds)
        second = seconds[:, ends] - seconds[:, begins]
        squares = second - 2.0 * low * first + low * low * inside + height * height * above
        return np.maximum(squares, 0.0)

    @cached_property
    def _of_rows(self) -> tuple[Floats, Floats, Floats, Bools]:
        """Mean levels, levels that missing rows count as, scales, and which pairs are slopes."""
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        binned = self._binned([weights], 3)
        total, square = self._of_pairs(*binned[:2])[..., 0], self._of_pairs(*binned)[..., 0]
        present, missing = binned[0][:, :-1, 0].sum(axis=1), binned[0][:, -1, 0]
        present, missing = present[:, np.newaxis], missing[:, np.newaxis]
        means = total / present
        filled = np.zeros_like(means)
        for position in np.flatnonzero(missing[:, 0]).tolist():
            each = self.features[position]
            places = [place for place, (_, j) in enumerate(self.pairs) if j < len(each.knots)]
            ends = np.array([_number(end) for end in self._missing(position, places, means)])
            begins = [self.pairs[place][0] for place in places]
            filled[position, places] = (ends - each.knots[begins]) / each.width
        amount = present + missing
        total = (total + filled * missing) / amount
        variances = (square + filled**2 * missing) / amount - total**2
        begins, ends = np.array(self.pairs).T
        heights = self._levels[:, ends] - self._levels[:, begins]
        # What is left of a difference may be a rounding error.
        is_slope = (ends < self._n_knots[:, np.newaxis]) & (variances > 1e-12 * heights**2)
        is_slope &= self._has_inside
        scales = np.sqrt(np.where(is_slope, variances, 1.0)) / TYPICAL_DEVIATION
        return means, filled, scales, is_slope

    @cached_property
    def _has_inside(self) -> Bools:
        """Whether some value is strictly between the ends of a slope; it is a rule otherwise."""
        begins, ends = np.array(self.pairs).T
        found = np.zeros((len(self.features), len(self.pairs)), dtype=bool)
        for position, each in enumerate(self.features):
            n_missing = self.n_bins + 1 - len(each.knots)
            knots = np.pad(each.knots, (0, n_missing), mode="edge")
            above = np.pad(each.above, (0, n_missing), mode="edge")
            found[position] = above[begins] < knots[ends]
        return found

    def _missing(self, position: int, places: list[int], means: Floats) -> list[Any]:
        """Return the round values that missing rows count as: near the means of the others."""
        each = self.features[position]
        begins, ends = np.array([self.pairs[place] for place in places]).T
        lower, upper = each.knots[begins], each.knots[ends]
        middle = lower + means[position, places] * each.width
        return _round_numbers(middle, _ROUNDING * (upper - lower), lower, upper, each.kind)

    @property
    def _is_slope(self) -> Bools:
        return self._of_rows[3]

    @cached_property
    def _n_conditions(self) -> Integers:
        """How often each slope bends inside of the range, at least 1."""
        begins, ends = np.array(self.pairs).T
        n_bends = (begins > 0).astype(np.int64) + (ends < self._n_knots[:, np.newaxis] - 1)
        return np.asarray(np.maximum(n_bends, 1), dtype=np.int64)

    def values(self, slope: Slope) -> Floats:
        """Compute the values of a slope of one of the features."""
        each = self.features[self.names.index(slope.feature)]
        numbers = each.numbers
        if each.rows is not None:
            numbers = np.zeros(self.n_rows)
            numbers[each.rows] = each.numbers
        if each.kind is not None:
            return slope.values_in(TimeColumn(each.name, numbers, each.kind))
        return slope.values_in(NumericColumn(each.name, numbers))

    def slope(self, position: int, place: int) -> Slope:
        """Make a slope, with a weight of 0."""
        each, (i, j) = self.features[position], self.pairs[place]
        missing = None
        if np.isnan(each.numbers).any():
            [missing] = self._missing(position, [place], self._of_rows[0])
        lower, upper = (moment_of(each.knots[n], each.kind) for n in (i, j))
        n_conditions = int(self._n_conditions[position, place])
        return Slope(each.name, lower, upper, 0.0, missing=missing, n_conditions=n_conditions)

    def places(self) -> list[tuple[int, int]]:
        """List the slopes, each by the positions of its feature and of its pair of knots."""
        if not self.features:
            return []
        return [(int(position), int(place)) for position, place in np.argwhere(self._is_slope)]

    def sums(self, values: Floats) -> tuple[Floats, Floats]:
        """Add up columns of numbers times the values of every slope, on the scale of rules.

        Parameters
        ----------
        values : ndarray of shape (n_rows, n_columns)

        Returns
        -------
        sums : ndarray of shape (n_slopes, n_columns)
            In the order of `places`, but for rounding errors.
        largest : ndarray of shape (n_slopes, n_columns)
            Upper bounds on the absolute sums without these errors; infinite where the values of a
            slope hardly vary.
        """
        if not self.features:
            return np.zeros((0, values.shape[1])), np.zeros((0, values.shape[1]))
        sums, firsts = self._binned([*np.ascontiguousarray(values.T)], 2)
        _, filled, scales, is_slope = self._of_rows
        totals = self._of_pairs(sums, firsts) + filled[..., np.newaxis] * sums[:, -1:]
        totals = totals[is_slope] / scales[is_slope, np.newaxis]
        error = self._rounding * np.abs(values).sum(axis=0) / scales[is_slope, np.newaxis]
        return totals, (np.abs(totals) + error) * self._doubt[:, np.newaxis]

    @property
    def _rounding(self) -> float:
        """Bound the rounding error of sums over the rows, of numbers with a total of 1."""
        return (16.0 * self.n_rows + 256.0) * float(np.finfo(np.float64).eps)

    @cached_property
    def _doubt(self) -> Floats:
        """The factors by which slopes may be larger than their computed scales make them."""
        _, _, scales, is_slope = self._of_rows
        # The variance is a difference of sums: 4 times their rounding error at most.
        error = 4.0 * self._rounding / (TYPICAL_DEVIATION * scales[is_slope]) ** 2
        return np.where(error < 0.5, 1.0 + 2.0 * error, np.inf)

    @cached_property
    def reaches(self) -> Floats:
        """Upper bounds on the values of all slopes, on the scale of rules, as in `sums`."""
        if not self.features:
            return np.zeros(0)
        begins, ends = np.array(self.pairs).T
        heights = self._levels[:, ends] - self._levels[:, begins]
        _, _, scales, is_slope = self._of_rows
        return np.asarray(heights[is_slope] / scales[is_slope] * self._doubt, dtype=np.float64)

    def gains(self, problem: SearchProblem, n_jobs: int = 1) -> tuple[Floats, Floats]:
        """Compute the objectives of all slopes, and the sums of their gradients.

        Parameters
        ----------
        problem : SearchProblem
        n_jobs : int, default=1
            Number of threads; the result is the same for any number.

        Returns
        -------
        gains, forces : ndarray of shape (n_features, n_pairs)
        """
        columns = [problem.gradients, problem.hessians]
        columns += [] if problem.projections is None else [*problem.projections]
        sums, firsts = self._binned(columns, 2, n_jobs)
        _, _, squares = self._binned([problem.hessians], 3, n_jobs)
        _, filled, scales, is_slope = self._of_rows
        missing = sums[:, -1:]
        totals = self._of_pairs(sums, firsts) + filled[..., np.newaxis] * missing
        totals /= scales[..., np.newaxis]
        curvatures = self._of_pairs(sums[..., 1:2], firsts[..., 1:2], squares)[..., 0]
        curvatures = (curvatures + filled**2 * missing[..., 1]) / scales**2
        imitated = np.square(totals[..., 2:]).sum(axis=-1)
        left = np.maximum(curvatures - imitated, IMITATED * curvatures)
        forces = totals[..., 0]
        divisor = problem.l2_regularization + left
        found = np.divide(forces**2, divisor, where=divisor > 0.0, out=np.zeros_like(forces))
        return np.where(is_slope, problem.objective_of(1.0) * found, 0.0), forces

    def best(
        self,
        problem: SearchProblem,
        worth: Callable[[Floats, Integers], Floats],
        signs: Integers,
        excluded: Iterable[Slope] = (),
        n_jobs: int = 1,
    ) -> FoundSlope | None:
        """Find the best slope; None if there is none of positive value.

        Of equal ones the result is the smaller one, and of these that of the first feature.

        Parameters
        ----------
        problem : SearchProblem
        worth : callable
            Computes values from gains and numbers of conditions, of shape (n_features, n_pairs).
        signs : int array of shape (n_features,)
            1 or -1 for features whose slopes need weights of that sign, 0 for others.
        excluded : iterable of Slope, default=()
            Slopes that are not looked at.
        n_jobs : int, default=1
            Number of threads.
        """
        if not self.features or not self._is_slope.any():
            return None
        gains, forces = self.gains(problem, n_jobs)
        # Weights have the opposite signs of the gradients.
        gains[forces * signs[:, np.newaxis] > 0.0] = 0.0
        for position, place in self._places(excluded):
            gains[position, place] = 0.0
        values = np.where(gains > 0.0, worth(gains, self._n_conditions), 0.0)
        largest = float(values.max())
        if not largest > 0.0:
            return None
        near = np.argwhere(values >= (1.0 - _CLOSE) * largest)
        if len(near) == 1:
            [position, place] = near[0]
            return FoundSlope(self.slope(position, place), largest)
        ranked = min(
            (-float(f"{values[p, q]:.8e}"), int(self._n_conditions[p, q]), int(p), int(q))
            for p, q in near
        )
        _, _, position, place = ranked
        return FoundSlope(self.slope(position, place), float(values[position, place]))

    def _places(self, slopes: Iterable[Slope]) -> Iterator[tuple[int, int]]:
        """Find given slopes among all of them, and those of copies of their features."""
        for slope in slopes:
            if slope.feature not in self.names:
                continue
            position = self.names.index(slope.feature)
            knots = self.features[position].knots.tolist()
            if all(end in knots for end in slope.ends):
                place = self.pairs.index(tuple(map(knots.index, slope.ends)))
                for other in np.flatnonzero(self._copies == self._copies[position]).tolist():
                    yield other, place

    @cached_property
    def _copies(self) -> Integers:
        """The first feature with the same numbers as each one."""
        firsts: dict[tuple[bytes, ...], int] = {}
        found = [
            firsts.setdefault((f.numbers.tobytes(), np.asarray(f.rows).tobytes()), position)
            for position, f in enumerate(self.features)
        ]
        return np.array(found, dtype=np.int64)


def _cumulated(sums: Floats) -> Floats:
    """Add up the bins before each knot; the last bin, of missing rows, is left out."""
    cumulated = np.zeros_like(sums)
    np.cumsum(sums[:, :-1], axis=1, out=cumulated[:, 1:])
    return cumulated


def candidate_slopes(
    X: Any,
    *,
    max_thresholds: int | None = MAX_INNER_KNOTS,
    categorical_features: Iterable[str] = (),
    sample_weight: ArrayLike | None = None,
    features: Iterable[str] | None = None,
) -> SlopeCandidates:
    """List the slopes that a model for a table may have.

    Columns of numbers, dates and times with three values or more have slopes, unless they are
    `categorical_features`. Rows of weight zero are left out.

    Parameters
    ----------
    X : table-like of shape (n_rows, n_features)
    max_thresholds : int or None, default=7
        Largest number of inner knots; there are no more than 7.
    categorical_features : iterable of str, default=()
        Columns of numbers that are categories.
    sample_weight : array-like of shape (n_rows,), default=None
    features : iterable of str or None, default=None
        The features that slopes may use; None for all.

    Examples
    --------
    >>> slopes = candidate_slopes([[float(age)] for age in range(20, 70)], max_thresholds=1)
    >>> [slopes.slope(0, place).text() for place in range(len(slopes))]
    ['x0 from 21 to 68', 'x0 from 21 to 44', 'x0 from 44 to 68']
    """
    table = as_table(X)
    table = table.reading_dates(table.feature_names)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    is_counted = slice(None) if weights is None else weights > 0
    if weights is not None:
        weights = weights[is_counted]
    n_inner = MAX_INNER_KNOTS if max_thresholds is None else min(max_thresholds, MAX_INNER_KNOTS)
    left_out = {*categorical_features}
    allowed = {*(table.feature_names if features is None else features)}
    found = []
    for name in table.feature_names:
        if name in left_out or name not in allowed:
            continue
        each = _feature(table, name, is_counted, weights, n_inner)
        if each is not None:
            found.append(each)
    n_rows = table.n_rows if weights is None else len(weights)
    return SlopeCandidates(found, n_rows, weights)


def _feature(
    table: Table, name: str, is_counted: Any, weights: Floats | None, n_inner: int
) -> _Feature | None:
    """Find the knots of a column; None if it has no slopes."""
    stored = table.stored_cells(name)
    if stored is not None:
        stored = stored if isinstance(is_counted, slice) else stored.take(is_counted)
        return _stored_feature(name, stored, weights, n_inner)
    column = table.pop_column(name)
    if not isinstance(column, NumericColumn) or column.is_rounded:
        return None
    numbers = column.values[is_counted]
    known = ~np.isnan(numbers)
    of_known = None if weights is None else weights[known]
    kind = column.kind if isinstance(column, TimeColumn) else None
    knots = _knots(numbers[known], of_known, n_inner, kind)
    return None if knots is None else _Feature(name, kind, *knots, table.numbers(name)[is_counted])


def _stored_feature(
    name: str, stored: StoredCells, weights: Floats | None, n_inner: int
) -> _Feature | None:
    knots = _knots(*stored.grouped(weights), n_inner, None)
    if knots is None:
        return None
    return _Feature(name, None, *knots, np.asarray(stored.values), np.asarray(stored.rows))


def _knots(
    numbers: Floats, weights: Floats | None, n_inner: int, kind: TimeKind | None
) -> tuple[Floats, Floats] | None:
    """Choose the knots of a feature, and find the next numbers above them.

    There are none if it has less than three values.
    """
    # Two values are a matter of rules.
    if weights is None:
        ordered = np.sort(numbers)
        cumulated = np.arange(1.0, len(ordered) + 1.0)
    else:
        order = np.argsort(numbers, kind="stable")
        ordered, weights = numbers[order], weights[order]
        cumulated = np.cumsum(weights)
    if np.count_nonzero(ordered[1:] != ordered[:-1]) < 2:
        return None
    places = np.searchsorted(cumulated, np.array(OUTER_QUANTILES) * cumulated[-1] * (1 - 1e-9))
    low, high = ordered[np.minimum(places, len(ordered) - 1)].tolist()
    if not low < high:
        low, high = float(ordered[0]), float(ordered[-1])
    width = high - low
    if not _WIDTHS[0] < width < _WIDTHS[1]:
        return None
    play = _ROUNDING * width
    outer = np.array([low, high])
    ends = [*map(_number, _round_numbers(outer, play, outer - play, outer + play, kind))]
    knots = np.array(ends)
    if n_inner > 0:
        inner = _inner_knots(ordered, weights, n_inner, kind)
        inner = inner[(inner > ends[0] + play) & (inner < ends[1] - play)]
        knots = np.concatenate([[ends[0]], inner, [ends[1]]])
    # Knots are rounded numbers, so that the last one may be above all of them.
    nexts = np.append(ordered, np.inf)[np.searchsorted(ordered, knots, side="right")]
    return knots, nexts


def _inner_knots(
    ordered: Floats, weights: Floats | None, n_inner: int, kind: TimeKind | None
) -> Floats:
    lows, highs = gaps_of(ordered, weights, n_inner, has_play=kind is not None)
    if kind is None:
        inner = shortest_separators(lows, highs)
    else:
        pairs = zip(lows.tolist(), highs.tolist(), strict=True)
        inner = np.array([_number(round_separator(*pair, kind)) for pair in pairs])
    return np.unique(inner)


def _round_numbers(
    numbers: Floats, play: Floats | float, lowest: Floats, highest: Floats, kind: TimeKind | None
) -> list[Any]:
    """Return round values near numbers, of those in ranges."""
    lows, highs = np.maximum(numbers - play, lowest), np.minimum(numbers + play, highest)
    if kind is not None:
        pairs = zip(np.ceil(lows).tolist(), (np.floor(highs) + 1.0).tolist(), strict=True)
        return [round_separator(*pair, kind) for pair in pairs]
    has_room = lows < highs
    rounded = np.array(numbers)
    rounded[has_room] = shortest_separators(lows[has_room], highs[has_room])
    found: list[float] = rounded.tolist()
    return found


def _number(end: Any) -> float:
    return float(end) if isinstance(end, float | int) else microseconds(end)
