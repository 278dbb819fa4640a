"""Targets as they come from the user: their shape, and gaps in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from laconic.columns import is_present

__all__ = ["as_1d", "check_all_present", "check_discrete"]


def as_1d(y: ArrayLike) -> NDArray[Any]:
    """Convert a target to an array of one dimension."""
    # scikit-learn takes as long to find out that there is nothing to do as a rule takes to fit.
    if type(y) is np.ndarray and y.ndim == 1:
        return y
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    return labels


def check_discrete(labels: NDArray[Any]) -> None:
    """Refuse labels that are no classes, and say what learns numbers with a fraction."""
    # scikit-learn's check of whole numbers takes as long as a rule takes to fit.
    if labels.dtype.kind == "f" and (np.trunc(labels) == labels).all():
        return
    try:
        check_classification_targets(labels)
    except ValueError as error:
        if labels.dtype.kind != "f":
            raise
        raise ValueError(f"{error} Use RuleBoostingRegressor to predict numbers.") from None


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
