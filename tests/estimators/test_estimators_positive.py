"""The class that positive weights vote for: chosen in one place, and the same model otherwise."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from commands import refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from laconic import (
    RuleBoostingClassifier,
    RuleBoostingClassifierCV,
    load_model,
    save_model,
    scan,
)
from laconic.export import to_json, to_onnx, to_pmml, to_python, to_scorecard, to_sql

LABELS = {
    "texts": ("no", "yes"),
    "booleans": (False, True),
    "whole numbers": (0, 1),
    "numbers": (1.0, 2.0),
}


def customers(labels=("no", "yes"), n_rows=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(18, 90, n_rows), "code": rng.choice([*"abc"], n_rows)})
    is_second = (X["age"] > 50) ^ (X["code"] == "a") ^ (rng.random(n_rows) < 0.1)
    return X, np.array(labels)[is_second.to_numpy().astype(int)]


def fitted(positive, labels=("no", "yes"), **parameters):
    model = RuleBoostingClassifier(3, positive=positive, **parameters)
    return model.fit(*customers(labels))


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("strategy", ["joint", "stagewise", "polished", "global"])
def test_the_same_model_with_opposite_weights(kind, strategy):
    first, second = labels = LABELS[kind]
    X, y = customers(labels)
    plain = fitted(None, labels, strategy=strategy)
    same = fitted(second, labels, strategy=strategy)
    other = fitted(np.array(labels)[0], labels, strategy=strategy)
    assert same.ensemble_ == plain.ensemble_
    assert [term.query for term in other.ensemble_] == [term.query for term in plain.ensemble_]
    weights = [[term.weight for term in model.ensemble_] for model in (plain, other)]
    assert_allclose(weights[1], -np.array(weights[0]))
    assert_array_equal(other.classes_, labels)
    assert other.task_.labels == [second, first]
    assert_array_equal(other.predict(X), plain.predict(X))
    assert_allclose(other.predict_proba(X), plain.predict_proba(X))
    assert_allclose(other.decision_function(X), plain.decision_function(X))
    staged = zip(other.staged_decision_function(X), plain.staged_decision_function(X), strict=True)
    for ours, theirs in staged:
        assert_allclose(ours, theirs, atol=1e-12)
    assert other.score(X, y) == plain.score(X, y)


def test_texts_speak_of_the_positive_class():
    model = fitted("no")
    X, y = customers()
    assert str(model).startswith("Log odds of no")
    assert model.task_.weights_sentence == "Positive weights vote for no, negative weights for yes."
    content = model.report(X, y).to_dict()
    assert content["model"]["class_labels"] == ["yes", "no"]
    row = model.explain(X)[0]
    assert "odds of no" in str(row)


@pytest.mark.parametrize(
    ("positive", "labels", "message"),
    [
        ("ja", ("no", "yes"), r"one of the classes of the target, \['no', 'yes'\]\. Got 'ja'"),
        ("1", (0, 1), r"one of the classes of the target, \[0, 1\]\. Got '1'"),
        (
            ["no"],
            ("no", "yes"),
            r"must be one of two classes \(a str, a bool or a number\) or None",
        ),
    ],
)
def test_other_labels_are_refused(positive, labels, message):
    with pytest.raises(ValueError, match=message):
        fitted(positive, labels)


def test_three_classes_are_refused():
    X, _ = customers()
    with pytest.raises(
        ValueError, match=r"is for two classes: .* Got 3 classes, \['a', 'b', 'c'\]"
    ):
        RuleBoostingClassifier(1, positive="a").fit(X[["age"]], X["code"])


def test_monotone_features_are_those_of_the_positive_class():
    rising = fitted("no", monotonic_cst={"age": 1}, slopes=False)
    X = pd.DataFrame({"age": np.arange(18, 90), "code": "b"})
    shares = rising.predict_proba(X)[:, 0]
    assert (np.diff(shares) >= 0).all()


@pytest.mark.parametrize("positive", ["no", "yes"])
def test_saved_models_and_edits_keep_it(positive, tmp_path):
    X, y = customers()
    model = fitted(positive)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.get_params()["positive"] == loaded.settings_.positive == positive
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for edited in (model.edit(X, y, drop=[1]), loaded.edit(X, y, drop=[1])):
        assert edited.task_.labels[1] == edited.get_params()["positive"] == positive
        assert edited.score(X, y) > 0.5
    with pytest.raises(ValueError, match="classes must stay the same"):
        model.set_params(warm_start=True, positive={"no": "yes"}.get(positive, "no")).fit(X, y)


def test_cross_validated_size_keeps_it():
    X, y = customers()
    model = RuleBoostingClassifierCV(3, positive="no").fit(X, y)
    assert model.task_.labels == ["yes", "no"]
    assert model.n_terms_ == RuleBoostingClassifierCV(3).fit(X, y).n_terms_


def test_tables_in_parts(tmp_path):
    X, y = customers()
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    parameters = {"positive": "no", "slopes": False, "class_weight": {"no": 2.0}}
    in_parts = RuleBoostingClassifier(2, **parameters).fit(scan(tmp_path / "rows.parquet"), "y")
    in_memory = RuleBoostingClassifier(2, **parameters).fit(X, y)
    assert str(in_parts) == str(in_memory)
    assert_array_equal(in_parts.predict(X), in_memory.predict(X))


def test_exports_predict_the_same_classes():
    # Each export is compared with the model, on rows at the edges of its conditions.
    X, _ = customers()
    model = fitted("no")
    assert json.loads(to_json(model))["classes"] == ["yes", "no"]
    assert "'no'" in to_sql(model, "duckdb", output="prediction")
    predicted = re.findall(r'<Constant dataType="string">(yes|no)</Constant>', to_pmml(model))
    assert predicted == ["no", "yes"]
    assert to_scorecard(model).task.labels == ["yes", "no"]
    program = {}
    exec(to_python(model), program)
    rows = X.to_dict("records")
    found = [program["predict"](row) for row in rows]
    assert [each["prediction"] for each in found] == model.predict(X).tolist()
    shares = np.array([each["probabilities"] for each in found])
    assert_allclose(shares, model.predict_proba(X)[:, ::-1])
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    feed = {
        "age": X[["age"]].to_numpy(np.float64),
        "code": X[["code"]].to_numpy(object),
    }
    feed = {each.name: feed[each.name] for each in session.get_inputs()}
    classes, shares = session.run(["prediction", "probabilities"], feed)
    assert_array_equal(classes, model.predict(X))
    assert_allclose(shares, model.predict_proba(X))


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "neg_brier_score", "accuracy"])
def test_scorers_of_scikit_learn(scoring):
    X, y = customers((0, 1))
    scores = [
        cross_val_score(RuleBoostingClassifier(2, positive=positive), X, y, scoring=scoring, cv=3)
        for positive in (None, 0)
    ]
    assert_allclose(scores[1], scores[0])


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_meta_estimators_of_scikit_learn(labels):
    X, y = customers(labels)
    first, last = (RuleBoostingClassifier(2, positive=positive) for positive in (labels[0], None))
    calibrated = [CalibratedClassifierCV(each, cv=3).fit(X, y) for each in (first, last)]
    assert_allclose(calibrated[0].predict_proba(X), calibrated[1].predict_proba(X))
    predicted = [cross_val_predict(each, X, y, cv=3) for each in (first, last)]
    assert_array_equal(*predicted)
    grid = {"positive": [None, *labels]}
    search = GridSearchCV(first, grid, scoring="roc_auc", cv=3).fit(X, y)
    assert_allclose(np.ptp(search.cv_results_["mean_test_score"]), 0, atol=1e-12)


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")])
def test_tools_that_encode_the_classes_take_their_codes(labels):
    X, y = customers(labels)
    first, last = (RuleBoostingClassifier(2, positive=positive) for positive in (0, None))
    for tool in (
        lambda each: StackingClassifier([("rules", each)], LogisticRegression(), cv=3),
        lambda each: VotingClassifier([("rules", each)], voting="soft"),
    ):
        made = [tool(each).fit(X, y) for each in (first, last)]
        assert_array_equal(made[0].classes_, sorted(labels))
        assert_allclose(*(each.predict_proba(X) for each in made))
    for method in ("predict_proba", "decision_function"):
        found = [cross_val_predict(each, X, y, method=method, cv=3) for each in (first, last)]
        assert_allclose(*found)


class TestCommands:
    @pytest.fixture
    def table(self, tmp_path):
        X, y = customers()
        path = tmp_path / "rows.csv"
        X.assign(y=y, bought=y == "yes").to_csv(path, index=False)
        return path

    def test_fit_and_show(self, run, table, tmp_path):
        model = tmp_path / "model.json"
        options = ("--target", "y", "--drop", "bought", "--n-terms", 2, "--positive", "no")
        code, out, _ = run("fit", table, *options, "--output", model)
        assert code == 0
        assert "Positive weights vote for no" in out
        assert "--positive no" in run("show", model)[1]
        code, out, _ = run("predict", model, table, "--probabilities")
        assert out.splitlines()[0] == "prediction,probability_yes,probability_no"
        code, out, _ = run("cv", table, *options, "--folds", 3)
        assert code == 0

    def test_booleans_are_written_as_in_files(self, run, table, tmp_path):
        model = tmp_path / "model.json"
        options = ("--target", "bought", "--drop", "y", "--n-terms", 2, "--positive", "false")
        assert run("fit", table, *options, "--output", model)[0] == 0
        assert load_model(model).settings_.positive is False

    def test_refusals(self, run, table):
        result = run("fit", table, "--target", "y", "--drop", "bought", "--positive", "ja")
        assert refused(
            result, "--positive must name classes of the target, 'no' and 'yes'. Got 'ja'"
        )
        result = run("fit", table, "--target", "age", "--positive", "no")
        assert refused(result, "--positive needs a target of classes")
        result = run("fit", table, "--target", "code", "--positive", "a")
        assert refused(result, "for two classes")

    def test_models_for_different_classes_are_not_compared(self, run, tmp_path):
        for positive in ("no", "yes"):
            save_model(fitted(positive), tmp_path / f"{positive}.json")
        result = run("compare", tmp_path / "no.json", tmp_path / "yes.json")
        assert refused(result, "(positive: 'no')", "(positive: 'yes')")
