"""One search in many pieces: the same result as brute force, whatever becomes of the pieces."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from brute_force import search_brute_force
from problems import random_joint_problem, random_problem

from laconic._core import optimal
from laconic.search import SearchLimits, SearchProblem, SearchStatus, search
from laconic.search import distributed as module
from laconic.search.distributed import DistributedSearch, Piece, search_piece

N_SEEDS = 150


class Here:
    """Does pieces at once, each as if it came from afar; loses some of them."""

    def __init__(self, spread, *, loss_rate=0.0, delay=0):
        self.spread = spread
        self.rng = np.random.default_rng(0)
        self.loss_rate, self.delay = loss_rate, delay
        self.pieces = []
        self.n_done = 0
        self.is_dismissed = False

    def n_slots(self):
        return 3

    def submit(self, piece):
        self.pieces.append(pickle.loads(pickle.dumps(piece)))
        self.pieces[-1] = piece, self.pieces[-1]

    def finished(self, patience):
        if not self.pieces:
            return []
        piece, copy = self.pieces.pop(self.rng.integers(len(self.pieces)))
        if self.rng.random() < self.loss_rate:
            return [(piece, None)]
        self.n_done += 1
        spread = self.spread
        problem = pickle.loads(pickle.dumps(spread.problem.detached()))
        problem = problem.restricted(spread.problem.extents, problem.sign)
        options = {**spread.options, "n_workers": 1, "beam_width": 0}
        return [(piece, search_piece(problem, spread.limits, copy, options))]

    def dismiss(self):
        self.is_dismissed = True


@pytest.fixture(autouse=True)
def tiny_pieces(monkeypatch):
    """A node each, but for a few."""
    for name in ("SECONDS_ALONE", "MIN_SECONDS", "MAX_SECONDS", "GRACE"):
        monkeypatch.setattr(module, name, 0.0)


def spread_search(problem, branching="conditions", *, callback=None, loss_rate=0.0, **limits):
    node_limit = limits.pop("node_limit", None)
    limits = SearchLimits(**limits)
    options = {
        "branching": branching,
        "approximation_factor": limits.approximation_factor,
        "memory_limit": 2**28,
        "instruction_set": None,
    }
    spread = DistributedSearch(
        problem, limits, options, callback, node_limit=node_limit, table_limit=None
    )
    spread.begin((), 1, 0, 3)
    crew = Here(spread, loss_rate=loss_rate)
    if spread.is_open():
        spread.share(crew)
        assert crew.is_dismissed
    return spread.result(), crew


def branchings(problem, limits):
    """List the ways of branching that a problem can be shared by."""
    n_conditions = limits.get("max_conditions")
    is_joint = problem.n_components > 0
    if n_conditions is not None and n_conditions <= (4 if is_joint else 5):
        yield "tables"
    if not is_joint or problem.l2_regularization > 0:
        yield "conditions"
    yield "paper"


@pytest.mark.parametrize("make", [random_problem, random_joint_problem])
@pytest.mark.parametrize("max_conditions", ["own", None, 3, 4, 5])
def test_pieces_find_what_brute_force_finds(make, max_conditions):
    n_pieces = 0
    for seed in range(N_SEEDS):
        example = make(seed)
        limits = dict(example.limits)
        if max_conditions != "own":
            limits["max_conditions"] = max_conditions
        expected = search(example.problem, search_brute_force, **limits)
        for branching in branchings(example.problem, limits):
            found, crew = spread_search(example.problem, branching, loss_rate=0.1, **limits)
            assert found.query == expected.query, (seed, branching, example)
            assert found.objective_value == expected.objective_value
            assert found.status is SearchStatus.OPTIMAL
            n_pieces += crew.n_done
    assert n_pieces > N_SEEDS


def hard_problem(n_rows=300, n_features=8, *, seed=0, l2_regularization=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_features, n_rows))
    cuts = np.quantile(x, [0.2, 0.4, 0.6, 0.8], axis=1).T
    below = (x[:, None, :] <= cuts[:, :, None]).reshape(-1, n_rows)
    gradients = rng.normal(size=n_rows)
    return SearchProblem(
        np.concatenate([below, ~below]), gradients, np.ones(n_rows), l2_regularization
    )


@pytest.mark.parametrize(
    ("branching", "max_conditions"),
    [("conditions", None), ("conditions", 4), ("tables", 4), ("tables", 5)],
)
def test_a_hard_search_in_pieces_is_the_same(branching, max_conditions, monkeypatch):
    monkeypatch.setattr(module, "MIN_SECONDS", 0.01)
    problem = hard_problem()
    alone = search(problem, max_conditions=max_conditions, branching=branching)
    found, crew = spread_search(problem, branching, max_conditions=max_conditions)
    assert (found.query, found.bound, found.status) == (alone.query, alone.bound, alone.status)
    assert crew.n_done > 3


@pytest.mark.parametrize("branching", ["conditions", "tables"])
def test_a_share_of_the_best_is_proven(branching):
    problem = hard_problem()
    best = search(problem, max_conditions=4)
    found, _ = spread_search(problem, branching, max_conditions=4, approximation_factor=0.7)
    assert found.objective_value <= best.objective_value <= found.bound
    assert found.approximation_ratio >= 0.7 * (1 - 1e-12)
    assert found.status in (SearchStatus.APPROXIMATE, SearchStatus.OPTIMAL)


@pytest.mark.parametrize("node_limit", [1, 20, 60])
def test_a_limit_on_nodes_is_kept_and_the_bound_is_true(node_limit):
    problem = hard_problem()
    best = search(problem)
    found, _ = spread_search(problem, node_limit=node_limit)
    assert found.status is SearchStatus.NODE_LIMIT
    assert found.counters["nodes"] == node_limit
    assert found.objective_value <= best.objective_value <= found.bound


def test_a_callback_sees_true_bounds_and_ends_the_search():
    problem = hard_problem()
    best = search(problem).objective_value
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 30

    found, _ = spread_search(problem, callback=callback)
    assert found.status is SearchStatus.INTERRUPTED
    assert len(seen) == 30
    assert all(look.objective_value <= best <= look.bound for look in seen)
    assert seen[-1].n_nodes > seen[0].n_nodes
    assert seen[-1].n_open > 0
    assert found.objective_value <= best <= found.bound


def test_a_time_limit_gives_a_true_bound():
    problem = hard_problem()
    best = search(problem).objective_value
    found, _ = spread_search(problem, time_limit=1e-9)
    assert found.status is SearchStatus.TIME_LIMIT
    assert found.objective_value <= best <= found.bound


def test_pieces_start_from_the_best_query_so_far():
    problem = hard_problem()
    best = search(problem, max_conditions=3)
    options = {"branching": "conditions", "approximation_factor": 1.0, "memory_limit": 2**28}
    options |= {"instruction_set": None, "n_workers": 1, "beam_width": 0}
    piece = Piece(None, best.query, node_limit=0)
    outcome = search_piece(problem, SearchLimits(3), piece, options)
    assert outcome.query == best.query
    assert sum(part.n_nodes for part in outcome.open) == 1


def test_parts_that_end_too_early_are_refused():
    problem = hard_problem().posed()
    options = {"max_conditions": 3, "min_coverage": 0.0, "approximation_factor": 1.0}
    options |= {"node_limit": 1, "time_limit": None, "should_stop": None, "beam_width": 0}
    options |= {"start": (), "n_workers": 1, "memory_limit": 2**28, "instruction_set": None}
    options |= {"n_parts": 2}
    stopped = optimal(problem, branching="conditions", **options)
    (_, _, nodes), *_ = stopped.open
    with pytest.raises(ValueError, match="ends too early"):
        optimal(problem, branching="conditions", parts=[nodes[:-1]], **options)
    with pytest.raises(ValueError, match="cannot be divided"):
        optimal(problem, branching="ranges", **{**options, "beam_width": None})
