"""Slopes in reports: in words, in coverage, and in what changes the prediction."""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from sloped import TERMS, sloped_classes, sloped_classifier, sloped_regressor, with_terms

from laconic import RuleBoostingRegressor
from laconic.report.what_if import control
from laconic.report.words import sentence
from laconic.tables.columns import CategoricalColumn, NumericColumn
from laconic.terms.slopes import Slope


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (sloped_classifier, ("multiplies the odds of yes by 1.36", "by 3.79")),
        (sloped_regressor, ("adds 0.31 to the prediction", "adds 1.333 to the prediction")),
        (
            lambda: sloped_regressor(loss="poisson"),
            ("multiplies the expected count by 1.36", "by 3.79"),
        ),
        (sloped_classes, ("multiplies the odds of high by 1.36", "by 3.79")),
    ],
)
def test_slopes_are_said_in_words(make, words):
    model, X, y = make()
    report = model.report(X, y)
    content = report.to_dict()
    assert json.loads(report.to_json()) == content
    first, rule, second, dated = content["terms"]
    assert [term["kind"] for term in content["terms"]] == ["slope", "rule", "slope", "slope"]
    assert first["sentence"] == f"For each 10 of age from 25 to 68: {words[0]}."
    assert first["total_effect"].endswith(words[1])
    assert (first["weight"], first["step_weight"]) == (0.031, pytest.approx(0.31))
    assert first["change"] == pytest.approx(0.031 * 43)
    assert first["slope"] == {
        "feature": "age", "step": "10", "lower": 25.0, "upper": 68.0, "missing": 45.0,
    }  # fmt: skip
    assert rule["slope"] is rule["total_effect"] is None
    assert rule["change"] == rule["step_weight"] == rule["weight"] == 0.8
    assert (second["n_conditions"], dated["n_conditions"]) == (1, 2)
    assert dated["slope"]["lower"] == "2020-06-01"
    assert content["path"]["n_conditions"] == [0, 2, 4, 5, 7]
    page = " ".join(unescape(re.sub(r"<[^>]*>", "", report.to_html())).split())
    assert "For each 10 of age from 25 to 68" in page
    assert f"From end to end, it {first['total_effect']}." in page
    assert "Missing values count as 45." in page
    assert "+0.310 per 10" in page
    assert "1 rule and 3 slopes with 7 conditions on 4 of 4 features" in page
    assert "A slope applies to the rows above its lower end." in page


def test_a_sentence_of_dates():
    effect = "adds 2 to the prediction"
    expected = "For each month of admitted from 2020-06-01 to 2023-06-01: adds 2 to the prediction."
    assert sentence(TERMS[3], effect) == expected


def test_features_coverage_and_importance():
    model, X, y = sloped_classifier()
    content = model.report(X, y).to_dict()
    used = {feature["name"]: feature["terms"] for feature in content["data"]["features"]}
    assert used == {"age": [1, 2], "dose": [3], "admitted": [4], "plan": [2]}
    covered = model.ensemble_.covered(X)
    # Missing ages count as 45, which is above 25.
    assert content["terms"][0]["n_covered"] == ((X["age"] > 25) | X["age"].isna()).sum()
    assert [term["n_covered"] for term in content["terms"]] == covered.sum(axis=0).tolist()
    counts = np.bincount(covered.sum(axis=1)).tolist()
    assert content["overlap"]["n_rows_by_n_terms"] == counts
    importances = [feature["importance"] for feature in content["data"]["features"]]
    assert importances == pytest.approx(model.feature_importances_.tolist())


@pytest.mark.parametrize(
    ("terms", "kinds"),
    [(TERMS, "Rules and slopes"), (TERMS[:1], "Slopes"), (TERMS[1:2], "Rules"), ((), "Rules")],
)
def test_titles_name_the_kinds_of_terms(terms, kinds):
    model, X, y = sloped_regressor(terms=terms)
    report = model.report(X, y)
    assert report.to_dict()["title"] == f"{kinds} that predict a number"
    assert model.report(X, y, target_name="cost").to_dict()["title"] == f"{kinds} that predict cost"
    n_slopes = len(model.ensemble_.slopes)
    assert ("for each step of its feature" in " ".join(report.to_html().split())) == bool(n_slopes)


def test_rows_are_alike_if_slopes_are_in_the_same_half():
    model, X, y = sloped_regressor()
    groups = model.report(X, y).to_dict()["what_if"]["groups"]
    middle = (
        pd.Timestamp("2020-06-01") + (pd.Timestamp("2023-06-01") - pd.Timestamp("2020-06-01")) / 2
    )
    halves = [
        X["age"].fillna(45) > (25 + 68) / 2,
        (X["plan"] == "plus") & (X["age"] > 40),
        X["dose"] > 120,
        X["admitted"] > middle,
    ]
    expected = pd.concat(halves, axis=1).value_counts()
    assert {tuple(group["terms"]): group["n_rows"] for group in groups} == {
        tuple((np.flatnonzero(pattern) + 1).tolist()): count for pattern, count in expected.items()
    }


def test_ends_of_slopes_are_stops_of_sliders():
    column = NumericColumn("age", np.random.default_rng(0).normal(50, 20, 500))
    described = control(column, [], [], [25.5, 68.25])
    assert {25.5, 68.25} <= set(described["stops"])
    assert described["is_sloped"]
    assert not control(column, [], [])["is_sloped"]
    empty = CategoricalColumn("age", np.full(4, -1, dtype=np.int32), ())
    described = control(empty, [], [], [25, 68])
    assert described["kind"] == "number"
    assert {25.0, 68.0} <= set(described["stops"])


def test_names_of_slopes_are_escaped():
    name = "<script>alert(1)</script>"
    X = pd.DataFrame({name: [1.0, 2.0, 3.0, 4.0]})
    y = [1.0, 2.0, 3.0, 4.0]
    model = RuleBoostingRegressor(n_terms=1).fit(X, y)
    model = with_terms(model, X, y, [Slope(name, 1, 4, 1.0, missing=2)], [1.0])
    page = model.report(X, y).to_html()
    assert name not in page
    assert "&lt;script&gt;alert(1)" in page
