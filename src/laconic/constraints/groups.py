"""Sets of features that a rule may use together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

# Each of them is searched by itself.
MAX_GROUPS = 5_000


def feature_groups(
    features: Sequence[str],
    interactions: str | Sequence[Collection[str]] | None,
    lone: Collection[str],
    separated: Iterable[Collection[str]],
) -> list[frozenset[str]]:
    """List the largest sets of features of which a rule may use any.

    Parameters
    ----------
    features : sequence of str
        Those that rules may use at all.
    interactions : {"pairwise", "no_interactions"}, sequence of collections of str, or None
        A rule uses features of one of these sets only; those that no set names are one more.
    lone : collection of str
        Features that a rule uses by themselves, or not at all.
    separated : iterable of collections of str
        Of each of these sets, a rule uses one feature at most.

    Examples
    --------
    >>> groups = feature_groups("abcd", None, lone="d", separated=["ab"])
    >>> ["".join(sorted(group)) for group in groups]
    ['ac', 'bc', 'd']
    """
    apart = {frozenset(pair) for names in separated for pair in combinations(names, 2)}
    friends = {
        name: {
            other
            for other in features
            if other != name
            and frozenset((name, other)) not in apart
            and name not in lone
            and other not in lone
        }
        for name in features
    }
    found: dict[frozenset[str], None] = {}
    for members in _interacting(features, interactions):
        inside = {name: friends[name] & members for name in features if name in members}
        for clique in _cliques(inside):
            found[clique] = None
            _check_number(len(found))
    order = {name: place for place, name in enumerate(features)}
    largest = _largest(found)
    return sorted(largest, key=lambda group: sorted(order[name] for name in group))


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


def _cliques(friends: dict[str, set[str]]) -> Iterable[frozenset[str]]:
    """Yield the largest sets whose members are all friends of each other (Bron and Kerbosch)."""
    order = list(friends)
    stack: list[tuple[frozenset[str], set[str], set[str]]] = [(frozenset(), set(friends), set())]
    while stack:
        members, open_, closed = stack.pop()
        if not open_:
            if not closed:
                yield members
            continue
        pivot = max((n for n in order if n in open_ or n in closed),
                    key=lambda name: len(friends[name] & open_))  # fmt: skip
        for name in [n for n in order if n in open_ and n not in friends[pivot]]:
            stack.append((members | {name}, open_ & friends[name], closed & friends[name]))
            open_ = open_ - {name}
            closed = closed | {name}


def _largest(groups: Collection[frozenset[str]]) -> list[frozenset[str]]:
    """Leave out sets that are parts of others."""
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
            "sets in 'interaction_cst', separate fewer features, or exclude some."
        )
