"""Constraints: against all queries that they allow, one by one, and in fitted models."""

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from brute_force import search_brute_force
from problems import n_drawn

from laconic import (
    Condition,
    Query,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
)
from laconic.candidates.candidates import candidate_conditions
from laconic.candidates.constraints import MAX_GROUPS, feature_groups, read_constraints
from laconic.estimators.fitting import FitRun
from laconic.search import SearchProblem, SearchStatus, search

N_PROBLEMS = n_drawn(1_000)
NAMES = ("x0", "x1", "x2", "x3")


@cache
def small_problem(seed):
    """Few rows of four features, numbers and texts, some of them missing."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(4, 20))
    columns = [
        rng.integers(0, 4, n_rows).astype(object),
        rng.normal(size=n_rows).round(1).astype(object),
        rng.choice(["a", "b"], n_rows).astype(object),
        (rng.random(n_rows) < 0.5).astype(object),
    ]
    if rng.random() < 0.5:
        columns[0][rng.random(n_rows) < 0.2] = None
    candidates = candidate_conditions(np.stack(columns, axis=1), max_thresholds=2)
    problem = SearchProblem(
        candidates.extents,
        rng.normal(size=n_rows),
        rng.random(n_rows) + 0.1,
        float(rng.choice([0.1, 1.0, 5.0])),
    )
    return candidates.conditions, problem


def features(conditions):
    return {condition.feature for condition in conditions}


def is_apart(conditions, names):
    return len(features(conditions) & names) <= 1


def sign_wanted(condition):
    """Of the weight, where x0 and x3 rise and x1 falls; 0 for either."""
    direction = {"x0": 1, "x1": -1, "x3": 1}.get(condition.feature, 0)
    if condition.relation in ("<=", ">"):
        return direction if condition.relation == ">" else -direction
    return direction * (1 if condition.value else -1) if condition.relation == "==" else 0


def is_monotone(conditions, sign):
    return all(sign_wanted(condition) in (0, sign) for condition in conditions)


class Case(NamedTuple):
    """Parameters, and what they mean: given conditions and the sign of their weight."""

    parameters: dict
    is_allowed: Callable
    cost: Callable = lambda conditions: 0.0


GROUPS = [{"x0", "x1"}, {"x1", "x2"}, {"x3"}]
COSTS = {"x0": 0.02, "x1": 0.01, "x2": 0.03}
CASES = {
    "interactions": Case(
        {"interaction_cst": [["x0", 1], ["x1", "x2"]]},
        lambda conditions, sign: any(features(conditions) <= group for group in GROUPS),
    ),
    "pairs": Case(
        {"interaction_cst": "pairwise"},
        lambda conditions, sign: len(features(conditions)) <= 2,
    ),
    "no interactions": Case(
        {"interaction_cst": "no_interactions"},
        lambda conditions, sign: len(features(conditions)) <= 1,
    ),
    "excluded features": Case(
        {"feature_costs": {"x1": np.inf, 3: math.inf}},
        lambda conditions, sign: features(conditions).isdisjoint({"x1", "x3"}),
    ),
    "lone features": Case(
        {"interaction_cst": [{"x1"}]},
        lambda conditions, sign: "x1" not in features(conditions) or features(conditions) == {"x1"},
    ),
    "separated features": Case(
        {"interaction_cst": [{"x2", name} for name in ("x0", "x1", "x3")]},
        lambda conditions, sign: is_apart(conditions, {"x0", "x1", "x3"}),
    ),
    "monotone features": Case({"monotonic_cst": {"x0": 1, "x1": -1, "x3": 1}}, is_monotone),
    "positive weights": Case({"weight_signs": "positive"}, lambda conditions, sign: sign >= 0),
    "negative weights": Case({"weight_signs": "negative"}, lambda conditions, sign: sign <= 0),
    "costs of features": Case(
        {"feature_costs": COSTS},
        lambda conditions, sign: True,
        lambda conditions: sum(COSTS.get(name, 0.0) for name in sorted(features(conditions))),
    ),
    "all together": Case(
        {
            "monotonic_cst": [1, -1, 0, 1],
            "interaction_cst": [{"x0", "x1", "x3"}, ("x1", "x2", "x3")],
            "weight_signs": "negative",
            "feature_costs": {"x1": 0.01},
        },
        lambda conditions, sign: (
            is_monotone(conditions, sign) and sign <= 0 and is_apart(conditions, {"x0", "x2"})
        ),
        lambda conditions: 0.01 * ("x1" in features(conditions)),
    ),
}


@cache  # one look at all conjunctions serves all cases
def best_of_all(seed, max_conditions=3):
    """Find for each case the best conjunction that is allowed, and for none the best of all."""
    known, problem = small_problem(seed)
    ranking = sorted(
        (-problem.objective(query), size, query)
        for size in range(max_conditions + 1)
        for query in itertools.combinations(range(len(known)), size)
    )
    found = {None: ranking[0][2]}
    for name, case in CASES.items():
        best = (0.0, 0, ())
        for loss, size, query in ranking:
            if loss > best[0]:  # costs make it worse, if anything
                break
            conditions = [known[p] for p in query]
            if case.is_allowed(conditions, np.sign(problem.weight(query))):
                best = min(best, (case.cost(conditions) + loss, size, query))
        found[name] = best[2], -best[0]
    return found


@pytest.mark.parametrize("name", CASES)
def test_constraints_agree_with_brute_force(name):
    n_differing = 0
    for seed in range(N_PROBLEMS):
        known, problem = small_problem(seed)
        constraints = read_constraints(NAMES, **CASES[name].parameters)
        query, value = best_of_all(seed)[name]
        result = search(problem, families=constraints.allowed(known), max_conditions=3)
        assert result.query == query, (seed, result)
        assert result.objective_value == pytest.approx(value, rel=1e-12, abs=1e-15)
        assert result.status is SearchStatus.OPTIMAL
        constraints.check(Query(tuple(known[p] for p in query)))
        n_differing += query != best_of_all(seed)[None]
    assert n_differing > 0.1 * N_PROBLEMS  # or it says little


# Groups


def all_groups(names, is_allowed):
    """All largest sets of names that are allowed."""
    sets = [
        set(subset)
        for size in range(1, len(names) + 1)
        for subset in itertools.combinations(names, size)
        if is_allowed(set(subset))
    ]
    return [s for s in sets if not any(s < other for other in sets)]


def some_of(rng, names):
    return set(rng.choice(names, rng.integers(1, len(names) + 1)).tolist())


def test_groups_are_the_largest_sets_that_are_allowed():
    rng = np.random.default_rng(0)
    for _ in range(300):
        names = [f"f{i}" for i in range(rng.integers(1, 7))]
        interactions = None
        if rng.random() < 0.6:
            interactions = [some_of(rng, names) for _ in range(rng.integers(1, 4))]
        sets = [set(names)] if interactions is None else interactions
        rest = set(names).difference(*sets)

        def is_allowed(subset, sets=sets, rest=rest):
            return any(subset <= group for group in (*sets, rest))

        expected = all_groups(names, is_allowed)
        found = feature_groups(names, interactions)
        assert {frozenset(s) for s in expected} == set(found)
        assert len(found) == len(expected)


def test_too_many_groups_are_refused():
    names = [f"f{i}" for i in range(40)]
    triples = list(itertools.combinations(names, 3))
    with pytest.raises(ValueError, match=f"no more than {MAX_GROUPS:,} sets of features"):
        feature_groups(names, triples)


# What users write


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"monotonic_cst": {"aeg": 1}}, "'aeg', which is not a column. Did you mean 'age'"),
        ({"monotonic_cst": {"zzz": 1}}, "There are 'age', 'sex' and 'plan'"),
        (
            {"monotonic_cst": {"age": 2}},
            "The direction of 'age' in 'monotonic_cst' must be -1, 0 or 1. Got 2",
        ),
        ({"monotonic_cst": [1, 0]}, "an entry for each of the 3 features. Got 2"),
        ({"feature_costs": {3: 1}}, "must be between 0 and 2. Got 3"),
        ({"feature_costs": dict.fromkeys(range(3), np.inf)}, "must leave at least one feature"),
        ({"interaction_cst": ["age"]}, "must be lists of features. Got 'age'"),
        ({"feature_costs": {"age": -1}}, r"in the range \[0, inf\]. Got -1"),
    ],
)
def test_what_makes_no_sense_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        read_constraints(["age", "sex", "plan"], **parameters)


def test_nothing_is_no_constraint():
    assert read_constraints(["a", "b"]) is None
    assert read_constraints(["a", "b"], monotonic_cst=[0, 0], interaction_cst=[]) is None


def test_settings_are_plain_values_that_read_the_same():
    given = {
        "monotonic_cst": np.array([1, 0, -1]),
        "interaction_cst": [(0, 1), {"c"}],
        "feature_costs": {2: 0.5, 1: np.inf},
        "weight_signs": "positive",
    }
    constraints = read_constraints(["a", "b", "c"], **given)
    assert constraints.settings == {
        "monotonic_cst": {"a": 1, "c": -1},
        "interaction_cst": [["a", "b"], ["c"]],
        "feature_costs": {"c": 0.5, "b": None},
        "weight_signs": "positive",
    }
    assert read_constraints(["a", "b", "c"], **constraints.parameters) == constraints


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("monotonic_cst", "age", "a dict of features to -1, 0 or 1"),
        ("interaction_cst", "triples", "'pairwise', 'no_interactions', a list of sets"),
        ("feature_costs", [1, 2], "a dict of features to numbers"),
        ("weight_signs", None, "a str among {'both', 'positive', 'negative'}"),
    ],
)
def test_estimators_say_what_their_parameters_must_be(parameter, value, message):
    model = RuleBoostingRegressor(**{parameter: value})
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter .* must be {message}"):
        model.fit([[1], [2]], [1, 2])


def test_categories_have_no_order():
    X = [["a"], ["b"], ["c"], ["a"]]
    with pytest.raises(ValueError, match=r"name features that have an order\. Got 'x0'"):
        RuleBoostingRegressor(monotonic_cst={0: 1}).fit(X, [1, 2, 3, 4])


def test_constraints_are_refused_where_all_rules_are_looked_at():
    model = RuleBoostingRegressor(strategy="global", monotonic_cst=np.array([1]))
    with pytest.raises(ValueError, match="cannot be combined with strategy='global'"):
        model.fit([[1], [2]], [1, 2])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ([("a", ">", 1), ("a", "<=", 3)], "fits no weight that the constraints allow"),
        ([("a", ">", 1), ("b", ">", 1)], "fits no weight"),
        ([("b", ">", 1), ("c", ">", 1)], "may not use 'b' and 'c' together"),
        ([("d", ">", 1)], "may not use 'd', as"),
        ([("a", "==", 2)], "name features that have an order"),
    ],
)
def test_rules_that_are_not_allowed_are_refused(rule, message):
    constraints = read_constraints(
        list("abcd"),
        monotonic_cst={"a": 1, "b": -1},
        interaction_cst=[["a", "b"], ["a", "c"]],
        feature_costs={"d": np.inf},
    )
    with pytest.raises(ValueError, match=message):
        constraints.check(Query(tuple(Condition(*condition) for condition in rule)))


# Fitted models


def random_model(seed):
    """A model of random data whose predictions rise with x0 and fall with x1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4)).round(1)
    X[rng.random(X.shape) < 0.05] = np.nan
    score = 2 * np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0) - X[:, 3]
    score = np.nan_to_num(score) + rng.normal(size=len(X))
    kinds = itertools.product(
        (RuleBoostingRegressor, RuleBoostingClassifier),
        (
            {"strategy": "joint"},
            {"strategy": "polished"},
            {"strategy": "stagewise"},
        ),
    )
    estimator, parameters = list(kinds)[seed % 6]
    is_classifier = estimator is RuleBoostingClassifier
    return estimator(
        n_terms=8,
        slopes=False,
        monotonic_cst={0: 1, 1: -1},
        l2_regularization=float(rng.choice([0.01, 1.0, 10.0])),
        max_thresholds=int(rng.integers(1, 6)),
        **parameters,
    ).fit(X, score > 0 if is_classifier else score)


