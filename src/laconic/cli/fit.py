"""The command that learns rules from a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import laconic
from laconic.cli import files, options, records, streamed, table_file, terminal, validation
from laconic.cli.progress import FitScreen, limit_option
from laconic.cli.terminal import EXIT_INTERRUPTED
from laconic.cli.training import DEFAULT_LEARNING, Learning, Source, TrainingRows
from laconic.cli.validation import DEFAULT_VALIDATION, Validation
from laconic.search.checkpoint import Checkpoint
from laconic.search.results import format_seconds
from laconic.terms.formatting import format_count, visible
from laconic.terms.record import FitRecord, RowScores

if TYPE_CHECKING:
    from rich.console import Console

    from laconic.estimators import RuleBoosting
    from laconic.models import Predictions


def fit(
    table: options.Place,
    /,
    *,
    source: Source,
    model: Path | None = None,
    checkpoint: Path | None = None,
    check: Validation = DEFAULT_VALIDATION,
    learning: Learning = DEFAULT_LEARNING,
    json: options.Flag = False,
    quiet: options.Flag = False,
) -> int:
    """Learn rules from a table, and score them on rows that they have not seen.

    Ctrl-C ends the search and keeps the rules found so far.

    Parameters
    ----------
    table : Path
        Text (.csv, .tsv, .txt), .parquet, .feather, .xlsx or JSON lines (.jsonl), also with .gz or
        .zst, or - for the standard input. Separators and decimal signs are found out. Empty cells
        are missing values, and columns with numbers such as 01234 are text. A folder, a pattern in
        quotes such as "data/*.parquet", a database (.duckdb, .sqlite, .db, or an address such as
        postgresql://host/name) and files of more than 2 GiB (uncompressed) are read in parts.
    model : Path
        File to save the model to, as JSON.
    checkpoint : Path
        File to write finished searches to. If the command is killed, the same command goes on from
        there, to the same model. It is removed at the end.
    json : bool
        Write the model to the standard output as JSON, and nothing else but warnings and errors.
    quiet : bool
        Show nothing but warnings and errors.
    """
    if model is not None:
        files.check_model_destination(model, table)
    if checkpoint is None:
        return _fit(table, source, model, check, learning, json=json, quiet=quiet)
    files.check_destination(checkpoint, [table, *([] if model is None else [model])])
    with Checkpoint(checkpoint) as known:
        if known.results:
            n_known = format_count(len(known.results), "search", "searches")
            name = visible(str(checkpoint))
            table_file.note([f"{n_known} of {name} need not be repeated"], quiet=quiet or json)
        exit_code = _fit(table, source, model, check, learning, json=json, quiet=quiet)
    if exit_code == 0:
        checkpoint.unlink(missing_ok=True)
    return exit_code


def _fit(
    table: Path | str,
    source: Source,
    model: Path | None,
    check: Validation,
    learning: Learning,
    *,
    json: bool,
    quiet: bool,
) -> int:
    """Learn rules, show and save them; returns the exit code."""
    console = terminal.make_console(quiet=quiet or json)
    progress = FitScreen(console)
    if isinstance(table, str) or streamed.is_read_in_parts(table):
        return _fit_in_parts(table, source, learning, check, model, progress, json=json)
    rows, test_rows = source.read(table, quiet=quiet or json), check.read_test(source)
    estimator = learning.estimator(rows)
    fitted = estimator(**learning.parameters, on_interrupt="keep", callback=progress)
    with table_file.short_warnings(), progress.watch():
        rows.fit(fitted)
    if progress.is_interrupted and not _tell_interrupted(fitted):
        return EXIT_INTERRUPTED
    predictions = fitted.predictions_for(rows.X)
    scores = [validation.training_scores(predictions, rows)]
    fitted.record_ = FitRecord(
        source.target,
        len(rows.y),
        datetime.now(UTC).isoformat(timespec="seconds"),
        learning.settings | source.named_columns,
        (*scores,),
    )
    fitted.reading_ = rows.reading
    if model is not None:
        laconic.save_model(fitted, model)
    if not console.quiet:
        _show(console, fitted, predictions, rows, predictions.covered.sum(axis=0).tolist())
    if test_rows is not None:
        scores.append(validation.test_scores(fitted, test_rows, source))
    elif check.validation and len(fitted.ensemble_) > 0 and not progress.is_interrupted:
        scores += _cross_validate(fitted, rows, learning, progress)
    fitted.record_ = dataclasses.replace(fitted.record_, scores=(*scores,))
    return _finish(fitted, model, progress, json=json)


def _fit_in_parts(
    path: Path | str,
    source: Source,
    learning: Learning,
    check: Validation,
    model: Path | None,
    progress: FitScreen,
    *,
    json: bool,
) -> int:
    """Learn rules from a table that is not loaded as a whole."""
    table, test_rows = streamed.LargeTable(path, source), check.read_test(source)
    fitted, n_rows = streamed.fit_large(table, learning, progress)
    if progress.is_interrupted and not _tell_interrupted(fitted):
        return EXIT_INTERRUPTED
    fitted.record_ = streamed.record_of(table, learning, fitted, n_rows)
    fitted.reading_ = table.rows.reading
    if model is not None:
        laconic.save_model(fitted, model)
    if not progress.console.quiet:
        has_weights = table.rows.sample_weight is not None
        n_covered = [round(rule.coverage) for rule in fitted.rule_coverages_]
        predictions = fitted.predictions_for(table.rows.X)
        shown = None if has_weights else n_covered
        _show(progress.console, fitted, predictions, table.rows, shown)
    if test_rows is not None:
        scores = (*fitted.record_.scores, validation.test_scores(fitted, test_rows, source))
        fitted.record_ = dataclasses.replace(fitted.record_, scores=scores)
    elif check.validation:
        table_file.note(
            ["a table that is read in parts is not cross-validated. Name rows with --test."],
            quiet=progress.console.quiet,
        )
    return _finish(fitted, model, progress, json=json)


def _tell_interrupted(fitted: RuleBoosting) -> bool:
    """Say what Ctrl-C has left of a fit; returns whether that is anything."""
    # Without a rule, a fit that was interrupted leaves no ensemble.
    n_found = len(getattr(fitted, "ensemble_", ()))
    if n_found == 0:
        terminal.complain("Interrupted before the first rule was found. Nothing is saved.")
        return False
    n_rules = getattr(fitted, "n_rules_", fitted.n_rules)
    terminal.complain(f"Interrupted: the model has the {n_found} of {n_rules} rules found so far.")
    return True


def _finish(fitted: RuleBoosting, model: Path | None, progress: FitScreen, *, json: bool) -> int:
    """Show the scores of a model, and save it."""
    records.print_scores(progress.console, fitted)
    if model is not None:
        laconic.save_model(fitted, model)
        terminal.print_text(progress.console, f"Saved to {visible(str(model))}")
    else:
        terminal.print_text(progress.console, "Not saved. --model model.json keeps the model.")
    if json:
        terminal.write_model(fitted)
    return EXIT_INTERRUPTED if progress.is_interrupted else 0


def _cross_validate(
    fitted: RuleBoosting, rows: TrainingRows, learning: Learning, progress: FitScreen
) -> list[RowScores]:
    """Score models like this one on rows that they have not seen, unless Ctrl-C ends that."""
    folds = validation.affordable_folds(rows)
    if folds == 0:
        table_file.warn(["too few rows to hold some out. Name rows to score on with --test."])
        return []
    # The number of rules was chosen already, and once is enough.
    chosen = learning.parameters | {"n_rules": len(fitted.ensemble_)}
    model = rows.estimator(**chosen, callback=progress)
    found: list[RowScores] = []
    with table_file.short_warnings(), progress.watch():
        found.append(validation.cross_validation_scores(model, rows, folds, progress.check))
    if not found:
        progress.is_interrupted = False  # the model is complete
        terminal.complain("Interrupted: the model is complete, but not scored on unseen rows.")
    return found


def _show(
    console: Console,
    model: RuleBoosting,
    predictions: Predictions,
    rows: TrainingRows,
    n_covered: Sequence[int] | None,
) -> None:
    """Show the rules, the rows that they cover, and what is proven about them."""
    terminal.print_text(console, f"\n{terminal.describe_model(model)}")
    terminal.print_text(console, f"{records.describe_record(model)}\n")
    if hasattr(model, "reason_"):
        terminal.print_text(console, f"{model.reason_}\n")
    if len(model.ensemble_) == 0:
        last = model.unfinished_search_
        stop = None if last is None else limit_option(last)
        terminal.print_text(console, records.describe_constant(predictions, rows.y, stop))
        for line in _stops(model):
            terminal.print_text(console, line)
        return
    console.print(terminal.rules_table(model, n_covered=n_covered), "", sep="\n")
    for line in _proofs(model):
        terminal.print_text(console, line)


def _proofs(model: RuleBoosting) -> Iterator[str]:
    """Say what is proven, and which searches were stopped."""
    results, thresholds = model.search_results_, model.max_thresholds
    n_proven = sum(result.is_optimal for result in results)
    seconds = sum(result.seconds for result in results)
    scope = "all thresholds"
    if thresholds is not None:
        scope = f"up to {format_count(thresholds, 'threshold')} per number"
    yield (
        f"Proven optimal over {scope}: {n_proven} of {format_count(len(results), 'rule')}, "
        f"in {format_seconds(seconds)}"
    )
    if (words := records.describe_whole(model)) is not None:
        yield words
    yield from _stops(model)


def _stops(model: RuleBoosting) -> Iterator[str]:
    """Say which searches were stopped, and what could be done about it."""
    last = model.unfinished_search_
    searches = [*model.search_results_, *([] if last is None else [last])]
    stops = [option for option in map(limit_option, searches) if option]
    if last is not None and model.search_results_:
        number = len(model.search_results_) + 1
        yield f"The search for rule {number} was stopped before it found one."
    if stops:
        yield (
            f"{format_count(len(stops), 'search', 'searches')} stopped at {stops[0]}. "
            f"{_advice(model, stops[:1])}"
        )


def _advice(model: RuleBoosting, stops: list[str]) -> str:
    """Say what would prove the rules."""
    from laconic.estimators.convergence import describe_changes

    changes = [records.option(name, value) for name, value in model.provable_with_.items()]
    return describe_changes(changes, stops, ("--max-conditions", "--max-thresholds"))
