"""The input of a search: a problem, and limits on the queries and on the work.

A :class:`SearchProblem` knows extents, gradients and hessians: no feature, no target and no loss.
"""

from __future__ import annotations

import copy
import copyreg
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from laconic import _core
from laconic._core import Extents, ExtentsBuilder
from laconic._util.checks import is_whole, require
from laconic._util.types import Bools, Floats, Values
from laconic.search.joint_objective import (
    IMITATED,
    RefittedTerms,
    packed_sets,
    remaining_hessians,
    rounded,
)

# Sums of statistics beyond 2**±256 are scaled, so that squares and quotients of them stay far from
# where doubles end.
_MAX_EXPONENT = 256
# A penalty that is further below the hessians is lost when they are added up.
_MAX_EXPONENT_GAP = 980


def _vector(values: npt.ArrayLike, name: str, n_rows: int) -> Floats:
    """Convert one value per row."""
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.shape != (n_rows,):
        raise ValueError(
            f"{name} must have one value per row of the extents, shape ({n_rows},). "
            f"Got shape {array.shape}."
        )
    return array


def _check_finite(values: Floats, name: str) -> None:
    is_finite = np.isfinite(values)
    if not is_finite.all():
        row = int(is_finite.argmin())
        raise ValueError(
            f"{name} must be finite. Got {values[row]} at row {row}. Check the target and its "
            "scale."
        )


def _check_not_negative(values: Floats, name: str) -> None:
    if values.min() < 0.0:
        raise ValueError(
            f"{name} must not be negative. Got {values.min()} at row {values.argmin()}."
        )


