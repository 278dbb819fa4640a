"""Models as plain values: what a file holds, and a clear refusal of all that is not a model."""

import copy
import dataclasses
import json
import math
import re
from datetime import datetime, timedelta
from typing import ClassVar

import jsonschema
import numpy as np
import pytest
from exports import (
    CLASS_SLOPES,
    MODELS,
    SMALL_RECORD,
    dated_slopes,
    duration_slopes,
    fitted_classifier,
    fitted_regressor,
    make_model,
    many_classes,
    small_model,
    with_certificates,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from laconic import Condition
from laconic._util.json_format import TEXT, Entry
from laconic.estimators.files import model_from_dict
from laconic.export import model_schema, model_to_dict
from laconic.export.json.files import read_dict
from laconic.export.json.format import SETTINGS as SETTINGS_FORMAT
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.models.tasks import TASKS, Classification, Regression
from laconic.terms.slopes import Slope

SCHEMA = model_schema()


def test_infinite_bound_is_null_in_the_file():
    data = small_model()
    assert data["terms"][1]["certificate"]["bound"] is None
    assert read_dict(data).search_results[1].bound == math.inf
    jsonschema.validate(data, SCHEMA)


def test_whole_numbers_may_be_written_as_integers():
    """Programs in other languages write 1 where Python writes 1.0."""
    data = small_model()
    data["intercept"] = 1
    data["terms"][0]["conditions"][0]["value"] = 2
    data["terms"][0]["certificate"]["counters"]["nodes"] = 7.0
    jsonschema.validate(data, SCHEMA)
    saved = read_dict(data)
    assert saved.ensemble.intercept == 1.0
    assert saved.search_results[0].counters == {"nodes": 7}


SAVED = {
    **MODELS,
    "many classes with slopes": many_classes(*CLASS_SLOPES),
    "dates with slopes": dated_slopes(),
    "durations with slopes": duration_slopes(),
}


@pytest.mark.parametrize("name", SAVED)
def test_what_is_read_is_what_was_written(name):
    model = with_certificates(SAVED[name])
    data = json.loads(json.dumps(model_to_dict(model), allow_nan=False))
    jsonschema.validate(data, SCHEMA)
    read = model_from_dict(data)
    assert read.ensemble_ == model.ensemble_
    assert read.ensemble_.size == model.ensemble_.size
    assert model_to_dict(read) == data


DAYS = st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1))
KINDS_OF_ENDS = {
    "number": st.floats(-1e300, 1e300),
    "date": DAYS.map(datetime.date),
    "datetime": DAYS,
    "time": st.times(),
    "duration": st.timedeltas(timedelta(days=-90_000), timedelta(days=90_000)),
}


@st.composite
def terms(draw):
    kind = draw(st.sampled_from([*KINDS_OF_ENDS, "rule"]))
    weight = draw(st.floats(-1e-6, 1e-6))
    if kind == "rule":
        value = draw(st.floats(-1e300, 1e300))
        return (Condition("number", draw(st.sampled_from(["<=", ">"])), value),), weight
    lower, missing, upper = sorted(
        draw(st.lists(KINDS_OF_ENDS[kind], min_size=3, max_size=3, unique=True))
    )
    missing = draw(st.sampled_from([None, lower, missing, upper]))
    return Slope(kind, lower, upper, weight, missing=missing, n_conditions=draw(st.integers(1, 2)))


@settings(max_examples=25, deadline=None)
@given(st.lists(terms(), max_size=6))
def test_any_terms_are_read_as_written(drawn):
    model = with_certificates(make_model(drawn, feature_names=tuple(KINDS_OF_ENDS)))
    data = json.loads(json.dumps(model_to_dict(model), allow_nan=False))
    jsonschema.validate(data, SCHEMA)
    read = read_dict(data).ensemble
    assert read == model.ensemble_
    assert [term.n_conditions for term in read] == [t.n_conditions for t in model.ensemble_]
    assert str(read) == str(model.ensemble_)


