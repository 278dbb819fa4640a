"""A fit while it runs: from training data and settings to a model with certificates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from laconic._util.parallel import call_outside
from laconic._util.types import Values
from laconic._util.words import parameter
from laconic.boosting import (
    MAX_ROUNDS,
    Barred,
    InitialTerm,
    Rounds,
    Settings,
    State,
    Step,
    TrainingData,
    boost,
    polish,
)
from laconic.boosting.certificate import ProofProgress
from laconic.boosting.settings import form_of
from laconic.candidates.candidates import CandidateConditions
from laconic.candidates.categories import kept_categories
from laconic.estimators.callbacks import RuleTasks
from laconic.estimators.convergence import is_stopped
from laconic.estimators.parameters import PSEUDO_ROWS
from laconic.estimators.progress import FitProgress
from laconic.search import SearchProgress, SearchResult
from laconic.tables.columns import FeatureKind
from laconic.terms.formatting import OTHER
from laconic.terms.rules import RuleEnsemble

# That of classes of which one has one row in 40,000, or so little weight. Rules for a few rows of a
# class that is rarer would hardly be penalised.
LEAST_CURVATURE = 2.5e-5

Callback = Callable[[FitProgress], Any]


def resolved_penalty(data: TrainingData, settings: Settings, curvature: float) -> float:
    """Return the penalty on weights, also where it is "auto"."""
    penalty = settings.l2_regularization
    if not isinstance(penalty, str):
        return float(penalty)
    if data.task.holds_classes:
        curvature = max(curvature, LEAST_CURVATURE)
    return float(PSEUDO_ROWS * curvature)


def make_rounds(
    data: TrainingData,
    settings: Settings,
    candidates: CandidateConditions,
    l2_regularization: float,
    **options: Any,
) -> Rounds:
    """Make what all rounds of a fit share; `options` are further ones of the searches."""
    return Rounds(
        candidates,
        data.counted_y,
        data.loss,
        l2_regularization=l2_regularization,
        sample_weight=data.counted_weights,
        is_joint=settings.is_joint,
        slopes=settings.slope_candidates(data),
        fit_intercept=settings.fit_intercept,
        constraints=data.scale.constraints(settings.constraints),
        barred=[Barred.of(form, data.values(form)) for form in settings.excluded_terms],
        brevity=settings.brevity,
        beats_chance=settings.beats_chance,
        search_options=settings.search_options | options,
    )


class FitRun:
    """A running fit: the model so far, and callbacks that are notified of it.

    Each callback is called with a `FitProgress`; a true return value ends the fit.

    Parameters
    ----------
    data : TrainingData
    settings : Settings
    before : State or None, default=None
        A model to go on from.
    callbacks : sequence of callable, default=()
    tasks : RuleTasks or None, default=None
        Tells callbacks of scikit-learn about every term.
    stage : str, default=""
        What the fit is a part of, such as "fold 2 of 5".
    n_jobs : int or None, default=None
        Threads of searches.
    unfinished : SearchResult or None, default=None
        A search that a limit stopped before it found a rule.
    """

    def __init__(
        self,
        data: TrainingData,
        settings: Settings,
        before: State | None = None,
        *,
        callbacks: Sequence[Callback] = (),
        tasks: RuleTasks | None = None,
        stage: str = "",
        n_jobs: int | None = None,
        unfinished: SearchResult | None = None,
    ) -> None:
        self.data, self.settings, self.callbacks = data, settings, callbacks
        self.tasks, self.stage, self.n_jobs = tasks, stage, n_jobs
        self.n_terms = settings.max_terms
        self.number: int | None = None
        self.is_stopped = self.is_interrupted = self.is_chance = False
        self.unfinished = unfinished
        self.candidates = settings.candidates(data)
        start, curvature = data.start(fit_intercept=settings.fit_intercept)
        self.l2_regularization = resolved_penalty(data, settings, curvature)
        self.rounds = make_rounds(
            *(data, settings, self.candidates, self.l2_regularization),
            n_jobs=n_jobs,
            callback=self.tell if callbacks else None,
        )
        self.scaled = self.rounds.begin(self._first_state(before, start))
        self.n_before = len(self.scaled.ensemble)
        given = [
            (
                term._replace(weight=term.weight and data.scale.weight(term.weight)),
                data.values(term.form),
            )
            for term in missing_terms(settings, self.scaled.ensemble)
        ]
        self._boosting = boost(self.rounds, self.scaled, self.n_terms, given)

    def _first_state(self, before: State | None, start: RuleEnsemble) -> State:
        kept = kept_categories(self.candidates.conditions, self.settings.max_categories)
        kinds: dict[str, FeatureKind] = {
            name: each for name, each in kept.items() if not self._has_other(name)
        }
        kinds |= self.candidates.feature_kinds
        if before is None:
            names = self.data.table.feature_names
            start = replace(start, feature_names=names, feature_kinds=kinds)
            return State(start, stages=(start,))
        # Texts no longer say of a feature what new rows do not show.
        known = before.ensemble.feature_kinds
        same = {name: kind for name, kind in kinds.items() if known.get(name) == kind}
        before = replace(before, ensemble=replace(before.ensemble, feature_kinds=same))
        return before.divided_by(self.data.scale)

    def _has_other(self, name: str) -> bool:
        """Return whether a category has the name of all those that are not kept."""
        categories = self.data.describe(name).categories or ()
        return any(str(each).lower() == OTHER for each in categories)

    @property
    def state(self) -> State:
        """The model so far, on the scale of the target."""
        return self.scaled.divided_by(self.data.scale.inverse)

    def tell(self, found: SearchProgress | ProofProgress | None = None) -> bool:
        """Call all callbacks; returns whether one of them wants to end the fit.

        Sets: is_stopped.
        """
        facts: dict[str, Any] = {"stage": self.stage, "number": self.number}
        facts["is_auto"] = self.settings.beats_chance and not self.stage
        if isinstance(found, ProofProgress):
            facts = {"stage": "proving", "proof": found}
        elif found is not None:
            facts["search"] = self.data.scale.inverse.objectives(found)
        state = self.state
        progress = FitProgress(state.ensemble, state.results, self.n_terms, **facts)
        answers = [call_outside(callback, progress) for callback in self.callbacks]
        self.is_stopped = self.is_stopped or any(answers)
        return self.is_stopped

    def advance(self) -> bool:
        """Find a term, unless there is none or a callback wants to end the fit.

        Sets: scaled, unfinished, is_stopped; is_chance, if no term is better than chance.
        """
        if self.is_stopped:
            return False
        if self.tasks is not None and len(self.scaled.ensemble) < self.n_terms:
            call_outside(self.tasks.begin_rule)
        has_rule = True
        try:
            self.scaled = next(self._boosting)
        except StopIteration as end:
            has_rule = False
            if end.value is not None and is_stopped(end.value):
                self.unfinished = self.data.scale.inverse.objectives(end.value)
            self.is_chance = self.settings.beats_chance and end.value is not None
        if has_rule and self.callbacks:
            self.tell()
        if self.tasks is not None:
            self.is_stopped |= call_outside(self.tasks.end_rule, self.state, self.data)
        return has_rule

    def boost(self, *, keeps_rules: bool) -> None:
        """Go through all rounds.

        Sets: scaled; is_interrupted, if Ctrl-C ended them and there are terms to be kept.
        """
        try:
            while self.advance():
                pass
            self.scaled = self.rounds.certified(self.scaled)
        except KeyboardInterrupt:
            if not keeps_rules or len(self.scaled.ensemble) == 0:
                raise
            self.is_interrupted = True

    def polished(self) -> Iterator[Step]:
        """Exchange terms for better ones; what is done with the exchanges is left to the caller.

        Sets: stage and number, while it goes on.
        """
        n_terms = len(self.scaled.ensemble)
        is_wanted = self.settings.is_polished and n_terms > 0 and not self.is_stopped
        if not is_wanted:
            return
        fold, self.number = self.stage, 1
        self.stage = f"{fold}, polishing" if fold else "polishing"
        try:
            for step in polish(self.rounds, self.scaled):
                self.number = step.position + 1
                yield step
                self.number = self.number % n_terms + 1
                if self.is_stopped:
                    break
        finally:
            self.stage, self.number = fold, None

    def polish(self, *, keeps_rules: bool) -> str | None:
        """Exchange terms for better ones; returns what went wrong, in words.

        Sets: scaled; is_interrupted, if Ctrl-C ended it and terms are kept. What was known about
        chance is about the terms before.
        """
        step: Step | None = None
        before = self.scaled.ensemble
        try:
            for step in self.polished():
                self.scaled = step.state
                self.is_chance = self.is_chance and not step.is_exchanged
                if step.is_exchanged and self.callbacks:
                    self.tell()
        except KeyboardInterrupt:
            if not keeps_rules:
                raise
            self.is_interrupted = True
            return "Interrupted while polishing: exchanges of terms may still improve the model."
        finally:
            if self.scaled.ensemble is not before:
                self.scaled = replace(self.scaled, stages=self.rounds.stages(self.scaled))
        if step is None or step.is_stable or self.is_stopped:
            return None
        return (
            f"Polishing ended after {MAX_ROUNDS} rounds: exchanges of terms may still improve the "
            "model."
        )

    def warnings(self) -> Iterator[str]:
        """Yield a sentence about each given term that constraints left without a weight."""
        for term, result in zip(self.scaled.ensemble, self.scaled.results, strict=True):
            if term.weight == 0.0 and result.status == "given":
                text = self.scaled.ensemble.text(term)
                yield (
                    f"The term '{text}' has the weight 0, as the constraints allow none of the "
                    f"other sign. Leave it out, or loosen {parameter('monotonic_cst')} or "
                    f"{parameter('weight_signs')}."
                )


def missing_terms(settings: Settings, ensemble: RuleEnsemble) -> list[InitialTerm]:
    """List the initial terms that a model does not have yet."""
    return [
        term
        for term in settings.initial_terms
        if not any(
            term.form == form_of(other) and term.output in (None, other.output)
            for other in ensemble
        )
    ]


def columns_of(ensemble: RuleEnsemble, data: TrainingData) -> tuple[Values, ...]:
    """Compute the values of each term in the rows that count."""
    return tuple(data.values(form_of(term)) for term in ensemble)
