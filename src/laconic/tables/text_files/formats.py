"""Tables of all kinds, from the bytes of a file.

How large a table is once it is no longer compressed, which a file tells without being read.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from laconic._util.optional import import_extra
from laconic._util.words import listed_names
from laconic.tables.sources.files import READABLE, suffix_of

if TYPE_CHECKING:
    import polars as pl


# By suffix: what the cells of text files may be separated by, the most likely first, and the kinds
# of all files. Other separators have to be named.
TEXT_KINDS = {".csv": ",;\t|", ".tsv": "\t;,|", ".txt": "\t;,| "}
KINDS = {
    **dict.fromkeys(TEXT_KINDS, "text"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".feather", ".arrow"), "feather"),
    ".xlsx": "excel",
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
}
COMPRESSED = (".gz", ".zst")

GZIP_START, ZSTD_START = b"\x1f\x8b", b"(\xb5/\xfd"
_UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff")
# First bytes of a file without a name.
_STARTS = {b"PAR1": "parquet", b"ARROW1": "feather", b"PK\x03\x04": "excel"}

# Lines that are enough to tell what separates their cells.
_N_LINES = 50
# And those that tell what numbers look like.
N_FIRST_LINES = 20_000


class TableFileError(ValueError):
    """A file that cannot be read as a table; the message follows the name of the file."""


@dataclass(frozen=True)
class Cells:
    """What a file holds."""

    frame: pl.DataFrame
    """In text files all cells are text, exactly as it stands there."""
    kind: str
    separator: str | None = None
    notes: list[str] = field(default_factory=list)
    """What was found out about the file, in words that follow its name."""
    doubts: list[str] = field(default_factory=list)
    """What may have gone wrong."""

    @property
    def has_types(self) -> bool:
        """Whether texts that look like numbers are meant to be texts."""
        return self.kind in ("parquet", "feather")


def read_cells(content: bytes, suffix: str | None, separator: str | None) -> Cells:
    """Read a table of the kind that a suffix tells; without one, its first bytes do."""
    import polars as pl

    is_text = suffix is None or KINDS[suffix] in ("text", "json")
    if content.startswith(ZSTD_START) and not is_text:
        raise TableFileError(
            f"A {suffix} file is read as it is or with .gz. Unpack it with: zstd -d"
        )
    content = _unpacked(content)
    kind = _kind(content) if suffix is None else KINDS[suffix]
    match kind:
        case "parquet":
            frame = pl.read_parquet(io.BytesIO(content))
        case "feather":
            frame = pl.read_ipc(io.BytesIO(content))
        case "excel":
            import_extra("fastexcel", "excel", "An .xlsx file")
            frame = pl.read_excel(io.BytesIO(content), infer_schema_length=None)
        case "json":
            frame = _read_json(content)
        case _:
            return _read_text(content, TEXT_KINDS[suffix or ".csv"], separator)
    return Cells(frame, kind)


def read_first_cells(path: str, separator: str | None) -> Cells:
    """Read the first lines of a text file, whatever its size."""
    suffix = suffix_of(path).removesuffix(".gz").removesuffix(".zst")
    return _read_text(_as_lines(Path(path), N_FIRST_LINES), TEXT_KINDS[suffix], separator)


def _unpacked(content: bytes) -> bytes:
    if content.startswith(GZIP_START):
        return gzip.decompress(content)
    return _as_lines(content) if content.startswith(ZSTD_START) else content


def _as_lines(source: bytes | Path, n_lines: int | None = None) -> bytes:
    """Read a text line by line, as one column: polars unpacks what it reads as text."""
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
    return "json" if content.lstrip()[:1] in (b"{", b"[") else "text"


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


def _read_text(content: bytes, possible: str, separator: str | None) -> Cells:
    import polars as pl

    notes: list[str] = []
    text, doubts = _decoded(content)
    if not text.strip():
        raise TableFileError("It is empty. Check that it was written to its end.")
    first, _, rest = text.partition("\n")
    named = re.fullmatch(r"sep=(.)\r?", first.strip("\ufeff"))
    if named is not None:  # Excel writes and reads such a line.
        separator, text = separator or named[1], rest
    if separator is None:
        separator = _separator(text, possible)
        if separator != possible[0]:
            notes.append(
                f"has cells separated by {_shown(separator)}. --separator decides otherwise."
            )
    names = next(_lines(text, separator), [])
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
    return Cells(frame, "text", separator, notes, doubts)


def _decoded(content: bytes) -> tuple[str, list[str]]:
    """Text of a file, and doubts about it where it is not in UTF-8."""
    if content.startswith(_UTF16_STARTS):
        return content.decode("utf-16"), []
    if b"\x00" in content[:10_000]:
        raise TableFileError(
            "It must be text, but holds bytes that no text has. Rename it if it is a table of "
            "another kind, or save it as CSV."
        )
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
    doubt = (
        f"is not in UTF-8 (line {line}), and read as Latin-1. If letters are wrong, convert it, "
        "for example with: iconv -f ENCODING -t utf8"
    )
    # The Latin-1 of Windows, which has signs where Latin-1 has none.
    return content.decode("cp1252", errors="replace"), [doubt]


def _lines(text: str, separator: str) -> Iterator[list[str]]:
    """Cells of the lines that are not empty."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    return (cells for cells in reader if cells)


