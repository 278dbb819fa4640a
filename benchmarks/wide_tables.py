"""Thousands of columns: seconds until there is a rule, limits that are kept, and memory.

    python -m benchmarks.wide_tables
    python -m benchmarks.wide_tables --time-limit 30

Each table is fitted in a process of its own, with one rule and a limit on time. Two columns out of
thousands make the target, and a third of its standard deviation is noise.
"""

import argparse
import csv
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.memory import peak_megabytes
from laconic import RuleBoostingRegressor

RESULTS = Path(__file__).parent / "results" / "wide_tables.csv"
TABLES = {
    "60 x 4,000 numbers": (60, 4_000, None),
    "200 x 20,000 numbers": (200, 20_000, None),
    "10,000 x 50,000 counts, 0.2 % stored": (10_000, 50_000, 0.002),
}


def draw(n_rows: int, n_columns: int, density: float | None, seed: int = 0) -> tuple[Any, Any]:
    """Draw a table of numbers, or one of counts as in texts, and a target."""
    rng = np.random.default_rng(seed)
    if density is None:
        X = rng.normal(size=(n_rows, n_columns))
        signal = 1.0 * (X[:, 0] > 0.3) * (X[:, 1] <= 0.5)
    else:
        n_stored = int(density * n_rows * n_columns)
        places = rng.integers(0, n_rows, n_stored), rng.integers(2, n_columns, n_stored)
        words = rng.random((2, n_rows)) < 0.3
        rows = [*places[:1], *map(np.flatnonzero, words)]
        columns = [
            places[1],
            *(np.full(len(np.flatnonzero(word)), k) for k, word in enumerate(words)),
        ]
        rows, columns = np.concatenate(rows), np.concatenate(columns)
        cells = rng.poisson(0.5, len(rows)) + 1.0
        X = sparse.coo_matrix((cells, (rows, columns)), shape=(n_rows, n_columns)).tocsr()
        signal = 1.0 * words.all(axis=0)
    return X, signal + signal.std() / 3 * rng.normal(size=n_rows)


def measure(table: str, time_limit: float) -> dict[str, Any]:
    """Fit one rule."""
    X, y = draw(*TABLES[table])
    before, started, cpu = peak_megabytes(), perf_counter(), process_time()
    told: list[float] = []
    model = RuleBoostingRegressor(1, time_limit=time_limit, node_limit=None)
    model.callback = lambda _: told.append(process_time() - cpu)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    [result] = model.search_results_ or [model.unfinished_search_]
    return {
        "table": table,
        "conditions": model.n_candidates_,
        "cpu_seconds": round(process_time() - cpu, 1),
        "cpu_seconds_before_the_search": round(told[0], 1) if told else "",
        "seconds": round(perf_counter() - started, 1),
        "search_seconds": round(result.seconds, 2),
        "limit_kept": round(result.seconds / time_limit, 2),
        "status": str(result.status),
        "nodes": result.counters["nodes"],
        "certain_share": round(result.approximation_ratio, 3),
        "megabytes_before": round(before),
        "megabytes_peak": round(peak_megabytes()),
        "rule": str(next(iter(model.ensemble_), "none")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time-limit", type=float, default=20, help="seconds of the search")
    options = parser.parse_args()
    results = []
    for table in TABLES:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
            results.append(executor.submit(measure, table, options.time_limit).result())
        for name, value in results[-1].items():
            print(f"{name:30} {value}", flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, results[0])
        writer.writeheader()
        writer.writerows(results)


if __name__ == "__main__":
    main()
