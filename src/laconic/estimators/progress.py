"""The progress of a fit, for callbacks, and printers of it."""

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
from laconic.terms.rules import RuleEnsemble, Term
from laconic.trust import ChanceProgress, StabilityProgress


@dataclass(frozen=True)
class FitProgress:
    """The state of a running fit, for callbacks."""

    ensemble: RuleEnsemble
    """The model so far."""
    search_results: tuple[SearchResult, ...]
    """The certificates of its terms."""
    n_terms: int
    """The number of terms to fit, or the largest one."""
    search: SearchProgress | None = None
    """The search for the next term; None right after one was found."""
    stage: str = ""
    """The stage of the fit, if it has several: "polishing", or "fold 2 of 5" while the number of
    terms is chosen."""
    number: int | None = None
    """The term in question, counted from 1; None for the next one, or the last one found."""
    proof: ProofProgress | None = None
    """The progress of a proof for the whole model, if one is running."""
    is_auto: bool = False
    """Whether chance decides how many terms there are."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms found so far, with their weights at this moment."""
        return self.ensemble.terms

    @property
    def found(self) -> tuple[Term, SearchResult]:
        """The term that was found last, and its certificate."""
        position = -1 if self.number is None else self.number - 1
        return self.terms[position], self.search_results[position]

    @property
    def is_choosing(self) -> bool:
        """Whether the terms are those of a fold, from some rows only."""
        return self.stage.startswith("fold")

    @property
    def label(self) -> str:
        """The term in question, or the stage that proves something about all of them."""
        if self.proof is not None:
            return self.stage
        number = self.number or len(self.terms) + (self.search is not None)
        total = f"at most {self.n_terms}" if self.is_auto else self.n_terms
        return f"{self.stage}{', ' if self.stage else ''}term {number} of {total}"

    @property
    def line(self) -> str:
        """A line about the term that was found, the search for the next one, or the proof."""
        if self.proof is not None:
            return f"{self.label}: {describe_proof_progress(self.proof)}"
        if self.search is not None:
            return f"{self.label}: {describe_search(self.search)}"
        term, result = self.found
        status = str(result.status)
        stop = f", stopped at the {status.replace('_', ' ')}" if status.endswith("_limit") else ""
        # Without a weight: later terms may change it, even its sign.
        output = self.ensemble.output_of(term)
        return (
            f"{self.label}: {f'for {output}: ' if output else ''}{self.ensemble.text(term)} "
            f"[objective {format_number(result.objective_value)}, {describe_certificate(result)}"
            f"{stop}, {format_seconds(result.seconds)}]"
        )


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
    """Callback that writes a line for every term, and lines about the progress of long searches.

    There are `interval` seconds between two lines about the same search.
    """

    def __call__(self, progress: FitProgress) -> None:
        """Write a line for a new term, or if the last one is old enough."""
        search = progress.search
        seconds = "" if search is None else f", {format_seconds(search.seconds)}"
        is_needed = search is None and progress.proof is None
        self._write(f"{progress.line}{seconds}", is_needed=is_needed)


class ReadPrinter(_Printer):
    """Callback that writes a line every second while a table is read, and when that is done."""

    def __call__(self, progress: ReadProgress) -> None:
        """Write a line if the last one is old enough, or at the end."""
        self._write(describe_reading(progress), is_needed=progress.is_done)


class ChancePrinter(_Printer):
    """Callback that writes a line every second while shuffled copies are searched."""

    def __call__(self, progress: ChanceProgress) -> None:
        """Write a line if the last one is old enough, or if a term is done."""
        self._write(progress.line, is_needed=progress.is_last)


class StabilityPrinter(_Printer):
    """Callback that writes a line every second while resamples are fitted, and at the end."""

    def __call__(self, progress: StabilityProgress) -> None:
        """Write a line if the last one is old enough, or at the end."""
        self._write(progress.line, is_needed=progress.n_done == progress.n_resamples)
