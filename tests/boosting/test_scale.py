"""Targets of extreme size are learned on another scale."""

import math

import numpy as np
import pytest

from laconic import (
    Query,
    Rule,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleEnsemble,
)
from laconic.boosting import Scale, State, scale_of
from laconic.boosting.settings import form_of
from laconic.candidates.constraints import read_constraints
from laconic.losses import HuberLoss, LogisticLoss, SquaredLoss
from laconic.search import SearchProgress, SearchResult, SearchStatus

SMALL = RuleEnsemble((Rule(Query(), 3e-170),), 1e-171)


def test_only_extreme_targets_have_a_scale():
    assert scale_of(SquaredLoss(), np.array([1.0, 1e-300])) == Scale()
    assert scale_of(SquaredLoss(), np.array([1e70])) == Scale()
    assert scale_of(SquaredLoss(), np.array([-1e150])).exponent == math.frexp(1e150)[1]
    assert scale_of(HuberLoss(), np.array([1e9])) == Scale()
    assert scale_of(HuberLoss(), np.array([1e15])).exponent == math.frexp(1e15)[1]
    assert scale_of(SquaredLoss(), np.zeros(3)) == Scale()
    assert scale_of(LogisticLoss(), np.array([1e-300])) == Scale()

    class Own(SquaredLoss):
        pass

    assert scale_of(Own(), np.array([1e-300])) == Scale()
    assert scale_of(SquaredLoss(), np.array([0.0, -1e-300])).exponent == math.frexp(1e-300)[1]


def test_costs_are_in_units_of_the_objective():
    costly = read_constraints(["x0"], feature_costs={0: 1.0})
    free = read_constraints(["x0"], weight_signs="positive")
    assert Scale(40).constraints(costly).costs == {"x0": 2.0**-80}
    assert 1e100 < Scale(-900).constraints(costly).costs["x0"] < math.inf
    assert Scale().constraints(costly) is costly
    assert Scale(40).constraints(free) is free


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**-300, 2.0**300])
def test_costs_choose_features_on_any_scale(scale):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (120, 2))
    y = 2.0 * (X[:, 0] > 2) + 1.0 * (X[:, 1] > 2) + 0.1 * rng.normal(size=120)
    for cost in (0.2, 2.0):
        usual, model = (
            RuleBoostingRegressor(2, feature_costs={0: cost * s * s}, slopes=False).fit(X, y * s)
            for s in (1.0, scale)
        )
        if scale * scale > 0.0:  # else they cost nothing
            queries, expected = ([r.query for r in m.ensemble_] for m in (model, usual))
            assert queries == expected
    assert not any("x0" in str(r.query) for r in usual.ensemble_)


def test_the_threshold_of_the_huber_loss_has_the_scale():
    assert Scale(10).loss(HuberLoss(2.0)) == HuberLoss(2.0**-9)
    assert Scale(900).loss(HuberLoss(1e-200)).delta > 0.0
    assert Scale(10).loss(SquaredLoss()) == SquaredLoss()


@pytest.mark.parametrize("options", [{}, {"strategy": "stagewise", "fit_intercept": False}])
@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-70, 2.0**70, 2.0**490])
def test_rules_of_the_huber_loss_do_not_depend_on_the_unit(scale, options):
    """Below 1e-200 and above 1e15 there were no rules."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (120, 2))
    y = 2.0 * (X[:, 0] > 2) + 1.0 * (X[:, 1] > 2) + 0.1 * rng.normal(size=120)
    y[:5] += 100.0
    usual = RuleBoostingRegressor(2, loss="huber", **options).fit(X, y)
    model = RuleBoostingRegressor(2, loss="huber", **options).fit(X, y * scale)
    assert [form_of(t) for t in model.ensemble_] == [form_of(t) for t in usual.ensemble_]
    assert model.loss_.delta == usual.loss_.delta * scale
    np.testing.assert_allclose(model.predict(X) / scale, usual.predict(X), rtol=1e-9)


def test_edits_of_losses_without_digits_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    for loss in ("squared", "huber"):
        model = RuleBoostingRegressor(2, loss=loss).fit(X, 1e-160 * y)
        with pytest.raises(ValueError, match=r"An edit needs losses of 1e-300 or more"):
            model.edit(X, 1e-160 * y, drop=[1])
    usual, large = (
        RuleBoostingRegressor(2).fit(X, s * y).edit(X, s * y, drop=[1]).edits_
        for s in (1.0, 2.0**400)
    )
    assert [e.risk for e in large] == [e.risk * 2.0**800 for e in usual]
    # Losses that may be negative.
    counts = np.abs(10.0 * y).round() + 20.0
    model = RuleBoostingRegressor(2, loss="poisson").fit(X, counts)
    assert model.edit(X, counts, drop=[1]).edits_[0].risk < 0.0


@pytest.mark.parametrize(("loss", "mean"), [("poisson", 20.0), ("gamma", 0.05)])
def test_models_with_negative_losses_can_be_edited(loss, mean):
    X = np.arange(40.0).reshape(-1, 1)
    y = mean * (1 + (X[:, 0] > 20) + 0.1 * (X[:, 0] % 3))
    before, *_ = RuleBoostingRegressor(2, loss=loss).fit(X, y).edit(X, y, drop=[2]).edits_
    assert before.risk < 0.0


@pytest.mark.parametrize(
    "weights", [{0: 1e-300, 1: 1.0, 2: 1e300}, {0: 1e300, 1: 1.0, 2: 1.0}, {0: 1e-300, 1: 1, 2: 1}]
)
def test_certificate_of_classes_of_very_different_weight(weights):
    """Sums of one class are beyond all sums of another one, which ended in an OverflowError."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (80, 3))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=80), [3, 5])
    model = RuleBoostingClassifier(2, class_weight=weights).fit(X, y)
    assert model.certificate(X, y).verify(X)


