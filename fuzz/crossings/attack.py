"""The crossings as an attack: all pairs first, and then rows and tables by chance."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

from fuzz.crossings.cases import normalised, run
from fuzz.crossings.covering import Row, completed
from fuzz.crossings.factors import FACTORS, IMPOSSIBLE, Combination
from fuzz.crossings.refusals import COMMAND, all_rows, read_refused, refused_rows
from fuzz.searches import check


@cache
def _known() -> tuple[list[Row], list[tuple[Combination, Row, str]]]:
    refused = read_refused()
    own = [(each, row, refused[each]) for each, row in refused_rows(refused).items()]
    return all_rows(refused), own


def crossings(number: int, counts: Counter[str]) -> None:
    """Look at a row of values: of all pairs, of those that are refused, or any."""
    rows, refused = _known()
    if number < len(rows):
        outcome = run(rows[number])
        check(not outcome.refused, "refused, and not in the list", outcome.refused, COMMAND)
    elif number < len(rows) + len(refused):
        combination, row, words = refused[number - len(rows)]
        outcome = run(row)
        check(normalised(outcome.refused) == words, "other words", dict(combination), COMMAND)
    else:
        outcome = run(random_row(number), seed=number)
    counts["crossings refused in words"] += bool(outcome.refused)
    check(not outcome.wrong, "wrong", outcome.row, outcome.wrong)


def random_row(number: int) -> Row:
    """Choose values by chance, none of which are known to be refused together."""
    random = Random(number)
    factors = {name: random.sample(values, len(values)) for name, values in FACTORS.items()}
    row = completed(factors, (), [*IMPOSSIBLE, *read_refused()])
    assert row is not None  # the first values of all factors go together
    return {name: row[name] for name in FACTORS}
