"""Reports: what they say, in which forms, and what they refuse."""

import copy
import dataclasses
import json
import re
import sys
from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reports import HOSTILE_NAMES, classifier, hostile, regressor
from sklearn.exceptions import NotFittedError

from laconic import (
    Condition,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    load_model,
    save_model,
)
from laconic.report import Report
from laconic.terms.slopes import Slope


@pytest.fixture(scope="module")
def fitted():
    return classifier()


def test_the_dictionary_is_json_and_json_is_the_dictionary(fitted):
    model, X, y = fitted
    report = model.report(X, y)
    assert json.loads(report.to_json()) == report.to_dict()
    assert report.to_json().isascii()


def test_changing_the_dictionary_does_not_change_the_report(fitted):
    model, X, y = fitted
    report = model.report(X, y)
    report.to_dict()["terms"].clear()
    assert len(report.to_dict()["terms"]) == len(model.ensemble_)


def test_the_same_rows_give_the_same_page(fitted):
    model, X, y = fitted
    assert model.report(X, y).to_html() == model.report(X, y).to_html()


def test_features_have_the_importance_that_their_shares_give(fitted):
    model, X, y = fitted
    features = model.report(X, y).to_dict()["data"]["features"]
    shares = np.abs(model.shapley_values(X, X).values).mean(axis=0)
    importances = [feature["importance"] for feature in features]
    assert importances == pytest.approx((shares / shares.sum()).tolist())
    page = model.report(X, y).to_html()
    listed = re.search(r'class="importances.*?</table>', page, re.DOTALL)[0]
    names = re.findall(r'<th scope="row">(.*?)</th>', listed)
    used = [feature for feature in features if feature["terms"]]
    used.sort(key=lambda feature: -feature["importance"])
    assert names == [feature["name"] for feature in used]


def test_rules_are_said_in_words(fitted):
    model, X, y = fitted
    rules = model.report(X, y).to_dict()["terms"]
    for said, rule in zip(rules, model.ensemble_, strict=True):
        assert said["weight"] == rule.weight
        assert said["text"] == model.ensemble_.text(rule.query)
        verb = "multiplies" if rule.weight > 0 else "divides"
        assert said["effect"].startswith(f"{verb} the odds of survived by ")
        assert said["sentence"].startswith("If ")
        for condition in rule.query:
            assert condition.feature in said["sentence"]


