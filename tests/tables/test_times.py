"""Dates, times of day and durations as columns and in conditions."""

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic import Condition
from laconic.candidates.candidates import candidate_conditions
from laconic.tables.columns import TimeColumn
from laconic.tables.tables import as_table
from laconic.tables.times import (
    DATE_PARTS,
    from_microseconds,
    iso_counts,
    kind_of,
    microseconds,
    part_codes,
    plain_moment,
    round_separator,
    time_text,
)

DAYS = [date(2024, 1, 5), None, date(1969, 3, 4)]
MOMENTS = [datetime(2024, 1, 5, 3, 4, 5, 6), None, datetime(1969, 3, 4)]
TIMES = [time(3, 4), None, time(23, 59, 59, 999_999)]
SPANS = [timedelta(days=1, seconds=5), None, timedelta(seconds=-5)]

FRAME = pl.DataFrame({"date": DAYS, "datetime": MOMENTS, "time": TIMES, "duration": SPANS})
TABLES = {
    "polars": FRAME,
    "pyarrow": FRAME.to_arrow(),
    "pandas": FRAME.to_pandas(),
    "pandas with arrow": FRAME.to_pandas(use_pyarrow_extension_array=True),
    "objects": FRAME.to_pandas().astype(object),
    "rows": [list(row) for row in FRAME.rows()],
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("name", FRAME.columns)
def test_every_library_gives_the_same_column(kind, name):
    column = as_table(TABLES[kind], FRAME.columns).column(name)
    assert isinstance(column, TimeColumn)
    assert column.kind == name
    assert [column.cell(row) for row in range(3)] == FRAME[name].to_list()


def cells(series):
    frame = series.to_frame("a") if hasattr(series, "to_frame") else pa.table({"a": series})
    column = as_table(frame).column("a")
    return column.kind, [column.cell(row) for row in range(len(column.values))]


def test_time_zones_are_left_for_utc():
    local = [datetime(2024, 7, 1, 1), None]
    for series in (
        pd.Series(local).dt.tz_localize("Europe/Berlin"),
        pl.Series(local).dt.replace_time_zone("Europe/Berlin"),
        pa.array([datetime(2024, 6, 30, 23), None], pa.timestamp("s", tz="Europe/Berlin")),
    ):
        assert cells(series) == ("datetime", [datetime(2024, 6, 30, 23), None])
    aware = datetime(2024, 7, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    assert plain_moment(aware) == datetime(2024, 6, 30, 23)
    assert plain_moment(aware.astimezone(UTC)) == datetime(2024, 6, 30, 23)


def test_periods_of_pandas_are_their_first_moments():
    months = pd.period_range("2024-01", periods=2, freq="M")
    expected = ("date", [date(2024, 1, 1), date(2024, 2, 1)])
    assert cells(pd.Series(months)) == expected
    assert cells(pd.Series(list(months), dtype=object)) == expected


def test_midnights_are_days():
    assert cells(pd.Series(pd.to_datetime(["2024-01-05", None])))[0] == "date"
    assert cells(pl.Series([datetime(2024, 1, 5), None]))[0] == "date"


def test_finer_times_compare_as_they_are():
    late = pl.Series(["2024-01-05T00:00:00.000000001"]).str.to_datetime(time_unit="ns")
    frame = pl.DataFrame({"a": late})
    for X in (frame, frame.to_pandas(), frame.to_arrow()):
        assert Condition("a", ">", date(2024, 1, 5)).covered(X).all()


def test_decimals_and_units_of_arrow_are_numbers_and_times():
    assert as_table(pa.table({"a": [Decimal("1.5"), None]})).column("a").cell(0) == 1.5
    assert cells(pa.array([1, None], pa.time32("s"))) == ("time", [time(0, 0, 1), None])
    assert cells(pa.array([86_400_000], pa.date64())) == ("date", [date(1970, 1, 2)])
    assert cells(pa.array([1_000], pa.duration("ns")))[1] == [timedelta(microseconds=1)]


@pytest.mark.parametrize(
    "make",
    [
        lambda cells: pa.table({"a": cells}),
        lambda cells: pd.DataFrame({"a": cells}, dtype=pd.ArrowDtype(pa.decimal128(10, 2))),
        lambda cells: pl.DataFrame({"a": cells}),
    ],
)
def test_decimals_are_rounded_once(make):
    """PyArrow takes 8.13 for 8.130000000000001, which is not covered by a <= 8.13."""
    cells = [Decimal(n) / 100 for n in range(-1000, 1000)]
    column = as_table(make([*cells, None])).column("a")
    assert column.values[:-1].tolist() == list(map(float, cells))
    assert np.isnan(column.values[-1])
    assert Condition("a", "<=", 8.13).covered(make(cells))[1813]


def test_arrays_of_numpy():
    X = np.array([["2024-01-05", "NaT"]], dtype="M8[D]").T
    column = as_table(X).column("x0")
    assert (column.kind, column.cell(0), column.cell(1)) == ("date", date(2024, 1, 5), None)
    assert as_table(np.array([[90]], dtype="m8[s]")).column("x0").cell(0) == timedelta(seconds=90)


def test_years_without_names_are_refused():
    with pytest.raises(ValueError, match="Column 'x0' must hold dates of the years 1 to 9999"):
        as_table(np.array([["20000-01-01"]], dtype="M8[D]")).column("x0")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (date(2024, 3, 1), "2024-03-01"),
        (date(33, 4, 3), "0033-04-03"),
        (datetime(2024, 3, 1), "2024-03-01 00:00"),
        (datetime(2024, 3, 1, 1, 2, 3), "2024-03-01 01:02:03"),
        (datetime(2024, 3, 1, 1, 2, 3, 40), "2024-03-01 01:02:03.000040"),
        (time(13, 45), "13:45"),
        (timedelta(), "0 s"),
        (timedelta(days=-2), "-2 d"),
        (timedelta(hours=36), "36 h"),
        (timedelta(microseconds=1), "0.000001 s"),
    ],
)
def test_text(value, text):
    assert time_text(value) == text
    assert str(Condition("a", ">", value)) == f"a > {text}"


