"""Random search problems, small enough for brute force, and the random tables they come from."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from laconic.candidates.candidates import CandidateConditions, candidate_conditions
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.search import RefittedTerms, SearchProblem


def n_drawn(n_problems: int) -> int:
    """How many of the random problems to look at: two in five, or all with LACONIC_DRAWS=all."""
    return n_problems if os.environ.get("LACONIC_DRAWS") == "all" else 2 * n_problems // 5


REGULARIZATIONS = (0.0, 0.01, 0.1, 1.0, 10.0, 50.0)


@dataclass(frozen=True)
class RandomProblem:
    """A problem together with limits to search it under."""

    problem: SearchProblem
    limits: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        p = self.problem
        return f"{p.n_candidates} conditions, {p.n_rows} rows, limits {self.limits}"


def random_table(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Numeric columns with ties, categorical columns, and missing values in either."""
    columns = []
    for _ in range(rng.integers(1, 4)):
        kind = rng.choice(["few numbers", "numbers", "categories"])
        if kind == "few numbers":
            column = rng.integers(0, 3, n_rows).astype(float).astype(object)
        elif kind == "numbers":
            column = rng.normal(size=n_rows).round(1).astype(object)
        else:
            column = rng.choice(["a", "b", "c", "d"][: rng.integers(1, 5)], n_rows).astype(object)
        if rng.random() < 0.3:
            column[rng.random(n_rows) < 0.3] = None
        columns.append(column)
    return np.stack(columns, axis=1)


