"""Searches on a Dask cluster: the same models, whatever becomes of the workers."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import pytest
from sklearn.base import clone

import laconic
from laconic import RuleBoostingClassifier, RuleBoostingRegressor, spread_over
from laconic.search import (
    SearchLimits,
    SearchProblem,
    SearchStatus,
    distributed,
    search,
)
from laconic.search.distributed import OpenPart, Piece

pytest.importorskip("distributed")

# Each with what makes the search another one.
FITS = [
    (RuleBoostingRegressor, {"max_conditions": None}),
    (RuleBoostingRegressor, {"max_conditions": 3}),
    (RuleBoostingRegressor, {"max_conditions": 4}),
    (RuleBoostingRegressor, {"max_conditions": 5, "l2_regularization": 3.0}),
    (RuleBoostingRegressor, {"max_conditions": None, "strategy": "stagewise"}),
    (RuleBoostingRegressor, {"max_conditions": 5, "strategy": "stagewise"}),
    (RuleBoostingClassifier, {"max_conditions": None}),
    (RuleBoostingClassifier, {"max_conditions": 4, "min_coverage": 12}),
    (RuleBoostingClassifier, {"max_conditions": 5, "strategy": "stagewise"}),
    (RuleBoostingClassifier, {"max_conditions": None, "strategy": "stagewise"}),
    (RuleBoostingRegressor, {"max_conditions": 4, "monotonic_cst": [1, 0, 0, 0]}),
]


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Everything goes to the workers, and often."""
    monkeypatch.setattr(distributed, "SECONDS_ALONE", 0.0)
    monkeypatch.setattr(distributed, "MIN_SECONDS", 0.02)


@pytest.fixture
def submitted(monkeypatch):
    """Pieces that were handed out."""
    pieces = []
    submit = distributed.DaskWorkers.submit

    def note(workers, piece):
        pieces.append(piece)
        submit(workers, piece)

    monkeypatch.setattr(distributed.DaskWorkers, "submit", note)
    return pieces


def table(seed, n_rows=90, n_features=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).round(1)
    y = X[:, 0] * (X[:, 1] > 0) + rng.normal(size=n_rows)
    return X, y


def hard_problem(n_rows=400, n_features=14):
    """Noise: takes seconds."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n_features, n_rows))
    cuts = np.quantile(x, [0.2, 0.4, 0.6, 0.8], axis=1).T
    below = (x[:, None, :] <= cuts[:, :, None]).reshape(-1, n_rows)
    extents = np.concatenate([below, ~below])
    return SearchProblem(extents, rng.normal(size=n_rows), np.ones(n_rows), 10.0)


@pytest.mark.parametrize("number", range(len(FITS)))
def test_models_are_those_of_one_process(dask_client, number, submitted):
    kind, parameters = FITS[number]
    X, y = table(number)
    if kind is RuleBoostingClassifier:
        y = y > 0
    model = kind(n_terms=3, node_limit=None, max_thresholds=3, **parameters)
    alone = clone(model).fit(X, y)
    with spread_over(dask_client):
        spread = clone(model).fit(X, y)
    assert submitted
    assert spread.ensemble_ == alone.ensemble_
    for found, expected in zip(spread.search_results_, alone.search_results_, strict=True):
        assert found.status is expected.status is SearchStatus.OPTIMAL
        assert (found.query, found.bound) == (expected.query, expected.bound)


@pytest.mark.parametrize("max_conditions", [3, None])
def test_prices_of_length_are_those_of_one_process(dask_client, submitted, max_conditions):
    problem = hard_problem(n_rows=100, n_features=4)
    limits = {"brevity": 1.0, "noise": 1e-4, "max_conditions": max_conditions}
    alone = search(problem, **limits)
    found = search(problem, **limits, client=dask_client)
    assert submitted
    assert found.status is alone.status is SearchStatus.OPTIMAL
    assert (found.query, found.bound) == (alone.query, alone.bound)


def test_a_worker_that_is_killed_costs_nothing_but_time(dask_client, submitted):
    problem = hard_problem()
    alone = search(problem, branching="conditions")
    killed = []

    def kill_one(progress):
        if not killed and len(submitted) > 4:
            pid = next(iter(dask_client.run(os.getpid).values()))
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    found = search(problem, branching="conditions", client=dask_client, callback=kill_one)
    assert killed
    assert found.status is SearchStatus.OPTIMAL
    assert (found.query, found.bound) == (alone.query, alone.bound)
    dask_client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize("branching", ["conditions", "tables"])
def test_a_time_limit_gives_a_true_bound(dask_client, branching):
    problem = hard_problem()
    limits = {"branching": branching, "max_conditions": 5}
    best = search(problem, max_conditions=5, branching="conditions").objective_value
    found = search(problem, client=dask_client, time_limit=0.2, **limits)
    assert found.status is SearchStatus.TIME_LIMIT
    assert 0 < found.objective_value <= best <= found.bound


def test_ctrl_c_gives_a_true_bound(dask_client, submitted):
    problem = hard_problem()
    best = search(problem, branching="conditions").objective_value

    def press(progress):
        if len(submitted) > 2:
            os.kill(os.getpid(), signal.SIGINT)

    options = {"branching": "conditions", "client": dask_client, "callback": press}
    found = search(problem, on_interrupt="keep", **options)
    assert found.status is SearchStatus.INTERRUPTED
    assert 0 < found.objective_value <= best <= found.bound
    submitted.clear()
    with pytest.raises(KeyboardInterrupt):
        search(problem, **options)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_callback_sees_the_search_get_on(dask_client):
    problem = hard_problem()
    best = search(problem, branching="conditions").objective_value
    seen = []
    search(problem, branching="conditions", client=dask_client, callback=seen.append)
    assert all(look.objective_value <= best <= look.bound for look in seen)
    assert seen[-1].n_nodes > seen[0].n_nodes


def test_the_problem_is_sent_once_for_all_rules(dask_client, monkeypatch):
    sent = []
    broadcast = distributed.DaskWorkers._broadcast

    def note(workers, value):
        sent.append(type(value).__name__)
        return broadcast(workers, value)

    monkeypatch.setattr(distributed.DaskWorkers, "_broadcast", note)
    X, y = table(0)
    with spread_over(dask_client):
        RuleBoostingRegressor(n_terms=3, node_limit=None, max_thresholds=3).fit(X, y)
    assert sent.count("Extents") == 1
    assert sent.count("tuple") >= 3


def test_large_pieces_are_no_reason_for_a_warning(dask_client):
    problem = hard_problem(60, 2)
    workers = distributed.DaskWorkers(dask_client, problem, SearchLimits(), {})
    workers.submit(Piece([OpenPart(1.0, 1, bytes(11 * 2**20))]))
    workers.dismiss()


def test_errors_on_workers_are_raised(dask_client, monkeypatch):
    monkeypatch.setattr(distributed, "_search_piece", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        search(hard_problem(), branching="conditions", client=dask_client)


def test_ranges_stay_on_one_machine(dask_client, submitted):
    found = search(hard_problem(60, 2), branching="ranges", client=dask_client)
    assert found.is_optimal
    assert not submitted


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install \"laconic\[dask\]\""):
        search(hard_problem(60, 2), client="anything")


def test_what_is_no_client_is_refused():
    with pytest.raises(ValueError, match=r"client must be a distributed\.Client"):
        search(hard_problem(60, 2), client="tcp://somewhere")
    with pytest.raises(ValueError, match="client must be"), laconic.spread_over(None):
        pass
