"""The joint objective: what a new rule gains if the weights of other terms are refitted with it.

A rule is then worth what the refitted terms cannot imitate. Let Q hold these terms as columns,
of zeros and ones for rules and of numbers for slopes, H = diag(h) the hessians and Λ the penalties,
and let M = QᵀHQ + Λ. Of the hessians Σh of a set S of rows, there remains

    D(S) = Σ_S h − v(S)ᵀ M⁻¹ v(S),  v(S) = QᵀH 1_S.

With M = U diag(s) Uᵀ and b_i = diag(s)^(−1/2) Uᵀ Q_i h_i, the projections of the rows on what the
terms span, that is D(S) = Σ_S h − ‖Σ_S b‖²: sums over rows, as gradients and hessians are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from laconic import _core
from laconic._util.types import Bools, Floats, Values

IMITATED = 1e-9
"""A set of rows keeps at least this share of its hessians, however well the terms imitate it.

Where they do so to within rounding, its gradients cancel, too, and it gains nothing.
"""

_VALUE_DIGITS = 30

# Directions in which the terms hardly differ, relative to the one in which they differ most.
_SINGULAR = 1e-12


@dataclass(frozen=True, eq=False)
class RefittedTerms:
    """Terms of an ensemble whose weights are refitted together with that of a new one.

    Parameters
    ----------
    values : sequence of bool or float arrays of shape (n_rows,)
        What each term adds to each row if its weight is 1: zeros and ones for a rule, numbers for a
        slope. A refitted intercept is a term of ones.
    penalties : float array of shape (n_terms,)
        The penalty on the square of each weight: λ for a term, 0 for an intercept.
    """

    values: Sequence[Values]
    penalties: Floats

    def __post_init__(self) -> None:
        for values in self.values:
            if values.dtype not in (np.bool_, np.float64) or values.shape != (self.n_rows,):
                raise ValueError(
                    "values must be arrays of booleans or floats, of one length. Got "
                    f"dtype {values.dtype}, shape {values.shape}."
                )
        is_penalty = np.isfinite(self.penalties) & (self.penalties >= 0.0)
        if self.penalties.shape != (len(self.values),) or not is_penalty.all():
            raise ValueError(
                "penalties must be finite, not negative, and one for each of the values. "
                f"Got {self.penalties}."
            )

    @property
    def n_rows(self) -> int:
        """Number of rows; 0 without terms."""
        return self.values[0].size if len(self.values) > 0 else 0

    @cached_property
    def _has_slopes(self) -> bool:
        return not all(map(_is_binary, self.values))

    def cells(self, n_rows: int) -> npt.NDArray[np.int32]:
        """Return the cell of each row, a number that only rows with the same values share.

        Beside slopes, every row is a cell of its own. Otherwise rows that no term covers are in
        cell 0.
        """
        if self._has_slopes:
            # Hardly any two rows have the same number, and cell 0 is of rows without any term.
            return np.arange(1, n_rows + 1, dtype=np.int32)
        cells = np.zeros(n_rows, dtype=np.int32)
        for covered in self.values:
            cells = 2 * cells + (covered != 0.0)
            # Numbers that occur become 1, 2, ..., so that they never outgrow the rows.
            occurs = np.bincount(cells) > 0
            occurs[0] = True
            cells = (np.cumsum(occurs, dtype=np.int32) - 1)[cells]
        return np.ascontiguousarray(cells, dtype=np.int32)

    def excluded(self) -> npt.NDArray[np.uint8]:
        """Return the sets of rows that a new rule must not cover, as `packed_sets` does.

        Repeating a rule would gain something: two halves of a weight are penalised less than the
        whole. So would its complement, where a term covers all rows. Both are redundant.
        """
        rules = [values for values in self.values if _is_binary(values)]
        sets = packed_sets((values != 0.0 for values in rules), self.n_rows)
        if not any(values.all() for values in rules):
            return sets
        return np.vstack([sets, packed_sets((values == 0.0 for values in rules), self.n_rows)])

    def columns(self, cells: npt.NDArray[np.int32]) -> Floats:
        """Return the value of each term in each cell, of shape (n_terms, n_cells).

        Where no row is in the first cell, its entries mean nothing.
        """
        columns = np.empty((cells.max(initial=-1) + 1, len(self.values))).T  # cell by cell
        if self._has_slopes:
            for column, values in zip(columns, self.values, strict=True):
                column[0], column[1:] = values[0], values
            return columns
        some_row = np.zeros(columns.shape[1], dtype=np.intp)
        some_row[cells] = np.arange(len(cells))
        for column, values in zip(columns, self.values, strict=True):
            column[:] = values[some_row]
        return columns

    def projections(self, hessians: Floats, cells: npt.NDArray[np.int32]) -> Floats:
        """Project the rows on what the terms span: b above, of shape (n_components, n_rows).

        Within a cell, rows differ in their hessians only.
        """
        n_rows, columns = len(hessians), self.columns(cells)
        matrix = columns * np.bincount(cells, hessians) @ columns.T + np.diag(self.penalties)
        # On a common scale: small hessians are no reason to call the matrix singular.
        scales = np.sqrt(np.diag(matrix))
        scales = np.divide(1.0, scales, where=scales > 0.0, out=np.zeros(len(scales)))
        eigenvalues, directions = np.linalg.eigh(matrix * scales * scales[:, np.newaxis])
        kept = eigenvalues > _SINGULAR * eigenvalues[-1]
        of_cells = (directions[:, kept] / np.sqrt(eigenvalues[kept])).T * scales @ columns
        if not self._has_slopes:
            projections = np.empty((len(of_cells), n_rows))
            for component, of_cell in zip(projections, of_cells, strict=True):
                component[:], _ = _core.exactly_summable(of_cell[cells] * hessians, None)
            return projections
        # Each one takes the place of those before it and its own, which are not needed any more.
        del columns
        flat = of_cells.reshape(-1)
        for k, of_cell in enumerate(of_cells):
            component, _ = _core.exactly_summable(of_cell[1:] * hessians, None)
            flat[k * n_rows : (k + 1) * n_rows] = component
        projections = flat[: len(of_cells) * n_rows].reshape(-1, n_rows)
        return np.asarray(projections, dtype=np.float64)


def packed_sets(sets: Iterable[Bools], n_rows: int) -> npt.NDArray[np.uint8]:
    """Pack sets of rows, a bit for each row, the lowest one first.

    Examples
    --------
    >>> packed_sets([np.array([True, True, False]), np.array([False, False, True])], 3)
    array([[3],
           [4]], dtype=uint8)
    """
    packed = [np.packbits(each, bitorder="little") for each in sets]
    return np.array(packed, dtype=np.uint8).reshape(len(packed), (n_rows + 7) // 8)


def _is_binary(values: Values) -> bool:
    """Check whether a term is a rule: of zeros and ones."""
    return values.dtype == np.bool_ or bool(((values == 0.0) | (values == 1.0)).all())


def rounded(value: float) -> float:
    """Round the joint objective of a set of rows to 30 binary digits.

    Many sets are worth the same but for rounding errors of the refit, such as a set and its
    complement beside an intercept. They must tie, so that the shortest query is found, and of
    several the first one.

    Examples
    --------
    >>> rounded(0.1 + 0.2) == rounded(0.3)
    True
    """
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, _VALUE_DIGITS)), exponent - _VALUE_DIGITS)


def remaining_hessians(sum_hessians: float, sum_projections: Floats) -> float:
    """Compute the hessians of a set that the terms cannot imitate: D above, from sums over the set.

    Every search computes it in this order, and so to the same last digit.

    Examples
    --------
    >>> remaining_hessians(3.0, np.array([1.0, -1.0]))
    1.0
    """
    imitated = 0.0
    for component in sum_projections.tolist():
        imitated += component * component
    return max(sum_hessians - imitated, IMITATED * sum_hessians)
