"""The order of the gallery: what people come with first, what is special to laconic then."""

from __future__ import annotations

ORDER = [
    "medicine",
    "credit",
    "churn",
    "counts",
    "wine",
    "monotone",
    "exports",
    "tic_tac_toe",
    "certificate",
    "every_threshold",
]


class InOrder:
    """Sorts the examples of a folder by their place in the list."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        return ORDER.index(name.removeprefix("plot_").removesuffix(".py"))
