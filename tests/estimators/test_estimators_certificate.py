"""Certificates of whole models."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model, save_model
from laconic.boosting.certificate import EnsemblesOfSize, EnsemblesOfWeight, TrainingRisk, prove
from laconic.candidates.candidates import given_candidates
from laconic.losses import SquaredLoss
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, RuleEnsemble
from laconic.terms.slopes import Slope


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(2)
    y = (X[:, 0] > 0) * 2.0 + (X[:, 1] > 0.5) * (X[:, 2] < 0) + rng.normal(scale=0.3, size=120)
    return X, y


RULES = {"slopes": False, "brevity": 0.0}


@pytest.fixture(scope="module")
def regressor(table):
    return RuleBoostingRegressor(n_terms=3, l2_regularization=5.0, **RULES).fit(*table)


@pytest.fixture(scope="module")
def steady():
    """A table whose target rises with two features, and steps with a third one."""
    rng = np.random.default_rng(1)
    X = np.exp(rng.normal(size=(150, 3))).round(2)
    X[:9, 1] = np.nan
    effects = 2.0 * np.minimum(X[:, 0], 2.0) - 0.5 * np.nan_to_num(X[:, 1]) + (X[:, 2] > 1)
    return X, effects + rng.normal(scale=0.2, size=150)


@pytest.fixture(scope="module")
def sloped(steady):
    model = RuleBoostingRegressor(n_terms=4, l2_regularization=5.0).fit(*steady)
    assert len(model.ensemble_.slopes) > 0
    assert len(model.ensemble_.rules) > 0
    return model


@pytest.fixture(scope="module")
def classifier(table):
    X, y = table
    return RuleBoostingClassifier(n_terms=3, l2_regularization=2.0, **RULES).fit(
        X, np.where(y > 1, "b", "a")
    )


@pytest.mark.parametrize("against", ["rules", "weight"])
def test_certificate_of_a_regression(regressor, table, against):
    X, y = table
    certificate = regressor.certificate(X, y, against=against)
    ensemble = regressor.ensemble_
    weights = np.array([rule.weight for rule in ensemble])
    penalty = 2.5 * (weights**2).sum() if against == "rules" else 0.0
    assert certificate.objective == pytest.approx(((y - regressor.predict(X)) ** 2).sum() + penalty)
    assert certificate.start == pytest.approx(((y - y.mean()) ** 2).sum())
    assert 0 < certificate.bound <= certificate.objective
    assert certificate.trivial_share < certificate.share <= 1
    assert certificate.share > 0.9
    assert certificate.verify(X)


def test_certificate_of_a_classification(classifier, table):
    X, y = table
    certificate = classifier.certificate(X, np.where(y > 1, "b", "a"))
    assert certificate.compared == EnsemblesOfSize(3, 2.0)
    assert certificate.trivial_share < certificate.share
    assert certificate.verify(X)


def test_twenty_lines_check_a_certificate(regressor, table):
    X, y = table
    certificate = regressor.certificate(X, y)
    forces, largest_sum = certificate.forces, certificate.largest_sum
    assert forces.sum() == 0
    covered = np.array([each.covered(X) for each in certificate.conditions], dtype=float)
    for first in covered:
        for second in covered:
            assert np.abs(covered @ (first * second * forces)).max() <= largest_sum
    value = -(forces * y + forces**2 / 4).sum() - 3 * largest_sum**2 / (2 * 5.0)
    assert certificate.bound == pytest.approx(value, rel=1e-9)


def test_weights_count_as_rows(table):
    X, y = table
    weights = np.resize([0, 1, 2], len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    options = {"n_terms": 2, "l2_regularization": 5.0}
    weighted = RuleBoostingRegressor(**options).fit(X, y, weights)
    plain = RuleBoostingRegressor(**options).fit(X[repeated], y[repeated])
    by_weight = weighted.certificate(X, y, weights)
    by_rows = plain.certificate(X[repeated], y[repeated])
    assert by_weight.share == pytest.approx(by_rows.share, rel=1e-3)
    assert by_weight.objective == pytest.approx(by_rows.objective)
    assert (by_weight.forces[weights == 0] == 0).all()
    assert by_weight.verify(X)


def test_without_an_intercept(table):
    X, y = table
    model = RuleBoostingRegressor(n_terms=2, l2_regularization=5.0, fit_intercept=False).fit(X, y)
    certificate = model.certificate(X, y)
    assert certificate.start == pytest.approx((y**2).sum())
    assert certificate.verify(X)


def test_edited_model_brings_its_own_conditions(regressor, table):
    X, y = table
    model = RuleBoostingRegressor(n_terms=3, l2_regularization=5.0, **RULES).fit(X, y)
    own = Query(tuple(Condition("x0", ">", t) for t in (-9.0, -8.0, -7.0, 0.001)))
    rules = (*model.ensemble_, Rule(own, 0.01))
    model.ensemble_ = RuleEnsemble(rules, model.ensemble_.intercept, model.ensemble_.feature_names)
    certificate = model.certificate(X, y, against="weight")
    assert set(own) <= set(certificate.conditions)
    assert certificate.max_conditions == 4
    assert 0 < certificate.share <= 1


def test_rules_of_several_fits_bring_their_own_conditions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    y = 1.0 * (X[:, 0] > 1.2) + 0.01 * rng.normal(size=200)
    model = RuleBoostingRegressor(
        1, l2_regularization=1.0, max_thresholds=50, warm_start=True, **RULES
    )
    model.fit(X, y).set_params(n_terms=2, max_thresholds=1).fit(X, y)
    certificate = model.certificate(X, y)
    assert set(model.ensemble_.conditions) <= set(certificate.conditions)
    assert certificate.verify(X)


def test_loaded_model_has_a_certificate(regressor, table, tmp_path):
    X, y = table
    save_model(regressor, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.certificate(X, y).bound == regressor.certificate(X, y).bound


def test_rivals_may_have_another_penalty(table):
    X, y = table
    models = [
        RuleBoostingRegressor(3, l2_regularization=each, **RULES).fit(X, y) for each in (0.0, 5.0)
    ]
    by_weight, by_rules = (model.certificate(X, y) for model in models)
    total = sum(abs(rule.weight) for rule in models[0].ensemble_)
    assert isinstance(by_weight.compared, EnsemblesOfWeight)
    # From Python 3.12 on, sums of floats are compensated.
    assert by_weight.compared.total_weight == pytest.approx(total, rel=1e-14)
    assert by_rules.compared == EnsemblesOfSize(3, 5.0)
    other = models[0].certificate(X, y, l2_regularization=5.0)
    assert other.compared == EnsemblesOfSize(3, 5.0)
    assert other.bound == pytest.approx(by_rules.bound)
    assert models[1].certificate(X, y, l2_regularization=0.0).compared.total_weight > 0.0


def test_loaded_model_of_given_conditions_knows_them(table, tmp_path):
    X, y = table
    given = [Condition("x0", ">", 0.0), Condition("x1", ">", 0.5)]
    model = RuleBoostingRegressor(n_terms=2, conditions=given).fit(X, y)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.certificate(X, y).bound == model.certificate(X, y).bound


def test_two_runs_give_the_same_bits(regressor, table):
    first, second = (regressor.certificate(*table, node_limit=2) for _ in range(2))
    assert first.status == "node_limit"
    assert first.bound == second.bound
    np.testing.assert_array_equal(first.forces, second.forces)
    assert first.share <= regressor.certificate(*table).share


def test_stopped_certificate_is_true(regressor, table):
    X, y = table
    certificate = regressor.certificate(X, y, callback=lambda progress: True)
    assert certificate.status == "interrupted"
    assert certificate.share <= regressor.certificate(X, y).share
    assert certificate.verify(X)


def test_model_without_rules(table):
    X, _ = table
    y = np.zeros(len(X))
    certificate = RuleBoostingRegressor().fit(X, y).certificate(X, y)
    assert certificate.share == 1.0
    assert certificate.verify(X)


def test_words(regressor, table):
    words = str(regressor.certificate(*table))
    assert "any 3 rules" in words
    assert "conjunctions of at most 3 of 42 conditions" in words
    assert "training rows" in words
    assert "total weight" in str(regressor.certificate(*table, against="weight"))


def test_plain_values(regressor, table):
    values = regressor.certificate(*table).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["n_terms"] == 3


def test_parameters_are_checked(regressor, table):
    with pytest.raises(ValueError, match="against must be one of 'rules', 'weight'"):
        regressor.certificate(*table, against="trees")


def test_losses_without_a_name_have_no_certificate(table):
    class Twice(SquaredLoss):
        pass

    model = RuleBoostingRegressor(n_terms=1, loss=Twice()).fit(*table)
    with pytest.raises(ValueError, match="one of the losses logistic, multinomial or squared"):
        model.certificate(*table)


def test_picture(regressor, table):
    certificate = regressor.certificate(*table)
    picture = certificate.to_svg()
    assert picture.startswith("<svg")
    assert "lower bound" in picture
    assert picture in certificate._repr_html_()


@pytest.mark.parametrize("exponent", [300, -500])
@pytest.mark.parametrize("against", ["rules", "weight"])
def test_the_scale_of_the_target_changes_nothing(exponent, against):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0.3) + rng.normal(size=40)
    shares = []
    for target in (y, np.ldexp(y, exponent)):
        model = RuleBoostingRegressor(2, max_conditions=2, max_thresholds=3).fit(X, target)
        certificate = model.certificate(X, target, against=against)
        assert certificate.verify(X)
        shares.append(certificate.share)
    assert shares[1] == pytest.approx(shares[0], rel=1e-9)
    assert shares[1] > certificate.trivial_share


@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
@pytest.mark.parametrize("make", [RuleBoostingRegressor, RuleBoostingClassifier])
def test_the_scale_of_weights_and_penalty_changes_nothing(make, scale):
    """Squares of 1e-180 are 0, and all models were proven to be the best ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = 2.0 * (X[:, 0] > 0) + (X[:, 1] > 0.3) + rng.normal(size=40)
    target = y if make is RuleBoostingRegressor else y > 1
    shares = []
    for weight in (1.0, scale):
        weights = np.full(40, weight)
        model = make(2, max_conditions=2, max_thresholds=3, l2_regularization=2.0 * weight)
        certificate = model.fit(X, target, weights).certificate(X, target, weights)
        assert certificate.verify(X)
        shares.append(certificate.share)
    assert shares[1] == pytest.approx(shares[0], rel=1e-9)
    assert shares[1] < 1.0


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e-155])
def test_losses_that_are_too_small_to_be_bounded_are_refused(scale, table):
    X, y = table
    model = RuleBoostingRegressor(2).fit(X, scale * np.asarray(y))
    with pytest.raises(ValueError, match=r"A certificate needs losses of 1e-300 or more"):
        model.certificate(X, scale * np.asarray(y))
    with pytest.raises(ValueError, match=r"strategy='global' needs losses of 1e-300 or more"):
        model.set_params(strategy="global").fit(X, scale * np.asarray(y))


