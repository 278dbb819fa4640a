"""Choosing the number of rules: splits, losses and standard errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import LeaveOneGroupOut, ShuffleSplit

from laconic.estimators.choose_size import Size, choose, make_splits


def sizes_of(losses, n_splits=1):
    return [Size(float(number), np.array_split(row, n_splits)) for number, row in enumerate(losses)]


def test_folds_are_shuffled_always_in_the_same_way():
    y = np.arange(40.0)
    splits = make_splits(4, y, holds_classes=False, weights=None)
    tests = [test for _, test in splits]
    assert_array_equal(np.sort(np.concatenate(tests)), np.arange(40))
    assert all(np.ptp(test) > 15 for test in tests)
    again = make_splits(4, y, holds_classes=False, weights=None)
    assert all(map(np.array_equal, tests, [test for _, test in again]))


def test_folds_keep_the_shares_of_the_classes():
    y = np.repeat([0.0, 1.0], [30, 10])
    for _, test in make_splits(None, y, holds_classes=True, weights=None):
        assert (len(test), y[test].sum()) == (8, 2)


def test_rows_without_weight_are_in_no_fold():
    y, weights = np.arange(20.0), np.tile([0.0, 2.0], 10)
    splits = make_splits(2, y, holds_classes=False, weights=weights)
    of_half = make_splits(2, y[1::2], holds_classes=False, weights=None)
    for parts, others in zip(splits, of_half, strict=True):
        for part, other in zip(parts, others, strict=True):
            assert_array_equal(part, 2 * other + 1)


def test_splitters_and_lists_are_taken_as_they_are():
    y = np.arange(10.0)
    splitter = ShuffleSplit(3, random_state=1)
    for cv in (splitter, list(splitter.split(y)), splitter.split(y)):
        splits = make_splits(cv, y, holds_classes=False, weights=None)
        for found, expected in zip(splits, splitter.split(y), strict=True):
            assert_array_equal(found[0], expected[0])
            assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("split", [([], [0, 1]), ([0, 1], []), ([0, 1], [3])])
def test_splits_need_rows(split):
    with pytest.raises(ValueError, match="rows to learn from and rows to judge by in every split"):
        make_splits([split], np.arange(4.0), holds_classes=False, weights=np.array([1, 1, 1, 0]))


def test_fewest_within_a_standard_error_of_the_difference():
    rng = np.random.default_rng(0)
    noise = 100 * rng.random(400)  # that all sizes share
    small = rng.normal(size=400)
    losses = np.array([noise + 1, noise + 0.01 * small + 1e-4, noise])
    choice = choose(sizes_of(losses, 4), np.array_split(np.arange(400), 4), np.ones(400))
    assert (choice.n_terms, choice.best) == (1, 2)
    errors = choice.results["standard_error"]
    assert_allclose(errors[1], 0.01 * small.std() / 20)
    assert errors[2] == 0 < errors[1]
    assert_allclose(choice.results["mean_loss"], losses.mean(axis=1))
    assert_allclose(choice.results["split2_loss"], losses[:, 200:300].mean(axis=1))
    assert_array_equal(choice.results["n_terms"], [0, 1, 2])


def test_no_rule_where_nothing_helps():
    losses = np.array([[1.0, 2.0, 3.0], [1.5, 2.0, 2.5], [1.0, 2.0, 3.0]])
    assert choose(sizes_of(losses), [np.arange(3)], np.ones(3)).n_terms == 0


def test_weights_count_as_rows():
    rng = np.random.default_rng(0)
    losses, weights = rng.random((3, 30)), rng.integers(1, 4, 30)
    rows = np.arange(30)
    weighted = choose(sizes_of(losses), [rows], weights.astype(float))
    repeated = choose(
        sizes_of(np.repeat(losses, weights, axis=1)), [np.arange(weights.sum())], np.ones(90)
    )
    for name, values in weighted.results.items():
        assert_allclose(values, repeated.results[name])


def test_rows_held_out_twice_make_nothing_more_certain():
    losses, rows = np.random.default_rng(0).random((3, 30)), np.arange(30)
    once = choose(sizes_of(losses), [rows], np.ones(30))
    twice = choose(sizes_of(np.tile(losses, 2), 2), [rows, rows], np.ones(30))
    for name in ("mean_loss", "standard_error"):
        assert_allclose(once.results[name], twice.results[name])


def test_groups_stay_together():
    groups, y = np.repeat([0, 1, 2], 4), np.arange(12.0)
    cv = list(LeaveOneGroupOut().split(y, y, groups))
    tests = [test for _, test in make_splits(cv, y, holds_classes=False, weights=None)]
    assert [np.unique(groups[test]).tolist() for test in tests] == [[0], [1], [2]]
