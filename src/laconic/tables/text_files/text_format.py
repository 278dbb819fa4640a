"""Give types to columns of texts, parse numbers in texts, and detect how these are written.

`Reading` is the format of a file, which a model keeps for new files. `ColumnReader` gives types to
the columns of a file, by the functions below it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from laconic.tables.text_files import dates
from laconic.tables.text_files.dates import ISO_FORMAT
from laconic.tables.text_files.first_look import (
    columns_where,
    first_look,
    in_batches,
    plain_numbers,
    with_missing,
)

if TYPE_CHECKING:
    import polars as pl

CellType: TypeAlias = Literal["number", "date", "boolean", "text"]
CELL_TYPES: tuple[CellType, ...] = get_args(CellType)
DECIMAL_SIGNS = (".", ",")
MISSING_TEXTS = (
    *("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan"),
    *("null", "NULL", "None", "?", "."),
)
_CURRENCY = r"[$€£¥₹]|USD|EUR|GBP|CHF|JPY"
# Of a number: 12 kg, 12 km/h, 12 °C, but not 12k or 12a; only these letters, after a blank: 12 g.
_UNIT = r"\d\s?([$€£¥₹%°]|[\p{L}°][\p{L}°²³/·%]{1,9}| [ghlms])$"
_CURRENCY_BEFORE = rf"^[+-]*\s?({_CURRENCY})"
# Times of day, ordinal numbers, and thousands to billions.
_NO_UNIT = r"(?i)[ap]m|st|[nr]d|th|tsd|mn|mio|mln|bn|mrd"
_UNIT_AT_END = r"(\d)\s?\p{L}[\p{L}²³/]{0,9}$"
_EXPONENT = r"(?:[eE][+-]?\d+)?"
# Zip codes and the like: as numbers they would lose their zeros.
_CODE = r"^[+-]?0\d"
_LONG_CODE = r"^\d{20,}$"


@dataclass(frozen=True)
class Reading:
    """How numbers, dates and missing values are written, which new files may not show."""

    decimal: str = "."
    """The decimal sign."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """The columns of dates, and their formats."""
    missing: tuple[str, ...] = MISSING_TEXTS
    """Texts that mean a missing value, besides empty cells."""
    types: Mapping[str, CellType] = field(default_factory=dict)
    """The types of columns; cells of another type are missing values."""
    units: Mapping[str, str] = field(default_factory=dict)
    """The columns of numbers with a unit, such as kg, % or $; "" if percentages are not meant."""


@dataclass(frozen=True, kw_only=True)
class ColumnReader:
    """Gives types to the columns of a table: numbers, dates, booleans or text.

    A column whose type is known becomes one of that type: all other cells are missing values. The
    types of all others are detected: all of their cells must be of one.
    """

    reading: Reading
    has_types: bool = False
    """Whether plain numbers in texts stay text; amounts such as $5 become numbers in any case."""
    mixed: Collection[str] = ()
    """Columns in which they do not, because they also hold numbers."""
    plain_columns: Collection[str] = ()
    """Columns in which amounts such as $5 stay text."""
    is_part: bool = False
    """Whether this is a part of a table, which does not show the types of columns: those whose type
    is not known stay as they are."""

    def read(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return a table with types."""
        import polars as pl

        known = with_missing(cells, self.reading.missing)
        found = self._at_once(known)
        return pl.DataFrame(
            [
                found[values.name] if values.name in found else self._typed(values)
                for values in known
            ]
        )

    def _at_once(self, known: pl.DataFrame) -> dict[str, pl.Series]:
        """Return columns whose types a look at all of them shows."""
        if self.is_part or self.has_types:
            return {}
        look = first_look(known)
        numbers, words = (
            known.select([name for name in known.columns if name in names and not self._type(name)])
            for names in look
        )
        return {each.name: each for each in (*plain_numbers(numbers, self.reading.decimal), *words)}

    def known(self, values: pl.Series) -> pl.Series:
        """Return a column in which texts that mean a missing value are null."""
        import polars as pl

        if values.dtype == pl.Null:
            return values.cast(pl.String)
        if values.dtype != pl.String:
            return values
        missing = ["", *(text.strip() for text in self.reading.missing)]
        return values.set(values.str.strip_chars().is_in(missing), None)

    def unread_cells(self, cells: pl.DataFrame, typed: pl.DataFrame) -> dict[str, Counter[str]]:
        """Count the texts that are missing values because their column is of another type."""
        found = {}
        known, read = with_missing(cells, self.reading.missing), typed.select(cells.columns)
        counts = zip(known.null_count().row(0), read.null_count().row(0), strict=True)
        for values, others, (n_before, n_nulls) in zip(known, read, counts, strict=True):
            if others.dtype != values.dtype and n_nulls > n_before:
                unread = values.filter(others.is_null() & values.is_not_null())
                found[values.name] = Counter(unread.cast(str).to_list())
        return found

    def _typed(self, values: pl.Series) -> pl.Series:
        known = self._type(values.name)
        if known is not None:
            return self._converted(values, known)
        trimmed = _trimmed(values) if not self.is_part else None
        if trimmed is None or has_codes(trimmed):
            return values
        parsed = self._numbers(trimmed)
        has_type = self.has_types and values.name not in self.mixed
        if parsed.null_count() == values.null_count():
            is_plain = _are_plain(trimmed, self.reading.decimal)
            is_kept = has_type if is_plain else values.name in self.plain_columns
            return values if is_kept else parsed
        truths = _truths(trimmed)
        return values if has_type or truths.null_count() > values.null_count() else truths

    def _type(self, name: str) -> CellType | None:
        return "date" if name in self.reading.dates else self.reading.types.get(name)

    def _converted(self, values: pl.Series, known: CellType) -> pl.Series:
        """Convert all cells to a type, and those that are not of that type to missing values."""
        import polars as pl

        if known == "date" and values.dtype.is_numeric():
            values = day_texts(values)
        if known == "text" or values.dtype != pl.String:
            return values
        trimmed = values.str.strip_chars()
        if known == "date":
            return self._dates(trimmed)
        # True and 1 are the same to terms.
        found = self._numbers(trimmed)
        if known == "boolean":
            truths = found.set(~found.cast(pl.Float64).is_in([0.0, 1.0]), None).cast(pl.Boolean)
            return _truths(trimmed).fill_null(truths)
        is_unread = found.null_count() > trimmed.null_count()
        return found.fill_null(_truths(trimmed).cast(found.dtype)) if is_unread else found

    def _dates(self, trimmed: pl.Series) -> pl.Series:
        """Parse dates in the known format, or in a likely one, or as 2024-03-15."""
        known = self.reading.dates.get(trimmed.name)
        found = dates.first_dates(trimmed, dict.fromkeys([known or ISO_FORMAT, ISO_FORMAT]))
        likely = dates.likely_formats(trimmed.filter(found.is_null())) if known is None else []
        return dates.first_dates(trimmed, [ISO_FORMAT, *likely]) if len(likely) == 1 else found

    def _numbers(self, trimmed: pl.Series) -> pl.Series:
        bare = _without_unit(trimmed, self.reading.units.get(trimmed.name))
        return numbers(bare, self.reading.decimal)

    def formatted_numbers(self, cells: pl.DataFrame, typed: pl.DataFrame) -> dict[str, str]:
        """Find columns of numbers such as $5, 7% or 1,234: for each, an example and its number."""
        import polars as pl

        found = {}
        numeric = [each.name for each in typed if each.dtype.is_numeric()]
        known = with_missing(cells.select(numeric), self.reading.missing).select(pl.col(pl.String))
        are_plain = pl.all().str.strip_chars().str.contains(_plain_pattern(self.reading.decimal))
        for name in columns_where(known, known.columns, ~are_plain.all()):
            trimmed = known[name].str.strip_chars()
            is_plain = trimmed.str.contains(_plain_pattern(self.reading.decimal))
            read = typed[name].is_not_null() & ~is_plain
            if read.any():
                text, number = trimmed.filter(read)[0], typed[name].filter(read)[0]
                found[name] = f"{text!r} as {number:.15g}"
        return found

    def odd_cells(self, values: pl.Series) -> tuple[Counter[str], list[str]]:
        """Count texts that are no numbers, if at least half of the values are; or no dates.

        Also returns the formats of the dates.
        """
        import polars as pl

        if values.dtype != pl.String:
            return Counter(), []
        distinct = values.drop_nulls().unique(maintain_order=True)
        trimmed = distinct.str.strip_chars().alias(values.name)
        bare, formats = _without_unit(trimmed, likely_unit(trimmed)), []
        parsed = numbers(bare, self.reading.decimal)
        if has_codes(trimmed) or 2 * parsed.count() < len(distinct):
            formats = dates.likely_formats(trimmed)
            if not formats:
                return Counter(), []
            parsed = dates.dates(trimmed, formats[0])
        if not len(distinct) <= 2 * parsed.count() < 2 * len(distinct):
            return Counter(), []
        odd = distinct.filter(parsed.is_null()).to_list()
        return Counter(values.filter(values.is_in(odd)).to_list()), formats


