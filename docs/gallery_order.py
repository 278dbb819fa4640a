"""Order of the gallery: common tasks first, then what is specific to laconic."""

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
    """Sort key of the examples of a folder: their position in the list."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        return ORDER.index(name.removeprefix("plot_").removesuffix(".py"))
