"""What a file holds: a model as plain values, checked entry by entry when it is read.

Where a model comes from, as a file tells it.

How close a model comes to the best possible one, as a file tells it: without the proof.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from laconic._util.checks import require
from laconic._util.types import Floats
from laconic.boosting import Settings
from laconic.boosting.certificate import (
    ComparisonClass,
    EnsembleCertificate,
    EnsemblesOfSize,
    EnsemblesOfWeight,
    SizeBound,
)
from laconic.export.json.conditions import condition_to_dict, is_feature, read_condition
from laconic.export.json.settings import read_settings, settings_to_dict
from laconic.export.portable import checked_model, largest_raw_prediction, named_loss
from laconic.losses import NAMED_LOSSES, NamedLoss, loss_settings, make_loss
from laconic.models import RuleModel
from laconic.models.tasks import TASKS, Task
from laconic.search import SearchResult, SearchStatus
from laconic.tables.columns import FeatureKind
from laconic.tables.text_format import Reading, read_reading
from laconic.tables.validators import (
    check_has,
    check_keys,
    read_amount,
    read_bool,
    read_category,
    read_choice,
    read_list,
    read_mapping,
    read_number,
    read_text,
    read_whole,
)
from laconic.terms.conditions import Query
from laconic.terms.record import KINDS_OF_ROWS, FitRecord, RowScores, Setting
from laconic.terms.rules import Output, Rule, RuleEnsemble

FORMAT = "laconic-model"
VERSION = 1

_KEYS = (
    *("format", "version", "task", "loss", "feature_names", "has_feature_names"),
    *("intercept", "rules", "stages", "settings", "l2_regularization", "n_candidates"),
)
_KINDS = ("integer", "boolean")
# What files need not tell.
_OPTIONAL_KEYS = (
    *("loss_settings", "feature_kinds", "feature_importances", "record", "reading"),
    "certificate",
)


@dataclass(frozen=True)
class SavedModel:
    """All that a file tells about a model."""

    task: Task
    ensemble: RuleEnsemble
    search_results: list[SearchResult]
    has_feature_names: bool
    """Whether the names of the columns came with the training table."""
    stages: tuple[RuleEnsemble, ...]
    """The model when it had 0, 1, 2, ... rules."""
    settings: Settings
    """Everything that decided which model came out."""
    l2_regularization: float
    """The penalty in use."""
    n_candidates: int
    """Number of candidate conditions."""
    feature_importances: Floats | None = None
    """As in the estimators, where they are known."""
    record: FitRecord | None = None
    """Where the model comes from, if the file tells."""
    reading: Reading | None = None
    """How the texts of the training file were read, if it was one."""
    certificate: EnsembleCertificate | None = None
    """How close the model comes to the best possible one, where that was proven."""


def model_to_dict(model: RuleModel) -> dict[str, Any]:
    """Describe a fitted model by plain values, as a file does.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.

    Returns
    -------
    data : dict
        Made of dict, list, str, bool, int, finite float and None only.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(n_rules=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> data = model_to_dict(model)
    >>> data["rules"][0]["conditions"]
    [{'feature': 'x0', 'relation': '<=', 'value': 2.0}]
    """
    ensemble, results = checked_model(model).ensemble_, model.search_results_
    if len(ensemble) != len(results):
        raise ValueError(
            "A saved model needs one certificate per rule. Got "
            f"{len(ensemble)} rules in 'ensemble_' and {len(results)} in 'search_results_'. "
            "Change both or neither; ensemble_.to_frame() gives the rules as a table."
        )
    loss = named_loss(model.loss_)
    settings = loss_settings(loss)
    data = {
        "format": FORMAT,
        "version": VERSION,
        "task": model.task_.name,
        "loss": loss.name,
        **({"loss_settings": settings} if settings else {}),
        **model.task_.to_dict(),
        "feature_names": list(ensemble.feature_names or ()),
        "has_feature_names": hasattr(model, "feature_names_in_"),
        "intercept": _start_to_json(ensemble),
        "rules": [
            _rule_to_dict(rule, result) for rule, result in zip(ensemble, results, strict=True)
        ],
        "stages": _stages_to_list(model),
        "settings": settings_to_dict(model.settings_),
        "l2_regularization": model.l2_regularization_,
        "n_candidates": model.n_candidates_,
        "feature_kinds": _kinds_to_dict(ensemble),
        **_importances_to_dict(model),
    }
    if model.record_ is not None:
        data["record"] = record_to_dict(model.record_)
    if model.reading_ is not None:
        data["reading"] = model.reading_.to_dict()
    if (certificate := model.own_certificate) is not None:
        data["certificate"] = certificate_to_dict(certificate)
    try:
        _read_model(data)
    except ValueError as error:
        raise ValueError(
            f"This model cannot be saved. {error} ensemble_.to_frame() gives the rules as a table."
        ) from None
    return data


def read_dict(data: Any) -> SavedModel:
    """Read what `model_to_dict` returned, and refuse what is missing, unknown or wrong."""
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


def _kinds_to_dict(ensemble: RuleEnsemble) -> dict[str, Any]:
    """List the kinds of the features that rules are about."""
    used = dict.fromkeys([*ensemble.used_features, *(p.feature for p in ensemble.conditions)])
    kinds = {name: ensemble.feature_kinds.get(name) for name in used}
    return {
        name: list(kind) if isinstance(kind, tuple) else kind
        for name, kind in kinds.items()
        if kind is not None
    }


def _importances_to_dict(model: RuleModel) -> dict[str, dict[str, float]]:
    """List the importances of the features that rules are about, where they are known."""
    if not hasattr(model, "feature_importances_"):
        return {}
    names, used = model.ensemble_.feature_names or (), model.ensemble_.used_features
    # A model that was edited may have other features: what is wrong with them is said elsewhere.
    importances = zip(names, model.feature_importances_.tolist(), strict=False)
    return {"feature_importances": {n: share for n, share in importances if share or n in used}}


def _stages_to_list(model: RuleModel) -> list[list[Any]] | None:
    """List intercept and weights of all stages but the last, unless they are those of the model."""
    stages = model.stages
    if tuple(stages) == model.ensemble_.stages:
        return None
    return [[_start_to_json(stage), *(rule.weight for rule in stage)] for stage in stages[:-1]]


def _start_to_json(ensemble: RuleEnsemble) -> Any:
    """Give the intercept, or those of three or more classes in their order."""
    return list(ensemble.intercepts) if ensemble.outputs else ensemble.intercept


def _rule_to_dict(rule: Rule, result: SearchResult) -> dict[str, Any]:
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
    if result.n_halvings > 0:
        certificate["n_halvings"] = result.n_halvings
    conditions = [condition_to_dict(condition) for condition in rule.query]
    output = {"output": rule.output} if rule.output else {}
    return {"weight": rule.weight, **output, "conditions": conditions, "certificate": certificate}


def _read_version(data: Any) -> int:
    """Read what must be the same in all versions, before anything that may differ."""
    require(isinstance(data, dict), "The model", "a JSON object", data)
    check_has(data, "", ("format", "version"))
    read_choice(data["format"], "format", (FORMAT,))
    version = read_whole(data["version"], "version")
    require(version >= VERSION, "version", str(VERSION), version)
    return version


def _read_model(data: Any) -> SavedModel:
    check_has(data, "", ("task",))
    task = TASKS[read_choice(data["task"], "task", TASKS)]
    check_keys(data, "", (*_KEYS, *task.entries), _OPTIONAL_KEYS)
    loss = _read_loss(data)
    feature_names = _read_feature_names(data["feature_names"])
    known = task.from_dict(data, loss)
    rules = read_list(
        data["rules"],
        "rules",
        lambda rule, path: _read_rule(rule, path, feature_names, len(known.outputs)),
    )
    intercept, outputs = _read_start(data["intercept"], "intercept", known.outputs)
    kinds = _read_feature_kinds(data.get("feature_kinds", {}), feature_names)
    found = tuple(rule for rule, _ in rules)
    ensemble = RuleEnsemble(found, intercept, feature_names, kinds, outputs)
    # Otherwise a row may get an infinite prediction, or NaN from two infinities.
    total = largest_raw_prediction(ensemble)
    required = "an array whose absolute weights have a finite sum with the intercept"
    require(math.isfinite(total), "rules", required, total)
    return SavedModel(
        known,
        ensemble,
        [result for _, result in rules],
        read_bool(data["has_feature_names"], "has_feature_names"),
        _read_stages(data["stages"], ensemble),
        read_settings(data["settings"], "settings", feature_names, known),
        read_amount(data["l2_regularization"], "l2_regularization"),
        read_whole(data["n_candidates"], "n_candidates"),
        _read_importances(data, feature_names),
        read_record(data["record"]) if "record" in data else None,
        read_reading(data["reading"], "reading") if "reading" in data else None,
        read_certificate(data["certificate"], ensemble) if "certificate" in data else None,
    )


def _read_loss(data: Any) -> NamedLoss:
    name = read_choice(data["loss"], "loss", NAMED_LOSSES)
    settings = read_mapping(data.get("loss_settings", {}), "loss_settings", read_number)
    try:
        return make_loss(name, settings)
    except ValueError as error:
        raise ValueError(f"loss_settings must suit the loss. {error}") from None


def _read_start(value: Any, path: str, names: Sequence[str]) -> tuple[float, tuple[Output, ...]]:
    """Read the intercept, or one for each of three or more classes."""
    if not names:
        return read_number(value, path), ()
    starts = read_list(value, path, read_number)
    require(len(starts) == len(names), path, "an array of one number per class", value)
    return 0.0, tuple(map(Output, names, starts))


def _read_stages(value: Any, ensemble: RuleEnsemble) -> tuple[RuleEnsemble, ...]:
    if value is None:
        return ensemble.stages
    names = [output.name for output in ensemble.outputs]

    def read_entry(entry: Any, path: str) -> Any:
        is_start = path.endswith("[0]")
        return _read_start(entry, path, names) if is_start else read_number(entry, path)

    numbers = read_list(value, "stages", lambda stage, path: read_list(stage, path, read_entry))
    sizes = [len(stage) - 1 for stage in numbers]
    required = "an array of an intercept and as many weights, for 0, 1, 2, ... rules"
    require(sizes == [*range(len(ensemble))], "stages", required, value)
    stages = []
    for (intercept, outputs), *weights in numbers:
        pairs = zip(ensemble, weights, strict=False)
        rules = (Rule(rule.query, weight, rule.output) for rule, weight in pairs)
        starts = [output.intercept for output in outputs] or [intercept]
        stages.append(ensemble.with_rules(rules, starts))
    return (*stages, ensemble)


def _read_feature_names(value: Any) -> tuple[str, ...]:
    names = read_list(value, "feature_names", read_text)
    require(len(names) > 0, "feature_names", "a list of at least one name", value)
    known: set[str] = set()
    for position, name in enumerate(names):
        is_new = name not in known
        require(is_new, f"feature_names[{position}]", "different from all before it", name)
        known.add(name)
    return tuple(names)


def _read_feature_kinds(value: Any, feature_names: Collection[str]) -> dict[str, FeatureKind]:
    require(isinstance(value, dict), "feature_kinds", "a JSON object", value)
    for name, kind in value.items():
        is_known = is_feature(name, feature_names)
        require(is_known, "feature_kinds", "about the feature_names", name)
        if not isinstance(kind, list):
            read_choice(kind, f"feature_kinds.{name}", _KINDS)
    return {
        name: tuple(read_list(kind, f"feature_kinds.{name}", read_category))
        if isinstance(kind, list)
        else kind
        for name, kind in value.items()
    }


def _read_importances(data: Any, feature_names: Sequence[str]) -> Floats | None:
    if "feature_importances" not in data:
        return None
    value, importances = data["feature_importances"], dict.fromkeys(feature_names, 0.0)
    require(isinstance(value, dict), "feature_importances", "a JSON object", value)
    for name, importance in value.items():
        require(name in importances, "feature_importances", "about the feature_names", name)
        importances[name] = read_amount(importance, f"feature_importances.{name}")
    return np.array([*importances.values()])


def _read_rule(
    data: Any, path: str, feature_names: Collection[str], n_outputs: int
) -> tuple[Rule, SearchResult]:
    check_keys(data, path, ("weight", "conditions", "certificate"), ("output",))
    output = read_whole(data.get("output", 0), f"{path}.output")
    require(output < max(1, n_outputs), f"{path}.output", "the number of a class", output)
    conditions = read_list(
        data["conditions"],
        f"{path}.conditions",
        lambda condition, path: read_condition(condition, path, feature_names),
    )
    weight = read_number(data["weight"], f"{path}.weight")
    result = _read_certificate(data["certificate"], f"{path}.certificate")
    return Rule(Query(tuple(conditions)), weight, output), result


def _read_certificate(data: Any, path: str) -> SearchResult:
    keys = ("query", "objective_value", "bound", "status", "counters", "seconds")
    check_keys(data, path, keys, ("n_halvings",))
    return SearchResult(
        tuple(read_list(data["query"], f"{path}.query", read_whole)),
        read_amount(data["objective_value"], f"{path}.objective_value"),
        math.inf if data["bound"] is None else read_amount(data["bound"], f"{path}.bound"),
        SearchStatus(read_choice(data["status"], f"{path}.status", list(SearchStatus))),
        read_mapping(data["counters"], f"{path}.counters", read_whole),
        read_amount(data["seconds"], f"{path}.seconds"),
        read_whole(data.get("n_halvings", 0), f"{path}.n_halvings"),
    )


_PATH = "record"


def record_to_dict(record: FitRecord) -> dict[str, Any]:
    """Describe a record by plain values."""
    data = asdict(record)
    return data | {"scores": list(data["scores"])}


def read_record(data: Any) -> FitRecord:
    """Read what `record_to_dict` returned, and refuse what is missing, unknown or wrong."""
    check_keys(data, _PATH, ("target", "n_rows", "date", "settings", "scores"))
    target, n_rows, date = data["target"], data["n_rows"], data["date"]
    return FitRecord(
        None if target is None else read_text(target, f"{_PATH}.target"),
        None if n_rows is None else read_whole(n_rows, f"{_PATH}.n_rows"),
        None if date is None else read_text(date, f"{_PATH}.date"),
        read_mapping(data["settings"], f"{_PATH}.settings", _read_setting),
        tuple(read_list(data["scores"], f"{_PATH}.scores", _read_scores)),
    )


def _read_setting(value: Any, path: str) -> Setting:
    return None if value is None else read_category(value, path)


def _read_scores(data: Any, path: str) -> RowScores:
    check_keys(data, path, ("rows", "n_rows", "values", "errors"))
    values = read_mapping(data["values"], f"{path}.values", read_number)
    errors = read_mapping(data["errors"], f"{path}.errors", read_amount)
    unknown = next((name for name in errors if name not in values), None)
    require(unknown is None, f"{path}.errors", "those of the values", unknown)
    return RowScores(
        read_choice(data["rows"], f"{path}.rows", KINDS_OF_ROWS),
        read_whole(data["n_rows"], f"{path}.n_rows"),
        values,
        errors,
    )


_CERTIFICATE_PATH = "certificate"
_NUMBERS = ("objective", "start", "bound", "min_coverage", "seconds")
_COUNTS = ("n_candidates", "n_rows", "n_nodes", "n_searches")
_AGAINST = {"rules": ("n_rules", "l2_regularization"), "weight": ("total_weight",)}
# They follow from the numbers.
_DERIVED = ("share", "trivial_share")


def certificate_to_dict(certificate: EnsembleCertificate) -> dict[str, Any]:
    """Describe a certificate by plain values."""
    return {name: value for name, value in certificate.to_dict().items() if name not in _DERIVED}


def read_certificate(data: Any, ensemble: RuleEnsemble) -> EnsembleCertificate:
    """Read what `certificate_to_dict` returned, and refuse what is missing, unknown or wrong."""
    require(isinstance(data, dict), _CERTIFICATE_PATH, "a JSON object", data)
    check_has(data, _CERTIFICATE_PATH, ("against",))
    against = read_choice(data["against"], f"{_CERTIFICATE_PATH}.against", _AGAINST)
    others = ("against", "max_conditions", "status", "sizes", *_AGAINST[against])
    check_keys(data, _CERTIFICATE_PATH, (*_NUMBERS, *_COUNTS, *others))
    longest = data["max_conditions"]
    numbers: dict[str, Any] = {
        name: read_amount(data[name], f"{_CERTIFICATE_PATH}.{name}") for name in _NUMBERS
    }
    counts: dict[str, Any] = {
        name: read_whole(data[name], f"{_CERTIFICATE_PATH}.{name}") for name in _COUNTS
    }
    return EnsembleCertificate(
        ensemble=ensemble,
        compared=_read_compared(data, against),
        max_conditions=None
        if longest is None
        else read_whole(longest, f"{_CERTIFICATE_PATH}.max_conditions"),
        status=SearchStatus(
            read_choice(data["status"], f"{_CERTIFICATE_PATH}.status", list(SearchStatus))
        ),
        sizes=tuple(read_list(data["sizes"], f"{_CERTIFICATE_PATH}.sizes", _read_size)),
        **numbers,
        **counts,
    )


def _read_compared(data: Any, against: str) -> ComparisonClass:
    if against == "weight":
        return EnsemblesOfWeight(
            read_amount(data["total_weight"], f"{_CERTIFICATE_PATH}.total_weight")
        )
    penalty = read_amount(data["l2_regularization"], f"{_CERTIFICATE_PATH}.l2_regularization")
    return EnsemblesOfSize(read_whole(data["n_rules"], f"{_CERTIFICATE_PATH}.n_rules"), penalty)


def _read_size(data: Any, path: str) -> SizeBound:
    check_keys(data, path, ("objective", "bound"))
    return SizeBound(
        *(read_amount(data[name], f"{path}.{name}") for name in ("objective", "bound"))
    )
