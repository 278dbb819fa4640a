"""Rule ensembles for two classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from laconic.estimators.base import RuleBoosting
from laconic.tasks import Classification

Floats = NDArray[np.float64]


class RuleBoostingClassifier(ClassifierMixin, RuleBoosting):
    """Additive ensemble of weighted if-then rules for two classes.

    A constant plus the weights of the rules that cover a row are its log odds of the second class.
    Every rule is the best one given those before it, unless its certificate says otherwise.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The classes; positive weights speak for the second one.
    {attributes}

    See Also
    --------
    RuleBoostingRegressor : The same for numbers.

    Examples
    --------
    >>> X = [[1, "a"], [2, "a"], [3, "a"], [1, "b"], [2, "b"], [3, "b"]]
    >>> y = ["no", "yes", "yes", "no", "no", "yes"]
    >>> model = RuleBoostingClassifier(n_rules=2).fit(X, y)
    >>> print(model.ensemble_)
    +0.2281 to start from
    -0.3434 if x0 <= 1
    -0.3434 if x0 <= 2 & x1 == b
    >>> model.predict([[3, "a"], [1, "b"]])
    array(['yes', 'no'], dtype='<U3')
    >>> [result.is_optimal for result in model.search_results_]
    [True, True]
    """

    task = Classification
    task_: Classification

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes; positive weights speak for the second one."""
        return self.task_.classes

    def decision_function(self, X: Any) -> Floats:
        """Add up the constant and the weights of the rules that cover a row: its log odds.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._raw_predictions(X)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision function of the model when it had one, two, ... rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        yield from self._staged_raw_predictions(X)

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, 2)
            In the order of `classes_`.
        """
        raw_predictions = self._raw_predictions(X)
        return self.task_.probabilities(raw_predictions)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
