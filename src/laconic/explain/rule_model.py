"""A fitted model: its rules, what they predict, and why."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from laconic.data.reading import Reading
from laconic.data.tables import Table, as_table
from laconic.explain.columns import rule_names
from laconic.explain.explanation import Explanation
from laconic.explain.predictions import Predictions
from laconic.explain.shapley import ShapleyValues, shapley_values
from laconic.losses import Loss
from laconic.model.coverage import RuleCoverage
from laconic.model.display import rules_html
from laconic.model.formatting import format_number, format_percent
from laconic.model.record import FitRecord
from laconic.model.rules import RuleEnsemble
from laconic.relaxation import EnsembleCertificate
from laconic.search import SearchResult, SearchScope
from laconic.search.certificates import describe_certificate
from laconic.tasks import Task


class RuleModel(TransformerMixin, BaseEstimator):
    """Rules, the task that they were made for, and what is proven about them.

    What explains, draws, scores, exports or reports takes any such model, and asks its task
    wherever classes and numbers differ.

    Attributes
    ----------
    ensemble_ : RuleEnsemble
    task_ : Task
    search_results_ : list of SearchResult
        A certificate per rule.
    scope_ : SearchScope
        Which rules were searched.
    rule_coverages_ : list of RuleCoverage
        Unless the model was loaded from a file.
    record_ : FitRecord or None
        Where the model comes from, if `laconic fit` made it.
    feature_importances_ : ndarray of shape (n_features,)
        Unless the model was loaded from a file that does not have them.
    reading_ : Reading or None
        How the texts of the training file were read, where the command line read one.
    certificate_ : EnsembleCertificate or None
        How close it comes to the best possible model on its training rows, where that was proven.
    """

    ensemble_: RuleEnsemble
    task_: Task
    search_results_: list[SearchResult]
    scope_: SearchScope
    l2_regularization_: float
    rule_coverages_: list[RuleCoverage]
    feature_importances_: NDArray[np.float64]
    stages_: Sequence[RuleEnsemble]
    n_propositions_: int
    n_features_in_: int
    record_: FitRecord | None = None
    reading_: Reading | None = None
    certificate_: EnsembleCertificate | None = None
    # A table that was read already; only the copies that `first_rules` makes have one.
    _known: tuple[Any, Table] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for act in _ACTIONS:
            act(cls)

    @property
    def loss_(self) -> Loss:
        """The loss in use."""
        return self.task_.loss

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the target: the more probable class, or a number.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        raw_predictions = self._raw_predictions(X)
        return self.task_.predictions(raw_predictions)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the prediction of the model when it had one, two, ... rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        for raw_predictions in self._staged_raw_predictions(X):
            yield self.task_.predictions(raw_predictions)

    def _raw_predictions(self, X: Any) -> NDArray[np.float64]:
        table = self._fitted_table(X)
        return self.ensemble_.raw_predictions(table)

    def _staged_raw_predictions(self, X: Any) -> Iterator[NDArray[np.float64]]:
        yield from islice(self.predictions_for(X).staged_raw(), 1, None)

    @property
    def stages(self) -> Sequence[RuleEnsemble]:
        """The ensembles that led to this one, or its first 0, 1, 2, ... rules."""
        stages = getattr(self, "stages_", None)
        # Those of another ensemble, which someone has replaced, are of no use.
        return stages if stages and stages[-1] == self.ensemble_ else self.ensemble_.stages

    def predictions_for(self, X: Any) -> Predictions:
        """Read a table once, for everything that can be asked about its rows.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        predictions : Predictions
            Which rules cover the rows, raw predictions, predictions and probabilities.
        """
        table = self._fitted_table(X)
        return Predictions(self.ensemble_, self.task_, table, self.stages)

    def transform(self, X: Any) -> Any:
        """Tell which rules cover each row, as columns for other models.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        covered : ndarray of shape (n_rows, n_rules), dtype float64
            1 where a rule covers a row, 0 elsewhere; a data frame after
            ``set_output(transform="pandas")`` or ``"polars"``.
        """
        return self.predictions_for(X).covered.astype(np.float64)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Name the columns that `transform` makes: the conditions of each rule.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names for the features of a model that was fitted to a table without names.

        Returns
        -------
        names : ndarray of str of shape (n_rules,), dtype object
            No two are the same.
        """
        check_is_fitted(self)
        features = _check_feature_names_in(self, input_features, generate_names=False)
        has_others = input_features is not None and not hasattr(self, "feature_names_in_")
        names = rule_names(self.ensemble_, features if has_others else None)
        return np.array(names, dtype=object)

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
        return Explanation(self.predictions_for(X))

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

    def _fitted_table(self, X: Any) -> Table:
        """Check a table to predict for."""
        if self._known is not None and X is self._known[0]:
            return self._known[1]
        check_is_fitted(self)
        table = checked_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return self._with_fitted_names(table)

    def _with_fitted_names(self, table: Table) -> Table:
        """Name the columns as in fit: by position, unless the table itself has these names."""
        names = self.ensemble_.feature_names or ()
        if not (table.is_named and set(table.feature_names) == set(names)):
            table = table.rename(names)
        return table.reading_dates(self.ensemble_.date_features)

    def __getstate__(self) -> dict[str, Any]:
        # Neither files nor copies of copies hold a table.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_known"}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ensemble_")

    @property
    def _summary(self) -> str:
        # Not capitalize, which would make the name of the class small.
        meaning = self.task_.sum_words
        return f"{meaning[0].upper()}{meaning[1:]}, {self.ensemble_.size}"

    @property
    def own_certificate(self) -> EnsembleCertificate | None:
        """The certificate that the model has, unless it is about other rules or weights."""
        certificate = self.certificate_
        is_own = certificate is not None and certificate.ensemble == self.ensemble_
        return certificate if is_own else None

    @property
    def _proof_words(self) -> str:
        certificate = self.own_certificate
        if certificate is None:
            return ""
        return f"On the training rows at least {certificate.summary}."

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        text = f"{self._summary}:\n{self.ensemble_}"
        return f"{text}\n{self._proof_words}" if self._proof_words else text

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # Asked for in any case: it does not exist where scikit-learn is set to display text.
        diagram: Callable[[], str] = super()._repr_html_
        return self._rules_html if self.__sklearn_is_fitted__() else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show the rules in notebooks once there are any, and scikit-learn's diagram before."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if self.__sklearn_is_fitted__():
            bundle["text/plain"] = str(self)
            if "text/html" in bundle:
                bundle["text/html"] = self._rules_html()
        return bundle

    def _rules_html(self) -> str:
        table = rules_html(self.ensemble_, self._summary, self._columns())
        proof = f"<p>{self._proof_words}</p>" if self._proof_words else ""
        return (
            f"<div>{table}{proof}<details><summary>{type(self).__name__}</summary>"
            f"{estimator_html_repr(self)}</details></div>"
        )

    def _columns(self) -> dict[str, list[str]]:
        """Further columns of the table of rules: what is known about all of them."""
        columns = {}
        coverages: list[RuleCoverage] = getattr(self, "rule_coverages_", [])
        n_rules = len(self.ensemble_)
        if len(coverages) == n_rules:
            columns["rows"] = [
                f"{format_number(rule.coverage)} ({format_percent(rule.share)})"
                for rule in coverages
            ]
            columns[self.task_.mean_words] = [
                self.task_.format_mean(rule.mean_target) for rule in coverages
            ]
        if len(self.search_results_) == n_rules:
            columns["certificate"] = [*map(describe_certificate, self.search_results_)]
        return columns


Model = TypeVar("Model", bound=RuleModel)


def first_rules(model: Model, X: Any) -> Iterator[Model]:
    """Yield copies of a model when it had 0, 1, 2, ... rules, none of which reads a table again.

    They recognise the very object `X`, which must not change meanwhile.
    """
    table = model._fitted_table(X)
    for feature in model.ensemble_.used_features:
        # As a whole: blocks of rows would be read anew for every size.
        table.column(feature)
    for n_rules, stage in enumerate(model.stages):
        shorter = copy.copy(model)
        shorter.ensemble_, shorter._known = stage, (X, table)
        shorter.stages_ = model.stages[: n_rules + 1]
        yield shorter


def checked_table(X: Any) -> Table:
    """Wrap a table that has rows and columns."""
    table = as_table(X)
    shape = (table.n_rows, len(table.feature_names))
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return table


_ACTIONS: list[Callable[[type[RuleModel]], None]] = []


def for_all_models(act: Callable[[type[RuleModel]], None]) -> None:
    """Do something with every class of models, also with those that are yet to be imported."""
    if act not in _ACTIONS:
        _ACTIONS.append(act)
    classes = RuleModel.__subclasses__()
    for model in classes:
        act(model)
        classes += model.__subclasses__()
