"""Scores of predictions, beside those of a constant, and remarks about them"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import precision_score, recall_score

from laconic import RuleBoostingClassifier, RuleBoostingRegressor, load_model, save_model
from laconic.losses import SquaredLoss
from laconic.models.scores import (
    ScoredRows,
    best_constant,
    describe_optimality,
    describe_unseen,
    merge_counts,
    remarks,
    training_constant,
)
from laconic.models.tasks import TASKS
from laconic.terms.record import ClassCounts, FewerTerms, FitRecord, RowScores


def rare_classes(n_rows=400, seed=0):
    """Make a table with a class that no row is likely to belong to."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 2))
    return X, np.where(generator.random(n_rows) < 0.05 + 0.2 * (X[:, 0] > 1), "ill", "well")


def scored(model, X, y, weights=None):
    task = model.task_
    return ScoredRows(task, task.numbers(y, len(y)), model.predictions_for(X).raw, weights, len(y))


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 401.0)])
def test_scores_without_a_model_are_those_of_a_dummy(weights):
    X, y = rare_classes()
    rows = scored(RuleBoostingClassifier(n_terms=1).fit(X, y), X, y, weights)
    found = rows.scores("training", rows.best_constant).constants
    dummy = DummyClassifier(strategy="prior").fit(X, y, sample_weight=weights)
    assert found["accuracy"] == pytest.approx(dummy.score(X, y, sample_weight=weights))
    assert found["auc"] == 0.5
    assert found["average_precision"] == pytest.approx(np.average(y == "ill", weights=weights))
    number = X.sum(axis=1) + np.random.default_rng(1).normal(size=len(X))
    rows = scored(RuleBoostingRegressor(n_terms=1).fit(X, number), X, number, weights)
    dummy = DummyRegressor().fit(X, number, sample_weight=weights)
    assert_allclose(rows.best_constant, dummy.predict(X[:1]))
    found = rows.scores("training", rows.best_constant).constants
    assert found["r2"] == pytest.approx(0.0, abs=1e-12)


def test_precision_and_recall_are_those_of_scikit_learn():
    X, y = rare_classes()
    model = RuleBoostingClassifier(n_terms=3, class_weight="balanced").fit(X, y)
    weights = np.arange(1.0, 401.0)
    counts = scored(model, X, y, weights).scores("training", np.zeros(1)).classes
    options = {"labels": ["ill", "well"], "average": None, "sample_weight": weights}
    predicted = model.predict(X)
    assert [each.label for each in counts] == ["ill", "well"]
    precision, recall = (f(y, predicted, **options) for f in (precision_score, recall_score))
    assert_allclose([each.precision for each in counts], precision)
    assert_allclose([each.recall for each in counts], recall)
    [ill, _] = merge_counts([counts, counts])
    assert ill.n_correct == 2 * counts[0].n_correct
    assert ClassCounts("none", 0.0, 0.0, 0.0).precision is None
    assert ClassCounts("none", 0.0, 0.0, 0.0).recall is None


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_parts", [1, 7])
def test_parts_of_a_table_are_scored_like_the_whole(n_classes, n_parts):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(500, 2))
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (n_classes - 2) * (X[:, 1] > 0)]
    y[:40] = "a"
    weights = generator.integers(0, 3, size=500).astype(float)
    model = RuleBoostingClassifier(n_terms=2).fit(X, y)
    whole = scored(model, X, y, weights)
    parts = (
        (whole.numbers[rows], whole.raw[rows], weights[rows])
        for rows in np.array_split(np.arange(500), n_parts)
    )
    merged = ScoredRows.merged(model.task_, parts)
    assert merged.n_rows == 500
    assert len(merged.raw) <= 4 * n_classes
    constant = whole.best_constant
    assert_allclose(merged.best_constant, constant)
    one, other = (each.scores("training", constant) for each in (whole, merged))
    assert one.values == pytest.approx(other.values)
    assert one.constants == pytest.approx(other.constants)
    assert one.classes == other.classes


@pytest.mark.parametrize("parts", [[], [(np.empty(0), np.empty(0), None)]])
def test_no_rows_have_no_scores(parts):
    task = TASKS["regression"](SquaredLoss())
    with pytest.raises(ValueError, match=r"rows with a target and a positive weight\. Got none"):
        ScoredRows.merged(task, parts)
    with pytest.raises(ValueError, match="positive weight"):
        ScoredRows(task, np.ones(2), np.ones(2), np.zeros(2), 2)


def test_rows_without_weight_are_of_no_class():
    X, y = rare_classes()
    model = RuleBoostingClassifier(n_terms=1).fit(X, y)
    values = scored(model, X, y, (y == "ill").astype(float)).by_metric()
    assert "auc" not in values
    task = TASKS["regression"](SquaredLoss())
    numbers = np.array([1.0, 1.0, 2.0])
    rows = ScoredRows(task, numbers, numbers, np.array([1.0, 2.0, 0.0]), 3)
    assert "r2" not in rows.by_metric()


