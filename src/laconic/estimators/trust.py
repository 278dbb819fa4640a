"""Questions to a fitted model that its proof does not answer, see `laconic.trust`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from laconic._util.checks import is_finite_number, require
from laconic._util.types import Floats
from laconic._util.words import parameter
from laconic.boosting import State, TrainingData
from laconic.candidates.candidates import CandidateConditions
from laconic.estimators.conformal import calibrated
from laconic.estimators.fitting import columns_of, make_rounds
from laconic.estimators.progress import ChancePrinter
from laconic.estimators.resampling import stability_of
from laconic.estimators.training_data import read_rows
from laconic.estimators.weights import class_factors
from laconic.models.rule_model import RuleModel
from laconic.models.tasks import Task
from laconic.tables.sources.sources import is_source
from laconic.trust import (
    Chance,
    ChanceProgress,
    Effects,
    Intervals,
    Stability,
    StabilityProgress,
    estimate_effects,
)
from laconic.trust.chance import chance
from laconic.trust.fingerprint import check_unseen, warn_of_others

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


class TrustMixin(RuleModel):
    """Methods that ask how sure a model is."""

    def chance(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        n_permutations: int = 99,
        random_state: int = 0,
        callback: Callable[[ChanceProgress], Any] | None = None,
    ) -> Chance:
        """Ask of each term whether chance could have produced it.

        Copies of the training table, with shuffled targets, are searched as the table itself was.
        The share of those that have a term at least as good is the p-value of the term. For the
        first term, targets are permuted. For later ones, the copies keep what the terms before it
        explain: residuals are permuted, classes are drawn from the probabilities, and for other
        losses targets are permuted among rows that no term before it distinguishes. The p-value of
        a later term presumes that those before it are right. With strategy="polished" and
        "global", too, a term is judged beside those before it, where it need not be the best one,
        so that its p-value tends to be too large.

        A small p-value says that chance alone seldom does as well. It neither says that the term
        is the right one, nor how large its effect is on new rows. It presumes that rows, or groups,
        are alike but for the features: a feature that changes the spread of the target, and not its
        mean, may get a small p-value as well.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            The training table.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
        exposure : array-like of shape (n_rows,), default=None
            Both as in `fit`. They are shuffled together with the target.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows that depend on each other, such as those of one patient. Whole groups are
            exchanged: for any other where the target is the same in all rows of a group, otherwise
            for one of the same size, row by row in the order of the table.
        n_permutations : int, default=99
            Largest number of copies for a term. Five that have a term as good end the search. The
            smallest p-value is 1 / (n_permutations + 1); with 50 or more, one beyond that is
            extrapolated, as `extrapolated_p`.
        random_state : int, default=0
            The seed. The result does not depend on `n_jobs`.
        callback : callable, default=None
            Called with a :class:`ChanceProgress` now and then; a true return value stops. Terms
            that are done are kept then, as after Ctrl-C.

        Returns
        -------
        chance : Chance
            For each term its p-value, and how it came about; also kept in ``trust_.chance`` and in
            model files. Given terms, which were not searched for, have no p-value.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X = [[n, n % 7] for n in range(40)]
        >>> y = [5 * (n > 20) + n % 3 for n in range(40)]
        >>> model = RuleBoostingRegressor(n_terms=2).fit(X, y)
        >>> print(model.chance(X, y, n_permutations=39))
        Could chance have produced these terms?
        1. x0 <= 19: In 39 shuffled copies of the table, none had a term as good. (p = 0.025)
        2. x0 <= 24: 5 of 9 shuffled copies of the table had a term as good. (p = 0.56)
        """
        model = cast("RuleBoosting", self)
        data = read_rows(model, X, y, sample_weight, exposure, groups)
        if data.described is not None:
            raise ValueError(
                "Chance needs a table in memory. Got one that is read in parts. Take a sample of "
                "the rows."
            )
        warn_of_others(model.fingerprint_, data, 3)
        settings, ensemble = model.settings_, model.ensemble_
        settings.check_search()
        # Before the candidates, which read the columns of the table one by one and forget them.
        state = State(ensemble, columns_of(ensemble, data), tuple(model.search_results_))

        def candidates_of(y: Floats, weights: Floats | None) -> CandidateConditions:
            return settings.candidates(data.with_counted(y, weights))

        answer = chance(
            make_rounds(data, settings, settings.candidates(data), model.l2_regularization_),
            state.divided_by(data.scale),
            groups=None if data.groups is None else data.groups[data.counted],
            of_classes=_weights_of_classes(data, settings.class_weight),
            candidates_of=candidates_of if settings.conditions_depend_on_target else None,
            is_mixed=settings.is_mixed or settings.honest is not None,
            n_permutations=n_permutations,
            random_state=random_state,
            n_jobs=model.n_jobs,
            callback=_told(callback, is_verbose=bool(model.verbose)),
        )
        if answer.is_complete or any(term.is_searched for term in answer):
            self.trust_ = self.own_trust.having(ensemble=ensemble, chance=answer)
        return answer

    def effects(
        self,
        X_new: Any,
        y_new: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        level: float = 0.9,
    ) -> Effects:
        """Estimate the effects of the terms on rows that the model was not fitted to.

        The weights of a model are too optimistic for other rows, as its terms were chosen to suit
        the training rows. Here the same terms are fitted to new rows, without a penalty, with
        robust intervals. The predictions of the model stay as they are.

        Parameters
        ----------
        X_new : table-like of shape (n_rows, n_features)
            Rows that had no part in the fit, in memory. Training rows are refused; a warning says
            if many of the rows seem to be among them.
        y_new : array-like of shape (n_rows,)
            Their target.
        sample_weight : array-like of shape (n_rows,), default=None
        exposure : array-like of shape (n_rows,), default=None
            Both as in `fit`. A row of weight 2 has twice the influence, and is one row.
        groups : array-like of shape (n_rows,), default=None
            Rows with the same value belong together, such as visits of a patient: their errors may
            be related. None: all rows are independent.
        level : float in (0, 1), default=0.9
            Share of such intervals that contain the weight which is best for all rows like these.

        Returns
        -------
        effects : Effects
            With an estimate, its interval and the number of covered rows for each term, or why
            there is none. The model keeps it, also in files: ``model.trust_.effects``.

        Examples
        --------
        >>> import numpy as np
        >>> from laconic import RuleBoostingRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.integers(0, 90, size=(600, 3))
        >>> y = 3 * (X[:, 0] > 60) + 4 * rng.normal(size=600)
        >>> model = RuleBoostingRegressor(n_terms=2, slopes=False).fit(X[:300], y[:300])
        >>> print(model.effects(X[300:], y[300:]))
        Effects on 300 rows not used to find the terms, with 90% intervals:
        effect   from     to  in the model  rows
         +2.82   2.03   3.61         +2.85   300  (intercept)
         -2.43  -3.43  -1.43         -2.26   226  if x0 <= 67
         +0.59  -0.37   1.54         -1.76    84  if x0 <= 57 & x2 > 57
        """
        check_is_fitted(self)
        model = cast("RuleBoosting", self)
        is_level = is_finite_number(level) and 0 < level < 1
        require(is_level, parameter("level"), "a float in the range (0, 1)", level)
        if is_source(X_new):
            raise TypeError(
                "Effects need a table in memory, whose rows are independent. Got one that is read "
                "in parts. Take a sample of the rows."
            )
        data = read_rows(model, X_new, y_new, sample_weight, exposure, groups)
        advice = f"fit with {parameter('honest', 0.5)}"
        texts = "Effects need", "too narrow and too far from 0", advice
        check_unseen(model.fingerprint_, data, texts, 3)
        answer = estimate_effects(
            data,
            self.ensemble_,
            fit_intercept=self.settings_.fit_intercept,
            groups=data.groups,
            level=float(level),
            is_checked=self.fingerprint_ is not None,
        )
        self.trust_ = self.own_trust.having(ensemble=self.ensemble_, effects=answer)
        return answer

    def stability(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        n_resamples: int = 100,
        random_state: int = 0,
        callback: Callable[[StabilityProgress], Any] | None = None,
        resume: Stability | None = None,
    ) -> Stability:
        """Find how often the terms come back when the fit is repeated on resampled rows.

        The whole procedure is repeated: thresholds and conditions, the number of terms where chance
        or cross-validation decides on it, and weights, with the limits of the fit. A resample has
        as many rows as the table, drawn with replacement, and rows of every class. Rows of weight 0
        are not drawn. A rule came back if a resampled model has one of the same sign with a Jaccard
        index of at least 0.8, on the rows of the whole table. Beside an intercept, a rule says the
        same as its complement with the opposite sign; the rows that are not covered must then
        overlap as much. A slope came back if there is one of the same feature and sign whose values
        have a correlation of at least 0.9. With three or more classes, the class must be the same.

        Resampled copies have most rows in common. With new data of the same size, terms come back
        less often.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            The training table, in memory.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
        exposure : array-like of shape (n_rows,), default=None
            Both as in `fit`.
        groups : array-like of shape (n_rows,), default=None
            Rows that belong together, such as those of a patient: groups are drawn as a whole, and
            kept together where the fit holds rows out.
        n_resamples : int, default=100
            Frequencies of 100 resamples are exact to 10 percentage points, in 19 of 20 cases.
        random_state : int, default=0
            Seed. With the number of a resample, it determines the resample.
        callback : callable, default=None
            Called with a :class:`~laconic.trust.StabilityProgress` after every refit; a true return
            value stops, as Ctrl-C does: the answer is about the resamples so far.
        resume : Stability or None, default=None
            An answer for the same rows, parameters and seed, with fewer resamples: they are not
            fitted again. Answers from model files do not have their models, and cannot be resumed.

        Returns
        -------
        stability : Stability
            ``print`` shows it, ``to_frame()`` makes a table. It is kept as ``trust_.stability``,
            also in files, without the values of single rows.

        Notes
        -----
        A model from a file does not know that cross-validation chose its number of terms: its
        resampled models all have the same number. `initial_terms` come back in any case. With
        ``class_weight="balanced"``, each class is weighted by its distinct rows in a resample. The
        copies of a row are in the same fold wherever the procedure holds rows out.

        Examples
        --------
        >>> import numpy as np
        >>> from laconic import RuleBoostingRegressor
        >>> rng = np.random.default_rng(0)
        >>> X = rng.integers(20, 80, size=(200, 2))
        >>> y = 2.0 * (X[:, 0] > 60) + rng.normal(size=200)
        >>> model = RuleBoostingRegressor(n_terms=1).fit(X, y)
        >>> stability = model.stability(X, y, n_resamples=20)
        >>> print(stability.sentences[0])
        In 20 resampled copies, a rule for nearly the same rows came back 15 times; most often as
        'x0 <= 60'.
        """
        answer = stability_of(
            cast("RuleBoosting", self),
            (X, y, sample_weight, exposure),
            groups=groups,
            n_resamples=n_resamples,
            random_state=random_state,
            callback=callback,
            resume=resume,
        )
        self.trust_ = self.own_trust.having(ensemble=self.ensemble_, stability=answer)
        return answer

    def conformalize(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        cv: Any = 10,
        level: float = 0.9,
        random_state: Any = 0,
    ) -> Intervals:
        """Find how far predictions are off for new rows, for `predict_interval` and `predict_set`.

        The model is fitted again without each fold of its training rows, and the errors for the
        rows left out, which no fit has seen, give the width of intervals: the quantile of the
        absolute errors, for groups of at least 30 rows with similar predictions. Of classes, the
        quantile is that of the probabilities of the right class, for each class. The errors of the
        training rows themselves are smaller than those of new rows.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            The training table; with ``cv="prefit"`` rows that the model has not seen.
        y : array-like of shape (n_rows,)
            Its target.
        sample_weight : array-like of shape (n_rows,), default=None
            As in `fit`. A row of weight two counts as much as two rows, but is less certain.
        exposure : array-like of shape (n_rows,), default=None
            As in `fit`. Intervals are then of rates, y / exposure, and each row counts once.
        groups : array-like of shape (n_rows,), default=None
            Rows of the same group, such as those of a patient, are held out together.
        cv : int, splitter, iterable of splits or "prefit", default=10
            How rows are held out, each of them once. "prefit": nothing is fitted again, as the
            model has not seen any of the rows. Training rows are refused then; a warning says if
            many of the rows seem to be among them.
        level : float, default=0.9
            The share of new rows whose target is to lie within; for classes, of each class.
        random_state : int, RandomState instance or None, default=0
            Shuffles the rows, where `cv` is a number.

        Returns
        -------
        intervals : Intervals
            What the model keeps in `trust_`, and in its file. ``print`` shows it, and
            ``to_frame()`` makes a table.

        Notes
        -----
        New rows must come from the same population as these. With unseen rows, the share is then at
        least `level` in the mean over draws of the rows. With held-out rows there is no such
        guarantee, but on real tables it was met closely, and no rows are lost to learning.
        Half-widths are infinite, and least probabilities 0, where there are fewer rows than
        level / (1 - level).

        Every fold has the given terms, such as `initial_terms` and those of edits. If they were
        chosen for these rows, errors tend to be too small. A model from a file does not know that
        cross-validation chose its number of terms: all folds have the same number.

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X = [[n] for n in range(80)]
        >>> y = [5.0 * (n > 40) + (1 + (n > 40)) * (n % 5) for n in range(80)]
        >>> model = RuleBoostingRegressor(n_terms=1).fit(X, y)
        >>> print(model.conformalize(X, y))
        About 90% of new rows lie within prediction ± half-width, judged by 80 rows that
        were held out in turn:
        prediction   half-width  rows
        up to 5.438       3.341    40
        above 5.438       5.617    40
        >>> model.predict_interval([[10], [60]]).round(1)
        array([[-0.2,  6.5],
               [ 2.1, 13.3]])
        """
        model = cast("RuleBoosting", self)
        answer = calibrated(
            *(model, X, y, sample_weight, exposure),
            groups=groups,
            cv=cv,
            level=level,
            random_state=random_state,
        )
        self.trust_ = self.own_trust.having(ensemble=self.ensemble_, intervals=answer)
        return answer


def _weights_of_classes(data: TrainingData, class_weight: Any) -> Mapping[float, float] | None:
    """Return the factors of weights by the target as the loss takes it; None without any."""
    if class_weight is None:
        return None
    numbers = data.counted_target.astype(np.intp)
    factors = class_factors(cast(Task, data.task), class_weight, np.bincount(numbers))
    return {float(y): float(factors[n]) for y, n in zip(data.counted_y, numbers, strict=True)}


def _told(
    callback: Callable[[ChanceProgress], Any] | None, *, is_verbose: bool
) -> Callable[[ChanceProgress], Any] | None:
    """Call a callback, and print the progress if that is wanted."""
    if not is_verbose:
        return callback
    printer = ChancePrinter()

    def tell(progress: ChanceProgress) -> Any:
        printer(progress)
        return callback is not None and callback(progress)

    return tell
