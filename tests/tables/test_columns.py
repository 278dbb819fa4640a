from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from laconic.tables.columns import (
    CategoricalColumn,
    NumericColumn,
    example_of_text,
    feature_kind,
)
from laconic.tables.tables import as_table
from laconic.tables.to_columns import array_column


def single(values):
    """Column `a` of a table with the given native column."""
    frame = pa.table({"a": values}) if isinstance(values, pa.Array | pa.ChunkedArray) else None
    if frame is None:
        frame = values.to_frame() if isinstance(values, pl.Series) else pd.DataFrame({"a": values})
    return as_table(frame, ["a"]).column("a")


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i8", "u1", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numeric_arrays(dtype, order):
    X = np.array([[1, 2], [3, 4], [5, 6]], dtype=dtype, order=order)
    column = as_table(X).column("x1")
    assert column.values.dtype == np.float64
    assert column.values.flags.c_contiguous
    assert_array_equal(column.values, [2.0, 4.0, 6.0])


def test_boolean_array():
    column = as_table(np.array([[True], [True]])).column("x0")
    assert column.categories == (False, True)
    assert_array_equal(column.codes, [1, 1])


@pytest.mark.parametrize(
    "dtype", ["U3", pytest.param("T", marks=pytest.mark.skipif(np.__version__ < "2", reason="new"))]
)
def test_string_array(dtype):
    column = as_table(np.array([["b"], ["a"], ["b"]], dtype=dtype)).column("x0")
    assert column.categories == ("a", "b")
    assert type(column.categories[0]) is str
    assert_array_equal(column.codes, [1, 0, 1])


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, None], dtype="Int64"),
        pd.array([1, None], dtype="Float32"),
        pd.array([1, None], dtype="int8[pyarrow]"),
        pd.Series([Decimal(1), None]),
        pd.Series([Decimal(1), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
        pd.arrays.SparseArray([1.0, np.nan]),
        pl.Series("a", [1, None], dtype=pl.UInt8),
        pl.Series("a", [1, None], dtype=pl.Int128),
        pl.Series("a", [1.0, float("nan")]),
        pl.Series("a", [Decimal(1), None]),
        pl.Series("a", [1, None], dtype=pl.Object),
        pa.array([1, None], pa.int32()),
        pa.array([1.0, float("nan")]),
        pa.array([Decimal(1), None]),
        pa.array([np.float16(1), None], pa.float16()),
    ],
)
def test_numeric_dtypes(values):
    column = single(values)
    assert column.is_numeric
    assert_array_equal(column.values, [1.0, np.nan])


@pytest.mark.parametrize(
    "values",
    [
        pd.array(["x", None, "o"], dtype="string"),
        pd.Series(["x", None, "o"]),
        pd.array(["x", None, "o"], dtype="string[pyarrow]"),
        pd.Series(["x", pd.NA, "o"], dtype=object),
        pd.Series(["x", np.nan, "o"], dtype=object),
        pd.Categorical(["x", None, "o"]),
        pd.Categorical(["x", None, "o"], categories=["z", "x", "o"], ordered=True),
        pd.Series(["x", None, "o"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        pl.Series("a", ["x", None, "o"]),
        pl.Series("a", ["x", None, "o"], dtype=pl.Categorical),
        pl.Series("a", ["x", None, "o"], dtype=pl.Enum(["z", "x", "o"])),
        pl.Series("a", ["x", None, "o"], dtype=pl.Object),
        pa.array(["x", None, "o"]),
        pa.array(["x", None, "o"], pa.large_string()),
        pa.array(["x", None, "o"], pa.string_view()),
        pa.array(["x", None, "o"]).dictionary_encode(),
        pa.chunked_array([pa.array([v]).dictionary_encode() for v in ["x", "o"]]).take(
            [0, None, 1]
        ),
    ],
)
def test_text_dtypes(values):
    column = single(values)
    assert column.categories == ("o", "x")
    assert [type(category) for category in column.categories] == [str, str]
    assert_array_equal(column.codes, [1, -1, 0])


@pytest.mark.parametrize(
    "values",
    [
        pd.array([True, None, False], dtype="boolean"),
        pd.array([True, None, False], dtype="bool[pyarrow]"),
        pd.Series([True, pd.NA, False], dtype=object),
        pd.Series([np.True_, None, np.False_], dtype=object),
        pd.Categorical([True, None, False]),
        pl.Series("a", [True, None, False]),
        pa.array([True, None, False]),
    ],
)
def test_boolean_dtypes(values):
    column = single(values)
    assert column.categories == (False, True)
    assert [type(category) for category in column.categories] == [bool, bool]
    assert_array_equal(column.codes, [1, -1, 0])


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        (pd.Categorical([30, None, 4]), (4, 30)),
        (pd.Categorical([30, 30, 4]), (4, 30)),
        (pd.Categorical([2.5, None, -1.0]), (-1, 2.5)),
        (pa.array([30, None, 4]).dictionary_encode(), (4, 30)),
    ],
)
def test_number_categories(values, categories):
    column = single(values)
    assert not column.is_numeric
    assert not column.is_text
    assert column.categories == categories
    assert [type(c) for c in column.categories] == [type(c) for c in categories]
    assert column.codes[0] == 1
    assert column.codes[2] == 0


