"""Weights of all rules at once: they are the best ones, whatever the loss."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rounds import fit_weights, penalised_loss
from scipy.optimize import minimize

from laconic.losses import LogisticLoss, SquaredLoss, optimal_constant
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


class Case(NamedTuple):
    """Rules, and what they are fitted to."""

    covered: np.ndarray
    y: np.ndarray
    loss: Any
    options: dict[str, Any]

    def fit(self, start=None, **options):
        return fit_weights(*self[:3], start, **self.options | options)

    def risk(self, weights):
        return penalised_loss(weights, *self[:3], **self.options)

    def slopes_and_pulls(self, weights):
        rows, penalties = self.covered, np.full(len(self.covered), self.options["penalty"])
        if self.options["fit_intercept"]:
            rows = np.vstack([rows, np.ones((1, len(self.y)), dtype=bool)])
            penalties = np.append(penalties, 0.0)
        gradients = self.loss.gradients(self.y, weights @ rows)
        if self.options["sample_weight"] is not None:
            gradients = self.options["sample_weight"] * gradients
        slopes = rows @ gradients + penalties * weights
        return slopes, rows @ np.abs(gradients) + penalties * np.abs(weights)


def random_case(seed, loss_name):
    rng = np.random.default_rng(seed)
    n_rows, n_terms = int(rng.integers(2, 80)), int(rng.integers(0, 9))
    covered = rng.random((n_terms, n_rows)) < rng.random((n_terms, 1))
    options = {"penalty": rng.choice([0.1, 1.0, 30.0]), "fit_intercept": rng.random() < 0.5}
    if loss_name == "logistic":
        y = rng.choice([-1.0, 1.0], n_rows)
        y[:2] = -1.0, 1.0
    elif loss_name == "poisson":
        y = rng.poisson(5.0, n_rows).astype(float)
        y[0] = 3.0
    else:
        y = rng.normal(3, 10, n_rows)
    options["sample_weight"] = rng.choice([0.5, 1.0, 3.3], n_rows) if rng.random() < 0.5 else None
    return Case(covered, y, LOSSES[loss_name], options), rng


@pytest.mark.parametrize("loss_name", LOSSES)
@pytest.mark.parametrize("seed", range(40))
def test_slopes_vanish_and_the_risk_is_lowest(seed, loss_name):
    case, rng = random_case(seed, loss_name)
    is_fitted = case.options["fit_intercept"]
    start = rng.normal(size=len(case.covered) + is_fitted)
    weights = case.fit(start[: len(case.covered)], intercept=start[-1] if is_fitted else 0.0)
    slopes, pulls = case.slopes_and_pulls(weights)
    assert np.all(np.abs(slopes) <= 1e-13 * (pulls + 1))
    lowest = case.risk(weights)
    assert lowest <= case.risk(start) * (1 + 1e-14)
    for _ in range(20):
        elsewhere = weights + rng.normal(scale=rng.choice([1e-3, 1.0]), size=len(weights))
        assert lowest <= case.risk(elsewhere) + 1e-12 * abs(lowest)
    if len(weights) > 0:
        found = minimize(case.risk, start)
        assert lowest <= found.fun + 1e-9 * abs(found.fun)


@pytest.mark.parametrize("loss_name", LOSSES)
def test_an_intercept_alone_is_the_best_constant(loss_name):
    for seed in range(10):
        case, _ = random_case(seed, loss_name)
        [constant] = case._replace(covered=case.covered[:0]).fit(fit_intercept=True)
        sample_weight = case.options["sample_weight"]
        assert_allclose(constant, optimal_constant(case.loss, case.y, sample_weight), rtol=1e-12)


def test_single_weight_is_that_of_a_stagewise_round():
    y = np.array([1.0, 2.0, 6.0])
    weights = fit_weights([[True, True, False]], y, SquaredLoss(), penalty=0.5)
    gradients, hessians = -2 * y, np.full(3, 2.0)
    assert_allclose(weights, -gradients[:2].sum() / (0.5 + hessians[:2].sum()))


@pytest.mark.parametrize("loss_name", LOSSES)
def test_rules_that_are_there_twice(loss_name):
    for seed in range(10):
        case, _ = random_case(seed, loss_name)
        n_terms = len(case.covered)
        once = case.fit(penalty=1.0)
        both = case._replace(covered=np.vstack([case.covered, case.covered])).fit(penalty=2.0)
        sums = both[:n_terms] + both[n_terms : 2 * n_terms]
        assert_allclose([*sums, *both[2 * n_terms :]], once, rtol=1e-6, atol=1e-9)


def test_duplicates_without_penalty_share_their_weight():
    covered = [[True, True, False], [True, True, False], [False, False, True]]
    weights = fit_weights(covered, np.array([3.0, 5.0, 7.0]), SquaredLoss())
    assert_allclose(weights, [2.0, 2.0, 7.0])


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_single_class_gives_finite_weights(sign, fit_intercept):
    covered = np.array([[True, True, False, False], [True, True, True, True]])
    rules = covered[:1] if fit_intercept else covered
    weights = fit_weights(rules, np.full(4, sign), LogisticLoss(), fit_intercept=fit_intercept)
    assert np.isfinite(weights).all()
    assert np.all(sign * (weights @ covered) > 20)


def test_a_pure_rule_does_not_keep_others_from_converging():
    covered = [[True, True, False, False, False], [False, True, True, True, True]]
    y = np.array([1.0, 1.0, -1.0, 1.0, -1.0])
    weights = fit_weights(covered, y, LogisticLoss())
    assert np.isfinite(weights).all()
    assert_allclose(weights[1], -np.log(2), rtol=1e-6)


def test_flat_minimum():
    covered = [[True, True, False], [False, True, True]]
    weights = fit_weights(covered, np.array([1.0, 5.0, 4.0]), FourthPower())
    assert_allclose(weights, [1.0, 4.0], atol=1e-3)


def test_steps_too_far_are_halved():
    """From a large negative score, Newton's step for counts would overflow."""
    y = np.array([1e6, 2e6, 3e6])
    for start in (-20.0, 0.0, 30.0):
        weights = fit_weights([], y, PoissonLoss(), intercept=start, fit_intercept=True)
        assert_allclose(weights, np.log(2e6), rtol=1e-12)


