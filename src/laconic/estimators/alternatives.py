"""Rules that are nearly as good as one of a model, in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from laconic._checks import is_finite_number, is_whole, require
from laconic.boosting import BarredRows, Found, Rounds, State, TrainingData
from laconic.estimators.fitting import covered_by, make_rounds, with_rest
from laconic.explain.alternatives import Alternative, Alternatives
from laconic.losses import Floats
from laconic.search import SearchStatus

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


def alternatives(
    model: RuleBoosting, data: TrainingData, number: int, *, tolerance: float, max_found: int
) -> Alternatives:
    """Find rules that are nearly as good; see `RuleBoosting.alternatives`."""
    ensemble = model.ensemble_
    if not is_whole(number, 1) or number > len(ensemble):
        raise ValueError(
            f"The rule must be named by its number, from 1 to {len(ensemble)}. Got {number!r}."
        )
    is_tolerance = is_finite_number(tolerance) and 0 <= tolerance < 1
    require(is_tolerance, "tolerance", "a number in the range [0, 1)", tolerance)
    require(is_whole(max_found, 1), "max_found", "a whole number in the range [1, inf)", max_found)
    rule, own = ensemble[number - 1], covered_by(ensemble, data)[number - 1]
    rounds, place = _place(model, data, number - 1)
    best = rounds.search(place)
    own_value = rounds.value(best, rule, own)
    value = max(best.result.objective_value, own_value)
    has_intercept = rounds.is_joint and rounds.fit_intercept
    barred = [BarredRows(own, rule.output)]
    found: list[Alternative] = []
    is_complete = value <= 0.0
    while not is_complete and len(found) < max_found:
        next_best = rounds.search(place, with_rest(barred, has_intercept=has_intercept))
        result = next_best.result
        if result.objective_value < (1.0 - tolerance) * value or result.objective_value <= 0.0:
            is_proven = result.status is SearchStatus.OPTIMAL
            is_complete = is_proven or result.bound < (1.0 - tolerance) * value
            break
        overlap = _overlap(next_best.covered, own, data.counted_weights)
        found.append(_alternative(model, rounds, next_best, value, overlap))
        barred.append(BarredRows(next_best.covered, next_best.output))
    share = max(own_value, 0.0) / value if value > 0.0 else 1.0
    text = ensemble.text(rule.query)
    return Alternatives(number, text, share, tolerance, tuple(found), is_complete)


def _place(model: RuleBoosting, data: TrainingData, position: int) -> tuple[Rounds, State]:
    """Find the rules beside a rule: those before it, or all others where weights are refitted."""
    settings = model.settings_
    before = State(model.ensemble_, covered_by(model.ensemble_, data), tuple(model.search_results_))
    others = before.without(position) if settings.is_joint else before.first(position)
    # Reads the columns of the table one by one, and forgets them.
    candidates = settings.candidates(data)
    rounds = make_rounds(
        *(data, settings, candidates, model.l2_regularization_),
        n_jobs=model.n_jobs,
        method="optimal",
        simplify=0.0,
        approximation_factor=1.0,
    )
    if settings.is_joint and settings.fit_intercept and len(others.ensemble) == 0:
        others, _ = rounds.refit(others)
    return rounds, rounds.begin(others)


def _alternative(
    model: RuleBoosting, rounds: Rounds, found: Found, value: float, overlap: float
) -> Alternative:
    query, ensemble = rounds.query(found.result), model.ensemble_
    return Alternative(
        query,
        ensemble.text(query),
        found.problem.weight(found.result.query),
        found.result.objective_value / value,
        overlap,
        ensemble.outputs[found.output].name if ensemble.outputs else "",
    )


def _overlap(one: NDArray[np.bool_], other: NDArray[np.bool_], weights: Floats | None) -> float:
    """Compute what two sets of rows share, where a row of weight two counts as two rows."""
    amounts = np.ones(len(one)) if weights is None else weights
    in_either = float(amounts @ (one | other))
    return float(amounts @ (one & other)) / in_either if in_either > 0.0 else 1.0
