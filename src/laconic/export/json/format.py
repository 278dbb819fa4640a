"""The format of model files: the one description that reading, writing and the schema follow.

A file contains the model, what is proven about it and where it comes from, but no row of a table.
"""

from __future__ import annotations

import math
import re
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from laconic._util.json_format import (
    AMOUNT,
    BOOLEAN,
    CATEGORY,
    COUNT,
    NULL,
    NUMBER,
    TEXT,
    Array,
    Converted,
    Either,
    Entries,
    Entry,
    Format,
    Map,
    Object,
    Scalar,
    choice,
    optional,
)
from laconic.boosting import InitialTerm, Settings
from laconic.boosting.certificate import SizeBound
from laconic.boosting.settings import OWN_SEARCH, form_of, make_term
from laconic.candidates.constraints import CONSTRAINTS
from laconic.export.json.trust import FINGERPRINT, TRUST
from laconic.export.portable import named_loss
from laconic.losses import NAMED_LOSSES, loss_settings, make_loss
from laconic.models.tasks import TASKS
from laconic.search import SearchResult, SearchStatus
from laconic.tables.text_files.dates import DATE_FORMAT
from laconic.tables.text_files.text_format import (
    CELL_TYPES,
    DECIMAL_SIGNS,
    MISSING_TEXTS,
    Reading,
)
from laconic.tables.times import Moment, kind_of
from laconic.terms.conditions import (
    MISSING_RELATIONS,
    RELATIONS,
    SET_RELATIONS,
    THRESHOLD_RELATIONS,
    Condition,
    Query,
)
from laconic.terms.record import KINDS_OF_ROWS, ClassCounts, FewerTerms, FitRecord, RowScores
from laconic.terms.rules import Term
from laconic.terms.slopes import Slope
from laconic.trust import Trust

NAME = "laconic-model"
VERSION = 1

_MOMENTS: dict[str, Any] = {"date": date, "datetime": datetime, "time": time}


def _read_moment(data: dict[str, Any]) -> Moment:
    [(kind, value)] = data.items()
    moment: Moment = (
        timedelta(seconds=value) if kind == "duration" else _MOMENTS[kind].fromisoformat(value)
    )
    return moment


def _write_moment(moment: Any) -> dict[str, Any]:
    kind = kind_of(moment)
    return {str(kind): moment.total_seconds() if kind == "duration" else moment.isoformat()}


_MOMENT = Converted(
    Map(Either((TEXT, NUMBER)), choice(*_MOMENTS, "duration"), is_single=True),
    _read_moment,
    _write_moment,
    "a date or time, such as {'datetime': '2024-03-01T12:30:00'}, or {'duration': seconds}",
)


def _read_set(values: list[Any]) -> tuple[Any, ...]:
    if len({isinstance(value, str) for value in values}) != 1:
        raise ValueError
    return tuple(values)


CONDITION = Object(
    {
        "feature": Entry(
            TEXT, "One of the feature_names, or a part of its dates, such as 'weekday of booked'."
        ),
        "relation": Entry(choice(*RELATIONS)),
    },
    Condition,
    "A missing value satisfies no comparison, not even '!=' or 'not in'. Booleans compare as 0 and "
    "1. Dates and times are without a time zone, or in UTC; a date is its first moment.",
    key="relation",
    variants={
        tuple(relations): {"value": Entry(values)}
        for relations, values in (
            (THRESHOLD_RELATIONS, Either((NUMBER, _MOMENT))),
            (("==", "!="), Either((CATEGORY, _MOMENT))),
            (
                SET_RELATIONS,
                Converted(
                    Array(CATEGORY, min_items=1), _read_set, requirement="all strings or no strings"
                ),
            ),
            (MISSING_RELATIONS, NULL),
        )
    },
)
CONDITIONS = Array(CONDITION, make=tuple)
QUERY = Array(CONDITION, make=lambda conditions: Query(tuple(conditions)))

_AMOUNT_OR_INFINITY = Converted(
    optional(AMOUNT),
    lambda value: math.inf if value is None else value,
    lambda value: None if value == math.inf else value,
)
_STATUS = choice(*SearchStatus)

