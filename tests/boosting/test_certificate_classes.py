"""Bounds on the best possible ensemble for several classes, next to what brute force finds."""

from __future__ import annotations

import copy
import dataclasses
from itertools import combinations, islice, product

import numpy as np
import pytest
from problems import n_drawn
from scipy.optimize import minimize

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.boosting.certificate import (
    EnsemblesOfSize,
    EnsemblesOfWeight,
    TrainingRisk,
    certify,
    prove,
)
from laconic.boosting.certificate.column_generation import Pricing
from laconic.boosting.certificate.restricted_master import RestrictedProblem
from laconic.boosting.certificate.slope_columns import SlopeColumns
from laconic.boosting.certificate.verify import dual_value, is_proven
from laconic.candidates.candidates import candidate_conditions
from laconic.export.json.files import ensemble_certificate
from laconic.export.json.format import ENSEMBLE_CERTIFICATE
from laconic.losses import HuberLoss, LogisticLoss, MultinomialLoss, SquaredLoss
from laconic.search import Extents, SearchStatus
from laconic.terms.conditions import Query
from laconic.terms.rules import Rule


@dataclasses.dataclass(frozen=True, eq=False)
class Drawn:
    """A small problem drawn by chance."""

    covered: np.ndarray
    risk: TrainingRisk
    max_conditions: int
    min_coverage: float
    l2_regularization: float

    @property
    def extents(self):
        return Extents(np.ascontiguousarray(self.covered))

    @property
    def scope(self):
        return {"max_conditions": self.max_conditions, "min_coverage": self.min_coverage}

    def rules(self):
        """All different sets of rows that conjunctions cover, for each class."""
        found = {}
        for size in range(self.max_conditions + 1):
            for query in combinations(range(len(self.covered)), size):
                rows = np.logical_and.reduce(self.covered[list(query)], axis=0)
                rows = np.broadcast_to(rows, self.covered.shape[1])
                if rows.any() and self.risk.weights[rows].sum() >= self.min_coverage - 1e-9:
                    found[rows.tobytes()] = rows
        return [(rows, output) for rows in found.values() for output in range(self.risk.n_outputs)]

    def design(self, rules):
        """How raw predictions, of shape (n_rows, n_outputs), depend on weights and intercepts."""
        n_rows, n_outputs = self.risk.shape
        n_free = n_outputs if self.risk.fit_intercept else 0
        design = np.zeros((n_rows, n_outputs, len(rules) + n_free))
        for position, (rows, output) in enumerate(rules):
            design[:, output, position] = rows
        for output in range(n_free):
            design[:, output, len(rules) + output] = 1.0
        return design

    def value(self, designs, weights, penalty, n_weights):
        """Penalised loss, slopes and probabilities, for any number of designs at once."""
        risk, label = self.risk, self.risk.y.astype(int)
        raw = (designs @ weights[..., np.newaxis, :, np.newaxis])[..., 0]
        rows = np.arange(len(label))
        raw -= raw.max(axis=-1, keepdims=True)
        shares = np.exp(raw)
        totals = shares.sum(axis=-1, keepdims=True)
        losses = np.log(totals[..., 0]) - raw[..., rows, label]
        shares /= totals
        slopes = shares.copy()
        slopes[..., rows, label] -= 1.0
        decay = penalty * weights
        decay[..., n_weights:] = 0.0
        return (
            losses @ risk.weights + (decay * weights).sum(axis=-1) / 2.0,
            (designs * (slopes * risk.weights[:, np.newaxis])[..., np.newaxis]).sum(axis=(-3, -2))
            + decay,
            shares,
        )

    def best_pair(self):
        """The smallest penalised loss of all ensembles of two rules, of any classes.

        By Newton's method for all pairs at once; scipy finishes the best one.
        """
        penalty = self.l2_regularization
        designs = np.array([self.design(pair) for pair in combinations(self.rules(), 2)])
        weights = np.zeros((len(designs), designs.shape[-1]))
        ridge = np.diag([penalty] * 2 + [1e-9] * (designs.shape[-1] - 2))
        values, slopes, shares = self.value(designs, weights, penalty, 2)
        for _ in range(25):
            weighted = designs * (shares * self.risk.weights[:, np.newaxis])[..., np.newaxis]
            means, heavy = (designs * shares[..., np.newaxis]).sum(axis=2), weighted.sum(axis=2)
            flat = (len(designs), -1, weights.shape[1])
            squares = designs.reshape(flat).swapaxes(1, 2) @ weighted.reshape(flat)
            squares -= means.swapaxes(1, 2) @ heavy
            steps = np.linalg.solve(squares + ridge, slopes[..., np.newaxis])[..., 0]
            for _ in range(20):
                rises = self.value(designs, weights - steps, penalty, 2)[0] > values
                if not rises.any():
                    break
                steps[rises] /= 2.0
            before, weights = values, weights - steps
            values, slopes, shares = self.value(designs, weights, penalty, 2)
            if (before - values <= 1e-12 * before).all():
                break
        best = int(values.argmin())
        found = minimize(
            lambda each: self.value(designs[best], each, penalty, 2)[:2],
            weights[best],
            jac=True,
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-10},
        )
        assert values[best] == pytest.approx(found.fun, rel=1e-6)
        return min(values[best], found.fun)

    def best_of_weight(self, total_weight):
        """The smallest loss of all ensembles of any number of rules within a total weight.

        Positive and negative parts of weights are two variables.
        """
        rules = [(sign * rows, output) for rows, output in self.rules() for sign in (1.0, -1.0)]
        design, n_weights = self.design(rules), len(rules)
        sums = np.arange(design.shape[-1]) < n_weights
        found = minimize(
            lambda weights: self.value(design, weights, 0.0, n_weights)[:2],
            np.zeros(len(sums)),
            jac=True,
            method="SLSQP",
            bounds=[(0.0 if each else None, None) for each in sums],
            constraints={
                "type": "ineq",
                "fun": lambda weights: total_weight - sums @ weights,
                "jac": lambda weights: -sums.astype(float),
            },
            options={"ftol": 1e-12, "maxiter": 300},
        )
        # Not more than is allowed, whatever the solver takes for close enough.
        weights = np.where(sums, np.maximum(found.x, 0.0), found.x)
        weights[sums] *= min(1.0, total_weight / max(weights[sums].sum(), 1e-300))
        return self.value(design, weights, 0.0, n_weights)[0]


