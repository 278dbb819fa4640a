"""The command that fits a model to a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import laconic
from laconic.cli import files, options, streamed, table_file, terminal, validation
from laconic.cli.progress import PREPARING, READING, FitScreen, limit_of
from laconic.cli.show import (
    date_now,
    option,
    print_model,
    print_remarks,
    print_scores,
    rules_table,
)
from laconic.cli.terminal import EXIT_INTERRUPTED, CommandError
from laconic.cli.training import DEFAULT_LEARNING, Learning, Source, TrainingRows
from laconic.cli.validation import DEFAULT_VALIDATION, Validation
from laconic.search.checkpoint import Checkpoint
from laconic.terms.formatting import format_count, format_number, visible
from laconic.terms.record import FitRecord, RowScores

if TYPE_CHECKING:
    from rich.console import Console

    from laconic.estimators.base import RuleBoosting
    from laconic.models.scores import ScoredRows


def fit(
    table: options.Place,
    /,
    *,
    source: Source,
    output: options.Output = None,
    checkpoint: Path | None = None,
    check: Validation = DEFAULT_VALIDATION,
    learning: Learning = DEFAULT_LEARNING,
    json: options.Flag = False,
    quiet: options.Flag = False,
) -> int:
    """Fit a model to a table, and score it by cross-validation.

    Ctrl-C ends the search and keeps the terms found so far.

    Parameters
    ----------
    table : Path
        Text (.csv, .tsv, .txt), .parquet, .feather, .xlsx or JSON lines (.jsonl), also with .gz or
        .zst, or - for the standard input. Separators and decimal signs are detected. Empty cells
        are missing values, and columns with numbers such as 01234 are text. Or a database (.duckdb,
        .sqlite, .db, or an address such as postgresql://host/name). A folder, a pattern in quotes
        such as "data/*.parquet", and tables of more than 2 GiB (uncompressed) are read in parts.
    output : Path
        File to save the model to, as JSON.
    checkpoint : Path
        File to write finished searches to. If the command is killed, the same command continues
        from there, to the same model. The file is removed at the end.
    json : bool
        Write the model to the standard output as JSON, and nothing else but warnings and errors.
    quiet : bool
        Show nothing but warnings and errors.
    """
    if output is not None:
        files.check_model_destination(output, table)
    if checkpoint is None:
        return _fit(table, source, output, check, learning, json=json, quiet=quiet)
    files.check_destination(checkpoint, [table, *([] if output is None else [output])])
    with Checkpoint(checkpoint) as known:
        if known.results:
            n_known = format_count(len(known.results), "search", "searches")
            name = visible(str(checkpoint))
            table_file.note([f"{n_known} of {name} need not be repeated"], quiet=quiet or json)
        exit_code = _fit(table, source, output, check, learning, json=json, quiet=quiet)
    if exit_code == 0:
        checkpoint.unlink(missing_ok=True)
    return exit_code


def _fit(
    table: Path | str,
    source: Source,
    output: Path | None,
    check: Validation,
    learning: Learning,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Fit a model, show it and save it; returns the exit code."""
    console = terminal.make_console(quiet=quiet or json)
    progress = FitScreen(console)
    large = None
    with progress.show(READING):
        score_test = check.read_test(source)
        if streamed.is_read_in_parts(table, source.format.query):
            large = streamed.LargeTable(table, source)
        else:
            rows = source.read(table, quiet=console.quiet)
    if large is not None:
        learning = streamed.without_rows(learning, quiet=console.quiet)
        fitted, n_rows = streamed.fit_large(large, learning, progress)
        rows = large.rows  # the first ones
    else:
        fitted = learning.make(rows, on_interrupt="keep", callback=progress)
        with table_file.short_warnings(), progress.watch(PREPARING):
            rows.fit(fitted)
        n_rows = len(rows.y)
    if progress.is_interrupted and not _report_interruption(fitted):
        return EXIT_INTERRUPTED
    settings = learning.settings | source.named_columns
    fitted.record_ = FitRecord(source.target, n_rows, date_now(), settings)
    fitted.reading_ = rows.reading
    if large is None:
        predictions = fitted.predictions_for(rows.X)
        n_covered: list[int] | None = predictions.covered.sum(axis=0).tolist()
        training = validation.scored_rows(predictions, rows)
    else:
        coverages = fitted.rule_coverages_
        has_weights = rows.sample_weight is not None
        n_covered = None if has_weights else [round(each.coverage) for each in coverages]
        training = streamed.score_large(fitted, large.table, source)
    constant = training.best_constant
    _record(fitted, training.scores("training", constant), output)
    if not console.quiet:
        _show(console, fitted, training, n_covered)
    if score_test is not None:
        _record(fitted, score_test(fitted).scores("test", constant), output)
    elif check.validation and large is not None:
        table_file.note(
            ["a table that is read in parts is not cross-validated. Name a table with --test."],
            quiet=console.quiet,
        )
    elif check.validation and len(fitted.ensemble_) > 0 and not progress.is_interrupted:
        _cross_validate(fitted, rows, learning, progress, output)
    print_scores(console, fitted)
    if output is not None:
        console.print(f"Saved to {visible(str(output))}")
    else:
        console.print("Not saved. Save the model with --output model.json.")
    if json:
        terminal.write_model(fitted)
    return EXIT_INTERRUPTED if progress.is_interrupted else 0


def _record(fitted: RuleBoosting, scores: RowScores, model: Path | None) -> None:
    """Add scores to the record of a model, and save it."""
    record = fitted.record_
    assert record is not None
    fitted.record_ = dataclasses.replace(record, scores=(*record.scores, scores))
    if model is not None:
        laconic.save_model(fitted, model)


def _report_interruption(fitted: RuleBoosting) -> bool:
    """Print what Ctrl-C has left of a fit; returns whether there is a model."""
    # Without a term, a fit that was interrupted leaves no ensemble.
    n_found = len(getattr(fitted, "ensemble_", ()))
    if n_found == 0:
        terminal.complain("Interrupted before the first term was found. Nothing is saved.")
        return False
    n_terms = getattr(fitted, "n_terms_", fitted.n_terms)
    terminal.complain(f"Interrupted: the model has the {n_found} of {n_terms} terms found so far.")
    return True


def _cross_validate(
    fitted: RuleBoosting,
    rows: TrainingRows,
    learning: Learning,
    progress: FitScreen,
    model: Path | None,
) -> None:
    """Score models with the same settings on held-out rows, unless Ctrl-C ends that."""
    try:
        parts = validation.splits(rows, validation.affordable_folds(rows))
    except CommandError as error:
        table_file.warn([str(error)])
        return
    # What cross-validation has chosen is not chosen again.
    n_terms = "auto" if learning.n_terms == "auto" else len(fitted.ensemble_)
    other = learning.make(rows, n_terms=n_terms, callback=progress)
    found: list[validation.FoldScores] = []
    with table_file.short_warnings(), progress.watch("validation"):
        found = validation.score_folds(other, rows, parts, progress.check, refits=False)
    if not found:
        progress.is_interrupted = False  # the model is complete
        terminal.complain("Interrupted: the model is complete, but not scored on held-out rows.")
        return
    scores = validation.join_folds([fold.scores for fold in found])
    if learning.n_terms != "cv" and not fitted.settings_.is_polished:
        fewer = validation.fewer_terms(found, rows, parts, fitted)
        scores = dataclasses.replace(scores, fewer=fewer)
    _record(fitted, scores, model)


def _show(
    console: Console, model: RuleBoosting, scored: ScoredRows, n_covered: Sequence[int] | None
) -> None:
    """Print the terms, the rows that they cover, and what is proven about them."""
    console.print()
    print_model(console, model)
    if len(model.ensemble_) == 0:
        console.print(_describe_constant(model, scored))
    else:
        console.print(rules_table(model, n_covered=n_covered))
        print_remarks(console, model)
    for line in _stops(model):
        console.print(line)


def _describe_constant(model: RuleBoosting, scored: ScoredRows) -> str:
    """Describe a model without terms, and why it has none."""
    value = model.task_.predictions(scored.raw[:1]).tolist()[0]
    words = format_number(value) if isinstance(value, float) else visible(str(value))
    if (scored.numbers == scored.numbers[0]).all():
        return f"There is nothing to learn: the target is {words} in every row. Choose another one."
    last, reason = model.unfinished_search_, "No term improves on a constant"
    if last is not None and (stop := limit_of(last)):
        reason = f"No term was found before {option(stop)}"
    return f"{reason}: the prediction is {words} for every row."


def _stops(model: RuleBoosting) -> Iterator[str]:
    """Describe which searches were stopped, and what to do about it."""
    from laconic.estimators.convergence import describe_changes

    last = model.unfinished_search_
    searches = [*model.search_results_, *([] if last is None else [last])]
    stops = [limit for limit in map(limit_of, searches) if limit]
    if last is not None and model.search_results_:
        number = len(model.search_results_) + 1
        yield f"The search for term {number} was stopped before it found one."
    if stops:
        yield (
            f"{format_count(len(stops), 'search', 'searches')} stopped at {option(stops[0])}. "
            f"{describe_changes(model.provable_with_, stops[:1])}"
        )
