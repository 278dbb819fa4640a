"""A model along one or two features: its predictions, the boxes of its rules, and the rows.

Raw predictions are linear between the thresholds of rules and the ends of slopes, so that a feature
has a few *steps*: the intervals between these, or the categories. A rule holds on some steps of
each feature; if it also has conditions on features that are not shown, its weight is multiplied by
the fraction of the rows that satisfy them. Slopes of such features add their mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from laconic._util.types import Bools, Floats
from laconic.models import RuleModel
from laconic.models.tasks import Task
from laconic.plot._common import (
    Display,
    colour,
    diverging_colours,
    hide_frame,
    literal,
    wrapped,
    write_numbers,
    write_times,
)
from laconic.tables.columns import CategoricalColumn, Column, NumericColumn, TimeColumn
from laconic.tables.tables import Table, as_table
from laconic.tables.times import MOMENTS, microseconds
from laconic.terms.conditions import Query
from laconic.terms.formatting import class_text, format_weight
from laconic.terms.rules import Rule, RuleEnsemble, Term
from laconic.terms.slopes import Slope

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import StepPatch
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox


# Boxes of rules often share edges: each one is drawn a little smaller than the one before, by this
# fraction of the axes, so that all of them are visible.
INSET = 0.004
# Pixels between labels.
LABEL_GAP = 2
# Height of the histogram of the rows, as a fraction of the axes.
DENSITY_HEIGHT = 0.15
N_BINS = 40


class RuleBoxDisplay(Display):
    """A model along one or two features: its predictions, the boxes of its rules, and the rows.

    With two features, the colour is the mean raw prediction if all rows had these two values, and
    each rule is a box, dashed if it has conditions on other features too; slopes change the colour
    gradually. With one feature, the mean raw prediction is a line, each rule a bar at the height of
    its weight, each slope a line that begins at 0, and a histogram of the rows is at the bottom.

    Parameters
    ----------
    ensemble : RuleEnsemble
        The model.
    steps : sequence of one or two FeatureSteps
        The features to show.
    predictions : ndarray of shape (n_steps, 2) or (n_steps_x, n_steps_y)
        Mean raw prediction where each step begins and ends, and with two features in its middle.
    task : Task
        What the raw predictions mean.
    y : ndarray of shape (n_rows,) or None, default=None
        Target of the rows; None leaves the rows out.

    Attributes
    ----------
    labels_ : list of matplotlib Annotation
        Numbers of the terms, or of the rules with their weights if there are two features.
    density_ : matplotlib StepPatch
        The histogram, with one feature.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> from laconic.plot import RuleBoxDisplay
    >>> X, y = [[1, 1], [1, 2], [2, 1], [2, 2]], [0, 0, 0, 8]
    >>> model = RuleBoostingRegressor(l2_regularization=0).fit(X, y)
    >>> RuleBoxDisplay.from_estimator(model, X, y, features=["x0", "x1"]).predictions
    array([[0., 0.],
           [0., 8.]])
    """

    _figure_size = (6.0, 4.5)

    labels_: list[Annotation]
    density_: StepPatch

    def __init__(
        self,
        ensemble: RuleEnsemble,
        steps: Sequence[FeatureSteps],
        predictions: Floats,
        task: Task,
        *,
        y: NDArray[Any] | None = None,
    ) -> None:
        self.ensemble = ensemble
        self.steps = steps
        self.predictions = predictions
        self.task = task
        self.y = y

    @classmethod
    def from_estimator(
        cls,
        estimator: RuleModel,
        X: Any,
        y: ArrayLike | None = None,
        *,
        features: str | Sequence[str],
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted model of numbers or two classes along one or two features.

        Parameters
        ----------
        estimator : RuleModel
            A fitted classifier or regressor.
        X : table-like of shape (n_rows, n_features)
            Rows to average over, and to draw if `y` is given.
        y : array-like of shape (n_rows,), default=None
            Their target.
        features : str, or sequence of one or two str
            Names of the features; those of an array are x0, x1, ...
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : RuleBoxDisplay
        """
        names = [features] if isinstance(features, str) else list(features)
        if len(names) not in (1, 2) or len(set(names)) < len(names):
            raise ValueError(
                f"'features' must be the names of one or two different features. Got {names}. Make "
                "a plot for each pair."
            )
        check_is_fitted(estimator)
        ensemble = estimator.ensemble_
        if ensemble.outputs:
            raise ValueError(
                "RuleBoxDisplay draws one raw prediction per row. Got a model of "
                f"{len(ensemble.outputs)} classes. Draw RuleWeightDisplay or ContributionDisplay "
                "instead."
            )
        table = ensemble.readable(as_table(X, ensemble.feature_names))
        n_parts = N_PARTS if len(names) == 2 else 1
        steps = [feature_steps(ensemble, table, name, n_parts) for name in names]
        predictions = step_predictions(ensemble, table, steps)
        if y is not None:
            y = np.asarray(y)
            check_consistent_length(steps[0].positions, y)
        return cls(ensemble, steps, predictions, estimator.task_, y=y).plot(ax)

    def _draw(self) -> None:
        self.labels_ = []
        self._draw_axis(self.ax_.xaxis, self.steps[0])
        if len(self.steps) == 2:
            self._draw_axis(self.ax_.yaxis, self.steps[1])
            self._draw_plane()
        else:
            self._draw_line()

    def _draw_axis(self, axis: Any, feature: FeatureSteps) -> None:
        axis.set_label_text(wrapped(feature.name))
        if isinstance(feature.column, TimeColumn):
            write_times(axis, feature.column.kind)
        elif feature.categories is None and feature.name in self.ensemble.feature_kinds:
            axis.get_major_locator().set_params(integer=True)
        if feature.categories is not None:
            labels = [wrapped(category, 20) for category in feature.categories]
            # Many or long names do not fit next to each other.
            is_crowded = sum(map(len, labels)) > 50
            turn = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if is_crowded else {}
            axis.set_ticks(range(len(labels)), labels, **turn)

    def _draw_plane(self) -> None:
        horizontal, vertical = self.steps
        limits: dict[str, Any] = {"cmap": "cividis"}
        if self.task.holds_classes:
            largest = np.abs(self.predictions).max() or 1.0
            limits = {"cmap": diverging_colours(), "vmin": -largest, "vmax": largest}
        mesh = self.ax_.pcolormesh(
            horizontal.edges, vertical.edges, self.predictions.T, alpha=0.55, **limits
        )
        bar = self.figure_.colorbar(mesh, ax=self.ax_, label=wrapped(self.task.sum_words))
        write_numbers(bar.ax.yaxis)
        self._draw_rows(horizontal.positions, vertical.positions, mesh.norm)
        self._draw_boxes()

    def _draw_rows(self, x: Floats, y: Floats, norm: Any = None) -> None:
        """Draw the rows at these positions: classes as two marks, numbers as colours."""
        if self.y is None:
            return
        if self.task.labels is None:
            edge: dict[str, Any] = {"edgecolors": "black", "linewidths": 0.3}
            self.ax_.scatter(x, y, c=self.y, cmap="cividis", norm=norm, s=14, **edge)
            return
        marks: list[dict[str, Any]] = [
            {"marker": "x", "color": colour(-1), "linewidths": 1.0},
            {"marker": "o", "color": colour(1), "linewidths": 0.4, "edgecolors": "white"},
        ]
        for label, mark in zip(self.task.labels, marks, strict=True):
            chosen = self.y == label
            self.ax_.scatter(x[chosen], y[chosen], s=16, label=literal(class_text(label)), **mark)
        # Above the axes, where it hides nothing.
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)

    def _draw_boxes(self) -> None:
        from matplotlib.patches import Rectangle

        shown = {feature.name for feature in self.steps}
        inset_x, inset_y = (INSET * (each.edges[-1] - each.edges[0]) for each in self.steps)
        n_drawn = 0
        for number, rule in enumerate(self.ensemble, start=1):
            features = set(rule.features)
            if isinstance(rule, Slope) or not features & shown:
                continue
            n_drawn += 1
            for (left, right), (bottom, top) in product(*self._stretches(rule.query)):
                left, right = left + n_drawn * inset_x, right - n_drawn * inset_x
                bottom, top = bottom + n_drawn * inset_y, top - n_drawn * inset_y
                box = Rectangle(
                    (left, bottom),
                    right - left,
                    top - bottom,
                    fill=False,
                    edgecolor=colour(rule.weight),
                    linewidth=1.8,
                    linestyle="-" if features <= shown else "--",
                )
                self.ax_.add_patch(box)
                self._write(f"{number}: {format_weight(rule.weight)}", left, top, (3, -3), "top")
        self._move_labels_apart()

    def _move_labels_apart(self) -> None:
        """Move labels to the right, and then down, until none is written over another."""
        self.figure_.draw_without_rendering()
        frame = self.ax_.get_window_extent()
        points_per_pixel = 72 / self.figure_.dpi
        taken: list[Bbox] = []
        for label in self.labels_:
            box = label.get_window_extent().padded(LABEL_GAP)
            x, y = label.xyann
            start, moved = box.x0, box
            while blocking := next((other for other in taken if other.overlaps(moved)), None):
                moved = moved.translated(blocking.x1 - moved.x0 + 1, 0)
                if moved.x1 > frame.x1:
                    moved = moved.translated(start - moved.x0, -moved.height)
                if moved.y0 < frame.y0:
                    break
            taken.append(moved)
            right, up = moved.x0 - box.x0, moved.y0 - box.y0
            label.xyann = (x + right * points_per_pixel, y + up * points_per_pixel)

    def _stretches(self, query: Query) -> list[list[tuple[float, float]]]:
        """Find where a query holds along each feature: the ends of runs of neighbouring steps."""
        return [
            [(each.edges[start], each.edges[stop]) for start, stop in runs(each.holds(query))]
            for each in self.steps
        ]

    def _draw_line(self) -> None:
        [feature] = self.steps
        self._draw_ends(feature.edges, self.predictions, color="black", linewidth=2, label="model")
        self._draw_density(feature)
        self._draw_levels(feature)
        self.ax_.set_ylabel(wrapped(self.task.sum_words))
        if self.y is not None:
            self._draw_rows(feature.positions, self._heights(self.y))
        # Room for the histogram.
        low, high = self.ax_.get_ylim()
        self.ax_.set_ylim(low - 1.3 * DENSITY_HEIGHT * (high - low), high)
        self._move_labels_apart()
        write_numbers(self.ax_.yaxis)
        hide_frame(self.ax_)

    def _draw_density(self, feature: FeatureSteps) -> None:
        """Draw a histogram of the rows at the bottom."""
        known = feature.positions[~np.isnan(feature.positions)]
        is_number = feature.categories is None
        edges = np.linspace(feature.edges[0], feature.edges[-1], N_BINS + 1)
        counts, edges = np.histogram(known, edges if is_number else feature.edges)
        self.density_ = self.ax_.stairs(
            DENSITY_HEIGHT * counts / max(counts.max(), 1),
            edges,
            fill=True,
            color="lightgray",
            transform=self.ax_.get_xaxis_transform(),
            zorder=0,
        )

    def _draw_levels(self, feature: FeatureSteps) -> None:
        """Draw each term that uses the feature, where it adds something: at that height."""
        for number, term in enumerate(self.ensemble, start=1):
            if feature.name not in term.features:
                continue
            heights = term.weight * feature.values(term, at_ends=True)
            for start, stop in runs(np.abs(heights).max(axis=1) > 0.0):
                self._draw_ends(
                    feature.edges[start : stop + 1],
                    heights[start:stop],
                    color=colour(term.weight),
                    linewidth=4,
                    alpha=0.6,
                    solid_capstyle="butt",
                    linestyle="-" if len(term.features) == 1 else (0, (1.5, 0.7)),
                )
                self._write(str(number), feature.edges[start], heights[start, 0], (3, 3), "bottom")

    def _draw_ends(self, edges: Floats, heights: Floats, **options: Any) -> None:
        """Draw a line through the heights at which each step begins and ends."""
        self.ax_.plot(np.repeat(edges, 2)[1:-1], heights.ravel(), **options)

    def _heights(self, y: NDArray[Any]) -> Floats:
        """Heights of the rows: their target, or below and above the model for two classes."""
        if self.task.labels is None:
            return y
        low, high = self.ax_.get_ylim()
        beyond = 0.06 * (high - low)
        return np.where(y == self.task.labels[1], high + beyond, low - beyond)

    def _write(self, text: str, x: float, y: float, offset: tuple[int, int], va: str) -> None:
        label = self.ax_.annotate(
            text,
            (x, y),
            xytext=offset,
            textcoords="offset points",
            va=va,
            fontsize="small",
            fontweight="bold",
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0},
        )
        self.labels_.append(label)


