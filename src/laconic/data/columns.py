"""Columns of numbers and of categories, and how cells become one.

A column is either a `NumericColumn` or a `CategoricalColumn`, with missing values
marked in one way whatever marked them before: None, NaN, null or NA. Columns are
made of NumPy arrays (`array_column`), of pandas series (`pandas_column`) and of
every other series that narwhals supports (`series_column`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import compress
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeAlias, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

Category: TypeAlias = str | bool | int | float
Kind: TypeAlias = Literal["text", "boolean", "number"]
FeatureKind: TypeAlias = Literal["integer", "boolean"]
Rows: TypeAlias = slice | NDArray[np.bool_]

# Of a NumPy dtype: floating point, signed and unsigned integers, booleans.
NUMBER_KINDS = "fiub"
# Names of the dtypes that pandas has for text alone.
PANDAS_TEXT = ("str", "string")
TYPES_WITH_NAN = (float, np.floating, Decimal)


@dataclass(frozen=True, slots=True, eq=False)
class NumericColumn:
    """Column of numbers."""

    is_numeric: ClassVar[bool] = True
    is_text: ClassVar[bool] = False

    name: str
    values: NDArray[np.float64]
    """The numbers as float64, NaN where missing."""

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of shape (n_rows,) of the rows without a value."""
        return np.isnan(self.values)

    def take(self, rows: Rows) -> NumericColumn:
        """Column of some of the rows."""
        return NumericColumn(self.name, self.values[rows])

    def cell(self, row: int) -> float | None:
        """Value of a row; None where it is missing."""
        number = float(self.values[row])
        return None if np.isnan(number) else number


