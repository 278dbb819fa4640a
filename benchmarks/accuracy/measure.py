"""Scores of every method, table and split, added to a file as they are made."""

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.methods import Method, Model, Variant
from benchmarks.accuracy.tables import MAX_TRAINING_ROWS, Split, load_split
from benchmarks.paper.settings import resume

COLUMNS = (
    *("table", "method", "split", "step", "n_terms", "n_conditions", "n_spared"),
    *("auc", "log_loss", "r2", "seconds", "note"),
)
SURE = 1e-3  # probabilities are kept this far from 0 and 1, or one sure mistake is all there is
START = 0  # step of the best constant


def measure_all(
    path: Path,
    methods: Sequence[Method | Variant],
    tables: Sequence[str],
    n_splits: int,
    *,
    n_jobs: int,
    folder: Path | None = None,
    max_training_rows: int | None = MAX_TRAINING_ROWS,
) -> None:
    """Measure what the file does not have yet, methods that cannot be run aside."""
    known = {}
    for method in methods:
        problem = method.problem()
        if problem:
            print(f"skipped method {method.name}: {problem}", flush=True)
        else:
            known[method.name] = method
    keys = [(table, name, split) for split in range(n_splits) for name in known for table in tables]
    if keys:
        measure = partial(measure_one, known, folder, max_training_rows)
        resume(path, keys, measure, COLUMNS, n_jobs)


def measure_one(
    methods: dict[str, Method | Variant],
    folder: Path | None,
    max_training_rows: int | None,
    table: str,
    method: str,
    split: int,
) -> Iterator[dict[str, Any]]:
    """Rows of one method on one split: that of the best constant, then one per model."""
    shared = {"table": table, "method": method, "split": split}
    loaded = load_split(table, split, folder, max_training_rows)
    yield (
        shared
        | {"step": START, "n_terms": 0, "n_conditions": 0, "n_spared": 0}
        | scores(loaded, _constant(loaded))
    )
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for model in methods[method].path(loaded):
                yield shared | _described(loaded, model)
    # Whatever another learner cannot do is a result, too.
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        yield shared | {"step": -1, "note": text[:120]}


def scores(split: Split, predictions: NDArray[np.float64]) -> dict[str, float]:
    """Area under the ROC curve and log loss, or R², of the test rows."""
    if not split.is_classification:
        return {"r2": round(float(r2_score(split.y_test, predictions)), 6)}
    probabilities = np.clip(predictions, SURE, 1 - SURE)
    return {
        "auc": round(float(roc_auc_score(split.y_test, predictions)), 6),
        "log_loss": round(float(log_loss(split.y_test > 0, probabilities)), 6),
    }


def _constant(split: Split) -> NDArray[np.float64]:
    mean = np.mean(split.y > 0) if split.is_classification else split.y.mean()
    return np.full(len(split.y_test), mean)


def _described(split: Split, model: Model) -> dict[str, Any]:
    size = {} if model.size is None else vars(model.size)
    row = {"step": model.step, "seconds": round(model.seconds, 3)}
    return row | size | scores(split, model.predictions)
