"""The section of a report that says how sure the model is."""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from reports import passengers

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.report.charts import fan_chart, forest_chart


def words_of(page):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


@pytest.fixture(scope="module")
def asked():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["<b>a", "b", "c"])
    y = 2.0 * (X["<b>a"] > 0) + rng.normal(size=300)
    model = RuleBoostingRegressor(2).fit(X[:200], y[:200])
    model.chance(X[:200], y[:200], n_permutations=9)
    model.stability(X[:200], y[:200], n_resamples=3)
    model.effects(X[200:], y[200:])
    model.conformalize(X[:200], y[:200], cv=3)
    return model, X[200:], y[200:]


def test_answers_are_said_for_each_term(asked):
    model, X, y = asked
    report = model.report(X, y)
    content = report.to_dict()
    assert json.loads(report.to_json()) == content
    trust = content["trust"]
    assert [each["number"] for each in trust["terms"]] == [1, 2]
    assert [len(each["sentences"]) for each in trust["terms"]] == [3, 3]
    page = report.to_html()
    text = words_of(page)
    for each in trust["terms"]:
        for sentence in each["sentences"]:
            assert sentence in text
    assert trust["intervals"]["about"] in text
    assert 'href="#how-sure"' in page
    assert "<b>a" not in page
    assert "How sure?" in text


def test_nobody_asked():
    X, y = passengers(100)
    report = RuleBoostingClassifier(1).fit(X, y).report(X, y)
    assert report.to_dict()["trust"] is None
    assert "How sure?" not in report.to_html()


def test_sets_of_classes_are_a_table():
    X, y = passengers(200)
    model = RuleBoostingClassifier(1).fit(X, y)
    model.conformalize(X, y, cv=3)
    text = words_of(model.report(X, y).to_html())
    assert "in the set from probability" in text
    assert model.own_trust.intervals.about in text


def test_charts_have_a_mark_for_each_term_and_group(asked):
    model, *_ = asked
    names = ("weight", "estimate", "lower", "upper")
    terms = [
        {"number": each.number, "effect": {name: getattr(each, name) for name in names}}
        for each in model.own_trust.effects.terms
    ]
    rows = forest_chart([*terms, {"number": 3, "effect": None}])["rows"]
    assert [row["number"] for row in rows] == [1, 2]
    for row in rows:
        assert row["lower"] < row["estimate"] < row["upper"]
    bands = fan_chart({"edges": [1.0, 3.0], "half_widths": [0.5, 1.0, 2.0]})["bands"]
    assert len(bands) == 3
