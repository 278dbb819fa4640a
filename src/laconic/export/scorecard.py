"""Models as scorecards: whole points instead of weights, with the cost of rounding.

A rule has points where it covers a row. A slope has points per step of its feature, whose number is
rounded: a step counts once half of it is reached.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic._util.checks import is_whole, require
from laconic._util.types import Floats, Integers
from laconic.export.portable import single_output
from laconic.losses import LogLinkLoss
from laconic.models import RuleModel
from laconic.models.tasks import Task
from laconic.tables.tables import as_table
from laconic.terms.formatting import class_text, exact_number, format_count, format_number
from laconic.terms.rules import Rule, RuleEnsemble, Term
from laconic.terms.slopes import STEPS, Slope, Step

# The largest number of totals in the table of probabilities.
_MAX_TOTALS_SHOWN = 21

# The intercept has at most that many times the points of the largest term.
_MAX_BASE = 1e6

# Relative difference between weights that is ignored.
_NOTHING = 1e-9

# Steps of slopes are these multiples of round units, the roundest first.
_MULTIPLES = (1, 2, 5, 3, 4, 6, 8, 1.5, 2.5)
_RULE_STEP = Step(1.0, "")


class TermPoints(NamedTuple):
    """The points of a term."""

    points: int
    """Of a slope per step."""
    step: Step = _RULE_STEP
    """In which the values of the term are counted; those of rules are 0 and 1."""

    def total(self, value: float) -> int:
        """Return the points for a value of the term."""
        return self.points * math.floor(value / self.step.size + 0.5)


@dataclass(frozen=True)
class RoundingCost:
    """How much worse a scorecard is than its model, on some rows.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    loss, rounded_loss : float
        Mean loss of the model and of the scorecard.
    score, rounded_score : float
        First metric of the task, accuracy or R², of the model and of the scorecard.
    n_changed : int
        Rows that get another class; 0 where there are no classes.
    max_deviation : float
        Largest difference between the raw predictions of the two.
    """

    n_rows: int
    loss: float
    rounded_loss: float
    score: float
    rounded_score: float
    n_changed: int
    max_deviation: float


@dataclass(frozen=True)
class Scorecard:
    """Rule ensemble with whole points. Made by `to_scorecard`.

    Parameters
    ----------
    ensemble : RuleEnsemble
        The terms with their weights before rounding, each query once.
    term_points : tuple of TermPoints
        Points of each term; of a slope with their step.
    base_points : int
        Points of every row, in place of the intercept.
    unit : float
        Raw prediction that one point stands for.
    task : Task
        Turns raw predictions into predictions, means or probabilities.
    cost : RoundingCost or None
        On the rows given to `to_scorecard`, None without any.
    """

    ensemble: RuleEnsemble
    term_points: tuple[TermPoints, ...]
    base_points: int
    unit: float
    task: Task
    cost: RoundingCost | None = None

    @property
    def points(self) -> tuple[int, ...]:
        """Return the points of each rule, and of each slope per step."""
        return tuple(each.points for each in self.term_points)

    @property
    def max_deviation(self) -> float:
        """Return an upper bound on the change of any raw prediction by rounding."""
        return _largest_deviation(self.ensemble, self.term_points, self.base_points, self.unit)

    @property
    def range(self) -> tuple[int, int]:
        """Return bounds on the total: the sums with all negative or all positive points."""
        pairs = zip(self.term_points, self.ensemble, strict=True)
        most = [points.total(_largest_value(term)) for points, term in pairs]
        smallest, largest = (sum(limit(points, 0) for points in most) for limit in (min, max))
        return self.base_points + smallest, self.base_points + largest

    def total_points(self, X: Any) -> Integers:
        """Sum the base points and the points of the terms.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        sizes = np.array([each.step.size for each in self.term_points])
        steps = np.floor(self.ensemble.values(X) / sizes + 0.5).astype(np.int64)
        totals: Integers = steps @ np.array(self.points, dtype=np.int64) + self.base_points
        return totals

    def means(self, totals: ArrayLike) -> Floats:
        """Return predicted means, or probabilities of the second class, for totals.

        Parameters
        ----------
        totals : array-like of int

        Returns
        -------
        ndarray of the same shape
        """
        return self.task.means(self._raw_predictions(totals))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict a class, the second one where the total is above 0, or a number.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self.task.predictions(self._raw_predictions(self.total_points(X)))

    def to_dict(self) -> dict[str, Any]:
        """Return the scorecard as plain values.

        Returns
        -------
        data : dict
            With the points and texts of the terms, the unit, the totals with their means, and the
            cost of rounding.
        """
        totals = self._totals()
        return {
            "base_points": self.base_points,
            "unit": self.unit,
            "classes": self.task.labels,
            "terms": [
                {"points": points.points, "term": self._text(points, term), "weight": term.weight}
                for points, term in zip(self.term_points, self.ensemble, strict=True)
            ],
            "totals": [
                {"total": total, "mean": mean}
                for total, mean in zip(totals, self.means(totals).tolist(), strict=True)
            ],
            "max_deviation": self.max_deviation,
            "cost": None if self.cost is None else vars(self.cost).copy(),
        }

    def __str__(self) -> str:
        return "\n".join([*self._term_lines(), "", *self._total_lines(), "", *self._cost_lines()])

    def _text(self, points: TermPoints, term: Term) -> str:
        per = f"per {points.step.text} " if points.step.text else ""
        return f"{per}{self.ensemble.text(term)}"

    def _term_lines(self) -> Iterator[str]:
        rows = [
            (
                points.points,
                f"{'if ' if isinstance(term, Rule) and term.query else ''}"
                f"{self._text(points, term)}",
            )
            for points, term in zip(self.term_points, self.ensemble, strict=True)
        ]
        if self.base_points or not rows:
            rows.insert(0, (self.base_points, "(intercept)"))
        texts = [f"{points:+d}" if points else "0" for points, _ in rows]
        width = max(len("points"), *map(len, texts))
        yield f"{'points':>{width}}"
        for text, (_, condition) in zip(texts, rows, strict=True):
            yield f"{text:>{width}}  {condition}"
        if self.ensemble.slopes:
            yield ""
            yield "Points per step: a step counts once half of it is reached."

    def _total_lines(self) -> Iterator[str]:
        if self.task.labels is None and not isinstance(self.task.loss, LogLinkLoss):
            yield f"Prediction: the total times {format_number(self.unit, 6)}"
            return
        if self.task.labels is None:
            yield f"{'total':>6}  prediction"
        else:
            first, second = map(class_text, self.task.labels)
            yield f"Total above 0: {second}; otherwise: {first}"
            yield f"{'total':>6}  probability of {second}"
        totals = self._totals()
        for total, mean in zip(totals, self.means(totals).tolist(), strict=True):
            text = format_number(mean) if self.task.labels is None else f"{mean:.3f}"
            yield f"{total:>6}  {text}"

    def _cost_lines(self) -> Iterator[str]:
        # Rounding errors of floating point numbers are ignored.
        deviation = self.max_deviation if self.max_deviation > _NOTHING * self.unit else 0.0
        yield (
            f"One point is {format_number(self.unit)} of the raw prediction. Rounding changes that "
            f"by at most {format_number(deviation)} in any row."
        )
        if self.cost is not None:
            cost, score = self.cost, self.task.metrics[0].label
            yield (
                f"On {format_count(cost.n_rows, 'row')}: "
                f"loss {format_number(cost.rounded_loss, 6)} "
                f"instead of {format_number(cost.loss, 6)}, "
                f"{score} {format_number(cost.rounded_score, 6)} "
                f"instead of {format_number(cost.score, 6)}"
                + (f", another class in {cost.n_changed}." if self.task.labels else ".")
            )

    def _raw_predictions(self, totals: ArrayLike) -> Floats:
        return np.asarray(totals, dtype=np.float64) * self.unit

    def _totals(self) -> list[int]:
        smallest, largest = self.range
        step = math.ceil((largest - smallest + 1) / _MAX_TOTALS_SHOWN)
        return list(range(smallest, largest + 1, step))


