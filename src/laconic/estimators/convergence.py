"""Parameters with which the terms of a fit would have been proven, and messages about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from laconic._util.words import listed, parameter
from laconic.boosting import Settings, TrainingData
from laconic.search import Extents, SearchResult, SearchStatus
from laconic.search.budget import are_countable, is_provable, longest_provable_queries
from laconic.search.results import describe_ratio, proven_percent
from laconic.terms.formatting import format_number

# Enough to see which terms a warning names, few enough to read.
MAX_NUMBERS_SHOWN = 10

# Numbers of thresholds that people choose, of which the largest provable one is named.
_THRESHOLDS = (100, 50, 30, 20, 15, 10, 7, 5, 4, 3, 2, 1)


def provable_changes(settings: Settings, data: TrainingData, extents: Extents) -> dict[str, Any]:
    """Find parameters each of which, by itself, lets every search end with a proof, in seconds.

    That is known where all rules can be looked at in tables: without a limit of the user's own,
    with fewer conditions, or else with fewer thresholds. Where it is not known, there are none.
    """
    if settings.search != "optimal":
        return {}
    limit, is_joint = settings.max_conditions, settings.is_joint
    if is_provable(extents, limit, is_joint=is_joint):
        limits: dict[str, Any] = {"node_limit": "auto", "time_limit": None}
        return {name: value for name, value in limits.items() if getattr(settings, name) != value}
    changes = {}
    longest = longest_provable_queries(extents, limit, is_joint=is_joint)
    if longest > 0:
        changes["max_conditions"] = longest
    # The values of a table that was read in parts are not at hand.
    whole = data.whole if data.candidates is not None else data
    if limit is not None and settings.conditions is None and whole is not None:
        present = settings.max_thresholds
        for number in _THRESHOLDS:
            if present is not None and number >= present:
                continue
            # Where there are thousands of features, candidates are not made to be thrown away.
            n_columns = extents.n_columns * number // (present or extents.n_rows)
            if not are_countable(n_columns, limit):
                continue
            fewer = settings.candidates(whole, max_thresholds=number)
            if is_provable(fewer.extents, limit, is_joint=is_joint):
                changes["max_thresholds"] = number
                break
    return changes


def describe_unproven(
    results: Sequence[SearchResult],
    n_before: int,
    *,
    time_limit: float | None,
    changes: Mapping[str, Any],
) -> str | None:
    """Describe the terms that a limit kept from a proof, and what to do; None if there are none.

    The first `n_before` terms were reported by an earlier fit. `changes` are those that
    `provable_changes` found.
    """
    unproven = {
        number: result
        for number, result in enumerate(results[n_before:], start=n_before + 1)
        if is_stopped(result)
    }
    if not unproven:
        return None
    limits = sorted({result.status.value for result in unproven.values()})
    # Left to "auto", it may be another one for each term.
    node_limits = [result.node_limit for result in unproven.values() if result.node_limit]
    values = {"node_limit": max(node_limits, default=None), "time_limit": time_limit}
    stops = " or ".join(f"{limit}={values[limit]}" for limit in limits)
    worst = min(result.approximation_ratio for result in unproven.values())
    if len(unproven) == 1:
        [(number, result)] = unproven.items()
        finding = (
            f"Search for term {number} stopped at {stops} with objective "
            f"{format_number(result.objective_value)} and bound {format_number(result.bound)} "
            f"(ratio {proven_percent(worst) / 100}): best found, not proven optimal."
        )
    else:
        n_new = len(results) - n_before
        terms = f"{n_new} new terms" if n_before else f"{n_new} terms"
        finding = (
            f"{len(unproven)} of {terms} are not proven optimal: their searches stopped at {stops} "
            f"(terms {listed(map(str, unproven), MAX_NUMBERS_SHOWN)}; the least certain reaches "
            f"{describe_ratio(worst)})."
        )
    return f"{finding} {describe_changes(changes, limits)} search_results_ has the details."


def describe_unfinished(
    search: SearchResult | None,
    n_found: int,
    *,
    time_limit: float | None,
    changes: Mapping[str, Any],
) -> str | None:
    """Describe a limit that ended a search before it found a term; None if none did."""
    if search is None:
        return None
    limit = search.status.value
    value = {"node_limit": search.node_limit, "time_limit": time_limit}[limit]
    return (
        f"Search for term {n_found + 1} stopped at {limit}={value} before it found a term: there "
        f"may be more than the {n_found} found. {describe_changes(changes, [limit])}"
    )


def is_stopped(result: SearchResult) -> bool:
    """Check whether a limit kept a search from its proof."""
    return result.status in (SearchStatus.NODE_LIMIT, SearchStatus.TIME_LIMIT)


def describe_changes(changes: Mapping[str, Any], limits: Sequence[str]) -> str:
    """Describe what proves all terms; where that is not known, what to raise or to lower.

    Examples
    --------
    >>> describe_changes({"max_conditions": 3}, ["node_limit"])
    'With max_conditions=3 every term would be proven, in seconds each.'
    >>> describe_changes({}, ["node_limit"])
    "Raise 'node_limit', or lower 'max_conditions' or 'max_thresholds'."
    """
    if changes:
        words = " or ".join(parameter(*each) for each in changes.items())
        return f"With {words} every term would be proven, in seconds each."
    lower = f"{parameter('max_conditions')} or {parameter('max_thresholds')}"
    return f"Raise {' or '.join(map(parameter, limits))}, or lower {lower}."
