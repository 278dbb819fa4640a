"""Conditions written by people."""

from datetime import date, datetime, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from problems import random_table

from laconic import Condition, Query, Rule, RuleBoostingRegressor
from laconic.candidates.candidates import candidate_conditions
from laconic.tables.tables import as_table
from laconic.tables.times import DATE_PARTS, DAY
from laconic.terms.conditions import by_feature
from laconic.terms.formatting import format_conditions
from laconic.terms.parsing import Feature, as_query, features_of, parse_query

NAMES = ["age", "age at entry", "sex", "a & b", "rooms and baths", "not seen", "paid", "n"]
KINDS = {"paid": "boolean", "n": "integer"}


def describe(name):
    if name == "sex":
        return Feature(name, True, ("f", "m", "São Paulo", "30"))
    return Feature(name, False, None, KINDS.get(name))


def p(*condition):
    return Condition(*condition)


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("always", []),
        ("age > 65", [p("age", ">", 65)]),
        ("  age<=6.5e1  ", [p("age", "<=", 65)]),
        ("age ≤ −3", [p("age", "<=", -3)]),
        ('age > 65 & sex == "f"', [p("age", ">", 65), p("sex", "==", "f")]),
        ("age > 65 and sex != f", [p("age", ">", 65), p("sex", "!=", "f")]),
        ("sex = São Paulo & age > 1", [p("sex", "==", "São Paulo"), p("age", ">", 1)]),
        ("sex == 30", [p("sex", "==", "30")]),
        ("age at entry > 3", [p("age at entry", ">", 3)]),
        ("'a & b' > 3", [p("a & b", ">", 3)]),
        ("rooms and baths > 3 and age > 2", [p("rooms and baths", ">", 3), p("age", ">", 2)]),
        ("18 < age <= 65", [p("age", ">", 18), p("age", "<=", 65)]),
        ("18 < age", [p("age", ">", 18)]),
        ("age is missing", [p("age", "is missing")]),
        ("age is  present & sex is not missing", [p("age", "is present"), p("sex", "is present")]),
        ("not paid", [p("paid", "<=", 0)]),
        ("paid & not seen > 2", [p("paid", ">", 0), p("not seen", ">", 2)]),
        ("n >= 3 & n < 5", [p("n", ">", 2), p("n", "<=", 4)]),
        ("n == 7", [p("n", ">", 6), p("n", "<=", 7)]),
        ("age < 65", [p("age", "<=", np.nextafter(65, 0))]),
        ("age > 3 & age > 3", [p("age", ">", 3)]),
    ],
)
def test_conditions_are_read(text, conditions):
    assert parse_query(text, NAMES, describe) == Query(tuple(conditions))


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("agee > 65", "There is no feature 'agee'. Did you mean 'age'?", 0),
        ("age > 65 & zzzz > 3", "There is no feature 'zzzz'. There are 'a & b', 'age'", 11),
        ("age > x", "Expected a number", 6),
        ("age 65", "There is no feature 'age 65'. Did you mean 'age'?", 0),
        ("age > 65 sex == f", "Expected '&' or the end of the rule", 9),
        ("age > 65 &", "Expected the name of a feature", 10),
        ("sex > 3", "'sex' holds texts, which have no order: write '==' or '!='", 4),
        ("sex == g", "'sex' has no category 'g'. There are 'f', 'm', 'São Paulo' and '30'", 7),
        ("sex == Sao Paulo", "'sex' has no category 'Sao Paulo'. Did you mean 'São Paulo'?", 7),
        ("age == 'old'", "'age' holds numbers, no texts", 7),
        ("sex ==", "Expected a value", 6),
        ("3 < age > 5", "Expected '<=' or '<'", 9),
        ("n", "Expected a relation such as '>' after 'n'", 1),
    ],
)
def test_errors_say_what_is_wrong_and_where(text, message, place):
    with pytest.raises(ValueError, match="\n") as error:
        parse_query(text, NAMES, describe)
    first, line, mark = str(error.value).split("\n")
    assert first.startswith(message)
    assert line == f"  {text}"
    assert mark.index("^") - 2 == place


def test_what_models_print_is_read():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = random_table(rng, 20)
        table = as_table(X, [f"f {i}" for i in range(X.shape[1])])
        candidates = candidate_conditions(table, max_thresholds=3)
        known = candidates.conditions
        if not known:
            continue
        some = rng.choice(len(known), min(3, len(known)), replace=False)
        query = Query(tuple(known[i] for i in sorted(some)))
        for kinds in ({}, candidates.feature_kinds):
            text = " & ".join(format_conditions(query.conditions, kinds))
            read = parse_query(text, table.feature_names, features_of(table))
            assert (read.covered(table) == query.covered(table)).all(), text


