"""Questions to a fitted model that its proof does not answer, see `laconic.trust`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from laconic.boosting import State, TrainingData
from laconic.estimators.fitting import columns_of, make_rounds
from laconic.estimators.progress import ChancePrinter
from laconic.estimators.training_data import read_rows
from laconic.estimators.weights import class_factors
from laconic.models.rule_model import RuleModel
from laconic.models.tasks import Task
from laconic.trust import Chance, ChanceProgress
from laconic.trust.chance import chance
from laconic.trust.null_targets import read_groups

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
        so that its p-value errs on the safe side.

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
        2. x0 <= 24: 5 of 9 shuffled copies of the table had a term as good. (p = 0.5556)
        """
        model = cast("RuleBoosting", self)
        data = read_rows(model, X, y, sample_weight, exposure)
        if data.described is not None:
            raise ValueError(
                "Chance needs a table in memory. Got one that is read in parts. Take a sample of "
                "the rows."
            )
        settings, ensemble = model.settings_, model.ensemble_
        settings.check_search()
        numbers = None
        if groups is not None:
            numbers = read_groups(groups, data.table.n_rows)[data.counted]
        # Before the candidates, which read the columns of the table one by one and forget them.
        state = State(ensemble, columns_of(ensemble, data), tuple(model.search_results_))
        answer = chance(
            make_rounds(data, settings, settings.candidates(data), model.l2_regularization_),
            state.divided_by(data.scale),
            groups=numbers,
            of_classes=_weights_of_classes(data, settings.class_weight),
            is_mixed=settings.is_mixed,
            n_permutations=n_permutations,
            random_state=random_state,
            n_jobs=model.n_jobs,
            callback=_told(callback, is_verbose=bool(model.verbose)),
        )
        self.trust_ = self.own_trust.having(ensemble=ensemble, chance=answer)
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
