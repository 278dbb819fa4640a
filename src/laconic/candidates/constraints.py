"""Constraints on the terms of a model: features, interactions, directions, costs and signs.

`read_constraints` reads them as users write them, by names or positions of features.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NoReturn

import numpy as np

from laconic._util.checks import is_finite_number, is_whole, require, shown
from laconic._util.words import listed, listed_names, nearest, parameter
from laconic.search import Family, QueryFamilies
from laconic.tables.tables import whole_column, whole_date
from laconic.terms.conditions import MISSING_RELATIONS, Condition, Query
from laconic.terms.slopes import Slope

EITHER: frozenset[int] = frozenset((1, -1))
"""Signs of a weight without constraints."""


@dataclass(frozen=True)
class Constraints:
    """The features that terms may use, alone or together, and the signs of their weights.

    Made by :func:`~laconic.candidates.constraints.read_constraints`.

    Where predictions may only increase with a feature, a rule of positive weight may have only
    ``x > t`` as a condition on it, and a rule of negative weight only ``x <= t``; a slope of it has
    a positive weight. Each term then increases with the feature, and so does their sum. Whether a
    value is missing does not depend on its size: rules of either sign may have such a condition.

    With three or more classes, a direction constrains the probability of one class. It increases
    with a feature if the raw prediction of that class increases and those of all other classes
    decrease, so that terms of the other classes have the opposite signs.

    A part of a date, such as its weekday, has the constraints of the column of the date. Years
    increase with a date; no term uses any other part of a date that has a direction.
    """

    groups: tuple[frozenset[str], ...]
    """Sets of features; a rule uses features of one set only."""
    directions: Mapping[str, int] = field(default_factory=dict)
    """1 for features with which predictions may only increase, -1 for only decrease."""
    sign: int = 0
    """Sign of all weights; 0 for either."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """Objective that a term must gain in addition to use a feature."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Plain values with the names of the parameters, for files and texts; a cost of None is
    infinite."""
    features: frozenset[str] = frozenset()
    """All columns of the table."""
    outputs: Mapping[str, int] = field(default_factory=dict)
    """Position of the class that a direction constrains, of three or more classes."""

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of an estimator that has these constraints."""
        found = dict(self.settings)
        costs = found.get("feature_costs")
        if costs is not None:
            costs = {name: math.inf if cost is None else cost for name, cost in costs.items()}
            found["feature_costs"] = costs
        return found

    def allowed(self, conditions: Sequence[Condition], output: int | None = None) -> QueryFamilies:
        """List the queries that rules may have.

        Parameters
        ----------
        conditions : sequence of Condition
        output : int or None, default=None
            Position of the class of the rules; None where there is one raw prediction.
        """
        places: dict[str, list[int]] = {}
        for place, condition in enumerate(conditions):
            places.setdefault(self._column(condition), []).append(place)
            self._check_order(condition)
        signs = [self._signs_for(condition, output) for condition in conditions]
        families: dict[Family, None] = {}
        for group in self.groups:
            members = sorted(place for name in group for place in places.get(name, ()))
            for sign in self._signs(group):
                fitting = (place for place in members if sign == 0 or sign in signs[place])
                families[Family(tuple(fitting), sign)] = None
        costs = {
            frozenset(places[name]): cost
            for name, cost in self.costs.items()
            if cost > 0.0 and name in places
        }
        return QueryFamilies(tuple(families), costs)

    def cost(self, form: Query | Slope) -> float:
        """Add up the costs of the features that a term uses."""
        used = set(self._columns(form))
        return sum(cost for name, cost in self.costs.items() if name in used)

    def signs_of(self, form: Query | Slope, output: int | None = None) -> frozenset[int]:
        """Return the signs that the weight of a term may have: 1, -1, both or none."""
        signs = EITHER if self.sign == 0 else frozenset((self.sign,))
        return signs.intersection(*(self._signs_for(each, output) for each in _conditions(form)))

    def sign_of(self, form: Query | Slope, output: int | None = None) -> int:
        """Return the sign that the weight of a term must have; 0 for either.

        A term that fits no sign is refused, as by `check`.
        """
        signs = self.signs_of(form, output)
        if not signs:
            self._refuse_signs(form, output)
        return 0 if len(signs) > 1 else min(signs)

    def are_allowed(self, form: Query | Slope) -> bool:
        """Check whether a term may use its features, together if there are several."""
        features = self._columns(form)
        return not features or any(group.issuperset(features) for group in self.groups)

    def check(self, form: Query | Slope, output: int | None = None) -> None:
        """Refuse a term that models, or those of a given class, may not have."""
        if not self.are_allowed(form):
            features = self._columns(form)
            raise ValueError(
                f"A term may not use {listed_names(features)}"
                f"{' together' if len(features) > 1 else ''}, as the constraints say. "
                f"Got '{form_text(form)}'."
            )
        for condition in _conditions(form):
            self._check_order(condition)
        self.sign_of(form, output)

    def _columns(self, form: Query | Slope) -> list[str]:
        return list(dict.fromkeys(map(self._column, _conditions(form))))

    def _column(self, condition: Condition) -> str:
        return whole_column(condition.feature, self.features)

    def _signs(self, group: frozenset[str]) -> tuple[int, ...]:
        if self.sign != 0:
            return (self.sign,)
        return (0,) if group.isdisjoint(self.directions) else (1, -1)

    def _signs_for(self, condition: Condition, output: int | None) -> frozenset[int]:
        """Return the signs of weights that a condition allows."""
        column = self._column(condition)
        if column not in self.directions:
            return EITHER
        assert output is not None or not self.outputs
        is_about = self.outputs.get(column, output) == output
        direction = self.directions[column] if is_about else -self.directions[column]
        order = self._order(condition)
        if order is None:
            return frozenset()
        return EITHER if order == 0 else frozenset((direction * order,))

    def _order(self, condition: Condition) -> int | None:
        """Return how a condition depends on the values of its column, as `order_of` does."""
        part = whole_date(condition.feature, self.features)
        is_ordered = part is None or part[0] == "year" or condition.value is None
        return order_of(condition) if is_ordered else None

    def _check_order(self, condition: Condition) -> None:
        if condition.feature in self.directions and order_of(condition) is None:
            raise ValueError(
                f"{parameter('monotonic_cst')} must name features that have an order. Got "
                f"{condition.feature!r}, with the condition '{condition}'. Leave it out, or "
                "convert its values to numbers."
            )

    def _refuse_signs(self, form: Query | Slope, output: int | None) -> NoReturn:
        is_slope = isinstance(form, Slope)
        reasons = [
            f"'{form_text(form) if is_slope else each}' {_SIGN_WORDS[signs]}"
            for each in _conditions(form)
            if (signs := self._signs_for(each, output)) != EITHER
        ]
        if self.sign != 0:
            setting = parameter("weight_signs", self.settings["weight_signs"])
            reasons.append(f"{setting} is set")
        loosened = ["monotonic_cst", *(["weight_signs"] if self.sign else [])]
        raise ValueError(
            f"The term '{form_text(form)}' fits no weight that the constraints allow: "
            f"{listed(reasons)}. Leave {'it' if is_slope else 'some of its conditions'} out, or "
            f"loosen {listed(map(parameter, loosened), word='or')}."
        )


