"""Invariants of bounds and searches, for whatever Hypothesis comes up with."""

import itertools

import numpy as np
import pytest
from brute_force import search_brute_force
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic import _core
from laconic.search import SearchProblem, search
from laconic.search.reference import objective, objective_bound

finite = st.floats(-100, 100, allow_subnormal=False)
rows = st.lists(st.tuples(finite, st.floats(0.01, 10)), min_size=1, max_size=8)
regularization = st.sampled_from([0.0, 0.01, 1.0, 50.0])


def sorted_statistics(pairs):
    gradients, hessians = np.array(pairs).T
    order = np.argsort(-gradients / hessians, kind="stable")
    return gradients[order], hessians[order]


@given(rows, regularization)
def test_bound_is_the_best_subset(pairs, lam):
    """The bounding theorem, word for word: tight over all subsets."""
    g, h = sorted_statistics(pairs)
    subsets = itertools.chain.from_iterable(
        itertools.combinations(range(len(g)), size) for size in range(1, len(g) + 1)
    )
    best = max(objective(g[list(s)], h[list(s)], lam, len(g)) for s in subsets)
    assert objective_bound(g, h, lam, len(g)) == pytest.approx(best, rel=1e-9, abs=1e-300)


@given(rows, regularization, st.integers(0, 2**8 - 1))
def test_bound_is_monotone(pairs, lam, subset):
    g, h = sorted_statistics(pairs)
    kept = np.array([(subset >> i) & 1 for i in range(len(g))], dtype=bool)
    part = objective_bound(g[kept], h[kept], lam, len(g))
    assert part <= objective_bound(g, h, lam, len(g)) * (1 + 1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_rounded_values_sum_exactly_in_any_order(values, random):
    rounded = _core.exactly_summable(np.array(values), np.ones(len(values)))[0].tolist()
    shuffled = random.sample(rounded, len(rounded))
    assert sum(rounded) == sum(shuffled)
    total = sum(map(abs, values))
    assert rounded == pytest.approx(values, rel=0, abs=total * 2.0**-51)


@given(st.lists(st.tuples(finite, st.integers(1, 9)), min_size=1, max_size=20))
def test_whole_weights_round_like_copies(pairs):
    values, weights = np.array([v for v, _ in pairs]), np.array([w for _, w in pairs])
    weighted, _ = _core.exactly_summable(values, weights.astype(float))
    copies, _ = _core.exactly_summable(np.repeat(values, weights), np.ones(weights.sum()))
    starts = np.cumsum(weights) - weights
    assert weighted.tolist() == np.add.reduceat(copies, starts).tolist()


@st.composite
def problems(draw):
    n_rows = draw(st.integers(1, 12))
    n_candidates = draw(st.integers(0, 7))
    bits = st.lists(st.booleans(), min_size=n_rows, max_size=n_rows)
    extents = np.array(
        draw(st.lists(bits, min_size=n_candidates, max_size=n_candidates)), dtype=bool
    ).reshape(n_candidates, n_rows)
    values = st.one_of(st.integers(-3, 3), finite)
    gradients = draw(st.lists(values, min_size=n_rows, max_size=n_rows))
    hessians = draw(st.lists(st.floats(1e-6, 4), min_size=n_rows, max_size=n_rows))
    return SearchProblem(extents, gradients, hessians, draw(regularization))


@settings(max_examples=300, deadline=None)
@given(problems(), st.one_of(st.none(), st.integers(0, 4)), st.integers(0, 6))
def test_optimal_is_brute_force(problem, max_conditions, min_coverage):
    limits = {
        "max_conditions": max_conditions,
        "min_coverage": min(min_coverage, problem.n_rows),
    }
    expected = search(problem, search_brute_force, **limits)
    result = search(problem, "optimal", **limits)
    assert (result.query, result.objective_value) == (expected.query, expected.objective_value)
    assert result.bound == result.objective_value


@settings(max_examples=100, deadline=None)
@given(problems())
def test_more_freedom_is_never_worse(problem):
    greedy = search(problem, "greedy").objective_value
    beam = search(problem, "beam", width=3).objective_value
    optimal = search(problem, "optimal").objective_value
    assert greedy <= optimal
    assert beam <= optimal
    limited = [
        search(problem, "optimal", max_conditions=limit).objective_value for limit in range(5)
    ]
    assert limited == sorted(limited)
    assert limited[-1] <= optimal


@settings(max_examples=100, deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(problem, random):
    extents = np.empty((problem.n_candidates, problem.n_rows), dtype=bool)
    for p in range(problem.n_candidates):
        extents[p] = problem.covered((p,))
    order = random.sample(range(problem.n_rows), problem.n_rows)
    shuffled = SearchProblem(
        extents[:, order],
        problem.gradients[order],
        problem.hessians[order],
        problem.l2_regularization,
    )
    a, b = search(problem), search(shuffled)
    assert a.query == b.query
    # Objectives may be of another scale: the statistics of a problem are those it has scaled.
    assert problem.value(problem.covered(a.query)) == shuffled.value(shuffled.covered(b.query))
