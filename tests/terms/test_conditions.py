import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from values import COLUMNS, OLD, TABLES, X_IS, YOUNG

from laconic.tables.tables import as_table
from laconic.terms.conditions import RELATIONS, SET_RELATIONS, Condition, Query, by_feature


@pytest.fixture(params=TABLES)
def table(request):
    return as_table(TABLES[request.param], list(COLUMNS))


class TestConditionCovered:
    @pytest.mark.parametrize(
        ("feature", "relation", "value", "covered"),
        [
            ("age", "<=", 28, [0, 0, 1, 1]),
            ("age", ">", 28, [1, 0, 0, 0]),
            ("age", "==", 20, [0, 0, 1, 0]),
            ("age", "!=", 20, [1, 0, 0, 1]),
            ("age", "is missing", None, [0, 1, 0, 0]),
            ("age", "is present", None, [1, 0, 1, 1]),
            ("mark", "==", "x", [1, 0, 0, 0]),
            ("mark", "!=", "x", [0, 1, 0, 1]),
            ("mark", "==", "unseen", [0, 0, 0, 0]),
            ("mark", "!=", "unseen", [1, 1, 0, 1]),
            ("mark", "is missing", None, [0, 0, 1, 0]),
            ("mark", "is present", None, [1, 1, 0, 1]),
            ("member", "==", True, [1, 0, 0, 1]),
            ("member", "!=", True, [0, 1, 0, 0]),
            ("member", "==", False, [0, 1, 0, 0]),
        ],
    )
    def test_every_relation(self, table, feature, relation, value, covered):
        result = Condition(feature, relation, value).covered(table)
        assert result.dtype == bool
        assert_array_equal(result, np.array(covered, dtype=bool))

    @pytest.mark.parametrize("values", [[1.0, 0.0, None], [1, 0, None], [True, False, None]])
    def test_booleans_are_zero_and_one(self, values):
        X = pl.DataFrame({"a": values})
        for value in (True, 1, 1.0):
            assert_array_equal(Condition("a", "==", value).covered(X), [True, False, False])
            assert_array_equal(Condition("a", "!=", value).covered(X), [False, True, False])
        assert_array_equal(Condition("a", "<=", 0.5).covered(X), [False, True, False])
        assert_array_equal(Condition("a", ">", 0.5).covered(X), [True, False, False])

    def test_number_categories_compare_like_numbers(self):
        X = pd.DataFrame({"a": pd.Categorical([30, None, 4])})
        assert_array_equal(Condition("a", "==", 30).covered(X), [True, False, False])
        assert_array_equal(Condition("a", "!=", 30.0).covered(X), [False, False, True])
        assert_array_equal(Condition("a", "<=", 10).covered(X), [False, False, True])

    @pytest.mark.parametrize(
        ("condition", "needed"),
        [
            (Condition("mark", "<=", 1), "numbers"),
            (Condition("mark", "==", 1), "numbers"),
            (Condition("mark", "!=", True), "booleans"),
            (Condition("age", "==", "x"), "strings"),
            (Condition("member", "!=", "True"), "strings"),
        ],
    )
    def test_other_kind_of_column(self, table, condition, needed):
        held = {"mark": "strings, such as '.'", "age": "numbers", "member": "booleans"}[
            condition.feature
        ]
        match = (
            f"needs a column of {needed}. Column '{condition.feature}' holds {held}. "
            f"Convert the column to {needed}."
        )
        with pytest.raises(TypeError, match=match):
            condition.covered(table)

    @pytest.mark.parametrize("dtype", [pl.String, pl.Float64, pl.Boolean, pl.Null])
    @pytest.mark.parametrize(
        "condition",
        [Condition("a", "<=", 1), Condition("a", "==", "x"), Condition("a", "!=", True)],
    )
    def test_column_without_values_fits_every_condition(self, dtype, condition):
        X = pl.DataFrame({"a": [None, None]}, schema={"a": dtype})
        assert_array_equal(condition.covered(X), [False, False])
        assert condition.covered(X.clear()).shape == (0,)

    def test_unknown_feature(self, table):
        with pytest.raises(ValueError, match="no column 'wage'"):
            Condition("wage", "<=", 1).covered(table)