def draw(seed, n_outputs=None):
    """Draw a problem of three or four classes, the last of which may have no rows."""
    rng = np.random.default_rng(seed)
    n_rows, n_outputs = int(rng.integers(4, 13)), n_outputs or int(rng.integers(3, 5))
    y = rng.integers(0, n_outputs - (rng.random() < 0.1), n_rows).astype(float)
    weights = None if rng.random() < 0.5 else rng.integers(1, 4, n_rows) * rng.choice([1.0, 0.37])
    fit_intercept = bool(rng.random() < 0.6)
    return Drawn(
        rng.random((int(rng.integers(1, 4)), n_rows)) < 0.5,
        TrainingRisk(y, MultinomialLoss(), weights, fit_intercept, n_outputs),
        int(rng.integers(1, 3)),
        float(rng.choice([0.0, 0.0, 2.0])),
        float(10 ** rng.uniform(-2, 1.5)),
    )


def proof_of(drawn, compared=None, **options):
    compared = compared or EnsemblesOfSize(2, drawn.l2_regularization)
    return prove(drawn.extents, drawn.risk, compared, **drawn.scope, **options)


def is_checked(drawn, compared, bound):
    scope = drawn.scope.values()
    return is_proven(drawn.covered, drawn.risk, compared, bound, *scope)


@pytest.mark.parametrize("seed", range(n_drawn(500)))
def test_no_two_rules_are_below_the_bound(seed):
    drawn = draw(seed)
    best, slack = drawn.best_pair(), 1e-9 * drawn.risk.value_at_constant
    compared = EnsemblesOfSize(2, drawn.l2_regularization)
    for node_limit in (None, 1):
        bound = proof_of(drawn, compared, node_limit=node_limit).bound
        assert bound.value <= best + slack
        assert is_checked(drawn, compared, bound)


@pytest.mark.parametrize("seed", range(n_drawn(500)))
def test_bound_of_a_total_weight_is_true_and_tight(seed):
    drawn = draw(seed)
    compared = EnsemblesOfWeight(float(np.random.default_rng(seed).choice([0.1, 0.7, 3.0])))
    best, start = drawn.best_of_weight(compared.total_weight), drawn.risk.value_at_constant
    bound = proof_of(drawn, compared).bound
    assert bound.value <= best + 1e-9 * start
    slack = 1e-9 * drawn.risk.weights.sum()
    assert bound.value >= best - 0.02 * (start - best) - slack
    assert is_checked(drawn, compared, bound)


