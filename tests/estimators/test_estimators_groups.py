"""Groups of rows in `fit`: read, kept together by `honest` and by folds, and refused elsewhere."""

import datetime
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
)
from laconic.estimators import choose_size as choose_size_module
from laconic.estimators import honest as honest_module
from laconic.estimators.choose_size import Size, choose, make_splits
from laconic.estimators.groups import read_groups

N_GROUPS, N_VISITS = 60, 4
GROUPS = np.repeat(np.arange(N_GROUPS), N_VISITS)


def visits(seed=0, n_classes=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_GROUPS, 4))[GROUPS]
    score = 2.0 * (X[:, 0] > 0) + rng.normal(size=N_GROUPS)[GROUPS] + rng.normal(size=len(X))
    if not n_classes:
        return X, score
    places = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, np.array(["a", "b", "c"])[places]


@pytest.fixture
def divisions(monkeypatch):
    """What `honest` has divided."""
    found, divide = [], honest_module.search_part

    def record(data, settings):
        found.append(divide(data, settings))
        return found[-1]

    monkeypatch.setattr("laconic.estimators.base.search_part", record)
    return found


@pytest.fixture
def folds(monkeypatch):
    """What cross-validation has divided."""
    found, divide = [], choose_size_module.make_splits

    def record(*arguments, **options):
        found.append(divide(*arguments, **options))
        return found[-1]

    monkeypatch.setattr("laconic.estimators.choose_size.make_splits", record)
    return found


def are_apart(one, other, groups=GROUPS):
    return not {*groups[one].tolist()} & {*groups[other].tolist()}


# Reading.

DAY = datetime.date(2024, 3, 1)
OTHER_DAY = datetime.date(2024, 3, 2)


@pytest.mark.parametrize(
    "groups",
    [
        ["b", "a", "b"],
        [7, -1, 7],
        [1, "1", 1],
        [0.5, math.inf, 0.5],
        [DAY, OTHER_DAY, DAY],
        [True, False, True],
        np.array(["2024-03-01", "2024-03-02", "2024-03-01"], dtype="datetime64[ns]"),
        pd.Series([DAY, OTHER_DAY, DAY], dtype="datetime64[ns]", index=[5, 6, 7]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pl.Series(["b", "a", "b"]),
        pl.Series([DAY, OTHER_DAY, DAY]),
        pl.Series(["b", "a", "b"]).to_arrow(),
    ],
)
def test_groups_are_read_in_any_type(groups):
    assert read_groups(groups, 3).tolist() == [0, 1, 0]


def test_rows_that_do_not_count_have_no_number():
    counted = np.array([False, True, True, True])
    assert read_groups(["c", "b", "a", "b"], 4, counted).tolist() == [-1, 0, 1, 0]


@pytest.mark.parametrize(
    "groups",
    [
        [1, None],
        [1.0, math.nan],
        ["a", math.nan],
        pd.Series([1, pd.NA], dtype="Int64"),
        pd.Series(["2024-03-01", None], dtype="datetime64[ns]"),
        np.array(["2024-03-01", "NaT"], dtype="datetime64[ns]"),
        np.ma.array([1, 2], mask=[False, True]),
        pl.Series(["a", None]),
    ],
)
def test_missing_groups_are_refused(groups):
    words = "'groups' must have a value in every row. Got a missing one at row 1."
    with pytest.raises(ValueError, match=words):
        read_groups(groups, 2)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"], r"one value per row of the table, shape \(2,\). Got shape \(1,\)"),
        ("patient", r"one value per row of the table, shape \(2,\). Got shape \(\)"),
        (["a", "a"], "must name two groups or more. Got one for all rows"),
    ],
)
def test_other_groups_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        read_groups(groups, 2)
    with pytest.raises(ValueError, match=message):
        RuleBoostingRegressor(1, honest=0.5).fit([[1], [2]], [1.0, 2.0], groups=groups)


# Weights from other groups.


