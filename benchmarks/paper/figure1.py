"""Figure 1: noisy parity, where no condition helps by itself.

Writes ``figure1.csv`` and ``figure1.svg``: a sample in the plane with the cuts of a greedy tree and
with optimal rules, accuracy against the number of features, and accuracy against the number of
rules for six features.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter, StrMethodFormatter
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.tree import DecisionTreeClassifier

from benchmarks.paper.settings import COLOURS, GREEDY, MARKERS, OPTIMAL, Run, resume
from benchmarks.problems import AS_IN_THE_PAPER
from laconic import RuleBoostingClassifier, RuleEnsemble
from laconic.datasets import Dataset, noisy_parity

XGBOOST = "XGBoost"
NOISE = 0.5
# Quartiles: the median, where the corners meet, is among them, and so are cuts that mislead.
MAX_THRESHOLDS = 3
N_FEATURES_OF_CURVE = 6
N_TEST_ROWS = 10_000
CLASS_COLOURS = {1: "#1f5a8a", -1: "#b3541e"}
COLUMNS = ("n_features", "method", "n_terms_asked", "sample", "n_terms", "accuracy")


def measure(
    n_features: int, method: str, n_terms_asked: int, sample: int
) -> Iterator[dict[str, Any]]:
    """Accuracy on new rows by the number of rules."""
    train = noisy_parity(100 * 2**n_features, n_features, noise=NOISE, random_state=2 * sample)
    test = noisy_parity(N_TEST_ROWS, n_features, noise=NOISE, random_state=2 * sample + 1)
    key = dict(zip(COLUMNS, (n_features, method, n_terms_asked, sample), strict=False))
    stages = _boosted_trees if method == XGBOOST else _boosted_rules
    for n_terms, scores in stages(train, test, method, n_terms_asked):
        accuracy = np.mean((scores > 0) == (test.target > 0))
        yield key | {"n_terms": n_terms, "accuracy": round(float(accuracy), 4)}


def _boosted_rules(
    train: Dataset, test: Dataset, search: str, n_terms: int
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    model = RuleBoostingClassifier(
        n_terms,
        **AS_IN_THE_PAPER,
        search=search,
        l2_regularization=1.0,
        max_thresholds=MAX_THRESHOLDS,
        max_conditions=None,
        node_limit=None,
    )
    model.fit(train.data, train.target)
    yield from enumerate(model.staged_decision_function(test.data), start=1)


def _boosted_trees(
    train: Dataset, test: Dataset, _: str, n_terms: int
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Trees deep enough for whole corners; every leaf is a rule."""
    from xgboost import XGBClassifier

    n_features = len(train.feature_names)
    n_trees = max(1, n_terms // 2**n_features)
    model = XGBClassifier(n_estimators=n_trees, max_depth=n_features, n_jobs=1)
    model.fit(train.data, (train.target > 0).astype(int))
    nodes = model.get_booster().trees_to_dataframe()
    n_leaves = nodes[nodes["Feature"] == "Leaf"].groupby("Tree").size().cumsum()
    for n_used in range(1, n_trees + 1):
        scores = model.predict(test.data, iteration_range=(0, n_used), output_margin=True)
        yield int(n_leaves.iloc[n_used - 1]), scores


def keys(run: Run) -> list[tuple[int, str, int, int]]:
    """List the fits: as many rules as corners, and more of them for six features."""
    samples = range(1 if run.is_quick else 3)
    largest = 5 if run.is_quick else 7
    wanted = [
        (n_features, method, 2**n_features, sample)
        for n_features in range(2, largest + 1)
        for method in (OPTIMAL, GREEDY, XGBOOST)
        for sample in samples
    ]
    n_terms = {OPTIMAL: 128, GREEDY: 1024, XGBOOST: 64 * 64}
    return wanted + [
        (N_FEATURES_OF_CURVE, method, n_terms[method], sample)
        for method in n_terms
        for sample in samples
    ]


def best_accuracy(n_features: NDArray[Any]) -> NDArray[np.float64]:
    """Accuracy of the product of the signs, which no classifier exceeds."""
    p = norm.cdf(-1 / NOISE)
    return (1 + (1 - 2 * p) ** n_features) / 2


def make(run: Run) -> None:
    """Measure and draw."""
    rows = resume(run.output / "figure1.csv", keys(run), measure, COLUMNS, run.n_jobs)
    figure = plt.figure(figsize=(8.4, 8.2), layout="constrained")
    upper, lower = figure.subfigures(2, 1, height_ratios=(1.15, 1))
    train = noisy_parity(400, 2, noise=NOISE, random_state=0)
    for part, draws in ((upper, (draw_tree, draw_rules)), (lower, (draw_features, draw_sizes))):
        axes = part.subplots(1, 2)
        for ax, draw in zip(axes, draws, strict=True):
            draw(ax, train if part is upper else rows)
        handles, labels = axes[0].get_legend_handles_labels()
        part.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(run.output / "figure1.svg")
    plt.close(figure)


def draw_sample(ax: Axes, data: Dataset, title: str) -> None:
    """Points of both classes, over what a model says about the plane."""
    for label, marker, name in ((1, "o", "even"), (-1, "x", "odd")):
        points = data.data[data.target == label]
        ax.scatter(
            *points.T,
            s=11,
            marker=marker,
            color=CLASS_COLOURS[label],
            linewidths=0.8,
            alpha=0.75,
            label=f"class {label:+d} ({name})",
        )
    ax.set(xlim=(-2.8, 2.8), ylim=(-2.8, 2.8), xlabel="$x_1$", ylabel="$x_2$", aspect="equal")
    ax.set_title(title, fontsize=11)


def draw_tree(ax: Axes, data: Dataset) -> None:
    """Cuts of a greedy tree with as many leaves as there are corners."""
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(data.data, data.target)
    _draw_node(ax, tree, 0, (-2.8, 2.8), (-2.8, 2.8))
    draw_sample(ax, data, "(a) greedy tree with four leaves, n = 400")


def _draw_node(
    ax: Axes, model: Any, node: int, xs: tuple[float, float], ys: tuple[float, float]
) -> None:
    tree = model.tree_
    if tree.children_left[node] < 0:
        label = int(model.classes_[tree.value[node][0].argmax()])
        _draw_box(ax, xs, ys, label, alpha=0.16)
        return
    cut, is_vertical = float(tree.threshold[node]), tree.feature[node] == 0
    # Drawn over its box: what a cut divides shows where it ends.
    ends = ((cut, cut), ys) if is_vertical else (xs, (cut, cut))
    ax.plot(*ends, color="black", linewidth=1.6, zorder=3)
    low, high = xs if is_vertical else ys
    children = tree.children_left[node], tree.children_right[node]
    for child, half in zip(children, ((low, cut), (cut, high)), strict=True):
        _draw_node(ax, model, int(child), *((half, ys) if is_vertical else (xs, half)))


def draw_rules(ax: Axes, data: Dataset) -> None:
    """Four optimal rules as boxes."""
    model = RuleBoostingClassifier(
        4, **AS_IN_THE_PAPER, max_thresholds=9, max_conditions=None, l2_regularization=1.0
    )
    ensemble: RuleEnsemble = model.fit(data.data, data.target).ensemble_
    for number, rule in enumerate(ensemble, start=1):
        sides = {"x0": [-2.8, 2.8], "x1": [-2.8, 2.8]}
        for condition in rule.query:
            sides[condition.feature][condition.relation == "<="] = condition.value
        xs, ys = (tuple(side) for side in sides.values())
        _draw_box(ax, xs, ys, int(np.sign(rule.weight)), alpha=0.16, edge="black")
        corner = (2.55 if xs[1] > 2 else -2.55, 2.5 if ys[1] > 2 else -2.5)
        ax.text(
            *corner,
            f"rule {number}: {rule.weight:+.2f}",
            ha="right" if corner[0] > 0 else "left",
            va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.5},
            zorder=4,
        )
    draw_sample(ax, data, "(b) four optimal rules, n = 400")


