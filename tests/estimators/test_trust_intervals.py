"""Intervals and sets of fitted models: conformalize, predict_interval and predict_set."""

import json
import math

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, RepeatedKFold, StratifiedKFold

from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
    scan,
)
from laconic.estimators.conformal import calibrated
from laconic.export import model_schema, model_to_dict
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.trust.intervals import UNSEEN, conformal_quantile

N_ROWS = 240


def numbers(n_rows=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).round(2)
    y = 2.0 * (X[:, 0] > 0) + (1 + (X[:, 0] > 0)) * rng.normal(size=n_rows)
    return X, y


def classes(names=("no", "yes"), n_rows=N_ROWS, seed=0):
    X, y = numbers(n_rows, seed)
    cuts = np.quantile(y, np.arange(1, len(names)) / len(names))
    return X, np.array(names)[np.searchsorted(cuts, y)]


def error_of(quantity, X, y, splits, model):
    """Out-of-fold errors, straightforwardly."""
    found = np.full(len(y), np.nan)
    for train, test in splits:
        found[test] = quantity(clone(model).fit(X[train], y[train]), X[test], y[test])
    return found


def test_half_widths_are_quantiles_of_errors_for_rows_held_out():
    X, y = numbers()
    model = RuleBoostingRegressor(3).fit(X, y)
    splits = [*KFold(5, shuffle=True, random_state=3).split(X)]
    errors = error_of(lambda one, X, y: np.abs(one.predict(X) - y), X, y, splits, model)
    answer = model.conformalize(X, y, cv=5, random_state=3)
    assert answer == model.conformalize(X, y, cv=splits) == model.trust_.intervals
    groups = np.searchsorted(answer.edges, model.predict(X))
    assert len(answer.half_widths) > 1
    for place, half_width in enumerate(answer.half_widths):
        assert half_width == conformal_quantile(errors[groups == place], 0.9)
    expected = model.predict(X)[:, np.newaxis] + np.outer(
        np.array(answer.half_widths)[groups], [-1, 1]
    )
    np.testing.assert_array_equal(model.predict_interval(X), expected)
    [row] = model.predict_interval(X[7:8])
    np.testing.assert_array_equal(row, expected[7])


@pytest.mark.parametrize("names", [("no", "yes"), ("a", "b", "c")])
def test_least_probabilities_are_quantiles_by_class(names):
    X, y = classes(names)
    model = RuleBoostingClassifier(3).fit(X, y)
    splits = [*StratifiedKFold(4, shuffle=True, random_state=0).split(X, y)]

    def own_share(one, X, y):
        return one.predict_proba(X)[np.arange(len(y)), np.searchsorted(names, y)]

    own = error_of(own_share, X, y, splits, model)
    answer = model.conformalize(X, y, cv=4, level=0.8)
    assert answer.classes == names
    least = [1 - conformal_quantile(1 - own[y == name], 0.8) for name in names]
    np.testing.assert_allclose(answer.least_probabilities, least, rtol=1e-8)
    sets = model.predict_set(X)
    np.testing.assert_array_equal(sets, model.predict_proba(X) >= answer.least_probabilities)
    words = model.predict_set(X, words=True)
    for row, text in zip(sets, words, strict=True):
        assert text == (" or ".join(np.array(names)[row]) or UNSEEN)


def test_sets_are_in_the_order_of_the_classes_whichever_is_positive():
    X, y = classes()
    sets = []
    for positive in ("yes", "no"):
        model = RuleBoostingClassifier(2, positive=positive).fit(X, y)
        model.conformalize(X, y, cv=4)
        sets.append(model.predict_set(X))
        assert model.classes_.tolist() == ["no", "yes"]
        text = model.predict_set(X, words=True)[sets[-1].all(axis=1)]
        assert {*text} <= {"no or yes"}
    # Up to ties, where 1 - probability has other digits.
    np.testing.assert_array_equal(*sets)


