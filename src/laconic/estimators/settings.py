"""Settings, read from the parameters of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._util.types import Floats
from laconic._util.words import listed_names, parameter
from laconic.boosting import InitialTerm, Settings, TrainingData
from laconic.boosting.settings import PLAIN_SETTINGS
from laconic.boosting.training_data import FitTask
from laconic.candidates.candidates import check_conditions
from laconic.candidates.constraints import CONSTRAINTS, Constraints, form_text, read_constraints
from laconic.losses import Loss
from laconic.models.tasks import Task
from laconic.tables.columns import Rows
from laconic.terms.parsing_terms import as_term

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


def read_target(
    estimator: RuleBoosting, y: Any, loss: Loss, n_rows: int, counted: Rows
) -> tuple[Task, Floats]:
    """Read the target of a training table: the task, and the target as numbers."""
    owner, positive = type(estimator).__name__, getattr(estimator, "positive", None)
    return estimator.task.read(
        y, loss, n_rows=n_rows, counted=counted, owner=owner, positive=positive
    )


def read_settings(estimator: RuleBoosting, X: Any, feature_names: Sequence[str]) -> Settings:
    """Read parameters as plain values; terms and constraints follow in `with_terms`."""
    given = estimator.conditions
    if given is not None:
        given = given(X) if callable(given) else given
        check_conditions(given)
        given = tuple(given)
    values: dict[str, Any] = {
        name: getattr(estimator, name) for name in PLAIN_SETTINGS if name != "is_mixed"
    }
    values["categorical_features"] = categorical_kinds(
        values["categorical_features"], feature_names
    )
    values["date_parts"] = tuple(map(str, values["date_parts"] or ()))
    return Settings(
        **{name: _plain(value, PLAIN_SETTINGS[name]) for name, value in values.items()},
        loss=str(estimator.loss) if isinstance(estimator.loss, str) else estimator.loss,
        conditions=given,
        class_weight=getattr(estimator, "class_weight", None),
    )


def _plain(value: Any, kind: str) -> Any:
    """Return a number, text or bool as one of Python, of a type as `Settings` has it."""
    if isinstance(value, str):
        return str(value)
    convert = {"bool": bool, "int": int, "float": float}.get(kind.split(" | ")[0])
    return value if value is None or convert is None else convert(value)


def with_terms(estimator: RuleBoosting, settings: Settings, data: TrainingData) -> Settings:
    """Add constraints, and the terms that a model must or must not have."""
    names = data.table.feature_names
    constraints = read_constraints(
        names,
        classes=data.task.labels,
        **{name: getattr(estimator, name) for name in CONSTRAINTS},
    )
    initial = read_terms(estimator.initial_terms or (), data, constraints)
    has_positive = getattr(estimator, "positive", None) is not None
    if len(initial) > settings.max_terms:
        raise ValueError(
            f"{parameter('n_terms')} must not be smaller than the number of "
            f"{parameter('initial_terms')}. Got {settings.n_terms} for {len(initial)}."
        )
    excluded = (
        as_term(term, names, data.describe, data.task.outputs).form
        for term in estimator.excluded_terms or ()
    )
    return replace(
        settings,
        constraints=constraints,
        initial_terms=tuple(initial),
        # Of the type of the classes, which JSON can hold.
        positive=(data.task.labels or [None])[-1] if has_positive else None,
        excluded_terms=tuple(dict.fromkeys(excluded)),
    )


def read_terms(
    terms: Sequence[Any], data: TrainingData, constraints: Constraints | None
) -> list[InitialTerm]:
    """Read terms that a model is to have; refuse those that are not allowed, or there twice."""
    found: list[InitialTerm] = []
    for term in terms:
        read = _initial_term(term, data.table.feature_names, data.describe, data.task)
        if constraints is not None:
            _check_allowed(read, constraints, len(data.task.outputs))
        if any((read.form, read.output) == (other.form, other.output) for other in found):
            raise ValueError(f"Terms must be different. Got '{form_text(read.form)}' twice.")
        found.append(read)
    return found


def _check_allowed(term: InitialTerm, constraints: Constraints, n_outputs: int) -> None:
    """Refuse a term that constraints do not allow for any output that it may have."""
    output = term.output
    if output is None and n_outputs > 0:
        fitting = (n for n in range(n_outputs) if constraints.signs_of(term.form, n))
        output = next(fitting, n_outputs - 1)
    constraints.check(term.form, output)


def _initial_term(
    term: Any, names: Sequence[str], describe: Callable[[str], Any], task: FitTask
) -> InitialTerm:
    """Read a term: a text, a Query, a Rule or a Slope, and optionally the class that it is for."""
    is_pair = isinstance(term, tuple) and len(term) == 2
    term, label = term if is_pair else (term, None)
    form, weight, output = as_term(term, names, describe, task.outputs)
    if is_pair:
        labels = task.labels or []
        if not task.outputs or (label is not None and label not in labels):
            raise ValueError(
                f"A pair in {parameter('initial_terms')} must be a term and one of three or more "
                f"classes, or None for any. Got {label!r} for the classes {labels}."
            )
        output = None if label is None else labels.index(label)
    return InitialTerm(form, weight or None, output)


def categorical_kinds(given: Any, feature_names: Sequence[str]) -> dict[str, str]:
    """Read `categorical_features`: "nominal" or "ordered" for each of them, by its name.

    Examples
    --------
    >>> names = ("age", "zip", "plan")
    >>> categorical_kinds([1], names)
    {'zip': 'nominal'}
    >>> categorical_kinds([False, True, True], names)
    {'zip': 'nominal', 'plan': 'nominal'}
    >>> categorical_kinds({"plan": "ordered"}, names)
    {'plan': 'ordered'}
    """
    if given is None or isinstance(given, str):
        return {}
    names = list(feature_names)
    kinds = given if isinstance(given, Mapping) else {}
    features = np.asarray(list(given) if kinds else given)
    if features.dtype == bool and len(features) == len(names):
        features = np.flatnonzero(features)
    is_position = features.dtype.kind in "iu" and bool((np.abs(features) < len(names)).all())
    found = [names[each] if is_position else str(each) for each in features.tolist()]
    if not {*found} <= {*names}:
        raise ValueError(
            f"{parameter('categorical_features')} must be names or positions of columns of X, or "
            f"a mask with one entry for each of them. Got {given!r} for "
            f"{listed_names(feature_names)}."
        )
    read = dict(zip(found, kinds.values(), strict=True)) if kinds else dict.fromkeys(found, "")
    return {name: str(read[name] or "nominal") for name in names if name in read}
