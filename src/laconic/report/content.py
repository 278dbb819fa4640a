"""A report as a dictionary of plain values, from which pages and JSON are made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from laconic._core import version
from laconic._util.checks import is_whole, require
from laconic._util.types import Bools, Floats, Indices
from laconic._util.words import listed, parameter
from laconic.boosting.certificate import EnsembleCertificate
from laconic.export.json.format import CONDITION
from laconic.models import Predictions, RuleModel, feature_importances
from laconic.models.alternatives import Alternatives
from laconic.models.notes import note_on_dates
from laconic.models.scores import ScoredRows, describe_unseen, remarks, training_constant
from laconic.models.tasks import Task
from laconic.report.certificates import describe_certificates, describe_proof, describe_whole
from laconic.report.features import group_rows, summarize_coverage, summarize_feature
from laconic.report.scores import calibration_or_residuals, score_path
from laconic.report.trust import describe_trust
from laconic.report.what_if import describe_what_if
from laconic.report.words import phrases, sentence, start
from laconic.tables.tables import whole_column
from laconic.terms.conditions import Query
from laconic.terms.formatting import class_text, plain_text, value_text
from laconic.terms.rules import RuleEnsemble
from laconic.terms.slopes import Slope

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
    # First, because it reads whole columns, which terms then use again.
    data = _describe_data(predictions, target)
    used = [table.column(feature["name"]) for feature in data["features"] if feature["terms"]]
    targets = [task.covered_target(target, term.output) for term in predictions.ensemble]
    coverages, overlap = summarize_coverage(predictions.covered, target, targets)
    others = {found.number: found for found in alternatives}
    rows = ScoredRows(task, target, predictions.raw, None, table.n_rows)
    terms = [
        _describe_term(model, place) | coverage | _describe_alternatives(others.get(place + 1))
        for place, coverage in enumerate(coverages)
    ]
    aim = task.aim if target_name is None else f"predict {target_name}"
    default_title = f"{_kinds(predictions.ensemble).capitalize()} that {aim}"
    return {
        "format": FORMAT,
        "version": VERSION,
        "laconic_version": version,
        "title": plain_text(title or default_title),
        "model": _describe_model(model, target_name, n_features_used=len(used)),
        "terms": terms,
        "path": score_path(model, predictions, rows, _comparable(baseline, task), X),
        "verdict": _judge(model, rows),
        "certificates": describe_certificates(model, table),
        "whole": describe_whole(_own(certificate, model)),
        "trust": describe_trust(model),
        "overlap": overlap,
        **calibration_or_residuals(predictions, target, sample),
        "data": data,
        "what_if": describe_what_if(model, used, y, sample)
        | group_rows(
            _halves(predictions),
            target,
            min_rows=1 if len(sample) else MIN_GROUP_ROWS,
            n_classes=len(task.outputs),
        ),
    }


def _judge(model: RuleModel, rows: ScoredRows) -> dict[str, Any]:
    """Describe what the model fails at on these rows, and its scores on rows it has not seen."""
    scores = rows.scores("the rows of this report", rows.constant_for(model))
    if training_constant(model) is None:  # one that was fitted to these rows is no fair comparison
        scores = replace(scores, constants={})
    is_known = model.record_ is not None and model.record_.unseen is not None
    return {
        "remarks": [*map(plain_text, remarks(model, scores))],
        "unseen": describe_unseen(model) if is_known else None,
    }


def _kinds(ensemble: RuleEnsemble) -> str:
    """Name the kinds of terms: "rules and slopes"."""
    kinds = {"rules": bool(ensemble.rules or not ensemble.terms), "slopes": bool(ensemble.slopes)}
    return listed(name for name, is_there in kinds.items() if is_there)


def _halves(predictions: Predictions) -> Bools:
    """Find which term adds more than half of what it can: a rule that holds, or a high slope."""
    changes = np.abs([term.effect for term in predictions.ensemble])
    weights = np.array([term.weight for term in predictions.ensemble])
    return np.asarray(np.abs(np.multiply(predictions.term_values, weights)) > changes / 2)


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
            "The 'certificate' of a report must be that of the model. Got one of other terms or "
            "weights. Pass what model.certificate(X, y) returned."
        )
    return certificate


def _comparable(baseline: RuleModel | None, task: Task) -> RuleModel | None:
    if baseline is None:
        return None
    if not isinstance(baseline, RuleModel):
        raise TypeError(
            "The 'baseline' parameter of a report must be a fitted rule ensemble or None. Got "
            f"{type(baseline).__name__}."
        )
    if not hasattr(baseline, "ensemble_"):
        check_is_fitted(baseline)
    if (baseline.task_.name, baseline.task_.labels) != (task.name, task.labels):
        raise ValueError(
            "The 'baseline' of a report must predict the same target as the model. Got "
            f"{baseline.task_!r} for {task!r}."
        )
    return baseline


def _sample(n_rows: int, max_sample_rows: int) -> Indices:
    """Choose rows, the same ones for the same arguments."""
    is_met, required = is_whole(max_sample_rows, 0), "an int in the range [0, inf)"
    require(is_met, parameter("max_sample_rows"), required, max_sample_rows)
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
        "n_rules": len(ensemble.rules),
        "n_slopes": len(ensemble.slopes),
        "n_conditions": ensemble.n_conditions,
        "n_features": model.n_features_in_,
        "n_features_used": n_features_used,
        "note": note_on_dates(ensemble),
    }


def _describe_term(model: RuleModel, place: int) -> dict[str, Any]:
    """Describe a term; ``change`` is the largest that it makes.

    The ``step_weight`` of a slope, and its ``effect``, are for each step of its feature, and its
    ``total_effect`` is from end to end.
    """
    ensemble = model.ensemble_
    term, kinds = ensemble.terms[place], ensemble.feature_kinds
    form: Query | Slope
    if isinstance(term, Slope):
        form, step_weight = term, term.step_weight
        total = model.task_.effect(term.effect, term.output)
        own: dict[str, Any] = {
            "kind": "slope",
            "slope": _describe_slope(term),
            "total_effect": total,
        }
    else:
        form, step_weight = term.query, term.weight
        own = {"kind": "rule", "slope": None, "total_effect": None}
    effect = model.task_.effect(step_weight, term.output)
    return own | {
        "number": place + 1,
        "weight": term.weight,
        "step_weight": step_weight,
        "change": term.effect,
        "class_label": ensemble.output_of(term) or None,
        "text": ensemble.text(term),
        "sentence": sentence(form, effect, kinds),
        "effect": effect,
        "start": start(form),
        "phrases": phrases(form, kinds),
        "n_conditions": term.n_conditions,
        "conditions": [*map(CONDITION.write, form)] if isinstance(form, Query) else [],
        "certificate": describe_proof(model.search_results_[place]),
    }


def _describe_slope(slope: Slope) -> dict[str, Any]:
    """Return the step of the weight, where a slope begins and ends, and what missing cells are."""
    ends = {"lower": slope.lower, "upper": slope.upper, "missing": slope.missing}
    is_time = slope.time_kind is not None
    step = slope.step.text.removesuffix(" of")
    return {"feature": slope.feature, "step": step} | {
        name: value_text(end) if is_time and end is not None else end for name, end in ends.items()
    }


def _describe_data(predictions: Predictions, target: Floats) -> dict[str, Any]:
    table, ensemble = predictions.table, predictions.ensemble
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for number, term in enumerate(ensemble, start=1):
        for feature in term.features:
            name = whole_column(feature, table.feature_names)
            if number not in numbers[name]:
                numbers[name].append(number)
    names = ensemble.feature_names or table.feature_names
    importances = feature_importances(ensemble, table).tolist()
    features = [
        summarize_feature(table.column(name), numbers[name]) | {"importance": importance}
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
    """Describe the rules that are nearly as good as a term; None if they were not searched."""
    if found is None:
        return {"alternatives": None}
    return {
        "alternatives": {
            "tolerance": float(found.tolerance),
            "is_complete": found.is_complete,
            "terms": [
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