CERTIFICATE = Object(
    {
        "query": Entry(
            Array(COUNT, make=tuple),
            "Positions of the conditions among the candidate conditions of the training table.",
        ),
        "objective_value": Entry(AMOUNT),
        "bound": Entry(
            # A search that stops before its first node has bounded nothing.
            _AMOUNT_OR_INFINITY,
            "No rule within the limits of the search has a larger objective; null where nothing "
            "was bounded.",
        ),
        "status": Entry(_STATUS),
        "counters": Entry(Map(COUNT), "Work of the search, such as the number of expanded nodes."),
        "seconds": Entry(AMOUNT),
        "n_halvings": Entry(
            COUNT,
            "How often the step to the weights was halved, so that the loss did not rise.",
            default=0,
        ),
    },
    SearchResult,
    "What the search proved about the term when it was found.",
)


class SavedTerm(NamedTuple):
    """A term of a file, with what is proven about it."""

    term: Term
    certificate: SearchResult


def _read_form(data: dict[str, Any]) -> Query | Slope:
    """Take what describes a term, without its weight, out of the entries of an object."""
    if data.pop("kind") == "rule":
        query: Query = data.pop("conditions")
        return query
    return Slope(**{name: data.pop(name) for name in _FORMS[("slope",)]}, weight=0.0)


def _write_form(form: Query | Slope) -> dict[str, Any]:
    if isinstance(form, Query):
        return {"kind": "rule", "conditions": form}
    return {"kind": "slope", **{name: getattr(form, name) for name in _FORMS[("slope",)]}}


def _read_term(data: dict[str, Any]) -> SavedTerm:
    form = _read_form(data)
    return SavedTerm(make_term(form, data["weight"], data["output"]), data["certificate"])


def _write_term(saved: SavedTerm) -> dict[str, Any]:
    term = saved.term
    others = {"weight": term.weight, "output": term.output, "certificate": saved.certificate}
    return _write_form(form_of(term)) | others


_END = Either((NUMBER, _MOMENT))
_FORMS: dict[tuple[str, ...], Entries] = {
    ("rule",): {
        "conditions": Entry(QUERY, "All of them must hold; without any, the rule covers every row.")
    },
    ("slope",): {
        "feature": Entry(TEXT, "As in conditions."),
        "lower": Entry(_END, "Where the line begins; below it, the slope adds 0."),
        "upper": Entry(_END, "Where the line ends, above 'lower' and of the same kind."),
        "missing": Entry(
            optional(_END),
            "What a missing value counts as, between both ends; null: the slope adds 0.",
        ),
        "n_conditions": Entry(
            choice(1, 2),
            "How often the line bends inside of the range of the training rows, at least 1. No "
            "prediction depends on it.",
        ),
    },
}
_KIND = Entry(choice("rule", "slope"))
TERM = Converted(
    Object(
        {
            "kind": _KIND,
            "weight": Entry(
                NUMBER,
                "Of a slope per unit of its feature: of numbers per 1, of dates per day, of times "
                "of day and of durations per hour.",
            ),
            "output": Entry(
                COUNT,
                "Position of the class that the weight is added to, of three or more.",
                default=0,
            ),
            "certificate": Entry(CERTIFICATE),
        },
        text="A rule adds its weight to the rows that satisfy its conditions. A slope adds its "
        "weight times clip(x, lower, upper) - lower, in units of the feature x.",
        key="kind",
        variants=_FORMS,
    ),
    _read_term,
    _write_term,
)

