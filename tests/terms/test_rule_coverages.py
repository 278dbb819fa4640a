"""Coverage of rules and the target there."""

import numpy as np
import pytest

from laconic import Condition, Query, Rule, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.terms.rules import RuleCoverage, RuleEnsemble, rule_coverages

X = np.arange(6.0).reshape(-1, 1)
HIGH = Rule(Query((Condition("x0", ">", 3),)), 1.0)
NEVER = Rule(Query((Condition("x0", ">", 9),)), 1.0)


def test_rows_and_means():
    y = np.array([0.0, 0.0, 0.0, 0.0, 2.0, 4.0])
    high, never = rule_coverages(RuleEnsemble((HIGH, NEVER)).covered(X).T, y)
    assert high == RuleCoverage(2.0, 2 / 6, 3.0)
    assert (never.coverage, never.share) == (0.0, 0.0)
    assert np.isnan(never.mean_target)


def test_weights():
    weights = np.array([1.0, 1.0, 1.0, 1.0, 3.0, 1.0])
    [high] = rule_coverages(RuleEnsemble((HIGH,)).covered(X).T, X[:, 0], weights)
    assert high == RuleCoverage(4.0, 0.5, (3 * 4 + 5) / 4)


@pytest.mark.parametrize("make", [RuleBoostingClassifier, RuleBoostingRegressor])
def test_fitted_attribute_is_that_of_the_training_rows(make):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    weights = generator.integers(0, 3, size=60).astype(float)
    model = make(3).fit(X, y, weights)
    assert len(model.rule_coverages_) == model.ensemble_.n_terms == 3
    for rule, found in zip(model.ensemble_, model.rule_coverages_, strict=True):
        covered = rule.query.covered(X)
        assert found.coverage == weights[covered].sum()
        assert found.share == pytest.approx(weights[covered].sum() / weights.sum())
        assert found.mean_target == pytest.approx(np.average(y[covered], weights=weights[covered]))


def test_warm_start_and_refit():
    y = [0.0, 0.0, 1.0, 1.0, 5.0, 5.0]
    model = RuleBoostingRegressor(1, warm_start=True).fit(X, y)
    model.set_params(n_terms=3).fit(X, y)
    assert model.rule_coverages_ == rule_coverages(model.ensemble_.covered(X).T, np.array(y))
    with pytest.raises(ValueError, match="n_terms"):
        model.set_params(n_terms=0, warm_start=False).fit(X, y)
