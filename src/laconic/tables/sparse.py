"""Sparse matrices as tables: zero is a value, and only the cells that are stored take memory.

Nothing here imports SciPy: a caller who has a sparse matrix has imported it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Bools, Floats, Indices
from laconic.tables.columns import Column
from laconic.tables.to_columns import array_column


def is_sparse(X: Any) -> bool:
    """Return whether a table is a sparse matrix or array of SciPy."""
    return hasattr(X, "tocsc") and hasattr(X, "nnz")


@dataclass(frozen=True, slots=True, eq=False)
class StoredCells:
    """The cells of a column of numbers that are not zero."""

    n_rows: int
    rows: Indices
    """Ascending."""
    values: Floats
    """Finite, and none of them zero."""

    @property
    def n_zeros(self) -> int:
        """Number of rows that are zero."""
        return self.n_rows - len(self.rows)

    def take(self, is_taken: Bools) -> StoredCells:
        """Return the cells of some of the rows."""
        kept = is_taken[self.rows]
        positions = np.cumsum(is_taken) - 1
        return StoredCells(
            int(positions[-1]) + 1 if len(positions) else 0,
            positions[self.rows[kept]],
            self.values[kept],
        )

    def grouped(self, weights: Floats | None) -> tuple[Floats, Floats]:
        """Return values and their weights; all zeros are one value with their total weight."""
        if weights is None:
            of_stored, of_zeros = np.ones(len(self.rows)), float(self.n_zeros)
        else:
            of_stored = weights[self.rows]
            of_zeros = float(weights.sum() - of_stored.sum())
        if self.n_zeros == 0:
            return self.values, of_stored
        return np.append(self.values, 0.0), np.append(of_stored, of_zeros)

    def at_most(self, threshold: float, out: Bools) -> Bools:
        """Write the mask of the rows that are at most a threshold into `out`."""
        out[:] = threshold >= 0.0
        out[self.rows] = self.values <= threshold
        return out


class SparseCells:
    """Columns of a sparse matrix, by position."""

    def __init__(self, X: Any) -> None:
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead.")
        if np.iscomplexobj(X):
            raise ValueError(
                f"Complex data not supported: X must hold real numbers, but has dtype {X.dtype}. "
                "Pass real and imaginary parts as separate columns."
            )
        matrix = X.tocsc()
        if not matrix.has_canonical_format:
            # Cells that are stored several times are added.
            matrix = matrix.copy() if matrix is X else matrix
            matrix.sum_duplicates()
        self._matrix = matrix
        self.n_rows, self.n_features = matrix.shape

    def _cells(self, position: int) -> tuple[NDArray[Any], NDArray[Any]]:
        start, end = self._matrix.indptr[position : position + 2]
        return self._matrix.indices[start:end], self._matrix.data[start:end]

    def column(self, position: int, name: str) -> Column:
        """Return all cells of a column."""
        rows, values = self._cells(position)
        cells = np.zeros(self.n_rows, dtype=values.dtype)
        cells[rows] = values
        return array_column(name, cells)

    def stored(self, position: int) -> StoredCells | None:
        """Return the cells of a column that are not zero; None if some are not finite numbers."""
        rows, cells = self._cells(position)
        if cells.dtype.kind not in "fiu":
            return None
        values = cells.astype(np.float64)
        if not np.isfinite(values).all():
            return None
        is_stored = values != 0.0
        if not is_stored.all():
            rows, values = rows[is_stored], values[is_stored]
        return StoredCells(self.n_rows, rows.astype(np.intp), values)

    def may_determine(self, target: Floats, rows: Any, share: float) -> Bools:
        """Return, by column, whether its zeros as one group leave little variance of the target.

        Only such a column can determine the target. No more than a `share` may be left.
        """
        matrix = self._matrix[rows] if isinstance(rows, np.ndarray) else self._matrix
        stored = type(matrix)((matrix.data != 0, matrix.indices, matrix.indptr), matrix.shape)
        stored = stored.astype(np.float64)
        centred = target - target.mean()
        n_zeros = len(target) - stored.T @ np.ones(len(target))
        sums = centred.sum() - stored.T @ centred
        squares = np.square(centred).sum() - stored.T @ np.square(centred)
        left = squares - np.square(sums) / np.maximum(n_zeros, 1)
        is_possible: Bools = left <= share * np.square(centred).sum() * (1 + 1e-9)
        return is_possible
