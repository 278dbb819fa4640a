"""What commands show: consoles, tables of rules, and complaints.

How commands end: exit codes, and the error that a user can mend.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from laconic.search.results import describe_certificate
from laconic.terms.formatting import format_count, format_number, format_weight, visible

if TYPE_CHECKING:
    from laconic.models.rule_model import RuleModel


# Piped output is for programs and editors, which do not want lines cut to a screen.
_PIPED_WIDTH = 10_000

_TABLE_STYLE: dict[str, Any] = {
    "box": box.SIMPLE_HEAD,
    "show_edge": False,
    "pad_edge": False,
    "padding": (0, 1, 0, 0),
}

_TABLE_GAP = 3


def describe_model(model: RuleModel) -> str:
    """Say what kind of model it is, how large, and how to read its weights."""
    ensemble, task = model.ensemble_, model.task_
    n_rules = format_count(ensemble.n_rules, "rule")
    n_conditions = format_count(ensemble.n_conditions, "condition")
    kind = task.name.capitalize()
    return f"{kind} model: {n_rules} with {n_conditions}. {visible(task.weights_sentence)}"


def rules_table(
    model: RuleModel, title: str | None = None, n_covered: Sequence[int] | None = None
) -> Table:
    """Make a table with a row per rule.

    A title stands in for the certificates; `n_covered` are training rows per rule, if known.
    """
    table = make_table(title)
    table.add_column("", justify="right", style="dim")
    table.add_column("weight", justify="right", no_wrap=True)
    ensemble, results = model.ensemble_, model.search_results_
    if ensemble.outputs:
        table.add_column("class", overflow="fold")
    table.add_column("rule", overflow="fold")
    further: dict[str, list[str]] = {}
    if n_covered is not None:
        further["rows"] = [f"{count:,}" for count in n_covered]
    further["objective"] = [format_number(each.objective_value) for each in results]
    for name in further:
        table.add_column(name, justify="right", no_wrap=True)
    if title is None:
        further["certificate"] = [*map(describe_certificate, results)]
        table.add_column("certificate", overflow="fold")
    rows = zip(*further.values(), strict=True)
    for line in ensemble.lines:
        start = [str(line.number or ""), format_weight(line.weight)]
        if line.output:
            start.append(visible(line.output))
        cells = [] if line.rule is None else next(rows)
        table.add_row(*start, QueryCell(" & ".join(line.conditions)), *cells)
    return table


class QueryCell:
    """Cell with a query, in which lines break between conditions where this is possible."""

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


def make_console(*, quiet: bool = False) -> Console:
    """Make a console for the standard output that takes text as it is."""
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(width=width, quiet=quiet, markup=False, emoji=False, highlight=False)


def print_text(console: Console, text: str) -> None:
    """Print plain text."""
    console.print(Text(text))


def print_beside(console: Console, left: Table, right: Table) -> None:
    """Print two tables side by side on a screen that is wide enough, else one below the other."""
    width = sum(console.measure(table).maximum + _TABLE_GAP for table in (left, right))
    if console.is_terminal and width <= console.width:
        both = Table.grid(padding=(0, _TABLE_GAP, 0, 0))
        both.add_row(left, right)
        console.print(both, "")
    else:
        console.print(left, "", right, "", sep="\n")


def write_text(text: str) -> None:
    """Write text to the standard output: as it is to a program, and safely to a terminal."""
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
    """Write to the standard error."""
    sys.stderr.write("\n".join(map(visible, message.splitlines())) + "\n")


EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_DIFFERENT = 3
EXIT_INTERRUPTED = 130


class CommandError(Exception):
    """Something that the user can mend; the message says how."""
