"""A fit repeated on bootstrap resamples of its rows, see `laconic.trust.stability`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from laconic._util.checks import is_whole, require
from laconic._util.parallel import call_outside
from laconic._util.types import Bools, Floats, Indices
from laconic._util.words import parameter
from laconic.boosting import TrainingData
from laconic.estimators.callbacks import drop_callbacks
from laconic.estimators.groups import groups_for
from laconic.estimators.progress import StabilityPrinter
from laconic.estimators.training_data import read_rows
from laconic.estimators.weights import checked_weights
from laconic.models.rule_model import checked_table
from laconic.tables.sources.sources import is_source
from laconic.tables.tables import Table, take_rows
from laconic.terms.rules import RuleEnsemble
from laconic.trust.fingerprint import hash_rows, warn_of_others
from laconic.trust.stability import (
    Original,
    Stability,
    StabilityProgress,
    draw_rows,
    make_stability,
    repeat_fit,
)

if TYPE_CHECKING:
    from laconic.estimators.base import RuleBoosting

# What a fit does besides finding a model.
_ABOUT_THE_RUN = {
    "callback": None,
    "verbose": False,
    "on_interrupt": "raise",
    "warm_start": False,
}


class Rows(NamedTuple):
    """What `fit` is given."""

    X: Any
    y: Any
    sample_weight: Any
    exposure: Any


def stability_of(
    model: RuleBoosting,
    given: tuple[Any, Any, Any, Any],
    *,
    groups: ArrayLike | None,
    n_resamples: int,
    random_state: int,
    callback: Callable[[StabilityProgress], Any] | None,
    resume: Stability | None,
) -> Stability:
    """Repeat the fit of a model; see `TrustMixin.stability`."""
    check_is_fitted(model)
    required = "a whole number of at least {}".format
    require(is_whole(n_resamples, 1), parameter("n_resamples"), required(1), n_resamples)
    require(is_whole(random_state, 0), parameter("random_state"), required(0), random_state)
    rows = Rows(*given)
    if is_source(rows.X):
        raise TypeError(
            "'stability' needs a table in memory, to draw rows from. Got one that is read in "
            "parts. Pass a sample of its rows, which the model was fitted to."
        )
    data = read_rows(model, *rows, groups)
    units = _units(data)
    origin = _origin(model, data, units, int(random_state))
    known = _known_models(resume, origin, n_resamples)
    warn_of_others(model.fingerprint_, data, 4)
    table = model._with_fitted_names(checked_table(rows.X))
    refits = _Refits(model, rows, data, table, units, int(random_state))
    found = repeat_fit(
        refits.fit, int(n_resamples), known, _teller(model, callback), n_jobs=model.n_jobs
    )
    return make_stability(
        _original(model, data, table),
        found,
        n_resamples=int(n_resamples),
        random_state=int(random_state),
        has_groups=groups is not None,
        origin=origin,
    )


def _units(data: TrainingData) -> Indices:
    """Return the number, from 0, of what each row is drawn with; -1 for rows that do not count."""
    if data.groups is not None:
        return data.groups
    units = np.full(data.table.n_rows, -1)
    units[data.counted] = np.arange(len(data.counted_y))
    return units


def _origin(model: RuleBoosting, data: TrainingData, units: Indices, random_state: int) -> str:
    """Identify what determines the models of resamples."""
    # Not the settings of the fit: refits have the parameters as they are now.
    parameters = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in (*_ABOUT_THE_RUN, "n_jobs")
    }
    parts = [
        repr((parameters, type(model).__name__, random_state, data.table.feature_names)).encode(),
        *(np.ascontiguousarray(each).tobytes() for each in (data.target, units, hash_rows(data))),
        b"" if data.weights is None else data.weights.tobytes(),
    ]
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _known_models(
    resume: Stability | None, origin: str, n_resamples: int
) -> Mapping[int, RuleEnsemble]:
    if resume is None:
        return {}
    if not isinstance(resume, Stability):
        raise TypeError(
            f"'resume' must be what 'stability' returned, or None. Got {type(resume).__name__}."
        )
    if not resume.models:
        raise ValueError(
            "'resume' must be an answer with the models of its resamples. Got one from a model "
            "file, which does not keep them. Start again without 'resume'."
        )
    if resume.origin != origin:
        raise ValueError(
            "'resume' must be an answer for the same rows, groups, parameters and 'random_state'. "
            "Got one for others. Pass the same ones, or start again without 'resume'."
        )
    return dict(resume.models)


def _teller(
    model: RuleBoosting, callback: Callable[[StabilityProgress], Any] | None
) -> Callable[[StabilityProgress], bool]:
    printer = StabilityPrinter() if model.verbose else None

    def tell(progress: StabilityProgress) -> bool:
        if printer is not None:
            printer(progress)
        return callback is not None and bool(callback(progress))

    return tell


class _Refits:
    """Models of resamples, each of which is a function of the seed and its number."""

    def __init__(
        self,
        model: RuleBoosting,
        rows: Rows,
        data: TrainingData,
        table: Table,
        units: Indices,
        random_state: int,
    ) -> None:
        self.model, self.rows, self.data, self.table = model, rows, data, table
        self.units, self.random_state = units, random_state
        self.belonging = groups_for(model, data.groups)
        weights = checked_weights(rows.sample_weight, table.n_rows)
        self.weights = np.ones(table.n_rows) if weights is None else weights

    def fit(self, number: int) -> RuleEnsemble:
        """Fit a model to a resample."""
        times = draw_rows(number, self.random_state, self.units, self._is_usable)
        other = cast("RuleBoosting", clone(self.model))
        for name, value in _ABOUT_THE_RUN.items():
            setattr(other, name, value)
        drop_callbacks(other)
        if callable(other.conditions):
            other.conditions = self._conditions(other.conditions, times)
        other._known = (self.rows.X, self.table)
        # Rows that are drawn several times have a larger weight and the others none: the model is
        # the same as that of a table of the drawn rows. Columns stay what they are, the folds of a
        # cross-validation do not share copies of a row, and no table is copied. Rows of a class of
        # weight 0 are there without being drawn, so that there are the same classes.
        weights = self.weights * np.where(self.units < 0, 1, times)
        other.fit(self.rows.X, self.rows.y, weights, self.rows.exposure, **self.belonging)
        return other.ensemble_

    def _is_usable(self, drawn: Bools) -> bool:
        target = self.data.target
        if self.data.task.holds_classes:
            counted = target[self.units >= 0]
            return len(np.unique(target[drawn])) == len(np.unique(counted))
        # Counts that are all 0 have no model with a logarithmic link.
        return bool(target[drawn].any()) or not target.any()

    def _conditions(self, conditions: Callable[[Any], Any], times: Indices) -> Callable[[Any], Any]:
        """Give a function that makes conditions the rows that were drawn, as often."""
        X = self.rows.X

        def of_drawn(table: Any) -> Any:
            drawn = np.repeat(np.arange(len(times)), times)
            of_table = take_rows(X, drawn) if table is X else table
            return call_outside(conditions, of_table)

        return of_drawn


def _original(model: RuleBoosting, data: TrainingData, table: Table) -> Original:
    task, ensemble = model.task_, model.ensemble_
    raw = ensemble.raw_predictions(table)
    probabilities = task.probabilities(raw)
    places = None if probabilities is None else probabilities.argmax(axis=1)

    def scores(raw_predictions: Floats) -> Floats:
        found = task.probabilities(raw_predictions)
        if found is None or places is None:
            return task.means(raw_predictions)
        return np.asarray(found[np.arange(len(found)), places], dtype=np.float64)

    counted = np.zeros(table.n_rows, dtype=bool)
    counted[data.counted] = True
    return Original(
        ensemble,
        table,
        counted,
        has_intercept=model.settings_.fit_intercept,
        scores=scores,
        labels=None if probabilities is None else task.predictions,
    )
