"""The truth about a small problem, by NumPy and by looking at everything.

Nothing here comes from the package: losses are written down once more, and all conjunctions are
looked at, and all slopes between knots. Terms are columns of numbers, those of slopes on the scale
of rules. Raw predictions have a column per output, one for numbers and two classes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from fuzz.crossings.terms import Key, Prices, Sets

# Many sets are worth the same but for what 30 binary digits leave.
CLOSE = 1e-7
# The share of the penalty that is left where chance is judged.
RELAXED = 0.1
# What a set keeps of its hessians, however well others imitate it.
_IMITATED = 1e-9


# Losses


class OwnLoss:
    """A loss that grows ever faster on one side, as users write them."""

    def value(self, y: np.ndarray, raw_predictions: np.ndarray) -> np.ndarray:
        """Loss of each row."""
        return np.exp(y - raw_predictions) - (y - raw_predictions) - 1

    def gradients(self, y: np.ndarray, raw_predictions: np.ndarray) -> np.ndarray:
        """First derivative."""
        return 1 - np.exp(y - raw_predictions)

    def hessians(self, y: np.ndarray, raw_predictions: np.ndarray) -> np.ndarray:
        """Second derivative."""
        return np.exp(y - raw_predictions)

    def inverse_link(self, raw_predictions: np.ndarray) -> np.ndarray:
        """Raw predictions as they are."""
        return raw_predictions


Curves = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def _logistic(y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, ...]:
    p = 1 / (1 + np.exp(-f))
    return np.logaddexp(0, f) - y * f, p - y, p * (1 - p)


def _huber(delta: float) -> Curves:
    def curves(y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, ...]:
        far = np.abs(f - y)
        value = np.where(far <= delta, far**2, 2 * delta * far - delta**2)
        return value, 2 * np.clip(f - y, -delta, delta), 2 * delta / np.maximum(delta, far)

    return curves


def _tweedie(y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, ...]:
    p = 1.5
    falls, rises = y * np.exp((1 - p) * f), np.exp((2 - p) * f)
    value = falls / (p - 1) + rises / (2 - p)
    return value, rises - falls, (p - 1) * falls + (2 - p) * rises


_CURVES: dict[str, Curves] = {
    "squared": lambda y, f: ((y - f) ** 2, 2 * (f - y), np.full(len(y), 2.0)),
    "poisson": lambda y, f: (np.exp(f) - y * f, np.exp(f) - y, np.exp(f)),
    "gamma": lambda y, f: (y * np.exp(-f) + f, 1 - y * np.exp(-f), y * np.exp(-f)),
    "tweedie": _tweedie,
    "logistic": _logistic,
    "positive='no'": _logistic,
    "own loss": lambda y, f: (
        OwnLoss().value(y, f),
        OwnLoss().gradients(y, f),
        OwnLoss().hessians(y, f),
    ),
}


def _quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) >= share * weights.sum() * (1 - 1e-12)
    return float(values[order][int(reached.argmax())])


class Truth:
    """Target and weights of the rows that count, and a loss of their raw predictions."""

    def __init__(
        self,
        loss: str,
        y: np.ndarray,
        weights: np.ndarray,
        *,
        fit_intercept: bool,
        classes: np.ndarray | None = None,
    ) -> None:
        self.weights, self.total = weights, float(weights.sum())
        self.n_outputs = 3 if loss == "three classes" else 1
        self.classes = np.unique(y) if y.dtype.kind in "UO" and classes is None else classes
        if self.n_outputs > 1:
            self.one_hot = (y[:, np.newaxis] == self.classes).astype(float)
        else:
            positive = 0 if loss == "positive='no'" else 1
            self.y = y if self.classes is None else (y == self.classes[positive]).astype(float)
            self.curves = self._huber() if loss == "huber" else _CURVES[loss]
        self.fit_intercept, self.penalty = fit_intercept, 0.0
        self.constants = np.zeros(self.n_outputs)
        nothing = np.zeros((0, len(weights)))
        if fit_intercept:
            _, self.constants = self.refit(nothing)
        start = np.tile(self.constants, (len(weights), 1))
        # As much as ten rows count.
        self.penalty = 10 * float((weights @ self.hessians(start)).mean() / self.total)

    def _huber(self) -> Curves:
        far = np.abs(self.y - _quantile(self.y, self.weights, 0.5))
        return _huber(_quantile(far, self.weights, 0.9) or float(far.max()))

    @property
    def start(self) -> np.ndarray:
        """Raw predictions without any rule."""
        return np.tile(self.constants, (len(self.weights), 1))

    def values(self, raw: np.ndarray) -> np.ndarray:
        """Loss of each row."""
        if self.n_outputs == 1:
            return self.curves(self.y, raw[:, 0])[0]
        return -(self.one_hot * np.log(_shares(raw))).sum(axis=1)

    def gradients(self, raw: np.ndarray) -> np.ndarray:
        """First derivatives, a column for each output."""
        if self.n_outputs == 1:
            return self.curves(self.y, raw[:, 0])[1][:, np.newaxis]
        return _shares(raw) - self.one_hot

    def hessians(self, raw: np.ndarray) -> np.ndarray:
        """Second derivatives with respect to each output by itself."""
        if self.n_outputs == 1:
            return self.curves(self.y, raw[:, 0])[2][:, np.newaxis]
        shares = _shares(raw)
        return shares * (1 - shares)

    def risk(self, raw: np.ndarray, weights: np.ndarray) -> float:
        """Sum the loss over the rows, with the penalty on weights of rules."""
        return float(self.weights @ self.values(raw) + self.penalty / 2 * (weights @ weights))

    # Weights that are best together

    def raw(self, columns: np.ndarray, outputs: np.ndarray, parts: tuple[Any, Any]) -> np.ndarray:
        """Add up intercepts and weights."""
        weights, intercepts = parts
        raw = np.tile(np.asarray(intercepts, dtype=float), (len(self.weights), 1))
        for values, output, weight in zip(columns, outputs, weights, strict=True):
            raw[:, output] += weight * values
        return raw

    def slopes(
        self, columns: np.ndarray, outputs: np.ndarray, parts: tuple[Any, Any]
    ) -> np.ndarray:
        """Compute how the risk changes with each weight, and then with each intercept."""
        pulls = self.weights[:, np.newaxis] * self.gradients(self.raw(columns, outputs, parts))
        triples = zip(columns, outputs, parts[0], strict=True)
        of_terms = [pulls[:, k] @ values + self.penalty * weight for values, k, weight in triples]
        return np.array([*of_terms, *pulls.sum(axis=0)])

    def refit(
        self,
        columns: np.ndarray,
        outputs: np.ndarray | None = None,
        signs: Sequence[int] = (),
        share: float = 1.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the weights, and intercepts, of the smallest risk, with a share of the penalty."""
        if share != 1.0:
            relaxed = copy.copy(self)
            relaxed.penalty = share * self.penalty
            return relaxed.refit(columns, outputs, signs)
        n_terms = len(columns)
        outputs = np.zeros(n_terms, dtype=int) if outputs is None else outputs
        n_weights = n_terms + (self.n_outputs if self.fit_intercept else 0)

        def divided(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            intercepts = point[n_terms:] if self.fit_intercept else np.zeros(self.n_outputs)
            return point[:n_terms], intercepts

        def risk(point: np.ndarray) -> float:
            parts = divided(point)
            return self.risk(self.raw(columns, outputs, parts), parts[0])

        def bends(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            parts = divided(point)
            curvature = self._curvature(columns, outputs, self.raw(columns, outputs, parts))
            slopes = self.slopes(columns, outputs, parts)
            return slopes[:n_weights], curvature[:n_weights, :n_weights]

        kept = np.zeros(n_weights)
        kept[: len(signs)] = signs
        weights, intercepts = divided(_descend(risk, bends, kept))
        if self.n_outputs > 1 and self.fit_intercept:
            intercepts = intercepts - intercepts.mean()
        return weights, intercepts

    def _curvature(self, columns: np.ndarray, outputs: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Second derivatives of the risk with respect to weights and intercepts."""
        columns = np.vstack([columns, np.ones((self.n_outputs, len(raw)))])
        of = np.append(outputs, np.arange(self.n_outputs))
        penalties = np.append(np.full(len(outputs), self.penalty), np.zeros(self.n_outputs))
        if self.n_outputs == 1:
            bent = columns * (self.weights * self.hessians(raw)[:, 0])
            return bent @ columns.T + np.diag(penalties)
        shares = _shares(raw).T[of]
        own = columns * shares
        is_same = of[:, np.newaxis] == of
        bent = (own * self.weights) @ columns.T * is_same - (own * self.weights) @ own.T
        return bent + np.diag(penalties)

    # What sets of rows are worth

    def gains(
        self,
        columns: np.ndarray,
        raw: np.ndarray,
        output: int,
        others: np.ndarray | None,
        share: float = 1.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute what terms gain, in units of the mean loss, and their signs.

        With others, these are refitted with the new term, and with them the intercept if there is
        one; rules for rows that one covers already are worth nothing. Without, all others stay as
        they are. All have a share of the penalty.
        """
        gradients = self.weights * self.gradients(raw)[:, output]
        hessians = self.weights * self.hessians(raw)[:, output]
        pulls, whole = columns @ gradients, columns**2 @ hessians
        left = whole
        if others is not None:
            penalties = np.full(len(others), share * self.penalty)
            if self.fit_intercept:
                others = np.vstack([others, np.ones((1, len(raw)))])
                penalties = np.append(penalties, 0.0)
            left = left - _imitated(columns, others, hessians, penalties)
            left = np.maximum(left, _IMITATED * whole)
            # Beside a rule for all rows, one for the rest of a set says the same.
            has_all = bool((others == 1.0).all(axis=1).any())
            pulls = np.where(is_one_of(columns, others, with_rest=has_all), 0.0, pulls)
        with np.errstate(invalid="ignore", divide="ignore"):
            gains = np.where(pulls == 0.0, 0.0, pulls**2 / (share * self.penalty + left))
        return gains / (2 * self.total), -np.sign(pulls)

    def chance(
        self, values: np.ndarray, raw: np.ndarray, output: int, others: np.ndarray | None
    ) -> float:
        """Compute by which factor outliers among the rows of a term raise what chance gains.

        That is the variance of the gradients that the term leaves, in what others cannot imitate of
        it, relative to that of all rows.
        """
        gradients, hessians = self.gradients(raw)[:, output], self.hessians(raw)[:, output]
        if others is not None and self.fit_intercept:
            others = np.vstack([others, np.ones((1, len(raw)))])
        left = values
        if others is not None and len(others) > 0:
            matrix = (others * (self.weights * hessians)) @ others.T
            shared = others @ (self.weights * hessians * values)
            left = values - np.linalg.pinv(matrix, rcond=1e-13, hermitian=True) @ shared @ others
        bend = self.weights @ (hessians * left**2)
        if not bend > 0.0:
            return 1.0
        rest = gradients - (self.weights @ (gradients * left)) / bend * hessians * left
        variance = self.weights @ (rest * left) ** 2 / bend
        return max(1.0, float(variance / (self.noise(raw) * self.total)))

    def noise(self, raw: np.ndarray) -> float:
        """Compute what the best of N useless terms gains by chance, per logarithm of N."""
        squares = (self.weights @ self.gradients(raw) ** 2).sum()
        return float(squares / (self.weights @ self.hessians(raw)).sum() / self.total)


def _shares(raw: np.ndarray) -> np.ndarray:
    exponentials = np.exp(raw - raw.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def _imitated(
    sets: np.ndarray, others: np.ndarray, hessians: np.ndarray, penalties: np.ndarray
) -> np.ndarray:
    if len(others) == 0:
        return np.zeros(len(sets))
    matrix = (others * hessians) @ others.T + np.diag(penalties)
    shared = (sets * hessians) @ others.T
    return ((shared @ np.linalg.pinv(matrix, rcond=1e-12, hermitian=True)) * shared).sum(axis=1)


def is_one_of(columns: np.ndarray, others: np.ndarray, *, with_rest: bool) -> np.ndarray:
    """Return which rules are for the rows of others, or for the rest of them."""
    known = {each.tobytes() for each in others[are_rules(others)] == 1.0}
    if with_rest:
        known |= {each.tobytes() for each in others[are_rules(others)] == 0.0}
    return np.array([each.tobytes() in known for each in columns == 1.0]) & are_rules(columns)


def are_rules(columns: np.ndarray) -> np.ndarray:
    """Return which terms have only zeros and ones."""
    return np.asarray(((columns == 0.0) | (columns == 1.0)).all(axis=1))


def best_values(
    sets: Sets,
    output: int,
    gains: np.ndarray,
    signs: np.ndarray,
    prices: Prices,
    barred: Collection[Key] = (),
) -> np.ndarray:
    """Compute what terms are worth; those of the wrong sign gain nothing."""
    is_positive, is_negative = sets.signs[:, output].T
    is_fitting = np.where(signs > 0, is_positive, is_negative) | (signs == 0)
    is_barred = np.array([key in barred for key in sets.keys], dtype=bool)
    left = np.where(is_fitting & ~is_barred, gains, 0.0) - sets.costs
    return prices.values(left, sets.n_conditions, sets.is_slope)


def _descend(
    risk: Callable[[np.ndarray], float],
    bends: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    signs: np.ndarray,
) -> np.ndarray:
    """Go from 0 to the minimum over weights that keep their signs, by Newton's method."""
    point, value = np.zeros(len(signs)), risk(np.zeros(len(signs)))
    for _ in range(300):
        slopes, curvature = bends(point)
        is_free = (point != 0.0) | (signs * slopes <= 0.0)
        step = _step(slopes, curvature, is_free, point, signs)
        if -slopes @ step <= 1e-15 * max(abs(value), 1e-6):
            # The risk has no more digits, but slopes have.
            last = point + step
            if not (signs * last >= 0.0).all():
                return point
            if not np.abs(bends(last)[0][is_free]).sum() < np.abs(slopes[is_free]).sum() / 2:
                return last
            point, value = last, risk(last)
            continue
        # As far as the first weight that comes to 0, and not uphill.
        ends = [1.0, *(-point[n] / step[n] for n in np.flatnonzero(point * step * signs**2 < 0.0))]
        share = min(ends)
        while risk(point + share * step) > value and share > 1e-15:
            share /= 2
        point = point + share * step
        point[(signs != 0.0) & (np.abs(point) <= 1e-15 * np.abs(share * step))] = 0.0
        value = risk(point)
    return point


def _step(
    slopes: np.ndarray,
    curvature: np.ndarray,
    is_free: np.ndarray,
    point: np.ndarray,
    signs: np.ndarray,
) -> np.ndarray:
    """Go to the minimum of the quadratic model, but for weights that would leave their sign."""
    is_free = is_free.copy()
    while True:
        step, free = np.zeros(len(point)), np.flatnonzero(is_free)
        matrix = curvature[np.ix_(free, free)]
        step[free] = -np.linalg.lstsq(matrix, slopes[free], rcond=1e-12)[0]
        is_wrong = is_free & (point == 0.0) & (signs * step < 0.0)
        if not is_wrong.any():
            return step
        is_free &= ~is_wrong