@pytest.mark.parametrize("chunk", range(4))
def test_fitted_monotone_models_are_monotone_on_a_grid(chunk):
    grid = np.linspace(-3, 3, 25)
    for seed in range(chunk * 12, chunk * 12 + 12):
        model = random_model(seed)
        rng = np.random.default_rng(seed)
        for stage in model.stages_:
            others = rng.normal(size=(20, 4))
            others[rng.random(others.shape) < 0.1] = np.nan
            for feature, direction in ((0, 1), (1, -1)):
                rows = np.repeat(others, len(grid), axis=0)
                rows[:, feature] = np.tile(grid, len(others))
                scores = stage.raw_predictions(rows).reshape(len(others), -1)
                assert (direction * np.diff(scores, axis=1) >= -1e-12).all()
        for rule in model.ensemble_:
            assert rule.weight != 0.0
            assert model.settings_.constraints.sign_of(rule.query) in (0, np.sign(rule.weight))


def test_a_monotone_model_chosen_by_cross_validation_is_monotone():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    y = np.abs(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=150)
    model = RuleBoostingRegressorCV(8, slopes=False, monotonic_cst=[1, 0, 0]).fit(X, y)
    rows = np.repeat(X, 20, axis=0)
    rows[:, 0] = np.tile(np.linspace(-3, 3, 20), len(X))
    assert (np.diff(model.predict(rows).reshape(len(X), -1), axis=1) >= -1e-12).all()


