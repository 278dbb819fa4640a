"""What rules are about: how many rows each one covers, and the target there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from laconic import _core
from laconic._util.types import Bools, Floats


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
    covered_rows: Iterable[Bools],
    y: Floats | Bools,
    sample_weight: Floats | None = None,
) -> list[RuleCoverage]:
    """Look at the rows that each rule covers, given as masks, and at the target there.

    Examples
    --------
    >>> covered = np.array([False, True, True, True])
    >>> rule_coverages([covered], np.array([0.0, 3.0, 3.0, 6.0]))
    [RuleCoverage(coverage=3.0, share=0.75, mean_target=4.0)]
    """
    weights = np.ones(len(y))
    if sample_weight is not None:
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
    weighted_targets = np.ascontiguousarray(weights * y)
    total = float(weights.sum())
    coverages = []
    for covered in covered_rows:
        # Not with @, which starts threads that cost more than they save.
        covered = np.ascontiguousarray(covered)
        coverage = _core.sum_covered(covered, weights)
        sum_targets = _core.sum_covered(covered, weighted_targets)
        mean = sum_targets / coverage if coverage else float("nan")
        coverages.append(RuleCoverage(coverage, coverage / total, mean))
    return coverages