def test_unseen_rows_need_no_fits():
    X, y = numbers(600)
    model = RuleBoostingRegressor(3).fit(X[:300], y[:300])
    answer = model.conformalize(X[300:], y[300:], cv="prefit")
    assert (answer.method, answer.n) == ("split", 300)
    errors = np.abs(model.predict(X[300:]) - y[300:])
    groups = np.searchsorted(answer.edges, model.predict(X[300:]))
    for place, half_width in enumerate(answer.half_widths):
        assert half_width == conformal_quantile(errors[groups == place], 0.9)
    # Ties are the rule: the model has few probabilities.
    X, y = classes(n_rows=600)
    model = RuleBoostingClassifier(2).fit(X[:300], y[:300])
    model.conformalize(X[300:], y[300:], cv="prefit")
    inside = model.predict_set(X[300:])[np.arange(300), np.searchsorted(["no", "yes"], y[300:])]
    for name in ("no", "yes"):
        assert inside[y[300:] == name].mean() >= 0.9


@pytest.mark.parametrize("name", ["crepes", "mapie"])
def test_single_half_width_is_that_of_other_libraries(name):
    X, y = numbers(400)
    model = RuleBoostingRegressor(3).fit(X[:200], y[:200])
    given = (model, X[200:], y[200:], None, None)
    settings = {"groups": None, "cv": "prefit", "random_state": 0, "is_grouped": False}
    answer = calibrated(*given, level=0.9, **settings)
    limits = answer.limits(model.predict(X[:50]))
    if name == "crepes":
        crepes = pytest.importorskip("crepes")
        other = crepes.ConformalRegressor()
        other.fit(residuals=y[200:] - model.predict(X[200:]))
        expected = other.predict_int(y_hat=model.predict(X[:50]), confidence=0.9)
    else:
        mapie = pytest.importorskip("mapie.regression")
        other = mapie.SplitConformalRegressor(model, confidence_level=0.9, prefit=True)
        other.conformalize(X[200:], y[200:])
        expected = other.predict_interval(X[:50])[1][:, :, 0]
    np.testing.assert_allclose(limits, expected, rtol=1e-14)


def test_pooled_half_width_is_that_of_crepes_on_the_same_errors():
    crepes = pytest.importorskip("crepes")
    X, y = numbers()
    model = RuleBoostingRegressor(3).fit(X, y)
    splits = [*KFold(5, shuffle=True, random_state=0).split(X)]
    errors = error_of(lambda one, X, y: y - one.predict(X), X, y, splits, model)
    other = crepes.ConformalRegressor()
    other.fit(residuals=errors)
    settings = {"groups": None, "cv": 5, "random_state": 0, "is_grouped": False}
    answer = calibrated(model, X, y, None, None, level=0.95, **settings)
    expected = other.predict_int(y_hat=model.predict(X), confidence=0.95)
    np.testing.assert_allclose(answer.limits(model.predict(X)), expected, rtol=1e-14)


def test_sets_are_those_of_crepes_by_class():
    crepes = pytest.importorskip("crepes")
    X, y = classes(("a", "b", "c"), 600)
    model = RuleBoostingClassifier(3, slopes=True).fit(X[:300], y[:300])
    # Where (n + 1) * (1 - level) is a whole number, crepes has one rank more.
    model.conformalize(X[300:], y[300:], cv="prefit", level=0.8765)
    shares, new = model.predict_proba(X[300:]), model.predict_proba(X[:200])
    for place, name in enumerate(model.classes_):
        other = crepes.ConformalClassifier()
        other.fit(alphas=1 - shares[y[300:] == name, place])
        expected = other.predict_set(1 - new[:, [place]], confidence=0.8765, smoothing=False)
        np.testing.assert_array_equal(model.predict_set(X[:200])[:, place], expected[:, 0])


def test_new_rows_are_covered():
    shares = []
    for seed in range(10):
        X, y = numbers(300 + 500, seed)
        model = RuleBoostingRegressor(3).fit(X[:300], y[:300])
        model.conformalize(X[:300], y[:300], cv=5)
        low, high = model.predict_interval(X[300:]).T
        shares.append(np.mean((low <= y[300:]) & (y[300:] <= high)))
    assert np.mean(shares) == pytest.approx(0.9, abs=0.025)


