import copy
import pickle
from dataclasses import FrozenInstanceError

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from laconic import rules as rules_module
from laconic.rules import (
    RELATIONS,
    Proposition,
    Query,
    Rule,
    RuleEnsemble,
    format_number,
    format_weight,
)
from laconic.tables import as_table

COLUMNS = {
    "age": [35.0, None, 20.0, 28.0],
    "mark": ["x", "o", None, "b"],
    "member": [True, False, None, True],
}

TABLES = {
    "numpy": np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object),
    "pandas": pd.DataFrame(COLUMNS),
    "pandas category": pd.DataFrame(COLUMNS).astype({"mark": "category"}),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
}


@pytest.fixture(params=TABLES)
def table(request):
    return as_table(TABLES[request.param], list(COLUMNS))


def rule(weight, *propositions):
    return Rule(Query(propositions), weight)


X_IS = Proposition("mark", "==", "x")
YOUNG = Proposition("age", "<=", 28)
OLD = Proposition("age", ">", 28)


class TestPropositionCovered:
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
        result = Proposition(feature, relation, value).covered(table)
        assert result.dtype == bool
        assert_array_equal(result, np.array(covered, dtype=bool))

    @pytest.mark.parametrize("values", [[1.0, 0.0, None], [1, 0, None], [True, False, None]])
    def test_booleans_are_zero_and_one(self, values):
        X = pl.DataFrame({"a": values})
        for value in (True, 1, 1.0):
            assert_array_equal(Proposition("a", "==", value).covered(X), [True, False, False])
            assert_array_equal(Proposition("a", "!=", value).covered(X), [False, True, False])
        assert_array_equal(Proposition("a", "<=", 0.5).covered(X), [False, True, False])
        assert_array_equal(Proposition("a", ">", 0.5).covered(X), [True, False, False])

    def test_number_categories_compare_like_numbers(self):
        X = pd.DataFrame({"a": pd.Categorical([30, None, 4])})
        assert_array_equal(Proposition("a", "==", 30).covered(X), [True, False, False])
        assert_array_equal(Proposition("a", "!=", 30.0).covered(X), [False, False, True])
        assert_array_equal(Proposition("a", "<=", 10).covered(X), [False, False, True])

    @pytest.mark.parametrize(
        ("proposition", "needed"),
        [
            (Proposition("mark", "<=", 1), "numbers"),
            (Proposition("mark", "==", 1), "numbers"),
            (Proposition("mark", "!=", True), "booleans"),
            (Proposition("age", "==", "x"), "strings"),
            (Proposition("member", "!=", "True"), "strings"),
        ],
    )
    def test_other_kind_of_column(self, table, proposition, needed):
        held = {"mark": "strings", "age": "numbers", "member": "booleans"}[proposition.feature]
        match = (
            f"needs a column of {needed}. Column '{proposition.feature}' holds {held}. "
            f"Convert the column to {needed}."
        )
        with pytest.raises(TypeError, match=match):
            proposition.covered(table)

    @pytest.mark.parametrize("dtype", [pl.String, pl.Float64, pl.Boolean, pl.Null])
    @pytest.mark.parametrize(
        "proposition",
        [Proposition("a", "<=", 1), Proposition("a", "==", "x"), Proposition("a", "!=", True)],
    )
    def test_column_without_values_fits_every_condition(self, dtype, proposition):
        X = pl.DataFrame({"a": [None, None]}, schema={"a": dtype})
        assert_array_equal(proposition.covered(X), [False, False])
        assert proposition.covered(X.clear()).shape == (0,)

    def test_unknown_feature(self, table):
        with pytest.raises(ValueError, match="no column 'wage'"):
            Proposition("wage", "<=", 1).covered(table)


