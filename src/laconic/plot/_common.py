"""What the displays share: axes, colours, bars, and rule texts that fit."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from laconic._util.optional import import_extra
from laconic.tables.times import DAY, HOUR, MINUTE, SECOND, TimeKind, from_microseconds, time_text
from laconic.terms.display import NEGATIVE_COLOUR, POSITIVE_COLOUR
from laconic.terms.formatting import number_text
from laconic.terms.rules import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

# Of curves, told apart with any kind of colour vision, and on grey paper by their markers.
CURVE_COLOURS = ("#1f5a8a", "#b3541e", "#4d7c3a", "#7a4a8a", "#8a7a1f", "#4a4a4a")
# Inches: a line of text of the usual size with some space, and what an axis needs besides.
LINE_HEIGHT = 0.2
BAR_GAP = 0.18
FRAME_HEIGHT = 1.1


class Display:
    """Something that is drawn on axes."""

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Sets: ax_, figure_, and what the display draws.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure that is as large as it takes.

        Returns
        -------
        self : object
        """
        self._set_axes(ax, self._figure_size)
        self._draw()
        return self

    @property
    def _figure_size(self) -> tuple[float, float]:
        """Width and height in inches."""
        raise NotImplementedError

    def _draw(self) -> None:
        raise NotImplementedError

    def _set_axes(self, ax: Axes | None, figure_size: tuple[float, float]) -> None:
        """Take the given axes, or those of a new figure.

        Sets: ax_, figure_.
        """
        if ax is None:
            # The package first: what it consists of may be imported already.
            import_extra("matplotlib", "plot", "Drawing")
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=figure_size, layout="constrained")
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)


def bars_size(labels: list[str], width: float = 7.0) -> tuple[float, float]:
    """Size of a figure in which each of the labels has a bar."""
    n_lines = sum(label.count("\n") + 1 for label in labels)
    return width, FRAME_HEIGHT + LINE_HEIGHT * n_lines + BAR_GAP * len(labels)


def colour(weight: float) -> str:
    """Colour of a weight: one for positive ones, another for negative ones."""
    return POSITIVE_COLOUR if weight > 0 else NEGATIVE_COLOUR


def diverging_colours() -> Colormap:
    """Colours from negative over white to positive."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("laconic", [NEGATIVE_COLOUR, "white", POSITIVE_COLOUR])


def wrapped_conditions(conditions: Sequence[str], width: int = 38) -> str:
    """Write conditions in lines of limited width, which break between them if possible.

    Examples
    --------
    >>> print(wrapped_conditions(["age > 28", "mark == x"], width=15))
    age > 28 &
    mark == x
    """
    pieces = [*(f"{condition} &" for condition in conditions[:-1]), *conditions[-1:]]
    lines: list[str] = []
    for piece in pieces:
        if lines and len(lines[-1]) + 1 + len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines += textwrap.wrap(piece, width) or [""]
    return "\n".join(map(literal, lines))


def wrapped(text: str, width: int = 42) -> str:
    """Write a name or a label in lines of limited width.

    Examples
    --------
    >>> print(wrapped("how often in the last month", width=18))
    how often in the
    last month
    """
    return "\n".join(map(literal, textwrap.wrap(text, width))) or literal(text)


def literal(text: str) -> str:
    r"""Protect text from matplotlib, which sets what stands between two dollars as a formula.

    Examples
    --------
    >>> print(literal("US$ or A$"))
    US\$ or A\$
    """
    return text.replace("$", r"\$")


def label(line: Line) -> str:
    """Write an intercept, or a rule with its number, in lines of limited width."""
    first, *others = line.conditions
    number = f"{line.number}: " if line.number else ""
    return wrapped_conditions([f"{number}{line.prefix if line.output else ''}{first}", *others])


def label_bars(ax: Axes, labels: Sequence[str], meaning: str) -> None:
    """Write names beside bars, which start at a line, and below them what their lengths mean."""
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel(wrapped(meaning))
    write_numbers(ax.xaxis)
    hide_frame(ax)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def write_column(
    ax: Axes, texts: Sequence[str], *, start: int, right: float, name: str = ""
) -> None:
    """Write a column of texts beside bars, where no bar can reach them.

    The first text is that of the bar `start`, the texts end `right` points from the right end of
    the axes, and the column has a `name` at its head.
    """
    options: dict[str, Any] = {"xytext": (right, 0), "textcoords": "offset points", "ha": "right"}
    for position, text in enumerate(texts, start=start):
        ax.annotate(text, (1, position), xycoords=ax.get_yaxis_transform(), va="center", **options)
    options["xytext"] = (right, 3)
    ax.annotate(name, (1, 1), xycoords="axes fraction", va="bottom", color="dimgray", **options)


def write_numbers(axis: Any) -> None:
    """Write the numbers of an axis as everywhere else, few enough to stand side by side."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    locator = axis.get_major_locator()
    if axis.axis_name == "x" and isinstance(locator, MaxNLocator):
        locator.set_params(nbins=5)
    axis.set_major_formatter(FuncFormatter(lambda number, _: number_text(number)))


def write_times(axis: Any, kind: TimeKind) -> None:
    """Write dates, times or durations along an axis of their microseconds, where they are round."""
    from matplotlib import dates, ticker

    locate: Any = dates.AutoDateLocator

    class Locator(ticker.Locator):
        def __call__(self) -> Any:
            return self.tick_values(*axis.get_view_interval())

        def tick_values(self, low: float, high: float) -> Any:
            if kind in ("date", "datetime"):
                ends = (from_microseconds(int(number), "datetime") for number in (low, high))
                return locate(maxticks=6).tick_values(*ends) * DAY
            span = high - low
            unit = next((unit for unit in (DAY, HOUR, MINUTE) if span >= 3 * unit), SECOND)
            ticks = ticker.MaxNLocator(5).tick_values(low / unit, high / unit)
            return [tick * unit for tick in ticks]

    def text(number: float, _: Any) -> str:
        written = time_text(from_microseconds(round(number), kind))
        return written.removesuffix(" 00:00")

    axis.set_major_locator(Locator())
    axis.set_major_formatter(ticker.FuncFormatter(text))


def hide_frame(ax: Axes) -> None:
    """Leave out the lines around axes that say nothing: at the top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)
