"""Boosting: one search per round and output, and weights for the terms found so far.

`Rounds` holds what all rounds of a fit share, and `State` a model during a fit. Everything here
takes a state and returns another one.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from laconic._util.types import Floats, Values
from laconic.boosting.chance import beyond_chance
from laconic.boosting.refit import (
    PenalisedRisk,
    ensemble_risk,
    guarded_step,
    on_scale_of_rules,
    refitted,
)
from laconic.boosting.settings import InitialTerm, form_of, make_term
from laconic.boosting.state import Barred, Found, State
from laconic.boosting.term_search import ROUNDING, TermSearch
from laconic.candidates.candidates import CandidateConditions
from laconic.candidates.constraints import Constraints
from laconic.candidates.slopes import SlopeCandidates
from laconic.losses import Loss, MultinomialLoss
from laconic.search import RefittedTerms, SearchProblem, SearchResult, SearchStatus
from laconic.terms.conditions import Query
from laconic.terms.formatting import merged
from laconic.terms.rules import RuleEnsemble, Term
from laconic.terms.slopes import Slope

# A term that gains less than this fraction of the largest gain fits rounding errors. These change
# weights by up to n_rows units in the last place, and a gain is quadratic in the weight: 1e-20 is
# above the rounding errors of a million rows, and below the gains of targets of very different
# size.
NEGLIGIBLE_GAIN = 1e-20
# Objectives of two outputs this close are equal, and the first output gets the rule.
_TIE = 1e-12


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
    slopes : SlopeCandidates or None, default=None
        The slopes that terms may be; None for rules only.
    is_joint : bool, default=False
        Whether all weights are refitted after every round, and terms judged by the gain of that, to
        second order, with the other terms of their output. If not, terms keep their weights, as in
        the paper.
    fit_intercept : bool, default=False
        Whether intercepts are refitted with the weights, where these are.
    constraints : Constraints, default=None
        The features that terms may use, and the signs of their weights. A term that gets the weight
        0 from a refit leaves the model, unless it was given.
    barred : sequence of Barred, default=()
        Terms that must not be found; nor rules for the complement of the rows of one, which are
        equivalent where an intercept is refitted.
    brevity : float, default=0.0
        Terms are judged by gain / size ** brevity, where the size is 1 plus the number of
        conditions.
    beats_chance : bool, default=False
        Whether gains count only as far as they exceed what the best of as many useless terms would
        gain by chance.
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
    slopes: SlopeCandidates | None = None
    is_joint: bool = False
    fit_intercept: bool = False
    constraints: Constraints | None = None
    barred: Sequence[Barred] = ()
    brevity: float = 0.0
    beats_chance: bool = False
    search_options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _unposed(self) -> SearchProblem:
        zeros = np.zeros(len(self.y))
        penalty, weights = self.l2_regularization, self.sample_weight
        return SearchProblem(self.candidates.extents, zeros, zeros, penalty, weights)

    def with_target(self, y: Floats, sample_weight: Floats | None) -> Rounds:
        """Return the same rounds for another target, and weights that go with it."""
        other = replace(self, y=y, sample_weight=sample_weight)
        if sample_weight is self.sample_weight:
            # What was checked and converted once is the same.
            vars(other)["_unposed"] = self._unposed
        return other

    @cached_property
    def weights(self) -> Floats:
        """Weights of the rows; ones if there are none."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight

    @cached_property
    def terms(self) -> TermSearch:
        """The terms that a model may have, and what they are worth."""
        return TermSearch(self.candidates, self.slopes, self.constraints, self.brevity)

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
        """Return the terms beside one: those before it, or all others if weights are refitted."""
        others = state.without(position) if self.is_joint else state.first(position)
        if self.is_joint and len(others.ensemble) == 0:
            others, _ = self.refit(others)
        return self.begin(others)

    def raw_predictions(self, state: State) -> Floats:
        """Add up intercepts and weights, in the order in which the ensemble does."""
        raw_predictions = state.ensemble.start(len(self.y))
        for term, values in zip(state.ensemble, state.columns, strict=True):
            state.ensemble.add_to(raw_predictions, term, values)
        return raw_predictions

    def derivatives(self, state: State) -> tuple[Floats, list[Floats], list[Floats]]:
        """Compute raw predictions, and gradients and hessians of the loss for each output."""
        raw_predictions = self.raw_predictions(state)
        gradients = _outputs(self.loss.gradients(self.y, raw_predictions))
        return raw_predictions, gradients, _outputs(self.loss.hessians(self.y, raw_predictions))

    def search(self, state: State, barred: Sequence[Barred] = ()) -> Found:
        """Find the best term of all outputs beside those of a state; of equals, the first."""
        raw_predictions, gradients, hessians = self.derivatives(state)
        barred = [*self.barred, *barred]
        if self.is_joint and self.fit_intercept:
            barred += [
                each._replace(what=~each.what)
                for each in barred
                if not isinstance(each.what, Slope)
            ]
        free = tuple(
            self.pose(g, h, self.others(state, output))
            for output, (g, h) in enumerate(zip(gradients, hessians, strict=True))
        )
        problems = tuple(itertools.starmap(partial(_without, barred), enumerate(free)))
        noise = self.noise(gradients, hessians) if self.beats_chance else 0.0
        del gradients, hessians  # the problems have copies
        results: list[SearchResult] = []
        slopes: list[Slope | None] = []
        best, started = 0, time.perf_counter()
        for output, problem in enumerate(problems):
            options = self._options(len(problems) - output, started, results)
            known = self._known_slopes(state, output, barred)
            result, slope = self.terms.best(problem, self._output(output), known, noise, options)
            results.append(result)
            slopes.append(slope)
            if results[-1].status is SearchStatus.INTERRUPTED:
                best = output
                break
            least = (1.0 + _TIE) * results[best].objective_value
            best = output if results[-1].objective_value > least else best
        result, slope = results[best], slopes[best]
        if len(problems) > 1:
            result = _of_all_outputs(results, best, self.search_options.get("node_limit"))
        form = self.query(result) if slope is None else slope
        values: Values
        if slope is None or self.slopes is None:
            values = problems[best].covered(result.query)
        else:
            values = self.slopes.values(slope)
        standard = self._standard(values)
        of = (state, raw_predictions, problems, free)
        return Found(*of, best, result, form, values, standard, noise)

    def pose(
        self, gradients: Floats, hessians: Floats, others: RefittedTerms | None
    ) -> SearchProblem:
        """State the search problem of an output, given the terms that are refitted."""
        return self._unposed.with_statistics(gradients, hessians, others)

    def noise(self, gradients: Sequence[Floats], hessians: Sequence[Floats]) -> float:
        """Compute what the best of N useless terms gains by chance, per logarithm of N.

        Without any effect, (Σg)²/Σh of a term is about φ χ², with φ = Σg²/Σh and one degree of
        freedom, and the largest of N such values about 2 φ log N.
        """
        squares = sum(float(self.weights @ g**2) for g in gradients)
        curvature = sum(float(self.weights @ h) for h in hessians)
        if not 0.0 < curvature < math.inf or not math.isfinite(squares):
            return 0.0
        return squares / curvature / self._unposed.total_coverage

    def _known_slopes(self, state: State, output: int, barred: Sequence[Barred]) -> list[Slope]:
        """List the slopes that must not be found: barred ones, and those that are refitted."""
        known = [b.what for b in barred if isinstance(b.what, Slope) and b.is_of(output)]
        if self.is_joint:
            known += [t for t in state.ensemble if isinstance(t, Slope) and t.output == output]
        return known

    def _standard(self, values: Values) -> Values:
        """Return values on the scale of rules."""
        [standard], _ = on_scale_of_rules([values], self.sample_weight)
        return standard

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

    def others(self, state: State, output: int) -> RefittedTerms | None:
        """List the terms of an output, and its intercept, that are refitted with the next one."""
        if not self.is_joint:
            return None
        pairs = zip(state.ensemble, state.columns, strict=True)
        columns = [values for term, values in pairs if term.output == output]
        penalties = [self.l2_regularization] * len(columns)
        if self.fit_intercept:
            columns, penalties = [*columns, np.ones(len(self.y), dtype=bool)], [*penalties, 0.0]
        values, _ = on_scale_of_rules(columns, self.sample_weight)
        return RefittedTerms(values, np.array(penalties))

    def value(
        self, found: Found, term: Term, values: Values, result: SearchResult | None = None
    ) -> float:
        """Compute what a term, with its certificate, is worth at the position that was searched."""
        return self._worth(found.problems[term.output], term, values, result, found.noise)

    def value_beside(
        self, state: State, term: Term, values: Values, result: SearchResult | None = None
    ) -> float:
        """Compute what a term, with its certificate, is worth beside those of a state."""
        _, gradients, hessians = self.derivatives(state)
        noise = self.noise(gradients, hessians) if self.beats_chance else 0.0
        output = term.output
        problem = self.pose(gradients[output], hessians[output], self.others(state, output))
        return self._worth(problem, term, values, result, noise)

    def _worth(
        self,
        problem: SearchProblem,
        term: Term,
        values: Values,
        result: SearchResult | None,
        noise: float,
    ) -> float:
        form, standard = form_of(term), self._standard(values)
        gain = 0.0
        if self._sign(term) * problem.weight_of(standard) >= 0.0:
            gain = problem.objective_of(problem.value(standard))
        return self.terms.worth(form, gain, noise, 0 if result is None else len(result.query))

    def _sign(self, term: Term) -> int:
        if self.constraints is None:
            return 0
        return self.constraints.sign_of(form_of(term), self._output(term.output))

    def _output(self, output: int) -> int | None:
        """Return an output as constraints name it."""
        return output if isinstance(self.loss, MultinomialLoss) else None

    def add(self, state: State, found: Found) -> State | None:
        """Add the term that was found; None if its weight is 0.

        Without refits, its step is halved until the loss, with the penalty on the weight, does not
        rise.
        """
        weight, result = 0.0, found.result
        if not self.is_joint:
            weight, n_halvings = self._step(found, found.output, found.standard)
            if weight == 0.0:
                return None
            result = replace(result, n_halvings=n_halvings)
            weight = self.natural(weight, found.values)
        term = make_term(found.form, weight, found.output)
        return self._appended(state, term, found.values, result)

    def _step(self, found: Found, output: int, standard: Values) -> tuple[float, int]:
        """Find the weight of a term without refits, and how often its step was halved."""
        return guarded_step(
            found.problems[output].weight_of(standard),
            standard,
            self.y,
            found.raw_predictions,
            self.loss,
            self.l2_regularization,
            self.sample_weight,
            self._output(output),
        )

    def natural(self, weight: float, values: Values) -> float:
        """Convert a weight from the scale of rules to that of the values of a term."""
        _, [scale] = on_scale_of_rules([values], self.sample_weight)
        return weight / float(scale)

    def query(self, result: SearchResult) -> Query:
        """Return the conditions of a search result, with several on one feature as one."""
        return merged(Query(tuple(self.candidates.conditions[p] for p in result.query)))

    def add_given(self, state: State, given: InitialTerm, values: Values, found: Found) -> State:
        """Add a given term instead of the one that was found.

        With constraints, its weight may be 0.
        """
        outputs = [given.output] if given.output is not None else [*range(len(found.problems))]
        if self.constraints is not None and len(outputs) > 1:
            signs_of = self.constraints.signs_of
            outputs = [output for output in outputs if signs_of(given.form, output)]
        terms = [make_term(given.form, 0.0, output) for output in outputs]
        free = replace(found, problems=found.free_problems)
        worths = [self.value(free, term, values) for term in terms]
        place = int(np.argmax(worths))
        term, value = terms[place], worths[place]
        weight = 0.0 if self.is_joint else given.weight
        if weight is None:
            step, _ = self._step(found, term.output or 0, self._standard(values))
            weight = self.natural(step, values)
        if weight * self._sign(term) < 0.0:
            weight = 0.0
        certificate = replace(
            found.result,
            query=(),
            # The cost may exceed the gain.
            objective_value=max(value, 0.0),
            bound=max(found.result.bound, value),
            status=SearchStatus.GIVEN,
        )
        added = self._appended(state, replace(term, weight=weight), values, certificate)
        assert added is not None  # given terms stay, with or without a weight
        return added

    def _appended(
        self, state: State, term: Term, values: Values, result: SearchResult
    ) -> State | None:
        """Append a term, and refit if weights are refitted; None if a found one has no weight."""
        added = replace(
            state,
            ensemble=state.ensemble.with_terms((*state.ensemble, term)),
            columns=(*state.columns, values),
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
            signs = np.array([self._sign(term) for term in state.ensemble], dtype=np.int_)
        return ensemble_risk(
            state.ensemble,
            state.columns,
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

    def stepped(self, state: State) -> State:
        """Find the weights of the terms one after the other, as rounds without refits do.

        Terms that were given keep theirs.
        """
        found = state.first(0)
        if self.fit_intercept:
            found, _ = self.refit(found)
        for position, term in enumerate(state.ensemble):
            values, results = state.columns[position], state.results
            if position >= len(results) or results[position].status is not SearchStatus.GIVEN:
                term = replace(term, weight=self._step_beside(found, term, values))
            columns = (*found.columns, values)
            ensemble = found.ensemble.with_terms((*found.ensemble, term))
            found = replace(state, ensemble=ensemble, columns=columns, results=())
        return replace(found, results=state.results)

    def _step_beside(self, state: State, term: Term, values: Values) -> float:
        raw_predictions, gradients, hessians = self.derivatives(state)
        output, standard = term.output, self._standard(values)
        step, _ = guarded_step(
            self.pose(gradients[output], hessians[output], None).weight_of(standard),
            *(standard, self.y, raw_predictions, self.loss, self.l2_regularization),
            *(self.sample_weight, self._output(output)),
        )
        return self.natural(step, values) if step * self._sign(term) >= 0.0 else 0.0

    def _without_idle(self, state: State) -> State:
        """Remove terms whose weight is 0 because of constraints, unless they were given.

        The terms after them lose their certificates.
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
        """Refit the first 0, 1, 2, ... terms."""
        shorter = (self.refit(state.first(n))[0] for n in range(len(state.ensemble)))
        return (*(stage.ensemble for stage in shorter), state.ensemble)

    def certified(self, state: State) -> State:
        """Search again at the positions of terms that were found beside others which have left."""
        if state.n_certified is None:
            return state
        results = list(state.results)
        for position in range(state.n_certified, len(results)):
            if results[position].status is not SearchStatus.GIVEN:
                found = self.search(self.refit(state.first(position))[0])
                results[position] = self.certificate(state, position, found)
        return replace(state, results=tuple(results), stages=self.stages(state), n_certified=None)

    def certificate(self, state: State, position: int, found: Found) -> SearchResult:
        """Return the certificate of a term after a search at its position."""
        term, result = state.ensemble[position], found.result
        values, before = state.columns[position], state.results[position]
        objective_value = max(self.value(found, term, values, before), 0.0)
        status = result.status
        # A rule of an earlier fit may exceed the limits of the search.
        bound = max(result.bound, objective_value)
        if status is SearchStatus.OPTIMAL:
            if objective_value >= (1.0 - ROUNDING) * result.objective_value:
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
        """Check whether a model has the larger gain per size, beyond rounding errors.

        The gain is by how much it lowers the penalised loss plus costs from that of the best
        constant; it is divided by size ** brevity, as that of a term is. Without brevity, the
        smaller loss decides.
        """
        (new_value, new_rounding), (old_value, old_rounding) = map(self._value, (new, old))
        # Where rules fit all rows, losses are rounding errors of predictions.
        start, _ = self._value(old, scale=0.0)
        least = new_rounding + old_rounding + NEGLIGIBLE_GAIN * start
        fall = old_value - new_value - self._costs(new, old)
        if self.brevity == 0.0 or new.ensemble.size == old.ensemble.size:
            return fall > least
        constant, _ = self._value(self.refit(old.first(0))[0])
        # What the old model would have to gain, with the size of the new one.
        ratio = float((new.ensemble.size / max(old.ensemble.size, 1)) ** self.brevity)
        gain = max(constant - old_value - self._costs(old, old.first(0)), 0.0)
        return fall > (ratio - 1.0) * gain + least

    def _costs(self, new: State, old: State) -> float:
        if self.constraints is None:
            return 0.0
        costs = [sum(self.terms.cost(form_of(t)) for t in each.ensemble) for each in (new, old)]
        return (costs[0] - costs[1]) * self._unposed.total_coverage

    def _value(self, state: State, scale: float = 1.0) -> tuple[float, float]:
        risk = self.risk(state)
        return risk.value(scale * risk.start)


def boost(
    rounds: Rounds,
    start: State,
    n_terms: int,
    given: Sequence[tuple[InitialTerm, Values]] = (),
) -> Generator[State, None, SearchResult | None]:
    """Find one term after the other, each given all terms before it.

    A round takes the gradients and hessians of the loss at the current raw predictions, searches
    for the term with the largest objective, and gives weights to the new term or, depending on the
    objective, to all of them. The loop ends when there are ``n_terms`` terms, when no term
    improves, or when a callback of the search asked to stop.

    Parameters
    ----------
    rounds : Rounds
    start : State
        Terms to continue from, and intercepts, as `Rounds.begin` returned them.
    n_terms : int
        Largest number of terms.
    given : sequence of pairs of InitialTerm and its values, default=()
        Terms that come first, in this order. The certificate of each compares it with the best term
        at its position.

    Yields
    ------
    state : State
        All terms so far, the new one last.

    Returns
    -------
    last : SearchResult or None
        The search that found no term to add, if that is why the loop ended.

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
    # Where terms leave, others replace them.
    for _ in range(2 * (n_terms - len(start.ensemble))):
        if len(state.ensemble) >= n_terms:
            break
        found: Found | None = rounds.search(state)
        assert found is not None
        if found.result.status is SearchStatus.INTERRUPTED:
            return None
        if waiting:
            state = rounds.add_given(state, *waiting.pop(0), found)
            yield state
            continue
        last, found = found.result, beyond_chance(rounds, found)
        if found is None:
            return last
        if found.result.status is SearchStatus.INTERRUPTED:
            return None
        state = replace(state, largest_gain=max(state.largest_gain, found.gain))
        if found.result.objective_value <= 0.0 or (
            found.gain <= NEGLIGIBLE_GAIN * state.largest_gain
        ):
            return found.result
        if rounds.is_joint:
            # Weights come from a refit, which needs the memory of the problems.
            found = replace(found, problems=(), free_problems=())
        added = rounds.add(state, found)
        if added is None:
            return None
        state, found = added, None  # which a search of a long table needs the memory of
        yield state
    return None


def _without(barred: Sequence[Barred], output: int, problem: SearchProblem) -> SearchProblem:
    """Exclude the rows of barred rules from the problem of an output."""
    rules = (each.what for each in barred if each.is_of(output))
    return problem.excluding([what for what in rules if not isinstance(what, Slope)])


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
