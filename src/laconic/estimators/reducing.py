"""Rows to learn from, reduced to those that rules can tell apart."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import narwhals as nw
import numpy as np

from laconic._words import listed_names
from laconic.candidates import check_propositions
from laconic.data.columns import CategoricalColumn, Column
from laconic.data.inspection import warn_about_columns
from laconic.data.sources import TableSource, as_source
from laconic.data.tables import Table, as_table
from laconic.estimators.given import wanted_conditions
from laconic.estimators.rows import CheckedRows, check_exposed
from laconic.losses import Loss, takes_means
from laconic.reduction import (
    Conditions,
    ReadProgress,
    Roles,
    describe_reading,
    reduce_source,
    reduce_table,
)
from laconic.reduction.roles import CountedRows, Kept

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting

# Rows are worth a sort from here on; the model is the same to rounding.
LONG_TABLE = 10_000
# Rows of a stream that are looked at for columns which tell the target by themselves.
_N_INSPECTED = 100_000


def read_stream(
    estimator: RuleBoosting, X: Any, y: Any, sample_weight: Any, exposure: Any, loss: Loss
) -> CheckedRows:
    """Read a table in parts, and reduce it to the rows that rules can tell apart.

    Sets, of the estimator: task_, n_features_in_, feature_names_in_.
    """
    source, y = as_source(X).joined(y, "target")
    source, sample_weight = source.joined(sample_weight, "weight")
    source, exposure = source.joined(exposure, "exposure")
    if estimator.strategy == "global":
        raise ValueError(
            "strategy='global' needs a table in memory, whose rows its certificate is about. Got "
            "one that is read in parts. Leave 'strategy' out, or take a sample of the rows."
        )
    special = _special_parameters(estimator)
    if special:
        raise ValueError(
            f"The parameter {special[0]!r} needs a table in memory. Got one that is read in parts. "
            "Leave it out, or take a sample of the rows."
        )
    roles = _roles(source, y, sample_weight, exposure, _kept(estimator, loss))
    if roles.exposure is not None:
        check_exposed(loss)
    _check_names(estimator, roles.features)
    conditions = replace(_conditions(estimator, X), wanted=partial(wanted_conditions, estimator))
    reduction = reduce_source(source, roles, conditions, _reader(estimator, source))
    rows = reduction.rows
    owner = type(estimator).__name__
    if roles.kept == "classes":
        labels = _labels(reduction.labels, is_integer=source.is_integer(roles.target))
        task, numbers = estimator.task.read(
            labels, loss, n_rows=len(labels), counted=slice(None), owner=owner
        )
        target = numbers[rows.target()]
    else:
        task, target = estimator.task.read(
            rows.target(), loss, n_rows=len(rows), counted=slice(None), owner=owner
        )
    if estimator.__sklearn_is_fitted__():
        estimator.task_.check_same(task)
    elif estimator.propositions is None:
        _inspect(source, roles)
    if roles.kept == "means":
        # Means may hide what the loss does not suit.
        ends = np.array([reduction.targets.lowest, reduction.targets.highest])
        task.settle_loss(ends, None)
    found = CheckedRows(
        *(X, rows.table(), target, rows.weights(), reduction.candidates()),
        described=None if reduction.summary is None else reduction.summary.feature,
    )
    found = estimator._weighted(found, task)
    task.settle_loss(found.counted_target, found.counted_weights)
    estimator.task_ = task
    return found


def reduced(estimator: RuleBoosting, rows: CheckedRows) -> CheckedRows:
    """Reduce a long table in memory; others, and those of streams, stay as they are."""
    if rows.candidates is not None or rows.table.n_rows < LONG_TABLE:
        return rows
    if estimator.strategy == "global":
        # Its certificate speaks of all rows, one by one.
        return rows
    if rows.table.cells is not None:
        # Of thousands of columns, hardly two rows are alike.
        return rows
    if _special_parameters(estimator) or any(map(_is_special, _columns(rows.table))):
        return rows
    kept = _kept(estimator, estimator.loss_)
    names, conditions = rows.table.feature_names, _conditions(estimator, rows.X)
    wanted = wanted_conditions(estimator, names, rows.describe)
    conditions = replace(conditions, known=(*conditions.known, *wanted))
    if conditions.given is not None:
        check_propositions(conditions.given)
    if any(each.feature not in names for each in (*conditions.known, *(conditions.given or ()))):
        # Parts of dates, or a name to be told of.
        return rows
    reduction = reduce_table(rows.table, rows.target, rows.weights, kept, conditions)
    found = reduction.rows
    target = found.target()
    if kept == "classes":
        target = np.array(reduction.labels, dtype=np.float64)[target]
    return CheckedRows(rows.X, found.table(), target, found.weights(), reduction.candidates(), rows)


def _columns(table: Table) -> Iterator[Column]:
    for name in table.feature_names:
        column = table.column(name)
        if column.is_numeric:
            # Numbers are quickly read again.
            table.pop_column(name)
        yield column


def _is_special(column: Column) -> bool:
    """Tell whether rows cannot be told apart by numbers and categories alone."""
    return isinstance(column, CategoricalColumn) and column.is_ordered


def _special_parameters(estimator: RuleBoosting) -> list[str]:
    """Name the parameters that ask for conditions other than thresholds and values."""
    asked = {
        "categories": estimator.categories != "values",
        "categorical_features": not isinstance(estimator.categorical_features, str | None),
        "ordered_features": estimator.ordered_features is not None,
        "date_parts": bool(estimator.date_parts),
    }
    return [name for name, is_asked in asked.items() if is_asked]


def _kept(estimator: RuleBoosting, loss: Loss) -> Kept:
    if estimator.task.holds_classes:
        return "classes"
    return "means" if takes_means(loss) else "values"


def _conditions(estimator: RuleBoosting, X: Any) -> Conditions:
    given = estimator.propositions
    known = estimator.ensemble_.propositions if estimator.__sklearn_is_fitted__() else ()
    return Conditions(
        estimator.max_thresholds,
        estimator.negated_categories,
        given(X) if callable(given) else given,
        tuple(known),
        max_categories=estimator.max_categories,
    )


def _roles(source: TableSource, y: Any, sample_weight: Any, exposure: Any, kept: Kept) -> Roles:
    others = {"target y": y, "sample_weight": sample_weight, "exposure": exposure}
    for role, name in others.items():
        if not (isinstance(name, str) or (name is None and role != "target y")):
            raise TypeError(
                f"The {role} of a table that is read in parts must be the name of one of its "
                f"columns. Got {type(name).__name__} instead. Call '.collect()' on a lazy "
                "DataFrame to pass arrays."
            )
        if name is not None:
            source.require(name, role)
    features = tuple(name for name in source.column_names if name not in others.values())
    if not features:
        raise ValueError(
            "Rules need at least one column besides the target. Got "
            f"{listed_names(source.column_names)}."
        )
    return Roles(y, features, sample_weight, kept, exposure=exposure)


def _check_names(estimator: RuleBoosting, features: tuple[str, ...]) -> None:
    """Remember the features, or check that they are those of an earlier fit."""
    if not estimator.__sklearn_is_fitted__():
        estimator.n_features_in_ = len(features)
        estimator.feature_names_in_ = np.array(features, dtype=object)
        return
    known = estimator.ensemble_.feature_names or ()
    if {*features} != {*known}:
        raise ValueError(
            "With warm_start=True the features must stay the same, "
            f"{listed_names(known)}. Got {listed_names(features)}."
        )


def _labels(labels: tuple[Any, ...], *, is_integer: bool) -> np.ndarray:
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=object)
    return np.array(labels, dtype=np.int64 if is_integer else None)


def _inspect(source: TableSource, roles: Roles) -> None:
    """Warn of columns that no rule should be made of, as the first rows show them."""
    for part in source.parts(roles.columns):
        first = nw.from_native(part, eager_only=True).head(_N_INSPECTED)
        if len(first) == 0:
            continue
        table = as_table(first.to_native())
        everyone = CountedRows(None, None, len(first), roles.exposures(table))
        if roles.kept == "classes":
            target = roles.labels(table, everyone)[1].astype(np.float64)
        else:
            target = roles.numbers(table, everyone)
        features = as_table(first.select(*roles.features).to_native())
        features = features.reading_dates(features.feature_names)
        # The line that called fit, which calls what reads the table.
        warn_about_columns(features, target, slice(None), stacklevel=6)
        return


class ReadPrinter:
    """Callback that writes a line every second while a table is read, and when that is done."""

    def __init__(self, interval: float = 1.0, stream: TextIO | None = None) -> None:
        self.interval = interval
        self.stream = sys.stdout if stream is None else stream
        self.last_time = time.monotonic()

    def __call__(self, progress: ReadProgress) -> None:
        """Write a line if it is time to."""
        if progress.is_done or time.monotonic() - self.last_time >= self.interval:
            self.stream.write(f"{describe_reading(progress)}\n")
            self.stream.flush()
            self.last_time = time.monotonic()


def _reader(estimator: RuleBoosting, source: TableSource) -> Callable[[ReadProgress], Any] | None:
    callbacks: list[Callable[[ReadProgress], Any]] = []
    if estimator.verbose:
        callbacks.append(ReadPrinter())
    if source.on_progress is not None:
        callbacks.append(source.on_progress)

    def tell(progress: ReadProgress) -> None:
        for callback in callbacks:
            callback(progress)

    return tell if callbacks else None
