"""Column access to tables of any library, and data frames for results.

`as_table` wraps NumPy arrays, lists of rows and every eager DataFrame that narwhals supports in a
`Table`, which extracts its columns one by one. `make_frame` makes a data frame with the library
that is installed.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats, Indices
from laconic._util.words import MAX_NAMES_SHOWN, listed, listed_names, nearest
from laconic.tables.columns import LARGEST_EXACT, Column, NumericColumn, date_part, with_dates
from laconic.tables.sparse import SparseCells, StoredCells, is_sparse
from laconic.tables.times import DATE_PARTS
from laconic.tables.to_columns import (
    CELL_KINDS,
    NUMBER_KINDS,
    array_column,
    pandas_column,
    series_column,
)

FrameBackend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
FRAME_BACKENDS: tuple[FrameBackend, ...] = get_args(FrameBackend)

Converter: TypeAlias = Callable[[Column], Column]

# Small tables of numbers are read as one array: that may copy them, but is faster than extracting
# single columns from pandas.
MAX_CELLS_AT_ONCE = 1_000_000


class Table:
    """Named columns, each extracted at first use. Made by `as_table`.

    ``extract(position, name)`` returns a column. ``extract_block(position, name, rows)`` returns
    that of a slice of the rows, where this takes no more than its share of the whole column. A
    table is not named if its names only number the columns. `backend` is the library of the data
    frame that it was made from, None for arrays. `cells` are those of a sparse matrix, and `array`
    is one of float64 that holds all columns. `only_row` has the cells of a table of one row, where
    they are read faster than columns.

    Attributes
    ----------
    has_text_names : bool
        Whether it is a data frame of pandas or polars all labels of which are texts.
    has_records : bool
        Whether it was made of rows that are dictionaries, so that its columns have no order.
    """

    def __init__(
        self,
        feature_names: Sequence[str],
        n_rows: int,
        extract: Callable[[int, str], Column],
        *,
        is_named: bool = True,
        extract_block: Callable[[int, str, slice], Column] | None = None,
        backend: FrameBackend | None = None,
        cells: SparseCells | None = None,
        only_row: Sequence[Any] | None = None,
        array: Floats | None = None,
    ) -> None:
        self.feature_names = tuple(feature_names)
        self.n_rows = n_rows
        self.is_named = is_named
        self.has_text_names = False
        self.has_records = False
        self.backend = backend
        self.cells = cells
        self.array = array
        self._extract = extract
        self._extract_block = extract_block
        self._only_row = only_row
        self._positions = {name: position for position, name in enumerate(self.feature_names)}
        self._columns: dict[str, Column] = {}
        self._converters: dict[str, tuple[Converter, ...]] = {}

    def column(self, name: str) -> Column:
        """Return a column by name, extracted at the first call and the same object afterwards.

        It may also be a part of the dates of a column, such as "weekday of booked".
        """
        if name not in self._columns:
            whole = whole_date(name, self._positions)
            if whole is not None:
                self._columns[name] = date_part(name, self.column(whole[1]), whole[0])
            else:
                column = self._extract(self._position(name), name)
                self._columns[name] = self._converted(column)
        return self._columns[name]

    def row(self, names: Sequence[str]) -> list[Any] | None:
        """Return some cells of the only row, as they are; None if they have to be converted."""
        row, positions = self._only_row, self._positions
        if row is None or not all(name in positions for name in names):
            return None
        return [row[positions[name]] for name in names]

    def _converted(self, column: Column) -> Column:
        for convert in self._converters.get(column.name, ()):
            column = convert(column)
        return column

    def converted(self, converters: Mapping[str, Converter]) -> Table:
        """Return a table in which the columns of these names are converted."""
        if not converters:
            return self
        table, known = copy.copy(self), self._converters
        table._columns = {}
        table._only_row = None
        table._converters = known | {
            name: (*known.get(name, ()), convert) for name, convert in converters.items()
        }
        return table

    def reading_dates(self, names: Collection[str]) -> Table:
        """Return a table in which texts of the named columns are dates, if written like dates."""
        return self.converted(dict.fromkeys(names, with_dates))

    def block(self, name: str, rows: slice) -> Column:
        """Return some rows of a column.

        Arrays are read for these rows only, which is faster than column by column when a block of
        rows fits into the cache of the processor.
        """
        is_part = name not in self._positions
        if self._extract_block is None or name in self._columns or is_part:
            return self.column(name).take(rows)
        return self._converted(self._extract_block(self._position(name), name, rows))

    def pop_column(self, name: str) -> Column:
        """Return a column and do not keep it."""
        column = self.column(name)
        del self._columns[name]
        return column

    def numbers(self, name: str) -> Floats:
        """Return the numbers of a column, without a copy where an array holds them."""
        if self.array is None or name not in self._positions:
            column = self.column(name)
            assert isinstance(column, NumericColumn)
            return column.values
        return self.array[:, self._positions[name]]

    def stored_cells(self, name: str) -> StoredCells | None:
        """Return the cells of a column that are not zero, for a sparse matrix; else None."""
        return None if self.cells is None else self.cells.stored(self._position(name))

    def _position(self, name: str) -> int:
        if name not in self._positions:
            raise ValueError(unknown_column_message(name, self.feature_names))
        return self._positions[name]

    def rename(self, feature_names: Sequence[str]) -> Table:
        """Return a table with the same data and other column names."""
        feature_names = _checked_names(feature_names, len(self.feature_names))
        return Table(
            feature_names,
            self.n_rows,
            self._extract,
            extract_block=self._extract_block,
            backend=self.backend,
            cells=self.cells,
            only_row=self._only_row,
            array=self.array,
        )


def as_table(X: Any, feature_names: Sequence[str] | None = None) -> Table:
    """Wrap a table of any supported kind.

    That is a pandas, polars or other DataFrame that narwhals supports, a pyarrow table, a NumPy
    array, a sparse matrix of SciPy, a list of rows, or a list of dictionaries. A `Table` passes
    through. The feature names are for a table without any: an array, a list of rows or a DataFrame
    with the columns 0, 1, ...; its columns are named x0, x1, ... otherwise. A table with names
    keeps them.

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
    # These first: the other checks take longer than a small table.
    elif _is_pandas(X) or _is_polars(X):
        table = _wrap_frame(X)
    elif is_sparse(X):
        table = _wrap_sparse(X)
    elif nw.dependencies.is_into_dataframe(X):
        table = _wrap_frame(X)
    elif isinstance(X, Sequence) and len(X) > 0 and isinstance(X[0], Mapping):
        table = _wrap_records(X)
    else:
        table = _wrap_array(X)
    if feature_names is None or table.is_named or table.feature_names == tuple(feature_names):
        return table
    return table.rename(feature_names)


