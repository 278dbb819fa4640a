"""Independent computations side by side."""

import subprocess
import sys
import threading
import time
import warnings
from contextvars import ContextVar

import joblib
import pytest

from laconic._util import parallel
from laconic._util.parallel import (
    call_outside,
    check_interrupt,
    is_worker,
    map_in_parallel,
    n_workers,
)

N_JOBS = (None, 1, 2, 3, 8)
WORD: ContextVar[str] = ContextVar("word", default="")
# A test that goes wrong ends.
PATIENCE = 20


def meet(barrier):
    barrier.wait(PATIENCE)
    return threading.get_ident()


def until_interrupted():
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        check_interrupt()
        time.sleep(0.001)
    raise TimeoutError


@pytest.mark.parametrize("n_jobs", N_JOBS)
def test_results_have_the_order_of_the_items(n_jobs):
    def slow_at_first(number):
        time.sleep(0.02 * (number == 0))
        return -number

    assert map_in_parallel(slow_at_first, iter(range(6)), n_jobs=n_jobs) == [0, -1, -2, -3, -4, -5]
    assert map_in_parallel(slow_at_first, [], n_jobs=n_jobs) == []


def test_as_many_items_as_there_are_threads_are_visited_side_by_side():
    idents = map_in_parallel(meet, [threading.Barrier(3)] * 3, n_jobs=3)
    assert len({*idents, threading.get_ident()}) == 4


@pytest.mark.parametrize(("n_jobs", "n_items"), [(None, 3), (1, 3), (4, 1)])
def test_one_worker_is_a_plain_loop(n_jobs, n_items):
    def ident(_):
        assert not is_worker()
        return threading.get_ident()

    idents = map_in_parallel(ident, range(n_items), n_jobs=n_jobs)
    assert idents == n_items * [threading.get_ident()]


def test_workers_see_the_context_of_the_caller():
    def change(number):
        before = WORD.get()
        WORD.set(f"{before}{number}")
        return before, WORD.get()

    token = WORD.set("given")
    try:
        assert map_in_parallel(change, [0, 1], n_jobs=2) == [
            ("given", "given0"),
            ("given", "given1"),
        ]
        assert WORD.get() == "given"
    finally:
        WORD.reset(token)


@pytest.mark.parametrize("n_jobs", N_JOBS)
def test_the_first_item_that_fails_decides(n_jobs):
    second_fails = threading.Event()
    visited = []

    def fail(number):
        visited.append(number)
        if number == 1 and n_jobs in (2, 3, 8):
            second_fails.wait(PATIENCE)
        if number == 2:
            second_fails.set()
        if number in (1, 2):
            raise ValueError(f"item {number}")
        return number

    with pytest.raises(ValueError, match="item 1"):
        map_in_parallel(fail, range(100), n_jobs=n_jobs)
    assert len(visited) < 100
    assert not is_worker()


@pytest.mark.parametrize("n_jobs", N_JOBS)
def test_warnings_have_the_order_of_the_items(n_jobs):
    def warn(number):
        time.sleep(0.02 * (number == 0))
        warnings.warn(f"item {number}", UserWarning, stacklevel=1)
        warnings.warn("all items", UserWarning, stacklevel=1)

    before = warnings.showwarning
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        map_in_parallel(warn, range(3), n_jobs=n_jobs)
    texts = [str(each.message) for each in caught]
    assert texts == ["item 0", "all items", "item 1", "all items", "item 2", "all items"]
    assert {each.filename for each in caught} == {__file__}
    assert warnings.showwarning == before


@pytest.mark.parametrize("n_jobs", N_JOBS)
def test_warnings_that_are_errors_are_raised(n_jobs):
    def warn(number):
        warnings.warn(f"item {number}", UserWarning, stacklevel=1)

    with pytest.raises(UserWarning, match="item 0"):
        map_in_parallel(warn, range(3), n_jobs=n_jobs)


def test_warnings_of_others_are_shown_at_once():
    with pytest.warns(UserWarning, match="outside"):
        map_in_parallel(
            lambda _: call_outside(warnings.warn, "outside", UserWarning), range(2), n_jobs=2
        )


def test_calls_outside_run_in_the_thread_of_the_caller():
    running = []

    def ident(number):
        running.append(number)
        time.sleep(0.001)
        running.remove(number)
        assert not running  # one call at a time
        return threading.get_ident()

    idents = map_in_parallel(lambda n: call_outside(ident, n), range(6), n_jobs=3)
    assert {*idents, call_outside(ident, 0)} == {threading.get_ident()}