class TestConditionChecks:
    @pytest.mark.parametrize("relation", ["<", ">=", "is in", "", None])
    def test_relation(self, relation):
        with pytest.raises(ValueError, match=rf"must be one of '<=', .*Got {relation!r} instead"):
            Condition("a", relation, 1)

    @pytest.mark.parametrize("feature", [0, None, ("a",)])
    def test_feature(self, feature):
        with pytest.raises(TypeError, match="The 'feature' of a Condition must be a str"):
            Condition(feature, "<=", 1)

    @pytest.mark.parametrize("value", [None, "1", True, 1j, [1]])
    @pytest.mark.parametrize("relation", ["<=", ">"])
    def test_threshold_type(self, relation, value):
        with pytest.raises(
            TypeError, match=rf"relation '{relation}' must be a number, a date or a time\."
        ):
            Condition("a", relation, value)

    @pytest.mark.parametrize("value", [None, 1j, ("a",), b"a"])
    @pytest.mark.parametrize("relation", ["==", "!="])
    def test_value_type(self, relation, value):
        with pytest.raises(
            TypeError, match=f"'{relation}' must be a str, a bool, a number, a date or"
        ):
            Condition("a", relation, value)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("relation", ["<=", ">", "==", "!="])
    def test_finite(self, relation, value):
        with pytest.raises(ValueError, match="'value' of a Condition must be a finite number"):
            Condition("a", relation, value)

    @pytest.mark.parametrize("relation", ["is missing", "is present"])
    def test_no_value(self, relation):
        with pytest.raises(ValueError, match=f"relation '{relation}' must be None. Got 0 instead"):
            Condition("a", relation, 0)

    @pytest.mark.parametrize(
        ("relation", "value", "plain"),
        [
            ("<=", np.float32(0.5), 0.5),
            (">", 3, 3.0),
            ("==", np.int64(3), 3),
            ("==", np.float64(0.5), 0.5),
            ("==", np.bool_(True), True),
            ("!=", np.str_("x"), "x"),
        ],
    )
    def test_value_becomes_plain(self, relation, value, plain):
        stored = Condition("a", relation, value).value
        assert stored == plain
        assert type(stored) is type(plain)


