"""The best term of both kinds, by brute force: all rules and all slopes, with dense algebra."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from laconic.boosting import Barred, Rounds, State
from laconic.boosting.settings import make_term
from laconic.candidates.candidates import candidate_conditions
from laconic.candidates.constraints import read_constraints
from laconic.candidates.slopes import SlopeCandidates, candidate_slopes
from laconic.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from laconic.search import SearchResult, SearchStatus
from laconic.terms.conditions import Query
from laconic.terms.formatting import merged
from laconic.terms.rules import Output, RuleEnsemble
from laconic.terms.slopes import Slope


@dataclass(frozen=True, eq=False)
class DrawnRound:
    """A round with some terms present, and terms that are barred in it."""

    rounds: Rounds
    state: State
    barred: list[Barred]
    max_conditions: int
    min_coverage: float


def slopes_of(slopes: SlopeCandidates) -> list[Slope]:
    """List all slopes."""
    return [slopes.slope(*place) for place in slopes.places()]


def on_rule_scale(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Divide the values of a slope so that their standard deviation is 0.4."""
    if values.dtype == bool:
        return values.astype(float)
    mean = np.average(values, weights=weights)
    return values * 0.4 / math.sqrt(np.average((values - mean) ** 2, weights=weights))


def queries_of(rounds: Rounds, longest: int) -> list[tuple[int, ...]]:
    """List all conjunctions of up to so many conditions."""
    places = range(len(rounds.candidates))
    return [query for size in range(longest + 1) for query in combinations(places, size)]


