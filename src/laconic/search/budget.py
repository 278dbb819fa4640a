"""The cost of a search: which way of branching is cheapest, and how many nodes are affordable.

Costs are counted rather than measured, so that a model does not depend on the machine. Counting is
free, but for the work in tables, where it takes milliseconds, little next to the search.
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
# In tables it is known beforehand: a row is added in half a nanosecond, and several sets are looked
# at in one. A few seconds at most, mostly much less.
AFFORDABLE_WORK_IN_TABLES = 10_000_000_000
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
# A search that turns out to need this many times what is affordable is stopped.
MAX_OVERRUN = 3
MIN_NODES = 20
MAX_NODES = 20_000

_KNOWN_WORK: WeakKeyDictionary[Extents, dict[int, float]] = WeakKeyDictionary()


def choose_branching(
    extents: Extents,
    max_conditions: int | None,
    *,
    is_joint: bool = False,
    is_limited: bool = True,
) -> str:
    """Choose the way of branching that is usually the fastest: tables, conditions or ranges.

    Tables are chosen for queries of up to four conditions if all of them can be looked at in a
    few seconds, as is usual up to some hundred conditions. For five conditions, the time is an
    estimate, and up to one or two hundred conditions are possible. A search whose number of nodes
    is not limited (`is_limited`) may take twenty times as long.

    Ranges are chosen where there are many nested conditions, unless tables take a tenth of a
    second: at least 32 in a chain on average, or 10 if there are 1,000 in all. They are not chosen
    where queries may have no more than two conditions, or with more than 40,000 distinct rows.

    For the joint objective (`is_joint`), tables are chosen where they are affordable, and
    conditions elsewhere.
    """
    otherwise = "conditions" if is_joint else _choose_by_nodes(extents, max_conditions)
    if otherwise == "ranges":
        share = SHARE_OF_LARGE_TABLES
    else:
        share = 1.0 if is_limited else UNLIMITED_SHARE
    if _has_affordable_tables(extents, max_conditions, share):
        return "tables"
    return otherwise


def _has_affordable_tables(
    extents: Extents, max_conditions: int | None, share: float = 1.0
) -> bool:
    """Check whether a search in tables takes no more than a share of what is affordable."""
    if max_conditions is None:
        return False
    return are_countable(extents.n_columns, max_conditions, share) and (
        _table_work(extents, max_conditions) <= share * AFFORDABLE_WORK_IN_TABLES
    )


def are_countable(n_columns: int, max_conditions: int, share: float = 1.0) -> bool:
    """Check whether queries are few enough that counting the work in tables is worth it."""
    n_sets = math.comb(n_columns, min(max_conditions, MAX_CONDITIONS_IN_A_TABLE))
    # Of many columns, few are on the same feature, so that nearly all of these sets are looked at.
    spare = 10 * max(share, 1.0) if n_columns < MANY_COLUMNS else 2 * share
    return n_sets <= spare * AFFORDABLE_WORK_IN_TABLES


def _table_work(extents: Extents, max_conditions: int) -> float:
    """Count the work in tables, once for all rules of a model."""
    known = _KNOWN_WORK.setdefault(extents, {})
    # The core's integers have a largest one.
    longest = min(max_conditions, 2**62)
    if longest not in known:
        known[longest] = extents.table_work(longest)
    return known[longest]


def nodes_of_first_try(extents: Extents, max_conditions: int | None) -> int | None:
    """Return the number of nodes to try over conditions before tables; None for no try.

    For queries of five conditions tables take seconds, which easy problems do not need. The longer
    they take, the more nodes are worth a try.
    """
    if max_conditions is None or max_conditions <= MAX_CONDITIONS_IN_A_TABLE:
        return None
    nodes = affordable_nodes(extents, "conditions")
    share = max(_table_work(extents, max_conditions) / AFFORDABLE_WORK_IN_TABLES, 1.0)
    return None if nodes is None else max(int(nodes * share) // SHARE_OF_FIRST_TRY, MIN_NODES)


def resolve_table_limit(limits: SearchLimits) -> int | None:
    """Return the largest amount of work in tables; None where it is known beforehand.

    The work for queries that are divided by their first conditions is an estimate. Where the number
    of nodes is left to "auto", there may be three times as much of it as is affordable.
    """
    is_known = (limits.max_conditions or 0) <= MAX_CONDITIONS_LOOKED_AT
    if is_known or limits.node_limit != "auto":
        return None
    return MAX_OVERRUN * AFFORDABLE_WORK_IN_TABLES


def longest_affordable_queries(problem: SearchProblem, limits: SearchLimits) -> int:
    """Return the number of conditions, fewer than allowed, up to which tables are affordable.

    0 for none, and also for a single condition: every search begins with those.
    """
    longest = problem.n_candidates if limits.max_conditions is None else limits.max_conditions
    for length in range(min(longest - 1, MAX_CONDITIONS_IN_A_TABLE), 1, -1):
        if _has_affordable_tables(problem.extents, length, SHARE_OF_A_START):
            return length
    return 0


def is_provable(extents: Extents, max_conditions: int | None, *, is_joint: bool) -> bool:
    """Check whether a search without limits is certain to end with a proof, in seconds."""
    is_known = max_conditions is not None and max_conditions <= MAX_CONDITIONS_LOOKED_AT
    return is_known and choose_branching(extents, max_conditions, is_joint=is_joint) == "tables"


def longest_provable_queries(
    extents: Extents, max_conditions: int | None, *, is_joint: bool
) -> int:
    """Return the number of conditions, fewer than allowed, up to which a proof is certain."""
    longest = MAX_CONDITIONS_LOOKED_AT if max_conditions is None else max_conditions - 1
    lengths = range(min(longest, MAX_CONDITIONS_LOOKED_AT), 0, -1)
    return next((n for n in lengths if is_provable(extents, n, is_joint=is_joint)), 0)


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
    """Return the number of nodes that take a few seconds: between 20 and 20,000.

    The more rows and conditions, the fewer nodes. None for tables, which are only chosen if all of
    their nodes are affordable.
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
    """Return the largest number of nodes; "auto" is what is affordable.

    Where `branching` is None, it is that of conditions or ranges: a search that does not name its
    way of branching needs a limit.
    """
    if limits.node_limit != "auto":
        return limits.node_limit
    return affordable_nodes(extents, branching or _choose_by_nodes(extents, limits.max_conditions))
