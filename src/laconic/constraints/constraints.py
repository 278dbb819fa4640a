"""Constraints on the rules of a model, over named features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from laconic._words import listed_names
from laconic.model.conditions import MISSING_RELATIONS, Proposition, Query
from laconic.search import Allowed, Family


@dataclass(frozen=True)
class Constraints:
    """Which features rules use, how these go together, and which signs weights have.

    Made by :func:`~laconic.constraints.read_constraints`.

    A rule of positive weight says nothing but ``x > t`` of a feature with which predictions may
    only rise, and one of negative weight nothing but ``x <= t``. Each rule then rises with the
    feature, and so does their sum. That a value is missing, or present, does not depend on how
    large it is: either sign may say so, and a missing value has no place in the order.
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

    def allowed(
        self, propositions: Sequence[Proposition], output: int | None = None
    ) -> Allowed:
        """List the queries that rules may have."""
        places: dict[str, list[int]] = {}
        for place, proposition in enumerate(propositions):
            places.setdefault(proposition.feature, []).append(place)
            self._check_order(proposition)
        families: dict[Family, None] = {}
        for group in self.groups:
            members = sorted(place for name in group for place in places.get(name, ()))
            for sign in self._signs(group):
                fitting = (p for p in members if self._fits(propositions[p], sign))
                families[Family(tuple(fitting), sign)] = None
        prices = {
            frozenset(places[name]): cost
            for name, cost in self.costs.items()
            if cost > 0.0 and name in places
        }
        return Allowed(tuple(families), prices)

    def price(self, query: Query) -> float:
        """Add up what a rule must gain more for the features that it uses."""
        used = {proposition.feature for proposition in query}
        return sum(cost for name, cost in self.costs.items() if name in used)

    def sign_of(self, query: Query, output: int | None = None) -> int:
        """Tell which sign the weight of a rule must have; 0 for either."""
        orders = {self._order(proposition) for proposition in query} - {0}
        return self.sign or (orders.pop() if len(orders) == 1 else 0)

    def check(self, query: Query, output: int | None = None) -> None:
        """Refuse a query that rules may not have."""
        features = list(dict.fromkeys(proposition.feature for proposition in query))
        if features and not any(group.issuperset(features) for group in self.groups):
            raise ValueError(
                f"A rule may not use {listed_names(features)}"
                f"{' together' if len(features) > 1 else ''}, as the constraints say. "
                f"Got '{query}'."
            )
        for proposition in query:
            self._check_order(proposition)
        orders = {self._order(proposition) for proposition in query} - {0}
        if len(orders) > 1 or (self.sign and orders and self.sign not in orders):
            raise ValueError(
                f"The rule '{query}' fits no weight that the constraints allow: its conditions "
                f"speak for different signs. Leave some out, or loosen 'monotonic_cst'"
                f"{' or weight_signs' if self.sign else ''}."
            )

    def _signs(self, group: frozenset[str]) -> tuple[int, ...]:
        if self.sign != 0:
            return (self.sign,)
        return (0,) if group.isdisjoint(self.directions) else (1, -1)

    def _fits(self, proposition: Proposition, sign: int) -> bool:
        return sign == 0 or self._order(proposition) in (0, sign)

    def _order(self, proposition: Proposition) -> int:
        """Tell which sign of a weight a condition is for; 0 for either."""
        direction = self.directions.get(proposition.feature, 0)
        return direction and direction * (order_of(proposition) or 0)

    def _check_order(self, proposition: Proposition) -> None:
        if proposition.feature in self.directions and order_of(proposition) is None:
            raise ValueError(
                f"The 'monotonic_cst' parameter must be about features that have an order. Got "
                f"{proposition.feature!r}, with the condition '{proposition}'. Leave it out, or "
                "make numbers of its values."
            )


def order_of(proposition: Proposition) -> int | None:
    """Tell whether a condition holds for large values (1) or for small ones (-1).

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
