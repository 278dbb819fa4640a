"""Other learners: small trees, sums of trees, rules, linear models, and two that nobody reads.

Each runs with its own defaults but for its size, one thread and, where named below, an intercept.
"""

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge, lasso_path
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.accuracy.methods import MAX_RULES, Method, Model
from benchmarks.accuracy.sizes import Size, linked_paths, size_of_trees, sklearn_paths
from benchmarks.accuracy.tables import Split

Floats = NDArray[np.float64]

LEAVES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20)
RULEFIT_STEPS = (2, 4, 8, 12)
MAX_FEATURES = 20
N_PENALTIES = 60


def encoded(split: Split) -> tuple[Floats, Floats]:
    """Training and test rows as numbers: a column per category of a text."""
    texts = list(split.X.select_dtypes(exclude="number").columns)
    one_hot = OneHotEncoder(sparse_output=False, handle_unknown="ignore", drop="if_binary")
    encoder = make_column_transformer((one_hot, texts), remainder="passthrough")
    return (
        np.asarray(encoder.fit_transform(split.X), float),
        np.asarray(encoder.transform(split.X_test), float),
    )


def predictions(model: Any, X: Floats, split: Split) -> Floats:
    """Numbers, or probabilities of the class that comes last."""
    if split.is_classification:
        return np.asarray(model.predict_proba(X), float)[:, 1]
    return np.asarray(model.predict(X), float).ravel()


def trees(split: Split) -> Iterator[Model]:
    """Decision trees of few leaves."""
    X, X_test = encoded(split)
    make = DecisionTreeClassifier if split.is_classification else DecisionTreeRegressor
    started = process_time()
    for n_leaves in LEAVES:
        model = make(max_leaf_nodes=n_leaves, random_state=0).fit(X, split.y)
        size = size_of_trees([sklearn_paths(model)])
        yield Model(n_leaves, size, predictions(model, X_test, split), process_time() - started)


def figs(split: Split) -> Iterator[Model]:
    """Fast interpretable greedy-tree sums; a step is a split."""
    from imodels import FIGSClassifier, FIGSRegressor

    X, X_test = encoded(split)
    make = FIGSClassifier if split.is_classification else FIGSRegressor
    y = (split.y > 0).astype(int) if split.is_classification else split.y
    started = process_time()
    for n_splits in range(1, MAX_RULES + 1):
        model = make(max_rules=n_splits, random_state=0).fit(X, y)
        size = size_of_trees([linked_paths(root) for root in model.trees_])
        yield Model(n_splits, size, predictions(model, X_test, split), process_time() - started)


def rulefit(split: Split) -> Iterator[Model]:
    """RuleFit as imodels has it: rules of boosted trees, and features, with an l1 penalty.

    A feature with a weight counts as a rule with one condition.
    """
    from imodels import RuleFitClassifier, RuleFitRegressor

    X, X_test = encoded(split)
    make = RuleFitClassifier if split.is_classification else RuleFitRegressor
    y = (split.y > 0).astype(int) if split.is_classification else split.y
    started = process_time()
    for max_rules in RULEFIT_STEPS:
        model = make(max_rules=max_rules, random_state=0).fit(X, y)
        terms = model._get_rules()
        used = terms[(terms["coef"] != 0) & (terms["rule"] != "intercept")]
        n_conditions = sum(rule.count(" and ") + 1 for rule in used["rule"])
        size = Size(len(used), n_conditions)
        yield Model(max_rules, size, predictions(model, X_test, split), process_time() - started)


def linear(split: Split) -> Iterator[Model]:
    """Linear models with an l1 penalty: the last model of the path with each number of features.

    A feature with a weight counts as a rule with one condition.
    """
    started = process_time()
    X, X_test = _standardised(split)
    for weights, intercept in _sparse_path(X, split):
        values = intercept + X_test @ weights
        yield _linear_model(split, weights, values, process_time() - started)


def relaxed_linear(split: Split) -> Iterator[Model]:
    """Relaxed lasso: the features that the l1 penalty chose, with weights fitted anew.

    These have a light ridge penalty of one row, so that columns which repeat each other and classes
    that can be told apart have finite weights.
    """
    started = process_time()
    X, X_test = _standardised(split)
    for weights, _ in _sparse_path(X, split):
        chosen = weights != 0
        make = LogisticRegression(C=1.0, max_iter=1000) if split.is_classification else Ridge(1.0)
        model = make.fit(X[:, chosen], split.y)
        values = model.intercept_ + X_test[:, chosen] @ np.ravel(model.coef_)
        yield _linear_model(split, weights, values, process_time() - started)


def _standardised(split: Split) -> tuple[Floats, Floats]:
    X, X_test = encoded(split)
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def _linear_model(split: Split, weights: Floats, values: Floats, seconds: float) -> Model:
    n_features = int(np.count_nonzero(weights))
    found = expit(values) if split.is_classification else values
    return Model(n_features, Size(n_features, n_features), found, seconds)


