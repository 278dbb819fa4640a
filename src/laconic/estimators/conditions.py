"""The parameters of an estimator that say which conditions its rules may be made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic._words import listed_names
from laconic.candidates import CandidatePropositions, candidate_propositions
from laconic.estimators.starting import starting_point
from laconic.losses import ranking_values
from laconic.search import SearchScope

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting
    from laconic.estimators.rows import CheckedRows

_OPTIONS = (
    "max_thresholds",
    "negated_categories",
    "categories",
    "max_categories",
    "categorical_features",
    "ordered_features",
    "date_parts",
)


def condition_options(estimator: RuleBoosting, feature_names: Sequence[str]) -> dict[str, Any]:
    """Read them as plain values: a search over parameters sets others."""
    n_thresholds, n_categories = estimator.max_thresholds, estimator.max_categories
    return {
        "max_thresholds": None if n_thresholds is None else int(n_thresholds),
        "negated_categories": bool(estimator.negated_categories),
        "categories": str(estimator.categories),
        "max_categories": None if n_categories is None else int(n_categories),
        "categorical_features": named_features(
            "categorical_features", estimator.categorical_features, feature_names
        ),
        "ordered_features": named_features(
            "ordered_features", estimator.ordered_features, feature_names
        ),
        "date_parts": tuple(map(str, estimator.date_parts or ())),
    }


def scope_options(scope: SearchScope) -> dict[str, Any]:
    """Read them from what a model knows about its search."""
    return {name: getattr(scope, name) for name in _OPTIONS}


def made_candidates(
    estimator: RuleBoosting, rows: CheckedRows, **changes: Any
) -> CandidatePropositions:
    """Make the conditions that an estimator asks for, with some changes."""
    options = condition_options(estimator, rows.table.feature_names) | changes
    return candidates_of(estimator, rows, options)


def candidates_of(
    estimator: RuleBoosting, rows: CheckedRows, options: dict[str, Any]
) -> CandidatePropositions:
    """Make conditions from rows; sets of categories follow what the loss says of their targets."""
    orders = []
    if options["categories"] == "sets":
        y, weights = estimator.task_.for_loss(rows.counted_target), rows.counted_weights
        start, _ = starting_point(
            estimator.task_, y, weights, fit_intercept=bool(estimator.fit_intercept)
        )
        constants = [output.intercept for output in start.outputs] or start.intercept
        orders = ranking_values(estimator.loss_, y, np.array(constants), weights)
    return candidate_propositions(rows.table, **options, sample_weight=rows.weights, orders=orders)


def named_features(parameter: str, given: Any, feature_names: Sequence[str]) -> tuple[str, ...]:
    """Find the names of features that are given by names, positions or a mask.

    Examples
    --------
    >>> names = ("age", "zip", "plan")
    >>> named_features("categorical_features", [1], names)
    ('zip',)
    >>> named_features("categorical_features", [False, True, True], names)
    ('zip', 'plan')
    """
    if given is None or isinstance(given, str):
        return ()
    features = np.asarray(given)
    if features.dtype == bool:
        _require(len(features) == len(feature_names), parameter, given, feature_names)
        return tuple(np.array(feature_names, dtype=object)[features].tolist())
    names = list(feature_names)
    find: Callable[[Any], Any] = str
    if features.dtype.kind in "iu":
        _require(bool((np.abs(features) < len(names)).all()), parameter, given, feature_names)
        find = names.__getitem__
    found = [find(feature) for feature in features.tolist()]
    _require({*found} <= {*names}, parameter, given, feature_names)
    return tuple(name for name in names if name in found)


def _require(is_met: bool, parameter: str, given: Any, feature_names: Sequence[str]) -> None:
    if not is_met:
        raise ValueError(
            f"The {parameter!r} parameter must be names or positions of columns of X, or a mask "
            f"with one entry for each of them. Got {given!r} for {listed_names(feature_names)}."
        )
