"""Rules that somebody wants in a model, whatever a search would find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from laconic.boosting import GivenRule
from laconic.estimators.rows import counted
from laconic.model.conditions import Query
from laconic.model.parsing import as_query, features_of
from laconic.model.rules import Rule

if TYPE_CHECKING:
    from laconic.constraints import Constraints
    from laconic.data.tables import Table
    from laconic.estimators.rows import CheckedRows


def read_rules(rules: Any, table: Table, constraints: Constraints | None) -> list[Query]:
    """Read rules that are written as texts, queries or rules, and check that they are allowed."""
    queries = []
    for rule in rules or ():
        query = as_query(rule, table.feature_names, features_of(table))
        if constraints is not None:
            constraints.check(query)
        if query in queries:
            raise ValueError(f"Rules must be different. Got '{query}' twice.")
        queries.append(query)
    return queries


def given_rules(
    rules: Any, rows: CheckedRows, n_rules: int, constraints: Constraints | None
) -> list[GivenRule]:
    """Read the initial rules of a fit, and find the rows that they cover."""
    queries = read_rules(rules, rows.table, constraints)
    if len(queries) > n_rules:
        raise ValueError(
            f"n_rules must not be smaller than the number of 'initial_rules'. Got {n_rules} for "
            f"{len(queries)}."
        )
    found = []
    for rule, query in zip(rules or (), queries, strict=True):
        covered = np.ascontiguousarray(query.covered(rows.table)[counted(rows.weights)])
        found.append(GivenRule(query, covered, rule.weight if isinstance(rule, Rule) else None))
    return found
