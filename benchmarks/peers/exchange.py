"""What the programs get and give back, as files in a folder.

This module runs under the Python of every program that is compared, 3.8 being the oldest: it needs
nothing but NumPy. A task is the training table with its settings, a measurement what came of it.
"""

import json
import os
import threading
import time
from pathlib import Path

import numpy as np

TASK = "task.json"
TABLE = "table.npz"
MEASUREMENT = "measurement.json"
COVERED = "covered.npy"


class Task:
    """Training rows and settings of a problem.

    Attributes
    ----------
    columns : dict of str to ndarray
        Numbers, or str for a categorical column.
    y : ndarray of float
    loss : {"logistic", "squared"}
    l2_regularization : float
    n_rules : int
    max_conditions_per_column : dict of str to int
    time_limit : float
        CPU seconds for a fit.
    """

    def __init__(self, columns, y, **settings):
        self.columns = columns
        self.y = y
        self.settings = settings
        self.__dict__.update(settings)

    def write(self, folder):
        """Store the task for `read_task`, possibly of another Python."""
        # By position: names of columns may not do as names of files.
        arrays = {str(i): column for i, column in enumerate(self.columns.values())}
        np.savez(folder / TABLE, y=self.y, **arrays)
        content = {"names": list(self.columns), "settings": self.settings}
        (folder / TASK).write_text(json.dumps(content), encoding="utf-8")


def read_task(folder):
    """Read what `Task.write` stored."""
    content = json.loads((folder / TASK).read_text(encoding="utf-8"))
    with np.load(folder / TABLE) as arrays:
        columns = {name: arrays[str(i)] for i, name in enumerate(content["names"])}
        return Task(columns, arrays["y"], **content["settings"])


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
    n_conditions : int
        Number of candidate conditions.
    evaluations : int or None
        Queries whose objective was computed.
    nodes : int or None
        Queries that were extended by further conditions.
    weights : list of float
    covered : ndarray of shape (n_rules, n_rows), dtype bool, or None
        Rows that each rule covers.
    """

    def __init__(self, **attributes):
        self.versions = {}
        self.seconds = 0.0
        self.is_complete = False
        self.n_conditions = None
        self.evaluations = None
        self.nodes = None
        self.weights = []
        self.covered = None
        self.__dict__.update(attributes)

    def write(self, folder):
        """Store the measurement for `read_measurement`, possibly of another Python."""
        content = dict(self.__dict__)
        covered = content.pop("covered")
        if covered is not None:
            np.save(folder / COVERED, covered)
        (folder / MEASUREMENT).write_text(json.dumps(content), encoding="utf-8")


def read_measurement(folder):
    """Read what `Measurement.write` stored."""
    content = json.loads((folder / MEASUREMENT).read_text(encoding="utf-8"))
    covered = folder / COVERED
    return Measurement(covered=np.load(covered) if covered.is_file() else None, **content)


class Stopwatch:
    """Context manager that takes the CPU time of a fit and ends the process at its limit.

    At the limit the measurement is written as it is by then; a search that cannot be asked to
    stop is ended in this way too.

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

    def __init__(self, measurement, folder, time_limit):
        self.measurement = measurement
        self.folder = folder
        self.time_limit = time_limit
        self.is_over = threading.Event()

    def __enter__(self):
        threading.Thread(target=self.watch, daemon=True).start()
        self.start = time.process_time()
        return self

    def __exit__(self, *exception):
        self.seconds = time.process_time() - self.start
        self.is_over.set()

    def watch(self):
        """Wait for the end or the limit, whichever comes first."""
        start = time.process_time()
        while not self.is_over.wait(0.1):
            if time.process_time() - start > self.time_limit:
                self.measurement.seconds = self.time_limit
                self.measurement.write(self.folder)
                os._exit(0)


def task_folder(arguments):
    """Folder named on the command line of a runner."""
    return Path(arguments[1])
