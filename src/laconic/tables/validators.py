"""Single entries of a file from elsewhere: what they must be, and what is said if they are not.

Every function takes a value and the path of its entry, and raises a ValueError that names both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from laconic._util.checks import is_finite_number, require, shown
from laconic._util.words import MAX_NAMES_SHOWN, listed
from laconic.tables.columns import Category

Item = TypeVar("Item")


def read_category(value: Any, path: str) -> Category:
    """Return a category."""
    require(
        isinstance(value, str | bool) or _is_finite_number(value),
        path,
        "a string, a boolean or a finite number",
        value,
    )
    category: Category = read_text(value, path) if isinstance(value, str) else value
    return category


def read_text(value: Any, path: str) -> str:
    """Return a text that has UTF-8."""
    is_text = isinstance(value, str) and is_unicode(value)
    require(is_text, path, "a string of Unicode characters", value)
    return str(value)


def is_unicode(text: str) -> bool:
    """Return whether a text has no unpaired surrogates, which are not characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def read_bool(value: Any, path: str) -> bool:
    """Return a boolean."""
    require(isinstance(value, bool), path, "a boolean", value)
    return bool(value)


def read_number(value: Any, path: str) -> float:
    """Return a finite number."""
    require(_is_finite_number(value), path, "a finite number", value)
    return float(value)


def read_amount(value: Any, path: str) -> float:
    """Return a finite number that is not negative."""
    is_amount = _is_finite_number(value) and value >= 0
    require(is_amount, path, "a finite number in the range [0, inf)", value)
    return float(value)


def read_whole(value: Any, path: str) -> int:
    """Return a whole number that is not negative."""
    is_whole = _is_finite_number(value) and value >= 0 and value == int(value)
    require(is_whole, path, "a whole number in the range [0, inf)", value)
    return int(value)


def read_choice(value: Any, path: str, choices: Collection[str]) -> str:
    """Return one of several words."""
    required = " or ".join(repr(str(choice)) for choice in choices)
    require(isinstance(value, str) and value in choices, path, required, value)
    return str(value)


def read_list(value: Any, path: str, read_item: Callable[[Any, str], Item]) -> list[Item]:
    """Return a list, each item of which is read by a function that takes it and its path."""
    require(isinstance(value, list), path, "a JSON array", value)
    return [read_item(item, f"{path}[{position}]") for position, item in enumerate(value)]


def read_mapping(value: Any, path: str, read_item: Callable[[Any, str], Item]) -> dict[str, Item]:
    """Return an object, each value of which is read by a function that takes it and its path."""
    require(isinstance(value, dict), path, "a JSON object", value)
    return {read_text(key, path): read_item(item, f"{path}.{key}") for key, item in value.items()}


def check_keys(data: Any, path: str, keys: Collection[str], optional: Collection[str] = ()) -> None:
    """Refuse an object that lacks a key, or has another that is not `optional`."""
    require(isinstance(data, dict), path, "a JSON object", data)
    check_has(data, path, keys)
    unknown = next((key for key in data if key not in keys and key not in optional), None)
    if unknown is not None:
        raise ValueError(
            f"{path or 'The model'} must have the keys {', '.join(map(repr, keys))} and no other. "
            f"Got {shown(unknown)} as well."
        )


def check_has(data: dict[str, Any], path: str, keys: Collection[str]) -> None:
    """Refuse an object that lacks a key."""
    for key in keys:
        if key not in data:
            got = listed(map(shown, data), MAX_NAMES_SHOWN)
            raise ValueError(
                f"{path or 'The model'} must have the key {key!r}. Got the keys {got}."
            )


def _is_finite_number(value: Any) -> bool:
    return isinstance(value, int | float) and is_finite_number(value)
