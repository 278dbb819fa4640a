"""The strategy "global": a second start from the relaxed problem, and the better one is kept.

Boosting has found rules one by one, and polishing has exchanged them. The relaxed problem looks at
all rules at once: what it proves bounds every model of that size, and the rules that it uses are
reduced to as many as are wanted, and polished as well.
"""

from __future__ import annotations

from typing import Any

from laconic.boosting import select
from laconic.estimators.certifying import provable_risk
from laconic.estimators.fitting import FitRun
from laconic.relaxation import (
    Column,
    EnsembleCertificate,
    Proof,
    Rivals,
    SameRules,
    SameWeight,
    TrainingRisk,
    prove,
)
from laconic.search import SearchStatus


def check_global(fit: FitRun) -> None:
    """Refuse losses of which nothing can be proven, before any rule is searched."""
    if fit.settings.strategy == "global":
        _risk(fit)


def improve(fit: FitRun, *, keeps_rules: bool) -> tuple[EnsembleCertificate | None, str | None]:
    """Look for better rules than those of a fit, and prove how good the best ones are.

    Sets: scaled of the fit, where others are better. Returns the certificate, and what went wrong,
    in words.
    """
    words = None
    risk = _risk(fit)
    proof = _prove(fit, risk)
    try:
        if proof.status is SearchStatus.INTERRUPTED and not fit.is_stopped:
            raise KeyboardInterrupt
        if not fit.is_stopped:
            _try_second_start(fit, proof)
    except KeyboardInterrupt:
        if not keeps_rules:
            raise
        fit.is_interrupted = True
        words = "Interrupted: a second start may still improve the model."
    return _certificate(fit, risk, proof), words


def _risk(fit: FitRun) -> TrainingRisk:
    return provable_risk(fit.data, "strategy='global'", fit_intercept=fit.settings.fit_intercept)


def _rivals(fit: FitRun) -> Rivals:
    if fit.l2_regularization > 0.0:
        return SameRules(fit.n_rules, fit.l2_regularization)
    return SameWeight(float(sum(abs(rule.weight) for rule in fit.ensemble)))


def _scope(fit: FitRun) -> dict[str, Any]:
    return {
        "max_conditions": fit.settings.max_conditions,
        "min_coverage": fit.settings.min_coverage,
    }


def _prove(fit: FitRun, risk: TrainingRisk) -> Proof:
    nodes, seconds, state = fit.settings.node_limit, fit.settings.time_limit, fit.scaled
    found = zip(state.ensemble, state.covered, state.results, strict=True)
    return prove(
        fit.candidates.extents,
        risk,
        _rivals(fit),
        **_scope(fit),
        start=[Column(rows, result.query, output=rule.output) for rule, rows, result in found],
        by_size=True,
        # As much as for the rules of a model, which are searched for one by one.
        node_limit=fit.n_rules * nodes if isinstance(nodes, int) else None,
        time_limit=None if seconds is None else fit.n_rules * seconds,
        n_jobs=fit.n_jobs,
        callback=fit.tell_proof if fit.callbacks else None,
    )


def _try_second_start(fit: FitRun, proof: Proof) -> None:
    columns = [
        column._replace(weight=fit.scale.weight(column.weight))
        for column in proof.columns
        if column.covered.any()
    ]
    if not columns:
        return
    first = fit.scaled
    is_kept = False
    try:
        fit.scaled = select(fit.rounds, first.stages[0], columns, fit.n_rules)
        fit.stage = "second start"
        fit.polish(keeps_rules=False)
        is_kept = not fit.is_stopped and fit.rounds.is_better(fit.scaled, first)
    finally:
        fit.stage = ""
        if not is_kept:
            fit.scaled = first


def _certificate(fit: FitRun, risk: TrainingRisk, proof: Proof) -> EnsembleCertificate:
    rivals, state = _rivals(fit), fit.state
    if isinstance(rivals, SameWeight):
        # Of the model that was kept, whose weight may be another one.
        proof = proof.for_rivals(risk, rivals)
    weights = fit.data.weights
    return EnsembleCertificate.of(
        state.stages,
        state.covered,
        proof,
        risk=risk,
        rivals=rivals,
        **_scope(fit),
        propositions=fit.candidates.propositions,
        is_counted=None if weights is None else weights > 0,
    )
