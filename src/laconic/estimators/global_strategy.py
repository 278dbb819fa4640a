"""The strategy "global": a second start from the relaxed problem, and the better one is kept.

Boosting has found rules one by one, and polishing has exchanged them. The relaxed problem looks at
all rules at once: what it proves bounds every model of that size, and the rules that it uses are
reduced to as many as are wanted, and polished as well.
"""

from __future__ import annotations

from typing import Any

from laconic.boosting import State, select
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
    certificate = None if proof is None else _certificate(fit, state, risk, proof)
    return state, certificate, words


def _risk(fit: FitRun) -> TrainingRisk:
    return provable_risk(fit.data, "strategy='global'", fit_intercept=fit.settings.fit_intercept)


def _rivals(fit: FitRun, state: State) -> Rivals:
    if fit.l2_regularization > 0.0:
        return SameRules(fit.n_rules, fit.l2_regularization)
    ensemble = fit.scale.inverse.state(state).ensemble
    return SameWeight(float(sum(abs(rule.weight) for rule in ensemble)))


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
        _rivals(fit, state),
        **_scope(fit),
        start=[Column(rows, result.query, output=rule.output) for rule, rows, result in found],
        by_size=True,
        # As much as for the rules of a model, which are searched for one by one.
        node_limit=fit.n_rules * nodes if isinstance(nodes, int) else None,
        time_limit=None if seconds is None else fit.n_rules * seconds,
        n_jobs=fit.n_jobs,
        callback=fit.tell if fit.callbacks else None,
    )


def _second_start(fit: FitRun, proof: Proof) -> State | None:
    """Reduce the rules of a proof to as many as are wanted, and polish them; None without any."""
    columns = [
        column._replace(weight=fit.scale.weight(column.weight))
        for column in proof.columns
        if column.covered.any()
    ]
    if not columns:
        return None
    first = fit.scaled
    try:
        # Callbacks are shown the rules that are polished.
        fit.scaled = select(fit.rounds, first.stages[0], columns, fit.n_rules)
        fit.stage = "second start"
        fit.polish(keeps_rules=False)
        return fit.scaled
    finally:
        fit.scaled, fit.stage = first, ""


def _certificate(
    fit: FitRun, scaled: State, risk: TrainingRisk, proof: Proof
) -> EnsembleCertificate:
    rivals, state = _rivals(fit, scaled), fit.scale.inverse.state(scaled)
    if isinstance(rivals, SameWeight):
        # Of this model, whose weight may be another one.
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