KINDS = {
    "stagewise": {"strategy": "stagewise"},
    "polished": {"strategy": "polished"},
    "as short as the paper's": {"brevity": 0},
    "no slopes": {"slopes": False},
    "auto": {"n_terms": "auto"},
    "huber": {"loss": "huber"},
    "user-supplied loss": {"loss": type("Loss", (SquaredLoss,), {})()},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_kind_of_regression(kind):
    X, y = numbers(120)
    model = RuleBoostingRegressor(**{"n_terms": 2, **KINDS[kind]}).fit(X, y)
    answer = model.conformalize(X, y, cv=3)
    assert answer.n == sum(answer.counts) == 120
    assert np.isfinite(model.predict_interval(X)).all()


@pytest.mark.parametrize("kind", [RuleBoostingRegressorCV, RuleBoostingClassifierCV])
def test_the_number_of_terms_is_chosen_again_in_each_fold(kind):
    X, y = numbers(100) if kind is RuleBoostingRegressorCV else classes(n_rows=100)
    model = kind(4, cv=3, n_jobs=2).fit(X, y)
    stages = []
    model.callback = lambda progress: stages.append(progress.stage)
    answer = model.conformalize(X, y, cv=3)
    assert {stage.split(",")[0] for stage in stages} == {f"fold {n} of 3" for n in (1, 2, 3)}
    assert "fold 2 of 3, fold 3 of 3" in stages
    model.callback = None
    assert model.set_params(n_jobs=1).conformalize(X, y, cv=3) == answer


def test_threads_change_nothing_and_progress_is_told(capsys):
    X, y = numbers()
    model = RuleBoostingRegressor(2).fit(X, y)
    one = model.conformalize(X, y, cv=4)
    model.set_params(n_jobs=3, verbose=1)
    assert model.conformalize(X, y, cv=4) == one
    printed = capsys.readouterr().out
    assert "fold 4 of 4, term 2 of 2" in printed


def test_callbacks_do_not_end_the_fits_of_folds():
    X, y = numbers()
    model = RuleBoostingRegressor(3).fit(X, y)
    expected, told = model.conformalize(X, y, cv=3), []
    model.callback = lambda progress: told.append(progress) or True
    assert model.conformalize(X, y, cv=3) == expected
    assert len(told) >= 9


def test_counts_with_exposure_have_intervals_of_rates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    exposure = rng.uniform(0.5, 3, 300)
    y = rng.poisson(exposure * np.exp(0.5 + (X[:, 0] > 0)))
    model = RuleBoostingRegressor(2, loss="poisson").fit(X, y, exposure=exposure)
    answer = model.conformalize(X, y, exposure=exposure, cv=5)
    limits = model.predict_interval(X)
    assert limits.min() == 0.0
    rates = y / exposure
    inside = (limits[:, 0] <= rates) & (rates <= limits[:, 1])
    assert inside.mean() == pytest.approx(0.9, abs=0.05)
    with pytest.warns(UserWarning, match="not those that the model was fitted to"):
        assert answer != model.conformalize(X, y, cv=5)
    with pytest.raises(ValueError, match="logarithmic link"):
        RuleBoostingRegressor(1).fit(X, y).conformalize(X, y, exposure=exposure)


def test_rows_without_weight_are_as_if_absent():
    X, y = numbers()
    weights = np.repeat([1.0, 0.0], N_ROWS // 2)
    model = RuleBoostingRegressor(2).fit(X, y, weights)
    answer = model.conformalize(X, y, weights, cv=4)
    assert answer.n == N_ROWS // 2
    half = X[: N_ROWS // 2], y[: N_ROWS // 2]
    assert RuleBoostingRegressor(2).fit(*half).conformalize(*half, cv=4) == answer
    y[-1] = np.nan
    assert model.conformalize(X, y, weights, cv=4) == answer
    assert model.conformalize(X + 0.01, y, weights, cv="prefit").n == N_ROWS // 2


def test_training_rows_are_no_unseen_rows(tmp_path):
    X, y = numbers()
    model = RuleBoostingRegressor(2).fit(X[:160], y[:160])
    for each in (model, saved(model, tmp_path)):
        with pytest.raises(ValueError, match=r"cv='prefit' needs rows .* Got the training rows"):
            each.conformalize(X[:160][::-1], list(y[:160][::-1]), cv="prefit")
        with pytest.warns(UserWarning, match="About 50% of these seem to be training") as caught:
            each.conformalize(X[80:], y[80:], cv="prefit")
        assert caught[0].filename == __file__
    model.fingerprint_ = None
    assert model.conformalize(X[:160], y[:160], cv="prefit").n == 160


def test_other_rows_than_those_of_the_fit_are_noticed(tmp_path):
    X, y = numbers()
    half = X[:120], y[:120]
    models = [
        RuleBoostingRegressor(2).fit(*half),
        RuleBoostingRegressor(1, honest=0.5).fit(*half),
        RuleBoostingRegressorCV(1, cv=3).fit(*half),
        RuleBoostingRegressor(1, warm_start=True).fit(X, y).set_params(n_terms=2).fit(*half),
        RuleBoostingRegressor(2).fit(*half).edit(*half, drop=[1], cv=3),
    ]
    asked = {
        "chance": {"n_permutations": 1},
        "stability": {"n_resamples": 1},
        "conformalize": {"cv": 2},
    }
    weights = np.repeat([1.0, 0.0], 120)
    for model in (*models, saved(models[0], tmp_path)):
        for name, options in asked.items():
            ask = getattr(model, name)
            # As they are, in another order and of other types, or as those that have a weight.
            ask(*half, **options)
            ask(pd.DataFrame(half[0][::-1].astype(str)).astype(float), [*half[1][::-1]], **options)
            ask(X, y, weights, **options)
            with pytest.warns(UserWarning, match="Pass the training table") as caught:
                ask(X, y, **options)
            assert [each.filename for each in caught] == [__file__]
    models[0].fingerprint_ = None
    models[0].conformalize(X, y, cv=2)


def test_weights_are_in_quantiles_and_fits():
    X, y = numbers()
    weights = 1.0 + (y > 2)
    model = RuleBoostingRegressor(2).fit(X, y, weights)
    assert model.conformalize(X, y, weights, cv=4) != model.conformalize(X, y, cv=4)


@pytest.mark.parametrize("has_classes", [False, True])
@pytest.mark.parametrize("cv", [4, None, "GroupKFold"])
def test_groups_are_held_out_together(has_classes, cv):
    from sklearn.model_selection import GroupKFold

    X, y = classes() if has_classes else numbers()
    groups = np.arange(N_ROWS) // 3
    cv = GroupKFold(4) if cv == "GroupKFold" else cv or 5
    seen = []

    class Recording(RuleBoostingClassifier if has_classes else RuleBoostingRegressor):
        def fit(self, X, y, *given):
            seen.append(np.unique(X[:, -1]))
            return super().fit(X, y, *given)

    X = np.column_stack([X, groups])
    model = Recording(2).fit(X, y)
    seen.clear()
    answer = model.conformalize(X, y, groups=groups, cv=cv)
    assert answer.n == N_ROWS
    times = np.concatenate(seen)
    assert {np.sum(times == group) for group in np.unique(groups)} == {len(seen) - 1}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, np.asarray])
def test_tables_of_all_kinds_give_the_same(make):
    X, y = numbers()
    X[::9, 1] = np.nan
    known = RuleBoostingRegressor(3).fit(X, y).conformalize(X, y, cv=3)
    names = None if make is np.asarray else ["a", "b", "c"]
    table = make(X) if names is None else make(dict(zip(names, X.T, strict=True)))
    model = RuleBoostingRegressor(3).fit(table, y)
    assert model.conformalize(table, list(y), cv=3) == known
    assert model.predict_interval(table).shape == (N_ROWS, 2)


def test_text_and_missing_values():
    X, y = numbers()
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "x", None), "c": X[:, 2]})
    table.loc[::7, "a"] = np.nan
    model = RuleBoostingRegressor(3).fit(table, y)
    model.conformalize(table, y, cv=3)
    assert np.isfinite(model.predict_interval(table.iloc[:1])).all()