HOSTILE_NAMES = (
    *("size", "size not", "size is", "size in", "size is missing", "not size", "not", "NOT", "in"),
    *(
        "is missing",
        "always",
        "and",
        "a and b",
        "a & b",
        "a",
        "b",
        "a ≤ b",
        "size in {S, M}",
        "size in {M}",
        "x}",
    ),
    *("size > 3", "'size'", '"', 'it\'s "so"', "back\\slash", "line\nbreak", " blank ", "", "\t"),
    *("5", "-1e3", "nan", "2024-03-01", "2024-03-01 12:30", "12:30", "5 d", "M", "weekday of day"),
    *("hour of", "größe 😀", "True", "None", "a == b", "a is present & b"),
)
HOSTILE_TEXTS = (
    *("S", "M", "size", "and", "not", "5", "nan", "True", "2024-03-01x", "12:30", "5 d", "", " "),
    *("a, b", "}", "{x}", "'", '"', "it's", "\n", "x & y", "a <= b", "− 3", "é", "always"),
)
N_ROWS = 40


def columns_of_every_kind(rng):
    """Return one column of each kind, each with a missing value."""

    def some(values):
        return [None, *(values[i] for i in rng.integers(len(values), size=N_ROWS - 1))]

    texts = [str(text) for text in rng.permutation(HOSTILE_TEXTS)[:6]]
    days = [date(1900, 1, 1) + timedelta(int(n)) for n in rng.integers(0, 80_000, 9)]
    moments = [
        datetime(1968, 2, 29) + timedelta(microseconds=int(n)) for n in rng.integers(0, 2**51, 9)
    ]
    clocks = [
        (datetime.min + timedelta(microseconds=int(n))).time() for n in rng.integers(0, DAY, 9)
    ]
    spans = [timedelta(microseconds=int(n)) for n in rng.integers(-(2**52), 2**52, 5)]
    spans += [timedelta(minutes=int(n)) for n in rng.integers(-99, 99, 4)]
    whole = [int(n) for n in rng.integers(-3, 4, 5)]
    return [
        pd.Series(some([*rng.normal(size=5).tolist(), 1e22, -5e-324, 123456.75]), dtype=float),
        pd.Series(some(whole), dtype=float),
        pd.Series(some([0, 1]), dtype=float),
        pd.Series(some([2**60, 2**60 + 2**8, 0]), dtype=float),
        pd.Series(some([True, False]), dtype=object),
        pd.Series(some(texts), dtype=object),
        pd.Series(some(texts), dtype="category"),
        pd.Series(some(texts), dtype=pd.CategoricalDtype([*texts, "unused"], ordered=True)),
        pd.Series(some(texts), dtype=pd.CategoricalDtype([*texts, "unused"], ordered=False)),
        pd.Series(some([3, 1, 2**60 + 1]), dtype=pd.CategoricalDtype([3, 1, 2**60 + 1])),
        pd.Series(some(days), dtype="M8[us]"),
        pd.Series(some(moments), dtype="M8[us]"),
        pd.Series(some([str(day) for day in days]), dtype=object),
        pd.Series(some([str(moment) for moment in moments]), dtype=object),
        pd.Series(some(clocks), dtype=object),
        pd.Series(some(spans), dtype="m8[us]"),
    ]


@pytest.mark.parametrize("seed", range(12))
def test_every_condition_that_is_printed_is_read(seed):
    """Thresholds of ordered categories were once printed as ``size <= M``, but not read."""
    rng = np.random.default_rng(seed)
    columns = columns_of_every_kind(rng)
    names = rng.permutation(len(HOSTILE_NAMES))[: len(columns)]
    X = pd.DataFrame({HOSTILE_NAMES[n]: column for n, column in zip(names, columns, strict=True)})
    table = as_table(X)
    ordered = [
        HOSTILE_NAMES[n] for n, column in zip(names, columns, strict=True) if rng.random() < 0.5
    ]
    candidates = candidate_conditions(
        X,
        categories=["values", "sets"][seed % 2],
        max_categories=[None, 3][seed % 3 > 0],
        categorical_features=dict.fromkeys(ordered, "ordered"),
        date_parts=DATE_PARTS,
        max_thresholds=4,
        orders=[(rng.normal(size=N_ROWS), None)],
    )
    grouped = by_feature(candidates.conditions)
    exact = [
        Condition(p.feature, relation, p.value)
        for p in candidates.conditions
        if p.relation == "<="
        for relation in ("==", "!=")
    ]
    queries = [[p] for p in (*candidates.conditions, *exact)]
    # Two conditions on a feature may be an interval or a set, and are read beside those on others.
    for conditions in grouped.values():
        for _ in range(4):
            others = grouped[list(grouped)[rng.integers(len(grouped))]]
            picks = [*rng.choice(len(conditions), 2), rng.integers(len(others))]
            queries.append([conditions[picks[0]], conditions[picks[1]], others[picks[2]]])
    describe = features_of(table)
    for query in queries:
        for kinds in ({}, candidates.feature_kinds):
            text = " & ".join(format_conditions(query, kinds))
            read = parse_query(text, table.feature_names, describe)
            assert (read.covered(table) == Query(tuple(query)).covered(table)).all(), text


