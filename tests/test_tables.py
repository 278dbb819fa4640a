import re
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csc_matrix, csr_array

from laconic import tables
from laconic.tables import CategoricalColumn, NumericColumn, Table, as_table


def object_array(columns):
    return np.array(list(zip(*columns.values(), strict=True)), dtype=object)


def rows(columns):
    return [list(row) for row in zip(*columns.values(), strict=True)]


CONSTRUCTORS = {
    "numpy": object_array,
    "list": rows,
    "pandas": pd.DataFrame,
    "pandas object": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas nullable": lambda columns: pd.DataFrame(columns, dtype=object).convert_dtypes(),
    "pandas pyarrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "narwhals": lambda columns: nw.from_native(pl.DataFrame(columns)),
}


@pytest.fixture(params=CONSTRUCTORS)
def construct(request):
    return CONSTRUCTORS[request.param]


def single(values):
    """Column `a` of a table with the given native column."""
    frame = pa.table({"a": values}) if isinstance(values, pa.Array | pa.ChunkedArray) else None
    if frame is None:
        frame = values.to_frame() if isinstance(values, pl.Series) else pd.DataFrame({"a": values})
    return as_table(frame, ["a"]).column("a")


COLUMNS = {
    "age": [35, None, 20, 28],
    "height": [1.5, 1.75, None, 2.0],
    "mark": ["x", "o", None, "x"],
    "member": [True, None, False, True],
}


def test_same_columns_from_every_kind_of_table(construct):
    table = as_table(construct(COLUMNS), list(COLUMNS))

    assert table.n_rows == 4
    assert table.feature_names == ("age", "height", "mark", "member")
    age, height, mark, member = map(table.column, table.feature_names)
    assert age.is_numeric
    assert age.values.dtype == np.float64
    assert_array_equal(age.values, [35.0, np.nan, 20.0, 28.0])
    assert_array_equal(age.missing, [False, True, False, False])
    assert_array_equal(height.values, [1.5, 1.75, np.nan, 2.0])
    assert not mark.is_numeric
    assert mark.is_text
    assert mark.codes.dtype == np.int32
    assert_array_equal(mark.codes, [1, 0, -1, 1])
    assert_array_equal(mark.missing, [False, False, True, False])
    assert mark.categories == ("o", "x")
    assert not member.is_numeric
    assert not member.is_text
    assert_array_equal(member.codes, [1, -1, 0, 1])
    assert member.categories == (False, True)
    assert [type(category) for category in member.categories] == [bool, bool]


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


def test_list_keeps_each_column_its_kind():
    table = as_table([(1, "a", True), (2.5, "b", False)])
    assert table.column("x0").is_numeric
    assert table.column("x1").categories == ("a", "b")
    assert table.column("x2").categories == (False, True)


def test_array_protocol():
    class NotAnArray:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1.0], [2.0]], dtype=dtype)

    assert_array_equal(as_table(NotAnArray()).column("x0").values, [1.0, 2.0])


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


POLARS_EMPTY = pl.DataFrame(COLUMNS).clear()


@pytest.mark.parametrize(
    "X",
    [POLARS_EMPTY, POLARS_EMPTY.to_arrow(), POLARS_EMPTY.to_pandas(), np.empty((0, 4))],
    ids=["polars", "pyarrow", "pandas", "numpy"],
)
def test_zero_rows(X):
    table = as_table(X, list(COLUMNS))
    assert table.n_rows == 0
    assert [table.column(name).missing.shape for name in table.feature_names] == [(0,)] * 4


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


