"""Models that start from rules that somebody wants."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from estimators import forms
from laconic import (
    Query,
    Rule,
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
)
from laconic.search import SearchStatus
from laconic.search.results import describe_certificate


def table(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "income": rng.normal(40, 10, n_rows).round(1),
        }
    )
    score = (X.age > 60) * 2.0 + (X.income > 45) * (X.sex == "f") - 1
    return X, score + rng.normal(size=n_rows)


@pytest.mark.parametrize("strategy", ["joint", "stagewise"])
def test_initial_terms_come_first_and_the_others_are_found_given_them(strategy):
    X, y = table()
    texts = ['age > 65 & sex == "f"', "income <= 30"]
    model = RuleBoostingRegressor(5, strategy=strategy, initial_terms=texts).fit(X, y)
    assert [*map(str, forms(model)[:2])] == ["age > 65 & sex == f", "income <= 30"]
    assert len(model.ensemble_) == 5
    assert [result.status for result in model.search_results_] == ["given"] * 2 + ["optimal"] * 3
    for result in model.search_results_[:2]:
        assert 0 < result.objective_value <= result.bound
        assert describe_certificate(result).startswith("given, at least ")
    # Weights and coverages are those of the rules.
    covered = model.ensemble_.covered(X)
    assert [coverage.coverage for coverage in model.rule_coverages_] == covered.sum(axis=0).tolist()
    if strategy == "joint":
        free = RuleBoostingRegressor(5, strategy=strategy).fit(X, y)
        best = free.search_results_[0].objective_value
        assert model.search_results_[0].bound == pytest.approx(best)


def test_weights_of_given_rules_are_the_best_ones_or_their_own():
    X, y = table()
    searched = RuleBoostingRegressor(1, slopes=False).fit(X, y)
    rule = Rule(Query(searched.ensemble_[0].query.conditions), 0.125)
    joint = RuleBoostingRegressor(1, initial_terms=[rule]).fit(X, y)
    assert joint.ensemble_[0].weight == pytest.approx(searched.ensemble_[0].weight)
    kept = RuleBoostingRegressor(1, strategy="stagewise", initial_terms=[rule]).fit(X, y)
    assert kept.ensemble_[0].weight == 0.125


def test_polishing_does_not_exchange_them():
    X, y = table()
    texts = ["income <= 30", "age <= 20"]
    model = RuleBoostingRegressor(4, strategy="polished", initial_terms=texts).fit(X, y)
    assert [*map(str, forms(model)[:2])] == texts
    everything = RuleBoostingRegressor(2, strategy="polished", initial_terms=texts).fit(X, y)
    assert [*map(str, forms(everything))] == texts


def test_they_are_saved_and_cloned(tmp_path):
    X, y = table()
    model = RuleBoostingClassifier(3, initial_terms=["age > 65"]).fit(X, y > 0)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.ensemble_ == model.ensemble_
    assert loaded.search_results_[0].status is SearchStatus.GIVEN
    assert clone(model).fit(X, y > 0).ensemble_ == model.ensemble_
    chosen = RuleBoostingClassifierCV(4, initial_terms=["age > 65"]).fit(X, y > 0)
    assert chosen.n_terms_ == 0 or str(chosen.ensemble_[0].query) == "age > 65"


@pytest.mark.parametrize("parameters", [{}, {"strategy": "stagewise"}, {"strategy": "polished"}])
def test_a_given_rule_that_fits_no_allowed_weight_stays_without_one(parameters, tmp_path):
    X, y = table()
    given = {"initial_terms": ["age > 65"], "monotonic_cst": {"age": -1, "income": 1}}
    model = RuleBoostingRegressor(3, **given, **parameters)
    with pytest.warns(ConvergenceWarning, match="'age > 65' has the weight 0, as the constraints"):
        model.fit(X, y)
    assert str(model.ensemble_[0].query) == "age > 65"
    assert [rule.weight == 0.0 for rule in model.ensemble_] == [True, False, False]
    assert len(model.search_results_) == len(model.ensemble_) == len(model.stages_) - 1
    assert model.search_results_[0].status is SearchStatus.GIVEN
    save_model(model, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").ensemble_ == model.ensemble_
    certificate = model.search_results_[0]
    assert certificate.objective_value <= certificate.bound


@pytest.mark.parametrize("parameters", [{}, {"strategy": "stagewise"}, {"strategy": "polished"}])
def test_a_given_rule_that_costs_more_than_it_gains_is_saved(parameters, tmp_path):
    X, y = table()
    model = RuleBoostingRegressor(
        2, initial_terms=["age > 65"], feature_costs={"age": 100.0}, **parameters
    ).fit(X, y)
    assert str(model.ensemble_[0].query) == "age > 65"
    assert model.search_results_[0].objective_value == 0.0
    save_model(model, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").search_results_ == model.search_results_
    assert model.alternatives(1, X, y).share == 0.0


def test_models_of_a_chosen_size_have_them_in_any_case():
    X, y = table()
    noise = np.random.default_rng(1).normal(size=len(y))
    assert RuleBoostingRegressorCV(6).fit(X, noise).n_terms_ == 0
    texts = ["age > 65", "income <= 30", "income > 55", "age <= 30", "age <= 25"]
    for n_given in (1, 5):
        model = RuleBoostingRegressorCV(6, initial_terms=texts[:n_given]).fit(X, noise)
        assert [*map(str, forms(model))] == texts[:n_given]
        assert model.n_terms_ == n_given
        assert f"{n_given} of up to 6 terms" in model.reason_


def test_they_join_a_model_that_is_there():
    X, y = table()
    model = RuleBoostingRegressor(2, warm_start=True).fit(X, y)
    before = forms(model)
    model.set_params(n_terms=4, initial_terms=["age > 65"]).fit(X, y)
    queries = forms(model)
    assert queries[:2] == before
    assert [str(query) for query in queries].index("age > 65") == 2
    assert len(model.set_params(n_terms=5).fit(X, y).ensemble_) == 5
    assert [*map(str, forms(model))].count("age > 65") == 1
    model.set_params(initial_terms=["age > 65", "income > 55"])
    with pytest.raises(ValueError, match="n_terms=5 must not be smaller than the 5 terms fitted "):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"initial_terms": ["agee > 3"]}, "no feature 'agee'. Did you mean 'age'"),
        ({"initial_terms": ["sex == x"]}, "'sex' has no category 'x'"),
        ({"initial_terms": ["age > 3", "age > 3"]}, "must be different. Got 'age > 3' twice"),
        ({"initial_terms": "age > 3"}, "must be a list of str, Query, Rule or Slope, or None"),
        ({"n_terms": 1, "initial_terms": ["age > 3", "age > 4"]}, "must not be smaller than"),
        (
            {"initial_terms": ["age > 3"], "feature_costs": {"age": np.inf}},
            "may not use 'age', as the constraints say",
        ),
        ({"initial_terms": ["age > 3"], "strategy": "global"}, "cannot be combined with strategy"),
    ],
)
def test_rules_that_make_no_sense_are_refused(parameters, message):
    X, y = table(40)
    with pytest.raises(ValueError, match=message):
        RuleBoostingRegressor(**parameters).fit(X, y)


def test_rules_of_long_tables_cover_the_rows_that_they_say():
    from laconic.estimators.read_training_data import LONG_TABLE

    rng = np.random.default_rng(0)
    X = rng.normal(size=(LONG_TABLE + 10, 1)).round(3)
    y = 2.0 * (X[:, 0] > 0.12345) + rng.normal(size=len(X))
    options = {"initial_terms": ["x0 > 0.12345"], "excluded_terms": ["x0 > 0.9"]}
    model = RuleBoostingRegressor(2, max_thresholds=1, slopes=False, **options).fit(X, y)
    assert str(model.ensemble_[0].query) == "x0 > 0.12345"
    assert model.rule_coverages_[0].coverage == (X[:, 0] > 0.12345).sum()


def test_excluded_terms_are_not_found_in_other_words_either():
    X, y = table()
    for strategy in ("joint", "stagewise"):
        options = {"strategy": strategy, "slopes": False}
        free = RuleBoostingRegressor(1, **options).fit(X, y)
        without = RuleBoostingRegressor(1, excluded_terms=[free.ensemble_[0]], **options)
        without.fit(X, y)
        covered = free.ensemble_[0].query.covered(X)
        assert (without.ensemble_[0].query.covered(X) != covered).any()
        assert without.search_results_[0].is_optimal
        best, second = free.search_results_[0], without.search_results_[0]
        assert second.objective_value <= best.objective_value * (1 + 1e-8)


@pytest.mark.parametrize("strategy", ["joint", "stagewise"])
def test_a_given_rule_that_is_also_excluded_has_its_objective(strategy):
    """Its certificate said 0, as rules are worth that are not to be found."""
    X, y = table()
    options = {"n_terms": 2, "strategy": strategy, "initial_terms": ["age > 60"]}
    given = RuleBoostingRegressor(**options).fit(X, y).search_results_[0]
    excluded = RuleBoostingRegressor(**options, excluded_terms=["age > 60"]).fit(X, y)
    found = excluded.search_results_[0]
    assert found.objective_value == pytest.approx(given.objective_value, rel=1e-12)
    assert 0 < found.objective_value <= found.bound
