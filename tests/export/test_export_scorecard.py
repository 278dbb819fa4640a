"""Scorecards: whole points, and honest words about what they cost."""

import json
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pytest
from exports import make_model
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, log_loss, r2_score

from laconic import Condition, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.export import to_scorecard
from laconic.losses import LogisticLoss
from laconic.terms.slopes import Slope

THRESHOLDS = [Condition("x", ">", t) for t in range(8)]


def model_of(weights, intercept=0.0, **settings):
    rules = [((p,), weight) for p, weight in zip(THRESHOLDS, weights, strict=False)]
    return make_model(rules, intercept=intercept, feature_names=("x",), **settings)


def test_points_are_as_few_as_are_exact():
    scorecard = to_scorecard(model_of([0.5, -1.0, 1.5], intercept=1.0), max_points=100)
    assert (scorecard.points, scorecard.base_points, scorecard.unit) == ((1, -2, 3), 2, 0.5)
    assert scorecard.max_deviation == 0
    assert scorecard.range == (0, 6)
    assert scorecard.total_points([[0.5], [9]]).tolist() == [3, 4]


@example([5e-324], 0.0, 10)
@example([1e-300], 1e3, 10)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8),
    st.floats(-1e3, 1e3),
    st.integers(1, 30),
)
def test_no_row_deviates_more_than_stated(weights, intercept, max_points):
    model = model_of(weights, intercept)
    scorecard = to_scorecard(model, max_points=max_points)
    X = np.arange(-1, 10)[:, None]
    rounded = scorecard.total_points(X) * scorecard.unit
    deviation = np.abs(rounded - model.ensemble_.raw_predictions(X)).max()
    assert deviation <= scorecard.max_deviation + 1e-9
    assert max(map(abs, scorecard.points)) <= max_points
    least, most = scorecard.range
    assert least <= scorecard.total_points(X).min()
    assert scorecard.total_points(X).max() <= most


SLOPES = st.builds(
    lambda lower, width, weight: Slope("x", lower, lower + width, weight / width),
    st.floats(-50, 50),
    st.floats(1e-3, 1e3),
    st.floats(-1e3, 1e3),
)


@settings(deadline=None)
@given(
    st.lists(SLOPES, min_size=1, max_size=3),
    st.lists(st.floats(-1e3, 1e3), max_size=3),
    st.floats(-1e3, 1e3),
    st.integers(1, 30),
)
def test_slopes_deviate_no_more_than_stated(slopes, weights, intercept, max_points):
    rules = [((p,), weight) for p, weight in zip(THRESHOLDS, weights, strict=False)]
    model = make_model([*rules, *slopes], intercept=intercept)
    scorecard = to_scorecard(model, max_points=max_points)
    X = np.linspace(-60, 1100, 2001)[:, None]
    totals = scorecard.total_points(X)
    rounded = totals * scorecard.unit
    deviation = np.abs(rounded - model.ensemble_.raw_predictions(X)).max()
    assert deviation <= scorecard.max_deviation * (1 + 1e-9) + 1e-9
    least, most = scorecard.range
    assert least <= totals.min()
    assert totals.max() <= most
    if len(slopes) == 1 and not rules:
        steps = np.diff(totals)
        assert (steps >= 0).all() or (steps <= 0).all()


def test_a_slope_has_points_per_step():
    model = make_model([Slope("age", 25, 65, 0.1, missing=45), ((THRESHOLDS[0],), 2.0)])
    scorecard = to_scorecard(model, max_points=8)
    assert str(scorecard).splitlines()[:5] == [
        "points",
        "    +1  per 5 of age from 25 to 65 (45 if missing)",
        "    +4  if x > 0",
        "",
        "Points per step: a step counts once half of it is reached.",
    ]
    ages = [20, 25, 27, 27.5, 30, 32.4, 32.5, 65, 90, None]
    points = scorecard.total_points([[age, -1] for age in ages])
    assert points.tolist() == [0, 0, 0, 1, 1, 1, 2, 8, 8, 4]
    assert scorecard.range == (0, 12)
    assert scorecard.to_dict()["terms"][0] == {
        "points": 1,
        "term": "per 5 of age from 25 to 65 (45 if missing)",
        "weight": 0.1,
    }


def test_steps_of_whole_numbers_are_whole():
    model = make_model([Slope("rooms", 2, 5, -3.1)])
    model.ensemble_ = replace(model.ensemble_, feature_kinds={"rooms": "integer"})
    scorecard = to_scorecard(model)
    assert str(scorecard).splitlines()[1] == "    -1  per unit of rooms from 2 to 5"
    assert scorecard.total_points([[2], [3], [4], [5]]).tolist() == [0, -1, -2, -3]