# Each case: how to break a model, where the message must point, and whether the schema sees it.
def put(value, *keys):
    def change(data):
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


def drop(*keys):
    def change(data):
        for key in keys[:-1]:
            data = data[key]
        del data[keys[-1]]

    return change


CONDITION = ("terms", 0, "conditions")


CERTIFICATE = ("terms", 0, "certificate")


SLOPE = ("terms", 2)


SETTINGS = {
    "n_terms": 7,
    "node_limit": 1000,
    "time_limit": 2.5,
    "l2_regularization": 3.0,
    "search": "greedy",
    "categorical_features": {"a": "ordered"},
    "conditions": [{"feature": "a", "relation": ">", "value": 1.0}],
    "constraints": {
        "monotonic_cst": {"a": -1},
        "feature_costs": {"a": 0.5, "b": None},
        "weight_signs": "positive",
    },
    "initial_terms": [
        {"kind": "rule", "conditions": [], "weight": None, "output": None},
        {
            "kind": "rule",
            "conditions": [{"feature": "a", "relation": "<=", "value": 2.0}],
            "weight": -0.5,
            "output": 0,
        },
        {
            "kind": "slope",
            "feature": "a",
            "lower": 1.0,
            "upper": 2.0,
            "missing": None,
            "n_conditions": 2,
            "weight": 0.5,
            "output": None,
        },
    ],
    "excluded_terms": [
        {"kind": "rule", "conditions": [{"feature": "b", "relation": "==", "value": "x"}]},
        {
            "kind": "slope",
            "feature": "a",
            "lower": -1.0,
            "upper": 2.0,
            "missing": 0.5,
            "n_conditions": 1,
        },
    ],
    "class_weight": [[0, 0.5], [1, 2.0]],
    "is_mixed": True,
}


def test_what_decided_which_model_came_out_is_in_the_file():
    data = small_model()
    data["settings"] |= SETTINGS
    jsonschema.validate(data, SCHEMA)
    saved = read_dict(data)
    assert SETTINGS_FORMAT.write(saved.settings) == data["settings"]
    assert saved.settings.class_weight == {0: 0.5, 1: 2.0}
    assert (saved.l2_regularization, saved.n_candidates) == (1.0, 12)


SCORES = ("record", "scores", 0)


