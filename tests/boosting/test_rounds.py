"""Rounds of one and several outputs: exchanges, selections, limits, rules that stay or leave."""

from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from problems import all_covered
from rounds import class_constants, make_rounds, run_boost
from scipy.optimize import minimize
from scipy.special import softmax

from laconic.boosting import InitialTerm, Rounds, State, polish, select
from laconic.boosting import rounds as rounds_module
from laconic.boosting.certificate import TermColumn
from laconic.candidates.candidates import candidate_conditions
from laconic.candidates.constraints import read_constraints
from laconic.losses import MultinomialLoss, SquaredLoss
from laconic.search import SearchResult, SearchStatus, search
from laconic.terms.conditions import Condition, Query
from laconic.terms.rules import Rule, RuleEnsemble

LOSS = MultinomialLoss()
N_CLASSES, MAX_CONDITIONS = 3, 2
NAMES = ("x0", "x1", "x2")


class Problem(NamedTuple):
    """A small table with classes that depend on it, and what a fit needs to know."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    rounds: Rounds
    start: RuleEnsemble

    def boosted(self, n_terms=3, **options) -> State:
        return run_boost(self.rounds, n_terms, self.start, **options)[-1]

    def row_weights(self) -> np.ndarray:
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def risk(self, ensemble) -> float:
        """Penalised loss, straight from its definition."""
        values = LOSS.value(self.y, ensemble.raw_predictions(self.X))
        penalty = self.rounds.l2_regularization
        return self.row_weights() @ values + penalty * sum(r.weight**2 for r in ensemble) / 2


def classes_problem(seed, *, penalty=0.5, fit_intercept=True, **options) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (36, 3)).astype(float)
    scores = [2.0 * (X[:, 0] > 0) * (X[:, 1] < 2), 1.5 * (X[:, 2] > 1), 1.0 * (X[:, 1] > 0)]
    y = np.argmax(np.array(scores).T + rng.gumbel(size=(36, 3)), axis=1).astype(float)
    y[:3] = 0.0, 1.0, 2.0
    weights = rng.integers(1, 4, 36).astype(float) if seed % 2 else None
    rounds = make_rounds(
        candidate_conditions(X),
        y,
        LOSS,
        l2_regularization=penalty,
        sample_weight=weights,
        fit_intercept=fit_intercept,
        is_joint=True,
        **{"search_options": {"max_conditions": MAX_CONDITIONS}} | options,
    )
    start = class_constants(y, weights, N_CLASSES)
    if not fit_intercept:
        start = start.with_terms((), intercepts=[0.0] * N_CLASSES)
    return Problem(X, y, weights, rounds, start)


def design(problem, rules, covered) -> np.ndarray:
    """Derivatives of the raw predictions by weights and intercepts, of shape (rows, classes, n)."""
    n_rows = len(problem.y)
    n_intercepts = N_CLASSES if problem.rounds.fit_intercept else 0
    columns = np.zeros((n_rows, N_CLASSES, len(rules) + n_intercepts))
    for place, (output, rows) in enumerate(zip(rules, covered, strict=True)):
        columns[rows, output, place] = 1.0
    for output in range(n_intercepts):
        columns[:, output, len(rules) + output] = 1.0
    return columns


def best_risk(problem, rules, covered) -> tuple[float, np.ndarray]:
    """Smallest penalised loss of rules of given outputs, by a general minimiser."""
    columns, weights, y = design(problem, rules, covered), problem.row_weights(), problem.y
    penalties = np.zeros(columns.shape[2])
    penalties[: len(rules)] = problem.rounds.l2_regularization
    own = np.eye(N_CLASSES)[y.astype(int)]

    def value(w):
        return weights @ LOSS.value(y, columns @ w) + penalties @ w**2 / 2

    def slopes(w):
        gradients = weights[:, None] * (softmax(columns @ w, axis=1) - own)
        return np.tensordot(gradients, columns, 2) + penalties * w

    begin = np.zeros(columns.shape[2])
    found = minimize(value, begin, jac=slopes, method="BFGS", options={"gtol": 1e-10})
    return found.fun, found.x


def gains(problem, state, sets) -> np.ndarray:
    """What each set of rows gains in each class, to second order, beside the rules of a state.

    The other rules of the class, and its intercept, are refitted.
    """
    raw, penalty = state.ensemble.raw_predictions(problem.X), problem.rounds.l2_regularization
    weights = problem.row_weights()[:, None]
    gradients = weights * LOSS.gradients(problem.y, raw)
    hessians = weights * LOSS.hessians(problem.y, raw)
    found = np.zeros((len(sets), N_CLASSES))
    for output in range(N_CLASSES):
        pairs = zip(state.ensemble, state.columns, strict=True)
        others = [covered for rule, covered in pairs if rule.output == output]
        penalties = [penalty] * (len(others) + 1)
        if problem.rounds.fit_intercept:
            others, penalties = [*others, np.ones(len(problem.y))], [*penalties, 0.0]
        for place, rows in enumerate(sets):
            # A rule that is there already, or its opposite, gains nothing worth a search.
            if any(np.all(rows == other) or np.all(rows != other) for other in others):
                continue
            columns = np.array([rows, *others], dtype=float)
            matrix = (columns * hessians[:, output]) @ columns.T + np.diag(penalties)
            inverse = np.linalg.pinv(matrix, rcond=1e-12, hermitian=True)[0, 0]
            found[place, output] = (rows @ gradients[:, output]) ** 2 * inverse / 2
    return found / problem.row_weights().sum()


settings = pytest.mark.parametrize(
    ("penalty", "fit_intercept"), [(0.1, True), (0.5, True), (5.0, True), (0.5, False)]
)


@settings
@pytest.mark.parametrize("seed", range(4))
def test_no_exchange_of_a_rule_and_its_class_is_left(seed, penalty, fit_intercept):
    problem = classes_problem(seed, penalty=penalty, fit_intercept=fit_intercept)
    before = problem.boosted()
    *_, last = polish(problem.rounds, before)
    assert last.is_stable
    state, risk = last.state, problem.risk(last.state.ensemble)
    assert risk <= problem.risk(before.ensemble) + 1e-9
    rules = [rule.output for rule in state.ensemble]
    assert_allclose(risk, best_risk(problem, rules, state.columns)[0], rtol=1e-7)
    sets = all_covered(problem.rounds.candidates, MAX_CONDITIONS)
    for position, result in enumerate(state.results):
        others = problem.rounds.begin(state.without(position))
        if len(others.ensemble) == 0:
            others, _ = problem.rounds.refit(others)
        found = gains(problem, others, sets)
        assert result.bound >= found.max() * (1 - 1e-7)
        own = [np.array_equal(rows, state.columns[position]) for rows in sets].index(True)
        assert_allclose(result.objective_value, found[own, rules[position]], rtol=1e-6)
        # What gains most to second order, and is not the rule itself, does not lower the risk.
        for place, output in np.argwhere(found >= found.max() * (1 - 1e-9)):
            outputs = [rule.output for rule in others.ensemble] + [output]
            covered = [*others.columns, sets[place]]
            assert best_risk(problem, outputs, covered)[0] >= risk * (1 - 1e-7)


def test_rules_are_exchanged_between_classes():
    """Some of the exchanges put a rule of one class in the place of one of another."""
    n_exchanged = n_classes = 0
    for seed in range(12):
        problem = classes_problem(seed, penalty=0.05)
        state = problem.boosted(6)
        for step in polish(problem.rounds, state):
            risks = problem.risk(state.ensemble), problem.risk(step.state.ensemble)
            assert (risks[1] < risks[0]) == step.is_exchanged
            place = step.position
            n_exchanged += step.is_exchanged
            n_classes += step.state.ensemble[place].output != state.ensemble[place].output
            assert_array_equal(step.state.ensemble.covered(problem.X).T, step.state.columns)
            state = step.state
    assert n_exchanged > 5
    assert n_classes > 0


def eliminated(problem, columns, n_terms) -> list[int]:
    """Leave out the rule that costs least, to second order, until there are few; by hand."""
    left, gone = [*range(len(columns))], []
    while len(left) > 1:
        rules, covered = [columns[n].output for n in left], [columns[n].values for n in left]
        _, w = best_risk(problem, rules, covered)
        derivatives = design(problem, rules, covered)
        shares = softmax(derivatives @ w, axis=1)
        inner = shares[:, :, None] * (np.eye(N_CLASSES) - shares[:, None, :])
        inner *= problem.row_weights()[:, None, None]
        curvature = np.einsum("ika,ikl,ilb->ab", derivatives, inner, derivatives)
        curvature[: len(left), : len(left)] += problem.rounds.l2_regularization * np.eye(len(left))
        room = np.diag(np.linalg.pinv(curvature, rcond=1e-10, hermitian=True))[: len(left)]
        leaving = int(np.argmin(w[: len(left)] ** 2 / room))
        gone.append(left.pop(leaving))
    return [*left, *reversed(gone)][:n_terms]


@pytest.mark.parametrize("seed", range(6))
def test_rules_of_several_classes_are_selected_by_what_their_loss_costs(seed):
    problem = classes_problem(seed, penalty=1.0)
    rng = np.random.default_rng(seed)
    n_conditions = len(problem.rounds.candidates)
    columns, seen = [], set()
    for query in rng.permutation(list(combinations(range(n_conditions), 2))):
        covered = problem.rounds.candidates.extents.covered(query.tolist())
        keys = {covered.tobytes(), (~covered).tobytes()}
        if 3 < covered.sum() < 33 and seen.isdisjoint(keys) and len(columns) < 8:
            seen |= keys
            output = int(rng.integers(N_CLASSES))
            columns.append(TermColumn(covered, tuple(query.tolist()), rng.normal(), output))
    columns.sort(key=lambda column: -abs(column.weight))
    state = select(problem.rounds, problem.start, columns, 3)
    expected = [columns[n] for n in eliminated(problem, columns, 3)]
    # Conditions that make no difference are left out.
    for result, column in zip(state.results, expected, strict=True):
        assert {*result.query} <= {*column.query}
    assert [rule.output for rule in state.ensemble] == [column.output for column in expected]
    assert_array_equal(state.columns, [column.values for column in expected])
    best, _ = best_risk(problem, [c.output for c in expected], [c.values for c in expected])
    assert_allclose(problem.risk(state.ensemble), best, rtol=1e-7)


def test_the_same_rows_may_be_selected_for_two_classes():
    problem = classes_problem(0, penalty=1.0)
    covered = problem.rounds.candidates.extents.covered([0])
    columns = [TermColumn(covered, (0,), 1.0, 0), TermColumn(covered, (0,), 2.0, 1)]
    twins = [*columns, TermColumn(~covered, (1,), 0.5, 1)]
    state = select(problem.rounds, problem.start, twins, 3)
    assert sorted(rule.output for rule in state.ensemble) == [0, 1]


# Limits


def hard_problem(**options) -> Problem:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 10)), rng.integers(0, N_CLASSES, 200).astype(float)
    rounds = make_rounds(
        candidate_conditions(X), y, LOSS, l2_regularization=1.0, search_options=options
    )
    return Problem(X, y, None, rounds, class_constants(y, None, N_CLASSES))


@pytest.mark.parametrize("node_limit", [1, 2, 30, 300])
def test_nodes_are_limited_for_all_classes_together(node_limit):
    problem = hard_problem(node_limit=node_limit, method="optimal")
    found = problem.rounds.search(State(problem.start))
    assert found.result.status is SearchStatus.NODE_LIMIT
    assert found.result.counters["nodes"] <= max(node_limit, N_CLASSES)
    free = hard_problem(max_conditions=2).rounds.search(State(problem.start))
    assert found.result.bound >= free.result.bound * (1 - 1e-9)


def test_a_limit_is_named_as_it_was_set():
    problem = hard_problem(node_limit=31, method="optimal")
    assert problem.rounds.search(State(problem.start)).result.node_limit == 31
    problem = hard_problem(node_limit="auto", method="optimal")
    found = problem.rounds.search(State(problem.start))
    alone = search(found.problem, node_limit="auto")
    assert found.result.node_limit == N_CLASSES * alone.node_limit


def test_nodes_that_a_class_does_not_need_are_for_the_others():
    limits = watched_limits([10, 100, 0], node_limit=300)
    assert [limit.node_limit for limit in limits] == [100, 145, 190]


def test_time_is_limited_for_all_classes_together(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(rounds_module.time, "perf_counter", lambda: clock[0])
    limits = watched_limits([0, 0, 0], time_limit=6.0, clock=clock, seconds=[1.0, 2.5, 9.0])
    assert [limit.time_limit for limit in limits] == pytest.approx([2.0, 2.5, 2.5])
    late = watched_limits([0, 0, 0], time_limit=6.0, clock=clock, seconds=[7.0, 0.0, 0.0])
    assert [limit.time_limit for limit in late] == pytest.approx([2.0, 1e-3, 1e-3])


def watched_limits(n_nodes, *, clock=None, seconds=(), **options) -> list[Any]:
    """Run a round of three classes whose searches use up so much, and see what they may use."""

    def method(problem, limits, **_):
        seen.append(limits)
        if clock is not None:
            clock[0] += seconds[len(seen) - 1]
        counters = {"nodes": n_nodes[len(seen) - 1]}
        return SearchResult((), problem.objective(()), 1.0, SearchStatus.HEURISTIC, counters)

    seen = []
    problem = hard_problem(method=method, **options)
    problem.rounds.search(State(problem.start))
    return seen


def test_a_callback_that_ends_one_class_ends_the_round():
    def method(problem, limits, **_):
        seen.append(problem)
        status = SearchStatus.INTERRUPTED if len(seen) == 2 else SearchStatus.HEURISTIC
        return SearchResult((), problem.objective(()), 1.0, status)

    seen = []
    problem = hard_problem(method=method)
    assert run_boost(problem.rounds, 3, problem.start) == []
    assert len(seen) == 2


# Rules that leave, and rules that stay


def signed_problem(seed, n_rows=40):
    """Rows of which rules of positive weight alone lose their weight now and then."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    y = X[:, 0] ** 2 + X[:, 1] * X[:, 2] + rng.normal(size=n_rows)
    rounds = make_rounds(
        candidate_conditions(X, max_thresholds=2),
        y,
        SquaredLoss(),
        l2_regularization=0.01,
        is_joint=True,
        fit_intercept=True,
        constraints=read_constraints(NAMES, weight_signs="positive"),
        search_options={"max_conditions": MAX_CONDITIONS},
    )
    return X, y, rounds, RuleEnsemble((), float(y.mean()), NAMES)


