"""What must be true of a model, whatever it was made with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from fuzz.crossings import brute
from fuzz.crossings.brute import CLOSE, Atom
from fuzz.crossings.problem import N_RULES, Problem
from fuzz.crossings.tables import Cells, Placed
from laconic import Query, RuleEnsemble

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
        covered = brute.holds(cells, condition.feature, relation, value)[counted]
        column = condition.feature.rpartition(" of ")[2]
        found.append(Atom(column, covered, str(condition), order))
    return tuple(found)


def covered_by(query: Query, cells: Cells, counted: np.ndarray) -> np.ndarray:
    """Find the rows that count and fulfil all conditions of a rule."""
    masks = [atom.covered for atom in atoms_of_query(query, cells, counted)]
    return np.logical_and.reduce([np.ones(int(counted.sum()), dtype=bool), *masks])


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules of an ensemble on the rows that count."""

    problem: Problem
    ensemble: RuleEnsemble

    @cached_property
    def atoms(self) -> list[tuple[Atom, ...]]:
        """The conditions of each rule."""
        cells, counted = self.problem.rows.cells, self.problem.counted
        return [atoms_of_query(rule.query, cells, counted) for rule in self.ensemble]

    @cached_property
    def covered(self) -> np.ndarray:
        """The rows of each rule."""
        cells, counted = self.problem.rows.cells, self.problem.counted
        masks = [covered_by(rule.query, cells, counted) for rule in self.ensemble]
        return np.array(masks, dtype=bool).reshape(-1, int(counted.sum()))

    @property
    def outputs(self) -> np.ndarray:
        """The raw prediction that each rule adds to."""
        return np.array([rule.output for rule in self.ensemble], dtype=int)

    @property
    def weights(self) -> np.ndarray:
        """Their weights."""
        return np.array([rule.weight for rule in self.ensemble])

    @property
    def intercepts(self) -> np.ndarray:
        """One for each raw prediction."""
        outputs = self.ensemble.outputs
        return np.array([o.intercept for o in outputs] if outputs else [self.ensemble.intercept])

    @cached_property
    def raw(self) -> np.ndarray:
        """Raw predictions."""
        parts = self.weights, self.intercepts
        return self.problem.truth.raw(self.covered, self.outputs, parts)

    def allowed(self, position: int) -> set[int]:
        """List the signs that the weight of a rule may have."""
        return self.problem.limits.signs(self.atoms[position], self.outputs[position])

    @cached_property
    def signs(self) -> list[int]:
        """Signs that weights must have, 0 for either."""
        found = map(self.allowed, range(len(self.atoms)))
        return [next(iter(signs)) if len(signs) == 1 else 0 for signs in found]

    def refitted_risk(self) -> float:
        """Compute the smallest mean penalised loss that weights for these rules can have."""
        truth = self.problem.truth
        weights, intercepts = truth.refit(self.covered, self.outputs, self.signs)
        raw = truth.raw(self.covered, self.outputs, (weights, intercepts))
        return truth.risk(raw, weights) / truth.total


def raw_of(ensemble: RuleEnsemble, cells: Cells) -> np.ndarray:
    """Compute raw predictions for any cells, a column for each output."""
    n_rows = len(cells["x0"])
    starts = [o.intercept for o in ensemble.outputs] or [ensemble.intercept]
    raw = np.tile(np.array(starts, dtype=float), (n_rows, 1))
    everything = np.ones(n_rows, dtype=bool)
    for rule in ensemble:
        raw[covered_by(rule.query, cells, everything), rule.output] += rule.weight
    return raw


# The judge of a model


def judge_model(model: Any, problem: Problem, placed: Placed) -> None:
    """Check rules, weights, predictions and certificates of a model."""
    rules = Rules(problem, model.ensemble_)
    judge_penalty(model, problem)
    judge_rules(model, problem, rules)
    judge_weights(model, problem, rules)
    judge_predictions(model, placed.X, problem.rows.cells, problem)
    judge_certificates(model, problem, rules, placed)


