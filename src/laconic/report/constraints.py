"""Constraints on rules in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from laconic._words import listed
from laconic.model.formatting import format_name, format_number


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


def _directions(given: Mapping[str, int] | None) -> str:
    rising = [name for name, direction in (given or {}).items() if direction > 0]
    falling = [name for name, direction in (given or {}).items() if direction < 0]
    parts = [f"only rise with {_names(rising)}"] if rising else []
    parts += [f"only fall with {_names(falling)}"] if falling else []
    return f"Predictions {' and '.join(parts)}" if parts else ""


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
