"""The estimators: what is seen of a running fit, and how it is ended."""

import _thread
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.validation import check_is_fitted

from estimators import numeric_problem
from laconic import (
    FitProgress,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
)


def hard_problem(signal=10.0):
    """Noise, which takes far more than any test's time to prove anything about.

    With a signal the first rule is easy: it is about the first column only.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))
    X[:, 0] = rng.choice([0, 1], 400)
    return X, signal * X[:, 0] + rng.choice([-1.0, 1.0], 400)


# Were interrupts ignored, the time limit would end the search, far later than the tests allow.
HARD = {
    "l2_regularization": 0.0,
    "max_conditions": None,
    "node_limit": None,
    "time_limit": 120.0,
}
PATIENCE = 60.0


def test_verbose_prints_rules(capsys):
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    found = [line for line in lines if "proven optimal" in line]
    assert len(found) == 3
    for line, stage in zip(found, model.stages_[1:], strict=True):
        assert line.startswith(f"term {len(stage)} of 3: {stage.text(stage[-1])} [objective ")


def test_silent_by_default(capsys):
    X, y = numeric_problem("regressor")
    RuleBoostingRegressor(3).fit(X, y)
    assert capsys.readouterr() == ("", "")


def test_callback_sees_every_rule():
    def remember(progress):
        if progress.search is None:
            seen.append(progress)

    seen = []
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3, callback=remember).fit(X, y)
    assert all(isinstance(progress, FitProgress) for progress in seen)
    assert [len(progress.terms) for progress in seen] == [1, 2, 3]
    assert seen[-1].terms == model.ensemble_.terms
    assert list(seen[-1].search_results) == model.search_results_
    assert {progress.n_terms for progress in seen} == {3}


def test_callback_sees_weights_change():
    def remember(progress):
        if progress.search is None:
            seen.append(progress.terms)

    seen = []
    X, y = numeric_problem("regressor")
    options = {"strategy": "joint", "fit_intercept": True, "max_conditions": 2}
    model = RuleBoostingRegressor(3, callback=remember, **options).fit(X, y)
    assert [len(rules) for rules in seen] == [1, 2, 3]
    assert seen[-1] == model.ensemble_.terms
    assert replace(seen[0][0], weight=0.0) == replace(seen[1][0], weight=0.0)
    assert seen[0][0].weight != seen[1][0].weight


def test_callback_ends_the_fit_after_a_rule():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(callback=lambda progress: len(progress.terms) == 2).fit(X, y)
    assert model.ensemble_ == RuleBoostingRegressor(2).fit(X, y).ensemble_
    assert len(model.search_results_) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callback_ends_the_fit_during_a_search(n_jobs):
    def stop(progress):
        if progress.search is None:
            return False
        seen.append(progress.search)
        return len(progress.terms) == 1 and progress.search.n_nodes > 0

    seen = []
    X, y = hard_problem()
    model = RuleBoostingRegressor(5, callback=stop, n_jobs=n_jobs, **HARD).fit(X, y)
    assert len(model.ensemble_) == len(model.search_results_) == 1
    assert seen[-1].objective_value < seen[-1].bound
    assert 0 < seen[-1].approximation_ratio < 1


def test_callback_may_stop_before_the_first_rule():
    X, y = hard_problem(signal=0.0)
    model = RuleBoostingRegressor(5, callback=lambda progress: True, **HARD).fit(X, y)
    assert len(model.ensemble_) == 0
    assert_allclose(model.predict(X), y.mean())


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("during_search", [False, True])
def test_error_in_callback_reaches_the_caller(n_jobs, during_search):
    def fail(progress):
        if (progress.search is not None) == during_search:
            raise RuntimeError("the dashboard is gone")

    X, y = hard_problem()
    model = RuleBoostingRegressor(5, callback=fail, n_jobs=n_jobs, **HARD)
    with pytest.raises(RuntimeError, match="the dashboard is gone"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


class PressCtrlC:
    """Callback that has Ctrl-C arrive a moment after the first rule, from another thread."""

    def __init__(self):
        self.timer = threading.Timer(0.3, _thread.interrupt_main)

    def __call__(self, progress):
        if progress.search is None and len(progress.terms) == 1:
            self.timer.start()


@pytest.fixture
def press_ctrl_c():
    callback = PressCtrlC()
    yield callback
    callback.timer.cancel()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_raises_by_default(press_ctrl_c, n_jobs):
    X, y = hard_problem()
    model = RuleBoostingRegressor(5, callback=press_ctrl_c, n_jobs=n_jobs, **HARD)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - started < PATIENCE
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(X)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_can_keep_rules(press_ctrl_c, n_jobs):
    X, y = hard_problem()
    model = RuleBoostingRegressor(
        5, callback=press_ctrl_c, n_jobs=n_jobs, on_interrupt="keep", **HARD
    )
    started = time.monotonic()
    with pytest.warns(ConvergenceWarning, match="Interrupted: the model has 1 of 5 terms"):
        model.fit(X, y)
    assert time.monotonic() - started < PATIENCE
    assert model.ensemble_ == RuleBoostingRegressor(1, **HARD).fit(X, y).ensemble_
    assert len(model.search_results_) == 1


def test_ctrl_c_without_callback():
    X, y = hard_problem()
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            RuleBoostingRegressor(5, on_interrupt="raise", **HARD).fit(X, y)
    finally:
        timer.cancel()
    assert time.monotonic() - started < PATIENCE


def test_ctrl_c_stops_searches_side_by_side():
    X, y = hard_problem()
    n_threads = threading.active_count()  # other tests may have left some
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            RuleBoostingRegressorCV(5, n_jobs=3, **HARD).fit(X, y)
    finally:
        timer.cancel()
    assert time.monotonic() - started < PATIENCE
    assert threading.active_count() <= n_threads


def test_ctrl_c_before_the_first_rule_always_raises():
    def interrupt(progress):
        signal.raise_signal(signal.SIGINT)

    X, y = hard_problem(signal=0.0)
    model = RuleBoostingRegressor(5, callback=interrupt, on_interrupt="keep", **HARD)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)


def test_interrupted_fit_can_go_on(press_ctrl_c):
    X, y = hard_problem()
    model = RuleBoostingRegressor(
        3, callback=press_ctrl_c, on_interrupt="keep", warm_start=True, **HARD
    )
    with pytest.warns(ConvergenceWarning, match="Fit again with warm_start=True"):
        model.fit(X, y)
    model.set_params(callback=None, max_conditions=1).fit(X, y)
    assert len(model.ensemble_) == 3


def test_failed_fit_forgets_the_model_before():
    X, y = numeric_problem("classifier")
    model = RuleBoostingClassifier(2).fit(X, y)
    with pytest.raises(ValueError, match="min_coverage"):
        model.set_params(min_coverage=81).fit(X[:, :2], np.array(["a", "b"])[y])
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