class SearchProblem:
    """Find the conjunction of conditions with the largest boosting objective.

    The objective of a query that covers the rows I is (Σ_I g)² / (2n (λ + Σ_I h)): the decrease of
    the regularised risk, to second order, when the query's rule is added with its best weight.
    Where other terms are refitted with it, this is the joint objective: the decrease after the
    refit, with what the terms cannot imitate in the place of Σ_I h (see
    :mod:`laconic.search.joint_objective`).

    Parameters
    ----------
    extents : bool array-like of shape (n_candidates, n_rows), or Extents
        Which condition holds for which row. :class:`~laconic.search.Extents` made from such an
        array can be shared by several problems on the same rows.
    gradients, hessians : array-like of shape (n_rows,)
        First and second derivatives of the loss; hessians must not be negative.
    l2_regularization : float, default=0.0
        The penalty λ on the squared weight.
    sample_weight : array-like of shape (n_rows,), default=None
        Multiplies gradients and hessians. A row of weight two counts as two rows everywhere: in n
        and in the coverage.
    refitted : RefittedTerms, default=None
        Terms whose weights are refitted with the new rule. At the given gradients their weights
        must be the best ones. None for the stagewise objective.

    Attributes
    ----------
    extents : Extents
        Which condition holds for which row, packed and sorted as the searches need it.
    gradients, hessians, coverage : ndarray of shape (n_rows,)
        Weighted statistics, rounded so that all partial sums are exact in double precision. The
        coverage of a query is the sum of its rows' entries: their number, or their total weight.
        Where gradients add up to something extremely small or large, they are multiplied by a power
        of two; so are hessians and the regularisation. Objectives and weights are what they are.
    total_coverage : float
        The n of the objective: number of rows, or their total weight.
    normalizer : float
        The factor 2n between (Σg)²/(λ + Σh) and the objective.
    projections : ndarray of shape (n_components, n_rows) or None
        Each row's part in what refitted terms imitate, rounded like the gradients. None, as are the
        next two, for the stagewise objective.
    cells : int array of shape (n_rows,) or None
        Rows that are covered by the same refitted terms have the same number.
    excluded : ndarray of shape (n_sets, n_bytes) or None
        Sets of rows that are worth nothing, such as those that a term covers already; of bits.
    sign : {-1, 0, 1}
        Sign of the weights that rules may have, 0 for either. Queries of the other sign are worth
        nothing. See :meth:`restricted`.

    Examples
    --------
    Four rows; the first condition covers the first two, the second one the first three.

    >>> extents = [[True, True, False, False], [True, True, True, False]]
    >>> problem = SearchProblem(extents, gradients=[-1, -1, 1, 1], hessians=[1, 1, 1, 1])
    >>> problem.objective((0,)), problem.weight((0,))
    (0.25, 1.0)
    """

    def __init__(
        self,
        extents: npt.ArrayLike | Extents,
        gradients: npt.ArrayLike,
        hessians: npt.ArrayLike,
        l2_regularization: float = 0.0,
        sample_weight: npt.ArrayLike | None = None,
        refitted: RefittedTerms | None = None,
    ) -> None:
        self.extents = _as_extents(extents)
        self.sign = 0
        self._posed: _core.Problem | None = None
        n_rows = self.extents.n_rows
        if n_rows == 0:
            raise ValueError("extents must have at least one row. Got shape (…, 0).")
        self.l2_regularization = float(l2_regularization)
        require(
            math.isfinite(self.l2_regularization) and self.l2_regularization >= 0.0,
            "l2_regularization",
            "a finite number in the range [0, inf)",
            l2_regularization,
        )
        self._given_regularization = self.l2_regularization
        self._weights = None
        if sample_weight is not None:
            self._weights = _vector(sample_weight, "sample_weight", n_rows)
            _check_finite(self._weights, "sample_weight")
            _check_not_negative(self._weights, "sample_weight")
            if not self._weights.any():
                raise ValueError(
                    "sample_weight must be positive for at least one row. Got all zero."
                )
        self.coverage, _ = self._summable(np.ones(n_rows), "sample_weight")
        self.total_coverage = float(self.coverage.sum())
        self.normalizer = 2.0 * self.total_coverage
        self._set_statistics(gradients, hessians, refitted)

    def with_statistics(
        self,
        gradients: npt.ArrayLike,
        hessians: npt.ArrayLike,
        refitted: RefittedTerms | None = None,
    ) -> Self:
        """Return the same problem with other gradients, hessians and refitted terms.

        Parameters
        ----------
        gradients, hessians : array-like of shape (n_rows,)
        refitted : RefittedTerms, default=None
            As for the class.

        Returns
        -------
        problem : SearchProblem
            With the same extents, weights and regularisation, which are neither checked nor
            converted again.

        Examples
        --------
        >>> problem = SearchProblem([[True, False]], gradients=[2, 0], hessians=[1, 1])
        >>> problem.with_statistics([-4, 0], [1, 1]).weight((0,))
        4.0
        """
        problem = self._unposed()
        problem._set_statistics(gradients, hessians, refitted)
        return problem

    def without_scale(self) -> Self:
        """Return the problem with objectives computed from the scaled statistics.

        The true objectives of extreme statistics may overflow or underflow, these do not;
        `unscaled` converts them.
        """
        problem = copy.copy(self)
        problem.normalizer, _ = math.frexp(self.normalizer)
        problem._exponent = 0
        return problem

    def stagewise(self) -> Self:
        """Return the problem with the stagewise objective, which refits no term."""
        problem = self._unposed()
        problem.projections = problem.cells = problem.excluded = None
        return problem

    def excluding(self, sets: Sequence[Bools]) -> Self:
        """Return the problem with further sets of rows that are worth nothing."""
        if len(sets) == 0:
            return self
        problem = self._unposed()
        if problem.excluded is None:
            # Only the joint objective excludes sets: here that of terms that imitate nothing.
            problem.projections = np.zeros((1, self.n_rows))
            problem.cells = np.zeros(self.n_rows, dtype=np.int32)
            problem.excluded = packed_sets((), self.n_rows)
        problem.excluded = np.vstack([problem.excluded, packed_sets(sets, self.n_rows)])
        return problem

    def restricted(self, extents: Extents, sign: int) -> Self:
        """Return the problem for other conditions on the same rows, and weights of one sign."""
        problem = self._unposed()
        problem.extents, problem.sign = extents, sign
        return problem

    def detached(self) -> Self:
        """Return the problem without its extents, which many problems share."""
        problem = self._unposed()
        problem.__dict__.update(extents=None, _weights=None)
        return problem

    def posed(self) -> _core.Problem:
        """Return the problem as the core has it, which is made once and kept until `release`."""
        if self._posed is None:
            refitted = None
            if not (self.projections is None or self.cells is None or self.excluded is None):
                refitted = self.projections, self.cells, self.excluded
            self._posed = _core.Problem(
                self.extents,
                self.gradients,
                self.hessians,
                self.coverage,
                self.l2_regularization,
                refitted,
                self.sign,
            )
        return self._posed

    def release(self) -> None:
        """Free the memory of what `posed` has returned."""
        self._posed = None

    def _unposed(self) -> Self:
        problem = copy.copy(self)
        problem._posed = None
        return problem

    @property
    def n_components(self) -> int:
        """Number of projections that are added up for a query; 0 for the stagewise objective."""
        return 0 if self.projections is None else len(self.projections)

    def _set_statistics(
        self, gradients: npt.ArrayLike, hessians: npt.ArrayLike, refitted: RefittedTerms | None
    ) -> None:
        """Weight, round and scale the statistics.

        Sets: gradients, hessians, l2_regularization, projections, cells, excluded.
        """
        gradients = _vector(gradients, "gradients", self.n_rows)
        hessians = _vector(hessians, "hessians", self.n_rows)
        _check_not_negative(hessians, "hessians")
        self.gradients, total_gradients = self._summable(gradients, "gradients")
        self.hessians, total_hessians = self._summable(hessians, "hessians")
        total_gradients, total_hessians = self._scale(total_gradients, total_hessians)
        is_flat = self._is_flat()
        if self._is_penalty_lost(total_hessians) and is_flat.any():
            raise ValueError(
                f"l2_regularization is too small: row {int(is_flat.argmax())} has a zero hessian "
                "and a non-zero gradient, so that its best weight would be infinite. Got "
                f"{self._given_regularization:g}. Raise it."
            )
        self._set_refitted(refitted)
        self._check_overflow(total_gradients, total_hessians, is_flat)

    def _scale(self, total_gradients: float, total_hessians: float) -> tuple[float, float]:
        """Scale extreme statistics to sums of about 1; returns the totals on that scale.

        Sets: gradients, hessians, l2_regularization.
        """
        of_gradients = _extreme_exponent(total_gradients)
        of_hessians = _extreme_exponent(max(total_hessians, self._given_regularization))
        gap = _exponent_gap(total_hessians, self._given_regularization)
        if gap > _MAX_EXPONENT and self._is_flat().any():
            # Some sets have the penalty alone, others hessians far above it: both sides of 1.
            of_hessians = math.frexp(total_hessians)[1] - gap // 2
        if of_hessians != 0:  # what is left of the penalty may be small
            _, of_gradients = math.frexp(total_gradients)
        self._exponents = of_gradients, of_hessians
        self._exponent = 2 * of_gradients - of_hessians  # of objectives
        self.l2_regularization = math.ldexp(self._given_regularization, -of_hessians)
        if of_gradients != 0:
            self.gradients = np.ldexp(self.gradients, -of_gradients)
        if of_hessians != 0:
            self.hessians = np.ldexp(self.hessians, -of_hessians)
        return math.ldexp(total_gradients, -of_gradients), math.ldexp(total_hessians, -of_hessians)

    def _is_flat(self) -> Bools:
        """Find rows with a gradient but no hessian."""
        is_flat: Bools = (self.hessians == 0.0) & (self.gradients != 0.0)
        return is_flat

    def _is_penalty_lost(self, total_hessians: float) -> bool:
        """Check whether there is no penalty, or none that counts beside the hessians."""
        penalty = self.l2_regularization
        return penalty == 0.0 or _exponent_gap(total_hessians, penalty) > _MAX_EXPONENT_GAP

    def _check_overflow(
        self, total_gradients: float, total_hessians: float, is_flat: Bools
    ) -> None:
        """Raise an error if objectives may be infinite."""

        def is_infinite(denominator: float) -> bool:
            if total_gradients == 0.0 or denominator == 0.0:
                return False  # without any hessian there is nothing to divide by
            return math.isinf(self.objective_of(total_gradients**2 / denominator))

        imitated = 1.0 if self.projections is None else IMITATED
        smallest = 0.0
        if not is_flat.any():
            # No positive hessian is smaller than the last digit of their sum, which mostly will do.
            if not is_infinite(self.l2_regularization + imitated * math.ulp(total_hessians)):
                return
            smallest = float(self.hessians[self.hessians > 0.0].min(initial=np.inf))
        if not is_infinite(self.l2_regularization + imitated * smallest):
            return
        is_of_use = not is_infinite(_shifted(1.0, -self._exponents[1]))
        remedy = "raise l2_regularization" if is_of_use else "scale the target or the weights down"
        raise ValueError(
            "The squared sum of gradients divided by the smallest hessian must be finite. "
            f"Got values that overflow; {remedy}."
        )

    def _set_refitted(self, refitted: RefittedTerms | None) -> None:
        """Compute what the refitted terms can imitate.

        Sets: projections, cells, excluded.
        """
        self.projections: Floats | None = None
        self.cells: npt.NDArray[np.int32] | None = None
        self.excluded: npt.NDArray[np.uint8] | None = None
        if refitted is None or len(refitted.values) == 0:
            return
        if refitted.n_rows != self.n_rows:
            raise ValueError(
                f"refitted must cover the rows of the extents, {self.n_rows}. "
                f"Got {refitted.n_rows} rows."
            )
        refitted = replace(refitted, penalties=np.ldexp(refitted.penalties, -self._exponents[1]))
        cells = refitted.cells(self.n_rows)
        projections = refitted.projections(self.hessians, cells)
        if len(projections) > 0:  # not if all hessians are 0
            self.projections, self.cells, self.excluded = projections, cells, refitted.excluded()

    def _summable(self, values: Floats, name: str) -> tuple[Floats, float]:
        """Weight values and round them so that all partial sums are exact in double precision.

        All become multiples of one power of two, 2**-51 of their total magnitude or less, which is
        what adding all of them up would lose anyhow. In return a set of rows has the same sum in
        whatever order it is added, so that values of queries can be compared for equality and do
        not depend on traversal order or threads. The price: rows that matter less than 2**-51 of
        the total do not count. Small whole weights give exactly what that many rows would, and
        positive values stay positive if there is no negative one.

        Returns the rounded values and their total magnitude, which is finite.
        """
        rounded, total = _core.exactly_summable(values, self._weights)
        if total == 0.0:
            rounded = np.zeros(len(values))  # which takes no memory, unless it is written to
        # A product that is not finite shows in the total.
        if not math.isfinite(total):
            _check_finite(values, name)
            raise ValueError(
                "The sums of gradients, hessians and weights must be finite. "
                "Got values that overflow; scale the target or the weights down."
            )
        return rounded, total

    @property
    def n_candidates(self) -> int:
        """Number of conditions."""
        return self.extents.n_candidates

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.extents.n_rows

    def objective_of(self, value: float) -> float:
        """(Σg)²/(λ + Σh), of the statistics as they are here, as an objective: divided by 2n."""
        divisor, exponent = math.frexp(self.normalizer)
        return _shifted(value / divisor, self._exponent - exponent)

    def value_of(self, objective: float) -> float:
        """(Σg)²/(λ + Σh), of the statistics as they are here, that an objective stands for."""
        divisor, exponent = math.frexp(self.normalizer)
        return _shifted(objective, exponent - self._exponent) * divisor

    def unscaled(self, objective: float) -> float:
        """Convert an objective of `without_scale` to a true one; 0 or inf where doubles end."""
        return _shifted(objective, self._exponent - math.frexp(self.normalizer)[1])

    def covered(self, query: tuple[int, ...]) -> Bools:
        """Return a mask of the rows that satisfy all conditions of a query."""
        return self.extents.covered(list(query))

    def value(self, covered: Values) -> float:
        """(Σg)²/(λ + Σh) over the covered rows; 0 for none, also where λ is 0.

        Of a term with other values z than zeros and ones it is (Σgz)²/(λ + Σhz²).

        For the joint objective, what refitted terms cannot imitate takes the place of Σh, excluded
        sets are worth 0, and values are rounded, so that ties are ties. Weights of the wrong sign
        are worth 0, too.
        """
        covered = np.ascontiguousarray(covered)
        is_rule = covered.dtype == np.bool_
        if is_rule and self.is_excluded(covered):
            return 0.0
        sum_gradients, sum_hessians = self._sums(covered)
        if sum_gradients == 0.0 or sum_gradients * self.sign > 0.0:
            return 0.0
        value = sum_gradients * sum_gradients / (self.l2_regularization + sum_hessians)
        return value if is_rule and self.projections is None else rounded(value)

    def is_excluded(self, covered: Bools) -> bool:
        """Check whether a set of rows is one of the excluded ones."""
        if self.excluded is None:
            return False
        return bool((self.excluded == packed_sets([covered], self.n_rows)).all(axis=1).any())

    def objective(self, query: tuple[int, ...]) -> float:
        """Objective value of a query."""
        return self.objective_of(self.value(self.covered(query)))

    def weight(self, query: tuple[int, ...]) -> float:
        """Weight that minimises the regularised risk of the query's rule, to second order."""
        return self.weight_of(self.covered(query))

    def weight_of(self, covered: Values) -> float:
        """Weight of a rule that covers some rows, or of a term with other values."""
        sum_gradients, sum_hessians = self._sums(covered)
        if sum_gradients == 0.0:
            return 0.0
        of_gradients, of_hessians = self._exponents
        weight = -sum_gradients / (self.l2_regularization + sum_hessians)
        return math.ldexp(weight, of_gradients - of_hessians)

    def _sums(self, covered: Values) -> tuple[float, float]:
        """Add up gradients and hessians of the covered rows, less what refitted terms imitate."""
        if covered.dtype == np.bool_:
            add = partial(_core.sum_covered, covered)
            sum_hessians = add(self.hessians)
        else:
            add = partial(_sum_products, covered)
            sum_hessians = add(self.hessians * covered)
        sum_gradients = add(self.gradients)
        if self.projections is None:
            return sum_gradients, sum_hessians
        sums = np.array([*map(add, self.projections)])
        return sum_gradients, remaining_hessians(sum_hessians, sums)