def _separator(text: str, possible: str) -> str:
    """Find what divides the first lines into the same number of cells, and more than one."""
    shares = {}
    for separator in possible:
        lines = _lines(text, separator)
        try:
            counts = [len(cells) for cells, _ in zip(lines, range(_N_LINES), strict=False)]
        except csv.Error:
            continue
        if counts and counts[0] > 1:
            shares[separator] = sum(count == counts[0] for count in counts) / len(counts)
    return max(shares, key=shares.__getitem__, default=possible[0])


def _shown(separator: str) -> str:
    return {"\t": "tabs", ";": "semicolons", ",": "commas", " ": "spaces"}.get(
        separator, repr(separator)
    )


def _with_row_names(names: list[str], text: str, separator: str) -> tuple[list[str], str]:
    """Give a name to row names, which R writes without one: a header that is one cell short."""
    lines = _lines(text, separator)
    next(lines, None)
    counts = {len(cells) for cells, _ in zip(lines, range(_N_LINES), strict=False)}
    if counts == {len(names) + 1}:
        return ["", *names], separator + text
    return names, text


def _checked_names(names: list[str]) -> list[str]:
    """Names of the columns; those without one get that of pandas."""
    names = [name.strip() or f"Unnamed: {position}" for position, name in enumerate(names)]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise TableFileError(
            f"Its columns must have different names. Got {repeated!r} more than once. Rename or "
            "remove one of these columns."
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
    """Point at the first line with more cells than there are names."""
    reader: Any = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    for cells in reader:
        if len(cells) > n_columns:
            raise TableFileError(
                f"Line {reader.line_num} has {len(cells)} cells, but there are {n_columns} names "
                f"in the first line. Mend that line, put cells with {_shown(separator)} in quotes, "
                "or name what separates cells with --separator."
            )


def _short_lines(text: str, separator: str, n_columns: int) -> list[str]:
    """Count lines that end too early."""
    reader: Any = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    short = [reader.line_num for cells in reader if 0 < len(cells) < n_columns]
    if not short:
        return []
    return [
        f"has lines that end before the last column, {len(short)} of them, first line {short[0]}. "
        "What they lack are missing values."
    ]


# Texts of tables shrink to a third as a rule, and to less where values repeat.
_SHRINKAGE = 10
# Bytes of a cell in memory, also where a file holds equal ones only once.
_CELL = 8
# Enough to see how well a file is compressed; at most, they become a thousand times as many.
_FIRST_BYTES = 2**16


def unpacked_size(path: Path) -> float:
    """Estimate the bytes of a table without compression; those of the file where it is none.

    Files that cannot be read in parts are as large as they are, and so are those that are broken.
    """
    size = path.stat().st_size
    kind = READABLE.get(suffix_of(path.name))
    if kind is None or not path.is_file():  # a pipe can be read only once
        return size
    try:
        if kind in ("parquet", "ipc"):
            return max(size, _size_of_cells(path, kind))
        with path.open("rb") as file:
            start = file.read(_FIRST_BYTES)
        if start.startswith(GZIP_START):
            return max(size, _gzip_size(path, start))
        if start.startswith(ZSTD_START):
            return _zstd_size(size, start)
    except (OSError, ValueError, IndexError, zlib.error):
        pass  # whoever reads it tells what is wrong
    return size


def _size_of_cells(path: Path, kind: str) -> int:
    import polars as pl

    scan = pl.scan_parquet if kind == "parquet" else pl.scan_ipc
    try:
        frame = scan(path, glob=False)
        n_columns, n_rows = len(frame.collect_schema()), frame.select(pl.len()).collect().item()
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None
    size: int = _CELL * n_columns * n_rows
    if kind == "ipc" or find_spec("pyarrow") is None:
        return size
    try:
        stored = import_module("pyarrow.parquet").read_metadata(path)
    except NotImplementedError:  # a type that polars alone knows
        return size
    groups = map(stored.row_group, range(stored.num_row_groups))
    unpacked: int = sum(group.total_byte_size for group in groups)
    return max(size, unpacked)


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
    """Read the size from the header of the first frame, if it tells and there is no other frame."""
    descriptor = start[4]
    is_single = bool(descriptor & 0b100000)
    before = 5 + (0 if is_single else 1) + (0, 1, 2, 4)[descriptor & 0b11]
    n_bytes = (1 if is_single else 0, 2, 4, 8)[descriptor >> 6]
    known = int.from_bytes(start[before : before + n_bytes], "little") + 256 * (n_bytes == 2)
    return known if known >= size else _SHRINKAGE * size
