"""Targets that are too small to be squared are learned on another scale."""

import math

import numpy as np
import pytest

from laconic import Query, Rule, RuleBoostingRegressor, RuleEnsemble
from laconic.boosting import Scale, State, scale_of
from laconic.candidates.constraints import read_constraints
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.search import SearchProgress, SearchResult, SearchStatus

SMALL = RuleEnsemble((Rule(Query(), 3e-170),), 1e-171)


def test_only_small_targets_of_the_squared_loss_have_a_scale():
    assert scale_of(SquaredLoss(), np.array([1.0, 1e-300])) == Scale()
    assert scale_of(SquaredLoss(), np.array([1e150])) == Scale()
    assert scale_of(SquaredLoss(), np.zeros(3)) == Scale()
    assert scale_of(LogisticLoss(), np.array([1e-300])) == Scale()

    class Own(SquaredLoss):
        pass

    assert scale_of(Own(), np.array([1e-300])) == Scale()
    assert scale_of(SquaredLoss(), np.array([0.0, -1e-300])).exponent == math.frexp(1e-300)[1]


def test_costs_are_in_units_of_the_target():
    tiny = np.array([1e-300])
    costly = read_constraints(["x0"], feature_costs={0: 1.0})
    free = read_constraints(["x0"], weight_signs="positive")
    assert scale_of(SquaredLoss(), tiny, costly) == Scale()
    assert scale_of(SquaredLoss(), tiny, free) != Scale()


def test_there_and_back():
    scale = Scale(-600)
    result = SearchResult((0,), 2.0**-900, 2.0**-899, SearchStatus.NODE_LIMIT)
    state = State(SMALL, (np.array([True]),), (result,), (SMALL[:0], SMALL))
    scaled = scale.state(state)
    assert scaled.results[0].objective_value == 2.0**300
    back = scale.inverse.state(scaled)
    assert (back.ensemble, back.results, back.stages) == (SMALL, (result,), (SMALL[:0], SMALL))
    assert scale.numbers(np.array([2.0**-600])).tolist() == [1.0]
    assert scale.inverse.losses(np.array([1.0, 2.0**200])).tolist() == [0.0, 2.0**-1000]
    assert Scale().state(state) is state


def test_weights_and_objectives():
    scale = Scale(-300)
    assert scale.weight(2.0**-300) == 1.0
    for found in (
        SearchResult((0,), 3.0, 4.0, SearchStatus.NODE_LIMIT),
        SearchProgress(3.0, 4.0, 3, 4),
    ):
        back = scale.inverse.objectives(found)
        assert (back.objective_value, back.bound) == (3 * 2.0**-600, 4 * 2.0**-600)
        assert scale.objectives(back) == found


@pytest.mark.parametrize("scale", [1.0, 2.0**-300])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_callbacks_see_objectives_as_they_are(scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 8)), rng.normal(size=300)
    options = {"max_conditions": None, "max_thresholds": None, "node_limit": 50}
    seen = []
    model = RuleBoostingRegressor(1, callback=lambda p: seen.append(p.search), **options)
    model.fit(X, scale * y)
    assert 0.01 * scale**2 < seen[0].bound < 100.0 * scale**2


def test_alternatives_do_not_depend_on_the_scale():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (120, 2))
    y = 2.0 * (X[:, 0] > 2) + 1.0 * (X[:, 1] > 2) + 0.1 * rng.normal(size=120)
    usual, small = (
        RuleBoostingRegressor(2).fit(X, y * scale).alternatives(1, X, y * scale, tolerance=0.3)
        for scale in (1.0, 2.0**-560)
    )
    assert len(usual) > 0
    assert [each.text for each in small] == [each.text for each in usual]
    weights = [each.weight for each in usual]
    assert [each.weight * 2.0**560 for each in small] == pytest.approx(weights)
    assert small.is_complete == usual.is_complete


def test_rules_to_go_on_from_have_a_say():
    """What was learned from an ordinary target is too large for the scale of a tiny one."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = RuleBoostingRegressor(1, warm_start=True).fit(X, 1e10 * y)
    query = model.ensemble_[0].query
    model.set_params(n_rules=2).fit(X, 1e-300 * y)
    assert model.ensemble_[0].query == query
    assert np.isfinite(model.predict(X)).all()
    given = Rule(model.ensemble_[0].query, 1e10)
    kept = RuleBoostingRegressor(1, objective="stagewise", initial_rules=[given])
    assert kept.fit(X, 1e-300 * y).ensemble_[0] == given