@pytest.mark.parametrize("strategy", ["joint", "stagewise", "polished"])
def test_the_constant_of_the_training_rows_is_known(strategy, tmp_path):
    X, y = rare_classes()
    model = RuleBoostingClassifier(n_terms=2, strategy=strategy, node_limit=None).fit(X, y)
    odds = np.log(np.mean(y == model.classes_[1]) / np.mean(y == model.classes_[0]))
    save_model(model, tmp_path / "model.json")
    for each in (model, load_model(tmp_path / "model.json")):
        assert_allclose(training_constant(each), [odds], rtol=1e-6)
    others = {"class_weight": "balanced"}, {"fit_intercept": False}
    for parameters in others:
        other = clone(model).set_params(**parameters).fit(X, y)
        assert training_constant(other) is None


def test_constants_of_targets_that_are_far_from_ordinary():
    task = TASKS["regression"](SquaredLoss())
    for scale in (1e-300, 1e150):
        assert_allclose(best_constant(task, scale * np.array([1.0, 3.0]), None), [2.0 * scale])


@pytest.fixture(scope="module")
def model():
    X, y = rare_classes()
    return RuleBoostingClassifier(n_terms=4, max_conditions=2).fit(X, y)


def test_a_model_that_is_worse_than_none_says_so(model):
    scores = RowScores("test", 400, {"accuracy": 0.9285}, constants={"accuracy": 0.9388})
    [sentence] = remarks(model, scores)
    assert sentence.startswith(
        "On test rows the model is worse than no model: accuracy 0.9285 instead of 0.9388."
    )
    assert list(remarks(model, replace(scores, constants={"accuracy": 0.9285}))) == []
    assert list(remarks(model, replace(scores, constants={}))) == []
    loss = RowScores("test", 400, {"log_loss": 0.5}, constants={"log_loss": 0.4})
    assert "n_terms='auto'" in next(remarks(model, loss))


def test_a_class_that_is_never_predicted_is_named(model):
    classes = (ClassCounts("ill", 40.0, 0.0, 0.0), ClassCounts("well", 360.0, 400.0, 360.0))
    scores = RowScores("test", 400, {"auc": 0.7}, classes=classes)
    assert list(remarks(model, scores)) == [
        "On test rows the model never predicts ill (10% of them). Its probabilities still rank "
        "rows (AUC 0.7). Choose a threshold below 0.5 for them, or set class_weight='balanced'."
    ]
    absent = (ClassCounts("ill", 0.0, 0.0, 0.0), ClassCounts("well", 400.0, 400.0, 400.0))
    assert list(remarks(model, replace(scores, classes=absent))) == []


def test_an_area_within_its_error_ranks_no_rows(model):
    classes = (ClassCounts("well", 90, 100, 90), ClassCounts("ill", 10, 0, 0))
    for error, is_told in ((0.01, True), (0.05, False)):
        scores = RowScores("test", 100, {"auc": 0.57}, {"auc": error}, {"auc": 0.5}, classes)
        [sentence] = remarks(model, scores)
        assert ("still rank rows" in sentence) == is_told


def test_fewer_terms_are_named(model):
    scores = RowScores("cross-validation", 400, {"log_loss": 0.2215}, fewer=FewerTerms(2, 0.2175))
    assert list(remarks(model, scores)) == [
        "With 2 terms, the log loss on held-out rows is 0.2175, within one standard error of the "
        "best, and 0.2215 with 4: try n_terms=2."
    ]
    none = replace(scores, fewer=FewerTerms(0, 0.22))
    assert next(remarks(model, none)).startswith("No terms at all would do as well on held-out")


def test_what_is_proven_is_said_with_its_limits(model):
    words = describe_optimality(model)
    assert words.startswith("Each of the 4 terms is proven optimal given those before it")
    assert "on the training rows" in words
    assert "up to 2 conditions" in words
    assert "thresholds per numeric column" in words


def test_scores_on_unseen_rows_stand_beside(model):
    assert model.record_ is None
    assert describe_unseen(model) == "How well the model predicts other rows is not known."
    X, y = rare_classes()
    other = RuleBoostingClassifier(n_terms=1).fit(X, y)
    known = {"accuracy": 0.9, "auc": 0.7}
    training = RowScores("training", 400, {"auc": 0.9})
    test = RowScores("test", 100, known, constants={"accuracy": 0.9, "auc": 0.5})
    other.record_ = FitRecord("y", 400, None, {}, (training, test))
    assert describe_unseen(other) == "On test rows: AUC 0.7 (no model: 0.5)."


def test_many_classes_that_are_never_predicted_are_counted():
    counts = tuple(ClassCounts(f"c{place}", 1, 0, 0) for place in range(9))
    X, y = rare_classes()
    model = RuleBoostingClassifier(n_terms=1).fit(X, y)
    [words, *_] = remarks(model, RowScores("test", 9, {}, classes=counts))
    assert "c4 (11% of them) and 4 more." in words