def test_certificates_say_what_was_searched(fitted):
    model, X, y = fitted
    certificates = model.report(X, y).to_dict()["certificates"]
    assert certificates["n_proven"] == sum(r.is_optimal for r in model.search_results_)
    assert certificates["scope"]["n_candidates"] == model.n_candidates_
    assert f"out of {model.n_candidates_} candidate conditions" in certificates["scope_words"]
    assert "up to 5 conditions" in certificates["scope_words"]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"max_conditions": None}, "all conjunctions of any number of conditions, out of"),
        ({"min_coverage": 20}, "that cover at least 20 rows, out of"),
        ({"search": "greedy"}, "Tried by a heuristic: some conjunctions"),
        (
            {"max_thresholds": None},
            ": all thresholds per numeric feature, and “is” and “is not”",
        ),
        ({"categories": "equal"}, "per numeric feature, and “is” for each category."),
        ({"conditions": [Condition("age", ">", 12)]}, "out of 1 given candidate condition."),
        ({"max_conditions": np.int64(2)}, "up to 2 conditions"),
        ({"max_conditions": 1}, "all conjunctions of up to 1 condition, out of"),
        ({"max_thresholds": 1}, ": up to 1 threshold per numeric feature, and"),
        ({}, ". Slopes: all between two thresholds or outer quantiles of a numeric feature."),
        (
            {"excluded_terms": ["age > 12", Slope("age", 10, 20, 0.0)]},
            " Excluded terms: age > 12; age from 10 to 20.",
        ),
    ],
)
def test_what_was_searched_depends_on_parameters(fitted, parameters, words):
    _, X, y = fitted
    X, y = X[:100], y[:100]
    model = RuleBoostingClassifier(n_terms=1, l2_regularization=5, **parameters).fit(X, y)
    report = model.report(X, y)
    assert words in report.to_dict()["certificates"]["scope_words"]
    assert json.loads(report.to_json()) == report.to_dict()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "the terms before it"),
        ({"strategy": "polished"}, "all others"),
        ({"strategy": "global"}, "all others"),
    ],
)
def test_certificates_say_what_rules_are_given(fitted, parameters, words):
    """After polishing, a rule is the best one given all others, also those after it."""
    _, X, y = fitted
    model = RuleBoostingClassifier(n_terms=2, max_conditions=2, **parameters).fit(X[:80], y[:80])
    report = model.report(X[:80], y[:80])
    assert report.to_dict()["certificates"]["given"] == words
    text = " ".join(report.to_html().split())
    assert f"if, given {words}, no other such term" in text
    # What the fit was told counts, not what the estimator is told now.
    model.set_params(strategy="joint" if parameters else "polished")
    assert model.report(X[:80], y[:80]).to_dict()["certificates"]["given"] == words


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"brevity": 0}, "training loss more, to second order."),
        ({}, "in relation to its size to the power of 1.5: 1 plus its number of conditions."),
        ({"brevity": 1}, "in relation to its size: 1 plus its number of conditions."),
        ({"brevity": 0.5}, "in relation to its size to the power of 0.5: 1 plus"),
        ({"n_terms": "auto"}, "beyond what chance would gain, in relation to its size"),
    ],
)
def test_certificates_say_what_is_better(fitted, parameters, words):
    _, X, y = fitted
    model = RuleBoostingClassifier(**{"n_terms": 2, **parameters}).fit(X[:80], y[:80])
    page = " ".join(model.report(X[:80], y[:80]).to_html().split())
    assert "in its place reduces the regularized training loss more, to second order" in page
    assert words in page


def test_a_loaded_model_has_the_same_report(fitted, tmp_path):
    model, X, y = fitted
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.report(X, y).to_dict() == model.report(X, y).to_dict()


def test_rules_of_several_searches_have_no_common_scope(fitted):
    model, X, y = fitted
    model = copy.copy(model)
    model.settings_ = dataclasses.replace(model.settings_, is_mixed=True)
    certificates = model.report(X, y).to_dict()["certificates"]
    assert certificates["scope"] is None
    assert "different settings" in certificates["scope_words"]


def test_an_unproven_rule_shows_its_gap():
    X = np.random.default_rng(0).normal(size=(400, 12))
    y = np.random.default_rng(1).normal(size=400)
    model = RuleBoostingRegressor(n_terms=1, node_limit=1, max_conditions=None)
    with pytest.warns(match="not proven optimal"):
        model.fit(X, y)
    report = model.report(X, y)
    certificate = report.to_dict()["terms"][0]["certificate"]
    assert not certificate["is_optimal"]
    assert certificate["objective_value"] < certificate["bound"]
    assert f"at least {certificate['proven_percent']}% of the best possible" in report.to_html()


def test_the_target_is_named_after_y(fitted):
    model, X, y = fitted
    assert model.report(X, y).to_dict()["title"] == "Rules that predict fate"
    assert (
        model.report(X, y.tolist()).to_dict()["title"]
        == "Rules that distinguish survived from died"
    )
    assert model.report(X, y, target_name="end").to_dict()["title"] == "Rules that predict end"
    assert model.report(X, y, title="Mine").to_dict()["title"] == "Mine"


def test_all_tables_of_the_same_rows_give_the_same_report(fitted):
    model, X, y = fitted
    other = pl.from_pandas(X)
    assert model.report(other, y).to_dict() == model.report(X, y).to_dict()


def test_arrays_without_names_are_reported_by_position():
    X = [[1, "a"], [2, "a"], [3, "a"], [1, "b"], [2, "b"], [3, "b"]]
    y = [False, True, True, False, False, False]
    content = RuleBoostingClassifier(n_terms=2).fit(X, y).report(X, y).to_dict()
    assert [feature["name"] for feature in content["data"]["features"]] == ["x0", "x1"]
    assert content["model"]["class_labels"] == ["false", "true"]


