"""Rules as columns of a table: their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from laconic.data.tables import whole_date
from laconic.model.conditions import Query
from laconic.model.rules import RuleEnsemble


def rule_names(ensemble: RuleEnsemble, features: Sequence[str] | None = None) -> list[str]:
    """Name each rule by its conditions, no two the same.

    Rules with the same conditions are told apart by their classes, and then by numbers. `features`
    are other names for those of the ensemble, by position.

    Examples
    --------
    >>> from laconic.model.conditions import Proposition
    >>> from laconic.model.rules import Rule
    >>> old = Rule(Query((Proposition("x0", ">", 65),)), 1.0)
    >>> rule_names(RuleEnsemble((old, old), feature_names=("x0",)), ["age"])
    ['age > 65', 'age > 65 (2)']
    """
    if features is not None:
        ensemble = _renamed(
            ensemble, dict(zip(ensemble.feature_names or (), features, strict=True))
        )
    names = [ensemble.text(rule.query) for rule in ensemble]
    if ensemble.outputs:
        counts = Counter(names)
        names = [
            f"{name} for {ensemble.output_of(rule)}" if counts[name] > 1 else name
            for name, rule in zip(names, ensemble, strict=True)
        ]
    return _unique(names)


def _unique(names: Sequence[str]) -> list[str]:
    taken = set(names)
    seen: set[str] = set()
    unique = []
    for name in names:
        number, each = 1, name
        while each in seen or (number > 1 and each in taken):
            number += 1
            each = f"{name} ({number})"
        seen.add(each)
        unique.append(each)
    return unique


def _renamed(ensemble: RuleEnsemble, names: Mapping[str, str]) -> RuleEnsemble:
    """Call the features by other names."""

    def other(name: str) -> str:
        part = whole_date(name, names)
        return names[name] if part is None else f"{part[0]} of {names[part[1]]}"

    def renamed(query: Query) -> Query:
        return Query(tuple(replace(each, feature=other(each.feature)) for each in query))

    return replace(
        ensemble,
        rules=tuple(replace(rule, query=renamed(rule.query)) for rule in ensemble),
        feature_names=tuple(names.values()),
        feature_kinds={other(name): kind for name, kind in ensemble.feature_kinds.items()},
    )