@pytest.mark.parametrize("share", [0.3, 0.5])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_honest_fits_do_not_divide_groups(n_classes, share, divisions):
    X, y = visits(n_classes=n_classes)
    kind = RuleBoostingClassifier if n_classes else RuleBoostingRegressor
    model = kind(2, honest=share).fit(X, y, groups=GROUPS)
    is_held = divisions[0].held_out > 0
    assert are_apart(is_held, ~is_held)
    assert is_held.mean() == pytest.approx(share, abs=0.02)
    for label in np.unique(y) if n_classes else ():
        assert is_held[y == label].mean() == pytest.approx(share, abs=0.05)
    effects = model.trust_.effects
    assert effects.rows == "held out"
    assert (effects.n_rows, effects.n_groups) == (is_held.sum(), is_held.sum() / N_VISITS)
    assert f"in {effects.n_groups} groups not used to find the terms" in str(model)


def test_effects_are_those_of_the_other_groups(divisions):
    X, y = visits()
    model = RuleBoostingRegressor(2, honest=0.5).fit(X, y, groups=GROUPS)
    weights, is_held = divisions[0].weights, divisions[0].held_out > 0
    plain = RuleBoostingRegressor(2).fit(X, y, weights)
    assert [t.key for t in plain.ensemble_] == [t.key for t in model.ensemble_]
    others = plain.effects(X[is_held], y[is_held], groups=GROUPS[is_held])
    for one, other in zip(model.trust_.effects.terms, others.terms, strict=True):
        assert one.estimate == pytest.approx(other.estimate)
        assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper))


def test_the_same_groups_in_every_fit_under_any_name():
    X, y = visits()
    model = RuleBoostingRegressor(2, honest=0.5)
    names = [f"patient {n}" for n in GROUPS]
    one, other = (clone(model).fit(X, y, groups=groups) for groups in (GROUPS, names))
    frame = pd.DataFrame({"patient": names}, index=GROUPS[::-1])
    third = clone(model).fit(X, y, groups=frame["patient"])
    assert one.ensemble_ == other.ensemble_ == third.ensemble_
    assert one.trust_ == other.trust_ == third.trust_
    assert one.ensemble_ != clone(model).fit(X, y).ensemble_


def test_large_groups_leave_shares_close(divisions):
    sizes = np.array([1, 1, 2, 3, 5, 8, 13, 21, 34, 55])
    groups = np.repeat(np.arange(10), sizes)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(len(groups), 3)), rng.normal(size=len(groups))
    RuleBoostingRegressor(1, honest=0.4).fit(X, y, groups=groups)
    assert (divisions[0].held_out > 0).mean() == pytest.approx(0.4, abs=0.03)


def test_groups_that_no_row_of_weight_has_do_not_count():
    X, y = visits()
    weights = (GROUPS % 3 > 0).astype(float)
    model = RuleBoostingRegressor(2, honest=0.5)
    some = weights > 0
    one = clone(model).fit(X, y, weights, groups=GROUPS)
    other = clone(model).fit(X[some], y[some], groups=GROUPS[some])
    assert one.ensemble_ == other.ensemble_
    assert one.trust_ == other.trust_
    with pytest.raises(ValueError, match="two groups or more"):
        model.fit(X, y, (GROUPS == 3).astype(float), groups=GROUPS)


def test_parts_without_a_class_are_refused():
    X, y = visits(n_classes=2)
    y[GROUPS == 0] = "c"
    y[GROUPS > 0] = np.where(y[GROUPS > 0] == "c", "b", y[GROUPS > 0])
    words = "honest=0.5 needs rows of every class in both parts.*as groups are not divided"
    with pytest.raises(ValueError, match=words):
        RuleBoostingClassifier(1, honest=0.5).fit(X, y, groups=GROUPS)
    y[GROUPS == 1] = "c"
    model = RuleBoostingClassifier(1, honest=0.5).fit(X, y, groups=GROUPS)
    assert len(model.classes_) == 3