class TestNames:
    def test_arrays_are_numbered(self):
        table = as_table(np.zeros((2, 3)))
        assert table.feature_names == ("x0", "x1", "x2")
        assert not table.is_named

    def test_given_names(self):
        table = as_table(np.array([[1.0, 2.0]]), feature_names=["a", "b"])
        assert table.feature_names == ("a", "b")
        assert_array_equal(table.column("b").values, [2.0])
        assert table.column("b").name == "b"

    def test_named_frame_keeps_its_names(self):
        assert as_table(pl.DataFrame({"b": [1], "a": [2]}), ["a", "c"]).feature_names == ("b", "a")

    def test_default_pandas_columns_are_like_an_array(self):
        X = pd.DataFrame([[1.0, 2.0]])
        assert as_table(X).feature_names == ("x0", "x1")
        assert_array_equal(as_table(X, ["a", "b"]).column("b").values, [2.0])

    def test_other_labels_by_their_text(self):
        X = pd.DataFrame([[1.0, 2.0]], columns=[1, ("a", 0)])
        table = as_table(X)
        assert table.feature_names == ("1", "('a', 0)")
        assert_array_equal(table.column("1").values, [1.0])

    def test_column_called_like_an_attribute(self):
        X = pd.DataFrame({"column_names": [1.0], "columns": [2.0]})
        assert as_table(X).feature_names == ("column_names", "columns")

    @pytest.mark.parametrize(
        "X",
        [
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
        ],
    )
    def test_duplicates(self, X):
        with pytest.raises(ValueError, match=r"must be unique\. Got 'a' more than once"):
            as_table(X)

    def test_labels_with_equal_text(self):
        with pytest.raises(ValueError, match=r"must be unique\. Got '0' more than once"):
            as_table(pd.DataFrame([[1, 2]], columns=[0, "0"]))

    def test_duplicate_given_names(self):
        with pytest.raises(ValueError, match=r"must be unique\. Got 'b' more than once"):
            as_table(np.zeros((1, 2)), ["b", "b"])

    def test_wrong_number(self):
        with pytest.raises(ValueError, match="Got 2 columns for 3 feature names"):
            as_table(np.zeros((1, 2)), ["a", "b", "c"])

    def test_unknown_column_with_close_match(self):
        table = as_table(pl.DataFrame({"age": [1], "height": [2]}))
        with pytest.raises(ValueError, match=r"no column 'agee'\. Did you mean 'age'\? Avail"):
            table.column("agee")

    def test_unknown_column_of_a_wide_table(self):
        with pytest.raises(ValueError, match=r"no column 'zzz'\. Available: 'x0'.* and 20 more\.$"):
            as_table(np.zeros((1, 30))).column("zzz")


class TestTable:
    def test_passes_through(self):
        table = as_table(np.zeros((2, 1)))
        assert as_table(table) is table
        assert as_table(table, ["x0"]) is table

    def test_unnamed_table_takes_names(self):
        table = as_table(np.array([[1.0, 2.0]]))
        named = as_table(table, ["a", "b"])
        assert isinstance(named, Table)
        assert named.column("b").name == "b"
        assert_array_equal(named.column("b").values, [2.0])
        assert as_table(named, ["c", "d"]) is named

    def test_columns_are_cached(self):
        table = as_table(np.zeros((2, 1)))
        assert table.column("x0") is table.column("x0")

    def test_columns_are_extracted_lazily(self):
        table = as_table(pl.DataFrame({"good": [1.0], "bad": [date(2020, 1, 1)]}))
        assert_array_equal(table.column("good").values, [1.0])
        with pytest.raises(TypeError, match="Column 'bad'"):
            table.column("bad")

    def test_values_are_read_only_and_the_users_array_is_not(self):
        X = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
        with pytest.raises(ValueError, match="read-only"):
            as_table(X).column("x0").values[0] = 7.0
        X[0, 0] = 7.0
        assert X[0, 0] == 7.0


def test_blocks_are_parts_of_columns(construct):
    X = construct({"a": [1.0, None, 3.0], "b": ["x", None, "y"]})
    table = as_table(X, ["a", "b"])
    assert_array_equal(table.block("a", slice(1, 5)).values, [np.nan, 3.0])
    assert table.block("b", slice(0, 2)).codes.tolist() == [0, -1]
    assert table.block("b", slice(0, 2)).categories == ("x", "y")
    with pytest.raises(ValueError, match="no column 'c'"):
        table.block("c", slice(1))


def test_popped_column_is_not_kept():
    table = as_table(np.eye(3), list("abc"))
    column = table.pop_column("a")
    assert table.column("a") is not column
    assert_array_equal(table.column("a").values, column.values)


