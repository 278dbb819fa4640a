"""Few rules of many: backward elimination."""

from itertools import combinations

import numpy as np
import pytest

from laconic.candidates import candidate_propositions
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.model.rules import RuleEnsemble
from laconic.refitting import penalised_loss, refit
from laconic.relaxation import Column
from laconic.search import OtherRules
from laconic.selection import select


def all_columns(candidates):
    return [
        Column(candidates.extents.covered(list(query)), query, 1.0)
        for size in (1, 2)
        for query in combinations(range(len(candidates)), size)
    ]


def value(covered, y, loss, penalty):
    rules = OtherRules(
        np.vstack([covered, np.ones((1, len(y)), dtype=bool)]),
        np.append([penalty] * len(covered), 0),
    )
    weights = refit(rules, y, loss, np.zeros(len(covered) + 1)).weights
    return penalised_loss(rules, y, loss, weights)[0]


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
@pytest.mark.parametrize("seed", range(5))
def test_weights_fit_and_the_first_leaves_last(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(40, 3))
    y = rng.normal(size=40) + (X[:, 0] > 0) * 2 - (X[:, 1] > 1)
    if isinstance(loss, LogisticLoss):
        y = np.where(y > 0.5, 1.0, -1.0)
    candidates = candidate_propositions(X)
    columns = all_columns(candidates)
    options = {"l2_regularization": 1.0, "fit_intercept": True}
    found = {}
    for n_rules in (1, 2, 3):
        ensemble, kept = select(candidates, y, loss, RuleEnsemble(), columns, n_rules, **options)
        assert len(ensemble) == len(kept) == n_rules
        covered = np.array([column.covered for column in kept])
        weights = np.array([rule.weight for rule in ensemble])
        raw = ensemble.intercept + weights @ covered
        penalised = loss.value(y, raw).sum() + (weights**2).sum() / 2
        assert penalised == pytest.approx(value(covered, y, loss, 1.0))
        found[n_rules] = [column.query for column in kept]
    assert found[3][:2] == found[2]
    assert found[2][:1] == found[1]


def test_twins_leave_first():
    candidates = candidate_propositions([[1.0], [2.0], [3.0], [4.0]])
    y = np.array([5.0, 5.0, 1.0, 1.0])
    covered = candidates.extents.covered([0])
    columns = [Column(covered, (0,), 1.0), Column(~covered, (1,), 2.0), Column(covered, (0,), 3.0)]
    options = {"l2_regularization": 1.0, "fit_intercept": True}
    ensemble, kept = select(candidates, y, SquaredLoss(), RuleEnsemble(), columns, 3, **options)
    assert [column.weight for column in kept] == [3.0]
    assert len(ensemble) == 1


def test_no_columns():
    candidates = candidate_propositions([[1.0], [2.0]])
    start = RuleEnsemble((), 2.0)
    ensemble, kept = select(
        candidates, np.zeros(2), SquaredLoss(), start, [], 3, l2_regularization=1.0
    )
    assert ensemble == start
    assert kept == []