BROKEN = [
    (put("other", "format"), "format must be 'laconic-model'", True),
    (put(["laconic-model"], "format"), "format must be", True),
    (drop("format"), "must have the key 'format'", True),
    (drop("version"), "must have the key 'version'", True),
    (put(2, "version"), "newer laconic", True),
    (put(0, "version"), "version must be 1", True),
    (put(True, "version"), "version must be a whole number", True),
    (put("1", "version"), "version must be a whole number", True),
    (put("ranking", "task"), "task must be 'classification' or 'regression'", True),
    (put(["regression"], "task"), "task must be", True),
    (drop("task"), "must have the key 'task'", True),
    (put("regression", "task"), "Got 'classes' as well", True),
    (drop("classes"), "must have the key 'classes'", True),
    (put({}, "loss"), "loss must be 'logistic' or 'multinomial'", True),
    (put(1, "extra"), "Got 'extra' as well", True),
    (put([], "feature_names"), "feature_names must be a JSON array of 1 or more items", True),
    (put("abcd", "feature_names"), "feature_names must be a JSON array", True),
    (put(["a", "b", "c", "d", "a"], "feature_names"), "feature_names[4] must be different", True),
    (put(["a", "b", "c", 4], "feature_names"), "feature_names[3] must be a string", True),
    (put(["a", "b", "c"], "feature_names"), "terms[0].conditions[6].feature must be", False),
    (put("\ud800", "feature_names", 0), "feature_names[0] must be a string of Unicode", False),
    (put(1, "has_feature_names"), "has_feature_names must be a boolean", True),
    (put("0", "intercept"), "intercept must be a finite number", True),
    (put(True, "intercept"), "intercept must be a finite number", True),
    (put(math.inf, "intercept"), "intercept must be a finite number", False),
    (put(10**400, "intercept"), "intercept must be a finite number", False),
    (put(10**5000, "intercept"), "intercept must be a finite number", False),
    (put(1, "stages"), "stages must be a JSON array", True),
    (put([[0.5], [0.5, "1"]], "stages"), "stages[1][1] must be a finite number", True),
    (put([[0.5], []], "stages"), "stages[1] must be a JSON array of 1 or more items", True),
    (put([[0.5]], "stages"), "stages must be an array of an intercept", False),
    (drop("settings"), "must have the key 'settings'", True),
    (drop("n_candidates"), "must have the key 'n_candidates'", True),
    (put(-1, "n_candidates"), "n_candidates must be a whole number", True),
    (put(-1.0, "l2_regularization"), "l2_regularization must be a finite number", True),
    (put([], "settings"), "settings must be a JSON object", True),
    (put(-1, "settings", "max_conditions"), "settings.max_conditions must be a whole", True),
    (put("all", "settings", "node_limit"), "settings.node_limit must be a whole", True),
    (put("more", "settings", "l2_regularization"), "settings.l2_regularization must be", True),
    (put(None, "settings", "search"), "settings.search must be a string", True),
    (put(1, "settings", "rows"), "settings must have the keys", True),
    (drop("settings", "strategy"), "settings must have the key 'strategy'", True),
    (put({"a": 2}, "settings", "class_weight"), "settings.class_weight must be", True),
    (put([[0, -1.0]], "settings", "class_weight"), "settings.class_weight[0][1] must be", True),
    (
        put([[0]], "settings", "class_weight"),
        "settings.class_weight[0] must be a JSON array of 2 items",
        True,
    ),
    (put([{}], "settings", "initial_terms"), "settings.initial_terms[0] must have the", True),
    (
        put(
            [{"kind": "rule", "conditions": [], "weight": None, "output": 1}],
            "settings",
            "initial_terms",
        ),
        "settings.initial_terms[0].output must be the position of a class",
        False,
    ),
    (put([None], "settings", "excluded_terms"), "settings.excluded_terms[0] must be", True),
    (put({"cost": 1}, "settings", "constraints"), "settings.constraints must have", True),
    (put([0], "classes"), "classes must be a JSON array of 2 or more items", True),
    (put([0, 1, 2], "classes"), "classes must be two classes, or more with the loss", True),
    (put([1, 1], "classes"), "classes[1] must be different", True),
    (put(["0", 1], "classes"), "classes must be strings only, booleans only or numbers only", True),
    (put([False, 1], "classes"), "classes must be strings only, booleans only", True),
    (put([None, 1], "classes"), "classes[0] must be a string, a boolean or a finite", True),
    (put([0, math.nan], "classes"), "classes[1] must be", False),
    (put([-1, 2**70], "classes"), "classes must be values that a NumPy array can hold", False),
    (put(["a", "a\0"], "classes"), "classes must be values that a NumPy array can hold", False),
    (put({}, "terms"), "terms must be a JSON array", True),
    (put(None, "terms", 1), "terms[1] must be a JSON object", True),
    (drop("terms", 1, "weight"), "terms[1] must have the key 'weight'", True),
    (put(1, "terms", 1, "name"), "terms[1] must have the keys", True),
    (put(None, "terms", 1, "weight"), "terms[1].weight must be a finite number", True),
    (put({}, "terms", 0, "conditions"), "terms[0].conditions must be a JSON array", True),
    (put([], *CONDITION, 0), "terms[0].conditions[0] must be a JSON object", True),
    (drop(*CONDITION, 4, "value"), "terms[0].conditions[4] must have the key 'value'", True),
    (put("e", *CONDITION, 1, "feature"), "terms[0].conditions[1].feature must be one of", False),
    (put(1, *CONDITION, 1, "feature"), "terms[0].conditions[1].feature must be a string", True),
    (put("<", *CONDITION, 1, "relation"), "terms[0].conditions[1].relation must be '<='", True),
    (put([], *CONDITION, 1, "relation"), "terms[0].conditions[1].relation must be '<='", True),
    (put("1", *CONDITION, 0, "value"), "terms[0].conditions[0].value must be a finite", True),
    (put(None, *CONDITION, 0, "value"), "terms[0].conditions[0].value must be a finite", True),
    (put(True, *CONDITION, 0, "value"), "terms[0].conditions[0].value must be a finite", True),
    (put({"day": ""}, *CONDITION, 0, "value"), "terms[0].conditions[0].value must be 'date'", True),
    (put({"date": "1"}, *CONDITION, 0, "value"), "conditions[0].value must be a date or", False),
    (put({"date": 1.5}, *CONDITION, 0, "value"), "conditions[0].value must be a date or", False),
    (put({"duration": 1e300}, *CONDITION, 0, "value"), "value must be a date or time", False),
    (put({"duration": "1"}, *CONDITION, 0, "value"), "value must be a date or time", False),
    (put(None, *CONDITION, 2, "value"), "terms[0].conditions[2].value must be a string", True),
    (put([1], *CONDITION, 2, "value"), "terms[0].conditions[2].value must be a string", True),
    (put(0, *CONDITION, 4, "value"), "terms[0].conditions[4].value must be null", True),
    (put(None, *CERTIFICATE), "terms[0].certificate must be a JSON object", True),
    (drop(*CERTIFICATE, "bound"), "terms[0].certificate must have the key 'bound'", True),
    (put(-0.1, *CERTIFICATE, "bound"), "terms[0].certificate.bound must be a finite", True),
    (put(None, *CERTIFICATE, "objective_value"), "certificate.objective_value must be", True),
    (put("sure", *CERTIFICATE, "status"), "terms[0].certificate.status must be 'optimal'", True),
    (put("", *CERTIFICATE, "query"), "terms[0].certificate.query must be a JSON array", True),
    (put(-1, *CERTIFICATE, "query", 1), "terms[0].certificate.query[1] must be a whole", True),
    (put(1.5, *CERTIFICATE, "query", 1), "terms[0].certificate.query[1] must be a whole", True),
    (put([], *CERTIFICATE, "counters"), "terms[0].certificate.counters must be a JSON", True),
    (put(None, *CERTIFICATE, "counters", "n"), "certificate.counters.n must be a whole", True),
    (put(-1, *CERTIFICATE, "seconds"), "terms[0].certificate.seconds must be a finite", True),
    (drop(*SLOPE, "kind"), "terms[2] must have the key 'kind'", True),
    (put("line", *SLOPE, "kind"), "terms[2].kind must be 'rule' or 'slope'. Got 'line'", True),
    (put(None, *SLOPE, "kind"), "terms[2].kind must be 'rule' or 'slope'", True),
    (put("rule", *SLOPE, "kind"), "terms[2] must have the key 'conditions'", True),
    (put("slope", "terms", 0, "kind"), "terms[0] must have the key 'feature'", True),
    (put([], *SLOPE, "conditions"), "terms[2] must have the keys", True),
    (put("e", *SLOPE, "feature"), "terms[2].feature must be one of the feature_names", False),
    (put(1, *SLOPE, "feature"), "terms[2].feature must be a string", True),
    *(
        change
        for end in ("lower", "upper")
        for change in (
            (drop(*SLOPE, end), f"terms[2] must have the key '{end}'", True),
            (put(None, *SLOPE, end), f"terms[2].{end} must be a finite number or", True),
            (put("1", *SLOPE, end), f"terms[2].{end} must be a finite number or", True),
            (put(True, *SLOPE, end), f"terms[2].{end} must be a finite number or", True),
            (put(math.nan, *SLOPE, end), f"terms[2].{end} must be a finite number or", False),
            (put(math.inf, *SLOPE, end), f"terms[2].{end} must be a finite number or", False),
            (put({"date": "1"}, *SLOPE, end), f"terms[2].{end} must be a date or time", False),
            (put({"date": "2024-03-01"}, *SLOPE, end), "terms[2] must be valid. The ends", False),
        )
    ),
    (put(2.5, *SLOPE, "lower"), "'lower' end of a Slope must be below its 'upper' end", False),
    (put(-2, *SLOPE, "upper"), "'lower' end of a Slope must be below its 'upper' end", False),
    (put(2.75, *SLOPE, "missing"), "terms[2] must be valid. The value of a Slope for", False),
    (put({"time": "12:00"}, *SLOPE, "missing"), "The ends of a Slope must be of one", False),
    (put("", *SLOPE, "missing"), "terms[2].missing must be a finite number", True),
    (drop(*SLOPE, "missing"), "terms[2] must have the key 'missing'", True),
    (put(0, *SLOPE, "n_conditions"), "terms[2].n_conditions must be 1 or 2", True),
    (put(True, *SLOPE, "n_conditions"), "terms[2].n_conditions must be 1 or 2", True),
    (put(math.inf, *SLOPE, "weight"), "terms[2].weight must be a finite number", False),
    (put(1, *SLOPE, "output"), "terms[2].output must be the position of a class", False),
    (put([], "feature_importances"), "feature_importances must be a JSON object", True),
    (put({"e": 1.0}, "feature_importances"), "feature_importances must be about the", False),
    (put({"a": -1}, "feature_importances"), "feature_importances.a must be a finite", True),
    (put({"e": ["x"]}, "kept_categories"), "kept_categories must be about the", False),
    (put({"a": ["x", 1]}, "kept_categories"), "kept_categories.a must be strings only", True),
    (put([], "feature_kinds"), "feature_kinds must be a JSON object", True),
    (put({"e": "integer"}, "feature_kinds"), "feature_kinds must be about the", False),
    (put({"a": "odd"}, "feature_kinds"), "feature_kinds.a must be 'integer' or 'boolean'", True),
    (put([], "record"), "record must be a JSON object", True),
    (drop("record", "date"), "record must have the key 'date'", True),
    (put(1, "record", "author"), "Got 'author' as well", True),
    (put(1, "record", "target"), "record.target must be a string", True),
    (put(-1, "record", "n_rows"), "record.n_rows must be a whole number", True),
    (put([], "record", "settings"), "record.settings must be a JSON object", True),
    (put([], "record", "settings", "n_terms"), "record.settings.n_terms must be", True),
    (put("other", *SCORES, "rows"), "record.scores[0].rows must be 'training' or", True),
    (put("1", *SCORES, "values", "r2"), "record.scores[0].values.r2 must be a finite", True),
    (put(-1, *SCORES, "errors", "r2"), "record.scores[0].errors.r2 must be a finite", True),
    (put(0.1, *SCORES, "errors", "mae"), "record.scores[0].errors must be those of", False),
]


