"""Fits to data frames of Dask, and cross-validation on a cluster: the same models as in memory."""

from __future__ import annotations

from datetime import time
from decimal import Decimal

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    spread_over,
)
from laconic.estimators import read_training_data
from laconic.tables.sources.sources import as_source, is_source

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

TASKS = {"class": RuleBoostingClassifier, "target": RuleBoostingRegressor}


def make_frame(n_rows=700, seed=0):
    rng = np.random.default_rng(seed)
    number, few = rng.normal(size=n_rows).round(3), rng.integers(0, 4, n_rows)
    text = rng.choice(["a", "b", "c é"], n_rows)
    signal = 2.0 * ((number > 0.2) & (text == "a")) + (few > 1)
    target = signal + rng.normal(size=n_rows)
    return pd.DataFrame(
        {
            "number": number,
            "few": few,
            "text": text,
            "flag": rng.random(n_rows) < 0.4,
            "gaps": np.where(rng.random(n_rows) < 0.2, np.nan, rng.exponential(size=n_rows)),
            "target": target,
            "class": np.where(target > 1, "yes", "no"),
            "weight": rng.choice([0.0, 0.3, 1.0, 2.5], n_rows),
        }
    )


@pytest.fixture(autouse=True)
def short_tables_are_long(monkeypatch):
    """Tables in memory are reduced as well, and models then the same to the last bit."""
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 1)


def assert_same(one, other):
    assert one.ensemble_ == other.ensemble_
    assert one.rule_coverages_ == other.rule_coverages_
    assert one.settings_ == other.settings_
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    for mine, yours in zip(one.search_results_, other.search_results_, strict=True):
        assert (mine.query, mine.bound) == (yours.query, yours.bound)


@pytest.mark.parametrize("target", ["class", "target"])
@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("n_parts", [1, 9])
def test_models_are_those_of_a_table_in_memory(dask_client, target, weight, n_parts):
    frame = make_frame()
    features = ["number", "few", "text", "flag", "gaps"]
    weights = None if weight is None else frame[weight]
    expected = TASKS[target](n_terms=4, slopes=False).fit(frame[features], frame[target], weights)
    columns = [*features, target, *([] if weight is None else [weight])]
    lazy = dd.from_pandas(frame[columns], npartitions=n_parts)
    with spread_over(dask_client):
        found = TASKS[target](n_terms=4, slopes=False).fit(lazy, target, weight)
    assert_same(found, expected)
    assert found.feature_names_in_.tolist() == features


def test_targets_and_weights_may_be_series(dask_client):
    frame = make_frame()
    lazy = dd.from_pandas(frame, npartitions=5)
    X, y, w = lazy[["number", "text"]], lazy["target"], lazy["weight"]
    by_series = RuleBoostingRegressor(n_terms=3, slopes=False).fit(X, y, w)
    by_name = RuleBoostingRegressor(n_terms=3, slopes=False).fit(
        lazy[["number", "text", "target", "weight"]], "target", "weight"
    )
    assert_same(by_series, by_name)
    # A feature of the same name stays one.
    renamed = RuleBoostingRegressor(n_terms=3, slopes=False).fit(X, y.rename("number"))
    assert renamed.feature_names_in_.tolist() == ["number", "text"]


def test_parts_are_looked_at_on_workers_and_merged_there(dask_client):
    seen = []
    lazy = dd.from_pandas(make_frame(), npartitions=9)
    source = as_source(lazy)
    assert is_source(lazy)
    source.on_progress = seen.append
    RuleBoostingClassifier(n_terms=2, slopes=False).fit(source, "class")
    assert {look.step for look in seen} == {"values", "rows"}
    assert all(look.n_rows == 700 for look in seen)


# Other tests have a cluster, and some releases warn if it is not used.
@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler:UserWarning")
def test_a_data_frame_of_files_is_read_on_threads_without_a_cluster(tmp_path):
    frame = make_frame().drop(columns=["weight", "class"])
    for number in range(3):
        frame.iloc[number::3].to_parquet(tmp_path / f"{number}.parquet")
    with dask.config.set(scheduler="threads"):
        found = RuleBoostingRegressor(n_terms=3, slopes=False).fit(
            dd.read_parquet(tmp_path), "target"
        )
    expected = RuleBoostingRegressor(n_terms=3, slopes=False).fit(
        frame.drop(columns="target"), frame["target"]
    )
    assert_same(found, expected)


