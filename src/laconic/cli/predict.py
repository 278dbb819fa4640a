"""The command that applies a saved model to a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from laconic.cli import files, options, streamed, table_file, terminal
from laconic.cli.terminal import CommandError
from laconic.terms.formatting import visible

if TYPE_CHECKING:
    from laconic.models import Predictions, RuleModel

# Of probabilities in text.
_N_DIGITS = 6


def predict(
    model: options.Model,
    table: options.Place,
    /,
    *,
    output: options.Output = None,
    probabilities: options.Flag = False,
    interval: options.Flag = False,
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
    interval : bool
        Add columns with the lower and the upper end of an interval that contains about 90% of new
        values, or whichever level the model was calibrated with; for classes a column with the
        classes that are likely enough, a list in JSON and Parquet. The model must have been
        calibrated by 'laconic trust'.
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
    if interval:
        _check_calibrated(fitted)
    if streamed.is_read_in_parts(table, format.query):
        if interval:
            raise CommandError(
                "--interval needs a table that fits into memory. Got one that is read in parts. "
                "Leave it out, or pass a part of the table."
            )
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
    is_text = not json and (output is None or output.suffix.lower() in files.OUTPUT_SEPARATORS)
    if interval:
        found |= _intervals(fitted, predictions, is_text=is_text)
    result = table_file.with_columns(rows.cells, found, keep_columns)
    if shares is not None and is_text:
        result = result.with_columns(result[name].round_sig_figs(_N_DIGITS) for name in names)
    if json:
        terminal.write_text(result.write_json() + "\n")
    elif output is None:
        terminal.write_text(result.write_csv())
    else:
        files.write_table(result, output)
        terminal.make_console().print(f"{result.height:,} rows written to {visible(str(output))}")


def _check_calibrated(model: RuleModel) -> None:
    if model.own_trust.intervals is None:
        raise CommandError(
            "--interval needs a model that was calibrated. Got one that was not. Calibrate it with "
            "its training table: laconic trust model.json table.csv --ask intervals --output "
            "model.json; or leave --interval out."
        )


def _intervals(model: RuleModel, predictions: Predictions, *, is_text: bool) -> dict[str, Any]:
    """Return the ends of intervals, or sets of classes: words in text, else lists."""
    # Needs packages that other commands do not.
    import numpy as np

    from laconic.trust.intervals import set_words, target_range

    intervals, task = model.own_trust.intervals, model.task_
    assert intervals is not None
    shares = task.probabilities(predictions.raw)
    if shares is None:
        limits = intervals.limits(predictions.means, target_range(model.loss_))
        return {"lower": limits[:, 0], "upper": limits[:, 1]}
    labels = task.labels or []
    sets = np.empty(len(shares), dtype=object)
    for row, is_in in enumerate(intervals.sets(shares).tolist()):
        if is_text:
            sets[row] = set_words(is_in, [*map(str, labels)])
        else:
            sets[row] = [label for label, has in zip(labels, is_in, strict=True) if has]
    return {"set": sets}
