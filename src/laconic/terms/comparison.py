"""Differences between two models: terms that were added, dropped or changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from typing import Literal, TypeAlias

from laconic.terms.rules import RuleEnsemble, Term
from laconic.terms.slopes import Slope

Kind: TypeAlias = Literal["same", "changed", "dropped", "added"]


@dataclass(frozen=True, slots=True)
class TermChange:
    """A term of two models."""

    old: Term | None
    """The term in the first model; None if it was added."""
    new: Term | None
    """The term in the second model; None if it was dropped."""

    @property
    def kind(self) -> Kind:
        """Whether the term is the same, changed, dropped or added."""
        if self.old is None:
            return "added"
        if self.new is None:
            return "dropped"
        is_same = (self.old.key, self.old.weight) == (self.new.key, self.new.weight)
        return "same" if is_same else "changed"


def compare_terms(old: RuleEnsemble, new: RuleEnsemble) -> list[TermChange]:
    """Find the terms of one model in another.

    Rules with the same conditions and slopes with the same ends are matched first; then rules with
    the same features and relations, which differ in thresholds or values only, and slopes of the
    same feature. Terms that occur several times count once, with the sum of their weights. The
    terms of `old` come in their order, then those that were added. Intercepts are not compared.

    Examples
    --------
    >>> from laconic import Condition, Query, Rule
    >>> def rule(weight, *condition):
    ...     return Rule(Query((Condition(*condition),)), weight)
    >>> old = RuleEnsemble((rule(1.0, "age", ">", 30), rule(2.0, "age", "<=", 60)))
    >>> new = RuleEnsemble((rule(1.0, "age", ">", 40), rule(3.0, "plan", "==", "basic")))
    >>> for change in compare_terms(old, new):
    ...     print(change.kind, change.old, change.new)
    changed +1.000 if age > 30 +1.000 if age > 40
    dropped +2.000 if age <= 60 None
    added None +3.000 if plan == basic
    """
    before, after = list(old.consolidate()), list(new.consolidate())
    partners: dict[int, int] = {}
    keys: tuple[Callable[[Term], Hashable], ...] = (attrgetter("key"), _form)
    for key, (place, term) in product(keys, enumerate(before)):
        for other, candidate in enumerate(after):
            is_free = place not in partners and other not in partners.values()
            is_same = term.output == candidate.output and key(term) == key(candidate)
            if is_free and is_same:
                partners[place] = other
    changes = [
        TermChange(rule, after[partners[position]] if position in partners else None)
        for position, rule in enumerate(before)
    ]
    taken = set(partners.values())
    return changes + [
        TermChange(None, rule) for position, rule in enumerate(after) if position not in taken
    ]


def _form(term: Term) -> Hashable:
    """Return the features and relations of a term, without thresholds and values."""
    if isinstance(term, Slope):
        return term.feature
    return tuple(sorted((condition.feature, condition.relation) for condition in term.query))
