"""Estimates of the weights of given terms, without penalty, and their robust covariance.

With design X, weights w and loss l, the best weights have a sum of gradients of 0. Their covariance
is A⁻¹ (Σ s s') A⁻¹, where A is the sum of the second derivatives, and s the gradient of a row or
the sum over a group of rows. Each s is corrected for the influence of its row, as if the
row were left out and a Newton step made: (I - A⁻¹ Aᵢ)⁻¹. With the squared loss this is the estimate
HC3, and with groups the jackknife CR3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from laconic._util.types import Bools, Floats, Indices, Integers, Values
from laconic.boosting import TrainingData
from laconic.boosting.refit import ensemble_risk, refitted
from laconic.losses import HuberLoss, Loss, MultinomialLoss, SquaredLoss, known_loss
from laconic.terms.rules import RuleEnsemble

# Directions with smaller eigenvalues, on a diagonal of ones, are those of collinear terms.
_COLLINEAR = 1e-9
# Directions with less curvature, relative to that of all rows, are those of diverging weights.
_DIVERGING = 1e-7
# Components of a direction that are not rounding errors.
_COMPONENT = 1e-5
# Directions that lose all but this share of their curvature with a row rest on that row.
_RESTING = 1e-6
_BLOCK_SIZE = 16_384


@dataclass(frozen=True, eq=False)
class Estimates:
    """Weights of terms and intercepts, with their errors."""

    weights: Floats
    """Of the terms, and of the intercepts after them."""
    errors: Floats
    reasons: tuple[str, ...]
    """Why a weight is not determined; empty if it is."""
    n_free: float
    """Degrees of freedom of Student's distribution; infinite for the normal one."""

    def quantile(self, level: float) -> float:
        """Return how many errors an interval reaches to both sides."""
        from scipy.special import ndtri, stdtrit

        upper = (1.0 + level) / 2.0
        if math.isinf(self.n_free):
            return float(ndtri(upper))
        return float(stdtrit(max(self.n_free, 1.0), upper))


@dataclass(frozen=True, eq=False)
class _Design:
    """The derivative of each raw prediction with respect to all weights."""

    places: list[Indices]
    """Of each output, the weights that it depends on."""
    blocks: list[Floats]
    """Of each output, the values of these in the rows."""
    n_weights: int

    def times(self, factors: Floats, rows: slice) -> Floats:
        """Multiply by a matrix; an array of shape (n_rows, n_outputs, n_columns)."""
        pairs = zip(self.places, self.blocks, strict=True)
        return np.stack([block[rows] @ factors[place] for place, block in pairs], axis=1)

    def curvature(self, hessians: Floats) -> Floats:
        """Add up second derivatives, given those of shape (n_rows, n_outputs, n_outputs)."""
        total = np.zeros((self.n_weights, self.n_weights))
        for first, (rows, left) in enumerate(zip(self.places, self.blocks, strict=True)):
            for second, (columns, right) in enumerate(zip(self.places, self.blocks, strict=True)):
                part = left.T @ (right * hessians[:, first, second, np.newaxis])
                total[np.ix_(rows, columns)] += part
        return total


