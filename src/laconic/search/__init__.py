"""Search for the conjunction of conditions that a boosting round gains most from.

The search knows only extents, gradients and hessians, so it serves any conditions and any loss.

Examples
--------
Two conditions on four rows: the rows where both hold have the negative gradients.

>>> extents = [[True, True, False, False], [False, True, True, False]]
>>> problem = SearchProblem(extents, [1, -3, 1, 0], [1, 1, 1, 1], l2_regularization=1.0)
>>> result = search(problem)
>>> result.query, result.objective_value, result.bound
((0, 1), 0.5625, 0.5625)
"""

from __future__ import annotations

import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, Literal, TypeVar

from laconic._core import Extents
from laconic._util.checks import require
from laconic.search.brevity import Pricing, search_lengths
from laconic.search.budget import resolve_node_limit
from laconic.search.checkpoint import current_checkpoint
from laconic.search.core import search_beam, search_greedy
from laconic.search.distributed import spread_over
from laconic.search.joint_bound import joint_bound
from laconic.search.joint_objective import RefittedTerms
from laconic.search.optimal import search_optimal
from laconic.search.problem import SearchLimits, SearchProblem
from laconic.search.query_families import Family, QueryFamilies, Search, search_families
from laconic.search.reference import search_reference
from laconic.search.results import Callback, SearchProgress, SearchResult, SearchStatus

__all__ = [
    "METHODS",
    "Extents",
    "Family",
    "QueryFamilies",
    "RefittedTerms",
    "SearchLimits",
    "SearchProblem",
    "SearchProgress",
    "SearchResult",
    "SearchStatus",
    "search",
    "spread_over",
]

SearchMethod = Callable[..., SearchResult]

METHODS: dict[str, SearchMethod] = {
    "optimal": search_optimal,
    "greedy": search_greedy,
    "beam": search_beam,
    "reference": search_reference,
}
"""The searches by name."""


def search(
    problem: SearchProblem,
    method: str | SearchMethod = "optimal",
    *,
    n_jobs: int | None = 1,
    callback: Callback | None = None,
    max_conditions: int | None = None,
    min_coverage: float = 0.0,
    approximation_factor: float = 1.0,
    node_limit: int | Literal["auto"] | None = None,
    time_limit: float | None = None,
    cutoff: float | None = None,
    stop_above_cutoff: bool = False,
    on_interrupt: Literal["raise", "keep"] = "raise",
    families: QueryFamilies | None = None,
    brevity: float = 0.0,
    noise: float = 0.0,
    **options: Any,
) -> SearchResult:
    """Find a query with a large objective; with the default method, the largest.

    Parameters
    ----------
    problem : SearchProblem
        Extents, gradients, hessians and the regularisation.
    method : {"optimal", "greedy", "beam", "reference"}, default="optimal"
        ``optimal`` proves that its query is the best one. ``greedy`` and ``beam`` are fast and
        prove nothing. ``reference`` is the published algorithm in NumPy, for small problems only.
    n_jobs : int or None, default=1
        Threads of the optimal search; -1 means all processors. The result is the same for any
        number.
    callback : callable, default=None
        Called with a :class:`SearchProgress` regularly; a true return value ends the search.
    max_conditions, min_coverage, approximation_factor, node_limit, time_limit, cutoff, \
    stop_above_cutoff
        Limits on the result and on the time; see :class:`SearchLimits`.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: "keep" ends the search with the best query so far, and a bound that holds.
    families : QueryFamilies, default=None
        The queries that are allowed, and their costs; None allows all, at no cost.
    brevity, noise : float, default=0.0
        The price of length. The objective of a query that gains g with k conditions becomes
        (g − noise · log C(M, k)) / (1 + k) ** brevity, with M conditions to choose from; see
        :class:`~laconic.search.brevity.Pricing`. Cutoffs and bounds are on that scale, too.
    **options
        Further parameters of the method, such as ``width`` of ``beam`` or ``branching`` of
        ``optimal``.

    Returns
    -------
    SearchResult
        The query and its certificate: whether or not the search was stopped early, no allowed query
        within ``max_conditions`` and ``min_coverage`` has an objective above ``bound``.
    """
    limits = SearchLimits(
        max_conditions,
        min_coverage,
        approximation_factor,
        node_limit,
        time_limit,
        cutoff,
        stop_above_cutoff,
    )
    pricing = Pricing(float(brevity), float(noise), problem.n_candidates)
    n_best = options.get("n_best", 1)
    _check(problem, limits, method, on_interrupt, None if families is None else n_best)
    checkpoint = current_checkpoint() if isinstance(method, str) else None
    if checkpoint is not None and isinstance(method, str):
        key = checkpoint.key(problem, method, limits, families, pricing, options)
        is_priced = families is not None or not pricing.is_free
        known = checkpoint.find(key, problem, is_priced=is_priced)
        if known is not None:
            return known
    # Objectives are compared on a scale on which none of them is 0 or infinite by rounding, unless
    # there are prices or a cutoff, which are objectives, or the method is the caller's own.
    has_costs = families is not None and bool(families.costs)
    is_scaled = isinstance(method, str) and cutoff is None and noise == 0.0 and not has_costs
    scaled = problem.without_scale() if is_scaled else problem
    if callback is not None and is_scaled:
        callback = _unscaling(problem, callback)

    def make_search(told: Callback | None) -> Search:
        run = _runner(method, n_jobs, told, options)
        if families is None:
            return run
        return lambda part, within: search_families(part, families, within, run)

    started = time.perf_counter()
    listening = _keeping_results if on_interrupt == "keep" else nullcontext
    try:
        with listening(callback) as told:
            if pricing.is_free:
                result = make_search(told)(scaled, limits)
            else:
                result = search_lengths(
                    scaled,
                    limits,
                    pricing,
                    make_search,
                    callback=told,
                    n_best=n_best,
                    has_cutoffs=method == "optimal",
                )
    finally:
        scaled.release()
    result = dataclasses.replace(result, seconds=time.perf_counter() - started)
    if is_scaled:
        result = _unscaled(problem, result)
    if checkpoint is not None:
        checkpoint.add(key, result)
    return result


