"""The estimators: callbacks of scikit-learn, where it has them."""

import io
import subprocess
import sys
from contextlib import redirect_stdout

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from estimators import ESTIMATORS, both, numeric_problem
from laconic import RuleBoostingClassifier, RuleBoostingRegressor, RuleBoostingRegressorCV

try:
    from sklearn.callback import ProgressBar, ScoringMonitor
except ImportError:
    pytest.skip("scikit-learn before 1.9 has no callbacks", allow_module_level=True)


class Recorder:
    """Writes down what it is told, and ends a fit after some rules."""

    def __init__(self, n_terms=None):
        self.n_terms = n_terms
        self.calls = []
        self.models = []
        self.told = []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(
        self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
    ):
        self.calls.append(("end", context.task_name, context.task_id))
        self.models.append(fitted_estimator)
        self.told.append((X, y, metadata))
        return context.task_name == "term" and context.task_id + 1 == self.n_terms

    @property
    def n_found(self):
        return sum(call[:2] == ("end", "term") for call in self.calls)


def rule_calls(n_terms):
    return [(what, "term", number) for number in range(n_terms) for what in ("begin", "end")]


@both
def test_every_rule_is_a_task(task):
    X, y = numeric_problem(task)
    recorder = Recorder()
    model = ESTIMATORS[task](3).set_callbacks(recorder).fit(X, y)
    expected = [("begin", "fit", 0), *rule_calls(3), ("end", "fit", 0)]
    assert recorder.calls == ["setup", *expected, "teardown"]
    assert [seen.ensemble_ for seen in recorder.models[:3]] == list(model.stages_[1:])
    assert recorder.models[-1].ensemble_ == model.ensemble_
    np.testing.assert_array_equal(recorder.models[-2].predict(X), model.predict(X))
    assert all(told[0] is X and told[1] is y and told[2] is None for told in recorder.told)


def test_three_classes():
    X, _ = numeric_problem("regressor")
    recorder = Recorder()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = RuleBoostingClassifier(4).set_callbacks(recorder).fit(X, y)
    assert recorder.n_found == len(model.ensemble_) == 4


def test_models_are_the_same_with_and_without():
    X, y = numeric_problem("regressor")
    seen = []
    plain = RuleBoostingRegressor(3, strategy="polished").fit(X, y)
    told = RuleBoostingRegressor(3, strategy="polished", callback=seen.append)
    told.set_callbacks(Recorder()).fit(X, y)
    assert told.ensemble_ == plain.ensemble_
    assert [len(each.terms) for each in seen if each.search is None][:3] == [1, 2, 3]


def test_a_fit_without_callbacks_has_no_tasks(monkeypatch):
    def fail(*args, **kwargs):
        raise AssertionError

    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(2).set_callbacks(Recorder()).set_callbacks()
    monkeypatch.setattr(RuleBoostingRegressor, "_init_callback_context", fail)
    monkeypatch.setattr("laconic.estimators.callbacks.RuleTasks.__init__", fail)
    assert len(model.fit(X, y).ensemble_) == 2
    assert not any("callback" in name for name in vars(model) if name != "callback")


@both
def test_a_callback_ends_the_fit(task):
    X, y = numeric_problem(task)
    recorder = Recorder(n_terms=2)
    model = ESTIMATORS[task](5).set_callbacks(recorder).fit(X, y)
    assert len(model.ensemble_) == recorder.n_found == 2
    assert recorder.calls[-2:] == [("end", "fit", 0), "teardown"]


def test_callbacks_do_not_end_the_fits_of_folds():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(3).fit(X, y)
    expected = model.conformalize(X, y, cv=2)
    recorder = Recorder(n_terms=1)
    assert model.set_callbacks(recorder).conformalize(X, y, cv=2) == expected
    assert recorder.calls == []


def test_a_search_that_finds_no_rule_is_a_task_too():
    recorder = Recorder()
    X = [[1.0], [2.0], [3.0], [4.0]]
    model = RuleBoostingRegressor(5, l2_regularization=0).set_callbacks(recorder)
    model.fit(X, [5, 5, 1, 1])
    assert len(model.ensemble_) == 1
    assert recorder.calls[2:-2] == rule_calls(2)


