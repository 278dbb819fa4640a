"""The format of intervals and sets of predictions, see `laconic.trust.intervals`."""

from __future__ import annotations

import math

from laconic._util.json_format import (
    AMOUNT,
    CATEGORY,
    NUMBER,
    SIZE,
    Array,
    Converted,
    Entry,
    Object,
    choice,
    optional,
)
from laconic.trust import Intervals

_AMOUNT_OR_INFINITY = Converted(
    optional(AMOUNT),
    lambda value: math.inf if value is None else value,
    lambda value: None if value == math.inf else value,
)

INTERVALS = Converted(
    Object(
        {
            "level": Entry(AMOUNT, "The share of new rows that is to lie within."),
            "method": Entry(
                choice("cv", "split"),
                "Whether the rows were held out in turn, or never seen by the model.",
            ),
            "n": Entry(SIZE, "How many rows the errors are of."),
            "edges": Entry(
                Array(NUMBER, make=tuple),
                "Predictions that separate the groups, in ascending order; each belongs to the "
                "group below it.",
                default=(),
            ),
            "half_widths": Entry(
                Array(_AMOUNT_OR_INFINITY, make=tuple),
                "Of the interval of each group, the prediction plus and minus so much; null where "
                "a group has too few rows for a bound.",
                default=(),
            ),
            "classes": Entry(
                Array(CATEGORY, make=tuple), "Those of the model, in order.", default=()
            ),
            "least_probabilities": Entry(
                Array(AMOUNT, make=tuple),
                "From which probability on each class is in the set of a row; 0 where a class has "
                "too few rows for a bound.",
                default=(),
            ),
            "counts": Entry(Array(SIZE, make=tuple), "Rows of each group or class."),
        },
        text="Intervals of numbers, or sets of classes, that contain a share of new rows.",
    ),
    lambda values: Intervals(**values),
)