@pytest.mark.parametrize(
    ("loss", "scale", "words"),
    [
        ("poisson", 1e-20, "must have a larger mean .* Multiply y"),
        ("gamma", 1e20, "must have a smaller mean .* Divide y"),
        ("tweedie", 1e-60, "must have a larger mean"),
        ("tweedie", 1e60, "must have a smaller mean"),
    ],
)
def test_means_far_from_1_are_refused_where_logarithms_are_predicted(loss, scale, words):
    """There were no rules, without a word."""
    X, y = np.array([[1], [2], [3], [4]]), np.array([1.0, 1.0, 9.0, 9.0])
    with pytest.raises(ValueError, match=words):
        RuleBoostingRegressor(loss=loss).fit(X, scale * y)
    assert len(RuleBoostingRegressor(1, loss=loss).fit(X, y).ensemble_) == 1


def test_there_and_back():
    scale = Scale(-600)
    result = SearchResult((0,), 2.0**-900, 2.0**-899, SearchStatus.NODE_LIMIT)
    state = State(SMALL, (np.array([True]),), (result,), (SMALL[:0], SMALL))
    scaled = state.divided_by(scale)
    assert scaled.results[0].objective_value == 2.0**300
    back = scaled.divided_by(scale.inverse)
    assert (back.ensemble, back.results, back.stages) == (SMALL, (result,), (SMALL[:0], SMALL))
    assert scale.numbers(np.array([2.0**-600])).tolist() == [1.0]
    assert scale.inverse.losses(np.array([1.0, 2.0**200])).tolist() == [0.0, 2.0**-1000]
    assert state.divided_by(Scale()) is state


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
    options = {"max_conditions": None, "max_thresholds": None}
    seen = []

    def end_at_once(progress):  # until then the search runs: it takes longer than the first call
        seen.append(progress.search)
        return True

    RuleBoostingRegressor(1, callback=end_at_once, **options).fit(X, scale * y)
    assert 0.01 * scale**2 < seen[0].bound < 100.0 * scale**2


def test_alternatives_do_not_depend_on_the_scale():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (120, 2))
    y = 2.0 * (X[:, 0] > 2) + 1.0 * (X[:, 1] > 2) + 0.1 * rng.normal(size=120)
    usual, small = (
        RuleBoostingRegressor(2, slopes=False, brevity=0.0)
        .fit(X, y * scale)
        .alternatives(1, X, y * scale, tolerance=0.3)
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
    model = RuleBoostingRegressor(1, warm_start=True, slopes=False).fit(X, 1e10 * y)
    query = model.ensemble_[0].query
    model.set_params(n_terms=2).fit(X, 1e-300 * y)
    assert model.ensemble_[0].query == query
    assert np.isfinite(model.predict(X)).all()
    given = Rule(model.ensemble_[0].query, 1e10)
    kept = RuleBoostingRegressor(1, strategy="stagewise", initial_terms=[given], slopes=False)
    assert kept.fit(X, 1e-300 * y).ensemble_[0] == given
