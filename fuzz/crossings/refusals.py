"""Which combinations are refused: found, written down, and shown on a page.

`refused.json` lists them with the words of the package, in which names and numbers are left out.
All other pairs are crossed in rows without any of them, and each of them has a row of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from fuzz.crossings.cases import Outcome, normalised, run
from fuzz.crossings.covering import Row, completed, covering_rows
from fuzz.crossings.factors import FACTORS, IMPOSSIBLE, Choice, Combination

REFUSED = Path(__file__).with_name("refused.json")
PAGE = Path(__file__).parents[2] / "docs" / "crossings.md"
COMMAND = "python -m fuzz.crossings --write"

Refusals = dict[Combination, str]


def read_refused() -> Refusals:
    """Read the combinations that are refused, and in which words."""
    entries = json.loads(REFUSED.read_text("utf-8"))
    return {frozenset(entry["values"].items()): entry["words"] for entry in entries}


def write_refused(refused: Refusals) -> None:
    """Write them in the order of the factors."""
    entries = [{"values": dict(_sorted(each)), "words": refused[each]} for each in in_order(refused)]
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


def find_refused(tell: Callable[[str], None]) -> tuple[Refusals, list[Outcome]]:
    """Cross all pairs, and take what is refused out, until nothing is; begin with what is known."""
    known: dict[tuple[str, ...], Outcome] = {}

    def outcome(row: Row) -> Outcome:
        key = tuple(row.values())
        if key not in known:
            known[key] = run(row)
        return known[key]

    before = read_refused() if REFUSED.exists() else {}
    answers = {each: outcome(row) for each, row in refused_rows(before).items()}
    refused = {each: normalised(found.refused) for each, found in answers.items() if found.refused}
    while True:
        tell(f"{len(refused)} combinations are refused")
        n_before, rows = len(refused), all_rows(refused)
        for row in rows:
            found, values = outcome(row), frozenset(row.items())
            if found.refused and not any(each <= values for each in refused):
                refused[culprit(row, found, outcome)] = normalised(found.refused)
        if len(refused) == n_before:
            return refused, [outcome(row) for row in rows]
        write_refused(refused)


def culprit(row: Row, found: Outcome, outcome: Callable[[Row], Outcome]) -> Combination:
    """Find the values that it takes to be refused in these words."""
    words, needed = normalised(found.refused), list(row)
    for n_at_once in (6, 3, 1, 1):
        for first in range(0, len(row), n_at_once):
            out = [factor for factor in list(row)[first : first + n_at_once] if factor in needed]
            rest = [factor for factor in needed if factor not in out]
            # The plainest row with the others; a value may need company that is possible.
            other = completed(FACTORS, [(factor, row[factor]) for factor in rest], IMPOSSIBLE)
            if out and other and normalised(outcome(other).refused) == words:
                needed = rest
    return frozenset((factor, row[factor]) for factor in needed)


# The page

_HEAD = f"""# Which features go together

Any two features go together, unless they are listed here. Losses, weights and exposures, constraints,
kinds of columns, objectives, strategies, searches and limits, tables of all kinds, models that were
saved, copied or edited, and everything that can be done with a model were crossed with each other,
every pair of them in small models that were compared with brute force, with the same rows in memory,
with the model before it was saved, or with what the readers of an export make of it
([how](trust.md)). What is refused is refused in these words, in which `...` and `N` stand for names
and numbers.

<!-- Written by `{COMMAND}`. -->
"""


def page(refused: Refusals) -> str:
    """Write the page: for each refusal, what it is about."""
    by_words: dict[str, list[Combination]] = {}
    for combination in in_order(refused):
        by_words.setdefault(refused[combination], []).append(combination)
    parts = [_HEAD, "| Together | Refused, as |", "|---|---|"]
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
            (factor, [each for each in left if each - {(factor, dict(each).get(factor, ""))} == rest])
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


def _words(factor: str, values: list[str]) -> str:
    listed = ", ".join(f"`{value}`" for value in values)
    return f"{factor} {listed}"
