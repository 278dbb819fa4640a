"""Convert the cells of arrays, data frames and lists to columns.

Columns are made of NumPy arrays (`array_column`), of pandas series (`pandas_column`) and of
every other series that narwhals supports (`series_column`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import compress
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Bools, Floats
from laconic.tables.columns import (
    LARGEST_EXACT,
    CategoricalColumn,
    Category,
    Column,
    NumericColumn,
    infinity_message,
    is_present,
    plain_number,
    read_only,
    time_column,
)
from laconic.tables.times import TimeKind, count_microseconds, microseconds

Kind: TypeAlias = Literal["text", "boolean", "number", "date", "time", "duration"]

# The first that fits decides: a timedelta64 is also a number to Python, and bool one of int.
_KINDS: tuple[tuple[tuple[type, ...], Kind], ...] = (
    ((str,), "text"),
    ((bool, np.bool_), "boolean"),
    ((timedelta, np.timedelta64), "duration"),
    ((Real, Decimal), "number"),
    ((time,), "time"),
    ((date, np.datetime64), "date"),
)
# Of a NumPy dtype: floating point, signed and unsigned integers, booleans.
NUMBER_KINDS = "fiub"
# Those, texts and objects: Python's values of the cells are all that matters.
CELL_KINDS = NUMBER_KINDS + "UO"
# Texts of polars that are converted one by one faster than all together.
_FEW_TEXTS = 1000
# Names of the dtypes that pandas has for text alone.
PANDAS_TEXT = ("str", "string")


def array_column(name: str, values: NDArray[Any]) -> Column:
    """Convert a NumPy array of one dimension."""
    match values.dtype.kind:
        case "f" | "i" | "u":
            return _numeric_column(name, values, is_rounded=_are_rounded(values))
        case "b":
            return _boolean_column(name, values)
        case "U" | "T":
            return _text_column(name, values.tolist())
        case "O":
            return _object_column(name, values.tolist())
        case "M" | "m":
            kind: TimeKind = "datetime" if values.dtype.kind == "M" else "duration"
            return time_column(name, count_microseconds(values), kind)
    raise TypeError(_dtype_message(name, values.dtype))


def pandas_column(name: str, series: Any) -> Column:
    """Convert a pandas series, without narwhals where that is faster."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in NUMBER_KINDS + "mM":
        return array_column(name, series.to_numpy())
    if series.dtype.name.startswith("period["):
        return array_column(name, series.dt.start_time.to_numpy())
    if series.dtype.name in PANDAS_TEXT:
        # Of the array: the series would make an index of the distinct values.
        codes, distinct = series.array.factorize()
        return _expanded(name, codes, distinct.tolist(), _text_column)
    return series_column(name, nw.from_native(series, series_only=True))


def series_column(name: str, series: nw.Series[Any]) -> Column:
    """Convert a narwhals series."""
    dtype = series.dtype
    if dtype in (nw.Int64, nw.UInt64):
        # PyArrow would refuse to round them.
        known = series.drop_nulls().to_numpy()
        values = known if len(known) == len(series) else _with_gaps(known, series)
        return _numeric_column(name, values, is_rounded=_are_rounded(known))
    if dtype.is_numeric():
        return _numeric_column(name, _floats(series))
    if dtype == nw.Boolean:
        return _boolean_column(name, _floats(series))
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        make_column = _text_column if dtype == nw.String else _category_column
        encoding = _dictionary_encoding(series)
        if encoding is None:
            column = make_column(name, series.to_list())
        else:
            column = _expanded(name, *encoding, make_column)
        return column if dtype == nw.String else _declared(column, series)
    if isinstance(dtype, nw.Date | nw.Datetime | nw.Duration):
        return _time_series_column(name, series)
    if dtype == nw.Time:
        return _object_column(name, series.to_list())
    if dtype in (nw.Object, nw.Unknown):
        return array_column(name, series.to_numpy())
    raise TypeError(_dtype_message(name, dtype))


def _time_series_column(name: str, series: nw.Series[Any]) -> Column:
    """Convert dates, times or durations; those with a time zone are converted to UTC."""
    if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    kind: TimeKind = "duration" if series.dtype == nw.Duration else "datetime"
    known = series.drop_nulls().to_numpy()
    if known.dtype.kind not in "mM":
        # Dates of pandas and PyArrow may be objects.
        known = known.astype("m8[us]" if kind == "duration" else "M8[us]")
    counts = _with_gaps(count_microseconds(known), series)
    return time_column(name, counts, "date" if series.dtype == nw.Date else kind)


