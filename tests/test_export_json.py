"""Saved models: exact round trips, and a clear refusal of everything that is not a model."""

import copy
import json
import math
import os
import pickle
import re
from importlib.resources import files

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from laconic import (
    Proposition,
    Query,
    Rule,
    RuleBoostingClassifier,
    RuleBoostingRegressor,
    RuleEnsemble,
    load_model,
    save_model,
)
from laconic.export import model_from_dict, model_schema, model_to_dict, to_json
from laconic.export.json import MAX_BYTES
from laconic.losses import LogisticLoss, SquaredLoss
from laconic.search import SearchResult, SearchStatus
from laconic.tasks import Classification

SCHEMA = json.loads((files("laconic.export") / "model-1.schema.json").read_text("utf-8"))


def mixed_table(n_rows=60, seed=0):
    generator = np.random.default_rng(seed)
    size = generator.normal(size=n_rows)
    size[::7] = np.nan
    return pl.DataFrame(
        {
            "size [cm]": size,
            "grün": generator.choice(["ja", "nein", "vielleicht", None], size=n_rows).tolist(),
            "flag": generator.choice([True, False], size=n_rows),
            "count": generator.integers(0, 5, size=n_rows),
        }
    )


def fitted_classifier(classes=("no", "yes"), **parameters):
    X = mixed_table()
    is_second = (X["count"].to_numpy() > 2) ^ (X["grün"].to_numpy() == "ja")
    y = np.array(classes)[is_second.astype(int)]
    return RuleBoostingClassifier(n_rules=4, **parameters).fit(X, y)


def fitted_regressor(**parameters):
    X = mixed_table()
    y = X["count"].to_numpy() / 3 + X["flag"].to_numpy()
    return RuleBoostingRegressor(n_rules=4, fit_intercept=True, **parameters).fit(X, y)


def small_model():
    """Return a model with every relation, as a dict that tests may break."""
    propositions = (
        Proposition("a", "<=", 1.5),
        Proposition("a", ">", -2),
        Proposition("b", "==", "x"),
        Proposition("b", "!=", "y"),
        Proposition("c", "is missing"),
        Proposition("c", "is present"),
        Proposition("d", "==", True),
        Proposition("d", "!=", 3),
    )
    rules = (Rule(Query(propositions), 0.1), Rule(Query(), -2.5))
    model = RuleBoostingClassifier()
    model.ensemble_ = RuleEnsemble(rules, 0.25, ("a", "b", "c", "d"))
    model.search_results_ = [
        SearchResult((0, 3), 0.3, 0.4, SearchStatus.TIME_LIMIT, {"nodes": 7}, 1.5),
        SearchResult((), 0.0, math.inf, SearchStatus.NODE_LIMIT, {}, 0.0),
    ]
    model.task_ = Classification(LogisticLoss(), np.array([0, 1]))
    model.n_features_in_ = 4
    return model_to_dict(model)


def assert_same_model(loaded, model, X):
    assert type(loaded) is type(model)
    assert loaded.ensemble_ == model.ensemble_
    assert loaded.search_results_ == model.search_results_
    assert loaded.loss_ == model.loss_
    assert loaded.n_features_in_ == model.n_features_in_
    assert hasattr(loaded, "feature_names_in_") == hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)
    if isinstance(model, RuleBoostingClassifier):
        names = ["decision_function", "predict_proba", "staged_decision_function"]
    else:
        names = ["staged_predict"]
    for name in names:
        expected = np.array(list(getattr(model, name)(X)))
        assert np.array(list(getattr(loaded, name)(X))).tobytes() == expected.tobytes()


