"""Training data and settings, read from what is passed to an estimator.

This is the only place where tables, targets, weights, class weights, exposures and parameters are
put together; `fit`, edits, alternatives and certificates all start here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from laconic._util.types import Floats
from laconic.boosting import Settings, TrainingData, counted
from laconic.boosting.refit import ensemble_weights
from laconic.estimators.groups import read_groups
from laconic.estimators.read_training_data import read_stream
from laconic.estimators.settings import read_settings, read_target, with_terms
from laconic.estimators.weights import (
    as_rates,
    check_any,
    checked_weights,
    class_factors,
    warn_about_scale,
)
from laconic.losses import get_loss
from laconic.models.rule_model import checked_table
from laconic.models.tasks import Task
from laconic.tables.inspection import warn_about_columns
from laconic.tables.sources.sources import is_source
from laconic.tables.tables import Table, selection_advice

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


def read_inputs(
    estimator: RuleBoosting, X: Any, y: Any, sample_weight: Any, exposure: Any, groups: Any
) -> tuple[TrainingData, Settings]:
    """Read what is passed to `fit`: what to learn from, and how.

    Sets, of the estimator: n_features_in_, feature_names_in_.
    """
    loss = get_loss(estimator.task.default_loss if estimator.loss == "auto" else estimator.loss)
    is_fitted = estimator.__sklearn_is_fitted__()
    if is_source(X):
        data, settings = read_stream(estimator, X, y, sample_weight, exposure, loss)
    else:
        at_hand = estimator._known
        table = at_hand[1] if at_hand is not None and X is at_hand[0] else checked_table(X)
        _, y = validated(estimator, X, table, y, reset=not is_fitted)
        if is_fitted:
            table = estimator._with_fitted_names(table)
        table = table.reading_dates(table.feature_names)
        settings = read_settings(estimator, X, table.feature_names)
        weights = checked_weights(sample_weight, table.n_rows)
        task, target = read_target(estimator, y, loss, table.n_rows, counted(weights))
        data = make_data(task, X, table, target, weights, exposure, settings.class_weight)
        data = _with_groups(data, groups)
    if is_fitted:
        estimator.task_.check_same(data.task)
    elif settings.conditions is None:
        _warn_about_inputs(data, settings, is_in_parts=is_source(X), has_rates=exposure is not None)
    settings = with_terms(estimator, settings, data)
    known = [rule.weight for rule in settings.initial_terms if rule.weight is not None]
    if is_fitted:
        known += _weights_of(estimator)
    return data.scaled(known), settings


def _warn_about_inputs(
    data: TrainingData, settings: Settings, *, is_in_parts: bool, has_rates: bool
) -> None:
    """Warn about columns and weights that are likely to spoil a model."""
    # Points at the line that called fit.
    stacklevel = 5
    if not is_in_parts:
        warn_about_columns(data.table, data.counted_target, data.counted, stacklevel)
    # A penalty that is given is meant for the weights; those of rates have the scale of exposures.
    if data.weights is not None and settings.l2_regularization == "auto" and not has_rates:
        warn_about_scale(data.weights, stacklevel)


def validated(
    estimator: RuleBoosting, X: Any, table: Table, y: Any = "no_validation", *, reset: bool = False
) -> Any:
    """Check the columns of a table as scikit-learn does, and say how to choose the right ones.

    Sets, of the estimator: n_features_in_, feature_names_in_, if they are to be reset.
    """
    if table.has_records and reset:
        raise TypeError(
            "X must be a table to fit a model. Got rows that are dictionaries, which only "
            "predictions take. Make a DataFrame of them: pandas.DataFrame(X)."
        )
    if isinstance(y, str) and y == "no_validation" and _has_fitted_columns(estimator, table):
        return X
    try:
        return validate_data(estimator, X, y, skip_check_array=True, reset=reset)
    except ValueError as error:
        known: Sequence[str] = [*getattr(estimator, "feature_names_in_", ())]
        if not table.is_named or not known or known == [*table.feature_names]:
            raise
        raise ValueError(f"{error}{selection_advice(table, known)}") from None


def _has_fitted_columns(estimator: RuleBoosting, table: Table) -> bool:
    """Return whether scikit-learn has neither an error nor a warning about the columns."""
    if table.has_records:
        return True  # their keys are checked with the names of the fit
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        return table.has_text_names and table.feature_names == tuple(names)
    n_features = getattr(estimator, "n_features_in_", None)
    return not table.is_named and len(table.feature_names) == n_features


def read_rows(
    model: RuleBoosting, X: Any, y: Any, sample_weight: Any, exposure: Any, groups: Any = None
) -> TrainingData:
    """Read rows for a fitted model: with weights and scale as in its fit."""
    settings, task = model.settings_, model.task_
    if is_source(X):
        data, _ = read_stream(model, X, y, sample_weight, exposure, task.loss, settings, task)
        return data.scaled(_weights_of(model))
    table = model._fitted_table(X)
    weights = checked_weights(sample_weight, table.n_rows)
    target = task.numbers(y, table.n_rows, counted(weights))
    data = make_data(task, X, table, target, weights, exposure, settings.class_weight)
    return _with_groups(data, groups).scaled(_weights_of(model))


def _with_groups(data: TrainingData, groups: Any) -> TrainingData:
    if groups is None:
        return data
    return replace(data, groups=read_groups(groups, data.table.n_rows, data.counted))


def _weights_of(model: RuleBoosting) -> list[float]:
    """List the weights of a model, and its intercepts."""
    return [*map(float, ensemble_weights(model.ensemble_, fit_intercept=True))]


def make_data(
    task: Task,
    X: Any,
    table: Table,
    target: Floats,
    weights: Floats | None,
    exposure: ArrayLike | None,
    class_weight: Mapping[Any, float] | str | None,
) -> TrainingData:
    """Put a table in memory, its target and weights together.

    Sets, of the task: loss, as far as it depends on the target.
    """
    target, weights = as_rates(target, weights, exposure, task.loss)
    if class_weight is not None:
        numbers = target.astype(np.intp)
        factors = class_factors(task, class_weight, np.bincount(numbers[counted(weights)]))
        weights = factors[numbers] if weights is None else factors[numbers] * weights
        check_any(weights, class_weight)
    task.settle_loss(target[counted(weights)], None if weights is None else weights[weights > 0])
    return TrainingData(X, table, target, task, weights)
