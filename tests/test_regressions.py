"""Bugs that were there once; each docstring tells the story."""

import numpy as np
import pytest

from laconic import RuleBoostingClassifier
from laconic.search import SearchProblem, SearchStatus, search
from problems import random_table


def test_approximation_under_a_limit_keeps_a_true_bound():
    """At the last level, queries better than the incumbent by less than 1/alpha were neither
    offered nor remembered in the bound, so that the certificate claimed an optimum.
    """
    for seed in range(300):
        rng = np.random.default_rng(seed)
        extents = rng.random((8, 20)) < 0.5
        problem = SearchProblem(extents, rng.normal(size=20), np.ones(20), 1.0)
        optimum = search(problem, "brute_force", max_conditions=2).objective_value
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
    weighted = RuleBoostingClassifier().fit(X[order], y[order], weights[order])
    copies = RuleBoostingClassifier().fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    assert [rule.query for rule in weighted.ensemble_] == [rule.query for rule in copies.ensemble_]


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
    # Only the covered rows have gradients: the best subset of all is the proposition itself.
    assert result.bound == result.objective_value
