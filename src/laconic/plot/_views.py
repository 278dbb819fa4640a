"""A model seen along one or two of its features, exactly.

Between two thresholds nothing changes, so that a feature has a few *cells*: the intervals between
the thresholds of the rules, or the categories. A rule holds in some cells of each feature; if it
also has conditions on features that are not shown, it counts by the share of rows that fulfil them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from laconic.data.columns import CategoricalColumn, Column
from laconic.data.tables import Table
from laconic.data.times import MOMENTS, microseconds
from laconic.model.conditions import Query
from laconic.model.rules import RuleEnsemble

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Share of the range of a feature that is shown beyond its smallest and largest value.
MARGIN = 0.05
# Rows of one category are spread, always in the same way, so that they can be told apart.
SPREAD = 0.25


@dataclass(frozen=True, eq=False)
class FeatureCells:
    """The cells of a feature."""

    name: str
    edges: Floats
    """Where cells begin and end on an axis: one more than there are cells."""
    column: Column
    """A value from each cell."""
    positions: Floats
    """Where the rows are on the axis; NaN where the value is missing."""

    @property
    def categories(self) -> tuple[str, ...] | None:
        """Labels of the cells, if the feature is categorical."""
        if isinstance(self.column, CategoricalColumn):
            return tuple(map(str, self.column.categories))
        return None

    def holds(self, query: Query) -> Mask:
        """Tell in which cells the conditions of a query on this feature hold."""
        holds = np.ones(len(self.edges) - 1, dtype=bool)
        for proposition in query:
            if proposition.feature == self.name:
                holds &= proposition.covered_in(self.column)
        return holds


def feature_cells(ensemble: RuleEnsemble, table: Table, name: str) -> FeatureCells:
    """Find the cells of a feature."""
    column = table.column(name)
    if isinstance(column, CategoricalColumn):
        n_cells = len(column.categories)
        spread = np.random.default_rng(0).uniform(-SPREAD, SPREAD, table.n_rows)
        positions = np.where(column.missing, np.nan, column.codes + spread)
        each = CategoricalColumn(name, np.arange(n_cells, dtype=np.int32), column.categories)
        return FeatureCells(name, np.arange(n_cells + 1, dtype=np.float64) - 0.5, each, positions)
    values = column.values
    compared = [p.value for p in ensemble.propositions if p.feature == name]
    thresholds = {
        *(float(value) for value in compared if isinstance(value, int | float)),
        *(microseconds(value) for value in compared if isinstance(value, MOMENTS)),
    }
    shown = np.array([*values[~np.isnan(values)], *thresholds])
    low, high = (shown.min(), shown.max()) if len(shown) else (0.0, 1.0)
    margin = MARGIN * (high - low) or 1.0
    edges = np.array([low - margin, *sorted(thresholds), high + margin])
    each_value = replace(column, values=(edges[:-1] + edges[1:]) / 2)
    return FeatureCells(name, edges, each_value, values)


def other_shares(ensemble: RuleEnsemble, table: Table, shown: Sequence[str]) -> Floats:
    """Share of rows that fulfil the conditions of each rule on features that are not shown."""
    others = (Query(tuple(p for p in rule.query if p.feature not in shown)) for rule in ensemble)
    return np.array([query.covered(table).mean() for query in others])


def cell_predictions(
    ensemble: RuleEnsemble, shares: Floats, cells: Sequence[FeatureCells]
) -> Floats:
    """Mean raw prediction if all rows were moved to a cell, for each cell (of each feature)."""
    predictions = np.full([len(feature.edges) - 1 for feature in cells], ensemble.intercept)
    for rule, share in zip(ensemble, shares, strict=True):
        holds = [feature.holds(rule.query) for feature in cells]
        predictions += rule.weight * share * reduce(np.multiply.outer, holds)
    return predictions


def runs(holds: Mask) -> Iterator[tuple[int, int]]:
    """Find stretches of neighbouring true cells: first cell, and first cell after it.

    Examples
    --------
    >>> list(runs(np.array([True, True, False, True])))
    [(0, 2), (3, 4)]
    """
    changes = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(int)))
    yield from zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True)
