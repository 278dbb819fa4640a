"""Formats of JSON values: each one reads and writes a value, and states its JSON Schema.

A format is described once, by the classes below. Reading checks every entry; the ValueError names
the path of the entry, what was expected there and what was found. Nothing is ever executed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from laconic._util.checks import is_finite_number, require, shown
from laconic._util.words import MAX_NAMES_SHOWN, listed

REQUIRED: Any = object()
"""The default of entries that must be there."""


class Format(ABC):
    """What a JSON value looks like, and which Python value it stands for."""

    @property
    @abstractmethod
    def expected(self) -> str:
        """What the value must be, for messages."""

    @abstractmethod
    def fits(self, value: Any) -> bool:
        """Check the type of a JSON value, but not what it contains."""

    def read(self, value: Any, path: str) -> Any:
        """Return the Python value; raise a ValueError that names the entry that is wrong."""
        self._check(self.fits(value), path, value)
        return value

    def _check(self, is_met: bool, path: str, value: Any) -> None:
        # What is expected takes longer to write than most values take to read.
        if not is_met:
            require(False, path, self.expected, value)

    def write(self, value: Any) -> Any:
        """Return the JSON value."""
        if isinstance(value, str):
            return str(value)
        return value.item() if hasattr(value, "item") else value

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema."""


@dataclass(frozen=True)
class Scalar(Format):
    """A string, number or boolean, or null.

    Examples
    --------
    >>> COUNT.read(7.0, "n_rows")
    7
    >>> AMOUNT.read(-1, "rules[0].seconds")
    Traceback (most recent call last):
        ...
    ValueError: rules[0].seconds must be a finite number in the range [0, inf). Got -1.
    """

    words: str
    json_schema: Mapping[str, Any]
    is_valid: Callable[[Any], bool]
    convert: Callable[[Any], Any] | None = None
    """Returns the Python value for a valid one; None if they are the same."""

    @property
    def expected(self) -> str:
        return self.words

    def fits(self, value: Any) -> bool:
        return self.is_valid(value)

    def read(self, value: Any, path: str) -> Any:
        found = super().read(value, path)
        return found if self.convert is None else self.convert(found)

    def schema(self) -> dict[str, Any]:
        return dict(self.json_schema)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and is_finite_number(value)


