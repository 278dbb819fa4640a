"""Targets as they would be if a model had no more terms, to compare the next term with.

Before the first term, targets are permuted. Beside other terms, they have to keep what these terms
explain. There are three ways: residuals are permuted, classes are drawn from the probabilities that
the terms give, or targets are permuted among rows that no term distinguishes. A target moves
together with its weight.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from laconic._util.types import Floats, Indices, Integers, Values
from laconic.boosting import Rounds, State
from laconic.losses import HuberLoss, LogisticLoss, MultinomialLoss, SquaredLoss

# A permutation that leaves more rows than this where they are has little to say.
LEAST_MOVED = 0.5
# Log odds of 20 are beyond any finite estimate: terms separate the classes, and their weights would
# grow without end.
SEPARATED = 20.0
# Residuals of equal targets and predictions differ by rounding errors.
_ROUNDING = 1e-9


class NullTargets(Protocol):
    """Makes targets, with their weights, at random."""

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats | None]:
        """Return a target, and the weights of the rows."""


@dataclass(frozen=True, eq=False)
class Exchange:
    """Units, which are rows or groups of rows, and which of them are exchanged."""

    rows: Indices
    """The rows, unit by unit."""
    starts: Indices
    """Where each unit begins there."""
    sizes: Integers
    strata: Integers
    """Of the units: those of the same stratum are exchanged."""
    is_constant: bool = False
    """Whether the rows of a unit are alike, so that units of any size are exchanged."""

    @classmethod
    def of_rows(cls, cells: Integers) -> Exchange:
        """Exchange single rows within cells."""
        rows = np.arange(len(cells))
        return cls(rows, rows, np.ones(len(cells), dtype=np.int64), cells)

    @classmethod
    def of_groups(cls, groups: Integers, cells: Integers, *values: Floats | None) -> Exchange:
        """Exchange whole groups, which must cover the same cells.

        Groups in which all values are the same are exchanged whatever their size; others only for
        groups of the same size, row by row.
        """
        rows = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.diff(groups[rows], prepend=-1))
        sizes = np.diff(starts, append=len(rows))
        of_rows = [cells.astype(np.float64), *(each for each in values if each is not None)]
        if all(_is_constant(each[rows], starts) for each in of_rows):
            return cls(rows, starts, sizes, cells[rows[starts]], is_constant=True)
        known: dict[Hashable, int] = {}
        parts = np.split(cells[rows], starts[1:])
        strata = [known.setdefault(part.tobytes(), len(known)) for part in parts]
        return cls(rows, starts, sizes, np.array(strata))

    @property
    def moved(self) -> float:
        """Share of the rows whose unit can be exchanged for another."""
        _, stratum, counts = np.unique(self.strata, return_inverse=True, return_counts=True)
        return float(self.sizes[counts[stratum] > 1].sum()) / len(self.rows)

    def draw(self, rng: np.random.Generator) -> Indices:
        """Return for each row the one whose target it gets."""
        units = np.argsort(self.strata, kind="stable")
        taken = np.empty_like(units)
        taken[units] = np.lexsort((rng.random(len(units)), self.strata))
        unit = np.repeat(np.arange(len(units)), self.sizes)
        within = 0 if self.is_constant else np.arange(len(self.rows)) - self.starts[unit]
        sources = np.empty_like(self.rows)
        sources[self.rows] = self.rows[self.starts[taken[unit]] + within]
        return sources


def _is_constant(values: Floats, starts: Indices) -> bool:
    """Check whether all rows of each unit have the same value, to within rounding."""
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return bool((high - low <= _ROUNDING * np.abs(values).max(initial=0.0)).all())


@dataclass(frozen=True, eq=False)
class Exchanged:
    """Targets of other rows, added to fitted values where residuals are exchanged."""

    exchange: Exchange
    y: Floats
    weights: Floats | None
    fitted: Floats | float = 0.0

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats | None]:
        """Return a target, and the weights of the rows."""
        sources = self.exchange.draw(rng)
        weights = None if self.weights is None else self.weights[sources]
        return self.fitted + self.y[sources], weights


@dataclass(frozen=True, eq=False)
class Drawn:
    """Classes drawn from their probabilities."""

    probabilities: Floats
    """Of the class 1, or a column for each class."""
    weights: Floats | None
    """Without those of classes."""
    of_classes: Mapping[float, float] | None

    def draw(self, rng: np.random.Generator) -> tuple[Floats, Floats | None]:
        """Return a target, and the weights of the rows."""
        uniform = rng.random(len(self.probabilities))
        if self.probabilities.ndim == 1:
            # As the logistic loss takes the classes.
            y = np.where(uniform < self.probabilities, 1.0, -1.0)
        else:
            below = np.cumsum(self.probabilities, axis=1)[:, :-1]
            y = (uniform[:, np.newaxis] >= below).sum(axis=1).astype(np.float64)
        return y, weighted_classes(y, self.weights, self.of_classes)


def weighted_classes(
    y: Floats, weights: Floats | None, of_classes: Mapping[float, float] | None
) -> Floats | None:
    """Multiply weights of rows by those of their classes."""
    if of_classes is None:
        return weights
    factors = np.ones(len(y))
    for value, factor in of_classes.items():
        factors[y == value] = factor
    return factors if weights is None else weights * factors


def null_targets(
    rounds: Rounds,
    state: State,
    groups: Integers | None = None,
    of_classes: Mapping[float, float] | None = None,
) -> tuple[str, NullTargets] | str:
    """Choose how to make targets that have no effect beyond those of the terms of a state.

    Parameters
    ----------
    rounds : Rounds
        With the target as it is.
    state : State
        The terms that are taken as given, of any weights.
    groups : int array of shape (n_rows,), default=None
        Groups of rows that depend on each other.
    of_classes : dict of float to float, default=None
        Factors of the weights of rows by their target, where classes have weights.

    Returns
    -------
    method : str
        "permutation", "residuals", "classes", "penalised classes" or "cells". A sentence alone says
        why there is none.
    targets : NullTargets
    """
    y, weights = rounds.y, rounds.sample_weight
    if len(state.ensemble) > 0:
        if isinstance(rounds.loss, SquaredLoss | HuberLoss):
            return _residuals(rounds, state, groups)
        if isinstance(rounds.loss, LogisticLoss | MultinomialLoss) and groups is None:
            return _classes(rounds, state, of_classes)
    cells = cells_of(state.columns, len(y))
    exchange = _exchange(groups, cells, y, weights)
    if exchange.moved >= LEAST_MOVED:
        method = "cells" if len(state.ensemble) > 0 else "permutation"
        return method, Exchanged(exchange, y, weights)
    if groups is not None:
        return _TOO_FEW_GROUPS if len(state.ensemble) == 0 else _TOO_FEW_ALIKE_GROUPS
    return _TOO_FEW_ALIKE


_TOO_FEW_GROUPS = (
    "Whole groups are exchanged where the target is the same in all rows of a group, or for groups "
    "of the same size; here most rows are in groups of which neither holds."
)
_TOO_FEW_ALIKE_GROUPS = (
    "Whole groups are exchanged for groups that the terms before it cover in the same way; here "
    "most rows are in groups without such another."
)
_TOO_FEW_ALIKE = (
    "Targets are exchanged between rows for which all terms before it have the same values; here "
    "most rows are without such another, as beside slopes, and the loss has no residuals that "
    "could be exchanged instead."
)


def cells_of(columns: Iterable[Values], n_rows: int) -> Integers:
    """Give numbers to the sets of rows in which all terms have the same values.

    Examples
    --------
    >>> cells_of([np.array([True, True, False]), np.array([1.5, 0.0, 0.0])], 3).tolist()
    [2, 1, 0]
    """
    cells = np.zeros(n_rows, dtype=np.int64)
    for values in columns:
        levels, level = np.unique(values, return_inverse=True)
        _, cells = np.unique(cells * len(levels) + level, return_inverse=True)
    return cells.astype(np.int64, copy=False)


def _exchange(groups: Integers | None, cells: Integers, *values: Floats | None) -> Exchange:
    if groups is None:
        return Exchange.of_rows(cells)
    return Exchange.of_groups(groups, cells, *values)


def _unpenalised(rounds: Rounds, state: State) -> Floats:
    """Compute raw predictions of the terms with the weights that fit best, without penalty.

    A penalty would leave parts of the terms in the residuals, as would signs.
    """
    free = replace(rounds, l2_regularization=0.0, fit_intercept=True, constraints=None)
    return free.raw_predictions(free.refit(state)[0])


def _residuals(
    rounds: Rounds, state: State, groups: Integers | None
) -> tuple[str, NullTargets] | str:
    fitted = _unpenalised(rounds, state)
    residuals, weights = rounds.y - fitted, rounds.sample_weight
    cells = np.zeros(len(fitted), dtype=np.int64)
    exchange = _exchange(groups, cells, residuals, weights)
    if exchange.moved < LEAST_MOVED:
        return _TOO_FEW_GROUPS.replace("target", "residual")
    return "residuals", Exchanged(exchange, residuals, weights, fitted)


def _classes(
    rounds: Rounds, state: State, of_classes: Mapping[float, float] | None
) -> tuple[str, NullTargets]:
    weights = rounds.sample_weight
    factors = weighted_classes(rounds.y, None, of_classes)
    if weights is not None and factors is not None:
        # Weights of classes change their probabilities.
        weights = weights / factors
    own = rounds.with_target(rounds.y, weights)
    fitted = _unpenalised(own, state)
    spread = np.abs(fitted) if fitted.ndim == 1 else np.ptp(fitted, axis=1)
    method = "classes"
    if spread.max(initial=0.0) > SEPARATED:
        method = "penalised classes"
        fitted = own.raw_predictions(replace(own, fit_intercept=True).refit(state)[0])
    return method, Drawn(rounds.loss.inverse_link(fitted), weights, of_classes)