def _check(
    problem: SearchProblem,
    limits: SearchLimits,
    method: str | SearchMethod,
    on_interrupt: str,
    n_best_in_families: int | None,
) -> None:
    """Raise an error for impossible options."""
    if isinstance(method, str):
        require(method in METHODS, "method", f"one of {', '.join(METHODS)}", method)
    if limits.required_coverage > problem.total_coverage:
        raise ValueError(
            f"min_coverage must not exceed the coverage of all rows, {problem.total_coverage:g}. "
            f"Got {limits.min_coverage!r}: no query covers that much."
        )
    require(on_interrupt in ("raise", "keep"), "on_interrupt", "'raise' or 'keep'", on_interrupt)
    n_best = n_best_in_families
    require(n_best in (None, 1), "n_best", "1 where not all queries are allowed", n_best)


def _runner(
    method: str | SearchMethod,
    n_jobs: int | None,
    callback: Callback | None,
    options: Mapping[str, Any],
) -> Search:
    """Return a function that searches a problem, or a part of it, within limits."""
    is_known = isinstance(method, str)
    find = METHODS[method] if isinstance(method, str) else method

    def run(part: SearchProblem, limits: SearchLimits) -> SearchResult:
        own_limit = None
        if not is_known:
            # A search of the caller's own gets a number, and need not return it.
            own_limit = resolve_node_limit(limits, part.extents)
            limits = dataclasses.replace(limits, node_limit=own_limit)
        result = find(part, limits, n_jobs=n_jobs, callback=callback, **options)
        # The bound of the caller's own search is left alone. No bound is below the cutoff.
        is_low = result.is_optimal or result.bound <= (limits.cutoff or 0.0)
        if is_known and part.cells is not None and not is_low:
            bound = min(result.bound, joint_bound(part, result.objective_value))
            result = dataclasses.replace(result, bound=bound)
        if own_limit is not None and result.node_limit is None:
            result = dataclasses.replace(result, node_limit=own_limit)
        return result

    return run


@contextmanager
def _keeping_results(callback: Callback | None) -> Iterator[Callback]:
    """Let Ctrl-C end a search as a callback does, instead of raising an exception.

    Only the main thread receives Ctrl-C; elsewhere nothing changes. Yields a callback for the
    search, which calls the given one.
    """
    signals: list[int] = []

    def ask(progress: SearchProgress) -> Any:
        return bool(signals) or (callback is not None and callback(progress))

    if threading.current_thread() is not threading.main_thread():
        yield ask
        return
    before = signal.signal(signal.SIGINT, lambda number, _: signals.append(number))
    try:
        yield ask
    finally:
        signal.signal(signal.SIGINT, before)


_Scaled = TypeVar("_Scaled", SearchResult, SearchProgress)


def _unscaled(problem: SearchProblem, found: _Scaled) -> _Scaled:
    """Convert objectives of the problem without scale to true ones, even if they underflow."""
    return dataclasses.replace(
        found,
        objective_value=problem.unscaled(found.objective_value),
        bound=problem.unscaled(found.bound),
    )


def _unscaling(problem: SearchProblem, callback: Callback) -> Callback:
    return lambda progress: callback(_unscaled(problem, progress))