def robust_estimates(
    data: TrainingData,
    ensemble: RuleEnsemble,
    columns: Sequence[Values],
    groups: Integers | None = None,
    *,
    fit_intercept: bool = True,
) -> Estimates:
    """Estimate the weights of given terms without penalty.

    Parameters
    ----------
    data : TrainingData
    ensemble : RuleEnsemble
        The terms, and an intercept where it is not fitted.
    columns : sequence of bool or float arrays of shape (n_rows,)
        The values of each term in the rows that count.
    groups : int array of shape (n_rows,) or None, default=None
        The number of the group of each of these rows.
    fit_intercept : bool, default=True

    Returns
    -------
    estimates : Estimates
    """
    scaled, y, weights = data.scale.ensemble(ensemble), data.counted_y, data.counted_weights
    risk = ensemble_risk(scaled, columns, y, data.loss, 0.0, weights, fit_intercept=fit_intercept)
    fitted, _ = refitted(scaled, risk)
    n_outputs = len(ensemble.intercepts)
    design = _design(ensemble, columns, risk.scales, len(y), fit_intercept=fit_intercept)
    raw_predictions = fitted.start(len(y))
    for term, values in zip(fitted, columns, strict=True):
        fitted.add_to(raw_predictions, term, values)
    gradients, hessians = _derivatives(data.loss, y, raw_predictions)
    counts = np.ones(len(y)) if weights is None else weights
    functionals = _functionals(risk.scales, n_outputs, fit_intercept=fit_intercept)
    meat = _Meat(
        design, gradients * counts[:, np.newaxis], hessians * counts[:, np.newaxis, np.newaxis]
    )
    even = np.eye(n_outputs) - (1.0 / n_outputs if n_outputs > 1 else 0.0)
    directions = _directions(design, meat.hessians, counts[:, np.newaxis, np.newaxis] * even)
    reasons = np.where(directions.diverging(functionals), _DIVERGES[data.task.holds_classes], "")
    reasons = np.where(directions.collinear(functionals), _SAME_ROWS, reasons)
    factors = directions.determined
    parts, resting = meat.parts(factors, groups)
    errors = np.sqrt(np.square(functionals @ factors @ parts.T).sum(axis=1))
    single = _SINGLE_ROW if groups is None else _SINGLE_GROUP
    is_single = _changes(functionals @ factors, resting)
    reasons = np.where((reasons == "") & is_single, single, reasons)
    n_units = len(y) if groups is None else int(groups.max()) + 1
    n_free = math.inf
    if groups is not None:
        n_free = n_units - 1
    elif isinstance(data.loss, SquaredLoss):
        n_free = n_units - factors.shape[1]
    terms = [term.weight for term in fitted]
    natural = np.array([*terms, *(fitted.intercepts if fit_intercept else ())])
    size = float(data.scale.inverse.numbers(np.array([1.0]))[0])
    return Estimates(natural * size, errors * size, tuple(map(str, reasons)), n_free)


_SAME_ROWS = "it cannot be told apart from other terms on these rows"
_SINGLE_ROW = "it rests on a single row"
_SINGLE_GROUP = "it rests on a single group"
_DIVERGES = {
    True: "it has no finite estimate: with the other terms it separates the classes",
    False: "it has no finite estimate on these rows",
}


def _design(
    ensemble: RuleEnsemble,
    columns: Sequence[Values],
    scales: Floats,
    n_rows: int,
    *,
    fit_intercept: bool,
) -> _Design:
    """Make the design on the scale of the refit, on which slopes vary as rules do."""
    n_terms, n_outputs = len(ensemble), len(ensemble.intercepts)
    places, blocks = [], []
    for output in range(n_outputs):
        own = [place for place, term in enumerate(ensemble) if term.output == output]
        found = [columns[place] / scales[place] for place in own]
        if fit_intercept:
            own.append(n_terms + output)
            found.append(np.ones(n_rows))
        places.append(np.array(own, dtype=np.intp))
        blocks.append(np.column_stack(found) if found else np.empty((n_rows, 0)))
    return _Design(places, blocks, n_terms + n_outputs * fit_intercept)


def _functionals(scales: Floats, n_outputs: int, *, fit_intercept: bool) -> Floats:
    """Return what is asked of the weights of the refit: each of them in its own units.

    Of several intercepts it is the distance to their mean, as a constant that is added to all of
    them changes nothing.
    """
    asked = np.diag(1.0 / scales)
    if fit_intercept and n_outputs > 1:
        asked[-n_outputs:, -n_outputs:] -= 1.0 / n_outputs
    return asked


def _derivatives(loss: Loss, y: Floats, raw_predictions: Floats) -> tuple[Floats, Floats]:
    """Return first and second derivatives of the losses, with axes for outputs."""
    gradients = loss.gradients(y, raw_predictions)
    if isinstance(loss, MultinomialLoss):
        shares = loss.inverse_link(raw_predictions)
        hessians = -shares[:, :, np.newaxis] * shares[:, np.newaxis, :]
        every = np.arange(shares.shape[1])
        hessians[:, every, every] += shares
        return gradients, hessians
    hessians = loss.hessians(y, raw_predictions)
    if known_loss(loss) is None or isinstance(loss, HuberLoss):
        # Their hessians may be those of a parabola above the loss.
        step = 1e-5 * (1.0 + np.abs(raw_predictions))
        ends = (loss.gradients(y, raw_predictions + sign * step) for sign in (1, -1))
        hessians = np.maximum(np.subtract(*ends) / (2.0 * step), 0.0)
    return gradients[:, np.newaxis], hessians[:, np.newaxis, np.newaxis]


@dataclass(frozen=True, eq=False)
class _Directions:
    """Directions of the space of weights, as columns of matrices."""

    undetermined: Floats
    """Along these no raw prediction changes."""
    endless: Floats
    """Along these the loss decreases without end."""
    determined: Floats
    """Along all others, scaled so that the product with the transpose inverts the curvature."""

    def collinear(self, functionals: Floats) -> Bools:
        """Find what changes along directions that change no raw prediction."""
        return _changes(functionals, self.undetermined)

    def diverging(self, functionals: Floats) -> Bools:
        """Find what changes along directions without a minimum."""
        return _changes(functionals, self.endless)


