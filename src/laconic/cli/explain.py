"""The command that explains the predictions of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from laconic.cli import files, options, table_file, terminal
from laconic.cli.terminal import CommandError
from laconic.tables.times import kind_of, time_text
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
    """Explain the prediction for each row of a table by what the terms of the model add to it.

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
    with table_file.short_warnings():
        explanation = fitted.explain(X)
    chosen = (explanation[number] for number in row or range(len(explanation)))
    if json:
        terminal.write_json([_as_dict(each) for each in chosen])
        return
    console = terminal.make_console()
    for each in chosen:
        if console.is_terminal:
            console.print(_table(each), "", sep="\n")
        else:
            console.print(visible(each.sentence))


def _as_dict(row: RowExplanation) -> dict[str, Any]:
    probability = {} if row.probability is None else {"probability": row.probability}
    return {
        "row": row.row,
        "prediction": row.prediction,
        **probability,
        "raw_prediction": row.raw_prediction,
        "intercept": [each.intercept for each in row.outputs] or row.intercept,
        "terms": [
            {
                "term": number,
                **({"class": row.outputs[term.output].name} if row.outputs else {}),
                "text": row.ensemble.text(term),
                "contribution": amount,
            }
            for (number, term), amount in zip(row.terms.items(), row.contributions, strict=True)
        ],
        "values": {name: _plain(value) for name, value in row.values.items()},
        "sentence": row.sentence,
    }


def _plain(value: Any) -> Any:
    return value if kind_of(value) is None else time_text(value)


def _table(row: RowExplanation) -> Table:
    title = f"Row {row.row} is predicted {row.predicted}"
    names = [visible(output.name) for output in row.outputs]
    table = terminal.make_rules_table(
        visible(title), weight="adds", term="because", has_classes=bool(names)
    )
    for line in row.lines:
        terminal.add_line(table, line)
    table.add_section()
    if isinstance(row.raw_prediction, tuple):
        for name, total in zip(names, row.raw_prediction, strict=True):
            table.add_row("", format_weight(total), name, "sum")
        return table
    total_words = visible(f"sum, the {row.meaning}")
    table.add_row("", format_weight(row.raw_prediction), total_words)
    return table
