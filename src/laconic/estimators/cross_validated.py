"""Estimators that choose the number of rules by cross-validation."""

from __future__ import annotations

import re
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from laconic._checks import is_whole
from laconic._defaults import DEFAULT_N_RULES
from laconic.data.sources import is_source
from laconic.data.tables import take_rows
from laconic.estimators.base import RuleBoosting
from laconic.estimators.callbacks import RuleTasks, fit_task, told_rows
from laconic.estimators.classifier import RuleBoostingClassifier
from laconic.estimators.parameters import check_parameters, set_signature
from laconic.estimators.reducing import reduced
from laconic.estimators.regressor import RuleBoostingRegressor
from laconic.estimators.rows import CheckedRows
from laconic.estimators.sizes import DEFAULT_FOLDS, Choice, Fold, choose, grow, make_splits
from laconic.model.formatting import format_count
from laconic.search import SearchResult

_N_RULES = """\
n_rules : int, default=10
    Largest number of rules that is considered."""
_CV = """\
cv : int, splitter, iterable or None, default=5
    How to hold out rows. A number of parts: rows are shuffled, in the same way in every fit, and
    classes keep their shares in each part; None is 5. Or a splitter of scikit-learn, or an iterable
    of pairs of row positions, to learn from and to judge by, as for rows that belong together:
    ``list(GroupKFold(5).split(X, y, groups))``."""
_ATTRIBUTES = """\
n_rules_ : int
    The number of rules that was chosen.
cv_results_ : dict of str to ndarray of shape (n_sizes,)
    What is known about every size that was tried: ``n_rules``, from 0 on; ``n_conditions``, mean
    over the splits; ``mean_loss`` on rows that were held out; ``standard_error`` of its difference
    to the smallest one; ``split0_loss``, ``split1_loss``, ... of each split.
reason_ : str
    How the number was chosen, in a sentence."""


