"""The answers that a model keeps, in its file as well."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from laconic.terms.rules import RuleEnsemble
from laconic.trust.chance import Chance
from laconic.trust.effects import Effects
from laconic.trust.intervals import Intervals
from laconic.trust.stability import Stability


@dataclass(frozen=True)
class Trust:
    """What is known about a model besides its proof; None where nobody has asked.

    Examples
    --------
    >>> Trust().is_empty
    True
    """

    ensemble: RuleEnsemble | None = field(default=None, compare=False)
    """What the answers are about."""
    chance: Chance | None = None
    """How often chance alone produces terms as good."""
    effects: Effects | None = None
    """Effects of the terms on rows that the search has not seen."""
    stability: Stability | None = None
    """How often the terms come back in resampled copies of the training table."""
    intervals: Intervals | None = None
    """How sure predictions are."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked."""
        return all(getattr(self, each.name) is None for each in fields(self) if each.compare)

    @property
    def _about_terms(self) -> list[Chance | Stability | Effects]:
        answers = self.chance, self.stability, self.effects
        return [answer for answer in answers if answer is not None]

    @property
    def columns(self) -> dict[str, list[str]]:
        """A cell for each term and question, for tables of terms."""
        return {answer.heading: answer.cells for answer in self._about_terms}

    def sentences(self, number: int) -> list[str]:
        """Describe what is known about a term, counted from 1."""
        return [answer.sentences[number - 1] for answer in self._about_terms]

    @property
    def legend(self) -> list[str]:
        """What the columns mean, a sentence for each."""
        return [answer.legend for answer in self._about_terms]

    def having(self, **answers: Any) -> Self:
        """Return the same with other answers."""
        return replace(self, **answers)
