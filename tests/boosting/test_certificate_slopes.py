"""Bounds on ensembles of rules and slopes, next to what brute force finds."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest
from best_terms import on_rule_scale, slopes_of
from problems import all_covered, n_drawn
from scipy.optimize import minimize

from laconic.boosting.certificate import (
    EnsemblesOfSize,
    EnsemblesOfWeight,
    TermColumn,
    TrainingRisk,
    prove,
)
from laconic.boosting.certificate.slope_columns import SlopeColumns
from laconic.boosting.certificate.verify import is_proven
from laconic.candidates.candidates import CandidateConditions, candidate_conditions
from laconic.candidates.slopes import SlopeCandidates, candidate_slopes
from laconic.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from laconic.terms.slopes import Slope


@dataclasses.dataclass(frozen=True, eq=False)
class Drawn:
    """A small problem drawn by chance."""

    risk: TrainingRisk
    candidates: CandidateConditions
    slopes: SlopeCandidates
    max_conditions: int
    l2_regularization: float
    own: tuple[tuple[Slope, np.ndarray], ...] = ()
    """A slope that is not among the candidates."""

    def natural(self):
        """The values of all slopes."""
        found = [self.slopes.values(slope) for slope in slopes_of(self.slopes)]
        return [*found, *(values for _, values in self.own)]

    def columns(self):
        """All terms on the scale of rules."""
        rules = [rows for rows in all_covered(self.candidates, self.max_conditions) if rows.any()]
        return [on_rule_scale(each, self.risk.weights) for each in (*rules, *self.natural())]

    def value_at(self, columns, outputs, w, penalty):
        """Penalised loss and slopes; intercepts come after the weights."""
        risk, n = self.risk, len(columns)
        raw = np.zeros((len(risk.y), risk.n_outputs))
        if risk.fit_intercept:
            raw += w[n:]
        np.add.at(raw.T, outputs, w[:n, np.newaxis] * columns)
        gradients = risk.by_output(risk.gradients(raw.reshape(risk.shape)))
        slopes = (columns @ gradients)[np.arange(n), outputs] + penalty * w[:n]
        free = gradients.sum(axis=0) if risk.fit_intercept else []
        value = risk.value(raw.reshape(risk.shape)) + penalty * w[:n] @ w[:n] / 2.0
        return value, np.concatenate([slopes, free])

    @property
    def n_free(self):
        return self.risk.n_outputs if self.risk.fit_intercept else 0

    def best_pair(self, rng):
        """The smallest penalised loss of two terms, of some drawn by chance."""
        columns = np.array(self.columns())
        n_left = 10 if self.risk.n_outputs == 1 else 4
        columns = columns[rng.permutation(len(columns))[:n_left]]
        pairs = [(c, output) for c in columns for output in range(self.risk.n_outputs)]
        values = [self.risk.value_at_constant]
        for chosen in combinations(pairs, 2):
            rows, outputs = np.array([c for c, _ in chosen]), np.array([o for _, o in chosen])
            found = minimize(
                lambda w, rows=rows, outputs=outputs: self.value_at(
                    rows, outputs, w, self.l2_regularization
                ),
                np.zeros(2 + self.n_free),
                jac=True,
                method="L-BFGS-B",
            )
            values.append(found.fun)
        return min(values)

    def best_of_weight(self, total_weight):
        """A small loss of all terms within a total weight; None if there are many terms.

        Parts of either sign are variables.
        """
        columns, n_outputs = np.array(self.columns()), self.risk.n_outputs
        if len(columns) * n_outputs > 30:
            return None
        signed = np.concatenate([columns, -columns])
        rows = np.repeat(signed, n_outputs, axis=0)
        outputs = np.tile(np.arange(n_outputs), len(signed))
        sums = np.arange(len(rows) + self.n_free) < len(rows)
        found = minimize(
            lambda w: self.value_at(rows, outputs, w, 0.0),
            np.zeros(len(sums)),
            jac=True,
            method="SLSQP",
            bounds=[(0.0 if each else None, None) for each in sums],
            constraints={
                "type": "ineq",
                "fun": lambda w: total_weight - sums @ w,
                "jac": lambda w: -sums.astype(float),
            },
            options={"ftol": 1e-11, "maxiter": 100},
        )
        weights = np.where(sums, np.maximum(found.x, 0.0), found.x)
        weights[sums] *= min(1.0, total_weight / max(weights[sums].sum(), 1e-300))
        return self.value_at(rows, outputs, weights, 0.0)[0]

    def prove(self, compared=None, **options):
        compared = compared or EnsemblesOfSize(2, self.l2_regularization)
        start = [TermColumn(values, slope=slope) for slope, values in self.own]
        return prove(
            self.candidates.extents,
            self.risk,
            compared,
            max_conditions=self.max_conditions,
            slopes=self.slopes,
            start=start,
            **options,
        )

    def is_checked(self, compared, bound, slopes=None):
        return is_proven(
            self.candidates.covered(),
            self.risk,
            compared,
            bound,
            self.max_conditions,
            slopes=self.natural() if slopes is None else slopes,
        )


def draw(seed):
    """Draw a problem of numbers, two classes or three, with skewed and missing numbers."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(5, 16)), int(rng.integers(1, 3))
    X = rng.normal(size=(n_rows, n_features)).round(1)
    if rng.random() < 0.3:
        X = np.exp(3.0 * X)
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.2] = np.nan
    first = np.nan_to_num(X[:, 0])
    weights = None if rng.random() < 0.5 else rng.integers(1, 4, n_rows) * rng.choice([1.0, 0.37])
    y, loss, n_outputs = first.clip(-3, 3) + rng.normal(size=n_rows), SquaredLoss(), 1
    if seed % 3 == 1:
        y, loss = np.where(y > 0.0, 1.0, -1.0), LogisticLoss()
    elif seed % 3 == 2:
        y, loss, n_outputs = rng.integers(0, 3, n_rows).astype(float), MultinomialLoss(), 3
    own = ()
    if rng.random() < 0.3 and np.ptp(first) > 0.1:
        values = np.clip(first, first.min(), first.max() - 0.05) - first.min()
        own = ((Slope("x0", first.min(), first.max() - 0.05, 0.0), values),)
    return rng, Drawn(
        TrainingRisk(y, loss, weights, bool(rng.random() < 0.6), n_outputs),
        candidate_conditions(X, max_thresholds=1, sample_weight=weights),
        candidate_slopes(X, max_thresholds=int(rng.integers(0, 3)), sample_weight=weights),
        int(rng.integers(1, 3)),
        float(10 ** rng.uniform(-1.5, 1.5)),
        own,
    )


