"""Parse texts into numbers, dates and booleans, and detect how these are written.

`Reading` is the format of a file, which a model keeps for new files. `ColumnReader` gives types to
the columns of a file, by the functions below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

DECIMAL_SIGNS = (".", ",")
MISSING_TEXTS = (
    *("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan"),
    *("null", "NULL", "None", "?"),
)
DATE_FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%d/%m/%y", "%m/%d/%y"),
    *("%d %B %Y", "%d-%B-%Y", "%B %d, %Y"),
)

_CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY"
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_TIME = (
    r"[T ]+(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2}(?:\.\d+)?))?\s*"
    r"(?:(?<half>[AaPp][Mm])|Z|(?<sign>[+-])(?<zone_hour>\d{2}):?(?<zone_minute>\d{2}))?$"
)

# Cells that look like dates, so that not every column of text is parsed in all formats.
_DATE_LIKE = (
    r"^(?:\d{4}[./-]\d{1,2}[./-]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})"
    r"|\d{1,2}[ -]\p{L}{3,9}[ -]\d{4}|\p{L}{3,9} \d{1,2}, \d{4})$"
)
_MIN_YEAR = 1000
# Zip codes and the like: as numbers they would lose their zeros.
_CODE = r"^[+-]?0\d"


@dataclass(frozen=True)
class Reading:
    """How numbers, dates and missing values are written, which new files may not show."""

    decimal: str = "."
    """The decimal sign."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """The columns of dates, and their formats."""
    missing: tuple[str, ...] = MISSING_TEXTS
    """Texts that mean a missing value, besides empty cells."""


@dataclass(frozen=True, kw_only=True)
class ColumnReader:
    """Gives types to the columns of a table: numbers, dates, booleans or text."""

    reading: Reading
    has_types: bool = False
    """Whether plain numbers in texts stay text; amounts such as $5 become numbers in any case."""
    plain_columns: Collection[str] = ()
    """Columns in which amounts such as $5 stay text."""
    text_columns: Collection[str] = ()
    """Columns that stay text, whatever they hold."""
    is_for_model: bool = False
    """Whether all other columns become numbers if they can, also codes such as 007."""

    def read(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return a table with types."""
        import polars as pl

        return pl.DataFrame([self._typed(self.known(values)) for values in cells])

    def known(self, values: pl.Series) -> pl.Series:
        """Return a column in which texts that mean a missing value are null."""
        import polars as pl

        if values.dtype == pl.Null:
            return values.cast(pl.String)
        if values.dtype != pl.String:
            return values
        missing = ["", *(text.strip() for text in self.reading.missing)]
        return values.set(values.str.strip_chars().is_in(missing), None)

    def _typed(self, values: pl.Series) -> pl.Series:
        trimmed = _trimmed(values)
        if (
            trimmed is None
            or values.name in self.text_columns
            or (not self.is_for_model and has_codes(trimmed))
        ):
            return values
        found = self._dates(trimmed)
        if found is not None:
            return found
        parsed = numbers(trimmed, self.reading.decimal)
        if parsed.null_count() == values.null_count():
            return parsed if self._is_number(trimmed) else values
        truths = trimmed.str.to_lowercase()
        if truths.drop_nulls().is_in(["true", "false"]).all() and not self.has_types:
            return truths == "true"
        return values

    def _dates(self, trimmed: pl.Series) -> pl.Series | None:
        """Parse dates, also those that a model knows from a file of another kind."""
        known = self.reading.dates.get(trimmed.name)
        formats = date_formats(trimmed) if self.is_for_model else []
        for written in [*([known] if known else []), *(formats if len(formats) == 1 else [])]:
            found = dates(trimmed, written)
            if found.null_count() == trimmed.null_count():
                return found
        return None

    def _is_number(self, trimmed: pl.Series) -> bool:
        """Return whether texts that can be numbers become numbers."""
        if self.is_for_model:
            return True
        if _are_plain(trimmed, self.reading.decimal):
            return not self.has_types
        is_asked_for = trimmed.name not in self.plain_columns
        return is_asked_for and has_one_unit(trimmed, self.reading.decimal)

    def formatted_numbers(self, cells: pl.DataFrame, typed: pl.DataFrame) -> dict[str, str]:
        """Find columns of numbers such as $5, 7% or 1,234: for each, an example and its number."""
        found = {}
        for values in map(self.known, cells):
            trimmed = _trimmed(values)
            is_number = values.name in typed.columns and typed[values.name].dtype.is_numeric()
            if trimmed is None or not is_number or values.name in self.reading.dates:
                continue
            present = trimmed.drop_nulls()
            formatted = present.filter(~present.str.contains(_plain_pattern(self.reading.decimal)))
            if len(formatted):
                number = numbers(formatted.head(1), self.reading.decimal)[0]
                found[values.name] = f"{formatted[0]!r} as {number:.15g}"
        return found

    def cells_that_are_no_numbers(self, values: pl.Series) -> Counter[str]:
        """Count them in a column of which at least half of the values are numbers, or dates."""
        import polars as pl

        if values.dtype != pl.String:
            return Counter()
        distinct = values.drop_nulls().unique()
        trimmed = distinct.str.strip_chars()
        written = self.reading.dates.get(values.name)
        if written is not None:
            parsed = dates(trimmed, written)
        elif has_codes(trimmed):
            return Counter()
        else:
            parsed = numbers(trimmed, self.reading.decimal)
        is_number = parsed.is_not_null()
        if 2 * is_number.sum() < len(distinct):
            return Counter()
        return Counter(values.filter(values.is_in(distinct.filter(~is_number).to_list())))


