"""Which rows the rules cover, and how much they cover together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.explain.shapley import distinct_patterns

# A table of more rules does not fit a page.
MAX_RULES_IN_OVERLAP = 20
# More groups of rows would make a page large.
MAX_GROUPS = 1000


def summarize_coverage(
    covered: NDArray[np.bool_],
    target: NDArray[np.float64],
    targets: Sequence[NDArray[np.float64]] | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Count the rows of each rule, of each pair of rules, and of each number of rules.

    There is a dict per rule, with None for the mean target of no rows. In the dict of the overlap,
    ``n_rows_by_n_rules[k]`` rows are covered by exactly k rules, and ``pairs[i][j]`` rows by both
    of two rules, for the first rules only. `targets` has one for each rule, where they are not all
    the same.
    """
    n_covering = covered.sum(axis=1)
    targets = [target] * covered.shape[1] if targets is None else targets
    pairs = zip(covered.T, targets, strict=True)
    rules = [_summarize_rule(mask, n_covering, each) for mask, each in pairs]
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


def group_rows(
    covered: NDArray[np.bool_],
    target: NDArray[np.float64],
    *,
    min_rows: int = 1,
    n_classes: int = 0,
) -> dict[str, Any]:
    """Group the rows to which exactly the same rules apply, the largest groups first.

    Groups of fewer rows than asked for, and those beyond `MAX_GROUPS`, are left out:
    ``max_rows_left_out`` is the largest number of rows of one of them, 0 if there are none. Of
    three or more classes, groups have the ``counts``.
    """
    patterns, numbers, counts = distinct_patterns(covered)
    means = np.bincount(numbers, weights=target, minlength=len(counts)) / counts
    by_class = np.zeros((len(counts), n_classes), dtype=np.intp)
    if n_classes:
        np.add.at(by_class, (numbers, target.astype(np.intp)), 1)
    order = np.argsort(-counts, kind="stable")
    is_listed = (counts[order] >= min_rows) & (np.arange(len(order)) < MAX_GROUPS)
    return {
        "groups": [
            {
                "rules": (np.flatnonzero(patterns[group]) + 1).tolist(),
                "n_rows": int(counts[group]),
                "mean_target": float(means[group]),
                **({"counts": by_class[group].tolist()} if n_classes else {}),
            }
            for group in order[is_listed].tolist()
        ],
        "max_rows_left_out": int(counts[order][~is_listed].max(initial=0)),
    }
