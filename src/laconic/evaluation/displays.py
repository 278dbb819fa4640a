"""Pictures of frames made by `evaluate`: scores and seconds against the number of rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

__all__ = ["SplitsScoreDisplay", "SplitsTimeDisplay"]

Floats = NDArray[np.float64]

# Distinguishable for colour-blind readers and on grey paper, together with the markers.
COLOURS = ("#1f5a8a", "#b3541e", "#4d7c3a", "#7a4a8a", "#8a7a1f", "#4a4a4a")
MARKERS = ("o", "s", "^", "D", "v", "P")
MAX_SIZES_WITH_MARKERS = 20


class _CurveDisplay:
    """One line per estimator and penalty, with the spread over the splits around it.

    Parameters
    ----------
    curves : mapping of str to tuple of (sizes, means, deviations)
        By label.
    ylabel : str
    """

    is_logarithmic: ClassVar[bool] = False

    def __init__(self, curves: dict[str, tuple[Floats, Floats, Floats]], *, ylabel: str) -> None:
        self.curves = curves
        self.ylabel = ylabel

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Sets: ax_, figure_, lines_.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self : object
        """
        if ax is None:
            _, ax = _pyplot().subplots(figsize=(5.2, 3.6), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self.lines_ = [self._draw(label, i % len(COLOURS)) for i, label in enumerate(self.curves)]
        ax.set(xlabel="number of rules", ylabel=self.ylabel)
        if self.is_logarithmic:
            ax.set_yscale("log")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.grid(visible=True, alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
        if len(self.curves) > 1:
            ax.legend(frameon=False)
        return self

    def _draw(self, label: str, style: int) -> Any:
        sizes, means, deviations = self.curves[label]
        is_short = len(sizes) <= MAX_SIZES_WITH_MARKERS
        (line,) = self.ax_.plot(
            sizes,
            means,
            color=COLOURS[style],
            marker=MARKERS[style] if is_short else None,
            markersize=4,
            label=label,
        )
        if deviations.any():
            low, high = means - deviations, means + deviations
            if self.is_logarithmic:
                low = np.maximum(low, means / 10)
            self.ax_.fill_between(sizes, low, high, color=COLOURS[style], alpha=0.15, linewidth=0)
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
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D
    """

    @classmethod
    def from_frame(
        cls, frame: Any, *, score: str = "test_score", ylabel: str = "score", ax: Any = None
    ) -> Self:
        """Draw the curves of a frame made by `evaluate`.

        Parameters
        ----------
        frame : data frame
        score : str, default="test_score"
            Column to draw, for example "train_score".
        ylabel : str, default="score"
            What the score is, for example "R² on new rows".
        ax : matplotlib.axes.Axes, default=None

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
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D
    """

    is_logarithmic = True

    @classmethod
    def from_frame(cls, frame: Any, *, ylabel: str = "seconds", ax: Any = None) -> Self:
        """Draw the seconds of a frame made by `evaluate`, from the first rule on.

        Parameters
        ----------
        frame : data frame
        ylabel : str, default="seconds"
        ax : matplotlib.axes.Axes, default=None

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
    points: dict[tuple[str, float], dict[int, list[float]]] = {}
    for name, penalty, size, height in table.select(
        "estimator", "l2_regularization", "n_rules", value
    ).iter_rows():
        points.setdefault((name, penalty), {}).setdefault(size, []).append(height)
    has_several_penalties = len(points) > len({name for name, _ in points})
    for (name, penalty), by_size in points.items():
        label = f"{name}, λ = {penalty:g}" if has_several_penalties else name
        sizes = np.array(sorted(by_size), dtype=np.float64)
        heights = [np.array(by_size[int(size)]) for size in sizes]
        means = np.array([column.mean() for column in heights])
        deviations = np.array([column.std(ddof=1) if len(column) > 1 else 0 for column in heights])
        yield label, (sizes, means, deviations)


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed. Install it with "
            "'pip install \"laconic[plot]\"'."
        ) from error
    return pyplot
