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


def metric(values, constant, *, is_higher_better=True, baseline=None):
    return {
        "values": values,
        "constant": constant,
        "baseline": baseline,
        "is_higher_better": is_higher_better,
    }


def ends(line):
    """Points of a path of segments."""
    pairs = [pair.split(",") for pair in line.replace("M", " ").replace("L", " ").split()]
    return [{"x": float(x), "y": float(y)} for x, y in pairs]


@given(
    st.lists(NUMBERS, min_size=1, max_size=40),
    NUMBERS,
    st.booleans(),
    st.none() | st.lists(NUMBERS, min_size=1, max_size=5),
)
def test_a_path_stays_in_its_frame(values, constant, is_higher_better, baseline):
    baseline = baseline and baseline[: len(values)]
    path = metric(values, constant, is_higher_better=is_higher_better, baseline=baseline)
    chart = path_chart(path)
    assert len(chart["points"]) == len(chart["columns"]) == len(values)
    assert inside(chart, [point for point in chart["points"] if point["is_shown"]])
    assert inside(chart, ends(chart["line"]) + ends(chart["baseline"]))
    assert chart["top"] <= chart["constant"] <= chart["bottom"]
    best = max(values) if is_higher_better else min(values)
    assert chart["points"][values.index(best)]["is_shown"]
    assert all(mark["text"] == str(int(mark["text"])) for mark in chart["x_marks"])


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_far_worse_than_no_model_does_not_squeeze_the_rest(sign):
    values = [sign * value for value in (-9.0, -4.0, 0.5, 0.8)]
    chart = path_chart(metric(values, 0.0, is_higher_better=sign > 0))
    assert [point["is_shown"] for point in chart["points"]] == [False, False, True, True]
    assert abs(chart["points"][3]["y"] - chart["constant"]) > (chart["bottom"] - chart["top"]) / 2
    # The line comes in from the edge.
    assert ends(chart["line"])[0]["y"] == (chart["bottom"] if sign > 0 else chart["top"])


def test_a_path_that_is_better_than_no_model_is_all_there():
    chart = path_chart(metric([0.5, 0.8, 0.9], 0.5, baseline=[0.5, 0.7]))
    assert all(point["is_shown"] for point in chart["points"])
    assert ends(chart["line"])[::3] == [
        {"x": point["x"], "y": point["y"]} for point in (chart["points"][0], chart["points"][2])
    ]
    assert len(ends(chart["baseline"])) == 2


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
    narrow, wide = (path_chart(metric([x, 2 * x], x)) for x in (0.1, 1e5))
    assert wide["left"] > narrow["left"]
