"""Tables as commands need them: to learn from, and to apply a model to."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from laconic._util.words import listed_names, nearest
from laconic.cli import files, options, targets, terminal
from laconic.cli.terminal import CommandError
from laconic.tables.inspection import ColumnWarning
from laconic.tables.sources.sources import is_database
from laconic.tables.tables import whole_column
from laconic.tables.text_files.formats import FileCells, read_database, read_file, shown_path
from laconic.tables.text_files.read_table import decimal_sign, describe_unread
from laconic.tables.text_files.text_format import ColumnReader, Reading
from laconic.tables.times import kind_of

if TYPE_CHECKING:
    import polars as pl

    from laconic.models import Predictions
    from laconic.models.rule_model import RuleModel
    from laconic.tables.text_files import text_format
    from laconic.terms.rules import RuleEnsemble


class TableFile:
    """A table that was read once, for any number of models."""

    def __init__(self, path: Path | str, format: options.Format) -> None:
        place = None if path == files.STANDARD_INPUT else path
        self.format, self.content = format, _read(place, format)
        self.cells = self.content.frame
        self._has_warned = False
        self._warned: set[str] = set()
        self.notes = []
        if words := self.content.unusual_separator:
            self.notes.append(
                f"the table {shown_path(place)} has cells separated by {words}. --separator "
                "decides otherwise."
            )
        warn(f"the table {shown_path(place)} {doubt}" for doubt in self.content.doubts)

    def features(self, model: RuleModel, *, with_unused: bool = False) -> pl.DataFrame:
        """Return the columns of a model; those that no term uses are empty unless asked for."""
        import polars as pl

        used = model.ensemble_.used_features
        check_columns(self.cells, used)
        known = model.ensemble_.feature_names or ()
        present = {*self.cells.columns}
        names = [name for name in known if name in present] if with_unused else used
        typed = self._read(model, names)
        empty = pl.Series([None] * self.cells.height, dtype=pl.String)
        return pl.DataFrame({name: typed[name] if name in names else empty for name in known})

    def _read(
        self, model: RuleModel, names: Sequence[str], known_type: text_format.CellType | None = None
    ) -> pl.DataFrame:
        """Read columns as in the file that a model was fitted to, and warn about odd cells."""
        sign = None if model.reading_ is None else model.reading_.decimal
        decimal = self.format.decimal or decimal_sign(self.content, sign)
        reading = reading_for(model, self.format, decimal)
        if known_type is not None:
            types = {**reading.types} | dict.fromkeys(names, known_type)
            reading = dataclasses.replace(reading, types=types)
        reader = ColumnReader(reading=reading, has_types=self.content.has_types)
        cells = self.cells.select(names)
        typed = reader.read(cells)
        unread = describe_unread(reader, cells, typed)
        warn(
            f"column {name!r} {words}."
            for name, words in unread.items()
            if name not in self._warned
        )
        self._warned |= {*unread}
        return typed

    def rows(
        self, model: RuleModel, target: str, other: RuleModel | None = None
    ) -> tuple[pl.DataFrame, NDArray[Any]]:
        """Return the columns of a model and the target, for rows with a known target.

        Columns that no term uses, or that only another model uses, are among them.
        """
        goal = self._goal(model, target)
        X = self.features(model, with_unused=True)
        if other is not None:
            known = model.ensemble_.used_features
            further = [name for name in other.ensemble_.used_features if name not in known]
            X = X.with_columns(self.features(other).select(further))
        is_known = targets.where_known(goal)
        if not self._has_warned:
            warn(targets.dropped(is_known))
        self._has_warned = True
        return X.filter(is_known), targets.read_target(goal.filter(is_known), model.task_)

    def fit_arguments(
        self,
        model: RuleModel,
        target: str,
        weight: str | None = None,
        exposure: str | None = None,
        groups: str | None = None,
    ) -> dict[str, Any]:
        """Return the rows with a known target, as `fit` takes them."""
        X, y = self.rows(model, target)
        is_known = targets.where_known(self._goal(model, target))
        found: dict[str, Any] = {"X": X, "y": y}
        if weight is not None:
            weights = self._column(model, weight).filter(is_known)
            found["sample_weight"] = targets.read_weights(weights)
        if exposure is not None:
            amounts = self._column(model, exposure).filter(is_known)
            found["exposure"] = targets.read_exposure(amounts, model.task_)
        if groups is not None:
            found["groups"] = self._column(model, groups, "text").filter(is_known).to_list()
        return found

    def _goal(self, model: RuleModel, target: str) -> pl.Series:
        # Classes that are text stay text, even where they look like numbers.
        kinds = {type(label) for label in model.task_.labels or (0.0,)}
        known: text_format.CellType = "text" if str in kinds else "number"
        return self._column(model, target, "boolean" if kinds == {bool} else known)

    def _column(
        self, model: RuleModel, name: str, known: text_format.CellType = "number"
    ) -> pl.Series:
        check_columns(self.cells, [name])
        return self._read(model, [name], known)[name]


def _read(path: Path | str | None, format: options.Format) -> FileCells:
    """Read the cells of a file, of a database, or of the standard input if the path is None."""
    if isinstance(path, str) or (path is not None and is_database(path)):
        return read_database(path, format.query)
    if format.query is not None:
        raise CommandError(
            f"--query needs a database. Got the file {shown_path(path)}. Leave it out."
        )
    return read_file(path, format.separating)


def target_of(model: RuleModel, target: str | None) -> str:
    """Return the column that a model predicts: the one that was named, or that of its record."""
    known = None if model.record_ is None else model.record_.target
    if target is None and known is None:
        raise CommandError(
            "The model does not say which column it predicts. Name the column with --target."
        )
    return str(known if target is None else target)


def predictions_for(model: RuleModel, table: TableFile) -> Predictions:
    """Apply a model to a table."""
    X = table.features(model)
    with short_warnings():
        predictions = model.predictions_for(X)
        _ = predictions.raw  # computed here, with its warnings
    return predictions


def warn(messages: Iterable[str]) -> None:
    """Write warnings to the standard error."""
    for message in messages:
        terminal.complain(f"warning: {message}")


def note(messages: Iterable[str], *, quiet: bool = False) -> None:
    """Write notes to the standard error, unless a command is to be quiet."""
    for message in messages:
        if not quiet:
            terminal.complain(f"note: {message}")


@contextmanager
def short_warnings() -> Iterator[None]:
    """Show warnings as single lines, except those that repeat what the command prints.

    Certificates show which searches were stopped, columns were inspected before, and columns are
    chosen by name also for models that were fitted to an array.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    # By their names: importing scikit-learn to predict would take longer than all the rest.
    known = ("ConvergenceWarning", ColumnWarning.__name__)
    shown = [each for each in caught if each.category.__name__ not in known]
    messages = dict.fromkeys(str(each.message) for each in shown)
    warn(each for each in messages if not each.startswith("X has feature names"))


