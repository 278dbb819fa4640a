"""RuleFit: an l1-penalised linear model of rules that come from boosted trees.

Friedman and Popescu, "Predictive Learning via Rule Ensembles" (2008), with rules only, on top of
scikit-learn's boosted trees, Lasso path and logistic regression. The trees are grown once and the
penalty is varied afterwards, which the published implementations do not offer: they grow the trees
anew for every penalty.
"""

from dataclasses import dataclass
from time import process_time
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LassoCV, LogisticRegression, LogisticRegressionCV, lasso_path
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.preprocessing import OneHotEncoder

N_TREES = 100
MEAN_LEAVES = 4
LEARNING_RATE = 0.01
MAX_RULES = 10
N_PENALTIES = 50
N_FOLDS = 3
# liblinear penalises the intercept too; the larger its scale, the less.
INTERCEPT_SCALING = 100

Floats = NDArray[np.float64]


class RuleColumns:
    """Rules that trees of random sizes find, as indicator columns.

    Every node of a tree but its root is a rule. Of rules that cover the same training rows, the
    first stays.
    """

    def __init__(self, task: str, n_trees: int = N_TREES, random_state: int = 0) -> None:
        self.task = task
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: pd.DataFrame, y: Floats) -> Self:
        """Grow the trees.

        Sets: encoder_, trees_, kept_.
        """
        self.encoder_ = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
        texts = X.select_dtypes(exclude="number").columns
        self.texts_ = list(texts)
        self.encoder_.fit(X[self.texts_])
        cells = self._cells(X)
        booster = self._booster(len(y))
        leaves = np.random.default_rng(self.random_state).exponential(MEAN_LEAVES - 2, self.n_trees)
        for n_trees, n_leaves in enumerate(2 + leaves.astype(int), start=1):
            booster.set_params(
                n_estimators=n_trees,
                max_leaf_nodes=int(n_leaves),
                # A booster that goes on starts from its seed again, with the same rows.
                random_state=self.random_state + n_trees,
            )
            booster.fit(cells, y)
        self.trees_ = booster.estimators_[:, 0]
        everything = self._indicators(cells)
        _, first = np.unique(np.packbits(everything, axis=0), axis=1, return_index=True)
        is_constant = everything.all(axis=0) | ~everything.any(axis=0)
        self.kept_ = np.array([i for i in sorted(first) if not is_constant[i]], dtype=int)
        return self

    def transform(self, X: pd.DataFrame) -> Floats:
        """Compute the indicators of the rules, one column each."""
        return self._indicators(self._cells(X))[:, self.kept_].astype(float)

    def _booster(self, n_rows: int) -> Any:
        make = (
            GradientBoostingClassifier
            if self.task == "classification"
            else GradientBoostingRegressor
        )
        return make(
            learning_rate=LEARNING_RATE,
            subsample=min(0.5, (100 + 6 * np.sqrt(n_rows)) / n_rows),
            max_depth=None,
            warm_start=True,
        )

    def _cells(self, X: pd.DataFrame) -> NDArray[np.float32]:
        numbers = X.drop(columns=self.texts_).to_numpy(np.float32)
        return np.hstack([numbers, self.encoder_.transform(X[self.texts_]).astype(np.float32)])

    def _indicators(self, cells: NDArray[np.float32]) -> NDArray[np.bool_]:
        paths = [tree.decision_path(cells).toarray()[:, 1:].astype(bool) for tree in self.trees_]
        return np.hstack(paths)


@dataclass(frozen=True)
class RuleFitScores:
    """What RuleFit reaches on one split.

    Attributes
    ----------
    curve : dict of int to float
        Mean score of the models of each size that some penalty gives; for classification, of
        their decision values.
    label_curve : dict of int to float
        The same of the classes that they predict, which ranks all rows of a class alike.
    unbounded_score : float
        Score with the penalty that cross-validation chooses.
    unbounded_n_terms : int
    seconds : float
        CPU time of the trees and of the bounded models.
    """

    curve: dict[int, float]
    label_curve: dict[int, float]
    unbounded_score: float
    unbounded_n_terms: int
    seconds: float


