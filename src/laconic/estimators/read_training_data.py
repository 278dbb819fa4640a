"""Training rows, reduced to those that rules can distinguish."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import numpy as np

from laconic._util.words import listed_names, parameter
from laconic.boosting import Settings, TrainingData
from laconic.boosting.settings import form_of
from laconic.candidates.candidates import check_conditions
from laconic.candidates.categories import CategoryOptions, Way
from laconic.candidates.distinct_rows import (
    ConditionOptions,
    ReadProgress,
    Roles,
    count_labels,
    reduce_source,
    reduce_table,
)
from laconic.candidates.distinct_rows.column_roles import CountedRows, Kept
from laconic.estimators.progress import ReadPrinter
from laconic.estimators.settings import read_settings, read_target
from laconic.estimators.weights import check_any, check_exposed, class_factors
from laconic.losses import Loss, takes_means
from laconic.models.tasks import Task
from laconic.tables.columns import CategoricalColumn
from laconic.tables.inspection import warn_about_columns
from laconic.tables.sources.sources import TableSource, as_source
from laconic.tables.tables import Table, as_table
from laconic.terms.conditions import Condition, Query
from laconic.terms.parsing import Feature
from laconic.terms.parsing_terms import as_term
from laconic.terms.rules import Term
from laconic.terms.slopes import Slope

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting

# Rows are worth a sort from here on; the model is the same to rounding.
LONG_TABLE = 10_000
# Rows of a stream that are looked at for columns that determine the target on their own.
_N_INSPECTED = 100_000


def read_stream(
    estimator: RuleBoosting,
    X: Any,
    y: Any,
    sample_weight: Any,
    exposure: Any,
    loss: Loss,
    settings: Settings | None = None,
    task: Task | None = None,
) -> tuple[TrainingData, Settings]:
    """Read a table in parts, and reduce it to the rows that rules can distinguish.

    The settings are those of the parameters, and the task that of the target, unless they are
    given.

    Sets, of the estimator: n_features_in_, feature_names_in_, unless it is fitted.
    """
    source, y = as_source(X).joined(y, "target")
    source, sample_weight = source.joined(sample_weight, "weight")
    source, exposure = source.joined(exposure, "exposure")
    roles = _roles(source, y, sample_weight, exposure)
    if roles.exposure is not None:
        check_exposed(loss)
    _check_names(estimator, roles.features)
    texts: list[Any] = []
    if settings is None:
        settings = read_settings(estimator, X, roles.features)
        texts = _texts(estimator)
    _check_parts(settings)
    kept = _kept(loss, settings, holds_classes=estimator.task.holds_classes)
    roles = replace(roles, kept=kept)
    if settings.class_weight is not None:
        roles = _with_class_factors(
            source, roles, partial(_task_of, estimator, loss, task), settings
        )
    fitted = estimator.ensemble_ if estimator.__sklearn_is_fitted__() else ()
    options = replace(_condition_options(settings, fitted), wanted=partial(_wanted, texts))
    reduction = reduce_source(source, roles, options, _reader(estimator, source))
    rows = reduction.rows
    if roles.kept == "classes":
        labels = _labels(reduction.labels, is_integer=source.is_integer(roles.target))
        known = labels if roles.class_labels is None else roles.class_labels
        task = _task_of(estimator, loss, task, known)
        target = task.numbers(labels, len(labels))[rows.target()]
    else:
        target = rows.target()
        task = _task_of(estimator, loss, task, target)
    if not estimator.__sklearn_is_fitted__() and settings.conditions is None:
        _inspect(source, roles)
    if roles.kept == "means":
        # Means may hide what the loss does not suit.
        ends = np.array([reduction.targets.lowest, reduction.targets.highest])
        task.settle_loss(ends, None)
    weights = rows.weights()
    task.settle_loss(target[weights > 0], weights[weights > 0])
    data = TrainingData(
        *(X, rows.table(), target, task, weights),
        candidates=reduction.candidates(),
        described=None if reduction.summary is None else reduction.summary.feature,
    )
    return data, settings


def _task_of(estimator: RuleBoosting, loss: Loss, task: Task | None, target: Any) -> Task:
    """Return the task that is given, or else that of a target."""
    if task is not None:
        return task
    return read_target(estimator, target, loss, len(target), slice(None))[0]


def _with_class_factors(
    source: TableSource, roles: Roles, task_of: Callable[[Any], Task], settings: Settings
) -> Roles:
    """Count the classes, and weigh rows by them from then on."""
    counts = count_labels(source, roles)
    labels = _labels(tuple(sorted(counts)), is_integer=source.is_integer(roles.target))
    task = task_of(labels)
    assert settings.class_weight is not None
    numbers = task.numbers(labels, len(labels)).astype(np.intp)
    of_classes = np.bincount(numbers, [counts[each] for each in sorted(counts)]).astype(np.intp)
    factors = class_factors(task, settings.class_weight, of_classes)[numbers]
    check_any(factors, settings.class_weight)
    pairs = zip(sorted(counts), factors.tolist(), strict=True)
    return replace(roles, class_labels=labels, class_factors=dict(pairs))


def _check_parts(settings: Settings) -> None:
    """Refuse settings that need all rows at once."""
    if settings.slopes:
        raise ValueError(
            "Slopes need a table in memory. Got one that is read in parts, of which only rules can "
            f"be learned. Set {parameter('slopes', False)}, or take a sample of the rows."
        )
    if settings.strategy == "global":
        raise ValueError(
            f"{parameter('strategy', 'global')} needs a table in memory, whose rows its "
            "certificate is about. Got one that is read in parts. Set another strategy, or take a "
            "sample of the rows."
        )
    special = _special_options(settings)
    if special:
        raise ValueError(
            f"{parameter(special[0])} needs a table in memory. Got one that is read in parts. "
            "Leave it out, or take a sample of the rows."
        )


def reduced(data: TrainingData, settings: Settings, fitted: Iterable[Term] = ()) -> TrainingData:
    """Reduce a long table in memory; others, and those of streams, stay as they are.

    Rows are also distinguished by the terms of a model that a fit continues.
    """
    if data.candidates is not None or data.table.n_rows < LONG_TABLE:
        return data
    if settings.slopes or any(isinstance(term, Slope) for term in fitted):
        # Rows that rules cannot distinguish differ in the numbers of their features.
        return data
    if settings.strategy == "global":
        # Its certificate describes all rows, one by one.
        return data
    if data.table.cells is not None:
        # Of thousands of columns, hardly two rows are alike.
        return data
    if _special_options(settings) or _has_order(data.table):
        return data
    kept = _kept(data.loss, settings, holds_classes=data.task.holds_classes)
    names, options = data.table.feature_names, _condition_options(settings, fitted)
    if options.given is not None:
        check_conditions(options.given)
    if any(each.feature not in names for each in (*options.known, *(options.given or ()))):
        # Parts of dates, or a name that is refused later.
        return data
    reduction = reduce_table(data.table, data.target, data.weights, kept, options)
    found = reduction.rows
    target = found.target()
    if kept == "classes":
        target = np.array(reduction.labels, dtype=np.float64)[target]
    return replace(
        data,
        table=found.table(),
        target=target,
        weights=found.weights(),
        candidates=reduction.candidates(),
        whole=data,
        groups=None,
    )


def _has_order(table: Table) -> bool:
    """Check whether a table has ordered categories, which thresholds distinguish as well."""
    for name in table.feature_names:
        column = table.column(name)
        if column.is_numeric:
            # Numbers are quickly read again.
            table.pop_column(name)
        if isinstance(column, CategoricalColumn) and column.is_ordered:
            return True
    return False


def _special_options(settings: Settings) -> list[str]:
    """List the settings that ask for conditions other than thresholds and values."""
    asked = {
        "categories": settings.categories == "sets",
        "categorical_features": bool(settings.categorical_features),
        "date_parts": bool(settings.date_parts),
    }
    return [name for name, is_asked in asked.items() if is_asked]


def _kept(loss: Any, settings: Settings, *, holds_classes: bool) -> Kept:
    if holds_classes:
        return "classes"
    # What chance gains depends on how targets vary.
    return "means" if takes_means(loss) and not settings.beats_chance else "values"


def _wanted(
    rules: Sequence[Any], names: Sequence[str], describe: Callable[[str], Feature]
) -> list[Condition]:
    """Read the conditions of rules that users have written."""
    forms = [as_term(rule, names, describe).form for rule in rules]
    slope = next((form for form in forms if isinstance(form, Slope)), None)
    if slope is not None:
        raise ValueError(
            f"Slopes need a table in memory. Got '{slope.text()}' for one that is read in parts. "
            "Leave it out, or take a sample of the rows."
        )
    return [condition for query in forms if isinstance(query, Query) for condition in query]


def _texts(estimator: RuleBoosting) -> list[Any]:
    """List rules as users have written them, without their classes."""
    rules = (*(estimator.initial_terms or ()), *(estimator.excluded_terms or ()))
    return [rule[0] if isinstance(rule, tuple) else rule for rule in rules]


def _condition_options(settings: Settings, fitted: Iterable[Term]) -> ConditionOptions:
    """List what distinguishes rows: candidates, terms of a model, and given terms."""
    forms = [*map(form_of, fitted), *(term.form for term in settings.initial_terms)]
    queries = [form for form in (*forms, *settings.excluded_terms) if isinstance(form, Query)]
    return ConditionOptions(
        settings.max_thresholds,
        settings.conditions,
        tuple(each for query in queries for each in query),
        categories=CategoryOptions(cast("Way", settings.categories), settings.max_categories),
    )


def _roles(source: TableSource, y: Any, sample_weight: Any, exposure: Any) -> Roles:
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
    return Roles(y, features, sample_weight, exposure=exposure)


def _check_names(estimator: RuleBoosting, features: tuple[str, ...]) -> None:
    """Remember the features, or check that they are those of an earlier fit."""
    if not estimator.__sklearn_is_fitted__():
        estimator.n_features_in_ = len(features)
        estimator.feature_names_in_ = np.array(features, dtype=object)
        return
    known = estimator.ensemble_.feature_names or ()
    if {*features} != {*known}:
        raise ValueError(
            f"The features must be those that the model was fitted to, {listed_names(known)}. Got "
            f"{listed_names(features)}. Select these columns, or fit with warm_start=False."
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
