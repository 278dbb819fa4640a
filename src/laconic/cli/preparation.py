"""Columns looked at before the search: what is left out, read as numbers, or told about."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic._util.words import listed_names
from laconic.cli import columns, table_file
from laconic.cli.terminal import CommandError
from laconic.tables.inspection import inspect_columns, inspect_target
from laconic.tables.tables import as_table
from laconic.tables.text_format import Reading

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Prepared:
    """Columns to learn from, and what they took to be read."""

    X: pl.DataFrame
    others: dict[str, pl.Series]
    """The target and other columns that are no features, by name."""
    reading: Reading


def prepare(
    table: table_file.TableFile,
    others: list[str],
    *,
    drop: Collection[str],
    keep: Collection[str],
    quiet: bool,
) -> Prepared:
    """Give types to the columns of a table, and leave out those that no rule should use.

    A line tells of each column that is not taken as it is; if `quiet`, only where it is left out.
    """
    import polars as pl

    columns.check_columns(table.cells, [*others, *drop, *keep])
    cells = table.cells.drop(set(drop) - set(others))
    found_dates = {n: way for n, way in table.find_dates().items() if n in cells.columns}
    dates = {n: way for n, way in found_dates.items() if n not in {*others, *keep}}
    # As categories, which nobody takes for dates.
    kept_dates = [name for name in keep if name in found_dates and name not in others]
    reading = Reading(
        table.decimal_sign(),
        {name: ways[0] for name, ways in dates.items() if len(ways) == 1},
        table.format.missing_texts(),
    )
    reader = table.reader(reading, plain_columns=keep)
    frame = reader.read(cells)
    X = columns.drop_columns(frame, others)
    table_file.note([*table.notes, *_notes(reader, cells, frame, X)], quiet=quiet)
    X = X.with_columns(pl.col(name).cast(pl.Categorical) for name in kept_dates)
    misread = table.warn_about_misread(frame, reader)
    doubtful = {name: _doubt(ways) for name, ways in dates.items() if len(ways) > 1}
    X = leave_out(X, doubtful, " --keep {} takes it as text.")
    X = leave_out(X, {each.name: _TYPE.format(each.dtype) for each in X if _has_no_use(each)}, "")
    found = [
        finding
        for finding in inspect_columns(as_table(X))
        if finding.column not in {*keep, *misread}
    ]
    # A table that has nothing else is to be used as it is.
    if len(found) < X.width:
        same = [finding.column for finding in found if finding.kind == "constant"]
        table_file.note(
            (f"column {name!r} is the same in every row: no rule can use it." for name in same),
            quiet=quiet,
        )
        reasons = {each.column: each.words for each in found if each.column not in same}
        X = leave_out(X, reasons, " --keep {} uses it all the same.")
    return Prepared(X, {name: frame[name] for name in others}, reading)


_TYPE = "has the type {}, which rules cannot be about"


def _doubt(ways: list[str]) -> str:
    return (
        f"holds dates that can be read in {len(ways)} ways ({listed_names(ways)}); write them as "
        "2024-03-15"
    )


def _has_no_use(values: pl.Series) -> bool:
    import polars as pl

    kinds = (pl.Boolean, pl.String, pl.Categorical, pl.Enum)
    dtype = values.dtype
    return not (dtype.is_numeric() or dtype.is_temporal() or dtype in kinds)


def leave_out(X: pl.DataFrame, reasons: dict[str, str], advice: str) -> pl.DataFrame:
    """Leave out columns, and say why."""
    table_file.warn(
        f"column {name!r} {words}. It is left out.{advice.format(shlex.quote(name))}"
        for name, words in reasons.items()
    )
    if len(reasons) == X.width:
        raise CommandError(
            f"Rules need at least one column. All are left out: {listed_names(reasons)}. Convert "
            "one of them."
        )
    return X.drop(list(reasons))


def _notes(
    reader: columns.Reader, cells: pl.DataFrame, frame: pl.DataFrame, X: pl.DataFrame
) -> Iterator[str]:
    """Say which texts are read as numbers or dates, and how."""
    if reader.reading.decimal == ",":
        yield "commas in numbers are decimal signs. --decimal . decides otherwise."
    for name, example in reader.signed_numbers(cells, frame).items():
        yield (
            f"column {name!r} is read as numbers, {example}. --keep {shlex.quote(name)} takes it "
            "as text."
        )
    for name in X.columns:
        if name in reader.reading.dates:
            example = cells[name].drop_nulls()[0]
            yield (
                f"column {name!r} is read as dates, {example!r} as {frame[name].drop_nulls()[0]}. "
                f"--keep {shlex.quote(name)} takes it as text."
            )


def warn_about_target(X: pl.DataFrame, y: NDArray[Any], keep: Collection[str]) -> None:
    """Warn about columns that tell the target by themselves."""
    numbers = np.unique(y, return_inverse=True)[1] if y.dtype.kind not in "fiu" else y
    found = inspect_target(as_table(X), numbers.astype(np.float64))
    table_file.warn(
        f"{finding}. If it is only known afterwards, leave it out with --drop {name}; "
        f"--keep {name} says that it is meant."
        for finding in found
        if finding.column not in keep
        for name in [shlex.quote(finding.column)]
    )
