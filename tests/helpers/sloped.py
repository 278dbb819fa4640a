"""Fitted models whose terms are replaced: rules and slopes together."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pandas as pd

from laconic import Condition, Query, Rule, RuleBoostingClassifier, RuleBoostingRegressor
from laconic.models.shapley import feature_importances
from laconic.search import SearchResult, SearchStatus
from laconic.terms.rules import rule_coverages
from laconic.terms.slopes import Slope


def with_terms(model, X, y, terms, intercepts=None):
    """Give a fitted model other terms, and all that a fit says about these."""
    model.ensemble_ = model.ensemble_.with_terms(terms, intercepts)
    n_terms = len(model.ensemble_)
    model.search_results_ = [SearchResult((0,), 0.5, 0.5, SearchStatus.OPTIMAL)] * n_terms
    model.stages_ = model.ensemble_.stages
    table = model._fitted_table(X)
    numbers = model.task_.numbers(y, table.n_rows)
    model.rule_coverages_ = [
        rule_coverages([covered], model.task_.covered_target(numbers, term.output))[0]
        for covered, term in zip(model.ensemble_.covered(table).T, model.ensemble_, strict=True)
    ]
    model.feature_importances_ = feature_importances(model.ensemble_, table)
    return model


def patients(n_rows=300, seed=0):
    """Return a table with numbers, dates, classes and missing cells, and log odds."""
    generator = np.random.default_rng(seed)
    age = generator.integers(18, 91, n_rows).astype(float)
    dose = generator.gamma(3.0, 40.0, n_rows).round(1)
    admitted = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        generator.integers(0, 1500, n_rows), unit="D"
    )
    plan = generator.choice(["basic", "plus"], n_rows)
    X = pd.DataFrame({"age": age, "dose": dose, "admitted": admitted, "plan": plan})
    X.loc[::17, "age"] = np.nan
    raw = TERMS[0].weight * np.clip(X["age"].fillna(45) - 25, 0, 43) - 1.0 + (plan == "plus")
    return X, raw.to_numpy() + generator.logistic(size=n_rows)


TERMS = (
    Slope("age", 25, 68, 0.031, missing=45),
    Rule(Query((Condition("plan", "==", "plus"), Condition("age", ">", 40))), 0.8),
    Slope("dose", 40, 200, -0.006, n_conditions=1),
    Slope("admitted", dt.date(2020, 6, 1), dt.date(2023, 6, 1), 0.001),
)


def sloped_classifier(n_rows=300, terms=TERMS):
    """Return a classifier with rules and slopes, and its table and classes."""
    X, raw = patients(n_rows)
    y = np.where(raw > 0, "yes", "no")
    model = RuleBoostingClassifier(n_terms=1).fit(X, y)
    return with_terms(model, X, y, terms, [-1.0]), X, y


def sloped_regressor(n_rows=300, terms=TERMS, **parameters):
    """Return a regressor with rules and slopes, and its table and target."""
    X, raw = patients(n_rows)
    y = np.exp(raw / 4).round(3)
    model = RuleBoostingRegressor(n_terms=1, **parameters).fit(X, y)
    return with_terms(model, X, y, terms, [1.5]), X, y


def sloped_classes(n_rows=300):
    """Return a classifier of three classes with rules and slopes, its table and classes."""
    X, raw = patients(n_rows)
    y = np.array(["high", "low", "mid"])[np.digitize(raw, [-0.5, 1.0]) - 2]
    model = RuleBoostingClassifier(n_terms=1).fit(X, y)
    terms = [replace(term, output=place % 3) for place, term in enumerate(TERMS)]
    return with_terms(model, X, y, terms, [0.25, -0.5, 0.0]), X, y
