"""Tables in files that are read in parts: which files these are, and the types of their columns.

The files of a table have the same columns, in any order. A type that holds the values of all files
is found for each column before any row is read, so that no value is rounded or lost.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from laconic._util.optional import import_extra
from laconic._util.releases import collect_streaming
from laconic._util.words import listed_names
from laconic.tables.sources.sources import DuckDBSource, PolarsSource, TableSource

if TYPE_CHECKING:
    import polars as pl

    Types = Mapping[str, pl.DataType]

COMPRESSED = (".gz", ".zst")
KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), "ipc"),
    **dict.fromkeys((".jsonl", ".ndjson"), "ndjson"),
}
"""By suffix, what polars calls the files that can be read in parts."""
SCANNABLE = KINDS | {
    f"{suffix}{compressed}": kind
    for suffix, kind in KINDS.items()
    for compressed in COMPRESSED
    if kind in ("csv", "ndjson")
}
"""The same with the suffixes of compressed files."""

# From the finest.
_TIME_UNITS: tuple[Literal["ns", "us", "ms"], ...] = ("ns", "us", "ms")
# Types of Parquet files that DuckDB does not change; durations would become numbers, for example.
_DUCKDB_TYPES = {
    *("Boolean", "String", "Date", "Time", "Datetime", "Decimal", "Float32", "Float64"),
    *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
}


def scan_files(paths: Iterable[str], rows_per_part: int, options: dict[str, Any]) -> TableSource:
    """Prepare to read files, folders or patterns; the options are those of polars."""
    files = [file for path in paths for file in matching_files(path)]
    kind = _common_kind(files)
    frames = {file: _scan(file, kind, options) for file in files}
    schemas = {file: frame.collect_schema() for file, frame in frames.items()}
    _check_columns(schemas)
    first = schemas[files[0]]
    if kind == "parquet" and not options and _suits_duckdb(schemas):
        # DuckDB reads no further ahead than it has to, which saves memory.
        connection = import_module("duckdb").connect()
        return DuckDBSource(connection.read_parquet(files), rows_per_part, connection)
    types = {name: _type_in_all(name, frames, schemas, kind) for name in first}
    return PolarsSource(_together(frames, kind, options, types), rows_per_part)


def matching_files(path: str) -> list[str]:
    """Find the files that a path, a folder or a pattern stands for, sorted by name."""
    if Path(path).is_dir():
        found = [str(file) for file in Path(path).rglob("*") if suffix_of(str(file)) in SCANNABLE]
        if not found:
            raise FileNotFoundError(
                f"A folder must hold a table in files: {listed_names(KINDS)}. Got the folder "
                f"{path!r} without any. Pass the path of the table."
            )
    elif Path(path).exists():
        return [path]
    else:
        found = [file for file in glob.glob(path, recursive=True) if Path(file).is_file()]
    if not found:
        raise FileNotFoundError(f"There is no file {path!r}. Check the path, or the pattern.")
    return sorted(found)


def suffix_of(path: str) -> str:
    """Return the suffix of a file, with that of its compression.

    Examples
    --------
    >>> suffix_of("sales.2024.CSV.gz"), suffix_of("sales.2024.parquet")
    ('.csv.gz', '.parquet')
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    return "".join(suffixes[-2:] if suffixes[-1:] and suffixes[-1] in COMPRESSED else suffixes[-1:])


def _common_kind(files: Iterable[str]) -> str:
    suffixes = {suffix_of(file) for file in files}
    kinds = {SCANNABLE.get(suffix) for suffix in suffixes}
    kind = kinds.pop()
    if kinds or kind is None:
        raise ValueError(
            f"All files of a table must be of one kind: {listed_names(KINDS)}. Got "
            f"{listed_names(sorted(suffixes))}."
        )
    return kind


def _scan(file: str, kind: str, options: dict[str, Any]) -> pl.LazyFrame:
    polars = import_extra("polars", "large", "Reading files in parts")
    # The file exists, so its name is not a pattern.
    usual: dict[str, Any] = {"glob": False} if kind in ("csv", "parquet") else {}
    path = file if usual else glob.escape(file)
    if kind in ("csv", "ndjson"):
        # The first rows of a column may be missing, or whole numbers.
        usual["infer_schema_length"] = None
    if suffix_of(file).startswith(".tsv"):
        usual["separator"] = "\t"
    frame: pl.LazyFrame = getattr(polars, f"scan_{kind}")(path, **(usual | options))
    return frame


