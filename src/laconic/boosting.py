"""Boosting: one search per round, and weights for the queries found so far."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.candidates import CandidatePropositions
from laconic.constraints import Constraints
from laconic.losses import Floats, Loss, SquaredLoss
from laconic.model.conditions import Query
from laconic.model.merging import merged
from laconic.model.rules import Rule, RuleEnsemble
from laconic.refitting import guarded_step, refit
from laconic.search import OtherRules, SearchProblem, SearchResult, SearchStatus, search
from laconic.units import Unit, unit_of

# A rule that gains less than this share of the largest gain fits rounding errors. These change
# weights by up to n_rows units in the last place, and a gain is quadratic in the weight: 1e-20 is
# above what a million rows leave, and below what targets of very different size gain.
NEGLIGIBLE_GAIN = 1e-20

# What orthogonal boosting adds to ‖q⊥‖², in rows, so that hardly anything divided by nothing at all
# is not a gain.
_ORTHOGONAL_PENALTY = 1e-3

_ROUNDING = 8 * float(np.finfo(np.float64).eps)


def boost(
    candidates: CandidatePropositions,
    y: Floats,
    loss: Loss,
    start: RuleEnsemble | None = None,
    *,
    covered: Iterable[NDArray[np.bool_]] = (),
    n_rules: int,
    l2_regularization: float,
    sample_weight: Floats | None = None,
    objective: str = "stagewise",
    fit_intercept: bool = False,
    constraints: Constraints | None = None,
    given: Sequence[GivenRule] = (),
    barred: Sequence[NDArray[np.bool_]] = (),
    search_options: Mapping[str, Any] | None = None,
) -> Generator[tuple[RuleEnsemble, SearchResult], None, SearchResult | None]:
    """Find one rule after the other, each given all before it.

    A round takes the gradients and hessians of the loss at the current raw predictions, searches
    for the query with the largest objective, and gives weights to the new rule or, depending on the
    objective, to all rules. The loop ends after ``n_rules`` rounds, when no rule improves, or when
    a callback of the search asked to stop.

    Parameters
    ----------
    candidates : CandidatePropositions
        What queries are made of.
    y : ndarray of shape (n_rows,)
        The target, as the loss expects it.
    loss : Loss
    start : RuleEnsemble, default=None
        Rules to go on from, and the intercept; None starts from 0.
    covered : iterable of bool arrays of shape (n_rows,), default=()
        The rows that each rule of the start covers.
    n_rules : int
        Largest number of rules to add.
    l2_regularization : float
        The penalty λ.
    sample_weight : ndarray of shape (n_rows,), default=None
    objective : str, default="stagewise"
        One of ``OBJECTIVES``.
    fit_intercept : bool, default=False
        Whether the intercept is refitted with the weights, where these are.
    constraints : Constraints, default=None
        What rules may be made of, and the signs of their weights. A rule that a refit leaves
        without weight, as it would rather have the other sign, goes out.
    given : sequence of GivenRule, default=()
        Rules that come first, in this order, and count among the others. Each is judged next to the
        best one in its place.
    barred : sequence of bool arrays of shape (n_rows,), default=()
        Rows that no rule covers exactly.
    search_options : mapping, default=None
        Keyword arguments of :func:`laconic.search.search`.

    Yields
    ------
    ensemble : RuleEnsemble
        All rules so far, the new one last.
    result : SearchResult
        The certificate of the new rule's query.

    Returns
    -------
    last : SearchResult or None
        The search that found no rule to add, if that is why the loop ended.

    Examples
    --------
    >>> from laconic.losses import SquaredLoss
    >>> from laconic.candidates import candidate_propositions
    >>> candidates = candidate_propositions([[1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([5.0, 5.0, 1.0, 1.0])
    >>> for ensemble, result in boost(
    ...     candidates, y, SquaredLoss(), n_rules=5, l2_regularization=0.0
    ... ):
    ...     print(ensemble[-1], result.is_optimal)
    +5.000 if x0 <= 2 True
    +1.000 if x0 > 2 True
    """
    start = RuleEnsemble() if start is None else start
    unit = unit_of(loss, y, start, constraints)
    rounds = OBJECTIVES[objective](
        candidates,
        unit.measured(y),
        loss,
        unit.measured_ensemble(start),
        covered,
        l2_regularization,
        sample_weight,
        fit_intercept=fit_intercept,
        constraints=constraints,
    )
    rounds.begin()
    options = unit.options(search_options)
    if constraints is not None:
        options["allowed"] = constraints.allowed(candidates.propositions)
    # Where rules go out, others take their places.
    n_wanted, n_left = len(rounds.ensemble) + n_rules, 2 * n_rules
    waiting = [rule.in_unit(unit) for rule in given]
    while len(rounds.ensemble) < n_wanted and n_left > 0:
        n_left -= 1
        problem = rounds.pose().barring(barred)
        result = search(problem, **options)
        if waiting and result.status is not SearchStatus.INTERRUPTED:
            rule = waiting.pop(0)
            if rounds.add_given(problem, rule):
                certificate = rule.certificate(problem, result)
                yield unit.ensemble(rounds.ensemble), unit.result(certificate)
            continue
        if result.status is SearchStatus.INTERRUPTED:
            return None
        if not rounds.has_gain(problem, result):
            return unit.result(result)
        if not rounds.add(problem, result.query):
            return None
        result = dataclasses.replace(result, n_halvings=rounds.n_halvings)
        yield unit.ensemble(rounds.ensemble), unit.result(result)
    return None


@dataclass(frozen=True, eq=False)
class GivenRule:
    """A rule that somebody wants, whatever it gains."""

    query: Query
    covered: NDArray[np.bool_]
    weight: float | None = None
    """None for the best one; others are kept where weights are not refitted."""

    def in_unit(self, unit: Unit) -> GivenRule:
        """Tell the weight in a unit."""
        if self.weight is None:
            return self
        return dataclasses.replace(self, weight=math.ldexp(self.weight, -unit.exponent))

    def certificate(self, problem: SearchProblem, best: SearchResult) -> SearchResult:
        """Tell what it gains next to the best rule in its place."""
        value = problem.objective_of(problem.value(self.covered))
        return dataclasses.replace(
            best,
            query=(),
            objective_value=value,
            bound=max(best.bound, value),
            status=SearchStatus.GIVEN,
            n_conditions_found=None,
        )


class Stagewise:
    """The paper's rounds: rules keep their weights, and the next one makes the best of them."""

    def __init__(
        self,
        candidates: CandidatePropositions,
        y: Floats,
        loss: Loss,
        start: RuleEnsemble,
        covered: Iterable[NDArray[np.bool_]],
        l2_regularization: float,
        sample_weight: Floats | None,
        *,
        fit_intercept: bool,
        constraints: Constraints | None = None,
    ) -> None:
        self.constraints = constraints
        self.candidates, self.y, self.loss = candidates, y, loss
        self.l2_regularization, self.sample_weight = l2_regularization, sample_weight
        self.fit_intercept = fit_intercept
        self.ensemble = start
        self.covered = list(covered)
        self.n_halvings = 0

    def begin(self) -> None:
        """Take up the start.

        Sets: raw_predictions, problem, largest_gain.
        """
        self.set_raw_predictions()
        # What it takes to get from 0 to the start, whose rounding errors the first round sees
        # already.
        hessians = self.hessians()
        self.problem = SearchProblem(
            self.candidates.extents,
            hessians * np.abs(self.raw_predictions),
            hessians,
            self.search_penalty(),
            self.sample_weight,
        )
        self.largest_gain = self.problem.objective(())

    def set_raw_predictions(self) -> None:
        """Add up intercept and weights, in the order in which the ensemble does."""
        self.raw_predictions = np.full(len(self.y), self.ensemble.intercept)
        for rule, covered in zip(self.ensemble, self.covered, strict=True):
            self.raw_predictions += covered * rule.weight

    def search_penalty(self) -> float:
        """Tell the λ of the search."""
        return self.l2_regularization

    def gradients(self) -> Floats:
        """Compute the gradients of the search."""
        return self.loss.gradients(self.y, self.raw_predictions)

    def hessians(self) -> Floats:
        """Compute the hessians of the search."""
        return self.loss.hessians(self.y, self.raw_predictions)

    def others(self) -> OtherRules | None:
        """List the rules that are refitted with the next one; None if there are none."""
        return None

    def pose(self) -> SearchProblem:
        """Pose the search of a round."""
        self.problem = self.problem.with_statistics(
            self.gradients(), self.hessians(), self.others()
        )
        return self.problem

    def has_gain(self, problem: SearchProblem, result: SearchResult) -> bool:
        """Tell whether a query gains more than a rounding error does."""
        if result.objective_value <= 0.0:
            return False
        gain = self.gain(problem, result)
        self.largest_gain = max(self.largest_gain, gain)
        return gain > NEGLIGIBLE_GAIN * self.largest_gain

    def gain(self, problem: SearchProblem, result: SearchResult) -> float:
        """Tell what a query gains if all other weights stay as they are."""
        return result.objective_value

    def add(self, problem: SearchProblem, query: tuple[int, ...]) -> bool:
        """Add the rule of a query; returns whether it has a weight.

        Its step is halved until the loss, with the penalty on the weight, does not rise.

        Sets: ensemble, raw_predictions, n_halvings.
        """
        covered = problem.covered(query)
        weight, self.n_halvings = guarded_step(
            problem.weight(query),
            covered,
            self.y,
            self.raw_predictions,
            self.loss,
            self.l2_regularization,
            self.sample_weight,
        )
        if weight == 0.0:
            return False
        self.append(query, weight)
        self.raw_predictions += covered * weight
        return True

    def add_given(self, problem: SearchProblem, rule: GivenRule) -> bool:
        """Add a rule that was not searched for; returns whether it is kept.

        Sets: ensemble, covered, raw_predictions.
        """
        weight = problem.weight_of(rule.covered) if rule.weight is None else rule.weight
        sign = 0 if self.constraints is None else self.constraints.sign_of(rule.query)
        if weight * sign < 0.0:
            return False
        self.append(rule.query, weight)
        self.raw_predictions += rule.covered * weight
        return True

    def append(self, query: Query | tuple[int, ...], weight: float) -> None:
        """Append a rule to the ensemble."""
        if not isinstance(query, Query):
            query = merged(Query(tuple(self.candidates.propositions[p] for p in query)))
        self.ensemble = self.ensemble.with_rules((*self.ensemble, Rule(query, weight)))


class Joint(Stagewise):
    """All weights are refitted after a round, and a rule is judged by what that gains."""

    def begin(self) -> None:
        """Take up the start, with the best weights for its rules."""
        if len(self.ensemble) > 0:
            self.refit()
            if self.constraints is not None:
                self.drop_idle()
        super().begin()

    def refitted(self, penalty: float) -> OtherRules:
        """List the rules, and the intercept if it is one of them."""
        covered = np.array(self.covered, dtype=bool).reshape(-1, len(self.y))
        penalties = np.full(len(covered), penalty)
        if self.fit_intercept:
            covered = np.vstack([covered, np.ones((1, len(self.y)), dtype=bool)])
            penalties = np.append(penalties, 0.0)
        return OtherRules(covered, penalties)

    def signs(self) -> NDArray[np.int_] | None:
        """Tell the signs that weights must keep, the intercept last; None if any will do."""
        if self.constraints is None:
            return None
        signs = [self.constraints.sign_of(rule.query) for rule in self.ensemble]
        return np.array([*signs, 0] if self.fit_intercept else signs, dtype=np.int_)

    def others(self) -> OtherRules:
        """List the rules that are refitted with the next one."""
        return self.refitted(self.l2_regularization)

    def refit(self) -> None:
        """Give all rules the weights that are best together.

        Sets: ensemble, n_halvings.
        """
        rules, intercept = self.ensemble.rules, self.ensemble.intercept
        start = [rule.weight for rule in rules]
        found, self.n_halvings = refit(
            self.refitted(self.l2_regularization),
            self.y,
            self.loss,
            np.array([*start, intercept] if self.fit_intercept else start),
            offset=0.0 if self.fit_intercept else intercept,
            sample_weight=self.sample_weight,
            signs=self.signs(),
        )
        weights = found.tolist()
        if self.fit_intercept:
            intercept = weights.pop()
            if abs(intercept) <= _ROUNDING * min(filter(None, map(abs, weights)), default=0.0):
                intercept = 0.0  # and not what rounding left of it
        self.ensemble = self.ensemble.with_rules(
            (Rule(rule.query, weight) for rule, weight in zip(rules, weights, strict=True)),
            intercept,
        )

    def gain(self, problem: SearchProblem, result: SearchResult) -> float:
        """Tell what a query gains if all other weights stay as they are.

        Where the others imitate it to within rounding, its gain after a refit is rounding errors
        divided by next to nothing.
        """
        return problem.without_others().objective(result.query)

    def add(self, problem: SearchProblem, query: tuple[int, ...]) -> bool:
        """Add the rule of a query, and refit; returns whether it has a weight.

        Sets: ensemble, covered, raw_predictions.
        """
        self.covered.append(problem.covered(query))
        self.append(query, 0.0)  # so that the refit starts from the risk of the round before
        self.refit()
        # Without one, there is nothing left to gain but rounding errors, which the refit knows.
        has_weight = self.ensemble[-1].weight != 0.0
        if self.constraints is not None:
            self.drop_idle()
        self.set_raw_predictions()
        return has_weight

    def add_given(self, problem: SearchProblem, rule: GivenRule) -> bool:
        """Add a rule that was not searched for, and refit; returns whether it is kept."""
        self.covered.append(rule.covered)
        self.append(rule.query, 0.0)
        self.refit()
        is_kept = self.constraints is None or self.ensemble[-1].weight != 0.0
        if self.constraints is not None:
            self.drop_idle()
        self.set_raw_predictions()
        return is_kept

    def drop_idle(self) -> None:
        """Take out rules that would rather have a weight of the other sign.

        Sets: ensemble, covered.
        """
        kept = [n for n, rule in enumerate(self.ensemble) if rule.weight != 0.0]
        self.covered = [self.covered[n] for n in kept]
        self.ensemble = self.ensemble.with_rules(self.ensemble[n] for n in kept)


class Orthogonal(Joint):
    """As joint, but a rule is judged by (gᵀq⊥)² / ‖q⊥‖², as if all hessians were 1.

    Yang, Le Bodic, Kamp and Boley: Orthogonal Gradient Boosting for Simpler Additive Rule
    Ensembles, AISTATS 2024. q⊥ is what the other rules leave of the query.
    """

    def gradients(self) -> Floats:
        """Project the gradients: gᵀq⊥ = g⊥ᵀq. Without penalties, they are orthogonal anyway."""
        gradients, others = super().gradients(), self.others()
        weights = refit(
            others,
            gradients,
            SquaredLoss(),
            np.zeros(len(others.penalties)),
            sample_weight=self.sample_weight,
        ).weights
        return np.asarray(gradients - weights @ others.covered, dtype=np.float64)

    def search_penalty(self) -> float:
        """Tell the λ of the search."""
        return _ORTHOGONAL_PENALTY

    def hessians(self) -> Floats:
        """Take one for each row."""
        return np.ones(len(self.y))

    def others(self) -> OtherRules:
        """List the rules, without penalties."""
        return self.refitted(0.0)


OBJECTIVES: dict[str, type[Stagewise]] = {
    "stagewise": Stagewise,
    "joint": Joint,
    "orthogonal": Orthogonal,
}
"""What rules are judged by, and which weights follow from that."""