def score_rulefit(
    task: str,
    X: pd.DataFrame,
    y: Floats,
    X_test: pd.DataFrame,
    y_test: Floats,
    *,
    n_trees: int = N_TREES,
) -> RuleFitScores:
    """Fit small models over a range of penalties, and one without a limit on its size.

    As in the paper, the penalties lie evenly between the one that leaves one rule and the one that
    leaves about eleven.
    """
    started = process_time()
    rules = RuleColumns(task, n_trees).fit(X, y)
    columns, columns_test = rules.transform(X), rules.transform(X_test)
    path = logistic_path if task == "classification" else linear_path
    coefficients = path(columns, y)
    score = roc_auc_score if task == "classification" else r2_score
    by_size: dict[int, list[float]] = {}
    labels_by_size: dict[int, list[float]] = {}
    for intercept, weights in coefficients:
        size = int(np.count_nonzero(weights))
        if 1 <= size <= MAX_RULES:
            values = columns_test @ weights + intercept
            by_size.setdefault(size, []).append(score(y_test, values))
            if task == "classification":
                labels_by_size.setdefault(size, []).append(score(y_test, values > 0))
    seconds = process_time() - started
    intercept, weights = unbounded(task, columns, y)
    return RuleFitScores(
        _means(by_size),
        _means(labels_by_size),
        float(score(y_test, columns_test @ weights + intercept)),
        int(np.count_nonzero(weights)),
        seconds,
    )


def linear_path(columns: Floats, y: Floats) -> list[tuple[float, Floats]]:
    """Compute intercepts and weights of Lasso models with about one to eleven rules."""
    means, mean = columns.mean(axis=0), y.mean()
    centred, target = columns - means, y - mean
    gram = centred.T @ centred

    def weights_at(penalties: Floats) -> Floats:
        found = lasso_path(
            centred, target, alphas=penalties, precompute=gram, max_iter=10_000, tol=1e-7
        )
        return found[1].T

    largest = 0.999 * np.abs(centred.T @ target).max() / len(y)
    smallest = largest
    # A little at a time: with many rules in the model a step takes much longer.
    while smallest > 1e-3 * largest:
        penalties = smallest * np.geomspace(1, 0.8, 4)
        n_terms = np.count_nonzero(weights_at(penalties), axis=1)
        smallest = penalties[_first_above(n_terms, MAX_RULES)]
        if n_terms.max() > MAX_RULES:
            break
    weights = weights_at(np.linspace(largest, smallest, N_PENALTIES))
    return [(float(mean - means @ row), row) for row in weights]


def logistic_path(columns: Floats, y: Floats) -> list[tuple[float, Floats]]:
    """Compute intercepts and weights of logistic models with about one to eleven rules."""
    model = LogisticRegression(
        l1_ratio=1,
        solver="liblinear",
        intercept_scaling=INTERCEPT_SCALING,
        max_iter=1_000,
        tol=1e-5,
        random_state=0,
    )

    def fitted(strength: float) -> tuple[float, Floats]:
        model.set_params(C=strength).fit(columns, y)
        return float(model.intercept_[0]), model.coef_[0].copy()

    # The least strength at which a rule gains more than its weight costs, given the best intercept.
    is_positive = y > 0
    weakest = 1.001 / np.abs(columns.T @ (is_positive - is_positive.mean())).max()
    for strength in weakest * np.geomspace(1, 1e3, 60):
        if np.count_nonzero(fitted(strength)[1]) > MAX_RULES:
            break
    # Evenly spaced penalties are reciprocals of strengths.
    return [fitted(1 / penalty) for penalty in np.linspace(1 / weakest, 1 / strength, N_PENALTIES)]


def unbounded(task: str, columns: Floats, y: Floats) -> tuple[float, Floats]:
    """Intercept and weights at the penalty that cross-validation chooses."""
    if task == "regression":
        model = LassoCV(cv=N_FOLDS, alphas=20, eps=0.005, tol=1e-3, max_iter=5_000).fit(columns, y)
        return float(model.intercept_), model.coef_
    model = LogisticRegressionCV(
        Cs=np.geomspace(1e-3, 1, 7),
        cv=N_FOLDS,
        l1_ratios=(1,),
        solver="liblinear",
        intercept_scaling=INTERCEPT_SCALING,
        scoring="roc_auc",
        max_iter=1_000,
        random_state=0,
        use_legacy_attributes=False,
    ).fit(columns, y)
    return float(model.intercept_[0]), model.coef_[0]


def _means(scores: dict[int, list[float]]) -> dict[int, float]:
    return {size: float(np.mean(scores[size])) for size in sorted(scores)}


def _first_above(counts: NDArray[np.intp], limit: int) -> int:
    """Position of the first count above the limit, or the last one."""
    above = np.flatnonzero(counts > limit)
    return int(above[0]) if len(above) else len(counts) - 1
