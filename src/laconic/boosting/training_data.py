"""Training data: a table with its target, weights and loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from laconic._util.types import Floats, Indices, Values
from laconic.boosting.scale import UNSCALED, Scale, scale_of
from laconic.candidates.candidates import CandidateConditions
from laconic.losses import Loss, MultinomialLoss, mean_hessian, optimal_constant
from laconic.tables.columns import Rows
from laconic.tables.tables import Table
from laconic.terms.conditions import Query
from laconic.terms.parsing import Feature, features_of
from laconic.terms.rules import Output, RuleEnsemble
from laconic.terms.slopes import Slope


class FitTask(Protocol):
    """What a fit needs of a task; see `laconic.models.tasks`."""

    @property
    def loss(self) -> Loss:
        """What the model is fitted by."""

    @property
    def holds_classes(self) -> bool:
        """Whether the target is one of a few classes."""

    @property
    def labels(self) -> list[Any] | None:
        """The classes as plain values; None where there are none."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the raw predictions of a row, where there are several; else empty."""

    def for_loss(self, numbers: Floats) -> Floats:
        """Bring the target to the form that the loss expects."""

    def covered_target(self, numbers: Floats, output: int) -> Floats:
        """Select the target whose mean describes the rows of a rule."""


@dataclass(frozen=True, eq=False)
class TrainingData:
    """A table with its target and weights, checked, in memory or reduced to distinct rows.

    Weights include those of classes and the exposure. Rows of weight 0 do not count.
    """

    X: Any
    """The table as it was passed to fit."""
    table: Table
    target: Floats
    """The target as the task reads it: numbers of classes, or numbers; rates, with an exposure."""
    task: FitTask
    """What there is to predict, with a loss that suits the target."""
    weights: Floats | None = None
    candidates: CandidateConditions | None = None
    """The conditions, if they are known already."""
    whole: TrainingData | None = None
    """Rows in memory that these were reduced from."""
    described: Callable[[str], Feature] | None = None
    """Describes a column, where the table does not: rows that were read in parts."""
    held_out: Floats | None = None
    """Weights of rows that are kept from the search, and that the weights of terms are fitted to;
    None where that are the rows of the search."""
    groups: Indices | None = None
    """Number of the group of each row; -1 in rows that do not count. None where rows are single."""
    scale: Scale = UNSCALED
    """Scale that `y` and `loss` are divided by, and so the model that is fitted to them."""

    def scaled(self, weights: Iterable[float] = ()) -> TrainingData:
        """Choose the scale of extreme targets, given weights of rules that there are already."""
        numbers = np.append(self.task.for_loss(self.counted_target), [*weights])
        return replace(self, scale=scale_of(self.task.loss, numbers))

    def with_counted(self, y: Floats, weights: Floats | None) -> TrainingData:
        """Return the same table with another `y`, and other weights, of the rows that count."""

        def of_all(numbers: Floats, others: Floats) -> Floats:
            found = others.copy()
            found[self.counted] = numbers
            return found

        zeros = np.zeros(len(self.target))
        other = replace(self, weights=None if weights is None else of_all(weights, zeros))
        vars(other)["y"] = of_all(y, self.y)
        return other

    @property
    def loss(self) -> Loss:
        """What the model is fitted by, on the scale of `y`."""
        return self.scale.loss(self.task.loss)

    @cached_property
    def y(self) -> Floats:
        """The target as the loss takes it, on an ordinary scale."""
        return self.scale.numbers(self.task.for_loss(self.target))

    @cached_property
    def counted(self) -> Rows:
        """Rows of positive weight: others neither fit nor distinguish queries."""
        return counted(self.weights)

    @property
    def counted_target(self) -> Floats:
        """Target of the rows that count."""
        return self.target[self.counted]

    @property
    def counted_y(self) -> Floats:
        """Target of the rows that count, as the loss takes it."""
        return self.y[self.counted]

    @property
    def counted_weights(self) -> Floats | None:
        """Weights of the rows that count."""
        return None if self.weights is None else self.weights[self.counted]

    @property
    def describe(self) -> Callable[[str], Feature]:
        """Function that describes a column, for reading rules."""
        if self.described is not None:
            return self.described
        # Reduced rows may not show all values of a column.
        return features_of(self.table if self.whole is None else self.whole.table)

    def start(self, *, fit_intercept: bool) -> tuple[RuleEnsemble, float]:
        """Find the best constants, or zeros, and the mean curvature of the loss of a row there."""
        y, weights, loss = self.counted_y, self.counted_weights, self.loss
        if isinstance(loss, MultinomialLoss):
            names = self.task.outputs
            constants = np.zeros(len(names))
            if fit_intercept:
                constants = loss.constants(y, len(names), weights)
            curvature = float(loss.hessians(y[:1], constants[np.newaxis]).mean())
            return RuleEnsemble(outputs=tuple(map(Output, names, constants.tolist()))), curvature
        constant = optimal_constant(loss, y, weights) if fit_intercept else 0.0
        return RuleEnsemble((), constant), mean_hessian(loss, constant, y, weights)

    def values(self, form: Query | Slope) -> Values:
        """Compute the values of a term in the rows that count."""
        values = form.values(self.table) if isinstance(form, Slope) else form.covered(self.table)
        return np.ascontiguousarray(values[self.counted])


def counted(weights: Floats | None) -> Rows:
    """Return which rows have a weight."""
    return slice(None) if weights is None else weights > 0
