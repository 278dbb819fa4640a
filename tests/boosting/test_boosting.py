from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import random_table
from rounds import make_rounds, run_boost

from laconic.boosting import State, boost
from laconic.candidates.candidates import candidate_conditions
from laconic.losses import LogisticLoss, SquaredLoss, optimal_constant
from laconic.search import SearchProblem, SearchStatus, search
from laconic.terms.rules import Rule, RuleEnsemble
from losses import PoissonLoss

LOSSES = {"squared": SquaredLoss(), "logistic": LogisticLoss(), "poisson": PoissonLoss()}


def random_target(rng, loss_name, n_rows):
    if loss_name == "logistic":
        return rng.choice([-1.0, 1.0], n_rows)
    if loss_name == "poisson":
        return rng.poisson(2.0, n_rows).astype(float)
    return rng.normal(size=n_rows) * 10


def random_fit(seed, loss_name, *, is_weighted=False, n_terms=5, **options):
    """A table, its candidates, target, weights, and the rounds that boosting makes of them."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(10, 60))
    X = random_table(rng, n_rows)
    y = random_target(rng, loss_name, n_rows)
    weights = rng.choice([0.5, 1.0, 3.3], n_rows) if is_weighted else None
    candidates = candidate_conditions(X, sample_weight=weights)
    rounds = make_rounds(
        candidates,
        y,
        LOSSES[loss_name],
        l2_regularization=0.5,
        sample_weight=weights,
        search_options=options,
    )
    return X, candidates, y, weights, run_boost(rounds, n_terms)


def problems_of(candidates, y, loss, weights, rules, X, l2_regularization=0.5):
    """The search problem that each round saw, from the rules before it."""
    for n_before in range(len(rules)):
        scores = RuleEnsemble(rules[:n_before]).raw_predictions(X)
        yield SearchProblem(
            candidates.extents,
            loss.gradients(y, scores),
            loss.hessians(y, scores),
            l2_regularization,
            weights,
        )


each_loss = pytest.mark.parametrize("loss_name", LOSSES)
weighted_or_not = pytest.mark.parametrize("is_weighted", [False, True])
seeds = pytest.mark.parametrize("seed", range(6))


@each_loss
@weighted_or_not
@seeds
def test_weights_are_newton_weights(seed, is_weighted, loss_name):
    X, _, y, weights, states = random_fit(seed, loss_name, is_weighted=is_weighted)
    loss, scores = LOSSES[loss_name], np.zeros(len(y))
    w = np.ones(len(y)) if weights is None else weights
    for state in states:
        rule, result = state.ensemble[-1], state.results[-1]
        covered = rule.query.covered(X)
        sum_gradients = (w * loss.gradients(y, scores))[covered].sum()
        sum_hessians = (w * loss.hessians(y, scores))[covered].sum()
        step = -sum_gradients / (0.5 + sum_hessians)
        assert_allclose(rule.weight, step / 2**result.n_halvings, rtol=1e-9)
        gain = sum_gradients**2 / (2 * w.sum() * (0.5 + sum_hessians))
        assert_allclose(result.objective_value, gain, rtol=1e-9)
        scores = scores + np.where(covered, rule.weight, 0.0)


@each_loss
@weighted_or_not
@seeds
def test_scores_in_training_are_those_of_the_ensemble(seed, is_weighted, loss_name):
    class Recording(type(LOSSES[loss_name])):
        def gradients(self, y, raw_predictions):
            seen.append(raw_predictions.copy())
            return super().gradients(y, raw_predictions)

    seen = []
    rng = np.random.default_rng(seed)
    X = random_table(rng, 40)
    y = random_target(rng, loss_name, 40)
    weights = rng.choice([0.5, 1.0, 3.3], 40) if is_weighted else None
    candidates = candidate_conditions(X, sample_weight=weights)
    start = RuleEnsemble((), 0.1)
    states = run_boost(make_rounds(candidates, y, Recording(), sample_weight=weights), 6, start)
    ensembles = [start, *(state.ensemble for state in states)]
    assert len(ensembles) >= 2
    for ensemble, scores in zip(ensembles, seen, strict=False):
        assert_array_equal(ensemble.raw_predictions(X), scores)


@each_loss
@seeds
def test_no_round_is_beaten_by_a_heuristic(seed, loss_name):
    X, candidates, y, weights, states = random_fit(seed, loss_name, is_weighted=True)
    rules, results = states[-1].ensemble.terms, states[-1].results
    problems = problems_of(candidates, y, LOSSES[loss_name], weights, rules, X)
    for problem, result in zip(problems, results, strict=True):
        assert result.is_optimal
        assert result.bound == result.objective_value
        for method in ("greedy", "beam"):
            assert search(problem, method).objective_value <= result.objective_value


@pytest.mark.parametrize("method", ["optimal", "greedy", "beam", "reference"])
@seeds
def test_squared_risk_falls_by_the_objective_or_more(seed, method):
    X, _, y, _, states = random_fit(seed, "squared", method=method)
    scores, risk = np.zeros(len(y)), np.mean(y**2)
    for state in states:
        rule, result = state.ensemble[-1], state.results[-1]
        scores = scores + rule.raw_predictions(X)
        next_risk = np.mean((y - scores) ** 2)
        # The loss is quadratic, so the objective is exact: the risk falls by it, and by the
        # regularisation that it subtracts.
        penalty = 0.5 * rule.weight**2 / (2 * len(y))
        assert_allclose(risk - next_risk, result.objective_value + penalty, rtol=1e-6, atol=1e-9)
        assert next_risk < risk
        risk = next_risk


def test_gains_fall_for_squared_loss_without_regularization():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    states = run_boost(make_rounds(candidate_conditions(X), y, SquaredLoss()), 8)
    risks = [np.mean(y**2)]
    scores = np.zeros(80)
    for state in states:
        scores += state.ensemble[-1].raw_predictions(X)
        risks.append(np.mean((y - scores) ** 2))
    assert len(risks) == 9
    assert np.all(np.diff(risks) < 0)


def rules_for(X, y, *, start=0.0, n_terms=20):
    rounds = make_rounds(candidate_conditions(X), y, SquaredLoss())
    return [state.ensemble[-1] for state in run_boost(rounds, n_terms, RuleEnsemble((), start))]


def test_stops_when_the_fit_is_exact():
    rules = rules_for([[1], [2], [3], [4]], [5, 5, 1, 1])
    assert [str(rule) for rule in rules] == ["+5.000 if x0 <= 2", "+1.000 if x0 > 2"]


def test_target_zero_needs_no_rule():
    assert rules_for([[1], [2], [3]], [0, 0, 0]) == []


@pytest.mark.parametrize("n_rows", [10, 1000])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_stops_at_rounding_errors(n_rows, scale):
    rng = np.random.default_rng(n_rows)
    x = rng.integers(0, 3, n_rows)
    y = scale * np.array([0.1, 0.7, -0.3])[x]
    rules = rules_for(x[:, None], y, n_terms=100)
    assert_allclose(RuleEnsemble(tuple(rules)).raw_predictions(x[:, None]), y, rtol=1e-9)
    assert min(abs(rule.weight) for rule in rules) > 1e-10 * scale
    assert len(rules) < 60


def test_does_not_fit_the_rounding_errors_of_its_start():
    y = np.full(60, 0.1)
    start = np.nextafter(0.1, 1.0)
    assert rules_for(np.arange(60.0)[:, None], y, start=start) == []


def test_small_targets_next_to_a_huge_one_are_fitted():
    X, y = [[1], [2], [3], [4]], [1e9, 1.0, 2.0, 3.0]
    scores = RuleEnsemble(tuple(rules_for(X, y, n_terms=50))).raw_predictions(X)
    assert_allclose(scores, y, rtol=1e-6)


def test_goes_on_from_a_start():
    X, y = [[1], [2], [3], [4]], [5, 5, 1, 1]
    assert [str(rule) for rule in rules_for(X, y, start=1.0)] == ["+4.000 if x0 <= 2"]


def test_no_rules_asked_for():
    assert rules_for([[1], [2]], [1, 2], n_terms=0) == []


def test_no_candidates_give_the_rule_that_always_holds():
    rules = rules_for([[7], [7], [7]], [1, 2, 6])
    assert [str(rule) for rule in rules] == ["+3.000 always"]


def test_interrupted_search_gives_no_rule():
    def stop_at_second_rule(problem, limits, *, n_jobs, callback):
        calls.append(problem)
        result = search(problem)
        if len(calls) == 1:
            return result
        return type(result)(result.query, result.objective_value, 1.0, SearchStatus.INTERRUPTED)

    calls = []
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    rounds = make_rounds(
        candidate_conditions(X),
        y,
        SquaredLoss(),
        l2_regularization=1.0,
        search_options={"method": stop_at_second_rule},
    )
    assert len(run_boost(rounds, 5)) == 1
    assert len(calls) == 2


def test_rounds_are_made_one_at_a_time():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    calls = []

    def counting(problem, limits, **options):
        calls.append(problem)
        return search(problem)

    rounds = make_rounds(
        candidate_conditions(X),
        y,
        SquaredLoss(),
        l2_regularization=1.0,
        search_options={"method": counting},
    )
    next(boost(rounds, rounds.begin(State(RuleEnsemble())), 5))
    assert len(calls) == 1


def test_poisson_finds_group_means():
    x = np.repeat([0.0, 1.0], 50)
    y = np.repeat([1.0, 8.0], 50)
    *_, last = run_boost(make_rounds(candidate_conditions(x[:, None]), y, PoissonLoss()), 30)
    assert_allclose(np.exp(last.ensemble.raw_predictions(x[:, None])), y, rtol=1e-6)


def refitted_fit(seed, loss_name, objective="joint", *, fit_intercept, n_terms=4):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(10, 40))
    X = random_table(rng, n_rows)
    y = random_target(rng, loss_name, n_rows)
    weights = rng.choice([0.5, 1.0, 3.3], n_rows) if seed % 2 else None
    loss = LOSSES[loss_name]
    intercept = optimal_constant(loss, y, weights) if fit_intercept else 0.0
    rounds = make_rounds(
        candidate_conditions(X, max_thresholds=2, sample_weight=weights),
        y,
        loss,
        l2_regularization=0.5,
        sample_weight=weights,
        is_joint=objective == "joint",
        fit_intercept=fit_intercept,
        search_options={"method": "reference", "max_conditions": 2},
    )
    states = run_boost(rounds, n_terms, RuleEnsemble((), intercept))
    return X, y, weights, intercept, rounds, states


def regularised_risk(ensemble, X, y, loss, weights):
    w = np.ones(len(y)) if weights is None else weights
    penalty = 0.5 * sum(rule.weight**2 for rule in ensemble) / 2
    return (w @ loss.value(y, ensemble.raw_predictions(X)) + penalty) / w.sum()


@each_loss
@pytest.mark.parametrize("fit_intercept", [False, True])
@seeds
def test_weights_are_best_after_every_round(seed, fit_intercept, loss_name):
    X, y, weights, intercept, _, states = refitted_fit(seed, loss_name, fit_intercept=fit_intercept)
    loss, w = LOSSES[loss_name], np.ones(len(y)) if weights is None else weights
    assert len(states) >= 1
    for number, state in enumerate(states, start=1):
        ensemble = state.ensemble
        assert len(ensemble) == len(state.results) == len(state.columns) == number
        assert state.results[-1].is_optimal
        assert_array_equal(ensemble.covered(X).T, state.columns)
        gradients = w * loss.gradients(y, ensemble.raw_predictions(X))
        scale = np.abs(gradients).sum() + np.abs(w * y).sum()
        for rule in ensemble:
            slope = gradients[rule.query.covered(X)].sum() + 0.5 * rule.weight
            assert abs(slope) <= 1e-12 * scale
        if fit_intercept:
            assert abs(gradients.sum()) <= 1e-12 * scale
        else:
            assert ensemble.intercept == intercept
    assert [state.ensemble for state in states] == [*states[-1].stages]
    queries = [rule.query for rule in states[-1].ensemble]
    assert [state.ensemble[-1].query for state in states] == queries


@pytest.mark.parametrize("fit_intercept", [False, True])
@seeds
def test_joint_objective_is_the_fall_of_the_regularised_squared_risk(seed, fit_intercept):
    X, y, weights, intercept, _, states = refitted_fit(seed, "squared", fit_intercept=fit_intercept)
    risk = regularised_risk(RuleEnsemble((), intercept), X, y, SquaredLoss(), weights)
    for state in states:
        next_risk = regularised_risk(state.ensemble, X, y, SquaredLoss(), weights)
        # The objective is that of twice the risk of one half of the squared penalty: exact here.
        value = state.results[-1].objective_value
        assert_allclose(risk - next_risk, value, rtol=1e-7, atol=1e-10 * risk)
        risk = next_risk


@each_loss
@seeds
def test_refitted_risk_never_rises(seed, loss_name):
    X, y, weights, intercept, _, states = refitted_fit(seed, loss_name, fit_intercept=True)
    ensembles = [RuleEnsemble((), intercept), *(state.ensemble for state in states)]
    risks = [regularised_risk(e, X, y, LOSSES[loss_name], weights) for e in ensembles]
    assert np.all(np.diff(risks) <= 1e-12 * np.abs(risks[:-1]))


@seeds
def test_first_joint_rule_without_intercept_is_the_stagewise_one(seed):
    options = {"fit_intercept": False, "n_terms": 1}
    [joint] = refitted_fit(seed, "squared", "joint", **options)[-1]
    [stagewise] = refitted_fit(seed, "squared", "stagewise", **options)[-1]
    assert joint.ensemble[0].query == stagewise.ensemble[0].query
    assert joint.results[0].objective_value == stagewise.results[0].objective_value
    assert_allclose(joint.ensemble[0].weight, stagewise.ensemble[0].weight)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_refitted_rounds_stop_when_the_fit_is_exact(scale):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, 500)
    y = scale * np.array([0.1, 0.7, -0.3])[x]
    rounds = make_rounds(
        candidate_conditions(x[:, None]),
        y,
        SquaredLoss(),
        is_joint=True,
        fit_intercept=True,
        search_options={"method": "reference"},
    )
    *_, last = run_boost(rounds, 50, RuleEnsemble((), optimal_constant(SquaredLoss(), y)))
    assert len(last.ensemble) == 2
    assert_allclose(last.ensemble.raw_predictions(x[:, None]), y, rtol=1e-9)


def test_goes_on_from_rules_whose_weights_it_refits():
    *_, intercept, rounds, states = refitted_fit(3, "squared", fit_intercept=True)
    assert len(states) == 4
    start = states[1]
    idle = RuleEnsemble(tuple(Rule(rule.query, 0.0) for rule in start.ensemble), intercept)
    *_, last = boost(rounds, rounds.begin(replace(start, ensemble=idle)), 4)
    expected = states[-1].ensemble
    assert [rule.query for rule in last.ensemble] == [rule.query for rule in expected]
    assert_allclose(
        [rule.weight for rule in last.ensemble], [rule.weight for rule in expected], rtol=1e-9
    )
    assert last.results[:2] == start.results


def test_refitted_rounds_stop_where_gradients_only_fade():
    """Without penalty, a rule for one class alone leaves gradients as small as rounding errors."""
    X, y = np.array([[1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, 1.0])
    options = {"is_joint": True, "fit_intercept": True}
    rounds = make_rounds(candidate_conditions(X), y, LogisticLoss(), **options)
    start = RuleEnsemble((), optimal_constant(LogisticLoss(), y))
    assert len(run_boost(rounds, 10, start)) == 1


def test_nothing_left_to_find_ends_the_rounds():
    """All sets of rows are taken: what is worth nothing is no rule, however much it could gain."""
    candidates = candidate_conditions([[1.0], [2.0]])
    y = np.array([1.0, 2.0])
    rounds = make_rounds(candidates, y, SquaredLoss(), l2_regularization=20.0, is_joint=True)
    *_, last = run_boost(rounds, 10)
    queries = [str(rule.query) for rule in last.ensemble]
    assert len(set(queries)) == len(queries) <= 3


def test_risk_never_rises_where_classes_are_separable():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(8, 40))
        X, y = rng.integers(0, 4, (n_rows, 2)), rng.choice([-1.0, 1.0], n_rows)
        y[:2] = -1.0, 1.0
        candidates = candidate_conditions(X)
        options = {"is_joint": True, "fit_intercept": True}
        states = run_boost(make_rounds(candidates, y, LogisticLoss(), **options), 8)
        losses = [
            LogisticLoss().value(y, state.ensemble.raw_predictions(X)).sum() for state in states
        ]
        assert all(np.diff(losses) <= 1e-9), seed
        assert np.isfinite(losses).all()
