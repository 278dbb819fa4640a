"""Parts of dates under constraints: they belong to the column of the date."""

import itertools
from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest
from problems import n_drawn

from laconic import Condition, Query, RuleBoostingRegressor, load_model, save_model
from laconic.candidates.candidates import candidate_conditions
from laconic.candidates.constraints import read_constraints
from laconic.search import SearchProblem, search

NAMES = ("booked", "x", "plan")
PARTS = ["year", "month", "weekday", "hour"]
N_PROBLEMS = n_drawn(100)


def small_problem(seed):
    """Few rows with dates, of which rules may take parts, a number and a text."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(6, 16))
    hours = rng.integers(0, 3 * 365 * 24, n_rows)
    dates = [datetime(2022, 1, 1) + timedelta(hours=int(hour)) for hour in hours]
    if rng.random() < 0.3:
        dates[0] = None
    table = {
        "booked": dates,
        "x": rng.integers(0, 3, n_rows),
        "plan": rng.choice(["a", "b"], n_rows),
    }
    candidates = candidate_conditions(pl.DataFrame(table), max_thresholds=1, date_parts=PARTS)
    problem = SearchProblem(
        candidates.extents, rng.normal(size=n_rows), rng.random(n_rows) + 0.1, 0.5
    )
    return candidates.conditions, problem


def columns(conditions):
    return {condition.feature.split(" of ")[-1] for condition in conditions}


def rises_with_dates(conditions, sign):
    """Whether a rule of a positive weight rises, and one of a negative weight."""
    for condition in conditions:
        if "booked" not in condition.feature or condition.relation.startswith("is "):
            continue
        if condition.feature not in ("booked", "year of booked"):
            return False
        if (1 if condition.relation == ">" else -1) != sign:
            return False
    return True


CASES = {
    "excluded": ({"feature_costs": {"booked": np.inf}}, lambda c, s: "booked" not in columns(c)),
    "other excluded": ({"feature_costs": {"plan": np.inf}}, lambda c, s: "plan" not in columns(c)),
    "lone": (
        {"interaction_cst": [{"booked"}]},
        lambda c, s: "booked" not in columns(c) or columns(c) == {"booked"},
    ),
    "separated": (
        {"interaction_cst": [{"booked", "plan"}, {"x", "plan"}]},
        lambda c, s: not {"booked", "x"} <= columns(c),
    ),
    "no interactions": (
        {"interaction_cst": "no_interactions"},
        lambda c, s: len(columns(c)) <= 1,
    ),
    "interactions": (
        {"interaction_cst": [["booked", "plan"]]},
        lambda c, s: columns(c) <= {"booked", "plan"} or columns(c) <= {"x"},
    ),
    "monotone": ({"monotonic_cst": {"booked": 1}}, rises_with_dates),
    "falling": (
        {"monotonic_cst": {"booked": -1}},
        lambda c, s: rises_with_dates(c, -s),
    ),
    "costs": ({"feature_costs": {"booked": 0.02, "x": 0.005}}, lambda c, s: True),
    "signs": ({"weight_signs": "positive"}, lambda c, s: s >= 0),
}


def cost(conditions, costs):
    return sum(costs.get(name, 0.0) for name in sorted(columns(conditions)))


@pytest.mark.parametrize("name", CASES)
def test_parts_of_dates_agree_with_brute_force(name):
    parameters, is_allowed = CASES[name]
    n_about_parts = 0
    for seed in range(N_PROBLEMS):
        known, problem = small_problem(seed)
        constraints = read_constraints(NAMES, **parameters)
        best = (0.0, 0, ())
        for size in range(3):
            for query in itertools.combinations(range(len(known)), size):
                conditions = [known[p] for p in query]
                if is_allowed(conditions, np.sign(problem.weight(query))):
                    value = problem.objective(query) - cost(conditions, constraints.costs)
                    best = min(best, (-value, size, query))
        result = search(problem, families=constraints.allowed(known), max_conditions=2)
        assert result.query == best[2], seed
        assert result.objective_value == pytest.approx(-best[0], rel=1e-12, abs=1e-15)
        assert result.is_optimal
        found = Query(tuple(known[p] for p in result.query))
        constraints.check(found)
        n_about_parts += any(" of " in condition.feature for condition in found)
    assert n_about_parts > 0 or name == "excluded"


def bookings(n_rows=300):
    rng = np.random.default_rng(0)
    dates = [
        datetime(2022, 1, 1) + timedelta(hours=int(h)) for h in rng.integers(0, 26_000, n_rows)
    ]
    x = rng.normal(size=n_rows).round(1)
    y = [3.0 * (d.weekday() >= 5) + (d.year - 2022) - 4.0 * (d.year == 2023) for d in dates]
    return pl.DataFrame({"booked": dates, "x": x}), np.array(y) + 0.5 * x + rng.normal(size=n_rows)


def test_a_constraint_on_another_column_leaves_parts_of_dates_in():
    """All conditions on parts of dates were left out, and rules called optimal nevertheless."""
    X, y = bookings()
    options = {"date_parts": ["weekday"], "max_conditions": 1}
    free = RuleBoostingRegressor(3, **options).fit(X, y)
    for constraint in ({"interaction_cst": [{"x"}]}, {"feature_costs": {"x": 1e-9}}):
        model = RuleBoostingRegressor(3, **options, **constraint)
        assert model.fit(X, y).ensemble_ == free.ensemble_
        assert "weekday of booked" in str(model)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("strategy", ["joint", "stagewise"])
def test_models_are_monotone_in_the_date_itself(direction, strategy, tmp_path):
    X, y = bookings()
    model = RuleBoostingRegressor(
        8,
        date_parts=[*PARTS, "day"],
        monotonic_cst={"booked": direction},
        strategy=strategy,
        l2_regularization=0.1,
    ).fit(X, y)
    assert "year of booked" in str(model) or "booked" in str(model)
    grid = [datetime(2021, 11, 1) + timedelta(hours=37 * step) for step in range(900)]
    for x in (-1.0, 0.0, 1.0, None):
        rows = pl.DataFrame({"booked": grid, "x": pl.Series([x] * len(grid), dtype=pl.Float64)})
        assert (direction * np.diff(model.predict(rows)) >= -1e-12).all()
    save_model(model, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").settings_ == model.settings_


def test_rules_about_other_parts_of_a_monotone_date_are_refused_in_words():
    constraints = read_constraints(NAMES, monotonic_cst={"booked": 1})
    query = Query((Condition("weekday of booked", "==", "Sat"), Condition("x", ">", 1)))
    with pytest.raises(ValueError, match="'weekday of booked == Sat' neither rises nor falls"):
        constraints.check(query)
    assert constraints.signs_of(query) == frozenset()
    constraints.check(Query((Condition("year of booked", ">", 2022),)))
    constraints.check(Query((Condition("weekday of booked", "is present"),)))
    excluded = read_constraints(NAMES, feature_costs={"booked": np.inf})
    with pytest.raises(ValueError, match="A term may not use 'booked', as the constraints say"):
        excluded.check(Query(query.conditions[:1]))


def test_a_column_may_have_the_name_of_a_part():
    names = ["booked", "weekday of booked"]
    constraints = read_constraints(names, feature_costs={"booked": np.inf})
    condition = Condition("weekday of booked", "==", "Sat")
    constraints.check(Query((condition,)))
    assert [family.conditions for family in constraints.allowed([condition]).families] == [(0,)]
