"""A check of a proven bound by independent code.

It uses only NumPy and decimal numbers. The bound is D(v) less the largest gain of terms, and
both are computed from the rows of the conditions, the values of the slopes, the target and the
forces v: one for each row, or for each row and class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal, localcontext

import numpy as np

from laconic._util.types import Bools, Floats
from laconic.boosting.certificate.comparison_class import Bound, ComparisonClass, EnsemblesOfSize
from laconic.boosting.certificate.risk import TrainingRisk
from laconic.losses import LogisticLoss, NamedLoss, SquaredLoss

_DIGITS = 50
_NEGLIGIBLE = Decimal("1e-30")
# Relative rounding error of the values of a slope on the scale of rules.
_ROUNDING = 1e-13


def largest_sum(
    covered: Bools,
    forces: Floats,
    max_conditions: int | None,
    *,
    least: float = 0.0,
    weights: Floats | None = None,
    min_coverage: float = 0.0,
) -> tuple[float, bool]:
    """Find the largest absolute sum of forces over all conjunctions.

    Sums up to `least` do not matter: conditions are skipped if neither their positive nor their
    negative forces add up to more. Conjunctions whose rows have a weight below `min_coverage` do
    not count.

    Returns the sum, or `least`, and whether all sums are exact in any order.

    Examples
    --------
    >>> covered = np.array([[True, True, False], [False, True, True]])
    >>> largest_sum(covered, np.array([-1.0, 2.0, -1.0]), 2)
    (2.0, True)
    """
    # Multiples of one power of two, whose sums have no more digits than a double.
    _, exponents = np.frexp(forces[forces != 0.0])
    unit = np.ldexp(1.0, int(exponents.min(initial=0)) - 53)
    while unit < 1e300 and (np.fmod(forces, 2.0 * unit) == 0.0).all() and forces.any():
        unit *= 2.0
    is_exact = bool(np.abs(forces).sum() / unit < 2.0**53)
    weights = np.ones(len(forces)) if weights is None else weights
    longest = len(covered) if max_conditions is None else min(max_conditions, len(covered))
    enough = min_coverage * (1.0 - 1e-12)

    def below(
        columns: Floats, forces: Floats, weights: Floats, n_more: int, largest: float
    ) -> float:
        """Search conjunctions of up to `n_more` of some columns, on the rows that are left."""
        positive = columns @ np.maximum(forces, 0.0)
        negative = columns @ np.maximum(-forces, 0.0)
        matters = (np.maximum(positive, negative) > largest) & (columns @ weights >= enough)
        columns, sums = columns[matters], (positive - negative)[matters]
        largest = max(largest, float(np.abs(sums).max(initial=0.0)))
        if n_more == 2 and len(columns) > 0:
            pairs = np.abs((columns * forces) @ columns.T)
            if enough > 0.0:
                pairs[(columns * weights) @ columns.T < enough] = 0.0
            return max(largest, float(pairs.max()))
        if n_more > 2:
            for position, column in enumerate(columns):
                rows = np.flatnonzero(column)
                later = columns[position + 1 :, rows]
                largest = below(later, forces[rows], weights[rows], n_more - 1, largest)
        return largest

    largest = max(least, abs(float(forces.sum())))
    if longest > 0:
        largest = below(covered.astype(np.float64), forces, weights, longest, largest)
    return largest, is_exact


def is_slope_below(
    values: Floats, forces: Floats, largest: float, weights: Floats | None = None
) -> bool:
    """Check that the absolute sum of forces times the values of a slope is at most the largest one.

    The values are brought to the scale of rules: their standard deviation is 0.4 there.

    Examples
    --------
    >>> values, forces = np.array([0.0, 8.0]), np.array([-1.0, 1.0])
    >>> is_slope_below(values, forces, 0.79), is_slope_below(values, forces, 0.81)
    (False, True)
    """
    weights = np.ones(len(values)) if weights is None else weights
    shares = weights / weights.sum()
    deviation = math.sqrt(float(shares @ (values - shares @ values) ** 2))
    scale = 1.0 if (values == values[0]).all() else deviation / 0.4
    products = values / scale * forces
    error = _ROUNDING * math.fsum(np.abs(products))
    return abs(math.fsum(products)) + error <= largest


def dual_value(risk: TrainingRisk, forces: Floats) -> Decimal | None:
    """Compute D(v) to fifty digits; None if forces are not slopes of the loss."""
    total = Decimal(0)
    rows = forces.reshape(len(forces), -1).tolist()
    for y, weight, row in zip(risk.y.tolist(), risk.weights.tolist(), rows, strict=True):
        slopes = [Decimal(force) / Decimal(weight) for force in row]
        if isinstance(risk.loss, SquaredLoss):
            (slope,) = slopes
            total -= Decimal(weight) * (slope * Decimal(y) + slope * slope / 4)
            continue
        probabilities = _probabilities(risk.loss, y, slopes)
        # A correctly rounded sum is 0 only if the sum is.
        if min(probabilities) < 0 or (len(row) > 1 and math.fsum(row) != 0.0):
            return None
        total -= Decimal(weight) * sum(p * p.ln() for p in probabilities if p > 0)
    return total


def _probabilities(loss: NamedLoss, y: float, slopes: list[Decimal]) -> list[Decimal]:
    """Compute the probabilities of all classes from the slopes of a loss for classes."""
    if isinstance(loss, LogisticLoss):
        (slope,) = slopes
        return [-slope * Decimal(y), 1 + slope * Decimal(y)]
    return [slope + (y == label) for label, slope in enumerate(slopes)]


def is_proven(
    covered: Bools,
    risk: TrainingRisk,
    compared: ComparisonClass,
    bound: Bound,
    max_conditions: int | None,
    min_coverage: float = 0.0,
    slopes: Iterable[Floats] = (),
) -> bool:
    """Check whether a bound on the penalised loss of all compared ensembles is true.

    Their rules are made of conditions with the rows `covered`; of `slopes`, the values are given in
    any unit.
    """
    if bound.value <= 0.0:
        return True
    if bound.forces.shape != risk.shape:
        return False
    by_output = np.atleast_2d(bound.forces.T)
    for values in slopes:
        if not all(
            is_slope_below(values, forces, bound.largest_sum, risk.sample_weight)
            for forces in by_output
        ):
            return False
    for forces in by_output:
        largest, is_exact = largest_sum(
            covered,
            forces,
            max_conditions,
            least=bound.largest_sum,
            weights=risk.sample_weight,
            min_coverage=min_coverage,
        )
        if not is_exact or largest > bound.largest_sum:
            return False
        # This sum is exact as well.
        if risk.fit_intercept and float(forces.sum()) != 0.0:
            return False
    with localcontext() as context:
        context.prec = _DIGITS
        value = dual_value(risk, bound.forces)
        if value is None:
            return False
        most = Decimal(bound.largest_sum)
        if isinstance(compared, EnsemblesOfSize):
            if compared.l2_regularization == 0.0:
                return False
            value -= compared.n_terms * most * most / (2 * Decimal(compared.l2_regularization))
        else:
            value -= Decimal(compared.total_weight) * most
        return Decimal(bound.value) <= value * (1 - _NEGLIGIBLE)
