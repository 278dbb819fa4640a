"""Lists and parameters in words, for messages of all packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from difflib import SequenceMatcher
from typing import Any

# Enough names to recognise a table by, few enough to read in a traceback.
MAX_NAMES_SHOWN = 10

# Two swapped letters of three are a typing error; names with less in common are different.
MIN_LIKENESS = 0.65


def _in_python(name: str, *value: Any) -> str:
    return f"{name}={value[0]!r}" if value else repr(name)


PARAMETER_WRITER: ContextVar[Callable[..., str]] = ContextVar("writer", default=_in_python)
"""Writes parameters as the interface in use has them: as arguments, or as options."""


def parameter(name: str, *value: Any) -> str:
    """Write a parameter, or one with its value, in the words of the interface in use.

    Examples
    --------
    >>> parameter("n_terms"), parameter("loss", "squared")
    ("'n_terms'", "loss='squared'")
    """
    return PARAMETER_WRITER.get()(name, *value)


def listed(texts: Iterable[str], max_shown: int | None = None, *, word: str = "and") -> str:
    """Join texts by commas, with a word before the last; "none" for no texts.

    Beyond `max_shown`, texts are only counted.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcde", max_shown=2), listed([])
    ('a, b and c', 'a, b and 3 more', 'none')
    """
    all_texts = list(texts)
    shown = all_texts[:max_shown]
    n_hidden = len(all_texts) - len(shown)
    *first, last = [*shown, *([f"{n_hidden} more"] if n_hidden else [])] or ["none"]
    return f"{', '.join(first)} {word} {last}" if first else last


def listed_names(names: Iterable[str], max_shown: int = MAX_NAMES_SHOWN) -> str:
    """Join names in quotes; beyond `max_shown`, names are only counted.

    Examples
    --------
    >>> listed_names(["age", "plan", "income"], max_shown=2)
    "'age', 'plan' and 1 more"
    """
    return listed(map(repr, names), max_shown)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Find the name with the most similar spelling, in any case; None if none is similar.

    Examples
    --------
    >>> nearest("ID", ["Fare", "Id"]), nearest("charges", ["target"])
    ('Id', None)
    """

    def likeness(other: str) -> tuple[float, float]:
        pairs = ((name.casefold(), other.casefold()), (name, other))
        first, second = (SequenceMatcher(None, *pair).ratio() for pair in pairs)
        return first, second

    best = max(names, key=likeness, default=None)
    return None if best is None or likeness(best)[0] < MIN_LIKENESS else best