def is_unicode(text: str) -> bool:
    """Check that a text contains no unpaired surrogates, which are not characters."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


NUMBER = Scalar("a finite number", {"type": "number"}, _is_number, float)
AMOUNT = Scalar(
    "a finite number in the range [0, inf)",
    {"type": "number", "minimum": 0},
    lambda value: _is_number(value) and value >= 0,
    float,
)
COUNT = Scalar(
    "a whole number in the range [0, inf)",
    {"type": "integer", "minimum": 0},
    lambda value: _is_number(value) and value >= 0 and value == int(value),
    int,
)
SIZE = Scalar(
    "a whole number in the range [0, 2**63)",
    {"type": "integer", "minimum": 0, "exclusiveMaximum": 2**63},
    lambda value: COUNT.fits(value) and value < 2**63,
    int,
)
"""A count that tables hold."""
TEXT = Scalar(
    "a string of Unicode characters",
    {"type": "string"},
    lambda value: isinstance(value, str) and is_unicode(value),
)
BOOLEAN = Scalar("a boolean", {"type": "boolean"}, lambda value: isinstance(value, bool))
NULL = Scalar("null", {"type": "null"}, lambda value: value is None)
CATEGORY = Scalar(
    "a string, a boolean or a finite number",
    {"type": ["string", "boolean", "number"]},
    lambda value: isinstance(value, bool) or TEXT.fits(value) or _is_number(value),
)


def choice(*choices: Any) -> Scalar:
    """Return the format of one of several strings or integers.

    Examples
    --------
    >>> choice("rules", "weight").read("size", "certificate.against")
    Traceback (most recent call last):
        ...
    ValueError: certificate.against must be 'rules' or 'weight'. Got 'size'.
    """
    plain = [str(each) if isinstance(each, str) else each for each in choices]
    return Scalar(
        " or ".join(map(repr, plain)),
        {"enum": plain},
        lambda value: not isinstance(value, bool) and value in choices,
        lambda value: choices[choices.index(value)],
    )


@dataclass(frozen=True)
class Array(Format):
    """Items of one format, of which the first one may have another."""

    item: Format
    first: Format | None = None
    min_items: int = 0
    max_items: int | None = None
    is_distinct: bool = False
    is_uniform: bool = False
    """Whether all items must be strings, all booleans or all numbers."""
    make: Callable[[list[Any]], Any] = list

    @property
    def expected(self) -> str:
        if self.max_items == self.min_items:
            return f"a JSON array of {self.min_items} items"
        if self.min_items:
            return f"a JSON array of {self.min_items} or more items"
        return "a JSON array"

    def fits(self, value: Any) -> bool:
        return isinstance(value, list)

    def read(self, value: Any, path: str) -> Any:
        most = math.inf if self.max_items is None else self.max_items
        self._check(self.fits(value) and self.min_items <= len(value) <= most, path, value)
        found = []
        seen: set[Any] = set()
        for position, item in enumerate(value):
            item_path = f"{path}[{position}]"
            found.append(self._format(position).read(item, item_path))
            if self.is_distinct:
                is_new = found[-1] not in seen
                require(is_new, item_path, "different from all items before it", item)
                seen.add(found[-1])
        if self.is_uniform:
            kinds = {(isinstance(item, str), isinstance(item, bool)) for item in found}
            requirement = "strings only, booleans only or numbers only"
            require(len(kinds) <= 1, path, requirement, value)
        return self.make(found)

    def write(self, value: Any) -> Any:
        return [self._format(position).write(item) for position, item in enumerate(value)]

    def _format(self, position: int) -> Format:
        return self.first if self.first is not None and position == 0 else self.item

    def schema(self) -> dict[str, Any]:
        found: dict[str, Any] = {"type": "array", "items": self.item.schema()}
        if self.is_uniform:
            found["anyOf"] = [{"items": each.schema()} for each in (TEXT, BOOLEAN, NUMBER)]
        if self.first is not None:
            found["prefixItems"] = [self.first.schema()]
        if self.min_items:
            found["minItems"] = self.min_items
        if self.max_items is not None:
            found["maxItems"] = self.max_items
        return found | ({"uniqueItems": True} if self.is_distinct else {})


@dataclass(frozen=True)
class Map(Format):
    """An object with any keys, or exactly one, whose values have one format."""

    item: Format
    key: Format = TEXT
    is_single: bool = False
    """Whether there must be one key."""

    @property
    def expected(self) -> str:
        return "a JSON object with one key" if self.is_single else "a JSON object"

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict)

    def read(self, value: Any, path: str) -> Any:
        self._check(self.fits(value) and (len(value) == 1 or not self.is_single), path, value)
        return {
            self.key.read(key, path): self.item.read(item, f"{path}.{key}")
            for key, item in value.items()
        }

    def write(self, value: Any) -> Any:
        return {self.key.write(key): self.item.write(item) for key, item in value.items()}

    def schema(self) -> dict[str, Any]:
        found = {"type": "object", "additionalProperties": self.item.schema()}
        if self.key is not TEXT:
            found["propertyNames"] = self.key.schema()
        return found | ({"minProperties": 1, "maxProperties": 1} if self.is_single else {})


@dataclass(frozen=True)
class Entry:
    """An entry of an object: its format, its meaning, and its value if it is absent."""

    format: Format
    text: str = ""
    default: Any = REQUIRED

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema, with the meaning of the entry."""
        return ({"description": self.text} if self.text else {}) | self.format.schema()


Entries = Mapping[str, Entry]


