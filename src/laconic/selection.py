"""Selection: of many rules, a few that are good together.

The relaxed problem (`laconic.relaxation`) spreads its weight over dozens of rules, many of them
near twins. They are left out one by one, always the one that costs least, and the others are
refitted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laconic.boosting import Joint
from laconic.candidates import CandidatePropositions
from laconic.losses import Floats, Loss
from laconic.model.conditions import Query
from laconic.model.rules import Rule, RuleEnsemble
from laconic.relaxation import Column

# While there are more rules than this, and than twice those that are wanted, several leave at once.
_MANY = 100


def select(
    candidates: CandidatePropositions,
    y: Floats,
    loss: Loss,
    start: RuleEnsemble,
    columns: Sequence[Column],
    n_rules: int,
    *,
    l2_regularization: float,
    sample_weight: Floats | None = None,
    fit_intercept: bool = False,
) -> tuple[RuleEnsemble, list[Column]]:
    """Choose some of given rules, by backward elimination.

    With the penalised loss to second order, H its second derivatives at the best weights w, leaving
    out rule j and refitting all others costs w_j² / (2 (H⁻¹)_jj).

    Parameters
    ----------
    candidates, y, loss, l2_regularization, sample_weight, fit_intercept
        As for :func:`laconic.boosting.boost`.
    start : RuleEnsemble
        Whose intercept to start from, and which knows the features.
    columns : sequence of Column
        With queries, and weights to start from.
    n_rules : int
        How many to keep at most.

    Returns
    -------
    ensemble : RuleEnsemble
        With the weights that are best together; the rule that would leave last comes first.
    columns : list of Column
        Those of its rules.

    Examples
    --------
    >>> from laconic.candidates import candidate_propositions
    >>> from laconic.losses import SquaredLoss
    >>> candidates = candidate_propositions([[1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([5.0, 5.0, 1.0, 1.0])
    >>> columns = [Column(candidates.extents.covered([p]), (p,), 1.0) for p in range(6)]
    >>> options = {"l2_regularization": 1.0, "fit_intercept": True}
    >>> ensemble, _ = select(
    ...     candidates, y, SquaredLoss(), RuleEnsemble((), 3.0), columns, 1, **options
    ... )
    >>> print(ensemble)
    +1.667 to start from
    +2.667 if x0 <= 2
    """
    left = _without_twins(columns, are_complements_twins=fit_intercept)
    rules = [
        Rule(Query(tuple(candidates.propositions[p] for p in column.query or ())), column.weight)
        for column in left
    ]

    def joint(rules: Sequence[Rule], columns: Sequence[Column], intercept: float) -> Joint:
        model = Joint(
            candidates,
            y,
            loss,
            start.with_rules(rules, intercept),
            [column.covered for column in columns],
            l2_regularization,
            sample_weight,
            fit_intercept=fit_intercept,
        )
        if rules:
            model.refit()
        model.set_raw_predictions()
        return model

    model = joint(rules, left, start.intercept)
    gone: list[tuple[Rule, Column]] = []
    while len(left) > 1:
        costs = _costs(model)
        excess = len(left) - max(_MANY, 2 * n_rules)
        leaving = np.argsort(costs, kind="stable")[: max(1, excess // 2)].tolist()
        rules = list(model.ensemble)
        gone += [(rules[position], left[position]) for position in leaving]
        stays = [position for position in range(len(left)) if position not in leaving]
        left = [left[position] for position in stays]
        model = joint([rules[position] for position in stays], left, model.ensemble.intercept)
    order = [*zip(model.ensemble, left, strict=True), *reversed(gone)][:n_rules]
    kept = [column for _, column in order]
    return joint([rule for rule, _ in order], kept, start.intercept).ensemble, kept


def _without_twins(columns: Sequence[Column], *, are_complements_twins: bool) -> list[Column]:
    """Leave out rules for rows that another one covers, or leaves, all and only."""
    seen: set[bytes] = set()
    kept = []
    for column in sorted(columns, key=lambda column: -abs(column.weight)):
        covered = column.covered
        if are_complements_twins and covered.all():
            continue
        keys = [covered.tobytes()]
        if are_complements_twins:
            keys.append((~covered).tobytes())
        if column.query is not None and seen.isdisjoint(keys):
            kept.append(column)
            seen.update(keys)
    return kept


def _costs(model: Joint) -> Floats:
    """Tell what the penalised loss rises by, to second order, without each of the rules."""
    others = model.others()
    hessians = model.hessians()
    if model.sample_weight is not None:
        hessians = hessians * model.sample_weight
    cells = others.cells()
    columns = others.columns(cells)
    of_cells = np.bincount(cells, hessians, columns.shape[1])
    curvature = (columns * of_cells) @ columns.T + np.diag(others.penalties)
    inverse = np.diag(np.linalg.pinv(curvature, hermitian=True))
    weights = np.array([rule.weight for rule in model.ensemble])
    room = inverse[: len(weights)]
    # A rule that others make up for completely can be left out at no cost.
    costs = np.divide(weights**2, 2.0 * room, where=room > 0.0, out=np.zeros(len(weights)))
    return np.asarray(costs, dtype=np.float64)