class TestPropositionChecks:
    @pytest.mark.parametrize("relation", ["<", ">=", "in", "", None])
    def test_relation(self, relation):
        with pytest.raises(ValueError, match=rf"must be one of '<=', .*Got {relation!r} instead"):
            Proposition("a", relation, 1)

    @pytest.mark.parametrize("feature", [0, None, ("a",)])
    def test_feature(self, feature):
        with pytest.raises(TypeError, match="The 'feature' of a Proposition must be a str"):
            Proposition(feature, "<=", 1)

    @pytest.mark.parametrize("value", [None, "1", True, 1j, [1]])
    @pytest.mark.parametrize("relation", ["<=", ">"])
    def test_threshold_type(self, relation, value):
        with pytest.raises(TypeError, match=rf"relation '{relation}' must be a number\."):
            Proposition("a", relation, value)

    @pytest.mark.parametrize("value", [None, 1j, ("a",), b"a"])
    @pytest.mark.parametrize("relation", ["==", "!="])
    def test_value_type(self, relation, value):
        with pytest.raises(TypeError, match=rf"'{relation}' must be a str, a bool or a number\."):
            Proposition("a", relation, value)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("relation", ["<=", ">", "==", "!="])
    def test_finite(self, relation, value):
        with pytest.raises(ValueError, match="'value' of a Proposition must be a finite number"):
            Proposition("a", relation, value)

    @pytest.mark.parametrize("relation", ["is missing", "is present"])
    def test_no_value(self, relation):
        with pytest.raises(ValueError, match=f"relation '{relation}' must be None. Got 0 instead"):
            Proposition("a", relation, 0)

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
        stored = Proposition("a", relation, value).value
        assert stored == plain
        assert type(stored) is type(plain)


class TestText:
    @pytest.mark.parametrize(
        ("number", "text"),
        [
            (30.0, "30"),
            (30, "30"),
            (0.25, "0.25"),
            (1e-7, "1e-07"),
            (-0.1, "-0.1"),
            (1e16, "1e+16"),
            (5e-324, "5e-324"),
        ],
    )
    def test_number(self, number, text):
        assert format_number(number) == text

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_number_reads_back(self, number):
        assert float(format_number(number)) == number

    @pytest.mark.parametrize(
        ("weight", "text"),
        [
            (1.18742, "+1.187"),
            (-0.5, "-0.5000"),
            (22.4561, "+22.46"),
            (999.96, "+1000"),
            (-1234.6, "-1235"),
            (16192.3, "+16192"),
            (0.0, "+0.000"),
            (0.00012341, "+0.0001234"),
            (1.23456e-9, "+1.235e-09"),
            (1.23456e20, "+1.235e+20"),
        ],
    )
    def test_weight(self, weight, text):
        assert format_weight(weight) == text

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
        assert str(Proposition("top-lft", "==", value)) == f"top-lft == {text}"

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
        assert str(Proposition(name, "<=", 1)) == f"{text} <= 1"
        assert str(Proposition(name, "is missing")) == f"{text} is missing"
        bounds = (Proposition(name, ">", 1), Proposition(name, "<=", 2))
        assert str(Query(bounds)) == f"1 < {text} <= 2"

    def test_missing(self):
        assert str(Proposition("age", "is missing")) == "age is missing"

    def test_negative_zero(self):
        assert str(Proposition("a", "<=", -0.0)) == "a <= 0"

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
        assert str(Query(tuple(Proposition(*condition) for condition in conditions))) == text

    def test_rule(self):
        assert str(rule(1.18742, Proposition("mid-mid", "==", "x"))) == "+1.187 if mid-mid == x"
        assert str(rule(22.4561)) == "+22.46 always"

    def test_ensemble(self):
        ensemble = RuleEnsemble((rule(16192, X_IS), rule(-0.5, OLD, YOUNG), rule(2.0)))
        assert str(ensemble).splitlines() == [
            " +16192 if mark == x",
            "-0.5000 if 28 < age <= 28",
            " +2.000 always",
        ]

    def test_intercept_line(self):
        assert str(RuleEnsemble((rule(1.0, X_IS),), 0.3)) == (
            "+0.3000 intercept\n +1.000 if mark == x"
        )
        assert str(RuleEnsemble()) == "+0.000 intercept"

    def test_repr_shows_what_str_does(self):
        assert repr(X_IS) == "<Proposition: mark == x>"
        assert repr(Query((X_IS, OLD))) == "<Query: mark == x & age > 28>"
        assert repr(Query()) == "<Query: always>"
        assert repr(rule(1.18742, X_IS)) == "<Rule: +1.187 if mark == x>"
        ensemble = RuleEnsemble((rule(1.0, X_IS, OLD), rule(2.0)), 0.5)
        assert repr(ensemble) == f"<RuleEnsemble: 2 rules, 2 conditions>\n{ensemble}"
        ensemble = RuleEnsemble((rule(1.0, X_IS),))
        assert repr(ensemble) == "<RuleEnsemble: 1 rule, 1 condition>\n+1.000 if mark == x"
        assert repr(RuleEnsemble()) == ("<RuleEnsemble: 0 rules, 0 conditions>\n+0.000 intercept")


