"""Predictions and whole commands, with the code of the suites."""

from collections.abc import Iterator
from time import perf_counter, process_time
from timeit import Timer
from typing import Any

from benchmarks.suites.commands import Folds, Start, WideFile
from benchmarks.suites.predict import Predict, PredictOneRow

ONE_ROW, BATCH, COMMAND = "one row", "batch", "command"
FORMS = {
    "NumPy array": "numpy",
    "pandas DataFrame": "pandas",
    "polars DataFrame": "polars",
    "list of one dictionary": "dictionary",
}
N_BATCH, N_WIDE = 1_000_000, 5_000
THREADS = (1, 2)
REPEATS = 3


def predict(n_batch: int = N_BATCH) -> Iterator[list[dict[str, Any]]]:
    """Microseconds of single rows, and rows per second of a pandas table of mixed columns."""
    rows = []
    for form, name in FORMS.items():
        for columns in ("numbers", "mixed"):
            suite = PredictOneRow()
            suite.setup(name, columns, "predict")
            timer = Timer(lambda suite=suite: suite.predict(suite.row), timer=process_time)
            n_calls, _ = timer.autorange()
            microseconds = min(timer.repeat(REPEATS, n_calls)) / n_calls * 1e6
            rows.append(_row(ONE_ROW, form, columns, "µs", round(microseconds, 1)))
    yield rows
    batch = Predict()
    batch.setup(n_batch)
    rate = max(batch.track_rows_per_second(n_batch) for _ in range(REPEATS))
    yield [_row(BATCH, f"{n_batch:,} rows", "mixed", "rows per second", round(rate))]


def commands(n_wide: int = N_WIDE) -> Iterator[list[dict[str, Any]]]:
    """Seconds of commands, from the start of Python to its end."""
    for name, call in (("help", "laconic --help"), ("show", "laconic show model.json")):
        yield [_command(call, Start(), name)]
    for kinds in ("numbers", "mixed"):
        call = f"laconic fit, 200 × {n_wide:,} {kinds}, one term of one condition, no validation"
        yield [_command(call, WideFile(), n_wide, kinds)]
    for n_jobs in THREADS:
        call = f"laconic fit --n-jobs {n_jobs}, 1,460 × 79 mixed, five folds"
        yield [_command(call, Folds(), n_jobs)]


def _command(call: str, suite: Any, *parameters: Any) -> dict[str, Any]:
    """Run a command some times; CPU seconds of it and of the processes that it starts."""
    suite.setup(*parameters)
    try:
        runs = []
        while len(runs) < REPEATS and sum(seconds for _, seconds in runs) < 10:
            started = perf_counter()
            cpu_seconds = suite.cpu_seconds(*suite.tokens(*parameters))
            runs.append((cpu_seconds, perf_counter() - started))
    finally:
        suite.teardown()
    cpu_seconds, seconds = (round(min(each), 3) for each in zip(*runs, strict=True))
    return _row(COMMAND, call, "", "CPU s", cpu_seconds) | {"seconds": seconds}


def _row(kind: str, call: str, columns: str, unit: str, value: float) -> dict[str, Any]:
    return {"kind": kind, "call": call, "columns": columns, "unit": unit, "value": value}
