"""Saved estimators: exact round trips, and a clear refusal of files that hold no model."""

import copy
import io
import json
import os
import pickle
import re
import tracemalloc

import joblib
import jsonschema
import numpy as np
import pandas as pd
import pytest
from exports import fitted_classifier, fitted_regressor, mixed_table, small_model
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from laconic import (
    Condition,
    Query,
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    RuleBoostingRegressor,
    RuleBoostingRegressorCV,
    load_model,
    save_model,
)
from laconic.candidates.candidates import candidate_conditions
from laconic.estimators.files import model_from_dict
from laconic.export import model_schema, model_to_dict, to_json
from laconic.export.json.files import MAX_BYTES
from laconic.losses import SquaredLoss
from laconic.models.tasks import Classification, Regression
from laconic.search import search

SCHEMA = model_schema()


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
    assert loaded.feature_importances_.tobytes() == model.feature_importances_.tobytes()
    save_model(loaded, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()
    jsonschema.validate(json.loads(path.read_text("utf-8")), SCHEMA)


@pytest.mark.parametrize("search", ["beam", "reference"])
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
    loaded.set_params(n_terms=4, warm_start=True).fit(X, y)
    assert loaded.ensemble_ == RuleBoostingRegressor(4).fit(X, y).ensemble_


def with_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


COPIES = [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)), with_joblib]


LOSSES = [
    (Classification, "logistic"),
    (Classification, "multinomial"),
    *((Regression, loss) for loss in Regression.losses),
]


@pytest.mark.parametrize("duplicate", COPIES, ids=["deepcopy", "pickle", "joblib"])
@pytest.mark.parametrize(("task", "loss"), LOSSES)
def test_models_of_every_loss_can_be_copied(task, loss, duplicate):
    """The scores of Poisson, gamma and Tweedie models were functions that pickle cannot find."""
    X = mixed_table()
    n_values = {"logistic": 2, "multinomial": 3}.get(loss, 5)
    y = X["count"].to_numpy() % n_values + 1
    is_regression = task is Regression
    simple = RuleBoostingRegressor if is_regression else RuleBoostingClassifier
    chosen = RuleBoostingRegressorCV if is_regression else RuleBoostingClassifierCV
    settings = {"loss": loss} if is_regression else {}
    for model in (simple(2, **settings), chosen(**settings)):
        model.fit(X, y)
        assert type(model.task_) is task
        assert model.loss_.name == loss
        for original in (model, model_from_dict(model_to_dict(model))):
            copied = duplicate(original)
            assert_same_model(copied, original, X)
            assert copied.score(X, y) == original.score(X, y)


def test_loss_other_than_the_default_is_kept():
    model = fitted_classifier(loss=SquaredLoss())
    loaded = model_from_dict(model_to_dict(model))
    assert loaded.loss == loaded.loss_ == SquaredLoss()
    assert_same_model(loaded, model, mixed_table())


def test_every_relation_round_trips():
    data = small_model()
    assert model_to_dict(model_from_dict(data)) == data


def test_byte_order_mark_is_welcome(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(small_model()), encoding="utf-8-sig")
    assert load_model(path).ensemble_.n_terms == 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"l2_regularization": 0.5, "max_conditions": 2},
        {"node_limit": None, "time_limit": 60.0, "strategy": "polished"},
        {"feature_costs": {"flag": np.inf}, "weight_signs": "positive"},
        {"categories": "sets", "max_categories": None, "max_thresholds": None},
        {"strategy": "stagewise", "search": "greedy"},
    ],
)
def test_loaded_parameters_are_those_of_the_fit(parameters):
    model = fitted_regressor(**parameters)
    loaded = model_from_dict(json.loads(json.dumps(model_to_dict(model))))
    assert loaded.get_params() == model.get_params()
    assert loaded.settings_ == model.settings_
    assert (loaded.l2_regularization_, loaded.n_candidates_) == (
        model.l2_regularization_,
        model.n_candidates_,
    )
    X = mixed_table()
    again = clone(loaded).fit(X, X["count"].to_numpy() / 3 + X["flag"].to_numpy())
    assert again.ensemble_ == model.ensemble_


