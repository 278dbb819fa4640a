"""Bugs that were there once; each docstring tells the story."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from brute_force import search_brute_force
from problems import random_table
from sklearn.base import clone
from sklearn.utils.class_weight import compute_sample_weight

from estimators import RULES_BY_GAIN, STAGEWISE, forms
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.search import SearchProblem, SearchStatus, search


def test_approximation_under_a_limit_keeps_a_true_bound():
    """At the last level, queries better than the incumbent by less than 1/alpha were neither
    offered nor remembered in the bound, so that the certificate claimed an optimum.
    """
    for seed in range(300):
        rng = np.random.default_rng(seed)
        extents = rng.random((8, 20)) < 0.5
        problem = SearchProblem(extents, rng.normal(size=20), np.ones(20), 1.0)
        optimum = search(problem, search_brute_force, max_conditions=2).objective_value
        result = search(problem, max_conditions=2, approximation_factor=0.7, beam_width=0)
        assert result.bound >= optimum
        assert result.objective_value >= 0.7 * optimum


def test_ties_do_not_explode_under_a_limit():
    """On a small table nearly every query that covers the right rows is optimal. Without
    exchanging equivalent queries, the search went through all of them and hit its node limit.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10, 1, 30))
    below = (x <= np.linspace(-1, 1, 7)[:, np.newaxis]).reshape(-1, 30)
    gradients = np.where(x[0, 0] > 0, 1.0, -1.0)
    problem = SearchProblem(np.concatenate([below, ~below]), gradients, np.ones(30), 1.0)
    result = search(problem, max_conditions=5, node_limit=1000)
    assert result.status is SearchStatus.OPTIMAL


@pytest.mark.parametrize("seed", [1123, 1205, 1333, 1443, 1481])
def test_weights_break_ties_like_copies(seed):
    """Weighted gradients were rounded after the multiplication and copies of rows before it, so
    that ties fell differently.
    """
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(8, 40))
    X = random_table(rng, n_rows)
    y = rng.choice([0, 1], n_rows)
    weights = rng.integers(0, 4, n_rows)
    order = rng.permutation(n_rows)
    model = RuleBoostingClassifier(**STAGEWISE)
    weighted = clone(model).fit(X[order], y[order], weights[order])
    copies = model.fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    assert forms(weighted) == forms(copies)


def test_longer_ties_above_shorter_ones():
    """With equal bounds a longer query can lie above a shorter one on the heap. When it was given
    up, everything below it was, and the shorter tie was lost.
    """
    columns = [180, 373, 373, 29, 29, 29, 447]
    extents = np.array([[bool(c >> i & 1) for i in range(9)] for c in columns])
    gradients, hessians = [0, 2, 0, 0, -1, 2, 0, 0, 0], [0, 1, 0, 1, 0, 0, 0, 1, 1]
    problem = SearchProblem(extents, gradients, hessians, 0.1)
    for options in ({}, {"branching": "paper"}, {"beam_width": 0}):
        assert search(problem, **options).query == (0, 1)
        assert search(problem, max_conditions=3, **options).query == (0, 1)


def test_large_weights_cost_no_precision():
    """Values were rounded to a unit of the weighted total before the weights were multiplied in,
    which left nothing of them under large weights.
    """
    rng = np.random.default_rng(0)
    extents = rng.random((6, 200)) < 0.5
    gradients, hessians = rng.normal(size=200), np.ones(200)
    expected = search(SearchProblem(extents, gradients, hessians))
    for scale in (2.0**-60, 1e6, 1e12, 2.0**50, 1e16):
        problem = SearchProblem(extents, gradients, hessians, sample_weight=np.full(200, scale))
        result = search(problem)
        assert result.query == expected.query
        assert result.objective_value == pytest.approx(expected.objective_value, rel=1e-12)


def test_booleans_that_are_not_zero_or_one():
    """A view of other bytes as booleans set the bits of other conditions."""
    extents = np.array([[2, 1, 0, 0], [0, 255, 1, 0]], dtype=np.uint8).view(bool)
    problem = SearchProblem(extents, np.ones(4), np.ones(4))
    np.testing.assert_array_equal(problem.covered((0,)), [True, True, False, False])
    np.testing.assert_array_equal(problem.covered((1,)), [False, True, True, False])


def test_nothing_to_gain_is_seen_at_once():
    """Without any gradient every query ties with the one that is always true, and all of them were
    enumerated.
    """
    rng = np.random.default_rng(0)
    problem = SearchProblem(rng.random((60, 300)) < 0.5, np.zeros(300), np.ones(300))
    result = search(problem)
    assert result.query == ()
    assert result.counters["nodes"] == 0


@pytest.mark.parametrize("n_jobs", [1, 2, 16])
def test_limits_hold_with_more_threads_than_processors(n_jobs):
    """Only the calling thread looks at the clock, and with many threads it hardly got any work."""
    rng = np.random.default_rng(0)
    extents = rng.random((120, 2000)) < 0.5
    problem = SearchProblem(extents, rng.normal(size=2000), np.ones(2000), 0.1)
    calls = []
    result = search(problem, n_jobs=n_jobs, callback=lambda progress: calls.append(1) or True)
    assert result.status is SearchStatus.INTERRUPTED
    assert len(calls) == 1
    assert search(problem, n_jobs=n_jobs, time_limit=0.2).status is SearchStatus.TIME_LIMIT


