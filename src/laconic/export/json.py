"""Models as JSON files: written whole or not at all, and checked entry by entry when read.

The format is described by ``model.schema.json``, next to this module. A file holds the model and
nothing of the fit but the certificates: an estimator that is loaded predicts as the saved one did,
and has the default parameters. Reading executes nothing, so files of strangers can be loaded.
"""

from __future__ import annotations

import json
import math
import os
import reprlib
import uuid
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from laconic.estimators import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.losses import LogisticLoss, Loss, SquaredLoss, get_loss
from laconic.rules import (
    MISSING_RELATIONS,
    RELATIONS,
    THRESHOLD_RELATIONS,
    Proposition,
    Query,
    Rule,
    RuleEnsemble,
)
from laconic.search import SearchResult, SearchStatus
from laconic.tables import Category

__all__ = ["load_model", "model_from_dict", "model_to_dict", "save_model"]

Estimator: TypeAlias = RuleBoostingClassifier | RuleBoostingRegressor

FORMAT = "laconic-model"
VERSION = 1

_ESTIMATORS: dict[str, type[Estimator]] = {
    "classification": RuleBoostingClassifier,
    "regression": RuleBoostingRegressor,
}
_DEFAULT_LOSSES = {"classification": LogisticLoss.name, "regression": SquaredLoss.name}
_LOSS_NAMES: dict[type, str] = {loss: loss.name for loss in (LogisticLoss, SquaredLoss)}

_KEYS = (
    *("format", "version", "task", "loss", "feature_names", "has_feature_names"),
    *("intercept", "rules"),
)

# No finite double has more integer digits.
_MAX_DIGITS = 309


def save_model(estimator: Estimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a JSON file.

    The file appears when it is complete: if writing fails, a file that was there before is as it
    was.

    Parameters
    ----------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted, with one of the named losses.
    path : path-like
        Where to write. An existing file is replaced.

    See Also
    --------
    load_model : The way back.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> model = RuleBoostingRegressor(n_rules=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/model.json")
    ...     print(load_model(f"{folder}/model.json").ensemble_)
    +4.000 if x0 <= 2
    """
    text = json.dumps(model_to_dict(estimator), ensure_ascii=False, allow_nan=False, indent=2)
    _write_whole(Path(path), f"{text}\n".encode())


def load_model(path: str | os.PathLike[str]) -> Estimator:
    """Read a fitted model from a JSON file.

    Only the fitted model is restored. Parameters such as `n_rules` and `l2_regularization`, which
    matter for fitting only, are not in the file and have their defaults; set them before fitting
    again.

    Parameters
    ----------
    path : path-like
        A file that `save_model` wrote.

    Returns
    -------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Predicts what the saved one predicts, to the last bit. Its parameters are the defaults,
        except for a loss that is not the default.

    Raises
    ------
    ValueError
        If the file is not a complete and valid model. The message names the entry.
    """
    content = Path(path).read_bytes()
    try:
        return model_from_dict(_parse(content))
    except ValueError as error:
        message = f"Cannot load a model from {os.fspath(path)!r}. {error}"
    raise ValueError(message)


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
    if not isinstance(estimator, tuple(_ESTIMATORS.values())):
        raise TypeError(
            "Only a RuleBoostingClassifier or a RuleBoostingRegressor can be saved. "
            f"Got {type(estimator).__name__}. From a pipeline, pass its last step, pipeline[-1]."
        )
    check_is_fitted(estimator)
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
        "loss": _loss_name(estimator.loss_),
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


def _loss_name(loss: Loss) -> str:
    # A subclass may override any method, so only the classes themselves are known by name.
    if type(loss) in _LOSS_NAMES:
        return _LOSS_NAMES[type(loss)]
    names = " or ".join(map(repr, _LOSS_NAMES.values()))
    raise ValueError(
        f"A saved model must have the loss {names}. Got {type(loss).__name__}, whose code a file "
        "cannot hold. ensemble_.to_frame() gives the rules as a table, and pickle keeps the loss."
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


def _write_whole(path: Path, content: bytes) -> None:
    # Through a link to the file it stands for; replacing would turn the link into a file.
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise ValueError(
            f"A model is saved to a regular file. Got {str(path)!r}, which is a folder or a "
            "device. Choose another path."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"A model is saved to an existing folder. There is no folder {str(path.parent)!r}. "
            "Create it, or choose another path."
        )
    unfinished = path.with_name(f".laconic-{uuid.uuid4().hex}.tmp")
    try:
        with unfinished.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _parse(content: bytes) -> Any:
    """Parse JSON, stricter than the standard library: no repeated keys, no NaN."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"It must be text in UTF-8, but byte {error.start} is not. Pass a file that "
            "laconic.save_model wrote."
        ) from None
    try:
        return json.loads(
            text,
            parse_int=_parse_int,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object_without_repeats,
        )
    except json.JSONDecodeError as error:
        raise ValueError(
            f"It must be JSON, but is not at line {error.lineno}, column {error.colno}: "
            f"{error.msg}. The file may be incomplete; save the model again."
        ) from None
    except RecursionError:
        raise ValueError(
            "It must be a model, which has few levels. Got JSON that is nested too deeply to read. "
            "Pass a file that laconic.save_model wrote."
        ) from None


def _parse_int(digits: str) -> int | float:
    # Python refuses to read very long integers, in words that name no entry. As a float they are
    # infinite, which the check of the entry refuses.
    return int(digits) if len(digits) <= _MAX_DIGITS + 1 else float(digits)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(
        f"Numbers must be finite. Got {constant}, which JSON does not know. Correct it, or save "
        "the model again."
    )


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"A JSON object must have each key once. Got {_shown(repeated)} more than once. "
            "Remove one of the two."
        )
    return entries


