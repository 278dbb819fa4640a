"""Figure 2: size/score curves of used cars, tic-tac-toe and friedman1, three methods.

Writes ``figure2.svg`` from the curves of Table 1.
"""

from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from benchmarks.paper import table1
from benchmarks.paper.settings import GREEDY, OPTIMAL, RULEFIT, Run, smallest_size
from benchmarks.split_displays import SplitsScoreDisplay

PROBLEMS = {"used_cars": "used cars", "tic_tac_toe": "tic-tac-toe", "friedman1": "friedman1"}
YLABELS = {"regression": "R² on test rows", "classification": "ROC AUC on test rows"}


def make(run: Run) -> None:
    """Draw; measure first what Table 1 has not."""
    methods = (OPTIMAL, GREEDY, RULEFIT)
    rows = table1.curves(run, methods, tuple(PROBLEMS))
    figure, axes = plt.subplots(1, 3, figsize=(10.2, 3.4), layout="constrained")
    for ax, (name, title) in zip(axes, PROBLEMS.items(), strict=True):
        task = run.specifications[name]["task"]
        frame = to_frame(rows, name, methods, smallest_size(task))
        SplitsScoreDisplay.from_frame(frame, score="score", ylabel=YLABELS[task], ax=ax)
        ax.set_title(title, fontsize=11)
        ax.set_xticks(range(0, 11, 2))
        ax.get_legend().remove()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(run.output / "figure2.svg")
    plt.close(figure)


def to_frame(
    rows: list[dict[str, Any]], name: str, methods: tuple[str, ...], smallest: int
) -> pd.DataFrame:
    """Curves of one problem, method by method, as `evaluate` would give them."""
    kept = [
        row
        for method in methods
        for row in rows
        if (row["problem"], row["method"], row["kind"]) == (name, method, "curve")
        and row["n_terms"] >= smallest
    ]
    frame = pd.DataFrame(kept).rename(columns={"method": "estimator"})
    # RuleFit has another penalty, which differs from point to point.
    return frame.assign(l2_regularization=0.0)
