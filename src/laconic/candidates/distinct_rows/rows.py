"""Rows that no rule can tell apart as one row, with sums.

`reduce_partition` reduces a part of a table, and `ReducedRows.merge` puts two parts together, in
any order: sums are exact, and rows are sorted by what they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from laconic._core import ExtentsBuilder
from laconic._util.types import Floats, Integers
from laconic.candidates.candidates import CandidateConditions
from laconic.candidates.distinct_rows.bins import CHANGED, TableCells
from laconic.candidates.distinct_rows.column_roles import CountedRows, Roles
from laconic.candidates.distinct_rows.exact_sums import Units, added_up
from laconic.candidates.distinct_rows.summary import keys_of, numbers_of
from laconic.tables.columns import Category, Column, FeatureKind
from laconic.tables.tables import Table, as_table
from laconic.terms.conditions import Condition


@dataclass(frozen=True)
class Plan:
    """How rows are reduced: the same for all parts of a table."""

    roles: Roles
    cells: TableCells
    labels: tuple[Category, ...] = ()
    """The classes, ascending, where these are kept."""
    target_units: Units | None = None
    """What sums of targets are counted in, where means are kept."""


@dataclass(frozen=True, eq=False)
class ReducedRows:
    """Rows that differ in their cells, or in what is kept of their targets besides."""

    plan: Plan
    keys: Integers
    """Cells, and classes or targets: whole numbers, one row each, ascending."""
    amounts: Integers
    """Weights, and sums of targets: whole numbers that add up."""
    n_rows: int
    """How many rows there were."""

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def n_bytes(self) -> int:
        """Memory that the rows take."""
        return self.keys.nbytes + self.amounts.nbytes

    def merge(self, other: ReducedRows) -> ReducedRows:
        """Put two parts together."""
        return merge_rows([self, other])

    def table(self) -> Table:
        """Make a table with one row for each, of values that are in its cells."""
        features = self.plan.cells.features

        def extract(position: int, name: str) -> Column:
            return features[position].column(self.codes(position))

        return Table([feature.name for feature in features], len(self), extract)

    def codes(self, position: int) -> NDArray[np.integer]:
        """Tell the cell that each row is in, for one of the features."""
        return self.plan.cells.codes(self.keys, position)

    def weights(self) -> Floats:
        """Tell what each row counts."""
        roles = self.plan.roles
        return roles.total_weight(self.amounts[:, : roles.n_weight_amounts])

    def target(self) -> NDArray[Any]:
        """Target of each row: position of its class in the labels of the plan, or a number."""
        roles, cells = self.plan.roles, self.plan.cells
        if roles.kept == "classes":
            return cells.codes(self.keys, len(cells.features)).astype(np.intp)
        if self.plan.target_units is None:
            return numbers_of(np.ascontiguousarray(self.keys[:, -1]))
        sums = self.plan.target_units.total(self.amounts[:, roles.n_weight_amounts :])
        return np.asarray(sums / self.weights(), dtype=np.float64)

    def candidates(
        self, conditions: Iterable[Condition], kinds: dict[str, FeatureKind]
    ) -> CandidateConditions:
        """Find the rows that conditions cover: those whose cells do."""
        conditions = tuple(conditions)
        features = self.plan.cells.features
        position_of = {feature.name: position for position, feature in enumerate(features)}
        builder = ExtentsBuilder(len(self))
        last, codes = None, self.codes(0)
        for condition in conditions:
            position = position_of[condition.feature]
            if position != last:
                last, codes = position, self.codes(position)
            builder.add(condition.covered_in(features[position].each)[codes])
        return CandidateConditions(conditions, builder.build(), kinds)


def reduce_partition(part: Any, plan: Plan) -> ReducedRows:
    """Reduce a part of a table, a frame with all columns that have a role."""
    table, roles = as_table(part), plan.roles
    rows = roles.counted(table)
    codes = _codes(table, rows, plan)
    keys = plan.cells.keys(codes, rows.n_rows)
    amounts = [roles.weight_amounts(rows.weights, rows.n_rows)]
    if roles.kept != "classes":
        numbers = roles.numbers(table, rows)
        if plan.target_units is None:
            keys = np.hstack([keys, keys_of(numbers)[:, None]])
        else:
            weighted = numbers if rows.weights is None else numbers * rows.weights
            amounts.append(plan.target_units.count(weighted))
    return ReducedRows(plan, *added_up(keys, np.hstack(amounts)), table.n_rows)


def _codes(table: Table, rows: CountedRows, plan: Plan) -> Iterator[NDArray[Any] | None]:
    """Cells of each feature, one after the other, and then the classes if these are kept."""
    for feature in plan.cells.features:
        if not feature.is_used:
            yield None
            continue
        column = table.pop_column(feature.name)
        yield feature.codes(column if rows.is_counted is None else column.take(rows.is_counted))
    if plan.roles.kept != "classes":
        yield None
        return
    labels, numbers = plan.roles.labels(table, rows)
    code_of = {label: code for code, label in enumerate(plan.labels)}
    codes = np.array([code_of.get(label, -1) for label in labels], dtype=np.int64)[numbers]
    if (codes < 0).any():
        raise ValueError(CHANGED.format(plan.roles.target))
    yield codes


def merge_rows(parts: Iterable[ReducedRows]) -> ReducedRows:
    """Put any number of parts together at once."""
    parts = list(parts)
    keys = np.concatenate([part.keys for part in parts])
    amounts = np.concatenate([part.amounts for part in parts])
    n_rows = sum(part.n_rows for part in parts)
    return ReducedRows(parts[0].plan, *added_up(keys, amounts), n_rows)


class Collector:
    """Puts parts together as they come, seldom enough to take time in proportion to their rows."""

    def __init__(self) -> None:
        self._parts: list[ReducedRows] = []

    def add(self, part: ReducedRows) -> Self:
        """Take a part."""
        self._parts.append(part)
        # Parts of about the same size are merged, as in a sort by merging.
        while len(self._parts) > 1 and len(self._parts[-2]) <= 2 * len(self._parts[-1]):
            last, before = self._parts.pop(), self._parts.pop()
            self._parts.append(before.merge(last))
        return self

    def __len__(self) -> int:
        # Before all parts are put together, some rows of two of them may be the same.
        return sum(map(len, self._parts))

    def total(self) -> ReducedRows:
        """All parts as one."""
        if len(self._parts) > 1:
            self._parts = [merge_rows(self._parts)]
        return self._parts[0]
