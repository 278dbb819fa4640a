"""The command that applies a saved model to a table."""

from __future__ import annotations

from laconic.cli import files, options, streamed, table_file, terminal
from laconic.cli.terminal import CommandError
from laconic.terms.formatting import visible

# Of probabilities in text.
_N_DIGITS = 6


def predict(
    model: options.Model,
    table: options.Place,
    /,
    *,
    output: options.Output = None,
    probabilities: options.Flag = False,
    keep_columns: options.Flag = False,
    json: options.Flag = False,
    format: options.Format = options.DEFAULT_FORMAT,
) -> None:
    """Predict the target for the rows of a table.

    A folder, a pattern in quotes such as "data/*.parquet", and tables of more than 2 GiB
    (uncompressed) are read in parts; their predictions are written to a Parquet file.

    Parameters
    ----------
    table : Path
        File with the columns that the model uses, in any order, as for 'laconic fit'.
    output : Path
        File to write (.csv, .tsv, .parquet, .pq) instead of CSV to the standard output.
    probabilities : bool
        Add a column with the probability of each class: of six digits in text, and of all digits in
        JSON and Parquet.
    keep_columns : bool
        Write the columns of the table as well; the cells of a text file stay unchanged.
    json : bool
        Write JSON: a list with an object per row.
    """
    fitted = files.load_model_for("predict", model, table)
    if output is not None:
        if json:
            raise CommandError(
                "--json writes to the standard output. Got --output too. Leave one of them out."
            )
        files.check_destination(output, [model, table])
        files.check_suffix(output, files.OUTPUT_SUFFIXES)
    task = fitted.task_
    if probabilities and task.labels is None:
        raise CommandError(
            f"--probabilities needs a model with classes. Got a {task.name} model. Leave it out."
        )
    if streamed.is_read_in_parts(table, format.query):
        source, read = streamed.open_for_model(fitted, table, format)
        kept = source.column_names if keep_columns else ()
        streamed.predict_large(
            fitted, source, read, output, probabilities=probabilities, keep_columns=kept
        )
        return
    rows = table_file.TableFile(table, format)
    predictions = table_file.predictions_for(fitted, rows)
    found = {"prediction": predictions.values}
    shares = task.probabilities(predictions.raw) if probabilities else None
    if shares is not None:
        names = [f"probability_{label}" for label in task.labels or ()]
        found |= dict(zip(names, shares.T, strict=True))
    result = table_file.with_columns(rows.cells, found, keep_columns)
    is_text = not json and (output is None or output.suffix.lower() in files.OUTPUT_SEPARATORS)
    if shares is not None and is_text:
        result = result.with_columns(result[name].round_sig_figs(_N_DIGITS) for name in names)
    if json:
        terminal.write_text(result.write_json() + "\n")
    elif output is None:
        terminal.write_text(result.write_csv())
    else:
        files.write_table(result, output)
        terminal.make_console().print(f"{result.height:,} rows written to {visible(str(output))}")
