"""The best weights of given terms, all at once, by Newton's method.

This module knows targets, losses and the values of terms: zeros and ones for rules, numbers for
slopes, which it brings to the scale of rules. It knows no conditions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Floats, Values
from laconic.candidates.slopes import standardised
from laconic.losses import Loss, MultinomialLoss, SquaredLoss
from laconic.search import RefittedTerms
from laconic.terms.rules import RuleEnsemble

_EPSILON = float(np.finfo(np.float64).eps)

# As for the best constant: few steps near the minimum, about 37 where gradients vanish at infinity,
# and more for losses that are flat at their minimum.
_MAX_STEPS = 200
_MAX_HALVINGS = 60
# Smaller eigenvalues, relative to a diagonal of ones, belong to weights that are not determined.
_SINGULAR = 1e-13
# An intercept below this fraction of all weights is a rounding error.
_ROUNDING = 8 * _EPSILON


def descend(risk: PenalisedRisk) -> tuple[Floats, int]:
    """Find the weights that minimise a risk.

    Newton's method, where a step is halved until the risk does not increase. One step solves the
    squared loss; a second one removes its rounding errors. Where rules do not determine their
    weights, as without penalty when two cover the same rows, the step is the shortest one. Where
    the loss has no minimum, weights are finite and gradients almost 0.

    Where signs of weights are constrained, each step goes to the best weights of these signs for
    the quadratic model. Weights that would have the wrong sign are 0.

    Parameters
    ----------
    risk : PenalisedRisk
        With weights to start from. The result has no higher risk, to within rounding.

    Returns
    -------
    weights : ndarray of shape (n_weights,)
    n_halvings : int
        Number of times that steps were halved.

    Examples
    --------
    Two rules that share a row:

    >>> from laconic.terms.conditions import Query
    >>> from laconic.terms.rules import Rule
    >>> rules = RuleEnsemble((Rule(Query(), 0.0), Rule(Query(), 0.0)))
    >>> covered = [np.array([True, True, False]), np.array([False, True, True])]
    >>> y = np.array([1.0, 5.0, 4.0])
    >>> risk = ensemble_risk(rules, covered, y, SquaredLoss(), 0.0, fit_intercept=False)
    >>> weights, _ = descend(risk)
    >>> weights.round(9)
    array([1., 4.])
    """
    n_halvings = 0
    # Trial steps may overflow; they are halved.
    with np.errstate(over="ignore", invalid="ignore"):
        point = risk.at(risk.start)
        for _ in range(_MAX_STEPS):
            if point.excess <= 1.0:
                break
            if risk.signs is None:
                step = newton_step(point.slopes, point.curvature)
            else:
                step = signed_step(point, risk.signs)
            if not risk.is_quadratic:
                step = point.damped(step)
            following, n_halved = risk.along(point, step)
            # Steps whose gain is a rounding error may be halved by chance.
            n_halvings += n_halved if -point.slopes @ step > point.rounding else 0
            if following is None:
                break
            # Where gains are rounding errors, slopes are more accurate: continue while they fall.
            is_flat = -point.slopes @ step <= point.rounding
            if is_flat and following.excess > point.excess / 2:
                break
            point = following
    return point.weights, n_halvings


def ensemble_weights(ensemble: RuleEnsemble, *, fit_intercept: bool) -> Floats:
    """List the weights of an ensemble, and its intercepts if they are refitted as well."""
    weights = [term.weight for term in ensemble]
    if fit_intercept:
        outputs = ensemble.outputs
        weights += [each.intercept for each in outputs] if outputs else [ensemble.intercept]
    return np.array(weights, dtype=np.float64)


def ensemble_risk(
    ensemble: RuleEnsemble,
    columns: Sequence[Values],
    y: Floats,
    loss: Loss,
    l2_regularization: float | Floats,
    sample_weight: Floats | None = None,
    *,
    fit_intercept: bool,
    signs: NDArray[np.int_] | None = None,
) -> PenalisedRisk:
    """Make the penalised loss of terms, as a function of their weights and maybe of intercepts.

    That is Σ_i loss(y_i, intercept + Σ_r w_r z_ri) + ½ λ Σ_r w_r², whose minimum over a single
    weight is, to second order, the weight of a stagewise round. With several outputs, a term is
    added to one of them. The values z of slopes are divided by their `scales`, and their weights
    multiplied by them.

    Parameters
    ----------
    ensemble : RuleEnsemble
        Its intercepts are used where they are not refitted.
    columns : sequence of bool or float arrays of shape (n_rows,)
        The values of each term.
    y : ndarray of shape (n_rows,)
        The target, as the loss expects it.
    loss : Loss
    l2_regularization : float or ndarray of shape (n_terms,)
        The penalty λ on the square of each weight, not of intercepts.
    sample_weight : ndarray of shape (n_rows,), default=None
    fit_intercept : bool
    signs : int array of shape (n_terms,), default=None
        1 for weights that must not be negative, -1 for those that must not be positive, 0 for
        others.

    Returns
    -------
    risk : PenalisedRisk
        Intercepts come after the weights.

    Examples
    --------
    >>> from laconic.terms.conditions import Query
    >>> from laconic.terms.rules import Rule
    >>> rules, covered = RuleEnsemble((Rule(Query(), 0.0),)), [np.array([True, True, False])]
    >>> y = np.array([1.0, 5.0, 4.0])
    >>> risk = ensemble_risk(rules, covered, y, SquaredLoss(), 2.0, fit_intercept=False)
    >>> value, _ = risk.value(np.array([3.0]))
    >>> value
    33.0
    """
    if fit_intercept and not isinstance(loss, MultinomialLoss):
        # The intercept is the weight of a rule for all rows.
        columns = [*columns, np.ones(len(y), dtype=bool)]
    values, of_terms = on_scale_of_rules(columns, sample_weight)
    natural = ensemble_weights(ensemble, fit_intercept=fit_intercept)
    scales = np.append(of_terms, np.ones(len(natural) - len(of_terms)))
    start = natural * scales
    if signs is not None:
        # Intercepts may have any sign.
        n_intercepts = len(start) - len(signs)
        signs = np.append(signs, np.zeros(n_intercepts, dtype=np.int_)) if signs.any() else None
    if signs is not None:
        start = within_signs(start, signs)
    if isinstance(loss, MultinomialLoss):
        return _ClassRisk(
            ensemble, values, y, l2_regularization, sample_weight, start, signs, scales
        )
    offset = 0.0 if fit_intercept else ensemble.intercept
    n_terms = len(ensemble)
    return _Risk(
        *(offset, values, n_terms, y, loss, l2_regularization, sample_weight, start, signs, scales)
    )


def on_scale_of_rules(
    columns: Sequence[Values], sample_weight: Floats | None
) -> tuple[list[Values], Floats]:
    """Return the values of terms on the scale of rules, and the scale of each term."""
    scaled, scales = list(columns), np.ones(len(columns))
    for position, values in enumerate(columns):
        if values.dtype != np.bool_:
            scaled[position], scales[position] = standardised(values, sample_weight)
    return scaled, scales


def refitted(ensemble: RuleEnsemble, risk: PenalisedRisk) -> tuple[RuleEnsemble, int]:
    """Return terms with the weights that minimise a risk, and the number of halved steps."""
    found, n_halvings = descend(risk)
    pairs = zip(ensemble, (found / risk.scales).tolist(), strict=False)
    terms = [replace(term, weight=weight) for term, weight in pairs]
    intercepts = found[len(terms) :]
    if len(intercepts) == 0:
        return ensemble.with_terms(terms), n_halvings
    weights = np.abs(found[: len(terms)]).tolist()
    if ensemble.outputs:
        # A constant that is added to all of them changes no probability.
        intercepts = intercepts - intercepts.mean()
    elif abs(intercepts[0]) <= _ROUNDING * min(filter(None, weights), default=0.0):
        intercepts[0] = 0.0  # and not a rounding error
    return ensemble.with_terms(terms, intercepts.tolist()), n_halvings


def guarded_step(
    weight: float,
    values: Values,
    y: Floats,
    raw_predictions: Floats,
    loss: Loss,
    penalty: float,
    sample_weight: Floats | None = None,
    output: int | None = None,
) -> tuple[float, int]:
    """Halve the weight of a term until the loss, with the penalty on it, does not increase.

    The weight is the best one for the second-order approximation of the loss, which may be poor far
    from the minimum. Returns the weight and how often it was halved; the weight is 0 if no fraction
    of it lowers the loss. A term of one of several outputs changes that column of the raw
    predictions.

    Examples
    --------
    The best weight from exp(0) = 1 to a mean of 10 is log(10) = 2.3; Newton's step is 9.

    >>> from laconic.losses import PoissonLoss
    >>> y, start = np.array([10.0, 1.0]), np.zeros(2)
    >>> guarded_step(9.0, np.array([True, False]), y, start, PoissonLoss(), 0.0)
    (2.25, 2)
    """
    if isinstance(loss, SquaredLoss):
        return weight, 0

    def total(weight: float) -> tuple[float, float]:
        # Of all rows: a loss may depend on their positions.
        raw = raw_predictions.copy()
        column = raw if output is None else raw[:, output]
        column += weight * values
        losses = loss.value(y, raw)
        if sample_weight is not None:
            losses = losses * sample_weight
        decay = penalty * weight**2 / 2
        magnitude = np.abs(losses).sum() + decay
        return float(losses.sum() + decay), float(8 * _EPSILON * magnitude)

    with np.errstate(over="ignore", invalid="ignore"):
        before, rounding = total(0.0)
        for n_halvings in range(_MAX_HALVINGS):
            if total(weight)[0] <= before + rounding:  # not if it is nan
                return weight, n_halvings
            weight /= 2
    return 0.0, _MAX_HALVINGS


@dataclass(frozen=True)
class Point:
    """The risk at some weights, and its derivatives."""

    weights: Floats
    value: float
    rounding: float
    """Rounding error of the value."""
    slopes: Floats
    """First derivatives with respect to the weights."""
    curvature: Floats
    """Second derivatives, a matrix."""
    excess: float
    """Largest slope, relative to its rounding error."""
    negligible: Floats
    """Rounding error of each slope."""

    def damped(self, step: Floats) -> Floats:
        """Shorten a step so that no weight changes by more than itself plus 1.

        Where the loss is almost linear, Newton's steps are too long. Weights with a second
        derivative of 0 change by that much.
        """
        longest = 1.0 + np.abs(self.weights)
        is_curved = (np.diag(self.curvature) > 0.0) & np.isfinite(step)
        step = np.where(is_curved, step, -np.sign(self.slopes) * longest)
        too_far = float((np.abs(step) / longest).max(initial=1.0))
        return np.asarray(step / too_far, dtype=np.float64)


def newton_step(slopes: Floats, curvature: Floats) -> Floats:
    """Compute the step to the minimum of a quadratic function; the shortest of several."""
    diagonal = np.diag(curvature)
    # Scaled, as very different curvatures do not make the matrix singular.
    scales = np.divide(1.0, np.sqrt(diagonal), where=diagonal > 0, out=np.zeros(len(diagonal)))
    scaled = curvature * scales * scales[:, np.newaxis]
    solution = np.linalg.lstsq(scaled, slopes * scales, rcond=_SINGULAR)[0]
    return np.asarray(-scales * solution, dtype=np.float64)


def within_signs(weights: Floats, signs: NDArray[np.int_]) -> Floats:
    """Set weights of the wrong sign to 0.

    Examples
    --------
    >>> within_signs(np.array([1.0, 1.0, 1.0]), np.array([-1, 0, 1]))
    array([0., 1., 1.])
    """
    return np.where(weights * signs < 0.0, 0.0, weights)


def signed_step(point: Point, signs: NDArray[np.int_]) -> Floats:
    """Compute the step to the minimum of the quadratic model over weights of given signs.

    The active-set method of Lawson and Hanson for nonnegative least squares: weights that are 0
    become free one after the other, the one with the largest gain first, and return to 0 where they
    would get the wrong sign.
    """
    n_weights = len(signs)
    weights = point.weights.copy()
    is_free = (signs == 0) | (weights != 0.0)
    for _ in range(3 * n_weights + 10):
        # Go towards the minimum over the free weights as far as they keep their signs.
        while is_free.any():
            slopes = point.slopes + point.curvature @ (weights - point.weights)
            step = np.zeros(n_weights)
            free = np.flatnonzero(is_free)
            step[free] = newton_step(slopes[free], point.curvature[np.ix_(free, free)])
            if not np.isfinite(step).all():
                return step
            goal = weights + step
            is_wrong = is_free & (goal * signs < 0.0)
            if not is_wrong.any():
                weights = goal
                break
            shares = np.ones(n_weights)
            shares[is_wrong] = weights[is_wrong] / (weights - goal)[is_wrong]
            share = shares.min()
            weights = within_signs(weights + share * step, signs)
            weights[is_wrong & (shares <= share)] = 0.0
            is_free &= (signs == 0) | (weights != 0.0)
        slopes = point.slopes + point.curvature @ (weights - point.weights)
        gains = np.where(is_free, 0.0, -slopes * signs)
        best = int(gains.argmax())
        if gains[best] <= point.negligible[best]:
            break
        is_free[best] = True
    return weights - point.weights


class PenalisedRisk(ABC):
    """A convex function of weights, and those to start from."""

    is_quadratic = False
    """Whether the loss is quadratic, so that a step leads to its minimum."""

    def __init__(
        self, start: Floats, signs: NDArray[np.int_] | None, scales: Floats | None = None
    ) -> None:
        self.start = start
        # Weights are those of terms times these.
        self.scales = np.ones(len(start)) if scales is None else scales
        # 1 or -1 for weights of that sign, or 0; 0 for others; None if all are free.
        self.signs = signs

    @abstractmethod
    def value(self, weights: Floats) -> tuple[float, float]:
        """Compute the risk at some weights, and its rounding error."""

    @abstractmethod
    def at(self, weights: Floats) -> Point:
        """Compute the risk at some weights, with its derivatives."""

    def _point(self, weights: Floats, slopes: Floats, curvature: Floats, rounding: Floats) -> Point:
        """Make the point at some weights, given derivatives and their rounding errors."""
        sizes = np.abs(slopes)
        if self.signs is not None:
            # Slopes that would give a weight of 0 the wrong sign do not count.
            sizes[(weights == 0.0) & (self.signs * slopes > 0.0)] = 0.0
        excess = np.divide(sizes, rounding, where=rounding > 0, out=np.zeros(len(slopes)))
        largest = float(excess.max(initial=0.0))
        return Point(weights, *self.value(weights), slopes, curvature, largest, rounding)

    def along(self, point: Point, step: Floats) -> tuple[Point | None, int]:
        """Take a step, or a half, a quarter, ... of it; None if the risk increases in any case.

        Returns also how often the step was halved.
        """
        for n_halvings in range(_MAX_HALVINGS):
            weights = point.weights + step
            if self.signs is not None:
                weights = within_signs(weights, self.signs)
            value, _ = self.value(weights)
            if value <= point.value + point.rounding:  # not if it is nan
                return self.at(weights), n_halvings
            step = step / 2
        return None, _MAX_HALVINGS


class _Risk(PenalisedRisk):
    """The penalised loss as a function of the weights, for a loss of one raw prediction.

    Rows of a cell have the same values of all terms, and so the same score.
    """

    def __init__(
        self,
        offset: float,
        values: Sequence[Values],
        n_terms: int,
        y: Floats,
        loss: Loss,
        penalty: float | Floats,
        sample_weight: Floats | None,
        start: Floats,
        signs: NDArray[np.int_] | None,
        scales: Floats,
    ) -> None:
        super().__init__(start, signs, scales)
        self.is_quadratic = isinstance(loss, SquaredLoss)
        self.y, self.loss, self.offset, self.sample_weight = y, loss, offset, sample_weight
        self.penalties = np.zeros(len(values))
        self.penalties[:n_terms] = penalty
        terms = RefittedTerms(values, self.penalties)
        self.cells = terms.cells(len(y))
        self.columns = terms.columns(self.cells)
        # A step to 0 of a weight without rows has the rounding error of the other weights.
        has_rows = self.columns @ self._cell_sums(np.ones(len(y))) > 0.0
        self.idle_penalties = np.where(has_rows, 0.0, self.penalties)
        # A class whose share is below the rounding error of 1 counts as absent.
        pull = np.abs(loss.gradients(y, np.full(len(y), offset)))
        pulls = self.columns @ self._cell_sums(pull) + self.penalties * np.abs(start)
        self.negligible = _EPSILON * pulls

    def _cell_sums(self, values: Floats) -> Floats:
        """Add up weighted values over the rows of each cell."""
        if self.sample_weight is not None:
            values = values * self.sample_weight
        return np.bincount(self.cells, values, self.columns.shape[1]).astype(np.float64)

    def _scores(self, weights: Floats) -> Floats:
        return np.asarray(self.offset + weights @ self.columns, dtype=np.float64)

    def value(self, weights: Floats) -> tuple[float, float]:
        """Compute the risk at some weights, and its rounding error."""
        values = self.loss.value(self.y, self._scores(weights)[self.cells])
        if self.sample_weight is not None:
            values = values * self.sample_weight
        penalty = self.penalties @ weights**2 / 2
        magnitude = np.abs(values).sum() + penalty
        return float(values.sum() + penalty), float(8 * _EPSILON * magnitude)

    def at(self, weights: Floats) -> Point:
        """Compute the risk at some weights, with its derivatives."""
        cell_scores = self._scores(weights)
        scores = cell_scores[self.cells]
        gradients = self.loss.gradients(self.y, scores)
        hessians = self._cell_sums(self.loss.hessians(self.y, scores))
        decay = self.penalties * weights
        slopes = self.columns @ self._cell_sums(gradients) + decay
        # Rounding errors of sums and of the scores.
        pulls = self._cell_sums(np.abs(gradients)) + np.abs(cell_scores) * hessians
        idle = self.idle_penalties * np.abs(weights).max(initial=0.0)
        rounding = 4 * _EPSILON * (self.columns @ pulls + np.abs(decay) + idle) + self.negligible
        curvature = (self.columns * hessians) @ self.columns.T + np.diag(self.penalties)
        return self._point(weights, slopes, curvature, rounding)


class _ClassRisk(PenalisedRisk):
    """The penalised multinomial loss as a function of weights, and maybe of intercepts.

    Rows with the same values of all terms have the same scores.
    """

    def __init__(
        self,
        ensemble: RuleEnsemble,
        values: Sequence[Values],
        y: Floats,
        penalty: float | Floats,
        sample_weight: Floats | None,
        start: Floats,
        signs: NDArray[np.int_] | None,
        scales: Floats,
    ) -> None:
        super().__init__(start, signs, scales)
        n_classes = len(ensemble.outputs)
        terms = RefittedTerms(values, np.zeros(len(values)) + penalty)
        cells = terms.cells(len(y))
        self.columns, self.penalties = terms.columns(cells), terms.penalties
        self.outputs = np.array([term.output for term in ensemble], dtype=np.intp)
        self.offsets = np.array([each.intercept for each in ensemble.outputs])
        n_cells = self.columns.shape[1]
        if len(start) > len(values):
            self.columns = np.vstack([self.columns, np.ones((n_classes, n_cells))])
            self.outputs = np.append(self.outputs, np.arange(n_classes))
            self.penalties = np.append(self.penalties, np.zeros(n_classes))
            self.offsets = np.zeros(n_classes)
        places = cells * n_classes + y.astype(np.intp)
        counts = np.bincount(places, sample_weight, n_cells * n_classes)
        self.counts = counts.astype(np.float64).reshape(n_cells, n_classes)
        self.totals = self.counts.sum(axis=1)
        self.classes = np.eye(n_classes)[self.outputs]

    def _scores(self, weights: Floats) -> Floats:
        scores = (self.columns * weights[:, np.newaxis]).T @ self.classes
        return np.asarray(self.offsets + scores, dtype=np.float64)

    def value(self, weights: Floats) -> tuple[float, float]:
        """Compute the risk at some weights, and its rounding error."""
        losses = -self.counts * _log_softmax(self._scores(weights))
        value = float(losses.sum() + self.penalties @ weights**2 / 2)
        return value, 8 * _EPSILON * abs(value)

    def at(self, weights: Floats) -> Point:
        """Compute the risk at some weights, with its derivatives."""
        scores = self._scores(weights)
        shares = np.exp(_log_softmax(scores))
        expected = self.totals[:, np.newaxis] * shares
        decay = self.penalties * weights
        slopes = self._sums(expected - self.counts) + decay
        own = self.columns * shares[:, self.outputs].T
        is_same = self.outputs[:, np.newaxis] == self.outputs
        curvature = (own * self.totals) @ self.columns.T * is_same - (own * self.totals) @ own.T
        # Rounding errors of sums and of the scores.
        pulls = self._sums(expected + self.counts + np.abs(scores) * expected)
        rounding = 4 * _EPSILON * (pulls + np.abs(decay))
        curvature += np.diag(self.penalties)
        return self._point(weights, slopes, curvature, rounding)

    def _sums(self, values: Floats) -> Floats:
        """Add up the values of its class, times those of each term, over the cells."""
        return np.asarray((self.columns * values[:, self.outputs].T).sum(axis=1), dtype=np.float64)


def _log_softmax(scores: Floats) -> Floats:
    from scipy.special import log_softmax

    return np.asarray(log_softmax(scores, axis=1), dtype=np.float64)
