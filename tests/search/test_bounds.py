"""Each bound of the compiled core by itself: never below what brute force finds, and useful."""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from laconic import _core

INSTRUCTION_SETS = _core.instruction_sets()
EFFORTS = [(False, False), (True, False), (True, True)]  # closure, intersection
ROUNDING = 1e-12


@dataclass
class Case:
    """A table of distinct, varying columns with statistics whose sums are exact."""

    extents: np.ndarray
    gradients: np.ndarray
    hessians: np.ndarray
    l2_regularization: float

    @cached_property
    def bounds(self):
        ones = np.ones(self.n_rows)
        extents = _core.Extents(self.extents)
        return _core.Problem(
            extents, self.gradients, self.hessians, ones, float(self.l2_regularization)
        )

    @property
    def n_rows(self):
        return self.extents.shape[1]

    def value(self, covered):
        gradient, hessian = self.gradients[covered].sum(), self.hessians[covered].sum()
        return gradient**2 / (self.l2_regularization + hessian) if gradient else 0.0

    def covered(self, query):
        return np.all(self.extents[list(query)], axis=0)

    def candidates(self, query):
        """Columns that cut some of the query's rows off, but not all."""
        n_left = (self.extents & self.covered(query)).sum(axis=1)
        return np.flatnonzero((n_left > 0) & (n_left < self.covered(query).sum())).tolist()

    def refinements(self, extent, columns):
        """All extents of at least one more of the columns."""
        found = {}
        for column in columns:
            for rows in [extent, *found.values()]:
                found.setdefault(
                    (rows & self.extents[column]).tobytes(), rows & self.extents[column]
                )
        return list(found.values())

    def classes(self, columns, rows):
        """Sets of the given rows that no column tells apart."""
        keys = {}
        for row in np.flatnonzero(rows):
            keys.setdefault(self.extents[columns, row].tobytes(), []).append(row)
        return list(keys.values())

    def best_union(self, classes, forced=()):
        """Largest value of the forced rows and any of the classes."""
        unions = itertools.product([False, True], repeat=len(classes))
        return max(
            self.value([*forced, *itertools.chain(*itertools.compress(classes, union))])
            for union in unions
        )


def make_case(features, kept, gradients, hessians, l2_regularization):
    """Conditions ``<=`` and ``>`` of the features, of which some are kept."""
    comparisons = itertools.product(features, range(3), [np.less_equal, np.greater])
    extents = np.array([compare(x, t) for x, t, compare in comparisons])[np.flatnonzero(kept)]
    distinct = {extent.tobytes(): extent for extent in extents if 0 < extent.sum() < extent.size}
    return Case(
        np.array(list(distinct.values())),
        np.array(gradients) / 4,
        np.array(hessians) / 4,
        l2_regularization,
    )


@st.composite
def cases(draw, n_features=3, max_rows=8):
    n_rows = draw(st.integers(2, max_rows))

    def rows(low, high):
        return st.lists(st.integers(low, high), min_size=n_rows, max_size=n_rows)

    features = np.array(draw(st.lists(rows(0, 3), min_size=1, max_size=n_features)))
    n_conditions = 6 * len(features)
    kept = draw(st.lists(st.booleans(), min_size=n_conditions, max_size=n_conditions))
    regularization = draw(st.sampled_from([0.0, 0.25, 4.0]))
    case = make_case(features, kept, draw(rows(-9, 9)), draw(rows(1, 9)), regularization)
    assume(len(case.extents) > 0)
    return case


def random_case(seed, n_rows=12, n_features=3):
    rng = np.random.default_rng(seed)
    return make_case(
        rng.integers(0, 4, (n_features, n_rows)),
        rng.random(6 * n_features) < 0.6,  # else no row's columns would contain another's
        rng.integers(-9, 10, n_rows),
        rng.integers(1, 10, n_rows),
        1.0,
    )


queries = st.lists(st.integers(0, 17), max_size=2)


def existing(case, query):
    return sorted({column for column in query if column < len(case.extents)})


