"""The command that writes an HTML report on a saved model."""

from __future__ import annotations

import webbrowser
from pathlib import Path

from laconic._util.files import write_whole
from laconic.cli import files, options, table_file, terminal
from laconic.cli.terminal import CommandError
from laconic.terms.formatting import visible


def report(
    model: options.Model,
    table: options.Place,
    /,
    *,
    target: str | None = None,
    output: options.Output = None,
    open: options.Flag = False,
    json: options.Flag = False,
    title: str | None = None,
    baseline: Path | None = None,
    alternatives: options.Place | None = None,
    max_sample_rows: options.CountOrZero = 100,
    format: options.Format = options.DEFAULT_FORMAT,
) -> None:
    """Write an HTML page about a saved model: terms, scores, certificates, what-if.

    Parameters
    ----------
    table : Path
        File with the target and the columns that the model uses, preferably with rows that it was
        not fitted to.
    target : str
        Column that the model predicts; by default, the target of the fit.
    output : Path
        File to write; by default, model.html beside model.json. The page needs no network.
    open : bool
        Open the page in the browser.
    json : bool
        Write the content of the report as JSON instead of a page; without --output, to the standard
        output.
    title : str
        Heading of the report.
    baseline : Path
        File of another model, such as one of a greedy search, to compare the scores with.
    alternatives : Path
        File that the model was fitted to, to list rules that are nearly as good as each term.
    max_sample_rows : int
        Largest number of rows whose values are in the report; 0 for summaries only.
    """
    fitted = files.load_estimator_for("report", model, table)
    other = None if baseline is None else files.load_model(baseline)
    if output is None and not json:
        output = model.with_suffix(".html")
    if output is not None:
        files.check_destination(output, [model, table, *([] if baseline is None else [baseline])])
    target = table_file.target_of(fitted, target)
    X, y = table_file.TableFile(table, format).rows(fitted, target, other)
    with table_file.short_warnings():
        others = []
        if alternatives is not None:
            rows = table_file.TableFile(alternatives, format).rows(fitted, target)
            numbers = range(1, len(fitted.ensemble_) + 1)
            others = [fitted.alternatives(number, *rows) for number in numbers]
        try:
            made = fitted.report(
                X,
                y,
                title=title,
                target_name=target,
                max_sample_rows=max_sample_rows,
                baseline=other,
                alternatives=others,
            )
        except ModuleNotFoundError as error:
            raise CommandError(str(error)) from None
    text = made.to_json() + "\n" if json else made.to_html()
    if output is None:
        terminal.write_text(text)
    else:
        write_whole(output, text.encode())
        terminal.make_console().print(f"Saved to {visible(str(output))}")
        if open and not webbrowser.open(output.resolve().as_uri()):
            table_file.warn(["no browser could be opened."])
