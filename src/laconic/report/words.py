"""Rules, certificates and numbers in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from laconic.columns import Category
from laconic.formatting import format_number
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.queries import Proposition, Query

__all__ = [
    "Phrase",
    "describe_effect",
    "format_count",
    "format_statistic",
    "phrases",
    "plain_text",
    "sentence",
    "value_text",
]

Phrase = dict[str, Any]
"""One feature and what is said about it: ``{"feature": name, "parts": [{"words", "value"}]}``."""

_WORDS = {
    ">": "is more than",
    "<=": "is at most",
    "==": "is",
    "!=": "is not",
    "is missing": "is missing",
    "is present": "is known",
}
# What a person says first about a feature: a range from below.
_ORDER = {relation: position for position, relation in enumerate(_WORDS)}


def format_statistic(number: float) -> str:
    """Four significant digits, all integer digits, and a true minus sign.

    Examples
    --------
    >>> [format_statistic(number) for number in (0.123456, 12345.6, -3.0, 0.00001234)]
    ['0.1235', '12,346', '−3', '1.234e−05']
    """
    text = f"{number:,.0f}" if 1e3 <= abs(number) < 1e15 else f"{number:.4g}"
    return text.replace("-", "−")


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> format_count(1, "rule"), format_count(1200, "row")
    ('1 rule', '1,200 rows')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def plain_text(text: str) -> str:
    r"""Spell out characters that would not be seen, or would break a line.

    Examples
    --------
    >>> print(plain_text("two\nlines"), plain_text(" "), plain_text(""))
    two\nlines ' ' (empty)
    """
    if text == "":
        return "(empty)"
    if text != text.strip():
        text = repr(text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def value_text(value: Category) -> str:
    """Write a category or a threshold as people read it.

    Examples
    --------
    >>> value_text(True), value_text(81.70), value_text("first class")
    ('true', '81.7', 'first class')
    """
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value).replace("-", "−")


def phrases(query: Query) -> list[Phrase]:
    """Say feature by feature what a query asks for.

    Examples
    --------
    >>> query = Query((Proposition("age", "<=", 60), Proposition("age", ">", 18)))
    >>> [phrase] = phrases(query)
    >>> phrase["feature"], [(part["words"], part["value"]) for part in phrase["parts"]]
    ('age', [('is more than', '18'), ('and at most', '60')])
    """
    by_feature: dict[str, list[Proposition]] = {}
    for proposition in query:
        by_feature.setdefault(proposition.feature, []).append(proposition)
    return [
        {"feature": plain_text(feature), "parts": _parts(about)}
        for feature, about in by_feature.items()
    ]


def _parts(propositions: Sequence[Proposition]) -> list[dict[str, str | None]]:
    """Say what is asked of one feature."""
    parts: list[dict[str, str | None]] = []
    for proposition in sorted(propositions, key=lambda p: _ORDER[p.relation]):
        words = _WORDS[proposition.relation]
        if parts:
            words = f"and {words.removeprefix('is ')}"
        value = None if proposition.value is None else value_text(proposition.value)
        parts.append({"words": words, "value": value})
    return parts


def sentence(query: Query, effect: str) -> str:
    """Say a rule in one sentence.

    Examples
    --------
    >>> query = Query((Proposition("age", ">", 60), Proposition("plan", "==", "gold")))
    >>> sentence(query, "adds 2 to the prediction")
    'If age is more than 60 and plan is gold: adds 2 to the prediction.'
    """
    conditions = [
        " ".join([phrase["feature"], *(_part_text(part) for part in phrase["parts"])])
        for phrase in phrases(query)
    ]
    start = f"If {_joined(conditions)}" if conditions else "Always"
    return f"{start}: {effect}."


def _part_text(part: dict[str, str | None]) -> str:
    return str(part["words"]) if part["value"] is None else f"{part['words']} {part['value']}"


def _joined(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def describe_effect(weight: float, loss: object, positive: str | None) -> str:
    """Say what a weight does to a prediction.

    Parameters
    ----------
    weight : float
        Of a rule.
    loss : Loss
        Only the built-in losses say what a weight means on the target's scale.
    positive : str or None
        The class that positive weights speak for; None in a regression.

    Returns
    -------
    effect : str
        Starts with a verb.

    Examples
    --------
    >>> describe_effect(math.log(2), LogisticLoss(), "ill")
    'multiplies the odds of ill by 2'
    >>> describe_effect(-1.5, SquaredLoss(), None)
    'takes 1.5 off the prediction'
    """
    # A subclass may override any method, so only the classes themselves are known.
    if type(loss) is LogisticLoss and positive is not None:
        verb = "multiplies" if weight >= 0 else "divides"
        return f"{verb} the odds of {positive} by {_odds_factor(abs(weight))}"
    scale = "the prediction" if type(loss) is SquaredLoss else "the raw prediction"
    if positive is not None:
        scale = f"the score of {positive}"
    size = format_statistic(abs(weight))
    return f"adds {size} to {scale}" if weight >= 0 else f"takes {size} off {scale}"


def _odds_factor(log_factor: float) -> str:
    # Beyond that a double overflows, and nobody reads the digits.
    if log_factor > 30:
        return "more than 10¹³"
    factor = math.exp(log_factor)
    return format_statistic(factor) if factor >= 1e3 else f"{factor:.3g}"
