"""Targets too small to be squared: their models are found on a scale on which nothing underflows.

The squared loss scales with its target: a target half as large has the same rules, of half the
weight. So what is about 1e-170 is learned as if it were about 1, by powers of two, which change no
digit. Objectives are shown as they are, which is 0 where doubles end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats
from laconic.boosting.rounds import State
from laconic.candidates.constraints import Constraints
from laconic.losses import Loss, SquaredLoss
from laconic.search import SearchProgress, SearchResult
from laconic.terms.rules import Rule, RuleEnsemble

_Found = TypeVar("_Found", SearchResult, SearchProgress)

# Squares of numbers below 2**-256 are small, and sums of products of such squares may be 0.
_SMALLEST_EXPONENT = -256


@dataclass(frozen=True)
class Scale:
    """A power of two that targets, weights and raw predictions are divided by."""

    exponent: int = 0

    @property
    def inverse(self) -> Scale:
        """What to divide by to get back."""
        return Scale(-self.exponent)

    def numbers(self, numbers: NDArray[Any]) -> Floats:
        """Divide targets or raw predictions by the scale."""
        if self.exponent == 0:
            return numbers
        return np.asarray(np.ldexp(numbers, -self.exponent), dtype=np.float64)

    def weight(self, weight: float) -> float:
        """Divide the weight of a rule by the scale."""
        return math.ldexp(weight, -self.exponent)

    def losses(self, losses: NDArray[Any]) -> Floats:
        """Divide losses by the square of the scale; 0 where doubles end."""
        return np.asarray(np.ldexp(losses, -2 * self.exponent), dtype=np.float64)

    def objectives(self, found: _Found) -> _Found:
        """Divide what is known about a search by the square of the scale."""
        exponent = -2 * self.exponent
        return replace(
            found,
            objective_value=math.ldexp(found.objective_value, exponent),
            bound=math.ldexp(found.bound, exponent),
        )

    def ensemble(self, ensemble: RuleEnsemble) -> RuleEnsemble:
        """Divide all weights of a model by the scale."""
        rules = (Rule(rule.query, self.weight(rule.weight)) for rule in ensemble)
        return ensemble.with_rules(rules, self.weight(ensemble.intercept))

    def state(self, state: State) -> State:
        """Divide all weights of a model, and what is proven about it, by the scale."""
        if self.exponent == 0:
            return state
        return replace(
            state,
            ensemble=self.ensemble(state.ensemble),
            stages=tuple(map(self.ensemble, state.stages)),
            results=tuple(map(self.objectives, state.results)),
        )


UNSCALED = Scale()
"""The scale of what is not very small."""


def scale_of(loss: Loss, y: NDArray[Any], constraints: Constraints | None = None) -> Scale:
    """Find the scale of a target; 1 unless it is very small.

    Where features have costs, in units of the objective, it is 1 as well.

    Examples
    --------
    >>> scale_of(SquaredLoss(), np.array([1.0, -4.0]))
    Scale(exponent=0)
    >>> scale_of(SquaredLoss(), np.array([0.0, 2.0**-600]))
    Scale(exponent=-599)
    """
    largest = float(np.abs(y).max(initial=0.0))
    exponent = math.frexp(largest)[1]
    # Another loss, or a subclass, may do anything.
    is_needed = type(loss) is SquaredLoss and largest > 0.0 and exponent < _SMALLEST_EXPONENT
    has_costs = constraints is not None and len(constraints.costs) > 0
    return Scale(exponent) if is_needed and not has_costs else UNSCALED
