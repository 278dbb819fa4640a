"""A running fit in words, and a printer of them."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from typing import TextIO

from laconic.rules import Rule
from laconic.search import SearchProgress, SearchResult, SearchStatus

__all__ = [
    "FitProgress",
    "ProgressPrinter",
    "describe_certificate",
    "describe_ratio",
    "describe_search",
    "proven_percent",
]


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


def describe_certificate(result: SearchResult) -> str:
    """Say in a few words what is proven about a rule.

    Examples
    --------
    >>> describe_certificate(SearchResult((0,), 0.5, 0.5, SearchStatus.OPTIMAL))
    'proven optimal'
    >>> describe_certificate(SearchResult((0,), 0.45, 0.5, SearchStatus.NODE_LIMIT))
    'at least 90 % of the best possible'
    """
    if result.is_optimal:
        return "proven optimal"
    if result.status is SearchStatus.HEURISTIC:
        return "heuristic, no proof"
    return describe_ratio(result.approximation_ratio)


def describe_ratio(ratio: float) -> str:
    """Say what share of the best possible objective is reached for certain.

    Examples
    --------
    >>> describe_ratio(0.905)
    'at least 90 % of the best possible'
    """
    return f"at least {proven_percent(ratio)} % of the best possible"


def proven_percent(ratio: float) -> int:
    """Round an approximation ratio down to whole per cent, so that it stays a promise.

    Examples
    --------
    >>> proven_percent(0.29), proven_percent(0.2899)
    (29, 28)
    """
    # Rounding errors are no lost per cent: 100 * 0.29 is a little less than 29, and a search for an
    # approximation factor of 0.9 may end with a ratio of 0.8999999999999999.
    return math.floor(100 * ratio + 1e-9)


def describe_search(search: SearchProgress) -> str:
    """Say how far a search has come.

    Examples
    --------
    >>> describe_search(SearchProgress(0.45, 0.5, n_nodes=12000, n_open=340, seconds=4.0))
    'best 0.45, bound 0.5, ratio 0.9, 12,000 nodes, 3,000 per second, 340 open'
    """
    words = (
        f"best {search.objective_value:.4g}, bound {search.bound:.4g}, "
        f"ratio {_format_ratio(search.approximation_ratio)}, "
        f"{search.n_nodes:,} nodes, {search.nodes_per_second:,.0f} per second, "
        f"{search.n_open:,} open"
    )
    return f"{words}, depth-first as memory is short" if search.is_depth_first else words


def _format_ratio(ratio: float) -> str:
    # Rounded down: a ratio of 1 is a proof.
    return f"{math.floor(1e4 * ratio) / 1e4:g}"


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
