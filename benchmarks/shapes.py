"""Default fits of tables of several shapes: CPU seconds, threads and memory.

    python -m benchmarks.shapes
    python -m benchmarks.shapes --shapes 1000000x10 --threads 1 2

Normal numbers, two rules of three and two conditions, and noise. Each fit has a process of its own,
so that its peak memory is its own; what was there before the table was drawn is not counted.
Seconds of the calling thread are about those that pass where no other program runs: other threads
work meanwhile.
"""

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from time import process_time, thread_time

# Before NumPy: products of matrices in threads would be counted as ours.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks.million_rows import peak_megabytes
from laconic import RuleBoostingRegressor

SHAPES = ("1000x30", "20000x20", "200000x8", "1000000x10")


def measure(shape: str, n_jobs: int) -> str:
    """Fit one table; returns a line of the report."""
    n_rows, n_columns = map(int, shape.split("x"))
    rng = np.random.default_rng(0)
    small = rng.normal(size=(200, 3))
    RuleBoostingRegressor(n_terms=2).fit(small, rng.normal(size=200))  # imports what a fit needs
    before = peak_megabytes()
    X = np.empty((n_rows, n_columns))
    for column in range(n_columns):  # without a second copy of all of them
        X[:, column] = rng.normal(size=n_rows)
    y = 1.0 * ((X[:, 0] > 0.5) & (X[:, n_columns // 3] < 0.2) & (X[:, 7] > -0.5))
    y += 0.7 * ((X[:, 1] > 0) & (X[:, -1] < 0.5)) + rng.normal(size=n_rows)
    started, started_here = process_time(), thread_time()
    model = RuleBoostingRegressor(n_jobs=n_jobs).fit(X, y)
    seconds, here = process_time() - started, thread_time() - started_here
    n_proven = sum(result.is_optimal for result in model.search_results_)
    memory = (peak_megabytes() - before) / (X.nbytes / 1e6)
    return (
        f"| {n_rows:,} × {n_columns} | {n_jobs} | {seconds:.2f} | {here:.2f} "
        f"| {n_proven} of {len(model.search_results_)} | {memory:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    print("| table | threads | CPU seconds | of the calling thread | proven | memory, in tables |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for shape in options.shapes:
        for n_jobs in options.threads:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
                print(executor.submit(measure, shape, n_jobs).result(), flush=True)


if __name__ == "__main__":
    main()
