"""Twenty million rows of twelve mixed columns, read in parts: seconds, memory and ten proven rules.

    python -m benchmarks.large_tables
    python -m benchmarks.large_tables --rows 1000000 --folder parts

A seeded generator writes Parquet files of a million rows each. Models are fitted to the first ones
and to all of them, each in a process of its own, so that their peaks of memory are their own. The
model of the first million rows is compared, to the last bit, with that of the same rows in memory.
"""

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import polars as pl

from benchmarks.memory import peak_megabytes
from laconic import RuleBoostingClassifier, scan

RESULTS = Path(__file__).parent / "results" / "large_tables.csv"
ROWS_PER_FILE = 1_000_000
TARGET = "churn"


def make_part(number: int, n_rows: int, seed: int = 0) -> pl.DataFrame:
    """Generate customers of a bank: twelve dependent columns, some with missing values."""
    rng = np.random.default_rng([seed, number])
    wealth, age = rng.normal(size=n_rows), np.round(18 + 60 * rng.beta(2, 2.5, n_rows))
    balance = np.exp(7 + 1.1 * wealth) * (rng.random(n_rows) > 0.1)
    tenure = np.minimum(rng.geometric(1 / 60, n_rows), 12 * (age - 17))
    active = rng.random(n_rows) < np.where(tenure > 24, 0.8, 0.5)
    products = 1 + rng.binomial(3, np.where(wealth > 0, 0.5, 0.2))
    score = np.round(600 + 60 * wealth + 5 * rng.normal(size=n_rows))
    by_phone = rng.random(n_rows) < 0.3
    frame = pl.DataFrame(
        {
            "age": age.astype(np.int64),
            "income": np.round(np.exp(10.2 + 0.5 * wealth), -2),
            "balance": balance,
            "tenure": tenure.astype(np.int64),
            "products": products,
            "score": pl.Series(np.where(rng.random(n_rows) < 0.05, np.nan, score)),
            "contact": pl.Series(np.where(active, 30.0 * rng.integers(0, 3, n_rows), np.nan)),
            "segment": np.array(["basic", "plus", "gold"])[np.searchsorted([0.3, 1.3], wealth)],
            "region": rng.choice(["north", "south", "west"], n_rows, p=[0.5, 0.3, 0.2]),
            "channel": np.where(age < 35, "app", np.where(by_phone, "phone", "branch")),
            "active": active,
            "card": products > 1,
        }
    )
    frame = frame.with_columns(pl.col("score", "contact").fill_nan(None))
    log_odds = (
        -1.5
        + 1.2 * ((age < 30) & ~active)
        + 0.9 * ((balance == 0) & (tenure <= 12) & (products == 1))
        - 0.8 * ((score > 640) & (products > 2))
        + 0.7 * ((frame["region"] == "west").to_numpy() & (age > 50))
        + 0.5 * (by_phone & (tenure > 60))
    )
    churn = rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))
    return frame.with_columns(pl.Series(TARGET, np.where(churn, "yes", "no")))


def write_parts(folder: Path, n_rows: int) -> None:
    """Write the files that are not there yet."""
    for number in range(-(-n_rows // ROWS_PER_FILE)):
        path = folder / f"part-{number:04}.parquet"
        if not path.exists():
            make_part(number, min(ROWS_PER_FILE, n_rows)).write_parquet(path)


def measure(paths: list[str], *, in_memory: bool) -> dict:
    """Fit ten rules, and tell what that took."""
    peaks, distinct, readings = [], [], []

    def watch(progress) -> None:
        if progress.is_done:
            peaks.append(peak_megabytes())
            readings.append(progress.seconds)
            distinct.append(progress.n_distinct)

    before, started = peak_megabytes(), (perf_counter(), process_time())
    model = RuleBoostingClassifier()
    if in_memory:
        frame = pl.read_parquet(paths)
        n_rows = frame.height
        model.fit(frame.drop(TARGET), frame[TARGET].to_numpy())
    else:
        source = scan(paths)
        source.on_progress = watch
        n_rows = pl.scan_parquet(paths).select(pl.len()).collect().item()
        model.fit(source, TARGET)
    seconds, cpu = perf_counter() - started[0], process_time() - started[1]
    searching = sum(result.seconds for result in model.search_results_)
    found = {
        "rows": n_rows,
        "distinct_rows": distinct[-1] if distinct else None,
        "reading_seconds": round(sum(readings), 1),
        "searching_seconds": round(searching, 1),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "megabytes_before": round(before),
        "megabytes_reading": round(max(peaks, default=0)),
        "megabytes": round(peak_megabytes()),
        "proven_rules": sum(result.is_optimal for result in model.search_results_),
    }
    return found | {"model": fingerprint(model)}


def fingerprint(model: RuleBoostingClassifier) -> str:
    """All numbers of a model to the last bit."""
    ensemble = model.ensemble_
    return json.dumps(
        {
            "intercept": ensemble.intercept.hex(),
            "rules": [[str(rule.query), float(rule.weight).hex()] for rule in ensemble],
            "objectives": [result.objective_value.hex() for result in model.search_results_],
            "importances": [value.hex() for value in model.feature_importances_.tolist()],
            "coverages": [repr(coverage) for coverage in model.rule_coverages_],
        }
    )


def measure_apart(paths: list[str], *, in_memory: bool = False) -> dict:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.large_tables", "--measure", *paths]
    if in_memory:
        command.append("--in-memory")
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(run.stdout.splitlines()[-1])


def report(folder: Path, n_rows: int) -> None:
    """Measure tables of growing length, and write down what was found."""
    write_parts(folder, n_rows)
    paths = sorted(map(str, folder.glob("part-*.parquet")))
    first = measure_apart(paths[:1])
    is_same = first["model"] == measure_apart(paths[:1], in_memory=True)["model"]
    print(f"first {first['rows']:,} rows: same bits as in memory: {is_same}")
    results = []
    sizes = [size for size in (1, 5, 20, 50, 100) if size < len(paths)]
    for size in [*sizes, len(paths)]:
        found = first if size == 1 else measure_apart(paths[:size])
        model = json.loads(found.pop("model"))
        found["same_bits_in_memory"] = is_same if size == 1 else ""
        results.append(found)
        print(json.dumps(found), flush=True)
    for rule, weight in model["rules"]:
        print(f"{float.fromhex(weight):+.3f} if {rule}")
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, results[0])
        writer.writeheader()
        writer.writerows(results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--folder", type=Path, help="where the files are, or are to stay")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--in-memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, in_memory=options.in_memory)))
    elif options.folder:
        options.folder.mkdir(exist_ok=True)
        report(options.folder, options.rows)
    else:
        with TemporaryDirectory() as folder:
            report(Path(folder), options.rows)


if __name__ == "__main__":
    main()
