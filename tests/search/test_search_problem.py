"""The arguments that a search problem accepts, and what it computes."""

import copy
import pickle

import numpy as np
import pytest

from laconic import _core
from laconic.search import SearchLimits, SearchProblem, search

EXTENTS = np.array([[True, True, False], [False, True, True]])


def test_objective_and_weight_by_hand():
    problem = SearchProblem(EXTENTS, [1.0, 2.0, -4.0], [1.0, 1.0, 2.0], l2_regularization=1.0)
    assert problem.objective((0,)) == 3**2 / (1 + 2) / 6
    assert problem.weight((0,)) == -3 / (1 + 2)
    assert problem.objective((0, 1)) == 2**2 / (1 + 1) / 6
    assert problem.objective(()) == 1 / (1 + 4) / 6
    np.testing.assert_array_equal(problem.covered((0, 1)), [False, True, False])


def test_value_of_any_mask():
    problem = SearchProblem([[True, True, False]], gradients=[-1, -1, 1], hessians=[1, 1, 1])
    every_second = np.array([True, True, False, True, True, False])[::2]  # the first and the last
    assert problem.value(every_second) == problem.value([True, False, True]) == 0.0
    assert problem.value(problem.covered((0,))) == 2.0


def test_constant_and_repeated_conditions_cover_what_they_should():
    extents = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 1], [1, 0, 1]], dtype=bool)
    problem = SearchProblem(extents, np.ones(3), np.ones(3))
    for p, extent in enumerate(extents):
        np.testing.assert_array_equal(problem.covered((p,)), extent)
    assert problem.extents.n_columns == 1
    assert problem.extents.n_distinct_rows == 2
    with pytest.raises(IndexError):
        problem.covered((4,))


def test_weights_multiply_and_count():
    weights = np.array([2.0, 0.5, 0.0])
    problem = SearchProblem(EXTENTS, [1.0, 2.0, 4.0], np.ones(3), 0.0, weights)
    assert problem.total_coverage == 2.5
    assert problem.objective((0,)) == pytest.approx((2 + 1) ** 2 / 2.5 / 5)


def test_summable_values_keep_small_hessians_positive():
    values, _ = _core.exactly_summable(np.array([1.0, 1e-30, 0.0]), np.ones(3))
    assert values[1] > 0
    assert values[2] == 0


def test_values_of_rows_without_weight_do_not_matter():
    values, _ = _core.exactly_summable(np.array([1.0, -1e300, 1e-30]), np.array([1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(values, [1.0, 0.0, 2**-50])


@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.3, 2.0])])
def test_other_statistics_on_the_same_rows(weights):
    first = SearchProblem(EXTENTS, np.ones(3), np.ones(3), 0.5, weights)
    problem = first.with_statistics([1.0, 2.0, -4.0], [1.0, 1.0, 2.0])
    expected = SearchProblem(EXTENTS, [1.0, 2.0, -4.0], [1.0, 1.0, 2.0], 0.5, weights)
    np.testing.assert_array_equal(problem.gradients, expected.gradients)
    np.testing.assert_array_equal(problem.hessians, expected.hessians)
    assert problem.objective((0,)) == expected.objective((0,))
    assert first.objective(()) == SearchProblem(
        EXTENTS, np.ones(3), np.ones(3), 0.5, weights
    ).objective(())
    with pytest.raises(ValueError, match="gradients must be finite"):
        first.with_statistics([1.0, np.nan, 1.0], np.ones(3))