# Steps, at least, of a feature of a slope if colours show the predictions.
N_PARTS = 100
# Fraction of the range of a feature that is shown beyond its smallest and largest value.
MARGIN = 0.05
# Rows of one category are spread, always in the same way, so that they do not hide each other.
SPREAD = 0.25


@dataclass(frozen=True, eq=False)
class FeatureSteps:
    """The steps of a feature."""

    name: str
    edges: Floats
    """Where steps begin and end on an axis: one more than there are steps."""
    column: Column
    """A value from each step."""
    positions: Floats
    """Places of the rows on the axis; NaN where the value is missing."""

    @property
    def categories(self) -> tuple[str, ...] | None:
        """Labels of the steps, if the feature is categorical."""
        if isinstance(self.column, CategoricalColumn):
            return tuple(map(str, self.column.categories))
        return None

    def holds(self, query: Query) -> Bools:
        """Find the steps on which the conditions of a query on this feature hold."""
        holds = np.ones(len(self.edges) - 1, dtype=bool)
        for condition in query:
            if condition.feature == self.name:
                holds &= condition.covered_in(self.column)
        return holds

    def values(self, term: Term, *, at_ends: bool = False) -> Floats:
        """Compute the values of a term as far as they depend on this feature; else they are 1.

        They are those in the middle of each step, or where it begins and ends.
        """
        if isinstance(term, Rule):
            values = self.holds(term.query).astype(np.float64)
        elif term.feature != self.name:
            values = np.ones(len(self.edges) - 1)
        elif at_ends and isinstance(self.column, NumericColumn):
            at_edges = term.values_in(replace(self.column, values=self.edges))
            return np.column_stack([at_edges[:-1], at_edges[1:]])
        else:
            values = term.values_in(self.column)
        return np.column_stack([values, values]) if at_ends else values