def reading_for(model: RuleModel, format: options.Format, decimal: str) -> Reading:
    """Return how columns are read for a model: as in the file that it was fitted to."""
    known = model.reading_ or Reading()
    types = feature_types(model.ensemble_) | {**known.types}
    missing = format.missing_texts(known)
    return dataclasses.replace(known, decimal=decimal, missing=missing, types=types)


def feature_types(ensemble: RuleEnsemble) -> dict[str, text_format.CellType]:
    """Return the types of features as far as the terms show them."""
    found: dict[str, text_format.CellType] = {}
    names = ensemble.feature_names or ()
    for name, values in ensemble.compared_values.items():
        whole = whole_column(name, names)
        known = _type_of(values[0]) if values else None
        if whole != name:
            found[whole] = "date"
        elif known is not None:
            found[name] = known
    return found


def _type_of(value: Any) -> text_format.CellType | None:
    """Return the type of a value; None for times of day and durations."""
    if isinstance(value, str):
        return "text"
    if kind_of(value) in ("date", "datetime"):
        return "date"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else None


def check_columns(frame: pl.DataFrame, names: Sequence[str]) -> None:
    """Refuse a table that lacks columns."""
    present = {*frame.columns}
    absent = [name for name in names if name not in present]
    if not absent:
        return
    close = nearest(absent[0], frame.columns)
    hint = "" if close is None else f"Did you mean {close!r}? "
    raise CommandError(
        f"The table must have the column{'s' if len(absent) > 1 else ''} {listed_names(absent)}. "
        f"{hint}It has {listed_names(frame.columns)}. Check the spelling, or add what is missing."
    )


def with_columns(
    frame: pl.DataFrame, new: dict[str, NDArray[Any]], keep_columns: bool
) -> pl.DataFrame:
    """Make a table of new columns, next to the old ones if these are to be kept."""
    import polars as pl

    predictions = pl.DataFrame({name: values.tolist() for name, values in new.items()})
    if not keep_columns:
        return predictions
    present = {*frame.columns}
    taken = [name for name in predictions.columns if name in present]
    if taken:
        raise CommandError(
            f"With --keep-columns the table must not have a column {taken[0]!r} already. "
            "Rename it, or leave out --keep-columns."
        )
    return frame.hstack(predictions)
