"""Improve a set of rules: exchange single ones for better ones, or select a few of many.

Boosting finds a rule given those before it. Once there are others after it, another rule may be
better at its position. `polish` leaves one rule out at a time, and searches for the best rule given
all others, whose weights are refitted.

The relaxed problem (`laconic.boosting.certificate`) spreads its weight over dozens of rules, many
of them nearly the same. `select` removes them one by one, always the one whose removal costs least,
and refits the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

import numpy as np

from laconic._util.types import Floats
from laconic.boosting.certificate import RuleColumn
from laconic.boosting.rounds import Found, Rounds, State
from laconic.search import SearchResult, SearchStatus
from laconic.terms.rules import Rule, RuleEnsemble

# How often each rule may be searched for. One to three times was enough for models of five and ten
# rules on three tables. Every exchange lowers the loss, so that polishing ends in any case.
MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Step:
    """A model after the search for a better rule at one position."""

    state: State
    """The certificate of each rule is from the last search at its position."""
    position: int
    """Position that was searched."""
    is_exchanged: bool
    """Whether its rule was exchanged."""
    is_stable: bool
    """Whether all positions were searched since the last exchange: each rule is the best there."""


def polish(rounds: Rounds, state: State, max_rounds: int = MAX_ROUNDS) -> Iterator[Step]:
    """Exchange one rule after the other where that lowers the penalised loss.

    It ends when all positions were searched since the last exchange, when each was searched
    ``max_rounds`` times, or when a callback of the search asked to stop. With the squared loss, and
    searches that prove their results, no single exchange then improves the model. With other
    losses, none improves it to second order around the best weights of the other rules.

    Parameters
    ----------
    rounds : Rounds
        Exchanges are judged by the joint objective.
    state : State
        With the weights that are best together. Rules that were given stay.
    max_rounds : int, default=20

    Yields
    ------
    step : Step
        After each search; the risk never rises. The stages are those of the state.

    Examples
    --------
    The first rule is a compromise until there are others.

    >>> from laconic.boosting.rounds import boost
    >>> from laconic.candidates.candidates import candidate_conditions
    >>> from laconic.losses import SquaredLoss
    >>> from laconic.terms.rules import RuleEnsemble
    >>> X = np.array([[a, b] for a in (0, 1, 2) for b in (0, 1)])
    >>> candidates, y = candidate_conditions(X), np.array([0.0, 1.0, 2.0, 0.0, 0.0, 2.0])
    >>> rounds = Rounds(candidates, y, SquaredLoss(), l2_regularization=0.0, is_joint=True)
    >>> *_, state = boost(rounds, rounds.begin(State(RuleEnsemble())), n_terms=3)
    >>> print(state.ensemble)
    +0.2500 always
     +1.750 if x0 > 1 & x1 > 0
     +1.750 if 0 < x0 <= 1 & x1 <= 0
    >>> *_, last = polish(rounds, state)
    >>> print(last.state.ensemble)
    +1.000 if x0 <= 0 & x1 > 0
    +2.000 if x0 > 1 & x1 > 0
    +2.000 if 0 < x0 <= 1 & x1 <= 0
    """
    rounds = replace(rounds, is_joint=True)
    n_kept = 0
    positions = [n for n, each in enumerate(state.results) if each.status is not SearchStatus.GIVEN]
    for position in islice(cycle(positions), max_rounds * len(positions)):
        found = rounds.search(rounds.place(state, position))
        if found.result.status is SearchStatus.INTERRUPTED:
            return
        exchanged = _exchanged(rounds, state, position, found)
        n_kept = n_kept + 1 if exchanged is None else 0
        if exchanged is None:
            results = list(state.results)
            results[position] = rounds.certificate(state, position, found)
            state = replace(state, results=tuple(results))
        else:
            state = exchanged
        yield Step(state, position, exchanged is not None, n_kept == len(positions))
        if n_kept == len(positions):
            return


def _exchanged(rounds: Rounds, state: State, position: int, found: Found) -> State | None:
    """Replace a rule by the one that was found; None if that is no improvement."""
    is_same = np.array_equal(found.values, state.columns[position])
    if is_same and found.output == state.ensemble[position].output:
        return None
    new = rounds.add(found.state, found)
    # A rule that takes the weight of others is no replacement for one.
    if new is None or len(new.ensemble) < len(state.ensemble) or not rounds.is_better(new, state):
        return None
    order = [*range(len(state.ensemble) - 1)]
    order.insert(position, len(order))
    return replace(new.only(order), stages=state.stages, n_certified=None)


# While there are more rules than this, and than twice `n_terms`, several are removed at once.
_MANY = 100


def select(
    rounds: Rounds, start: RuleEnsemble, columns: Sequence[RuleColumn], n_terms: int
) -> State:
    """Choose some of given rules, by backward elimination.

    To second order, with the second derivatives H of the penalised loss at the best weights w,
    removing rule j and refitting all others costs w_j² / (2 (H⁻¹)_jj).

    Parameters
    ----------
    rounds : Rounds
    start : RuleEnsemble
        An ensemble without rules: intercepts to start from, and the features.
    columns : sequence of RuleColumn
        With queries, and weights to start from.
    n_terms : int
        Largest number of rules to keep.

    Returns
    -------
    state : State
        With the weights that are best together; the rule that would be removed last comes first.
        Rules have no certificates yet.

    Examples
    --------
    >>> from laconic.candidates.candidates import candidate_conditions
    >>> from laconic.losses import SquaredLoss
    >>> candidates = candidate_conditions([[1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([5.0, 5.0, 1.0, 1.0])
    >>> columns = [RuleColumn(candidates.extents.covered([p]), (p,), 1.0) for p in range(6)]
    >>> rounds = Rounds(candidates, y, SquaredLoss(), l2_regularization=1.0, fit_intercept=True)
    >>> print(select(rounds, RuleEnsemble((), 3.0), columns, 1).ensemble)
    +1.667 (intercept)
    +2.667 if x0 <= 2
    """
    chosen = [
        _shortened(rounds, column)
        for column in _without_twins(columns, are_complements_twins=rounds.fit_intercept)
    ]
    results = [
        SearchResult(each.query or (), 0.0, np.inf, SearchStatus.HEURISTIC) for each in chosen
    ]
    rules = [
        Rule(rounds.query(result), each.weight, each.output)
        for each, result in zip(chosen, results, strict=True)
    ]
    covered = tuple(each.covered for each in chosen)
    everything = State(start.with_terms(rules), covered, tuple(results), (start,))
    left, gone = [*range(len(rules))], []
    state, _ = rounds.refit(everything)
    while len(left) > 1:
        excess = len(left) - max(_MANY, 2 * n_terms)
        leaving = np.argsort(_costs(rounds, state), kind="stable")[: max(1, excess // 2)].tolist()
        stays = [n for n in range(len(left)) if n not in leaving]
        gone += [left[n] for n in leaving]
        left = [left[n] for n in stays]
        state, _ = rounds.refit(state.only(stays))
    kept, _ = rounds.refit(everything.only([*left, *reversed(gone)][:n_terms]))
    return replace(kept, stages=rounds.stages(kept))


def _without_twins(
    columns: Sequence[RuleColumn], *, are_complements_twins: bool
) -> list[RuleColumn]:
    """Leave out rules whose rows, or their complement, another rule of the output covers."""
    seen: set[tuple[int, bytes]] = set()
    kept = []
    for column in sorted(columns, key=lambda column: -abs(column.weight)):
        covered = column.covered
        if are_complements_twins and covered.all():
            continue
        keys = [(column.output, covered.tobytes())]
        if are_complements_twins:
            keys.append((column.output, (~covered).tobytes()))
        if column.query is not None and seen.isdisjoint(keys):
            kept.append(column)
            seen.update(keys)
    return kept


def _shortened(rounds: Rounds, column: RuleColumn) -> RuleColumn:
    """Leave out conditions that make no difference, which a beam search does not detect."""
    query = column.query or ()
    for condition in query:
        rest = tuple(each for each in query if each != condition)
        if np.array_equal(rounds.candidates.extents.covered(rest), column.covered):
            query = rest
    return column._replace(query=query)


def _costs(rounds: Rounds, state: State) -> Floats:
    """Compute the increase of the penalised loss, to second order, without each of the rules."""
    risk, n_terms = rounds.risk(state), len(state.ensemble)
    curvature = risk.at(risk.start).curvature
    inverse = np.diag(np.linalg.pinv(curvature, hermitian=True))[:n_terms]
    weights = risk.start[:n_terms]
    # A rule that others can replace completely has no cost.
    costs = np.divide(weights**2, 2.0 * inverse, where=inverse > 0.0, out=np.zeros(n_terms))
    return np.asarray(costs, dtype=np.float64)
