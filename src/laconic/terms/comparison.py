"""Differences between two models: rules that were added, dropped or changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

from laconic.terms.conditions import Query
from laconic.terms.rules import Rule, RuleEnsemble

Kind: TypeAlias = Literal["same", "changed", "dropped", "added"]


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule of two models."""

    old: Rule | None
    """The rule in the first model; None if it was added."""
    new: Rule | None
    """The rule in the second model; None if it was dropped."""

    @property
    def kind(self) -> Kind:
        """Whether the rule is the same, changed, dropped or added."""
        if self.old is None:
            return "added"
        if self.new is None:
            return "dropped"
        has_same_query = frozenset(self.old.query) == frozenset(self.new.query)
        return "same" if has_same_query and self.old.weight == self.new.weight else "changed"


def compare_rules(old: RuleEnsemble, new: RuleEnsemble) -> list[RuleChange]:
    """Find the rules of one model in another.

    Rules with the same conditions are matched first; then those with the same features and
    relations, which differ in thresholds or values only. Rules that occur several times count once,
    with the sum of their weights. The rules of `old` come in their order, then those that were
    added. Intercepts are not compared.

    Examples
    --------
    >>> from laconic import Condition
    >>> def rule(weight, *condition):
    ...     return Rule(Query((Condition(*condition),)), weight)
    >>> old = RuleEnsemble((rule(1.0, "age", ">", 30), rule(2.0, "age", "<=", 60)))
    >>> new = RuleEnsemble((rule(1.0, "age", ">", 40), rule(3.0, "plan", "==", "basic")))
    >>> for change in compare_rules(old, new):
    ...     print(change.kind, change.old, change.new)
    changed +1.000 if age > 30 +1.000 if age > 40
    dropped +2.000 if age <= 60 None
    added None +3.000 if plan == basic
    """
    before, after = list(old.consolidate()), list(new.consolidate())
    partners: dict[int, int] = {}
    keys: tuple[Callable[[Query], Hashable], ...] = (frozenset, _form)
    for key, (place, rule) in product(keys, enumerate(before)):
        for other, candidate in enumerate(after):
            is_free = place not in partners and other not in partners.values()
            is_same = rule.output == candidate.output and key(rule.query) == key(candidate.query)
            if is_free and is_same:
                partners[place] = other
    changes = [
        RuleChange(rule, after[partners[position]] if position in partners else None)
        for position, rule in enumerate(before)
    ]
    taken = set(partners.values())
    return changes + [
        RuleChange(None, rule) for position, rule in enumerate(after) if position not in taken
    ]


def _form(query: Query) -> Hashable:
    """Return the features and relations of a query, without thresholds and values."""
    return tuple(sorted((condition.feature, condition.relation) for condition in query))
