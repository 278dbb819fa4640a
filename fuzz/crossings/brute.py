"""The truth about a small problem, by NumPy and by looking at everything.

Nothing here comes from the package: losses are written down once more, conditions are sets of rows
of plain cells, and all conjunctions are looked at. Raw predictions have a column per output, one
for numbers and two classes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from fuzz.crossings.tables import COLOURS, GRADES, Cells

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# Many sets are worth the same but for what 30 binary digits leave.
CLOSE = 1e-7
# What a set keeps of its hessians, however well others imitate it.
_IMITATED = 1e-9


# Conditions


@dataclass(frozen=True, eq=False)
class Atom:
    """One condition: the column it is about, the rows it covers, and how people write it."""

    column: str
    covered: np.ndarray
    text: str
    order: int | None = None
    """1 for large values, -1 for small ones, 0 for missing ones; None if it knows no order."""


def atoms_of(columns: str, cells: Cells, counted: np.ndarray) -> list[Atom]:
    """List the conditions of a table, as the rows that count show them."""
    if columns == "conditions":
        return [_given(cells, *condition) for condition in GIVEN]
    found: list[Atom] = []
    for name, values in cells.items():
        found += _atoms(name, name, values, counted, columns)
        if columns == "date_parts" and name == "x2":
            for part, value in PARTS.items():
                of_part = [None if cell is None else value(cell) for cell in values]
                found += _atoms(f"{part} of {name}", name, of_part, counted, columns)
    return found


PARTS: dict[str, Callable[[datetime], Any]] = {
    "weekday": lambda moment: WEEKDAYS[moment.weekday()],
    "hour": lambda moment: moment.hour,
}

GIVEN: tuple[tuple[str, str, Any], ...] = (
    ("x0", ">", 1.0),
    ("x0", ">", 3.0),
    ("x0", "<=", 2.0),
    ("x1", ">", 0.5),
    ("x1", "<=", 0.5),
    ("x2", "==", COLOURS[0]),
    ("x2", "!=", COLOURS[1]),
    ("x2", "in", COLOURS[2:]),
)
"""The conditions that somebody gives, where somebody does."""


def _given(cells: Cells, name: str, relation: str, value: Any) -> Atom:
    order = {">": 1, "<=": -1}.get(relation)
    return Atom(name, holds(cells, name, relation, value), _written(name, relation, value), order)


def _atoms(
    name: str, column: str, values: Sequence[Any], counted: np.ndarray, columns: str
) -> list[Atom]:
    known = [value for value, is_counted in zip(values, counted, strict=True) if is_counted]
    missing = np.array([value is None for value in values])
    levels = sorted({value for value in known if value is not None})
    found: list[Atom] = []

    def add(relation: str, value: Any, order: int | None = None) -> None:
        covered = holds({name: list(values)}, name, relation, value)
        found.append(Atom(column, covered, _written(name, relation, value), order))

    if not levels:
        return []
    if isinstance(levels[0], bool):
        if len(levels) > 1:
            add("==", False, -1)
            add("==", True, 1)
    elif not isinstance(levels[0], str):
        for low, high in pairwise(levels):
            add("<=", low + (high - low) / 2, -1)
            add(">", low + (high - low) / 2, 1)
    elif columns == "ordered categories":
        for place in range(1, len(levels)):
            add("in", tuple(GRADES[: GRADES.index(levels[place])]))
            add("in", tuple(GRADES[GRADES.index(levels[place]) :]))
    elif len(levels) > 1 or missing[counted].any():
        for level in levels:
            add("==", level)
        for level in levels if len(levels) > 2 else ():
            add("!=", level)
        if columns == "categories='sets'":
            for size in range(2, len(levels)):
                for chosen in combinations(levels, size):
                    add("in", chosen)
    if missing[counted].any():
        add("is missing", None, 0)
        add("is present", None, 0)
    return found


def holds(cells: Cells, feature: str, relation: str, value: Any) -> np.ndarray:
    """Return for which rows a condition holds; missing values are in no comparison."""
    if feature in cells:
        values = cells[feature]
    else:
        part, _, column = feature.partition(" of ")
        values = [None if cell is None else PARTS[part](cell) for cell in cells[column]]
    return np.array([_holds(cell, relation, value) for cell in values], dtype=bool)


def _holds(cell: Any, relation: str, value: Any) -> bool:
    if relation in ("is missing", "is present"):
        return (cell is None) == (relation == "is missing")
    if cell is None:
        return False
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    answers = {
        "<=": lambda: cell <= value,
        ">": lambda: cell > value,
        "==": lambda: cell == value,
        "!=": lambda: cell != value,
        "in": lambda: cell in value,
        "not in": lambda: cell not in value,
    }
    return bool(answers[relation]())


def _written(name: str, relation: str, value: Any) -> str:
    if value is None:
        return f"{name} {relation}"
    if isinstance(value, tuple):
        return f"{name} {relation} {{{', '.join(map(repr, value))}}}"
    if isinstance(value, datetime):
        return f"{name} {relation} {value:%Y-%m-%d %H:%M}"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return f"{name} {relation} {text}"


# What rules may be made of


@dataclass(frozen=True)
class Limits:
    """What rules may be made of, what that costs, and which signs weights have."""

    groups: tuple[frozenset[str], ...] = (frozenset({"x0", "x1", "x2"}),)
    """A rule uses columns of one of these."""
    directions: dict[str, int] = field(default_factory=dict)
    """1 for features with which predictions only rise, -1 where they only fall; of three or more
    classes, the probability of the last one."""
    sign: int = 0
    costs: dict[str, float] = field(default_factory=dict)
    n_outputs: int = 1

    def signs(self, atoms: Iterable[Atom], output: int) -> set[int]:
        """List the signs that the weight of a rule may have."""
        atoms = list(atoms)
        if not any({atom.column for atom in atoms} <= group for group in self.groups):
            return set()
        turn = 1 if output == self.n_outputs - 1 else -1
        asked = {self.directions.get(a.column, 0) * (a.order or 0) * turn for a in atoms} - {0}
        allowed = {1, -1} if self.sign == 0 else {self.sign}
        return allowed.intersection(*({each} for each in asked))

    def cost(self, atoms: Iterable[Atom]) -> float:
        """Add up what the columns of a rule cost."""
        return sum(self.costs.get(column, 0.0) for column in {atom.column for atom in atoms})


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets of rows that conjunctions cover, with the signs that they may have, and their costs."""

    covered: np.ndarray
    signs: np.ndarray
    """Whether weights may be positive, and negative: shape (n_sets, n_outputs, 2)."""
    costs: np.ndarray
    atoms: list[tuple[Atom, ...]]

    def part(self, chosen: np.ndarray) -> Sets:
        """Take some of them."""
        places = np.flatnonzero(chosen)
        return Sets(
            *(each[places] for each in (self.covered, self.signs, self.costs)),
            [self.atoms[place] for place in places],
        )


