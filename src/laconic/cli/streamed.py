"""Tables that commands read in parts: patterns, folders, and whatever is too large to load."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from laconic.cli import table_file, terminal
from laconic.cli.progress import READING, FitScreen
from laconic.cli.terminal import CommandError
from laconic.cli.training import Learning, Source, date_options, without_useless
from laconic.tables.columns import TimeColumn, with_dates
from laconic.tables.sources.files import SCANNABLE, matching_files, suffix_of
from laconic.tables.sources.sources import TableSource, is_database, scan
from laconic.tables.tables import as_table
from laconic.tables.text_files import dates, formats, text_format
from laconic.tables.text_files.read_table import asked_reading, unread_words, with_types
from laconic.tables.text_files.text_format import ColumnReader, Reading

if TYPE_CHECKING:
    import polars as pl

    from laconic.candidates.distinct_rows.column_roles import Kept
    from laconic.cli import options
    from laconic.estimators.base import RuleBoosting
    from laconic.models.rule_model import RuleModel
    from laconic.models.scores import ScoredRows

# A text takes several times its size in memory.
MAX_BYTES_TO_LOAD = 2 * 2**30
# Of a database, which has numbers, dates and short texts.
BYTES_PER_CELL = 16
# The first rows are used to inspect columns.
FIRST_ROWS = 200_000


def is_read_in_parts(path: Path | str, query: str | None = None) -> bool:
    """Return whether a table is read in parts, and not loaded as a whole."""
    if is_database(path):
        source = scan(path, query=query)
        n_cells = source.count_rows() * len(source.column_names)
        return n_cells * BYTES_PER_CELL > MAX_BYTES_TO_LOAD
    if Path(path).is_dir():
        return True
    if Path(path).exists():
        return formats.uncompressed_size(Path(path)) > MAX_BYTES_TO_LOAD
    return any(sign in str(path) for sign in "*?[")


@dataclass(frozen=True)
class TextStart:
    """The format of a table in text files, as its first lines show it."""

    separator: str | None = None
    decimal: str = "."
    codes: tuple[str, ...] = ()
    """Columns with numbers such as 01234, which are text."""


def look_at_start(
    path: Path | str, format: options.Format, known: Reading | None = None
) -> TextStart | None:
    """Detect the format of a table that is read in parts; None unless it is text."""
    files = [] if is_database(path) else matching_files(str(path))
    if not files or SCANNABLE.get(suffix_of(files[0])) != "csv":
        return None
    cells = _first_cells(files, format)
    if cells is None:
        return TextStart(format.separating, format.decimal or ".")
    sign = None if known is None else known.decimal
    decimal = format.decimal or text_format.decimal_sign(cells.frame, cells.separator, sign)
    reader = ColumnReader(reading=Reading(missing=format.missing_texts(known)))
    codes = (
        values.name for values in map(reader.known, cells.frame) if text_format.has_codes(values)
    )
    return TextStart(cells.separator, decimal, tuple(codes))


def _first_cells(files: list[str], format: options.Format) -> formats.FileCells | None:
    """Read the first lines of the first file that has any after its header."""
    import polars as pl

    for file in files:
        try:
            cells = formats.read_first_cells(file, format.separating)
        except pl.exceptions.PolarsError:
            continue  # empty, or a cell of several lines that goes on
        if cells.frame.height > 0:
            return cells
    return None


def open_table(
    path: Path | str,
    format: options.Format,
    start: TextStart | None,
    missing: Sequence[str],
    text_columns: Collection[str] = (),
) -> TableSource:
    """Prepare to read a table in parts, in which some texts are missing values.

    The named columns stay text in text files.
    """
    import polars as pl

    if start is None:
        return scan(path, query=format.query)
    how: dict[str, Any] = {} if start.separator is None else {"separator": start.separator}
    return scan(
        path,
        query=format.query,
        null_values=["", *missing],
        # If commas separate cells, polars takes none for a decimal sign.
        decimal_comma=start.decimal == "," != start.separator,
        schema_overrides=dict.fromkeys(text_columns, pl.String),
        **how,
    )


class PartReader:
    """Gives types to columns of every part of a table, and counts the cells of other types."""

    def __init__(self, reading: Reading, columns: Collection[str]) -> None:
        self._columns = columns
        self.reader = ColumnReader(reading=reading, is_part=True)
        self.unread: dict[str, Counter[str]] = {}
        self._types: dict[str, pl.DataType] = {}
        self._n_rows = 0

    def __call__(self, part: Any) -> pl.DataFrame:
        """Read a part."""
        import polars as pl

        frame = pl.DataFrame(part)
        cells = frame.select(name for name in frame.columns if name in self._columns)
        typed = self.reader.read(cells)
        for name, texts in self.reader.unread_cells(cells, typed).items():
            self.unread.setdefault(name, Counter()).update(texts)
            self._types[name] = typed[name].dtype
        self._n_rows += frame.height
        return frame.with_columns(typed.get_columns())

    def warn(self) -> None:
        """Warn about cells of other types."""
        units = self.reader.reading.units
        for name, texts in self.unread.items():
            words = unread_words(texts, self._types[name], self._n_rows, units.get(name))
            table_file.warn([f"column {name!r} {words}."])


def open_for_model(
    model: RuleModel,
    path: Path | str,
    format: options.Format,
    roles: Sequence[str] = (),
) -> tuple[TableSource, PartReader]:
    """Prepare to read a table in parts, in the format of the table that a model was fitted to.

    The `roles` are a target, and columns of weights and exposures.
    """
    ensemble, start = model.ensemble_, look_at_start(path, format, model.reading_)
    reading = table_file.reading_for(model, format, "." if start is None else start.decimal)
    text = {*ensemble.used_features}
    if any(isinstance(label, str) for label in model.task_.labels or ()):
        text |= {*roles[:1]}  # classes that look like numbers
    table = open_table(path, format, start, reading.missing, text)
    read = PartReader(reading, {*roles, *ensemble.used_features})
    return table.converted(read), read


def open_test(path: Path | str, source: Source) -> Callable[[RuleBoosting], ScoredRows]:
    """Check that a table to score a model on can be read in parts; returns what scores it."""
    start, missing = look_at_start(path, source.format), source.format.missing_texts()
    table = open_table(path, source.format, start, missing)
    for name in source.roles:
        table.require(name, "name of a column")

    def score(model: RuleBoosting) -> ScoredRows:
        table, read = open_for_model(model, path, source.format, source.roles)
        scored = score_large(model, table.narrowed(table.column_names, source.target), source)
        read.warn()
        return scored

    return score


def score_large(model: RuleBoosting, table: TableSource, source: Source) -> ScoredRows:
    """Apply a model to all rows of a table that is read in parts."""
    from laconic.candidates.distinct_rows import Roles
    from laconic.estimators.stream_predictions import predict_parts
    from laconic.models.scores import ScoredRows

    kept: Kept = "classes" if model.task_.holds_classes else "values"
    roles = Roles(source.target, (), source.weight, kept, exposure=source.exposure)
    return ScoredRows.merged(model.task_, predict_parts(model, table, roles))


class LargeTable:
    """A table to learn from in parts, without the columns that no term should use."""

    def __init__(self, path: Path | str, source: Source) -> None:
        if source.groups is not None:
            raise CommandError(
                "--groups needs a table that is loaded, to keep rows together. Got one that is "
                f"read in parts. Leave the column out with --drop {shlex.quote(source.groups)}."
            )
        start = look_at_start(path, source.format)
        missing, codes = source.format.missing_texts(), () if start is None else start.codes
        texts = [*codes, *source.typed_columns]
        table = open_table(path, source.format, start, missing, texts)
        for name in (*source.roles, *source.drop, *source.keep, *source.typed_columns):
            table.require(name, "name of a column")
        self.source, self._table = source, table
        used = [name for name in table.column_names if name not in source.drop]
        cells = self._head(used)
        plain = Reading("." if start is None else start.decimal, missing=missing)
        reading = asked_reading(ColumnReader(reading=plain), cells, source.numeric, source.dates)
        read = PartReader(reading, table.column_names)
        head = read(cells)
        read.warn()
        self._table = table.converted(read)
        X, _ = without_useless(head.drop(source.roles), source.keep)
        table_file.warn(self._texts(X, reading, has_types=start is None))
        self.rows = source.rows(X, head, with_types(reading, head))
        self.table = self._table.narrowed([*source.roles, *X.columns], source.target)

    def _head(self, columns: list[str]) -> pl.DataFrame:
        import polars as pl

        for part in self._table.parts(columns):
            frame = pl.DataFrame(part)
            if frame.height > 0:
                return frame.head(FIRST_ROWS)
        raise CommandError("The table must have at least one row. Got none.")

    def _texts(self, X: pl.DataFrame, reading: Reading, *, has_types: bool) -> Iterator[str]:
        """Yield warnings for texts that would be dates or numbers in a table that is loaded."""
        import polars as pl

        reader = ColumnReader(reading=reading, has_types=has_types)
        table = as_table(X)
        for values in map(reader.known, X.select(pl.col(pl.String))):
            name = values.name
            if name in self.source.keep or isinstance(with_dates(table.column(name)), TimeColumn):
                continue
            is_number = reader.read(values.to_frame())[name].dtype != pl.String
            formats = dates.date_formats(values)
            if is_number or formats:
                way = date_options(name, formats) or f"--numeric {shlex.quote(name)}"
                yield (
                    f"column {name!r} is read as text, such as {values.drop_nulls()[0]!r}: in a "
                    f"table that is read in parts, {way} reads it as "
                    f"{'dates' if formats else 'numbers'}, and --keep {shlex.quote(name)} keeps it "
                    "as text."
                )


def without_rows(learning: Learning, *, quiet: bool) -> Learning:
    """Refuse or leave out what needs all rows at once, and say so."""
    if learning.n_terms == "cv":
        raise CommandError(
            "--n-terms cv needs a table that is loaded, to hold rows out. Name a number, or auto."
        )
    if not learning.slopes:
        return learning
    words = "only rules are learned from a table that is read in parts, and no slopes."
    table_file.note([words], quiet=quiet)
    return learning.with_rules_only


def fit_large(
    table: LargeTable, learning: Learning, progress: FitScreen
) -> tuple[RuleBoosting, int]:
    """Learn rules; returns the model and the number of rows."""
    n_rows = 0

    def read(seen: Any) -> None:
        nonlocal n_rows
        n_rows = max(n_rows, seen.n_rows)
        progress.read(seen)

    table.table.on_progress = read
    estimator = learning.make(table.rows, on_interrupt="keep", callback=progress)
    with table_file.short_warnings(), progress.watch(READING):
        source = table.source
        estimator.fit(table.table, source.target, source.weight, source.exposure)
    return estimator, n_rows


def predict_large(
    model: RuleModel,
    table: TableSource,
    read: PartReader,
    output: Path | None,
    **how: Any,
) -> None:
    """Write predictions to a Parquet file as the rows are read."""
    from laconic.estimators.stream_predictions import write_predictions

    if output is None or output.suffix.lower() not in (".parquet", ".pq"):
        raise CommandError(
            "Predictions for a table that is read in parts go to a Parquet file. Name one with "
            "--output predictions.parquet."
        )
    with table_file.short_warnings():
        n_rows = write_predictions(model, table, output, **how)
    read.warn()
    terminal.make_console().print(f"{n_rows:,} rows written to {output}")
