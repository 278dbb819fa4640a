"""Estimators that choose the number of rules."""

import inspect
import pickle
import re
import signal
import threading

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rounds import make_rounds, run_boost
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold

from estimators import RULES_BY_GAIN, forms, mixed_columns
from laconic import (
    Condition,
    RuleBoostingClassifierCV,
    RuleBoostingRegressorCV,
    RuleEnsemble,
    export,
    load_model,
    save_model,
)
from laconic.candidates.candidates import candidate_conditions
from laconic.losses import SquaredLoss
from laconic.plot import (
    ContributionDisplay,
    CrossValidationDisplay,
    RuleBoxDisplay,
    RuleOverlapDisplay,
    RuleWeightDisplay,
    SizeScoreDisplay,
)

mpl.use("Agg")

ESTIMATORS = {"classifier": RuleBoostingClassifierCV, "regressor": RuleBoostingRegressorCV}
both = pytest.mark.parametrize("task", ESTIMATORS)
# The targets follow from rules, whose number is known.
JOINT = RULES_BY_GAIN


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def known_rules(task, n_true, seed, n_rows=None):
    """A table whose target follows from some rules, besides noise; five of eight columns matter."""
    n_rows = n_rows or {"regressor": 300, "classifier": 1000}[task]
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n_rows, 8))
    rules = [X[:, 0] > 1, (X[:, 1] > 1) & (X[:, 2] > 0), (X[:, 3] <= 1) & (X[:, 4] > 1)]
    score = np.zeros(n_rows)
    for weight, covered in zip((4.0, -2.0, 1.5)[:n_true], rules[:n_true], strict=True):
        score += weight * covered
    if task == "regressor":
        return X, score + rng.normal(size=n_rows)
    return X, rng.random(n_rows) < 1 / (1 + np.exp(score.mean() - score))


@both
@pytest.mark.parametrize(("n_true", "at_least"), [(0, 9), (1, 8), (3, 8)])
def test_the_true_number_is_found(task, n_true, at_least):
    found = [
        ESTIMATORS[task](**JOINT).fit(*known_rules(task, n_true, seed)).n_terms_
        for seed in range(10)
    ]
    assert found.count(n_true) >= at_least, found


def test_every_size_is_judged_with_its_own_weights():
    X, y = known_rules("regressor", 3, 0, n_rows=90)
    splits = list(KFold(3).split(X))
    model = RuleBoostingRegressorCV(4, cv=splits, l2_regularization=1.0, **JOINT).fit(X, y)
    assert len(model.cv_results_["n_terms"]) == 5
    names = model.ensemble_.feature_names
    for number, (train, test) in enumerate(splits):
        rounds = make_rounds(
            candidate_conditions(X[train]),
            y[train],
            SquaredLoss(),
            l2_regularization=1.0,
            is_joint=True,
            fit_intercept=True,
            search_options={"max_conditions": 3},
        )
        states = run_boost(rounds, 4, RuleEnsemble((), y[train].mean()))
        ensembles = [state.ensemble for state in states]
        losses = [np.square(y[test] - y[train].mean()).mean()]
        for ensemble in ensembles:
            part = pd.DataFrame(X[test], columns=names)
            losses.append(np.square(y[test] - ensemble.raw_predictions(part)).mean())
        assert_allclose(model.cv_results_[f"split{number}_loss"], losses)
        # The first rules of a larger model are something else.
        first = ensembles[-1][:1].raw_predictions(pd.DataFrame(X[test], columns=names))
        assert abs(np.square(y[test] - first).mean() - losses[1]) > 1e-6


@both
def test_the_model_is_that_of_all_rows(task):
    X, y = known_rules(task, 3, 0)
    model = ESTIMATORS[task](**JOINT).fit(X, y)
    plain = ESTIMATORS[task].__base__(model.n_terms_, **JOINT).fit(X, y)
    assert model.ensemble_ == plain.ensemble_
    assert model.rule_coverages_ == plain.rule_coverages_
    assert [result.query for result in model.search_results_] == [
        result.query for result in plain.search_results_
    ]
    assert model.cv_results_["n_terms"][-1] == len(model.cv_results_["mean_loss"]) - 1 <= 10
    assert_array_equal(model.predict(X), ESTIMATORS[task](**JOINT).fit(X, y).predict(X))


