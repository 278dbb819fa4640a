"""The command that tells why a model predicts what it predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from laconic.cli import files, inputs, options, screen
from laconic.cli.exits import CommandError
from laconic.model.formatting import INTERCEPT, format_weight, visible

if TYPE_CHECKING:
    from rich.table import Table

    from laconic.explain.explanation import RowExplanation


def explain(
    model: options.Model,
    table: options.FeatureTable,
    /,
    *,
    row: options.Rows = (),
    json: options.Flag = False,
    format: options.Format = options.DEFAULT_FORMAT,
) -> None:
    """Tell which rules lead to the prediction for each row of a table.

    Parameters
    ----------
    row : tuple of int
        Rows to explain, counted from 0; without this option, all of them.
    json : bool
        Write JSON: a list with an object per row.
    """
    fitted = files.load_model_for("explain", model, table)
    X = inputs.TableFile(table, format).features(fitted)
    unknown = next((number for number in row if number >= len(X)), None)
    if unknown is not None:
        raise CommandError(
            f"--row must be less than the number of rows, {len(X)}: rows are counted from 0. Got "
            f"{unknown}."
        )
    with inputs.columns_by_name():
        explanation = fitted.explain(X)
    chosen = (explanation[number] for number in row or range(len(explanation)))
    if json:
        screen.write_json([_as_dict(told) for told in chosen])
        return
    console = screen.make_console()
    for told in chosen:
        if console.is_terminal:
            console.print(_table(told), "", sep="\n")
        else:
            screen.print_text(console, visible(told.sentence))


def _as_dict(told: RowExplanation) -> dict[str, Any]:
    probability = {} if told.probability is None else {"probability": told.probability}
    return {
        "row": told.row,
        "prediction": told.prediction,
        **probability,
        "raw_prediction": told.raw_prediction,
        "intercept": told.intercept,
        "rules": [
            {"rule": number, "query": str(rule.query), "contribution": rule.weight}
            for number, rule in told.rules.items()
        ],
        "values": told.values,
        "sentence": told.sentence,
    }


def _table(told: RowExplanation) -> Table:
    title = f"Row {told.row} is predicted {told.predicted}"
    table = screen.make_table(visible(title))
    table.add_column("", justify="right", style="dim")
    table.add_column("adds", justify="right", no_wrap=True)
    table.add_column("because", overflow="fold")
    if told.intercept != 0.0:
        table.add_row("", format_weight(told.intercept), INTERCEPT)
    for number, rule in told.rules.items():
        cell = screen.QueryCell(told.conditions(rule))
        table.add_row(str(number), format_weight(rule.weight), cell)
    total = visible(f"sum, the {told.meaning}")
    table.add_section()
    table.add_row("", format_weight(told.raw_prediction), total)
    return table