def to_scorecard(
    model: RuleModel,
    *,
    max_points: int = 10,
    X: Any = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Scorecard:
    """Round the weights of a fitted model to whole points.

    A scorecard is the only export that does not predict exactly what the model predicts: points can
    be added by hand, and the cost of rounding is known. Of all units in which the largest term
    has up to `max_points`, the one is used for which rounding changes raw predictions least; among
    equal ones, that with fewer points. A slope has points per round step of its feature, of which
    that is used which changes raw predictions least.

    Parameters
    ----------
    model : RuleModel
        Fitted.
    max_points : int, default=10
        Largest number of points of a term; of a slope, at its upper end.
    X : table-like of shape (n_rows, n_features), default=None
        Rows on which the cost of rounding is measured, such as those of the training table.
    y : array-like of shape (n_rows,), default=None
        Their targets.
    sample_weight : array-like of shape (n_rows,), default=None
        Their weights.

    Returns
    -------
    scorecard : Scorecard
        Prints as a table.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> X, y = [[1], [2], [3], [4]], [5, 6, 1, 1]
    >>> model = RuleBoostingRegressor(n_terms=2, l2_regularization=0.1).fit(X, y)
    >>> print(model.ensemble_)
    +1.094 (intercept)
    +3.771 if x0 <= 2
    +1.081 if x0 == 2
    >>> print(to_scorecard(model, max_points=5, X=X, y=y))
    points
        +1  (intercept)
        +4  if x0 <= 2
        +1  if x0 == 2
    <BLANKLINE>
    Prediction: the total times 0.942797
    <BLANKLINE>
    One point is 0.9428 of the raw prediction. Rounding changes that by at most 0.2892 in any row.
    On 4 rows: loss 0.0515376 instead of 0.00969886, R² 0.990065 instead of 0.99813.
    """
    single_output(model, "A scorecard")
    require(is_whole(max_points, 1), "'max_points'", "an int in the range [1, inf)", max_points)
    if (X is None) != (y is None):
        raise ValueError(
            "The cost of rounding is measured on rows with their targets: 'X' and 'y' must be "
            "given together. Got one of them."
        )
    scorecard = _rounded(model, int(max_points))
    if X is None:
        return scorecard
    return replace(scorecard, cost=_cost(model, scorecard, X, y, sample_weight))


def _rounded(model: RuleModel, max_points: int) -> Scorecard:
    # A query that occurs twice would be rounded twice.
    ensemble = model.ensemble_.consolidate()
    largest = max((abs(term.effect) for term in ensemble), default=0.0) or 1.0
    # Next to a huge intercept, terms make no difference; its points should stay readable.
    largest = max(largest, abs(ensemble.intercept) / _MAX_BASE, sys.float_info.min * max_points)
    best: tuple[int, tuple[TermPoints, ...], float] = (0, (), 1.0)
    best_deviation = math.inf
    for n_points in range(1, max_points + 1):
        unit = largest / n_points
        points = tuple(_rounded_term(term, unit, max_points, ensemble) for term in ensemble)
        base_points = round(ensemble.intercept / unit)
        deviation = _largest_deviation(ensemble, points, base_points, unit)
        if deviation < best_deviation - _NOTHING * largest:
            best, best_deviation = (base_points, points, unit), deviation
    base_points, points, unit = best
    return Scorecard(ensemble, points, base_points, unit, model.task_)


def _rounded_term(term: Term, unit: float, max_points: int, ensemble: RuleEnsemble) -> TermPoints:
    if isinstance(term, Rule):
        return TermPoints(round(term.weight / unit))
    is_integer = ensemble.feature_kinds.get(term.feature) == "integer"
    found = [TermPoints(0, term.step)]
    for step in _round_steps(term):
        points = TermPoints(round(term.weight * step.size / unit), step)
        is_allowed = abs(points.total(_largest_value(term))) <= max_points
        if is_allowed and (step.size.is_integer() or not is_integer):
            found.append(points)
    # The first of equally good ones.
    return min(found, key=lambda points: round(_width(points, term, unit) / (_NOTHING * unit)))


def _round_steps(slope: Slope) -> list[Step]:
    """Return round steps that are no longer than twice the range of a slope, the roundest first."""
    longest = min(2 * _largest_value(slope), sys.float_info.max)
    if slope.time_kind is None:
        power = math.floor(math.log10(longest))
        sizes = (float(f"{m}e{power - k}") for m in _MULTIPLES for k in range(4))
        return [
            Step(size, "unit of" if size == 1.0 else f"{exact_number(size)} of")
            for size in sizes
            if 0 < size <= longest
        ]
    spans = {name: span / slope.unit for name, span in STEPS.items()}
    return [
        Step(n * span, f"{name} of" if n == 1 else f"{n} {name}s of")
        for n in (m * k for m in _MULTIPLES if isinstance(m, int) for k in (1, 10, 100))
        for name, span in spans.items()
        if n * span <= longest and (span >= 1 or slope.time_kind != "date")
    ]


def _largest_value(term: Term) -> float:
    """Return the value of a term at its upper end; 1 for rules."""
    if isinstance(term, Rule):
        return 1.0
    lower, upper = term.ends
    return (upper - lower) / term.unit


def _errors(points: TermPoints, term: Term, unit: float) -> tuple[float, float]:
    """Return the smallest and the largest change of what a term adds, by rounding."""
    size, top = points.step.size, _largest_value(term)
    errors = [0.0, points.total(top) * unit - term.weight * top]
    n_steps = math.floor(top / size + 0.5)
    if isinstance(term, Slope) and n_steps:
        # Errors change linearly between two jumps, and so do those at the jumps.
        for n in (1, n_steps):
            exact = term.weight * (n - 0.5) * size
            errors += [points.points * (n - k) * unit - exact for k in (0, 1)]
    return min(errors), max(errors)


def _width(points: TermPoints, term: Term, unit: float) -> float:
    below, above = _errors(points, term, unit)
    return max(above, -below)


def _largest_deviation(
    ensemble: RuleEnsemble, points: tuple[TermPoints, ...], base_points: int, unit: float
) -> float:
    start = base_points * unit - ensemble.intercept
    errors = [_errors(n, term, unit) for n, term in zip(points, ensemble, strict=True)]
    # Terms apply in any combination, so at worst all errors of one sign add up.
    above = start + sum(error for _, error in errors)
    below = start + sum(error for error, _ in errors)
    return max(abs(above), abs(below))


def _cost(
    model: RuleModel, scorecard: Scorecard, X: Any, y: Any, sample_weight: Any
) -> RoundingCost:
    task = model.task_
    table = as_table(X, model.ensemble_.feature_names)
    raw = model.ensemble_.raw_predictions(table)
    rounded = scorecard._raw_predictions(scorecard.total_points(table))
    numbers = task.numbers(y, len(raw))
    targets = task.for_loss(numbers)
    losses = [
        float(np.average(task.loss.value(targets, predictions), weights=sample_weight))
        for predictions in (raw, rounded)
    ]
    scores = [
        task.score(task.metrics[0], numbers, predictions, sample_weight)
        for predictions in (raw, rounded)
    ]
    is_changed = task.predictions(raw) != task.predictions(rounded)
    return RoundingCost(
        n_rows=len(raw),
        loss=losses[0],
        rounded_loss=losses[1],
        score=scores[0],
        rounded_score=scores[1],
        n_changed=int(np.sum(is_changed)) if task.holds_classes else 0,
        max_deviation=float(np.max(np.abs(rounded - raw))),
    )
