"""What fitted estimators say about themselves: their rules, and why they predict what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import estimator_html_repr

from laconic.coverage import RuleCoverage
from laconic.display import rules_html
from laconic.explain import Explanation
from laconic.formatting import format_number
from laconic.losses import LogisticLoss, Loss, SquaredLoss
from laconic.rules import RuleEnsemble
from laconic.search import SearchResult
from laconic.search.certificates import describe_certificate
from laconic.shapley import ShapleyValues, shapley_values
from laconic.tables import Table

if TYPE_CHECKING:
    from laconic.report import Report

__all__ = ["InterpretationMixin", "describe_sum"]


def describe_sum(estimator: Any) -> str:
    """Say what the sum of the weights of the covering rules is.

    Parameters
    ----------
    estimator : RuleBoostingClassifier or RuleBoostingRegressor
        Fitted or loaded.

    Returns
    -------
    meaning : str
        Such as "log odds of yes".
    """
    if hasattr(estimator, "classes_"):
        is_logistic = isinstance(estimator.loss_, LogisticLoss)
        return f"{'log odds' if is_logistic else 'score'} of {estimator.classes_[1]}"
    return "prediction" if isinstance(estimator.loss_, SquaredLoss) else "raw prediction"


class InterpretationMixin:
    """Texts, tables and explanations of a rule ensemble.

    For estimators with the attributes `ensemble_`, `search_results_`, `loss_`, for classes
    `classes_`, and, unless they were loaded from a file, `rule_coverages_`.
    """

    ensemble_: RuleEnsemble
    search_results_: list[SearchResult]
    loss_: Loss
    classes_: NDArray[Any]
    rule_coverages_: list[RuleCoverage]

    if TYPE_CHECKING:

        def predict(self, X: Any) -> NDArray[Any]:
            """Predict the target."""

        def predict_proba(self, X: Any) -> NDArray[Any]:
            """Estimate the probability of each class."""

        def _fitted_table(self, X: Any) -> Table: ...
        def __sklearn_is_fitted__(self) -> bool: ...

    def explain(self, X: Any) -> Explanation:
        """Tell which rules cover each row, and what each of them adds to the prediction.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        explanation : Explanation
            A sequence with one entry per row. ``print`` shows sentences, ``to_frame()`` makes a
            table.
        """
        table = self._fitted_table(X)
        predictions, probabilities = self.predict(X), None
        if hasattr(self, "classes_"):
            predicted = np.searchsorted(self.classes_, predictions)
            probabilities = self.predict_proba(X)[np.arange(table.n_rows), predicted]
        return Explanation(self.ensemble_, table, predictions, probabilities, describe_sum(self))

    def shapley_values(self, X: Any, background: Any) -> ShapleyValues:
        """Share out the raw predictions among the features, exactly.

        The values are those of the interventional game, in which features that are left out take
        their values from the rows of a background. They add up to the raw prediction of a row minus
        the mean raw prediction of the background.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Rows to explain.
        background : table-like of shape (n_background, n_features)
            Rows to compare with, such as the training table.

        Returns
        -------
        shares : ShapleyValues
            ``to_shap()`` hands them to the plots of the library shap.
        """
        table = self._fitted_table(X)
        return shapley_values(self.ensemble_, table, self._fitted_table(background))

    @property
    def _summary(self) -> str:
        # Not capitalize, which would make the name of the class small.
        meaning = describe_sum(self)
        return f"{meaning[0].upper()}{meaning[1:]}, {self.ensemble_.size}"

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        return f"{self._summary}:\n{self.ensemble_}"

    def report(
        self,
        X: Any,
        y: ArrayLike,
        *,
        title: str | None = None,
        target_name: str | None = None,
        max_sample_rows: int = 100,
    ) -> Report:
        """Show the model on one page that needs nothing but a browser.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Rows to look at the model with; better not those that it was trained on.
        y : array-like of shape (n_rows,)
            Their target.
        title : str or None, default=None
            Heading of the page; None makes one from the target.
        target_name : str or None, default=None
            What is predicted; None takes the name of `y`, where it has one.
        max_sample_rows : int, default=100
            Largest number of rows whose values are in the page, to start a what-if from and as
            points of residuals. With 0 there are none, and only summaries leave your data.

        Returns
        -------
        report : Report
            With ``save(path)``, ``to_html()``, ``to_dict()`` and ``to_json()``. Notebooks show it.
        """
        # Needs packages that estimators do not.
        from laconic.report import make_report

        estimator = cast(Any, self)  # one of the two that this is mixed into
        return make_report(
            estimator, X, y, title=title, target_name=target_name, max_sample_rows=max_sample_rows
        )

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # Asked for in any case: it does not exist where scikit-learn is set to display text.
        diagram: Callable[[], str] = super()._repr_html_  # type: ignore[misc]
        return self._rules_html if self.__sklearn_is_fitted__() else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show the rules in notebooks once there are any, and scikit-learn's diagram before."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if self.__sklearn_is_fitted__():
            bundle["text/plain"] = str(self)
            if "text/html" in bundle:
                bundle["text/html"] = self._rules_html()
        return bundle

    def _rules_html(self) -> str:
        table = rules_html(self.ensemble_, self._summary, self._columns())
        return (
            f"<div>{table}<details><summary>{type(self).__name__}</summary>"
            f"{estimator_html_repr(self)}</details></div>"
        )

    def _columns(self) -> dict[str, list[str]]:
        """Further columns of the table of rules: what is known about all of them."""
        columns = {}
        coverages: list[RuleCoverage] = getattr(self, "rule_coverages_", [])
        n_rules = len(self.ensemble_)
        if len(coverages) == n_rules:
            columns["rows"] = [
                f"{format_number(round(rule.coverage, 2))} ({rule.share:.0%})" for rule in coverages
            ]
            has_classes = hasattr(self, "classes_")
            target = f"share of {self.classes_[1]}" if has_classes else "mean target"
            layout = ".1%" if has_classes else ".4g"
            columns[target] = [format(rule.mean_target, layout) for rule in coverages]
        if len(self.search_results_) == n_rules:
            columns["certificate"] = [*map(describe_certificate, self.search_results_)]
        return columns