_SIGN_WORDS = {
    frozenset((1,)): "needs a positive weight",
    frozenset((-1,)): "needs a negative weight",
    frozenset(): "neither rises nor falls with its date",
}


def _conditions(form: Query | Slope) -> tuple[Condition, ...]:
    """Return the conditions of a query; a slope grows as a threshold at its lower end does."""
    if isinstance(form, Slope):
        return (Condition(form.feature, ">", form.lower),)
    return form.conditions


def form_text(form: Query | Slope) -> str:
    """Write a term without its weight."""
    return form.text() if isinstance(form, Slope) else str(form)


def order_of(condition: Condition) -> int | None:
    """Return whether a condition holds for large values (1) or for small ones (-1).

    It is 0 for a condition on missing values, and None for one on values without an order.

    Examples
    --------
    >>> conditions = [("age", ">", 65), ("paid", "==", False), ("age", "is missing")]
    >>> [order_of(Condition(*condition)) for condition in conditions]
    [1, -1, 0]
    >>> order_of(Condition("plan", "==", "free")) is None
    True
    """
    if condition.relation in MISSING_RELATIONS:
        return 0
    if condition.relation in ("<=", ">"):
        return 1 if condition.relation == ">" else -1
    if isinstance(condition.value, bool):
        return 1 if condition.value == (condition.relation == "==") else -1
    return None


# Each group is searched on its own.
MAX_GROUPS = 5_000


def feature_groups(
    features: Sequence[str],
    interactions: str | Sequence[Collection[str]] | None,
) -> list[frozenset[str]]:
    """List the largest sets of features that a rule may use together.

    Parameters
    ----------
    features : sequence of str
        Those that rules may use at all.
    interactions : {"pairwise", "no_interactions"}, sequence of collections of str, or None
        A rule uses features of one of these sets only; those that no set names are one more.

    Examples
    --------
    >>> groups = feature_groups("abcd", ["ac", "bc", "b"])
    >>> ["".join(sorted(group)) for group in groups]
    ['ac', 'bc', 'd']
    """
    order = {name: place for place, name in enumerate(features)}
    groups = dict.fromkeys(_interacting(features, interactions))
    _check_number(len(groups))
    return sorted(_largest(groups), key=lambda group: sorted(order[name] for name in group))


