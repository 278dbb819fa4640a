"""Repeated splits, the areas below their curves, and pictures of them: tools of the benchmarks."""

from __future__ import annotations

from importlib.metadata import packages_distributions

import matplotlib as mpl
import matplotlib.pyplot as plt
import narwhals as nw
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.evaluation import curve_areas, evaluate
from benchmarks.split_displays import SplitsScoreDisplay, SplitsTimeDisplay
from estimators import diabetes_table
from laconic import RuleBoostingRegressor
from laconic.models.curves import normalized_area, score_curve

mpl.use("Agg")

COLUMNS = [
    "estimator",
    "l2_regularization",
    "split",
    "n_terms",
    "train_score",
    "test_score",
    "seconds",
]


@pytest.fixture(scope="module")
def diabetes():
    return diabetes_table()


@pytest.fixture
def small_regressor():
    return RuleBoostingRegressor(n_terms=3, max_conditions=2, max_thresholds=3)


def test_evaluate_gives_a_row_per_size(diabetes, small_regressor):
    greedy = RuleBoostingRegressor(n_terms=3, search="greedy")
    frame = evaluate(
        {"optimal": small_regressor, "greedy": greedy},
        diabetes.data,
        diabetes.target,
        cv=ShuffleSplit(2, random_state=0),
        l2_regularization=[1, 10],
        n_terms=2,
    )
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 2 * 2 * 2 * 3
    assert set(frame["n_terms"]) == {0, 1, 2}
    assert set(frame["l2_regularization"]) == {1.0, 10.0}
    assert (frame[frame["n_terms"] == 0]["seconds"] == 0).all()
    assert (frame["seconds"].groupby(frame.index // 3).diff().dropna() > 0).all()
    assert not hasattr(small_regressor, "ensemble_")
    assert small_regressor.n_terms == 3


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_automatic_penalties(diabetes, small_regressor, backend):
    automatic = clone(small_regressor).set_params(l2_regularization="auto")
    data, target = diabetes.data, diabetes.target
    frame = evaluate(automatic, data, target, cv=2, n_terms=1, backend=backend)
    assert set(frame["l2_regularization"]) == {"auto"}
    assert len(curve_areas(frame)) == 2
    both = evaluate(
        small_regressor,
        data,
        target,
        cv=2,
        n_terms=1,
        l2_regularization=[1, "auto"],
        backend=backend,
    )
    assert set(both["l2_regularization"]) == {"1.0", "auto"}
    assert set(curve_areas(both)["l2_regularization"]) == {"1.0", "auto"}


def test_evaluate_agrees_with_a_fit_by_hand(diabetes, small_regressor):
    train, test = next(ShuffleSplit(1, random_state=0).split(diabetes.data))
    frame = evaluate(small_regressor, diabetes.data, diabetes.target, cv=[(train, test)])
    small_regressor.fit(diabetes.data.iloc[train], diabetes.target[train])
    curve = score_curve(small_regressor, diabetes.data.iloc[test], diabetes.target[test])
    assert frame["test_score"].tolist() == curve.tolist()
    assert frame["estimator"].unique().tolist() == ["RuleBoostingRegressor"]


@pytest.mark.skipif(
    "benchmarks" in packages_distributions(),
    reason="other processes import the benchmarks of an installed package (pyarrow 17)",
)
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
    dataset = diabetes_table(backend)
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
        pipeline, diabetes.data, diabetes.target, cv=2, l2_regularization=[2.0], n_terms=1
    )
    assert frame["n_terms"].tolist() == [0, 1, 0, 1]
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


@pytest.fixture(scope="module")
def two_penalties(diabetes):
    model = RuleBoostingRegressor(n_terms=3, max_conditions=2, max_thresholds=3)
    return evaluate(model, diabetes.data, diabetes.target, cv=2, l2_regularization=[1, 100])


def test_scores_are_drawn_with_their_spread(two_penalties):
    display = SplitsScoreDisplay.from_frame(two_penalties, ylabel="R²")
    assert [line.get_label() for line in display.lines_] == [
        "RuleBoostingRegressor, λ = 1",
        "RuleBoostingRegressor, λ = 100",
    ]
    is_drawn = (two_penalties["l2_regularization"] == 1) & (two_penalties["n_terms"] == 3)
    drawn = display.lines_[0].get_ydata()[-1]
    assert drawn == pytest.approx(two_penalties[is_drawn]["test_score"].mean())
    assert len(display.ax_.collections) == 2
    assert display.ax_.get_ylabel() == "R²"
    assert display.ax_.get_xlabel() == "number of rules"
    display.figure_.canvas.draw()
    plt.close(display.figure_)


def test_drawn_seconds_start_with_the_first_rule(two_penalties):
    figure, ax = plt.subplots()
    display = SplitsTimeDisplay.from_frame(two_penalties, ax=ax)
    assert display.ax_ is ax
    assert display.lines_[0].get_xdata().tolist() == [1, 2, 3]
    assert ax.get_yscale() == "log"
    figure.canvas.draw()
    plt.close(figure)