def test_loaded_parameters_are_what_came_of_functions_and_positions():
    def conditions(X):
        return candidate_conditions(X, max_thresholds=2).conditions

    X = mixed_table()
    y = X["count"].to_numpy() / 3 + X["flag"].to_numpy()
    rule = Query((Condition("count", ">", 2),))
    model = RuleBoostingRegressor(
        3, conditions=conditions, monotonic_cst=[0, 0, 0, 1], initial_terms=["count > 2"]
    ).fit(X, y)
    loaded = model_from_dict(json.loads(json.dumps(model_to_dict(model))))
    assert loaded.settings_ == model.settings_
    assert tuple(loaded.conditions) == tuple(conditions(X))
    assert loaded.monotonic_cst == {"count": 1}
    assert loaded.initial_terms == [rule]
    assert clone(loaded).fit(X, y).ensemble_ == model.ensemble_


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
    with pytest.raises(ValueError, match=r"at most 16777216 bytes\. Got a larger file"):
        load_model(path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"[" + b"[]," * 3_000_000 + b"[]]", r"at most 524288 entries\. Got more"),
        (b"[" * 8_000_000, r"at most 524288 entries\. Got more"),
        (b"[" * 400_000, "nested too deeply"),
        (b'{"' + b"a" * 15_000_000 + b'": 0}', "must have the key 'format'"),
        (b"{" + b",".join(b'"%d": 0' % i for i in range(300_000)) + b"}", "'9' and 299990 more"),
        (b'{"format": ' + b"9" * 15_000_000 + b"}", "must have the key"),
    ],
    ids=["many lists", "deep lists", "deeper than Python allows", "a key", "many keys", "a number"],
)
def test_hostile_files_are_refused_in_few_words(tmp_path, content, match):
    path = tmp_path / "model.json"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=match) as caught:
            load_model(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(str(caught.value)) < 500 + len(str(path))
    assert peak < 200_000_000


def test_text_is_what_a_file_holds(tmp_path):
    model = fitted_classifier()
    save_model(model, tmp_path / "model.json")
    assert (tmp_path / "model.json").read_text("utf-8") == to_json(model)
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
    assert load_model(target).ensemble_.n_terms == 4
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


def test_conditions_read_the_same_after_loading(tmp_path):
    X = [[4, 0, 1.5], [5, 0, 2.5], [6, 1, 1.5], [7, 1, 2.5]] * 5
    model = RuleBoostingRegressor(3).fit(X, [0, 9, 3, 4] * 5)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert str(loaded.ensemble_) == str(model.ensemble_)
    assert "x0 == 5" in str(model.ensemble_)
    assert str(loaded.stages[1]) == str(model.stages[1])


def test_a_file_need_not_know_the_kinds_of_features():
    data = model_to_dict(RuleBoostingRegressor(1).fit([[0], [1]], [0, 1]))
    assert data.pop("feature_kinds") == {"x0": "boolean"}
    assert data.pop("feature_importances") == {"x0": 1.0}
    assert not hasattr(model_from_dict(data), "feature_importances_")
    assert str(model_from_dict(data).ensemble_[0].query) in ("x0 > 0", "x0 <= 0")
    assert "x0 " in str(model_from_dict(data).ensemble_)


def test_files_of_models_of_an_own_search_are_the_same_every_time():
    def own(problem, limits, **options):
        return search(problem, "greedy")

    model = RuleBoostingRegressor(1, search=own).fit([[1], [2], [3], [4]], [5, 5, 1, 1])
    assert model_from_dict(model_to_dict(model)).settings_.search == "own"


@pytest.mark.parametrize(("name", "value"), [("positive", 1), ("class_weight", "balanced")])
def test_settings_of_classes_in_the_file_of_a_regression(tmp_path, name, value):
    data = model_to_dict(RuleBoostingRegressor(1).fit([[1], [2], [3], [4]], [5, 5, 1, 1]))
    data["settings"][name] = value
    with pytest.raises(ValueError, match=f"settings.{name} must be null for regression"):
        model_from_dict(data)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=r"model\.json"):
        load_model(path)
