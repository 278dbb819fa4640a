"""The estimators: fits that go on where the last one stopped."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from estimators import ESTIMATORS, both, forms, mixed_columns, numeric_problem
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.estimators.files import model_from_dict
from laconic.export import model_to_dict


@both
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_warm_start_goes_on_where_it_stopped(task, fit_intercept):
    columns, score = mixed_columns()
    frame = pd.DataFrame(columns)
    y = score > 1 if task == "classifier" else score
    at_once = ESTIMATORS[task](10, fit_intercept=fit_intercept).fit(frame, y)
    model = ESTIMATORS[task](5, fit_intercept=fit_intercept, warm_start=True).fit(frame, y)
    model.set_params(n_terms=10).fit(frame, y)
    assert len(model.ensemble_) == 10
    assert model.ensemble_ == at_once.ensemble_
    assert len(model.search_results_) == 10
    assert_array_equal(model.predict(frame), at_once.predict(frame))


@both
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_warm_start_with_refitted_weights(task, fit_intercept):
    columns, score = mixed_columns()
    frame = pd.DataFrame(columns)
    y = score > 1 if task == "classifier" else score
    options = {"fit_intercept": fit_intercept, "max_conditions": 2}
    at_once = ESTIMATORS[task](6, **options).fit(frame, y)
    model = ESTIMATORS[task](3, warm_start=True, **options).fit(frame, y)
    model.set_params(n_terms=6).fit(frame, y)
    assert forms(model) == forms(at_once)
    assert_allclose(
        model.ensemble_.raw_predictions(frame), at_once.ensemble_.raw_predictions(frame)
    )
    assert len(model.search_results_) == len(model.rule_coverages_) == 6


def test_warm_start_after_an_exact_fit_adds_nothing():
    X, y = [[1], [2], [3]], [0.1, 0.7, -0.3]
    model = RuleBoostingRegressor(50, l2_regularization=0, warm_start=True).fit(X, y)
    n_terms = len(model.ensemble_)
    assert n_terms < 50
    assert len(model.set_params(n_terms=100).fit(X, y).ensemble_) == n_terms


def test_settings_that_differ_between_rules_are_reported():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(2, warm_start=True).fit(X, y)
    settings = model.settings_
    assert model.set_params(n_terms=3).fit(X, y).settings_ == replace(settings, n_terms=3)
    assert model.set_params(n_terms=4, max_conditions=1).fit(X, y).settings_.is_mixed
    assert model.set_params(n_terms=5).fit(X, y).settings_.is_mixed
    longest = max(rule.n_conditions for rule in model.ensemble_.rules)
    assert model.certificate(X, y).max_conditions == longest
    loaded = model_from_dict(model_to_dict(model))
    assert (loaded.ensemble_, loaded.settings_) == (model.ensemble_, model.settings_)
    certificates = model.report(X, y).to_dict()["certificates"]
    assert certificates["scope"] is None
    words = "The terms were found with different settings or candidate conditions."
    assert certificates["scope_words"] == words
    fresh = model.set_params(warm_start=False).fit(X, y).settings_
    assert (fresh.max_conditions, fresh.is_mixed) == (1, False)


def test_warm_start_with_fewer_rules():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="n_terms=2 must not be smaller than the 3 terms"):
        model.set_params(n_terms=2, max_conditions=1).fit(X, y)
    assert len(model.ensemble_) == 3
    assert model.settings_.max_conditions == 3


@pytest.mark.parametrize("labels", [["no", "yes"], [1, 2], [False, True]])
def test_warm_start_with_other_classes(labels):
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(3, warm_start=True).fit(X, np.array(["a", "b"])[y])
    with pytest.raises(ValueError, match=r"classes must stay the same, \['a', 'b'\]. Got"):
        model.set_params(n_terms=5).fit(X, np.array(labels)[y])


def test_warm_start_with_other_columns():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3, warm_start=True).fit(pd.DataFrame(X, columns=list("abc")), y)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- z"):
        model.fit(pd.DataFrame(X, columns=list("abz")), y)
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(ValueError, match="X has 2 features"),
    ):
        model.fit(X[:, :2], y)
    assert model.feature_names_in_.tolist() == list("abc")


def test_warm_start_without_the_names():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(2, warm_start=True).fit(pd.DataFrame(X, columns=list("abc")), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.set_params(n_terms=4).fit(X, y)
    at_once = RuleBoostingRegressor(4).fit(pd.DataFrame(X, columns=list("abc")), y)
    assert model.ensemble_ == at_once.ensemble_


def test_without_warm_start_fit_starts_over():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(X, y)
    model.set_params(n_terms=2).fit(X[:, :1], -y)
    assert model.ensemble_ == RuleBoostingRegressor(2).fit(X[:, :1], -y).ensemble_
    assert model.n_features_in_ == 1


def test_warm_start_with_other_kinds_of_numbers():
    model = RuleBoostingRegressor(1, warm_start=True).fit([[1, 0], [2, 1]], [0, 1])
    assert model.ensemble_.feature_kinds == {"x0": "integer", "x1": "boolean"}
    model.set_params(n_terms=2).fit([[1.5, 0], [2, 1]], [0, 1])
    assert model.ensemble_.feature_kinds == {"x1": "boolean"}


def test_constraints_hold_in_a_warm_start_that_finds_no_rule():
    X = np.array([[a, b] for a in range(4) for b in range(4)], dtype=float)
    y = 2.0 * (X[:, 0] > 1) + (X[:, 1] > 1)
    options = {"fit_intercept": False, "warm_start": True}
    model = RuleBoostingRegressor(2, **options).fit(X, y)
    assert all(rule.weight > 0 for rule in model.ensemble_)
    model.set_params(weight_signs="negative").fit(X, y)
    assert len(model.ensemble_) == len(model.search_results_) == 0
    assert [len(stage) for stage in model.stages_] == [0]


def test_rules_that_leave_in_a_warm_start_make_room_for_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0) - (X[:, 2] > 0) * (X[:, 0] < 0)
    options = {"fit_intercept": False, "max_conditions": 2}
    model = RuleBoostingRegressor(2, warm_start=True, **options).fit(X, y)
    model.set_params(n_terms=3, weight_signs="negative").fit(X, y)
    fresh = RuleBoostingRegressor(3, weight_signs="negative", **options).fit(X, y)
    assert len(fresh.ensemble_) == 3
    assert model.ensemble_ == fresh.ensemble_


def test_ctrl_c_leaves_the_model_before_or_the_one_after(monkeypatch):
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(2, warm_start=True).fit(X, y)
    before = dict(vars(model))

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("laconic.estimators.base.feature_importances", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_terms=3).fit(X, y)
    changed = {name for name, value in vars(model).items() if before.get(name) is not value}
    assert changed == {"n_terms"}


def test_a_warm_start_that_fails_keeps_where_the_model_came_from():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(2, warm_start=True).fit(X, y)
    model.record_ = "from a file"
    with pytest.raises(ValueError, match="must not be smaller"):
        model.set_params(n_terms=1).fit(X, y)
    assert model.record_ == "from a file"
    assert model.set_params(n_terms=3).fit(X, y).record_ is None
