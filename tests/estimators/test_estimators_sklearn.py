"""The estimators: inside of what scikit-learn makes of them."""

import inspect
import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import AdaBoostRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from estimators import ESTIMATORS, both, numeric_problem
from laconic import RuleBoostingClassifier, RuleBoostingRegressor


@both
def test_pickle_and_clone(task):
    X, y = numeric_problem(task)
    model = ESTIMATORS[task](3, l2_regularization=0.5).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.ensemble_ == model.ensemble_
    assert loaded.search_results_ == model.search_results_
    assert_array_equal(loaded.predict(X), model.predict(X))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "ensemble_")


@both
def test_grid_search_in_a_pipeline(task):
    X, y = numeric_problem(task)
    pipeline = Pipeline([("scale", StandardScaler()), ("rules", ESTIMATORS[task]())])
    grid = {"rules__l2_regularization": [0.1, 10.0], "rules__n_terms": [1, 3]}
    found = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert len(found.cv_results_["mean_test_score"]) == 4
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    rules = found.best_estimator_.named_steps["rules"]
    assert rules.n_terms == found.best_params_["rules__n_terms"] == len(rules.ensemble_)


def test_cross_validation_in_processes():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(3)
    scores = [cross_val_score(model, X, y, cv=4, n_jobs=n_jobs) for n_jobs in (None, 2)]
    assert_array_equal(*scores)
    assert scores[0].mean() > 0.6


def test_three_classes_by_one_vs_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = OneVsRestClassifier(RuleBoostingClassifier(4)).fit(X, y)
    assert model.score(X, y) > 0.9


def test_ensembles_that_normalize_weights():
    X, y = numeric_problem("regressor")
    model = AdaBoostRegressor(RuleBoostingRegressor(3), n_estimators=3, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.5


@both
def test_weights_are_routed(task):
    X, y = numeric_problem(task)
    weights = np.linspace(0.1, 3.0, 80)
    direct = ESTIMATORS[task](3).fit(X, y, weights)
    with config_context(enable_metadata_routing=True):
        rules = ESTIMATORS[task](3).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(rules).fit(X, y, sample_weight=weights)
    assert pipeline[-1].ensemble_ == direct.ensemble_
    assert direct.ensemble_ != ESTIMATORS[task](3).fit(X, y).ensemble_


@both
def test_fit_leaves_parameters_and_data_alone(task):
    X, y = numeric_problem(task)
    weights = np.linspace(0.0, 1.0, 80)
    copies = X.copy(), y.copy(), weights.copy()
    model = ESTIMATORS[task](3)
    parameters = model.get_params()
    model.fit(X, y, weights)
    assert model.get_params() == parameters
    for array, copy in zip((X, y, weights), copies, strict=True):
        assert_array_equal(array, copy)


@both
def test_help_is_aligned(task):
    doc = inspect.getdoc(ESTIMATORS[task])
    headings = ["Parameters", "Attributes", "See Also", "Examples"]
    assert all(f"\n\n{heading}\n{'-' * len(heading)}\n" in doc for heading in headings)
    names = [*inspect.signature(ESTIMATORS[task]).parameters, "ensemble_", "feature_names_in_"]
    assert all(re.search(rf"\n{name} : .*\n    \S", doc) for name in names)
    assert not re.search(r"\{\w*\}", doc)


@both
def test_importances_choose_features(task):
    X, y = numeric_problem(task)
    model = ESTIMATORS[task](2).fit(X, y)
    importances = model.feature_importances_
    assert importances.shape == (X.shape[1],)
    assert importances.sum() == pytest.approx(1.0)
    used = [f"x{position}" for position in np.flatnonzero(importances)]
    assert used == model.ensemble_.used_features
    chosen = SelectFromModel(model, threshold=1e-12, prefit=True).get_support(indices=True)
    assert [f"x{position}" for position in chosen] == used


def test_no_importance_without_rules():
    model = RuleBoostingRegressor().fit([[1], [2]], [3, 3])
    assert model.feature_importances_.tolist() == [0]
