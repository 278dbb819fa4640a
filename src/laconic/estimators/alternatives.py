"""Rules that are nearly as good as one of a model, in its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic._checks import is_finite_number, is_whole, require
from laconic.boosting import OBJECTIVES, Joint
from laconic.estimators.given import with_rest
from laconic.estimators.rows import counted
from laconic.explain.alternatives import Alternative, Alternatives
from laconic.model.conditions import Query
from laconic.model.rules import RuleEnsemble
from laconic.search import SearchProblem, SearchStatus, search

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting
    from laconic.estimators.rows import CheckedRows


def alternatives(
    model: RuleBoosting, rows: CheckedRows, number: int, *, tolerance: float, max_found: int
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
    place = _Place(model, rows, number - 1)
    best = place.search([])
    value = max(best.objective_value, place.own_value)
    barred = [place.own]
    found: list[Alternative] = []
    is_complete = value <= 0.0
    while not is_complete and len(found) < max_found:
        result = place.search(barred)
        is_proven = result.status is SearchStatus.OPTIMAL
        if result.objective_value < (1.0 - tolerance) * value or result.objective_value <= 0.0:
            is_complete = is_proven or result.bound < (1.0 - tolerance) * value
            break
        covered = place.problem.covered(result.query)
        query = Query(tuple(place.propositions[p] for p in result.query))
        found.append(
            Alternative(
                query,
                ensemble.text(query),
                place.problem.weight(result.query),
                result.objective_value / value,
                _overlap(covered, place.own),
            )
        )
        barred.append(covered)
    own = place.own_value / value if value > 0.0 else 1.0
    text = ensemble.text(ensemble[number - 1].query)
    return Alternatives(number, text, own, tolerance, tuple(found), is_complete)


def _overlap(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    n_either = int((one | other).sum())
    return float((one & other).sum()) / n_either if n_either else 1.0


class _Place:
    """Where a rule stands: the search that led there, or would."""

    def __init__(self, model: RuleBoosting, rows: CheckedRows, position: int) -> None:
        ensemble = model.ensemble_
        constraints = model._read_constraints(rows.table)
        covered = [
            np.ascontiguousarray(mask)
            for mask in ensemble.covered(rows.table)[counted(rows.weights)].T
        ]
        self.own = covered[position]
        # Reads the columns of the table one by one, and forgets them.
        candidates = model._candidates(rows)
        self.propositions = candidates.propositions
        scope = model._parameters_of_scope()
        kind = OBJECTIVES[str(scope.get("objective", model.objective))]
        is_joint = issubclass(kind, Joint)
        others = [n for n in range(len(covered)) if n != position] if is_joint else range(position)
        start: RuleEnsemble = ensemble.with_rules(ensemble[n] for n in others)
        rounds = (Joint if is_joint else kind)(
            candidates,
            model.task_.for_loss(rows.counted_target),
            model.loss_,
            start,
            [covered[n] for n in others],
            model.l2_regularization_,
            rows.counted_weights,
            fit_intercept=bool(model.fit_intercept),
            constraints=constraints,
        )
        self.has_intercept = isinstance(rounds, Joint) and rounds.fit_intercept
        if self.has_intercept and isinstance(rounds, Joint) and len(start) == 0:
            rounds.refit()  # of the intercept
        rounds.begin()
        self.problem: SearchProblem = rounds.pose()
        options = model._search_options()
        self.options = options | {name: scope[name] for name in options if name in scope}
        self.options |= {"method": "optimal", "simplify": 0.0, "approximation_factor": 1.0}
        self.allowed = None if constraints is None else constraints.allowed(self.propositions)
        self.own_value = self.problem.objective_of(self.problem.value(self.own))

    def search(self, barred: Sequence[NDArray[np.bool_]]) -> Any:
        """Find the best query that covers none of some sets of rows."""
        sets = with_rest(barred, has_intercept=self.has_intercept)
        result = search(self.problem.barring(sets), **self.options, allowed=self.allowed)
        return dataclasses.replace(result, counters=dict(result.counters))
