"""Read the cells of a file of any kind, and estimate the size of a compressed file.

The cells of text files stay text, exactly as they are written; `text_format.ColumnReader` gives
types to them.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from laconic._util.optional import import_extra
from laconic._util.words import listed, listed_names
from laconic.tables.sources.files import COMPRESSED, SCANNABLE, suffix_of
from laconic.tables.sources.files import KINDS as KINDS_READ_IN_PARTS
from laconic.tables.sources.sources import scan

if TYPE_CHECKING:
    import polars as pl


KINDS = KINDS_READ_IN_PARTS | {".json": "ndjson", ".xlsx": "excel"}
"""Kinds of files by suffix; that of a compressed file comes before .gz or .zst."""
TABLE_SUFFIXES = tuple(f"{suffix}{packed}" for suffix in KINDS for packed in ("", *COMPRESSED))

# Possible separators by suffix, the most likely first. Others have to be named.
_SEPARATORS = {".csv": ",;\t|", ".tsv": "\t;,|", ".txt": "\t;,| "}

_GZIP_START, _ZSTD_START = b"\x1f\x8b", b"(\xb5/\xfd"
_UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff")
# First bytes of a file without a name.
_STARTS = {b"PAR1": "parquet", b"ARROW1": "ipc", b"PK\x03\x04": "excel"}

# Lines that are enough to find the separator.
_N_LINES = 50
# Lines that are enough to find the decimal sign.
N_FIRST_LINES = 20_000


class TableFileError(ValueError):
    """A file that cannot be read as a table."""


@dataclass(frozen=True)
class FileCells:
    """All cells of a file."""

    frame: pl.DataFrame
    """The cells of a text file are text, exactly as they are written."""
    kind: str
    separator: str | None = None
    unusual_separator: str | None = None
    """The separator in words, if it was detected and is not the usual one of its kind of file."""
    doubts: list[str] = field(default_factory=list)
    """What may be wrong with the file, in words that follow its name."""
    mixed: frozenset[str] = frozenset()
    """Columns of a database that hold numbers beside texts."""

    @property
    def has_types(self) -> bool:
        """Whether texts that look like numbers are meant to be texts."""
        return self.kind in ("parquet", "ipc", "database")


def read_file(path: Path | None, separator: str | None = None) -> FileCells:
    """Read the cells of a file, or of the standard input if the path is None."""
    import polars as pl

    suffix = None if path is None else table_suffix(path)
    name = shown_path(path)
    try:
        # Bytes, because the name of a file may look like a pattern.
        content = sys.stdin.buffer.read() if path is None else path.read_bytes()
        cells = read_cells(content, suffix, separator)
    except (TableFileError, ModuleNotFoundError) as error:
        raise TableFileError(f"Cannot read the table {name}. {error}") from None
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error, csv.Error) as error:
        reason = (str(error).splitlines() or ["unknown reason"])[0]
        raise TableFileError(
            f"Cannot read the table {name}: {reason}. Check that it is a complete "
            f"{suffix or 'table'} file."
        ) from None
    if cells.frame.height == 0:
        raise TableFileError(f"The table {name} must have at least one row. Got none.")
    return cells


def read_database(table: Path | str, query: str | None = None) -> FileCells:
    """Read all rows of a table or a query of a database, given by its file or its address."""
    import polars as pl

    source = scan(table, query=query)
    parts = [pl.DataFrame(part) for part in source.parts(source.column_names)]
    # Columns of SQLite may hold values of any type.
    cells = [(name, kind) for part in parts for name, kind in part.schema.items()]
    texts = {name for name, kind in cells if kind == pl.String}
    mixed = {name for name, kind in cells if kind.is_numeric()} & texts | {*source.mixed}
    alike = (part.cast(dict.fromkeys(texts, pl.String)) for part in parts)
    whole = pl.concat(alike, how="vertical_relaxed")
    if whole.height == 0:
        raise TableFileError("The table must have at least one row. Got none.")
    return FileCells(whole, "database", mixed=frozenset(mixed))


def shown_path(path: Path | str | None) -> str:
    """Return the name of a file for a message; None is the standard input."""
    return "of the standard input" if path is None else repr(str(path))


def table_suffix(path: Path) -> str:
    """Return the suffix of a table that must exist, without that of its compression."""
    check_is_file(path, "table")
    suffix = suffix_of(path.name)
    if suffix in TABLE_SUFFIXES:
        return suffix.removesuffix(".gz").removesuffix(".zst")
    raise TableFileError(
        f"The name of a table must end with {listed(KINDS, word='or')}, optionally followed by "
        f"{listed(COMPRESSED, word='or')}. Got {path.name!r}. Rename or convert the file."
    )


def check_is_file(path: Path, kind: str) -> None:
    """Refuse a path that is not that of a file."""
    if path.is_dir():
        raise IsADirectoryError(
            f"The {kind} must be a file. Got the folder {str(path)!r}. Add the name of a file in "
            "it."
        )
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}. Check the path of the {kind}.")


def read_cells(content: bytes, suffix: str | None, separator: str | None) -> FileCells:
    """Read the cells of a table; without a suffix, its first bytes show what kind it is."""
    import polars as pl

    is_text = suffix is None or KINDS[suffix] in ("csv", "ndjson")
    if content.startswith(_ZSTD_START) and not is_text:
        raise TableFileError(
            f"A {suffix} file must be uncompressed or end with .gz. Decompress it with: zstd -d"
        )
    content = _decompressed(content)
    kind = _kind(content) if suffix is None else KINDS[suffix]
    match kind:
        case "parquet":
            frame = pl.read_parquet(io.BytesIO(content))
        case "ipc":
            frame = pl.read_ipc(io.BytesIO(content))
        case "excel":
            import_extra("fastexcel", "excel", "An .xlsx file")
            frame = pl.read_excel(io.BytesIO(content), infer_schema_length=None)
        case "ndjson":
            frame = _read_json(content)
        case _:
            return _read_text(content, _SEPARATORS[suffix or ".csv"], separator)
    return FileCells(frame, kind)


def read_first_cells(path: str, separator: str | None) -> FileCells:
    """Read the first lines of a text file of any size."""
    suffix = suffix_of(path).removesuffix(".gz").removesuffix(".zst")
    return _read_text(_as_lines(Path(path), N_FIRST_LINES), _SEPARATORS[suffix], separator)


def _decompressed(content: bytes) -> bytes:
    if content.startswith(_GZIP_START):
        return gzip.decompress(content)
    return _as_lines(content) if content.startswith(_ZSTD_START) else content


def _as_lines(source: bytes | Path, n_lines: int | None = None) -> bytes:
    """Read a text line by line, as one column: polars decompresses what it reads as text."""
    import polars as pl

    lines = pl.read_csv(
        source,
        has_header=False,
        separator="\x01",
        quote_char=None,
        infer_schema=False,
        n_rows=n_lines,
        glob=False,
    )
    return "\n".join(line or "" for line in lines.to_series()).encode()


def _kind(content: bytes) -> str:
    for start, kind in _STARTS.items():
        if content.startswith(start):
            return kind
    return "ndjson" if content.lstrip()[:1] in (b"{", b"[") else "csv"


def _read_json(content: bytes) -> pl.DataFrame:
    import polars as pl

    if content.lstrip().startswith(b"["):
        return pl.read_json(io.BytesIO(content), infer_schema_length=None)
    first = content.lstrip().partition(b"\n")[0]
    try:
        is_row = isinstance(json.loads(first), dict)
    except ValueError:
        is_row = False
    if not is_row:
        raise TableFileError(
            "It must hold one JSON object per line, or a list of objects. Got something else. With "
            "pandas, write it by: frame.to_json(path, orient='records', lines=True)"
        )
    return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)


def _read_text(content: bytes, possible: str, separator: str | None) -> FileCells:
    import polars as pl

    text, doubts = _decoded(content)
    if not text.strip():
        raise TableFileError("It is empty. Check that it was written completely.")
    first, _, rest = text.partition("\n")
    named = re.fullmatch(r"sep=(.)\r?", first.strip("\ufeff"))
    if named is not None:  # Excel writes and reads such a line.
        separator, text = separator or named[1], rest
    unusual = None
    if separator is None:
        separator = _separator(text, possible)
        unusual = None if separator == possible[0] else _in_words(separator)
    _, names = next(_lines(text, separator), (1, []))
    names, text = _with_row_names(names, text, separator)
    names = _checked_names(names)
    try:
        frame = pl.read_csv(
            text.encode(), separator=separator, infer_schema=False, new_columns=names
        )
    except pl.exceptions.ComputeError:
        _check_lengths(text, separator, len(names))
        raise
    if frame.height and frame.to_series(-1).has_nulls():
        doubts += _short_lines(text, separator, len(names))
    return FileCells(frame, "csv", separator, unusual, doubts)


def _decoded(content: bytes) -> tuple[str, list[str]]:
    """Return the text of a file, and doubts about it if it is not in UTF-8."""
    if content.startswith(_UTF16_STARTS):
        return content.decode("utf-16"), []
    if b"\x00" in content[:10_000]:
        raise TableFileError(
            "It must be text, but contains bytes that are not valid text. Rename it if it is a "
            "table of another kind, or save it as CSV."
        )
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
    doubt = (
        f"is not in UTF-8 (line {line}), and read as Latin-1. If letters are wrong, convert it, "
        "for example with: iconv -f ENCODING -t utf8"
    )
    # The Latin-1 of Windows, which has characters where Latin-1 has none.
    return content.decode("cp1252", errors="replace"), [doubt]


def _lines(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not empty."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return ((reader.line_num, cells) for cells in reader if cells)


def _separator(text: str, possible: str) -> str:
    """Find what divides the first lines into the same number of cells, and more than one."""
    shares = {}
    for separator in possible:
        try:
            counts = [len(cells) for _, cells in islice(_lines(text, separator), _N_LINES)]
        except csv.Error:
            continue
        if counts and counts[0] > 1:
            shares[separator] = sum(count == counts[0] for count in counts) / len(counts)
    return max(shares, key=shares.__getitem__, default=possible[0])


def _in_words(separator: str) -> str:
    return {"\t": "tabs", ";": "semicolons", ",": "commas", " ": "spaces"}.get(
        separator, repr(separator)
    )


def _with_row_names(names: list[str], text: str, separator: str) -> tuple[list[str], str]:
    """Give a name to row names, which R writes without one: a header that is one cell short."""
    counts = {len(cells) for _, cells in islice(_lines(text, separator), 1, 1 + _N_LINES)}
    if counts == {len(names) + 1}:
        return ["", *names], separator + text
    return names, text


def _checked_names(names: list[str]) -> list[str]:
    """Return the names of the columns; those without one are named as pandas does."""
    given, names = names, [name.strip() or f"Unnamed: {i}" for i, name in enumerate(names)]
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        blanks = "" if given.count(repeated) > 1 else ", without the blanks around it"
        raise TableFileError(
            f"Its columns must have different names. Got {repeated!r} more than once{blanks}. "
            "Rename or remove one of these columns."
        )
    if all(map(_is_number, names)) and names != [*map(str, range(len(names)))]:
        raise TableFileError(
            f"Its first line must hold the names of the columns. Got numbers: "
            f"{listed_names(names, 5)}. Put a line with names before it."
        )
    return names


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d*[.,]?\d+(?:[eE][+-]?\d+)?", text) is not None


def _check_lengths(text: str, separator: str, n_columns: int) -> None:
    """Refuse a text with a line that has more cells than there are names."""
    counts = Counter(len(cells) for _, cells in islice(_lines(text, separator), 1, 1 + _N_LINES))
    usual = max(counts, key=counts.__getitem__, default=0)
    if usual > n_columns:
        raise TableFileError(
            f"Its first line must hold the names of the columns. It has {n_columns} of them, but "
            f"most other lines have {usual} cells. Remove the lines above the names, if there are "
            "any."
        )
    for number, cells in _lines(text, separator):
        if len(cells) > n_columns:
            raise TableFileError(
                f"Line {number} has {len(cells)} cells, but there are {n_columns} names "
                "in the first line. Correct that line, put cells that contain "
                f"{_in_words(separator)} in quotes, or name the separator of the file."
            )


def _short_lines(text: str, separator: str, n_columns: int) -> list[str]:
    """Count lines that end too early."""
    short = [number for number, cells in _lines(text, separator) if len(cells) < n_columns]
    if not short:
        return []
    return [
        f"has lines that end before the last column, {len(short)} of them, first line {short[0]}. "
        "The cells they lack are missing values."
    ]


# A safe guess: texts of tables are usually compressed to a third, and further where values repeat.
_COMPRESSION = 10
# Bytes of a cell in memory, also where a file holds repeated values only once.
_CELL = 8
# Enough to see how well a file is compressed; they become at most a thousand times as many.
_FIRST_BYTES = 2**16


def uncompressed_size(path: Path) -> float:
    """Estimate the bytes of a table without compression.

    For files that cannot be read in parts, and for broken ones, it is the size of the file.
    """
    size = path.stat().st_size
    kind = SCANNABLE.get(suffix_of(path.name))
    if kind is None or not path.is_file():  # a pipe can be read only once
        return size
    try:
        if kind in ("parquet", "ipc"):
            return max(size, _size_of_cells(path, kind))
        with path.open("rb") as file:
            start = file.read(_FIRST_BYTES)
        if start.startswith(_GZIP_START):
            return max(size, _gzip_size(path, start))
        if start.startswith(_ZSTD_START):
            return _zstd_size(size, start)
    except (OSError, ValueError, IndexError, zlib.error):
        pass  # reading it will raise an error that says what is wrong
    return size


def _size_of_cells(path: Path, kind: str) -> int:
    import polars as pl

    scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
    try:
        frame = scan(glob.escape(str(path)))
        n_columns, n_rows = len(frame.collect_schema()), frame.select(pl.len()).collect().item()
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None
    size: int = _CELL * n_columns * n_rows
    if kind == "ipc" or find_spec("pyarrow") is None:
        return size
    try:
        stored = import_module("pyarrow.parquet").read_metadata(path)
    except NotImplementedError:  # a type that only polars knows
        return size
    groups = map(stored.row_group, range(stored.num_row_groups))
    uncompressed: int = sum(group.total_byte_size for group in groups)
    return max(size, uncompressed)


def _gzip_size(path: Path, start: bytes) -> float:
    """Estimate the size from how well the first bytes are compressed, and from the last ones.

    The last four bytes are the size of the last member, modulo 4 GiB.
    """
    first = zlib.decompressobj(wbits=31)
    ratio = len(first.decompress(start)) / (len(start) - len(first.unused_data))
    with path.open("rb") as file:
        file.seek(-4, 2)
        last = int.from_bytes(file.read(4), "little")
    return max(last, ratio * path.stat().st_size)


def _zstd_size(size: int, start: bytes) -> float:
    """Read the size from the header of the first frame, if it is there and the only frame."""
    descriptor = start[4]
    is_single = bool(descriptor & 0b100000)
    before = 5 + (0 if is_single else 1) + (0, 1, 2, 4)[descriptor & 0b11]
    n_bytes = (1 if is_single else 0, 2, 4, 8)[descriptor >> 6]
    known = int.from_bytes(start[before : before + n_bytes], "little") + 256 * (n_bytes == 2)
    return known if known >= size else _COMPRESSION * size
