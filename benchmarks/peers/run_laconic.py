"""Run the task in the given folder with laconic.

Runs in the environment of the comparison: `python -m benchmarks.peers.run_laconic FOLDER BOUND`.
"""

import platform
import statistics
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.peers.exchange import Measurement, Stopwatch, read_task
from benchmarks.problems import paper_propositions
from laconic.boosting import boost
from laconic.losses import get_loss
from laconic.propositions import CandidatePropositions
from laconic.tables import as_table

MOST_REPEATS = 5
# Enough for a median of five fits of two seconds; longer ones vary less.
SECONDS_FOR_REPEATS = 10.0


def fit(task, X, y, bound):
    """Find the rules, with their certificates."""
    table = as_table(X)
    propositions = paper_propositions(X, task.max_conditions_per_column)
    extents = np.array([proposition.covered(table) for proposition in propositions])
    rounds = boost(
        CandidatePropositions(tuple(propositions), extents),
        y,
        get_loss(task.loss),
        np.zeros(len(y)),
        n_rules=task.n_rules,
        l2_regularization=task.l2_regularization,
        search_options={"bound": bound},
    )
    return list(rounds)


def main(folder, bound):
    """Measure the fit and write the measurement."""
    task = read_task(folder)
    X = pd.DataFrame(task.columns)
    packages = ("laconic", "numpy", "pandas", "scikit-learn")
    versions = {"Python": platform.python_version(), **{name: version(name) for name in packages}}
    measurement = Measurement(
        versions=versions, n_conditions=len(paper_propositions(X, task.max_conditions_per_column))
    )
    # Pays for what only the first fit of a process costs.
    fit(task, X[:20], task.y[:20], bound)
    seconds = []
    while len(seconds) < MOST_REPEATS and sum(seconds) < SECONDS_FOR_REPEATS:
        with Stopwatch(measurement, folder, task.time_limit) as stopwatch:
            rounds = fit(task, X, task.y, bound)
        seconds.append(stopwatch.seconds)
    measurement.seconds = statistics.median(seconds)
    measurement.is_complete = all(result.is_optimal for _, result in rounds)
    measurement.evaluations = sum(result.counters["evaluations"] for _, result in rounds)
    measurement.nodes = sum(result.counters["nodes"] for _, result in rounds)
    measurement.weights = [rule.weight for rule, _ in rounds]
    measurement.covered = np.array([rule.query.covered(X) for rule, _ in rounds])
    measurement.write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), bound=sys.argv[2])