@given(
    st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1))
    | st.dates()
    | st.times()
    | st.timedeltas(timedelta(-10_000), timedelta(10_000))
)
def test_counts_of_microseconds_are_exact(value):
    assert from_microseconds(microseconds(value), kind_of(value)) == value
    assert plain_moment(value) == value


def separated(kind, *values):
    return time_text(round_separator(*map(microseconds, values), kind))


@pytest.mark.parametrize(
    ("low", "high", "separator"),
    [
        (date(1950, 5, 5), date(2020, 1, 2), "2000-01-01"),
        (date(2023, 11, 5), date(2024, 4, 9), "2024-01-01"),
        (date(2024, 2, 27), date(2024, 3, 20), "2024-03-01"),
        (date(2024, 3, 2), date(2024, 3, 20), "2024-03-11"),
        (date(2024, 2, 29), date(2024, 3, 1), "2024-02-29"),
    ],
)
def test_round_dates(low, high, separator):
    assert separated("date", low, high) == separator


@pytest.mark.parametrize(
    ("low", "high", "separator"),
    [
        (datetime(2024, 2, 27, 13), datetime(2024, 3, 2, 1), "2024-03-01 00:00"),
        (datetime(2024, 3, 2, 7, 10), datetime(2024, 3, 2, 20), "2024-03-02 12:00"),
        (datetime(2024, 3, 2, 7, 10), datetime(2024, 3, 2, 7, 50), "2024-03-02 07:30"),
        (datetime(2024, 3, 2, 7, 10, 1), datetime(2024, 3, 2, 7, 10, 3), "2024-03-02 07:10:02"),
    ],
)
def test_round_times(low, high, separator):
    assert separated("datetime", low, high) == separator


def test_round_durations_and_times_of_day():
    assert separated("duration", timedelta(hours=2, minutes=9), timedelta(hours=4)) == "3 h"
    assert separated("duration", timedelta(days=70), timedelta(days=160)) == "100 d"
    assert separated("duration", timedelta(days=-1), timedelta(days=1)) == "0 s"
    assert separated("time", time(9, 20), time(14)) == "12:00"


MICROSECONDS = st.integers(-(2**50), 2**50)


@given(MICROSECONDS, st.integers(1, 2**45), st.sampled_from(["date", "datetime", "duration"]))
def test_round_separators_separate(low, width, kind):
    day = 86_400_000_000
    if kind == "date":
        low, width = low // day * day, (width // day + 1) * day
    separator = microseconds(round_separator(low, low + width, kind))
    assert low <= separator < low + width


@given(st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)))
def test_parts(moment):
    counts = np.array([microseconds(moment), np.nan])
    expected = (moment.year, moment.month - 1, moment.day, moment.weekday(), moment.hour)
    for part, number in zip(DATE_PARTS, expected, strict=True):
        codes = part_codes(counts, part)
        assert codes[0] == number
        assert np.isnan(codes[1])