def largest_gain(X, y, rounds, stage) -> tuple[float, np.ndarray]:
    """Largest gain of a rule of positive weight beside a stage, and what gains of all rows are."""
    sets = all_covered(rounds.candidates, MAX_CONDITIONS)
    gradients = SquaredLoss().gradients(y, stage.raw_predictions(X))
    others = [*stage.covered(X).T, np.ones(len(y), dtype=bool)]
    penalties = [*[rounds.l2_regularization] * len(others), 0.0]
    found = []
    for rows in sets:
        is_known = any(np.all(rows == other) or np.all(rows != other) for other in others)
        if is_known or rows @ gradients >= 0.0:
            found.append(0.0)
            continue
        columns = np.array([rows, *others], dtype=float)
        inverse = np.linalg.pinv(2.0 * columns @ columns.T + np.diag(penalties), hermitian=True)
        found.append((rows @ gradients) ** 2 * inverse[0, 0] / 2 / len(y))
    return max(found), sets


def test_certificates_are_true_where_a_rule_has_left():
    n_left = 0
    for seed in range(60):
        X, y, rounds, start = signed_problem(seed)
        *_, last = run_boost(rounds, 8, start)
        if last.n_certified is None:
            continue
        n_left += 1
        state = rounds.certified(last)
        assert state.n_certified is None
        assert [len(stage) for stage in last.stages] == [*range(len(last.ensemble) + 1)]
        assert [rule.query for rule in state.ensemble] == [rule.query for rule in last.ensemble]
        assert state.results[: last.n_certified] == last.results[: last.n_certified]
        assert [len(stage) for stage in state.stages] == [*range(len(state.ensemble) + 1)]
        for position in range(last.n_certified, len(state.ensemble)):
            result, stage = state.results[position], state.stages[position]
            assert [rule.query for rule in stage] == [r.query for r in state.ensemble[:position]]
            best, _ = largest_gain(X, y, rounds, stage)
            assert result.bound >= best * (1 - 1e-7)
            if result.is_optimal:
                assert_allclose(result.objective_value, best, rtol=1e-6)
            assert result.objective_value <= result.bound
    assert n_left > 3