def test_weights_have_the_signs_that_are_asked_for():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=200)
    for signs, sign in (("positive", 1), ("negative", -1)):
        for strategy in ("joint", "stagewise"):
            model = RuleBoostingRegressor(
                8, slopes=False, weight_signs=signs, strategy=strategy
            ).fit(X, y)
            assert len(model.ensemble_) > 3
            assert all(rule.weight * sign > 0 for rule in model.ensemble_)
            assert len(model.search_results_) == len(model.ensemble_) == len(model.stages_) - 1


def test_rules_that_lose_their_weight_go_out(tmp_path, monkeypatch):
    dropped = []
    monkeypatch.setattr(
        FitRun,
        "advance",
        lambda fit, advance=FitRun.advance: watched(fit, advance, dropped),
    )
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 5))
        y = X[:, 0] ** 2 + X[:, 1] * X[:, 2] + rng.normal(size=40)
        model = RuleBoostingRegressor(
            12, weight_signs="positive", l2_regularization=0.01, max_thresholds=2, slopes=False
        ).fit(X, y)
        assert all(rule.weight > 0 for rule in model.ensemble_)
        assert [len(stage) for stage in model.stages_] == [*range(len(model.ensemble_) + 1)]
        queries = [rule.query for rule in model.ensemble_]
        for stage in model.stages_:
            assert [rule.query for rule in stage] == queries[: len(stage)]
        save_model(model, tmp_path / "model.json")
        assert load_model(tmp_path / "model.json").settings_ == model.settings_
    assert len(dropped) > 3


