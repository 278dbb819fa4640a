"""Errors of a model for rows that it has not seen, from which intervals and sets are made."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from laconic._util.checks import is_whole, require
from laconic._util.parallel import map_in_parallel
from laconic._util.types import Floats, Indices
from laconic._util.words import listed_names, parameter
from laconic.boosting import counted
from laconic.estimators.callbacks import drop_callbacks
from laconic.estimators.choose_size import make_splits
from laconic.estimators.groups import groups_for, read_groups
from laconic.estimators.progress import FitProgress
from laconic.estimators.training_data import read_rows
from laconic.estimators.weights import checked_exposure, checked_weights
from laconic.models.tasks import Task
from laconic.tables.inspection import ColumnWarning
from laconic.tables.sources.sources import is_source
from laconic.tables.tables import take_rows
from laconic.terms.formatting import format_count
from laconic.trust.fingerprint import check_unseen, warn_of_others
from laconic.trust.intervals import (
    Intervals,
    check_level,
    check_loss,
    intervals_of_classes,
    intervals_of_numbers,
)

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting

PREFIT = "prefit"
Split = tuple[Indices, Indices]


def calibrated(
    model: RuleBoosting,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    exposure: ArrayLike | None,
    *,
    groups: ArrayLike | None,
    cv: Any,
    level: float,
    random_state: Any,
    is_grouped: bool = True,
) -> Intervals:
    """Find intervals or sets for a model; see `TrustMixin.conformalize`.

    Without `is_grouped`, all predictions have the same half-width.
    """
    check_level(level)
    if is_source(X):
        raise TypeError(
            "The calibration needs a table in memory, to hold rows out. Got one that is read in "
            f"parts. Use {parameter('cv', PREFIT)} and a table in memory of rows that the model "
            "has not seen."
        )
    task = model.task_
    check_loss(task.loss, has_classes=task.holds_classes)
    data = read_rows(model, X, y, sample_weight, exposure)
    table, target = data.table, data.target
    weights = checked_weights(sample_weight, table.n_rows)
    raw = model.ensemble_.raw_predictions(table)
    if isinstance(cv, str):
        required = f"a number of folds, a splitter, splits or {PREFIT!r}"
        require(cv == PREFIT, parameter("cv"), required, cv)
        if groups is not None:
            raise ValueError(
                f"{parameter('groups')} must be None with {parameter('cv', PREFIT)}, which makes "
                "no folds. Leave it out."
            )
        name = parameter("cv", PREFIT)
        texts = f"{name} needs", "too narrow", f"leave out {name}"
        check_unseen(model.fingerprint_, data, texts, 4)
        held_out, unseen = np.arange(table.n_rows), outcomes(task, raw, target)
    else:
        warn_of_others(model.fingerprint_, data, 4)
        if groups is not None:
            groups = read_groups(groups, table.n_rows, counted(weights))
        splits = _splits(cv, target, groups, weights, task, random_state)
        _check_classes(model, splits, target, weights)
        amounts = None if exposure is None else checked_exposure(exposure, table.n_rows)
        rows = _Rows(model, X, np.asarray(y), target, weights, amounts, groups)
        held_out = np.concatenate([test for _, test in splits])
        unseen = np.concatenate(rows.visit(splits))
    known = None if weights is None else weights[held_out]
    given: dict[str, Any] = {
        "level": float(level),
        "method": "split" if isinstance(cv, str) else "cv",
        "weights": known,
    }
    if task.labels is not None:
        places = target[held_out].astype(np.intp)
        return intervals_of_classes(unseen, places, task.labels, **given)
    errors = np.abs(target[held_out] - unseen)
    predictions = task.means(raw)[held_out]
    return intervals_of_numbers(predictions, errors, is_grouped=is_grouped, **given)


def outcomes(
    task: Task, raw: Floats, target: Floats, labels: Sequence[Any] | None = None
) -> Floats:
    """Return predicted numbers, or the probability of the class that each row has.

    The `labels` are those that the target counts, where the task knows others.
    """
    shares = task.probabilities(raw)
    if shares is None:
        return task.means(raw)
    known, places = task.labels or [], target.astype(np.intp)
    found: Floats = np.zeros(len(places))
    for place, label in enumerate(labels or known):
        if label in known:
            rows = places == place
            found[rows] = shares[rows, known.index(label)]
    return found


class _Rows:
    """Rows of a fitted model, that clones of it are fitted to in part."""

    def __init__(
        self,
        model: RuleBoosting,
        X: Any,
        y: NDArray[Any],
        target: Floats,
        weights: Floats | None,
        exposure: Floats | None,
        groups: Indices | None,
    ) -> None:
        self.model, self.X, self.y, self.target = model, X, y, target
        self.weights, self.exposure, self.groups = weights, exposure, groups
        self.callbacks = model._callbacks()

    def visit(self, splits: Sequence[Split]) -> list[Floats]:
        """Return what models of the training rows of each split say about the others."""
        folds = [
            (split, f"fold {number} of {len(splits)}")
            for number, split in enumerate(splits, start=1)
        ]
        # A choice of the size changes the warnings of all threads.
        n_jobs = self.model.n_jobs if self.model._plain is None else 1
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = map_in_parallel(self._outcomes, folds, n_jobs=n_jobs)
        self._warn(caught)
        return found

    def _outcomes(self, fold: tuple[Split, str]) -> Floats:
        (train, test), stage = fold
        other: RuleBoosting = clone(self.model)
        other.callback = self._telling(stage) if self.callbacks else None
        # A fold that Ctrl-C has cut short would say nothing about the model.
        other.verbose, other.on_interrupt = 0, "raise"
        drop_callbacks(other)
        if hasattr(other, "warm_start"):
            other.warm_start = False
        known = getattr(other, "class_weight", None)
        if isinstance(known, Mapping):
            # Of the classes that there are among these rows.
            labels = np.array(self.model.task_.labels, dtype=object)
            present = labels[np.unique(self.target[train]).astype(np.intp)].tolist()
            other.class_weight = {label: known[label] for label in known if label in present}
        parts = (None if each is None else each[train] for each in (self.weights, self.exposure))
        belonging = groups_for(other, self.groups, train)
        other.fit(take_rows(self.X, train), self.y[train], *parts, **belonging)
        table = other._fitted_table(take_rows(self.X, test))
        raw = other.ensemble_.raw_predictions(table)
        return outcomes(other.task_, raw, self.target[test], self.model.task_.labels)

    def _telling(self, stage: str) -> Callable[[FitProgress], None]:
        """Return a callback that tells those of the model which fold it is.

        They cannot end its fit: a shorter model would say nothing about that of all rows.
        """

        def tell(progress: FitProgress) -> None:
            label = f"{stage}, {progress.stage}" if progress.stage else stage
            for call in self.callbacks:
                call(replace(progress, stage=label))

        return tell

    @staticmethod
    def _warn(caught: Sequence[warnings.WarningMessage]) -> None:
        """Show one warning of each kind, besides those of columns, which the fit has shown."""
        first: dict[Any, Any] = {}
        for each in caught:
            first.setdefault(each.category, each)
        for category, each in first.items():
            if not issubclass(category, ColumnWarning):
                warnings.warn(f"In a fold of the calibration: {each.message}", category, 5)


def _splits(
    cv: Any,
    target: Floats,
    groups: Indices | None,
    weights: Floats | None,
    task: Task,
    random_state: Any,
) -> list[Split]:
    """Divide rows into folds, of whole groups if these are given; each row is held out once."""
    if not (cv is None or is_whole(cv) or hasattr(cv, "split")):
        given, cv = cv, [*cv] if isinstance(cv, Iterable) else []
        is_met = len(cv) > 0 and all(map(_is_split, cv))
        required = (
            "a number of folds, a splitter such as PredefinedSplit, or pairs of arrays of rows"
        )
        require(is_met, parameter("cv"), required, given)
    splits = make_splits(
        *(cv, target),
        holds_classes=task.holds_classes,
        weights=weights,
        groups=groups,
        seed=random_state,
    )
    positions = np.arange(len(target))
    splits = [(positions[train], positions[test]) for train, test in splits]
    held_out = np.concatenate([test for _, test in splits])
    if len(np.unique(held_out)) < len(held_out):
        raise ValueError(
            f"{parameter('cv')} must hold out each row once. Got splits that hold out some rows "
            "several times. Use a number of folds, or a splitter without repeats."
        )
    for number, (train, test) in enumerate(splits):
        if n_shared := len(np.intersect1d(train, test)):
            raise ValueError(
                f"{parameter('cv')} must hold rows out. Got a split ({number}) that has "
                f"{format_count(n_shared, 'row')} both to learn from and to judge by, whose errors "
                "are too small. Leave them out of one of the two."
            )
        if task.labels is not None and len(np.unique(target[train])) < 2:
            raise ValueError(
                f"{parameter('cv')} must leave rows of two classes to learn from in every split. "
                f"Got a split ({number}) with rows of one class. Use other folds, or join groups."
            )
    return splits


def _is_split(split: Any) -> bool:
    is_pair = isinstance(split, tuple | list | np.ndarray) and len(split) == 2
    return is_pair and all(np.ndim(part) == 1 for part in split)


def _check_classes(
    model: RuleBoosting, splits: Sequence[Split], target: Floats, weights: Floats | None
) -> None:
    """Refuse splits without rows of a class that a parameter is about."""
    settings, labels = model.settings_, [*map(str, model.task_.labels or ())]
    named: dict[str, set[Any]] = {
        "initial_terms": {term.output for term in settings.initial_terms},
        "monotonic_cst": {*getattr(settings.constraints, "outputs", {}).values()},
    }
    has_pairs = any(isinstance(term, tuple) for term in model.initial_terms or ())
    for number, (train, _) in enumerate(splits):
        rows = train if weights is None else train[weights[train] > 0]
        absent = {*range(len(labels))}.difference(target[rows].tolist())
        # Of two classes, terms are for none of them.
        is_any = has_pairs and len(labels) - len(absent) < 3
        for name, classes in named.items():
            missing = absent if is_any and name == "initial_terms" else absent & classes
            if missing:
                raise ValueError(
                    f"{parameter('cv')} must leave rows of all classes that {parameter(name)} "
                    f"needs to learn from in every split. Got a split ({number}) without rows of "
                    f"{listed_names(labels[place] for place in sorted(missing))}. Use other folds, "
                    "or merge rare classes before the fit."
                )
