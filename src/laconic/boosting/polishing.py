"""Polishing: rules are exchanged for better ones, one at a time and given all others.

Boosting finds a rule given those before it. Once there are others after it, another one may serve
better in its place. To find that out is the search of a joint round, with all other rules as those
that are refitted: what it gains from leaving the rule out is what the rule itself, or a better one,
can gain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, islice

import numpy as np

from laconic.boosting.rounds import Found, Rounds, State
from laconic.search import SearchStatus

# How often each rule may be looked at. One to three times was enough for models of five and ten
# rules on three tables. Every exchange makes the loss smaller, so that there is an end in any case.
MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Step:
    """A model of which one rule was looked at."""

    state: State
    """The certificate of each rule is from the last search for its place."""
    position: int
    """Of the rule that was looked at."""
    is_exchanged: bool
    """Whether another one has taken its place."""
    is_stable: bool
    """Whether all rules were looked at since the last exchange: each is the best at its place."""


def polish(rounds: Rounds, state: State, max_rounds: int = MAX_ROUNDS) -> Iterator[Step]:
    """Look at one rule after the other, and exchange it where that lowers the penalised loss.

    It ends when no rule was exchanged since it was last looked at, when each was looked at
    ``max_rounds`` times, or when a callback of the search asked to stop. With the squared loss, and
    searches that prove their results, no single exchange then improves the model. With other
    losses, none improves it to second order around the other rules' best weights.

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
    The first rule is a compromise, until the others are there.

    >>> from laconic.boosting.rounds import boost
    >>> from laconic.candidates import candidate_propositions
    >>> from laconic.losses import SquaredLoss
    >>> from laconic.model.rules import RuleEnsemble
    >>> X = np.array([[a, b] for a in (0, 1, 2) for b in (0, 1)])
    >>> candidates, y = candidate_propositions(X), np.array([0.0, 1.0, 2.0, 0.0, 0.0, 2.0])
    >>> rounds = Rounds(candidates, y, SquaredLoss(), l2_regularization=0.0, objective="joint")
    >>> *_, state = boost(rounds, rounds.begin(State(RuleEnsemble())), n_rules=3)
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
    rounds = replace(rounds, objective="joint")
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
    """Put the rule that was found in the place of another one; None if that is no better."""
    is_same = np.array_equal(found.covered, state.covered[position])
    if is_same and found.output == state.ensemble[position].output:
        return None
    new = rounds.add(found.state, found)
    # A rule that leaves others without a weight does not take the place of one.
    if new is None or len(new.ensemble) < len(state.ensemble) or not rounds.is_better(new, state):
        return None
    order = [*range(len(state.ensemble) - 1)]
    order.insert(position, len(order))
    return replace(new.only(order), stages=state.stages, n_certified=None)
