"""Conformal quantiles, groups of predictions and sets of classes."""

import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.losses import LogisticLoss, MultinomialLoss, PoissonLoss, SquaredLoss
from laconic.trust import Intervals
from laconic.trust.intervals import (
    SMALLEST_GROUP,
    UNSEEN,
    check_loss,
    conformal_quantile,
    intervals_of_classes,
    intervals_of_numbers,
    least_rows,
    set_words,
    target_range,
)

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n_rows", [1, 4, 9, 10, 19, 30, 99, 100])
def test_quantile_has_the_rank_of_the_definition(n_rows, level):
    scores = np.random.default_rng(n_rows).permutation(n_rows).astype(float)
    rank = math.ceil(round((n_rows + 1) * level, 9))
    expected = rank - 1 if rank <= n_rows else math.inf
    assert conformal_quantile(scores, level) == expected


@pytest.mark.parametrize("level", LEVELS)
def test_least_rows_are_those_from_which_there_is_a_bound(level):
    n_rows = least_rows(level)
    assert conformal_quantile(np.ones(n_rows), level) == 1.0
    assert conformal_quantile(np.ones(n_rows - 1), level) == math.inf


@given(
    st.lists(st.floats(0, 100), min_size=1, max_size=60),
    st.sampled_from(LEVELS),
    st.floats(1e-6, 1e6),
)
def test_equal_weights_change_nothing(scores, level, weight):
    numbers = np.array(scores)
    weights = np.full(len(numbers), weight)
    assert conformal_quantile(numbers, level, weights) == conformal_quantile(numbers, level)


def test_rows_without_weight_do_not_count():
    scores = np.arange(40.0)
    weights = (scores < 20) * 1.0
    assert conformal_quantile(scores, 0.9, weights) == conformal_quantile(scores[:20], 0.9)
    assert conformal_quantile(scores, 0.9, np.zeros(40)) == math.inf


def test_weights_move_the_quantile_and_few_heavy_rows_are_few():
    scores = np.arange(100.0)
    heavy = 1.0 + 9.0 * (scores >= 80)
    assert conformal_quantile(scores, 0.5, heavy) > conformal_quantile(scores, 0.5)
    # Five rows have nearly all of the weight.
    assert conformal_quantile(scores, 0.9, 1e-6 + (scores < 5)) == math.inf


def test_share_of_new_rows_below_the_quantile():
    # Exactly ceil((n + 1) level) / (n + 1) for continuous scores, whatever their distribution.
    rng = np.random.default_rng(0)
    inside = [
        rng.exponential() <= conformal_quantile(rng.exponential(size=30), 0.8)
        for _ in range(20_000)
    ]
    assert np.mean(inside) == pytest.approx(25 / 31, abs=0.01)


def rows_of_groups(n_rows=400, n_values=8, seed=0):
    rng = np.random.default_rng(seed)
    predictions = rng.integers(0, n_values, n_rows) / 4
    return predictions, np.abs(rng.normal(size=n_rows)) * (1 + predictions)


def test_groups_are_whole_sets_of_equal_predictions_with_enough_rows():
    predictions, errors = rows_of_groups()
    found = intervals_of_numbers(predictions, errors, level=0.9, method="cv")
    assert len(found.edges) > 2
    assert min(found.counts) >= SMALLEST_GROUP
    assert not {*found.edges} & {*predictions.tolist()}
    groups = np.searchsorted(found.edges, predictions)
    for place, half_width in enumerate(found.half_widths):
        rows = groups == place
        assert rows.sum() == found.counts[place]
        assert half_width == conformal_quantile(errors[rows], 0.9)
    limits = found.limits(predictions)
    np.testing.assert_array_equal(limits.mean(axis=1).round(12), predictions)
    np.testing.assert_array_equal(
        limits[:, 1] - predictions, predictions + np.array(found.half_widths)[groups] - predictions
    )


def test_without_groups_all_half_widths_are_equal():
    predictions, errors = rows_of_groups()
    found = intervals_of_numbers(predictions, errors, level=0.9, method="cv", is_grouped=False)
    assert (found.edges, found.half_widths) == ((), (conformal_quantile(errors, 0.9),))


def test_groups_are_no_more_than_ten_and_large_enough_for_the_level():
    rng = np.random.default_rng(0)
    many = intervals_of_numbers(rng.random(5000), rng.random(5000), level=0.9, method="cv")
    assert len(many.half_widths) == 10
    high = intervals_of_numbers(rng.random(500), rng.random(500), level=0.99, method="cv")
    assert min(high.counts) >= 99
    assert not high.places_without_bound


def test_predictions_that_are_equal_but_for_rounding_stay_together():
    predictions = np.repeat([0.3, 0.1 + 0.2, 0.7], 40)
    found = intervals_of_numbers(predictions, np.ones(120), level=0.9, method="cv")
    assert found.counts == (80, 40)


def test_groups_of_heavy_rows_have_more_rows():
    predictions, errors = rows_of_groups(2000, 50)
    weights = np.where(np.arange(2000) % 10, 0.01, 1.0)
    found = intervals_of_numbers(predictions, errors, level=0.9, method="cv", weights=weights)
    assert min(found.counts) > 200
    assert not found.places_without_bound


def test_too_few_rows_have_no_bound_and_a_sentence():
    found = intervals_of_numbers(np.zeros(8), np.ones(8), level=0.9, method="split")
    assert found.half_widths == (math.inf,)
    np.testing.assert_array_equal(found.limits(np.array([3.0])), [[-np.inf, np.inf]])
    np.testing.assert_array_equal(found.limits(np.array([3.0]), (0, np.inf)), [[0, np.inf]])
    assert "fewer than 9 rows, a group has no bound" in str(found)
    few = intervals_of_classes(
        np.ones(28), np.repeat([0, 1], [20, 8]), ["a", "b"], level=0.9, method="split"
    )
    assert few.sets(np.array([[1.0, 0.0], [0.0, 1.0]])).tolist() == [[True, True], [False, True]]
    assert "fewer than 9 rows, a class is in every set" in str(few)


