"""Sums over the bins of features, and the slopes that they value."""

import numpy as np
import pytest

from laconic import _core
from laconic.candidates.slopes import candidate_slopes


def feature(rng, n_rows, n_bins, stored):
    """Bins, numbers, stored rows and range of a feature, as the core takes them."""
    rows = np.sort(rng.choice(n_rows, stored, replace=False)).astype(np.int32) if stored else None
    size = stored or n_rows
    numbers = rng.normal(size=(size, 2))[:, 1]  # not side by side
    numbers[rng.random(size) < 0.1] = np.nan
    return rng.integers(n_bins, size=size).astype(np.uint8), numbers, rows, -1.0, 1.5


@pytest.mark.parametrize("n_rows", [1, 700, 2000])
@pytest.mark.parametrize("n_columns", [1, 2, 5])
def test_sums_over_bins_are_added_up_row_by_row(n_rows, n_columns):
    rng = np.random.default_rng(n_rows)
    columns = [*rng.normal(size=(n_columns, n_rows))]
    features = [feature(rng, n_rows, 4, stored) for stored in (0, n_rows // 3, 0)]
    expected = np.zeros((3, 3, 4, n_columns))
    for sums, (bins, numbers, rows, low, high) in zip(expected, features, strict=True):
        levels = np.where(np.isnan(numbers), 0.0, (np.clip(numbers, low, high) - low) / 2.5)
        for k, column in enumerate(columns):
            values = column if rows is None else column[rows]
            for power in range(3):
                sums[power, :, k] = np.bincount(bins, levels**power * values, minlength=4)
    for n_workers in (1, 2, 5):
        found = _core.sum_bins(features, columns, n_rows, 3, 4, n_workers)
        np.testing.assert_array_equal(found, expected.ravel())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bins": np.array([0, 4], dtype=np.uint8)}, "below n_bins"),
        ({"bins": np.array([0], dtype=np.uint8)}, "one entry per row"),
        ({"rows": np.array([0, 2], dtype=np.int32)}, "positions of rows"),
        ({"columns": [np.ones(3)]}, "one entry per row"),
    ],
)
def test_impossible_bins_and_rows_are_refused(change, message):
    given = {"bins": np.array([0, 3], dtype=np.uint8), "rows": None, "columns": [np.ones(2)]}
    given |= change
    features = [(given["bins"], np.zeros(2), given["rows"], 0.0, 1.0)]
    with pytest.raises(ValueError, match=message):
        _core.sum_bins(features, given["columns"], 2, 2, 4)


def test_numbers_of_an_array_are_not_copied():
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert all(np.shares_memory(each.numbers, X) for each in candidate_slopes(X).features)
