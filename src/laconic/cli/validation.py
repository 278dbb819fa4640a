"""Scores of a model: on training rows, on test rows, and by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import cyclopts
import numpy as np

from laconic._util.parallel import call_outside, map_in_parallel
from laconic._util.types import Floats, Indices
from laconic._util.words import listed_names
from laconic.cli import options, streamed, table_file
from laconic.cli.terminal import CommandError
from laconic.cli.training import Source, TrainingRows
from laconic.tables.sources.sources import is_database
from laconic.terms.record import FewerTerms, RowScores

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting
    from laconic.estimators.choose_size import Choice
    from laconic.models import Predictions
    from laconic.models.scores import ScoredRows
    from laconic.models.tasks import Task
    from laconic.terms.rules import RuleEnsemble

DEFAULT_FOLDS = 5
# A share of the terms that is worth mentioning if it is enough.
MUCH_SMALLER = 0.8


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Validation:
    """How to score a model on rows that it was not fitted to.

    Parameters
    ----------
    test : Path
        Table with the target to score the model on, instead of cross-validation; also one that is
        read in parts.
    validation : bool
        Score by 5-fold cross-validation: each fifth of the rows by a model fitted to the others.
        The model itself is fitted to all rows.
    """

    test: options.Place | None = None
    validation: bool = True

    def read_test(self, source: Source) -> Callable[[RuleBoosting], ScoredRows] | None:
        """Read the test rows, if any: before the fit, so that errors are found early.

        Returns a function that applies a model to them.
        """
        if self.test is None:
            return None
        format = source.format
        if not is_database(self.test):
            format = replace(format, query=None)  # that of the training table
        source = replace(source, format=format, groups=None)  # which scores do not need
        if streamed.is_read_in_parts(self.test, format.query):
            return streamed.open_test(self.test, source)
        table = table_file.TableFile(self.test, format)
        table_file.check_columns(table.cells, source.roles)
        return partial(_score_table, table, source)


DEFAULT_VALIDATION = Validation()


def _score_table(table: table_file.TableFile, source: Source, model: RuleBoosting) -> ScoredRows:
    found = table.fit_arguments(model, source.target, **source.named_columns)
    weights, exposure = found.get("sample_weight"), found.get("exposure")
    rows = TrainingRows(type(model), found["X"], found["y"], weights, exposure)
    with table_file.short_warnings():
        return scored_rows(model.predictions_for(rows.X), rows)


def scored_rows(predictions: Predictions, rows: TrainingRows) -> ScoredRows:
    """Join predictions with the target of the same rows."""
    from laconic.models.scores import ScoredRows

    task, n_rows = predictions.task, predictions.n_rows
    return ScoredRows(
        *(task, task.numbers(rows.y, n_rows), predictions.raw, rows.sample_weight, n_rows)
    )


def splits(rows: TrainingRows, folds: int, seed: int = 0) -> list[tuple[Indices, Indices]]:
    """Divide the rows for cross-validation, as the estimators do.

    Raises
    ------
    CommandError
        If a class is missing from a training part, as groups are not divided.
    """
    from laconic.estimators.choose_size import make_splits

    holds_classes = rows.estimator.task.holds_classes
    how: dict[str, Any] = {"weights": rows.sample_weight, "groups": rows.groups, "seed": seed}
    found = make_splits(folds, rows.y, holds_classes=holds_classes, **how)
    if rows.groups is not None and holds_classes:
        n_classes = len(np.unique(rows.y))
        if any(len(np.unique(rows.y[training])) < n_classes for training, _ in found):
            raise CommandError(
                "Cross-validation needs rows of each class outside of each fold, and groups are "
                "not divided. Some class is in too few groups: remove it, give it another class, "
                "or name rows to score on with --test."
            )
    return found


def affordable_folds(rows: TrainingRows) -> int:
    """Return the number of folds that there are enough rows for: at most five.

    Every training part needs all classes, every held-out part two rows.

    Raises
    ------
    CommandError
        If there are too few rows for two folds.
    """
    weights = rows.sample_weight
    y = rows.y if weights is None else rows.y[weights > 0]
    n_each = len(y) // 2
    if rows.estimator.task.holds_classes:
        labels, counts = np.unique(y, return_counts=True)
        if 1 in counts and len(labels) > 2:
            rare = listed_names(map(str, labels[counts == 1]))
            raise CommandError(
                f"Cross-validation needs two rows of each class. There is a single one of {rare}: "
                "give it another class, remove it, or name rows to score on with --test."
            )
        n_each = min(n_each, int(counts.min(initial=len(y))))
    if rows.groups is not None:
        n_each = min(n_each, len(np.unique(rows.groups)))
    if n_each < 2:
        raise CommandError("Too few rows to hold some out. Name rows to score on with --test.")
    return min(DEFAULT_FOLDS, n_each)


class SizeScores(NamedTuple):
    """Scores of a model with some number of terms, on the rows of a fold."""

    n_conditions: int
    values: dict[str, float]
    """By the metrics that decide on a size."""
    losses: Floats
    """Of each row."""


class FoldScores(NamedTuple):
    """Scores on the rows of a fold, of a model that was fitted to the others."""

    scores: RowScores
    sizes: list[SizeScores]
    """With the first 0, 1, 2, ... terms."""
    task: Task

    def padded(self, n_sizes: int) -> FoldScores:
        """Let the model stand for larger sizes, too, which it has found no terms for."""
        further = self.sizes[-1:] * (n_sizes - len(self.sizes))
        return self._replace(sizes=self.sizes + further)


def score_folds(
    model: RuleBoosting,
    rows: TrainingRows,
    parts: list[tuple[Indices, Indices]],
    announce: Callable[[str], None],
    *,
    refits: bool,
) -> list[FoldScores]:
    """Fit a model to the training rows of each fold, and score it and all sizes on the others.

    If terms are exchanged at the end, those that led to the model are no models of their size:
    these are fitted if it `refits`, and left out otherwise. All have as many sizes then. Folds are
    visited side by side.
    """

    def score(number: int) -> FoldScores:
        words = f"fold {number + 1} of {len(parts)}"
        call_outside(announce, words)
        fitted = copy(model)
        if model.callback is not None:
            fitted.callback = partial(_call_after, partial(announce, words), model.callback)
        return _score_fold(fitted, rows, *parts[number], refits=refits)

    found = map_in_parallel(score, range(len(parts)), n_jobs=model.n_jobs)
    n_sizes = max(len(fold.sizes) for fold in found)
    return [fold.padded(n_sizes) for fold in found]


def _call_after(first: Callable[[], Any], function: Callable[[Any], Any], argument: Any) -> Any:
    first()
    return function(argument)


def _score_fold(
    model: RuleBoosting, rows: TrainingRows, training: Indices, test: Indices, *, refits: bool
) -> FoldScores:
    from laconic.models.scores import ScoredRows, best_constant

    weights, y = rows.sample_weight, rows.y
    rows.fit(model, training)
    task = model.task_
    others = task.numbers(y[training], len(training))
    constant = best_constant(task, others, None if weights is None else weights[training])
    numbers = task.numbers(y[test], len(test))
    scored = ScoredRows(
        *(task, numbers, np.empty(0), None if weights is None else weights[test], len(test))
    )
    deciding = [each for each in task.metrics if each.name in task.deciding_metrics]
    sizes = []
    for ensemble, raw in _sizes(model, rows, training, rows.X[test], refits=refits):
        scored = replace(scored, raw=raw)
        losses = task.loss.value(task.for_loss(numbers), raw)
        sizes.append(SizeScores(ensemble.n_conditions, scored.by_metric(deciding), losses))
    return FoldScores(scored.scores("cross-validation", constant), sizes, task)


def _sizes(
    model: RuleBoosting, rows: TrainingRows, training: Indices, X: Any, *, refits: bool
) -> Iterator[tuple[RuleEnsemble, Floats]]:
    """Yield the models with 0, 1, 2, ... terms, and their raw predictions."""
    from sklearn.base import clone

    predictions = model.predictions_for(X)
    stages, raw = predictions.stages, predictions.staged_raw()
    if not model.settings_.is_polished:
        yield from zip(stages, raw, strict=True)
        return
    if refits and len(stages) > 1:
        yield stages[0], next(raw)
        for n_terms in range(1, len(stages) - 1):
            other = rows.fit(clone(model).set_params(n_terms=n_terms), training)
            yield other.ensemble_, other.predictions_for(X).raw
    yield model.ensemble_, predictions.raw


def choose_size(
    folds: list[FoldScores], rows: TrainingRows, parts: list[tuple[Indices, Indices]]
) -> Choice:
    """Choose a size by the losses of the folds, as the estimators do."""
    from laconic.estimators.choose_size import Size, choose

    weights = np.ones(len(rows.y)) if rows.sample_weight is None else rows.sample_weight
    sizes = [
        Size(float(np.mean([one.n_conditions for one in same])), [one.losses for one in same])
        for same in zip(*(fold.sizes for fold in folds), strict=True)
    ]
    return choose(sizes, [test for _, test in parts], weights, groups=rows.groups)


def fewer_terms(
    folds: list[FoldScores],
    rows: TrainingRows,
    parts: list[tuple[Indices, Indices]],
    model: RuleBoosting,
) -> FewerTerms | None:
    """Find a smaller number of terms than that of a model that may well be as good."""
    n_terms = choose_size(folds, rows, parts).n_terms
    if n_terms > MUCH_SMALLER * len(model.ensemble_):
        return None
    name = model.task_.deciding_metric.name
    return FewerTerms(n_terms, float(np.mean([fold.sizes[n_terms].values[name] for fold in folds])))


def join_folds(folds: Sequence[RowScores]) -> RowScores:
    """Compute means of scores with their standard errors, and add up the counts of classes."""
    from laconic.models.scores import merge_counts

    # A metric may not apply to all parts.
    names = [name for name in folds[0].values if all(name in fold.values for fold in folds)]
    values = {name: np.array([fold.values[name] for fold in folds]) for name in names}
    return RowScores(
        folds[0].rows,
        sum(fold.n_rows for fold in folds),
        {name: float(each.mean()) for name, each in values.items()},
        {name: float(standard_errors(each)) for name, each in values.items()},
        {name: float(np.mean([fold.constants[name] for fold in folds])) for name in names},
        merge_counts(fold.classes for fold in folds),
    )


def standard_errors(scores: Floats) -> Any:
    """Compute standard errors of means over folds, which are the first axis."""
    return scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
