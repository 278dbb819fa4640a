"""Scores of predictions, beside those of a constant, and what there is to say about them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from laconic._util.types import Floats
from laconic._util.words import listed, parameter
from laconic.boosting import Settings
from laconic.boosting.scale import scale_of
from laconic.losses import optimal_constants
from laconic.models.rule_model import RuleModel
from laconic.models.tasks import Metric, Task
from laconic.terms.formatting import (
    class_text,
    format_count,
    format_like,
    format_number,
    format_percent,
)
from laconic.terms.record import ClassCounts, FewerTerms, RowScores

# Classes in a sentence.
_MAX_LISTED = 5


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The target of some rows, as the task reads it, and raw predictions for them."""

    task: Task
    numbers: Floats
    raw: Floats
    weights: Floats | None
    n_rows: int

    def __post_init__(self) -> None:
        if self.n_rows == 0 or not (self.weights is None or self.weights.any()):
            raise ValueError(
                "Scores need rows with a target and a positive weight. Got none. Add such rows, or "
                "leave out the weights."
            )

    @classmethod
    def merged(
        cls, task: Task, parts: Iterable[tuple[Floats, Floats, Floats | None]]
    ) -> ScoredRows:
        """Join parts of a table: rows with the same target and raw predictions become one.

        Models of a few rules have a few different raw predictions, so that of classes hardly
        anything is kept, however many rows there are; of numbers, three doubles for each row.
        """
        n_rows, n_merged = 0, 0
        kept = [np.empty((0, 2 + (len(task.outputs) or 1)))]
        for numbers, raw, weights in parts:
            n_rows += len(numbers)
            amounts = np.ones(len(numbers)) if weights is None else weights
            kept.append(_without_copies(np.column_stack([raw, numbers, amounts])))
            if sum(map(len, kept)) > 2 * n_merged:
                kept = [_without_copies(np.concatenate(kept))]
                n_merged = len(kept[0])
        *raw_columns, numbers, amounts = _without_copies(np.concatenate(kept)).T
        raw = np.column_stack(raw_columns) if task.outputs else raw_columns[0]
        return cls(task, numbers, raw, amounts, n_rows)

    def by_metric(self, metrics: Iterable[Metric] | None = None) -> dict[str, float]:
        """Compute the scores of some metrics, by name; of all that apply, by default."""
        if metrics is None:
            metrics = self.task.metrics_for(self.numbers, self.weights)
        return {
            metric.name: self.task.score(metric, self.numbers, self.raw, self.weights)
            for metric in metrics
        }

    @property
    def best_constant(self) -> Floats:
        """The raw predictions that suit the target best if all rows have the same ones."""
        return best_constant(self.task, self.numbers, self.weights)

    def constant_for(self, model: RuleModel) -> Floats:
        """Return the best constant for the training rows of a model; if unknown, for these."""
        known = training_constant(model)
        return self.best_constant if known is None else known

    def without_model(self, constant: Floats) -> ScoredRows:
        """Return the same rows, all with the same raw predictions."""
        raw = np.broadcast_to(constant if self.task.outputs else constant[0], self.raw.shape)
        return ScoredRows(self.task, self.numbers, np.array(raw), self.weights, self.n_rows)

    def scores(self, kind: str, constant: Floats) -> RowScores:
        """Score the rows, also without a model: with the best constant for the training rows."""
        return RowScores(
            kind,
            self.n_rows,
            self.by_metric(),
            constants=self.without_model(constant).by_metric(),
            classes=self.task.count_classes(self.numbers, self.raw, self.weights),
        )


def _without_copies(rows: Floats) -> Floats:
    """Merge rows that are the same but for the last column, which is added up."""
    rows = rows[np.lexsort(rows.T[:-1])]
    is_new = np.append(True, (rows[1:, :-1] != rows[:-1, :-1]).any(axis=1))[: len(rows)]
    starts = np.flatnonzero(is_new)
    amounts = np.add.reduceat(rows[:, -1], starts) if len(rows) else rows[:, -1]
    return np.column_stack([rows[starts, :-1], amounts])


