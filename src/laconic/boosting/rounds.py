"""Boosting: one search per round and output, and weights for the queries found so far.

`Rounds` holds what all rounds of a fit share, and `State` a model during a fit. Everything here
takes a state and returns another one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from laconic._util.types import Bools, Floats
from laconic.boosting.refit import PenalisedRisk, ensemble_risk, guarded_step, refitted
from laconic.boosting.scale import Scale
from laconic.boosting.settings import InitialRule
from laconic.candidates.candidates import CandidateConditions
from laconic.candidates.constraints import Constraints
from laconic.losses import Loss, MultinomialLoss
from laconic.search import (
    QueryFamilies,
    RefittedTerms,
    SearchProblem,
    SearchResult,
    SearchStatus,
    search,
)
from laconic.terms.conditions import Query
from laconic.terms.formatting import merged
from laconic.terms.rules import Rule, RuleEnsemble

# A rule that gains less than this fraction of the largest gain fits rounding errors. These change
# weights by up to n_rows units in the last place, and a gain is quadratic in the weight: 1e-20 is
# above the rounding errors of a million rows, and below the gains of targets of very different
# size.
NEGLIGIBLE_GAIN = 1e-20
# Objectives that differ by no more than this fraction differ by rounding errors.
_ROUNDING = 1e-9
# Objectives of two outputs this close are equal, and the first output gets the rule.
_TIE = 1e-12


@dataclass(frozen=True, eq=False)
class State:
    """A model during a fit: its rules, the rows that they cover, and their certificates."""

    ensemble: RuleEnsemble
    covered: tuple[Bools, ...] = ()
    """The rows that each rule covers."""
    results: tuple[SearchResult, ...] = ()
    """The certificate of each rule."""
    stages: tuple[RuleEnsemble, ...] = ()
    """The models of 0, 1, 2, ... rules that led here."""
    largest_gain: float = 0.0
    """Largest gain of all rules so far, which decides what gain is negligible."""
    n_certified: int | None = None
    """Number of rules before the first one that was found beside a rule which has left the model
    since, so that its certificate no longer holds; None if there is no such rule."""

    def first(self, n_terms: int) -> State:
        """Return the first rules."""
        return self.only(range(n_terms))

    def without(self, position: int) -> State:
        """Return all rules but one."""
        return self.only([n for n in range(len(self.ensemble)) if n != position])

    def only(self, positions: Sequence[int]) -> State:
        """Return some of the rules."""
        return replace(
            self,
            ensemble=self.ensemble.with_terms(self.ensemble[n] for n in positions),
            covered=tuple(self.covered[n] for n in positions),
            # During its search, a rule has no certificate yet.
            results=tuple(self.results[n] for n in positions if n < len(self.results)),
        )

    def divided_by(self, scale: Scale) -> State:
        """Divide all weights, and what is proven about them, by a scale."""
        if scale.exponent == 0:
            return self
        return replace(
            self,
            ensemble=scale.ensemble(self.ensemble),
            stages=tuple(map(scale.ensemble, self.stages)),
            results=tuple(map(scale.objectives, self.results)),
        )


class BarredRows(NamedTuple):
    """A set of rows that no rule may cover exactly."""

    rows: Bools
    output: int | None = None
    """None for rules of all outputs."""


@dataclass(frozen=True, eq=False)
class Found:
    """The best query of all outputs at a position of the model."""

    state: State
    """The rules beside it."""
    raw_predictions: Floats
    problems: tuple[SearchProblem, ...]
    """One for each output."""
    free_problems: tuple[SearchProblem, ...]
    """The same without excluded rules, which given rules may be."""
    output: int
    result: SearchResult
    """The query, and the bound for the queries of all outputs."""

    @property
    def problem(self) -> SearchProblem:
        """The search problem of its output."""
        return self.problems[self.output]

    @property
    def covered(self) -> Bools:
        """The rows that the query covers."""
        return self.problem.covered(self.result.query)

    @property
    def gain(self) -> float:
        """Gain of the query if all other weights stay as they are.

        Where other rules determine its rows to within rounding, its gain after a refit consists of
        rounding errors.
        """
        return self.problem.stagewise().objective(self.result.query)


@dataclass(frozen=True, eq=False)
class Rounds:
    """What all rounds of a fit share: rows, conditions, loss and constraints.

    Parameters
    ----------
    candidates : CandidateConditions
        The conditions of queries.
    y : ndarray of shape (n_rows,)
        The target, as the loss expects it.
    loss : Loss
    l2_regularization : float
        The penalty λ.
    sample_weight : ndarray of shape (n_rows,), default=None
    is_joint : bool, default=False
        Whether all weights are refitted after every round, and rules judged by the gain of that, to
        second order, with the other rules of their output. If not, rules keep their weights, as in
        the paper.
    fit_intercept : bool, default=False
        Whether intercepts are refitted with the weights, where these are.
    constraints : Constraints, default=None
        The features that rules may use, and the signs of their weights. A rule that gets the weight
        0 from a refit leaves the model, unless it was given.
    barred : sequence of BarredRows, default=()
        Rows that no rule may cover exactly; nor their complement, which is equivalent where an
        intercept is refitted.
    search_options : mapping, default=None
        Keyword arguments of :func:`laconic.search.search`. Limits of nodes and time are per rule,
        and divided among the outputs.
    """

    candidates: CandidateConditions
    y: Floats
    loss: Loss
    _: KW_ONLY
    l2_regularization: float
    sample_weight: Floats | None = None
    is_joint: bool = False
    fit_intercept: bool = False
    constraints: Constraints | None = None
    barred: Sequence[BarredRows] = ()
    search_options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _unposed(self) -> SearchProblem:
        zeros = np.zeros(len(self.y))
        penalty, weights = self.l2_regularization, self.sample_weight
        return SearchProblem(self.candidates.extents, zeros, zeros, penalty, weights)

    @cached_property
    def _allowed(self) -> dict[int, QueryFamilies]:
        return {}

    def begin(self, state: State) -> State:
        """Return a state to continue from: with the best weights, where weights are refitted."""
        if self.is_joint and len(state.ensemble) > 0:
            state = self._without_idle(self.refit(state)[0])
        # The gain from 0 to the start, whose rounding errors are in the first gradients already.
        raw_predictions = self.raw_predictions(state)
        sizes = _outputs(np.abs(raw_predictions))
        hessians = _outputs(self.loss.hessians(self.y, raw_predictions))
        gains = [
            self._unposed.with_statistics(h * size, h).objective(())
            for h, size in zip(hessians, sizes, strict=True)
        ]
        return replace(state, largest_gain=max(gains))

    def place(self, state: State, position: int) -> State:
        """Return the rules beside one: those before it, or all others if weights are refitted."""
        others = state.without(position) if self.is_joint else state.first(position)
        if self.is_joint and len(others.ensemble) == 0:
            others, _ = self.refit(others)
        return self.begin(others)

    def raw_predictions(self, state: State) -> Floats:
        """Add up intercepts and weights, in the order in which the ensemble does."""
        raw_predictions = state.ensemble.start(len(self.y))
        for rule, covered in zip(state.ensemble, state.covered, strict=True):
            state.ensemble.add_to(raw_predictions, rule, covered)
        return raw_predictions

    def search(self, state: State, barred: Sequence[BarredRows] = ()) -> Found:
        """Find the best query of all outputs beside the rules of a state; of equals, the first."""
        raw_predictions = self.raw_predictions(state)
        gradients = _outputs(self.loss.gradients(self.y, raw_predictions))
        hessians = _outputs(self.loss.hessians(self.y, raw_predictions))
        sets = [*self.barred, *barred]
        if self.is_joint and self.fit_intercept:
            sets += [BarredRows(~rows, output) for rows, output in sets]
        free = tuple(
            self._unposed.with_statistics(g, h, self._others(state, output))
            for output, (g, h) in enumerate(zip(gradients, hessians, strict=True))
        )
        problems = tuple(
            problem.excluding([rows for rows, of_output in sets if of_output in (None, output)])
            for output, problem in enumerate(free)
        )
        results: list[SearchResult] = []
        best, started = 0, time.perf_counter()
        for output, problem in enumerate(problems):
            options = self._options(len(problems) - output, started, results)
            results.append(search(problem, families=self._queries(output), **options))
            if results[-1].status is SearchStatus.INTERRUPTED:
                best = output
                break
            least = (1.0 + _TIE) * results[best].objective_value
            best = output if results[-1].objective_value > least else best
        result = results[best]
        if len(problems) > 1:
            result = _of_all_outputs(results, best, self.search_options.get("node_limit"))
        return Found(state, raw_predictions, problems, free, best, result)

    def _queries(self, output: int) -> QueryFamilies | None:
        """Return the queries that rules of an output may have; None for all."""
        if self.constraints is None:
            return None
        if output not in self._allowed:
            conditions = self.candidates.conditions
            self._allowed[output] = self.constraints.allowed(conditions, self._output(output))
        return self._allowed[output]

    def _options(
        self, n_left: int, started: float, before: Sequence[SearchResult]
    ) -> dict[str, Any]:
        """Return options for the search of an output, with its part of the limits of a round."""
        options = dict(self.search_options)
        if n_left == 1 and not before:
            return options
        if isinstance(nodes := options.get("node_limit"), int):
            spent = sum(result.counters.get("nodes", 0) for result in before)
            options["node_limit"] = max((nodes - spent) // n_left, 1)
        if (seconds := options.get("time_limit")) is not None:
            # Limits of time must be positive.
            left = seconds - (time.perf_counter() - started)
            options["time_limit"] = max(left / n_left, 1e-3)
        return options

    def _others(self, state: State, output: int) -> RefittedTerms | None:
        """List the rules of an output, and its intercept, that are refitted with the next one."""
        if not self.is_joint:
            return None
        pairs = zip(state.ensemble, state.covered, strict=True)
        rows = [covered for rule, covered in pairs if rule.output == output]
        penalties = [self.l2_regularization] * len(rows)
        if self.fit_intercept:
            rows, penalties = [*rows, np.ones(len(self.y), dtype=bool)], [*penalties, 0.0]
        return RefittedTerms(
            np.array(rows, dtype=bool).reshape(-1, len(self.y)), np.array(penalties)
        )

    def value(self, found: Found, rule: Rule, covered: Bools) -> float:
        """Compute the objective of a rule at the position that was searched, less its cost."""
        problem = found.problems[rule.output]
        if self._sign(rule) * problem.weight_of(covered) < 0.0:
            return -self._cost(rule.query)
        return problem.objective_of(problem.value(covered)) - self._cost(rule.query)

    def _cost(self, query: Query) -> float:
        """Return the cost of the features that a rule uses."""
        return 0.0 if self.constraints is None else self.constraints.cost(query)

    def _sign(self, rule: Rule) -> int:
        if self.constraints is None:
            return 0
        return self.constraints.sign_of(rule.query, self._output(rule.output))

    def _output(self, output: int) -> int | None:
        """Return an output as constraints name it."""
        return output if isinstance(self.loss, MultinomialLoss) else None

    def add(self, state: State, found: Found) -> State | None:
        """Add the rule that was found; None if its weight is 0.

        Without refits, its step is halved until the loss, with the penalty on the weight, does not
        rise.
        """
        weight, result = 0.0, found.result
        if not self.is_joint:
            weight, n_halvings = guarded_step(
                found.problem.weight(result.query),
                found.covered,
                self.y,
                found.raw_predictions,
                self.loss,
                self.l2_regularization,
                self.sample_weight,
                self._output(found.output),
            )
            if weight == 0.0:
                return None
            result = replace(result, n_halvings=n_halvings)
        rule = Rule(self.query(result), weight, found.output)
        return self._appended(state, rule, found.covered, result)

    def query(self, result: SearchResult) -> Query:
        """Return the conditions of a search result, with several on one feature as one."""
        return merged(Query(tuple(self.candidates.conditions[p] for p in result.query)))

    def add_given(self, state: State, given: InitialRule, covered: Bools, found: Found) -> State:
        """Add a given rule instead of the one that was found.

        With constraints, its weight may be 0.
        """
        outputs = [given.output] if given.output is not None else [*range(len(found.problems))]
        if self.constraints is not None and len(outputs) > 1:
            signs_of = self.constraints.signs_of
            outputs = [output for output in outputs if signs_of(given.query, output)]
        rules = [Rule(given.query, 0.0, output) for output in outputs]
        free = replace(found, problems=found.free_problems)
        values = [self.value(free, rule, covered) for rule in rules]
        place = int(np.argmax(values))
        rule, value = rules[place], values[place]
        weight = 0.0 if self.is_joint else given.weight
        if weight is None:
            weight = found.problems[rule.output].weight_of(covered)
        if weight * self._sign(rule) < 0.0:
            weight = 0.0
        certificate = replace(
            found.result,
            query=(),
            # The cost may exceed the gain.
            objective_value=max(value, 0.0),
            bound=max(found.result.bound, value),
            status=SearchStatus.GIVEN,
        )
        added = self._appended(state, Rule(given.query, weight, rule.output), covered, certificate)
        assert added is not None  # given rules stay, with or without a weight
        return added

    def _appended(
        self, state: State, rule: Rule, covered: Bools, result: SearchResult
    ) -> State | None:
        """Append a rule, and refit if weights are refitted; None if a found rule has no weight."""
        added = replace(
            state,
            ensemble=state.ensemble.with_terms((*state.ensemble, rule)),
            covered=(*state.covered, covered),
            results=(*state.results, result),
        )
        if self.is_joint:
            added, n_halvings = self.refit(added)
            if result.status is not SearchStatus.GIVEN:
                if added.ensemble[-1].weight == 0.0:
                    # The remaining gain is a rounding error, which the refit detects.
                    return None
                result = replace(result, n_halvings=n_halvings)
                added = replace(added, results=(*state.results, result))
        return self._without_idle(replace(added, stages=(*state.stages, added.ensemble)))

    def risk(self, state: State) -> PenalisedRisk:
        """Make the penalised loss of a model, as a function of its weights and intercepts."""
        signs = None
        if self.constraints is not None:
            signs = np.array([self._sign(rule) for rule in state.ensemble], dtype=np.int_)
        return ensemble_risk(
            state.ensemble,
            state.covered,
            self.y,
            self.loss,
            self.l2_regularization,
            self.sample_weight,
            fit_intercept=self.fit_intercept,
            signs=signs,
        )

    def refit(self, state: State) -> tuple[State, int]:
        """Find the weights that are best together; returns also how often steps were halved."""
        if len(state.ensemble) == 0 and not self.fit_intercept:
            return state, 0
        ensemble, n_halvings = refitted(state.ensemble, self.risk(state))
        return replace(state, ensemble=ensemble), n_halvings

    def _without_idle(self, state: State) -> State:
        """Remove rules whose weight is 0 because of constraints, unless they were given.

        The rules after them lose their certificates.
        """
        if self.constraints is None or not self.is_joint:
            return state
        places = range(len(state.ensemble))
        is_given = [result.status is SearchStatus.GIVEN for result in state.results]
        kept = [n for n in places if state.ensemble[n].weight != 0.0 or is_given[n]]
        if len(kept) == len(places):
            return state
        n_certified = next(n for n in places if n not in kept)
        if state.n_certified is not None:
            n_certified = min(n_certified, state.n_certified)
        results = tuple(
            result
            if place < n_certified or is_given[place]
            else replace(result, status=SearchStatus.HEURISTIC, bound=np.inf)
            for place, result in enumerate(state.results)
        )
        left = replace(state, results=results, n_certified=n_certified).only(kept)
        return replace(left, stages=self.stages(left))

    def stages(self, state: State) -> tuple[RuleEnsemble, ...]:
        """Refit the first 0, 1, 2, ... rules."""
        shorter = (self.refit(state.first(n))[0] for n in range(len(state.ensemble)))
        return (*(stage.ensemble for stage in shorter), state.ensemble)

    def certified(self, state: State) -> State:
        """Search again at the positions of rules that were found beside rules which have left."""
        if state.n_certified is None:
            return state
        results = list(state.results)
        for position in range(state.n_certified, len(results)):
            if results[position].status is not SearchStatus.GIVEN:
                found = self.search(self.refit(state.first(position))[0])
                results[position] = self.certificate(state, position, found)
        return replace(state, results=tuple(results), stages=self.stages(state), n_certified=None)

    def certificate(self, state: State, position: int, found: Found) -> SearchResult:
        """Return the certificate of a rule after a search at its position."""
        rule, result = state.ensemble[position], found.result
        objective_value = max(self.value(found, rule, state.covered[position]), 0.0)
        status = result.status
        # A rule of an earlier fit may exceed the limits of the search.
        bound = max(result.bound, objective_value)
        if status is SearchStatus.OPTIMAL:
            if objective_value >= (1.0 - _ROUNDING) * result.objective_value:
                bound = objective_value
            else:
                # The rule is better by terms of third order.
                status = SearchStatus.APPROXIMATE
        return replace(
            result,
            query=state.results[position].query,
            objective_value=objective_value,
            bound=bound,
            status=status,
        )

    def is_better(self, new: State, old: State) -> bool:
        """Check whether a model has a smaller penalised loss plus costs, beyond rounding errors."""
        (new_value, new_rounding), (old_value, old_rounding) = map(self._value, (new, old))
        # Where rules fit all rows, losses are rounding errors of predictions.
        start, _ = self._value(old, scale=0.0)
        least = new_rounding + old_rounding + NEGLIGIBLE_GAIN * start
        return old_value - new_value - self._costs(new, old) > least

    def _costs(self, new: State, old: State) -> float:
        if self.constraints is None:
            return 0.0
        costs = [sum(self._cost(rule.query) for rule in each.ensemble) for each in (new, old)]
        return (costs[0] - costs[1]) * self._unposed.total_coverage

    def _value(self, state: State, scale: float = 1.0) -> tuple[float, float]:
        risk = self.risk(state)
        return risk.value(scale * risk.start)


def boost(
    rounds: Rounds, start: State, n_terms: int, given: Sequence[tuple[InitialRule, Bools]] = ()
) -> Generator[State, None, SearchResult | None]:
    """Find one rule after the other, each given all rules before it.

    A round takes the gradients and hessians of the loss at the current raw predictions, searches
    for the query with the largest objective, and gives weights to the new rule or, depending on the
    objective, to all rules. The loop ends when there are ``n_terms`` rules, when no rule improves,
    or when a callback of the search asked to stop.

    Parameters
    ----------
    rounds : Rounds
    start : State
        Rules to continue from, and intercepts, as `Rounds.begin` returned them.
    n_terms : int
        Largest number of rules.
    given : sequence of pairs of InitialRule and the rows that it covers, default=()
        Rules that come first, in this order. The certificate of each compares it with the best rule
        at its position.

    Yields
    ------
    state : State
        All rules so far, the new one last.

    Returns
    -------
    last : SearchResult or None
        The search that found no rule to add, if that is why the loop ended.

    Examples
    --------
    >>> from laconic.losses import SquaredLoss
    >>> from laconic.candidates.candidates import candidate_conditions
    >>> candidates = candidate_conditions([[1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([5.0, 5.0, 1.0, 1.0])
    >>> rounds = Rounds(candidates, y, SquaredLoss(), l2_regularization=0.0)
    >>> for state in boost(rounds, rounds.begin(State(RuleEnsemble())), n_terms=5):
    ...     print(state.ensemble[-1], state.results[-1].is_optimal)
    +5.000 if x0 <= 2 True
    +1.000 if x0 > 2 True
    """
    state, waiting = start, list(given)
    # Where rules leave, others replace them.
    for _ in range(2 * (n_terms - len(start.ensemble))):
        if len(state.ensemble) >= n_terms:
            break
        found = rounds.search(state)
        if found.result.status is SearchStatus.INTERRUPTED:
            return None
        if waiting:
            state = rounds.add_given(state, *waiting.pop(0), found)
            yield state
            continue
        state = replace(state, largest_gain=max(state.largest_gain, found.gain))
        if found.result.objective_value <= 0.0 or (
            found.gain <= NEGLIGIBLE_GAIN * state.largest_gain
        ):
            return found.result
        added = rounds.add(state, found)
        if added is None:
            return None
        state = added
        yield state
    return None


def _outputs(values: Floats) -> list[Floats]:
    """Split values into those of each output, of one or several."""
    return [np.ascontiguousarray(column) for column in values.reshape(len(values), -1).T]


def _of_all_outputs(
    results: list[SearchResult], best: int, node_limit: int | str | None
) -> SearchResult:
    """Combine the results of the searches of all outputs into the certificate of the best rule."""
    bound = max(result.bound for result in results)
    chosen = results[best]
    statuses = [result.status for result in results]
    status = SearchStatus.OPTIMAL
    if SearchStatus.INTERRUPTED in statuses:
        # The outputs after it were not searched.
        return replace(chosen, bound=np.inf)
    if SearchStatus.HEURISTIC in statuses:
        status = SearchStatus.HEURISTIC
    elif not all(result.is_optimal for result in results):
        widest = max(results, key=lambda result: result.bound)
        status = chosen.status if widest.is_optimal else widest.status
        if (1.0 + _TIE) * chosen.objective_value >= bound:
            status = SearchStatus.OPTIMAL
    else:
        bound = chosen.bound
    counters: Counter[str] = Counter()
    for result in results:
        counters.update(result.counters)
    if not isinstance(node_limit, int):
        # With "auto", each output has its own limit.
        node_limit = sum(result.node_limit or 0 for result in results) or None
    return replace(
        chosen,
        bound=bound,
        status=status,
        counters=dict(counters),
        seconds=sum(result.seconds for result in results),
        node_limit=node_limit,
    )
