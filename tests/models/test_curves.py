"""Scores of every size, the area below them, and that a table is read once for all of them."""

from __future__ import annotations

import copy
import pickle
from collections import Counter

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import trapezoid
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LinearRegression
from sklearn.metrics import fbeta_score, log_loss, make_scorer, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimators import STAGEWISE, diabetes_table
from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.datasets import noisy_parity
from laconic.estimators.files import model_from_dict
from laconic.export import model_to_dict
from laconic.models.curves import area_scorer, normalized_area, score_curve
from laconic.tables import tables


@pytest.fixture(scope="module")
def parity():
    return noisy_parity(200, 2, random_state=0)


@pytest.fixture(scope="module")
def classifier(parity):
    return RuleBoostingClassifier(n_terms=4).fit(parity.data, parity.target)


@pytest.fixture(scope="module")
def diabetes():
    return diabetes_table()


@pytest.fixture
def small_regressor():
    return RuleBoostingRegressor(n_terms=3, max_conditions=2, max_thresholds=3)


def test_curve_of_a_classifier_is_that_of_its_staged_scores(parity, classifier):
    curve = score_curve(classifier, parity.data, parity.target, scoring="roc_auc")
    staged = classifier.staged_decision_function(parity.data)
    assert curve.tolist() == [0.5, *(roc_auc_score(parity.target, scores) for scores in staged)]


def test_curve_of_a_regressor_starts_with_nothing(diabetes, small_regressor):
    model = small_regressor.set_params(fit_intercept=False).fit(diabetes.data, diabetes.target)
    curve = score_curve(model, diabetes.data, diabetes.target)
    assert curve[0] == r2_score(diabetes.target, np.zeros(len(diabetes.target)))
    assert curve[-1] == model.score(diabetes.data, diabetes.target)
    assert len(curve) == 4


def test_intercept_counts_from_size_zero(diabetes, small_regressor):
    model = small_regressor.set_params(fit_intercept=True).fit(diabetes.data, diabetes.target)
    assert score_curve(model, diabetes.data, diabetes.target)[0] == pytest.approx(0)


def test_any_scorer_serves(parity, classifier):
    by_name = score_curve(classifier, parity.data, parity.target, scoring="neg_log_loss")

    def scorer(model, X, y):
        return -log_loss(y, model.predict_proba(X))

    by_function = score_curve(classifier, parity.data, parity.target, scoring=scorer)
    np.testing.assert_allclose(by_name, by_function)
    shares = np.bincount(parity.target == classifier.classes_[1]) / len(parity.target)
    assert by_name[0] == pytest.approx(shares @ np.log(shares))


def test_model_stays_as_it_is(parity, classifier):
    before = classifier.ensemble_
    score_curve(classifier, parity.data, parity.target)
    assert classifier.ensemble_ is before


def test_fewer_and_more_rules_than_the_model_has(parity, classifier):
    whole = score_curve(classifier, parity.data, parity.target)
    n_terms = len(classifier.ensemble_)
    shorter = score_curve(classifier, parity.data, parity.target, max_terms=1)
    longer = score_curve(classifier, parity.data, parity.target, max_terms=n_terms + 2)
    assert shorter.tolist() == whole[:2].tolist()
    assert longer.tolist() == [*whole, whole[-1], whole[-1]]


def test_pipeline_and_search_are_looked_into(diabetes, small_regressor):
    pipeline = make_pipeline(StandardScaler(), small_regressor)
    search = GridSearchCV(pipeline, {"ruleboostingregressor__l2_regularization": [1.0]}, cv=2)
    search.fit(diabetes.data, diabetes.target)
    curve = score_curve(search, diabetes.data, diabetes.target)
    assert curve[-1] == search.score(diabetes.data, diabetes.target)
    assert len(curve) == 4


@pytest.mark.parametrize("model", [LinearRegression(), RuleBoostingRegressor()])
def test_curve_needs_a_fitted_ensemble(model, diabetes):
    with pytest.raises(TypeError, match=r"must be a fitted rule ensemble.* Got \w+Regress"):
        score_curve(model, diabetes.data, diabetes.target)


