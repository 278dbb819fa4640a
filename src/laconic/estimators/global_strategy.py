"""The strategy "global": a second start from the relaxed problem, and the better one is kept.

Boosting has found terms one by one, and polishing has exchanged them. The relaxed problem looks at
all terms at once: what it proves bounds every model of that size, and the terms that it uses are
reduced to `n_terms` of them, and polished as well.

A fitted model next to the best possible one: what estimators know about it, put to the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._util.checks import require
from laconic._util.types import Values
from laconic._util.words import parameter
from laconic.boosting import State, TrainingData, select
from laconic.boosting.certificate import (
    ComparisonClass,
    EnsembleCertificate,
    EnsemblesOfSize,
    EnsemblesOfWeight,
    Proof,
    ProofProgress,
    TrainingRisk,
    column_of,
    prove,
)
from laconic.boosting.certificate import certify as prove_ensemble
from laconic.candidates.candidates import CandidateConditions, given_candidates
from laconic.candidates.slopes import SlopeCandidates
from laconic.estimators.fitting import FitRun, columns_of
from laconic.search import SearchStatus
from laconic.terms.conditions import Query
from laconic.terms.formatting import merged
from laconic.terms.rules import RuleEnsemble

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


def check_global(fit: FitRun) -> None:
    """Refuse losses of which nothing can be proven, before any rule is searched."""
    if fit.settings.strategy == "global":
        _risk(fit)


def improve(
    fit: FitRun, *, keeps_rules: bool
) -> tuple[State, EnsembleCertificate | None, str | None]:
    """Look for better rules than those of a fit, and prove how good the best ones are.

    Returns the better model, on the scale of the fit; its certificate, unless Ctrl-C came before
    there was one; and what went wrong, in words.
    """
    state, risk = fit.scaled, _risk(fit)
    proof: Proof | None = None
    words = None
    try:
        proof = _prove(fit, risk)
        if proof.status is SearchStatus.INTERRUPTED and not fit.is_stopped:
            raise KeyboardInterrupt
        second = None if fit.is_stopped else _second_start(fit, proof)
        if second is not None and not fit.is_stopped and fit.rounds.is_better(second, state):
            state = second
    except KeyboardInterrupt:
        if not keeps_rules:
            raise
        words = "Interrupted: a second start may still improve the model."
    certificate = None if proof is None else _certificate(fit, state, proof)
    return state, certificate, words


def _risk(fit: FitRun) -> TrainingRisk:
    what = parameter("strategy", "global")
    return provable_risk(fit.data, what, fit_intercept=fit.settings.fit_intercept)


def _n_terms(fit: FitRun) -> int:
    """Return how many terms other models may have: as many as were asked for, or found."""
    return len(fit.scaled.ensemble) if fit.settings.beats_chance else fit.n_terms


def _compared(fit: FitRun, risk: TrainingRisk, state: State) -> ComparisonClass:
    if fit.l2_regularization > 0.0:
        return EnsemblesOfSize(_n_terms(fit), fit.l2_regularization)
    ensemble = fit.data.scale.inverse.ensemble(state.ensemble)
    return _of_weight(risk, ensemble, state.columns)


def _of_weight(
    risk: TrainingRisk, ensemble: RuleEnsemble, columns: Sequence[Values]
) -> EnsemblesOfWeight:
    return EnsemblesOfWeight(float(np.abs(risk.weights_of(ensemble, columns)).sum()))


def _prove(fit: FitRun, risk: TrainingRisk) -> Proof:
    nodes, seconds, state = fit.settings.node_limit, fit.settings.time_limit, fit.scaled
    found = zip(state.ensemble, state.columns, state.results, strict=True)
    n_terms = max(_n_terms(fit), 1)
    return prove(
        fit.candidates.extents,
        risk,
        _compared(fit, risk, state),
        max_conditions=fit.settings.max_conditions,
        min_coverage=fit.settings.min_coverage,
        slopes=fit.rounds.slopes,
        start=[column_of(term, values, result.query) for term, values, result in found],
        by_size=True,
        # As much as for the terms of a model, which are searched for one by one.
        node_limit=n_terms * nodes if isinstance(nodes, int) else None,
        time_limit=None if seconds is None else n_terms * seconds,
        n_jobs=fit.n_jobs,
        callback=fit.tell if fit.callbacks else None,
    )


def _second_start(fit: FitRun, proof: Proof) -> State | None:
    """Reduce the terms of a proof to `n_terms`, and polish them; None without any."""
    columns = [
        column._replace(weight=fit.data.scale.weight(column.weight))
        for column in proof.columns
        if column.values.any()
    ]
    if not columns:
        return None
    first = fit.scaled
    try:
        # Callbacks are shown the terms that are polished.
        fit.scaled = select(fit.rounds, first.stages[0], columns, _n_terms(fit))
        fit.stage = "second start"
        fit.polish(keeps_rules=False)
        return fit.scaled
    finally:
        fit.scaled, fit.stage = first, ""


def _certificate(fit: FitRun, scaled: State, proof: Proof) -> EnsembleCertificate:
    compared = _compared(fit, proof.risk, scaled)
    state = scaled.divided_by(fit.data.scale.inverse)
    if isinstance(compared, EnsemblesOfWeight):
        # Of this model, whose total weight may be another one.
        proof = proof.for_ensembles(compared)
    weights, conditions = fit.data.weights, fit.candidates.conditions
    is_counted = None if weights is None else weights > 0
    return EnsembleCertificate.of(state.stages, state.columns, proof, conditions, is_counted)


AGAINST = ("rules", "weight")


def certify(
    model: RuleBoosting,
    data: TrainingData,
    *,
    against: str | None,
    l2_regularization: float | None,
    by_size: bool,
    node_limit: int | None,
    time_limit: float | None,
    callback: Callable[[ProofProgress], Any] | None,
) -> EnsembleCertificate:
    """Prove how close a model comes to the best one; see `RuleBoosting.certificate`."""
    if data.described is not None:
        raise ValueError(
            "A certificate needs a table in memory. Got one that is read "
            "in parts. Take a sample of the rows."
        )
    ensemble, settings = model.ensemble_, model.settings_
    has_intercept = settings.fit_intercept or bool(ensemble.start(1).any())
    risk = provable_risk(data, "A certificate", fit_intercept=has_intercept)
    # Before the candidates, which read the columns of the table one by one and forget them.
    columns = columns_of(ensemble, data)
    candidates = _candidates(model, data)
    return prove_ensemble(
        candidates.extents,
        candidates.conditions,
        risk,
        _comparison_class(model, risk, columns, against, l2_regularization),
        model.stages,
        columns,
        slopes=_slopes(model, data),
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
    # On the scale of the target, as those who check a proof have it.
    return TrainingRisk.of(
        data.task.for_loss(data.counted_target),
        data.task.loss,
        data.counted_weights,
        fit_intercept=fit_intercept,
        n_outputs=max(1, len(data.task.outputs)),
        what=what,
    )


def _candidates(model: RuleBoosting, data: TrainingData) -> CandidateConditions:
    """Find the conditions that the rules of a model were, or could have been, made of."""
    candidates = model.settings_.candidates(data)
    # Rules that were not found among them may have conditions of their own.
    known = candidates.conditions
    found = {
        merged(Query(tuple(known[p] for p in result.query)))
        for result in model.search_results_
        if all(p < len(known) for p in result.query)
    }
    others = [rule.query for rule in model.ensemble_.rules if rule.query not in found]
    own = [each for each in dict.fromkeys(chain.from_iterable(others)) if each not in known]
    if not own:
        return candidates
    conditions = (*candidates.conditions, *own)
    return given_candidates(data.table, conditions, sample_weight=data.weights)


def _slopes(model: RuleBoosting, data: TrainingData) -> SlopeCandidates | None:
    """Find the slopes that a model has or could have had; None if it has rules only."""
    settings = model.settings_
    if not settings.slopes and not model.ensemble_.slopes:
        return None
    return replace(settings, slopes=True).slope_candidates(data)


def _comparison_class(
    model: RuleBoosting,
    risk: TrainingRisk,
    columns: Sequence[Values],
    against: str | None,
    l2_regularization: float | None,
) -> ComparisonClass:
    """Return what a model is compared with."""
    penalty = l2_regularization
    if penalty is None:
        penalty = model.l2_regularization_
    if against is None:
        against = "weight" if not penalty else "rules"
    required = f"one of {', '.join(map(repr, AGAINST))} or None"
    require(against in AGAINST, "against", required, against)
    if against == "weight":
        return _of_weight(risk, model.ensemble_, columns)
    return EnsemblesOfSize(len(model.ensemble_), float(penalty))
