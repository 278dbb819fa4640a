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
    bands = fan_chart({"edges": [1.0, 3.0], "half_widths": [0.5, 1.0, 2.0], "least": None})["bands"]
    assert len(bands) == 3


def test_bands_end_where_the_target_does():
    intervals = {"edges": [1.0, 3.0], "half_widths": [0.5, 4.0, 3.5]}
    free, bounded = (fan_chart({**intervals, "least": least}) for least in (None, 0.0))
    assert free["y_marks"][0]["text"] == "−2"
    assert bounded["y_marks"][0]["text"] == "0"
    # The lower edge of the last band leaves 0 at 3.5.
    assert [len(band.split()) for band in free["bands"]] == [4, 4, 4]
    assert [len(band.split()) for band in bounded["bands"]] == [5, 4, 5]
    # Nor are there predictions below 0.
    wide = {"edges": [1.0, 9.0], "half_widths": [2.0, 2.0, 2.0], "least": 0.0}
    assert fan_chart(wide)["x_marks"][0]["text"] == "0"


def test_counts_have_bands_above_zero():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"dose": rng.random(300)})
    y = rng.poisson(1 + 2 * (X["dose"] > 0.5))
    model = RuleBoostingRegressor(1, loss="poisson").fit(X, y)
    model.conformalize(X, y, cv=3)
    report = model.report(X, y)
    assert report.to_dict()["trust"]["intervals"]["least"] == 0.0
    assert "nothing can be excluded" not in words_of(report.to_html())
    model.conformalize(X, y, cv=3, level=0.999)
    assert "nothing can be excluded" in words_of(model.report(X, y).to_html())


def test_effects_are_called_weights(asked):
    model, X, y = asked
    effect = model.own_trust.effects.terms[0]
    estimate, lower, upper = effect.texts
    words = (
        f"not used to find it: weight {estimate} (90% interval: {lower} to {upper}), in the model"
    )
    text = words_of(model.report(X, y).to_html())
    assert words.replace("-", "−") in text
    assert "what it adds to the prediction" in text
    assert "term 1: " in text


def test_levels_have_all_their_digits(asked):
    model, X, y = asked
    other = model.edit(X, y)
    other.effects(X + 1, y, level=0.955)
    text = words_of(other.report(X, y).to_html())
    assert "(95.5% interval: " in text
    assert "About 95.5% of such intervals" in text
    assert "96%" not in text


def test_without_any_interval_there_is_no_chart():
    X = pd.DataFrame({"a": np.arange(60.0)})
    y = pd.Series(np.repeat(["low", "middle", "high"], 20), name="level")
    model = RuleBoostingClassifier(2).fit(X, y)
    model.effects(X + 0.25, y)
    report = model.report(X, y)
    trust = report.to_dict()["trust"]
    assert [each["effect"] for each in trust["terms"]] == [None, None]
    page = report.to_html()
    section = page[page.index('id="how-sure"') : page.index('id="what-if"')]
    assert "<figure" not in section
    assert "no interval, as" in section
    for term in model.ensemble_:
        assert f", for <b>{model.ensemble_.output_of(term)}</b>" in section


def test_weights_of_other_rows_are_those_of_the_model():
    X, y = passengers(400)
    model = RuleBoostingClassifier(2, honest=0.5, slopes=False).fit(X, y)
    text = words_of(model.report(X, y).to_html())
    assert "The weights of the model are fitted to these rows" in text
    assert "Hollow" not in text
