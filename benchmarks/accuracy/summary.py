"""From measured points to numbers: scores within a size, areas, ranks and paired tests."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import wilcoxon

from benchmarks.accuracy.tables import CLASSIFICATION, REGRESSION

Floats = NDArray[np.float64]

BUDGETS = np.arange(2, 41)
"""Sizes, rules and conditions together, from one rule with one condition on."""
SHOWN_BUDGETS = (5, 10, 20, 40)
METRICS = {"auc": CLASSIFICATION, "log_loss": CLASSIFICATION, "r2": REGRESSION}
SCORES = {CLASSIFICATION: "auc", REGRESSION: "r2"}


def read_points(path: Path) -> pd.DataFrame:
    """Points of curves that were measured; failures are left out."""
    if not path.is_file():
        return pd.DataFrame(columns=["table", "method", "split", "step"])
    points = pd.read_csv(path)
    return points[points["step"] >= 0].reset_index(drop=True)


def complete_methods(points: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Those of the named methods that were measured on all tables there are."""
    n_tables = points.groupby("method")["table"].nunique()
    return [name for name in names if n_tables.get(name, 0) == points["table"].nunique()]


def common_splits(points: pd.DataFrame) -> pd.DataFrame:
    """Points of the splits of tables that all methods were measured on."""
    n_methods = points.groupby(["table", "split"])["method"].transform("nunique")
    return points[n_methods == points["method"].nunique()]


def read_failures(path: Path) -> pd.DataFrame:
    """Table, method and reason of what could not be measured."""
    points = pd.read_csv(path)
    failed = points[points["step"] < 0]
    return failed[["table", "method", "note"]].drop_duplicates(["table", "method"])


def scores_within(sizes: ArrayLike, scores: ArrayLike, budgets: ArrayLike = BUDGETS) -> Floats:
    """Score of the largest model within each budget.

    Parameters
    ----------
    sizes, scores : array-like of shape (n_models,)
        In the order in which the models were asked for; the first one has size 0. Of models of
        the same size the last one counts.
    budgets : array-like of shape (n_budgets,)

    Examples
    --------
    >>> scores_within([0, 4, 9], [0.0, 0.5, 0.7], budgets=[2, 4, 8, 10])
    array([0. , 0.5, 0.5, 0.7])
    """
    order = np.argsort(np.asarray(sizes), kind="stable")
    ordered = np.asarray(sizes, float)[order]
    last = np.searchsorted(ordered, np.asarray(budgets), side="right") - 1
    return np.asarray(scores, float)[order][last]


def curves(points: pd.DataFrame, metric: str, *, is_lenient: bool = False) -> pd.DataFrame:
    """Mean over the splits of the scores within every budget.

    One row per table and method, one column per budget. Methods without sizes have their one score
    everywhere, and a method that found no model has the score of the constant. With `is_lenient`,
    one leaf of every tree is a constant, which has no size.
    """
    own = points[points[metric].notna()].copy()
    own["size"] = own["n_terms"] + own["n_conditions"] - is_lenient * own["n_spared"]
    found = {}
    for key, group in own.groupby(["table", "method", "split"], sort=False):
        if group["size"].isna().any():
            found[key] = np.full(len(BUDGETS), group[metric].iloc[-1])
        else:
            found[key] = scores_within(group["size"], group[metric])
    frame = pd.DataFrame.from_dict(found, orient="index", columns=BUDGETS)
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["table", "method", "split"])
    return frame.groupby(level=["table", "method"]).mean()


def areas(points: pd.DataFrame, metric: str, *, is_lenient: bool = False) -> pd.DataFrame:
    """Mean height of the curves: a row per table, a column per method."""
    return curves(points, metric, is_lenient=is_lenient).mean(axis=1).unstack("method")


def comparable_curves(points: pd.DataFrame, *, is_lenient: bool = False) -> pd.DataFrame:
    """Curves of all tables on one scale: R², and twice the area under the ROC curve less one.

    Both are 0 for a constant and 1 at best.
    """
    parts = []
    if points["auc"].notna().any():
        parts.append(2 * curves(points, "auc", is_lenient=is_lenient) - 1)
    if points["r2"].notna().any():
        parts.append(curves(points, "r2", is_lenient=is_lenient))
    return pd.concat(parts)


def comparable_areas(points: pd.DataFrame, *, is_lenient: bool = False) -> pd.DataFrame:
    """Mean height of the curves on one scale: a row per table, a column per method."""
    return comparable_curves(points, is_lenient=is_lenient).mean(axis=1).unstack("method")


def comparable_scores(points: pd.DataFrame, budget: int) -> pd.DataFrame:
    """Scores within a size on one scale: a row per table, a column per method."""
    return comparable_curves(points)[budget].unstack("method")


def average_ranks(scores: pd.DataFrame) -> pd.Series:
    """Mean rank of every column, 1 being best, over the rows where all columns have a value.

    Examples
    --------
    >>> average_ranks(pd.DataFrame({"a": [3.0, 2.0], "b": [1.0, 2.0]})).to_dict()
    {'a': 1.25, 'b': 1.75}
    """
    return scores.dropna().rank(axis=1, ascending=False).mean().sort_values()


def paired(scores: pd.DataFrame, better: str, worse: str) -> dict[str, float]:
    """Wins, losses, mean difference and Wilcoxon's test, two-sided, over the tables of both."""
    differences = (scores[better] - scores[worse]).dropna()
    is_tied = differences.abs() < 1e-9
    p = 1.0 if is_tied.all() else float(wilcoxon(differences[~is_tied]).pvalue)
    return {
        "wins": int((differences[~is_tied] > 0).sum()),
        "losses": int((differences[~is_tied] < 0).sum()),
        "mean": float(differences.mean()),
        "p": p,
    }


def by_rules(points: pd.DataFrame, steps: Sequence[int]) -> pd.DataFrame:
    """Mean scores and conditions of models with given numbers of rules.

    A learner that found fewer rules keeps what it has. One row per method and step; means are over
    splits, then over tables.
    """
    rows = []
    for (table, method, split), group in points.groupby(["table", "method", "split"], sort=False):
        for step in steps:
            within = group[(group["step"] <= step) & (group["step"] > 0)]
            if len(within):
                last = within.loc[within["step"].idxmax()]
                kept = {name: last[name] for name in (*METRICS, "n_conditions")}
                rows.append({"table": table, "method": method, "split": split, "step": step} | kept)
    frame = pd.DataFrame(rows).drop(columns="split")
    by_table = frame.groupby(["table", "method", "step"]).mean()
    return by_table.groupby(level=["method", "step"]).mean()


def distances(points: pd.DataFrame, name: str, ceiling: str) -> pd.Series:
    """By how much a method at the largest size is below another one, on the splits of both.

    One entry per table, on one scale.
    """
    both = common_splits(points[points["method"].isin([name, ceiling])])
    scores = comparable_scores(both, BUDGETS[-1])
    return scores[ceiling] - scores[name]


def single_models(points: pd.DataFrame) -> pd.DataFrame:
    """Return the last model of every table, method and split, with its score on one scale."""
    last = points.groupby(["table", "method", "split"], sort=False).tail(1).copy()
    last["score"] = last["r2"].fillna(2 * last["auc"] - 1)
    last["size"] = last["n_terms"] + last["n_conditions"]
    return last
