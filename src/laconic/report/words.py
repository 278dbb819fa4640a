"""Terms, and the constraints on them, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from laconic._util.words import listed
from laconic.tables.columns import FeatureKind
from laconic.tables.times import kind_of
from laconic.terms.conditions import Condition, Query, by_feature
from laconic.terms.formatting import (
    NO_KINDS,
    class_text,
    format_name,
    format_number,
    intervals,
    plain_text,
    value_text,
)
from laconic.terms.slopes import Slope

Phrase = dict[str, Any]
"""One feature and the conditions on it: ``{"feature": name, "parts": [{"words", "value"}]}``."""

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
# The order of conditions on one feature: lower limits come first.
_ORDER = {relation: position for position, relation in enumerate(_WORDS)}


def start(form: Query | Slope) -> str:
    """Return the words before the phrases of a term.

    Examples
    --------
    >>> start(Query((Condition("age", ">", 18),))), start(Slope("age", 25, 68, 0.3))
    ('If', 'For each 10 of')
    """
    if isinstance(form, Slope):
        return f"For each {form.step.text}"
    return "If" if form else "Always"


def phrases(form: Query | Slope, kinds: Mapping[str, FeatureKind] = NO_KINDS) -> list[Phrase]:
    """Describe the conditions of a query feature by feature, or where a slope begins and ends.

    Examples
    --------
    >>> query = Query((Condition("age", "<=", 60), Condition("age", ">", 18)))
    >>> [phrase] = phrases(query)
    >>> phrase["feature"], [(part["words"], part["value"]) for part in phrase["parts"]]
    ('age', [('is more than', '18'), ('and at most', '60')])
    """
    if isinstance(form, Slope):
        ends = {"from": form.lower, "to": form.upper}
        parts = [{"words": words, "value": value_text(end)} for words, end in ends.items()]
        return [{"feature": plain_text(form.feature), "parts": parts}]
    pairs = intervals(form.conditions, kinds)
    conditions = [condition for pair in pairs for condition in pair if condition]
    return [
        {"feature": plain_text(feature), "parts": _parts(about)}
        for feature, about in by_feature(conditions).items()
    ]


def _parts(conditions: Sequence[Condition]) -> list[dict[str, str | None]]:
    """Describe the conditions on one feature."""
    parts: list[dict[str, str | None]] = []
    for condition in sorted(conditions, key=lambda p: _ORDER[p.relation]):
        is_date = kind_of(condition.value) in ("date", "datetime", "time")
        words = (_WORDS | _DATE_WORDS if is_date else _WORDS)[condition.relation]
        if parts:
            words = f"and {words.removeprefix('is ')}"
        value = None if condition.value is None else value_text(condition.value)
        parts.append({"words": words, "value": value})
    return parts


def sentence(form: Query | Slope, effect: str, kinds: Mapping[str, FeatureKind] = NO_KINDS) -> str:
    """Return a term as a sentence; the effect of a slope is that of a step.

    Examples
    --------
    >>> query = Query((Condition("age", ">", 60), Condition("plan", "==", "gold")))
    >>> sentence(query, "adds 2 to the prediction")
    'If age is more than 60 and plan is gold: adds 2 to the prediction.'
    """
    conditions = [
        " ".join([phrase["feature"], *(_part_text(part) for part in phrase["parts"])])
        for phrase in phrases(form, kinds)
    ]
    words = [start(form), *([listed(conditions)] if conditions else [])]
    return f"{' '.join(words)}: {effect}."


def _part_text(part: dict[str, str | None]) -> str:
    return str(part["words"]) if part["value"] is None else f"{part['words']} {part['value']}"


def constraint_words(constraints: Mapping[str, Any]) -> str:
    """Describe the constraints on terms; empty if there were none.

    Examples
    --------
    >>> constraint_words({"monotonic_cst": {"age": 1}, "weight_signs": "positive"})
    ' Predictions only rise with age. Weights are positive.'
    """
    return "".join(
        f" {words}."
        for name, describe in _CONSTRAINT_WORDS.items()
        if (words := describe(constraints.get(name)))
    )


def _names(names: Iterable[str], max_shown: int | None = None) -> str:
    return listed(map(format_name, names), max_shown)


def _directions(given: Mapping[str, int | Mapping[str, int]] | None) -> str:
    """Describe with which features predictions, or the probability of a class, rise or fall."""
    plain: dict[str, int] = {}
    by_class: dict[str, dict[str, int]] = {}
    for name, direction in (given or {}).items():
        if isinstance(direction, Mapping):
            [(label, sign)] = direction.items()
            by_class.setdefault(label, {})[name] = sign
        else:
            plain[name] = direction
    words = [f"Predictions {_rising('rise', 'fall', plain)}"] if plain else []
    words += [
        f"The probability of {class_text(label)} {_rising('rises', 'falls', signs)}"
        for label, signs in by_class.items()
    ]
    return ". ".join(words)


def _rising(rise: str, fall: str, signs: Mapping[str, int]) -> str:
    verbs = {1: rise, -1: fall}
    return " and ".join(
        f"only {verbs[sign]} with {_names(names)}"
        for sign in (1, -1)
        if (names := [name for name, each in signs.items() if each == sign])
    )


def _interactions(given: Any) -> str:
    if given is None:
        return ""
    if isinstance(given, str):
        number = "two columns" if given == "pairwise" else "one column"
        return f"A term uses at most {number}"
    sets = "; ".join(_names(names) for names in given)
    return f"The columns of a term are from one of these sets: {sets}; all others"


def _costs(given: Mapping[str, float | None] | None) -> str:
    """Describe the costs of features; no term uses one whose cost is None."""
    costs = dict(given or {})
    excluded = [name for name, cost in costs.items() if cost is None]
    paid = [
        f"{format_name(name)} ({format_number(cost)})"
        for name, cost in costs.items()
        if cost is not None
    ]
    words = [f"No term uses {_names(excluded)}"] if excluded else []
    words += [f"The gain of a term is reduced by the cost of {listed(paid)}"] if paid else []
    return ". ".join(words)


_CONSTRAINT_WORDS: dict[str, Callable[[Any], str]] = {
    "monotonic_cst": _directions,
    "interaction_cst": _interactions,
    "feature_costs": _costs,
    "excluded_terms": lambda given: f"Excluded terms: {'; '.join(given)}" if given else "",
    "weight_signs": lambda given: f"Weights are {given}" if given else "",
}