@dataclass(frozen=True)
class SearchLimits:
    """Limits on what a search may return and on how long it may take.

    Parameters
    ----------
    max_conditions : int or None, default=None
        The result is the best query with at most that many conditions.
    min_coverage : float, default=0
        Only queries that cover at least that many rows, or that much weight, count.
    approximation_factor : float in (0, 1], default=1.0
        Stop once the query is proven to reach this fraction of the best possible objective.
    node_limit : int, "auto" or None, default=None
        Stop after expanding that many nodes; without effect on ``greedy`` and ``beam``. "auto"
        allows for a few seconds: between 20 and 20,000 nodes, fewer the larger the problem (see
        :func:`~laconic.search.budget.affordable_nodes`).
    time_limit : float or None, default=None
        Stop after that many seconds.
    cutoff : float or None, default=None
        Look only for queries with a larger objective: the search ends as soon as there can be none,
        and its bound is then the cutoff. For the optimal search only.
    stop_above_cutoff : bool, default=False
        Whether the first query above the cutoff ends the search. The bound still holds for all
        queries.
    """

    max_conditions: int | None = None
    min_coverage: float = 0.0
    approximation_factor: float = 1.0
    node_limit: int | Literal["auto"] | None = None
    time_limit: float | None = None
    cutoff: float | None = None
    stop_above_cutoff: bool = False

    def __post_init__(self) -> None:
        requirements = [
            ("max_conditions", "a whole number in the range [0, inf) or None",
             self.max_conditions is None or is_whole(self.max_conditions, 0)),
            ("min_coverage", "a finite number in the range [0, inf)",
             math.isfinite(self.min_coverage) and self.min_coverage >= 0),
            ("approximation_factor", "a number in the range (0, 1]",
             0 < self.approximation_factor <= 1),
            ("node_limit", "a whole number in the range [1, inf), 'auto' or None",
             self.node_limit in ("auto", None) or is_whole(self.node_limit, 1)),
            ("time_limit", "a number of seconds in the range (0, inf) or None",
             self.time_limit is None or self.time_limit > 0),
            ("cutoff", "a finite number in the range [0, inf) or None",
             self.cutoff is None or (math.isfinite(self.cutoff) and self.cutoff >= 0)),
            ("stop_above_cutoff", "False without a cutoff",
             self.cutoff is not None or not self.stop_above_cutoff),
        ]  # fmt: skip
        for name, requirement, is_met in requirements:
            require(is_met, name, requirement, getattr(self, name))

    @property
    def required_coverage(self) -> float:
        """`min_coverage`, less a tolerance for rounding errors of summed weights."""
        return self.min_coverage * (1 - 1e-12)

    def deadline(self) -> float | None:
        """Return when a search that starts now has to stop, by `time.perf_counter`."""
        return None if self.time_limit is None else time.perf_counter() + self.time_limit

    def until(self, deadline: float | None, n_searches: int = 1) -> Self:
        """Return the limits for the next of some searches that share the time to a deadline."""
        if deadline is None:
            return self
        # A search needs some time, if only to look at the clock.
        seconds = max((deadline - time.perf_counter()) / n_searches, 1e-3)
        return replace(self, time_limit=seconds)


