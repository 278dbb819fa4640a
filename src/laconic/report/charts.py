"""Coordinates of charts, which templates draw as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from laconic.terms.formatting import number_text

Numbers: TypeAlias = Sequence[float]
Range: TypeAlias = tuple[float, float]

# Margins of charts with axes: for numbers and a label below, and half a number on the right.
_RIGHT, _TOP, _BOTTOM = 16, 10, 34
# The left margin: for a label, and for each character of a number.
_LABEL_WIDTH, _CHARACTER_WIDTH = 20, 7.0
_DIGITS = 2
# With more terms, points would hide their line.
_MAX_PATH_POINTS = 30
# The largest share of a chart for sizes that score worse than no model.
_WORSE_SHARE = 0.25


@dataclass(frozen=True)
class Scale:
    """Linear map from numbers to coordinates.

    Examples
    --------
    >>> Scale(0, 10, 100, 200)(5)
    150.0
    """

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, number: float) -> float:
        """Return the coordinate of a number."""
        width = self.high - self.low
        share = (number - self.low) / width if width else 0.5
        return round(self.start + share * (self.stop - self.start), _DIGITS)


def ticks(low: float, high: float, n_ticks: int = 4) -> list[float]:
    """Return rounded numbers in a range, about as many as requested.

    Examples
    --------
    >>> ticks(0, 1), ticks(-37, 180)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 50.0, 100.0, 150.0])
    """
    if not high > low:
        return [low]
    raw = (high - low) / n_ticks
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((power, 2 * power, 5 * power, 10 * power), key=lambda width: abs(width - raw))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _marks(scale: Scale, numbers: Numbers) -> list[dict[str, Any]]:
    return [{"at": scale(number), "text": number_text(number)} for number in numbers]


def _axes(
    width: int, height: int, x_range: Range, y_range: Range, x_ticks: Numbers, y_ticks: Numbers
) -> tuple[dict[str, Any], Scale, Scale]:
    """Place the axes of a chart, so that the numbers on its left have room."""
    n_characters = max((len(number_text(number)) for number in y_ticks), default=0)
    left = round(_LABEL_WIDTH + n_characters * _CHARACTER_WIDTH, _DIGITS)
    right, bottom = width - _RIGHT, height - _BOTTOM
    x, y = Scale(*x_range, left, right), Scale(*y_range, bottom, _TOP)
    frame = {"left": left, "right": right, "top": _TOP, "bottom": bottom}
    marks = {"x_marks": _marks(x, x_ticks), "y_marks": _marks(y, y_ticks)}
    return {"width": width, "height": height} | frame | marks, x, y


def _padded(low: float, high: float) -> Range:
    """Widen a range a little, also if it is a single number."""
    pad = 0.06 * (high - low) or abs(high) * 0.1 or 1.0
    return low - pad, high + pad


def path_chart(metric: dict[str, Any]) -> dict[str, Any]:
    """Return the chart of a score: points, their line, that of a baseline and that of a constant.

    The axis starts at the score of no model, or a little below: much worse scores are outside. Each
    size has a column to point at.
    """
    values, constant, baseline = metric["values"], metric["constant"], metric["baseline"] or []
    x_range = (0, max(len(values) - 1, 1))
    y_range = _score_range(values, baseline, constant, metric["is_higher_better"])
    whole = sorted({round(number) for number in ticks(*x_range, 5)})
    axes, x, y = _axes(300, 170, x_range, y_range, whole, ticks(*y_range, 3))
    points = [
        {"x": x(size), "y": y(value), "is_shown": y_range[0] <= value <= y_range[1]}
        for size, value in enumerate(values)
    ]
    edges = [x(size - 0.5) for size in range(1, len(values))]
    return axes | {
        "points": points,
        "columns": [
            {"x": left, "width": round(right - left, _DIGITS)}
            for left, right in pairwise([axes["left"], *edges, axes["right"]])
        ],
        "radius": 3 if len(points) <= _MAX_PATH_POINTS else 0,
        "line": _line(x, y, values, y_range),
        "baseline": _line(x, y, baseline, y_range),
        "constant": y(constant),
    }


def forest_chart(terms: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the chart of effects: for each term its interval, its estimate and its weight."""
    known = [term for term in terms if term["effect"] is not None]
    numbers = [value for term in known for value in term["effect"].values()]
    low, high = _padded(min([0.0, *numbers]), max([0.0, *numbers]))
    row, left, width = 22, 60, 400
    height = row * len(known) + _TOP + _BOTTOM
    x = Scale(low, high, left, width - _RIGHT)
    frame = {"left": left, "right": width - _RIGHT, "top": _TOP, "bottom": height - _BOTTOM}
    marks = {"x_marks": _marks(x, ticks(low, high, 5)), "y_marks": []}
    rows = [
        {
            "number": term["number"],
            "y": _TOP + row * (place + 0.5),
            "top": _TOP + row * place,
            **{name: x(value) for name, value in term["effect"].items()},
            "effect": term["effect"],
        }
        for place, term in enumerate(known)
    ]
    return (
        {"width": width, "height": height, "zero": x(0.0), "row": row, "rows": rows} | frame | marks
    )


