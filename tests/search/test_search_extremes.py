"""Problems at the ends of the range of doubles, each of which a search once got wrong."""

import numpy as np
import pytest

from fuzz.problems import Case
from fuzz.searches import Truth
from laconic.search import SearchProblem, SearchStatus, search

BRANCHINGS = ("conditions", "tables", "ranges", "paper")


def case_of(extents, gradients, hessians, l2_regularization, weights=None, **limits):
    limits = {"max_conditions": 4, **limits}
    extents = np.array(extents, dtype=bool)
    weights = None if weights is None else np.array(weights)
    return Case(
        extents, np.array(gradients), np.array(hessians), l2_regularization, weights, limits
    )


EXTREMES = {
    # Values are the same in doubles, whatever the hessians of the rows.
    "hessians far below the penalty": case_of(
        [
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0],
            [1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0],
            [0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0],
        ],
        np.array([-3.0, 0, 3, 0, 3, 0, 1, 3, 3, 3, -2]) * 3.658656862716886e141,
        np.array([1.0, 2, 2, 2, 2, 2, 1, 1, 3, 1, 3]) * 1.992348284568275e90,
        1.4581430438432128e143,
    ),
    # Squares of slopes are infinite, and so are bounds.
    "slopes whose squares overflow": case_of(
        [[1, 1, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 0]],
        [-4.548279991200937e-25, 5.304468727693268e-14, 4.33117634284552e-18],
        [3.590340319943045e-54, 1.7951701599715226e-54, 0.0],
        7.481880691417371e-248,
    ),
    # Divided by the total weight, a value is infinite until the scale is taken back.
    "tiny weights and a tiny penalty": case_of(
        [
            [0, 0, 0, 0, 1, 0],
            [0, 1, 1, 0, 0, 0],
            [1, 0, 0, 0, 1, 0],
            [0, 1, 1, 1, 1, 1],
            [0, 1, 1, 1, 1, 0],
            [0, 0, 0, 0, 0, 0],
        ],
        np.array([0.0, 2, -2, 0, 1, -3]) * 1.3814181130347812e-145,
        np.array([0.0, 1, 1, 0, 0, 2]) * 3.4793663081953765e138,
        1.242668081277479e-200,
        np.array([1.0, 1, 2, 1, 2, 6.6]) * 1.3851318244067998e-130,
    ),
    # Sets without hessian have slopes whose squares, times the hessians of others, are infinite.
    "a penalty far below the hessians": case_of(
        [
            [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1],
            [0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1],
            [0, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0],
            [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0],
        ],
        [1.6e-14, 8e-28, -1.5e-27, 1e-26, -1e-16, 1e-19, -1e-27, -2e-16, 1e-24, -2e-24, -1e-23],
        np.array([4.0, 0, 0, 5, 0, 5, 1, 2, 0.1, 0.4, 3]) * 1e67,
        3.6e-220,
        min_coverage=0.88,
    ),
    # The best query is better in the twelfth digit, which was taken for a tie.
    "hardly any difference": case_of(
        [[0, 1, 1, 1], [1, 1, 1, 0]],
        [0.0, 1.0, 2.0, 0.0],
        [1e-12, 1e-12, 1e-12, 2e-12],
        1.0,
    ),
}


@pytest.mark.parametrize("branching", BRANCHINGS)
@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(name, branching):
    truth = Truth(EXTREMES[name])
    limits = truth.case.limits
    for beam_width in (0, None):
        options = {"branching": branching, "beam_width": beam_width}
        truth.check_optimum(options, search(truth.problem, **limits, **options))
        for node_limit in (1, 2, 3):
            stopping = {**options, "node_limit": node_limit}
            truth.check_stopped(stopping, search(truth.problem, **limits, **stopping))


def test_penalty_that_vanishes_beside_the_hessians():
    with pytest.raises(ValueError, match=r"is too small: row 1 has .* Got 1e-255\."):
        SearchProblem([[True, True]], [1e-139, 1e-139], [1e132, 0.0], 1e-255)


def test_infinite_objectives_of_rows_without_hessian():
    with pytest.raises(ValueError, match="must be finite"):
        SearchProblem([[True, True]], [1e51, 1e43], [1e6, 0.0], 1e-270)


@pytest.mark.parametrize("scale", [1e-170, 1e-100, 1.0, 1e140])
def test_stopped_searches_prove_nothing_where_objectives_underflow(scale):
    generator = np.random.default_rng(0)
    extents = generator.random((40, 300)) < 0.5
    gradients = scale * generator.normal(size=300)
    problem = SearchProblem(extents, gradients, np.ones(300), 1.0)
    seen = []
    result = search(problem, max_conditions=5, node_limit=20, callback=lambda p: seen.append(p))
    usual = search(
        SearchProblem(extents, gradients / scale, np.ones(300), 1.0),
        max_conditions=5,
        node_limit=20,
    )
    assert (result.query, result.status) == (usual.query, usual.status)
    assert usual.status is SearchStatus.NODE_LIMIT
    expected = np.array([usual.objective_value, usual.bound]) * scale * scale
    assert [result.objective_value, result.bound] == pytest.approx(expected, rel=1e-9)
