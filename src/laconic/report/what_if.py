"""The what-if part of a report: a control per feature, rows to start from, and the program."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from laconic._util.types import Floats, Indices
from laconic.export import to_javascript
from laconic.export.portable import compared_values
from laconic.models import RuleModel
from laconic.report.features import category_counts, column_kind, frequency_order, known_numbers
from laconic.tables.columns import CategoricalColumn, Category, Column, NumericColumn, TimeColumn
from laconic.tables.times import DAY, HOUR, MINUTE, SECOND, kind_of, microseconds
from laconic.terms.conditions import Condition, by_feature
from laconic.terms.formatting import format_number, plain_text, value_text
from laconic.trust.intervals import share_words


def describe_what_if(
    model: RuleModel, columns: Sequence[Column], y: ArrayLike, sample: Indices
) -> dict[str, Any]:
    """Describe the features that terms use, rows to start from, and the model as a program.

    Ranges, categories and rows are those of the given columns, which terms use. ``javascript`` is
    None, for the given ``reason``, if the model cannot be exported: its loss may be user-defined.
    ``share`` is how many new rows intervals are for, such as "9 of 10"; None without intervals.
    """
    try:
        javascript, reason = to_javascript(model), None
    except ValueError as error:
        javascript, reason = None, str(error)
    conditions = by_feature(model.ensemble_.conditions)
    ends: defaultdict[str, list[Any]] = defaultdict(list)
    for slope in model.ensemble_.slopes:
        ends[slope.feature] += [slope.lower, slope.upper]
    rows = [[_cell(column, row) for column in columns] for row in sample.tolist()]
    observed = np.asarray(y)[sample].tolist()
    intervals = model.own_trust.intervals
    return {
        "javascript": javascript,
        "reason": reason,
        "share": None if intervals is None else share_words(intervals.level),
        "controls": [
            control(
                column,
                conditions.get(column.name, ()),
                [row[position] for row in rows],
                ends[column.name],
            )
            for position, column in enumerate(columns)
        ],
        "typical": [typical_value(column) for column in columns],
        "rows": [
            {"row": row, "observed": label, "observed_label": _label(label), "values": values}
            for row, label, values in zip(sample.tolist(), observed, rows, strict=True)
        ],
    }


def _cell(column: Column, row: int) -> Category | None:
    """Return the value of a row as scripts represent it."""
    if not isinstance(column, TimeColumn):
        return cast(Category | None, column.cell(row))
    number = float(column.values[row])
    return None if np.isnan(number) else script_time(column.kind, number)


def _label(observed: Category) -> str:
    return format_number(observed) if isinstance(observed, float) else value_text(observed)


# The largest number of frequent categories in a menu.
MAX_MENU = 60
# Stops of a slider: fine enough to reach any place, few enough for the arrow keys.
N_STOPS = 100
# Steps of times, in microseconds.
STEPS = {"date": DAY, "datetime": HOUR, "time": MINUTE, "duration": SECOND}
_LATEST = {"time": float(DAY - SECOND)} | dict.fromkeys(("date", "datetime", "duration"), math.inf)
# A slider has stops in each of that many parts of the range of a column.
N_JUMPS = 20


def typical_value(column: Column) -> Category | None:
    """Return the median of numbers or the most frequent category; None if most are missing."""
    n_missing = np.count_nonzero(column.missing)
    if isinstance(column, CategoricalColumn):
        counts = category_counts(column)
        is_known = counts.max(initial=0) > n_missing
        return column.categories[int(counts.argmax())] if is_known else None
    known = known_numbers(column)
    if n_missing >= len(known):
        return None
    if isinstance(column, TimeColumn):
        step = STEPS[column.kind]
        return script_time(column.kind, float(np.quantile(known, 0.5) // step * step))
    if column_kind(column) == "integer":
        return float(np.quantile(known, 0.5, method="lower"))
    return float(f"{np.median(known):.4g}")


def control(
    column: Column,
    conditions: Collection[Condition],
    occurring: Collection[Category | None],
    ends: Sequence[Any] = (),
) -> dict[str, Any]:
    """Describe the control by which a reader changes a feature.

    A slider has ``stops`` from the smallest to the largest number of the column, with equally many
    rows between neighbours, whatever the distribution. The thresholds of all conditions and the
    ends of slopes, which make it ``is_sloped``, are among them. The ``options`` of a menu are the
    values of these conditions and those that occur, and ``other`` is a value that differs from all
    of them.
    """
    values = [value for p in conditions for value in compared_values(p)]
    stops = [*values, *ends]
    kind = _control_kind(column, stops)
    described = {
        "name": column.name,
        "label": plain_text(column.name),
        "kind": kind,
        "is_sloped": bool(ends),
    }
    if kind in STEPS:
        return described | _time_slider(column, [microseconds(value) for value in stops], kind)
    if kind in ("number", "integer"):
        thresholds = [float(value) for value in stops]
        return described | _slider(column, thresholds, is_integer=kind == "integer")
    return described | _menu(column, values, occurring) if kind == "category" else described


def _control_kind(column: Column, values: Sequence[Category]) -> str:
    """Return the kind of a control; terms decide where the column has no values."""
    time_kind = next((kind for kind in map(kind_of, values) if kind is not None), None)
    if time_kind is not None and not isinstance(column, TimeColumn):
        return time_kind
    is_empty = isinstance(column, CategoricalColumn) and not column.categories
    if is_empty and values and not any(isinstance(value, str) for value in values):
        return "number"
    return column_kind(column)


def _slider(column: Column, thresholds: list[float], *, is_integer: bool) -> dict[str, Any]:
    known = known_numbers(column) if isinstance(column, NumericColumn) else np.empty(0)
    ends = [_outward(known.min(), -1), _outward(known.max(), 1)] if len(known) else []
    low, high = min([*ends, *thresholds], default=0.0), max([*ends, *thresholds], default=1.0)
    # A threshold belongs to its lower side; there must be a stop on the upper side, too.
    if high <= max(thresholds, default=low):
        step = _nice_step((high / N_STOPS - low / N_STOPS) or (abs(high) or 1.0) / N_STOPS)
        high += max(1.0, step) if is_integer else step
    if is_integer and high - low <= N_STOPS:
        return {"stops": [*map(float, range(math.floor(low), math.ceil(high) + 1))]}
    stops = {low, high, *thresholds}
    if len(known):
        stops |= {stop for stop in _quantiles(known) if low < stop < high}
    stops |= set(_between(sorted(stops), _nice_step(high / N_JUMPS - low / N_JUMPS)))
    return {"stops": sorted({float(math.floor(stop)) for stop in stops} if is_integer else stops)}


def _time_slider(column: Column, thresholds: list[float], kind: str) -> dict[str, Any]:
    """Return a slider through rounded times, as numbers that scripts use for them."""
    step = STEPS[kind]
    known = known_numbers(column) if isinstance(column, NumericColumn) else np.empty(0)
    in_steps = NumericColumn(column.name, np.floor(known / step))
    slider = _slider(in_steps, [limit / step for limit in thresholds], is_integer=kind == "date")
    numbers = {*(round(stop * step / 1000) * 1000.0 for stop in slider["stops"]), *thresholds}
    stops = sorted({script_time(kind, min(number, _LATEST[kind])) for number in numbers})
    return {"stops": stops}


def script_time(kind: str, number: float) -> float:
    """Return milliseconds of a date or a time of day, and seconds of a duration."""
    return number / (1e6 if kind == "duration" else 1e3)


def _outward(number: float, direction: int) -> float:
    """Round the end of a range to six digits, so that the range becomes no smaller."""
    rounded = float(f"{number:.6g}")
    if direction * rounded < direction * number:
        rounded += direction * 10.0 ** (math.floor(math.log10(abs(number))) - 5)
    return _trimmed(rounded) if math.isfinite(rounded) else float(number)


def _quantiles(known: Floats) -> list[float]:
    """Find numbers with equally many rows between neighbours, rounded as far as possible."""
    numbers = np.quantile(known, np.linspace(0, 1, N_STOPS + 1))
    distinct, counts = np.unique(numbers, return_counts=True)
    gaps = (distinct[2:] - distinct[:-2]).tolist()
    inner = zip(distinct[1:-1].tolist(), counts[1:-1].tolist(), gaps, strict=True)
    # A number that occurs often is not rounded, as no row has the rounded one.
    return [number if n > 1 else _rounded(number, gap / 4) for number, n, gap in inner]


def _between(stops: Sequence[float], step: float) -> list[float]:
    """Return rounded numbers between neighbouring stops that are far apart."""
    return [
        _trimmed(number * step)
        for before, after in pairwise(stops)
        if after - before > step
        for number in range(math.ceil(before / step + 0.25), math.ceil(after / step - 0.25))
    ]


def _rounded(number: float, width: float) -> float:
    """Round to a power of ten that is at most so wide."""
    if width < 1e-300:
        return number
    step = 10.0 ** math.floor(math.log10(width))
    return _trimmed(round(number / step) * step)


def _nice_step(width: float) -> float:
    """Round a width up to 1, 2 or 5 times a power of ten."""
    # Within the range of normal doubles.
    raw = min(max(width, 1e-300), 1e307)
    power = 10.0 ** math.floor(math.log10(raw))
    return power * next(factor for factor in (1, 2, 5, 10) if raw <= factor * power * (1 + 1e-9))


def _trimmed(number: float) -> float:
    """Remove the rounding error of a multiplication by a power of ten."""
    return float(f"{number:.12g}")


def _menu(
    column: Column, values: Sequence[Category], occurring: Collection[Category | None]
) -> dict[str, Any]:
    frequent: list[Category] = []
    if isinstance(column, CategoricalColumn):
        frequent = [column.categories[c] for c in frequency_order(category_counts(column))]
    wanted = [*values, *(value for value in occurring if value is not None), *frequent[:MAX_MENU]]
    options = sorted(dict.fromkeys(wanted), key=lambda value: (str(type(value)), value))
    return {
        "options": [{"value": value, "label": value_text(value)} for value in options],
        "other": _other_value(options),
    }


def _other_value(options: Sequence[Category]) -> Category:
    """Return a value of the same kind that is not on the menu."""
    numbers = [value for value in options if not isinstance(value, str)]
    if numbers:
        return float(max(numbers)) + 1
    other = "other"
    while other in options:
        other += "*"
    return other
