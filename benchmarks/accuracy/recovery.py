"""Whether a model is like the truth: a rule for a rule, a slope for a line, nothing for noise.

    python -m benchmarks.accuracy.recovery
    python -m benchmarks.accuracy.recovery --rows 200 1000 --seeds 20 --jobs 2

Tables of ten independent features, uniform between 0 and 1, with the default settings and
``n_terms="auto"``. What was found goes to benchmarks/results/recovery.csv; a run that is stopped
goes on where it was.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from benchmarks.pages import to_markdown
from benchmarks.paper.settings import resume
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.terms.rules import Rule, RuleEnsemble

PATH = Path(__file__).parents[1] / "results" / "recovery.csv"
TASKS, TRUTHS = ("regression", "classification"), ("noise", "rule", "line")
ROWS, N_SEEDS, N_FEATURES = (200, 1_000, 5_000, 20_000), 100, 10
COLUMNS = ("task", "truth", "n_rows", "seed", "n_rules", "n_slopes", "n_conditions", "is_true")
EFFECT = {"regression": 1.0, "classification": 2.0}
"""Of the rule, in standard deviations of the noise or in log odds."""
STEEPNESS = 1.0
"""Of the line, in the same units per standard deviation of its feature."""


def draw(task: str, truth: str, n_rows: int, seed: int) -> tuple[pd.DataFrame, NDArray[Any]]:
    """One table: the rule is ``x0 > 0.5 & x1 > 0.5``, the line is in x0."""
    random = np.random.default_rng([seed, n_rows, TRUTHS.index(truth)])
    X = random.random((n_rows, N_FEATURES))
    signal = {
        "noise": np.zeros(n_rows),
        "rule": EFFECT[task] * ((X[:, 0] > 0.5) & (X[:, 1] > 0.5)),
        "line": STEEPNESS * np.sqrt(12) * (X[:, 0] - 0.5),
    }[truth]
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(N_FEATURES)])
    if task == "regression":
        return table, signal + random.normal(size=n_rows)
    return table, (random.random(n_rows) < expit(signal - signal.mean())).astype(int)


def is_true(ensemble: RuleEnsemble, truth: str) -> bool:
    """Whether a model has one term of the kind and the features of the truth, or none for noise."""
    if truth == "noise":
        return not ensemble.n_terms
    if ensemble.n_terms != 1:
        return False
    term = ensemble[0]
    if truth == "line":
        return not isinstance(term, Rule) and term.features == ("x0",)
    return isinstance(term, Rule) and sorted(term.features) == ["x0", "x1"]


def measure_one(task: str, truth: str, n_rows: int, seed: int) -> Iterator[dict[str, Any]]:
    """Fit one model, and yield what it has."""
    X, y = draw(task, truth, n_rows, seed)
    make = RuleBoostingRegressor if task == "regression" else RuleBoostingClassifier
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ensemble = make(n_terms="auto").fit(X, y).ensemble_
    yield {
        "task": task,
        "truth": truth,
        "n_rows": n_rows,
        "seed": seed,
        "n_rules": len(ensemble.rules),
        "n_slopes": len(ensemble.slopes),
        "n_conditions": ensemble.n_conditions,
        "is_true": int(is_true(ensemble, truth)),
    }


def to_table(rows: pd.DataFrame) -> str:
    """Format counts of seeds, a line per task, truth and number of rows."""
    rows = rows.assign(n_terms=rows["n_rules"] + rows["n_slopes"])
    lines = []
    groups = rows.groupby(["truth", "task", "n_rows"])
    order = sorted(groups.groups, key=lambda key: (TRUTHS.index(key[0]), TASKS.index(key[1]), key))
    for truth, task, n_rows in order:
        own = groups.get_group((truth, task, n_rows))
        numbers = [own["is_true"].sum(), *((own["n_terms"] == k).sum() for k in (0, 1, 2))]
        numbers += [(own["n_terms"] > 2).sum(), own["n_rules"].sum(), own["n_slopes"].sum()]
        lines.append([truth, task, f"{n_rows:,}", str(len(own)), *map(str, numbers)])
    head = ["truth", "task", "rows", "tables", "as the truth", "no term", "one", "two", "more"]
    return to_markdown([*head, "rules in all", "slopes in all"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    keys = [
        (task, truth, n_rows, seed)
        for n_rows in arguments.rows
        for task in TASKS
        for truth in TRUTHS
        for seed in range(arguments.seeds)
    ]
    print(to_table(pd.DataFrame(resume(PATH, keys, measure_one, COLUMNS, arguments.jobs))))


if __name__ == "__main__":
    main()
