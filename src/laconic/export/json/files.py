"""Models as JSON files: written whole or not at all, and checked entry by entry when read.

Reading executes nothing and takes no more than a limited number of bytes, so files from untrusted
sources can be loaded.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from laconic._util.checks import require, shown
from laconic._util.files import write_whole
from laconic._util.json_format import COUNT, Entry, Object, choice
from laconic._util.types import Floats
from laconic.boosting import Settings
from laconic.boosting.certificate import EnsembleCertificate, EnsemblesOfSize, EnsemblesOfWeight
from laconic.boosting.settings import CLASS_SETTINGS, make_term
from laconic.candidates.constraints import read_constraints
from laconic.export.json.format import NAME, VERSION, SavedTerm, model_format
from laconic.export.json.trust import checked_trust
from laconic.export.portable import checked_model, largest_raw_prediction, named_loss
from laconic.losses import NamedLoss, loss_settings, make_loss
from laconic.models import RuleModel
from laconic.models.rule_model import Model
from laconic.models.tasks import TASKS, Task
from laconic.search import SearchResult
from laconic.tables.tables import whole_date
from laconic.tables.text_files.text_format import Reading
from laconic.terms.conditions import Condition
from laconic.terms.record import FitRecord
from laconic.terms.rules import Output, Rule, RuleEnsemble, Term
from laconic.trust import Fingerprint, Trust

# No finite double has more integer digits.
_MAX_DIGITS = 309

# Enough for ten thousand terms. Separators are counted before anything is parsed, so that refusing
# a file takes no more than a second and 200 MB of memory.
MAX_BYTES = 2**24
MAX_SEPARATORS = 2**19


@dataclass(frozen=True)
class SavedModel:
    """The content of a model file."""

    task: Task
    ensemble: RuleEnsemble
    search_results: list[SearchResult]
    has_feature_names: bool
    """Whether the names of the columns came with the training table."""
    stages: tuple[RuleEnsemble, ...]
    """The model when it had 0, 1, 2, ... terms."""
    settings: Settings
    """All settings that determine the model."""
    l2_regularization: float
    """The penalty in use."""
    n_candidates: int
    """Number of candidate conditions."""
    feature_importances: Floats | None = None
    """As in the estimators, where they are known."""
    record: FitRecord | None = None
    """Where the model comes from, if the file contains it."""
    reading: Reading | None = None
    """How the texts of the training file were read, if it was one."""
    certificate: EnsembleCertificate | None = None
    """How close the model comes to the best possible one, where that was proven."""
    trust: Trust | None = None
    """What is known about the model besides its proof."""
    fingerprint: Fingerprint | None = None
    """What is kept of the training rows, to recognise them."""
    reason: str | None = None
    """Why there are so many terms, where their number was chosen."""

    def fill(self, model: Model) -> Model:
        """Give a model all that is known; it is an estimator, or shows and predicts only."""
        feature_names = self.ensemble.feature_names or ()
        attributes = {
            "task_": self.task,
            "settings_": self.settings,
            "ensemble_": self.ensemble,
            "stages_": self.stages,
            "search_results_": self.search_results,
            "n_candidates_": self.n_candidates,
            "l2_regularization_": self.l2_regularization,
            "record_": self.record,
            "feature_importances_": self.feature_importances,
            "reading_": self.reading,
            "certificate_": self.certificate,
            "trust_": self.trust,
            "fingerprint_": self.fingerprint,
            "reason_": self.reason,
            "n_features_in_": len(feature_names),
        }
        if self.has_feature_names:
            attributes["feature_names_in_"] = np.array(feature_names, dtype=object)
        for name, value in attributes.items():
            if value is not None:
                setattr(model, name, value)
        return model


def model_to_dict(model: RuleModel) -> dict[str, Any]:
    """Return a fitted model as plain values, as a file contains them.

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
    >>> model = RuleBoostingRegressor(n_terms=1).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> data = model_to_dict(model)
    >>> data["terms"][0]["conditions"]
    [{'feature': 'x0', 'relation': '<=', 'value': 2.0}]
    """
    ensemble, results = checked_model(model).ensemble_, model.search_results_
    if len(ensemble) != len(results):
        raise ValueError(
            "A saved model needs one certificate per term. Got "
            f"{len(ensemble)} terms in 'ensemble_' and {len(results)} in 'search_results_'. "
            "Change both or neither; ensemble_.to_frame() gives the terms as a table."
        )
    loss = named_loss(model.loss_)
    certificate = model.own_certificate
    data: dict[str, Any] = model_format().write(
        {
            "format": NAME,
            "version": VERSION,
            "task": model.task_.name,
            "loss": loss.name,
            "loss_settings": loss_settings(loss),
            **model.task_.to_dict(),
            "feature_names": ensemble.feature_names or (),
            "has_feature_names": hasattr(model, "feature_names_in_"),
            "intercept": _intercept(ensemble),
            "terms": map(SavedTerm, ensemble, results),
            "stages": _stages(model),
            "settings": model.settings_,
            "l2_regularization": model.l2_regularization_,
            "n_candidates": model.n_candidates_,
            **_used_kinds(ensemble),
            "feature_importances": _importances(model),
            "record": model.record_,
            "reading": model.reading_,
            "certificate": None if certificate is None else certificate.to_dict(),
            "trust": model.own_trust,
            "fingerprint": model.fingerprint_,
            "reason": getattr(model, "reason_", None),
        }
    )
    try:
        _read_model(data)
    except ValueError as error:
        raise ValueError(
            f"This model cannot be saved. {error} ensemble_.to_frame() gives the terms as a table."
        ) from None
    return data


def read_dict(data: Any) -> SavedModel:
    """Read what `model_to_dict` returned; refuse missing, unknown or wrong entries."""
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


def _used_kinds(ensemble: RuleEnsemble) -> dict[str, dict[str, Any]]:
    """Return the kinds of the features that terms use, as the entries of a model have them."""
    used = dict.fromkeys([*ensemble.used_features, *(n for t in ensemble for n in t.features)])
    entries: dict[str, dict[str, Any]] = {"feature_kinds": {}, "kept_categories": {}}
    for name in used:
        kind = ensemble.feature_kinds.get(name)
        if isinstance(kind, frozenset):
            entries["kept_categories"][name] = sorted(kind)
        elif kind is not None:
            entries["feature_kinds"][name] = kind
    return entries


def _importances(model: RuleModel) -> dict[str, float] | None:
    """Return the importances of the features that terms use, where they are known."""
    if not hasattr(model, "feature_importances_"):
        return None
    names, used = model.ensemble_.feature_names or (), model.ensemble_.used_features
    # An edited model may have other features, which are checked elsewhere.
    importances = zip(names, model.feature_importances_.tolist(), strict=False)
    return {name: share for name, share in importances if share or name in used}


def _stages(model: RuleModel) -> list[list[Any]] | None:
    """List intercept and weights of all stages but the last, unless they are those of the model."""
    stages = model.stages
    if tuple(stages) == model.ensemble_.stages:
        return None
    return [[_intercept(stage), *(term.weight for term in stage)] for stage in stages[:-1]]


def _intercept(ensemble: RuleEnsemble) -> float | list[float]:
    """Return the intercept, or those of three or more classes in their order."""
    return list(ensemble.intercepts) if ensemble.outputs else ensemble.intercept


# What must be the same in all versions, and is read before anything that may differ.
_ANY_VERSION = Object({"format": Entry(choice(NAME)), "version": Entry(COUNT)}, is_open=True)


def _read_version(data: Any) -> int:
    version: int = _ANY_VERSION.read(data, "")["version"]
    require(version >= VERSION, "version", str(VERSION), version)
    return version


def _read_model(data: Any) -> SavedModel:
    """Read all entries, and check that they suit each other."""
    found = model_format().read(data, "")
    names = found["feature_names"]
    task = TASKS[found["task"]].from_dict(found, _read_loss(found))
    for place, saved in enumerate(found["terms"]):
        _check_term(f"terms[{place}]", saved.term, names, task)
    _check_scores(found["record"])
    intercept, outputs = _read_intercept(found["intercept"], "intercept", task.outputs)
    for entry in ("feature_kinds", "kept_categories"):
        for name in found[entry]:
            require(_is_feature(name, names), entry, "about the feature_names", name)
    ensemble = RuleEnsemble(
        tuple(saved.term for saved in found["terms"]),
        intercept,
        names,
        found["kept_categories"] | found["feature_kinds"],
        outputs,
    )
    # Otherwise a row may get an infinite prediction, or NaN from two infinities.
    total = largest_raw_prediction(ensemble)
    required = "an array whose absolute weights have a finite sum with the intercept"
    require(math.isfinite(total), "terms", required, total)
    settings = _read_settings(found["settings"], names, task)
    return SavedModel(
        task,
        ensemble,
        [saved.certificate for saved in found["terms"]],
        found["has_feature_names"],
        _read_stages(found["stages"], ensemble),
        settings,
        found["l2_regularization"],
        found["n_candidates"],
        _read_importances(found["feature_importances"], names),
        found["record"],
        found["reading"],
        None
        if found["certificate"] is None
        else ensemble_certificate(found["certificate"], ensemble),
        checked_trust(found["trust"], ensemble, task.labels, fit_intercept=settings.fit_intercept),
        found["fingerprint"],
        found["reason"],
    )


def _read_loss(data: Mapping[str, Any]) -> NamedLoss:
    try:
        return make_loss(data["loss"], data["loss_settings"])
    except ValueError as error:
        raise ValueError(f"loss_settings must suit the loss. {error}") from None


def _read_settings(values: dict[str, Any], names: Sequence[str], task: Task) -> Settings:
    path = "settings"
    _check_features(f"{path}.conditions", values["conditions"] or (), names)
    for place, given in enumerate(values["initial_terms"]):
        term = make_term(given.form, given.weight or 0.0, given.output or 0)
        _check_term(f"{path}.initial_terms[{place}]", term, names, task)
    for place, form in enumerate(values["excluded_terms"]):
        _check_term(f"{path}.excluded_terms[{place}]", make_term(form, 0.0, 0), names, task)
    for name in CLASS_SETTINGS:
        is_met = task.holds_classes or values[name] is None
        require(is_met, f"{path}.{name}", f"null for {task.name}", values[name])
    constraints = read_constraints(names, classes=task.labels, **values["constraints"])
    return Settings(**{**values, "constraints": constraints})


def _check_term(path: str, term: Term, names: Sequence[str], task: Task) -> None:
    if isinstance(term, Rule):
        _check_features(f"{path}.conditions", term.query, names)
    else:
        _check_feature(path, term.feature, names)
    is_output = term.output < max(1, len(task.outputs))
    require(is_output, f"{path}.output", "the position of a class", term.output)


def _check_features(path: str, conditions: Iterable[Condition], names: Sequence[str]) -> None:
    for place, condition in enumerate(conditions):
        _check_feature(f"{path}[{place}]", condition.feature, names)


def _check_feature(path: str, name: str, names: Sequence[str]) -> None:
    require(_is_feature(name, names), f"{path}.feature", "one of the feature_names", name)


def _is_feature(name: str, names: Sequence[str]) -> bool:
    """Check whether a name is that of a feature, or of a part of the dates of one."""
    return name in names or whole_date(name, names) is not None


def _check_scores(record: FitRecord | None) -> None:
    for place, scores in enumerate(() if record is None else record.scores):
        unknown = next((name for name in scores.errors if name not in scores.values), None)
        path = f"record.scores[{place}].errors"
        require(unknown is None, path, "those of the values", unknown)


def _read_intercept(
    value: Any, path: str, names: Sequence[str]
) -> tuple[float, tuple[Output, ...]]:
    """Return the intercept, or one for each of three or more classes."""
    if not names:
        require(not isinstance(value, list), path, "a finite number", value)
        return value, ()
    is_met = isinstance(value, list) and len(value) == len(names)
    require(is_met, path, "an array of one number per class", value)
    return 0.0, tuple(map(Output, names, value))


def _read_stages(value: list[list[Any]] | None, ensemble: RuleEnsemble) -> tuple[RuleEnsemble, ...]:
    if value is None:
        return ensemble.stages
    sizes = [len(stage) - 1 for stage in value]
    required = "an array of an intercept and as many weights, for 0, 1, 2, ... terms"
    require(sizes == [*range(len(ensemble))], "stages", required, value)
    names = [output.name for output in ensemble.outputs]
    stages = []
    for place, (start, *weights) in enumerate(value):
        intercept, outputs = _read_intercept(start, f"stages[{place}][0]", names)
        pairs = zip(ensemble, weights, strict=False)
        terms = (replace(term, weight=weight) for term, weight in pairs)
        starts = [output.intercept for output in outputs] or [intercept]
        stages.append(ensemble.with_terms(terms, starts))
    return (*stages, ensemble)


def _read_importances(value: dict[str, float] | None, names: Sequence[str]) -> Floats | None:
    if value is None:
        return None
    importances = dict.fromkeys(names, 0.0)
    for name in value:
        require(name in importances, "feature_importances", "about the feature_names", name)
    return np.array([*(importances | value).values()])


def ensemble_certificate(
    found: Mapping[str, Any] | None, ensemble: RuleEnsemble
) -> EnsembleCertificate | None:
    """Return the certificate of an ensemble, from the entries of a file; None without them."""
    if found is None:
        return None
    values = dict(found)
    compared = (
        EnsemblesOfWeight(values.pop("total_weight"))
        if values.pop("against") == "weight"
        else EnsemblesOfSize(values.pop("n_terms"), values.pop("l2_regularization"))
    )
    return EnsembleCertificate(ensemble=ensemble, compared=compared, **values)


def to_json(model: RuleModel) -> str:
    """Write a fitted model as JSON.

    Parameters
    ----------
    model : RuleModel
        Fitted, with one of the named losses.

    Returns
    -------
    text : str
        As `laconic.save_model` writes it to a file. `model_schema` describes it.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> model = RuleBoostingRegressor(l2_regularization=0).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    >>> round(json.loads(to_json(model))["terms"][0]["weight"], 9)
    4.0
    """
    text = json.dumps(model_to_dict(model), ensure_ascii=False, allow_nan=False, indent=2)
    return f"{text}\n"


def write_model(model: RuleModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, which is replaced when the new one is complete."""
    content = to_json(model).encode()
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise ValueError(
            f"A model is saved to a regular file. Got {str(path)!r}, which is a folder or a "
            "device. Choose another path."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"A model is saved to an existing folder. There is no folder {str(target.parent)!r}. "
            "Create it, or choose another path."
        )
    write_whole(target, content)


