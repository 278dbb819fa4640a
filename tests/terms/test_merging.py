"""Several conditions on the values of a feature as one, for every cell that there may be."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic import Condition, Query, RuleBoostingClassifier, RuleBoostingRegressor, RuleEnsemble
from laconic.tables.tables import as_table
from laconic.terms.formatting import merged
from laconic.terms.parsing import features_of, parse_query

# "new" and 7 stand for values that no condition names.
TEXTS, NUMBERS = ("u", "v", "w", "x"), (0, 1, 2.5, 2**53, 2**53 + 1)


def conditions_on(values):
    sets = st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple)
    return st.one_of(
        st.tuples(st.sampled_from(["==", "!="]), st.sampled_from(values)),
        st.tuples(st.sampled_from(["in", "not in"]), sets),
        st.tuples(st.sampled_from(["is missing", "is present"]), st.none()),
    )


def queries(feature, values):
    conditions = st.lists(conditions_on(values), max_size=5)
    return conditions.map(lambda pairs: Query(tuple(Condition(feature, *pair) for pair in pairs)))


@given(queries("a", TEXTS), queries("b", NUMBERS), st.randoms())
def test_merged_queries_cover_the_same_cells(texts, numbers, random):
    conditions = [*texts, *numbers]
    random.shuffle(conditions)
    query = Query(tuple(conditions))
    found = merged(query)
    frame = pl.DataFrame({"a": [*TEXTS, "new", None]}, schema={"a": pl.String})
    cells = [*NUMBERS, 7, None]
    tables = [
        frame.join(
            pl.DataFrame({"b": pl.Series(cells, dtype=pl.Float64, strict=False)}), how="cross"
        ),
        frame.join(pl.DataFrame({"b": pl.Series([True, False, None])}), how="cross"),
    ]
    for table in tables:
        np.testing.assert_array_equal(found.covered(table), query.covered(table))
    assert merged(found) == found
    assert len(found) <= len(query)
    if query.covered(tables[0]).any():
        about_a = [each for each in found if each.feature == "a"]
        assert len(about_a) <= 1


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ([("!=", "x"), ("in", ("x", "y", "z"))], "a in {y, z}"),
        ([("!=", "x"), ("!=", "y")], "a not in {x, y}"),
        ([("in", ("x", "y", "z")), ("in", ("w", "y", "z"))], "a in {y, z}"),
        ([("==", "x"), ("!=", "y")], "a == x"),
        ([("not in", ("x", "y")), ("in", ("x", "z"))], "a == z"),
        ([("is present", None), ("!=", "x")], "a != x"),
        ([("==", "x"), ("==", "y")], "a == x & a == y"),
        ([("is missing", None), ("!=", "x")], "a is missing & a != x"),
        ([("==", "x"), ("!=", 3)], "a == x & a != 3"),
        ([("==", 2**53), ("!=", 2**53 + 1)], f"a == {2**53} & a != {2**53 + 1}"),
        ([("==", date(2024, 3, 1)), ("!=", date(2024, 3, 2))], "a == 2024-03-01 & a != 2024-03-02"),
        ([(">", 1.0), ("!=", 2), ("<=", 3.0), ("!=", 2.5)], "1 < a <= 3 & a not in {2, 2.5}"),
    ],
)
def test_conditions_become_one(conditions, text):
    query = Query(tuple(Condition("a", *condition) for condition in conditions))
    assert str(merged(query)) == text
    assert str(query) == text  # also where nobody merged it


def test_single_conditions_stay_as_they_are():
    query = Query((Condition("a", "in", ("x",)), Condition("b", "!=", "x")))
    assert merged(query) == query


def test_neighbours_in_an_order_stay_an_interval():
    order = ("S", "M", "L", "XL", "XXL")
    query = Query((Condition("size", "in", order[1:]), Condition("size", "in", order[:4])))
    [condition] = merged(query)
    assert condition.value == ("L", "M", "XL")
    text = RuleEnsemble(feature_kinds={"size": order}).text(merged(query))
    assert text == "S < size <= XL"
    column = pl.Series("size", [*order], dtype=pl.Enum(order))
    table = as_table(
        pl.DataFrame([column]).to_pandas().assign(size=lambda frame: frame["size"].cat.as_ordered())
    )
    assert parse_query(text, ["size"], features_of(table)) == merged(query)
    apart = Query((Condition("size", "in", ("S", "L")),))
    assert RuleEnsemble(feature_kinds={"size": order}).text(apart) == "size in {L, S}"


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_rules_of_a_fit_have_one_condition_for_a_set(n_classes):
    """A rule read `area != a & area in {a, b, c}`: two conditions, one of them half idle."""
    rng = np.random.default_rng(0)
    area = rng.choice(list("abcdefgh"), 500)
    other = rng.choice(list("uv"), 500)
    score = np.isin(area, list("bcd")) * (1.0 + (other == "u")) + 0.5 * rng.normal(size=500)
    options = {"n_terms": 5, "strategy": "stagewise", "max_conditions": 4, "search": "greedy"}
    options["brevity"] = 0.0  # with a price, hardly any rule has two conditions for a set
    X = pl.DataFrame({"area": area, "other": other})
    if n_classes:
        y = np.minimum((score * 2).round().clip(0), n_classes - 1).astype(int)
        model = RuleBoostingClassifier(**options).fit(X, y)
    else:
        model = RuleBoostingRegressor(**options).fit(X, score)
    assert any(
        len(rule.query) < len(result.query)
        for rule, result in zip(model.ensemble_, model.search_results_, strict=True)
    )
    for rule in model.ensemble_:
        features = [condition.feature for condition in rule.query]
        assert len({*features}) == len(features)
        assert parse_query(model.ensemble_.text(rule.query), X.columns) == rule.query
