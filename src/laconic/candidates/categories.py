"""Conditions about categories: single values, sets of them, and thresholds of ordered ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from laconic._util.types import Floats
from laconic.tables.columns import Category
from laconic.terms.conditions import Condition

GroupMeans: TypeAlias = tuple[Floats, Floats]
"""A mean for each category, and the weight that it has in the mean of several categories."""
Way: TypeAlias = Literal["values", "equal", "sets"]
"""Of categories: ``==`` and ``!=`` for each value, only ``==``, or sets of them as well."""

# More categories take long to search, and rules about rare ones rarely generalize.
DEFAULT_MAX_CATEGORIES = 30

# Up to this number of categories, all sets of them are conditions.
MAX_FOR_ALL_SETS = 5


@dataclass(frozen=True)
class CategoryOptions:
    """Which conditions categories give."""

    way: Way = "values"
    max_categories: int | None = DEFAULT_MAX_CATEGORIES

    @property
    def is_negated(self) -> bool:
        """Whether there are conditions with ``!=``."""
        return self.way != "equal"


@dataclass(frozen=True)
class _Groups:
    """The values of a feature that are kept, and maybe a group of all others."""

    name: str
    values: tuple[Category, ...]
    has_others: bool
    is_negated: bool

    @property
    def members(self) -> range:
        """Positions of the values, and of the group of others, which comes last."""
        return range(len(self.values) + self.has_others)

    def condition(self, members: Sequence[int]) -> Condition:
        """Return the condition for some of them, with as few values as possible."""
        chosen = {*members}
        inside = tuple(value for m, value in enumerate(self.values) if m in chosen)
        outside = tuple(value for m, value in enumerate(self.values) if m not in chosen)
        holds_others = self.has_others and self.members[-1] in chosen
        is_shorter = 0 < len(outside) < len(inside) and self.is_negated and not self.has_others
        if holds_others or is_shorter:
            return _condition(self.name, outside, ("!=", "not in"))
        return _condition(self.name, inside, ("==", "in"))


def _condition(name: str, values: tuple[Category, ...], relations: tuple[str, str]) -> Condition:
    if len(values) == 1:
        return Condition(name, relations[0], values[0])
    return Condition(name, relations[1], values)


def category_conditions(
    name: str,
    categories: Sequence[Category],
    sizes: Floats,
    options: CategoryOptions,
    orders: Sequence[GroupMeans] = (),
) -> Iterator[Condition]:
    """List conditions about the categories that occur in a feature, values before sets.

    Of more than `max_categories`, the most frequent are kept, and the others form one group. Of up
    to five groups, there are conditions for all sets. Of more, there are conditions for the first
    and the last ones in each of the `orders`, where categories are sorted by their means. Each
    condition is listed once, and not if it always holds.

    With the means of `losses.ranking_values`, the best set of all is among them for a first rule of
    a single condition. Such a rule gains ``G**2 / (λ + H)``, where G and H are sums of gradients
    and hessians over the categories of its set. All sets whose rules gain no more than a constant
    have their (G, H) in one convex region, so that the best set is a corner of the hull of all
    (G, H): the categories on one side of a threshold on G/H. The same holds with
    ``H - H**2 / T`` instead of H, where T is the sum of all hessians, which is the gain where an
    intercept is refitted.

    Examples
    --------
    >>> def texts(**options):
    ...     options = CategoryOptions(**options)
    ...     return [*map(str, category_conditions("x", "abcd", np.arange(4, 0, -1.0), options))]
    >>> texts(max_categories=2)
    ['x == a', 'x == b', 'x not in {a, b}', 'x != a', 'x != b', 'x in {a, b}']
    >>> texts(way="sets")[8:]
    ['x in {a, b}', 'x in {a, c}', 'x in {a, d}', 'x in {b, c}', 'x in {b, d}', 'x in {c, d}']
    """
    kept = np.arange(len(categories))
    if options.max_categories is not None:
        kept = np.sort(np.argsort(-sizes, kind="stable")[: options.max_categories])
    rest = np.delete(np.arange(len(categories)), kept)
    values = tuple(categories[position] for position in kept.tolist())
    groups = _Groups(name, values, len(rest) > 0, options.is_negated)
    ranked = []
    for means, weights in orders:
        of_rest = [np.average(means[rest], weights=weights[rest])] if len(rest) else []
        ranked.append(np.argsort([*means[kept].tolist(), *of_rest], kind="stable").tolist())
    members = [*groups.members]
    seen: set[Condition] = set()
    for chosen in [members] if len(members) == 1 else _member_sets(members, options, ranked):
        condition = groups.condition(chosen)
        if condition not in seen:
            seen.add(condition)
            yield condition


def kept_categories(
    conditions: Iterable[Condition], max_categories: int | None
) -> dict[str, frozenset[Category]]:
    """Find the categories that were kept beside a group of all others, by feature.

    Examples
    --------
    >>> options = CategoryOptions(max_categories=2)
    >>> made = category_conditions("x", "abcd", np.arange(4, 0, -1.0), options)
    >>> sorted(kept_categories(made, options.max_categories)["x"])
    ['a', 'b']
    """
    return {
        condition.feature: frozenset(condition.value)
        for condition in conditions
        # Sets of categories without a group of others are smaller.
        if condition.relation == "not in"
        and isinstance(condition.value, tuple)
        and len(condition.value) == max_categories
    }


def _member_sets(
    members: list[int], options: CategoryOptions, orders: Iterable[list[int]]
) -> Iterator[Sequence[int]]:
    n_members = len(members)
    for member in members:
        yield (member,)
    if options.is_negated and n_members > 2:
        for member in members:
            yield [other for other in members if other != member]
    if options.way != "sets":
        return
    if n_members <= MAX_FOR_ALL_SETS:
        for size in range(2, n_members):
            yield from combinations(members, size)
        return
    for order in orders:
        for size in range(1, n_members):
            yield order[:size]
            yield order[size:]


def ordered_conditions(
    name: str, order: Sequence[Category], cuts: Iterable[int]
) -> Iterator[Condition]:
    """List conditions for the values up to a position in their order, and for those after it.

    Examples
    --------
    >>> print(*ordered_conditions("size", ("S", "M", "L"), [0, 1]), sep="; ")
    size == S; size in {L, M}; size in {M, S}; size == L
    """
    for cut in cuts:
        for values in (order[: cut + 1], order[cut + 1 :]):
            yield _condition(name, tuple(values), ("==", "in"))