@pytest.mark.parametrize("fit", [fitted_classifier, fitted_regressor])
@pytest.mark.parametrize("search", ["optimal", "greedy"])
def test_round_trip_is_exact(fit, search, tmp_path):
    model = fit(search=search)
    path = tmp_path / "model.json"
    save_model(model, path)
    loaded = load_model(path)
    assert_same_model(loaded, model, mixed_table(200, seed=1))
    save_model(loaded, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    jsonschema.validate(json.loads(path.read_text("utf-8")), SCHEMA)


@pytest.mark.parametrize("search", ["beam", "reference", "brute_force"])
def test_certificates_of_all_methods_round_trip(search):
    generator = np.random.default_rng(0)
    X = generator.integers(0, 2, size=(20, 4))
    model = RuleBoostingRegressor(2, search=search).fit(X, generator.normal(size=20))
    data = model_to_dict(model)
    jsonschema.validate(data, SCHEMA)
    assert model_from_dict(data).search_results_ == model.search_results_


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (("no", "yes"), "U"),
        ((False, True), "b"),
        ((-1, 1), "i"),
        ((0.0, 2.0), "f"),
        (("", "ä\n\"'"), "U"),
    ],
)
def test_classes_keep_their_type(classes, kind):
    model = fitted_classifier(classes)
    loaded = model_from_dict(json.loads(json.dumps(model_to_dict(model))))
    assert loaded.classes_.dtype.kind == kind
    assert_same_model(loaded, model, mixed_table())


def test_object_classes_become_strings():
    X = pd.DataFrame({"x": [1, 2, 3, 4]})
    y = np.array(["no", "no", "yes", "yes"], dtype=object)
    loaded = model_from_dict(model_to_dict(RuleBoostingClassifier(2).fit(X, y)))
    assert loaded.classes_.dtype.kind == "U"
    assert loaded.predict(X).tolist() == y.tolist()


def test_feature_names_only_where_the_model_had_them():
    rows = [[1, "a"], [2, "b"], [3, "a"], [4, "b"]]
    unnamed = model_from_dict(model_to_dict(RuleBoostingRegressor(2).fit(rows, [1, 2, 3, 4])))
    assert not hasattr(unnamed, "feature_names_in_")
    assert unnamed.n_features_in_ == 2
    frame = pd.DataFrame(rows, columns=["n", "c"])
    original = RuleBoostingRegressor(2).fit(frame, [1, 2, 3, 4])
    named = model_from_dict(model_to_dict(original))
    np.testing.assert_array_equal(named.feature_names_in_, original.feature_names_in_, strict=True)
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame.rename(columns={"n": "m"}))


def test_loaded_model_pickles_clones_and_goes_on():
    X = mixed_table()
    y = X["count"].to_numpy() / 3
    model = RuleBoostingRegressor(2).fit(X, y)
    loaded = model_from_dict(model_to_dict(model))
    assert_same_model(pickle.loads(pickle.dumps(loaded)), model, X)
    with pytest.raises(NotFittedError):
        clone(loaded).predict(X)
    loaded.set_params(n_rules=4, warm_start=True).fit(X, y)
    assert loaded.ensemble_ == RuleBoostingRegressor(4).fit(X, y).ensemble_


def test_loss_other_than_the_default_is_kept():
    model = fitted_classifier(loss=SquaredLoss())
    loaded = model_from_dict(model_to_dict(model))
    assert loaded.loss == loaded.loss_ == SquaredLoss()
    assert_same_model(loaded, model, mixed_table())


def test_infinite_bound_is_null_in_the_file():
    data = small_model()
    assert data["rules"][1]["certificate"]["bound"] is None
    assert model_from_dict(data).search_results_[1].bound == math.inf
    jsonschema.validate(data, SCHEMA)


def test_every_relation_round_trips():
    data = small_model()
    assert model_to_dict(model_from_dict(data)) == data


def test_whole_numbers_may_be_written_as_integers():
    """Programs in other languages write 1 where Python writes 1.0."""
    data = small_model()
    data["intercept"] = 1
    data["rules"][0]["conditions"][0]["value"] = 2
    data["rules"][0]["certificate"]["counters"]["nodes"] = 7.0
    jsonschema.validate(data, SCHEMA)
    model = model_from_dict(data)
    assert model.ensemble_.intercept == 1.0
    assert model.search_results_[0].counters == {"nodes": 7}