# Slopes


def scales(model, X, weights=None):
    """What the values of terms are divided by to be on the scale of rules."""
    counts = np.ones(len(X)) if weights is None else weights
    found = []
    for term in model.ensemble_:
        values = term.values(X)
        mean = np.average(values, weights=counts)
        deviation = np.sqrt(np.average((values - mean) ** 2, weights=counts))
        found.append(deviation / 0.4 if isinstance(term, Slope) else 1.0)
    return np.array(found)


@pytest.mark.parametrize("against", ["rules", "weight"])
def test_weights_of_slopes_count_on_the_scale_of_rules(sloped, steady, against):
    X, y = steady
    certificate = sloped.certificate(X, y, against=against)
    weights = np.array([term.weight for term in sloped.ensemble_]) * scales(sloped, X)
    loss = ((y - sloped.predict(X)) ** 2).sum()
    if against == "rules":
        assert certificate.objective == pytest.approx(loss + 2.5 * (weights**2).sum())
    else:
        assert certificate.objective == pytest.approx(loss)
        assert certificate.compared.total_weight == pytest.approx(np.abs(weights).sum())
    assert certificate.bound <= certificate.objective
    assert certificate.trivial_share < certificate.share <= 1
    assert certificate.status == "optimal"
    assert certificate.verify(X)


