"""The ends of intervals, and which classes are in sets, as trees of sqlglot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from laconic.export.portable import PortableModel
from laconic.trust import Intervals

if TYPE_CHECKING:
    from laconic.export.sql.terms import SqlTerms


def interval_columns(terms: SqlTerms, raw_predictions: Sequence[Any], exp: Any) -> dict[str, Any]:
    """Return columns by name for a calibrated model, given all raw predictions."""
    portable = terms.portable
    intervals = portable.intervals
    assert intervals is not None
    if portable.classes is not None:
        return _sets(terms, raw_predictions, intervals, exp)
    [raw] = raw_predictions
    half_width = _half_width(terms, raw, intervals, exp)
    mean = terms.mean(raw.copy())
    if not isinstance(mean, exp.Column):
        # Otherwise the last addition of the sum would come first.
        mean = exp.paren(mean)
    lower = exp.Sub(this=mean.copy(), expression=half_width.copy())
    if portable.lowest is not None:
        is_possible = exp.GT(this=mean.copy(), expression=half_width.copy())
        # Also where the half-width is NULL.
        lower = exp.Case().when(is_possible, lower).else_("0")
    return {"lower": lower, "upper": exp.Add(this=mean, expression=half_width)}


def _half_width(terms: SqlTerms, raw: Any, intervals: Intervals, exp: Any) -> Any:
    """Return the half-width of the group of a raw prediction; NULL without a bound."""
    widths = [_number_or_null(terms, each, exp) for each in intervals.half_widths]
    case = exp.Case()
    for edge, width in zip(intervals.edges, widths, strict=False):
        if terms.portable.link == "log" and edge <= 0.0:
            continue  # no prediction is so small
        end = terms.double(_raw_of(terms.portable, edge))
        case = case.when(exp.LTE(this=raw.copy(), expression=end), width)
    return case.else_(widths[-1]) if case.args.get("ifs") else widths[-1]


def _raw_of(portable: PortableModel, prediction: float) -> float:
    return math.log(prediction) if portable.link == "log" else prediction


def _number_or_null(terms: SqlTerms, number: float, exp: Any) -> Any:
    if math.isinf(number):
        return exp.Cast(this=exp.null(), to=exp.DataType.build("double"))
    return terms.double(number)


def _sets(terms: SqlTerms, raw: Sequence[Any], intervals: Intervals, exp: Any) -> dict[str, Any]:
    if terms.portable.ensemble.outputs:
        shares = [terms.share(raw, place) for place in range(len(raw))]
    else:
        second = terms.mean(raw[0].copy())
        first = exp.Sub(this=terms.double(1.0), expression=exp.paren(second.copy()))
        shares = [first, second]
    columns = {}
    for number, (share, least) in enumerate(
        zip(shares, intervals.least_probabilities, strict=True), start=1
    ):
        is_in = exp.GTE(this=share, expression=terms.double(least))
        case = exp.Case().when(is_in, "1").else_("0")
        columns[f"in_set_{number}"] = exp.Literal.number(1) if least == 0.0 else case
    return columns
