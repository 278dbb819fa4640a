"""The attack on rounds: the best term of a small table, against all rules and all slopes.

Tables have ties, integers, constants, dates, categories, missing cells and rows without weight;
rounds have any loss, some terms already, constraints, costs, excluded terms and prices of length
and chance. Conditions and knots are those of the package; everything else is worked out once more.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property
from random import Random
from typing import Any

import numpy as np

from fuzz.crossings import terms
from fuzz.crossings.brute import CLOSE, OwnLoss, Truth
from fuzz.crossings.judges import (
    Place,
    Terms,
    atoms_of_query,
    line_of,
    place_after,
    relaxed_place,
)
from fuzz.crossings.tables import COLOURS, Cells, Rows, pandas_frame
from fuzz.crossings.terms import Atom, Key, Limits, Line, Prices, Sets
from fuzz.searches import check
from laconic import Query, Rule, RuleEnsemble, Slope
from laconic.boosting.chance import is_by_chance
from laconic.boosting.chance import relaxed as relax
from laconic.boosting.rounds import Barred, Found, Rounds, State
from laconic.boosting.settings import form_of, make_term
from laconic.candidates.candidates import CandidateConditions, candidate_conditions
from laconic.candidates.constraints import Constraints
from laconic.candidates.slopes import SlopeCandidates, candidate_slopes
from laconic.losses import (
    GammaLoss,
    HuberLoss,
    LogisticLoss,
    Loss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
    TweedieLoss,
)
from laconic.search import SearchResult, SearchStatus
from laconic.terms.rules import Output

LOSSES: dict[str, Loss] = {
    "squared": SquaredLoss(),
    "huber": HuberLoss(),
    "poisson": PoissonLoss(),
    "gamma": GammaLoss(),
    "tweedie": TweedieLoss(),
    "logistic": LogisticLoss(),
    "three classes": MultinomialLoss(),
    "own loss": OwnLoss(),
}
CLASSES = np.array(["a", "b", "c"])
# Brute force looks at no more rules than this.
MAX_RULES = 400


def _search_relaxed(rounds: Rounds, state: State) -> Found:
    free, others = relax(rounds, state)
    return replace(free.search(others), state=state)


def rounds_of_terms(number: int, counts: Counter[str]) -> None:
    """Find the best term of a small table, and compare it with all others."""
    # Of losses that grow without bounds, steps may be too far.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        drawn = Drawn(number)
        state = drawn.state()
        drawn.check(place_after(drawn, state.ensemble), drawn.rounds.search(state), counts)
        relaxed = relaxed_place(drawn, state.ensemble)
        drawn.check(relaxed, _search_relaxed(drawn.rounds, state), counts)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A small table with a loss, prices and constraints; a problem as judges know them."""

    number: int
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "random", Random(self.number))
        # In this order, whatever is asked for first.
        for name in ("cells", "all_weights", "loss", "target", "options", "limits", "barred_forms"):
            getattr(self, name)

    # The table

    @cached_property
    def cells(self) -> Cells:
        """A few columns of all kinds."""
        n_rows = self.random.choice((3, 5, 8, 12, 20, 40, 40))
        n_columns = self.random.randint(1, 4)
        return {f"x{n}": _column(self.random, n_rows) for n in range(n_columns)}

    @property
    def n_rows(self) -> int:
        """The number of rows, with those that do not count."""
        return len(self.cells["x0"])

    @cached_property
    def all_weights(self) -> np.ndarray:
        """What each row counts."""
        if self.random.random() < 0.5:
            return np.ones(self.n_rows)
        levels = self.random.choice(((0.0, 1.0, 2.0, 3.0), (0.3, 1.7), (0.0, 1e-3, 1.0, 50.0)))
        weights = np.array([self.random.choice(levels) for _ in range(self.n_rows)])
        weights[self.random.sample(range(self.n_rows), 3)] = 1.0
        return weights

    @property
    def counted(self) -> np.ndarray:
        """Which rows count."""
        return self.all_weights > 0

    @property
    def rows(self) -> Rows:
        """The table, as judges know it."""
        return Rows(self.cells, np.zeros(self.n_rows), None, None)

    @cached_property
    def loss(self) -> str:
        """The name of a loss."""
        return self.random.choice(list(LOSSES))

    @cached_property
    def target(self) -> np.ndarray:
        """Targets of all rows: numbers, or positions of classes."""
        scores = np.array([self.random.gauss(0, 1) for _ in range(self.n_rows)])
        numbers = [_plain(cell) for cell in self.cells["x0"]]
        scores = (scores + self.random.choice((0.0, 1.0, 3.0)) * np.array(numbers)).round(2)
        if self.loss in ("poisson", "tweedie"):
            y = np.exp(np.clip(scores, -3, 3)).round()
            y[np.flatnonzero(self.counted)[0]] = 2.0
            return y
        if self.loss == "gamma":
            return np.exp(np.clip(scores, -3, 3)).round(2) + 0.01
        if self.loss in ("logistic", "three classes"):
            n_classes = 2 if self.loss == "logistic" else 3
            y = np.clip(np.floor(scores + n_classes / 2), 0, n_classes - 1)
            # Without rows of a class, there is no best constant.
            rows = np.flatnonzero(self.counted)
            y[rows[:n_classes]] = np.arange(n_classes)
            return y
        return scores * (0.3 if self.loss == "own loss" else 1.0)

    @property
    def fit_intercept(self) -> bool:
        """Whether there is an intercept, which is refitted."""
        return bool(self.options["fit_intercept"])

    @cached_property
    def truth(self) -> Truth:
        """Target and loss of the rows that count."""
        y, weights = self.target[self.counted], self.all_weights[self.counted]
        given: np.ndarray = y
        classes = None
        if self.loss == "three classes":
            given, classes = CLASSES[y.astype(int)], CLASSES
        truth = Truth(self.loss, given, weights, fit_intercept=self.fit_intercept, classes=classes)
        truth.penalty *= self.options["penalty"]
        return truth

    # What is asked for

    @cached_property
    def options(self) -> dict[str, Any]:
        """What the rounds do."""
        random = self.random
        n_rows = float(self.all_weights.sum())
        return {
            "is_joint": random.random() < 0.7,
            "fit_intercept": random.random() < 0.7,
            "brevity": random.choice((0.0, 0.3, 0.5, 1.0, 1.0, 1.5, 2.0)),
            "beats_chance": random.random() < 0.4,
            "slopes": random.random() < 0.9,
            "penalty": random.choice((0.01, 0.1, 1.0, 1.0, 10.0)),
            "max_thresholds": random.choice((1, 2, 3, 7)),
            "max_conditions": random.choice((1, 2, 3, 4, None)),
            "min_coverage": random.choice((0.0, 0.0, 0.0, random.random() * n_rows)),
            "approximation_factor": random.choice((1.0, 1.0, 1.0, 0.6)),
            "node_limit": random.choice((None, None, None, None, 1, 3)),
            "n_terms": random.randint(0, 6),
        }

    @property
    def is_joint(self) -> bool:
        """Whether weights are refitted."""
        return bool(self.options["is_joint"])

    @cached_property
    def limits(self) -> Limits:
        """What terms may be made of."""
        random, names = self.random, list(self.cells)
        groups = [frozenset(names)]
        if random.random() < 0.2:
            groups = [frozenset(random.sample(names, random.randint(1, len(names)))) for _ in "ab"]
        directions = {name: random.choice((1, -1)) for name in names if self._has_order(name)}
        directions = dict(random.sample(sorted(directions.items()), min(1, len(directions))))
        costs = {name: random.choice((0.001, 0.01, 0.1)) for name in random.sample(names, 1)}
        return Limits(
            tuple(groups),
            directions if random.random() < 0.2 else {},
            random.choice((0, 0, 0, 0, 1, -1)),
            costs if random.random() < 0.2 else {},
            3 if self.loss == "three classes" else 1,
        )

    def _has_order(self, name: str) -> bool:
        return not any(isinstance(cell, str) for cell in self.cells[name])

    @cached_property
    def constraints(self) -> Constraints | None:
        """The same, as the package knows it."""
        limits, names = self.limits, frozenset(self.cells)
        is_free = limits.groups == (names,) and limits.sign == 0
        if is_free and not limits.directions and not limits.costs:
            return None
        outputs = dict.fromkeys(limits.directions, 2) if limits.n_outputs > 1 else {}
        of = limits.groups, limits.directions, limits.sign, limits.costs
        settings = {"weight_signs": "positive" if limits.sign > 0 else "negative"}
        return Constraints(*of, settings, names, outputs)

    @cached_property
    def _table(self) -> Any:
        return pandas_frame(self.cells)

    @cached_property
    def candidates(self) -> CandidateConditions:
        """The conditions; so few thresholds that all rules can be looked at."""
        weights = self.all_weights
        n_thresholds = self.options["max_thresholds"]
        while True:
            found = candidate_conditions(
                self._table, max_thresholds=n_thresholds, sample_weight=weights
            )
            if n_thresholds == 1 or _n_rules(len(found), 3) <= MAX_RULES:
                return found
            n_thresholds -= 1

    @cached_property
    def max_conditions(self) -> int:
        """The longest rule: of any length, if not all of these can be looked at."""
        n, longest = len(self.candidates), self.options["max_conditions"]
        longest = n if longest is None else min(longest, n)
        while _n_rules(n, longest) > MAX_RULES:
            longest -= 1
        return longest

    @cached_property
    def slopes(self) -> SlopeCandidates | None:
        """The slopes, as the package knows them."""
        if not self.options["slopes"]:
            return None
        n_thresholds = self.options["max_thresholds"]
        weights = self.all_weights
        return candidate_slopes(self._table, max_thresholds=n_thresholds, sample_weight=weights)

    @cached_property
    def lines(self) -> list[Line]:
        """All slopes."""
        if self.slopes is None:
            return []
        found = []
        for position, feature in enumerate(self.slopes.features):
            for place, (i, j) in enumerate(self.slopes.pairs):
                if j < len(feature.knots):
                    line = line_of(self.slopes.slope(position, place))
                    n_bends = (i > 0) + (j < len(feature.knots) - 1)
                    n = max(n_bends, 1)
                    found.append(Line(line.column, line.lower, line.upper, line.missing, n))
        return [each for each in found if self._varies(each)]

    def _varies(self, line: Line) -> bool:
        if not line.is_of(self.cells, self.counted):
            return False
        values = line.values(self.cells)[self.counted]
        return bool(np.ptp(values) > 1e-6 * (line.key[2] - line.key[1]))

    @cached_property
    def atoms(self) -> list[Atom]:
        """The conditions, with rows that are looked up here."""
        everything = np.ones(self.n_rows, dtype=bool)
        query = Query(self.candidates.conditions)
        return list(atoms_of_query(query, self.cells, everything))

    @cached_property
    def sets(self) -> Sets:
        """All terms."""
        of = self.atoms, self.limits, self.max_conditions, self.all_weights
        sets = terms.all_sets(*of, self.lines, self.cells)
        least = self.options["min_coverage"] * (1 - 1e-12)
        has_rows = sets.values @ self.truth.weights >= least
        is_empty = np.array([len(atoms) == 0 for atoms in sets.atoms])
        return sets.part(has_rows | sets.is_slope | is_empty)

    def prices(self, raw: np.ndarray) -> Prices:
        """Tell what length and chance cost, where these are the raw predictions."""
        noise = self.truth.noise(raw) if self.options["beats_chance"] else 0.0
        return Prices(self.options["brevity"], noise, len(self.atoms), len(self.lines))

    # Terms by chance

    def _form(self) -> Query | Slope | None:
        """Draw a rule or a slope."""
        random = self.random
        if random.random() < 0.5 and self.slopes is not None and self.lines:
            line = random.choice(self.lines)
            ends = line.lower, line.upper
            n = line.n_conditions
            return Slope(line.column, *ends, 0.0, missing=line.missing, n_conditions=n)
        conditions = self.candidates.conditions
        if not conditions:
            return None
        return Query(tuple(random.sample(conditions, min(len(conditions), random.randint(1, 2)))))

    @cached_property
    def barred_forms(self) -> list[Query | Slope]:
        """Terms that are excluded."""
        forms = [self._form()] if self.random.random() < 0.2 else []
        return [form for form in forms if form is not None]

    @property
    def barred(self) -> set[Key]:
        """What distinguishes them from others."""
        forms = [make_term(form, 0.0, 0) for form in self.barred_forms]
        keys = {*Terms(self, RuleEnsemble(tuple(forms))).keys}
        if self.is_joint and self.fit_intercept:
            masks = [np.frombuffer(key, dtype=bool) for key in keys if isinstance(key, bytes)]
            keys |= {(~mask).tobytes() for mask in masks}
        return keys

    @cached_property
    def rounds(self) -> Rounds:
        """The rounds of the package."""
        weights = self.all_weights[self.counted]
        y, loss = self.target[self.counted], LOSSES[self.loss]
        if self.loss == "logistic":
            y = 2 * y - 1
        if isinstance(loss, HuberLoss):
            loss = loss.for_target(y, weights)
        table, names = self._table, ("max_conditions", "min_coverage", "approximation_factor")
        limits = {name: self.options[name] for name in names}
        if limits["max_conditions"] is not None or self.max_conditions < len(self.candidates):
            limits["max_conditions"] = max(self.max_conditions, 1)
        return Rounds(
            self.candidates,
            y,
            loss,
            l2_regularization=self.truth.penalty,
            sample_weight=None if (weights == 1.0).all() else weights,
            slopes=self.slopes,
            is_joint=self.is_joint,
            fit_intercept=self.fit_intercept,
            constraints=self.constraints,
            barred=[
                Barred(form if isinstance(form, Slope) else form.covered(table)[self.counted])
                for form in self.barred_forms
            ],
            brevity=self.options["brevity"],
            beats_chance=self.options["beats_chance"],
            search_options=limits | {"node_limit": self.options["node_limit"]},
        )

    def state(self) -> State:
        """Draw the terms that a model has already, with their weights."""
        random, n_outputs = self.random, self.limits.n_outputs
        constants = self.truth.constants.tolist()
        start = RuleEnsemble((), constants[0])
        if n_outputs > 1:
            start = RuleEnsemble(outputs=tuple(map(Output, CLASSES.tolist(), constants)))
        chosen: list[Rule | Slope] = []
        for _ in range(self.options["n_terms"]):
            form, output = self._form(), random.randrange(n_outputs)
            if form is None:
                continue
            term = make_term(form, 0.0, output)
            allowed = Terms(self, start.with_terms((term,))).allowed(0)
            if allowed:
                weight = random.choice(sorted(allowed)) * abs(random.gauss(0, 0.3))
                if isinstance(form, Slope):
                    weight /= Slope(form.feature, *form.ends, 1.0).effect
                chosen.append(make_term(form, weight, output))
        columns = tuple(self._values(term) for term in chosen)
        results = (SearchResult((), 0.0, np.inf, SearchStatus.HEURISTIC),) * len(chosen)
        return self.rounds.begin(State(start.with_terms(chosen), columns, results, (start,)))

    def _values(self, term: Rule | Slope) -> np.ndarray:
        form = form_of(term)
        values = form.values(self._table) if isinstance(form, Slope) else form.covered(self._table)
        return np.ascontiguousarray(values[self.counted])

    # The judge

    def check(self, place: Place, found: Found, counts: Counter[str]) -> None:
        """Compare the term that was found at a place with all others."""
        values = place.values()
        best = max(float(values.max(initial=0.0)), 0.0)
        result = found.result
        details = self.number, result, found.form, found.output, best, self._best(values)
        counts["terms found among all"] += 1
        counts["slopes found"] += isinstance(found.form, Slope)
        scale = self._scale(place)
        if result.objective_value <= 0.0:
            if self.options["node_limit"] is None:
                check(best <= CLOSE * scale, "a term is missing", *details)
            return
        own, by_chance = self._own(place, found)
        # Prices take almost all of some gains, which are rounded.
        slack = CLOSE * (best + by_chance) + 1e-8 * scale
        check(abs(result.objective_value - own) <= slack, "false value", own, *details)
        check(result.bound >= best - slack, "false bound", *details)
        share = 1.0
        if self.options["node_limit"] is not None and not result.is_optimal:
            share = 0.0
        elif not result.is_optimal:
            share = self.options["approximation_factor"]
            check(share < 1.0, "no proof", *details)
        check(own >= share * best - slack, "not the best", own, *details)
        self._check_chance(found, details)
        lines = values[:, self.sets.is_slope].max(initial=0.0)
        check(own >= lines - slack, "a slope is better", own, *details)

    def _check_chance(self, found: Found, details: tuple[Any, ...]) -> None:
        """Compare what is said about chance with what chance may do."""
        # Where everything is fitted, there are rounding errors only.
        if self.options["beats_chance"] and found.result.objective_value > 1e-20:
            ensemble = found.state.ensemble
            term = make_term(found.form, 0.0, found.output)
            own = Terms(self, ensemble.with_terms((*ensemble, term)))
            excess = relaxed_place(self, ensemble).excess(own, len(ensemble))
            is_by_chance_here = excess <= 1
            is_edge = abs(excess - 1) < 1e-5
            is_same = is_by_chance(self.rounds, found) == is_by_chance_here
            check(is_same or is_edge, "not what chance does", excess, *details)

    def _own(self, place: Place, found: Found) -> tuple[float, float]:
        """Compute what the term that was found is worth, and what is taken off for chance."""
        ensemble = found.state.ensemble
        term = make_term(found.form, 0.0, found.output)
        own = Terms(self, ensemble.with_terms((*ensemble, term)))
        return place.value(own, len(ensemble)), place.of_chance(own, len(ensemble))

    def _scale(self, place: Place) -> float:
        """Compute the largest gain of any term by itself: what others are small beside."""
        truth, values = self.truth, self.sets.values
        gains = [
            truth.gains(values, raw, output, None)[0]
            for raw in (place.raw, truth.start)
            for output in range(truth.n_outputs)
        ]
        return max(float(np.max(gains, initial=0.0)), 1e-12)

    def _best(self, values: np.ndarray) -> str:
        """Name the best term."""
        if values.size == 0:
            return "nothing"
        output, number = np.unravel_index(int(values.argmax()), values.shape)
        parts = self.sets.atoms[int(number)]
        return f"{[getattr(part, 'text', part) for part in parts]} for output {output}"

    def __getitem__(self, factor: str) -> str:
        """Answer what judges ask a row of the crossings: there are no given terms here."""
        return "found"


