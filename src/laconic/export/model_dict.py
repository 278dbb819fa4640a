"""Models as plain values: what a file holds, checked entry by entry when it is read."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.data.columns import Category
from laconic.estimators import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.export.checks import (
    check_has,
    check_keys,
    read_amount,
    read_bool,
    read_category,
    read_choice,
    read_list,
    read_number,
    read_text,
    read_whole,
    require,
)
from laconic.export.portable import LOSS_NAMES, Estimator, checked_estimator, loss_name
from laconic.losses import LogisticLoss, SquaredLoss, get_loss
from laconic.model.conditions import (
    MISSING_RELATIONS,
    RELATIONS,
    THRESHOLD_RELATIONS,
    Proposition,
    Query,
)
from laconic.model.rules import Rule, RuleEnsemble
from laconic.search import SearchResult, SearchStatus
from laconic.tasks import Classification, Regression

__all__ = ["model_from_dict", "model_to_dict"]

FORMAT = "laconic-model"
VERSION = 1

_ESTIMATORS: dict[str, type[Estimator]] = {
    "classification": RuleBoostingClassifier,
    "regression": RuleBoostingRegressor,
}
_DEFAULT_LOSSES = {"classification": LogisticLoss.name, "regression": SquaredLoss.name}

_KEYS = (
    *("format", "version", "task", "loss", "feature_names", "has_feature_names"),
    *("intercept", "rules"),
)


def model_to_dict(estimator: Estimator) -> dict[str, Any]:
    """Describe a fitted model by plain values, as a file does.

    Parameters
    ----------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted, with one of the named losses.

    Returns
    -------
    data : dict
        Made of dict, list, str, bool, int, finite float and None only.

    Examples
    --------
    >>> model = RuleBoostingRegressor(n_rules=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> data = model_to_dict(model)
    >>> data["rules"][0]["conditions"]
    [{'feature': 'x0', 'relation': '<=', 'value': 2.0}]
    """
    checked_estimator(estimator)
    ensemble, results = estimator.ensemble_, estimator.search_results_
    if len(ensemble) != len(results):
        raise ValueError(
            "A saved model needs one certificate per rule. Got "
            f"{len(ensemble)} rules in 'ensemble_' and {len(results)} in 'search_results_'. "
            "Change both or neither; ensemble_.to_frame() gives the rules as a table."
        )
    task = "classification" if isinstance(estimator, RuleBoostingClassifier) else "regression"
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "task": task,
        "loss": loss_name(estimator.loss_),
    }
    if isinstance(estimator, RuleBoostingClassifier):
        data["classes"] = estimator.classes_.tolist()
    data |= {
        "feature_names": list(ensemble.feature_names or ()),
        "has_feature_names": hasattr(estimator, "feature_names_in_"),
        "intercept": ensemble.intercept,
        "rules": [
            _rule_to_dict(rule, result) for rule, result in zip(ensemble, results, strict=True)
        ],
    }
    try:
        _read_model(data)
    except ValueError as error:
        raise ValueError(
            f"This model cannot be saved. {error} ensemble_.to_frame() gives the rules as a table."
        ) from None
    return data


def model_from_dict(data: Mapping[str, Any]) -> Estimator:
    """Make a fitted estimator from what `model_to_dict` returned.

    Parameters
    ----------
    data : dict
        Every entry is checked.

    Returns
    -------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        With the default parameters, except for a loss that is not the default.

    Raises
    ------
    ValueError
        If an entry is missing, unknown or not what it must be.

    Examples
    --------
    >>> model = RuleBoostingRegressor(n_rules=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> model_from_dict(model_to_dict(model)).predict([[2], [3]])
    array([4., 0.])
    """
    try:
        version = _read_version(data)
        if version == VERSION:
            return _read_model(data)
    except ValueError as error:
        raise ValueError(f"{error} Correct this entry, or save the model again.") from None
    raise ValueError(
        f"version must be {VERSION}, the newest that this laconic reads. Got {version}: the model "
        "was saved by a newer laconic. Upgrade with 'pip install --upgrade laconic'."
    )


def _rule_to_dict(rule: Rule, result: SearchResult) -> dict[str, Any]:
    conditions = [
        {
            "feature": proposition.feature,
            "relation": proposition.relation,
            "value": proposition.value,
        }
        for proposition in rule.query
    ]
    bound = float(result.bound)
    certificate = {
        "query": [int(index) for index in result.query],
        "objective_value": float(result.objective_value),
        # A search that stops before its first node has bounded nothing.
        "bound": None if bound == math.inf else bound,
        "status": str(result.status),
        "counters": {name: int(count) for name, count in result.counters.items()},
        "seconds": float(result.seconds),
    }
    return {"weight": rule.weight, "conditions": conditions, "certificate": certificate}


def _read_version(data: Any) -> int:
    """Read what must be the same in all versions, before anything that may differ."""
    require(isinstance(data, dict), "The model", "a JSON object", data)
    check_has(data, "", ("format", "version"))
    read_choice(data["format"], "format", (FORMAT,))
    version = read_whole(data["version"], "version")
    require(version >= VERSION, "version", str(VERSION), version)
    return version


def _read_model(data: Any) -> Estimator:
    check_has(data, "", ("task",))
    task = read_choice(data["task"], "task", _ESTIMATORS)
    check_keys(data, "", _KEYS if task == "regression" else (*_KEYS, "classes"))
    loss = read_choice(data["loss"], "loss", LOSS_NAMES.values())
    feature_names = _read_feature_names(data["feature_names"])
    rules = [
        _read_rule(rule, f"rules[{position}]", feature_names)
        for position, rule in enumerate(read_list(data["rules"], "rules"))
    ]
    intercept = read_number(data["intercept"], "intercept")
    _check_sum_of_weights(intercept, [rule for rule, _ in rules])
    estimator = _ESTIMATORS[task]()
    named = get_loss(loss)
    if loss != _DEFAULT_LOSSES[task]:
        estimator.set_params(loss=named)
    if task == "classification":
        estimator.task_ = Classification(named, _read_classes(data["classes"]))
    else:
        estimator.task_ = Regression(named)
    estimator.ensemble_ = RuleEnsemble(tuple(rule for rule, _ in rules), intercept, feature_names)
    estimator.search_results_ = [result for _, result in rules]
    estimator.n_features_in_ = len(feature_names)
    if read_bool(data["has_feature_names"], "has_feature_names"):
        estimator.feature_names_in_ = np.array(feature_names, dtype=object)
    return estimator


def _check_sum_of_weights(intercept: float, rules: Collection[Rule]) -> None:
    """Check that no row can get an infinite prediction, or NaN from two infinities."""
    total = abs(intercept) + sum(abs(rule.weight) for rule in rules)
    required = "an array whose absolute weights have a finite sum with the intercept"
    require(math.isfinite(total), "rules", required, total)


def _read_feature_names(value: Any) -> tuple[str, ...]:
    names = [
        read_text(name, f"feature_names[{position}]")
        for position, name in enumerate(read_list(value, "feature_names"))
    ]
    require(len(names) > 0, "feature_names", "a list of at least one name", value)
    known: set[str] = set()
    for position, name in enumerate(names):
        is_new = name not in known
        require(is_new, f"feature_names[{position}]", "different from all before it", name)
        known.add(name)
    return tuple(names)


def _read_classes(value: Any) -> NDArray[Any]:
    classes = read_list(value, "classes")
    require(len(classes) == 2, "classes", "a list of two classes", value)
    for position, name in enumerate(classes):
        read_category(name, f"classes[{position}]")
    kinds = {_kind(name) for name in classes}
    require(len(kinds) == 1, "classes", "two strings, two booleans or two numbers", value)
    # The order of scikit-learn, which tools around estimators rely on.
    require(classes[0] < classes[1], "classes", "two different classes in ascending order", value)
    array = np.array(classes)
    is_exact = array.dtype.kind in "Ubiuf" and array.tolist() == classes
    require(is_exact, "classes", "values that a NumPy array can hold unchanged", value)
    return array


def _read_rule(data: Any, path: str, feature_names: Collection[str]) -> tuple[Rule, SearchResult]:
    check_keys(data, path, ("weight", "conditions", "certificate"))
    conditions = [
        _read_condition(condition, f"{path}.conditions[{position}]", feature_names)
        for position, condition in enumerate(read_list(data["conditions"], f"{path}.conditions"))
    ]
    weight = read_number(data["weight"], f"{path}.weight")
    result = _read_certificate(data["certificate"], f"{path}.certificate")
    return Rule(Query(tuple(conditions)), weight), result


def _read_condition(data: Any, path: str, feature_names: Collection[str]) -> Proposition:
    check_keys(data, path, ("feature", "relation", "value"))
    feature = read_text(data["feature"], f"{path}.feature")
    require(feature in feature_names, f"{path}.feature", "one of the feature_names", feature)
    relation = read_choice(data["relation"], f"{path}.relation", RELATIONS)
    value, value_path = data["value"], f"{path}.value"
    if relation in MISSING_RELATIONS:
        require(value is None, value_path, f"null for the relation {relation!r}", value)
        return Proposition(feature, relation)
    if relation in THRESHOLD_RELATIONS:
        return Proposition(feature, relation, read_number(value, value_path))
    return Proposition(feature, relation, read_category(value, value_path))


def _read_certificate(data: Any, path: str) -> SearchResult:
    keys = ("query", "objective_value", "bound", "status", "counters", "seconds")
    check_keys(data, path, keys)
    query = [
        read_whole(index, f"{path}.query[{position}]")
        for position, index in enumerate(read_list(data["query"], f"{path}.query"))
    ]
    counters = data["counters"]
    require(isinstance(counters, dict), f"{path}.counters", "a JSON object", counters)
    return SearchResult(
        tuple(query),
        read_amount(data["objective_value"], f"{path}.objective_value"),
        math.inf if data["bound"] is None else read_amount(data["bound"], f"{path}.bound"),
        SearchStatus(read_choice(data["status"], f"{path}.status", list(SearchStatus))),
        {
            read_text(name, f"{path}.counters"): read_whole(count, f"{path}.counters.{name}")
            for name, count in counters.items()
        },
        read_amount(data["seconds"], f"{path}.seconds"),
    )


def _kind(category: Category) -> str:
    if isinstance(category, str):
        return "string"
    return "boolean" if isinstance(category, bool) else "number"