@pytest.mark.parametrize(("change", "message", "schema_sees"), BROKEN)
def test_broken_models_are_refused(change, message, schema_sees):
    data = small_model()
    change(data)
    unchanged = copy.deepcopy(data)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read_dict(data)
    assert type(caught.value) is ValueError
    assert data == unchanged or "nan" in str(data)
    if schema_sees:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(data, SCHEMA)


@pytest.mark.parametrize(
    ("intercept", "weights"),
    [
        (0.0, (1.5e308, -1.5e308, 0.0)),
        (-1.5e308, (1.5e308, 0.0, 0.0)),
    ],
)
def test_sum_of_weights_must_be_finite(intercept, weights):
    data = small_model()
    data["intercept"] = intercept
    for term, weight in zip(data["terms"], weights, strict=True):
        term["weight"] = weight
    with pytest.raises(
        ValueError, match=r"terms must be .* finite sum with the intercept\. Got inf"
    ):
        read_dict(data)
    for term in data["terms"]:
        term["weight"] = 1.0
    assert read_dict(data).ensemble.intercept == intercept


def test_slopes_must_add_finite_numbers():
    data = small_model()
    data["terms"][2]["weight"] = 1.5e308
    with pytest.raises(ValueError, match="A Slope must add finite numbers"):
        read_dict(data)