def test_sorted_rows_do_no_harm():
    X, y = known_rules("regressor", 1, 0)
    order = np.argsort(y)
    assert RuleBoostingRegressorCV(**JOINT).fit(X[order], y[order]).n_terms_ == 1


def test_sizes_end_where_no_further_rule_helps():
    X, y = known_rules("regressor", 0, 0)
    results = RuleBoostingRegressorCV(50, **JOINT).fit(X, y).cv_results_
    best = results["mean_loss"].argmin()
    assert results["n_terms"][-1] == best + 3


@both
def test_print_says_how_the_number_was_chosen(task):
    X, y = known_rules(task, 1, 0)
    model = ESTIMATORS[task](7, **JOINT).fit(X, y)
    sentence = str(model).splitlines()[-1]
    assert sentence.startswith("1 of up to 7 terms: chosen by 5-fold cross-validation, ")
    assert sentence == model.reason_
    assert sentence in model._repr_html_()
    assert str(clone(model)) == repr(clone(model))


def test_sentence_names_the_best_size():
    reasons = {}
    for seed in range(10):
        model = RuleBoostingRegressorCV(**JOINT).fit(*known_rules("regressor", 1, seed))
        best = int(model.cv_results_["mean_loss"].argmin())
        reasons[model.reason_.split("cross-validation, ")[1]] = (model.n_terms_, best)
    n_terms, best = reasons.pop("with the smallest loss.")
    assert n_terms == best
    for words, (n_terms, best) in reasons.items():
        assert n_terms < best
        start = "the fewest within one standard error of the smallest loss, that of "
        assert words == f"{start}{best} terms."
    assert reasons


@both
def test_a_model_without_rules_can_do_everything(task, tmp_path):
    X, y = known_rules(task, 0, 1, n_rows=300)
    X = pd.DataFrame(X, columns=list("abcdefgh"))
    model = ESTIMATORS[task](**JOINT).fit(X, y)
    assert model.n_terms_ == len(model.ensemble_) == len(model.search_results_) == 0
    assert "(intercept)" in str(model)
    assert "0 of up to 10 terms" in model._repr_html_()
    assert len(np.unique(model.predict(X))) == 1
    assert list(model.staged_predict(X)) == []
    assert "(intercept)" in str(model.explain(X[:1]))
    assert_array_equal(model.shapley_values(X[:2], X).values, 0)
    assert "<html" in model.report(X, y).to_html()
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert_array_equal(loaded.predict(X), model.predict(X))
    for write in (export.to_python, export.to_javascript, export.to_pmml, export.to_json):
        assert write(model)
    assert "SELECT" in export.to_sql(model, dialect="duckdb", table="t").upper()
    export.to_onnx(model)
    ContributionDisplay.from_estimator(model, X)
    RuleBoxDisplay.from_estimator(model, X, y, features=["a", "b"])
    RuleOverlapDisplay.from_estimator(model, X)
    RuleWeightDisplay.from_estimator(model)
    SizeScoreDisplay.from_estimator(model, X, y)
    display = CrossValidationDisplay.from_estimator(model)
    assert display.chosen_.get_xdata() == [0]


@both
def test_picture_of_the_choice(task):
    X, y = known_rules(task, 1, 0)
    model = ESTIMATORS[task](**JOINT).fit(X, y)
    display = CrossValidationDisplay.from_estimator(model)
    line = display.curve_.lines[0]
    assert_array_equal(line.get_ydata(), model.cv_results_["mean_loss"])
    assert display.chosen_.get_label() == "chosen: 1"
    with pytest.raises(TypeError, match="Fit a RuleBoostingClassifierCV or"):
        CrossValidationDisplay.from_estimator(clone(model))


