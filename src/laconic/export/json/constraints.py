"""The constraints on the rules of a model, as a file tells them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from laconic._checks import require
from laconic.data.entries import (
    check_keys,
    read_amount,
    read_choice,
    read_list,
    read_mapping,
    read_text,
)


def read_constraint_entries(data: Any, path: str) -> dict[str, Any]:
    """Return the constraints by the names of the parameters that say so."""
    check_keys(data, path, (), optional=_ENTRIES)
    return {name: _ENTRIES[name](value, f"{path}.{name}") for name, value in data.items()}


def _read_features(value: Any, path: str) -> list[str]:
    return read_list(value, path, read_text)


def _read_sets(value: Any, path: str) -> list[list[str]]:
    return read_list(value, path, _read_features)


def _read_interactions(value: Any, path: str) -> str | list[list[str]]:
    if isinstance(value, str):
        return read_choice(value, path, ("pairwise", "no_interactions"))
    return _read_sets(value, path)


def _read_direction(value: Any, path: str) -> int:
    require(not isinstance(value, bool) and value in (-1, 1), path, "-1 or 1", value)
    return int(value)


def _read_directions(value: Any, path: str) -> int | dict[str, int]:
    """Read a direction, of one of three or more classes if it is named."""
    if not isinstance(value, dict):
        return _read_direction(value, path)
    require(len(value) == 1, path, "-1 or 1, or an object of one class with -1 or 1", value)
    return read_mapping(value, path, _read_direction)


_ENTRIES: dict[str, Callable[[Any, str], Any]] = {
    "monotonic_cst": lambda value, path: read_mapping(value, path, _read_directions),
    "interaction_cst": _read_interactions,
    "excluded_features": _read_features,
    "lone_features": _read_features,
    "separated_features": _read_sets,
    "feature_costs": lambda value, path: read_mapping(value, path, read_amount),
    "weight_signs": lambda value, path: read_choice(value, path, ("positive", "negative")),
}
