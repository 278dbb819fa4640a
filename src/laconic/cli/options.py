"""Kinds of arguments and options that commands share, and what their values must be.

Constraints on terms as the command line takes them: words, and pairs of a column and a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

import cyclopts

from laconic.cli.terminal import CommandError
from laconic.tables.sources.databases import is_url

if TYPE_CHECKING:
    from laconic.tables.text_files.text_format import Reading


SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
"""Words for characters that are hard to type."""


def _must_be(requirement: str, is_met: Callable[[Any], bool]) -> cyclopts.Parameter:
    """Refuse numbers as a wrong call; the words that stand for no limit pass."""

    def check(kind: Any, value: Any) -> None:
        if isinstance(value, int | float) and not is_met(value):
            raise ValueError(f"It must be {requirement}.")

    return cyclopts.Parameter(validator=check, converter=read_value)


def read_value(kind: Any, tokens: Sequence[cyclopts.Token]) -> Any:
    """Read one or more values, and refuse fractions of whole numbers, which would be rounded."""
    kinds = get_args(kind) or (kind,)
    if int in kinds and float not in kinds:
        for token in tokens:
            if re.fullmatch(r"[+-]?\d*\.\d*[1-9]\d*", token.value):
                raise ValueError(f"It must be a whole number. Got {token.value}.")
    return cyclopts.convert(kind, tokens)


def read_or_none(kind: Any, tokens: Sequence[cyclopts.Token]) -> Any:
    """Read a value, or "none", which releases of cyclopts before 5 do not know."""
    return None if tokens[0].value.lower() == "none" else read_value(kind, tokens)


def _check_separator(kind: Any, value: str | None) -> None:
    if value is not None and len(SEPARATORS.get(value, value)) != 1:
        raise ValueError(f"It must be a single character, or {' or '.join(SEPARATORS)}.")


def _check_rows(kind: Any, value: tuple[int, ...]) -> None:
    if any(number < 0 for number in value):
        raise ValueError("Rows are whole numbers of at least 0.")


_IS_COUNT = _must_be("a whole number of at least 1", lambda number: number >= 1)
_TAKES_ALL_THAT_FOLLOW = cyclopts.Parameter(
    negative="", consume_multiple=True, json_list=False, show_default=False
)

Count: TypeAlias = Annotated[int, _IS_COUNT]
CountOrZero: TypeAlias = Annotated[
    int, _must_be("a whole number of at least 0", lambda number: number >= 0)
]
CountOrNone: TypeAlias = Annotated[
    int | None, _IS_COUNT, cyclopts.Parameter(converter=read_or_none)
]
ShareOrZero: TypeAlias = Annotated[
    float, _must_be("a number of at least 0 and below 1", lambda number: 0 <= number < 1)
]
Seconds: TypeAlias = Annotated[
    float | None,
    _must_be("a finite number above 0", lambda number: 0 < number < math.inf),
    cyclopts.Parameter(converter=read_or_none),
]
Folds: TypeAlias = Annotated[
    int, _must_be("a whole number of at least 2", lambda number: number >= 2)
]
Flag: TypeAlias = Annotated[bool, cyclopts.Parameter(negative="")]
Names: TypeAlias = Annotated[tuple[str, ...], _TAKES_ALL_THAT_FOLLOW]
Rows: TypeAlias = Annotated[
    tuple[int, ...],
    _TAKES_ALL_THAT_FOLLOW,
    cyclopts.Parameter(validator=_check_rows, converter=read_value),
]
Texts: TypeAlias = Annotated[tuple[str, ...] | None, _TAKES_ALL_THAT_FOLLOW]
Model: TypeAlias = Annotated[
    Path,
    cyclopts.Parameter(help="Model file, written by 'laconic fit --output' or laconic.save_model."),
]
Output: TypeAlias = Annotated[Path | None, cyclopts.Parameter(name=["--output", "-o"])]
"""The file that a command writes."""


def _read_place(kind: Any, tokens: Sequence[cyclopts.Token]) -> Path | str:
    text = tokens[0].value
    # A path would lose some of the slashes.
    return text if is_url(text) else Path(text)


Place: TypeAlias = Annotated[Path | str, cyclopts.Parameter(converter=_read_place)]
"""A file, or the address of a database."""
FeatureTable: TypeAlias = Annotated[
    Place,
    cyclopts.Parameter(
        help="File with the columns that the model uses, in any order, as for 'laconic fit'."
    ),
]


@cyclopts.Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Format:
    """How a table is written.

    Parameters
    ----------
    missing : tuple of str
        Texts that stand for missing values, besides empty cells; by default, the usual ones such as
        NA and ?, or those of the fit.
    separator : str
        Separator of the cells in a text file, such as ";" or tab; by default, detected.
    decimal : str
        Decimal sign of numbers in text; by default, detected.
    query : str
        What to read from a database: SQL, or the name of a table; by default, its only table.
    """

    missing: Texts = None
    separator: Annotated[str | None, cyclopts.Parameter(validator=_check_separator)] = None
    decimal: Literal[".", ","] | None = None
    query: str | None = None

    @property
    def separating(self) -> str | None:
        """The separator as a single character."""
        return None if self.separator is None else SEPARATORS.get(self.separator, self.separator)

    def missing_texts(self, known: Reading | None = None) -> tuple[str, ...]:
        """Return the texts of missing cells: those named, or else the known or usual ones."""
        from laconic.tables.text_files.text_format import Reading

        return (known or Reading()).missing if self.missing is None else self.missing


DEFAULT_FORMAT = Format()


_DIRECTIONS = {"+1": 1, "1": 1, "+": 1, "-1": -1, "-": -1, "−1": -1, "−": -1}


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _direction(text: str) -> tuple[str, int]:
    name, _, value = text.rpartition("=")
    if not name or value.strip() not in _DIRECTIONS:
        raise CommandError(
            f"--monotonic takes a column and +1 or -1, such as age=+1 or price=-1. Got {text!r}."
        )
    return name.strip(), _DIRECTIONS[value.strip()]


def _amount(option: str, what: str, text: str, example: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    try:
        amount = float(value)
    except ValueError:
        name = ""
    if not name:
        raise CommandError(f"{option} takes {what} and a number, {example}. Got {text!r}.")
    return name.strip(), amount


def _interactions(words: Sequence[str]) -> str | list[list[str]]:
    if tuple(words) in (("pairwise",), ("no_interactions",)):
        return words[0]
    return list(map(_names, words))


def _class_weight(words: Sequence[str]) -> str | dict[str, float]:
    if tuple(words) == ("balanced",):
        return words[0]
    return dict(_amount("--class-weight", "a class", text, "such as yes=5") for text in words)


def _kind(text: str) -> tuple[str, str]:
    name, sign, kind = text.rpartition("=")
    # A name may have a sign of its own.
    return (name, kind) if sign and kind in ("nominal", "ordered") else (text, "nominal")


def date_format(text: str) -> tuple[str, str | None]:
    """Read a column and the format of its dates, if any: day, or day=%d/%m/%Y."""
    from laconic.tables.text_files.read_table import check_format

    # A name may have a sign of its own.
    name, sign, written = text.rpartition("=")
    if not sign or "%" not in written:
        return text, None
    check_format(name, written)
    return name, written


READERS: dict[str, Callable[[Sequence[str]], Any]] = {
    "class_weight": _class_weight,
    "categorical_features": lambda words: dict(map(_kind, words)),
    "monotonic_cst": lambda words: dict(map(_direction, words)),
    "interaction_cst": _interactions,
    "feature_costs": lambda words: dict(
        _amount("--cost", "a column", text, "such as mri=0.01") for text in words
    ),
}
"""Read the words of an option as a parameter of the estimators, by the name of the parameter."""
