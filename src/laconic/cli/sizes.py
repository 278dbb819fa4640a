"""How large a table is once it is no longer compressed, which a file tells without being read."""

from __future__ import annotations

import zlib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from laconic.cli.formats import GZIP_START, ZSTD_START
from laconic.data.table_files import READABLE, suffix_of

if TYPE_CHECKING:
    pass

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
