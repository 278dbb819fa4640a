"""Queries that are allowed, and what they cost: against all of them, one by one."""

import dataclasses
import math
from itertools import combinations

import numpy as np
import pytest
from brute_force import search_brute_force
from problems import n_drawn, random_joint_problem, random_problem

from laconic.search import METHODS, Family, QueryFamilies, SearchProblem, SearchStatus, search
from laconic.search.query_families import part_of

N_PROBLEMS = n_drawn(1_200)
N_CHUNKS = 6

VARIANTS = [
    {},
    {"branching": "paper"},
    {"branching": "ranges"},
    {"branching": "conditions", "beam_width": 0},
    {"leaves": False, "beam_width": 0, "n_jobs": 2},
]
TABLES = {"branching": "tables"}


def chunk(number):
    return range(number * N_PROBLEMS // N_CHUNKS, (number + 1) * N_PROBLEMS // N_CHUNKS)


def best_of_all(problem, allowed, limits):
    """Look at each query of each family, however many there are."""
    n_longest = limits.get("max_conditions", problem.n_candidates)
    least = limits.get("min_coverage", 0) * (1 - 1e-12)
    best = (math.inf,)
    seen, values = set(), {}
    for family in allowed.families:
        signed = problem.restricted(problem.extents, family.sign)
        for size in range(min(n_longest, len(family.conditions)) + 1):
            for query in combinations(family.conditions, size):
                if (query, family.sign) in seen:
                    continue
                seen.add((query, family.sign))
                covered = problem.covered(query)
                rows = covered.tobytes(), family.sign  # many queries cover the same
                if rows not in values:
                    is_short = problem.coverage[covered].sum() < least
                    values[rows] = signed.objective_of(signed.value(covered)), is_short
                objective, is_short = values[rows]
                if is_short and query:
                    continue
                value = objective - allowed.cost(query)
                best = min(best, (-value, len(query), query))
    return best[2], -best[0]


def subsets(rng, n_candidates):
    """Some of the conditions, at random; all of them now and then."""
    share = rng.choice([0.3, 0.6, 1.0])
    return tuple(np.flatnonzero(rng.random(n_candidates) < share).tolist())


def check(case, allowed, seed, *options):
    query, value = best_of_all(case.problem, allowed, case.limits)
    slow = {"method": ("reference", search_brute_force)[seed % 2]}
    for kwargs in (*options, slow):
        result = search(case.problem, families=allowed, **case.limits, **kwargs)
        assert result.objective_value == pytest.approx(value, rel=1e-9, abs=0), (seed, kwargs)
        assert result.status is SearchStatus.OPTIMAL
        assert result.bound == result.objective_value
        if "method" not in kwargs:
            assert result.query == query, (seed, kwargs, allowed)


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_families_agree_with_brute_force_over_all_allowed_queries(number):
    for seed in chunk(number):
        case, rng = random_problem(seed), np.random.default_rng(seed)
        n = case.problem.n_candidates
        families = tuple(Family(subsets(rng, n)) for _ in range(rng.integers(1, 5)))
        check(case, QueryFamilies(families), seed, *VARIANTS)


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_signs_agree_with_brute_force_over_all_allowed_queries(number):
    for seed in chunk(number):
        case, rng = random_problem(seed), np.random.default_rng(seed)
        n = case.problem.n_candidates
        signs = rng.choice([-1, 0, 1], size=rng.integers(1, 4))
        families = tuple(Family(subsets(rng, n), int(sign)) for sign in signs)
        check(case, QueryFamilies(families), seed, *VARIANTS)


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_signs_in_tables_agree_with_brute_force_over_all_allowed_queries(number):
    for seed in chunk(number):
        case, rng = random_problem(seed), np.random.default_rng(seed)
        case = dataclasses.replace(case, limits=case.limits | {"max_conditions": 1 + seed % 5})
        n = case.problem.n_candidates
        families = tuple(Family(subsets(rng, n), sign) for sign in (-1, 1))
        check(case, QueryFamilies(families), seed, TABLES)


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_costs_agree_with_brute_force_over_all_allowed_queries(number):
    for seed in chunk(number):
        case, rng = random_problem(seed), np.random.default_rng(seed)
        n = case.problem.n_candidates
        signs = rng.choice([-1, 0, 1], size=rng.integers(1, 3))
        families = tuple(Family(subsets(rng, n), int(sign)) for sign in signs)
        group_of = rng.integers(0, 4, size=n)
        best = search(case.problem, **case.limits).objective_value
        costs = {
            frozenset(np.flatnonzero(group_of == group).tolist()): best
            * rng.choice([0.1, 0.3, 0.7])
            for group in set(group_of.tolist()) - {0}
        }
        check(case, QueryFamilies(families, costs), seed, {}, {"branching": "paper"})


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_beside_other_rules_they_agree_with_brute_force(number):
    for seed in chunk(number):
        case, rng = random_joint_problem(seed), np.random.default_rng(seed)
        problem, limits = case.problem, case.limits | {"max_conditions": 3}
        n = problem.n_candidates
        families = tuple(Family(subsets(rng, n), sign) for sign in (-1, 1, 0))
        allowed = QueryFamilies(families)
        query, value = best_of_all(problem, allowed, limits)
        has_penalty = problem.l2_regularization > 0.0
        ways = ["auto", "paper", "tables", *(["conditions"] if has_penalty else [])]
        for options in ({"branching": way} for way in ways):
            result = search(problem, families=allowed, **limits, **options)
            assert (result.query, result.objective_value) == (query, value), (seed, options)
            assert result.status is SearchStatus.OPTIMAL


def hard_problem(n_rows=200, n_candidates=24):
    rng = np.random.default_rng(3)
    extents = rng.random((n_candidates, n_rows)) < 0.7
    return SearchProblem(extents, rng.normal(size=n_rows), np.ones(n_rows), 1.0)


def test_a_single_family_of_everything_is_the_search_itself():
    problem = hard_problem()
    everything = QueryFamilies((Family(tuple(range(problem.n_candidates))),))
    one, other = (
        search(problem, max_conditions=4),
        search(problem, max_conditions=4, families=everything),
    )
    assert one == dataclasses.replace(other, seconds=one.seconds)


def test_nodes_are_shared_by_all_families():
    problem = hard_problem()
    families = tuple(Family(tuple(range(start, start + 20))) for start in range(4))
    result = search(
        problem, families=QueryFamilies(families), node_limit=12, branching="paper", beam_width=0
    )
    assert result.counters["nodes"] <= 12
    assert result.status is SearchStatus.NODE_LIMIT
    best = search(problem, families=QueryFamilies(families))
    assert result.objective_value <= best.objective_value <= result.bound


def test_a_callback_ends_all_searches():
    calls = []
    problem = hard_problem(n_candidates=84)  # the first search runs until the callback ends it
    families = tuple(Family(tuple(range(start, start + 80))) for start in range(4))
    result = search(
        problem,
        families=QueryFamilies(families),
        branching="paper",
        callback=lambda progress: calls.append(progress) or True,
    )
    assert result.status is SearchStatus.INTERRUPTED
    assert len(calls) == 1
    assert result.bound == math.inf  # the other families were not searched


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_barred_rows_agree_with_brute_force_over_all_allowed_queries(number):
    for seed in chunk(number)[::4]:
        draw = (random_problem, random_joint_problem)[seed % 2]
        case, rng = draw(seed), np.random.default_rng(seed)
        limits = case.limits | {"max_conditions": 3}
        n = case.problem.n_candidates
        best = search(case.problem, **limits)
        queries = [best.query, *([p] for p in subsets(rng, n)[:2])]
        problem = case.problem.excluding([case.problem.covered(tuple(query)) for query in queries])
        signs = rng.choice([-1, 0, 1], size=rng.integers(1, 4))
        families = tuple(Family(subsets(rng, n), int(sign)) for sign in signs)
        cost = 0.2 * best.objective_value * (seed % 3)
        allowed = QueryFamilies(families, {frozenset(range(n // 2)): cost} if cost else {})
        query, value = best_of_all(problem, allowed, limits)
        for options in ({}, {"branching": "paper"}, {"branching": "tables"}):
            result = search(problem, families=allowed, **limits, **options)
            assert result.query == query, (seed, options)
            assert result.objective_value == pytest.approx(value, rel=1e-9, abs=0)
            assert result.status is SearchStatus.OPTIMAL


def test_what_families_cannot_give_is_refused():
    problem = hard_problem()
    allowed = QueryFamilies((Family((0, 1, 2)), Family((3, 4))))
    with pytest.raises(ValueError, match="n_best must be 1 where not all queries are allowed"):
        search(problem, families=allowed, n_best=3)


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_cutoffs_hold_after_costs(number):
    for seed in chunk(number)[::3]:
        case, rng = random_problem(seed), np.random.default_rng(seed)
        n = case.problem.n_candidates
        families = tuple(Family(subsets(rng, n), int(sign)) for sign in rng.choice([-1, 0, 1], 2))
        cost = 0.2 * search(case.problem, **case.limits).objective_value * (seed % 3)
        allowed = QueryFamilies(families, {frozenset(range(n // 2)): cost} if cost else {})
        query, value = best_of_all(case.problem, allowed, case.limits)
        for share in (0.5, 0.99, 1.01, 2.0):
            cutoff = share * value
            for options in ({}, {"branching": "ranges"}, {"stop_above_cutoff": True}):
                result = search(
                    case.problem, families=allowed, cutoff=cutoff, **case.limits, **options
                )
                assert result.objective_value <= value * (1 + 1e-9)
                assert result.bound >= value * (1 - 1e-9)
                if share < 1.0 and value > 0.0:
                    assert result.objective_value > cutoff
                    if "stop_above_cutoff" not in options:
                        assert (result.query, result.status) == (query, SearchStatus.OPTIMAL)
                elif value > 0.0:
                    assert result.status is SearchStatus.CUTOFF
                    assert result.bound == pytest.approx(cutoff, rel=1e-9)


def test_heuristics_divide_few_families_by_costs():
    """They took longer than the proof: their bounds rule out no part, and parts were doubled."""
    problem, calls = hard_problem(n_candidates=40), []
    costs = {frozenset({p}): 1e-3 for p in range(40)}

    def greedy(part, limits, **options):
        calls.append(part)
        return METHODS["greedy"](part, limits, **options)

    allowed = QueryFamilies((Family(tuple(range(40))),), costs)
    result = search(problem, greedy, families=allowed)
    assert result.status is SearchStatus.HEURISTIC
    assert len(calls) <= 41
    assert result.bound >= search(problem, families=allowed, max_conditions=3).objective_value


def test_parts_of_extents_are_made_once():
    extents = hard_problem().extents
    assert part_of(extents, (1, 3)) is part_of(extents, (1, 3))
    assert part_of(extents, tuple(range(24))) is extents
    assert (part_of(extents, (1, 3)).covered([1]) == extents.covered([3])).all()


def test_what_does_not_gain_more_than_it_costs_is_not_found():
    problem = SearchProblem([[True, True, False, False]], [-1, -1, 1, 1], np.ones(4), 0.0)
    gain = problem.objective((0,))
    everything = (Family((0,)),)
    cheap = search(problem, families=QueryFamilies(everything, {frozenset({0}): 0.9 * gain}))
    assert cheap.query == (0,)
    assert cheap.objective_value == pytest.approx(0.1 * gain)
    dear = search(problem, families=QueryFamilies(everything, {frozenset({0}): 1.1 * gain}))
    assert (dear.query, dear.objective_value, dear.status) == ((), 0.0, SearchStatus.OPTIMAL)