def test_negative_size_is_refused(parity, classifier):
    with pytest.raises(ValueError, match=r"'max_terms' must be .* Got -1 instead"):
        score_curve(classifier, parity.data, parity.target, max_terms=-1)


@given(arrays(float, st.integers(1, 12), elements=st.floats(-10, 10)))
def test_area_lies_between_the_extremes(scores):
    area = normalized_area(scores)
    assert scores.min() - 1e-9 <= area <= scores.max() + 1e-9


@given(arrays(float, st.integers(2, 12), elements=st.floats(-10, 10)))
def test_area_is_that_of_the_trapezoid_rule(scores):
    assert normalized_area(scores) == pytest.approx(trapezoid(scores) / (len(scores) - 1))


@pytest.mark.parametrize(("scores", "sizes"), [([1, 2], [1]), ([1, 2], [2, 2]), ([], [])])
def test_area_refuses(scores, sizes):
    with pytest.raises(ValueError, match="'sizes' must be ascending"):
        normalized_area(scores, sizes)


def test_area_scorer_counts_the_given_sizes(parity, classifier):
    curve = score_curve(classifier, parity.data, parity.target, scoring="roc_auc")
    scorer = area_scorer("roc_auc", smallest=1, largest=3)
    assert scorer(classifier, parity.data, parity.target) == normalized_area(curve[1:4])


def clients(backend, *, only_numbers=False):
    """Frame, and two classes that take rules about all of its columns."""
    generator = np.random.default_rng(0)
    age, plan = generator.integers(18, 90, size=90), generator.choice(["a", "b", "c"], size=90)
    columns = {"age": age, "dose": generator.normal(size=90)}
    y = np.where((age > 50) & (columns["dose"] > 0) | (plan == "b"), "yes", "no")
    texts = {} if only_numbers else {"plan": plan.tolist()}
    return nw.from_dict(columns | texts, backend=backend).to_native(), y


class Doubled(TransformerMixin, BaseEstimator):
    """Step of a pipeline that makes a new table, and counts how often."""

    def __init__(self, calls):
        self.calls = calls

    def __sklearn_clone__(self):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        self.calls.append(X)
        return nw.from_native(X).with_columns(nw.col("dose") * 2).to_native()


@pytest.fixture
def readings(monkeypatch):
    """How often each column was read, and any table wrapped."""
    counts = Counter()

    def counted(name, function):
        def count(*arguments):
            counts[name or arguments[0]] += 1
            return function(*arguments)

        return count

    for name in ("array_column", "pandas_column", "series_column"):
        monkeypatch.setattr(tables, name, counted(None, getattr(tables, name)))
    monkeypatch.setattr(tables, "_wrap_frame", counted("table", tables._wrap_frame))
    return counts


def own_scorer(model, X, y):
    return float(np.mean(model.predict(X) == y) + roc_auc_score(y, model.decision_function(X)))


SCORINGS = [
    None,
    "roc_auc",
    "neg_log_loss",
    make_scorer(fbeta_score, beta=2, pos_label="yes"),
    own_scorer,
]


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("only_numbers", [False, True])
@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_table_is_read_once(backend, only_numbers, scoring, readings):
    pytest.importorskip(backend)
    X, y = clients(backend, only_numbers=only_numbers)
    model = RuleBoostingClassifier(n_terms=5).fit(X, y)
    assert len(model.ensemble_) == 5
    used = {condition.feature for rule in model.ensemble_ for condition in rule.query}
    assert len(used) > 1
    readings.clear()
    curve = score_curve(model, X, y, scoring=scoring)
    assert readings == dict.fromkeys({*used, "table"}, 1)
    assert len(curve) == 6


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("backend", ["pandas", "polars"])
@pytest.mark.parametrize("is_searched", [False, True])
def test_pipeline_transforms_once(backend, scoring, is_searched, readings):
    pytest.importorskip(backend)
    X, y = clients(backend)
    calls = []
    rules = RuleBoostingClassifier(n_terms=3)
    model = make_pipeline(Doubled(calls), "passthrough", Doubled(calls), rules)
    if is_searched:
        model = GridSearchCV(model, {"ruleboostingclassifier__n_terms": [3]}, cv=2)
    model.fit(X, y)
    by_hand = score_curve(
        rules.fit(nw.from_native(X).with_columns(nw.col("dose") * 4).to_native(), y),
        nw.from_native(X).with_columns(nw.col("dose") * 4).to_native(),
        y,
        scoring=scoring,
    )
    calls.clear()
    readings.clear()
    curve = score_curve(model, X, y, scoring=scoring)
    assert len(calls) == 2
    assert max(readings.values()) == 1
    assert curve.tolist() == by_hand.tolist()


