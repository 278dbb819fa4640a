"""A running fit, and a printer of how it gets on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from laconic.boosting import GivenRule
from laconic.estimators.advice import is_stopped
from laconic.estimators.callbacks import RuleTasks
from laconic.estimators.globally import GlobalStart
from laconic.model.formatting import format_number
from laconic.model.rules import Rule, RuleEnsemble
from laconic.polishing import MAX_ROUNDS, Polished
from laconic.relaxation import RelaxationProgress, describe_proof
from laconic.search import Extents, SearchProgress, SearchResult, SearchStatus
from laconic.search.certificates import (
    describe_certificate,
    describe_search,
    format_seconds,
)


@dataclass(frozen=True)
class FitProgress:
    """A look at a running fit, for callbacks."""

    ensemble: RuleEnsemble
    """The model so far."""
    search_results: tuple[SearchResult, ...]
    """Their certificates."""
    n_rules: int
    """How many rules were asked for."""
    search: SearchProgress | None = None
    """The search for the next rule; None right after a rule was found."""
    stage: str = ""
    """What else there is to it: "polishing", or "fold 2 of 5" while a number of rules is chosen."""
    number: int | None = None
    """Which rule is looked at, from 1 on; None: the next one, or the last one found."""
    proof: RelaxationProgress | None = None
    """How far a proof for the whole model has come, while nothing else is looked at."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found so far, with their weights at this moment."""
        return self.ensemble.rules

    @property
    def found(self) -> tuple[Rule, SearchResult]:
        """The rule that was found last, and its certificate."""
        position = -1 if self.number is None else self.number - 1
        return self.rules[position], self.search_results[position]

    @property
    def is_choosing(self) -> bool:
        """Whether the rules are those of a fold, from some rows only."""
        return self.stage.startswith("fold")

    @property
    def label(self) -> str:
        """What this is about: which rule, or the proof for all of them."""
        if self.proof is not None:
            return self.stage
        number = self.number or len(self.rules) + (self.search is not None)
        return f"{self.stage}{', ' if self.stage else ''}rule {number} of {self.n_rules}"


