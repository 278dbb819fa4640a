"""Columns of texts whose types a look at all of them shows."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

from laconic.tables.text_files import read_table, text_format
from laconic.tables.text_files.first_look import (
    first_look,
    in_batches,
    plain_numbers,
    with_missing,
)
from laconic.tables.text_files.formats import FileCells
from laconic.tables.text_files.read_table import add_types
from laconic.tables.text_files.text_format import ColumnReader, Reading

NUMBERS = [
    *(["7", "-12", "0"], ["1.5", "-0.25", None], ["1e5", "2.5E-3"], [" 3 ", "4"]),
    ["9" * 18],
]
WORDS = [["basic", "plus"], ["true", "yes"], [None, None], ["inf", "USD"], ["March", "NaNa"]]
OTHERS = [
    *(["07", "15"], ["+5"], ["5."], [".5"], ["1,5"], ["$5"], ["5 kg"], ["2024-03-15"], ["٣"]),
    *(["k1"], ["true", "False"], ["9" * 19], ["1", "x"], ["(5)"], ["5-"], ["1.2.24"], ["May 24"]),
]


def texts(columns):
    n_rows = max(map(len, columns))
    padded = [[*column, *[None] * (n_rows - len(column))] for column in columns]
    return pl.DataFrame({str(i): pl.Series(each, dtype=pl.String) for i, each in enumerate(padded)})


@pytest.mark.parametrize(
    ("columns", "place"), [(NUMBERS, "numbers"), (WORDS, "words"), (OTHERS, None)]
)
def test_columns_are_found(columns, place):
    look = first_look(texts(columns))
    every = {str(position) for position in range(len(columns))}
    assert look.numbers == (every if place == "numbers" else set())
    assert look.words == (every if place == "words" else set())


def test_tables_without_texts():
    frame = pl.DataFrame({"x": [1.5, 2.0]})
    assert first_look(frame) == (set(), set())
    assert first_look(pl.DataFrame()) == (set(), set())
    assert_frame_equal(with_missing(frame, ["NA"]), frame)


@pytest.mark.parametrize("decimal", [".", ","])
def test_types_are_those_of_a_closer_look(decimal):
    cells = texts(NUMBERS + WORDS + OTHERS + [["1e999", "1.5"], ["9e99", "1"], ["1.5", "2"]])
    reader = ColumnReader(reading=Reading(decimal=decimal))
    expected = [reader._typed(reader.known(values)) for values in cells]
    assert_frame_equal(reader.read(cells), pl.DataFrame(expected))
    # A type that is known decides.
    types = dict.fromkeys(cells.columns, "text")
    assert reader.read(cells).dtypes != cells.dtypes
    known = ColumnReader(reading=Reading(types=types)).read(cells)
    assert_frame_equal(known, with_missing(cells, Reading().missing))


def test_numbers_that_are_too_large_are_left_to_a_closer_look():
    cells = texts([["1", "2"], ["1.5", "2"], ["1e999", "2"]])
    assert plain_numbers(cells, ".").dtypes == [pl.Int64, pl.Float64]
    assert plain_numbers(cells, ",").columns == ["0"]


def test_missing_values_are_null():
    cells = pl.DataFrame({"a": ["NA", " NA ", "", "x", None], "b": [None] * 5, "c": range(5)})
    found = with_missing(cells, ["NA "])
    assert found["a"].to_list() == [None, None, None, "x", None]
    assert found.dtypes == [pl.String, pl.String, pl.Int64]
    reader = ColumnReader(reading=Reading(missing=("NA ",)))
    for values in cells:
        assert_series_equal(found[values.name], reader.known(values))


@pytest.mark.parametrize("lengths", [[], [3], [2, 0, 5], [2**17] * 5, [2**19, 1]])
def test_batches_have_all_texts_in_order(lengths):
    columns = [pl.Series(str(i), [str(i)], dtype=pl.String) for i in range(len(lengths))]
    columns = [each.new_from_index(0, n) for each, n in zip(columns, lengths, strict=True)]
    batches = [*in_batches(columns)]
    assert sum(map(len, batches)) == sum(lengths)
    if lengths:
        assert pl.concat(batches).to_list() == pl.concat(columns).to_list()
    assert len(batches) == {5: 3, 2: 2}.get(len(lengths), len(lengths[:1]))


def test_the_decimal_sign_of_many_short_columns(monkeypatch):
    columns = [pl.Series(text.split()) for text in ("1,5 2", "1.5 2,5", "3,5", "x", "1.500,5")]
    expected = text_format.decimal_sign(columns, ";", None)
    monkeypatch.setattr("laconic.tables.text_files.first_look._TEXTS_AT_ONCE", 0)
    assert text_format.decimal_sign(columns, ";", None) == expected == ","


def test_plain_columns_need_no_closer_look(monkeypatch):
    def refuse(*given):
        raise AssertionError(given)

    monkeypatch.setattr(ColumnReader, "_typed", refuse)
    monkeypatch.setattr(ColumnReader, "known", refuse)
    for name in ("likely_unit", "has_codes"):
        monkeypatch.setattr(text_format, name, refuse)
    monkeypatch.setattr(read_table, "date_formats", refuse)
    cells = texts(NUMBERS + WORDS)
    typed = add_types(FileCells(cells, "csv", ","), cells.columns)
    assert [each.is_numeric() for each in typed.frame.dtypes] == [True] * 5 + [False] * 5
    assert (typed.converted, typed.unread, typed.compact) == ({}, {}, [])
    assert typed.odd == {}