def test_newer_version_asks_to_upgrade_and_nothing_else():
    with pytest.raises(ValueError, match="must be 1") as caught:
        read_dict(small_model() | {"version": 2})
    assert str(caught.value) == (
        "version must be 1, the newest that this laconic reads. Got 2: the model was saved by a "
        "newer laconic. Upgrade with 'pip install --upgrade laconic'."
    )


def test_a_record_is_optional():
    data = small_model()
    jsonschema.validate(data, SCHEMA)
    assert read_dict(data).record == SMALL_RECORD
    del data["record"]
    jsonschema.validate(data, SCHEMA)
    assert read_dict(data).record is None


def test_a_new_fit_has_no_old_record():
    model = fitted_regressor()
    model.record_ = SMALL_RECORD
    assert "record" in model_to_dict(model)
    assert "record" not in model_to_dict(model.fit([[1], [2]], [1, 2]))


def test_schema_is_valid_and_plain_json():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA, allow_nan=False)) == SCHEMA
    assert SCHEMA["properties"]["task"]["enum"] == [*TASKS]


@pytest.mark.parametrize("data", [None, 3, "model", [], [["format", "laconic-model"]]])
def test_what_is_not_an_object_is_refused(data):
    with pytest.raises(ValueError, match="The model must be a JSON object"):
        read_dict(data)


