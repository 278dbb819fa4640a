"""Targets as they come from the user: their shape, and gaps in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from laconic.tables import is_present

__all__ = ["are_whole", "as_1d", "check_all_present"]


def as_1d(y: ArrayLike) -> NDArray[Any]:
    """Convert a target to an array of one dimension."""
    # scikit-learn takes as long to find out that there is nothing to do as a rule takes to fit.
    if type(y) is np.ndarray and y.ndim == 1:
        return y
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    return labels


def are_whole(labels: NDArray[Any]) -> bool:
    """Tell whether labels are floats without a fraction, which are classes like integers."""
    return labels.dtype.kind == "f" and bool((np.trunc(labels) == labels).all())


def check_all_present(labels: Sequence[Any] | NDArray[Any]) -> None:
    """Refuse missing classes where NumPy would not, among objects and in lists."""
    if isinstance(labels, np.ndarray):
        labels = labels.tolist() if labels.dtype == object else ()
    for row, label in enumerate(labels):
        if not is_present(label):
            name = "None" if label is None else "NaN"
            raise ValueError(
                f"Input y contains {name} at row {row}, but every row needs a class. Leave rows "
                "without one out."
            )
