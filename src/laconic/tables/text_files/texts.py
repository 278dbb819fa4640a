"""Texts that mean numbers or dates, and how to find out how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from laconic.tables.text_format import DATE_FORMATS, DECIMAL_SIGNS

if TYPE_CHECKING:
    import polars as pl

_CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY"
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_TIME = (
    r"[T ]+(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2}(?:\.\d+)?))?\s*"
    r"(?:(?<half>[AaPp][Mm])|Z|(?<sign>[+-])(?<zone_hour>\d{2}):?(?<zone_minute>\d{2}))?$"
)

# Cells that look as if they were dates, so that not every column of text is read in all ways.
_DATE_LIKE = (
    r"^(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})"
    r"|\d{1,2}[ -]\p{L}{3,9}[ -]\d{4}|\p{L}{3,9} \d{1,2}, \d{4})$"
)
_MIN_YEAR = 1000


def _number_pattern(decimal: str) -> str:
    """Sign, number and sign again of money, shares, and numbers with their thousands apart."""
    mark = r"\." if decimal == "." else ","
    groups = f"[{',' if decimal == '.' else '.'}'’ \u00a0\u202f]"
    digits = rf"(?:[1-9]\d{{0,2}}(?:{groups}\d{{3}})+|\d+)(?:{mark}\d*)?|{mark}\d+"
    return rf"^([+-]?)\s?({_CURRENCY})?\s?([+-]?)((?:{digits}){_EXPONENT})\s?({_CURRENCY}|%)?$"


def numbers(texts: pl.Series, decimal: str) -> pl.Series:
    """Read texts without blanks at their ends as numbers; null where they are none."""
    import polars as pl

    for dtype in (pl.Int64, pl.Float64):
        plain = texts.cast(dtype, strict=False)
        # A German 1.234 is no Float64, but more than a thousand.
        if plain.null_count() == texts.null_count() and (decimal == "." or dtype == pl.Int64):
            return plain
    signed = _signed_numbers(texts, decimal)
    return signed if signed.null_count() <= plain.null_count() else plain


def _signed_numbers(texts: pl.Series, decimal: str) -> pl.Series:
    import polars as pl

    pattern = _number_pattern(decimal)
    parts = texts.to_frame("text").select(
        minus=pl.concat_str(
            pl.col("text").str.extract(pattern, 1), pl.col("text").str.extract(pattern, 3)
        ),
        digits=pl.col("text").str.extract(pattern, 4),
    )
    bare = pl.col("digits").str.replace_all(rf"[^0-9eE+\-{decimal}]", "")
    plain = bare.str.replace(decimal, ".", literal=True)
    number = plain.cast(pl.Float64, strict=False)
    found = parts.select(pl.when(pl.col("minus").str.contains("-")).then(-number).otherwise(number))
    return found.to_series().alias(texts.name)


def are_plain(texts: pl.Series, decimal: str) -> bool:
    """Tell whether no number has the sign of a currency, a percent sign, or thousands apart."""
    return not texts.str.contains(_plain_pattern(decimal)).not_().any()


def odd_number(texts: pl.Series, decimal: str) -> str:
    """Return a text that is not plain."""
    known = texts.drop_nulls()
    return str(known.filter(~known.str.contains(_plain_pattern(decimal)))[0])


def _plain_pattern(decimal: str) -> str:
    mark = "[.]" if decimal == "." else "[,]"
    return rf"^[+-]?(?:\d+{mark}?\d*|{mark}\d+){_EXPONENT}$"


def has_one_unit(texts: pl.Series, decimal: str) -> bool:
    """Tell whether numbers are all of the same currency, all shares, or all without a sign."""
    pattern = _number_pattern(decimal)
    units = [texts.str.extract(pattern, group).drop_nulls().unique().to_list() for group in (2, 5)]
    return len(set(units[0]) | set(units[1])) <= 1


def decimal_sign(columns: Iterable[pl.Series], separator: str | None, known: str | None) -> str:
    """Find the decimal sign of a file: the one with which more of its cells are numbers.

    Where it makes no difference it is the `known` one, if any. A table with semicolons has
    decimal commas rather than thousands, one with commas has thousands.
    """
    totals = dict.fromkeys(DECIMAL_SIGNS, 0)
    marks = dict.fromkeys(DECIMAL_SIGNS, 0)
    for values in columns:
        cells = values.drop_nulls().str.strip_chars()
        cells = cells.filter(cells.str.contains(r"\d[.,]|[.,]\d"))
        for sign in DECIMAL_SIGNS:
            read = cells.filter(cells.str.contains(_number_pattern(sign)))
            totals[sign] += len(read)
            marks[sign] += int(read.str.contains(sign, literal=True).sum())
    if totals["."] != totals[","]:
        return max(DECIMAL_SIGNS, key=totals.__getitem__)
    if known is not None:
        return known
    return "," if separator != "," and marks[","] > marks["."] else "."


def date_formats(texts: pl.Series) -> list[str]:
    """Find the ways of writing dates that all of the texts are in accord with.

    Of several that say the same the first one is enough, so that more than one means doubt.
    """
    days = _without_times(texts.drop_nulls().unique())
    if len(days) == 0 or not days.str.contains(_DATE_LIKE).all():
        return []
    found: dict[tuple[Any, ...], str] = {}
    for written in DATE_FORMATS:
        read = _days(days, written)
        if not read.has_nulls():
            found.setdefault(tuple(read), written)
    return list(found.values())


def dates(texts: pl.Series, written: str) -> pl.Series:
    """Read dates, with the times of day that they have, in UTC; null where a text is no date."""
    import polars as pl

    days = _days(_without_times(texts), written)
    found = texts.str.strip_chars().str.extract_groups(_TIME).struct.unnest()
    if found["hour"].null_count() == len(texts):
        return days
    hour, minute = pl.col("hour").cast(pl.Int64), pl.col("minute").cast(pl.Int64)
    half = pl.col("half").str.to_lowercase()
    hour = pl.when(half.is_not_null()).then(hour % 12 + 12 * (half == "pm")).otherwise(hour)
    zone = pl.col("zone_hour").cast(pl.Int64) * 60 + pl.col("zone_minute").cast(pl.Int64)
    offset = pl.when(pl.col("sign") == "-").then(-zone).otherwise(zone).fill_null(0)
    seconds = (hour * 60 + minute - offset) * 60 + pl.col("second").cast(pl.Float64).fill_null(0.0)
    microseconds = (seconds * 1_000_000).round().cast(pl.Int64).fill_null(0)
    spans = found.select(pl.duration(microseconds=microseconds)).to_series()
    return (days.cast(pl.Datetime("us")) + spans).alias(texts.name)


def _without_times(texts: pl.Series) -> pl.Series:
    return texts.str.strip_chars().str.replace(_TIME, "")


def _days(texts: pl.Series, written: str) -> pl.Series:
    days = texts.str.to_date(written, strict=False)
    # A year of two digits is none where four are expected.
    return days.set(days.dt.year() < _MIN_YEAR, None)
