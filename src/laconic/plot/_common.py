"""What the displays share: axes, colours, and rule texts that fit."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from laconic.model.conditions import Query
from laconic.model.display import NEGATIVE_COLOUR, POSITIVE_COLOUR
from laconic.model.formatting import format_conditions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

    from laconic.estimators import RuleBoostingClassifier, RuleBoostingRegressor

    Estimator: TypeAlias = RuleBoostingClassifier | RuleBoostingRegressor

# Inches: a line of text of the usual size with some space, and what an axis needs besides.
LINE_HEIGHT = 0.2
BAR_GAP = 0.18
FRAME_HEIGHT = 1.1


def check_matplotlib() -> None:
    """Ask for matplotlib where it is missing."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise ImportError(
            "Plots need matplotlib, which is not installed. Install it with "
            "'pip install \"laconic[plot]\"'."
        ) from None


def make_axes(ax: Axes | None, figure_size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Return the given axes with their figure, or those of a new figure."""
    check_matplotlib()
    import matplotlib.pyplot as plt

    if ax is None:
        return plt.subplots(figsize=figure_size, layout="constrained")
    return cast("Figure", ax.figure), ax


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


def wrapped_query(query: Query, width: int = 38) -> str:
    """Write a query in lines of limited width, which break between conditions if possible.

    Examples
    --------
    >>> from laconic import Proposition
    >>> query = Query((Proposition("age", ">", 28), Proposition("mark", "==", "x")))
    >>> print(wrapped_query(query, width=15))
    age > 28 &
    mark == x
    """
    conditions = format_conditions(query.propositions) or [str(query)]
    pieces = [f"{condition} &" for condition in conditions[:-1]] + conditions[-1:]
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


def write_column(
    ax: Axes, texts: Sequence[str], *, start: int, right: float, name: str = ""
) -> None:
    """Write a column of texts beside bars, where no bar can reach them.

    Parameters
    ----------
    ax : matplotlib Axes
        With bars at the heights 0, 1, ...
    texts : sequence of str
        A text for each bar from `start` on.
    start : int
        The first bar with a text.
    right : float
        Points from the right end of the axes to that of the texts.
    name : str, default=""
        Head of the column.
    """
    options: dict[str, Any] = {"xytext": (right, 0), "textcoords": "offset points", "ha": "right"}
    for position, text in enumerate(texts, start=start):
        ax.annotate(text, (1, position), xycoords=ax.get_yaxis_transform(), va="center", **options)
    options["xytext"] = (right, 3)
    ax.annotate(name, (1, 1), xycoords="axes fraction", va="bottom", color="dimgray", **options)


def hide_frame(ax: Axes, *sides: str) -> None:
    """Leave out lines around axes that say nothing: at the top, the right, and the given sides."""
    ax.spines[["top", "right", *sides]].set_visible(False)
    if "left" in sides:
        ax.tick_params(axis="y", length=0)
