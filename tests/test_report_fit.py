"""Scores over size, calibration, residuals, coverage: compared with what the models say."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, roc_auc_score

from laconic.report.coverage import summarize_coverage
from laconic.report.fit import summarize_calibration, summarize_residuals
from reports import classifier, regressor


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
    assert overlap["n_rows_by_n_rules"] == [1, 1, 2]
    assert overlap["pairs"] == [[3, 2], [2, 2]]


def test_a_rule_without_rows_has_no_mean():
    rules, overlap = summarize_coverage(np.zeros((2, 1), dtype=bool), np.array([1.0, 0.0]))
    assert rules[0]["mean_target"] is None
    assert overlap["n_rows_by_n_rules"] == [2]