def _trimmed(values: pl.Series) -> pl.Series | None:
    """Return texts without blanks at their ends; None for a column without texts."""
    import polars as pl

    if values.dtype != pl.String or values.null_count() == len(values):
        return None
    return values.str.strip_chars()


def day_texts(values: pl.Series) -> pl.Series:
    """Write numbers such as 20240315, which have fractions beside gaps, as texts."""
    import polars as pl

    whole = values.cast(pl.Int64, strict=False) if values.dtype.is_float() else values
    return whole.cast(pl.String)


def likely_unit(texts: pl.Series) -> str | None:
    """Find the unit of most numbers, such as kg, or any currency; "" if a few are percentages."""
    known = texts.drop_nulls()
    marked = _with_minus(known.filter(known.str.contains(r"[\p{L}$€£¥₹%°]")).str.strip_chars())
    units = marked.str.extract(_CURRENCY_BEFORE).fill_null(marked.str.extract(_UNIT)).drop_nulls()
    if units.is_empty():
        return None
    unit, n_cells = Counter[str](units.to_list()).most_common(1)[0]
    if re.fullmatch(_CURRENCY, unit):
        return unit
    if 2 * n_cells < len(known):
        return "" if unit == "%" else None
    return None if re.fullmatch(_NO_UNIT, unit) else unit


