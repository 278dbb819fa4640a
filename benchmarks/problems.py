"""The prediction problems of the paper: training rows, settings and candidate conditions.

The settings live in a folder outside the project: the one named by LACONIC_DATASETS, or
``shared/datasets`` beside the checkout. Its ``spec.json`` says with which settings the paper used
the problems; the tables that cannot be computed are beside it.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from benchmarks.datasets import find_folder, load_dataset
from laconic.candidates.candidates import CandidateConditions
from laconic.search import Extents
from laconic.tables.tables import as_table
from laconic.terms.conditions import Condition

AS_IN_THE_PAPER = {
    "strategy": "stagewise",
    "fit_intercept": False,
    "brevity": 0.0,
    "slopes": False,
}
"""Settings of estimators that boost as the paper does, whatever the defaults are."""

NEIGHBOUR = Path(__file__).parents[2] / "shared" / "datasets"


@dataclass(frozen=True, eq=False)
class Problem:
    """One split of a problem, with the paper's settings for optimal rules.

    Attributes
    ----------
    name : str
    task : {"classification", "regression"}
    X, X_test : pandas.DataFrame
        Features of the training rows and of the test rows.
    y, y_test : ndarray of float
        Their targets: 1 or -1 for classification.
    l2_regularization : float
    n_terms : int
    max_conditions_per_column : dict of str to int
        Largest number of candidate conditions that a numeric column gives.
    """

    name: str
    task: str
    X: pd.DataFrame
    X_test: pd.DataFrame
    y: NDArray[np.float64]
    y_test: NDArray[np.float64]
    l2_regularization: float
    n_terms: int
    max_conditions_per_column: dict[str, int]

    @property
    def loss(self) -> str:
        """Name of the loss."""
        return "logistic" if self.task == "classification" else "squared"

    def candidates(self) -> CandidateConditions:
        """Conditions of the paper and the training rows that they cover."""
        conditions = paper_conditions(self.X, self.max_conditions_per_column)
        table = as_table(self.X)
        extents = np.array([condition.covered(table) for condition in conditions])
        return CandidateConditions(tuple(conditions), Extents(extents))


def find_datasets(folder: str | os.PathLike[str] | None = None) -> Path:
    """Folder of the problems: the given one, the one in LACONIC_DATASETS, or the neighbour."""
    found = find_folder(folder) or NEIGHBOUR
    if not (found / "spec.json").is_file():
        raise FileNotFoundError(
            f"The folder of benchmark problems must hold a spec.json. Got {found}. "
            "Set LACONIC_DATASETS to the folder."
        )
    return found


@cache
def specifications(folder: Path) -> dict[str, dict[str, Any]]:
    """Source, settings and published results of every problem, by name."""
    return json.loads((folder / "spec.json").read_text(encoding="utf-8"))


def load_problem(name: str, folder: Path, split: int = 0) -> Problem:
    """Load a problem and split it as the paper does.

    Parameters
    ----------
    name : str
        A key of `specifications`.
    folder : Path
    split : int, default=0
        Position among the seeds of the paper's splits.
    """
    spec = specifications(folder)[name]
    seed = spec["split_seeds"][split]
    dataset = load_dataset(name, folder=folder, random_state=seed, backend="pandas")
    X, y = dataset.data, dataset.target.astype(float)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=spec["test_size"], random_state=seed
    )
    limits = spec["max_col_attr"]
    return Problem(
        name=name,
        task=spec["task"],
        X=X_train,
        X_test=X_test,
        y=y_train,
        y_test=y_test,
        l2_regularization=spec["lambda_opt"],
        n_terms=spec["max_rules"],
        max_conditions_per_column=(
            limits if isinstance(limits, dict) else dict.fromkeys(X.columns, limits)
        ),
    )


def paper_conditions(X: pd.DataFrame, limits: Mapping[str, int]) -> list[Condition]:
    """List the conditions that the paper derives from a table, column by column.

    A numeric column with at most ``limit / 2`` distinct values gives ``<= v`` and ``>= v`` for each
    of them, unless always true. One with more gives both for the quantiles at multiples of
    ``1 / (limit // 2)``, without the smallest: ``<=`` the largest is always true, and stays. A
    categorical column gives ``== v`` for every value.
    """
    is_numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in X.dtypes.tolist()]
    # pandas takes longer for a column than for all of them.
    columns = X.to_numpy(float).T if all(is_numeric) else (X[name] for name in X.columns)
    conditions: list[Condition] = []
    for name, column, is_number in zip(X.columns.tolist(), columns, is_numeric, strict=True):
        if is_number:
            conditions += _threshold_conditions(name, np.asarray(column, float), limits[name])
        else:
            conditions += [Condition(name, "==", value) for value in column.unique()]
    return conditions


def _threshold_conditions(name: str, values: NDArray[np.float64], limit: int) -> list[Condition]:
    ordered = np.sort(values)
    is_step = ordered[1:] > ordered[:-1]
    if 2 * (np.count_nonzero(is_step) + 1) <= limit:
        below, above = ordered[:-1][is_step], ordered[1:][is_step]
    else:
        quantiles = _quantiles(ordered, n_bins=limit // 2)
        below = above = quantiles[1:][quantiles[1:] > quantiles[:-1]]
    # >= v, in the form that a condition has.
    above = np.nextafter(above, -np.inf)
    return [
        *(Condition(name, "<=", value) for value in below.tolist()),
        *(Condition(name, ">", value) for value in above.tolist()),
    ]


def _quantiles(ordered: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Quantiles at multiples of ``1 / n_bins``, rounded as the published implementation does.

    Several times faster than NumPy's, which matters where a whole fit takes milliseconds.
    """
    below, above, shares = _quantile_positions(len(ordered), n_bins)
    lower = ordered[below]
    return lower + (ordered[above] - lower) * shares


@cache
def _quantile_positions(
    n_rows: int, n_bins: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    positions = np.arange(n_bins + 1) / n_bins * (n_rows - 1)
    below = positions.astype(np.intp)
    return below, np.minimum(below + 1, n_rows - 1), positions - below
