"""Targets of extreme size: models are found on a scale on which their squares are ordinary.

The squared and the Huber loss scale with their target: a target half as large has the same rules,
of half the weight. So a target of about 1e-170 is learned as if it were about 1. The factor is a
power of two, which changes no digit, and ordinary targets keep their scale.

Other losses have no scale: classes have none, and dividing a target whose logarithm is predicted
moves the intercept, which is not exact (`LogLinkLoss.check_target` refuses means that are too far
from 1). Neither have weights of rows: a search brings gradients and hessians to a common scale by
itself, as those of some losses vanish on the way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats
from laconic.candidates.constraints import Constraints
from laconic.losses import HuberLoss, Loss, SquaredLoss
from laconic.search import SearchProgress, SearchResult
from laconic.terms.rules import RuleEnsemble

_Found = TypeVar("_Found", SearchResult, SearchProgress)

# Binary exponents of targets that keep their scale. Sums of products of squares are far from 0 and
# infinity up to 2**±256. The Newton steps of the Huber loss are measured by 1: beyond 1e15 they
# would all be rounding errors.
_ORDINARY: dict[type, int] = {SquaredLoss: 256, HuberLoss: 32}
# Squares of larger numbers overflow.
_LARGEST_EXPONENT = 510
SMALLEST_LOSS = 1e-300
"""Smaller losses have too few digits to be reported or compared."""


@dataclass(frozen=True)
class Scale:
    """A power of two that targets, weights and raw predictions are divided by."""

    exponent: int = 0

    @property
    def inverse(self) -> Scale:
        """The scale that undoes this one."""
        return Scale(-self.exponent)

    def numbers(self, numbers: NDArray[Any]) -> Floats:
        """Divide targets or raw predictions by the scale."""
        return numbers if self.exponent == 0 else _shifted(numbers, -self.exponent)

    def weight(self, weight: float) -> float:
        """Divide the weight of a rule by the scale."""
        return float(_shifted(weight, -self.exponent))

    def losses(self, losses: NDArray[Any] | float) -> Floats:
        """Divide losses by the square of the scale; 0 or infinity where doubles end."""
        return _shifted(losses, -2 * self.exponent)

    def loss(self, loss: Loss) -> Loss:
        """Return the loss of targets that are divided by the scale."""
        if self.exponent == 0 or not isinstance(loss, HuberLoss) or loss.delta is None:
            return loss
        ends = np.finfo(np.float64)
        return HuberLoss(float(np.clip(self.weight(loss.delta), ends.tiny, ends.max)))

    def constraints(self, constraints: Constraints | None) -> Constraints | None:
        """Divide the costs of features, which are in units of the objective."""
        if self.exponent == 0 or constraints is None or not constraints.costs:
            return constraints
        # Far above any objective on this scale, and finite.
        most = 2.0**_LARGEST_EXPONENT
        costs = {name: min(float(self.losses(c)), most) for name, c in constraints.costs.items()}
        return replace(constraints, costs=costs)

    def objectives(self, found: _Found) -> _Found:
        """Divide the objective and the bound of a search by the square of the scale."""
        return replace(
            found,
            objective_value=float(self.losses(found.objective_value)),
            bound=float(self.losses(found.bound)),
        )

    def ensemble(self, ensemble: RuleEnsemble) -> RuleEnsemble:
        """Divide all weights of a model by the scale."""
        if self.exponent == 0:
            return ensemble
        terms = (replace(term, weight=self.weight(term.weight)) for term in ensemble)
        return ensemble.with_terms(terms, map(self.weight, ensemble.intercepts))


UNSCALED = Scale()
"""The scale of ordinary targets."""


def scale_of(loss: Loss, numbers: NDArray[Any]) -> Scale:
    """Find the scale of targets, and of weights of rules if there are some already.

    It is 1 unless the largest of them is extremely small or large.

    Examples
    --------
    >>> scale_of(SquaredLoss(), np.array([1.0, -4.0]))
    Scale(exponent=0)
    >>> scale_of(SquaredLoss(), np.array([0.0, 2.0**-600]))
    Scale(exponent=-599)
    """
    # Another loss, or a subclass, may do anything.
    ordinary = _ORDINARY.get(type(loss))
    exponent = math.frexp(float(np.abs(numbers).max(initial=0.0)))[1]
    if ordinary is None or abs(exponent) <= ordinary:
        return UNSCALED
    if exponent > _LARGEST_EXPONENT:
        raise ValueError(
            "The squares of the target must be finite. Got values that overflow; scale the target "
            f"down: no number may be beyond {2.0**_LARGEST_EXPONENT:.0g}."
        )
    return Scale(exponent)


def check_loss(what: str, loss: float) -> None:
    """Refuse a loss that is too small to be reported or compared.

    Losses of counts and amounts may be negative.
    """
    if abs(loss) < SMALLEST_LOSS:
        raise ValueError(
            f"{what} needs losses of {SMALLEST_LOSS:g} or more, which are squares of the target "
            f"times weights. Got {loss:g} without any rule. Multiply the target, or the weights "
            "and the penalty, by a large number."
        )


def _shifted(values: NDArray[Any] | float, exponent: int) -> Floats:
    """Multiply by a power of two; 0 or infinity beyond the range of numbers."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(values, exponent), dtype=np.float64)
