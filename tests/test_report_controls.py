"""Controls of a what-if, and the rows that it starts from."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic import Proposition
from laconic.report.controls import control, typical_value
from reports import column

NUMBERS = st.floats(-1e9, 1e9).map(lambda number: round(number, 3))


@pytest.mark.parametrize("dtype", [float, object])
def test_a_column_without_values_has_no_typical_one(dtype):
    assert typical_value(column([None, None], dtype=dtype)) is None


def test_typical_values_are_medians_and_modes():
    assert typical_value(column([1, 2, 3, 10])) == 2.0
    assert typical_value(column([0.123456, 0.123456])) == 0.1235
    assert typical_value(column(["a", "b", "b", None])) == "b"
    assert typical_value(column([True, True, False])) is True


@given(st.lists(NUMBERS, min_size=1), st.lists(NUMBERS, min_size=1, max_size=5))
def test_both_sides_of_each_threshold_are_within_reach_of_the_slider(cells, thresholds):
    propositions = [Proposition("x", "<=", threshold) for threshold in thresholds]
    slider = control(column(cells, dtype=float), propositions, [])
    assert slider["low"] <= min(thresholds)
    assert slider["high"] > max(thresholds)
    assert slider["step"] > 0
    n_stops = (slider["high"] - slider["low"]) / slider["step"]
    assert n_stops <= 205
    assert math.isclose(n_stops, round(n_stops), rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize("number", [0.0, 5e-324, -1e-308, 1e308, -1e308])
def test_numbers_of_any_size_have_a_slider(number):
    slider = control(column([number, 0.0]), [Proposition("x", ">", number)], [])
    assert slider["low"] < slider["high"]
    assert slider["step"] > 0


def test_integers_have_whole_stops():
    slider = control(column([0, 3, 5]), [Proposition("x", "<=", 2)], [])
    assert (slider["kind"], slider["low"], slider["high"], slider["step"]) == ("integer", 0, 5, 1)


def test_a_menu_has_all_values_of_rules_and_rows_and_one_that_is_none_of_them():
    cells = [f"value {n % 200}" for n in range(1000)]
    menu = control(column(cells), [Proposition("x", "==", "rare")], ["value 199", None, "other"])
    values = [option["value"] for option in menu["options"]]
    assert {"rare", "value 199", "other"} <= set(values)
    assert len(values) < 70
    assert menu["other"] not in values


def test_a_menu_of_numbers_has_another_number():
    menu = control(column([3, 5], dtype="category"), [Proposition("x", "==", 5)], [])
    assert [option["value"] for option in menu["options"]] == [3, 5]
    assert menu["other"] == 6.0


def test_conditions_tell_what_an_empty_column_holds():
    empty = column([None, None], dtype=object)
    assert control(empty, [Proposition("x", ">", 3)], [])["kind"] == "number"
    assert control(empty, [Proposition("x", "==", "a")], [])["kind"] == "category"
