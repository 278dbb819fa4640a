"""Columns of a table: their types, their part in a model, and what is wrong with them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from laconic._words import listed_names, nearest
from laconic.cli.exits import CommandError

if TYPE_CHECKING:
    import polars as pl

    from laconic.model.rules import RuleEnsemble

DEFAULT_MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None")

# Zip codes and the like: as numbers they would lose their zeros.
_CODE = r"^[+-]?0\d"

_MAX_TEXTS_SHOWN = 5

# Fewer values than that can be categories, even if every row has another one.
_MAX_CATEGORIES = 50


def interpret(
    cells: pl.DataFrame,
    missing: Collection[str],
    *,
    text_columns: Collection[str] = (),
    keep_codes: bool = True,
) -> pl.DataFrame:
    """Give types to the columns of a text file: those of numbers, booleans and text.

    Cells that hold nothing or one of the texts of `missing` are missing. Columns named in
    `text_columns` stay text whatever they hold, and with `keep_codes` also those with numbers that
    start with needless zeros.
    """
    import polars as pl

    texts = ["", *(text.strip() for text in missing)]
    is_missing = pl.all().str.strip_chars().is_in(texts)
    known = cells.select(pl.when(~is_missing).then(pl.all()))
    return pl.DataFrame(
        [values if values.name in text_columns else _typed(values, keep_codes) for values in known]
    )


def _typed(values: pl.Series, keep_codes: bool) -> pl.Series:
    import polars as pl

    trimmed = values.str.strip_chars()
    if values.null_count() == len(values) or (keep_codes and _has_codes(trimmed)):
        return values
    for dtype in (pl.Int64, pl.Float64):
        numbers = trimmed.cast(dtype, strict=False)
        if numbers.null_count() == values.null_count():
            return numbers
    truths = trimmed.str.to_lowercase()
    if truths.drop_nulls().is_in(["true", "false"]).all():
        return truths == "true"
    return values


def _has_codes(values: pl.Series) -> bool:
    return bool(values.str.contains(_CODE).any())


def misread_warnings(
    in_use: Iterable[pl.Series], cells: pl.DataFrame, missing: Collection[str]
) -> dict[str, str]:
    """Find columns in use that would be numbers if it were not for a few cells: a warning for each.

    The cells are those that were read, `missing` is what stands for a missing one so far.
    """
    import polars as pl

    found = {}
    for values in in_use:
        culprits = Counter(_cells_that_are_no_numbers(values) if values.dtype == pl.String else [])
        if not culprits:
            continue
        texts = [text for text, _ in culprits.most_common()]
        # The option takes the place of its default, so it has to name what is in use.
        option = _missing_option([*texts[:_MAX_TEXTS_SHOWN], *_occurring(cells, missing)])
        found[values.name] = (
            f"column {values.name!r} is read as text because of "
            f"{listed_names(texts, _MAX_TEXTS_SHOWN)} "
            f"({culprits.total()} of {len(values)} cells). If these cells are missing values, add "
            f"{option}."
        )
    return found


def _cells_that_are_no_numbers(values: pl.Series) -> list[str]:
    """Find them in a column of text of which at least half of the values are numbers."""
    import polars as pl

    distinct = values.drop_nulls().unique()
    trimmed = distinct.str.strip_chars()
    is_number = trimmed.cast(pl.Float64, strict=False).is_not_null()
    if _has_codes(trimmed) or 2 * is_number.sum() < len(distinct):
        return []
    return values.filter(values.is_in(distinct.filter(~is_number).to_list())).to_list()


def _occurring(cells: pl.DataFrame, texts: Collection[str]) -> list[str]:
    import polars as pl

    stripped = cells.select(pl.all().str.strip_chars())
    return [text for text in texts if any((values == text).any() for values in stripped)]


def _missing_option(texts: Sequence[str]) -> str:
    # A text that starts with a hyphen would be taken for an option of its own.
    plain = [shlex.quote(text) for text in texts if not text.startswith("-")]
    hyphened = [f"--missing={shlex.quote(text)}" for text in texts if text.startswith("-")]
    return " ".join([*(["--missing", *plain] if plain else []), *hyphened])


def identifier_warnings(X: pl.DataFrame) -> Iterator[str]:
    """Find columns of text that tell single rows apart instead of grouping them."""
    import polars as pl

    for values in X.select(pl.col(pl.String, pl.Categorical, pl.Enum)):
        n_values = values.drop_nulls().n_unique()
        if n_values > _MAX_CATEGORIES and 2 * n_values > len(values):
            yield (
                f"column {values.name!r} has {n_values} different values in {len(values)} rows; "
                "rules about single values will not carry over. Leave it out with --drop "
                f"{shlex.quote(values.name)}."
            )


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
    return {p.feature for p in ensemble.propositions if isinstance(p.value, str)}


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