def _sparse_path(X: Floats, split: Split) -> list[tuple[Floats, float]]:
    """Weights and intercept of the last model with each number of features, fewest first."""
    find = _logistic_path if split.is_classification else _lasso_path
    found: dict[int, tuple[Floats, float]] = {}
    for weights, intercept in find(X, split.y):
        n_features = int(np.count_nonzero(weights))
        if 1 <= n_features <= MAX_FEATURES:
            found[n_features] = weights, intercept
    return [model for _, model in sorted(found.items())]


def _lasso_path(X: Floats, y: Floats) -> Iterator[tuple[Floats, float]]:
    centred = y - y.mean()
    largest = np.abs(X.T @ centred).max() / len(y)
    _, weights, _ = lasso_path(X, centred, alphas=largest * np.geomspace(1, 1e-3, 100))
    for column in weights.T:
        yield column, float(y.mean())


def _logistic_path(X: Floats, y: Floats) -> Iterator[tuple[Floats, float]]:
    share = np.mean(y > 0)
    strongest = np.abs(X.T @ ((y > 0) - share)).max()
    model = LogisticRegression(
        l1_ratio=1, solver="liblinear", intercept_scaling=100, random_state=0, max_iter=500
    )
    for strength in np.geomspace(1, 1e3, N_PENALTIES) / strongest:
        model.set_params(C=strength).fit(X, y)
        weights = np.ravel(model.coef_).copy()
        yield weights, float(model.intercept_[0])
        if np.count_nonzero(weights) > MAX_FEATURES:
            return


def fastogb(split: Split) -> Iterator[Model]:
    """Orthogonal gradient boosting with corrected weights, by its authors; with an intercept."""
    from fastogb import FullyCorrective, GeneralRuleBoostingEstimator, OrthogonalBoostingObjective

    texts = list(split.X.select_dtypes(exclude="number").columns)
    model = GeneralRuleBoostingEstimator(
        objective_function=OrthogonalBoostingObjective,
        weight_update_method=FullyCorrective(),
        loss="logistic" if split.is_classification else "squared",
        search="ogb",
        include_default_rule=True,
        search_params={"feature_names": list(split.X.columns), "categorical": texts},
    )
    X, X_test = (_objects(X) if texts else X.to_numpy(float) for X in (split.X, split.X_test))
    started = process_time()
    for step in range(1, MAX_RULES + 1):
        model.set_params(num_rules=step).fit(X, split.y)
        lengths = [len(rule.q) for rule in model.rules_]
        size = Size(len(lengths) - 1, sum(lengths))  # the intercept is a rule without conditions
        yield Model(step, size, predictions(model, X_test, split), process_time() - started)


def _objects(X: pd.DataFrame) -> NDArray[Any]:
    return np.column_stack([X[name].to_numpy(object) for name in X.columns])


BOOSTED_TREES = {
    "n_estimators": 300,
    "learning_rate": 0.05,
    "max_depth": 4,
    "min_child_weight": 2,
    "subsample": 0.8,
    "n_jobs": 1,
    "random_state": 0,
}


def boosted_trees(split: Split) -> Iterator[Model]:
    """XGBoost with 300 shallow trees."""
    from xgboost import XGBClassifier, XGBRegressor

    X, X_test = encoded(split)
    make = XGBClassifier if split.is_classification else XGBRegressor
    y = (split.y > 0).astype(int) if split.is_classification else split.y
    model = make(**BOOSTED_TREES)
    started = process_time()
    model.fit(X, y)
    yield Model(300, None, predictions(model, X_test, split), process_time() - started)


def boosting_machine(split: Split) -> Iterator[Model]:
    """Explainable boosting machine: a curve per feature, and some pairs; of four bags."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    make = (
        ExplainableBoostingClassifier if split.is_classification else ExplainableBoostingRegressor
    )
    model = make(outer_bags=4, n_jobs=1, random_state=0)
    started = process_time()
    model.fit(split.X, split.y)
    found = predictions(model, split.X_test, split)
    yield Model(1, None, found, process_time() - started)


TREE, FIGS, RULEFIT, L1, FASTOGB = "tree", "FIGS", "RuleFit", "l1", "fastogb"
RELAXED = "relaxed lasso"
EBM, XGBOOST = "EBM", "XGBoost"

COMPETITORS = (
    Method(TREE, trees, "sklearn"),
    Method(L1, linear, "sklearn"),
    Method(RELAXED, relaxed_linear, "sklearn"),
    Method(FIGS, figs, "imodels"),
    Method(FASTOGB, fastogb, "fastogb"),
    Method(RULEFIT, rulefit, "imodels"),
    Method(XGBOOST, boosted_trees, "xgboost", is_readable=False),
    Method(EBM, boosting_machine, "interpret", is_readable=False),
)
