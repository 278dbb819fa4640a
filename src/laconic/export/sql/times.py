"""Dates, times and their parts as trees of sqlglot.

A column of dates is cast to TIMESTAMP, and compared with a TIMESTAMP. SQLite has neither: there,
dates are texts such as 2024-03-01 or 2024-03-01 12:30:00, without a time zone, which compare as
texts.
"""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from laconic.data.times import MONTHS, WEEKDAYS

# Where it is known how a part of a date is written, and weekdays are counted from Sunday, 0.
_WITH_PARTS = ("duckdb", "postgres", "sqlite")
# As long as any text of a date: of two texts, the one that the other begins with comes first.
_SQLITE_PADDING = "0000-00-00 00:00:00.000000000"
_SQLITE_FORMATS = {"year": "%Y", "month": "%m", "day": "%d", "weekday": "%w", "hour": "%H"}


class TimeTerms:
    """Writer of columns and literals, in a dialect of sqlglot."""

    def __init__(self, exp: Any, dialect: str) -> None:
        self._exp = exp
        self._dialect = dialect

    def column(self, column: Any, kind: str, is_equality: bool) -> Any:
        """Column of dates or times, as literals compare with it."""
        if kind == "duration":
            raise ValueError(
                "The export to SQL must have columns of numbers, booleans, text, dates or times. "
                f"Got rules about durations in {column.name!r}. Fit the model with numbers in "
                "their place, such as hours."
            )
        if self._dialect == "sqlite":
            literals = [self._exp.Literal.string(text) for text in ("T", " ")]
            text = self._exp.func("REPLACE", column, *literals)
            return self._padded(text, column, kind) if is_equality else text
        return self._cast(column, "timestamp" if kind == "date" else "time")

    def literal(self, value: date | time) -> Any:
        """Write a date or a time."""
        if isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if self._dialect == "sqlite":
            # As long as the padding: what is the same moment and shorter comes before it.
            text = f"{value.isoformat(timespec='microseconds')}000"
            return self._exp.Literal.string(text.replace("T", " "))
        literal = self._exp.Literal.string(value.isoformat().replace("T", " "))
        return self._cast(literal, "timestamp" if isinstance(value, datetime) else "time")

    def part(self, column: Any, part: str) -> Any:
        """Part of a date, as a whole number."""
        if self._dialect not in _WITH_PARTS:
            raise ValueError(
                f"Parts of dates can be written for {', '.join(_WITH_PARTS)}. Got rules about the "
                f"{part} of {column.name!r} in the dialect {self._dialect!r}. Choose one of these, "
                "or fit the model with the part as a column of its own."
            )
        if self._dialect == "sqlite":
            form = self._exp.Literal.string(_SQLITE_FORMATS[part])
            # Without the fraction of a second, which it would round, maybe up to the next day.
            whole = self._call("SUBSTR", column, *map(self._exp.Literal.number, (1, 19)))
            return self._cast(self._call("STRFTIME", form, whole), "int")
        word = self._exp.var("DOW" if part == "weekday" else part.upper())
        return self._exp.Extract(this=word, expression=self._cast(column, "timestamp"))

    def code(self, part: str, value: Any) -> Any:
        """Write the number of a weekday or a month, or any other part."""
        if part == "weekday":
            value = (WEEKDAYS.index(value) + 1) % 7
        elif part == "month":
            value = MONTHS.index(value) + 1
        if float(value).is_integer():
            return self._exp.Literal.number(int(value))
        return self._exp.Literal.number(repr(float(value)))

    def _padded(self, text: Any, column: Any, kind: str) -> Any:
        """Write all of a moment, of which a text may leave out seconds or the time of day."""
        padding = self._exp.Literal.string(_SQLITE_PADDING[0 if kind == "date" else 11 :])
        n_characters = self._call("LENGTH", column.copy())
        first = self._exp.Add(this=n_characters, expression=self._exp.Literal.number(1))
        return self._exp.DPipe(this=text, expression=self._call("SUBSTR", padding, first))

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._exp.Anonymous(this=name, expressions=list(arguments))

    def _cast(self, term: Any, kind: str) -> Any:
        return self._exp.Cast(this=term, to=self._exp.DataType.build(kind))