def test_extreme_but_legal_values():
    problem = SearchProblem(EXTENTS, [1e-200, 2e-200, 1e-200], [1e-200] * 3, 0.0)
    assert problem.weight(()) == pytest.approx(-4 / 3)
    problem = SearchProblem(EXTENTS, [1e100, 2e100, 1e100], [1.0] * 3, 1.0)
    assert problem.objective(()) == pytest.approx(16e200 / 4 / 6)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"extents": EXTENTS.astype(int)}, TypeError, "extents must be a boolean.*Got dtype int"),
        ({"extents": EXTENTS[0]}, ValueError, r"two dimensions.*Got 1 dimension.*\(3,\)"),
        ({"extents": EXTENTS[:, :0]}, ValueError, "at least one row"),
        ({"gradients": [1.0, 2.0]}, ValueError, r"gradients must have one value per row.*\(2,\)"),
        (
            {"gradients": [1.0, np.nan, 2.0]},
            ValueError,
            "gradients must be finite. Got nan at row 1",
        ),
        ({"hessians": [1.0, 1.0, np.inf]}, ValueError, "hessians must be finite. Got inf at row 2"),
        ({"hessians": [1.0, -1.0, 1.0]}, ValueError, "hessians must not be negative. Got -1.0"),
        ({"l2_regularization": -1.0}, ValueError, r"l2_regularization must be.*Got -1.0"),
        ({"l2_regularization": np.nan}, ValueError, r"l2_regularization must be.*Got nan"),
        ({"sample_weight": [1.0, -2.0, 1.0]}, ValueError, "sample_weight must not be negative"),
        ({"sample_weight": [0.0, 0.0, 0.0]}, ValueError, "positive for at least one row"),
        ({"hessians": [1.0, 0.0, 1.0]}, ValueError, "l2_regularization is too small: row 1 has"),
        ({"gradients": [1e200, 1.0, 1.0]}, ValueError, "overflow; scale the target"),
        ({"sample_weight": [1e308, 1e308, 1.0]}, ValueError, "overflow; scale the target"),
        ({"sample_weight": [1.0, np.inf, 1.0]}, ValueError, "sample_weight must be finite"),
        (
            {"gradients": [1e150] * 3, "hessians": [1e-20] * 3},
            ValueError,
            "overflow; raise l2_regularization",
        ),
    ],
)
def test_bad_input(arguments, error, message):
    defaults = {"extents": EXTENTS, "gradients": np.ones(3), "hessians": np.ones(3)}
    with pytest.raises(error, match=message):
        SearchProblem(**(defaults | arguments))


def test_flat_rows_without_gradient_need_no_regularisation():
    problem = SearchProblem(EXTENTS, [1.0, 0.0, 1.0], [1.0, 0.0, 1.0])
    assert problem.objective(()) == 4 / 2 / 6


def test_limits_are_checked_where_they_are_made():
    with pytest.raises(ValueError, match="max_conditions"):
        SearchLimits(max_conditions=True)


@pytest.mark.parametrize("node_limit", [None, "auto", 1, np.int64(7)])
def test_node_limits(node_limit):
    assert SearchLimits(node_limit=node_limit).node_limit == node_limit


@pytest.mark.parametrize("node_limit", [0, -3, 2.0, True, "Auto", "7"])
def test_wrong_node_limits(node_limit):
    message = r"node_limit must be a whole number in the range \[1, inf\), 'auto' or None\. Got "
    with pytest.raises(ValueError, match=message):
        SearchLimits(node_limit=node_limit)


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda entry: pickle.loads(pickle.dumps(entry))]
)
@pytest.mark.parametrize("n_rows", [1, 8, 67])
def test_copies_and_pickles_are_the_same_problem(duplicate, n_rows):
    rng = np.random.default_rng(n_rows)
    extents = rng.random((9, n_rows)) < 0.5
    problem = SearchProblem(extents, rng.normal(size=n_rows), rng.random(n_rows), 0.5)
    other = duplicate(problem)
    assert other.extents is not problem.extents
    ours, theirs = search(problem, max_conditions=3), search(other, max_conditions=3)
    assert (ours.query, ours.bound, ours.counters) == (theirs.query, theirs.bound, theirs.counters)
    for index in range(9):
        np.testing.assert_array_equal(other.covered((index,)), extents[index])
