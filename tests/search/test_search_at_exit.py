"""The end of a process in which threads still search."""

import subprocess
import sys

import pytest

SEARCH = """
import threading, time
import numpy as np
from laconic import RuleBoostingRegressor

rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 20)), rng.normal(size=4000)

def fit():
    while True:
        RuleBoostingRegressor(30, slopes=False, node_limit=None, max_conditions=None, {}).fit(X, y)

def tell(progress):
    time.sleep(0)

threads = [threading.Thread(target=fit, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
"""


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("callback", ["", "callback=tell"], ids=["plain", "callback"])
def test_threads_that_search_do_not_abort_the_process(callback):
    done = run(SEARCH.format(callback) + "time.sleep(1)\nprint('end')")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_threads_that_keep_conditions_do_not_look_like_leaks():
    code = """
import threading, numpy as np
from laconic._core import Extents
def keep():
    extents = Extents(np.ones((2, 3), dtype=bool))
    has_begun.set()
    threading.Event().wait()
has_begun = threading.Event()
threading.Thread(target=keep, daemon=True).start()
has_begun.wait()
"""
    done = run(code)
    assert (done.returncode, done.stderr) == (0, "")
