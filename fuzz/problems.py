"""Random search problems of any scale, small enough to look at every query."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

SMALLEST, LARGEST = -290.0, 150.0
"""Decimal exponents of gradients, hessians, weights and penalties."""


@dataclass
class Case:
    """The input of a search."""

    extents: np.ndarray
    gradients: np.ndarray
    hessians: np.ndarray
    l2_regularization: float
    weights: np.ndarray | None
    limits: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        weights = None if self.weights is None else self.weights.tolist()
        return (
            f"extents={self.extents.astype(int).tolist()}, gradients={self.gradients.tolist()}, "
            f"hessians={self.hessians.tolist()}, l2_regularization={self.l2_regularization!r}, "
            f"weights={weights}, limits={self.limits}"
        )


def random_case(random: Random) -> Case:
    """Make a problem of up to 12 rows and 6 conditions, on any scale."""
    n_rows = random.randint(1, 12)
    of_gradients, of_hessians = _scales(random)
    weights = None
    if random.random() < 0.3:
        scale = 10.0 ** random.uniform(-100, 20) if random.random() < 0.3 else 1.0
        weights = np.array([random.choice((0.0, 0.5, 1.0, 2.0, 3.3)) for _ in range(n_rows)])
        weights[random.randrange(n_rows)] = 1.0
        weights *= scale
    return Case(
        _extents(random, n_rows),
        _numbers(random, n_rows, of_gradients, signed=True),
        _numbers(random, n_rows, of_hessians, signed=False),
        _penalty(random, of_hessians),
        weights,
        _limits(random, n_rows if weights is None else float(weights.sum())),
    )


def _scales(random: Random) -> tuple[float, float]:
    """Draw the sizes of gradients and hessians."""
    kind = random.random()
    if kind < 0.25:
        return 1.0, 1.0
    if kind < 0.5:  # as a loss has them whose target or weights are of some size
        scale = 10.0 ** random.uniform(SMALLEST, LARGEST)
        return scale, random.choice((1.0, scale))
    of_gradients = random.uniform(SMALLEST, LARGEST)
    # Not so small that objectives are infinite.
    lowest = max(SMALLEST, 2 * of_gradients - 280)
    return 10.0**of_gradients, 10.0 ** random.uniform(lowest, max(lowest, LARGEST))


def _numbers(random: Random, n_rows: int, scale: float, *, signed: bool) -> np.ndarray:
    kind = random.random()
    if kind < 0.5:  # ties
        numbers = [float(random.randint(-3 if signed else 1, 3)) for _ in range(n_rows)]
    elif kind < 0.8:
        numbers = [random.gauss(0, 1) if signed else random.random() for _ in range(n_rows)]
    else:  # of very different sizes
        signs = (-1.0, 1.0) if signed else (1.0,)
        numbers = [random.choice(signs) * 10.0 ** random.uniform(-12, 3) for _ in range(n_rows)]
    if random.random() < 0.1:
        for row in range(n_rows):
            if random.random() < 0.3:
                numbers[row] = 0.0
    return np.array(numbers) * scale


def _penalty(random: Random, of_hessians: float) -> float:
    kind = random.random()
    if kind < 0.25:
        return 0.0
    if kind < 0.6:
        return of_hessians * random.choice((0.01, 1.0, 10.0))
    if kind < 0.8:
        return float(min(of_hessians * 10.0 ** random.uniform(-60, 60), 1e300))
    return float(10.0 ** random.uniform(SMALLEST, LARGEST))


def _extents(random: Random, n_rows: int) -> np.ndarray:
    """Chains of nested sets, as numbers have them, or any sets, with repetitions and constants."""
    extents: list[list[bool]] = []
    n_candidates = random.randint(1, 6)
    while len(extents) < n_candidates:
        if random.random() < 0.4:
            cells = [random.randint(0, 3) for _ in range(n_rows)]
            for cut in range(3):
                extents.append([cell <= cut for cell in cells])
        else:
            density = random.choice((0.2, 0.5, 0.8))
            extents.append([random.random() < density for _ in range(n_rows)])
    random.shuffle(extents)
    return np.array(extents[:n_candidates], dtype=bool)


def _limits(random: Random, total: float) -> dict[str, Any]:
    limits: dict[str, Any] = {"max_conditions": random.randint(1, 5)}
    if random.random() < 0.3:
        limits["min_coverage"] = random.random() * total
    return limits
