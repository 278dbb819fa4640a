"""Predictions of one reading against those of the model."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sloped import TERMS, sloped_classes, sloped_classifier, sloped_regressor

from estimators import ESTIMATORS, both, numeric_problem
from laconic.tables import tables


@pytest.fixture
def n_read(monkeypatch):
    """Counts how often each column of a pandas table is read."""
    counts = {}

    def counted(name, series):
        counts[name] = counts.get(name, 0) + 1
        return column(name, series)

    column = tables.pandas_column
    monkeypatch.setattr(tables, "pandas_column", counted)
    monkeypatch.setattr(tables, "MAX_CELLS_AT_ONCE", 0)
    return counts


@both
def test_everything_is_what_the_model_says(task):
    X, y = numeric_problem(task)
    model = ESTIMATORS[task](n_terms=4).fit(X, y)
    predictions = model.predictions_for(X)
    assert predictions.n_rows == len(X)
    assert_array_equal(predictions.covered, model.ensemble_.covered(X))
    assert_array_equal(predictions.raw, model.ensemble_.raw_predictions(X))
    assert_array_equal(predictions.values, model.predict(X))
    for raw, stage in zip(predictions.staged_raw(), model.stages_, strict=True):
        assert_array_equal(raw, stage.raw_predictions(X))
    if task == "classifier":
        assert_array_equal(predictions.probabilities, model.predict_proba(X).max(axis=1))
        assert_array_equal(predictions.means, model.predict_proba(X)[:, 1])
    else:
        assert predictions.probabilities is None


@both
def test_columns_are_read_once(task, n_read):
    X, y = numeric_problem(task)
    model = ESTIMATORS[task](n_terms=4).fit(X, y)
    names = ["x0", "x1", "x2"]
    predictions = model.predictions_for(X)
    frame = pd.DataFrame(X, columns=names)
    n_read.clear()
    with pytest.warns(UserWarning, match="feature names"):
        told = model.explain(frame)
    assert_array_equal(told.raw_predictions, predictions.raw)
    assert len(str(told)) > 0
    assert max(n_read.values()) == 1


@both
def test_raw_predictions_take_no_more_memory_than_they_need(task):
    X, y = numeric_problem(task)
    model = ESTIMATORS[task](n_terms=20, search="greedy", l2_regularization=0.01).fit(X, y)
    assert len(model.ensemble_) == 20
    many = np.tile(X, (4000, 1))
    for knows_rules in (False, True):
        predictions = model.predictions_for(many)
        if knows_rules:
            assert len(predictions.covered) == len(many)
        tracemalloc.start()
        raw = predictions.raw
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert_array_equal(raw, model.ensemble_.raw_predictions(many))
        assert peak < 4 * raw.nbytes


@pytest.mark.parametrize("make", [sloped_classifier, sloped_regressor, sloped_classes])
def test_slopes_count_with_their_values(make):
    model, X, _ = make()
    predictions = model.predictions_for(X)
    assert_array_equal(predictions.term_values, model.ensemble_.values(X))
    assert_array_equal(predictions.covered, model.ensemble_.covered(X))
    assert_array_equal(predictions.raw, model.ensemble_.raw_predictions(X))
    assert_array_equal(predictions.raw, model.predictions_for(X).raw)
    stages = list(predictions.staged_raw())
    assert len(stages) == len(TERMS) + 1
    for raw, stage in zip(stages, model.stages_, strict=True):
        assert_array_equal(raw, stage.raw_predictions(X))


def test_transformed_slopes_are_what_their_weights_multiply():
    model, X, _ = sloped_regressor()
    values = model.transform(X)
    assert_array_equal(values[:, 0], (X["age"].fillna(45).clip(25, 68) - 25))
    assert set(values[:, 1]) == {0.0, 1.0}
    weights = np.array([term.weight for term in model.ensemble_])
    np.testing.assert_allclose(model.ensemble_.intercept + values @ weights, model.predict(X))
    assert model.get_feature_names_out().tolist() == [
        "age from 25 to 68 (45 if missing)",
        "plan == plus & age > 40",
        "dose from 40 to 200",
        "admitted from 2020-06-01 to 2023-06-01",
    ]
    frame = model.set_output(transform="pandas").transform(X.head(2))
    assert frame["dose from 40 to 200"].tolist() == (X["dose"].clip(40, 200) - 40)[:2].tolist()
