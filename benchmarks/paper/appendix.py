"""Appendix: time against the number of rules and against λ, and what prunes how often.

Writes ``time_rules.csv``, ``time_penalty.csv``, ``pruning.csv``, ``appendix.svg`` and
``pruning.md``.
"""

from collections.abc import Iterator
from functools import partial
from time import process_time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import StrMethodFormatter

from benchmarks.pages import to_markdown
from benchmarks.paper.selection import PENALTIES
from benchmarks.paper.settings import OPTIMAL, Run, estimator, resume
from laconic.search.optimal import search_optimal

# As published: bound and equivalence immediate, then bound and equivalence propagated.
PRUNING = {
    "boston": (1_280_132, 941_252, 146_216, 405_358),
    "breast_cancer": (151_420, 88_881, 18_902, 54_427),
    "friedman1": (227_373, 4_473, 2_981, 0),
    "iris": (15_881, 26_208, 2_255, 3_310),
    "red_wine_quality": (2_881_173, 149_112, 54_389, 114_079),
    "tic_tac_toe": (4_303, 7_772, 2_179, 0),
    "titanic_paper": (106_374, 911_809, 1_969, 27_241),
    "used_cars": (1_347, 990, 183, 1),
    "world_happiness": (148_327, 17_080, 26_420, 5_904),
}
# Where the paper's bound takes minutes.
SLOW_WITHOUT_CLASSES = ("boston", "red_wine_quality")
COUNTERS = (
    "bound_immediate",
    "equivalence_immediate",
    "bound_propagated",
    "equivalence_propagated",
)
N_REPEATS = 3
TIME_LIMIT = 20.0  # seconds per rule: the smallest penalties can take long
STYLES = [
    {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.3}
    for colour, marker in zip(
        (
            "#1f5a8a",
            "#b3541e",
            "#4d7c3a",
            "#7a4a8a",
            "#8a7a1f",
            "#4a4a4a",
            "#c2517a",
            "#2a8a8a",
            "#a0632a",
        ),
        "os^DvP<>X",
        strict=True,
    )
]


def measure_rules(run: Run, name: str) -> Iterator[dict[str, Any]]:
    """CPU seconds until each rule is proven: the least of a few fits."""
    problem = run.load(name, 0)
    times = []
    for _ in range(N_REPEATS):
        seen: list[float] = []
        model = estimator(
            problem,
            OPTIMAL,
            run.penalty(name, OPTIMAL),
            callback=lambda progress, seen=seen: _note_time(progress, seen),
        )
        started = process_time()
        model.fit(problem.X, problem.y)
        times.append([at - started for at in seen])
    for i, seconds in enumerate(np.min(times, axis=0), start=1):
        yield {"problem": name, "n_terms": i, "seconds": round(float(seconds), 5)}


def _note_time(progress: Any, seen: list[float]) -> None:
    if progress.search is None and len(progress.terms) > len(seen):
        seen.append(process_time())


def measure_penalty(run: Run, name: str, penalty: float) -> Iterator[dict[str, Any]]:
    """CPU seconds of ten rules with one penalty."""
    problem = run.load(name, 0)
    model = estimator(problem, OPTIMAL, penalty, time_limit=TIME_LIMIT)
    started = process_time()
    model.fit(problem.X, problem.y)
    seconds = process_time() - started
    n_unproven = sum(not result.is_optimal for result in model.search_results_)
    yield {
        "problem": name,
        "l2_regularization": penalty,
        "seconds": round(seconds, 4),
        "n_unproven": n_unproven,
    }


def measure_pruning(run: Run, name: str) -> Iterator[dict[str, Any]]:
    """Activations of the paper's pruning rules while ten rules are found, without a beam search."""
    problem = run.load(name, 0)
    search = partial(search_optimal, branching="paper", beam_width=0, memory_limit=2**30)
    # The published settings, also where the published score comes from others.
    model = estimator(problem, OPTIMAL, problem.l2_regularization, search=search)
    model.fit(problem.X, problem.y)
    counters = {
        name: sum(result.counters[name] for result in model.search_results_) for name in COUNTERS
    }
    yield {"problem": name} | counters


def make(run: Run) -> None:
    """Measure, draw and write."""
    names = [name for name in PRUNING if not (run.is_quick and name in SLOW_WITHOUT_CLASSES)]
    output, n_jobs = run.output, run.n_jobs
    by_rules = resume(
        output / "time_rules.csv",
        [(name,) for name in PRUNING],
        partial(measure_rules, run),
        ("problem", "n_terms", "seconds"),
        n_jobs,
    )
    penalties = PENALTIES[4:] if run.is_quick else PENALTIES
    by_penalty = resume(
        output / "time_penalty.csv",
        [(name, penalty) for name in PRUNING for penalty in penalties],
        partial(measure_penalty, run),
        ("problem", "l2_regularization", "seconds", "n_unproven"),
        n_jobs,
    )
    pruning = resume(
        output / "pruning.csv",
        [(name,) for name in names],
        partial(measure_pruning, run),
        ("problem", *COUNTERS),
        n_jobs,
    )
    draw(by_rules, by_penalty).savefig(output / "appendix.svg")
    plt.close("all")
    (output / "pruning.md").write_text(pruning_table(pruning), encoding="utf-8")


def draw(by_rules: list[dict[str, Any]], by_penalty: list[dict[str, Any]]) -> Any:
    """Both figures of times side by side."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained", sharey=True)
    figure.get_layout_engine().set(wspace=0.06)
    draw_lines(axes[0], by_rules, "n_terms")
    axes[0].set(xlabel="number of rules", xticks=range(1, 11), ylabel="CPU seconds, one thread")
    draw_lines(axes[1], by_penalty, "l2_regularization")
    axes[1].set(xlabel="λ", xscale="log")
    axes[1].xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    return figure


def draw_lines(ax: Axes, rows: list[dict[str, Any]], x: str) -> None:
    """One line per problem; hollow where a rule is not proven."""
    for name, style in zip(PRUNING, STYLES, strict=True):
        own = sorted((row for row in rows if row["problem"] == name), key=lambda row: row[x])
        ax.plot([row[x] for row in own], [row["seconds"] for row in own], label=name, **style)
        stopped = [row for row in own if row.get("n_unproven")]
        ax.scatter(
            [row[x] for row in stopped],
            [row["seconds"] for row in stopped],
            s=45,
            facecolor="white",
            edgecolor=style["color"],
            zorder=3,
        )
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.grid(visible=True, alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def pruning_table(rows: list[dict[str, Any]]) -> str:
    """Format counts next to the published ones."""
    head = ["problem"]
    for counter in COUNTERS:
        head += [counter.replace("_", ", "), "published"]
    lines = []
    for row in rows:
        line = [row["problem"]]
        for counter, published in zip(COUNTERS, PRUNING[row["problem"]], strict=True):
            line += [f"{row[counter]:,}", f"{published:,}"]
        lines.append(line)
    return to_markdown(head, lines) + "\n"