def test_calls_of_nested_workers_run_in_the_outermost_thread():
    def inner(_):
        return call_outside(threading.get_ident)

    def outer(_):
        return map_in_parallel(inner, range(2), n_jobs=2)

    found = map_in_parallel(outer, range(2), n_jobs=4)
    assert found == 2 * [2 * [threading.get_ident()]]


def test_errors_of_calls_outside_are_raised_in_the_worker():
    def refuse():
        raise ValueError("refused")

    def work(_):
        with pytest.raises(ValueError, match="refused"):
            call_outside(refuse)
        return "caught"

    assert map_in_parallel(work, range(2), n_jobs=2) == ["caught"] * 2


@pytest.mark.parametrize(("n_jobs", "n_items", "share"), [(2, 2, 1), (8, 3, 2), (9, 2, 4)])
def test_workers_share_the_threads(n_jobs, n_items, share):
    barriers = [threading.Barrier(n_items)] * n_items

    def work(barrier):
        meet(barrier)
        found = [n_workers(n) for n in (-1, None, 1, 100)]
        meet(barrier)
        return found

    for _, one, _, many in map_in_parallel(work, barriers, n_jobs=n_jobs):
        assert (one, many) == (1, share)


def test_the_last_worker_has_all_threads():
    others = threading.Barrier(3)

    def work(number):
        if number < 3:
            others.wait(PATIENCE)
            return n_workers(4)
        deadline = time.monotonic() + PATIENCE
        while n_workers(4) < 4 and time.monotonic() < deadline:
            time.sleep(0.001)
        return n_workers(4)

    assert map_in_parallel(work, range(4), n_jobs=4)[3] == 4


def test_nested_use_does_not_oversubscribe():
    n_running, most, lock = 0, 0, threading.Lock()

    def inner(_):
        nonlocal n_running, most
        with lock:
            n_running += 1
            most = max(most, n_running)
        time.sleep(0.002)
        with lock:
            n_running -= 1

    def outer(_):
        map_in_parallel(inner, range(6), n_jobs=8)

    map_in_parallel(outer, range(4), n_jobs=4)
    assert most <= 4


def test_n_jobs_as_in_scikit_learn(monkeypatch):
    monkeypatch.setattr(parallel, "_n_processors", lambda: 4)
    assert [n_workers(n) for n in (None, 1, 3, 70, -1, -2, -4, -9)] == [1, 1, 3, 70, 4, 3, 1, 1]
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert [n_workers(n) for n in (None, 1, -1)] == [3, 1, 4]
    with joblib.parallel_config(backend="threading", n_jobs=100):
        assert n_workers(None) == 4
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(ValueError, match="n_jobs must be a whole number other than 0"):
            map_in_parallel(abs, [1, 2], n_jobs=wrong)


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_ctrl_c_stops_all_workers(n_jobs):
    stopped = []

    def work(number):
        if number == 1:
            call_outside(interrupt)
        try:
            until_interrupted()
        except KeyboardInterrupt:
            stopped.append(number)
            raise

    with pytest.raises(KeyboardInterrupt):
        map_in_parallel(work, range(40), n_jobs=n_jobs)
    assert 0 in stopped
    assert len(stopped) < 10


def test_ctrl_c_stops_nested_workers():
    def inner(number):
        if number == 1:
            call_outside(interrupt)
        until_interrupted()

    with pytest.raises(KeyboardInterrupt):
        map_in_parallel(lambda _: map_in_parallel(inner, range(2), n_jobs=2), range(2), n_jobs=4)


def test_an_error_stops_the_others():
    def work(number):
        if number == 0:
            raise ValueError("refused")
        until_interrupted()

    with pytest.raises(ValueError, match="refused"):
        map_in_parallel(work, range(4), n_jobs=4)


SIGNALLED = """
import os, signal, threading, time
from laconic._util.parallel import check_interrupt, map_in_parallel

started = threading.Barrier(3)

def work(number):
    started.wait(20)
    if number == 0:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
    for _ in range(20_000):
        check_interrupt()
        time.sleep(0.001)

try:
    map_in_parallel(work, range(9), n_jobs=3)
except KeyboardInterrupt:
    print("interrupted", threading.active_count())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
def test_a_signal_stops_all_workers():
    command = [sys.executable, "-c", SIGNALLED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "interrupted 1\n"
