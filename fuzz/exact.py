"""All queries of a small problem, in whole numbers: nothing is rounded.

Doubles are whole multiples of a power of two, so that sums, squares and products of them can be
compared as whole numbers. It shares nothing with the searches but the statistics as the problem has
rounded them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from laconic.search import SearchProblem


@dataclass
class Optimum:
    """The best query and its value."""

    query: tuple[int, ...]
    """Of those with the largest value in doubles the shortest, and of these the first."""
    value: Fraction
    """Its exact (Σg)²/(λ + Σh)."""


def whole_numbers(values: Sequence[float]) -> tuple[list[int], int]:
    """Write doubles as whole numbers over a common denominator."""
    ratios = [value.as_integer_ratio() for value in values]
    denominator = max((each for _, each in ratios), default=1)
    return [number * (denominator // each) for number, each in ratios], denominator


def bits(rows: np.ndarray) -> int:
    """Write a set of rows as a number."""
    return int.from_bytes(np.packbits(rows, bitorder="little").tobytes(), "little")


class Brute:
    """All sets of rows that queries of a problem cover."""

    def __init__(self, problem: SearchProblem, extents: np.ndarray) -> None:
        self.n_rows = problem.n_rows
        self.extents = [bits(row) for row in extents]
        self.gradients, self.of_gradients = whole_numbers(problem.gradients.tolist())
        hessians, self.of_hessians = whole_numbers(
            [*problem.hessians.tolist(), problem.l2_regularization]
        )
        *self.hessians, self.penalty = hessians
        self.coverage, self.of_coverage = whole_numbers(problem.coverage.tolist())

    def sums(self, covered: int) -> tuple[int, int, int]:
        """Add up gradients, hessians and coverage."""
        gradient = hessian = coverage = 0
        for row in range(self.n_rows):
            if covered >> row & 1:
                gradient += self.gradients[row]
                hessian += self.hessians[row]
                coverage += self.coverage[row]
        return gradient, hessian, coverage

    def exact(self, gradient: int, hessian: int) -> Fraction:
        """Compute the exact value of sums."""
        if gradient == 0:
            return Fraction(0)
        return Fraction(
            gradient * gradient * self.of_hessians,
            self.of_gradients * self.of_gradients * (self.penalty + hessian),
        )

    def in_doubles(self, gradient: int, hessian: int) -> float:
        """Compute the value of sums in doubles, in which the sums are exact."""
        if gradient == 0:
            return 0.0
        sum_gradients, sum_hessians = gradient / self.of_gradients, hessian / self.of_hessians
        penalty = self.penalty / self.of_hessians
        return sum_gradients * sum_gradients / (penalty + sum_hessians)

    def optimum(self, max_conditions: int, min_coverage: float) -> Optimum:
        """Look at every query, the shorter ones first."""
        everything = (1 << self.n_rows) - 1
        gradient, hessian, _ = self.sums(everything)
        best, best_value = (), self.in_doubles(gradient, hessian)
        most = gradient * gradient, self.penalty + hessian
        least = Fraction(min_coverage) * self.of_coverage
        known, level = {everything}, [((), everything)]
        for _ in range(max_conditions):
            longer = []
            for query, covered in level:
                for p in range(query[-1] + 1 if query else 0, len(self.extents)):
                    rows = covered & self.extents[p]
                    if rows in known:
                        continue
                    known.add(rows)
                    longer.append(((*query, p), rows))
                    gradient, hessian, coverage = self.sums(rows)
                    if gradient == 0 or coverage < least:
                        continue
                    value = self.in_doubles(gradient, hessian)
                    if value > best_value:
                        best, best_value = (*query, p), value
                    square, divisor = gradient * gradient, self.penalty + hessian
                    if square * most[1] > most[0] * divisor or most[0] == 0:
                        most = square, divisor
            level = longer
        if most[0] == 0:
            return Optimum(best, Fraction(0))
        return Optimum(best, Fraction(most[0] * self.of_hessians, self.of_gradients**2 * most[1]))