def whole_date(name: str, columns: Collection[str]) -> tuple[str, str] | None:
    """Split the name of a part of dates, unless there is a column of that name.

    Examples
    --------
    >>> whole_date("weekday of booked", ["booked"])
    ('weekday', 'booked')
    """
    part, _, column = name.partition(" of ")
    is_part = name not in columns and part in DATE_PARTS and column in columns
    return (part, column) if is_part else None


def whole_column(name: str, columns: Collection[str]) -> str:
    """Return the column that a condition uses, which may compare a part of its dates.

    Examples
    --------
    >>> whole_column("weekday of booked", ["booked"]), whole_column("booked", ["booked"])
    ('booked', 'booked')
    """
    part = whole_date(name, columns)
    return name if part is None else part[1]


def take_rows(X: Any, rows: Indices) -> Any:
    """Choose rows of a table by their positions; the result is of the same kind.

    Examples
    --------
    >>> take_rows([[35, "x"], [None, "o"], [20, "x"]], np.array([2, 0]))
    [[20, 'x'], [35, 'x']]
    """
    if is_sparse(X):
        return X.tocsr()[rows]
    table = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(table, nw.DataFrame):
        return table[rows].to_native()
    return np.asarray(X)[rows] if hasattr(X, "dtype") else [X[row] for row in rows]


