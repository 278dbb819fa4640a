"""Rules and slopes in the same rounds: the best term of both kinds, and the best weights."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from best_terms import all_worths, draw_round, on_rule_scale
from numpy.testing import assert_allclose, assert_array_equal
from problems import n_drawn
from rounds import class_constants, make_rounds, run_boost
from scipy.optimize import minimize

from laconic.boosting import Barred, State, polish, select
from laconic.boosting.certificate import TermColumn
from laconic.boosting.refit import refitted
from laconic.candidates.candidates import candidate_conditions
from laconic.candidates.constraints import read_constraints
from laconic.candidates.slopes import candidate_slopes
from laconic.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, RuleEnsemble
from laconic.terms.slopes import Slope


@pytest.mark.parametrize("block", range(10))
def test_the_best_term_of_both_kinds_is_found(block):
    """Beside up to six terms, with weights, signs, costs, missing cells, classes and bars."""
    n_slopes = 0
    for seed in range(block * n_drawn(100), (block + 1) * n_drawn(100)):
        drawn = draw_round(seed)
        found = drawn.rounds.search(drawn.state, drawn.barred)
        worths = all_worths(drawn)
        best = max((each.value for each in worths), default=0.0)
        value, slack = found.result.objective_value, 1e-7 * abs(best) + 1e-11
        assert value == pytest.approx(max(best, 0.0), abs=slack), seed
        assert found.result.bound >= best - slack, seed
        if best <= 1e-10:
            continue
        is_slope = isinstance(found.form, Slope)
        form = found.form if is_slope else found.result.query
        [own] = [e for e in worths if e.form == form and e.output == found.output]
        assert own.value == pytest.approx(best, abs=slack), seed
        n_slopes += is_slope
        # Of equal ones of an output, none is smaller.
        equal = [e for e in worths if e.output == own.output and e.value >= best * (1 - 1e-12)]
        assert own.size == min(each.size for each in equal), seed
    assert n_slopes > 0


def two_kinds(seed=0, n_rows=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    y = np.clip(X[:, 0], -1.0, 1.0) + 0.8 * (X[:, 1] > 0) + rng.normal(scale=0.1, size=n_rows)
    return X, y


def sloped_rounds(X, y, loss=None, **options):
    return make_rounds(
        candidate_conditions(X, sample_weight=options.get("sample_weight")),
        y,
        loss or SquaredLoss(),
        slopes=candidate_slopes(X, sample_weight=options.get("sample_weight")),
        **{"is_joint": True, "fit_intercept": True, "l2_regularization": 1.0} | options,
    )


@pytest.mark.parametrize("brevity", [0.0, 1.0])
def test_a_slope_is_not_found_twice_where_weights_are_refitted(brevity):
    X, y = two_kinds()
    y = y + 3.0 * X[:, 0]
    rounds = sloped_rounds(X, y, brevity=brevity, l2_regularization=30.0)
    *_, last = run_boost(rounds, 12)
    slopes = [slope.key for slope in last.ensemble.slopes]
    assert len(slopes) > 2
    assert len({*slopes}) == len(slopes)


def test_the_same_slope_may_be_of_two_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    target = np.digitize(X[:, 0] + rng.normal(size=300), [-0.5, 0.5]).astype(float)
    rounds = sloped_rounds(X, target, MultinomialLoss(), brevity=1.0)
    start = class_constants(target, None, 3)
    state = run_boost(rounds, 8, start)[-1]
    keys = [(slope.key, slope.output) for slope in state.ensemble.slopes]
    assert len({*keys}) == len(keys)
    found = rounds.search(State(start))
    assert isinstance(found.form, Slope)
    other = rounds.search(State(start), [Barred(found.form, found.output)])
    none = rounds.search(State(start), [Barred(found.form)])
    assert (other.form, other.output) != (found.form, found.output)
    assert none.form != found.form


def test_barred_slopes_are_not_found():
    X, y = two_kinds()
    rounds = sloped_rounds(X, y, brevity=1.0)
    state, barred = rounds.begin(State(RuleEnsemble())), []
    values = []
    for _ in range(10):
        found = rounds.search(state, barred)
        assert all(found.form != each.what for each in barred)
        values.append(found.result.objective_value)
        if isinstance(found.form, Slope):
            barred.append(Barred(found.form))
    assert values == sorted(values, reverse=True)
    assert len(barred) > 2
    again = replace(rounds, barred=barred).search(state)
    assert again.form == rounds.search(state, barred).form


# Ties


def tied_rounds(X, **options):
    """Rows of which the middle value of a feature does not occur: slopes are rules."""
    y = np.where(X[:, 0] > 1, 1.0, -1.0) + np.tile([0.25, -0.25], len(X) // 2)
    return sloped_rounds(X, y, l2_regularization=0.0, **options)


@pytest.mark.parametrize("brevity", [0.0, 1.0])
def test_of_equal_terms_rules_come_first(brevity):
    x = np.repeat([0.0, 1.0, 2.0], [2, 8, 10])
    x[:2] = 1.0, 1.0
    X = np.column_stack([x, np.tile([0.0, 1.0], 10)])
    X[0, 0] = 0.999999999  # a third value, without which there are no slopes
    rounds = tied_rounds(X, brevity=brevity)
    found = rounds.search(rounds.refit(State(RuleEnsemble()))[0])
    assert str(found.form) in ("x0 > 1", "x0 <= 1")


def test_of_equal_slopes_that_of_the_first_feature_is_found():
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    X = np.column_stack([rng.normal(size=40), x, x])
    rounds = sloped_rounds(X, 3.0 * x, brevity=1.0)
    found = rounds.search(rounds.refit(State(RuleEnsemble()))[0])
    assert isinstance(found.form, Slope)
    assert found.form.feature == "x1"


@pytest.mark.parametrize("strategy", ["joint", "stagewise"])
def test_threads_change_nothing(strategy):
    X, y = two_kinds(1, 200)
    states = []
    for n_jobs in (1, 2, 1):
        options = {"n_jobs": n_jobs, "max_conditions": 3}
        rounds = sloped_rounds(
            X, y, is_joint=strategy == "joint", brevity=1.0, search_options=options
        )
        states.append(run_boost(rounds, 6)[-1])
    first, *others = states
    assert first.ensemble.slopes
    for other in others:
        assert other.ensemble == first.ensemble
        assert [r.bound for r in other.results] == [r.bound for r in first.results]


# Weights


def mixed_terms(seed, n_outputs=1):
    """Rules and slopes with random values, of any unit."""
    rng = np.random.default_rng(seed)
    n_rows, n_terms = int(rng.integers(10, 50)), int(rng.integers(1, 7))
    terms, columns = [], []
    for number in range(n_terms):
        output = int(rng.integers(n_outputs))
        if rng.random() < 0.5:
            terms.append(Rule(Query((Condition(f"r{number}", ">", 0.0),)), 0.0, output))
            columns.append(rng.random(n_rows) < 0.5)
        else:
            unit = float(rng.choice([1e-6, 1.0, 1e6]))
            terms.append(Slope(f"s{number}", 0.0, 3.0 * unit, 0.0, output))
            columns.append(unit * np.clip(rng.normal(1.5, 1.5, n_rows), 0.0, 3.0))
    weights = rng.choice([0.5, 1.0, 3.3], n_rows) if rng.random() < 0.5 else None
    return rng, tuple(terms), tuple(columns), weights


class Fitted:
    """Terms with refitted weights, and what their penalised loss is by definition."""

    def __init__(self, seed, loss):
        n_outputs = 3 if isinstance(loss, MultinomialLoss) else 1
        self.rng, terms, self.columns, weights = mixed_terms(seed, n_outputs)
        n_rows = len(self.columns[0])
        self.loss, self.n_outputs = loss, n_outputs
        self.row_weights = np.ones(n_rows) if weights is None else weights
        if n_outputs > 1:
            self.y = self.rng.integers(0, 3, n_rows).astype(float)
            start = class_constants(self.y, weights, 3).with_terms(terms)
        elif isinstance(loss, LogisticLoss):
            self.y = self.rng.choice([-1.0, 1.0], n_rows)
            start = RuleEnsemble(terms)
        else:
            self.y = self.rng.normal(size=n_rows)
            start = RuleEnsemble(terms)
        self.signs = self.rng.choice([-1, 0, 1]) if self.rng.random() < 0.5 else 0
        constraints = None
        if self.signs:
            names = [name for term in terms for name in term.features]
            sign = "positive" if self.signs > 0 else "negative"
            constraints = read_constraints(names, weight_signs=sign)
        self.penalty = float(self.rng.choice([0.1, 1.0, 10.0]))
        self.rounds = make_rounds(
            candidate_conditions(np.zeros((n_rows, 1))),
            self.y,
            loss,
            l2_regularization=self.penalty,
            sample_weight=weights,
            is_joint=True,
            fit_intercept=True,
            constraints=constraints,
        )
        state = State(start, self.columns)
        self.ensemble, _ = refitted(start, self.rounds.risk(state))

    def objective(self, ensemble):
        raw = ensemble.start(len(self.y))
        decay = 0.0
        for term, values in zip(ensemble, self.columns, strict=True):
            ensemble.add_to(raw, term, values)
            # The same term on the scale of rules.
            standard = on_rule_scale(values, self.row_weights)
            largest = int(np.argmax(values))
            decay += (term.weight * float(values[largest]) / standard[largest]) ** 2
        return self.row_weights @ self.loss.value(self.y, raw) + self.penalty * decay / 2

    def best(self):
        """The smallest objective, by a general minimiser on the scale of rules."""
        Z = np.array([on_rule_scale(values, self.row_weights) for values in self.columns])
        n_terms, outputs = len(Z), [term.output for term in self.ensemble]

        def value(w):
            raw = np.tile(w[n_terms:], (len(self.y), 1))
            for z, output, weight in zip(Z, outputs, w, strict=False):
                raw[:, output] += weight * z
            raw = raw if self.n_outputs > 1 else raw[:, 0]
            slopes = (self.row_weights * self.loss.gradients(self.y, raw).T).T
            slopes = slopes.reshape(len(self.y), -1)
            gradient = [z @ slopes[:, output] for z, output in zip(Z, outputs, strict=True)]
            gradient = np.array(gradient) + self.penalty * w[:n_terms]
            total = self.row_weights @ self.loss.value(self.y, raw)
            total += self.penalty * w[:n_terms] @ w[:n_terms] / 2
            return total, np.append(gradient, slopes.sum(axis=0))

        low, high = (0.0 if self.signs > 0 else None), (0.0 if self.signs < 0 else None)
        bounds = [(low, high)] * n_terms + [(None, None)] * self.n_outputs
        begin = np.zeros(n_terms + self.n_outputs)
        options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000}
        return minimize(value, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=options)


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss(), MultinomialLoss()])
def test_weights_of_rules_and_slopes_are_the_best_ones(loss):
    n_mixed = n_signed = 0
    for seed in range(60):
        fit = Fitted(seed, loss)
        best, found = fit.best().fun, fit.objective(fit.ensemble)
        assert found == pytest.approx(best, rel=1e-7), seed
        assert all(term.weight * fit.signs >= 0.0 for term in fit.ensemble)
        n_mixed += bool(fit.ensemble.rules) and bool(fit.ensemble.slopes)
        n_signed += fit.signs != 0
    assert n_mixed > 10
    assert n_signed > 10


def test_the_unit_of_a_feature_does_not_change_what_is_found():
    X, y = two_kinds()
    usual, other = (
        run_boost(sloped_rounds(X * unit, y, brevity=1.0), 4)[-1] for unit in (1.0, 2.0**20)
    )
    assert usual.ensemble.slopes
    assert [type(term) for term in usual.ensemble] == [type(term) for term in other.ensemble]
    raw = [np.zeros(len(y)), np.zeros(len(y))]
    for each, state in zip(raw, (usual, other), strict=True):
        for term, values in zip(state.ensemble, state.columns, strict=True):
            each += term.weight * values
    # Ends are rounded to a few digits.
    assert_allclose(*raw, atol=0.05)


# Exchanges and selections


def gain_per_size(rounds, state):
    values = [rounds.risk(each).value(rounds.risk(each).start)[0] for each in both(rounds, state)]
    return (values[0] - values[1]) / max(state.ensemble.size, 1) ** rounds.brevity


def both(rounds, state):
    return rounds.refit(state.first(0))[0], state


@pytest.mark.parametrize("loss", [SquaredLoss(), LogisticLoss()])
@pytest.mark.parametrize("brevity", [0.0, 0.5, 1.0, 2.0])
def test_no_exchange_lowers_the_gain_per_size(brevity, loss):
    n_exchanged = n_kinds = 0
    for seed in range(6):
        X, y = two_kinds(seed)
        y = y + X[:, 0] * (X[:, 1] > 0)
        if isinstance(loss, LogisticLoss):
            y = np.where(y > 0.5, 1.0, -1.0)
        rounds = sloped_rounds(X, y, loss, brevity=brevity, search_options={"max_conditions": 2})
        state = run_boost(rounds, 4, RuleEnsemble((), 0.0, ("x0", "x1")))[-1]
        seen = [state.ensemble]
        for step in polish(rounds, state):
            before, after = (gain_per_size(rounds, each) for each in (state, step.state))
            assert (after > before) if step.is_exchanged else (after == before)
            if step.is_exchanged:
                old, new = (each.ensemble[step.position] for each in (state, step.state))
                n_kinds += isinstance(old, Slope) != isinstance(new, Slope)
                assert step.state.ensemble not in seen
                seen.append(step.state.ensemble)
                n_exchanged += 1
            state = step.state
            assert_array_equal(state.ensemble.raw_predictions(X), rounds.raw_predictions(state))
        assert step.is_stable
        for result in state.results:
            assert result.objective_value <= result.bound
    assert n_exchanged > 0
    assert n_kinds > 0 or brevity != 1.0


def test_a_smaller_loss_is_better_where_the_size_does_not_grow():
    X, y = two_kinds()
    rounds = sloped_rounds(X, y, brevity=1.0)
    small, large = run_boost(rounds, 2)[-1], run_boost(rounds, 6)[-1]
    assert rounds.is_better(small, rounds.refit(small.first(0))[0])
    assert not rounds.is_better(small, small)
    # Six terms have the smaller loss, but gain less per size.
    values = [rounds.risk(each).value(rounds.risk(each).start)[0] for each in (small, large)]
    assert values[1] < values[0]
    assert gain_per_size(rounds, large) < gain_per_size(rounds, small)
    assert not rounds.is_better(large, small)
    assert replace(rounds, brevity=0.0).is_better(large, small)


@pytest.mark.parametrize("brevity", [0.0, 1.0])
def test_slopes_are_selected_beside_rules(brevity):
    X, y = two_kinds()
    rounds = sloped_rounds(X, y, brevity=brevity)
    slopes = [rounds.slopes.slope(*place) for place in rounds.slopes.places()[::5]]
    columns = [TermColumn(rounds.slopes.values(each), None, 0.1, 0, each) for each in slopes]
    columns += [
        TermColumn(rounds.candidates.extents.covered([p]), (p,), 0.1)
        for p in range(len(rounds.candidates))
    ]
    twins = [*columns, columns[0]._replace(weight=0.05)]
    state = select(rounds, RuleEnsemble((), 0.0, ("x0", "x1")), twins, 4)
    assert len(state.ensemble) == 4
    assert state.ensemble.slopes
    assert state.ensemble.rules
    assert_array_equal(state.ensemble.raw_predictions(X), rounds.raw_predictions(state))
    best, _ = rounds.refit(state)
    assert_allclose([t.weight for t in best.ensemble], [t.weight for t in state.ensemble])
    assert [len(stage) for stage in state.stages] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("stops", [False, True])
def test_a_cutoff_is_for_both_kinds_of_terms(stops):
    kinds = set()
    for seed in range(n_drawn(100)):
        drawn = draw_round(seed)
        found = drawn.rounds.search(drawn.state, drawn.barred)
        best = found.result.objective_value
        if best <= 1e-9:
            continue
        kinds.add(isinstance(found.form, Slope))
        for factor in (0.2, 0.9, 1.1, 5.0):
            options = {"cutoff": factor * best, "stop_above_cutoff": stops}
            options = {**drawn.rounds.search_options, **options}
            rounds = replace(drawn.rounds, search_options=options)
            result = rounds.search(drawn.state, drawn.barred).result
            assert (result.objective_value > factor * best) == (factor < 1.0), (seed, factor)
            # A bound holds for all terms, or says that no more than the cutoff was looked for.
            assert result.bound >= (1.0 - 1e-7) * best, (seed, factor)
    assert kinds == {False, True}


@pytest.mark.parametrize("is_joint", [False, True])
def test_values_and_steps_are_those_of_the_rounds(is_joint):
    for seed in range(n_drawn(50)):
        rounds = replace(draw_round(seed).rounds, is_joint=is_joint)
        start = draw_round(seed).state.first(0)
        states = run_boost(rounds, 3, start.ensemble)
        for before, after in pairwise([rounds.begin(start), *states]):
            term, values, result = after.ensemble[-1], after.columns[-1], after.results[-1]
            if len(after.ensemble) == len(before.ensemble) + 1:
                value = rounds.value_beside(before, term, values, result)
                assert value == pytest.approx(result.objective_value, rel=1e-6), seed
        if states and not is_joint:
            other = rounds.with_target(rounds.y, rounds.sample_weight)
            stepped = replace(other, fit_intercept=False).stepped(states[-1])
            weights = [[t.weight for t in each.ensemble] for each in (stepped, states[-1])]
            assert_allclose(*weights, rtol=1e-9)
