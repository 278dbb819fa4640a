"""Predictions that are written as the rows of a table are read."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, scan

FRAME = pl.DataFrame(
    {
        "key": [*range(1000)],
        "x": np.random.default_rng(0).normal(size=1000),
        "text": ["a", None, "b", "a"] * 250,
    }
)
X = FRAME.select("x", "text")


@pytest.fixture
def model():
    y = np.where((FRAME["x"] > 0).to_numpy() ^ (FRAME["key"] % 7 == 0).to_numpy(), "yes", "no")
    return RuleBoostingClassifier(n_terms=3).fit(X, y)


@pytest.mark.parametrize("kind", ["files", "polars", "duckdb", "frame", "parts"])
def test_predictions_are_those_of_the_table_in_memory(model, kind, tmp_path):
    table = {
        "frame": FRAME,
        "polars": FRAME.lazy(),
        "parts": scan(FRAME, rows_per_part=300),
        "duckdb": duckdb.sql("SELECT * FROM FRAME"),
    }
    if kind == "files":
        for number, part in enumerate(FRAME.iter_slices(400)):
            part.write_parquet(tmp_path / f"in-{number}.parquet")
        table["files"] = tmp_path / "in-*.parquet"
    path = tmp_path / "out.parquet"
    n_rows = model.save_predictions(
        table[kind], path, probabilities=True, keep_columns=["key", "text"]
    )
    found = pl.read_parquet(path)
    assert n_rows == found.height == 1000
    assert found.columns == ["key", "text", "prediction", "probability_no", "probability_yes"]
    assert found["key"].to_list() == FRAME["key"].to_list()
    assert found["prediction"].to_list() == model.predict(X).tolist()
    np.testing.assert_array_equal(
        found.select("probability_no", "probability_yes").to_numpy(), model.predict_proba(X)
    )


def test_numbers_and_models_without_rules(tmp_path):
    model = RuleBoostingRegressor().fit(X, np.full(1000, 2.5))
    assert model.save_predictions(X, tmp_path / "out.parquet") == 1000
    found = pl.read_parquet(tmp_path / "out.parquet")["prediction"]
    np.testing.assert_array_equal(found, model.predict(X))


def test_what_goes_wrong_leaves_the_old_file(model, tmp_path):
    path = tmp_path / "out.parquet"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="no column 'x'"):
        model.save_predictions(FRAME.drop("x"), path)
    with pytest.raises(ValueError, match="column to keep must be the name of a column"):
        model.save_predictions(FRAME, path, keep_columns=["kee"])
    with pytest.raises(ValueError, match="has no rows"):
        model.save_predictions(FRAME.head(0).lazy(), path)
    source = scan(FRAME, rows_per_part=100)

    def interrupt(progress):
        if progress.n_rows > 300:
            raise KeyboardInterrupt

    source.on_progress = interrupt
    with pytest.raises(KeyboardInterrupt):
        model.save_predictions(source, path)
    assert path.read_bytes() == b"old"
    assert [*tmp_path.iterdir()] == [path]


def test_progress_tells_how_many_rows_were_predicted_for(model, tmp_path):
    source = scan(FRAME, rows_per_part=400)
    seen = []
    source.on_progress = seen.append
    model.save_predictions(source, tmp_path / "out.parquet")
    assert [(progress.step, progress.n_rows) for progress in seen] == [
        ("predictions", 400),
        ("predictions", 800),
        ("predictions", 1000),
        ("predictions", 1000),
    ]