def _check_columns(schemas: Mapping[str, Types]) -> None:
    """Refuse files that lack a column of another one."""
    owners: dict[str, str] = {}
    for file, schema in schemas.items():
        owners = dict.fromkeys(schema, file) | owners
    for file, schema in schemas.items():
        missing = [name for name in owners if name not in schema]
        if missing:
            raise ValueError(
                f"All files of a table must have the same columns. {file!r} lacks "
                f"{listed_names(missing)}; {owners[missing[0]]!r} has {missing[0]!r}. Add what is "
                "missing, or pass the lazy frame polars.concat(frames, how='diagonal'), which "
                "fills it with missing values."
            )


def _suits_duckdb(schemas: Mapping[str, Types]) -> bool:
    """Return whether DuckDB reads all columns unchanged: it casts to the types of one file."""
    has_pattern = any(sign in file for file in schemas for sign in "*?[")
    first, *others = map(dict, schemas.values())
    if has_pattern or find_spec("duckdb") is None or any(other != first for other in others):
        return False
    # It has nanoseconds, and time zones, but not both.
    is_rounded = any(
        getattr(dtype, "time_zone", None) and getattr(dtype, "time_unit", None) == "ns"
        for dtype in first.values()
    )
    return not is_rounded and {str(dtype.base_type()) for dtype in first.values()} <= _DUCKDB_TYPES


def _type_in_all(
    name: str, frames: Mapping[str, pl.LazyFrame], schemas: Mapping[str, Types], kind: str
) -> pl.DataType:
    """Find a type for the values of a column in all files, or refuse the files."""
    import polars as pl

    nothing: pl.DataType | None = pl.Null()
    types = {file: schema[name] for file, schema in schemas.items()}
    common = reduce(_common_type, types.values(), nothing)
    if common is not None:
        return common
    # Without values, as after a header alone, the type means nothing.
    known = {file: each for file, each in types.items() if _has_values(frames[file], name)}
    common = reduce(_common_type, known.values(), nothing)
    if common is not None:
        return common
    if kind == "csv":
        # As in one file, where a single text makes the whole column text.
        return pl.String()
    file, dtype = next(iter(known.items()))
    other = next(each for each in known if _common_type(dtype, known[each]) is None)
    raise TypeError(
        f"Column {name!r} must hold one kind of values in all files of a table. Got {dtype} in "
        f"{file!r} and {known[other]} in {other!r}. Convert it in one of them, or pass a lazy "
        "frame of polars that does."
    )


def _has_values(frame: pl.LazyFrame, name: str) -> bool:
    import polars as pl

    return bool(collect_streaming(frame.select(pl.col(name).count())).item())


def _common_type(one: pl.DataType | None, other: pl.DataType) -> pl.DataType | None:
    """Find the type that holds the values of two others; None if there is none."""
    import polars as pl

    if one is None or one == other or other == pl.Null:
        return one
    if one == pl.Null:
        return other
    both = (one, other)
    if all(each.is_numeric() for each in both):
        empty = (pl.DataFrame(schema={"": each}) for each in both)
        common = pl.concat(empty, how="vertical_relaxed").schema[""]
        # Early releases of polars 1 round signed and unsigned numbers of 64 bits.
        is_rounded = all(each.is_integer() for each in both) and not common.is_integer()
        return pl.Int128() if is_rounded else common
    if all(isinstance(each, pl.String | pl.Categorical | pl.Enum) for each in both):
        return pl.String()
    units = {each.time_unit for each in both if isinstance(each, pl.Datetime | pl.Duration)}
    finest = next((unit for unit in _TIME_UNITS if unit in units), None)
    if all(isinstance(each, pl.Duration) for each in both):
        return pl.Duration(finest or "us")
    if all(isinstance(each, pl.Date | pl.Datetime) for each in both):
        zones = {getattr(each, "time_zone", None) for each in both}
        # Times with a time zone cannot be compared with those without.
        if len(zones) == 1 or None not in zones:
            return pl.Datetime(finest or "us", zones.pop() if len(zones) == 1 else "UTC")
    return None


def _together(
    frames: Mapping[str, pl.LazyFrame], kind: str, options: dict[str, Any], types: Types
) -> pl.LazyFrame:
    """Concatenate the rows of all files."""
    import polars as pl

    if kind == "csv":
        # Cells are parsed as the common type: text such as 01 must not become a number first.
        typed = options | {"infer_schema_length": 0, "schema_overrides": types}
        frames = {file: _scan(file, kind, typed) for file in frames}
    columns = [pl.col(name).cast(dtype) for name, dtype in types.items()]
    return pl.concat((frame.select(columns) for frame in frames.values()), parallel=False)
