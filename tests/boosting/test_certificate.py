"""Bounds on the best possible ensemble: true, and as tight as they can be."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from rounds import fit_weights, penalised_loss

from laconic.boosting.certificate import (
    EnsemblesOfSize,
    EnsemblesOfWeight,
    TrainingRisk,
    lower_bound,
    prove,
)
from laconic.boosting.certificate.restricted_master import RestrictedProblem, minimise_quadratic
from laconic.boosting.certificate.verify import dual_value, is_proven, largest_sum
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.search import Extents, SearchProblem, SearchStatus, search
from laconic.search.core import beam_queries


@dataclasses.dataclass(frozen=True, eq=False)
class Drawn:
    """A small problem drawn by chance."""

    covered: np.ndarray
    risk: TrainingRisk
    max_conditions: int
    n_terms: int
    l2_regularization: float

    @property
    def extents(self):
        return Extents(np.ascontiguousarray(self.covered))

    def columns(self):
        """All different sets of rows that conjunctions cover."""
        found = {}
        n_rows = self.covered.shape[1]
        for size in range(self.max_conditions + 1):
            for query in combinations(range(len(self.covered)), size):
                rows = np.logical_and.reduce(self.covered[list(query)], axis=0)
                rows = np.broadcast_to(rows, n_rows)
                if rows.any():
                    found[rows.tobytes()] = rows
        return np.array(list(found.values()))

    def best_value(self):
        """The smallest penalised loss of all ensembles of so many rules."""
        risk, columns = self.risk, self.columns()
        values = []
        options = {
            "penalty": self.l2_regularization,
            "fit_intercept": risk.fit_intercept,
            "sample_weight": risk.sample_weight,
        }
        for chosen in combinations(columns, min(self.n_terms, len(columns))):
            weights = fit_weights(chosen, risk.y, risk.loss, **options)
            values.append(penalised_loss(weights, chosen, risk.y, risk.loss, **options))
        return min(values)


def draw(seed):
    """Draw a problem, with every second one a classification."""
    rng = np.random.default_rng(seed)
    n_rows, n_conditions = rng.integers(4, 16), rng.integers(2, 5)
    is_regression = seed % 2 == 0
    y = rng.normal(size=n_rows) if is_regression else np.where(rng.random(n_rows) < 0.5, 1.0, -1.0)
    weights = None if rng.random() < 0.5 else rng.integers(1, 4, n_rows) * rng.choice([1.0, 0.37])
    loss = SquaredLoss() if is_regression else LogisticLoss()
    return Drawn(
        rng.random((n_conditions, n_rows)) < 0.5,
        TrainingRisk(y, loss, weights, bool(rng.random() < 0.6)),
        int(rng.integers(1, 4)),
        int(rng.integers(1, 4)),
        float(10 ** rng.uniform(-2, 1.5)),
    )


def proof_of(drawn, compared=None, **options):
    compared = compared or EnsemblesOfSize(drawn.n_terms, drawn.l2_regularization)
    return prove(
        drawn.extents, drawn.risk, compared, max_conditions=drawn.max_conditions, **options
    )


@pytest.mark.parametrize("seed", range(80))
def test_no_ensemble_is_below_the_bound(seed):
    drawn = draw(seed)
    best, start = drawn.best_value(), drawn.risk.value_at_constant
    for node_limit in (None, 1):
        assert proof_of(drawn, node_limit=node_limit).bound.value <= best + 1e-12 * start


@pytest.mark.parametrize("seed", range(40))
def test_bound_of_equal_total_weight_is_true_and_tight(seed):
    drawn = draw(seed)
    risk = drawn.risk
    relaxed = RestrictedProblem(risk)
    relaxed.add(drawn.columns())
    # All columns are there: the solution is the best ensemble of its total weight.
    relaxed.solve(drawn.l2_regularization)
    value = risk.value(relaxed.raw_predictions)
    if relaxed.total_weight == 0.0:
        return
    proof = proof_of(drawn, EnsemblesOfWeight(relaxed.total_weight))
    gain = risk.value_at_constant - value
    assert proof.bound.value <= value + 1e-12 * risk.value_at_constant
    assert proof.bound.value >= value - 0.02 * gain


@pytest.mark.parametrize("seed", range(40))
def test_proofs_pass_the_check(seed):
    drawn = draw(seed)
    compared = EnsemblesOfSize(drawn.n_terms, drawn.l2_regularization)
    for each in (compared, EnsemblesOfWeight(0.5)):
        bound = proof_of(drawn, each).bound
        assert is_proven(drawn.covered, drawn.risk, each, bound, drawn.max_conditions)


@pytest.mark.parametrize("change", ["value", "largest_sum", "forces", "sign"])
def test_check_refuses_what_is_not_proven(change):
    drawn = next(
        drawn
        for drawn in map(draw, range(1, 99, 2))
        if drawn.risk.fit_intercept and proof_of(drawn).bound.value > 0.1
    )
    bound = proof_of(drawn).bound
    forces = bound.forces.copy()
    if change == "forces":
        forces[np.argmax(np.abs(forces))] *= 0.5
    changed = {
        "value": {"value": bound.value * (1 + 1e-6)},
        "largest_sum": {"largest_sum": bound.largest_sum * 0.9},
        "forces": {"forces": forces},
        "sign": {"forces": -forces},
    }[change]
    compared = EnsemblesOfSize(drawn.n_terms, drawn.l2_regularization)
    wrong = dataclasses.replace(bound, **changed)
    assert is_proven(drawn.covered, drawn.risk, compared, bound, drawn.max_conditions)
    assert not is_proven(drawn.covered, drawn.risk, compared, wrong, drawn.max_conditions)


def test_check_looks_at_all_conjunctions():
    rng = np.random.default_rng(0)
    covered = rng.random((6, 30)) < 0.6
    forces, _ = TrainingRisk(rng.normal(size=30), SquaredLoss()).forces(np.zeros(30)), None
    for longest in (1, 2, 3, 4, None):
        sums = [
            abs(forces[np.logical_and.reduce(covered[list(query)], axis=0)].sum())
            for size in range(1, 1 + (longest or 6))
            for query in combinations(range(6), size)
        ]
        found, is_exact = largest_sum(covered, forces, longest)
        assert is_exact
        assert found == max(sums)


def test_check_notices_sums_that_are_rounded():
    _, is_exact = largest_sum(np.ones((1, 3), dtype=bool), np.array([1.0, 1e-20, -1.0]), 1)
    assert not is_exact


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
@pytest.mark.parametrize("weights", [None, np.linspace(0.3, 2.0, 40)])
def test_forces_add_up_to_nothing(loss, weights):
    rng = np.random.default_rng(1)
    y = np.where(rng.random(40) < 0.4, 1.0, -1.0)
    forces = TrainingRisk(y, loss, weights).forces(rng.normal(size=40))
    orders = [rng.permutation(40) for _ in range(5)]
    assert [forces[order].sum() for order in orders] == [0.0] * 5
    assert (forces * y <= 0).all() or isinstance(loss, SquaredLoss)


@pytest.mark.parametrize("seed", range(20))
def test_quadratic_problem_is_solved(seed):
    rng = np.random.default_rng(seed)
    columns = (rng.random((rng.integers(1, 30), 40)) < 0.4).astype(float)
    matrix, pull, price = (
        columns @ columns.T,
        columns @ rng.normal(size=40),
        10 ** rng.uniform(-2, 2),
    )
    weights = minimise_quadratic(matrix, pull, price, rng.normal(size=len(pull)).round())
    slopes, limit = pull - matrix @ weights, price * np.abs(weights).sum()
    assert (np.abs(slopes) <= limit * (1 + 1e-5)).all()
    used = weights != 0
    np.testing.assert_allclose(slopes[used], limit * np.sign(weights[used]), rtol=1e-5)


def test_duplicate_columns_do_no_harm():
    matrix, pull = np.ones((3, 3)), np.array([2.0, 2.0, 2.0])
    weights = minimise_quadratic(matrix, pull, 1.0, np.zeros(3))
    assert weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_proof_does_not_depend_on_threads(n_jobs):
    for seed in range(6):
        one, more = (proof_of(draw(seed), n_jobs=n).bound for n in (1, n_jobs))
        assert one.value == more.value
        np.testing.assert_array_equal(one.forces, more.forces)


def test_callback_ends_a_proof_with_a_true_bound():
    drawn = draw(4)
    seen = []

    def stop(progress):
        seen.append(progress)
        return True

    proof = proof_of(drawn, callback=stop)
    assert seen
    assert proof.status is SearchStatus.INTERRUPTED
    assert 0 <= proof.bound.value <= drawn.best_value()


def test_ctrl_c_ends_a_proof_with_a_true_bound():
    drawn = draw(4)

    def press(progress):
        raise KeyboardInterrupt

    proof = proof_of(drawn, callback=press)
    assert proof.status is SearchStatus.INTERRUPTED
    assert 0 <= proof.bound.value <= drawn.best_value()


def test_time_limit_ends_a_proof():
    proof = proof_of(draw(4), time_limit=1e-9)
    assert proof.status is SearchStatus.TIME_LIMIT
    assert proof.n_searches == 1


@pytest.mark.parametrize(
    ("compared", "value"),
    [(EnsemblesOfSize(0, 1.0), 8.0), (EnsemblesOfSize(2, 0.0), 0.0), (EnsemblesOfWeight(0.0), 8.0)],
)
def test_rivals_without_choice(compared, value):
    risk = TrainingRisk(np.array([1.0, 5.0]), SquaredLoss())
    proof = prove(Extents(np.array([[True, False]])), risk, compared, max_conditions=None)
    assert proof.bound.value == pytest.approx(value)
    assert proof.status is SearchStatus.OPTIMAL


def test_constant_target_needs_no_rules():
    risk = TrainingRisk(np.full(3, 2.0), SquaredLoss())
    proof = prove(Extents(np.eye(3, dtype=bool)), risk, EnsemblesOfSize(2, 1.0), max_conditions=2)
    assert proof.bound.value == 0.0


def test_single_class_needs_no_rules():
    risk = TrainingRisk(np.ones(3), LogisticLoss())
    proof = prove(Extents(np.eye(3, dtype=bool)), risk, EnsemblesOfSize(2, 1.0), max_conditions=2)
    assert 0.0 <= proof.bound.value <= risk.value_at_constant


def test_bound_of_weak_forces_is_not_negative():
    risk = TrainingRisk(np.array([1.0, 5.0]), SquaredLoss())
    bound = lower_bound(risk, EnsemblesOfWeight(100.0), risk.forces(np.full(2, 3.0)), 4.0)
    assert bound.value == 0.0
    assert not bound.forces.any()


@pytest.mark.parametrize("branching", ["conditions", "tables", "ranges", "paper"])
@pytest.mark.parametrize("longest", [1, 2, 3, 5])
def test_every_way_of_branching_finds_the_largest_sum(branching, longest):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n_rows = rng.integers(3, 40)
        covered = rng.random((rng.integers(2, 10), n_rows)) < rng.uniform(0.3, 0.8)
        forces = TrainingRisk(rng.normal(size=n_rows), SquaredLoss()).forces(np.zeros(n_rows))
        problem = SearchProblem(covered, forces, np.zeros(n_rows), 1.0)
        result = search(problem, branching=branching, max_conditions=longest)
        largest, _ = largest_sum(covered, problem.gradients, longest)
        assert result.is_optimal
        assert np.sqrt(result.bound * problem.normalizer) == pytest.approx(largest, rel=1e-14)


def test_neighbours_of_a_query_share_all_conditions_but_one():
    rng = np.random.default_rng(0)
    covered = rng.random((8, 50)) < 0.6
    problem = SearchProblem(covered, rng.normal(size=50), np.zeros(50), 1.0)
    found = beam_queries(problem, 10, max_conditions=3, starts=[(0, 1), (1, 4), (0, 4)])
    assert len(found) == 10
    assert all(len({0, 1, 4} & set(query)) >= 2 for query in found)


@pytest.mark.parametrize("seed", range(20))
def test_interrupted_and_threaded_proofs_are_true(seed):
    """However a proof ends, no ensemble is below its bounds, for any number of rules."""
    drawn = draw(seed)
    best = drawn.best_value()
    compared = EnsemblesOfSize(drawn.n_terms, drawn.l2_regularization)
    for n_calls in (0, 1, 3):
        calls = iter(range(n_calls))

        def stop(progress, calls=calls):
            return next(calls, None) is None

        for n_jobs in (1, 2):
            proof = prove(
                drawn.extents,
                drawn.risk,
                compared,
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
    compared = EnsemblesOfSize(3, drawn.l2_regularization)
    for by_size in (False, True):
        proof = prove(
            drawn.extents,
            drawn.risk,
            compared,
            max_conditions=drawn.max_conditions,
            by_size=by_size,
        )
        assert len(proof.bounds_by_size) == 4
        for n_terms in (1, 2):
            smaller = type(drawn)(
                drawn.covered,
                drawn.risk,
                drawn.max_conditions,
                n_terms,
                drawn.l2_regularization,
            )
            slack = 1e-12 * drawn.risk.value_at_constant
            assert proof.bounds_by_size[n_terms] <= smaller.best_value() + slack
    free = prove(drawn.extents, drawn.risk, EnsemblesOfWeight(1.0), max_conditions=2, by_size=True)
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
    proof = prove(drawn.extents, drawn.risk, EnsemblesOfWeight(total), **options)
    value = drawn.risk.value(relaxed.raw_predictions)
    start = drawn.risk.value_at_constant
    assert proof.bound.value <= value + 1e-12 * start
    assert proof.bound.value >= value - 0.02 * (start - value)
    assert dual_value(drawn.risk, proof.bound.forces) is not None
