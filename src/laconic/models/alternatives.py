"""Rules that are nearly as good as a term of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from laconic.terms.conditions import Query
from laconic.terms.formatting import format_percent
from laconic.terms.slopes import Slope


@dataclass(frozen=True)
class Alternative:
    """A term that could replace another one."""

    form: Query | Slope
    """The term without its weight."""
    text: str
    """Its conditions, as the model prints them."""
    weight: float
    """Of the term in that place, by a second-order approximation."""
    share: float
    """Its gain as a fraction of the gain of the best term there."""
    overlap: float
    """Jaccard index of the rows that both cover."""
    output: str = ""
    """The class that it votes for or against, of three or more."""


@dataclass(frozen=True)
class Alternatives(Sequence[Alternative]):
    """All rules within a tolerance of the best one, no two of which cover the same rows."""

    number: int
    """Of the term, from 1."""
    text: str
    """The term itself, without its weight."""
    share: float
    """Its gain as a fraction of the gain of the best term in its place."""
    tolerance: float
    found: tuple[Alternative, ...]
    """The best first."""
    is_complete: bool
    """Whether it is proven that there are no others."""

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        within = f"within {format_percent(self.tolerance)} of the best"
        if not self.found:
            words = "Nothing else" if self.is_complete else "Nothing else was found that"
            return f"Term {self.number}, {self.text}: {words} is {within}."
        head = f"Instead of term {self.number}, {self.text}, nearly as good, {within}:"
        lines = [
            f"{format_percent(one.share):>5} of the gain, {format_percent(one.overlap):>5} overlap:"
            f" {f'for {one.output} if ' if one.output else ''}{one.text}"
            for one in self.found
        ]
        return "\n".join([head, *lines, *([] if self.is_complete else ["There may be others."])])
