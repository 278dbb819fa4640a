"""The path of the relaxed problem: the best weights of all conjunctions for every penalty on them.

For a penalty m, that is the minimum of loss + m Σ|w| over all conjunctions, solved through a few of
them. Forces whose sums are at most m bound it from below, by what `relaxation.risk` calls D.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from laconic._checks import require
from laconic.losses import Floats
from laconic.relaxation.pricing import Column, Pricing
from laconic.relaxation.risk import TrainingRisk
from laconic.search import Extents, SearchStatus

_MAX_ROUNDS = 100
# A penalty is solved if its value is proven to this share of the largest possible improvement.
_GAP = 1e-3
# Of the loss itself, where there is nothing to improve.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class PathPoint:
    """The relaxed problem at one penalty."""

    penalty: float
    """The m above."""
    intercept: float
    columns: tuple[Column, ...]
    """The rules that have a weight, with their queries."""
    loss: float
    """Summed over the rows."""
    bound: float
    """No weights have a smaller loss with penalty."""
    status: SearchStatus
    """``optimal`` where the value is proven to a thousandth of the largest possible improvement,
    else what ended the search."""

    @property
    def n_rules(self) -> int:
        """Number of rules that have a weight."""
        return len(self.columns)

    @property
    def total_weight(self) -> float:
        """Sum of the absolute weights."""
        return float(sum(abs(column.weight) for column in self.columns))

    @property
    def value(self) -> float:
        """The loss with its penalty, which is at least the bound."""
        return self.loss + self.penalty * self.total_weight


def l1_path(
    extents: Extents,
    risk: TrainingRisk,
    *,
    penalties: Sequence[float] | int = 20,
    smallest: float = 0.05,
    max_conditions: int | None = 3,
    min_coverage: float = 0.0,
    node_limit: int | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = 1,
    callback: Callable[[PathPoint], Any] | None = None,
) -> tuple[PathPoint, ...]:
    """Solve the relaxed problem for falling penalties, each from the weights of the one before.

    Parameters
    ----------
    extents : Extents
        Rows of all conditions.
    risk : TrainingRisk
    penalties : sequence of float or int, default=20
        On the sum of absolute weights; they are solved from the largest on. A number: so many, in
        equal ratios, from the smallest one without rules down to `smallest` times as much.
    smallest : float, default=0.05
    max_conditions, min_coverage, n_jobs
        As for :func:`prove`.
    node_limit, time_limit
        For the whole path. Points that it leaves out are missing.
    callback : callable, default=None
        Called with each point; a true return value ends the path.

    Returns
    -------
    points : tuple of PathPoint
        The same for any number of threads, unless time is limited.

    Examples
    --------
    >>> from laconic.losses import SquaredLoss
    >>> extents = Extents(np.array([[True, True, False, False], [False, True, True, False]]))
    >>> risk = TrainingRisk(np.array([5.0, 5.0, 1.0, 1.0]), SquaredLoss())
    >>> for point in l1_path(extents, risk, penalties=[8.0, 4.0], max_conditions=2):
    ...     print(point.penalty, point.n_rules, round(point.loss, 6), round(point.bound, 2))
    8.0 0 16.0 16.0
    4.0 1 4.0 12.0
    """
    scope = {"max_conditions": max_conditions, "min_coverage": min_coverage}
    run = _PathRun(
        extents, risk, scope, node_limit=node_limit, time_limit=time_limit, n_jobs=n_jobs
    )
    points: list[PathPoint] = []
    for penalty in run.penalties(penalties, smallest):
        points.append(run.point(penalty))
        if (callback is not None and callback(points[-1])) or run.status is not None:
            break
    return tuple(points)


class _PathRun(Pricing):
    """A path while it is being found."""

    def penalties(self, wanted: Sequence[float] | int, smallest: float) -> Iterator[float]:
        """List penalties from the largest on."""
        if not isinstance(wanted, int | np.integer):
            numbers = sorted(map(float, wanted), reverse=True)
            is_met = all(np.isfinite(number) and number > 0.0 for number in numbers)
            require(is_met, "penalties", "finite and positive", list(wanted))
            yield from numbers
            return
        require(wanted >= 1, "penalties", "a number in the range [1, inf)", wanted)
        require(0.0 < smallest < 1.0, "smallest", "a number in the range (0, 1)", smallest)
        self.pose()
        largest = self.largest_sum(self.search())
        if largest > 0.0:
            yield from (largest * np.geomspace(1.0, smallest, int(wanted))).tolist()

    def _dual_value(self, forces: Floats, largest: float, penalty: float) -> float:
        """Bound the problem by the largest multiple of forces whose sums are within the penalty."""
        if largest <= penalty:
            return self.risk.dual_value(forces)
        scale = penalty / largest * (1.0 - 1e-12)
        scaled = self.risk.exact(scale * forces)
        rounding = float(np.abs(scaled - scale * forces).sum())
        if scale * largest + 2.0 * rounding > penalty:
            scaled = self.risk.exact(scaled * max(1.0 - 4.0 * rounding / penalty, 0.0))
        return self.risk.dual_value(scaled)

    def point(self, penalty: float) -> PathPoint:
        """Solve the problem for a penalty."""
        best, status = 0.0, SearchStatus.APPROXIMATE
        start = self.risk.value_at_constant
        for _ in range(_MAX_ROUNDS):
            self.restricted.solve(0.0, penalty)
            self.forget()
            forces = self.pose()
            new = self.beam(penalty)
            if not new:
                result = self.search(penalty)
                largest = self.largest_sum(result)
                best = max(best, self._dual_value(forces, largest, penalty))
                value = self.restricted.value(0.0, penalty)
                if value - best <= _GAP * max(start - best, 0.0) + _ROUNDING * start:
                    status = SearchStatus.OPTIMAL
                    break
                new = self.found(penalty, result)
            if self.status is not None or not new:
                break
            self.add(new)
        restricted = self.restricted
        return PathPoint(
            penalty,
            restricted.intercept,
            tuple(self.used_columns()),
            self.risk.value(restricted.raw_predictions),
            max(best, 0.0),
            self.status or status,
        )