def _draw_box(
    ax: Axes,
    xs: Sequence[float],
    ys: Sequence[float],
    label: int,
    *,
    alpha: float,
    edge: str = "none",
) -> None:
    size = xs[1] - xs[0], ys[1] - ys[0]
    corner = xs[0], ys[0]
    ax.add_patch(Rectangle(corner, *size, facecolor=CLASS_COLOURS[label], alpha=alpha))
    ax.add_patch(Rectangle(corner, *size, facecolor="none", edgecolor=edge, linewidth=1.4))


def draw_features(ax: Axes, rows: list[dict[str, Any]]) -> None:
    """Accuracy with as many rules as corners, against the number of features."""
    for method in (OPTIMAL, GREEDY, XGBOOST):
        by_count: dict[int, list[float]] = {}
        for row in rows:
            is_last = row["n_terms_asked"] == 2 ** row["n_features"]
            if row["method"] == method and is_last:
                by_sample = by_count.setdefault(row["n_features"], [])
                if method == XGBOOST or row["n_terms"] == 2 ** row["n_features"]:
                    by_sample.append(row["accuracy"])
        counts = sorted(by_count)
        means = [np.mean(by_count[count]) for count in counts]
        ax.plot(counts, means, color=COLOURS[method], marker=MARKERS[method], label=method)
    counts = np.array(sorted({row["n_features"] for row in rows}))
    ax.plot(counts, best_accuracy(counts), color="0.4", linestyle=":", label="best possible")
    ax.set(xlabel="number of features d", xticks=counts)
    ax.set_title("(c) $n = 100 · 2^d$ rows, $k = 2^d$ rules", fontsize=11)
    _finish(ax)


def draw_sizes(ax: Axes, rows: list[dict[str, Any]]) -> None:
    """Accuracy against the number of rules."""
    for method in (OPTIMAL, GREEDY, XGBOOST):
        by_sample: dict[int, list[tuple[int, float]]] = {}
        for row in rows:
            is_curve = row["n_features"] == N_FEATURES_OF_CURVE and row["method"] == method
            if is_curve and row["n_terms_asked"] != 2**N_FEATURES_OF_CURVE:
                point = row["n_terms"], row["accuracy"]
                by_sample.setdefault(row["sample"], []).append(point)
        # Stage by stage: after as many trees, samples have different numbers of leaves.
        n_stages = min(map(len, by_sample.values()))
        stages = np.mean([points[:n_stages] for points in by_sample.values()], axis=0)
        ax.plot(*stages.T, color=COLOURS[method], label=method)
    best = float(best_accuracy(np.array(N_FEATURES_OF_CURVE)))
    ax.axhline(best, color="0.4", linestyle=":", label="best possible")
    ax.set(xlabel="number of rules (XGBoost: leaves) k", xscale="log")
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.set_title(f"(d) d = {N_FEATURES_OF_CURVE}, n = 6,400 rows", fontsize=11)
    _finish(ax)


def _finish(ax: Axes) -> None:
    ax.set(ylabel="accuracy on new rows", ylim=(0.45, 1.0))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.grid(visible=True, alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