def _wrap_frame(X: Any) -> Table:
    is_usual = _is_pandas(X) or _is_polars(X)
    X = X if is_usual else nw.to_native(X, pass_through=True)
    # Read the names before narwhals does, for our own message about duplicates.
    is_pandas = _is_pandas(X)
    is_arrow = nw.dependencies.is_pyarrow_table(X)
    labels = X.columns.tolist() if is_pandas else list(X.column_names if is_arrow else X.columns)
    is_named = labels != list(range(len(labels)))
    names = [str(label) for label in labels] if is_named else _numbered_names(len(labels))
    names = _checked_names(names, len(labels))
    if not is_usual or len(X) != 1:
        table = _wrap_columns(X, names, labels, is_named=is_named)
    else:
        # All this may take longer than reading the cells, and is needed for some rows only.
        wrap = cache(partial(_wrap_columns, X, names, labels, is_named=is_named))
        table = Table(
            names,
            1,
            lambda position, name: wrap()._extract(position, name),
            is_named=is_named,
            backend="pandas" if is_pandas else "polars",
            only_row=_frame_row(X, is_pandas=is_pandas),
        )
    table.has_text_names = is_usual and all(type(label) is str for label in labels)
    return table


def _frame_row(X: Any, *, is_pandas: bool) -> list[Any] | None:
    """Return the cells of the only row; None if there is one that Python does not have."""
    errors: tuple[type[BaseException], ...] = (Exception,)
    if not is_pandas:
        errors = (Exception, nw.dependencies.get_polars().exceptions.PanicException)
    try:
        return X.to_numpy(dtype=object)[0].tolist() if is_pandas else _polars_row(X)
    except errors:
        return None  # such as dates beyond the year 9999


def _polars_row(X: Any) -> list[Any]:
    """Return the cells of the only row, with types in the place of cells that lose something.

    Those are nulls of types that are not supported, and times in nanoseconds.
    """
    polars = nw.dependencies.get_polars()
    texts = (polars.String, polars.Categorical, polars.Enum)
    known = (*texts, polars.Boolean, polars.Date, polars.Datetime, polars.Null)
    row = [*X.row(0)]
    if not {type(None), datetime}.isdisjoint(map(type, row)):
        for position, dtype in enumerate(X.dtypes):
            is_known = row[position] is not None or dtype.is_numeric() or dtype in known
            if not is_known or dtype == polars.Datetime("ns"):
                row[position] = dtype
    return row


def _wrap_columns(X: Any, names: Sequence[str], labels: Sequence[Any], *, is_named: bool) -> Table:
    is_pandas = _is_pandas(X)
    # Without narwhals, which takes ten times as long for short columns of numbers.
    if is_pandas and X.size <= MAX_CELLS_AT_ONCE and all(map(_is_number_type, X.dtypes.tolist())):
        numbers = X.to_numpy(np.float64)
        # Otherwise column by column, to detect whole numbers that are rounded.
        if not (np.abs(numbers) > LARGEST_EXACT).any():
            return _array_table(names, numbers, is_named=is_named, backend="pandas")
    frame = X if is_pandas else nw.from_native(X, eager_only=True)

    def extract(position: int, name: str) -> Column:
        if is_pandas:
            return pandas_column(name, X[labels[position]])
        return series_column(name, frame.get_column(labels[position]))

    library = "pandas" if is_pandas else str(frame.implementation)
    backend = next((each for each in FRAME_BACKENDS if each == library), None)
    return Table(names, frame.shape[0], extract, is_named=is_named, backend=backend)


def _is_pandas(X: Any) -> bool:
    # None unless the caller has imported it.
    pandas = nw.dependencies.get_pandas()
    return pandas is not None and isinstance(X, pandas.DataFrame)


def _is_polars(X: Any) -> bool:
    polars = nw.dependencies.get_polars()
    return polars is not None and isinstance(X, polars.DataFrame)


def _is_number_type(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "fiu"


def _wrap_sparse(X: Any) -> Table:
    cells = SparseCells(X)
    names = _numbered_names(cells.n_features)
    return Table(names, cells.n_rows, cells.column, is_named=False, cells=cells)


def _wrap_array(X: Any) -> Table:
    array = _as_array(X)
    return _array_table(_numbered_names(array.shape[1]), array, is_named=False)


def _wrap_records(rows: Sequence[Mapping[Any, Any]]) -> Table:
    """Wrap rows that are dictionaries, all with the same keys."""
    keys = [*rows[0]]
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping) or row.keys() != rows[0].keys():
            raise ValueError(
                "All rows of X must be dictionaries with the same keys. Those of row "
                f"{number} differ from those of row 0. Fill gaps with None (missing)."
            )
    cells = np.fromiter((row[key] for row in rows for key in keys), dtype=object)
    names = _checked_names([*map(str, keys)], len(keys))
    table = _array_table(names, cells.reshape(len(rows), len(keys)), is_named=True)
    table.has_records = True
    return table


