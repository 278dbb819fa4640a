"""Tables that commands read and write, and what is wrong with them."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

# Imported when a command needs it: it takes long.
if TYPE_CHECKING:
    import polars as pl

    from laconic import RuleBoostingClassifier, RuleBoostingRegressor

    Estimator: TypeAlias = RuleBoostingClassifier | RuleBoostingRegressor

Task: TypeAlias = Literal["classification", "regression"]

SEPARATORS = {".csv": ",", ".tsv": "\t"}
PARQUET_SUFFIXES = (".parquet", ".pq")


class CommandError(Exception):
    """Something that the user can mend; the message says how."""


def read_table(path: Path, text_columns: set[str] | None = None) -> pl.DataFrame:
    """Read a file, the given columns as text if it is a text file."""
    import polars as pl

    compressed = [f"{suffix}.gz" for suffix in SEPARATORS]
    suffix = check_suffix(path, (*SEPARATORS, *compressed, *PARQUET_SUFFIXES))
    if not path.is_file():
        raise CommandError(f"There is no file {str(path)!r}. Check the path of the table.")
    try:
        if suffix in PARQUET_SUFFIXES:
            frame = pl.read_parquet(path, glob=False)
        else:
            frame = _read_text_table(path, SEPARATORS[suffix.removesuffix(".gz")], text_columns)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = (str(error).splitlines() or ["unknown reason"])[0]
        raise CommandError(
            f"Cannot read the table {str(path)!r}: {reason}. Check that it is a complete "
            f"{suffix} file."
        ) from None
    if frame.height == 0:
        raise CommandError(f"The table {str(path)!r} must have at least one row. Got none.")
    return frame


def _read_text_table(path: Path, separator: str, text_columns: set[str] | None) -> pl.DataFrame:
    import polars as pl

    # Bytes, because the name of a file may look like a pattern.
    content = path.read_bytes()
    names = pl.read_csv(content, separator=separator, n_rows=0).columns
    return pl.read_csv(
        content,
        separator=separator,
        # The type of a column depends on all of its rows.
        infer_schema_length=None,
        schema_overrides={name: pl.String for name in names if name in (text_columns or ())},
    )


def write_table(frame: pl.DataFrame, path: Path | None) -> None:
    """Write a file, or CSV to the standard output if there is no path."""
    if path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(frame.write_csv().encode())
        return
    content = io.BytesIO()
    if path.suffix.lower() in PARQUET_SUFFIXES:
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator=SEPARATORS[path.suffix.lower()])
    path.write_bytes(content.getvalue())


def check_suffix(path: Path, allowed: Sequence[str]) -> str:
    """Return the one of the allowed suffixes that a path has."""
    for suffix in allowed:
        if path.name.lower().endswith(suffix):
            return suffix
    raise CommandError(
        f"The name of a table must end with {', '.join(allowed[:-1])} or {allowed[-1]}. "
        f"Got {path.name!r}. Rename or convert the file."
    )


def check_destination(path: Path) -> None:
    """Refuse a path that cannot be written to before the work, and not after it."""
    folder = path.resolve().parent
    is_taken = path.exists() and not path.is_file()
    if is_taken or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CommandError(
            f"Cannot write {str(path)!r}: it must be a regular file in an existing folder that "
            "you may write to. Create the folder, or choose another path."
        )


def column(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column that must exist."""
    _check_columns(frame, [name])
    return frame[name]