def judge_penalty(model: Any, problem: Problem) -> None:
    """Check the penalty that counts as ten rows, and the constant to start from."""
    truth = problem.truth
    check(
        is_close(model.l2_regularization_, truth.penalty),
        "The penalty is another one",
        model.l2_regularization_,
        truth.penalty,
    )
    start = Rules(problem, model.stages_[0]).intercepts
    is_same = np.allclose(start, truth.constants, rtol=1e-6, atol=1e-8)
    check(is_same, "Another constant", start, truth.constants)


def judge_rules(model: Any, problem: Problem, rules: Rules) -> None:
    """Check that rules are what they may be."""
    limits, truth = problem.limits, problem.truth
    given = [] if problem["rules"] != "initial_terms" else [problem.good_rule(2)]
    for rule, atoms, covered in zip(rules.ensemble, rules.atoms, rules.covered, strict=True):
        signs = limits.signs(atoms, rule.output)
        check(signs, "A rule that constraints forbid", rule)
        check(rule.weight == 0.0 or np.sign(rule.weight) in signs, "A wrong sign", rule)
        check(covered.tobytes() not in problem.barred, "A rule that is excluded", rule)
        is_given = any(is_same_rows(covered, other, problem) for other in given)
        if not is_given:
            check(len(atoms) <= problem.max_conditions, "A rule that is too long", rule)
            weight = covered @ truth.weights
            check(weight >= problem.min_coverage * (1 - 1e-9), "A rule of few rows", rule, weight)


def is_same_rows(covered: np.ndarray, atoms: Iterable[Atom], problem: Problem) -> bool:
    """Return whether conditions of the problem cover the same rows that count."""
    masks = [atom.covered[problem.counted] for atom in atoms]
    return bool((covered == np.logical_and.reduce(masks)).all())


def judge_weights(model: Any, problem: Problem, rules: Rules) -> None:
    """Check that weights are the best ones together, or one by one."""
    truth = problem.truth
    if not problem.is_joint:
        return judge_stagewise_weights(model, problem, rules)
    slopes = truth.slopes(rules.covered, rules.outputs, (rules.weights, rules.intercepts))
    scale = float(truth.weights @ np.abs(truth.gradients(rules.raw)).sum(axis=1)) + 1e-300
    for slope, weight, sign in zip(slopes, rules.weights, rules.signs, strict=False):
        is_held = weight == 0.0 and sign * slope > 0.0
        check(is_held or abs(slope) <= 1e-6 * scale, "Weights are not the best", slope, scale)
    if problem.fit_intercept:
        rest = np.abs(slopes[len(rules.weights) :]).max()
        check(rest <= 1e-6 * scale, "Intercepts are not the best", rest, scale)
    return None


def judge_stagewise_weights(model: Any, problem: Problem, rules: Rules) -> None:
    """Check each weight given the rules before it: that of slope and curvature, or a half, ..."""
    truth = problem.truth
    raw = truth.raw(rules.covered[:0], rules.outputs[:0], ((), rules.intercepts))
    for n, (rule, covered) in enumerate(zip(rules.ensemble, rules.covered, strict=True)):
        pull = truth.weights * truth.gradients(raw)[:, rule.output]
        bend = truth.weights * truth.hessians(raw)[:, rule.output]
        full = -pull[covered].sum() / (truth.penalty + bend[covered].sum())
        if rule.weight == 0.0 and np.sign(full) not in rules.allowed(n):
            continue  # somebody wants it nevertheless
        halvings = math.log2(full / rule.weight) if full * rule.weight > 0 else math.nan
        check(
            halvings > -1e-6 and abs(halvings - round(halvings)) < 1e-6,
            "A stagewise weight is another one",
            rule,
            full,
        )
        before = truth.risk(raw, np.zeros(0))
        raw = raw.copy()
        raw[covered, rule.output] += rule.weight
        after = truth.risk(raw, np.array([rule.weight]))
        check(after <= before + 1e-9 * abs(before), "A stagewise rule makes the loss larger", rule)


