"""The estimators: conditions that the user gives."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from laconic import Condition, Rule, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.candidates.candidates import candidate_conditions

CUTOFFS = [Condition("age", ">", 65), Condition("age", ">", 40), Condition("sex", "==", "f")]


def patients(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(20, 90, n_rows), "sex": rng.choice(["f", "m"], n_rows)})
    y = (X["age"] > 65) * 3.0 + (X["sex"] == "f") + rng.normal(size=n_rows)
    return X, y


def ages_above(X):
    return [Condition("age", ">", age) for age in X["age"].quantile([0.25, 0.5, 0.75])]


class TestGivenConditions:
    def test_rules_are_made_of_them(self):
        model = RuleBoostingRegressor(10, conditions=CUTOFFS).fit(*patients())
        rules = [term for term in model.ensemble_ if isinstance(term, Rule)]
        used = {condition for rule in rules for condition in rule.query}
        assert used <= set(CUTOFFS)
        assert used
        assert all(result.is_optimal for result in model.search_results_)

    @pytest.mark.parametrize("task", [RuleBoostingClassifier, RuleBoostingRegressor])
    def test_conditions_of_the_table_give_the_default_model(self, task):
        X, y = patients()
        y = y > 2 if task is RuleBoostingClassifier else y
        weights = np.random.default_rng(0).integers(0, 3, len(y))
        expected = task(10, max_thresholds=3, slopes=False).fit(X, y, weights)
        conditions = candidate_conditions(X, max_thresholds=3, sample_weight=weights).conditions
        model = task(10, conditions=conditions, max_thresholds=1, slopes=False)
        model.fit(X, y, weights)
        assert model.ensemble_ == expected.ensemble_

    def test_callable_sees_the_table_as_it_was_passed(self):
        X, y = patients()
        seen = []

        def conditions(table):
            seen.append(table)
            return tuple(CUTOFFS)

        RuleBoostingRegressor(conditions=conditions).fit(X, y)
        assert len(seen) == 1
        assert seen[0] is X

    def test_arrays_have_numbered_features(self):
        above = Condition("x1", ">", np.nextafter(3.0, -np.inf))  # x1 >= 3
        X = [[0, 1], [0, 2], [0, 3], [0, 4]]
        model = RuleBoostingRegressor(2, conditions=[above]).fit(X, [0, 0, 5, 5])
        assert model.ensemble_[0].query.conditions == (above,)
        assert model.predict(X)[2] == model.predict(X)[3]

    def test_constant_conditions_are_harmless(self):
        X, y = patients()
        constant = [Condition("age", ">", -1), Condition("sex", "is missing")]
        expected = RuleBoostingRegressor(10, conditions=CUTOFFS).fit(X, y)
        model = RuleBoostingRegressor(10, conditions=constant + CUTOFFS).fit(X, y)
        assert model.ensemble_ == expected.ensemble_
        model = RuleBoostingRegressor(10, conditions=constant, slopes=False).fit(X, y)
        assert model.ensemble_.n_conditions == 0

    def test_contract(self):
        X, y = patients()
        model = clone(RuleBoostingRegressor(2, conditions=CUTOFFS)).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert again.conditions == CUTOFFS
        assert_array_equal(again.predict(X), model.predict(X))
        search = GridSearchCV(model, {"conditions": [CUTOFFS, CUTOFFS[:1], ages_above, None]})
        assert search.fit(X, y).best_estimator_.predict(X).shape == y.shape

    def test_warm_start(self):
        X, y = patients()
        model = RuleBoostingRegressor(1, conditions=CUTOFFS, warm_start=True).fit(X, y)
        model.set_params(n_terms=4).fit(X, y)
        expected = RuleBoostingRegressor(4, conditions=CUTOFFS).fit(X, y)
        assert model.ensemble_ == expected.ensemble_

    @pytest.mark.parametrize(
        ("conditions", "error", "match"),
        [
            ("age > 65", ValueError, "'conditions' parameter of .* must be a list or tuple"),
            ([], ValueError, "Got none at all"),
            (["age > 65"], TypeError, "Got 'age > 65' among them"),
            (lambda X: None, TypeError, "Got None instead"),
            ([Condition("Age", ">", 65)], ValueError, "no column 'Age'. Did you mean 'age'"),
            ([Condition("age", "==", "old")], TypeError, "needs a column of strings"),
        ],
    )
    def test_checks(self, conditions, error, match):
        with pytest.raises(error, match=match):
            RuleBoostingRegressor(conditions=conditions).fit(*patients())