@pytest.mark.parametrize("values", [[0.0, 1.0, None], ["M", "size", "5 d", None], [1.0, 2.5, None]])
def test_names_are_told_apart_from_conditions(values):
    rng = np.random.default_rng(0)
    cells = {
        name: [values[i] for i in rng.integers(len(values), size=30)] for name in HOSTILE_NAMES
    }
    X = pd.DataFrame(cells)
    table = as_table(X)
    candidates = candidate_conditions(
        X, categories="sets", categorical_features=dict.fromkeys(X.columns[::2], "ordered")
    )
    queries = [[p] for p in candidates.conditions]
    queries += [[p, q] for p, q in pairwise(candidates.conditions)]
    describe = features_of(table)
    for query in queries:
        for kinds in ({}, candidates.feature_kinds):
            text = " & ".join(format_conditions(query, kinds))
            read = parse_query(text, table.feature_names, describe)
            assert (read.covered(table) == Query(tuple(query)).covered(table)).all(), text


@pytest.mark.parametrize("declared", ["category", "object"])
def test_rules_of_models_told_of_an_order_can_be_given_again(declared):
    rng = np.random.default_rng(0)
    order = ["d", "c", "b", "a"] if declared == "category" else ["a", "b", "c", "d"]
    size = rng.choice(order, 200)
    dtype = pd.CategoricalDtype(order) if declared == "category" else object
    X = pd.DataFrame({"size": pd.Series(size, dtype=dtype)})
    y = 2.0 * np.isin(size, order[:2]) + rng.normal(size=200)
    model = RuleBoostingRegressor(1, categorical_features={"size": "ordered"}).fit(X, y)
    [text] = model.ensemble_.condition_texts(model.ensemble_.terms[0].query)
    assert text in (f"size <= {order[1]}", f"size > {order[1]}")
    covered = model.ensemble_.terms[0].query.covered(X)
    given = RuleBoostingRegressor(
        1, categorical_features={"size": "ordered"}, initial_terms=[text]
    ).fit(X, y)
    assert (given.ensemble_.terms[0].query.covered(X) == covered).all()
    forced = model.edit(X, y, drop=[1], force=[text])
    assert (forced.ensemble_.terms[0].query.covered(X) == covered).all()
    other = RuleBoostingRegressor(
        1, categorical_features={"size": "ordered"}, excluded_terms=[text]
    ).fit(X, y)
    assert (other.ensemble_.terms[0].query.covered(X) != covered).any()


def test_rules_and_queries_are_taken_as_they_are():
    query = Query((p("age", ">", 65),))
    for rule in (query, Rule(query, 1.0), query.conditions[0], "age > 65"):
        assert as_query(rule, NAMES, describe) == query
    with pytest.raises(TypeError, match="A rule must be a text such as"):
        as_query(3, NAMES, describe)
    with pytest.raises(ValueError, match=r"which is not a feature\. Did you mean 'age'"):
        as_query(Query((p("agee", ">", 65),)), NAMES, describe)


def test_sets_dates_and_orders_are_read():
    table = as_table(
        pd.DataFrame(
            {
                "region": ["N", "NE", "S", None],
                "signed up": pd.to_datetime(["2024-01-01", "2024-02-29", "2024-03-01", None]),
                "at": pd.to_datetime(
                    ["2024-01-01T12:30", "2024-02-29T00:00", "2024-03-01T00:00", None]
                ),
                "wait": pd.to_timedelta([30, 60, 90, 120], unit="min"),
                "size": pd.Categorical(["S", "M", "L", "S"], ["S", "M", "L"], ordered=True),
            }
        )
    )
    for text, covered in {
        "region in {N, 'NE'}": [1, 1, 0, 0],
        "region not in {N}": [0, 1, 1, 0],
        "signed up > 2024-02-29": [0, 0, 1, 0],
        "signed up >= 2024-02-29": [0, 1, 1, 0],
        "signed up < 2024-02-29": [1, 0, 0, 0],
        "2024-01-01 < signed up <= 2024-02-29": [0, 1, 0, 0],
        "at <= 2024-01-01 12:30": [1, 0, 0, 0],
        "at < 2024-01-01 12:30 & region == N": [0, 0, 0, 0],
        "wait > 1 h": [0, 0, 1, 1],
        "weekday of signed up in {Thu, Fri}": [0, 1, 1, 0],
        "size <= M": [1, 1, 0, 1],
        "S < size <= L": [0, 1, 1, 0],
        "size < M": [1, 0, 0, 1],
    }.items():
        query = parse_query(text, table.feature_names, features_of(table))
        assert query.covered(table).tolist() == covered, text
    with pytest.raises(ValueError, match="Expected a date: 2024-03-01"):
        parse_query("signed up > soon", table.feature_names, features_of(table))
