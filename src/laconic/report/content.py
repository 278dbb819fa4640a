"""A report as a dictionary of plain values, from which pages and JSON are made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from laconic._checks import is_whole
from laconic._core import version
from laconic.estimators import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.report.certificates import describe_certificates, describe_proof
from laconic.report.coverage import summarize_coverage
from laconic.report.features import summarize_feature
from laconic.report.scores import (
    classification_path,
    regression_path,
    summarize_calibration,
    summarize_residuals,
)
from laconic.report.what_if import describe_what_if
from laconic.report.words import (
    describe_effect,
    phrases,
    plain_text,
    sentence,
    value_text,
)
from laconic.rules import Rule
from laconic.tables import Table, as_table

__all__ = ["report_content"]

Estimator: TypeAlias = RuleBoostingClassifier | RuleBoostingRegressor
Floats: TypeAlias = NDArray[np.float64]

FORMAT = "laconic-report"
VERSION = 1


def report_content(
    estimator: Estimator,
    X: Any,
    y: ArrayLike,
    *,
    title: str | None = None,
    target_name: str | None = None,
    max_sample_rows: int = 100,
) -> dict[str, Any]:
    """Describe a fitted model and how it does on the rows of a table.

    Parameters
    ----------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted or loaded.
    X : table-like of shape (n_rows, n_features)
        Any table that the estimator predicts for.
    y : array-like of shape (n_rows,)
        The target of these rows.
    title : str or None, default=None
        Heading of the report; None makes one from the target.
    target_name : str or None, default=None
        What is predicted; None takes the name of `y`, where it has one.
    max_sample_rows : int, default=100
        Largest number of rows that the report shows one by one.

    Returns
    -------
    content : dict
        Made of dict, list, str, bool, int, finite float and None only.
    """
    check_is_fitted(estimator)
    if not is_whole(max_sample_rows, 0):
        raise ValueError(
            "The 'max_sample_rows' parameter of a report must be an int in the range [0, inf). "
            f"Got {max_sample_rows!r} instead."
        )
    predictions = estimator.predict(X)  # the estimator's own checks of the table
    table = _named_table(estimator, X)
    target = _checked_target(estimator, y, table.n_rows)
    if target_name is None:
        name = getattr(y, "name", None)
        target_name = name if isinstance(name, str) else None
    sample = _sample(table.n_rows, max_sample_rows)
    covered, overlap = summarize_coverage(estimator.ensemble_.covered(table), target)
    rules = [
        _describe_rule(estimator, number, rule) | coverage
        for number, (rule, coverage) in enumerate(
            zip(estimator.ensemble_, covered, strict=True), start=1
        )
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "laconic_version": version,
        "title": plain_text(title or _title(estimator, target_name)),
        "model": _describe_model(estimator, target_name),
        "rules": rules,
        "path": {
            "sizes": list(range(len(rules) + 1)),
            "n_conditions": np.cumsum([0, *(rule["n_conditions"] for rule in rules)]).tolist(),
            "metrics": _path(estimator, X, target),
        },
        "certificates": describe_certificates(estimator, table),
        "overlap": overlap,
        **_describe_fit(estimator, X, target, predictions, sample),
        "data": _describe_data(estimator, table, target),
        "what_if": describe_what_if(estimator, table, y, sample),
    }


def _named_table(estimator: Estimator, X: Any) -> Table:
    """Name the columns as the rules do, also where a table was trained on without names."""
    names = estimator.ensemble_.feature_names or ()
    table = as_table(X, names)
    return table if set(names) <= set(table.feature_names) else table.rename(names)


def _checked_target(estimator: Estimator, y: ArrayLike, n_rows: int) -> Floats:
    """Turn the target into numbers: the second class into 1, the first into 0."""
    cells = np.asarray(y)
    if cells.shape != (n_rows,):
        raise ValueError(
            f"The target y must have one value per row of X, shape ({n_rows},). Got shape "
            f"{cells.shape}. Pass the target of the same rows."
        )
    if isinstance(estimator, RuleBoostingClassifier):
        classes = estimator.classes_.tolist()
        unknown = [label for label in cells.tolist() if label not in classes]
        if unknown:
            raise ValueError(
                f"The target y must hold the classes of the model, {classes}. Got {unknown[0]!r} "
                "as well. Leave out rows of other classes, or convert the classes."
            )
        return np.asarray(cells == estimator.classes_[1], dtype=np.float64)
    numbers = np.asarray(cells, dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.isfinite(numbers).argmin())
        raise ValueError(
            f"The target y must hold finite numbers. Got {numbers[row]} at row {row}. Leave out "
            "rows without a target."
        )
    return numbers


def _sample(n_rows: int, max_rows: int) -> NDArray[np.intp]:
    """Choose rows, always the same for the same numbers."""
    if n_rows <= max_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, size=max_rows, replace=False))


def _title(estimator: Estimator, target_name: str | None) -> str:
    if target_name is not None:
        return f"Rules that predict {target_name}"
    if isinstance(estimator, RuleBoostingClassifier):
        negative, positive = map(value_text, estimator.classes_.tolist())
        return f"Rules that tell {positive} from {negative}"
    return "Rules that predict a number"


def _positive_class(estimator: Estimator) -> str | None:
    if isinstance(estimator, RuleBoostingClassifier):
        return value_text(estimator.classes_.tolist()[1])
    return None


def _describe_model(estimator: Estimator, target_name: str | None) -> dict[str, Any]:
    ensemble = estimator.ensemble_
    used = {proposition.feature for rule in ensemble for proposition in rule.query}
    is_classifier = isinstance(estimator, RuleBoostingClassifier)
    start = float(estimator.loss_.inverse_link(np.array([ensemble.intercept]))[0])
    classes = estimator.classes_.tolist() if isinstance(estimator, RuleBoostingClassifier) else None
    return {
        "task": "classification" if is_classifier else "regression",
        "target_name": target_name,
        "classes": classes,
        "class_labels": None if classes is None else [value_text(name) for name in classes],
        "loss": getattr(estimator.loss_, "name", type(estimator.loss_).__name__),
        "intercept": ensemble.intercept,
        "start": start,
        "n_rules": ensemble.n_rules,
        "n_conditions": ensemble.n_conditions,
        "n_features": estimator.n_features_in_,
        "n_features_used": len(used),
    }


def _describe_rule(estimator: Estimator, number: int, rule: Rule) -> dict[str, Any]:
    effect = describe_effect(rule.weight, estimator.loss_, _positive_class(estimator))
    return {
        "number": number,
        "weight": rule.weight,
        "text": str(rule.query),
        "sentence": sentence(rule.query, effect),
        "effect": effect,
        "phrases": phrases(rule.query),
        "n_conditions": len(rule.query),
        "conditions": [
            {
                "feature": proposition.feature,
                "relation": proposition.relation,
                "value": proposition.value,
            }
            for proposition in rule.query
        ],
        "certificate": describe_proof(estimator.search_results_[number - 1]),
    }


def _path(estimator: Estimator, X: Any, target: Floats) -> list[dict[str, Any]]:
    start = np.full(len(target), estimator.ensemble_.intercept)
    if isinstance(estimator, RuleBoostingClassifier):
        stages = _with_start(start, estimator.staged_decision_function(X))
        return classification_path(target > 0, stages, estimator.loss_.inverse_link)
    start = estimator.loss_.inverse_link(start)
    return regression_path(target, _with_start(start, estimator.staged_predict(X)))


def _with_start(start: Floats, stages: Iterator[Floats]) -> Iterator[Floats]:
    yield start
    yield from stages


def _describe_fit(
    estimator: Estimator,
    X: Any,
    target: Floats,
    predictions: NDArray[Any],
    sample: NDArray[np.intp],
) -> dict[str, Any]:
    if isinstance(estimator, RuleBoostingClassifier):
        raw_predictions = estimator.decision_function(X)
        # A loss of the user's own may go beyond probabilities.
        probabilities = estimator.loss_.inverse_link(raw_predictions).clip(0, 1)
        calibration = summarize_calibration(target > 0, raw_predictions, probabilities)
        return {"calibration": calibration, "residuals": None}
    return {"calibration": None, "residuals": summarize_residuals(target, predictions, sample)}


def _describe_data(estimator: Estimator, table: Table, target: Floats) -> dict[str, Any]:
    rule_numbers: defaultdict[str, list[int]] = defaultdict(list)
    for number, rule in enumerate(estimator.ensemble_, start=1):
        for feature in dict.fromkeys(proposition.feature for proposition in rule.query):
            rule_numbers[feature].append(number)
    names = estimator.ensemble_.feature_names or table.feature_names
    features = [summarize_feature(table.column(name), rule_numbers[name]) for name in names]
    return {
        "n_rows": table.n_rows,
        "n_features": len(names),
        "n_missing": sum(feature["n_missing"] for feature in features),
        "target": _describe_target(estimator, target),
        "features": features,
    }


def _describe_target(estimator: Estimator, target: Floats) -> dict[str, Any]:
    if isinstance(estimator, RuleBoostingClassifier):
        n_positive = int(target.sum())
        return {"counts": [len(target) - n_positive, n_positive]}
    return {
        "mean": float(target.mean()),
        "standard_deviation": float(target.std()),
        "min": float(target.min()),
        "max": float(target.max()),
    }