@pytest.mark.parametrize("scale", [1e-170, 1e150])
def test_the_scale_of_weights_and_penalty_changes_nothing(scale):
    for seed in range(5):
        drawn = draw(seed)
        risk = dataclasses.replace(drawn.risk, sample_weight=scale * drawn.risk.weights)
        scaled = Drawn(
            drawn.covered,
            risk,
            drawn.max_conditions,
            scale * drawn.min_coverage,
            scale * drawn.l2_regularization,
        )
        one, other = proof_of(drawn).bound, proof_of(scaled).bound
        assert other.value / scale == pytest.approx(one.value, rel=1e-6)
        assert is_checked(scaled, EnsemblesOfSize(2, scaled.l2_regularization), other)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_by_size_are_true(seed):
    drawn = draw(seed)
    best = drawn.best_pair()
    for by_size in (False, True):
        proof = proof_of(drawn, EnsemblesOfSize(3, drawn.l2_regularization), by_size=by_size)
        assert len(proof.bounds_by_size) == 4
        assert list(proof.bounds_by_size) == sorted(proof.bounds_by_size, reverse=True)
        assert proof.bounds_by_size[2] <= best * (1 + 1e-9)


def changed_forces(forces, change):
    forces = forces.copy()
    row, label = np.unravel_index(np.argmax(forces), forces.shape)
    own = int(np.argmin(forces[row]))
    if change == "one force":
        forces[row, label] = 0.0
    elif change == "one row":  # which adds up to 0 as before
        forces[row] = 0.0
    elif change == "no slope":  # rows and classes add up to 0 as before
        other = int(np.flatnonzero(np.arange(len(forces)) != row)[0])
        forces[row, [label, own]] += [4.0, -4.0]
        forces[other, [label, own]] -= [4.0, -4.0]
    elif change == "sign":
        forces *= -1.0
    elif change == "one class":
        forces = forces[:, 0]
    return forces


@pytest.mark.parametrize(
    ("change", "fit_intercept"),
    # Without an intercept, forces need not add up to 0 in each class.
    [("one row", True), *product(["one force", "no slope", "sign", "one class"], [True, False])],
)
def test_check_refuses_forces_that_prove_nothing(change, fit_intercept):
    # So little is claimed that it would follow from the changed forces, were they allowed.
    compared, little = EnsemblesOfWeight(1e-6), {"value": 1e-6, "largest_sum": 1e3}
    for drawn in easy_draws(fit_intercept):
        bound = dataclasses.replace(proof_of(drawn).bound, **little)
        wrong = dataclasses.replace(bound, forces=changed_forces(bound.forces, change))
        assert is_checked(drawn, compared, bound)
        assert not is_checked(drawn, compared, wrong)


@pytest.mark.parametrize("change", [{"value": 1 + 1e-6}, {"largest_sum": 0.9}])
def test_check_refuses_claims_that_do_not_follow(change):
    for drawn in easy_draws(True):
        compared = EnsemblesOfSize(2, drawn.l2_regularization)
        bound = proof_of(drawn).bound
        claims = {name: factor * getattr(bound, name) for name, factor in change.items()}
        assert not is_checked(drawn, compared, dataclasses.replace(bound, **claims))


