"""Ten proven rules on a million rows: seconds, nodes, memory, and the planted rules found again.

    python -m benchmarks.million_rows
    python -m benchmarks.million_rows --rows 10000

The planted rules are worth less and less, and the penalty grows with the rows: it leaves a part of
every rule for a later round, so that all ten rounds have more structure than noise to find. Rules,
weights and penalty were chosen, among many, so that ten rounds can be proven;
docs/research/scaling.md says how, and what more noise does. `--r2` sets the noise.
"""

import argparse
import csv
import pickle
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from benchmarks.memory import peak_megabytes
from benchmarks.problems import AS_IN_THE_PAPER
from benchmarks.suites.planted import Planted, planted
from laconic import RuleBoostingRegressor

RESULTS = Path(__file__).parent / "results" / "million_rows.csv"
N_FEATURES = 20
L2_PER_ROW = 0.06
RECOVERED = 0.99  # Jaccard index of a planted rule's rows and those of a rule that was found
MEMORY_FACTOR = 4  # peak memory allowed, in sizes of the table as float64


def save(path: Path, n_rows: int, r2: float, seed: int) -> None:
    """Draw the table and leave it in a file."""
    path.write_bytes(pickle.dumps(planted(n_rows, N_FEATURES, r2=r2, seed=seed), protocol=5))


def draw(n_rows: int, r2: float, seed: int) -> Planted:
    """Draw the table in another process, so that this one's peak memory is that of the fit."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "planted"
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
            executor.submit(save, path, n_rows, r2, seed).result()
        with path.open("rb") as file:
            return pickle.load(file)


def jaccard(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Rows in both by rows in either."""
    return float((first & second).sum() / (first | second).sum())


def recoveries(drawn: Planted, model: RuleBoostingRegressor) -> list[float]:
    """Jaccard index of the best match of every planted rule."""
    found = [rule.query.covered(drawn.table) for rule in model.ensemble_]
    return [
        max(jaccard(rule.query.covered(drawn.table), covered) for covered in found)
        for rule in drawn.ensemble
    ]


def fit(drawn: Planted, time_limit: float) -> RuleBoostingRegressor:
    """Ten rules; the limit is there to come to an end, not to be reached."""
    model = RuleBoostingRegressor(
        **AS_IN_THE_PAPER,
        max_conditions=5,
        max_thresholds=8,
        l2_regularization=L2_PER_ROW * len(drawn.target),
        node_limit=None,
        time_limit=time_limit,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(drawn.table, drawn.target)


def report_rules(model: RuleBoostingRegressor) -> None:
    """One line per rule: how its search ended, what it took, what it says."""
    print(f"{'status':12} {'ratio':>6} {'nodes':>7} {'seconds':>8}  rule")
    for rule, result in zip(model.ensemble_, model.search_results_, strict=True):
        print(
            f"{result.status:12} {result.approximation_ratio:6.3f} "
            f"{result.counters['nodes']:7,} {result.seconds:8.2f}  {rule}"
        )


def write(results: dict[str, float]) -> None:
    """Keep the results, names in the first line and values in the second."""
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, results)
        writer.writeheader()
        writer.writerow(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--r2", type=float, default=0.999, help="explained by the planted rules")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=120, help="seconds per rule")
    options = parser.parse_args()

    drawn = draw(options.rows, options.r2, options.seed)
    before = peak_megabytes()
    started = process_time()
    model = fit(drawn, options.time_limit)
    seconds = process_time() - started
    peak = peak_megabytes()  # before anything below adds to it
    matches = recoveries(drawn, model)
    results = {
        "n_rows": options.rows,
        "r2_planted": options.r2,
        "r2_model": model.score(drawn.table, drawn.target),
        "n_terms": len(model.ensemble_),
        "n_proven": sum(result.is_optimal for result in model.search_results_),
        "n_recovered": sum(match >= RECOVERED for match in matches),
        "nodes": sum(result.counters["nodes"] for result in model.search_results_),
        "cpu_seconds": round(seconds, 2),
        "search_seconds": round(sum(result.seconds for result in model.search_results_), 2),
        "megabytes_before_fit": round(before),
        "megabytes_peak": round(peak),
        "megabytes_allowed": round(MEMORY_FACTOR * options.rows * N_FEATURES * 8 / 1e6),
    }
    report_rules(model)
    print("best match of each planted rule:", ", ".join(f"{match:.3f}" for match in matches))
    for name, value in results.items():
        print(f"{name:21} {value:,.4g}" if isinstance(value, float) else f"{name:21} {value:,}")
    if options == parser.parse_args([]):
        write(results)


if __name__ == "__main__":
    main()
