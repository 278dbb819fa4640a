"""scikit-learn estimators: rule ensembles for two classes and for numbers."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import (
    _check_sample_weight,
    assert_all_finite,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from laconic.boosting import boost
from laconic.columns import Rows
from laconic.coverage import rule_coverages
from laconic.interpretation import InterpretationMixin
from laconic.losses import Loss, get_loss, optimal_constant
from laconic.parameters import ATTRIBUTES, PARAMETERS, check_parameters
from laconic.progress import FitProgress, ProgressPrinter
from laconic.propositions import (
    DEFAULT_MAX_THRESHOLDS,
    CandidatePropositions,
    candidate_propositions,
    given_propositions,
)
from laconic.queries import Proposition
from laconic.rules import RuleEnsemble
from laconic.search import SearchProgress, SearchResult, SearchStatus
from laconic.search.certificates import describe_ratio, proven_percent
from laconic.tables import Table, as_table
from laconic.targets import as_1d, check_all_present, check_discrete

__all__ = ["RuleBoostingClassifier", "RuleBoostingRegressor"]

Floats = NDArray[np.float64]

# More than people keep in mind; rules that need more mostly fit noise.
DEFAULT_MAX_CONDITIONS = 5
# Enough to see which rules a warning is about, few enough to read.
MAX_NUMBERS_SHOWN = 10


class _RuleBoosting(InterpretationMixin, BaseEstimator):
    """What classifier and regressor share; they differ in how they read the target."""

    ensemble_: RuleEnsemble
    search_results_: list[SearchResult]
    loss_: Loss
    n_propositions_: int
    n_features_in_: int

    _default_loss: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__doc__ and "{parameters}" in cls.__doc__:
            # Python 3.13 takes the indentation off docstrings, older versions leave it.
            doc = inspect.cleandoc(cls.__doc__)
            doc = doc.replace("{parameters}", PARAMETERS.format(loss=cls._default_loss))
            cls.__doc__ = doc.replace("{attributes}", ATTRIBUTES)

    def __init__(
        self,
        n_rules: int = 10,
        *,
        loss: str | Loss = "auto",
        l2_regularization: float = 1.0,
        search: str = "optimal",
        max_conditions: int | None = DEFAULT_MAX_CONDITIONS,
        min_coverage: float = 0,
        approximation_factor: float = 1.0,
        node_limit: int | str | None = "auto",
        time_limit: float | None = None,
        max_thresholds: int | None = DEFAULT_MAX_THRESHOLDS,
        negated_categories: bool = True,
        propositions: Sequence[Proposition] | Callable[[Any], Sequence[Proposition]] | None = None,
        fit_intercept: bool = False,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        callback: Callable[[FitProgress], Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_rules = n_rules
        self.loss = loss
        self.l2_regularization = l2_regularization
        self.search = search
        self.max_conditions = max_conditions
        self.min_coverage = min_coverage
        self.approximation_factor = approximation_factor
        self.node_limit = node_limit
        self.time_limit = time_limit
        self.max_thresholds = max_thresholds
        self.negated_categories = negated_categories
        self.propositions = propositions
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.callback = callback
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            A pandas, polars or pyarrow table, or an array. Numeric columns give thresholds, text,
            boolean and categorical columns values; missing values are welcome.
        y : array-like of shape (n_rows,)
            The target.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights, not negative. A weight of two is the same as the row twice, of zero as without
            it.

        Returns
        -------
        self : object
        """
        check_parameters(self, self._default_loss)
        if not self.warm_start:
            self._forget_model()
        table = _checked_table(X)
        _, y = validate_data(self, X, y, skip_check_array=True, reset=not self._has_model)
        if self._has_model:
            table = self._with_fitted_names(table)
        weights = None
        if sample_weight is not None:
            rows = np.empty((table.n_rows, 0))
            weights = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        # Rows without weight are not there: they neither fit nor tell queries apart.
        counted = slice(None) if weights is None else weights > 0
        target = self._encode_target(y, table.n_rows, counted)
        self.loss_ = get_loss(self._default_loss if self.loss == "auto" else self.loss)
        candidates = self._candidates(X, table, weights)
        self.n_propositions_ = len(candidates)
        self._boost(table, candidates, target, weights, counted)
        return self

    @property
    def _has_model(self) -> bool:
        return hasattr(self, "ensemble_")

    def _forget_model(self) -> None:
        # So that a fit that fails does not leave old rules next to new classes.
        for name in ("ensemble_", "search_results_", "rule_coverages_"):
            self.__dict__.pop(name, None)

    def _encode_target(self, y: ArrayLike, n_rows: int, counted: Rows) -> Floats:
        """Check the target and bring it to the form that the loss expects."""
        raise NotImplementedError

    def _candidates(self, X: Any, table: Table, weights: Floats | None) -> CandidatePropositions:
        """Find the conditions that rules may be made of."""
        if self.propositions is None:
            return candidate_propositions(
                table,
                max_thresholds=self.max_thresholds,
                negated_categories=self.negated_categories,
                sample_weight=weights,
            )
        given = self.propositions(X) if callable(self.propositions) else self.propositions
        return given_propositions(table, given, sample_weight=weights)

    def _boost(
        self,
        table: Table,
        candidates: CandidatePropositions,
        y: Floats,
        weights: Floats | None,
        counted: Rows,
    ) -> None:
        """Add rules to the given start.

        Sets: ensemble_, search_results_, rule_coverages_.
        """
        y, weights = y[counted], None if weights is None else weights[counted]
        if self._has_model:
            rules, results = list(self.ensemble_), list(self.search_results_)
            intercept = self.ensemble_.intercept
            raw_predictions = self.ensemble_.raw_predictions(table)[counted]
            if self.n_rules < len(rules):
                raise ValueError(
                    f"n_rules={self.n_rules} must not be smaller than the {len(rules)} rules "
                    "fitted before when warm_start=True. Set warm_start=False to start over."
                )
        else:
            rules, results = [], []
            intercept = optimal_constant(self.loss_, y, weights) if self.fit_intercept else 0.0
            raw_predictions = np.full(len(y), intercept)
        n_before, n_results_before, is_interrupted = len(rules), len(results), False

        def report(search: SearchProgress | None = None) -> bool:
            progress = FitProgress(tuple(rules), tuple(results), self.n_rules, search)
            answers = [callback(progress) for callback in callbacks]
            return any(answers)

        callbacks: list[Callable[[FitProgress], Any]] = []
        if self.verbose:
            callbacks.append(ProgressPrinter())
        if self.callback is not None:
            callbacks.append(self.callback)
        rounds = boost(
            candidates,
            y,
            self.loss_,
            raw_predictions,
            n_rules=self.n_rules - n_before,
            l2_regularization=self.l2_regularization,
            sample_weight=weights,
            search_options=self._search_options() | {"callback": report if callbacks else None},
        )
        del raw_predictions  # the rounds work on a copy, and there may be many rows
        try:
            for rule, result in rounds:
                rules.append(rule)
                results.append(result)
                if callbacks and report():
                    break
        except KeyboardInterrupt:
            if self.on_interrupt == "raise" or not rules:
                raise
            is_interrupted = True
        covered_before = self.ensemble_.covered(table)[counted].T if n_before > 0 else ()
        covered_now = (
            candidates.extents.covered(list(result.query)) for result in results[n_results_before:]
        )
        shown = y > 0 if is_classifier(self) else y
        self.rule_coverages_ = rule_coverages(chain(covered_before, covered_now), shown, weights)
        self.ensemble_ = RuleEnsemble(tuple(rules), intercept, table.feature_names)
        self.search_results_ = results
        if is_interrupted:
            warnings.warn(
                f"Interrupted: the model has {len(rules)} of {self.n_rules} rules. Fit again with "
                "warm_start=True to find the others.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._warn_about_unproven_rules(n_before)

    def _search_options(self) -> dict[str, Any]:
        return {
            "method": self.search,
            "max_conditions": self.max_conditions,
            "min_coverage": self.min_coverage,
            "approximation_factor": self.approximation_factor,
            "node_limit": self.node_limit,
            "time_limit": self.time_limit,
            "n_jobs": self.n_jobs,
        }

    def _warn_about_unproven_rules(self, n_before: int) -> None:
        """Warn once about all rules after the first `n_before` that a limit kept from a proof."""
        unproven = {
            number: result
            for number, result in enumerate(self.search_results_, start=1)
            if number > n_before
            and result.status in (SearchStatus.NODE_LIMIT, SearchStatus.TIME_LIMIT)
        }
        if not unproven:
            return
        limits = sorted({result.status.value for result in unproven.values()})
        node_limit = next(iter(unproven.values())).node_limit  # the same for all rules of a fit
        values = {"node_limit": node_limit, "time_limit": self.time_limit}
        stops = " or ".join(f"{limit}={values[limit]}" for limit in limits)
        worst = min(result.approximation_ratio for result in unproven.values())
        # Rounded down, so that as approximation_factor it is reached.
        factor = proven_percent(worst) / 100
        if len(unproven) == 1:
            [(number, result)] = unproven.items()
            finding = (
                f"Search for rule {number} stopped at {stops} with objective "
                f"{result.objective_value:.4g} and bound {result.bound:.4g} (ratio {factor}): best "
                "found, not proven optimal."
            )
        else:
            n_new = len(self.search_results_) - n_before
            rules = f"{n_new} new rules" if n_before else f"{n_new} rules"
            finding = (
                f"{len(unproven)} of {rules} are not proven optimal: their searches stopped at "
                f"{stops} (rules {_listed(list(unproven))}; the least certain reaches "
                f"{describe_ratio(worst)})."
            )
        fewer = "fewer thresholds (max_thresholds), " if self.max_thresholds is None else ""
        advice = (
            f"Raise {' or '.join(limits)}, or ease the proof with {fewer}max_conditions or more "
            "l2_regularization"
        )
        if factor > 0:
            advice += f", or accept this with approximation_factor={factor}"
        warnings.warn(
            f"{finding} {advice}. search_results_ has the details.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _fitted_table(self, X: Any) -> Table:
        """Check a table to predict for."""
        check_is_fitted(self)
        table = _checked_table(X)
        validate_data(self, X, skip_check_array=True, reset=False)
        return self._with_fitted_names(table)

    def _with_fitted_names(self, table: Table) -> Table:
        """Name the columns as in fit: by position, unless the table itself has these names."""
        names = self.ensemble_.feature_names or ()
        if table.is_named and set(table.feature_names) == set(names):
            return table
        return table.rename(names)

    def __sklearn_is_fitted__(self) -> bool:
        return self._has_model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


class RuleBoostingClassifier(ClassifierMixin, _RuleBoosting):
    """Additive ensemble of weighted if-then rules for two classes.

    The sum of the weights of the rules that cover a row is its log odds of the second class. Every
    rule is the best one given those before it, unless its certificate says otherwise.

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
    >>> y = ["no", "yes", "yes", "no", "no", "no"]
    >>> model = RuleBoostingClassifier(n_rules=2).fit(X, y)
    >>> print(model.ensemble_)
    -0.8571 if x1 == b
    +0.6667 if x0 > 1 & x1 == a
    >>> model.predict([[3, "a"], [1, "b"]])
    array(['yes', 'no'], dtype='<U3')
    >>> [result.is_optimal for result in model.search_results_]
    [True, True]
    """

    classes_: NDArray[Any]

    _default_loss = "logistic"

    def _encode_target(self, y: ArrayLike, n_rows: int, counted: Rows) -> Floats:
        """Check the target and turn its two classes into -1 and 1.

        Sets: classes_.
        """
        labels = as_1d(y)
        # The list itself, because NumPy makes the text 'nan' of a NaN among strings.
        check_all_present(y if isinstance(y, list | tuple) else labels)
        # Integers, booleans and texts are finite, and classes in any case.
        if labels.dtype.kind not in "iubU":
            assert_all_finite(labels, input_name="y")
            check_discrete(labels)
        check_consistent_length(labels, np.empty(n_rows))
        classes = np.unique(labels[counted])
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, "
                f"with {len(classes)} classes. Use sklearn.multiclass.OneVsRestClassifier around "
                f"{type(self).__name__}."
            )
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of two classes. Got {len(classes)} class: "
                f"{classes.tolist()}. Check the target and the sample weights."
            )
        if self.warm_start and hasattr(self, "classes_") and np.any(self.classes_ != classes):
            raise ValueError(
                f"With warm_start=True the classes must stay the same, {self.classes_.tolist()}. "
                f"Got {classes.tolist()}. Set warm_start=False to start over."
            )
        self.classes_ = classes
        return np.where(labels == classes[1], 1.0, -1.0)

    def decision_function(self, X: Any) -> Floats:
        """Sum of the weights of the rules that cover a row: its log odds.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = self._fitted_table(X)
        return self.ensemble_.raw_predictions(table)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the decision function of the first one, two, ... rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        table = self._fitted_table(X)
        yield from self.ensemble_.staged_raw_predictions(table)

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
        raw_predictions = self.decision_function(X)
        positive = self.loss_.inverse_link(raw_predictions)
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the more probable class.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._classes_of(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the prediction of the first one, two, ... rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        yield from map(self._classes_of, self.staged_decision_function(X))

    def _classes_of(self, raw_predictions: Floats) -> NDArray[Any]:
        return self.classes_[(raw_predictions > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class RuleBoostingRegressor(RegressorMixin, _RuleBoosting):
    """Additive ensemble of weighted if-then rules for numbers.

    The prediction for a row is the sum of the weights of the rules that cover it. Every rule is the
    best one given those before it, unless its certificate says otherwise.

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
    +5.000 if x0 <= 2
    +1.000 if x0 > 2
    >>> model.predict([[2, 100]])
    array([5.])
    """

    _default_loss = "squared"

    def _encode_target(self, y: ArrayLike, n_rows: int, counted: Rows) -> Floats:
        cells = as_1d(y)
        try:
            target = np.asarray(cells, dtype=np.float64)
        except ValueError:
            text = next((cell for cell in cells.tolist() if isinstance(cell, str | bytes)), None)
            if text is None:
                raise
            raise ValueError(
                f"The target y of {type(self).__name__} must hold numbers. Got text, such as "
                f"{text!r}. Use RuleBoostingClassifier for two classes, or convert y to numbers."
            ) from None
        assert_all_finite(target, input_name="y")
        check_consistent_length(target, np.empty(n_rows))
        return target

    def predict(self, X: Any) -> Floats:
        """Predict the target.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = self._fitted_table(X)
        return self.loss_.inverse_link(self.ensemble_.raw_predictions(table))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the prediction of the first one, two, ... rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        table = self._fitted_table(X)
        for raw_predictions in self.ensemble_.staged_raw_predictions(table):
            yield self.loss_.inverse_link(raw_predictions)


def _checked_table(X: Any) -> Table:
    """Wrap a table that has rows and columns."""
    table = as_table(X)
    shape = (table.n_rows, len(table.feature_names))
    for size, what in zip(shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )
    return table


def _listed(numbers: Sequence[int]) -> str:
    """Write numbers as 1, 2 and 3."""
    shown = [str(number) for number in numbers[:MAX_NUMBERS_SHOWN]]
    n_hidden = len(numbers) - len(shown)
    last = f"{n_hidden} more" if n_hidden else shown.pop()
    return f"{', '.join(shown)} and {last}"
