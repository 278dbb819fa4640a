"""The estimators: conditions that the user gives."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from laconic import Proposition, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.candidates import candidate_propositions

CUTOFFS = [Proposition("age", ">", 65), Proposition("age", ">", 40), Proposition("sex", "==", "f")]


def patients(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.integers(20, 90, n_rows), "sex": rng.choice(["f", "m"], n_rows)})
    y = (X["age"] > 65) * 3.0 + (X["sex"] == "f") + rng.normal(size=n_rows)
    return X, y


def ages_above(X):
    return [Proposition("age", ">", age) for age in X["age"].quantile([0.25, 0.5, 0.75])]


class TestGivenPropositions:
    def test_rules_are_made_of_them(self):
        model = RuleBoostingRegressor(propositions=CUTOFFS).fit(*patients())
        used = {proposition for rule in model.ensemble_ for proposition in rule.query}
        assert used <= set(CUTOFFS)
        assert all(result.is_optimal for result in model.search_results_)

    @pytest.mark.parametrize("task", [RuleBoostingClassifier, RuleBoostingRegressor])
    def test_conditions_of_the_table_give_the_default_model(self, task):
        X, y = patients()
        y = y > 2 if task is RuleBoostingClassifier else y
        weights = np.random.default_rng(0).integers(0, 3, len(y))
        expected = task(max_thresholds=3).fit(X, y, weights)
        conditions = candidate_propositions(X, max_thresholds=3, sample_weight=weights).propositions
        model = task(propositions=conditions, max_thresholds=1).fit(X, y, weights)
        assert model.ensemble_ == expected.ensemble_

    def test_callable_sees_the_table_as_it_was_passed(self):
        X, y = patients()
        seen = []

        def conditions(table):
            seen.append(table)
            return tuple(CUTOFFS)

        RuleBoostingRegressor(propositions=conditions).fit(X, y)
        assert len(seen) == 1
        assert seen[0] is X

    def test_arrays_have_numbered_features(self):
        above = Proposition("x1", ">", np.nextafter(3.0, -np.inf))  # x1 >= 3
        X = [[0, 1], [0, 2], [0, 3], [0, 4]]
        model = RuleBoostingRegressor(2, propositions=[above]).fit(X, [0, 0, 5, 5])
        assert model.ensemble_[0].query.propositions == (above,)
        assert model.predict(X)[2] == model.predict(X)[3]

    def test_constant_conditions_are_harmless(self):
        X, y = patients()
        constant = [Proposition("age", ">", -1), Proposition("sex", "is missing")]
        expected = RuleBoostingRegressor(propositions=CUTOFFS).fit(X, y)
        model = RuleBoostingRegressor(propositions=constant + CUTOFFS).fit(X, y)
        assert model.ensemble_ == expected.ensemble_
        assert RuleBoostingRegressor(propositions=constant).fit(X, y).ensemble_.n_conditions == 0

    def test_contract(self):
        X, y = patients()
        model = clone(RuleBoostingRegressor(2, propositions=CUTOFFS)).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert again.propositions == CUTOFFS
        assert_array_equal(again.predict(X), model.predict(X))
        search = GridSearchCV(model, {"propositions": [CUTOFFS, CUTOFFS[:1], ages_above, None]})
        assert search.fit(X, y).best_estimator_.predict(X).shape == y.shape

    def test_warm_start(self):
        X, y = patients()
        model = RuleBoostingRegressor(1, propositions=CUTOFFS, warm_start=True).fit(X, y)
        model.set_params(n_rules=4).fit(X, y)
        expected = RuleBoostingRegressor(4, propositions=CUTOFFS).fit(X, y)
        assert model.ensemble_ == expected.ensemble_

    @pytest.mark.parametrize(
        ("propositions", "error", "match"),
        [
            ("age > 65", ValueError, "'propositions' parameter of .* must be a list or tuple"),
            ([], ValueError, "Got none at all"),
            (["age > 65"], TypeError, "Got 'age > 65' among them"),
            (lambda X: None, TypeError, "Got None instead"),
            ([Proposition("Age", ">", 65)], ValueError, "no column 'Age'. Did you mean 'age'"),
            ([Proposition("age", "==", "old")], TypeError, "needs a column of strings"),
        ],
    )
    def test_checks(self, propositions, error, match):
        with pytest.raises(error, match=match):
            RuleBoostingRegressor(propositions=propositions).fit(*patients())