def all_sets(
    atoms: Sequence[Atom], limits: Limits, max_conditions: int, counted: np.ndarray
) -> Sets:
    """List all conjunctions that are allowed; rows that do not count are left out."""
    covered, costs, found = [], [], []
    signs: Any = []
    for size in range(max_conditions + 1):
        for chosen in combinations(atoms, size):
            allowed = [limits.signs(chosen, output) for output in range(limits.n_outputs)]
            if not any(allowed):
                continue
            mask = np.ones(int(counted.sum()), dtype=bool)
            for atom in chosen:
                mask &= atom.covered[counted]
            covered.append(mask)
            signs.append([(1 in each, -1 in each) for each in allowed])
            costs.append(limits.cost(chosen))
            found.append(chosen)
    signs = np.array(signs, dtype=bool).reshape(-1, limits.n_outputs, 2)
    return Sets(np.array(covered, dtype=bool), signs, np.array(costs), found)


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
        self, loss: str, y: np.ndarray, weights: np.ndarray, *, fit_intercept: bool
    ) -> None:
        self.weights, self.total = weights, float(weights.sum())
        self.n_outputs = 3 if loss == "three classes" else 1
        self.classes = np.unique(y) if y.dtype.kind in "UO" else None
        if self.n_outputs > 1:
            self.one_hot = (y[:, np.newaxis] == self.classes).astype(float)
        else:
            self.y = y if self.classes is None else (y == self.classes[1]).astype(float)
            self.curves = self._huber() if loss == "huber" else _CURVES[loss]
        self.fit_intercept, self.penalty = fit_intercept, 0.0
        self.constants = np.zeros(self.n_outputs)
        nothing = np.zeros((0, len(weights)), dtype=bool)
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

    def raw(self, covered: np.ndarray, outputs: np.ndarray, parts: tuple[Any, Any]) -> np.ndarray:
        """Add up intercepts and weights."""
        weights, intercepts = parts
        raw = np.tile(np.asarray(intercepts, dtype=float), (len(self.weights), 1))
        for mask, output, weight in zip(covered, outputs, weights, strict=True):
            raw[mask, output] += weight
        return raw

    def slopes(
        self, covered: np.ndarray, outputs: np.ndarray, parts: tuple[Any, Any]
    ) -> np.ndarray:
        """Compute how the risk changes with each weight, and then with each intercept."""
        pulls = self.weights[:, np.newaxis] * self.gradients(self.raw(covered, outputs, parts))
        pairs = zip(covered, outputs, parts[0], strict=True)
        of_rules = [pulls[mask, k].sum() + self.penalty * weight for mask, k, weight in pairs]
        return np.array([*of_rules, *pulls.sum(axis=0)])

    def refit(
        self,
        covered: np.ndarray,
        outputs: np.ndarray | None = None,
        signs: Sequence[int] = (),
    ) -> tuple[np.ndarray, np.ndarray]:
        """Find the weights, and intercepts, of the smallest risk."""
        n_terms = len(covered)
        outputs = np.zeros(n_terms, dtype=int) if outputs is None else outputs
        n_weights = n_terms + (self.n_outputs if self.fit_intercept else 0)

        def divided(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            intercepts = point[n_terms:] if self.fit_intercept else np.zeros(self.n_outputs)
            return point[:n_terms], intercepts

        def risk(point: np.ndarray) -> float:
            parts = divided(point)
            return self.risk(self.raw(covered, outputs, parts), parts[0])

        def bends(point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            parts = divided(point)
            curvature = self._curvature(covered, outputs, self.raw(covered, outputs, parts))
            slopes = self.slopes(covered, outputs, parts)
            return slopes[:n_weights], curvature[:n_weights, :n_weights]

        kept = np.zeros(n_weights)
        kept[: len(signs)] = signs
        weights, intercepts = divided(_descend(risk, bends, kept))
        if self.n_outputs > 1 and self.fit_intercept:
            intercepts = intercepts - intercepts.mean()
        return weights, intercepts

    def _curvature(self, covered: np.ndarray, outputs: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Second derivatives of the risk with respect to weights and intercepts."""
        columns = np.vstack([covered, np.ones((self.n_outputs, len(raw)))]).astype(float)
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
        sets: np.ndarray,
        raw: np.ndarray,
        output: int,
        others: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute what rules for sets of rows gain, in units of the mean loss, and their signs.

        With others, these are refitted with the new rule, and with them the intercept if there is
        one; what they cover already is worth nothing. Without, all others stay as they are.
        """
        gradients = self.weights * self.gradients(raw)[:, output]
        hessians = self.weights * self.hessians(raw)[:, output]
        pulls, left = sets @ gradients, sets @ hessians
        if others is not None:
            penalties = np.full(len(others), self.penalty)
            if self.fit_intercept:
                others = np.vstack([others, np.ones((1, len(raw)), dtype=bool)])
                penalties = np.append(penalties, 0.0)
            left = left - _imitated(sets, others.astype(float), hessians, penalties)
            left = np.maximum(left, _IMITATED * (sets @ hessians))
            # Beside a rule for all rows, one for the rest of a set says the same.
            has_all = bool(others.all(axis=1).any())
            pulls = np.where(is_one_of(sets, others, with_rest=has_all), 0.0, pulls)
        with np.errstate(invalid="ignore", divide="ignore"):
            gains = np.where(pulls == 0.0, 0.0, pulls**2 / (self.penalty + left))
        return gains / (2 * self.total), -np.sign(pulls)


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


def is_one_of(sets: np.ndarray, others: np.ndarray, *, with_rest: bool) -> np.ndarray:
    """Return which sets of rows are among others, or all rows without one of them."""
    known = {mask.tobytes() for mask in np.asarray(others, dtype=bool)}
    if with_rest:
        known |= {(~mask).tobytes() for mask in np.asarray(others, dtype=bool)}
    return np.array([np.asarray(mask, dtype=bool).tobytes() in known for mask in sets], dtype=bool)


def best_values(
    sets: Sets, output: int, gains: np.ndarray, signs: np.ndarray, barred: Collection[bytes] = ()
) -> np.ndarray:
    """Compute what sets are worth after costs; those of the wrong sign gain nothing."""
    is_positive, is_negative = sets.signs[:, output].T
    is_fitting = np.where(signs > 0, is_positive, is_negative) | (signs == 0)
    is_barred = np.array([mask.tobytes() in barred for mask in sets.covered], dtype=bool)
    return np.where(is_fitting & ~is_barred, gains, 0.0) - sets.costs


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
            return last if (signs * last >= 0.0).all() else point
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