def test_byte_order_mark_is_welcome(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(small_model()), encoding="utf-8-sig")
    assert load_model(path).ensemble_.n_rules == 2


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


CONDITION = ("rules", 0, "conditions")
CERTIFICATE = ("rules", 0, "certificate")

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
    (put({}, "loss"), "loss must be 'logistic' or 'squared'", True),
    (put(1, "extra"), "Got 'extra' as well", True),
    (put([], "feature_names"), "feature_names must be a list of at least one name", True),
    (put("abcd", "feature_names"), "feature_names must be a JSON array", True),
    (put(["a", "b", "c", "d", "a"], "feature_names"), "feature_names[4] must be different", True),
    (put(["a", "b", "c", 4], "feature_names"), "feature_names[3] must be a string", True),
    (put(["a", "b", "c"], "feature_names"), "rules[0].conditions[6].feature must be", False),
    (put("\ud800", "feature_names", 0), "feature_names[0] must be a string of Unicode", False),
    (put(1, "has_feature_names"), "has_feature_names must be a boolean", True),
    (put("0", "intercept"), "intercept must be a finite number", True),
    (put(True, "intercept"), "intercept must be a finite number", True),
    (put(math.inf, "intercept"), "intercept must be a finite number", False),
    (put(10**400, "intercept"), "intercept must be a finite number", False),
    (put(10**5000, "intercept"), "intercept must be a finite number", False),
    (put([0], "classes"), "classes must be a list of two", True),
    (put([0, 1, 2], "classes"), "classes must be a list of two", True),
    (put([1, 1], "classes"), "classes must be two different classes", True),
    (put([1, 0], "classes"), "classes must be two different classes in ascending order", False),
    (put(["0", 1], "classes"), "classes must be two strings, two booleans or two numbers", True),
    (put([False, 1], "classes"), "classes must be two strings, two booleans", True),
    (put([None, 1], "classes"), "classes[0] must be a string, a boolean or a finite", True),
    (put([0, math.nan], "classes"), "classes[1] must be", False),
    (put([-1, 2**70], "classes"), "classes must be values that a NumPy array can hold", False),
    (put(["a", "a\0"], "classes"), "classes must be values that a NumPy array can hold", False),
    (put({}, "rules"), "rules must be a JSON array", True),
    (put(None, "rules", 1), "rules[1] must be a JSON object", True),
    (drop("rules", 1, "weight"), "rules[1] must have the key 'weight'", True),
    (put(1, "rules", 1, "name"), "rules[1] must have the keys", True),
    (put(None, "rules", 1, "weight"), "rules[1].weight must be a finite number", True),
    (put({}, "rules", 0, "conditions"), "rules[0].conditions must be a JSON array", True),
    (put([], *CONDITION, 0), "rules[0].conditions[0] must be a JSON object", True),
    (drop(*CONDITION, 4, "value"), "rules[0].conditions[4] must have the key 'value'", True),
    (put("e", *CONDITION, 1, "feature"), "rules[0].conditions[1].feature must be one of", False),
    (put(1, *CONDITION, 1, "feature"), "rules[0].conditions[1].feature must be a string", True),
    (put("<", *CONDITION, 1, "relation"), "rules[0].conditions[1].relation must be '<='", True),
    (put([], *CONDITION, 1, "relation"), "rules[0].conditions[1].relation must be '<='", True),
    (put("1", *CONDITION, 0, "value"), "rules[0].conditions[0].value must be a finite", True),
    (put(None, *CONDITION, 0, "value"), "rules[0].conditions[0].value must be a finite", True),
    (put(True, *CONDITION, 0, "value"), "rules[0].conditions[0].value must be a finite", True),
    (put(None, *CONDITION, 2, "value"), "rules[0].conditions[2].value must be a string", True),
    (put([1], *CONDITION, 2, "value"), "rules[0].conditions[2].value must be a string", True),
    (put(0, *CONDITION, 4, "value"), "rules[0].conditions[4].value must be null", True),
    (put(None, *CERTIFICATE), "rules[0].certificate must be a JSON object", True),
    (drop(*CERTIFICATE, "bound"), "rules[0].certificate must have the key 'bound'", True),
    (put(-0.1, *CERTIFICATE, "bound"), "rules[0].certificate.bound must be a finite", True),
    (put(None, *CERTIFICATE, "objective_value"), "certificate.objective_value must be", True),
    (put("sure", *CERTIFICATE, "status"), "rules[0].certificate.status must be 'optimal'", True),
    (put("", *CERTIFICATE, "query"), "rules[0].certificate.query must be a JSON array", True),
    (put(-1, *CERTIFICATE, "query", 1), "rules[0].certificate.query[1] must be a whole", True),
    (put(1.5, *CERTIFICATE, "query", 1), "rules[0].certificate.query[1] must be a whole", True),
    (put([], *CERTIFICATE, "counters"), "rules[0].certificate.counters must be a JSON", True),
    (put(None, *CERTIFICATE, "counters", "n"), "certificate.counters.n must be a whole", True),
    (put(-1, *CERTIFICATE, "seconds"), "rules[0].certificate.seconds must be a finite", True),
]


