"""Tables as commands need them: to learn from, and to apply a model to."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from laconic.cli import columns, files, options, targets, terminal
from laconic.cli.terminal import CommandError
from laconic.tables.inspection import ColumnWarning
from laconic.tables.text_files import texts
from laconic.tables.text_format import Reading

if TYPE_CHECKING:
    import polars as pl

    from laconic.estimators.base import RuleBoosting
    from laconic.models import Predictions
    from laconic.models.rule_model import RuleModel


class TableFile:
    """A table that was read once, for any number of models.

    Its `cells` are as they stand in the file: those of a text file are text, some of which stands
    for missing ones.
    """

    def __init__(self, path: Path, format: options.Format) -> None:
        self._read = files.read_table(path, format.separating)
        self.format = format
        self.cells = self._read.frame
        self._has_told = False
        name = files.shown_path(path)
        self.notes = [f"the table {name} {note}" for note in self._read.notes]
        warn(f"the table {name} {doubt}" for doubt in self._read.doubts)

    def reader(self, reading: Reading, **how: Any) -> columns.Reader:
        """Return what gives types to the cells."""
        return columns.Reader(reading=reading, has_types=self._read.has_types, **how)

    def decimal_sign(self, known: str | None = None) -> str:
        """Find out the decimal sign; the `known` one decides where both are possible."""
        import polars as pl

        if self.format.decimal is not None:
            return self.format.decimal
        cells = self.cells.select(pl.col(pl.String))
        return texts.decimal_sign(cells, self._read.separator, known)

    def find_dates(self) -> dict[str, list[str]]:
        """Find columns of dates in text, and the ways in which these may be written."""
        import polars as pl

        reader = self.reader(Reading(missing=self.format.missing_texts()))
        cells = self.cells.select(pl.col(pl.String))
        found = {values.name: texts.date_formats(reader.known(values)) for values in cells}
        return {name: written for name, written in found.items() if written}

    def warn_about_misread(self, in_use: Iterable[pl.Series], reader: columns.Reader) -> list[str]:
        """Warn about columns that a few cells make text, and return their names."""
        if reader.has_types:
            return []
        found = columns.misread_warnings(in_use, self.cells, reader)
        warn(found.values())
        return list(found)

    def features(self, model: RuleModel, *, with_unused: bool = False) -> pl.DataFrame:
        """Columns as a model takes them; those that no rule uses are empty unless asked for."""
        ensemble = model.ensemble_
        used, text = ensemble.used_features, columns.text_features(ensemble)
        columns.check_columns(self.cells, used)
        known = ensemble.feature_names or ()
        names = [name for name in known if name in self.cells.columns] if with_unused else used
        reader = self._reader_for(model, text_columns=text, is_for_model=True)
        typed = reader.read(self.cells.select(names))
        self.warn_about_misread((typed[name] for name in used if name not in text), reader)
        return columns.fill_up(typed, known, self.cells.height)

    def _reader_for(self, model: RuleModel, **how: Any) -> columns.Reader:
        """Return what reads as the file was read that a model was made from."""
        known = model.reading_
        decimal = self.decimal_sign(None if known is None else known.decimal)
        dates = {} if known is None else known.dates
        return self.reader(Reading(decimal, dates, self.format.missing_texts(known)), **how)

    def rows(
        self, model: RuleModel, target: str, other: RuleModel | None = None
    ) -> tuple[pl.DataFrame, NDArray[Any]]:
        """Columns of a model, also those that no rule uses, and their target where it is known.

        Those that only another model uses come with them.
        """
        goal = self._goal(model, target)
        X = self.features(model, with_unused=True)
        if other is not None:
            known = model.ensemble_.used_features
            further = [name for name in other.ensemble_.used_features if name not in known]
            X = X.with_columns(self.features(other).select(further))
        is_known = targets.where_known(goal)
        if not self._has_told:
            warn(targets.dropped(is_known))
        self._has_told = True
        return X.filter(is_known), targets.read_target(goal.filter(is_known), model.task_)

    def numbers(self, model: RuleModel, target: str, name: str) -> pl.Series:
        """Read a column, such as that of weights, in the rows whose target is known."""
        cells = columns.column(self.cells, name).to_frame()
        numbers = self._reader_for(model).read(cells)[name]
        return numbers.filter(targets.where_known(self._goal(model, target)))

    def _goal(self, model: RuleModel, target: str) -> pl.Series:
        cells = columns.column(self.cells, target).to_frame()
        # Classes that are text stay text, even where they look like numbers.
        has_text = any(isinstance(label, str) for label in model.task_.labels or ())
        reader = self._reader_for(model, text_columns=[target] if has_text else [])
        return reader.read(cells)[target]


def target_of(model: RuleModel, target: str | None) -> str:
    """Tell the column that a model predicts: the one that was named, or that of its record."""
    known = None if model.record_ is None else model.record_.target
    if target is None and known is None:
        raise CommandError(
            "The model does not tell which column it predicts. Name the column with --target."
        )
    return str(known if target is None else target)


def model_and_rows(
    command: str,
    model: Path,
    table: Path,
    target: str | None,
    weight: str | None,
    exposure: str | None,
    format: options.Format,
) -> tuple[RuleBoosting, dict[str, Any]]:
    """Load a model for a command, and read the rows that it was trained on, as `fit` takes them.

    Columns that are not named are those of the fit.
    """
    fitted = files.load_model_for(command, model, table)
    target = target_of(fitted, target)
    known = {} if fitted.record_ is None else fitted.record_.settings
    source = TableFile(table, format)
    X, y = source.rows(fitted, target)
    rows: dict[str, Any] = {"X": X, "y": y}
    if name := weight or known.get("weight"):
        rows["sample_weight"] = targets.read_weights(source.numbers(fitted, target, str(name)))
    if name := exposure or known.get("exposure"):
        amounts = source.numbers(fitted, target, str(name))
        rows["exposure"] = targets.read_exposure(amounts, fitted.task_)
    return fitted, rows


def predictions_for(model: RuleModel, table: TableFile) -> Predictions:
    """Apply a model to a table."""
    X = table.features(model)
    with columns_by_name():
        return model.predictions_for(X)


@contextmanager
def columns_by_name() -> Iterator[None]:
    """Allow a table with names for a model that was trained without: columns go by name."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        yield


def warn(messages: Iterable[str]) -> None:
    """Write warnings to the standard error."""
    for message in messages:
        terminal.complain(f"warning: {message}")


def note(messages: Iterable[str], *, quiet: bool = False) -> None:
    """Write to the standard error what was found out, unless a command is to be quiet."""
    for message in messages:
        if not quiet:
            terminal.complain(f"note: {message}")


@contextmanager
def short_warnings() -> Iterator[None]:
    """Show warnings as single lines, except those about what the command tells by itself.

    The certificates tell about searches that were stopped, and columns were looked at before.
    """
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    warn(
        str(warning.message)
        for warning in caught
        if not issubclass(warning.category, ConvergenceWarning | ColumnWarning)
    )