def _trimmed(values: pl.Series) -> pl.Series | None:
    """Return texts without blanks at their ends; None for a column without texts."""
    import polars as pl

    if values.dtype != pl.String or values.null_count() == len(values):
        return None
    return values.str.strip_chars()


def has_codes(values: pl.Series) -> bool:
    """Return whether some texts are codes such as 01234, which are not numbers."""
    return bool(values.str.contains(_CODE).any()) and not date_formats(values)


def _number_pattern(decimal: str) -> str:
    """Return the pattern of amounts of money, percentages, and numbers with separated thousands."""
    mark = r"\." if decimal == "." else ","
    groups = f"[{',' if decimal == '.' else '.'}'’ \u00a0\u202f]"
    digits = rf"(?:[1-9]\d{{0,2}}(?:{groups}\d{{3}})+|\d+)(?:{mark}\d*)?|{mark}\d+"
    return rf"^([+-]?)\s?({_CURRENCY})?\s?([+-]?)((?:{digits}){_EXPONENT})\s?({_CURRENCY}|%)?$"


def numbers(texts: pl.Series, decimal: str) -> pl.Series:
    """Parse texts without blanks at their ends as numbers; null where they are not numbers."""
    import polars as pl

    for dtype in (pl.Int64, pl.Float64):
        plain = texts.cast(dtype, strict=False)
        # A German 1.234 is not a fraction, but more than a thousand.
        if plain.null_count() == texts.null_count() and (decimal == "." or dtype == pl.Int64):
            return plain
    formatted = _formatted_numbers(texts, decimal)
    return formatted if formatted.null_count() <= plain.null_count() else plain


def _formatted_numbers(texts: pl.Series, decimal: str) -> pl.Series:
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


def _are_plain(texts: pl.Series, decimal: str) -> bool:
    """Return whether no number has a currency sign, a percent sign, or separated thousands."""
    return not texts.str.contains(_plain_pattern(decimal)).not_().any()


def _plain_pattern(decimal: str) -> str:
    mark = "[.]" if decimal == "." else "[,]"
    return rf"^[+-]?(?:\d+{mark}?\d*|{mark}\d+){_EXPONENT}$"


def has_one_unit(texts: pl.Series, decimal: str) -> bool:
    """Return whether all numbers have the same currency sign, a percent sign, or none."""
    pattern = _number_pattern(decimal)
    units = [texts.str.extract(pattern, group).drop_nulls().unique().to_list() for group in (2, 5)]
    return len(set(units[0]) | set(units[1])) <= 1


def decimal_sign(columns: Iterable[pl.Series], separator: str | None, known: str | None) -> str:
    """Find the decimal sign of a file: the one with which more of its cells are numbers.

    If both are possible, it is the `known` one, if any. Otherwise commas are decimal signs in a
    file with semicolons, and separate thousands in a file with commas.
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
    """Find the formats in which all of the texts are dates.

    Of several that give the same dates only the first is returned, so more than one means doubt.
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
    """Parse dates, with their times of day if any, in UTC; null where a text is not a date."""
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
    # Where a year of four digits is expected, one of two digits is not a year.
    return days.set(days.dt.year() < _MIN_YEAR, None)
