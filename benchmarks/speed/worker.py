"""One fit in a process of its own, so that its seconds and its peak memory are its own.

    python -m benchmarks.speed.worker '{"program": "laconic", "table": "1000x20"}'

prints what was measured as JSON. `run` starts such a process, also with another interpreter, in
which another version of laconic is installed: this module and what it imports use no more of
laconic than estimators and, for mixed tables, planted rules.
"""

import os

# Before NumPy: products of matrices in threads would be counted as ours.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hashlib
import json
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import Any

import numpy as np

from benchmarks.memory import peak_megabytes
from benchmarks.speed.programs import PROGRAMS
from benchmarks.speed.tables import MIXED, Table

ROOT = Path(__file__).parents[2]
N_HASHED = 1_000


def run(
    program: str,
    table: str,
    settings: Mapping[str, Any] | None = None,
    *,
    limit: float | None = None,
    python: str = sys.executable,
) -> dict[str, Any]:
    """Fit in a new process, and return what `measure` does.

    A fit that takes more than `limit` CPU seconds is ended; then `note` says so and there are no
    seconds. What another learner raises is a note, too.
    """
    task = {"program": program, "table": table, "settings": dict(settings or {}), "limit": limit}
    command = [python, "-m", "benchmarks.speed.worker", json.dumps(task)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if ended.returncode == 0:
        return json.loads(ended.stdout.splitlines()[-1])
    if program == "laconic":
        raise RuntimeError(f"The process must end with 0. Got {ended.returncode}: {command}")
    is_limit = limit is not None and ended.returncode == -signal.SIGXCPU
    return {"note": f"> {limit:,.0f}" if is_limit else "failed"}


def measure(
    program: str, table: str, settings: Mapping[str, Any], limit: float | None = None
) -> dict[str, Any]:
    """Fit one table, after a small one that imports what a fit needs."""
    chosen, shape = PROGRAMS[program], Table.parse(table)
    make = chosen.make
    small = Table.parse("200x8" + MIXED * shape.is_mixed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(small, settings).fit(*small.draw())
        before = peak_megabytes()
        X, y = shape.draw()
        model = make(shape, settings)
        if limit is not None:
            _limit_cpu(limit)
        started = process_time(), thread_time(), perf_counter()
        model.fit(X, y)
        ended = process_time(), thread_time(), perf_counter()
        if limit is not None:
            _limit_cpu(None)
        peak = peak_megabytes()
        cpu_seconds, thread_seconds, seconds = np.subtract(ended, started).round(4).tolist()
        found = {
            "version": chosen.version(),
            "cpu_seconds": cpu_seconds,
            "thread_seconds": thread_seconds,
            "seconds": seconds,
            "megabytes": round(peak - before, 1),
            "table_megabytes": shape.n_rows * shape.n_columns * 8 / 1e6,
            "r2": round(float(model.score(*shape.draw_test())), 4),
        }
        return found | (_proofs(model, X) if program == "laconic" else {})


def _proofs(model: Any, X: Any) -> dict[str, Any]:
    """How much was proven, and a hash that is the same for equal models only."""
    results = model.search_results_
    objectives = repr([result.objective_value for result in results])
    text = str(model) + objectives + model.predict(X[:N_HASHED]).tobytes().hex()
    return {
        "n_terms": len(results),
        "n_proven": sum(result.is_optimal for result in results),
        "proven_share": round(min((r.approximation_ratio for r in results), default=1.0), 4),
        "digest": hashlib.sha256(text.encode()).hexdigest()[:12],
    }


def _limit_cpu(seconds: float | None) -> None:
    """End this process after so many more CPU seconds; None ends the limit."""
    import resource  # not on Windows

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = hard if seconds is None else int(process_time() + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