class TestText:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("x", "x"),
            ("top-lft_2.+", "top-lft_2.+"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", '"it\'s"'),
            ("30", "'30'"),
            ("1e5", "'1e5'"),
            ("nan", "'nan'"),
            ("-inf", "'-inf'"),
            ("True", "'True'"),
            ("x & y", "'x & y'"),
            ("Köln", "Köln"),
            ("Ko\u0308ln", "Ko\u0308ln"),
            ("दिल्ली", "दिल्ली"),
            ("東京-2", "東京-2"),
            ("٣", "'٣'"),
            ("São Paulo", "'São Paulo'"),
            ("x\n", "'x\\n'"),
            ("a\u202eb", "'a\\u202eb'"),
            (True, "True"),
            (3, "3"),
            (2.5, "2.5"),
        ],
    )
    def test_value(self, value, text):
        assert str(Condition("top-lft", "==", value)) == f"top-lft == {text}"

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("top-lft", "top-lft"),
            ("size [cm] (log)", "size [cm] (log)"),
            ("Größe", "Größe"),
            ("高さ", "高さ"),
            ("x#2/y:z?", "x#2/y:z?"),
            ("", "''"),
            ("30", "'30'"),
            ("-1.5e3", "'-1.5e3'"),
            ("nan", "'nan'"),
            (" age", "' age'"),
            ("age\u00a0", "'age\\xa0'"),
            ("a & b", "'a & b'"),
            ("a, b", "'a, b'"),
            ("a<b", "'a<b'"),
            ("a>b", "'a>b'"),
            ("a=b", "'a=b'"),
            ("a!", "'a!'"),
            ("it's", '"it\'s"'),
            ('5" disk', "'5\" disk'"),
            ("a\tb", "'a\\tb'"),
            ("a\x1b[31mb", "'a\\x1b[31mb'"),
            ("a\u202eb", "'a\\u202eb'"),
        ],
    )
    def test_name(self, name, text):
        assert str(Condition(name, "<=", 1)) == f"{text} <= 1"
        assert str(Condition(name, "is missing")) == f"{text} is missing"
        bounds = (Condition(name, ">", 1), Condition(name, "<=", 2))
        assert str(Query(bounds)) == f"1 < {text} <= 2"

    def test_missing(self):
        assert str(Condition("age", "is missing")) == "age is missing"

    def test_negative_zero(self):
        assert str(Condition("a", "<=", -0.0)) == "a <= 0"

    @pytest.mark.parametrize(
        ("conditions", "text"),
        [
            ([], "always"),
            ([("a", "==", "x"), ("b", "==", "x")], "a == x & b == x"),
            ([("PS", ">", 100), ("PS", "<=", 180)], "100 < PS <= 180"),
            ([("PS", "<=", 180), ("b", "!=", "y"), ("PS", ">", 100)], "100 < PS <= 180 & b != y"),
            ([("b", "==", 1), ("PS", "<=", 2), ("PS", ">", 1)], "b == 1 & 1 < PS <= 2"),
            ([("a", ">", 1), ("b", "<=", 2)], "a > 1 & b <= 2"),
            ([("a", ">", 1), ("a", ">", 2), ("a", "<=", 3)], "1 < a <= 3 & a > 2"),
            ([("a", ">", 1), ("a", "!=", 2)], "a > 1 & a != 2"),
        ],
    )
    def test_query(self, conditions, text):
        assert str(Query(tuple(Condition(*condition) for condition in conditions))) == text


class TestQuery:
    def test_covered_is_the_conjunction(self, table):
        query = Query((Condition("age", ">", 20), Condition("member", "==", True)))
        assert_array_equal(query.covered(table), [True, False, False, True])

    def test_empty_query_is_always_true(self, table):
        assert_array_equal(Query().covered(table), [True] * 4)

    def test_length_and_iteration(self):
        query = Query((X_IS, OLD))
        assert len(query) == 2
        assert list(query) == [X_IS, OLD]

    def test_query_of_something_else(self):
        with pytest.raises(TypeError, match="'conditions' of a Query must be Condition obj"):
            Query(("a == x",))


def test_conditions_are_grouped_in_the_order_of_their_features():
    grouped = by_feature([X_IS, OLD, YOUNG, X_IS])
    assert list(grouped.items()) == [("mark", [X_IS, X_IS]), ("age", [OLD, YOUNG])]


NUMBERS = st.none() | st.sampled_from([-1.5, 0.0, 1.0, 2.0])


@given(st.lists(NUMBERS, min_size=1), st.sampled_from(RELATIONS), st.sampled_from([0.0, 1.0, 1.25]))
def test_coverage_is_pythons_comparison(cells, relation, value):
    expected = {
        "<=": [cell is not None and cell <= value for cell in cells],
        ">": [cell is not None and cell > value for cell in cells],
        "==": [cell is not None and cell == value for cell in cells],
        "!=": [cell is not None and cell != value for cell in cells],
        "in": [cell in (value, 2.0) for cell in cells],
        "not in": [cell is not None and cell not in (value, 2.0) for cell in cells],
        "is missing": [cell is None for cell in cells],
        "is present": [cell is not None for cell in cells],
    }[relation]
    compared = (value, 2.0) if relation in SET_RELATIONS else value
    condition = Condition("a", relation, None if relation.startswith("is") else compared)
    frame = pl.DataFrame({"a": cells}, schema={"a": pl.Float64})
    for X in (frame, frame.to_arrow(), frame.to_pandas(), frame.to_pandas().astype("category")):
        assert condition.covered(X).tolist() == expected
