"""Tables in several files: the same columns, and types that hold the values of all files."""

from __future__ import annotations

import gzip
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from estimators import forms
from laconic import RuleBoostingClassifier, RuleBoostingRegressor, scan
from laconic.tables.sources.sources import DuckDBSource

WRITERS = {
    ".parquet": pl.DataFrame.write_parquet,
    ".feather": pl.DataFrame.write_ipc,
    ".csv": pl.DataFrame.write_csv,
    ".jsonl": pl.DataFrame.write_ndjson,
}


def files_of(folder, suffix, *frames):
    paths = [folder / f"part-{number}{suffix}" for number in range(len(frames))]
    for path, frame in zip(paths, frames, strict=True):
        WRITERS[suffix](frame, path)
    return paths


def whole(source):
    return pl.concat(map(pl.DataFrame, source.parts(source.column_names)))


@pytest.mark.parametrize("suffix", WRITERS)
def test_whole_numbers_do_not_round_the_decimals_of_later_files(suffix, tmp_path):
    x = np.arange(40) / 4
    y = np.where((x > 5.3) & (x < 8.6), 3.0, 1.0) + np.arange(40) % 3 / 10
    frame = pl.DataFrame({"x": x, "y": y})
    whole_numbers = frame.filter(pl.col("x") % 1 == 0).cast({"x": pl.Int64})
    paths = files_of(tmp_path, suffix, whole_numbers, frame.filter(pl.col("x") % 1 != 0))
    known = RuleBoostingRegressor(n_terms=2, slopes=False).fit(frame[["x"]], y)
    found = RuleBoostingRegressor(n_terms=2, slopes=False).fit(scan(paths), "y")
    assert forms(found) == forms(known)
    known.save_predictions(scan(paths), tmp_path / "out.parquet", keep_columns=["x"])
    written = pl.read_parquet(tmp_path / "out.parquet").sort("x")
    assert written["x"].to_list() == x.tolist()
    np.testing.assert_array_equal(written["prediction"], known.predict(frame[["x"]]))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("is_first", [True, False])
def test_files_that_lack_a_column_are_refused_by_name(suffix, is_first, tmp_path):
    frames = [pl.DataFrame({"a": [1], "y": [0]}), pl.DataFrame({"a": [2], "b": [5], "y": [1]})]
    paths = files_of(tmp_path, suffix, *(frames if is_first else frames[::-1]))
    lacks, has = paths if is_first else paths[::-1]
    with pytest.raises(ValueError, match="must have the same columns") as error:
        scan(paths)
    assert f"{str(lacks)!r} lacks 'b'; {str(has)!r} has 'b'" in str(error.value)


@pytest.mark.parametrize("suffix", WRITERS)
def test_columns_may_have_another_order(suffix, tmp_path):
    paths = files_of(
        tmp_path, suffix, pl.DataFrame({"a": [1], "b": ["x"]}), pl.DataFrame({"b": ["y"], "a": [2]})
    )
    assert whole(scan(paths)).rows() == [(1, "x"), (2, "y")]


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ([1, 2], ["x", "y"], "Int64 in {!r} and String in {!r}"),
        ([True], [1], "Boolean in {!r} and Int64 in {!r}"),
        ([date(2024, 1, 1)], [1.5], "Date in {!r} and Float64 in {!r}"),
    ],
)
def test_types_that_have_nothing_in_common_are_refused_by_file_and_column(
    one, other, words, tmp_path
):
    frames = (pl.DataFrame({"a": one}), pl.DataFrame({"a": other}), pl.DataFrame({"a": one}))
    paths = files_of(tmp_path, ".parquet", *frames)
    with pytest.raises(TypeError, match="Column 'a' must hold one kind of values") as error:
        scan(paths)
    assert words.format(*map(str, paths)) in str(error.value)


SOON, LATER = datetime(2024, 1, 1, 12), datetime(2024, 1, 1, 12, 0, 0, 123)


@pytest.mark.parametrize(
    ("one", "other", "cells"),
    [
        (pl.Series([1], dtype=pl.Int64), pl.Series([0.1], dtype=pl.Float32), [1, np.float32(0.1)]),
        (pl.Series([2**62 + 1]), pl.Series([1], dtype=pl.UInt64), [2**62 + 1, 1]),
        (pl.Series([1]), pl.Series([Decimal("0.5")]), [1, Decimal("0.5")]),
        (pl.Series([None, None]), pl.Series(["x"]), [None, None, "x"]),
        (pl.Series([None], dtype=pl.String), pl.Series([True]), [None, True]),
        (pl.Series(["x"], dtype=pl.Categorical), pl.Series(["y"]), ["x", "y"]),
        (pl.Series([SOON.date()]), pl.Series([SOON]), [datetime(2024, 1, 1), SOON]),
        (pl.Series([SOON], dtype=pl.Datetime("ms")), pl.Series([LATER]), [SOON, LATER]),
        (
            pl.Series([timedelta(1)], dtype=pl.Duration("ms")),
            pl.Series([LATER - SOON], dtype=pl.Duration("us")),
            [timedelta(1), LATER - SOON],
        ),
    ],
)
def test_types_hold_the_values_of_all_files(one, other, cells, tmp_path):
    frames = pl.DataFrame({"a": one}), pl.DataFrame({"a": other})
    for order in (1, -1):
        paths = files_of(tmp_path, ".parquet", *frames)[::order]
        found = whole(scan(paths))["a"].to_list()
        assert sorted(found, key=str) == sorted(cells, key=str)


