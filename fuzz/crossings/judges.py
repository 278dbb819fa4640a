"""What must be true of a model, whatever it was made with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from fuzz.crossings import brute, terms
from fuzz.crossings.brute import CLOSE
from fuzz.crossings.problem import Problem
from fuzz.crossings.tables import Cells, Placed
from fuzz.crossings.terms import Atom, Key, Line, Part
from laconic import Query, RuleEnsemble, Slope

# A term that chance alone explains in one of 50 tables gains so much, per noise.
MARGIN = 2.0
LOG_LINK = ("poisson", "gamma", "tweedie")


class WrongError(AssertionError):
    """Something that is not true."""


def check(is_true: Any, words: str, *details: Any) -> None:
    """Complain, with what is needed to see why."""
    if not is_true:
        shown = ", ".join(str(detail) for detail in details)
        raise WrongError(f"{words}: {shown}" if details else words)


def is_close(one: float, other: float, tolerance: float = CLOSE, scale: float = 0.0) -> bool:
    """Compare two numbers, but for rounding."""
    return bool(abs(one - other) <= tolerance * max(abs(one), abs(other), scale))


# Ensembles, read by themselves


def atoms_of_query(query: Query, cells: Cells, counted: np.ndarray) -> tuple[Atom, ...]:
    """Read the conditions of a rule."""
    found = []
    for condition in query:
        relation, value = condition.relation, condition.value
        order = {">": 1, "<=": -1, "is missing": 0, "is present": 0}.get(relation)
        if isinstance(value, bool):
            order = 1 if value == (relation == "==") else -1
        covered = terms.holds(cells, condition.feature, relation, value)[counted]
        column = condition.feature.rpartition(" of ")[2]
        found.append(Atom(column, covered, str(condition), order))
    return tuple(found)


def covered_by(query: Query, cells: Cells, counted: np.ndarray) -> np.ndarray:
    """Find the rows that count and fulfil all conditions of a rule."""
    masks = [atom.covered for atom in atoms_of_query(query, cells, counted)]
    return np.logical_and.reduce([np.ones(int(counted.sum()), dtype=bool), *masks])


def line_of(slope: Slope) -> Line:
    """Read a slope."""
    return Line(slope.feature, slope.lower, slope.upper, slope.missing, slope.n_conditions)


def values_of(term: Any, cells: Cells) -> np.ndarray:
    """Compute what a term adds to rows if its weight is 1: in natural units, if it is a slope."""
    if isinstance(term, Slope):
        return line_of(term).values(cells)
    everything = np.ones(len(cells["x0"]), dtype=bool)
    return covered_by(term.query, cells, everything).astype(float)


def form_of(term: Any) -> Any:
    """Return a term without its weight and output."""
    return term.key if isinstance(term, Slope) else term.query


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of an ensemble on the rows that count, those of slopes on the scale of rules."""

    problem: Problem
    ensemble: RuleEnsemble

    @cached_property
    def atoms(self) -> list[tuple[Part, ...]]:
        """The conditions of each rule, or the slope."""
        cells, counted = self.problem.rows.cells, self.problem.counted
        return [
            (line_of(term),)
            if isinstance(term, Slope)
            else atoms_of_query(term.query, cells, counted)
            for term in self.ensemble
        ]

    @cached_property
    def _natural(self) -> np.ndarray:
        counted = self.problem.counted
        found = [values_of(term, self.problem.rows.cells)[counted] for term in self.ensemble]
        return np.array(found).reshape(-1, int(counted.sum()))

    @cached_property
    def scales(self) -> np.ndarray:
        """What the values of slopes are divided by, and 1 for rules."""
        weights = self.problem.truth.weights
        pairs = zip(self.ensemble, self._natural, strict=True)
        return np.array(
            [terms.scale_of(v, weights) if isinstance(t, Slope) else 1.0 for t, v in pairs]
        )

    @cached_property
    def columns(self) -> np.ndarray:
        """The values of each term."""
        return self._natural / self.scales[:, np.newaxis]

    @cached_property
    def keys(self) -> list[Key]:
        """What distinguishes each term from others."""
        pairs = zip(self.atoms, self.columns, strict=True)
        return [
            atoms[0].key if atoms and isinstance(atoms[0], Line) else (values == 1.0).tobytes()
            for atoms, values in pairs
        ]

    @property
    def outputs(self) -> np.ndarray:
        """The raw prediction that each term adds to."""
        return np.array([term.output for term in self.ensemble], dtype=int)

    @property
    def weights(self) -> np.ndarray:
        """Their weights, on the scale of their values."""
        return np.array([term.weight for term in self.ensemble]) * self.scales

    @property
    def intercepts(self) -> np.ndarray:
        """One for each raw prediction."""
        outputs = self.ensemble.outputs
        return np.array([o.intercept for o in outputs] if outputs else [self.ensemble.intercept])

    @cached_property
    def raw(self) -> np.ndarray:
        """Raw predictions."""
        parts = self.weights, self.intercepts
        return self.problem.truth.raw(self.columns, self.outputs, parts)

    def allowed(self, position: int) -> set[int]:
        """List the signs that the weight of a term may have."""
        return self.problem.limits.signs(self.atoms[position], self.outputs[position])

    @cached_property
    def signs(self) -> list[int]:
        """Signs that weights must have, 0 for either."""
        found = map(self.allowed, range(len(self.atoms)))
        return [next(iter(signs)) if len(signs) == 1 else 0 for signs in found]

    def refitted_risk(self) -> float:
        """Compute the smallest mean penalised loss that weights for these terms can have."""
        truth = self.problem.truth
        weights, intercepts = truth.refit(self.columns, self.outputs, self.signs)
        raw = truth.raw(self.columns, self.outputs, (weights, intercepts))
        return truth.risk(raw, weights) / truth.total


