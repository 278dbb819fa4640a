"""Tables of files with types: numbers, dates, booleans and text.

`read_table` is the public function. The command line reads tables with the same classes, and
prints the decisions that they list.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from laconic._util.checks import require
from laconic._util.optional import import_extra
from laconic._util.words import listed_names
from laconic.tables.inspection import ColumnWarning, inspect_columns
from laconic.tables.tables import as_table, unknown_column_message
from laconic.tables.text_files import text_format
from laconic.tables.text_files.formats import FileCells, read_file
from laconic.tables.text_files.text_format import DECIMAL_SIGNS, MISSING_TEXTS, Reading

if TYPE_CHECKING:
    import polars as pl

_MAX_TEXTS_SHOWN = 5


@dataclass(frozen=True)
class TypedTable:
    """Columns of a file with their types, and the decisions behind these."""

    frame: pl.DataFrame
    reader: text_format.ColumnReader
    converted: dict[str, str]
    """By column: which texts are read as numbers or dates, in words that follow its name."""
    ambiguous: dict[str, str]
    """By column: dates that can be read in several ways, which stay text."""


class OddCells(NamedTuple):
    """A few cells because of which a column is text."""

    words: str
    """In words that follow the name of the column."""
    missing: list[str]
    """Texts to be named as missing values, so that the column becomes one of numbers."""


def add_types(
    cells: FileCells,
    columns: Sequence[str],
    *,
    decimal: str | None = None,
    missing: Sequence[str] = MISSING_TEXTS,
    keep: Collection[str] = (),
    roles: Collection[str] = (),
) -> TypedTable:
    """Give types to columns of a file.

    Columns to `keep` stay text if they hold dates or amounts of money. Those with `roles`, such as
    the target, are not read as dates.
    """
    import polars as pl

    given = cells.frame.select(columns)
    plain = text_format.ColumnReader(reading=Reading(missing=tuple(missing)))
    formats = {
        values.name: text_format.date_formats(plain.known(values))
        for values in given.select(pl.col(pl.String))
        if values.name not in roles
    }
    dates = {name: found for name, found in formats.items() if found and name not in keep}
    reading = Reading(
        decimal or decimal_sign(cells),
        {name: found[0] for name, found in dates.items() if len(found) == 1},
        tuple(missing),
    )
    reader = text_format.ColumnReader(
        reading=reading, has_types=cells.has_types, plain_columns=keep
    )
    frame = reader.read(given)
    examples = reader.formatted_numbers(given, frame)
    converted = {name: f"is read as numbers, {example}" for name, example in examples.items()}
    for name in reading.dates:
        first, date = (reader.known(each[name]).drop_nulls()[0] for each in (given, frame))
        converted[name] = f"is read as dates, {first!r} as {date}"
    ambiguous = {name: _ambiguity(found) for name, found in dates.items() if len(found) > 1}
    # Dates to keep become categories, which are never taken for dates.
    kept = [pl.col(name).cast(pl.Categorical) for name in keep if formats.get(name)]
    return TypedTable(frame.with_columns(kept), reader, converted, ambiguous)


def _ambiguity(formats: Sequence[str]) -> str:
    return (
        f"holds dates that can be read in {len(formats)} ways ({listed_names(formats)}); write "
        "them as 2024-03-15"
    )


def decimal_sign(cells: FileCells, known: str | None = None) -> str:
    """Detect the decimal sign of a file; the `known` one decides where both are possible."""
    import polars as pl

    return text_format.decimal_sign(cells.frame.select(pl.col(pl.String)), cells.separator, known)


def find_odd_cells(
    in_use: Iterable[pl.Series], cells: pl.DataFrame, reader: text_format.ColumnReader
) -> dict[str, OddCells]:
    """Find columns in use that would be numbers without a few cells; not in files with types."""
    import polars as pl

    found: dict[str, OddCells] = {}
    if reader.has_types:
        return found
    for values in in_use:
        odd = reader.cells_that_are_no_numbers(values)
        if not odd:
            continue
        common = [text for text, _ in odd.most_common()]
        # Texts that are named replace the usual ones, so those in use have to be among them.
        stripped = cells.select(pl.col(pl.String).str.strip_chars())
        known = [
            text for text in reader.reading.missing if any((s == text).any() for s in stripped)
        ]
        words = (
            f"is read as text because of {listed_names(common, _MAX_TEXTS_SHOWN)} ({odd.total()} "
            f"of {len(values)} cells)"
        )
        found[values.name] = OddCells(words, [*common[:_MAX_TEXTS_SHOWN], *known])
    return found


def is_usable(values: pl.Series) -> bool:
    """Return whether rules can use a column of this type."""
    import polars as pl

    dtype = values.dtype
    kinds = (pl.Boolean, pl.String, pl.Categorical, pl.Enum)
    return dtype.is_numeric() or dtype.is_temporal() or dtype in kinds


def read_table(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] | None = None,
    keep: Collection[str] = (),
    drop_ids: bool = False,
) -> pl.DataFrame:
    r"""Read a table from a file, with the types that ``laconic fit`` gives to its columns.

    Encoding, separator and decimal sign of text files are detected. Amounts of money, percentages
    and numbers with separated thousands become numbers, and dates become dates, if all cells of
    the column are written in the same way. Numbers with leading zeros, such as zip codes, stay
    text.

    Parameters
    ----------
    path : str or path
        A file that ends with .csv, .tsv, .txt, .parquet, .pq, .feather, .arrow, .ipc, .jsonl,
        .ndjson, .json or .xlsx. It may be compressed, and end with .gz or .zst as well.
    separator : str or None, default=None
        The character between the cells of a text file; None detects it.
    decimal : {".", ","} or None, default=None
        The decimal sign of numbers in text; None detects it.
    missing : sequence of str or None, default=None
        Texts that mean a missing value, besides empty cells. None stands for the usual ones, such
        as NA, null and ?.
    keep : collection of str, default=()
        Columns to keep as they are: texts that look like dates or amounts of money stay text, and
        the columns are not dropped by `drop_ids`.
    drop_ids : bool, default=False
        Whether to drop columns that number or name the rows, as ``laconic fit`` does.

    Returns
    -------
    table : polars.DataFrame
        One column for each column of the file.

    Warns
    -----
    ColumnWarning
        If a few cells make a column of numbers one of text, or if dates are ambiguous.
    UserWarning
        If the file is not in UTF-8, or some of its lines are incomplete.

    Raises
    ------
    ValueError
        If the file is not a table, or a column to keep does not exist.

    See Also
    --------
    scan : Prepare to read a table in parts that is too large for memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = "price;since\n$1,200.50;15.03.2024\n$80;NA\n"
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "offers.csv")
    ...     _ = path.write_text(text)
    ...     table = read_table(path)
    >>> table.to_dicts()[0]
    {'price': 1200.5, 'since': datetime.date(2024, 3, 15)}
    >>> table["price"].to_list(), table["since"].null_count()
    ([1200.5, 80.0], 1)
    """
    import_extra("polars", "large", "Reading a table from a file")
    is_character = isinstance(separator, str) and len(separator) == 1
    require(separator is None or is_character, "separator", "a single character or None", separator)
    require(decimal in (None, *DECIMAL_SIGNS), "decimal", "'.', ',' or None", decimal)
    for name, given in (("missing", missing), ("keep", keep)):
        require(not isinstance(given, str), name, "a sequence of strings, not a string", given)
    cells = read_file(Path(path), separator)
    for name in keep:
        if name not in cells.frame.columns:
            raise ValueError(unknown_column_message(name, cells.frame.columns))
    for doubt in cells.doubts:
        warnings.warn(f"The table {str(path)!r} {doubt}", stacklevel=2)
    table = add_types(
        cells,
        cells.frame.columns,
        decimal=decimal,
        missing=MISSING_TEXTS if missing is None else missing,
        keep=keep,
    )
    for warning in _column_warnings(table, cells):
        warnings.warn(warning, ColumnWarning, stacklevel=2)
    if not drop_ids:
        return table.frame
    usable = table.frame.select(values.name for values in table.frame if is_usable(values))
    return table.frame.drop(
        finding.column
        for finding in inspect_columns(as_table(usable))
        if finding.kind != "constant" and finding.column not in keep
    )


def _column_warnings(table: TypedTable, cells: FileCells) -> Iterator[str]:
    for name, words in table.ambiguous.items():
        yield f"Column {name!r} {words}. It stays text."
    for name, odd in find_odd_cells(table.frame, cells.frame, table.reader).items():
        yield (
            f"Column {name!r} {odd.words}. If these cells are missing values, pass "
            f"missing={odd.missing}."
        )
