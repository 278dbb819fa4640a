"""Attacks on searches in which length has a price: against all queries, one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import numpy as np

from fuzz.searches import check
from laconic.search import (
    Family,
    QueryFamilies,
    RefittedTerms,
    SearchProblem,
    SearchStatus,
    search,
)
from laconic.search.reference import value_of_gain

# Gains are rounded to 30 binary digits beside refitted terms.
ROUNDING = 1e-8


def priced_lengths(number: int, counts: Counter[str]) -> None:
    """One problem with prices, by several ways of branching, and stopped early."""
    random, rng = Random(number), np.random.default_rng(number)
    problem = random_problem(random, rng)
    limits: dict[str, Any] = {"max_conditions": random.choice((1, 2, 3, 4, 5, None))}
    if random.random() < 0.3:
        limits["min_coverage"] = random.random() * problem.total_coverage
    prices = {"brevity": random.choice((0.0, 0.5, 1.0, 1.5, 2.0)), "noise": 0.0}
    best_gain = search(problem, max_conditions=2).objective_value
    if prices["brevity"] == 0.0 or random.random() < 0.4:
        prices["noise"] = best_gain * random.choice((0.01, 0.1, 0.5))
    families = None
    if random.random() < 0.3:
        families = random_families(random, problem.n_candidates, best_gain)
    value = best_value(problem, families, prices, **limits)
    for options in variants(random, problem, limits):
        result = search(problem, **limits, **prices, families=families, **options)
        counts["searches with prices"] += 1
        details = result, value, limits, prices, options
        check(result.objective_value <= value * (1 + ROUNDING), "above the best", *details)
        check(result.bound >= value * (1 - ROUNDING), "false bound", *details)
        if "node_limit" not in options:
            check(result.status is SearchStatus.OPTIMAL, "no proof", *details)
        if result.status is SearchStatus.OPTIMAL:
            is_best = result.objective_value >= value * (1 - ROUNDING) - 1e-15 * best_gain
            check(is_best and result.bound == result.objective_value, "false proof", *details)
        gain = max(_gains(problem, families, result.query))
        own = value_of_gain(gain, len(result.query), problem.n_candidates, **prices)
        is_own = abs(result.objective_value - own) <= ROUNDING * (own + gain)
        check(is_own, "not the value of the query", own, *details)


def random_problem(random: Random, rng: np.random.Generator) -> SearchProblem:
    """Make a problem of up to 20 rows and 7 conditions, beside up to six terms or none."""
    n_rows = random.randint(2, 20)
    extents = rng.random((random.randint(0, 7), n_rows)) < random.choice((0.3, 0.6, 0.8))
    penalty = random.choice((0.0, 0.1, 1.0, 10.0))
    hessians = np.full(n_rows, 2.0) if random.random() < 0.5 else rng.random(n_rows) + 0.05
    weights = rng.choice([0.5, 1.0, 3.0], n_rows) if random.random() < 0.3 else None
    y = (
        rng.integers(-2, 3, n_rows).astype(float)
        if random.random() < 0.5
        else rng.normal(size=n_rows)
    )
    if random.random() < 0.3:
        return SearchProblem(extents, -y * hessians, hessians, penalty, weights)
    columns = [(rng.random(n_rows) < 0.5).astype(float) for _ in range(random.randint(0, 4))]
    columns += [
        rng.normal(size=n_rows).round(random.randint(0, 2)) for _ in range(random.randint(0, 2))
    ]
    if not columns or random.random() < 0.5:
        columns.append(np.ones(n_rows))
    values, penalties = np.array(columns), np.full(len(columns), penalty)
    # The quadratic loss with these hessians: its best weights solve a linear system.
    total = hessians if weights is None else hessians * weights
    matrix = (values * total) @ values.T + np.diag(penalties)
    fitted = np.linalg.lstsq(matrix, values @ (total * y), rcond=1e-12)[0]
    gradients = (fitted @ values - y) * hessians
    refitted = RefittedTerms(values, penalties)
    return SearchProblem(extents, gradients, hessians, penalty, weights, refitted)


def random_families(random: Random, n: int, gain: float) -> QueryFamilies:
    """Draw families of some signs, and costs of some groups."""
    families = tuple(
        Family(tuple(p for p in range(n) if random.random() < 0.8), random.choice((-1, 0, 1)))
        for _ in range(random.randint(1, 3))
    )
    groups = [[p for p in range(n) if p % 3 == rest] for rest in range(random.randint(0, 2))]
    costs = {frozenset(group): gain * random.choice((0.1, 0.3)) for group in groups if group}
    return QueryFamilies(families, costs)


def variants(
    random: Random, problem: SearchProblem, limits: dict[str, Any]
) -> list[dict[str, Any]]:
    """Ways of branching that the problem can have, and one of them with few nodes."""
    longest, is_joint = limits["max_conditions"], problem.n_components > 0
    ways: list[dict[str, Any]] = [{}, {"branching": "paper"}]
    if longest is not None and longest <= 5:
        ways.append({"branching": "tables", "beam_width": random.choice((None, 0))})
    if not is_joint:
        ways.append({"branching": "ranges"})
    if not is_joint or problem.l2_regularization > 0.0:
        ways.append({"branching": "conditions", "leaves": random.random() < 0.5})
    stopped = random.choice(ways) | {"node_limit": random.randint(1, 6)}
    return [*random.sample(ways, 2), stopped, {"method": "reference"}]


def best_value(
    problem: SearchProblem,
    families: QueryFamilies | None,
    prices: dict[str, float],
    max_conditions: int | None,
    min_coverage: float = 0.0,
) -> float:
    """Look at every query."""
    n = problem.n_candidates
    best = 0.0
    for length in range((n if max_conditions is None else min(max_conditions, n)) + 1):
        for query in combinations(range(n), length):
            coverage = problem.coverage[problem.covered(query)].sum()
            if query and coverage < min_coverage * (1 - 1e-12):
                continue
            for gain in _gains(problem, families, query):
                best = max(best, value_of_gain(gain, length, n, **prices))
    return best


def _gains(
    problem: SearchProblem, families: QueryFamilies | None, query: tuple[int, ...]
) -> list[float]:
    """Gain of a query in each family that has it, less its costs."""
    if families is None:
        return [problem.objective(query)]
    return [
        problem.restricted(problem.extents, family.sign).objective(query) - families.cost(query)
        for family in families.families
        if set(query) <= set(family.conditions)
    ]
