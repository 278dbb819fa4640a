"""Words about searches: what is proven about a result, and how far a running search has come."""

from __future__ import annotations

import math

from laconic.model.formatting import format_count, format_number
from laconic.search.results import SearchProgress, SearchResult, SearchStatus


def describe_certificate(result: SearchResult) -> str:
    """Say in a few words what is proven about a result.

    Examples
    --------
    >>> describe_certificate(SearchResult((0,), 0.5, 0.5, SearchStatus.OPTIMAL))
    'proven optimal'
    >>> describe_certificate(SearchResult((0,), 0.45, 0.5, SearchStatus.NODE_LIMIT))
    'at least 90% of the best possible'
    >>> describe_certificate(
    ...     SearchResult((0,), 0.49, 0.5, SearchStatus.APPROXIMATE, n_conditions_found=3)
    ... )
    'at least 98% of the best possible, with 1 condition instead of 3'
    """
    words = _describe_proof(result)
    if result.n_conditions_found is not None:
        n_conditions = format_count(len(result.query), "condition")
        words = f"{words}, with {n_conditions} instead of {result.n_conditions_found}"
    if result.n_halvings > 0:
        words = f"{words}, step halved {format_count(result.n_halvings, 'time')}"
    return words


def _describe_proof(result: SearchResult) -> str:
    if result.is_optimal:
        return "proven optimal"
    if result.status is SearchStatus.HEURISTIC:
        return "heuristic, no proof"
    if result.status is SearchStatus.GIVEN:
        ratio = result.approximation_ratio
        return f"given, {'as good as the best' if ratio >= 1.0 else describe_ratio(ratio)}"
    return describe_ratio(result.approximation_ratio)


def describe_ratio(ratio: float) -> str:
    """Say what share of the best possible objective is reached for certain.

    Examples
    --------
    >>> describe_ratio(0.905)
    'at least 90% of the best possible'
    """
    return f"at least {proven_percent(ratio)}% of the best possible"


def proven_percent(ratio: float) -> int:
    """Round an approximation ratio down to whole per cent, so that it stays a promise.

    Examples
    --------
    >>> proven_percent(0.29), proven_percent(0.2899)
    (29, 28)
    """
    # A rounding error must not cost a per cent: 100 * 0.29 is a little less than 29, and a search
    # for an approximation factor of 0.9 may end with a ratio of 0.8999999999999999.
    return math.floor(100 * ratio + 1e-9)


def describe_search(search: SearchProgress) -> str:
    """Say how far a search has come.

    Examples
    --------
    >>> describe_search(SearchProgress(0.45, 0.5, n_nodes=12000, n_open=340, seconds=4.0))
    'best so far 0.45, at least 90% of the best possible'
    """
    best = format_number(search.objective_value)
    words = f"best so far {best}, {_describe_share(search.approximation_ratio)}"
    return f"{words}, slower as memory is short" if search.is_depth_first else words


def _describe_share(ratio: float) -> str:
    percent = proven_percent(ratio)
    if percent == 0:
        return "nothing proven yet"
    return "proven optimal" if percent == 100 else describe_ratio(ratio)


def format_seconds(seconds: float, *, whole: bool = False) -> str:
    """Write a time with two digits, or in whole seconds.

    Examples
    --------
    >>> format_seconds(0.0123), format_seconds(4.26), format_seconds(0.4, whole=True)
    ('0.012 s', '4.3 s', '0 s')
    >>> format_seconds(75.2), format_seconds(7260)
    ('1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s" if whole else f"{format_number(seconds, 2)} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
