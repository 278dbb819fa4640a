"""Sparse matrices are read as the tables that they stand for, by their stored cells."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from laconic import ColumnWarning, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.candidates.candidates import candidate_conditions
from laconic.estimators import read_training_data
from laconic.tables.sparse import SparseCells
from laconic.tables.tables import as_table, take_rows

FORMATS = [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array]


def counts(n_rows=60, n_columns=12, *, density=0.2, seed=0, signed=False):
    """Counts as in texts, or numbers of both signs."""
    rng = np.random.default_rng(seed)
    cells = rng.poisson(2.0, (n_rows, n_columns)) + 1.0
    if signed:
        cells = rng.normal(size=cells.shape).round(1)
    return np.where(rng.random(cells.shape) < density, cells, 0.0)


def same_candidates(X, dense, **options):
    found, expected = candidate_conditions(X, **options), candidate_conditions(dense, **options)
    assert found.conditions == expected.conditions
    assert found.feature_kinds == expected.feature_kinds
    assert np.array_equal(found.covered(), expected.covered())


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("max_thresholds", [1, 3, 7, None])
def test_conditions_are_those_of_the_dense_table(make, max_thresholds):
    for seed in range(20):
        density = [0.0, 0.02, 0.3, 0.8, 1.0][seed % 5]
        dense = counts(density=density, seed=seed, signed=seed % 2 == 1)
        same_candidates(make(dense), dense, max_thresholds=max_thresholds)


@pytest.mark.parametrize("whole", [True, False])
def test_weights_count_as_in_the_dense_table(whole):
    rng = np.random.default_rng(1)
    for seed in range(20):
        dense = counts(density=0.4, seed=seed, signed=seed % 2 == 1)
        weights = rng.integers(0, 4, len(dense)) * (1.0 if whole else 0.25)
        same_candidates(sparse.csr_matrix(dense), dense, sample_weight=weights, max_thresholds=4)


def test_stored_cells_that_are_zero_missing_or_repeated():
    stored = sparse.csc_matrix((np.array([0.0, 2.0, np.nan]), ([0, 1, 2], [0, 0, 1])), shape=(4, 3))
    same_candidates(stored, stored.toarray())
    twice = sparse.coo_matrix((np.array([1.0, 1.0, 5.0]), ([0, 0, 1], [0, 0, 0])), shape=(3, 1))
    same_candidates(twice, twice.toarray())
    with pytest.raises(ValueError, match="infinity"):
        candidate_conditions(sparse.csc_matrix([[np.inf], [0.0]]))


def test_columns_of_other_types():
    for dtype in (bool, np.int8, np.float32):
        dense = counts().astype(dtype)
        same_candidates(sparse.csr_matrix(dense), dense)
    with pytest.raises(ValueError, match="Complex data not supported"):
        as_table(sparse.csr_matrix(np.eye(3) * 1j))


def test_only_stored_cells_are_visited(monkeypatch):
    def refuse(*_):
        raise AssertionError("a column was made of all its cells")

    monkeypatch.setattr(SparseCells, "column", refuse)
    found = candidate_conditions(sparse.csr_matrix(counts()))
    assert len(found) > 0


def test_long_matrices_are_not_reduced_row_by_row(monkeypatch):
    dense = counts()
    y = dense[:, 0] - dense[:, 1] + np.arange(60) % 3
    expected = RuleBoostingRegressor(2).fit(sparse.csr_matrix(dense), y)
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 1)
    monkeypatch.delattr(read_training_data, "reduce_table")
    found = RuleBoostingRegressor(2).fit(sparse.csr_matrix(dense), y)
    assert found.ensemble_ == expected.ensemble_


def test_the_callers_matrix_is_left_alone():
    X = sparse.csc_matrix((np.array([1.0, 1.0, 2.0]), np.array([0, 0, 1]), np.array([0, 3])))
    candidate_conditions(X)
    assert X.nnz == 3


def test_rows_can_be_taken():
    dense = counts()
    rows = np.array([5, 2, 2])
    assert np.array_equal(take_rows(sparse.coo_matrix(dense), rows).toarray(), dense[rows])


@pytest.mark.parametrize("make", FORMATS)
def test_models_are_those_of_the_dense_table(make):
    dense = counts(120, 30, density=0.3)
    y = dense[:, 3] * (dense[:, 5] > 1) + 0.1 * dense[:, 7]
    model, other = RuleBoostingRegressor(3), RuleBoostingRegressor(3)
    model.fit(make(dense), y)
    other.fit(dense, y)
    assert model.ensemble_ == other.ensemble_
    assert np.array_equal(model.feature_importances_, other.feature_importances_)
    assert np.array_equal(model.predict(make(dense)), other.predict(dense))
    assert model.score(make(dense), y) == other.score(dense, y)
    assert str(model.explain(make(dense[:2]))) == str(other.explain(dense[:2]))


def test_classes_are_predicted_from_stored_cells():
    dense = counts(120, 30, density=0.3)
    y = np.where(dense[:, 3] > 1, "often", "seldom")
    model = RuleBoostingClassifier(2).fit(sparse.csr_matrix(dense[:, 1:]), y)
    other = RuleBoostingClassifier(2).fit(dense[:, 1:], y)
    probabilities = model.predict_proba(sparse.csr_matrix(dense[:, 1:]))
    assert np.array_equal(probabilities, other.predict_proba(dense[:, 1:]))


def test_a_column_that_determines_the_target_is_pointed_out():
    dense = counts(120, 5, density=0.3)
    with pytest.warns(ColumnWarning, match="'x2' determines the target"):
        RuleBoostingRegressor(1).fit(sparse.csr_matrix(dense), 3 * dense[:, 2])


def test_columns_that_may_determine_the_target_are_found_without_zeros():
    dense = counts(120, 5, density=0.3)
    cells = SparseCells(sparse.csr_matrix(dense))
    assert np.flatnonzero(cells.may_determine(dense[:, 2], slice(None), 0.01)).tolist() == [2]


def test_sparse_columns_of_a_frame_are_read():
    dense = pd.DataFrame(counts(), columns=list("abcdefghijkl"))
    same_candidates(dense.astype(pd.SparseDtype("float64", 0.0)), dense)
