"""Polishing: rules are exchanged for better ones, one at a time and given all others.

Boosting finds a rule given those before it. Once there are others after it, another one may serve
better in its place. To find that out is the search of a joint round, with all other rules as those
that are refitted: what it gains from leaving the rule out is what the rule itself, or a better one,
can gain.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.boosting import NEGLIGIBLE_GAIN, Joint
from laconic.candidates import CandidatePropositions
from laconic.constraints import Constraints
from laconic.losses import Floats, Loss
from laconic.model.rules import RuleEnsemble
from laconic.refitting import penalised_loss
from laconic.search import SearchProblem, SearchResult, SearchStatus, search
from laconic.units import Unit, unit_of

# How often each rule may be looked at. One to three times was enough for models of five and ten
# rules on three tables. Every exchange makes the loss smaller, so that there is an end in any case.
MAX_ROUNDS = 20

# Objectives that differ by no more than this share are the same but for rounding errors.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Polished:
    """A model of which one rule was looked at."""

    ensemble: RuleEnsemble
    results: list[SearchResult]
    """The certificate of each rule, from the last search for its place."""
    covered: list[NDArray[np.bool_]]
    """The rows that each rule covers."""
    position: int
    """Of the rule that was looked at."""
    is_exchanged: bool
    """Whether another one has taken its place."""
    is_stable: bool
    """Whether all rules were looked at since the last exchange: each is the best at its place."""
    state: _State

    def stages(self) -> tuple[RuleEnsemble, ...]:
        """Give the first 0, 1, 2, ... rules the weights that suit them: other rules led here."""
        shorter = (self.state.first_rules(self, n) for n in range(len(self.ensemble)))
        return (*shorter, self.ensemble)


def polish(
    candidates: CandidatePropositions,
    y: Floats,
    loss: Loss,
    ensemble: RuleEnsemble,
    results: Sequence[SearchResult],
    covered: Sequence[NDArray[np.bool_]],
    *,
    l2_regularization: float,
    sample_weight: Floats | None = None,
    fit_intercept: bool = False,
    constraints: Constraints | None = None,
    barred: Sequence[NDArray[np.bool_]] = (),
    search_options: Mapping[str, Any] | None = None,
    max_rounds: int = MAX_ROUNDS,
) -> Iterator[Polished]:
    """Look at one rule after the other, and exchange it where that lowers the penalised loss.

    It ends when no rule was exchanged since it was last looked at, when each was looked at
    ``max_rounds`` times, or when a callback of the search asked to stop. With the squared loss, and
    searches that prove their results, no single exchange then improves the model. With other
    losses, none improves it to second order around the other rules' best weights.

    Parameters
    ----------
    candidates, y, loss, l2_regularization, sample_weight, fit_intercept
    constraints, barred, search_options
        As for :func:`laconic.boosting.boost`.
    ensemble : RuleEnsemble
        With the weights that are best together.
    results : sequence of SearchResult
        A certificate for each rule.
    covered : sequence of bool arrays of shape (n_rows,)
        The rows that each rule covers.
    max_rounds : int, default=20

    Yields
    ------
    polished : Polished
        After each search; the risk never rises.

    Examples
    --------
    The first rule is a compromise, until the others are there.

    >>> from laconic.boosting import boost
    >>> from laconic.losses import SquaredLoss
    >>> from laconic.candidates import candidate_propositions
    >>> X = np.array([[a, b] for a in (0, 1, 2) for b in (0, 1)])
    >>> candidates, y = candidate_propositions(X), np.array([0.0, 1.0, 2.0, 0.0, 0.0, 2.0])
    >>> options = {"l2_regularization": 0.0}
    >>> rounds = list(boost(candidates, y, SquaredLoss(), n_rules=3, objective="joint", **options))
    >>> ensemble, results = rounds[-1][0], [result for _, result in rounds]
    >>> print(ensemble)
    +0.2500 always
     +1.750 if x0 > 1 & x1 > 0
     +1.750 if 0 < x0 <= 1 & x1 <= 0
    >>> covered = [candidates.extents.covered(list(result.query)) for result in results]
    >>> *_, last = polish(candidates, y, SquaredLoss(), ensemble, results, covered, **options)
    >>> print(last.ensemble)
    +1.000 if x0 <= 0 & x1 > 0
    +2.000 if x0 > 1 & x1 > 0
    +2.000 if 0 < x0 <= 1 & x1 <= 0
    """
    if len(ensemble) == 0:
        return
    unit = unit_of(loss, y, ensemble, constraints)
    options = unit.options(search_options)
    if constraints is not None:
        options["allowed"] = constraints.allowed(candidates.propositions)
    state = _State(
        *(candidates, unit.measured(y), loss, unit),
        *(l2_regularization, sample_weight, fit_intercept, constraints),
        barred,
        options,
    )
    current = Polished(ensemble, list(results), list(covered), -1, False, False, state)
    n_kept = 0
    # Rules that somebody wants stay where they are.
    positions = [n for n, result in enumerate(results) if result.status is not SearchStatus.GIVEN]
    for position in islice(cycle(positions), max_rounds * len(positions)):
        found = state.looked_at(current, position)
        if found is None:
            return
        n_kept = 0 if found.is_exchanged else n_kept + 1
        current = dataclasses.replace(found, is_stable=n_kept == len(positions))
        yield current
        if current.is_stable:
            return


def refitted_stages(
    candidates: CandidatePropositions,
    y: Floats,
    loss: Loss,
    ensemble: RuleEnsemble,
    covered: Sequence[NDArray[np.bool_]],
    *,
    l2_regularization: float,
    sample_weight: Floats | None = None,
    fit_intercept: bool = False,
    constraints: Constraints | None = None,
) -> tuple[RuleEnsemble, ...]:
    """Give the first 0, 1, 2, ... rules the weights that suit them, where others led here.

    The parameters are those of :func:`polish`.
    """
    unit = unit_of(loss, y, ensemble, constraints)
    state = _State(
        *(candidates, unit.measured(y), loss, unit),
        *(l2_regularization, sample_weight, fit_intercept, constraints),
    )
    return Polished(ensemble, [], list(covered), -1, False, False, state).stages()


@dataclass(frozen=True, eq=False)
class _State:
    """What all exchanges have in common."""

    candidates: CandidatePropositions
    y: Floats
    loss: Loss
    unit: Unit
    l2_regularization: float
    sample_weight: Floats | None
    fit_intercept: bool
    constraints: Constraints | None
    barred: Sequence[NDArray[np.bool_]] = ()
    search_options: Mapping[str, Any] = field(default_factory=dict)

    def looked_at(self, current: Polished, position: int) -> Polished | None:
        """Search for the best rule at a place; None if a callback asked to stop."""
        others = self._joint(current, [n for n in range(len(current.covered)) if n != position])
        if self.fit_intercept and len(others.ensemble) == 0:
            others.refit()
        others.begin()
        problem = others.pose().barring(self.barred)
        result = search(problem, **self.search_options)
        if result.status is SearchStatus.INTERRUPTED:
            return None
        new = problem.covered(result.query)
        if not np.array_equal(new, current.covered[position]):
            others.add(problem, result.query)
            old = self._joint(current, range(len(current.covered)))
            costs = self.price(result) - self.price(current.results[position])
            # A rule that leaves others without a weight does not take the place of one.
            is_whole = len(others.ensemble) == len(old.ensemble)
            if is_whole and is_better(others, old, costs * problem.total_coverage):
                return _exchanged(current, position, others, result)
        price = self.price(current.results[position])
        kept = self.unit.result(_certificate(current, position, problem, result, price))
        results = [*current.results[:position], kept, *current.results[position + 1 :]]
        return dataclasses.replace(current, results=results, position=position, is_exchanged=False)

    def price(self, result: SearchResult) -> float:
        """Tell what a rule has to pay for its features."""
        allowed = self.search_options.get("allowed")
        return 0.0 if allowed is None else float(allowed.price(result.query))

    def first_rules(self, current: Polished, n_rules: int) -> RuleEnsemble:
        """Give the first rules the weights that are best without the others."""
        shorter = self._joint(current, range(n_rules))
        if self.fit_intercept or n_rules > 0:
            shorter.refit()
        return self.unit.ensemble(shorter.ensemble)

    def _joint(self, current: Polished, positions: Sequence[int]) -> Joint:
        """Make a joint round of some of the rules."""
        ensemble = current.ensemble
        return Joint(
            self.candidates,
            self.y,
            self.loss,
            self.unit.measured_ensemble(
                ensemble.with_rules(ensemble[position] for position in positions)
            ),
            [current.covered[position] for position in positions],
            self.l2_regularization,
            self.sample_weight,
            fit_intercept=self.fit_intercept,
            constraints=self.constraints,
        )


def is_better(new: Joint, old: Joint, costs: float = 0.0) -> bool:
    """Tell whether a model has a smaller penalised loss, by more than rounding errors and costs."""
    (new_value, new_rounding), (old_value, old_rounding) = map(_value, (new, old))
    # Where rules fit all rows, their losses are nothing but rounding errors of predictions.
    start, _ = _value(old, scale=0.0)
    least = new_rounding + old_rounding + NEGLIGIBLE_GAIN * start
    return old_value - new_value - costs > least


def _value(model: Joint, scale: float = 1.0) -> tuple[float, float]:
    weights = [rule.weight for rule in model.ensemble]
    intercept = model.ensemble.intercept
    return penalised_loss(
        model.refitted(model.l2_regularization),
        model.y,
        model.loss,
        scale * np.array([*weights, intercept] if model.fit_intercept else weights),
        offset=0.0 if model.fit_intercept else intercept,
        sample_weight=model.sample_weight,
    )


def _exchanged(current: Polished, position: int, new: Joint, result: SearchResult) -> Polished:
    """Put the last rule of a model where the exchanged one was."""
    rules, covered = list(new.ensemble), list(new.covered)
    rules.insert(position, rules.pop())
    covered.insert(position, covered.pop())
    unit = current.state.unit
    ensemble = unit.ensemble(new.ensemble.with_rules(rules))
    results = [*current.results[:position], unit.result(result), *current.results[position + 1 :]]
    return Polished(ensemble, results, covered, position, True, False, current.state)


def _certificate(
    current: Polished, position: int, problem: SearchProblem, result: SearchResult, price: float
) -> SearchResult:
    """Say of the rule that was kept what the search has shown."""
    objective_value = problem.objective_of(problem.value(current.covered[position])) - price
    status = result.status
    # A rule of an earlier fit may be outside of the limits of the search.
    bound = max(result.bound, objective_value)
    if status is SearchStatus.OPTIMAL:
        if objective_value >= (1.0 - _ROUNDING) * result.objective_value:
            bound = objective_value
        else:
            # Terms of third order speak for the rule that is there.
            status = SearchStatus.APPROXIMATE
    return dataclasses.replace(
        result,
        query=current.results[position].query,
        objective_value=objective_value,
        bound=bound,
        status=status,
    )
