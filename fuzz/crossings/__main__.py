"""`python -m fuzz.crossings`: cross all pairs, and say what is refused and what is wrong."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from fuzz.crossings.cases import Outcome, run
from fuzz.crossings.covering import all_pairs, pairs_of
from fuzz.crossings.factors import FACTORS, IMPOSSIBLE
from fuzz.crossings.refusals import (
    PAGE,
    Refusals,
    all_rows,
    find_refused,
    implied,
    page,
    read_refused,
    refused_rows,
)


def summary(outcomes: Iterable[Outcome], refused: Refusals) -> str:
    """Count pairs and rows."""
    outcomes = list(outcomes)
    met = {pair for each in outcomes if not each.refused for pair in pairs_of(each.row)}
    n_wrong = sum(bool(each.wrong) for each in outcomes)
    return (
        f"{len(all_pairs(FACTORS)):,} pairs: {len(met):,} crossed in {len(outcomes)} models, "
        f"{len(refused)} refused in words, {len(implied(refused))} thereby, {len(IMPOSSIBLE)} "
        f"impossible; {n_wrong} models wrong"
    )


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.crossings", description=__doc__)
    parser.add_argument("--write", action="store_true", help="find what is refused, and the page")
    given = parser.parse_args()
    if given.write:
        PAGE.write_text(page(find_refused(print)), "utf-8")
    refused = read_refused()
    outcomes = [run(row) for row in all_rows(refused)]
    for combination, row in refused_rows(refused).items():
        if not run(row).refused:
            print(f"No longer refused: {dict(combination)}")
    for outcome in outcomes:
        if outcome.wrong:
            changed = {k: v for k, v in outcome.row.items() if v != FACTORS[k][0]}
            print(f"{changed}\n{outcome.wrong}\n")
        elif outcome.refused:
            print(f"Refused: {outcome.row}\n{outcome.refused}\n")
    print(summary(outcomes, refused))
    return int(any(outcome.wrong for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
