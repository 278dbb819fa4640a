"""Dates in texts: find the formats in which they are written, and parse them.

Formats are those of `datetime.strptime`. Times of day are parsed wherever they follow a date, so
formats need not mention them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import MAXYEAR, date, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

ISO_FORMAT = "%Y-%m-%d"
DATE_FORMATS = (
    *(ISO_FORMAT, "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y"),
    *("%d %B %Y", "%B %d %Y", "%d %B %y", "%Y %B %d", "%B %Y", "%Y-%m", "%m/%Y"),
)
"""Formats that are detected; where %B is, any separator may stand for a blank."""
# Numbers such as 20240315, or texts such as Mar-24: dates only if somebody says so.
_FURTHER_FORMATS = ("%Y%m%d", "%B %y")

DATE_FORMAT = r"(?:[^%]|%[a-zA-Z%])*%[YyFD](?:[^%]|%[a-zA-Z%])*"
"""Pattern of a format: it has a year."""

_TIME = (
    r"(?:,?[ \t]+|T)(?<hour>[01]?\d|2[0-3]):(?<minute>[0-5]\d)"
    r"(?::(?<second>[0-5]\d(?:[.,]\d+)?))?\s*(?:(?<half>[AaPp])\.?[Mm]\.?|Z|UTC|GMT"
    r"|(?<sign>[+-])(?<zone_hour>[01]\d|2[0-3]):?(?<zone_minute>[0-5]\d))?$"
)
_NO_TIME = r"(?:1[3-9]|2\d):[\d:.,]+\s*[AaPp]\.?[Mm]\.?$"
_TIME_DIRECTIVES = re.compile(r"(?:,?\s+|T)%[HITR](?!.*%[YymdBbFD]).*$", re.DOTALL)
_WEEKDAY = r"(?i)^(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satur|sun)(?:day)?|sat)\b[.,]*\s*"

# Cells that look like dates, so that not every column of text is parsed in all formats.
_DIGITS_LIKE_DATE = (
    r"^(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})"
    r"|(?:19|20)\d{2}-\d{2}|\d{1,2}/(?:19|20)\d{2})$"
)
_WORDS_LIKE_DATE = (
    r"^(?:\d{1,2} \p{L}{3,9} (?:\d{2}|\d{4})|\p{L}{3,9} \d{1,2} \d{4}|\d{4} \p{L}{3,9} \d{1,2}"
    r"|\p{L}{3,9} \d{4})$"
)
# Dates have days of two digits, unless they are few.
_VERSION = r"^\d\.\d\.\d{2}$"
_COMPACT = r"^(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$"
_MIN_YEAR = 1000
# Texts that show which formats are possible at all.
_N_FIRST = 100


def date_formats(texts: pl.Series) -> list[str]:
    """Find the formats in which all of the texts are dates.

    Of several that give the same dates only the first is returned, so more than one means doubt.
    """
    days = _without_times(texts.drop_nulls().unique(maintain_order=True))
    if len(days) == 0 or not _look_like_dates(days[:_N_FIRST]) or not _look_like_dates(days):
        return []
    possible = [each for each in DATE_FORMATS if not _days(days[:_N_FIRST], each).has_nulls()]
    found: dict[tuple[Any, ...], str] = {}
    for written in possible:
        read = _days(days, written)
        if not read.has_nulls():
            found.setdefault(tuple(read), written)
    return list(found.values())


def likely_formats(texts: pl.Series) -> list[str]:
    """Find the formats in which most of the texts are dates, also those that are not detected.

    More than one means doubt, as for `date_formats`.
    """
    known = texts.drop_nulls()
    if not known.str.contains(r"\d").any():
        return []  # every format has numbers
    counts = _without_times(known).alias("day").value_counts(sort=True)
    days, amounts = counts.get_columns()
    found: dict[tuple[Any, ...], tuple[int, str]] = {}
    for written in (*DATE_FORMATS, *_FURTHER_FORMATS):
        read = _days(days, written)
        n_read = int(amounts.filter(read.is_not_null()).sum())
        if n_read:
            found.setdefault(tuple(read), (n_read, written))
    most = max((n_read for n_read, _ in found.values()), default=0)
    return [written for n_read, written in found.values() if n_read == most]


def are_compact(texts: pl.Expr) -> pl.Expr:
    """Return whether all texts are dates such as 20240315, which are read as numbers."""
    return texts.is_not_null().any() & texts.str.strip_chars().str.contains(_COMPACT).all()


def dates(texts: pl.Series, written: str) -> pl.Series:
    """Parse dates, with their times of day if any, in UTC; null where a text is not a date."""
    import polars as pl

    if _day_format(written) is None:
        return _moments(texts, written)
    days = _days(_without_times(texts), written)
    found = texts.str.strip_chars().str.extract_groups(_TIME).struct.unnest()
    if found["hour"].null_count() == len(texts):
        return days
    hour, minute = pl.col("hour").cast(pl.Int64), pl.col("minute").cast(pl.Int64)
    half = pl.col("half").str.to_lowercase()
    hour = pl.when(half.is_not_null()).then(hour % 12 + 12 * (half == "p")).otherwise(hour)
    zone = pl.col("zone_hour").cast(pl.Int64) * 60 + pl.col("zone_minute").cast(pl.Int64)
    offset = pl.when(pl.col("sign") == "-").then(-zone).otherwise(zone).fill_null(0)
    second = pl.col("second").str.replace(",", ".", literal=True).cast(pl.Float64)
    seconds = (hour * 60 + minute - offset) * 60 + second.fill_null(0.0)
    microseconds = (seconds * 1_000_000).round().cast(pl.Int64).fill_null(0)
    spans = found.select(pl.duration(microseconds=microseconds)).to_series()
    return _with_known_years(days.cast(pl.Datetime("us")) + spans).alias(texts.name)


def first_dates(texts: pl.Series, formats: Iterable[str]) -> pl.Series:
    """Parse each text in the first of several formats in which it is a date."""
    import polars as pl

    def filled(one: pl.Series, other: pl.Series) -> pl.Series:
        if one.dtype != other.dtype:
            one, other = one.cast(pl.Datetime("us")), other.cast(pl.Datetime("us"))
        return one.fill_null(other) if len(one) else one

    return reduce(filled, (dates(texts, written) for written in formats))


def is_date_format(written: str) -> bool:
    """Return whether a format can be used to parse dates.

    Examples
    --------
    >>> is_date_format("%d/%m/%Y"), is_date_format("%H:%M"), is_date_format("dd/mm/yyyy")
    (True, False, False)
    """
    import polars as pl

    moment = datetime(2024, 3, 1, 13, 45)
    try:
        found = dates(pl.Series([moment.strftime(written)]), written)[0]
    except (ValueError, pl.exceptions.PolarsError):
        return False
    day = found.date() if isinstance(found, datetime) else found
    return bool(day == date(2024, 3, 1))


def _look_like_dates(days: pl.Series) -> bool:
    is_date = days.str.contains(_DIGITS_LIKE_DATE)
    if is_date.all():
        return not days.str.contains(_VERSION).all()
    return bool(_with_blanks(days.filter(~is_date)).str.contains(_WORDS_LIKE_DATE).all())


def _without_times(texts: pl.Series) -> pl.Series:
    texts = texts.str.strip_chars()
    return texts.set(texts.str.contains(_NO_TIME), None).str.replace(_TIME, "")


def _with_blanks(days: pl.Series) -> pl.Series:
    """Write dates with names of months as 15 Mar 2024, whatever separates their parts."""
    plain = days.str.replace(_WEEKDAY, "").str.replace(r"(\d)(?:st|[nr]d|th)\b", "${1}")
    plain = plain.str.replace(r"(?i)\bsept\b", "Sep")
    spaced = plain.str.replace_all(r"(\p{L}+)", " ${1} ")
    return spaced.str.replace_all(r"[-/.,\s]+", " ").str.strip_chars()


def _day_format(written: str) -> str | None:
    """Return the format of a day, as `_days` takes it; None if it is of another kind."""
    day = _TIME_DIRECTIVES.sub("", written)
    for short, long in (("%F", ISO_FORMAT), ("%D", "%m/%d/%y"), ("%b", "%B"), ("%h", "%B")):
        day = day.replace(short, long)
    if "%B" in day:
        day = re.sub(r"%[aA]", " ", day).replace("%B", " %B ")
        day = re.sub(r"[-/.,\s]+", " ", day).strip()
    return day if {*re.findall("%(.)", day)} <= {*"YymdB"} else None


def _days(texts: pl.Series, written: str) -> pl.Series:
    written = _day_format(written) or written
    if "%B" in written:
        texts = _with_blanks(texts)
    if written == "%Y%m%d":
        texts = texts.set(~texts.str.contains(_COMPACT), None)
    if "%d" not in written:
        texts, written = texts + " 1", f"{written} %d"
    return _with_known_years(texts.str.to_date(written, strict=False))


def _with_known_years(values: pl.Series) -> pl.Series:
    """Return dates, null in place of those that Python does not know, or of two-digit years."""
    import polars as pl

    is_known = values.dt.year().is_between(_MIN_YEAR, MAXYEAR)
    return values.to_frame().select(pl.when(is_known).then(pl.first())).to_series()


def _moments(texts: pl.Series, written: str) -> pl.Series:
    """Parse dates in a format with a time of day before the year, or the like."""
    import polars as pl

    found = texts.str.strip_chars().str.to_datetime(
        written.replace(".%f", "%.f"), strict=False, time_unit="us", exact=True
    )
    is_moment = isinstance(found.dtype, pl.Datetime)
    return _with_known_years(found.dt.replace_time_zone(None) if is_moment else found)
