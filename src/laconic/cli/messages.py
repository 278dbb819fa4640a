"""Wrong calls in the words of the command line: options and numbers, no parameters and types."""

from __future__ import annotations

import re
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import cyclopts

from laconic._util.words import listed

# Requirements of parameters, with what is left of the words.
_WORDS = {
    r"an int in the range \[(\d+), inf\)": r"a whole number of at least \1",
    r"an int": "a whole number",
    r"a float in the range \[(\S+), inf\)": r"a number of at least \1",
    r"a float in the range \(0, inf\)": "a number above 0",
    r"a float in the range \((\S+), (\S+)\]": r"a number above \1 and at most \2",
    r"a list of str among \{(.*?)\} or None": r"some of \1",
    r"\bNone\b": "none",
}
_TYPES = {int: "a whole number", float: "a number", NoneType: "none"}


def in_words(requirement: str) -> str:
    """Write the requirement of a parameter in the words of the command line.

    Examples
    --------
    >>> in_words("an int in the range [1, inf) or None")
    'a whole number of at least 1 or none'
    """
    for pattern, words in _WORDS.items():
        requirement = re.sub(pattern, words, requirement)
    return requirement


def usage_message(error: cyclopts.CycloptsError) -> str:
    """Describe a wrong call; for a missing argument, with the likely reason."""
    if isinstance(error, cyclopts.MissingArgumentError):
        return _missing_message(error)
    if isinstance(error, cyclopts.UnusedCliTokensError):
        unused = listed(map(repr, error.unused_tokens or ()))
        return f"Unexpected {unused}. Leave it out, or put texts with spaces in quotes."
    if isinstance(error, cyclopts.CoercionError) and error.token and error.msg is None:
        kind: Any = error.target_type
        if kind is not None:
            name = error.token.keyword or "an argument"
            value = error.token.value
            return f'Invalid value "{value}" for {name}. It must be {_type_words(kind)}.'
    return _without_quotes(str(error))


def _without_quotes(message: str) -> str:
    """Write options and arguments without quotes, as newer releases of cyclopts do."""
    return re.sub(r'"(--?[a-z][\w-]*|[A-Z_]+)"', r"\1", message)


def _type_words(kind: Any) -> str:
    words: list[str] = []
    kinds = (kind,) if get_origin(kind) is Literal else get_args(kind) or (kind,)
    for each in kinds:
        if get_origin(each) is Literal:
            words += map(repr, get_args(each))
        elif each is not Ellipsis:
            words.append(_TYPES.get(each, "a text"))
    return listed(words, word="or")


def _missing_message(error: cyclopts.MissingArgumentError) -> str:
    given, argument = error.root_input_tokens or (), error.argument
    if argument is None or any(token.split("=")[0] in argument.names for token in given):
        return _without_quotes(str(error))
    message = _without_quotes(str(error)).replace(
        "requires an argument", "is required, but missing"
    )
    message = re.sub(
        r'Command "(.+)" parameter (\S+) is required, but missing\.',
        r"laconic \1 needs \2; see laconic \1 --help.",
        message,
    )
    has_options = any(token.startswith("-") for token in given)
    if argument.field_info.is_keyword or not has_options:
        return message
    return (
        f"{message} Put it before the options: those that take several values, such as --missing, "
        "take all values that follow."
    )