@pytest.mark.parametrize("text", ["2024-02-30", "2024-1-5", "soon", "20240105", "2024-01-05 25:00"])
def test_texts_that_are_no_dates(text):
    assert iso_counts(["2024-01-05", text]) is None


class TestConditions:
    X = pl.DataFrame({"day": ["2024-03-01", None, "2024-03-02"]})

    def test_texts_are_dates_if_they_are_compared_with_dates(self):
        assert Condition("day", ">", date(2024, 3, 1)).covered(self.X).tolist() == [0, 0, 1]
        assert Condition("day", "<=", datetime(2024, 3, 1)).covered(self.X).tolist() == [1, 0, 0]
        assert Condition("day", "==", date(2024, 3, 1)).covered(self.X).tolist() == [1, 0, 0]

    def test_texts_are_texts_if_they_are_compared_with_texts(self):
        assert Condition("day", "==", "2024-03-01").covered(self.X).tolist() == [1, 0, 0]
        assert str(Condition("day", "==", "2024-03-01")) == "day == '2024-03-01'"

    @pytest.mark.parametrize(
        ("value", "cells", "words"),
        [
            (date(2024, 3, 1), [1.0], "needs a column of dates. Column 'a' holds numbers"),
            (date(2024, 3, 1), ["soon"], "needs a column of dates. Column 'a' holds strings"),
            (1.0, [date(2024, 3, 1)], "needs a column of numbers. Column 'a' holds dates"),
            (time(1), [date(2024, 3, 1)], "needs a column of times of day"),
            (timedelta(1), [time(1)], "needs a column of durations. Column 'a' holds times of day"),
        ],
    )
    def test_other_kinds_are_refused(self, value, cells, words):
        with pytest.raises(TypeError, match=words):
            Condition("a", ">", value).covered(pl.DataFrame({"a": cells}))

    def test_parts_are_columns(self):
        weekdays = Condition("weekday of day", "in", ("Sat", "Sun")).covered(self.X)
        assert weekdays.tolist() == [0, 0, 1]
        assert Condition("day of day", ">", 1).covered(self.X).tolist() == [0, 0, 1]
        named = self.X.with_columns(pl.lit("never").alias("weekday of day"))
        assert Condition("weekday of day", "==", "never").covered(named).all()
        with pytest.raises(TypeError, match="Column 'x' must hold dates to have weekdays"):
            Condition("weekday of x", "==", "Sat").covered(pl.DataFrame({"x": [1.0]}))


def texts(X, **options):
    return [*map(str, candidate_conditions(X, **options).conditions)]


def test_thresholds_are_near_quantiles_and_round():
    days = pl.date_range(date(2023, 1, 1), date(2024, 12, 30), eager=True)
    found = texts(pl.DataFrame({"day": days}))[::2]
    assert found == [
        *("day <= 2023-04-01", "day <= 2023-07-01", "day <= 2023-10-01", "day <= 2024-01-01"),
        *("day <= 2024-04-01", "day <= 2024-07-01", "day <= 2024-10-01"),
    ]


def test_all_thresholds():
    days = pl.DataFrame({"day": [date(2024, 1, 1), date(2024, 1, 3), date(2024, 2, 5), None]})
    assert texts(days, max_thresholds=None) == [
        *("day <= 2024-01-01", "day > 2024-01-01", "day <= 2024-02-01", "day > 2024-02-01"),
        *("day is missing", "day is present"),
    ]
    assert texts(days.to_pandas(), max_thresholds=None) == texts(days, max_thresholds=None)
    assert texts(days.cast(pl.String), max_thresholds=None) == texts(days, max_thresholds=None)


def test_declared_categories_stay_what_they_are():
    days = pl.DataFrame({"day": ["2024-01-01", "2024-01-02"]}).cast(pl.Categorical)
    assert texts(days) == ["day == '2024-01-01'", "day == '2024-01-02'"]


def test_parts_on_request():
    days = pl.DataFrame({"at": [datetime(2024, 1, 1, 8), datetime(2024, 2, 4, 20)]})
    assert texts(days, date_parts=["weekday", "month", "hour"]) == [
        *("at <= 2024-02-01 00:00", "at > 2024-02-01 00:00"),
        *("weekday of at == Mon", "weekday of at == Sun"),
        "month of at == Jan",
        "month of at in {Apr, Aug, Dec, Feb, Jul, Jun, Mar, May, Nov, Oct, Sep}",
        *("hour of at <= 10", "hour of at > 10"),
    ]
    # A day has no hours.
    assert "hour" not in " ".join(texts(days.cast(pl.Date), date_parts=["hour"]))