def test_each_term_needs_its_certificate():
    model = fitted_regressor()
    model.ensemble_ = model.ensemble_[:1]
    with pytest.raises(ValueError, match="1 terms in 'ensemble_' and 4 in 'search_results_'"):
        model_to_dict(model)


def test_edited_models_without_names_are_refused_in_words():
    model = fitted_regressor()
    model.ensemble_ = dataclasses.replace(model.ensemble_, feature_names=None)
    with pytest.raises(ValueError, match="feature_names must be a JSON array of 1 or more items"):
        model_to_dict(model)


def test_what_could_not_be_loaded_is_not_saved():
    model = fitted_classifier()
    model.task_ = Classification(LogisticLoss(), np.array([b"no", b"yes"]))
    with pytest.raises(ValueError, match=r"cannot be saved\. classes\[0\] must be a string"):
        model_to_dict(model)


class Counts(Regression):
    name = "counts"
    entries: ClassVar = {"unit": Entry(TEXT, "What is counted.")}

    def __init__(self, loss, unit):
        super().__init__(loss)
        self.unit = unit

    def to_dict(self):
        return {"unit": self.unit}

    @classmethod
    def from_dict(cls, data, loss):
        return cls(loss, data["unit"])


def test_a_task_says_which_entries_it_has(monkeypatch):
    monkeypatch.setitem(TASKS, Counts.name, Counts)
    model = fitted_regressor()
    model.task_ = Counts(SquaredLoss(), "visits")
    data = model_to_dict(model)
    assert list(data)[2:5] == ["task", "unit", "loss"]
    saved = read_dict(data)
    assert (type(saved.task), saved.task.unit) == (Counts, "visits")
    assert saved.ensemble == model.ensemble_
    with pytest.raises(ValueError, match="unit must be a string"):
        read_dict(data | {"unit": 3})
    jsonschema.validate(data, model_schema())
    with pytest.raises(ValueError, match="must have the key 'unit'"):
        read_dict({key: value for key, value in data.items() if key != "unit"})
