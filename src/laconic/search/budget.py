"""What a node costs: which way of branching is the cheaper one, and how many nodes are affordable.

Costs are counted rather than measured, so that a model does not depend on the machine. Asking costs
nothing, but for the work in tables: its count takes milliseconds, little next to the search.
"""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

from laconic._core import Extents
from laconic.search.problem import SearchLimits, SearchProblem

# Measured on nine tables with 20 thresholds per feature, on five with 40 and 8, and on fifteen with
# all of them. Branching over conditions gets slow with many columns, and from 40 thresholds per
# feature on even where features are few; over ranges it gets slow with many rows. Where queries are
# short, there are too few of them for ranges to pay.
MIN_CHAIN_LENGTH = 32
MIN_CHAIN_LENGTH_OF_MANY = 10
MANY_COLUMNS = 1_000
MIN_CONDITIONS = 3
MAX_DISTINCT_ROWS = 40_000

# A node takes one to ten nanoseconds per row and condition. This many rows times conditions times
# nodes take a few seconds, whatever the size of the table.
AFFORDABLE_WORK = 600_000_000
# Over ranges, it is the chains of thresholds that count, and pairs of rows.
AFFORDABLE_WORK_OVER_RANGES = 100_000_000_000
# In tables it is known beforehand: a row is added in about a nanosecond, a few sets are looked at
# in one. A few seconds at most, mostly much less.
AFFORDABLE_WORK_IN_TABLES = 5_000_000_000
# Where nodes are not limited, a minute or two in tables is better than a search without an end.
UNLIMITED_SHARE = 20.0
# Where features have so many thresholds that ranges pay, these mostly take milliseconds.
SHARE_OF_LARGE_TABLES = 0.02
# A search that is a beginning only may take a part of the time.
SHARE_OF_A_START = 0.25
# Longer queries are divided by their first conditions, see `laconic.search.optimal`.
MAX_CONDITIONS_IN_A_TABLE = 4
# Of queries up to this length all are looked at, at a cost that the gradients do not change.
MAX_CONDITIONS_LOOKED_AT = 3
# Before queries are divided, a 16th of what is affordable over conditions is worth a try.
SHARE_OF_FIRST_TRY = 16
# And a search that turns out to need much more than was estimated is stopped.
MAX_OVERRUN = 3
MIN_NODES = 20
MAX_NODES = 20_000

_KNOWN_WORK: WeakKeyDictionary[Extents, dict[tuple[int, int], float]] = WeakKeyDictionary()


def choose_branching(
    extents: Extents,
    max_conditions: int | None,
    n_components: int = 0,
    *,
    is_limited: bool = True,
) -> str:
    """Choose the way of branching that is mostly the fastest one: tables, conditions or ranges.

    Tables are taken for queries of up to four conditions if all of them can be looked at in a
    few seconds, which is so unless there are many hundreds of conditions. For five conditions, a
    few seconds are an estimate, and there may be a hundred or two. A search whose number of nodes
    is not limited (`is_limited`) may take twenty times as long.

    Ranges are taken where nested conditions are many, unless tables take a tenth of a second: at
    least 32 in a chain on average, or 10 if there are 1,000 of them in all. Not, however, where
    queries may have no more than two conditions, or where there are more than 40,000 distinct rows.

    Rules that are judged together with others, of which `n_components` projections are added up,
    are found in tables, or by branching over conditions where these are out of reach.
    """
    otherwise = "conditions" if n_components > 0 else _choose_by_nodes(extents, max_conditions)
    if otherwise == "ranges":
        share = SHARE_OF_LARGE_TABLES
    else:
        share = 1.0 if is_limited else UNLIMITED_SHARE
    if _has_affordable_tables(extents, max_conditions, n_components, share):
        return "tables"
    return otherwise


def _has_affordable_tables(
    extents: Extents, max_conditions: int | None, n_components: int, share: float = 1.0
) -> bool:
    """Tell whether a search in tables takes no more than a share of what is affordable."""
    if max_conditions is None:
        return False
    return are_countable(extents.n_columns, max_conditions, share) and (
        _table_work(extents, max_conditions, n_components) <= share * AFFORDABLE_WORK_IN_TABLES
    )


def are_countable(n_columns: int, max_conditions: int, share: float = 1.0) -> bool:
    """Tell whether queries are few enough that counting the work in tables is worth it."""
    n_sets = math.comb(n_columns, min(max_conditions, MAX_CONDITIONS_IN_A_TABLE))
    # Of many columns, few are on the same feature, so that nearly all of these sets are looked at.
    spare = 10 * max(share, 1.0) if n_columns < MANY_COLUMNS else 2 * share
    return n_sets <= spare * AFFORDABLE_WORK_IN_TABLES


