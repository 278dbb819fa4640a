"""What terms may be made of: conditions as sets of rows of plain cells, and slopes between knots.

Nothing here comes from the package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from fuzz.crossings.tables import COLOURS, GRADES, Cells

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# The standard deviation of a slope on the scale of rules.
_DEVIATION = 0.4


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
            # All but one are those that are not this one.
            for size in range(2, len(levels) - 1):
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


# Slopes


@dataclass(frozen=True, eq=False)
class Line:
    """A slope: the column it is about, its ends, and what missing cells count as."""

    column: str
    lower: Any
    upper: Any
    missing: Any
    n_conditions: int
    order = 1
    """It rises, as a condition that large values fulfil."""

    @property
    def key(self) -> tuple[str, float, float]:
        """What distinguishes it from others."""
        return self.column, number_of(self.lower), number_of(self.upper)

    def values(self, cells: Cells) -> np.ndarray:
        """Compute by how much cells exceed the lower end, up to the upper one, in natural units."""
        lower, upper = number_of(self.lower), number_of(self.upper)
        middle = lower if self.missing is None else number_of(self.missing)
        found = [middle if cell is None else number_of(cell) for cell in cells[self.column]]
        return np.array([min(max(each, lower), upper) - lower for each in found], dtype=float)

    def is_of(self, cells: Cells, counted: np.ndarray) -> bool:
        """Check whether some row that counts is strictly between both ends; it is a rule else."""
        _, lower, upper = self.key
        pairs = zip(cells[self.column], counted, strict=True)
        return any(c and cell is not None and lower < number_of(cell) < upper for cell, c in pairs)


def number_of(cell: Any) -> float:
    """Return a cell as a number: dates are days."""
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if isinstance(cell, datetime):
        return (cell - datetime(2000, 1, 1)) / timedelta(days=1)
    return float(cell)


def scale_of(values: np.ndarray, weights: np.ndarray) -> float:
    """Compute what the values of a slope are divided by, to vary as those of a typical rule."""
    mean = (weights @ values) / weights.sum()
    return math.sqrt(weights @ (values - mean) ** 2 / weights.sum()) / _DEVIATION or 1.0


def all_lines(
    knots: dict[str, Sequence[Any]], missing: Callable[[str, Any, Any], Any]
) -> list[Line]:
    """List the slopes between any two knots of each column."""
    found = []
    for column, ends in knots.items():
        last = len(ends) - 1
        for i, j in combinations(range(len(ends)), 2):
            n_bends = (i > 0) + (j < last)
            ends_missing = missing(column, ends[i], ends[j])
            found.append(Line(column, ends[i], ends[j], ends_missing, max(n_bends, 1)))
    return found


# What terms may be made of

Part = Atom | Line
"""What terms are made of: conditions, or one slope."""
Key = bytes | tuple[str, float, float]
"""What distinguishes a term from others: its rows, or the ends of a slope."""


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

    def signs(self, atoms: Iterable[Part], output: int) -> set[int]:
        """List the signs that the weight of a rule may have."""
        atoms = list(atoms)
        if not any({atom.column for atom in atoms} <= group for group in self.groups):
            return set()
        turn = 1 if output == self.n_outputs - 1 else -1
        asked = {self.directions.get(a.column, 0) * (a.order or 0) * turn for a in atoms} - {0}
        allowed = {1, -1} if self.sign == 0 else {self.sign}
        return allowed.intersection(*({each} for each in asked))

    def cost(self, atoms: Iterable[Part]) -> float:
        """Add up what the columns of a rule cost."""
        return sum(self.costs.get(column, 0.0) for column in {atom.column for atom in atoms})


@dataclass(frozen=True, eq=False)
class Sets:
    """The values of terms, with the signs that they may have, their costs and sizes."""

    values: np.ndarray
    """A row for each term: where a rule holds, or a slope on the scale of rules."""
    signs: np.ndarray
    """Whether weights may be positive, and negative: shape (n_sets, n_outputs, 2)."""
    costs: np.ndarray
    n_conditions: np.ndarray
    atoms: list[tuple[Part, ...]]
    keys: list[Key]

    @property
    def is_slope(self) -> np.ndarray:
        """Which of them are slopes."""
        return np.array([isinstance(key, tuple) for key in self.keys], dtype=bool)

    def part(self, chosen: np.ndarray) -> Sets:
        """Take some of them."""
        places = np.flatnonzero(chosen)
        arrays = self.values, self.signs, self.costs, self.n_conditions
        return Sets(
            *(each[places] for each in arrays),
            [self.atoms[place] for place in places],
            [self.keys[place] for place in places],
        )


def all_sets(
    atoms: Sequence[Atom],
    limits: Limits,
    max_conditions: int,
    weights: np.ndarray,
    lines: Sequence[Line] = (),
    cells: Cells | None = None,
) -> Sets:
    """List all conjunctions and slopes that are allowed; rows that do not count are left out."""
    found: list[tuple[tuple[Part, ...], np.ndarray, int, Key]] = []
    counted = weights > 0
    for size in range(max_conditions + 1):
        for chosen in combinations(atoms, size):
            if any(limits.signs(chosen, output) for output in range(limits.n_outputs)):
                mask = np.ones(int(counted.sum()), dtype=bool)
                for atom in chosen:
                    mask &= atom.covered[counted]
                found.append((chosen, mask.astype(float), size, mask.tobytes()))
    for line in lines:
        values = line.values(cells or {})[counted]
        is_allowed = any(limits.signs([line], output) for output in range(limits.n_outputs))
        if is_allowed and line.is_of(cells or {}, counted):
            values = values / scale_of(values, weights[counted])
            found.append(((line,), values, line.n_conditions, line.key))
    signs = [
        [(1 in each, -1 in each) for k in range(limits.n_outputs) for each in [limits.signs(of, k)]]
        for of, *_ in found
    ]
    return Sets(
        np.array([values for _, values, *_ in found]),
        np.array(signs, dtype=bool).reshape(-1, limits.n_outputs, 2),
        np.array([limits.cost(of) for of, *_ in found]),
        np.array([size for *_, size, _ in found], dtype=int),
        [of for of, *_ in found],
        [key for *_, key in found],
    )


@dataclass(frozen=True)
class Prices:
    """What the length of terms costs, and chance."""

    brevity: float = 0.0
    noise: float = 0.0
    """What the best of N useless terms gains by chance, per logarithm of N."""
    n_atoms: int = 0
    """How many conditions there are to choose from."""
    n_lines: int = 0
    """How many slopes there are."""

    def values(self, gains: np.ndarray, sizes: np.ndarray, is_slope: np.ndarray) -> np.ndarray:
        """Compute what is left of gains, for their size; nothing where chance gains as much."""
        by_chance = list(map(self.by_chance, sizes.tolist(), is_slope.tolist()))
        return np.maximum(gains - np.array(by_chance), 0.0) / (1.0 + sizes) ** self.brevity

    def by_chance(self, size: int, of_slope: bool) -> float:
        """Compute what the best of all useless terms like one gains; one gains something, too."""
        n_terms = self.n_lines if of_slope else self._n_rules(size)
        return self.noise * math.log(max(n_terms, 2))

    def _n_rules(self, n_conditions: int) -> int:
        # Longer rules never cost less.
        return math.comb(self.n_atoms, min(n_conditions, self.n_atoms // 2))
