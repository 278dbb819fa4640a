"""Tables in parts, reduced to the rows that rules can tell apart."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from functools import reduce
from itertools import chain

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic import Condition
from laconic.candidates.candidates import candidate_conditions, given_candidates
from laconic.candidates.distinct_rows import ConditionOptions, Roles, bins, reduce_source
from laconic.candidates.distinct_rows.exact_sums import Units
from laconic.candidates.distinct_rows.reduce import Collector, make_plan, reduce_partition
from laconic.candidates.distinct_rows.summary import (
    TableSummary,
    ValueCounts,
    keys_of,
    numbers_of,
    partition_summary,
)
from laconic.tables.sources.sources import FrameSource, scan

FEATURES = ("number", "few", "text", "flag", 'odd name, "quoted"')


@st.composite
def tables(draw, max_rows=40):
    n_rows = draw(st.integers(1, max_rows))

    def column(values):
        return draw(st.lists(values, min_size=n_rows, max_size=n_rows))

    floats = st.floats(-1e6, 1e6, allow_subnormal=False)
    return pl.DataFrame(
        {
            "number": column(st.none() | floats),
            "few": column(st.sampled_from([0, 1, 1, 2, 5])),
            "text": column(st.none() | st.sampled_from(["", "a", "b", "é", "nan"])),
            "flag": column(st.none() | st.booleans()),
            FEATURES[-1]: column(st.none() | st.just(3.5)),
            "class": column(st.sampled_from(["no", "yes"])),
            "target": column(floats),
            "weight": column(st.sampled_from([0.0, 0.1, 1.0, 2.5])),
        },
        schema_overrides={"number": pl.Float64, "text": pl.String, "flag": pl.Boolean}
        | {FEATURES[-1]: pl.Float64},
    )


def roles_for(kept, weight=None):
    return Roles("class" if kept == "classes" else "target", FEATURES, weight, kept)


def in_parts(frame, cuts, roles, max_thresholds=7):
    return reduce_source(Parts(frame, cuts), roles, ConditionOptions(max_thresholds))


class Parts(FrameSource):
    """A table cut at given rows, whose parts come in another order."""

    def __init__(self, frame, cuts):
        super().__init__(frame)
        self.cuts = [0, *sorted(cuts), frame.height]

    def parts(self, columns):
        for start, stop in reversed([*zip(self.cuts, self.cuts[1:], strict=False)]):
            yield self.frame[start:stop].select(*columns).to_native()


@settings(max_examples=60, deadline=None)
@given(tables(), st.data(), st.sampled_from(["classes", "means", "values"]), st.booleans())
def test_parts_give_what_the_whole_table_gives(frame, data, kept, has_weights):
    if has_weights and not frame["weight"].to_numpy().any():
        return
    roles = roles_for(kept, "weight" if has_weights else None)
    max_thresholds = data.draw(st.sampled_from([1, 3, 7, None]))
    whole = in_parts(frame, [], roles, max_thresholds)
    cuts = data.draw(st.lists(st.integers(0, frame.height), max_size=5))
    parts = in_parts(frame, cuts, roles, max_thresholds)
    assert parts.conditions == whole.conditions
    assert parts.kinds == whole.kinds
    np.testing.assert_array_equal(parts.rows.keys, whole.rows.keys)
    np.testing.assert_array_equal(parts.rows.amounts, whole.rows.amounts)
    assert parts.rows.n_rows == frame.height


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from(["classes", "means", "values"]), st.booleans())
def test_relations_of_duckdb_give_the_same(frame, kept, has_weights):
    if has_weights and not frame["weight"].to_numpy().any():
        return
    roles = roles_for(kept, "weight" if has_weights else None)
    known = in_parts(frame, [], roles)
    source = scan(duckdb.sql("SELECT * FROM frame"))
    found = reduce_source(source, roles, ConditionOptions(7))
    assert found.conditions == known.conditions
    assert found.kinds == known.kinds
    np.testing.assert_array_equal(found.rows.amounts, known.rows.amounts)
    np.testing.assert_array_equal(found.rows.weights(), known.rows.weights())
    np.testing.assert_array_equal(found.rows.target(), known.rows.target())
    np.testing.assert_array_equal(
        found.candidates().covered(),
        known.candidates().covered(),
    )


@settings(max_examples=60, deadline=None)
@given(tables(), st.booleans(), st.sampled_from([1, 3, 7, None]))
def test_conditions_are_those_of_a_table_in_memory(frame, has_weights, max_thresholds):
    weights = frame["weight"].to_numpy() if has_weights else None
    if has_weights and not weights.any():
        return
    known = candidate_conditions(
        frame.select(FEATURES), max_thresholds=max_thresholds, sample_weight=weights
    )
    roles = roles_for("classes", "weight" if has_weights else None)
    found = in_parts(frame, [frame.height // 2], roles, max_thresholds)
    assert found.conditions == known.conditions
    assert found.kinds == known.feature_kinds


@settings(max_examples=40, deadline=None)
@given(tables())
def test_sums_over_what_a_condition_covers_stay_the_same(frame):
    weights, targets = frame["weight"].to_numpy(), frame["target"].to_numpy()
    if not weights.any():
        return
    found = in_parts(frame, [1], roles_for("means", "weight"))
    all_rows = given_candidates(frame, found.conditions) if found.conditions else None
    reduced = found.candidates()
    for position in range(len(found.conditions)):
        before, after = all_rows.covered()[position], reduced.covered()[position]
        assert found.rows.weights()[after].sum() == pytest.approx(weights[before].sum())
        sums = (found.rows.weights() * found.rows.target())[after].sum()
        assert sums == pytest.approx((weights * targets)[before].sum(), abs=1e-8)


def test_rows_of_the_reduced_table_satisfy_the_same_conditions():
    frame = pl.DataFrame(
        {"x": [1.0, 2.0, 3.0, None], "c": ["a", "b", None, "a"], "class": ["u", "v", "u", "v"]}
    )
    roles = Roles("class", ("x", "c"))
    found = reduce_source(scan(frame), roles, ConditionOptions(7))
    reduced = given_candidates(found.rows.table(), found.conditions)
    np.testing.assert_array_equal(reduced.covered(), found.candidates().covered())


def test_many_numbers_are_looked_into_until_thresholds_are_exact(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=3000), 1e9 + rng.random(3000), np.zeros(1000)])
    frame = pl.DataFrame({"x": rng.permutation(x), "class": rng.integers(0, 2, len(x))})
    known = candidate_conditions(frame.select("x"), max_thresholds=15)
    of, merge = ValueCounts.of.__func__, ValueCounts.merge
    monkeypatch.setattr(ValueCounts, "of", classmethod(lambda *args: of(*args, max_ranges=40)))
    monkeypatch.setattr(ValueCounts, "merge", lambda *args: merge(*args, max_ranges=40))
    steps = []
    found = reduce_source(
        scan(frame, rows_per_part=700),
        Roles("class", ("x",)),
        ConditionOptions(15),
        lambda progress: steps.append(progress.step),
    )
    assert found.conditions == known.conditions
    assert "thresholds" in steps


def test_too_many_numbers_for_all_thresholds_are_refused(monkeypatch):
    monkeypatch.setattr(ValueCounts.of.__func__, "__defaults__", (10,))
    frame = pl.DataFrame({"x": range(100), "class": [0, 1] * 50})
    with pytest.raises(ValueError, match="different values, too many for"):
        reduce_source(scan(frame), Roles("class", ("x",)), ConditionOptions(None))
    assert bins.MAX_RANGES > 10


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20), min_size=1)
)
def test_ranges_do_not_depend_on_the_order(lists):
    def counted(parts):
        looks = [
            ValueCounts.of(keys_of(np.array(part)), np.ones((len(part), 1), np.int64), 5)
            for part in parts
        ]
        return reduce(lambda one, other: one.merge(other, 5), looks)

    one, other = counted(lists), counted([[*chain(*lists)]])
    for name in ("shift", "first", "last", "amounts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_keys_are_in_the_order_of_numbers(numbers):
    numbers = np.array(numbers)
    keys = keys_of(numbers)
    np.testing.assert_array_equal(numbers_of(keys), numbers + 0.0)
    np.testing.assert_array_equal(np.sort(numbers) + 0.0, numbers_of(np.sort(keys)))


@given(
    st.lists(st.floats(-1e300, 1e300) | st.floats(-1, 1), min_size=1, max_size=50),
    st.sampled_from([1, 10**6, 2 * 10**9]),
)
def test_sums_are_exact(numbers, n_times):
    values = np.array(numbers)
    units = Units.for_terms(float(np.abs(values).max()), len(values) * n_times)
    counts = units.count(values)
    total = units.total(counts.sum(axis=0))
    exact = math.fsum(numbers)
    # Half a fine unit for each term: 2**-51 of the largest one for 10**11 terms.
    resolution = 2.0 ** (units.fine - 1)
    assert total == pytest.approx(exact, rel=1e-15, abs=len(values) * resolution)
    shuffled = np.random.default_rng(0).permutation(counts).sum(axis=0)
    assert units.total(shuffled) == total


def test_wide_rows_take_keys_of_several_numbers():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({f"x{i}": rng.integers(0, 9, 300) for i in range(40)})
    frame = frame.with_columns(pl.Series("class", rng.integers(0, 3, 300)))
    names = tuple(frame.columns[:-1])
    found = reduce_source(scan(frame), Roles("class", names), ConditionOptions(7))
    assert found.rows.keys.shape[1] > 1
    known = np.sort(candidate_conditions(frame.select(names)).covered().sum(axis=1))
    weights = found.rows.weights()
    reduced = found.candidates().covered()
    np.testing.assert_array_equal(np.sort(reduced @ weights), known)
    assert set(found.rows.target()) == {0, 1, 2}


def test_parts_and_plans_can_be_pickled():
    frame = pl.DataFrame({"x": [1, 2, 3], "class": ["a", "b", "a"]})
    roles = Roles("class", ("x",))
    summary = pickle.loads(pickle.dumps(partition_summary(frame, roles)))
    plan, _, _ = make_plan(summary, roles, ConditionOptions(7))
    part = pickle.loads(pickle.dumps(reduce_partition(frame, pickle.loads(pickle.dumps(plan)))))
    assert len(Collector().add(part).add(part).total()) == 3


def test_given_conditions_and_those_of_earlier_rules_tell_rows_apart():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "class": ["a", "a", "b", "b"]})
    roles = Roles("class", ("x",))
    own = [Condition("x", "==", 2), Condition("x", "!=", 4.0)]
    found = reduce_source(scan(frame), roles, ConditionOptions(7, given=own))
    assert found.conditions == (*own,)
    covered = found.candidates().covered()
    assert (covered @ found.rows.weights()).tolist() == [1.0, 3.0]
    found = reduce_source(scan(frame), roles, ConditionOptions(1, known=own))
    assert len(found.rows) == 4


@pytest.mark.parametrize(
    ("columns", "roles", "message"),
    [
        ({"x": [1, 2], "y": ["a", None]}, {}, "target 'y' must have a value in every row"),
        ({"x": [1, 2], "y": ["a", "b"]}, {"kept": "means"}, "must hold numbers. Got text, such as"),
        ({"x": [1, 2], "y": [0, 1], "w": [1, -1]}, {"weight": "w"}, "finite and not negative"),
        ({"x": [1, 2], "y": [0, 1], "w": ["a", "b"]}, {"weight": "w"}, "finite and not negative"),
        ({"x": [1, 2], "y": [1e308, 0], "w": [9, 1]}, {"weight": "w", "kept": "means"}, "overflow"),
        ({"x": [*map(str, range(20_001))], "y": [1] * 20_001}, {}, "Column 'x' has more than"),
        ({"x": [1, 2], "y": [0, 1], "w": [0, 0]}, {"weight": "w"}, "no row that counts"),
        ({"x": [], "y": []}, {}, "no row that counts"),
        ({"x": [1] * 1001, "y": [*range(1001)]}, {}, "The target has more than 1,000 classes"),
    ],
)
def test_what_cannot_be_reduced_is_told(columns, roles, message):
    frame = pl.DataFrame(columns)
    with pytest.raises(ValueError, match=message):
        reduce_source(scan(frame), replace(Roles("y", ("x",)), **roles), ConditionOptions(7))


def test_parts_of_different_types_or_columns_are_refused():
    roles = Roles("y", ("x",))
    numbers = partition_summary(pl.DataFrame({"x": [1.0], "y": [0]}), roles)
    texts = partition_summary(pl.DataFrame({"x": ["a"], "y": [0]}), roles)
    with pytest.raises(TypeError, match="Column 'x' must hold either strings or numbers"):
        TableSummary.merge(numbers, texts)
    other = partition_summary(pl.DataFrame({"z": ["a"], "y": [0]}), Roles("y", ("z",)))
    with pytest.raises(ValueError, match="the same columns in the same order"):
        TableSummary.merge(numbers, other)


def test_a_table_that_changes_while_it_is_read_is_refused():
    frame = pl.DataFrame({"x": ["a", "b"], "y": [0, 1]})
    roles = Roles("y", ("x",))
    plan, _, _ = make_plan(partition_summary(frame, roles), roles, ConditionOptions(7))
    for changed in ({"x": ["c"], "y": [0]}, {"x": ["a"], "y": [2]}):
        with pytest.raises(ValueError, match="must stay the same while it is read"):
            reduce_partition(pl.DataFrame(changed), plan)
