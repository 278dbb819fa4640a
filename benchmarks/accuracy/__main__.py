"""How accurate small rule ensembles are, beside other small models.

    python -m benchmarks.accuracy            # all of the below
    python -m benchmarks.accuracy compare    # laconic and other learners, all tables
    python -m benchmarks.accuracy choose     # settings, on the half of the tables meant for that
    python -m benchmarks.accuracy paper      # against the paper's rules, on its problems
    python -m benchmarks.accuracy document   # tables and pictures of docs/accuracy.md

What was measured is kept in benchmarks/results: a run that is stopped goes on where it was.
"""

import argparse
from pathlib import Path

from benchmarks.accuracy import tables
from benchmarks.accuracy.competitors import COMPETITORS
from benchmarks.accuracy.measure import measure_all
from benchmarks.accuracy.methods import VARIANTS, settings_to_choose_from

RESULTS = Path(__file__).parents[1] / "results"


def main() -> None:
    arguments = _parsed()
    print(arguments)
    names = arguments.tables or tables.installed_tables(arguments.datasets)
    methods = [*VARIANTS, *COMPETITORS]
    measure_all(RESULTS / "accuracy.csv", [m for m in methods if not arguments.methods or m.name in arguments.methods], names, arguments.splits, n_jobs=arguments.jobs)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", nargs="+")
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--datasets", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