def test_other_tables_are_read(parity, classifier):
    """A scorer may ask for other rows than those it is given."""

    def scorer(model, X, y):
        some = X[:50]
        return float(model.decision_function(some).sum() - model.decision_function(X)[:50].sum())

    assert set(score_curve(classifier, parity.data, parity.target, scoring=scorer)) == {0.0}
    pipeline = make_pipeline(StandardScaler(), RuleBoostingClassifier(n_terms=3))
    pipeline.fit(parity.data, parity.target)
    assert set(score_curve(pipeline, parity.data, parity.target, scoring=scorer)) == {0.0}


def test_scorer_may_change_what_it_gets(parity, classifier):
    def scorer(model, X, y):
        scores = model.decision_function(X)
        scores *= -1
        return roc_auc_score(y, model.decision_function(X))

    curve = score_curve(classifier, parity.data, parity.target, scoring=scorer)
    expected = score_curve(classifier, parity.data, parity.target, scoring="roc_auc")
    assert curve.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
@pytest.mark.parametrize("has_steps", [False, True])
def test_copies_know_no_table(copied, has_steps, parity):
    """What a scorer keeps, copies or pickles holds the model, and nothing of the rows."""
    X, y = np.tile(parity.data, (4, 1)), np.tile(parity.target, 4)  # larger than any model
    model = RuleBoostingClassifier(n_terms=3)
    model = make_pipeline(StandardScaler(), model) if has_steps else model
    model.fit(X, y)
    before, sizes = len(pickle.dumps(model)), []

    def scorer(shorter, X, y):
        again = copied(shorter)
        sizes.append(len(pickle.dumps(again)))
        assert again.predict(X).tolist() == shorter.predict(X).tolist()
        return 0.0

    score_curve(model, X, y, scoring=scorer)
    assert max(sizes) < before + 500 < X.nbytes / 2
    assert len(pickle.dumps(model)) == before


@pytest.mark.parametrize("is_loaded", [False, True])
def test_smaller_sizes_of_refitted_models_have_their_own_weights(is_loaded):
    diabetes = diabetes_table()
    X, y = diabetes.data, diabetes.target
    options = {"strategy": "joint", "fit_intercept": True, "max_conditions": 2}
    model = RuleBoostingRegressor(n_terms=4, **options).fit(X, y)
    assert [len(stage) for stage in model.stages_] == [0, 1, 2, 3, 4]
    assert model.stages_[-1] == model.ensemble_
    if is_loaded:
        model = model_from_dict(model_to_dict(model))
    sizes = [RuleBoostingRegressor(n_terms=n, **options).fit(X, y) for n in (1, 2, 3, 4)]
    expected = [0.0, *(smaller.score(X, y) for smaller in sizes)]
    np.testing.assert_allclose(score_curve(model, X, y), expected, rtol=1e-9, atol=1e-9)
    for staged, smaller in zip(model.staged_predict(X), sizes, strict=True):
        np.testing.assert_array_equal(staged, smaller.predict(X))
    # Not so for stages of another ensemble.
    model.ensemble_ = model.ensemble_[:2]
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))


def test_stagewise_models_keep_their_weights():
    diabetes = diabetes_table()
    model = RuleBoostingRegressor(n_terms=3, **STAGEWISE).fit(diabetes.data, diabetes.target)
    assert model.stages_ == model.ensemble_.stages
    assert model_to_dict(model)["stages"] is None
