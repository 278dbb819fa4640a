import re
import subprocess
import sys
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csc_matrix, csr_array

from laconic.tables import tables
from laconic.tables.tables import Table, as_table


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


def test_numbers_at_once_and_column_by_column(monkeypatch):
    frame = pd.DataFrame(
        {
            "whole": [1, 2, 2**53 - 1],
            "small": np.array([1, 2, 250], dtype=np.uint8),
            "single": np.array([0.1, np.nan, 3.0], dtype=np.float32),
            "double": [0.1, np.nan, 1e300],
        }
    )
    at_once = as_table(frame)
    monkeypatch.setattr(tables, "MAX_CELLS_AT_ONCE", 0)
    one_by_one = as_table(frame)
    assert at_once.feature_names == one_by_one.feature_names == tuple(frame)
    for name in frame:
        values = at_once.column(name).values
        assert values.dtype == np.float64
        assert_array_equal(values, one_by_one.column(name).values)
        assert_array_equal(at_once.block(name, slice(1, 3)).values, values[1:])
    assert not at_once.column("double").values.flags.writeable
    frame.loc[0, "double"] = 0.2  # is still the caller's to change


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
        table = as_table(pl.DataFrame({"good": [1.0], "bad": [b"a"]}))
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

    @pytest.mark.parametrize("matrix", [csr_array([[0, 3], [0, 0]]), csc_matrix([[0, 3], [0, 0]])])
    def test_sparse(self, matrix):
        table = as_table(matrix)
        assert (table.n_rows, table.feature_names) == (2, ("x0", "x1"))
        assert table.column("x1").values.tolist() == [3.0, 0.0]
        assert as_table(matrix, ["a", "b"]).stored_cells("b").rows.tolist() == [0]

    def test_complex_array(self):
        with pytest.raises(ValueError, match="Complex data not supported"):
            as_table(np.array([[1j]]))

    def test_masked_cells_are_missing(self):
        numbers = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
        table = as_table(numbers)
        np.testing.assert_array_equal(table.column("x1").values, [np.nan, 4.0])
        texts = as_table(np.ma.array([["a"], ["b"]], mask=[[True], [False]]))
        assert texts.column("x0").codes.tolist() == [-1, 0]
        whole = as_table(np.ma.array([[1], [2]]))
        np.testing.assert_array_equal(whole.column("x0").values, [1.0, 2.0])

    # By pandas 2.2 when it converts infinity to a nullable type.
    @pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
    @pytest.mark.parametrize("infinity", [np.inf, -np.inf])
    def test_infinity(self, construct, infinity):
        X = construct({"a": [1.0, infinity]})
        with pytest.raises(ValueError, match=r"Column 'a' contains infinity.*or by NaN"):
            as_table(X, ["a"]).column("a")


def test_no_dataframe_library_is_imported():
    # Through a bare package: scikit-learn, which the real one imports, may load pandas.
    program = f"""
import sys, types
sys.modules["laconic"] = types.ModuleType("laconic")
sys.modules["laconic"].__path__ = [{str(Path(tables.__file__).parents[1])!r}]
from laconic.candidates.candidates import candidate_conditions
from laconic.terms.rules import RuleEnsemble
candidate_conditions([[1, "a"], [2, "b"]])
RuleEnsemble().raw_predictions([[1.0]])
print(*{{"pandas", "polars", "pyarrow", "scipy", "sklearn"}} & set(sys.modules))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.stdout.strip(), result.returncode) == ("", 0)
