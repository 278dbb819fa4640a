"""Texts of data frames of any library, read like those of files."""

from __future__ import annotations

import math
from collections.abc import Collection
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import narwhals as nw

from laconic.tables.columns import TYPES_WITH_NAN, is_present
from laconic.tables.tables import as_table
from laconic.tables.text_files.formats import FileCells

if TYPE_CHECKING:
    import polars as pl


def frame_cells(X: Any, numeric: Collection[str] = (), dates: Collection[str] = ()) -> FileCells:
    """Return the columns of text of a data frame, and the named ones, as texts.

    Columns of numbers that are `numeric`, and of times that are `dates`, are left out.
    """
    import polars as pl

    if not nw.dependencies.is_into_dataframe(X):
        raise TypeError(
            "The table must be the path of a file or a DataFrame in memory. Got "
            f"{type(X).__name__} instead. Convert it, for example with pandas.DataFrame(array), "
            "series.to_frame() or lazy_frame.collect()."
        )
    names = as_table(X).feature_names
    frame = nw.from_native(X, eager_only=True)
    found = {}
    for name, series in zip(names, frame.iter_columns(), strict=True):
        is_asked = name in dates or (name in numeric and not series.dtype.is_numeric())
        if is_asked or series.dtype == nw.String:
            cells = [cell if is_present(cell) else None for cell in series.to_list()]
            are_texts = all(cell is None or isinstance(cell, str) for cell in cells)
            if series.dtype.is_temporal() or not (is_asked or are_texts):
                continue
            texts = [None if cell is None else _text(cell) for cell in cells]
            found[name] = pl.Series(name, texts, dtype=pl.String)
    return FileCells(pl.DataFrame(found), "frame")


def _text(cell: Any) -> str:
    """Write a cell, and fractions such that any decimal sign may be used: 0.5 as 5e-1."""
    if not isinstance(cell, TYPES_WITH_NAN) or not math.isfinite(cell):
        return str(cell)
    if cell == int(cell):
        return str(int(cell))
    sign, digits, exponent = Decimal(repr(float(cell))).as_tuple()
    return f"{'-' * sign}{''.join(map(str, digits))}e{exponent}"


def with_cells(X: Any, cells: pl.DataFrame, typed: pl.DataFrame) -> Any:
    """Return a data frame with columns replaced whose `cells` have been changed."""
    import polars as pl

    frame = nw.from_native(X, eager_only=True)
    read = [values for values in typed if not values.equals(cells[values.name])]
    if frame.implementation.is_polars():
        return frame.to_native().with_columns(read)
    if frame.implementation.is_pyarrow():
        table = frame.to_native()
        for values in read:
            position = table.column_names.index(values.name)
            table = table.set_column(position, values.name, values.to_arrow())
        return table
    native = frame.to_native().copy()
    labels = dict(zip(as_table(X).feature_names, native.columns, strict=True))
    for values in read:
        label = labels[values.name]
        is_kept = values.dtype == pl.Categorical
        native[label] = native[label].astype("category") if is_kept else _array(values)
    return native


def _array(values: pl.Series) -> Any:
    """Return a column as pandas takes it: dates as datetimes, missing booleans as None."""
    import polars as pl

    if values.dtype == pl.Date:
        values = values.cast(pl.Datetime("us"))
    if values.dtype == pl.String or (values.dtype == pl.Boolean and values.has_nulls()):
        return values.to_list()
    return values.to_numpy()