def watched(fit, advance, dropped):
    """Find a rule, and note if that puts another one out."""
    n_before = len(fit.scaled.ensemble)
    has_rule = advance(fit)
    if has_rule and len(fit.scaled.ensemble) <= n_before:
        dropped.append(fit)
    return has_rule


def test_a_dear_feature_is_used_where_it_gains_more_than_it_costs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 2)).astype(float)
    y = 1.0 * X[:, 0] + 0.2 * X[:, 1] + 0.01 * rng.normal(size=400)
    by_gain = {"l2_regularization": 0.0, "slopes": False, "brevity": 0.0}
    gain = RuleBoostingRegressor(2, **by_gain).fit(X, y).search_results_[1]
    cheap, dear = 0.9 * gain.objective_value, 1.1 * gain.objective_value
    for cost, names in ((cheap, ["x0", "x1"]), (dear, ["x0"])):
        for strategy in ("joint", "polished"):
            model = RuleBoostingRegressor(
                2, feature_costs={1: cost}, strategy=strategy, **by_gain
            ).fit(X, y)
            assert model.ensemble_.used_features == names
            assert all(result.is_optimal for result in model.search_results_)


def test_constraints_go_with_every_search():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3))
    y = X.sum(axis=1)
    for method in ("optimal", "greedy", "beam", "reference", search_brute_force):
        model = RuleBoostingRegressor(
            3,
            slopes=False,
            search=method,
            max_thresholds=2,
            max_conditions=2,
            monotonic_cst=[1, 1, 1],
            interaction_cst="no_interactions",
        ).fit(X, y)
        for rule in model.ensemble_:
            assert len(features(rule.query)) == 1
            assert all((p.relation == ">") == (rule.weight > 0) for p in rule.query)


# What users of other libraries have asked for


def test_request_monotone_models_enforced_in_training():
    """interpretml/interpret #184, KTBoost #7: enforced in training, not repaired after."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 100, size=(300, 2))
    y = (X[:, 0] + 30 * np.sin(X[:, 0] / 8) + 10 * rng.normal(size=300) > 50).astype(int)
    free = RuleBoostingClassifier(8, slopes=False).fit(X, y)
    monotone = RuleBoostingClassifier(8, slopes=False, monotonic_cst={"x0": 1}).fit(X, y)
    grid = np.stack([np.linspace(0, 100, 200), np.full(200, 50.0)], axis=1)
    assert (np.diff(free.predict_proba(grid)[:, 1]) < 0).any()
    assert (np.diff(monotone.predict_proba(grid)[:, 1]) >= 0).all()
    assert all(result.is_optimal for result in monotone.search_results_)


def test_request_regulated_features_out_of_interactions():
    """interpretml/interpret #225: keep some features out of interactions, not all or none."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(300, 3)).astype(float)
    y = X[:, 0] * X[:, 1] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=300)
    model = RuleBoostingRegressor(8, slopes=False, interaction_cst=[{"x0"}]).fit(X, y)
    used = [features(rule.query) for rule in model.ensemble_]
    assert {"x1", "x2"} in used
    assert any("x0" in names for names in used)
    assert all(names == {"x0"} for names in used if "x0" in names)
    assert math.isclose(model.search_results_[0].approximation_ratio, 1.0)
