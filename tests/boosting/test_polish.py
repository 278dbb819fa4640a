"""Polishing, compared with all exchanges of one rule for any other."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from rounds import make_rounds, run_boost

from laconic.boosting import State, polish
from laconic.candidates.candidates import candidate_conditions
from laconic.losses import LogisticLoss, SquaredLoss, optimal_constant
from laconic.search import SearchResult, SearchStatus
from laconic.terms.rules import RuleEnsemble

MAX_CONDITIONS = 2


def random_problem(seed, is_classified=False):
    """A small table with some structure, weights for every other seed, and many ties."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(30, 3))
    parts = [(X[:, 0] > 0) & (X[:, 1] < 2), X[:, 2] > 1, X[:, 1] > 0]
    y = sum(weight * part for weight, part in zip((2.0, -2.0, 1.5), parts, strict=True))
    y = y + rng.normal(size=30)
    if is_classified:
        y = np.where(y > np.median(y), 1.0, -1.0)
    weights = rng.integers(1, 4, 30).astype(float) if seed % 2 else None
    return X, y, weights


class Fit:
    """A boosted model, and what came of polishing it."""

    def __init__(self, seed, *, penalty, intercept, loss=None, n_terms=3, **search_options):
        self.loss = loss or SquaredLoss()
        self.penalty, self.intercept = penalty, intercept
        X, self.y, self.weights = random_problem(seed, isinstance(self.loss, LogisticLoss))
        self.candidates = candidate_conditions(X)
        constant = optimal_constant(self.loss, self.y, self.weights) if intercept else 0.0
        self.rounds = make_rounds(
            self.candidates,
            self.y,
            self.loss,
            l2_regularization=penalty,
            sample_weight=self.weights,
            fit_intercept=intercept,
            is_joint=True,
            search_options={"max_conditions": MAX_CONDITIONS, **search_options},
        )
        start = RuleEnsemble((), constant, ("x0", "x1", "x2"))
        self.state = run_boost(self.rounds, n_terms, start)[-1]
        self.X = X

    def extent(self, query):
        return self.candidates.extents.covered(list(query))

    def polish(self, rounds=None, **options):
        return list(polish(rounds or self.rounds, self.state, **options))

    def risk(self, ensemble):
        """Penalised loss of a model, straight from its definition."""
        values = self.loss.value(self.y, ensemble.raw_predictions(self.X))
        total = values.sum() if self.weights is None else self.weights @ values
        return total + self.penalty / 2 * sum(rule.weight**2 for rule in ensemble)

    def best_risk(self, extents):
        """Smallest penalised squared loss of rules with these extents, by dense algebra."""
        columns = [extent.astype(float) for extent in extents]
        penalties = [self.penalty] * len(columns)
        if self.intercept:
            columns, penalties = [*columns, np.ones(len(self.y))], [*penalties, 0.0]
        A = np.array(columns).T
        scale = np.sqrt(np.ones(len(self.y)) if self.weights is None else self.weights)
        # Penalties as further rows: (λ/2) w² = (0 − √(λ/2) w)².
        matrix = np.vstack([A * scale[:, None], np.diag(np.sqrt(np.array(penalties) / 2))])
        target = np.append(self.y * scale, np.zeros(len(penalties)))
        solution, *_ = np.linalg.lstsq(matrix, target, rcond=None)
        return np.sum((matrix @ solution - target) ** 2)

    def all_extents(self):
        n_candidates = len(self.candidates)
        queries = (
            query
            for n_conditions in range(MAX_CONDITIONS + 1)
            for query in combinations(range(n_candidates), n_conditions)
        )
        return np.unique([self.extent(query) for query in queries], axis=0)


settings = pytest.mark.parametrize(
    ("penalty", "intercept"), [(0.0, True), (0.5, True), (5.0, True), (0.5, False), (0.0, False)]
)