def test_errors_tear_down():
    def fail(progress):
        raise RuntimeError("full disk")

    X, y = numeric_problem("regressor")
    recorder = Recorder()
    model = RuleBoostingRegressor(3, callback=fail).set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="full disk"):
        model.fit(X, y)
    assert recorder.calls[-1] == "teardown"
    assert ("end", "fit", 0) not in recorder.calls
    assert not hasattr(model, "_callback_fit_ctx")


def test_rules_that_go_on():
    X, y = numeric_problem("regressor")
    model = RuleBoostingRegressor(2, warm_start=True).fit(X, y)
    recorder = Recorder()
    model.set_params(n_terms=5).set_callbacks(recorder).fit(X, y)
    assert recorder.n_found == 3
    assert [len(seen.ensemble_) for seen in recorder.models] == [3, 4, 5, 5]


def test_rules_that_go_out_again():
    X, y = numeric_problem("regressor")
    recorder = Recorder()
    model = RuleBoostingRegressor(4, weight_signs="positive", monotonic_cst=[1, -1, 0])
    model.set_callbacks(recorder).fit(X, y)
    assert recorder.n_found >= len(model.ensemble_) > 0


def test_weights_and_rates_are_told():
    rng = np.random.default_rng(0)
    X, years, weights = rng.normal(size=(60, 2)), rng.uniform(1, 3, 60), rng.uniform(1, 2, 60)
    counts = rng.poisson(years * np.exp(X[:, 0]))
    recorder = Recorder()
    model = RuleBoostingRegressor(2, loss="poisson").set_callbacks(recorder)
    model.fit(X, counts, weights, exposure=years)
    _, y, metadata = recorder.told[-1]
    np.testing.assert_allclose(y, counts / years)
    np.testing.assert_allclose(metadata["sample_weight"], weights * years)


def test_folds_are_tasks_with_terms():
    X, y = numeric_problem("regressor")
    recorder = Recorder()
    model = RuleBoostingRegressorCV(3, cv=2).set_callbacks(recorder).fit(X, y)
    begun = [call[1] for call in recorder.calls if call[0] == "begin"]
    ended = [call[1] for call in recorder.calls if call[0] == "end"]
    assert sorted(begun) == sorted(ended)
    assert [name for name in begun if name != "term"] == ["fit", "fold", "fold", "all rows"]
    last = begun.index("all rows")
    assert begun[last + 1 :] == ["term"] * model.n_terms_
    assert ended[-2:] == ["all rows", "fit"]
    assert recorder.models[-1].ensemble_ == model.ensemble_


@pytest.mark.parametrize("estimator", [RuleBoostingRegressor(3), RuleBoostingRegressorCV(3, cv=2)])
def test_progress_bar(estimator):
    X, y = numeric_problem("regressor")
    shown = io.StringIO()
    with redirect_stdout(shown):
        estimator.set_callbacks(ProgressBar()).fit(X, y)
    assert type(estimator).__name__ in shown.getvalue()
    assert "100%" in shown.getvalue()


def test_scores_of_every_size():
    X, y = numeric_problem("regressor")
    monitor = ScoringMonitor(scoring="r2")
    model = RuleBoostingRegressor(3).set_callbacks(monitor).fit(X, y)
    whole, *rules = [entry["r2"] for entry in monitor.get_logs().data]
    assert whole == rules[-1] == pytest.approx(model.score(X, y))
    assert rules == sorted(set(rules))
    assert len(rules) == 3


def test_inside_of_other_estimators():
    X, y = numeric_problem("regressor")
    shown = io.StringIO()
    pipeline = make_pipeline(StandardScaler(), RuleBoostingRegressor(2))
    search = GridSearchCV(pipeline, {"ruleboostingregressor__n_terms": [1, 2]}, cv=2)
    with redirect_stdout(shown):
        search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert "RuleBoostingRegressor" in shown.getvalue()
    assert hasattr(search.best_estimator_[-1], "ensemble_")


def test_clones_keep_callbacks():
    recorder = Recorder()
    X, y = numeric_problem("regressor")
    clone(RuleBoostingRegressor(2).set_callbacks(recorder)).fit(X, y)
    assert recorder.n_found == 2


def test_without_callbacks_in_scikit_learn():
    program = """
import sys
import sklearn.model_selection, sklearn.pipeline
sys.modules["sklearn.callback"] = None
from laconic import RuleBoostingRegressor
model = RuleBoostingRegressor(2).fit([[1.0], [2.0], [3.0], [4.0]], [1, 1, 5, 6])
assert len(model.ensemble_) == 2
assert not hasattr(model, "set_callbacks")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