def test_without_a_sample_no_row_is_in_the_page(fitted):
    model, X, y = fitted
    secret = X.assign(fare=np.where(X.index == 7, 61.7717, X["fare"]))
    report = model.report(secret, y, max_sample_rows=0)
    assert report.to_dict()["what_if"]["rows"] == []
    assert "61.7717" not in report.to_html()
    assert "It contains no single rows of the data" in report.to_html()
    assert len(model.report(X, y, max_sample_rows=3).to_dict()["what_if"]["rows"]) == 3


def test_without_a_sample_a_regression_has_no_points():
    model, X, y = regressor()
    report = model.report(X, y, max_sample_rows=0)
    assert report.to_dict()["residuals"]["points"] == []
    assert "Residual over prediction" not in report.to_html()


def test_a_model_without_rules_has_a_report():
    X, y = [[1.0], [1.0], [1.0]], [3.0, 3.0, 3.0]
    model = RuleBoostingRegressor(fit_intercept=True).fit(X, y)
    page = model.report(X, y).to_html()
    assert "No term was found" in page
    assert "No term uses a feature" in page


def test_a_single_row_has_a_report(fitted):
    for model, X, y in (fitted, regressor()):
        report = model.report(X[:1], y[:1])
        assert report.to_dict()["data"]["n_rows"] == 1
        assert report.to_html()


class PoissonLoss:
    def value(self, y, raw_predictions):
        return np.exp(raw_predictions) - y * raw_predictions

    def gradients(self, y, raw_predictions):
        return np.exp(raw_predictions) - y

    def hessians(self, y, raw_predictions):
        return np.exp(raw_predictions)

    def inverse_link(self, raw_predictions):
        return np.exp(raw_predictions)


def test_a_loss_of_the_users_own_has_no_what_if():
    model, X, y = regressor(loss=PoissonLoss())
    report = model.report(X, y)
    assert report.to_dict()["what_if"]["javascript"] is None
    assert "This model makes predictions in Python only" in report.to_html()
    assert report.to_dict()["terms"][0]["effect"].endswith("the raw prediction")


def test_many_unused_features_are_cut_on_the_page_but_not_in_the_dictionary():
    X = np.zeros((20, 300))
    X[:10, 0] = 1
    model = RuleBoostingRegressor(n_terms=1).fit(X, X[:, 0])
    report = model.report(X, X[:, 0])
    assert len(report.to_dict()["data"]["features"]) == 300
    assert "299 features that no term uses" in report.to_html()
    assert report.to_html().split('id="data"')[1].count('<th scope="row">x') == 51


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda y: y[1:],
            ValueError,
            r"one value per row of X, shape \(400,\). Got shape \(399,\)",
        ),
        (lambda y: y.replace("died", "lost"), ValueError, "classes of the model.*Got 'lost'"),
        (lambda y: [None, *y[1:]], ValueError, "classes of the model.*Got None"),
    ],
)
def test_targets_that_do_not_fit_are_refused(fitted, change, error, message):
    model, X, y = fitted
    with pytest.raises(error, match=message):
        model.report(X, change(y))


def test_targets_that_are_not_finite_are_refused():
    model, X, y = regressor()
    with pytest.raises(ValueError, match=r"finite numbers. Got nan at row 2"):
        model.report(X, y.where(y.index != 2))


@pytest.mark.parametrize("number", [-1, 2.5, True])
def test_samples_of_impossible_size_are_refused(fitted, number):
    model, X, y = fitted
    with pytest.raises(ValueError, match="'max_sample_rows' must be an int in the range"):
        model.report(X, y, max_sample_rows=number)


def test_a_model_must_be_fitted():
    with pytest.raises(NotFittedError):
        RuleBoostingClassifier().report([[1]], [1])


