"""Data frames of Dask: each part is looked at where it is, and what was seen merged there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

from laconic._optional import import_extra
from laconic.data.sources import ROWS_PER_PART, TableSource

# What was seen of so many parts is merged at a time.
FAN_IN = 4

Seen = tuple[int, Any]
"""A number of rows, and what was seen in them."""


class DaskSource(TableSource):
    """A data frame of Dask, read by the scheduler in use: that of a cluster, or threads."""

    def __init__(self, frame: Any, rows_per_part: int = ROWS_PER_PART) -> None:
        self.frame = frame  # its parts have the size that they have

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return tuple(map(str, self.frame.columns))

    def is_integer(self, column: str) -> bool:
        """Tell whether the type of a column is that of whole numbers."""
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
        """Look at all parts where they are, and merge what was seen, a few at a time."""
        dask = import_extra("dask", "dask", "Reading a data frame of Dask")
        # Sent once each, and not with every part.
        look, merge = dask.delayed(look), dask.delayed(merge)
        look_at, merge_all = dask.delayed(_look_at), dask.delayed(_merge_all)
        seen = [look_at(look, part) for part in self.frame[list(columns)].to_delayed()]
        while len(seen) > 1:
            groups = (seen[first : first + FAN_IN] for first in range(0, len(seen), FAN_IN))
            seen = [merge_all(merge, group) for group in groups]
        yield from dask.compute(*seen)

    def joined(self, column: Any, role: str) -> tuple[TableSource, Any]:
        """Take in a series of Dask as a further column; its name takes its place."""
        if type(column).__name__ != "Series" or not hasattr(column, "dask"):
            return self, column
        name = role if column.name is None else str(column.name)
        if name in self.column_names:
            name = f"{name} ({role})"
        return DaskSource(self.frame.assign(**{name: column})), name


def _look_at(look: Callable[[Any], Any], part: Any) -> Seen:
    return len(part), look(part)


def _merge_all(merge: Callable[[Any, Any], Any], seen: Sequence[Seen]) -> Seen:
    return reduce(lambda one, other: (one[0] + other[0], merge(one[1], other[1])), seen)
