"""What users of rule learners ask for most about data, each as a test."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from estimators import forms
from laconic import RuleBoostingClassifier, RuleBoostingRegressor


@pytest.fixture
def table():
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "gender": generator.choice(["female", "male"], 200),
            "region": pd.Categorical(generator.choice(["N", "NE", "S", "W"], 200)),
            "age": generator.integers(18, 80, 200).astype(float),
        }
    )
    y = (frame["gender"] == "female") & (frame["age"] > 40)
    return frame, np.where(y, "yes", "no")


def test_request_for_native_categoricals_without_encoding(table):
    X, y = table
    model = RuleBoostingClassifier(n_terms=1, l2_regularization=0).fit(X, y)
    assert "gender == female" in str(model) or "gender == male" in str(model)
    same = RuleBoostingClassifier(n_terms=1, l2_regularization=0).fit(pl.from_pandas(X), y)
    assert str(same) == str(model)


def test_request_for_sets_of_categories(table):
    X, _ = table
    y = (
        X["region"].isin(["N", "NE"]).to_numpy(float)
        + np.random.default_rng(1).normal(size=200) / 9
    )
    model = RuleBoostingRegressor(n_terms=1, categories="sets").fit(X, y)
    assert "region in {" in str(model)
    assert len(model.ensemble_[0].query) == 1


def test_request_for_missing_values_in_fit_and_predict(table):
    X, y = table
    X = X.assign(age=X["age"].mask(X.index % 7 == 0), gender=X["gender"].mask(X.index % 5 == 0))
    model = RuleBoostingClassifier(n_terms=3).fit(X, y)
    assert len(model.predict(X)) == len(X)
    gone = pd.DataFrame({"gender": [None], "region": [None], "age": [np.nan]})
    assert model.predict(gone)[0] in ("yes", "no")


def test_request_for_sample_weights_that_matter(table):
    X, y = table
    repeated = np.where(X["region"] == "N", 3, 1)
    weighted = RuleBoostingClassifier(n_terms=3).fit(X, y, sample_weight=repeated)
    again = X.loc[X.index.repeat(repeated)].reset_index(drop=True)
    copied = RuleBoostingClassifier(n_terms=3).fit(again, np.repeat(y, repeated))
    assert forms(weighted) == forms(copied)
    weights = [[rule.weight for rule in model.ensemble_] for model in (weighted, copied)]
    assert weights[0] == pytest.approx(weights[1])
    # Rows without weight are as if they were not there.
    some = X["region"] != "N"
    without = RuleBoostingClassifier(n_terms=3).fit(X, y, sample_weight=some.astype(float))
    fewer = RuleBoostingClassifier(n_terms=3).fit(X[some], y[some])
    assert str(without) == str(fewer)


def test_request_for_class_weight_balanced(table):
    X, y = table
    plain = RuleBoostingClassifier(n_terms=1).fit(X, y)
    balanced = RuleBoostingClassifier(n_terms=1, class_weight="balanced").fit(X, y)
    assert balanced.ensemble_.intercept != plain.ensemble_.intercept
    by_hand = np.where(
        y == "yes", len(y) / (2 * (y == "yes").sum()), len(y) / (2 * (y == "no").sum())
    )
    weighted = RuleBoostingClassifier(n_terms=1).fit(X, y, sample_weight=by_hand)
    assert weighted.predict_proba(X) == pytest.approx(balanced.predict_proba(X))


def test_request_for_dates(table):
    X, _ = table
    X = X.assign(day=pd.date_range("2024-01-01", periods=200))
    y = (X["day"] > "2024-03-01").to_numpy(float)
    y[::20] = 1 - y[::20]
    model = RuleBoostingRegressor(n_terms=1, slopes=False).fit(X, y)
    assert "day > 2024-0" in str(model).replace("<=", ">")
    rising = np.arange(200.0) + 30.0 * np.random.default_rng(0).normal(size=200)
    sloped = RuleBoostingRegressor(n_terms=1).fit(X, rising)
    assert re.search(r"per month of day from 2024-0\d-\d\d to 2024-0\d-\d\d", str(sloped))


def test_request_for_table_columns_of_any_library(table):
    X, y = table
    texts = {
        str(RuleBoostingClassifier(n_terms=2).fit(frame, y))
        for frame in (X, pl.from_pandas(X), pl.from_pandas(X).to_arrow())
    }
    assert len(texts) == 1
