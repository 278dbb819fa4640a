"""A fitted model next to the best possible one: what estimators know about it, put to the proof."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic._checks import require
from laconic.candidates import (
    CandidatePropositions,
    given_propositions,
)
from laconic.estimators.conditions import candidates_of, scope_options
from laconic.estimators.rows import counted
from laconic.losses import Floats, LogisticLoss, Loss, NamedLoss, SquaredLoss, known_loss
from laconic.model.rules import RuleEnsemble
from laconic.relaxation import (
    Column,
    EnsembleCertificate,
    Evidence,
    Proof,
    RelaxationProgress,
    Rivals,
    SameRules,
    SameWeight,
    Size,
    TrainingRisk,
    prove,
)
from laconic.search import SearchScope

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting
    from laconic.estimators.rows import CheckedRows

RIVALS = ("rules", "weight")

# The squares and products of a proof are far below a loss, and must not be 0.
SMALLEST_RISK = 1e-300


def certify(
    model: RuleBoosting,
    rows: CheckedRows,
    *,
    against: str | None,
    l2_regularization: float | None,
    by_size: bool,
    node_limit: int | None,
    time_limit: float | None,
    callback: Callable[[RelaxationProgress], Any] | None,
) -> EnsembleCertificate:
    """Prove how close a model comes to the best one; see `RuleBoosting.certificate`."""
    loss = provable_loss(model.loss_, "A certificate")
    ensemble = model.ensemble_
    rivals = _rivals(model, against, l2_regularization)
    # Before the candidates, which read the columns of the table one by one and forget them.
    covered = list(ensemble.covered(rows.table)[counted(rows.weights)].T)
    candidates = _candidates(model, rows)
    max_conditions, min_coverage = _limits(model, covered, rows.counted_weights)
    risk = TrainingRisk(
        model.task_.for_loss(rows.counted_target),
        loss,
        rows.counted_weights,
        model.fit_intercept or ensemble.intercept != 0.0,
    )
    check_scale(risk, "A certificate")
    proof = prove(
        candidates.extents,
        risk,
        rivals,
        max_conditions=max_conditions,
        min_coverage=min_coverage,
        start=map(Column, covered),
        by_size=by_size,
        node_limit=node_limit,
        time_limit=time_limit,
        n_jobs=model.n_jobs,
        callback=callback,
    )
    return certificate_of(
        model.stages,
        covered,
        proof,
        risk=risk,
        rivals=rivals,
        max_conditions=max_conditions,
        min_coverage=min_coverage,
        candidates=candidates,
        weights=rows.weights,
    )


def provable_loss(loss: Loss, what: str) -> NamedLoss:
    """Give a loss back if it is one whose smallest value can be bounded."""
    known = known_loss(loss)
    if not isinstance(known, LogisticLoss | SquaredLoss):
        raise ValueError(f"{what} needs the logistic or the squared loss. Got {loss!r}.")
    return known


def check_scale(risk: TrainingRisk, what: str) -> None:
    """Refuse losses so small that doubles do not tell them apart."""
    if risk.value_at_constant < SMALLEST_RISK and np.ptp(risk.y) > 0.0:
        raise ValueError(
            f"{what} needs losses of {SMALLEST_RISK:g} or more, which are squares of the target "
            f"times weights. Got {risk.value_at_constant:g} without any rule. Multiply the target, "
            "or the weights and the penalty, by a large number."
        )


def certificate_of(
    stages: Sequence[RuleEnsemble],
    covered: Sequence[NDArray[np.bool_]],
    proof: Proof,
    *,
    risk: TrainingRisk,
    rivals: Rivals,
    max_conditions: int | None,
    min_coverage: float,
    candidates: CandidatePropositions,
    weights: Floats | None,
) -> EnsembleCertificate:
    """Put a model, by its sizes and the rows that its rules cover, next to what is proven."""
    bounds = proof.bounds_by_size
    objectives = [
        _objective(stage, covered, risk, rivals)
        for stage in (stages if len(bounds) > 0 else stages[-1:])
    ]
    n_rows = len(risk.y)
    return EnsembleCertificate(
        ensemble=stages[-1],
        objective=objectives[-1],
        start=risk.value_at_constant,
        bound=proof.bound.value,
        rivals=rivals,
        max_conditions=max_conditions,
        min_coverage=min_coverage,
        n_propositions=len(candidates),
        n_rows=n_rows,
        status=proof.status,
        n_nodes=proof.n_nodes,
        n_searches=proof.n_searches,
        seconds=proof.seconds,
        sizes=tuple(map(Size, objectives, bounds)),
        evidence=Evidence(
            candidates.propositions,
            proof.bound,
            risk,
            np.ones(n_rows, dtype=bool) if weights is None else weights > 0,
        ),
    )


def _objective(
    ensemble: RuleEnsemble, covered: Sequence[NDArray[np.bool_]], risk: TrainingRisk, rivals: Rivals
) -> float:
    """Compute loss and penalty of the first rules that a model has."""
    weights = np.array([rule.weight for rule in ensemble], dtype=np.float64)
    raw_predictions = np.full(len(risk.y), ensemble.intercept)
    for weight, rows in zip(weights.tolist(), covered, strict=False):
        raw_predictions += weight * rows
    return risk.value(raw_predictions) + rivals.penalty(weights)


def _limits(
    model: RuleBoosting, covered: Sequence[NDArray[np.bool_]], weights: Floats | None
) -> tuple[int | None, float]:
    """Tell how long the rules of rivals may be, and how much they cover at least.

    A model that was edited may have rules beyond the limits of its search.
    """
    scope: Any = getattr(model, "scope_", model)
    max_conditions, min_coverage = scope.max_conditions, scope.min_coverage
    if max_conditions is not None:
        max_conditions = max(max_conditions, *(len(rule.query) for rule in model.ensemble_), 1)
    for rows in covered if min_coverage > 0.0 else ():
        coverage = np.count_nonzero(rows) if weights is None else weights[rows].sum()
        min_coverage = min(min_coverage, float(coverage))
    return max_conditions, float(min_coverage)


def _candidates(model: RuleBoosting, rows: CheckedRows) -> CandidatePropositions:
    """Find the conditions that the rules of a model were, or could have been, made of."""
    scope: SearchScope | None = getattr(model, "scope_", None)
    if scope is None or model.propositions is not None:
        candidates = model._candidates(rows)
    elif scope.are_propositions_given:
        raise ValueError(
            "The conditions that this model was made of were given, and are not in its file. Give "
            "them again: model.set_params(propositions=...)."
        )
    else:
        candidates = candidates_of(model, rows, scope_options(scope))
    # A model that was edited may have conditions of its own.
    known = set(candidates.propositions)
    own = [each for each in dict.fromkeys(model.ensemble_.propositions) if each not in known]
    if not own:
        return candidates
    propositions = (*candidates.propositions, *own)
    return given_propositions(rows.table, propositions, sample_weight=rows.weights)


def _weights(model: RuleBoosting) -> Floats:
    return np.array([rule.weight for rule in model.ensemble_], dtype=np.float64)


def _rivals(model: RuleBoosting, against: str | None, l2_regularization: float | None) -> Rivals:
    """Say what a model is compared with."""
    penalty = l2_regularization
    if penalty is None:
        penalty = getattr(model, "l2_regularization_", None)
    if against is None:
        against = "weight" if not penalty else "rules"
    required = f"one of {', '.join(map(repr, RIVALS))} or None"
    require(against in RIVALS, "against", required, against)
    if against == "weight":
        return SameWeight(float(np.abs(_weights(model)).sum()))
    if penalty is None:
        raise ValueError(
            "The penalty that this model was fitted with is not known. Pass it as "
            "l2_regularization, or compare with against='weight'."
        )
    return SameRules(len(model.ensemble_), float(penalty))
