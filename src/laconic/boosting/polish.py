"""Improve a set of terms: exchange single ones for better ones, or select a few of many.

Boosting finds a term given those before it. Once there are others after it, another term may be
better at its position. `polish` leaves one term out at a time, and searches for the best term given
all others, whose weights are refitted. With brevity, a term is judged by its gain per size, and so
is the whole model: an exchange has to raise what the model gains on the best constant, divided by
the power of its size. That cannot go in circles.

The relaxed problem (`laconic.boosting.certificate`) spreads its weight over dozens of terms, many
of them nearly the same. `select` removes them one by one, always the one whose removal costs least,
and refits the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice

import numpy as np

from laconic._util.types import Floats
from laconic.boosting.certificate import TermColumn
from laconic.boosting.rounds import Rounds
from laconic.boosting.settings import make_term
from laconic.boosting.state import Found, State
from laconic.search import SearchResult, SearchStatus
from laconic.terms.rules import RuleEnsemble

# How often each term may be searched for. One to three times was enough for models of five and ten
# rules on three tables. No model comes twice, so that polishing ends in any case.
MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Step:
    """A model after the search for a better term at one position."""

    state: State
    """The certificate of each term is from the last search at its position."""
    position: int
    """Position that was searched."""
    is_exchanged: bool
    """Whether its term was exchanged."""
    is_stable: bool
    """Whether all positions were searched since the last exchange: none of them improves."""


def polish(rounds: Rounds, state: State, max_rounds: int = MAX_ROUNDS) -> Iterator[Step]:
    """Exchange one term after the other where that improves the model.

    The search at a position finds the term of the largest gain, or of the largest gain per size if
    there is brevity. It replaces the old one if `Rounds.is_better` finds the whole model better:
    without brevity, if the penalised loss is smaller; with brevity β, if the gain of the model on
    the best constant, divided by its size to the power of β, is larger. Where the size does not
    grow, a smaller loss is always better.

    It ends when all positions were searched since the last exchange, when each was searched
    ``max_rounds`` times, or when a callback of the search asked to stop. With the squared loss, no
    brevity, and searches that prove their results, no single exchange then improves the model. With
    other losses, none improves it to second order around the best weights of the other terms. With
    brevity, a term that is worth more at its place may be left out, as it would make the model
    worse; the certificate of the old one then states that.

    Parameters
    ----------
    rounds : Rounds
        Exchanges are judged by the joint objective.
    state : State
        With the weights that are best together. Terms that were given stay.
    max_rounds : int, default=20

    Yields
    ------
    step : Step
        After each search; the model never gets worse. The stages are those of the state.

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
    """Replace a term by the one that was found; None if that is no improvement."""
    is_same = np.array_equal(found.values, state.columns[position])
    if is_same and found.output == state.ensemble[position].output:
        return None
    new = rounds.add(found.state, found)
    # A term that takes the weight of others is no replacement for one.
    if new is None or len(new.ensemble) < len(state.ensemble) or not rounds.is_better(new, state):
        return None
    order = [*range(len(state.ensemble) - 1)]
    order.insert(position, len(order))
    return replace(new.only(order), stages=state.stages, n_certified=None)


# While there are more terms than this, and than twice `n_terms`, several are removed at once.
_MANY = 100


def select(
    rounds: Rounds, start: RuleEnsemble, columns: Sequence[TermColumn], n_terms: int
) -> State:
    """Choose some of given terms, by backward elimination.

    To second order, with the second derivatives H of the penalised loss at the best weights w,
    removing term j and refitting all others costs w_j² / (2 (H⁻¹)_jj). The term that costs least,
    or least per size if there is brevity, leaves.

    Parameters
    ----------
    rounds : Rounds
    start : RuleEnsemble
        An ensemble without terms: intercepts to start from, and the features.
    columns : sequence of TermColumn
        With queries or slopes, and weights to start from.
    n_terms : int
        Largest number of terms to keep.

    Returns
    -------
    state : State
        With the weights that are best together; the term that would be removed last comes first.
        Terms have no certificates yet.

    Examples
    --------
    >>> from laconic.candidates.candidates import candidate_conditions
    >>> from laconic.losses import SquaredLoss
    >>> candidates = candidate_conditions([[1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([5.0, 5.0, 1.0, 1.0])
    >>> columns = [TermColumn(candidates.extents.covered([p]), (p,), 1.0) for p in range(6)]
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
    terms = [
        make_term(each.slope or rounds.query(result), each.weight, each.output)
        for each, result in zip(chosen, results, strict=True)
    ]
    values = tuple(each.values for each in chosen)
    everything = State(start.with_terms(terms), values, tuple(results), (start,))
    left, gone = [*range(len(terms))], []
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
    columns: Sequence[TermColumn], *, are_complements_twins: bool
) -> list[TermColumn]:
    """Leave out terms of the values of another one of the output, and complements of rules."""
    seen: set[tuple[int, bytes]] = set()
    kept = []
    for column in sorted(columns, key=lambda column: -abs(column.weight)):
        values, is_rule = column.values, column.slope is None
        if is_rule and are_complements_twins and values.all():
            continue
        keys = [(column.output, values.tobytes())]
        if is_rule and are_complements_twins:
            keys.append((column.output, (~values.astype(bool)).tobytes()))
        is_known = column.query is not None or not is_rule
        if is_known and seen.isdisjoint(keys):
            kept.append(column)
            seen.update(keys)
    return kept


def _shortened(rounds: Rounds, column: TermColumn) -> TermColumn:
    """Leave out conditions that make no difference, which a beam search does not detect."""
    query = column.query or ()
    for condition in query:
        rest = tuple(each for each in query if each != condition)
        if np.array_equal(rounds.candidates.extents.covered(rest), column.values):
            query = rest
    return column._replace(query=query)


def _costs(rounds: Rounds, state: State) -> Floats:
    """Compute the increase of the penalised loss, to second order, without each of the terms.

    With brevity, it is divided by the power of the size of the term.
    """
    risk, n_terms = rounds.risk(state), len(state.ensemble)
    curvature = risk.at(risk.start).curvature
    inverse = np.diag(np.linalg.pinv(curvature, hermitian=True))[:n_terms]
    weights = risk.start[:n_terms]
    # A term that others can replace completely has no cost.
    costs = np.divide(weights**2, 2.0 * inverse, where=inverse > 0.0, out=np.zeros(n_terms))
    sizes = np.array([1.0 + term.n_conditions for term in state.ensemble])
    return np.asarray(costs / sizes**rounds.brevity, dtype=np.float64)
