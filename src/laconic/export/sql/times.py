"""Dates and times as trees of sqlglot.

A column of dates is cast to TIMESTAMP, and compared with a TIMESTAMP. SQLite has neither: there,
dates are texts such as 2024-03-01 or 2024-03-01 12:30:00, without a time zone, which compare as
texts.
"""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any

from laconic.tables.times import MONTHS, WEEKDAYS

# Dialects in which parts and differences of dates are supported; weekdays count from Sunday, 0.
_WITH_PARTS = ("duckdb", "postgres", "sqlite")
# As long as any text of a date, because a text comes after all of its beginnings.
_SQLITE_PADDING = "0000-00-00 00:00:00.000000000"
_SQLITE_FORMATS = {"year": "%Y", "month": "%m", "day": "%d", "weekday": "%w", "hour": "%H"}


class TimeTerms:
    """Columns and literals of dates and times as trees, for a dialect of sqlglot."""

    def __init__(self, exp: Any, dialect: str) -> None:
        self._exp = exp
        self._dialect = dialect

    def column(self, column: Any, kind: str, is_equality: bool) -> Any:
        """Return a column of dates or times as literals compare with it."""
        if kind == "duration":
            raise ValueError(
                "The export to SQL must have columns of numbers, booleans, text, dates or times. "
                f"Got terms that use durations in {column.name!r}. Fit the model with numbers in "
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
            # As long as the padding: a shorter text of the same moment comes before it.
            text = f"{value.isoformat(timespec='microseconds')}000"
            return self._exp.Literal.string(text.replace("T", " "))
        literal = self._exp.Literal.string(value.isoformat().replace("T", " "))
        return self._cast(literal, "timestamp" if isinstance(value, datetime) else "time")

    def part(self, column: Any, part: str) -> Any:
        """Return a part of a date as a whole number."""
        self._check_dialect(f"the {part}", column, "the part as a column of its own")
        if self._dialect == "sqlite":
            form = self._exp.Literal.string(_SQLITE_FORMATS[part])
            # Without the fraction of a second, as SQLite might round it up to the next day.
            whole = self._call("SUBSTR", column, *map(self._exp.Literal.number, (1, 19)))
            return self._cast(self._call("STRFTIME", form, whole), "int")
        word = self._exp.var("DOW" if part == "weekday" else part.upper())
        return self._exp.Extract(this=word, expression=self._cast(column, "timestamp"))

    def microseconds(self, column: Any, kind: str) -> Any:
        """Return the microseconds of a date since 1970, or of a time of day."""
        self._check_dialect("differences", column, "numbers in its place, such as days")
        exp = self._exp
        million = exp.Literal.number(1_000_000)
        if self._dialect == "duckdb":
            return self._call("EPOCH_US", self.column(column, kind, is_equality=False))
        if self._dialect == "postgres":
            moment = self.column(column, kind, is_equality=False)
            seconds = exp.Extract(this=exp.var("EPOCH"), expression=moment)
            return exp.Mul(this=seconds, expression=million)
        text = self.column(column, kind, is_equality=True)
        if kind == "time":
            text = exp.DPipe(this=exp.Literal.string("1970-01-01 "), expression=text)
        whole, fraction = (
            self._call("SUBSTR", text.copy(), *map(exp.Literal.number, place))
            for place in ((1, 19), (21, 6))
        )
        seconds = self._cast(self._call("STRFTIME", exp.Literal.string("%s"), whole), "bigint")
        return exp.Add(
            this=exp.Mul(this=seconds, expression=million), expression=self._cast(fraction, "int")
        )

    def _check_dialect(self, what: str, column: Any, instead: str) -> None:
        if self._dialect not in _WITH_PARTS:
            raise ValueError(
                f"Parts and differences of dates can be written for {', '.join(_WITH_PARTS)}. Got "
                f"terms that use {what} of {column.name!r} in the dialect {self._dialect!r}. "
                f"Choose one of these, or fit the model with {instead}."
            )

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
        """Complete the text of a moment, which may lack seconds or the time of day."""
        padding = self._exp.Literal.string(_SQLITE_PADDING[0 if kind == "date" else 11 :])
        n_characters = self._call("LENGTH", column.copy())
        first = self._exp.Add(this=n_characters, expression=self._exp.Literal.number(1))
        return self._exp.DPipe(this=text, expression=self._call("SUBSTR", padding, first))

    def _call(self, name: str, *arguments: Any) -> Any:
        return self._exp.Anonymous(this=name, expressions=list(arguments))

    def _cast(self, term: Any, kind: str) -> Any:
        return self._exp.Cast(this=term, to=self._exp.DataType.build(kind))