@pytest.mark.parametrize(
    "values",
    [
        pd.array([None, None], dtype="string"),
        pd.array([None, None], dtype="boolean"),
        pl.Series("a", [None, None], dtype=pl.String),
        pl.Series("a", [None, None], dtype=pl.Boolean),
        pa.nulls(2, pa.string()),
        pa.nulls(2, pa.bool_()),
    ],
)
def test_all_missing_typed_column_stays_categorical(values):
    column = single(values)
    assert isinstance(column, CategoricalColumn)
    assert_array_equal(column.missing, [True, True])


@pytest.mark.parametrize(
    "values", [pl.Series("a", [None, None]), pa.nulls(2), pd.array([None, None], dtype="Int8")]
)
def test_untyped_nulls_are_missing_numbers(values):
    assert_array_equal(single(values).values, [np.nan, np.nan])


def test_all_missing_category_has_no_categories():
    column = single(pd.Categorical([None, None], categories=["a"]))
    assert isinstance(column, CategoricalColumn)
    assert column.categories == ()
    assert_array_equal(column.codes, [-1, -1])


@pytest.mark.parametrize(
    "cells",
    [
        [1, 2.5, None],
        [np.int8(1), np.float32(2.5), np.nan],
        [Fraction(1), Decimal("2.5"), Decimal("nan")],
        [True, 2.5, pd.NA],
    ],
)
def test_object_cells_of_numbers(cells):
    column = as_table(np.array([[cell] for cell in cells], dtype=object)).column("x0")
    assert isinstance(column, NumericColumn)
    assert_array_equal(column.values, [1.0, 2.5, np.nan])


def test_string_subclasses_become_plain_strings():
    class Loud(str):
        def __str__(self):
            return self.upper()

    column = as_table(np.array([[Loud("red")], [np.str_("red")]], dtype=object)).column("x0")
    assert column.categories == ("red",)
    assert type(column.categories[0]) is str
    assert_array_equal(column.codes, [0, 0])


@pytest.mark.parametrize("index_type", [pa.int8(), pa.uint8(), pa.int32(), pa.uint32()])
def test_arrow_dictionaries_differ_between_chunks(index_type):
    dictionary = pa.dictionary(index_type, pa.string())
    values = [f"v{i:03}" for i in range(127)]
    chunks = [pa.array(values, dictionary), pa.array(["v001", None, "a"], dictionary)]
    column = as_table(pa.table({"a": pa.chunked_array(chunks)})).column("a")
    assert column.categories == ("a", *values)
    assert column.codes.tolist() == [*range(1, 128), 2, -1, 0]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(pd.Categorical(["c", None, "a"], categories=list("dcba"))),
        pd.Series(["c", None, "a"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        pl.Series("a", ["c", None, "a"], dtype=pl.Enum(list("dcba"))),
        pl.Series("a", ["b", "c", None, "a"], dtype=pl.Categorical)[1:],
        pa.chunked_array([pa.array(["b", "c", None, "a"]).dictionary_encode().slice(1)]),
        pa.chunked_array([pa.DictionaryArray.from_arrays([0, 1, 2], ["c", None, "a"])]),
    ],
    ids=["pandas", "pandas arrow", "polars enum", "polars", "pyarrow", "null in dictionary"],
)
def test_only_categories_that_occur(values):
    column = single(values)
    assert column.categories == ("a", "c")
    assert column.codes.tolist() == [1, -1, 0]