def _without_unit(trimmed: pl.Series, unit: str | None) -> pl.Series:
    """Return texts without their unit; null if it is another one, or absent and no currency."""
    if unit is None:
        return trimmed
    bare = _with_minus(trimmed)
    if re.fullmatch(_CURRENCY, unit):
        bare = bare.str.replace(unit, "", literal=True)
    else:
        bare = bare.set(~bare.str.ends_with(unit), None).str.strip_suffix(unit)
    return bare.set(bare.str.contains(f"{_CURRENCY}|%"), None).str.strip_chars()


def _truths(trimmed: pl.Series) -> pl.Series:
    """Parse true and false; null where a text is neither."""
    truths = trimmed.str.to_lowercase()
    return (truths == "true").set(~truths.is_in(["true", "false"]), None)


def has_codes(values: pl.Series) -> bool:
    """Return whether some texts are codes such as 01234, or most have too many digits."""
    has_zeros = bool(values.str.contains(_CODE).any()) and not dates.date_formats(values)
    return has_zeros or 2 * int(values.str.contains(_LONG_CODE).sum()) > values.count()


def _number_pattern(decimal: str) -> str:
    """Return the pattern of amounts of money, percentages, and numbers with separated thousands."""
    mark = r"\." if decimal == "." else ","
    groups = f"[{',' if decimal == '.' else '.'}'’ \u00a0\u202f]"
    digits = rf"(?:[1-9]\d{{0,2}}(?:{groups}\d{{3}})+|\d+)(?:{mark}\d*)?|{mark}\d+"
    return rf"^([+-]?)\s?({_CURRENCY})?\s?([+-]?)((?:{digits}){_EXPONENT})\s?({_CURRENCY}|%)?$"


