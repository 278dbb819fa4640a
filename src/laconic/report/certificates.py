"""What is proven about rules, and over which conditions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from laconic.data.tables import Table
from laconic.explain import RuleModel
from laconic.model.formatting import format_count
from laconic.search import SearchResult, SearchStatus
from laconic.search.certificates import describe_certificate, proven_percent

_SCOPE_PARAMETERS = (
    "objective",
    "max_conditions",
    "max_thresholds",
    "negated_categories",
    "min_coverage",
    "approximation_factor",
    "simplify",
)


def describe_proof(result: SearchResult) -> dict[str, Any]:
    """Describe the certificate of one rule."""
    has_bound = math.isfinite(result.bound)
    return {
        "words": describe_certificate(result),
        "status": str(result.status),
        "is_optimal": result.is_optimal,
        "objective_value": float(result.objective_value),
        "bound": float(result.bound) if has_bound else None,
        "proven_percent": proven_percent(result.approximation_ratio) if has_bound else 0,
        "n_conditions_found": result.n_conditions_found,
        "n_nodes": int(result.counters.get("nodes", 0)),
        "seconds": float(result.seconds),
    }


def describe_certificates(model: RuleModel, table: Table) -> dict[str, Any]:
    """Count the proven rules, and say what was searched, for which kinds of columns.

    A model from a file has its rules and proofs, but not the parameters of its fit: its ``scope``
    is None.
    """
    results = model.search_results_
    scope = _scope(model) if hasattr(model, "n_propositions_") else None
    is_exact = any(result.status is not SearchStatus.HEURISTIC for result in results)
    if not results:  # a search that found nothing leaves none
        is_exact = model.get_params(deep=False).get("search") == "optimal"
    return {
        "n_proven": sum(result.is_optimal for result in results),
        "seconds": float(sum(result.seconds for result in results)),
        "n_nodes": int(sum(result.counters.get("nodes", 0) for result in results)),
        "scope": scope,
        "scope_words": _scope_words(scope, table, is_exact),
    }


def _scope(model: RuleModel) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    return {
        **{name: _plain(parameters[name]) for name in _SCOPE_PARAMETERS},
        "l2_regularization": model.l2_regularization_,
        "n_propositions": model.n_propositions_,
        "are_propositions_given": parameters["propositions"] is not None,
    }


def _plain(parameter: Any) -> Any:
    # A search over parameters hands over NumPy numbers.
    return parameter.item() if isinstance(parameter, np.generic) else parameter


def _scope_words(scope: dict[str, Any] | None, table: Table, is_exact: bool) -> str:
    if scope is None:
        return (
            "A saved model keeps its certificates, but not the candidate conditions that they were "
            "proven over."
        )
    limit = scope["max_conditions"]
    length = "any number of" if limit is None else f"up to {limit}"
    coverage = scope["min_coverage"]
    rows = f" that cover at least {coverage:g} rows" if coverage > 0 else ""
    searched = (
        f"Searched: all conjunctions of {length} conditions{rows}"
        if is_exact
        else f"Tried by a heuristic: some conjunctions of {length} conditions{rows}"
    )
    return f"{searched}, out of {_candidate_words(scope, table)}."


def _candidate_words(scope: dict[str, Any], table: Table) -> str:
    if scope["are_propositions_given"]:
        return format_count(scope["n_propositions"], "given candidate")
    kinds = {table.column(name).is_numeric for name in table.feature_names}
    thresholds = scope["max_thresholds"]
    numbers = "all thresholds" if thresholds is None else f"up to {thresholds} thresholds"
    categories = "“is” and “is not”" if scope["negated_categories"] else "“is”"
    parts = [f"{numbers} per number"] if True in kinds else []
    parts += [f"{categories} for each category"] if False in kinds else []
    return f"{format_count(scope['n_propositions'], 'candidate')}: {', and '.join(parts)}"
