"""Run the task in the given folder with laconic.

Runs in the environment of the comparison:
`python -m benchmarks.peers.run_laconic FOLDER BRANCHING`.
"""

import platform
import statistics
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.peers.exchange import Measurement, Stopwatch, read_task
from benchmarks.problems import AS_IN_THE_PAPER, paper_conditions
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.search.optimal import search_optimal

# The shorter a fit, the more it varies: the median of many fits of milliseconds, few of seconds.
MAX_REPEATS = 51
SECONDS_FOR_REPEATS = 3.0


def make_model(task, branching):
    """Make an estimator with the paper's settings; it derives the paper's conditions itself."""
    estimator = RuleBoostingClassifier if task.loss == "logistic" else RuleBoostingRegressor
    return estimator(
        task.n_terms,
        **AS_IN_THE_PAPER,
        conditions=partial(paper_conditions, limits=task.max_conditions_per_column),
        l2_regularization=task.l2_regularization,
        search=partial(search_optimal, branching=branching),
        max_conditions=None,
        node_limit=None,
    )


def main(folder, branching):
    """Measure the fit and write the measurement."""
    task = read_task(folder)
    X = pd.DataFrame(task.columns)
    packages = ("laconic", "numpy", "pandas", "scikit-learn")
    versions = {"Python": platform.python_version(), **{name: version(name) for name in packages}}
    measurement = Measurement(
        versions=versions, n_conditions=len(paper_conditions(X, task.max_conditions_per_column))
    )
    model = make_model(task, branching)
    # Pays for what only the first fit of a process costs. Both ends: two classes are needed.
    few = np.argsort(task.y)[[*range(10), *range(-10, 0)]]
    model.fit(X.iloc[few], task.y[few])
    seconds = []
    while len(seconds) < MAX_REPEATS and sum(seconds) < SECONDS_FOR_REPEATS:
        with Stopwatch(measurement, folder, task.time_limit) as stopwatch:
            model.fit(X, task.y)
        seconds.append(stopwatch.seconds)
    results = model.search_results_
    measurement.seconds = statistics.median(seconds)
    measurement.is_complete = all(result.is_optimal for result in results)
    measurement.evaluations = sum(result.counters["evaluations"] for result in results)
    measurement.nodes = sum(result.counters["nodes"] for result in results)
    measurement.weights = [rule.weight for rule in model.ensemble_]
    measurement.covered = model.ensemble_.covered(X).T
    measurement.write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), branching=sys.argv[2])