def _sum_products(values: Floats, others: Floats) -> float:
    """Add up products, in an order that depends on their number alone."""
    return float(np.add.reduce(values * others))


def _extreme_exponent(total: float) -> int:
    """Binary exponent of a sum that is extremely small or large; 0 for others."""
    exponent = math.frexp(total)[1]
    return exponent if abs(exponent) > _MAX_EXPONENT else 0


def _exponent_gap(larger: float, smaller: float) -> int:
    """Return by how many binary digits one number is above another; 0 if one of them is 0."""
    if larger == 0.0 or smaller == 0.0:
        return 0
    return math.frexp(larger)[1] - math.frexp(smaller)[1]


def _shifted(number: float, exponent: int) -> float:
    """Multiply by a power of two; 0 or infinity beyond the range of numbers."""
    try:
        return math.ldexp(number, exponent)
    except OverflowError:
        return math.inf


def _as_extents(extents: npt.ArrayLike | Extents) -> Extents:
    """Check and convert extents."""
    if isinstance(extents, Extents):
        return extents
    array = np.asarray(extents)
    if array.dtype != np.bool_:
        raise TypeError(
            f"extents must be a boolean array. Got dtype {array.dtype}. Convert with .astype(bool)."
        )
    if array.ndim != 2:
        raise ValueError(
            "extents must have two dimensions, (n_candidates, n_rows). "
            f"Got {array.ndim} dimension(s), shape {array.shape}."
        )
    return Extents(np.ascontiguousarray(array))


def _reduce_extents(extents: Extents) -> tuple[Any, ...]:
    """Pack extents for copies and pickles: a bit per row and condition."""
    covered = (extents.covered([index]) for index in range(extents.n_candidates))
    return _build_extents, (extents.n_rows, [np.packbits(rows) for rows in covered])


def _build_extents(n_rows: int, packed: list[npt.NDArray[np.uint8]]) -> Extents:
    builder = ExtentsBuilder(n_rows)
    for bits in packed:
        builder.add(np.unpackbits(bits, count=n_rows).astype(bool))
    return builder.build()


copyreg.pickle(Extents, _reduce_extents)
