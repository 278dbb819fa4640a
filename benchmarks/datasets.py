"""The prediction problems of *Better Short than Greedy*, by name: `load_dataset`.

Those that can be computed or that scikit-learn bundles work anywhere. The others are read from a
folder with one CSV file per problem, whose last column is ``target``, or come from OpenML where
it hosts them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.sources import Bundled, Columns, Hosted, Sampled, Stored, read_columns
from laconic.datasets import Dataset, tic_tac_toe
from laconic.datasets.generated import Backend, as_backend

__all__ = ["DATASET_NAMES", "FOLDER_VARIABLE", "find_folder", "load_dataset"]

FOLDER_VARIABLE = "LACONIC_DATASETS"

_KAGGLE = "https://www.kaggle.com/datasets/"
_UCI = "https://archive.ics.uci.edu/dataset/"


def _digits5(X: Any, y: Any) -> tuple[Columns, NDArray[Any]]:
    digits = y.to_numpy().astype(int)
    kept = np.isin(digits, (0, 2, 3, 5, 6, 8, 9))
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    columns = {name: X.iloc[:, i].to_numpy()[kept].astype(np.int64) for i, name in enumerate(names)}
    return columns, np.where(digits[kept] == 5, 1, -1)


def _boston(X: Any, y: Any) -> tuple[Columns, NDArray[Any]]:
    # Two numeric columns are declared as categories there.
    return {str(name): X[name].to_numpy().astype(float) for name in X}, y.to_numpy().astype(float)


def _red_wine_quality(X: Any, y: Any) -> tuple[Columns, NDArray[Any]]:
    names = (
        *("fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides"),
        *("free sulfur dioxide", "total sulfur dioxide", "density", "pH", "sulphates", "alcohol"),
    )
    columns = {name: X.iloc[:, i].to_numpy().astype(float) for i, name in enumerate(names)}
    return columns, y.to_numpy().astype(np.int64)


def _telco_churn(X: Any, y: Any) -> tuple[Columns, NDArray[Any]]:
    numbers = ("SeniorCitizen", "tenure", "MonthlyCharges")
    kept = [name for name in X if name not in ("customerID", "TotalCharges")]
    columns = {
        # Texts come with their quotes from some versions of the table.
        name: X[name].to_numpy().astype(float)
        if name in numbers
        else np.char.strip(X[name].to_numpy().astype(str), "'")
        for name in kept
    }
    return columns, np.where(np.char.strip(y.to_numpy().astype(str), "'") == "Yes", 1, -1)


_SOURCES: dict[str, Bundled | Sampled | Stored] = {
    "breast_cancer": Bundled("load_breast_cancer", "classification"),
    "digits5": Stored(
        *("classification", 3915, 64, f"{_UCI}80, digit 5 against 0, 2, 3, 6, 8 and 9"),
        ("other digit", "5"),
        Hosted(28, _digits5),
    ),
    "gender_recognition": Stored(
        *("classification", 3168, 20, f"{_KAGGLE}primaryobjects/voicegender"), ("female", "male")
    ),
    "ibm_hr": Stored(
        "classification",
        *(1470, 32, f"{_KAGGLE}pavansubhasht/ibm-hr-analytics-attrition-dataset"),
        ("stayed", "left"),
    ),
    "iris": Bundled("load_iris", "classification"),
    "wine": Bundled("load_wine", "classification"),
    "classification2": Sampled(
        "make_classification",
        "classification",
        {
            "n_samples": 2000,
            "n_features": 8,
            "n_informative": 3,
            "n_redundant": 3,
            "n_clusters_per_class": 3,
        },
    ),
    "telco_churn": Stored(
        *("classification", 7043, 18, f"{_KAGGLE}blastchar/telco-customer-churn"),
        ("stayed", "left"),
        Hosted(42178, _telco_churn),
    ),
    "titanic": Stored(
        *("classification", 712, 7, "https://www.kaggle.com/c/titanic, complete training rows"),
        ("died", "survived"),
    ),
    "titanic_paper": Stored(
        "classification",
        *(1043, 7, "https://www.kaggle.com/c/titanic, complete rows of both parts"),
        ("died", "survived"),
    ),
    "boston": Stored(
        *("regression", 506, 13, "http://lib.stat.cmu.edu/datasets/boston"),
        hosted=Hosted(531, _boston),
    ),
    "demographics": Stored(
        "regression",
        *(6876, 13, "https://hastie.su.domains/ElemStatLearn/datasets/marketing.info.txt"),
    ),
    "insurance": Stored("regression", 1338, 6, f"{_KAGGLE}mirichoi0218/insurance"),
    "diabetes": Bundled("load_diabetes", "regression"),
    "friedman1": Sampled(
        "make_friedman1", "regression", {"n_samples": 2000, "n_features": 10, "noise": 0.1}
    ),
    "friedman2": Sampled("make_friedman2", "regression", {"n_samples": 2000, "noise": 0.1}),
    "friedman3": Sampled("make_friedman3", "regression", {"n_samples": 2000, "noise": 0.1}),
    "mobile_prices": Stored(
        "regression", 2000, 20, f"{_KAGGLE}iabhishekofficial/mobile-price-classification"
    ),
    "red_wine_quality": Stored(
        *("regression", 1599, 11, f"{_UCI}186"), hosted=Hosted(40691, _red_wine_quality)
    ),
    "suicide_rates": Stored(
        "regression", 27820, 5, f"{_KAGGLE}russellyates88/suicide-rates-overview-1985-to-2016"
    ),
    "used_cars": Stored(
        "regression", 1770, 4, "https://github.com/SimonTeshuva/interpretable_Rule_Ensemble"
    ),
    "videogamesales": Stored("regression", 16327, 6, f"{_KAGGLE}gregorut/videogamesales"),
    "life_expectancy": Stored("regression", 1649, 21, f"{_KAGGLE}kumarajarshi/life-expectancy-who"),
    "world_happiness": Stored(
        "regression", 315, 8, f"{_KAGGLE}unsdsn/world-happiness, 2015 and 2016"
    ),
}

DATASET_NAMES = tuple(sorted([*_SOURCES, "tic_tac_toe"]))
"""Names that `load_dataset` knows."""


def load_dataset(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    random_state: int | None = None,
    backend: Backend | None = None,
) -> Dataset:
    """Load one of the prediction problems of *Better Short than Greedy*.

    Classification has the classes -1 and 1, regression a number to predict.

    Parameters
    ----------
    name : str
        One of `DATASET_NAMES`.
    folder : path-like, default=None
        Folder with a file ``<name>.csv`` or ``<name>.csv.gz``, for the problems that are neither
        computed nor bundled with scikit-learn: a header, the features, and ``target`` as the last
        column. None takes the folder that the environment variable ``LACONIC_DATASETS`` names, if
        any, and then OpenML, if it hosts the problem. A download needs pandas and is made once.
    random_state : int or None, default=None
        Seed of the problems that are sampled (classification2, friedman1 to friedman3); has no
        effect on the others.
    backend : {"cudf", "modin", "pandas", "polars", "pyarrow"}, default=None
        Data frame library for `data`, which must be installed. None gives an
        ndarray.

    Returns
    -------
    dataset : Dataset

    Raises
    ------
    FileNotFoundError
        The problem is to be read, but there is no file. The message says where to get it.
    """
    if name == "tic_tac_toe":
        return tic_tac_toe(backend=backend)
    if name not in _SOURCES:
        raise ValueError(
            f"'name' must be one of {', '.join(map(repr, DATASET_NAMES))}. Got {name!r} instead."
        )
    source = _SOURCES[name]
    match source:
        case Bundled():
            columns, target, target_names = source.load()
        case Sampled():
            columns, target, target_names = source.load(random_state)
        case Stored():
            columns, target = _fetch(name, source, folder)
            target_names = source.target_names
    return Dataset(as_backend(columns, backend), target, tuple(columns), target_names)


def find_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Folder of tables: the given one, or the one that ``LACONIC_DATASETS`` names, if any.

    Parameters
    ----------
    folder : path-like, default=None

    Returns
    -------
    folder : Path or None
    """
    found = folder or os.environ.get(FOLDER_VARIABLE)
    return Path(found) if found else None


