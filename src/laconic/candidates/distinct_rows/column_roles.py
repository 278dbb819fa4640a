"""The roles of the columns of a table in parts: target, weight, exposure and features."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from laconic._util.types import Bools, Floats, Indices, Integers
from laconic.candidates.distinct_rows.exact_sums import Units
from laconic.tables.columns import (
    CategoricalColumn,
    Category,
    Column,
    NumericColumn,
    TimeColumn,
    column_words,
)
from laconic.tables.tables import Table, as_table

Kept: TypeAlias = Literal["classes", "means", "values"]

# A target with more classes is a number, or has another text in every row.
MAX_LABELS = 1_000


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows of positive weight."""

    is_counted: Bools | None
    """None if all rows are."""
    weights: Floats | None
    """Weights times exposures."""
    n_rows: int
    exposure: Floats | None = None


@dataclass(frozen=True)
class Range:
    """Range of the targets, and the largest magnitude of a target times its weight."""

    lowest: float = math.inf
    highest: float = -math.inf
    largest: float = 0.0

    def merge(self, other: Range) -> Range:
        """Return the range of two parts together."""
        return Range(
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            max(self.largest, other.largest),
        )


NO_TARGETS = Range()


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a table.

    Parameters
    ----------
    target : str
    features : tuple of str
    weight : str or None
    kept : {"classes", "means", "values"}
        What is kept of the targets of rows that become one: the weight of each class, their mean,
        or all of them.
    weight_units : Units or None
        Units of the sums of weights, which `partition_weights` finds.
    exposure : str or None
        Exposure of each row: targets are divided by it, and weights multiplied.
    class_factors : dict of classes to float, or None
        Factors for the weights of each class.
    class_labels : ndarray or None
        All classes, where they have factors.
    """

    target: str
    features: tuple[str, ...]
    weight: str | None = None
    kept: Kept = "classes"
    weight_units: Units | None = None
    exposure: str | None = None
    class_factors: Mapping[Category, float] | None = field(default=None, hash=False)
    class_labels: NDArray[Any] | None = field(default=None, compare=False)

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([self.target, *self.weight_columns, *self.features]))

    @property
    def weight_columns(self) -> list[str]:
        """Columns that the weights of rows depend on."""
        target = None if self.class_factors is None else self.target
        return [name for name in (self.weight, self.exposure, target) if name is not None]

    def counted(self, table: Table) -> CountedRows:
        """Find the rows that count, and their weights."""
        weights = self.weights(table)
        if weights is None:
            return CountedRows(None, None, table.n_rows)
        exposure = self.exposures(table)
        is_counted = weights > 0
        if is_counted.all():
            return CountedRows(None, weights, len(weights), exposure)
        weights = weights[is_counted]
        exposure = None if exposure is None else exposure[is_counted]
        return CountedRows(is_counted, weights, len(weights), exposure)

    def weights(self, table: Table) -> Floats | None:
        """Read the product of weights, exposures and weights of classes, if there are any."""
        exposure, factors = self.exposures(table), self._factors(table)
        weights = None if self.weight is None else _weights(table.column(self.weight))
        for amounts in (exposure, factors):
            if amounts is not None:
                weights = amounts if weights is None else amounts * weights
        return weights

    def _factors(self, table: Table) -> Floats | None:
        """Read the weight of each row's class."""
        if self.class_factors is None:
            return None
        labels, codes = self.labels(table, CountedRows(None, None, table.n_rows))
        # Rows of weight 0 may be of other classes.
        factors = [self.class_factors.get(label, 1.0) for label in labels]
        return np.array(factors, dtype=np.float64)[codes]

    def exposures(self, table: Table) -> Floats | None:
        """Read the exposures."""
        if self.exposure is None:
            return None
        amounts = _numbers(table.column(self.exposure))
        if not np.all(amounts > 0):
            raise ValueError(
                f"The exposure, column {self.exposure!r}, must be a positive number in every row. "
                "Got another value. Drop rows without exposure."
            )
        return amounts

    def weight_amounts(self, weights: Floats | None, n_rows: int) -> Integers:
        """Return the weight of each row in whole numbers, which add up exactly."""
        if weights is None or self.weight_units is None:
            return np.ones((n_rows, 1), dtype=np.int64)
        return self.weight_units.count(weights)

    def total_weight(self, amounts: Integers) -> Floats:
        """Return the weights of sums of amounts."""
        if self.weight_units is None:
            return amounts[:, 0].astype(np.float64)
        return np.asarray(self.weight_units.total(amounts))

    @property
    def n_weight_amounts(self) -> int:
        """Number of whole numbers per weight."""
        return 1 if self.weight_units is None else 2

    def target_summary(self, table: Table, rows: CountedRows) -> tuple[dict[Category, int], Range]:
        """Find the classes with their numbers of rows, or the range of the numbers."""
        if self.kept == "classes":
            labels, codes = self.labels(table, rows)
            counts = np.bincount(codes, minlength=len(labels)).tolist()
            known = {label: count for label, count in zip(labels, counts, strict=True) if count}
            self.check_labels(known)
            return known, NO_TARGETS
        numbers = self.numbers(table, rows)
        with np.errstate(over="ignore"):
            weighted = numbers if rows.weights is None else numbers * rows.weights
        largest = float(np.abs(weighted).max(initial=0.0))
        if not np.isfinite(largest):
            raise ValueError(
                f"The target {self.target!r} times its weight must be finite. Got values that "
                "overflow; scale the target or the weights down."
            )
        if len(numbers) == 0:
            return {}, NO_TARGETS
        return {}, Range(float(numbers.min()), float(numbers.max()), largest)

    @staticmethod
    def check_labels(labels: Mapping[Category, int]) -> None:
        """Refuse a target with too many classes."""
        if len(labels) > MAX_LABELS:
            raise ValueError(
                f"The target has more than {MAX_LABELS:,} classes. Use RuleBoostingRegressor for "
                "a target of numbers."
            )

    def labels(self, table: Table, rows: CountedRows) -> tuple[list[Category], Indices]:
        """Read the classes of this part, and the position of the class of each counted row."""
        column = self._target(table, rows)
        if isinstance(column, CategoricalColumn):
            return list(column.categories), column.codes.astype(np.intp)
        if column.is_rounded:
            raise ValueError(
                f"Classes must be whole numbers up to 2**53, texts or booleans. The target "
                f"{self.target!r} has larger numbers. Convert them to texts."
            )
        distinct, codes = np.unique(column.values, return_inverse=True)
        return distinct.tolist(), codes

    def numbers(self, table: Table, rows: CountedRows) -> Floats:
        """Read a target of numbers."""
        column = self._target(table, rows)
        if isinstance(column, CategoricalColumn) and column.is_text:
            raise ValueError(
                f"The target {self.target!r} must hold numbers. Got text, such as "
                f"{column.categories[0]!r}. Use RuleBoostingClassifier for classes, or convert it "
                "to numbers."
            )
        numbers = _numbers(column)
        return numbers if rows.exposure is None else numbers / rows.exposure

    def _target(self, table: Table, rows: CountedRows) -> Column:
        column = table.column(self.target)
        n_missing = int(column.missing.sum())
        if n_missing:
            raise ValueError(
                f"The target {self.target!r} must have a value in every row. Got rows without one "
                f"(at least {n_missing:,}). Filter them out."
            )
        if isinstance(column, TimeColumn):
            raise TypeError(
                f"The target {self.target!r} must hold numbers, or texts or booleans for classes. "
                f"Got {column_words(column)}. Convert them to numbers or texts in the query."
            )
        return column if rows.is_counted is None else column.take(rows.is_counted)


