"""What all items share: problems, methods, estimators, and measurements that survive a stop."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from benchmarks.problems import (
    AS_IN_THE_PAPER,
    Problem,
    load_problem,
    paper_conditions,
    specifications,
)
from laconic import RuleBoostingClassifier, RuleBoostingRegressor

NOT_IN_PAPER = "titanic"  # titanic_paper has the rows that the paper measured
OPTIMAL, GREEDY, RULEFIT = "optimal", "greedy", "RuleFit"
# Told apart by colour-blind readers, and on grey paper by their markers.
COLOURS = {OPTIMAL: "#1f5a8a", GREEDY: "#b3541e", RULEFIT: "#4d7c3a", "XGBoost": "#4d7c3a"}
MARKERS = {OPTIMAL: "o", GREEDY: "s", RULEFIT: "^", "XGBoost": "^"}
MAX_RULES = 10

# Problems that take long, by any method: a quick run leaves them out.
SLOW = ("digits5", "ibm_hr", "mobile_prices", "suicide_rates", "videogamesales", "demographics")


@dataclass(frozen=True)
class Run:
    """How a run of the experiments was asked for.

    Attributes
    ----------
    datasets : Path
        Folder of the problems.
    output : Path
        Folder of the measurements and figures.
    is_quick : bool
        Whether minutes matter more than the last digit.
    n_jobs : int
    """

    datasets: Path
    output: Path
    is_quick: bool
    n_jobs: int

    @property
    def specifications(self) -> dict[str, dict[str, Any]]:
        """Settings and published results by problem."""
        return specifications(self.datasets)

    @property
    def problems(self) -> list[str]:
        """Names of the problems of the paper, in its order, without slow ones in a quick run."""
        skipped = (NOT_IN_PAPER, *SLOW) if self.is_quick else (NOT_IN_PAPER,)
        return [name for name in self.specifications if name not in skipped]

    def n_splits(self, name: str) -> int:
        """Return the splits to measure: those behind the published mean, or one."""
        return (
            1
            if self.is_quick
            else len(published_settings(self.specifications[name], "split_seeds"))
        )

    def load(self, name: str, split: int) -> Problem:
        """One split of a problem."""
        return load_problem(name, self.datasets, split)

    def penalty(self, name: str, method: str) -> float:
        """λ behind the published score."""
        key = {OPTIMAL: "lambda_opt", GREEDY: "lambda_greedy"}[method]
        return float(published_settings(self.specifications[name], key))


def published_settings(specification: dict[str, Any], key: str) -> Any:
    """Return the setting behind the published score; for used_cars it is another one."""
    return specification.get("table1_settings", {}).get(key, specification[key])


def estimator(problem: Problem, method: str, l2_regularization: float, **options: Any) -> Any:
    """Rule ensemble with the paper's conditions, no limit on their number, and no other limit."""
    make = RuleBoostingClassifier if problem.task == "classification" else RuleBoostingRegressor
    settings = {
        **AS_IN_THE_PAPER,
        "n_terms": problem.n_terms,
        "search": method,
        "l2_regularization": l2_regularization,
        "max_conditions": None,
        "node_limit": None,
        "conditions": partial(paper_conditions, limits=problem.max_conditions_per_column),
    }
    return make(**settings | options)


def scoring(problem: Problem) -> str:
    """Metric of the paper."""
    return "roc_auc" if problem.task == "classification" else "r2"


def smallest_size(task: str) -> int:
    """First size of the paper's curves: no rule ranks all rows alike, but predicts 0."""
    return 0 if task == "classification" else 1


def resume(
    path: Path,
    keys: Sequence[tuple[Any, ...]],
    measure: Callable[..., Iterable[dict[str, Any]]],
    columns: Sequence[str],
    n_jobs: int,
) -> list[dict[str, Any]]:
    """Measure what a file does not have yet, adding each measurement as it is made.

    Parameters
    ----------
    path : Path
        CSV file; made if it is not there.
    keys : sequence of tuple
        Arguments of `measure`, one measurement each, and the first cells of its rows.
    measure : callable
        Returns one or more rows.
    columns : sequence of str
        Of the file; the first ones are those of a key.
    n_jobs : int

    Returns
    -------
    rows : list of dict
        Of the given keys, in their order.
    """
    known = {key: rows for key, rows in _read(path, len(keys[0])).items() if key in set(keys)}
    missing = [key for key in keys if key not in known]
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        _append(path, [dict(zip(columns, columns, strict=True))], columns)
    jobs = (delayed(_keyed)(measure, key) for key in missing)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for n_done, (key, rows) in enumerate(parallel(jobs), start=1):
        _append(path, rows, columns)
        known[key] = rows
        print(f"{path.stem}: {n_done} of {len(missing)}, {' '.join(map(str, key))}", flush=True)
    return [row for key in keys for row in known[key]]


def _keyed(
    measure: Callable[..., Iterable[dict[str, Any]]], key: tuple[Any, ...]
) -> tuple[tuple[Any, ...], list[dict[str, Any]]]:
    return key, list(measure(*key))


def _append(path: Path, rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    with path.open("a", newline="", encoding="utf-8") as file:
        csv.DictWriter(file, columns, lineterminator="\n").writerows(rows)


def _read(path: Path, n_keys: int) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    if not path.is_file():
        return {}
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for line in csv.DictReader(file):
            row = {name: _parsed(cell) for name, cell in line.items()}
            found.setdefault(tuple(row.values())[:n_keys], []).append(row)
    return found


def _parsed(cell: str) -> Any:
    try:
        return json.loads(cell)
    except json.JSONDecodeError:
        return cell


def curves_of(
    rows: Iterable[dict[str, Any]], problem: str, method: str, kind: str = "curve"
) -> Iterator[dict[int, float]]:
    """Scores by size of every split that was measured."""
    by_split: dict[int, dict[int, float]] = {}
    for row in rows:
        is_asked_for = row["problem"] == problem and row["method"] == method
        if is_asked_for and row["kind"] == kind:
            by_split.setdefault(row["split"], {})[row["n_terms"]] = row["score"]
    return iter(by_split.values())
