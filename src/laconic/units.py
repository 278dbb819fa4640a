"""Targets too small to be squared: their models are found in a unit in which nothing underflows.

The squared loss scales with its target: a target half as large has the same rules, of half the
weight. So what is measured in 1e-170 is learned as if it were measured in 1, by powers of two,
which change no digit. Objectives are told as they are, which is 0 where doubles end.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from laconic.constraints import Constraints
from laconic.losses import Floats, Loss, SquaredLoss
from laconic.model.rules import Rule, RuleEnsemble
from laconic.search import SearchProgress, SearchResult

_Told = TypeVar("_Told", SearchResult, SearchProgress)

# Squares of numbers below 2**-256 are small, and sums of products of such squares may be 0.
_SMALLEST_EXPONENT = -256


@dataclasses.dataclass(frozen=True)
class Unit:
    """A power of two that targets, weights and raw predictions are measured in."""

    exponent: int = 0

    def measured(self, numbers: NDArray[Any]) -> Floats:
        """Tell numbers in this unit."""
        if self.exponent == 0:
            return numbers
        return np.asarray(np.ldexp(numbers, -self.exponent), dtype=np.float64)

    def measured_ensemble(self, ensemble: RuleEnsemble) -> RuleEnsemble:
        """Tell weights in this unit."""
        return _shifted(ensemble, -self.exponent)

    def ensemble(self, measured: RuleEnsemble) -> RuleEnsemble:
        """Tell weights as they are."""
        return _shifted(measured, self.exponent)

    def losses(self, measured: NDArray[Any]) -> Floats:
        """Tell losses as they are; 0 where doubles end."""
        return np.asarray(np.ldexp(measured, 2 * self.exponent), dtype=np.float64)

    def result(self, measured: SearchResult) -> SearchResult:
        """Tell objectives as they are."""
        return measured if self.exponent == 0 else self._told(measured)

    def options(self, search_options: Mapping[str, Any] | None) -> dict[str, Any]:
        """Let the callback of a search hear objectives as they are."""
        options = dict(search_options or {})
        callback = options.get("callback")
        if callback is not None and self.exponent != 0:
            options["callback"] = lambda progress: callback(self._told(progress))
        return options

    def _told(self, measured: _Told) -> _Told:
        return dataclasses.replace(
            measured,
            objective_value=math.ldexp(measured.objective_value, 2 * self.exponent),
            bound=math.ldexp(measured.bound, 2 * self.exponent),
        )


ONE = Unit()
"""The unit of what is not very small."""


def unit_of(
    loss: Loss,
    y: NDArray[Any],
    start: RuleEnsemble | None = None,
    constraints: Constraints | None = None,
) -> Unit:
    """Find the unit of a target and of rules to go on from; 1 unless it is very small.

    Where features have their price, in units of the objective, it is 1 as well.

    Examples
    --------
    >>> unit_of(SquaredLoss(), np.array([1.0, -4.0]))
    Unit(exponent=0)
    >>> unit_of(SquaredLoss(), np.array([0.0, 2.0**-600]))
    Unit(exponent=-599)
    """
    largest = float(np.abs(y).max(initial=0.0))
    if start is not None:
        weights = (rule.weight for rule in start)
        largest = max(largest, abs(start.intercept), *map(abs, weights))
    exponent = math.frexp(largest)[1]
    # Another loss, or a subclass, may do anything.
    is_needed = type(loss) is SquaredLoss and largest > 0.0 and exponent < _SMALLEST_EXPONENT
    is_priced = constraints is not None and len(constraints.costs) > 0
    return Unit(exponent) if is_needed and not is_priced else ONE


def _shifted(ensemble: RuleEnsemble, exponent: int) -> RuleEnsemble:
    if exponent == 0:
        return ensemble
    return ensemble.with_rules(
        (Rule(rule.query, math.ldexp(rule.weight, exponent)) for rule in ensemble),
        math.ldexp(ensemble.intercept, exponent),
    )
