"""Memory after many fits."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest

from estimators import STAGEWISE
from laconic import RuleBoostingRegressor
from laconic.search import SearchProblem, search

STATM = Path("/proc/self/statm")


def resident_bytes():
    gc.collect()
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc/self/statm to read the memory in use")
@pytest.mark.parametrize("settings", [STAGEWISE | {"max_conditions": None, "node_limit": 20}, {}])
def test_many_fits_leave_nothing_behind(settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = X[:, 0] * X[:, 1] + rng.normal(size=200)
    model = RuleBoostingRegressor(1, n_jobs=2, **settings)
    model.set_params(callback=lambda progress: False)
    grown = []
    for _ in range(5):
        before = resident_bytes()
        for _ in range(300):
            model.fit(X, y)
        grown.append(resident_bytes() - before)
        # A kilobyte a fit; the statistics of one fit alone are more than that.
        if grown[-1] < 300 * 2**10:
            return
    # Memory that is taken once, such as that of a pool, would be no leak.
    pytest.fail(f"Each 300 fits took more memory, in bytes: {grown}")


@pytest.mark.skipif(not STATM.exists(), reason="needs /proc/self/statm to read the memory in use")
def test_neither_do_searches_that_are_stopped():
    rng = np.random.default_rng(0)
    extents = rng.random((60, 500)) < 0.5
    problem = SearchProblem(extents, rng.normal(size=500), np.ones(500), l2_regularization=1.0)

    def run(n_times):
        for _ in range(n_times):
            search(problem, node_limit=5, memory_limit=0, n_jobs=2)

    # Which of the allocator's arenas a thread gets differs from run to run: all fill up first.
    run(300)
    before = resident_bytes()
    run(1000)
    # Four kilobytes a search; the rows of one search are more than that.
    assert resident_bytes() - before < 2**22
