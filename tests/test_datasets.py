"""Tables that are computed: counts, order, and what they are made of."""

from __future__ import annotations

import csv

import narwhals as nw
import numpy as np
import pytest

from laconic.datasets import Dataset, noisy_parity, tic_tac_toe

BACKENDS = ["pandas", "polars", "pyarrow"]


def stones(data, player):
    return (data == player).sum(axis=1)


def has_line(data, player):
    held = (data == player).reshape(-1, 3, 3)
    diagonals = np.diagonal(held, axis1=1, axis2=2), np.diagonal(held[:, ::-1], axis1=1, axis2=2)
    lines = [held.all(axis=1).any(axis=1), held.all(axis=2).any(axis=1)]
    return np.any([*lines, *(diagonal.all(axis=1) for diagonal in diagonals)], axis=0)


def test_tic_tac_toe_counts():
    dataset = tic_tac_toe()
    assert dataset.data.shape == (958, 9)
    assert dataset.target.dtype == np.int64
    assert (dataset.target == 1).sum() == 626
    assert (dataset.target == -1).sum() == 332
    assert len(np.unique(dataset.data, axis=0)) == 958
    assert set(np.unique(dataset.data)) == {"x", "o", "b"}
    assert dataset.feature_names[0] == "top-lft"
    assert dataset.feature_names[5] == "mid-rgt"


def test_tic_tac_toe_boards_are_legal_and_final():
    dataset = tic_tac_toe()
    n_x, n_o = stones(dataset.data, "x"), stones(dataset.data, "o")
    x_won, o_won = has_line(dataset.data, "x"), has_line(dataset.data, "o")
    assert not (x_won & o_won).any()
    assert (n_x[x_won] == n_o[x_won] + 1).all()
    assert (n_x[o_won] == n_o[o_won]).all()
    assert (n_x + n_o == 9)[~x_won & ~o_won].all()
    np.testing.assert_array_equal(dataset.target == 1, x_won)


@pytest.mark.datasets
def test_tic_tac_toe_equals_the_classical_table(datasets_folder):
    with (datasets_folder / "tic_tac_toe.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    dataset = tic_tac_toe()
    assert (*dataset.feature_names, "target") == tuple(header)
    boards = np.column_stack([dataset.data, dataset.target.astype(str)])
    assert boards.tolist() == rows


def test_noisy_parity_target_is_the_product_of_the_corner():
    dataset = noisy_parity(200, 3, noise=0.0, random_state=0)
    assert set(np.unique(dataset.data)) == {-1.0, 1.0}
    assert dataset.target.dtype == np.int64
    np.testing.assert_array_equal(dataset.data.prod(axis=1), dataset.target)


def test_noisy_parity_has_the_documented_noise():
    clean = noisy_parity(20_000, 2, noise=0.0, random_state=0)
    noisy = noisy_parity(20_000, 2, random_state=0)
    np.testing.assert_array_equal(clean.target, noisy.target)
    assert (noisy.data - clean.data).std() == pytest.approx(0.5, abs=0.01)
    accuracy = (np.sign(noisy.data).prod(axis=1) == noisy.target).mean()
    assert accuracy == pytest.approx(0.96, abs=0.01)


def test_noisy_parity_single_features_tell_nothing():
    dataset = noisy_parity(20_000, 3, random_state=0)
    correlations = np.corrcoef(dataset.data, dataset.target, rowvar=False)[-1, :-1]
    assert np.abs(correlations).max() < 0.03


def test_noisy_parity_is_reproducible():
    first, second = noisy_parity(10, 4, random_state=7), noisy_parity(10, 4, random_state=7)
    np.testing.assert_array_equal(first.data, second.data)
    np.testing.assert_array_equal(first.target, second.target)
    assert not np.array_equal(first.data, noisy_parity(10, 4, random_state=8).data)
    assert first.feature_names == ("x1", "x2", "x3", "x4")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_rows": 0}, r"'n_rows' must be an int in the range \[1, inf\)\. Got 0 instead\."),
        ({"n_features": -2}, r"'n_features' must be .* Got -2 instead\."),
        ({"noise": -0.1}, r"'noise' must be a float in the range \[0, inf\)\. Got -0\.1 instead\."),
        ({"noise": np.nan}, r"'noise' must be .* Got nan instead\."),
    ],
)
def test_noisy_parity_refuses(parameters, message):
    with pytest.raises(ValueError, match=message):
        noisy_parity(**{"n_rows": 4, "n_features": 2, **parameters})


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "load", [tic_tac_toe, lambda backend=None: noisy_parity(5, 2, random_state=0, backend=backend)]
)
def test_backend_changes_the_table_only(load, backend):
    pytest.importorskip(backend)
    plain, framed = load(), load(backend=backend)
    assert isinstance(framed, Dataset)
    frame = nw.from_native(framed.data, eager_only=True)
    assert frame.implementation == nw.Implementation.from_backend(backend)
    assert tuple(frame.columns) == plain.feature_names
    np.testing.assert_array_equal(frame.to_numpy().astype(plain.data.dtype), plain.data)
    np.testing.assert_array_equal(framed.target, plain.target)


def test_unknown_backend_is_refused():
    with pytest.raises(
        ValueError, match=r"'backend' must be None or one of .* Got 'abacus' instead\."
    ):
        tic_tac_toe(backend="abacus")