@given(cases(), queries)
def test_bound_of_the_paper_is_the_best_set_of_rows(case, query):
    query = existing(case, query)
    rows = case.classes(range(len(case.extents)), case.covered(query))
    assert case.bounds.of_query(query) == pytest.approx(case.best_union(rows), rel=ROUNDING)
    assert case.bounds.of_all_rows() == case.bounds.of_query([])
    refinements = case.refinements(case.covered(query), range(len(case.extents)))
    best = max(map(case.value, refinements))
    assert best <= case.bounds.of_query(query) * (1 + ROUNDING)


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@given(case=cases(), query=queries)
def test_bounds_of_columns_are_the_best_unions_of_row_classes(case, query, instruction_set):
    query = existing(case, query)
    extent, columns = case.covered(query), case.candidates(query)
    bounds = case.bounds.of_columns(query, instruction_set)
    assert [column for column, *_ in bounds] == columns
    is_forced = extent & case.covered(columns)
    for column, bound, sum_gradients, sum_hessians in bounds:
        rows = extent & case.extents[column]
        assert (sum_gradients, sum_hessians) == (
            case.gradients[rows].sum(),
            case.hessians[rows].sum(),
        )
        classes = case.classes(columns, rows & ~is_forced)
        expected = case.best_union(classes, np.flatnonzero(is_forced))
        assert bound == pytest.approx(expected, rel=ROUNDING)
        best = max(map(case.value, [rows, *case.refinements(rows, columns)]))
        assert best <= bound * (1 + ROUNDING)


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize(("closure", "intersection"), EFFORTS)
@given(case=cases(max_rows=12), query=queries, share=st.floats(0.3, 1.5), chains=st.booleans())
def test_what_is_proven_is_true(case, query, share, chains, closure, intersection, instruction_set):
    query = existing(case, query)
    refinements = case.refinements(case.covered(query), case.candidates(query))
    best = max(map(case.value, refinements), default=0.0)
    for value in (share * best, best * (1 - 1e-9)):
        is_proven = case.bounds.is_proven_below(
            query,
            value,
            chains=chains,
            closure=closure,
            intersection=intersection,
            instruction_set=instruction_set,
        )
        assert not is_proven or best <= value


@pytest.mark.parametrize("chains", [False, True])
@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
def test_more_effort_proves_more(instruction_set, chains):
    n_proven = dict.fromkeys(EFFORTS, 0)
    problems = [random_case(seed) for seed in range(100)]
    for case in problems:
        columns = case.candidates([])
        best = max(map(case.value, case.refinements(case.covered([]), columns)))
        for closure, intersection in EFFORTS:
            n_proven[closure, intersection] += case.bounds.is_proven_below(
                [],
                1.1 * best,
                chains=chains,
                closure=closure,
                intersection=intersection,
                instruction_set=instruction_set,
            )
    grid, closure, intersection = n_proven.values()
    assert 0 < grid < closure < intersection < len(problems)


class Boxes:
    """All cuts on the chains of a table, with their rows and values."""

    def __init__(self, case):
        self.case = case
        chains = case.bounds.chains()
        self.tops = [len(columns) for columns in chains]
        # By chain and row, the level of the smallest column that has the row.
        self.levels = np.array(
            [len(columns) - case.extents[columns].sum(axis=0) for columns in chains]
        )

    def __iter__(self):
        """Cuts, the same closed around the rows covered, the sum of gradients, and the value."""
        for cuts in itertools.product(*(range(top + 1) for top in self.tops)):
            covered = np.all(self.levels <= np.array(cuts)[:, np.newaxis], axis=0)
            if covered.any():
                closed = self.levels[:, covered].max(axis=1)
                gradient = self.case.gradients[covered].sum()
                yield np.array(cuts), closed, gradient, self.case.value(covered)

    @cached_property
    def best_value(self):
        return max(value for *_, value in self)


def draw_levels(data, lows, highs):
    return [data.draw(st.integers(low, high)) for low, high in zip(lows, highs, strict=True)]


def is_positive(gradient, is_negative):
    return gradient < 0 if is_negative else gradient > 0


SHARES = st.sampled_from([0.0, 0.3, 0.8, 1.0])


def check_bounds_of_ranges(boxes, tight, loose, is_negative, goal):
    """A limit on coverage keeps boxes from being cut down to gaining rows: all of them count."""
    bounds = boxes.case.bounds.of_ranges(
        tight,
        loose,
        is_negative=is_negative,
        value=goal,
        min_coverage=0.5,
        max_cuts=len(boxes.tops),
    )
    for _, closed, gradient, value in boxes:
        is_inside = np.all(closed >= tight) and np.all(closed <= loose)
        if not is_inside or not is_positive(gradient, is_negative) or value < goal:
            continue
        assert bounds is not None
        implied, blocked, splits = bounds
        value *= 1 - ROUNDING
        assert value <= implied
        assert value <= blocked
        for chain, level, at_or_above, below in splits:
            assert value <= (at_or_above if closed[chain] >= level else below)
    return bounds


@given(
    case=cases(n_features=2, max_rows=12), is_negative=st.booleans(), share=SHARES, data=st.data()
)
def test_bounds_of_ranges_and_their_splits(case, is_negative, share, data):
    boxes = Boxes(case)
    loose = draw_levels(data, [0] * len(boxes.tops), boxes.tops)
    tight = draw_levels(data, [0] * len(boxes.tops), loose)
    goal = share * boxes.best_value * (1 - 1e-9)
    check_bounds_of_ranges(boxes, tight, loose, is_negative, goal)


