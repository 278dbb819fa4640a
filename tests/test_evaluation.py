"""Curves, areas, repeated splits and their pictures."""

from __future__ import annotations

import sys

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import trapezoid
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.datasets import noisy_parity
from laconic.evaluation import (
    SplitsScoreDisplay,
    SplitsTimeDisplay,
    area_scorer,
    curve_areas,
    evaluate,
    normalized_area,
    score_curve,
)

COLUMNS = [
    "estimator",
    "l2_regularization",
    "split",
    "n_rules",
    "train_score",
    "test_score",
    "seconds",
]


@pytest.fixture(scope="module")
def parity():
    return noisy_parity(200, 2, random_state=0)


@pytest.fixture(scope="module")
def classifier(parity):
    return RuleBoostingClassifier(n_rules=4).fit(parity.data, parity.target)


def diabetes_in(backend):
    bunch = load_diabetes()
    columns = dict(zip(bunch.feature_names, bunch.data.T, strict=True))
    return Bunch(data=nw.from_dict(columns, backend=backend).to_native(), target=bunch.target)


@pytest.fixture(scope="module")
def diabetes():
    return diabetes_in("pandas")


@pytest.fixture
def small_regressor():
    return RuleBoostingRegressor(n_rules=3, max_conditions=2, max_thresholds=3)


def test_curve_of_a_classifier_is_that_of_its_staged_scores(parity, classifier):
    curve = score_curve(classifier, parity.data, parity.target, scoring="roc_auc")
    staged = classifier.staged_decision_function(parity.data)
    assert curve.tolist() == [0.5, *(roc_auc_score(parity.target, scores) for scores in staged)]


def test_curve_of_a_regressor_starts_with_nothing(diabetes, small_regressor):
    model = small_regressor.fit(diabetes.data, diabetes.target)
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
    assert by_name[0] == pytest.approx(-np.log(2))


def test_model_stays_as_it_is(parity, classifier):
    before = classifier.ensemble_
    score_curve(classifier, parity.data, parity.target)
    assert classifier.ensemble_ is before


def test_fewer_and_more_rules_than_the_model_has(parity, classifier):
    whole = score_curve(classifier, parity.data, parity.target)
    n_rules = len(classifier.ensemble_)
    shorter = score_curve(classifier, parity.data, parity.target, max_rules=1)
    longer = score_curve(classifier, parity.data, parity.target, max_rules=n_rules + 2)
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
    with pytest.raises(ValueError, match=r"'max_rules' must be .* Got -1 instead"):
        score_curve(classifier, parity.data, parity.target, max_rules=-1)


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


