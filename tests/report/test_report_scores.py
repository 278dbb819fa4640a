"""Scores over size, calibration, residuals, coverage: compared with what the models say."""

import numpy as np
import pytest
from reports import classifier, regressor
from sklearn.metrics import mean_absolute_error, roc_auc_score

from laconic import RuleBoostingClassifier
from laconic.report.features import MAX_GROUPS, group_rows, summarize_coverage
from laconic.report.scores import summarize_calibration, summarize_residuals
from laconic.terms.record import FitRecord, RowScores


def test_the_path_of_a_classifier_is_that_of_its_stages():
    model, X, y = classifier()
    metrics = {m["name"]: m["values"] for m in model.report(X, y).to_dict()["path"]["metrics"]}
    stages = [np.mean(predicted == y) for predicted in model.staged_predict(X)]
    assert metrics["accuracy"] == pytest.approx([np.mean(y == "died"), *stages])
    assert metrics["auc"][0] == 0.5
    assert metrics["auc"][-1] == roc_auc_score(y == "survived", model.decision_function(X))
    shares = np.array([np.mean(y == label) for label in model.classes_])
    assert metrics["log_loss"][0] == pytest.approx(-shares @ np.log(shares))


def test_the_path_of_a_regressor_is_that_of_its_stages():
    model, X, y = regressor()
    metrics = {m["name"]: m["values"] for m in model.report(X, y).to_dict()["path"]["metrics"]}
    assert metrics["r2"][-1] == pytest.approx(model.score(X, y))
    stages = [mean_absolute_error(y, predicted) for predicted in model.staged_predict(X)]
    assert metrics["mae"][1:] == pytest.approx(stages)


def test_one_class_alone_has_no_area_under_the_curve():
    model, X, y = classifier()
    survived = y == "survived"
    metrics = model.report(X[survived], y[survived]).to_dict()["path"]["metrics"]
    assert [metric["name"] for metric in metrics] == ["accuracy", "log_loss"]


def test_groups_of_equal_probabilities_are_kept_together():
    probabilities = np.array([0.25, 0.25, 0.25, 0.25, 0.75, 0.75])
    is_positive = np.array([True, False, False, False, True, True])
    calibration = summarize_calibration(is_positive, probabilities - 0.5, probabilities)
    low, high = calibration["bins"]
    assert (low["n_rows"], low["predicted"], low["observed"]) == (4, 0.25, 0.25)
    assert low["low"] < 0.25 < low["high"]
    assert (high["n_rows"], high["observed"], high["high"]) == (2, 1.0, 1.0)
    assert calibration["calibration_error"] == pytest.approx(2 * 0.25 / 6)
    assert calibration["confusion"] == [[3, 0], [1, 2]]


def test_many_probabilities_share_ten_groups():
    probabilities = np.random.default_rng(0).random(1000)
    calibration = summarize_calibration(probabilities > 0.5, probabilities - 0.5, probabilities)
    n_rows = [entry["n_rows"] for entry in calibration["bins"]]
    assert len(n_rows) == 10
    assert sum(n_rows) == 1000
    assert max(n_rows) - min(n_rows) <= 2


def test_residuals_are_target_minus_prediction():
    y, predictions = np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])
    residuals = summarize_residuals(y, predictions, np.array([2, 0]))
    assert residuals["mean"] == 1.0
    assert residuals["points"] == [[1.0, 1.0], [1.0, 2.0]]
    assert sum(residuals["histogram"]["counts"]) == 3


def test_rows_are_counted_per_rule_per_pair_and_per_number_of_rules():
    covered = np.array([[True, True], [True, False], [False, False], [True, True]])
    rules, overlap = summarize_coverage(covered, np.array([1.0, 0.0, 0.0, 1.0]))
    assert [rule["n_covered"] for rule in rules] == [3, 2]
    assert [rule["n_covered_alone"] for rule in rules] == [1, 0]
    assert rules[1]["mean_target"] == 1.0
    assert rules[1]["mean_target_elsewhere"] == 0.0
    assert overlap["n_rows_by_n_terms"] == [1, 1, 2]
    assert overlap["pairs"] == [[3, 2], [2, 2]]


def test_a_rule_without_rows_has_no_mean():
    rules, overlap = summarize_coverage(np.zeros((2, 1), dtype=bool), np.array([1.0, 0.0]))
    assert rules[0]["mean_target"] is None
    assert overlap["n_rows_by_n_terms"] == [2]


def test_rows_are_grouped_by_the_rules_that_apply():
    covered = np.array([[1, 1], [1, 0], [0, 0], [1, 1], [1, 1]], dtype=bool)
    target = np.array([1.0, 0.0, 0.0, 1.0, 0.0])
    grouped = group_rows(covered, target)
    assert grouped["groups"][0] == {
        "terms": [1, 2],
        "n_rows": 3,
        "mean_target": pytest.approx(2 / 3),
    }
    assert sorted(group["terms"] for group in grouped["groups"]) == [[], [1], [1, 2]]
    assert grouped["max_rows_left_out"] == 0
    few = group_rows(covered, target, min_rows=2)
    assert [group["n_rows"] for group in few["groups"]] == [3]
    assert few["max_rows_left_out"] == 1