def make_objects():
    """Objects of which Dask makes texts."""
    frame = make_frame(200)[["few", "number", "target"]]
    return frame.assign(
        price=[Decimal(few) / 10 for few in frame["few"]],
        paid=[None if few == 3 else few > 1 for few in frame["few"]],
        at=[time(hour) for hour in frame["few"]],
        text=pd.Series([f"t{few // 2}" for few in frame["few"]], dtype=object),
    )


@pytest.mark.parametrize("kind", ["pandas", "delayed", "map"])
def test_objects_stay_what_they_are(kind):
    frame = make_objects()
    parts = [frame[:90], frame[90:]]
    lazy = {
        "pandas": lambda: dd.from_pandas(frame, npartitions=3),
        "delayed": lambda: dd.from_delayed([*map(dask.delayed, parts)]),
        "map": lambda: dd.from_map(lambda number: parts[number], [0, 1]),
    }[kind]()
    known = RuleBoostingRegressor(n_terms=2, slopes=False).fit(
        frame[["price", "paid", "at"]], frame["target"]
    )
    found = RuleBoostingRegressor(n_terms=2, slopes=False).fit(
        lazy[["price", "paid", "at", "target"]], "target"
    )
    assert_same(found, known)
    # As a target, too.
    X, y = lazy[["number", "text"]], lazy["price"]
    known = RuleBoostingRegressor(n_terms=1, slopes=False).fit(
        frame[["number", "text"]], frame["price"]
    )
    assert_same(RuleBoostingRegressor(n_terms=1, slopes=False).fit(X, y), known)


def test_texts_that_dask_has_made_and_worked_on_are_refused():
    frame = make_objects()
    lazy = dd.from_pandas(frame, npartitions=3)
    lazy = lazy[lazy["few"] > 0]
    with pytest.raises(TypeError, match=r"Column 'price' must have its type of pandas\."):
        RuleBoostingRegressor(slopes=False).fit(lazy, "target")
    fitted = RuleBoostingRegressor(n_terms=1, slopes=False).fit(
        lazy[["number", "text", "target"]], "target"
    )
    assert fitted.feature_names_in_.tolist() == ["number", "text"]
    with dask.config.set({"dataframe.convert-string": False}):
        lazy = dd.from_pandas(frame, npartitions=3)
    fitted = RuleBoostingRegressor(n_terms=1, slopes=False).fit(lazy[lazy["few"] > 0], "target")
    kept = frame[frame["few"] > 0]
    assert_same(
        fitted,
        RuleBoostingRegressor(n_terms=1, slopes=False).fit(
            kept.drop(columns="target"), kept["target"]
        ),
    )


def test_columns_that_are_missing_are_named():
    lazy = dd.from_pandas(make_frame(), npartitions=2)
    with pytest.raises(ValueError, match="tarket"):
        RuleBoostingRegressor(slopes=False).fit(lazy, "tarket")


def test_cross_validation_runs_on_the_workers(dask_client):
    frame = make_frame(200)
    X, y = frame[["number", "few", "text"]], frame["class"]
    grid = GridSearchCV(
        RuleBoostingClassifier(slopes=False), {"n_terms": [1, 3]}, cv=3, scoring="accuracy"
    )
    alone = grid.fit(X, y).cv_results_["mean_test_score"]
    with joblib.parallel_config("dask"):
        spread = grid.fit(X, y)
    np.testing.assert_array_equal(spread.cv_results_["mean_test_score"], alone)


def test_estimators_that_validate_themselves_run_on_the_workers(dask_client):
    frame = make_frame(200)
    X, y = frame[["number", "few", "text"]], frame["class"]
    model = RuleBoostingClassifierCV(n_terms=3, cv=3)
    alone = cross_val_score(model, X, y, cv=2)
    with joblib.parallel_config("dask"):
        spread = cross_val_score(model, X, y, cv=2)
    np.testing.assert_array_equal(spread, alone)