def raw_of(ensemble: RuleEnsemble, cells: Cells) -> np.ndarray:
    """Compute raw predictions for any cells, a column for each output."""
    n_rows = len(cells["x0"])
    starts = [o.intercept for o in ensemble.outputs] or [ensemble.intercept]
    raw = np.tile(np.array(starts, dtype=float), (n_rows, 1))
    for term in ensemble:
        raw[:, term.output] += term.weight * values_of(term, cells)
    return raw


# The judge of a model


def judge_model(model: Any, problem: Problem, placed: Placed) -> None:
    """Check rules, weights, predictions and certificates of a model."""
    rules = Terms(problem, model.ensemble_)
    judge_penalty(model, problem)
    judge_rules(model, problem, rules)
    judge_weights(model, problem, rules)
    judge_predictions(model, placed.X, problem.rows.cells, problem)
    judge_certificates(model, problem, rules, placed)


def judge_penalty(model: Any, problem: Problem) -> None:
    """Check the penalty that counts as ten rows, conditions, and the constant to start from."""
    truth = problem.truth
    check(
        is_close(model.l2_regularization_, truth.penalty),
        "The penalty is another one",
        model.l2_regularization_,
        truth.penalty,
    )
    n_atoms = len(problem.atoms)
    check(model.n_candidates_ == n_atoms, "Other conditions", model.n_candidates_, n_atoms)
    start = Terms(problem, model.stages_[0]).intercepts
    is_same = np.allclose(start, truth.constants, rtol=1e-6, atol=1e-8)
    check(is_same, "Another constant", start, truth.constants)


