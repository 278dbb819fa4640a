"""The base of all estimators: parameters, the fit, and what a fitted model can do."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from laconic._util.types import Floats
from laconic.boosting import Settings, State, TrainingData
from laconic.boosting.certificate import EnsembleCertificate, ProofProgress
from laconic.estimators.callbacks import CallbackSupportMixin, RuleTasks, fit_task, told_rows
from laconic.estimators.choose_size import check_in_memory, choose_size
from laconic.estimators.convergence import (
    describe_unfinished,
    describe_unproven,
    is_stopped,
    provable_changes,
)
from laconic.estimators.edit import EditReport, alternatives, edited
from laconic.estimators.fitting import FitRun, columns_of, missing_terms
from laconic.estimators.global_strategy import certify, check_global, improve
from laconic.estimators.groups import check_use
from laconic.estimators.honest import refitted_run, search_part
from laconic.estimators.parameters import (
    ATTRIBUTES,
    CV_ATTRIBUTES,
    check_parameters,
    describe_parameters,
    known_parameters,
)
from laconic.estimators.progress import FitProgress, ProgressPrinter
from laconic.estimators.read_training_data import reduced
from laconic.estimators.stream_predictions import write_predictions
from laconic.estimators.training_data import read_inputs, read_rows, validated
from laconic.estimators.trust import TrustMixin
from laconic.models.alternatives import Alternatives
from laconic.models.notes import note_on_dates
from laconic.models.rule_model import RuleModel, add_model_class, checked_table, term_names
from laconic.models.shapley import ShapleyValues, feature_importances, shapley_values
from laconic.models.tasks import Task
from laconic.search import SearchResult
from laconic.search.results import describe_certificate
from laconic.tables.sources.sources import is_source, scan
from laconic.tables.tables import Table
from laconic.terms.display import rules_html, with_columns
from laconic.terms.formatting import format_count, format_number, format_percent
from laconic.terms.rules import RuleCoverage, rule_coverages
from laconic.trust import Trust, fingerprint_of

if TYPE_CHECKING:
    from laconic.report import Report

_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
]


def _nth_term(number: int) -> str:
    """Name a term by its number, at the beginning of a sentence."""
    if number > len(_ORDINALS):
        return f"Term {number}"
    word = _ORDINALS[number - 1]
    return f"A{'n' if word == 'eighth' else ''} {word} term"


class RuleBoosting(CallbackSupportMixin, TransformerMixin, TrustMixin, BaseEstimator):
    """Base class of all estimators; they differ in their task and in the choice of the size."""

    task: ClassVar[type[Task]]
    """What the estimator is for."""
    _plain: ClassVar[type[RuleBoosting] | None] = None
    """Of an estimator that chooses the number of terms, the one that is given it."""

    n_terms: int
    unfinished_search_: SearchResult | None
    provable_with_: dict[str, Any]
    edits_: EditReport
    n_terms_: int
    cv_results_: dict[str, Any]
    reason_: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        add_model_class(cls)
        if cls.__doc__ and "{parameters}" in cls.__doc__:
            # Python 3.13 takes the indentation off docstrings, older versions leave it.
            doc = inspect.cleandoc(cls.__doc__)
            names = islice(inspect.signature(cls.__init__).parameters, 1, None)
            doc = doc.replace("{parameters}", describe_parameters(names, cls.task.losses))
            about = ATTRIBUTES if cls._plain is None else f"{CV_ATTRIBUTES}\n{ATTRIBUTES}"
            cls.__doc__ = doc.replace("{attributes}", about)

    def _store(self, known: Any, n_terms: int, parameters: Mapping[str, Any]) -> None:
        """Store parameters as they are; those that are not given have their defaults."""
        defaults = {name: each.default for name, each in known_parameters(known).items()}
        for name in parameters:
            if name == "warm_start" and self._plain is not None:
                raise TypeError(
                    f"{type(self).__name__} has no parameter 'warm_start': it chooses the number "
                    f"of terms anew in every fit. Use {self._plain.__name__} to add terms to a "
                    "model."
                )
            if name not in defaults:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}"
                )
        for name, value in (defaults | {"n_terms": n_terms, **parameters}).items():
            setattr(self, name, value)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Let type checkers know that there are parameters, as `Parameters` lists them."""

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Find the terms.

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
            How many times each row counts. Their sum is a number of rows: penalties leave almost no
            model if it is 1, and have no effect if it is huge. Weights of mean 1 avoid both.
        exposure : array-like of shape (n_rows,), or str, default=None
            Exposure of each row, such as years or policies; positive, for losses with a logarithmic
            link. The model is that of the rates, y / exposure, with weights times
            exposure, and predicts them: multiply by an exposure for a count. With "poisson" that
            is the same as adding the logarithm of the exposure to the raw prediction.
        groups : array-like of shape (n_rows,), default=None
            Rows with the same value belong together, such as visits of a patient: `honest` and the
            folds of `cv` do not divide them, and errors are those of groups. Values are texts,
            numbers or dates. Refused where a fit holds no rows out, as they would have no effect;
            with metadata routing, pass them to a splitter only by
            ``set_fit_request(groups=False)``.

        Returns
        -------
        self : object
        """
        check_parameters(self)
        check_in_memory(self, X)
        check_use(self, X, groups)
        if not getattr(self, "warm_start", False):
            self._forget_model()
        data, settings = read_inputs(self, X, y, sample_weight, exposure, groups)
        self._check_size(settings)
        told = told_rows(data, y, sample_weight, exposure)
        data = search_part(data, settings)
        n_tasks = self._n_tasks(settings)
        with fit_task(self, n_tasks if self._plain is None else None, told) as tasks:
            if self._plain is None:
                notes = self._run(data, settings, tasks)
            else:
                settings, unfinished, notes = choose_size(self, data, settings, tasks)
                if tasks is not None:
                    tasks = tasks.stage("all rows", self._n_tasks(settings), told)
                notes += self._run(data, settings, tasks, unfinished)
                if tasks is not None:
                    tasks.finish({})
        for words in notes:
            warnings.warn(words, ConvergenceWarning, stacklevel=2)
        return self

    def _check_size(self, settings: Settings) -> None:
        if not self.__sklearn_is_fitted__():
            return
        n_before, n_new = len(self.ensemble_), len(missing_terms(settings, self.ensemble_))
        if settings.max_terms < n_before + n_new:
            new = f" and the {format_count(n_new, 'new initial term')}" if n_new else ""
            raise ValueError(
                f"n_terms={settings.n_terms} must not be smaller than the {n_before} terms fitted "
                f"before{new} when warm_start=True. Set warm_start=False to start over."
            )

    def _n_tasks(self, settings: Settings) -> int | None:
        """Return the number of terms reported to callbacks; None if terms may be removed again."""
        n_before = len(self.ensemble_) if self.__sklearn_is_fitted__() else 0
        is_known = settings.constraints is None and not settings.beats_chance
        return settings.max_terms - n_before if is_known else None

    def _run(
        self,
        data: TrainingData,
        settings: Settings,
        tasks: RuleTasks | None,
        unfinished: SearchResult | None = None,
    ) -> list[str]:
        """Find the terms; returns what users should know about the search.

        Sets: ensemble_ and all that is known about it.
        """
        data = reduced(data, settings, self.ensemble_ if self.__sklearn_is_fitted__() else ())
        run = FitRun(
            data,
            settings,
            self._before(data),
            callbacks=self._callbacks(),
            tasks=tasks,
            n_jobs=self.n_jobs,
            unfinished=unfinished,
        )
        check_global(run)
        keeps_rules = self.on_interrupt == "keep"
        run.boost(keeps_rules=keeps_rules)
        notes = [None if run.is_interrupted else run.polish(keeps_rules=keeps_rules)]
        certificate = None
        if settings.strategy == "global" and not (run.is_interrupted or run.is_stopped):
            run.scaled, certificate, note = improve(run, keeps_rules=keeps_rules)
            notes.append(note)
        elif run.is_interrupted and notes == [None]:
            notes = [
                f"Interrupted: the model has {len(run.scaled.ensemble)} of {run.n_terms} terms. "
                f"Fit again{' with warm_start=True' if self._plain is None else ''} to find the "
                "others."
            ]
        self._keep(run, certificate)
        return [*filter(None, (*notes, *run.warnings(), *self._stops(run)))]

    def _before(self, data: TrainingData) -> State | None:
        """Return the model of an earlier fit to go on from, if there is one."""
        if not self.__sklearn_is_fitted__():
            return None
        ensemble = replace(self.ensemble_, feature_names=data.table.feature_names)
        columns, results = columns_of(ensemble, data), tuple(self.search_results_)
        return State(ensemble, columns, results, tuple(self.stages))

    def _keep(self, run: FitRun, certificate: EnsembleCertificate | None) -> None:
        """Take over what a fit has found.

        Sets: ensemble_, stages_, search_results_, unfinished_search_, task_, settings_,
        l2_regularization_, n_candidates_, rule_coverages_, feature_importances_, provable_with_,
        certificate_, fingerprint_, trust_.
        """
        settings = run.settings
        data, state, effects = refitted_run(run)
        penalty, n_candidates = run.l2_regularization, len(run.candidates)
        if run.n_before > 0:
            is_same = self.settings_.is_same_search(settings) and (
                (self.l2_regularization_, self.n_candidates_) == (penalty, n_candidates)
            )
            settings = replace(settings, is_mixed=self.settings_.is_mixed or not is_same)
        coverages = [
            coverage
            for term, values in zip(state.ensemble, state.columns, strict=True)
            for coverage in rule_coverages(
                [values != 0.0],
                data.task.covered_target(data.counted_target, term.output),
                data.counted_weights,
            )
        ]
        importances = feature_importances(state.ensemble, data.table, data.weights)
        changes = {}
        if run.unfinished or any(map(is_stopped, state.results)):
            changes = provable_changes(settings, run.data, run.candidates.extents)
        # All at once, so that Ctrl-C does not leave parts of two models.
        self.__dict__.update(
            task_=data.task,
            settings_=settings,
            ensemble_=state.ensemble,
            stages_=(*state.stages[:-1], state.ensemble),
            search_results_=list(state.results),
            unfinished_search_=run.unfinished,
            l2_regularization_=penalty,
            n_candidates_=n_candidates,
            rule_coverages_=coverages,
            feature_importances_=importances,
            provable_with_=changes,
            fingerprint_=None if is_source(data.X) else fingerprint_of(data),
            **({} if certificate is None else {"certificate_": certificate}),
            **self._chosen(run),
        )
        # Where an earlier model came from, and what was known about it.
        self.__dict__.pop("record_", None)
        self.__dict__.pop("trust_", None)
        if effects is not None:
            self.trust_ = Trust(state.ensemble, effects=effects)

    @staticmethod
    def _chosen(run: FitRun) -> dict[str, Any]:
        """Return the number of terms, and why, where chance decided on it."""
        if not run.settings.beats_chance:
            return {}
        n_terms = len(run.scaled.ensemble)
        why = "as many as beat chance at first"
        if n_terms >= run.settings.max_terms:
            why = "the most that are looked for: more may beat chance"
        words = f"{format_count(n_terms, 'term')}, {why}."
        chance = f"{_nth_term(n_terms + 1)} would be no better than chance."
        return {"n_terms_": n_terms, "reason_": chance if run.is_chance else words}

    def _stops(self, run: FitRun) -> tuple[str | None, str | None]:
        """Return sentences about terms without a proof, and about a limit that ended the fit."""
        stops: dict[str, Any] = {
            "time_limit": run.settings.time_limit,
            "changes": self.provable_with_,
        }
        n_before = 0 if run.settings.is_polished else run.n_before
        return (
            describe_unproven(self.search_results_, n_before, **stops),
            describe_unfinished(run.unfinished, len(self.ensemble_), **stops),
        )

    def _forget_model(self) -> None:
        # So that a fit that fails does not leave old terms next to new classes.
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)

    def _callbacks(self) -> list[Callable[[FitProgress], Any]]:
        printer = ProgressPrinter() if self.verbose else None
        return [callback for callback in (printer, self.callback) if callback is not None]

    def _plain_estimator(self, parameters: Mapping[str, Any]) -> RuleBoosting:
        """Make an estimator of a given number of terms, with some other parameters."""
        other = cast("RuleBoosting", clone(self))
        # Not by get_params and set_params: a subclass may show fewer parameters than it has.
        if self._plain is not None:
            known = inspect.signature(self._plain).parameters
            other = self._plain(
                **{name: value for name, value in vars(other).items() if name in known}
            )
        # Only classifiers have these; those of the fit may be none.
        unset = {name: None for name in ("class_weight", "positive") if hasattr(other, name)}
        for name, value in (unset | {**parameters}).items():
            setattr(other, name, value)
        return other

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
        """Yield the prediction of the model when it had one, two, ... terms.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Yields
        ------
        ndarray of shape (n_rows,)
        """
        for raw_predictions in self._staged_raw_predictions(X):
            yield self.task_.predictions(raw_predictions)

    def _raw_predictions(self, X: Any) -> Floats:
        table = self._fitted_table(X)
        return self.ensemble_.raw_predictions(table)

    def _staged_raw_predictions(self, X: Any) -> Iterator[Floats]:
        yield from islice(self.predictions_for(X).staged_raw(), 1, None)

    def transform(self, X: Any) -> Any:
        """Compute the values of the terms, as columns for other models.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)

        Returns
        -------
        values : ndarray of shape (n_rows, n_terms), dtype float64
            Of a rule, 1 where it covers a row and 0 elsewhere; of a slope, by how much the feature
            exceeds its lower end, in the units that its weight is per. A data frame after
            ``set_output(transform="pandas")`` or ``"polars"``.
        """
        return self.predictions_for(X).term_values.astype(np.float64, copy=False)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return names of the columns that `transform` makes: the text of each term.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names for the features of a model that was fitted to a table without names.

        Returns
        -------
        names : ndarray of str of shape (n_terms,), dtype object
            No two are the same.
        """
        check_is_fitted(self)
        features = _check_feature_names_in(self, input_features, generate_names=False)
        has_others = input_features is not None and not hasattr(self, "feature_names_in_")
        names = term_names(self.ensemble_, features if has_others else None)
        return np.array(names, dtype=object)

    def shapley_values(self, X: Any, background: Any) -> ShapleyValues:
        """Compute exact Shapley values of the raw predictions, of two classes for the positive one.

        In the interventional game, features that are left out take the values of background rows.
        The values add up to the raw prediction minus its mean over the background; where `positive`
        is the first class, `decision_function` has the opposite sign.

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

    def certificate(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        *,
        against: str | None = None,
        l2_regularization: float | None = None,
        by_size: bool = False,
        node_limit: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[ProofProgress], Any] | None = None,
    ) -> EnsembleCertificate:
        """Prove how close the whole model comes to the best possible one on its training rows.

        The model is compared with all ensembles of terms from the same search space: the same
        candidate conditions and slopes, and the same largest number of conditions in a rule. The
        certificate is true however the proof ended, also if Ctrl-C stopped it.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            The training table.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
        exposure : array-like of shape (n_rows,), default=None
            Both as in `fit`.
        against : {"rules", "weight"} or None, default=None
            What to compare with. "rules": ensembles of as many terms, with the same penalty on
            their squared weights, which counts as part of the objective. "weight": ensembles of any
            number of terms whose absolute weights add up to no more than those of the model,
            without penalty. None is "rules" where there is a penalty.
        l2_regularization : float or None, default=None
            The penalty; None is that of the fit.
        by_size : bool, default=False
            Whether the first 1, 2, ... terms get proofs of their own, for the picture of `sizes`:
            one search more for each. Without, they are bounded by what the others prove.
        node_limit : int or None, default=None
            Stop after that many nodes of all searches.
        time_limit : float or None, default=None
            Stop after that many seconds. The certificate then depends on the machine.
        callback : callable, default=None
            Called with a :class:`ProofProgress` now and then; a true return value stops.

        Returns
        -------
        certificate : EnsembleCertificate
            With `share`, `trivial_share`, `objective`, `bound`, `status` and ``verify(X)``.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X, y = [[1], [2], [3], [4]], [5, 5, 1, 1]
        >>> model = RuleBoostingRegressor(n_terms=1, l2_regularization=1.0).fit(X, y)
        >>> certificate = model.certificate(X, y)
        >>> print(certificate.summary, certificate.verify(X))
        99% of what any 1 term could achieve, proven True
        """
        data = read_rows(self, X, y, sample_weight, exposure)
        return certify(
            self,
            data,
            against=against,
            l2_regularization=l2_regularization,
            by_size=by_size,
            node_limit=node_limit,
            time_limit=time_limit,
            callback=callback,
        )

    def edit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        drop: Iterable[int] = (),
        replace: Mapping[int, Any] | None = None,
        force: Sequence[Any] = (),
        lock: Iterable[int] | None = None,
        n_terms: int | None = None,
        cv: Any = 5,
    ) -> RuleBoosting:
        """Edit terms, refit the weights, and fill free places with the best new terms.

        Terms are counted from 1, and new ones are written as models print them, such as
        ``'age > 65 & sex == "f"'`` or ``'age from 25 to 68'``. The result is a model like any
        other: its weights are fitted, its terms proven or given, and explanations and exports are
        those of the new terms. Where the model was fitted with strategy="global", terms that
        complete it are polished.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            The training table.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
        exposure : array-like of shape (n_rows,), default=None
            Both as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Rows with the same value are held out together, also by `honest`.
        drop : iterable of int, default=()
            Numbers of the terms to remove. Neither they nor rules that cover the same rows are
            added again.
        replace : dict of int to str, Query, Rule or Slope, default=None
            New terms by the numbers of those that they replace. With three or more classes, a new
            term votes for the class of the old one, or for the class of a pair of a term and a
            class.
        force : sequence of str, Query, Rule or Slope, default=()
            Terms that the model must contain. With three or more classes, each votes for the class
            for which it gains most, or for the class of a pair of a term and a class.
        lock : iterable of int or None, default=None
            Numbers of terms that stay, besides those that are replaced or forced, while all others
            are searched anew. None: all terms stay that are neither dropped nor replaced.
        n_terms : int or None, default=None
            Number of terms of the new model; None for as many as before.
        cv : int, splitter, iterable or None, default=5
            How rows are held out, to estimate what an edit costs.

        Returns
        -------
        model : estimator
            A new model; this one stays as it is. Its `edits_` list the cost of each edit, in
            risk on the training rows and in loss on held-out rows.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X = [[age, income] for age in (20, 30, 40, 50, 60, 70) for income in (1, 2, 3)]
        >>> y = [3 * (age > 45) + (income > 1) for age, income in X]
        >>> model = RuleBoostingRegressor(n_terms=2).fit(X, y)
        >>> edited = model.edit(X, y, drop=[1], force=["x0 > 55"])
        >>> print(edited)
        Prediction, 1 rule, 1 slope, 2 conditions:
         +1.592 (intercept)
        +0.1722 per 10 of x0 from 20 to 60
        +0.5199 if x0 > 55
        >>> print(edited.edits_)
                          terms   risk   cost  held out   cost
        before                2  1.571            1.323
        without x0 <= 40      1  2.070  +0.50     2.034  +0.71
        with x0 > 55          2  1.868  -0.20     1.748  -0.29
        """
        return edited(
            self,
            read_rows(self, X, y, sample_weight, exposure, groups),
            (X, y, sample_weight, exposure),
            drop=drop,
            replace=replace or {},
            force=force,
            lock=lock,
            n_terms=n_terms,
            cv=cv,
        )

    def alternatives(
        self,
        term: int,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        *,
        tolerance: float = 0.05,
        max_found: int = 10,
    ) -> Alternatives:
        """Find all terms that are nearly as good as the best one in the place of a term.

        With strategy="stagewise" that is the place after the terms before it; otherwise it is
        judged given all others. The same exact search finds one after the other, none of which
        covers the same rows as another or as the term itself; nor, beside an intercept that is
        refitted, the rest of them, which says the same.

        Parameters
        ----------
        term : int
            Its number, from 1.
        X : table-like of shape (n_rows, n_features)
            The training table.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
        exposure : array-like of shape (n_rows,), default=None
            Both as in `fit`.
        tolerance : float in [0, 1), default=0.05
            What share of the best gain terms may fall short of.
        max_found : int, default=10
            Stop after that many.

        Returns
        -------
        alternatives : Alternatives
            The best first, each with its share of the best gain and the overlap of its rows with
            those of the term. `is_complete` says whether it is proven that there are no others.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X = [[age, age // 10] for age in range(20, 60)]
        >>> y = [float(age > 37) for age, _ in X]
        >>> model = RuleBoostingRegressor(n_terms=1, max_thresholds=20).fit(X, y)
        >>> print(model.alternatives(1, X, y, tolerance=0.25))
        Instead of term 1, x0 <= 37, nearly as good, within 25% of the best:
          82% of the gain,   90% overlap: x0 <= 39
          80% of the gain,   89% overlap: x0 <= 35
        """
        data = read_rows(self, X, y, sample_weight, exposure)
        return alternatives(self, data, term, tolerance=tolerance, max_found=max_found)

    def report(
        self,
        X: Any,
        y: ArrayLike,
        *,
        title: str | None = None,
        target_name: str | None = None,
        max_sample_rows: int = 100,
        baseline: RuleModel | None = None,
        certificate: EnsembleCertificate | None = None,
        alternatives: Sequence[Alternatives] = (),
    ) -> Report:
        """Show the model on one page that needs nothing but a browser.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            Rows to evaluate the model on, preferably not the training rows.
        y : array-like of shape (n_rows,)
            Their target.
        title : str or None, default=None
            Heading of the page; None makes one from the target.
        target_name : str or None, default=None
            What is predicted; None takes the name of `y`, where it has one.
        max_sample_rows : int, default=100
            Largest number of rows whose values are in the page, as examples of the
            what-if panel and points of residuals. With 0, the page contains summaries only.
        baseline : RuleModel or None, default=None
            Another fitted model, such as one with ``search="greedy"``, whose scores are drawn
            beside those of this one.
        certificate : EnsembleCertificate or None, default=None
            What `certificate` returned for the training rows; None takes that of the model, where
            it has one. The page shows what is proven about all terms together.
        alternatives : sequence of Alternatives, default=()
            What the method ``alternatives`` found for some terms, to be shown with them.

        Returns
        -------
        report : Report
            With ``save(path)``, ``to_html()``, ``to_dict()`` and ``to_json()``. Notebooks show it.
        """
        # Needs packages that estimators do not.
        from laconic.report import make_report

        return make_report(
            self,
            X,
            y,
            title=title,
            target_name=target_name,
            max_sample_rows=max_sample_rows,
            baseline=baseline,
            certificate=certificate,
            alternatives=alternatives,
        )

    def save_predictions(
        self,
        X: Any,
        path: str | os.PathLike[str],
        *,
        probabilities: bool = False,
        keep_columns: Sequence[str] = (),
    ) -> int:
        """Predict for a table of any length, and write a Parquet file as the rows are read.

        The file is complete or not there at all, also if Ctrl-C ends the work. No more than the
        columns of the terms, and those that are kept, are read.

        Parameters
        ----------
        X : str, path, lazy frame, relation or frame
            As :func:`laconic.scan` takes it.
        path : str or path
            The Parquet file to write: a column "prediction", in the order of the rows.
        probabilities : bool, default=False
            Whether to add a column with the probability of each class.
        keep_columns : sequence of str, default=()
            Columns of the table to put beside the predictions, such as keys.

        Returns
        -------
        n_rows : int
        """
        check_is_fitted(self)
        source = scan(X)
        for name in keep_columns:
            source.require(name, "column to keep")
        return write_predictions(
            self, source, path, probabilities=probabilities, keep_columns=keep_columns
        )

    def _fitted_table(self, X: Any) -> Table:
        """Check a table to predict for."""
        if self._known is not None and X is self._known[0]:
            return self._known[1]
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # raises scikit-learn's error
        table = checked_table(X)
        validated(self, X, table)
        return self._with_fitted_names(table)

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
        return f"{meaning[0].upper()}{meaning[1:]}, {self.ensemble_.size_text}"

    @property
    def _proof_words(self) -> str:
        certificate = self.own_certificate
        if certificate is None:
            return ""
        return f"On the training rows at least {certificate.summary}."

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return repr(self)
        columns = self.own_trust.columns
        terms = with_columns(self.ensemble_, columns) if columns else str(self.ensemble_)
        return "\n".join([f"{self._summary}:", terms, *self._remarks])

    @property
    def _remarks(self) -> list[str]:
        """The proof for all terms together, why there are so many, and which ones have dates."""
        why = getattr(self, "reason_", "")
        effects = self.own_trust.effects
        fitted_to = "" if effects is None else effects.remark
        notes = self._proof_words, why, fitted_to, note_on_dates(self.ensemble_)
        return [*filter(None, notes), *self.own_trust.legend]

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # Asked for in any case: it does not exist where scikit-learn is set to display text.
        diagram: Callable[[], str] = super()._repr_html_
        return self._rules_html if self.__sklearn_is_fitted__() else diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Show the terms in notebooks once there are any, and scikit-learn's diagram before."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if self.__sklearn_is_fitted__():
            bundle["text/plain"] = str(self)
            if "text/html" in bundle:
                bundle["text/html"] = self._rules_html()
        return bundle

    def _rules_html(self) -> str:
        table = rules_html(self.ensemble_.lines, self._summary, self._columns())
        notes = "".join(f"<p>{words}</p>" for words in self._remarks)
        return (
            f"<div>{table}{notes}<details><summary>{type(self).__name__}</summary>"
            f"{estimator_html_repr(self)}</details></div>"
        )

    def _columns(self) -> dict[str, list[str]]:
        """Further columns of the table of terms: what is known about all of them."""
        columns = {}
        coverages: list[RuleCoverage] = getattr(self, "rule_coverages_", [])
        if len(coverages) == len(self.ensemble_):
            columns["rows"] = [
                f"{format_number(rule.coverage)} ({format_percent(rule.share)})"
                for rule in coverages
            ]
            columns[self.task_.mean_words] = [
                self.task_.format_mean(rule.mean_target) for rule in coverages
            ]
        if len(self.search_results_) == len(self.ensemble_):
            columns["certificate"] = [*map(describe_certificate, self.search_results_)]
        return columns | self.own_trust.columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags
