"""Rules that somebody wants in a model, whatever a search would find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic.boosting import OBJECTIVES, GivenRule, Joint
from laconic.estimators.rows import counted
from laconic.model.conditions import Proposition, Query
from laconic.model.parsing import Feature, as_query
from laconic.model.rules import Rule

if TYPE_CHECKING:
    from laconic.constraints import Constraints
    from laconic.estimators.rows import CheckedRows


def read_rules(rules: Any, rows: CheckedRows, constraints: Constraints | None) -> list[Query]:
    """Read rules that are written as texts, queries or rules, and check that they are allowed."""
    queries = []
    for rule in rules or ():
        query = as_query(rule, rows.table.feature_names, rows.describe)
        if constraints is not None:
            constraints.check(query)
        if query in queries:
            raise ValueError(f"Rules must be different. Got '{query}' twice.")
        queries.append(query)
    return queries


def wanted_conditions(
    estimator: Any, names: Sequence[str], describe: Callable[[str], Feature]
) -> list[Proposition]:
    """List the conditions of all rules that an estimator was told of."""
    rules = (*(estimator.initial_rules or ()), *(estimator.excluded_rules or ()))
    queries = (as_query(rule, names, describe) for rule in rules)
    return [proposition for query in queries for proposition in query]


def given_rules(estimator: Any, rows: CheckedRows, n_rules: int) -> list[GivenRule]:
    """Read the initial rules of a fit, and find the rows that they cover."""
    rules = estimator.initial_rules or ()
    queries = read_rules(rules, rows, estimator.constraints_)
    if len(queries) > n_rules:
        raise ValueError(
            f"n_rules must not be smaller than the number of 'initial_rules'. Got {n_rules} for "
            f"{len(queries)}."
        )
    return [
        GivenRule(query, _covered(query, rows), rule.weight if isinstance(rule, Rule) else None)
        for rule, query in zip(rules, queries, strict=True)
    ]


def barred_rows(estimator: Any, rows: CheckedRows) -> list[NDArray[np.bool_]]:
    """Find the rows that rules must not cover exactly."""
    queries = read_rules(estimator.excluded_rules, rows, None)
    is_refitted = issubclass(OBJECTIVES[estimator.objective], Joint)
    return with_rest(
        [_covered(query, rows) for query in queries],
        has_intercept=is_refitted and bool(estimator.fit_intercept),
    )


def constraint_settings(estimator: Any) -> dict[str, Any]:
    """Tell what rules were allowed to be, as plain values."""
    constraints = estimator.constraints_
    rules = estimator.excluded_rules or ()
    texts = [rule if isinstance(rule, str) else str(getattr(rule, "query", rule)) for rule in rules]
    settings = {} if constraints is None else dict(constraints.settings)
    return settings | ({"excluded_rules": texts} if texts else {})


def with_rest(sets: Sequence[NDArray[np.bool_]], *, has_intercept: bool) -> list[NDArray[np.bool_]]:
    """Add the rest of the rows to each set of rows.

    Beside an intercept that is refitted, a rule for all rows without a set says the same as one for
    the set.
    """
    return [*sets, *(~covered for covered in sets)] if has_intercept else list(sets)


def _covered(query: Query, rows: CheckedRows) -> NDArray[np.bool_]:
    return np.ascontiguousarray(query.covered(rows.table)[counted(rows.weights)])