@given(case=cases(n_features=2), is_negative=st.booleans(), share=SHARES, data=st.data())
def test_bounds_of_ranges_without_a_limit_on_coverage(case, is_negative, share, data):
    """Costing rows may be cut off first, so that what counts is the best box."""
    boxes = Boxes(case)
    goal = share * boxes.best_value * (1 - 1e-9)
    loose = draw_levels(data, [0] * len(boxes.tops), boxes.tops)
    max_cuts = data.draw(st.integers(1, len(boxes.tops)))
    bounds = case.bounds.of_ranges(
        [0] * len(loose),
        loose,
        is_negative=is_negative,
        value=goal,
        min_coverage=0.0,
        max_cuts=max_cuts,
    )
    values = [
        value
        for cuts, _, gradient, value in boxes
        if np.all(cuts <= loose)
        and (cuts < boxes.tops).sum() <= max_cuts
        and is_positive(gradient, is_negative)
    ]
    best = max(values, default=0.0) * (1 - ROUNDING)
    if best < goal or best == 0:
        return
    implied, blocked, splits = bounds
    assert best <= implied
    assert best <= blocked
    for _, _, at_or_above, below in splits:
        assert best <= max(at_or_above, below)


@given(cases(n_features=2))
def test_bounds_of_a_single_box_are_its_value(case):
    boxes = Boxes(case)
    for _, closed, gradient, value in boxes:
        if gradient == 0:
            continue
        implied, blocked, splits = case.bounds.of_ranges(
            closed.tolist(),
            closed.tolist(),
            is_negative=bool(gradient < 0),
            value=0.0,
            min_coverage=0.5,
            max_cuts=len(boxes.tops),
        )
        assert implied == pytest.approx(value, rel=1e-9)
        assert blocked == pytest.approx(value, rel=1e-9)
        assert splits == []


def test_each_argument_over_ranges_tightens_some_bound():
    """Against the paper's bound, which knows nothing of chains; and none goes too far."""
    n_implied = n_blocked = n_split = 0
    for seed in range(100):
        case = random_case(seed, n_features=2)
        boxes = Boxes(case)
        paper = case.bounds.of_all_rows()
        for is_negative, share in itertools.product([False, True], [0.5, 0.9]):
            goal = share * boxes.best_value
            tight = [0] * len(boxes.tops)
            bounds = check_bounds_of_ranges(boxes, tight, boxes.tops, is_negative, goal)
            if bounds is None:
                continue
            implied, blocked, splits = bounds
            assert implied <= paper * (1 + 1e-9)
            n_implied += implied < 0.99 * paper
            n_blocked += blocked < 0.99 * implied
            n_split += any(max(split[2:]) < 0.99 * implied for split in splits)
    assert min(n_implied, n_blocked, n_split) > 10


@pytest.mark.parametrize("instruction_set", INSTRUCTION_SETS)
@pytest.mark.parametrize("n_columns", range(7))
def test_superset_sums(n_columns, instruction_set):
    values = np.random.default_rng(n_columns).integers(-9, 10, 2**n_columns).astype(float)
    indices = np.arange(values.size)
    expected = [values[(indices & i) == i].sum() for i in indices]
    sums = _core.Problem.sum_supersets(values, n_columns, instruction_set)
    assert sums.tolist() == expected


@given(case=cases(), n_conditions=st.integers(2, 4), share=st.sampled_from([0.3, 0.7, 0.95, 1.0]))
def test_pairs_of_good_queries_are_allowed(case, n_conditions, share):
    queries = list(itertools.combinations(range(len(case.extents)), n_conditions))
    assume(queries)
    values = np.array([case.value(case.covered(query)) for query in queries])
    value = share * values.max()
    allowed = set(case.bounds.allowed_pairs(n_conditions, value))
    for query, reached in zip(queries, values, strict=True):
        if reached >= value > 0:
            assert allowed.issuperset(itertools.combinations(query, 2)), query


def test_most_pairs_are_ruled_out_where_two_conditions_tell_all():
    rng = np.random.default_rng(0)
    extents = rng.random((20, 400)) < 0.5
    gradients = np.where(extents[3] & extents[11], 4.0, -1.0)
    case = Case(extents, gradients, np.ones(400), 1.0)
    allowed = case.bounds.allowed_pairs(2, case.value(case.covered((3, 11))))
    assert (3, 11) in allowed
    assert len(allowed) < 40
