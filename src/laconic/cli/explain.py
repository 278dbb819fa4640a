"""The command that explains the predictions of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from laconic.cli import files, options, table_file, terminal
from laconic.cli.terminal import CommandError
from laconic.terms.formatting import format_weight, visible

if TYPE_CHECKING:
    from rich.table import Table

    from laconic.models.explanation import RowExplanation


def explain(
    model: options.Model,
    table: options.FeatureTable,
    /,
    *,
    row: options.Rows = (),
    json: options.Flag = False,
    format: options.Format = options.DEFAULT_FORMAT,
) -> None:
    """Explain the prediction for each row of a table by the rules that cover it.

    Parameters
    ----------
    row : tuple of int
        Rows to explain, counted from 0; by default, all of them.
    json : bool
        Write JSON: a list with an object per row.
    """
    fitted = files.load_model_for("explain", model, table)
    X = table_file.TableFile(table, format).features(fitted)
    unknown = next((number for number in row if number >= len(X)), None)
    if unknown is not None:
        raise CommandError(
            f"--row must be less than the number of rows, {len(X)}: rows are counted from 0. Got "
            f"{unknown}."
        )
    with table_file.columns_by_name():
        explanation = fitted.explain(X)
    chosen = (explanation[number] for number in row or range(len(explanation)))
    if json:
        terminal.write_json([_as_dict(told) for told in chosen])
        return
    console = terminal.make_console()
    for told in chosen:
        if console.is_terminal:
            console.print(_table(told), "", sep="\n")
        else:
            console.print(visible(told.sentence))


def _as_dict(told: RowExplanation) -> dict[str, Any]:
    probability = {} if told.probability is None else {"probability": told.probability}
    return {
        "row": told.row,
        "prediction": told.prediction,
        **probability,
        "raw_prediction": told.raw_prediction,
        "intercept": [each.intercept for each in told.outputs] or told.intercept,
        "rules": [
            {
                "rule": number,
                **({"class": told.outputs[rule.output].name} if told.outputs else {}),
                "query": str(rule.query),
                "contribution": rule.weight,
            }
            for number, rule in told.rules.items()
        ],
        "values": told.values,
        "sentence": told.sentence,
    }


def _table(told: RowExplanation) -> Table:
    title = f"Row {told.row} is predicted {told.predicted}"
    table = terminal.make_table(visible(title))
    table.add_column("", justify="right", style="dim")
    table.add_column("adds", justify="right", no_wrap=True)
    names = [visible(output.name) for output in told.outputs]
    if names:
        table.add_column("class", overflow="fold")
    table.add_column("because", overflow="fold")
    for line in told.lines:
        output = [visible(line.output)] if line.output else []
        cell = terminal.QueryCell(" & ".join(line.conditions))
        table.add_row(str(line.number or ""), format_weight(line.weight), *output, cell)
    table.add_section()
    if isinstance(told.raw_prediction, tuple):
        for name, total in zip(names, told.raw_prediction, strict=True):
            table.add_row("", format_weight(total), name, "sum")
        return table
    total_words = visible(f"sum, the {told.meaning}")
    table.add_row("", format_weight(told.raw_prediction), total_words)
    return table
