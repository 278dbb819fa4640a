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
from laconic.cli.training_table import ColumnsWithGroups, TrainingTable
from laconic.terms.formatting import visible

if TYPE_CHECKING:
    from rich.console import Console

    from laconic.estimators.base import RuleBoosting
    from laconic.trust import Chance, Effects, Intervals, Stability

Question = Literal["chance", "stability", "intervals"]
Questions = Annotated[
    tuple[Question, ...],
    cyclopts.Parameter(negative="", consume_multiple=True, show_default=False),
]
ALL: tuple[Question, ...] = ("chance", "stability", "intervals")
_AS_FITTED = ColumnsWithGroups()


def trust(
    model: options.Model,
    table: TrainingTable,
    /,
    *,
    columns: ColumnsWithGroups = _AS_FITTED,
    new: options.Place | None = None,
    ask: Questions = ALL,
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
    with table_file.short_warnings():
        try:
            if new is not None:
                _print(console, _effects(fitted, columns, new, level))
            for question in dict.fromkeys(ask):
                with screen.show(question):
                    answer = methods[question](
                        **rows, **options_of[question], random_state=random_state
                    )
                _print(console, answer)
                if not _is_complete(answer):
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            table_file.warn(["interrupted: the other questions were not asked."])
    if output is not None:
        laconic.save_model(fitted, output)
        console.print(f"Saved to {visible(str(output))}")
    else:
        console.print("Not saved. Save the model with these answers with --output model.json.")
    if new is None and fitted.own_trust.effects is None:
        console.print(
            "How large the effects are on other rows was not asked: pass rows that the model was "
            "not fitted to with --new."
        )
    if json:
        from laconic.export.json.trust import TRUST

        terminal.write_json(TRUST.write(fitted.own_trust))


def _print(console: Console, answer: Any) -> None:
    for line in str(answer).splitlines():
        console.print(visible(line))
    console.print()


def _effects(
    fitted: RuleBoosting, columns: ColumnsWithGroups, new: Path | str, level: float
) -> Effects:
    """Estimate effects on other rows; errors name their file, as there are two tables."""
    try:
        rows = columns.arguments(fitted, new)
        return fitted.effects(rows.pop("X"), rows.pop("y"), **rows, level=level)
    except (CommandError, ValueError) as error:
        raise CommandError(f"{error} (--new {new})") from error


def _is_complete(answer: Chance | Stability | Intervals) -> bool:
    """Whether an answer is the whole one, and not that before Ctrl-C."""
    from laconic.trust import Chance, Stability

    if isinstance(answer, Chance):
        return answer.is_complete
    return not isinstance(answer, Stability) or answer.n_done >= answer.n_resamples