def test_evaluate_gives_a_row_per_size(diabetes, small_regressor):
    greedy = RuleBoostingRegressor(n_rules=3, search="greedy")
    frame = evaluate(
        {"optimal": small_regressor, "greedy": greedy},
        diabetes.data,
        diabetes.target,
        cv=ShuffleSplit(2, random_state=0),
        l2_regularization=[1, 10],
        n_rules=2,
    )
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 2 * 2 * 2 * 3
    assert set(frame["n_rules"]) == {0, 1, 2}
    assert set(frame["l2_regularization"]) == {1.0, 10.0}
    assert (frame[frame["n_rules"] == 0]["seconds"] == 0).all()
    assert (frame["seconds"].groupby(frame.index // 3).diff().dropna() > 0).all()
    assert not hasattr(small_regressor, "ensemble_")
    assert small_regressor.n_rules == 3


def test_evaluate_agrees_with_a_fit_by_hand(diabetes, small_regressor):
    train, test = next(ShuffleSplit(1, random_state=0).split(diabetes.data))
    frame = evaluate(small_regressor, diabetes.data, diabetes.target, cv=[(train, test)])
    small_regressor.fit(diabetes.data.iloc[train], diabetes.target[train])
    curve = score_curve(small_regressor, diabetes.data.iloc[test], diabetes.target[test])
    assert frame["test_score"].tolist() == curve.tolist()
    assert frame["estimator"].unique().tolist() == ["RuleBoostingRegressor"]


def test_evaluate_in_parallel_gives_the_same(diabetes, small_regressor):
    results = [
        evaluate(small_regressor, diabetes.data, diabetes.target, cv=2, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    ]
    alone, together = (result.drop(columns="seconds") for result in results)
    assert alone.equals(together)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_are_of_the_library_of_the_table(backend, small_regressor):
    pytest.importorskip(backend)
    dataset = diabetes_in(backend)
    frame = evaluate(small_regressor, dataset.data, dataset.target, cv=2)
    areas = curve_areas(frame)
    for result in (frame, areas):
        table = nw.from_native(result, eager_only=True)
        assert table.implementation == nw.Implementation.from_backend(backend)
    assert nw.from_native(areas, eager_only=True).shape == (2, 4)


def test_lists_arrays_and_groups(small_regressor):
    X = [[i % 7, "ab"[i % 2]] for i in range(40)]
    y = [float(i % 7) for i in range(40)]
    groups = [i // 10 for i in range(40)]
    frame = evaluate(small_regressor, X, y, cv=GroupKFold(4), groups=groups, backend="polars")
    assert frame["split"].n_unique() == 4
    with_array = evaluate(
        small_regressor, np.array(X, dtype=object), y, cv=GroupKFold(4), groups=groups
    )
    assert with_array["test_score"].tolist() == frame["test_score"].to_list()


def test_pipelines_are_evaluated(diabetes, small_regressor):
    pipeline = make_pipeline(StandardScaler(), small_regressor)
    frame = evaluate(
        pipeline, diabetes.data, diabetes.target, cv=2, l2_regularization=[2.0], n_rules=1
    )
    assert frame["n_rules"].tolist() == [0, 1, 0, 1]
    assert frame["estimator"].unique().tolist() == ["RuleBoostingRegressor"]


def test_areas_leave_out_small_sizes(diabetes, small_regressor):
    frame = evaluate(small_regressor, diabetes.data, diabetes.target, cv=2)
    areas = curve_areas(frame, smallest=1)
    first = frame[frame["split"] == 0]["test_score"].to_numpy()
    assert areas["area"][0] == pytest.approx(normalized_area(first[1:]))
    assert (areas["area"] > curve_areas(frame)["area"]).all()


@pytest.mark.parametrize(
    ("estimators", "message"),
    [
        (LinearRegression(), r"must have a parameter 'l2_regularization'.* Got LinearRegression"),
        ([RuleBoostingRegressor()], r"'estimators' must be an estimator or a mapping"),
        ({}, r"'estimators' must be an estimator or a mapping"),
    ],
)
def test_evaluate_refuses(estimators, message, diabetes):
    with pytest.raises(TypeError, match=message):
        evaluate(estimators, diabetes.data, diabetes.target)


def test_progress_is_told(diabetes, small_regressor, capsys):
    evaluate(small_regressor, diabetes.data, diabetes.target, cv=2, verbose=1)
    assert capsys.readouterr().err.startswith("2 of 2 fits, ")


class TestDisplays:
    @pytest.fixture(autouse=True)
    def pyplot(self):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("agg")
        from matplotlib import pyplot

        yield pyplot
        pyplot.close("all")

    @pytest.fixture
    def frame(self, diabetes, small_regressor):
        return evaluate(
            small_regressor, diabetes.data, diabetes.target, cv=2, l2_regularization=[1, 100]
        )

    def test_scores_with_spread(self, frame):
        display = SplitsScoreDisplay.from_frame(frame, ylabel="R²")
        assert [line.get_label() for line in display.lines_] == [
            "RuleBoostingRegressor, λ = 1",
            "RuleBoostingRegressor, λ = 100",
        ]
        is_drawn = (frame["l2_regularization"] == 1) & (frame["n_rules"] == 3)
        drawn = display.lines_[0].get_ydata()[-1]
        assert drawn == pytest.approx(frame[is_drawn]["test_score"].mean())
        assert len(display.ax_.collections) == 2
        assert display.ax_.get_ylabel() == "R²"
        assert display.ax_.get_xlabel() == "number of rules"
        display.figure_.canvas.draw()

    def test_seconds_start_with_the_first_rule(self, frame, pyplot):
        _, ax = pyplot.subplots()
        display = SplitsTimeDisplay.from_frame(frame, ax=ax)
        assert display.ax_ is ax
        assert display.lines_[0].get_xdata().tolist() == [1, 2, 3]
        assert ax.get_yscale() == "log"
        display.figure_.canvas.draw()

    def test_missing_matplotlib_names_the_extra(self, frame, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(ImportError, match=r"pip install .laconic\[plot\]"):
            SplitsScoreDisplay.from_frame(frame)