def _column(random: Random, n_rows: int) -> list[Any]:
    kind = random.choice(("number", "number", "tied", "integer", "constant", "date", "moment"))
    kind = random.choice((kind, kind, kind, kind, "text", "bool", "skewed"))
    draws: dict[str, Any] = {
        "number": lambda: random.gauss(0, 1),
        "tied": lambda: random.choice((-1.5, 0.0, 0.5, 2.0, 10.0)),
        "integer": lambda: random.randint(0, 6),
        "constant": lambda: 3.0,
        "date": lambda: datetime(2024, 1, 1) + timedelta(days=random.randint(0, 400)),
        "moment": lambda: datetime(2024, 1, 1) + timedelta(minutes=random.randint(0, 5000)),
        "text": lambda: random.choice(COLOURS[:3]),
        "bool": lambda: random.random() < 0.4,
        "skewed": lambda: round(1e3 * 10 ** random.gauss(0, 1), 1),
    }
    cells = [draws[kind]() for _ in range(n_rows)]
    # Numbers beside missing cells are floats.
    if random.random() < 0.25 and kind not in ("integer", "bool"):
        cells = [None if random.random() < 0.2 else cell for cell in cells]
        cells[random.randrange(n_rows)] = draws[kind]()
    return cells


def _plain(cell: Any) -> float:
    """Return something like a number that tells about a target."""
    if cell is None or isinstance(cell, str):
        return float(cell is None)
    if isinstance(cell, datetime):
        return (cell - datetime(2024, 1, 1)) / timedelta(days=200)
    return float(np.clip(cell, -3, 6)) / 2


def _n_rules(n_candidates: int, longest: int) -> int:
    from math import comb

    return sum(comb(n_candidates, k) for k in range(longest + 1))
