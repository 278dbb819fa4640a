"""What the tests of reports share: tables with every kind of column, and models for them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.tables.tables import as_table


def column(cells, **settings):
    """Column of a table, as pandas makes it."""
    return as_table(pd.DataFrame({"x": pd.Series(cells, **settings)})).column("x")


def passengers(n_rows=400, seed=0):
    """Table of text, categories, booleans and numbers with missing values, and two classes."""
    generator = np.random.default_rng(seed)
    sex = generator.choice(["female", "male"], n_rows, p=[0.36, 0.64])
    ticket = generator.choice(["first", "second", "third"], n_rows, p=[0.25, 0.2, 0.55])
    age = np.round(generator.gamma(6, 5, n_rows))
    age[generator.random(n_rows) < 0.2] = np.nan
    factor = np.select([ticket == "first", ticket == "second"], [5, 2], 1)
    relatives = generator.poisson(0.7, n_rows)
    X = pd.DataFrame(
        {
            "sex": sex,
            "class": pd.Categorical(ticket),
            "age": age,
            "fare": np.round(np.exp(generator.normal(2.2, 0.6, n_rows)) * factor, 2),
            "relatives": relatives,
            "port": generator.choice(["Cherbourg", "Queenstown", "Southampton"], n_rows),
            "cabin known": generator.random(n_rows) < np.where(ticket == "first", 0.8, 0.1),
        }
    )
    X.loc[generator.random(n_rows) < 0.05, "port"] = None
    is_child = np.nan_to_num(age, nan=30) < 12
    log_odds = (
        2.4 * (sex == "female")
        + 1.1 * (ticket == "first")
        - 0.9 * (ticket == "third")
        + 1.3 * is_child
        - 0.4 * relatives
        - 1.1
    )
    survives = generator.random(n_rows) < 1 / (1 + np.exp(-log_odds))
    return X, pd.Series(np.where(survives, "survived", "died"), name="fate")


# Rules of several conditions, whatever is preferred by default.
RULES_ONLY = {"slopes": False, "brevity": 0}


def classifier(n_rows=400, **parameters):
    """Classifier of passengers, with its table and target."""
    X, y = passengers(n_rows)
    settings = {"n_terms": 8, "l2_regularization": 5, "max_conditions": 5} | RULES_ONLY | parameters
    return RuleBoostingClassifier(**settings).fit(X, y), X, y


def regressor(n_rows=400, **parameters):
    """Regressor of fares, with its table and target."""
    X, _ = passengers(n_rows)
    y = X.pop("fare").rename("fare")
    settings = {"n_terms": 6, "fit_intercept": True} | RULES_ONLY | parameters
    return RuleBoostingRegressor(**settings).fit(X, y), X, y


HOSTILE_NAMES = (
    "</script><script>window.attacked = true</script>",
    '"><img src=x onerror="window.attacked = true">',
    "it's {{ 7 * 7 }} `${window.attacked = true}`",
    "line\u2028break\u2029\n\x00",
    "__proto__",
    "<!--<script>",
)


def hostile(n_rows=120):
    """Classifier whose columns, categories and classes try to break out of a page."""
    generator = np.random.default_rng(0)
    columns = {
        name: generator.choice([f"{name} a", f"{name} b", f"{name} c"], n_rows)
        for name in HOSTILE_NAMES[:-1]
    }
    columns[HOSTILE_NAMES[-1]] = generator.normal(size=n_rows)
    X = pd.DataFrame(columns)
    first, second, *_, last = HOSTILE_NAMES
    is_positive = (X[first] == f"{first} a") ^ (X[second] == f"{second} b") ^ (X[last] > 0.3)
    y = pd.Series(np.where(is_positive, HOSTILE_NAMES[0], HOSTILE_NAMES[1]), name=HOSTILE_NAMES[1])
    model = RuleBoostingClassifier(n_terms=25, l2_regularization=0.1, max_conditions=3)
    return model.fit(X, y), X, y
