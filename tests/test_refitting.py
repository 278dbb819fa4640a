"""Weights of all rules at once: they are the best ones, whatever the loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from laconic.losses import LogisticLoss, SquaredLoss, optimal_constant
from laconic.refitting import refit
from laconic.search import OtherRules
from losses import PoissonLoss

LOSSES = {"squared": SquaredLoss(), "logistic": LogisticLoss(), "poisson": PoissonLoss()}


class FourthPower:
    """Flat at its minimum, so that Newton's method is slow."""

    def value(self, y, raw_predictions):
        return (y - raw_predictions) ** 4

    def gradients(self, y, raw_predictions):
        return 4 * (raw_predictions - y) ** 3

    def hessians(self, y, raw_predictions):
        return 12 * (raw_predictions - y) ** 2

    def inverse_link(self, raw_predictions):
        return raw_predictions


def random_case(seed, loss_name, *, penalty=None):
    rng = np.random.default_rng(seed)
    n_rows, n_rules = int(rng.integers(2, 80)), int(rng.integers(0, 9))
    covered = rng.random((n_rules, n_rows)) < rng.random((n_rules, 1))
    penalties = np.full(n_rules, rng.choice([0.1, 1.0, 30.0]) if penalty is None else penalty)
    if rng.random() < 0.5:
        covered = np.vstack([covered, np.ones(n_rows, dtype=bool)])
        penalties = np.append(penalties, 0.0)
    if loss_name == "logistic":
        y = rng.choice([-1.0, 1.0], n_rows)
        y[:2] = -1.0, 1.0
    elif loss_name == "poisson":
        y = rng.poisson(5.0, n_rows).astype(float)
        y[0] = 3.0
    else:
        y = rng.normal(3, 10, n_rows)
    weights = rng.choice([0.5, 1.0, 3.3], n_rows) if rng.random() < 0.5 else None
    return OtherRules(covered, penalties), y, weights, rng


def risk(weights, rules, y, loss, sample_weight, offset=0.0):
    values = loss.value(y, offset + weights @ rules.covered)
    values = values if sample_weight is None else sample_weight * values
    return values.sum() + rules.penalties @ weights**2 / 2


def slopes_and_pulls(weights, rules, y, loss, sample_weight, offset=0.0):
    gradients = loss.gradients(y, offset + weights @ rules.covered)
    gradients = gradients if sample_weight is None else sample_weight * gradients
    slopes = rules.covered @ gradients + rules.penalties * weights
    return slopes, rules.covered @ np.abs(gradients) + rules.penalties * np.abs(weights)


@pytest.mark.parametrize("loss_name", LOSSES)
@pytest.mark.parametrize("seed", range(40))
def test_slopes_vanish_and_the_risk_is_lowest(seed, loss_name):
    rules, y, sample_weight, rng = random_case(seed, loss_name)
    loss = LOSSES[loss_name]
    start = rng.normal(size=len(rules.penalties))
    weights = refit(rules, y, loss, start, sample_weight=sample_weight).weights
    arguments = (rules, y, loss, sample_weight)
    slopes, pulls = slopes_and_pulls(weights, *arguments)
    assert np.all(np.abs(slopes) <= 1e-13 * (pulls + 1))
    lowest = risk(weights, *arguments)
    assert lowest <= risk(start, *arguments) * (1 + 1e-14)
    for _ in range(20):
        elsewhere = weights + rng.normal(scale=rng.choice([1e-3, 1.0]), size=len(weights))
        assert lowest <= risk(elsewhere, *arguments) + 1e-12 * abs(lowest)
    if len(weights) > 0:
        found = minimize(lambda w: risk(w, *arguments), start)
        assert lowest <= found.fun + 1e-9 * abs(found.fun)


@pytest.mark.parametrize("loss_name", LOSSES)
def test_one_rule_that_covers_all_is_the_best_constant(loss_name):
    for seed in range(10):
        _, y, sample_weight, _ = random_case(seed, loss_name)
        rules = OtherRules(np.ones((1, len(y)), dtype=bool), np.zeros(1))
        loss = LOSSES[loss_name]
        weights = refit(rules, y, loss, np.zeros(1), sample_weight=sample_weight).weights
        assert_allclose(weights[0], optimal_constant(loss, y, sample_weight), rtol=1e-12)


