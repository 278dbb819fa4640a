"""What the tests of the estimators share: problems to learn from, and both estimators."""

import narwhals as nw
import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.utils import Bunch

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.terms.slopes import Slope

ESTIMATORS = {"classifier": RuleBoostingClassifier, "regressor": RuleBoostingRegressor}

# The objective of the paper: rules only, by their gain, however long they are.
RULES_BY_GAIN = {"slopes": False, "brevity": 0.0}

# Boosting as in the paper, where rules keep their weights.
STAGEWISE = RULES_BY_GAIN | {
    "strategy": "stagewise",
    "fit_intercept": False,
    "l2_regularization": 1.0,
    "max_conditions": 5,
}

both = pytest.mark.parametrize("task", ESTIMATORS)


def forms(model):
    """The terms of a model without their weights: queries, and slopes of weight 0."""
    return [term.key if isinstance(term, Slope) else term.query for term in model.ensemble_]


def numeric_problem(task, n_rows=80, n_features=3, seed=0):
    """Numbers whose first column tells most of the target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    signal_and_noise = X[:, 0] + 0.5 * rng.normal(size=n_rows)
    return X, np.where(signal_and_noise > 0, 1, 0) if task == "classifier" else signal_and_noise


def mixed_columns(n_rows=120, seed=0):
    """Columns of all kinds, with and without missing values, and a score that depends on them."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n_rows)
    income = rng.normal(50, 10, n_rows).round(1)
    city = rng.choice(["Bonn", "Köln", "São Paulo"], n_rows)
    member = rng.random(n_rows) < 0.4
    score = (age > 40) + 2.0 * (city == "Bonn") - member + 0.3 * rng.normal(size=n_rows)
    columns = {
        "age": age.tolist(),
        "income": [None if rng.random() < 0.2 else value for value in income.tolist()],
        "city": [None if rng.random() < 0.1 else value for value in city.tolist()],
        "member": member.tolist(),
    }
    return columns, score


def diabetes_table(backend="pandas"):
    """The diabetes table of scikit-learn, as a data frame of some library."""
    bunch = load_diabetes()
    columns = dict(zip(bunch.feature_names, bunch.data.T, strict=True))
    return Bunch(data=nw.from_dict(columns, backend=backend).to_native(), target=bunch.target)
