"""Constraints on rules in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from laconic._words import listed
from laconic.model.formatting import class_text, format_name, format_number


def constraint_words(constraints: Mapping[str, Any]) -> str:
    """Say what rules were allowed to be; empty if there were no constraints.

    Examples
    --------
    >>> constraint_words({"monotonic_cst": {"age": 1}, "weight_signs": "positive"})
    ' Predictions only rise with age. Weights are positive.'
    """
    return "".join(
        f" {words}." for name, say in _WORDS.items() if (words := say(constraints.get(name)))
    )


def _names(names: Iterable[str], max_shown: int | None = None) -> str:
    return listed(map(format_name, names), max_shown)


def _directions(given: Mapping[str, int | Mapping[str, int]] | None) -> str:
    """Say with which features predictions rise or fall, or the probability of each class."""
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
        return f"A rule uses {number} at most"
    sets = "; ".join(_names(names) for names in given)
    return f"A rule uses columns of one set only: {sets}; all others"


def _separated(given: Iterable[Iterable[str]] | None) -> str:
    sets = ["one of " + _names(names) for names in given or ()]
    return f"A rule uses at most {listed(sets)}" if sets else ""


def _costs(given: Mapping[str, float] | None) -> str:
    prices = [
        f"{format_name(name)} ({format_number(price)})" for name, price in (given or {}).items()
    ]
    return f"What a rule gains is net of the cost of {listed(prices)}" if prices else ""


_WORDS: dict[str, Callable[[Any], str]] = {
    "monotonic_cst": _directions,
    "interaction_cst": _interactions,
    "excluded_features": lambda given: f"No rule uses {_names(given)}" if given else "",
    "lone_features": lambda given: f"A rule uses {_names(given)} alone" if given else "",
    "separated_features": _separated,
    "feature_costs": _costs,
    "excluded_rules": lambda given: f"Left out: {'; '.join(given)}" if given else "",
    "weight_signs": lambda given: f"Weights are {given}" if given else "",
}
