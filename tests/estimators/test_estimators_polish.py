"""The estimators: rules that are exchanged for better ones."""

import re
import signal

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from estimators import ESTIMATORS, both
from laconic import RuleBoostingRegressor, RuleBoostingRegressorCV, load_model, save_model
from laconic.estimators import fitting
from laconic.terms.rules import rule_coverages

# So little a penalty that repeating a rule gains next to nothing.
JOINT = {"l2_regularization": 1.0, "slopes": False, "brevity": 0.0}


def three_rules(seed=7):
    """A table of which boosting finds a first rule that is not the best one beside the others."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(300, 6))
    rules = [(X[:, 0] > 1) & (X[:, 1] > 0), X[:, 2] > 1, (X[:, 3] <= 1) & (X[:, 4] > 1)]
    score = sum(weight * rule for weight, rule in zip((2, -2, 2), rules, strict=True))
    return X, score + rng.normal(size=300)


def risk(model, X, y):
    raw = model.ensemble_.raw_predictions(X)
    target = model.task_.for_loss(model.task_.numbers(y, len(y)))
    penalty = model.l2_regularization / 2 * sum(rule.weight**2 for rule in model.ensemble_)
    return model.loss_.value(target, raw).sum() + penalty


@both
def test_polishing_lowers_the_penalised_loss(task):
    n_lower = 0
    for seed in range(7, 13):
        X, y = three_rules(seed)
        if task == "classifier":
            y = y > 0
        plain = ESTIMATORS[task](5, **JOINT).fit(X, y)
        model = ESTIMATORS[task](5, strategy="polished", **JOINT).fit(X, y)
        assert risk(model, X, y) <= risk(plain, X, y) * (1 + 1e-12)
        n_lower += risk(model, X, y) < risk(plain, X, y)
        assert len(model.ensemble_) == len(model.search_results_) == 5
    assert n_lower > 0
    again = ESTIMATORS[task](5, strategy="polished", **JOINT).fit(X, y)
    assert again.ensemble_ == model.ensemble_


def gain_per_size(model, X, y, brevity):
    """What a regression gains on the best constant, divided by the power of its size."""
    columns = [term.values(X) for term in model.ensemble_]
    scales = [1.0 if values.dtype == bool else values.std() / 0.4 for values in columns]
    weights = np.array([term.weight for term in model.ensemble_]) * scales
    value = ((y - model.predict(X)) ** 2).sum() + weights @ weights / 2
    return (((y - y.mean()) ** 2).sum() - value) / model.ensemble_.size**brevity


@pytest.mark.parametrize("brevity", [0.0, 0.5, 1.0, 2.0])
def test_polishing_raises_the_gain_per_size(brevity):
    n_better = n_slopes = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = three_rules(seed)
        X = X + rng.normal(scale=0.3, size=X.shape)
        y = y + np.abs(X[:, 5])
        options = {"l2_regularization": 1.0, "brevity": brevity}
        plain, model = (
            RuleBoostingRegressor(4, strategy=strategy, **options).fit(X, y)
            for strategy in ("joint", "polished")
        )
        before, after = (gain_per_size(each, X, y, brevity) for each in (plain, model))
        assert after >= before * (1 - 1e-12)
        assert len(model.ensemble_) == 4
        n_better += after > before * (1 + 1e-9)
        n_slopes += len(model.ensemble_.slopes)
        assert all(0.0 < r.approximation_ratio <= 1.0 for r in model.search_results_)
    assert n_better > 0
    assert n_slopes > 0


def test_a_compromise_gives_way():
    X, y = three_rules()
    plain = RuleBoostingRegressor(3, **JOINT).fit(X, y)
    model = RuleBoostingRegressor(3, strategy="polished", **JOINT).fit(X, y)
    assert "x0 > 0" in str(plain.ensemble_[0])
    assert "x0 > 1" in str(model.ensemble_[0])
    assert [rule.query for rule in model.ensemble_[1:]] == [r.query for r in plain.ensemble_[1:]]
    assert all(result.approximation_ratio > 1 - 1e-12 for result in model.search_results_)


def test_coverages_and_certificates_are_those_of_the_new_rules(tmp_path):
    X, y = three_rules()
    weights = np.tile([0.0, 1.0, 2.0], 100)
    model = RuleBoostingRegressor(3, strategy="polished", **JOINT).fit(X, y, weights)
    counted = weights > 0
    covered = model.ensemble_.covered(X)[counted].T
    assert model.rule_coverages_ == rule_coverages(covered, y[counted], weights[counted])
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.ensemble_ == model.ensemble_
    assert loaded.search_results_ == model.search_results_


def test_progress_says_polishing(capsys):
    X, y = three_rules()
    model = RuleBoostingRegressor(3, strategy="polished", verbose=1, **JOINT).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    starts = [re.match(r"[^:]*", line).group() for line in lines]
    assert starts[:3] == ["term 1 of 3", "term 2 of 3", "term 3 of 3"]
    assert starts[3:] == ["polishing, term 1 of 3"]
    for number, rule in enumerate(model.ensemble_, start=1):
        about = [line for line in lines if f"term {number} of 3: " in line]
        assert model.ensemble_.text(rule.query) in about[-1]


def at_polishing(act):
    def callback(progress):
        return act() if progress.stage == "polishing" else None

    return callback


def test_ctrl_c_while_polishing():
    X, y = three_rules()

    def press():
        signal.raise_signal(signal.SIGINT)

    parameters = JOINT | {"strategy": "polished", "callback": at_polishing(press)}
    with pytest.raises(KeyboardInterrupt):
        RuleBoostingRegressor(3, **parameters).fit(X, y)
    model = RuleBoostingRegressor(3, on_interrupt="keep", **parameters)
    with pytest.warns(ConvergenceWarning, match="Interrupted while polishing"):
        model.fit(X, y)
    assert len(model.ensemble_) == len(model.rule_coverages_) == 3


def test_callback_ends_the_polishing():
    X, y = three_rules()
    stopped = RuleBoostingRegressor(
        3, strategy="polished", callback=at_polishing(lambda: True), **JOINT
    ).fit(X, y)
    plain = RuleBoostingRegressor(3, **JOINT).fit(X, y)
    polished = RuleBoostingRegressor(3, strategy="polished", **JOINT).fit(X, y)
    assert risk(polished, X, y) <= risk(stopped, X, y) <= risk(plain, X, y)


def test_too_many_rounds_are_reported(monkeypatch):
    polish = fitting.polish
    monkeypatch.setattr(fitting, "polish", lambda *model: polish(*model, max_rounds=1))
    with pytest.warns(ConvergenceWarning, match="exchanges of terms may still improve the model"):
        RuleBoostingRegressor(3, strategy="polished", **JOINT).fit(*three_rules())


def test_rules_of_an_earlier_fit_are_polished_too():
    X, y = three_rules()
    model = RuleBoostingRegressor(1, strategy="polished", warm_start=True, **JOINT).fit(X, y)
    model.set_params(n_terms=3).fit(X, y)
    direct = RuleBoostingRegressor(3, strategy="polished", **JOINT).fit(X, y)
    assert_allclose(risk(model, X, y), risk(direct, X, y))


def test_first_rules_of_a_polished_model_have_weights_of_their_own(tmp_path):
    X, y = three_rules()
    model = RuleBoostingRegressor(3, strategy="polished", **JOINT).fit(X, y)
    plain = RuleBoostingRegressor(3, **JOINT).fit(X, y)
    assert model.ensemble_[0].query != plain.ensemble_[0].query
    assert model.stages_[-1] == model.ensemble_
    for n_terms, stage in enumerate(model.stages_):
        assert [rule.query for rule in stage] == [rule.query for rule in model.ensemble_[:n_terms]]
        # The squared loss has no slope left: neither to the intercept nor to any weight.
        residuals = y - stage.raw_predictions(X)
        assert abs(residuals.sum()) < 1e-9
        for rule in stage:
            assert_allclose(2 * residuals[rule.query.covered(X)].sum(), rule.weight)
    staged = [stage.raw_predictions(X) for stage in model.stages_[1:]]
    assert_allclose(list(model.staged_predict(X)), staged)
    save_model(model, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").stages_ == model.stages_


def test_sizes_are_judged_by_polished_models():
    X, y = three_rules()
    plain = RuleBoostingRegressorCV(**JOINT).fit(X, y)
    model = RuleBoostingRegressorCV(strategy="polished", **JOINT).fit(X, y)
    assert model.n_terms_ == 4
    assert_allclose(plain.cv_results_["mean_loss"][:2], model.cv_results_["mean_loss"][:2])
    assert plain.cv_results_["mean_loss"][4] > model.cv_results_["mean_loss"][4]
    assert (
        model.ensemble_
        == RuleBoostingRegressor(4, strategy="polished", **JOINT).fit(X, y).ensemble_
    )