def test_a_class_that_a_fold_lacks_is_in_every_set():
    X, y = classes(("a", "b", "c"))
    y[y == "c"] = "a"
    y[0] = "c"
    model = RuleBoostingClassifier(2).fit(X, y)
    answer = model.conformalize(X, y, cv=3)
    assert answer.least_probabilities[2] == 0
    assert answer.counts[2] == 1
    assert model.predict_set(X)[:, 2].all()
    weighted = RuleBoostingClassifier(2, class_weight={"a": 1, "b": 1, "c": 1}).fit(X, y)
    assert weighted.conformalize(X, y, cv=3) == answer


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("initial_terms", [("x0 > 0", "c")]),
        ("initial_terms", [("x0 > 0", "a")]),
        ("monotonic_cst", {"x0": {"c": 1}}),
        ("monotonic_cst", [1, 0, 0]),
    ],
)
def test_a_class_that_a_fold_lacks_and_a_parameter_needs_is_named(name, value):
    X, y = classes(("a", "b", "c"))
    y[y == "c"] = "a"
    y[0] = "c"
    model = RuleBoostingClassifier(2, **{name: value}).fit(X, y)
    words = f"that '{name}' needs to learn from .* without rows of 'c'. Use other folds"
    with pytest.raises(ValueError, match=words):
        model.conformalize(X, y, cv=3)
    y[:20] = "c"
    model.fit(X, y).conformalize(X, y, cv=3)


