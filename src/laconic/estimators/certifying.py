"""A fitted model next to the best possible one: what estimators know about it, put to the proof."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._checks import require
from laconic.boosting import TrainingData
from laconic.candidates import CandidatePropositions, given_propositions
from laconic.estimators.fitting import covered_by
from laconic.model.conditions import Query
from laconic.model.merging import merged
from laconic.relaxation import (
    EnsembleCertificate,
    RelaxationProgress,
    Rivals,
    SameRules,
    SameWeight,
    TrainingRisk,
)
from laconic.relaxation import certify as prove_ensemble

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting

RIVALS = ("rules", "weight")


def certify(
    model: RuleBoosting,
    data: TrainingData,
    *,
    against: str | None,
    l2_regularization: float | None,
    by_size: bool,
    node_limit: int | None,
    time_limit: float | None,
    callback: Callable[[RelaxationProgress], Any] | None,
) -> EnsembleCertificate:
    """Prove how close a model comes to the best one; see `RuleBoosting.certificate`."""
    if data.described is not None:
        raise ValueError(
            "A certificate needs a table in memory, whose rows it is about. Got one that is read "
            "in parts. Take a sample of the rows."
        )
    ensemble, settings = model.ensemble_, model.settings_
    rivals = _rivals(model, against, l2_regularization)
    # Before the candidates, which read the columns of the table one by one and forget them.
    covered = covered_by(ensemble, data)
    candidates = _candidates(model, data)
    has_intercept = settings.fit_intercept or bool(ensemble.start(1).any())
    return prove_ensemble(
        candidates.extents,
        candidates.propositions,
        provable_risk(data, "A certificate", fit_intercept=has_intercept),
        rivals,
        model.stages,
        covered,
        max_conditions=settings.max_conditions,
        min_coverage=settings.min_coverage,
        is_counted=None if data.weights is None else data.weights > 0,
        by_size=by_size,
        node_limit=node_limit,
        time_limit=time_limit,
        n_jobs=model.n_jobs,
        callback=callback,
    )


def provable_risk(data: TrainingData, what: str, *, fit_intercept: bool) -> TrainingRisk:
    """Make the loss of all rows, if it is one whose smallest value can be bounded."""
    return TrainingRisk.of(
        data.counted_y,
        data.loss,
        data.counted_weights,
        fit_intercept=fit_intercept,
        n_outputs=max(1, len(data.task.outputs)),
        what=what,
    )


def _candidates(model: RuleBoosting, data: TrainingData) -> CandidatePropositions:
    """Find the conditions that the rules of a model were, or could have been, made of."""
    candidates = model.settings_.candidates(data)
    # Rules that were not found among them may have conditions of their own.
    known = candidates.propositions
    found = {
        merged(Query(tuple(known[p] for p in result.query)))
        for result in model.search_results_
        if all(p < len(known) for p in result.query)
    }
    others = [rule.query for rule in model.ensemble_ if rule.query not in found]
    own = [each for each in dict.fromkeys(chain.from_iterable(others)) if each not in known]
    if not own:
        return candidates
    propositions = (*candidates.propositions, *own)
    return given_propositions(data.table, propositions, sample_weight=data.weights)


def _rivals(model: RuleBoosting, against: str | None, l2_regularization: float | None) -> Rivals:
    """Return what a model is compared with."""
    penalty = l2_regularization
    if penalty is None:
        penalty = model.l2_regularization_
    if against is None:
        against = "weight" if not penalty else "rules"
    required = f"one of {', '.join(map(repr, RIVALS))} or None"
    require(against in RIVALS, "against", required, against)
    if against == "weight":
        return SameWeight(float(np.abs([rule.weight for rule in model.ensemble_]).sum()))
    return SameRules(len(model.ensemble_), float(penalty))
