"""Tables of files with types: numbers, dates, booleans and text.

`read_table` is the public function. The command line reads tables with the same classes, and
prints the decisions that they list.
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw

from laconic._util.checks import require
from laconic._util.optional import import_extra
from laconic._util.words import listed, listed_names
from laconic.tables.inspection import ColumnWarning, inspect_columns
from laconic.tables.tables import as_table, unknown_column_message
from laconic.tables.text_files import text_format
from laconic.tables.text_files.dates import (
    are_compact,
    date_formats,
    is_date_format,
    likely_formats,
)
from laconic.tables.text_files.first_look import columns_where, first_look, with_missing
from laconic.tables.text_files.formats import FileCells, read_file
from laconic.tables.text_files.frames import frame_cells, with_cells
from laconic.tables.text_files.text_format import DECIMAL_SIGNS, MISSING_TEXTS, Reading

if TYPE_CHECKING:
    import polars as pl

_MAX_TEXTS_SHOWN = 5
NO_DATES: Mapping[str, str | None] = MappingProxyType({})


@dataclass(frozen=True)
class TypedTable:
    """Columns of a file with their types, and the decisions behind these."""

    frame: pl.DataFrame
    reading: Reading
    """How to read new files, with the types of all columns."""
    converted: dict[str, str]
    """By column: which texts are read as numbers or dates, in words that follow its name."""
    ambiguous: dict[str, list[str]]
    """By column: the formats of dates that can be read in several ways, which stay text."""
    unread: dict[str, str]
    """By column: cells that are missing values because they are of another type, in words."""
    odd: dict[str, OddCells]
    """By column: a few cells because of which it is text."""
    compact: list[str]
    """Columns of numbers such as 20240315, which may be dates."""


class OddCells(NamedTuple):
    """A few cells because of which a column is text."""

    words: str
    """In words that follow the name of the column."""
    formats: list[str]
    """How the other cells are written if they are dates; empty if they are numbers."""


def add_types(
    cells: FileCells,
    columns: Sequence[str],
    *,
    decimal: str | None = None,
    missing: Sequence[str] = MISSING_TEXTS,
    keep: Collection[str] = (),
    roles: Collection[str] = (),
    numeric: Collection[str] = (),
    dates: Mapping[str, str | None] = NO_DATES,
) -> TypedTable:
    """Give types to columns of a file.

    Columns to `keep` stay text if they hold dates or amounts of money. Those with `roles`, such as
    the target, are not read as dates. Columns that are `numeric` or `dates`, by name with their
    formats if these are known, are that whatever their cells are.
    """
    import polars as pl

    given = with_missing(cells.frame.select(columns), missing)
    look = first_look(given)
    plain = text_format.ColumnReader(reading=Reading(missing=tuple(missing)))
    asked = asked_reading(plain, given, numeric, dates)
    decided = look.numbers | look.words
    texts = [each for each in given.select(pl.col(pl.String)) if each.name not in decided]
    formats = {
        values.name: date_formats(values)
        for values in texts
        if values.name not in (*roles, *numeric, *dates)
    }
    found = {name: each for name, each in formats.items() if each and name not in keep}
    units = _units(each for each in texts if each.name not in keep)
    reading = replace(
        asked,
        decimal=decimal or decimal_sign(cells),
        dates={name: each[0] for name, each in found.items() if len(each) == 1} | {**asked.dates},
        units=units | {**asked.units},
    )
    reader = text_format.ColumnReader(
        reading=reading, has_types=cells.has_types, mixed=cells.mixed, plain_columns=keep
    )
    frame = reader.read(given)
    for name in (*numeric, *asked.dates):
        wanted = f"dates in the format {asked.dates[name]}" if name in asked.dates else "numbers"
        _require_cells(given[name], frame[name], wanted)
    # Dates to keep become categories, which are never taken for dates.
    kept = [pl.col(name).cast(pl.Categorical) for name in keep if formats.get(name)]
    return TypedTable(
        frame.with_columns(kept),
        with_types(reading, frame),
        _conversions(reader, given, frame),
        {name: each for name, each in found.items() if len(each) > 1},
        describe_unread(reader, given, frame),
        _odd_columns(
            [
                each
                for each in frame
                if each.name not in look.words and (each.name in cells.mixed or not cells.has_types)
            ],
            reader,
        ),
        _compact_columns(given, frame),
    )


def _units(columns: Iterable[pl.Series]) -> dict[str, str]:
    found = {values.name: text_format.likely_unit(values) for values in columns}
    return {name: unit for name, unit in found.items() if unit is not None}


def _require_cells(given: pl.Series, read: pl.Series, wanted: str) -> None:
    """Refuse a column without any cell of the type that is asked for."""
    if given.count() and not read.count():
        raise ValueError(
            f"Column {given.name!r} must hold {wanted}. Got only cells such as "
            f"{str(given.drop_nulls()[0])!r}. Read it as text, or as dates in their format."
        )


def asked_reading(
    plain: text_format.ColumnReader,
    cells: pl.DataFrame,
    numeric: Collection[str],
    dates: Mapping[str, str | None],
) -> Reading:
    """Return how to read columns whose types are asked for."""
    import polars as pl

    formats = {}
    for name, written in dates.items():
        if name in cells.columns and not cells[name].dtype.is_temporal():
            texts = plain.known(text_format.day_texts(cells[name])).str.strip_chars()
            formats[name] = written or _only_format(texts)
    asked = [each for each in cells.select(pl.col(pl.String)) if each.name in numeric]
    units = _units(map(plain.known, asked))
    types: dict[str, text_format.CellType] = dict.fromkeys(numeric, "number")
    return replace(plain.reading, dates=formats, types=types, units=units)


def _only_format(texts: pl.Series) -> str:
    """Return the format of most dates of a column, or refuse it."""
    found = likely_formats(texts)
    if len(found) == 1:
        return found[0]
    example = next((f"texts such as {text!r}" for text in texts.drop_nulls()), "no text")
    if not found:
        raise ValueError(
            f"Column {texts.name!r} must hold dates in a known format. Got {example}. Name the "
            "format too, as for strptime, such as %d/%m/%Y."
        )
    raise ValueError(
        f"The dates of column {texts.name!r} can be read in {len(found)} ways. Got {example}. "
        f"Name the format too: {listed(found, word='or')}."
    )


def with_types(reading: Reading, frame: pl.DataFrame) -> Reading:
    """Add the types of columns, for new files; columns of dates with a format have theirs."""
    found = {each.name: _cell_type(each) for each in frame if each.name not in reading.dates}
    return replace(
        reading,
        types={name: each for name, each in found.items() if each is not None},
        units={name: unit for name, unit in reading.units.items() if found.get(name) == "number"},
    )


def _cell_type(values: pl.Series) -> text_format.CellType | None:
    """Return the type of a column; None if it is of another type, or empty."""
    import polars as pl

    if values.dtype.is_numeric():
        return "number"
    if values.dtype in (pl.Date, pl.Datetime):
        return "date"
    if values.dtype == pl.Boolean:
        return "boolean"
    is_text = values.dtype in (pl.String, pl.Categorical, pl.Enum) and values.count() > 0
    return "text" if is_text else None


def _conversions(
    reader: text_format.ColumnReader, given: pl.DataFrame, frame: pl.DataFrame
) -> dict[str, str]:
    examples = reader.formatted_numbers(given, frame)
    found = {name: f"is read as numbers, {example}" for name, example in examples.items()}
    for name in reader.reading.dates:
        row = frame[name].is_not_null().arg_max()
        if row is not None and frame[name][row] is not None:
            found[name] = f"is read as dates, {str(given[name][row])!r} as {frame[name][row]}"
    return found


def _compact_columns(given: pl.DataFrame, frame: pl.DataFrame) -> list[str]:
    """Find columns of whole numbers that may be dates such as 20240315."""
    import polars as pl

    texts = given.select(pl.col(pl.String))
    whole = [each.name for each in frame.select(texts.columns) if each.dtype.is_integer()]
    return columns_where(texts, whole, are_compact(pl.all()))


def decimal_sign(cells: FileCells, known: str | None = None) -> str:
    """Detect the decimal sign of a file; the `known` one decides where both are possible."""
    import polars as pl

    return text_format.decimal_sign(cells.frame.select(pl.col(pl.String)), cells.separator, known)


def describe_unread(
    reader: text_format.ColumnReader, cells: pl.DataFrame, typed: pl.DataFrame
) -> dict[str, str]:
    """Describe cells that are missing values because they are of another type, by column."""
    found = reader.unread_cells(cells, typed)
    return {
        name: unread_words(texts, typed[name].dtype, cells.height, reader.reading.units.get(name))
        for name, texts in found.items()
    }


def unread_words(
    texts: Counter[str], dtype: pl.DataType, n_rows: int, unit: str | None = None
) -> str:
    """Describe such cells of a column, in words that follow its name."""
    wanted = "numbers" if dtype.is_numeric() else "dates" if dtype.is_temporal() else "booleans"
    wanted += f" in {unit.strip()}" if unit else ""
    common = [text for text, _ in texts.most_common()]
    return (
        f"has {texts.total():,} of {n_rows:,} cells that are not {wanted} "
        f"({listed_names(common, _MAX_TEXTS_SHOWN)}): they are read as missing"
    )


def _odd_columns(columns: list[pl.Series], reader: text_format.ColumnReader) -> dict[str, OddCells]:
    """Find columns of text that would be numbers or dates without a few cells."""
    found = {}
    other_sign = "[.]" if reader.reading.decimal == "," else ","
    for values in columns:
        odd, formats = reader.odd_cells(values)
        if odd:
            common = [text for text, _ in odd.most_common()]
            words = (
                f"is read as text because of {listed_names(common, _MAX_TEXTS_SHOWN)} "
                f"({odd.total():,} of {len(values):,} cells)"
            )
            if all(re.fullmatch(rf"[+-]?\d*{other_sign}\d+", text.strip()) for text in common):
                words += ", which have another decimal sign"
            found[values.name] = OddCells(words, formats)
    return found


def is_usable(values: pl.Series) -> bool:
    """Return whether rules can use a column of this type."""
    import polars as pl

    dtype = values.dtype
    kinds = (pl.Boolean, pl.String, pl.Categorical, pl.Enum)
    return dtype.is_numeric() or dtype.is_temporal() or dtype in kinds


def read_table(
    table: Any,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] | None = None,
    keep: Collection[str] = (),
    numeric: Collection[str] = (),
    dates: Collection[str] | Mapping[str, str | None] = (),
    drop_ids: bool = False,
) -> Any:
    r"""Read a table with the types that ``laconic fit`` gives to its columns.

    Encoding, separator and decimal sign of text files are detected. Amounts of money, percentages,
    numbers with separated thousands and numbers with a unit become numbers, and dates become dates,
    if all cells of the column are written in the same way. Numbers with leading zeros, such as zip
    codes, stay text.

    Parameters
    ----------
    table : str, path or DataFrame
        A file that ends with .csv, .tsv, .txt, .parquet, .pq, .feather, .arrow, .ipc, .jsonl,
        .ndjson, .json or .xlsx. It may be compressed, and end with .gz or .zst as well. Of a
        DataFrame of pandas, polars or PyArrow, the columns of text are read.
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
    numeric : collection of str, default=()
        Columns of numbers: all cells that are not numbers become missing values.
    dates : collection of str or mapping of str to str or None, default=()
        Columns of dates, such as ``["day"]`` or, with their formats as for `strptime`,
        ``{"day": "%d/%m/%Y"}``: all other cells become missing values. Without a format, it is the
        one in which most cells are dates.
    drop_ids : bool, default=False
        Whether to drop columns that number or name the rows, as ``laconic fit`` does.

    Returns
    -------
    table : DataFrame
        One column for each column of the table: of polars for a file, and otherwise of the library
        of the given DataFrame.

    Warns
    -----
    ColumnWarning
        If a few cells make a column of numbers one of text, if cells of `numeric` or `dates` become
        missing values, or if dates are ambiguous.
    UserWarning
        If the file is not in UTF-8, or some of its lines are incomplete.

    Raises
    ------
    ValueError
        If the file is not a table, or a named column does not exist.

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

    Texts in a DataFrame are read in the same way:

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"day": ["03/04/2024", "05/04/2024"], "size": ["12 kg", "9 kg"]})
    >>> read_table(frame, dates={"day": "%d/%m/%Y"}).dtypes.map(str).to_list()
    ['datetime64[us]', 'int64']
    """
    import_extra("polars", "large", "Reading a table")
    is_character = isinstance(separator, str) and len(separator) == 1
    require(separator is None or is_character, "separator", "a single character or None", separator)
    require(decimal in (None, *DECIMAL_SIGNS), "decimal", "'.', ',' or None", decimal)
    for name, given in (("keep", keep), ("numeric", numeric), ("dates", dates)):
        require(_are_texts(given), name, "a sequence of names, such as ['x0']", given)
    require(_are_texts(missing or ()), "missing", "a sequence of texts, such as ['NA']", missing)
    formats = dates if isinstance(dates, Mapping) else dict.fromkeys(dates)
    for name, written in formats.items():
        check_format(name, written)
    is_file = isinstance(table, str | os.PathLike)
    cells = read_file(Path(table), separator) if is_file else frame_cells(table, numeric, formats)
    names = cells.frame.columns if is_file else as_table(table).feature_names
    for name in (*keep, *numeric, *formats):
        if name not in names:
            raise ValueError(unknown_column_message(name, names))
    for doubt in cells.doubts:
        warnings.warn(f"The table {str(table)!r} {doubt}", stacklevel=2)
    typed = add_types(
        cells,
        cells.frame.columns,
        decimal=decimal,
        missing=MISSING_TEXTS if missing is None else missing,
        keep=[name for name in keep if name in cells.frame.columns],
        numeric=[name for name in numeric if name in cells.frame.columns],
        dates=formats,
    )
    for warning in _column_warnings(typed):
        warnings.warn(warning, ColumnWarning, stacklevel=2)
    found = typed.frame if is_file else with_cells(table, cells.frame, typed.frame)
    return _without_ids(found, keep) if drop_ids else found


def _without_ids(table: Any, keep: Collection[str]) -> Any:
    """Drop columns that number or name the rows."""
    frame, names = nw.from_native(table, eager_only=True), as_table(table).feature_names
    usable = [place for place, each in enumerate(frame.schema.values()) if not each.is_nested()]
    inspected = as_table(frame[:, usable].to_native()).rename([names[place] for place in usable])
    ids = {each.column for each in inspect_columns(inspected) if each.kind != "constant"}
    left = [place for place, name in enumerate(names) if name in keep or name not in ids]
    return frame[:, left].to_native()


def _are_texts(given: Collection[Any]) -> bool:
    return not isinstance(given, str) and all(isinstance(each, str) for each in given)


def check_format(column: str, written: str | None) -> None:
    """Refuse the format of the dates of a column if it cannot be used; None stands for any."""
    if written is not None and not (isinstance(written, str) and is_date_format(written)):
        raise ValueError(
            f"The format of the dates of column {column!r} must be one of strptime, with a year, a "
            f"month and a day, such as %d/%m/%Y. Got {written!r}."
        )


def _column_warnings(table: TypedTable) -> Iterator[str]:
    for name, formats in table.ambiguous.items():
        ways = listed((f"dates={ {name: each}!r}" for each in formats), word="or")
        yield (
            f"Column {name!r} holds dates that can be read in {len(formats)} ways. It stays text. "
            f"Decide with {ways}."
        )
    for name, odd in table.odd.items():
        ways = listed((f"dates={ {name: each}!r}" for each in odd.formats), word="or")
        way = ways if odd.formats else f"numeric={[name]!r}"
        yield f"Column {name!r} {odd.words}. Read these cells as missing values with {way}."
    for name, words in table.unread.items():
        yield f"Column {name!r} {words}."
