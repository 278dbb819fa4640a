"""What all estimators share: parameters, input checks and the fit."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from laconic._defaults import (
    DEFAULT_L2_REGULARIZATION,
    DEFAULT_MAX_CONDITIONS,
    DEFAULT_N_RULES,
    DEFAULT_OBJECTIVE,
    DEFAULT_STRATEGY,
    PSEUDO_ROWS,
)
from laconic.boosting import boost
from laconic.candidates import (
    DEFAULT_MAX_THRESHOLDS,
    CandidatePropositions,
    given_propositions,
)
from laconic.categories import DEFAULT_MAX_CATEGORIES
from laconic.constraints import CONSTRAINTS, Constraints, read_constraints
from laconic.data.columns import FeatureKind
from laconic.data.inspection import warn_about_columns
from laconic.data.sources import is_source
from laconic.data.tables import Table
from laconic.estimators.advice import describe_stops, is_stopped, provable_changes
from laconic.estimators.callbacks import CallbackSupportMixin, fit_task, told_rows
from laconic.estimators.conditions import condition_options, made_candidates
from laconic.estimators.editable import EditableModel
from laconic.estimators.given import barred_rows, constraint_settings, given_rules
from laconic.estimators.globally import GlobalStart
from laconic.estimators.parameters import (
    ATTRIBUTES,
    PARAMETERS,
    check_for_classes,
    check_parameters,
)
from laconic.estimators.progress import (
    FitProgress,
    ProgressPrinter,
    RunningFit,
)
from laconic.estimators.reducing import read_stream, reduced
from laconic.estimators.rows import CheckedRows, Floats, checked_weights, counted
from laconic.estimators.starting import starting_point
from laconic.explain.rule_model import checked_table
from laconic.explain.shapley import feature_importances
from laconic.losses import Loss, get_loss
from laconic.model.conditions import Proposition, Query
from laconic.model.coverage import rule_coverages
from laconic.model.rules import Rule, RuleEnsemble
from laconic.multiclass import boost_classes
from laconic.polishing import polish, refitted_stages
from laconic.search import SearchResult, SearchScope
from laconic.tasks import Task


class RuleBoosting(CallbackSupportMixin, EditableModel):
    """What all estimators share; they differ in their task."""

    provable_with_: dict[str, Any]
    constraints_: Constraints | None
    task: ClassVar[type[Task]]
    """What the estimator is for."""
    _advice_to_go_on: ClassVar[str] = "Fit again with warm_start=True to find the others."

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__doc__ and "{parameters}" in cls.__doc__:
            # Python 3.13 takes the indentation off docstrings, older versions leave it.
            doc = inspect.cleandoc(cls.__doc__)
            doc = doc.replace("{parameters}", cls._describe_parameters())
            cls.__doc__ = doc.replace("{attributes}", cls._describe_attributes())

    @classmethod
    def _describe_parameters(cls) -> str:
        return PARAMETERS.format(
            losses="{" + ", ".join(f'"{name}"' for name in ("auto", *cls.task.losses)) + "}",
            about_losses=cls.task.about_losses,
            pseudo_rows=PSEUDO_ROWS,
        )

    @classmethod
    def _describe_attributes(cls) -> str:
        return ATTRIBUTES

    def __init__(
        self,
        n_rules: int = DEFAULT_N_RULES,
        *,
        strategy: str = DEFAULT_STRATEGY,
        objective: str = DEFAULT_OBJECTIVE,
        polish: bool = False,
        loss: str | Loss = "auto",
        l2_regularization: float | str = DEFAULT_L2_REGULARIZATION,
        search: str = "optimal",
        max_conditions: int | None = DEFAULT_MAX_CONDITIONS,
        min_coverage: float = 0,
        approximation_factor: float = 1.0,
        simplify: float = 0.0,
        node_limit: int | str | None = "auto",
        time_limit: float | None = None,
        max_thresholds: int | None = DEFAULT_MAX_THRESHOLDS,
        negated_categories: bool = True,
        categories: str = "values",
        max_categories: int | None = DEFAULT_MAX_CATEGORIES,
        categorical_features: str | ArrayLike | None = "from_dtype",
        ordered_features: Sequence[str] | None = None,
        date_parts: Sequence[str] | None = None,
        propositions: Sequence[Proposition] | Callable[[Any], Sequence[Proposition]] | None = None,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        excluded_features: Any = None,
        lone_features: Any = None,
        separated_features: Any = None,
        feature_costs: Any = None,
        weight_signs: str = "both",
        initial_rules: Sequence[str | Query | Rule] | None = None,
        excluded_rules: Sequence[str | Query | Rule] | None = None,
        fit_intercept: bool = True,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        callback: Callable[[FitProgress], Any] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_rules = n_rules
        self.strategy = strategy
        self.objective = objective
        self.polish = polish
        self.loss = loss
        self.l2_regularization = l2_regularization
        self.search = search
        self.max_conditions = max_conditions
        self.min_coverage = min_coverage
        self.approximation_factor = approximation_factor
        self.simplify = simplify
        self.node_limit = node_limit
        self.time_limit = time_limit
        self.max_thresholds = max_thresholds
        self.negated_categories = negated_categories
        self.categories = categories
        self.max_categories = max_categories
        self.categorical_features = categorical_features
        self.ordered_features = ordered_features
        self.date_parts = date_parts
        self.propositions = propositions
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.excluded_features = excluded_features
        self.lone_features = lone_features
        self.separated_features = separated_features
        self.feature_costs = feature_costs
        self.weight_signs = weight_signs
        self.initial_rules = initial_rules
        self.excluded_rules = excluded_rules
        self.fit_intercept = fit_intercept
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.callback = callback
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Find the rules.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            A pandas, polars or pyarrow table, an array, or a sparse matrix of SciPy, of which the
            stored cells alone are visited. Columns of numbers, dates and times give thresholds,
            text, boolean and categorical columns values; missing values are welcome. A table that
            is too large for memory may be a lazy frame of polars, a relation of DuckDB, a data
            frame of Dask, or files, as :func:`laconic.scan` takes them.
        y : array-like of shape (n_rows,), or str
            The target; its column, where the table is read in parts.
        sample_weight : array-like of shape (n_rows,), or str, default=None
            Weights, not negative. A weight of two is the same as the row twice, of zero as without
            it.
        exposure : array-like of shape (n_rows,), or str, default=None
            What each target was counted over, such as years or policies; positive, for losses with
            a logarithmic link. The model is that of the rates, y / exposure, with weights times
            exposure, and predicts them: multiply by an exposure for a count. With "poisson" that
            is the same as adding the logarithm of the exposure to the raw prediction.

        Returns
        -------
        self : object
        """
        check_parameters(self)
        if not self.warm_start:
            self._forget_model()
        rows = self._read(X, y, sample_weight, exposure)
        told = told_rows(rows, y, sample_weight, exposure)
        rows = reduced(self, rows)
        fit = self._begin(rows, self.n_rules)
        with fit_task(self, self._n_tasks(fit), told) as fit.tasks:
            self._finish(rows, fit)
        return self

    def _n_tasks(self, fit: RunningFit) -> int | None:
        """How many rules callbacks hear of; not known where rules may go out for others."""
        return None if self.constraints_ is not None else fit.n_rules - len(fit.ensemble)

    def _read(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        exposure: ArrayLike | None = None,
    ) -> CheckedRows:
        """Check what there is to learn from.

        Sets: task_, n_features_in_, feature_names_in_.
        """
        self.__dict__.pop("record_", None)
        loss = get_loss(self.task.default_loss if self.loss == "auto" else self.loss)
        if is_source(X):
            return read_stream(self, X, y, sample_weight, exposure, loss)
        table = checked_table(X)
        _, y = validate_data(
            self, X, y, skip_check_array=True, reset=not self.__sklearn_is_fitted__()
        )
        if self.__sklearn_is_fitted__():
            table = self._with_fitted_names(table)
        table = table.reading_dates(table.feature_names)
        weights = checked_weights(sample_weight, table.n_rows)
        task, target = self.task.read(
            y, loss, n_rows=table.n_rows, counted=counted(weights), owner=type(self).__name__
        )
        if self.__sklearn_is_fitted__():
            self.task_.check_same(task)
        rows = CheckedRows(X, table, target, weights).per_exposure(exposure, loss)
        rows = self._weighted(rows, task)
        task.settle_loss(rows.counted_target, rows.counted_weights)
        self.task_, weights = task, rows.weights
        if self.propositions is None and not self.__sklearn_is_fitted__():
            warn_about_columns(table, rows.counted_target, counted(weights))
        return rows

    def _weighted(self, rows: CheckedRows, task: Task) -> CheckedRows:
        """Give weights to rows, where parameters of a task ask for them."""
        return rows

    def _forget_model(self) -> None:
        # So that a fit that fails does not leave old rules next to new classes.
        for name in (
            "ensemble_",
            "search_results_",
            "unfinished_search_",
            "rule_coverages_",
            "feature_importances_",
            "stages_",
            "task_",
            "l2_regularization_",
            "scope_",
            "provable_with_",
            "constraints_",
            "reading_",
            "certificate_",
            "edits_",
        ):
            self.__dict__.pop(name, None)

    def _candidates(self, rows: CheckedRows) -> CandidatePropositions:
        """Find the conditions that rules may be made of."""
        if self.propositions is None:
            return made_candidates(self, rows)
        given = self.propositions(rows.X) if callable(self.propositions) else self.propositions
        return given_propositions(rows.table, given, sample_weight=rows.weights)

    def _begin(self, rows: CheckedRows, n_rules: int, stage: str = "") -> RunningFit:
        """Find the conditions and what to start from; rules are found as the rounds are asked for.

        Sets: n_propositions_, l2_regularization_, constraints_.
        """
        self.constraints_ = read_constraints(
            rows.table.feature_names, **{name: getattr(self, name) for name in CONSTRAINTS}
        )
        candidates = rows.candidates
        if candidates is None:
            candidates = self._candidates(rows)
        self.n_propositions_ = len(candidates)
        y, weights = self.task_.for_loss(rows.counted_target), rows.counted_weights
        start, results = self._start(rows.table, y, weights, candidates.feature_kinds)
        if n_rules < len(start):
            raise ValueError(
                f"n_rules={n_rules} must not be smaller than the {len(start)} rules fitted "
                "before when warm_start=True. Set warm_start=False to start over."
            )
        covered = start.covered(rows.table)[counted(rows.weights)].T if len(start) > 0 else ()
        fit = RunningFit(start, results, n_rules, self._callbacks(), covered=covered, stage=stage)
        weighing: dict[str, Any] = {
            "l2_regularization": self.l2_regularization_,
            "sample_weight": weights,
            "fit_intercept": self.fit_intercept,
            "constraints": self.constraints_,
        }
        shared = {
            **weighing,
            "barred": barred_rows(self, rows),
            "search_options": self._search_options()
            | {"callback": fit.tell if fit.callbacks else None},
        }
        rounds: Any = boost
        if start.outputs:
            check_for_classes(self)
            rounds = boost_classes
        elif len(start) == 0:
            fit.given = given_rules(self, rows, n_rules)
        fit.rounds = rounds(
            candidates,
            y,
            self.loss_,
            start,
            covered=covered,
            given=fit.given,
            n_rules=n_rules - len(start),
            objective=self.objective,
            **shared,
        )
        if self.polish or self.strategy == "global":
            fit.exchanges = partial(polish, candidates, y, self.loss_, **shared)
        if self.strategy == "global":
            fit.second_start = GlobalStart.of(self, candidates, y, rows.weights, shared)
        fit.restage = partial(refitted_stages, candidates, y, self.loss_, **weighing)
        fit.extents = candidates.extents
        return fit

    def _finish(self, rows: CheckedRows, fit: RunningFit) -> None:
        """Find the rules.

        Sets: ensemble_, stages_, search_results_, unfinished_search_, scope_, rule_coverages_,
        feature_importances_, provable_with_, certificate_.
        """
        n_before = len(fit.ensemble)
        keeps_rules = self.on_interrupt == "keep"
        is_interrupted = fit.run(keeps_rules=keeps_rules)
        notes = [None if is_interrupted else fit.polish(keeps_rules=keeps_rules)]
        if fit.second_start is not None and not is_interrupted and not fit.is_stopped:
            self.certificate_, words = fit.second_start.improve(fit, keeps_rules=keeps_rules)
            notes.append(words)
        self.rule_coverages_ = [
            coverage
            for rule, covered in zip(fit.ensemble, fit.covered, strict=True)
            for coverage in rule_coverages(
                [covered],
                self.task_.covered_target(rows.counted_target, rule.output),
                rows.counted_weights,
            )
        ]
        is_complete = len(fit.stages) > len(fit.ensemble)
        stages = fit.stages if is_complete else (*self.stages, *fit.stages[1:])
        self.stages_ = (*stages[:-1], fit.ensemble)
        self.ensemble_, self.search_results_ = fit.ensemble, fit.results
        scope = self._scope()
        if n_before > 0 and getattr(self, "scope_", None) != scope:
            # Rules of an earlier fit were searched among others.
            self.__dict__.pop("scope_", None)
        else:
            self.scope_ = scope
        self.feature_importances_ = feature_importances(fit.ensemble, rows.table, rows.weights)
        if is_interrupted:
            self._warn(
                f"Interrupted: the model has {len(fit.ensemble)} of {fit.n_rules} rules. "
                f"{self._advice_to_go_on}"
            )
        self.unfinished_search_ = fit.unfinished
        self.provable_with_ = {}
        if fit.unfinished or any(map(is_stopped, fit.results)):
            self.provable_with_ = provable_changes(self, rows, fit.extents, fit.n_rules)
        stops = describe_stops(self, fit, 0 if fit.exchanges is not None else n_before)
        for words in filter(None, (*notes, *stops)):
            self._warn(words)

    def _start(
        self,
        table: Table,
        y: Floats,
        weights: Floats | None,
        kinds: dict[str, FeatureKind],
    ) -> tuple[RuleEnsemble, Sequence[SearchResult]]:
        """Tell what to go on from: an earlier fit, or constants.

        Sets: l2_regularization_, also where it is "auto".
        """
        start, curvature = starting_point(self.task_, y, weights, fit_intercept=self.fit_intercept)
        penalty = self.l2_regularization
        self.l2_regularization_ = float(PSEUDO_ROWS * curvature if penalty == "auto" else penalty)
        if not self.__sklearn_is_fitted__():
            return replace(start, feature_names=table.feature_names, feature_kinds=kinds), ()
        before = self.ensemble_
        known = before.feature_kinds
        agreed = {name: kind for name, kind in kinds.items() if known.get(name) == kind}
        start = replace(before, feature_names=table.feature_names, feature_kinds=agreed)
        return start, self.search_results_

    @staticmethod
    def _warn(message: str) -> None:
        # The line that called fit.
        warnings.warn(message, ConvergenceWarning, stacklevel=4)

    def _callbacks(self) -> list[Callable[[FitProgress], Any]]:
        printer = ProgressPrinter() if self.verbose else None
        return [callback for callback in (printer, self.callback) if callback is not None]

    def _scope(self) -> SearchScope:
        """Tell which rules are searched, by plain values: a search over parameters sets others."""
        n_conditions = self.max_conditions
        return SearchScope(
            search=str(self.search) if isinstance(self.search, str) else "own",
            objective=str(self.objective),
            l2_regularization=self.l2_regularization_,
            max_conditions=None if n_conditions is None else int(n_conditions),
            min_coverage=float(self.min_coverage),
            approximation_factor=float(self.approximation_factor),
            simplify=float(self.simplify),
            **condition_options(self, self.ensemble_.feature_names or ()),
            n_propositions=self.n_propositions_,
            are_propositions_given=self.propositions is not None,
            constraints=constraint_settings(self),
        )

    def _search_options(self) -> dict[str, Any]:
        return {
            "method": self.search,
            "max_conditions": self.max_conditions,
            "min_coverage": self.min_coverage,
            "approximation_factor": self.approximation_factor,
            "simplify": self.simplify,
            "node_limit": self.node_limit,
            "time_limit": self.time_limit,
            "n_jobs": self.n_jobs,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags
