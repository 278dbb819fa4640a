"""What the programs get and give back, as files in a folder.

This module runs under the Python of every program that is compared, 3.8 being the oldest: it needs
nothing but NumPy. A task is the training table with its settings, a measurement what came of it.
"""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

TASK = "task.json"
TABLE = "table.npz"
MEASUREMENT = "measurement.json"
COVERED = "covered.npy"


@dataclass
class Task:
    """Training rows and settings of a problem.

    Attributes
    ----------
    columns : dict of str to ndarray
        Numbers, or str for a categorical column.
    y : ndarray of float
    loss : {"logistic", "squared"}
    l2_regularization : float
    n_terms : int
    max_conditions_per_column : dict of str to int
    time_limit : float
        CPU seconds for a fit.
    """

    columns: dict[str, np.ndarray]
    y: np.ndarray
    loss: str
    l2_regularization: float
    n_terms: int
    max_conditions_per_column: dict[str, int]
    time_limit: float

    def write(self, folder: Path) -> None:
        """Store the task for `read_task`, possibly of another Python."""
        # By position: names of columns may not do as names of files.
        arrays = {str(i): column for i, column in enumerate(self.columns.values())}
        np.savez(folder / TABLE, y=self.y, **arrays)
        settings = dict(vars(self), columns=list(self.columns))
        del settings["y"]
        (folder / TASK).write_text(json.dumps(settings), encoding="utf-8")


def read_task(folder: Path) -> Task:
    """Read what `Task.write` stored."""
    settings = json.loads((folder / TASK).read_text(encoding="utf-8"))
    with np.load(folder / TABLE) as arrays:
        columns = {name: arrays[str(i)] for i, name in enumerate(settings.pop("columns"))}
        return Task(columns=columns, y=arrays["y"], **settings)


@dataclass
class Measurement:
    """What a fit took, and the rules that it found.

    Attributes
    ----------
    versions : dict of str to str
        Versions of Python and of the packages that matter.
    seconds : float
        CPU time of the fit; where it was stopped, the time limit.
    is_complete : bool
        Whether all rules were found within the time limit.
    n_conditions : int or None
        Number of candidate conditions.
    evaluations : int or None
        Queries whose objective was computed.
    nodes : int or None
        Queries that were extended by further conditions.
    weights : list of float
    covered : ndarray of shape (n_terms, n_rows), dtype bool, or None
        Rows that each rule covers.
    """

    versions: dict[str, str]
    seconds: float = 0.0
    is_complete: bool = False
    n_conditions: int | None = None
    evaluations: int | None = None
    nodes: int | None = None
    weights: list[float] = field(default_factory=list)
    covered: np.ndarray | None = None

    def write(self, folder: Path) -> None:
        """Store the measurement for `read_measurement`, possibly of another Python."""
        content = asdict(self)
        covered = content.pop("covered")
        if covered is not None:
            np.save(folder / COVERED, covered)
        (folder / MEASUREMENT).write_text(json.dumps(content), encoding="utf-8")


def read_measurement(folder: Path) -> Measurement:
    """Read what `Measurement.write` stored."""
    content = json.loads((folder / MEASUREMENT).read_text(encoding="utf-8"))
    covered = folder / COVERED
    return Measurement(covered=np.load(covered) if covered.is_file() else None, **content)


class Stopwatch:
    """Context manager that takes the CPU time of a fit and ends the process at its limit.

    At the limit the measurement is written as it is by then: this also ends searches that cannot
    be asked to stop.

    Parameters
    ----------
    measurement : Measurement
    folder : Path
        Where to write it at the limit.
    time_limit : float
        In CPU seconds.

    Attributes
    ----------
    seconds : float
        CPU time between entering and leaving.
    """

    def __init__(self, measurement: Measurement, folder: Path, time_limit: float) -> None:
        self.measurement = measurement
        self.folder = folder
        self.time_limit = time_limit
        self.seconds = 0.0
        self._is_over = threading.Event()

    def __enter__(self) -> Stopwatch:
        self._start = time.process_time()
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.seconds = time.process_time() - self._start
        self._is_over.set()

    def _watch(self) -> None:
        while not self._is_over.wait(0.1):
            if time.process_time() - self._start > self.time_limit:
                self.measurement.seconds = self.time_limit
                self.measurement.write(self.folder)
                os._exit(0)