@pytest.mark.parametrize("cv", [[], np.repeat([0, 1], 120), np.ones((2, 2)), 2.5])
def test_what_is_no_splits(cv):
    X, y = numbers()
    model = RuleBoostingRegressor(1).fit(X, y)
    with pytest.raises(ValueError, match=r"'cv' must be a number of folds, .* PredefinedSplit"):
        model.conformalize(X, y, cv=cv)


def test_rows_to_judge_by_are_not_learned_from():
    X, y = numbers()
    model = RuleBoostingRegressor(1).fit(X, y)
    splits = [(np.arange(130), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    with pytest.raises(ValueError, match=r"split \(0\) that has 10 rows both to learn from and"):
        model.conformalize(X, y, cv=splits)
    splits[0] = (np.arange(120), range(120, 240))
    answer = model.conformalize(X, y, cv=iter(splits))
    is_first = np.arange(240) < 120
    assert answer == model.conformalize(X, y, cv=[(is_first, ~is_first), (~is_first, is_first)])


def saved(model, tmp_path):
    save_model(model, tmp_path / "model.json")
    return load_model(tmp_path / "model.json")


@pytest.mark.parametrize("level", [0.9, 0.999])
def test_a_file_keeps_intervals_to_the_last_bit(tmp_path, level):
    X, y = numbers()
    model = RuleBoostingRegressor(3).fit(X, y)
    model.conformalize(X, y, cv=4, level=level)
    loaded = saved(model, tmp_path)
    assert loaded.trust_ == model.trust_
    assert str(loaded.trust_.intervals) == str(model.trust_.intervals)
    np.testing.assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    jsonschema.validate(model_to_dict(model), model_schema())
    X, y = classes(("a", "b", "c"))
    model = RuleBoostingClassifier(3).fit(X, y)
    model.conformalize(X, y, cv=4, level=level)
    loaded = saved(model, tmp_path)
    assert loaded.trust_ == model.trust_
    np.testing.assert_array_equal(loaded.predict_set(X), model.predict_set(X))
    jsonschema.validate(model_to_dict(model), model_schema())


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("level", 1.5, "trust.intervals must be valid. 'level' must be"),
        ("level", "high", "trust.intervals.level must be a finite number"),
        ("method", "jackknife", "trust.intervals.method must be 'cv' or 'split'"),
        ("n", -1, "trust.intervals.n must be a whole number"),
        ("n", 7, "counts must be"),
        ("counts", [2**70], r"trust.intervals.counts\[0\] must be a whole number"),
        ("edges", [3.0, 1.0, 2.0], "edges must be"),
        ("edges", ["x"], r"trust.intervals.edges\[0\] must be a finite number"),
        ("half_widths", [-1.0], r"trust.intervals.half_widths\[0\]"),
        ("half_widths", [], "half_widths must be there"),
        ("counts", [1], "counts must be"),
        ("classes", ["a"], "classes must be 0 classes"),
        ("color", "red", "no other"),
    ],
)
def test_damaged_intervals_are_refused_by_name(tmp_path, entry, value, words):
    X, y = numbers()
    model = RuleBoostingRegressor(3).fit(X, y)
    model.conformalize(X, y, cv=4)
    data = model_to_dict(model)
    data["trust"]["intervals"][entry] = value
    refuse(data, tmp_path, words)