@pytest.mark.parametrize("block", range(10))
def test_no_two_terms_are_below_the_bound(block):
    n_slopes = 0
    for seed in range(block * n_drawn(25), (block + 1) * n_drawn(25)):
        rng, drawn = draw(seed)
        best, slack = drawn.best_pair(rng), 1e-9 * drawn.risk.value_at_constant
        compared = EnsemblesOfSize(2, drawn.l2_regularization)
        for node_limit in (None, 1):
            proof = drawn.prove(node_limit=node_limit)
            assert proof.bound.value <= best + slack, seed
            assert drawn.is_checked(compared, proof.bound), seed
            assert len(proof.slopes) == len(drawn.natural())
        n_slopes += any(column.slope is not None for column in proof.columns)
    assert n_slopes > 0


@pytest.mark.parametrize("block", range(10))
def test_bound_of_a_total_weight_is_true_and_tight(block):
    for seed in range(block * n_drawn(12), (block + 1) * n_drawn(12)):
        rng, drawn = draw(seed)
        compared = EnsemblesOfWeight(float(rng.choice([0.1, 0.7, 3.0])))
        best, start = drawn.best_of_weight(compared.total_weight), drawn.risk.value_at_constant
        bound = drawn.prove(compared).bound
        assert drawn.is_checked(compared, bound), seed
        if best is None:
            continue
        assert bound.value <= best + 1e-9 * start, seed
        assert bound.value >= best - 0.1 * (start - best) - 1e-6 * start, seed


