"""Slopes as plain values: terms that grow with a feature between two ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from laconic._util.types import Floats
from laconic.tables.columns import (
    Column,
    NumericColumn,
    TimeColumn,
    column_words,
    example_of_text,
    with_dates,
)
from laconic.tables.tables import as_table
from laconic.tables.times import (
    DAY,
    HOUR,
    MINUTE,
    MOMENTS,
    SECOND,
    Moment,
    TimeKind,
    from_microseconds,
    is_comparable,
    kind_of,
    microseconds,
    plain_moment,
)
from laconic.terms.conditions import NUMBERS, finite_float
from laconic.terms.formatting import (
    PLAIN_TEXT,
    Notation,
    exact_number,
    format_name,
    format_value,
    format_weight,
)

UNITS: dict[TimeKind, int] = {"date": DAY, "datetime": DAY, "time": HOUR, "duration": HOUR}
"""What weights of slopes are per, for columns of times, in microseconds."""
STEPS = {
    "year": 365.25 * DAY,
    "month": 365.25 * DAY / 12,
    "day": float(DAY),
    "hour": float(HOUR),
    "minute": float(MINUTE),
    "second": float(SECOND),
}
"""Steps that texts write the weight of a slope of times for, in microseconds."""
_STEPS_OF: dict[TimeKind, tuple[str, ...]] = {
    "date": ("year", "month", "day"),
    "datetime": ("year", "month", "day", "hour", "minute", "second"),
    "time": ("hour", "minute", "second"),
    "duration": ("day", "hour", "minute", "second"),
}
# A range of so many steps is written in them.
_MIN_STEPS = 3
_MOST_UNITS = 30


class Step(NamedTuple):
    """The round step of a feature for which texts write the weight of a slope."""

    size: float
    """In the units of the weight."""
    text: str
    """How a text names it: "10 of", "unit of", "year of"."""


@dataclass(frozen=True, slots=True, repr=False)
class Slope:
    """Term that grows with a feature: a weight times clip(x, lower, upper) − lower.

    It is 0 up to its lower end, linear between its ends, and flat above.

    Parameters
    ----------
    feature : str
        Name of the column, of numbers, dates or times.
    lower, upper : float, date, datetime, time or timedelta
        Where the line begins and ends, both of one kind.
    weight : float
        Added per unit of the feature: of numbers per 1, of dates per day, of times of day and of
        durations per hour. Texts write it for a round step of the feature.
    output : int, default=0
        Which raw prediction it is added to, where a row has several: one for each class.
    missing : float, date, datetime, time, timedelta or None, default=None
        The value that a missing cell counts as, between the ends. None: it adds nothing.
    n_conditions : {1, 2}, default=2
        How often the line bends inside of the range of the training rows, at least 1; part of the
        size of a model. Equality does not depend on it.

    Examples
    --------
    >>> slope = Slope("age", 25, 68, 0.031)
    >>> print(slope)
    +0.3100 per 10 of age from 25 to 68
    >>> slope = Slope("x0", 25, 68, 0.5, missing=45)
    >>> slope.raw_predictions([[20], [30], [70], [None]])
    array([ 0. ,  2.5, 21.5, 10. ])
    """

    feature: str
    lower: float | Moment
    upper: float | Moment
    weight: float
    output: int = 0
    missing: float | Moment | None = None
    n_conditions: int = field(default=2, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.feature, str):
            raise TypeError(
                "The 'feature' of a Slope must be a str. "
                f"Got {self.feature!r} instead. Pass the name of a column."
            )
        object.__setattr__(self, "weight", finite_float("weight", "Slope", self.weight))
        for name in ("lower", "upper", "missing"):
            if (value := getattr(self, name)) is not None or name != "missing":
                object.__setattr__(self, name, _checked_end(name, value))
        self._check_ends()
        if self.n_conditions not in (1, 2):
            raise ValueError(
                f"The 'n_conditions' of a Slope must be 1 or 2. Got {self.n_conditions!r} instead."
            )

    def _check_ends(self) -> None:
        lower, upper, missing = map(format_value, (self.lower, self.upper, self.missing))
        kinds = {kind_of(self.lower), kind_of(self.upper)}
        if self.missing is not None:
            kinds.add(kind_of(self.missing))
        if len(kinds) > 1:
            others = "" if self.missing is None else f", and {missing} for missing cells"
            raise TypeError(
                "The ends of a Slope must be of one kind: numbers, dates, dates with times, times "
                f"or durations. Got {lower} and {upper}{others}."
            )
        if not _number(self.lower) < _number(self.upper):
            raise ValueError(
                "The 'lower' end of a Slope must be below its 'upper' end. Got "
                f"{lower} and {upper}."
            )
        if not _number(self.lower) <= self.missing_number <= _number(self.upper):
            raise ValueError(
                "The value of a Slope for 'missing' cells must be between its ends, "
                f"{lower} and {upper}. Got {missing}."
            )
        if not math.isfinite(self.effect):
            raise ValueError(
                f"A Slope must add finite numbers. Got the weight {exact_number(self.weight)} from "
                f"{lower} to {upper}. Choose ends that are closer, or a smaller weight."
            )

    @property
    def features(self) -> tuple[str, ...]:
        """The feature that it uses."""
        return (self.feature,)

    @property
    def key(self) -> Slope:
        """The slope without its weight and output: what distinguishes it from others."""
        return replace(self, weight=0.0, output=0)

    @property
    def time_kind(self) -> TimeKind | None:
        """The kind of times that the feature holds; None for numbers."""
        return kind_of(self.lower)

    @property
    def unit(self) -> float:
        """What the weight is per, in the numbers of a column: 1, or microseconds."""
        kind = self.time_kind
        return 1.0 if kind is None else float(UNITS[kind])

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends as numbers of a column: times are microseconds."""
        return _number(self.lower), _number(self.upper)

    @property
    def missing_number(self) -> float:
        """What a missing cell counts as, as a number of a column."""
        return _number(self.lower if self.missing is None else self.missing)

    @property
    def effect(self) -> float:
        """What it adds at its upper end: the largest change that it makes."""
        lower, upper = self.ends
        return self.weight * ((upper - lower) / self.unit)

    def values(self, X: Any) -> Floats:
        """Compute by how much the feature exceeds the lower end, at most up to the upper one.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            As for `Condition.covered`.

        Returns
        -------
        values : ndarray of shape (n_rows,), dtype float64
            In units of the feature, of at least 0.
        """
        return self.values_in(as_table(X).column(self.feature))

    def values_in(self, column: Column) -> Floats:
        """Compute the values of the rows of a column; see `values`."""
        numbers = self._numbers(column)
        lower, upper = self.ends
        values = np.clip(numbers, lower, upper)
        values[np.isnan(numbers)] = self.missing_number
        values -= lower
        values /= self.unit
        return values

    def _numbers(self, column: Column) -> Floats:
        kind = self.time_kind
        if kind is not None:
            column = with_dates(column)
        is_number = isinstance(column, NumericColumn) or (
            # As in conditions, booleans and numbers as categories are numbers.
            not column.is_text and kind is None
        )
        own = column.kind if isinstance(column, TimeColumn) else None
        if is_number and (kind == own or is_comparable(kind, own)):
            if isinstance(column, NumericColumn):
                return column.values
            # Code -1 means missing and picks the last entry.
            return np.array((*column.categories, np.nan), dtype=np.float64)[column.codes]
        if column.missing.all():
            return np.full(len(column.missing), np.nan)
        needed = {None: "numbers", "time": "times of day", "duration": "durations"}
        raise TypeError(
            f"The slope '{self.text()}' needs a column of {needed.get(kind, 'dates')}. Column "
            f"{self.feature!r} holds {column_words(column)}{example_of_text(column)}. "
            "Convert the column."
        )

    def raw_predictions(self, X: Any) -> Floats:
        """Contribution of the slope to each row.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            As for `Condition.covered`.

        Returns
        -------
        raw_predictions : ndarray of shape (n_rows,), dtype float64
        """
        return self.weight * self.values(X)

    @property
    def step(self) -> Step:
        """The round step that texts write the weight for.

        A power of ten of which the range has a few, or 1 where it has up to 30 of these; of times a
        year, a month, a day, an hour, a minute or a second.

        Examples
        --------
        >>> ends = (0.2, 1), (6, 8.5), (0, 12), (25, 68), (0, 20_000)
        >>> [Slope("x", *each, 1.0).step.text for each in ends]
        ['0.1 of', 'unit of', 'unit of', '10 of', '1,000 of']
        """
        lower, upper = self.ends
        width = upper - lower
        if self.time_kind is not None:
            names = _STEPS_OF[self.time_kind]
            name = next((each for each in names if width >= _MIN_STEPS * STEPS[each]), names[-1])
            return Step(STEPS[name] / self.unit, f"{name} of")
        if 1.0 <= width < _MOST_UNITS:
            return Step(1.0, "unit of")
        # Powers of ten are read from texts: logarithms are rounded.
        power = f"{width if width < 1.0 else width / _MIN_STEPS:e}".partition("e")[2]
        size = float(f"1e{power}") or width
        return Step(size, f"{f'{size:,.0f}' if 1e3 <= size < 1e16 else exact_number(size)} of")

    def text(self, notation: Notation = PLAIN_TEXT) -> str:
        """Write the slope without its weight.

        Examples
        --------
        >>> Slope("rooms", 6, 8.5, 1240.0, missing=6.2).text()
        'rooms from 6 to 8.5 (6.2 if missing)'
        """
        name = notation.escape(format_name(self.feature))
        lower, upper = (notation.escape(format_value(end)) for end in (self.lower, self.upper))
        return f"{name} from {lower} to {upper}{self._missing_text(notation)}"

    def _missing_text(self, notation: Notation) -> str:
        if self.missing is None:
            return ""
        return f" ({notation.escape(format_value(self.missing))} if missing)"

    def words(self, notation: Notation = PLAIN_TEXT) -> str:
        """Write the slope after the weight of a step.

        Examples
        --------
        >>> Slope("rooms", 6, 8.5, 1240.0).words()
        'per unit of rooms from 6 to 8.5'
        """
        return f"per {self.step.text} {self.text(notation)}"

    @property
    def step_weight(self) -> float:
        """What it adds per step."""
        return self.weight * self.step.size

    def at(self, number: float) -> float:
        """Compute what it adds where the feature has some value, as a number of a column."""
        lower, upper = self.ends
        return self.weight * ((min(max(number, lower), upper) - lower) / self.unit)

    def __str__(self) -> str:
        return f"{format_weight(self.step_weight)} {self.words()}"

    def __repr__(self) -> str:
        return f"<Slope: {self}>"


def moment_of(number: float, kind: TimeKind | None) -> float | Moment:
    """Return a number of a column as the end of a slope."""
    return float(number) if kind is None else from_microseconds(number, kind)


def _checked_end(name: str, value: Any) -> float | Moment:
    if isinstance(value, MOMENTS):
        return plain_moment(value)
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        raise TypeError(
            f"The {name!r} of a Slope must be a number, a date or a time. Got {value!r} instead."
        )
    return finite_float(name, "Slope", value)


def _number(value: Any) -> float:
    return microseconds(value) if kind_of(value) else float(value)