def _with_gaps(known: NDArray[Any], series: nw.Series[Any]) -> Floats:
    """Return the numbers of a series, of which the known ones are given."""
    values = np.full(len(series), np.nan)
    values[~series.is_null().to_numpy()] = known
    return values


def _declared(column: Column, series: nw.Series[Any]) -> Column:
    """Add the categories that the type of a column declares, in their order if it has one."""
    if not isinstance(column, CategoricalColumn):
        return column
    order, is_ordered = _declared_order(series)
    if not {*order} >= {*column.categories}:
        order, is_ordered = (), False
    return replace(column, is_declared=True, order=tuple(order), is_ordered=is_ordered)


def _declared_order(series: nw.Series[Any]) -> tuple[Sequence[Any], bool]:
    """Return all categories in the order of their type, and whether they are ordered."""
    native = series.to_native()
    if series.implementation.is_pandas() and native.dtype == "category":
        return native.cat.categories.tolist(), bool(native.cat.ordered)
    if series.implementation.is_pyarrow() and native.num_chunks == 1:
        return native.chunk(0).dictionary.to_pylist(), bool(native.type.ordered)
    if isinstance(series.dtype, nw.Enum):
        return series.dtype.categories, False
    return (), False


def _floats(series: nw.Series[Any]) -> NDArray[Any]:
    if series.dtype == nw.Decimal and not series.implementation.is_polars():
        # PyArrow divides by a power of ten that it has rounded: 8.13 would be above 8.13.
        series = series.cast(nw.String)
    return (series if series.dtype == nw.Float64 else series.cast(nw.Float64)).to_numpy()


def _dictionary_encoding(series: nw.Series[Any]) -> tuple[NDArray[Any], list[Any]] | None:
    """Return codes of texts or categories, negative where missing, and the cells they stand for.

    None if cells should be converted one by one: the library keeps no codes, or there are few.
    """
    native = series.to_native()
    if series.implementation.is_pyarrow():
        return _arrow_encoding(native)
    if series.implementation.is_polars():
        if series.dtype == nw.String and len(series) <= _FEW_TEXTS:
            return None
        categories = series.cast(nw.Categorical) if series.dtype == nw.String else series
        physical = categories.to_native().to_physical()
        distinct = categories.drop_nulls().unique().to_native()
        known = distinct.to_physical().to_numpy()
        codes = np.searchsorted(np.sort(known), physical.fill_null(0).to_numpy())
        codes[physical.is_null().to_numpy()] = -1
        return codes, distinct.gather(np.argsort(known)).to_list()
    if series.implementation.is_pandas() and native.dtype == "category":
        return native.cat.codes.to_numpy(), native.cat.categories.tolist()
    if series.implementation.is_pandas() and native.dtype != object:
        codes, distinct = native.factorize()
        return codes, distinct.tolist()
    return None


def _arrow_encoding(chunks: Any) -> tuple[NDArray[Any], list[Any]]:
    # Chunk by chunk: together, they may have more values than their type of index can count.
    code_of: dict[Any, int] = {}
    parts = [np.empty(0, dtype=np.int64)]
    for chunk in chunks.iterchunks():
        encoded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
        cells = encoded.dictionary.to_pylist()
        # The last entry is for a null.
        codes = np.array([*(code_of.setdefault(cell, len(code_of)) for cell in cells), -1])
        parts.append(codes[encoded.indices.cast("int64").fill_null(-1).to_numpy()])
    return np.concatenate(parts), list(code_of)


def _expanded(
    name: str,
    codes: NDArray[Any],
    cells: list[Any],
    make_column: Callable[[str, list[Any]], Column],
) -> Column:
    """Make a column of dictionary-encoded cells, from those that occur."""
    is_used = np.bincount(codes + 1, minlength=len(cells) + 1)[1:] > 0
    # The last one is for code -1.
    column = make_column(name, [*compress(cells, is_used), None])
    positions = np.append(np.cumsum(is_used) - 1, -1)
    return column.take(positions[codes])