def test_twenty_lines_check_a_certificate_with_slopes(sloped, steady):
    X, y = steady
    certificate = sloped.certificate(X, y)
    forces, largest_sum = certificate.forces, certificate.largest_sum
    covered = np.array([each.covered(X) for each in certificate.conditions], dtype=float)
    for first in covered:
        for second in covered:
            assert np.abs(covered @ (first * second * forces)).max() <= largest_sum
    values = np.array([slope.values(X) for slope in certificate.slopes])
    values *= 0.4 / values.std(axis=1, keepdims=True)
    assert np.abs(values @ forces).max() <= largest_sum
    value = -(forces * y + forces**2 / 4).sum() - 4 * largest_sum**2 / (2 * 5.0)
    assert certificate.bound == pytest.approx(value, rel=1e-9)


def test_the_check_looks_at_slopes(sloped, steady):
    """With rules alone a smaller sum, and so a higher bound, would be claimed."""
    X, y = steady
    true = sloped.certificate(X, y)
    candidates = given_candidates(X, true.conditions)
    risk = TrainingRisk.of(y, SquaredLoss())
    proof = prove(candidates.extents, risk, true.compared, max_conditions=3)
    assert proof.bound.value > true.bound
    wrong = replace(
        true, bound=proof.bound.value, evidence=replace(true.evidence, proof=proof.bound)
    )
    assert not wrong.verify(X)
    assert replace(wrong, evidence=replace(wrong.evidence, slopes=())).verify(X)