def test_nothing_is_claimed_about_rules_that_were_found_beside_one_that_has_left():
    n_left = 0
    for seed in range(60):
        _, _, rounds, start = signed_problem(seed)
        n_terms = 0
        for state in run_boost(rounds, 8, start):
            if len(state.ensemble) <= n_terms:
                n_left += 1
                later = state.results[state.n_certified :]
                assert not any(result.is_optimal for result in later)
                assert all(result.bound == np.inf for result in later)
                assert [len(stage) for stage in state.stages] == [*range(len(state.ensemble) + 1)]
            n_terms = len(state.ensemble)
    assert n_left > 3


def above(threshold, feature="x0") -> Query:
    return Query((Condition(feature, ">", threshold),))


def given_rules(X, queries, **options) -> list[tuple[InitialTerm, np.ndarray]]:
    table = {name: X[:, n] for n, name in enumerate(NAMES)}
    return [
        (
            InitialTerm(query, **options),
            np.logical_and.reduce([table[p.feature] > p.value for p in query]),
        )
        for query in queries
    ]


@pytest.mark.parametrize("objective", ["joint", "stagewise"])
@pytest.mark.parametrize("signs", ["positive", "negative"])
def test_given_rules_are_never_lost(objective, signs):
    queries = [above(0.0), above(0.5, "x1"), above(-0.5, "x2")]
    n_idle = 0
    for seed in range(20):
        X, _, rounds, start = signed_problem(seed)
        constraints = read_constraints(NAMES, weight_signs=signs)
        rounds = replace(rounds, is_joint=objective == "joint", constraints=constraints)
        states = run_boost(rounds, 6, start, given=given_rules(X, queries))
        for number, state in enumerate(states, start=1):
            n_given = min(number, 3)
            assert [rule.query for rule in state.ensemble][:n_given] == queries[:n_given]
            assert all(result.status == "given" for result in state.results[:n_given])
        state = rounds.certified(states[-1])
        sign = 1 if signs == "positive" else -1
        assert all(rule.weight * sign >= 0.0 for rule in state.ensemble)
        assert all(rule.weight != 0.0 for rule in state.ensemble[3:])
        n_idle += sum(rule.weight == 0.0 for rule in state.ensemble)
        if objective == "joint":
            *_, step = polish(rounds, state)
            assert [rule.query for rule in step.state.ensemble][:3] == queries
    assert n_idle > 5