@settings
@pytest.mark.parametrize("seed", range(6))
def test_no_single_exchange_improves_a_polished_model(seed, penalty, intercept):
    fit = Fit(seed, penalty=penalty, intercept=intercept)
    *_, last = fit.polish()
    assert last.is_stable
    last = last.state
    risk = fit.best_risk(last.columns)
    assert_allclose(fit.risk(last.ensemble), risk, rtol=1e-9)
    extents = fit.all_extents()
    total = fit.weights.sum() if fit.weights is not None else len(fit.y)
    for position, result in enumerate(last.results):
        others = [*last.columns[:position], *last.columns[position + 1 :]]
        best = min(fit.best_risk([*others, extent]) for extent in extents)
        assert best >= risk * (1 - 1e-9)
        # The certificate: what the rule gains given the others, and what no other exceeds.
        without = fit.best_risk(others)
        assert_allclose(result.objective_value, (without - risk) / total, rtol=1e-7, atol=1e-12)
        assert result.bound >= (without - best) / total * (1 - 1e-9)
        assert result.is_optimal
        assert result.objective_value == result.bound
        assert result.approximation_ratio > 1 - 1e-9


@settings
@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
@pytest.mark.parametrize("seed", range(4))
def test_the_risk_never_rises(seed, loss, penalty, intercept):
    fit = Fit(seed, penalty=penalty or 0.1, intercept=intercept, loss=loss)
    n_terms, risks = len(fit.state.ensemble), [fit.risk(fit.state.ensemble)]
    for step in fit.polish():
        ensemble, results, extents = step.state.ensemble, step.state.results, step.state.columns
        risks.append(fit.risk(ensemble))
        assert step.is_exchanged == (risks[-1] != risks[-2])
        assert len(ensemble) == len(results) == len(extents) == n_terms
        for rule, result, covered in zip(ensemble, results, extents, strict=True):
            assert np.array_equal(rule.query.covered(fit.X), covered)
            assert np.array_equal(fit.extent(result.query), covered)
    assert np.all(np.diff(risks) <= 0)


def test_something_is_exchanged():
    fits = [Fit(seed, penalty=0.5, intercept=True) for seed in range(6)]
    assert sum(any(step.is_exchanged for step in fit.polish()) for fit in fits) >= 3


def test_same_result_every_time():
    fit = Fit(1, penalty=0.5, intercept=True, loss=LogisticLoss())
    (*_, first), (*_, second) = fit.polish(), fit.polish()
    assert first.state.ensemble == second.state.ensemble
    assert [r.query for r in first.state.results] == [r.query for r in second.state.results]


def test_rounds_are_limited():
    fit = next(
        fit
        for fit in (Fit(seed, penalty=0.5, intercept=True) for seed in range(20))
        if fit.polish()[2].is_exchanged or not fit.polish()[2].is_stable
    )
    steps = fit.polish(max_rounds=1)
    assert len(steps) == 3
    assert not steps[-1].is_stable
    assert [step.position for step in steps] == [0, 1, 2]


def test_exact_fits_are_left_alone():
    """Residues of rounding errors are no reason to exchange anything."""
    candidates = candidate_conditions(np.array([[1.0], [2.0], [3.0], [4.0]]))
    y = np.array([0.0, 0.0, 0.1, 0.3])
    rounds = make_rounds(candidates, y, SquaredLoss(), is_joint=True)
    steps = list(polish(rounds, run_boost(rounds, 2)[-1]))
    assert [step.is_exchanged for step in steps] == [False, False]


def test_nothing_to_polish():
    fit = Fit(0, penalty=0.5, intercept=True)
    assert list(polish(fit.rounds, State(fit.state.ensemble[:0]))) == []


def test_a_search_that_was_stopped_ends_it():
    def stop_at_the_second(problem, limits, **options):
        seen.append(problem)
        status = SearchStatus.INTERRUPTED if len(seen) == 2 else SearchStatus.HEURISTIC
        return SearchResult((), problem.objective(()), np.inf, status)

    seen = []
    fit = Fit(0, penalty=0.5, intercept=True)
    rounds = replace(fit.rounds, search_options={"method": stop_at_the_second})
    [only] = fit.polish(rounds)
    assert (only.position, only.is_exchanged, only.is_stable) == (0, False, False)
    assert only.state.results[0].status is SearchStatus.HEURISTIC