def numbers(texts: pl.Series, decimal: str) -> pl.Series:
    """Parse texts without blanks at their ends as numbers; null where they are not numbers."""
    import polars as pl

    whole = texts.cast(pl.Int64, strict=False)
    if whole.null_count() == texts.null_count():
        return whole
    plain = _finite(texts.cast(pl.Float64, strict=False))
    # A German 1.234 is not a fraction, but more than a thousand.
    if plain.null_count() == texts.null_count() and decimal == ".":
        return plain
    formatted = _finite(_formatted_numbers(texts, decimal))
    found = formatted if formatted.null_count() <= plain.null_count() else plain
    return whole if whole.null_count() == found.null_count() else found


def _finite(values: pl.Series) -> pl.Series:
    """Return numbers, null in place of infinite ones and NaN."""
    return values.set(~values.is_finite(), None)


def _formatted_numbers(texts: pl.Series, decimal: str) -> pl.Series:
    import polars as pl

    pattern = _number_pattern(decimal)
    parts = (
        _with_minus(texts)
        .to_frame("text")
        .select(
            minus=pl.concat_str(
                pl.col("text").str.extract(pattern, 1), pl.col("text").str.extract(pattern, 3)
            ),
            digits=pl.col("text").str.extract(pattern, 4),
        )
    )
    bare = pl.col("digits").str.replace_all(rf"[^0-9eE+\-{decimal}]", "")
    plain = bare.str.replace(decimal, ".", literal=True)
    number = plain.cast(pl.Float64, strict=False)
    found = parts.select(pl.when(pl.col("minus").str.contains("-")).then(-number).otherwise(number))
    return found.to_series().alias(texts.name)


def _with_minus(texts: pl.Series) -> pl.Series:
    """Write negative numbers such as (5), 5- and −5 as -5."""
    plain = texts.str.replace("−", "-", literal=True)
    return plain.str.replace(r"^\(([^()+-]*)\)$", "-${1}").str.replace(r"^([^+-]*)-$", "-${1}")


def _are_plain(texts: pl.Series, decimal: str) -> bool:
    """Return whether no number has a currency sign, a percent sign, or separated thousands."""
    return not texts.str.contains(_plain_pattern(decimal)).not_().any()


def _plain_pattern(decimal: str) -> str:
    mark = "[.]" if decimal == "." else "[,]"
    return rf"^[+-]?(?:\d+{mark}?\d*|{mark}\d+){_EXPONENT}$"


def decimal_sign(columns: Iterable[pl.Series], separator: str | None, known: str | None) -> str:
    """Find the decimal sign of a file: the one with which more of its cells are numbers.

    If both are possible, it is the `known` one, if any. Otherwise commas are decimal signs in a
    file with semicolons, and separate thousands in a file with commas or without separators.
    """
    totals = dict.fromkeys(DECIMAL_SIGNS, 0)
    marks = dict.fromkeys(DECIMAL_SIGNS, 0)
    for values in in_batches(columns):
        cells = values.drop_nulls().str.strip_chars().str.replace(_UNIT_AT_END, "${1}")
        cells = cells.filter(cells.str.contains(r"\d[.,]|[.,]\d"))
        for sign in DECIMAL_SIGNS:
            read = cells.filter(cells.str.contains(_number_pattern(sign)))
            totals[sign] += len(read)
            marks[sign] += int(read.str.contains(sign, literal=True).sum())
    if totals["."] != totals[","]:
        return max(DECIMAL_SIGNS, key=totals.__getitem__)
    if known is not None:
        return known
    return "," if separator not in (",", None) and marks[","] > marks["."] else "."
