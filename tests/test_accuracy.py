"""The accuracy study: definitions that its numbers hang on."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.fixes import parse_version

from benchmarks.accuracy import idle, numbers, recovery, summary
from benchmarks.accuracy.competitors import linear, relaxed_linear
from benchmarks.accuracy.methods import PseudoRows, Variant
from benchmarks.accuracy.packaged import PackagedTable
from benchmarks.accuracy.sizes import Size, linked_paths, paths_of, size_of_trees, sklearn_paths
from benchmarks.accuracy.tables import CHOOSING, REPORTING, Split, halves
from benchmarks.pages import fill_in
from estimators import STAGEWISE
from laconic.terms.parsing import parse_query
from laconic.terms.rules import Rule, RuleEnsemble
from laconic.terms.slopes import Slope


class Node:
    def __init__(self, feature=None, left=None, right=None):
        self.feature, self.left, self.right = feature, left, right


def split_of(task, y):
    y = np.asarray(y, float)
    X = pd.DataFrame({"x": np.arange(len(y), dtype=float)})
    return Split("t", 0, task, X, y, X, y)


def points_of(method, sizes, scores, table="t", metric="r2", n_spared=0):
    points = pd.DataFrame({"table": table, "method": method, "split": 0, "step": range(len(sizes))})
    points["n_terms"], points["n_conditions"], points["n_spared"] = sizes, 0, n_spared
    return points.assign(auc=np.nan, log_loss=np.nan, r2=np.nan).assign(**{metric: scores})


def test_leaf_counts_the_tightest_of_conditions_on_the_same_side():
    # x0 <= 5, then x0 <= 3, then x1.
    children = [(1, 2), (3, 4), (-1, -1), (5, 6), (-1, -1), (-1, -1), (-1, -1)]
    paths = list(paths_of(children, [0, 0, -1, 1, -1, -1, -1]))
    assert sorted(map(len, paths)) == [1, 2, 2, 2]
    assert size_of_trees([paths]) == Size(n_terms=4, n_conditions=7, n_spared=3)


def test_linked_nodes_are_read_as_trees_of_arrays():
    root = Node(0, Node(), Node(1, Node(), Node()))
    assert size_of_trees([linked_paths(root)]) == Size(3, 5, 3)


def test_size_of_a_fitted_tree():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    tree = DecisionTreeRegressor().fit(X, [0, 0, 1, 3])
    assert size_of_trees([sklearn_paths(tree)]) == Size(3, 5, 3)


def test_a_tree_without_a_split_is_one_rule_without_conditions():
    assert size_of_trees([linked_paths(Node())]) == Size(1, 0, 1)


def test_score_within_a_budget_is_that_of_the_largest_model_not_larger():
    found = summary.scores_within([0, 7, 3, 7], [0.0, 0.6, 0.4, 0.5], [2, 3, 6, 7, 40])
    assert found.tolist() == [0.0, 0.4, 0.4, 0.5, 0.5]


def test_area_is_the_mean_height():
    points = points_of("a", [0, 22], [0.0, 0.5])
    # Sizes 2 to 21 have the constant, 22 to 40 the model.
    assert summary.areas(points, "r2").loc["t", "a"] == pytest.approx(0.5 * 19 / 39)


def test_leniency_spares_a_leaf():
    points = points_of("a", [0, 22], [0.0, 0.5], n_spared=[0, 20])
    assert summary.areas(points, "r2", is_lenient=True).loc["t", "a"] == pytest.approx(0.5)


def test_models_without_a_size_have_one_score():
    points = points_of("a", [0, np.nan], [0.0, 0.9])
    assert summary.areas(points, "r2").loc["t", "a"] == pytest.approx(0.9)


def test_a_method_that_found_no_model_has_the_constant():
    assert summary.areas(points_of("a", [0], [-0.01]), "r2").loc["t", "a"] == pytest.approx(-0.01)


def test_methods_are_complete_on_all_tables():
    points = pd.concat([points_of("a", [0], [0]), points_of("a", [0], [0], table="u")])
    points = pd.concat([points, points_of("b", [0], [0])])
    assert summary.complete_methods(points, ["b", "a", "c"]) == ["a"]


def test_splits_that_a_method_lacks_do_not_count():
    other = points_of("a", [0], [0]).assign(split=1)
    points = pd.concat([points_of("a", [0], [0]), points_of("b", [0], [0]), other])
    assert set(summary.common_splits(points)["split"]) == {0}


def test_both_tasks_are_on_one_scale():
    classes = points_of("a", [0, 1], [0.5, 0.75], table="c", metric="auc")
    numbers = points_of("a", [0, 1], [0.0, 0.3], table="n")
    found = summary.comparable_areas(pd.concat([classes, numbers]))["a"]
    assert found.to_dict() == pytest.approx({"c": 0.5, "n": 0.3})


def test_ranks_leave_out_tables_that_a_method_lacks():
    scores = pd.DataFrame({"a": [3, 1, 9], "b": [2, 2, 8], "c": [1, 1, np.nan]})
    assert summary.average_ranks(scores).to_dict() == {"b": 1.5, "a": 1.75, "c": 2.75}


def test_paired_counts_wins_and_ignores_ties():
    scores = pd.DataFrame({"a": [2, 2, 1, 1, np.nan], "b": [1, 1, 2, 1, 5]})
    test = summary.paired(scores, "a", "b")
    assert (test["wins"], test["losses"], test["mean"]) == (2, 1, 0.25)
    assert summary.paired(scores, "a", "a")["p"] == 1


def test_fewer_rules_than_asked_for_are_kept():
    points = points_of("a", [0, 1, 2], [0.0, 0.2, 0.4])
    found = summary.by_rules(points, (1, 2, 5)).loc["a", "r2"]
    assert found.to_dict() == {1: 0.2, 2: 0.4, 5: 0.4}


def test_halves_alternate_within_a_task():
    tasks = {"a": "regression", "b": "classification", "c": "regression", "d": "classification"}
    assert halves(tasks) == {"a": CHOOSING, "c": REPORTING, "b": CHOOSING, "d": REPORTING}


@pytest.mark.parametrize(
    ("task", "y", "has_intercept", "penalty"),
    [
        ("regression", [1, 2, 3, 4], True, 20),
        ("classification", [1, -1, -1, -1], True, 10 * 0.25 * 0.75),
        ("classification", [1, -1, -1, -1], False, 2.5),
    ],
)
def test_pseudo_rows_count_hessians(task, y, has_intercept, penalty):
    found = PseudoRows(10).penalty(split_of(task, y), fit_intercept=has_intercept)
    assert found == pytest.approx(penalty)


def test_variants_that_the_estimator_does_not_know_say_so():
    assert Variant("v", {"no_such_parameter": 1}).problem().startswith("this laconic does not know")
    assert Variant("v", {"l2_regularization": PseudoRows(3)}).problem() is None


@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("settings", [{}, STAGEWISE], ids=["defaults", "stagewise"])
def test_models_on_the_way_are_those_of_fewer_terms(task, settings):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(200, 3)), columns=list("abc"))
    y = X["a"].to_numpy() + (X["b"] > 0) + random.normal(size=200)
    y = np.where(y > 0, 1.0, -1.0) if task == "classification" else y
    split = Split("t", 0, task, X, y, X, y)
    for step, model in enumerate(Variant("v", settings, "steps").path(split, max_terms=4), start=1):
        alone = next(Variant("v", settings | {"n_terms": step}, "once").path(split))
        assert (model.step, model.size) == (step, alone.size)
        np.testing.assert_allclose(model.predictions, alone.predictions)
    assert step == 4


def test_tables_of_packages_are_read_without_missing_cells(monkeypatch):
    table = pd.DataFrame(
        {"y": ["a", "b", "a", None], "n": [1, 2, None, 4], "k": [1, 2, 3, 4], "id": 0}
    )
    monkeypatch.setattr("benchmarks.accuracy.packaged.READERS", {"p": lambda key: table})
    packaged = PackagedTable(
        *("p", "x", "classification"),
        lambda frame: (frame["y"] == "a").where(frame["y"].notna()),
        *("y id", "k"),
    )
    X, y = packaged.load()
    assert X.to_dict("list") == {"n": [1.0, 2.0], "k": ["1", "2"]}
    assert y.tolist() == [1, -1]


def test_blocks_of_the_page_are_replaced():
    begin, end = "<!-- x: written by benchmarks/y -->", "<!-- end of x -->"
    filled = fill_in(f"before\n{begin}\nold\n{end}\nafter", "x", "new\\1\n", "benchmarks/y")
    assert filled == f"before\n{begin}\n\nnew\\1\n\n{end}\nafter"
    with pytest.raises(ValueError, match="must have the lines"):
        fill_in("before", "x", "new", "benchmarks/y")


def test_terms_are_added_until_the_size_is_reached():
    random = np.random.default_rng(0)
    X, y = pd.DataFrame(random.normal(size=(80, 6)), columns=list("abcdef")), random.normal(size=80)
    split = Split("t", 0, "regression", X, y, X, y)
    sizes = [model.size for model in Variant("v", {"max_conditions": 1}, "steps").path(split)]
    assert [size.n_terms for size in sizes] == list(range(1, len(sizes) + 1))
    assert len(sizes) > 10
    assert sizes[-2].n_terms + sizes[-2].n_conditions < 40


def test_relaxed_weights_are_those_of_least_squares_on_the_same_features():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(400, 3)), columns=list("abc"))
    y = 3 * X["a"].to_numpy() + random.normal(size=400)
    split = Split("t", 0, "regression", X, y, X, y)
    shrunk, relaxed = (next(iter(path(split))) for path in (linear, relaxed_linear))
    assert shrunk.size == relaxed.size == Size(1, 1)
    slope, intercept = np.polyfit(X["a"], y, 1)
    np.testing.assert_allclose(relaxed.predictions, slope * X["a"] + intercept, atol=0.05)
    assert np.ptp(shrunk.predictions) < np.ptp(relaxed.predictions)


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.8"),
    reason="before 1.8, scikit-learn had another parameter for the penalty",
)
def test_relaxed_probabilities_are_of_the_last_class():
    split = split_of("classification", [-1] * 20 + [1, -1] + [1] * 20)
    assert np.all(np.diff(next(iter(relaxed_linear(split))).predictions) > 0)


def test_distance_is_taken_on_the_splits_of_both():
    points = [points_of("a", [0, 2], [0.0, 0.5]), points_of("b", [0, np.nan], [0.0, 0.8])]
    points.append(points_of("a", [0, 2], [0.0, 0.1]).assign(split=1))
    assert summary.distances(pd.concat(points), "a", "b").to_dict() == pytest.approx({"t": 0.3})


def test_numbers_of_terms_are_averaged_within_groups_of_tables():
    points = [
        points_of(numbers.NUMBERS[0].name, [0, 3], [0.0, score], table=table).assign(seconds=1.0)
        for table, score in (("small", 0.2), ("large", 0.6), ("larger", 0.8))
    ]
    n_rows = pd.Series({"small": 349, "large": 1_000, "larger": 5_000})
    found = numbers.by_rows(pd.concat(points), n_rows)["score"].droplevel("method")
    expected = {"all": 1.6 / 3, "fewer than 350": 0.2, "1,000 and more": 0.7}
    assert found.to_dict() == pytest.approx(expected)


def test_share_that_a_condition_removes_is_of_the_rows_of_the_others():
    X = pd.DataFrame({"x": range(100), "y": [0] * 99 + [1]})
    rule = Rule(parse_query("x > 49 & y <= 0", ["x", "y"]), 1.0)
    assert idle.removed_shares(rule, X) == pytest.approx([50 / 99, 1 / 50])
    found = idle.count(RuleEnsemble([rule, Slope("x", 0, 9, 1.0)]), X)
    expected = {"n_rules": 1, "n_slopes": 1, "n_conditions": 2, "n_idle": 0, "n_nearly_idle": 1}
    assert found == expected


@pytest.mark.parametrize(
    ("truth", "terms", "expected"),
    [
        ("noise", [], True),
        ("noise", ["x0 > 1"], False),
        ("rule", ["x1 > 1 & x0 > 2"], True),
        ("rule", ["x0 > 1"], False),
        ("rule", ["x1 > 1 & x0 > 2", "x3 > 1"], False),
        ("line", [], False),
        ("line", ["x0 > 1"], False),
    ],
)
def test_a_model_is_like_the_truth(truth, terms, expected):
    rules = [Rule(parse_query(text, ["x0", "x1", "x3"]), 1.0) for text in terms]
    assert recovery.is_true(RuleEnsemble(rules), truth) is expected


def test_a_slope_is_like_a_line():
    assert recovery.is_true(RuleEnsemble([Slope("x0", 0, 1, 1.0)]), "line")
    assert not recovery.is_true(RuleEnsemble([Slope("x1", 0, 1, 1.0)]), "line")
    assert not recovery.is_true(RuleEnsemble([Slope("x0", 0, 1, 1.0)]), "rule")


def test_drawn_tables_hold_what_they_should():
    X, y = recovery.draw("regression", "rule", 2_000, 0)
    holds = (X["x0"] > 0.5) & (X["x1"] > 0.5)
    assert y[holds].mean() - y[~holds].mean() == pytest.approx(1, abs=0.2)
    X, y = recovery.draw("classification", "line", 2_000, 0)
    assert y.mean() == pytest.approx(0.5, abs=0.05)
    assert np.corrcoef(X["x0"], y)[0, 1] == pytest.approx(0.4, abs=0.1)