@dataclass(frozen=True)
class Object(Format):
    """An object with known keys.

    Examples
    --------
    >>> size = Object({"n_rows": Entry(COUNT, "Number of rows."), "name": Entry(TEXT, default="")})
    >>> size.read({"n_rows": 4}, "table"), size.write({"n_rows": 4, "name": ""})
    ({'n_rows': 4, 'name': ''}, {'n_rows': 4})
    >>> size.read({"name": "a"}, "table")
    Traceback (most recent call last):
        ...
    ValueError: table must have the key 'n_rows'. Got the keys 'name'.
    """

    entries: Entries
    make: Callable[..., Any] = dict
    """Returns the Python value for the values of the entries, which are keyword arguments."""
    text: str = ""
    key: str = ""
    """The entry that decides which further entries there are."""
    variants: Mapping[tuple[str, ...], Entries] = field(default_factory=dict)
    """The further entries, for values of that entry."""
    is_open: bool = False
    """Whether there may be other keys, which are ignored."""

    @property
    def expected(self) -> str:
        return "a JSON object"

    def fits(self, value: Any) -> bool:
        return isinstance(value, dict)

    def read(self, value: Any, path: str) -> Any:
        self._check(self.fits(value), path or "The model", value)
        entries = self.entries
        if self.key:
            _check_has(value, path, self.key)
            word = self.entries[self.key].format.read(value[self.key], _joined(path, self.key))
            entries = self._entries(word)
        required = [name for name, entry in entries.items() if entry.default is REQUIRED]
        for name in required:
            _check_has(value, path, name)
        unknown = next((name for name in value if name not in entries), None)
        if unknown is not None and not self.is_open:
            raise ValueError(
                f"{path or 'The model'} must have the keys {', '.join(map(repr, required))} and no "
                f"other. Got {shown(unknown)} as well."
            )
        return self.make(
            **{
                name: entry.format.read(value[name], _joined(path, name))
                if name in value
                else entry.default
                for name, entry in entries.items()
            }
        )

    def write(self, value: Any) -> Any:
        def value_of(name: str, default: Any) -> Any:
            if isinstance(value, Mapping):
                return value[name] if default is REQUIRED else value.get(name, default)
            return getattr(value, name)

        entries = self._entries(value_of(self.key, REQUIRED)) if self.key else self.entries
        values = {name: value_of(name, entry.default) for name, entry in entries.items()}
        return {
            name: entries[name].format.write(found)
            for name, found in values.items()
            if entries[name].default is REQUIRED or found != entries[name].default
        }

    def _entries(self, word: str) -> Entries:
        """Return all entries, with the further ones after the one that decides."""
        further = next(entries for words, entries in self.variants.items() if word in words)
        names = [*self.entries]
        place = names.index(self.key) + 1
        names[place:place] = further
        return {name: {**self.entries, **further}[name] for name in names}

    def schema(self) -> dict[str, Any]:
        further = dict.fromkeys(name for entries in self.variants.values() for name in entries)
        found = {
            **({"description": self.text} if self.text else {}),
            "type": "object",
            **_entries_schema(self.entries),
            "additionalProperties": self.is_open,
        }
        if further:
            found["properties"] |= dict.fromkeys(further, True)
            found["allOf"] = [
                {
                    "if": {"properties": {self.key: {"enum": list(words)}}},
                    "then": _entries_schema(entries, absent=further.keys() - entries.keys()),
                }
                for words, entries in self.variants.items()
            ]
        return found


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _check_has(data: Mapping[str, Any], path: str, name: str) -> None:
    if name not in data:
        got = listed(map(shown, data), MAX_NAMES_SHOWN)
        raise ValueError(f"{path or 'The model'} must have the key {name!r}. Got the keys {got}.")


def _entries_schema(entries: Entries, absent: Sequence[str] | set[str] = ()) -> dict[str, Any]:
    return {
        "required": [name for name, entry in entries.items() if entry.default is REQUIRED],
        "properties": {name: entry.schema() for name, entry in entries.items()}
        | dict.fromkeys(sorted(absent), False),
    }


@dataclass(frozen=True)
class Either(Format):
    """One of several formats, at most one of which is an array or an object.

    Examples
    --------
    >>> Either((COUNT, choice("auto"), NULL)).read("all", "settings.node_limit")
    Traceback (most recent call last):
        ...
    ValueError: settings.node_limit must be a whole number in the range [0, inf), 'auto' or null. \
Got 'all'.
    """

    formats: tuple[Format, ...]

    @property
    def expected(self) -> str:
        return listed([each.expected for each in self.formats], word="or")

    def fits(self, value: Any) -> bool:
        return any(each.fits(value) for each in self.formats)

    def read(self, value: Any, path: str) -> Any:
        self._check(self.fits(value), path, value)
        return next(each for each in self.formats if each.fits(value)).read(value, path)

    def write(self, value: Any) -> Any:
        if value is None or isinstance(value, str | bool | int | float):
            return super().write(value)
        compound = (each for each in self.formats if not isinstance(each, Scalar))
        return next(compound, TEXT).write(value)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [each.schema() for each in self.formats]}


def optional(given: Format) -> Either:
    """Return a format that null fits, too."""
    return Either((given, NULL))


@dataclass(frozen=True)
class Converted(Format):
    """A format whose values stand for others."""

    format: Format
    make: Callable[[Any], Any]
    """Returns what a value stands for; a ValueError refuses it."""
    unmake: Callable[[Any], Any] | None = None
    requirement: str = ""
    """What values must be, where `make` refuses some."""

    @property
    def expected(self) -> str:
        return self.format.expected

    def fits(self, value: Any) -> bool:
        return self.format.fits(value)

    def read(self, value: Any, path: str) -> Any:
        found = self.format.read(value, path)
        try:
            return self.make(found)
        except (TypeError, ValueError, OverflowError) as error:
            wrong = (
                f"{self.requirement}. Got {shown(value)}."
                if self.requirement
                else f"valid. {error}"
            )
            raise ValueError(f"{path} must be {wrong}") from None

    def write(self, value: Any) -> Any:
        return self.format.write(value if self.unmake is None else self.unmake(value))

    def schema(self) -> dict[str, Any]:
        return self.format.schema()
