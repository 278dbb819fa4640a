"""A look at a running fit, and a printer of it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TextIO

from laconic.rules import Rule
from laconic.search import SearchProgress, SearchResult
from laconic.search.certificates import describe_certificate, describe_search

__all__ = ["FitProgress", "ProgressPrinter"]


@dataclass(frozen=True)
class FitProgress:
    """A look at a running fit, for callbacks."""

    rules: tuple[Rule, ...]
    """The rules found so far."""
    search_results: tuple[SearchResult, ...]
    """Their certificates."""
    n_rules: int
    """How many rules were asked for."""
    search: SearchProgress | None = None
    """The search for the next rule; None right after a rule was found."""


class ProgressPrinter:
    """Callback that writes a line for every rule, and for long searches how they get on.

    Parameters
    ----------
    interval : float, default=1.0
        Seconds between two lines about the same search.
    stream : text file, default=None
        Where to write; None is the standard output.
    """

    def __init__(self, interval: float = 1.0, stream: TextIO | None = None) -> None:
        self.interval = interval
        self.stream = sys.stdout if stream is None else stream
        self.last_time = time.monotonic()

    def __call__(self, progress: FitProgress) -> None:
        """Write a line if there is something to say."""
        if progress.search is None:
            self._write(_rule_line(progress))
        elif time.monotonic() - self.last_time >= self.interval:
            number = len(progress.rules) + 1
            self._write(f"rule {number}/{progress.n_rules}: {describe_search(progress.search)}")

    def _write(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()
        self.last_time = time.monotonic()


def _rule_line(progress: FitProgress) -> str:
    result = progress.search_results[-1]
    return (
        f"rule {len(progress.rules)}/{progress.n_rules}: {progress.rules[-1]} "
        f"[objective {result.objective_value:.4g}, {describe_certificate(result)}, "
        f"{result.counters.get('nodes', 0):,} nodes, {result.seconds:.2g} s]"
    )