def feature_steps(
    ensemble: RuleEnsemble, table: Table, name: str, n_parts: int = 1
) -> FeatureSteps:
    """Find the steps of a feature; there are at least so many if a slope uses it."""
    column = table.column(name)
    if isinstance(column, CategoricalColumn):
        n_steps = len(column.categories)
        spread = np.random.default_rng(0).uniform(-SPREAD, SPREAD, table.n_rows)
        positions = np.where(column.missing, np.nan, column.codes + spread)
        each = CategoricalColumn(name, np.arange(n_steps, dtype=np.int32), column.categories)
        return FeatureSteps(name, np.arange(n_steps + 1, dtype=np.float64) - 0.5, each, positions)
    values = column.values
    compared = [each.value for each in ensemble.conditions if each.feature == name]
    thresholds = {
        *(float(value) for value in compared if isinstance(value, int | float)),
        *(microseconds(value) for value in compared if isinstance(value, MOMENTS)),
    }
    ends = [end for slope in ensemble.slopes if slope.feature == name for end in slope.ends]
    thresholds |= {*ends}
    shown = np.array([*values[~np.isnan(values)], *thresholds])
    low, high = (shown.min(), shown.max()) if len(shown) else (0.0, 1.0)
    margin = MARGIN * (high - low) or 1.0
    parts = np.linspace(low - margin, high + margin, n_parts + 1 if ends else 2)
    edges = np.unique([*parts, *thresholds])
    each_value = replace(column, values=(edges[:-1] + edges[1:]) / 2)
    return FeatureSteps(name, edges, each_value, values)


