"""The format of what chance alone would do, see `laconic.trust.chance`."""

from __future__ import annotations

from typing import Any

from laconic._util.checks import is_finite_number
from laconic._util.json_format import (
    COUNT,
    SIZE,
    TEXT,
    Array,
    Converted,
    Entry,
    Object,
    Scalar,
    choice,
    optional,
)
from laconic.trust import Chance, TermChance
from laconic.trust.chance import (
    LEAST_EXTRAPOLATED,
    LEAST_FOR_TAIL,
    MAX_EXCEEDING,
    METHODS,
    NO_METHODS,
)

_SHARE = Scalar(
    "a number in the range (0, 1]",
    {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    lambda value: is_finite_number(value) and 0 < value <= 1,
    float,
)


def _chance(**entries: Any) -> Chance:
    """Make an answer about chance; refuse numbers of copies that no search ends with."""
    answer = Chance(**entries)
    for number, term in enumerate(answer.terms, start=1):
        n_draws, n_exceeding = term.n_draws, term.n_exceeding
        is_ended = n_draws == answer.n_permutations or n_exceeding == MAX_EXCEEDING
        is_searched = term.method in METHODS
        is_valid = n_exceeding <= min(n_draws, MAX_EXCEEDING) and n_draws <= answer.n_permutations
        if not is_valid or is_searched != (n_draws > 0) or (is_searched and not is_ended):
            raise ValueError(
                f"Term {number} has {n_draws} copies of at most {answer.n_permutations}, "
                f"{n_exceeding} of them with a term as good, by the method {term.method!r}."
            )
        tail, has_tail = term.extrapolated_p, n_exceeding == 0 and n_draws >= LEAST_FOR_TAIL
        if tail is not None and not (has_tail and LEAST_EXTRAPOLATED <= tail <= 1 / (n_draws + 1)):
            raise ValueError(f"Term {number} has an extrapolated_p that its copies do not give.")
    return answer


CHANCE = Converted(
    Object(
        {
            "terms": Entry(
                Array(
                    Object(
                        {
                            "text": Entry(TEXT, "The term without its weight."),
                            "method": Entry(
                                choice(*METHODS, *NO_METHODS),
                                "How copies of the training table were made, or why there are "
                                "none.",
                            ),
                            "n_draws": Entry(SIZE, "Copies that were searched.", default=0),
                            "n_exceeding": Entry(
                                COUNT,
                                "Copies that had a term at least as good, of which five end the "
                                "search. The p-value is 5 / n_draws then, and otherwise "
                                "(n_exceeding + 1) / (n_draws + 1).",
                                default=0,
                            ),
                            "extrapolated_p": Entry(
                                optional(_SHARE),
                                "Where no copy had one: an estimate by a Gumbel distribution.",
                                default=None,
                            ),
                            "reason": Entry(TEXT, "Why there are no copies.", default=""),
                        },
                        TermChance,
                    ),
                    make=tuple,
                ),
                "One for each term of the model.",
            ),
            "n_permutations": Entry(SIZE, "Largest number of copies for a term."),
            "random_state": Entry(COUNT, "The seed."),
            "n_groups": Entry(
                optional(COUNT),
                "Groups that were exchanged as a whole; null where single rows were.",
                default=None,
            ),
        },
        dict,
        "How often shuffled copies of the training table had a term as good as one of the model.",
    ),
    lambda entries: _chance(**entries),
)