def test_long_tables_keep_groups_together():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(3_000, 3)), 1).repeat(4, axis=0)
    y = (X[:, 0] > 0) + rng.normal(size=12_000)
    model = RuleBoostingRegressor(2, slopes=False, honest=0.5)
    model.fit(X, y, groups=np.arange(12_000) // 4)
    assert model.trust_.effects.n_rows == pytest.approx(6_000, abs=200)
    assert model.trust_.effects.n_groups == model.trust_.effects.n_rows / 4


def test_proofs_say_on_how_many_rows(tmp_path):
    from laconic.models.scores import describe_optimality

    X, y = visits()
    groups = np.where(GROUPS < 40, 0, GROUPS)
    model = RuleBoostingRegressor(1, honest=0.5).fit(X, y, groups=groups)
    n_rows = 240 - model.trust_.effects.n_rows
    assert n_rows in (80, 160)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.trust_.effects == model.trust_.effects
    for each in (model, loaded):
        assert f"on the {n_rows} rows that found the terms" in describe_optimality(each)
    fresh, target = visits(5)
    model.effects(fresh, target, groups=GROUPS)
    assert "on the rows that found the terms" in describe_optimality(model)


# Folds.


@pytest.mark.parametrize("honest", [None, 0.5])
@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("cv", [None, 4, GroupKFold(3), LeaveOneGroupOut()])
def test_folds_keep_groups_together(n_classes, cv, honest, folds, divisions):
    X, y = visits(n_classes=n_classes)
    kind = RuleBoostingClassifierCV if n_classes else RuleBoostingRegressorCV
    groups = GROUPS // 5
    model = kind(2, cv=cv, honest=honest, max_conditions=1).fit(X, y, groups=groups)
    [parts] = folds
    counts = np.ones(len(y)) if honest is None else divisions[0].weights
    tests = np.concatenate([test for _, test in parts])
    assert np.bincount(tests, minlength=len(y))[counts > 0].tolist() == [1] * int(counts.sum())
    for train, test in parts:
        assert are_apart(train, test, groups)
    assert len(parts) == {None: 5, 4: 4}.get(cv, len(parts))
    assert model.n_terms_ == len(model.ensemble_)


def test_lists_of_splits_are_taken_as_they_are(folds):
    X, y = visits()
    cv = list(GroupKFold(3).split(X, y, GROUPS))
    RuleBoostingRegressorCV(2, cv=cv).fit(X, y, groups=GROUPS)
    assert [test.tolist() for _, test in folds[0]] == [test.tolist() for _, test in cv]


def test_more_folds_than_groups_are_refused():
    X, y = visits()
    with pytest.raises(ValueError, match="'cv' must be at most the number of groups, 3"):
        RuleBoostingRegressorCV(2).fit(X, y, groups=GROUPS % 3)


def test_folds_without_rows_that_count_are_left_out():
    y, groups = np.arange(8.0), np.array([0, 0, 1, 1, 2, 2, -1, -1])
    weights = np.array([1, 1, 1, 1, 1, 1, 0, 0.0])
    how = {"holds_classes": False, "weights": weights, "groups": groups}
    parts = make_splits(LeaveOneGroupOut(), y, **how)
    assert [test.tolist() for _, test in parts] == [[0, 1], [2, 3], [4, 5]]


def test_standard_errors_are_those_of_groups():
    losses = np.random.default_rng(0).normal(size=(2, 12))
    losses[0] += 1.0
    sizes = [Size(0.0, [each]) for each in losses]
    rows, weights = np.arange(12), np.ones(12)

    def error(groups):
        chosen = choose(sizes, [rows], weights, groups=groups)
        return chosen.results["standard_error"][0]

    difference = losses[0] - losses[1]
    assert error(None) == pytest.approx(difference.std() / np.sqrt(12))
    assert error(rows) == pytest.approx(error(None))
    sums = (difference - difference.mean()).reshape(4, 3).sum(axis=1)
    assert error(rows // 3) == pytest.approx(np.sqrt(np.square(sums).sum()) / 12)
    repeated = choose(
        [Size(0.0, [each.repeat(2)]) for each in losses],
        [np.arange(24)],
        np.ones(24),
        groups=rows.repeat(2),
    )
    assert repeated.results["standard_error"][0] == pytest.approx(error(None))


# Where there is no use for groups.


@pytest.mark.parametrize("n_terms", [2, "auto"])
def test_groups_without_effect_are_refused(n_terms):
    X, y = visits()
    words = re.escape("'groups' need a fit that holds rows out: one with honest=0.5, or of an ")
    with pytest.raises(ValueError, match=words):
        RuleBoostingRegressor(n_terms).fit(X, y, groups=GROUPS)


def test_tables_that_are_read_in_parts_are_refused():
    source = pl.LazyFrame({"a": [1, 2, 3], "y": [1.0, 2.0, 3.0], "patient": [1, 1, 2]})
    model = RuleBoostingRegressor(1, slopes=False, honest=0.5)
    with pytest.raises(TypeError, match="'groups' need a table in memory"):
        model.fit(source, "y", groups="patient")


def test_pipelines_and_searches():
    X, y = visits()
    model = RuleBoostingRegressor(2, honest=0.5)
    alone = clone(model).fit(StandardScaler().fit_transform(X), y, groups=GROUPS)
    pipeline = make_pipeline(StandardScaler(), model)
    pipeline.fit(X, y, ruleboostingregressor__groups=GROUPS)
    assert pipeline[-1].trust_ == alone.trust_
    # Without routing, searches give groups to their splitters only.
    search = GridSearchCV(RuleBoostingRegressor(), {"n_terms": [1, 2]}, cv=GroupKFold(3))
    assert search.fit(X, y, groups=GROUPS).best_score_ > 0


@pytest.mark.parametrize("is_asked", [True, False])
def test_metadata_routing(is_asked, divisions):
    X, y = visits()
    with config_context(enable_metadata_routing=True):
        model = RuleBoostingRegressor(2, honest=0.5).set_fit_request(groups=is_asked)
        found = cross_validate(
            *(model, X, y),
            cv=GroupKFold(3),
            params={"groups": GROUPS},
            return_estimator=True,
            error_score="raise",
        )
    n_groups = [each.trust_.effects.n_groups for each in found["estimator"]]
    assert n_groups == ([20, 20, 20] if is_asked else [None, None, None])


# What fits again.


@pytest.mark.parametrize("kind", [RuleBoostingRegressor, RuleBoostingRegressorCV])
def test_refits_keep_groups_together(kind, monkeypatch):
    X, y = visits()
    model = kind(2, honest=0.5, max_conditions=1)
    if kind is RuleBoostingRegressorCV:
        model.set_params(cv=2)
    model.fit(X, y, groups=GROUPS)
    given, fit = [], kind.fit

    def record(self, X, y, sample_weight=None, exposure=None, groups=None):
        given.append(groups)
        return fit(self, X, y, sample_weight, exposure, groups)

    monkeypatch.setattr(kind, "fit", record)
    model.stability(X, y, groups=GROUPS, n_resamples=2)
    model.conformalize(X, y, groups=GROUPS, cv=2)
    assert [len(np.unique(groups)) for groups in given] == [60, 60, 30, 30]
    given.clear()
    model.stability(X, y, n_resamples=1)
    clone(model).set_params(honest=None).fit(X, y, groups=None)
    assert given == [None, None]


def test_edits_keep_groups_together(divisions):
    X, y = visits()
    model = RuleBoostingRegressor(2, honest=0.5).fit(X, y, groups=GROUPS)
    edited = model.edit(X, y, groups=GROUPS, drop=[2])
    assert [part.held_out.tolist() for part in divisions[1:]] == [divisions[0].held_out.tolist()]
    assert edited.trust_.effects.n_groups == 30
    plain = RuleBoostingRegressor(2).fit(X, y)
    alone, together = (plain.edit(X, y, groups=g, drop=[2]) for g in (None, GROUPS))
    assert alone.ensemble_ == together.ensemble_
    assert [e.loss for e in alone.edits_] != [e.loss for e in together.edits_]
