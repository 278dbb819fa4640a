"""Tables as commands need them: to train with, and to apply a model to."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import laconic
from laconic.cli import columns, files, screen

# Imported when a command needs it: it takes long.
if TYPE_CHECKING:
    import polars as pl

    Estimator: TypeAlias = laconic.RuleBoostingClassifier | laconic.RuleBoostingRegressor


def read_training_table(
    table: Path, target: str, weight: str | None, drop: Sequence[str], missing: Sequence[str]
) -> tuple[pl.DataFrame, pl.Series, pl.Series | None]:
    """Read features, target and weights, and warn about columns that may not be as intended."""
    cells = files.read_table(table)
    is_text = files.is_text_table(table)
    frame = columns.interpret(cells, missing) if is_text else cells
    goal = columns.column(frame, target)
    weights = None if weight is None else columns.column(frame, weight)
    if target in drop:
        raise files.CommandError(
            f"--drop must not name the target. Got {target!r} for both. Choose another --target, "
            "or drop other columns."
        )
    X = columns.drop_columns(frame, [target, *([weight] if weight else []), *drop])
    in_use = [goal, *([] if weights is None else [weights]), *X]
    misread = columns.misread_warnings(in_use, cells, missing) if is_text else {}
    warn(misread.values())
    warn(columns.identifier_warnings(X.drop(misread, strict=False)))
    return X, goal, weights


def read_features(
    table: Path, estimator: Estimator, missing: Collection[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read a table to apply a model to: the cells as they stand there, and the features."""
    cells = files.read_table(table)
    used = columns.select_used(cells, estimator)
    if files.is_text_table(table):
        text = columns.text_features(estimator)
        used = columns.interpret(used, missing, text_columns=text, keep_codes=False)
        warn(columns.misread_warnings(used.drop(text, strict=False), cells, missing).values())
    return cells, columns.fill_unused(used, cells.height, estimator)


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
