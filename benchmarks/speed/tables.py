"""Generated tables of every shape."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

TEST_ROWS = 2_000
SEED, TEST_SEED = 0, 1
MIXED = "-mixed"

TABLES = (
    *("150x4", "1000x20", "1000x30", "5000x30-mixed", "1460x79-mixed", "1000x120", "1000x200"),
    *("20000x20", "100000x20", "200000x8", "1000000x10", "200x20000"),
)
"""What is measured: tables of common sizes, wide ones, long ones, and one of many more columns."""


@dataclass(frozen=True)
class Table:
    """Shape and kind of a table; its text form is "1000x20" or "1000x20-mixed".

    Attributes
    ----------
    n_rows, n_columns : int
    is_mixed : bool
        Normal numbers, counts, categories, flags and numbers of which some are missing, from
        `suites/planted.py`, where five rules of two conditions explain nine tenths of the variance.
        Otherwise normal numbers, and two rules of three and two conditions that explain a sixth
        of it.
    """

    n_rows: int
    n_columns: int
    is_mixed: bool

    @classmethod
    def parse(cls, text: str) -> "Table":
        """Read the text form."""
        shape = text.removesuffix(MIXED)
        n_rows, n_columns = map(int, shape.split("x"))
        return cls(n_rows, n_columns, shape != text)

    def __str__(self) -> str:
        return f"{self.n_rows:,} × {self.n_columns:,}" + (", mixed" if self.is_mixed else "")

    def draw(self) -> tuple[Any, NDArray[np.float64]]:
        """Draw the training rows and their target."""
        if self.is_mixed:
            X, y = _planted(self)
            return X.iloc[: self.n_rows], y[: self.n_rows]
        return self._numbers(self.n_rows, SEED)

    def draw_test(self) -> tuple[Any, NDArray[np.float64]]:
        """Draw rows that models are scored on."""
        if self.is_mixed:
            X, y = _planted(self)
            return X.iloc[self.n_rows :], y[self.n_rows :]
        return self._numbers(TEST_ROWS, TEST_SEED)

    def _numbers(self, n_rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rng = np.random.default_rng(seed)
        X = np.empty((n_rows, self.n_columns))
        for column in range(self.n_columns):  # without a second copy of all of them
            X[:, column] = rng.normal(size=n_rows)
        third, late = X[:, self.n_columns // 3], X[:, min(7, self.n_columns - 1)]
        y = 1.0 * ((X[:, 0] > 0.5) & (third < 0.2) & (late > -0.5))
        y += 0.7 * ((X[:, 1] > 0) & (X[:, -1] < 0.5)) + rng.normal(size=n_rows)
        return X, y


@cache
def _planted(table: Table) -> tuple[Any, NDArray[np.float64]]:
    """Training and test rows in one draw, since thresholds of the rules depend on the rows."""
    from benchmarks.suites.planted import planted

    drawn = planted(table.n_rows + TEST_ROWS, table.n_columns)
    return drawn.table, drawn.target
