"""Table 1: area under the size/score curve, computation time, and RuleFit without a limit.

Writes ``curves.csv`` (the scores behind Table 1 and Figure 2), ``table1.csv`` and ``table1.md``.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest
from sklearn.exceptions import ConvergenceWarning

from benchmarks.pages import to_markdown
from benchmarks.paper.rulefit import score_rulefit
from benchmarks.paper.selection import fit_with_chosen_penalty
from benchmarks.paper.settings import (
    GREEDY,
    MAX_RULES,
    OPTIMAL,
    RULEFIT,
    Run,
    curves_of,
    estimator,
    resume,
    scoring,
    smallest_size,
)
from benchmarks.problems import Problem
from laconic.models.curves import normalized_area, score_curve

CHOSEN = ", λ chosen"
BY_CLASS = "RuleFit on predicted classes"
METHODS = (GREEDY, OPTIMAL, GREEDY + CHOSEN, OPTIMAL + CHOSEN, RULEFIT)
PUBLISHED = {RULEFIT: "rf", GREEDY: "grd", OPTIMAL: "opt"}
COLUMNS = ("problem", "method", "split", "l2_regularization", "seconds", "kind", "n_terms", "score")
LEVEL = 0.01


def measure(run: Run, name: str, method: str, split: int) -> Iterator[dict[str, Any]]:
    """Scores of one method on one split, one row per size."""
    problem = run.load(name, split)
    shared = {"problem": name, "method": method, "split": split, "kind": "curve"}
    if method == RULEFIT:
        yield from _measure_rulefit(problem, shared)
        return
    started = process_time()
    if method.endswith(CHOSEN):
        model = fit_with_chosen_penalty(problem, method.removesuffix(CHOSEN))
    else:
        model = estimator(problem, method, run.penalty(name, method))
        model.fit(problem.X, problem.y)
    seconds = process_time() - started
    scores = score_curve(
        model, problem.X_test, problem.y_test, scoring=scoring(problem), max_terms=MAX_RULES
    )
    shared |= {"l2_regularization": model.l2_regularization, "seconds": round(seconds, 4)}
    for size, score in enumerate(scores):
        yield shared | {"n_terms": size, "score": float(score)}


def _measure_rulefit(problem: Problem, shared: dict[str, Any]) -> Iterator[dict[str, Any]]:
    parts = (problem.X, problem.y, problem.X_test, problem.y_test)
    with warnings.catch_warnings():
        # Far along the path of penalties, weights still move in digits that do not matter.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = score_rulefit(problem.task, *parts)
    shared |= {"seconds": round(found.seconds, 3)}
    start = {0: 0.5} if problem.task == "classification" else {}
    for kind, curve in (("curve", found.curve), ("labels", found.label_curve)):
        for size, score in (start | curve).items():
            yield shared | {"kind": kind, "n_terms": size, "score": score}
    yield shared | {
        "kind": "unbounded",
        "n_terms": found.unbounded_n_terms,
        "score": found.unbounded_score,
    }


def curves(
    run: Run, methods: Sequence[str] = METHODS, problems: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Measure what is missing, and read the rest."""
    keys = [
        (name, method, split)
        for method in methods
        for name in problems or run.problems
        for split in range(run.n_splits(name))
    ]
    return resume(run.output / "curves.csv", keys, partial(measure, run), COLUMNS, run.n_jobs)