@pytest.mark.parametrize(("change", "message", "schema_sees"), BROKEN)
def test_broken_models_are_refused(change, message, schema_sees):
    data = small_model()
    change(data)
    unchanged = copy.deepcopy(data)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        model_from_dict(data)
    assert type(caught.value) is ValueError
    assert data == unchanged or "nan" in str(data)
    if schema_sees:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(data, SCHEMA)


@pytest.mark.parametrize(
    ("intercept", "weights"), [(0.0, (1.5e308, -1.5e308)), (-1.5e308, (1.5e308, 0.0))]
)
def test_sum_of_weights_must_be_finite(intercept, weights):
    data = small_model()
    data["intercept"] = intercept
    for rule, weight in zip(data["rules"], weights, strict=True):
        rule["weight"] = weight
    with pytest.raises(
        ValueError, match=r"rules must be .* finite sum with the intercept\. Got inf"
    ):
        model_from_dict(data)
    data["rules"][0]["weight"] = 1.0
    assert model_from_dict(data).ensemble_.intercept == intercept


def test_newer_version_asks_to_upgrade_and_nothing_else():
    with pytest.raises(ValueError, match="must be 1") as caught:
        model_from_dict(small_model() | {"version": 2})
    assert str(caught.value) == (
        "version must be 1, the newest that this laconic reads. Got 2: the model was saved by a "
        "newer laconic. Upgrade with 'pip install --upgrade laconic'."
    )


def test_loaded_parameters_are_the_defaults():
    model = fitted_regressor(l2_regularization=0.5, max_conditions=2)
    loaded = model_from_dict(model_to_dict(model))
    assert loaded.get_params() == RuleBoostingRegressor().get_params()


def test_schema_is_valid_and_states_the_same_words():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    status = SCHEMA["$defs"]["certificate"]["properties"]["status"]
    assert status["enum"] == [status.value for status in SearchStatus]


@pytest.mark.parametrize("data", [None, 3, "model", [], [["format", "laconic-model"]]])
def test_what_is_not_an_object_is_refused(data):
    with pytest.raises(ValueError, match="The model must be a JSON object"):
        model_from_dict(data)