def _are_rounded(values: NDArray[Any]) -> bool:
    """Return whether float64 rounds some of the whole numbers."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or len(values) == 0:
        return False
    if max(abs(int(values.min())), abs(int(values.max()))) <= LARGEST_EXACT:
        return False
    large = values[(values > LARGEST_EXACT) | (values < -LARGEST_EXACT)].tolist()
    return any(int(float(number)) != number for number in large)


def _numeric_column(name: str, values: NDArray[Any], *, is_rounded: bool = False) -> NumericColumn:
    values = np.ascontiguousarray(values, dtype=np.float64)
    if np.isinf(values).any():
        raise ValueError(infinity_message(name))
    return NumericColumn(name, read_only(values), is_rounded=is_rounded)


def _boolean_column(name: str, values: NDArray[Any]) -> CategoricalColumn:
    if values.dtype != bool:
        values = np.where(np.isnan(values), -1, values)
    codes = values.astype(np.int32)
    return CategoricalColumn(name, read_only(codes), (False, True))


def _text_column(name: str, cells: list[Any]) -> Column:
    # Checked like objects: narwhals calls a pandas object column a string column
    # by looking at its first rows only.
    if not any(map(is_present, cells)):
        return CategoricalColumn(name, np.full(len(cells), -1, dtype=np.int32), ())
    return _object_column(name, cells)


def _category_column(name: str, cells: list[Any]) -> Column:
    return _object_column(name, cells, is_categorical=True)


def _object_column(name: str, cells: list[Any], *, is_categorical: bool = False) -> Column:
    present = np.fromiter(map(is_present, cells), dtype=bool, count=len(cells))
    known = list(compress(cells, present))
    kind = _common_kind(name, known)
    if kind == "text":
        return _encode(name, present, known, str.__str__)
    if kind == "number" and is_categorical:
        return _encode(name, present, known, lambda cell: plain_number(name, cell))
    values = np.full(len(cells), np.nan)
    if kind in ("date", "time", "duration"):
        values[present] = [*map(microseconds, map(_timestamp, known))]
        return time_column(name, values, kind)
    try:
        values[present] = [float(cell) for cell in known]
    except OverflowError:
        raise ValueError(
            f"Column {name!r} must hold numbers below 1.8e308. Got a larger one. Convert them to "
            "texts if they are names, or scale them down."
        ) from None
    if kind == "boolean":
        return _boolean_column(name, values)
    is_rounded = bool((np.abs(values) > LARGEST_EXACT).any()) and any(
        isinstance(cell, Integral) and int(float(cell)) != cell for cell in known
    )
    return _numeric_column(name, values, is_rounded=is_rounded)


def _timestamp(cell: Any) -> Any:
    """Return the start of a period of pandas; any other time as it is."""
    return cell.start_time if type(cell).__name__ == "Period" else cell


def _common_kind(name: str, known: list[Any]) -> Kind:
    kinds = {_kind(name, cell_type) for cell_type in set(map(type, known))}
    if kinds <= {"number", "boolean"}:
        return "boolean" if kinds == {"boolean"} else "number"
    if len(kinds) > 1:
        is_timed = bool(kinds & {"date", "time", "duration"})
        raise TypeError(
            f"Column {name!r} must hold either strings or numbers"
            f"{', or times of one kind' if is_timed else ''}. Got both. Convert all "
            "its cells to strings, or replace text that stands for a missing number by None."
        )
    return kinds.pop()


def _kind(name: str, cell_type: type) -> Kind:
    for types, kind in _KINDS:
        if issubclass(cell_type, types):
            return kind
    if cell_type.__name__ == "Period":
        return "date"
    raise TypeError(
        f"Every cell of a table argument must be a string, a real number or a date or time. Column "
        f"{name!r} has a cell of type {cell_type.__name__}. Convert it, or leave the column out."
    )


def _encode(
    name: str, present: Bools, known: list[Any], plain: Callable[[Any], Category]
) -> CategoricalColumn:
    category_of = {cell: plain(cell) for cell in set(known)}
    categories = tuple(sorted(set(category_of.values())))
    code_of = {category: code for code, category in enumerate(categories)}
    codes = np.full(len(present), -1, dtype=np.int32)
    codes[present] = [code_of[category_of[cell]] for cell in known]
    return CategoricalColumn(name, read_only(codes), categories)


def _dtype_message(name: str, dtype: object) -> str:
    return (
        f"Column {name!r} must hold numbers, booleans, strings, dates or times. Got dtype {dtype}. "
        "Convert it to one of these, or leave the column out."
    )
