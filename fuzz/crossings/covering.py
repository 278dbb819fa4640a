"""Rows of values of factors in which every two values of different factors meet.

Greedy and without chance: a row begins with a pair that has not met yet, and takes for one factor
after the other the value that meets most others for the first time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, product
from types import MappingProxyType

from fuzz.crossings.factors import Choice, Combination

Row = dict[str, str]


def all_pairs(factors: Mapping[str, Sequence[str]]) -> list[Combination]:
    """List all pairs of values of two different factors."""
    return [
        frozenset({(one, a), (other, b)})
        for one, other in combinations(factors, 2)
        for a, b in product(factors[one], factors[other])
    ]


def covering_rows(
    factors: Mapping[str, Sequence[str]], without: Collection[Combination]
) -> list[Row]:
    """Make rows in which all pairs meet but those that some combination forbids.

    Examples
    --------
    >>> factors = {"a": "12", "b": "34", "c": "56"}
    >>> for row in covering_rows(factors, [frozenset({("a", "1"), ("b", "3")})]):
    ...     print(*row.values())
    1 4 5
    2 3 5
    2 4 6
    1 4 6
    2 3 6
    """
    missing = dict.fromkeys(all_pairs(factors))
    rows: list[Row] = []
    times: Counter[Choice] = Counter()
    while missing:
        pair = next(iter(missing))
        row = completed(factors, pair, without, missing, times)
        if row is None:
            del missing[pair]
            continue
        rows.append(row)
        times.update(row.items())
        for met in pairs_of(row):
            missing.pop(met, None)
    return rows


def pairs_of(row: Row) -> Iterator[Combination]:
    """List the pairs that meet in a row."""
    return (frozenset(pair) for pair in combinations(row.items(), 2))


def completed(
    factors: Mapping[str, Sequence[str]],
    start: Collection[Choice],
    without: Collection[Combination],
    wanted: Collection[Combination] = (),
    times: Mapping[Choice, int] = MappingProxyType({}),
) -> Row | None:
    """Make a row of some values, in which no forbidden combination meets; None if there is none.

    Each factor takes the value that meets most wanted ones, of these the one that was used least,
    and of these the first.
    """
    # Those with many values meet others less often: they come first.
    order = sorted(factors, key=lambda factor: -len(factors[factor]))
    by_choice: dict[Choice, list[Combination]] = {}
    for combination in without:
        for choice in combination:
            by_choice.setdefault(choice, []).append(combination)

    def is_allowed(row: Row, factor: str) -> bool:
        values = row.items()
        choice = factor, row[factor]
        return not any(each <= values for each in by_choice.get(choice, ()))

    def is_open(chosen: Row, factor: str) -> bool:
        return any(is_allowed({**chosen, factor: value}, factor) for value in factors[factor])

    def extended(chosen: Row, rest: Sequence[str]) -> Row | None:
        if not rest:
            return chosen
        if not all(is_open(chosen, factor) for factor in rest):
            return None  # at once, and not after all values of the factors between
        factor, *others = rest

        def merit(value: str) -> tuple[int, int]:
            new = sum(frozenset({(factor, value), each}) in wanted for each in chosen.items())
            return -new, times.get((factor, value), 0)

        for value in sorted(factors[factor], key=merit):
            longer = {**chosen, factor: value}
            found = extended(longer, others) if is_allowed(longer, factor) else None
            if found is not None:
                return found
        return None

    row = dict(start)
    if not all(is_allowed(row, factor) for factor in row):
        return None
    found = extended(row, [factor for factor in order if factor not in row])
    return None if found is None else {factor: found[factor] for factor in factors}
