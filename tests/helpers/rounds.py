"""What the tests of boosting share: rounds and states made of the few things that matter."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from laconic.boosting import Rounds, State, boost
from laconic.boosting.refit import descend, ensemble_risk
from laconic.candidates.candidates import CandidateConditions
from laconic.losses import Loss, MultinomialLoss
from laconic.terms.conditions import Query
from laconic.terms.rules import Output, Rule, RuleEnsemble


def make_rounds(
    candidates: CandidateConditions,
    y: np.ndarray,
    loss: Loss | MultinomialLoss,
    *,
    l2_regularization: float = 0.0,
    **options: Any,
) -> Rounds:
    """Make what all rounds share, without a penalty unless there is one."""
    y = np.asarray(y, dtype=np.float64)
    return Rounds(candidates, y, loss, l2_regularization=l2_regularization, **options)


def run_boost(
    rounds: Rounds,
    n_terms: int,
    start: RuleEnsemble | None = None,
    *,
    columns: Sequence[np.ndarray] = (),
    **options: Any,
) -> list[State]:
    """Find terms one after the other, and list the models on the way."""
    ensemble = RuleEnsemble() if start is None else start
    state = rounds.begin(State(ensemble, tuple(columns)))
    return list(boost(rounds, state, n_terms, **options))


def class_constants(y: np.ndarray, weights: np.ndarray | None, n_classes: int) -> RuleEnsemble:
    """Make a model without rules whose intercepts fit each class best."""
    constants = MultinomialLoss().constants(y, n_classes, weights).tolist()
    return RuleEnsemble(outputs=tuple(Output(str(k), each) for k, each in enumerate(constants)))


def fit_weights(
    covered: Sequence[np.ndarray] | np.ndarray,
    y: np.ndarray,
    loss: Loss,
    start: Sequence[float] | np.ndarray | None = None,
    *,
    penalty: float = 0.0,
    intercept: float = 0.0,
    fit_intercept: bool = False,
    sample_weight: np.ndarray | None = None,
    signs: np.ndarray | None = None,
) -> np.ndarray:
    """Find the best weights of rules that cover given rows, and of an intercept, which comes last.

    The intercept is where a refitted one starts, or what is added to every raw prediction.
    """
    weights = np.zeros(len(covered)) if start is None else start
    ensemble = RuleEnsemble(tuple(Rule(Query(), float(weight)) for weight in weights), intercept)
    options = {"fit_intercept": fit_intercept}
    columns = [np.asarray(rows) for rows in covered]
    risk = ensemble_risk(ensemble, columns, y, loss, penalty, sample_weight, signs=signs, **options)
    return descend(risk)[0]


def penalised_loss(
    weights: np.ndarray,
    covered: Sequence[np.ndarray] | np.ndarray,
    y: np.ndarray,
    loss: Loss,
    *,
    penalty: float = 0.0,
    intercept: float = 0.0,
    fit_intercept: bool = False,
    sample_weight: np.ndarray | None = None,
) -> float:
    """Compute what `fit_weights` makes as small as it can be, from its definition."""
    own = weights[: len(covered)]
    if fit_intercept:
        intercept = weights[-1]
    values = loss.value(y, intercept + own @ np.reshape(covered, (-1, len(y))))
    total = values.sum() if sample_weight is None else sample_weight @ values
    return float(total + penalty * own @ own / 2)
