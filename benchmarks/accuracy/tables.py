"""The tables of the study: their splits, and which half a table belongs to."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.accuracy.packaged import PACKAGED
from benchmarks.paper.settings import NOT_IN_PAPER
from benchmarks.problems import find_datasets, load_problem, specifications

MAX_TRAINING_ROWS = 5_000
TEST_SIZE = 0.2
CLASSIFICATION, REGRESSION = "classification", "regression"
CHOOSING, REPORTING = "choosing", "reporting"


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows of a table; classes are 1 and -1."""

    table: str
    index: int
    task: str
    X: pd.DataFrame
    y: NDArray[np.float64]
    X_test: pd.DataFrame
    y_test: NDArray[np.float64]

    @property
    def is_classification(self) -> bool:
        """Whether there are classes to predict."""
        return self.task == CLASSIFICATION


@cache
def paper_tasks(folder: Path | None = None) -> dict[str, str]:
    """Task of every problem of the paper, by its name."""
    found = specifications(find_datasets(folder))
    return {name: spec["task"] for name, spec in found.items() if name != NOT_IN_PAPER}


def all_tasks(folder: Path | None = None) -> dict[str, str]:
    """Task of every table of the study, installed or not, by its name."""
    packaged = {name: table.task for name, table in PACKAGED.items()}
    return dict(sorted((paper_tasks(folder) | packaged).items()))


def installed_tables(folder: Path | None = None) -> list[str]:
    """Names of the tables that can be loaded; says which cannot."""
    names = []
    for name in all_tasks(folder):
        table = PACKAGED.get(name)
        if table is not None and not table.is_installed:
            print(f"skipped table {name}: the package {table.package} is not installed")
        else:
            names.append(name)
    return names


def halves(tasks: dict[str, str]) -> dict[str, str]:
    """Half of every table: alternating by name, classes and numbers apart.

    Settings are chosen on one half and scores are reported on the other.
    """
    found = {}
    for task in (CLASSIFICATION, REGRESSION):
        names = sorted(name for name in tasks if tasks[name] == task)
        found |= {name: (CHOOSING, REPORTING)[i % 2] for i, name in enumerate(names)}
    return found


def load_split(
    name: str,
    split: int,
    folder: Path | None = None,
    max_training_rows: int | None = MAX_TRAINING_ROWS,
) -> Split:
    """Load a table and split it: as the paper does where it is one of the paper's.

    Parameters
    ----------
    name : str
    split : int
        Position among the paper's seeds, or the seed of other tables.
    folder : Path, default=None
        Of the paper's problems.
    max_training_rows : int or None
        More training rows are sampled, always the same ones.
    """
    if name in PACKAGED:
        task = PACKAGED[name].task
        X, y = PACKAGED[name].load()
        classes = y if task == CLASSIFICATION else None
        parts = train_test_split(X, y, test_size=TEST_SIZE, random_state=split, stratify=classes)
        X_train, X_test, y_train, y_test = parts
    else:
        problem = load_problem(name, find_datasets(folder), split)
        task, X_train, X_test = problem.task, problem.X, problem.X_test
        y_train, y_test = problem.y, problem.y_test
    if max_training_rows is not None and len(y_train) > max_training_rows:
        random = np.random.default_rng(split)
        rows = np.sort(random.choice(len(y_train), max_training_rows, replace=False))
        X_train, y_train = X_train.iloc[rows], y_train[rows]
    return Split(name, split, task, X_train, y_train, X_test, y_test)