def summarize(run: Run, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """One row per problem and method: means over the splits, beside the published numbers."""
    rows = rows + scored_by_class(rows)
    lines = []
    for name in run.problems:
        specification = run.specifications[name]
        for method in (*METHODS, BY_CLASS):
            published = specification["table1"]
            key = PUBLISHED.get(method)
            own = [row for row in rows if row["problem"] == name and row["method"] == method]
            whole = [row for row in own if row["kind"] == "unbounded"]
            lines.append(
                {
                    "problem": name,
                    "method": method,
                    "n_splits": len({row["split"] for row in own}),
                    "area": mean_area(rows, name, method, specification["task"]),
                    "published_area": published[f"auc_{key}"] if key else None,
                    "seconds": _mean_seconds(own),
                    "published_seconds": published[f"time_{key}"] if key else None,
                    "unbounded_score": _mean(row["score"] for row in whole),
                    "unbounded_rules": _mean(row["n_terms"] for row in whole),
                }
            )
    table = pd.DataFrame(lines)
    table.insert(5, "difference", table["area"] - table["published_area"])
    return table


def scored_by_class(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Curves of RuleFit as they are with the classes that it predicts, as a method of its own."""
    is_class = {row["problem"] for row in rows if row["kind"] == "labels"}
    return [
        row | {"method": BY_CLASS, "kind": "curve"}
        for row in rows
        if row["method"] == RULEFIT
        and row["kind"] == ("labels" if row["problem"] in is_class else "curve")
    ]


def mean_area(rows: list[dict[str, Any]], name: str, method: str, task: str) -> float:
    """Mean over the splits of the normalised area from the first size that counts."""
    areas = []
    for curve in curves_of(rows, name, method):
        sizes = [size for size in sorted(curve) if size >= smallest_size(task)]
        areas.append(normalized_area([curve[size] for size in sizes], sizes) if sizes else np.nan)
    # A split without a model of up to ten rules has no area.
    return float(np.nanmean(areas)) if not np.all(np.isnan(areas)) else float("nan")


def sign_tests(table: pd.DataFrame, better: str, worse: str) -> dict[str, Any]:
    """One-sided sign test that one method has the larger area on a random problem."""
    areas = table.pivot(index="problem", columns="method", values="area")
    differences = (areas[better] - areas[worse]).dropna()
    differences = differences[differences != 0]
    wins = int((differences > 0).sum())
    p = binomtest(wins, len(differences), alternative="greater").pvalue
    return {"better": better, "worse": worse, "wins": wins, "of": len(differences), "p": p}


def make(run: Run) -> None:
    """Measure, and write the table."""
    rows = curves(run)
    table = summarize(run, rows)
    table.to_csv(run.output / "table1.csv", index=False)
    (run.output / "table1.md").write_text(markdown(run, table), encoding="utf-8")


def markdown(run: Run, table: pd.DataFrame) -> str:
    """Areas, times and tests as Markdown."""
    parts = [_area_table(run, table), _time_table(run, table), _test_table(table)]
    return "\n\n".join(parts) + "\n"


def _area_table(run: Run, table: pd.DataFrame) -> str:
    head = ["problem", "rows", "features"]
    for method in (RULEFIT, GREEDY, OPTIMAL):
        head += [method, "published", "difference"]
    for method in (GREEDY + CHOSEN, OPTIMAL + CHOSEN):
        n_splits = table[table["method"] == method]["n_splits"].max()
        head.append(f"{method} ({n_splits} {'split' if n_splits == 1 else 'splits'})")
    lines = []
    for name in run.problems:
        own = table[table["problem"] == name].set_index("method")
        source = run.specifications[name]["source"]
        line = [name, f"{source['rows']:,}", str(source["features"])]
        for method in (RULEFIT, GREEDY, OPTIMAL):
            row = own.loc[method]
            line += [f"{row['area']:.4f}", f"{row['published_area']:.4f}"]
            line += [f"{row['difference']:+.4f}".replace("-0.0000", "+0.0000")]
        line += [f"{own.loc[method + CHOSEN, 'area']:.4f}" for method in (GREEDY, OPTIMAL)]
        lines.append(line)
    return to_markdown(head, lines)


def _time_table(run: Run, table: pd.DataFrame) -> str:
    head = ["problem"]
    for method in (RULEFIT, GREEDY, OPTIMAL):
        head += [method, "published"]
    head += ["RuleFit unbounded: score", "published", "rules", "published"]
    lines = []
    for name in run.problems:
        own = table[table["problem"] == name].set_index("method")
        published = run.specifications[name]["table1"]
        line = [name]
        for method in (RULEFIT, GREEDY, OPTIMAL):
            row = own.loc[method]
            line += [f"{row['seconds']:.2g}", f"{row['published_seconds']:.1f}"]
        row = own.loc[RULEFIT]
        line += [f"{row['unbounded_score']:.3f}", f"{published['unbounded_rf_score']:.3f}"]
        line += [f"{row['unbounded_rules']:.0f}", f"{published['unbounded_rf_rules']:.0f}"]
        lines.append(line)
    return to_markdown(head, lines)


def _test_table(table: pd.DataFrame) -> str:
    pairs = [
        (OPTIMAL, GREEDY),
        (GREEDY, RULEFIT),
        (OPTIMAL, RULEFIT),
        (GREEDY, BY_CLASS),
        (OPTIMAL + CHOSEN, GREEDY + CHOSEN),
    ]
    lines = []
    for pair in pairs:
        test = sign_tests(table, *pair)
        verdict = "yes" if test["p"] < LEVEL else "no"
        hypothesis = f"{test['better']} > {test['worse']}"
        lines.append([hypothesis, f"{test['wins']} of {test['of']}", f"{test['p']:.2g}", verdict])
    return to_markdown(["hypothesis", "problems", "p", f"significant at {LEVEL}"], lines)


def _mean_seconds(rows: list[dict[str, Any]]) -> float | None:
    by_split = {row["split"]: row["seconds"] for row in rows}
    return _mean(by_split.values())


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None