def _changes(functionals: Floats, directions: Floats) -> Bools:
    if directions.shape[1] == 0:
        return np.zeros(len(functionals), dtype=bool)
    sizes = np.linalg.norm(functionals, axis=1)
    lengths = np.linalg.norm(directions, axis=0)
    found = np.abs(functionals @ (directions / lengths)).max(axis=1)
    return np.asarray(found > _COMPONENT * sizes)


def _directions(design: _Design, hessians: Floats, even: Floats) -> _Directions:
    """Find which directions the rows determine.

    `even` are the second derivatives if all rows had the same curvature.
    """
    reference, curvature = design.curvature(even), design.curvature(hessians)
    diagonal = np.diag(reference)
    scales = np.divide(1.0, np.sqrt(diagonal), where=diagonal > 0.0, out=np.ones(len(diagonal)))
    values, vectors = np.linalg.eigh(reference * scales * scales[:, np.newaxis])
    is_known = values > _COLLINEAR
    vectors = vectors * scales[:, np.newaxis]
    whitened = vectors[:, is_known] / np.sqrt(values[is_known])
    sizes, turned = np.linalg.eigh(whitened.T @ curvature @ whitened)
    mean = np.trace(hessians.sum(axis=0)) / max(np.trace(even.sum(axis=0)), 1e-300)
    is_steep = sizes > _DIVERGING * mean
    found = whitened @ turned
    return _Directions(
        vectors[:, ~is_known],
        found[:, ~is_steep],
        found[:, is_steep] / np.sqrt(sizes[is_steep]),
    )


@dataclass(frozen=True, eq=False)
class _Meat:
    """Weighted derivatives of the losses, from which the covariance is made."""

    design: _Design
    gradients: Floats
    hessians: Floats

    def parts(self, factors: Floats, groups: Integers | None) -> tuple[Floats, Floats]:
        """Return what each row or group adds along some directions, as if it were left out.

        Returns also directions, as columns, that a single row or group determines.
        """
        found = [*(self._of_rows(factors) if groups is None else self._of_groups(factors, groups))]
        parts, resting = zip(*found, strict=True)
        return np.vstack(parts), np.hstack(resting)

    def _of_rows(self, factors: Floats) -> Iterator[tuple[Floats, Floats]]:
        for start in range(0, len(self.gradients), _BLOCK_SIZE):
            rows = slice(start, start + _BLOCK_SIZE)
            values, hessians = self.design.times(factors, rows), self.hessians[rows]
            influence = hessians @ values @ values.transpose(0, 2, 1)
            gradients = np.linalg.solve(
                _left_out(influence), self.gradients[rows][:, :, np.newaxis]
            )
            sizes = np.trace(influence, axis1=1, axis2=2)
            large = np.flatnonzero(sizes > 1.0 - _RESTING)
            inner = np.einsum(
                "iko,ikl,ilp->iop", values[large], hessians[large], values[large], optimize=True
            )
            resting = [_resting(each) for each in inner]
            yield (
                np.einsum("iko,ik->io", values, gradients[:, :, 0]),
                np.hstack([np.empty((factors.shape[1], 0)), *resting]),
            )

    def _of_groups(self, factors: Floats, groups: Integers) -> Iterator[tuple[Floats, Floats]]:
        values = self.design.times(factors, slice(None))
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(np.bincount(groups))[:-1]
        for rows in np.split(order, ends):
            own = values[rows]
            gradient = np.einsum("iko,ik->o", own, self.gradients[rows])
            inner = np.einsum("iko,ikl,ilp->op", own, self.hessians[rows], own, optimize=True)
            part = np.linalg.solve(_left_out(inner), gradient)
            yield part[np.newaxis], _resting(inner)


def _left_out(influence: Floats) -> Floats:
    """Subtract influences from 1, which may be 1 but for rounding errors."""
    one = np.eye(influence.shape[-1])
    return np.asarray(one * (1.0 + 1e-9) - influence, dtype=np.float64)


def _resting(influence: Floats) -> Floats:
    """Return the directions that the rows of an influence determine alone, as columns."""
    values, vectors = np.linalg.eigh(influence)
    return np.asarray(vectors[:, values > 1.0 - _RESTING], dtype=np.float64)
