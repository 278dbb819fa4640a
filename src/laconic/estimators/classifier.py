"""Rule ensembles for classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from laconic._util.types import Floats
from laconic.estimators.base import RuleBoosting
from laconic.estimators.parameters import N_TERMS, ClassifierParameters, with_signature
from laconic.models.tasks import Classification


class RuleBoostingClassifier(ClassifierMixin, RuleBoosting):
    """Additive ensemble of weighted if-then rules and slopes for classes.

    The intercept, the weights of the rules that cover a row and what slopes add there are its log
    odds of the positive class. With three or more classes, each has such a sum: a term votes for or
    against one class, and the probabilities are the exponentials of the sums, divided by their
    total. Every term is the best one given those before it, of all classes, unless its certificate
    says otherwise.

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
    RuleBoostingRegressor : The same for numbers.

    Examples
    --------
    >>> X = [[1, "a"], [2, "a"], [3, "a"], [1, "b"], [2, "b"], [3, "b"]]
    >>> y = ["no", "yes", "yes", "no", "no", "yes"]
    >>> model = RuleBoostingClassifier(n_terms=2).fit(X, y)
    >>> print(model.ensemble_)
    +0.3338 (intercept)
    -0.3338 if x0 <= 1
    -0.3338 if x0 <= 2
    >>> model.predict([[3, "a"], [1, "b"]])
    array(['yes', 'no'], dtype='<U3')
    >>> [result.is_optimal for result in model.search_results_]
    [True, True]
    """

    task = Classification
    task_: Classification

    @with_signature(ClassifierParameters)
    def __init__(
        self, n_terms: int = N_TERMS.default, **parameters: Unpack[ClassifierParameters]
    ) -> None:
        self._store(ClassifierParameters, n_terms, parameters)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, in ascending order."""
        # Tools for estimators rely on the order, such as the scorer "roc_auc".
        return self.task_.classes[:: self._direction]

    @property
    def _direction(self) -> int:
        """1 if weights vote for the last class, -1 if the first one was chosen as positive."""
        return 1 if self.task_.is_ascending else -1

    def decision_function(self, X: Any) -> Floats:
        """Add up the constant and what the terms add in a row: its log odds of the second class.

        Where `positive` is the first class, terms, explanations and Shapley values are about that
        one, and have the opposite sign.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_classes) with three or more classes
        """
        return self._raw_predictions(X) * self._direction

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision function of the model when it had one, two, ... terms.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Yields
        ------
        ndarray of shape (n_rows,), or (n_rows, n_classes) with three or more classes
        """
        yield from (raw * self._direction for raw in self._staged_raw_predictions(X))

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each class.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes_`.
        """
        raw_predictions = self._raw_predictions(X)
        return self.task_.probabilities(raw_predictions)[:, :: self._direction]
