"""Slopes: values, checks and text."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from laconic import Condition, Query, Rule, RuleEnsemble, Slope
from laconic.tables.tables import as_table
from laconic.terms.rules import Output

AGE = Slope("age", 25, 68, 0.031)
BOOKED = Slope("booked", date(2020, 1, 1), date(2024, 1, 1), 0.5)


def values(slope, cells, dtype=None):
    return slope.values(pd.DataFrame({slope.feature: pd.Series(cells, dtype=dtype)})).tolist()


class TestValues:
    @pytest.mark.parametrize(
        ("cells", "dtype"),
        [
            ([20, 30.5, 80, None], float),
            ([20, 30.5, 80, None], object),
            ([20, 30.5, 80, None], pd.CategoricalDtype([80, 20, 30.5])),
        ],
    )
    def test_numbers(self, cells, dtype):
        assert values(AGE, cells, dtype) == [0.0, 5.5, 43.0, 0.0]
        assert values(replace(AGE, missing=45), cells, dtype) == [0.0, 5.5, 43.0, 20.0]

    @pytest.mark.parametrize(
        ("cells", "dtype"),
        [([True, False, None], object), ([True, False, None], "boolean"), ([1, 0, None], float)],
    )
    def test_booleans_are_0_and_1(self, cells, dtype):
        assert values(Slope("paid", 0.25, 2, 1.0), cells, dtype) == [0.75, 0.0, 0.0]

    @pytest.mark.parametrize("dtype", ["M8[us]", "M8[ns]", "M8[s]", object])
    def test_dates_count_days(self, dtype):
        cells = ["2019-05-05", "2020-01-11", "2030-01-01", None]
        slope = replace(BOOKED, missing=date(2020, 2, 1))
        assert values(slope, cells, dtype) == [0.0, 10.0, 1461.0, 31.0]

    def test_dates_with_times(self):
        moments = [datetime(2020, 1, 1, 12), datetime(2020, 1, 2), datetime(2021, 1, 1)]
        slope = Slope("at", datetime(2020, 1, 1, 12), datetime(2020, 1, 3), 1.0)
        assert values(slope, moments, "M8[us]") == [0.0, 0.5, 1.5]
        # A date is midnight at its start, and a slope from dates is one of columns with times.
        assert values(slope, [date(2020, 1, 2)], "M8[us]") == [0.5]
        assert values(replace(BOOKED, feature="at"), moments, "M8[us]") == [0.5, 1.0, 366.0]

    def test_times_and_durations_count_hours(self):
        clock = Slope("at", time(9), time(12, 30), 1.0)
        assert values(clock, [time(8), time(9, 15), time(23), None], object) == [0, 0.25, 3.5, 0]
        wait = Slope("wait", timedelta(0), timedelta(days=2), 1.0)
        cells = [timedelta(minutes=-5), timedelta(minutes=90), timedelta(days=9)]
        assert values(wait, cells, "m8[us]") == [0, 1.5, 48]

    @pytest.mark.parametrize(
        ("slope", "cells", "words"),
        [
            (AGE, ["a", "b"], "a column of numbers. Column 'age' holds strings"),
            (AGE, pd.to_datetime(["2020-01-01"]), "a column of numbers. Column 'age' holds dates"),
            (BOOKED, [1.0, 2.0], "a column of dates. Column 'booked' holds numbers"),
            (BOOKED, ["soon"], "a column of dates. Column 'booked' holds strings"),
            (BOOKED, [timedelta(1)], "a column of dates. Column 'booked' holds durations"),
            (Slope("a", time(1), time(2), 1.0), [1.0], "a column of times of day. Column 'a'"),
            (
                Slope("a", timedelta(1), timedelta(2), 1.0),
                [time(1)],
                "a column of durations. Column 'a' holds times of day",
            ),
        ],
    )
    def test_other_kinds_are_refused(self, slope, cells, words):
        with pytest.raises(TypeError, match=words) as error:
            values(slope, cells)
        assert f"The slope '{slope.text()}' needs" in str(error.value)

    def test_a_column_without_values_fits_every_slope(self):
        for slope in (AGE, replace(AGE, missing=30)):
            for dtype in (object, float, "M8[us]"):
                expected = 0.0 if slope.missing is None else 5.0
                assert values(slope, [None, None], dtype) == [expected] * 2

    def test_raw_predictions(self):
        X = pl.DataFrame({"age": [20, 35, None]})
        assert_allclose(AGE.raw_predictions(X), [0, 0.31, 0])
        assert_allclose(replace(AGE, missing=26).raw_predictions(X), [0, 0.31, 0.031])

    @given(
        st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=1),
        st.floats(-1e6, 1e6),
        st.floats(1e-3, 1e6),
        st.floats(0, 1),
    )
    def test_as_the_formula(self, cells, lower, width, place):
        upper, missing = lower + width, min(lower + place * width, lower + width)
        slope = Slope("x0", lower, upper, 2.0, missing=missing)
        cells = np.array(cells)
        filled = np.where(np.isnan(cells), missing, cells)
        expected = np.clip(filled, lower, upper) - lower
        assert_array_equal(slope.values(cells[:, np.newaxis]), expected)
        assert_array_equal(slope.raw_predictions(cells[:, np.newaxis]), 2.0 * expected)
        assert [slope.at(each) for each in filled] == (2.0 * expected).tolist()
        assert slope.effect == slope.at(np.inf)

    def test_in_an_ensemble(self):
        rule = Rule(Query((Condition("sex", "==", "f"),)), 2.0)
        X = pd.DataFrame({"age": [20, 35, np.nan], "sex": ["f", "m", "f"]})
        ensemble = RuleEnsemble((AGE, rule), 1.0)
        assert_allclose(ensemble.raw_predictions(X), [3, 1.31, 3])
        assert_array_equal(ensemble.values(X), [[0, 1], [10, 0], [0, 1]])
        assert_array_equal(ensemble.covered(X), [[False, True], [True, False], [False, True]])
        assert ensemble.used_features == ["age", "sex"]
        assert (ensemble.n_terms, ensemble.n_conditions, ensemble.size) == (2, 3, 5)
        assert (ensemble.rules, ensemble.slopes) == ((rule,), (AGE,))
        assert RuleEnsemble((AGE, rule, AGE)).consolidate().terms == (
            replace(AGE, weight=0.062),
            rule,
        )
        dates = as_table([["2024-03-01"]], ["booked"])
        assert RuleEnsemble((BOOKED,)).readable(dates).column("booked").kind == "date"


class TestChecks:
    @pytest.mark.parametrize(
        ("arguments", "error", "words"),
        [
            ((3, 0, 1, 1.0), TypeError, "'feature' of a Slope must be a str. Got 3"),
            (("a", "0", 1, 1.0), TypeError, "'lower' of a Slope must be a number, a date or a"),
            (("a", 0, True, 1.0), TypeError, "'upper' of a Slope must be a number, a date or a"),
            (("a", 0, None, 1.0), TypeError, "'upper' of a Slope must be a number, a date or a"),
            (("a", 0, np.inf, 1.0), ValueError, "'upper' of a Slope must be a finite number"),
            (("a", 0, 1, "1"), TypeError, "'weight' of a Slope must be a number"),
            (("a", 0, 1, np.nan), ValueError, "'weight' of a Slope must be a finite number"),
            (("a", 1, 0, 1.0), ValueError, "must be below its 'upper' end. Got 1 and 0"),
            (("a", 1, 1, 1.0), ValueError, "must be below its 'upper' end. Got 1 and 1"),
            (("a", 0, 1, 1.0, 0, 2), ValueError, "between its ends, 0 and 1. Got 2"),
            (("a", 0, 1, 1.0, 0, np.nan), ValueError, "'missing' of a Slope must be a finite"),
            (("a", 0, 1, 1.0, 0, None, 3), ValueError, "'n_conditions' of a Slope must be 1 or 2"),
            (("a", date(2020, 1, 1), 3, 1.0), TypeError, "of one kind.*Got 2020-01-01 and 3"),
            (("a", 0, 1, 1.0, 0, time(1)), TypeError, "0 and 1, and 01:00 for missing cells"),
            (("a", time(1), timedelta(1), 1.0), TypeError, "must be of one kind"),
            (("a", -1.7e308, 1.7e308, 1.0), ValueError, "must add finite numbers"),
            (("a", 0, 1e10, 1e300), ValueError, "weight 1e.300 from 0 to 10000000000"),
        ],
    )
    def test_refused(self, arguments, error, words):
        with pytest.raises(error, match=words):
            Slope(*arguments)

    @pytest.mark.parametrize(
        "value",
        [
            replace(AGE, missing=30, output=2),
            BOOKED,
            Slope("at", time(9), time(12), 1.0, missing=time(10)),
            Slope("wait", timedelta(0), timedelta(2), 1.0),
        ],
    )
    def test_equal_hashable_and_picklable(self, value):
        for other in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert other == value
            assert hash(other) == hash(value)
            assert str(other) == str(value)
        assert not hasattr(value, "__dict__")
        with pytest.raises(FrozenInstanceError):
            value.weight = 3.0

    def test_equality(self):
        assert Slope("age", 25.0, np.float32(68), np.float64(0.031)) == AGE
        assert replace(AGE, n_conditions=1) == AGE
        for change in ({"feature": "a"}, {"lower": 3}, {"upper": 70}, {"weight": 1}, {"output": 1}):
            assert replace(AGE, **change) != AGE
        assert replace(AGE, missing=25) != AGE
        assert replace(AGE, weight=7, output=3).key == AGE.key
        assert Slope("t", pd.Timestamp("2020-01-01"), np.datetime64("2021-01-01T00"), 1.0) == Slope(
            "t", datetime(2020, 1, 1), datetime(2021, 1, 1), 1.0
        )
        assert str(Slope("a", -0.0, 1, 1.0)) == str(Slope("a", 0, 1, 1.0))


DAY = date(2020, 1, 1)
NOON = datetime(2020, 1, 1, 12)


@pytest.mark.parametrize(
    ("slope", "text"),
    [
        (AGE, "+0.3100 per 10 of age from 25 to 68"),
        (replace(AGE, missing=41.5), "+0.3100 per 10 of age from 25 to 68 (41.5 if missing)"),
        (Slope("rooms", 6, 8.5, 1240.0), "+1,240 per unit of rooms from 6 to 8.5"),
        (Slope("children", 0, 12, -0.25), "-0.2500 per unit of children from 0 to 12"),
        (Slope("share", 0, 1, 2.0), "+2.000 per unit of share from 0 to 1"),
        (Slope("percent", 0, 100, 0.02), "+0.2000 per 10 of percent from 0 to 100"),
        (Slope("pH", 3.1, 3.9, 2.0), "+0.2000 per 0.1 of pH from 3.1 to 3.9"),
        (Slope("x", 0, 0.00012, 5.0), "+0.0005000 per 0.0001 of x from 0 to 0.00012"),
        (Slope("x", 0, 3e-8, 5e7), "+0.5000 per 1e-08 of x from 0 to 3e-08"),
        (Slope("x", 0, 5e-324, 5e300), "+2.470e-23 per 5e-324 of x from 0 to 5e-324"),
        (Slope("income", 2e4, 9e4, 1e-5), "+0.1000 per 10,000 of income from 20000 to 90000"),
        (Slope("x", 0, 5e6, 1e-9), "+0.001000 per 1,000,000 of x from 0 to 5000000"),
        (Slope("x", 0, 5e20, 1e-20), "+1.000 per 1e+20 of x from 0 to 5e+20"),
        (Slope("x", -300, -10.5, 1.0), "+10.00 per 10 of x from -300 to -10.5"),
        (Slope("a & b", 0, 1, 0.0), "+0.000 per unit of 'a & b' from 0 to 1"),
        (
            replace(BOOKED, weight=0.01 / 365.25),
            "+0.01000 per year of booked from 2020-01-01 to 2024-01-01",
        ),
        (
            Slope("d", DAY, date(2020, 9, 1), 0.1, missing=date(2020, 3, 1)),
            "+3.044 per month of d from 2020-01-01 to 2020-09-01 (2020-03-01 if missing)",
        ),
        (
            Slope("d", DAY, date(2020, 1, 8), 0.1),
            "+0.1000 per day of d from 2020-01-01 to 2020-01-08",
        ),
        (
            Slope("d", DAY, date(2020, 1, 2), 0.1),
            "+0.1000 per day of d from 2020-01-01 to 2020-01-02",
        ),
        (
            Slope("t", NOON, datetime(2020, 1, 2), 24.0),
            "+1.000 per hour of t from 2020-01-01 12:00 to 2020-01-02 00:00",
        ),
        (Slope("t", time(9), time(17), 0.5), "+0.5000 per hour of t from 09:00 to 17:00"),
        (Slope("t", time(9), time(10), 60.0), "+1.000 per minute of t from 09:00 to 10:00"),
        (
            Slope("t", time(9), time(9, 0, 0, 5), 3600.0),
            "+1.000 per second of t from 09:00 to 09:00:00.000005",
        ),
        (
            Slope("wait", timedelta(0), timedelta(days=5), 0.5),
            "+12.00 per day of wait from 0 s to 5 d",
        ),
        (
            Slope("wait", timedelta(0), timedelta(minutes=90), 6.0),
            "+0.1000 per minute of wait from 0 s to 90 min",
        ),
    ],
)
def test_text(slope, text):
    assert str(slope) == text
    assert repr(slope) == f"<Slope: {text}>"
    weight, _, words = text.partition(" ")
    assert slope.words() == words
    assert words.endswith(slope.text())
    assert RuleEnsemble((slope,)).term_text(slope) == text
    assert_allclose(slope.step_weight, float(weight.replace(",", "")), rtol=1e-3, atol=1e-300)


@given(st.floats(-1e300, 1e300), st.floats(1e-290, 1e300))
def test_a_range_has_a_few_steps(lower, width):
    upper = lower + width
    if not lower < upper:
        return
    step = Slope("a", lower, upper, 0.0).step
    assert 0.999 < (upper - lower) / step.size < 30.001


ENSEMBLE = RuleEnsemble(
    (
        replace(AGE, feature="a_b%", missing=30.5, weight=0.05),
        Rule(Query((Condition("sex", "==", "f"),)), -1.5),
        replace(BOOKED, weight=-0.002),
    ),
    intercept=0.25,
)


class TestTables:
    def test_aligned(self):
        assert str(ENSEMBLE).split("\n") == [
            "+0.2500 (intercept)",
            "+0.5000 per 10 of a_b% from 25 to 68 (30.5 if missing)",
            " -1.500 if sex == f",
            "-0.7305 per year of booked from 2020-01-01 to 2024-01-01",
        ]
        assert repr(ENSEMBLE).startswith("<RuleEnsemble: 1 rule, 2 slopes, 5 conditions>\n")
        assert repr(RuleEnsemble((AGE,))).startswith("<RuleEnsemble: 1 slope, 2 conditions>\n")

    def test_classes(self):
        outputs = (Output("no", 0.5), Output("yes", -0.5), Output("maybe", 0.0))
        ensemble = RuleEnsemble((replace(AGE, output=1),), outputs=outputs)
        assert str(ensemble).split("\n")[-1] == "+0.3100 for yes per 10 of age from 25 to 68"
        assert ensemble.to_frame("pandas")["class"].tolist() == ["yes"]
        assert "| yes | +0.3100 | `per 10 of age from 25 to 68` |" in ensemble.to_markdown()
        assert r"yes & $+0.3100$ & per 10 of age from 25 to 68 \\" in ensemble.to_latex()

    def test_markdown(self):
        assert ENSEMBLE.to_markdown().split("\n")[:4] == [
            "| weight | term |",
            "|---:|:---|",
            "| +0.2500 | (intercept) |",
            "| +0.5000 | `per 10 of a_b% from 25 to 68 (30.5 if missing)` |",
        ]

    def test_latex(self):
        assert ENSEMBLE.to_latex().split("\n")[4:7] == [
            r"$+0.2500$ & (intercept) \\",
            r"$+0.5000$ & per 10 of a\_b\% from 25 to 68 (30.5 if missing) \\",
            r"$-1.500$ & sex $=$ f \\",
        ]

    def test_html_bars_show_effects(self):
        html = RuleEnsemble((AGE, Rule(Query(), -0.6665)))._repr_html_()
        # The rule adds half of what the slope adds at its upper end.
        assert "width: 50.0%" in html
        assert "left: 25.0%; width: 25.0%" in html
        assert "per 10 of age from 25 to 68" in html
        escaped = RuleEnsemble((replace(AGE, feature="<b>"),))._repr_html_()
        assert "&lt;b&gt;" in escaped
        assert "<b>" not in escaped

    @pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
    def test_frame(self, backend):
        frame = ENSEMBLE.to_frame(backend)
        cells = pl.DataFrame(frame).to_dict(as_series=False)
        assert cells == {
            "term": [1, 2, 3],
            "kind": ["slope", "rule", "slope"],
            "weight": [0.05, -1.5, -0.002],
            "text": [
                "a_b% from 25 to 68 (30.5 if missing)",
                "sex == f",
                "booked from 2020-01-01 to 2024-01-01",
            ],
            "n_conditions": [2, 1, 2],
        }
