"""Dates, times of day and durations: convert, format, parse and round them.

They are numbers of microseconds: dates since 1970, times of day since midnight. A double holds
these exactly for the years 1685 to 2254. Times with a time zone are converted to UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats

Moment: TypeAlias = date | datetime | time | timedelta
"""A cell of a column of times, or the value that a condition compares it with."""
MOMENTS = (date, time, timedelta, np.datetime64, np.timedelta64)

TimeKind: TypeAlias = Literal["date", "datetime", "time", "duration"]
DatePart: TypeAlias = Literal["year", "month", "day", "weekday", "hour"]

SECOND = 1_000_000
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND
_EPOCH = datetime(1970, 1, 1)
_FIRST, _LAST = (
    (moment - _EPOCH) // timedelta(microseconds=1) for moment in (datetime.min, datetime.max)
)

# Steps of round times: each is tried only if no multiple of the previous one is between two values.
_STEPS = (
    *(12 * HOUR, 6 * HOUR, HOUR),
    *(30 * MINUTE, 15 * MINUTE, 10 * MINUTE, 5 * MINUTE, MINUTE),
    *(30 * SECOND, 15 * SECOND, 10 * SECOND, 5 * SECOND, SECOND),
    *(10**power for power in range(5, -1, -1)),
)
_UNITS = ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"))

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DATE_PARTS: tuple[DatePart, ...] = ("year", "month", "day", "weekday", "hour")
NAMES_OF_PARTS: dict[str, tuple[str, ...]] = {"month": MONTHS, "weekday": WEEKDAYS}
"""Parts of dates that have names, in their order; all others are numbers."""

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?")


def kind_of(value: Any) -> TimeKind | None:
    """Return the kind of a date, time or duration; None for other values."""
    if isinstance(value, np.datetime64 | datetime):
        return "datetime"
    if isinstance(value, np.timedelta64 | timedelta):
        return "duration"
    if isinstance(value, date):
        return "date"
    return "time" if isinstance(value, time) else None


def is_comparable(kind: str | None, other: str | None) -> bool:
    """Return whether times of two kinds can be compared; dates are times at midnight."""
    days = ("date", "datetime")
    return kind == other or (kind in days and other in days)


def plain_moment(value: Any) -> Moment:
    """Convert any date, time or duration to one of the standard library, without a time zone.

    Examples
    --------
    >>> plain_moment(np.datetime64("2024-03-01T12:30"))
    datetime.datetime(2024, 3, 1, 12, 30)
    """
    kind = kind_of(value)
    if isinstance(value, np.datetime64) and np.datetime_data(value.dtype)[0] in "YMWD":
        kind = "date"
    return from_microseconds(microseconds(value), kind or "datetime")


def microseconds(value: Any) -> float:
    """Count the microseconds of a time.

    Examples
    --------
    >>> microseconds(date(1970, 1, 2)) == DAY, microseconds(time(0, 1)) == MINUTE
    (True, True)
    """
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(count_microseconds(np.array([value]))[0])
    if isinstance(value, timedelta):
        return float(value // timedelta(microseconds=1))
    if isinstance(value, time):
        seconds = 3600 * value.hour + 60 * value.minute + value.second
        return float(seconds * SECOND + value.microsecond)
    if not isinstance(value, datetime):
        return float((value.toordinal() - _EPOCH.toordinal()) * DAY)
    if value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return microseconds(value.date()) + microseconds(value.time())


def from_microseconds(number: float, kind: TimeKind) -> Moment:
    """Convert a number of microseconds to a date, time or duration."""
    span = timedelta(microseconds=int(number))
    if kind == "duration":
        return span
    moment = _EPOCH + span
    if kind == "time":
        return moment.time()
    return moment if kind == "datetime" else moment.date()


def count_microseconds(values: NDArray[Any]) -> Floats:
    """Count the microseconds of an array of datetime64 or timedelta64, NaN where there is no time.

    Fractions are rounded up, so that comparisons with whole microseconds stay the same.
    """
    whole = values.astype(f"{values.dtype.kind}8[us]")
    known = ~np.isnat(values)
    counts = np.full(len(values), np.nan)
    counts[known] = whole[known].astype(np.int64)
    if np.datetime_data(values.dtype)[0] in ("ns", "ps", "fs", "as"):
        counts[known] += whole[known].astype(values.dtype) < values[known]
    return counts


def is_in_range(counts: Floats) -> bool:
    """Return whether all dates are in the years 1 to 9999, which Python supports."""
    return not ((counts < _FIRST) | (counts > _LAST)).any()


def time_text(value: Moment) -> str:
    """Format a date, time or duration for people, exactly.

    Examples
    --------
    >>> time_text(date(2024, 3, 1)), time_text(datetime(2024, 3, 1)), time_text(time(13, 45))
    ('2024-03-01', '2024-03-01 00:00', '13:45')
    >>> [time_text(timedelta(**span)) for span in ({"days": 2}, {"minutes": 90}, {"seconds": 1.5})]
    ['2 d', '90 min', '1.5 s']
    """
    if isinstance(value, datetime):
        return f"{value.date().isoformat()} {time_text(value.time())}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        text = value.isoformat("auto")
        return text.removesuffix(":00") if value.second == value.microsecond == 0 else text
    count = int(microseconds(value))
    unit, name = next(((unit, n) for unit, n in _UNITS if count and count % unit == 0), _UNITS[-1])
    whole, rest = divmod(abs(count), unit)
    decimals = f".{rest:06d}".rstrip("0") if rest else ""
    return f"{'-' if count < 0 else ''}{whole}{decimals} {name}"


def iso_counts(texts: Sequence[str]) -> Floats | None:
    """Parse texts such as 2024-03-01 and 2024-03-01 12:30; None if any is not such a date.

    Examples
    --------
    >>> iso_counts(["1970-01-02", "1970-01-01T00:00:01Z"]) / SECOND
    array([8.64e+04, 1.00e+00])
    >>> iso_counts(["2024-03-01", "2024-02-30"]) is None
    True
    """
    counts = np.empty(len(texts))
    for position, text in enumerate(texts):
        if not _ISO.fullmatch(text):
            return None
        try:
            counts[position] = microseconds(datetime.fromisoformat(text))
        except ValueError:
            return None
    return counts


def round_separator(low: float, high: float, kind: TimeKind) -> Moment:
    """Return a round time between two others: the start of a year, a month, a day, an hour, ...

    Of all times t with low <= t < high, in microseconds, one of the roundest; of these the nearest
    to the midpoint. Durations are round if they are few whole units.

    Examples
    --------
    >>> def between(*days):
    ...     return str(round_separator(*map(microseconds, days), "date"))
    >>> between(date(2023, 11, 5), date(2024, 4, 9)), between(date(2024, 2, 27), date(2024, 3, 20))
    ('2024-01-01', '2024-03-01')
    """
    middle = int(low) + (int(high) - int(low)) // 2
    for below, above in _round_neighbours(middle, kind):
        near = (below, above) if 2 * middle <= below + above else (above, below)
        for count in near:
            if low <= count < high:
                return from_microseconds(count, kind)
    return from_microseconds(low, kind)


def _round_neighbours(middle: int, kind: TimeKind) -> Iterator[tuple[int, int]]:
    """Yield round times below and above, the roundest first."""
    steps: tuple[int, ...] = _STEPS
    if kind == "duration":
        yield 0, 0
        units = (DAY, HOUR, MINUTE, SECOND)
        powers = (1000, 100, 10, 1)
        steps = (*(unit * power for unit in units for power in powers), *_STEPS[-6:])
    elif kind != "time":
        year = (_EPOCH + timedelta(microseconds=middle)).year
        for width in (1000, 100, 10, 1):
            yield _multiples(year, width, _year_start)
        months = 12 * year + (_EPOCH + timedelta(microseconds=middle)).month - 1
        yield _multiples(months, 1, lambda month: _year_start(month // 12, month % 12 + 1))
        steps = (DAY,) if kind == "date" else (DAY, *_STEPS)
    for step in steps:
        yield _multiples(middle, step, int)


def _multiples(number: int, width: int, count: Callable[[int], int]) -> tuple[int, int]:
    below = number // width * width
    return count(below), count(below + width)


def _year_start(year: int, month: int = 1) -> int:
    year = min(max(year, 1), 9999)
    return int(microseconds(date(year, month, 1)))


def part_codes(counts: Floats, part: str) -> Floats:
    """Return a part of each date: a number, or the position of its name; NaN for missing dates.

    Examples
    --------
    >>> part_codes(np.array([microseconds(datetime(2024, 3, 2, 18))]), "weekday")
    array([5.])
    """
    known = ~np.isnan(counts)
    whole = counts[known].astype(np.int64)
    if part in ("weekday", "hour"):
        found = (whole // DAY + 3) % 7 if part == "weekday" else whole % DAY // HOUR
    else:
        days = whole.astype("M8[us]").astype("M8[D]")
        months = days.astype("M8[M]")
        if part == "day":
            found = (days - months).astype(np.int64) + 1
        else:
            number = months.astype(np.int64)
            found = number % 12 if part == "month" else number // 12 + 1970
    parts = np.full(len(counts), np.nan)
    parts[known] = found
    return parts