def random_extents(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Extents of a table's conditions, or of arbitrary ones with repetitions and constants."""
    if rng.random() < 0.6:
        table = random_table(rng, n_rows)
        return candidate_conditions(table, max_thresholds=2).covered()[:12]
    density = rng.choice([0.2, 0.5, 0.8])
    return rng.random((rng.integers(0, 9), n_rows)) < density


def random_statistics(rng: np.random.Generator, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Gradients and hessians of either loss, with and without ties, at 0 and after some rounds."""
    kind = rng.choice(["squared", "squared with ties", "logistic", "logistic later", "any"])
    if kind == "any":
        return rng.normal(size=n_rows), rng.random(n_rows) + 1e-3
    if kind.startswith("squared"):
        y = rng.integers(-2, 3, n_rows) if kind == "squared with ties" else rng.normal(size=n_rows)
        loss, scores = SquaredLoss(), np.zeros(n_rows)
    else:
        y = rng.choice([-1.0, 1.0], n_rows)
        loss, scores = LogisticLoss(), np.zeros(n_rows)
        if kind == "logistic later":
            scores = rng.choice([-5.0, -1.0, 0.5, 2.0], n_rows)
    return loss.gradients(y, scores), loss.hessians(y, scores)


@cache  # several tests go through the same thousands
def random_problem(seed: int) -> RandomProblem:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 25))
    extents = random_extents(rng, n_rows)
    gradients, hessians = random_statistics(rng, n_rows)
    weights = None
    if rng.random() < 0.4:
        weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.3], n_rows)
        weights[0] = 1.0
    problem = SearchProblem(extents, gradients, hessians, rng.choice(REGULARIZATIONS), weights)
    limits: dict[str, Any] = {}
    if rng.random() < 0.4:
        limits["max_conditions"] = int(rng.integers(0, 4))
    if rng.random() < 0.4:
        limits["min_coverage"] = float(rng.random() * problem.total_coverage)
    return RandomProblem(problem, limits)


def random_terms(
    rng: np.random.Generator, extents: np.ndarray, l2_regularization: float
) -> RefittedTerms:
    """Up to six rules, most of them from the extents, and slopes or an intercept now and then."""
    n_rows = extents.shape[1]
    covered = []
    for _ in range(rng.integers(0, 7)):
        if len(extents) > 0 and rng.random() < 0.7:
            chosen = rng.integers(0, len(extents), rng.integers(1, 3))
            covered.append(extents[chosen].all(axis=0))
        else:
            covered.append(rng.random(n_rows) < 0.5)
    penalties = [l2_regularization] * len(covered)
    if rng.random() < 0.5:
        covered.append(np.ones(n_rows, dtype=bool))
        penalties.append(0.0)
    values = np.array(covered, dtype=bool).reshape(-1, n_rows)
    if rng.random() < 0.3:
        n_slopes = rng.integers(1, 3)
        slopes = rng.normal(size=(n_slopes, n_rows)).round(rng.integers(0, 3)).clip(-1.0, 0.7)
        values = np.vstack([values, slopes])
        penalties += [l2_regularization * (slope.std() / 0.4) ** 2 for slope in slopes]
    return RefittedTerms(values, np.array(penalties, dtype=float))


def refitted_weights(
    loss: Any, y: np.ndarray, refitted: RefittedTerms, row_weights: np.ndarray
) -> np.ndarray:
    """Weights of refitted terms that minimise the penalised loss, by Newton's method."""
    columns = np.array(refitted.values, dtype=float)
    weights = np.zeros(len(columns))
    for _ in range(60):
        scores = weights @ columns
        gradients = row_weights * loss.gradients(y, scores)
        hessians = row_weights * loss.hessians(y, scores)
        slope = columns @ gradients + refitted.penalties * weights
        matrix = (columns * hessians) @ columns.T + np.diag(refitted.penalties)
        step = np.linalg.lstsq(matrix, slope, rcond=1e-12)[0]
        weights -= step * min(1.0, 2.0 / max(np.abs(step).max(initial=0.0), 1e-300))
    return weights


def all_covered(candidates: CandidateConditions, max_conditions: int) -> np.ndarray:
    """Rows of every conjunction of up to so many conditions, each set of rows once."""
    single = candidates.covered()
    found = np.ones((1, single.shape[1]), dtype=bool)
    for _ in range(max_conditions):
        longer = (found[:, np.newaxis] & single).reshape(-1, single.shape[1])
        found = np.unique(np.concatenate([found, longer]), axis=0)
    return found


def best_gain(
    sets: np.ndarray,
    gradients: np.ndarray,
    hessians: np.ndarray,
    penalty: float,
    refitted: list[tuple[np.ndarray, float]],
) -> float:
    """Largest decrease of the penalised loss by a set of rows, to second order, refitting others.

    These are pairs of covered rows and penalties.
    """
    # A rule that is there already, or its opposite, gains nothing but a share of the penalty.
    for mask, _ in refitted:
        sets = sets[(sets != mask).any(axis=1) & (sets == mask).any(axis=1)]
    masks = np.array([mask for mask, _ in refitted], dtype=bool).reshape(-1, len(gradients))
    shared = np.broadcast_to(masks, (len(sets), *masks.shape))
    columns = np.concatenate([sets[:, np.newaxis], shared], axis=1).astype(float)
    penalties = np.array([penalty, *(own for _, own in refitted)])
    matrices = (columns * hessians) @ columns.transpose(0, 2, 1) + np.diag(penalties)
    # The terms are fitted, so that their slopes, with the penalty, are 0.
    inverses = np.linalg.pinv(matrices, rcond=1e-12, hermitian=True)
    gains = (sets @ gradients) ** 2 * inverses[:, 0, 0] / 2
    return float(gains.max(initial=0.0))


@dataclass(frozen=True)
class RandomJointProblem(RandomProblem):
    """A problem beside other rules, whose weights are the best ones."""

    refitted: RefittedTerms | None = None
    weights: np.ndarray | None = None


@cache
def random_joint_problem(seed: int) -> RandomJointProblem:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(2, 25))
    extents = random_extents(rng, n_rows)
    row_weights = rng.choice([0.5, 1.0, 2.0, 3.3], n_rows) if rng.random() < 0.4 else None
    if rng.random() < 0.5:
        loss, y = SquaredLoss(), rng.choice([1.0, 0.5], n_rows) * rng.integers(-3, 4, n_rows)
        l2_regularization = float(rng.choice(REGULARIZATIONS))
    else:
        loss, y = LogisticLoss(), rng.choice([-1.0, 1.0], n_rows)
        y[:2] = -1.0, 1.0  # one class alone has no best intercept
        l2_regularization = float(rng.choice(REGULARIZATIONS[1:]))
    refitted = random_terms(rng, extents, l2_regularization)
    weights = refitted_weights(
        loss, y, refitted, np.ones(n_rows) if row_weights is None else row_weights
    )
    scores = weights @ np.array(refitted.values)
    problem = SearchProblem(
        extents,
        loss.gradients(y, scores),
        loss.hessians(y, scores),
        l2_regularization,
        row_weights,
        refitted,
    )
    limits: dict[str, Any] = {}
    if rng.random() < 0.5:
        limits["max_conditions"] = int(rng.integers(0, 4))
    if rng.random() < 0.3:
        limits["min_coverage"] = float(rng.random() * problem.total_coverage)
    return RandomJointProblem(problem, limits, refitted, weights)


def thresholds_problem(n_rows: int = 120) -> SearchProblem:
    """Every value of two features a threshold."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, n_rows))
    below = (x[:, None, :] <= np.sort(x)[:, :-1, None]).reshape(-1, n_rows)
    gradients = rng.normal(size=n_rows) + 2.0 * ((x[0] > 0.2) & (x[1] < 0.5))
    return SearchProblem(np.concatenate([below, ~below]), gradients, np.ones(n_rows), 2.0)
