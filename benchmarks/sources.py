"""Where the tables of the paper's prediction problems come from.

Each kind of source is a small class that knows how to make a table: scikit-learn's bundled tables
and generators, files of a folder, and OpenML.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bundled", "Columns", "Hosted", "Sampled", "Stored", "read_columns"]

Columns: TypeAlias = dict[str, NDArray[Any]]
Task: TypeAlias = Literal["classification", "regression"]


@dataclass(frozen=True)
class Bundled:
    """A table that is installed with scikit-learn.

    Attributes
    ----------
    function : str
        Name of the loader in :mod:`sklearn.datasets`.
    task : {"classification", "regression"}
        Of several classes, the one numbered 1 is told from the others.
    """

    function: str
    task: Task

    def load(self) -> tuple[Columns, NDArray[Any], tuple[str, ...]]:
        """Columns, target and names of the target."""
        from sklearn import datasets

        bunch = getattr(datasets, self.function)()
        columns = dict(zip(map(str, bunch.feature_names), bunch.data.T, strict=True))
        if self.task == "regression":
            return columns, bunch.target, ("target",)
        others = [str(name) for i, name in enumerate(bunch.target_names) if i != 1]
        names = (" or ".join(others), str(bunch.target_names[1]))
        return columns, np.where(bunch.target == 1, 1, -1), names


@dataclass(frozen=True)
class Sampled:
    """A table that scikit-learn draws anew for every seed.

    Attributes
    ----------
    function : str
        Name of the generator in :mod:`sklearn.datasets`.
    task : {"classification", "regression"}
    parameters : mapping
        Arguments of the generator.
    """

    function: str
    task: Task
    parameters: Mapping[str, Any]

    def load(self, random_state: int | None) -> tuple[Columns, NDArray[Any], tuple[str, ...]]:
        """Columns "X1", "X2", ..., target and names of the target."""
        from sklearn import datasets

        make = getattr(datasets, self.function)
        data, target = make(**self.parameters, random_state=random_state)
        columns = {f"X{i}": column for i, column in enumerate(data.T, start=1)}
        if self.task == "regression":
            return columns, target, ("target",)
        return columns, np.where(target == 1, 1, -1), ("0", "1")


@dataclass(frozen=True)
class Hosted:
    """How to make a problem of a table on OpenML.

    Attributes
    ----------
    data_id : int
    convert : callable
        Takes the features, a pandas.DataFrame, and the target, a pandas.Series, and returns
        columns and target.
    """

    data_id: int
    convert: Callable[[Any, Any], tuple[Columns, NDArray[Any]]]

    def load(self) -> tuple[Columns, NDArray[Any]]:
        """Columns and target; downloaded once, then read from scikit-learn's cache."""
        from sklearn.datasets import fetch_openml

        bunch = fetch_openml(data_id=self.data_id, as_frame=True, parser="auto", n_retries=1)
        return self.convert(bunch.data, bunch.target)


@dataclass(frozen=True)
class Stored:
    """A table that has to be fetched by the user, unless OpenML has it.

    Attributes
    ----------
    task : {"classification", "regression"}
    n_rows, n_features : int
    origin : str
        Where people find the original table.
    target_names : tuple of str
    hosted : Hosted or None
    """

    task: Task
    n_rows: int
    n_features: int
    origin: str
    target_names: tuple[str, ...] = field(default=("target",))
    hosted: Hosted | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, self.n_features


def read_columns(path: Path) -> Columns:
    """Read a CSV file, compressed or not, without missing values.

    Columns are integers, numbers or text, whichever all cells are.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return {
        name: _typed(cells) for name, cells in zip(header, zip(*rows, strict=True), strict=True)
    }


def _typed(cells: tuple[str, ...]) -> NDArray[Any]:
    texts = np.array(cells)
    for dtype in (np.int64, np.float64):
        try:
            return texts.astype(dtype)
        except ValueError:
            continue
    return texts
