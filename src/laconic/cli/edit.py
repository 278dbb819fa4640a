"""The command that changes the rules of a saved model."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import cyclopts

import laconic
from laconic.cli import files, options, records, table_file, terminal
from laconic.cli.terminal import CommandError
from laconic.terms.formatting import visible
from laconic.terms.record import FitRecord

Numbers = Annotated[
    tuple[int, ...], cyclopts.Parameter(negative="", consume_multiple=True, show_default=False)
]
Rules = Annotated[
    tuple[str, ...], cyclopts.Parameter(negative="", consume_multiple=True, show_default=False)
]


def edit(
    model: options.Model,
    table: Path,
    /,
    *,
    drop: Numbers = (),
    replace: Rules = (),
    force: Rules = (),
    lock: Numbers | None = None,
    n_rules: options.Count | None = None,
    output: Annotated[Path | None, cyclopts.Parameter(name=["--output", "-o"])] = None,
    target: str | None = None,
    weight: str | None = None,
    exposure: str | None = None,
    json: options.Flag = False,
    format: options.Format = options.DEFAULT_FORMAT,
) -> None:
    """Change rules of a saved model, let the others be completed, and tell the price of each edit.

    Rules are written as they are shown, such as 'age > 65 & sex == "f"', and counted from 1.

    Parameters
    ----------
    table : Path
        File that the model was trained on.
    drop : tuple of int
        Numbers of rules that go out, and do not come back in other words.
    replace : tuple of str
        Other rules for some numbers, such as '2: income > 40'.
    force : tuple of str
        Rules that are to be in the model.
    lock : tuple of int
        Numbers of rules that stay while all others are searched anew; without this option, all
        stay that are neither dropped nor replaced.
    n_rules : int
        How many rules there are to be; as many as before if it is not given.
    output : Path
        File to save the new model to, as JSON.
    target : str
        Column that the model predicts; without this option, the one that it was fitted to.
    weight : str
        Column with the weights of the rows; without this option, that of the fit.
    exposure : str
        Column with the exposures of the rows; without this option, that of the fit.
    json : bool
        Write the model to the standard output as JSON, and nothing else but warnings and errors.
    """
    if output is not None:
        files.check_model_destination(output, table)
    fitted, rows = table_file.model_and_rows("edit", model, table, target, weight, exposure, format)
    with table_file.columns_by_name(), table_file.short_warnings():
        edited = fitted.edit(
            **rows,
            drop=drop,
            replace=dict(map(_replacement, replace)),
            force=force,
            lock=lock,
            n_rules=n_rules,
        )
    settings = {} if fitted.record_ is None else fitted.record_.settings
    date = datetime.now(UTC).isoformat(timespec="seconds")
    edited.record_ = FitRecord(table_file.target_of(fitted, target), len(rows["y"]), date, settings)
    if fitted.reading_ is not None:
        edited.reading_ = fitted.reading_
    console = terminal.make_console(quiet=json)
    terminal.print_text(console, f"\n{terminal.describe_model(edited)}")
    terminal.print_text(console, f"{records.describe_record(edited)}\n")
    console.print(terminal.rules_table(edited), "", sep="\n")
    terminal.print_text(console, f"{edited.edits_}\n")
    if output is None:
        terminal.print_text(console, "Not saved. --output edited.json keeps the model.")
    else:
        laconic.save_model(edited, output)
        terminal.print_text(console, f"Saved to {visible(str(output))}")
    if json:
        terminal.write_model(edited)


def _replacement(text: str) -> tuple[int, str]:
    number, colon, rule = text.partition(":")
    if not colon or not number.strip().isdecimal():
        raise CommandError(
            "--replace takes the number of a rule and the new one, such as '2: income > 40'. "
            f"Got {text!r}."
        )
    return int(number), rule.strip()