def expected_predictions(model: Any, raw: np.ndarray, problem: Problem) -> np.ndarray:
    """Turn raw predictions into probabilities of all classes, or numbers."""
    if problem.truth.n_outputs > 1:
        return brute._shares(raw)
    if problem.truth.classes is not None:
        share = 1 / (1 + np.exp(-raw[:, 0]))
        return np.stack([1 - share, share], axis=1)
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
    """Where a rule is judged: the rules beside it, and the raw predictions there."""

    problem: Problem
    raw: np.ndarray
    covered: np.ndarray
    """The rows of the other rules."""
    outputs: np.ndarray
    """The raw predictions that these add to."""

    def values(self) -> np.ndarray:
        """Compute what each set is worth after costs, in each output: (n_outputs, n_sets)."""
        problem, sets = self.problem, self.problem.sets
        return np.array(
            [
                brute.best_values(sets, output, *self._gains(sets.covered, output), problem.barred)
                for output in range(problem.truth.n_outputs)
            ]
        )

    def value(self, atoms: Sequence[Atom], covered: np.ndarray, output: int) -> float:
        """Compute what one rule is worth after costs."""
        limits = self.problem.limits
        gains, signs = self._gains(covered[np.newaxis], output)
        if covered.tobytes() in self.problem.barred:
            gains = np.zeros(1)
        is_fitting = signs[0] == 0 or int(signs[0]) in limits.signs(atoms, output)
        return float(gains[0]) * is_fitting - limits.cost(atoms)

    def _gains(self, sets: np.ndarray, output: int) -> tuple[np.ndarray, np.ndarray]:
        problem = self.problem
        others = self.covered[self.outputs == output] if problem.is_joint else None
        return problem.truth.gains(sets, self.raw, output, others)


def place_after(problem: Problem, ensemble: RuleEnsemble) -> Place:
    """Find the place after the rules of an ensemble."""
    rules = Rules(problem, ensemble)
    return Place(problem, rules.raw, rules.covered, rules.outputs)


def place_of(problem: Problem, model: Any, position: int) -> Place:
    """Find the place of a rule: given all others with their best weights, or those before it."""
    ensemble = model.ensemble_
    rules, truth = Rules(problem, ensemble), problem.truth
    if not problem.is_joint:
        return place_after(problem, ensemble.with_terms(ensemble[:position].rules))
    rest = [n for n in range(len(ensemble)) if n != position]
    covered, outputs = rules.covered[rest], rules.outputs[rest]
    signs = [rules.signs[n] for n in rest]
    weights, intercepts = truth.refit(covered, outputs, signs)
    # Those that would rather have another sign are not there, unless somebody wants them.
    is_given = [model.search_results_[n].status == "given" for n in rest]
    kept = [n for n, s in enumerate(signs) if s == 0 or abs(weights[n]) > 1e-9 or is_given[n]]
    raw = truth.raw(covered, outputs, (weights, intercepts))
    return Place(problem, raw, covered[kept], outputs[kept])


def judge_certificates(model: Any, problem: Problem, rules: Rules, placed: Placed) -> None:
    """Check what is said about each rule: its gain, and that no other one gains more."""
    results = model.search_results_
    check(len(results) == len(rules.ensemble), "Not a certificate per rule", len(results))
    if problem.is_polished:
        for position, result in enumerate(results):
            if result.status != "given":
                place = place_of(problem, model, position)
                judge_certificate(problem, place, rules, position, result, tolerance=1e-5)
        return
    n_terms = getattr(model, "n_terms_", N_RULES)
    ensembles = [model.stages_[0], *_history(problem, placed, n_terms)]
    check(
        [rule.query for rule in ensembles[-1]] == [rule.query for rule in rules.ensemble]
        if len(ensembles) > 1
        else len(rules.ensemble) == 0,
        "The rules of a callback are others",
        ensembles[-1],
        rules.ensemble,
    )
    for before, after in pairwise(ensembles):
        # Rules that a refit leaves without weight go out.
        query = after[-1].query
        positions = [n for n, rule in enumerate(rules.ensemble) if rule.query == query]
        if len(positions) == 1:
            place = place_after(problem, before)
            judge_certificate(problem, place, rules, positions[0], results[positions[0]])
    judge_end(model, problem, ensembles[-1])


