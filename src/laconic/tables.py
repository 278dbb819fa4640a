"""Column access to whatever table a user brings.

`as_table` wraps NumPy arrays, lists of rows and every eager DataFrame that
narwhals supports in a `Table`. A `Table` hands out its columns one by one, each
either a `NumericColumn` or a `CategoricalColumn`, with missing values marked in
one way whatever marked them before: None, NaN, null or NA.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from itertools import compress
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeAlias, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CategoricalColumn",
    "Category",
    "Column",
    "NumericColumn",
    "Table",
    "as_table",
    "is_present",
]

Category: TypeAlias = str | bool | int | float
Kind: TypeAlias = Literal["text", "boolean", "number"]
Rows: TypeAlias = slice | NDArray[np.bool_]

# Of a NumPy dtype: floating point, signed and unsigned integers, booleans.
NUMBER_KINDS = "fiub"
# Names of the dtypes that pandas has for text alone.
PANDAS_TEXT = ("str", "string")
TYPES_WITH_NAN = (float, np.floating, Decimal)
# Small tables of numbers are read as one array: that may copy them, but pandas takes longer to hand
# out a single column.
MAX_CELLS_AT_ONCE = 1_000_000

# Enough names to recognise a table by, few enough to read in a traceback.
MAX_NAMES_SHOWN = 10


@dataclass(frozen=True, slots=True, eq=False)
class NumericColumn:
    """Column of numbers.

    Parameters
    ----------
    name : str
        Name of the feature.
    values : ndarray of shape (n_rows,), dtype float64
        The numbers, NaN where missing.
    """

    is_numeric: ClassVar[bool] = True
    is_text: ClassVar[bool] = False

    name: str
    values: NDArray[np.float64]

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of shape (n_rows,) of the rows without a value."""
        return np.isnan(self.values)

    def take(self, rows: Rows) -> NumericColumn:
        """Column of some of the rows."""
        return NumericColumn(self.name, self.values[rows])


@dataclass(frozen=True, slots=True, eq=False)
class CategoricalColumn:
    """Column of strings or booleans, or of numbers declared to be categories.

    Parameters
    ----------
    name : str
        Name of the feature.
    codes : ndarray of shape (n_rows,), dtype int32
        Position of each row's value in `categories`, -1 where missing.
    categories : tuple of str, bool, int or float
        The distinct values, ascending. Booleans always have (False, True), other
        columns the values that occur.
    """

    is_numeric: ClassVar[bool] = False

    name: str
    codes: NDArray[np.int32]
    categories: tuple[Category, ...]

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


Column: TypeAlias = NumericColumn | CategoricalColumn


class Table:
    """Named columns, each extracted when first asked for. Made by `as_table`.

    Parameters
    ----------
    feature_names : sequence of str
        Unique names of the columns, in order.
    n_rows : int
        Number of rows.
    extract : callable
        ``extract(position, name)`` returns the column at a position.
    is_named : bool, default=True
        Whether the names came with the table or from the caller; otherwise they
        only number the columns.
    extract_block : callable or None, default=None
        ``extract_block(position, name, rows)`` returns the column of a slice of
        the rows, where that takes no more than its share of the whole column.
    """

    def __init__(
        self,
        feature_names: Sequence[str],
        n_rows: int,
        extract: Callable[[int, str], Column],
        *,
        is_named: bool = True,
        extract_block: Callable[[int, str, slice], Column] | None = None,
    ) -> None:
        self.feature_names = tuple(feature_names)
        self.n_rows = n_rows
        self.is_named = is_named
        self._extract = extract
        self._extract_block = extract_block
        self._positions = {name: position for position, name in enumerate(self.feature_names)}
        self._columns: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """Column of the given name.

        Parameters
        ----------
        name : str
            One of `feature_names`.

        Returns
        -------
        column : NumericColumn or CategoricalColumn
            Extracted at the first call, the same object afterwards.
        """
        if name not in self._columns:
            self._columns[name] = self._extract(self._position(name), name)
        return self._columns[name]

    def block(self, name: str, rows: slice) -> Column:
        """Column of the given name, for some of the rows.

        Parameters
        ----------
        name : str
            One of `feature_names`.
        rows : slice
            Which rows.

        Returns
        -------
        column : NumericColumn or CategoricalColumn
            Arrays are read for these rows only, which is faster than column by column
            when a block of rows fits into the cache of the processor.
        """
        if self._extract_block is None or name in self._columns:
            return self.column(name).take(rows)
        return self._extract_block(self._position(name), name, rows)

    def pop_column(self, name: str) -> Column:
        """Column of the given name, of which the table keeps nothing.

        Parameters
        ----------
        name : str
            One of `feature_names`.

        Returns
        -------
        column : NumericColumn or CategoricalColumn
            Extracted anew if it is asked for again.
        """
        column = self.column(name)
        del self._columns[name]
        return column

    def _position(self, name: str) -> int:
        if name not in self._positions:
            raise ValueError(_unknown_column_message(name, self.feature_names))
        return self._positions[name]

    def rename(self, feature_names: Sequence[str]) -> Table:
        """Table with the same data and other column names.

        Parameters
        ----------
        feature_names : sequence of str
            Unique names, one per column.

        Returns
        -------
        table : Table
            A new table, which extracts its columns anew.
        """
        feature_names = _checked_names(feature_names, len(self.feature_names))
        return Table(feature_names, self.n_rows, self._extract, extract_block=self._extract_block)


