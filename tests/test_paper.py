"""The experiments of the paper: definitions that its numbers hang on, and the baseline."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso

from benchmarks.paper import equivalents, listings, rulefit, selection, table1
from benchmarks.paper.settings import (
    GREEDY,
    OPTIMAL,
    RULEFIT,
    Run,
    curves_of,
    estimator,
    resume,
    scoring,
    smallest_size,
)
from benchmarks.problems import load_problem
from laconic import Condition, Query
from laconic.datasets import noisy_parity
from laconic.models.curves import area_scorer

pytest.importorskip("sklearn", "1.8", reason="the experiments need scikit-learn 1.8 (extra bench)")


@pytest.fixture
def run(datasets_folder, tmp_path):
    return Run(datasets_folder, tmp_path, is_quick=True, n_jobs=1)


def rows_of(problem, method, scores, split=0):
    return [
        {"problem": problem, "method": method, "split": split, "kind": "curve"}
        | {"n_terms": size, "score": score}
        for size, score in scores.items()
    ]


@pytest.mark.parametrize(("task", "area"), [("classification", 0.6), ("regression", 0.7)])
def test_area_starts_where_the_paper_starts(task, area):
    rows = rows_of("p", GREEDY, {0: 0.4, 1: 0.6, 2: 0.8})
    assert table1.mean_area(rows, "p", GREEDY, task) == pytest.approx(area)


def test_area_is_the_mean_over_splits_and_bridges_missing_sizes():
    rows = rows_of("p", RULEFIT, {1: 0.0, 3: 1.0}) + rows_of("p", RULEFIT, {2: 0.3}, split=1)
    assert table1.mean_area(rows, "p", RULEFIT, "regression") == pytest.approx((0.5 + 0.3) / 2)


def test_curves_of_one_method_only():
    rows = rows_of("p", GREEDY, {0: 0.5}) + rows_of("p", OPTIMAL, {0: 0.6}, split=1)
    assert list(curves_of(rows, "p", OPTIMAL)) == [{0: 0.6}]


def test_predicted_classes_are_a_method_of_their_own():
    values = rows_of("p", RULEFIT, {1: 0.7})
    labels = [row | {"kind": "labels", "score": 0.5} for row in values]
    numbers = rows_of("q", RULEFIT, {1: 0.3})
    found = table1.scored_by_class(values + labels + numbers)
    assert [(row["problem"], row["score"]) for row in found] == [("p", 0.5), ("q", 0.3)]
    assert {row["method"] for row in found} == {table1.BY_CLASS}


def test_sign_test_counts_wins_and_ignores_ties():
    areas = {"a": (0.5, 0.4), "b": (0.7, 0.6), "c": (0.2, 0.2), "d": (0.1, 0.3)}
    table = pd.DataFrame(
        [
            {"problem": name, "method": method, "area": area}
            for name, pair in areas.items()
            for method, area in zip((OPTIMAL, GREEDY), pair, strict=True)
        ]
    )
    test = table1.sign_tests(table, OPTIMAL, GREEDY)
    assert (test["wins"], test["of"]) == (2, 3)
    assert test["p"] == pytest.approx(0.5)


def test_a_stopped_run_goes_on(tmp_path):
    made = []

    def measure(name, split):
        made.append((name, split))
        yield {"name": name, "split": split, "value": split / 2}

    path, columns = tmp_path / "folder" / "m.csv", ("name", "split", "value")
    first = resume(path, [("a", 0), ("a", 1)], measure, columns, 1)
    again = resume(path, [("a", 1), ("b", 0), ("a", 0)], measure, columns, 1)
    assert made == [("a", 0), ("a", 1), ("b", 0)]
    assert [row["value"] for row in first] == [0.0, 0.5]
    assert [(row["name"], row["split"]) for row in again] == [("a", 1), ("b", 0), ("a", 0)]
    with path.open(encoding="utf-8") as file:
        assert len(list(csv.reader(file))) == 4


def test_rules_of_trees_are_indicators_without_duplicates():
    X = pd.DataFrame(
        {"number": np.arange(60) % 13, "text": np.array(list("abc"))[np.arange(60) % 3]}
    )
    y = np.where((X["number"] > 6) & (X["text"] == "a"), 1.0, 0.0)
    rules = rulefit.RuleColumns("regression", n_trees=10).fit(X, y)
    columns = rules.transform(X)
    assert set(np.unique(columns)) == {0.0, 1.0}
    assert len(np.unique(columns, axis=1).T) == columns.shape[1]
    assert columns.mean(axis=0).min() > 0
    assert columns.mean(axis=0).max() < 1


@pytest.fixture(scope="module")
def rule_columns():
    generator = np.random.default_rng(0)
    columns = (generator.random((200, 40)) < 0.4).astype(float)
    return columns, columns[:, :8] @ np.arange(1.0, 9.0) + generator.normal(size=200)


def test_linear_path_is_that_of_the_lasso(rule_columns):
    columns, y = rule_columns
    path = rulefit.linear_path(columns, y)
    sizes = [np.count_nonzero(weights) for _, weights in path]
    assert sizes[0] == 1
    assert sizes[-1] > rulefit.MAX_RULES
    intercept, weights = path[25]
    residuals = y - columns @ weights - intercept
    # Stationary: every rule in the model is as correlated with the residuals as the penalty.
    correlations = columns.T @ (residuals - residuals.mean()) / len(y)
    penalty = np.abs(correlations[weights != 0]).max()
    lasso = Lasso(alpha=penalty, tol=1e-8).fit(columns, y)
    np.testing.assert_allclose(lasso.coef_, weights, atol=0.05)
    assert lasso.intercept_ == pytest.approx(intercept, abs=0.1)


def test_logistic_path_starts_with_the_first_rule(rule_columns):
    columns, y = rule_columns
    path = rulefit.logistic_path(columns, np.where(y > np.median(y), 1.0, -1.0))
    sizes = [np.count_nonzero(weights) for _, weights in path]
    assert sizes[0] == 1
    assert max(sizes) > rulefit.MAX_RULES


def test_rulefit_scores_on_new_rows():
    train, test = (noisy_parity(300, 2, random_state=seed, backend="pandas") for seed in (0, 1))
    parts = (train.data, train.target.astype(float), test.data, test.target.astype(float))
    found = rulefit.score_rulefit("classification", *parts, n_trees=30)
    assert found.unbounded_score > 0.9
    assert set(found.curve) <= set(range(1, 11))
    assert set(found.label_curve) == set(found.curve)
    assert all(0.4 < score <= 1 for score in found.curve.values())


def test_random_query_covers_the_same_rows_without_a_superfluous_condition():
    generator = np.random.default_rng(0)
    extents = generator.random((12, 40)) < 0.7
    rows = np.flatnonzero(extents[[1, 4, 7]].all(axis=0))
    for _ in range(10):
        query = equivalents.random_query(extents, rows, generator)
        np.testing.assert_array_equal(np.flatnonzero(extents[query].all(axis=0)), rows)
        for i in query:
            others = [j for j in query if j != i]
            assert extents[others].all(axis=0).sum() > len(rows)


def test_listing_says_from_where_to_where():
    below = np.nextafter(2003, -np.inf)
    query = Query(
        (
            Condition("year", "<=", 2009),
            Condition("year", ">", below),
            Condition("PS", ">", np.nextafter(100, -np.inf)),
        )
    )
    assert listings.as_printed(query) == "year in [2003, 2009] & PS >= 100"
    assert listings.as_printed(Query()) == "always"


@pytest.mark.datasets
@pytest.mark.parametrize("name", ["tic_tac_toe", "insurance", "friedman2"])
def test_areas_are_those_recomputed_from_the_published_program(name, run):
    recomputed = run.specifications[name]["recomputed"]
    task = run.specifications[name]["task"]
    for method, key, digits in (
        (GREEDY, "auc_grd_per_split", 9),
        (OPTIMAL, "auc_opt_per_split", 5),
    ):
        rows = list(table1.measure(run, name, method, 1))
        area = table1.mean_area(rows, name, method, task)
        assert round(area, digits) == pytest.approx(round(recomputed[key][1], digits), abs=2e-9)


@pytest.mark.datasets
def test_penalty_is_chosen_without_the_test_rows(run):
    problem = load_problem("iris", run.datasets)
    areas = selection.mean_areas(problem, OPTIMAL)
    assert 2 in areas
    model = selection.fit_with_chosen_penalty(problem, OPTIMAL)
    assert set(areas) <= set(selection.PENALTIES)
    assert areas[model.l2_regularization] == max(areas.values())
    assert all(result.is_optimal for result in model.search_results_)


@pytest.mark.datasets
@pytest.mark.parametrize("name", ["iris", "diabetes"])
def test_quick_areas_are_those_of_the_scorer(name, run):
    problem = load_problem(name, run.datasets)
    model = estimator(problem, GREEDY, 1.0, n_terms=3).fit(problem.X, problem.y)
    rows = np.arange(0, len(problem.y), 2)
    scorer = area_scorer(scoring(problem), smallest=smallest_size(problem.task), largest=10)
    expected = scorer(model, problem.X.iloc[rows], problem.y[rows])
    assert selection.quick_area(model.ensemble_, problem, rows) == pytest.approx(expected)


@pytest.mark.datasets
def test_settings_behind_the_published_numbers(run):
    full = Run(run.datasets, run.output, is_quick=False, n_jobs=1)
    assert len(full.problems) == 24
    assert full.penalty("used_cars", OPTIMAL) == 1
    assert full.n_splits("used_cars") == 4
    assert full.n_splits("iris") == 5
    specification = json.loads((run.datasets / "spec.json").read_text(encoding="utf-8"))
    assert full.penalty("boston", OPTIMAL) == specification["boston"]["lambda_opt"]
