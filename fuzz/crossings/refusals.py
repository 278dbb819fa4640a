"""Which combinations are refused: found, written down, and shown on a page.

`refused.json` lists them with the words of the package, in which names and numbers are left out.
All other pairs are crossed in rows without any of them, and each of them has a row of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from fuzz.crossings.cases import normalised, run
from fuzz.crossings.covering import Row, all_pairs, completed, covering_rows
from fuzz.crossings.factors import FACTORS, IMPOSSIBLE, Choice, Combination

REFUSED = Path(__file__).with_name("refused.json")
PAGE = Path(__file__).parents[2] / "docs" / "research" / "crossings.md"
COMMAND = "python -m fuzz.crossings --write"

Refusals = dict[Combination, str]


def read_refused() -> Refusals:
    """Read the combinations that are refused, and in which words."""
    entries = json.loads(REFUSED.read_text("utf-8"))
    return {frozenset(entry["values"].items()): entry["words"] for entry in entries}


def write_refused(refused: Refusals) -> None:
    """Write them in the order of the factors."""
    entries = [
        {"values": dict(_sorted(each)), "words": refused[each]} for each in in_order(refused)
    ]
    REFUSED.write_text(json.dumps(entries, indent=1) + "\n", "utf-8")


def in_order(refused: Mapping[Combination, str]) -> list[Combination]:
    """Sort combinations as factors and their values are listed."""
    return sorted(refused, key=lambda each: [_place(choice) for choice in _sorted(each)])


def _place(choice: Choice) -> tuple[int, int]:
    factor, value = choice
    return list(FACTORS).index(factor), FACTORS[factor].index(value)


def _sorted(combination: Combination) -> list[Choice]:
    return sorted(combination, key=_place)


def all_rows(refused: Refusals) -> list[Row]:
    """Make rows in which all pairs meet that are neither refused nor impossible."""
    return covering_rows(FACTORS, [*IMPOSSIBLE, *refused])


def refused_rows(refused: Refusals) -> dict[Combination, Row]:
    """Make a row for each combination that is refused, without any other one."""
    rows = {}
    for combination in in_order(refused):
        others = [each for each in refused if not each <= combination]
        row = completed(FACTORS, combination, [*IMPOSSIBLE, *others])
        if row is not None:
            rows[combination] = row
    return rows


def implied(refused: Refusals) -> list[Combination]:
    """List the pairs that cannot meet, as what goes with the one is refused with the other."""
    forbidden = [*IMPOSSIBLE, *refused]
    left = (pair for pair in all_pairs(FACTORS) if pair not in {*forbidden})
    return [pair for pair in left if completed(FACTORS, pair, forbidden) is None]


def find_refused(tell: Callable[[str], None]) -> Refusals:
    """Cross all pairs, and take what is refused out, until nothing is; begin with what is known."""

    @cache
    def words_of(values: tuple[str, ...]) -> str:
        row = dict(zip(FACTORS, values, strict=True))
        return normalised(run(row, is_judged=False).refused)

    def words(row: Row) -> str:
        return words_of(tuple(row.values()))

    before = read_refused() if REFUSED.exists() else {}
    answers = {each: words(row) for each, row in refused_rows(before).items()}
    refused = {each: found for each, found in answers.items() if found}
    n_before = -1
    while len(refused) > n_before:
        tell(f"{len(refused)} combinations are refused")
        n_before = len(refused)
        for row in all_rows(refused):
            values = frozenset(row.items())
            if words(row) and not any(each <= values for each in refused):
                refused[culprit(row, words)] = words(row)
        write_refused(refused)
    return refused


def culprit(row: Row, words: Callable[[Row], str]) -> Combination:
    """Find the values that it takes to be refused in the words of a row."""
    needed = list(row)
    for n_at_once in (6, 3, 1, 1):
        for first in range(0, len(row), n_at_once):
            out = [factor for factor in list(row)[first : first + n_at_once] if factor in needed]
            rest = [factor for factor in needed if factor not in out]
            # The plainest row with the others; a value may need company that is possible.
            other = completed(FACTORS, [(factor, row[factor]) for factor in rest], IMPOSSIBLE)
            if out and other and words(other) == words(row):
                needed = rest
    if len(needed) == 1:
        # It does not go with the plainest value of another factor, but with some.
        plain = completed(FACTORS, [(needed[0], row[needed[0]])], IMPOSSIBLE)
        assert plain is not None
        needed += [factor for factor in row if _is_settled_by(factor, plain, words)]
    return frozenset((factor, row[factor]) for factor in needed)


def _is_settled_by(factor: str, row: Row, words: Callable[[Row], str]) -> bool:
    """Return whether another value of a factor goes with all others of a row."""
    others = (row | {factor: value} for value in FACTORS[factor])
    possible = (each for each in others if not any(bad <= each.items() for bad in IMPOSSIBLE))
    return any(not words(each) for each in possible)


# The page

_HEAD = f"""# Compatibility of options

All options can be combined, except for the combinations in this table. The tests cross every pair
of losses, weights, exposures, constraints, column types, strategies, searches, limits, types of
tables, saved or copied models, and operations on models, each in some small model. The models are
compared with brute force, with the same rows in memory, with the model before it was saved, and
with the predictions of exports in their readers. The combinations below raise an error with this
message, in which `...` and `N` stand for names and numbers.

<!-- Written by `{COMMAND}`. -->
"""


def page(refused: Refusals) -> str:
    """Write the page: for each refusal, what it is about."""
    by_words: dict[str, list[Combination]] = {}
    for combination in in_order(refused):
        by_words.setdefault(refused[combination], []).append(combination)
    parts = [_HEAD, "| Combination | Error message |", "|---|---|"]
    by_words["There is no setting that is compatible with both."] = implied(refused)
    for words, combinations in by_words.items():
        shown = "<br>".join(" with ".join(group) for group in _groups(combinations))
        parts.append(f"| {shown} | {words.replace('|', chr(92) + '|')} |")
    return "\n".join(parts) + "\n"


def _groups(combinations: list[Combination]) -> list[list[str]]:
    """Write combinations that differ in one value together."""
    left, groups = list(combinations), []
    while left:
        first = left[0]
        options = [
            (factor, [each for each in left if _is_other(each, rest, factor)])
            for factor, value in _sorted(first)
            for rest in [first - {(factor, value)}]
        ]
        factor, together = max(options, key=lambda option: len(option[1]))
        values = Counter(dict(each)[factor] for each in together)
        groups.append(
            [
                _words(name, list(values) if name == factor else [value])
                for name, value in _sorted(first)
            ]
        )
        left = [each for each in left if each not in together]
    return groups


def _is_other(combination: Combination, rest: Combination, factor: str) -> bool:
    return rest < combination and {name for name, _ in combination - rest} == {factor}


def _words(factor: str, values: list[str]) -> str:
    listed = ", ".join(f"`{value}`" for value in values)
    return f"{factor} {listed}"
