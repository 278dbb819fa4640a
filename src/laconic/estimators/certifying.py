"""A fitted model next to the best possible one: what estimators know about it, put to the proof."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._checks import require
from laconic.candidates import (
    CandidatePropositions,
    candidate_propositions,
    given_propositions,
)
from laconic.losses import Floats, known_loss
from laconic.relaxation import (
    EnsembleCertificate,
    RelaxationProgress,
    Rivals,
    SameRules,
    SameWeight,
    TrainingRisk,
    prove,
)
from laconic.search import SearchScope

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting
    from laconic.estimators.rows import CheckedRows

RIVALS = ("rules", "weight")


def certify(
    model: RuleBoosting,
    rows: CheckedRows,
    *,
    against: str | None,
    l2_regularization: float | None,
    node_limit: int | None,
    time_limit: float | None,
    callback: Callable[[RelaxationProgress], Any] | None,
) -> EnsembleCertificate:
    """Prove how close a model comes to the best one; see `RuleBoosting.certificate`."""
    loss = known_loss(model.loss_)
    if loss is None:
        raise ValueError(
            "A certificate needs the logistic or the squared loss. Got a model with "
            f"{model.loss_!r}."
        )
    ensemble = model.ensemble_
    rivals = _rivals(model, against, l2_regularization)
    is_counted = np.ones(rows.table.n_rows, dtype=bool)
    if rows.weights is not None:
        is_counted = rows.weights > 0
    # Before the candidates, which read the columns of the table one by one and forget them.
    raw_predictions = ensemble.raw_predictions(rows.table)[is_counted]
    covered = ensemble.covered(rows.table)[is_counted].T
    candidates = _candidates(model, rows)
    max_conditions = (
        model.scope_.max_conditions if hasattr(model, "scope_") else model.max_conditions
    )
    if max_conditions is not None:
        max_conditions = max(max_conditions, *(len(rule.query) for rule in ensemble), 1)
    risk = TrainingRisk(
        model.task_.for_loss(rows.counted_target),
        loss,
        rows.counted_weights,
        model.fit_intercept or ensemble.intercept != 0.0,
    )
    proof = prove(
        candidates.extents,
        risk,
        rivals,
        max_conditions=max_conditions,
        start=covered,
        node_limit=node_limit,
        time_limit=time_limit,
        n_jobs=model.n_jobs,
        callback=callback,
    )
    return EnsembleCertificate(
        risk.value(raw_predictions) + rivals.penalty(_weights(model)),
        risk.value_at_constant,
        rivals,
        max_conditions,
        candidates.propositions,
        proof.status,
        proof.n_nodes,
        proof.n_searches,
        proof.seconds,
        proof.bound,
        risk,
        is_counted,
    )


def _candidates(model: RuleBoosting, rows: CheckedRows) -> CandidatePropositions:
    """Find the conditions that the rules of a model were, or could have been, made of."""
    scope: SearchScope | None = getattr(model, "scope_", None)
    if scope is None or model.propositions is not None:
        candidates = model._candidates(rows.X, rows.table, rows.weights)
    elif scope.are_propositions_given:
        raise ValueError(
            "The conditions that this model was made of were given, and are not in its file. Give "
            "them again: model.set_params(propositions=...)."
        )
    else:
        candidates = candidate_propositions(
            rows.table,
            max_thresholds=scope.max_thresholds,
            negated_categories=scope.negated_categories,
            sample_weight=rows.weights,
        )
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
