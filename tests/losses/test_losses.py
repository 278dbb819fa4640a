"""Losses: derivatives against differences, behaviour far out, and the best constant."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.losses import LogisticLoss, Loss, SquaredLoss, get_loss, mean_hessian, optimal_constant
from losses import PoissonLoss

LOSSES = [LogisticLoss(), SquaredLoss()]

reals = st.floats(-20, 20)
signs = st.sampled_from([-1, 1])


class LogCoshLoss(PoissonLoss):
    """log(cosh(f - y)): its hessians round to 0 from a distance of 20 on."""

    def gradients(self, y, raw_predictions):
        return np.tanh(raw_predictions - y)

    def hessians(self, y, raw_predictions):
        return 1 - np.tanh(raw_predictions - y) ** 2


class QuarticLoss(PoissonLoss):
    """(f - y)^4: flat at its minimum, so that Newton's method converges slowly."""

    def gradients(self, y, raw_predictions):
        return 4 * (raw_predictions - y) ** 3

    def hessians(self, y, raw_predictions):
        return 12 * (raw_predictions - y) ** 2


def targets_for(loss):
    return signs if isinstance(loss, LogisticLoss) else reals


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(data=st.data())
def test_derivatives_match_central_differences(loss, data):
    y = np.array([data.draw(targets_for(loss))])
    raw_predictions = np.array([data.draw(reals)])
    step = 1e-5

    def difference(function):
        ahead, behind = function(y, raw_predictions + step), function(y, raw_predictions - step)
        return (ahead - behind) / (2 * step)

    np.testing.assert_allclose(
        loss.gradients(y, raw_predictions), difference(loss.value), rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(
        loss.hessians(y, raw_predictions), difference(loss.gradients), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(data=st.data())
def test_loss_is_convex_and_not_negative(loss, data):
    y = np.array([data.draw(targets_for(loss))])
    raw_predictions = np.array([data.draw(st.floats(-1e4, 1e4))])
    assert loss.value(y, raw_predictions) >= 0
    assert loss.hessians(y, raw_predictions) >= 0


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_results_are_float64_of_the_rows_shape(loss):
    y, raw_predictions = np.array([1, -1, 1]), np.array([0.0, 2.0, -3.0])
    for result in (
        loss.value(y, raw_predictions),
        loss.gradients(y, raw_predictions),
        loss.hessians(y, raw_predictions),
        loss.inverse_link(raw_predictions),
    ):
        assert result.dtype == np.float64
        assert result.shape == (3,)


def test_squared_loss_is_not_halved():
    y, raw_predictions = np.array([5.0]), np.array([2.0])
    assert SquaredLoss().value(y, raw_predictions) == 9
    assert SquaredLoss().gradients(y, raw_predictions) == -6
    assert SquaredLoss().hessians(y, raw_predictions) == 2
    assert SquaredLoss().inverse_link(raw_predictions) == 2


def test_logistic_loss_far_out():
    loss = LogisticLoss()
    y = np.array([1, 1, -1, -1])
    raw_predictions = np.array([1e4, -1e4, 1e4, -1e4])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        np.testing.assert_array_equal(loss.value(y, raw_predictions), [0, 1e4, 1e4, 0])
        np.testing.assert_array_equal(loss.gradients(y, raw_predictions), [0, -1, 1, 0])
        np.testing.assert_array_equal(loss.hessians(y, raw_predictions), [0, 0, 0, 0])
        np.testing.assert_array_equal(loss.inverse_link(raw_predictions), [1, 0, 1, 0])


@pytest.mark.parametrize("raw_prediction", [40.0, 300.0, -40.0, -300.0])
def test_logistic_derivatives_keep_their_digits_in_the_tails(raw_prediction):
    """Where the probability rounds to 1, the small derivative is still exact."""
    y, raw_predictions = np.array([np.sign(raw_prediction)]), np.array([raw_prediction])
    tail = np.exp(-abs(raw_prediction))
    loss = LogisticLoss()
    np.testing.assert_allclose(loss.value(y, raw_predictions), tail, rtol=1e-14)
    np.testing.assert_allclose(loss.gradients(y, raw_predictions), -y * tail, rtol=1e-14)
    np.testing.assert_allclose(loss.hessians(y, raw_predictions), tail, rtol=1e-14)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_are_stateless_values(loss):
    assert isinstance(loss, Loss)
    assert loss == type(loss)()
    assert hash(loss) == hash(type(loss)())
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.scale = 2.0


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_get_loss_by_name_and_by_object(loss):
    assert get_loss(loss.name) == loss
    assert get_loss(loss) is loss


def test_get_loss_accepts_a_users_loss():
    loss = PoissonLoss()
    assert isinstance(loss, Loss)
    assert get_loss(loss) is loss


def test_get_loss_refuses_an_unknown_name():
    message = (
        r"'loss' must be one of 'logistic', 'multinomial', 'squared', 'poisson', 'gamma', "
        r"'tweedie', 'huber' or an object with the methods value, gradients, hessians, "
        r"inverse_link\. Got 'hinge' instead\."
    )
    with pytest.raises(ValueError, match=message):
        get_loss("hinge")


def test_get_loss_refuses_a_class():
    with pytest.raises(TypeError, match=r"the class SquaredLoss .* Pass an instance: Squ.*\(\)\."):
        get_loss(SquaredLoss)


def test_get_loss_names_the_missing_methods():
    class Half:
        hessians = None

        def value(self, y, raw_predictions): ...

        def inverse_link(self, raw_predictions): ...

    with pytest.raises(TypeError, match=r"which lacks gradients, hessians\. Add"):
        get_loss(Half())
    with pytest.raises(TypeError, match=r"Got None, which lacks value, gradients"):
        get_loss(None)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_optimal_constant_of_squared_loss_is_the_mean(y):
    y = np.array(y)
    scale = np.abs(y).mean()
    constant = optimal_constant(SquaredLoss(), y)
    np.testing.assert_allclose(constant, y.mean(), rtol=1e-12, atol=1e-14 * scale)


def test_optimal_constant_of_squared_loss_far_from_zero():
    y = 1e12 + np.arange(5.0)
    assert optimal_constant(SquaredLoss(), y) == pytest.approx(1e12 + 2, rel=1e-15)


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_optimal_constant_of_logistic_loss_is_the_log_odds(n_positive, n_negative):
    y = np.repeat([1, -1], [n_positive, n_negative])
    constant = optimal_constant(LogisticLoss(), y)
    assert constant == pytest.approx(np.log(n_positive / n_negative), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize("rare", [1, -1])
def test_optimal_constant_of_very_unbalanced_classes(share, rare):
    constant = optimal_constant(LogisticLoss(), np.array([rare, -rare]), np.array([share, 1.0]))
    assert constant == pytest.approx(rare * np.log(share), rel=1e-12)


@pytest.mark.parametrize("label", [1, -1])
def test_optimal_constant_of_a_single_class_is_finite(label):
    y = np.full(5, label)
    constant = optimal_constant(LogisticLoss(), y)
    assert 30 < label * constant < 50
    absent = np.append(y, -label)
    weights = np.append(np.ones(5), 0.0)
    assert optimal_constant(LogisticLoss(), absent, weights) == pytest.approx(constant)


@pytest.mark.parametrize("loss", [*LOSSES, PoissonLoss()], ids=lambda loss: type(loss).__name__)
@given(repeats=st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(lambda r: min(r[:2]) > 0))
def test_a_weight_counts_like_repeated_rows(loss, repeats):
    y = np.array([1, -1, 1, -1]) if isinstance(loss, LogisticLoss) else np.array([1, 4, 2, 0])
    weighted = optimal_constant(loss, y, np.array(repeats, dtype=float))
    assert weighted == pytest.approx(
        optimal_constant(loss, np.repeat(y, repeats)), rel=1e-12, abs=1e-14
    )


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_only_the_proportions_of_weights_matter(loss):
    y, weights = np.array([1, -1, 1]), np.array([0.2, 0.5, 0.9])
    expected = optimal_constant(loss, y, weights)
    for scale in (1e-200, 1e200):
        assert optimal_constant(loss, y, scale * weights) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("mean", [1e-9, 0.5, 1.0, 1e5, 1e12])
def test_optimal_constant_does_not_overflow(mean):
    constant = optimal_constant(PoissonLoss(), np.array([mean / 2, 3 * mean / 2]))
    assert constant == pytest.approx(np.log(mean), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("target", [-1000.0, 0.0, 3.0, 1000.0])
def test_optimal_constant_crosses_where_hessians_vanish(target):
    y = target + np.array([-1.0, 0.0, 1.0])
    assert optimal_constant(LogCoshLoss(), y) == pytest.approx(target, rel=1e-12, abs=1e-14)


def test_optimal_constant_of_a_flat_minimum():
    assert optimal_constant(QuarticLoss(), np.array([2.0, 4.0])) == pytest.approx(3, rel=1e-12)
    assert optimal_constant(QuarticLoss(), np.array([3.0, 3.0])) == pytest.approx(3, rel=1e-4)


def test_optimal_constant_is_zero_when_nothing_pulls():
    assert optimal_constant(SquaredLoss(), np.zeros(3)) == 0
    assert optimal_constant(LogisticLoss(), np.array([1, -1])) == 0
    assert optimal_constant(SquaredLoss(), np.array([1.0, 2.0]), np.zeros(2)) == 0


def test_optimal_constant_refuses_targets_that_are_not_finite():
    with pytest.raises(ValueError, match=r"must be finite for every target\. Got sums nan"):
        optimal_constant(SquaredLoss(), np.array([1.0, np.nan]))


def test_mean_hessian_is_that_of_rows_with_weights():
    y, weights = np.array([1.0, -1.0, 1.0]), np.array([2.0, 1.0, 5.0])
    hessian = LogisticLoss().hessians(y, np.full(3, 0.7))[0]
    assert mean_hessian(LogisticLoss(), 0.7, y, weights) == pytest.approx(hessian)
    counts = np.array([0.0, 4.0])
    assert mean_hessian(PoissonLoss(), np.log(2.0), counts) == pytest.approx(2.0)


def test_optimal_constant_of_the_smallest_numbers():
    """A step of half of the smallest number is none, and no reason to look for an interval."""
    assert abs(optimal_constant(SquaredLoss(), np.array([0.0, 5e-324]))) <= 5e-324


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e300])
def test_optimal_constant_of_targets_of_any_size(scale):
    y = scale * np.array([1.0, 2.0, 6.0])
    assert optimal_constant(SquaredLoss(), y) == pytest.approx(3 * scale, rel=1e-12)
