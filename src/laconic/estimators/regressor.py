"""Rule ensembles for numbers."""

from __future__ import annotations

from sklearn.base import RegressorMixin

from laconic.estimators.base import RuleBoosting
from laconic.tasks import Regression


class RuleBoostingRegressor(RegressorMixin, RuleBoosting):
    """Additive ensemble of weighted if-then rules for numbers.

    The prediction for a row is a constant plus the weights of the rules that cover it. Every rule
    is the best one given those before it, unless its certificate says otherwise.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RuleBoostingClassifier : The same for two classes.

    Examples
    --------
    >>> X = [[1, 60], [2, 90], [3, 120], [4, 150]]
    >>> model = RuleBoostingRegressor(n_rules=2, l2_regularization=0).fit(X, [5, 5, 1, 1])
    >>> print(model.ensemble_)
    +1.000 to start from
    +4.000 if x0 <= 2
    >>> model.predict([[2, 100]])
    array([5.])
    """

    task = Regression
