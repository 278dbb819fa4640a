"""Boosting for three or more classes: each rule speaks for or against one of them.

A round poses one search per class, with the slopes and curvatures of the raw predictions of that
class, and adds the best rule of all classes. With refitted weights, a rule is judged by what is
gained once all weights of its class are refitted, to second order; then all weights of all classes
are refitted to the loss itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from laconic.boosting import NEGLIGIBLE_GAIN, GivenRule
from laconic.candidates import CandidatePropositions
from laconic.constraints import Constraints
from laconic.losses import Floats, MultinomialLoss
from laconic.model.conditions import Query
from laconic.model.merging import merged
from laconic.model.rules import Rule, RuleEnsemble
from laconic.refitting import PenalisedRisk, Point, descend, guarded_step
from laconic.search import OtherRules, SearchProblem, SearchResult, SearchStatus, search

CLASS_OBJECTIVES = ("joint", "stagewise")
"""What rules for three or more classes may be judged by."""

_EPSILON = float(np.finfo(np.float64).eps)
# Objectives this close are equal, and the first class has the rule.
_TIE = 1e-12


def boost_classes(
    candidates: CandidatePropositions,
    y: Floats,
    loss: MultinomialLoss,
    start: RuleEnsemble,
    *,
    covered: Iterable[NDArray[np.bool_]] = (),
    n_rules: int,
    l2_regularization: float,
    sample_weight: Floats | None = None,
    objective: str = "joint",
    fit_intercept: bool = True,
    search_options: Mapping[str, Any] | None = None,
    constraints: Constraints | None = None,
    given: Sequence[GivenRule] = (),
    barred: Sequence[NDArray[np.bool_]] = (),
) -> Generator[tuple[RuleEnsemble, SearchResult], None, SearchResult | None]:
    """Find one rule after the other, each the best of all classes given all before it.

    As :func:`laconic.boosting.boost`, for a target of the numbers of classes and a start with an
    output for each of them. The certificate of a rule is about all classes: no rule of any class
    has an objective above its bound. Constraints are about what rules are made of, not about signs
    of weights, and no rules are given.
    """
    options = dict(search_options or {})
    if constraints is not None:
        options["allowed"] = constraints.allowed(candidates.propositions)
    rounds = _Rounds(
        barred,
        candidates,
        y,
        loss,
        start,
        list(covered),
        l2_regularization,
        sample_weight,
        is_joint=objective == "joint",
        fit_intercept=fit_intercept,
    )
    for _ in range(n_rules):
        label, problem, result = rounds.search(options)
        if result.status is SearchStatus.INTERRUPTED:
            return None
        if not rounds.has_gain(problem, result):
            return result
        if not rounds.add(label, problem, result.query):
            return None
        yield rounds.ensemble, dataclasses.replace(result, n_halvings=rounds.n_halvings)
    return None


class _Rounds:
    """Rules so far, the raw predictions of all classes, and the next search."""

    def __init__(
        self,
        barred: Sequence[NDArray[np.bool_]],
        candidates: CandidatePropositions,
        y: Floats,
        loss: MultinomialLoss,
        start: RuleEnsemble,
        covered: list[NDArray[np.bool_]],
        l2_regularization: float,
        sample_weight: Floats | None,
        *,
        is_joint: bool,
        fit_intercept: bool,
    ) -> None:
        self.barred = barred
        self.candidates, self.y, self.loss = candidates, y, loss
        self.ensemble, self.covered = start, covered
        self.l2_regularization, self.sample_weight = l2_regularization, sample_weight
        self.is_joint, self.fit_intercept = is_joint, fit_intercept
        self.n_halvings, self.largest_gain = 0, 0.0
        self.n_classes = len(start.outputs)
        if is_joint and covered:
            self.refit()
        self.set_raw_predictions()
        self.problem: SearchProblem | None = None

    def set_raw_predictions(self) -> None:
        """Add up intercepts and weights, in the order in which the ensemble does."""
        self.raw_predictions = self.ensemble.start(len(self.y))
        for rule, covered in zip(self.ensemble, self.covered, strict=True):
            self.ensemble.add_to(self.raw_predictions, rule, covered)

    def others(self, label: int) -> OtherRules | None:
        """List the rules of a class, and its intercept, that are refitted with the next one."""
        if not self.is_joint:
            return None
        pairs = zip(self.ensemble, self.covered, strict=True)
        masks = [covered for rule, covered in pairs if rule.output == label]
        penalties = [self.l2_regularization] * len(masks)
        if self.fit_intercept:
            masks, penalties = [*masks, np.ones(len(self.y), dtype=bool)], [*penalties, 0.0]
        return OtherRules(np.array(masks, dtype=bool).reshape(-1, len(self.y)), np.array(penalties))

    def search(self, options: Mapping[str, Any]) -> tuple[int, SearchProblem, SearchResult]:
        """Find the best rule of all classes, and what is proven about it; of equals, the first."""
        gradients = self.loss.gradients(self.y, self.raw_predictions)
        hessians = self.loss.hessians(self.y, self.raw_predictions)
        found: list[tuple[SearchProblem, SearchResult]] = []
        best = 0
        for label in range(self.n_classes):
            problem = self._posed(gradients[:, label], hessians[:, label], self.others(label))
            found.append((problem, search(problem, **options)))
            results = [result for _, result in found]
            if results[-1].status is SearchStatus.INTERRUPTED:
                return label, *found[-1]
            least = (1.0 + _TIE) * results[best].objective_value
            best = label if results[-1].objective_value > least else best
        return best, found[best][0], _certificate(results, best)

    def _posed(
        self, gradients: Floats, hessians: Floats, others: OtherRules | None
    ) -> SearchProblem:
        gradients, hessians = np.ascontiguousarray(gradients), np.ascontiguousarray(hessians)
        if self.problem is None:
            self.problem = SearchProblem(
                self.candidates.extents,
                gradients,
                hessians,
                self.l2_regularization,
                self.sample_weight,
            )
        return self.problem.with_statistics(gradients, hessians, others).barring(self.barred)

    def has_gain(self, problem: SearchProblem, result: SearchResult) -> bool:
        """Tell whether a query gains more than a rounding error does."""
        if result.objective_value <= 0.0:
            return False
        gain = problem.without_others().objective(result.query)
        self.largest_gain = max(self.largest_gain, gain)
        return gain > NEGLIGIBLE_GAIN * self.largest_gain

    def add(self, label: int, problem: SearchProblem, query: tuple[int, ...]) -> bool:
        """Add the rule of a query, and refit if that is wanted; returns whether it has a weight.

        Sets: ensemble, covered, raw_predictions, n_halvings.
        """
        covered = problem.covered(query)
        weight = 0.0
        if not self.is_joint:
            weight, self.n_halvings = guarded_step(
                problem.weight(query),
                covered,
                self.y,
                self.raw_predictions,
                self.loss,
                self.l2_regularization,
                self.sample_weight,
                label,
            )
        propositions = tuple(self.candidates.propositions[p] for p in query)
        rules = (*self.ensemble, Rule(merged(Query(propositions)), weight, label))
        self.ensemble, self.covered = self.ensemble.with_rules(rules), [*self.covered, covered]
        if self.is_joint:
            self.refit()
        self.set_raw_predictions()
        return self.ensemble[-1].weight != 0.0

    def refit(self) -> None:
        """Give all rules, and the intercepts, the weights that are best together.

        Sets: ensemble, n_halvings.
        """
        intercepts = np.array([output.intercept for output in self.ensemble.outputs])
        risk = ClassRisk(
            np.array(self.covered, dtype=bool),
            np.array([rule.output for rule in self.ensemble]),
            self.y,
            intercepts,
            self.l2_regularization,
            self.sample_weight,
            fit_intercept=self.fit_intercept,
        )
        weights = [rule.weight for rule in self.ensemble]
        start = np.array([*weights, *intercepts] if self.fit_intercept else weights)
        found, self.n_halvings = descend(risk, start, is_quadratic=False)
        if self.fit_intercept:
            intercepts = found[len(weights) :]
            # All of them together are of no consequence.
            intercepts = intercepts - intercepts.mean()
        rules = (
            Rule(rule.query, weight, rule.output)
            for rule, weight in zip(self.ensemble, found.tolist(), strict=False)
        )
        self.ensemble = self.ensemble.with_rules(rules, intercepts=intercepts.tolist())


def _certificate(results: list[SearchResult], best: int) -> SearchResult:
    """Put together what the searches of all classes have shown about the best rule of them."""
    bound = max(result.bound for result in results)
    chosen = results[best]
    statuses = [result.status for result in results]
    status = SearchStatus.OPTIMAL
    if SearchStatus.HEURISTIC in statuses:
        status = SearchStatus.HEURISTIC
    elif not all(result.is_optimal for result in results):
        widest = max(results, key=lambda result: result.bound)
        status = chosen.status if widest.is_optimal else widest.status
        if (1.0 + _TIE) * chosen.objective_value >= bound:
            status = SearchStatus.OPTIMAL
    else:
        bound = chosen.bound
    counters: dict[str, int] = {}
    for result in results:
        for name, count in result.counters.items():
            counters[name] = counters.get(name, 0) + count
    return dataclasses.replace(
        chosen,
        bound=bound,
        status=status,
        counters=counters,
        seconds=sum(result.seconds for result in results),
    )


class ClassRisk(PenalisedRisk):
    """The penalised multinomial loss as a function of weights, and of intercepts if wanted.

    Rows that are covered by the same rules share their scores.
    """

    def __init__(
        self,
        covered: NDArray[np.bool_],
        outputs: NDArray[np.intp],
        y: Floats,
        intercepts: Floats,
        penalty: float,
        sample_weight: Floats | None,
        *,
        fit_intercept: bool,
    ) -> None:
        n_classes, self.n_halvings = len(intercepts), 0
        rules = OtherRules(covered, np.full(len(covered), penalty))
        cells = rules.cells()
        self.columns, self.penalties = rules.columns(cells), rules.penalties
        self.outputs, self.offsets = outputs, intercepts
        n_cells = self.columns.shape[1]
        if fit_intercept:
            self.columns = np.vstack([self.columns, np.ones((n_classes, n_cells))])
            self.outputs = np.append(outputs, np.arange(n_classes))
            self.penalties = np.append(self.penalties, np.zeros(n_classes))
            self.offsets = np.zeros(n_classes)
        places = cells * n_classes + y.astype(np.intp)
        counts = np.bincount(places, sample_weight, n_cells * n_classes)
        self.counts = counts.astype(np.float64).reshape(n_cells, n_classes)
        self.totals = self.counts.sum(axis=1)
        self.classes = np.eye(n_classes)[self.outputs]

    def _scores(self, weights: Floats) -> Floats:
        scores = (self.columns * weights[:, np.newaxis]).T @ self.classes
        return np.asarray(self.offsets + scores, dtype=np.float64)

    def value(self, weights: Floats) -> tuple[float, float]:
        """Risk at some weights, and the error to expect in it."""
        losses = -self.counts * log_softmax(self._scores(weights), axis=1)
        value = float(losses.sum() + self.penalties @ weights**2 / 2)
        return value, 8 * _EPSILON * abs(value)

    def at(self, weights: Floats) -> Point:
        """Risk at some weights, with its derivatives."""
        scores = self._scores(weights)
        shares = np.exp(log_softmax(scores, axis=1))
        expected = self.totals[:, np.newaxis] * shares
        decay = self.penalties * weights
        slopes = self._sums(expected - self.counts) + decay
        own = self.columns * shares[:, self.outputs].T
        is_same = self.outputs[:, np.newaxis] == self.outputs
        curvature = (own * self.totals) @ self.columns.T * is_same - (own * self.totals) @ own.T
        # The error to expect, from adding up and from rounding the scores.
        pulls = self._sums(expected + self.counts + np.abs(scores) * expected)
        rounding = 4 * _EPSILON * (pulls + np.abs(decay))
        excess = np.divide(np.abs(slopes), rounding, where=rounding > 0, out=np.zeros(len(slopes)))
        return Point(
            weights,
            *self.value(weights),
            slopes,
            curvature + np.diag(self.penalties),
            float(excess.max(initial=0.0)),
            rounding,
        )

    def _sums(self, values: Floats) -> Floats:
        """Add up over the cells that each rule covers the values for its class."""
        return np.asarray((self.columns * values[:, self.outputs].T).sum(axis=1), dtype=np.float64)
