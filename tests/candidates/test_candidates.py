import itertools
import math
from decimal import ROUND_CEILING, Context, Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from laconic.candidates.candidates import (
    DEFAULT_MAX_THRESHOLDS,
    CandidateConditions,
    candidate_conditions,
    given_candidates,
)
from laconic.tables.thresholds import shortest_separator, shortest_separators
from laconic.terms.conditions import Condition

COLUMNS = {
    "age": [35.0, None, 20.0, 28.0, 20.0],
    "mark": ["x", "o", None, "b", "x"],
    "member": [True, False, False, True, True],
}

TABLES = {
    "numpy": np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object),
    "pandas": pd.DataFrame(COLUMNS, columns=list(COLUMNS)),
    "pandas nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
}


def texts(X, **options):
    return [str(p) for p in candidate_conditions(X, **options).conditions]


def column(*cells):
    return np.array([[cell] for cell in cells], dtype=object)


def n_digits(number):
    """Significant digits of the shortest text that reads back as the number."""
    digits = Decimal(repr(number)).normalize().as_tuple().digits
    return 0 if number == 0 else len(digits)


finite = st.floats(allow_nan=False, allow_infinity=False)


def test_separators_of_many_pairs_are_those_of_single_ones():
    rng = np.random.default_rng(0)
    powers = 10.0 ** np.arange(-15, 22)
    kinds = [
        rng.normal(size=300),
        rng.integers(-50, 50, 300),
        rng.integers(-(10**9), 10**9, 300),
        rng.integers(-(2**62), 2**62, 300),
        rng.normal(size=300).round(2),
        rng.normal(size=300).astype(np.float32),
        np.exp(rng.normal(scale=30, size=300)),
        -(10.0 ** rng.uniform(-320, 300, 300)),
        1e6 + 1e-6 * rng.normal(size=300),
        *(powers * (1 + n * 2**-52) for n in range(-2, 3)),
    ]
    for values in kinds:
        values = np.unique(np.asarray(values, dtype=np.float64))
        for step in (1, 2, 20):
            lows, highs = values[:-step], values[step:]
            expected = [*map(shortest_separator, lows.tolist(), highs.tolist())]
            assert [*map(repr, shortest_separators(lows, highs).tolist())] == [*map(repr, expected)]


class TestShortestSeparator:
    @pytest.mark.parametrize(
        ("low", "high", "threshold"),
        [
            (29, 31, 30),
            (29.4999, 30.2, 30),
            (18, 67, 40),
            (29, 30, 29),
            (-5, 100, 0),
            (0, 1, 0),
            (-0.0, 1, 0),
            (-1, 0, -0.5),
            (-31, -29, -30),
            (-30, -29, -30),
            (1, 4, 2),
            (-4, -1, -3),
            (0.1, 0.4, 0.2),
            (99, 101, 100),
            (99.5, 100, 99.7),
            (0.1, math.nextafter(0.1, 1), 0.1),
            (math.nextafter(0.1, 0), 0.1, math.nextafter(0.1, 0)),
            (math.nextafter(100, 0), 100, math.nextafter(100, 0)),
            (5e-324, 1e-323, 5e-324),
            (-5e-324, 0, -5e-324),
            (5e-324, 1, 0.5),
            (1.5e308, 1.7976931348623157e308, 1.6e308),
            (-1.7976931348623157e308, -1e308, -1e308 - 0.4e308),
            (2**53, 2**53 + 2, 2**53),
        ],
    )
    def test_examples(self, low, high, threshold):
        assert repr(shortest_separator(low, high)) == repr(float(threshold))

    @given(finite, finite)
    @example(5e-324, 1.7976931348623157e308)
    @example(-1.7976931348623157e308, -5e-324)
    def test_separates_with_the_fewest_digits(self, low, high):
        if low == high:
            return
        low, high = sorted((low, high))
        threshold = shortest_separator(low, high)
        assert low <= threshold < high
        for fewer in range(1, n_digits(threshold)):
            smallest = Context(prec=fewer, rounding=ROUND_CEILING).plus(Decimal(low))
            assert float(smallest) >= high

    @given(finite, st.integers(1, 3))
    @example(3.2370368029022634e-242, 1)
    @example(math.nextafter(1e23, 0), 2)
    @example(math.nextafter(2.0**-44, 0), 1)
    def test_few_doubles_apart(self, low, steps):
        doubles = [low]
        for _ in range(steps):
            doubles.append(math.nextafter(doubles[-1], math.inf))
        if math.isinf(doubles[-1]):
            return
        threshold = shortest_separator(low, doubles[-1])
        assert threshold in doubles[:-1]
        assert n_digits(threshold) == min(map(n_digits, doubles[:-1]))

    @given(finite, st.floats(1e-17, 10), st.integers(-3, 17))
    @example(0.3, 1e-6, 1)
    @example(9.9999999, 1e-7, 17)
    @example(1e22, 1e-9, 17)
    @example(1.0000001e-14, 1e-9, 17)
    def test_doubles_and_decimals_agree(self, low, width, n_decimals):
        low = round(low, n_decimals)
        high = low + width * abs(low)
        if not low < high < math.inf or low <= 0 < high:
            return
        (found,) = shortest_separators(np.array([low]), np.array([high])).tolist()
        assert repr(found) == repr(shortest_separator(low, high))

    @given(st.integers(-3000, 3000), st.integers(1, 3000), st.sampled_from([0, 1, 2, 3]))
    def test_definition_by_brute_force(self, low, width, n_decimals):
        scale = Decimal(10) ** -n_decimals
        low, high = low * scale, (low + width) * scale
        middle = (low + high) / 2
        # Decimals off this grid have more digits, or lie next to zero, far from the middle.
        grid = [low + scale / 10 * step for step in range(width * 10)]
        best = min(grid, key=lambda t: (n_digits(float(t)), abs(t - middle), t))
        assert shortest_separator(float(low), float(high)) == float(best)

    @pytest.mark.parametrize(
        ("low", "high"), [(1, 1), (2, 1), (np.nan, 1), (1, np.nan), (-np.inf, 1), (1, np.inf)]
    )
    def test_rejects(self, low, high):
        with pytest.raises(ValueError, match="must be finite with low < high"):
            shortest_separator(low, high)