def best_constant(task: Task, numbers: Floats, weights: Floats | None) -> Floats:
    """Find the raw predictions, one per output, that suit a target best if all rows have them.

    Examples
    --------
    >>> from laconic.losses import SquaredLoss
    >>> from laconic.models.tasks import TASKS
    >>> best_constant(TASKS["regression"](SquaredLoss()), np.array([1.0, 2.0, 6.0]), None)
    array([3.])
    """
    y = task.for_loss(numbers)
    scale = scale_of(task.loss, y)
    constants = optimal_constants(
        scale.loss(task.loss), scale.numbers(y), len(task.outputs) or 1, weights
    )
    return scale.inverse.numbers(constants)


def training_constant(model: RuleModel) -> Floats | None:
    """Return the raw predictions without terms that suit the training rows best, if known.

    A model with class weights or without an intercept starts from others.
    """
    settings, ensemble = model.settings_, model.ensemble_
    # Terms that someone has replaced have no stages of their own.
    is_first = settings.strategy == "stagewise" or not ensemble.terms
    if not (is_first or model.stages != ensemble.stages):
        return None
    if settings.class_weight is not None or not settings.fit_intercept:
        return None
    return np.array(model.stages[0].intercepts)


def merge_counts(parts: Iterable[tuple[ClassCounts, ...]]) -> tuple[ClassCounts, ...]:
    """Add up the counts of each class."""
    return tuple(
        ClassCounts(
            same[0].label,
            sum(each.n_rows for each in same),
            sum(each.n_predicted for each in same),
            sum(each.n_correct for each in same),
        )
        for same in zip(*parts, strict=True)
    )


def is_worse(metric: Metric, scores: RowScores) -> bool:
    """Check whether a score is worse than that without a model, in the digits that are shown."""
    if metric.name not in scores.values or metric.name not in scores.constants:
        return False
    value, constant = scores.values[metric.name], scores.constants[metric.name]
    loss = constant - value if metric.is_higher_better else value - constant
    return loss > 0 and format_number(value) != format_number(constant)


def remarks(model: RuleModel, scores: RowScores) -> Iterator[str]:
    """Yield sentences about what a model fails at, and what to do about it."""
    worse = [metric for metric in model.task_.metrics if is_worse(metric, scores)]
    if worse:
        words = ", ".join(
            f"{each.label} {format_number(scores.values[each.name])} instead of "
            f"{format_number(scores.constants[each.name])}"
            for each in worse
        )
        yield f"On {scores.rows_words} the model is worse than no model: {words}. " + _remedy(
            {each.name for each in worse}, model
        )
    yield from _never_predicted(scores, model.settings_.class_weight)
    if scores.fewer is not None:
        yield _describe_fewer(model, scores, scores.fewer)


def _describe_fewer(model: RuleModel, scores: RowScores, fewer: FewerTerms) -> str:
    """Describe a smaller number of terms that is as good, as far as it can be told."""
    metric, n_terms = model.task_.deciding_metric, len(model.ensemble_)
    value, full = (format_number(each) for each in (fewer.value, scores.values[metric.name]))
    if fewer.n_terms == 0:
        return (
            f"No terms at all would do as well on {scores.rows_words}: the {metric.label} is "
            f"{value} without any and {full} with {n_terms}, and the best number is within one "
            "standard error. The columns do not predict the target."
        )
    return (
        f"With {format_count(fewer.n_terms, 'term')}, the {metric.label} on {scores.rows_words} is "
        f"{value}, within one standard error of the best, and {full} with {n_terms}: try "
        f"{parameter('n_terms', fewer.n_terms)}."
    )


def search_rows(model: RuleModel) -> str:
    """Name the rows that the terms were found on, which proofs are about."""
    effects, fingerprint = model.own_trust.effects, model.fingerprint_
    if model.settings_.honest is None:
        return "the training rows"
    if fingerprint is None or effects is None or effects.rows != "held out":
        return "the rows that found the terms"
    n_search = fingerprint.n_rows - effects.n_rows
    return f"the {format_count(n_search, 'row')} that found the terms"


