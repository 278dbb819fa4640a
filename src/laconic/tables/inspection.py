"""Find columns that no rule should use: row numbers, identifiers, copies of the target."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress
from typing import Literal, TypeAlias

import numpy as np

from laconic._util.types import Floats, Indices
from laconic.tables.columns import CategoricalColumn, Column, NumericColumn, Rows
from laconic.tables.tables import Table

Kind: TypeAlias = Literal["index", "count", "identifier", "names", "constant", "rounded", "target"]

# With fewer rows, any order and any relation to the target may be chance.
MIN_ROWS, MIN_ROWS_FOR_TARGET = 50, 100
# So many values can be categories, even if every row has another one.
MAX_CATEGORIES = 50
# Largest number of values that may each stand for one value of the target.
MAX_GROUPS = 20
# Rows that have to be outside of the largest group.
_MIN_OTHERS = 10
# Rows that show that a column has more than a few values.
_N_FIRST = 200
# Shares of the variance of the target: one row in 400 may be wrong if there are two classes of the
# same size, and a copy may be rounded.
_SHARE_OF_GROUPS, _SHARE_OF_LINE = 0.99, 0.9998

_INDEX_NAME = re.compile(
    r"|unnamed: ?\d+|column_\d+|index|level_0|#|row|row[_ ]?(?:id|names?|number|nr|no|num)",
    re.IGNORECASE,
)
# "id", "user_id", "Patient ID", "PassengerId", but not "paid".
_IDENTIFIER_NAME = re.compile(r"(?i:(?:.*[\W_])?(?:id|uuid|guid|key|nr|no))|.*(?:[a-z]I[dD]|ID)")


_ROUNDED = (
    "holds whole numbers beyond 2**53, of which rules cannot distinguish neighbours; convert "
    "identifiers to texts, or subtract a common offset"
)


class ColumnWarning(UserWarning):
    """Columns of a training table that are likely to spoil a model."""


@dataclass(frozen=True)
class Finding:
    """A problem of a column, in words that follow its name."""

    kind: Kind
    column: str
    words: str

    def __str__(self) -> str:
        return f"column {self.column!r} {self.words}"


def inspect_columns(table: Table) -> Iterator[Finding]:
    """Find columns that count the rows, identify each row, or are constant."""
    if table.cells is not None:
        return  # identifiers and row numbers are not mostly zero
    for position, name in enumerate(table.feature_names):
        column = _column(table, name)
        if isinstance(column, NumericColumn):
            yield from _inspect_numbers(column, position, table.n_rows)
            if column.is_rounded:
                yield Finding("rounded", name, _ROUNDED)
                continue
        elif column.is_text:
            yield from _inspect_texts(column, table.n_rows)
        if _is_constant(column):
            yield Finding("constant", name, "is the same in every row")


def _column(table: Table, name: str) -> Column:
    column = table.column(name)
    if column.is_numeric:
        # Numbers are quickly read again, and all columns at once may take much memory.
        table.pop_column(name)
    return column


def _is_constant(column: Column) -> bool:
    if column.missing.any():
        return bool(column.missing.all())
    values = column.values if isinstance(column, NumericColumn) else column.codes
    return bool((values == values[:1]).all())


def _inspect_numbers(column: NumericColumn, position: int, n_rows: int) -> Iterator[Finding]:
    values, name = column.values, column.name
    if n_rows < 3 or not (values[:3] == np.rint(values[:3])).all():
        return
    is_index = bool(_INDEX_NAME.fullmatch(name))
    if (is_index or (position == 0 and n_rows >= MIN_ROWS)) and _counts(values):
        yield Finding("index" if is_index else "count", name, "counts the rows")
    elif _IDENTIFIER_NAME.fullmatch(name) and _are_all_different(values):
        words = "has a different whole number in every row, like a row ID"
        yield Finding("identifier", name, words)


def _are_all_different(values: Floats) -> bool:
    return bool((values == np.round(values)).all()) and len(np.unique(values)) == len(values)


def _counts(values: Floats) -> bool:
    return values[0] in (0, 1) and bool((np.diff(values) == 1).all())


def _inspect_texts(column: CategoricalColumn, n_rows: int) -> Iterator[Finding]:
    n_values = len(column.categories)
    if n_values > MAX_CATEGORIES and 2 * n_values > n_rows:
        words = (
            f"has {n_values} different texts in {n_rows} rows; rules about single ones do not "
            "generalize"
        )
        yield Finding("names", column.name, words)


def inspect_target(table: Table, target: Floats, rows: Rows = slice(None)) -> Iterator[Finding]:
    """Find columns that determine the target on their own, such as copies and recodings of it.

    The target is numbers, one for each class where there are classes, of the given `rows`.
    Numbers that are merely on two sides of a threshold may be ordinary, and are not found.
    """
    if len(target) < MIN_ROWS_FOR_TARGET or (target == target[0]).all():
        return
    target = _to_one(target)
    order = np.argsort(target, kind="stable")
    # Numbers of more values than the target may be on two sides of a threshold.
    max_values = min(1 + int(np.count_nonzero(np.diff(target[order]))), MAX_GROUPS)
    names: Iterable[str] = table.feature_names
    if table.cells is not None:
        names = compress(names, table.cells.may_determine(target, rows, 1 - _SHARE_OF_GROUPS))
    for name in names:
        if _determines(_column(table, name).take(rows), target, order, max_values):
            yield Finding("target", name, "determines the target on its own")


def _determines(column: Column, target: Floats, order: Indices, max_values: int) -> bool:
    if isinstance(column, NumericColumn) and _is_recoded(column.values, target, order):
        return True
    return any(_explained(codes, target) for codes in _groupings(column, max_values))


def _groupings(column: Column, max_values: int) -> Iterator[Indices]:
    """Yield groupings of the rows: by value, by the most frequent value, by missing values."""
    missing = column.missing
    if isinstance(column, CategoricalColumn):
        if len(column.categories) < MAX_GROUPS:
            yield column.codes.astype(np.intp) + 1
        elif missing.any():
            yield missing.astype(np.intp)
        return
    values = column.values
    ordered = np.sort(values[:_N_FIRST])
    are_different = bool((ordered[1:] > ordered[:-1]).all())
    if are_different and len(ordered) > max(max_values, 10) and not missing.any():
        return
    first, counts = np.unique(values[:_N_FIRST], return_counts=True)
    if len(first) <= max_values:
        distinct, codes = np.unique(values, return_inverse=True)
        if len(distinct) <= max_values:
            yield codes
            return
    if missing.any():
        yield missing.astype(np.intp)
    if counts.max() * 10 >= len(values[:_N_FIRST]):
        yield (values == first[counts.argmax()]).astype(np.intp)


def _explained(codes: Indices, target: Floats) -> bool:
    """Return whether the means of the groups explain almost all variance of the target."""
    sizes = np.bincount(codes)
    if len(codes) - sizes.max() < _MIN_OTHERS:
        return False
    means = np.bincount(codes, weights=target) / np.maximum(sizes, 1)
    return bool(np.square(target - means[codes]).sum() <= (1 - _SHARE_OF_GROUPS) * _spread(target))


def _is_recoded(values: Floats, target: Floats, order: Indices) -> bool:
    """Return whether numbers are a linear or another monotone function of the target."""
    if np.isnan(values).any():
        return False
    values = _to_one(values)
    x, y = values - values.mean(), target - target.mean()
    if np.square(x @ y) >= _SHARE_OF_LINE * (x @ x) * (y @ y) > 0:
        return True
    # A few rows are mostly enough to see that there is no order.
    for some in (order[:: 1 + len(order) // _N_FIRST], order):
        steps = values[some[1:]] - values[some[:-1]]
        if not ((steps >= 0).all() or (steps <= 0).all()):
            return False
    # Both have to have more than a few values: otherwise, there may simply be a threshold.
    return bool(np.count_nonzero(steps) > MAX_GROUPS < np.count_nonzero(np.diff(target[order])))


def _to_one(values: Floats) -> Floats:
    """Divide by the largest magnitude, so that squares do not overflow."""
    largest = np.abs(values).max()
    return values / largest if largest > 0 else values


def _spread(target: Floats) -> float:
    return float(np.square(target - target.mean()).sum())


def warn_about_columns(table: Table, target: Floats, rows: Rows, stacklevel: int = 4) -> None:
    """Warn about all columns that are likely to spoil a model, in one warning."""
    harmful = ("index", "names", "rounded")
    found = [
        *(finding for finding in inspect_columns(table) if finding.kind in harmful),
        *inspect_target(table, target, rows),
    ]
    if not found:
        return
    listing = "; ".join(map(str, found))
    warnings.warn(
        f"{listing[0].upper()}{listing[1:]}. Drop these columns, or "
        "silence laconic.ColumnWarning if they are intended.",
        ColumnWarning,
        # Points at the line that called fit.
        stacklevel=stacklevel,
    )
