"""Tables that commands read in parts: patterns, folders, databases, and files too large to load."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from laconic.cli import inputs, screen, targets, validation
from laconic.cli.exits import CommandError
from laconic.cli.preparation import leave_out, warn_about_target
from laconic.cli.progress import FitScreen
from laconic.cli.sizes import unpacked_size
from laconic.cli.training import Learning, Source, TrainingRows
from laconic.data.inspection import inspect_columns
from laconic.data.reading import Reading
from laconic.data.sources import DATABASES, TableSource, scan
from laconic.data.tables import as_table
from laconic.model.record import FitRecord

if TYPE_CHECKING:
    import polars as pl

    from laconic.cli import options
    from laconic.estimators import RuleBoosting

# A text takes several times its size in memory.
MAX_BYTES_TO_LOAD = 2 * 2**30
# Columns are looked at, and a model is scored, with the first rows.
FIRST_ROWS = 200_000


def is_read_in_parts(path: Path) -> bool:
    """Tell whether a path stands for a table that is not loaded as a whole."""
    if path.suffix.lower() in DATABASES or path.is_dir():
        return True
    if path.exists():
        return unpacked_size(path) > MAX_BYTES_TO_LOAD
    return any(sign in str(path) for sign in "*?[")


def open_table(
    path: Path | str, format: options.Format, query: str | None = None, known: Reading | None = None
) -> TableSource:
    """Prepare to read a table in parts, as the `known` one was read that a model was made from."""
    how: dict[str, Any] = {}
    name = path.name.lower() if isinstance(path, Path) else ""
    if any(suffix in name for suffix in (".csv", ".tsv", ".txt")):
        texts = ["", *format.missing_texts(known)]
        how = {"null_values": texts, "decimal_comma": format.decimal == ","}
        if format.separating is not None:
            how["separator"] = format.separating
    return scan(path, query=query, **how)


class LargeTable:
    """A table to learn from in parts, without the columns that no rule should use."""

    def __init__(self, path: Path | str, source: Source) -> None:
        table = open_table(path, source.format, source.query)
        roles = [source.target, *filter(None, (source.weight, source.exposure))]
        for name in (*roles, *source.drop, *source.keep):
            table.require(name, "name of a column")
        self.source, self._table = source, table
        head = self._head([name for name in table.column_names if name not in source.drop])
        is_known = targets.where_known(head[source.target])
        inputs.warn(targets.dropped(is_known))
        X = self._without_useless(head.drop(roles))
        self.rows = self._first_rows(head.filter(is_known), X.filter(is_known))
        self.table = table.narrowed([*roles, *X.columns], source.target)

    def _head(self, columns: list[str]) -> pl.DataFrame:
        import polars as pl

        for part in self._table.parts(columns):
            frame = pl.DataFrame(part)
            if frame.height > 0:
                return frame.head(FIRST_ROWS)
        raise CommandError("The table must have at least one row. Got none.")

    def _without_useless(self, X: pl.DataFrame) -> pl.DataFrame:
        kinds = ("index", "count", "identifier", "names")
        found = {
            finding.column: finding.words
            for finding in inspect_columns(as_table(X))
            if finding.kind in kinds and finding.column not in self.source.keep
        }
        return leave_out(X, found, " --keep {} uses it all the same.") if found else X

    def _first_rows(self, head: pl.DataFrame, X: pl.DataFrame) -> TrainingRows:
        from laconic.estimators import ESTIMATORS

        goal, source = head[self.source.target], self.source
        detected = "regression" if source.exposure is not None else targets.detect_task(goal)
        estimator = ESTIMATORS[detected if source.task == "auto" else source.task]
        y = targets.read_target(goal, estimator.task)
        weights = None if source.weight is None else targets.read_weights(head[source.weight])
        exposure = None
        if source.exposure is not None:
            exposure = targets.read_exposure(head[source.exposure], estimator.task)
        reading = Reading(missing=source.format.missing_texts())
        rows = TrainingRows(estimator, X, y, weights, reading, exposure)
        warn_about_target(X, rows.y, source.keep)
        return rows


def fit_large(
    table: LargeTable, learning: Learning, progress: FitScreen
) -> tuple[RuleBoosting, int]:
    """Learn rules; returns the model and the number of rows."""
    if learning.n_rules == "auto":
        raise CommandError(
            "--n-rules auto needs a table that is loaded, to hold rows out. Name a number."
        )
    n_rows = 0

    def read(seen: Any) -> None:
        nonlocal n_rows
        n_rows = max(n_rows, seen.n_rows)
        progress.read(seen)

    table.table.on_progress = read
    progress.begin_reading()
    estimator = table.rows.estimator(**learning.parameters, on_interrupt="keep", callback=progress)
    with inputs.short_warnings(), progress.watch():
        source = table.source
        estimator.fit(table.table, source.target, source.weight, source.exposure)
    return estimator, n_rows


def record_of(table: LargeTable, learning: Learning, model: RuleBoosting, n_rows: int) -> FitRecord:
    """Tell what a model was learned from, with scores on its first rows."""
    predictions = model.predictions_for(table.rows.X)
    return FitRecord(
        table.source.target,
        n_rows,
        datetime.now(UTC).isoformat(timespec="seconds"),
        learning.settings,
        (validation.training_scores(predictions, table.rows),),
    )


def predict_large(model: RuleBoosting, table: TableSource, output: Path | None, **how: Any) -> None:
    """Write predictions to a Parquet file as the rows are read."""
    if output is None or output.suffix.lower() not in (".parquet", ".pq"):
        raise CommandError(
            "Predictions for a table that is read in parts go to a Parquet file. Name one with "
            "--output predictions.parquet."
        )
    n_rows = model.save_predictions(table, output, **how)
    console = screen.make_console(quiet=False)
    screen.print_text(console, f"{n_rows:,} rows written to {output}")