def fan_chart(intervals: dict[str, Any]) -> dict[str, Any]:
    """Return the chart of intervals: a band around the predictions, as wide as in each group.

    It ends at the ``least`` value of the target, such as 0 of counts.
    """
    edges, half_widths = intervals["edges"], intervals["half_widths"]
    rest = (edges[-1] - edges[0]) / len(edges) or abs(edges[0]) or 1.0
    least = -math.inf if intervals["least"] is None else intervals["least"]
    ends = [max(edges[0] - rest, least), *edges, edges[-1] + rest]
    parts = [*zip(pairwise(ends), half_widths, strict=True)]
    below = [_lower_edge(low, high, width, least) for (low, high), width in parts]
    above = [((high, high + width), (low, low + width)) for (low, high), width in parts]
    numbers = [number for edge in (*below, *above) for _, number in edge]
    x_range, y_range = (ends[0], ends[-1]), _padded(min(numbers), max(numbers))
    axes, x, y = _axes(400, 240, x_range, y_range, ticks(*x_range), ticks(*y_range))
    bands = [
        " ".join(f"{x(end)},{y(number)}" for end, number in (*lower, *upper))
        for lower, upper in zip(below, above, strict=True)
    ]
    line = {"x1": x(ends[0]), "y1": y(ends[0]), "x2": x(ends[-1]), "y2": y(ends[-1])}
    return axes | {"bands": bands, "line": line}


def _lower_edge(low: float, high: float, width: float, least: float) -> list[Range]:
    """Return the corners of the lower edge of a band: where it leaves the least value, too."""
    kinks = [least + width] if low < least + width < high else []
    return [(end, max(end - width, least)) for end in (low, *kinks, high)]


def _score_range(
    values: Numbers, baseline: Numbers, constant: float, is_higher_better: bool
) -> Range:
    """Return the range from no model to the best one, including slightly worse scores."""
    sign = 1 if is_higher_better else -1
    scores = [sign * value for value in (*values, *baseline, constant)]
    worst, best = min(scores), max(scores)
    if best > sign * constant:
        limit = sign * constant - _WORSE_SHARE * (best - sign * constant)
        worst = max(worst, min(limit, max(sign * value for value in values)))
    return _padded(*sorted((sign * worst, sign * best)))


def _line(x: Scale, y: Scale, values: Numbers, y_range: Range) -> str:
    """Write the path through the values of the sizes 0, 1, ..., clipped to the range."""
    low, high = y_range
    parts = []
    for size, (before, after) in enumerate(pairwise(values)):
        shares = [0.0, 1.0]
        if before != after:
            # Where the segment enters the range and leaves it.
            crossings = sorted((edge - before) / (after - before) for edge in y_range)
            shares = [max(0.0, crossings[0]), min(1.0, crossings[1])]
        if shares[0] <= shares[1] and (before != after or low <= before <= high):
            (x1, y1), (x2, y2) = (
                # Rounding must not take it out of the range.
                (x(size + share), y(min(max(before + share * (after - before), low), high)))
                for share in shares
            )
            parts.append(f"M{x1},{y1}L{x2},{y2}")
    return "".join(parts)


def calibration_chart(bins: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the chart of frequencies over probabilities; larger points stand for more rows."""
    axes, x, y = _axes(380, 340, (0, 1), (0, 1), ticks(0, 1), ticks(0, 1))
    largest = max(entry["n_rows"] for entry in bins)
    return axes | {
        "points": [
            {
                "x": x(entry["predicted"]),
                "y": y(entry["observed"]),
                "low": y(entry["low"]),
                "high": y(entry["high"]),
                # The area of a point grows with its number of rows.
                "radius": round(3 + 6 * math.sqrt(entry["n_rows"] / largest), _DIGITS),
                "bin": entry,
            }
            for entry in bins
        ],
    }


def residual_chart(points: Sequence[Numbers]) -> dict[str, Any]:
    """Return the chart of residuals over predictions, with a point per row."""
    predictions, residuals = zip(*points, strict=True)
    x_range = _padded(min(predictions), max(predictions))
    y_range = _padded(min(*residuals, 0.0), max(*residuals, 0.0))
    axes, x, y = _axes(400, 310, x_range, y_range, ticks(*x_range, 5), ticks(*y_range, 5))
    return axes | {
        "points": [
            {"x": x(prediction), "y": y(residual), "prediction": prediction, "residual": residual}
            for prediction, residual in points
        ],
        "zero": y(0.0),
    }


def histogram_chart(histogram: dict[str, Any]) -> dict[str, Any]:
    """Return the chart of a histogram."""
    edges, counts = histogram["edges"], histogram["counts"]
    x_range, y_range = (edges[0], edges[-1]), (0, max(counts))
    whole = [number for number in ticks(*y_range) if number == round(number)]
    axes, x, y = _axes(400, 310, x_range, y_range, ticks(*x_range), whole)
    return axes | {"bars": _bars(x, y, edges, counts)}


def sparkline(histogram: dict[str, Any]) -> dict[str, Any]:
    """Return the bars of a histogram without axes, for a row of a table."""
    edges, counts = histogram["edges"], histogram["counts"]
    x, y = Scale(edges[0], edges[-1], 0, 100), Scale(0, max(counts), 24, 0)
    return {"width": 100, "height": 24, "bars": _bars(x, y, edges, counts)}


def _bars(x: Scale, y: Scale, edges: Numbers, counts: Sequence[int]) -> list[dict[str, Any]]:
    return [
        {
            "x": x(left),
            "y": y(count),
            "width": round(x(right) - x(left), _DIGITS),
            "height": round(y(0) - y(count), _DIGITS),
            "count": count,
            "from": left,
            "to": right,
        }
        for left, right, count in zip(edges, edges[1:], counts, strict=False)
        if count
    ]