def describe_optimality(model: RuleModel) -> str:
    """Describe which terms are proven to be the best, and on which rows, among which others."""
    results, settings, record = model.search_results_, model.settings_, model.record_
    n_proven, n_terms = sum(result.is_optimal for result in results), len(results)
    is_one = n_proven == 1 or n_proven == n_terms
    who = f"{n_proven} of {format_count(n_terms, 'term')}"
    if n_proven == n_terms:
        who = "The term" if n_terms == 1 else f"Each of the {n_terms} terms"
    before = f" those before {'it' if is_one else 'them'}"
    given = "" if n_terms == 1 else f" given{' all others' if settings.is_polished else before}"
    rows = search_rows(model)
    if settings.honest is None and record is not None and record.n_rows is not None:
        rows = f"the {format_count(record.n_rows, 'training row')}"
    return f"{who} {'is' if is_one else 'are'} proven optimal{given}, on {rows}{_scope(settings)}."


def _scope(settings: Settings) -> str:
    """Describe the terms that were searched."""
    if settings.is_mixed:
        return ", by the settings of each search"
    limit, thresholds = settings.max_conditions, settings.max_thresholds
    length = "any length" if limit is None else f"up to {format_count(limit, 'condition')}"
    scope = f", among {'slopes and ' if settings.slopes else ''}rules of {length}"
    if settings.conditions is not None:
        return f"{scope}, out of the given conditions"
    count = "all thresholds"
    if thresholds is not None:
        count = f"up to {format_count(thresholds, 'threshold')}"
    return f"{scope}, with {count} per numeric column"


def describe_unseen(model: RuleModel) -> str:
    """Describe how well a model does on rows that it was not fitted to, if that is known."""
    scores = None if model.record_ is None else model.record_.unseen
    if scores is None:
        return "How well the model predicts other rows is not known."
    metric = headline(model.task_.metrics, scores.values)
    value = format_number(scores.values[metric.name])
    words = f"On {scores.rows_words}: {metric.label} {value}"
    if metric.name in scores.constants:
        words += f" (no model: {format_like(scores.constants[metric.name], value)})"
    return f"{words}."


def headline(metrics: Iterable[Metric], names: Container[str]) -> Metric:
    """Return the metric that says most, of those with a name: one that rare classes do not hide."""
    known = [metric for metric in metrics if metric.name in names]
    return next((metric for metric in known if metric.name == "auc"), known[0])


def _remedy(names: set[str], model: RuleModel) -> str:
    """Return what to do about scores that are worse than those of a constant."""
    if names <= {"accuracy", "log_loss"} and model.settings_.class_weight is not None:
        return (
            "This is the effect of class weights, which make rare classes be predicted more often: "
            "judge by the precision and recall of each class."
        )
    if names == {"accuracy"}:
        return (
            "Always predicting the most frequent class is more often right: judge by the other "
            "scores, and decide by probabilities, with a threshold that suits you."
        )
    if model.settings_.beats_chance or not model.ensemble_.terms:
        return "Try other columns."
    return f"Try fewer terms ({parameter('n_terms', 'auto')}), or other columns."


def _never_predicted(scores: RowScores, class_weight: Any) -> Iterator[str]:
    """Yield a sentence about classes that are there, but never predicted."""
    total = sum(each.n_rows for each in scores.classes)
    never = [each for each in scores.classes if each.n_rows > 0 and each.n_predicted == 0]
    if not never:
        return
    names = (
        f"{class_text(each.label)} ({format_percent(each.n_rows / total)} of them)"
        for each in never
    )
    words = f"On {scores.rows_words} the model never predicts {listed(names, _MAX_LISTED)}."
    advice = [] if class_weight is not None else [f"set {parameter('class_weight', 'balanced')}"]
    area = scores.values.get("auc", 0.0)
    if area - 2 * scores.errors.get("auc", 0.0) > 0.5:
        words += f" Its probabilities still rank rows (AUC {format_number(area, 3)})."
        advice.insert(0, "choose a threshold below 0.5 for them")
    together = ", or ".join(advice)
    yield f"{words} {together[:1].upper()}{together[1:]}." if advice else words
