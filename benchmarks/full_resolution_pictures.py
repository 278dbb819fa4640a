"""Draw the pictures of `docs/research/full-resolution.md`: boxes, nodes, rows and ranges.

    python -m benchmarks.full_resolution_pictures

Nothing is measured. Rows are made up, from a fixed seed or by hand, and the files are the same on
every run.
"""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Rectangle

IMAGES = Path(__file__).parents[1] / "docs" / "images"

# Okabe and Ito's colours, which colour-blind readers can tell apart; shapes differ as well.
GAINING, COSTING, TIGHT, LOOSE = "#0072B2", "#D55E00", "#1B1B1B", "#009E73"
GREY, TEXT = "#9A9A9A", "#1B1B1B"

STYLE = {
    "axes.edgecolor": "#5A5A5A",
    "axes.labelcolor": TEXT,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "figure.facecolor": "white",
    "font.size": 11,
    "legend.frameon": False,
    "savefig.facecolor": "white",
    "svg.hashsalt": "laconic",
    "text.color": TEXT,
}


def new_figure(n_columns=1, n_rows=1, height=4.2, **options):
    """Return a figure and its panels."""
    figure = Figure(figsize=(9.0, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options).ravel()


def is_within(points, box):
    """Return which points lie in a box (left, right, bottom, top), its edges included."""
    left, right, bottom, top = box
    x, y = points[:, 0], points[:, 1]
    return (left <= x) & (x <= right) & (bottom <= y) & (y <= top)


def draw_box(axes, box, colour, **options):
    """Draw the outline of a box, or fill it."""
    left, right, bottom, top = box
    options = {"fill": False, "linewidth": 2.0, "edgecolor": colour, "zorder": 2} | options
    axes.add_patch(Rectangle((left, bottom), right - left, top - bottom, **options))


def draw_arrow(axes, start, end, colour, **options):
    """Draw an arrow from one point to another."""
    options = {"arrowstyle": "-|>", "mutation_scale": 15, "linewidth": 1.8, "zorder": 4} | options
    axes.add_patch(FancyArrowPatch(start, end, color=colour, shrinkA=0, shrinkB=0, **options))


def hide_ticks(axes, x_label="feature 1", y_label="feature 2"):
    """Leave the names of the axes, and nothing to read off them."""
    axes.set(xticks=[], yticks=[], xlabel=x_label, ylabel=y_label)


def draw_chains():
    """Two features as four chains of cuts, and one box as a cut on each of them."""
    points = np.random.default_rng(3).uniform(0.4, 9.6, size=(26, 2)).round(1)
    x, y = points.T
    covered = is_within(points, (2.5, 7.4, 3.1, 8.2))
    box = [(cut_beyond(x, covered, -1), cut_beyond(x, covered, 1))]
    box += [(cut_beyond(y, covered, -1), cut_beyond(y, covered, 1))]
    (left, right), (bottom, top) = box
    figure, (plane, tracks) = new_figure(2, height=4.3, width_ratios=(1, 1.2))
    draw_box(plane, (left, right, bottom, top), GAINING, fill=True, facecolor="#E3F0F8")
    plane.plot(*points[covered].T, "o", color=GAINING, markersize=7, zorder=3)
    plane.plot(*points[~covered].T, "o", color="#6E6E6E", markersize=6, mfc="white", zorder=3)
    plane.plot(x, np.full(26, 0.15), "|", color="#6E6E6E", markersize=8)
    plane.plot(np.full(26, 0.15), y, "_", color="#6E6E6E", markersize=8)
    plane.set(xlim=(0, 10), ylim=(0, 10), title="A query is a box …")
    hide_ticks(plane)
    middle_x, middle_y = (left + right) / 2, (bottom + top) / 2
    chains = (
        ("feature 1 ≤ cut", x, (right, middle_y)),
        ("feature 1 > cut", -x, (left, middle_y)),
        ("feature 2 ≤ cut", y, (middle_x, top)),
        ("feature 2 > cut", -y, (middle_x, bottom)),
    )
    for number, (name, values, place) in enumerate(chains, start=1):
        levels, level_of_row = np.unique(values, return_inverse=True)
        draw_number(plane, place, number)
        draw_number(tracks, (0.2, 0.42 - number), number)
        draw_track(tracks, -number, name, len(levels), level_of_row[covered].max())
    tracks.set(xlim=(-0.8, 26.8), ylim=(-4.75, -0.2), title="… which is one cut on each chain")
    tracks.axis("off")
    tracks.annotate("tightest", (-0.2, -4.55), color="#4A4A4A")
    tracks.annotate("no condition", (26.2, -4.55), ha="right", color="#4A4A4A")
    return figure


def cut_beyond(values, covered, direction):
    """Return a cut halfway between the outermost covered value and the next one."""
    outermost = (direction * values[covered]).max()
    return direction * (outermost + min(direction * values[direction * values > outermost])) / 2


def draw_number(axes, place, number):
    """Draw the number of a chain."""
    axes.plot(*place, "o", color=TIGHT, markersize=15, zorder=5)
    axes.annotate(
        str(number), place, color="white", ha="center", va="center_baseline", fontsize=10, zorder=6
    )


def draw_track(axes, y, name, n_levels, cut):
    """Draw the levels of a chain, those within the cut filled."""
    x = np.linspace(0, 26, n_levels)
    axes.plot([0, 26], [y, y], color="#CFCFCF", linewidth=2, zorder=1)
    axes.plot(x[: cut + 1], [y] * (cut + 1), "o", color=GAINING, markersize=6, zorder=2)
    beyond = x[cut + 1 :]
    axes.plot(beyond, [y] * len(beyond), "o", color="#6E6E6E", mfc="white", markersize=6, zorder=2)
    middle = x[cut : cut + 2].mean()
    axes.plot([middle] * 2, [y - 0.2, y + 0.2], color=TIGHT, linewidth=2.5, zorder=3)
    axes.annotate(name, (1.3, y + 0.42), va="center")


def draw_node():
    """Draw a node: all boxes between the tightest and the loosest one."""
    x, y = np.meshgrid(np.linspace(0.5, 9.5, 13), np.linspace(0.5, 9.5, 12))
    points = np.column_stack([x.ravel(), y.ravel()])
    points += np.random.default_rng(11).uniform(-0.25, 0.25, size=points.shape)
    inner, outer = (3.55, 6.6, 3.6, 6.5), (1.2, 8.7, 1.3, 8.75)
    one_of_them = (2.1, 7.35, 3.05, 7.95)
    middle_x, middle_y = 5.05, 5.05
    lines_x = (*inner[:2], *outer[:2], *one_of_them[:2], middle_x)
    lines_y = (*inner[2:], *outer[2:], *one_of_them[2:], middle_y)
    points = points[is_clear_of(points[:, 0], lines_x) & is_clear_of(points[:, 1], lines_y)]
    is_live, is_mandatory = is_within(points, outer), is_within(points, inner)
    is_optional = is_live & ~is_mandatory
    figure, (axes,) = new_figure(height=4.9)
    draw_box(axes, outer, LOOSE, fill=True, facecolor="#E6F4EF", linestyle=(0, (5, 2)))
    draw_box(axes, one_of_them, GAINING, linestyle=(0, (1, 1.5)))
    draw_box(axes, inner, TIGHT, fill=True, facecolor="#D9D9D9", linewidth=2.4)
    axes.plot(*points[is_mandatory].T, "o", color=TIGHT, markersize=7, zorder=3)
    axes.plot(*points[is_optional].T, "o", color=LOOSE, mfc="white", mew=1.8, ms=7, zorder=3)
    axes.plot(*points[~is_live].T, "x", color="#7A7A7A", markersize=6, zorder=3)
    for edge, place in enumerate(((0, middle_y), (0, middle_y), (middle_x, 0), (middle_x, 0))):
        start, end = list(place), list(place)
        start[edge // 2], end[edge // 2] = inner[edge], outer[edge]
        draw_arrow(axes, start, end, "#4A4A4A", arrowstyle="<|-|>", linewidth=1.4)
    entries = [
        Line2D([], [], color=TIGHT, linewidth=2.4, label="tightest box"),
        Line2D(
            [], [], color=GAINING, linewidth=2, linestyle=(0, (1, 1.5)), label="one of its boxes"
        ),
        Line2D([], [], color=LOOSE, linewidth=2, linestyle=(0, (5, 2)), label="loosest box"),
        Line2D(
            [],
            [],
            color="#4A4A4A",
            marker=r"$\leftrightarrow$",
            ms=18,
            ls="",
            label="range of a cut",
        ),
        Line2D([], [], color=TIGHT, marker="o", ls="", label="mandatory: in every box"),
        Line2D(
            [], [], color=LOOSE, marker="o", ls="", mfc="white", mew=1.8, label="optional: in some"
        ),
        Line2D([], [], color="#7A7A7A", marker="x", ls="", label="gone: in none"),
    ]
    axes.legend(handles=entries, loc="center left", bbox_to_anchor=(1.02, 0.5), labelspacing=0.9)
    axes.set(xlim=(0, 10), ylim=(0, 10), title="A node is a range of cuts on every chain")
    hide_ticks(axes)
    return figure


def is_clear_of(values, lines):
    """Return which values are so far from all lines that a reader sees where they belong."""
    return np.abs(np.subtract.outer(values, lines)).min(axis=1) > 0.17


def draw_rows_together():
    """Draw a costing row that a gaining row implies, and one that two gaining rows block."""
    figure, (left, right) = new_figure(2, height=4.5)
    for axes in (left, right):
        draw_box(axes, (0, 4, 0, 3.4), TIGHT, fill=True, facecolor="#E4E4E4", linewidth=2.2)
        axes.annotate("tightest box", (0.25, 0.3), color="#4A4A4A")
        axes.set(xlim=(0, 10), ylim=(0, 8.6))
        hide_ticks(axes)
    draw_implied_row(left, gaining=(8.0, 6.6), costing=(5.7, 4.9))
    draw_blocked_row(right, blocked=(6.3, 5.3), group=((8.4, 2.3), (2.2, 7.3)))
    return figure


def draw_implied_row(axes, gaining, costing):
    """Draw a costing row within every box that covers a gaining one."""
    axes.plot(
        [0, gaining[0], gaining[0]],
        [gaining[1], gaining[1], 0],
        color=GAINING,
        linestyle=(0, (2, 2)),
    )
    axes.fill_between([0, gaining[0]], gaining[1], color="#E3F0F8", zorder=0)
    draw_arrow(axes, (7.72, 6.39), (6.05, 5.16), TEXT)
    draw_rows(axes, [gaining], [costing])
    axes.annotate("gaining row", (8.2, 6.95), color=GAINING)
    axes.annotate("costing row", (5.7, 4.15), color=COSTING, ha="center")
    axes.annotate("every box with the gaining row\nreaches this far", (0.2, 6.85), color=GAINING)
    axes.set_title("The gaining row implies the costing one:\nits loss is set off against the gain")


def draw_blocked_row(axes, blocked, group):
    """Draw a costing row which cannot be cut off without losing one of two gaining ones."""
    x, y = blocked[0] - 0.5, blocked[1] - 0.5
    dashes = {"color": COSTING, "linestyle": (0, (4, 3)), "linewidth": 1.6}
    axes.plot([x, x], [0, 7.9], **dashes)
    axes.plot([0, 8.5], [y, y], **dashes)
    axes.annotate("cut A", (x, 8.0), color=COSTING, ha="center")
    axes.annotate("cut B", (8.65, y), color=COSTING, va="center")
    draw_rows(axes, group, [blocked])
    axes.annotate("lost with cut A", (8.4, 1.5), color=GAINING, ha="center")
    axes.annotate("lost with cut B", (2.2, 6.5), color=GAINING, ha="center")
    axes.annotate("costing row", (6.7, 5.3), color=COSTING, va="center")
    axes.set_title("Two gaining rows block the costing one:\nit is in, or one of them is out")


def draw_rows(axes, gaining, costing):
    """Draw gaining and costing rows as discs and squares with their signs."""
    for points, marker, sign, colour in (
        (gaining, "o", "+", GAINING),
        (costing, "s", "−", COSTING),
    ):
        for x, y in points:
            axes.plot(x, y, marker, color=colour, markersize=14, zorder=5)
            axes.annotate(
                sign, (x, y), color="white", ha="center", va="center_baseline",
                fontsize=13, fontweight="bold", zorder=6,
            )  # fmt: skip


def draw_range():
    """Draw the losses of the cuts of one chain, its narrowed range, and the split."""
    random = np.random.default_rng(5)
    gaining, costing = random.gamma(1.2, 0.85, 41), random.gamma(1.0, 0.8, 41)
    gaining[0] = costing[0] = 0.0  # within the tightest cut
    levels, gap = np.arange(41), 29.0
    lost, forced = gaining.sum() - gaining.cumsum(), costing.cumsum()  # by a cut at each level
    tight, loose = levels[lost <= gap].min(), levels[forced <= gap].max()
    inside = gaining[tight + 1 : loose + 1]
    split = loose - np.searchsorted(inside[::-1].cumsum(), 0.57 * min(gap, inside.sum()))
    figure, (above, below) = new_figure(n_rows=2, height=5.8, sharex=True, height_ratios=(1.8, 1))
    draw_costs(above, levels, lost, forced, gap)
    for start, end, name in ((-0.8, tight - 0.5, "too tight"), (loose + 0.5, 40.8, "too loose")):
        above.axvspan(start, end, color="#E9E9E9", zorder=0)
        above.annotate(name, ((start + end) / 2, 22.0), ha="center", color="#4A4A4A")
    draw_bar(below, 2, 0, 40, "before", GREY)
    draw_bar(below, 1, tight, loose, "narrowed", LOOSE)
    draw_bar(below, 0, tight, split - 1, "tighter cuts", LOOSE)
    draw_bar(below, 0, split, loose, "looser cuts", LOOSE)
    below.set(yticks=[], ylim=(-0.5, 2.5), xlim=(-0.8, 40.8), xticks=[])
    below.set(xlabel="tightest cut   ←   cuts of one chain   →   loosest cut")
    below.set_title("… then splitting what is left")
    below.spines[["left", "bottom"]].set_visible(False)
    return figure


def draw_costs(axes, levels, lost, forced, gap):
    """Draw what boxes lose by the cut of one chain, whatever the others are."""
    axes.step(levels, lost, color=GAINING, where="mid", linewidth=2.2)
    axes.step(levels, forced, color=COSTING, where="mid", linewidth=2.2, linestyle=(0, (6, 1)))
    axes.axhline(gap, color=TIGHT, linestyle=(0, (2, 2)), linewidth=1.4)
    axes.annotate("gap between bound\nand best rule so far", (24, gap + 1.2), ha="center")
    axes.annotate("gaining rows that are lost", (6.5, 37.5), color=GAINING, va="center")
    axes.annotate("costing rows that are forced in", (1.5, 15), color=COSTING, va="center")
    axes.set(yticks=[], ylim=(0, 42), ylabel="what a cut costs at least")
    axes.set_title("Narrowing the range of one chain from both ends …")


def draw_bar(axes, y, start, end, name, colour):
    """Draw a range of cuts."""
    axes.barh(y, end - start + 0.7, left=start - 0.35, height=0.7, color=colour, alpha=0.22)
    axes.plot(range(start, end + 1), [y - 0.24] * (end - start + 1), "|", color=colour, ms=6)
    axes.annotate(name, ((start + end) / 2, y + 0.08), ha="center", va="center")


PICTURES = {
    "chains": draw_chains,
    "node": draw_node,
    "rows": draw_rows_together,
    "range": draw_range,
}


def main():
    """Draw all pictures again."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--output", type=Path, default=IMAGES, help="folder for the SVG files")
    output = parser.parse_args().output
    with mpl.rc_context(STYLE):
        for name, draw in PICTURES.items():
            path = output / f"full_resolution_{name}.svg"
            draw().savefig(path, metadata={"Date": None, "Creator": None})
            print(path)


if __name__ == "__main__":
    main()