def test_rules_without_rows_keep_their_weight():
    covered = [[False, False], [True, False]]
    weights = fit_weights(covered, np.array([3.0, 1.0]), SquaredLoss(), [7.0, 0.0])
    assert_allclose(weights, [7.0, 3.0])


@pytest.mark.parametrize("seed", [*range(20), 28, 42, 63, 64, 77, 84])
def test_a_rule_without_rows_does_not_keep_others_from_converging(seed):
    case, _ = random_case(seed, "logistic")
    empty = np.zeros((1, len(case.y)), dtype=bool)
    case = case._replace(covered=np.vstack([case.covered, empty]))
    slopes, pulls = case.slopes_and_pulls(case.fit())
    assert np.all(np.abs(slopes) <= 1e-13 * (pulls + 1))


def test_an_intercept_that_is_not_refitted_counts():
    weights = fit_weights([[True, False]], np.array([3.0, 9.0]), SquaredLoss(), intercept=1.0)
    assert_allclose(weights, [2.0])


def test_no_rules():
    weights = fit_weights([], np.array([3.0, 9.0]), SquaredLoss())
    assert weights.shape == (0,)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_many_rows_keep_their_digits(shift):
    rng = np.random.default_rng(0)
    n_rows = 100_000
    covered = rng.random((9, n_rows)) < 0.4
    y = shift + covered[:3].sum(axis=0) + rng.normal(size=n_rows)
    options = {"penalty": 30.0, "fit_intercept": True, "sample_weight": None}
    case = Case(covered, y, SquaredLoss(), options)
    slopes, pulls = case.slopes_and_pulls(case.fit())
    scale = 2 * n_rows * (shift + 1)
    assert np.all(np.abs(slopes) <= 1e-13 * np.maximum(pulls, scale))


@pytest.mark.parametrize("start", [-60.0, 45.0, 50.0, 745.0, 1e4, 1e12])
def test_weights_come_back_from_where_the_loss_is_all_but_linear(start):
    y = np.array([1.0, -1.0])
    weights = fit_weights([[True, True]], y, LogisticLoss(), [start])
    assert weights == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()], ids=["squared", "logistic"])
def test_weights_keep_their_signs_and_are_the_best_such_weights(loss):
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n_terms = int(rng.integers(1, 7))
        covered = rng.random((n_terms, 40)) < 0.5
        covered[0] = True
        penalty = rng.choice([0.01, 1.0, 5.0])
        y = rng.normal(size=40) if isinstance(loss, SquaredLoss) else rng.choice([-1.0, 1.0], 40)
        signs = rng.choice([-1, 0, 1], n_terms)
        start = rng.normal(size=n_terms)
        weights = fit_weights(covered, y, loss, start, penalty=penalty, signs=signs)
        assert (weights * signs >= 0).all()
        # No feasible direction leads downhill: slopes are 0, or pull to the wrong side of 0.
        slopes = covered @ loss.gradients(y, weights @ covered) + penalty * weights
        scale = np.abs(covered @ loss.gradients(y, np.zeros(40))).max() + 1.0
        is_held = (weights == 0.0) & (slopes * signs > 0.0)
        assert np.abs(slopes[~is_held]).max(initial=0.0) < 1e-9 * scale, (seed, slopes, weights)
        free = fit_weights(covered, y, loss, penalty=penalty)
        if (free * signs >= 0).all():
            assert_allclose(weights, free, atol=1e-8)


def test_no_signs_are_as_good_as_none():
    rng = np.random.default_rng(0)
    rules, y = rng.random((3, 20)) < 0.5, rng.normal(size=20)
    free = fit_weights(rules, y, SquaredLoss(), penalty=1.0)
    zeros = fit_weights(rules, y, SquaredLoss(), penalty=1.0, signs=np.zeros(3, dtype=int))
    assert (free == zeros).all()
