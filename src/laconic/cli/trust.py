"""The command that asks how sure a saved model is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import cyclopts

import laconic
from laconic.cli import files, options, table_file, terminal
from laconic.cli.progress import FitScreen
from laconic.cli.terminal import CommandError
from laconic.cli.training_table import Columns, TrainingTable
from laconic.export.json.trust import TRUST
from laconic.terms.formatting import visible

if TYPE_CHECKING:
    from rich.console import Console

    from laconic.estimators.base import RuleBoosting

Question = Literal["chance", "stability", "intervals"]
Questions = Annotated[
    tuple[Question, ...],
    cyclopts.Parameter(negative="", consume_multiple=True, show_default=False),
]
ALL: tuple[Question, ...] = ("chance", "stability", "intervals")
_AS_FITTED = Columns()


def trust(
    model: options.Model,
    table: TrainingTable,
    /,
    *,
    columns: Columns = _AS_FITTED,
    new: options.Place | None = None,
    ask: Questions = ALL,
    groups: str | None = None,
    n_permutations: options.Count = 99,
    n_resamples: options.Count = 100,
    level: options.ShareOrZero = 0.9,
    random_state: options.CountOrZero = 0,
    output: options.Output = None,
    json: options.Flag = False,
) -> None:
    """Ask how sure a saved model is: what its proof does not say.

    Could chance have produced its terms? Would they come back? How large are their effects on rows
    that the search has not seen? How far are predictions off? Ctrl-C keeps the answers so far.

    Parameters
    ----------
    new : Path
        File with rows that the model was not fitted to, for the effects of its terms on them.
    ask : tuple of str
        What to ask of the training rows: "chance", "stability" and "intervals"; by default, all.
    groups : str
        Column that says which rows belong together, such as those of one patient. It must be in
        all tables.
    n_permutations : int
        Largest number of shuffled copies of the table, for chance.
    n_resamples : int
        Number of resampled copies of the table, for stability.
    level : float
        Share of new rows, and of intervals of effects, that are to contain the true value.
    random_state : int
        Seed of all copies.
    output : Path
        File to save the model with the answers to, for 'laconic show', 'predict' and 'report'; it
        may be that of the model.
    json : bool
        Write the answers as JSON.
    """
    if output is not None:
        files.check_model_destination(output, table)
        if new is not None:
            files.check_model_destination(output, new)
    fitted, rows = columns.load("trust", model, table)
    console = terminal.make_console(quiet=json)
    screen = FitScreen(console)
    options_of: dict[Question, dict[str, Any]] = {
        "chance": {"n_permutations": n_permutations, "callback": screen.tell},
        "stability": {"n_resamples": n_resamples, "callback": screen.tell},
        "intervals": {"level": level},
    }
    methods: dict[Question, Callable[..., Any]] = {
        "chance": fitted.chance,
        "stability": fitted.stability,
        "intervals": fitted.conformalize,
    }
    belonging = {} if groups is None else {"groups": _groups(columns, table, groups)}
    with table_file.short_warnings():
        try:
            if new is not None:
                _ask_effects(fitted, columns, new, groups, level)
                _print(console, fitted.trust_.effects)
            for question in dict.fromkeys(ask):
                with screen.show(question):
                    answer = methods[question](
                        **rows, **belonging, **options_of[question], random_state=random_state
                    )
                _print(console, answer)
        except KeyboardInterrupt:
            table_file.warn(["interrupted: the other questions were not asked."])
    if output is not None:
        laconic.save_model(fitted, output)
        console.print(f"Saved to {visible(str(output))}")
    if json:
        terminal.write_json(TRUST.write(fitted.own_trust))


def _print(console: Console, answer: Any) -> None:
    for line in str(answer).splitlines():
        console.print(visible(line))
    console.print()


def _ask_effects(
    fitted: RuleBoosting, columns: Columns, new: Path | str, groups: str | None, level: float
) -> None:
    rows = columns.arguments(fitted, new)
    belonging = {} if groups is None else {"groups": _groups(columns, new, groups)}
    fitted.effects(rows.pop("X"), rows.pop("y"), **rows, **belonging, level=level)


def _groups(columns: Columns, table: Path | str, name: str) -> list[Any]:
    """Read the column that says which rows belong together."""
    cells = table_file.TableFile(table, columns.format).cells
    if name not in cells.columns:
        raise CommandError(
            f"--groups takes a column of the table. Got {name!r}, which {table} does not have."
        )
    return cells[name].to_list()