def test_single_weight_is_that_of_a_stagewise_round():
    y = np.array([1.0, 2.0, 6.0])
    rules = OtherRules(np.array([[True, True, False]]), np.array([0.5]))
    weights = refit(rules, y, SquaredLoss(), np.zeros(1)).weights
    gradients, hessians = -2 * y, np.full(3, 2.0)
    assert_allclose(weights, -gradients[:2].sum() / (0.5 + hessians[:2].sum()))


@pytest.mark.parametrize("loss_name", LOSSES)
def test_rules_that_are_there_twice(loss_name):
    for seed in range(10):
        rules, y, sample_weight, _ = random_case(seed, loss_name, penalty=1.0)
        twice = OtherRules(
            np.vstack([rules.covered, rules.covered]),
            np.concatenate([2 * rules.penalties, 2 * rules.penalties]),
        )
        n_rules, loss = len(rules.penalties), LOSSES[loss_name]
        once = refit(rules, y, loss, np.zeros(n_rules), sample_weight=sample_weight).weights
        both = refit(twice, y, loss, np.zeros(2 * n_rules), sample_weight=sample_weight).weights
        assert_allclose(both[:n_rules] + both[n_rules:], once, rtol=1e-6, atol=1e-9)


def test_duplicates_without_penalty_share_their_weight():
    covered = np.array([[True, True, False]] * 2 + [[False, False, True]])
    rules = OtherRules(covered, np.zeros(3))
    weights = refit(rules, np.array([3.0, 5.0, 7.0]), SquaredLoss(), np.zeros(3)).weights
    assert_allclose(weights, [2.0, 2.0, 7.0])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_single_class_gives_finite_weights(sign):
    covered = np.array([[True, True, False, False], [True, True, True, True]])
    y = np.full(4, sign)
    rules = OtherRules(covered, np.zeros(2))
    weights = refit(rules, y, LogisticLoss(), np.zeros(2)).weights
    assert np.isfinite(weights).all()
    assert np.all(sign * (weights @ covered) > 20)


def test_a_pure_rule_does_not_keep_others_from_converging():
    covered = np.array([[True, True, False, False, False], [False, True, True, True, True]])
    y = np.array([1.0, 1.0, -1.0, 1.0, -1.0])
    weights = refit(OtherRules(covered, np.zeros(2)), y, LogisticLoss(), np.zeros(2)).weights
    assert np.isfinite(weights).all()
    assert_allclose(weights[1], -np.log(2), rtol=1e-6)


def test_flat_minimum():
    rules = OtherRules(np.array([[True, True, False], [False, True, True]]), np.zeros(2))
    weights = refit(rules, np.array([1.0, 5.0, 4.0]), FourthPower(), np.zeros(2)).weights
    assert_allclose(weights, [1.0, 4.0], atol=1e-3)


def test_steps_too_far_are_halved():
    """From a large negative score, Newton's step for counts would overflow."""
    rules = OtherRules(np.ones((1, 3), dtype=bool), np.zeros(1))
    y = np.array([1e6, 2e6, 3e6])
    for start in (-20.0, 0.0, 30.0):
        weights = refit(rules, y, PoissonLoss(), np.array([start])).weights
        assert_allclose(weights, np.log(2e6), rtol=1e-12)


def test_rules_without_rows_keep_their_weight():
    covered = np.array([[False, False], [True, False]])
    y = np.array([3.0, 1.0])
    rules = OtherRules(covered, np.zeros(2))
    weights = refit(rules, y, SquaredLoss(), np.array([7.0, 0.0])).weights
    assert_allclose(weights, [7.0, 3.0])