def judge_rules(model: Any, problem: Problem, rules: Terms) -> None:
    """Check that terms are what they may be."""
    truth = problem.truth
    given = {key_of_given(problem)}
    known = {line.key: line for line in problem.lines}
    for n, term in enumerate(rules.ensemble):
        signs, key = rules.allowed(n), rules.keys[n]
        check(signs, "A term that constraints forbid", term)
        check(term.weight == 0.0 or np.sign(term.weight) in signs, "A wrong sign", term)
        check(key not in problem.barred, "A term that is excluded", term)
        if key in given:
            continue
        if isinstance(term, Slope):
            check(key in known, "A slope of other ends", term)
            check(term.missing == known[key].missing, "Another value of missing cells", term)
            check_missing(term, problem)
            size = known[key].n_conditions
            check(term.n_conditions == size, "Another size", term, size, term.n_conditions)
            continue
        check(len(rules.atoms[n]) <= problem.max_conditions, "A rule that is too long", term)
        weight = rules.columns[n] @ truth.weights
        check(weight >= problem.min_coverage * (1 - 1e-9), "A rule of few rows", term, weight)


def check_missing(slope: Slope, problem: Problem) -> None:
    """Check that missing cells count as the mean of the others, but for rounding."""
    cells = problem.rows.cells[slope.feature]
    rows = [n for n, is_counted in enumerate(problem.counted) if is_counted]
    is_known = np.array([cells[n] is not None for n in rows])
    check((slope.missing is None) == is_known.all(), "Missing cells", slope)
    if slope.missing is not None:
        lower, upper = terms.number_of(slope.lower), terms.number_of(slope.upper)
        values = line_of(slope).values(problem.rows.cells)[problem.counted][is_known]
        mean = lower + np.average(values, weights=problem.truth.weights[is_known])
        is_near = abs(terms.number_of(slope.missing) - mean) <= 0.0101 * (upper - lower)
        # Dates are whole days.
        is_near |= slope.time_kind is not None and abs(terms.number_of(slope.missing) - mean) <= 1
        check(is_near, "Missing cells are not the mean", slope, mean)


def key_of_given(problem: Problem) -> Key | None:
    """Return what distinguishes the term that was given from others."""
    if problem["terms"] == "initial slope":
        return problem.good_slope(2).key
    if problem["terms"] != "initial rule":
        return None
    masks = [atom.covered[problem.counted] for atom in problem.good_rule(2)]
    return np.logical_and.reduce(masks).tobytes()


def judge_weights(model: Any, problem: Problem, rules: Terms) -> None:
    """Check that weights are the best ones together, or one by one."""
    truth = problem.truth
    if not problem.is_joint:
        return judge_stagewise_weights(model, problem, rules)
    slopes = truth.slopes(rules.columns, rules.outputs, (rules.weights, rules.intercepts))
    scale = float(truth.weights @ np.abs(truth.gradients(rules.raw)).sum(axis=1)) + 1e-300
    for slope, weight, sign in zip(slopes, rules.weights, rules.signs, strict=False):
        is_held = weight == 0.0 and sign * slope > 0.0
        check(is_held or abs(slope) <= 1e-6 * scale, "Weights are not the best", slope, scale)
    if problem.fit_intercept:
        rest = np.abs(slopes[len(rules.weights) :]).max()
        check(rest <= 1e-6 * scale, "Intercepts are not the best", rest, scale)
    return None


def judge_stagewise_weights(model: Any, problem: Problem, rules: Terms) -> None:
    """Check each weight given the terms before it: that of slope and curvature, or a half, ..."""
    truth = problem.truth
    raw = truth.raw(rules.columns[:0], rules.outputs[:0], ((), rules.intercepts))
    for n, (term, values, weight) in enumerate(
        zip(rules.ensemble, rules.columns, rules.weights.tolist(), strict=True)
    ):
        pull = truth.weights * truth.gradients(raw)[:, term.output]
        bend = truth.weights * truth.hessians(raw)[:, term.output]
        full = -(pull @ values) / (truth.penalty + bend @ values**2)
        if weight == 0.0 and np.sign(full) not in rules.allowed(n):
            continue  # somebody wants it nevertheless
        halvings = math.log2(full / weight) if full * weight > 0 else math.nan
        check(
            halvings > -1e-6 and abs(halvings - round(halvings)) < 1e-6,
            "A stagewise weight is another one",
            *(term, weight, full),
        )
        before = truth.risk(raw, np.zeros(0))
        raw = raw.copy()
        raw[:, term.output] += weight * values
        after = truth.risk(raw, np.array([weight]))
        check(after <= before + 1e-9 * abs(before), "A stagewise term makes the loss larger", term)