@both
def test_pickle_clone_and_grid_search(task):
    X, y = known_rules(task, 1, 0, n_rows=120)
    model = ESTIMATORS[task](4, cv=3, max_conditions=2).fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert (loaded.ensemble_, loaded.n_terms_) == (model.ensemble_, model.n_terms_)
    assert_array_equal(loaded.cv_results_["mean_loss"], model.cv_results_["mean_loss"])
    assert clone(model).get_params() == model.get_params()
    grid = {"l2_regularization": [1.0, 10.0], "cv": [2, 3]}
    found = GridSearchCV(clone(model), grid, cv=2).fit(X, y)
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()
    assert hasattr(found.best_estimator_, "n_terms_")


@both
def test_weights_count_like_rows(task):
    X, y = known_rules(task, 3, 0, n_rows=150)
    weights = np.random.default_rng(0).integers(0, 3, 150)
    groups = np.arange(150) % 3
    repeated = np.repeat(np.arange(150), weights)

    def splits(groups):
        return [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(3)]

    parameters = {"n_terms": 5, "max_conditions": 2}
    model = ESTIMATORS[task](cv=splits(groups), **parameters).fit(X, y, weights)
    other = ESTIMATORS[task](cv=splits(groups[repeated]), **parameters)
    other.fit(X[repeated], y[repeated])
    assert forms(model) == forms(other)
    assert_allclose(model.predict(X), other.predict(X))
    for name, values in model.cv_results_.items():
        assert_allclose(values, other.cv_results_[name])


@pytest.mark.parametrize("backend", ["pandas", "lists"])
def test_tables_of_all_kinds(backend):
    columns, score = mixed_columns()
    X = pd.DataFrame(columns)
    if backend == "lists":
        X = [list(row) for row in zip(*columns.values(), strict=True)]
    model = RuleBoostingRegressorCV(5, cv=3, max_conditions=2).fit(X, score)
    assert 1 <= model.n_terms_ == len(model.ensemble_)


def test_conditions_follow_the_rows_of_each_fold():
    def middle(part):
        seen.append(len(part))
        return [Condition("x0", ">", float(np.median(part[:, 0])))]

    seen = []
    X, y = known_rules("regressor", 1, 0)
    RuleBoostingRegressorCV(2, cv=3, conditions=middle).fit(X, y)
    assert seen == [300, 200, 200, 200]


@pytest.mark.parametrize("cv", [1, 2.5, "five", True])
def test_cv_is_checked(cv):
    with pytest.raises(ValueError, match="The 'cv' parameter of RuleBoostingRegressorCV must be"):
        RuleBoostingRegressorCV(cv=cv).fit([[1], [2], [3]], [1, 2, 3])


def test_warm_start_is_refused():
    message = "chooses the number of terms anew in every fit. Use RuleBoostingClassifier to add"
    with pytest.raises(TypeError, match=message):
        RuleBoostingClassifierCV(warm_start=True)
    assert "warm_start" not in RuleBoostingClassifierCV().get_params()
    with pytest.raises(TypeError, match="colour"):
        RuleBoostingClassifierCV(colour="red")


@both
def test_help_lists_all_parameters(task):
    doc = inspect.getdoc(ESTIMATORS[task])
    names = inspect.signature(ESTIMATORS[task]).parameters
    plain = inspect.signature(ESTIMATORS[task].__base__).parameters
    assert set(names) == set(plain) - {"warm_start"} | {"cv"}
    assert list(names)[:2] == ["n_terms", "cv"]
    assert all(re.search(rf"\n{name} : .*\n    \S", doc) for name in [*names, "cv_results_"])
    assert "warm_start :" not in doc


def test_progress_tells_folds_from_the_fit(capsys):
    X, y = known_rules("regressor", 1, 0)
    RuleBoostingRegressorCV(2, cv=2, verbose=1, **JOINT).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    starts = [re.match(r"[^:]*", line).group() for line in lines]
    assert starts == [
        *("fold 1 of 2, term 1 of 2", "fold 2 of 2, term 1 of 2"),
        *("fold 1 of 2, term 2 of 2", "fold 2 of 2, term 2 of 2"),
        "term 1 of 1",
    ]


