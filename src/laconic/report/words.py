"""Rules in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from laconic._words import listed
from laconic.data.columns import FeatureKind
from laconic.data.times import kind_of
from laconic.model.conditions import Proposition, Query, by_feature
from laconic.model.formatting import NO_KINDS, intervals, plain_text, value_text

Phrase = dict[str, Any]
"""One feature and what is said about it: ``{"feature": name, "parts": [{"words", "value"}]}``."""

_WORDS = {
    ">": "is more than",
    "<=": "is at most",
    "==": "is",
    "!=": "is not",
    "in": "is",
    "not in": "is not",
    "is missing": "is missing",
    "is present": "is known",
}
_DATE_WORDS = {">": "is after", "<=": "is not after"}
# What a person says first about a feature: a range from below.
_ORDER = {relation: position for position, relation in enumerate(_WORDS)}


def phrases(query: Query, kinds: Mapping[str, FeatureKind] = NO_KINDS) -> list[Phrase]:
    """Say feature by feature what a query asks for, in the values that the features hold.

    Examples
    --------
    >>> query = Query((Proposition("age", "<=", 60), Proposition("age", ">", 18)))
    >>> [phrase] = phrases(query)
    >>> phrase["feature"], [(part["words"], part["value"]) for part in phrase["parts"]]
    ('age', [('is more than', '18'), ('and at most', '60')])
    """
    pairs = intervals(query.propositions, kinds)
    propositions = [proposition for pair in pairs for proposition in pair if proposition]
    return [
        {"feature": plain_text(feature), "parts": _parts(about)}
        for feature, about in by_feature(propositions).items()
    ]


def _parts(propositions: Sequence[Proposition]) -> list[dict[str, str | None]]:
    """Say what is asked of one feature."""
    parts: list[dict[str, str | None]] = []
    for proposition in sorted(propositions, key=lambda p: _ORDER[p.relation]):
        is_date = kind_of(proposition.value) in ("date", "datetime", "time")
        words = (_WORDS | _DATE_WORDS if is_date else _WORDS)[proposition.relation]
        if parts:
            words = f"and {words.removeprefix('is ')}"
        value = None if proposition.value is None else value_text(proposition.value)
        parts.append({"words": words, "value": value})
    return parts


def sentence(query: Query, effect: str, kinds: Mapping[str, FeatureKind] = NO_KINDS) -> str:
    """Say a rule in one sentence.

    Examples
    --------
    >>> query = Query((Proposition("age", ">", 60), Proposition("plan", "==", "gold")))
    >>> sentence(query, "adds 2 to the prediction")
    'If age is more than 60 and plan is gold: adds 2 to the prediction.'
    """
    conditions = [
        " ".join([phrase["feature"], *(_part_text(part) for part in phrase["parts"])])
        for phrase in phrases(query, kinds)
    ]
    start = f"If {listed(conditions)}" if conditions else "Always"
    return f"{start}: {effect}."


def _part_text(part: dict[str, str | None]) -> str:
    return str(part["words"]) if part["value"] is None else f"{part['words']} {part['value']}"