def step_predictions(ensemble: RuleEnsemble, table: Table, steps: Sequence[FeatureSteps]) -> Floats:
    """Mean raw prediction if all rows were moved to a step, for each step (of each feature).

    Of one feature, there are those where each step begins and ends.
    """
    at_ends = len(steps) == 1
    shape = [len(feature.edges) - 1 for feature in steps] + [2] * at_ends
    predictions = np.full(shape, ensemble.intercept)
    shown = [feature.name for feature in steps]
    for term in ensemble:
        values = [feature.values(term, at_ends=at_ends) for feature in steps]
        mean = _mean_elsewhere(term, table, shown)
        predictions += term.weight * mean * reduce(np.multiply.outer, values)
    return predictions


def _mean_elsewhere(term: Term, table: Table, shown: Sequence[str]) -> float:
    """Compute the mean of the part of a term that depends on features that are not shown."""
    if isinstance(term, Slope):
        return 1.0 if term.feature in shown else float(term.values(table).mean())
    others = Query(tuple(each for each in term.query if each.feature not in shown))
    return float(others.covered(table).mean())


def runs(holds: Bools) -> Iterator[tuple[int, int]]:
    """Find runs of true values: the position of the first one, and of the first one after it.

    Examples
    --------
    >>> list(runs(np.array([True, True, False, True])))
    [(0, 2), (3, 4)]
    """
    changes = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(int)))
    yield from zip(changes[::2].tolist(), changes[1::2].tolist(), strict=True)
