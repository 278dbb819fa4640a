"""Questions to a fitted model that its proof does not answer, see `laconic.trust`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from laconic.estimators.conformal import calibrated
from laconic.models.rule_model import RuleModel
from laconic.trust import Intervals

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


class TrustMixin(RuleModel):
    """Methods that ask how sure a model is."""

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
            model has not seen any of the rows.
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

        Examples
        --------
        >>> from laconic import RuleBoostingRegressor
        >>> X = [[n] for n in range(80)]
        >>> y = [5.0 * (n > 40) + (1 + (n > 40)) * (n % 5) for n in range(80)]
        >>> model = RuleBoostingRegressor(n_terms=1).fit(X, y)
        >>> print(model.conformalize(X, y))
        About 90% of new rows lie within prediction ± half-width, judged by 80 rows that were
        held out in turn:
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
