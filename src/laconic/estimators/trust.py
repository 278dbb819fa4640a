"""Questions to a fitted model that its proof does not answer, see `laconic.trust`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from laconic._util.checks import is_finite_number, require
from laconic._util.words import parameter
from laconic.boosting import TrainingData
from laconic.models.rule_model import RuleModel
from laconic.tables.sources.sources import is_source
from laconic.terms.formatting import format_percent
from laconic.trust import Effects, estimate_effects, fingerprint, hash_rows

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting


class TrustMixin(RuleModel):
    """Methods that ask how sure a model is."""

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
        """
        model = cast("RuleBoosting", self)
        from laconic.estimators.training_data import read_rows

        is_level = is_finite_number(level) and 0 < level < 1
        require(is_level, parameter("level"), "a float in the range (0, 1)", level)
        if is_source(X_new):
            raise TypeError(
                "Effects need a table in memory, whose rows are independent. Got one that is read "
                "in parts. Take a sample of the rows."
            )
        data = read_rows(model, X_new, y_new, sample_weight, exposure)
        _check_unseen(model, data)
        answer = estimate_effects(
            data,
            self.ensemble_,
            fit_intercept=self.settings_.fit_intercept,
            groups=None if groups is None else _checked_groups(groups, data.table.n_rows),
            level=float(level),
            is_checked=self.fingerprint_ is not None,
        )
        self.trust_ = self.own_trust.having(ensemble=self.ensemble_, effects=answer)
        return answer


def _checked_groups(groups: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Number the groups of rows."""
    found = np.asarray(groups)
    if found.shape != (n_rows,):
        raise ValueError(
            f"'groups' must have one value per row of X_new, shape ({n_rows},). Got shape "
            f"{found.shape}. Pass the groups of the same rows."
        )
    is_missing = np.array([each is None or each != each for each in found.tolist()], dtype=bool)
    if is_missing.any():
        row = int(is_missing.argmax())
        raise ValueError(
            f"'groups' must have a value in every row. Got none at row {row}. Give rows without a "
            "group values of their own."
        )
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(each, len(numbers)) for each in found.tolist()])


def _check_unseen(model: RuleBoosting, data: TrainingData) -> None:
    """Refuse training rows, and warn of tables in which many of the rows are."""
    known = model.fingerprint_
    if known is None:
        return
    hashes = hash_rows(data)
    if fingerprint(hashes).is_same(known):
        raise ValueError(
            "Effects need rows that the model was not fitted to. Got the training rows, for which "
            "its terms were chosen: intervals would be too narrow and too far from 0. Pass other "
            f"rows, or fit with {parameter('honest', 0.5)}."
        )
    share = known.known_share(hashes)
    if share > 0.0:
        warnings.warn(
            "Effects need rows that the model was not fitted to. About "
            f"{format_percent(share)} of these seem to be training rows, so that intervals are too "
            "narrow and too far from 0. Leave those rows out.",
            UserWarning,
            stacklevel=3,
        )
