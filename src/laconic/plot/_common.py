"""Code shared by the displays: axes, colours, bars, and wrapped text of terms."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from laconic._util.optional import import_extra
from laconic.tables.times import DAY, HOUR, MINUTE, SECOND, TimeKind, from_microseconds, time_text
from laconic.terms.display import NEGATIVE_COLOUR, POSITIVE_COLOUR
from laconic.terms.formatting import format_weight, number_text
from laconic.terms.rules import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

# Of curves; people with any kind of colour vision can distinguish them.
CURVE_COLOURS = ("#1f5a8a", "#b3541e", "#4d7c3a", "#7a4a8a", "#8a7a1f", "#4a4a4a")
# In inches: a line of text, the space between bars, and the space for an axis.
LINE_HEIGHT = 0.2
BAR_GAP = 0.18
FRAME_HEIGHT = 1.1


class Display:
    """Base class of the displays, which draw on axes."""

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Sets: `ax_`, `figure_`, and what the display draws.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure of a suitable size.

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
        """Use the given axes, or those of a new figure.

        Sets: ax_, figure_.
        """
        if ax is None:
            # The package first: its modules may be imported already.
            import_extra("matplotlib", "plot", "Drawing")
            from matplotlib import pyplot

            _, ax = pyplot.subplots(figsize=figure_size, layout="constrained")
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)


class LinesDisplay(Display):
    """A display with a row for each line of a model: an intercept, or a term."""

    @property
    def _lines(self) -> list[Line]:
        raise NotImplementedError

    @property
    def _labels(self) -> list[str]:
        return [*map(label, self._lines)]

    @property
    def _figure_size(self) -> tuple[float, float]:
        labels = self._labels
        n_lines = sum(label.count("\n") + 1 for label in labels)
        return 7.0, FRAME_HEIGHT + LINE_HEIGHT * n_lines + BAR_GAP * len(labels)

    def _draw_bars(
        self,
        widths: Sequence[float],
        meaning: str,
        *,
        starts: Sequence[float] | float = 0.0,
        name: str = "",
        **options: Any,
    ) -> BarContainer:
        """Draw bars with labels, their widths as a column, and the meaning of the widths."""
        bars = self.ax_.barh(range(len(widths)), widths, left=starts, height=0.6, **options)
        self.ax_.set_yticks(range(len(widths)), self._labels)
        self.ax_.invert_yaxis()
        self.ax_.axvline(0, color="black", linewidth=0.8)
        self.ax_.set_xlabel(wrapped(meaning))
        write_numbers(self.ax_.xaxis)
        hide_frame(self.ax_)
        self.ax_.spines["left"].set_visible(False)
        self.ax_.tick_params(axis="y", length=0)
        self._write_column([*map(format_weight, widths)], right=52, name=name)
        return bars

    def _write_column(self, texts: Sequence[str], *, right: float, name: str) -> None:
        """Write texts beside the last bars, where no bar can reach them.

        The column ends `right` points from the right end of the axes, and has a `name` as its head.
        """
        ax, first = self.ax_, len(self._labels) - len(texts)
        options: dict[str, Any] = {"textcoords": "offset points", "ha": "right"}
        head = options | {"xycoords": "axes fraction", "va": "bottom", "color": "dimgray"}
        ax.annotate(name, (1, 1), xytext=(right, 3), **head)
        options |= {"xycoords": ax.get_yaxis_transform(), "va": "center"}
        for position, text in enumerate(texts, start=first):
            ax.annotate(text, (1, position), xytext=(right, 0), **options)


def label(line: Line) -> str:
    """Write an intercept, or a term with its number, in lines of limited width."""
    first, *others = line.conditions
    number = f"{line.number}: " if line.number else ""
    return wrapped_conditions([f"{number}{line.prefix if line.output else ''}{first}", *others])


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
    r"""Escape dollars in a text: matplotlib reads text between two of them as a formula.

    Examples
    --------
    >>> print(literal("US$ or A$"))
    US\$ or A\$
    """
    return text.replace("$", r"\$")


def write_numbers(axis: Any) -> None:
    """Write the numbers of an axis in the format of all texts, few enough not to overlap."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    locator = axis.get_major_locator()
    if axis.axis_name == "x" and isinstance(locator, MaxNLocator):
        locator.set_params(nbins=5)
    axis.set_major_formatter(FuncFormatter(lambda number, _: number_text(number)))


def write_times(axis: Any, kind: TimeKind) -> None:
    """Write round dates, times or durations along an axis that is in microseconds."""
    from matplotlib import dates, ticker

    locate: Any = dates.AutoDateLocator

    class Locator(ticker.Locator):
        def __call__(self) -> Any:
            return self.tick_values(*axis.get_view_interval())

        def tick_values(self, low: float, high: float) -> Any:
            if kind in ("date", "datetime"):
                ends = (from_microseconds(int(number), "datetime") for number in (low, high))
                return locate(minticks=3, maxticks=6).tick_values(*ends) * DAY
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
    """Hide the lines at the top and on the right of axes."""
    ax.spines[["top", "right"]].set_visible(False)
