"""Chance: whether a term gains more than the best of all useless terms would.

A term like one that a model has gains something, too: what the weight of the other one is short of
because of the penalty. That is no effect. So beside others, terms are judged where weights are
hardly penalised. The first term is judged with the whole penalty, so that a few outliers of a
skewed target are no effect.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from laconic._util.types import Floats, Values
from laconic.boosting.state import Barred, Found, State
from laconic.search import SearchStatus

if TYPE_CHECKING:
    from laconic.boosting.rounds import Rounds

# Share of the penalty that is left where a term is judged beside others. Without any, the weights
# of separated classes would be infinite, and a single row would be an effect.
RELAXED = 0.1
# Terms that are looked at before none is found to be better than chance.
MAX_TRIES = 5
# The best of N useless terms gains more than φ (log N + this) / n in about one of 50 tables.
MARGIN = 2.0


def relaxed(rounds: Rounds, state: State) -> tuple[Rounds, State]:
    """Return rounds with hardly any penalty, and the present terms with the best weights there.

    Where there are no terms yet, nothing changes.
    """
    if len(state.ensemble) == 0:
        return rounds, state
    free = replace(rounds, l2_regularization=RELAXED * rounds.l2_regularization)
    return free, free.refit(state)[0] if rounds.is_joint else state


def is_by_chance(rounds: Rounds, found: Found) -> bool:
    """Check whether a term gains no more than chance alone may give it."""
    judge = _Judge.of(rounds, found)
    return judge.gain(found) <= judge.least(found)


def beyond_chance(rounds: Rounds, found: Found) -> Found | None:
    """Return a term that gains more than chance may give it; None if none is found.

    That is the term that was found, or else the best one where weights are hardly penalised; if it
    owes its gain to a few outliers, the next best one, and so on. Rounds for a given number of
    terms take what was found.
    """
    if not rounds.beats_chance:
        return found
    judge = _Judge.of(rounds, found)
    barred: list[Barred] = []
    if judge.gain(found) > judge.least(found):
        return found
    for _ in range(MAX_TRIES):
        other = judge.rounds.search(judge.state, barred)
        is_interrupted = other.result.status is SearchStatus.INTERRUPTED
        gain = judge.gain(other)
        if is_interrupted or gain > judge.least(other):
            kept = ("state", "raw_predictions", "problems", "free_problems")
            return replace(other, **{name: getattr(found, name) for name in kept})
        if gain <= judge.by_chance(other):
            return None
        barred.append(Barred.of(other.form, other.values, other.output))
    return None


class _Judge:
    """Compares the gains of terms, beside others that a model has, with those of chance."""

    def __init__(self, rounds: Rounds, state: State) -> None:
        self.rounds, self.state = rounds, state
        _, self.gradients, self.hessians = rounds.derivatives(state)
        self.noise = rounds.noise(self.gradients, self.hessians)
        self.is_first = len(state.ensemble) == 0

    @classmethod
    def of(cls, rounds: Rounds, found: Found) -> _Judge:
        """Judge terms beside those that a term was found beside, hardly penalised."""
        return cls(*relaxed(rounds, found.state))

    def gain(self, found: Found) -> float:
        """Compute the gain of a term, after costs."""
        others = self.rounds.others(self.state, found.output)
        of_output = self.gradients[found.output], self.hessians[found.output]
        problem = self.rounds.pose(*of_output, others)
        gain = problem.objective_of(problem.value(found.standard))
        return gain - self.rounds.terms.cost(found.form)

    def by_chance(self, found: Found) -> float:
        """Compute what the best of all useless terms of its kind hardly gains more than."""
        n_conditions = len(found.result.query)
        least = MARGIN * self.noise
        least += self.rounds.terms.by_chance(found.form, self.noise, n_conditions)
        return max(least, 0.0)

    def least(self, found: Found) -> float:
        """Compute what a term must gain more than.

        For the first term, the variance of the gradients is that of all rows, or that of the rows
        of the term if it is larger: a few outliers are no effect.
        """
        if self.noise == 0.0 or not self.is_first:
            return self.by_chance(found)
        rounds, output = self.rounds, found.output
        left = found.standard.astype(np.float64)
        others = rounds.others(self.state, output)
        if others is not None and len(others.values) > 0:
            left = _unexplained(
                left, np.array(others.values), rounds.weights * self.hessians[output]
            )
        variance = _variance(left, self.gradients[output], self.hessians[output], rounds.weights)
        relative = variance / (self.noise * float(rounds.weights.sum()))
        return self.by_chance(found) * max(relative, 1.0)


def _unexplained(values: Floats, others: Values, hessians: Floats) -> Floats:
    """Compute what is left of a term that others cannot imitate."""
    roots = np.sqrt(hessians)
    weights, *_ = np.linalg.lstsq((others * roots).T, roots * values, rcond=None)
    return np.asarray(values - others.T @ weights, dtype=np.float64)


def _variance(values: Floats, gradients: Floats, hessians: Floats, weights: Floats) -> float:
    """Compute the variance of gradients, relative to hessians, in the rows of a term."""
    curvature = float(weights @ (hessians * values**2))
    if not curvature > 0.0:
        return 0.0
    step = float(weights @ (gradients * values)) / curvature
    rest = gradients - step * hessians * values
    return float(weights @ np.square(rest * values)) / curvature
