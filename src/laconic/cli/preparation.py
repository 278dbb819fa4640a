"""Columns looked at before the search: which are left out, or read as numbers or dates."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic._util.words import listed_names
from laconic.cli import table_file
from laconic.cli.terminal import CommandError
from laconic.tables.inspection import inspect_columns, inspect_target
from laconic.tables.tables import as_table
from laconic.tables.text_files.read_table import add_types, is_usable
from laconic.tables.text_files.text_format import Reading

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Prepared:
    """Columns to learn from, and how they were read."""

    X: pl.DataFrame
    others: dict[str, pl.Series]
    """The target and other columns that are not features, by name."""
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

    Each decision is printed; if `quiet`, only which columns are left out.
    """
    table_file.check_columns(table.cells, [*others, *drop, *keep])
    chosen = [name for name in table.cells.columns if name in others or name not in drop]
    typed = add_types(
        table.content,
        chosen,
        decimal=table.format.decimal,
        missing=table.format.missing_texts(),
        keep=keep,
        roles=others,
    )
    frame, reading = typed.frame, typed.reader.reading
    X = frame.drop(others)
    if X.width == 0:
        raise CommandError(
            f"Rules need at least one column besides {listed_names(others)}. Got none. Drop fewer "
            "columns."
        )
    notes = [*table.notes]
    if reading.decimal == ",":
        notes.append("commas in numbers are decimal signs. --decimal . decides otherwise.")
    notes += (
        f"column {name!r} {words}. Keep it as text with --keep {shlex.quote(name)}."
        for name, words in typed.converted.items()
    )
    table_file.note(notes, quiet=quiet)
    odd = table.warn_about_odd_cells(frame, typed.reader)
    X = leave_out(X, typed.ambiguous, " Keep it as text with --keep {}.")
    unusable = {
        each.name: f"has the type {each.dtype}, which rules cannot use"
        for each in X
        if not is_usable(each)
    }
    X = leave_out(X, unusable, "")
    found = [each for each in inspect_columns(as_table(X)) if each.column not in {*keep, *odd}]
    # If there are no other columns, these are used.
    if len(found) < X.width:
        constant = [each.column for each in found if each.kind == "constant"]
        table_file.note(
            (f"column {name!r} is the same in every row: no rule can use it." for name in constant),
            quiet=quiet,
        )
        reasons = {each.column: each.words for each in found if each.column not in constant}
        X = leave_out(X, reasons, " Use it with --keep {}.")
    return Prepared(X, {name: frame[name] for name in others}, reading)


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


def warn_about_target(X: pl.DataFrame, y: NDArray[Any], keep: Collection[str]) -> None:
    """Warn about columns that determine the target on their own."""
    numbers = np.unique(y, return_inverse=True)[1] if y.dtype.kind not in "fiu" else y
    found = inspect_target(as_table(X), numbers.astype(np.float64))
    table_file.warn(
        f"{finding}. If it is only known afterwards, leave it out with --drop {name}; "
        f"--keep {name} says that it is meant."
        for finding in found
        if finding.column not in keep
        for name in [shlex.quote(finding.column)]
    )