def test_rules_are_compared_with_rules(sloped, steady):
    X, y = steady
    model = RuleBoostingRegressor(n_terms=4, l2_regularization=5.0, **RULES).fit(X, y)
    certificate = model.certificate(X, y)
    assert (certificate.n_slopes, certificate.slopes) == (0, ())
    assert "any 4 rules could" in str(certificate)
    assert "slope" not in str(certificate)
    among_slopes = sloped.certificate(X, y)
    assert among_slopes.n_slopes == len(among_slopes.slopes) == 3 * 36
    assert certificate.bound > among_slopes.bound


def test_slopes_of_an_edited_model_are_its_own(steady):
    """A slope between other knots, of a model of rules, whose rivals then have slopes too."""
    X, y = steady
    model = RuleBoostingRegressor(n_terms=3, l2_regularization=5.0, **RULES).fit(X, y)
    own = Slope("x0", 0.123, 0.987, 0.5)
    terms = (*model.ensemble_, own)
    model.ensemble_ = RuleEnsemble(terms, model.ensemble_.intercept, model.ensemble_.feature_names)
    for against in ("rules", "weight"):
        certificate = model.certificate(X, y, against=against)
        assert own.key in certificate.slopes
        assert certificate.n_slopes == 3 * 36 + 1
        assert certificate.verify(X)


def test_slopes_with_weights_of_rows(steady):
    X, y = steady
    weights = np.resize([0.0, 1.0, 2.5], len(y))
    model = RuleBoostingRegressor(n_terms=4, l2_regularization=5.0).fit(X, y, weights)
    certificate = model.certificate(X, y, weights)
    own = np.array([term.weight for term in model.ensemble_]) * scales(model, X, weights)
    loss = weights @ (y - model.predict(X)) ** 2
    assert certificate.objective == pytest.approx(loss + 2.5 * (own**2).sum())
    assert certificate.verify(X)


@pytest.mark.parametrize("against", ["rules", "weight"])
def test_slopes_of_classes(steady, against):
    X, y = steady
    for target in (y > 3.0, np.digitize(y, [2.0, 4.0])):
        model = RuleBoostingClassifier(n_terms=4).fit(X, target)
        assert model.ensemble_.slopes
        certificate = model.certificate(X, target, against=against)
        assert certificate.bound <= certificate.objective
        assert certificate.share > certificate.trivial_share
        assert certificate.verify(X)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_the_unit_of_a_feature_changes_nothing(sloped, steady, unit):
    X, y = steady
    model = RuleBoostingRegressor(n_terms=4, l2_regularization=5.0).fit(X * unit, y)
    certificate = model.certificate(X * unit, y)
    assert certificate.share == pytest.approx(sloped.certificate(X, y).share, rel=1e-2)
    assert certificate.verify(X * unit)


def test_words_about_slopes(sloped, steady):
    certificate = sloped.certificate(*steady)
    assert "% of what any 4 terms could achieve, proven." in str(certificate)
    assert "all conjunctions of at most 3 of" in str(certificate)
    assert "conditions and 108 slopes, with the same penalty (5)" in str(certificate)
    assert "without terms" in certificate.to_svg()
    assert certificate.to_dict()["n_slopes"] == 108
    assert "any terms of the same" in str(sloped.certificate(*steady, against="weight"))