def _read_version(data: Any) -> int:
    """Read what must be the same in all versions, before anything that may differ."""
    _require(isinstance(data, dict), "The model", "a JSON object", data)
    _check_has(data, "", ("format", "version"))
    _read_choice(data["format"], "format", (FORMAT,))
    version = _read_whole(data["version"], "version")
    _require(version >= VERSION, "version", str(VERSION), version)
    return version


def _read_model(data: Any) -> Estimator:
    _check_has(data, "", ("task",))
    task = _read_choice(data["task"], "task", _ESTIMATORS)
    _check_keys(data, "", _KEYS if task == "regression" else (*_KEYS, "classes"))
    loss = _read_choice(data["loss"], "loss", _LOSS_NAMES.values())
    feature_names = _read_feature_names(data["feature_names"])
    rules = [
        _read_rule(rule, f"rules[{position}]", feature_names)
        for position, rule in enumerate(_read_list(data["rules"], "rules"))
    ]
    intercept = _read_number(data["intercept"], "intercept")
    _check_sum_of_weights(intercept, [rule for rule, _ in rules])
    estimator = _ESTIMATORS[task]()
    estimator.loss_ = get_loss(loss)
    if loss != _DEFAULT_LOSSES[task]:
        estimator.set_params(loss=estimator.loss_)
    estimator.ensemble_ = RuleEnsemble(tuple(rule for rule, _ in rules), intercept, feature_names)
    estimator.search_results_ = [result for _, result in rules]
    estimator.n_features_in_ = len(feature_names)
    if _read_bool(data["has_feature_names"], "has_feature_names"):
        estimator.feature_names_in_ = np.array(feature_names, dtype=object)
    if isinstance(estimator, RuleBoostingClassifier):
        estimator.classes_ = _read_classes(data["classes"])
    return estimator


def _check_sum_of_weights(intercept: float, rules: Collection[Rule]) -> None:
    """Check that no row can get an infinite prediction, or NaN from two infinities."""
    total = abs(intercept) + sum(abs(rule.weight) for rule in rules)
    required = "an array whose absolute weights have a finite sum with the intercept"
    _require(math.isfinite(total), "rules", required, total)


def _read_feature_names(value: Any) -> tuple[str, ...]:
    names = [
        _read_text(name, f"feature_names[{position}]")
        for position, name in enumerate(_read_list(value, "feature_names"))
    ]
    _require(len(names) > 0, "feature_names", "a list of at least one name", value)
    known: set[str] = set()
    for position, name in enumerate(names):
        is_new = name not in known
        _require(is_new, f"feature_names[{position}]", "different from all before it", name)
        known.add(name)
    return tuple(names)


def _read_classes(value: Any) -> NDArray[Any]:
    classes = _read_list(value, "classes")
    _require(len(classes) == 2, "classes", "a list of two classes", value)
    for position, name in enumerate(classes):
        _read_category(name, f"classes[{position}]")
    kinds = {_kind(name) for name in classes}
    _require(len(kinds) == 1, "classes", "two strings, two booleans or two numbers", value)
    # The order of scikit-learn, which tools around estimators rely on.
    _require(classes[0] < classes[1], "classes", "two different classes in ascending order", value)
    array = np.array(classes)
    is_exact = array.dtype.kind in "Ubiuf" and array.tolist() == classes
    _require(is_exact, "classes", "values that a NumPy array can hold unchanged", value)
    return array


def _read_rule(data: Any, path: str, feature_names: Collection[str]) -> tuple[Rule, SearchResult]:
    _check_keys(data, path, ("weight", "conditions", "certificate"))
    conditions = [
        _read_condition(condition, f"{path}.conditions[{position}]", feature_names)
        for position, condition in enumerate(_read_list(data["conditions"], f"{path}.conditions"))
    ]
    weight = _read_number(data["weight"], f"{path}.weight")
    result = _read_certificate(data["certificate"], f"{path}.certificate")
    return Rule(Query(tuple(conditions)), weight), result


