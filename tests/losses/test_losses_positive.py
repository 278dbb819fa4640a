"""Losses for counts, amounts and numbers that are far off; steps that never make a loss larger."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import d2_tweedie_score, mean_tweedie_deviance
from sklearn.model_selection import cross_validate

from estimators import forms
from laconic import RuleBoostingRegressor, RuleBoostingRegressorCV
from laconic.boosting.refit import guarded_step
from laconic.losses import (
    NAMED_LOSSES,
    GammaLoss,
    HuberLoss,
    PoissonLoss,
    SquaredLoss,
    TweedieLoss,
    get_loss,
    loss_settings,
    make_loss,
    optimal_constant,
)
from losses import PoissonLoss as OwnPoissonLoss

POSITIVE = [PoissonLoss(), GammaLoss(), TweedieLoss(), TweedieLoss(1.1), TweedieLoss(1.9)]
amounts = st.floats(0.01, 50)
reals = st.floats(-4, 4)


@pytest.mark.parametrize("loss", POSITIVE, ids=repr)
@given(y=amounts, raw_prediction=reals)
def test_derivatives_match_central_differences(loss, y, raw_prediction):
    y, raw, step = np.array([y]), np.array([raw_prediction]), 1e-5

    def difference(function):
        return (function(y, raw + step) - function(y, raw - step)) / (2 * step)

    assert_allclose(loss.gradients(y, raw), difference(loss.value), rtol=1e-5, atol=1e-5)
    assert_allclose(loss.hessians(y, raw), difference(loss.gradients), rtol=1e-5, atol=1e-5)
    assert loss.hessians(y, raw) > 0


@pytest.mark.parametrize("loss", POSITIVE, ids=repr)
def test_values_are_half_the_deviance_up_to_a_constant(loss):
    rng = np.random.default_rng(0)
    y, raw = rng.gamma(2.0, 3.0, 50), rng.normal(size=(2, 50))
    ours = [2 * loss.value(y, r).mean() for r in raw]
    theirs = [mean_tweedie_deviance(y, np.exp(r), power=loss.variance_power) for r in raw]
    assert_allclose(ours[0] - ours[1], theirs[0] - theirs[1])


@pytest.mark.parametrize("loss", POSITIVE, ids=repr)
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_the_starting_constant_is_the_true_minimiser(loss, scale):
    rng = np.random.default_rng(1)
    y, weights = scale * rng.gamma(0.5, 1.0, 40), rng.choice([1.0, 3.0], 40)
    constant = optimal_constant(loss, y, weights)
    assert_allclose(np.exp(constant), np.average(y, weights=weights))
    around = constant + np.array([-1e-3, 0.0, 1e-3])
    risks = [weights @ loss.value(y, np.full(40, each)) for each in around]
    assert np.argmin(risks) == 1


@given(distance=st.floats(-50, 50), step=st.floats(-50, 50))
def test_the_parabola_of_huber_lies_above_the_loss(distance, step):
    """So that steps by its hessians never make the loss larger."""
    loss, y, raw = HuberLoss(1.5), np.array([distance]), np.array([0.0])
    parabola = loss.value(y, raw) + loss.gradients(y, raw) * step
    parabola += loss.hessians(y, raw) * step**2 / 2
    assert loss.value(y, raw + step) <= parabola + 1e-9 * (1 + abs(parabola))


def test_huber_is_squared_within_delta_and_linear_beyond():
    loss, near, far = HuberLoss(2.0), np.array([1.0, -2.0]), np.array([10.0, -20.0])
    zeros = np.zeros(2)
    assert_allclose(loss.value(near, zeros), SquaredLoss().value(near, zeros))
    assert_allclose(loss.value(far, zeros), 4.0 * np.abs(far) - 4.0)
    assert_allclose(loss.gradients(far, zeros), [-4.0, 4.0])


def test_delta_is_where_nine_in_ten_targets_are():
    y = np.arange(101.0)
    loss = HuberLoss().for_target(y, None)
    assert loss.delta == 45.0
    assert HuberLoss(3.0).for_target(y, None) == HuberLoss(3.0)
    assert HuberLoss().for_target(np.full(5, 7.0), None) == HuberLoss(1.0)
    counts = np.random.default_rng(0).integers(0, 4, 101)
    repeated = HuberLoss().for_target(np.repeat(y, counts), None)
    assert HuberLoss().for_target(y[counts > 0], counts[counts > 0].astype(float)) == repeated


def test_outliers_do_not_move_a_model_of_huber():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (300, 3))
    clean = 3.0 * (X[:, 0] > 2)
    y = clean + np.where(rng.random(300) < 0.05, 500.0, 0.1 * rng.normal(size=300))
    errors = {
        loss: np.abs(RuleBoostingRegressor(3, loss=loss).fit(X, y).predict(X) - clean).mean()
        for loss in ("huber", "squared")
    }
    assert errors["huber"] < 0.1 * errors["squared"]


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        ("poisson", [1.0, -1.0, 2.0], r"must not be negative with loss='poisson'. Got -1.0 at row"),
        ("tweedie", [1.0, -1.0, 2.0], r"must not be negative with loss='tweedie'"),
        ("gamma", [1.0, 2.0, 0.0], r"must be positive with loss='gamma'. Got 0.0 at row 2"),
        ("poisson", [0.0, 0.0, 0.0], r"must have a positive sum with loss='poisson'"),
    ],
)
def test_targets_that_a_loss_is_not_for_are_refused(loss, y, message):
    with pytest.raises(ValueError, match=message):
        RuleBoostingRegressor(loss=loss).fit([[1], [2], [3]], y)


@pytest.mark.parametrize("loss", ["quantile", "pinball", "absolute_error"])
def test_quantiles_say_what_to_do_instead(loss):
    for make in (get_loss, lambda name: RuleBoostingRegressor(loss=name).fit([[1]], [1])):
        with pytest.raises(ValueError, match=r"has no curvature.*loss='huber'"):
            make(loss)


@pytest.mark.parametrize(
    "loss", [*NAMED_LOSSES.values(), TweedieLoss(1.2), HuberLoss(3.0)], ids=repr
)
def test_losses_are_made_again_from_their_settings(loss):
    assert make_loss(loss.name, loss_settings(loss)) == loss
    with pytest.raises(ValueError, match="settings of the loss"):
        make_loss(loss.name, {"other": 1.0})


@pytest.mark.parametrize("power", [1.0, 2.0, 0.0, float("nan")])
def test_tweedie_is_between_counts_and_amounts(power):
    with pytest.raises(ValueError, match="must be a number between 1 and 2"):
        TweedieLoss(power)


@pytest.mark.parametrize("delta", [0.0, -1.0, float("nan"), float("inf")])
def test_delta_is_positive(delta):
    with pytest.raises(ValueError, match="must be a positive number or None"):
        HuberLoss(delta)


def counts_table(seed, n_rows=300):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n_rows, 4)).astype(float)
    exposure = rng.uniform(0.2, 3.0, n_rows)
    rate = np.exp(0.2 + 1.2 * (X[:, 0] > 3) - 0.8 * ((X[:, 1] > 2) & (X[:, 2] <= 3)))
    return X, rng.poisson(rate * exposure).astype(float), exposure


class OffsetPoissonLoss(OwnPoissonLoss):
    """Counts over some exposure, which is known row by row."""

    def __init__(self, exposure):
        self.exposure = exposure

    def value(self, y, raw):
        return super().value(y, raw + np.log(self.exposure))

    def gradients(self, y, raw):
        return super().gradients(y, raw + np.log(self.exposure))

    def hessians(self, y, raw):
        return super().hessians(y, raw + np.log(self.exposure))


@pytest.mark.parametrize("strategy", ["stagewise", "joint"])
def test_an_exposure_is_an_offset_of_the_poisson_loss(strategy):
    X, y, exposure = counts_table(3)
    settings = {"n_terms": 5, "strategy": strategy, "l2_regularization": 3.0}
    model = RuleBoostingRegressor(loss="poisson", **settings).fit(X, y, exposure=exposure)
    other = RuleBoostingRegressor(loss=OffsetPoissonLoss(exposure), **settings).fit(X, y)
    assert forms(model) == forms(other)
    weights = [[rule.weight for rule in each.ensemble_] for each in (model, other)]
    assert_allclose(*weights, rtol=1e-9)
    assert_allclose(model.ensemble_.intercept, other.ensemble_.intercept, rtol=1e-9)
    # Predictions are rates: the balance property says that counts are met in total.
    start = RuleBoostingRegressor(1, loss="poisson").fit(X * 0, y, None, exposure)
    assert_allclose((start.predict(X * 0) * exposure).sum(), y.sum())


def test_exposure_is_the_same_as_rates_with_weights():
    X, y, exposure = counts_table(4)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
    ours = RuleBoostingRegressorCV(4, loss="poisson").fit(X, y, weights, exposure)
    theirs = RuleBoostingRegressorCV(4, loss="poisson").fit(X, y / exposure, weights * exposure)
    assert ours.ensemble_ == theirs.ensemble_
    assert_allclose(ours.cv_results_["mean_loss"], theirs.cv_results_["mean_loss"])


def test_scores_are_about_rates_where_there_is_an_exposure():
    X, y, exposure = counts_table(4)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
    model = RuleBoostingRegressor(4, loss="poisson").fit(X, y, weights, exposure)
    rates = d2_tweedie_score(
        y / exposure, model.predict(X), sample_weight=weights * exposure, power=1
    )
    assert model.score(X, y, weights, exposure) == pytest.approx(rates)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sample_weight=True, exposure=True)
        model.set_score_request(sample_weight=True, exposure=True)
        params = {"sample_weight": weights, "exposure": exposure}
        everything = [(np.arange(len(y)), np.arange(len(y)))]
        found = cross_validate(model, X, y, params=params, cv=everything)
    assert found["test_score"] == pytest.approx([rates])


def test_exposures_are_checked():
    X, y, exposure = counts_table(5)
    with pytest.raises(ValueError, match="needs a loss with a logarithmic link"):
        RuleBoostingRegressor().fit(X, y, exposure=exposure)
    exposure[7] = 0.0
    with pytest.raises(ValueError, match=r"must be positive in every row. Got 0.0 at row 7"):
        RuleBoostingRegressor(loss="poisson").fit(X, y, exposure=exposure)


def test_score_is_the_share_of_the_deviance():
    X, y, exposure = counts_table(6)
    model = RuleBoostingRegressor(5, loss="poisson").fit(X, y, exposure=exposure)
    score = d2_tweedie_score(y / exposure, model.predict(X), sample_weight=exposure, power=1)
    assert_allclose(model.score(X, y / exposure, exposure), score)
    assert [metric.name for metric in model.task_.metrics] == ["d2", "deviance", "mae"]
    assert model.task_.deciding_metrics[0] == "deviance"


def test_texts_speak_of_factors():
    X, y, _ = counts_table(7)
    model = RuleBoostingRegressor(1, loss="poisson").fit(X, y)
    assert str(model).startswith("Logarithm of the expected count, 1 rule")
    assert model.task_.effect(np.log(1.5)) == "multiplies the expected count by 1.5"
    assert model.task_.effect(-np.log(2)) == "divides the expected count by 2"
    assert model.task_.weights_sentence == "Weights add up to the logarithm of the expected count."


def test_warm_start_keeps_the_scale():
    X, y, _ = counts_table(8)
    model = RuleBoostingRegressor(1, loss="poisson", warm_start=True).fit(X, y)
    model.set_params(n_terms=2).fit(X, y)
    assert len(model.ensemble_) == 2
    with pytest.raises(ValueError, match="the scale of the raw predictions must stay the same"):
        model.set_params(loss="squared").fit(X, y)


def staged_risks(model, X, y, penalty):
    """Loss, with the penalty if it counts, of the model with 0, 1, 2, ... rules."""
    for stage in model.stages_:
        decay = penalty * sum(rule.weight**2 for rule in stage) / 2
        yield model.loss_.value(y, stage.raw_predictions(X)).sum() + decay


def test_a_full_step_that_made_the_loss_sixteen_times_worse_is_halved():
    """Counts far from 1 without an intercept: slope and curvature at 0 ask for a huge weight."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat([0.0, 1.0], 50), rng.integers(0, 3, 100)])
    y = rng.poisson(np.where(X[:, 0] > rng.random(100) / 0.9, 60.0, 1.0)).astype(float)
    model = RuleBoostingRegressor(
        3, loss=OwnPoissonLoss(), strategy="stagewise", fit_intercept=False, l2_regularization=1.0
    ).fit(X, y)
    risks = list(staged_risks(model, X, y, 0.0))
    assert (np.diff(risks) < 0).all()
    assert model.search_results_[0].is_optimal
    n_halvings = model.search_results_[0].n_halvings
    assert n_halvings >= 3
    assert f"proven optimal, step halved {n_halvings} times" in model._rules_html()
    # So are those of given terms.
    begun = clone(model).set_params(initial_terms=["x0 > 0"]).fit(X, y)
    assert begun.search_results_[0].status == "given"
    assert (np.diff([*staged_risks(begun, X, y, 0.0)]) < 0).all()


