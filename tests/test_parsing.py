"""Conditions written by people."""

import numpy as np
import pandas as pd
import pytest

from laconic import Proposition, Query, Rule
from laconic.candidates import candidate_propositions
from laconic.data.tables import as_table
from laconic.model.formatting import format_conditions
from laconic.model.parsing import Feature, as_query, features_of, parse_query
from problems import random_table

NAMES = ["age", "age at entry", "sex", "a & b", "rooms and baths", "not seen", "paid", "n"]
KINDS = {"paid": "boolean", "n": "integer"}


def describe(name):
    if name == "sex":
        return Feature(name, True, ("f", "m", "São Paulo", "30"))
    return Feature(name, False, None, KINDS.get(name))


def p(*condition):
    return Proposition(*condition)


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
        candidates = candidate_propositions(table, max_thresholds=3)
        propositions = candidates.propositions
        if not propositions:
            continue
        some = rng.choice(len(propositions), min(3, len(propositions)), replace=False)
        query = Query(tuple(propositions[i] for i in sorted(some)))
        for kinds in ({}, candidates.feature_kinds):
            text = " & ".join(format_conditions(query.propositions, kinds))
            read = parse_query(text, table.feature_names, features_of(table))
            assert (read.covered(table) == query.covered(table)).all(), text


def test_rules_and_queries_are_taken_as_they_are():
    query = Query((p("age", ">", 65),))
    for rule in (query, Rule(query, 1.0), query.propositions[0], "age > 65"):
        assert as_query(rule, NAMES, describe) == query
    with pytest.raises(TypeError, match="A rule must be a text such as"):
        as_query(3, NAMES, describe)
    with pytest.raises(ValueError, match=r"which is no feature\. Did you mean 'age'"):
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
