"""A report as a dictionary of plain values, from which pages and JSON are made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from laconic._core import version
from laconic._util.checks import is_whole
from laconic._util.types import Floats, Indices
from laconic.boosting.certificate import EnsembleCertificate
from laconic.export.json.format import CONDITION
from laconic.models import Predictions, RuleModel, feature_importances, is_rule_model
from laconic.models.alternatives import Alternatives
from laconic.models.tasks import Task
from laconic.report.certificates import describe_certificates, describe_proof, describe_whole
from laconic.report.features import group_rows, summarize_coverage, summarize_feature
from laconic.report.scores import calibration_or_residuals, score_path
from laconic.report.what_if import describe_what_if
from laconic.report.words import phrases, sentence
from laconic.tables.tables import whole_column
from laconic.terms.conditions import by_feature
from laconic.terms.formatting import class_text, plain_text

FORMAT = "laconic-report"
VERSION = 1
# Smaller groups of rows are left out if a report must contain no single rows.
MIN_GROUP_ROWS = 5


def report_content(
    model: RuleModel,
    X: Any,
    y: ArrayLike,
    *,
    title: str | None,
    target_name: str | None,
    max_sample_rows: int,
    baseline: RuleModel | None,
    certificate: EnsembleCertificate | None = None,
    alternatives: Sequence[Alternatives] = (),
) -> dict[str, Any]:
    """Describe a fitted or loaded model and its predictions for the rows of a table.

    The other parameters are those of the method ``report``. Each column of the table is read once.
    The content is made of dict, list, str, bool, int, finite float and None only.
    """
    predictions = model.predictions_for(X)
    task, table = predictions.task, predictions.table
    sample = _sample(table.n_rows, max_sample_rows)
    target = task.numbers(y, table.n_rows)
    if target_name is None:
        name = getattr(y, "name", None)
        target_name = name if isinstance(name, str) else None
    # First, because it reads whole columns, which rules then use again.
    data = _describe_data(predictions, target)
    used = [table.column(feature["name"]) for feature in data["features"] if feature["rules"]]
    targets = [task.covered_target(target, rule.output) for rule in predictions.ensemble]
    coverages, overlap = summarize_coverage(predictions.covered, target, targets)
    others = {found.number: found for found in alternatives}
    rules = [
        _describe_rule(model, place) | coverage | _describe_alternatives(others.get(place + 1))
        for place, coverage in enumerate(coverages)
    ]
    default_title = task.title if target_name is None else f"Rules that predict {target_name}"
    return {
        "format": FORMAT,
        "version": VERSION,
        "laconic_version": version,
        "title": plain_text(title or default_title),
        "model": _describe_model(model, target_name, n_features_used=len(used)),
        "rules": rules,
        "path": score_path(predictions, target, _comparable(baseline, task), X),
        "certificates": describe_certificates(model, table),
        "whole": describe_whole(_own(certificate, model)),
        "overlap": overlap,
        **calibration_or_residuals(predictions, target, sample),
        "data": data,
        "what_if": describe_what_if(model, used, y, sample)
        | group_rows(
            predictions.covered,
            target,
            min_rows=1 if len(sample) else MIN_GROUP_ROWS,
            n_classes=len(task.outputs),
        ),
    }


def _own(certificate: EnsembleCertificate | None, model: RuleModel) -> EnsembleCertificate | None:
    if certificate is None:
        return model.own_certificate
    if not isinstance(certificate, EnsembleCertificate):
        raise TypeError(
            "The 'certificate' parameter of a report must be what model.certificate(X, y) "
            f"returned, or None. Got {type(certificate).__name__}."
        )
    if certificate.ensemble != model.ensemble_:
        raise ValueError(
            "The 'certificate' of a report must be that of the model. Got one of other rules or "
            "weights. Pass what model.certificate(X, y) returned."
        )
    return certificate


def _comparable(baseline: RuleModel | None, task: Task) -> RuleModel | None:
    if baseline is None:
        return None
    if not is_rule_model(baseline):
        raise TypeError(
            "The 'baseline' parameter of a report must be a fitted rule ensemble or None. Got "
            f"{type(baseline).__name__}."
        )
    check_is_fitted(baseline)
    if (baseline.task_.name, baseline.task_.labels) != (task.name, task.labels):
        raise ValueError(
            "The 'baseline' of a report must predict the same target as the model. Got "
            f"{baseline.task_!r} for {task!r}."
        )
    return baseline


def _sample(n_rows: int, max_sample_rows: int) -> Indices:
    """Choose rows, the same ones for the same arguments."""
    if not is_whole(max_sample_rows, 0):
        raise ValueError(
            "The 'max_sample_rows' parameter of a report must be an int in the range [0, inf). "
            f"Got {max_sample_rows!r} instead."
        )
    if n_rows <= max_sample_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, size=max_sample_rows, replace=False))


def _describe_model(
    model: RuleModel, target_name: str | None, *, n_features_used: int
) -> dict[str, Any]:
    task, ensemble = model.task_, model.ensemble_
    return {
        "task": task.name,
        "target_name": target_name,
        "classes": task.labels,
        "class_labels": None if task.labels is None else [*map(class_text, task.labels)],
        "loss": getattr(task.loss, "name", type(task.loss).__name__),
        "is_many": bool(ensemble.outputs),
        "intercept": [each.intercept for each in ensemble.outputs] or ensemble.intercept,
        "start": task.means(ensemble.start(1))[0].tolist(),
        "n_terms": ensemble.n_terms,
        "n_conditions": ensemble.n_conditions,
        "n_features": model.n_features_in_,
        "n_features_used": n_features_used,
    }


def _describe_rule(model: RuleModel, place: int) -> dict[str, Any]:
    ensemble = model.ensemble_
    rule, kinds = ensemble.terms[place], ensemble.feature_kinds
    effect = model.task_.effect(rule.weight, rule.output)
    return {
        "number": place + 1,
        "weight": rule.weight,
        "class_label": ensemble.output_of(rule) or None,
        "text": ensemble.text(rule),
        "sentence": sentence(rule.query, effect, kinds),
        "effect": effect,
        "phrases": phrases(rule.query, kinds),
        "n_conditions": len(rule.query),
        "conditions": [CONDITION.write(condition) for condition in rule.query],
        "certificate": describe_proof(model.search_results_[place]),
    }


def _describe_data(predictions: Predictions, target: Floats) -> dict[str, Any]:
    table, ensemble = predictions.table, predictions.ensemble
    rule_numbers: defaultdict[str, list[int]] = defaultdict(list)
    for number, rule in enumerate(ensemble, start=1):
        for feature in by_feature(rule.query):
            name = whole_column(feature, table.feature_names)
            if number not in rule_numbers[name]:
                rule_numbers[name].append(number)
    names = ensemble.feature_names or table.feature_names
    importances = feature_importances(ensemble, table).tolist()
    features = [
        summarize_feature(table.column(name), rule_numbers[name]) | {"importance": importance}
        for name, importance in zip(names, importances, strict=True)
    ]
    return {
        "n_rows": table.n_rows,
        "n_features": len(names),
        "n_missing": sum(feature["n_missing"] for feature in features),
        "target": _describe_target(predictions.task, target),
        "features": features,
    }


def _describe_target(task: Task, target: Floats) -> dict[str, Any]:
    if task.labels is not None:
        return {"counts": np.bincount(target.astype(np.intp), minlength=len(task.labels)).tolist()}
    return {
        "mean": float(target.mean()),
        "standard_deviation": float(target.std()),
        "min": float(target.min()),
        "max": float(target.max()),
    }


def _describe_alternatives(found: Alternatives | None) -> dict[str, Any]:
    """Describe the rules that are nearly as good as one; None if they were not searched."""
    if found is None:
        return {"alternatives": None}
    return {
        "alternatives": {
            "tolerance": float(found.tolerance),
            "is_complete": found.is_complete,
            "rules": [
                {
                    "text": one.text,
                    "weight": float(one.weight),
                    "share": float(one.share),
                    "overlap": float(one.overlap),
                }
                for one in found
            ],
        }
    }