class TestNumeric:
    def test_order(self):
        assert texts(column(1, 3, 2), max_thresholds=None) == [
            "x0 <= 1",
            "x0 > 1",
            "x0 <= 2",
            "x0 > 2",
        ]

    def test_quantiles(self):
        # A third of 9 rows is reached at 2, two thirds at 5.
        X = column(0, 1, 2, 3, 4, 5, 6, 7, 8)
        assert texts(X, max_thresholds=2)[::2] == ["x0 <= 2", "x0 <= 5"]

    def test_quantiles_on_one_value_merge(self):
        X = column(1, 5, 5, 5, 5, 5, 5, 5, 6, 7)
        assert texts(X, max_thresholds=2)[::2] == ["x0 <= 5"]

    def test_never_after_the_largest_value(self):
        X = column(1, 2, 3, 9, 9, 9, 9, 9, 9, 9)
        assert texts(X, max_thresholds=2) == []
        assert len(texts(X, max_thresholds=3)) == 2 * 3

    def test_default_number_of_thresholds(self):
        X = np.arange(1000.0)[:, np.newaxis]
        assert len(candidate_conditions(X)) == 2 * DEFAULT_MAX_THRESHOLDS
        assert len(candidate_conditions(X[: DEFAULT_MAX_THRESHOLDS + 1])) == (
            2 * DEFAULT_MAX_THRESHOLDS
        )

    def test_missing_rows_have_no_weight(self):
        X = column(None, None, None, None, None, 1, 2, 3)
        assert texts(X, max_thresholds=1)[:2] == ["x0 <= 2", "x0 > 2"]

    def test_missing_conditions_come_last(self):
        assert texts(column(1, None, 2)) == ["x0 <= 1", "x0 > 1", "x0 is missing", "x0 is present"]

    @pytest.mark.parametrize("cells", [(3, 3), (0.0, -0.0), (None, None), ()])
    def test_constant_gives_nothing(self, cells):
        candidates = candidate_conditions(np.array(cells, dtype=float).reshape(-1, 1))
        assert candidates.conditions == ()
        assert candidates.covered().shape == (0, len(cells))

    def test_constant_with_missing(self):
        assert texts(column(3, None)) == ["x0 is missing", "x0 is present"]

    @given(st.lists(finite, min_size=2, unique=True, max_size=12))
    def test_every_gap_is_separated(self, values):
        extents = candidate_conditions(
            np.array(values)[:, np.newaxis], max_thresholds=None
        ).covered()
        assert sorted(extents[::2].sum(axis=1)) == list(range(1, len(values)))
        assert_array_equal(extents[::2], ~extents[1::2])


