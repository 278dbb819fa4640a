"""What differs between the supported releases of other packages.

Features are looked for, not version numbers, and nothing is imported that is not in use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class NoCallbacks:
    """What estimators inherit if scikit-learn has no callbacks."""


def callback_support() -> tuple[Any, Any]:
    """Return the class and the decorator for estimators with callbacks of scikit-learn."""
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # before scikit-learn 1.9
        return NoCallbacks, lambda method: method
    return CallbackSupportMixin, with_callbacks


def collect_streaming(frame: Any) -> Any:
    """Run a lazy frame of polars without having all of its rows in memory, where polars can."""
    return frame.collect(engine="streaming") if _has_batches(frame) else frame.collect()


def polars_batches(frame: Any, n_rows: int) -> Iterator[Any]:
    """Yield the rows of a lazy frame of polars in parts of about so many rows, in order."""
    if _has_batches(frame):
        yield from frame.collect_batches(chunk_size=n_rows, maintain_order=True, engine="streaming")
        return
    # Each part is a query of its own: files are read again up to its first row.
    start, is_last = 0, False
    while not is_last:
        part = frame.slice(start, n_rows).collect()
        if len(part) > 0:
            yield part
        start, is_last = start + n_rows, len(part) < n_rows


def _has_batches(frame: Any) -> bool:
    # Added in polars 1.34, when the streaming engine was complete.
    return hasattr(frame, "collect_batches")
