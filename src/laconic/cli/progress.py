"""How a fit gets on, as a command shows it."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status
from rich.text import Text

from laconic.model.formatting import format_count, format_number, visible
from laconic.search import SearchResult
from laconic.search.certificates import describe_certificate, describe_search

if TYPE_CHECKING:
    from laconic.estimators import FitProgress

# Seconds between two lines about the same search where lines cannot be overwritten.
_PIPED_INTERVAL = 10.0


def limit_option(result: SearchResult) -> str | None:
    """Name the option that stopped a search early, if any did."""
    status = str(result.status)
    return f"--{status.replace('_', '-')}" if status.endswith("_limit") else None


class FitScreen:
    """Callback that shows how a fit gets on, and ends it after Ctrl-C.

    On a terminal it is a line that changes, otherwise a line now and then.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.is_interrupted = False
        self._has_rule = self._is_choosing = False
        self._status: Status | None = None
        self._last_time = time.monotonic()

    def __call__(self, progress: FitProgress) -> bool:
        """Show a rule that was found, or how the search for the next one gets on."""
        # Rules of a fold are not kept.
        self._is_choosing = progress.is_choosing
        self._has_rule = bool(progress.rules) and not progress.is_choosing
        number = progress.label
        if self._status is not None:
            # The table that follows has the rules, so a terminal only hears of the search.
            words = "found" if progress.search is None else describe_search(progress.search)
            self._status.update(Text(f"{number}: {words}"))
        elif progress.search is None:
            if not progress.is_choosing:
                self._print_rule(number, progress)
        elif time.monotonic() - self._last_time >= _PIPED_INTERVAL:
            self._print_line(Text(f"{number}: {describe_search(progress.search)}"))
        return self.is_interrupted

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Listen to Ctrl-C, and keep a changing line at the bottom of a terminal."""
        # Once there is a rule to keep, Ctrl-C sets a flag: an exception could come when a rule is
        # found but not yet noted. The second time it is an exception for those who cannot wait.
        previous = signal.signal(signal.SIGINT, self._interrupt)
        status = self.console.status(Text("searching")) if self.console.is_terminal else None
        self._status = status
        try:
            with status or nullcontext():
                yield
        except KeyboardInterrupt:
            self.is_interrupted = True
        finally:
            signal.signal(signal.SIGINT, previous)

    def _interrupt(self, signal_number: int, frame: FrameType | None) -> None:
        if self._is_choosing:
            # The estimator makes the best of the sizes that it has tried, and goes on.
            raise KeyboardInterrupt
        is_second_time, self.is_interrupted = self.is_interrupted, True
        if is_second_time or not self._has_rule:
            raise KeyboardInterrupt

    def _print_rule(self, number: str, progress: FitProgress) -> None:
        rule, result = progress.found
        option = limit_option(result)
        stop = f" (stopped at {option})" if option else ""
        line = Text(f"{number}: {visible(progress.ensemble.rule_text(rule))}  ")
        line.append(
            f"{describe_certificate(result)}{stop}, "
            f"objective {format_number(result.objective_value)}, "
            f"{format_count(result.counters.get('nodes', 0), 'node')}, "
            f"{format_number(result.seconds, 2)} s",
            style="dim",
        )
        self._print_line(line)

    def _print_line(self, line: Text) -> None:
        self.console.print(line)
        self._last_time = time.monotonic()
