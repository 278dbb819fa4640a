"""What all estimators share: parameters, input checks and the fit."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _check_sample_weight, validate_data

from laconic._defaults import (
    DEFAULT_L2_REGULARIZATION,
    DEFAULT_MAX_CONDITIONS,
    DEFAULT_N_RULES,
)
from laconic.boosting import boost
from laconic.candidates import (
    DEFAULT_MAX_THRESHOLDS,
    CandidatePropositions,
    candidate_propositions,
    given_propositions,
)
from laconic.data.columns import Rows
from laconic.data.tables import Table
from laconic.estimators.parameters import ATTRIBUTES, PARAMETERS, check_parameters
from laconic.estimators.progress import FitProgress, ProgressPrinter
from laconic.explain.rule_model import RuleModel, checked_table
from laconic.losses import Loss, get_loss, optimal_constant
from laconic.model.conditions import Proposition
from laconic.model.coverage import rule_coverages
from laconic.model.rules import RuleEnsemble
from laconic.search import SearchProgress, SearchStatus
from laconic.search.certificates import describe_ratio, proven_percent
from laconic.search.optimal import has_long_chains
from laconic.tasks import Task

if TYPE_CHECKING:
    from laconic.report import Report

__all__ = ["RuleBoosting"]

Floats = NDArray[np.float64]

# A node takes one to ten nanoseconds per row and condition. This many rows times conditions times
# nodes take a few seconds per rule, whatever the size of the table; counted rather than measured,
# so that a model does not depend on the machine.
AFFORDABLE_WORK = 600_000_000
# With many thresholds per feature, it is the chains of thresholds that count, and pairs of rows.
AFFORDABLE_WORK_OVER_RANGES = 100_000_000_000
# Enough to see which rules a warning is about, few enough to read.
MAX_NUMBERS_SHOWN = 10


class RuleBoosting(RuleModel):
    """What all estimators share; they differ in their task."""

    task: ClassVar[type[Task]]
    """What the estimator is for."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__doc__ and "{parameters}" in cls.__doc__:
            # Python 3.13 takes the indentation off docstrings, older versions leave it.
            doc = inspect.cleandoc(cls.__doc__)
            doc = doc.replace("{parameters}", PARAMETERS.format(loss=cls.task.default_loss))
            cls.__doc__ = doc.replace("{attributes}", ATTRIBUTES)

    def __init__(
        self,
        n_rules: int = DEFAULT_N_RULES,
        *,
        loss: str | Loss = "auto",
        l2_regularization: float = DEFAULT_L2_REGULARIZATION,
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
        check_parameters(self, self.task.default_loss)
        if not self.warm_start:
            self._forget_model()
        table = checked_table(X)
        _, y = validate_data(
            self, X, y, skip_check_array=True, reset=not self.__sklearn_is_fitted__()
        )
        if self.__sklearn_is_fitted__():
            table = self._with_fitted_names(table)
        weights = None
        if sample_weight is not None:
            rows = np.empty((table.n_rows, 0))
            weights = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        # Rows without weight are not there: they neither fit nor tell queries apart.
        counted = slice(None) if weights is None else weights > 0
        loss = get_loss(self.task.default_loss if self.loss == "auto" else self.loss)
        task, target = self.task.read(
            y, loss, n_rows=table.n_rows, counted=counted, owner=type(self).__name__
        )
        if self.__sklearn_is_fitted__():
            self.task_.check_same(task)
        self.task_ = task
        candidates = self._candidates(X, table, weights)
        self.n_propositions_ = len(candidates)
        self._boost(table, candidates, target, weights, counted)
        return self

    def _forget_model(self) -> None:
        # So that a fit that fails does not leave old rules next to new classes.
        for name in ("ensemble_", "search_results_", "rule_coverages_", "task_"):
            self.__dict__.pop(name, None)

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
        target: Floats,
        weights: Floats | None,
        counted: Rows,
    ) -> None:
        """Add rules to the given start.

        Sets: ensemble_, search_results_, rule_coverages_.
        """
        target, weights = target[counted], None if weights is None else weights[counted]
        y = self.task_.for_loss(target)
        if self.__sklearn_is_fitted__():
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
        options = self._search_options(candidates)
        rounds = boost(
            candidates,
            y,
            self.loss_,
            raw_predictions,
            n_rules=self.n_rules - n_before,
            l2_regularization=self.l2_regularization,
            sample_weight=weights,
            search_options=options | {"callback": report if callbacks else None},
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
        self.rule_coverages_ = rule_coverages(chain(covered_before, covered_now), target, weights)
        self.ensemble_ = RuleEnsemble(tuple(rules), intercept, table.feature_names)
        self.search_results_ = results
        if is_interrupted:
            warnings.warn(
                f"Interrupted: the model has {len(rules)} of {self.n_rules} rules. Fit again with "
                "warm_start=True to find the others.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self._warn_about_unproven_rules(n_before, options)

    def _search_options(self, candidates: CandidatePropositions) -> dict[str, Any]:
        node_limit = self.node_limit
        if node_limit == "auto":
            extents = candidates.extents
            if has_long_chains(extents, self.max_conditions):
                work, per_node = AFFORDABLE_WORK_OVER_RANGES, extents.n_chains * extents.n_rows**2
            else:
                work, per_node = AFFORDABLE_WORK, len(candidates) * extents.n_rows
            node_limit = min(max(work // max(1, per_node), 20), 20_000)
        return {
            "method": self.search,
            "max_conditions": self.max_conditions,
            "min_coverage": self.min_coverage,
            "approximation_factor": self.approximation_factor,
            "node_limit": node_limit,
            "time_limit": self.time_limit,
            "n_jobs": self.n_jobs,
        }

    def _warn_about_unproven_rules(self, n_before: int, options: dict[str, Any]) -> None:
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
        stops = " or ".join(f"{limit}={options[limit]}" for limit in limits)
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

        return make_report(
            self, X, y, title=title, target_name=target_name, max_sample_rows=max_sample_rows
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _listed(numbers: Sequence[int]) -> str:
    """Write numbers as 1, 2 and 3."""
    shown = [str(number) for number in numbers[:MAX_NUMBERS_SHOWN]]
    n_hidden = len(numbers) - len(shown)
    last = f"{n_hidden} more" if n_hidden else shown.pop()
    return f"{', '.join(shown)} and {last}"