ENSEMBLE_CERTIFICATE = Object(
    {
        "objective": Entry(
            AMOUNT,
            "Of the model: its loss summed over the training rows, and the penalty on its weights "
            "if there is one.",
        ),
        "bound": Entry(AMOUNT, "Lower bound on the objective of all compared ensembles."),
        "start": Entry(AMOUNT, "The objective without terms."),
        "against": Entry(
            choice("rules", "weight"),
            "Compared ensembles have at most as many terms and the same penalty, or at most the "
            "same total weight; weights of slopes count on the scale of rules.",
        ),
        "max_conditions": Entry(optional(COUNT)),
        "min_coverage": Entry(AMOUNT),
        "n_candidates": Entry(COUNT),
        "n_slopes": Entry(COUNT, "Number of slopes that terms may be, besides rules."),
        "n_rows": Entry(COUNT),
        "status": Entry(_STATUS),
        "n_nodes": Entry(COUNT),
        "n_searches": Entry(COUNT),
        "seconds": Entry(AMOUNT),
        "sizes": Entry(
            Array(
                Object({"objective": Entry(AMOUNT), "bound": Entry(AMOUNT)}, SizeBound), make=tuple
            ),
            "The first 0, 1, 2, ... terms, next to all ensembles of as many.",
        ),
    },
    text="How close the model comes to the best possible one on its training rows; the proof "
    "itself is not in files.",
    key="against",
    variants={
        ("rules",): {"n_terms": Entry(COUNT), "l2_regularization": Entry(AMOUNT)},
        ("weight",): {"total_weight": Entry(AMOUNT)},
    },
)

_DIRECTION = choice(-1, 1)
_CONSTRAINTS: dict[str, tuple[Format, str]] = {
    "monotonic_cst": (
        Map(Either((_DIRECTION, Map(_DIRECTION, is_single=True)))),
        "1 for features with which predictions only rise, -1 where they only fall; of three or "
        "more classes, the class whose probability does so.",
    ),
    "interaction_cst": (
        Either((choice("pairwise", "no_interactions"), Array(Array(TEXT)))),
        "Features that a rule may use together.",
    ),
    "feature_costs": (
        Map(_AMOUNT_OR_INFINITY),
        "What a rule had to gain to use a feature; null where no rule was allowed to use it.",
    ),
    "weight_signs": (choice("positive", "negative"), "Signs of all weights."),
}
CONSTRAINT_SETTINGS = Object(
    {
        name: Entry(each, text, default=CONSTRAINTS[name])
        for name, (each, text) in _CONSTRAINTS.items()
    },
    text="Constraints on rules.",
)


_LOSS = Converted(
    Object(
        {"name": Entry(choice(*NAMED_LOSSES))},
        key="name",
        variants={
            (name,): {each.name: Entry(NUMBER) for each in fields(loss)}
            for name, loss in NAMED_LOSSES.items()
        },
    ),
    lambda data: make_loss(data.pop("name"), data),
    lambda loss: {"name": named_loss(loss).name, **loss_settings(named_loss(loss))},
)

_INITIAL_TERM: Entries = {
    "kind": _KIND,
    "weight": Entry(optional(NUMBER), "Null for the best one."),
    "output": Entry(
        optional(COUNT),
        "Of three or more classes, the one that the term is added to; null for the best one.",
    ),
}

# Settings whose format does not follow from their type.
_SETTINGS: dict[str, Format] = {
    "loss": Either((choice("auto", *NAMED_LOSSES), _LOSS)),
    "search": Converted(
        TEXT, str, lambda search: search if isinstance(search, str) else OWN_SEARCH
    ),
    "categorical_features": Map(choice("nominal", "ordered")),
    "conditions": optional(CONDITIONS),
    "constraints": Converted(
        CONSTRAINT_SETTINGS,
        dict,
        lambda constraints: {} if constraints is None else constraints.settings,
    ),
    "initial_terms": Array(
        Converted(
            Object(_INITIAL_TERM, key="kind", variants=_FORMS),
            lambda data: InitialTerm(_read_form(data), data["weight"], data["output"]),
            lambda term: _write_form(term.form) | {"weight": term.weight, "output": term.output},
        ),
        make=tuple,
    ),
    "excluded_terms": Array(
        Converted(Object({"kind": _KIND}, key="kind", variants=_FORMS), _read_form, _write_form),
        make=tuple,
    ),
    "positive": optional(CATEGORY),
    "class_weight": Either(
        (
            NULL,
            choice("balanced"),
            # Classes need not be texts, as the keys of an object are.
            Converted(
                Array(Array(AMOUNT, first=CATEGORY, min_items=2, max_items=2)),
                dict,
                lambda weights: weights.items(),
            ),
        )
    ),
}


