"""Queries judged by gain and length, against all of them, one by one."""

import math
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from brute_force import all_values, best_value, search_brute_force
from problems import n_drawn, random_joint_problem, random_problem

from laconic.search import Family, QueryFamilies, SearchProblem, SearchStatus, search
from laconic.search.brevity import Pricing
from laconic.search.checkpoint import Checkpoint
from laconic.search.reference import value_of_gain
from laconic.search.results import rank

N_PROBLEMS = n_drawn(3_000)
N_CHUNKS = 6
BREVITIES = (0.0, 0.5, 1.0, 1.5, 2.0)
BRANCHINGS = ("auto", "paper", "conditions", "tables", "ranges")


def chunk(number, step=1):
    return range(number * N_PROBLEMS // N_CHUNKS, (number + 1) * N_PROBLEMS // N_CHUNKS, step)


def draw(seed):
    """A problem with limits and prices, some of them of the joint objective."""
    rng = np.random.default_rng(seed)
    case = (random_problem, random_joint_problem)[seed % 2](seed)
    limits = dict(case.limits)
    if case.problem.n_candidates > 8:
        limits["max_conditions"] = min(limits.get("max_conditions", 5), 5)
    noise = 0.0
    if seed % 5 == 0 or seed % 3 == 0:
        noise = float(rng.choice([0.01, 0.1, 0.5])) * search(case.problem).objective_value
    return (
        case.problem,
        limits,
        {"brevity": BREVITIES[seed % 5] if noise else BREVITIES[1:][seed % 4], "noise": noise},
    )


def branchings(problem, limits):
    """The ways of branching that a problem can have."""
    is_joint = problem.projections is not None
    longest = limits.get("max_conditions", math.inf)
    for branching in BRANCHINGS:
        if branching == "tables" and longest > 5:
            continue
        if branching == "ranges" and is_joint:
            continue
        if branching == "conditions" and is_joint and problem.l2_regularization == 0.0:
            continue
        yield branching


def is_close(one, other):
    return one == pytest.approx(other, rel=1e-8, abs=1e-15)


def check(problem, limits, prices, seed, *ways, families=None):
    values = all_values(problem, **limits, families=families, **prices)
    query, value = best_value(values, prices["brevity"])
    for way in ways:
        result = search(problem, **limits, **prices, families=families, **way)
        details = seed, way, limits, prices, result, query, value
        assert is_close(result.objective_value, value), details
        assert result.bound == result.objective_value, details
        assert result.status is SearchStatus.OPTIMAL, details
        if "method" not in way:
            assert result.query == query, details


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_values_agree_with_brute_force(number):
    for seed in chunk(number):
        problem, limits, prices = draw(seed)
        slow = ({"method": "reference"}, {"method": search_brute_force})[seed % 2]
        ways = [{"branching": branching} for branching in branchings(problem, limits)]
        check(problem, limits, prices, seed, *ways, slow)


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_families_signs_and_costs_agree_with_brute_force(number):
    for seed in chunk(number, 2):
        problem, limits, prices = draw(seed)
        rng, n = np.random.default_rng(seed), problem.n_candidates
        families = tuple(
            Family(
                tuple(np.flatnonzero(rng.random(n) < rng.choice([0.5, 1.0])).tolist()), int(sign)
            )
            for sign in rng.choice([-1, 0, 1], size=rng.integers(1, 4))
        )
        costs = {}
        if seed % 3:
            best = search(problem, **limits).objective_value
            group_of = rng.integers(0, 3, size=n)
            costs = {
                frozenset(np.flatnonzero(group_of == group).tolist()): best
                * float(rng.choice([0.1, 0.3]))
                for group in set(group_of.tolist()) - {0}
            }
        allowed = QueryFamilies(families, costs)
        ways = [{"branching": branching} for branching in branchings(problem, limits)]
        check(problem, limits, prices, seed, *ways[:2], families=allowed)


@pytest.mark.parametrize("number", range(N_CHUNKS))
def test_stopped_searches_have_true_bounds(number):
    for seed in chunk(number, 2):
        problem, limits, prices = draw(seed)
        value = best_value(all_values(problem, **limits, **prices), prices["brevity"])[1]
        own = {1: {"time_limit": 1e-9}, 2: {"approximation_factor": 0.5}, 3: {"callback": bool}}
        for branching in branchings(problem, limits):
            for n_nodes in (1, 2, 5):
                result = search(
                    problem,
                    **limits,
                    **prices,
                    branching=branching,
                    node_limit=n_nodes,
                    beam_width=None if branching in ("ranges", "auto") else 0,
                    **own.get(seed % 5, {}),
                )
                details = seed, branching, n_nodes, result, value
                assert result.counters["nodes"] <= n_nodes, details
                assert result.objective_value <= value * (1 + 1e-8), details
                assert result.bound >= value * (1 - 1e-8), details
                if result.status is SearchStatus.OPTIMAL:
                    assert is_close(result.objective_value, value), details
                if result.status is SearchStatus.APPROXIMATE:
                    assert result.objective_value >= 0.5 * value * (1 - 1e-8), details


@pytest.mark.parametrize("factor", [0.3, 0.9])
def test_fractions_of_the_best_value_are_promised(factor):
    for seed in range(n_drawn(600)):
        problem, limits, prices = draw(seed)
        value = best_value(all_values(problem, **limits, **prices), prices["brevity"])[1]
        for options in ({}, {"branching": "paper", "beam_width": 0}, {"method": "reference"}):
            result = search(problem, **limits, **prices, approximation_factor=factor, **options)
            assert result.status in (SearchStatus.OPTIMAL, SearchStatus.APPROXIMATE)
            assert factor * value * (1 - 1e-8) <= result.objective_value <= value * (1 + 1e-8)
            assert (
                value * (1 - 1e-8) <= result.bound <= result.objective_value / factor * (1 + 1e-8)
            )


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_heuristics_tell_the_value_of_their_query(method):
    n_best = 0
    for seed in range(n_drawn(600)):
        problem, limits, prices = draw(seed)
        value = best_value(all_values(problem, **limits, **prices), prices["brevity"])[1]
        result = search(problem, method, **limits, **prices)
        assert result.status is SearchStatus.HEURISTIC
        gain = problem.objective(result.query)
        assert result.objective_value == pytest.approx(
            value_of_gain(gain, len(result.query), problem.n_candidates, **prices), abs=1e-15
        )
        assert result.objective_value <= value * (1 + 1e-8)
        assert result.bound >= value * (1 - 1e-8)
        n_best += is_close(result.objective_value, value)
    assert n_best > n_drawn(600) * 0.7


def test_cutoffs_are_values():
    for seed in range(n_drawn(800)):
        problem, limits, prices = draw(seed)
        query, value = best_value(all_values(problem, **limits, **prices), prices["brevity"])
        if value == 0.0:
            continue
        for share in (0.5, 0.99, 1.01, 3.0):
            for branching in branchings(problem, limits):
                for stops in (False, True):
                    result = search(
                        problem,
                        **limits,
                        **prices,
                        branching=branching,
                        cutoff=share * value,
                        stop_above_cutoff=stops,
                    )
                    details = seed, share, branching, stops, result, value
                    assert result.bound >= value * (1 - 1e-8), details
                    assert result.objective_value <= value * (1 + 1e-8), details
                    if share > 1.0:
                        assert result.status is SearchStatus.CUTOFF, details
                        assert result.bound == share * value, details
                    elif stops:
                        assert result.objective_value > share * value, details
                    else:
                        assert result.query == query, details
                        assert result.status is SearchStatus.OPTIMAL, details


@pytest.mark.parametrize("branching", ["conditions", "tables"])
def test_best_queries_are_the_best(branching):
    for seed in range(n_drawn(600)):
        problem, limits, prices = draw(seed)
        if branching not in branchings(problem, limits):
            continue
        values, extents = [], set()
        for value, _, query in chain(*all_values(problem, **limits, **prices)):
            extent = problem.covered(query).tobytes()
            if value > 0.0 and extent not in extents:
                values.append(value)
            extents.add(extent)
        values.sort(reverse=True)
        for n_best in (2, 5, 1000):
            result = search(problem, **limits, **prices, branching=branching, n_best=n_best)
            found = [
                value_of_gain(problem.objective(q), len(q), problem.n_candidates, **prices)
                for q in result.queries
            ]
            details = seed, n_best, prices, limits, result, found, values
            assert found == pytest.approx(values[:n_best], rel=1e-8, abs=1e-15), details
            assert len({problem.covered(q).tobytes() for q in result.queries}) == len(found)
            assert not found or result.queries[0] == result.query, details
            assert result.status is SearchStatus.OPTIMAL


def test_ranges_list_no_queries():
    for seed in range(0, 60, 2):
        problem, limits, prices = draw(seed)
        assert search(problem, **limits, **prices, branching="ranges", n_best=5).queries == ()


def hard_problem(n_candidates=30, n_rows=300, seed=3):
    rng = np.random.default_rng(seed)
    extents = rng.random((n_candidates, n_rows)) < 0.7
    return SearchProblem(extents, rng.normal(size=n_rows), np.ones(n_rows), 1.0)


def test_free_length_changes_nothing():
    problem = hard_problem()
    one, other = (
        search(problem, max_conditions=4),
        search(problem, max_conditions=4, brevity=0.0, noise=0.0),
    )
    assert replace(one, seconds=0.0) == replace(other, seconds=0.0)


def test_unlimited_lengths_end_by_themselves():
    problem = hard_problem()
    calls = []

    def own(part, limits, **options):
        calls.append(limits.max_conditions)
        return search(part, max_conditions=limits.max_conditions)

    result = search(problem, own, brevity=1.0)
    assert result.status is SearchStatus.OPTIMAL
    assert calls[:5] == [0, 1, 2, 3, None]
    assert len(calls) < 12
    assert result.query == search(problem, brevity=1.0).query
    assert math.isinf(Pricing(1e9).gain(1.0, 3))
    assert len(search(problem, brevity=1e9).query) <= 1


def test_work_is_added_up_and_shared():
    problem = hard_problem()
    options = {"brevity": 0.5, "branching": "paper", "beam_width": 0}
    whole = search(problem, **options)
    assert whole.status is SearchStatus.OPTIMAL
    for n_nodes in (1, 10, 40, whole.counters["nodes"]):
        result = search(problem, **options, node_limit=n_nodes)
        assert result.counters["nodes"] <= n_nodes
        assert result.node_limit == n_nodes
        assert result.objective_value <= whole.objective_value <= result.bound
    assert result == replace(whole, seconds=result.seconds)
    for seconds in (1e-9, 0.01):
        result = search(problem, **options, time_limit=seconds)
        assert result.objective_value <= whole.objective_value <= result.bound


def test_callbacks_are_told_values():
    problem = hard_problem()
    best = search(problem, brevity=1.0)
    told = []
    options = {"branching": "paper", "beam_width": 0, "brevity": 1.0}
    search(problem, **options, callback=told.append)
    assert told
    for progress in told:
        assert progress.objective_value <= best.objective_value * (1 + 1e-9)
        assert progress.bound >= best.objective_value * (1 - 1e-9)
    assert [p.n_nodes for p in told] == sorted(p.n_nodes for p in told)
    for n_calls in (1, 3, 10):
        told.clear()

        def stop(progress, n_calls=n_calls):
            told.append(progress)
            return len(told) >= n_calls

        result = search(problem, **options, callback=stop)
        assert result.status is SearchStatus.INTERRUPTED
        assert len(told) == n_calls
        assert result.objective_value <= best.objective_value <= result.bound


def test_threads_change_nothing():
    for seed in range(5):
        problem = hard_problem(seed=seed)
        one, many = (search(problem, brevity=1.0, n_jobs=n_jobs) for n_jobs in (1, 3))
        assert one == replace(many, seconds=one.seconds)


@pytest.mark.parametrize("exponent", [-500, 0, 450])
def test_scale_changes_nothing(exponent):
    plain = hard_problem()
    scaled = plain.with_statistics(np.ldexp(plain.gradients, exponent), plain.hessians)
    assert search(scaled, brevity=1.0).query == search(plain, brevity=1.0).query


def test_prices_belong_to_checkpoints(tmp_path):
    problem = hard_problem()
    ways = [{}, {"brevity": 1.0}, {"brevity": 2.0}, {"brevity": 1.0, "noise": 1e-4}]
    with Checkpoint(tmp_path / "searches") as checkpoint:
        first = [search(problem, max_conditions=3, **way) for way in ways]
        assert len(checkpoint.results) == len(ways)
    with Checkpoint(tmp_path / "searches") as checkpoint:
        assert [search(problem, max_conditions=3, **way) for way in ways] == first
        assert len(checkpoint.results) == len(ways)


@pytest.mark.parametrize("name", ["brevity", "noise"])
@pytest.mark.parametrize("price", [-0.1, math.nan, math.inf])
def test_prices_are_checked(name, price):
    with pytest.raises(ValueError, match=f"{name} must be a finite number in the range"):
        search(hard_problem(), **{name: price})


def test_pricing_is_the_definition():
    for n_candidates in (1, 2, 7, 300):
        for length in range(min(n_candidates, 9) + 1):
            for brevity in BREVITIES:
                for noise in (0.0, 0.01):
                    pricing = Pricing(brevity, noise, n_candidates)
                    value = value_of_gain(0.7, length, n_candidates, brevity, noise)
                    assert pricing.value(0.7, length) == pytest.approx(value, rel=1e-12)
                    assert pricing.gain(value, length) == pytest.approx(0.7, rel=1e-12)
    longer = [Pricing(0.0, 1.0, 7).gain(0.0, length) for length in range(8)]
    assert longer == sorted(longer)


def test_of_equal_values_the_shortest_is_found():
    """Two conditions gain 3/2 of one: at brevity 1 all are worth the same."""
    extents = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0]], dtype=bool)
    gradients = [-3.0, -3.0, 0.0, 0.0, 3.0, 3.0]
    problem = SearchProblem(extents, gradients, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 0.0)
    assert problem.objective((0, 1)) == 1.5 * problem.objective((0,))
    assert search(problem, brevity=1.0).query == (0,)
    assert search(problem, brevity=0.9).query == (0, 1)
    assert rank((0,), 1.0) < rank((0, 1), 1.0)
