"""The estimators: as many terms as are better than chance."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from estimators import ESTIMATORS, both, forms
from laconic import (
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    load_model,
    save_model,
)
from laconic.boosting.settings import MAX_AUTO_TERMS
from laconic.estimators.base import _nth_term
from laconic.estimators.files import model_from_dict
from laconic.export import model_to_dict


def problem(task, n_true=2, n_rows=400, seed=0):
    """Two effects of six columns, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6)).round(2)
    score = np.zeros(n_rows)
    for weight, column in zip((2.0, 3.0)[:n_true], X.T, strict=False):
        score += weight * (column > 0.3)
    y = score - score.mean() + rng.normal(size=n_rows)
    return X, y if task == "regressor" else np.where(y > 0, "yes", "no")


@both
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slopes", [False, True])
def test_noise_gives_no_term(task, seed, slopes):
    X, y = problem(task, n_true=0, seed=seed)
    model = ESTIMATORS[task]("auto", slopes=slopes).fit(X, y)
    assert (len(model.ensemble_), model.n_terms_) == (0, 0)
    assert model.reason_ == "A first term would be no better than chance."
    assert str(model).endswith(model.reason_)
    assert len(np.unique(model.predict(X))) == 1
    if task == "regressor":
        assert_allclose(model.predict(X[:1]), y.mean())
    else:
        assert_allclose(model.predict_proba(X[:1])[0, 1], np.mean(y == "yes"), rtol=1e-6)
    assert [*model.staged_predict(X)] == []
    assert model.search_results_ == []


@both
def test_clear_effects_give_their_terms(task):
    X, y = problem(task, n_rows=600)
    model = ESTIMATORS[task]("auto").fit(X, y)
    assert set(model.ensemble_.used_features) == {"x0", "x1"}
    assert 2 <= model.n_terms_ == len(model.ensemble_) < 8
    ordinal = ["", "", "third", "fourth", "fifth", "sixth", "seventh", "eighth"][model.n_terms_]
    article = "An" if ordinal == "eighth" else "A"
    assert model.reason_ == f"{article} {ordinal} term would be no better than chance."
    assert model.reason_ in str(model)
    assert model.reason_ in model._repr_html_()
    assert str(model_from_dict(model_to_dict(model))) == str(model)
    assert all(result.is_optimal for result in model.search_results_)
    assert model.unfinished_search_ is None


def test_classes_beyond_two():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=600), [-0.5, 0.5])
    model = RuleBoostingClassifier("auto").fit(X, y)
    assert model.n_terms_ >= 2
    assert "x0" in model.ensemble_.used_features
    assert model.score(X, y) > 0.75
    noise = RuleBoostingClassifier("auto").fit(X, rng.permutation(y))
    assert noise.n_terms_ == 0


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie", "huber"])
def test_every_loss(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = rng.poisson(np.exp(1 + 0.8 * (X[:, 0] > 0))) + (1.0 if loss == "gamma" else 0.0)
    model = RuleBoostingRegressor("auto", loss=loss).fit(X, y)
    assert 1 <= model.n_terms_ <= 5
    assert "x0" in model.ensemble_.used_features
    assert RuleBoostingRegressor("auto", loss=loss).fit(X, rng.permutation(y)).n_terms_ == 0


def test_there_are_never_more_terms_than_people_read():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2000, 3))
    y = np.sin(40 * X[:, 0]) + np.sin(40 * X[:, 1])
    model = RuleBoostingRegressor("auto", max_thresholds=40, max_conditions=1).fit(X, y)
    assert model.n_terms_ == len(model.ensemble_) == MAX_AUTO_TERMS
    assert model.reason_.startswith(f"{MAX_AUTO_TERMS} terms, the most that are looked for: more")


@both
def test_the_parameter_stays_what_it_was(task, tmp_path):
    X, y = problem(task)
    model = ESTIMATORS[task]("auto").fit(X, y)
    assert model.get_params()["n_terms"] == "auto"
    assert clone(model).get_params() == model.get_params()
    assert clone(model).fit(X, y).ensemble_ == model.ensemble_
    save_model(model, tmp_path / "model.json")
    for other in (pickle.loads(pickle.dumps(model)), load_model(tmp_path / "model.json")):
        assert other.ensemble_ == model.ensemble_
        assert other.n_terms == "auto"
        assert other.settings_ == model.settings_
        assert_array_equal(other.predict(X), model.predict(X))
    # A number leaves nothing to be chosen.
    model.set_params(n_terms=2).fit(X, y)
    assert not hasattr(model, "reason_")
    assert not hasattr(model, "n_terms_")