def _format_of(hint: Any) -> Format:
    """Return the format of a setting, which follows from its type."""
    if get_origin(hint) in (Union, UnionType):
        return Either(
            tuple(choice("auto") if each is str else _format_of(each) for each in get_args(hint))
        )
    if get_origin(hint) is tuple:
        return Array(_format_of(get_args(hint)[0]), make=tuple)
    return {bool: BOOLEAN, int: COUNT, float: AMOUNT, str: TEXT, NoneType: NULL}[hint]


SETTINGS = Object(
    {
        name: Entry(_SETTINGS[name] if name in _SETTINGS else _format_of(hint))
        for name, hint in get_type_hints(Settings).items()
    },
    text="All settings that determine the model. The names are those of the parameters of "
    "an estimator; 'is_mixed' is whether some rules were found with other settings, by an earlier "
    "fit. The search method 'own' is one of the user's own.",
)

_CLASS_COUNTS = Object(
    {
        "label": Entry(CATEGORY),
        "n_rows": Entry(AMOUNT),
        "n_predicted": Entry(AMOUNT, "Rows for which the class is predicted."),
        "n_correct": Entry(AMOUNT, "Rows of the class that are predicted to be."),
    },
    ClassCounts,
    "Numbers of rows; sums of weights, where rows have some.",
)
_FEWER_TERMS = Object(
    {
        "n_terms": Entry(COUNT),
        "value": Entry(NUMBER, "Score by the metric that decides on the number of terms."),
    },
    FewerTerms,
)

RECORD = Object(
    {
        "target": Entry(optional(TEXT), "The column that is predicted."),
        "n_rows": Entry(optional(COUNT), "How many rows the model was fitted to."),
        "date": Entry(optional(TEXT), "When it was fitted, in ISO 8601."),
        "settings": Entry(Map(Either((CATEGORY, NULL))), "Parameters of the estimator."),
        "scores": Entry(
            Array(
                Object(
                    {
                        "rows": Entry(
                            choice(*KINDS_OF_ROWS),
                            "The rows that the model was fitted to; these, each scored by a model "
                            "that had not seen it; or rows of another table.",
                        ),
                        "n_rows": Entry(COUNT),
                        "values": Entry(Map(NUMBER)),
                        "errors": Entry(
                            Map(AMOUNT),
                            "Standard errors of the values, where these are means over the folds "
                            "of a cross-validation.",
                        ),
                        "constants": Entry(
                            Map(NUMBER),
                            "Scores without a model, on the same rows: of the best constant "
                            "prediction for the training rows.",
                            default={},
                        ),
                        "classes": Entry(
                            Array(_CLASS_COUNTS, make=tuple),
                            "Rows of each class, where the target has classes.",
                            default=(),
                        ),
                        "fewer": Entry(
                            optional(_FEWER_TERMS),
                            "The fewest terms whose loss is within a standard error of that of "
                            "the best number, if they are fewer than the model has.",
                            default=None,
                        ),
                    },
                    RowScores,
                ),
                make=tuple,
            )
        ),
    },
    FitRecord,
    "Where the model comes from, for people: no prediction depends on it.",
)

READING = Object(
    {
        "decimal": Entry(choice(*DECIMAL_SIGNS), "The decimal sign."),
        "dates": Entry(
            Map(
                Scalar(
                    "a format of dates as for strptime, such as '%d/%m/%Y'",
                    {"type": "string", "pattern": f"^{DATE_FORMAT}$"},
                    lambda value: TEXT.fits(value) and bool(re.fullmatch(DATE_FORMAT, value)),
                )
            ),
            "How the dates of a column are written, as for strptime.",
        ),
        "missing": Entry(
            Array(TEXT, make=tuple),
            "Texts that mean a missing cell, besides no text at all, if not the usual ones.",
            default=MISSING_TEXTS,
        ),
        "types": Entry(
            Map(choice(*CELL_TYPES)),
            "The types of the other columns; cells of another type are missing.",
            default={},
        ),
        "units": Entry(Map(TEXT), "What follows the numbers of a column, such as kg.", default={}),
    },
    Reading,
    "How the texts of the training file became numbers and dates, for other files.",
)

