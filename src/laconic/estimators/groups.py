"""Groups of rows that belong together, such as the visits of one patient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from laconic._util.types import Indices
from laconic._util.words import parameter
from laconic.tables.columns import Rows, is_present
from laconic.tables.sources.sources import is_source

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


def read_groups(groups: Any, n_rows: int, counted: Rows = slice(None)) -> Indices:
    """Give numbers, from 0, to the groups of the rows that count; -1 to other rows.

    Examples
    --------
    >>> read_groups(["b", "a", "b"], 3).tolist()
    [0, 1, 0]
    """
    # An array of a list with a text and a number would hold texts.
    values = np.asarray(groups, dtype=object if isinstance(groups, list | tuple) else None)
    name = parameter("groups")
    if values.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one value per row of the table, shape ({n_rows},). Got shape "
            f"{values.shape}. Pass the group of each row."
        )
    is_masked = np.ma.getmaskarray(np.ma.asarray(groups)) if np.ma.is_masked(groups) else None
    # Dates in nanoseconds have no plain values.
    labels = list(values) if values.dtype.kind in "mM" else values.tolist()
    for row, label in enumerate(labels):
        if not is_present(label) or (is_masked is not None and is_masked[row]):
            raise ValueError(
                f"{name} must have a value in every row. Got a missing one at row {row}. Give rows "
                "without a group values of their own."
            )
    numbers, known = np.full(n_rows, -1), dict[Any, int]()
    places = np.arange(n_rows)[counted]
    # Not numpy.unique, which cannot sort values of different types.
    numbers[places] = [known.setdefault(labels[row], len(known)) for row in places.tolist()]
    if len(known) < 2:
        raise ValueError(
            f"{name} must name two groups or more. Got one for all rows. Pass the group of each "
            "row, or leave them out if all rows are independent."
        )
    return numbers


def groups_for(estimator: RuleBoosting, groups: Any, rows: Any = slice(None)) -> dict[str, Any]:
    """Return groups of some rows as an argument of `fit`; none if it holds no rows out."""
    return {"groups": groups[rows]} if groups is not None and _holds_out(estimator) else {}


def _holds_out(estimator: RuleBoosting) -> bool:
    return estimator.honest is not None or estimator._plain is not None


def check_use(estimator: RuleBoosting, X: Any, groups: ArrayLike | None) -> None:
    """Refuse groups that a fit has no use for."""
    if groups is None:
        return
    name = parameter("groups")
    if not _holds_out(estimator):
        raise ValueError(
            f"{name} need a fit that holds rows out: one with {parameter('honest', 0.5)}, or of an "
            f"estimator whose name ends in CV. Got {type(estimator).__name__} with "
            f"{parameter('honest', None)}, which fits everything to all rows. Leave them out; "
            "'chance', 'effects', 'stability' and 'conformalize' take them as well."
        )
    if is_source(X):
        raise TypeError(
            f"{name} need a table in memory, to keep rows together. Got one that is read in parts. "
            "Take a sample of whole groups."
        )
