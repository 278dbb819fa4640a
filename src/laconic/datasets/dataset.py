"""What a loader returns: `Dataset`, and the way to any data frame library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

Backend: TypeAlias = Literal["cudf", "modin", "pandas", "polars", "pyarrow"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with its target.

    Attributes
    ----------
    data : ndarray of shape (n_samples, n_features) or data frame
        The features.
    target : ndarray of shape (n_samples,)
        The class of each row, -1 or 1, or the number to predict.
    feature_names : tuple of str
        Names of the columns of `data`.
    target_names : tuple of str
        What the classes -1 and 1 mean, in this order; for a number, what it is.
    """

    data: Any
    target: NDArray[Any]
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]

    def __repr__(self) -> str:
        n_features = len(self.feature_names)
        return f"<Dataset: {len(self.target)} rows, {n_features} features>"


def as_backend(columns: Mapping[str, NDArray[Any]], backend: Backend | None) -> Any:
    """Columns as an ndarray, or as a data frame of the named library.

    Columns of different kinds give an ndarray of objects.
    """
    if backend is None:
        kinds = {column.dtype.kind for column in columns.values()}
        is_mixed = bool(kinds & set("UO")) and len(kinds) > 1
        dtype = object if is_mixed else None
        return np.column_stack(
            [column.astype(dtype or column.dtype) for column in columns.values()]
        )
    if backend not in get_args(Backend):
        raise ValueError(
            f"'backend' must be None or one of {', '.join(map(repr, get_args(Backend)))}. "
            f"Got {backend!r} instead. Choose a library that is installed, or None for an ndarray."
        )
    return nw.from_dict(dict(columns), backend=backend).to_native()
