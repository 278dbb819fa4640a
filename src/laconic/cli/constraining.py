"""Constraints on rules as the command line takes them: words, and pairs of a column and a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from laconic.cli.exits import CommandError

_DIRECTIONS = {"+1": 1, "1": 1, "+": 1, "-1": -1, "-": -1, "−1": -1, "−": -1}


def read_constraints(
    monotonic: Sequence[str],
    interactions: Sequence[str],
    alone: Sequence[str],
    separate: Sequence[str],
    cost: Sequence[str],
) -> dict[str, Any]:
    """Turn options into parameters of the estimators; those that are not given are left out."""
    words = tuple(interactions)
    is_word = words in (("pairwise",), ("no_interactions",))
    given = {
        "monotonic_cst": dict(map(_direction, monotonic)),
        "interaction_cst": words[0] if is_word else list(map(_names, words)),
        "lone_features": list(alone),
        "separated_features": list(map(_names, separate)),
        "feature_costs": dict(map(_cost, cost)),
    }
    return {name: value or None for name, value in given.items()}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _pair(option: str, text: str, example: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not sign or not name:
        raise CommandError(f"{option} takes a column and a value, {example}. Got {text!r}.")
    return name.strip(), value.strip()


def _direction(text: str) -> tuple[str, int]:
    example = "such as age=+1 or price=-1"
    name, value = _pair("--monotonic", text, example)
    if value not in _DIRECTIONS:
        raise CommandError(f"--monotonic takes a column and +1 or -1, {example}. Got {text!r}.")
    return name, _DIRECTIONS[value]


def _cost(text: str) -> tuple[str, float]:
    example = "such as mri=0.01"
    name, value = _pair("--cost", text, example)
    try:
        return name, float(value)
    except ValueError:
        raise CommandError(
            f"--cost takes a column and a number, {example}. Got {text!r}."
        ) from None
