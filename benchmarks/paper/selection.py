"""λ chosen from the paper's grid by cross-validation on the training rows alone."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from benchmarks.paper.settings import MAX_RULES, OPTIMAL, estimator, smallest_size
from benchmarks.problems import Problem
from laconic import FitProgress, RuleEnsemble
from laconic.models.curves import normalized_area

PENALTIES = (0.0001, 0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
N_FOLDS = 3
# The paper leaves out penalties with which optimal rules take more than two hours. Nodes of a rule
# are counted here, so that the choice does not depend on the machine.
NODE_LIMIT = 300

Floats = NDArray[np.float64]


def fit_with_chosen_penalty(problem: Problem, method: str) -> Any:
    """Fit with the penalty whose area under the curve is largest in the mean of the folds."""
    areas = mean_areas(problem, method) or {max(PENALTIES): 0.0}
    chosen = max(areas, key=lambda penalty: (areas[penalty], penalty))
    return estimator(problem, method, chosen).fit(problem.X, problem.y)


def mean_areas(problem: Problem, method: str) -> dict[float, float]:
    """Mean area by penalty, from the largest down to the last that proves every rule."""
    make_folds = StratifiedKFold if problem.task == "classification" else KFold
    folds = list(make_folds(N_FOLDS, shuffle=True, random_state=0).split(problem.X, problem.y))
    areas: dict[float, float] = {}
    for penalty in sorted(PENALTIES, reverse=True):
        found = []
        for train, test in folds:
            model = _proven_fit(problem, method, penalty, train)
            if model is None:
                return areas
            found.append(quick_area(model.ensemble_, problem, test))
        areas[penalty] = float(np.mean(found))
    return areas


def quick_area(ensemble: RuleEnsemble, problem: Problem, rows: NDArray[np.intp]) -> float:
    """Area on some rows, as `area_scorer` gives it.

    The scorers of scikit-learn check their input for milliseconds, and there are about a hundred
    thousand scores to compute.
    """
    X, y = problem.X.iloc[rows], problem.y[rows]
    stages = [np.full(len(y), ensemble.intercept), *ensemble.staged_raw_predictions(X)]
    stages += stages[-1:] * (MAX_RULES + 1 - len(stages))
    score = _roc_auc if problem.task == "classification" else _r2
    first = smallest_size(problem.task)
    return normalized_area([score(y, predictions) for predictions in stages[first:]])


def _roc_auc(y: Floats, predictions: Floats) -> float:
    is_positive = y > 0
    n_positive, n_negative = np.count_nonzero(is_positive), np.count_nonzero(~is_positive)
    ranks = rankdata(predictions)[is_positive].sum() - n_positive * (n_positive + 1) / 2
    return float(ranks / (n_positive * n_negative))


def _r2(y: Floats, predictions: Floats) -> float:
    return float(1 - ((y - predictions) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def _proven_fit(problem: Problem, method: str, penalty: float, rows: NDArray[np.intp]) -> Any:
    """Fit to some rows, or give up at the first rule that takes too many nodes to prove."""

    def has_unproven_rule(progress: FitProgress) -> bool:
        return not all(result.is_optimal for result in progress.search_results)

    limits = {"node_limit": NODE_LIMIT, "callback": has_unproven_rule} if method == OPTIMAL else {}
    model = estimator(problem, method, penalty, **limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # looked at below
        model.fit(problem.X.iloc[rows], problem.y[rows])
    is_proven = method != OPTIMAL or all(result.is_optimal for result in model.search_results_)
    return model if is_proven else None