class TestRejected:
    @pytest.mark.parametrize(
        ("values", "dtype"),
        [
            (np.array([1j]), "complex128"),
            (pl.Series("a", [[1]]), "List"),
            (pl.Series("a", [{"b": 1}]), "Struct"),
            (pl.Series("a", [b"a"]), "Binary"),
            (pa.array([[1]]), "List"),
        ],
    )
    def test_dtypes(self, values, dtype):
        with pytest.raises(TypeError, match=rf"Column 'a' .* Got dtype {dtype}"):
            single(values)

    @pytest.mark.parametrize("dtype", ["S1", "V1"])
    def test_array_dtypes(self, dtype):
        X = np.zeros((1, 1), dtype=dtype)
        with pytest.raises(TypeError, match=r"Column 'x0' .* Got dtype"):
            as_table(X).column("x0")

    @pytest.mark.parametrize("cell", [{"foo": "bar"}, [1], 1j, b"a", object()])
    def test_cells(self, cell):
        X = np.array([[1.0], [None]], dtype=object)
        X[1, 0] = cell
        got = rf"Column 'x0' has a cell of type {type(cell).__name__}\."
        with pytest.raises(
            TypeError, match=f"must be a string, a real number or a date or time. {got}"
        ):
            as_table(X).column("x0")

    def test_pandas_cells(self):
        with pytest.raises(TypeError, match=r"argument must be a string, a real number.*'a'"):
            single(pd.cut([1], 1))

    @pytest.mark.parametrize(
        "values",
        [
            pd.Series(["?", 1.0], dtype=object),
            pd.Series(["x"] * 200 + [1], dtype=object),
            pd.Series([1] * 200 + ["x"], dtype=object),
            pd.Categorical(["x", 1]),
            pl.Series("a", ["?", True], dtype=pl.Object),
        ],
    )
    def test_mixture(self, values):
        with pytest.raises(TypeError, match="Column 'a' must hold either strings or numbers"):
            single(values)

    def test_infinite_category(self):
        with pytest.raises(ValueError, match="Column 'a' contains infinity"):
            single(pd.Categorical([1.0, np.inf]))


@given(st.lists(st.none() | st.text(), max_size=20))
def test_codes_decode_to_the_cells(cells):
    column = as_table(pl.DataFrame({"a": cells}, schema={"a": pl.String})).column("a")
    assert [None if code < 0 else column.categories[code] for code in column.codes] == cells
    assert list(column.categories) == sorted(set(cells) - {None})


@given(st.lists(st.none() | st.floats(allow_infinity=False), max_size=20))
def test_numbers_are_unchanged(cells):
    frame = pl.DataFrame({"a": cells}, schema={"a": pl.Float64})
    expected = [np.nan if cell is None else cell for cell in cells]
    for X in (frame, frame.to_arrow(), [[cell] for cell in cells]):
        if len(X):
            assert_array_equal(as_table(X, ["a"]).column("a").values, expected)


def test_cells_are_plain_values():
    assert [single(pl.Series("a", [1.5, None])).cell(row) for row in (0, 1)] == [1.5, None]
    assert [single(pl.Series("a", ["a", None])).cell(row) for row in (0, 1)] == ["a", None]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([0.0, 1.0, np.nan], "boolean"),
        ([1.0, 1.0], "boolean"),
        ([0.0, 2.0, np.nan], "integer"),
        ([-3.0, 1e300], "integer"),
        ([0.0, 0.5], None),
        ([0.0, 0.5, np.nan], None),
        ([np.nan], None),
        ([True, False], "boolean"),
        (["0", "1"], None),
    ],
)
def test_kind_of_a_feature(cells, kind):
    assert feature_kind(array_column("x", np.array(cells))) == kind


def test_categories_of_dates_are_dates():
    days = pd.Series(pd.to_datetime(["2024-01-02", None, "2024-01-01"])).astype("category")
    column = as_table(pd.DataFrame({"day": days})).column("day")
    assert column.kind == "date"
    assert [column.cell(row) for row in range(3)] == [date(2024, 1, 2), None, date(2024, 1, 1)]


def test_durations_of_numpy_in_lists_are_durations():
    column = as_table([[np.timedelta64(1, "D")], [None], [timedelta(hours=2)]]).column("x0")
    assert column.kind == "duration"
    assert [column.cell(row) for row in range(3)] == [timedelta(1), None, timedelta(hours=2)]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["2020-01-03 10:00", "5", "soon"], ", such as 'soon'"),
        (["2020-01-03 10:00", "5"], ", such as '2020-01-03 10:00'"),
        (["5", "6"], ""),
    ],
)
def test_examples_of_texts_are_no_dates_if_there_are_others(texts, words):
    assert example_of_text(single(np.array(texts, dtype=object))) == words
