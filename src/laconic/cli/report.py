"""The command that writes a report on a saved model."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray

import laconic
from laconic.cli import columns, files, options, screen
from laconic.cli import target as targets

if TYPE_CHECKING:
    import polars as pl

    Estimator: TypeAlias = laconic.RuleBoostingClassifier | laconic.RuleBoostingRegressor

__all__ = ["report"]


def report(
    model: Path,
    table: Path,
    /,
    *,
    target: str,
    output: Path | None = None,
    json: options.Flag = False,
    title: str | None = None,
    max_sample_rows: options.CountOrZero = 100,
    missing: options.Texts = columns.DEFAULT_MISSING,
) -> None:
    """Show a saved model on one page: rules, scores, certificates, and what would happen if.

    Parameters
    ----------
    model : Path
        File that 'laconic fit --model' or laconic.save_model wrote.
    table : Path
        CSV, TSV or Parquet file with the target and the columns that the rules use, best of rows
        that the model was not trained on.
    target : str
        Column that the model predicts.
    output : Path
        File to write, instead of writing to the standard output. A browser opens it without a
        network.
    json : bool
        Write the content of the report as JSON, not as a page.
    title : str
        Heading of the report.
    max_sample_rows : int
        Largest number of rows whose values are in the report; with 0, it has summaries only.
    missing : tuple of str
        Texts that mean a missing cell in CSV and TSV files, besides no text at all.
    """
    files.check_model_comes_first(model, table)
    estimator = files.load_model(model)
    if output is not None:
        files.check_destination(output, [model, table])
    X, y = _read_rows(table, estimator, target, missing)
    # The columns are taken by name, also for a model that was trained on nameless ones.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        try:
            made = estimator.report(
                X, y, title=title, target_name=target, max_sample_rows=max_sample_rows
            )
        except ModuleNotFoundError as error:
            raise files.CommandError(str(error)) from None
    text = made.to_json() + "\n" if json else made.to_html()
    if output is None:
        screen.write_text(text)
    else:
        output.write_text(text, encoding="utf-8", newline="\n")
        screen.print_text(screen.make_console(), f"Saved to {screen.visible(str(output))}")


def _read_rows(
    table: Path, estimator: Estimator, target: str, missing: Collection[str]
) -> tuple[pl.DataFrame, NDArray[Any]]:
    """Read the columns of a model, those that no rule uses where there are any, and the target."""
    cells = files.read_table(table)
    goal = columns.column(cells, target).to_frame()
    columns.select_used(cells, estimator)  # refuses a table without them
    names = [name for name in estimator.ensemble_.feature_names or () if name in cells.columns]
    known = cells.select(names)
    if files.is_text_table(table):
        text = columns.text_features(estimator)
        known = columns.interpret(known, missing, text_columns=text, keep_codes=False)
        goal = columns.interpret(goal, missing, text_columns=_text_target(estimator, target))
    X = columns.fill_unused(known, cells.height, estimator)
    is_classifier = isinstance(estimator, laconic.RuleBoostingClassifier)
    task: targets.Task = "classification" if is_classifier else "regression"
    return X, targets.read_target(goal[target], task)


def _text_target(estimator: Estimator, target: str) -> list[str]:
    """Name the target if its classes are text, even where they look like numbers."""
    if not isinstance(estimator, laconic.RuleBoostingClassifier):
        return []
    return [target] if isinstance(estimator.classes_.tolist()[0], str) else []
