"""Ten rules over all thresholds: what is proven, and what it is worth on rows not seen.

    LACONIC_DATASETS=... python -m benchmarks.full_resolution proofs --time-limit 300
    LACONIC_DATASETS=... python -m benchmarks.full_resolution scores
    python -m benchmarks.full_resolution document
    LACONIC_DATASETS=... python -m benchmarks.full_resolution stopped --time-limit 4

The first two write ``results/full_resolution_*.csv`` problem by problem, and go on where an earlier
run ended; the third one writes both tables into ``docs/research/full-resolution.md``. The last one
prints what searches over 16 and over all thresholds find in the same time, for the seventh rule.
"""

import argparse
import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.problems import (
    AS_IN_THE_PAPER,
    Problem,
    find_datasets,
    load_problem,
    paper_conditions,
    specifications,
)
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.candidates.candidates import candidate_conditions
from laconic.losses import get_loss
from laconic.search import SearchProblem, search

PAGE = Path(__file__).parents[1] / "docs" / "research" / "full-resolution.md"
RESULTS = Path(__file__).parent / "results"
PROOFS = RESULTS / "full_resolution_proofs.csv"
SCORES = RESULTS / "full_resolution_scores.csv"
PAPER = "paper"
N_SPLITS = 2


@dataclass(frozen=True)
class Proof:
    """What was proven of ten rules, first split, and their score on the test rows."""

    problem: str
    rows: int
    features: int
    conditions: int
    time_limit: float
    n_terms: int
    n_proven: int
    smallest_ratio: float
    nodes: int
    seconds: float
    score: float
    paper_score: float


@dataclass(frozen=True)
class Score:
    """How well ten rules predict the test rows, and how few rows the rarest covers."""

    problem: str
    split: int
    thresholds: str
    min_coverage: float
    l2_factor: float
    n_proven: int
    score: float
    smallest_coverage: float
    seconds: float


Estimator = RuleBoostingClassifier | RuleBoostingRegressor


def fit(problem: Problem, thresholds: str, time_limit: float, **parameters: object) -> Estimator:
    """Ten rules over the paper's conditions, so many thresholds per column, or all of them."""
    is_classification = problem.task == "classification"
    kind = RuleBoostingClassifier if is_classification else RuleBoostingRegressor
    options = {"n_terms": 10, "l2_regularization": problem.l2_regularization}
    options |= AS_IN_THE_PAPER | parameters
    if thresholds == PAPER:
        options["conditions"] = paper_conditions(problem.X, problem.max_conditions_per_column)
    else:
        options["max_thresholds"] = None if thresholds == "all" else int(thresholds)
    model = kind(max_conditions=None, node_limit=None, time_limit=time_limit, **options)
    return model.fit(problem.X, problem.y)


def score(problem: Problem, model: Estimator) -> float:
    """Area under the ROC curve, or coefficient of determination, on the test rows."""
    if problem.task == "classification":
        return float(roc_auc_score(problem.y_test, model.decision_function(problem.X_test)))
    return float(r2_score(problem.y_test, model.predict(problem.X_test)))


def prove(name: str, folder: Path, time_limit: float) -> Proof:
    """Fit one problem over all thresholds, and over the paper's."""
    problem = load_problem(name, folder)
    started = process_time()
    model = fit(problem, "all", time_limit)
    seconds = process_time() - started
    results = model.search_results_
    return Proof(
        problem=name,
        rows=len(problem.y),
        features=problem.X.shape[1],
        conditions=model.n_candidates_,
        time_limit=time_limit,
        n_terms=len(results),
        n_proven=sum(result.is_optimal for result in results),
        smallest_ratio=min(result.approximation_ratio for result in results),
        nodes=sum(result.counters["nodes"] for result in results),
        seconds=seconds,
        score=score(problem, model),
        paper_score=score(problem, fit(problem, PAPER, time_limit)),
    )


def settings() -> Iterator[tuple[str, float, float]]:
    """Thresholds, share of the rows that a rule covers at least, factor of the paper's penalty."""
    yield PAPER, 0.0, 1.0
    for thresholds in ("8", "16", "all"):
        yield thresholds, 0.0, 1.0
        yield thresholds, 0.02, 1.0
        yield thresholds, 0.0, 10.0


def study(name: str, folder: Path, time_limit: float) -> Iterator[Score]:
    """Fit one problem with all settings."""
    for split in range(N_SPLITS):
        problem = load_problem(name, folder, split)
        n_rows = len(problem.y)
        for thresholds, min_coverage, l2_factor in settings():
            started = process_time()
            model = fit(
                problem,
                thresholds,
                time_limit,
                min_coverage=min_coverage * n_rows,
                l2_regularization=l2_factor * problem.l2_regularization,
            )
            yield Score(
                problem=name,
                split=split,
                thresholds=thresholds,
                min_coverage=min_coverage,
                l2_factor=l2_factor,
                n_proven=sum(result.is_optimal for result in model.search_results_),
                score=score(problem, model),
                smallest_coverage=float(np.min(model.ensemble_.covered(problem.X).sum(axis=0))),
                seconds=process_time() - started,
            )


