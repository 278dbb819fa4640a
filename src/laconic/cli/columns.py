"""Columns of a table: their types, their part in a model, and what is wrong with them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from laconic._util.words import listed_names, nearest
from laconic.cli.terminal import CommandError
from laconic.tables.text_files import texts
from laconic.tables.text_format import Reading

if TYPE_CHECKING:
    import polars as pl

    from laconic.terms.rules import RuleEnsemble

# Zip codes and the like: as numbers they would lose their zeros.
_CODE = r"^[+-]?0\d"

_MAX_TEXTS_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Gives types to the columns of a table: those of numbers, dates, booleans and text."""

    reading: Reading
    has_types: bool = False
    """Whether texts that look like numbers are texts, unless they have a sign, such as that of a
    currency."""
    plain_columns: Collection[str] = ()
    """Columns whose texts are numbers only where they have no sign."""
    text_columns: Collection[str] = ()
    """Columns that stay text whatever they hold."""
    is_for_model: bool = False
    """Whether all other columns are numbers to a model if they can be, also codes such as 007."""

    def read(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return a table with types."""
        import polars as pl

        return pl.DataFrame([self._typed(self.known(values)) for values in cells])

    def known(self, values: pl.Series) -> pl.Series:
        """Return a column without the texts that mean a missing cell."""
        import polars as pl

        if values.dtype == pl.Null:
            return values.cast(pl.String)
        if values.dtype != pl.String:
            return values
        texts = ["", *(text.strip() for text in self.reading.missing)]
        return values.set(values.str.strip_chars().is_in(texts), None)

    def _typed(self, values: pl.Series) -> pl.Series:

        trimmed = _trimmed(values)
        if (
            trimmed is None
            or values.name in self.text_columns
            or (not self.is_for_model and has_codes(trimmed))
        ):
            return values
        dates = self._dates(trimmed)
        if dates is not None:
            return dates
        numbers = texts.numbers(trimmed, self.reading.decimal)
        if numbers.null_count() == values.null_count():
            return numbers if self._is_number(trimmed) else values
        truths = trimmed.str.to_lowercase()
        if truths.drop_nulls().is_in(["true", "false"]).all() and not self.has_types:
            return truths == "true"
        return values

    def _dates(self, trimmed: pl.Series) -> pl.Series | None:
        """Dates, also those that a model knows from a file of another kind."""
        known = self.reading.dates.get(trimmed.name)
        ways = texts.date_formats(trimmed) if self.is_for_model else []
        for written in [*([known] if known else []), *(ways if len(ways) == 1 else [])]:
            dates = texts.dates(trimmed, written)
            if dates.null_count() == trimmed.null_count():
                return dates
        return None

    def _is_number(self, trimmed: pl.Series) -> bool:
        """Tell whether texts that can be numbers are to be numbers."""
        if self.is_for_model:
            return True
        if texts.are_plain(trimmed, self.reading.decimal):
            return not self.has_types
        is_asked_for = trimmed.name not in self.plain_columns
        return is_asked_for and texts.has_one_unit(trimmed, self.reading.decimal)

    def signed_numbers(self, cells: pl.DataFrame, typed: pl.DataFrame) -> dict[str, str]:
        """Find columns of numbers that have signs: for each, an example and its number."""
        found = {}
        for values in map(self.known, cells):
            trimmed = _trimmed(values)
            is_number = values.name in typed.columns and typed[values.name].dtype.is_numeric()
            if trimmed is None or not is_number or values.name in self.reading.dates:
                continue
            if not texts.are_plain(trimmed, self.reading.decimal):
                example = texts.odd_number(trimmed, self.reading.decimal)
                number = texts.numbers(trimmed.filter(trimmed == example), self.reading.decimal)
                found[values.name] = f"{example!r} as {number[0]:.15g}"
        return found


def _trimmed(values: pl.Series) -> pl.Series | None:
    """Texts without blanks at their ends; None where a column holds none."""
    import polars as pl

    if values.dtype != pl.String or values.null_count() == len(values):
        return None
    return values.str.strip_chars()


def has_codes(values: pl.Series) -> bool:
    """Tell whether texts have numbers such as 01234, which are no numbers."""
    return bool(values.str.contains(_CODE).any()) and not texts.date_formats(values)


def misread_warnings(
    in_use: Iterable[pl.Series], cells: pl.DataFrame, reader: Reader
) -> dict[str, str]:
    """Find columns in use that would be numbers if it were not for a few cells: a warning for each.

    The cells are those that were read.
    """
    import polars as pl

    found = {}
    for values in in_use:
        is_text = values.dtype == pl.String
        culprits = Counter(_cells_that_are_no_numbers(values, reader.reading) if is_text else [])
        if not culprits:
            continue
        odd = [text for text, _ in culprits.most_common()]
        # The option takes the place of its default, so it has to name what is in use.
        option = _missing_option(
            [*odd[:_MAX_TEXTS_SHOWN], *_occurring(cells, reader.reading.missing)]
        )
        found[values.name] = (
            f"column {values.name!r} is read as text because of "
            f"{listed_names(odd, _MAX_TEXTS_SHOWN)} "
            f"({culprits.total()} of {len(values)} cells). If these cells are missing values, add "
            f"{option}."
        )
    return found


def _cells_that_are_no_numbers(values: pl.Series, reading: Reading) -> list[str]:
    """Find them in a column of text of which at least half of the values are numbers, or dates."""
    distinct = values.drop_nulls().unique()
    trimmed = distinct.str.strip_chars()
    written = reading.dates.get(values.name)
    if written is not None:
        numbers = texts.dates(trimmed, written)
    elif has_codes(trimmed):
        return []
    else:
        numbers = texts.numbers(trimmed, reading.decimal)
    is_number = numbers.is_not_null()
    if 2 * is_number.sum() < len(distinct):
        return []
    return values.filter(values.is_in(distinct.filter(~is_number).to_list())).to_list()


def _occurring(cells: pl.DataFrame, missing: Collection[str]) -> list[str]:
    import polars as pl

    stripped = cells.select(pl.col(pl.String).str.strip_chars())
    return [text for text in missing if any((values == text).any() for values in stripped)]


def _missing_option(odd: Sequence[str]) -> str:
    # A text that starts with a hyphen would be taken for an option of its own.
    plain = [shlex.quote(text) for text in odd if not text.startswith("-")]
    hyphened = [f"--missing={shlex.quote(text)}" for text in odd if text.startswith("-")]
    return " ".join([*(["--missing", *plain] if plain else []), *hyphened])


def column(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column that must exist."""
    check_columns(frame, [name])
    return frame[name]


def drop_columns(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Leave out columns that must exist, but not all there are."""
    check_columns(frame, names)
    X = frame.drop(names)
    if X.width == 0:
        raise CommandError(
            f"Rules need at least one column besides {listed_names(names)}. Got none. Drop fewer "
            "columns."
        )
    return X


def text_features(ensemble: RuleEnsemble) -> set[str]:
    """Find features that are compared with text, even if a table has only numbers there."""
    names = ensemble.feature_names or ()
    return {
        p.feature
        for p in ensemble.conditions
        if p.feature in names
        and isinstance(p.value[0] if isinstance(p.value, tuple) else p.value, str)
    }


def fill_up(frame: pl.DataFrame, names: Sequence[str], n_rows: int) -> pl.DataFrame:
    """Put the named columns in order; those that are not there have no value."""
    import polars as pl

    nothing = pl.Series([None] * n_rows, dtype=pl.String)
    return pl.DataFrame({name: frame[name] if name in frame.columns else nothing for name in names})


def check_columns(frame: pl.DataFrame, names: Sequence[str]) -> None:
    """Refuse a table that lacks columns."""
    absent = [name for name in names if name not in frame.columns]
    if not absent:
        return
    close = nearest(absent[0], frame.columns)
    hint = "" if close is None else f"Did you mean {close!r}? "
    raise CommandError(
        f"The table must have the column{'s' if len(absent) > 1 else ''} {listed_names(absent)}. "
        f"{hint}It has {listed_names(frame.columns)}. Check the spelling, or add what is missing."
    )


def with_columns(
    frame: pl.DataFrame, columns: dict[str, NDArray[Any]], keep_columns: bool
) -> pl.DataFrame:
    """Make a table of new columns, next to the old ones if these are to be kept."""
    import polars as pl

    predictions = pl.DataFrame({name: values.tolist() for name, values in columns.items()})
    if not keep_columns:
        return predictions
    taken = [name for name in predictions.columns if name in frame.columns]
    if taken:
        raise CommandError(
            f"With --keep-columns the table must not have a column {taken[0]!r} already. "
            "Rename it, or leave out --keep-columns."
        )
    return frame.hstack(predictions)