@pytest.mark.parametrize("seed", range(20))
def test_proofs_that_forget_a_slope_are_refused(seed):
    """A bound for rules alone is not one for rules and slopes, unless no slope matters."""
    _, drawn = draw(seed)
    compared = EnsemblesOfSize(2, drawn.l2_regularization)
    rules = prove(
        drawn.candidates.extents, drawn.risk, compared, max_conditions=drawn.max_conditions
    ).bound
    assert drawn.is_checked(compared, rules, slopes=())
    sums = [
        np.abs(drawn.risk.by_output(rules.forces).T @ on_rule_scale(values, drawn.risk.weights))
        for values in drawn.natural()
    ]
    largest = max((float(each.max()) for each in sums), default=0.0)
    if largest > rules.largest_sum * (1 + 1e-9) and rules.value > 0.0:
        assert not drawn.is_checked(compared, rules)


def test_some_proofs_that_forget_slopes_are_refused():
    n_refused = 0
    for seed in range(20):
        _, drawn = draw(seed)
        compared = EnsemblesOfSize(2, drawn.l2_regularization)
        options = {"max_conditions": drawn.max_conditions}
        rules = prove(drawn.candidates.extents, drawn.risk, compared, **options).bound
        n_refused += not drawn.is_checked(compared, rules)
    assert n_refused > 5


@pytest.mark.parametrize("seed", range(60))
def test_largest_sums_of_slopes_are_bounded_tightly(seed):
    """Sums over bins and over rows agree, and no sum is above the bound."""
    rng, drawn = draw(seed)
    columns = SlopeColumns(drawn.risk, drawn.slopes, drawn.own)
    forces = drawn.risk.forces(rng.normal(size=drawn.risk.shape))
    by_output = drawn.risk.by_output(forces)
    standard = [on_rule_scale(values, drawn.risk.weights) for values in drawn.natural()]
    expected = np.array(standard).reshape(-1, len(drawn.risk.y)) @ by_output
    sums, bounds = columns.sums(forces)
    scale = np.abs(by_output).sum()
    np.testing.assert_allclose(sums, expected, atol=1e-10 * scale * columns.reach)
    assert (bounds >= np.abs(expected) * (1 - 1e-12)).all()
    largest = columns.largest_sum(forces)
    exact = np.abs(expected).max(initial=0.0)
    assert exact * (1 - 1e-13) <= largest <= exact + 1e-11 * scale * columns.reach
    assert columns.reach >= max([1.0, *(each.max() for each in standard)])


def test_slopes_that_hardly_vary_are_added_up_exactly():
    """One row of 20,000 is another one: sums over bins do not know the scale."""
    n_rows = 20_000
    x = np.full(n_rows, 1.0)
    x[:3] = 0.0, 0.5, 1e6
    rng = np.random.default_rng(0)
    risk = TrainingRisk(rng.normal(size=n_rows), SquaredLoss())
    slopes = candidate_slopes(x[:, np.newaxis])
    columns = SlopeColumns(risk, slopes)
    assert len(columns) > 0
    forces = risk.forces(np.zeros(n_rows))
    exact = max(
        abs(float(on_rule_scale(columns.values(slope), risk.weights) @ forces))
        for slope in columns.slopes
    )
    assert columns.largest_sum(forces) == pytest.approx(exact, rel=1e-9)


def test_proof_with_slopes_does_not_depend_on_threads():
    for seed in range(6):
        _, drawn = draw(seed)
        one, two = (drawn.prove(n_jobs=n_jobs, by_size=True) for n_jobs in (1, 2))
        assert one.bounds_by_size == two.bounds_by_size
        np.testing.assert_array_equal(one.bound.forces, two.bound.forces)


@pytest.mark.parametrize("seed", range(9))
def test_stopped_proofs_are_true(seed):
    rng, drawn = draw(seed)
    best = drawn.best_pair(rng) * (1 + 1e-9)
    compared = EnsemblesOfSize(2, drawn.l2_regularization)
    for n_calls in range(4):
        calls = iter(range(n_calls))
        proof = drawn.prove(callback=lambda _, calls=calls: next(calls, None) is None)
        assert proof.bound.value <= best
        assert drawn.is_checked(compared, proof.bound)