def _interacting(
    features: Sequence[str], interactions: str | Sequence[Collection[str]] | None
) -> list[frozenset[str]]:
    if interactions is None:
        return [frozenset(features)]
    if interactions == "no_interactions" or len(features) == 1:
        return [frozenset({name}) for name in features]
    if interactions == "pairwise":
        _check_number(len(features) * (len(features) - 1) // 2)
        return [frozenset(pair) for pair in combinations(features, 2)]
    named = [frozenset(names) & frozenset(features) for names in interactions]
    rest = frozenset(features).difference(*named)
    return [group for group in (*named, rest) if group]


def _largest(groups: Collection[frozenset[str]]) -> list[frozenset[str]]:
    """Leave out sets that are subsets of others."""
    by_member: dict[str, list[frozenset[str]]] = {}
    for group in groups:
        for name in group:
            by_member.setdefault(name, []).append(group)
    return [
        group
        for group in groups
        if not any(group < other for other in min((by_member[n] for n in group), key=len))
    ]


def _check_number(n_groups: int) -> None:
    if n_groups > MAX_GROUPS:
        raise ValueError(
            f"The constraints must leave no more than {MAX_GROUPS:,} sets of features that may be "
            f"used together, as each is searched by itself. Got {n_groups:,} or more. Name larger "
            f"sets in {parameter('interaction_cst')}, or exclude some features."
        )


CONSTRAINTS: dict[str, Any] = {
    "monotonic_cst": None,
    "interaction_cst": None,
    "feature_costs": None,
    "weight_signs": "both",
}
"""The parameters that constrain terms, and their defaults, which constrain nothing."""

_SIGNS = {"both": 0, "positive": 1, "negative": -1}


def read_constraints(
    features: Sequence[str], classes: Sequence[Any] | None = None, **parameters: Any
) -> Constraints | None:
    """Check constraints against the features of a table; None if there are none.

    Parameters
    ----------
    features : sequence of str
        Names of the columns, in their order.
    classes : sequence or None, default=None
        Labels of the classes in their order, where there are any. Of three or more, directions of
        `monotonic_cst` constrain the last one, unless they name another one.
    **parameters
        Those of `CONSTRAINTS`, as the estimators take them.

    Examples
    --------
    >>> constraints = read_constraints(
    ...     ["age", "sex", "plan"], monotonic_cst={"age": 1}, interaction_cst=[{"age", "sex"}]
    ... )
    >>> [sorted(group) for group in constraints.groups]
    [['age', 'sex'], ['plan']]
    >>> constraints = read_constraints(["age"], ["ill", "so-so", "well"], monotonic_cst={"age": -1})
    >>> constraints.settings
    {'monotonic_cst': {'age': {'well': -1}}}
    """
    given = CONSTRAINTS | parameters
    if all(value is None or _is_text(value, "both") for value in given.values()):
        return None
    reader = _Reader(features, classes)
    directions, outputs = reader.directions(given["monotonic_cst"])
    interactions = given["interaction_cst"]
    if not (interactions is None or isinstance(interactions, str)):
        interactions = reader.sets("interaction_cst", interactions)
    costs = reader.costs(given["feature_costs"])
    used = [name for name in features if costs.get(name) != math.inf]
    if not used:
        raise ValueError(
            f"{parameter('feature_costs')} must leave at least one feature of finite cost. Got inf "
            f"for all of them: {listed_names(features)}."
        )
    settings = {
        "monotonic_cst": {
            name: {str(reader.classes[outputs[name]]): sign} if name in outputs else sign
            for name, sign in directions.items()
        }
        or None,
        "interaction_cst": _plain(interactions),
        "feature_costs": {name: None if c == math.inf else c for name, c in costs.items()} or None,
        "weight_signs": None if given["weight_signs"] == "both" else given["weight_signs"],
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    if not settings:
        return None
    groups = feature_groups(used, interactions)
    costs = {name: cost for name, cost in costs.items() if name in used}
    return Constraints(
        tuple(groups),
        directions,
        _SIGNS[given["weight_signs"]],
        costs,
        settings,
        frozenset(features),
        outputs,
    )


class _Reader:
    """Finds features by name or position, and classes by label, and refuses all others."""

    def __init__(self, features: Sequence[str], classes: Sequence[Any] | None) -> None:
        self.features = list(features)
        self.classes = [] if classes is None else list(classes)

    def feature(self, name: str, given: Any) -> str:
        if is_whole(given):
            if 0 <= given < len(self.features):
                return self.features[int(given)]
            raise ValueError(
                f"The positions in {parameter(name)} must be between 0 and "
                f"{len(self.features) - 1}. Got {given}."
            )
        if isinstance(given, str) and given in self.features:
            return given
        near = nearest(given, self.features) if isinstance(given, str) else None
        hint = f"Did you mean {near!r}?" if near else f"There are {listed_names(self.features)}."
        raise ValueError(f"{parameter(name)} names {shown(given)}, which is not a column. {hint}")

    def names(self, name: str, given: Any) -> list[str]:
        """Read a list of features, and sort it in the order of the table."""
        if given is None:
            return []
        require(is_list(given), parameter(name), "lists of features", given)
        found = {self.feature(name, entry) for entry in given}
        return [each for each in self.features if each in found]

    def sets(self, name: str, given: Any) -> list[list[str]]:
        return [] if given is None else [self.names(name, entry) for entry in given]

    def directions(self, given: Any) -> tuple[dict[str, int], dict[str, int]]:
        """Read the direction of each feature, or of some, and the class of each direction."""
        if given is None:
            return {}, {}
        if isinstance(given, Mapping):
            entries = {self.feature("monotonic_cst", key): value for key, value in given.items()}
        else:
            if len(given) != len(self.features):
                raise ValueError(
                    f"{parameter('monotonic_cst')} must have an entry for each of the "
                    f"{len(self.features)} features. Got {len(given)}. A dict names some of them."
                )
            entries = dict(zip(self.features, given, strict=True))
        read = {name: self._direction(name, value) for name, value in entries.items()}
        read = {name: entry for name, entry in read.items() if entry[0] != 0}
        last = max(len(self.classes) - 1, 0)
        if last > 1:
            return {n: sign for n, (sign, _) in read.items()}, {
                n: at for n, (_, at) in read.items()
            }
        # The raw prediction increases where the probability of the first of two classes decreases.
        return {n: sign if at == last else -sign for n, (sign, at) in read.items()}, {}

    def _direction(self, name: str, value: Any) -> tuple[int, int]:
        """Read a direction, and the position of its class: by default the last one."""
        position = max(len(self.classes) - 1, 0)
        if isinstance(value, Mapping):
            if len(value) != 1:
                raise ValueError(
                    f"{parameter('monotonic_cst')} must name one class for a feature, such as "
                    f"{{{name!r}: {{'ill': 1}}}}. Got {shown(value)} for {name!r}."
                )
            [(label, value)] = value.items()
            position = self._class(name, label)
        is_met = is_finite_number(value) and value in (-1, 0, 1)
        what = f"The direction of {name!r} in {parameter('monotonic_cst')}"
        require(is_met, what, "-1, 0 or 1", value)
        return int(value), position

    def _class(self, name: str, label: Any) -> int:
        """Find a class by its label, or by the text of its label, as in files."""
        if not self.classes:
            raise ValueError(
                f"{parameter('monotonic_cst')} names the class {shown(label)} for {name!r}, but "
                "the target has no classes. Use -1, 0 or 1."
            )
        texts = [*map(str, self.classes)]
        for known, given in ((self.classes, label), (texts, str(label))):
            if given in known:
                return known.index(given)
        near = nearest(str(label), texts)
        hint = f"Did you mean {near!r}?" if near else f"There are {listed_names(texts)}."
        raise ValueError(
            f"{parameter('monotonic_cst')} names {shown(label)}, which is not a class. {hint}"
        )

    def costs(self, given: Any) -> dict[str, float]:
        """Read the costs of features."""
        costs = {}
        for key, value in ({} if given is None else given).items():
            is_met = value == math.inf or (is_finite_number(value) and value >= 0)
            name = f"The cost of {shown(key)} in {parameter('feature_costs')}"
            require(is_met, name, "a number in the range [0, inf]", value)
            costs[self.feature("feature_costs", key)] = float(value)
        return {name: cost for name, cost in costs.items() if cost > 0.0}


def is_list(value: Any) -> bool:
    """Check whether a value is a list, a set or an array."""
    return isinstance(value, Collection | np.ndarray) and not isinstance(value, str | Mapping)


def _is_text(value: Any, text: str) -> bool:
    return isinstance(value, str) and value == text


def _plain(value: Any) -> Any:
    return None if isinstance(value, list) and not value else value