@dataclass(frozen=True, slots=True, eq=False)
class CategoricalColumn:
    """Column of strings or booleans, or of numbers declared to be categories."""

    is_numeric: ClassVar[bool] = False

    name: str
    codes: NDArray[np.int32]
    """Position of each row's value in `categories`, -1 where missing."""
    categories: tuple[Category, ...]
    """The distinct values, ascending. Booleans always have (False, True), other columns the values
    that occur."""

    @property
    def is_text(self) -> bool:
        """Whether the categories are strings."""
        return isinstance(next(iter(self.categories), None), str)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of shape (n_rows,) of the rows without a value."""
        return self.codes < 0

    def take(self, rows: Rows) -> CategoricalColumn:
        """Column of some of the rows, with the categories of all."""
        return CategoricalColumn(self.name, self.codes[rows], self.categories)

    def cell(self, row: int) -> Category | None:
        """Value of a row; None where it is missing."""
        code = int(self.codes[row])
        return None if code < 0 else self.categories[code]


Column: TypeAlias = NumericColumn | CategoricalColumn


def feature_kind(column: Column) -> FeatureKind | None:
    """Tell whether a column holds nothing but zeros and ones, or else nothing but integers.

    Examples
    --------
    >>> [feature_kind(NumericColumn("x", np.array(x))) for x in ([0, 1], [0, 2], [0, 0.5])]
    ['boolean', 'integer', None]
    """
    if isinstance(column, CategoricalColumn):
        return "boolean" if {*column.categories} == {False, True} else None
    known = column.values
    if not (known == np.rint(known)).all():
        known = known[~column.missing]
        if not (known == np.rint(known)).all():
            return None
    if not len(known):
        return None
    return "boolean" if ((known == 0) | (known == 1)).all() else "integer"


def array_column(name: str, values: NDArray[Any]) -> Column:
    """Column of the cells of a NumPy array of one dimension."""
    match values.dtype.kind:
        case "f" | "i" | "u":
            return _numeric_column(name, values)
        case "b":
            return _boolean_column(name, values)
        case "U" | "T":
            return _text_column(name, values.tolist())
        case "O":
            return _object_column(name, values.tolist())
    raise TypeError(_dtype_message(name, values.dtype))


def pandas_column(name: str, series: Any) -> Column:
    """Column of the cells of a pandas series, past narwhals where that is faster."""
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in NUMBER_KINDS:
        return array_column(name, series.to_numpy())
    if series.dtype.name in PANDAS_TEXT:
        # Of the array: the series would make an index of the distinct values.
        codes, distinct = series.array.factorize()
        return _ranked(name, codes, [str.__str__(cell) for cell in distinct.tolist()])
    return series_column(name, nw.from_native(series, series_only=True))


def series_column(name: str, series: nw.Series[Any]) -> Column:
    """Column of the cells of a narwhals series."""
    dtype = series.dtype
    if dtype.is_numeric():
        return _numeric_column(name, _floats(series))
    if dtype == nw.Boolean:
        return _boolean_column(name, _floats(series))
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        make_column = _text_column if dtype == nw.String else _category_column
        encoding = _dictionary_encoding(series)
        if encoding is None:
            return make_column(name, series.to_list())
        return _recoded(name, *encoding, make_column)
    if dtype in (nw.Object, nw.Unknown):
        return array_column(name, series.to_numpy())
    raise TypeError(_dtype_message(name, dtype))


def _floats(series: nw.Series[Any]) -> NDArray[Any]:
    return (series if series.dtype == nw.Float64 else series.cast(nw.Float64)).to_numpy()


def _dictionary_encoding(series: nw.Series[Any]) -> tuple[NDArray[Any], list[Any]] | None:
    """Codes of texts or categories, negative where missing, and the cells they stand for.

    None where the library keeps no codes: cells then have to be looked at one by one.
    """
    native = series.to_native()
    if series.implementation.is_pyarrow():
        return _arrow_encoding(native)
    if series.implementation.is_polars():
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


def _ranked(name: str, codes: NDArray[Any], texts: list[str]) -> CategoricalColumn:
    """Column of dictionary-encoded texts, all of which occur, and each of them once."""
    categories = tuple(sorted(texts))
    rank_of = {text: rank for rank, text in enumerate(categories)}
    # The last entry is for code -1.
    ranks = np.array([*map(rank_of.__getitem__, texts), -1], dtype=np.int32)
    return CategoricalColumn(name, _read_only(ranks[codes]), categories)


def _recoded(
    name: str,
    codes: NDArray[Any],
    cells: list[Any],
    make_column: Callable[[str, list[Any]], Column],
) -> CategoricalColumn:
    """Column of dictionary-encoded cells, made from those that occur."""
    is_used = np.bincount(codes + 1, minlength=len(cells) + 1)[1:] > 0
    used = cast(CategoricalColumn, make_column(name, list(compress(cells, is_used))))
    # The last entry is for code -1.
    new_codes = np.full(len(cells) + 1, -1, dtype=np.int32)
    new_codes[:-1][is_used] = used.codes
    return CategoricalColumn(name, _read_only(new_codes[codes]), used.categories)


def _numeric_column(name: str, values: NDArray[Any]) -> NumericColumn:
    values = np.ascontiguousarray(values, dtype=np.float64)
    if np.isinf(values).any():
        raise ValueError(_infinity_message(name))
    return NumericColumn(name, _read_only(values))


def _boolean_column(name: str, values: NDArray[Any]) -> CategoricalColumn:
    if values.dtype != bool:
        values = np.where(np.isnan(values), -1, values)
    codes = values.astype(np.int32)
    return CategoricalColumn(name, _read_only(codes), (False, True))


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
        return _encode(name, present, known, lambda cell: _plain_number(name, cell))
    values = np.full(len(cells), np.nan)
    values[present] = [float(cell) for cell in known]
    return _boolean_column(name, values) if kind == "boolean" else _numeric_column(name, values)


def is_present(cell: Any) -> bool:
    """Tell whether a cell has a value: it is not None, NaN or NA."""
    if cell is None:
        return False
    if isinstance(cell, TYPES_WITH_NAN):
        return bool(cell == cell)
    # pandas.NA, recognised without importing pandas.
    return type(cell).__name__ != "NAType"


def _common_kind(name: str, known: list[Any]) -> Kind:
    kinds = {_kind(name, cell_type) for cell_type in set(map(type, known))}
    if kinds <= {"number", "boolean"}:
        return "boolean" if kinds == {"boolean"} else "number"
    if kinds != {"text"}:
        raise TypeError(
            f"Column {name!r} must hold either strings or numbers. Got both. Convert all "
            "its cells to strings, or replace text that stands for a missing number by None."
        )
    return "text"


def _kind(name: str, cell_type: type) -> Kind:
    if issubclass(cell_type, str):
        return "text"
    if issubclass(cell_type, bool | np.bool_):
        return "boolean"
    if issubclass(cell_type, Real | Decimal):
        return "number"
    raise TypeError(
        f"Every cell of a table argument must be a string or a real number. Column {name!r} "
        f"has a cell of type {cell_type.__name__}. Convert it (a date, for example, to days "
        "since a fixed date), or leave the column out."
    )


def _encode(
    name: str, present: NDArray[np.bool_], known: list[Any], plain: Callable[[Any], Category]
) -> CategoricalColumn:
    category_of = {cell: plain(cell) for cell in set(known)}
    categories = tuple(sorted(set(category_of.values())))
    code_of_category = {category: code for code, category in enumerate(categories)}
    code_of = {cell: code_of_category[category] for cell, category in category_of.items()}
    codes = np.full(len(present), -1, dtype=np.int32)
    codes[present] = np.fromiter(map(code_of.__getitem__, known), dtype=np.int32, count=len(known))
    return CategoricalColumn(name, _read_only(codes), categories)


def _plain_number(name: str, cell: Any) -> int | float:
    # Integers that share a column with missing values arrive as floats; both
    # spellings are the same category.
    if isinstance(cell, Integral):
        return int(cell)
    number = float(cell)
    if np.isinf(number):
        raise ValueError(_infinity_message(name))
    return int(number) if number.is_integer() else number


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    # A view, so that the user's own array stays writeable.
    array = array.view()
    array.flags.writeable = False
    return array


def _infinity_message(name: str) -> str:
    return (
        f"Column {name!r} contains infinity, but numbers must be finite. "
        "Replace it by a finite value or by NaN (missing)."
    )


def _dtype_message(name: str, dtype: object) -> str:
    return (
        f"Column {name!r} must hold numbers, booleans or strings. Got dtype {dtype}. "
        "Convert it to numbers (a date, for example, to days since a fixed date), "
        "or leave the column out."
    )