def read_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a file that `write_model` wrote; a message names the entry that is wrong."""
    with Path(path).open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    try:
        _check_size(content)
        return read_dict(_parse(content))
    except ValueError as error:
        message = f"Cannot load a model from {os.fspath(path)!r}. {error}"
    raise ValueError(message)


def _check_size(content: bytes) -> None:
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"It must be a model of at most {MAX_BYTES} bytes. Got a larger file. Pass a file that "
            "laconic.save_model wrote."
        )
    if sum(content.count(separator) for separator in (b",", b"[", b"{")) > MAX_SEPARATORS:
        raise ValueError(
            f"It must be a model of at most {MAX_SEPARATORS} entries. Got more. Pass a file that "
            "laconic.save_model wrote."
        )


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
    # Python refuses to read very long integers, with a message that names no entry. As floats they
    # are infinite, which the check of the entry refuses.
    return int(digits) if len(digits) <= _MAX_DIGITS + 1 else float(digits)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(
        f"Numbers must be finite. Got {constant}, which JSON does not know. Correct it, or save "
        "the model again."
    )


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        repeated = next(name for name, count in counts.items() if count > 1)
        raise ValueError(
            f"A JSON object must have each key once. Got {shown(repeated)} more than once. "
            "Remove one of the two."
        )
    return entries
