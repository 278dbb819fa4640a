"""Selection: of many rules, a few that are good together.

The relaxed problem (`laconic.relaxation`) spreads its weight over dozens of rules, many of them
near twins. They are left out one by one, always the one that costs least, and the others are
refitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from laconic.boosting.refitting import ensemble_weights
from laconic.boosting.rounds import Rounds, State
from laconic.losses import Floats
from laconic.model.rules import Rule, RuleEnsemble
from laconic.relaxation import Column
from laconic.search import SearchResult, SearchStatus

# While there are more rules than this, and than twice those that are wanted, several leave at once.
_MANY = 100


def select(rounds: Rounds, start: RuleEnsemble, columns: Sequence[Column], n_rules: int) -> State:
    """Choose some of given rules, by backward elimination.

    With the penalised loss to second order, H its second derivatives at the best weights w, leaving
    out rule j and refitting all others costs w_j² / (2 (H⁻¹)_jj).

    Parameters
    ----------
    rounds : Rounds
    start : RuleEnsemble
        Whose intercepts to start from, and which knows the features.
    columns : sequence of Column
        With queries, and weights to start from.
    n_rules : int
        How many to keep at most.

    Returns
    -------
    state : State
        With the weights that are best together; the rule that would leave last comes first. Nothing
        is proven about them yet.

    Examples
    --------
    >>> from laconic.candidates import candidate_propositions
    >>> from laconic.losses import SquaredLoss
    >>> candidates = candidate_propositions([[1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([5.0, 5.0, 1.0, 1.0])
    >>> columns = [Column(candidates.extents.covered([p]), (p,), 1.0) for p in range(6)]
    >>> rounds = Rounds(candidates, y, SquaredLoss(), l2_regularization=1.0, fit_intercept=True)
    >>> print(select(rounds, RuleEnsemble((), 3.0), columns, 1).ensemble)
    +1.667 to start from
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
    everything = State(start.with_rules(rules), covered, tuple(results), (start,))
    left, gone = [*range(len(rules))], []
    state, _ = rounds.refit(everything)
    while len(left) > 1:
        excess = len(left) - max(_MANY, 2 * n_rules)
        leaving = np.argsort(_costs(rounds, state), kind="stable")[: max(1, excess // 2)].tolist()
        stays = [n for n in range(len(left)) if n not in leaving]
        gone += [left[n] for n in leaving]
        left = [left[n] for n in stays]
        state, _ = rounds.refit(state.only(stays))
    kept, _ = rounds.refit(everything.only([*left, *reversed(gone)][:n_rules]))
    return replace(kept, stages=rounds.stages(kept))


def _without_twins(columns: Sequence[Column], *, are_complements_twins: bool) -> list[Column]:
    """Leave out rules for rows that another one of the same output covers, or leaves."""
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


def _shortened(rounds: Rounds, column: Column) -> Column:
    """Leave out conditions that make no difference, which a beam search does not look for."""
    query = column.query or ()
    for condition in query:
        rest = tuple(each for each in query if each != condition)
        if np.array_equal(rounds.candidates.extents.covered(rest), column.covered):
            query = rest
    return column._replace(query=query)


def _costs(rounds: Rounds, state: State) -> Floats:
    """Compute by what the penalised loss rises, to second order, without each of the rules."""
    weights = ensemble_weights(state.ensemble, fit_intercept=rounds.fit_intercept)
    curvature = rounds.risk(state).at(weights).curvature
    n_rules = len(state.ensemble)
    room = np.diag(np.linalg.pinv(curvature, hermitian=True))[:n_rules]
    weights = weights[:n_rules]
    # A rule that others make up for completely can be left out at no cost.
    costs = np.divide(weights**2, 2.0 * room, where=room > 0.0, out=np.zeros(n_rules))
    return np.asarray(costs, dtype=np.float64)
