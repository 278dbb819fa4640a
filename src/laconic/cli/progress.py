"""The progress of a fit, as a command shows it."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from types import FrameType
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from laconic.candidates.distinct_rows.reduce import ReadProgress, describe_reading
from laconic.cli import terminal
from laconic.search import SearchResult
from laconic.search.results import describe_certificate, format_seconds
from laconic.terms.formatting import format_weight, visible

if TYPE_CHECKING:
    from laconic.estimators.progress import FitProgress
    from laconic.trust import ChanceProgress, StabilityProgress


# What goes on before a search.
READING, PREPARING = "reading", "preparing the search"
# Seconds between two lines where there is no terminal.
INTERVAL = 10.0
# Besides the terms: the head of their table, and the state of the search, which may take three.
_OTHER_LINES = 6


def limit_of(result: SearchResult) -> str | None:
    """Name the limit that stopped a search early, if any did."""
    status = str(result.status)
    return status if status.endswith("_limit") else None


class FitScreen:
    """Callback that shows the progress of a fit, and ends it after Ctrl-C.

    A terminal shows the terms found so far with their current weights, and a line about the search
    for the next one, until the table of the model replaces them. Elsewhere each term is a line, and
    there is one about what goes on, on the standard error, every ten seconds.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.is_interrupted = False
        self._stage = ""
        self._has_term = self._is_choosing = False
        self._found: FitProgress | None = None
        self._spinner = Spinner("dots")
        self._words = ""
        self._started = time.monotonic()
        self._next_line = self._started + INTERVAL

    def check(self, stage: str) -> None:
        """Name the purpose of models that are not kept, such as those of a fold."""
        self._stage = self._words = stage
        self._is_choosing = True

    def __call__(self, progress: FitProgress) -> bool:
        """Show a term that was found, or the progress of the search for the next one."""
        # Terms of a fold are not kept.
        self._is_choosing = progress.is_choosing or bool(self._stage)
        self._has_term = bool(progress.terms) and not self._is_choosing
        if self._stage:
            self._words = f"{self._stage}, {progress.label}"
        elif progress.proof is not None or progress.search is not None:
            self._words = progress.line
        elif self._is_choosing:
            self._words = f"choosing the number of terms: {progress.label}"
        else:
            self._found = progress
            if not self.console.is_terminal:
                self.console.print(visible(progress.line))
        return self.is_interrupted

    def read(self, progress: ReadProgress) -> None:
        """Show the progress of reading a table."""
        self._words = describe_reading(progress)
        if progress.is_done and not self.console.is_terminal:
            self.console.print(self._words)

    def tell(self, progress: ChanceProgress | StabilityProgress) -> None:
        """Show how far the answer to a question is."""
        self._words = progress.line

    @contextmanager
    def watch(self, words: str) -> Iterator[None]:
        """Handle Ctrl-C, and show the progress of the fit: at first, the given words."""
        # Once there is a term to keep, Ctrl-C sets a flag: an exception could be raised between the
        # finding of a term and its storing. Pressed twice, it is an exception at once.
        previous = signal.signal(signal.SIGINT, self._interrupt)
        try:
            with self.show(words):
                yield
        except KeyboardInterrupt:
            self.is_interrupted = True
        finally:
            signal.signal(signal.SIGINT, previous)

    @contextmanager
    def show(self, words: str) -> Iterator[None]:
        """Show what goes on, unless the command is quiet: at first, the given words."""
        self._words, self._started, self._found = words, time.monotonic(), None
        if self.console.quiet:
            yield
        elif self.console.is_terminal:
            # Warnings on the same terminal are written above.
            has_warnings = sys.stderr.isatty()
            with Live(self, console=self.console, transient=True, redirect_stderr=has_warnings):
                yield
        else:
            with self._writing():
                yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write a line now and then."""
        is_over = Event()

        def write() -> None:
            while not is_over.wait(max(self._next_line - time.monotonic(), 0.0)):
                with suppress(OSError):
                    terminal.complain(self._line)
                self._next_line = time.monotonic() + INTERVAL

        thread = Thread(target=write, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    @property
    def _line(self) -> str:
        seconds = format_seconds(time.monotonic() - self._started, whole=True)
        return f"{self._words}, {seconds}"

    def __rich__(self) -> RenderableType:
        """Return what a terminal shows at this moment."""
        self._spinner.update(text=Text(self._line))
        return (
            self._spinner if self._found is None else Group(self._table(self._found), self._spinner)
        )

    def _table(self, found: FitProgress) -> Table:
        table = terminal.make_table()
        table.add_column("", justify="right", style="dim")
        table.add_column("weight", justify="right", no_wrap=True)
        table.add_column("term", overflow="ellipsis", no_wrap=True)
        table.add_column("certificate", overflow="ellipsis", no_wrap=True, style="dim")
        lines = [line for line in found.ensemble.lines if line.term is not None]
        rows = list(zip(lines, found.search_results, strict=True))
        # The newest terms, if the screen is too small for all.
        for line, result in rows[-max(self.console.height - _OTHER_LINES, 1) :]:
            text, weight = visible(" & ".join(line.conditions)), format_weight(line.weight)
            table.add_row(str(line.number), weight, text, describe_certificate(result))
        return table

    def _interrupt(self, signal_number: int, frame: FrameType | None) -> None:
        if self._is_choosing:
            # The estimator chooses among the sizes that it has tried, and continues.
            raise KeyboardInterrupt
        is_second_time, self.is_interrupted = self.is_interrupted, True
        if is_second_time or not self._has_term:
            raise KeyboardInterrupt