def stopped(name: str, folder: Path, time_limit: float) -> str:
    """Objective and ratio over 16 and over all thresholds, with the same gradients."""
    problem = load_problem(name, folder)
    model = fit(problem, "16", time_limit=1.0, n_terms=6)
    scores = model.ensemble_.raw_predictions(problem.X)
    loss = get_loss(problem.loss)
    few, every = (
        search(
            SearchProblem(
                candidate_conditions(problem.X, max_thresholds=max_thresholds).extents,
                loss.gradients(problem.y, scores),
                loss.hessians(problem.y, scores),
                problem.l2_regularization,
            ),
            time_limit=time_limit,
        )
        for max_thresholds in (16, None)
    )
    return (
        f"| {name} | {few.objective_value:.4g} | {few.approximation_ratio:.2f} "
        f"| {every.objective_value:.4g} | {every.approximation_ratio:.2f} "
        f"| {every.objective_value / few.objective_value:.2f} |"
    )


def write_rows(path: Path, kind: type, measure: Callable[[str], Iterable], names: Iterable) -> None:
    """Append what is measured of the problems that are not in the file."""
    known = {row.problem for row in read_rows(path, kind)}
    for name in names:
        if name in known:
            continue
        rows = [asdict(row) for row in measure(name)]
        is_new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(kind)])
            if is_new:
                writer.writeheader()
            writer.writerows(rows)
        print(name, flush=True)


def read_rows(path: Path, kind: type) -> list:
    """Rows of a file, none if it is absent."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            kind(**{field.name: field.type(row[field.name]) for field in fields(kind)})
            for row in csv.DictReader(file)
        ]


def proofs_table(proofs: Sequence[Proof]) -> str:
    """Markdown table, a line per problem."""
    lines = [
        "Ten rules of any length, the paper's penalties, first split, one thread. The limit is in "
        "seconds per rule, the ratio that of the least certain rule. Scores are on the test rows: "
        "area under the ROC curve, or R².",
        "",
        "| problem | rows x features | conditions | limit | proven | ratio | nodes | CPU s | score "
        "| with the paper's conditions |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for proof in proofs:
        ratio = np.floor(proof.smallest_ratio * 100) / 100
        lines.append(
            f"| {proof.problem} | {proof.rows:,} x {proof.features} | {proof.conditions:,} "
            f"| {proof.time_limit:g} | {proof.n_proven} of {proof.n_terms} | {ratio:g} "
            f"| {proof.nodes:,} | {proof.seconds:.3g} | {proof.score:.3f} "
            f"| {proof.paper_score:.3f} |"
        )
    return "\n".join(lines)


def scores_table(scores: Sequence[Score]) -> str:
    """Markdown table, a line per setting, with means over the problems."""
    means: dict[tuple[str, float, float], dict[str, list[Score]]] = {}
    for row in scores:
        setting = (row.thresholds, row.min_coverage, row.l2_factor)
        means.setdefault(setting, {}).setdefault(row.problem, []).append(row)
    base = _mean_scores(means["8", 0.0, 1.0])
    lines = [
        f"Ten rules, {len(base)} problems, {N_SPLITS} splits each. Better, equal and worse are "
        "numbers of problems whose mean score is more than 0.005 from that with 8 thresholds.",
        "",
        "| thresholds | rule covers at least | penalty | mean score | median | better | equal | "
        "worse | rarest rule covers (median) | CPU s |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (thresholds, min_coverage, l2_factor), rows in means.items():
        found = _mean_scores(rows)
        gains = np.array([found[name] - base[name] for name in base])
        everything = [row for problem in rows.values() for row in problem]
        lines.append(
            f"| {thresholds} | {f'{min_coverage:.0%}' if min_coverage else 'any'} "
            f"| {f'x {l2_factor:g}' if l2_factor != 1 else 'as published'} "
            f"| {np.mean(list(found.values())):.4f} | {np.median(list(found.values())):.4f} "
            f"| {np.sum(gains > 0.005)} | {np.sum(np.abs(gains) <= 0.005)} "
            f"| {np.sum(gains < -0.005)} "
            f"| {np.median([row.smallest_coverage for row in everything]):g} rows "
            f"| {sum(row.seconds for row in everything):.3g} |"
        )
    return "\n".join(lines)


def _mean_scores(rows: Mapping[str, Sequence[Score]]) -> dict[str, float]:
    return {name: float(np.mean([row.score for row in found])) for name, found in rows.items()}


def document() -> None:
    """Write both tables into the page, between their marks."""
    text = PAGE.read_text(encoding="utf-8")
    tables = {
        "proofs": proofs_table(read_rows(PROOFS, Proof)),
        "scores": scores_table(read_rows(SCORES, Score)),
    }
    for name, table in tables.items():
        before, rest = text.split(f"<!-- {name} -->\n")
        _, after = rest.split(f"<!-- end of {name} -->")
        text = f"{before}<!-- {name} -->\n\n{table}\n\n<!-- end of {name} -->{after}"
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure, or write the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("part", choices=("proofs", "scores", "document", "stopped"))
    parser.add_argument("--time-limit", type=float, help="seconds per rule")
    parser.add_argument("--problems", nargs="+", help="all of the paper's by default")
    arguments = parser.parse_args()
    if arguments.part == "document":
        document()
        return
    warnings.simplefilter("ignore", ConvergenceWarning)
    folder = find_datasets()
    names = arguments.problems or specifications(folder)
    if arguments.part == "proofs":
        limit = arguments.time_limit or 300.0
        write_rows(PROOFS, Proof, lambda name: [prove(name, folder, limit)], names)
    elif arguments.part == "stopped":
        print("| problem | over 16 | ratio | over all | ratio | gain |")
        print("| --- | ---: | ---: | ---: | ---: | ---: |")
        for name in names:
            print(stopped(name, folder, arguments.time_limit or 4.0), flush=True)
    else:
        limit = arguments.time_limit or 0.7
        write_rows(SCORES, Score, lambda name: study(name, folder, limit), names)


if __name__ == "__main__":
    main()