def text_with(old, new):
    text = json.dumps(small_model())
    assert old in text
    return text.replace(old, new).encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be JSON"),
        (b"not json", "must be JSON"),
        (b"\x80\x02}q\x00.", "must be text in UTF-8"),
        (b"\x00\x01\x02", "must be JSON"),
        (json.dumps(small_model()).encode()[:-30], "may be incomplete"),
        (json.dumps(small_model()).encode() + b"{}", "must be JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (text_with("0.25", "1e999"), "intercept must be a finite number"),
        (text_with("0.25", "-1e999"), "intercept must be a finite number"),
        (text_with("0.25", "9" * 5000), "intercept must be a finite number"),
        (text_with("0.25", "9" * 400), "intercept must be a finite number"),
        (text_with("0.25", "NaN"), "Got NaN"),
        (text_with("0.25", "-Infinity"), "Got -Infinity"),
        (text_with('"task"', '"loss": 1, "task"'), "Got 'loss' more than once"),
        (text_with('"version": 1', '"version": 7'), "pip install --upgrade laconic"),
        (json.dumps(small_model()).encode("utf-16"), "must be text in UTF-8"),
    ],
)
def test_unreadable_files_are_refused(content, message, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load_model(path)
    assert type(caught.value) is ValueError
    assert repr(str(path)) in str(caught.value)


def test_files_that_are_too_large_are_refused(tmp_path):
    path = tmp_path / "model.json"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(ValueError, match=r"at most 67108864 bytes\. Got a larger file"):
        load_model(path)


def test_text_is_what_a_file_holds(tmp_path):
    model = fitted_classifier()
    save_model(model, tmp_path / "model.json")
    assert (tmp_path / "model.json").read_text("utf-8") == to_json(model)
    assert model_schema() == SCHEMA
    assert SCHEMA["$id"].endswith(f":{json.loads(to_json(model))['version']}")


def test_missing_file_keeps_the_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "model.json")


class HalvedLoss(SquaredLoss):
    def gradients(self, y, raw_predictions):
        return super().gradients(y, raw_predictions) / 2


def test_custom_loss_cannot_be_saved(tmp_path):
    model = fitted_regressor(loss=HalvedLoss())
    with pytest.raises(ValueError, match=r"HalvedLoss, whose code .* ensemble_\.to_frame\(\)"):
        save_model(model, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_only_fitted_rule_models_can_be_saved(tmp_path):
    with pytest.raises(TypeError, match=r"Got dict\. .*pipeline\[-1\]"):
        save_model({}, tmp_path / "model.json")
    with pytest.raises(NotFittedError):
        save_model(RuleBoostingRegressor(), tmp_path / "model.json")


def test_each_rule_needs_its_certificate():
    model = fitted_regressor()
    model.ensemble_ = model.ensemble_[:1]
    with pytest.raises(ValueError, match="1 rules in 'ensemble_' and 4 in 'search_results_'"):
        model_to_dict(model)


def test_what_could_not_be_loaded_is_not_saved():
    model = fitted_classifier()
    model.task_ = Classification(LogisticLoss(), np.array([b"no", b"yes"]))
    with pytest.raises(ValueError, match=r"cannot be saved\. classes\[0\] must be a string"):
        model_to_dict(model)


def test_failed_writing_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    save_model(fitted_regressor(), path)
    before = path.read_bytes()

    def fail(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        save_model(fitted_classifier(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_saving_follows_links_and_spares_folders(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    save_model(fitted_regressor(), link)
    assert link.is_symlink()
    assert load_model(target).ensemble_.n_rules == 4
    with pytest.raises(ValueError, match="folder or a device"):
        save_model(fitted_regressor(), tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        save_model(fitted_regressor(), tmp_path / "no" / "model.json")


def test_saving_respects_the_permissions_of_new_files(tmp_path):
    (tmp_path / "other").touch()
    save_model(fitted_regressor(), tmp_path / "model.json")
    assert (tmp_path / "model.json").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_files_are_readable_text(tmp_path):
    path = tmp_path / "model.json"
    save_model(fitted_classifier(), path)
    text = path.read_text("utf-8")
    assert "grün" in text
    assert text.endswith("}\n")
