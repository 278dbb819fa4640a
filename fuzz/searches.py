"""Attacks on the searches: against brute force on small problems, against each other on others."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from fuzz.exact import Brute
from fuzz.problems import Case, random_case
from laconic import _core
from laconic.candidates.candidates import candidate_conditions
from laconic.search import SearchProblem, SearchResult, SearchStatus, search

# Doubles round a value three times, and bounds are off by a few roundings.
ROUNDING = Fraction(1, 10**14)
# Seconds that a search may go on after its limit: the machine may do something else.
PATIENCE = 5.0
SMALLEST_DOUBLE = 5e-324

INSTRUCTION_SETS = (None, *_core.instruction_sets())


class BrokenPromiseError(AssertionError):
    """Something is not as promised."""


def check(is_true: bool, what: str, *details: Any) -> None:
    """Fail with what was promised."""
    if not is_true:
        raise BrokenPromiseError(" ".join([what, *map(repr, details)]))


def random_problems(number: int, counts: Counter[str]) -> None:
    """All ways of branching on one small problem, with and without limits on the work."""
    random = Random(number)
    case = random_case(random)
    try:
        truth = Truth(case)
    except ValueError as error:
        check(is_refused_rightly(case), "refused without need", str(error), case)
        counts["refused, as objectives are infinite"] += 1
        return
    for options in variants(random):
        result = search(truth.problem, **case.limits, **options)
        counts["exact searches"] += 1
        truth.check_optimum(options, result)
    for options in stopped_variants(random):
        started = time.perf_counter()
        result = search(truth.problem, **case.limits, **options)
        counts["stopped searches"] += 1
        truth.check_stopped(options, result)
        allowed = options.get("time_limit", PATIENCE) + PATIENCE
        check(time.perf_counter() - started < allowed, "past its time", case, options)


def is_refused_rightly(case: Case) -> bool:
    """Check whether a problem has objectives or weights beyond the range of doubles."""
    weights = np.ones(len(case.gradients)) if case.weights is None else case.weights
    with np.errstate(over="ignore", under="ignore"):
        gradients, hessians = weights * case.gradients, weights * case.hessians
    total = sum((Fraction(abs(value)) for value in gradients.tolist()), Fraction(0))
    penalty = Fraction(case.l2_regularization)
    whole = sum((Fraction(value) for value in hessians.tolist()), penalty)
    is_flat = bool(((hessians == 0) & (gradients != 0)).any())
    if is_flat and (penalty == 0 or penalty / whole < Fraction(1, 2**970)):
        return True
    smallest = Fraction(0)
    if not is_flat:
        smallest = min((Fraction(value) for value in hessians.tolist() if value > 0), default=whole)
    largest = total**2 / (penalty + smallest)
    # As an objective, or by itself on the scale that the problem has.
    objective = largest / (2 * Fraction(float(weights.sum())))
    return bool(max(objective, largest, largest / total**2) > Fraction(10) ** 290)


def variants(random: Random) -> list[dict[str, Any]]:
    """Every way of branching, each in one of its variants."""
    shared = {"n_jobs": 2 if random.random() < 0.05 else 1}
    if random.random() < 0.1:
        shared["memory_limit"] = 0
    leaves = random.random() < 0.3  # which solve small problems at once
    width = random.choice((None, 0, 1, 3))
    return [
        {"branching": "conditions", "leaves": leaves, **shared},
        {
            "branching": "conditions",
            "beam_width": width,
            "instruction_set": random.choice(INSTRUCTION_SETS),
        },
        {
            "branching": "tables",
            "beam_width": width,
            "instruction_set": random.choice(INSTRUCTION_SETS),
            **shared,
        },
        {"branching": "ranges", "beam_width": random.choice((None, 0)), **shared},
        {"branching": "paper", "beam_width": width, **shared},
    ]


def stopped_variants(random: Random) -> list[dict[str, Any]]:
    """One way of branching, with limits on the work."""
    branching = random.choice(("auto", "conditions", "tables", "ranges", "paper"))
    options: dict[str, Any] = {"branching": branching}
    if random.random() < 0.5 and branching != "auto":
        options["beam_width"] = 0
    if random.random() < 0.8:
        options["node_limit"] = random.choice((1, 1, 2, 3, 10))
    else:
        options["time_limit"] = 10.0 ** random.uniform(-9, -4)
    if random.random() < 0.2:
        options["approximation_factor"] = random.uniform(0.3, 1.0)
    return [options]


class Truth:
    """The exact optimum of a case, and checks of results against it."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.problem = SearchProblem(
            case.extents, case.gradients, case.hessians, case.l2_regularization, case.weights
        )
        self.brute = Brute(self.problem, case.extents)
        # Less what rounding may take off weights that are added up.
        self.required = case.limits.get("min_coverage", 0.0) * (1 - 1e-12)
        self.best = self.brute.optimum(case.limits["max_conditions"], self.required)
        self.best_objective = self.objective(self.best.value)
        self.true_objectives: set[tuple[tuple[int, ...], float]] = set()

    def objective(self, value: Fraction) -> Fraction:
        """Convert a value to an objective: divided by 2n, on the original scale."""
        scale = Fraction(2) ** self.problem._exponent
        return value / Fraction(self.problem.normalizer) * scale

    def check_optimum(self, options: dict[str, Any], result: SearchResult) -> None:
        """Require the best query, with its proof."""
        details = result, self.best, self.case, options
        check(result.query == self.best.query, "wrong query", *details)
        check(result.status is SearchStatus.OPTIMAL, "no proof", *details)
        check(result.bound == result.objective_value, "bound apart", *details)
        if self.check_objective(options, result):
            is_best = is_close(result.objective_value, self.best_objective)
            check(is_best, "not the best", *details)

    def check_stopped(self, options: dict[str, Any], result: SearchResult) -> None:
        """Require a true bound, and no more work than allowed."""
        details = result, self.best, self.case, options
        limit = options.get("node_limit")
        check(limit is None or result.counters["nodes"] <= limit, "past its nodes", *details)
        self.check_objective(options, result)
        check(result.objective_value <= _above(self.best_objective), "above the best", *details)
        check(result.bound >= _below(self.best_objective), "false bound", *details)
        share = Fraction(0)
        if result.status is SearchStatus.OPTIMAL:
            share = Fraction(1)
        elif result.status is SearchStatus.APPROXIMATE:
            share = Fraction(options["approximation_factor"])
        is_proven = result.objective_value >= _below(share * self.best_objective)
        check(is_proven, "false proof", *details)

    def check_objective(self, options: dict[str, Any], result: SearchResult) -> bool:
        """Require a query within the limits, and the objective that it has.

        Returns whether this was not known from a result before.
        """
        known = result.query, result.objective_value
        if known in self.true_objectives:
            return False
        rows = (1 << self.problem.n_rows) - 1
        for p in result.query:
            rows &= self.brute.extents[p]
        gradient, hessian, coverage = self.brute.sums(rows)
        exact = self.objective(self.brute.exact(gradient, hessian))
        details = result, self.case, options
        check(is_close(result.objective_value, exact), "false objective", *details)
        check(len(result.query) <= self.case.limits["max_conditions"], "too long", *details)
        least = Fraction(self.required) * self.brute.of_coverage
        check(not result.query or coverage >= least, "too few rows", *details)
        self.true_objectives.add(known)
        return True