def test_save_writes_the_page(fitted, tmp_path):
    model, X, y = fitted
    report = model.report(X, y)
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == report.to_html()


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(fitted):
    model, X, y = fitted
    report = model.report(X, y)
    frame = report._repr_html_()
    source = re.search(r'srcdoc="([^"]*)"', frame)[1]
    assert unescape(source) == report.to_html()
    assert 'sandbox="allow-scripts"' in frame
    assert repr(report).startswith("<Report: 'Rules that predict fate', n_terms=8, n_rows=400.")


def test_missing_packages_are_named(fitted, monkeypatch):
    model, X, y = fitted
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r'jinja2.*pip install "laconic\[report\]"'):
        model.report(X, y)


def test_hostile_texts_do_not_become_markup():
    model, X, y = hostile()
    used = {p.feature for rule in model.ensemble_ for p in rule.query}
    assert {HOSTILE_NAMES[0], HOSTILE_NAMES[1], HOSTILE_NAMES[-1]} <= used
    page = model.report(X, y, title="</title><script>window.attacked = true</script>").to_html()
    assert page.count("<script") == page.count("</script>") == 3
    assert "<img" not in page
    assert "<!--" not in page
    assert "{{ 7 * 7 }}" in page
    assert "\u2028" not in page
    assert "\x00" not in page


TEXTS = st.text(min_size=1, max_size=12) | st.sampled_from(HOSTILE_NAMES)


@given(
    st.lists(TEXTS, min_size=2, max_size=2, unique=True), st.lists(TEXTS, min_size=2, max_size=2)
)
@settings(max_examples=30, deadline=None)
@pytest.mark.filterwarnings("ignore::laconic.ColumnWarning")  # a column '#' numbers the rows
def test_texts_come_back_from_the_page_as_they_were(names, values):
    X = pl.DataFrame({names[0]: [*values, None] * 4, names[1]: list(range(12))})
    y = np.arange(12) % 3
    model = RuleBoostingRegressor(n_terms=3, l2_regularization=0.1).fit(X, y)
    report = model.report(X, y)
    page = report.to_html()
    assert page.count("<script") == page.count("</script>") == 3
    embedded = re.search(r'id="page-data">(.*)</script>', page)[1]
    what_if = report.to_dict()["what_if"]
    del what_if["javascript"]
    assert json.loads(embedded)["whatIf"] == what_if


def test_half_a_surrogate_pair_is_no_obstacle(tmp_path):
    X = [["x\ud800"], ["y"]] * 5
    y = [1.0, 2.0] * 5
    model = RuleBoostingRegressor(n_terms=1, categories="equal").fit(X, y)
    model.report(X, y).save(tmp_path / "report.html")
    assert "\\ud800" in (tmp_path / "report.html").read_text("utf-8")


def test_a_page_is_small_whatever_the_number_of_rows():
    model, X, y = classifier(n_rows=10_000, max_conditions=3)
    model.set_params(n_terms=10, warm_start=True).fit(X, y)
    assert len(model.ensemble_) == 10
    assert len(model.report(X, y).to_html().encode()) < 1_000_000


def test_pandas_columns_of_all_types_are_reported():
    X = pd.DataFrame(
        {
            "nullable": pd.array([1, None, 3, 4] * 10, dtype="Int64"),
            "flag": pd.array([True, None, False, True] * 10, dtype="boolean"),
            "size": pd.Categorical(["S", "M", None, "L"] * 10, ["S", "M", "L"], ordered=True),
            "code": pd.Categorical([3, 5, 5, 3] * 10),
            "empty": [None] * 40,
        }
    )
    y = np.array([0.0, 1.0, 2.0, 5.0] * 10)
    report = RuleBoostingRegressor(n_terms=6).fit(X, y).report(X, y)
    kinds = {f["name"]: f["kind"] for f in report.to_dict()["data"]["features"]}
    assert kinds == {
        "nullable": "integer",
        "flag": "boolean",
        "size": "category",
        "code": "category",
        "empty": "category",
    }
    assert isinstance(report, Report)
    assert report.to_html()
