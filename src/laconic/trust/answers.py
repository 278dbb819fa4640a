"""The answers that a model keeps, in its file as well."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from laconic.terms.rules import RuleEnsemble
from laconic.trust.intervals import Intervals


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
    intervals: Intervals | None = None
    """How sure predictions are."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked."""
        return all(getattr(self, each.name) is None for each in fields(self) if each.compare)

    def having(self, **answers: Any) -> Self:
        """Return the same with other answers."""
        return replace(self, **answers)
