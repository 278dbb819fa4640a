"""Constraints as users write them: by names or positions of features."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from laconic._checks import is_finite_number, is_whole, shown
from laconic._words import listed_names, nearest
from laconic.constraints.constraints import Constraints
from laconic.constraints.groups import feature_groups

CONSTRAINTS: dict[str, Any] = {
    "monotonic_cst": None,
    "interaction_cst": None,
    "excluded_features": None,
    "lone_features": None,
    "separated_features": None,
    "feature_costs": None,
    "weight_signs": "both",
}
"""The parameters that constrain rules, and what they are where nothing is constrained."""

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
        `monotonic_cst` are about the last one, unless they name another one.
    **parameters
        Those of `CONSTRAINTS`, as the estimators take them.

    Examples
    --------
    >>> constraints = read_constraints(
    ...     ["age", "sex", "plan"], monotonic_cst={"age": 1}, separated_features=[("sex", "plan")]
    ... )
    >>> [sorted(group) for group in constraints.groups]
    [['age', 'sex'], ['age', 'plan']]
    >>> constraints = read_constraints(["age"], ["ill", "so-so", "well"], monotonic_cst={"age": -1})
    >>> constraints.settings
    {'monotonic_cst': {'age': {'well': -1}}}
    """
    given = CONSTRAINTS | parameters
    if all(value is None or _is_text(value, "both") for value in given.values()):
        return None
    reader = _Reader(features, classes)
    directions, outputs = reader.directions(given["monotonic_cst"])
    excluded = reader.names("excluded_features", given["excluded_features"])
    lone = reader.names("lone_features", given["lone_features"])
    separated = reader.sets("separated_features", given["separated_features"])
    interactions = given["interaction_cst"]
    if not (interactions is None or isinstance(interactions, str)):
        interactions = reader.sets("interaction_cst", interactions)
    costs = reader.costs(given["feature_costs"])
    used = [name for name in features if name not in excluded]
    if not used:
        raise ValueError(
            "The 'excluded_features' parameter must leave at least one feature. Got all of them: "
            f"{listed_names(features)}."
        )
    settings = {
        "monotonic_cst": {
            name: {str(reader.classes[outputs[name]]): sign} if name in outputs else sign
            for name, sign in directions.items()
        }
        or None,
        "interaction_cst": _plain(interactions),
        "excluded_features": _plain(excluded),
        "lone_features": _plain(lone),
        "separated_features": _plain(separated),
        "feature_costs": dict(costs) or None,
        "weight_signs": None if given["weight_signs"] == "both" else given["weight_signs"],
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    if not settings:
        return None
    groups = feature_groups(used, interactions, lone, separated)
    return Constraints(
        tuple(groups),
        directions,
        _SIGNS[given["weight_signs"]],
        costs,
        settings,
        frozenset(features),
        outputs,
    )


def check_constraint(name: str, value: Any) -> str | None:
    """Say what a parameter of `CONSTRAINTS` must be, unless it is that, as far as it shows."""
    if value is None and name != "weight_signs":
        return None
    requirement, is_met = _REQUIREMENTS[name]
    return None if is_met(value) else requirement


class _Reader:
    """Finds features by name or position, and classes by label, and refuses all others."""

    def __init__(self, features: Sequence[str], classes: Sequence[Any] | None) -> None:
        self.features = list(features)
        self.classes = [] if classes is None else list(classes)

    def feature(self, parameter: str, given: Any) -> str:
        if is_whole(given):
            if 0 <= given < len(self.features):
                return self.features[int(given)]
            raise ValueError(
                f"The positions in {parameter!r} must be between 0 and {len(self.features) - 1}. "
                f"Got {given}."
            )
        if isinstance(given, str) and given in self.features:
            return given
        near = nearest(given, self.features) if isinstance(given, str) else None
        hint = f"Did you mean {near!r}?" if near else f"There are {listed_names(self.features)}."
        raise ValueError(f"{parameter!r} names {shown(given)}, which is no column. {hint}")

    def names(self, parameter: str, given: Any) -> list[str]:
        """Read a list of features; in the order of the table."""
        if given is None:
            return []
        if not _is_list(given):
            raise ValueError(f"{parameter!r} must hold lists of features. Got {shown(given)}.")
        found = {self.feature(parameter, entry) for entry in given}
        return [name for name in self.features if name in found]

    def sets(self, parameter: str, given: Any) -> list[list[str]]:
        return [] if given is None else [self.names(parameter, entry) for entry in given]

    def directions(self, given: Any) -> tuple[dict[str, int], dict[str, int]]:
        """Read 1, 0 or -1 for each feature, or for some, and of which class of many that is."""
        if given is None:
            return {}, {}
        if isinstance(given, Mapping):
            entries = {self.feature("monotonic_cst", key): value for key, value in given.items()}
        else:
            if len(given) != len(self.features):
                raise ValueError(
                    f"'monotonic_cst' must have an entry for each of the {len(self.features)} "
                    f"features. Got {len(given)}. A dict names some of them."
                )
            entries = dict(zip(self.features, given, strict=True))
        read = {name: self._direction(name, value) for name, value in entries.items()}
        read = {name: entry for name, entry in read.items() if entry[0] != 0}
        last = max(len(self.classes) - 1, 0)
        if last > 1:
            return {n: sign for n, (sign, _) in read.items()}, {
                n: at for n, (_, at) in read.items()
            }
        # One raw prediction, which rises where the probability of the first of two classes falls.
        return {n: sign if at == last else -sign for n, (sign, at) in read.items()}, {}

    def _direction(self, name: str, value: Any) -> tuple[int, int]:
        """Read a direction, and the position of the class that it is about: by default the last."""
        position = max(len(self.classes) - 1, 0)
        if isinstance(value, Mapping):
            if len(value) != 1:
                raise ValueError(
                    f"'monotonic_cst' must name one class for a feature, such as "
                    f"{{{name!r}: {{'ill': 1}}}}. Got {shown(value)} for {name!r}."
                )
            [(label, value)] = value.items()
            position = self._class(name, label)
        if not is_finite_number(value) or value not in (-1, 0, 1):
            raise ValueError(
                f"'monotonic_cst' must say -1, 0 or 1 of a feature. Got {shown(value)} for "
                f"{name!r}."
            )
        return int(value), position

    def _class(self, name: str, label: Any) -> int:
        """Find a class by its label, or by the text of it, as files have it."""
        if not self.classes:
            raise ValueError(
                f"'monotonic_cst' names the class {shown(label)} for {name!r}, but the target has "
                "no classes. Say -1, 0 or 1."
            )
        texts = [*map(str, self.classes)]
        for known, given in ((self.classes, label), (texts, str(label))):
            if given in known:
                return known.index(given)
        near = nearest(str(label), texts)
        hint = f"Did you mean {near!r}?" if near else f"There are {listed_names(texts)}."
        raise ValueError(f"'monotonic_cst' names {shown(label)}, which is no class. {hint}")

    def costs(self, given: Any) -> dict[str, float]:
        """Read what features cost."""
        costs = {}
        for key, value in ({} if given is None else given).items():
            if not is_finite_number(value) or value < 0:
                raise ValueError(
                    f"'feature_costs' must be numbers in the range [0, inf). Got {shown(value)} "
                    f"for {shown(key)}."
                )
            costs[self.feature("feature_costs", key)] = float(value)
        return {name: cost for name, cost in costs.items() if cost > 0.0}


def _is_list(value: Any) -> bool:
    return isinstance(value, Collection | np.ndarray) and not isinstance(value, str | Mapping)


def _is_text(value: Any, text: str) -> bool:
    return isinstance(value, str) and value == text


def _plain(value: Any) -> Any:
    return None if isinstance(value, list) and not value else value


def _is_interaction(value: Any) -> bool:
    words = ("pairwise", "no_interactions")
    return value in words if isinstance(value, str) else _is_list(value)


_REQUIREMENTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "monotonic_cst": (
        "a dict of features to -1, 0 or 1, or to one class with such a number, an array of "
        "numbers, or None",
        lambda value: isinstance(value, Mapping) or _is_list(value),
    ),
    "interaction_cst": (
        "'pairwise', 'no_interactions', a list of sets of features, or None",
        _is_interaction,
    ),
    "excluded_features": ("a list of features or None", _is_list),
    "lone_features": ("a list of features or None", _is_list),
    "separated_features": ("a list of sets of features or None", _is_list),
    "feature_costs": (
        "a dict of features to numbers in the range [0, inf) or None",
        lambda value: isinstance(value, Mapping),
    ),
    "weight_signs": (
        f"a str among {{{', '.join(map(repr, _SIGNS))}}}",
        lambda value: isinstance(value, str) and value in _SIGNS,
    ),
}