@pytest.mark.parametrize("seed", [*range(20), 28, 42, 63, 64, 77, 84])
def test_a_rule_without_rows_does_not_keep_others_from_converging(seed):
    rules, y, sample_weight, _ = random_case(seed, "logistic")
    covered = np.vstack([rules.covered, np.zeros((1, len(y)), dtype=bool)])
    rules = OtherRules(covered, np.append(rules.penalties, 3.0))
    start = np.zeros(len(covered))
    weights = refit(rules, y, LogisticLoss(), start, sample_weight=sample_weight).weights
    slopes, pulls = slopes_and_pulls(weights, rules, y, LogisticLoss(), sample_weight)
    assert np.all(np.abs(slopes) <= 1e-13 * (pulls + 1))


def test_offset_is_not_refitted():
    rules = OtherRules(np.array([[True, False]]), np.zeros(1))
    weights = refit(rules, np.array([3.0, 9.0]), SquaredLoss(), np.zeros(1), offset=1.0).weights
    assert_allclose(weights, [2.0])


def test_no_rules():
    rules = OtherRules(np.empty((0, 2), dtype=bool), np.empty(0))
    weights = refit(rules, np.array([3.0, 9.0]), SquaredLoss(), np.zeros(0)).weights
    assert weights.shape == (0,)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_many_rows_keep_their_digits(shift):
    rng = np.random.default_rng(0)
    n_rows = 100_000
    covered = np.vstack([rng.random((9, n_rows)) < 0.4, np.ones(n_rows, dtype=bool)])
    y = shift + covered[:3].sum(axis=0) + rng.normal(size=n_rows)
    rules = OtherRules(covered, np.append(np.full(9, 30.0), 0.0))
    weights = refit(rules, y, SquaredLoss(), np.zeros(10)).weights
    slopes, pulls = slopes_and_pulls(weights, rules, y, SquaredLoss(), None)
    scale = 2 * n_rows * (shift + 1)
    assert np.all(np.abs(slopes) <= 1e-13 * np.maximum(pulls, scale))


@pytest.mark.parametrize("start", [-60.0, 45.0, 50.0, 745.0, 1e4, 1e12])
def test_weights_come_back_from_where_the_loss_is_all_but_linear(start):
    rules = OtherRules(np.ones((1, 2), dtype=bool), np.zeros(1))
    y = np.array([1.0, -1.0])
    weights = refit(rules, y, LogisticLoss(), np.array([start])).weights
    assert weights == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()], ids=["squared", "logistic"])
def test_weights_keep_their_signs_and_are_the_best_such_weights(loss):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n_rules = int(rng.integers(1, 7))
        covered = rng.random((n_rules, 40)) < 0.5
        covered[0] = True
        penalties = rng.choice([0.01, 1.0, 5.0], n_rules)
        rules = OtherRules(covered, penalties)
        y = rng.normal(size=40) if isinstance(loss, SquaredLoss) else rng.choice([-1.0, 1.0], 40)
        signs = rng.choice([-1, 0, 1], n_rules)
        weights = refit(rules, y, loss, rng.normal(size=n_rules), signs=signs).weights
        assert (weights * signs >= 0).all()
        # No feasible direction leads downhill: slopes are 0, or pull to the wrong side of 0.
        slopes = covered @ loss.gradients(y, weights @ covered) + penalties * weights
        scale = np.abs(covered @ loss.gradients(y, np.zeros(40))).max() + 1.0
        is_held = (weights == 0.0) & (slopes * signs > 0.0)
        assert np.abs(slopes[~is_held]).max(initial=0.0) < 1e-9 * scale, (seed, slopes, weights)
        free = refit(rules, y, loss, np.zeros(n_rules)).weights
        if (free * signs >= 0).all():
            assert_allclose(weights, free, atol=1e-8)


def test_no_signs_are_as_good_as_none():
    rng = np.random.default_rng(0)
    rules = OtherRules(rng.random((3, 20)) < 0.5, np.ones(3))
    y = rng.normal(size=20)
    free = refit(rules, y, SquaredLoss(), np.zeros(3)).weights
    zeros = refit(rules, y, SquaredLoss(), np.zeros(3), signs=np.zeros(3, dtype=int)).weights
    assert (free == zeros).all()
