"""Conditions that do nothing: those that remove less than 1 % of the rows of their rule.

    python -m benchmarks.accuracy.idle
    python -m benchmarks.accuracy.idle --tables titanic_paper boston --jobs 2

Ten terms on the training rows of every table and split. A condition removes the rows that the other
conditions of its rule cover and that it does not cover itself. Counts per table go to
benchmarks/results/idle_conditions.csv; a run that is stopped goes on where it was.
"""

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.methods import JOINT, LACONIC, MAX_RULES, RULES_ONLY, VARIANTS, Variant
from benchmarks.accuracy.tables import installed_tables, load_split
from benchmarks.pages import to_markdown
from benchmarks.paper.settings import resume
from laconic.terms.rules import Rule, RuleEnsemble

PATH = Path(__file__).parents[1] / "results" / "idle_conditions.csv"
SHARES = {"n_idle": 0.01, "n_nearly_idle": 0.05}
COLUMNS = ("table", "method", "split", "n_rules", "n_slopes", "n_conditions", *SHARES)
N_SPLITS = 3


def removed_shares(rule: Rule, X: pd.DataFrame) -> list[float]:
    """Share of the rows which the other conditions cover that each condition removes.

    Examples
    --------
    >>> from laconic.terms.parsing import parse_query
    >>> X = pd.DataFrame({"x": [1, 2, 3, 4], "y": [1, 1, 1, 2]})
    >>> removed_shares(Rule(parse_query("x > 1 & y <= 1", ["x", "y"]), 1.0), X)
    [0.3333333333333333, 0.3333333333333333]
    """
    covered = np.array([condition.covered(X) for condition in rule.query])
    shares = []
    for i in range(len(covered)):
        others = np.delete(covered, i, axis=0).all(axis=0)
        shares.append(float((others & ~covered[i]).sum() / max(others.sum(), 1)))
    return shares


def count(ensemble: RuleEnsemble, X: pd.DataFrame) -> dict[str, int]:
    """Rules, slopes, conditions of rules, and those that remove hardly a row."""
    shares = [share for rule in ensemble.rules for share in removed_shares(rule, X)]
    return {
        "n_rules": len(ensemble.rules),
        "n_slopes": len(ensemble.slopes),
        "n_conditions": len(shares),
        **{name: sum(share < limit for share in shares) for name, limit in SHARES.items()},
    }


def measure_one(
    variants: dict[str, Variant], table: str, method: str, split: int
) -> Iterator[dict[str, Any]]:
    """Fit one model, and yield its counts."""
    loaded = load_split(table, split)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = variants[method]._estimator(loaded, MAX_RULES).fit(loaded.X, loaded.y)
    yield {"table": table, "method": method, "split": split} | count(model.ensemble_, loaded.X)


def to_table(rows: pd.DataFrame) -> str:
    """Format sums over tables and splits, a line per method."""
    sums = rows.groupby("method", sort=False)[list(COLUMNS[3:])].sum()
    n_models = rows.groupby("method", sort=False).size()
    lines = []
    for name, own in sums.iterrows():
        line = [str(name), *(f"{own[key] / n_models[name]:.1f}" for key in COLUMNS[3:6])]
        counts = (f"{own[key]} ({own[key] / own['n_conditions']:.1%})" for key in SHARES)
        lines.append([*line, *counts])
    head = ["ten terms of", "rules", "slopes", "conditions of rules"]
    return to_markdown([*head, *(f"remove < {limit:.0%}" for limit in SHARES.values())], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", help="all by default")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    variants = {v.name: v for v in VARIANTS if v.name in (JOINT, RULES_ONLY, LACONIC)}
    names = arguments.tables or installed_tables()
    keys = [(t, m, s) for m in reversed(variants) for s in range(arguments.splits) for t in names]
    rows = resume(PATH, keys, partial(measure_one, variants), COLUMNS, arguments.jobs)
    print(to_table(pd.DataFrame(rows)))


if __name__ == "__main__":
    main()
