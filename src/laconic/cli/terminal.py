"""Consoles, tables and messages of all commands, their exit codes, and their error."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from laconic.terms.formatting import format_weight, visible

if TYPE_CHECKING:
    from laconic.models.rule_model import RuleModel
    from laconic.terms.rules import Line


EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_DIFFERENT = 3
EXIT_INTERRUPTED = 130

# Piped output is for programs and editors: lines are not cut to the width of a screen.
_PIPED_WIDTH = 10_000

_TABLE_STYLE: dict[str, Any] = {
    "box": box.SIMPLE_HEAD,
    "show_edge": False,
    "pad_edge": False,
    "padding": (0, 1, 0, 0),
}

_TABLE_GAP = 3


class CommandError(Exception):
    """An error that the user can fix; the message says how."""


class QueryCell:
    """Cell with a query, whose lines break between conditions where possible."""

    def __init__(self, query: str) -> None:
        first, *others = visible(query).split(" & ")
        self.parts = [first, *(f"& {condition}" for condition in others)]

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widest = max(map(cell_len, self.parts))
        return Measurement(widest, cell_len(" ".join(self.parts))).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = self.parts[:1]
        for part in self.parts[1:]:
            longer = f"{lines[-1]} {part}"
            if cell_len(longer) <= options.max_width:
                lines[-1] = longer
            else:
                lines.append(part)
        yield Text("\n".join(lines), overflow="fold")


def make_table(title: str | None = None) -> Table:
    """Make an empty table in the style of all commands."""
    return Table(title=title, title_justify="left", title_style="bold", **_TABLE_STYLE)


def make_rules_table(
    title: str | None = None, *, weight: str = "weight", term: str = "term", has_classes: bool
) -> Table:
    """Make an empty table for the lines of a model."""
    table = make_table(title)
    table.add_column("", justify="right", style="dim")
    table.add_column(weight, justify="right", no_wrap=True)
    if has_classes:
        table.add_column("class", overflow="fold")
    table.add_column(term, overflow="fold")
    return table


def add_line(table: Table, line: Line, *cells: str) -> None:
    """Add a line of a model to a table, and further cells."""
    output = [visible(line.output)] if line.output else []
    query = QueryCell(" & ".join(line.conditions))
    table.add_row(str(line.number or ""), format_weight(line.weight), *output, query, *cells)


def make_console(*, quiet: bool = False) -> Console:
    """Make a console for the standard output that prints text unchanged."""
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(width=width, quiet=quiet, markup=False, emoji=False, highlight=False)


def print_beside(console: Console, left: Table, right: Table) -> None:
    """Print two tables side by side if the screen is wide enough, else one below the other."""
    width = sum(console.measure(table).maximum + _TABLE_GAP for table in (left, right))
    if console.is_terminal and width <= console.width:
        both = Table.grid(padding=(0, _TABLE_GAP, 0, 0))
        both.add_row(left, right)
        console.print(both, "")
    else:
        console.print(left, "", right, "", sep="\n")


def write_text(text: str) -> None:
    """Write text to the standard output, with control characters escaped on a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        text = "\n".join(map(visible, text.split("\n")))
    sys.stdout.buffer.write(text.encode())


def write_json(content: Any) -> None:
    """Write JSON to the standard output, for programs."""
    sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")


def write_model(model: RuleModel) -> None:
    """Write a model as JSON to the standard output."""
    from laconic.export import to_json

    write_text(to_json(model))


def complain(message: str) -> None:
    """Write a message to the standard error."""
    sys.stderr.write("\n".join(map(visible, message.splitlines())) + "\n")
