"""What is kept of training rows: enough to recognise them, whatever they look like."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from laconic.boosting import TrainingData
from laconic.tables.tables import as_table
from laconic.trust import fingerprint, hash_rows
from laconic.trust.fingerprint import N_SMALLEST, Fingerprint


def hashes(X, y=None, weights=None):
    table = as_table(X)
    target = np.zeros(table.n_rows) if y is None else np.asarray(y, dtype=float)
    return hash_rows(TrainingData(X, table, target, None, weights))


def of(X, y=None, weights=None):
    return fingerprint(hashes(X, y, weights))


def mixed(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows),
            "size": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows)),
            "city": rng.choice(["Bonn", "Köln", None], n_rows),
            "paid": rng.random(n_rows) < 0.5,
            "booked": pd.Timestamp("2024-03-01")
            + pd.to_timedelta(rng.integers(0, 10**6, n_rows), "s"),
        }
    )


def test_order_of_rows_does_not_matter():
    X, y = mixed(), np.random.default_rng(1).normal(size=300)
    order = np.random.default_rng(2).permutation(300)
    assert of(X, y) == of(X.iloc[order], y[order])
    assert of(X, y) != of(X, y[order])


def as_written(X):
    X = X.assign(booked=X["booked"].dt.strftime("%Y-%m-%d %H:%M:%S"))
    return X.assign(age=X["age"].astype(str), paid=X["paid"].astype(str))


@pytest.mark.parametrize(
    "change",
    [
        pl.from_pandas,
        lambda X: X.astype({"age": float, "size": "float32", "paid": int}),
        lambda X: X.astype({"age": "Int64", "city": "category"}),
        lambda X: X.astype({"paid": object, "age": object}),
        as_written,
        lambda X: X.rename(columns=str.upper),
    ],
)
def test_types_of_columns_do_not_matter(change):
    assert of(change(mixed())).is_same(of(mixed()))


def test_everything_else_matters():
    X = mixed()
    known = of(X)
    assert not of(X.iloc[1:]).is_same(known)
    assert not of(pd.concat([X, X.iloc[:1]])).is_same(known)
    assert not of(X[["size", "age", "city", "paid", "booked"]]).is_same(known)
    for name, value in {"age": 17, "size": 0.0, "city": "Rom", "paid": None}.items():
        other = X.astype({"paid": object})
        other.loc[0, name] = value
        assert not of(other).is_same(known)


def test_sparse_tables_are_those_of_their_cells():
    X = np.random.default_rng(0).integers(0, 3, (50, 4)) * 1.0
    assert of(sp.csr_array(X)) == of(X)
    assert of(np.where(X == 0, -0.0, X)) == of(X)


def test_rows_of_weight_0_do_not_count():
    X, weights = mixed(), np.arange(300) % 2.0
    assert of(X, weights=weights) == of(X.iloc[1::2])


def test_few_hashes_of_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 2))
    X[5_000:] = X[rng.integers(0, 5_000, 25_000)]
    found, every = of(X), hashes(X)
    distinct, counts = np.unique(every, return_counts=True)
    assert found.smallest == tuple(distinct[:N_SMALLEST].tolist())
    assert found.counts == tuple(np.minimum(counts[:N_SMALLEST], 3).tolist())
    assert found.total == sum(every.tolist()) % 2**64
    # All rows alike.
    same = of(np.ones((5_000, 2)))
    assert (len(same.smallest), same.counts) == (1, (3,))


@pytest.mark.parametrize("n_rows", [100, 1_000, 20_000])
@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
def test_rows_that_are_known_are_recognised(n_rows, share):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2 * n_rows, 3))
    known = of(X[:n_rows])
    n_known = int(share * n_rows)
    others = hashes(X[n_rows - n_known : 2 * n_rows - n_known])
    assert known.known_share(others) == pytest.approx(share, abs=0.12)
    assert known.known_share(hashes(X[n_rows:])) == 0.0


def test_a_few_known_rows_are_no_reason_to_warn():
    X = np.random.default_rng(3).normal(size=(2_000, 3))
    assert of(X[:1_000]).known_share(hashes(X[950:])) == 0.0


def coarse(rng, n_rows, n_features, n_values):
    """Rows of few values, of which some are rare."""
    return np.floor(n_values * rng.random((n_rows, n_features)) ** 2)


@pytest.mark.parametrize(("n_features", "n_values"), [(1, 2), (3, 2), (4, 3), (6, 3), (8, 4)])
@pytest.mark.parametrize("n_rows", [60, 500, 5_000])
def test_tables_of_few_distinct_rows_raise_no_alarm(n_features, n_values, n_rows):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = coarse(rng, n_rows, n_features, n_values)
        others = coarse(rng, [n_rows // 3, n_rows, 3 * n_rows][seed % 3], n_features, n_values)
        known = of(X)
        assert known.known_share(hashes(others)) == 0.0
        assert not of(others).is_same(known)
        assert of(X[::-1]).is_same(known)


def test_coarse_tables_that_are_known():
    X = coarse(np.random.default_rng(0), 2_000, 10, 4)
    assert of(X).known_share(hashes(X[:1_000])) > 0.7


def test_fingerprint_is_a_value():
    assert of(mixed()) == Fingerprint(**vars(of(mixed())))
    assert len(of(mixed()).smallest) == N_SMALLEST