def interrupt_at(stage, n_terms):
    def press(progress):
        if progress.stage == stage and progress.search is None and len(progress.terms) == n_terms:
            signal.raise_signal(signal.SIGINT)

    return press


@both
@pytest.mark.parametrize("strategy", ["joint", "polished"])
def test_folds_side_by_side_find_the_same(task, strategy):
    X, y = known_rules(task, 2, 0)
    parameters = JOINT | {"strategy": strategy}
    one = ESTIMATORS[task](4, **parameters).fit(X, y)
    for n_jobs in (2, 3, 7):
        other = ESTIMATORS[task](4, n_jobs=n_jobs, **parameters).fit(X, y)
        assert other.ensemble_ == one.ensemble_
        assert {*other.cv_results_} == {*one.cv_results_}
        for name, values in one.cv_results_.items():
            assert_array_equal(other.cv_results_[name], values)


def test_callbacks_of_folds_side_by_side_need_not_know_of_threads():
    threads, stages, is_running = set(), [], False

    def note(progress):
        nonlocal is_running
        assert not is_running
        is_running = True
        threads.add(threading.current_thread())
        if progress.search is None:
            stages.append(progress.stage)
        is_running = False

    X, y = known_rules("regressor", 1, 0)
    RuleBoostingRegressorCV(2, cv=3, n_jobs=3, callback=note, **JOINT).fit(X, y)
    assert threads == {threading.current_thread()}
    folds = [f"fold {number} of 3" for number in (1, 2, 3)]
    assert sorted(stages[:3]) == sorted(stages[3:6]) == folds


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_errors_of_callbacks_in_folds_are_raised(n_jobs):
    def refuse(progress):
        raise ArithmeticError(progress.stage)

    X, y = known_rules("regressor", 1, 0)
    model = RuleBoostingRegressorCV(2, cv=3, n_jobs=n_jobs, callback=refuse, **JOINT)
    with pytest.raises(ArithmeticError, match="fold 1 of 3"):
        model.fit(X, y)


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_ctrl_c_in_a_fold_can_keep_what_is_known(n_jobs):
    X, y = known_rules("regressor", 3, 0)
    callback = interrupt_at("fold 2 of 5", 3)
    model = RuleBoostingRegressorCV(callback=callback, on_interrupt="keep", n_jobs=n_jobs, **JOINT)
    with pytest.warns(ConvergenceWarning, match="chosen among 0 to 2, not up to 10") as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert (len(model.ensemble_), len(model.cv_results_["n_terms"])) == (2, 3)
    assert model.reason_.startswith("2 of up to 2 terms: ")
    assert model.reason_.endswith("at the limit of 2 terms: more may be better.")


@pytest.mark.parametrize("n_jobs", [None, 3])
@pytest.mark.parametrize(("on_interrupt", "n_terms"), [("keep", 1), ("raise", 3)])
def test_ctrl_c_in_a_fold_raises_otherwise(on_interrupt, n_terms, n_jobs):
    X, y = known_rules("regressor", 3, 0)
    callback = interrupt_at("fold 2 of 5", n_terms)
    model = RuleBoostingRegressorCV(
        callback=callback, on_interrupt=on_interrupt, n_jobs=n_jobs, **JOINT
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "ensemble_")


def test_ctrl_c_after_the_folds_keeps_rules():
    X, y = known_rules("regressor", 3, 0)
    model = RuleBoostingRegressorCV(callback=interrupt_at("", 1), on_interrupt="keep", **JOINT)
    with pytest.warns(ConvergenceWarning, match=r"model has 1 of 3 terms\. Fit again to find"):
        model.fit(X, y)
    assert (model.n_terms_, len(model.ensemble_)) == (3, 1)


def test_callback_ends_the_folds():
    X, y = known_rules("regressor", 3, 0)
    model = RuleBoostingRegressorCV(callback=lambda progress: len(progress.terms) == 2, **JOINT)
    model.fit(X, y)
    assert len(model.cv_results_["n_terms"]) == 2
    assert len(model.ensemble_) == model.n_terms_ == 1
