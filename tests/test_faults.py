"""What a machine may lack: threads and memory."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="limits are those of POSIX")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

POSE = """
import re, resource, sys
import numpy as np
from laconic.search import SearchProblem, search

def limit_memory(n_megabytes):
    status = open("/proc/self/status").read()
    used = int(re.search(r"VmSize:\\s+(\\d+)", status)[1]) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (used + n_megabytes * 2**20,) * 2)

generator = np.random.default_rng(0)
"""


def run_script(script, *arguments, **options):
    command = [sys.executable, "-c", POSE + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout.strip()


@needs_linux
def test_searches_do_with_the_threads_that_there_are():
    """A thread takes a stack of 1 GiB, for which there is no room."""
    script = """
extents = generator.random((40, 400)) < 0.5
problem = SearchProblem(extents, generator.normal(size=400), np.ones(400), 1.0)
options = {"max_conditions": 4, "node_limit": 300, "branching": "conditions", "beam_width": 0}
alone = search(problem, **options)
limit_memory(300)
together = search(problem, n_jobs=8, **options)
assert (together.query, together.bound, together.counters) == (
    alone.query, alone.bound, alone.counters
)
print("same")
"""

    def large_stacks():
        resource.setrlimit(resource.RLIMIT_STACK, (2**30, resource.RLIM_INFINITY))

    assert run_script(script, preexec_fn=large_stacks) == "same"


@needs_linux
@pytest.mark.parametrize("n_megabytes", [20, 150])
@pytest.mark.parametrize("branching", ["conditions", "tables", "ranges"])
def test_memory_that_cannot_be_had_is_an_error(branching, n_megabytes):
    script = """
try:
    limit_memory(int(sys.argv[2]))
    extents = np.sort(generator.random((30, 200_000)), axis=0) < 0.5
    problem = SearchProblem(extents, generator.normal(size=200_000), np.ones(200_000), 1.0)
    search(problem, max_conditions=3, node_limit=30, branching=sys.argv[1], memory_limit=10**12)
    print("done")
except MemoryError:
    print("MemoryError")
"""
    assert run_script(script, branching, n_megabytes) in ("done", "MemoryError")
