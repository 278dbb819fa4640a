"""Several raw predictions per row, one for each class: what each of them starts from."""

from __future__ import annotations

from typing import NamedTuple


class Output(NamedTuple):
    """One of several raw predictions."""

    name: str
    """What it is about: a class, as texts write it."""
    intercept: float
    """What it is for a row that no rule covers."""
