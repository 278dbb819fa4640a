"""How a fit gets on, for callbacks, and a printer of it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TextIO

from laconic.boosting.certificate import ProofProgress, describe_proof_progress
from laconic.candidates.distinct_rows import ReadProgress, describe_reading
from laconic.search import SearchProgress, SearchResult
from laconic.search.results import describe_certificate, describe_search, format_seconds
from laconic.terms.formatting import format_number
from laconic.terms.rules import Rule, RuleEnsemble


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
    proof: ProofProgress | None = None
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


class _Printer:
    """Writes lines, with at least `interval` seconds between those that may be left out."""

    def __init__(self, interval: float = 1.0, stream: TextIO | None = None) -> None:
        self.interval = interval
        self.stream = sys.stdout if stream is None else stream
        self.last_time = time.monotonic()

    def _write(self, line: str, *, is_needed: bool) -> None:
        if is_needed or time.monotonic() - self.last_time >= self.interval:
            self.stream.write(f"{line}\n")
            self.stream.flush()
            self.last_time = time.monotonic()


class ProgressPrinter(_Printer):
    """Callback that writes a line for every rule, and for long searches how they get on.

    There are `interval` seconds between two lines about the same search.
    """

    def __call__(self, progress: FitProgress) -> None:
        """Write a line if there is something to say."""
        if progress.proof is not None:
            self._write(
                f"{progress.label}: {describe_proof_progress(progress.proof)}", is_needed=False
            )
        elif progress.search is None:
            self._write(_rule_line(progress), is_needed=True)
        else:
            so_far = describe_search(progress.search)
            seconds = format_seconds(progress.search.seconds)
            self._write(f"{progress.label}: {so_far}, {seconds}", is_needed=False)


class ReadPrinter(_Printer):
    """Callback that writes a line every second while a table is read, and when that is done."""

    def __call__(self, progress: ReadProgress) -> None:
        """Write a line if it is time to."""
        self._write(describe_reading(progress), is_needed=progress.is_done)


def _rule_line(progress: FitProgress) -> str:
    rule, result = progress.found
    return (
        f"{progress.label}: {progress.ensemble.rule_text(rule)} "
        f"[objective {format_number(result.objective_value)}, {describe_certificate(result)}, "
        f"{format_seconds(result.seconds)}]"
    )
