"""The format of how often terms come back, see `laconic.trust.stability`."""

from __future__ import annotations

from typing import Any

from laconic._util.json_format import (
    AMOUNT,
    BOOLEAN,
    COUNT,
    TEXT,
    Array,
    Converted,
    Entry,
    Object,
    choice,
    optional,
)
from laconic.trust import FeatureStability, Stability, TermStability


def _read_stability(found: dict[str, Any]) -> Stability:
    return Stability(**found)


STABILITY = Converted(
    Object(
        {
            "n_resamples": Entry(COUNT, "Number of resamples that were asked for."),
            "n_done": Entry(COUNT, "Number of resamples that models were fitted to."),
            "random_state": Entry(COUNT),
            "has_groups": Entry(BOOLEAN, "Whether whole groups of rows were drawn."),
            "terms": Entry(
                Array(
                    Object(
                        {
                            "text": Entry(TEXT),
                            "kind": Entry(choice("rule", "slope")),
                            "n_returned": Entry(
                                COUNT, "Resamples with a term for nearly the same rows."
                            ),
                            "nearest": Entry(
                                TEXT, "The most frequent text of these terms.", default=""
                            ),
                            "n_nearest": Entry(COUNT, default=0),
                            "is_complement": Entry(
                                BOOLEAN,
                                "Whether it covers the other rows, with the opposite sign.",
                                default=False,
                            ),
                        },
                        TermStability,
                    ),
                    make=tuple,
                ),
                "One for each term of the model.",
            ),
            "features": Entry(
                Array(
                    Object({"name": Entry(TEXT), "n_selected": Entry(COUNT)}, FeatureStability),
                    make=tuple,
                ),
                "How many models use each feature.",
            ),
            "sizes": Entry(Array(COUNT, make=tuple), "Number of terms of each model."),
            "spread": Entry(
                Array(AMOUNT, make=tuple),
                "Standard deviation of the prediction of a row: 5, 25, 50, 75 and 95 % quantiles.",
            ),
            "other_class": Entry(
                optional(AMOUNT),
                "Mean share of the models that predict another class for a row.",
                default=None,
            ),
        },
        text="What came back when the fit was repeated on bootstrap resamples of the rows.",
    ),
    _read_stability,
)
