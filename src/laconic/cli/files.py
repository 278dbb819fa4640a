"""Files that commands read and write: models, tables of predictions, and checks of paths."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from laconic._util.files import write_whole
from laconic._util.words import listed
from laconic.cli.terminal import CommandError
from laconic.tables.text_files.formats import TABLE_SUFFIXES, check_is_file

if TYPE_CHECKING:
    import polars as pl

    from laconic.estimators.base import RuleBoosting
    from laconic.models.rule_model import Model, RuleModel

# Not a usual name of a file.
STANDARD_INPUT = Path("<standard input>")
PARQUET_SUFFIXES = (".parquet", ".pq")
OUTPUT_SEPARATORS = {".csv": ",", ".tsv": "\t"}
OUTPUT_SUFFIXES = (*OUTPUT_SEPARATORS, *PARQUET_SUFFIXES)
# Models end with .json, too.
_SUFFIXES_OF_TABLES_ALONE = tuple(each for each in TABLE_SUFFIXES if each != ".json")


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Write a table to a file of the kind that its suffix names."""
    content = io.BytesIO()
    if path.suffix.lower() in PARQUET_SUFFIXES:
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator=OUTPUT_SEPARATORS[path.suffix.lower()])
    write_whole(path, content.getvalue())


def load_model_for(command: str, path: Path, table: Path | str) -> RuleModel:
    """Load a model for a command that a table follows, and refuse a table in its place."""
    _refuse_table(command, path, table)
    return load_model(path)


def load_estimator_for(command: str, path: Path, table: Path | str) -> RuleBoosting:
    """Load a model that is to learn, too, which takes a second longer."""
    from laconic.estimators.files import load_model

    _refuse_table(command, path, table)
    return _load(path, load_model)


def _refuse_table(command: str, path: Path, table: Path | str) -> None:
    if has_suffix(path, _SUFFIXES_OF_TABLES_ALONE):
        raise CommandError(
            f"The model comes first: laconic {command} MODEL TABLE. Got the table {str(path)!r} "
            f"as MODEL and {str(table)!r} as TABLE."
        )


def load_model(path: Path) -> RuleModel:
    """Load a model from a path that must exist, to be shown and applied."""
    from laconic.export.json.files import read_model
    from laconic.models.rule_model import RuleModel

    return _load(path, lambda path: read_model(path).fill(RuleModel()))


def _load(path: Path, load: Callable[[Path], Model]) -> Model:
    check_is_file(path, "model")
    try:
        return load(path)
    except OSError as error:
        raise CommandError(
            f"Cannot read the model {str(path)!r}: {error.strerror or error}. Check that you may "
            "read it."
        ) from None


def has_suffix(path: Path, suffixes: Sequence[str]) -> bool:
    """Return whether a path ends with one of the suffixes."""
    return path.name.lower().endswith(tuple(suffixes))


def check_suffix(path: Path, allowed: Sequence[str]) -> str:
    """Return the one of the allowed suffixes that a path has."""
    for suffix in allowed:
        if has_suffix(path, [suffix]):
            return suffix
    raise CommandError(
        f"The name of a table must end with {listed(allowed, word='or')}. Got {path.name!r}. "
        "Choose another name."
    )


def check_model_destination(path: Path, table: Path | str) -> None:
    """Refuse a path that a model cannot or should not be saved to."""
    check_destination(path, [table])
    if has_suffix(path, _SUFFIXES_OF_TABLES_ALONE):
        raise CommandError(
            f"A model is saved as JSON. Got --output {str(path)!r}, the name of a table. "
            "Choose a name that ends with .json."
        )


def check_destination(path: Path, inputs: Sequence[Path | str]) -> None:
    """Refuse a path that cannot be written to, before the work begins."""
    if path == STANDARD_INPUT:
        raise CommandError("--output takes the name of a file. Got -. Choose a name.")
    folder = path.resolve().parent
    is_taken = path.exists() and not path.is_file()
    if is_taken or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CommandError(
            f"Cannot write {str(path)!r}: it must be a regular file in an existing folder that "
            "you may write to. Create the folder, or choose another path."
        )
    given = [each for each in inputs if isinstance(each, Path) and each.exists()]
    if path.exists() and any(map(path.samefile, given)):
        raise CommandError(
            f"Cannot write {str(path)!r}: this would overwrite a file that the command reads. "
            "Choose another path."
        )
