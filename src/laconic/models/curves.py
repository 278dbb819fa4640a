"""Scores of the first 0, 1, 2, ... terms of a fitted model, and the area below their curve."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline

from laconic._util.types import Floats
from laconic.models import RuleModel, first_terms

__all__ = ["area_scorer", "normalized_area", "score_curve"]

Scoring = str | Callable[..., float] | None


def score_curve(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    scoring: Scoring = None,
    max_terms: int | None = None,
) -> Floats:
    """Score the first 0, 1, 2, ... terms of a fitted model, reading the table once.

    Parameters
    ----------
    model : estimator
        A fitted rule ensemble, a pipeline that ends with one, or a fitted search over these.
    X : table-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
    scoring : str, callable or None, default=None
        A metric of scikit-learn, such as "roc_auc", or a callable ``scorer(model, X, y)``, which
        must not change `X`. For a pipeline it is called with the rule ensemble at its end, and with
        `X` as transformed by the steps before. None: the `score` method of the model, accuracy or
        R².
    max_terms : int or None, default=None
        Largest size. The score of a model with fewer terms is repeated. None: the number of terms
        of the model.

    Returns
    -------
    scores : ndarray of shape (max_terms + 1,)
        Of the sizes 0 to `max_terms`.

    Examples
    --------
    >>> from laconic import RuleBoostingRegressor
    >>> X, y = [[1], [2], [3], [4]], [5, 6, 1, 1]
    >>> model = RuleBoostingRegressor(n_terms=2, l2_regularization=0).fit(X, y)
    >>> score_curve(model, X, y, scoring="neg_mean_squared_error").round(3)
    array([-5.188, -0.125, -0.   ])
    """
    fitted = rule_model(model)
    n_terms = len(fitted.ensemble_)
    if max_terms is not None and max_terms < 0:
        raise ValueError(
            f"'max_terms' must be an int in the range [0, inf) or None. Got {max_terms} instead."
        )
    scorer, X = check_scoring(fitted, scoring), _given_to_terms(model, X)
    last = n_terms if max_terms is None else max_terms
    scores = [scorer(shorter, X, y) for shorter in islice(first_terms(fitted, X), last + 1)]
    return np.array(scores + scores[-1:] * (last - n_terms), dtype=np.float64)


def normalized_area(scores: ArrayLike, sizes: ArrayLike | None = None) -> float:
    """Area below a size/score curve, divided by its width: its mean height.

    Parameters
    ----------
    scores : array-like of shape (n_sizes,)
    sizes : array-like of shape (n_sizes,), default=None
        Ascending; between them the curve is a straight line. None: 0, 1, 2, ...

    Returns
    -------
    area : float

    Examples
    --------
    >>> normalized_area([0.0, 1.0, 1.0])
    0.75
    >>> normalized_area([0.5, 0.9], sizes=[1, 10])
    0.7
    """
    heights = np.asarray(scores, dtype=np.float64)
    at = np.arange(len(heights)) if sizes is None else np.asarray(sizes, dtype=np.float64)
    if len(at) != len(heights) or len(at) < 1 or np.any(np.diff(at) <= 0):
        raise ValueError(
            "'sizes' must be ascending, one per score, and at least one. Got "
            f"{at.tolist()} for {len(heights)} scores."
        )
    if len(at) == 1:
        return float(heights[0])
    widths, middles = np.diff(at), (heights[:-1] + heights[1:]) / 2
    return float(widths @ middles / (at[-1] - at[0]))


def area_scorer(
    scoring: Scoring = None, *, smallest: int = 0, largest: int | None = None
) -> Callable[..., float]:
    """Make a scorer of a model by the scores of all its sizes.

    Parameters
    ----------
    scoring : str, callable or None, default=None
        As for :func:`score_curve`.
    smallest : int, default=0
        First size that counts.
    largest : int or None, default=None
        Last size that counts; None: the number of terms of the model.

    Returns
    -------
    scorer : callable
        ``scorer(model, X, y)`` is a float: for `GridSearchCV`, `cross_val_score` and the like.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from laconic import RuleBoostingRegressor
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [5, 5, 5, 1, 1, 1]
    >>> search = GridSearchCV(
    ...     RuleBoostingRegressor(n_terms=2), {"l2_regularization": [0, 10]},
    ...     scoring=area_scorer("r2"), cv=2,
    ... )
    >>> search.fit(X[::2] + X[1::2], y[::2] + y[1::2]).best_params_
    {'l2_regularization': 0}
    """
    return partial(_area_score, scoring=scoring, smallest=smallest, largest=largest)


def _area_score(
    model: Any, X: Any, y: ArrayLike, *, scoring: Scoring, smallest: int, largest: int | None
) -> float:
    """Compute the normalized area below the curve of a fitted model."""
    scores = score_curve(model, X, y, scoring=scoring, max_terms=largest)
    return normalized_area(scores[smallest:])


def rule_model(model: Any) -> RuleModel:
    """Find the fitted rule ensemble in a model: itself, or at the end of a pipeline or a search."""
    model = getattr(model, "best_estimator_", model)
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not (isinstance(last, RuleModel) and hasattr(last, "ensemble_")):
        raise TypeError(
            "The model must be a fitted rule ensemble, with an attribute 'ensemble_'. Got "
            f"{type(last).__name__}. Call its fit method first, or pass a RuleBoostingClassifier "
            "or RuleBoostingRegressor."
        )
    return last


def _given_to_terms(model: Any, X: Any) -> Any:
    """Transform a table by the steps before the rule ensemble of a model."""
    model = getattr(model, "best_estimator_", model)
    for _, step in model.steps[:-1] if isinstance(model, Pipeline) else ():
        X = X if step in (None, "passthrough") else step.transform(X)
    return X
