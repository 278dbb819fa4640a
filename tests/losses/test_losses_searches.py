"""Every loss: the rules of a fit against all conjunctions, one by one, on small random problems."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problems import all_covered, best_gain, n_drawn
from rounds import make_rounds, run_boost

from laconic.candidates.candidates import candidate_conditions
from laconic.losses import NAMED_LOSSES, HuberLoss, TweedieLoss, optimal_constant
from laconic.terms.rules import RuleEnsemble
from losses import PoissonLoss as OwnPoissonLoss

N_PROBLEMS = n_drawn(1_000)  # of each loss, half of them for each objective
# Several classes have a search of their own, see test_multiclass.py.
LOSSES = {
    **{name: loss for name, loss in NAMED_LOSSES.items() if name != "multinomial"},
    "huber": HuberLoss(0.7),
    "tweedie": TweedieLoss(1.3),
    "own": OwnPoissonLoss(),
}


def random_target(rng, name, n_rows):
    if name == "logistic":
        return rng.choice([-1.0, 1.0], n_rows)
    if name in ("squared", "huber"):
        return np.round(rng.standard_t(2, n_rows), 1)
    counts = rng.poisson(2.0, n_rows).astype(float)
    counts[0] += 1.0
    return counts + 0.5 if name == "gamma" else counts


@pytest.mark.parametrize("objective", ["stagewise", "joint"])
@pytest.mark.parametrize("name", LOSSES)
def test_rules_are_the_best_of_all_conjunctions(name, objective):
    loss = LOSSES[name]
    for seed in range(N_PROBLEMS // 2):
        rng = np.random.default_rng(seed)
        n_rows = int(rng.integers(4, 9))
        X = rng.integers(0, 3, (n_rows, 2)).astype(float)
        y, weights = random_target(rng, name, n_rows), rng.choice([1.0, 2.0], n_rows)
        penalty, max_conditions = float(rng.choice([0.1, 1.0, 5.0])), int(rng.integers(1, 4))
        candidates = candidate_conditions(X)
        start = RuleEnsemble((), optimal_constant(loss, y, weights))
        rounds = make_rounds(
            candidates,
            y,
            loss,
            l2_regularization=penalty,
            sample_weight=weights,
            is_joint=objective == "joint",
            fit_intercept=True,
            search_options={"max_conditions": max_conditions},
        )
        sets = all_covered(candidates, max_conditions)
        before = start
        for state in run_boost(rounds, 2, start):
            result = state.results[-1]
            raw = before.raw_predictions(X)
            others = [(np.ones(n_rows, dtype=bool), 0.0)]
            others += [(rule.query.covered(X), penalty) for rule in before]
            if objective == "stagewise":
                others = []
            statistics = weights * loss.gradients(y, raw), weights * loss.hessians(y, raw)
            best = best_gain(sets, *statistics, penalty, others) / weights.sum()
            assert_allclose(result.objective_value, best, rtol=1e-6, atol=1e-10)
            assert result.is_optimal
            before = state.ensemble
