"""What users of other rule learners asked for, task by task; the names say who asked where."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from losses import PoissonLoss as OwnPoissonLoss


def table(n_rows=240, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n_rows, 3)).astype(float)
    return rng, X


def test_imodels_93_and_131_three_classes_have_three_probabilities():
    rng, X = table()
    y = np.array(["low", "mid", "top"])[np.clip(X[:, 0].astype(int) - 1, 0, 2)]
    y[rng.random(len(y)) < 0.1] = "mid"
    model = RuleBoostingClassifier(4).fit(X, y)
    shares = model.predict_proba(X)
    assert shares.shape == (len(y), 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert log_loss(y, shares) < 0.5 * np.log(3)


def test_imodels_265_no_model_returns_two_columns_for_three_classes():
    _, X = table()
    y = (X[:, 0] // 2).astype(int)
    y[0] = 0 if y[0] else 1
    model = RuleBoostingClassifier(3).fit(X, y)
    assert model.predict_proba(X).shape[1] == len(model.classes_) == 3
    polished = RuleBoostingClassifier(3, strategy="polished").fit(X, y)
    assert polished.predict_proba(X).shape[1] == 3


def test_imodels_195_class_weight_balanced_finds_the_rare_class():
    rng, X = table(600)
    y = np.where((X[:, 0] > 4) & (rng.random(600) < 0.3), "ill", "well")
    plain = RuleBoostingClassifier(2).fit(X, y)
    balanced = RuleBoostingClassifier(2, class_weight="balanced").fit(X, y)
    found = [(model.predict(X)[y == "ill"] == "ill").mean() for model in (plain, balanced)]
    assert found[1] > found[0]
    given = RuleBoostingClassifier(2, class_weight={"ill": 2, "well": 1}).fit(X, y)
    same = RuleBoostingClassifier(2).fit(X, y, np.where(y == "ill", 2.0, 1.0))
    np.testing.assert_allclose(given.predict_proba(X), same.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie", "huber", OwnPoissonLoss()])
def test_interpret_281_losses_of_generalised_linear_models_and_of_ones_own(loss):
    rng, X = table()
    y = rng.gamma(2.0, np.exp(0.5 * (X[:, 0] > 2))) + 0.1
    model = RuleBoostingRegressor(3, loss=loss).fit(X, y)
    assert len(model.ensemble_) == 3
    assert all(result.is_optimal for result in model.search_results_)
    assert model.predict(X[X[:, 0] > 2]).mean() > model.predict(X[X[:, 0] <= 2]).mean()


def test_interpret_137_log_link_with_exposure_for_insurance():
    rng, X = table(1000)
    years = rng.uniform(0.1, 1.0, 1000)
    claims = rng.poisson(years * np.where(X[:, 0] > 3, 3.0, 1.0))
    model = RuleBoostingRegressor(1, loss="poisson").fit(X, claims, exposure=years)
    assert (model.predict(X) > 0).all()
    rates = model.predict(X[X[:, 0] > 3]).mean(), model.predict(X[X[:, 0] <= 3]).mean()
    np.testing.assert_allclose(rates, (3.0, 1.0), rtol=0.15)
    assert "multiplies" in model.task_.effect(0.4)


def test_interpret_293_survival_targets_say_what_to_do_instead():
    survival = np.array([(True, 2.0), (False, 3.0)], dtype=[("event", "?"), ("time", "f8")])
    for estimator in (RuleBoostingRegressor(), RuleBoostingClassifier()):
        with pytest.raises(ValueError, match="row for each interval of time"):
            estimator.fit([[1.0], [2.0]], survival)


def test_skope_rules_37_regression_and_pycorels_9_probabilities():
    rng, X = table()
    y = 2.0 * (X[:, 0] > 2) + 0.5 * rng.normal(size=len(X))
    assert RuleBoostingRegressor(2).fit(X, y).score(X, y) > 0.6
    labels = np.where(y + rng.normal(size=len(y)) > 1, "yes", "no")
    shares = RuleBoostingClassifier(2).fit(X, labels).predict_proba(X)
    assert ((shares >= 0) & (shares <= 1)).all()
