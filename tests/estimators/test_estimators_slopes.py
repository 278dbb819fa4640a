"""The estimators: slopes beside rules."""

import datetime
import pickle
import signal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss, mean_squared_error

from estimators import forms
from laconic import (
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
)
from laconic.search import SearchStatus
from laconic.terms.rules import Rule
from laconic.terms.slopes import Slope

ESTIMATORS = {"numbers": RuleBoostingRegressor, "classes": RuleBoostingClassifier}
both = pytest.mark.parametrize("task", ESTIMATORS)


def sloped_problem(task="numbers", n_rows=150, seed=0):
    """Two columns with slopes, one with a threshold, and noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, n_rows).round(1),
            "rooms": rng.integers(1, 9, n_rows),
            "area": rng.normal(size=n_rows),
            "noise": rng.normal(size=n_rows),
        }
    )
    score = 0.1 * X["age"] - 0.5 * X["rooms"] + 1.5 * (X["area"] > 0.5)
    y = (score + 0.5 * rng.normal(size=n_rows)).to_numpy()
    return X, y if task == "numbers" else np.where(y > np.median(y), "yes", "no")


def slopes_of(model):
    return [term for term in model.ensemble_ if isinstance(term, Slope)]


def rules_of(model):
    return [term for term in model.ensemble_ if isinstance(term, Rule)]


def loss_of(model, X, y):
    if is_classifier(model):
        return log_loss(y, model.predict_proba(X))
    return mean_squared_error(y, model.predict(X))


@both
def test_a_model_has_slopes_and_rules(task):
    X, y = sloped_problem(task)
    model = ESTIMATORS[task](4).fit(X, y)
    assert "age" in {slope.feature for slope in slopes_of(model)}
    assert rules_of(model)
    assert all(result.is_optimal for result in model.search_results_)
    assert [result.query for result in model.search_results_ if result.query == ()]
    added = [term.raw_predictions(X) for term in model.ensemble_]
    raw = model.ensemble_.intercept + np.sum(added, axis=0)
    assert_allclose(model.ensemble_.raw_predictions(X), raw)
    without = ESTIMATORS[task](4, slopes=False).fit(X, y)
    assert not slopes_of(without)
    fresh = sloped_problem(task, n_rows=2000, seed=1)
    assert loss_of(model, *fresh) < loss_of(without, *fresh)


def test_the_first_slope_is_the_best_of_all_and_has_the_best_weight():
    """All pairs of knots, one by one, each as a least-squares problem of its own."""
    from laconic.candidates.slopes import candidate_slopes

    X, y = sloped_problem(n_rows=60)
    X = X[["age", "rooms"]]
    model = RuleBoostingRegressor(1, l2_regularization=3.0, brevity=0.5).fit(X, y)
    [slope], [result] = model.ensemble_, model.search_results_
    best, centred = 0.0, y - y.mean()
    for feature in candidate_slopes(X).features:
        n_last = len(feature.knots) - 1
        for i, lower in enumerate(feature.knots):
            for j in range(i + 1, n_last + 1):
                z = X[feature.name].clip(lower, feature.knots[j]).to_numpy(float)
                z = (z - z.mean()) / z.std() * 0.4
                gain = (2 * z @ centred) ** 2 / (3.0 + 2 * z @ z) / 2 / len(y)
                best = max(best, gain / (1 + max((i > 0) + (j < n_last), 1)) ** 0.5)
    assert result.objective_value == pytest.approx(best)
    assert result.is_optimal
    values = slope.values(X)
    scale = values.std() / 0.4
    z = (values - values.mean()) / scale
    weight = 2 * z @ centred / (3.0 + 2 * z @ z) / scale
    assert slope.weight == pytest.approx(weight)
    assert model.ensemble_.intercept == pytest.approx(y.mean() - weight * values.mean())


# Columns


def test_dates_have_slopes_with_dates_for_ends():
    days = pd.date_range("2020-01-01", periods=120, freq="10D")
    y = np.arange(120) * 10 / 365.25 + np.random.default_rng(0).normal(size=120)
    tables = [pd.DataFrame({"day": days}), pl.DataFrame({"day": days.to_numpy()})]
    tables.append(pa.table({"day": pa.array(days.date)}))
    models = [RuleBoostingRegressor(1, l2_regularization=0.0).fit(table, y) for table in tables]
    for model, table in zip(models, tables, strict=True):
        [slope] = model.ensemble_
        assert isinstance(slope.lower, datetime.date)
        assert slope.lower.year == 2020
        assert "per year of day from 2020-" in str(model)
        # Per day, and per year in the text.
        assert slope.weight * 365.25 == pytest.approx(1.0, abs=0.2)
        assert_allclose(model.predict(table), models[0].predict(tables[0]), rtol=1e-9)


def test_missing_cells_count_as_about_the_mean():
    X, y = sloped_problem()
    X = X.assign(age=X["age"].mask(X.index % 5 == 0))
    model = RuleBoostingRegressor(3).fit(X, y)
    own = [slope for slope in slopes_of(model) if slope.feature == "age"]
    assert own
    for slope in own:
        present = X["age"].dropna().clip(slope.lower, slope.upper)
        play = 0.02 * (slope.upper - slope.lower)
        assert slope.missing == pytest.approx(present.mean(), abs=play)
        assert f"({slope.missing:g} if missing)" in str(model)
        filled = X.assign(age=X["age"].fillna(slope.missing))
        assert_allclose(slope.raw_predictions(X), slope.raw_predictions(filled))
    # A column without missing cells says nothing about them.
    others = [slope for slope in slopes_of(model) if slope.feature != "age"]
    assert others
    assert all(slope.missing is None for slope in others)


def test_columns_without_slopes():
    rng = np.random.default_rng(0)
    n_rows = 80
    X = pd.DataFrame(
        {
            "constant": np.ones(n_rows),
            "two": rng.integers(0, 2, n_rows),
            "flag": rng.random(n_rows) < 0.5,
            "text": rng.choice(["a", "b", "c"], n_rows),
            "code": rng.integers(0, 5, n_rows),
        }
    )
    y = X["two"] + X["flag"] + (X["text"] == "a") + X["code"] + 0.1 * rng.normal(size=n_rows)
    model = RuleBoostingRegressor(8, categorical_features=["code"]).fit(X, y)
    assert len(model.ensemble_) == 8
    assert not slopes_of(model)
    ordered = RuleBoostingRegressor(3).fit(X, y)
    assert {slope.feature for slope in slopes_of(ordered)} == {"code"}


@both
def test_sparse_tables_have_the_slopes_of_dense_ones(task):
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.7, size=(120, 5)).astype(float)
    y = dense[:, 1] - 2 * dense[:, 3] + 0.3 * rng.normal(size=120)
    y = y if task == "numbers" else y > 0
    weights = rng.integers(0, 3, 120)
    expected = ESTIMATORS[task](4).fit(dense, y, weights)
    assert slopes_of(expected)
    for make in (sparse.csr_matrix, sparse.csc_array):
        model = ESTIMATORS[task](4).fit(make(dense), y, weights)
        assert forms(model) == forms(expected)
        assert_allclose(model.predict(dense) == expected.predict(dense), True)
        assert_array_equal(model.predict(make(dense)), model.predict(dense))


@both
def test_tables_of_all_libraries_have_the_same_slopes(task):
    X, y = sloped_problem(task)
    tables = [X, pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)]
    models = [ESTIMATORS[task](4).fit(table, y) for table in tables]
    assert slopes_of(models[0])
    assert len({str(model) for model in models}) == 1
    assert all(model.ensemble_ == models[0].ensemble_ for model in models)
    array = ESTIMATORS[task](4).fit(X.to_numpy(), y)
    assert_array_equal(array.predict(X.to_numpy()), models[0].predict(X))


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e20, 1e100])
def test_the_unit_of_a_feature_does_not_matter(scale):
    X, y = sloped_problem()
    X = X[["age", "area"]]
    usual = RuleBoostingRegressor(3).fit(X, y)
    model = RuleBoostingRegressor(3).fit(X * scale, y)
    assert [type(term) for term in model.ensemble_] == [type(term) for term in usual.ensemble_]
    assert slopes_of(model)
    # Ends are rounded to as many digits, in units of their own.
    assert_allclose(model.predict(X * scale), usual.predict(X), atol=0.05)


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e20, 1e100])
def test_the_unit_of_the_target_only_scales_weights(scale):
    X, y = sloped_problem()
    usual = RuleBoostingRegressor(3).fit(X, y)
    model = RuleBoostingRegressor(3).fit(X, scale * y)
    assert forms(model) == forms(usual)
    assert_allclose(model.predict(X), scale * usual.predict(X), rtol=1e-9)


@pytest.mark.parametrize("offset", [1e6, -1e9])
def test_a_feature_far_from_zero(offset):
    X, y = sloped_problem()
    X = X[["age"]]
    usual = RuleBoostingRegressor(1).fit(X, y)
    model = RuleBoostingRegressor(1).fit(X + offset, y)
    assert slopes_of(model)
    assert_allclose(model.predict(X + offset), usual.predict(X), atol=0.05)


# Weights of rows


@both
def test_a_weight_of_two_is_the_row_twice(task):
    X, y = sloped_problem(task)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = ESTIMATORS[task](4).fit(X, y, counts)
    repeated = ESTIMATORS[task](4).fit(X.loc[X.index.repeat(counts)], np.repeat(y, counts))
    assert slopes_of(weighted)
    assert forms(weighted) == forms(repeated)
    weights = [[term.weight for term in model.ensemble_] for model in (weighted, repeated)]
    assert_allclose(*weights, rtol=1e-7)


@both
def test_rows_without_weight_are_not_there(task):
    X, y = sloped_problem(task)
    # Far outside, so that knots would follow them.
    X.loc[:29, "age"] = 1e6
    weights = np.ones(len(y))
    weights[:30] = 0
    weighted = ESTIMATORS[task](4).fit(X, y, weights)
    assert weighted.ensemble_ == ESTIMATORS[task](4).fit(X[30:], y[30:]).ensemble_


# Constraints


@both
@pytest.mark.parametrize("direction", [1, -1])
def test_slopes_of_monotone_features_have_their_sign(task, direction):
    X, y = sloped_problem(task)
    model = ESTIMATORS[task](4, monotonic_cst={"age": direction, "rooms": direction}).fit(X, y)
    own = [slope for slope in slopes_of(model) if slope.feature in ("age", "rooms")]
    assert own
    assert all(slope.weight * direction > 0 for slope in own)
    grid = X.iloc[:1].loc[[0] * 50].assign(age=np.linspace(0, 100, 50))
    raw = model.ensemble_.raw_predictions(grid)
    assert (np.diff(raw) * direction >= -1e-12).all()


@both
@pytest.mark.parametrize("signs", ["positive", "negative"])
def test_weights_of_slopes_have_the_sign_that_is_asked_for(task, signs):
    X, y = sloped_problem(task)
    model = ESTIMATORS[task](4, weight_signs=signs).fit(X, y)
    assert slopes_of(model)
    assert all((term.weight > 0) == (signs == "positive") for term in model.ensemble_)


def test_a_feature_that_costs_too_much_has_no_slope():
    X, y = sloped_problem()
    model = RuleBoostingRegressor(4, feature_costs={"age": np.inf}).fit(X, y)
    assert "age" not in model.ensemble_.used_features
    assert slopes_of(model)
    free = RuleBoostingRegressor(1).fit(X, y)
    gain = 2**1.5 * free.search_results_[0].objective_value
    assert forms(free)[0].feature == "age"
    dear = RuleBoostingRegressor(1, feature_costs={"age": gain * 1.01}).fit(X, y)
    assert "age" not in dear.ensemble_.used_features
    cheap = RuleBoostingRegressor(1, feature_costs={"age": gain * 0.01}).fit(X, y)
    assert forms(cheap) == forms(free)
    [one], [other] = cheap.search_results_, free.search_results_
    assert one.objective_value == pytest.approx(other.objective_value - gain * 0.01 / 2**1.5)


def test_features_that_interact_with_none_have_slopes():
    X, y = sloped_problem()
    model = RuleBoostingRegressor(4, interaction_cst="no_interactions").fit(X, y)
    assert slopes_of(model)
    assert all(len(term.features) == 1 for term in model.ensemble_)


# Losses and classes


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie", "huber"])
@pytest.mark.parametrize("strategy", ["joint", "stagewise"])
def test_every_loss_has_slopes(loss, strategy):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 4, 200)
    mean = np.exp(0.5 * x)
    y = x + 0.1 * rng.normal(size=200)
    if loss != "huber":
        y = (rng.gamma(3, mean / 3) if loss == "gamma" else rng.poisson(mean)).astype(float)
    X = np.column_stack([x, rng.normal(size=200)])
    model = RuleBoostingRegressor(2, loss=loss, strategy=strategy).fit(X, y)
    if strategy == "joint":
        # Beside an intercept that stays as it is, a rule may be better.
        [first, *_] = model.ensemble_
        assert isinstance(first, Slope)
        assert first.feature == "x0"
        assert first.weight > 0
    assert np.isfinite(model.predict(X)).all()
    losses = [model.loss_.value(y, stage.raw_predictions(X)).mean() for stage in (*model.stages_,)]
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_exposures_divide_the_target_and_weigh_the_row(loss):
    rng = np.random.default_rng(0)
    X, years = rng.uniform(0, 4, (200, 2)), rng.choice([0.5, 1.0, 4.0], 200)
    counts = rng.poisson(years * np.exp(0.5 * X[:, 0])).astype(float)
    model = RuleBoostingRegressor(2, loss=loss).fit(X, counts, exposure=years)
    rates = RuleBoostingRegressor(2, loss=loss).fit(X, counts / years, years)
    assert slopes_of(model)
    assert forms(model) == forms(rates)
    assert_allclose(model.predict(X), rates.predict(X))


@pytest.mark.parametrize("strategy", ["joint", "stagewise"])
def test_slopes_are_about_one_of_three_classes(strategy):
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RuleBoostingClassifier(5, strategy=strategy).fit(X, y)
    if strategy == "joint":
        [slope, *_] = slopes_of(model)
        text = model.ensemble_.term_text(slope)
        assert f" for {model.classes_[slope.output]} per " in text
    raw = np.tile([output.intercept for output in model.ensemble_.outputs], (150, 1))
    for term in model.ensemble_:
        raw[:, term.output] += term.raw_predictions(X)
    assert_allclose(model.decision_function(X), raw)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.9


def test_directions_of_slopes_hold_for_a_class():
    X, y = load_iris(return_X_y=True)
    model = RuleBoostingClassifier(5, monotonic_cst={2: {2: 1}}).fit(X, y)
    own = [slope for slope in slopes_of(model) if slope.feature == "x2"]
    assert own
    assert all((slope.weight > 0) == (slope.output == 2) for slope in own)


# Fits that go on, and terms that are given


@both
def test_a_warm_start_adds_terms(task):
    X, y = sloped_problem(task)
    at_once = ESTIMATORS[task](5).fit(X, y)
    model = ESTIMATORS[task](2, warm_start=True).fit(X, y)
    assert slopes_of(model)
    model.set_params(n_terms=5).fit(X, y)
    assert forms(model) == forms(at_once)
    assert_allclose(model.ensemble_.raw_predictions(X), at_once.ensemble_.raw_predictions(X))


@pytest.mark.parametrize("strategy", ["joint", "stagewise", "polished"])
def test_initial_slopes_come_first(strategy):
    X, y = sloped_problem()
    given = Slope("rooms", 2, 5, -0.25)
    options = {"strategy": strategy, "initial_terms": [given, "age > 30", "age from 40 to 60"]}
    model = RuleBoostingRegressor(5, **options).fit(X, y)
    assert forms(model)[0] == given.key
    assert str(forms(model)[1]) == "age > 30"
    assert forms(model)[2] == Slope("age", 40, 60, 0.0)
    statuses = [result.status for result in model.search_results_]
    assert statuses[:3] == [SearchStatus.GIVEN] * 3
    assert (model.ensemble_[0].weight == -0.25) == (strategy == "stagewise")
    assert clone(model).fit(X, y).ensemble_ == model.ensemble_


def test_excluded_slopes_are_not_found():
    X, y = sloped_problem()
    free = RuleBoostingRegressor(1).fit(X, y)
    [slope] = free.ensemble_
    for excluded in (slope, slope.text()):
        model = RuleBoostingRegressor(1, excluded_terms=[excluded]).fit(X, y)
        assert forms(model) != forms(free)
        assert model.search_results_[0].is_optimal
        value = model.search_results_[0].objective_value
        assert value <= free.search_results_[0].objective_value


def test_given_slopes_that_make_no_sense_are_refused():
    X, y = sloped_problem(n_rows=40)
    same = [Slope("age", 30, 60, 1.0), Slope("age", 30, 60, 2.0)]
    with pytest.raises(ValueError, match=r"different\. Got 'age from 30 to 60' twice"):
        RuleBoostingRegressor(3, initial_terms=same).fit(X, y)
    with pytest.raises(ValueError, match="agee"):
        RuleBoostingRegressor(3, initial_terms=[Slope("agee", 30, 60, 1.0)]).fit(X, y)


# Edits and alternatives


@pytest.fixture(scope="module")
def data():
    return sloped_problem()


@pytest.fixture(scope="module")
def model(data):
    return RuleBoostingRegressor(4).fit(*data)


def place_of(model, kind):
    return next(n for n, term in enumerate(model.ensemble_, start=1) if isinstance(term, kind))


def test_a_dropped_slope_does_not_come_back(model, data):
    number = place_of(model, Slope)
    edited = model.edit(*data, drop=[number])
    assert len(edited.ensemble_) == 4
    dropped = forms(model)[number - 1]
    assert dropped not in forms(edited)
    assert forms(edited)[:3] == [form for form in forms(model) if form != dropped]
    assert edited.settings_.excluded_terms == (dropped,)
    assert edited.edits_[1].words == f"without {dropped.text()}"
    assert edited.edits_[1].risk > edited.edits_[0].risk


def test_slopes_are_replaced_forced_and_locked(model, data):
    number, rule = place_of(model, Slope), place_of(model, Rule)
    new, forced = Slope("age", 40, 60, 0.0), Slope("noise", -1, 1, 0.0)
    edited = model.edit(*data, replace={number: new}, force=[forced], lock=[rule], n_terms=4)
    kept = forms(edited)
    assert {new.key, forced.key, forms(model)[rule - 1]} <= {*kept}
    assert len(kept) == 4
    words = [edit.words for edit in edited.edits_]
    assert f"age from 40 to 60 instead of {forms(model)[number - 1].text()}" in words
    assert "with noise from -1 to 1" in words
    assert f"without {new.text()}" not in str(edited.edits_)
    by_text = model.edit(
        *data,
        replace={number: "age from 40 to 60"},
        force=["noise from -1 to 1"],
        lock=[rule],
        n_terms=4,
    )
    assert by_text.ensemble_ == edited.ensemble_


def test_costs_of_edits_are_those_of_the_best_weights(model, data):
    X, y = data
    edited = model.edit(X, y, drop=[place_of(model, Slope)], n_terms=3)

    def risk(model):
        total = np.square(y - model.predict(X)).sum()
        for term in model.ensemble_:
            values = term.values(X).astype(float)
            scale = values.std() / 0.4 if isinstance(term, Slope) else 1.0
            total += model.l2_regularization_ / 2 * (term.weight * scale) ** 2
        return total / len(y)

    assert edited.edits_[0].risk == pytest.approx(risk(model))
    assert edited.edits_[-1].risk == pytest.approx(risk(edited))


def test_alternatives_of_a_slope_and_of_a_rule(model, data):
    for kind in (Slope, Rule):
        number = place_of(model, kind)
        found = model.alternatives(number, *data, tolerance=0.5, max_found=6)
        assert found.share == pytest.approx(1.0)
        assert len(found) > 0
        shares = [one.share for one in found]
        assert shares == sorted(shares, reverse=True)
        assert all(0.5 <= share <= 1 + 1e-9 for share in shares)
        texts = [one.text for one in found]
        assert len({*texts}) == len(texts)
        assert model.ensemble_.text(model.ensemble_[number - 1]) not in texts
        assert str(found).startswith(f"Instead of term {number}, ")


# Models as values


@both
def test_copies_and_files_hold_slopes(task, tmp_path):
    X, y = sloped_problem(task)
    model = ESTIMATORS[task](4).fit(X, y)
    assert slopes_of(model)
    save_model(model, tmp_path / "model.json")
    for other in (pickle.loads(pickle.dumps(model)), load_model(tmp_path / "model.json")):
        assert other.ensemble_ == model.ensemble_
        assert tuple(other.stages) == tuple(model.stages)
        assert_array_equal(other.predict(X), model.predict(X))
        assert (other.slopes, other.brevity) == (True, 1.5)
    copy = clone(model.set_params(slopes=False, brevity=0.5))
    assert (copy.get_params()["slopes"], copy.get_params()["brevity"]) == (False, 0.5)


@both
def test_stages_are_the_models_of_fewer_terms(task):
    X, y = sloped_problem(task)
    model = ESTIMATORS[task](4).fit(X, y)
    stages = [*model.staged_predict(X)]
    assert len(stages) == 4
    for n_terms, stage in enumerate(stages, start=1):
        assert_array_equal(stage, ESTIMATORS[task](n_terms).fit(X, y).predict(X))


def test_columns_of_slopes_are_their_values():
    X, y = sloped_problem()
    model = RuleBoostingRegressor(4).fit(X, y)
    columns = model.transform(X)
    assert_allclose(columns, np.column_stack([term.values(X) for term in model.ensemble_]))
    names = model.get_feature_names_out()
    assert names.tolist() == [model.ensemble_.text(form) for form in forms(model)]
    weights = [term.weight for term in model.ensemble_]
    assert_allclose(model.ensemble_.intercept + columns @ weights, model.predict(X))


@both
def test_the_number_of_threads_changes_nothing(task):
    X, y = sloped_problem(task)
    one, two = (ESTIMATORS[task](4, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert one.ensemble_ == two.ensemble_
    assert [r.bound for r in one.search_results_] == [r.bound for r in two.search_results_]


def test_shares_and_importances_of_slopes():
    X, y = sloped_problem()
    model = RuleBoostingRegressor(4).fit(X, y)
    shares = model.shapley_values(X[:5], X)
    total = shares.values.sum(axis=1) + shares.base_value
    assert_allclose(total, model.ensemble_.raw_predictions(X[:5]))
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[:2].min() > model.feature_importances_[3]


# Running fits


def test_callbacks_are_told_of_slopes(capsys):
    X, y = sloped_problem()
    seen = []

    def remember(progress):
        if progress.search is None:
            seen.append(progress.ensemble)
        return len(progress.ensemble) == 2

    model = RuleBoostingRegressor(4, callback=remember, verbose=1).fit(X, y)
    assert [len(ensemble) for ensemble in seen] == [1, 2] == [*range(1, len(model.ensemble_) + 1)]
    assert isinstance(seen[0][0], Slope)
    lines = capsys.readouterr().out.splitlines()
    # Without its weight, which later terms change.
    assert lines[0].startswith("term 1 of 4: age from 21 to 75.6 [objective ")


def test_ctrl_c_keeps_slopes():
    X, y = sloped_problem()

    def press(progress):
        if progress.search is None and len(progress.ensemble) == 2:
            signal.raise_signal(signal.SIGINT)

    model = RuleBoostingRegressor(4, callback=press, on_interrupt="keep")
    with pytest.warns(ConvergenceWarning, match="Interrupted: the model has 2 of 4 terms"):
        model.fit(X, y)
    assert forms(model) == forms(RuleBoostingRegressor(2).fit(X, y))


def test_sizes_are_chosen_among_terms():
    X, y = sloped_problem()
    model = RuleBoostingRegressorCV(6).fit(X, y)
    assert slopes_of(model)
    assert 2 <= model.n_terms_ <= 6
    assert f"{model.n_terms_} of up to 6 terms" in model.reason_


def test_chance_is_the_same_for_a_table_in_parts():
    """Means of equal rows vary less than their targets, and chance seemed to gain less."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame({f"x{place}": rng.integers(0, 4, 600) for place in range(3)})
    table = table.with_columns(y=(table["x0"] > 1) + rng.normal(size=600))
    whole = RuleBoostingRegressor("auto", slopes=False).fit(table.drop("y"), table["y"])
    parts = RuleBoostingRegressor("auto", slopes=False).fit(table.lazy(), "y")
    assert len(whole.ensemble_) == 1
    assert forms(parts) == forms(whole)
    assert_allclose(parts.predict(table.drop("y")), whole.predict(table.drop("y")))
    [one], [other] = parts.search_results_, whole.search_results_
    assert one.objective_value == pytest.approx(other.objective_value)


def test_a_copy_of_a_feature_has_no_slope_beside_it():
    X, y = sloped_problem()
    twice = pd.concat([X, X.add_suffix(" again")], axis=1)
    model = RuleBoostingRegressor(6).fit(twice, y)
    assert model.ensemble_.terms == RuleBoostingRegressor(6).fit(X, y).ensemble_.terms
