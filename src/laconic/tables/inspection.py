"""Find columns that no rule should use: row numbers, identifiers, copies of the target."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, TypeAlias

import numpy as np

from laconic._util.types import Floats
from laconic._util.words import listed_names
from laconic.tables.columns import CategoricalColumn, Column, NumericColumn, Rows
from laconic.tables.leakage import find_leaks, read_column
from laconic.tables.tables import Table
from laconic.tables.text_files.dates import date_formats
from laconic.tables.text_files.text_format import ColumnReader, Reading

Kind: TypeAlias = Literal[
    "index", "count", "identifier", "names", "constant", "rounded", "texts", "target"
]

# With fewer rows, any order may be chance.
MIN_ROWS = 50
# Identifiers may have a few repetitions, such as a second visit of a patient.
_SHARE_OF_DIFFERENT = 0.98
# Names of people and addresses repeat more often.
_SHARE_OF_NAMES = 0.8
# Rows that show repetitions.
_N_FIRST = 500
# Without a telling name, numbers that rank or number things may be meant in short tables; there are
# to be ten times fewer repetitions than expected.
_MIN_ROWS_WITHOUT_NAME, _MIN_REPEATED = 1000, 2
# So many values can be categories, even if every row has another one.
MAX_CATEGORIES = 50

_INDEX_NAME = re.compile(
    r"|unnamed: ?\d+|column_\d+|index|level_0|#|row|row[_ ]?(?:id|names?|number|nr|no|num)",
    re.IGNORECASE,
)
# "id", "user_id", "Patient ID", "PassengerId", but not "paid".
_IDENTIFIER_NAME = re.compile(r"(?i:(?:.*[\W_])?(?:id|uuid|guid|key|nr|no))|.*(?:[a-z]I[dD]|ID)")

_DIGIT = re.compile(r"\d")
# Names of what has a number, or of numbers.
_ENTITY_NAME = re.compile(
    r"(?i:(?:.*[\W_])?(?:patient|customer|client|subject|participant|respondent|employee|student|"
    r"case|member|user|number|num|code|identifier|mrn|ssn|sku|serial))"
    r"|.*[a-z](?:No|Nr|Num|Number|Code|Key)"
)
# Numbers of days, steps and the like may count from a start that matters.
_TIME_NAME = re.compile(
    r".*(?:time|year|quarter|month|week|day|date|hour|minute|second|step|cycle|period|age).*|t",
    re.IGNORECASE,
)
_ROUNDED = (
    "holds whole numbers beyond 2**53, of which rules cannot distinguish neighbours; convert "
    "identifiers to texts, or subtract a common offset"
)


class ColumnWarning(UserWarning):
    """Columns of a training table that are likely to spoil a model."""


@dataclass(frozen=True)
class Finding:
    """A problem of one column, or of several together, in words that follow their names."""

    kind: Kind
    columns: tuple[str, ...]
    words: str

    @property
    def column(self) -> str:
        """The name of a single column."""
        [name] = self.columns
        return name

    def __str__(self) -> str:
        ending = "" if len(self.columns) == 1 else "s"
        return f"column{ending} {listed_names(self.columns)} {self.words}"


def inspect_columns(table: Table) -> Iterator[Finding]:
    """Find columns that count the rows, identify each row, or are constant."""
    if table.cells is not None:
        return  # identifiers and row numbers are not mostly zero
    for position, name in enumerate(table.feature_names):
        column = read_column(table, name)
        if isinstance(column, NumericColumn):
            yield from _inspect_numbers(column, position, table.n_rows)
            if column.is_rounded:
                yield Finding("rounded", (name,), _ROUNDED)
                continue
        elif column.is_text:
            yield from _inspect_texts(column, table.n_rows)
        if _is_constant(column):
            yield Finding("constant", (name,), "is the same in every row")


def _is_constant(column: Column) -> bool:
    if column.missing.any():
        return bool(column.missing.all())
    values = column.values if isinstance(column, NumericColumn) else column.codes
    return bool((values == values[:1]).all())


def _inspect_numbers(column: NumericColumn, position: int, n_rows: int) -> Iterator[Finding]:
    values, name = column.values, column.name
    first = values[:3]
    if n_rows < 3 or (np.isfinite(first) & (first != np.rint(first))).any():
        return  # as most columns of measurements
    known = values[~column.missing]
    if len(known) < 3 or not (known == np.rint(known)).all():
        return
    is_index = bool(_INDEX_NAME.fullmatch(name))
    if is_index or (n_rows >= MIN_ROWS and (position == 0 or _names_things(name))):
        n_counts = _n_counts(values)
        if n_counts == 1 or (n_counts > 1 and not _TIME_NAME.fullmatch(name)):
            again = f", in {n_counts} groups" if n_counts > 1 else ""
            kind: Kind = "index" if is_index else "count"
            yield Finding(kind, (name,), f"counts the rows{again}")
            return
    if _is_identifier(known, name):
        n_values = len(np.unique(known))
        words = "has a different whole number in every row, like a row ID"
        if n_values < n_rows:
            words = f"has {n_values} different whole numbers in {n_rows} rows, like a row ID"
        yield Finding("identifier", (name,), words)


def _names_things(name: str) -> bool:
    """Return whether a name is one of numbers that distinguish things."""
    return bool(_IDENTIFIER_NAME.fullmatch(name) or _ENTITY_NAME.fullmatch(name))


def _n_counts(values: Floats) -> int:
    """Return how often numbers count from 0 or 1 up, for many rows each; 0 if they do not."""
    if values[0] not in (0, 1):
        return 0
    starts = np.flatnonzero(np.diff(values) != 1) + 1
    n_counts = 1 + len(starts)
    is_long = n_counts == 1 or n_counts * MIN_ROWS <= len(values)
    return n_counts if is_long and (values[starts] == values[0]).all() else 0


def _is_identifier(numbers: Floats, name: str) -> bool:
    """Return whether whole numbers are different in almost all rows, and not by chance."""
    n, n_possible = len(numbers), float(np.ptp(numbers)) + 1
    if n_possible < _SHARE_OF_DIFFERENT * n:
        return False
    # A few rows are mostly enough to see repetitions.
    if len(np.unique(numbers[:_N_FIRST])) < (1 - 5 * (1 - _SHARE_OF_DIFFERENT)) * min(n, _N_FIRST):
        return False
    has_name = bool(_IDENTIFIER_NAME.fullmatch(name) or _INDEX_NAME.fullmatch(name))
    has_name = has_name or (n >= MIN_ROWS and _names_things(name))
    # As many rows are expected to repeat a number of another row if all numbers are as likely, and
    # more if some are likelier.
    n_expected = n + n_possible * np.expm1(-n / n_possible)
    if not has_name and (n < _MIN_ROWS_WITHOUT_NAME or n_expected < 10 * _MIN_REPEATED):
        return False
    n_repeated = n - len(np.unique(numbers))
    if has_name:
        return n_repeated == 0 or (n >= MIN_ROWS and n_repeated <= (1 - _SHARE_OF_DIFFERENT) * n)
    steps = np.diff(numbers)
    is_sorted = bool((steps >= 0).all() or (steps <= 0).all())  # such as the time of a row
    return not is_sorted and n_repeated <= min(0.1 * n_expected, (1 - _SHARE_OF_DIFFERENT) * n)


def _inspect_texts(column: CategoricalColumn, n_rows: int) -> Iterator[Finding]:
    n_values = len(column.categories)
    is_mostly_different = n_rows >= MIN_ROWS and n_values > _SHARE_OF_NAMES * n_rows
    if is_mostly_different or (n_values > MAX_CATEGORIES and 2 * n_values > n_rows):
        words = (
            f"has {n_values} different texts in {n_rows} rows; rules about single ones do not "
            "generalize"
        )
        yield Finding("names", (column.name,), words)


def inspect_target(table: Table, target: Floats, rows: Rows = slice(None)) -> Iterator[Finding]:
    """Find columns that determine the target, such as copies, recodings and parts of a sum.

    The target is numbers, one for each class where there are classes, of the given `rows`.
    """
    for columns, words in find_leaks(table, target, rows):
        yield Finding("target", columns, words)


def warn_about_columns(table: Table, target: Floats, rows: Rows, stacklevel: int = 4) -> None:
    """Warn about all columns that are likely to spoil a model, in one warning."""
    unread = [*_inspect_unread(table)]
    names = [finding.column for finding in unread]
    harmful = ("index", "names", "rounded")
    found = [
        *(
            each
            for each in inspect_columns(table)
            if each.kind in harmful and each.column not in names
        ),
        *inspect_target(table, target, rows),
    ]
    silence = "silence laconic.ColumnWarning if they are intended."
    for findings, advice in ((unread, "Or "), (found, "Drop these columns, or ")):
        if findings:
            listing = "; ".join(map(str, findings))
            warnings.warn(
                f"{listing[0].upper()}{listing[1:]}. {advice}{silence}",
                ColumnWarning,
                # Points at the line that called fit.
                stacklevel=stacklevel,
            )


def _inspect_unread(table: Table) -> Iterator[Finding]:
    """Find columns of text in which `read_table` reads dates or amounts."""
    if table.cells is not None or find_spec("polars") is None:
        return
    for name in table.feature_names:
        column = read_column(table, name)
        if not isinstance(column, CategoricalColumn) or not column.is_text or column.is_declared:
            continue
        # Nearly all other columns have a text without a digit among the first ones.
        if all(_DIGIT.search(str(text)) for text in column.categories[:5]):
            yield from _unread_texts(column)


def _unread_texts(column: CategoricalColumn) -> Iterator[Finding]:
    import polars as pl

    try:
        texts = pl.Series(column.name, column.categories, dtype=pl.String)
    except UnicodeEncodeError:  # halves of characters, which no date or number has
        return
    formats = date_formats(texts)
    ways = [f", dates={ {column.name: each}!r}" for each in formats] if len(formats) > 1 else [""]
    reader = ColumnReader(reading=Reading(), has_types=True)
    if formats or reader.read(texts.to_frame()).dtypes[0].is_numeric():
        lines = " or ".join(f"X = laconic.read_table(X{way})" for way in ways)
        words = f"holds {'dates' if formats else 'numbers'} as texts, such as {texts[0]!r}"
        yield Finding("texts", (column.name,), f"{words}: convert them with {lines}")