def expected_predictions(model: Any, raw: np.ndarray, problem: Problem) -> np.ndarray:
    """Turn raw predictions into probabilities of all classes, or numbers."""
    if problem.truth.n_outputs > 1:
        return brute._shares(raw)
    if problem.truth.classes is not None:
        share = 1 / (1 + np.exp(-raw[:, 0]))
        shares = np.stack([1 - share, share], axis=1)
        return shares[:, ::-1] if problem["loss"] == "positive='no'" else shares
    return np.exp(raw[:, 0]) if problem["loss"] in LOG_LINK else raw[:, 0]


def judge_predictions(model: Any, X: Any, cells: Cells, problem: Problem) -> None:
    """Check predictions against intercept and weights, added up here."""
    expected = expected_predictions(model, raw_of(model.ensemble_, cells), problem)
    if expected.ndim == 1:
        found = model.predict(X)
        check(np.allclose(found, expected, rtol=1e-10, atol=1e-12), "Predictions differ")
        return
    check(np.allclose(model.predict_proba(X), expected, atol=1e-12), "Probabilities differ")
    classes = problem.truth.classes
    top = np.sort(expected, axis=1)
    is_clear = top[:, -1] - top[:, -2] > 1e-9
    found = model.predict(X)[is_clear]
    check((found == classes[expected.argmax(axis=1)[is_clear]]).all(), "Classes differ")


# Certificates


@dataclass(frozen=True, eq=False)
class Place:
    """Where a term is judged: the terms beside it, and the raw predictions there."""

    problem: Problem
    raw: np.ndarray
    columns: np.ndarray
    """The values of the other terms."""
    outputs: np.ndarray
    """The raw predictions that these add to."""
    keys: Sequence[Key]
    """What distinguishes them from others."""
    share: float = 1.0
    """Of the penalty on their weights."""

    @cached_property
    def prices(self) -> terms.Prices:
        """What length and chance cost."""
        return self.problem.prices(self.raw)

    def values(self) -> np.ndarray:
        """Compute what each term is worth, in each output: (n_outputs, n_sets)."""
        problem, sets = self.problem, self.problem.sets
        return np.array(
            [
                brute.best_values(
                    sets,
                    output,
                    *self._gains(sets.values, output),
                    self.prices,
                    self._barred(output),
                )
                for output in range(problem.truth.n_outputs)
            ]
        )

    def value(self, rules: Terms, position: int) -> float:
        """Compute what a term is worth, of this ensemble."""
        left, size = self._left(rules, position), np.array([self._size(rules, position)])
        is_slope = np.array([isinstance(rules.keys[position], tuple)])
        return float(self.prices.values(np.array([left]), size, is_slope)[0])

    def of_chance(self, rules: Terms, position: int) -> float:
        """Compute what is taken off the value of a term because chance gains as much."""
        size, is_slope = self._size(rules, position), isinstance(rules.keys[position], tuple)
        return self.prices.by_chance(size, is_slope) / (1.0 + size) ** self.prices.brevity

    def _left(self, rules: Terms, position: int) -> float:
        """Compute what a term gains after costs."""
        problem, output = self.problem, int(rules.outputs[position])
        gains, signs = self._gains(rules.columns[[position]], output)
        atoms, key = rules.atoms[position], rules.keys[position]
        if key in self._barred(output):
            gains = np.zeros(1)
        is_fitting = signs[0] == 0 or int(signs[0]) in problem.limits.signs(atoms, output)
        return float(gains[0]) * is_fitting - problem.limits.cost(atoms)

    def excess(self, rules: Terms, position: int) -> float:
        """Compute by which factor a term of an ensemble gains more than chance may give it."""
        is_slope, size = isinstance(rules.keys[position], tuple), self._size(rules, position)
        of = rules.columns[position], int(rules.outputs[position])
        return self._excess(*of, self._left(rules, position), size, is_slope)

    def best_excess(self, values: np.ndarray) -> tuple[float, float]:
        """Compute the same for the term of the best value: of equals, the least and the most."""
        sets = self.problem.sets
        best = float(values.max(initial=0.0))
        if best <= 0.0:
            return 0.0, 0.0
        found = []
        for output, number in np.argwhere(values >= best * (1 - 1e-6)).tolist():
            size, is_slope = int(sets.n_conditions[number]), bool(sets.is_slope[number])
            gain = float(self._gains(sets.values[[number]], output)[0][0])
            left = gain - float(sets.costs[number])
            found.append(self._excess(sets.values[number], output, left, size, is_slope))
        return min(found), max(found)

    def _excess(
        self, values: np.ndarray, output: int, left: float, size: int, is_slope: bool
    ) -> float:
        others = self.columns[self.outputs == output] if self.problem.is_joint else None
        factor = self.problem.truth.chance(values, self.raw, output, others)
        prices, is_first = self.prices, len(self.columns) == 0
        # Outliers count for the first term.
        factor = factor if is_first else 1.0
        return left / ((prices.by_chance(size, is_slope) + MARGIN * prices.noise) * factor)

    def _size(self, rules: Terms, position: int) -> int:
        """Count conditions: before those on one column were written as one."""
        sets, key = self.problem.sets, rules.keys[position]
        own = rules.ensemble[position].n_conditions
        if isinstance(key, tuple) or key == key_of_given(self.problem):
            return own
        sizes = [n for n, each in zip(sets.n_conditions, sets.keys, strict=True) if each == key]
        return max(own, min(sizes, default=own))

    def _barred(self, output: int) -> set[Key]:
        """List the terms that are not looked for: a slope is refitted, not found once more."""
        if not self.problem.is_joint:
            return self.problem.barred
        pairs = zip(self.keys, self.outputs, strict=True)
        known = {key for key, k in pairs if k == output and isinstance(key, tuple)}
        return self.problem.barred | known

    def _gains(self, columns: np.ndarray, output: int) -> tuple[np.ndarray, np.ndarray]:
        problem = self.problem
        others = self.columns[self.outputs == output] if problem.is_joint else None
        return problem.truth.gains(columns, self.raw, output, others, self.share)