class CrossValidated(RuleBoosting):
    """What estimators that choose the number of rules share; they differ in their task."""

    _advice_to_go_on = "Fit again to find the others."

    n_rules_: int
    cv_results_: dict[str, Any]

    @classmethod
    def _describe_parameters(cls) -> str:
        _, *others = re.split(r"\n(?=\w)", super()._describe_parameters())
        kept = [text for text in others if not text.startswith("warm_start")]
        return "\n".join([_N_RULES, _CV, *kept])

    @classmethod
    def _describe_attributes(cls) -> str:
        return f"{_ATTRIBUTES}\n{super()._describe_attributes()}"

    def __init__(
        self, n_rules: int = DEFAULT_N_RULES, *, cv: Any = DEFAULT_FOLDS, **parameters: Any
    ) -> None:
        if "warm_start" in parameters:
            raise TypeError(
                f"{type(self).__name__} has no parameter 'warm_start': it chooses the number of "
                f"rules anew in every fit. Use {type(self).__mro__[2].__name__} to add rules to a "
                "model."
            )
        super().__init__(n_rules, **parameters)
        self.cv = cv

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Choose the number of rules, and find that many.

        Parameters
        ----------
        X : table-like of shape (n_rows, n_features)
            A pandas, polars or pyarrow table, or an array. Numeric columns give thresholds, text,
            boolean and categorical columns values; missing values are welcome.
        y : array-like of shape (n_rows,)
            The target.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights, not negative. A weight of two counts as two rows, of zero as none.
        exposure : array-like of shape (n_rows,), default=None
            What each target was counted over, such as years or policies; positive, for losses with
            a logarithmic link. The model is that of the rates, y / exposure, with weights times
            exposure, and predicts them: multiply by an exposure for a count. With "poisson" that
            is the same as adding the logarithm of the exposure to the raw prediction.

        Returns
        -------
        self : object
        """
        check_parameters(self)
        if not _is_cv(self.cv):
            raise ValueError(
                f"The 'cv' parameter of {type(self).__name__} must be an int in the range "
                "[2, inf), a splitter with the method 'split', an iterable of splits or None. "
                f"Got {self.cv!r} instead."
            )
        self._forget_model()
        if is_source(X):
            raise TypeError(
                f"{type(self).__name__} needs a table in memory, to hold rows out. Got one that is "
                "read in parts. Choose n_rules with a sample of it, and fit "
                f"{type(self).__mro__[2].__name__} with that."
            )
        rows = self._read(X, y, sample_weight, exposure)
        told = told_rows(rows, y, sample_weight, exposure)
        with fit_task(self, None, told) as tasks:
            choice, unfinished = self._choose(rows, tasks)
            rows = reduced(self, rows)
            fit = self._begin(rows, choice.n_rules)
            fit.unfinished = unfinished
            if tasks is not None:
                fit.tasks = tasks.stage("all rows", self._n_tasks(fit), told)
            self._finish(rows, fit)
            self.n_rules_, self.cv_results_ = choice.n_rules, choice.results
            if fit.tasks is not None:
                fit.tasks.finish({})
        return self

    def _forget_model(self) -> None:
        super()._forget_model()
        for name in ("n_rules_", "cv_results_"):
            self.__dict__.pop(name, None)

    def _choose(
        self, rows: CheckedRows, tasks: RuleTasks | None
    ) -> tuple[Choice, SearchResult | None]:
        """Choose the number of rules: all splits find one rule after the other, side by side.

        Where a limit left nothing to choose from, the search that it stopped comes with it.
        """
        weights = np.ones(rows.table.n_rows) if rows.weights is None else rows.weights
        splits = make_splits(
            self.cv, rows.target, holds_classes=self.task.holds_classes, weights=rows.weights
        )
        y = self.task_.for_loss(rows.target)
        folds = []
        for number, (train, test) in enumerate(splits, start=1):
            stage = f"fold {number} of {len(splits)}"
            part = reduced(self, self._part(rows, train, weights))
            fit = self._begin(part, self.n_rules, stage)
            if tasks is not None:
                fit.tasks = tasks.stage("fold", self._n_tasks(fit), {})
            folds.append(Fold(fit, rows.table, test, y, self.loss_))
        sizes = []
        try:
            for size in grow(folds, self.n_rules, weights):
                sizes.append(size)
        except KeyboardInterrupt:
            if self.on_interrupt != "keep" or len(sizes) < 2:
                raise
            self._warn(
                "Interrupted: the number of rules is chosen among 0 to "
                f"{len(sizes) - 1}, not up to {self.n_rules}."
            )
        for fold in folds:
            if fold.fit.tasks is not None:
                fold.fit.tasks.finish(None)
        unfinished = folds[0].fit.unfinished if len(sizes) == 1 else None
        return choose(sizes, [test for _, test in splits], weights, folds[0].unit), unfinished

    def _part(self, rows: CheckedRows, train: Any, weights: Any) -> CheckedRows:
        """Rows to learn from: the others have no weight, so that columns stay what they are."""
        X = take_rows(rows.X, train) if callable(self.propositions) else rows.X
        # Where a split repeats rows, they count as often.
        part_weights = weights * np.bincount(train, minlength=rows.table.n_rows)
        return CheckedRows(X, rows.table, rows.target, part_weights)

    @property
    def reason_(self) -> str:
        """How the number was chosen, in a sentence."""
        results = self.cv_results_
        n_folds = sum(name.startswith("split") for name in results)
        best = int(results["mean_loss"].argmin())
        why = "with the smallest loss"
        if best != self.n_rules_:
            why = (
                "the fewest within one standard error of the smallest loss, that of "
                f"{format_count(best, 'rule')}"
            )
        largest = format_count(self.n_rules, "rule")
        return (
            f"{self.n_rules_} of up to {largest}: chosen by {n_folds}-fold cross-validation, {why}."
        )

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\n{self.reason_}" if hasattr(self, "cv_results_") else text

    def _rules_html(self) -> str:
        return f"<div>{super()._rules_html()}<p>{self.reason_}</p></div>"


def _is_cv(value: Any) -> bool:
    if value is None or isinstance(value, str | bool):
        return value is None
    return is_whole(value, 2) or hasattr(value, "split") or hasattr(value, "__iter__")


class RuleBoostingClassifierCV(CrossValidated, RuleBoostingClassifier):
    """Ensemble of weighted if-then rules for classes, with as many rules as are worth having.

    Models of 0, 1, 2, ... rules are judged by their loss on rows that were held out. The number is
    the smallest one whose loss is within one standard error of the best; where all the rules that
    can be found are chance, it is 0. Larger numbers are not tried once three in a row brought no
    smaller loss. All rows then give a model of that many rules.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; of two, positive weights speak for the second one.
    {attributes}

    See Also
    --------
    RuleBoostingClassifier : With a number of rules of your choice.
    laconic.plot.CrossValidationDisplay : Draws the losses of all sizes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 5, size=(200, 4))
    >>> y = np.where((X[:, 0] > 2) ^ (rng.random(200) < 0.2), "yes", "no")
    >>> model = RuleBoostingClassifierCV().fit(X, y)
    >>> model.n_rules_, model.cv_results_["mean_loss"].round(2)
    (1, array([0.69, 0.48, 0.51, 0.52, 0.52]))
    """


class RuleBoostingRegressorCV(CrossValidated, RuleBoostingRegressor):
    """Ensemble of weighted if-then rules for numbers, with as many rules as are worth having.

    Models of 0, 1, 2, ... rules are judged by their loss on rows that were held out. The number is
    the smallest one whose loss is within one standard error of the best; where all the rules that
    can be found are chance, it is 0. Larger numbers are not tried once three in a row brought no
    smaller loss. All rows then give a model of that many rules.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    RuleBoostingRegressor : With a number of rules of your choice.
    laconic.plot.CrossValidationDisplay : Draws the losses of all sizes.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 5, size=(200, 4))
    >>> y = 4 * ((X[:, 0] > 2) & (X[:, 1] > 1)) + 2 * rng.normal(size=200)
    >>> model = RuleBoostingRegressorCV().fit(X, y)
    >>> print(model)
    Prediction, 1 rule, 2 conditions:
    +0.3454 to start from
     +3.076 if x0 > 2 & x1 > 1
    1 of up to 10 rules: chosen by 5-fold cross-validation, with the smallest loss.
    """


CROSS_VALIDATED: dict[str, type[CrossValidated]] = {
    estimator.task.name: estimator
    for estimator in (RuleBoostingClassifierCV, RuleBoostingRegressorCV)
}
"""The estimators by the name of their task."""

for _estimator in CROSS_VALIDATED.values():
    set_signature(_estimator, *_estimator.__mro__[1:], without="warm_start")
