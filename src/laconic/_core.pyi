"""Compiled rule search. Arguments are validated by laconic.search."""

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


version: str = '0.1.0'

def instruction_sets() -> list[str]:
    """Instruction sets that this processor has, the best one last."""

class Extents:
    """Extents of conditions over the distinct rows of a table."""

    def __init__(self, extents: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def n_candidates(self) -> int: ...

    @property
    def n_rows(self) -> int: ...

    @property
    def n_distinct_rows(self) -> int: ...

    def covered(self, query: Sequence[int]) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """Which rows satisfy all of the given conditions."""

    @property
    def n_columns(self) -> int:
        """Conditions that are neither constant nor equal to an earlier one."""

    def table_work(self, max_conditions: int) -> float:
        """What a search in tables costs: rows added to them, and sets looked at."""

    @property
    def n_chains(self) -> int:
        """Chains of nested extents that the columns are sorted into."""

class ExtentsBuilder:
    """Takes extents one by one and keeps a bit per row."""

    def __init__(self, n_rows: int) -> None: ...

    def add(self, covered: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Add the next condition, given the rows it covers."""

    def build(self) -> Extents:
        """Hand over what was added; the builder is empty afterwards."""

def exactly_summable(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """
    Products of values and weights, rounded so that every partial sum is exact, and their total magnitude before that. If the total is not finite, the products are undefined.
    """

def sum_covered(covered: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """Sum of the values of covered rows."""

def sum_bins(features: Sequence[tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, float, float]], columns: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_rows: int, n_powers: int, n_bins: int, n_workers: int = 1) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Sums of columns times powers of the levels of each feature, over its bins: an array of shape (n_features, n_powers, n_bins, n_columns), flat.
    """

class Problem:
    """
    What is searched, and each bound of the search by itself, for tests. Queries name columns there; values lack the factor 1/(2n).
    """

    def __init__(self, extents: Extents, gradients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], hessians: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], coverage: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], l2_regularization: float, refitted: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)]] | None = None, sign: int = 0) -> None: ...

    def of_all_rows(self) -> float:
        """Largest value of any set of rows."""

    def of_query(self, query: Sequence[int]) -> float:
        """Largest value of any set of the query's rows, as in the paper."""

    def of_columns(self, query: Sequence[int], instruction_set: str) -> list[tuple[int, float, float, float]]:
        """
        Column, bound and sums of gradients and hessians for each column that the query may be augmented by.
        """

    def is_proven_below(self, query: Sequence[int], value: float, *, chains: bool, closure: bool, intersection: bool, instruction_set: str) -> bool:
        """Whether it is proven that no augmentation of the query is worth more."""

    def of_ranges(self, tight: Sequence[int], loose: Sequence[int], *, is_negative: bool, value: float, min_coverage: float, max_cuts: int) -> tuple[float, float, list[tuple[int, int, float, float]]] | None:
        """
        Bounds of boxes of one sign that are worth a value: by implied rows, by blocked rows, and for each split its chain, level, and bounds at or above it and below. None if no box is wanted.
        """

    def allowed_pairs(self, n_conditions: int, value: float) -> list[tuple[int, int]]:
        """
        Pairs of columns that are not ruled out of queries of that many conditions that are worth at least a value.
        """

    def column_shares(self, n_conditions: int, value: float) -> list[tuple[float, float]]:
        """
        By column, with refitted terms: the share of hessians that any set of its rows keeps, and what no query of that many conditions with it exceeds if it is worth at least a value.
        """

    def chains(self) -> list[list[int]]:
        """Columns by chain, from small to large."""

    @staticmethod
    def sum_supersets(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, instruction_set: str) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """By index, the sum of the values whose indices contain all of its bits."""

class Result:
    """Outcome of a search; values lack the factor 1/(2n)."""

    @property
    def query(self) -> list[int]: ...

    @property
    def value(self) -> float: ...

    @property
    def bound(self) -> float: ...

    @property
    def status(self) -> str: ...

    @property
    def closed_bound(self) -> float:
        """No query that was given up is worth more."""

    @property
    def open(self) -> list[tuple[float, int, bytes]]:
        """
        What is left, if parts were asked for: bounds, numbers of nodes, and bytes.
        """

    @property
    def kept(self) -> list[list[int]]:
        """All queries that a beam search has kept, or the best ones."""

    @property
    def counters(self) -> dict: ...

def optimal(problem: Problem, *, max_conditions: int | None, min_coverage: float, approximation_factor: float, node_limit: int | None, time_limit: float | None, should_stop: Callable | None, branching: str, beam_width: int | None, start: Sequence[int], n_workers: int, memory_limit: int, instruction_set: str | None, leaves: bool = True, table_limit: int | None = None, parts: Sequence[bytes] | None = None, n_parts: int = 0, seconds: float | None = None, cutoff: float | None = None, stops_above_cutoff: bool = False, n_best: int = 1) -> Result:
    """
    Best query of all within the limits, with a certificate; or of some parts of them.
    """

def beam(problem: Problem, *, max_conditions: int | None, min_coverage: float, time_limit: float | None, should_stop: Callable | None, width: int, starts: Sequence[Sequence[int]]) -> Result:
    """Beam search; with width 1, greedy search."""