def place_after(problem: Problem, ensemble: RuleEnsemble) -> Place:
    """Find the place after the terms of an ensemble."""
    rules = Terms(problem, ensemble)
    return Place(problem, rules.raw, rules.columns, rules.outputs, rules.keys)


def relaxed_place(problem: Problem, ensemble: RuleEnsemble) -> Place:
    """Find the place beside the same terms where weights are hardly penalised."""
    if len(ensemble) == 0:
        return place_after(problem, ensemble)
    rules, truth, share = Terms(problem, ensemble), problem.truth, brute.RELAXED
    if not problem.is_joint:
        return replace(place_after(problem, ensemble), share=share)
    parts = truth.refit(rules.columns, rules.outputs, rules.signs, share)
    raw = truth.raw(rules.columns, rules.outputs, parts)
    return Place(problem, raw, rules.columns, rules.outputs, rules.keys, share)


def place_of(problem: Problem, model: Any, position: int) -> Place:
    """Find the place of a term: given all others with their best weights, or those before it."""
    ensemble = model.ensemble_
    rules, truth = Terms(problem, ensemble), problem.truth
    if not problem.is_joint:
        return place_after(problem, ensemble.with_terms(ensemble[:position].terms))
    rest = [n for n in range(len(ensemble)) if n != position]
    columns, outputs = rules.columns[rest], rules.outputs[rest]
    signs = [rules.signs[n] for n in rest]
    weights, intercepts = truth.refit(columns, outputs, signs)
    # Those that would rather have another sign are not there, unless somebody wants them.
    is_given = [model.search_results_[n].status == "given" for n in rest]
    kept = [n for n, s in enumerate(signs) if s == 0 or abs(weights[n]) > 1e-9 or is_given[n]]
    chosen = [rest[n] for n in kept]
    raw = truth.raw(columns, outputs, (weights, intercepts))
    return Place(problem, raw, columns[kept], outputs[kept], [rules.keys[n] for n in chosen])


