"""Files that commands read and write: tables, models, and what is wrong with their paths."""

from __future__ import annotations

import csv
import gzip
import io
import os
import shlex
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import laconic
from laconic._files import write_whole
from laconic.cli.exits import CommandError

if TYPE_CHECKING:
    import polars as pl

    from laconic.estimators import RuleBoosting

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET_SUFFIXES = (".parquet", ".pq")
OUTPUT_SUFFIXES = (*SEPARATORS, *PARQUET_SUFFIXES)
TABLE_SUFFIXES = (*SEPARATORS, *(f"{suffix}.gz" for suffix in SEPARATORS), *PARQUET_SUFFIXES)

_GZIP_START = b"\x1f\x8b"
_UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff")

_ADVICE_FOR_SEPARATORS = {
    ";": "Semicolons seem to separate its cells: save it with commas instead, and with points in "
    "numbers.",
    "\t": "Tabs seem to separate its cells: rename it to .tsv.",
}


def read_table(path: Path) -> pl.DataFrame:
    """Read a table: the cells of a text file as text, exactly as they stand there."""
    import polars as pl

    _check_exists(path, "table")
    suffix = check_suffix(path, TABLE_SUFFIXES)
    try:
        if is_text_table(path):
            frame = _read_cells(path, SEPARATORS[suffix.removesuffix(".gz")])
        else:
            frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error, csv.Error) as error:
        reason = (str(error).splitlines() or ["unknown reason"])[0]
        raise CommandError(
            f"Cannot read the table {str(path)!r}: {reason}. Check that it is a complete "
            f"{suffix} file."
        ) from None
    if frame.height == 0:
        raise CommandError(f"The table {str(path)!r} must have at least one row. Got none.")
    return frame


def is_text_table(path: Path) -> bool:
    """Tell whether the cells of a table have no types of their own."""
    return check_suffix(path, TABLE_SUFFIXES) not in PARQUET_SUFFIXES


def _read_cells(path: Path, separator: str) -> pl.DataFrame:
    import polars as pl

    # Bytes, because the name of a file may look like a pattern.
    content = path.read_bytes()
    if content.startswith(_GZIP_START):
        content = gzip.decompress(content)
    text = _decode(content, path)
    _check_header(next(csv.reader(io.StringIO(text, newline=""), delimiter=separator), []), path)
    return pl.read_csv(content, separator=separator, infer_schema=False)


def _decode(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
    encoding = "utf16" if content.startswith(_UTF16_STARTS) else "latin1"
    raise CommandError(
        f"Cannot read the table {str(path)!r}: it must be text in UTF-8, but line {line} is not. "
        f"Convert it, for example with: iconv -f {encoding} -t utf8 "
        f"{shlex.quote(path.name)} > {shlex.quote(f'utf8_{path.name}')}"
    )


def _check_header(names: list[str], path: Path) -> None:
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise CommandError(
            f"The columns of the table {str(path)!r} must have different names. Got {repeated!r} "
            "more than once. Rename or remove one of these columns."
        )
    if len(names) == 1:
        for separator, advice in _ADVICE_FOR_SEPARATORS.items():
            if separator in names[0]:
                raise CommandError(
                    f"The table {str(path)!r} has a single column, {names[0]!r}. {advice}"
                )


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a file of the kind that its name tells."""
    content = io.BytesIO()
    if path.suffix.lower() in PARQUET_SUFFIXES:
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator=SEPARATORS[path.suffix.lower()])
    write_whole(path, content.getvalue())


def load_model_for(command: str, path: Path, table: Path) -> RuleBoosting:
    """Load a model for a command that a table follows, and refuse a table in its place."""
    if has_suffix(path, TABLE_SUFFIXES):
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
        f"The name of a table must end with {', '.join(allowed[:-1])} or {allowed[-1]}. "
        f"Got {path.name!r}. Rename or convert the file."
    )


def check_model_destination(path: Path, table: Path) -> None:
    """Refuse a path that a model cannot or should not be saved to."""
    check_destination(path, [table])
    if has_suffix(path, TABLE_SUFFIXES):
        raise CommandError(
            f"A model is saved as JSON. Got --model {str(path)!r}, the name of a table. Let it end "
            "with .json."
        )


def check_destination(path: Path, inputs: Sequence[Path]) -> None:
    """Refuse a path that cannot be written to before the work, and not after it."""
    folder = path.resolve().parent
    is_taken = path.exists() and not path.is_file()
    if is_taken or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CommandError(
            f"Cannot write {str(path)!r}: it must be a regular file in an existing folder that "
            "you may write to. Create the folder, or choose another path."
        )
    if path.exists() and any(given.exists() and path.samefile(given) for given in inputs):
        raise CommandError(
            f"Cannot write {str(path)!r}: this would overwrite a file that the command reads. "
            "Choose another path."
        )
