"""Questions to a fitted model that its proof does not answer, see `laconic.trust`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from laconic.estimators.resampling import stability_of
from laconic.models.rule_model import RuleModel
from laconic.trust import Stability, StabilityProgress

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


class TrustMixin(RuleModel):
    """Methods that ask how sure a model is."""

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
            Rows that belong together, such as those of a patient: groups are drawn as a whole.
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
        resampled models all have the same number. `initial_terms` come back in any case.

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
