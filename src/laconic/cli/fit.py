"""The command that learns rules from a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import laconic
from laconic.cli import files, inputs, options, screen
from laconic.cli.exits import EXIT_INTERRUPTED
from laconic.cli.progress import FitScreen, limit_option
from laconic.cli.training import DEFAULT_LEARNING, Learning, Source, TrainingRows
from laconic.model.formatting import format_count, format_number, visible

if TYPE_CHECKING:
    from rich.console import Console

    from laconic.estimators import RuleBoosting
    from laconic.explain import Predictions


def fit(
    table: Path,
    /,
    *,
    source: Source,
    model: Path | None = None,
    learning: Learning = DEFAULT_LEARNING,
    json: options.Flag = False,
    quiet: options.Flag = False,
) -> int:
    """Learn rules from a table.

    Ctrl-C ends the search and keeps the rules found so far.

    Parameters
    ----------
    table : Path
        CSV, TSV or Parquet file (.csv, .csv.gz, .tsv, .tsv.gz, .parquet, .pq). CSV and TSV files
        are text in UTF-8; their empty cells are missing values, and columns with numbers such as
        01234 are text.
    model : Path
        File to save the model to, as JSON.
    json : bool
        Write the model to the standard output as JSON, and nothing else but warnings and errors.
    quiet : bool
        Show nothing but warnings and errors.
    """
    if model is not None:
        files.check_model_destination(model, table)
    rows = source.read(table)
    console = screen.make_console(quiet=quiet or json)
    progress = FitScreen(console)
    estimator = learning.estimator(rows)
    fitted = estimator(**learning.parameters, on_interrupt="keep", callback=progress)
    with inputs.short_warnings(), progress.watch():
        fitted.fit(rows.X, rows.y, rows.sample_weight)
    if progress.is_interrupted:
        # Without a rule, a fit that was interrupted leaves no ensemble.
        n_found = len(getattr(fitted, "ensemble_", ()))
        if n_found == 0:
            screen.complain("Interrupted before the first rule was found. Nothing is saved.")
            return EXIT_INTERRUPTED
        n_rules = getattr(fitted, "n_rules_", fitted.n_rules)
        screen.complain(f"Interrupted: the model has {n_found} of {n_rules} rules.")
    if model is not None:
        laconic.save_model(fitted, model)
    if not console.quiet:
        _show(console, fitted, rows, source.target)
        if model is not None:
            screen.print_text(console, f"Saved to {visible(str(model))}")
    if json:
        screen.write_model(fitted)
    return EXIT_INTERRUPTED if progress.is_interrupted else 0


def _show(console: Console, model: RuleBoosting, rows: TrainingRows, target: str) -> None:
    """Show the rules, the rows that they cover, and how well they fit."""
    n_rows = format_count(len(rows.X), "row")
    screen.print_text(console, f"\n{screen.describe_model(model)}")
    screen.print_text(console, f"Learned from {n_rows} to predict {visible(target)}.\n")
    if hasattr(model, "reason_"):
        screen.print_text(console, f"{model.reason_}\n")
    predictions = model.predictions_for(rows.X)
    n_covered = predictions.covered.sum(axis=0).tolist()
    console.print(screen.rules_table(model, n_covered=n_covered), "", sep="\n")
    screen.print_text(console, f"On the training rows: {_scores(predictions, rows)}")
    for line in _proofs(model):
        screen.print_text(console, line)


def _scores(predictions: Predictions, rows: TrainingRows) -> str:
    """Say how well a model fits the rows it was made from."""
    task = predictions.task
    numbers = task.numbers(rows.y, predictions.n_rows)
    scores = {
        metric.label: task.score(metric, numbers, predictions.raw, rows.sample_weight)
        for metric in task.metrics
        if metric.is_higher_better
    }
    return ", ".join(f"{label} {format_number(score)}" for label, score in scores.items())


def _proofs(model: RuleBoosting) -> Iterator[str]:
    """Say what is proven, and what could be done about searches that were stopped."""
    results, thresholds = model.search_results_, model.max_thresholds
    n_proven = sum(result.is_optimal for result in results)
    seconds = sum(result.seconds for result in results)
    scope = "all thresholds" if thresholds is None else f"up to {thresholds} thresholds per number"
    yield (
        f"Proven optimal over {scope}: {n_proven} of {format_count(len(results), 'rule')}, "
        f"in {format_number(seconds, 2)} s"
    )
    stops = [option for option in map(limit_option, results) if option]
    if stops:
        yield (
            f"{format_count(len(stops), 'search', 'searches')} stopped early. Raise "
            f"{stops[0]}, make the proof easier with --max-conditions or --l2-regularization, or "
            "settle for less with --approximation-factor."
        )
