"""The features that are crossed, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

FACTORS: dict[str, tuple[str, ...]] = {
    "loss": (
        *("squared", "huber", "poisson", "gamma", "tweedie", "logistic", "three classes"),
        *("own loss", "positive='no'"),
    ),
    "rows": (
        *("plain", "sample_weight", "class_weight='balanced'", "class_weight={...}", "exposure"),
        *("sample_weight and exposure", "groups"),
    ),
    "features": (*("free", "interaction_cst", "interaction_cst, alone", "interaction_cst, apart"),),
    "signs": ("free", "monotonic_cst", "weight_signs"),
    "costs": ("none", "feature_costs", "feature_costs=inf"),
    "terms": ("found", "initial rule", "initial slope", "excluded rule", "excluded slope"),
    "columns": (
        *("numbers", "missing values", "categories", "categories='sets'", "ordered categories"),
        *("dates", "date_parts", "sparse matrix", "conditions", "integers and booleans"),
    ),
    "slopes": ("True", "False"),
    "brevity": ("1.0", "0.0", "0.5", "2.0"),
    "n_terms": ("3", "auto"),
    "strategy": ("joint", "stagewise", "polished", "global"),
    "search": ("optimal", "greedy", "beam"),
    "max_conditions": ("2", "1", "3"),
    "fit_intercept": ("True", "False"),
    "limits": (
        *("none", "min_coverage", "approximation_factor", "node_limit"),
        "max_thresholds",
    ),
    "table": (
        *("pandas", "polars", "NumPy", "Parquet files", "CSV files", "LazyFrame", "DuckDB"),
        *("Dask", "SQLite"),
    ),
    "model": ("fitted", "loaded", "pickled", "cloned", "copied"),
    "operation": (
        *("fit", "CV estimator", "warm_start", "edit(drop)", "edit(force)", "edit(replace)"),
        *("edit(lock)", "alternatives", "certificate", "report", "to_json", "to_sql"),
        *("to_python", "to_javascript", "to_onnx", "to_pmml", "to_scorecard", "explain"),
        *("shapley_values", "transform", "plot", "save_predictions"),
        *("chance", "effects", "stability", "conformalize"),
    ),
}
"""The values of each factor; the first one is what goes with most others."""

CLASSES = ("logistic", "three classes", "positive='no'")
NUMBERS = tuple(loss for loss in FACTORS["loss"] if loss not in CLASSES)
IN_PARTS = ("Parquet files", "CSV files", "LazyFrame", "DuckDB", "Dask", "SQLite")

Choice = tuple[str, str]
"""A factor and one of its values."""

Combination = frozenset[Choice]
"""Values of some factors."""


def _pairs(one: str, ones: Sequence[str], other: str, others: Sequence[str]) -> set[Combination]:
    return {frozenset({(one, a), (other, b)}) for a, b in product(ones, others)}


IMPOSSIBLE: frozenset[Combination] = frozenset(
    # Only classifiers have that parameter.
    _pairs("rows", ("class_weight='balanced'", "class_weight={...}"), "loss", NUMBERS)
    # A sparse matrix is a table of its own kind, beside arrays.
    | _pairs(
        "columns",
        ("sparse matrix",),
        "table",
        tuple(table for table in FACTORS["table"] if table != "NumPy"),
    )
)
"""Combinations that nobody can write down."""
