"""Coordinates of charts: within their frames, whatever the numbers."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.report.charts import (
    calibration_chart,
    histogram_chart,
    path_chart,
    residual_chart,
    sparkline,
    ticks,
)

NUMBERS = st.floats(-1e12, 1e12)


@given(NUMBERS, st.floats(1e-6, 1e12), st.integers(2, 6))
def test_ticks_ascend_within_their_range(low, width, n_ticks):
    high = low + width
    # Closer numbers are the same when written with twelve digits.
    if width < 1e-6 * abs(low):
        return
    numbers = ticks(low, high, n_ticks)
    assert 1 <= len(numbers) <= 2 * n_ticks + 2
    assert all(before < after for before, after in pairwise(numbers))
    assert low - 1e-6 * width <= numbers[0]
    assert numbers[-1] <= high + 1e-6 * width


def test_a_range_of_one_number_has_one_tick():
    assert ticks(3.0, 3.0) == [3.0]


def inside(chart, points):
    return all(
        chart["left"] <= point["x"] <= chart["right"]
        and chart["top"] <= point["y"] <= chart["bottom"]
        for point in points
    )


@given(st.lists(NUMBERS, min_size=1, max_size=40))
def test_a_path_stays_in_its_frame(values):
    chart = path_chart(range(len(values)), values)
    assert len(chart["points"]) == len(values)
    assert inside(chart, chart["points"])
    assert all(mark["text"] == str(int(mark["text"])) for mark in chart["x_marks"])


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20))
def test_residuals_stay_in_their_frame_and_zero_is_in_it(points):
    chart = residual_chart(points)
    assert inside(chart, chart["points"])
    assert chart["top"] <= chart["zero"] <= chart["bottom"]


def test_calibration_points_have_the_size_of_their_group():
    entry = {"predicted": 0.2, "observed": 0.1, "low": 0.05, "high": 0.3}
    chart = calibration_chart([entry | {"n_rows": 1}, entry | {"n_rows": 100}])
    assert inside(chart, chart["points"])
    small, large = chart["points"]
    assert small["radius"] < large["radius"]
    assert small["high"] < small["y"] < small["low"]


@pytest.mark.parametrize("draw", [histogram_chart, sparkline])
def test_bars_are_as_high_as_their_counts(draw):
    chart = draw({"edges": [0.0, 1.0, 2.0, 3.0], "counts": [2, 0, 4]})
    half, whole = chart["bars"]
    assert whole["height"] == 2 * half["height"]
    assert half["width"] == pytest.approx(whole["width"], abs=0.02)


def test_large_numbers_have_room_on_the_left():
    narrow, wide = path_chart([0, 1], [0.1, 0.2]), path_chart([0, 1], [1e5, 2e5])
    assert wide["left"] > narrow["left"]