class TestCategorical:
    def test_two_categories(self):
        assert texts(column("b", "a", "b")) == ["x0 == a", "x0 == b"]

    def test_booleans(self):
        assert texts(np.array([[True], [False]])) == ["x0 == False", "x0 == True"]
        assert texts(np.array([[True], [True]])) == []

    def test_three_categories(self):
        positive = ["x0 == a", "x0 == b", "x0 == c"]
        negative = ["x0 != a", "x0 != b", "x0 != c"]
        X = column("c", "a", "b")
        assert texts(X) == positive + negative
        assert texts(X, categories="equal") == positive

    def test_number_categories(self):
        X = pd.DataFrame({"a": pd.Categorical([30, 4])})
        assert texts(X) == ["a == 4", "a == 30"]

    def test_one_category(self):
        assert texts(column("a", "a")) == []
        assert texts(column("a", None)) == ["x0 == a", "x0 is missing", "x0 is present"]

    def test_missing(self):
        assert texts(column("a", "b", None)) == [
            "x0 == a",
            "x0 == b",
            "x0 is missing",
            "x0 is present",
        ]


@pytest.mark.parametrize("name", TABLES)
class TestEveryTable:
    def test_same_candidates(self, name):
        X = TABLES[name]
        if name == "numpy":
            X = pd.DataFrame(X, columns=list(COLUMNS))
        expected = candidate_conditions(TABLES["polars"])
        candidates = candidate_conditions(X)
        assert candidates.conditions == expected.conditions
        assert_array_equal(candidates.covered(), expected.covered())

    def test_extents_are_the_coverage_at_prediction(self, name):
        candidates = candidate_conditions(TABLES[name])
        assert len(candidates) == len(candidates.conditions) == 16
        assert candidates.covered().dtype == bool
        assert candidates.covered().shape == (16, 5)
        for condition, covered in zip(candidates.conditions, candidates.covered(), strict=True):
            assert_array_equal(condition.covered(TABLES[name]), covered)


cells = st.none() | st.sampled_from([-2.5, 0.0, 1.0, 1.5, 7.0, 100.0])
marks = st.none() | st.sampled_from("abcd")
weighted_rows = st.lists(st.tuples(cells, marks, st.integers(0, 4)), min_size=1, max_size=15)
limits = st.none() | st.integers(1, 4)


def table_and_weights(rows):
    X = pl.DataFrame(
        [row[:2] for row in rows], schema={"number": pl.Float64, "mark": pl.String}, orient="row"
    )
    return X, np.array([weight for *_, weight in rows])


class TestWeights:
    @given(weighted_rows, limits)
    def test_integer_weights_are_repeated_rows(self, rows, max_thresholds):
        X, weights = table_and_weights(rows)
        repeated = X[np.repeat(np.arange(len(rows)), weights)]
        expected = candidate_conditions(repeated, max_thresholds=max_thresholds)
        weighted = candidate_conditions(X, max_thresholds=max_thresholds, sample_weight=weights)
        assert weighted.conditions == expected.conditions
        repeats = weights[weights > 0]
        assert_array_equal(np.repeat(weighted.covered(), repeats, axis=1), expected.covered())

    @given(weighted_rows, limits)
    def test_zero_weights_are_dropped_rows(self, rows, max_thresholds):
        X, weights = table_and_weights(rows)
        weights = weights * 0.1
        expected = candidate_conditions(
            X.filter(weights > 0), max_thresholds=max_thresholds, sample_weight=weights[weights > 0]
        )
        weighted = candidate_conditions(X, max_thresholds=max_thresholds, sample_weight=weights)
        assert weighted.conditions == expected.conditions
        assert_array_equal(weighted.covered(), expected.covered())
        for condition, covered in zip(weighted.conditions, weighted.covered(), strict=True):
            assert_array_equal(condition.covered(X)[weights > 0], covered)

    @given(weighted_rows, limits, st.booleans())
    def test_no_condition_is_constant_on_counted_rows(self, rows, max_thresholds, negated):
        X, weights = table_and_weights(rows)
        extents = candidate_conditions(
            X,
            max_thresholds=max_thresholds,
            categories="values" if negated else "equal",
            sample_weight=weights,
        ).covered()
        assert extents.any(axis=1).all()
        assert not extents.all(axis=1).any()

    def test_heavy_rows_attract_thresholds(self):
        X = column(1, 2, 3, 4)
        assert texts(X, max_thresholds=1, sample_weight=[1, 1, 1, 1])[0] == "x0 <= 2"
        assert texts(X, max_thresholds=1, sample_weight=[3, 1, 1, 1])[0] == "x0 <= 1"
        assert texts(X, max_thresholds=1, sample_weight=[1, 1, 2, 1])[0] == "x0 <= 3"

    @pytest.mark.parametrize("weights", [[1, 1], [[1], [1], [1]], 1.0])
    def test_shape(self, weights):
        with pytest.raises(ValueError, match=r"one entry per row, shape \(3,\)"):
            candidate_conditions(column(1, 2, 3), sample_weight=weights)

    @pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
    def test_range(self, weight):
        with pytest.raises(ValueError, match="must be finite and not negative"):
            candidate_conditions(column(1, 2), sample_weight=[1.0, weight])


