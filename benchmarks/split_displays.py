"""Pictures of frames made by `evaluate`: scores and seconds against the number of rules."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from laconic.plot._common import CURVE_COLOURS, Display, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

Floats = NDArray[np.float64]

CURVE_MARKERS = ("o", "s", "^", "D", "v", "P")
MAX_SIZES_WITH_MARKERS = 20


class _CurveDisplay(Display):
    """One line per estimator and penalty, with the spread over the splits around it."""

    is_logarithmic: ClassVar[bool] = False
    lines_: list[Line2D]
    _figure_size = (5.2, 3.6)

    def __init__(self, curves: dict[str, tuple[Floats, Floats, Floats]], *, ylabel: str) -> None:
        self.curves = curves
        self.ylabel = ylabel

    def _draw(self) -> None:
        styles = cycle(zip(CURVE_COLOURS, CURVE_MARKERS, strict=True))
        self.lines_ = [self._draw_curve(*curve) for curve in zip(self.curves, styles, strict=False)]
        self.ax_.set(xlabel="number of rules", ylabel=self.ylabel)
        if self.is_logarithmic:
            self.ax_.set_yscale("log")
        cast("MaxNLocator", self.ax_.xaxis.get_major_locator()).set_params(integer=True)
        self.ax_.grid(visible=True, alpha=0.25)
        hide_frame(self.ax_)
        if len(self.curves) > 1:
            self.ax_.legend(frameon=False)

    def _draw_curve(self, label: str, style: tuple[str, str]) -> Line2D:
        sizes, means, deviations = self.curves[label]
        colour, marker = style
        (line,) = self.ax_.plot(
            sizes,
            means,
            color=colour,
            marker=marker if len(sizes) <= MAX_SIZES_WITH_MARKERS else None,
            markersize=4,
            label=label,
        )
        if deviations.any():
            low, high = means - deviations, means + deviations
            if self.is_logarithmic:
                low = np.maximum(low, means / 10)
            self.ax_.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
        return line


class SplitsScoreDisplay(_CurveDisplay):
    """Score against the number of rules, with the standard deviation over the splits as a band.

    Made by :meth:`from_frame`; needs matplotlib (``pip install "laconic[plot]"``).
    :class:`laconic.plot.SizeScoreDisplay` draws the curve of one fitted model.

    Parameters
    ----------
    curves : dict of str to tuple of (sizes, means, deviations)
        Arrays of the same length, by label.
    ylabel : str

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    @classmethod
    def from_frame(
        cls, frame: Any, *, score: str = "test_score", ylabel: str = "score", ax: Axes | None = None
    ) -> Self:
        """Draw the curves of a frame made by `evaluate`.

        Parameters
        ----------
        frame : data frame
        score : str, default="test_score"
            Column to draw, for example "train_score".
        ylabel : str, default="score"
            What the score is, for example "R² on new rows".
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : SplitsScoreDisplay
        """
        return cls(dict(_curves(frame, score)), ylabel=ylabel).plot(ax)


class SplitsTimeDisplay(_CurveDisplay):
    """Seconds of the searches against the number of rules, on a logarithmic scale.

    Made by :meth:`from_frame`; needs matplotlib (``pip install "laconic[plot]"``).

    Parameters
    ----------
    curves : dict of str to tuple of (sizes, means, deviations)
        Arrays of the same length, by label.
    ylabel : str

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    is_logarithmic = True

    @classmethod
    def from_frame(cls, frame: Any, *, ylabel: str = "seconds", ax: Axes | None = None) -> Self:
        """Draw the seconds of a frame made by `evaluate`, from the first rule on.

        Parameters
        ----------
        frame : data frame
        ylabel : str, default="seconds"
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        display : SplitsTimeDisplay
        """
        curves = {
            label: (sizes[sizes > 0], means[sizes > 0], deviations[sizes > 0])
            for label, (sizes, means, deviations) in _curves(frame, "seconds")
        }
        return cls(curves, ylabel=ylabel).plot(ax)


def _curves(frame: Any, value: str) -> Iterator[tuple[str, tuple[Floats, Floats, Floats]]]:
    """Label, sizes, means and standard deviations over the splits, curve by curve."""
    table = nw.from_native(frame, eager_only=True)
    points: dict[tuple[str, float | str], dict[int, list[float]]] = {}
    for name, penalty, size, height in table.select(
        "estimator", "l2_regularization", "n_terms", value
    ).iter_rows():
        points.setdefault((name, penalty), {}).setdefault(size, []).append(height)
    has_several_penalties = len(points) > len({name for name, _ in points})
    for (name, penalty), by_size in points.items():
        number = penalty if isinstance(penalty, str) else f"{penalty:g}"
        label = f"{name}, λ = {number}" if has_several_penalties else name
        sizes = np.array(sorted(by_size), dtype=np.float64)
        heights = [np.array(by_size[int(size)]) for size in sizes]
        means = np.array([column.mean() for column in heights])
        deviations = np.array([column.std(ddof=1) if len(column) > 1 else 0 for column in heights])
        yield label, (sizes, means, deviations)