def _array_table(
    names: Sequence[str],
    array: NDArray[Any],
    *,
    is_named: bool,
    backend: FrameBackend | None = None,
) -> Table:
    def extract_block(position: int, name: str, rows: slice) -> Column:
        return array_column(name, array[rows, position])

    def extract(position: int, name: str) -> Column:
        return extract_block(position, name, slice(None))

    return Table(
        names,
        len(array),
        extract,
        is_named=is_named,
        only_row=array[0].tolist() if len(array) == 1 and array.dtype.kind in CELL_KINDS else None,
        # The kind of values in a column of objects or texts depends on all rows.
        extract_block=extract_block if array.dtype.kind in NUMBER_KINDS else None,
        backend=backend,
        array=array if array.dtype == np.float64 else None,
    )


def _as_array(X: Any) -> NDArray[Any]:
    if isinstance(X, Sequence) and not isinstance(X, str):
        # A list of rows may hold another kind of value in every column, so no
        # common dtype can hold them all unchanged.
        array = np.array(X, dtype=object)
    elif isinstance(X, np.ma.MaskedArray):
        array = _filled(X)
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


def _filled(X: Any) -> NDArray[Any]:
    """Convert masked cells to missing ones."""
    cells = np.asarray(X)
    if not np.ma.is_masked(X):
        return cells
    missing: Any = np.nan if cells.dtype.kind in NUMBER_KINDS else None
    return np.where(np.ma.getmaskarray(X), missing, cells)


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
            f"{len(names)} feature names ({listed_names(names)}). Pass the same columns in "
            "the same order, or a DataFrame with named columns."
        )
    if len({*names}) < len(names):
        duplicates = [name for name, count in Counter(names).items() if count > 1]
        raise ValueError(
            f"Column names must be unique. Got {listed_names(duplicates)} more than once. "
            "Rename or drop these columns."
        )
    return names


def unknown_column_message(name: str, feature_names: Sequence[str]) -> str:
    """Return the message for a column that does not exist, with the names of all columns."""
    close = nearest(name, feature_names)
    hint = "" if close is None else f" Did you mean {close!r}?"
    return f"The table has no column {name!r}.{hint} Available: {listed_names(feature_names)}."


def selection_advice(table: Table, names: Sequence[str]) -> str:
    """Return how to choose the columns that a model was fitted to, or which ones are missing."""
    missing = [name for name in names if name not in table.feature_names]
    if not missing:
        if table.has_records:
            extra = [name for name in table.feature_names if name not in names]
            return f"Remove {listed_names(extra)} from the rows."
        choice = "X[{}]" if table.backend == "pandas" else "X.select({})"
        return f"Pass {choice.format('model.feature_names_in_')} to choose the columns of the fit."
    unknown = [name for name in table.feature_names if name not in names]
    pairs = [(name, nearest(name, unknown)) for name in missing]
    hints = [f"{close!r} to {name!r}" for name, close in pairs if close is not None]
    advice = f" Perhaps rename {listed(hints, MAX_NAMES_SHOWN)}." if hints else ""
    return f"Add {listed_names(missing)} to the table.{advice}"


def make_frame(
    columns: Mapping[str, Any],
    schema: Mapping[str, Any] | None = None,
    backend: FrameBackend | None = None,
) -> Any:
    """Make a data frame of the cells of each column.

    Without a `schema` of narwhals, types are inferred from the cells. Without a `backend`, the
    first library is used that is installed.
    """
    return nw.from_dict(columns, schema, backend=_checked_backend(backend)).to_native()


def _checked_backend(backend: FrameBackend | None) -> FrameBackend:
    """Return the library of a new frame: the given one, or the first that is installed."""
    if backend is None:
        installed = [name for name in FRAME_BACKENDS if find_spec(name) is not None]
        if not installed:
            raise ImportError(
                "A DataFrame needs one of pandas, polars or pyarrow. None is installed. "
                "Install one of them, for example with 'pip install pandas'."
            )
        return installed[0]
    if backend not in FRAME_BACKENDS:
        allowed = ", ".join(map(repr, FRAME_BACKENDS))
        raise ValueError(
            f"The 'backend' parameter must be None or one of {allowed}. Got {backend!r} instead."
        )
    return backend
