"""Constraints on slopes: directions, signs, costs and features."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from laconic import (
    Condition,
    Query,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    Slope,
)
from laconic.candidates.constraints import read_constraints

NAMES = ["age", "rooms", "booked", "plan"]
AGE = Slope("age", 25, 68, 0.0)
ROOMS = Slope("rooms", 1, 5, 0.0)
BOOKED = Slope("booked", date(2020, 1, 1), date(2024, 1, 1), 0.0)
YEAR, HOUR = Slope("year of booked", 2020, 2024, 0.0), Slope("hour of booked", 0, 12, 0.0)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("signs", ["both", "positive", "negative"])
def test_signs(direction, signs):
    constraints = read_constraints(NAMES, monotonic_cst={"age": direction}, weight_signs=signs)
    given = {"both": {1, -1}, "positive": {1}, "negative": {-1}}[signs]
    assert constraints.signs_of(ROOMS) == given
    assert constraints.sign_of(ROOMS) == {"both": 0, "positive": 1, "negative": -1}[signs]
    assert constraints.signs_of(AGE) == given & {direction}
    # A rule for large values is like a slope.
    assert constraints.signs_of(AGE) == constraints.signs_of(Query((Condition("age", ">", 3),)))
    if direction in given:
        constraints.check(AGE)
        assert constraints.sign_of(AGE) == direction
        return
    needed = "positive" if direction == 1 else "negative"
    with pytest.raises(
        ValueError,
        match=f"'age from 25 to 68' fits no weight that the constraints allow: 'age from 25 to 68' "
        f"needs a {needed} weight and weight_signs='{signs}' is set. Leave it out, or loosen",
    ):
        constraints.check(AGE)


def test_classes():
    constraints = read_constraints(
        NAMES, ["ill", "so-so", "well"], monotonic_cst={"age": {"so-so": -1}, "rooms": 1}
    )
    assert [constraints.sign_of(AGE, output) for output in range(3)] == [1, -1, 1]
    assert [constraints.sign_of(ROOMS, output) for output in range(3)] == [-1, -1, 1]
    assert constraints.sign_of(BOOKED, 0) == 0
    two = read_constraints(NAMES, ["no", "yes"], monotonic_cst={"age": {"no": 1}})
    assert two.sign_of(AGE) == -1


def test_parts_of_dates_follow_their_date():
    constraints = read_constraints(NAMES, monotonic_cst={"booked": -1}, feature_costs={"booked": 3})
    assert constraints.sign_of(BOOKED) == constraints.sign_of(YEAR) == -1
    assert constraints.cost(BOOKED) == constraints.cost(YEAR) == constraints.cost(HOUR) == 3.0
    assert constraints.signs_of(HOUR) == frozenset()
    with pytest.raises(ValueError, match="'hour of booked from 0 to 12' neither rises nor falls"):
        constraints.check(HOUR)


def test_costs_and_features():
    constraints = read_constraints(NAMES, feature_costs={"age": 0.25, "rooms": np.inf})
    assert (constraints.cost(AGE), constraints.cost(BOOKED)) == (0.25, 0.0)
    assert constraints.are_allowed(AGE)
    assert not constraints.are_allowed(ROOMS)
    with pytest.raises(ValueError, match=r"A term may not use 'rooms', as .* 'rooms from 1 to 5'"):
        constraints.check(ROOMS)
    for interactions in ("no_interactions", "pairwise", [["age", "plan"], ["rooms"]]):
        alone = read_constraints(NAMES, interaction_cst=interactions)
        for slope in (AGE, ROOMS, BOOKED, YEAR):
            assert alone.are_allowed(slope)
            alone.check(slope)


def problem(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(300, 3)).round(2), columns=["a", "b", "c"])
    X.loc[rng.random(300) < 0.1, "b"] = np.nan
    y = -2 * X["a"].clip(-1, 1) + X["b"].fillna(0) * (rng.random() - 0.5) + (X["c"] > 0.5)
    return X, y + rng.normal(scale=0.5, size=300)


def changes(predict, X, name):
    """Change a feature to rising values, with all others as they are."""
    grid = np.sort(X[name].dropna())[::10]
    return np.diff([predict(X.assign(**{name: value})) for value in grid], axis=0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.parametrize("direction", [1, -1])
def test_models_are_monotone(seed, name, direction):
    X, y = problem(seed)
    free = RuleBoostingRegressor(6, slopes=True).fit(X, y)
    assert free.ensemble_.slopes
    model = RuleBoostingRegressor(6, slopes=True, monotonic_cst={name: direction})
    model.fit(X, direction * y)
    assert (direction * changes(model.predict, X, name) >= -1e-9).all()


def test_classes_are_monotone():
    X, y = problem(5)
    labels = pd.cut(y, [-np.inf, -1, 1, np.inf], labels=["low", "mid", "high"]).astype(str)
    model = RuleBoostingClassifier(8, slopes=True, monotonic_cst={"a": {"low": 1}})
    model.fit(X, labels)
    assert model.ensemble_.slopes
    place = list(model.classes_).index("low")
    assert (changes(model.predict_proba, X, "a")[..., place] >= -1e-9).all()


@pytest.mark.parametrize(("signs", "sign"), [("positive", 1), ("negative", -1)])
def test_signs_of_models(signs, sign):
    X, y = problem(1)
    model = RuleBoostingRegressor(6, slopes=True, weight_signs=signs).fit(X, y)
    assert model.ensemble_.terms
    assert all(term.weight * sign >= 0 for term in model.ensemble_.terms)


def test_features_of_models():
    X, y = problem(1)
    model = RuleBoostingRegressor(6, slopes=True, feature_costs={"a": np.inf}).fit(X, y)
    assert "a" not in model.ensemble_.used_features
    assert model.ensemble_.terms
    model = RuleBoostingRegressor(6, slopes=True, feature_costs={"a": 1e9, "b": 1e9}).fit(X, y)
    assert model.ensemble_.used_features == ["c"]
