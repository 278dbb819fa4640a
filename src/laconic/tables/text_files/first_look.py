"""Look at all columns of texts at once, to decide about most of them.

In polars, every operation on a column takes about as long as reading a thousand short texts, and to
find the type of a column takes dozens. Tables of thousands of columns are short, and most of their
columns are plain numbers or plain words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

# Neither codes such as 01234 nor dates, and without units. Any digits that are not these are rare.
_PLAIN_NUMBER = r"^-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$"
# Of several columns together: enough that their number does not matter.
_TEXTS_AT_ONCE = 2**18


class Look(NamedTuple):
    """Names of columns of texts about which a look at all of them decides."""

    numbers: frozenset[str]
    """All texts are plain numbers such as -7 or 1.5e-3, which cannot be anything else."""
    words: frozenset[str]
    """No text has a digit, so that none is a number or a date; nor are all of them booleans."""


def first_look(cells: pl.DataFrame) -> Look:
    """Find the columns of plain numbers and of plain words; nulls are missing values.

    Examples
    --------
    >>> import polars as pl
    >>> cells = {"price": ["7", "-1.5"], "code": ["07", "15"], "plan": ["basic", "plus"]}
    >>> look = first_look(pl.DataFrame(cells))
    >>> set(look.numbers), set(look.words)
    ({'price'}, {'plan'})
    """
    import polars as pl

    texts = cells.select(pl.col(pl.String))
    is_empty = _facts(texts, pl.all().is_null().all())
    are_numbers = _facts(texts, pl.all().str.strip_chars().str.contains(_PLAIN_NUMBER).all())
    numbers = frozenset(name for name in is_empty if are_numbers[name] and not is_empty[name])
    others = texts.drop(numbers)
    has_digits = _facts(others, pl.all().str.contains(r"\d").any())
    lower = pl.all().str.strip_chars().str.to_lowercase()
    are_truths = _facts(others, lower.is_in(["true", "false"]).all())
    words = frozenset(
        name
        for name, has_digit in has_digits.items()
        if not has_digit and (is_empty[name] or not are_truths[name])
    )
    return Look(numbers, words)


def _facts(frame: pl.DataFrame, fact: pl.Expr) -> dict[str, bool]:
    return frame.select(fact).row(0, named=True) if frame.width else {}


def columns_where(frame: pl.DataFrame, names: Iterable[str], fact: pl.Expr) -> list[str]:
    """Return those of the named columns of which something is true."""
    return [name for name, is_true in _facts(frame.select(names), fact).items() if is_true]


def with_missing(cells: pl.DataFrame, missing: Iterable[str]) -> pl.DataFrame:
    """Return a table in which texts that mean a missing value are null."""
    import polars as pl

    texts = pl.col(pl.String)
    is_missing = texts.str.strip_chars().is_in(["", *(text.strip() for text in missing)])
    typed = cells.with_columns(pl.col(pl.Null).cast(pl.String))
    return typed.with_columns(pl.when(~is_missing).then(texts))


def plain_numbers(cells: pl.DataFrame, decimal: str) -> pl.DataFrame:
    """Convert columns of plain numbers.

    Columns whose numbers are too large are left out, and those of fractions if commas are decimal
    signs.
    """
    import polars as pl

    texts = cells.select(pl.all().str.strip_chars())
    whole = texts.select(pl.all().cast(pl.Int64, strict=False))
    others = _with_more_nulls(whole, texts)
    whole = whole.drop(others)
    if decimal != "." or not others:
        return whole
    found = texts.select(pl.col(others).cast(pl.Float64, strict=False))
    found = found.drop(_with_more_nulls(found, texts.select(others)))
    return whole.hstack(
        found.select(columns_where(found, found.columns, pl.all().is_finite().all()))
    )


def _with_more_nulls(read: pl.DataFrame, texts: pl.DataFrame) -> list[str]:
    n_read, n_given = read.null_count().row(0), texts.null_count().row(0)
    return [
        name
        for name, n, n_before in zip(texts.columns, n_read, n_given, strict=True)
        if n > n_before
    ]


def in_batches(columns: Iterable[pl.Series]) -> Iterator[pl.Series]:
    """Yield the texts of short columns together, as one long column."""
    import polars as pl

    batch: list[pl.Series] = []
    n_texts = 0
    for values in columns:
        if batch and n_texts + len(values) > _TEXTS_AT_ONCE:
            yield pl.concat(batch)
            batch, n_texts = [], 0
        batch.append(values)
        n_texts += len(values)
    if batch:
        yield pl.concat(batch)
