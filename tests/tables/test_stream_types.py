"""Columns of all types that are read in parts: the same conditions and models as in memory."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, scan
from laconic.candidates.candidates import candidate_conditions
from laconic.candidates.distinct_rows import ConditionOptions, Roles, reduce_source
from laconic.estimators import read_training_data

START = datetime(2024, 1, 1)
CODES = np.random.default_rng(0).integers(0, 40, 200).tolist()
ABSENT = (np.random.default_rng(1).random(200) < 0.2).tolist()
# What texts and JSON have no type for.
ONLY_TYPED = ("time", "duration", "duration ms", "duration ns", "category", "enum", "decimal")


def column(make, dtype, *, first=0):
    """Column with gaps, and without any value in so many rows at first."""
    cells = [
        None if absent or row < first else make(code)
        for row, (code, absent) in enumerate(zip(CODES, ABSENT, strict=True))
    ]
    return pl.Series(cells, dtype=dtype)


def moment(code):
    return START + timedelta(hours=code)


FRAME = pl.DataFrame(
    {
        "int": pl.Series(CODES),
        "int with gaps": column(int, pl.Int64),
        "small int": column(int, pl.Int16),
        "beyond 2**53": column(lambda code: 2**53 + code, pl.Int64),
        "float": column(lambda code: code / 3, pl.Float64),
        "float32": column(lambda code: code / 3, pl.Float32),
        "bool": pl.Series([code > 20 for code in CODES]),
        "bool with gaps": column(lambda code: code > 20, pl.Boolean),
        "decimal": column(lambda code: Decimal(code) / 100, pl.Decimal(10, 2)),
        "date": column(lambda code: date(2024, 1, 1) + timedelta(days=code), pl.Date),
        "datetime": column(moment, pl.Datetime("us")),
        "datetime ns": column(moment, pl.Datetime("ns")),
        "zone": column(moment, pl.Datetime("us")).dt.replace_time_zone("Europe/Zurich"),
        "time": column(lambda code: time(code % 24), pl.Time),
        "duration": column(lambda code: timedelta(minutes=30 * code), pl.Duration("us")),
        "duration ms": column(lambda code: timedelta(minutes=30 * code), pl.Duration("ms")),
        "duration ns": column(lambda code: timedelta(minutes=30 * code), pl.Duration("ns")),
        "text": column(lambda code: f"c{code % 6}", pl.String),
        "category": column(lambda code: f"c{code % 6}", pl.Categorical),
        "enum": column(lambda code: f"c{code % 6}", pl.Enum([f"c{code}" for code in range(7)])),
        "nothing": pl.Series([None] * 200, dtype=pl.Float64),
        "late float": column(lambda code: code / 3, pl.Float64, first=120),
        "late bool": column(lambda code: code > 20, pl.Boolean, first=120),
        "late date": column(lambda code: date(2024, 1, 1 + code % 28), pl.Date, first=120),
        "class": pl.Series([["no", "yes"][code % 2] for code in CODES]),
    }
)


def parts_of(frame, folder, suffix, write):
    """Write two files, the first of which lacks the values that come late."""
    for number, part in enumerate((frame[:110], frame[110:])):
        write(part, folder / f"part-{number}{suffix}")
    return scan(folder / f"part-*{suffix}", rows_per_part=50)


def dask_frame(frame):
    dd = pytest.importorskip("dask.dataframe")
    return scan(dd.from_pandas(frame, npartitions=3))


KINDS = {
    "parquet": lambda f, at: parts_of(f, at, ".parquet", pl.DataFrame.write_parquet),
    "parquet of pandas": lambda f, at: parts_of(
        f, at, ".parquet", lambda part, path: part.to_pandas().to_parquet(path)
    ),
    "feather": lambda f, at: parts_of(f, at, ".feather", pl.DataFrame.write_ipc),
    "csv": lambda f, at: parts_of(f.drop(ONLY_TYPED), at, ".csv", pl.DataFrame.write_csv),
    "json": lambda f, at: parts_of(f.drop(ONLY_TYPED), at, ".jsonl", pl.DataFrame.write_ndjson),
    "polars": lambda f, at: scan(f.lazy(), rows_per_part=50),
    "duckdb": lambda f, at: scan(duckdb.sql("SELECT * FROM f"), rows_per_part=50),
    "arrow": lambda f, at: scan(f.to_arrow(), rows_per_part=50),
    "pandas": lambda f, at: scan(f.to_pandas(), rows_per_part=50),
    "dask": lambda f, at: dask_frame(f.to_pandas()),
    "dask of arrow": lambda f, at: dask_frame(f.to_pandas(use_pyarrow_extension_array=True)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_conditions_are_those_of_a_table_in_memory(kind, tmp_path):
    frame = FRAME.drop("datetime ns") if kind == "csv" else FRAME
    source = KINDS[kind](frame, tmp_path)
    features = tuple(name for name in source.column_names if name != "class")
    assert len(features) >= 16
    # For pandas and PyArrow, an enumeration of polars has an order.
    convert = {"arrow": pl.DataFrame.to_arrow, "pandas": pl.DataFrame.to_pandas}
    convert["dask"] = convert["pandas"]
    in_memory = convert.get(kind, pl.DataFrame.clone)(frame.select(features))
    known = candidate_conditions(in_memory, max_thresholds=7)
    found = reduce_source(source, Roles("class", features), ConditionOptions(7))
    for name in features:
        assert [each for each in found.conditions if each.feature == name] == [
            each for each in known.conditions if each.feature == name
        ]
    assert found.kinds == known.feature_kinds


@pytest.mark.parametrize("kind", KINDS)
def test_models_are_those_of_a_table_in_memory(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(read_training_data, "LONG_TABLE", 0)
    frame = FRAME.select("int with gaps", "bool with gaps", "duration", "decimal", "class")
    source = KINDS[kind](frame, tmp_path) if kind not in ("csv", "json") else scan(frame)
    model = RuleBoostingClassifier(n_terms=2, slopes=False, max_thresholds=5)
    known = model.fit(frame.drop("class"), frame["class"]).ensemble_
    assert (
        RuleBoostingClassifier(n_terms=2, slopes=False, max_thresholds=5)
        .fit(source, "class")
        .ensemble_
        == known
    )


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("kind", ["pandas", "arrow", "dask"])
def test_categories_keep_their_order(kind, weight):
    rng = np.random.default_rng(0)
    sizes = pd.CategoricalDtype([*"SMLX", "unused"], ordered=True)
    frame = pd.DataFrame({"size": pd.Categorical(rng.choice([*"SMLX", None], 200), dtype=sizes)})
    frame["other"] = rng.integers(0, 3, 200)
    frame["y"] = 1.0 * frame["size"].isin(["L", "X"]) + rng.normal(size=200)
    if weight is not None:
        frame[weight] = rng.choice([0.0, 1.0, 2.5], 200)
    made = {"pandas": lambda: scan(frame, rows_per_part=70), "dask": lambda: dask_frame(frame)}
    made["arrow"] = lambda: scan(pa.Table.from_pandas(frame), rows_per_part=70)
    model = RuleBoostingRegressor(n_terms=2, slopes=False, max_thresholds=2)
    weights = None if weight is None else frame[weight]
    known = model.fit(frame[["size", "other"]], frame["y"], weights)
    texts, n_known = str(known), known.n_candidates_
    assert "size <= M" in texts or "size > M" in texts
    found = model.fit(made[kind](), "y", weight)
    assert (str(found), found.n_candidates_) == (texts, n_known)


def test_other_orders_in_other_parts_are_refused():
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"size": ["S", "M"] * 4, "y": [0.0, 1.0] * 4})
    orders = [pd.CategoricalDtype(order, ordered=True) for order in (["S", "M"], ["M", "S"])]
    parts = [frame.astype({"size": order}) for order in orders]
    lazy = dd.from_map(lambda number: parts[number], [0, 1], meta=parts[0][:0])
    with pytest.raises(TypeError, match="Column 'size' must have its categories in one order"):
        RuleBoostingRegressor(slopes=False).fit(lazy, "y")


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_nan_in_a_parquet_file_is_missing_whatever_its_statistics_say(kind, tmp_path):
    numbers = np.array(CODES) / 4
    frame = pl.DataFrame(
        {
            "x": np.where(ABSENT, np.nan, numbers),
            "few": np.where(ABSENT, np.nan, numbers % 1),
            "class": np.where((numbers > 5) & (numbers != 8) > ABSENT, "yes", "no"),
        }
    )
    path = tmp_path / "table.parquet"
    frame.write_parquet(path) if kind == "polars" else pq.write_table(frame.to_arrow(), path)
    model = RuleBoostingClassifier(n_terms=2, slopes=False, max_thresholds=5)
    known = model.fit(frame.drop("class"), frame["class"]).rule_coverages_
    for source in (scan(path), duckdb.read_parquet(str(path))):
        assert model.fit(source, "class").rule_coverages_ == known


def test_intervals_of_databases_are_durations():
    source = scan(
        duckdb.sql("""SELECT x, CASE WHEN x > 3 THEN TIMESTAMP '2024-03-01' - TIMESTAMP '2024-01-31'
                      ELSE to_microseconds(x) END AS span, x % 2 AS y FROM range(9) AS r(x)""")
    )
    assert not source.is_integer("span")
    assert source.is_integer("y")
    [part] = [pl.DataFrame(part) for part in source.parts(["span"])]
    known = [timedelta(microseconds=x) if x <= 3 else timedelta(days=30) for x in range(9)]
    assert part["span"].to_list() == known
    source = scan(
        duckdb.sql("SELECT x % 2 AS y, to_months(x::INTEGER) AS span FROM range(9) AS r(x)")
    )
    with pytest.raises(ValueError, match=r"Column 'span' must hold durations in days and less\."):
        RuleBoostingClassifier(slopes=False).fit(source, "y")


def test_durations_are_kept_beside_predictions(tmp_path):
    frame = FRAME.select("int", "duration", "class")
    model = RuleBoostingClassifier(n_terms=1, slopes=False).fit(frame.drop("class"), frame["class"])
    path = tmp_path / "out.parquet"
    for source in (duckdb.sql("SELECT * FROM frame"), KINDS["parquet"](frame, tmp_path)):
        model.save_predictions(source, path, keep_columns=["duration"])
        assert pl.read_parquet(path)["duration"].to_list() == frame["duration"].to_list()


@pytest.mark.parametrize("estimator", [RuleBoostingClassifier, RuleBoostingRegressor])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([date(2024, 1, 1), date(2024, 1, 2)], "dates"),
        ([timedelta(1), timedelta(2)], "durations"),
        ([time(1), time(2)], "times of day"),
    ],
)
def test_a_target_of_times_is_refused(estimator, values, words):
    frame = pl.DataFrame({"x": [1, 2, 3, 4], "y": values * 2})
    for source in (frame.lazy(), scan(duckdb.sql("SELECT * FROM frame"))):
        with pytest.raises(TypeError, match=f"The target 'y' must hold numbers.* Got {words}"):
            estimator(slopes=False).fit(source, "y")


def test_classes_that_doubles_do_not_tell_apart_are_refused():
    frame = pl.DataFrame({"x": [1, 2, 3], "y": [0, 2**60, 2**60 + 1]})
    with pytest.raises(ValueError, match=r"Classes must be whole numbers up to 2\*\*53"):
        RuleBoostingClassifier(slopes=False).fit(frame.lazy(), "y")
