"""Chance: whether a term gains more than the best of all useless terms would.

A term like one that a model has gains something, too: what the weight of the other one is short of
because of the penalty. That is no effect. So a term is judged beside weights that are hardly
penalised.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from laconic._util.types import Bools, Floats

if TYPE_CHECKING:
    from laconic.boosting.rounds import Found, Rounds, State

# Share of the penalty that is left for weights beside which a term is judged. Without any, those of
# separated classes would be infinite.
RELAXED = 0.01
# The best of N useless terms gains more than φ (log N + this) / n in less than one of 20 tables.
MARGIN = 2.0


def relaxed(rounds: Rounds, state: State) -> tuple[Rounds, State]:
    """Return rounds with hardly any penalty on present terms, and these with the best weights."""
    free = replace(rounds, relief=RELAXED)
    return free, free.refit(state)[0]


def search_relaxed(rounds: Rounds, state: State) -> Found:
    """Find the best term beside weights that are hardly penalised."""
    if not rounds.is_joint or len(state.ensemble) == 0:
        return rounds.search(state)
    free, others = relaxed(rounds, state)
    return replace(free.search(others), state=state)


def is_by_chance(rounds: Rounds, found: Found) -> bool:
    """Check whether the best term gains no more than chance alone may give it.

    The variance of the gradients is that of all rows, or that of the rows of the term if it is
    larger: a few outliers are no effect. Rounds for a given number of terms do not ask.
    """
    if not rounds.beats_chance:
        return False
    free, state = rounds, found.state
    if rounds.is_joint and len(state.ensemble) > 0:
        free, state = relaxed(rounds, state)
    _, all_gradients, all_hessians = free.derivatives(state)
    noise = rounds.noise(all_gradients, all_hessians)
    gradients, hessians = all_gradients[found.output], all_hessians[found.output]
    others = free.others(state, found.output)
    problem = free.pose(gradients, hessians, others)
    gain = problem.objective_of(problem.value(found.standard)) - rounds.cost(found.form)
    if noise == 0.0:
        return gain <= 0.0
    least = rounds.by_chance(found.form, noise, len(found.result.query)) + MARGIN * noise
    left = found.standard.astype(np.float64)
    if others is not None and len(others.values) > 0:
        left = _unexplained(left, others.values, rounds.weights * hessians)
    variance = _variance(left, gradients, hessians, rounds.weights)
    return bool(gain <= least * max(variance / (noise * problem.total_coverage), 1.0))


def _unexplained(values: Floats, others: Bools | Floats, hessians: Floats) -> Floats:
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
