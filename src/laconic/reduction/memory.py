"""A long table in memory, reduced to the same rows as if it had been read in parts."""

from __future__ import annotations

from itertools import chain

import numpy as np

from laconic.candidates import column_propositions
from laconic.data.columns import CategoricalColumn, FeatureKind, TimeColumn, feature_kind
from laconic.data.tables import Table
from laconic.model.conditions import Proposition, by_feature
from laconic.reduction.cells import FeatureCells, TableCells, feature_cells
from laconic.reduction.planning import Conditions, Reduction, check_given
from laconic.reduction.roles import Kept, Roles
from laconic.reduction.rows import Plan, ReducedRows
from laconic.reduction.sums import Floats, Units, added_up
from laconic.reduction.values import keys_of


def reduce_table(
    table: Table, target: Floats, weights: Floats | None, kept: Kept, conditions: Conditions
) -> Reduction:
    """Reduce a table to the rows that its conditions tell apart.

    The target is numbers, one for each class where classes are kept.
    """
    units = None
    if weights is not None:
        units = Units.for_terms(float(weights.max()), len(weights))
        is_counted = weights > 0
        target, weights = target[is_counted], weights[is_counted]
    roles = Roles("", table.feature_names, kept=kept, weight_units=units)
    known = by_feature(conditions.known)
    given = None if conditions.given is None else check_given(conditions.given, table.feature_names)
    propositions: list[Proposition] = []
    kinds: dict[str, FeatureKind | None] = {}
    features: list[FeatureCells] = []
    codes = []
    for name in table.feature_names:
        column = table.pop_column(name)
        if weights is not None and not is_counted.all():
            column = column.take(is_counted)
        if given is None:
            own = list(
                column_propositions(
                    column, weights, conditions.max_thresholds, conditions.categories
                )
            )
            propositions += own
        else:
            own = given.get(name, [])
        kinds[name] = feature_kind(column) if given is None or own else None
        categories = column.categories if isinstance(column, CategoricalColumn) else None
        time_kind = column.kind if isinstance(column, TimeColumn) else None
        cells = feature_cells(name, categories, [*own, *known.get(name, ())], time_kind)
        features.append(cells)
        small = np.min_scalar_type(len(cells))
        codes.append(cells.codes(column).astype(small) if cells.is_used else None)
    rows = _reduced_rows(roles, tuple(features), codes, target, weights)
    return Reduction(
        rows,
        tuple(propositions if conditions.given is None else conditions.given),
        {name: kind for name, kind in kinds.items() if kind is not None},
        tuple(rows.plan.labels),
    )


def _reduced_rows(
    roles: Roles,
    features: tuple[FeatureCells, ...],
    codes: list[np.ndarray | None],
    target: Floats,
    weights: Floats | None,
) -> ReducedRows:
    amounts = [roles.weight_amounts(weights, len(target))]
    if roles.kept == "classes":
        labels, numbers = np.unique(target, return_inverse=True)
        plan = Plan(roles, TableCells(features, len(labels)), tuple(labels.tolist()))
        keys = plan.cells.keys(chain(codes, [numbers]), len(target))
    else:
        units = None
        cells = TableCells(features)
        keys = cells.keys(chain(codes, [None]), len(target))
        if roles.kept == "means":
            weighted = target if weights is None else target * weights
            units = Units.for_terms(float(np.abs(weighted).max()), len(target))
            amounts.append(units.count(weighted))
        else:
            keys = np.hstack([keys, keys_of(target)[:, None]])
        plan = Plan(roles, cells, target_units=units)
    return ReducedRows(plan, *added_up(keys, np.hstack(amounts)), len(target))
