"""Which rows the rules cover, and how much they cover together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# A table of more rules does not fit a page.
MAX_RULES_IN_OVERLAP = 20


def summarize_coverage(
    covered: NDArray[np.bool_], target: NDArray[np.float64]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Count the rows of each rule, of each pair of rules, and of each number of rules.

    There is a dict per rule, with None for the mean target of no rows. In the dict of the overlap,
    ``n_rows_by_n_rules[k]`` rows are covered by exactly k rules, and ``pairs[i][j]`` rows by both
    of two rules, for the first rules only.
    """
    n_covering = covered.sum(axis=1)
    rules = [_summarize_rule(mask, n_covering, target) for mask in covered.T]
    first = covered[:, :MAX_RULES_IN_OVERLAP]
    overlap = {
        "n_rows_by_n_rules": np.bincount(n_covering).tolist(),
        "mean_target": float(target.mean()),
        "pairs": [first[mask].sum(axis=0).tolist() for mask in first.T],
    }
    return rules, overlap


def _summarize_rule(
    mask: NDArray[np.bool_], n_covering: NDArray[np.intp], target: NDArray[np.float64]
) -> dict[str, Any]:
    n_covered = int(mask.sum())
    return {
        "n_covered": n_covered,
        "share_covered": n_covered / len(mask),
        "n_covered_alone": int((n_covering[mask] == 1).sum()),
        "mean_target": float(target[mask].mean()) if n_covered else None,
        "mean_target_elsewhere": float(target[~mask].mean()) if n_covered < len(mask) else None,
    }
