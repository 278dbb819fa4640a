"""Ten rules of the paper's problems, against objective values measured with other programs.

Needs the folder of benchmark problems, with the measured values in ``baselines`` beside it.
"""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.model_selection import train_test_split

from laconic.losses import get_loss
from laconic.search import Propositions, SearchProblem, search

PROBLEMS = [
    "iris",
    "wine",
    "used_cars",
    "insurance",
    "tic_tac_toe",
    "diabetes",
    "breast_cancer",
    "boston",
    "titanic_paper",
    "life_expectancy",
]


def load(folder, source):
    """Features and target of a problem, as its specification says."""
    if source["kind"] == "file":
        frame = pd.read_csv(folder / source["file"])
        return frame.drop(columns="target"), frame["target"].to_numpy(float)
    bunch = getattr(datasets, source["function"])(as_frame=True)
    y = bunch.target.to_numpy(float)
    return bunch.data, y if "diabetes" in source["function"] else np.where(y == 1, 1.0, -1.0)


def paper_extents(column, limit):
    """Extents of the conditions that the paper derives from a column."""
    if not pd.api.types.is_numeric_dtype(column):
        return [(column == value).to_numpy() for value in column.unique()]
    values = column.to_numpy(float)
    distinct = np.unique(values)
    if 2 * len(distinct) <= limit:
        below, above = distinct[:-1], distinct[1:]
    else:
        n_quantiles = limit // 2
        quantiles = np.quantile(values, np.arange(n_quantiles + 1) / n_quantiles)
        below = above = np.unique(quantiles)[1:]
    return [values <= t for t in below] + [values >= t for t in above]


@pytest.mark.datasets
@pytest.mark.parametrize("name", PROBLEMS)
def test_objective_values(name, datasets_folder):
    spec = json.loads((datasets_folder / "spec.json").read_text())[name]
    baselines = datasets_folder.parent / "baselines" / "objectives_split1.json"
    if not baselines.is_file():
        pytest.skip("needs the measured values in a folder 'baselines' beside the problems")
    expected = json.loads(baselines.read_text())[name]

    X, y = load(datasets_folder, spec["source"])
    X, _, y, _ = train_test_split(
        X, y, test_size=spec["test_size"], random_state=spec["split_seeds"][0]
    )
    limits = spec["max_col_attr"]
    if not isinstance(limits, dict):
        limits = dict.fromkeys(X.columns, limits)
    extents = [extent for column in X for extent in paper_extents(X[column], limits[column])]
    propositions = Propositions(np.array(extents))
    loss = get_loss("logistic" if spec["task"] == "classification" else "squared")
    scores = np.zeros(len(y))
    for value in expected:
        problem = SearchProblem(
            propositions, loss.gradients(y, scores), loss.hessians(y, scores), spec["lambda_opt"]
        )
        result = search(problem)
        assert result.is_optimal
        assert result.objective_value == pytest.approx(value, rel=1e-9)
        scores = scores + problem.weight(result.query) * problem.covered(result.query)
