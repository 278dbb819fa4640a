"""Data frames of Dask: parts are processed where they are, and results are merged there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from importlib import import_module
from typing import Any

from laconic._util.optional import import_extra
from laconic.tables.sources.sources import ROWS_PER_PART, TableSource

# Results of so many parts are merged at a time.
FAN_IN = 4

Seen = tuple[int, Any]
"""A number of rows, and the result for them."""


class DaskSource(TableSource):
    """A data frame of Dask, read by the scheduler in use: that of a cluster, or threads."""

    def __init__(self, frame: Any, rows_per_part: int = ROWS_PER_PART) -> None:
        self.frame = _with_objects(frame)  # its parts have sizes of their own
        self.column_names = tuple(map(str, self.frame.columns))

    def is_integer(self, column: str) -> bool:
        """Return whether a column has an integer type."""
        return self.frame.dtypes[column].kind in "iu"

    def parts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows in parts."""
        for part in self.frame[list(columns)].to_delayed():
            yield part.compute()

    def looks(
        self,
        columns: Sequence[str],
        look: Callable[[Any], Any],
        merge: Callable[[Any, Any], Any],
    ) -> Iterator[Seen]:
        """Apply a function to all parts where they are, and merge results, a few at a time."""
        dask = import_extra("dask", "dask", "Reading a data frame of Dask")
        # Sent only once, and not with every part.
        look, merge = dask.delayed(look), dask.delayed(merge)
        look_at, merge_all = dask.delayed(_look_at), dask.delayed(_merge_all)
        seen = [look_at(look, part) for part in self.frame[list(columns)].to_delayed()]
        while len(seen) > 1:
            groups = (seen[first : first + FAN_IN] for first in range(0, len(seen), FAN_IN))
            seen = [merge_all(merge, group) for group in groups]
        yield from dask.compute(*seen)

    def joined(self, column: Any, role: str) -> tuple[TableSource, Any]:
        """Add a series of Dask as a further column, and return its name."""
        if type(column).__name__ != "Series" or not hasattr(column, "dask"):
            return self, column
        name = role if column.name is None else str(column.name)
        if name in self.column_names:
            name = f"{name} ({role})"
        return DaskSource(self.frame.assign(**{name: _with_objects(column)})), name


def _with_objects(frame: Any) -> Any:
    """Undo the conversion of objects such as decimals to texts, or refuse such texts.

    Dask converts them when it takes a table of pandas. After operations on the texts, this can no
    longer be undone.
    """
    expression = chosen = frame.expr
    while type(chosen).__name__ == "Projection":
        chosen = chosen.frame
    if type(chosen).__name__ == "ArrowStringConversion":
        plain = chosen.frame
    elif _object_columns(chosen):
        plain = chosen.substitute_parameters({"pyarrow_strings_enabled": False})
    else:
        _refuse_made_texts(frame)
        return frame
    return type(frame)(expression.substitute(chosen, plain))


def _object_columns(expression: Any) -> dict[str, Any]:
    """Return the columns of a pandas table that Dask takes for texts, though they may be others."""
    if type(expression).__name__ != "FromPandas" or not expression.pyarrow_strings_enabled:
        return {}
    data = expression.frame
    columns = data.items() if data.ndim == 2 else [(data.name, data)]
    return {name: column for name, column in columns if column.dtype == object}


def _refuse_made_texts(frame: Any) -> None:
    kinds = import_module("pandas.api.types")
    dtypes = frame.dtypes if frame.ndim == 2 else {frame.name: frame.dtype}
    for expression in frame.expr.walk():
        for name, column in _object_columns(expression).items():
            is_text = kinds.infer_dtype(column) in ("string", "empty")
            if not is_text and name in dtypes and kinds.is_string_dtype(dtypes[name]):
                raise TypeError(
                    f"Column {name!r} must have its type of pandas. Dask has converted it to "
                    "texts. Set dask.config.set({'dataframe.convert-string': False}) before you "
                    "make the data frame."
                )


def _look_at(look: Callable[[Any], Any], part: Any) -> Seen:
    return len(part), look(part)


def _merge_all(merge: Callable[[Any, Any], Any], seen: Sequence[Seen]) -> Seen:
    return reduce(lambda one, other: (one[0] + other[0], merge(one[1], other[1])), seen)