def _history(problem: Problem, placed: Placed, n_terms: int) -> list[RuleEnsemble]:
    """Fit once more, and note the model after every rule."""
    found: list[RuleEnsemble] = []
    if n_terms == 0:
        return found

    def note(progress: Any) -> None:
        if progress.search is None and progress.proof is None:
            found.append(progress.ensemble)

    kind = problem.row | {"operation": "fit"}
    estimator = Problem(kind, problem.seed).estimator(callback=note, n_terms=n_terms)
    estimator.fit(**placed.fit_arguments())
    return found


def judge_certificate(
    problem: Problem,
    place: Place,
    rules: Rules,
    position: int,
    result: Any,
    tolerance: float = CLOSE,
) -> None:
    """Check one certificate."""
    value = place.value(rules.atoms[position], rules.covered[position], rules.outputs[position])
    best = max(float(place.values().max(initial=0.0)), 0.0)
    text = f"rule {position + 1}, {rules.ensemble[position]}"
    least = 1e-9 * best
    if result.status == "given" and value <= 0.0:
        return  # it may say of a rule without gain what it likes below the bound
    check(
        is_close(result.objective_value, value, tolerance, least),
        "The gain of a rule is not what its certificate says",
        *(text, f"says {result.objective_value}", f"is {value}"),
    )
    check(
        result.bound >= best * (1 - tolerance),
        "A rule gains more than the bound",
        *(text, f"bound {result.bound}", f"best {best}"),
    )
    if result.is_optimal:
        check(value >= best * (1 - tolerance), "Not the best rule", text, value, best)
        check(problem["search"] == "optimal", "A heuristic claims a proof", text)
    if problem["search"] == "optimal" and not problem.is_polished and result.status != "given":
        share = {"approximation_factor": 0.7, "node_limit": 0.0}
        least = share.get(problem["limits"], 1.0) * best * (1 - tolerance)
        check(value >= least, "A rule is worse than promised", text, value, best, result.status)


def judge_end(model: Any, problem: Problem, ensemble: RuleEnsemble) -> None:
    """Check that fewer rules than were asked for are all there are."""
    n_wanted = getattr(model, "n_terms_", N_RULES)
    if len(ensemble) >= n_wanted or problem["search"] != "optimal" or problem["signs"] != "free":
        return
    if problem["limits"] == "node_limit":
        return
    left = float(place_after(problem, ensemble).values().max(initial=0.0))
    first = float(place_after(problem, model.stages_[0]).values().max(initial=0.0))
    check(left <= 1e-9 * max(first, 1e-9), "A rule is missing", len(ensemble), left, first)


# The judge of two models


def check_same_model(
    one: Any, other: Any, words: str, tolerance: float = 1e-12, certificates: bool = True
) -> None:
    """Check that two models have the same rules, weights and certificates."""
    ensembles = one.ensemble_, other.ensemble_
    texts = [[(rule.query, rule.output) for rule in ensemble] for ensemble in ensembles]
    check(texts[0] == texts[1], f"{words}: other rules", *ensembles)
    numbers = [_numbers(ensemble) for ensemble in ensembles]
    scale = float(np.abs(numbers[0]).max(initial=1e-300))
    difference = float(np.abs(numbers[0] - numbers[1]).max(initial=0.0))
    check(difference <= tolerance * scale, f"{words}: other weights", difference, *ensembles)
    if not certificates:
        return
    for first, second in zip(one.search_results_, other.search_results_, strict=True):
        check(first.status == second.status, f"{words}: other statuses", first, second)
        # Rows that are told apart by nothing but the target make bounds wider.
        for name in ("objective_value", *(("bound",) if first.is_optimal else ())):
            values = getattr(first, name), getattr(second, name)
            is_same = values[0] == values[1] or is_close(*values, 1e-8)
            check(is_same, f"{words}: another {name}", *values)


def _numbers(ensemble: RuleEnsemble) -> np.ndarray:
    starts = [o.intercept for o in ensemble.outputs] or [ensemble.intercept]
    return np.array([*starts, *(rule.weight for rule in ensemble)])