@pytest.mark.parametrize("loss", [*POSITIVE[:3], OwnPoissonLoss(), HuberLoss()], ids=repr)
@pytest.mark.parametrize("strategy", ["stagewise", "joint"])
def test_no_rule_makes_the_training_loss_larger(loss, strategy):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (40, 3)).astype(float)
        y = rng.gamma(0.3, 10.0 ** rng.uniform(-2, 4), 40) + 1e-9
        model = RuleBoostingRegressor(
            6,
            loss=loss,
            strategy=strategy,
            fit_intercept=bool(seed % 2),
            l2_regularization=10.0 ** rng.uniform(-6, 1),
        ).fit(X, y)
        penalty = model.l2_regularization_
        risks = np.array([*staged_risks(model, X, y, penalty)])
        assert (np.diff(risks) <= 1e-9 * np.abs(risks).max()).all()
        if strategy == "stagewise":
            losses = np.array([*staged_risks(model, X, y, 0.0)])
            assert (np.diff(losses) <= 1e-9 * np.abs(losses).max()).all()


def test_a_step_that_nothing_is_left_of_has_no_weight():
    class Rising(OwnPoissonLoss):
        def value(self, y, raw_predictions):
            return 1.0 + np.abs(raw_predictions)

    covered = np.array([True, False])
    weight, _ = guarded_step(4.0, covered, np.ones(2), np.zeros(2), Rising(), 0.0)
    assert abs(weight) < 1e-14