@both
def test_a_weight_of_two_is_the_row_twice(task):
    X, y = problem(task)
    counts = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = ESTIMATORS[task]("auto").fit(X, y, counts)
    repeated = ESTIMATORS[task]("auto").fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert forms(weighted) == forms(repeated)
    assert weighted.reason_ == repeated.reason_


@both
def test_a_warm_start_goes_on_until_chance(task):
    X, y = problem(task)
    whole = ESTIMATORS[task]("auto").fit(X, y)
    model = ESTIMATORS[task](1, warm_start=True).fit(X, y)
    assert not hasattr(model, "reason_")
    model.set_params(n_terms="auto").fit(X, y)
    assert whole.n_terms_ >= model.n_terms_ - 1
    assert model.n_terms_ == len(model.ensemble_) >= 2
    assert "no better than chance" in model.reason_
    again = model.n_terms_
    assert model.fit(X, y).n_terms_ == again
    # More terms than that can be asked for.
    assert len(model.set_params(n_terms=again + 2).fit(X, y).ensemble_) == again + 2


@both
def test_such_models_are_edited_and_proven(task):
    X, y = problem(task)
    model = ESTIMATORS[task]("auto").fit(X, y)
    edited = model.edit(X, y, drop=[1])
    assert forms(model)[0] not in forms(edited)
    assert edited.edits_[0].n_terms == model.n_terms_
    longer = model.edit(X, y, force=["x5 > 0"])
    assert "x5 > 0" in [*map(str, forms(longer))]
    found = model.alternatives(1, X, y, tolerance=0.5)
    assert found.share == pytest.approx(1.0, abs=0.5)
    assert all(one.share <= 1 + 1e-9 for one in found)
    certificate = model.certificate(X, y, node_limit=200)
    assert certificate.bound <= certificate.objective
    assert certificate.verify(X)


def test_given_terms_stay_however_useless():
    X, y = problem("regressor", n_true=0)
    model = RuleBoostingRegressor("auto", initial_terms=["x5 > 0", "x4 from -1 to 1"]).fit(X, y)
    assert str(forms(model)[0]) == "x5 > 0"
    assert model.n_terms_ == len(model.ensemble_) == 2
    assert model.reason_ == "A third term would be no better than chance."


def test_a_constant_target():
    X, _ = problem("regressor")
    model = RuleBoostingRegressor("auto").fit(X, np.full(len(X), 7.0))
    assert model.n_terms_ == 0
    assert_allclose(model.predict(X), 7.0)


def test_a_target_without_noise():
    X, _ = problem("regressor")
    y = 3.0 * (X[:, 0] > 0) * (X[:, 1] > 0)
    model = RuleBoostingRegressor("auto", max_thresholds=30).fit(X, y)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "A first term"), (8, "An eighth term"), (10, "A tenth term"), (11, "Term 11")],
)
def test_ordinal_numbers_after_the_article(number, words):
    assert _nth_term(number) == words


def test_after_exchanges_nothing_is_said_about_chance():
    """Polishing exchanged a true effect for a copy of another, and the sentence was false."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, 200),
            "sex": rng.choice(["f", "m"], 200),
            "day": pd.date_range("2020-01-01", periods=200),
            "income": np.where(rng.random(200) < 0.2, np.nan, rng.normal(40, 10, 200).round(1)),
        }
    )
    y = 0.1 * table["age"] + (table["sex"] == "f") + 0.05 * table["income"].fillna(40)
    y += rng.normal(size=200)
    joint = RuleBoostingRegressor("auto").fit(table, y)
    assert "no better than chance" in joint.reason_
    polished = RuleBoostingRegressor("auto", strategy="polished").fit(table, y)
    is_exchanged = polished.ensemble_.terms != joint.ensemble_.terms
    assert ("no better than chance" in polished.reason_) != is_exchanged
    assert is_exchanged


@pytest.mark.parametrize(("n_positive", "n_rows"), [(10, 1000), (10, 300), (6, 300)])
def test_rare_classes_without_an_effect_have_no_term(n_positive, n_rows):
    rng = np.random.default_rng(7)
    y = np.zeros(n_rows, dtype=int)
    y[:n_positive] = 1
    for _ in range(8):
        model = RuleBoostingClassifier("auto").fit(rng.normal(size=(n_rows, 5)), y)
        assert len(model.ensemble_) == 0
