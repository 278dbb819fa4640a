"""Ten rules with the default settings: what they cost, how many are proven, how long they are.

    python -m benchmarks.defaults
    python -m benchmarks.defaults --fresh
    python -m benchmarks.defaults --problems titanic digits5

The tables are the training rows of the paper's problems, and titanic. With `--fresh` they are
others, which no setting was chosen on. One thread, CPU seconds of the whole fit.
"""

import argparse
import warnings
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_gaussian_quantiles, make_hastie_10_2

from benchmarks.problems import find_datasets, load_problem, specifications
from benchmarks.suites.planted import planted
from laconic import RuleBoostingClassifier, RuleBoostingRegressor

QUICK, SLOW = 5.0, 30.0
LEAST_CERTAIN = 0.5
HEADS = ("table", "rows", "features", "conditions", "seconds", "slowest rule", "nodes", "tables")
ENDS = ("proven", "least certain", "conditions of the rules")


def _odd_digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X, y % 2 == 1


def _moons() -> tuple[Any, Any]:
    X, y = make_gaussian_quantiles(n_samples=4_000, n_features=5, n_classes=2, random_state=0)
    return X, y > 0


def _hastie() -> tuple[Any, Any]:
    X, y = make_hastie_10_2(random_state=0)
    return X, y > 0


def _wages() -> tuple[Any, Any]:
    """Generate dependent counts and texts, with a skewed target."""
    rng = np.random.default_rng(0)
    drawn = planted(3_000, 8, seed=1)
    table = drawn.table.assign(age=rng.integers(18, 70, 3_000))
    table["years"] = np.maximum(0, table["age"] - rng.integers(18, 40, 3_000))
    return table, np.exp(0.1 * drawn.target + 0.02 * table["years"] + rng.normal(size=3_000))


def _planted(n_rows: int, n_features: int) -> Callable[[], tuple[Any, Any]]:
    def load() -> tuple[Any, Any]:
        drawn = planted(n_rows, n_features, r2=0.3)
        return drawn.table, drawn.target

    return load


FRESH: dict[str, Callable[[], tuple[Any, Any]]] = {
    "digits, odd": _odd_digits,
    "quantiles of a normal": _moons,
    "sum of ten squares": _hastie,
    "wages, drawn": _wages,
    "1,200 x 79": _planted(1_200, 79),
    "30,000 x 13": _planted(30_000, 13),
    "60 x 4,000": _planted(60, 4_000),
    "1,000,000 x 10": _planted(1_000_000, 10),
}


def measure(X: Any, y: Any, *, is_classification: bool) -> tuple[Any, float, list[str]]:
    """Fit with the defaults; returns the model, its CPU seconds and what it warned of."""
    kind = RuleBoostingClassifier if is_classification else RuleBoostingRegressor
    started = process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind().fit(X, y)
    return model, process_time() - started, [str(warning.message) for warning in caught]


def row(name: str, model: Any, n_rows: int, seconds: float) -> str:
    """Write a line of the table."""
    results = model.search_results_
    cells = [
        name,
        f"{n_rows:,}",
        f"{model.n_features_in_:,}",
        f"{model.n_candidates_:,}",
        f"{seconds:.2f}",
        f"{max((result.seconds for result in results), default=0.0):.2f}",
        f"{sum(result.counters.get('nodes', 0) for result in results):,}",
        f"{sum(result.counters.get('tables', 0) for result in results):,}",
        f"{sum(result.is_optimal for result in results)} of {len(results)}",
        f"{_least_certain(model):.2f}",
        model.ensemble_.n_conditions,
    ]
    return f"| {' | '.join(map(str, cells))} |"


def _least_certain(model: Any) -> float:
    return min((result.approximation_ratio for result in model.search_results_), default=1.0)


def summary(models: list[Any], seconds: list[float]) -> str:
    """Write what the defaults promise, and what was measured."""
    n, times = len(models), np.array(seconds)
    is_proven = [all(result.is_optimal for result in model.search_results_) for model in models]
    sizes = [model.ensemble_.n_conditions for model in models]
    return (
        f"All rules proven on {sum(is_proven)} of {n} tables; below {QUICK:g} s on "
        f"{(times < QUICK).sum()}, below {SLOW:g} s on {(times < SLOW).sum()}; certificates above "
        f"{LEAST_CERTAIN:.0%} on {sum(_least_certain(m) > LEAST_CERTAIN for m in models)}; "
        f"{np.mean(sizes):.1f} conditions in the mean; {times.sum():.1f} s in all."
    )


def main() -> None:
    """Print a Markdown table, and a sentence about all of it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--problems", nargs="+", default=None, help="all by default")
    parser.add_argument("--fresh", action="store_true", help="tables no setting was chosen on")
    arguments = parser.parse_args()
    print(f"| {' | '.join((*HEADS, *ENDS))} |")
    print(f"| --- |{' ---: |' * (len(HEADS) + len(ENDS) - 1)}")
    folder = None if arguments.fresh else find_datasets()
    models, seconds, told = [], [], []
    for name in arguments.problems or (FRESH if folder is None else specifications(folder)):
        if folder is None:
            X, y = FRESH[name]()
            is_classification = y.dtype == bool
        else:
            problem = load_problem(name, folder)
            X, y, is_classification = problem.X, problem.y, problem.task == "classification"
        model, taken, messages = measure(X, y, is_classification=is_classification)
        models.append(model)
        seconds.append(taken)
        told += [f"{name}: {message}" for message in messages]
        print(row(name, model, len(y), taken), flush=True)
    print("\n".join(["", summary(models, seconds), *told]))


if __name__ == "__main__":
    main()
