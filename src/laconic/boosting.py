"""The stagewise loop: one search per round, and the best weight for the query it finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.candidates import CandidatePropositions
from laconic.losses import Loss
from laconic.model.conditions import Query
from laconic.model.rules import Rule
from laconic.search import SearchProblem, SearchResult, SearchStatus, search

# A rule that gains less than this share of the largest gain fits rounding errors. These change
# weights by up to n_rows units in the last place, and a gain is quadratic in the weight: 1e-20 is
# above what a million rows leave, and below what targets of very different size gain.
_NEGLIGIBLE_GAIN = 1e-20


def boost(
    candidates: CandidatePropositions,
    y: NDArray[np.float64],
    loss: Loss,
    raw_predictions: NDArray[np.float64],
    *,
    n_rules: int,
    l2_regularization: float,
    sample_weight: NDArray[np.float64] | None = None,
    search_options: Mapping[str, Any] | None = None,
) -> Iterator[tuple[Rule, SearchResult]]:
    """Find one rule after the other, each given all before it, with the certificate of its query.

    A round takes the gradients and hessians of the loss at the current raw predictions, searches
    for the query with the largest objective, gives it its best weight and adds the rule to the
    raw predictions. These start from zeros, an intercept, or the scores of rules fitted before. The
    loop ends after ``n_rules`` rounds, when no rule improves, or when a callback of the search
    asked to stop.

    The target is as the loss expects it; ``search_options`` are keyword arguments of
    :func:`laconic.search.search`.

    Examples
    --------
    >>> from laconic.losses import SquaredLoss
    >>> from laconic.candidates import candidate_propositions
    >>> candidates = candidate_propositions([[1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([5.0, 5.0, 1.0, 1.0])
    >>> rules = boost(candidates, y, SquaredLoss(), np.zeros(4), n_rules=5, l2_regularization=0.0)
    >>> for rule, result in rules:
    ...     print(rule, result.is_optimal)
    +5.000 if x0 <= 2 True
    +1.000 if x0 > 2 True
    """
    raw_predictions = raw_predictions.copy()
    # What it takes to get from 0 to the start, whose rounding errors the first round sees already.
    hessians = loss.hessians(y, raw_predictions)
    pull_of_start = hessians * np.abs(raw_predictions)
    problem = SearchProblem(
        candidates.extents, pull_of_start, hessians, l2_regularization, sample_weight
    )
    largest_gain = problem.objective(())
    del hessians, pull_of_start  # a table with many rows leaves no room for them
    for _ in range(n_rules):
        problem = problem.with_statistics(
            loss.gradients(y, raw_predictions), loss.hessians(y, raw_predictions)
        )
        result = search(problem, **(search_options or {}))
        largest_gain = max(largest_gain, result.objective_value)
        has_gain = result.objective_value > _NEGLIGIBLE_GAIN * largest_gain
        if result.status is SearchStatus.INTERRUPTED or not has_gain:
            return
        rule = Rule(
            Query(tuple(candidates.propositions[p] for p in result.query)),
            problem.weight(result.query),
        )
        raw_predictions += problem.covered(result.query) * rule.weight
        yield rule, result
