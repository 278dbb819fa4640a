"""The rule listings of used cars and tic-tac-toe: five optimal and five greedy rules.

Writes ``listings.csv`` and ``listings.md``. The paper does not say on which rows its listings were
fitted, and none of its splits gives their weights; these are of the first split.
"""

import math
from itertools import groupby, starmap
from typing import Any

import pandas as pd

from benchmarks.paper.settings import GREEDY, OPTIMAL, Run, estimator
from laconic import Condition, Query
from laconic.terms.formatting import format_weight

PROBLEMS = ("used_cars", "tic_tac_toe")
N_RULES = 5


def make(run: Run) -> None:
    """Fit and write."""
    rows = [
        row for name in PROBLEMS for method in (OPTIMAL, GREEDY) for row in rules(run, name, method)
    ]
    pd.DataFrame(rows).to_csv(run.output / "listings.csv", index=False)
    (run.output / "listings.md").write_text(markdown(rows), encoding="utf-8")


def rules(run: Run, name: str, method: str) -> list[dict[str, Any]]:
    """Rules of the first split, one row each."""
    problem = run.load(name, 0)
    model = estimator(problem, method, run.penalty(name, method), n_terms=N_RULES)
    model.fit(problem.X, problem.y)
    return [
        {
            "problem": name,
            "method": method,
            "rule": i,
            "weight": rule.weight,
            "query": as_printed(rule.query),
        }
        for i, rule in enumerate(model.ensemble_, start=1)
    ]


def as_printed(query: Query) -> str:
    """Query in the paper's words, with ``>=`` where a condition starts at a value."""
    by_feature = {
        feature: list(conditions)
        for feature, conditions in groupby(query, key=lambda condition: condition.feature)
    }
    return " & ".join(starmap(_condition, by_feature.items())) or "always"


def _condition(feature: str, conditions: list[Condition]) -> str:
    """Condition on one feature; a value, or where it starts and ends."""
    ends = {condition.relation: condition.value for condition in conditions}
    if ">" in ends:
        # The paper's ">= v" is kept as "> the number before v".
        ends[">"] = math.nextafter(ends[">"], math.inf)
    match ends:
        case {">": low, "<=": high}:
            return f"{feature} in [{low:.10g}, {high:.10g}]"
        case {">": low}:
            return f"{feature} >= {low:.10g}"
    return " & ".join(map(str, conditions))


def markdown(rows: list[dict[str, Any]]) -> str:
    """Format listings as in the paper."""
    blocks = []
    for name in PROBLEMS:
        lines = []
        for method in (OPTIMAL, GREEDY):
            lines.append(f"{method} base learner")
            for row in rows:
                if (row["problem"], row["method"]) == (name, method):
                    lines.append(f"{row['rule']}: {format_weight(row['weight'])} if {row['query']}")
            lines.append("")
        blocks.append(f"{name}:\n\n```text\n" + "\n".join(lines).rstrip() + "\n```")
    return "\n\n".join(blocks) + "\n"
