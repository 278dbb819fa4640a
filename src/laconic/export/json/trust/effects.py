"""The format of effects on unseen rows, and of what is kept of the training rows."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from laconic._util.json_format import (
    AMOUNT,
    BOOLEAN,
    COUNT,
    NUMBER,
    SIZE,
    TEXT,
    Array,
    Converted,
    Entry,
    Object,
    Scalar,
    choice,
    optional,
)
from laconic.trust import Effect, Effects, Fingerprint

SHARE = Scalar(
    "a number in the range (0, 1)",
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    lambda value: NUMBER.fits(value) and 0 < value < 1,
    float,
)


def _read_effect(data: dict[str, Any]) -> Effect:
    """Refuse an effect whose interval is not around its estimate."""
    interval = [data[name] for name in ("lower", "estimate", "upper")]
    is_known = None not in interval and data["error"] is not None
    is_absent = interval == [None] * 3 and data["error"] is None
    if not (is_absent if data["reason"] else is_known) or (
        is_known and interval != sorted(interval)
    ):
        raise ValueError
    return Effect(**data)


_EFFECT = Converted(
    Object(
        {
            "number": Entry(COUNT, "Of the term, from 1; 0 for an intercept."),
            "text": Entry(TEXT, "The term without its weight, as texts write it."),
            "output": Entry(TEXT, "The class that it is about, of three or more.", default=""),
            "weight": Entry(NUMBER, "In the model; of a slope per step, as texts write it."),
            "n_rows": Entry(SIZE, "Number of the rows that it covers."),
            "estimate": Entry(optional(NUMBER), "The best weight for these rows.", default=None),
            "error": Entry(optional(AMOUNT), "Its robust standard error.", default=None),
            "lower": Entry(optional(NUMBER), "Lower end of the interval.", default=None),
            "upper": Entry(optional(NUMBER), "Upper end of the interval.", default=None),
            "reason": Entry(TEXT, "Why there is no interval.", default=""),
        }
    ),
    _read_effect,
    requirement="an effect whose interval contains its estimate, or the reason why it has none",
)

EFFECTS = Object(
    {
        "level": Entry(SHARE, "Of the intervals."),
        "rows": Entry(
            choice("new", "held out"),
            "Rows of another table, or those that were kept from the search and that the weights "
            "of the model are fitted to.",
        ),
        "n_rows": Entry(SIZE),
        "n_groups": Entry(optional(COUNT), "Of rows that belong together.", default=None),
        "is_checked": Entry(
            BOOLEAN, "Whether the rows are known not to be the training rows.", default=True
        ),
        "effects": Entry(Array(_EFFECT, make=tuple), "Intercepts, and the terms in order."),
    },
    Effects,
    "Weights of the terms, fitted without penalty to rows that the search has not seen, with "
    "robust intervals.",
)


_DIGITS = 16
_HASHES = f"([0-9a-f]{{{_DIGITS}}})*"


def _read_hashes(text: str) -> tuple[int, ...]:
    starts = range(0, len(text), _DIGITS)
    found = tuple(int(text[start : start + _DIGITS], 16) for start in starts)
    if not found or any(one >= two for one, two in pairwise(found)):
        raise ValueError
    return found


_HASH_TEXT = Converted(
    Scalar(
        f"hashes of {_DIGITS} hexadecimal digits",
        {"type": "string", "pattern": f"^{_HASHES}$"},
        lambda value: isinstance(value, str) and bool(re.fullmatch(_HASHES, value)),
    ),
    _read_hashes,
    lambda hashes: "".join(f"{each:0{_DIGITS}x}" for each in hashes),
    f"one or more hashes of {_DIGITS} hexadecimal digits, ascending",
)


_COUNTS = Converted(
    Scalar(
        "a string of the digits 1 to 3",
        {"type": "string", "pattern": "^[1-3]*$"},
        lambda value: isinstance(value, str) and bool(re.fullmatch("[1-3]*", value)),
    ),
    lambda text: tuple(map(int, text)),
    lambda counts: "".join(map(str, counts)),
)


def _read_fingerprint(data: dict[str, Any]) -> Fingerprint:
    """Refuse counts that do not suit the hashes."""
    found = Fingerprint(**{**data, "total": data["total"][0]})
    if len(found.counts) != len(found.smallest) or sum(found.counts) > found.n_rows:
        raise ValueError
    return found


FINGERPRINT = Converted(
    Object(
        {
            "n_rows": Entry(COUNT, "Number of training rows, of positive weight."),
            "total": Entry(_HASH_TEXT, "Sum of the hashes of all rows, modulo 2 to the 64."),
            "smallest": Entry(_HASH_TEXT, "The smallest distinct hashes of rows."),
            "counts": Entry(
                _COUNTS, "How many rows have each of them: a digit, which is 3 for three or more."
            ),
        },
        text="What is kept of the training rows, to recognise them: hashes, and no cells.",
    ),
    _read_fingerprint,
    lambda found: {**vars(found), "total": (found.total,)},
    "a fingerprint with a count for each hash, which add up to at most n_rows",
)
