"""The number of rules, chosen by cross-validation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._checks import is_whole
from laconic.boosting import Settings, TrainingData
from laconic.data.sources import is_source
from laconic.data.tables import take_rows
from laconic.estimators.callbacks import RuleTasks
from laconic.estimators.fitting import FitRun
from laconic.estimators.reducing import reduced
from laconic.estimators.sizes import Choice, Fold, choose, grow, make_splits
from laconic.model.formatting import format_count
from laconic.search import SearchResult

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


def check_cv(estimator: RuleBoosting, X: Any) -> None:
    """Refuse what cross-validation cannot do."""
    if not _is_cv(estimator.cv):
        raise ValueError(
            f"The 'cv' parameter of {type(estimator).__name__} must be an int in the range "
            "[2, inf), a splitter with the method 'split', an iterable of splits or None. "
            f"Got {estimator.cv!r} instead."
        )
    if is_source(X) and estimator._plain is not None:
        raise TypeError(
            f"{type(estimator).__name__} needs a table in memory, to hold rows out. Got one that "
            f"is read in parts. Choose n_rules with a sample of it, and fit "
            f"{estimator._plain.__name__} with "
            "that."
        )


def choose_size(
    estimator: RuleBoosting, data: TrainingData, settings: Settings, tasks: RuleTasks | None
) -> tuple[Settings, SearchResult | None, list[str]]:
    """Choose the number of rules: all splits find one rule after the other, side by side.

    Sets, of the estimator: n_rules_, cv_results_, reason_. Where a limit left nothing to choose
    from, the search that it stopped is returned as well; and what users should know about it.
    """
    weights = np.ones(data.table.n_rows) if data.weights is None else data.weights
    splits = make_splits(
        estimator.cv, data.target, holds_classes=data.task.holds_classes, weights=data.weights
    )
    folds = []
    for number, (train, test) in enumerate(splits, start=1):
        part, of_part = _part(estimator, data, settings, train, weights)
        n_tasks = None if settings.constraints is not None else settings.n_rules
        run = FitRun(
            part,
            of_part,
            callbacks=estimator._callbacks(),
            tasks=None if tasks is None else tasks.stage("fold", n_tasks, {}),
            stage=f"fold {number} of {len(splits)}",
            n_jobs=estimator.n_jobs,
        )
        folds.append(Fold(run, data, test))
    sizes, notes, n_given = [], [], len(settings.initial_rules)
    try:
        for size in grow(folds, settings.n_rules, weights, n_given):
            sizes.append(size)
    except KeyboardInterrupt:
        if estimator.on_interrupt != "keep" or len(sizes) < 2:
            raise
        notes = [
            "Interrupted: the number of rules is chosen among 0 to "
            f"{len(sizes) - 1}, not up to {settings.n_rules}."
        ]
    for fold in folds:
        if fold.run.tasks is not None:
            fold.run.tasks.finish(None)
    unfinished = folds[0].run.unfinished if len(sizes) == 1 else None
    choice = choose(sizes, [test for _, test in splits], weights, folds[0].scale, n_given)
    estimator.n_rules_, estimator.cv_results_ = choice.n_rules, choice.results
    estimator.reason_ = _reason(choice, len(splits), settings.n_rules)
    return replace(settings, n_rules=choice.n_rules), unfinished, notes


def _part(
    estimator: RuleBoosting, data: TrainingData, settings: Settings, train: Any, weights: Any
) -> tuple[TrainingData, Settings]:
    """Take rows to learn from: the others have no weight, so that columns stay what they are."""
    if callable(estimator.propositions):
        given = estimator.propositions(take_rows(data.X, train))
        settings = replace(settings, propositions=tuple(given))
    # Where a split repeats rows, they count as often.
    part = data.with_weights(weights * np.bincount(train, minlength=data.table.n_rows))
    rules = [rule.query for rule in settings.initial_rules]
    return reduced(part, settings, [*rules, *settings.excluded_rules]), settings


def _reason(choice: Choice, n_folds: int, n_rules: int) -> str:
    """Say in a sentence how the number was chosen."""
    why = "with the smallest loss"
    if choice.best != choice.n_rules:
        why = (
            "the fewest within one standard error of the smallest loss, that of "
            f"{format_count(choice.best, 'rule')}"
        )
    largest = format_count(n_rules, "rule")
    return f"{choice.n_rules} of up to {largest}: chosen by {n_folds}-fold cross-validation, {why}."


def _is_cv(value: Any) -> bool:
    if value is None or isinstance(value, str | bool):
        return value is None
    return is_whole(value, 2) or hasattr(value, "split") or hasattr(value, "__iter__")
