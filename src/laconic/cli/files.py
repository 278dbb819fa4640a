"""Files that commands read and write: tables, models, and what is wrong with their paths."""

from __future__ import annotations

import csv
import io
import os
import sys
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import laconic
from laconic._util.files import write_whole
from laconic.cli.terminal import CommandError
from laconic.tables.text_files import formats

if TYPE_CHECKING:
    import polars as pl

    from laconic.estimators import RuleBoosting

# A name that nobody gives to a file.
STANDARD_INPUT = Path("<standard input>")
PARQUET_SUFFIXES = (".parquet", ".pq")
OUTPUT_SEPARATORS = {".csv": ",", ".tsv": "\t"}
OUTPUT_SUFFIXES = (*OUTPUT_SEPARATORS, *PARQUET_SUFFIXES)
TABLE_SUFFIXES = tuple(
    f"{suffix}{packed}" for suffix in formats.KINDS for packed in ("", *formats.COMPRESSED)
)
# A model ends with .json, too.
_SUFFIXES_OF_TABLES_ALONE = tuple(each for each in TABLE_SUFFIXES if each != ".json")


def read_table(path: Path, separator: str | None = None) -> formats.Cells:
    """Read a table, also from the standard input: the cells of a text file are text."""
    import polars as pl

    suffix = None
    if path != STANDARD_INPUT:
        _check_exists(path, "table")
        suffix = table_suffix(path)
    try:
        # Bytes, because the name of a file may look like a pattern.
        content = sys.stdin.buffer.read() if suffix is None else path.read_bytes()
        cells = formats.read_cells(content, suffix, separator)
    except (formats.TableFileError, ModuleNotFoundError) as error:
        raise CommandError(f"Cannot read the table {shown_path(path)}. {error}") from None
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error, csv.Error) as error:
        reason = (str(error).splitlines() or ["unknown reason"])[0]
        raise CommandError(
            f"Cannot read the table {shown_path(path)}: {reason}. Check that it is a complete "
            f"{suffix or 'table'} file."
        ) from None
    if cells.frame.height == 0:
        raise CommandError(f"The table {shown_path(path)} must have at least one row. Got none.")
    return cells


def shown_path(path: Path) -> str:
    """Return a path for a message."""
    return "of the standard input" if path == STANDARD_INPUT else repr(str(path))


def table_suffix(path: Path) -> str:
    """Tell the suffix of a table, without that of what packed it."""
    if has_suffix(path, TABLE_SUFFIXES):
        return Path(path.name.lower().removesuffix(".gz").removesuffix(".zst")).suffix
    raise CommandError(
        f"The name of a table must end with {_alternatives(formats.KINDS)}, and may go on with "
        f"{_alternatives(formats.COMPRESSED)}. Got {path.name!r}. Rename or convert the file."
    )


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a file of the kind that its name tells."""
    content = io.BytesIO()
    if path.suffix.lower() in PARQUET_SUFFIXES:
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator=OUTPUT_SEPARATORS[path.suffix.lower()])
    write_whole(path, content.getvalue())


def load_model_for(command: str, path: Path, table: Path | str) -> RuleBoosting:
    """Load a model for a command that a table follows, and refuse a table in its place."""
    if has_suffix(path, _SUFFIXES_OF_TABLES_ALONE):
        raise CommandError(
            f"The model comes first: laconic {command} MODEL TABLE. Got the table {str(path)!r} "
            f"as MODEL and {str(table)!r} as TABLE."
        )
    return load_model(path)


def load_model(path: Path) -> RuleBoosting:
    """Load a model from a path that must exist."""
    _check_exists(path, "model")
    try:
        return laconic.load_model(path)
    except OSError as error:
        raise CommandError(
            f"Cannot read the model {str(path)!r}: {error.strerror or error}. Check that you may "
            "read it."
        ) from None


def _check_exists(path: Path, kind: str) -> None:
    if path.is_dir():
        raise CommandError(
            f"The {kind} must be a file. Got the folder {str(path)!r}. Add the name of a file in "
            "it."
        )
    if not path.exists():
        raise CommandError(f"There is no file {str(path)!r}. Check the path of the {kind}.")


def has_suffix(path: Path, suffixes: Sequence[str]) -> bool:
    """Tell whether a path ends with one of the suffixes."""
    return path.name.lower().endswith(tuple(suffixes))


def check_suffix(path: Path, allowed: Sequence[str]) -> str:
    """Return the one of the allowed suffixes that a path has."""
    for suffix in allowed:
        if has_suffix(path, [suffix]):
            return suffix
    raise CommandError(
        f"The name of a table must end with {_alternatives(allowed)}. Got {path.name!r}. Choose "
        "another name."
    )


def _alternatives(suffixes: Iterable[str]) -> str:
    *first, last = suffixes
    return f"{', '.join(first)} or {last}"


def check_model_destination(path: Path, table: Path | str) -> None:
    """Refuse a path that a model cannot or should not be saved to."""
    check_destination(path, [table])
    if has_suffix(path, _SUFFIXES_OF_TABLES_ALONE):
        raise CommandError(
            f"A model is saved as JSON. Got --model {str(path)!r}, the name of a table. Let it end "
            "with .json."
        )


def check_destination(path: Path, inputs: Sequence[Path | str]) -> None:
    """Refuse a path that cannot be written to before the work, and not after it."""
    folder = path.resolve().parent
    is_taken = path.exists() and not path.is_file()
    if is_taken or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CommandError(
            f"Cannot write {str(path)!r}: it must be a regular file in an existing folder that "
            "you may write to. Create the folder, or choose another path."
        )
    given = [each for each in inputs if isinstance(each, Path) and each.exists()]
    if path.exists() and any(map(path.samefile, given)):
        raise CommandError(
            f"Cannot write {str(path)!r}: this would overwrite a file that the command reads. "
            "Choose another path."
        )
