"""The estimators: short terms by objective."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from estimators import ESTIMATORS, RULES_BY_GAIN, both, forms, numeric_problem
from laconic import Query, RuleBoostingRegressor
from laconic.candidates.candidates import candidate_conditions
from laconic.losses import SquaredLoss
from laconic.search import RefittedTerms, SearchProblem, search
from laconic.terms.formatting import merged


def fit_by_hand(X, y, n_terms, penalty, *, is_joint):
    """Boost with one search per round, and least squares: queries and raw predictions."""
    candidates, loss = candidate_conditions(X), SquaredLoss()
    queries, columns, raw = [], [], np.full(len(y), y.mean())
    unposed = SearchProblem(candidates.extents, np.zeros(len(y)), np.zeros(len(y)), penalty)
    for _ in range(n_terms):
        everyone = np.ones(len(y), dtype=bool)
        others = RefittedTerms(
            np.array([*columns, everyone]), np.array([penalty] * len(columns) + [0.0])
        )
        statistics = loss.gradients(y, raw), loss.hessians(y, raw)
        problem = unposed.with_statistics(*statistics, others if is_joint else None)
        result = search(problem, max_conditions=3)
        query = merged(Query(tuple(candidates.conditions[n] for n in result.query)))
        queries.append(query)
        columns.append(query.covered(X))
        if is_joint:
            design = np.array([*columns, everyone], dtype=float)
            curvature = 2 * design @ design.T + np.diag([penalty] * len(columns) + [0.0])
            raw = np.linalg.solve(curvature, 2 * design @ y) @ design
        else:
            step = -statistics[0][columns[-1]].sum() / (penalty + statistics[1][columns[-1]].sum())
            raw = raw + step * columns[-1]
    return queries, raw


@pytest.mark.parametrize("strategy", ["stagewise", "joint"])
def test_without_brevity_and_slopes_rules_have_the_largest_gains(strategy):
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(4, strategy=strategy, l2_regularization=5.0, **RULES_BY_GAIN)
    model.fit(X, y)
    queries, raw = fit_by_hand(X, y, 4, 5.0, is_joint=strategy == "joint")
    assert forms(model) == queries
    assert_allclose(model.predict(X), raw, rtol=1e-9)


@both
@pytest.mark.parametrize("slopes", [False, True])
def test_more_brevity_gives_fewer_conditions(task, slopes):
    X, y = numeric_problem(task, n_rows=200, n_features=4)
    rng = np.random.default_rng(1)
    y = rng.permutation(y)
    options = {"slopes": slopes, "l2_regularization": 1.0}
    counts = [
        ESTIMATORS[task](6, brevity=brevity, **options).fit(X, y).ensemble_.n_conditions
        for brevity in (0.0, 1.0, 10.0)
    ]
    # Noise is fitted best by long rules.
    assert counts[0] > counts[1] > counts[2]
    assert counts[2] <= 6


@pytest.mark.parametrize("brevity", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("search", ["optimal", "reference"])
def test_the_first_rule_gains_most_for_its_size(brevity, search):
    X, y = numeric_problem("regressor", n_rows=50)
    options = {"max_conditions": 2, "l2_regularization": 2.0, "strategy": "stagewise"}
    model = RuleBoostingRegressor(1, brevity=brevity, slopes=False, search=search, **options)
    model.fit(X, y)
    candidates, residuals, values = candidate_conditions(X), y - y.mean(), {}
    covered = [condition.covered(X) for condition in candidates.conditions]
    for n_conditions in (1, 2):
        for query in combinations(covered, n_conditions):
            rows = np.logical_and.reduce(query)
            gain = (2 * residuals[rows].sum()) ** 2 / (2.0 + 2 * rows.sum()) / 2 / len(y)
            values[rows.tobytes()] = max(
                values.get(rows.tobytes(), 0.0), gain / (1 + n_conditions) ** brevity
            )
    [result] = model.search_results_
    assert result.objective_value == pytest.approx(max(values.values()))
    assert result.is_optimal
    assert values[model.ensemble_.covered(X)[:, 0].tobytes()] == pytest.approx(max(values.values()))


def test_brevity_is_the_default_and_may_be_any_number():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(X, y)
    assert (model.brevity, model.settings_.brevity) == (1.5, 1.5)
    assert RuleBoostingRegressor(3, brevity=1).fit(X, y).ensemble_ == model.ensemble_
    short = RuleBoostingRegressor(3, brevity=1e6, slopes=False, max_conditions=None).fit(X, y)
    assert all(term.n_conditions <= 1 for term in short.ensemble_)


def test_long_rules_are_searched_to_the_end():
    X, y = numeric_problem("regressor", n_rows=60)
    model = RuleBoostingRegressor(3, max_conditions=None).fit(X, y)
    assert all(result.is_optimal for result in model.search_results_)
    limited = RuleBoostingRegressor(3, max_conditions=12).fit(X, y)
    assert forms(model) == forms(limited)
