"""Run the task in the given folder with realkd, the published implementation.

Runs in an environment that has it: `python -m benchmarks.peers.run_realkd FOLDER`.
"""

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from realkd.rules import GradientBoostingRuleEnsemble
from realkd.search import Context

from benchmarks.peers.exchange import Measurement, Stopwatch, read_task


def count_work(measurement):
    """Make every search add its counters to the measurement; realkd itself drops them."""
    search = Context.search

    def counting_search(context, *arguments, **options):
        query = search(context, *arguments, **options)
        measurement.n_conditions = context.n
        measurement.evaluations += context.created
        measurement.nodes += context.popped
        return query

    Context.search = counting_search


def main(folder):
    """Measure the fit and write the measurement."""
    task = read_task(folder)
    X, y = pd.DataFrame(task.columns), pd.Series(task.y)
    packages = ("realkd", "numpy", "pandas")
    versions = {"Python": platform.python_version(), **{name: version(name) for name in packages}}
    measurement = Measurement(versions=versions, evaluations=0, nodes=0)
    count_work(measurement)
    model = GradientBoostingRuleEnsemble(
        max_rules=0,
        loss=task.loss,
        reg=task.l2_regularization,
        max_col_attr=task.max_conditions_per_column,
    )
    with Stopwatch(measurement, folder, task.time_limit) as stopwatch:
        for _ in range(task.n_terms):
            model.max_rules += 1
            model.fit(X, y)
            measurement.weights.append(float(model[-1].y))
    measurement.seconds = stopwatch.seconds
    measurement.is_complete = True
    everywhere = np.ones(len(X), dtype=bool)
    measurement.covered = np.array([everywhere & np.asarray(rule.q(X)) for rule in model])
    measurement.write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
