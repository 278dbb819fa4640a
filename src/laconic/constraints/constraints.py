"""Constraints on the rules of a model, over named features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from laconic._words import listed, listed_names
from laconic.data.tables import whole_column, whole_date
from laconic.model.conditions import MISSING_RELATIONS, Proposition, Query
from laconic.search import Allowed, Family

EITHER: frozenset[int] = frozenset((1, -1))
"""Signs of a weight that nothing is said about."""


@dataclass(frozen=True)
class Constraints:
    """Which features rules use, how these go together, and which signs weights have.

    Made by :func:`~laconic.constraints.read_constraints`.

    A rule of positive weight says nothing but ``x > t`` of a feature with which predictions may
    only rise, and one of negative weight nothing but ``x <= t``. Each rule then rises with the
    feature, and so does their sum. That a value is missing, or present, does not depend on how
    large it is: either sign may say so, and a missing value has no place in the order.

    Of three or more classes, a direction is about the probability of one class. It rises with a
    feature if the raw prediction of that class rises and those of all other classes fall, so that
    rules of the other classes have the opposite signs.

    A part of a date, such as its weekday, belongs to the column of the date in every respect. Years
    rise with a date; no rule is about any other part of a date that has a direction.
    """

    groups: tuple[frozenset[str], ...]
    """Features that a rule may use together; it uses those of one group only."""
    directions: Mapping[str, int] = field(default_factory=dict)
    """1 for features with which predictions may only rise, -1 where they may only fall."""
    sign: int = 0
    """Sign of all weights; 0 for either."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """What a rule must gain more to use a feature."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """As plain values with the names of the parameters, for files and people."""
    features: frozenset[str] = frozenset()
    """All columns of the table."""
    outputs: Mapping[str, int] = field(default_factory=dict)
    """Of three or more classes, the position of the one that a direction is about."""

    def allowed(self, propositions: Sequence[Proposition], output: int | None = None) -> Allowed:
        """List the queries that rules may have.

        Parameters
        ----------
        propositions : sequence of Proposition
        output : int or None, default=None
            Position of the class that the rules are about; None where there is one raw prediction.
        """
        places: dict[str, list[int]] = {}
        for place, proposition in enumerate(propositions):
            places.setdefault(self._column(proposition), []).append(place)
            self._check_order(proposition)
        signs = [self._signs_for(proposition, output) for proposition in propositions]
        families: dict[Family, None] = {}
        for group in self.groups:
            members = sorted(place for name in group for place in places.get(name, ()))
            for sign in self._signs(group):
                fitting = (place for place in members if sign == 0 or sign in signs[place])
                families[Family(tuple(fitting), sign)] = None
        prices = {
            frozenset(places[name]): cost
            for name, cost in self.costs.items()
            if cost > 0.0 and name in places
        }
        return Allowed(tuple(families), prices)

    def price(self, query: Query) -> float:
        """Add up what a rule must gain more for the features that it uses."""
        used = set(map(self._column, query))
        return sum(cost for name, cost in self.costs.items() if name in used)

    def signs_of(self, query: Query, output: int | None = None) -> frozenset[int]:
        """Find the signs that the weight of a rule may have: 1, -1, both of them or none."""
        signs = EITHER if self.sign == 0 else frozenset((self.sign,))
        return signs.intersection(*(self._signs_for(each, output) for each in query))

    def sign_of(self, query: Query, output: int | None = None) -> int:
        """Return the sign that the weight of a rule must have; 0 for either.

        A query that fits no sign is refused, as by `check`.
        """
        signs = self.signs_of(query, output)
        if not signs:
            self._refuse_signs(query, output)
        return 0 if len(signs) > 1 else min(signs)

    def check(self, query: Query, output: int | None = None) -> None:
        """Refuse a query that rules, those of a class if one is given, may not have."""
        features = list(dict.fromkeys(map(self._column, query)))
        if features and not any(group.issuperset(features) for group in self.groups):
            raise ValueError(
                f"A rule may not use {listed_names(features)}"
                f"{' together' if len(features) > 1 else ''}, as the constraints say. "
                f"Got '{query}'."
            )
        for proposition in query:
            self._check_order(proposition)
        self.sign_of(query, output)

    def _column(self, proposition: Proposition) -> str:
        return whole_column(proposition.feature, self.features)

    def _signs(self, group: frozenset[str]) -> tuple[int, ...]:
        if self.sign != 0:
            return (self.sign,)
        return (0,) if group.isdisjoint(self.directions) else (1, -1)

    def _signs_for(self, proposition: Proposition, output: int | None) -> frozenset[int]:
        """Find the signs of weights that a condition is for."""
        column = self._column(proposition)
        if column not in self.directions:
            return EITHER
        assert output is not None or not self.outputs  # or the class is not known
        is_about = self.outputs.get(column, output) == output
        direction = self.directions[column] if is_about else -self.directions[column]
        order = self._order(proposition)
        if order is None:
            return frozenset()
        return EITHER if order == 0 else frozenset((direction * order,))

    def _order(self, proposition: Proposition) -> int | None:
        """Find how a condition depends on the values of its column, as `order_of` does."""
        part = whole_date(proposition.feature, self.features)
        is_ordered = part is None or part[0] == "year" or proposition.value is None
        return order_of(proposition) if is_ordered else None

    def _check_order(self, proposition: Proposition) -> None:
        if proposition.feature in self.directions and order_of(proposition) is None:
            raise ValueError(
                f"The 'monotonic_cst' parameter must be about features that have an order. Got "
                f"{proposition.feature!r}, with the condition '{proposition}'. Leave it out, or "
                "make numbers of its values."
            )

    def _refuse_signs(self, query: Query, output: int | None) -> NoReturn:
        reasons = [
            f"'{each}' {_SIGN_WORDS[self._signs_for(each, output)]}"
            for each in query
            if self._signs_for(each, output) != EITHER
        ]
        if self.sign != 0:
            reasons.append(f"weight_signs={self.settings['weight_signs']!r} is set")
        raise ValueError(
            f"The rule '{query}' fits no weight that the constraints allow: {listed(reasons)}. "
            "Leave some of its conditions out, or loosen 'monotonic_cst'"
            f"{' or weight_signs' if self.sign else ''}."
        )


_SIGN_WORDS = {
    frozenset((1,)): "needs a positive weight",
    frozenset((-1,)): "needs a negative weight",
    frozenset(): "neither rises nor falls with its date",
}


def order_of(proposition: Proposition) -> int | None:
    """Find whether a condition holds for large values (1) or for small ones (-1).

    It is 0 for a condition that does not depend on how large they are, and None for one that is
    about no order.

    Examples
    --------
    >>> conditions = [("age", ">", 65), ("paid", "==", False), ("age", "is missing")]
    >>> [order_of(Proposition(*condition)) for condition in conditions]
    [1, -1, 0]
    >>> order_of(Proposition("plan", "==", "free")) is None
    True
    """
    if proposition.relation in MISSING_RELATIONS:
        return 0
    if proposition.relation in ("<=", ">"):
        return 1 if proposition.relation == ">" else -1
    if isinstance(proposition.value, bool):
        return 1 if proposition.value == (proposition.relation == "==") else -1
    return None
