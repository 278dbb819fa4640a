"""Run the task in the given folder with the exact search of fastogb.

Runs in an environment that has it: `python -m benchmarks.peers.run_fastogb FOLDER`.
"""

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from fastogb import GeneralRuleBoostingEstimator

from benchmarks.peers.exchange import Measurement, Stopwatch, read_task


def make_model(task, categorical, n_terms):
    """Make an estimator with the paper's objective, weights and search."""
    return GeneralRuleBoostingEstimator(
        num_rules=n_terms,
        loss=task.loss,
        reg=task.l2_regularization,
        search="exhaustive",
        max_col_attr=task.max_conditions_per_column,
        search_params={"feature_names": list(task.columns), "categorical": categorical},
    )


def main(folder):
    """Measure the fit and write the measurement."""
    task = read_task(folder)
    columns = task.columns
    categorical = [name for name, column in columns.items() if column.dtype.kind == "U"]
    # An array of floats is faster than one of objects, where there is nothing else to hold.
    X = np.empty((len(task.y), len(columns)), dtype=object if categorical else float)
    for position, column in enumerate(columns.values()):
        X[:, position] = column
    packages = ("fastogb", "numba", "numpy")
    versions = {"Python": platform.python_version(), **{name: version(name) for name in packages}}
    measurement = Measurement(versions=versions)
    with Stopwatch(measurement, folder, task.time_limit):
        # The second rule compiles what the first one does not need yet.
        make_model(task, categorical, n_terms=2).fit(X, task.y)
    model = make_model(task, categorical, task.n_terms)
    with Stopwatch(measurement, folder, task.time_limit) as stopwatch:
        model.fit(X, task.y)
    measurement.seconds = stopwatch.seconds
    measurement.is_complete = True
    measurement.n_conditions = len(model.encoder_.conditions_)
    measurement.weights = [float(rule.y) for rule in model.rules_]
    measurement.covered = model.training_rule_matrix_.T.astype(bool)
    measurement.write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
