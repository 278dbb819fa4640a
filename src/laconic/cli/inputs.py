"""Tables as commands need them: to learn from, and to apply a model to."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from laconic.cli import columns, files, screen, targets

if TYPE_CHECKING:
    import polars as pl

    from laconic.explain import Predictions
    from laconic.explain.rule_model import RuleModel


class TableFile:
    """A table that was read once, for any number of models.

    Its `cells` are as they stand in the file: those of a text file are text, some of which stands
    for `missing` ones.
    """

    def __init__(self, path: Path, missing: Collection[str]) -> None:
        self.cells = files.read_table(path)
        self._missing = missing
        self._is_text = files.is_text_table(path)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """All columns, with types."""
        return self._typed(self.cells)

    def _typed(self, cells: pl.DataFrame, **options: Any) -> pl.DataFrame:
        return columns.interpret(cells, self._missing, **options) if self._is_text else cells

    def warn_about_misread(self, in_use: Iterable[pl.Series]) -> list[str]:
        """Warn about columns that a few cells make text, and return their names."""
        if not self._is_text:
            return []
        found = columns.misread_warnings(in_use, self.cells, self._missing)
        warn(found.values())
        return list(found)

    def features(self, model: RuleModel, *, with_unused: bool = False) -> pl.DataFrame:
        """Columns as a model takes them; those that no rule uses are empty unless asked for."""
        ensemble = model.ensemble_
        used, text = ensemble.used_features, columns.text_features(ensemble)
        columns.check_columns(self.cells, used)
        known = ensemble.feature_names or ()
        names = [name for name in known if name in self.cells.columns] if with_unused else used
        typed = self._typed(self.cells.select(names), text_columns=text, keep_codes=False)
        self.warn_about_misread(typed[name] for name in used if name not in text)
        return columns.fill_up(typed, known, self.cells.height)

    def rows(self, model: RuleModel, target: str) -> tuple[pl.DataFrame, NDArray[Any]]:
        """Columns of a model, also those that no rule uses, and their target."""
        goal = columns.column(self.cells, target).to_frame()
        X = self.features(model, with_unused=True)
        # Classes that are text stay text, even where they look like numbers.
        has_text = any(isinstance(label, str) for label in model.task_.labels or ())
        goal = self._typed(goal, text_columns=[target] if has_text else [])
        return X, targets.read_target(goal[target], model.task_)


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
        screen.complain(f"warning: {message}")


@contextmanager
def short_warnings() -> Iterator[None]:
    """Show warnings as single lines; the certificates tell about searches that were stopped."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    warn(
        str(warning.message)
        for warning in caught
        if not issubclass(warning.category, ConvergenceWarning)
    )