def test_each_class_has_its_own_share():
    rng = np.random.default_rng(0)
    places = (rng.random(4000) < 0.1).astype(int)
    share = np.clip(rng.beta(2, 8, 4000) + 0.3 * places, 0, 1)
    shares = np.column_stack([1 - share, share])
    own = shares[np.arange(4000), places]
    half = slice(None, None, 2), slice(1, None, 2)
    found = intervals_of_classes(own[half[0]], places[half[0]], [0, 1], level=0.9, method="split")
    inside = found.sets(shares[half[1]])[np.arange(2000), places[half[1]]]
    for place in (0, 1):
        assert inside[places[half[1]] == place].mean() == pytest.approx(0.9, abs=0.04)


def test_a_class_that_no_model_expects_does_not_have_too_few_rows():
    found = intervals_of_classes(np.zeros(40), np.repeat([0, 1], 20), "ab", level=0.9, method="cv")
    assert found.least_probabilities == (0.0, 0.0)
    assert "too few" not in str(found)


def test_least_probability_is_the_quantile_of_the_definition():
    rng = np.random.default_rng(1)
    own, places = rng.random(300), rng.integers(0, 3, 300)
    found = intervals_of_classes(own, places, ["a", "b", "c"], level=0.9, method="cv")
    for place, least in enumerate(found.least_probabilities):
        quantile = conformal_quantile(1 - own[places == place], 0.9)
        assert least == pytest.approx(1 - quantile, rel=1e-8)
        # Rounding excludes no row that the definition includes.
        assert least <= 1 - quantile


def test_words_for_sets():
    assert set_words([False, True], ["no", "yes"]) == "yes"
    assert set_words([False, False], ["no", "yes"]) == UNSEEN


def test_ranges_and_losses():
    assert target_range(PoissonLoss()) == (0.0, math.inf)
    assert target_range(SquaredLoss()) == (-math.inf, math.inf)
    check_loss(MultinomialLoss(), has_classes=True)
    check_loss(SquaredLoss(), has_classes=False)
    with pytest.raises(ValueError, match="need probabilities"):
        check_loss(SquaredLoss(), has_classes=True)
    with pytest.raises(ValueError, match="Use a classifier"):
        check_loss(LogisticLoss(), has_classes=False)


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, "0.9", None, math.nan, True])
def test_level_must_be_a_share(level):
    with pytest.raises(ValueError, match="'level' must be a number between 0 and 1"):
        intervals_of_numbers(np.zeros(3), np.ones(3), level=level, method="cv")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"level": 1.0}, "'level'"),
        ({"n": 0}, "n must be"),
        ({"half_widths": ()}, "half_widths must be there"),
        ({"half_widths": (-1.0, 2.0)}, "half_widths must be numbers"),
        ({"half_widths": (math.nan, 2.0)}, "half_widths must be numbers"),
        ({"edges": ()}, "edges must be 1 ascending"),
        ({"edges": (2.0, 1.0), "half_widths": (1.0,) * 3, "counts": (1, 1, 38)}, "edges"),
        ({"counts": (20, 19)}, "counts"),
        ({"counts": (40,)}, "counts"),
        ({"classes": ("a",)}, "classes must be 0 classes"),
        ({"least_probabilities": (0.5, 0.5)}, "half_widths must be there"),
        (
            {"half_widths": (), "edges": (), "classes": (0, 1), "least_probabilities": (0.5, 1.5)},
            "least_probabilities must be numbers",
        ),
    ],
)
def test_wrong_values_are_refused_by_name(changes, words):
    good = Intervals(0.9, "cv", 40, (0.5,), (1.0, 2.0), counts=(30, 10))
    with pytest.raises(ValueError, match=words):
        replace(good, **changes)


def test_an_answer_is_immutable_prints_and_makes_a_frame():
    predictions, errors = rows_of_groups()
    found = intervals_of_numbers(predictions, errors, level=0.9, method="split")
    with pytest.raises(FrozenInstanceError):
        found.level = 0.5
    frame = found.to_frame("polars")
    assert frame.columns == ["above", "up_to", "half_width", "rows"]
    assert frame["rows"].sum() == found.n == 400
    lines = str(found).splitlines()
    assert len(lines) == 3 + len(found.half_widths)
    assert max(map(len, lines)) < 100
    assert lines[0].startswith("About 90% of new rows lie within prediction ± half-width")
    of_classes = intervals_of_classes(
        errors.clip(0, 1), (predictions > 1).astype(int), ["no", "yes"], level=0.975, method="cv"
    )
    assert of_classes.to_frame("polars").columns == ["class", "least_probability", "rows"]
    assert str(of_classes).startswith("About 97.5% of new rows of each class have it in their set")


@pytest.mark.parametrize("method", ["cv", "split"])
def test_texts_fit_into_a_terminal(method):
    n_rows, classes = 123_456, ("no", "yes")
    shares, numbers = np.linspace(0.0, 1.0, n_rows), np.arange(n_rows) % 2
    settings = {"level": 0.9999999, "method": method}
    answers = [
        intervals_of_numbers(shares, shares, **settings),
        intervals_of_classes(shares, numbers, classes, **settings),
    ]
    for answer in answers:
        assert "too few" in str(answer)
        assert max(map(len, str(answer).splitlines())) <= 80
