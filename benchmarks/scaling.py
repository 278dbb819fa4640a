"""How seconds and nodes of a fit grow, one axis at a time.

    python -m benchmarks.scaling           # all axes: figures in docs/images, numbers in results
    python -m benchmarks.scaling --quick   # two small points per axis, nothing is written
    python -m benchmarks.scaling --draw    # the figures again, from the numbers

All tables come from the seeded generator in `suites/planted.py`. What is not varied has the value
in `BASE`. A time limit per rule brings the study to an end; where it was reached, the figures show
an open marker and the share of the best possible objective that is proven for every rule.
"""

import argparse
import csv
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator, StrMethodFormatter
from sklearn.exceptions import ConvergenceWarning

from benchmarks.problems import AS_IN_THE_PAPER
from benchmarks.suites.planted import planted
from laconic import RuleBoostingRegressor

IMAGES = Path(__file__).parents[1] / "docs" / "images"
RESULTS = Path(__file__).parent / "results" / "scaling.csv"
R2 = 0.99
COLOUR = "#1f5a8a"

BASE = {
    "n_rows": 2_000,
    "n_features": 20,
    "max_thresholds": 8,
    "l2_per_row": 0.06,  # a penalty on sums over rows means the same if it grows with them
    "n_terms": 10,
    "max_conditions": 5,
}


@dataclass(frozen=True)
class Axis:
    """One parameter and the values it takes.

    Attributes
    ----------
    name : str
        A key of `BASE`.
    label : str
        What the figure calls it.
    values : tuple
        None is a parameter's value for "no limit".
    position_of_none : float, default=nan
        Where None is drawn.
    """

    name: str
    label: str
    values: tuple[float | None, ...]
    position_of_none: float = float("nan")

    def position(self, value: float | None) -> float:
        return self.position_of_none if value is None else value


AXES = (
    Axis("n_rows", "rows", (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)),
    Axis("n_features", "features", (5, 10, 20, 50, 100, 200)),
    Axis(
        "max_thresholds",
        "thresholds per numeric feature",
        (2, 8, 17, 35, 71, None),
        position_of_none=BASE["n_rows"] - 1,
    ),
    Axis("l2_per_row", "λ per row", (0.0001, 0.001, 0.01, 0.06, 0.3, 1.0)),
    Axis("n_terms", "rules", (1, 2, 5, 10, 20)),
    Axis("max_conditions", "conditions per rule", (1, 2, 3, 4, 5, 7, None), position_of_none=10),
)


@dataclass(frozen=True)
class Point:
    """What one fit took.

    Attributes
    ----------
    axis : str
    value : float or None
    seconds : float
        CPU time of the fit, one thread.
    nodes : int
    n_unproven : int
        Rules whose search a limit stopped.
    ratio : float
        Share of the best possible objective that every rule reaches for certain.
    """

    axis: str
    value: float | None
    seconds: float
    nodes: int
    n_unproven: int
    ratio: float


def measure(axis: Axis, value: float | None, time_limit: float) -> Point:
    """Fit with one value changed from the base."""
    settings = BASE | {axis.name: value}
    drawn = planted(settings.pop("n_rows"), settings.pop("n_features"), r2=R2)
    l2_regularization = settings.pop("l2_per_row") * len(drawn.target)
    model = RuleBoostingRegressor(
        **AS_IN_THE_PAPER,
        l2_regularization=l2_regularization,
        node_limit=None,
        time_limit=time_limit,
        **settings,
    )
    started = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(drawn.table, drawn.target)
    seconds = process_time() - started
    results = model.search_results_
    return Point(
        axis.name,
        value,
        round(seconds, 3),
        sum(result.counters["nodes"] for result in results),
        sum(not result.is_optimal for result in results),
        round(min(result.approximation_ratio for result in results), 3),
    )


def measure_all(axes: Iterable[Axis], time_limit: float, n_values: int | None) -> list[Point]:
    """Measure the first values of every axis, reporting along the way."""
    points = []
    for axis in axes:
        for value in axis.values[:n_values]:
            points.append(measure(axis, value, time_limit))
            print(points[-1], flush=True)
    return points


def write(points: Sequence[Point]) -> None:
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Point.__dataclass_fields__)
        writer.writerows(vars(point).values() for point in points)


def read() -> list[Point]:
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return [
            Point(
                row["axis"],
                float(row["value"]) if row["value"] else None,
                float(row["seconds"]),
                int(row["nodes"]),
                int(row["n_unproven"]),
                float(row["ratio"]),
            )
            for row in csv.DictReader(file)
        ]


def draw_panel(ax: Axes, axis: Axis, points: Sequence[Point], what: str) -> None:
    """Seconds or nodes against the axis; open markers where a rule is unproven."""
    xs = [axis.position(point.value) for point in points]
    # No node is needed where the root is proven; a logarithm needs one.
    ys = [max(getattr(point, what), 1e-3 if what == "seconds" else 1) for point in points]
    ax.plot(xs, ys, color=COLOUR, linewidth=1.5, zorder=1)
    for is_unproven, label in ((False, "all rules proven"), (True, "stopped, with proven share")):
        group = [
            (x, y)
            for x, y, point in zip(xs, ys, points, strict=True)
            if (point.n_unproven > 0) == is_unproven
        ]
        if group:
            face = "white" if is_unproven else COLOUR
            ax.scatter(*zip(*group, strict=True), color=COLOUR, facecolor=face, s=42, label=label)
    for x, y, point in zip(xs, ys, points, strict=True):
        if point.n_unproven:
            ax.annotate(
                f"{point.ratio:.0%}",
                (x, y),
                xytext=(0, -15),
                textcoords="offset points",
                ha="center",
                fontsize=9,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )
    ax.set(xscale="log", yscale="log", xlabel=axis.label)
    ax.set_title("CPU seconds" if what == "seconds" else "nodes", loc="left", fontsize=11)
    ax.margins(x=0.08, y=0.25)
    label_values(ax, axis)
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(visible=True, alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def label_values(ax: Axes, axis: Axis) -> None:
    """Ticks at the values measured, instead of at powers of ten."""
    texts = ["no limit" if value is None else f"{value:,g}" for value in axis.values]
    if axis.name == "max_thresholds":
        texts[-1] = "all"
    if axis.name == "n_rows":
        texts = [f"{value:,}" for value in axis.values]
    ax.xaxis.set_major_locator(FixedLocator([axis.position(value) for value in axis.values]))
    ax.set_xticklabels(texts, rotation=30, ha="right")
    ax.xaxis.set_minor_locator(NullLocator())


def draw(axis: Axis, points: Sequence[Point]) -> None:
    """One figure per axis: seconds on the left, nodes on the right."""
    points = [point for point in points if point.axis == axis.name]
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, what in zip(panels, ("seconds", "nodes"), strict=True):
        draw_panel(ax, axis, points, what)
    handles = {
        text: handle
        for ax in panels
        for handle, text in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles, loc="outside upper right", ncols=2, frameon=False)
    figure.savefig(IMAGES / f"scaling_{axis.name}.png", dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two points per axis, not written")
    parser.add_argument("--draw", action="store_true", help="draw from the stored table")
    parser.add_argument("--time-limit", type=float, default=2, help="seconds per rule")
    options = parser.parse_args()
    if options.quick:
        measure_all(AXES, options.time_limit / 10, 2)
        return
    if not options.draw:
        write(measure_all(AXES, options.time_limit, None))
    points = read()
    for axis in AXES:
        draw(axis, points)


if __name__ == "__main__":
    main()
