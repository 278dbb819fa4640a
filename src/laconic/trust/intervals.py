"""How sure is a prediction: intervals of numbers and sets of classes, by conformal prediction.

The errors of predictions for rows that the model has not seen say how wide an interval must be. Of
numbers, rows with similar predictions form a group, and each group has a half-width; of classes,
each class has a least probability from which on it is in the set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import Any, Literal, TypeAlias

import numpy as np

from laconic._util.checks import is_finite_number, is_whole, require
from laconic._util.types import Bools, Floats, Indices
from laconic._util.words import parameter
from laconic.losses import Loss, known_loss
from laconic.tables.columns import Category
from laconic.tables.tables import FrameBackend, make_frame
from laconic.terms.formatting import (
    class_text,
    exact_number,
    format_column,
    format_count,
    format_number,
)

Method: TypeAlias = Literal["cv", "split"]

# Rows of a group of similar predictions: the mean error of the coverage of smaller ones is larger
# than the differences between them.
SMALLEST_GROUP = 30
# With slopes, nearly all predictions differ. More groups made intervals wider on real tables, and
# covered no more of their worst fifth.
MOST_GROUPS = 10
# Predictions that differ by less are equal but for rounding.
_NEGLIGIBLE = 1e-9

_LINE_WIDTH = 80  # of printed texts

UNSEEN = "unlike the rows seen"
"""Words for an empty set: no class is as probable as it is for most rows of that class."""


@dataclass(frozen=True)
class Intervals:
    """How far predictions are off for rows that the model has not seen.

    Of numbers, the interval is the prediction plus and minus the half-width of its group. Of
    classes, a set contains all classes that are at least as probable as `least_probabilities`. A
    share `level` of new rows, of each group or class, is within, if these come from the same
    population as the rows of the calibration.

    Examples
    --------
    >>> errors = np.arange(1.0, 41.0)
    >>> found = intervals_of_numbers(np.zeros(40), errors, level=0.9, method="split")
    >>> found.half_widths
    (37.0,)
    >>> print(found)
    About 90% of new rows lie within prediction ± half-width, judged by 40 rows that
    the model has not seen:
    prediction  half-width  rows
    any              37.00    40
    >>> found.limits(np.array([5.0]))
    array([[-32.,  42.]])
    """

    level: float
    """The share of new rows that is to lie within."""
    method: Method
    """"cv": the rows were held out in turn; "split": the model has not seen any of them."""
    n: int
    """How many rows the errors are of."""
    edges: tuple[float, ...] = ()
    """Predictions that separate the groups, in ascending order; each belongs to the lower group."""
    half_widths: tuple[float, ...] = ()
    """Of each group, infinite where it has too few rows; empty for classes."""
    least_probabilities: tuple[float, ...] = ()
    """From which probability on each class is in a set, 0 where it has too few rows; empty for
    numbers."""
    counts: tuple[int, ...] = ()
    """Rows of each group, or class."""
    classes: tuple[Category, ...] = ()
    """In the order of the task."""

    def __post_init__(self) -> None:
        check_level(self.level)
        require(is_whole(self.n, 1), "n", "a whole number in the range [1, inf)", self.n)
        values = self.half_widths or self.least_probabilities
        is_one = bool(self.half_widths) != bool(self.least_probabilities)
        require(is_one, "half_widths", "there for numbers, or least_probabilities for classes", ())
        required = f"a number per half-width or class, {len(values)}, of sum n"
        is_complete = len(self.counts) == len(values) and sum(self.counts) == self.n
        require(is_complete, "counts", required, self.counts)
        n_edges = len(values) - 1 if self.half_widths else 0
        is_ascending = all(np.diff(self.edges) > 0) and len(self.edges) == n_edges
        require(is_ascending, "edges", f"{n_edges} ascending numbers", self.edges)
        n_classes = len(self.least_probabilities)
        is_named = len(self.classes) == n_classes
        require(is_named, "classes", f"{n_classes} classes", self.classes)
        is_range = all(each >= 0 for each in self.half_widths)
        require(is_range, "half_widths", "numbers in the range [0, inf]", self.half_widths)
        is_range = all(0 <= each <= 1 for each in self.least_probabilities)
        required = "numbers in the range [0, 1]"
        require(is_range, "least_probabilities", required, self.least_probabilities)

    @property
    def has_classes(self) -> bool:
        """Whether there are sets of classes, and not intervals of numbers."""
        return bool(self.classes)

    @property
    def places_without_bound(self) -> list[int]:
        """Groups or classes with so few rows that nothing can be excluded."""
        if self.has_classes:
            return [place for place, least in enumerate(self.least_probabilities) if least == 0]
        return [place for place, each in enumerate(self.half_widths) if math.isinf(each)]

    def limits(self, predictions: Floats, within: tuple[float, float] = (-np.inf, np.inf)) -> Any:
        """Return the lower and the upper ends of intervals, in the range of the target.

        Parameters
        ----------
        predictions : ndarray of shape (n_rows,)
            Numbers, on the scale of the target.
        within : tuple of float, default=(-inf, inf)
            Smallest and largest possible value of the target.

        Returns
        -------
        limits : ndarray of shape (n_rows, 2)
        """
        groups = np.searchsorted(self.edges, predictions)  # an edge belongs to the lower group
        half_widths = np.array(self.half_widths)[groups]
        return np.column_stack([predictions - half_widths, predictions + half_widths]).clip(*within)

    def sets(self, probabilities: Floats) -> Bools:
        """Return which classes are in the set of each row, given probabilities in their order."""
        found: Bools = probabilities >= np.array(self.least_probabilities)
        return found

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Return a DataFrame with a row for each group of predictions, or for each class.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes the first that is installed.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            Columns above, up_to (predictions of the group) and half_width; or class and
            least_probability; and rows.
        """
        columns: dict[str, Sequence[Any]] = {
            "above": (-math.inf, *self.edges),
            "up_to": (*self.edges, math.inf),
            "half_width": self.half_widths,
        }
        if self.has_classes:
            columns = {"class": self.classes, "least_probability": self.least_probabilities}
        return make_frame(columns | {"rows": self.counts}, backend=backend)

    @property
    def about(self) -> str:
        """What the table says, in sentences for readers."""
        share, seen = format_share(self.level), format_count(self.n, "row")
        within = (
            f"For about {share} of new rows, the true value lies within prediction ± half-width"
        )
        if self.has_classes:
            within = f"About {share} of new rows of each class have their class in the set"
        how = "that the model has not seen"
        if self.method == "cv":
            how = "of the fit, each predicted by a model that was fitted without it"
        return f"{within}, if they come from the same population. Judged by {seen} {how}."

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The table as texts: the headings, and a row for each group or class."""
        return [*zip(*self._columns, strict=True)]

    def __str__(self) -> str:
        notes = (line for note in self._notes for line in wrap(note, _LINE_WIDTH))
        return "\n".join([*wrap(self._head, _LINE_WIDTH), *_lines(self._columns), *notes])

    @property
    def _head(self) -> str:
        share = f"About {format_share(self.level)} of new rows"
        seen = f"judged by {format_count(self.n, 'row')} "
        if self.has_classes:
            share += " of each class have it in their set"
        else:
            share += " lie within prediction ± half-width"
        how = "were held out in turn" if self.method == "cv" else "the model has not seen"
        return f"{share}, {seen}that {how}:"

    @property
    def _columns(self) -> list[list[str]]:
        rows = ["rows", *(f"{count:,}" for count in self.counts)]
        if self.has_classes:
            least = (format_number(each, 3) for each in self.least_probabilities)
            names = map(class_text, self.classes)
            return [["class", *names], ["in the set from probability", *least], rows]
        texts = format_column([each for each in self.half_widths if math.isfinite(each)])
        finite = iter(texts)
        widths = (next(finite) if math.isfinite(each) else "none" for each in self.half_widths)
        return [["prediction", *self.ranges], ["half-width", *widths], rows]

    @property
    def ranges(self) -> list[str]:
        """Which predictions belong to each group, in words."""
        if not self.edges:
            return ["any"]
        texts = format_column(self.edges)
        between = [f"{low} to {high}" for low, high in pairwise(texts)]
        return [f"up to {texts[0]}", *between, f"above {texts[-1]}"]

    @property
    def _notes(self) -> Iterator[str]:
        least = least_rows(self.level)
        # A class that is there, but that no model expects, may be in every set as well.
        if any(self.counts[n] < least or not self.has_classes for n in self.places_without_bound):
            need = format_count(least, "row")
            of_what = "a class" if self.has_classes else "a group"
            then = "is in every set" if self.has_classes else "has no bound"
            yield f"With fewer than {need}, {of_what} {then}: they are too few for this level."


def check_level(level: Any) -> None:
    """Check the share of rows that is to lie within."""
    is_met = is_finite_number(level) and 0 < level < 1
    require(is_met, parameter("level"), "a number between 0 and 1, such as 0.9", level)


def format_share(level: float) -> str:
    """Write a level in per cent, with all its digits.

    Examples
    --------
    >>> format_share(0.9), format_share(0.995)
    ('90%', '99.5%')
    """
    return f"{exact_number(round(100 * level, 10))}%"


def share_words(level: float) -> str:
    """Write a level as a share of few rows where it is one, and else in per cent.

    Examples
    --------
    >>> [share_words(level) for level in (0.9, 0.95, 0.5, 0.99, 0.875)]
    ['9 of 10', '19 of 20', '5 of 10', '99 of 100', '87.5%']
    """
    for n_rows in (10, 20, 100):
        count = round(level * n_rows)
        if math.isclose(count, level * n_rows) and (n_rows < 100 or count == 99):
            return f"{count} of {n_rows}"
    return format_share(level)


def least_rows(level: float) -> int:
    """Return how many rows the largest error must be of, to be a bound of that level.

    Examples
    --------
    >>> least_rows(0.9), least_rows(0.99)
    (9, 99)
    """
    return math.ceil(level / (1.0 - level) - _NEGLIGIBLE)


def conformal_quantile(scores: Floats, level: float, weights: Floats | None = None) -> float:
    """Return the score that a new row exceeds with a probability of at most 1 - level.

    Of n rows that is the one of rank ceil((n + 1) * level); infinite where there is none. Where
    rows have weights, the new row has the weight of a row that is drawn by them, sum(w²) / sum(w):
    the sum of the weights does not matter, and a few heavy rows count as few.

    Examples
    --------
    >>> conformal_quantile(np.arange(1.0, 11.0), 0.9)
    10.0
    >>> conformal_quantile(np.arange(1.0, 9.0), 0.9)
    inf
    >>> conformal_quantile(np.array([1.0, 2.0, 3.0]), 0.5, np.array([3.0, 3.0, 3.0]))
    2.0
    """
    amounts = np.ones(len(scores)) if weights is None else weights
    scores, amounts = scores[amounts > 0], amounts[amounts > 0]
    if not len(scores):
        return math.inf
    # Only proportions matter, and squares of others may overflow.
    amounts = amounts / amounts.max()
    order = np.argsort(scores, kind="stable")
    sums = np.cumsum(amounts[order])
    new = float(amounts @ amounts) / float(sums[-1])
    wanted = (float(sums[-1]) + new) * level
    place = int(np.searchsorted(sums, wanted * (1.0 - 1e-12)))
    return float(scores[order[place]]) if place < len(scores) else math.inf


def intervals_of_numbers(
    predictions: Floats,
    errors: Floats,
    *,
    level: float,
    method: Method,
    weights: Floats | None = None,
    is_grouped: bool = True,
    most_groups: int = MOST_GROUPS,
) -> Intervals:
    """Find the half-widths of intervals, by the errors of rows that the model has not seen.

    Parameters
    ----------
    predictions : ndarray of shape (n_rows,)
        Of the model itself, by which rows are grouped. Rows covered by the same rules have the same
        one.
    errors : ndarray of shape (n_rows,)
        Absolute difference of the target and a prediction without the row.
    level : float
    method : {"cv", "split"}
    weights : ndarray of shape (n_rows,) or None, default=None
    is_grouped : bool, default=True
        Whether groups of predictions have half-widths of their own.
    most_groups : int, default=10
        How many groups there are at most.
    """
    check_level(level)
    kept = slice(None) if weights is None else weights > 0
    predictions, errors = predictions[kept], errors[kept]
    weights = None if weights is None else weights[kept]
    edges = _edges(predictions, weights, level, most_groups) if is_grouped else ()
    groups = np.searchsorted(edges, predictions)
    half_widths = [
        conformal_quantile(errors[rows], level, None if weights is None else weights[rows])
        for rows in (groups == place for place in range(len(edges) + 1))
    ]
    counts = np.bincount(groups, minlength=len(half_widths))
    return Intervals(
        *(level, method, len(errors), tuple(edges), tuple(half_widths)), counts=(*counts.tolist(),)
    )


def intervals_of_classes(
    probabilities: Floats,
    numbers: Indices,
    classes: Sequence[Category],
    *,
    level: float,
    method: Method,
    weights: Floats | None = None,
) -> Intervals:
    """Find the least probability of each class, by rows of it that the model has not seen.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows,)
        Of the class that a row has.
    numbers : ndarray of shape (n_rows,)
        Position of that class.
    classes : sequence
    level : float
    method : {"cv", "split"}
    weights : ndarray of shape (n_rows,) or None, default=None

    Examples
    --------
    >>> shares, numbers = np.linspace(0.5, 1, 40), np.repeat([0, 1], 20)
    >>> found = intervals_of_classes(shares, numbers, ["no", "yes"], level=0.9, method="split")
    >>> found.sets(np.array([[0.7, 0.3], [0.1, 0.9]]))
    array([[ True, False],
           [False,  True]])
    """
    check_level(level)
    amounts = np.ones(len(numbers)) if weights is None else weights
    least, counts = [], []
    for place in range(len(classes)):
        rows = (numbers == place) & (amounts > 0)
        # 1 - probability has fewer digits where it is small.
        found = -conformal_quantile(-probabilities[rows], level, amounts[rows])
        # Programs compute probabilities with other last digits.
        least.append(max(found * (1.0 - _NEGLIGIBLE) - 1e-12, 0.0))
        counts.append(int(rows.sum()))
    return Intervals(
        *(level, method, sum(counts)),
        least_probabilities=tuple(least),
        counts=tuple(counts),
        classes=tuple(classes),
    )


def set_words(is_in: Sequence[bool], labels: Sequence[str]) -> str:
    """Write a set of classes.

    Examples
    --------
    >>> set_words([True, True, False], ["a", "b", "c"]), set_words([False, False], ["a", "b"])
    ('a or b', 'unlike the rows seen')
    """
    return " or ".join(label for label, has in zip(labels, is_in, strict=True) if has) or UNSEEN


def target_range(loss: Loss) -> tuple[float, float]:
    """Return the smallest and the largest value that targets of a loss may have.

    Examples
    --------
    >>> from laconic.losses import PoissonLoss
    >>> target_range(PoissonLoss())
    (0.0, inf)
    """
    known = known_loss(loss)
    return (0.0 if known is not None and known.link == "log" else -math.inf, math.inf)


def check_loss(loss: Loss, *, has_classes: bool) -> None:
    """Refuse losses whose predictions are not on the scale of the target, or no probabilities."""
    known = known_loss(loss)
    link = None if known is None else known.link
    if has_classes and link not in ("logistic", "softmax"):
        raise ValueError(
            "Sets of classes need probabilities. Got a model with the loss "
            f"{type(loss).__name__}, which estimates none. Fit with loss='logistic'."
        )
    if not has_classes and link in ("logistic", "softmax"):
        raise ValueError(
            "Intervals need predictions on the scale of the target. Got numbers with the loss "
            f"{type(loss).__name__}, whose predictions are probabilities. Use a classifier."
        )


def _edges(
    predictions: Floats, weights: Floats | None, level: float, most_groups: int
) -> tuple[float, ...]:
    """Divide predictions into groups of enough rows, in whole sets of equal predictions."""
    smallest = max(SMALLEST_GROUP, least_rows(level), len(predictions) / most_groups)
    values, places = np.unique(predictions, return_inverse=True)
    amounts = np.ones(len(predictions)) if weights is None else weights / weights.max()
    sums = np.bincount(places, amounts)
    squares = np.bincount(places, amounts**2)
    sizes = np.abs(values)
    is_apart = np.diff(values) > _NEGLIGIBLE * np.maximum(sizes[1:], sizes[:-1])
    ends: list[int] = []
    total, square = 0.0, 0.0
    for place in range(len(values)):
        total, square = total + sums[place], square + squares[place]
        # As many rows of equal weight would be as certain.
        is_enough = total * total >= smallest * square
        if is_enough and place < len(values) - 1 and is_apart[place]:
            ends.append(place)
            total, square = 0.0, 0.0
    if ends and total * total < smallest * square:
        ends.pop()
    return tuple(float(values[end] / 2 + values[end + 1] / 2) for end in ends)


def _lines(columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """Write columns, the first one to the left and the others to the right."""
    widths = [max(map(len, column)) for column in columns]
    for first, *others in zip(*columns, strict=True):
        numbers = (text.rjust(width) for text, width in zip(others, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *numbers])