@pytest.mark.parametrize("output", [None, 2])
def test_given_rules_of_several_classes_are_never_lost(output):
    queries = [above(0.0), above(1.0, "x1")]
    for seed in range(10):
        problem = classes_problem(seed)
        constraints = read_constraints(NAMES, weight_signs="negative")
        rounds = replace(problem.rounds, constraints=constraints)
        given = given_rules(problem.X, queries, output=output)
        state = run_boost(rounds, 5, problem.start, given=given)[-1]
        assert [rule.query for rule in state.ensemble][:2] == queries
        assert all(rule.weight <= 0.0 for rule in state.ensemble)
        if output is not None:
            assert [rule.output for rule in state.ensemble][:2] == [output, output]
        *_, step = polish(rounds, rounds.certified(state))
        assert [rule.query for rule in step.state.ensemble][:2] == queries


def test_a_given_rule_is_about_the_class_for_which_it_gains_most():
    for seed in range(10):
        problem = classes_problem(seed)
        [(given, covered)] = given_rules(problem.X, [above(0.0)])
        [state] = run_boost(problem.rounds, 1, problem.start, given=[(given, covered)])
        found = gains(problem, problem.rounds.begin(State(problem.start)), [covered])
        assert state.ensemble[0].output == found[0].argmax()
        assert_allclose(state.results[0].objective_value, found.max(), rtol=1e-6)
        assert state.results[0].bound >= found.max()


def test_weights_of_given_rules_are_kept_where_nothing_is_refitted():
    X, _, rounds, start = signed_problem(0)
    rounds = replace(rounds, is_joint=False, constraints=None)
    given = given_rules(X, [above(0.0)], weight=-0.25)
    state = run_boost(rounds, 3, start, given=given)[-1]
    assert state.ensemble[0] == Rule(above(0.0), -0.25)