def test_no_more_groups_are_listed_than_a_page_takes():
    numbers = np.arange(MAX_GROUPS + 50)
    covered = (numbers[:, None] >> np.arange(12) & 1).astype(bool)
    grouped = group_rows(np.vstack([covered, covered[:10]]), np.zeros(len(numbers) + 10))
    assert len(grouped["groups"]) == MAX_GROUPS
    assert [group["n_rows"] for group in grouped["groups"][:11]] == [2] * 10 + [1]
    assert grouped["max_rows_left_out"] == 1


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_no_model_is_the_best_constant_for_the_training_rows(class_weight):
    model, X, y = classifier()
    model.set_params(class_weight=class_weight).fit(X, y)
    survived = y == "survived"
    rows = [*range(100), *np.flatnonzero(survived)]
    report = model.report(X.iloc[rows], y.iloc[rows])
    metrics = report.to_dict()["path"]["metrics"]
    constants = {metric["name"]: metric["constant"] for metric in metrics}
    share, known = np.mean(survived.iloc[rows]), np.mean(survived)
    expected = -share * np.log(known) - (1 - share) * np.log(1 - known)
    if class_weight is None:
        assert constants["log_loss"] == pytest.approx(expected)
        assert constants["accuracy"] == pytest.approx(1 - share)
        assert "is the best constant prediction\n    for the training rows." in report.to_html()
        return
    assert "is the best constant prediction\n    for these rows." in report.to_html()
    assert constants["accuracy"] == pytest.approx(max(share, 1 - share))
    assert constants["auc"] == 0.5
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert constants["log_loss"] == pytest.approx(entropy)
    assert metrics[0]["baseline"] is None
    model, X, y = regressor()
    metrics = model.report(X, y).to_dict()["path"]["metrics"]
    constants = {metric["name"]: metric["constant"] for metric in metrics}
    assert constants["r2"] == pytest.approx(0, abs=1e-12)
    assert constants["rmse"] == pytest.approx(np.std(y))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_verdict_on_rows_of_one_class_is_fair(class_weight):
    model, X, y = classifier()
    model.set_params(class_weight=class_weight).fit(X, y)
    rows = np.flatnonzero((model.predict(X) == "survived") & (y == "died"))[:9]
    content = model.report(X.iloc[rows], y.iloc[rows]).to_dict()
    assert not any("2.22" in remark for remark in content["verdict"]["remarks"])
    empty = RuleBoostingClassifier("auto").fit(np.arange(40).reshape(-1, 1) % 2, [0, 0, 1, 1] * 10)
    assert len(empty.ensemble_) == 0
    content = empty.report([[0], [1]] * 4, [1] * 8).to_dict()
    assert "worse than no model" not in " ".join(content["verdict"]["remarks"])


def test_a_constant_target_has_no_share_that_is_explained():
    model, X, y = regressor()
    path = model.report(X[:9], np.full(9, y.mean())).to_dict()["path"]
    assert "r2" not in [metric["name"] for metric in path["metrics"]]
    assert path["headline"].startswith("Root mean squared error on the rows of this report: ")


@pytest.mark.parametrize(
    ("search", "words"), [("greedy", "greedy search"), (None, "another model")]
)
def test_a_baseline_is_scored_at_every_size(search, words):
    model, X, y = classifier()
    other, *_ = classifier(n_terms=10, search=search or "optimal")
    path = model.report(X, y, baseline=other).to_dict()["path"]
    assert path["baseline"] == words
    accuracy = path["metrics"][0]
    stages = [np.mean(predicted == y) for predicted in other.staged_predict(X)]
    assert accuracy["baseline"][1:] == pytest.approx(stages[: len(model.ensemble_)])
    assert len(accuracy["baseline"]) == min(len(accuracy["values"]), len(stages) + 1)
    assert words in model.report(X, y, baseline=other).to_html()


def test_a_baseline_must_be_a_model_for_the_same_target():
    model, X, y = classifier()
    other, *_ = regressor()
    with pytest.raises(ValueError, match="must predict the same target"):
        model.report(X, y, baseline=other)
    with pytest.raises(TypeError, match=r"a fitted rule ensemble or None\. Got str"):
        model.report(X, y, baseline="greedy")


def test_the_proof_stands_beside_scores_and_those_without_a_model():
    model, X, y = classifier()
    report = model.report(X, y)
    content = report.to_dict()
    assert content["path"]["headline"].startswith("AUC on the rows of this report: 0.")
    assert content["path"]["headline"].endswith("(no model: 0.5000).")
    assert content["path"]["headline"] in report.to_html()
    assert "proven optimal on the training rows" in report.to_html()
    assert content["verdict"]["unseen"] is None


def test_a_report_says_what_a_model_fails_at():
    model, X, y = classifier()
    swapped = np.where(y == "died", "survived", "died")
    report = model.report(X, swapped)
    [remark, *_] = report.to_dict()["verdict"]["remarks"]
    assert remark.startswith("On the rows of this report the model is worse than no model: ")
    assert "On the rows of this report the model is worse than no model: " in report.to_html()
    model.record_ = FitRecord("y", 9, None, {}, (RowScores("test", 9, {"auc": 0.75}),))
    assert model.report(X, y).to_dict()["verdict"]["unseen"] == "On test rows: AUC 0.75."