def test_time_zones_meet_in_utc(tmp_path):
    moments = pl.Series("a", [SOON, LATER])
    zones = ("Europe/Zurich", "America/Lima")
    frames = [moments.dt.replace_time_zone(zone).to_frame() for zone in zones]
    found = whole(scan(files_of(tmp_path, ".parquet", *frames)))["a"]
    expected = pl.concat(frame["a"].dt.convert_time_zone("UTC") for frame in frames)
    assert found.to_list() == expected.to_list()
    with pytest.raises(TypeError, match="must hold one kind of values"):
        scan(files_of(tmp_path, ".parquet", frames[0], moments.to_frame()))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_header_alone_says_nothing_about_types(place, tmp_path):
    texts = ["a,flag,text,y\n1,true,x,0\n,false,,1\n", "a,flag,text,y\n2.5,,z,1\n"]
    texts.insert(place, "a,flag,text,y\n")
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.csv").write_text(text)
    found = whole(scan(tmp_path)).select("a", "flag", "text", "y")
    assert found.dtypes == [pl.Float64, pl.Boolean, pl.String, pl.Int64]
    assert found["a"].to_list() == [1, None, 2.5]


def test_texts_that_are_numbers_in_some_files_only_stay_as_they_are(tmp_path):
    (tmp_path / "0.csv").write_text("a\n01\n2\n")
    (tmp_path / "1.csv").write_text("a\nunknown\n")
    assert whole(scan(tmp_path))["a"].to_list() == ["01", "2", "unknown"]


def test_types_are_those_of_all_rows(tmp_path):
    texts = ["a,b", *[",1"] * 1000, "0.5,1.5"]
    (tmp_path / "late.csv").write_text("\n".join(texts))
    source = scan(tmp_path / "late.csv", rows_per_part=100)
    assert whole(source).dtypes == [pl.Float64, pl.Float64]


def test_separators_are_those_of_each_file(tmp_path):
    (tmp_path / "0.csv").write_text("a,b\n1,x\n")
    (tmp_path / "1.tsv").write_text("a\tb\n2\ty\n")
    (tmp_path / "2.tsv.gz").write_bytes(gzip.compress(b"a\tb\n3\tz\n"))
    (tmp_path / "3.txt.gz").write_bytes(gzip.compress(b"a,b\n4,z\n"))
    assert whole(scan(tmp_path)).rows() == [(1, "x"), (2, "y"), (3, "z"), (4, "z")]
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n{"a": 2.5}\n'))
    assert whole(scan(tmp_path / "rows.jsonl.gz"))["a"].to_list() == [1, 2.5]


def test_signs_of_patterns_in_names_are_signs(tmp_path):
    for suffix, write in WRITERS.items():
        write(pl.DataFrame({"a": [1]}), tmp_path / f"[1]{suffix}")
        write(pl.DataFrame({"a": [2]}), tmp_path / f"1{suffix}")
        assert whole(scan(tmp_path / f"[1]{suffix}"))["a"].to_list() == [1]


def test_options_decide_about_types(tmp_path):
    for number, text in enumerate(["a,b\n01,1\n", "a,b\n", "a,b\n2,1.5\n"]):
        (tmp_path / f"{number}.csv").write_text(text)
    found = whole(scan(tmp_path, schema_overrides={"a": pl.String}))
    assert found.rows() == [("01", 1.0), ("2", 1.5)]
    assert whole(scan(tmp_path, schema={"a": pl.String, "b": pl.Float32})).dtypes == [
        *(pl.String, pl.Float32)
    ]
    assert whole(scan(tmp_path, row_index_name="row")).columns == ["row", "a", "b"]


def test_duckdb_reads_what_it_does_not_change(tmp_path):
    frame = pl.DataFrame({"a": [1, 2], "b": ["x", None], "t": [SOON, LATER]})
    plain = files_of(tmp_path, ".parquet", frame[:1], frame[1:])
    assert isinstance(scan(plain), DuckDBSource)
    spans = frame.with_columns(d=pl.col("t") - SOON)
    assert not isinstance(scan(files_of(tmp_path, ".parquet", spans)), DuckDBSource)


def test_categories_of_files_are_not_taken_for_dates(tmp_path):
    days = pl.Series(["2024-01-01", "2024-01-02"] * 20, dtype=pl.Categorical)
    frame = pl.DataFrame({"day": days, "y": ["no", "yes"] * 20})
    source = scan(files_of(tmp_path, ".parquet", frame[:15], frame[15:]))
    model = RuleBoostingClassifier(n_terms=1, slopes=False).fit(source, "y")
    known = RuleBoostingClassifier(n_terms=1, slopes=False).fit(frame[["day"]], frame["y"])
    assert model.ensemble_[0].query == known.ensemble_[0].query