def is_close(number: float, exact: Fraction) -> bool:
    """Check whether a double is an exact number up to rounding, underflow included."""
    if exact > Fraction(2) ** 1023:
        return True
    return _below(exact) <= number <= _above(exact)


def _below(exact: Fraction) -> float:
    if exact > Fraction(2) ** 1023:
        return 2.0**1023
    return float(exact * (1 - ROUNDING)) - SMALLEST_DOUBLE


def _above(exact: Fraction) -> float:
    if exact > Fraction(2) ** 1023:
        return float("inf")
    return float(exact * (1 + ROUNDING)) + SMALLEST_DOUBLE


def engines(number: int, counts: Counter[str]) -> None:
    """All ways of branching on a problem that is too large for brute force."""
    random, rng = Random(number), np.random.default_rng(number)
    n_rows = random.randint(30, 400)
    table = np.round(rng.normal(size=(n_rows, random.randint(2, 6))), random.randint(0, 2))
    candidates = candidate_conditions(table, max_thresholds=random.randint(2, 8))
    scale = 10.0 ** random.uniform(-140, 140) if random.random() < 0.5 else 1.0
    y = table[:, 0] * (table[:, 1] > 0) + rng.normal(size=n_rows)
    if random.random() < 0.5:
        gradients, hessians = -2 * y * scale, np.full(n_rows, 2.0)
    else:
        gradients = (0.5 - (y > 0)) * scale
        hessians = np.full(n_rows, 0.25) * scale
    lam = float(random.choice((0.0, 0.1, 1.0, 10.0)) * hessians[0])
    problem = SearchProblem(candidates.extents, gradients, hessians, lam)
    limits = {"max_conditions": random.randint(1, 4), "node_limit": 3000}
    results = {}
    for branching in ("auto", "conditions", "tables", "ranges", "paper"):
        options: dict[str, Any] = {"branching": branching}
        if branching != "ranges" and random.random() < 0.3:
            options["instruction_set"] = random.choice(INSTRUCTION_SETS)
        results[branching] = result = search(problem, **limits, **options)
        counts["searches against each other"] += 1
        check(result.counters["nodes"] <= 3000, "past its nodes", number, branching)
        threads = search(problem, **limits, **options, n_jobs=3)
        check(
            (threads.query, threads.bound, threads.counters)
            == (result.query, result.bound, result.counters),
            "threads change the result",
            number,
            options,
        )
    proven = {name: each for name, each in results.items() if each.is_optimal}
    queries = {each.query for each in proven.values()}
    check(len(queries) <= 1, "engines differ", number, proven)
    best = max(each.objective_value for each in results.values())
    for name, each in results.items():
        check(each.bound >= best * (1 - 1e-12), "false bound", number, name, each)
        if name in proven:
            check(each.objective_value >= best * (1 - 1e-12), "false proof", number, name, each)
