"""The strategy "global": a second start from the relaxed problem, and the better one is kept.

Boosting has found rules one by one, and polishing has exchanged them. The relaxed problem looks at
all rules at once: what it proves bounds every model of that size, and the rules that it uses are
reduced to as many as are wanted, and polished as well.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic.boosting import Joint
from laconic.candidates import CandidatePropositions
from laconic.estimators.certifying import certificate_of, check_scale, provable_loss
from laconic.losses import Floats
from laconic.model.rules import RuleEnsemble
from laconic.polishing import is_better
from laconic.relaxation import (
    Column,
    EnsembleCertificate,
    Proof,
    Rivals,
    SameRules,
    SameWeight,
    TrainingRisk,
    lower_bound,
    prove,
)
from laconic.search import SearchResult, SearchStatus
from laconic.selection import select

if TYPE_CHECKING:
    from collections.abc import Iterator

    from laconic.estimators.base import RuleBoosting
    from laconic.estimators.progress import RunningFit


@dataclass(frozen=True, eq=False)
class GlobalStart:
    """What a fit needs to look at all rules at once."""

    candidates: CandidatePropositions
    risk: TrainingRisk
    weights: Floats | None
    """Of all rows of the table, those without weight included."""
    shared: dict[str, Any]
    """Penalty, weights and intercept, as boosting takes them."""
    options: dict[str, Any]
    """Limits of the proof."""

    @classmethod
    def of(
        cls,
        model: RuleBoosting,
        candidates: CandidatePropositions,
        y: Floats,
        weights: Floats | None,
        shared: dict[str, Any],
    ) -> GlobalStart:
        """Take from an estimator what is needed; `shared` is what boosting takes."""
        loss = provable_loss(model.loss_, "strategy='global'")
        named = {name: shared[name] for name in ("l2_regularization", "fit_intercept")}
        named["sample_weight"] = shared["sample_weight"]
        # As much as for the rules of a model, which are searched for one by one.
        n_rules = model.n_rules
        has_nodes = isinstance(model.node_limit, int)
        options = {
            "max_conditions": model.max_conditions,
            "min_coverage": float(model.min_coverage),
            "node_limit": n_rules * int(model.node_limit or 0) if has_nodes else None,
            "time_limit": None if model.time_limit is None else n_rules * model.time_limit,
            "n_jobs": model.n_jobs,
        }
        risk = TrainingRisk(y, loss, shared["sample_weight"], bool(model.fit_intercept))
        check_scale(risk, "strategy='global'")
        return cls(candidates, risk, weights, named, options)

    def improve(
        self, fit: RunningFit, *, keeps_rules: bool
    ) -> tuple[EnsembleCertificate | None, str | None]:
        """Look for better rules, and prove how good those of the fit are.

        Sets: ensemble, stages, results and covered of the fit, where others are better. Returns the
        certificate, and what went wrong, in words.
        """
        words = None
        proof = self._prove(fit)
        is_pressed = proof.status is SearchStatus.INTERRUPTED and not fit.is_stopped
        try:
            if is_pressed:
                raise KeyboardInterrupt
            if not fit.is_stopped:
                self._try_second_start(fit, proof)
        except KeyboardInterrupt:
            if not keeps_rules:
                raise
            words = "Interrupted: a second start may still improve the model."
        return self._certificate(fit, proof), words

    def _rivals(self, fit: RunningFit) -> Rivals:
        penalty = self.shared["l2_regularization"]
        if penalty > 0.0:
            return SameRules(fit.n_rules, penalty)
        return SameWeight(float(sum(abs(rule.weight) for rule in fit.ensemble)))

    def _prove(self, fit: RunningFit) -> Proof:
        found = zip(fit.covered, fit.results, strict=True)
        return prove(
            self.candidates.extents,
            self.risk,
            self._rivals(fit),
            start=[Column(covered, result.query) for covered, result in found],
            by_size=True,
            callback=fit.tell_proof if fit.callbacks else None,
            **self.options,
        )

    def _try_second_start(self, fit: RunningFit, proof: Proof) -> None:
        columns = [column for column in proof.columns if column.covered.any()]
        if not columns:
            return
        y, loss = self.risk.y, self.risk.loss
        ensemble, chosen = select(
            self.candidates, y, loss, fit.stages[0], columns, fit.n_rules, **self.shared
        )
        first = fit.ensemble, fit.results, fit.covered, fit.stages
        with _restored_unless_better(fit, first, partial(self._is_better, fit)):
            fit.ensemble, fit.covered = ensemble, [column.covered for column in chosen]
            fit.results = [_unknown(column) for column in chosen]
            fit.stages = fit.stages[:1]
            fit.polish(keeps_rules=False, stage="second start")

    def _is_better(self, fit: RunningFit, first: tuple[Any, ...]) -> bool:
        ensemble, _, covered, _ = first
        return not fit.is_stopped and is_better(
            self._joint(fit.ensemble, fit.covered), self._joint(ensemble, covered)
        )

    def _joint(self, ensemble: RuleEnsemble, covered: list[NDArray[np.bool_]]) -> Joint:
        return Joint(self.candidates, self.risk.y, self.risk.loss, ensemble, covered, **self.shared)

    def _certificate(self, fit: RunningFit, proof: Proof) -> EnsembleCertificate:
        rivals = self._rivals(fit)
        if isinstance(rivals, SameWeight):
            # Of the model that was kept, whose weight may be another one.
            found = proof.bound
            bound = lower_bound(self.risk, rivals, found.forces, found.largest_sum)
            proof = Proof(**{**vars(proof), "bound": bound})
        return certificate_of(
            fit.stages,
            fit.covered,
            proof,
            risk=self.risk,
            rivals=rivals,
            max_conditions=self.options["max_conditions"],
            min_coverage=self.options["min_coverage"],
            candidates=self.candidates,
            weights=self.weights,
        )


@contextmanager
def _restored_unless_better(fit: RunningFit, first: Any, is_better: Any) -> Iterator[None]:
    """Give a fit its first model back, unless the other one is complete and better."""
    is_kept = False
    try:
        yield
        is_kept = is_better(first)
    finally:
        if not is_kept:
            fit.ensemble, fit.results, fit.covered, fit.stages = first


def _unknown(column: Column) -> SearchResult:
    """Say of a rule that nothing is proven of it yet."""
    return SearchResult(column.query or (), 0.0, np.inf, SearchStatus.HEURISTIC)