class TestRejected:
    @pytest.mark.parametrize("X", [np.zeros(3), [1, 2], pd.Series([1.0]), pl.Series([1.0]), []])
    def test_one_dimension(self, X):
        with pytest.raises(
            ValueError, match=r"Expected 2D array, got 1D array instead.*Reshape your data"
        ):
            as_table(X)

    def test_row_of_a_data_frame(self):
        frame = pd.DataFrame({"age": [34, 71], "smoker": ["no", "yes"]})
        with pytest.raises(
            ValueError, match=r"double brackets keep a part .* frame\.iloc\[\[0\]\]"
        ):
            as_table(frame.iloc[0])
        assert as_table(frame.iloc[[0]]).n_rows == 1

    @pytest.mark.parametrize(
        ("X", "got"), [(np.zeros((1, 1, 1)), "3D array"), (np.float64(1), "scalar array")]
    )
    def test_other_dimensions(self, X, got):
        with pytest.raises(ValueError, match=f"Expected 2D array, got {got} instead"):
            as_table(X)

    def test_ragged_rows(self):
        with pytest.raises(ValueError, match="must have the same length"):
            as_table([[1, 2], [3]])

    @pytest.mark.parametrize(
        ("X", "advice"),
        [
            (None, "Convert it to one of these."),
            ("text", "Convert it to one of these."),
            (pl.LazyFrame({"a": [1]}), "Call '.collect()' on a lazy DataFrame."),
            ({"a": [1]}, "Make a DataFrame of it: pandas.DataFrame(X) if it holds columns"),
        ],
    )
    def test_not_a_table(self, X, advice):
        message = f"Got {type(X).__name__} instead. {advice}"
        with pytest.raises(TypeError, match=re.escape(message)):
            as_table(X)

    @pytest.mark.parametrize("matrix", [csr_array((2, 2)), csc_matrix((2, 2))])
    def test_sparse(self, matrix):
        with pytest.raises(TypeError, match=r"Sparse data.*'\.toarray\(\)'"):
            as_table(matrix)

    def test_complex_array(self):
        with pytest.raises(ValueError, match="Complex data not supported"):
            as_table(np.array([[1j]]))

    @pytest.mark.parametrize(
        ("values", "dtype"),
        [
            (pd.to_datetime(["2020-01-01"]), "Datetime"),
            (pd.to_timedelta(["1D"]), "Duration"),
            (np.array([1j]), "complex128"),
            (pl.Series("a", [date(2020, 1, 1)]), "Date"),
            (pl.Series("a", [timedelta(1)]), "Duration"),
            (pl.Series("a", [[1]]), "List"),
            (pl.Series("a", [{"b": 1}]), "Struct"),
            (pl.Series("a", [b"a"]), "Binary"),
            (pa.array([date(2020, 1, 1)]), "Date"),
            (pa.array([[1]]), "List"),
        ],
    )
    def test_dtypes(self, values, dtype):
        with pytest.raises(TypeError, match=rf"Column 'a' .* Got dtype {dtype}.*days since"):
            single(values)

    @pytest.mark.parametrize("dtype", ["M8[D]", "m8[D]", "S1", "V1"])
    def test_array_dtypes(self, dtype):
        X = np.zeros((1, 1), dtype=dtype)
        with pytest.raises(TypeError, match=r"Column 'x0' .* Got dtype"):
            as_table(X).column("x0")

    @pytest.mark.parametrize("cell", [{"foo": "bar"}, [1], 1j, date(2020, 1, 1), b"a", object()])
    def test_cells(self, cell):
        X = np.array([[1.0], [None]], dtype=object)
        X[1, 0] = cell
        got = rf"Column 'x0' has a cell of type {type(cell).__name__}\."
        with pytest.raises(TypeError, match=f"argument must be a string or a real number. {got}"):
            as_table(X).column("x0")

    @pytest.mark.parametrize(
        "values", [pd.period_range("2020", periods=1, freq="M"), pd.cut([1], 1)]
    )
    def test_pandas_cells(self, values):
        with pytest.raises(TypeError, match=r"argument must be a string or a real number.*'a'"):
            single(values)

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

    @pytest.mark.parametrize("infinity", [np.inf, -np.inf])
    def test_infinity(self, construct, infinity):
        X = construct({"a": [1.0, infinity]})
        with pytest.raises(ValueError, match=r"Column 'a' contains infinity.*or by NaN"):
            as_table(X, ["a"]).column("a")

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


def test_no_dataframe_library_is_imported():
    # Through a bare package: scikit-learn, which the real one imports, may load pandas.
    program = f"""
import sys, types
sys.modules["laconic"] = types.ModuleType("laconic")
sys.modules["laconic"].__path__ = [{str(Path(tables.__file__).parent)!r}]
from laconic.propositions import candidate_propositions
from laconic.rules import RuleEnsemble
candidate_propositions([[1, "a"], [2, "b"]])
RuleEnsemble().raw_predictions([[1.0]])
print(*{{"pandas", "polars", "pyarrow", "scipy", "sklearn"}} & set(sys.modules))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.stdout.strip(), result.returncode) == ("", 0)
