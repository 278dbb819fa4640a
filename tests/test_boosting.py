import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from laconic.boosting import boost
from laconic.candidates import candidate_propositions
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.model.rules import RuleEnsemble
from laconic.search import SearchProblem, SearchStatus, search
from losses import PoissonLoss
from problems import random_table

LOSSES = {"squared": SquaredLoss(), "logistic": LogisticLoss(), "poisson": PoissonLoss()}


def random_target(rng, loss_name, n_rows):
    if loss_name == "logistic":
        return rng.choice([-1.0, 1.0], n_rows)
    if loss_name == "poisson":
        return rng.poisson(2.0, n_rows).astype(float)
    return rng.normal(size=n_rows) * 10


def random_fit(seed, loss_name, *, is_weighted=False, n_rules=5, **options):
    """A table, its candidates, target, weights, and the rounds that boosting makes of them."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(10, 60))
    X = random_table(rng, n_rows)
    y = random_target(rng, loss_name, n_rows)
    weights = rng.choice([0.5, 1.0, 3.3], n_rows) if is_weighted else None
    candidates = candidate_propositions(X, sample_weight=weights)
    rounds = list(
        boost(
            candidates,
            y,
            LOSSES[loss_name],
            np.zeros(n_rows),
            n_rules=n_rules,
            l2_regularization=0.5,
            sample_weight=weights,
            search_options=options,
        )
    )
    return X, candidates, y, weights, rounds


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
    X, _, y, weights, rounds = random_fit(seed, loss_name, is_weighted=is_weighted)
    loss, scores = LOSSES[loss_name], np.zeros(len(y))
    w = np.ones(len(y)) if weights is None else weights
    for rule, result in rounds:
        covered = rule.query.covered(X)
        sum_gradients = (w * loss.gradients(y, scores))[covered].sum()
        sum_hessians = (w * loss.hessians(y, scores))[covered].sum()
        assert_allclose(rule.weight, -sum_gradients / (0.5 + sum_hessians), rtol=1e-9)
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
    candidates = candidate_propositions(X, sample_weight=weights)
    rounds = boost(
        candidates,
        y,
        Recording(),
        np.full(40, 0.1),
        n_rules=6,
        l2_regularization=0.0,
        sample_weight=weights,
    )
    rules = tuple(rule for rule, _ in rounds)
    assert len(rules) >= 1
    for n_rules, scores in enumerate(seen):
        assert_array_equal(RuleEnsemble(rules[:n_rules], 0.1).raw_predictions(X), scores)


@each_loss
@seeds
def test_no_round_is_beaten_by_a_heuristic(seed, loss_name):
    X, candidates, y, weights, rounds = random_fit(seed, loss_name, is_weighted=True)
    rules = tuple(rule for rule, _ in rounds)
    problems = problems_of(candidates, y, LOSSES[loss_name], weights, rules, X)
    for problem, (_, result) in zip(problems, rounds, strict=True):
        assert result.is_optimal
        assert result.bound == result.objective_value
        for method in ("greedy", "beam"):
            assert search(problem, method).objective_value <= result.objective_value


@pytest.mark.parametrize("method", ["optimal", "greedy", "beam", "reference"])
@seeds
def test_squared_risk_falls_by_the_objective_or_more(seed, method):
    X, _, y, _, rounds = random_fit(seed, "squared", method=method)
    scores, risk = np.zeros(len(y)), np.mean(y**2)
    for rule, result in rounds:
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
    rounds = boost(
        candidate_propositions(X), y, SquaredLoss(), np.zeros(80), n_rules=8, l2_regularization=0.0
    )
    risks = [np.mean(y**2)]
    scores = np.zeros(80)
    for rule, _ in rounds:
        scores += rule.raw_predictions(X)
        risks.append(np.mean((y - scores) ** 2))
    assert len(risks) == 9
    assert np.all(np.diff(risks) < 0)


def rules_for(X, y, *, start=0.0, n_rules=20, l2_regularization=0.0):
    rounds = boost(
        candidate_propositions(X),
        np.asarray(y, dtype=float),
        SquaredLoss(),
        np.full(len(y), start),
        n_rules=n_rules,
        l2_regularization=l2_regularization,
    )
    return [rule for rule, _ in rounds]


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
    rules = rules_for(x[:, None], y, n_rules=100)
    assert_allclose(RuleEnsemble(tuple(rules)).raw_predictions(x[:, None]), y, rtol=1e-9)
    assert min(abs(rule.weight) for rule in rules) > 1e-10 * scale
    assert len(rules) < 60


def test_does_not_fit_the_rounding_errors_of_its_start():
    y = np.full(60, 0.1)
    start = np.nextafter(0.1, 1.0)
    assert rules_for(np.arange(60.0)[:, None], y, start=start) == []


def test_small_targets_next_to_a_huge_one_are_fitted():
    X, y = [[1], [2], [3], [4]], [1e9, 1.0, 2.0, 3.0]
    scores = RuleEnsemble(tuple(rules_for(X, y, n_rules=50))).raw_predictions(X)
    assert_allclose(scores, y, rtol=1e-6)


def test_goes_on_from_a_start():
    X, y = [[1], [2], [3], [4]], [5, 5, 1, 1]
    assert [str(rule) for rule in rules_for(X, y, start=1.0)] == ["+4.000 if x0 <= 2"]


def test_does_not_change_its_start():
    start = np.zeros(4)
    y = np.array([5.0, 5.0, 1.0, 1.0])
    candidates = candidate_propositions([[1], [2], [3], [4]])
    list(boost(candidates, y, SquaredLoss(), start, n_rules=2, l2_regularization=0.0))
    assert_array_equal(start, 0.0)


def test_no_rules_asked_for():
    assert rules_for([[1], [2]], [1, 2], n_rules=0) == []


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
    rounds = boost(
        candidate_propositions(X),
        y,
        SquaredLoss(),
        np.zeros(20),
        n_rules=5,
        l2_regularization=1.0,
        search_options={"method": stop_at_second_rule},
    )
    assert len(list(rounds)) == 1
    assert len(calls) == 2


def test_rounds_are_made_one_at_a_time():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    calls = []

    def counting(problem, limits, **options):
        calls.append(problem)
        return search(problem)

    rounds = boost(
        candidate_propositions(X),
        y,
        SquaredLoss(),
        np.zeros(20),
        n_rules=5,
        l2_regularization=1.0,
        search_options={"method": counting},
    )
    next(rounds)
    assert len(calls) == 1


def test_poisson_finds_group_means():
    x = np.repeat([0.0, 1.0], 50)
    y = np.repeat([1.0, 8.0], 50)
    rounds = boost(
        candidate_propositions(x[:, None]),
        y,
        PoissonLoss(),
        np.zeros(100),
        n_rules=30,
        l2_regularization=0.0,
    )
    ensemble = RuleEnsemble(tuple(rule for rule, _ in rounds))
    assert_allclose(np.exp(ensemble.raw_predictions(x[:, None])), y, rtol=1e-6)
