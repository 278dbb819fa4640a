"""Tasks: targets, predictions, scores and words of classes and of numbers."""

import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)

from laconic import RuleBoostingClassifier, RuleBoostingRegressor
from laconic.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from laconic.models.tasks import TASKS, Classification, Regression, Task

ILL = Classification(LogisticLoss(), np.array(["ill", "well"]))
NUMBERS = Regression(SquaredLoss())
FINITE = st.floats(-50, 50)


class FlatLoss(SquaredLoss):
    """A loss of a user's own, whose scale nobody knows."""


def read(task, y, counted=slice(None)):
    loss = LogisticLoss() if task is Classification else SquaredLoss()
    return task.read(y, loss, n_rows=len(y), counted=counted, owner="Owner")


def test_every_task_says_everything():
    assert {"classification": Classification, "regression": Regression} == TASKS
    for task in TASKS.values():
        assert not inspect.isabstract(task)
        assert {metric.name for metric in task.metrics} >= set(task.deciding_metrics)
    assert inspect.isabstract(Task)


def test_targets_become_numbers_and_what_the_loss_expects():
    task, numbers = read(Classification, ["b", "a", "b"])
    assert task.labels == ["a", "b"]
    assert_array_equal(numbers, [1, 0, 1])
    assert_array_equal(task.for_loss(numbers), [1, -1, 1])
    assert_array_equal(task.numbers(["a", "b"], 2), [0, 1])
    task, numbers = read(Regression, [1, 2.5])
    assert task.labels is None
    assert_array_equal(task.for_loss(numbers), [1, 2.5])


def test_classes_are_those_of_rows_that_count():
    task, _ = read(Classification, np.array([1, 2, 3]), np.array([True, False, True]))
    assert task.labels == [1, 3]


@pytest.mark.parametrize(
    ("task", "y", "match"),
    [
        (ILL, ["ill"], r"shape \(2,\)"),
        (ILL, ["ill", "dead"], "'dead' as well"),
        (NUMBERS, [[1, 2]], r"shape \(2,\)"),
        (NUMBERS, [1, math.nan], "nan at row 1"),
    ],
)
def test_targets_of_other_rows_are_checked(task, y, match):
    with pytest.raises(ValueError, match=match):
        task.numbers(y, 2)


@pytest.mark.parametrize(
    ("task", "y", "match"),
    [
        (Classification, [1, 1], "Owner needs rows of two classes"),
        (Classification, ["a", None], "None at row 1"),
        (Classification, [0.5, 1.5], "Use RuleBoostingRegressor"),
        (Classification, np.array([1, "a"], dtype=object), "Got 1 as well as the text 'a'"),
        (Classification, np.array([1j, 2j]), "Complex data not supported"),
        (Classification, np.ma.array([0, 1], mask=[False, True]), "masked one at row 1"),
        (Regression, np.ma.array([0.0, 1.0], mask=[True, False]), "masked one at row 0"),
        (Regression, np.array([1j, 2.0]), "Complex data not supported"),
        (Regression, ["a", "b"], "target y of Owner must hold numbers.*'a'"),
        (Regression, [1, math.inf], "infinity"),
        (Regression, ["low", "high"], "0, 1, 2, ... for grades in an order"),
        (Regression, np.array([(True, 2.0)], "?,f8"), "survival times.*exposure"),
        (Classification, np.array([(True, 2.0)], "?,f8"), "survival times.*exposure"),
    ],
)
def test_targets_to_learn_from_are_checked(task, y, match):
    with pytest.raises(ValueError, match=match):
        read(task, y)


def test_only_the_same_classes_go_on():
    other = Classification(LogisticLoss(), np.array(["dead", "well"]))
    ILL.check_same(ILL)
    with pytest.raises(ValueError, match="classes must stay the same"):
        ILL.check_same(other)


@given(st.lists(FINITE, min_size=1))
def test_probabilities_belong_to_predictions(raw):
    raw = np.array(raw)
    probabilities = ILL.probabilities(raw)
    predicted = [ILL.labels.index(name) for name in ILL.predictions(raw)]
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(
        ILL.predicted_probabilities(raw), probabilities[np.arange(len(raw)), predicted]
    )
    assert (NUMBERS.probabilities(raw), NUMBERS.predicted_probabilities(raw)) == (None, None)
    assert_array_equal(NUMBERS.predictions(raw), raw)


