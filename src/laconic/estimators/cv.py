"""Estimators that choose the number of terms by cross-validation."""

from __future__ import annotations

from typing import Unpack

from laconic.estimators.base import RuleBoosting
from laconic.estimators.classifier import RuleBoostingClassifier
from laconic.estimators.parameters import (
    N_TERMS,
    ClassifierCVParameters,
    RegressorCVParameters,
    with_signature,
)
from laconic.estimators.regressor import RuleBoostingRegressor


class RuleBoostingClassifierCV(RuleBoostingClassifier):
    """Weighted if-then rules and slopes for classes, as many as cross-validation chooses.

    Models of 0, 1, 2, ... terms are scored by their loss on held-out rows. The smallest number
    whose loss is within one standard error of the best is chosen; it is 0 if no term improves on
    noise. Larger numbers are not tried once three in a row brought no smaller loss. The final model
    is fitted to all rows.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in ascending order; of two, the second one is the positive class unless
        `positive` is the first.
    {attributes}

    See Also
    --------
    RuleBoostingClassifier : With a number of terms of your choice.
    laconic.plot.CrossValidationDisplay : Draws the losses of all sizes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 5, size=(200, 4))
    >>> y = np.where((X[:, 0] > 2) ^ (rng.random(200) < 0.2), "yes", "no")
    >>> model = RuleBoostingClassifierCV(n_terms=10).fit(X, y)
    >>> model.n_terms_, model.cv_results_["mean_loss"].round(2)
    (1, array([0.69, 0.48, 0.49, 0.5 , 0.51]))
    """

    _plain = RuleBoostingClassifier

    @with_signature(ClassifierCVParameters)
    def __init__(
        self, n_terms: int = N_TERMS.default, **parameters: Unpack[ClassifierCVParameters]
    ) -> None:
        self._store(ClassifierCVParameters, n_terms, parameters)


class RuleBoostingRegressorCV(RuleBoostingRegressor):
    """Weighted if-then rules and slopes for numbers, as many as cross-validation chooses.

    Models of 0, 1, 2, ... terms are scored by their loss on held-out rows. The smallest number
    whose loss is within one standard error of the best is chosen; it is 0 if no term improves on
    noise. Larger numbers are not tried once three in a row brought no smaller loss. The final model
    is fitted to all rows.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RuleBoostingRegressor : With a number of terms of your choice.
    laconic.plot.CrossValidationDisplay : Draws the losses of all sizes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 5, size=(200, 4))
    >>> y = 4 * ((X[:, 0] > 2) & (X[:, 1] > 1)) + 2 * rng.normal(size=200)
    >>> model = RuleBoostingRegressorCV(n_terms=10).fit(X, y)
    >>> print(model)
    Prediction, 1 rule, 2 conditions:
    +0.3454 (intercept)
     +3.076 if x0 > 2 & x1 > 1
    1 of up to 10 terms: chosen by 5-fold cross-validation, the fewest within one standard error
    of the smallest loss, that of 4 terms.
    """

    _plain = RuleBoostingRegressor

    @with_signature(RegressorCVParameters)
    def __init__(
        self, n_terms: int = N_TERMS.default, **parameters: Unpack[RegressorCVParameters]
    ) -> None:
        self._store(RegressorCVParameters, n_terms, parameters)


CROSS_VALIDATED: dict[str, type[RuleBoosting]] = {
    estimator.task.name: estimator
    for estimator in (RuleBoostingClassifierCV, RuleBoostingRegressorCV)
}
"""The estimators by the name of their task."""