def judge_certificates(model: Any, problem: Problem, rules: Terms, placed: Placed) -> None:
    """Check what is said about each term: its value, and that no other one is worth more."""
    results = model.search_results_
    check(len(results) == len(rules.ensemble), "Not a certificate per rule", len(results))
    if problem.is_polished:
        for position, result in enumerate(results):
            if result.status != "given":
                place = place_of(problem, model, position)
                judge_certificate(problem, place, rules, position, result, tolerance=1e-5)
        return
    n_terms = n_wanted(model, problem)
    ensembles = [model.stages_[0], *_history(problem, placed, n_terms)]
    check(
        list(map(form_of, ensembles[-1])) == list(map(form_of, rules.ensemble))
        if len(ensembles) > 1
        else len(rules.ensemble) == 0,
        "The rules of a callback are others",
        ensembles[-1],
        rules.ensemble,
    )
    for before, after in pairwise(ensembles):
        # Terms that a refit leaves without weight go out.
        last = form_of(after[-1])
        positions = [n for n, term in enumerate(rules.ensemble) if form_of(term) == last]
        if len(positions) == 1:
            [position] = positions
            before = before_search(model, before, position)
            place = place_of_round(problem, before, rules, position, results[position])
            judge_certificate(problem, place, rules, position, results[position])
    judge_end(model, problem, ensembles[-1])


def before_search(model: Any, before: RuleEnsemble, position: int) -> RuleEnsemble:
    """Find the terms that the certificate of a term is about: those before it.

    Where other terms have left the model since, these are not the ones that it was found beside,
    and there was another search.
    """
    first = model.ensemble_[:position]
    is_left = list(map(form_of, before)) != list(map(form_of, first))
    return model.stages_[position] if is_left else before


def place_of_round(
    problem: Problem, before: RuleEnsemble, rules: Terms, position: int, result: Any
) -> Place:
    """Find the place at which a round has found its term: with weights as they are, or relaxed."""
    place = place_after(problem, before)
    if not problem.beats_chance or result.status == "given":
        return place
    relaxed = relaxed_place(problem, before)
    is_surprising = relaxed.excess(rules, position) >= 1 - 1e-6
    check(is_surprising, "A term by chance", rules.ensemble[position])
    value, by_chance = place.value(rules, position), place.of_chance(rules, position)
    is_here = is_close(result.objective_value, value, scale=by_chance)
    if is_here or problem["search"] != "optimal":
        return place if is_here else relaxed
    least, _ = relaxed.best_excess(place.values())
    check(least <= 1 + 1e-6, "Relaxed without need", rules.ensemble[position], least)
    return relaxed


def n_wanted(model: Any, problem: Problem) -> int:
    """Return how many terms a model may have."""
    return int(getattr(model, "n_terms_", problem.n_terms))


def _history(problem: Problem, placed: Placed, n_terms: int) -> list[RuleEnsemble]:
    """Fit once more, and note the model after every rule."""
    found: list[RuleEnsemble] = []
    if n_terms == 0:
        return found

    def note(progress: Any) -> None:
        if progress.search is None and progress.proof is None:
            found.append(progress.ensemble)

    kind = problem.row | {"operation": "fit"}
    number = {} if problem.beats_chance else {"n_terms": n_terms}
    estimator = Problem(kind, problem.seed).estimator(callback=note, **number)
    estimator.fit(**placed.fit_arguments())
    return found


