"""The compiled core called directly: what the bindings let through and what they refuse."""

import itertools

import numpy as np
import pytest

from laconic import _core
from laconic.search import RefittedTerms, SearchProblem, search

EXTENTS = np.array([[True, True, False, False], [False, True, True, False]])
ONES = np.ones(4)


def optimal(conditions, gradients, hessians=ONES, coverage=ONES, **options):
    defaults = {
        "max_conditions": None,
        "min_coverage": 0.0,
        "approximation_factor": 1.0,
        "node_limit": None,
        "time_limit": None,
        "should_stop": None,
        "branching": "conditions",
        "beam_width": 4,
        "start": (),
        "n_workers": 1,
        "memory_limit": 2**28,
        "instruction_set": "scalar",
    }
    problem = _core.Problem(conditions, gradients, hessians, coverage, 1.0)
    return _core.optimal(problem, **(defaults | options))


def test_result():
    result = optimal(_core.Extents(EXTENTS), np.array([1.0, -3.0, 1.0, 0.0]))
    assert list(result.query) == [0, 1]
    assert (result.value, result.bound, result.status) == (4.5, 4.5, "optimal")


@pytest.mark.parametrize(
    "extents", [EXTENTS.astype(np.uint8), EXTENTS[0], np.asfortranarray(EXTENTS), EXTENTS[:, ::2]]
)
def test_wrong_extents_are_refused_not_copied(extents):
    with pytest.raises(TypeError, match="incompatible"):
        _core.Extents(extents)


@pytest.mark.parametrize("gradients", [ONES.astype(np.float32), np.ones((4, 1)), np.ones(8)[::2]])
def test_wrong_statistics_are_refused_not_copied(gradients):
    with pytest.raises(TypeError, match="incompatible"):
        optimal(_core.Extents(EXTENTS), gradients)


def test_wrong_lengths():
    with pytest.raises(ValueError, match=r"hessians must have one entry per row \(4\). Got 3"):
        optimal(_core.Extents(EXTENTS), ONES, np.ones(3))


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 100])
def test_sum_of_covered_rows(n_rows):
    rng = np.random.default_rng(n_rows)
    covered, values = rng.random(n_rows) < 0.5, rng.integers(-9, 9, n_rows).astype(float)
    assert _core.sum_covered(covered, values) == values[covered].sum()
    any_byte = np.where(covered, 255, 0).astype(np.uint8).view(bool)
    assert _core.sum_covered(any_byte, values) == values[covered].sum()
    with pytest.raises(ValueError, match="values must have one entry per row"):
        _core.sum_covered(covered, np.ones(n_rows + 1))


def test_rows_and_conditions_beyond_one_word():
    """Bits in several words: 200 rows, 130 conditions, each but the last two covering one row."""
    extents = np.zeros((130, 200), dtype=bool)
    extents[np.arange(128), np.arange(128)] = True
    extents[128, 100:] = True
    extents[129, :150] = True
    gradients = np.zeros(200)
    gradients[100:150] = 1.0
    for n_workers in (1, 3):
        result = optimal(
            _core.Extents(extents),
            gradients,
            np.ones(200),
            np.ones(200),
            beam_width=0,
            n_workers=n_workers,
        )
        assert list(result.query) == [128, 129]
        assert result.value == 50**2 / 51


def test_should_stop_is_asked_and_obeyed():
    rng = np.random.default_rng(0)
    extents = rng.random((100, 1000)) < 0.5
    asked = []
    result = optimal(
        _core.Extents(extents),
        rng.normal(size=1000),
        np.ones(1000),
        np.ones(1000),
        should_stop=lambda *numbers: asked.append(numbers) or len(asked) == 2,
    )
    assert result.status == "interrupted"
    assert len(asked) == 2
    value, bound, n_nodes, n_open, is_depth_first = asked[-1]
    assert value <= bound
    assert n_nodes >= 0
    assert n_open > 0
    assert is_depth_first is False


@pytest.mark.parametrize("n_rows", [1, 7, 64, 130, 1000])
@pytest.mark.parametrize("n_candidates", [0, 1, 63, 65, 200])
def test_builder_finds_distinct_rows_and_columns(n_rows, n_candidates):
    rng = np.random.default_rng(n_rows + n_candidates)
    # Repeated rows and conditions, and constant ones.
    rows = rng.integers(0, max(1, n_rows // 3), n_rows)
    extents = rng.random((n_candidates, n_rows)) < rng.random((n_candidates, 1))
    extents = np.ascontiguousarray(extents[:, rows])
    extents[1::5] = extents[::5][: len(extents[1::5])]
    extents[2::7] = rng.random((len(extents[2::7]), 1)) < 0.5
    builder = _core.ExtentsBuilder(n_rows)
    for extent in extents:
        builder.add(extent)
    conditions = builder.build()
    varying = extents[extents.any(axis=1) & ~extents.all(axis=1)]
    assert conditions.n_candidates == n_candidates
    assert conditions.n_rows == n_rows
    assert conditions.n_columns == len({extent.tobytes() for extent in varying})
    assert conditions.n_distinct_rows == len({row.tobytes() for row in extents.T})
    for p, extent in enumerate(extents):
        np.testing.assert_array_equal(conditions.covered([p]), extent)


@pytest.mark.parametrize(("n_repeated", "are_merged"), [(50, False), (5_000, True)])
def test_few_equal_rows_of_long_tables_are_kept(n_repeated, are_merged):
    n_rows = 20_000
    rows = np.random.default_rng(0).permutation(2 * n_rows)[:n_rows]
    rows[:n_repeated] = rows[n_repeated : 2 * n_repeated]
    extents = (rows >> np.arange(16)[:, np.newaxis]) % 2 == 1
    conditions = _core.Extents(extents)
    assert conditions.n_distinct_rows == (n_rows - n_repeated if are_merged else n_rows)
    for p, extent in enumerate(extents):
        np.testing.assert_array_equal(conditions.covered([p]), extent)
    # All sums are whole numbers.
    gradients, ones = np.random.default_rng(1).integers(-9, 10, n_rows) * 1.0, np.ones(n_rows)
    intercept = np.ones((1, n_rows), dtype=bool)
    refitted = RefittedTerms(intercept, np.zeros(1))
    problem = SearchProblem(conditions, gradients, ones, 1.0, refitted=refitted)
    found = search(problem, max_conditions=2)
    pairs = itertools.combinations_with_replacement(range(16), 2)
    best = max(problem.objective(pair) for pair in pairs)
    assert found.is_optimal
    assert found.objective_value == best


def test_problem_is_posed_once():
    problem = SearchProblem([[True, False]], [1.0, -2.0], [1.0, 1.0])
    assert problem.posed() is problem.posed()
    assert problem.stagewise().posed() is not problem.posed()


def test_builder_is_empty_after_building():
    builder = _core.ExtentsBuilder(4)
    builder.add(EXTENTS[0])
    builder.build()
    assert builder.build().n_candidates == 0


def test_builder_refuses_other_lengths():
    with pytest.raises(ValueError, match=r"covered must have one entry per row \(4\). Got 3"):
        _core.ExtentsBuilder(4).add(np.ones(3, dtype=bool))


def test_summable_total_tells_what_is_not_finite():
    for values in ([1.0, np.nan], [np.inf, 1.0], [1e308, 1e308]):
        _, total = _core.exactly_summable(np.array(values), None)
        assert not np.isfinite(total)