def as_table(X: Any, feature_names: Sequence[str] | None = None) -> Table:
    """Wrap a table of any supported kind.

    Parameters
    ----------
    X : Table, array-like of shape (n_rows, n_features) or eager DataFrame
        A pandas, polars or other DataFrame that narwhals supports, a pyarrow
        table, a NumPy array, or a list of rows. A `Table` passes through.
    feature_names : sequence of str, default=None
        Names for the columns of a table that has none: an array, a list of rows
        or a DataFrame with the columns 0, 1, ... The default is x0, x1, ...
        A table with names keeps them.

    Returns
    -------
    table : Table
        Access to the columns.

    Notes
    -----
    Numbers become float64, so integers beyond 2**53 are rounded.

    Examples
    --------
    >>> table = as_table([[35, "x"], [None, "o"], [20, "x"], [28, None]], ["age", "mark"])
    >>> table.n_rows, table.feature_names
    (4, ('age', 'mark'))
    >>> table.column("age").values
    array([35., nan, 20., 28.])
    >>> table.column("mark").codes, table.column("mark").categories
    (array([ 1,  0,  1, -1], dtype=int32), ('o', 'x'))
    """
    if isinstance(X, Table):
        table = X
    elif isinstance(X, np.ndarray):
        table = _wrap_array(X)
    # pandas first: the general question takes longer than a small table.
    elif _is_pandas(X) or nw.dependencies.is_into_dataframe(X):
        table = _wrap_frame(X)
    else:
        table = _wrap_array(X)
    if feature_names is None or table.is_named or table.feature_names == tuple(feature_names):
        return table
    return table.rename(feature_names)


def _wrap_frame(X: Any) -> Table:
    X = nw.to_native(X, pass_through=True)
    # Read the names before narwhals does: it refuses duplicates in its own words.
    is_pandas = _is_pandas(X)
    is_arrow = nw.dependencies.is_pyarrow_table(X)
    labels = X.columns.tolist() if is_pandas else list(X.column_names if is_arrow else X.columns)
    is_named = labels != list(range(len(labels)))
    names = [str(label) for label in labels] if is_named else _numbered_names(len(labels))
    names = _checked_names(names, len(labels))
    # By itself: narwhals takes ten times as long as a short column of numbers needs.
    if is_pandas and X.size <= MAX_CELLS_AT_ONCE and all(map(_is_number_type, X.dtypes.tolist())):
        return _array_table(names, X.to_numpy(np.float64), is_named=is_named)
    frame = X if is_pandas else nw.from_native(X, eager_only=True)

    def extract(position: int, name: str) -> Column:
        if is_pandas:
            return _pandas_column(name, X[labels[position]])
        return _series_column(name, frame[:, position])

    return Table(names, frame.shape[0], extract, is_named=is_named)


def _is_pandas(X: Any) -> bool:
    # None unless the caller has imported it.
    pandas = nw.dependencies.get_pandas()
    return pandas is not None and isinstance(X, pandas.DataFrame)


