"""Ten proven rules on long tables of numbers: seconds, tables, sets looked at and memory.

    python -m benchmarks.long_tables
    python -m benchmarks.long_tables --rows 100000

Ten columns of normal numbers and one rule of three conditions, hidden in noise of the same size:
all other rules say nothing, and hardly two rows are alike. Fifteen thresholds, three conditions,
one thread. The table is drawn in this process; its own memory is not counted.
"""

import argparse
from time import process_time

import numpy as np

from benchmarks.memory import peak_megabytes
from laconic import RuleBoostingRegressor

N_FEATURES = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| rows | CPU seconds | proven | tables | rows added to them | sets checked | memory |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for n_rows in options.rows:
        rng = np.random.default_rng(options.seed)
        X = rng.normal(size=(n_rows, N_FEATURES))
        y = 1.0 * ((X[:, 0] > 0.5) & (X[:, 3] < 0.2) & (X[:, 7] > -0.5))
        y += rng.normal(size=n_rows)
        before = peak_megabytes()
        started = process_time()
        model = RuleBoostingRegressor(n_terms=10, max_thresholds=15, max_conditions=3, n_jobs=1)
        model.fit(X, y)
        seconds = process_time() - started
        results = model.search_results_
        sums = [
            sum(result.counters[name] for result in results)
            for name in ("tables", "table_rows", "evaluations")
        ]
        n_proven = sum(result.is_optimal for result in results)
        share = (peak_megabytes() - before) / (X.nbytes / 1e6)
        print(
            f"| {n_rows:,} | {seconds:.1f} | {n_proven} of {len(results)} | {sums[0]:,} "
            f"| {sums[1]:,} | {sums[2]:,} | {share:.1f} times the table |",
            flush=True,
        )


if __name__ == "__main__":
    main()