def test_steps_of_times():
    year = timedelta(days=365.25)
    slope = Slope("day", date(2000, 1, 1), date(2020, 1, 1), 0.5 / year.days)
    text = str(to_scorecard(make_model([slope]), max_points=10))
    assert "+1  per 2 years of day from 2000-01-01 to 2020-01-01" in text


def test_ten_thousand_rows_stay_within_the_stated_deviation():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(10_000, 5))
    y = X[:, 0] + (X[:, 1] > 0.5) * X[:, 2]
    model = RuleBoostingRegressor(n_terms=8, search="greedy").fit(X, y)
    scorecard = to_scorecard(model, X=X, y=y)
    deviations = np.abs(scorecard.predict(X) - model.predict(X))
    assert deviations.max() == pytest.approx(scorecard.cost.max_deviation)
    assert scorecard.cost.max_deviation <= scorecard.max_deviation


def test_cost_of_a_classifier():
    X, y = load_breast_cancer(return_X_y=True)
    model = RuleBoostingClassifier(n_terms=4, max_conditions=2).fit(X, y)
    weights = np.random.default_rng(0).random(len(y))
    scorecard = to_scorecard(model, max_points=5, X=X, y=y, sample_weight=weights)
    cost = scorecard.cost
    predictions, positive = scorecard.predict(X), scorecard.means(scorecard.total_points(X))
    assert cost.n_rows == len(y)
    assert cost.loss == pytest.approx(log_loss(y, model.predict_proba(X), sample_weight=weights))
    assert cost.rounded_loss == pytest.approx(log_loss(y, positive, sample_weight=weights))
    assert cost.score == pytest.approx(model.score(X, y, weights))
    assert cost.rounded_score == pytest.approx(
        accuracy_score(y, predictions, sample_weight=weights)
    )
    assert cost.n_changed == np.sum(predictions != model.predict(X))
    assert f"another class in {cost.n_changed}." in str(scorecard)


def test_cost_of_a_regressor():
    X = np.arange(8.0)[:, None]
    y = X.ravel() ** 1.5
    model = RuleBoostingRegressor(n_terms=3).fit(X, y)
    scorecard = to_scorecard(model, max_points=2, X=X, y=y)
    assert scorecard.cost.rounded_score == pytest.approx(r2_score(y, scorecard.predict(X)))
    assert scorecard.cost.loss == pytest.approx(np.mean((y - model.predict(X)) ** 2))


def test_it_prints_as_a_card():
    model = model_of([1.0, -2.0], intercept=0.5, classes=("no", "yes"))
    assert str(to_scorecard(model)).splitlines() == [
        "points",
        "    +1  (intercept)",
        "    +2  if x > 0",
        "    -4  if x > 1",
        "",
        "Total above 0: yes; otherwise: no",
        " total  probability of yes",
        "    -3  0.182",
        "    -2  0.269",
        "    -1  0.378",
        "     0  0.500",
        "     1  0.622",
        "     2  0.731",
        "     3  0.818",
        "",
        "One point is 0.5 of the raw prediction. Rounding changes that by at most 0 in any row.",
    ]


def test_wide_ranges_are_thinned_out():
    model = model_of([50.0, -60.0, 1.0], classes=("no", "yes"), loss=LogisticLoss())
    data = to_scorecard(model, max_points=60).to_dict()
    assert len(data["totals"]) <= 21
    assert data["totals"][0]["total"] == -60


def test_plain_values():
    X, y = [[0.5], [1.5]], ["no", "yes"]
    model = model_of([1.0, -2.0], classes=("no", "yes"))
    data = to_scorecard(model, X=X, y=y).to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["terms"][0] == {"points": 1, "term": "x > 0", "weight": 1.0}
    assert data["cost"]["n_rows"] == 2


def test_a_model_without_rules():
    scorecard = to_scorecard(make_model([], intercept=0.25))
    assert scorecard.predict([[1.0]]).tolist() == [pytest.approx(0.25, abs=scorecard.max_deviation)]
    assert "(intercept)" in str(scorecard)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_points": 0}, r"'max_points' must be an int in the range \[1, inf\). Got 0"),
        ({"max_points": True}, "Got True"),
        ({"X": [[1]]}, "must be given together"),
        ({"X": [[1]], "y": ["no", "yes"]}, r"shape \(1,\). Got shape \(2,\)"),
        ({"X": [[1]], "y": ["maybe"]}, r"the classes of the model, \['no', 'yes'\]. Got .*maybe"),
    ],
)
def test_wrong_calls_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        to_scorecard(model_of([1.0], classes=("no", "yes")), **settings)