@pytest.mark.parametrize("max_thresholds", [0, -1, 2.0, "8", True])
def test_max_thresholds_is_checked(max_thresholds):
    required = r"'max_thresholds' must be an int in the range \[1, inf\) or None\."
    with pytest.raises(ValueError, match=f"{required} Got {max_thresholds!r}"):
        candidate_conditions(column(1, 2), max_thresholds=max_thresholds)


def test_features_in_column_order():
    X = pl.DataFrame({"b": [1, 2], "a": ["x", "y"], "c": [5, 5]})
    candidates = candidate_conditions(X, max_thresholds=np.int64(3))
    assert isinstance(candidates, CandidateConditions)
    features = [key for key, _ in itertools.groupby(p.feature for p in candidates.conditions)]
    assert features == ["b", "a"]


class TestGiven:
    @pytest.mark.parametrize("name", [name for name in TABLES if name != "numpy"])
    def test_order_and_coverage(self, name):
        conditions = [
            Condition("mark", "!=", "x"),
            Condition("age", ">", 25),
            Condition("age", "is missing"),
            Condition("mark", "==", "never seen"),
            Condition("member", "==", True),
        ]
        candidates = given_candidates(TABLES[name], conditions)
        assert candidates.conditions == tuple(conditions)
        for condition, covered in zip(conditions, candidates.covered(), strict=True):
            assert_array_equal(condition.covered(TABLES[name]), covered)

    @given(weighted_rows, limits)
    def test_same_as_candidates_made_from_the_table(self, rows, max_thresholds):
        X, weights = table_and_weights(rows)
        expected = candidate_conditions(X, max_thresholds=max_thresholds, sample_weight=weights)
        if len(expected) > 0:
            candidates = given_candidates(X, expected.conditions, sample_weight=weights)
            assert_array_equal(candidates.covered(), expected.covered())

    def test_unknown_feature(self):
        with pytest.raises(ValueError, match=r"no column 'agee'. Did you mean 'age'"):
            given_candidates(TABLES["pandas"], [Condition("agee", ">", 65)])

    def test_column_of_another_kind(self):
        with pytest.raises(TypeError, match="'mark > 65' needs a column of numbers"):
            given_candidates(TABLES["pandas"], [Condition("mark", ">", 65)])

    @pytest.mark.parametrize(
        ("conditions", "error", "got"),
        [
            ([], ValueError, "Got none at all. Pass None"),
            (["age > 65"], TypeError, "Got 'age > 65' among them. Write a condition as"),
            ("age > 65", TypeError, "Got 'age > 65' instead"),
            (None, TypeError, "Got None instead"),
        ],
    )
    def test_checks(self, conditions, error, got):
        with pytest.raises(error, match=f"must be a list or tuple of Condition objects. {got}"):
            given_candidates(TABLES["pandas"], conditions)


def test_more_conditions_than_memory_is_an_error(monkeypatch):
    monkeypatch.setattr("laconic.candidates.candidates.MAX_BYTES", 100)
    x = np.arange(100.0)[:, np.newaxis]
    assert len(candidate_conditions(x, max_thresholds=4)) == 8
    message = r"Got more than 8 conditions on 100 rows\. Set 'max_thresholds' to a number"
    with pytest.raises(ValueError, match=message):
        candidate_conditions(x, max_thresholds=None)
