"""Rules that are nearly as good as one of a model, in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from laconic._checks import is_finite_number, is_whole, require
from laconic.boosting import BarredRows, State, TrainingData
from laconic.estimators.fitting import covered_by, make_rounds, scale_for
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
    before = State(ensemble, covered_by(ensemble, data), tuple(model.search_results_))
    rule, own = ensemble[number - 1], before.covered[number - 1]
    settings, scale = model.settings_, scale_for(data, model.settings_, ensemble)
    # Reads the columns of the table one by one, and forgets them.
    candidates = settings.candidates(data)
    rounds = make_rounds(
        *(data, settings, candidates, model.l2_regularization_, scale),
        n_jobs=model.n_jobs,
        method="optimal",
        simplify=0.0,
        approximation_factor=1.0,
    )
    place = rounds.place(scale.state(before), number - 1)
    best = rounds.search(place)
    own_value = rounds.value(best, rule, own)
    value = max(best.result.objective_value, own_value)
    barred = [BarredRows(own, rule.output)]
    found: list[Alternative] = []
    is_complete = value <= 0.0
    while not is_complete and len(found) < max_found:
        next_best = rounds.search(place, barred)
        result = next_best.result
        if result.objective_value < (1.0 - tolerance) * value or result.objective_value <= 0.0:
            is_proven = result.status is SearchStatus.OPTIMAL
            is_complete = is_proven or result.bound < (1.0 - tolerance) * value
            break
        query = rounds.query(result)
        found.append(
            Alternative(
                query,
                ensemble.text(query),
                scale.inverse.weight(next_best.problem.weight(result.query)),
                result.objective_value / value,
                _overlap(next_best.covered, own, data.counted_weights),
                ensemble.outputs[next_best.output].name if ensemble.outputs else "",
            )
        )
        barred.append(BarredRows(next_best.covered, next_best.output))
    share = max(own_value, 0.0) / value if value > 0.0 else 1.0
    text = ensemble.text(rule.query)
    return Alternatives(number, text, share, tolerance, tuple(found), is_complete)


def _overlap(one: NDArray[np.bool_], other: NDArray[np.bool_], weights: Floats | None) -> float:
    """Compute what two sets of rows share, where a row of weight two counts as two rows."""
    amounts = np.ones(len(one)) if weights is None else weights
    in_either = float(amounts @ (one | other))
    return float(amounts @ (one & other)) / in_either if in_either > 0.0 else 1.0
