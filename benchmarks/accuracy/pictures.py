"""The pictures of ``docs/research/accuracy.md``: mean curves, and ranks."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.accuracy import summary
from benchmarks.accuracy.competitors import EBM, FASTOGB, FIGS, L1, RELAXED, TREE, XGBOOST
from benchmarks.accuracy.methods import GREEDY, JOINT, LACONIC, RULES_ONLY, STAGEWISE
from benchmarks.full_resolution_pictures import STYLE, new_figure

IMAGES = Path(__file__).parents[2] / "docs" / "images"

# Okabe and Ito's colours, which colour-blind readers can tell apart; laconic's lines are thick.
LINES = {
    LACONIC: {"color": "#0072B2", "linewidth": 3.0},
    RULES_ONLY: {"color": "#56B4E9", "linewidth": 2.4},
    JOINT: {"color": "#56B4E9", "linewidth": 2.0, "linestyle": (0, (5, 2))},
    STAGEWISE: {"color": "#1B1B1B", "linewidth": 1.8},
    GREEDY: {"color": "#1B1B1B", "linewidth": 1.6, "linestyle": (0, (1, 1.5))},
    FASTOGB: {"color": "#D55E00", "linewidth": 1.8},
    FIGS: {"color": "#009E73", "linewidth": 1.8},
    TREE: {"color": "#009E73", "linewidth": 1.6, "linestyle": (0, (5, 2))},
    RELAXED: {"color": "#CC79A7", "linewidth": 1.8},
    L1: {"color": "#CC79A7", "linewidth": 1.6, "linestyle": (0, (5, 1, 1, 1))},
}
CEILINGS = {EBM: (0, (1, 3)), XGBOOST: (0, (4, 4))}


def draw(points: pd.DataFrame, names: Sequence[str]) -> None:
    """Draw both pictures of the methods that were measured."""
    with mpl.rc_context(STYLE):
        for name, figure in (("curves", _curves(points, names)), ("ranks", _ranks(points, names))):
            path = IMAGES / f"accuracy_{name}.svg"
            figure.savefig(path, metadata={"Date": None, "Creator": None})
            print(path)


def _curves(points: pd.DataFrame, names: Sequence[str]) -> Figure:
    figure, panels = new_figure(2, height=5.2)
    for axes, (metric, title) in zip(
        panels, (("auc", "Classes: area under the ROC curve"), ("r2", "Numbers: R²")), strict=True
    ):
        means = summary.curves(points, metric).groupby(level="method").mean()
        for name in [name for name in LINES if name in means.index]:
            axes.step(summary.BUDGETS, means.loc[name], where="post", label=name, **LINES[name])
        for name in [name for name in CEILINGS if name in means.index]:
            style = {"color": "#9A9A9A", "linewidth": 1.2, "linestyle": CEILINGS[name]}
            axes.axhline(means.loc[name].iloc[-1], label=name, **style)
        readable = means.loc[[name for name in names if name in LINES]]
        # All curves but the lowest are seen from size 6 on.
        low = readable[summary.BUDGETS[4]].nsmallest(2).iloc[-1]
        high = means.to_numpy().max()
        axes.set(title=title, xlabel="size: terms and conditions", ylim=(low, high + 0.01))
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure


def _ranks(points: pd.DataFrame, names: Sequence[str]) -> Figure:
    readable = [name for name in names if name in LINES]
    ranks = summary.average_ranks(summary.comparable_areas(points)[readable])[::-1]
    figure, (axes,) = new_figure(height=0.6 + 0.36 * len(ranks))
    axes.hlines(range(len(ranks)), 1, ranks, color="#CFCFCF", linewidth=1.2)
    for position, (name, rank) in enumerate(ranks.items()):
        axes.plot(rank, position, "o", color=LINES[name]["color"], markersize=9)
        axes.annotate(
            f"{rank:.1f}", (rank, position), (9, 0), textcoords="offset points", va="center"
        )
    axes.set(yticks=range(len(ranks)), yticklabels=ranks.index, xlim=(1, len(ranks) + 0.4))
    axes.set_title("Average rank of the area under the size/score curve, 1 is best")
    return figure
