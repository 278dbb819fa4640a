"""Kinds of arguments and options that commands share, and what their values must be.

Constraints on rules as the command line takes them: words, and pairs of a column and a value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

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

    return cyclopts.Parameter(validator=check)


def _check_separator(kind: Any, value: str | None) -> None:
    if value is not None and len(SEPARATORS.get(value, value)) != 1:
        raise ValueError(f"It must be a single character, or {' or '.join(SEPARATORS)}.")


def _check_rows(kind: Any, value: tuple[int, ...]) -> None:
    if any(number < 0 for number in value):
        raise ValueError("Rows are whole numbers of at least 0.")


_IS_COUNT = _must_be("a whole number of at least 1", lambda number: number >= 1)
_TAKES_ALL_THAT_FOLLOW = cyclopts.Parameter(negative="", consume_multiple=True, show_default=False)

Count: TypeAlias = Annotated[int, _IS_COUNT]
CountOrZero: TypeAlias = Annotated[
    int, _must_be("a whole number of at least 0", lambda number: number >= 0)
]
CountOrChoice: TypeAlias = Annotated[int | Literal["auto"], _IS_COUNT]
CountOrNone: TypeAlias = Annotated[int | None, _IS_COUNT]
CountOrAuto: TypeAlias = Annotated[int | Literal["auto"] | None, _IS_COUNT]
CountOrAll: TypeAlias = Annotated[int | Literal["all"] | None, _IS_COUNT]
_IS_AMOUNT = _must_be("a finite number of at least 0", lambda number: 0 <= number < math.inf)
Amount: TypeAlias = Annotated[float, _IS_AMOUNT]
AmountOrAuto: TypeAlias = Annotated[float | Literal["auto"], _IS_AMOUNT]
Share: TypeAlias = Annotated[
    float, _must_be("a number above 0 and up to 1", lambda number: 0 < number <= 1)
]
ShareOrZero: TypeAlias = Annotated[
    float, _must_be("a number of at least 0 and below 1", lambda number: 0 <= number < 1)
]
Seconds: TypeAlias = Annotated[
    float | None, _must_be("a finite number above 0", lambda number: 0 < number < math.inf)
]
Jobs: TypeAlias = Annotated[
    int | None, _must_be("a whole number other than 0", lambda number: number != 0)
]
Folds: TypeAlias = Annotated[
    int, _must_be("a whole number of at least 2", lambda number: number >= 2)
]
Flag: TypeAlias = Annotated[bool, cyclopts.Parameter(negative="")]
Names: TypeAlias = Annotated[tuple[str, ...], _TAKES_ALL_THAT_FOLLOW]
Rows: TypeAlias = Annotated[
    tuple[int, ...], _TAKES_ALL_THAT_FOLLOW, cyclopts.Parameter(validator=_check_rows)
]
Texts: TypeAlias = Annotated[tuple[str, ...] | None, _TAKES_ALL_THAT_FOLLOW]
Model: TypeAlias = Annotated[
    Path,
    cyclopts.Parameter(help="Model file, written by 'laconic fit --model' or laconic.save_model."),
]
FeatureTable: TypeAlias = Annotated[
    Path,
    cyclopts.Parameter(
        help="File with the columns that the rules use, in any order, as for 'laconic fit'."
    ),
]


def _read_place(kind: Any, tokens: Sequence[cyclopts.Token]) -> Path | str:
    text = tokens[0].value
    # A path would lose some of the slashes.
    return text if is_url(text) else Path(text)


Place: TypeAlias = Annotated[Path | str, cyclopts.Parameter(converter=_read_place, n_tokens=1)]
"""A file, or the address of a database."""


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
    """

    missing: Texts = None
    separator: Annotated[str | None, cyclopts.Parameter(validator=_check_separator)] = None
    decimal: Literal[".", ","] | None = None

    @property
    def separating(self) -> str | None:
        """The separator as a single character."""
        return None if self.separator is None else SEPARATORS.get(self.separator, self.separator)

    def missing_texts(self, known: Reading | None = None) -> tuple[str, ...]:
        """Tell what means a missing cell; where nothing is named, what is known or usual."""
        from laconic.tables.text_files.text_format import Reading

        return (known or Reading()).missing if self.missing is None else self.missing


DEFAULT_FORMAT = Format()


_DIRECTIONS = {"+1": 1, "1": 1, "+": 1, "-1": -1, "-": -1, "−1": -1, "−": -1}


def read_constraints(
    monotonic: Sequence[str],
    interactions: Sequence[str],
    cost: Sequence[str],
) -> dict[str, Any]:
    """Turn options into parameters of the estimators; those that are not given are left out."""
    words = tuple(interactions)
    is_word = words in (("pairwise",), ("no_interactions",))
    given = {
        "monotonic_cst": dict(map(_direction, monotonic)),
        "interaction_cst": words[0] if is_word else list(map(_names, words)),
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