def drop_columns(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Leave out columns that must exist, but not all there are."""
    _check_columns(frame, names)
    X = frame.drop(names)
    if X.width == 0:
        raise CommandError(
            f"Rules need at least one column besides {', '.join(map(repr, names))}. Got none. "
            "Drop fewer columns."
        )
    return X


def text_features(estimator: Estimator) -> set[str]:
    """Find features that are compared with text, even if a table has only numbers there."""
    propositions = [proposition for rule in estimator.ensemble_ for proposition in rule.query]
    return {
        proposition.feature for proposition in propositions if isinstance(proposition.value, str)
    }


def select_features(frame: pl.DataFrame, estimator: Estimator) -> pl.DataFrame:
    """Pick the columns that a model was trained on, in its order."""
    names = list(estimator.ensemble_.feature_names or ())
    _check_columns(frame, names)
    return frame.select(names)


def _check_columns(frame: pl.DataFrame, names: list[str]) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise CommandError(
            f"The table must have the column{'s' if len(missing) > 1 else ''} "
            f"{', '.join(map(repr, missing))}. It has {', '.join(map(repr, frame.columns))}. "
            "Check the spelling, or add what is missing."
        )


def with_columns(
    frame: pl.DataFrame, columns: dict[str, NDArray[Any]], keep_columns: bool
) -> pl.DataFrame:
    """Make a table of new columns, next to the old ones if these are to be kept."""
    import polars as pl

    predictions = pl.DataFrame({name: values.tolist() for name, values in columns.items()})
    if not keep_columns:
        return predictions
    taken = [name for name in predictions.columns if name in frame.columns]
    if taken:
        raise CommandError(
            f"With --keep-columns the table must not have a column {taken[0]!r} already. "
            "Rename it, or leave out --keep-columns."
        )
    return frame.hstack(predictions)


def detect_task(target: pl.Series) -> Task:
    """Tell from the values of the target what kind of model is wanted."""
    values = target.drop_nulls()
    if not target.dtype.is_numeric():
        return "classification"
    is_whole = not target.dtype.is_float() or bool((values == values.round()).all())
    return "classification" if is_whole and values.n_unique() == 2 else "regression"


def read_target(target: pl.Series, task: Task) -> NDArray[Any]:
    """Check the target and turn it into an array."""
    import polars as pl

    _check_target(target)
    is_text = not (target.dtype.is_numeric() or target.dtype == pl.Boolean)
    if task == "classification":
        _check_classes(target)
        return np.array(target.cast(pl.String).to_list()) if is_text else target.to_numpy()
    if is_text:
        raise CommandError(
            f"Regression needs a target of numbers. Column {target.name!r} holds text. Use "
            "--task classification, or choose another column with --target."
        )
    return target.cast(pl.Float64).to_numpy()


def _check_target(target: pl.Series) -> None:
    import polars as pl

    dtype = target.dtype
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.String, pl.Categorical, pl.Enum)):
        raise CommandError(
            f"The target must hold text, booleans or numbers. Column {target.name!r} has the type "
            f"{dtype}. Convert it, or choose another column with --target."
        )
    n_missing = target.null_count() + (int(target.is_nan().sum()) if dtype.is_float() else 0)
    if n_missing > 0:
        raise CommandError(
            f"The target must be known in every row. Column {target.name!r} is missing in "
            f"{n_missing} of {len(target)} rows. Fill these cells, or remove these rows from the "
            "table."
        )


def _check_classes(target: pl.Series) -> None:
    n_classes = target.n_unique()
    if n_classes > 2:
        hint = ", or use --task regression" if target.dtype.is_numeric() else ""
        raise CommandError(
            "Only two classes are supported for now. "
            f"Column {target.name!r} has {n_classes} different values. Replace all classes but "
            f"one by a common value{hint}."
        )


def read_weights(weights: pl.Series) -> NDArray[np.float64]:
    """Check the weights and turn them into an array."""
    import polars as pl

    if not weights.dtype.is_numeric() or weights.null_count() > 0:
        raise CommandError(
            f"Weights must be numbers, and known in every row. Column {weights.name!r} has the "
            f"type {weights.dtype} and {weights.null_count()} missing values. Fill these cells, "
            "or choose another column with --weight."
        )
    numbers: NDArray[np.float64] = weights.cast(pl.Float64).to_numpy()
    return numbers