INTERCEPT = Either((NUMBER, Array(NUMBER, min_items=3)))

_FIRST_ENTRIES: Entries = {
    "format": Entry(choice(NAME)),
    "version": Entry(choice(VERSION)),
}
_MODEL_ENTRIES: Entries = {
    "loss": Entry(
        choice(*NAMED_LOSSES),
        "With 'squared' and 'huber' the prediction is the raw prediction, with 'logistic' the raw "
        "prediction is the log odds of the second class, with 'multinomial' every class has a raw "
        "prediction and probabilities are their exponentials divided by the sum, with the others "
        "it is the logarithm of the prediction.",
    ),
    "loss_settings": Entry(
        Map(NUMBER),
        "What the loss depends on: the power of 'tweedie', the delta of 'huber'. No prediction "
        "depends on it.",
        default={},
    ),
    "feature_names": Entry(
        Array(TEXT, min_items=1, is_distinct=True, make=tuple),
        "The columns of the training table, in order.",
    ),
    "has_feature_names": Entry(
        BOOLEAN,
        "Whether the names came with the training table; otherwise they are numbered.",
    ),
    "intercept": Entry(
        INTERCEPT, "The intercept of raw predictions, or one for each of three or more classes."
    ),
    "terms": Entry(Array(TERM)),
    "stages": Entry(
        optional(Array(Array(NUMBER, first=INTERCEPT, min_items=1))),
        "Intercept and weights of the model when it had 0, 1, 2, ... terms, without the last; null "
        "where they are those of the model.",
    ),
    "settings": Entry(SETTINGS),
    "l2_regularization": Entry(AMOUNT, "The penalty on squared weights that was in use."),
    "n_candidates": Entry(COUNT, "Number of candidate conditions."),
    "feature_kinds": Entry(
        Map(Either((choice("integer", "boolean"), Array(CATEGORY, make=tuple)))),
        "Features of terms that held nothing but integers, or nothing but zeros and ones, in the "
        "training table, or ordered categories, in their order. Texts make use of it, predictions "
        "do not.",
        default={},
    ),
    "kept_categories": Entry(
        Map(Array(CATEGORY, is_distinct=True, is_uniform=True, make=frozenset)),
        "Of features of terms with many categories, those that have conditions of their own; texts "
        'name all that are not among them "other".',
        default={},
    ),
    "feature_importances": Entry(
        Map(AMOUNT),
        "Shares of the features in the predictions for the training rows: their mean absolute "
        "Shapley values, divided by the sum.",
        default=None,
    ),
    "record": Entry(RECORD, default=None),
    "reading": Entry(READING, default=None),
    "certificate": Entry(ENSEMBLE_CERTIFICATE, default=None),
    "trust": Entry(TRUST, default=Trust()),
    "fingerprint": Entry(optional(FINGERPRINT), default=None),
    "reason": Entry(
        optional(TEXT), "Why there are so many terms, where their number was chosen.", default=None
    ),
}


def model_format() -> Object:
    """Return the format of models of all tasks."""
    return Object(
        {**_FIRST_ENTRIES, "task": Entry(choice(*TASKS)), **_MODEL_ENTRIES},
        text="An additive ensemble of weighted if-then rules and slopes. The raw prediction of a "
        "row is the intercept plus what the terms add, in order.",
        key="task",
        variants={(name,): task.entries for name, task in TASKS.items()},
    )


def model_schema() -> dict[str, Any]:
    """Return the JSON Schema of the files, of the version that this laconic writes.

    Returns
    -------
    schema : dict
        Of the draft 2020-12.

    Examples
    --------
    >>> model_schema()["title"]
    'laconic model, version 1'
    """
    schema = model_format().schema()
    schema["allOf"].append(
        {
            "if": {"properties": {"loss": {"const": "multinomial"}}},
            "then": {"properties": {"classes": {"minItems": 3}}},
            "else": {"properties": {"classes": {"maxItems": 2}}},
        }
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:laconic:model:{VERSION}",
        "title": f"laconic model, version {VERSION}",
        **schema,
    }