def _is_number_type(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "fiu"


def _wrap_array(X: Any) -> Table:
    array = _as_array(X)
    return _array_table(_numbered_names(array.shape[1]), array, is_named=False)


def _array_table(names: Sequence[str], array: NDArray[Any], *, is_named: bool) -> Table:
    def extract_block(position: int, name: str, rows: slice) -> Column:
        return _array_column(name, array[rows, position])

    def extract(position: int, name: str) -> Column:
        return extract_block(position, name, slice(None))

    return Table(
        names,
        len(array),
        extract,
        is_named=is_named,
        # What kind of values a column of objects or texts holds, only the whole column says.
        extract_block=extract_block if array.dtype.kind in NUMBER_KINDS else None,
    )


def _as_array(X: Any) -> NDArray[Any]:
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError(
            "Sparse data was passed, but a dense table is required. "
            "Use '.toarray()' to convert it to a NumPy array."
        )
    if isinstance(X, Sequence) and not isinstance(X, str):
        # A list of rows may hold another kind of value in every column, so no
        # common dtype can hold them all unchanged.
        array = np.array(X, dtype=object)
    elif hasattr(X, "__array__"):
        array = np.asarray(X)
    else:
        raise TypeError(
            "X must be a 2D array, a list of rows or an eager DataFrame. "
            f"Got {type(X).__name__} instead. {_conversion_advice(X)}"
        )
    if np.iscomplexobj(array):
        raise ValueError(
            f"Complex data not supported: X must hold real numbers, but has dtype {array.dtype}. "
            "Pass real and imaginary parts as separate columns."
        )
    if array.ndim != 2:
        raise ValueError(_dimension_message(array, is_series=hasattr(X, "iloc")))
    return array


def _conversion_advice(X: Any) -> str:
    if isinstance(X, Mapping):
        return (
            "Make a DataFrame of it: pandas.DataFrame(X) if it holds columns, "
            "pandas.DataFrame([X]) if it is one row."
        )
    if hasattr(X, "collect"):
        return "Call '.collect()' on a lazy DataFrame."
    return "Convert it to one of these."


def _dimension_message(array: NDArray[Any], is_series: bool) -> str:
    if array.dtype == object and array.ndim == 1 and {list, tuple} & set(map(type, array.tolist())):
        return (
            "All rows of X must have the same length. "
            "Got rows of different lengths. Fill the gaps with None (missing)."
        )
    got = "scalar array" if array.ndim == 0 else f"{array.ndim}D array"
    advice = (
        "double brackets keep a part of a frame two-dimensional, frame.iloc[[0]] or frame[['age']]."
        if is_series
        else "array.reshape(-1, 1) makes one column, array.reshape(1, -1) one row."
    )
    return (
        f"Expected 2D array, got {got} instead (shape {array.shape}). Reshape your data "
        f"to one row per sample and one column per feature: {advice}"
    )


def _numbered_names(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{position}" for position in range(n_features))


def _checked_names(feature_names: Sequence[str], n_features: int) -> tuple[str, ...]:
    names = tuple(feature_names)
    if len(names) != n_features:
        raise ValueError(
            f"X must have one column per feature name. Got {n_features} columns for "
            f"{len(names)} feature names ({_listed(names)}). Pass the same columns in "
            "the same order, or a DataFrame with named columns."
        )
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        raise ValueError(
            f"Column names must be unique. Got {_listed(duplicates)} more than once. "
            "Rename or drop these columns."
        )
    return names


def _unknown_column_message(name: str, feature_names: Sequence[str]) -> str:
    close = get_close_matches(name, feature_names)
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    return f"The table has no column {name!r}.{hint} Available: {_listed(feature_names)}."


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:MAX_NAMES_SHOWN]))
    n_hidden = len(names) - MAX_NAMES_SHOWN
    if n_hidden > 0:
        shown += f" and {n_hidden} more"
    return shown or "none"


def _array_column(name: str, values: NDArray[Any]) -> Column:
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


def _pandas_column(name: str, series: Any) -> Column:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in NUMBER_KINDS:
        return _array_column(name, series.to_numpy())
    if series.dtype.name in PANDAS_TEXT:
        # Of the array: the series would make an index of the distinct values.
        codes, distinct = series.array.factorize()
        return _ranked(name, codes, [str.__str__(cell) for cell in distinct.tolist()])
    return _series_column(name, nw.from_native(series, series_only=True))


def _series_column(name: str, series: nw.Series[Any]) -> Column:
    dtype = series.dtype
    if dtype.is_numeric():
        return _numeric_column(name, _floats(series))
    if dtype == nw.Boolean:
        return _boolean_column(name, _floats(series))
    if dtype == nw.String:
        encoding = _dictionary_encoding(series)
        if encoding is None:
            return _text_column(name, series.to_list())
        return _recoded(name, *encoding, _text_column)
    if isinstance(dtype, nw.Categorical | nw.Enum):
        encoding = _dictionary_encoding(series)
        if encoding is None:
            return _category_column(name, series.to_list())
        return _recoded(name, *encoding, _category_column)
    if dtype in (nw.Object, nw.Unknown):
        return _array_column(name, series.to_numpy())
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
