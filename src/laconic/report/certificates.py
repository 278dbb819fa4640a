"""Certificates of the terms, and which terms were searched."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from laconic.boosting import Settings
from laconic.boosting.certificate import EnsembleCertificate
from laconic.candidates.categories import MAX_FOR_ALL_SETS
from laconic.candidates.constraints import form_text
from laconic.models import RuleModel
from laconic.models.scores import search_rows
from laconic.report.words import constraint_words
from laconic.search import SearchResult, SearchStatus
from laconic.search.results import describe_certificate, proven_percent
from laconic.tables.columns import CategoricalColumn
from laconic.tables.tables import Table
from laconic.terms.formatting import format_count, format_number


def describe_proof(result: SearchResult) -> dict[str, Any]:
    """Describe the certificate of one term."""
    has_bound = math.isfinite(result.bound)
    return {
        "words": describe_certificate(result),
        "status": str(result.status),
        "is_optimal": result.is_optimal,
        "objective_value": float(result.objective_value),
        "bound": float(result.bound) if has_bound else None,
        "proven_percent": proven_percent(result.approximation_ratio) if has_bound else 0,
        "n_nodes": int(result.counters.get("nodes", 0)),
        "seconds": float(result.seconds),
    }


def describe_whole(certificate: EnsembleCertificate | None) -> dict[str, Any] | None:
    """Describe how close all terms together come to the best possible ones; None if unknown."""
    if certificate is None:
        return None
    return certificate.to_dict() | {
        "summary": certificate.summary,
        "compared": certificate.compared_words,
        "proven_percent": proven_percent(certificate.share),
        "trivial_percent": proven_percent(certificate.trivial_share),
    }


def describe_certificates(model: RuleModel, table: Table) -> dict[str, Any]:
    """Count the proven terms, and describe which terms were searched.

    Each term is proven to be the best one ``given`` others, by the ``criterion``. The ``scope`` is
    None if terms were found with different settings.
    """
    results = model.search_results_
    return {
        "rows": search_rows(model),
        "n_proven": sum(result.is_optimal for result in results),
        "seconds": float(sum(result.seconds for result in results)),
        "n_nodes": int(sum(result.counters.get("nodes", 0) for result in results)),
        "given": "all others" if model.settings_.is_polished else "the terms before it",
        "criterion": _criterion_words(model.settings_),
        "scope": None if model.settings_.is_mixed else _scope(model),
        "scope_words": _scope_words(model, table, [result.status for result in results]),
    }


def _scope(model: RuleModel) -> dict[str, Any]:
    """Return the settings of the search as plain values."""
    settings = model.settings_
    return {
        "search": settings.search if isinstance(settings.search, str) else "own",
        "strategy": settings.strategy,
        "l2_regularization": model.l2_regularization_,
        **{
            name: getattr(settings, name)
            for name in (
                *("slopes", "brevity", "beats_chance"),
                *("max_conditions", "min_coverage", "approximation_factor"),
            )
        },
        **{
            name: list(value) if isinstance(value, tuple) else value
            for name, value in settings.condition_options.items()
        },
        "n_candidates": model.n_candidates_,
        "are_conditions_given": settings.conditions is not None,
        "constraints": _constraints(settings),
    }


def _constraints(settings: Settings) -> dict[str, Any]:
    """Return the constraints on terms by the names of the parameters."""
    constraints = {} if settings.constraints is None else dict(settings.constraints.settings)
    excluded = [*map(form_text, settings.excluded_terms)]
    return constraints | ({"excluded_terms": excluded} if excluded else {})


def _scope_words(model: RuleModel, table: Table, statuses: Sequence[SearchStatus]) -> str:
    scope = model.settings_
    if scope.is_mixed:
        return "The terms were found with different settings or candidate conditions."
    limit = scope.max_conditions
    length = "any number of conditions"
    if limit is not None:
        length = f"up to {format_count(limit, 'condition')}"
    coverage = scope.min_coverage
    rows = f" that cover at least {format_number(coverage)} rows" if coverage > 0 else ""
    # A search that found nothing leaves no status.
    is_exact = any(status is not SearchStatus.HEURISTIC for status in statuses)
    searched = (
        f"Searched: all conjunctions of {length}{rows}"
        if is_exact or (not statuses and scope.search == "optimal")
        else f"Tried by a heuristic: some conjunctions of {length}{rows}"
    )
    candidates = _candidate_words(scope, model.n_candidates_, table)
    slopes = ""
    if scope.slopes:
        slopes = " Slopes: all between two thresholds or outer quantiles of a numeric feature."
    return f"{searched}, out of {candidates}.{slopes}{constraint_words(_constraints(scope))}"


def _criterion_words(settings: Settings) -> str:
    """Describe of which term there is none better: one that reduces the loss more, for its size."""
    words = "reduces the regularized training loss more, to second order"
    if settings.is_mixed:
        return words
    if settings.beats_chance:
        words += ", beyond what chance would gain"
    if settings.brevity > 0.0:
        power = settings.brevity
        size = "its size" if power == 1.0 else f"its size to the power of {format_number(power)}"
        words += f", in relation to {size}: 1 plus its number of conditions"
    return words


def _candidate_words(scope: Settings, n_candidates: int, table: Table) -> str:
    if scope.conditions is not None:
        return format_count(n_candidates, "given candidate condition")
    kinds = {table.column(name).is_numeric for name in table.feature_names}
    thresholds = scope.max_thresholds
    numbers = "all thresholds"
    if thresholds is not None:
        numbers = f"up to {format_count(thresholds, 'threshold')}"
    parts = [f"{numbers} per numeric feature"] if True in kinds else []
    parts += [_category_words(scope, table)] if False in kinds else []
    return f"{format_count(n_candidates, 'candidate condition')}: {', and '.join(parts)}"


def _category_words(scope: Settings, table: Table) -> str:
    """Describe which conditions on categories were searched."""
    words = "“is” and “is not”" if scope.categories != "equal" else "“is”"
    columns = (table.column(name) for name in table.feature_names)
    largest = max(len(c.categories) for c in columns if isinstance(c, CategoricalColumn))
    each = "each category"
    if scope.max_categories is not None and largest > scope.max_categories:
        each = f"each of the {scope.max_categories} most frequent categories and all others"
    if scope.categories != "sets":
        return f"{words} for {each}"
    return (
        f"sets of categories: all of up to {MAX_FOR_ALL_SETS}; of more, {words} for {each} and "
        "sets from both ends of their order by target"
    )