class TestValues:
    VALUES = (
        X_IS,
        Query((X_IS, OLD)),
        rule(1.5, X_IS),
        RuleEnsemble((rule(1.5, X_IS),), 0.5, ("mark",)),
    )

    @pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
    def test_equal_hashable_and_picklable(self, value):
        for other in (copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert other == value
            assert hash(other) == hash(value)
            assert str(other) == str(value)

    @pytest.mark.parametrize(
        ("value", "attribute"),
        list(zip(VALUES, ("value", "propositions", "weight", "intercept"), strict=True)),
    )
    def test_immutable(self, value, attribute):
        with pytest.raises(FrozenInstanceError):
            setattr(value, attribute, None)
        assert not hasattr(value, "__dict__")

    def test_unequal(self):
        assert Proposition("a", "<=", 1) != Proposition("a", ">", 1)
        assert Query((X_IS, OLD)) != Query((OLD, X_IS))
        assert rule(1.0, X_IS) != rule(2.0, X_IS)
        assert RuleEnsemble(intercept=1.0) != RuleEnsemble()

    def test_sequences_become_tuples(self):
        assert Query([X_IS]) == Query((X_IS,))
        assert RuleEnsemble([rule(1.0)], feature_names=["a"]).feature_names == ("a",)


class TestQueryAndRule:
    def test_covered_is_the_conjunction(self, table):
        query = Query((Proposition("age", ">", 20), Proposition("member", "==", True)))
        assert_array_equal(query.covered(table), [True, False, False, True])

    def test_empty_query_is_always_true(self, table):
        assert_array_equal(Query().covered(table), [True] * 4)

    def test_length_and_iteration(self):
        query = Query((X_IS, OLD))
        assert len(query) == 2
        assert list(query) == [X_IS, OLD]

    def test_raw_predictions(self, table):
        assert_array_equal(rule(-1.5, OLD).raw_predictions(table), [-1.5, 0.0, 0.0, 0.0])

    def test_query_of_something_else(self):
        with pytest.raises(TypeError, match="'propositions' of a Query must be Proposition obj"):
            Query(("a == x",))

    def test_rule_of_something_else(self):
        with pytest.raises(TypeError, match="'query' of a Rule must be a Query"):
            Rule(X_IS, 1.0)

    @pytest.mark.parametrize("weight", ["1", None, True])
    def test_weight_type(self, weight):
        with pytest.raises(TypeError, match="'weight' of a Rule must be a number"):
            Rule(Query(), weight)

    @pytest.mark.parametrize("weight", [np.nan, np.inf])
    def test_weight_finite(self, weight):
        with pytest.raises(ValueError, match="'weight' of a Rule must be a finite number"):
            Rule(Query(), weight)


class TestRuleEnsemble:
    ENSEMBLE = RuleEnsemble(
        (rule(0.1, X_IS), rule(0.2, OLD), rule(0.3), rule(-1.0, YOUNG, X_IS)),
        intercept=0.7,
        feature_names=tuple(COLUMNS),
    )

    def test_sequence(self):
        assert len(self.ENSEMBLE) == self.ENSEMBLE.n_rules == 4
        assert self.ENSEMBLE.n_conditions == 4
        assert self.ENSEMBLE[2] == rule(0.3)
        assert self.ENSEMBLE[-1] == rule(-1.0, YOUNG, X_IS)
        assert list(self.ENSEMBLE) == list(self.ENSEMBLE.rules)
        assert rule(0.3) in self.ENSEMBLE
        with pytest.raises(IndexError):
            self.ENSEMBLE[4]

    def test_slice(self):
        part = self.ENSEMBLE[:2]
        assert part == RuleEnsemble(self.ENSEMBLE.rules[:2], 0.7, tuple(COLUMNS))

    def test_raw_predictions_in_rule_order(self, table):
        expected = [
            0.7 + 0.1 + 0.2 + 0.3,
            0.7 + 0.3,
            0.7 + 0.3,
            0.7 + 0.3,
        ]
        result = self.ENSEMBLE.raw_predictions(table)
        assert result.dtype == np.float64
        assert result.tolist() == expected

    def test_summation_order_matters_and_is_kept(self):
        weights = (1e16, 1.0, -1e16)
        scores = [
            RuleEnsemble([rule(weight) for weight in order]).raw_predictions(np.zeros((1, 1)))[0]
            for order in (weights, (1e16, -1e16, 1.0))
        ]
        assert scores == [0.0, 1.0]

    def test_staged_raw_predictions(self, table):
        stages = list(self.ENSEMBLE.staged_raw_predictions(table))
        assert len(stages) == 4
        for k, stage in enumerate(stages, start=1):
            assert stage.tolist() == self.ENSEMBLE[:k].raw_predictions(table).tolist()

    def test_covered(self, table):
        covered = self.ENSEMBLE.covered(table)
        assert covered.dtype == bool
        assert_array_equal(
            covered.astype(int), [[1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 1, 0]]
        )

    def test_empty(self, table):
        ensemble = RuleEnsemble(intercept=2.5)
        assert_array_equal(ensemble.raw_predictions(table), [2.5] * 4)
        assert ensemble.covered(table).shape == (4, 0)
        assert list(ensemble.staged_raw_predictions(table)) == []

    @pytest.mark.parametrize("name", TABLES)
    def test_arrays_by_position_and_frames_by_name(self, name):
        X = TABLES[name]
        if name != "numpy":
            X = nw.from_native(X).select("member", "mark", "age").to_native()
        expected = self.ENSEMBLE.raw_predictions(TABLES["polars"])
        assert_array_equal(self.ENSEMBLE.raw_predictions(X), expected)

    def test_unnamed_table_is_matched_by_position(self):
        ensemble = RuleEnsemble((rule(1.0, Proposition("b", ">", 1)),), feature_names=("a", "b"))
        X = np.array([[5.0, 0.0], [0.0, 5.0]])
        for unnamed in (X, as_table(X), pd.DataFrame(X), X.tolist()):
            assert_array_equal(ensemble.raw_predictions(unnamed), [0.0, 1.0])
            assert_array_equal(ensemble.covered(unnamed), [[False], [True]])
            assert_array_equal(next(ensemble.staged_raw_predictions(unnamed)), [0.0, 1.0])

    def test_without_feature_names_arrays_are_numbered(self):
        ensemble = RuleEnsemble((rule(1.0, Proposition("x1", ">", 1)),))
        assert_array_equal(ensemble.raw_predictions(np.array([[5.0, 0.0], [0.0, 5.0]])), [0.0, 1.0])

    def test_wrong_number_of_columns(self):
        with pytest.raises(ValueError, match="Got 2 columns for 3 feature names"):
            self.ENSEMBLE.raw_predictions(np.zeros((1, 2)))

    def test_only_used_columns_are_needed(self):
        ensemble = RuleEnsemble((rule(1.0, X_IS),), feature_names=tuple(COLUMNS))
        assert_array_equal(ensemble.raw_predictions(pl.DataFrame({"mark": ["x", "o"]})), [1.0, 0.0])

    def test_consolidate(self, table):
        ensemble = RuleEnsemble(
            (rule(1.0, X_IS, OLD), rule(0.25), rule(2.0, OLD, X_IS), rule(0.5, OLD), rule(0.5)),
            intercept=0.5,
            feature_names=tuple(COLUMNS),
        )
        consolidated = ensemble.consolidate()
        assert consolidated == RuleEnsemble(
            (rule(3.0, X_IS, OLD), rule(0.75), rule(0.5, OLD)), 0.5, tuple(COLUMNS)
        )
        assert_array_equal(consolidated.raw_predictions(table), ensemble.raw_predictions(table))

    def test_rules_of_something_else(self):
        with pytest.raises(TypeError, match="'rules' of a RuleEnsemble must be Rule objects"):
            RuleEnsemble((Query(),))

    def test_intercept_type(self):
        with pytest.raises(TypeError, match="'intercept' of a RuleEnsemble must be a number"):
            RuleEnsemble((), None)

    def test_rule_about_an_unknown_feature(self):
        with pytest.raises(ValueError, match="Got a rule about 'mark'"):
            RuleEnsemble((rule(1.0, X_IS),), feature_names=("age",))


def random_rules(rng, columns):
    """Rules about a table with numbers, texts and missing values, with repeated conditions."""
    propositions = [Proposition(name, "is missing") for name in columns]
    propositions += [Proposition("number", relation, 0.25) for relation in ("<=", ">")]
    propositions += [Proposition("count", ">", threshold) for threshold in (1, 3)]
    propositions += [Proposition("mark", relation, "b") for relation in ("==", "!=")]
    propositions += [Proposition("flag", "==", True)]
    return tuple(
        rule(rng.normal(), *rng.choice(np.array(propositions, dtype=object), rng.integers(0, 4)))
        for _ in range(12)
    )


@pytest.mark.parametrize("n_rows", [1, 9, 10, 47])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_raw_predictions_do_not_depend_on_blocks(make, n_rows, monkeypatch):
    rng = np.random.default_rng(n_rows)
    number = rng.normal(size=n_rows)
    number[rng.random(n_rows) < 0.3] = np.nan
    X = make(
        {
            "number": number,
            "count": rng.integers(0, 5, n_rows),
            # All values of the first block are missing.
            "mark": [None if i < 10 else "abc"[i % 3] for i in range(n_rows)],
            "flag": rng.random(n_rows) < 0.5,
        }
    )
    ensemble = RuleEnsemble(random_rules(rng, ["number", "count", "mark", "flag"]), 0.1)
    expected = np.full(n_rows, 0.1)
    for each in ensemble:
        expected = expected + each.raw_predictions(X)
    monkeypatch.setattr(rules_module, "BLOCK_SIZE", 10)
    assert_array_equal(ensemble.raw_predictions(X), expected)
    *_, last = ensemble.staged_raw_predictions(X)
    assert_array_equal(last, expected)


@pytest.mark.parametrize("n_rows", [0, 1])
def test_unknown_column(n_rows):
    with pytest.raises(ValueError, match="no column 'b'"):
        RuleEnsemble((rule(1.0, Proposition("b", ">", 0)),)).raw_predictions(
            pd.DataFrame({"a": np.zeros(n_rows)})
        )


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_raw_predictions_for_arrays_do_not_depend_on_blocks(dtype, order, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.array(rng.integers(0, 2, (47, 3)), dtype=dtype, order=order)
    names = ("a", "b", "c")
    ensemble = RuleEnsemble(
        tuple(rule(rng.normal(), Proposition(rng.choice(names), ">", 0.5)) for _ in range(5)),
        feature_names=names,
    )
    expected = ensemble.raw_predictions(X)
    monkeypatch.setattr(rules_module, "BLOCK_SIZE", 10)
    assert_array_equal(ensemble.raw_predictions(X), expected)
    assert_array_equal(ensemble.raw_predictions(X.astype(object)), expected)


NUMBERS = st.none() | st.sampled_from([-1.5, 0.0, 1.0, 2.0])


@given(st.lists(NUMBERS, min_size=1), st.sampled_from(RELATIONS), st.sampled_from([0.0, 1.0, 1.25]))
def test_coverage_is_pythons_comparison(cells, relation, value):
    expected = {
        "<=": [cell is not None and cell <= value for cell in cells],
        ">": [cell is not None and cell > value for cell in cells],
        "==": [cell is not None and cell == value for cell in cells],
        "!=": [cell is not None and cell != value for cell in cells],
        "is missing": [cell is None for cell in cells],
        "is present": [cell is not None for cell in cells],
    }[relation]
    proposition = Proposition("a", relation, None if relation.startswith("is") else value)
    frame = pl.DataFrame({"a": cells}, schema={"a": pl.Float64})
    for X in (frame, frame.to_arrow(), frame.to_pandas(), frame.to_pandas().astype("category")):
        assert proposition.covered(X).tolist() == expected