def _fetch(
    name: str, source: Stored, folder: str | os.PathLike[str] | None
) -> tuple[Columns, NDArray[Any]]:
    place = find_folder(folder)
    files = [place / f"{name}.csv", place / f"{name}.csv.gz"] if place else []
    found = next((file for file in files if file.is_file()), None)
    if found is not None:
        columns = read_columns(found)
        *_, last = columns
        if last != "target":
            raise ValueError(
                f"The last column of {found} must be 'target'. Got {last!r} instead. "
                "Move the target to the end."
            )
        return _checked(columns, columns.pop("target"), name, source, str(found))
    if source.hosted is None or folder is not None:
        raise FileNotFoundError(_missing_message(name, source, place))
    try:
        columns, target = source.hosted.load()
    except OSError as error:
        raise FileNotFoundError(
            f"{_missing_message(name, source, place)} OpenML, which hosts it as data set "
            f"{source.hosted.data_id}, could not be reached: {error}."
        ) from error
    return _checked(columns, target, name, source, f"OpenML data set {source.hosted.data_id}")


def _checked(
    columns: Columns, target: NDArray[Any], name: str, source: Stored, place: str
) -> tuple[Columns, NDArray[Any]]:
    """Refuse a table of another shape, with which nothing could be compared."""
    shape = len(target), len(columns)
    if shape != source.shape:
        raise ValueError(
            f"{name!r} must have {source.n_rows} rows and {source.n_features} features. Got "
            f"{shape[0]} and {shape[1]} from {place}. Compare it with {source.origin}."
        )
    if source.task == "classification" and set(np.unique(target).tolist()) != {-1, 1}:
        raise ValueError(
            f"The target of {name!r} must be -1 or 1. Got {np.unique(target).tolist()[:5]} from "
            f"{place}. Write 1 for {source.target_names[1]!r} and -1 for the others."
        )
    return columns, target


def _missing_message(name: str, source: Stored, place: Path | None) -> str:
    where = f"{place} has no such file" if place else f"no folder was given ({FOLDER_VARIABLE})"
    return (
        f"{name!r} is read from a file {name}.csv or {name}.csv.gz, but {where}. Get the table "
        f"from {source.origin}, write its {source.n_features} features and, as the last column, "
        f"'target' of its {source.n_rows} rows there, and pass the folder as folder=... or in "
        f"{FOLDER_VARIABLE}."
    )