def refuse(data, tmp_path, words):
    (tmp_path / "model.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=words):
        load_model(tmp_path / "model.json")


def test_sets_of_other_classes_are_refused(tmp_path):
    X, y = classes()
    model = RuleBoostingClassifier(3).fit(X, y)
    model.conformalize(X, y, cv=4)
    data = model_to_dict(model)
    data["trust"]["intervals"]["classes"] = ["yes", "no"]
    refuse(data, tmp_path, "trust.intervals.classes must be the classes of the model")
    X, y = numbers()
    data["trust"]["intervals"]["classes"] = ["no", "yes"]
    other = model_to_dict(RuleBoostingRegressor(1).fit(X, y))
    refuse(other | {"trust": data["trust"]}, tmp_path, "trust.intervals.classes")


def test_an_answer_is_about_one_model():
    X, y = numbers()
    model = RuleBoostingRegressor(2).fit(X, y)
    model.conformalize(X, y, cv=3)
    edited = model.edit(X, y, drop=[1], cv=3)
    for other in (edited, clone(model).fit(X, y), model.fit(X, y)):
        with pytest.raises(ValueError, match="Call 'conformalize' with its training rows first"):
            other.predict_interval(X)


def test_what_is_refused():
    X, y = numbers(60)
    model = RuleBoostingRegressor(1).fit(X, y)
    with pytest.raises(ValueError, match=r"'predict_set' is for classes. Got numbers"):
        model.predict_set(X)
    with pytest.raises(ValueError, match="'predict_interval' needs to know"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match=r"'cv' must be a number of folds, .* or 'prefit'"):
        model.conformalize(X, y, cv="split")
    with pytest.raises(ValueError, match="hold out each row once"):
        model.conformalize(X, y, cv=RepeatedKFold(n_splits=3, n_repeats=2))
    with pytest.raises(ValueError, match="at most the number of groups, 2"):
        model.conformalize(X, y, groups=np.arange(60) % 2)
    with pytest.raises(ValueError, match="'groups' must be None with cv='prefit'"):
        model.conformalize(X, y, cv="prefit", groups=np.arange(60))
    with pytest.raises(ValueError, match="one value per row of the table"):
        model.conformalize(X, y, groups=np.arange(6))
    with pytest.raises(ValueError, match="'level' must be a number between 0 and 1"):
        model.conformalize(X, y, level=90)
    with pytest.raises(TypeError, match="needs a table in memory"):
        model.conformalize(scan(pl.LazyFrame({"a": [1]})), "a")
    assert model.trust_.is_empty


def test_classes_are_refused_where_there_are_no_intervals():
    X, y = classes()
    model = RuleBoostingClassifier(1).fit(X, y)
    with pytest.raises(ValueError, match=r"'predict_interval' is for numbers. Got classes"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="two classes to learn from in every split"):
        model.conformalize(X, y, cv=[(np.flatnonzero(y == "yes"), np.flatnonzero(y == "no"))])
    squares = RuleBoostingClassifier(1, loss=SquaredLoss()).fit(X, y)
    with pytest.raises(ValueError, match="Sets of classes need probabilities"):
        squares.conformalize(X, y)
    signs = RuleBoostingRegressor(1, loss=LogisticLoss()).fit(X, np.where(y == "yes", 1, -1))
    with pytest.raises(ValueError, match="Use a classifier"):
        signs.conformalize(X, np.where(y == "yes", 1, -1))


def test_rows_too_few_for_the_level_have_no_bound():
    X, y = numbers(50)
    model = RuleBoostingRegressor(1).fit(X, y)
    answer = model.conformalize(X, y, level=0.99)
    assert answer.half_widths == (math.inf,)
    assert "too few for this level" in str(answer)
    assert np.isinf(model.predict_interval(X)).all()


def test_warnings_of_folds_are_shown_once():
    X, y = numbers()
    model = RuleBoostingRegressor(2, node_limit=1, search="optimal")
    with pytest.warns(match="proven"):
        model.fit(X, y)
    with pytest.warns(match="In a fold of the calibration") as caught:
        model.conformalize(X, y, cv=3)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_ctrl_c_leaves_the_model_as_it_is():
    X, y = numbers()
    model = RuleBoostingRegressor(2, on_interrupt="keep").fit(X, y)

    def interrupt(progress):
        raise KeyboardInterrupt

    model.callback = interrupt
    with pytest.raises(KeyboardInterrupt):
        model.conformalize(X, y)
    assert model.trust_.is_empty