class RunningFit:
    """The ensemble so far, the certificates of its rules, and those who want to hear of them.

    Each callback is called with a `FitProgress`; a true return value ends the fit.
    """

    def __init__(
        self,
        start: RuleEnsemble,
        results: Sequence[SearchResult],
        n_rules: int,
        callbacks: Sequence[Callable[[FitProgress], Any]],
        *,
        covered: Iterable[NDArray[np.bool_]] = (),
        stage: str = "",
    ) -> None:
        self.ensemble = start
        self.stages = [start]  # of every size since the start
        self.results = list(results)
        self.n_rules = n_rules
        self.callbacks = callbacks
        self.covered = list(covered)
        self.stage = stage
        self.is_stopped = False
        self.number: int | None = None
        self.unfinished: SearchResult | None = None  # the search stopped before it found a rule

    rounds: Generator[tuple[RuleEnsemble, SearchResult], None, SearchResult | None]
    """Finds the next rule when it is asked to."""
    extents: Extents
    """What the rules are made of."""
    exchanges: Callable[..., Iterator[Polished]] | None = None
    """Polishes a model; None if nobody wants that."""
    second_start: GlobalStart | None = None
    """Looks at all rules at once; None if nobody wants that."""
    restage: Callable[..., tuple[RuleEnsemble, ...]]
    """Gives the first rules of a model the weights that suit them, where others led there."""
    given: Sequence[GivenRule] = ()
    """Rules that somebody wants."""
    tasks: RuleTasks | None = None
    """Tells callbacks of scikit-learn about every rule; None if there are none."""
    is_restaged = False
    """Whether rules went out again, so that stages are not those of the rules that are left."""

    def tell(self, search: SearchProgress | None = None) -> bool:
        """Call all callbacks; returns whether one of them wants to end the fit.

        Sets: is_stopped.
        """
        progress = FitProgress(
            self.ensemble,
            tuple(self.results),
            self.n_rules,
            search,
            self.stage,
            self.number,
        )
        answers = [callback(progress) for callback in self.callbacks]
        self.is_stopped = self.is_stopped or any(answers)
        return self.is_stopped

    def tell_proof(self, proof: RelaxationProgress) -> bool:
        """Call all callbacks with a proof for the whole model; returns as `tell` does.

        Sets: is_stopped.
        """
        progress = FitProgress(
            self.ensemble, tuple(self.results), self.n_rules, stage="proving", proof=proof
        )
        answers = [callback(progress) for callback in self.callbacks]
        self.is_stopped = self.is_stopped or any(answers)
        return self.is_stopped

    def advance(self) -> bool:
        """Find a rule, unless there is none or a callback wants to end the fit.

        Sets: ensemble, stages, results, covered, unfinished, is_stopped.
        """
        if self.is_stopped:
            return False
        if self.tasks is not None and len(self.ensemble) < self.n_rules:
            self.tasks.begin_rule()
        has_rule = self._add_rule()
        if has_rule and self.callbacks:
            self.tell()
        if self.tasks is not None:
            self.is_stopped |= self.tasks.end_rule(self)
        return has_rule

    def _add_rule(self) -> bool:
        try:
            ensemble, result = next(self.rounds)
        except StopIteration as end:
            if end.value is not None and is_stopped(end.value):
                self.unfinished = end.value
            return False
        # Rules that a refit left without a weight are out.
        remaining = {rule.query for rule in ensemble[:-1]}
        is_kept = [rule.query in remaining for rule in self.ensemble]
        results = [*compress(self.results, is_kept), result]
        covered = [*compress(self.covered, is_kept), self._covered_by(ensemble[-1], result)]
        self.is_restaged |= not all(is_kept)
        # Without a call in between, Ctrl-C finds all of it or nothing.
        self.ensemble, self.results, self.covered = ensemble, results, covered
        self.stages.append(ensemble)
        return True

    def _covered_by(self, rule: Rule, result: SearchResult) -> NDArray[np.bool_]:
        """Tell which rows the last rule covers."""
        if result.status is SearchStatus.GIVEN:
            return next(given.covered for given in self.given if given.query == rule.query)
        return self.extents.covered(list(result.query))

    def run(self, *, keeps_rules: bool) -> bool:
        """Go through all rounds; returns whether Ctrl-C ended them and rules are kept."""
        try:
            while self.advance():
                pass
        except KeyboardInterrupt:
            if not keeps_rules or not self.ensemble.rules:
                raise
            return True
        finally:
            if self.is_restaged:
                self.stages = list(self.restage(self.ensemble, self.covered))
        return False

    def polished(self) -> Iterator[Polished]:
        """Exchange rules for better ones, as far as somebody wants that.

        Sets: stage, number; what is done with the exchanges is left to the caller.
        """
        n_rules = len(self.ensemble)
        is_wanted = n_rules > 0 and not self.is_stopped
        if self.exchanges is None or not is_wanted:
            return
        fold, self.number = self.stage, 1
        self.stage = f"{fold}, polishing" if fold else "polishing"
        try:
            for step in self.exchanges(self.ensemble, self.results, self.covered):
                self.number = step.position + 1
                yield step
                self.number = self.number % n_rules + 1
                if self.is_stopped:
                    break
        finally:
            self.stage, self.number = fold, None

    def polish(self, *, keeps_rules: bool, stage: str = "") -> str | None:
        """Exchange rules for better ones; returns what went wrong, in words.

        Sets: ensemble, stages, results, covered.
        """
        step: Polished | None = None
        self.stage = stage or self.stage
        try:
            for step in self.polished():
                self.ensemble, self.results, self.covered = (
                    step.ensemble,
                    step.results,
                    step.covered,
                )
                if step.is_exchanged and self.callbacks:
                    self.tell()
        except KeyboardInterrupt:
            if not keeps_rules:
                raise
            return "Interrupted while polishing: exchanges of rules may still improve the model."
        finally:
            self.stage = "" if stage else self.stage
            if step is not None and self.ensemble is not self.stages[-1]:
                self.stages = list(step.stages())
        if step is None or step.is_stable or self.is_stopped:
            return None
        return (
            f"Polishing ended after {MAX_ROUNDS} rounds: exchanges of rules may still improve the "
            "model."
        )


class ProgressPrinter:
    """Callback that writes a line for every rule, and for long searches how they get on.

    There are `interval` seconds between two lines about the same search.
    """

    def __init__(self, interval: float = 1.0, stream: TextIO | None = None) -> None:
        self.interval = interval
        self.stream = sys.stdout if stream is None else stream
        self.last_time = time.monotonic()

    def __call__(self, progress: FitProgress) -> None:
        """Write a line if there is something to say."""
        if progress.proof is not None:
            if time.monotonic() - self.last_time >= self.interval:
                self._write(f"{progress.label}: {describe_proof(progress.proof)}")
        elif progress.search is None:
            self._write(_rule_line(progress))
        elif time.monotonic() - self.last_time >= self.interval:
            time_so_far = format_seconds(progress.search.seconds)
            self._write(f"{progress.label}: {describe_search(progress.search)}, {time_so_far}")

    def _write(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()
        self.last_time = time.monotonic()


def _rule_line(progress: FitProgress) -> str:
    rule, result = progress.found
    return (
        f"{progress.label}: {progress.ensemble.rule_text(rule)} "
        f"[objective {format_number(result.objective_value)}, {describe_certificate(result)}, "
        f"{format_seconds(result.seconds)}]"
    )