def draw_round(seed: int, n_outputs: int | None = None) -> DrawnRound:
    """Draw a small table with missing cells, weights, constraints, and up to six terms."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = int(rng.integers(8, 26)), int(rng.integers(1, 4))
    X = rng.normal(size=(n_rows, n_features)).round(int(rng.integers(0, 3)))
    if rng.random() < 0.3:
        X = np.exp(2.0 * X)
    if rng.random() < 0.4:
        X[rng.random(X.shape) < 0.15] = np.nan
    weights = rng.choice([0.5, 1.0, 3.3], n_rows) if rng.random() < 0.4 else None
    n_outputs = n_outputs or int(rng.choice([1, 1, 3]))
    penalty = float(rng.choice([0.01, 0.1, 1.0, 10.0]))
    y: np.ndarray
    loss: Any
    if n_outputs > 1:
        y, loss = rng.integers(0, n_outputs, n_rows).astype(float), MultinomialLoss()
        y[:n_outputs] = range(n_outputs)
    elif rng.random() < 0.5:
        y, loss = np.where(rng.random(n_rows) < 0.4, 1.0, -1.0), LogisticLoss()
        y[:2] = 1.0, -1.0
    else:
        y, loss = rng.normal(size=n_rows) + np.nan_to_num(X[:, 0]).clip(-3, 3), SquaredLoss()
    names = [f"x{n}" for n in range(n_features)]
    constraints = None
    kind = rng.choice(["none", "none", "signs", "monotone", "costs"])
    if kind == "signs":
        sign = str(rng.choice(["positive", "negative"]))
        constraints = read_constraints(names, weight_signs=sign)
    elif kind == "monotone" and n_outputs == 1:
        constraints = read_constraints(names, monotonic_cst={0: int(rng.choice([-1, 1]))})
    elif kind == "costs":
        constraints = read_constraints(names, feature_costs={0: float(rng.choice([0.01, 0.1]))})
    longest = int(rng.integers(1, 3))
    min_coverage = float(rng.choice([0.0, 0.0, 3.0]))
    rounds = Rounds(
        candidate_conditions(X, max_thresholds=2, sample_weight=weights),
        y,
        loss,
        l2_regularization=penalty,
        sample_weight=weights,
        slopes=candidate_slopes(X, max_thresholds=int(rng.integers(0, 4)), sample_weight=weights),
        is_joint=bool(rng.random() < 0.7),
        fit_intercept=bool(rng.random() < 0.6),
        constraints=constraints,
        brevity=float(rng.choice([0.0, 0.5, 1.0, 2.0])),
        beats_chance=bool(rng.random() < 0.2),
        search_options={"max_conditions": longest, "min_coverage": min_coverage},
    )
    assert rounds.slopes is not None
    slopes, queries = slopes_of(rounds.slopes), queries_of(rounds, longest)
    terms, columns = [], []
    for _ in range(int(rng.integers(0, 7))):
        output, weight = int(rng.integers(n_outputs)), float(rng.normal())
        if slopes and rng.random() < 0.5:
            form = slopes[rng.integers(len(slopes))]
            values = rounds.slopes.values(form)
            weight /= float(values.max())
        else:
            query = queries[rng.integers(len(queries))]
            values = rounds.candidates.extents.covered(list(query))
            form = merged(Query(tuple(rounds.candidates.conditions[p] for p in query)))
        of = output if n_outputs > 1 else None
        if constraints is None or constraints.signs_of(form, of):
            terms.append(make_term(form, weight, output))
            columns.append(values)
    outputs = tuple(Output(str(k), 0.0) for k in range(n_outputs)) if n_outputs > 1 else ()
    results = [SearchResult((), 0.0, math.inf, SearchStatus.HEURISTIC)] * len(terms)
    ensemble = RuleEnsemble(tuple(terms), outputs=outputs)
    state = State(ensemble, tuple(columns), tuple(results))
    barred = []
    if rng.random() < 0.3 and slopes:
        chosen = rng.permutation(len(slopes))[: len(slopes) // 2 + 1]
        barred += [Barred(slopes[n], None if rng.random() < 0.5 else 0) for n in chosen]
    if rng.random() < 0.3:
        query = queries[rng.integers(len(queries))]
        barred.append(Barred(rounds.candidates.extents.covered(list(query))))
    return DrawnRound(rounds, rounds.begin(state), barred, longest, min_coverage)


@dataclass(frozen=True)
class Worth:
    """A term and what it is worth."""

    value: float
    size: int
    form: tuple[int, ...] | Slope
    output: int


def all_worths(drawn: DrawnRound) -> list[Worth]:
    """Compute what every rule and every slope is worth, for every output, from the definitions."""
    rounds, state = drawn.rounds, drawn.state
    weights = np.ones(len(rounds.y)) if rounds.sample_weight is None else rounds.sample_weight
    penalty, n_outputs = rounds.l2_regularization, max(1, len(state.ensemble.outputs))
    others_penalty = penalty
    raw = rounds.raw_predictions(state)
    shape = (len(rounds.y), n_outputs)
    gradients = (rounds.loss.gradients(rounds.y, raw)).reshape(shape) * weights[:, None]
    hessians = (rounds.loss.hessians(rounds.y, raw)).reshape(shape) * weights[:, None]
    noise = 0.0
    if rounds.beats_chance:
        squares = (gradients**2 / weights[:, None]).sum()
        noise = squares / hessians.sum() / weights.sum()
    assert rounds.slopes is not None
    slopes, constraints = slopes_of(rounds.slopes), rounds.constraints
    n_candidates = len(rounds.candidates)
    found = []
    for output in range(n_outputs):
        own = [
            on_rule_scale(values, weights)
            for term, values in zip(state.ensemble, state.columns, strict=True)
            if term.output == output
        ]
        rows_taken = [
            values
            for term, values in zip(state.ensemble, state.columns, strict=True)
            if term.output == output and values.dtype == bool and rounds.is_joint
        ]
        has_free = rounds.is_joint and rounds.fit_intercept
        others = (own if rounds.is_joint else []) + ([np.ones(len(weights))] if has_free else [])
        penalties = [others_penalty] * (len(own) if rounds.is_joint else 0) + [0.0] * has_free
        bars = [each.what for each in drawn.barred if each.is_of(output)]
        # Beside an intercept, the complement is the same; also beside a rule that covers all rows.
        taken = [rows for rows in bars if not isinstance(rows, Slope)]
        taken += [~rows for rows in taken if has_free]
        if has_free:
            rows_taken.append(np.ones(len(weights), dtype=bool))
        taken += rows_taken
        taken += [~rows for rows in rows_taken if any(each.all() for each in rows_taken)]
        known = [b for b in bars if isinstance(b, Slope)]
        if rounds.is_joint:
            known += [t.key for t in state.ensemble if isinstance(t, Slope) and t.output == output]

        def gain_of(values, form, output=output, others=others, penalties=penalties):
            z = on_rule_scale(values, weights)
            force = z @ gradients[:, output]
            if constraints is not None:
                if not constraints.are_allowed(form):
                    return None
                allowed = constraints.signs_of(form, output if n_outputs > 1 else None)
                if (-1 if force > 0.0 else 1) not in allowed:
                    return None
            columns = np.array([z, *others])
            matrix = (columns * hessians[:, output]) @ columns.T + np.diag([penalty, *penalties])
            left = matrix[0, 0]
            if len(others):
                beside = matrix[1:, 0]
                inverse = np.linalg.pinv(matrix[1:, 1:], rcond=1e-12, hermitian=True)
                left -= beside @ inverse @ beside
            left = max(left, penalty)
            cost = 0.0 if constraints is None else constraints.cost(form)
            return force**2 / left / 2.0 / weights.sum() - cost

        for query in queries_of(rounds, drawn.max_conditions):
            rows = rounds.candidates.extents.covered(list(query))
            is_taken = any(np.array_equal(rows, other) for other in taken)
            if is_taken or weights[rows].sum() < drawn.min_coverage - 1e-9 or not rows.any():
                continue
            form = Query(tuple(rounds.candidates.conditions[p] for p in query))
            gain = gain_of(rows, form)
            if gain is None:
                continue
            k = min(len(query), n_candidates // 2)
            chance = noise * math.log(max(math.comb(n_candidates, k), 2))
            value = (gain - chance) / (1.0 + len(query)) ** rounds.brevity
            found.append(Worth(value, 1 + len(query), query, output))
        for slope in slopes:
            if slope in known:
                continue
            gain = gain_of(rounds.slopes.values(slope), slope)
            if gain is not None:
                value = gain - noise * math.log(max(len(slopes), 2))
                size = 1 + slope.n_conditions
                found.append(Worth(value / size**rounds.brevity, size, slope, output))
    return found
