"""Rows on which an export is most likely to be wrong, and the comparison with the model on them.

They contain each threshold, the ends of slopes and the two floats next to them, the middle of
slopes, each category, unseen ones, missing values, zeros of either sign, very large and very small
numbers, and integers that no double equals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Bools, Floats
from laconic.export.portable import PortableModel, compared_by_feature
from laconic.models import Predictions, RuleModel
from laconic.tables.tables import as_table
from laconic.tables.times import DAY, Moment, from_microseconds, kind_of, microseconds
from laconic.terms.conditions import Condition
from laconic.terms.rules import Rule, Term
from laconic.terms.slopes import Slope, moment_of
from laconic.trust.intervals import target_range

_EXTREMES = (0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 2**53 + 1, -(2**53) - 1, 2**63 - 1)
_UNSEEN = ("laconic: unseen", "'", '"; --', "")

# Besides the rows made for single terms. Enough for every two edge values to meet by chance.
_N_MIXED_ROWS = 500

# Of probabilities: libraries compute exponentials to about 1e-15.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Outputs:
    """The output of a model or an export for some rows."""

    raw_predictions: Floats
    """Intercept plus what terms add; a column for each of three or more classes."""
    predictions: NDArray[Any]
    """Classes or numbers."""
    probabilities: Floats | None = None
    """Of the second class, or of each of three or more; None where there are no classes."""
    covered: NDArray[Any] | None = None
    """As `RuleEnsemble.covered`; None if the export does not return it."""
    intervals: NDArray[Any] | None = None
    """The ends of intervals, or which classes are in each set; None if the model was not
    calibrated, or the export does not return them."""


def edge_rows(portable: PortableModel) -> list[dict[str, Any]]:
    """Return rows at and next to every value at which a prediction changes; always the same.

    They have the columns that terms use, with None or NaN for missing values.
    """
    generator = np.random.default_rng(0)
    values = {name: edge_values(portable, name) for name in portable.kinds}

    def mixed_row() -> dict[str, Any]:
        return {name: cells[generator.integers(len(cells))] for name, cells in values.items()}

    rows = [mixed_row() for _ in range(_N_MIXED_ROWS)]
    for term in portable.ensemble:
        # Its own thresholds only, as the other cells are on one side of them.
        cells = _cells(portable, [term])
        covered = mixed_row()
        conditions = term.query if isinstance(term, Rule) else ()
        for name in cells if conditions else ():
            given = [p for p in conditions if _column(portable, p.feature) == name]
            covered[name] = _covered_cell(name, cells[name], given)
        rows += [covered | {name: cell} for name in cells for cell in cells[name]]
    return rows


def edge_values(portable: PortableModel, name: str) -> list[Any]:
    """Return the cells of a column at and next to every value at which a term changes."""
    return _cells(portable, portable.ensemble.terms)[name]


def _cells(portable: PortableModel, terms: Sequence[Term]) -> dict[str, list[Any]]:
    """Return the cells of all columns that terms use, also by parts of dates."""
    values = compared_by_feature(terms)
    for slope in terms:
        if isinstance(slope, Slope):
            middle = sum(end / 2 for end in slope.ends)
            values[slope.feature].append(moment_of(middle, slope.time_kind))
    grouped: dict[str, list[Any]] = {}
    for name, given in values.items():
        grouped.setdefault(_column(portable, name), []).extend(given)
    return {name: _cells_near(portable.kinds[name], given) for name, given in grouped.items()}


def _column(portable: PortableModel, name: str) -> str:
    """Return the column of a feature, which may be a part of its dates."""
    return portable.parts.get(name, ("", name))[1]


def _cells_near(kind: str, known: Sequence[Any]) -> list[Any]:
    if kind == "boolean":
        return [None, False, True]
    if kind == "any":
        return [None, 1.0, 0.0]
    if kind in ("date", "time", "duration"):
        return [None, *_moments(kind, [value for value in known if kind_of(value)])]
    if kind == "text":
        return [None, *dict.fromkeys([*known, *_UNSEEN])]
    near = [
        number
        for value in map(float, known)
        for number in (value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
    ]
    return [None, math.nan, *filter(math.isfinite, dict.fromkeys(near)), *_EXTREMES]


def _moments(kind: str, known: list[Any]) -> list[Moment]:
    """Return times at and next to others, and some of every month, weekday and hour."""
    numbers = [microseconds(value) + step for value in known for step in (0, -1, 1)]
    if kind == "time":
        return [from_microseconds(number % DAY, "time") for number in [*numbers, 0, DAY - 1]]
    if kind == "duration":
        return [from_microseconds(number, "duration") for number in [*numbers, 0, -DAY, 9999 * DAY]]
    days = [datetime(2000 + n, 1 + n % 12, 1 + n, n) for n in range(24)]
    ends = [datetime(1700, 1, 1), datetime(2200, 12, 31, 23, 59, 59, 999_999)]
    return [*(from_microseconds(number, "datetime") for number in numbers), *days, *ends]


def _covered_cell(name: str, cells: list[Any], conditions: Sequence[Condition]) -> Any:
    """Find a cell of a column that satisfies all conditions, if there is one."""
    table = as_table([[cell] for cell in cells], [name])
    is_covered = np.all([condition.covered(table) for condition in conditions], axis=0)
    return cells[int(np.argmax(is_covered))]


def expected_outputs(model: RuleModel, rows: Sequence[dict[str, Any]]) -> Outputs:
    """Return the output of the model itself for rows of the columns that terms use."""
    names = model.ensemble_.feature_names or ()
    table = as_table([[row.get(name) for name in names] for row in rows], names)
    found = Predictions(model.ensemble_, model.task_, table)
    probabilities = model.task_.probabilities(found.raw)
    intervals = model.own_trust.intervals
    limits = None
    if intervals is not None and probabilities is not None:
        limits = intervals.sets(probabilities)
    elif intervals is not None:
        limits = intervals.limits(found.values, target_range(model.loss_))
    return Outputs(
        found.raw,
        found.values,
        probabilities if found.raw.ndim > 1 or probabilities is None else probabilities[:, 1],
        found.covered,
        limits,
    )


def check_outputs(
    target: str, rows: Sequence[dict[str, Any]], expected: Outputs, actual: Outputs
) -> None:
    """Refuse an export that does not predict what the model predicts.

    Raw predictions, classes and covered rows must be the same, probabilities and numbers derived
    from an exponential up to `TOLERANCE`. The message names the first row where they are not.
    """
    raw, predictions = actual.raw_predictions, actual.predictions
    same = {"raw prediction": (_in_all_columns(raw == expected.raw_predictions), "raw_predictions")}
    if expected.probabilities is None:
        same["prediction"] = _is_close(predictions, expected.predictions), "predictions"
    else:
        same["class"] = np.asarray(predictions == expected.predictions), "predictions"
        is_close = _is_close(actual.probabilities, expected.probabilities)
        same["probability"] = _in_all_columns(is_close), "probabilities"
    if actual.covered is not None:
        same["coverage"] = np.all(actual.covered == expected.covered, axis=1), "covered"
    if actual.intervals is not None:
        same["interval"] = _in_all_columns(_are_same_intervals(expected, actual)), "intervals"
    for word, (is_same, name) in same.items():
        if not is_same.all():
            row = int(np.argmin(is_same))
            required, got = (np.asarray(getattr(x, name)[row]).tolist() for x in (expected, actual))
            raise RuntimeError(
                f"The export to {target} must predict what the model predicts. It does not for the "
                f"row {rows[row]!r}: the {word} must be {required!r}. Got {got!r}. This is a "
                "defect of laconic: report it with this message."
            )


def _are_same_intervals(expected: Outputs, actual: Outputs) -> Any:
    given, limits = actual.intervals, expected.intervals
    if given is None or limits is None or expected.probabilities is not None:
        return given == limits
    # An end near 0 has the rounding errors of the prediction.
    sizes = np.abs(expected.predictions)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        return (given == limits) | (np.abs(given - limits) <= TOLERANCE * (sizes + np.abs(limits)))


def _in_all_columns(is_same: Any) -> Bools:
    columns = np.asarray(is_same, dtype=bool).reshape(len(is_same), -1)
    return np.asarray(columns.all(axis=1))


def _is_close(actual: Any, expected: Any) -> Bools:
    # The absolute tolerance is for probabilities that are not normal numbers.
    is_close: Bools = np.isclose(actual, expected, rtol=TOLERANCE, atol=1e-300)
    return is_close
