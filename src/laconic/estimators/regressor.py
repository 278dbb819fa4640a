"""Rule ensembles for numbers."""

from __future__ import annotations

from typing import Any, Unpack

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from laconic.estimators.base import RuleBoosting
from laconic.estimators.parameters import N_TERMS, RegressorParameters, with_signature
from laconic.estimators.weights import as_rates, checked_weights
from laconic.models.tasks import Regression


class RuleBoostingRegressor(RegressorMixin, RuleBoosting):
    """Additive ensemble of weighted if-then rules and slopes for numbers.

    The prediction for a row is a constant, plus the weights of the rules that cover it, plus what
    slopes add there. Every term is the best one given those before it, unless its certificate says
    otherwise.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RuleBoostingClassifier : The same for classes.

    Examples
    --------
    >>> X = [[1, 60], [2, 90], [3, 120], [4, 150]]
    >>> model = RuleBoostingRegressor(n_terms=2, l2_regularization=0).fit(X, [5, 5, 1, 1])
    >>> print(model.ensemble_)
    +1.000 (intercept)
    +4.000 if x0 <= 2
    >>> model.predict([[2, 100]])
    array([5.])
    """

    task = Regression

    @with_signature(RegressorParameters)
    def __init__(
        self, n_terms: int = N_TERMS.default, **parameters: Unpack[RegressorParameters]
    ) -> None:
        self._store(RegressorParameters, n_terms, parameters)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Score predictions: R², or D² where the loss is "poisson", "gamma" or "tweedie".

        Both are the fraction of the squared error, or deviance, of the mean prediction that the
        model explains. With an exposure, the target is the rate, y / exposure.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), default=None
        exposure : array-like of shape (n_rows,), default=None
            Both as in `fit`.

        Returns
        -------
        score : float
        """
        raw_predictions = self._raw_predictions(X)
        numbers = self.task_.numbers(y, len(raw_predictions))
        weights = checked_weights(sample_weight, len(numbers))
        numbers, weights = as_rates(numbers, weights, exposure, self.loss_)
        return self.task_.score(self.task_.metrics[0], numbers, raw_predictions, weights)