def judge_certificate(
    problem: Problem,
    place: Place,
    rules: Terms,
    position: int,
    result: Any,
    tolerance: float = CLOSE,
) -> None:
    """Check one certificate."""
    value = place.value(rules, position)
    best = max(float(place.values().max(initial=0.0)), 0.0)
    text = f"term {position + 1}, {rules.ensemble[position]}"
    # Where chance gains nearly as much, what is left is a difference of larger numbers.
    scale = max(1e-9 * best, place.of_chance(rules, position))
    slack = tolerance * max(best, scale)
    if result.status == "given" and value <= 0.0:
        return  # it may say of a term without gain what it likes below the bound
    check(
        is_close(result.objective_value, value, tolerance, scale),
        "The value of a term is not what its certificate says",
        *(text, f"says {result.objective_value}", f"is {value}"),
    )
    check(
        result.bound >= best - slack,
        "A term is worth more than the bound",
        *(text, f"bound {result.bound}", f"best {best}"),
    )
    if result.is_optimal:
        check(value >= best - slack, "Not the best term", text, value, best)
        check(problem["search"] == "optimal", "A heuristic claims a proof", text)
    if problem["search"] == "optimal" and not problem.is_polished and result.status != "given":
        share = {"approximation_factor": 0.7, "node_limit": 0.0}
        least = share.get(problem["limits"], 1.0) * (best - slack)
        check(value >= least, "A term is worse than promised", text, value, best, result.status)


def judge_end(model: Any, problem: Problem, ensemble: RuleEnsemble) -> None:
    """Check that fewer terms than were asked for are all there are."""
    if (
        len(ensemble) >= n_wanted(model, problem)
        or problem["search"] != "optimal"
        or problem["signs"] != "free"
    ):
        return
    if problem["limits"] == "node_limit":
        return
    place = place_after(problem, ensemble)
    left = float(place.values().max(initial=0.0))
    if problem.beats_chance:
        relaxed = relaxed_place(problem, ensemble)
        for found in (place, relaxed):
            least, _ = relaxed.best_excess(found.values())
            check(least <= 1 + 1e-6, "A term is missing that beats chance", ensemble, least)
        return
    first = float(place_after(problem, model.stages_[0]).values().max(initial=0.0))
    check(left <= 1e-9 * max(first, 1e-9), "A term is missing", len(ensemble), left, first)


# The judge of two models


def check_same_model(
    one: Any, other: Any, words: str, tolerance: float = 1e-12, certificates: bool = True
) -> None:
    """Check that two models have the same terms, weights and certificates."""
    ensembles = one.ensemble_, other.ensemble_
    forms = [[(form_of(term), term.output) for term in ensemble] for ensemble in ensembles]
    check(forms[0] == forms[1], f"{words}: other terms", *ensembles)
    numbers = [_numbers(ensemble) for ensemble in ensembles]
    # Sums may cancel: those of classes that are equally frequent are rounding errors.
    scale = float(np.abs(numbers[0]).max(initial=1.0))
    difference = float(np.abs(numbers[0] - numbers[1]).max(initial=0.0))
    check(difference <= tolerance * scale, f"{words}: other weights", difference, *ensembles)
    if not certificates:
        return
    for first, second in zip(one.search_results_, other.search_results_, strict=True):
        # Rows that are told apart by nothing but the target make bounds wider, which may take the
        # proof that a good enough term is the best one.
        statuses = {str(first.status), str(second.status)}
        is_same = len(statuses) == 1 or statuses == {"optimal", "approximate"}
        check(is_same, f"{words}: other statuses", first, second)
        for name in ("objective_value", *(("bound",) if statuses == {"optimal"} else ())):
            values = getattr(first, name), getattr(second, name)
            # A given term may gain nothing, but for rounding.
            scale = 1e-9 * first.bound if np.isfinite(first.bound) else 0.0
            is_same = values[0] == values[1] or is_close(*values, 1e-8, scale)
            check(is_same, f"{words}: another {name}", *values)


def _numbers(ensemble: RuleEnsemble) -> np.ndarray:
    starts = [o.intercept for o in ensemble.outputs] or [ensemble.intercept]
    return np.array([*starts, *(term.weight for term in ensemble)])