def _table_work(extents: Extents, max_conditions: int, n_components: int) -> float:
    """Count the work in tables, once for all rules of a model."""
    known = _KNOWN_WORK.setdefault(extents, {})
    key = max_conditions, n_components
    if key not in known:
        known[key] = extents.table_work(*key)
    return known[key]


def nodes_of_first_try(extents: Extents, max_conditions: int | None) -> int | None:
    """Count the nodes over conditions that are worth a try before tables are made; None for none.

    For queries of five conditions tables take seconds, which easy problems do not need. The longer
    they take, the more nodes are worth a try.
    """
    if max_conditions is None or max_conditions <= MAX_CONDITIONS_IN_A_TABLE:
        return None
    nodes = affordable_nodes(extents, "conditions")
    share = max(_table_work(extents, max_conditions, 0) / AFFORDABLE_WORK_IN_TABLES, 1.0)
    return None if nodes is None else max(int(nodes * share) // SHARE_OF_FIRST_TRY, MIN_NODES)


def resolve_table_limit(limits: SearchLimits) -> int | None:
    """Tell after how much work in tables a search has to stop; None where it is known beforehand.

    The work for queries that are divided by their first conditions is an estimate. Where the number
    of nodes is left to "auto", there may be three times as much of it as is affordable.
    """
    is_known = (limits.max_conditions or 0) <= MAX_CONDITIONS_LOOKED_AT
    if is_known or limits.node_limit != "auto":
        return None
    return MAX_OVERRUN * AFFORDABLE_WORK_IN_TABLES


def longest_affordable_queries(problem: SearchProblem, limits: SearchLimits) -> int:
    """Count the conditions, fewer than allowed, of queries that can all be looked at in tables.

    0 for none, also where it is a single one: every search begins with those.
    """
    longest = problem.n_candidates if limits.max_conditions is None else limits.max_conditions
    lengths = range(min(longest - 1, MAX_CONDITIONS_IN_A_TABLE), 1, -1)
    is_affordable = (
        _has_affordable_tables(problem.extents, length, problem.n_components, SHARE_OF_A_START)
        for length in lengths
    )
    return next((length for length, is_it in zip(lengths, is_affordable, strict=True) if is_it), 0)


def is_provable(extents: Extents, max_conditions: int | None, n_components: int) -> bool:
    """Tell whether a search is certain to end with a proof, in seconds, if nothing limits it."""
    is_known = max_conditions is not None and max_conditions <= MAX_CONDITIONS_LOOKED_AT
    return is_known and choose_branching(extents, max_conditions, n_components) == "tables"


def longest_provable_queries(
    extents: Extents, max_conditions: int | None, n_components: int
) -> int:
    """Count the conditions, fewer than allowed, of queries that are certain to be proven."""
    longest = MAX_CONDITIONS_LOOKED_AT if max_conditions is None else max_conditions - 1
    lengths = range(min(longest, MAX_CONDITIONS_LOOKED_AT), 0, -1)
    return next((n for n in lengths if is_provable(extents, n, n_components)), 0)


def _choose_by_nodes(extents: Extents, max_conditions: int | None) -> str:
    """Choose between the ways of branching whose number of nodes is not known beforehand."""
    is_short = max_conditions is not None and max_conditions < MIN_CONDITIONS
    if is_short or extents.n_distinct_rows > MAX_DISTINCT_ROWS:
        return "conditions"
    n_columns, n_chains = extents.n_columns, extents.n_chains
    is_wide = n_columns >= max(MANY_COLUMNS, MIN_CHAIN_LENGTH_OF_MANY * n_chains)
    is_long = n_columns >= MIN_CHAIN_LENGTH * n_chains > 0
    return "ranges" if is_wide or is_long else "conditions"


def affordable_nodes(extents: Extents, branching: str) -> int | None:
    """Count the nodes that a few seconds allow for: between 20 and 20,000.

    There are fewer the more rows and conditions there are. Tables are not taken unless all of their
    nodes are affordable.
    """
    if branching == "tables":
        return None
    if branching == "ranges":
        work, per_node = AFFORDABLE_WORK_OVER_RANGES, extents.n_chains * extents.n_rows**2
    else:
        work, per_node = AFFORDABLE_WORK, extents.n_candidates * extents.n_rows
    return min(max(work // max(1, per_node), MIN_NODES), MAX_NODES)


def resolve_node_limit(
    limits: SearchLimits, extents: Extents, branching: str | None = None
) -> int | None:
    """Tell after how many nodes a search has to stop; "auto" is as many as it can afford.

    Where `branching` is None, so is the way of branching, and the number is that of conditions or
    ranges: only a search that takes tables itself knows that it needs no limit.
    """
    if limits.node_limit != "auto":
        return limits.node_limit
    return affordable_nodes(extents, branching or _choose_by_nodes(extents, limits.max_conditions))