def easy_draws(fit_intercept):
    """Some problems whose bounds are well above 0, and whose rows are of several classes."""
    found = (drawn for drawn in map(draw, range(99)) if drawn.risk.fit_intercept == fit_intercept)
    found = (each for each in found if len(np.unique(each.risk.y)) > 2)
    return list(islice((each for each in found if proof_of(each).bound.value > 0.1), 5))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_forces_are_slopes_that_add_up_to_nothing(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    n_outputs = int(rng.integers(2, 6))
    y = rng.integers(0, n_outputs, 60).astype(float)
    weights = 10.0 ** rng.uniform(-3.0 * seed, 3.0, 60)
    risk = TrainingRisk(y, MultinomialLoss(), weights, fit_intercept, n_outputs)
    forces = risk.forces(rng.normal(scale=10.0, size=(60, n_outputs)))
    orders = [rng.permutation(60) for _ in range(3)]
    assert not forces.sum(axis=1).any()
    assert all(not forces[order].sum(axis=0).any() for order in orders) or not fit_intercept
    # Only of slopes of the loss, it can be computed.
    exact = dual_value(risk, forces)
    assert exact is not None
    assert float(exact) == pytest.approx(risk.conjugate.value(forces), abs=1e-9 * weights.sum())
    assert risk.conjugate.value(forces) <= exact
    largest = risk.conjugate.largest_scale(forces)
    assert dual_value(risk, risk.conjugate.exact(largest * forces)) is not None


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rounded_forces_of_light_rows_are_slopes(fit_intercept):
    """Forces of rows that hardly count were rounded up to more than their weight."""
    weights = np.append(np.full(8, 2.0**20), np.linspace(1e-10, 4e-9, 40))
    y = np.resize([1.0, -1.0], 48)
    risk = TrainingRisk(y, LogisticLoss(), weights, fit_intercept)
    assert dual_value(risk, risk.forces(-5.0 * y)) is not None


def test_forces_that_cannot_be_balanced_are_none():
    risk = TrainingRisk(np.zeros(3), MultinomialLoss(), n_outputs=3)
    assert not risk.forces(np.zeros((3, 3))).any()


@pytest.mark.parametrize("seed", range(20))
def test_weights_of_given_columns_are_the_best_ones(seed):
    drawn = draw(seed)
    risk, rules = drawn.risk, drawn.rules()
    relaxed = RestrictedProblem(risk)
    relaxed.add(np.array([rows for rows, _ in rules]), [output for _, output in rules])
    relaxed.solve(drawn.l2_regularization)
    gradients = risk.gradients(relaxed.raw_predictions)
    slopes, limit = relaxed.sums(gradients), drawn.l2_regularization * relaxed.total_weight
    scale = risk.weights.sum()
    used = relaxed.weights != 0.0
    assert (np.abs(slopes) <= limit + 1e-3 * scale).all()
    np.testing.assert_allclose(
        slopes[used], -limit * np.sign(relaxed.weights[used]), atol=1e-3 * scale
    )
    if risk.fit_intercept:
        np.testing.assert_allclose(gradients.sum(axis=0), 0.0, atol=1e-3 * scale)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_two_classes_are_those_of_the_logistic_loss(seed, fit_intercept):
    drawn = draw(seed, n_outputs=2)
    y, weights = drawn.risk.y, drawn.risk.sample_weight
    as_two = TrainingRisk(y, MultinomialLoss(), weights, fit_intercept, 2)
    as_one = TrainingRisk(2.0 * y - 1.0, LogisticLoss(), weights, fit_intercept)
    start = as_one.value_at_constant
    assert as_two.value_at_constant == pytest.approx(start)
    for compared in (EnsemblesOfSize(2, drawn.l2_regularization), EnsemblesOfWeight(0.7)):
        one, two = (
            prove(drawn.extents, risk, compared, **drawn.scope).bound.value
            for risk in (as_one, as_two)
        )
        assert one == pytest.approx(two, abs=3e-3 * (start - one) + 1e-6 * start)


@pytest.fixture(scope="module")
def table():
    """A table of three classes that four rules tell apart, but for some noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).round(1)
    y = np.where(X[:, 0] > 0, 0, np.where((X[:, 1] > 0.5) & (X[:, 2] < 0.7), 1, 2))
    y[:10] = rng.integers(0, 3, 10)
    return X, y.astype(float)


@pytest.fixture(scope="module")
def posed(table):
    """The same as a risk, with conditions."""
    X, y = table
    candidates = candidate_conditions(X, max_thresholds=4)
    return candidates, TrainingRisk(y, MultinomialLoss(), n_outputs=3)


@pytest.mark.parametrize("compared", [EnsemblesOfSize(4, 2.0), EnsemblesOfWeight(6.0)])
def test_proof_of_an_easy_problem_closes(posed, compared):
    candidates, risk = posed
    proof = prove(candidates.extents, risk, compared, max_conditions=2)
    assert proof.status is SearchStatus.OPTIMAL
    relaxed = RestrictedProblem(risk)
    columns = proof.columns
    assert {column.output for column in columns} == {0, 1, 2}
    relaxed.add(np.array([c.values for c in columns]), [c.output for c in columns])
    if isinstance(compared, EnsemblesOfSize):
        # The relaxed ensemble is no worse than any rival, and hardly above the bound.
        relaxed.solve(2.0 / 4)
        gap = relaxed.value(2.0 / 4) - proof.bound.value
        assert gap <= 2e-3 * (risk.value_at_constant - proof.bound.value)
    covered = np.array([candidates.extents.covered([p]) for p in range(len(candidates))])
    assert is_proven(covered, risk, compared, proof.bound, 2)


@pytest.mark.parametrize("compared", [EnsemblesOfSize(4, 2.0), EnsemblesOfWeight(6.0)])
def test_proof_does_not_depend_on_threads(posed, compared):
    candidates, risk = posed
    one, two = (
        prove(candidates.extents, risk, compared, max_conditions=3, by_size=True, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert one.bound.value == two.bound.value
    assert one.bounds_by_size == two.bounds_by_size
    np.testing.assert_array_equal(one.bound.forces, two.bound.forces)


@pytest.mark.parametrize("seed", range(10))
def test_stopped_proofs_are_true(seed):
    """However a proof ends, at whichever class, no ensemble is below its bound."""
    drawn = draw(seed)
    best = drawn.best_pair() * (1 + 1e-9)
    for n_calls in range(8):
        calls = iter(range(n_calls))

        def stop(progress, calls=calls):
            return next(calls, None) is None

        assert proof_of(drawn, callback=stop).bound.value <= best

        calls = iter(range(n_calls))

        def press(progress, calls=calls):
            if next(calls, None) is None:
                raise KeyboardInterrupt

        proof = proof_of(drawn, callback=press)
        assert proof.bound.value <= best
        assert proof.status in (SearchStatus.INTERRUPTED, SearchStatus.OPTIMAL, "approximate")


def test_limits_hold_for_all_classes_together(posed):
    candidates, risk = posed
    options = {"max_conditions": 3}
    proof = prove(candidates.extents, risk, EnsemblesOfSize(4, 2.0), time_limit=1e-9, **options)
    assert proof.status is SearchStatus.TIME_LIMIT
    assert proof.n_searches == 3
    proof = prove(candidates.extents, risk, EnsemblesOfSize(4, 2.0), node_limit=6, **options)
    assert proof.status is SearchStatus.NODE_LIMIT
    assert 6 <= proof.n_nodes <= 8


def test_search_that_was_not_begun_has_a_bound(posed, monkeypatch):
    candidates, risk = posed
    scope = {"max_conditions": 3, "min_coverage": 0.0}
    limits = {"node_limit": None, "time_limit": None, "n_jobs": 1}
    pricing = Pricing(candidates.extents, SlopeColumns(risk), risk, scope, **limits)
    forces = pricing.pose()
    complete = pricing.search()
    whole = np.maximum(forces, 0.0).sum(axis=0).max()
    assert pricing.largest_sum([]) == pytest.approx(whole)
    assert pricing.largest_sum(complete) < whole

    stopped = dataclasses.replace(complete[0], status=SearchStatus.INTERRUPTED)
    monkeypatch.setattr(
        "laconic.boosting.certificate.column_generation.search", lambda *_, **__: stopped
    )
    assert pricing.search() == [stopped]
    assert pricing.status is SearchStatus.INTERRUPTED
    assert pricing.largest_sum([stopped]) >= pricing.largest_sum(complete)
    assert [column.output for column in pricing.found(0.0, [stopped])] == [0] * 32


@pytest.fixture(scope="module")
def model(table):
    options = {"l2_regularization": 2.0, "max_conditions": 2, "slopes": False, "brevity": 0.0}
    return RuleBoostingClassifier(n_terms=4, **options).fit(*table)


def certificate_of(model, X, y, compared, weights=None, **options):
    is_counted = None if weights is None else weights > 0
    counted = slice(None) if weights is None else is_counted
    candidates = candidate_conditions(X, sample_weight=weights)
    risk = TrainingRisk.of(
        y[counted],
        MultinomialLoss(),
        None if weights is None else weights[counted].astype(float),
        fit_intercept=True,
        n_outputs=3,
    )
    covered = list(model.ensemble_.covered(X)[counted].T)
    return certify(
        candidates.extents,
        candidates.conditions,
        risk,
        compared,
        model.stages,
        covered,
        max_conditions=2,
        is_counted=is_counted,
        **options,
    )


@pytest.mark.parametrize("compared", [EnsemblesOfSize(4, 2.0), EnsemblesOfWeight(5.0)])
def test_certificate_of_three_classes(model, table, compared):
    X, y = table
    certificate = certificate_of(model, X, y, compared)
    weights = np.array([rule.weight for rule in model.ensemble_])
    shares = model.predict_proba(X)[np.arange(len(y)), y.astype(int)]
    penalty = (weights**2).sum() if isinstance(compared, EnsemblesOfSize) else 0.0
    assert certificate.objective == pytest.approx(-np.log(shares).sum() + penalty)
    counts = np.bincount(y.astype(int))
    assert certificate.start == pytest.approx(-(counts * np.log(counts / len(y))).sum())
    assert certificate.forces.shape == (200, 3)
    assert certificate.trivial_share < certificate.share <= 1
    assert certificate.verify(X)
    assert not dataclasses.replace(certificate, bound=certificate.bound * 1.001).verify(X)


def test_certificate_of_an_easy_problem_says_much(model, table):
    certificate = certificate_of(model, *table, EnsemblesOfSize(4, 2.0), by_size=True)
    assert certificate.share > 0.95
    assert [size.bound <= size.objective for size in certificate.sizes] == [True] * 5
    assert "any of 3 classes, with the same penalty (2)" in str(certificate)


def test_rows_without_weight_have_no_forces(model, table):
    X, y = table
    weights = np.resize([0.0, 1.0, 2.0], len(y))
    certificate = certificate_of(model, X, y, EnsemblesOfSize(4, 2.0), weights)
    assert certificate.n_rows == (weights > 0).sum()
    assert certificate.forces.shape == (200, 3)
    assert not certificate.forces[weights == 0].any()
    assert certificate.verify(X)


def test_certificate_of_classes_comes_back_from_a_file(model, table):
    certificate = certificate_of(model, *table, EnsemblesOfSize(4, 2.0), by_size=True)
    data = ENSEMBLE_CERTIFICATE.write(certificate.to_dict())
    read = ensemble_certificate(ENSEMBLE_CERTIFICATE.read(data, "certificate"), model.ensemble_)
    assert read.to_dict() == certificate.to_dict()
    assert str(read) == str(certificate)


def test_limits_are_those_of_the_model_where_it_is_beyond_them(model, table):
    X, y = table
    long = Query(tuple(dict.fromkeys(model.ensemble_.conditions))[:3])
    rules = (*model.ensemble_, Rule(long, 0.1, 2))
    edited = copy.copy(model)
    edited.ensemble_ = model.ensemble_.with_terms(rules)
    edited.stages_ = edited.ensemble_.stages
    certificate = certificate_of(edited, X, y, EnsemblesOfWeight(5.0), min_coverage=1e4)
    assert certificate.max_conditions == 3
    assert certificate.min_coverage == edited.ensemble_.covered(X).sum(axis=0).min()
    assert 0 < certificate.share <= 1


def test_certificates_of_one_output_are_those_of_estimators(table):
    X = table[0]
    y = X[:, 0] + (X[:, 1] > 0)
    model = RuleBoostingRegressor(n_terms=3, l2_regularization=5.0, slopes=False).fit(X, y)
    known = model.certificate(X, y, by_size=True)
    candidates = candidate_conditions(X)
    found = certify(
        candidates.extents,
        candidates.conditions,
        TrainingRisk.of(y, SquaredLoss()),
        EnsemblesOfSize(3, 5.0),
        model.stages,
        list(model.ensemble_.covered(X).T),
        max_conditions=model.max_conditions,
        by_size=True,
    )
    assert found.to_dict() | {"seconds": 0} == known.to_dict() | {"seconds": 0}
    np.testing.assert_array_equal(found.forces, known.forces)


def test_proof_serves_for_another_total_weight(posed):
    candidates, risk = posed
    proof = prove(candidates.extents, risk, EnsemblesOfWeight(6.0), max_conditions=2)
    less, more = (proof.for_ensembles(EnsemblesOfWeight(weight)).bound for weight in (5.0, 7.0))
    assert less.value > proof.bound.value > more.value
    covered = np.array([candidates.extents.covered([p]) for p in range(len(candidates))])
    assert is_proven(covered, risk, EnsemblesOfWeight(5.0), less, 2)


def test_risk_refuses_what_cannot_be_bounded():
    y = np.array([0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="strategy='global' needs one of the losses"):
        TrainingRisk.of(y, HuberLoss(), what="strategy='global'")
    with pytest.raises(ValueError, match="n_outputs must be 2 or more"):
        TrainingRisk.of(y, MultinomialLoss())
    with pytest.raises(ValueError, match="n_outputs must be 1"):
        TrainingRisk.of(y, SquaredLoss(), n_outputs=3)
    with pytest.raises(ValueError, match="Multiply the target"):
        TrainingRisk.of(1e-160 * y, SquaredLoss())