@given(st.data())
def test_scores_are_those_of_scikit_learn(data):
    n_rows = data.draw(st.integers(2, 20))
    raw = np.array(data.draw(st.lists(FINITE, min_size=n_rows, max_size=n_rows)))
    weights = data.draw(
        st.none() | st.lists(st.floats(0.1, 9), min_size=n_rows, max_size=n_rows).map(np.array)
    )
    numbers = np.arange(n_rows) % 2.0
    scores = {metric.name: ILL.score(metric, numbers, raw, weights) for metric in ILL.metrics}
    means, y = ILL.means(raw), numbers > 0
    rare, rare_raw = (y, raw) if np.average(y, weights=weights) <= 0.5 else (~y, -raw)
    assert scores == pytest.approx(
        {
            "accuracy": accuracy_score(y, raw > 0, sample_weight=weights),
            "auc": roc_auc_score(y, raw, sample_weight=weights),
            "average_precision": average_precision_score(rare, rare_raw, sample_weight=weights),
            "log_loss": log_loss(y, means, sample_weight=weights),
        }
    )
    scores = [NUMBERS.score(metric, numbers, raw, weights) for metric in NUMBERS.metrics]
    r2, mae = (f(numbers, raw, sample_weight=weights) for f in (r2_score, mean_absolute_error))
    rmse = math.sqrt(np.average((numbers - raw) ** 2, weights=weights))
    assert scores == pytest.approx([r2, rmse, mae])


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-565, 2.0**1000])
def test_scores_do_not_depend_on_the_unit_of_the_target(scale):
    """Squares of 1e-170 are 0, and so were the errors of all predictions."""
    numbers, raw = np.array([1.0, 2.0, 4.0]), np.array([1.5, 1.5, 3.0])
    usual = [NUMBERS.score(metric, numbers, raw) for metric in NUMBERS.metrics]
    r2, *errors = (
        NUMBERS.score(metric, scale * numbers, scale * raw) for metric in NUMBERS.metrics
    )
    assert [r2, *(error / scale for error in errors)] == usual
    model = RuleBoostingRegressor(1).fit([[1], [2], [3]], numbers)
    expected = model.score([[1], [2], [3]], numbers)
    if scale < 1:
        model.fit([[1], [2], [3]], scale * numbers)
        assert model.score([[1], [2], [3]], scale * numbers) == pytest.approx(expected)


def test_scores_need_enough_rows():
    assert [metric.name for metric in ILL.metrics_for(np.ones(3))] == ["accuracy", "log_loss"]
    assert [metric.name for metric in NUMBERS.metrics_for(np.ones(1))] == ["rmse", "mae"]


@pytest.mark.parametrize(
    ("model", "y"), [(RuleBoostingClassifier(2), [0, 1, 1]), (RuleBoostingRegressor(2), [1, 2, 4])]
)
def test_first_metric_is_the_method_score(model, y):
    X = [[1], [2], [3]]
    predictions = model.fit(X, y).predictions_for(X)
    task = model.task_
    score = task.score(task.metrics[0], task.numbers(y, 3), predictions.raw)
    assert score == model.score(X, y)


@pytest.mark.parametrize(
    ("task", "sum_words", "effects"),
    [
        (
            ILL,
            "log odds of well",
            ["multiplies the odds of well by 2", "divides the odds of well by 2"],
        ),
        (
            Classification(FlatLoss(), np.array([False, True])),
            "score of true",
            ["adds 0.6931 to the score of true", "subtracts 0.6931 from the score of true"],
        ),
        (
            NUMBERS,
            "prediction",
            ["adds 0.6931 to the prediction", "subtracts 0.6931 from the prediction"],
        ),
        (
            Regression(LogisticLoss()),
            "raw prediction",
            ["adds 0.6931 to the raw prediction", "subtracts 0.6931 from the raw prediction"],
        ),
    ],
)
def test_words(task, sum_words, effects):
    assert task.sum_words == sum_words
    assert [task.effect(math.log(2)), task.effect(-math.log(2))] == effects


def test_large_odds_are_not_spelled_out():
    assert ILL.effect(900.0) == "multiplies the odds of well by more than 10¹³"
    assert ILL.effect(9.0) == "multiplies the odds of well by 8,103"


def test_means_and_titles():
    assert (ILL.mean_words, ILL.format_mean(0.25)) == ("share of well", "25%")
    assert (NUMBERS.mean_words, NUMBERS.format_mean(1.23456)) == ("mean target", "1.235")
    assert ILL.aim == "distinguish well from ill"
    assert ILL.weights_sentence == "Positive weights vote for well, negative weights for ill."


def test_three_classes_in_a_file_are_ascending():
    data = {"classes": ["b", "a", "c"]}
    with pytest.raises(ValueError, match="must be different classes in ascending order"):
        Classification.from_dict(data, MultinomialLoss())
    data = {"classes": ["b", "a"]}
    assert Classification.from_dict(data, LogisticLoss()).labels == ["b", "a"]


def test_a_class_for_each_row():
    X = np.arange(60.0)[:, np.newaxis] % 7
    with pytest.warns(
        UserWarning, match="60 classes in 60 rows, fewer than two rows per class"
    ) as caught:
        RuleBoostingClassifier(n_terms=1).fit(X, np.arange(60))
    assert caught[0].filename == __file__
