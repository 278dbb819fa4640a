"""Controls of a what-if, and the rows that it starts from."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports import column

from laconic import Condition
from laconic.report.what_if import control, typical_value

NUMBERS = st.floats(-1e9, 1e9).map(lambda number: round(number, 3))


@pytest.mark.parametrize("dtype", [float, object])
def test_a_column_without_values_has_no_typical_one(dtype):
    assert typical_value(column([None, None], dtype=dtype)) is None


def test_typical_values_are_medians_and_modes():
    assert typical_value(column([1, 2, 3, 10])) == 2.0
    assert typical_value(column([0.123456, 0.123456])) == 0.1235
    assert typical_value(column(["a", "b", "b", None])) == "b"
    assert typical_value(column(["a", "b", None, None])) is None
    assert typical_value(column([1.0, None, None])) is None
    assert typical_value(column([True, True, False])) is True


@given(st.lists(NUMBERS, min_size=1), st.lists(NUMBERS, min_size=1, max_size=5))
def test_both_sides_of_each_threshold_are_within_reach_of_the_slider(cells, thresholds):
    conditions = [Condition("x", "<=", threshold) for threshold in thresholds]
    slider = control(column(cells, dtype=float), conditions, [])
    stops = slider["stops"]
    assert 2 <= len(stops) <= 150
    assert all(before < after for before, after in pairwise(stops))
    assert stops[0] <= min(cells)
    assert stops[-1] >= max(cells)
    # One on each side of all thresholds, where the column could have one.
    edges = sorted({math.floor(t) if slider["kind"] == "integer" else t for t in thresholds})
    for lower, upper in pairwise([-math.inf, *edges, math.inf]):
        assert any(lower < stop <= upper for stop in stops)


@pytest.mark.parametrize("number", [0.0, 5e-324, -1e-308, 1e308, -1e308])
def test_numbers_of_any_size_have_a_slider(number):
    slider = control(column([number, 0.0]), [Condition("x", ">", number)], [])
    assert 2 <= len(slider["stops"]) <= 150
    assert slider["stops"][0] < slider["stops"][-1]


def test_integers_have_whole_stops():
    slider = control(column([0, 3, 5]), [Condition("x", "<=", 2)], [])
    assert slider["kind"] == "integer"
    assert slider["stops"] == [0, 1, 2, 3, 4, 5]


def test_the_stops_of_a_skewed_column_have_rows_between_them():
    cells = np.exp(np.random.default_rng(0).normal(3, 2, 5000))
    stops = np.array(control(column(cells), [], [])["stops"])
    middle = np.searchsorted(stops, np.median(cells)) / len(stops)
    assert 0.4 < middle < 0.6
    # To the last row, without a jump over most of the range.
    assert stops[0] <= cells.min()
    assert cells.max() <= stops[-1] <= 1.001 * cells.max()
    assert np.diff(stops).max() <= 0.11 * cells.max()
    # Not the numbers of single rows.
    assert not set(stops[1:-1]) & set(cells)


def test_a_frequent_number_is_a_stop_as_it_is():
    cells = [*np.random.default_rng(0).gamma(1, 30, 500), *[49.99] * 60]
    assert 49.99 in control(column(cells), [], [])["stops"]


def test_a_skewed_column_of_integers_has_whole_stops():
    cells = np.floor(np.exp(np.random.default_rng(0).normal(3, 2, 5000)))
    stops = control(column(cells), [Condition("x", ">", 7.5)], [])["stops"]
    assert all(stop == round(stop) for stop in stops)
    assert {7.0, 8.0} <= set(stops)
    assert stops[-1] >= cells.max()


def test_a_menu_has_all_values_of_rules_and_rows_and_one_that_is_none_of_them():
    cells = [f"value {n % 200}" for n in range(1000)]
    menu = control(column(cells), [Condition("x", "==", "rare")], ["value 199", None, "other"])
    values = [option["value"] for option in menu["options"]]
    assert {"rare", "value 199", "other"} <= set(values)
    assert len(values) < 70
    assert menu["other"] not in values


def test_a_menu_of_numbers_has_another_number():
    menu = control(column([3, 5], dtype="category"), [Condition("x", "==", 5)], [])
    assert [option["value"] for option in menu["options"]] == [3, 5]
    assert menu["other"] == 6.0


def test_conditions_tell_what_an_empty_column_holds():
    empty = column([None, None], dtype=object)
    assert control(empty, [Condition("x", ">", 3)], [])["kind"] == "number"
    assert control(empty, [Condition("x", "==", "a")], [])["kind"] == "category"