def partition_weights(part: Any, roles: Roles) -> tuple[float, int]:
    """Find the largest weight and the number of rows of a part."""
    table = as_table(part)
    weights = roles.weights(table)
    if weights is None:
        return 1.0, table.n_rows
    return float(weights.max(initial=0.0)), len(weights)


def partition_labels(part: Any, roles: Roles) -> Counter[Category]:
    """Count the rows of each class in a part, of those with a positive weight."""
    table = as_table(part)
    labels, codes = roles.labels(table, roles.counted(table))
    counts = np.bincount(codes, minlength=len(labels)).tolist()
    return Counter({label: n for label, n in zip(labels, counts, strict=True) if n})


def merge_weights(one: tuple[float, int], other: tuple[float, int]) -> tuple[float, int]:
    """Merge the largest weights and numbers of rows of two parts."""
    return max(one[0], other[0]), one[1] + other[1]


def _weights(column: Column) -> Floats:
    weights = _numbers(column)
    if not np.all(weights >= 0):
        raise ValueError(
            f"The weights, column {column.name!r}, must be numbers that are finite and not "
            "negative, in every row. Got another value. Give rows to be ignored the weight 0."
        )
    return weights


def _numbers(column: Column) -> Floats:
    """Return the numbers of a column, NaN where there is none."""
    if isinstance(column, TimeColumn) or column.is_text:
        return np.full(len(column.missing), np.nan)
    if isinstance(column, NumericColumn):
        return column.values
    return np.array((*column.categories, np.nan), dtype=np.float64)[column.codes]