def test_denominators_are_summed_exactly():
    """The bound added lambda first and hessians one by one, which loses the exactness of the sums
    and, over many rows, more than the slack that pruning leaves for rounding.
    """
    n_rows = 20_000
    rng = np.random.default_rng(0)
    covered = rng.random(n_rows) < 0.5
    gradients = np.where(covered, 1.0, 0.0)
    hessians = np.full(n_rows, 0.1)
    problem = SearchProblem(covered[np.newaxis], gradients, hessians, 1 / 3)
    result = search(problem, "greedy")
    # Only the covered rows have gradients: the best subset of all is the condition itself.
    assert result.bound == result.objective_value


def test_ranges_with_too_many_rows_to_tell_which_come_together():
    """Without room for implied rows, blocked ones were looked up in an empty set."""
    n_rows = 80_000
    rng = np.random.default_rng(0)
    X = rng.integers(0, 16, (6, n_rows))
    extents = [x <= cut for x in X for cut in range(15)]
    problem = SearchProblem(
        np.array(extents + [~extent for extent in extents]),
        rng.normal(size=n_rows),
        np.ones(n_rows),
        1.0,
    )
    result = search(problem, branching="ranges", node_limit=1)
    assert result.status is SearchStatus.NODE_LIMIT
    assert 0 < result.objective_value < result.bound


def joint_table(n_rows=150):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=n_rows).round(2), "b": rng.normal(size=n_rows).round(2)})
    return X, X.a + X.b * (X.a > 0) + rng.normal(size=n_rows)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 5}])
def test_weights_of_classes_in_tables_that_are_read_in_parts(class_weight):
    """They were counted after rows that rules do not tell apart had become one: "balanced" gave
    another model than in memory, and so did a dictionary, as thresholds did not know of it.
    """
    X, y = joint_table()
    y = (y > 1).astype(int)
    lazy = pl.from_pandas(X.assign(y=y)).lazy()
    options = {"class_weight": class_weight, "slopes": False}
    known = RuleBoostingClassifier(4, **options).fit(X, y)
    found = RuleBoostingClassifier(4, **options).fit(lazy, "y")
    assert forms(found) == forms(known)
    np.testing.assert_allclose(found.predict_proba(X), known.predict_proba(X), rtol=1e-9)


def test_alternatives_are_compared_after_costs():
    """The rule itself was compared before costs, all others after them."""
    X, y = joint_table()
    costs = {"a": 0.05, "b": 0.01}
    options = RULES_BY_GAIN | {"max_conditions": 1}
    model = RuleBoostingRegressor(1, feature_costs=costs, **options).fit(X, y)
    found = model.alternatives(1, X, y, tolerance=0.9, max_found=100)
    assert found.share == pytest.approx(1.0)
    [result] = model.search_results_
    free = RuleBoostingRegressor(1, **options).fit(X, y)
    others = free.alternatives(1, X, y, tolerance=0.99, max_found=99)
    gains = {one.text: one.share for one in others}
    best = free.search_results_[0].objective_value
    for one in found:
        gain = best * gains.get(one.text, 1.0) - costs[one.form.conditions[0].feature]
        assert one.share == pytest.approx(gain / result.objective_value)


def test_alternatives_are_not_for_the_rows_of_excluded_terms():
    X, y = joint_table()
    unwanted = RuleBoostingRegressor(1, slopes=False).fit(X, y).ensemble_[0].query
    model = RuleBoostingRegressor(2, excluded_terms=[unwanted], slopes=False).fit(X, y)
    rows = unwanted.covered(X)
    found = model.alternatives(1, X, y, tolerance=0.9, max_found=30)
    assert len(found) > 5
    for one in found:
        covered = one.form.covered(X)
        assert (covered != rows).any()
        assert (covered == rows).any()  # nor for all others, which an intercept makes the same


def test_certificates_of_given_rules_count_costs():
    X, y = joint_table()
    # By gain: with brevity, costs are divided by the size as gains are.
    options = RULES_BY_GAIN | {"n_terms": 1, "initial_terms": ["a > 0"]}
    [free] = RuleBoostingRegressor(**options).fit(X, y).search_results_
    [paid] = RuleBoostingRegressor(**options, feature_costs={"a": 0.05}).fit(X, y).search_results_
    assert paid.objective_value == pytest.approx(free.objective_value - 0.05)


def test_certificates_know_the_weights_of_classes():
    X, y = joint_table()
    y = (y > 1).astype(int)
    weights = compute_sample_weight("balanced", y)
    model = RuleBoostingClassifier(3, class_weight="balanced").fit(X, y)
    weighted = RuleBoostingClassifier(3).fit(X, y, weights)
    made, expected = model.certificate(X, y), weighted.certificate(X, y, weights)
    assert made.objective == pytest.approx(expected.objective)
    assert made.bound == pytest.approx(expected.bound)
    assert made.verify(X)


def test_edits_know_the_exposure():
    """Counts were refitted without it."""
    X, _ = joint_table()
    rng = np.random.default_rng(1)
    years = rng.uniform(0.2, 3.0, len(X))
    counts = rng.poisson(np.exp(X.a) * years)
    model = RuleBoostingRegressor(3, loss="poisson").fit(X, counts, exposure=years)
    rates = RuleBoostingRegressor(3, loss="poisson").fit(X, counts / years, years)
    edited = model.edit(X, counts, exposure=years, drop=[2])
    expected = rates.edit(X, counts / years, years, drop=[2])
    assert edited.ensemble_ == expected.ensemble_
    assert edited.edits_ == expected.edits_