def _read_condition(data: Any, path: str, feature_names: Collection[str]) -> Proposition:
    _check_keys(data, path, ("feature", "relation", "value"))
    feature = _read_text(data["feature"], f"{path}.feature")
    _require(feature in feature_names, f"{path}.feature", "one of the feature_names", feature)
    relation = _read_choice(data["relation"], f"{path}.relation", RELATIONS)
    value, value_path = data["value"], f"{path}.value"
    if relation in MISSING_RELATIONS:
        _require(value is None, value_path, f"null for the relation {relation!r}", value)
        return Proposition(feature, relation)
    if relation in THRESHOLD_RELATIONS:
        return Proposition(feature, relation, _read_number(value, value_path))
    return Proposition(feature, relation, _read_category(value, value_path))


def _read_certificate(data: Any, path: str) -> SearchResult:
    keys = ("query", "objective_value", "bound", "status", "counters", "seconds")
    _check_keys(data, path, keys)
    query = [
        _read_whole(index, f"{path}.query[{position}]")
        for position, index in enumerate(_read_list(data["query"], f"{path}.query"))
    ]
    counters = data["counters"]
    _require(isinstance(counters, dict), f"{path}.counters", "a JSON object", counters)
    return SearchResult(
        tuple(query),
        _read_amount(data["objective_value"], f"{path}.objective_value"),
        math.inf if data["bound"] is None else _read_amount(data["bound"], f"{path}.bound"),
        SearchStatus(_read_choice(data["status"], f"{path}.status", list(SearchStatus))),
        {
            _read_text(name, f"{path}.counters"): _read_whole(count, f"{path}.counters.{name}")
            for name, count in counters.items()
        },
        _read_amount(data["seconds"], f"{path}.seconds"),
    )


def _read_category(value: Any, path: str) -> Category:
    _require(
        isinstance(value, str | bool) or _is_finite_number(value),
        path,
        "a string, a boolean or a finite number",
        value,
    )
    category: Category = _read_text(value, path) if isinstance(value, str) else value
    return category


def _read_text(value: Any, path: str) -> str:
    # Half a surrogate pair can be written in JSON, but is no character and has no UTF-8.
    is_text = isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)
    _require(is_text, path, "a string of Unicode characters", value)
    return str(value)


def _read_bool(value: Any, path: str) -> bool:
    _require(isinstance(value, bool), path, "a boolean", value)
    return bool(value)


def _read_number(value: Any, path: str) -> float:
    _require(_is_finite_number(value), path, "a finite number", value)
    return float(value)


def _read_amount(value: Any, path: str) -> float:
    is_amount = _is_finite_number(value) and value >= 0
    _require(is_amount, path, "a finite number in the range [0, inf)", value)
    return float(value)


def _read_whole(value: Any, path: str) -> int:
    is_whole = _is_finite_number(value) and value >= 0 and value == int(value)
    _require(is_whole, path, "a whole number in the range [0, inf)", value)
    return int(value)


def _read_choice(value: Any, path: str, choices: Collection[str]) -> str:
    required = " or ".join(repr(str(choice)) for choice in choices)
    _require(isinstance(value, str) and value in choices, path, required, value)
    return str(value)


def _read_list(value: Any, path: str) -> list[Any]:
    _require(isinstance(value, list), path, "a JSON array", value)
    return list(value)


def _is_finite_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _kind(category: Category) -> str:
    if isinstance(category, str):
        return "string"
    return "boolean" if isinstance(category, bool) else "number"


def _check_keys(data: Any, path: str, keys: Collection[str]) -> None:
    _require(isinstance(data, dict), path, "a JSON object", data)
    _check_has(data, path, keys)
    unknown = next((key for key in data if key not in keys), None)
    if unknown is not None:
        raise ValueError(
            f"{path or 'The model'} must have the keys {', '.join(map(repr, keys))} and no other. "
            f"Got {_shown(unknown)} as well."
        )


def _check_has(data: dict[str, Any], path: str, keys: Collection[str]) -> None:
    for key in keys:
        if key not in data:
            got = ", ".join(map(_shown, data)) or "none"
            raise ValueError(
                f"{path or 'The model'} must have the key {key!r}. Got the keys {got}."
            )


def _require(is_met: bool, path: str, required: str, value: Any) -> None:
    if not is_met:
        raise ValueError(f"{path} must be {required}. Got {_shown(value)}.")


def _shown(value: Any) -> str:
    """Return a short text for any value, whatever a file may hold."""
    try:
        return reprlib.repr(value)
    except ValueError:
        return "an integer of thousands of digits"
