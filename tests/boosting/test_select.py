"""Few rules of many: backward elimination."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from rounds import fit_weights, make_rounds, penalised_loss

from laconic.boosting import select
from laconic.boosting.certificate import TermColumn
from laconic.candidates.candidates import candidate_conditions
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.search import SearchStatus
from laconic.terms.rules import RuleEnsemble


def all_columns(candidates):
    return [
        TermColumn(candidates.extents.covered(list(query)), query, 1.0)
        for size in (1, 2)
        for query in combinations(range(len(candidates)), size)
    ]


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
@pytest.mark.parametrize("seed", range(5))
def test_weights_fit_and_the_first_leaves_last(loss, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(40, 3))
    y = rng.normal(size=40) + (X[:, 0] > 0) * 2 - (X[:, 1] > 1)
    if isinstance(loss, LogisticLoss):
        y = np.where(y > 0.5, 1.0, -1.0)
    candidates = candidate_conditions(X)
    columns = all_columns(candidates)
    rounds = make_rounds(candidates, y, loss, l2_regularization=1.0, fit_intercept=True)
    options = {"penalty": 1.0, "fit_intercept": True}
    found = {}
    for n_terms in (1, 2, 3):
        state = select(rounds, RuleEnsemble(), columns, n_terms)
        ensemble = state.ensemble
        assert len(ensemble) == len(state.columns) == len(state.results) == n_terms
        weights = np.array([*(rule.weight for rule in ensemble), ensemble.intercept])
        best = fit_weights(state.columns, y, loss, **options)
        value, least = (
            penalised_loss(w, state.columns, y, loss, **options) for w in (weights, best)
        )
        assert value == pytest.approx(least)
        assert_array_equal(ensemble.covered(X).T, state.columns)
        assert [len(stage) for stage in state.stages] == [*range(n_terms + 1)]
        assert state.stages[-1] == ensemble
        found[n_terms] = [result.query for result in state.results]
        assert [candidates.extents.covered(list(q)).tolist() for q in found[n_terms]] == [
            covered.tolist() for covered in state.columns
        ]
        assert {result.status for result in state.results} == {SearchStatus.HEURISTIC}
    assert found[3][:2] == found[2]
    assert found[2][:1] == found[1]


def test_twins_leave_first():
    candidates = candidate_conditions([[1.0], [2.0], [3.0], [4.0]])
    y = np.array([5.0, 5.0, 1.0, 1.0])
    covered = candidates.extents.covered([0])
    columns = [
        TermColumn(covered, (0,), 1.0),
        TermColumn(~covered, (1,), 2.0),
        TermColumn(covered, (2,), 3.0),
    ]
    rounds = make_rounds(candidates, y, SquaredLoss(), l2_regularization=1.0, fit_intercept=True)
    state = select(rounds, RuleEnsemble(), columns, 3)
    assert [result.query for result in state.results] == [(2,)]
    assert len(state.ensemble) == 1


def test_no_columns():
    candidates = candidate_conditions([[1.0], [2.0]])
    rounds = make_rounds(candidates, np.zeros(2), SquaredLoss(), l2_regularization=1.0)
    start = RuleEnsemble((), 2.0)
    state = select(rounds, start, [], 3)
    assert state.ensemble == start
    assert state.results == state.columns == ()


def test_conditions_that_make_no_difference_are_left_out():
    candidates = candidate_conditions(np.arange(6.0)[:, np.newaxis])
    y = np.array([5.0, 5.0, 1.0, 1.0, 1.0, 1.0])
    texts = [str(each) for each in candidates.conditions]
    query = texts.index("x0 <= 1"), texts.index("x0 <= 3")
    column = TermColumn(candidates.extents.covered(query), query, 1.0)
    rounds = make_rounds(candidates, y, SquaredLoss(), l2_regularization=1.0, fit_intercept=True)
    state = select(rounds, RuleEnsemble(), [column], 1)
    assert str(state.ensemble[0].query) == "x0 <= 1"
    assert state.results[0].query == query[:1]
