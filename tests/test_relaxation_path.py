"""The path of the relaxed problem: true bounds, and solutions that reach them."""

from __future__ import annotations

import numpy as np
import pytest

from laconic.relaxation import SameRules, SameWeight, l1_path, prove
from laconic.relaxation.checking import dual_value
from laconic.relaxation.restricted import RestrictedProblem
from laconic.search import SearchStatus
from test_relaxation import draw


def path_of(drawn, **options):
    return l1_path(drawn.extents, drawn.risk, max_conditions=drawn.max_conditions, **options)


@pytest.mark.parametrize("seed", range(30))
def test_points_are_solved_and_bounds_are_true(seed):
    drawn = draw(seed)
    risk = drawn.risk
    points = path_of(drawn, penalties=6)
    whole = RestrictedProblem(risk)
    whole.add(drawn.columns())
    weights = [point.total_weight for point in points]
    assert weights == sorted(weights)
    for point in points:
        raw = np.full(len(risk.y), point.intercept)
        for column in point.columns:
            raw += column.weight * column.covered
        assert point.loss == pytest.approx(risk.value(raw))
        whole.solve(0.0, point.penalty)
        best = whole.value(0.0, point.penalty)
        assert point.bound <= best + 1e-9 * risk.value_at_constant
        assert point.status is SearchStatus.OPTIMAL
        assert point.value - best <= 1e-3 * risk.value_at_constant


def test_path_begins_without_rules():
    drawn = draw(2)
    first, *_, last = path_of(drawn, penalties=5, smallest=0.1)
    assert first.total_weight == pytest.approx(0.0, abs=1e-9)
    assert last.penalty == pytest.approx(0.1 * first.penalty)
    assert last.n_rules > 0


def test_penalties_are_sorted():
    points = path_of(draw(2), penalties=[0.5, 2.0, 1.0])
    assert [point.penalty for point in points] == [2.0, 1.0, 0.5]


@pytest.mark.parametrize("penalties", [0, [1.0, 0.0], [np.inf]])
def test_penalties_are_checked(penalties):
    with pytest.raises(ValueError, match="penalties must be"):
        path_of(draw(2), penalties=penalties)


def test_callback_ends_a_path():
    assert len(path_of(draw(2), penalties=5, callback=lambda point: True)) == 1


def test_threads_change_nothing():
    for seed in range(4):
        one, more = (path_of(draw(seed), penalties=4, n_jobs=n) for n in (1, 2))
        assert [point.bound for point in one] == [point.bound for point in more]
        assert [point.loss for point in one] == [point.loss for point in more]


def test_limited_path_is_true():
    drawn = draw(6)
    points = path_of(drawn, penalties=5, node_limit=1)
    whole = RestrictedProblem(drawn.risk)
    whole.add(drawn.columns())
    for point in points:
        whole.solve(0.0, point.penalty)
        assert point.bound <= whole.value(0.0, point.penalty) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_interrupted_and_threaded_proofs_are_true(seed):
    """However a proof ends, no ensemble is below its bounds, for any number of rules."""
    drawn = draw(seed)
    best = drawn.best_value()
    rivals = SameRules(drawn.n_rules, drawn.l2_regularization)
    for n_calls in (0, 1, 3):
        calls = iter(range(n_calls))

        def stop(progress, calls=calls):
            return next(calls, None) is None

        for n_jobs in (1, 2):
            proof = prove(
                drawn.extents,
                drawn.risk,
                rivals,
                max_conditions=drawn.max_conditions,
                by_size=True,
                n_jobs=n_jobs,
                callback=stop,
            )
            assert proof.bound.value <= best * (1 + 1e-12)
            assert proof.bounds_by_size[-1] == proof.bound.value
            assert list(proof.bounds_by_size) == sorted(proof.bounds_by_size, reverse=True)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_by_size_are_true(seed):
    drawn = draw(seed)
    rivals = SameRules(3, drawn.l2_regularization)
    for by_size in (False, True):
        proof = prove(
            drawn.extents,
            drawn.risk,
            rivals,
            max_conditions=drawn.max_conditions,
            by_size=by_size,
        )
        assert len(proof.bounds_by_size) == 4
        for n_rules in (1, 2):
            smaller = type(drawn)(
                drawn.covered,
                drawn.risk,
                drawn.max_conditions,
                n_rules,
                drawn.l2_regularization,
            )
            slack = 1e-12 * drawn.risk.value_at_constant
            assert proof.bounds_by_size[n_rules] <= smaller.best_value() + slack
    free = prove(drawn.extents, drawn.risk, SameWeight(1.0), max_conditions=2, by_size=True)
    assert free.bounds_by_size == ()


@pytest.mark.parametrize("seed", range(10))
def test_least_coverage_counts(seed):
    drawn = draw(seed)
    weights = drawn.risk.weights
    wide = [rows for rows in drawn.columns() if weights[rows].sum() >= 4.0]
    if not wide:
        return
    relaxed = RestrictedProblem(drawn.risk)
    relaxed.add(np.array(wide))
    relaxed.solve(drawn.l2_regularization)
    total = relaxed.total_weight
    if total == 0.0:
        return
    options = {"max_conditions": drawn.max_conditions, "min_coverage": 4.0}
    proof = prove(drawn.extents, drawn.risk, SameWeight(total), **options)
    value = drawn.risk.value(relaxed.raw_predictions)
    start = drawn.risk.value_at_constant
    assert proof.bound.value <= value + 1e-12 * start
    assert proof.bound.value >= value - 0.02 * (start - value)
    assert dual_value(drawn.risk, proof.bound.forces) is not None
