"""Shapley values of rule ensembles, exactly and in closed form.

The game is the interventional one: for a set of features, a row takes these from the row to explain
and the others from a row of the background. The Shapley values of the features add up to the
difference between the raw prediction of the row and the mean raw prediction of the background.

A rule is a product of conditions, one factor per feature. Against a single background row, let a be
the number of its features whose factor only the explained row satisfies, and b the number of those
that only the background row satisfies. If neither row satisfies some factor, the rule never holds
and all values are 0. Otherwise the rule holds for exactly those sets with all of the a features and
none of the b features, and the formula of Shapley gives

    + weight * (a - 1)! b! / (a + b)!     to each of the a features,
    - weight * a! (b - 1)! / (a + b)!     to each of the b features.

Which factors a row satisfies is a pattern of a few bits, so that pairs of distinct patterns are
enumerated instead of pairs of rows. A slope is a function of one feature, to which all of its
deviation from the mean of the background belongs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic._util.optional import import_extra
from laconic._util.types import Bools, Floats, Indices
from laconic.tables.columns import CategoricalColumn, NumericColumn, TimeColumn
from laconic.tables.tables import FrameBackend, Table, as_table, make_frame, whole_column
from laconic.tables.times import DAY, HOUR
from laconic.terms.conditions import Query, by_feature
from laconic.terms.rules import Rule, RuleEnsemble
from laconic.terms.slopes import Slope


@dataclass(frozen=True, eq=False, repr=False)
class ShapleyValues:
    """What each feature adds to the raw prediction of each row.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_features) or (n_rows, n_features, n_classes)
        Values of the features, which add up to the raw prediction minus `base_value`; for each of
        three or more classes.
    base_value : float or ndarray of shape (n_classes,)
        Mean raw prediction of the background.
    feature_names : tuple of str
        Names of the columns.
    table : Table
        The rows that are explained.
    classes : tuple of str
        Names of three or more classes; else empty.
    """

    values: Floats
    base_value: float | Floats
    feature_names: tuple[str, ...]
    table: Table
    classes: tuple[str, ...] = ()

    def to_frame(self, backend: FrameBackend | None = None) -> Any:
        """Shapley values as a DataFrame, one row per row of the table and one column per feature.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"} or None, default=None
            Library of the result; None takes that of the explained table, and the first that is
            installed where this was an array.

        Returns
        -------
        frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
            With three or more classes, a row per row and class, and the columns row and class.
        """
        # One list per feature: row by row, and the classes of a row one after the other.
        n_rows, n_features, *_ = self.values.shape
        lists = self.values.swapaxes(0, 1).reshape(n_features, -1).tolist()
        columns: dict[str, list[Any]] = {}
        if self.classes:
            columns["row"] = np.repeat(np.arange(n_rows), len(self.classes)).tolist()
            columns["class"] = [*self.classes] * n_rows
        columns |= zip(self.feature_names, lists, strict=True)
        return make_frame(columns, backend=backend or self.table.backend)

    def to_shap(self) -> Any:
        """Shapley values for the plots of the library shap, which must be installed.

        Returns
        -------
        explanation : shap.Explanation
            With the cells of the table as its data.
        """
        return import_extra("shap", "shap", "A shap.Explanation").Explanation(
            values=self.values,
            base_values=np.broadcast_to(
                self.base_value, (len(self.values), *np.shape(self.base_value))
            ).copy(),
            data=_cells(self.table, self.feature_names),
            feature_names=list(self.feature_names),
        )

    def __repr__(self) -> str:
        n_rows, n_features, *_ = self.values.shape
        return f"<ShapleyValues: {n_rows} rows, {n_features} features>"


def shapley_values(ensemble: RuleEnsemble, X: Any, background: Any) -> ShapleyValues:
    """Compute Shapley values of the features; see `RuleModel.shapley_values`.

    All rows of the background are used. The values are exact up to rounding.

    Examples
    --------
    >>> from laconic import Condition
    >>> both = Rule(Query((Condition("x0", ">", 1), Condition("x1", "==", "a"))), 2.0)
    >>> shapley_values(RuleEnsemble((both,)), [[2, "a"]], [[1, "b"], [2, "b"]]).values
    array([[0.5, 1.5]])
    """
    table = as_table(X, ensemble.feature_names)
    background = as_table(background, ensemble.feature_names)
    if background.n_rows == 0:
        raise ValueError(
            "The background must have at least one row. Got none. Pass the training table, or a "
            "sample of it."
        )
    names = ensemble.feature_names or table.feature_names
    base = ensemble.raw_predictions(background).mean(axis=0)
    base_value = base if ensemble.outputs else float(base)
    classes = tuple(output.name for output in ensemble.outputs)
    values = _values(ensemble, table, background, names)
    return ShapleyValues(values, base_value, names, table, classes)


def feature_importances(
    ensemble: RuleEnsemble, X: Any, sample_weight: Floats | None = None
) -> Floats:
    """Compute the importance of each feature for the predictions of the rows of a table.

    That is the mean absolute Shapley value of the feature, with the rows themselves as the
    background, divided by the sum over all features. Importances add up to 1, or are all 0 where
    the prediction is the same for all rows. That of a feature which no term uses is 0.

    Examples
    --------
    >>> from laconic import Condition
    >>> rules = [Rule(Query((Condition(f"x{i}", ">", 0),)), 3.0 - 2 * i) for i in range(2)]
    >>> X = [[0, 0, 5], [0, 1, 6], [1, 0, 7], [1, 1, 8]]
    >>> feature_importances(RuleEnsemble(tuple(rules)), X)
    array([0.75, 0.25, 0.  ])
    """
    table = as_table(X, ensemble.feature_names)
    names = ensemble.feature_names or table.feature_names
    used = tuple(dict.fromkeys(whole_column(name, names) for name in ensemble.used_features))
    importances = np.zeros(len(names))
    if not used:
        return importances
    values = _values(ensemble, table, table, used, sample_weight)
    means = np.average(np.abs(values), axis=0, weights=sample_weight)
    # Of several raw predictions, all count.
    means = means.reshape(len(used), -1).sum(axis=1)
    if means.any():
        importances[[names.index(feature) for feature in used]] = means / means.sum()
    return importances


def _values(
    ensemble: RuleEnsemble,
    table: Table,
    background: Table,
    names: tuple[str, ...],
    weights: Floats | None = None,
) -> Floats:
    """Shapley values of the named features, as an array of shape (n_rows, n_names).

    With several raw predictions, there is a third axis for these. The weights are those of the rows
    of the background.
    """
    values = np.zeros((table.n_rows, len(names), max(1, len(ensemble.outputs))))
    for term in ensemble:
        if isinstance(term, Slope):
            column = names.index(whole_column(term.feature, table.feature_names))
            mean = np.average(term.values(background), weights=weights)
            values[:, column, term.output] += term.weight * (term.values(table) - mean)
            continue
        factors = _factors(term, table.feature_names)
        explained = _patterns(factors, table)
        others = explained if background is table else _patterns(factors, background)
        columns = [names.index(feature) for feature in factors]
        values[:, columns, term.output] += term.weight * _unit_values(explained, others, weights)
    return values if ensemble.outputs else values[:, :, 0]


def _factors(rule: Rule, names: Sequence[str]) -> dict[str, Query]:
    """Group the conditions of a rule by feature; the feature of a part of a date is the date."""
    grouped: dict[str, Query] = {}
    for feature, group in by_feature(rule.query).items():
        whole = whole_column(feature, names)
        known = grouped.get(whole, Query())
        grouped[whole] = Query((*known, *group))
    return grouped


def _patterns(factors: dict[str, Query], table: Table) -> Bools:
    """Find which row satisfies which factor, as an array of shape (n_rows, n_factors)."""
    patterns = np.empty((table.n_rows, len(factors)), dtype=bool)
    for position, query in enumerate(factors.values()):
        patterns[:, position] = query.covered(table)
    return patterns


def _unit_values(explained: Bools, background: Bools, weights: Floats | None = None) -> Floats:
    """Shapley values of a rule of weight 1, as an array of shape (n_rows, n_factors)."""
    rows, row_numbers, _ = distinct_patterns(explained)
    others, numbers, counts = distinct_patterns(background)
    totals = counts if weights is None else np.bincount(numbers, weights, len(others))
    values = np.zeros(rows.shape)
    for other, fraction in zip(others, totals / totals.sum(), strict=True):
        values += fraction * _values_against(rows, other)
    return values[row_numbers]


def distinct_patterns(
    patterns: Bools,
) -> tuple[Bools, Indices, Indices]:
    """Find the distinct patterns, which of them each row has, and how often each occurs."""
    n_rows, n_factors = patterns.shape
    if n_factors <= 8:
        return _distinct_bytes(np.packbits(patterns, axis=1), n_factors)
    # Words sort ten times faster than rows of an array.
    n_words = max(1, math.ceil(n_factors / 64))
    packed = np.zeros((n_rows, 8 * n_words), dtype=np.uint8)
    packed[:, : math.ceil(n_factors / 8)] = np.packbits(patterns, axis=1)
    words = packed.view(np.uint64)
    _, first, numbers, counts = np.unique(
        words[:, 0] if n_words == 1 else words,
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    return patterns[first], numbers.ravel(), counts


def _distinct_bytes(patterns: NDArray[np.uint8], n_factors: int) -> tuple[Bools, Indices, Indices]:
    """Find the distinct patterns of up to eight factors, by counting all 256."""
    codes = patterns[:, 0] if n_factors else np.zeros(len(patterns), dtype=np.uint8)
    all_counts = np.bincount(codes, minlength=256)
    occurring = np.flatnonzero(all_counts)
    numbers = np.zeros(256, dtype=np.intp)
    numbers[occurring] = np.arange(len(occurring))
    distinct = np.unpackbits(occurring.astype(np.uint8)[:, None], axis=1, count=n_factors)
    return distinct.astype(bool), numbers[codes], all_counts[occurring]


def _values_against(rows: Bools, other: Bools) -> Floats:
    """Shapley values against one row of the background."""
    only_row, only_other = rows & ~other, other & ~rows
    n_row, n_other = only_row.sum(axis=1), only_other.sum(axis=1)
    can_hold = (rows | other).all(axis=1)
    gain = can_hold * _value_per_feature(n_row, n_other)
    loss = can_hold * _value_per_feature(n_other, n_row)
    return gain[:, None] * only_row - loss[:, None] * only_other


def _value_per_feature(n_helping: NDArray[np.int_], n_hindering: NDArray[np.int_]) -> Floats:
    """Compute (a - 1)! b! / (a + b)!, which is 1 / (a * C(a + b, a)); 0 where a is 0."""
    pairs = zip(n_helping.tolist(), n_hindering.tolist(), strict=True)
    return np.array([1 / (a * math.comb(a + b, a)) if a else 0.0 for a, b in pairs])


def _cells(table: Table, feature_names: tuple[str, ...]) -> NDArray[Any]:
    """Convert a table to an array: of numbers if all columns are numeric, else of objects."""
    columns = [table.column(name) for name in feature_names]
    return np.column_stack(
        [
            np.array((*column.categories, None), dtype=object)[column.codes]
            if isinstance(column, CategoricalColumn)
            else _plotted(column)
            for column in columns
        ]
    )


def _plotted(column: NumericColumn) -> Floats:
    """Numbers of a column; of dates and durations their days, of times of day their hours."""
    if not isinstance(column, TimeColumn):
        return column.values
    return column.values / (HOUR if column.kind == "time" else DAY)
