import copy
import pickle
from dataclasses import FrozenInstanceError

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from values import COLUMNS, OLD, TABLES, X_IS, YOUNG

from laconic.tables.tables import as_table
from laconic.terms import rules as rules_module
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, RuleEnsemble


@pytest.fixture(params=TABLES)
def table(request):
    return as_table(TABLES[request.param], list(COLUMNS))


def rule(weight, *conditions):
    return Rule(Query(conditions), weight)


class TestText:
    def test_rule(self):
        assert str(rule(1.18742, Condition("mid-mid", "==", "x"))) == "+1.187 if mid-mid == x"
        assert str(rule(22.4561)) == "+22.46 always"

    def test_ensemble(self):
        ensemble = RuleEnsemble((rule(16192, X_IS), rule(-0.5, OLD, YOUNG), rule(2.0)))
        assert str(ensemble).splitlines() == [
            "+16,192 if mark == x",
            "-0.5000 if 28 < age <= 28",
            " +2.000 always",
        ]

    def test_intercept_line(self):
        assert str(RuleEnsemble((rule(1.0, X_IS),), 0.3)) == (
            "+0.3000 (intercept)\n +1.000 if mark == x"
        )
        assert str(RuleEnsemble()) == "+0.000 (intercept)"

    def test_repr_shows_what_str_does(self):
        assert repr(X_IS) == "<Condition: mark == x>"
        assert repr(Query((X_IS, OLD))) == "<Query: mark == x & age > 28>"
        assert repr(Query()) == "<Query: always>"
        assert repr(rule(1.18742, X_IS)) == "<Rule: +1.187 if mark == x>"
        ensemble = RuleEnsemble((rule(1.0, X_IS, OLD), rule(2.0)), 0.5)
        assert repr(ensemble) == f"<RuleEnsemble: 2 rules, 2 conditions>\n{ensemble}"
        ensemble = RuleEnsemble((rule(1.0, X_IS),))
        assert repr(ensemble) == "<RuleEnsemble: 1 rule, 1 condition>\n+1.000 if mark == x"
        assert repr(RuleEnsemble()) == ("<RuleEnsemble: 0 rules, 0 conditions>\n+0.000 (intercept)")


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
        list(zip(VALUES, ("value", "conditions", "weight", "intercept"), strict=True)),
    )
    def test_immutable(self, value, attribute):
        with pytest.raises(FrozenInstanceError):
            setattr(value, attribute, None)
        assert not hasattr(value, "__dict__")

    def test_unequal(self):
        assert Condition("a", "<=", 1) != Condition("a", ">", 1)
        assert Query((X_IS, OLD)) != Query((OLD, X_IS))
        assert rule(1.0, X_IS) != rule(2.0, X_IS)
        assert RuleEnsemble(intercept=1.0) != RuleEnsemble()

    def test_sequences_become_tuples(self):
        assert Query([X_IS]) == Query((X_IS,))
        assert RuleEnsemble([rule(1.0)], feature_names=["a"]).feature_names == ("a",)


class TestRule:
    def test_raw_predictions(self, table):
        assert_array_equal(rule(-1.5, OLD).raw_predictions(table), [-1.5, 0.0, 0.0, 0.0])

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

    @pytest.mark.parametrize(
        ("feature_names", "used"),
        [(None, ["mark", "age"]), (("age", "other", "mark"), ["age", "mark"])],
    )
    def test_used_features(self, feature_names, used):
        rules = (rule(1.0, X_IS), rule(2.0, OLD, X_IS))
        assert RuleEnsemble(rules, feature_names=feature_names).used_features == used

    def test_sequence(self):
        assert len(self.ENSEMBLE) == self.ENSEMBLE.n_terms == 4
        assert self.ENSEMBLE.n_conditions == 4
        assert self.ENSEMBLE.conditions == [X_IS, OLD, YOUNG, X_IS]
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
        ensemble = RuleEnsemble((rule(1.0, Condition("b", ">", 1)),), feature_names=("a", "b"))
        X = np.array([[5.0, 0.0], [0.0, 5.0]])
        for unnamed in (X, as_table(X), pd.DataFrame(X), X.tolist()):
            assert_array_equal(ensemble.raw_predictions(unnamed), [0.0, 1.0])
            assert_array_equal(ensemble.covered(unnamed), [[False], [True]])
            assert_array_equal(next(ensemble.staged_raw_predictions(unnamed)), [0.0, 1.0])

    def test_without_feature_names_arrays_are_numbered(self):
        ensemble = RuleEnsemble((rule(1.0, Condition("x1", ">", 1)),))
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

    def test_terms_of_something_else(self):
        with pytest.raises(TypeError, match="'terms' of a RuleEnsemble must be Rule or Slope"):
            RuleEnsemble((Query(),))

    def test_intercept_type(self):
        with pytest.raises(TypeError, match="'intercept' of a RuleEnsemble must be a number"):
            RuleEnsemble((), None)

    def test_term_about_an_unknown_feature(self):
        with pytest.raises(ValueError, match="Got a term with 'mark'"):
            RuleEnsemble((rule(1.0, X_IS),), feature_names=("age",))


def random_rules(rng, columns):
    """Rules about a table with numbers, texts and missing values, with repeated conditions."""
    conditions = [Condition(name, "is missing") for name in columns]
    conditions += [Condition("number", relation, 0.25) for relation in ("<=", ">")]
    conditions += [Condition("count", ">", threshold) for threshold in (1, 3)]
    conditions += [Condition("mark", relation, "b") for relation in ("==", "!=")]
    conditions += [Condition("flag", "==", True)]
    return tuple(
        rule(rng.normal(), *rng.choice(np.array(conditions, dtype=object), rng.integers(0, 4)))
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
        RuleEnsemble((rule(1.0, Condition("b", ">", 0)),)).raw_predictions(
            pd.DataFrame({"a": np.zeros(n_rows)})
        )


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_raw_predictions_for_arrays_do_not_depend_on_blocks(dtype, order, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.array(rng.integers(0, 2, (47, 3)), dtype=dtype, order=order)
    names = ("a", "b", "c")
    ensemble = RuleEnsemble(
        tuple(rule(rng.normal(), Condition(rng.choice(names), ">", 0.5)) for _ in range(5)),
        feature_names=names,
    )
    expected = ensemble.raw_predictions(X)
    monkeypatch.setattr(rules_module, "BLOCK_SIZE", 10)
    assert_array_equal(ensemble.raw_predictions(X), expected)
    assert_array_equal(ensemble.raw_predictions(X.astype(object)), expected)
