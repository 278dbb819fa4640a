"""Ctrl-C as a way to end a search with what it has found."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from laconic.search.results import Callback, SearchProgress


@contextmanager
def keeping_results(callback: Callback | None) -> Iterator[Callback]:
    """Have Ctrl-C end a search as a callback does, where it would raise an exception.

    Only the main thread hears of Ctrl-C; elsewhere nothing changes. The result is a callback for
    the search, which calls the given one.
    """
    signals: list[int] = []

    def ask(progress: SearchProgress) -> Any:
        return bool(signals) or (callback is not None and callback(progress))

    if threading.current_thread() is not threading.main_thread():
        yield ask
        return
    before = signal.signal(signal.SIGINT, lambda number, _: signals.append(number))
    try:
        yield ask
    finally:
        signal.signal(signal.SIGINT, before)
