"""What rules are about: how many rows each one covers, and the target there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from laconic.rules import RuleEnsemble

if TYPE_CHECKING:
    from laconic.tables import Rows, Table

__all__ = ["RuleCoverage", "rule_coverages"]


@dataclass(frozen=True, slots=True)
class RuleCoverage:
    """The training rows of a rule."""

    coverage: float
    """How many rows it covers, or their total weight if there are weights."""
    share: float
    """The same as a share of all rows."""
    mean_target: float
    """Mean of the target in these rows; for classes, the share of the second class. NaN where the
    rule covers nothing."""


def rule_coverages(
    ensemble: RuleEnsemble,
    table: Table,
    y: NDArray[np.float64] | NDArray[np.bool_],
    sample_weight: NDArray[np.float64] | None = None,
    counted: Rows = slice(None),
) -> list[RuleCoverage]:
    """Look at the rows that each rule covers.

    Parameters
    ----------
    ensemble : RuleEnsemble
        The rules.
    table : Table
        All rows.
    y : ndarray of shape (n_counted,)
        The target.
    sample_weight : ndarray of shape (n_counted,), default=None
        Weights of the rows; None weighs all alike.
    counted : slice or ndarray, default=slice(None)
        Which rows of the table have a target and a weight.

    Returns
    -------
    coverages : list of RuleCoverage
        One per rule.

    Examples
    --------
    >>> from laconic import Proposition, Query, Rule
    >>> from laconic.tables import as_table
    >>> ensemble = RuleEnsemble((Rule(Query((Proposition("x0", ">", 1),)), 0.5),))
    >>> rule_coverages(ensemble, as_table([[1], [2], [3], [4]]), np.array([0.0, 3.0, 3.0, 6.0]))
    [RuleCoverage(coverage=3.0, share=0.75, mean_target=4.0)]
    """
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    weighted_targets = weights * y
    total = float(weights.sum())
    coverages = []
    for covered in ensemble.covered(table)[counted].T:
        coverage = float(weights @ covered)
        mean = float(weighted_targets @ covered) / coverage if coverage else float("nan")
        coverages.append(RuleCoverage(coverage, coverage / total, mean))
    return coverages
